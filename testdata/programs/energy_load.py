# %% Load of a grid every 15 minutes
import numpy as np
import pandas as pd

rng = np.random.default_rng(8)
index = pd.date_range("2023-03-20", "2023-03-31 23:45", freq="15min")
load = pd.Series(1000 + 300 * np.sin(2 * np.pi * index.hour / 24) + rng.normal(0, 20, len(index)), index=index, name="MW")
load.head()

# %%
hourly = load.resample("h").mean()
hourly.shape

# %%
daily = load.resample("D").agg(["min", "max", "mean"])
daily["swing"] = daily["max"] - daily["min"]
daily.round(1).head(3)

# %%
energy = load.resample("D").sum() * 0.25
energy.idxmax().strftime("%A")

# %%
profile = load.groupby(load.index.time).mean()
profile.iloc[:4].round(1)

# %%
df = load.to_frame()
df["weekday"] = df.index.day_name()
df["weekend"] = df.index.dayofweek >= 5
df.groupby("weekend")["MW"].mean()

# %%
df["lag_1d"] = df["MW"].shift(96)
df["lag_1h"] = df["MW"].shift(freq="1h")
df.dropna().corr(numeric_only=True).round(3).loc["MW"]

# %%
df["MW"].autocorr(lag=96).round(4)

# %%
df["smooth"] = df["MW"].rolling(8, center=True).mean()
df["smooth"].isna().sum()

# %%
df.loc["2023-03-25 06:00":"2023-03-25 07:00", "MW"].round(0).tolist()

# %%
local = load.tz_localize("UTC").tz_convert("Europe/Berlin")
local.index[[0, -1]]

# %%
local.resample("D").count().head(8)

# %%
peak = df["MW"] > df["MW"].quantile(0.95)
df[peak].groupby(df[peak].index.hour).size()

# %%
df["MW"].between(900, 1100).resample("D").sum()

# %%
duration = df["MW"].sort_values(ascending=False).reset_index(drop=True)
duration.iloc[[0, 100, -1]].round(2)

# %%
weekly = load.resample("W-MON", label="left", closed="left").mean()
weekly

# %%
gaps = load.drop(load.index[10:14])
missing = pd.date_range(gaps.index.min(), gaps.index.max(), freq="15min").difference(gaps.index)
len(missing)

# %%
gaps.asfreq("15min").interpolate(method="time").iloc[9:15].round(2)
