# %% Machines: status changes, uptime, pivot of faults
import pandas as pd
import numpy as np

log = pd.DataFrame({
    "machine": ["m1", "m2", "m1", "m3", "m2", "m1", "m3", "m1"],
    "time": ["2024-01-01 08:00", "2024-01-01 08:10", "2024-01-01 11:30", "2024-01-01 09:00", "2024-01-01 16:00", "2024-01-01 12:15", "2024-01-02 02:00", "2024-01-02 00:00"],
    "status": ["run", "run", "fault", "run", "idle", "run", "fault", "idle"],
    "code": [None, None, "E12", None, None, None, "E07", None],
})
log["time"] = pd.to_datetime(log["time"])
log = log.sort_values(["machine", "time"]).reset_index(drop=True)
log

# %%
log["next"] = log.groupby("machine")["time"].shift(-1)
log["duration"] = log["next"] - log["time"]
log[["machine", "status", "duration"]]

# %%
log["hours"] = log["duration"] / pd.Timedelta(hours=1)
log["hours"].round(2)

# %%
log.groupby(["machine", "status"])["hours"].sum(min_count=1).unstack()

# %%
log["duration"].sum(), log["duration"].mean()

# %%
end = pd.Timestamp("2024-01-02 06:00")
log["duration"] = log["next"].fillna(end) - log["time"]
share = log.pivot_table(index="machine", columns="status", values="duration", aggfunc="sum")
share

# %%
hours = share.apply(lambda c: c.dt.total_seconds() / 3600)
(hours["run"] / hours.sum(axis=1)).round(3)

# %%
faults = log[log["status"] == "fault"]
faults.groupby("code").agg(n=("machine", "count"), first=("time", "min"))

# %%
log["prev_status"] = log.groupby("machine")["status"].shift(fill_value="off")
pd.crosstab(log["prev_status"], log["status"])

# %%
log["shift"] = np.where(log["time"].dt.hour.between(6, 13), "early", np.where(log["time"].dt.hour.between(14, 21), "late", "night"))
log["shift"].value_counts()

# %%
timeline = log.set_index("time").groupby("machine")["status"].resample("4h").last().groupby(level=0).ffill()
timeline.head()

# %%
state = log.pivot(index="time", columns="machine", values="status").ffill()
state.tail(3)

# %%
(state == "run").sum(axis=1)

# %%
mtbf = log[log["status"] == "run"].groupby("machine")["duration"].sum() / faults.groupby("machine").size()
mtbf

# %%
log["duration"].dt.components[["days", "hours", "minutes"]].head(2)

# %%
log["when"] = log["time"].dt.strftime("%a %H:%M")
log["when"].tolist()

# %%
log.loc[log["duration"] > pd.Timedelta("5h"), ["machine", "status"]]

# %%
log["time"].dt.round("h").dt.time.astype(str).tolist()[:3]
