# SPDX-License-Identifier: Apache-2.0
"""hr.linalg compared with NumPy (OpenBLAS): ./dev bench linalg [--rows N]."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.pop(0)  # this folder: csv.py here is not Python's
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import numpy as np
from measure import DTYPES, Bench, Rival, close_to, run, shared

import headrace as hr

PACKAGES = ["numpy"]


def steps(bench: Bench, rows: int) -> None:
    """Products of squares, distances, tall and thin operands; then factorizations."""
    random = np.random.default_rng(1)
    tall = max(rows // 64, 256)
    shapes = [(384, 384, 384), (1024, 1024, 1024), (1024, 64, 1024), (64, tall, 64), (tall, 64, 1)]
    for name, dtype in DTYPES.items():
        for m, k, n in shapes:
            a, b = (random.normal(size=shape).astype(dtype) for shape in ((m, k), (k, n)))
            x, y = hr.asarray(shared(a)), hr.asarray(shared(b))
            bound = close_to(k * float(np.finfo(dtype).eps))
            bench.step(
                f"matmul {m} x {k} x {n} {name}",
                lambda x=x, y=y: (x @ y).to_numpy(),
                [Rival("numpy", lambda a=a, b=b: a @ b, 1)],
                bound,
                (m * k + k * n + m * n) * np.dtype(dtype).itemsize,
                m * n * k,
            )
    square, thin = random.normal(size=(384, 384)), random.normal(size=(tall, 20))
    positive = square @ square.T + np.eye(384)
    a, s, t = (hr.asarray(shared(x)) for x in (square, positive, thin))
    cases = {
        "solve 384": (lambda: hr.linalg.solve(s, a), lambda: np.linalg.solve(positive, square)),
        "inv 384": (lambda: hr.linalg.inv(s), lambda: np.linalg.inv(positive)),
        "cholesky 384": (lambda: hr.linalg.cholesky(s), lambda: np.linalg.cholesky(positive)),
        "qr 384": (lambda: hr.linalg.qr(a).R, lambda: np.linalg.qr(square).R),
        "svdvals 384": (lambda: hr.linalg.svdvals(a), lambda: np.linalg.svdvals(square)),
        "eigvalsh 384": (lambda: hr.linalg.eigvalsh(s), lambda: np.linalg.eigvalsh(positive)),
        f"qr {tall} x 20": (lambda: hr.linalg.qr(t).R, lambda: np.linalg.qr(thin).R),
    }
    for label, (ours, theirs) in cases.items():
        values = thin if "x 20" in label else square
        bench.step(
            label,
            lambda ours=ours: ours().to_numpy(),
            [Rival("numpy", theirs, 1)],
            close_to(1e-8),
            2 * values.nbytes,
            values.size,
        )


if __name__ == "__main__":
    sys.exit(run("linalg", __doc__, PACKAGES, steps))
