# %% SQL in pandas: where, group by having, windows, unions, exists
import pandas as pd
import numpy as np

orders = pd.DataFrame({
    "order_id": range(1, 11),
    "customer_id": [1, 2, 1, 3, 2, 2, 4, 1, 3, 5],
    "amount": [10.0, 25.5, 5.0, 100.0, 7.5, 30.0, 60.0, 45.0, 80.0, np.nan],
    "status": ["paid", "paid", "open", "paid", "void", "paid", "open", "paid", "paid", "open"],
    "day": pd.date_range("2024-01-01", periods=10),
})
customers = pd.DataFrame({"customer_id": [1, 2, 3, 4, 6], "name": ["Ann", "Bob", "Cyd", "Dan", "Fay"], "city": ["Oslo", "Rome", "Oslo", None, "Bern"]})

# %%
orders[(orders["status"] == "paid") & (orders["amount"] > 20)][["order_id", "amount"]]

# %%
g = orders.groupby("customer_id")["amount"].agg(["sum", "count"])
g[g["sum"] > 50].sort_values("sum", ascending=False)

# %%
orders.assign(rn=orders.sort_values("amount", ascending=False).groupby("customer_id").cumcount() + 1).query("rn == 1")[["customer_id", "order_id"]].sort_values("customer_id")

# %%
orders["running"] = orders.groupby("customer_id")["amount"].cumsum()
orders["prev"] = orders.groupby("customer_id")["amount"].shift(1)
orders["share"] = orders["amount"] / orders.groupby("customer_id")["amount"].transform("sum")
orders[["running", "prev", "share"]].round(3)

# %%
orders["rank"] = orders["amount"].rank(ascending=False, method="dense")
orders["ntile"] = pd.qcut(orders["amount"], 3, labels=False)
orders[["rank", "ntile"]]

# %%
customers[customers["customer_id"].isin(orders["customer_id"])]["name"].tolist()

# %%
left = customers.merge(orders, on="customer_id", how="left")
left.groupby("name")["amount"].sum()

# %%
left["amount"].isna().sum(), left["city"].fillna("n/a").value_counts()

# %%
pd.concat([customers["customer_id"], orders["customer_id"]]).drop_duplicates().sort_values().tolist()

# %%
orders["status"].map({"paid": "done"}).fillna("pending").value_counts()

# %%
orders.groupby("status").agg(n=("order_id", "count"), total=("amount", "sum"), avg=("amount", "mean"), distinct=("customer_id", "nunique")).reset_index()

# %%
orders.groupby("customer_id").filter(lambda d: len(d) >= 2)["order_id"].tolist()

# %%
pairs = orders.merge(orders, on="customer_id", suffixes=("_a", "_b")).query("order_id_a < order_id_b")
pairs[["customer_id", "order_id_a", "order_id_b"]].reset_index(drop=True)

# %%
orders.pivot_table(index="customer_id", columns="status", values="amount", aggfunc="sum", fill_value=0)

# %%
orders["amount"].where(orders["status"] != "void", 0).sum()

# %%
np.select([orders["amount"] < 20, orders["amount"] < 50], ["small", "medium"], default="large").tolist()

# %%
orders.merge(customers, how="outer", on="customer_id", indicator="src")["src"].astype(str).value_counts().sort_index()

# %%
orders.nsmallest(2, "amount")["order_id"].tolist(), orders.iloc[3:6]["order_id"].tolist()
