# %% Budget
import pandas as pd
import numpy as np
b = pd.DataFrame({"dept": ["IT", "HR", "Ops"], "Q1": [100, 50, 200], "Q2": [110, 55, 210]}).set_index("dept")
a = pd.DataFrame({"dept": ["IT", "Ops", "HR"], "Q1": [120, 190, 48], "Q2": [105, 230, 60]}).set_index("dept")
diff = a - b
diff
# %%
(diff / b * 100).round(1)
# %%
diff.sum(), diff.sum(axis=1)
# %%
over = diff.gt(0)
over.any(axis=1).tolist(), over.values.sum()
# %%
both = pd.concat({"budget": b, "actual": a}, axis=1)
both.shape
# %%
long = b.reset_index().melt("dept", var_name="q", value_name="budget").merge(a.reset_index().melt("dept", var_name="q", value_name="actual"), on=["dept", "q"])
long["var"] = long["actual"] - long["budget"]
long.sort_values(["dept", "q"]).reset_index(drop=True)
# %%
long.groupby("dept")[["budget", "actual", "var"]].sum()
# %%
long.loc[long["var"].abs().idxmax(), ["dept", "q", "var"]].tolist()
# %%
styled = long.assign(flag=np.where(long["var"] > 0, "over", "ok"))
styled["flag"].value_counts()
# %%
b.add(a, fill_value=0).loc["HR"].tolist()
