# SPDX-License-Identifier: Apache-2.0
"""Everyday calls on frames of 1e3, 1e6 and 2e7 rows vs. pandas and Polars: ./dev bench everyday.

The same line of code runs on Headrace and on pandas, and a result of ours is evaluated; Polars has
its own words. `--rows 1000,1000000` selects sizes, `--only corr,head` calls: with either the run is
a piece, which `--output` appends to a file. `--runs` is for 1e6 rows: fewer rows take as many, more
rows at most three.
"""

from __future__ import annotations

import argparse
import functools
import math
import os
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple

sys.path.pop(0)  # this folder: csv.py here is not Python's
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from measure import HEADER, OURS, ROOT, WORKERS, Bench, Rival, time_of

os.environ["POLARS_MAX_THREADS"] = str(WORKERS)  # Polars reads it when it is imported

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa

import headrace as hr

PACKAGES = ["numpy", "pandas", "polars", "pyarrow"]
SIZES = (1_000, 1_000_000, 20_000_000)
#: The slowest that a call may be: our time over pandas', below 1e6 rows and from there on.
SLOWEST_SMALL, SLOWEST = 3.0, 1.2
#: Geometric means of the rivals' times over ours, from 1e6 rows.
FASTER = {"pandas": 2.0, "polars": 1.2}
#: Calls that make a Python object of each row take no more rows than these.
OBJECTS = 1_000_000
WIDE, WIDE_MS = 10_000, 50.0
#: Rows at each end of long answers that are compared.
COMPARED = 50_000


class Call(NamedTuple):
    """A call of pandas and of ours, and what it is in Polars."""

    name: str
    work: Callable[[Any], Any]
    polars: Callable[[Any], Any] | None = None
    #: How answers are compared: "rows", "sorted" where order is free, "length" where values are,
    #: "shown" where they are text for people.
    same: str = "rows"
    most: int = SIZES[-1]
    #: In place of pandas, which hands out a view of its block.
    numpy: Callable[[Any], Any] | None = None


