# SPDX-License-Identifier: Apache-2.0
"""Group-by: db-benchmark's ten questions, and a mean by ten million keys: ./dev bench groups."""

from __future__ import annotations

import math
import os
import statistics
import sys
from collections.abc import Callable
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
GROUPS = 100  # db-benchmark's k
#: How many times faster than the better of Polars and DuckDB: each question, the geometric mean.
LEAST, MEAN = 0.9, 1.5
ALL = ["id1", "id2", "id3", "id4", "id5", "id6"]
#: Question: keys, and named aggregates (column, aggregate); all engines get these words.
QUESTIONS: dict[str, tuple[list[str], dict[str, tuple[str, str]]]] = {
    "q1": (["id1"], {"v1": ("v1", "sum")}),
    "q2": (["id1", "id2"], {"v1": ("v1", "sum")}),
    "q3": (["id3"], {"v1": ("v1", "sum"), "v3": ("v3", "mean")}),
    "q4": (["id4"], {"v1": ("v1", "mean"), "v2": ("v2", "mean"), "v3": ("v3", "mean")}),
    "q5": (["id6"], {"v1": ("v1", "sum"), "v2": ("v2", "sum"), "v3": ("v3", "sum")}),
    "q6": (["id4", "id5"], {"median": ("v3", "median"), "std": ("v3", "std")}),
    "q7": (["id3"], {"range": ("v1", "max-min v2")}),
    "q8": (["id6"], {"v3": ("v3", "largest two")}),
    "q9": (["id2", "id4"], {"r2": ("v1", "corr v2 squared")}),
    "q10": (ALL, {"v3": ("v3", "sum"), "n": ("v1", "count")}),
}


