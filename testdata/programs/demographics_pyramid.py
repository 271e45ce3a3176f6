# %% Ages
import numpy as np
import pandas as pd
rng = np.random.default_rng(111)
p = pd.DataFrame({"age": rng.integers(0, 100, 500), "sex": rng.choice(["F", "M"], 500), "town": rng.choice(["X", "Y", "Z"], 500)})
p["band"] = pd.cut(p["age"], bins=range(0, 101, 10), right=False)
p["band"].value_counts(sort=False).tolist()
# %%
pyr = p.groupby(["band", "sex"], observed=False).size().unstack()
pyr["M"] = -pyr["M"]
pyr.sum().tolist()
# %%
p.groupby("town")["age"].agg(["mean", "median", "std"]).round(2)
# %%
dep = p["age"].lt(15).sum() + p["age"].ge(65).sum()
round(dep / p["age"].between(15, 64).sum(), 4)
# %%
pd.crosstab(p["town"], [p["sex"], p["age"] >= 65])
# %%
p.groupby("town").apply(lambda d: pd.Series({"n": len(d), "old": (d["age"] >= 65).mean().round(3)}))
# %%
p.groupby(["town", "sex"])["age"].quantile(0.9).unstack()
# %%
p.sample(5, random_state=4)["age"].tolist()
# %%
p["age"].value_counts().head(1).iloc[0], p["age"].mode().tolist()[0]
# %%
ratio = p.pivot_table(index="town", columns="sex", aggfunc="size")
(ratio["M"] / ratio["F"]).round(3)
