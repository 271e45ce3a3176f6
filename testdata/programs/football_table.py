# %% League table from match results
import io
import pandas as pd
import numpy as np

results = pd.read_csv(io.StringIO("""Date,HomeTeam,AwayTeam,FTHG,FTAG
12/08/2023,Rovers,United,2,1
12/08/2023,City,Athletic,0,0
19/08/2023,United,City,3,2
20/08/2023,Athletic,Rovers,1,1
26/08/2023,Rovers,City,0,2
27/08/2023,United,Athletic,4,0
02/09/2023,United,Rovers,1,1
02/09/2023,Athletic,City,2,3
16/09/2023,City,United,1,1
17/09/2023,Rovers,Athletic,3,0
"""), parse_dates=["Date"], dayfirst=True)
results.head()

# %%
results["Date"].min(), results["Date"].max()

# %%
conditions = [results["FTHG"] > results["FTAG"], results["FTHG"] < results["FTAG"]]
results["FTR"] = np.select(conditions, ["H", "A"], default="D")
results["FTR"].value_counts()

# %%
home = results.rename(columns={"HomeTeam": "team", "FTHG": "gf", "FTAG": "ga"})[["Date", "team", "gf", "ga"]]
home["venue"] = "home"
away = results.rename(columns={"AwayTeam": "team", "FTAG": "gf", "FTHG": "ga"})[["Date", "team", "gf", "ga"]]
away["venue"] = "away"
games = pd.concat([home, away], ignore_index=True).sort_values(["team", "Date"]).reset_index(drop=True)
games.head()

# %%
games["points"] = np.where(games.gf > games.ga, 3, np.where(games.gf == games.ga, 1, 0))
games["gd"] = games.gf - games.ga
table = games.groupby("team").agg(played=("gf", "size"), gf=("gf", "sum"), ga=("ga", "sum"), gd=("gd", "sum"), points=("points", "sum"))
table = table.sort_values(["points", "gd", "gf"], ascending=False)
table

# %%
table.insert(0, "pos", range(1, len(table) + 1))
table.loc["City"]

# %%
table.at["Rovers", "points"]

# %%
games.groupby(["team", "venue"])["points"].sum().unstack()

# %%
games["form"] = games.groupby("team")["points"].transform(lambda x: x.rolling(3, min_periods=1).sum())
games.groupby("team")["form"].last()

# %%
games["result"] = games["points"].map({3: "W", 1: "D", 0: "L"})
games.groupby("team")["result"].agg("".join)

# %%
games["unbeaten"] = games["points"] > 0
games["streak"] = games.groupby("team")["unbeaten"].transform(lambda s: s.groupby((~s).cumsum()).cumsum())
games.groupby("team")["streak"].max()

# %%
pd.pivot_table(results, index="HomeTeam", columns="AwayTeam", values="FTHG", aggfunc="sum", fill_value=0)

# %%
results.groupby(results["Date"].dt.month)[["FTHG", "FTAG"]].mean()

# %%
results["total"] = results[["FTHG", "FTAG"]].sum(axis=1)
results["total"].describe()[["mean", "max"]]

# %%
games.set_index(["team", "Date"]).loc["City"]["points"].tolist()

# %%
table["points"].rank(ascending=False, method="min").astype(int)
