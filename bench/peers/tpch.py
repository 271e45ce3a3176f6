# SPDX-License-Identifier: Apache-2.0
"""TPC-H as a pandas user writes it, vs. SQL and lazy frames: ./dev bench tpch."""

from __future__ import annotations

import io
import math
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple

sys.path.pop(0)  # this folder: csv.py here is not Python's
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
os.environ.setdefault("POLARS_MAX_THREADS", os.environ.get("HEADRACE_BENCH_THREADS", "2"))

import csv

import duckdb
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import tpch_polars
from measure import FULL, OURS, WORKERS, Bench, Rival, run
from tpch_queries import QUERIES

import headrace as hr

PACKAGES = ["duckdb", "polars", "pyarrow"]
TABLES = ("customer", "lineitem", "nation", "orders", "part", "partsupp", "region", "supplier")
MAKER = Path(__file__).resolve().parents[1] / "tpch_tables.py"
#: How many times our time each rival may take at least: a query, and all together.
LEAST, TOTAL, TOTAL_PARQUET = 0.7, 1.3, 1.5
FROM_PARQUET = " from Parquet"
#: The default of Polars 2.1 is its streaming engine.
POLARS = {"polars streaming": "streaming", "polars in-memory": "in-memory"}
#: The published answers have two digits behind the point.
CLOSE = 0.011


def made(folder: Path, scale: float) -> None:
    """Run the generator, which needs its own DuckDB version."""
    python = os.environ.get("HEADRACE_TPCH_PYTHON", sys.executable)
    subprocess.run([python, str(MAKER), str(folder), str(scale)], check=True)


def is_close(ours: Any, published: str) -> bool:
    """Compare a value with its published text."""
    if isinstance(ours, float):
        return abs(ours - float(published)) <= CLOSE + 1e-6 * abs(ours)
    if isinstance(ours, int):
        return ours == int(float(published))
    return str(ours) == published


def as_published(columns: dict[str, list[Any]], text: str) -> str:
    """Raise AssertionError if an answer differs from the published one."""
    names, *rows = csv.reader(io.StringIO(text), delimiter="|")
    got = list(zip(*columns.values(), strict=True))
    order = [
        list(columns).index(name) if name in columns else place for place, name in enumerate(names)
    ]
    assert len(got) == len(rows), f"{len(got)} rows, published {len(rows)}"
    for number, (row, wanted) in enumerate(zip(got, rows, strict=True)):
        for name, place, value in zip(names, order, wanted, strict=True):
            assert is_close(row[place], value), f"row {number}, {name}: {row[place]!r} {value!r}"
    return f"{len(rows)} rows as published"


def same(ours: hr.DataFrame, theirs: Any) -> str:
    """Compare sums of numbers, and other values in any order."""
    mine = pa.table(ours)
    other = theirs.to_arrow() if isinstance(theirs, pl.DataFrame) else theirs
    assert mine.shape == other.shape, f"shapes {mine.shape} and {other.shape}"
    for place, name in enumerate(other.column_names):
        x, y = mine[name if name in mine.column_names else place], other[place]
        kind = y.type
        if pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind):
            # Of no rows, as of q11 with the fraction for scale factor 1, there is no sum.
            a, b = (pc.sum(pc.cast(each, pa.float64())).as_py() or 0.0 for each in (x, y))
            assert math.isclose(a, b, rel_tol=1e-9), f"{name}: sums {a!r} and {b!r}"
        else:
            assert sorted(x.to_pylist()) == sorted(y.to_pylist()), f"{name} differs"
    return f"{len(other):,} rows, sums within 1e-09"


def evaluated(frame: hr.DataFrame) -> hr.DataFrame:
    """Run it."""
    hr.eval(frame)
    return frame


class Engines(NamedTuple):
    """Tables in the form of each engine; ours are called for, as plans keep what they read."""

    ours: Callable[[], Any]
    polars: Any
    duckdb: Any


