# %% Clickstream
import pandas as pd
import numpy as np
rng = np.random.default_rng(61)
n = 120
e = pd.DataFrame({"user": rng.integers(1, 8, n), "ts": pd.Timestamp("2024-01-01") + pd.to_timedelta(np.sort(rng.integers(0, 86400, n)), unit="s"), "event": rng.choice(["view", "cart", "buy"], n, p=[0.7, 0.2, 0.1])})
e = e.sort_values(["user", "ts"]).reset_index(drop=True)
e.head(3)
# %%
e["new"] = e.groupby("user")["ts"].diff().gt(pd.Timedelta("30min")) | (e["user"] != e["user"].shift())
e["session"] = e["new"].cumsum()
e["session"].max()
# %%
s = e.groupby("session").agg(user=("user", "first"), start=("ts", "min"), end=("ts", "max"), events=("event", "size"))
s["minutes"] = (s["end"] - s["start"]).dt.total_seconds() / 60
s["minutes"].mean().round(3)
# %%
funnel = e.pivot_table(index="session", columns="event", values="ts", aggfunc="count", fill_value=0)
(funnel > 0).mean().round(3)
# %%
e["next"] = e.groupby("session")["event"].shift(-1)
pd.crosstab(e["event"], e["next"], normalize="index").round(3)
# %%
first_buy = e[e["event"] == "buy"].groupby("user")["ts"].min()
first_seen = e.groupby("user")["ts"].min()
(first_buy - first_seen).dt.total_seconds().dropna().gt(0).all()
# %%
paths = e.groupby("session")["event"].agg(" > ".join)
paths.str.count(">").max()
# %%
s.groupby("user")["events"].agg(["sum", "mean"]).round(2)
# %%
e["hour"] = e["ts"].dt.hour
e.groupby("hour")["user"].nunique().idxmax()
# %%
e.groupby("user")["event"].value_counts().unstack(fill_value=0).loc[:, ["view", "cart"]]
