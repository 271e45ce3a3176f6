# SPDX-License-Identifier: Apache-2.0
"""NumPy on Headrace memory vs. other allocators, and the pool itself: ./dev bench memory."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

sys.path.pop(0)  # this folder: csv.py here is not Python's
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import numpy as np
from measure import FULL, OURS, ROOT, Bench, run, time_of
from peers import limits

import headrace as hr

PACKAGES = ["numpy", "polars", "pyarrow"]
PROGRAM = Path(__file__).resolve().parents[1] / "numpy_pipeline.py"
POOL_BENCH = ROOT / "build/dev/headrace_bench_memory"
DEFAULT, MOST_SLOWER = "numpy", 0.95
#: Megabytes of a temporary -> how many times faster than default NumPy, with live temporaries.
SIZES = {0.08: None, 0.4: 9.0, 1.6: 9.0, 3.0: 9.0, 8.0: None, 160.0: 1.4}
#: Bars that are a few percent apart need more turns than the others.
MORE_RUNS = 4
SETTINGS = {
    # A threshold above 32 MiB is ignored, so mmap is disabled.
    "glibc tuned": {
        "MALLOC_MMAP_MAX_": "0",
        "MALLOC_TRIM_THRESHOLD_": str(2**40),
        "MALLOC_TOP_PAD_": str(2**26),
    },
    "tcmalloc": {"TCMALLOC_RELEASE_RATE": "0"},
    "mimalloc": {"MIMALLOC_RESET_DELAY": "1000000", "MIMALLOC_ALLOW_LARGE_OS_PAGES": "1"},
    "jemalloc": {"MALLOC_CONF": "dirty_decay_ms:-1,muzzy_decay_ms:-1,oversize_threshold:0"},
}
LIBRARIES = {
    "tcmalloc": "libtcmalloc_minimal.so.4",
    "mimalloc": "libmimalloc.so.2",
    "jemalloc": "libjemalloc.so.2",
}
OTHERS = ("pyarrow mimalloc", "pyarrow system", "pyarrow jemalloc", "polars")


# ---- NumPy and others, a process each ----------------------------------------------------------
def library(name: str) -> str | None:
    """Return the path of an allocator's library where Debian puts it, or None."""
    found = sorted(Path("/usr/lib").glob(f"*-linux-gnu/{LIBRARIES[name]}"))
    return str(found[0]) if found else None


class Worker:
    """A process that runs the twenty operations on request."""

    def __init__(self, engine: str, values: int, live: bool) -> None:
        env = {**os.environ, **SETTINGS.get(engine, {}), "POLARS_MAX_THREADS": "1"}
        if engine in LIBRARIES:
            env["LD_PRELOAD"] = library(engine) or ""
        line = [sys.executable, str(PROGRAM), engine, str(values), "live" if live else "drop"]
        pipe = subprocess.PIPE
        self.process = subprocess.Popen(line, env=env, stdin=pipe, stdout=pipe, text=True)
        self.answer = self._read().strip()

    def _read(self) -> str:
        assert self.process.stdout
        line = self.process.stdout.readline()
        if not line:
            raise RuntimeError(f"{self.process.args} ended ({self.process.wait()})")
        return line

    def run(self, calls: int) -> list[float]:
        """Wall, processor and kernel seconds, and page faults, per call."""
        assert self.process.stdin
        self.process.stdin.write(f"{calls}\n")
        self.process.stdin.flush()
        return list(json.loads(self._read()))

    def close(self) -> None:
        """End the process."""
        self.process.communicate()


@contextmanager
def workers(engines: list[str], values: int, live: bool) -> Iterator[dict[str, Worker]]:
    """Start a process for each engine, and end them all."""
    made: dict[str, Worker] = {}
    try:
        for engine in engines:
            made[engine] = Worker(engine, values, live)
        yield made
    finally:
        for worker in made.values():
            worker.close()


def bar_of(engine: str, megabytes: float, live: bool) -> float | None:
    """The required speedup; sizes without a bar are only shown."""
    if SIZES[megabytes] is None:
        return None
    if engine == DEFAULT:
        return SIZES[megabytes] if live else MOST_SLOWER
    return MOST_SLOWER


