# SPDX-License-Identifier: Apache-2.0
"""Joins: db-benchmark's five questions, and a merge of as many keys as rows: ./dev bench joins."""

from __future__ import annotations

import math
import os
import statistics
import sys
from pathlib import Path
from typing import Any

sys.path.pop(0)  # this folder: csv.py here is not Python's
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
os.environ.setdefault("POLARS_MAX_THREADS", os.environ.get("HEADRACE_BENCH_THREADS", "2"))

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
from measure import OURS, WORKERS, Bench, Rival, run

import headrace as hr

PACKAGES = ["numpy", "duckdb", "pandas", "polars", "pyarrow"]
#: How many times faster than the better of Polars and DuckDB: each question, the geometric mean.
LEAST, MEAN = 0.9, 1.5
MERGE, MERGE_PANDAS = 2, 5
#: Question: the right table, the key, how.
QUESTIONS = {
    "q1": ("small", "id1", "inner"),
    "q2": ("medium", "id2", "inner"),
    "q3": ("medium", "id2", "left"),
    "q4": ("medium", "id5", "inner"),
    "q5": ("big", "id3", "inner"),
}


# ---- the data ------------------------------------------------------------------------------------
def sides(random: np.random.Generator, count: int) -> tuple[Any, Any]:
    """Keys of the left and of the right table: nine tenths are in both."""
    keys = random.permutation(np.arange(1, math.ceil(1.1 * count) + 1, dtype=np.int32))
    own = len(keys) - count
    return keys[:count], np.concatenate([keys[: count - own], keys[count:]])


def drawn(random: np.random.Generator, keys: Any, rows: int) -> Any:
    """Each key at least once, if there are enough rows, in random order."""
    more = random.choice(keys, max(rows - len(keys), 0))
    return random.permutation(np.concatenate([keys, more]))[:rows]


def tables(rows: int) -> dict[str, pa.Table]:
    """Make db-benchmark's J1 tables: keys of three sizes, as numbers and as strings."""
    random = np.random.default_rng(108)
    sizes = {"small": max(rows // 1_000_000, 10), "medium": max(rows // 1000, 10), "big": rows}
    keys = [sides(random, count) for count in sizes.values()]

    def table(side: int, count: int, used: int, value: str, prefix: str) -> pa.Table:
        made: dict[str, Any] = {}
        for k in range(used):
            made[f"{prefix}{k + 1}"] = drawn(random, keys[k][side], count)
        for k in range(used):
            words = pl.Series(made[f"{prefix}{k + 1}"]).cast(pl.String)
            made[f"{prefix}{k + 4}"] = "id" + words
        made[value] = np.round(random.uniform(0, 100, count), 6)
        frame = pl.DataFrame(made).rechunk()
        return frame.to_arrow(compat_level=pl.CompatLevel.newest())

    made = {"x": table(0, rows, 3, "v1", "id")}
    for used, (name, count) in enumerate(sizes.items(), start=1):
        made[name] = table(1, count, used, "v2", "r")
    return made


# ---- answers -------------------------------------------------------------------------------------
def as_polars(answer: Any) -> Any:
    """An answer of any engine."""
    if isinstance(answer, hr.DataFrame):
        answer = answer.to_arrow()
    if isinstance(answer, pd.DataFrame):
        return pl.from_pandas(answer)
    return pl.from_arrow(answer) if isinstance(answer, pa.Table) else answer


def same(a: Any, b: Any) -> str:
    """Compare as sets of rows, by the sum of the hashes of all rows; joins compute no value."""
    a, b = as_polars(a), as_polars(b)
    names = sorted(a.columns)
    assert names == sorted(b.columns), f"columns {a.columns} and {b.columns}"
    assert len(a) == len(b), f"rows {len(a)} and {len(b)}"
    # pandas converts integers with missing values to floats with NaN.
    plain = [
        (pl.col(n).cast(pl.Float64).fill_nan(None) if a[n].dtype.is_numeric() else n) for n in names
    ]
    sums = [each.select(plain).hash_rows().to_numpy().sum() for each in (a, b)]
    assert sums[0] == sums[1], "the rows differ"
    return f"equal ({len(a):,} rows)"


# ---- the steps -----------------------------------------------------------------------------------
def evaluated(frame: hr.DataFrame) -> hr.DataFrame:
    """Run all columns."""
    hr.eval(*[frame[name] for name in frame.columns])
    return frame


class Engines:
    """The same two tables in every engine, each with its own merge."""

    def __init__(self, left: pa.Table, right: pa.Table) -> None:
        self.frames = tuple(evaluated(hr.DataFrame(table)) for table in (left, right))
        self.polars: Any = tuple(pl.from_arrow(table) for table in (left, right))
        self.pandas = tuple(table.to_pandas() for table in (left, right))
        self.duckdb = duckdb.connect(config={"threads": WORKERS, "preserve_insertion_order": False})
        for name, table in (("x", left), ("y", right)):
            self.duckdb.register("given", table)
            self.duckdb.execute(f"create table {name} as from given")
            self.duckdb.unregister("given")

    def step(
        self, bench: Bench, step: str, key: str, how: str, least: float, pandas: float | None
    ) -> float:
        """Run one merge on all of them; the ratio to the better of Polars and DuckDB."""
        (a, b), (pa_left, pa_right), (c, d) = self.frames, self.polars, self.pandas
        text = f"select * from x {how} join y using ({key})"
        lazy = pa_left.lazy().join(pa_right.lazy(), on=key, how=how)
        rivals = [
            Rival("polars lazy", lambda: lazy.collect(), least),
            Rival("polars streaming", lambda: lazy.collect(engine="streaming"), least),
            Rival("polars eager", lambda: pa_left.join(pa_right, on=key, how=how), least),
            Rival("duckdb", lambda: self.duckdb.sql(text).to_arrow_table(), least),
            Rival("pandas", lambda: c.merge(d, on=key, how=how), pandas),
        ]
        rows = len(pa_left)
        bench.step(step, lambda: evaluated(a.merge(b, on=key, how=how)), rivals, same, rows=rows)
        return min(
            float(row["ratio"])
            for row in bench.rows
            if row["step"] == step and row["engine"] not in (OURS, "pandas")
        )


def questions(bench: Bench, rows: int) -> None:
    """Run db-benchmark's five."""
    wanted = [q for q in QUESTIONS if bench.wants(q)]
    data = tables(rows) if wanted else {}
    ratios = []
    for q in wanted:
        right, key, how = QUESTIONS[q]
        y = data[right].rename_columns(
            [key if name == f"r{key[2:]}" else name for name in data[right].column_names]
        )
        ratios.append(Engines(data["x"], y).step(bench, q, key, how, LEAST, None))
    if ratios:
        mean = math.exp(statistics.fmean(math.log(ratio) for ratio in ratios))
        whole = len(wanted) == len(QUESTIONS)
        bench.value("geometric mean", OURS, mean, "x", least=MEAN if whole else None)


def merge(bench: Bench, rows: int) -> None:
    """Merge tables of as many keys as rows."""
    step = "merge by many keys"
    if not bench.wants(step):
        return
    random = np.random.default_rng(5)
    left, right = (
        pa.table({"k": random.permutation(rows), name: random.random(rows)}) for name in "xy"
    )
    Engines(left, right).step(bench, step, "k", "inner", MERGE, MERGE_PANDAS)


def steps(bench: Bench, rows: int) -> None:
    """Run on half the rows of the other tasks: db-benchmark's 1e7."""
    questions(bench, rows // 2)
    merge(bench, rows // 2)


if __name__ == "__main__":
    sys.exit(run("joins", __doc__, PACKAGES, steps))
