# %% Orders of a shop: revenue by month, customer and product
import pandas as pd
import numpy as np

np.random.seed(42)
n = 300
orders = pd.DataFrame({
    "order_id": range(1001, 1001 + n),
    "customer": np.random.choice(["alice", "bob", "carol", "dave", "erin"], n),
    "product": np.random.choice(["pen", "book", "lamp", "desk"], n, p=[0.4, 0.3, 0.2, 0.1]),
    "quantity": np.random.randint(1, 6, n),
    "date": pd.date_range("2023-01-01", periods=n, freq="D"),
})
prices = pd.DataFrame({"product": ["pen", "book", "lamp", "desk", "chair"], "price": [1.5, 12.0, 35.5, 180.0, 95.0]})

# %%
df = orders.merge(prices, on="product", how="left")
df["revenue"] = df["quantity"] * df["price"]
df.head()

# %%
df["month"] = df["date"].dt.to_period("M")
monthly = df.groupby("month")["revenue"].sum()
monthly

# %%
df["weekday"] = df["date"].dt.day_name()
df.groupby("weekday")["revenue"].agg(["mean", "count"]).sort_values("mean", ascending=False)

# %%
top = df.groupby("customer")["revenue"].sum().nlargest(3)
print(top)

# %%
df.groupby(["customer", "product"])["quantity"].sum().unstack(fill_value=0)

# %%
summary = df.groupby("product").agg(
    orders=("order_id", "nunique"),
    revenue=("revenue", "sum"),
    avg_quantity=("quantity", "mean"),
).round(2)
summary

# %%
summary["share"] = summary["revenue"] / summary["revenue"].sum() * 100
summary.sort_values("share", ascending=False)

# %%
weekly = df.set_index("date").resample("W")["revenue"].sum()
weekly.head()

# %%
df["cum_revenue"] = df.groupby("customer")["revenue"].cumsum()
df[["customer", "revenue", "cum_revenue"]].tail()

# %%
last = df.sort_values("date").groupby("customer").tail(1)
last[["customer", "date", "product"]].reset_index(drop=True)

# %%
unsold = prices[~prices["product"].isin(df["product"])]
unsold

# %%
rfm = df.groupby("customer").agg({"date": lambda x: (df["date"].max() - x.max()).days, "order_id": "count", "revenue": "sum"})
rfm.columns = ["recency", "frequency", "monetary"]
rfm

# %%
rfm["r_score"] = pd.qcut(rfm["recency"].rank(method="first"), 5, labels=[5, 4, 3, 2, 1])
rfm["m_score"] = pd.qcut(rfm["monetary"], 5, labels=[1, 2, 3, 4, 5])
rfm.sort_values("monetary", ascending=False)

# %%
df.loc[df["revenue"].idxmax()]

# %%
big = df.query("revenue > 300 and customer != 'bob'")
len(big), big["revenue"].median()
