# %% Census rows with spaces and question marks
import io
import numpy as np
import pandas as pd

cols = ["age", "workclass", "education", "marital", "occupation", "sex", "gain", "hours", "country", "income"]
text = """39, State-gov, Bachelors, Never-married, Adm-clerical, Male, 2174, 40, United-States, <=50K
50, Self-emp, Bachelors, Married, Exec-managerial, Male, 0, 13, United-States, <=50K
38, Private, HS-grad, Divorced, Handlers, Male, 0, 40, United-States, <=50K
28, Private, Bachelors, Married, Prof-specialty, Female, 0, 40, Cuba, <=50K
49, ?, 9th, Married, ?, Female, 0, 16, Jamaica, <=50K
31, Private, Masters, Never-married, Prof-specialty, Female, 14084, 50, United-States, >50K
42, Private, Bachelors, Married, Exec-managerial, Male, 5178, 40, United-States, >50K
37, Private, Some-college, Married, Exec-managerial, Male, 0, 80, ?, >50K
"""
df = pd.read_csv(io.StringIO(text), header=None, names=cols, skipinitialspace=True, na_values="?")
df.isna().sum().loc[lambda s: s > 0]

# %%
df["target"] = (df["income"] == ">50K").astype(int)
df.groupby("sex")["target"].agg(["mean", "count"])

# %%
df["education"].value_counts().head(2)

# %%
df["occupation"] = df["occupation"].fillna("Unknown")
df["workclass"] = df["workclass"].fillna(df["workclass"].mode()[0])
df["country"] = np.where(df["country"] == "United-States", "US", "other")
df["country"].value_counts()

# %%
df["age_bin"] = pd.cut(df["age"], bins=[17, 30, 40, 50, 90])
df.groupby("age_bin", observed=True)["hours"].mean()

# %%
df["has_gain"] = df["gain"].gt(0)
df.pivot_table(index="marital", columns="has_gain", values="target", aggfunc="mean")

# %%
df["log_gain"] = np.log1p(df["gain"])
df[["age", "hours", "log_gain", "target"]].corr()["target"].round(4)

# %%
enc = df.copy()
for c in ["workclass", "marital", "sex"]:
    enc[c] = enc[c].astype("category").cat.codes
enc[["workclass", "marital", "sex"]].head()

# %%
dummies = pd.get_dummies(df[["sex", "country"]])
dummies.astype(int).sum()

# %%
df.loc[df["hours"].idxmax(), ["age", "occupation", "hours"]].tolist()

# %%
df.groupby(["sex", "marital"])["hours"].median().unstack()

# %%
df["hours_group"] = df["hours"].apply(lambda h: "part" if h < 35 else "full" if h <= 45 else "over")
df.groupby("hours_group").size().sort_values(ascending=False)

# %%
means = df.groupby("education")["target"].mean()
df["edu_te"] = df["education"].map(means)
df["edu_te"].tolist()

# %%
df.describe(include="number").loc[["mean", "std"]].round(2)

# %%
df[df.select_dtypes("number").apply(lambda s: np.abs((s - s.mean()) / s.std()) < 2).all(axis=1)].shape
