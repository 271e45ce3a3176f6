# %% Air quality: semicolon file with -200 for missing, dates and times apart
import io
import numpy as np
import pandas as pd

text = "Date;Time;CO(GT);NO2(GT);T;RH;\n"
rng = np.random.default_rng(4)
for i, ts in enumerate(pd.date_range("2004-03-10 18:00", periods=72, freq="h")):
    co = -200 if i % 11 == 0 else round(2 + np.sin(i / 4) + rng.normal(0, 0.2), 1)
    text += f"{ts:%d/%m/%Y};{ts:%H.%M.%S};{str(co).replace('.', ',')};{int(100 + 30 * np.cos(i / 5))};{str(round(10 + 5 * np.sin(i / 24 * 6.28), 1)).replace('.', ',')};{50 + i % 7};\n"
df = pd.read_csv(io.StringIO(text), sep=";", decimal=",")
df.head(3)

# %%
df = df.dropna(axis=1, how="all")
df.columns.tolist()

# %%
df["datetime"] = pd.to_datetime(df["Date"] + " " + df["Time"], format="%d/%m/%Y %H.%M.%S")
df = df.drop(columns=["Date", "Time"]).set_index("datetime")
df.index.min(), df.index.max()

# %%
df = df.replace(-200, np.nan)
df.isna().sum()

# %%
df["CO(GT)"] = df["CO(GT)"].interpolate(method="linear", limit=3)
df["CO(GT)"].isna().sum()

# %%
df.resample("D").mean().round(2)

# %%
df["hour"] = df.index.hour
df.groupby("hour")["CO(GT)"].mean().idxmax()

# %%
df["high"] = df["CO(GT)"] > df["CO(GT)"].quantile(0.9)
df["high"].sum()

# %%
df.corr(numeric_only=True)["NO2(GT)"].round(3).drop("high")

# %%
smooth = df["NO2(GT)"].rolling(window=6, min_periods=3).mean()
smooth.iloc[:5]

# %%
df["day"] = df.index.strftime("%Y-%m-%d")
pivot = df.pivot_table(index="hour", columns="day", values="NO2(GT)")
pivot.shape, pivot.isna().sum().tolist()

# %%
daily = df["T"].resample("D").agg(["min", "max"])
daily["amplitude"] = daily["max"] - daily["min"]
daily

# %%
df.loc["2004-03-11", "RH"].mean()

# %%
df.loc["2004-03-11 06:00":"2004-03-11 09:00", ["T", "RH"]]

# %%
df.at_time("12:00")["T"]

# %%
exceed = df["NO2(GT)"].gt(120)
exceed.groupby(df.index.date).sum()

# %%
lagged = pd.concat([df["CO(GT)"].shift(i).rename(f"lag{i}") for i in range(3)], axis=1).dropna()
lagged.corr().iloc[0].round(3)
