# %% Random portfolios over a covariance matrix
import numpy as np
import pandas as pd

np.random.seed(8)
cols = ["stocks", "bonds", "gold"]
r = pd.DataFrame(np.random.multivariate_normal([0.006, 0.002, 0.003], [[0.002, 0.0001, 0], [0.0001, 0.0003, 0], [0, 0, 0.001]], 120), columns=cols, index=pd.date_range("2014-01-31", periods=120, freq="ME"))
r.head(2)

# %%
mu, sigma = r.mean() * 12, r.cov() * 12
mu.round(4)

# %%
sigma.round(5)

# %%
w = pd.Series([0.6, 0.3, 0.1], index=cols)
w @ mu, np.sqrt(w @ sigma @ w)

# %%
p = (r * w).sum(axis=1)
p.mean() * 12, p.std() * 12 ** 0.5

# %%
sims = pd.DataFrame(np.random.dirichlet(np.ones(3), 50), columns=cols)
sims["ret"] = sims[cols] @ mu
sims["vol"] = np.sqrt(np.einsum("ij,jk,ik->i", sims[cols].values, sigma.values, sims[cols].values))
sims["sharpe"] = sims["ret"] / sims["vol"]
sims.loc[sims["sharpe"].idxmax(), cols].round(3)

# %%
sims.sort_values("vol").iloc[0]["bonds"].round(3)

# %%
growth = (1 + r).cumprod()
growth.iloc[-1].round(4)

# %%
years = r.groupby(r.index.year).apply(lambda x: (1 + x).prod() - 1)
years.round(3).head(3)

# %%
years.idxmax(), years.gt(0).sum()

# %%
roll = r["stocks"].rolling(12).std() * np.sqrt(12)
roll.dropna().idxmin().strftime("%Y-%m")

# %%
r.rolling(24).corr().dropna().loc[(slice(None), "stocks"), "bonds"].iloc[[0, -1]].round(4)

# %%
corr = r.corr()
corr.where(~np.eye(3, dtype=bool)).max().round(4)

# %%
downside = r[r < 0].std()
downside.round(4)

# %%
contrib = w * (sigma @ w) / (w @ sigma @ w)
contrib.round(4), contrib.sum()

# %%
bands = pd.DataFrame({"low": p.quantile(0.05), "high": p.quantile(0.95)}, index=["p"])
bands.round(4)

# %%
rebalanced = growth.mul(w).div(growth.mul(w).sum(axis=1), axis=0)
rebalanced.tail(1).round(3)
