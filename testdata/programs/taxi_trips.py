# %% Taxi trips: durations, speeds, tips
import numpy as np
import pandas as pd

rng = np.random.default_rng(77)
n = 300
pickup = pd.Timestamp("2023-05-01") + pd.to_timedelta(rng.integers(0, 5 * 86400, n), unit="s")
trips = pd.DataFrame({
    "pickup": pickup,
    "dropoff": pickup + pd.to_timedelta(rng.integers(120, 3600, n), unit="s"),
    "distance": rng.gamma(2, 2, n).round(2),
    "passengers": rng.choice([0, 1, 2, 3, 4], n, p=[0.02, 0.7, 0.15, 0.08, 0.05]),
    "payment": rng.choice(["card", "cash"], n, p=[0.75, 0.25]),
    "zone": rng.choice(["Midtown", "Harlem", "SoHo", "JFK"], n),
})
trips["fare"] = (3 + trips["distance"] * 2.5).round(2)
trips["tip"] = np.where(trips["payment"] == "card", trips["fare"] * rng.uniform(0, 0.3, n), 0).round(2)
trips.dtypes

# %%
trips["minutes"] = (trips["dropoff"] - trips["pickup"]).dt.total_seconds() / 60
trips["kmh"] = trips["distance"] * 1.609 / (trips["minutes"] / 60)
trips[["minutes", "kmh"]].describe().round(2)

# %%
bad = (trips["kmh"] > 80) | (trips["passengers"] == 0) | (trips["distance"] < 0.1)
print(f"dropping {bad.sum()} trips")
trips = trips.loc[~bad].reset_index(drop=True)

# %%
trips["tip_pct"] = (trips["tip"] / trips["fare"] * 100).round(1)
trips.groupby("payment")["tip_pct"].agg(["mean", "max"])

# %%
trips["hour"] = trips["pickup"].dt.hour
by_hour = trips.groupby("hour").agg({"fare": "mean", "tip_pct": "mean", "distance": "count"})
by_hour.columns = ["fare", "tip_pct", "n"]
by_hour.head()

# %%
trips["part"] = pd.cut(trips["hour"], bins=[-1, 5, 11, 17, 23], labels=["night", "morning", "afternoon", "evening"])
trips.pivot_table(index="zone", columns="part", values="fare", aggfunc="mean", observed=False).round(2)

# %%
trips.groupby("zone").apply(lambda g: np.average(g["kmh"], weights=g["distance"])).round(3)

# %%
trips["zone"].value_counts(normalize=True).mul(100).round(1).astype(str) + "%"

# %%
trips.set_index("pickup").resample("D")["fare"].agg(["sum", "count"])

# %%
busiest = trips.set_index("pickup").sort_index().rolling("1h")["fare"].count().max()
busiest

# %%
trips.groupby([trips["pickup"].dt.date, "payment"])["fare"].sum().unstack()

# %%
trips["overnight"] = trips["pickup"].dt.date != trips["dropoff"].dt.date
trips["overnight"].sum()

# %%
corr = trips.select_dtypes("number").corr()
corr.where(np.triu(np.ones(corr.shape), k=1).astype(bool)).stack().sort_values(ascending=False).head(2)

# %%
q = trips.groupby("zone")["fare"].quantile([0.1, 0.9])
q.unstack().round(2)

# %%
trips.nlargest(3, "tip")[["zone", "tip"]].to_dict("records")

# %%
trips["fare"].sub(trips["fare"].mean()).div(trips["fare"].std()).abs().lt(3).all()
