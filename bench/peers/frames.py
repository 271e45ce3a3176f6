# SPDX-License-Identifier: Apache-2.0
"""Relational work on frames beside Polars, DuckDB and pandas: ./dev bench frames [--rows N]."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.pop(0)  # this folder: csv.py here is not Python's
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
from measure import WORKERS, Bench, Rival, run

import headrace as hr

PACKAGES = ["numpy", "pandas", "polars", "duckdb", "pyarrow"]
BAR = 1.5
TOP = 100


# ---- the data ------------------------------------------------------------------------------------
def keys_of(shape: str, rows: int) -> pl.Series:
    """The column to sort by."""
    random = np.random.default_rng(21)
    if shape == "i64":
        return pl.Series(random.integers(-(1 << 63), 1 << 63, rows))
    if shape == "f64":
        return pl.Series(random.standard_normal(rows))
    if shape == "100 distinct":
        return pl.Series(random.integers(0, 100, rows))
    if shape == "sorted":
        return pl.Series(np.arange(rows))
    if shape == "reversed":
        return pl.Series(np.arange(rows)[::-1])
    return pl.Series(random.integers(0, 1 << 40, rows)).cast(pl.String)


def table_of(shape: str, rows: int) -> pa.Table:
    """A key and a float beside it, one chunk each."""
    values = np.random.default_rng(22).random(rows)
    frame = pl.DataFrame({"k": keys_of(shape, rows), "v": values}).rechunk()
    return frame.to_arrow(compat_level=pl.CompatLevel.newest())


class Duck:
    """DuckDB with the data in a table of its own; results come as Arrow."""

    def __init__(self, table: pa.Table) -> None:
        self.base = duckdb.connect(":memory:", config={"threads": WORKERS})
        self.base.register("arrow", table)
        self.base.execute("CREATE TABLE t AS SELECT * FROM arrow")
        self.base.unregister("arrow")

    def __call__(self, query: str) -> Callable[[], pa.Table]:
        """Return the work of a query."""
        return lambda: self.base.sql(query).to_arrow_table()


# ---- answers -------------------------------------------------------------------------------------
def columns(answer: Any) -> dict[str, Any]:
    """Turn a frame of any engine into NumPy columns."""
    if isinstance(answer, hr.DataFrame):
        answer = answer.to_arrow()
    if isinstance(answer, pl.DataFrame):
        return {name: answer[name].to_numpy() for name in answer.columns}
    if isinstance(answer, pd.DataFrame):
        return {name: answer[name].to_numpy() for name in answer.columns}
    return {name: pl.Series(answer[name]).to_numpy() for name in answer.column_names}


def same_order(ours: Any, theirs: Any) -> str:
    """Keys equal place by place; what stands beside equal keys may differ in order for them."""
    a, b = columns(ours), columns(theirs)
    np.testing.assert_array_equal(a["k"], b["k"])
    equal = np.array_equal(a["v"], b["v"])
    if not equal:
        first = np.concatenate([[0], np.flatnonzero(a["k"][1:] != a["k"][:-1]) + 1])
        np.testing.assert_allclose(
            np.add.reduceat(a["v"], first), np.add.reduceat(b["v"], first), rtol=1e-9
        )
    return "equal" if equal else "equal keys and sums beside them"


# ---- the steps -----------------------------------------------------------------------------------
def evaluated(frame: hr.DataFrame) -> hr.DataFrame:
    """Run all of a frame."""
    hr.eval(frame)
    return frame


def sorts(bench: Bench, rows: int) -> None:
    """Sort a key with a float beside it."""
    for shape in ("i64", "f64", "100 distinct", "strings", "sorted", "reversed"):
        step = f"sort by {shape}"
        if not bench.wants(step):
            continue
        count = rows if shape != "strings" else rows // 2
        table = table_of(shape, count)
        ours, polars, duck = hr.from_arrow(table), pl.from_arrow(table), Duck(table)
        hr.eval(ours)
        pandas = polars.to_pandas()
        bench.step(
            step,
            lambda ours=ours: evaluated(ours.sort_values("k")),
            [
                Rival("polars", lambda polars=polars: polars.sort("k"), BAR),
                Rival(
                    "polars streaming",
                    lambda polars=polars: polars.lazy().sort("k").collect(engine="streaming"),
                    BAR,
                ),
                Rival("duckdb", duck("SELECT * FROM t ORDER BY k"), BAR),
                Rival("pandas", lambda pandas=pandas: pandas.sort_values("k", ignore_index=True)),
            ],
            same_order,
            table.nbytes * 2,
            count,
        )


def first_rows(bench: Bench, rows: int) -> None:
    """Take the rows of the greatest keys."""
    for shape in ("i64", "f64"):
        step = f"top {TOP} by {shape}"
        if not bench.wants(step):
            continue
        table = table_of(shape, rows)
        ours, polars, duck = hr.from_arrow(table), pl.from_arrow(table), Duck(table)
        hr.eval(ours)
        pandas = polars.to_pandas()
        bench.step(
            step,
            lambda ours=ours: evaluated(ours.nlargest(TOP, "k")),
            [
                Rival(
                    "polars",
                    lambda polars=polars: polars.top_k(TOP, by="k").sort("k", descending=True),
                    BAR,
                ),
                Rival("duckdb", duck(f"SELECT * FROM t ORDER BY k DESC LIMIT {TOP}"), BAR),
                Rival("pandas", lambda pandas=pandas: pandas.nlargest(TOP, "k")),
            ],
            same_order,
            8 * rows,
            rows,
        )


def steps(bench: Bench, rows: int) -> None:
    """Measure each operator."""
    sorts(bench, rows)
    first_rows(bench, rows)


if __name__ == "__main__":
    sys.exit(run("frames", __doc__, PACKAGES, steps))
