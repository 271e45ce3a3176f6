# %% Monthly sales: trend, seasonality, lags, a naive forecast
import numpy as np
import pandas as pd

np.random.seed(3)
months = pd.date_range("2019-01-01", periods=60, freq="MS")
sales = pd.DataFrame({
    "month": months,
    "sales": (200 + 3 * np.arange(60) + 40 * np.sin(2 * np.pi * np.arange(60) / 12) + np.random.normal(0, 8, 60)).round(),
})
sales.tail(3)

# %%
s = sales.set_index("month")["sales"]
s.index.freq = "MS"
s["2020"].sum()

# %%
yearly = s.resample("YE").sum()
yearly.pct_change().round(4)

# %%
s.groupby(s.index.month).mean().round(1)

# %%
trend = s.rolling(12, center=True).mean()
trend.dropna().iloc[[0, -1]].round(2)

# %%
detrended = s - trend
seasonal = detrended.groupby(detrended.index.month).mean()
seasonal.round(2)

# %%
df = s.to_frame()
for lag in [1, 2, 12]:
    df[f"lag_{lag}"] = df["sales"].shift(lag)
df["diff_12"] = df["sales"].diff(12)
df.dropna().head(2)

# %%
df["month"] = df.index.month
df["quarter"] = df.index.quarter
df["year"] = df.index.year
df.pivot_table(index="quarter", columns="year", values="sales", aggfunc="sum")

# %%
train, test = df[:"2022"], df["2023":]
len(train), len(test)

# %%
naive = test["lag_12"]
mape = ((test["sales"] - naive).abs() / test["sales"]).mean() * 100
round(mape, 3)

# %%
t = np.arange(len(train))
coef = np.polyfit(t, train["sales"], 1)
forecast = pd.Series(np.polyval(coef, np.arange(len(train), len(df))), index=test.index, name="forecast")
forecast.head(2).round(2)

# %%
result = pd.concat([test["sales"], forecast], axis=1)
result["error"] = result["sales"] - result["forecast"]
result["error"].abs().mean().round(2)

# %%
(result["error"] ** 2).mean() ** 0.5 < 100

# %%
cum = s.groupby(s.index.year).cumsum()
cum["2019-12-01"] == s["2019"].sum()

# %%
best = s.groupby(s.index.year).idxmax()
best.dt.month.tolist()

# %%
s.expanding(min_periods=12).mean().iloc[11]

# %%
s.autocorr(12).round(4), s.diff().autocorr(1).round(4)

# %%
wide = df.pivot(index="month", columns="year", values="sales")
wide.sub(wide.mean()).idxmax()