# ---- the data --------------------------------------------------------------------------------
def table(rows: int, categories: bool) -> pa.Table:
    """Make db-benchmark's G1 table: three keys of strings, three of integers, three values."""
    random = np.random.default_rng(108)
    many = max(rows // GROUPS, 1)

    def words(count: int, digits: int) -> Any:
        numbers = random.integers(1, count + 1, rows)
        names, codes = np.unique(numbers, return_inverse=True)
        values = pa.array([f"id{number:0{digits}d}" for number in names])
        made = pa.DictionaryArray.from_arrays(pa.array(codes.astype(np.int32)), values)
        return made if categories else made.cast(pa.string())

    return pa.table(
        {
            "id1": words(GROUPS, 3),
            "id2": words(GROUPS, 3),
            "id3": words(many, 10),
            "id4": random.integers(1, GROUPS + 1, rows).astype(np.int32),
            "id5": random.integers(1, GROUPS + 1, rows).astype(np.int32),
            "id6": random.integers(1, many + 1, rows).astype(np.int32),
            "v1": random.integers(1, 6, rows).astype(np.int32),
            "v2": random.integers(1, 16, rows).astype(np.int32),
            "v3": np.round(random.uniform(0, 100, rows), 6),
        }
    )


# ---- the engines -----------------------------------------------------------------------------
def evaluated(frame: hr.DataFrame) -> hr.DataFrame:
    """Run all columns."""
    hr.eval(*[frame[name] for name in frame.columns])
    return frame


def ours(frame: hr.DataFrame, keys: list[str], named: dict[str, tuple[str, str]]) -> Any:
    """One question; no order is required, as the others keep none."""
    groups = frame.groupby(keys, as_index=False, sort=False, order=False, dropna=False)
    ((name, (column, word)),) = list(named.items())[:1]
    if word == "largest two":
        return evaluated(groups[column].nlargest(2))
    if word == "max-min v2":
        made = groups.agg(most=("v1", "max"), least=("v2", "min"))
        made[name] = made.most - made.least
        return evaluated(made[[*keys, name]])
    if word == "corr v2 squared":
        made = groups.corr("v1", "v2")
        made[name] = made["corr"] * made["corr"]
        return evaluated(made[[*keys, name]])
    return evaluated(groups.agg(**named))


def polars_expressions(named: dict[str, tuple[str, str]]) -> list[Any]:
    """The same aggregates for Polars."""
    made = []
    for name, (column, word) in named.items():
        if word == "largest two":
            one = pl.col(column).top_k(2)
        elif word == "max-min v2":
            one = pl.max(column) - pl.min("v2")
        elif word == "corr v2 squared":
            one = pl.corr(column, "v2") ** 2
        else:
            one = getattr(pl.col(column), word)()
        made.append(one.alias(name))
    return made


def polars(frame: Any, keys: list[str], named: dict[str, tuple[str, str]], lazy: bool) -> Any:
    """The Polars version, lazy or eager."""
    source = frame.lazy() if lazy else frame
    made = source.group_by(keys).agg(polars_expressions(named))
    if any(word == "largest two" for _, word in named.values()):
        made = made.explode(list(named))
    return made.collect() if lazy else made


def sql(keys: list[str], named: dict[str, tuple[str, str]]) -> str:
    """The DuckDB version."""
    by = ", ".join(keys)
    ((name, (column, word)),) = list(named.items())[:1]
    if word == "largest two":
        return f"select {by}, unnest(max({column}, 2)) as {name} from x group by {by}"
    words = {"mean": "avg", "std": "stddev_samp"}
    parts = {
        name: "max(v1) - min(v2)"
        if word == "max-min v2"
        else "pow(corr(v1, v2), 2)"
        if word == "corr v2 squared"
        else f"{words.get(word, word)}({column})"
        for name, (column, word) in named.items()
    }
    values = ", ".join(f"{text} as {name}" for name, text in parts.items())
    return f"select {by}, {values} from x group by {by}"


def pandas(frame: Any, keys: list[str], named: dict[str, tuple[str, str]]) -> Any:
    """The pandas version."""
    groups = frame.groupby(keys, sort=False, observed=True, dropna=False, as_index=False)
    ((name, (column, word)),) = list(named.items())[:1]
    if word == "largest two":
        order = frame[[*keys, column]].sort_values(column, ascending=False)
        return order.groupby(keys, sort=False, observed=True).head(2)
    if word == "max-min v2":
        made = groups.agg(most=("v1", "max"), least=("v2", "min"))
        return made.assign(**{name: made.most - made.least})[[*keys, name]]
    if word == "corr v2 squared":
        wide = frame[keys].assign(x=frame.v1, y=frame.v2, n=1)
        wide = wide.assign(xx=wide.x * wide.x, yy=wide.y * wide.y, xy=wide.x * wide.y)
        g = wide.groupby(keys, sort=False, observed=True, as_index=False).sum()
        cross, x, y = (
            g.n * a - b for a, b in ((g.xy, g.x * g.y), (g.xx, g.x * g.x), (g.yy, g.y * g.y))
        )
        return g[keys].assign(**{name: cross * cross / (x * y)})
    return groups.agg(**named)


# ---- answers ---------------------------------------------------------------------------------
def as_polars(answer: Any) -> Any:
    """An answer of any engine, with categories as strings."""
    if isinstance(answer, hr.DataFrame):
        answer = pl.from_arrow(answer.to_arrow())
    elif isinstance(answer, pa.Table):
        answer = pl.from_arrow(answer)
    elif isinstance(answer, pd.DataFrame):
        answer = pl.from_pandas(answer)
    words = [n for n, dtype in answer.schema.items() if dtype in (pl.Categorical, pl.Enum)]
    return answer.with_columns(pl.col(words).cast(pl.String)) if words else answer


def same(a: Any, b: Any) -> str:
    """Compare after a sort by all keys, floats within 1e-9."""
    a, b = as_polars(a), as_polars(b)
    assert a.shape == b.shape, f"shapes {a.shape} and {b.shape}"
    keys = [name for name in a.columns if name.startswith(("id", "y"))]
    order = [*keys, *[name for name in a.columns if name not in keys]]
    a, b = a[order].sort(order), b[order].sort(order)
    for name in order:
        x, y = a[name], b[name]
        if name in keys:
            assert (x == y).all(), f"keys {name} differ"
        else:
            np.testing.assert_allclose(
                *(each.cast(pl.Float64).fill_null(math.nan).to_numpy() for each in (x, y)),
                rtol=1e-9,
                atol=1e-9,  # a correlation of nearly nothing
            )
    return f"equal ({len(a):,} rows)"


# ---- the steps -------------------------------------------------------------------------------
def questions(bench: Bench, rows: int, categories: bool) -> None:
    """Run the ten questions over one form of the keys."""
    kind = "categories" if categories else "strings"
    steps = {q: f"{q}, {kind}" for q in QUESTIONS}
    wanted = [q for q, step in steps.items() if bench.wants(step)]
    if not wanted:
        return
    data = table(rows, categories)
    frame = evaluated(hr.DataFrame(data))
    for_polars: Any = pl.from_arrow(data)
    for_pandas = data.to_pandas()
    connection = duckdb.connect(config={"threads": WORKERS, "preserve_insertion_order": False})
    if categories:
        for name in ("id1", "id2", "id3"):
            words = ", ".join(f"'{word}'" for word in data[name].chunk(0).dictionary.to_pylist())
            connection.execute(f"create type e_{name} as enum ({words})")
    connection.register("given", data)
    columns = ", ".join(
        f"{name}::e_{name} as {name}" if categories and name in ("id1", "id2", "id3") else name
        for name in data.column_names
    )
    connection.execute(f"create table x as select {columns} from given")
    connection.unregister("given")
    ratios = []
    for q in wanted:
        keys, named = QUESTIONS[q]
        asked = sql(keys, named)
        rivals: list[tuple[str, Callable[[], Any]]] = [
            ("polars lazy", lambda k=keys, n=named: polars(for_polars, k, n, True)),
            ("polars eager", lambda k=keys, n=named: polars(for_polars, k, n, False)),
            ("duckdb", lambda s=asked: connection.sql(s).to_arrow_table()),
            ("pandas", lambda k=keys, n=named: pandas(for_pandas, k, n)),
        ]
        bench.step(
            steps[q],
            lambda k=keys, n=named: ours(frame, k, n),
            [Rival(name, work, None if name == "pandas" else LEAST) for name, work in rivals],
            same,
            rows=rows,
        )
        better = [
            row["ratio"]
            for row in bench.rows
            if row["step"] == steps[q] and row["engine"] not in (OURS, "pandas")
        ]
        ratios.append(min(better))
    mean = math.exp(statistics.fmean(math.log(ratio) for ratio in ratios))
    whole = len(wanted) == len(QUESTIONS)
    bench.value(f"{kind}, geometric mean", OURS, mean, "x", least=MEAN if whole else None)


def many_keys(bench: Bench, rows: int) -> None:
    """Group-by mean with about as many keys as rows."""
    step = "mean by many keys"
    if not bench.wants(step):
        return
    random = np.random.default_rng(4)
    data = pa.table({"y": random.integers(0, rows, rows), "x": random.random(rows)})
    frame = evaluated(hr.DataFrame(data))
    for_polars: Any = pl.from_arrow(data)
    for_pandas = data.to_pandas()
    connection = duckdb.connect(config={"threads": WORKERS, "preserve_insertion_order": False})
    connection.register("given", data)
    connection.execute("create table x as from given")
    bench.step(
        step,
        lambda: evaluated(frame.groupby("y").x.mean().reset_index()),
        [
            Rival(
                "polars lazy",
                lambda: for_polars.lazy().group_by("y").agg(pl.mean("x")).collect(),
                2,
            ),
            Rival("polars eager", lambda: for_polars.group_by("y").agg(pl.mean("x")), 2),
            Rival(
                "duckdb",
                lambda: connection.sql("select y, avg(x) as x from x group by y").to_arrow_table(),
                2,
            ),
            Rival("pandas", lambda: for_pandas.groupby("y", as_index=False).x.mean(), 5),
        ],
        same,
        rows=rows,
    )


def steps(bench: Bench, rows: int) -> None:
    """Run on half the rows of the other tasks: db-benchmark's 1e7."""
    for categories in (False, True):
        questions(bench, rows // 2, categories)
    many_keys(bench, rows // 2)


if __name__ == "__main__":
    sys.exit(run("groups", __doc__, PACKAGES, steps))
