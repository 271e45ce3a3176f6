# SPDX-License-Identifier: Apache-2.0
"""hr.fft compared with SciPy and NumPy: ./dev bench transforms [--rows N]."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.pop(0)  # this folder: csv.py here is not Python's
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import numpy as np
import scipy.fft
from measure import DTYPES, WORKERS, Bench, Rival, close_to, run, shared

import headrace as hr

PACKAGES = ["numpy", "scipy"]


def steps(bench: Bench, rows: int) -> None:
    """FFT of the whole signal, of a power of two, and of many short rows."""
    noise, n = np.random.default_rng(1).normal(size=rows), rows
    power = 1 << (n.bit_length() - 1)
    for name, dtype in DTYPES.items():
        x, size = noise.astype(dtype), np.dtype(dtype).itemsize
        eps = float(np.finfo(dtype).eps)
        short = min(4096, power)
        cases = {
            f"rfft {n} {name}": x,
            f"rfft 2^{power.bit_length() - 1} {name}": x[:power],
            f"rfft rows of {short} {name}": x[: n // short * short].reshape(-1, short),
        }
        for label, data in cases.items():
            bench.step(
                label,
                lambda d=shared(data): hr.fft.rfft(d).to_numpy(),
                [
                    Rival("scipy.fft", lambda d=data: scipy.fft.rfft(d, workers=WORKERS), 1),
                    Rival("numpy.fft", lambda d=data: np.fft.rfft(d), 1),
                ],
                close_to(16 * eps),
                2 * data.size * size,
                data.size,
            )


if __name__ == "__main__":
    sys.exit(run("transforms", __doc__, PACKAGES, steps))
