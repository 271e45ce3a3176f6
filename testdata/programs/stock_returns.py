# %% Daily prices: returns, volatility, drawdown
import numpy as np
import pandas as pd

rng = np.random.default_rng(7)
dates = pd.bdate_range("2022-01-03", periods=260)
prices = pd.DataFrame(
    100 * np.exp(np.cumsum(rng.normal(0.0004, 0.012, (260, 3)), axis=0)),
    index=dates,
    columns=["AAA", "BBB", "CCC"],
)
prices.head()

# %%
returns = prices.pct_change().dropna()
returns.describe()

# %%
annual = returns.mean() * 252
vol = returns.std() * np.sqrt(252)
pd.DataFrame({"return": annual, "volatility": vol, "sharpe": annual / vol})

# %%
log_returns = np.log(prices / prices.shift(1))
log_returns.tail(3)

# %%
prices["AAA"].rolling(20).mean().tail()

# %%
sma = pd.DataFrame({"price": prices["AAA"], "sma20": prices["AAA"].rolling(window=20).mean(), "sma50": prices["AAA"].rolling(window=50).mean()})
sma["signal"] = np.where(sma["sma20"] > sma["sma50"], 1, 0)
sma["position"] = sma["signal"].diff()
sma.dropna().head()

# %%
cumulative = (1 + returns).cumprod()
peak = cumulative.cummax()
drawdown = (cumulative - peak) / peak
drawdown.min()

# %%
returns.corr()

# %%
monthly = prices.resample("ME").last()
monthly.pct_change().round(4)

# %%
prices.loc["2022-03"].mean()

# %%
returns.rolling(30)["AAA"].corr(returns["BBB"]).dropna().iloc[-5:]

# %%
ema = prices["BBB"].ewm(span=12, adjust=False).mean()
ema.tail()

# %%
delta = prices["CCC"].diff()
gain = delta.clip(lower=0).rolling(14).mean()
loss = -delta.clip(upper=0).rolling(14).mean()
rsi = 100 - 100 / (1 + gain / loss)
rsi.tail()

# %%
worst = returns["AAA"].nsmallest(5)
worst.index.strftime("%Y-%m-%d").tolist()

# %%
returns.groupby([returns.index.year, returns.index.month]).sum()

# %%
weights = np.array([0.5, 0.3, 0.2])
portfolio = returns.dot(weights)
var95 = portfolio.quantile(0.05)
print(f"VaR 95%: {var95:.4f}")

# %%
returns.cov() * 252

# %%
beta = returns["AAA"].cov(returns["BBB"]) / returns["BBB"].var()
beta
