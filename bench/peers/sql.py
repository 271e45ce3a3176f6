# SPDX-License-Identifier: Apache-2.0
"""TPC-H and TPC-DS in SQL, vs. the same in frames, DuckDB and Polars; planning: ./dev bench sql."""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

sys.path.pop(0)  # this folder: csv.py here is not Python's
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
os.environ.setdefault("POLARS_MAX_THREADS", os.environ.get("HEADRACE_BENCH_THREADS", "2"))

import duckdb
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import sqlglot
from headrace.sql import context
from headrace.sql.plan_cache import PlanCache
from measure import FULL, OURS, WORKERS, Bench, Rival, run
from tpch_queries import QUERIES

import headrace as hr

PACKAGES = ["duckdb", "polars", "pyarrow", "sqlglot"]
MAKER = Path(__file__).resolve().parents[1] / "tpch_tables.py"
#: How many times our time frames may take at least, so that SQL costs 5 % at most.
FRAMES = 1 / 1.05
#: Milliseconds of planning: a query of TPC-DS (median), a short one, and one that is known.
PLANNED, SHORT, KNOWN = 15.0, 4.0, 0.2
SHORT_QUERY = (
    "select n_name, sum(n_nationkey) as s from nation where n_regionkey > 1 group by n_name"
)
ROUNDS = 5


def made(suite: str) -> Callable[[Path, float], None]:
    """The generator of a suite, which needs its own DuckDB version."""

    def make(folder: Path, scale: float) -> None:
        python = os.environ.get("HEADRACE_TPCH_PYTHON", sys.executable)
        subprocess.run([python, str(MAKER), str(folder), str(scale), suite], check=True)

    return make


class Suite:
    """The tables of a suite in each engine's own form, and its queries by number."""

    def __init__(self, bench: Bench, name: str, scale: float) -> None:
        folder = bench.file(f"{name}-{scale:g}", lambda part: made(name)(part, scale))
        self.queries: dict[int, str] = {
            row["query_nr"]: row["query"]
            for row in pq.read_table(folder / "queries.parquet").to_pylist()
        }
        config = {"threads": WORKERS, "preserve_insertion_order": False}
        self.duckdb = duckdb.connect(config=config)
        self.frames: dict[str, hr.DataFrame] = {}
        lazy: dict[str, Any] = {}
        for path in sorted(folder.glob("*.parquet")):
            if path.stem in ("queries", "answers"):
                continue
            self.frames[path.stem] = hr.from_arrow(pq.read_table(path))
            hr.eval(self.frames[path.stem])
            lazy[path.stem] = pl.read_parquet(path).rechunk().lazy()
            self.duckdb.execute(f"create table {path.stem} as from '{path}'")
        self.polars = pl.SQLContext(lazy)

    def ours(self, number: int) -> hr.DataFrame:
        """Run a query here."""
        frame = hr.sql(self.queries[number], **self.frames)
        hr.eval(frame)
        return frame

    def rivals(self, number: int) -> list[Rival]:
        """The other engines, for those of the queries that they take."""
        query = self.queries[number]
        work = lambda: self.duckdb.sql(query).to_arrow_table()  # noqa: E731
        found = [Rival("duckdb", work, None, in_order(query))]
        try:
            self.polars.execute(query)
        except (pl.exceptions.PolarsError, NotImplementedError):
            return found
        return [*found, Rival("polars sql", lambda: self.polars.execute(query).collect())]


def arrow_of(answer: Any) -> pa.Table:
    """A result of any engine."""
    return answer.to_arrow() if isinstance(answer, pl.DataFrame) else pa.table(answer)


def kind_of(dtype: pa.DataType) -> str:
    """What must be the same of types: sums of integers are of several ones."""
    if pa.types.is_boolean(dtype) or pa.types.is_temporal(dtype):
        return "bool" if pa.types.is_boolean(dtype) else "time"
    return "number" if pa.types.is_primitive(dtype) or pa.types.is_decimal(dtype) else "string"


