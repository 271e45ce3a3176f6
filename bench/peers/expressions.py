# SPDX-License-Identifier: Apache-2.0
"""Expressions over large arrays beside NumPy and numexpr: ./dev bench expressions [--rows N]."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from typing import Any

sys.path.pop(0)  # this folder: csv.py here is not Python's
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import numpy as np
from measure import EXTRA, WORKERS, Bench, Rival, count_near, run, shared

SIN_COS_BAR = 3.0
PACKAGES = ["numpy", *[name for name in EXTRA if name == "numexpr"]]


def count_numexpr(x: Any) -> int:
    """Count with numexpr, in blocks on all cores."""
    numexpr = importlib.import_module("numexpr")
    numexpr.set_num_threads(WORKERS)
    return int(numexpr.evaluate("sum(where(sin(x)**2 + cos(x)**2 == 1, 1, 0))", {"x": x}))


def sin_cos(bench: Bench, count: int) -> None:
    """Rocklin's line, counted whole: no engine may stop at the first false."""
    step = "sin**2 + cos**2 == 1"
    if not bench.wants(step):
        return
    x = np.random.default_rng(1).random(count)
    ours = shared(x)
    bench.step(
        step,
        lambda: int((np.sin(ours) ** 2 + np.cos(ours) ** 2 == 1).sum()),
        [
            Rival(
                "numpy",
                lambda: int(np.count_nonzero(np.sin(x) ** 2 + np.cos(x) ** 2 == 1)),
                SIN_COS_BAR,
            ),
            Rival("numexpr", lambda: count_numexpr(x)),
        ][: 2 if "numexpr" in EXTRA else 1],
        count_near(0.1),
        8 * count,
        count,
    )


def steps(bench: Bench, rows: int) -> None:
    """Measure on five values a row: the 10000 x 10000 of the article for 20 million rows."""
    sin_cos(bench, 5 * rows)


if __name__ == "__main__":
    sys.exit(run("expressions", __doc__, PACKAGES, steps))
