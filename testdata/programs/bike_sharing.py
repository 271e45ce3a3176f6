# %% Trips of shared bikes
import numpy as np
import pandas as pd

rng = np.random.default_rng(21)
n = 500
start = pd.Timestamp("2024-06-01") + pd.to_timedelta(rng.integers(0, 7 * 24 * 60, n), unit="min")
trips = pd.DataFrame({
    "trip_id": np.arange(n),
    "start": start,
    "minutes": rng.gamma(2.0, 8.0, n).round(1),
    "from_station": rng.choice(["Central", "Harbor", "Park", "Museum"], n),
    "to_station": rng.choice(["Central", "Harbor", "Park", "Museum"], n),
    "user_type": rng.choice(["member", "casual"], n, p=[0.7, 0.3]),
})
trips["end"] = trips["start"] + pd.to_timedelta(trips["minutes"], unit="m")
trips.head()

# %%
trips["hour"] = trips["start"].dt.hour
trips["dow"] = trips["start"].dt.day_name().str[:3]
trips["rush"] = trips["hour"].isin([7, 8, 9, 16, 17, 18])
trips["rush"].mean()

# %%
heat = trips.pivot_table(index="dow", columns="hour", values="trip_id", aggfunc="count", fill_value=0)
heat = heat.reindex(["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"])
heat.sum(axis=1)

# %%
trips.groupby("user_type")["minutes"].describe().round(2)

# %%
od = pd.crosstab(trips["from_station"], trips["to_station"])
od

# %%
od.values.diagonal().sum(), int(od.to_numpy().sum())

# %%
net = od.sum(axis=0) - od.sum(axis=1)
net.sort_values()

# %%
round_trips = trips[trips["from_station"] == trips["to_station"]]
round(len(round_trips) / len(trips), 4)

# %%
bins = [0, 5, 10, 20, 30, np.inf]
trips["length"] = pd.cut(trips["minutes"], bins)
trips["length"].value_counts().sort_index()

# %%
trips.groupby(["length", "user_type"], observed=False)["trip_id"].count().unstack()

# %%
hourly = trips.set_index("start").sort_index().resample("h")["trip_id"].count()
hourly.idxmax(), hourly.max()

# %%
hourly.groupby(hourly.index.hour).mean().round(2).to_dict()[8]

# %%
trips["fee"] = np.select([trips["user_type"].eq("member"), trips["minutes"] <= 30], [0.0, 3.0], default=3.0 + (trips["minutes"] - 30) * 0.2)
trips["fee"].sum().round(2)

# %%
daily = trips.groupby(trips["start"].dt.date).agg(trips=("trip_id", "size"), minutes=("minutes", "sum"), fees=("fee", "sum"))
daily

# %%
daily["trips"].pct_change().round(3)

# %%
top = trips.groupby(["from_station", "to_station"]).size().sort_values(ascending=False, kind="stable").head(3)
[" -> ".join(pair) for pair in top.index]

# %%
trips.nlargest(5, "minutes")["user_type"].tolist()

# %%
(trips["end"] - trips["start"]).max().total_seconds() / 60
