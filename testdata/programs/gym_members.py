# %% Memberships
import pandas as pd
import numpy as np
m = pd.DataFrame({"id": [1, 2, 3, 4, 5], "plan": ["basic", "pro", "basic", "student", "pro"], "start": ["2023-01-15", "2023-03-31", "2022-11-01", "2023-09-01", "2024-01-10"], "months": [12, 6, 24, 3, 1]})
m["start"] = pd.to_datetime(m["start"])
m["end"] = m.apply(lambda r: r["start"] + pd.DateOffset(months=r["months"]), axis=1)
m[["start", "end"]]
# %%
price = {"basic": 20, "pro": 45, "student": 15}
m["monthly"] = m["plan"].map(price)
m["value"] = m["monthly"] * m["months"]
m["value"].sum()
# %%
today = pd.Timestamp("2024-02-01")
m["active"] = (m["start"] <= today) & (m["end"] > today)
m.groupby("plan")["active"].mean()
# %%
months = pd.date_range("2023-01-01", "2024-02-01", freq="MS")
active = pd.Series({d: ((m["start"] <= d) & (m["end"] > d)).sum() for d in months})
active.tolist()
# %%
active.diff().fillna(0).astype(int).loc["2023-10-01":]
# %%
visits = pd.DataFrame({"id": np.repeat([1, 2, 3], [5, 2, 8]), "n": range(15)})
freq = visits.groupby("id").size().rename("visits")
m = m.merge(freq, left_on="id", right_index=True, how="left").fillna({"visits": 0})
m["visits"].astype(int).tolist()
# %%
m["cost_per_visit"] = (m["value"] / m["visits"].replace(0, np.nan)).round(2)
m["cost_per_visit"].tolist()
# %%
m["quarter"] = m["start"].dt.to_period("Q").astype(str)
m.groupby("quarter")["value"].sum()
# %%
m.sort_values("end")["id"].iloc[[0, -1]].tolist()
# %%
(m["end"] - m["start"]).dt.days.describe()[["min", "max"]]
