# SPDX-License-Identifier: Apache-2.0
"""CSV of numbers, dates, times, strings and nulls to a frame on a GPU: ./dev bench csv_cuda."""

from __future__ import annotations

import argparse
import sys
import tempfile
from functools import partial
from pathlib import Path
from typing import Any

sys.path.pop(0)  # this folder: csv.py here is not Python's
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

try:
    import cupy as cp
except ImportError:
    sys.exit("csv_cuda: CuPy is required for the comparison; install cupy-cuda13x")
import cudf_reader
import measure
import numpy as np

import headrace as hr
from headrace import _core

FILES = 112
#: Columns of the file and what cuDF makes of them.
TYPES = {
    "i": ("INT64", np.int64),
    "x": ("FLOAT64", np.float64),
    "day": ("TIMESTAMP_DAYS", np.int32),
    "time": ("TIMESTAMP_MICROSECONDS", np.int64),
    "name": ("STRING", None),
    "text": ("STRING", None),
}


def mixed_frame(rows: int) -> Any:
    """Make numbers, dates, times and strings, some to be quoted; a twentieth of two is null."""
    random = np.random.default_rng(7)
    words = hr.DataFrame(
        {
            "name": [f"n{i:05d}" for i in range(1000)],
            "text": [
                f'word {i}, quoted as "{i}"' if i % 50 == 0 else f"word {i}, with {i * i} commas"
                for i in range(1000)
            ],
        }
    )
    words = words.iloc[random.integers(0, 1000, rows)].reset_index(drop=True)
    seconds = random.integers(0, 10**9, rows) * np.timedelta64(1, "s")
    frame = hr.DataFrame(
        {
            "i": random.integers(0, 10**9, rows),
            "x": np.round(random.standard_normal(rows) * 1000, 4),
            "day": np.datetime64("1990-01-01") + random.integers(0, 20_000, rows),
            "time": np.datetime64("1990-01-01", "us") + seconds,
            "name": words["name"],
            "text": words["text"],
        }
    )
    gone = hr.DataFrame({"gone": random.random(rows) < 0.05})["gone"]
    for name in ("i", "name"):
        frame[name] = frame[name].mask(gone)
    return frame


def memory_of(column: Any, dtype: Any, size: int) -> np.ndarray:
    """Values of a column of cuDF on the host."""
    data = column.data()
    memory = cp.cuda.UnownedMemory(data.ptr, data.size, column)
    return cp.asnumpy(cp.ndarray((size,), dtype, cp.cuda.MemoryPointer(memory, 0)))


def same_strings(ours: Any, theirs: Any) -> None:
    """Compare strings and their borders; the null ones have no bytes."""
    texts = ["" if text is None else text for text in ours.to_list()]
    whole = "".join(texts).encode()
    ends = memory_of(theirs.child(0), np.int32, len(texts) + 1)
    np.testing.assert_array_equal(np.diff(ends), [len(text) for text in texts])
    assert memory_of(theirs, np.uint8, int(ends[-1])).tobytes() == whole


def same_table(ours: Any, theirs: Any) -> str:
    """Compare a frame with columns of cuDF, which does not round each number to the nearest."""
    ours = ours.to("cpu")
    for name, column in zip(ours.columns, theirs, strict=True):
        gone = np.asarray(ours[name].isna())
        assert (column.size(), column.null_count()) == (len(ours), int(gone.sum())), name
        dtype = TYPES[name][1]
        if dtype is None:
            same_strings(ours[name], column)
            continue
        values = memory_of(column, dtype, len(ours))[~gone]
        mine = np.asarray(ours[name].dropna())
        if dtype is np.float64:
            measure.close_to(1e-12)(mine, values)
        else:
            np.testing.assert_array_equal(mine.astype(np.int64), values)
    return f"{len(ours)} equal rows"


def read(source: Any) -> Any:
    """Read ours to completion."""
    with hr.device("cuda"):
        frame = hr.read_csv(source, dtypes={"i": "int64"})
        hr.eval(frame)
    _core.synchronize_device()
    return frame


def read_theirs(*paths: Path, threads: int = 1) -> Any:
    """Read cuDF's to completion."""
    types = [name for name, _ in TYPES.values()]
    if len(paths) == 1:
        columns = cudf_reader.read_csv(paths[0], types)
    else:
        columns = cudf_reader.read_csv_files(paths, types, threads)
    cp.cuda.Stream.null.synchronize()
    return columns


def main() -> int:
    """Run the steps."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=10_500_000)
    parser.add_argument("--runs", type=int, default=9)
    parser.add_argument("--only", default="")
    parser.add_argument(
        "--output", type=Path, default=Path(measure.ROOT / "bench/results/csv-cuda.jsonl")
    )
    options = parser.parse_args()
    if reason := _core.why_no_cuda():
        print(f"nothing to run: {reason}")
        return 0
    packages = ["cupy-cuda13x", "numpy", *([] if cudf_reader.missing else cudf_reader.PACKAGES)]
    bench = measure.Bench("csv_cuda", packages, options.runs, options.output, options.only)
    print(_core.cuda_device_name(0))
    print(measure.HEADER)
    rivals = []
    if cudf_reader.missing:
        bench.left_out("mixed CSV", "cudf", cudf_reader.missing)
    else:
        cudf_reader.use_pool(2**35)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "mixed.csv"
        frame = mixed_frame(options.rows)
        frame.to_csv(path, durable=False)
        size = path.stat().st_size
        if not cudf_reader.missing:
            rivals = [measure.Rival("cudf", lambda: read_theirs(path), 2.5)]
        bench.step(
            f"mixed CSV of {size / 1e6:.0f} MB in the page cache to a frame there",
            lambda: read(path),
            rivals,
            same_table,
            moved=size,
            rows=options.rows,
        )
        path.unlink()
        paths = [path.with_name(f"{k:03}.csv") for k in range(FILES)]
        ends = np.linspace(0, options.rows, FILES + 1).astype(int)
        for each, begin, end in zip(paths, ends, ends[1:], strict=False):
            frame[begin:end].to_csv(each, durable=False)
        if not cudf_reader.missing:
            rivals = [
                measure.Rival(
                    f"cudf, {n} thread{'s' * (n > 1)}", partial(read_theirs, *paths, threads=n), 2
                )
                for n in (1, 8)
            ]
        bench.step(
            f"the same in {FILES} files as one frame there",
            lambda: read(paths),
            rivals,
            same_table,
            moved=size,
            rows=options.rows,
        )
    print(f"what ran on the host: {hr.fallbacks()}")
    return bench.close()


if __name__ == "__main__":
    sys.exit(main())
