# SPDX-License-Identifier: Apache-2.0
"""Relational work on frames vs. Polars, DuckDB and pandas: ./dev bench frames [--rows N]."""

from __future__ import annotations

import statistics
import subprocess
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
from measure import OURS, WORKERS, Bench, Rival, close_to, run

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
    """A key and a float column, one chunk each."""
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
        """Return the function of a query."""
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
    """Keys equal row by row; values of equal keys may differ in order."""
    a, b = columns(ours), columns(theirs)
    np.testing.assert_array_equal(a["k"], b["k"])
    equal = np.array_equal(a["v"], b["v"])
    if not equal:
        first = np.concatenate([[0], np.flatnonzero(a["k"][1:] != a["k"][:-1]) + 1])
        np.testing.assert_allclose(
            np.add.reduceat(a["v"], first), np.add.reduceat(b["v"], first), rtol=1e-9
        )
    return "equal" if equal else "equal keys and sums of values"


# ---- the steps -----------------------------------------------------------------------------------
def evaluated(frame: hr.DataFrame) -> hr.DataFrame:
    """Run all of a frame."""
    hr.eval(frame)
    return frame


def sorts(bench: Bench, rows: int) -> None:
    """Sort a key with a float column."""
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


def sort_large(bench: Bench, rows: int) -> None:
    """Sort five times as many rows: of the usual ones, 1e8 of two columns."""
    step = "sort large by i64"
    if not bench.wants(step):
        return
    table = table_of("i64", 5 * rows)
    ours, polars, duck = hr.from_arrow(table), pl.from_arrow(table), Duck(table)
    hr.eval(ours)
    bench.step(
        step,
        lambda: evaluated(ours.sort_values("k")),
        [
            Rival("polars", lambda: polars.sort("k"), BAR),
            Rival(
                "polars streaming",
                lambda: polars.lazy().sort("k").collect(engine="streaming"),
                BAR,
            ),
            Rival("duckdb", duck("SELECT * FROM t ORDER BY k"), BAR),
        ],
        same_order,
        table.nbytes * 2,
        5 * rows,
    )


def same_values(ours: Any, theirs: Any) -> str:
    """Equal columns `k` once sorted."""
    a, b = (np.sort(columns(each)["k"]) for each in (ours, theirs))
    np.testing.assert_array_equal(a, b)
    return f"{len(a):,} values, equal"


def same_number(ours: Any, theirs: Any) -> str:
    """Equal numbers, but for the order of a sum."""
    np.testing.assert_allclose(ours, theirs, rtol=1e-12)
    return f"{ours:,.10g}"


