# %% Timetable
import pandas as pd
e = pd.DataFrame({"course": ["M1", "P1", "C1", "B1"], "room": ["A", "A", "B", "A"], "start": pd.to_datetime(["2024-07-01 09:00", "2024-07-01 10:30", "2024-07-01 09:00", "2024-07-02 09:00"]), "hours": [2, 1.5, 3, 2]})
e["end"] = e["start"] + pd.to_timedelta(e["hours"], unit="h")
e[["course", "end"]]
# %%
s = pd.DataFrame({"student": [1, 1, 2, 2, 3, 3], "course": ["M1", "P1", "M1", "C1", "B1", "C1"]})
j = s.merge(e, on="course").sort_values(["student", "start"])
j["clash"] = j["start"] < j.groupby("student")["end"].shift()
j[j["clash"]][["student", "course"]].reset_index(drop=True)
# %%
e = e.sort_values(["room", "start"])
e["free_before"] = (e["start"] - e.groupby("room")["end"].shift()).dt.total_seconds() / 3600
e["free_before"].tolist()
# %%
s.groupby("course").size().reindex(e["course"]).tolist()
# %%
pd.crosstab(s["student"], s["course"])
# %%
e.groupby([e["start"].dt.date, "room"])["hours"].sum().unstack(fill_value=0)
# %%
e["slot"] = e["start"].dt.strftime("%a %H:%M") + "-" + e["end"].dt.strftime("%H:%M")
e.set_index("course")["slot"].to_dict()
# %%
room = e.groupby("room")["course"].apply(list)
room["A"]
# %%
e["start"].dt.normalize().nunique(), e["end"].max() - e["start"].min()
