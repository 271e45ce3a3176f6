# SPDX-License-Identifier: Apache-2.0
"""Forms that pandas users write, run by pandas and by us: the same values, names and order."""

import datetime as dt

import numpy as np
import pandas as pd
import pytest
from shown_values import same, shown

import headrace as hr

NAN = float("nan")


def frames(m):
    """The same data in a library."""
    columns = {
        "k": ["b", "a", "b", None, "a", "c"],
        "j": [1, 2, 1, 2, 1, 2],
        "x": [1.0, NAN, 3.0, 4.0, -2.5, 6.0],
        "i": [5, 3, 5, -1, 0, 9],
        "b": [True, False, True, True, False, False],
    }
    other = {
        "k": ["a", "b", "b", "d", None],
        "y": [10, 20, 21, 40, 50],
        "x": [0.5, 1.5, 2.5, 3.5, 4.5],
        "j": [1, 1, 2, 2, 2],
    }
    times = ["2024-02-28T09:30:15", "2023-12-31T23:59:59", "NaT", "2020-02-29T00:00:00"]
    return {
        "m": m,
        "np": np,
        "pd": pd,
        "dt": dt,
        "nan": NAN,
        "df": m.DataFrame(columns),
        "n2": m.DataFrame({name: columns[name] for name in ("x", "i")}),
        "g": m.DataFrame(other),
        "s": m.Series([3.0, NAN, 1.0, 2.0, 2.0, -7.5], name="s"),
        "n": m.Series([3, 1, 4, 1, 5, 9], name="n"),
        "t": m.Series(["Apple pie", " banana ", "cherry", None, "Emile Zola", "a.b.c"], name="t"),
        "when": m.Series(np.array(times, "datetime64[us]"), name="when"),
        "c": m.Series(["lo", "hi", "lo", None, "mid"], dtype="category", name="c"),
    }


def run(m, text):
    """The value of an expression, or of `r` behind statements that are parted by ``;;``."""
    names = frames(m)
    if ";;" not in text:
        return eval(text, names)
    exec("\n".join(part.strip() for part in text.split(";;")), names)
    return names["r"]


def rows(text):
    return [line.strip() for line in text.strip().splitlines() if line.strip()]


