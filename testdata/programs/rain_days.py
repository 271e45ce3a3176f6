# %% Rain: runs of dry days
import numpy as np
import pandas as pd
np.random.seed(44)
days = pd.date_range("2023-01-01", "2023-12-31")
rain = pd.Series(np.random.gamma(0.3, 6, len(days)).round(1), index=days, name="mm")
rain[rain < 0.3] = 0
(rain == 0).sum()
# %%
rain.resample("ME").agg(["sum", "max"]).round(1).head(3)
# %%
dry = rain.eq(0)
run = dry.groupby((~dry).cumsum()).sum()
run.max()
# %%
rain.groupby(rain.index.quarter).sum().round(1)
# %%
rain.rolling(7).sum().idxmax()
# %%
wet = rain[rain > 0]
wet.quantile([0.5, 0.95]).round(2)
# %%
pd.cut(rain, [-1, 0, 1, 10, 200], labels=["dry", "drizzle", "rain", "heavy"]).value_counts().sort_index()
# %%
rain["2023-07"].sum().round(1), rain.loc["2023-02-01":"2023-02-07"].tolist()
# %%
table = pd.DataFrame({"month": rain.index.month, "day": rain.index.day, "mm": rain.values}).pivot(index="month", columns="day", values="mm")
table.shape, table.isna().sum().sum()
# %%
monthly = rain.groupby(rain.index.month).agg(total="sum", wet=lambda s: (s > 0).sum())
monthly.loc[monthly["total"].idxmax(), "wet"]
# %%
rain.cumsum().searchsorted(rain.sum() / 2)
