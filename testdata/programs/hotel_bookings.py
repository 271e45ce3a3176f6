# %% Bookings: dates from three columns, cancellations, revenue
import numpy as np
import pandas as pd

rng = np.random.default_rng(19)
n = 200
b = pd.DataFrame({
    "hotel": rng.choice(["City", "Resort"], n, p=[0.6, 0.4]),
    "is_canceled": rng.choice([0, 1], n, p=[0.7, 0.3]),
    "lead_time": rng.integers(0, 300, n),
    "arrival_year": 2023,
    "arrival_month": rng.choice(["January", "April", "July", "October"], n),
    "arrival_day": rng.integers(1, 29, n),
    "weekend_nights": rng.integers(0, 3, n),
    "week_nights": rng.integers(0, 6, n),
    "adults": rng.choice([0, 1, 2, 3], n, p=[0.02, 0.2, 0.7, 0.08]),
    "children": rng.choice([0, 1, 2, np.nan], n, p=[0.8, 0.1, 0.05, 0.05]),
    "country": rng.choice(["PRT", "GBR", "FRA", "ESP", None], n),
    "adr": rng.normal(100, 30, n).round(2),
})
b.isna().sum()[b.isna().any()]

# %%
b = b.fillna({"children": 0, "country": "unknown"})
b["children"] = b["children"].astype(int)
b = b[~((b["adults"] == 0) & (b["children"] == 0))]
b.shape

# %%
b["nights"] = b["weekend_nights"] + b["week_nights"]
b["guests"] = b[["adults", "children"]].sum(axis=1)
b[["nights", "guests"]].max()

# %%
months = ["January", "April", "July", "October"]
b["arrival_month"] = pd.Categorical(b["arrival_month"], categories=months, ordered=True)
b.groupby("arrival_month", observed=False)["adr"].mean().round(2)

# %%
b["arrival"] = pd.to_datetime(b["arrival_year"].astype(str) + "-" + b["arrival_month"].astype(str) + "-" + b["arrival_day"].astype(str), format="%Y-%B-%d")
b["arrival"].min(), b["arrival"].max()

# %%
b["departure"] = b["arrival"] + pd.to_timedelta(b["nights"], unit="D")
b["booked"] = b["arrival"] - pd.to_timedelta(b["lead_time"], unit="D")
(b["departure"] - b["booked"]).dt.days.describe()[["min", "max"]]

# %%
b.groupby("hotel")["is_canceled"].mean().mul(100).round(1)

# %%
b["lead_bin"] = pd.cut(b["lead_time"], [0, 7, 30, 90, 365], include_lowest=True)
b.groupby("lead_bin", observed=True)["is_canceled"].agg(["mean", "size"]).round(3)

# %%
stays = b[b["is_canceled"] == 0].assign(revenue=lambda d: d["adr"] * d["nights"])
stays.pivot_table(index="arrival_month", columns="hotel", values="revenue", aggfunc="sum", observed=False, margins=True).round(0)

# %%
stays["country"].value_counts().drop("unknown").head(2)

# %%
stays.groupby(["hotel", "country"])["revenue"].sum().groupby(level=0).nlargest(1).droplevel(0)

# %%
stays["weekday"] = stays["arrival"].dt.day_name()
stays["weekday"].value_counts().reindex(["Monday", "Sunday"])

# %%
family = np.where(b["children"] > 0, "family", np.where(b["adults"] == 1, "single", "couple+"))
pd.Series(family).value_counts(normalize=True).round(3)

# %%
pd.crosstab(family, b["hotel"].values, normalize="columns").round(3)

# %%
b["adr_rank"] = b.groupby("hotel")["adr"].rank(pct=True).round(3)
b.loc[b["adr_rank"] == 1.0, ["hotel", "adr"]].sort_values("hotel").reset_index(drop=True)

# %%
occupied = pd.Series(0, index=pd.date_range("2023-07-01", "2023-07-10"))
for arrival, departure in zip(stays["arrival"], stays["departure"]):
    occupied[(occupied.index >= arrival) & (occupied.index < departure)] += 1
occupied.max()
