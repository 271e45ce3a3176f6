# %% Readings of several sensors, as-of joins, calibrations
import numpy as np
import pandas as pd

rng = np.random.default_rng(11)
readings = pd.concat([
    pd.DataFrame({
        "sensor": name,
        "time": pd.Timestamp("2024-05-01") + pd.to_timedelta(np.sort(rng.integers(0, 7200, 40)), unit="s"),
        "value": rng.normal(level, 2, 40),
    })
    for name, level in [("s1", 20), ("s2", 35), ("s3", 50)]
], ignore_index=True)
readings.head()

# %%
readings.groupby("sensor")["value"].agg(["count", "mean", "std"]).round(3)

# %%
events = pd.DataFrame({"time": pd.to_datetime(["2024-05-01 00:10", "2024-05-01 00:45", "2024-05-01 01:30"]), "event": ["start", "valve", "stop"]})
joined = pd.merge_asof(readings.sort_values("time"), events, on="time", direction="backward")
joined["event"].value_counts(dropna=False)

# %%
calib = pd.DataFrame({"sensor": ["s1", "s2", "s3"], "offset": [0.5, -1.0, 0.0], "gain": [1.01, 0.99, 1.0]})
readings = readings.merge(calib, on="sensor")
readings["corrected"] = readings["value"] * readings["gain"] + readings["offset"]
readings[["value", "corrected"]].mean()

# %%
wide = readings.pivot_table(index=pd.Grouper(key="time", freq="10min"), columns="sensor", values="corrected")
wide.head()

# %%
wide.isna().sum().sum()

# %%
filled = wide.interpolate(method="linear", limit_direction="both")
filled.describe().loc[["mean", "std"]]

# %%
z = (readings["corrected"] - readings.groupby("sensor")["corrected"].transform("mean")) / readings.groupby("sensor")["corrected"].transform("std")
readings["outlier"] = z.abs() > 2
readings["outlier"].sum()

# %%
readings.loc[readings["outlier"], ["sensor", "time"]].sort_values(["sensor", "time"]).reset_index(drop=True)

# %%
clean = readings[~readings["outlier"]]
clean.groupby("sensor")["time"].diff().dt.total_seconds().groupby(clean["sensor"]).median()

# %%
s1 = clean[clean["sensor"] == "s1"].set_index("time")["corrected"]
s1.resample("15min").ohlc()

# %%
s1.rolling("20min").mean().tail(4)

# %%
s1.resample("5min").mean().ffill().shift(1).dropna().head()

# %%
s1.diff().abs().max()

# %%
corr = filled.corr()
np.round(corr.values, 3)

# %%
stats = readings.groupby("sensor").agg(first=("time", "first"), last=("time", "last"))
stats["duration"] = stats["last"] - stats["first"]
stats["duration"].dt.total_seconds() / 60

# %%
readings["minute"] = readings["time"].dt.floor("min")
readings.groupby(["minute", "sensor"]).size().unstack(fill_value=0).sum()
