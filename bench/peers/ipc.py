# SPDX-License-Identifier: Apache-2.0
"""Arrow IPC files, read and written, vs. pyarrow and Polars: ./dev bench ipc."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.pop(0)  # this folder: csv.py here is not Python's
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import polars as pl
import pyarrow as pa
import pyarrow.ipc
from measure import WORKERS, Bench, Rival, run
from mixed_frame import mixed_frame, same_frame, with_offsets

import headrace as hr

BAR = 1.3
PACKAGES = ["polars", "pyarrow"]
NAMES = [*(f"id{i}" for i in range(1, 7)), "v1", "v2", "v3"]


def write(table: pa.Table, path: Any, codec: str | None) -> None:
    """Write batches of 2^20 rows."""
    options = pa.ipc.IpcWriteOptions(compression=codec)
    with (
        pa.OSFile(str(path), "wb") as file,
        pa.ipc.new_file(file, table.schema, options=options) as writer,
    ):
        writer.write_table(table, max_chunksize=1 << 20)


def in_pyarrow(path: str) -> pa.Table:
    """Read into memory, by all threads."""
    with pa.OSFile(path) as file:
        return pa.ipc.open_file(file).read_all()


def steps(bench: Bench, rows: int) -> None:
    """Read plain and packed files, strings with offsets and as views; write."""
    pa.set_cpu_count(WORKERS)
    files: dict[str, Callable[[Path], Any]] = {
        "offsets": lambda path: write(with_offsets(mixed_frame(rows)), path, None),
        "views": lambda path: mixed_frame(rows).write_ipc(path),
        "lz4": lambda path: write(with_offsets(mixed_frame(rows)), path, "lz4"),
        "zstd": lambda path: write(with_offsets(mixed_frame(rows)), path, "zstd"),
    }
    for kind, make in files.items():
        if not bench.wants(f"ipc read {kind}"):
            continue
        path = str(bench.file(f"ipc-{kind}-{rows}.arrow", make))
        bench.step(
            f"ipc read {kind}",
            lambda path=path: hr.read_ipc(path),
            [
                Rival("pyarrow", lambda path=path: in_pyarrow(path), BAR),
                Rival("polars", lambda path=path: pl.read_ipc(path), BAR),
            ],
            same_frame(NAMES),
            Path(path).stat().st_size + rows * (3 * 16 + 6 * 8),
            rows,
        )
    for codec in (None, "zstd"):
        if bench.wants(f"ipc write {codec or 'plain'}"):
            writes(bench, codec, rows)


def writes(bench: Bench, codec: str | None, rows: int) -> None:
    """Write the frame; each engine strings as it has them."""
    theirs = mixed_frame(rows)
    table = with_offsets(theirs)
    ours = hr.from_arrow(theirs.to_arrow())
    hr.eval(ours)
    paths = {name: str(bench.folder / f"{name}.arrow") for name in ("ours", "pa", "pl")}

    def by(work: Callable[[str], Any], name: str) -> Callable[[], str]:
        def done() -> str:
            work(paths[name])
            return paths[name]

        return done

    bench.step(
        f"ipc write {codec or 'plain'}",
        by(lambda path: ours.to_ipc(path, compression=codec, durable=False), "ours"),
        [
            Rival("pyarrow", by(lambda path: write(table, path, codec), "pa")),
            Rival(
                "polars",
                by(lambda path: theirs.write_ipc(path, compression=codec or "uncompressed"), "pl"),
            ),
        ],
        lambda one, other: same_frame(NAMES)(hr.read_ipc(one), in_pyarrow(other)),
        0,
        rows,
    )


if __name__ == "__main__":
    sys.exit(run("ipc", __doc__, PACKAGES, steps))
