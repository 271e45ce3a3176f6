# SPDX-License-Identifier: Apache-2.0
"""Expressions over large arrays vs. NumPy and numexpr: ./dev bench expressions [--rows N]."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from typing import Any

sys.path.pop(0)  # this folder: csv.py here is not Python's
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import numpy as np
from measure import EXTRA, WORKERS, Bench, Rival, count_near, run, shared
from numba_kernels import count_ones

import headrace as hr

ULPS = 1.0
#: How many of the first values of the generator give 1, on any machine and any number of threads.
COUNTS = {100_000_000: 78_017_656}
PACKAGES = ["numpy", *[name for name in EXTRA if name == "numexpr"]]


def count_numexpr(x: Any) -> int:
    """Count with numexpr, in blocks on all cores."""
    numexpr = importlib.import_module("numexpr")
    numexpr.set_num_threads(WORKERS)
    return int(numexpr.evaluate("sum(where(sin(x)**2 + cos(x)**2 == 1, 1, 0))", {"x": x}))


def headrace_count(ours: Any) -> int:
    """Count the line of the article as it stands."""
    return int((np.sin(ours) ** 2 + np.cos(ours) ** 2 == 1).sum())


def ulps(function: str, x: Any) -> float:
    """Return how far from the exact sine or cosine ours is at most, in units of the last place."""
    ours = getattr(np, function)(shared(x)).to_numpy()
    exact = getattr(np, function)(x.astype(np.longdouble))  # 64 bits of mantissa
    apart = np.abs(ours.astype(np.longdouble) - exact)
    return float((apart / np.spacing(np.abs(exact.astype(np.float64)))).max())


def sin_cos(bench: Bench, count: int) -> None:
    """Rocklin's line, counted whole: no engine may stop at the first false."""
    step = "sin**2 + cos**2 == 1"
    if not bench.wants(step):
        return
    x = np.random.default_rng(1).random(count)
    ours = shared(x)

    def bound() -> str:
        parts = x[:1_000_000], np.random.default_rng(2).uniform(-1e6, 1e6, 1_000_000)
        most = {name: max(ulps(name, part) for part in parts) for name in ("sin", "cos")}
        assert max(most.values()) <= ULPS, f"{most} ulp, allowed {ULPS}"
        return f"sin within {most['sin']:.2f} ulp, cos within {most['cos']:.2f} (allowed {ULPS})"

    def fixed() -> str:
        counts = []
        for threads in (1, 2, 4):
            with hr.threads(threads):
                counts.append(headrace_count(ours))
        assert len(set(counts)) == 1, f"{counts} with 1, 2 and 4 threads"
        assert counts[0] == COUNTS.get(count, counts[0]), f"{counts[0]}, not {COUNTS[count]}"
        return f"{counts[0]} with 1, 2 and 4 threads"

    bench.check(f"{step}, each within", bound)
    bench.check(f"{step}, our count", fixed)
    bench.step(
        step,
        lambda: headrace_count(ours),
        [
            Rival("numpy", lambda: int(np.count_nonzero(np.sin(x) ** 2 + np.cos(x) ** 2 == 1)), 8),
            Rival("numba fused", lambda: int(count_ones(x)), 2),
            Rival("numexpr", lambda: count_numexpr(x), 2),
        ][: 3 if "numexpr" in EXTRA else 2],
        count_near(0.1),
        8 * count,
        count,
    )


def steps(bench: Bench, rows: int) -> None:
    """Measure on five values a row: the 10000 x 10000 of the article for 20 million rows."""
    sin_cos(bench, 5 * rows)


if __name__ == "__main__":
    sys.exit(run("expressions", __doc__, PACKAGES, steps))
