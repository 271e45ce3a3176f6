# %% Staff: joins, ranks within departments, managers
import pandas as pd

emp = pd.DataFrame([
    (1, "Ann", 10, 5200, None, "2015-03-01"),
    (2, "Bob", 10, 4100, 1, "2018-07-15"),
    (3, "Cid", 20, 3900, 1, "2019-01-10"),
    (4, "Dee", 20, 4700, 3, "2016-11-30"),
    (5, "Eve", 30, 6100, 1, "2012-05-05"),
    (6, "Fay", None, 2800, 5, "2021-09-01"),
    (7, "Gus", 30, 6100, 5, "2020-02-29"),
], columns=["id", "name", "dept_id", "salary", "manager_id", "hired"])
dept = pd.DataFrame({"dept_id": [10, 20, 30, 40], "dept": ["IT", "HR", "Sales", "Legal"]})

# %%
emp["hired"] = pd.to_datetime(emp["hired"])
emp.set_index("id").loc[3, "name"]

# %%
full = pd.merge(emp, dept, on="dept_id", how="left")
full["dept"] = full["dept"].fillna("none")
full

# %%
pd.merge(emp, dept, how="outer", on="dept_id", indicator=True)["_merge"].value_counts()

# %%
bosses = emp[["id", "name"]].rename(columns={"id": "manager_id", "name": "manager"})
with_boss = emp.merge(bosses, on="manager_id", how="left")
with_boss[["name", "manager"]]

# %%
full["rank"] = full.groupby("dept")["salary"].rank(ascending=False, method="dense")
full.sort_values(["dept", "rank"])[["dept", "name", "salary", "rank"]]

# %%
full["dept_mean"] = full.groupby("dept")["salary"].transform("mean")
full["above"] = full["salary"] > full["dept_mean"]
full.loc[full["above"], "name"].tolist()

# %%
full.groupby("dept")["salary"].agg(lambda s: s.max() - s.min())

# %%
full.groupby("dept").apply(lambda g: g.nlargest(1, "salary"), include_groups=False)

# %%
full["years"] = (pd.Timestamp("2024-01-01") - full["hired"]).dt.days // 365
full[["name", "years"]]

# %%
full["hired"].dt.year.value_counts().sort_index()

# %%
def grade(s):
    if s >= 6000:
        return "A"
    elif s >= 4000:
        return "B"
    return "C"

full["grade"] = full["salary"].apply(grade)
full.groupby("grade")["name"].apply(list)

# %%
full.groupby("grade")["name"].apply(", ".join)

# %%
full["bonus"] = full.apply(lambda r: r["salary"] * 0.1 if r["dept"] == "Sales" else r["salary"] * 0.05, axis=1)
full["bonus"].sum()

# %%
full.pivot_table(index="dept", values="salary", aggfunc=["mean", "count"], margins=True)

# %%
for dept_name, group in full.groupby("dept"):
    print(dept_name, len(group), group["salary"].mean())

# %%
full.to_dict("records")[0]["name"], full.set_index("name")["salary"].to_dict()

# %%
raise_pct = pd.Series({"IT": 0.03, "HR": 0.05, "Sales": 0.02})
full["new_salary"] = full["salary"] * (1 + full["dept"].map(raise_pct).fillna(0))
full[["name", "new_salary"]]