def pipeline(bench: Bench, megabytes: float, live: bool) -> None:
    """Twenty operations; every engine's last array must have our bits."""
    step = f"20 ops, {megabytes:g} MB {'live' if live else 'dropped'}"
    if not bench.wants(step):
        return
    missing = [name for name in LIBRARIES if library(name) is None]
    for name in missing:
        bench.left_out(step, name, f"no {LIBRARIES[name]} here")
    engines = [OURS, DEFAULT, *(name for name in SETTINGS if name not in missing), *OTHERS]
    with workers(engines, max(int(megabytes * 1e6 / 8), 1), live) as made:
        calls = {
            name: min(1000, max(1, int(0.05 / max(worker.run(2)[0], 1e-6))))
            for name, worker in made.items()
        }
        times: dict[str, list[tuple[float, float]]] = {name: [] for name in made}
        faults: dict[str, list[float]] = {name: [] for name in made}
        for _ in range(bench.runs * (MORE_RUNS if megabytes < 50 else 1)):
            for name, worker in made.items():
                seconds, busy, _, count = worker.run(calls[name])
                times[name].append((seconds, busy))
                faults[name].append(count)
        told = {
            name: bench.tell(step, name, same_hash, made[OURS].answer, worker.answer)
            for name, worker in made.items()
        }
    for name in engines:
        bench.judge(
            step,
            name,
            times[name],
            times[OURS],
            bar_of(name, megabytes, live),
            more={
                "answer": None if name == OURS else told[name],
                "calls_a_run": calls[name],
                "page_faults": float(np.median(faults[name])),
            },
        )
    most = 0 if SIZES[megabytes] else None
    bench.value(f"{step}, faults", OURS, float(np.median(faults[OURS])), "a run", most)


def same_hash(ours: str, theirs: str) -> str:
    """Compare the hashes of two results."""
    assert ours == theirs, "other bits"
    return "equal"


# ---- the pool ----------------------------------------------------------------------------------
def pool(bench: Bench) -> None:
    """The cost of one operation, from the pool's C++ benchmark."""
    if not bench.wants("pool"):
        return
    if not POOL_BENCH.exists():
        bench.left_out("pool", OURS, f"{POOL_BENCH.name} is not built")
        return
    line = [str(POOL_BENCH), "--benchmark_filter=^(random_|same_size)", "--benchmark_format=json"]
    line += [f"--benchmark_repetitions={bench.runs}"]
    done = subprocess.run(line, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True)
    found = json.loads(done.stdout)["benchmarks"]
    medians = {row["run_name"]: row for row in found if row.get("aggregate_name") == "median"}
    pairs = {name: row for name, row in medians.items() if "same_size" in name}
    mapped, pooled = (next(r for n, r in pairs.items() if w in n) for w in ("mmap", "pool/1048576"))
    step = "pool, 1 MiB"
    ratio = mapped["real_time"] / pooled["real_time"]
    bench.value(f"{step}, ns", OURS, pooled["real_time"], "ns")
    bench.value(f"{step}, ns", "mmap + munmap", mapped["real_time"], "ns")
    bench.value(f"{step}, against mmap", OURS, ratio, "x", least=20)
    bench.value(f"{step}, faults", OURS, pooled["faults"], "in 1,000,000", 0)
    for threads, most in ((1, 60), (2, 70)):
        for name, engine in (("random_statistics_over_pool", OURS), ("random_malloc", "malloc")):
            for spread, word in ((1, "doublings"), (0, "bytes")):
                row = medians.get(f"{name}/{spread}/threads:{threads}")
                if row is not None:
                    label = f"pool, {threads} thr, even {word}"
                    bar = most if engine == OURS else None
                    bench.value(label, engine, row["real_time"], "ns", bar)


# ---- what NumPy's arrays cost ------------------------------------------------------------------
def small_arrays(bench: Bench) -> None:
    """`np.empty` of few values, under our handler and under NumPy's own."""
    for values, most in ((10, 20.0), (1000, None), (10_000, None)):
        step = f"np.empty({values})"
        if not bench.wants(step):
            continue

        def work(count: int = values) -> Any:
            make = np.empty
            for _ in range(2000):
                make(count)
            return make(count).shape

        def nanoseconds(count: int = values) -> float:
            work(count)  # the first blocks of a block of use_for are new to the processor
            return time_of(work, 1)[1] / 2000 * 1e9

        times: dict[str, list[float]] = {OURS: [], DEFAULT: []}
        for _ in range(5 * bench.runs):
            with hr.memory.use_for("numpy"):
                times[OURS].append(nanoseconds())
            times[DEFAULT].append(nanoseconds())
        ours, theirs = (float(np.median(times[name])) for name in (OURS, DEFAULT))
        bench.value(step, OURS, ours, "ns")
        bench.value(step, DEFAULT, theirs, "ns")
        bench.value(f"{step}, more", OURS, ours - theirs, "ns", most)


def steps(bench: Bench, rows: int) -> None:
    """Run everything; a run of fewer rows than usual skips the large arrays."""
    for megabytes in SIZES:
        if 1e6 * megabytes <= 8 * rows:
            pipeline(bench, megabytes, live=True)
    for megabytes in (1.6, 160.0):
        if 1e6 * megabytes <= 8 * rows:
            pipeline(bench, megabytes, live=False)
    small_arrays(bench)
    pool(bench)
    limits.steps(bench, rows)


assert max(SIZES) * 1e6 == 8 * FULL

if __name__ == "__main__":
    sys.exit(run("memory", __doc__, PACKAGES, steps))
