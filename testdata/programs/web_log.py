# %% An access log, parsed by a regular expression
import pandas as pd
import re

lines = """192.168.0.1 - - [10/Oct/2023:13:55:36 +0000] "GET /index.html HTTP/1.1" 200 2326 "Mozilla/5.0"
192.168.0.2 - - [10/Oct/2023:13:55:38 +0000] "GET /about.html HTTP/1.1" 404 512 "Mozilla/5.0"
10.0.0.5 - - [10/Oct/2023:13:56:01 +0000] "POST /login HTTP/1.1" 302 0 "curl/7.68.0"
192.168.0.1 - - [10/Oct/2023:14:01:12 +0000] "GET /images/logo.png HTTP/1.1" 200 8120 "Mozilla/5.0"
10.0.0.5 - - [10/Oct/2023:14:02:45 +0000] "GET /dashboard?tab=1 HTTP/1.1" 200 10240 "curl/7.68.0"
172.16.3.9 - - [10/Oct/2023:15:30:00 +0000] "GET /index.html HTTP/1.1" 500 128 "Googlebot/2.1"
172.16.3.9 - - [10/Oct/2023:15:31:10 +0000] "GET /robots.txt HTTP/1.1" 200 64 "Googlebot/2.1"
""".strip().split("\n")
pattern = re.compile(r'(\S+) - - \[(.*?)\] "(\S+) (\S+) \S+" (\d+) (\d+) "(.*?)"')

# %%
rows = [pattern.match(line).groups() for line in lines]
log = pd.DataFrame(rows, columns=["ip", "time", "method", "path", "status", "size", "agent"])
log

# %%
log["time"] = pd.to_datetime(log["time"], format="%d/%b/%Y:%H:%M:%S %z")
log["status"] = log["status"].astype(int)
log["size"] = pd.to_numeric(log["size"])
log.dtypes

# %%
log["status"].value_counts().sort_index()

# %%
log.groupby("ip").agg(hits=("path", "count"), bytes=("size", "sum"), first=("time", "min"), last=("time", "max"))

# %%
errors = log[log["status"] >= 400]
errors[["ip", "path", "status"]]

# %%
log["hour"] = log["time"].dt.hour
log.groupby("hour").size()

# %%
log["page"] = log["path"].str.split("?").str[0]
log["ext"] = log["page"].str.extract(r"\.(\w+)$")
log["ext"].fillna("none").value_counts()

# %%
log["browser"] = log["agent"].str.split("/").str.get(0)
log.pivot_table(index="browser", columns="status", values="size", aggfunc="count", fill_value=0)

# %%
log = log.sort_values(["ip", "time"])
log["gap"] = log.groupby("ip")["time"].diff().dt.total_seconds()
log[["ip", "gap"]]

# %%
log["new_session"] = (log["gap"].isna()) | (log["gap"] > 300)
log["session"] = log.groupby("ip")["new_session"].cumsum()
log.groupby(["ip", "session"]).size().rename("hits").reset_index()

# %%
per_minute = log.set_index("time").resample("30min").size()
per_minute

# %%
log["kb"] = (log["size"] / 1024).round(1)
log.nlargest(2, "kb")[["path", "kb"]]

# %%
log[log["path"].str.endswith((".html", ".txt"))]["path"].tolist()
