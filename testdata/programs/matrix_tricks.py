# %% NumPy and pandas side by side
import numpy as np
import pandas as pd

np.random.seed(5)
df = pd.DataFrame(np.random.randn(8, 4), columns=list("ABCD"))
df

# %%
df.values @ np.eye(4)

# %%
df.mean(axis=1), df.std(axis=0)

# %%
df[df > 0]

# %%
df.where(df > 0, 0).sum()

# %%
df.mask(df < 0, -df)

# %%
df.apply(np.sqrt).isna().sum().sum()

# %%
df.map(lambda v: round(v, 1)).head(2)

# %%
np.exp(df).sum(axis=1)

# %%
df.T.dot(df)

# %%
df.sub(df["A"], axis=0).head(3)

# %%
df.apply(lambda col: col.max() - col.min())

# %%
df.apply(lambda row: row.idxmax(), axis=1).value_counts()

# %%
df.rank(axis=1).head(2)

# %%
df.cumsum().iloc[-1].equals(df.sum()) or np.allclose(df.cumsum().iloc[-1], df.sum())

# %%
df["E"] = pd.Categorical.from_codes([0, 1, 2, 0, 1, 2, 0, 1], ["low", "mid", "high"], ordered=True)
df.groupby("E", observed=True).mean().round(3)

# %%
df.loc[df["E"] > "low", "A":"B"].shape

# %%
df.iloc[:, :4].to_numpy().reshape(-1, 2).sum(axis=0)

# %%
pd.DataFrame(np.arange(6).reshape(2, 3)).mul([1, 10, 100])

# %%
u, s, vt = np.linalg.svd(df[list("ABCD")])
s.round(4)

# %%
np.hstack([df[["A", "B"]], df[["C"]]]).shape

# %%
pd.Series(np.linspace(0, 1, 5)).map("{:.2f}".format).tolist()

# %%
df[["A", "B"]].quantile([0.1, 0.9])

# %%
df.select_dtypes(exclude="category").pipe(lambda d: (d - d.min()) / (d.max() - d.min())).max()

# %%
df.nlargest(2, ["A", "B"]).index.tolist()
