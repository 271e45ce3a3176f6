# %% Food items: units in text, filling, scoring
import io
import pandas as pd
import numpy as np

food = pd.read_csv(io.StringIO("""name\tgroup\tserving\tenergy\tprotein\tfat\tsugar
Apple\tfruit\t150 g\t78 kcal\t0.4\t0.3\t15.6
Banana\tfruit\t120 g\t105 kcal\t1.3\t0.4\t14.4
Milk\tdairy\t0.25 l\t160 kcal\t8.2\t9.1\t12.3
Cheddar\tdairy\t30 g\t120 kcal\t7.5\t9.9\t0.2
Lentils\tlegume\t100 g\t353 kcal\t25.8\t1.1\ttr
Oats\tgrain\t40 g\t152 kcal\t5.4\t2.6\t
Cola\tdrink\t330 ml\t139 kcal\t0\t0\t35
"""), sep="\t")
food.head()

# %%
food[["amount", "unit"]] = food["serving"].str.split(" ", expand=True)
food["amount"] = food["amount"].astype(float)
food.loc[food["unit"] == "l", "amount"] *= 1000
food["unit"] = food["unit"].replace({"l": "ml"})
food[["name", "amount", "unit"]]

# %%
food["kcal"] = food["energy"].str.replace(" kcal", "").astype(int)
food["per_100"] = (food["kcal"] / food["amount"] * 100).round(1)
food.sort_values("per_100")[["name", "per_100"]]

# %%
food["sugar"] = pd.to_numeric(food["sugar"].replace("tr", "0.1"))
food["sugar"] = food.groupby("group")["sugar"].transform(lambda s: s.fillna(s.mean()))
food["sugar"].isna().sum()

# %%
food["sugar"] = food["sugar"].fillna(food["sugar"].median())
food.groupby("group")[["protein", "fat", "sugar"]].mean().round(2)

# %%
macro = food.set_index("name")[["protein", "fat", "sugar"]]
macro.div(macro.sum(axis=1), axis=0).round(3)

# %%
macro.idxmax()

# %%
macro.idxmax(axis=1).value_counts()

# %%
score = macro["protein"] * 2 - macro["fat"] - macro["sugar"] * 0.5
score.rank(ascending=False).sort_values().index[0]

# %%
food["level"] = pd.cut(food["per_100"], [0, 60, 200, np.inf], labels=["low", "medium", "high"])
food.groupby("level", observed=True)["name"].apply(", ".join)

# %%
daily = {"protein": 50, "fat": 70, "sugar": 50}
macro.div(pd.Series(daily)).mul(100).round(0).loc["Milk"]

# %%
meal = pd.DataFrame({"name": ["Oats", "Milk", "Apple"], "portions": [1.5, 1, 2]})
merged = meal.merge(food, on="name")
merged[["protein", "fat", "kcal"]].mul(merged["portions"], axis=0).sum()

# %%
food.to_dict(orient="records")[0]["name"], food.columns[food.isna().any()].tolist()

# %%
food.query("protein > 5 and unit == 'g'")["name"].to_list()

# %%
food.sort_values("name", key=lambda s: s.str.len())["name"].tolist()[:2]

# %%
pd.DataFrame({"n": food.groupby("group").size(), "top": food.groupby("group")["kcal"].max()}).sort_values("n", ascending=False, kind="stable")
