# %% People and their teams: apply, map, conditional columns
import numpy as np
import pandas as pd

np.random.seed(10)
n = 120
df = pd.DataFrame({
    "Age": np.random.randint(20, 60, n),
    "Department": pd.Categorical(np.random.choice(["R&D", "Sales", "HR"], n)),
    "DistanceFromHome": np.random.randint(1, 30, n),
    "MonthlyIncome": np.random.lognormal(8.5, 0.4, n).round(),
    "OverTime": np.random.choice(["Yes", "No"], n),
    "Attrition": np.random.choice(["Yes", "No"], n, p=[0.2, 0.8]),
})
df.dtypes["Department"].name

# %%
df.groupby("Department", observed=True)["MonthlyIncome"].median()

# %%
df["Department"].cat.rename_categories({"R&D": "Research"}).value_counts()

# %%
df["AgeGroup"] = df["Age"].apply(lambda a: "<30" if a < 30 else "30-45" if a < 45 else "45+")
table = pd.crosstab(df["AgeGroup"], df["Attrition"])
table["rate"] = table["Yes"] / table.sum(axis=1)
table.round(3)

# %%
binary = df[["OverTime", "Attrition"]].eq("Yes").astype(int)
binary.corr()

# %%
df[["OverTime", "Attrition"]] = binary
df.groupby(["Department", "OverTime"], observed=True)["Attrition"].mean().reset_index()

# %%
df["IncomeZ"] = df.groupby("Department", observed=True)["MonthlyIncome"].transform(lambda s: (s - s.mean()) / s.std())
df["IncomeZ"].abs().gt(2).sum()

# %%
df["IncomeBand"] = pd.qcut(df["MonthlyIncome"], 4, labels=["Q1", "Q2", "Q3", "Q4"])
df.pivot_table("Attrition", "IncomeBand", "Department", observed=False)

# %%
df["Far"] = np.where(df["DistanceFromHome"] > 15, "far", "near")
df.groupby("Far").agg(age=("Age", "mean"), n=("Age", "count"), left=("Attrition", "sum"))

# %%
num = df.select_dtypes("number")
num.apply(lambda c: pd.Series({"min": c.min(), "max": c.max(), "range": c.max() - c.min()}))

# %%
num.agg(["mean", "median", "std"]).T.round(2)

# %%
df.drop(columns=["IncomeZ"]).sort_values(["Department", "MonthlyIncome"], ascending=[True, False]).groupby("Department", observed=True).head(2)["MonthlyIncome"].tolist()

# %%
df["MonthlyIncome"].clip(upper=df["MonthlyIncome"].quantile(0.95)).max() == df["MonthlyIncome"].quantile(0.95)

# %%
df["Age"].value_counts(bins=4, sort=False)

# %%
df["Dept2"] = df["Department"].astype(str).replace("HR", "Human Resources")
df.groupby("Dept2").size().to_frame("n").assign(pct=lambda d: (d["n"] / d["n"].sum() * 100).round(1))

# %%
pd.get_dummies(df["Department"], drop_first=True).mean().round(3)

# %%
df.iloc[[0, -1]][["Age", "OverTime"]].values
