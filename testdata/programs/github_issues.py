# %% Issues: labels in lists, time to close, open over time
import pandas as pd
import numpy as np

issues = pd.DataFrame([
    {"number": 1, "title": "Crash on load", "user": "ann", "labels": "bug;io", "created": "2024-01-02T10:00:00", "closed": "2024-01-05T12:00:00", "comments": 4},
    {"number": 2, "title": "Add dark mode", "user": "bob", "labels": "feature", "created": "2024-01-03T09:00:00", "closed": None, "comments": 10},
    {"number": 3, "title": "Typo in docs", "user": "ann", "labels": "docs", "created": "2024-01-10T08:30:00", "closed": "2024-01-10T09:00:00", "comments": 0},
    {"number": 4, "title": "Slow groupby", "user": "cyd", "labels": "bug;performance", "created": "2024-02-01T11:00:00", "closed": "2024-03-01T11:00:00", "comments": 7},
    {"number": 5, "title": "Crash on save", "user": "dan", "labels": "bug;io", "created": "2024-02-11T11:00:00", "closed": None, "comments": 2},
])
issues["created"] = pd.to_datetime(issues["created"])
issues["closed"] = pd.to_datetime(issues["closed"])
issues.info()

# %%
issues["open"] = issues["closed"].isna()
issues["open"].value_counts()

# %%
issues["hours"] = (issues["closed"] - issues["created"]) / pd.Timedelta(hours=1)
issues["hours"].describe()[["count", "min", "max"]]

# %%
labels = issues.assign(label=issues["labels"].str.split(";")).explode("label")
labels["label"].value_counts()

# %%
labels.groupby("label").agg(n=("number", "count"), comments=("comments", "sum"), open=("open", "sum"))

# %%
issues["labels"].str.get_dummies(";").T.dot(issues["comments"])

# %%
issues["is_bug"] = issues["labels"].str.contains(r"\bbug\b")
issues.loc[issues["is_bug"] & issues["open"], "title"].tolist()

# %%
issues["words"] = issues["title"].str.lower().str.split()
issues["words"].str.len().sum()

# %%
issues["first_word"] = issues["title"].str.split().str[0]
issues.groupby("first_word")["number"].agg(list)

# %%
opened = issues.set_index("created").resample("MS")["number"].count()
closed = issues.dropna(subset=["closed"]).set_index("closed").resample("MS")["number"].count()
flow = pd.DataFrame({"opened": opened, "closed": closed}).fillna(0).astype(int)
flow

# %%
(flow["opened"] - flow["closed"]).cumsum()

# %%
age = pd.Timestamp("2024-03-15") - issues.loc[issues["open"], "created"]
age.dt.days.tolist()

# %%
issues["user"].map(issues["user"].value_counts()).tolist()

# %%
issues.sort_values("comments", ascending=False).iloc[:2][["number", "title"]].to_dict("records")

# %%
issues["priority"] = pd.cut(issues["comments"], bins=[-1, 2, 6, 100], labels=["low", "mid", "high"])
issues.groupby("priority", observed=False)["hours"].median()