# ---- the data ------------------------------------------------------------------------------------
class Data:
    """The frames and lists of one size: `n` has numbers, `x` strings and times, `o` joins both."""

    def __init__(self, rows: int) -> None:
        self.rows, self.random = rows, np.random.default_rng(24)

    @functools.cached_property
    def arrays(self) -> dict[str, Any]:
        """Numbers in NumPy's memory."""
        random = self.random
        return {
            "a": np.where(random.random(self.rows) < 0.05, np.nan, random.normal(size=self.rows)),
            "b": random.random(self.rows),
            "i": random.permutation(self.rows),
            "k": random.integers(0, max(self.rows // 1000, 10), self.rows),
        }

    @functools.cached_property
    def n(self) -> pl.DataFrame:
        """Two columns of floats, one with 5 % missing; unique integers and keys."""
        return pl.DataFrame(self.arrays).with_columns(pl.col("a").fill_nan(None)).rechunk()

    @functools.cached_property
    def x(self) -> pl.DataFrame:
        """Words, digits, times, and times as text."""
        random, count = self.random, self.rows
        words = pl.Series([f"Item {k} of {k % 7}" for k in range(1000)])
        times = pl.Series(np.datetime64("2020-01-01", "us") + random.integers(0, 10**14, count))
        frame = pl.DataFrame(
            {
                "s": words.gather(random.integers(0, 1000, count)),
                "f": pl.Series(np.round(random.random(count) * 1000, 2)).cast(pl.String),
                "t": times,
                "d": times.dt.strftime("%Y-%m-%d %H:%M:%S"),
                "e": times.dt.strftime("%d/%m/%Y"),
            }
        )
        return frame.rechunk()

    @functools.cached_property
    def o(self) -> pl.DataFrame:
        """A row for each key and one for each word."""
        count = max(self.rows // 1000, 10)
        return pl.DataFrame({"k": np.arange(count), "w": np.arange(count) * 0.5})

    @functools.cached_property
    def lists(self) -> dict[str, list[Any]]:
        """Columns as lists of Python objects."""
        made = {name: self.arrays[name].tolist() for name in ("b", "i")}
        return made | {"s": self.x["s"].to_list()}

    @functools.cached_property
    def records(self) -> list[dict[str, Any]]:
        """Rows as dictionaries."""
        return [
            dict(zip("bis", row, strict=True)) for row in zip(*self.lists.values(), strict=True)
        ]

    @functools.cached_property
    def matrix(self) -> Any:
        """Floats in two dimensions."""
        return self.random.random((self.rows, 4))

    def of(self, engine: str) -> Any:
        """The same names with the frames of an engine; made when they are asked for."""
        data, module = self, {OURS: hr, "pandas": pd, "polars": pl}[engine]

        class Of(SimpleNamespace):
            def __getattr__(self, name: str) -> Any:
                value = getattr(data, name)
                if isinstance(value, pl.DataFrame) and engine == OURS:
                    value = hr.from_arrow(value.to_arrow(compat_level=pl.CompatLevel.newest()))
                    hr.eval(value)
                elif isinstance(value, pl.DataFrame) and engine == "pandas":
                    value = value.to_pandas()
                setattr(self, name, value)
                return value

        return Of(m=module)


# ---- answers -------------------------------------------------------------------------------------
def columns_of(answer: Any) -> list[Any]:
    """An answer of any engine as NumPy arrays, long ones as both of their ends; without labels."""
    if isinstance(answer, hr.DataFrame | hr.Series):
        answer = answer.to_pandas()
    elif isinstance(answer, pl.DataFrame | pl.Series):
        answer = answer.to_frame() if isinstance(answer, pl.Series) else answer
        answer = answer.to_pandas()
    elif isinstance(answer, dict):
        answer = pd.DataFrame(answer)
    elif isinstance(answer, list) and answer and isinstance(answer[0], dict | tuple):
        answer = pd.DataFrame([tuple(x.values()) if isinstance(x, dict) else x for x in answer])
    if isinstance(answer, pd.DataFrame):
        answer = [answer.iloc[:, i] for i in range(answer.shape[1])]
    else:
        answer = [answer]
    return [ends(np.atleast_1d(np.asarray(short(each)))) for each in answer]


def short(column: Any) -> Any:
    """Both ends of a long pandas series, before it becomes objects."""
    if isinstance(column, pd.Series) and len(column) > 2 * COMPARED:
        return pd.concat([column.iloc[:COMPARED], column.iloc[-COMPARED:]])
    return column


def ends(values: Any) -> Any:
    """Both ends of a long array; numbers and times as floats, all others as text."""
    if len(values) > 2 * COMPARED:
        values = np.concatenate([values[:COMPARED], values[-COMPARED:]])
    if values.dtype.kind in "Mm":
        return values.astype(f"{values.dtype.kind}8[us]").astype("f8")
    try:
        return values.astype("f8")
    except (TypeError, ValueError):
        return np.array([str(value) for value in values.ravel()])


def same_by(how: str) -> Callable[[Any, Any], str]:
    """Compare the last columns of both answers; keys that only Polars has come first."""

    def compare(ours: Any, theirs: Any) -> str:
        if how == "shown":
            return "shown"
        if how == "length":
            assert len(ours) == len(theirs), f"{len(ours)} and {len(theirs)} rows"
            return f"{len(ours):,} rows"
        if hasattr(theirs, "shape") and len(np.shape(theirs)) and hasattr(ours, "shape"):
            assert len(ours) == len(theirs), f"{len(ours)} and {len(theirs)} rows"
        mine, other = columns_of(ours), columns_of(theirs)
        count = min(len(mine), len(other))
        for a, b in zip(mine[-count:], other[-count:], strict=True):
            a, b = (np.sort(each) if how == "sorted" else each for each in (a, b))
            if a.dtype.kind == b.dtype.kind == "f":
                np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-9)
            else:
                np.testing.assert_array_equal(a, b)
        return "equal"

    return compare


def done(value: Any) -> Any:
    """Evaluate what is lazy."""
    if isinstance(value, hr.Array) and not value.shape:
        return value.item()
    if isinstance(value, hr.DataFrame | hr.Series | hr.Array):
        hr.eval(value)
    return value


# ---- the calls -----------------------------------------------------------------------------------
COL = pl.col

CONSTRUCT = [
    Call("Series(floats)", lambda d: d.m.Series(d.lists["b"]), lambda d: pl.Series(d.lists["b"])),
    Call("Series(ints)", lambda d: d.m.Series(d.lists["i"]), lambda d: pl.Series(d.lists["i"])),
    Call("Series(strings)", lambda d: d.m.Series(d.lists["s"]), lambda d: pl.Series(d.lists["s"])),
    Call("DataFrame(lists)", lambda d: d.m.DataFrame(d.lists), lambda d: pl.DataFrame(d.lists)),
    Call(
        "DataFrame(dicts)",
        lambda d: d.m.DataFrame(d.records),
        lambda d: pl.DataFrame(d.records),
        most=OBJECTS,
    ),
    Call("DataFrame(arrays)", lambda d: d.m.DataFrame(d.arrays), lambda d: pl.DataFrame(d.arrays)),
    Call("DataFrame(matrix)", lambda d: d.m.DataFrame(d.matrix), lambda d: pl.DataFrame(d.matrix)),
]

LOOK = [
    Call("iloc[5, 0]", lambda d: d.n.iloc[5, 0], lambda d: d.n[5, 0]),
    Call("at[5, name]", lambda d: d.n.at[5, "a"], lambda d: d.n["a"][5]),
    Call("loc[7, name]", lambda d: d.n.loc[7, "b"], lambda d: d.n["b"][7]),
    Call("iloc[5]", lambda d: list(d.n.iloc[5]), lambda d: list(d.n.row(5))),
    Call("loc[7]", lambda d: list(d.n.loc[7]), lambda d: list(d.n.row(7))),
    Call("series.iloc[5]", lambda d: d.n["i"].iloc[5], lambda d: d.n["i"][5]),
    Call("head()", lambda d: d.n.head(), lambda d: d.n.head()),
    Call("repr(head())", lambda d: repr(d.n.head()), lambda d: repr(d.n.head()), "shown"),
    Call("tail(1000)", lambda d: d.n.tail(1000), lambda d: d.n.tail(1000)),
    Call("sample(100)", lambda d: d.n.sample(100), lambda d: d.n.sample(100), "length"),
    Call("iloc[10:500]", lambda d: d.n.iloc[10:500], lambda d: d.n[10:500]),
    Call("df[[a, b]]", lambda d: d.n[["a", "b"]], lambda d: d.n[["a", "b"]]),
    Call("rename", lambda d: d.n.rename(columns={"a": "z"}), lambda d: d.n.rename({"a": "z"})),
    Call("drop column", lambda d: d.n.drop(columns=["a"]), lambda d: d.n.drop("a")),
    Call("isna().sum()", lambda d: d.n.isna().sum(), lambda d: d.n.null_count().transpose()),
    Call("concat", lambda d: d.m.concat([d.n, d.n]), lambda d: pl.concat([d.n, d.n])),
]

FILTER = [
    Call("filter", lambda d: d.n[d.n.b > 0.5], lambda d: d.n.filter(COL("b") > 0.5)),
    Call(
        "filter + sum",
        lambda d: d.n[d.n.b > 0.5].a.sum(),
        lambda d: d.n.lazy().filter(COL("b") > 0.5).select(COL("a").sum()).collect(),
    ),
    Call(
        "query",
        lambda d: d.n.query("b > 0.5 and k < 5"),
        lambda d: d.n.filter((COL("b") > 0.5) & (COL("k") < 5)),
    ),
    Call("loc[mask, name]", lambda d: d.n.loc[d.n.b > 0.9, "a"]),
    Call("isin", lambda d: d.n.k.isin([1, 3, 5]), lambda d: d.n["k"].is_in([1, 3, 5])),
    Call("isin text", lambda d: d.x.s.isin(["Item 1 of 1", "Item 9 of 2"])),
    Call("between", lambda d: d.n.b.between(0.2, 0.4), lambda d: d.n["b"].is_between(0.2, 0.4)),
    Call("dropna", lambda d: d.n.dropna(), lambda d: d.n.drop_nulls()),
    Call(
        "np.where strings",
        lambda d: np.where(d.n.b > 0.5, "p", "n"),
        lambda d: d.n.select(pl.when(COL("b") > 0.5).then(pl.lit("p")).otherwise(pl.lit("n"))),
    ),
    Call(
        "np.where numbers",
        lambda d: np.where(d.n.b > 0.5, d.n.b, 0.0),
        lambda d: d.n.select(pl.when(COL("b") > 0.5).then(COL("b")).otherwise(0.0)),
    ),
    Call("where", lambda d: d.n.b.where(d.n.b > 0.5)),
]

COMPUTE = [
    Call("a + b * 2", lambda d: d.n.a + d.n.b * 2, lambda d: d.n.select(COL("a") + COL("b") * 2)),
    Call("np.log1p", lambda d: np.log1p(d.n.b), lambda d: d.n["b"].log1p()),
    Call(
        "assign",
        lambda d: d.n.assign(z=d.n.b * 2, y=d.n.i + 1),
        lambda d: d.n.with_columns(z=COL("b") * 2, y=COL("i") + 1),
    ),
    Call(
        "chain of 5",
        lambda d: ((d.n.b * 2 + 1).clip(0, 2) - 1).abs(),
        lambda d: d.n.select(((COL("b") * 2 + 1).clip(0, 2) - 1).abs()),
    ),
    Call("int to float", lambda d: d.n.i.astype("float64"), lambda d: d.n["i"].cast(pl.Float64)),
    Call("float to text", lambda d: d.n.b.astype(str), lambda d: d.n["b"].cast(pl.String)),
    Call("int to text", lambda d: d.n.i.astype(str), lambda d: d.n["i"].cast(pl.String)),
    Call("text to float", lambda d: d.m.to_numeric(d.x.f), lambda d: d.x["f"].cast(pl.Float64)),
    Call("round", lambda d: d.n.b.round(2), lambda d: d.n["b"].round(2)),
    Call("clip", lambda d: d.n.b.clip(0.2, 0.8), lambda d: d.n["b"].clip(0.2, 0.8)),
    Call("fillna", lambda d: d.n.a.fillna(0.0), lambda d: d.n["a"].fill_null(0.0)),
    Call("ffill", lambda d: d.n.a.ffill(), lambda d: d.n["a"].forward_fill()),
    Call("shift", lambda d: d.n.b.shift(1), lambda d: d.n["b"].shift(1)),
    Call("diff", lambda d: d.n.b.diff(), lambda d: d.n["b"].diff()),
    Call("cumsum", lambda d: d.n.b.cumsum(), lambda d: d.n["b"].cum_sum()),
    Call("rank", lambda d: d.n.b.rank(), lambda d: d.n["b"].rank()),
    Call(
        "map dict",
        lambda d: d.n.k.map({k: k * 0.5 for k in range(10)}),
        lambda d: d.n["k"].replace_strict({k: k * 0.5 for k in range(10)}, default=None),
    ),
    Call("apply lambda", lambda d: d.n.b.apply(lambda v: v * 2 + 1), most=OBJECTS),
    Call("map lambda if", lambda d: d.n.b.map(lambda v: 1 if v > 0.5 else 0), most=OBJECTS),
    Call("rolling mean", lambda d: d.n.b.rolling(20).mean(), lambda d: d.n["b"].rolling_mean(20)),
    Call("rolling max", lambda d: d.n.b.rolling(20).max(), lambda d: d.n["b"].rolling_max(20)),
]

REDUCE = [
    Call("sum", lambda d: d.n.a.sum(), lambda d: d.n["a"].sum()),
    Call("mean", lambda d: d.n.a.mean(), lambda d: d.n["a"].mean()),
    Call("std", lambda d: d.n.a.std(), lambda d: d.n["a"].std()),
    Call("max", lambda d: d.n.i.max(), lambda d: d.n["i"].max()),
    Call("idxmax", lambda d: d.n.b.idxmax(), lambda d: d.n["b"].arg_max()),
    Call("median", lambda d: d.n.b.median(), lambda d: d.n["b"].median()),
    Call(
        "quantile",
        lambda d: d.n.b.quantile([0.1, 0.9]),
        lambda d: d.n.select(
            pl.concat_list(COL("b").quantile(q, "linear") for q in (0.1, 0.9)).explode()
        ),
    ),
    Call("df.mean()", lambda d: d.n.mean(), lambda d: d.n.mean().transpose()),
    Call("describe", lambda d: d.n.describe(), lambda d: d.n.describe()[:-1], "length"),
    Call("corr", lambda d: d.n.corr(), lambda d: d.n.drop_nulls().corr(), "length"),
    Call(
        "corr without missing",
        lambda d: d.n[["b", "i", "k"]].corr(),
        lambda d: d.n[["b", "i", "k"]].corr(),
    ),
    Call("a.corr(b)", lambda d: d.n.a.corr(d.n.b)),
    Call("nunique", lambda d: d.n.k.nunique(), lambda d: d.n["k"].n_unique()),
    Call("unique", lambda d: np.sort(d.n.k.unique()), lambda d: d.n["k"].unique().sort()),
    Call(
        "value_counts",
        lambda d: d.n.k.value_counts(),
        lambda d: d.n["k"].value_counts(sort=True),
    ),
    Call(
        "value_counts text",
        lambda d: d.x.s.value_counts(),
        lambda d: d.x["s"].value_counts(sort=True),
    ),
    Call(
        "drop_duplicates",
        lambda d: d.n[["k"]].drop_duplicates(),
        lambda d: d.n[["k"]].unique(maintain_order=True),
    ),
    Call("duplicated", lambda d: d.n.k.duplicated(), lambda d: ~d.n["k"].is_first_distinct()),
    Call("sort_values", lambda d: d.n.sort_values("b"), lambda d: d.n.sort("b")),
    Call("sort by two", lambda d: d.n.sort_values(["k", "b"]), lambda d: d.n.sort("k", "b")),
    Call(
        "nlargest",
        lambda d: d.n.nlargest(10, "b"),
        lambda d: d.n.top_k(10, by="b").sort("b", descending=True),
    ),
]

GROUP = [
    Call(
        "group sum",
        lambda d: d.n.groupby("k").b.sum(),
        lambda d: d.n.group_by("k").agg(COL("b").sum()),
        "sorted",
    ),
    Call(
        "group agg",
        lambda d: d.n.groupby("k").agg(p=("b", "mean"), q=("i", "max"), r=("a", "std")),
        lambda d: d.n.group_by("k").agg(p=COL("b").mean(), q=COL("i").max(), r=COL("a").std()),
        "sorted",
    ),
    Call(
        "group median",
        lambda d: d.n.groupby("k").b.median(),
        lambda d: d.n.group_by("k").agg(COL("b").median()),
        "sorted",
    ),
    Call(
        "group by text",
        lambda d: d.x.groupby("s").size(),
        lambda d: d.x.group_by("s").len(),
        "sorted",
    ),
    Call(
        "group transform",
        lambda d: d.n.b - d.n.groupby("k").b.transform("mean"),
        lambda d: d.n.select(COL("b") - COL("b").mean().over("k")),
    ),
    Call(
        "group cumsum",
        lambda d: d.n.groupby("k").b.cumsum(),
        lambda d: d.n.select(COL("b").cum_sum().over("k")),
    ),
    Call(
        "group quantile",
        lambda d: d.n.groupby("k").b.quantile(0.9, interpolation="lower"),
        lambda d: d.n.group_by("k").agg(COL("b").quantile(0.9, "lower")),
        "sorted",
    ),
    Call("merge", lambda d: d.n.merge(d.o, on="k"), lambda d: d.n.join(d.o, on="k")),
    Call(
        "merge left",
        lambda d: d.n.merge(d.o, left_on="i", right_on="k", how="left").w,
        lambda d: d.n.join(d.o, left_on="i", right_on="k", how="left")["w"],
    ),
    Call("cut", lambda d: d.m.cut(d.n.b, [0, 0.2, 0.5, 1], labels=["l", "m", "h"])),
    Call("qcut", lambda d: d.m.qcut(d.n.b, 4, labels=["a", "b", "c", "d"])),
    Call(
        "pivot_table",
        lambda d: d.n.assign(c=d.n.i % 4).pivot_table("b", "k", "c", aggfunc="sum"),
        lambda d: d.n.with_columns(c=COL("i") % 4).pivot(
            "c", index="k", values="b", aggregate_function="sum", sort_columns=True
        ),
        "sorted",
    ),
    Call(
        "melt",
        lambda d: d.n.melt("k", ["a", "b"]),
        lambda d: d.n.unpivot(["a", "b"], index="k"),
    ),
]

TEXT = [
    Call("str.upper", lambda d: d.x.s.str.upper(), lambda d: d.x["s"].str.to_uppercase()),
    Call("str.len", lambda d: d.x.s.str.len(), lambda d: d.x["s"].str.len_chars()),
    Call(
        "str.contains",
        lambda d: d.x.s.str.contains("9 of"),
        lambda d: d.x["s"].str.contains("9 of"),
    ),
    Call("str.replace", lambda d: d.x.s.str.replace("Item", "It", regex=False)),
    Call(
        "str.replace regex",
        lambda d: d.x.s.str.replace(r"\d+", "#", regex=True),
        lambda d: d.x["s"].str.replace_all(r"\d+", "#"),
    ),
    Call("str.slice", lambda d: d.x.s.str[:6], lambda d: d.x["s"].str.slice(0, 6)),
    Call("str.split", lambda d: d.x.s.str.split(" ", expand=True)),
    Call("text == text", lambda d: d.x.s == "Item 1 of 1", lambda d: d.x["s"] == "Item 1 of 1"),
    Call("text + text", lambda d: d.x.s + "-" + d.x.f, lambda d: d.x["s"] + "-" + d.x["f"]),
    Call(
        "to_datetime",
        lambda d: d.m.to_datetime(d.x.d),
        lambda d: d.x["d"].str.to_datetime("%Y-%m-%d %H:%M:%S"),
    ),
    Call(
        "to_datetime format",
        lambda d: d.m.to_datetime(d.x.e, format="%d/%m/%Y"),
        lambda d: d.x["e"].str.to_datetime("%d/%m/%Y"),
    ),
    Call("dt.year", lambda d: d.x.t.dt.year, lambda d: d.x["t"].dt.year()),
    Call("dt.floor", lambda d: d.x.t.dt.floor("h"), lambda d: d.x["t"].dt.truncate("1h")),
    Call(
        "dt.strftime",
        lambda d: d.x.t.dt.strftime("%Y-%m"),
        lambda d: d.x["t"].dt.strftime("%Y-%m"),
    ),
]

LEAVE = [
    Call("to_numpy", lambda d: d.n.b.to_numpy(), lambda d: d.n["b"].to_numpy()),
    Call(
        "to_numpy two",
        lambda d: d.n[["b", "i"]].to_numpy(),
        lambda d: d.n[["b", "i"]].to_numpy(),
        numpy=lambda d: np.column_stack([d.arrays["b"], d.arrays["i"]]),
    ),
    Call("to_list", lambda d: d.n.b.to_list(), lambda d: d.n["b"].to_list()),
    Call(
        "to_dict",
        lambda d: d.n[["b", "i"]].to_dict(orient="list"),
        lambda d: d.n[["b", "i"]].to_dict(as_series=False),
        most=OBJECTS,
    ),
    Call(
        "itertuples",
        lambda d: [tuple(row) for row in d.n[["b", "i"]].itertuples(index=False)],
        lambda d: list(d.n[["b", "i"]].iter_rows()),
        most=OBJECTS,
    ),
]

CALLS = [*CONSTRUCT, *LOOK, *FILTER, *COMPUTE, *REDUCE, *GROUP, *TEXT, *LEAVE]

#: Calls on a frame of 100 x 10,000, each below 50 ms until something reads the result.
WIDE_CALLS: dict[str, Callable[[Any], Any]] = {
    "df[name]": lambda d: d["c77"],
    "df[[names]]": lambda d: d[["c1", "c9999"]],
    "head()": lambda d: d.head(),
    "filter": lambda d: d[d["c5"] > 0],
    "iloc[5]": lambda d: list(d.iloc[5]),
    "at[5, name]": lambda d: d.at[5, "c7"],
    "sort_values": lambda d: d.sort_values("c3"),
    "mean()": lambda d: d.mean(),
    "isna().sum()": lambda d: d.isna().sum(),
    "fillna(0)": lambda d: d.fillna(0),
    "(df - mean) / std": lambda d: (d - d.mean()) / d.std(),
    "df * 2": lambda d: d * 2,
    "assign": lambda d: d.assign(z=d["c1"] + 1),
    "drop": lambda d: d.drop(columns=["c4"]),
    "rename": lambda d: d.rename(columns={"c4": "z"}),
    "astype": lambda d: d.astype("float32"),
    "groupby sum": lambda d: d.groupby("c0").sum(),
    "to_numpy()": lambda d: d.to_numpy(),
    "sum(axis=1)": lambda d: d.sum(axis=1),
    "repr": repr,
    "copy": lambda d: d.copy(),
    "describe": lambda d: d[[f"c{i}" for i in range(500)]].describe(),
}


# ---- the run -------------------------------------------------------------------------------------
def step(bench: Bench, call: Call, data: dict[str, Any], rows: int) -> None:
    """Compare and time one call at one size."""
    slowest = SLOWEST_SMALL if rows < OBJECTS else SLOWEST
    ours, pandas, polars = (data[name] for name in (OURS, "pandas", "polars"))
    same = same_by(call.same)
    rivals = [Rival("pandas", lambda: call.work(pandas), 1 / slowest)]
    if call.polars:
        works = call.polars
        constructs = call in CONSTRUCT[:4]
        rivals.append(Rival("polars", lambda: works(polars), 1.0 if constructs else None))
    if stacked := call.numpy:
        rivals[0] = Rival("numpy", lambda: stacked(pandas), 1 / slowest)
    try:
        bench.step(f"{call.name}, {rows:,}", lambda: done(call.work(ours)), rivals, same, rows=rows)
    except (hr.Error, AttributeError, TypeError) as error:
        bench.wrong.append(f"{call.name}, {rows:,}: {type(error).__name__}: {str(error)[:150]}")


def wide(bench: Bench, wanted: Callable[[str], bool]) -> None:
    """Calls on a frame of many columns, where planning is what costs."""
    if not any(wanted(f"wide {name}") for name in WIDE_CALLS):
        return
    values = np.random.default_rng(5).normal(size=(100, WIDE))
    values[:, 0] = np.arange(100) % 10
    frame = hr.DataFrame(values, columns=[f"c{i}" for i in range(WIDE)])
    hr.eval(frame)
    for name, work in WIDE_CALLS.items():
        if wanted(f"wide {name}"):
            done(work(frame))
            for step, most, call in (
                (f"wide {name}", WIDE_MS, lambda: work(frame)),
                (f"wide {name}, evaluated", None, lambda: done(work(frame))),
            ):
                seconds = sorted(time_of(call, 1)[0] for _ in range(3))[1]
                bench.value(step, OURS, 1e3 * seconds, "ms", most)


def summary(bench: Bench) -> None:
    """Geometric means by size and rival, and the calls that are behind, slowest first."""
    steps = [row for row in bench.rows if row["kind"] == "step" and row["engine"] != OURS]
    for rows in sorted({row["rows"] for row in steps}):
        for rival in ("pandas", "polars"):
            found = [row for row in steps if row["rows"] == rows and row["engine"] == rival]
            if not found:
                continue
            mean = math.exp(sum(math.log(row["ratio"]) for row in found) / len(found))
            least = FASTER[rival] if rows >= OBJECTS else None
            step = f"mean of {len(found)} calls, {rows:,}"
            bench.value(step, rival, mean, "x", least=least)
            behind = sorted((row for row in found if row["ratio"] < 1), key=lambda r: r["ratio"])
            names = (f"{row['step'].rpartition(', ')[0]} {1 / row['ratio']:.1f}" for row in behind)
            print(f"  slower than {rival}: {'; '.join(names) or 'none'}", flush=True)


def main() -> int:
    """Run the sizes and calls that are asked for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", default=",".join(map(str, SIZES)), help="sizes, with commas")
    parser.add_argument("--only", default="", help="calls whose names hold one of these, by commas")
    parser.add_argument("--runs", type=int, default=5, help="timed runs of each engine")
    parser.add_argument("--output", type=Path, help="JSON lines (default: bench/results)")
    options = parser.parse_args()
    sizes = [int(float(size)) for size in options.rows.split(",")]
    if options.output is None and tuple(sizes) == SIZES and not options.only:
        options.output = ROOT / "bench/results/everyday-cpu.jsonl"
    words = options.only.split(",")
    hr.threads(WORKERS)
    pa.set_cpu_count(WORKERS)
    bench = Bench("everyday", PACKAGES, options.runs, options.output)
    print(HEADER, flush=True)
    for rows in sizes:
        bench.runs = options.runs if rows <= OBJECTS else min(options.runs, 3)
        made = Data(rows)
        data = {name: made.of(name) for name in (OURS, "pandas", "polars")}
        for call in CALLS:
            if rows <= call.most and any(word in call.name for word in words):
                step(bench, call, data, rows)
    wide(bench, lambda name: any(word in name for word in words))
    summary(bench)
    return bench.close()


if __name__ == "__main__":
    sys.exit(main())
