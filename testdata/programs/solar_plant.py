# %% Inverters
import numpy as np
import pandas as pd
rng = np.random.default_rng(37)
idx = pd.date_range("2024-06-01 05:00", periods=2 * 96, freq="15min")
sun = np.clip(np.sin((idx.hour + idx.minute / 60 - 5) / 15 * np.pi), 0, None)
p = pd.DataFrame({"inv1": sun * 100 + rng.normal(0, 2, len(idx)), "inv2": sun * 95 + rng.normal(0, 2, len(idx))}, index=idx).clip(lower=0)
p.iloc[40:44, 1] = 0
p.max().round(1)
# %%
energy = p.resample("D").sum() / 4
energy.round(1)
# %%
p["total"] = p.sum(axis=1)
p["total"].idxmax()
# %%
fault = (p["inv2"] == 0) & (p["inv1"] > 20)
fault.sum(), fault[fault].index.min()
# %%
ratio = (p["inv2"] / p["inv1"]).where(p["inv1"] > 10)
ratio.describe().round(3)[["count", "50%"]]
# %%
hourly = p.groupby(p.index.hour)["total"].mean()
hourly[hourly > 100].index.tolist()
# %%
round(p.rolling("1h")["total"].mean().max(), 2)
# %%
night = p.between_time("21:00", "04:00")
night["total"].mean() < 10
# %%
day1, day2 = p.loc["2024-06-01", "total"], p.loc["2024-06-02", "total"]
len(day1), len(day2)
# %%
p["cum"] = p.groupby(p.index.date)["total"].cumsum() / 4
p.groupby(p.index.date)["cum"].last().round(1)
# %%
p["total"].resample("6h").agg(["min", "mean", "max"]).round(1).head(3)
