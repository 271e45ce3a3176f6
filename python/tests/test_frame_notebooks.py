# SPDX-License-Identifier: Apache-2.0
"""Forms met in notebooks, run by pandas and by us: the same values, names and order."""

import io

import pandas as pd
import pytest
from shown_values import same, shown
from test_frame_like_pandas import rows, run

import headrace as hr

EQUAL = rows(r"""
m.Series([1, 2, 3], index=["c", "a", "b"]).loc["c":"a"]
m.DataFrame({"x": [1, 2, 3]}, index=[30, 10, 20]).loc[10:, "x"]
df.sort_values("i", ascending=False).loc[:2].j
m.Series([1, 7, 9], index=["u", "v", "w"]).pipe(lambda s: m.cut(s, [0, 5, 10], labels=["lo", "hi"]))
m.qcut(df[df.i > 0].i, 2, labels=False)
df[["x", "i", "b"]].corr(numeric_only=True).b
df[df.b].groupby(lambda label: label > 1).i.sum()
m.Series([1.0, 2.0, 4.0], index=[5, 6, 7]).corr(m.Series([2.0, 1.0, 9.0], index=[5, 6, 7]))
df[["x", "i"]].T.reset_index()
df.set_index(["k", "j"]).sort_index().loc["a", ["x", "i"]]
df[["i", "j"]].apply(lambda c: m.Series({"low": c.min(), "high": c.max()}))
m.Series(["a b", "b"], index=["u", "v"]).str.get_dummies(sep=" ")
df.groupby("k").i.sum().rename(index=m.Series({"a": "A", "b": "B"}))
df.rename(columns=str).columns.astype(str).tolist()
m.concat([df.x.iloc[2:], m.Series([1, 2], index=[2, 3], name="n")], axis=1).n
m.DataFrame({2020: [1.25], "All": [2.5]}).loc[0].round(1).tolist()
r = m.DataFrame({"x": [1, 2]}, m.date_range("2024-01-01", periods=2));; r["y"] = r.x.shift(freq="D")
df.groupby("k").i.sum().rename({"a": "A"})
m.date_range("2023-01-01", periods=3, freq="h").hour / 24
m.date_range("2023-01-31", periods=3, freq="ME").strftime("%d %b")
m.date_range("2023-01-01", periods=4)[1:3].day_name()
m.date_range("2023-01-01", periods=3).to_series().diff()
m.DataFrame({"a": [1, 2]}, index=m.date_range("2023-01-01", periods=2, name="d"))
m.to_datetime(["Jan 2022", "Mar 2022"], format="%b %Y").strftime("%Y-%m")
m.to_timedelta(["1h", "90min"]).total_seconds()
m.timedelta_range("0h", "2h", freq="h").total_seconds()
r = m.Series([1, 2], index=m.date_range("2023-01-01", periods=2, freq="MS"));; r.index.freq = "MS"
m.DataFrame({"t": (v := df.k.value_counts()).index, "n": v.values})
m.DataFrame({"n": (v := df.k.value_counts()).values, "t": v.index}).n
m.DataFrame({"p": df.groupby("k").x.sum(), "q": df[df.b].groupby("k").i.max()})
m.DataFrame({"p": df.sort_values("i").x, "q": df.j})
m.DataFrame({"p": df[df.b].x, "q": df[df.i > 0].j})
df["r"] = df.sort_values("i").groupby("j").i.cumsum();; r = df
df["r"] = df.sort_values("i", ascending=False).groupby("j").cumcount();; r = df
df["r"] = df.dropna().x * 2;; r = df
r = df.set_index("x")[["i"]];; r["y"] = df.set_index("x").sort_index().j;; r = r
r = df.groupby("k")[["x"]].sum();; r["n"] = df[df.b].groupby("k").size();; r = r
r = df.set_index("i")[["x"]];; r["y"] = df.j.values;; r = r
df.groupby(["k", "j"]).i.sum().reindex(m.MultiIndex.from_tuples([("a", 1), ("b", 1)]), fill_value=0)
df.groupby(["k", "j"]).i.sum().reindex([("a", 2), ("z", 1)])
df.groupby("k").i.sum().align(df[df.b].groupby("k").i.sum())[1]
df.groupby(["k", "j"]).i.sum().align(df[df.b].groupby(["k", "j"]).i.sum())[1]
df.x.apply(lambda v: "low" if v < 2 else "none" if v != v else "high")
df.x.apply(lambda v: 0 if pd.isna(v) else 1)
df.k.map(lambda v: v.upper() if isinstance(v, str) else "?")
df.k.map(lambda v: v.upper(), na_action="ignore")
df.when.map(str) if "when" in df else 1
df.x.apply(lambda v, n, p=1: v * n + p, args=(2,), p=3)
df.x.apply("sum")
df.apply(lambda r: m.Series({"p": r["i"] * 2, "q": str(r["j"])}), axis=1)
df.i.apply(lambda v: m.Series([v, v * 2]))
df.apply(lambda r: (r["i"], r["j"]), axis=1, result_type="expand")
n2.apply(np.mean, axis=1)
n2.apply(lambda r: r / r.sum(), axis=1)
n2.apply("max")
n2.apply(lambda c, n: c * n, n=2)
df[["k", "j"]].dropna().astype(str).agg("-".join, axis=1)
n2.agg(["sum", "max"], axis=1)
m.Series({"a": "x", "b": 2}).to_dict()
df.groupby("k").x.sum().sub(df[df.b].groupby("k").i.max(), fill_value=0)
df.groupby("k").x.sum().combine_first(df.groupby("j").x.sum().set_axis(["a", "z"]))
n2 * [1, 10]
n2.mul([1, 10])
n2 - n2.mean().to_numpy()
n2 * np.arange(12).reshape(6, 2)
n2.where(np.tile([True, False], (6, 1)))
n2.corr().where(np.triu(np.ones((2, 2)), 1).astype(bool))
n2.diff(axis=1)
n2.pct_change(axis=1).round(6)
n2.cumsum(axis=1)
n2.rank(axis=1)
n2.dropna().idxmax(axis=1)
n2.set_index("i").assign(z=1).dropna().idxmin(axis="columns")
r = m.DataFrame({"a": [1, 2]}, index=["p", "q"]).astype(float);; r.loc["p"] = r.mean();; r = r
df.dtypes.astype(str).tolist()[2]
len(df.dtypes.value_counts())
df.set_index(df.i.astype(str) + df.j.astype(str)).groupby("j").x.idxmax()
df[df.i > 0].groupby("j").x.idxmin()
df.sort_values("i").groupby("j", as_index=False).x.idxmax()
n2 @ m.Series([1, 2], index=["i", "x"])
n2.dropna().dot(np.ones((2, 2)))
n2.compare(n2.fillna(0))
df.x.iloc[0].round(1)
df.iloc[2]["x"].round(1)
n2.corr().iloc[0, 1].round(4)
df.when.iloc[0] if "when" in df else 1
when.iloc[0].day_name()
m.DataFrame({"w": when}).iloc[0]["w"].quarter
m.Series([1, 2]).set_axis(["a", "b"])
df.groupby("k").x.agg([("mean", "mean"), ("spread", lambda s: s.max() - s.min())])
df.groupby("k").sample(n=1, random_state=1)
df.groupby("j").x.sample(frac=0.5, random_state=3)
n2.quantile([0.1, 0.9])
m.merge(df.groupby("k").x.sum().rename("s"), g, on="k")
n2.corr().unstack().round(6)
n2.corr().unstack().drop_duplicates().sort_values().round(6)
n2.unstack()
df.dropna().groupby(["k", "j"]).i.sum().unstack()
df.select_dtypes("object").columns.tolist()
df.assign(c=df.k.astype("category")).select_dtypes(exclude=["object", "category"]).columns.tolist()
m.crosstab(df.k, df.b)[True]
m.DataFrame(0, index=["a", "b"], columns=["P", "W"])
m.DataFrame(index=["a", "b"], columns=["P"]).isna().sum()
m.get_dummies(m.Series(["a", "b", "a"])).astype(int).groupby(level=0).max()
df.groupby(["k", "j"]).x.sum().reset_index(level=0, drop=True)
df.groupby(["k", "j"]).x.sum().reset_index(level="j")
df.reset_index(names="row")
m.Series(["Café", None]).str.normalize("NFKD").str.encode("ascii", "ignore").str.decode("ascii")
(w := m.Series([1.0, 2.0], index=["x", "i"])) * (n2.cov().loc[["x", "i"], ["x", "i"]] @ w)
df.dropna().drop_duplicates(["i", "k"]).set_index(["i", "k", "j"]).x.unstack(["k", "j"])
m.merge_ordered(df[["i", "x"]], g[["j", "y"]].rename(columns={"j": "i"}), on="i").i
t.str.contains(r"a(?=p|n)", na=False)
t.str.replace(r"(?<=a)n", "N", regex=True)
t.str.match(r"(?!A)", na=False)
m.get_dummies(df.sort_values("i").k).iloc[0].tolist()
m.get_dummies(m.Series(["a,b", "c"]).str.split(",").explode()).groupby(level=0).max()
m.Series([nan, 2.0], index=["a", "b"]).first_valid_index()
df[["x"]].last_valid_index()
n2.iloc[2].last_valid_index()
m.to_datetime(m.Series(["2010-1-2", "2010-11-12"]))
when.dt.to_period("W").dt.start_time
df.pivot_table(index="k", columns=["j", "b"], values="i").T.reset_index(drop=True)
df.join(m.get_dummies(df.k, prefix="k").astype(int))
df[df.b].join(df[["x"]].sort_values("x"), rsuffix="_r")
m.DataFrame({"name": ["p", "q"], "x": 1}).iloc[1].name
df.dropna().pivot_table(index="k", columns="j", values="i").rename_axis(columns=None)
df.corr(numeric_only=True).round(4)
df.cov(numeric_only=True).round(4)
df.i.drop(0).tolist()
df.i.drop([1, 2])
df.groupby("k").x.mean().drop("a")
df.i.get(2)
df.i.get(99, "no")
df.i.keys().tolist()
df.groupby("k").x.mean().get("a")
m.Series({"a": 1, "b": 2}).rename({"a": "z"}).to_dict()
m.Series({"a": 1, "b": 2}).rename(index={"a": "z"}).to_dict()
m.Series({"a": 1, "b": 2}).rename(str.upper).to_dict()
m.Series([1, 2, 2]).agg({"lo": "min", "hi": "max"})
m.Series([3, 1], index=["b", "a"]).sort_index().reset_index()
df.dropna().groupby(["k", "j"]).i.sum().loc[:, 1]
df.dropna().set_index(["k", "j"]).sort_index().loc[(slice(None), 1), "i"]
df.dropna().set_index(["k", "j"]).sort_index().loc[(["a", "b"], 1), :].i.tolist()
m.concat([df[["k"]], g[["y"]]], axis=1)
m.concat([df.i, df.sort_values("i").x], axis=1)
m.concat([df[df.b].i, df[~df.b].x], axis=1)
m.concat([df[df.b].i, df.x], axis=1, join="inner")
df.dropna().pivot_table(index="k", values="i", aggfunc=["sum", "mean"])
m.crosstab([df.k, df.j], df.b)
df.agg({"i": ["sum", "min"], "x": ["mean"]})
""")


def test_dates_of_a_file_beside_texts_are_texts():
    for lib in (hr, pd):
        days = lib.read_csv(io.StringIO("d,t\n2024-01-01,10:30\n"))
        assert (days.d + " " + days.t).tolist() == ["2024-01-01 10:30"]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("text", EQUAL)
def test_the_same_as_pandas(text):
    ours, theirs = shown(run(hr, text)), shown(run(pd, text))
    assert same(ours, theirs), (ours, theirs)
