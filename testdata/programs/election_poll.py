# %% Polls: weights, crosstabs with margins, multi-index
import numpy as np
import pandas as pd

np.random.seed(21)
n = 400
poll = pd.DataFrame({
    "age": np.random.randint(18, 90, n),
    "sex": np.random.choice(["f", "m"], n),
    "region": np.random.choice(["east", "west", "north"], n, p=[0.3, 0.5, 0.2]),
    "vote": np.random.choice(["Red", "Blue", "Green", "none"], n, p=[0.35, 0.3, 0.15, 0.2]),
})
poll["age_group"] = pd.cut(poll["age"], [17, 29, 44, 64, 120], labels=["18-29", "30-44", "45-64", "65+"])
poll.head()

# %%
poll["vote"] = poll["vote"].replace("none", np.nan)
poll["vote"].value_counts(dropna=False)

# %%
pd.crosstab(poll["region"], poll["vote"], margins=True, margins_name="total")

# %%
pd.crosstab([poll["sex"], poll["region"]], poll["vote"])

# %%
pd.crosstab(poll["age_group"], poll["vote"], normalize="index").mul(100).round(1)

# %%
target = pd.Series({"east": 0.25, "west": 0.45, "north": 0.30})
actual = poll["region"].value_counts(normalize=True)
weights = target / actual
weights.round(4)

# %%
poll["w"] = poll["region"].map(weights)
poll.groupby("vote")["w"].sum().div(poll.loc[poll["vote"].notna(), "w"].sum()).round(4)

# %%
poll.groupby(["region", "sex"])["age"].agg(["mean", "std", "count"]).round(1)

# %%
t = poll.groupby(["region", "vote"]).size().unstack()
t.T.assign(diff=lambda d: d["west"] - d["east"])

# %%
t.div(t.sum(axis=1), axis=0).idxmax(axis=1)

# %%
g = poll.groupby("age_group", observed=True)["vote"].value_counts().unstack().fillna(0).astype(int)
g

# %%
boot = []
for i in range(10):
    s = poll.sample(len(poll), replace=True, random_state=i)
    boot.append(s["vote"].eq("Red").mean())
pd.Series(boot).agg(["mean", "std"]).round(4)

# %%
poll["generation"] = np.select([poll["age"] < 28, poll["age"] < 44, poll["age"] < 60], ["Z", "Y", "X"], default="boomer")
poll.pivot_table(index="generation", columns="sex", values="age", aggfunc=["count", "mean"]).round(1)

# %%
ct = pd.crosstab(poll["sex"], poll["vote"])
expected = np.outer(ct.sum(axis=1), ct.sum(axis=0)) / ct.values.sum()
chi2 = ((ct - expected) ** 2 / expected).values.sum()
round(chi2, 6)

# %%
poll.set_index(["region", "sex"]).sort_index().loc[("east", "f"), "age"].mean().round(3)

# %%
poll.groupby("region")["vote"].agg(lambda s: s.mode()[0])
