# %% Accidents: codes joined to names, hours, severities
import io
import pandas as pd
import numpy as np

rng = np.random.default_rng(41)
n = 240
acc = pd.DataFrame({
    "id": np.arange(n),
    "severity": rng.choice([1, 2, 3], n, p=[0.05, 0.25, 0.7]),
    "weather": rng.choice([1, 2, 3, 9], n),
    "vehicles": rng.poisson(1.2, n) + 1,
    "casualties": rng.poisson(0.6, n),
    "speed_limit": rng.choice([30, 50, 70, 100], n),
    "when": pd.Timestamp("2022-01-01") + pd.to_timedelta(rng.integers(0, 365 * 24, n), unit="h"),
})
codes = pd.read_csv(io.StringIO("code,label\n1,Fine\n2,Rain\n3,Snow\n9,Unknown\n"), index_col="code")
acc.head()

# %%
acc["weather"] = acc["weather"].map(codes["label"])
acc["weather"].value_counts().sort_index()

# %%
acc["severity"] = acc["severity"].replace({1: "fatal", 2: "serious", 3: "slight"})
sev = pd.Categorical(acc["severity"], categories=["slight", "serious", "fatal"], ordered=True)
acc["severity"] = sev
acc["severity"].max()

# %%
acc.groupby("severity", observed=False)["casualties"].agg(["sum", "mean"]).round(3)

# %%
pd.crosstab(acc["weather"], acc["severity"], normalize="index").round(3)

# %%
acc["hour"] = acc["when"].dt.hour
acc["period"] = np.select([acc["hour"].between(7, 9), acc["hour"].between(16, 18), acc["hour"].between(22, 23) | (acc["hour"] < 5)], ["am peak", "pm peak", "night"], "off peak")
acc["period"].value_counts()

# %%
acc.groupby(acc["when"].dt.month)["id"].count().idxmax()

# %%
monthly = acc.set_index("when")["casualties"].resample("MS").sum()
monthly.rolling(3).mean().dropna().round(2).tolist()

# %%
acc.pivot_table(index="speed_limit", columns="severity", values="id", aggfunc="count", observed=False, fill_value=0)

# %%
acc["weekday"] = acc["when"].dt.day_name()
heat = acc.groupby(["weekday", "period"]).size().unstack(fill_value=0)
heat.loc["Monday"].sum(), heat.shape

# %%
acc.query("vehicles >= 3 and severity != 'slight'").shape[0]

# %%
fatal = acc[acc["severity"] == "fatal"]
fatal.groupby("weather")["id"].apply(list).apply(len)

# %%
acc.sort_values(["casualties", "vehicles", "id"], ascending=[False, False, True]).head(3)["id"].tolist()

# %%
acc.loc[acc["severity"] >= "serious", "speed_limit"].value_counts(normalize=True).sort_index().round(3)

# %%
acc[["vehicles", "casualties", "speed_limit"]].corr().abs().unstack().drop_duplicates().sort_values(ascending=False).iloc[1].round(4)

# %%
gap = acc["when"].sort_values().diff().dropna()
gap.mean() > pd.Timedelta("1h"), gap.max()