def values_of(column: pa.ChunkedArray) -> list[Any]:
    """Numbers as doubles, others as strings: times at the start of a day as days."""
    if kind_of(column.type) == "number":
        return pc.cast(column, pa.float64()).to_pylist()
    found = column.to_pylist()
    return [None if value is None else str(value).removesuffix(" 00:00:00") for value in found]


def is_near(a: Any, b: Any) -> bool:
    """Whether two values are equal, doubles within 1e-9."""
    if isinstance(a, float) and isinstance(b, float):
        return (a != a and b != b) or abs(a - b) <= 1e-9 * max(abs(a), abs(b), 1)
    return a == b


def same(ours: hr.DataFrame, theirs: Any) -> str:
    """Compare all rows, in any order: doubles within 1e-9, types by kind."""
    mine, other = arrow_of(ours), arrow_of(theirs)
    assert mine.shape == other.shape, f"shapes {mine.shape} and {other.shape}"
    kinds = [[kind_of(column.type) for column in table.columns] for table in (mine, other)]
    nulls = [mine[i].null_count == mine.num_rows for i in range(mine.num_columns)]
    assert all(a == b or n for a, b, n in zip(*kinds, nulls, strict=True)), f"types {kinds}"
    rows = [
        sorted(zip(*map(values_of, t.columns), strict=True), key=place_of) for t in (mine, other)
    ]
    for a, b in zip(*rows, strict=True):
        assert all(map(is_near, a, b)), f"rows {a} and {b}"
    return f"{len(mine):,} rows, equal within 1e-09"


def place_of(row: tuple[Any, ...]) -> tuple[Any, ...]:
    """A place in an order: by strings, then by numbers with few digits."""
    words = [str(value) for value in row if not isinstance(value, float)]
    return words, [f"{value:.6g}" for value in row if isinstance(value, float)]


def in_order(query: str) -> Callable[[Any, Any], str]:
    """As `same`; the columns that the query orders by are the same row by row, too."""
    tree = sqlglot.parse_one(query, read="duckdb")
    clause = tree.args.get("order")
    names = [name.lower() for name in tree.named_selects]
    places = []
    for each in clause.expressions if clause is not None else []:
        word = each.this.name.lower()
        if isinstance(each.this, sqlglot.exp.Literal):
            places.append(int(word) - 1)
        elif isinstance(each.this, sqlglot.exp.Column) and word in names:
            places.append(names.index(word))

    def compare(ours: Any, theirs: Any) -> str:
        told = same(ours, theirs)
        mine, other = arrow_of(ours), arrow_of(theirs)
        for place in places:
            pairs = zip(values_of(mine[place]), values_of(other[place]), strict=True)
            assert all(is_near(a, b) for a, b in pairs), f"order of column {place}"
        return f"{told}, {len(places)} columns in order"

    return compare


def forget_plans() -> None:
    """So that the next query is planned anew."""
    context.PLANS = PlanCache()


def planning(bench: Bench, suite: Suite) -> None:
    """Milliseconds until a query is planned, not run."""

    def best(work: Callable[[], Any], before: Callable[[], Any] = lambda: None) -> float:
        times = []
        for _ in range(ROUNDS):
            before()
            begin = time.perf_counter()
            work()
            times.append(time.perf_counter() - begin)
        return min(times) * 1e3

    fresh, known, theirs = [], [], []
    for query in suite.queries.values():
        fresh.append(best(lambda q=query: hr.sql(q, **suite.frames), forget_plans))
        known.append(best(lambda q=query: hr.sql(q, **suite.frames)))
        theirs.append(best(lambda q=query: suite.duckdb.execute(f"explain {q}")))
    bench.value("planning, median", OURS, statistics.median(fresh), "ms", most=PLANNED)
    bench.value("planning, median", "duckdb", statistics.median(theirs), "ms")
    bench.value("planning, known, median", OURS, statistics.median(known), "ms", most=KNOWN)


