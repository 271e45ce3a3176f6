# %% Calls: waits, agents, shifts
import numpy as np
import pandas as pd

rng = np.random.default_rng(12)
n = 250
calls = pd.DataFrame({
    "call_id": np.arange(n),
    "start": pd.Timestamp("2024-02-05 08:00") + pd.to_timedelta(np.sort(rng.integers(0, 5 * 86400, n)), unit="s"),
    "wait": rng.exponential(60, n).round(),
    "talk": rng.gamma(2, 120, n).round(),
    "agent": rng.choice(["A1", "A2", "A3", None], n, p=[0.35, 0.3, 0.25, 0.1]),
    "topic": rng.choice(["billing", "tech", "sales"], n),
    "score": rng.choice([1, 2, 3, 4, 5, np.nan], n),
})
calls.loc[calls["agent"].isna(), ["talk", "score"]] = np.nan
calls.isna().sum()

# %%
calls["abandoned"] = calls["agent"].isna()
calls["abandoned"].mean().round(3)

# %%
calls["agent"] = calls["agent"].fillna("none")
calls.groupby("agent").agg(n=("call_id", "count"), talk=("talk", "mean"), score=("score", "mean")).round(2)

# %%
service_level = (calls["wait"] <= 80).groupby(calls["topic"]).mean()
service_level.round(3)

# %%
calls["end"] = calls["start"] + pd.to_timedelta(calls["wait"] + calls["talk"].fillna(0), unit="s")
(calls["end"] - calls["start"]).max()

# %%
hourly = calls.set_index("start").resample("h").agg(calls=("call_id", "count"), wait=("wait", "mean"))
hourly["calls"].max(), hourly["wait"].isna().sum()

# %%
calls["day"] = calls["start"].dt.strftime("%a")
order = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]
calls["day"].value_counts().reindex(order).fillna(0).astype(int)

# %%
pd.pivot_table(calls, values="talk", index="topic", columns="agent", aggfunc=["mean", "count"]).round(0)

# %%
def nps(s):
    s = s.dropna()
    return ((s >= 5).sum() - (s <= 3).sum()) / len(s) * 100

calls.groupby("topic")["score"].apply(nps).round(1)

# %%
calls.groupby("topic")["wait"].describe(percentiles=[0.5, 0.95])[["50%", "95%"]].round(1)

# %%
calls["bucket"] = pd.cut(calls["wait"], [0, 30, 60, 120, np.inf], right=False, labels=["<30", "30-60", "60-120", "120+"])
calls.groupby("bucket", observed=False)["abandoned"].mean().round(3)

# %%
repeat = calls[calls["agent"] != "none"].groupby(["agent", "topic"]).size().sort_values(ascending=False, kind="stable")
repeat.head(3)

# %%
longest = calls.dropna(subset=["talk"]).sort_values("talk").groupby("agent").tail(1)[["agent", "talk"]]
longest.set_index("agent")["talk"].sort_index()

# %%
calls["rolling_wait"] = calls["wait"].rolling(20).mean()
round(calls["rolling_wait"].max(), 3)

# %%
calls.eval("total = wait + talk")["total"].sum()

# %%
overlap = sum((calls["start"] < row.end) & (calls["end"] > row.start)).max() if False else calls["call_id"].is_unique
overlap
