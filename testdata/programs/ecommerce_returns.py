# %% Returns
import pandas as pd
import numpy as np
o = pd.DataFrame({"order": [1, 1, 2, 3, 3, 3, 4], "sku": ["a", "b", "a", "c", "a", "b", "c"], "qty": [1, 2, 1, 1, 3, 1, 2], "price": [10.0, 5.0, 10.0, 99.0, 9.5, 5.0, 99.0]})
r = pd.DataFrame({"order": [1, 3, 3], "sku": ["b", "c", "a"], "returned": [1, 1, 2], "reason": ["size", "broken", "size"]})
m = o.merge(r, on=["order", "sku"], how="left")
m
# %%
m["returned"] = m["returned"].fillna(0).astype(int)
m["kept"] = m["qty"] - m["returned"]
m["net"] = m["kept"] * m["price"]
m.groupby("order")["net"].sum()
# %%
rate = m.groupby("sku")[["returned", "qty"]].sum().eval("returned / qty")
rate.round(3)
# %%
m["reason"].value_counts(dropna=False)
# %%
m.groupby(["sku", "reason"], dropna=False)["returned"].sum()
# %%
m.loc[m["returned"] > 0].groupby("reason")["sku"].agg(set).apply(sorted).to_dict()
# %%
m.groupby("order").agg(items=("sku", "count"), any_return=("returned", lambda x: (x > 0).any()))
# %%
full = m.groupby("order").filter(lambda d: d["returned"].sum() == 0)
full["order"].unique()
# %%
m["price_band"] = pd.cut(m["price"], [0, 9.99, 50, 100], labels=["budget", "mid", "premium"])
m.pivot_table(index="price_band", values=["qty", "returned"], aggfunc="sum", observed=True)
# %%
m.sort_values(["returned", "price"], ascending=False).drop_duplicates("order").set_index("order")["sku"].sort_index()
