# SPDX-License-Identifier: Apache-2.0
"""Work beyond the budget compared with the same work without one: ./dev bench limits."""

from __future__ import annotations

import mmap
import os
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

sys.path.pop(0)  # this folder: csv.py here is not Python's
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import duckdb
import numpy as np
import pyarrow as pa
from headrace.demo import job
from headrace.demo.generator import RATE
from measure import OURS, WORKERS, Bench, Rival, close_to, equal, run, shared, show, time_of

import headrace as hr

PACKAGES = ["numpy", "duckdb", "pyarrow"]
#: Footprint over limit, and how many times the unlimited time it may take.
CURVE = {0.5: 1.02, 1.25: 1.3, 2: 2.0, 4: 3.0}
PASSES = 10
LEAST_ROWS = 4_000_000
SLACK = 1.2


def disk_speed(folder: str) -> tuple[float, float]:
    """Bytes per second of two threads writing, then reading past the page cache in 8 MiB blocks."""
    size, count = 8 << 20, 32
    path = Path(folder) / f"headrace-speed-{os.getpid()}"
    buffers = [mmap.mmap(-1, size) for _ in range(2)]
    for buffer in buffers:
        buffer.write(os.urandom(1 << 16) * (size >> 16))
    descriptor = os.open(path, os.O_CREAT | os.O_RDWR | os.O_DIRECT, 0o600)
    try:
        os.unlink(path)
        os.posix_fallocate(descriptor, 0, size * count)
        speeds = []
        for call in (os.pwritev, os.preadv):

            def move(half: int, call: Callable[..., int] = call) -> None:
                for k in range(half, count, 2):
                    call(descriptor, [buffers[half]], k * size)

            begin = time.perf_counter()
            with ThreadPoolExecutor(2) as pool:
                list(pool.map(move, range(2)))
            speeds.append(size * count / (time.perf_counter() - begin))
    finally:
        os.close(descriptor)
    return speeds[0], speeds[1]


class Resident:
    """The peak of this process' anonymous memory, sampled, relative to the start."""

    def __enter__(self) -> Resident:
        hr.memory.trim()
        self._base, self.most = self._now(), 0
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._sample)
        self._thread.start()
        return self

    def __exit__(self, *args: object) -> None:
        self._stop.set()
        self._thread.join()

    def _sample(self) -> None:
        while not self._stop.wait(0.002):
            self.most = max(self.most, self._now() - self._base)

    @staticmethod
    def _now() -> int:
        with open("/proc/self/smaps_rollup") as file:
            return sum(int(line.split()[1]) for line in file if line.startswith("Anonymous:")) << 10


# ---- the work ------------------------------------------------------------------------------------
def convolution(x: Any) -> Any:
    """A generated signal, its convolution with 4,096 effective taps, and the residual."""
    signal = x * 2
    hr.eval(signal)
    taps = hr.asarray(np.hanning(4096))
    response = hr.signal.fft_convolve(signal, taps, "same")
    hr.eval(response)
    return float((response - signal).sum())


def training(x: Any) -> Any:
    """Ten passes of gradient descent over two columns."""
    feature, target = x * 0.5, x * 2 + 1
    hr.eval(feature, target)
    weight = offset = 0.0
    for _ in range(PASSES):
        error = feature * weight + offset - target
        slope, shift = (error * feature).mean(), error.mean()
        hr.eval(slope, shift)
        weight, offset = weight - float(slope), offset - float(shift)
    return weight, offset


def columns(x: Any) -> Any:
    """Six columns that are kept, derived from each other, then read in another order."""
    made = [x * 3]
    for k in range(5):
        made.append(np.sqrt(made[-1] * made[-1] + k))
        hr.eval(made[-1])
    return tuple(float(made[k].sum()) for k in (0, 3, 1, 5, 2, 4))


def groups(x: Any) -> Any:
    """Sums and counts by keys that each occur about eight times, in distant rows."""
    frame = hr.DataFrame({"key": x * 2, "value": x * 3})
    hr.eval(frame.key, frame.value)
    made = frame.groupby("key", as_index=False).agg(total=("value", "sum"), n=("value", "count"))
    hr.eval(*[made[name] for name in made.columns])
    return tuple(float(made[name].sum()) for name in made.columns)


def ecg_job(x: Any) -> Any:
    """Steps 3 to 6 of the ECG job over a generated signal."""
    signal = x * 1.0
    hr.eval(signal)
    plan = job.plan(signal, RATE)
    hr.eval(plan.response, plan.gate)
    return plan.counts.to_numpy(), float(plan.beats.sum())


def sort(x: Any) -> Any:
    """Two generated columns sorted by one, and order-dependent sums."""
    frame = hr.DataFrame({"k": x * 1.0, "v": x * 2})
    hr.eval(frame)
    ordered = frame.sort_values("k")
    hr.eval(ordered)
    return float(ordered.k.sum()), float(ordered.v.sum())