def in_memory(folder: Path) -> Engines:
    """Tables that each engine has read and keeps as it likes."""
    ours = SimpleNamespace()
    made = Engines(lambda: ours, SimpleNamespace(), connected())
    for name in TABLES:
        path = folder / f"{name}.parquet"
        setattr(ours, name, evaluated(hr.from_arrow(pq.read_table(path))))
        setattr(made.polars, name, pl.read_parquet(path).rechunk().lazy())
        made.duckdb.execute(f"create table {name} as from '{path}'")
    return made


def from_parquet(folder: Path) -> Engines:
    """Scans of the files: each query reads what it needs."""

    def scans() -> Any:
        files = {name: str(folder / f"{name}.parquet") for name in TABLES}
        return SimpleNamespace(**{name: hr.scan_parquet(path) for name, path in files.items()})

    made = Engines(scans, SimpleNamespace(), connected())
    for name in TABLES:
        path = folder / f"{name}.parquet"
        setattr(made.polars, name, pl.scan_parquet(path))
        made.duckdb.execute(f"create view {name} as from '{path}'")
    return made


def connected() -> Any:
    """An empty DuckDB with as many threads as the others."""
    return duckdb.connect(config={"threads": WORKERS, "preserve_insertion_order": False})


def steps(bench: Bench, rows: int) -> None:
    """Scale factor 1 for the usual rows; first in memory, then from Parquet files."""
    scale = max(rows / FULL, 0.01)
    folder = bench.file(f"tpch-{scale:g}", lambda part: made(part, scale))
    texts = {row["query_nr"]: row for row in pq.read_table(folder / "queries.parquet").to_pylist()}
    answers = {
        row["query_nr"]: row["answer"]
        for row in pq.read_table(folder / "answers.parquet").to_pylist()
        if abs(row["scale_factor"] - scale) < 1e-9
    }
    for load, where, least in ((in_memory, "", TOTAL), (from_parquet, FROM_PARQUET, TOTAL_PARQUET)):
        if not any(bench.wants(f"q{number}{where}") for number in range(1, len(QUERIES) + 1)):
            continue
        first = len(bench.rows)
        compare(bench, load(folder), texts, answers, where)
        totals(bench, bench.rows[first:], where, least)


def compare(
    bench: Bench, engines: Engines, texts: dict[int, Any], answers: dict[int, str], where: str
) -> None:
    """The 22 queries, whose answers are compared with the published ones first."""
    for number, (query, lazy) in enumerate(zip(QUERIES, tpch_polars.QUERIES, strict=True), 1):
        step = f"q{number}{where}"
        rivals = [
            Rival(
                "duckdb",
                lambda n=number: engines.duckdb.sql(texts[n]["query"]).to_arrow_table(),
                LEAST,
            )
        ]
        rivals += [
            Rival(name, lambda q=lazy, e=engine: q(engines.polars).collect(engine=e), LEAST)
            for name, engine in POLARS.items()
        ]
        if number in answers:
            bench.check(
                f"{step}, answer",
                lambda q=query, n=number: as_published(q(engines.ours()).to_dict(), answers[n]),
            )
            for rival in rivals[1:]:
                bench.check(
                    f"{step}, answer of {rival.name}",
                    lambda r=rival, n=number: as_published(
                        r.work().to_dict(as_series=False), answers[n]
                    ),
                )
        bench.step(step, lambda q=query: evaluated(q(engines.ours())), rivals, same)


def totals(bench: Bench, rows: list[dict[str, Any]], where: str, least: float) -> None:
    """Each engine's sum of medians, and the best rival's relative to ours."""
    times: dict[str, float] = {}
    measured = [row for row in rows if row["kind"] == "step"]
    for row in measured:
        times[row["engine"]] = times.get(row["engine"], 0) + row["median_s"]
    if not times:
        return
    for engine, seconds in times.items():
        bench.value(f"total{where}", engine, seconds * 1e3, "ms")
    rival = min((name for name in times if name != OURS), key=times.__getitem__)
    whole = len(QUERIES) * len(times) == len(measured)
    ratio = times[rival] / times[OURS]
    bench.value(f"total{where}, {rival}", OURS, ratio, "x", least=least if whole else None)


if __name__ == "__main__":
    sys.exit(run("tpch", __doc__, PACKAGES, steps))
