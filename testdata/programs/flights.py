# %% Delays of flights
import io
import numpy as np
import pandas as pd

rng = np.random.default_rng(5)
n = 400
flights = pd.DataFrame({
    "year": 2013, "month": rng.integers(1, 13, n), "day": rng.integers(1, 29, n),
    "dep_time": rng.integers(500, 2300, n).astype(float),
    "carrier": rng.choice(["AA", "UA", "DL", "B6"], n),
    "origin": rng.choice(["JFK", "LGA", "EWR"], n),
    "dest": rng.choice(["ORD", "ATL", "LAX", "BOS", "MIA"], n),
    "dep_delay": np.round(rng.exponential(20, n) - 10),
    "distance": rng.choice([733, 762, 2475, 187, 1089], n),
})
flights.loc[rng.choice(n, 25, replace=False), ["dep_time", "dep_delay"]] = np.nan
flights.isna().mean().round(4)

# %%
flights["date"] = pd.to_datetime(flights[["year", "month", "day"]])
flights["date"].dt.quarter.value_counts().sort_index()

# %%
flights["cancelled"] = flights["dep_delay"].isna()
flights.groupby("carrier")["cancelled"].mean().mul(100).round(2)

# %%
flights["hour"] = (flights["dep_time"] // 100).astype("Int64")
flights.groupby("hour")["dep_delay"].mean().round(1)

# %%
(flights["dep_delay"] > 15).mean()

# %%
flights["delay_class"] = pd.cut(flights["dep_delay"], [-np.inf, 0, 15, 60, np.inf], labels=["early", "on time", "late", "very late"])
flights["delay_class"].value_counts(sort=False)

# %%
pd.crosstab(flights["origin"], flights["delay_class"], normalize="index").round(3)

# %%
airlines = pd.read_csv(io.StringIO("carrier,name\nAA,American\nUA,United\nDL,Delta\nWN,Southwest\n"))
named = flights.merge(airlines, on="carrier", how="left", validate="m:1")
named["name"].isna().sum()

# %%
worst = named.groupby(["origin", "dest"])["dep_delay"].median().sort_values(ascending=False, kind="stable")
worst.head(4)

# %%
worst.reset_index(name="median_delay").query("median_delay > 5").shape

# %%
flights.pivot_table(index="origin", columns="carrier", values="dep_delay", aggfunc=["mean", "count"]).round(1)

# %%
long_haul = flights[flights.distance.gt(1000) & flights.dep_delay.notna()]
np.corrcoef(long_haul["distance"], long_haul["dep_delay"])[0, 1].round(6)

# %%
by_month = flights.groupby("month").agg(n=("day", "size"), mean_delay=("dep_delay", "mean"), p90=("dep_delay", lambda x: x.quantile(0.9)))
by_month

# %%
flights.groupby("origin")["dep_delay"].quantile([0.25, 0.5, 0.75]).unstack()

# %%
daily = flights.groupby("date").size().asfreq("D", fill_value=0)
daily.rolling(30).sum().max()

# %%
flights.nlargest(3, "dep_delay")[["carrier", "dep_delay"]].reset_index(drop=True)

# %%
flights.sample(frac=0.1, random_state=0).shape

# %%
flights["route"] = flights["origin"] + "-" + flights["dest"]
flights["route"].value_counts().head(3).sum()

# %%
flights.groupby("carrier")["dep_delay"].apply(lambda s: (s > 30).sum())