def distinct(bench: Bench, rows: int) -> None:
    """Take the distinct ones of few, many and mostly different integers."""
    for share in (rows // 10, rows):
        step = f"distinct of {share:,} values"
        if not bench.wants(step):
            continue
        values = np.random.default_rng(23).integers(0, share, rows)
        table = pa.table({"k": values})
        ours, polars, duck = hr.from_arrow(table), pl.from_arrow(table), Duck(table)
        hr.eval(ours)
        bench.step(
            step,
            lambda ours=ours: evaluated(ours.drop_duplicates()),
            [
                Rival("polars", lambda polars=polars: polars.unique(), BAR),
                Rival(
                    "polars streaming",
                    lambda polars=polars: polars.lazy().unique().collect(engine="streaming"),
                    BAR,
                ),
                Rival("duckdb", duck("SELECT DISTINCT k FROM t"), BAR),
                Rival("pandas", lambda values=values: pd.DataFrame({"k": pd.unique(values)})),
            ],
            same_values,
            8 * rows,
            rows,
        )


def totals(bench: Bench, rows: int) -> None:
    """Sum a column where another is large, and take medians by 100 keys, of 1.5 times the rows."""
    rows = rows * 3 // 2
    random = np.random.default_rng(29)
    data = {"a": random.standard_normal(rows), "b": random.random(rows)}
    data["k"] = random.integers(0, 100, rows)
    ours, polars = hr.DataFrame(data), pl.DataFrame(data)
    hr.eval(ours)
    total = polars.lazy().filter(pl.col("b") > 0.5).select(pl.col("a").sum())
    if bench.wants("filter + sum"):
        bench.step(
            "filter + sum",
            lambda: float(ours[ours.b > 0.5].a.sum()),
            [
                Rival("polars", lambda: total.collect().item()),
                Rival("polars streaming", lambda: total.collect(engine="streaming").item(), 1),
            ],
            close_to(1e-9),
            16 * rows,
            rows,
        )
    if bench.wants("median by group"):
        medians = polars.lazy().group_by("k").agg(pl.col("a").median())
        bench.step(
            "median by group",
            lambda: evaluated(ours.groupby("k", as_index=False).a.median()),
            [
                Rival(name, lambda engine=engine: medians.collect(engine=engine).sort("k"), 1.3)
                for name, engine in (("polars", "in-memory"), ("polars streaming", "streaming"))
            ],
            lambda a, b: close_to(1e-12)(columns(a)["a"], columns(b)["a"]),
            16 * rows,
            rows,
        )


def one_column(bench: Bench, rows: int) -> None:
    """Substring search, and the mean of a column, which is limited by memory bandwidth."""
    step = "string contains"
    if bench.wants(step):
        table = table_of("strings", rows // 2)
        ours, polars, duck = hr.from_arrow(table), pl.from_arrow(table), Duck(table)
        hr.eval(ours)
        text = polars.to_pandas().k
        bench.step(
            step,
            lambda: ours.k.str.contains("421", regex=False).sum().item(),
            [
                Rival("polars", lambda: polars["k"].str.contains("421", literal=True).sum(), BAR),
                Rival(
                    "duckdb",
                    lambda: duck("SELECT count(*) c FROM t WHERE contains(k, '421')")()[0][
                        0
                    ].as_py(),
                    BAR,
                ),
                Rival("pandas", lambda: int(text.str.contains("421", regex=False).sum())),
            ],
            same_number,
            16 * (rows // 2),
            rows // 2,
        )
    step = "mean"
    if bench.wants(step):
        table = table_of("sorted", 5 * rows)
        ours, polars, duck = hr.from_arrow(table), pl.from_arrow(table), Duck(table)
        hr.eval(ours)
        values = polars["v"].to_numpy()
        bench.step(
            step,
            lambda: ours.v.mean().item(),
            [
                Rival("polars", lambda: polars["v"].mean(), 1.0),
                Rival("duckdb", lambda: duck("SELECT avg(v) a FROM t")()[0][0].as_py(), 1.0),
                Rival("numpy", lambda: values.mean(), 1.0),
            ],
            same_number,
            8 * 5 * rows,
            5 * rows,
        )


def optimiser(bench: Bench, rows: int) -> None:
    """Compute features and drop them again: they are not computed, and cost no time."""
    step = "features that are dropped"
    if not bench.wants(step):
        return
    table = table_of("100 distinct", rows)
    ours = hr.from_arrow(table)
    hr.eval(ours)

    def chain(features: int) -> hr.DataFrame:
        frame = ours
        for k in range(features):
            frame = frame.assign(**{f"f{k}": np.log1p(frame.v * k) + np.sin(frame.v)})
            frame[f"g{k}"] = frame[f"f{k}"].cumsum()
        frame = frame[frame.v > 0.25]
        frame = frame.drop(columns=[f"{c}{k}" for c in "fg" for k in range(features)])
        return frame.groupby("k").agg(v=("v", "sum"))

    text = chain(10).explain()
    bench.check(f"{step}, gone", lambda: told_gone(text))
    bench.step(
        step,
        lambda: evaluated(chain(10)),
        [Rival("without them", lambda: evaluated(chain(0)), 1 / 1.05)],
        same_order,
        16 * rows,
        rows,
    )


def told_gone(text: str) -> str:
    """Raise AssertionError if a plan contains a feature."""
    assert "log1p" not in text and "sin" not in text and "cum" not in text, text
    return text.splitlines()[0]


FIRST = """
import headrace as hr, time
begin = time.perf_counter()
frame = hr.DataFrame({"k": list(range(10)) * 100, "v": [0.5] * 1000})
assert len(frame[frame.v > 0].groupby("k").v.sum().to_list()) == 10
print((time.perf_counter() - begin) * 1e3)
"""


def first_operation(bench: Bench) -> None:
    """Time the first filter and group-by of a process, 1,000 rows, after the import."""
    step = "first operation"
    if not bench.wants(step):
        return
    times = [
        float(subprocess.run([sys.executable, "-c", FIRST], check=True, capture_output=True).stdout)
        for _ in range(max(bench.runs, 5))
    ]
    bench.value(step, OURS, statistics.median(times), "ms", most=20)


WINDOW = 100


def same_means(ours: Any, theirs: Any) -> str:
    """Means up to their rounding, and null in the same rows."""
    a, b = columns(ours)["v"], columns(theirs)["v"]
    np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-9)
    return "equal up to rounding"


def rolling(bench: Bench, rows: int) -> None:
    """Means of the last rows, of all rows and within groups of a key."""
    table = pa.table(
        {
            "k": np.random.default_rng(23).integers(0, 1000, rows),
            "v": np.random.default_rng(24).standard_normal(rows),
            "r": np.arange(rows),
        }
    )
    ours, polars = hr.from_arrow(table), pl.from_arrow(table)
    hr.eval(ours)
    over = f"ROWS BETWEEN {WINDOW - 1} PRECEDING AND CURRENT ROW"
    enough = f"CASE WHEN count(*) OVER w >= {WINDOW} THEN avg(v) OVER w END AS v"
    step = f"rolling mean of {WINDOW}"
    if bench.wants(step):
        duck, pandas = Duck(table), polars.to_pandas()
        bench.step(
            step,
            lambda: evaluated(ours.v.rolling(WINDOW).mean().to_frame("v")),
            [
                Rival("polars", lambda: polars.select(pl.col("v").rolling_mean(WINDOW)), BAR),
                Rival(
                    "duckdb", duck(f"SELECT {enough} FROM t WINDOW w AS (ORDER BY r {over})"), BAR
                ),
                Rival("pandas", lambda: pandas.v.rolling(WINDOW).mean().to_frame("v")),
            ],
            same_means,
            16 * rows,
            rows,
        )
    step = f"rolling mean of {WINDOW} in groups"
    if bench.wants(step):
        means = pl.col("v").rolling_mean(WINDOW).over("k")
        window = f"WINDOW w AS (PARTITION BY k ORDER BY r {over})"
        duck = Duck(table)

        def in_row_order() -> Any:
            made = ours.groupby("k").v.rolling(WINDOW).mean()
            return evaluated(made.reset_index(level=0, drop=True).sort_index().to_frame("v"))

        bench.step(
            step,
            in_row_order,
            [
                Rival("polars", lambda: polars.select(means), BAR),
                Rival(
                    "duckdb",
                    duck(f"SELECT v FROM (SELECT r, {enough} FROM t {window}) ORDER BY r"),
                    BAR,
                ),
            ],
            same_means,
            24 * rows,
            rows,
        )


def records(bench: Bench, rows: int) -> None:
    """Split NumPy records of three numbers into columns, compared with a copy of as many bytes."""
    step = "records to columns"
    if not bench.wants(step):
        return
    table = np.zeros(rows, dtype=[("x", "f8"), ("y", "f8"), ("z", "f8")])
    random = np.random.default_rng(31)
    for name in table.dtype.names or ():
        table[name] = random.standard_normal(rows)
    target = np.empty_like(table)

    def same(ours: Any, theirs: Any) -> str:
        for name in table.dtype.names or ():
            np.testing.assert_array_equal(ours[name].to_numpy(), theirs[name])
        return "equal"

    def copied() -> Any:
        target[:] = table
        return target

    bench.step(
        step,
        lambda: evaluated(hr.DataFrame(table)),
        [
            Rival("numpy copy, one core", copied, 0.6),
            Rival("pandas", lambda: pd.DataFrame(table), 1),
        ],
        same,
        2 * table.nbytes,
        rows,
    )


def steps(bench: Bench, rows: int) -> None:
    """Measure each operator."""
    sorts(bench, rows)
    sort_large(bench, rows)
    first_rows(bench, rows)
    distinct(bench, rows)
    totals(bench, rows)
    one_column(bench, rows)
    optimiser(bench, rows)
    first_operation(bench)
    rolling(bench, rows)
    records(bench, rows)


if __name__ == "__main__":
    sys.exit(run("frames", __doc__, PACKAGES, steps))
