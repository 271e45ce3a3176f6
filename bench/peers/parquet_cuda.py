# SPDX-License-Identifier: Apache-2.0
"""Parquet files of the page cache read to an NVIDIA GPU, compared with cuDF."""

from __future__ import annotations

import argparse
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

sys.path.pop(0)  # this folder: csv.py here is not Python's
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

try:
    import cupy as cp
except ImportError:
    sys.exit("parquet_cuda: CuPy is required for the comparison; install cupy-cuda13x")
import cudf_reader
import cudf_rows
import measure
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import headrace as hr
from headrace import _core

ROWS = 20_000_000
FILES = 112


def ours(paths: list[Path]) -> hr.DataFrame:
    with hr.device("cuda"):
        frame = hr.read_parquet([str(path) for path in paths])
        hr.eval(frame)
    _core.synchronize_device()
    return frame


def theirs(paths: list[Path]) -> Any:
    table = cudf_reader.read_parquet(paths)
    cp.cuda.Device().synchronize()
    return table


def equal(made: hr.DataFrame, table: Any) -> str:
    """Compare the bits of all values on the device."""
    dtypes = [made[name].dtype for name in made.columns]
    for name, other in zip(made.columns, cudf_rows.arrays_of(table, *dtypes), strict=True):
        assert made[name].device == "cuda:0", name
        assert made[name].isna().sum() == 0, name
        mine = cp.asarray(hr.asarray(made[name]))
        cp.testing.assert_array_equal(mine.view("i8"), other.view("i8"))
    return f"{len(made)} equal rows"


def write(folder: Path) -> dict[str, list[Path]]:
    """Two columns of few integers and one of random floats, as pyarrow and we write them."""
    rng = np.random.default_rng(0)
    table = pa.table(
        {
            "k": rng.integers(0, 60_000, ROWS),
            "g": rng.integers(0, 100, ROWS),
            "x": rng.standard_normal(ROWS),
        }
    )
    codecs = ("none", "snappy", "zstd")
    (folder / "parts").mkdir()
    step = ROWS // FILES + 1
    with ThreadPoolExecutor() as pool:
        for codec in codecs:
            pool.submit(pq.write_table, table, folder / codec, compression=codec)
        for part in range(FILES):
            some = table.slice(part * step, step)
            pool.submit(pq.write_table, some, folder / "parts" / f"{part:03}.parquet")
    frame = hr.from_arrow(table)
    frame.to_parquet(str(folder / "gpu"), layout="gpu")
    frame.to_parquet(str(folder / "own"), compression="snappy")
    return {
        "uncompressed": [folder / "none"],
        "Snappy": [folder / "snappy"],
        "zstd": [folder / "zstd"],
        'our layout="gpu"': [folder / "gpu"],
        "our Snappy": [folder / "own"],
        f"{FILES} files of Snappy": sorted((folder / "parts").iterdir()),
    }


BARS = {"uncompressed": 1.8, "Snappy": 1.8, "zstd": 1.3, 'our layout="gpu"': 2}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=9)
    parser.add_argument("--only", default="")
    parser.add_argument(
        "--output", type=Path, default=Path(measure.ROOT / "bench/results/parquet-cuda.jsonl")
    )
    options = parser.parse_args()
    if reason := _core.why_no_cuda():
        print(f"nothing to run: {reason}")
        return
    bench = measure.Bench(
        "parquet_cuda",
        ["cupy-cuda13x", "pyarrow", *([] if cudf_reader.missing else cudf_reader.PACKAGES)],
        options.runs,
        options.output,
        options.only,
    )
    print(_core.cuda_device_name(0))
    rivals = []
    if cudf_reader.missing:
        bench.left_out("all", "cudf", cudf_reader.missing)
    else:
        cudf_reader.use_pool(2**33)
    with tempfile.TemporaryDirectory() as folder:
        for name, paths in write(Path(folder)).items():
            size = sum(path.stat().st_size for path in paths)
            if not cudf_reader.missing:
                bar = BARS.get(name, 2 if len(paths) > 1 else None)
                rivals = [measure.Rival("cudf", lambda paths=paths: theirs(paths), bar)]
            bench.step(
                f"2e7 x 3, {name}, {size / 2**20:.0f} MiB",
                lambda paths=paths: ours(paths),
                rivals,
                equal,
                moved=24 * ROWS,
                rows=ROWS,
            )
    bench.check("fallbacks", lambda: repr(hr.fallbacks()))
    if bench.wrong:
        raise SystemExit("\n".join(bench.wrong))


if __name__ == "__main__":
    main()