def rows_of(x: Any) -> Any:
    """Rows of sixteen columns, generated."""
    matrix = (x[: len(x) // 16 * 16] * 3).reshape(-1, 16)
    hr.eval(matrix)
    return matrix


def kmeans(x: Any) -> Any:
    """Twenty clusters in ten iterations, from the first rows."""
    rows = rows_of(x)
    start = rows[:20].to_numpy()
    return float(hr.learn.KMeans(20, init=start, n_init=1, max_iter=10, tol=0).fit(rows).inertia_)


def pca(x: Any) -> Any:
    """Four principal components."""
    return hr.learn.PCA(4).fit(rows_of(x)).explained_variance_.to_numpy()


def logistic(x: Any) -> Any:
    """Two classes by a linear model."""
    rows = rows_of(x)
    classes = (rows[:, 0] + rows[:, 1] * rows[:, 2] > 0) * 1
    return hr.learn.LogisticRegression(max_iter=20, tol=1e-9).fit(rows, classes).coef_.ravel()


WORK = {
    "sort": sort,
    "convolution": convolution,
    "training": training,
    "columns": columns,
    "groups": groups,
    "ECG job": ecg_job,
    "KMeans": kmeans,
    "PCA": pca,
    "LogisticRegression": logistic,
}


# ---- rivals --------------------------------------------------------------------------------------
def sort_in_duckdb(x: Any, limit: int | None, folder: str) -> Any:
    """Sort two columns in DuckDB into a table, spilling to the same disk."""
    config: dict[str, Any] = {"threads": WORKERS, "temp_directory": folder}
    if limit is not None:
        config["memory_limit"] = f"{limit}B"
    base = duckdb.connect(":memory:", config=config)
    try:
        base.register("x", pa.table({"x": x.to_numpy()}))
        base.execute("CREATE TABLE t AS SELECT x AS k, x * 2 AS v FROM x")
        base.execute("CREATE TABLE ordered AS SELECT * FROM t ORDER BY k")
        return base.execute("SELECT sum(k), sum(v) FROM ordered").fetchone()
    finally:
        base.close()


def duckdb_rivals(name: str, x: Any, limit: int | None) -> list[Rival]:
    """The DuckDB version of a workload, if there is one."""
    if name != "sort":
        return []
    folder = hr.memory.spill().directory
    sums = close_to(1e-6)
    return [Rival("duckdb", lambda: sort_in_duckdb(x, limit, folder), 1, sums)]


# ---- the steps -----------------------------------------------------------------------------------
def moved_bytes() -> int:
    """Bytes moved between memory and disk so far."""
    spilled = hr.memory.spill()
    return spilled.written_bytes + spilled.fetched_bytes


def step_of(name: str, ratio: float) -> str:
    """The name of a row."""
    return f"{name}, {ratio:g} x limit"


def curve(bench: Bench, name: str, x: Any, write: float, read: float) -> None:
    """One workload at each ratio of footprint to limit."""
    work = WORK[name]
    hr.memory.trim()
    base = hr.memory.stats().used_bytes
    with hr.memory.stats() as stats:
        work(x)
    footprint = stats.peak_bytes - base
    seconds = float(np.median([time_of(lambda: work(x), 1)[0] for _ in range(3)]))
    for ratio, bar in CURVE.items():
        step = step_of(name, ratio)
        if not bench.wants(step):
            continue
        limit = base + int(footprint / ratio)

        def limited(limit: int = limit) -> Any:
            with hr.memory.limit(limit):
                return work(x)

        before = hr.memory.spill()
        with Resident() as resident:
            limited()
        after = hr.memory.spill()
        written = after.written_bytes - before.written_bytes
        fetched = after.fetched_bytes - before.fetched_bytes
        needed = written / write + fetched / read
        allowed = max(bar, SLACK * needed / seconds)
        rivals = [Rival("no limit", lambda: work(x), 1 / allowed)]
        if ratio > 1:
            rivals += duckdb_rivals(name, x, limit - base)
        # Two variants at most two percent apart: telling them apart takes more runs.
        bench.step(step, limited, rivals, equal, more_runs=4 if ratio < 1 else 1)
        bench.value(f"{step}, moved", OURS, (written + fetched) / 1e6, "MB")
        least = 1.05 * limit / 2**20
        bench.value(f"{step}, resident", OURS, resident.most / 2**20, "MiB", most=least)
        if name == "training" and ratio == 2:
            # LRU misses every chunk of a scan that does not fit, in each pass.
            share = 100 * fetched / (PASSES * 2 * x.nbytes)
            bench.value(f"{step}, of LRU", OURS, share, "%", most=60)


def steps(bench: Bench, rows: int) -> None:
    """Measure the disk, then each workload."""
    if not any(bench.wants(step_of(name, ratio)) for name in WORK for ratio in CURVE):
        return
    if rows < LEAST_ROWS:
        show(f"limits: left out below {LEAST_ROWS:,} rows: what the workers pin must fit")
        return
    write, read = disk_speed(hr.memory.spill().directory)
    bench.value("disk, write", OURS, write / 1e9, "GB/s")
    bench.value("disk, read", OURS, read / 1e9, "GB/s")
    random = np.random.default_rng(3)
    x = shared(np.repeat(random.standard_normal(rows // 16), 16) + np.tile([0, 0.5], rows // 2))
    for name in WORK:
        curve(bench, name, x, write, read)


if __name__ == "__main__":
    sys.exit(run("limits", __doc__, PACKAGES, steps))
