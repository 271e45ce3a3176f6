# SPDX-License-Identifier: Apache-2.0
"""Pivot tables, unstack, stack, cross tables, dummies and new labels, against pandas."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

import headrace as hr

CALLS = r"""
df.groupby(["k", "g"]).v.sum().unstack()
df.groupby(["k", "g"]).v.sum().unstack(fill_value=0)
df.groupby(["k", "g"]).v.sum().unstack("k")
df.groupby(["k", "g"])[["v", "n"]].sum().unstack()
df.set_index(["k", "g", "n"]).v.unstack([1, 2])
df.set_index(["k", "g"]).v.unstack()
df.pivot(index="n", columns="k", values="v")
df.pivot(index="n", columns="k")
df.pivot(index=["n", "g"], columns="k", values="v")
m.pivot(df, index="k", columns=["g", "n"], values="v")
df.set_index("n").pivot(columns="k", values="v")
df.pivot_table(index="k", columns="g", values="v", aggfunc="sum")
df.pivot_table(index=df.k, columns=df.g, values="v", aggfunc="max", fill_value=-1)
df.pivot_table(index="k", columns="g", values="v", aggfunc="sum", margins=True)
df.pivot_table(index="k", columns="g", values="v", margins=True, margins_name="whole")
df.pivot_table(index="k", values=["v", "n"], aggfunc={"v": "mean", "n": "sum"})
df.pivot_table(index="k", columns="g", values="v", aggfunc=["sum", "mean"])
df.pivot_table(index="k", columns="g", values="v", aggfunc=lambda s: s.max() - s.min())
df.pivot_table(index="k", columns="g", values=["v", "n"], aggfunc="mean", margins=True)
df.pivot_table(index="k", values="v", aggfunc="sum", margins=True)
df[["v", "n"]].stack()
df.set_index("n")[["v"]].stack()
m.crosstab(df.k, df.g)
m.crosstab([df.k, df.n], df.g)
m.crosstab(df.k, df.g, margins=True)
m.crosstab(df.k, df.g, normalize=True)
m.crosstab(df.k, df.g, normalize="index")
m.crosstab(df.k, df.g, normalize="index", margins=True).loc[["a", "b", "c"]]
m.crosstab(df.k, df.g, normalize="all", margins=True)
m.crosstab(df.k, df.g, normalize="columns", margins=True)
m.crosstab(df.k, df.g, values=df.v, aggfunc="mean")
m.get_dummies(df.k)
m.get_dummies(df.k, prefix="is")
m.get_dummies(m.Series(["b", None, "a"]), dummy_na=True)
m.get_dummies(df, columns=["k"])
m.get_dummies(df, columns=["n"], prefix={"n": "number"}, prefix_sep=":")
m.get_dummies(df, drop_first=True, dtype=int)
df.reindex([0, 1, 7])
df.reindex([3, 0], fill_value=0)
df.reindex(columns=["v", "z"])
df.reindex(["v", "z"], axis=1, fill_value=0)
df.set_index("n").reindex([2, 9, 1])
df.v.reindex([3, 9])
df.n.value_counts().reindex([1, 2, 9], fill_value=0)
df.set_index("k").v.rename_axis("q").reset_index()
df.set_index(["k", "g"]).rename_axis(["a", "b"])
df.set_index(["k", "g"]).rename_axis(index={"k": "a"})
df.set_axis(["a", "b", "c", "d"], axis=1)
df.set_axis([5, 6, 7, 8])
df[["v"]].squeeze()
df[["v"]].iloc[:1].squeeze()
df.set_index(["k", "g"]).xs("a")
df.set_index(["k", "g"]).xs("x", level="g")
df.set_index(["k", "g"]).v.xs("a")
df.set_index(["k", "g"]).droplevel("g")
df.set_index(["k", "g"]).v.droplevel(0)
df.set_index(["k", "g"]).swaplevel()
df.set_index(["k", "g"]).v.swaplevel(0, 1)
df.groupby("g").v.mean().align(df.iloc[:2].groupby("g").v.sum())[1]
df.groupby("g").v.mean().align(df.iloc[:2].groupby("g").v.sum(), join="inner")[0]
df.groupby("g").v.mean().align(df.iloc[:2].groupby("g").v.sum(), join="right")[0]
m.wide_to_long(m.DataFrame({"i": [1, 2], "x1": [2, 5], "x2": [3, 4]}), "x", i="i", j="t")
m.wide_to_long(m.DataFrame({"i": [1], "x_a": [2], "y_b": [3]}), ["x", "y"], "i", "t", "_", r"\w")
df.groupby("k").v.agg(lambda s: s.max() - s.min())
df.groupby("k").v.agg(lambda s: s.iloc[0])
df.groupby("k", sort=False).v.agg(lambda s: s.iloc[-1])
df.groupby("k").v.agg(["mean", lambda s: s.max() - s.min(), lambda s: len(s)])
df.groupby("k").agg({"v": ["mean", "sum"], "n": [np.ptp]})
df.groupby("k").agg(a=("v", lambda s: s.sum() / len(s)), b=("n", "sum"))
df.groupby(["k", "g"]).agg(a=("v", lambda s: s.quantile(0.5) * 2))
df.groupby("k")[["v", "n"]].agg(lambda s: s.max() - 1)
df.groupby("k").v.transform(lambda s: s - s.mean())
df.groupby("k").v.transform(lambda s: (s - s.mean()) / len(s))
df.groupby("k").v.transform(lambda s: np.sqrt(s) + 1 / s.sum())
df.groupby("k").v.transform(lambda s: s.iloc[0])
df.groupby("k")[["v", "n"]].transform(lambda s: s / s.sum())
df.groupby("g").v.transform(lambda s: s.cumsum())
df.pivot(index="n", columns="k", values="v").reset_index().melt("n")
df.pivot(index="n", columns="k", values="v").rename_axis(columns="who").T
df.pivot(index="n", columns="k", values="v").rename_axis(None, axis=1).reset_index()
df.pivot(index="n", columns="k", values="v").rename(columns={"a": "A"}) * 2
df.pivot(index="n", columns="k", values="v").stack().reset_index()
df.pivot_table(index="n", columns=["k", "g"], values="v").xs("x", axis=1, level="g")
df.pivot_table(index="n", columns="k", values=["v"]).droplevel(0, axis=1)
df.pivot_table(index="n", columns=["k", "g"], values="v").swaplevel("g", "k", axis=1)
df.pivot_table(index="n", columns=["k", "g"], values="v")["a"]
df.pivot_table(index="n", columns="g", values=["v"]).stack("g").reset_index()
m.DataFrame([[1, 2]], columns=m.Index(["u", "v"], name="w")).melt()
df.pivot(index="g", columns="n", values="v").loc["x"].idxmax()
m.DataFrame([[1, 2]], columns=m.MultiIndex.from_tuples([("u", 1), ("v", 2)], names=["k", "n"]))
df.groupby("k").pipe(lambda g: g.v.max() - g.v.min())
""".strip().splitlines()


def _frame(module: Any) -> Any:
    return module.DataFrame(
        {
            "k": ["a", "b", "a", "c"],
            "g": ["x", "x", "y", "y"],
            "v": [1.0, 2.0, 3.0, 4.5],
            "n": [1, 2, 3, 4],
        }
    )


def _rows(value: Any) -> Any:
    """Column names, and labels and values row by row, missing ones as None."""
    value = value.to_pandas() if hasattr(value, "to_pandas") else value
    if not isinstance(value, pd.DataFrame | pd.Series):
        return value
    frame = value.to_frame("value") if isinstance(value, pd.Series) else value
    names = ["_".join(map(str, n)) if isinstance(n, tuple) else str(n) for n in frame.columns]
    labels = [each if isinstance(each, tuple) else (each,) for each in frame.index]
    frame = frame.astype(object).where(frame.notna(), None)
    return names, labels, frame.to_numpy().tolist(), list(frame.columns.names)


@pytest.mark.parametrize("call", CALLS)
def test_as_pandas(call: str) -> None:
    wanted, got = (
        _rows(eval(call, {"m": module, "np": np, "df": _frame(module)})) for module in (pd, hr)
    )
    if "stack()" in call and "unstack" not in call:
        wanted, got = (
            (each[0], [tuple(map(str, label)) for label in each[1]], *each[2:])
            for each in (wanted, got)
        )
    assert got == wanted


def test_a_function_of_aggregates_runs_once_for_all_groups() -> None:
    calls = []
    groups = _frame(hr).groupby("k").v
    before = len(hr.fallbacks())
    groups.agg(lambda s: s.max() - s.min())
    groups.transform(lambda s: (s - s.mean()) / s.std())
    assert len(hr.fallbacks()) == before
    groups.agg(lambda s: calls.append(len(s)) or 0)
    assert calls == [2, 1, 1]


@pytest.mark.parametrize(
    ("call", "words"),
    [
        ("df.pivot(columns='g', values='v')", "missing key"),
        ("df.pivot(index='g', columns='g')", "g"),
        ("df.pivot(index='g', columns='g', values='v')", "same keys"),
        ("df.set_index(['k', 'g']).v.unstack('q')", "no such label level"),
        ("df.set_index(['k', 'g']).droplevel([0, 1])", "no level would be left"),
        ("df.set_index('k').reindex(['a'])", "duplicate labels: labels="),
        ("df.set_index(['k', 'g']).reindex(['a'])", "a tuple for each row"),
        ("df.align(df, join='cross')", "join='cross'"),
        ("df.set_index('k').rename_axis(['a', 'b'])", "does not match the labels"),
        ("hr.crosstab(df.k, df.g, values=df.v)", "belong together"),
        ("hr.crosstab(df.k, df.g, normalize='rows')", "normalize='rows'"),
        ("hr.get_dummies(df, prefix=['a'])", "number of prefixes"),
        ("hr.wide_to_long(df, 'q', i='k', j='t')", "no column matches"),
        ("df.groupby('k').v.agg(lambda s: s)", "one value for each group"),
        ("df.groupby('k').v.transform(lambda s: s.iloc[[0, 0, 0]])", "a value for each row"),
    ],
)
def test_errors_name_the_value(call: str, words: str) -> None:
    with pytest.raises(hr.InvalidArgumentError, match=words):
        eval(call, {"hr": hr, "df": _frame(hr)})


def test_a_key_that_is_a_series_leaves_the_frame_as_it_is():
    """It becomes a column of the table only, also under the name of a column."""
    frame = hr.DataFrame({"k": [11, 12, 21], "x": [1, 2, 4]})
    table = frame.pivot_table(index=frame["k"] // 10, values="x", aggfunc="sum")
    assert table["x"].to_list() == [3, 4]
    assert frame.to_dict() == {"k": [11, 12, 21], "x": [1, 2, 4]}


@pytest.mark.parametrize("columns", [None, "c", ["c", "d"]])
def test_sizes_of_cells(columns: Any) -> None:
    data = {"k": ["b", "a", "b"], "c": ["x", "x", "y"], "d": [1, 2, 1], "x": [1.0, None, 3.0]}
    ours, theirs = (
        lib.DataFrame(data).pivot_table(
            index="k", columns=columns, aggfunc="size", fill_value=None if columns is None else 0
        )
        for lib in (hr, pd)
    )
    assert ours.to_dict() == (theirs.to_dict() if columns is None else theirs.to_dict("list"))
    assert ours.index.to_list() == list(theirs.index)
