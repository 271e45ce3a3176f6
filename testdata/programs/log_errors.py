# %% A service's log: levels, exceptions, rates
import io
import re
import numpy as np
import pandas as pd

log = """2024-05-01 10:00:00,123 INFO  [api] request id=17 took 35ms
2024-05-01 10:00:01,500 ERROR [db] timeout after 3000ms
2024-05-01 10:00:05,001 INFO  [api] request id=18 took 410ms
2024-05-01 10:01:10,000 WARN  [cache] miss ratio 0.42
2024-05-01 10:01:30,750 INFO  [api] request id=19 took 12ms
2024-05-01 10:02:00,010 ERROR [api] KeyError: 'user'
2024-05-01 10:02:00,020 ERROR [api] KeyError: 'user'
2024-05-01 10:07:45,333 INFO  [db] connected
"""
pattern = r"^(?P<time>\S+ \S+) (?P<level>\w+)\s+\[(?P<source>\w+)\] (?P<msg>.*)$"
df = pd.Series(log.strip().splitlines()).str.extract(pattern)
df

# %%
df["time"] = pd.to_datetime(df["time"], format="%Y-%m-%d %H:%M:%S,%f")
df["time"].dt.microsecond.tolist()

# %%
df["level"].value_counts()

# %%
pd.crosstab(df["source"], df["level"])

# %%
df["ms"] = df["msg"].str.extract(r"(\d+)ms", expand=False).astype(float)
df["ms"].describe().round(1)

# %%
df["req"] = df["msg"].str.extract(r"id=(\d+)", expand=False)
df.dropna(subset=["req"]).set_index("req")["ms"]

# %%
per_min = df.set_index("time").groupby("level").resample("1min").size()
per_min.unstack(0) if per_min.index.nlevels > 1 else per_min

# %%
counts = df.set_index("time")["level"].eq("ERROR").resample("1min").sum()
counts

# %%
df["gap"] = df["time"].diff().dt.total_seconds().fillna(0)
df["burst"] = (df["gap"] > 30).cumsum()
df.groupby("burst").agg(n=("msg", "size"), first=("time", "first"), errors=("level", lambda s: (s == "ERROR").sum()))

# %%
df["template"] = df["msg"].str.replace(r"\d+(\.\d+)?", "<n>", regex=True).str.replace(r"'[^']*'", "<s>", regex=True)
df["template"].value_counts().head(2)

# %%
df.drop_duplicates(subset=["level", "source", "msg"]).shape

# %%
df["slow"] = np.where(df["ms"].isna(), "n/a", np.where(df["ms"] > 100, "slow", "fast"))
df["slow"].value_counts()

# %%
df.loc[df["msg"].str.contains("KeyError", regex=False), "time"].dt.strftime("%H:%M:%S.%f").str[:-3].tolist()

# %%
df["level"] = df["level"].astype(pd.CategoricalDtype(["INFO", "WARN", "ERROR"], ordered=True))
df.groupby("source")["level"].max()

# %%
df.sort_values(["level", "time"], ascending=[False, True])["msg"].iloc[0]

# %%
df["msg"].str.len().max(), df["msg"].str.split().str.len().mean()

# %%
df[df["time"].between("2024-05-01 10:01:00", "2024-05-01 10:02:00")]["source"].tolist()
