# %% Elasticity
import numpy as np
import pandas as pd
rng = np.random.default_rng(121)
d = pd.DataFrame({"price": rng.choice([4.99, 5.99, 6.99], 90), "store": rng.choice(["s1", "s2"], 90)})
d["units"] = rng.poisson(200 * d["price"] ** -1.3)
d.groupby("price")["units"].agg(["mean", "count"]).round(2)
# %%
d["revenue"] = d["price"] * d["units"]
d.pivot_table(index="store", columns="price", values="revenue", aggfunc="mean").round(1)
# %%
slope = np.polyfit(np.log(d["price"]), np.log(d["units"]), 1)[0]
round(slope, 5)
# %%
d["rank"] = d.groupby("store")["revenue"].rank(method="first")
d.query("rank <= 2").sort_values(["store", "rank"])[["store", "revenue"]].round(2)
# %%
d.groupby(["store", "price"]).agg(units=("units", "sum")).unstack().shape
# %%
means = d.groupby("price")["units"].mean()
means.pct_change().div(means.index.to_series().pct_change()).round(3).tolist()
# %%
d["tier"] = d["price"].map({4.99: "low", 5.99: "mid", 6.99: "high"})
d["tier"].value_counts().sort_index()
# %%
d.groupby("tier")["revenue"].describe()["75%"].round(1)
# %%
best = d.groupby("tier")["revenue"].mean().idxmax()
best in ["low", "mid", "high"]
