# %% Stock of a warehouse: movements, reorder points, reindexing
import numpy as np
import pandas as pd

moves = pd.DataFrame({
    "sku": ["A1", "A1", "B2", "A1", "C3", "B2", "C3", "A1", "B2"],
    "date": ["2024-01-02", "2024-01-05", "2024-01-05", "2024-01-09", "2024-01-10", "2024-01-11", "2024-01-15", "2024-01-15", "2024-01-20"],
    "qty": [100, -30, 50, -45, 80, -20, -85, 60, -25],
    "warehouse": ["N", "N", "S", "N", "S", "S", "S", "N", "S"],
})
moves["date"] = pd.to_datetime(moves["date"])
moves.dtypes.astype(str).to_dict()

# %%
moves["type"] = np.where(moves["qty"] > 0, "in", "out")
moves.groupby(["sku", "type"])["qty"].sum().unstack(fill_value=0)

# %%
moves["stock"] = moves.groupby("sku")["qty"].cumsum()
moves[moves["stock"] < 0]

# %%
stock = moves.pivot_table(index="date", columns="sku", values="qty", aggfunc="sum").fillna(0).cumsum()
stock

# %%
days = pd.date_range("2024-01-01", "2024-01-21")
full = stock.reindex(days, method="ffill").fillna(0)
full.loc["2024-01-14"]

# %%
full.mean()

# %%
(full <= 10).sum()

# %%
reorder = pd.Series({"A1": 90, "B2": 10, "C3": 5}, name="reorder_point")
current = full.iloc[-1].rename("stock")
report = pd.concat([current, reorder], axis=1)
report["order"] = (report["stock"] < report["reorder_point"])
report

# %%
prices = {"A1": 2.5, "B2": 10.0, "C3": 7.25}
report["value"] = report["stock"] * report.index.map(prices)
report["value"].sum()

# %%
report.loc["D4"] = [0, 20, True, 0.0]
report

# %%
report.sort_index(ascending=False).index.tolist()

# %%
report.rename_axis("sku").reset_index().to_dict("list")["sku"]

# %%
moves["week"] = moves["date"].dt.isocalendar().week
moves.groupby("week")["qty"].agg(["sum", "count"])

# %%
last_move = moves.groupby("sku")["date"].max()
(pd.Timestamp("2024-01-31") - last_move).dt.days

# %%
moves.groupby("warehouse").agg({"qty": ["sum", "min", "max"], "sku": "nunique"})

# %%
moves.drop_duplicates("sku", keep="last").set_index("sku")["stock"]

# %%
def abc(s):
    share = s.sort_values(ascending=False).cumsum() / s.sum()
    return pd.cut(share, [0, 0.7, 0.95, 1.001], labels=list("ABC"))

abc(moves[moves.qty < 0].groupby("sku")["qty"].sum().abs())
