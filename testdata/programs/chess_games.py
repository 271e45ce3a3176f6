# %% Ratings
import pandas as pd
import numpy as np
rng = np.random.default_rng(71)
n = 100
g = pd.DataFrame({"white": rng.choice(list("ABCDE"), n), "black": rng.choice(list("ABCDE"), n), "turns": rng.integers(5, 120, n), "winner": rng.choice(["white", "black", "draw"], n, p=[0.48, 0.44, 0.08]), "opening": rng.choice(["Sicilian Defense: Najdorf", "Queen's Gambit", "Ruy Lopez: Berlin", "Italian Game"], n)})
g = g[g["white"] != g["black"]].reset_index(drop=True)
g["winner"].value_counts(normalize=True).round(3)
# %%
g["family"] = g["opening"].str.split(":").str[0]
g.groupby("family")["turns"].agg(["mean", "count"]).round(2)
# %%
w = g.rename(columns={"white": "player"})[["player", "winner"]].assign(color="white")
b = g.rename(columns={"black": "player"})[["player", "winner"]].assign(color="black")
long = pd.concat([w, b], ignore_index=True)
long["points"] = np.where(long["winner"] == "draw", 0.5, (long["winner"] == long["color"]).astype(float))
long.groupby("player")["points"].agg(["sum", "count"])
# %%
long.pivot_table(index="player", columns="color", values="points").round(3)
# %%
matrix = pd.crosstab(g["white"], g["black"])
matrix.loc["A"].sum(), np.diag(matrix).sum()
# %%
h2h = g.groupby(["white", "black"])["winner"].apply(lambda s: (s == "white").mean()).unstack().round(2)
h2h.shape
# %%
g["length"] = pd.cut(g["turns"], [0, 30, 60, 200], labels=["short", "normal", "long"])
pd.crosstab(g["length"], g["winner"], normalize="index").round(3)
# %%
long.groupby("player")["points"].mean().rank(ascending=False).astype(int).sort_values().index[0]
# %%
g["turns"].rolling(10).mean().dropna().agg(["min", "max"]).round(2)
