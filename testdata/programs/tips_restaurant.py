# %% Tips
import io
import pandas as pd
import numpy as np
tips = pd.read_csv(io.StringIO("""total_bill,tip,sex,smoker,day,time,size
16.99,1.01,Female,No,Sun,Dinner,2
10.34,1.66,Male,No,Sun,Dinner,3
21.01,3.5,Male,No,Sat,Dinner,3
23.68,3.31,Male,Yes,Sat,Dinner,2
24.59,3.61,Female,No,Thur,Lunch,4
8.77,2.0,Male,Yes,Thur,Lunch,2
26.88,3.12,Male,Yes,Fri,Dinner,4
15.04,1.96,Female,No,Fri,Lunch,2
"""))
tips.describe()
# %%
tips["pct"] = tips["tip"] / tips["total_bill"]
tips.groupby(["sex", "smoker"])["pct"].mean().unstack()
# %%
tips.groupby("day")["tip"].agg(["mean", "max"]).loc[["Thur", "Fri", "Sat", "Sun"]]
# %%
tips["big"] = tips["total_bill"] > tips["total_bill"].median()
pd.crosstab(tips["time"], tips["big"], margins=True)
# %%
tips.pivot_table(index="day", columns="time", values="pct", aggfunc="mean").round(3)
# %%
top = tips.sort_values("pct", ascending=False).groupby("sex").head(1)
top[["sex", "pct"]].set_index("sex").round(4)
# %%
tips.groupby("size").size().sort_index(ascending=False)
# %%
tips.loc[tips["smoker"].eq("Yes") & tips["day"].isin(["Sat", "Fri"]), "tip"].sum()
# %%
tips[["total_bill", "tip", "size"]].corr().round(3)
# %%
tips["bin"] = pd.cut(tips["total_bill"], [0, 10, 20, 30], labels=["low", "mid", "high"])
tips.groupby("bin", observed=True)["pct"].agg(["count", "mean"]).round(3)
