# %% Multi-index report
import pandas as pd
import numpy as np
np.random.seed(2)
idx = pd.MultiIndex.from_product([["North", "South"], [2022, 2023], ["Q1", "Q2", "Q3", "Q4"]], names=["region", "year", "quarter"])
df = pd.DataFrame({"revenue": np.random.randint(100, 200, 16), "cost": np.random.randint(50, 120, 16)}, index=idx)
df.head(3)
# %%
df["profit"] = df["revenue"] - df["cost"]
df.loc["North"].head(2)
# %%
df.loc[("South", 2023), "profit"].sum()
# %%
df.xs("Q1", level="quarter")["revenue"]
# %%
df.groupby(level=["region", "year"]).sum()
# %%
df["revenue"].unstack("quarter")
# %%
yoy = df["revenue"].unstack("year").pct_change(axis=1)[2023]
yoy.round(3)
# %%
df.groupby("region")["profit"].cumsum().iloc[[7, 15]]
# %%
flat = df.reset_index()
flat["period"] = flat["year"].astype(str) + "-" + flat["quarter"]
flat.pivot(index="period", columns="region", values="profit").head(2)
# %%
df.index.get_level_values("year").unique().tolist(), df.index.nlevels
# %%
df.sort_index(level="quarter", ascending=False).index[0]
# %%
df.stack().loc[("North", 2022, "Q1")]
# %%
(df["profit"] / df["revenue"]).groupby(level="region").mean().round(3)
