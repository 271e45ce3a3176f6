# %% Tasks
import pandas as pd
t = pd.DataFrame({"task": ["a", "b", "a", "c", "b"], "start": pd.to_datetime(["2024-06-03 09:00", "2024-06-03 10:30", "2024-06-04 09:15", "2024-06-04 13:00", "2024-06-07 08:00"]), "min": [90, 45, 120, 30, 200]})
t["end"] = t["start"] + pd.to_timedelta(t["min"], unit="min")
t["end"].max()
# %%
t.groupby("task")["min"].sum().sort_values(ascending=False)
# %%
t.groupby(t["start"].dt.day_name())["min"].sum()
# %%
daily = t.set_index("start")["min"].resample("D").sum()
daily
# %%
daily[daily.index.dayofweek < 5].mean()
# %%
t["iso"] = t["start"].dt.isocalendar().week
t["iso"].unique().tolist()
# %%
t["start"].dt.strftime("%d/%m").tolist(), t["start"].dt.time.iloc[0].isoformat()
# %%
share = t.groupby("task")["min"].sum() / t["min"].sum()
share.map(lambda v: f"{v:.0%}").to_dict()
# %%
t["gap"] = t["start"] - t["end"].shift()
t["gap"].dropna().dt.total_seconds().div(60).tolist()
# %%
pd.Timedelta(minutes=int(t["min"].sum())).components.hours if False else str(pd.Timedelta(minutes=485))
# %%
t.pivot_table(index=t["start"].dt.date, columns="task", values="min", aggfunc="sum", fill_value=0)