EQUAL = rows(r"""
m.DataFrame(((i, i * i) for i in range(3)), columns=["a", "b"])
m.DataFrame({"a": i} for i in range(3))
m.DataFrame(zip([1, 2], ["a", "b"]), columns=["n", "t"])
m.DataFrame(np.arange(6).reshape(2, 3))
m.DataFrame(np.arange(6).reshape(2, 3), columns=list("abc"))
m.DataFrame(np.arange(3))
m.DataFrame([1, 2, 3], columns=["a"])
m.DataFrame({"a": [1, 2], "b": "q", "c": None, "d": dt.datetime(2020, 1, 1)})
m.DataFrame({"a": [1, 2]}, index=["x", "y"]).loc["y"].a
m.DataFrame(columns=["a", "b"])
m.DataFrame([], columns=["a", "b"])
m.DataFrame({"a": [1, 2]}, dtype="float64").a
m.DataFrame.from_dict({"a": [1, 2]})
m.DataFrame.from_records([(1, "a")], columns=["n", "t"])
m.DataFrame(np.array([(1, 2.5, "ab"), (2, 3, "c")], dtype=[("a", "i4"), ("b", "f8"), ("c", "U2")]))
m.DataFrame(np.array([(1, 2.5)] * 3, dtype=[("a", "i4"), ("b", "f8")]).view(np.recarray))
m.DataFrame(np.array([(1, "NaT")], dtype=[("a", "?"), ("b", "M8[ms]")])[::-1])
m.DataFrame({"a": ["x", nan, None], "b": np.array([nan, "y", "z"], object)})
m.DataFrame([["x", 1], [nan, 2]], columns=["s", "n"])
m.DataFrame(m.Series([1, 2], name="q"))
m.DataFrame(m.Series([1, 2]), columns=["q"])
m.DataFrame(df.groupby("k").i.sum())
m.Series([pd.Timestamp("2024-01-01"), pd.NaT])
m.Series([pd.NA, "x"])
m.Series(["2024-01-01", None], dtype="datetime64[us]")
m.to_numeric("5")
m.to_numeric(["1", "2.5"])
m.Series({"a": 1, "b": 2})
m.Series({"a": 1, "b": 2})["b"]
m.Series([1, 2], index=["a", "b"], name="z").to_dict()
m.Series(5, index=[3, 4]).to_dict()
m.Series([1, 2], dtype=str)
m.Series(["1", "2"], dtype=int)
m.Series(dtype="float64")
m.Series({"a": 1, "b": 2}).sort_values(ascending=False).index
df.k.map(m.Series({"a": 10, "b": 20}))
df["z"] = 1;; r = df
df["z"] = None;; r = df
df["z"] = dt.datetime(2024, 1, 1);; r = df
df[["z", "w"]] = df[["x", "i"]];; r = df
df[["x", "i"]] = 0;; r = df
df[["p", "q"]] = np.arange(12).reshape(6, 2);; r = df
n2 = n2.head(2);; n2[["x", "i"]] = np.array([[1, 2], [3, 4]]);; r = n2
n2 = n2.head(2);; n2[["x", "i"]] = [[1, 2], [3, 4]];; r = n2
df[["x", "i"]] = [0, 1];; r = df
df.i.fillna(df.i.mean())
df.fillna(df.mean(numeric_only=True))
n2.mask(lambda d: d > 2, 0)
[m.isnull(None), m.notnull(1), m.isnull(df.x)]
df.x = df.x * 2;; r = df
df.loc[df.i > 3, ["x", "i"]] = 0;; r = df
df.iloc[0, 2] = 9.0;; r = df
df.iloc[1:3, 2] = 9.0;; r = df
df.at[0, "x"] = 9.0;; r = df
n2[n2.i > 3] = 0;; r = n2
n2[n2 > 3] = 0;; r = n2
del df["x"];; r = df
z = df.pop("x");; r = [z, df]
df.insert(1, "z", df.x);; r = df
df.columns = [c.upper() for c in df.columns];; r = df
s[0] = 9;; r = s
s[s > 2] = 0.0;; r = s
df.get("x")
df.get("zz")
df.filter(like="x")
df.filter(regex="^[xi]$")
df.select_dtypes("number")
df.select_dtypes(include=["float64"])
df.select_dtypes(exclude="number")
df.drop("x", axis=1)
df.drop(columns=["zz"], errors="ignore")
df.drop(index=[0, 1])
df.drop([0, 1])
df.take([4, 0, -1])
df.take([0, 2], axis=1)
df.set_index("k").x.take([5, 1])
df.drop(0)
df.drop(df.index[:2])
df.drop(df.index[[0, 2]])
df.loc[df.index % 2 == 0]
df[~df.index.isin(df.index[1:3])]
df[lambda d: d.x > 1]
df.loc[::2]
df.loc[df.i.idxmax(), "k"]
df.iloc[df.i.argmax(), 0]
df.i[df.i.idxmax()]
df.loc[np.int64(2), "k"]
df.at[np.int64(2), "k"]
df.loc[df.i.idxmax(), "x"] = 0.5;; r = df
df.loc[:, df.columns != "x"]
df.loc[:, [c != "x" for c in df.columns]]
df.loc[:, ~df.columns.str.contains("^x|^b")]
df.loc[:, df.dtypes == "int64"]
df.loc[:, df.isnull().any()]
df.loc[:, df.isnull().mean() < 0.1]
df.columns[df.isnull().any()].tolist()
df.columns[df.dtypes == float].tolist()
df.columns[1:].tolist()
df.columns[[0, 2]].tolist()
df.columns[df.columns == "x"].tolist()
df.columns.intersection(["x", "i", "q"]).tolist()
df.columns.union(["z"]).tolist()
df.columns.drop("x").tolist()
df.columns.drop(["x", "k"]).tolist()
df.columns.get_loc("x")
df.columns.values.tolist()
df.columns = df.columns.str.upper();; r = df
df.dtypes[df.dtypes != "int64"].index.tolist()
df.i.astype("Int64")
df.i.astype("Float64")
df.rename(columns=str.upper)
df.rename({"x": "X"}, axis=1)
df.add_prefix("p_")
df.add_suffix("_s")
df.i.astype(str)
df.x.dropna().astype(str)
m.Series([1e16, 1e-5, 0.1, 123456.0, 1e300, -0.0, float("inf")]).astype(str)
df.b.astype(str)
when.dropna().astype(str)
m.Series([True, False]).astype(str)
df.x.where(lambda s: s > 1, -1.0)
df.i.replace([5, 9], 0)
df.i.replace([5, 9], [50, 90])
df.i.replace({5: 9, 9: 5})
df.k.replace("[ab]", "Q", regex=True)
df.replace({"k": {"a": "z"}})
df.replace([5, 9], 0)
df.x.replace(nan, 7.0)
df.replace("a", nan)
df.replace(["a", 5, "zz"], nan)
df.replace({nan: None})
df.replace({"k": {"a": nan}})
df.k.where(df.i > 3, nan)
df.k.mask(df.i > 3, nan)
df.k.map({"a": nan, "b": "z"})
df.loc[df.i > 3, "k"] = nan;; r = df
when.where(when.isna(), nan).isna()
m.Series(np.where(df.i > 3, "a", None))
m.Series(np.where(df.x.shift() > 3, 1, 0))
m.Series(np.where(df.i.shift() > 3, "a", "b"))
m.Series(np.where(df.i > 3, df.k, None))
m.Series(np.select([df.i > 5, df.i > 3], ["a", "b"], None))
df.x.clip(lower=df.i)
df.i.clip(lower=df.x)
df.i.clip(df.x, df.x + 2)
df.x.clip(nan, 4)
df.x.ffill()
df.x.bfill()
df.k.ffill()
df.ffill()
df.bfill()
df.dropna(thresh=5)
df.dropna(axis=1)
df.x.isnull()
df.isnull()
df.x.notnull()
df.isin([5, "a"])
c.isin(["lo"])
df.nlargest(2, "i", keep="last")
df.i.nlargest(n=2, keep="last")
df.nsmallest(3, "j", keep="last")
df.head(n=2)
df.tail(n=2)
df.sort_values("x", ignore_index=True)
df.sort_values("x", kind="stable")
df.sort_values("k", key=lambda s: s.str.upper())
s.sort_values(ignore_index=True)
s.sort_values(key=lambda s: -s)
s.rank(pct=True)
s.rank(method="dense", pct=True)
df.duplicated("k")
df.duplicated(subset=["k"], keep="last")
df.duplicated("k", keep=False)
s.duplicated()
df.drop_duplicates("k", keep="last")
df.drop_duplicates("k", keep=False)
e = df.drop_duplicates("k");; r = e[e.x > 1]
df.drop_duplicates("k", ignore_index=True)
s.drop_duplicates(keep="last")
df.query("x > 1 & k == 'b'")
df.query("(x > 1) | (k == 'b')")
df.query("k == ['a', 'c']")
df.query("k != ['a', 'c'] and k.notnull()")
df.query("k.str.startswith('a')")
df.query("k.isnull()")
df.query("index > 2")
df.query("i == i.max()")
df.query("x > x.mean()")
df.query("sqrt(i) > 2")
df.eval("x + i")
df.eval("z = x + i")
float(df.mean(numeric_only=True)["x"])
f"{n2.mean().x:.2f} {n2.max()['x']}"
df.isna().sum()
int(df.isna().sum().sum())
bool(df.isna().any().any())
df.isna().sum().sort_values(ascending=False, kind="stable")
df.isna().mean() * 100
df.isna().sum()[lambda s: s > 0]
df.isna().sum() / len(df)
df[df.columns[df.isna().any()]]
df.loc[:, df.isna().any()]
df.loc[:, df.nunique() > 3]
df[df.nunique()[lambda s: s > 3].index]
df.nunique().sort_index()
n2.max() - n2.min()
(n2 - n2.mean()) / n2.std()
n2.mean() - n2
n2 / n2.sum()
n2.sum() / n2.sum().sum()
n2 > n2.mean()
n2.clip(n2.quantile(0.1), n2.quantile(0.9), axis=1)
df[["x", "i"]].clip(df.j, axis=0)
n2[["x"]].fillna(n2.mean()["x"])
n2.fillna(n2.mean())
n2.mean().round(1).to_dict()
list(n2.sum().items())
list(n2.sum())
len(n2.sum())
n2.mean().idxmax()
n2.mean().nlargest(1)
n2.mean().loc["x"]
n2.mean().iloc[1]
n2.quantile(0.25)
n2.agg("median")
n2.agg({"x": "sum", "i": "max"})
n2.apply(lambda column: column.max() - column.min())
df.count().tolist()
n2.any().all()
m.DataFrame({"mean": n2.mean(), "sd": n2.std()}).loc["i", "sd"]
m.concat([n2.mean().rename("u"), n2.std().rename("v")], axis=1).loc["x", "v"]
m.DataFrame([n2.sum(), n2.max()])["i"].astype("int64")
n2.describe().T["max"]
n2.corr()["x"].drop("x")
n2.sum().drop(["x"])
n2.agg(["min", "max"]).T["min"]
n2.T.shape
df[["k", "i"]].max()["i"]
n2.sum(axis=1)
n2.mean(axis=1)
n2.max(axis=1)
n2.min(axis="columns")
n2.std(axis=1)
n2.count(axis=1)
n2.prod(axis=1)
(n2 > 2).any(axis=1)
(n2 > 2).all(axis=1)
[float(v) for v in (n2.corr().loc["x", "i"], n2.cov().loc["x", "i"], n2.cov().loc["x", "x"])]
s.agg("mean")
s.agg(["mean", "sum"]).to_dict()
df.agg({"x": ["min", "max"], "i": "sum"}).loc["sum", "i"]
s.prod()
s.sum(min_count=9)
s.sum(skipna=False)
s.mean(skipna=False)
s.idxmin()
s.idxmax()
s.argmin()
s.argmax()
df.set_index("k").i.idxmax()
s.mode()
t.mode()
s.sem()
s.corr(n.astype("float64"))
s.cov(n.astype("float64"))
s.is_unique
n.is_monotonic_increasing
s.hasnans
[df.empty, df.size, df.ndim, s.empty]
n.values
s.value_counts(normalize=True)
s.value_counts(ascending=True, sort=False).sum()
s.describe().to_dict()
s.describe(percentiles=[0.1]).to_dict()
n2.describe().loc["75%", "i"]
m.cut(n, 3, retbins=True)[1]
m.cut(s.dropna().abs(), [0, 2, 8]).astype(str).tolist()[0]
m.qcut(n, 3, labels=False)
m.qcut(n, 4).dropna().astype(str)
m.qcut(n, [0, 0.5, 1.0], labels=["a", "b"])
m.qcut(s, 4, duplicates="drop", labels=False)
m.qcut(m.Series([1, 2, 2, 2, 2, 9, 10]), 4, duplicates="drop").astype(str)
m.qcut(m.Series([1, 2, 2, 2, 2, 9, 10]), 4, duplicates="drop", retbins=True)[1]
m.qcut(m.Series([1, 2, 2, 2, 2, 9, 10]), 4, duplicates="drop", labels=["lo", "mid", "hi"])
m.qcut(m.Series([1, 1, 1]), 2, duplicates="drop").isna()
m.qcut(m.Series([1, 1, 1]), 2, duplicates="drop", labels=False)
m.cut(n, [3]).isna()
n.shift(1, fill_value=0)
n.shift(-2, fill_value=0)
t.shift(1, fill_value="?")
n.pct_change()
n.rolling(3).agg("sum")
df.to_dict("list")
df.to_dict("records")
df.dropna(subset="x").set_index("x").to_dict("index")[6.0]["k"]
n2.to_dict("split")["data"]
df.to_csv(index=False).splitlines()[0]
df[["x", "i", "b"]].fillna(0.5)
df[["x", "i"]].assign(s="a").fillna(1)
df[df.x > 0].i.fillna("?")
df.sort_values("j").b.fillna(2)
df.equals(df.copy())
s.equals(s)
s.equals(s + 1)
df.i.to_dict()
list(df.i.items())
df.x.add(1)
df.x.sub(df.i)
df.x.add(df.i, fill_value=0)
df.x.rsub(1)
df.x.floordiv(2)
df.x.mod(2)
df.x.pow(2)
df.i.ge(3)
df.x.combine_first(df.i)
n2.combine_first(n2 * 2)
np.select([df.i > 5, df.i > 3], [1, 2], 0)
df.i.case_when([(df.i > 5, 1), (df.i > 3, 2)])
df.x.case_when([(df.i > 5, df.x * 2), (lambda x: x > 3, 0.0)])
divmod(df.i, 4)
round(df.x, 1)
str(df.i.sum())
f"{df.i.sum()}"
df.k.map(len, na_action="ignore")
df.groupby("k").mean(numeric_only=True)
df.groupby(["k", "j"]).sum(numeric_only=True)
df.groupby("k").x.nunique(dropna=False)
df.groupby("k").x.unique().apply(len)
df.iloc[0].equals(df.iloc[0]), df.iloc[0].equals(df.iloc[1])
df.groupby("k").x.value_counts()
df.groupby("k").x.value_counts(normalize=True)
df.groupby("k").x.describe()
df.groupby("k").head(1)
df.groupby("k").tail(1)
df.groupby("k").nth(0)
df.groupby("k").nth(-1)
df.groupby("k").x.head(1)
df.groupby("k").ngroup().dropna()
df.groupby("k").ngroups
df.groupby("k").get_group("a")
[(key, len(rows)) for key, rows in df.groupby("k")]
[(key, rows.i.tolist()) for key, rows in df.groupby(["k", "j"])]
df.groupby("k").x.apply(lambda x: x.max() - x.min())
df.groupby("k").filter(lambda rows: len(rows) > 1)
df.groupby("k").x.shift(fill_value=0.0).dropna()
df.groupby("j").x.ffill()
df.groupby("j").x.bfill()
df.groupby("j").k.ffill()
df.groupby("j").x.pct_change()
df.groupby("j").x.rank(pct=True)
df.groupby("k").agg(top=m.NamedAgg("x", "max"))
df.groupby("k").aggregate({"x": "mean"})
df.groupby("k", group_keys=False, observed=True).x.mean()
df.groupby("k").x.sum().reset_index(name="sum")
df.groupby("k").x.sum().rename("sum").reset_index()
df.set_index("k").groupby(level=0).x.sum()
df.set_index("k").groupby(level="k").x.sum()
df.merge(g.set_index("k"), left_on="k", right_index=True)
df.set_index("k").merge(g.set_index("k"), left_index=True, right_index=True)
df.set_index("k").join(g.set_index("k"), rsuffix="_r")
df.join(g.set_index("k"), on="k", rsuffix="_r")
df.join(g.drop_duplicates("k").set_index("k").y, on="k")
df.merge(g, on="k", sort=True)
df.merge(df.groupby("k").i.sum().rename("sum"), on="k")
df.merge(df.groupby("k").i.sum(), left_on="k", right_index=True)
m.merge(df, df.i.rename("v"), left_on="i", right_on="v")
df.groupby("i").x.mean()[5]
df.i.value_counts()[9]
df.i.value_counts()[[9, 5]]
df.b.value_counts()[True]
df.x.value_counts()[-2.5]
df.set_index("i").x[:2]
df.set_index("i").x[5]
df.set_index("k").x[["c"]]
df.groupby(["k", "j"]).i.sum()["a", 2]
df.i.value_counts()[lambda s: s > 1]
df.i[lambda s: s > 4]
df["z"] = df.k.str.extract("(a)");; r = df
df["z"] = df[["i"]];; r = df
counts = df.k.value_counts();; r = ["a" in counts, "z" in counts, 1 in counts]
sums = df.groupby(["k", "j"]).i.sum();; r = ["a" in sums, ("a", 2) in sums, ("c", 1) in sums]
m.concat([df, df], ignore_index=True)
m.concat([df, g], ignore_index=True)
m.concat([df, g], join="inner")
m.concat([df[["x"]], df[["i"]]], axis=1)
m.concat([df.x, df.i], axis=1)
m.concat([df[["x"]], m.DataFrame({"new": [1, 2, 3, 4, 5, 6]})], axis=1)
m.concat([df.x, m.Series([1, 2, 3, 4, 5, 6], name="new")], axis=1)
df.i.value_counts().value_counts()
df.isna().sum().loc[lambda s: s > 0].index.tolist()
dict(n2.mean())
n2.fillna(n2 * 0)
m.concat([df, None])
c.cat.reorder_categories(["lo", "mid", "hi"], ordered=True).sort_values().astype(str).fillna("nan")
c.cat.set_categories(["lo", "mid"])
c.cat.rename_categories({"lo": "LOW"})
c.cat.add_categories(["new"]).cat.set_categories(["new", "lo"])
c.cat.remove_categories(["lo"])
c.cat.remove_unused_categories()
c.cat.as_ordered().cat.as_unordered().cat.ordered
t.str.startswith("A", na=False)
t.str.endswith(("c", "a"), na=False)
t.str.removeprefix("A")
t.str.removesuffix("c")
t.str.capitalize()
t.str.get(0)
t.str.get(20)
t.str[3]
t.str[-6]
when.dt.daysinmonth
when.dropna().dt.is_month_start
when.dropna().dt.is_month_end
when.dropna().dt.is_quarter_start
when.dropna().dt.is_quarter_end
when.dropna().dt.is_year_start
when.dropna().dt.is_year_end
when.dropna().dt.is_leap_year
when.dt.normalize()
when.dt.month_name()
when.dt.day_name()
when.dt.strftime("%Y-%m-%d %H:%M:%S")
when.dt.strftime("%d.%m.%y %I:%M %p %f %j %b %a %%")
when.dt.strftime("%F at %T, %B %A")
m.to_datetime(m.Series(["2024-01-02", "2023-05-06"]))
m.to_datetime(m.Series(["2024-01-02", "bad", None]), errors="coerce")
m.to_datetime(m.Series(["02/01/2024", "06/05/2023"]), format="%d/%m/%Y")
m.to_datetime(m.Series(["Feb 3 2024 1:05 PM"]), format="%b %d %Y %I:%M %p")
m.to_datetime(m.Series([0, 86400]), unit="s")
m.to_datetime(m.Series([1711900000.25, nan, -1.5]), unit="s")
m.to_datetime(m.Series([1.5, 2.25]), unit="D")
m.to_datetime(m.Series([1711900000123.0]), unit="ms")
m.to_datetime(m.Series([3, 4]), unit="h")
m.to_datetime(m.Series([20240105, 20231231]), format="%Y%m%d")
m.to_datetime(1711900000, unit="s")
m.to_timedelta(m.Series([1.5, nan, -0.25]), unit="s")
m.to_timedelta(m.Series([1, 2]), unit="min")
m.to_timedelta(m.Series([1, 2]), unit="m")
m.to_timedelta(m.Series([0.5, 2.25]), unit="h")
m.to_timedelta(90, unit="s").total_seconds()
m.to_datetime("2024-01-02")
m.Series(["2024-01-02", "2023-05-06 07:08:09.5"]).astype("datetime64[us]")
""")


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("text", EQUAL)
def test_the_same_as_pandas(text):
    ours, theirs = shown(run(hr, text)), shown(run(pd, text))
    assert same(ours, theirs), (ours, theirs)


