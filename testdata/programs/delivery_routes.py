# %% Deliveries
import pandas as pd
import numpy as np
d = pd.DataFrame({"driver": ["A", "A", "B", "B", "B", "C"], "stop": [1, 2, 1, 2, 3, 1], "planned": ["08:00", "09:00", "08:15", "09:30", "11:00", "10:00"], "actual": ["08:05", "09:20", "08:10", "09:45", "12:10", None], "kg": [12.5, 3.0, 7.7, 20.0, 1.2, 9.9]})
for c in ["planned", "actual"]:
    d[c] = pd.to_datetime("2024-05-05 " + d[c])
d.dtypes["planned"].kind
# %%
d["delay"] = (d["actual"] - d["planned"]).dt.total_seconds() / 60
d["delay"].tolist()
# %%
d["late"] = d["delay"] > 10
d.groupby("driver")["late"].sum()
# %%
d["leg"] = d.groupby("driver")["actual"].diff()
d["leg"].dt.seconds.fillna(0).astype(int).tolist()
# %%
d.groupby("driver").agg(stops=("stop", "max"), load=("kg", "sum"), last=("actual", "max"))
# %%
d["remaining"] = d.groupby("driver")["kg"].transform("sum") - d.groupby("driver")["kg"].cumsum()
d["remaining"].round(1).tolist()
# %%
wide = d.pivot(index="driver", columns="stop", values="delay")
wide
# %%
wide.mean(axis=1).sort_values(na_position="first")
# %%
d.loc[d["actual"].isna(), "status"] = "open"
d["status"] = d["status"].fillna("done")
d["status"].value_counts()
# %%
d["slot"] = d["planned"].dt.floor("2h").dt.strftime("%H:%M")
d.groupby("slot")["kg"].sum()
# %%
d.sort_values("delay", ascending=False, na_position="last")["stop"].tolist()
