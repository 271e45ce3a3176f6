# %% Houses: outliers, encodings, scaling, train and test
import numpy as np
import pandas as pd
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import train_test_split

np.random.seed(0)
n = 200
df = pd.DataFrame({
    "area": np.random.normal(120, 35, n).round(1),
    "rooms": np.random.randint(1, 7, n),
    "year": np.random.randint(1950, 2021, n),
    "district": np.random.choice(["north", "south", "east", "west"], n),
    "condition": np.random.choice(["poor", "fair", "good", "excellent"], n),
    "garage": np.random.choice([True, False], n),
})
df["price"] = df["area"] * 2000 + df["rooms"] * 5000 + (df["year"] - 1950) * 300 + np.random.normal(0, 15000, n)
df.loc[df.sample(15, random_state=1).index, "area"] = np.nan
df.describe().T

# %%
df["price"].skew(), df["price"].kurt()

# %%
q1, q3 = df["price"].quantile([0.25, 0.75])
iqr = q3 - q1
mask = df["price"].between(q1 - 1.5 * iqr, q3 + 1.5 * iqr)
df = df[mask].copy()
len(df)

# %%
df["area"] = df["area"].fillna(df.groupby("district")["area"].transform("median"))
df["area"].isna().any()

# %%
order = {"poor": 0, "fair": 1, "good": 2, "excellent": 3}
df["condition"] = df["condition"].map(order)
df["age"] = 2024 - df["year"]
df["price_per_m2"] = df["price"] / df["area"]
df.groupby("district")["price_per_m2"].mean().round(0)

# %%
df = pd.get_dummies(df, columns=["district"], drop_first=True)
df.filter(like="district").sum()

# %%
numeric = df.select_dtypes(include="number").columns
list(numeric)

# %%
scaled = (df[numeric] - df[numeric].mean()) / df[numeric].std()
scaled.mean().abs().max() < 1e-9, scaled.std().round(6).unique()

# %%
corr = df[numeric.drop("year")].corr()["price"].drop("price").sort_values(key=abs, ascending=False)
corr

# %%
X = df.drop(columns=["price", "price_per_m2", "year"]).astype(float)
y = df["price"]
X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.25, random_state=42)
X_train.shape, X_test.shape

# %%
model = LinearRegression().fit(X_train, y_train)
coef = pd.Series(model.coef_, index=X.columns).sort_values()
coef.round(2)

# %%
pred = model.predict(X_test)
errors = pd.DataFrame({"actual": y_test, "pred": pred})
errors["err"] = (errors["actual"] - errors["pred"]).abs()
errors["err"].mean()

# %%
errors.sort_values("err", ascending=False).head(3).round(0)

# %%
bins = pd.cut(df["age"], bins=5)
df.groupby(bins, observed=False)["price"].agg(["mean", "count"])

# %%
df["log_price"] = np.log1p(df["price"])
df["rooms"].value_counts(normalize=True).sort_index()

# %%
df.memory_usage(deep=True).sum() > 0, df.nunique()["rooms"]
