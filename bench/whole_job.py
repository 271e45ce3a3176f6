# SPDX-License-Identifier: Apache-2.0
"""Steps 1 and 3 to 6 of the ECG job in several engines; as a program: one engine, once.

`python bench/whole_job.py ENGINE FILE` imports what the engine needs, runs the job and prints its
answer and its peak memory as one line of JSON. Others read by their fastest reader of one column
and go on with Numba, which needs less time for each step than SciPy and NumPy (see ./dev bench
ecg --only f32). Their machine code comes from Numba's cache.
"""

from __future__ import annotations

import json
import math
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

RATE = 1e6 / 3600  # of the generated signal
QRS_WIDTH = 0.02 * RATE
TAPS = 2 * round(5 * QRS_WIDTH) + 1
GATE_WINDOW = 2 * (round(0.3 * RATE) // 2) + 1
WINDOW = 4 * round(0.15 * RATE)
BEFORE = round(0.25 * RATE)


def headrace() -> Callable[[str], Any]:
    """Run the job as `python -m headrace.demo` does."""
    from headrace.demo import job

    import headrace as hr

    def work(path: str) -> Any:
        plan = job.plan(hr.read_csv(path, dtypes="float32").ecg.to_array(), RATE)
        return plan.beats.to_numpy(), plan.counts.to_numpy()

    return work


def ricker_numpy(points: int, width: float) -> Any:
    """Return the closed form that scipy.signal.ricker had."""
    import numpy as np

    square = ((np.arange(points) - (points - 1) / 2) / width) ** 2
    return 2 / (math.sqrt(3 * width) * math.pi**0.25) * (1 - square) * np.exp(-square / 2)


def with_numba(read: Callable[[str], Any]) -> Callable[[str], Any]:
    """Continue with NumPy and Numba after reading."""
    import numba_kernels as kernels
    import numpy as np

    def work(path: str) -> Any:
        x = read(path)
        response = kernels.convolve_direct(x, ricker_numpy(TAPS, QRS_WIDTH).astype(x.dtype))
        gate = kernels.early_exit(response, GATE_WINDOW // 2, 1.6 * kernels.deviation(response))
        del response
        positions = np.flatnonzero(gate)
        intervals = np.diff(positions)
        seconds = intervals / RATE
        counts, _ = np.histogram(seconds, 85, (0.3, 2.0))
        kept = (seconds >= 0.3) & (seconds <= 2.0)
        begins = np.maximum(positions[:-1][kept] - BEFORE, 0)
        return kernels.cut_beats(x, begins, intervals[kept], WINDOW), counts

    return work


def pyarrow() -> Callable[[str], Any]:
    """Read with pyarrow."""
    import pyarrow as pa
    import pyarrow.csv

    options = pyarrow.csv.ConvertOptions(column_types={"ecg": pa.float32()})

    def read(path: str) -> Any:
        return pyarrow.csv.read_csv(path, convert_options=options)["ecg"].to_numpy()

    return with_numba(read)


def polars() -> Callable[[str], Any]:
    """Read with Polars."""
    import polars as pl

    return with_numba(lambda path: pl.read_csv(path, schema={"ecg": pl.Float32})["ecg"].to_numpy())


def pandas() -> Callable[[str], Any]:
    """Read with pandas' C engine."""
    import pandas as pd

    return with_numba(lambda path: pd.read_csv(path, dtype="float32")["ecg"].to_numpy())


ENGINES = {work.__name__: work for work in (headrace, pyarrow, polars, pandas)}


def status_bytes(key: str) -> int:
    """Return one of the kernel's figures of this process."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(key):
            return 1024 * int(line.split()[1])
    raise LookupError(key)


def main() -> None:
    began = time.perf_counter()
    work = ENGINES[sys.argv[1]]()
    imported, resident = time.perf_counter(), status_bytes("VmRSS")
    beats, counts = work(sys.argv[2])
    ended, peak = time.perf_counter(), status_bytes("VmHWM")
    answer = {
        "beats": len(beats),
        "counts": counts.tolist(),
        "peak_bytes": peak - resident,
        "imports_s": imported - began,
        "job_s": ended - imported,
    }
    print(json.dumps(answer))


if __name__ == "__main__":
    main()
