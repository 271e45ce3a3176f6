# SPDX-License-Identifier: Apache-2.0
"""TPC-H in memory, as a pandas user writes it, beside DuckDB's SQL: ./dev bench tpch."""

from __future__ import annotations

import io
import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

sys.path.pop(0)  # this folder: csv.py here is not Python's
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import csv

import duckdb
import pyarrow.parquet as pq
from measure import FULL, OURS, Bench, Rival, run
from tpch_queries import QUERIES

import headrace as hr

PACKAGES = ["duckdb", "pyarrow"]
TABLES = ("customer", "lineitem", "nation", "orders", "part", "partsupp", "region", "supplier")
MAKER = Path(__file__).resolve().parents[1] / "tpch_tables.py"
#: DuckDB's share of our time that a query may take at least, and all together.
LEAST, TOTAL = 0.7, 1.3
WORKERS = len(os.sched_getaffinity(0))
#: The published answers have two digits behind the point.
CLOSE = 0.011


def made(folder: Path, scale: float) -> None:
    """Run the generator, which wants a DuckDB of its own."""
    python = os.environ.get("HEADRACE_TPCH_PYTHON", sys.executable)
    subprocess.run([python, str(MAKER), str(folder), str(scale)], check=True)


def is_close(ours: Any, published: str) -> bool:
    """Compare a value with its published text."""
    if isinstance(ours, float):
        return abs(ours - float(published)) <= CLOSE + 1e-6 * abs(ours)
    if isinstance(ours, int):
        return ours == int(float(published))
    return str(ours) == published


def as_published(ours: hr.DataFrame, text: str) -> str:
    """Raise AssertionError where an answer differs from the published one."""
    names, *rows = csv.reader(io.StringIO(text), delimiter="|")
    columns = ours.to_dict()
    got = list(zip(*columns.values(), strict=True))
    order = [
        list(columns).index(name) if name in columns else place for place, name in enumerate(names)
    ]
    assert len(got) == len(rows), f"{len(got)} rows, published {len(rows)}"
    for number, (row, wanted) in enumerate(zip(got, rows, strict=True)):
        for name, place, value in zip(names, order, wanted, strict=True):
            assert is_close(row[place], value), f"row {number}, {name}: {row[place]!r} {value!r}"
    return f"{len(rows)} rows as published"


def same(ours: Any, theirs: Any) -> str:
    """Compare two answers; those published say what is right."""
    assert len(ours) == theirs.num_rows, f"{len(ours)} rows, {theirs.num_rows}"
    return "as many rows"


def evaluated(frame: hr.DataFrame) -> hr.DataFrame:
    """Run it."""
    hr.eval(frame)
    return frame


def steps(bench: Bench, rows: int) -> None:
    """Scale factor 1 for the usual rows; DuckDB has its tables in its own form."""
    scale = max(rows / FULL, 0.01)
    folder = bench.file(f"tpch-{scale:g}", lambda part: made(part, scale))
    tables = SimpleNamespace()
    connection = duckdb.connect(config={"threads": WORKERS, "preserve_insertion_order": False})
    for name in TABLES:
        path = folder / f"{name}.parquet"
        setattr(tables, name, evaluated(hr.from_arrow(pq.read_table(path))))
        connection.execute(f"create table {name} as from '{path}'")
    texts = {row["query_nr"]: row for row in pq.read_table(folder / "queries.parquet").to_pylist()}
    answers = {
        row["query_nr"]: row["answer"]
        for row in pq.read_table(folder / "answers.parquet").to_pylist()
        if abs(row["scale_factor"] - scale) < 1e-9
    }
    for number, query in enumerate(QUERIES, start=1):
        step = f"q{number}"
        if number in answers:
            bench.check(
                f"{step}, answer",
                lambda q=query, n=number: as_published(q(tables), answers[n]),
            )
        bench.step(
            step,
            lambda q=query: evaluated(q(tables)),
            [
                Rival(
                    "duckdb",
                    lambda n=number: connection.sql(texts[n]["query"]).to_arrow_table(),
                    LEAST,
                )
            ],
            same,
        )
    times: dict[str, float] = {}
    for row in bench.rows:
        if row["kind"] == "step":
            times[row["engine"]] = times.get(row["engine"], 0) + row["median_s"]
    if times:
        whole = len(QUERIES) == sum(row["kind"] == "step" for row in bench.rows) / len(times)
        ratio = times["duckdb"] / times[OURS]
        bench.value("total", OURS, ratio, "x", least=TOTAL if whole else None)
    bench.left_out("total", "polars", "the queries are not written in its words yet")


if __name__ == "__main__":
    sys.exit(run("tpch", __doc__, PACKAGES, steps))
