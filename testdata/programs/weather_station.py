# %% Hourly temperature: missing hours, daily extremes, interpolation
import numpy as np
import pandas as pd

np.random.seed(1)
idx = pd.date_range("2024-01-01", periods=24 * 14, freq="h")
temp = 5 + 6 * np.sin(2 * np.pi * (idx.hour - 9) / 24) + np.random.normal(0, 1, len(idx))
hum = np.clip(np.random.normal(70, 12, len(idx)), 0, 100)
df = pd.DataFrame({"temp": temp, "humidity": hum}, index=idx)
df.index.name = "time"
df.iloc[10:14, 0] = np.nan
df.head()

# %%
df.isna().sum()

# %%
df["temp"] = df["temp"].interpolate()
df.iloc[8:16].round(2)

# %%
daily = df.resample("D").agg({"temp": ["min", "max", "mean"], "humidity": "mean"})
daily.columns = ["_".join(c) for c in daily.columns]
daily.head()

# %%
daily["range"] = daily["temp_max"] - daily["temp_min"]
daily["range"].idxmax()

# %%
df.groupby(df.index.hour)["temp"].mean().round(2)

# %%
df["temp"].rolling("6h").mean().iloc[5:10]

# %%
frost = df[df["temp"] < 0]
len(frost), frost.index.min()

# %%
df["night"] = (df.index.hour < 6) | (df.index.hour >= 22)
df.groupby("night")["temp"].agg(["mean", "std"])

# %%
df.between_time("12:00", "14:00")["temp"].resample("D").mean()

# %%
df.loc["2024-01-05", "temp"].max()

# %%
df.loc["2024-01-03":"2024-01-04"].shape

# %%
hourly_gap = df.drop(df.index[20:23])
full = hourly_gap.asfreq("h")
full["temp"].isna().sum()

# %%
full = full.ffill(limit=2)
full.iloc[18:25][["temp"]]

# %%
df["dew"] = df["temp"] - (100 - df["humidity"]) / 5
df[["temp", "dew"]].corr().iloc[0, 1]

# %%
above = (df["temp"] > df["temp"].mean()).astype(int)
runs = above.groupby((above != above.shift()).cumsum()).sum()
runs.max()

# %%
weekly = df["temp"].resample("W-SUN").mean()
weekly

# %%
df.index.dayofweek.value_counts() if hasattr(df.index.dayofweek, "value_counts") else None

# %%
df["month_day"] = df.index.strftime("%m-%d")
df["month_day"].nunique()
