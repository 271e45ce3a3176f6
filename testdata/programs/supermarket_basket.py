# %% Baskets: pairs that are bought together
import itertools
import numpy as np
import pandas as pd

rng = np.random.default_rng(17)
items = ["milk", "bread", "butter", "beer", "chips", "apples"]
rows = [(b, i) for b in range(60) for i in rng.choice(items, rng.integers(1, 5), replace=False)]
df = pd.DataFrame(rows, columns=["basket", "item"])
df.shape

# %%
df["item"].value_counts(normalize=True).round(3)

# %%
onehot = df.assign(v=1).pivot_table(index="basket", columns="item", values="v", fill_value=0).astype(bool)
onehot.head()

# %%
support = onehot.mean().sort_values(ascending=False, kind="stable")
support

# %%
pairs = []
for a, b in itertools.combinations(onehot.columns, 2):
    both = (onehot[a] & onehot[b]).mean()
    pairs.append({"a": a, "b": b, "support": both, "lift": both / (support[a] * support[b])})
rules = pd.DataFrame(pairs)
rules.sort_values("lift", ascending=False).head(3)

# %%
self_join = df.merge(df, on="basket")
self_join = self_join[self_join["item_x"] < self_join["item_y"]]
self_join.groupby(["item_x", "item_y"]).size().nlargest(3).max()

# %%
co = pd.crosstab(self_join["item_x"], self_join["item_y"])
co

# %%
m = onehot.astype(int)
(m.T @ m).loc["milk"]

# %%
m.dot(pd.Series({"milk": 1.2, "bread": 2.5, "butter": 3.0, "beer": 5.0, "chips": 2.0, "apples": 1.8})).describe().round(3)

# %%
sizes = df.groupby("basket").size()
sizes.value_counts().sort_index()

# %%
big = sizes[sizes >= 4].index
df[df["basket"].isin(big)].groupby("basket")["item"].apply(lambda s: "+".join(sorted(s))).head(3)

# %%
df.groupby("basket")["item"].agg(set).apply(len).equals(sizes.rename("item"))

# %%
rules["rank"] = rules["lift"].rank(ascending=False).astype(int)
rules.set_index(["a", "b"])["rank"].unstack()

# %%
onehot[onehot["beer"]].drop(columns="beer").mean().idxmax()

# %%
onehot.any(axis=1).all(), onehot.all(axis=1).any()

# %%
np.where(onehot.sum(axis=1) > 2, "large", "small").tolist()[:5]
