# %% Tidy data: columns that are values, several variables in one column
import pandas as pd
import numpy as np

pew = pd.DataFrame({"religion": ["A", "B", "C"], "<10k": [27, 12, 7], "10-20k": [34, 27, 10], "20-30k": [60, 37, 15]})
pew.melt(id_vars="religion", var_name="income", value_name="freq").sort_values(["religion", "income"]).reset_index(drop=True)

# %%
billboard = pd.DataFrame({"artist": ["X", "Y"], "track": ["one", "two"], "date": ["2000-02-26", "2000-09-02"], "wk1": [87, 91], "wk2": [82.0, 87], "wk3": [72, np.nan]})
bb = pd.melt(billboard, id_vars=["artist", "track", "date"], var_name="week", value_name="rank").dropna(subset=["rank"])
bb["week"] = bb["week"].str.extract(r"(\d+)", expand=False).astype(int)
bb["rank"] = bb["rank"].astype(int)
bb["date"] = pd.to_datetime(bb["date"]) + pd.to_timedelta(bb["week"] * 7 - 7, unit="D")
bb.sort_values(["artist", "week"]).reset_index(drop=True)

# %%
tb = pd.DataFrame({"country": ["AD", "AE"], "year": [2000, 2000], "m014": [0, 2], "m1524": [0, 4], "f014": [np.nan, 3], "f1524": [1, 16]})
molten = tb.melt(id_vars=["country", "year"], value_name="cases", var_name="sex_age")
parts = molten["sex_age"].str.extract(r"(\D)(\d+)(\d{2})")
parts.columns = ["sex", "lo", "hi"]
parts["age"] = parts["lo"] + "-" + parts["hi"]
pd.concat([molten[["country", "year", "cases"]], parts[["sex", "age"]]], axis=1).dropna()

# %%
weather = pd.DataFrame({"id": ["MX1"] * 2, "month": [1, 1], "element": ["tmax", "tmin"], "d1": [np.nan, np.nan], "d2": [27.3, 14.4], "d3": [24.1, 14.4]})
w = weather.melt(id_vars=["id", "month", "element"], var_name="day")
w = w.pivot_table(index=["id", "month", "day"], columns="element", values="value").reset_index()
w

# %%
w.columns.name, w.columns.tolist()

# %%
w["day"] = w["day"].str[1:].astype(int)
w["date"] = pd.to_datetime("2010-" + w["month"].astype(str) + "-" + w["day"].astype(str))
w[["date", "tmax"]]

# %%
songs = bb[["artist", "track"]].drop_duplicates().reset_index(drop=True)
songs["song_id"] = songs.index
ranks = bb.merge(songs, on=["artist", "track"])[["song_id", "date", "rank"]]
ranks.head(3)

# %%
wide = pd.DataFrame({"id": [1, 2], "ht1": [2.8, 2.9], "ht2": [3.4, 3.8], "wt1": [10, 11], "wt2": [12, 13]})
pd.wide_to_long(wide, ["ht", "wt"], i="id", j="age").sort_index()

# %%
stacked = wide.set_index("id")[["ht1", "ht2"]].stack()
stacked.index.names = ["id", "which"]
stacked.reset_index(name="ht")

# %%
df = pd.DataFrame({"k": ["a", "a", "b"], "v": [1, 2, 3]})
df.groupby("k")["v"].apply(list).reset_index()

# %%
df.assign(n=df.groupby("k").cumcount()).pivot(index="k", columns="n", values="v").add_prefix("v").reset_index()

# %%
multi = pd.DataFrame(np.arange(8).reshape(2, 4), index=["r1", "r2"], columns=pd.MultiIndex.from_product([["A", "B"], ["x", "y"]]))
multi.stack().sort_index()

# %%
multi["A"], multi.xs("x", axis=1, level=1)

# %%
multi.columns = ["".join(c) for c in multi.columns]
multi.T

# %%
s = pd.Series(["a:1;b:2", "c:3"]).str.split(";").explode().str.split(":", expand=True)
s.columns = ["key", "value"]
s.reset_index(names="row")
