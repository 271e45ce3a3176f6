# %% Two files of wines, stacked; scaling, bins, a model
import numpy as np
import pandas as pd
from sklearn.ensemble import RandomForestClassifier
from sklearn.metrics import accuracy_score, confusion_matrix
from sklearn.model_selection import train_test_split

rng = np.random.default_rng(6)
def make(n, shift):
    d = pd.DataFrame(rng.normal(size=(n, 4)), columns=["acidity", "sugar", "alcohol", "ph"])
    d["quality"] = (5.5 + shift + d["alcohol"] + rng.normal(0, 0.5, n)).round().clip(3, 8).astype(int)
    return d

red, white = make(120, 0), make(180, 0.4)
red["type"], white["type"] = "red", "white"
wine = pd.concat([red, white]).reset_index(drop=True)
wine["type"].value_counts()

# %%
wine.groupby("type").mean().round(3)

# %%
wine["quality"].value_counts().sort_index()

# %%
wine["label"] = (wine["quality"] >= 6).astype(int)
wine["label"].mean().round(4)

# %%
pd.crosstab(wine["type"], wine["quality"], normalize="index").round(3)

# %%
wine.skew(numeric_only=True).round(3)

# %%
Q1, Q3 = wine["sugar"].quantile(0.25), wine["sugar"].quantile(0.75)
outliers = wine[(wine["sugar"] < Q1 - 1.5 * (Q3 - Q1)) | (wine["sugar"] > Q3 + 1.5 * (Q3 - Q1))]
outliers.shape

# %%
wine = wine.drop(outliers.index)
len(wine)

# %%
X = pd.get_dummies(wine.drop(["quality", "label"], axis=1), columns=["type"], drop_first=True)
y = wine["label"]
X.columns.tolist()

# %%
X = X.astype(float)
X_scaled = (X - X.min()) / (X.max() - X.min())
X_scaled.describe().loc[["min", "max"]]

# %%
X_train, X_test, y_train, y_test = train_test_split(X_scaled, y, test_size=0.3, random_state=1, stratify=y)
y_train.mean().round(3), y_test.mean().round(3)

# %%
clf = RandomForestClassifier(n_estimators=20, random_state=0)
clf.fit(X_train, y_train)
round(accuracy_score(y_test, clf.predict(X_test)), 4)

# %%
importance = pd.Series(clf.feature_importances_, index=X.columns).sort_values(ascending=False)
importance.index[0]

# %%
cm = pd.DataFrame(confusion_matrix(y_test, clf.predict(X_test)), index=["bad", "good"], columns=["bad", "good"])
cm.sum().sum()

# %%
proba = clf.predict_proba(X_test)[:, 1]
check = pd.DataFrame({"y": y_test.values, "p": proba})
check.groupby(pd.cut(check["p"], [0, 0.25, 0.5, 0.75, 1], include_lowest=True), observed=False)["y"].agg(["mean", "count"])

# %%
wine.sample(n=5, random_state=3).index.tolist()
