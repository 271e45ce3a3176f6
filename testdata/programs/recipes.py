# %% Ingredients as lists: explode, join back, pivot
import pandas as pd

recipes = pd.DataFrame({
    "recipe": ["pancakes", "omelette", "salad"],
    "ingredients": ["flour, milk, egg, salt", "egg, milk, cheese, salt", "tomato, cheese, oil, salt"],
    "minutes": [20, 10, 15],
})
recipes["ingredients"] = recipes["ingredients"].str.split(", ")
recipes

# %%
long = recipes.explode("ingredients").rename(columns={"ingredients": "ingredient"})
long.reset_index(drop=True)

# %%
long["ingredient"].value_counts()

# %%
long.groupby("ingredient")["recipe"].apply(list)

# %%
long.groupby("ingredient")["recipe"].agg(["count", "first"])

# %%
long.groupby("recipe")["ingredient"].agg(lambda s: ", ".join(sorted(s)))

# %%
has = pd.crosstab(long["recipe"], long["ingredient"])
has

# %%
common = has.T @ has
common.loc["egg", "milk"]

# %%
prices = {"flour": 0.2, "milk": 0.5, "egg": 0.6, "salt": 0.01, "cheese": 1.2, "tomato": 0.9, "oil": 0.3}
long["price"] = long["ingredient"].map(prices)
cost = long.groupby("recipe")["price"].sum()
cost

# %%
recipes = recipes.merge(cost.rename("cost"), left_on="recipe", right_index=True)
recipes[["recipe", "cost"]]

# %%
recipes["n"] = recipes["ingredients"].str.len()
recipes["first"] = recipes["ingredients"].str[0]
recipes.drop(columns="ingredients")

# %%
recipes["has_egg"] = recipes["ingredients"].apply(lambda xs: "egg" in xs)
recipes.set_index("recipe")["has_egg"]

# %%
pd.Series(sum(recipes["ingredients"].tolist(), [])).nunique()

# %%
recipes["per_minute"] = (recipes["cost"] / recipes["minutes"]).round(4)
recipes.nsmallest(1, "per_minute")["recipe"].item()