@pytest.mark.parametrize("values", [np.array([55], "uint8"), [7], ["a"], [1, 2]])
def test_a_series_is_no_number(values):
    for kind in (int, float):
        with pytest.raises(
            TypeError, match=rf"{kind.__name__}: cannot convert a series to a number: .*item\(\)"
        ):
            kind(hr.Series(values))
        with pytest.raises(TypeError):
            kind(pd.Series(values))


@pytest.mark.parametrize(
    ("values", "dtype", "wrong"),
    [
        ([1.5, float("nan")], "int64", "row=1, value='nan'"),
        ([float("-inf")], "int32", "row=0, value='-inf'"),
        ([0.0, 9.3e18], "int64", "row=1, value='9.3e\\+18'"),
        ([128.0], "int8", "value='128'"),
        ([-1.0], "uint8", "value='-1'"),
        (np.array([2.0**31], "float32"), "int32", "value='2147483648', from='float32', to='int32'"),
    ],
)
def test_integers_are_not_made_up(values, dtype, wrong):
    with pytest.raises(hr.InvalidArgumentError, match=f"astype: .*{wrong}"):
        hr.Series(values).astype(dtype).to_list()


def test_floats_become_the_integers_of_numpy():
    values = [-128.9, -0.5, 127.9, 3.0]
    assert hr.Series(values).astype("int8").to_list() == np.array(values).astype("int8").tolist()
    assert hr.Series([-(2.0**63), None]).astype("int64").to_list() == [-(2**63), None]
    assert hr.Series([2.0**64 - 2048]).astype("uint64").to_list() == [2**64 - 2048]
    assert hr.Series([-0.9, 255.9])[1:].astype("uint8").to_list() == [255]
    assert hr.Series([], dtype="float32").astype("int16").to_list() == []


@pytest.mark.parametrize("limit", [None, 1])
@pytest.mark.parametrize("index", [None, [0, 1, 2, 10, 11, 12, 30, 31]])
def test_the_nearest_value(index, limit):
    values = [None, 1.0, None, None, 4.0, None, 6.0, None]
    ours, theirs = (lib.Series(values, index=index) for lib in (hr, pd))
    got = ours.interpolate(method="nearest", limit=limit)
    wanted = theirs.interpolate(method="nearest", limit=limit)
    assert got.to_list() == [None if v != v else v for v in wanted]
