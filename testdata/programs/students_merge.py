# %% Several tables: kinds of joins, suffixes, indicators, concat
import pandas as pd
import numpy as np

students = pd.DataFrame({"sid": [1, 2, 3, 4], "name": ["Ana", "Bo", "Che", "Di"], "year": [1, 2, 1, 3]})
courses = pd.DataFrame({"cid": ["M1", "P1", "C1"], "title": ["Maths", "Physics", "Chemistry"], "points": [5, 7, 5]})
enrol = pd.DataFrame({"sid": [1, 1, 2, 5], "cid": ["M1", "P1", "M1", "C1"], "grade": [4.0, 3.5, np.nan, 5.0], "year": [2023, 2024, 2024, 2024]})

# %%
students.merge(enrol, on="sid", suffixes=("_student", "_course"))

# %%
students.merge(enrol, on="sid", how="outer", suffixes=("", "_e"), indicator=True).sort_values(["sid", "cid"]).reset_index(drop=True)

# %%
students.merge(enrol, on="sid", how="right")[["sid", "name"]]

# %%
full = students.merge(enrol, on="sid", how="inner", suffixes=("", "_e")).merge(courses, on="cid")
full.sort_values(["sid", "cid"])[["name", "title", "grade"]]

# %%
full.groupby("name").apply(lambda g: (g["grade"] * g["points"]).sum() / g["points"].sum())

# %%
students[~students["sid"].isin(enrol["sid"])]["name"].tolist()

# %%
anti = students.merge(enrol[["sid"]].drop_duplicates(), on="sid", how="left", indicator=True)
anti[anti["_merge"] == "left_only"].drop(columns="_merge")

# %%
students.set_index("sid").join(enrol.groupby("sid")["grade"].mean().rename("gpa"))

# %%
students.merge(courses, how="cross").shape

# %%
a = students.set_index("name")[["year"]]
b = pd.DataFrame({"city": ["Rome", "Oslo"]}, index=["Bo", "Eve"])
pd.concat([a, b], axis=1)

# %%
a.join(b, how="inner")

# %%
pd.concat([students, pd.DataFrame({"sid": [6], "name": ["Fi"], "age": [20]})])

# %%
try:
    students.merge(enrol, on="sid", validate="one_to_one")
except pd.errors.MergeError as e:
    print("not one to one")

# %%
left = pd.DataFrame({"key": ["x", "y", None], "v": [1, 2, 3]})
right = pd.DataFrame({"key": ["x", None, "z"], "w": [10, 20, 30]})
left.merge(right, on="key", how="left")

# %%
left.combine_first(pd.DataFrame({"key": ["q", "q", "q"], "v": [9, 9, 9]}))

# %%
old = pd.DataFrame({"id": [1, 2, 3], "price": [10.0, 20.0, 30.0]}).set_index("id")
new = pd.DataFrame({"id": [2, 3], "price": [25.0, np.nan]}).set_index("id")
old.update(new)
old

# %%
before = pd.DataFrame({"a": [1, 2, 3], "b": ["x", "y", "z"]})
after = pd.DataFrame({"a": [1, 5, 3], "b": ["x", "y", "w"]})
before.compare(after)

# %%
pd.merge_ordered(pd.DataFrame({"t": [1, 3, 5], "a": [1, 2, 3]}), pd.DataFrame({"t": [2, 3], "b": [7, 8]}), on="t", fill_method="ffill")

# %%
students.merge(enrol, left_on=["sid"], right_on=["sid"]).duplicated("sid").sum()
