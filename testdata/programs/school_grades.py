# %% Grades of pupils: wide to long, weighted means, ranks
import pandas as pd

grades = pd.DataFrame({
    "name": ["Ada", "Ben", "Cleo", "Dan", "Eli"],
    "class": ["4a", "4b", "4a", "4b", "4a"],
    "math_1": [1.0, 3.3, 2.0, None, 4.0],
    "math_2": [1.3, 2.7, 2.3, 3.0, 3.7],
    "art_1": [2.0, 1.0, None, 1.7, 2.3],
    "art_2": [1.7, 1.3, 2.0, 2.0, 2.0],
})
grades

# %%
long = pd.wide_to_long(grades, stubnames=["math", "art"], i=["name", "class"], j="term", sep="_").reset_index()
long

# %%
long.groupby(["class", "term"])[["math", "art"]].mean()

# %%
long["mean"] = long[["math", "art"]].mean(axis=1)
long.pivot(index="name", columns="term", values="mean")

# %%
weights = {"math": 0.6, "art": 0.4}
long["weighted"] = sum(long[s] * w for s, w in weights.items())
long.groupby("name")["weighted"].mean().round(2)

# %%
melted = grades.melt(id_vars=["name", "class"])
melted[["subject", "term"]] = melted["variable"].str.split("_", expand=True)
melted.drop(columns="variable").head(7)

# %%
melted["term"] = melted["term"].astype(int)
melted.pivot_table(index=["class", "subject"], columns="term", values="value")

# %%
best = melted.loc[melted.groupby("subject")["value"].idxmin()]
best[["subject", "name", "value"]]

# %%
melted.dropna().groupby("name").filter(lambda g: len(g) == 4)["name"].unique()

# %%
bins = [0, 1.5, 2.5, 3.5, 4.5]
melted["mark"] = pd.cut(melted["value"], bins=bins, labels=["very good", "good", "fair", "poor"])
melted.groupby(["subject", "mark"], observed=False).size().unstack("mark")

# %%
melted["mark"].cat.codes.tolist()

# %%
t = grades.set_index("name")
t.loc[["Ada", "Eli"], "math_1":"math_2"]

# %%
t.drop(columns="class").T.head(2)

# %%
t["math"] = t.filter(regex="^math").mean(axis=1)
t["rank"] = t.groupby("class")["math"].rank()
t[["math", "rank"]]

# %%
t.sort_values(by=["class", "math"], ascending=[True, False]).index.tolist()

# %%
t.loc[t["math"].isna() | (t["math"] > 3), "note"] = "talk to parents"
t["note"].fillna("-")

# %%
grades["name"].isin(["Ada", "Zoe"]).any(), "Ada" in t.index

# %%
t.eval("art = (art_1 + art_2) / 2")["art"].round(2)
