# %% A ranking: weights, ranks with ties like "=12", ranges like "101-150"
import pandas as pd
import numpy as np

r = pd.DataFrame({
    "rank": ["1", "2", "=3", "=3", "5", "101-150", "151-200"],
    "name": ["Alpha U", "Beta Institute", "Gamma College", "Delta U", "Epsilon Tech", "Zeta U", "Eta U"],
    "country": ["US", "UK", "US", "CH", "UK", "DE", "US"],
    "students": ["20,152", "6,000", "-", "18,900", "9,950", "40,100", "12,345"],
    "intl": ["34%", "41%", "23%", "38%", "", "12%", "9%"],
    "ratio": ["62 : 38", "50 : 50", None, "31 : 69", "33 : 67", "51 : 49", "55 : 45"],
    "teaching": [92.1, 88.0, 79.5, 81.2, np.nan, 60.3, 55.5],
    "research": [97.4, 90.1, 85.0, 88.8, 91.0, 58.8, 49.9],
})
r

# %%
low = r["rank"].str.replace("=", "").str.split("-", expand=True).astype(float)
r["rank_num"] = low.mean(axis=1)
r["rank_num"].tolist()

# %%
r["students"] = pd.to_numeric(r["students"].str.replace(",", ""), errors="coerce")
r["students"] = r["students"].fillna(r["students"].median()).astype(int)
r["students"].sum()

# %%
r["intl"] = r["intl"].str.rstrip("%").replace("", np.nan).astype(float) / 100
r["intl"].mean().round(4)

# %%
r[["female", "male"]] = r["ratio"].str.split(" : ", expand=True).astype(float)
r["gap"] = (r["female"] - r["male"]).abs()
r[["name", "gap"]].dropna()

# %%
r["teaching"] = r["teaching"].interpolate()
w = pd.Series({"teaching": 0.4, "research": 0.6})
r["score"] = r[["teaching", "research"]].mul(w).sum(axis=1).round(2)
r["score"].tolist()

# %%
r["own_rank"] = r["score"].rank(ascending=False, method="min").astype(int)
r["moved"] = r["rank_num"].rank(method="min").astype(int) - r["own_rank"]
r.set_index("name")["moved"]

# %%
r.groupby("country").agg(n=("name", "count"), best=("rank_num", "min"), students=("students", "sum")).sort_values(["n", "best"], ascending=[False, True])

# %%
top = r.loc[r.groupby("country")["score"].idxmax(), ["country", "name"]].sort_values("country").reset_index(drop=True)
top

# %%
r["short"] = r["name"].str.replace(" University| College| Institute| Tech| U", "", regex=True).str.upper()
r["short"].tolist()

# %%
pd.concat([r["score"], r["intl"]], axis=1).corr().iloc[0, 1].round(4)

# %%
r["band"] = pd.qcut(r["score"], 3, labels=["C", "B", "A"])
r.groupby("band", observed=True)["name"].first()

# %%
r.filter(regex="^(teach|res)").describe().loc["75%"]

# %%
r.drop(columns=["ratio", "rank"]).isna().sum().sum()

# %%
r.iloc[:3].to_dict("list")["name"], r.at[4, "country"]
