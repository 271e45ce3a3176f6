# %% A watch: heart rates, zones, runs
import numpy as np
import pandas as pd

rng = np.random.default_rng(13)
t = pd.date_range("2024-04-06 07:00", periods=600, freq="5s")
hr = pd.Series(90 + 50 * np.sin(np.linspace(0, 3, 600)) + rng.normal(0, 3, 600), index=t).round()
df = pd.DataFrame({"bpm": hr, "speed": np.clip(rng.normal(10, 2, 600), 0, None)})
df.loc[df.sample(30, random_state=2).index, "bpm"] = np.nan
df.describe().round(2)

# %%
df["bpm"] = df["bpm"].ffill().bfill()
df["bpm"].isna().sum()

# %%
zones = pd.cut(df["bpm"], [0, 100, 120, 140, 220], labels=["easy", "fat burn", "cardio", "peak"])
zones.value_counts() * 5 / 60

# %%
df["zone"] = zones
df.groupby("zone", observed=False)["speed"].mean().round(3)

# %%
change = df["zone"].ne(df["zone"].shift())
blocks = change.cumsum()
lengths = df.groupby(blocks).agg(zone=("zone", "first"), n=("bpm", "size"))
lengths.nlargest(1, "n")

# %%
minutes = df.resample("1min").agg({"bpm": "mean", "speed": "max"})
minutes.head(3).round(2)

# %%
minutes["trend"] = np.sign(minutes["bpm"].diff()).fillna(0)
minutes["trend"].value_counts()

# %%
x = (df.index - df.index[0]).total_seconds()
slope, intercept = np.polyfit(x, df["bpm"], 1)
round(slope, 6), round(intercept, 3)

# %%
df["km"] = (df["speed"] * 5 / 3600).cumsum()
km_marks = df.groupby(df["km"].astype(int)).apply(lambda g: g.index[0])
km_marks.dt.strftime("%H:%M:%S").tolist()

# %%
pace = df.groupby(df["km"].astype(int)).size() * 5 / 60
pace.round(2)

# %%
df["smooth"] = df["bpm"].rolling(12, min_periods=1).median()
(df["bpm"] - df["smooth"]).abs().max()

# %%
round(df["bpm"].rolling("30s").std().max(), 4)

# %%
recovery = df["bpm"].iloc[-1] - df["bpm"].max()
recovery

# %%
df[df["bpm"] == df["bpm"].max()].index[0]

# %%
df["bpm"].astype(int).value_counts().head(1)

# %%
pd.Series(df.index).diff().dt.total_seconds().unique()

# %%
df.iloc[::120][["bpm", "km"]].round(2)

# %%
np.percentile(df["bpm"], [5, 50, 95])
