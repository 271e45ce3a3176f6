# %% Visits of patients: change from baseline, missing visits
import io
import numpy as np
import pandas as pd

visits = pd.read_csv(io.StringIO("""patient,arm,visit,date,sbp,dbp,weight
P01,drug,0,2023-01-10,150,95,82.5
P01,drug,1,2023-02-14,142,90,82.0
P01,drug,2,2023-03-12,135,85,81.1
P02,placebo,0,2023-01-11,148,92,70.2
P02,placebo,1,2023-02-15,149,93,
P03,drug,0,2023-01-20,160,100,95.0
P03,drug,2,2023-03-21,141,88,93.4
P04,placebo,0,2023-01-22,155,97,88.8
P04,placebo,1,2023-02-20,150,NA,88.0
P04,placebo,2,2023-03-25,152,94,88.1
"""), parse_dates=["date"])
visits.isna().sum()

# %%
visits.groupby("patient")["visit"].apply(list)

# %%
base = visits[visits["visit"] == 0].set_index("patient")["sbp"]
visits["change"] = visits["sbp"] - visits["patient"].map(base)
visits[["patient", "visit", "change"]]

# %%
visits.groupby(["arm", "visit"])["change"].agg(["mean", "std", "count"]).round(2)

# %%
wide = visits.pivot(index="patient", columns="visit", values="sbp").add_prefix("sbp_")
wide

# %%
wide.reset_index().merge(visits[["patient", "arm"]].drop_duplicates(), on="patient").groupby("arm").mean(numeric_only=True)

# %%
locf = visits.pivot(index="patient", columns="visit", values="sbp").ffill(axis=1)
locf

# %%
complete = visits.groupby("patient").filter(lambda g: g["visit"].nunique() == 3)
complete["patient"].nunique()

# %%
visits["weight"] = visits.groupby("patient")["weight"].ffill()
visits["dbp"] = visits["dbp"].fillna(visits["dbp"].mean()).round(1)
visits.loc[[4, 8], ["weight", "dbp"]]

# %%
visits["days"] = visits.groupby("patient")["date"].transform(lambda d: (d - d.min()).dt.days)
visits["days"].tolist()

# %%
visits["stage"] = np.select([visits.sbp >= 160, visits.sbp >= 140], ["stage 2", "stage 1"], "controlled")
visits.groupby(["arm", "stage"]).size().unstack(fill_value=0)

# %%
last = visits.sort_values("visit").groupby("patient", as_index=False).last()
last[["patient", "visit", "sbp"]]

# %%
first_last = visits.groupby("patient")["sbp"].agg(["first", "last"])
first_last["diff"] = first_last["last"] - first_last["first"]
first_last.join(visits.groupby("patient")["arm"].first()).groupby("arm")["diff"].mean()

# %%
visits.set_index(["patient", "visit"])["sbp"].unstack().count()

# %%
visits.set_index(["patient", "visit"]).sort_index().loc[("P03", 2), "sbp"]

# %%
desc = visits.groupby("arm")[["sbp", "dbp", "weight"]].agg(["mean", "std"]).round(2)
desc[("sbp", "mean")]

# %%
desc.T

# %%
visits.corr(numeric_only=True).loc["sbp", "dbp"].round(4)
