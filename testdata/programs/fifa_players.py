# %% Money and heights in text
import pandas as pd
import numpy as np
f = pd.DataFrame({"Name": ["L. Messi", "K. Young", "R. Old", "T. Kid"], "Value": ["€110.5M", "€600K", "€0", "€12M"], "Wage": ["€565K", "€3K", "€10K", "€40K"], "Height": ["5'7", "6'2", "5'11", "6'0"], "Weight": ["159lbs", "183lbs", "170lbs", None], "Positions": ["RW, ST, CF", "CB", "GK", "CM, CDM"], "Joined": ["Jul 1, 2004", "Aug 16, 2017", None, "Jan 1, 2020"]})
def money(t):
    t = t.replace("€", "")
    if t.endswith("M"):
        return float(t[:-1]) * 1e6
    if t.endswith("K"):
        return float(t[:-1]) * 1e3
    return float(t)
f[["Value", "Wage"]] = f[["Value", "Wage"]].map(money)
f[["Value", "Wage"]]
# %%
h = f["Height"].str.split("'", expand=True).astype(int)
f["cm"] = (h[0] * 30.48 + h[1] * 2.54).round(1)
f["cm"].tolist()
# %%
f["kg"] = f["Weight"].str.replace("lbs", "").astype(float) * 0.453592
f["kg"].round(1).tolist()
# %%
f["bmi"] = (f["kg"] / (f["cm"] / 100) ** 2).round(1)
f["bmi"].mean()
# %%
f["Joined"] = pd.to_datetime(f["Joined"], format="%b %d, %Y")
f["Joined"].dt.year.tolist()
# %%
pos = f.assign(pos=f["Positions"].str.split(", ")).explode("pos")
pos["pos"].value_counts().sum()
# %%
f["main"] = f["Positions"].str.extract(r"^(\w+)")
f["line"] = f["main"].map({"GK": "goal", "CB": "defence", "CM": "midfield"}).fillna("attack")
f.groupby("line")["Value"].max()
# %%
f["initial"] = f["Name"].str[0] + f["Name"].str.split(". ", regex=False).str[1].str[0]
f["initial"].tolist()
# %%
f["ratio"] = f["Value"].div(f["Wage"]).replace(np.inf, np.nan).round(1)
f["ratio"].tolist()
# %%
f.set_index("Name").select_dtypes("number").idxmax()
