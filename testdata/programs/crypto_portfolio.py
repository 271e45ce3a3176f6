# %% A portfolio with buys and sells
import numpy as np
import pandas as pd

rng = np.random.default_rng(101)
days = pd.date_range("2024-01-01", periods=90, freq="D")
px = pd.DataFrame({
    "BTC": 42000 * np.exp(np.cumsum(rng.normal(0.001, 0.03, 90))),
    "ETH": 2300 * np.exp(np.cumsum(rng.normal(0.001, 0.04, 90))),
}, index=days).round(2)
trades = pd.DataFrame({
    "date": pd.to_datetime(["2024-01-03", "2024-01-10", "2024-02-01", "2024-02-15", "2024-03-10"]),
    "coin": ["BTC", "ETH", "BTC", "BTC", "ETH"],
    "side": ["buy", "buy", "buy", "sell", "sell"],
    "qty": [0.5, 4.0, 0.25, 0.3, 1.5],
})
px.tail(2)

# %%
trades["signed"] = np.where(trades["side"] == "buy", trades["qty"], -trades["qty"])
position = trades.pivot_table(index="date", columns="coin", values="signed", aggfunc="sum").fillna(0).cumsum()
position

# %%
position = position.reindex(px.index).ffill().fillna(0)
position.iloc[[0, 5, -1]]

# %%
value = (position * px).sum(axis=1)
value.iloc[-1].round(2)

# %%
long_px = px.stack().rename("price").reset_index()
long_px.columns = ["date", "coin", "price"]
trades = trades.merge(long_px, on=["date", "coin"], how="left")
trades["cash"] = -trades["signed"] * trades["price"]
trades[["date", "coin", "cash"]]

# %%
invested = trades.groupby("date")["cash"].sum().cumsum().reindex(px.index, method="ffill").fillna(0)
pnl = value + invested
pnl.round(2).tail(3)

# %%
ret = px.pct_change()
ret.std() * np.sqrt(365)

# %%
roll = ret["BTC"].rolling(14).corr(ret["ETH"])
roll.dropna().agg(["min", "max", "mean"]).round(4)

# %%
dd = value / value.cummax() - 1
dd.min(), dd.idxmin()

# %%
weekly = px.resample("W").agg(["first", "max", "min", "last"])
weekly["BTC"].head(3)

# %%
ma = px["ETH"].rolling(10).agg(["mean", "std"])
upper, lower = ma["mean"] + 2 * ma["std"], ma["mean"] - 2 * ma["std"]
((px["ETH"] > upper) | (px["ETH"] < lower)).sum()

# %%
ret.apply(lambda s: s.nlargest(2).mean())

# %%
monthly = (1 + ret).groupby(ret.index.to_period("M")).prod() - 1
monthly.round(4)

# %%
px.loc["2024-02"].agg(["mean", "std"]).round(1)

# %%
up = (ret > 0).astype(int)
streak = up["BTC"].groupby((up["BTC"] != up["BTC"].shift()).cumsum()).cumcount() + 1
streak[up["BTC"] == 1].max()

# %%
px.corr(method="spearman").loc["BTC", "ETH"].round(4)

# %%
px.asof(pd.Timestamp("2024-01-15 12:00"))
