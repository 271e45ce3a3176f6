# %% An experiment: conversion rates, confidence intervals
import numpy as np
import pandas as pd
from scipy import stats

np.random.seed(123)
n = 1000
df = pd.DataFrame({
    "user": np.arange(n),
    "group": np.random.choice(["control", "treatment"], n),
    "device": np.random.choice(["mobile", "desktop", "tablet"], n, p=[0.6, 0.3, 0.1]),
    "ts": pd.Timestamp("2024-03-01") + pd.to_timedelta(np.random.randint(0, 14 * 86400, n), unit="s"),
})
df["converted"] = (np.random.rand(n) < np.where(df["group"] == "treatment", 0.14, 0.11)).astype(int)
df["spend"] = np.where(df["converted"] == 1, np.random.gamma(2, 20, n), 0).round(2)
df.head()

# %%
df["group"].value_counts(normalize=True)

# %%
rates = df.groupby("group")["converted"].agg(["sum", "count", "mean"])
rates.columns = ["conversions", "users", "rate"]
rates

# %%
p = rates["conversions"].sum() / rates["users"].sum()
se = np.sqrt(p * (1 - p) * (1 / rates.loc["control", "users"] + 1 / rates.loc["treatment", "users"]))
z = (rates.loc["treatment", "rate"] - rates.loc["control", "rate"]) / se
round(z, 6)

# %%
p_value = 2 * (1 - stats.norm.cdf(abs(z)))
p_value

# %%
rates["se"] = np.sqrt(rates["rate"] * (1 - rates["rate"]) / rates["users"])
rates["low"], rates["high"] = rates["rate"] - 1.96 * rates["se"], rates["rate"] + 1.96 * rates["se"]
rates

# %%
a = df.loc[df["group"] == "control", "spend"]
b = df.loc[df["group"] == "treatment", "spend"]
stats.ttest_ind(a, b, equal_var=False).pvalue

# %%
df.groupby(["device", "group"])["converted"].mean().unstack().assign(lift=lambda d: d["treatment"] / d["control"] - 1)

# %%
contingency = pd.crosstab(df["group"], df["converted"])
chi2, pv, dof, expected = stats.chi2_contingency(contingency)
round(chi2, 5), dof

# %%
df["day"] = df["ts"].dt.normalize()
daily = df.pivot_table(index="day", columns="group", values="converted", aggfunc="mean")
daily.head()

# %%
daily.expanding().mean().iloc[-1]

# %%
cum = df.sort_values("ts").groupby("group")["converted"].expanding().mean()
cum.groupby(level=0).last()

# %%
boot = [df.sample(n=n, replace=True, random_state=i)["converted"].mean() for i in range(5)]
np.round(boot, 4)

# %%
df[df["spend"] > 0].groupby("group")["spend"].describe()[["mean", "50%", "max"]]

# %%
df["ts"].dt.hour.between(8, 18).groupby(df["group"]).mean()

# %%
buckets = pd.qcut(df["spend"], q=[0, 0.9, 0.95, 1], duplicates="drop")
buckets.cat.categories.size
