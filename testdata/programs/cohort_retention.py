# %% Cohorts of customers by month of first order
import numpy as np
import pandas as pd

rng = np.random.default_rng(31)
n = 600
df = pd.DataFrame({
    "CustomerID": rng.integers(1, 80, n),
    "InvoiceDate": pd.Timestamp("2023-01-01") + pd.to_timedelta(rng.integers(0, 180, n), unit="D"),
    "Amount": rng.gamma(2, 15, n).round(2),
})
df["OrderMonth"] = df["InvoiceDate"].dt.to_period("M")
df.head(3)

# %%
df["CohortMonth"] = df.groupby("CustomerID")["InvoiceDate"].transform("min").dt.to_period("M")
df["CohortMonth"].value_counts().sort_index()

# %%
def get_int(s):
    return s.dt.year * 12 + s.dt.month

df["CohortIndex"] = get_int(df["OrderMonth"]) - get_int(df["CohortMonth"]) + 1
df["CohortIndex"].describe()[["min", "max"]]

# %%
cohorts = df.groupby(["CohortMonth", "CohortIndex"])["CustomerID"].nunique().reset_index()
counts = cohorts.pivot(index="CohortMonth", columns="CohortIndex", values="CustomerID")
counts

# %%
retention = counts.divide(counts.iloc[:, 0], axis=0)
retention.round(3)

# %%
retention.mean().round(3)

# %%
avg = df.groupby(["CohortMonth", "CohortIndex"])["Amount"].mean().unstack().round(1)
avg.iloc[0].dropna().tolist()

# %%
ltv = df.groupby("CustomerID")["Amount"].agg(["sum", "count", "mean"]).rename(columns={"sum": "total", "count": "orders", "mean": "avg"})
ltv.sort_values("total", ascending=False).head()

# %%
df = df.sort_values(["CustomerID", "InvoiceDate"], kind="stable")
df["prev"] = df.groupby("CustomerID")["InvoiceDate"].shift()
df["gap"] = (df["InvoiceDate"] - df["prev"]).dt.days
df["gap"].median()

# %%
repeat = (ltv["orders"] > 1).mean()
f"{repeat:.1%}"

# %%
snapshot = df["InvoiceDate"].max() + pd.Timedelta(days=1)
rfm = df.groupby("CustomerID").agg(
    Recency=("InvoiceDate", lambda x: (snapshot - x.max()).days),
    Frequency=("InvoiceDate", "count"),
    Monetary=("Amount", "sum"),
)
rfm.describe().round(1)

# %%
rfm["R"] = pd.qcut(rfm["Recency"], 4, labels=range(4, 0, -1)).astype(int)
rfm["F"] = pd.qcut(rfm["Frequency"].rank(method="first"), 4, labels=range(1, 5)).astype(int)
rfm["M"] = pd.qcut(rfm["Monetary"], 4, labels=range(1, 5)).astype(int)
rfm["Score"] = rfm[["R", "F", "M"]].sum(axis=1)
rfm["Score"].value_counts().sort_index()

# %%
rfm["Segment"] = rfm["R"].astype(str) + rfm["F"].astype(str) + rfm["M"].astype(str)
rfm[rfm["Segment"] == "444"].shape[0]

# %%
rfm.groupby("Score").agg({"Recency": "mean", "Monetary": ["mean", "count"]}).round(1)

# %%
monthly = df.set_index("InvoiceDate").resample("ME")["CustomerID"].nunique()
monthly

# %%
new = df.groupby("CustomerID")["InvoiceDate"].min().dt.month.value_counts().sort_index()
new.cumsum()
