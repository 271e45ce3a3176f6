# %% Customers who leave: flags, bins, one-hot, a model
import numpy as np
import pandas as pd
from sklearn.compose import ColumnTransformer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

rng = np.random.default_rng(2)
n = 250
df = pd.DataFrame({
    "customerID": [f"{i:04d}-X" for i in range(n)],
    "tenure": rng.integers(0, 72, n),
    "Contract": rng.choice(["Month-to-month", "One year", "Two year"], n),
    "InternetService": rng.choice(["DSL", "Fiber optic", "No"], n),
    "MonthlyCharges": rng.uniform(18, 118, n).round(2),
})
df["TotalCharges"] = (df["tenure"] * df["MonthlyCharges"]).round(2).astype(str)
df.loc[df["tenure"] == 0, "TotalCharges"] = " "
df["Churn"] = np.where(rng.random(n) < 0.5 - df["tenure"] / 200, "Yes", "No")
df.sample(3, random_state=1).shape

# %%
df["TotalCharges"] = pd.to_numeric(df["TotalCharges"], errors="coerce")
df["TotalCharges"].isna().sum()

# %%
df = df.fillna({"TotalCharges": 0})
df.drop("customerID", axis="columns", inplace=True)
df.head(2)

# %%
for col in df.select_dtypes(include=["object", "string"]).columns:
    print(col, df[col].unique())

# %%
df["Churn"] = (df["Churn"] == "Yes").astype(int)
df.groupby("Contract")["Churn"].mean().sort_values()

# %%
df["tenure_bin"] = pd.cut(df["tenure"], bins=[-1, 12, 24, 48, 72], labels=["0-1y", "1-2y", "2-4y", "4-6y"])
df.groupby("tenure_bin", observed=True)["Churn"].agg(["mean", "size"])

# %%
df["charge_bin"] = pd.qcut(df["MonthlyCharges"], 3, labels=False)
df["charge_bin"].value_counts().sort_index()

# %%
pd.crosstab(index=df["Contract"], columns=df["Churn"], values=df["MonthlyCharges"], aggfunc="mean").round(2)

# %%
encoded = pd.get_dummies(df, columns=["Contract", "InternetService"], dtype=int)
encoded.columns[-6:].tolist()

# %%
encoded.corr(numeric_only=True)["Churn"].abs().sort_values(ascending=False).head(3).index[0]

# %%
features = ["tenure", "MonthlyCharges", "Contract", "InternetService"]
pre = ColumnTransformer([
    ("num", StandardScaler(), ["tenure", "MonthlyCharges"]),
    ("cat", OneHotEncoder(handle_unknown="ignore"), ["Contract", "InternetService"]),
])
pipe = make_pipeline(pre, LogisticRegression(max_iter=500))
pipe.fit(df[features], df["Churn"])
round(pipe.score(df[features], df["Churn"]), 4)

# %%
df["proba"] = pipe.predict_proba(df[features])[:, 1]
df["proba"].mean().round(5)

# %%
df["decile"] = pd.qcut(df["proba"], 10, labels=False)
lift = df.groupby("decile")["Churn"].mean()
lift.iloc[-1] > lift.iloc[0]

# %%
df.groupby(["tenure_bin", "Contract"], observed=False)["Churn"].mean().unstack().round(3)

# %%
df[["tenure", "MonthlyCharges"]].agg(["min", "max", "mean"])

# %%
df.loc[:, "tenure":"MonthlyCharges"].columns.tolist()

# %%
df["Contract"].astype("category").cat.categories.tolist(), df["Contract"].astype("category").cat.codes.head(3).tolist()
