# %% Diamonds: ordered grades
import numpy as np
import pandas as pd
rng = np.random.default_rng(14)
n = 150
d = pd.DataFrame({"carat": rng.gamma(2, 0.4, n).round(2) + 0.2, "cut": rng.choice(["Fair", "Good", "Ideal"], n), "color": rng.choice(list("DEF"), n)})
d["price"] = (d["carat"] ** 1.7 * 4000 * (1 + 0.1 * (d["cut"] == "Ideal"))).round()
d.head(3)
# %%
d["cut"] = pd.Categorical(d["cut"], categories=["Fair", "Good", "Ideal"], ordered=True)
d["cut"].min(), (d["cut"] > "Fair").sum()
# %%
d.groupby("cut", observed=True)["price"].describe().round(1)[["count", "mean", "max"]]
# %%
d["ppc"] = d["price"] / d["carat"]
d.groupby(["cut", "color"], observed=True)["ppc"].median().unstack().round(0)
# %%
d.sort_values(["cut", "price"]).groupby("cut", observed=True).tail(1)["price"].tolist()
# %%
d["size"] = pd.qcut(d["carat"], [0, 0.5, 0.9, 1.0], labels=["small", "medium", "large"])
pd.crosstab(d["size"], d["cut"])
# %%
z = (np.log(d["price"]) - np.log(d["price"]).mean()) / np.log(d["price"]).std()
z.abs().max().round(4) if hasattr(z.abs().max(), "round") else round(z.abs().max(), 4)
# %%
d.nlargest(3, "price")[["carat", "price"]].to_numpy().tolist()
# %%
d["color"].value_counts().sort_index().to_dict()
# %%
d.corr(numeric_only=True, method="spearman").loc["carat", "price"].round(4)
