# %% Time sheets to wages
import pandas as pd
import numpy as np

sheet = pd.DataFrame({
    "employee": ["Ann", "Ann", "Bob", "Bob", "Cyd", "Ann", "Cyd"],
    "date": ["2024-04-01", "2024-04-02", "2024-04-01", "2024-04-03", "2024-04-02", "2024-04-06", "2024-04-07"],
    "start": ["08:00", "08:30", "22:00", "09:15", "07:45", "10:00", "12:00"],
    "end": ["16:30", "17:00", "06:00", "12:45", "16:00", "14:00", "18:30"],
})
rates = {"Ann": 25.0, "Bob": 22.5, "Cyd": 30.0}
sheet.shape

# %%
sheet["from"] = pd.to_datetime(sheet["date"] + " " + sheet["start"])
sheet["to"] = pd.to_datetime(sheet["date"] + " " + sheet["end"])
sheet.loc[sheet["to"] < sheet["from"], "to"] += pd.Timedelta(days=1)
sheet["hours"] = (sheet["to"] - sheet["from"]).dt.total_seconds() / 3600
sheet[["employee", "hours"]]

# %%
sheet["weekend"] = sheet["from"].dt.weekday >= 5
sheet["rate"] = sheet["employee"].map(rates) * np.where(sheet["weekend"], 1.5, 1.0)
sheet["pay"] = (sheet["rate"] * sheet["hours"]).round(2)
sheet.groupby("employee")["pay"].sum()

# %%
sheet["break"] = pd.cut(sheet["hours"], [0, 4, 6, 24], labels=[0, 15, 30]).astype(int)
sheet["break"].tolist()

# %%
weekly = sheet.set_index("from").groupby("employee")["hours"].resample("W").sum()
weekly

# %%
sheet.pivot_table(index="employee", columns="weekend", values="hours", aggfunc="sum", fill_value=0)

# %%
sheet["date"] = pd.to_datetime(sheet["date"])
all_days = pd.date_range("2024-04-01", "2024-04-07")
grid = sheet.pivot_table(index="date", columns="employee", values="hours", aggfunc="sum").reindex(all_days, fill_value=0)
grid.fillna(0)

# %%
grid.fillna(0).cumsum().iloc[-1]

# %%
sheet["overtime"] = (sheet["hours"] - 8).clip(lower=0)
sheet.groupby("employee").agg(days=("date", "nunique"), hours=("hours", "sum"), overtime=("overtime", "sum"))

# %%
tax = pd.Series([0.1, 0.2, 0.3], index=["Ann", "Bob", "Cyd"])
gross = sheet.groupby("employee")["pay"].sum()
net = gross * (1 - tax)
net.round(2)

# %%
sheet["from"].dt.strftime("%a %d.%m. %H:%M").tolist()

# %%
night = sheet["from"].dt.hour.ge(22) | sheet["from"].dt.hour.lt(6)
sheet.loc[night, "employee"].tolist()

# %%
pd.DataFrame({"gross": gross, "net": net}).assign(diff=lambda d: d["gross"] - d["net"]).T
