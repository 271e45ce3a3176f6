# %% Channels and campaigns
import numpy as np
import pandas as pd

rng = np.random.default_rng(99)
n = 180
df = pd.DataFrame({
    "date": np.repeat(pd.date_range("2024-01-01", periods=n // 3), 3),
    "channel": ["search", "social", "mail"] * (n // 3),
    "impressions": rng.poisson(5000, n),
    "spend": rng.gamma(5, 20, n).round(2),
})
df["clicks"] = rng.binomial(df["impressions"], 0.02)
df["conversions"] = rng.binomial(df["clicks"], 0.05)
df.head()

# %%
df["ctr"] = df["clicks"] / df["impressions"]
df["cpc"] = df["spend"] / df["clicks"]
df[["ctr", "cpc"]].describe().loc[["mean", "50%"]].round(4)

# %%
totals = df.groupby("channel")[["impressions", "clicks", "conversions", "spend"]].sum()
totals["cpa"] = totals["spend"] / totals["conversions"]
totals.round(2)

# %%
totals.loc["all"] = totals.sum()
totals.loc["all", "cpa"] = totals.loc["all", "spend"] / totals.loc["all", "conversions"]
totals

# %%
df["week"] = df["date"].dt.to_period("W").dt.start_time
weekly = df.groupby(["week", "channel"], as_index=False)["spend"].sum()
weekly.head()

# %%
weekly.pivot(index="week", columns="channel", values="spend").pct_change().mean().round(4)

# %%
df.set_index("date").groupby("channel")["clicks"].resample("W").sum().unstack("channel").head(3)

# %%
df.groupby([pd.Grouper(key="date", freq="ME"), "channel"])["conversions"].sum()

# %%
best_days = df.sort_values("conversions", ascending=False, kind="stable").drop_duplicates("channel")
best_days[["channel", "date", "conversions"]].set_index("channel")

# %%
df["is_weekend"] = df["date"].dt.dayofweek.ge(5)
df.groupby(["channel", "is_weekend"])["ctr"].mean().unstack().rename(columns={False: "week", True: "weekend"})

# %%
df["roll"] = df.groupby("channel")["conversions"].rolling(7).mean().reset_index(level=0, drop=True)
df["roll"].notna().sum()

# %%
df["cum_spend"] = df.groupby("channel")["spend"].cumsum()
df.groupby("channel")["cum_spend"].max().round(2)

# %%
budget = {"search": 7000, "social": 6000, "mail": 5000}
df["over"] = df["cum_spend"] > df["channel"].map(budget)
df[df["over"]].groupby("channel")["date"].min()

# %%
df.groupby("channel")[["spend", "conversions"]].corr().unstack().iloc[:, 1].round(4)

# %%
m = df.melt(id_vars=["date", "channel"], value_vars=["clicks", "conversions"])
m.groupby(["channel", "variable"])["value"].sum().unstack()

# %%
df.groupby("channel").apply(lambda g: pd.Series({"ctr": g["clicks"].sum() / g["impressions"].sum(), "days": len(g)}))

# %%
df["spend_bin"] = pd.cut(df["spend"], bins=4, precision=1)
df.groupby("spend_bin", observed=True)["conversions"].mean().shape

# %%
df.groupby("channel")["spend"].agg(["sum", "mean", "std", "min", "max", "median"]).style if False else df["channel"].nunique()
