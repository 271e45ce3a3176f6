# %% Claims
import numpy as np
import pandas as pd
rng = np.random.default_rng(29)
n = 200
c = pd.DataFrame({"age": rng.integers(18, 65, n), "sex": rng.choice(["male", "female"], n), "bmi": rng.normal(30, 6, n).round(1), "children": rng.integers(0, 5, n), "smoker": rng.choice(["yes", "no"], n, p=[0.2, 0.8]), "region": rng.choice(["ne", "nw", "se", "sw"], n)})
c["charges"] = (250 * c["age"] + 300 * c["bmi"] + np.where(c["smoker"] == "yes", 20000, 0) + rng.normal(0, 2000, n)).round(2)
c.agg({"age": "mean", "charges": "max"})
# %%
c.groupby("smoker")["charges"].agg(["mean", "median", "std"]).round(1)
# %%
c["bmi_class"] = pd.cut(c["bmi"], [0, 18.5, 25, 30, 100], labels=["under", "normal", "over", "obese"])
c.groupby(["bmi_class", "smoker"], observed=False)["charges"].mean().unstack().round(0)
# %%
num = pd.get_dummies(c.drop(columns="bmi_class"), drop_first=True, dtype=int)
num.corr()["charges"].sort_values(ascending=False).index[:3].tolist()
# %%
X = num.drop(columns="charges").assign(const=1.0)
beta, *_ = np.linalg.lstsq(X.to_numpy(dtype=float), num["charges"].to_numpy(), rcond=None)
coef = pd.Series(beta, index=X.columns)
coef.round(1)
# %%
pred = X.astype(float) @ coef
r2 = 1 - ((num["charges"] - pred) ** 2).sum() / ((num["charges"] - num["charges"].mean()) ** 2).sum()
round(r2, 5)
# %%
c["children"].value_counts().sort_index()
# %%
c.loc[c["charges"] > c["charges"].quantile(0.99), ["age", "smoker"]].shape
# %%
c.groupby("region")["charges"].sum().pipe(lambda s: s / s.sum()).round(4)
# %%
c["decade"] = c["age"] // 10 * 10
c.pivot_table(index="decade", columns="sex", values="charges", aggfunc=lambda s: s.quantile(0.9)).round(0)
