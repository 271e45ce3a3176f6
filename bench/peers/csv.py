# SPDX-License-Identifier: Apache-2.0
"""CSV of one column and of mixed columns vs. pandas, Polars and others: ./dev bench csv."""

from __future__ import annotations

import math
import sys
import time
from pathlib import Path
from typing import Any

sys.path.pop(0)  # this folder: csv.py here is not Python's
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.csv
from measure import OURS, WORKERS, Bench, Rival, run
from mixed_frame import mixed_frame, same_frame

import headrace as hr

SHAPE_BAR, MIXED_BAR = 1.8, 1.5
PACKAGES = ["numpy", "pandas", "polars", "duckdb", "pyarrow"]
SHAPES = ("shortest f64", "3 decimals", "integers")
ENGINES = ("pandas c", "polars", "duckdb", "pyarrow")
WORDS = {
    "float64": (np.float64, pl.Float64, pa.float64(), "DOUBLE"),
    "float32": (np.float32, pl.Float32, pa.float32(), "FLOAT"),
    "int64": (np.int64, pl.Int64, pa.int64(), "BIGINT"),
    "string": ("str", pl.String, pa.string(), "VARCHAR"),
}


# ---- the files -----------------------------------------------------------------------------------
def shape_frame(shape: str, rows: int) -> pl.DataFrame:
    """One column of random numbers."""
    random = np.random.default_rng(2)
    if shape == "integers":
        return pl.DataFrame({"x": random.integers(-1_000_000, 1_000_000, rows)})
    if shape == "3 decimals":
        return pl.DataFrame({"x": random.normal(0, 100, rows)})
    return pl.DataFrame({"x": random.random(rows)})


def file_of(bench: Bench, step: str, rows: int) -> str:
    """Return the file of a step."""

    def write(path: Path) -> None:
        frame = mixed_frame(rows) if step == "mixed" else shape_frame(step, rows)
        frame.write_csv(path, float_precision={"3 decimals": 3, "mixed": 6}.get(step))

    return str(bench.file(f"csv-{step.replace(' ', '-')}-{rows}.csv", write))


# ---- the engines ---------------------------------------------------------------------------------
def with_duckdb(path: str, words: dict[str, str]) -> Any:
    """Read with DuckDB to Arrow or to NumPy, whichever is faster here."""
    columns = ", ".join(f"'{name}': '{WORDS[word][3]}'" for name, word in words.items())
    query = f"select * from read_csv(?, header=true, auto_detect=false, columns={{{columns}}})"

    def read(fetch: str) -> Any:
        with duckdb.connect() as connection:
            connection.execute(f"set threads={WORKERS}")
            return getattr(connection.sql(query, params=[path]), fetch)()

    def seconds(fetch: str) -> float:
        begin = time.perf_counter()
        read(fetch)
        return time.perf_counter() - begin

    best = min(("to_arrow_table", "fetchnumpy"), key=lambda fetch: min(map(seconds, [fetch] * 2)))
    return lambda: read(best)


def rivals(path: str, words: dict[str, str], bar: float) -> list[Rival]:
    """Give each engine the schema and two threads."""
    pa.set_cpu_count(WORKERS)
    convert = pyarrow.csv.ConvertOptions(
        column_types={name: WORDS[word][2] for name, word in words.items()}
    )
    dtypes = {name: WORDS[word][0] for name, word in words.items()}
    schema = {name: WORDS[word][1] for name, word in words.items()}
    works = (
        lambda: pd.read_csv(path, dtype=dtypes),
        lambda: pl.read_csv(path, schema=schema),
        with_duckdb(path, words),
        lambda: pyarrow.csv.read_csv(path, convert_options=convert),
    )
    return [Rival(name, work, bar) for name, work in zip(ENGINES, works, strict=True)]


# ---- the steps -----------------------------------------------------------------------------------
def steps(bench: Bench, rows: int) -> None:
    """Read three shapes of numbers, then the mixed frame with half as many rows."""
    best = []
    for shape in SHAPES:
        step = f"csv {shape}"
        if bench.wants(step):
            word = "int64" if shape == "integers" else "float64"
            read(bench, step, file_of(bench, shape, rows), rows, {"x": word}, SHAPE_BAR)
            best.append(least_ratio(bench, step))
    if len(best) == len(SHAPES):
        mean = math.prod(best) ** (1 / len(best))
        bench.value("csv shapes, geometric mean", OURS, mean, "x the best", least=SHAPE_BAR)
    if bench.wants("csv mixed"):
        words = {f"id{i}": "string" if i <= 3 else "int64" for i in range(1, 7)}
        words |= {"v1": "int64", "v2": "int64", "v3": "float64"}
        path = file_of(bench, "mixed", rows // 2)
        read(bench, "csv mixed", path, rows // 2, words, MIXED_BAR)


def read(bench: Bench, step: str, path: str, rows: int, words: dict[str, str], bar: float) -> None:
    """Text to columns; strings of the result count as 16 bytes each."""
    moved = Path(path).stat().st_size
    moved += sum(
        rows * (16 if word == "string" else int(word[-2:]) // 8) for word in words.values()
    )
    bench.step(
        step,
        lambda: hr.read_csv(path, dtypes=words),
        rivals(path, words, bar),
        same_frame(list(words)),
        moved,
        rows,
    )


def least_ratio(bench: Bench, step: str) -> float:
    """How many times faster than the best rival."""
    return min(row["ratio"] for row in bench.rows if row["step"] == step and row["engine"] != OURS)


if __name__ == "__main__":
    sys.exit(run("csv", __doc__, PACKAGES, steps))
