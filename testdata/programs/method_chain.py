# %% One chain after the other
import numpy as np
import pandas as pd

rng = np.random.default_rng(55)
raw = pd.DataFrame({
    " Order ID": np.arange(1, 61), "Customer Name ": rng.choice(["Ann", "Bob", "Cyd", "Dee"], 60),
    "Order Date": pd.date_range("2024-01-01", periods=60, freq="36h").strftime("%m/%d/%Y"),
    "Sales": rng.lognormal(4, 1, 60).round(2), "Discount": rng.choice([0, 0.1, 0.2], 60), "Returned": rng.choice(["Yes", None], 60, p=[0.1, 0.9]),
})
def clean(df):
    return df.rename(columns=lambda c: c.strip().lower().replace(" ", "_"))

orders = (
    raw.pipe(clean)
    .assign(
        order_date=lambda d: pd.to_datetime(d["order_date"], format="%m/%d/%Y"),
        returned=lambda d: d["returned"].eq("Yes"),
        net=lambda d: (d["sales"] * (1 - d["discount"])).round(2),
    )
    .query("not returned")
    .drop(columns="returned")
    .set_index("order_id")
)
orders.head()

# %%
(
    orders.groupby("customer_name")
    .agg(n=("net", "size"), total=("net", "sum"), best=("net", "max"))
    .assign(avg=lambda d: d["total"] / d["n"])
    .sort_values("total", ascending=False)
    .round(2)
)

# %%
(orders.assign(month=lambda d: d["order_date"].dt.month_name().str[:3])
 .groupby(["month", "customer_name"], sort=False)["net"].sum().unstack(fill_value=0))

# %%
top2 = (
    orders.sort_values("net", ascending=False)
    .groupby("customer_name")
    .head(2)
    .loc[:, ["customer_name", "net"]]
    .sort_values(["customer_name", "net"])
)
top2

# %%
orders["net"].pipe(np.log).describe().round(3)

# %%
(orders.groupby("discount")["net"].agg([("mean", "mean"), ("spread", lambda s: s.max() - s.min())]))

# %%
orders.filter(items=["sales", "net"]).apply(lambda s: s.sum()).to_dict().keys()

# %%
(orders.reset_index().melt(id_vars=["order_id", "customer_name"], value_vars=["sales", "net"])
 .groupby(["customer_name", "variable"])["value"].mean().unstack().eval("sales - net").round(3))

# %%
orders.loc[lambda d: d["net"] > d["net"].quantile(0.9)].index.tolist()

# %%
orders.where(orders["discount"] > 0).dropna(how="all").shape

# %%
(orders.set_index("order_date")["net"].resample("W").sum().rolling(2).mean().dropna().round(1).head(3))

# %%
orders.mask(orders["net"] > 100, other=np.nan, axis=0)["net"].isna().sum() if False else orders["net"].mask(orders["net"] > 100).isna().sum()

# %%
orders.assign(**{"size": pd.cut(orders["net"], [0, 20, 100, np.inf], labels=["S", "M", "L"])}).value_counts("size")

# %%
(orders.groupby("customer_name")["order_date"].agg(["min", "max"]).diff(axis=1)["max"].dt.days)

# %%
orders.groupby("customer_name")["net"].transform("rank", ascending=False).eq(1).sum()

# %%
orders.groupby("customer_name").sample(n=2, random_state=1).shape

# %%
orders.nunique().to_frame("unique").T