def steps(bench: Bench, rows: int) -> None:
    """Scale factor 1 for the usual rows."""
    scale = max(rows / FULL, 0.01)
    tpch = Suite(bench, "tpch", scale)
    tables = SimpleNamespace(**tpch.frames)

    def in_frames(query: Callable[[Any], hr.DataFrame]) -> hr.DataFrame:
        frame = query(tables)
        hr.eval(frame)
        return frame

    for number, query in enumerate(QUERIES, 1):
        frames = Rival("frames", lambda q=query: in_frames(q), None, by_name)
        rivals = [frames, *tpch.rivals(number)]
        bench.step(f"tpch q{number}", lambda n=number: tpch.ours(n), rivals, same)
    equal(bench, "tpch", len(QUERIES))
    totals(bench, "tpch", {"frames": FRAMES})
    begin = []
    for _ in range(ROUNDS):
        forget_plans()
        start = time.perf_counter()
        hr.sql(SHORT_QUERY, nation=tpch.frames["nation"])
        begin.append(time.perf_counter() - start)
    bench.value("planning, short", OURS, min(begin) * 1e3, "ms", most=SHORT)
    tpcds = Suite(bench, "tpcds", scale)
    planning(bench, tpcds)
    for number in tpcds.queries:
        rivals = tpcds.rivals(number)
        bench.step(f"tpcds q{number}", lambda n=number: tpcds.ours(n), rivals, same)
    equal(bench, "tpcds", len(tpcds.queries))
    geometric(bench, "tpcds")


def equal(bench: Bench, suite: str, queries: int) -> None:
    """How many queries gave what DuckDB gives."""
    found = sum(
        row["kind"] == "step"
        and row["step"].startswith(suite)
        and row["engine"] == "duckdb"
        and "DIFFERENT" not in row["answer"]
        for row in bench.rows
    )
    if not bench.only:
        bench.value(f"{suite}, as DuckDB", OURS, found, "queries", least=queries)


def by_name(ours: hr.DataFrame, theirs: Any) -> str:
    """As `same`, for frames: columns in any order, labels where the query has them as columns.

    A sum of no rows is 0 in frames.
    """
    names = list(ours.columns)
    other = theirs if len(theirs.columns) == len(names) else theirs.reset_index()
    if set(names) <= set(other.columns):
        other = other[names]
    if ours.shape == other.shape == (1, 1) and ours.to_dict()[names[0]] == [None]:
        assert list(other.to_dict().values()) == [[0.0]], f"null and {other.to_dict()}"
        return "no rows: null, in frames 0"
    return same(ours, other)


def totals(bench: Bench, suite: str, bars: dict[str, float]) -> None:
    """Each engine's sum of medians, relative to ours."""
    times: dict[str, float] = {}
    for row in bench.rows:
        if row["kind"] == "step" and row["step"].startswith(suite):
            times[row["engine"]] = times.get(row["engine"], 0) + row["median_s"]
    for engine, seconds in times.items():
        bench.value(f"{suite} total", engine, seconds * 1e3, "ms")
        if engine in bars:
            bench.value(f"{suite}, {engine}", OURS, seconds / times[OURS], "x", least=bars[engine])


def geometric(bench: Bench, suite: str) -> None:
    """The geometric mean of the other engines' times relative to ours."""
    times: dict[str, dict[str, float]] = {}
    for row in bench.rows:
        if row["kind"] == "step" and row["step"].startswith(suite):
            times.setdefault(row["engine"], {})[row["step"]] = row["median_s"]
    for engine, found in times.items():
        ratios = [seconds / times[OURS][step] for step, seconds in found.items()]
        if engine != OURS and ratios:
            mean = statistics.geometric_mean(ratios)
            bench.value(f"{suite}, {engine}", OURS, mean, "x", least=1.0)


if __name__ == "__main__":
    sys.exit(run("sql", __doc__, PACKAGES, steps))
