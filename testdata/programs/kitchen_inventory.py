# %% Units
import pandas as pd
import numpy as np
k = pd.DataFrame({"item": ["flour", "sugar", "milk", "eggs"], "qty": [2.5, 500, 1.5, 12], "unit": ["kg", "g", "l", "pcs"], "expires": ["2024-12-01", "2025-06-30", "2024-05-10", "2024-05-20"]})
factor = {"kg": 1000, "g": 1, "l": 1000, "pcs": 1}
k["base"] = k["qty"] * k["unit"].map(factor)
k["base"].tolist()
# %%
k["expires"] = pd.to_datetime(k["expires"])
k["days"] = (k["expires"] - pd.Timestamp("2024-05-01")).dt.days
k.sort_values("days")[["item", "days"]]
# %%
k["soon"] = k["days"].le(30)
k.loc[k["soon"], "item"].tolist()
# %%
use = pd.DataFrame({"item": ["milk", "flour", "milk", "eggs", "rice"], "base": [250, 300, 500, 3, 100]})
left = k.set_index("item")["base"].sub(use.groupby("item")["base"].sum(), fill_value=0)
left
# %%
left[left < 0].index.tolist()
# %%
k.merge(use.groupby("item", as_index=False)["base"].sum(), on="item", how="outer", suffixes=("", "_used")).sort_values("item").fillna({"base": 0, "base_used": 0})[["item", "base", "base_used"]].reset_index(drop=True)
# %%
k["label"] = k["item"].str.cat([k["qty"].astype(str), k["unit"]], sep=" ")
k["label"].tolist()
# %%
k.groupby(k["expires"].dt.to_period("M").astype(str))["item"].count()
# %%
k.set_index("item").loc[["milk", "eggs"], ["qty", "unit"]].to_dict("index")
# %%
k.eval("ratio = base / days")["ratio"].round(2).tolist()
