# %% Trees
import numpy as np
import pandas as pd
rng = np.random.default_rng(91)
n = 130
t = pd.DataFrame({"species": rng.choice(["Oak", "oak ", "Elm", "ELM", "Ash"], n), "dbh_cm": rng.gamma(4, 8, n).round(1), "health": rng.choice(["Good", "Fair", "Poor", ""], n), "planted": rng.integers(1900, 2020, n), "lat": 48 + rng.random(n), "lon": 11 + rng.random(n)})
t["species"] = t["species"].str.strip().str.capitalize()
t["species"].value_counts()
# %%
t["health"] = t["health"].replace("", pd.NA).fillna("Unknown")
pd.crosstab(t["species"], t["health"])
# %%
t["age"] = 2024 - t["planted"]
t["growth"] = (t["dbh_cm"] / t["age"]).round(3)
t.groupby("species")["growth"].agg(["mean", "median"]).round(3)
# %%
t["age_class"] = pd.cut(t["age"], range(0, 141, 20))
t.groupby("age_class", observed=True)["dbh_cm"].mean().round(1).values.tolist()
# %%
t["cell"] = (t["lat"] * 10).astype(int).astype(str) + "_" + (t["lon"] * 10).astype(int).astype(str)
t.groupby("cell").size().sort_values(ascending=False).iloc[0]
# %%
big = t.groupby("species")["dbh_cm"].nlargest(2).round(1)
big.droplevel(1)
# %%
t.loc[(t["dbh_cm"] > 50) | ((t["age"] > 100) & (t["health"] == "Poor"))].shape
# %%
np.histogram(t["dbh_cm"], bins=[0, 20, 40, 60, 200])[0].tolist()
# %%
t.groupby(["species", "health"]).agg(n=("dbh_cm", "size"), max=("dbh_cm", "max")).reset_index().head(3)
# %%
t["decade"] = t["planted"] // 10 * 10
t.groupby("decade").size().rolling(3).sum().dropna().astype(int).max()
