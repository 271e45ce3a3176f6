# %% Box scores of players: per-game means, efficiency, ranks
import io
import numpy as np
import pandas as pd

box = pd.read_csv(io.StringIO("""player,team,date,min,pts,reb,ast,fgm,fga
Jones,BOS,2024-01-03,34:10,27,5,8,10,19
Jones,BOS,2024-01-05,29:45,18,7,5,7,15
Jones,BOS,2024-01-08,DNP,,,,,
Smith,LAL,2024-01-03,38:02,31,12,4,12,24
Smith,LAL,2024-01-06,36:30,22,10,6,8,20
Garcia,LAL,2024-01-03,20:00,8,3,2,3,9
Garcia,LAL,2024-01-06,24:15,14,2,3,5,8
Kim,BOS,2024-01-05,31:20,20,4,9,8,14
Kim,BOS,2024-01-08,33:33,25,6,11,9,17
"""), parse_dates=["date"], na_values=["DNP"])
box

# %%
parts = box["min"].str.split(":", expand=True).astype(float)
box["minutes"] = (parts[0] + parts[1] / 60).round(2)
box["minutes"].tolist()

# %%
played = box.dropna(subset=["pts"]).copy()
played[["pts", "reb", "ast"]] = played[["pts", "reb", "ast"]].astype(int)
played.dtypes.loc["pts"].kind

# %%
means = played.groupby("player")[["pts", "reb", "ast", "minutes"]].mean().round(1)
means.sort_values("pts", ascending=False)

# %%
played["fg_pct"] = played["fgm"] / played["fga"]
total = played.groupby("player")[["fgm", "fga"]].sum()
total["fg"] = (total["fgm"] / total["fga"]).map("{:.1%}".format)
total

# %%
played["double"] = played[["pts", "reb", "ast"]].ge(10).sum(axis=1)
played.loc[played["double"] >= 2, ["player", "date"]]

# %%
played["game_no"] = played.groupby("player").cumcount() + 1
played.pivot(index="player", columns="game_no", values="pts")

# %%
team = played.groupby(["team", "date"])["pts"].sum()
team

# %%
played["share"] = played["pts"] / played.groupby(["team", "date"])["pts"].transform("sum")
played.sort_values("share", ascending=False).head(2)[["player", "share"]].round(3)

# %%
played.groupby("player")["pts"].agg(lambda s: s.iloc[-1] - s.iloc[0])

# %%
best = played.sort_values("pts").groupby("team").tail(1)
best.set_index("team")["player"].sort_index()

# %%
z = played[["pts", "reb", "ast"]].apply(lambda c: (c - c.mean()) / c.std(ddof=0))
played["score"] = z.sum(axis=1)
played.groupby("player")["score"].mean().idxmax()

# %%
ranks = means.rank(ascending=False, method="min").astype(int)
ranks.loc[:, "pts":"ast"]

# %%
played["rest"] = played.groupby("player")["date"].diff().dt.days
played["rest"].value_counts(dropna=False)

# %%
long = means.drop(columns="minutes").stack().reset_index()
long.columns = ["player", "stat", "value"]
long[long["stat"] == "pts"].nlargest(2, "value")

# %%
np.where(means["pts"] >= 20, means.index, "bench").tolist()
