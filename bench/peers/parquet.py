# SPDX-License-Identifier: Apache-2.0
"""Parquet files, whole and filtered, vs. Polars, pyarrow and DuckDB: ./dev bench parquet."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.pop(0)  # this folder: csv.py here is not Python's
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import duckdb
import polars as pl
import pyarrow as pa
import pyarrow.compute
import pyarrow.dataset
import pyarrow.parquet as pq
from measure import WORKERS, Bench, Rival, run
from mixed_frame import mixed_frame, same_frame

import headrace as hr

READ_BAR, PICKED_BAR = 1.3, 1.0
PACKAGES = ["polars", "duckdb", "pyarrow"]


def file_of(bench: Bench, codec: str, rows: int, ordered: bool = False) -> str:
    """Return the frame G1 as pyarrow writes it."""

    def write(path: Path) -> None:
        frame = mixed_frame(rows)
        values = (frame.sort("id4") if ordered else frame).to_arrow()
        words = [
            pa.field(each.name, pa.string() if str(each.type).endswith("view") else each.type)
            for each in values.schema
        ]
        pq.write_table(values.cast(pa.schema(words)), path, compression=codec)

    word = "-ordered" if ordered else ""
    return str(bench.file(f"parquet-{codec}{word}-{rows}.parquet", write))


def in_duckdb(query: str) -> Callable[[], Any]:
    """Run a query on two threads to an Arrow table."""

    def work() -> Any:
        with duckdb.connect() as connection:
            connection.execute(f"set threads={WORKERS}")
            return connection.sql(query).to_arrow_table()

    return work


def steps(bench: Bench, rows: int) -> None:
    """Read whole files of two codecs, one column, and one percent of the rows."""
    pa.set_cpu_count(WORKERS)
    names = [*(f"id{i}" for i in range(1, 7)), "v1", "v2", "v3"]
    width = 3 * 16 + 6 * 8
    for codec in ("snappy", "zstd"):
        if not bench.wants(f"parquet read {codec}"):
            continue
        path = file_of(bench, codec, rows)
        rivals = [
            Rival("polars", lambda path=path: pl.read_parquet(path), READ_BAR),
            Rival("pyarrow", lambda path=path: pq.read_table(path), READ_BAR),
            Rival("duckdb", in_duckdb(f"select * from '{path}'"), READ_BAR),
        ]
        bench.step(
            f"parquet read {codec}",
            lambda path=path: hr.read_parquet(path),
            rivals,
            same_frame(names),
            Path(path).stat().st_size + rows * width,
            rows,
        )
    if bench.wants("parquet one column"):
        path = file_of(bench, "snappy", rows)
        bench.step(
            "parquet one column",
            lambda: hr.read_parquet(path, columns=["v3"]),
            [
                Rival("polars", lambda: pl.read_parquet(path, columns=["v3"]), PICKED_BAR),
                Rival("pyarrow", lambda: pq.read_table(path, columns=["v3"]), PICKED_BAR),
            ],
            same_frame(["v3"]),
            16 * rows,
            rows,
        )
    for word, ordered in (("unsorted", False), ("sorted", True)):
        if bench.wants(f"parquet 1 % {word}"):
            picked(bench, f"parquet 1 % {word}", file_of(bench, "snappy", rows, ordered), rows)


def picked(bench: Bench, step: str, path: str, rows: int) -> None:
    """Read all columns of the rows where id4 is 7."""

    def ours() -> Any:
        scan = hr.scan_parquet(path)
        frame = scan[scan.id4 == 7]
        hr.eval(frame)
        return frame

    test = pyarrow.compute.field("id4") == 7
    query = f"select * from '{path}' where id4 = 7"
    rivals = [
        Rival("polars", pl.scan_parquet(path).filter(pl.col("id4") == 7).collect, PICKED_BAR),
        Rival("duckdb", in_duckdb(query), PICKED_BAR),
        Rival("pyarrow", lambda: pa.dataset.dataset(path).to_table(filter=test), PICKED_BAR),
    ]

    def same(ours: Any, theirs: Any) -> str:
        theirs = theirs.to_arrow() if isinstance(theirs, pl.DataFrame) else theirs
        assert len(ours) == theirs.num_rows
        sums = [pyarrow.compute.sum(theirs[name]).as_py() for name in ("id6", "v1")]
        assert sums == [ours.id6.sum().item(), ours.v1.sum().item()]
        return "equal in number and sums"

    bench.step(step, ours, rivals, same, Path(path).stat().st_size, rows)


if __name__ == "__main__":
    sys.exit(run("parquet", __doc__, PACKAGES, steps))
