# SPDX-License-Identifier: Apache-2.0
"""Parquet files, whole, filtered and written, vs. Polars, pyarrow, DuckDB: ./dev bench parquet."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.pop(0)  # this folder: csv.py here is not Python's
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import duckdb
import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.compute
import pyarrow.dataset
import pyarrow.parquet as pq
from measure import OURS, WORKERS, Bench, Rival, run
from mixed_frame import mixed_frame, same_frame, with_offsets

import headrace as hr

READ_BAR, PICKED_BAR, WRITE_BAR, LARGEST = 1.3, 1.0, 1.3, 1.05
TOUCHED_BAR = 0.1  # of the file's bytes, where the layout allows
PACKAGES = ["polars", "duckdb", "pyarrow"]


def file_of(bench: Bench, codec: str, rows: int, ordered: bool = False) -> str:
    """Return the frame G1 as pyarrow writes it."""

    def write(path: Path) -> None:
        frame = mixed_frame(rows)
        values = with_offsets(frame.sort("id4") if ordered else frame)
        pq.write_table(values, path, compression=codec)

    word = "-ordered" if ordered else ""
    return str(bench.file(f"parquet-{codec}{word}-{rows}.parquet", write))


def bytes_touched(
    bench: Bench, step: str, work: Callable[[], Any], path: str, most: float | None
) -> None:
    """Record the share of a file's bytes that the system gives to this process."""

    def bytes_read() -> int:
        lines = Path("/proc/self/io").read_text().splitlines()
        return int(next(line for line in lines if line.startswith("rchar")).split()[1])

    before = bytes_read()
    work()
    share = (bytes_read() - before) / Path(path).stat().st_size
    bench.value(f"{step}, share of the bytes", OURS, share, "x", most=most)


def in_duckdb(query: str) -> Callable[[], Any]:
    """Run a query on two threads to an Arrow table."""

    def work() -> Any:
        with duckdb.connect() as connection:
            connection.execute(f"set threads={WORKERS}")
            return connection.sql(query).to_arrow_table()

    return work


def steps(bench: Bench, rows: int) -> None:
    """Read whole files of two codecs, some columns, one percent of the rows; write."""
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
            path = file_of(bench, "snappy", rows, ordered)
            picked(bench, f"parquet 1 % {word}", path, rows)
    if bench.wants("parquet 1 % sorted"):
        theirs = file_of(bench, "snappy", rows, True)
        path = str(
            bench.file(f"parquet-own-ordered-{rows}.parquet", hr.read_parquet(theirs).to_parquet)
        )
        work = seventh(path)
        bytes_touched(bench, "parquet 1 % sorted, written by us", work, path, TOUCHED_BAR)
    wide(bench, rows // 5)
    writes(bench, rows)


def seventh(path: str) -> Callable[[], Any]:
    """Read all columns of the rows where id4 is 7."""

    def work() -> Any:
        scan = hr.scan_parquet(path)
        frame = scan[scan.id4 == 7]
        hr.eval(frame)
        return frame

    return work


def picked(bench: Bench, step: str, path: str, rows: int) -> None:
    """Read a hundredth of the rows; pyarrow's row groups of 2^20 rows are read whole."""
    ours = seventh(path)
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
    bytes_touched(bench, step, ours, path, None)


def wide(bench: Bench, rows: int) -> None:
    """Read 2 of 50 columns of floats."""
    step = "parquet 2 of 50 columns"
    if not bench.wants(step):
        return

    def write(path: Path) -> None:
        random = np.random.default_rng(50)
        pq.write_table(pa.table({f"c{i}": random.random(rows) for i in range(50)}), path)

    path = str(bench.file(f"parquet-wide-{rows}.parquet", write))
    names = ["c7", "c31"]
    bench.step(
        step,
        lambda: hr.read_parquet(path, columns=names),
        [
            Rival("polars", lambda: pl.read_parquet(path, columns=names), PICKED_BAR),
            Rival("pyarrow", lambda: pq.read_table(path, columns=names), PICKED_BAR),
            Rival("duckdb", in_duckdb(f"select c7, c31 from '{path}'"), PICKED_BAR),
        ],
        same_frame(names),
        32 * rows,
        rows,
    )
    bytes_touched(
        bench, step, lambda: hr.eval(hr.read_parquet(path, columns=names)), path, TOUCHED_BAR
    )


def writes(bench: Bench, rows: int) -> None:
    """Write the frame with two codecs, each engine as it does by itself, and compare the sizes."""
    if not bench.wants("parquet write snappy") and not bench.wants("parquet write zstd"):
        return
    theirs = mixed_frame(rows)
    table = with_offsets(theirs)
    ours = hr.from_arrow(table)
    hr.eval(*[ours[name] for name in ours.columns])
    names = list(ours.columns)

    def in_duckdb(path: str, codec: str) -> None:
        with duckdb.connect() as connection:
            connection.execute(f"set threads={WORKERS}")
            connection.register("t", table)
            connection.execute(f"copy t to '{path}' (format parquet, compression {codec})")

    for codec in ("snappy", "zstd"):
        step = f"parquet write {codec}"
        write = {
            OURS: lambda path, codec=codec: ours.to_parquet(path, compression=codec),
            "polars": lambda path, codec=codec: theirs.write_parquet(path, compression=codec),
            "pyarrow": lambda path, codec=codec: pq.write_table(table, path, compression=codec),
            "duckdb": lambda path, codec=codec: in_duckdb(path, codec),
        }
        paths = {name: str(bench.folder / f"written-{name}-{codec}.parquet") for name in write}

        def by(name: str, write: Any = write, paths: Any = paths) -> Callable[[], str]:
            def work() -> str:
                write[name](paths[name])
                return paths[name]

            return work

        def same(one: str, other: str) -> str:
            """Read both by a third, which gives the same types."""
            return same_frame(names)(pl.read_parquet(one), pl.read_parquet(other))

        rivals = [Rival(name, by(name), WRITE_BAR) for name in write if name != OURS]
        bench.step(step, by(OURS), rivals, same, rows * (3 * 16 + 6 * 8), rows)
        if bench.wants(step):
            sizes = {name: Path(path).stat().st_size / 1e6 for name, path in paths.items()}
            least = min(size for name, size in sizes.items() if name != OURS)
            for name, size in sizes.items():
                most = LARGEST * least if name == OURS else None
                bench.value(f"{step}, size", name, size, "MB", most=most)


if __name__ == "__main__":
    sys.exit(run("parquet", __doc__, PACKAGES, steps))
