# %% Screener
import io
import numpy as np
import pandas as pd
s = pd.read_csv(io.StringIO("""ticker,sector,mktcap,pe,div_yield,eps_growth
AAA,Tech,2.5T,31.2,0.5%,12%
BBB,Tech,900B,22.1,,8%
CCC,Energy,350.5B,9.8,4.1%,-3%
DDD,Health,75B,N/A,1.9%,15%
EEE,Energy,12B,7.1,6.0%,2%
FFF,Tech,4B,105,0%,60%
"""))
s.dtypes.astype(str).loc["ticker"] != ""
# %%
units = {"T": 1e12, "B": 1e9, "M": 1e6}
s["cap"] = s["mktcap"].str[:-1].astype(float) * s["mktcap"].str[-1].map(units)
s["cap"].sum()
# %%
for c in ["div_yield", "eps_growth"]:
    s[c] = s[c].str.rstrip("%").astype(float) / 100
s["div_yield"].fillna(0).round(4)
# %%
s["peg"] = s["pe"] / (s["eps_growth"] * 100)
s.loc[s["peg"].between(0, 3), "ticker"].tolist()
# %%
s.groupby("sector").agg({"cap": "sum", "pe": "median", "div_yield": "mean"}).round(3)
# %%
s["size"] = pd.cut(s["cap"], [0, 1e10, 2e11, np.inf], labels=["small", "mid", "large"])
s["size"].value_counts(sort=False)
# %%
s["w"] = s.groupby("sector")["cap"].transform(lambda x: x / x.sum())
s.groupby("sector")["w"].max().round(4)
# %%
ranks = s[["pe", "div_yield", "eps_growth"]].rank(pct=True)
s["score"] = (1 - ranks["pe"]).fillna(0) + ranks["div_yield"].fillna(0) + ranks["eps_growth"]
s.sort_values("score", ascending=False)["ticker"].head(2).tolist()
# %%
s.query("pe < 25 and div_yield > 0.01")[["ticker"]]
# %%
s["pe"].fillna(s.groupby("sector")["pe"].transform("mean")).isna().sum()
