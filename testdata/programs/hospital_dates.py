# %% Admissions: ages, lengths of stay, readmissions
import pandas as pd
import numpy as np

adm = pd.DataFrame({
    "patient": [11, 12, 11, 13, 12, 14, 11],
    "birth": ["1950-06-15", "1988-02-29", "1950-06-15", "2010-11-03", "1988-02-29", "1971-01-01", "1950-06-15"],
    "admit": ["2023-12-28 22:15", "2024-01-03 08:00", "2024-01-20 13:30", "2024-02-10 03:45", "2024-02-01 09:10", "2024-02-28 17:00", "2024-06-01 10:00"],
    "discharge": ["2024-01-05 10:00", "2024-01-03 19:30", "2024-01-22 09:00", "2024-02-19 11:00", "2024-02-02 16:00", None, "2024-06-11 08:00"],
    "ward": ["surgery", "er", "medicine", "paediatrics", "medicine", "er", "surgery"],
})
for c in ["birth", "admit", "discharge"]:
    adm[c] = pd.to_datetime(adm[c])
adm.dtypes.astype(str)["patient"]

# %%
adm["los"] = (adm["discharge"] - adm["admit"]).dt.days
adm["los"]

# %%
adm["los_hours"] = (adm["discharge"] - adm["admit"]) / np.timedelta64(1, "h")
adm.groupby("ward")["los_hours"].mean().round(2)

# %%
adm["age"] = ((adm["admit"] - adm["birth"]).dt.days / 365.25).astype(int)
adm["age"].tolist()

# %%
adm["age_group"] = pd.cut(adm["age"], bins=[0, 18, 40, 65, 120], labels=["0-17", "18-39", "40-64", "65+"], right=False)
adm["age_group"].value_counts().sort_index()

# %%
adm["weekday"] = adm["admit"].dt.day_name()
adm["weekend"] = adm["admit"].dt.dayofweek >= 5
adm.groupby("weekend").size()

# %%
adm["month"] = adm["admit"].dt.to_period("M").astype(str)
adm.groupby("month")["patient"].nunique()

# %%
adm = adm.sort_values(["patient", "admit"])
adm["prev_discharge"] = adm.groupby("patient")["discharge"].shift()
adm["days_since"] = (adm["admit"] - adm["prev_discharge"]).dt.days
adm["readmit30"] = adm["days_since"] <= 30
adm[["patient", "days_since", "readmit30"]].reset_index(drop=True)

# %%
adm["readmit30"].mean().round(4)

# %%
adm["night"] = (adm["admit"].dt.hour >= 22) | (adm["admit"].dt.hour < 6)
adm["night"].sum()

# %%
adm["admit"].dt.floor("D").nunique(), adm["admit"].dt.normalize().max()

# %%
adm["due"] = adm["discharge"] + pd.DateOffset(months=1)
adm["due"].dt.strftime("%d %b %Y").tolist()

# %%
adm["month_end"] = adm["admit"] + pd.offsets.MonthEnd(0)
adm["month_end"].dt.date.astype(str).tolist()

# %%
adm["quarter"] = "Q" + adm["admit"].dt.quarter.astype(str)
adm.pivot_table(index="ward", columns="quarter", values="patient", aggfunc="count").fillna(0)

# %%
census = pd.Series(0, index=pd.date_range("2024-01-01", "2024-01-06"))
for row in adm.dropna(subset=["discharge"]).itertuples():
    census.loc[row.admit.normalize():row.discharge.normalize()] += 1
census

# %%
adm["discharge"].isna().sum(), adm["discharge"].max() - adm["admit"].min()

# %%
pd.to_datetime("15/03/2024", dayfirst=True), pd.to_datetime(1700000000, unit="s")

# %%
business_days = np.busday_count(adm["admit"].dt.date.values.astype("datetime64[D]")[0], np.datetime64("2024-01-10"))
int(business_days)

# %%
adm.query("age >= 65 and ward == 'surgery'")["patient"].unique()

# %%
adm["birth"].dt.is_leap_year.sum(), adm["admit"].dt.days_in_month.tolist()
