# SPDX-License-Identifier: Apache-2.0
"""Arrays of any rank compared with NumPy and SciPy: ./dev bench arrays [--rows N].

N elements in the tasks over one axis (1e8 in the record); the others have the sizes in their names.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

sys.path.pop(0)  # this folder: csv.py here is not Python's
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import numpy as np
import scipy.fft
import scipy.linalg
from measure import WORKERS, Bench, Rival, close_to, equal, run, shared

import headrace as hr

PACKAGES = ["numpy", "scipy"]
#: Ratio that each task asks for; less where a library's GEMM does the work.
BAR, SOLVE_BAR, PRODUCT_BAR = 1.5, 0.8, 0.9


def same_moments(ours: Any, theirs: Any) -> str:
    """Compare random numbers of other generators by size, mean and variance."""
    assert ours.shape == theirs.shape, f"shapes {ours.shape} and {theirs.shape}"
    low, high = ours.min(), ours.max()
    assert low >= 0 and high < 1, f"from {low} to {high}"
    away = abs(ours.mean() - 0.5) + abs(ours.var() - 1 / 12)
    assert away < 10 / np.sqrt(ours.size), f"mean and variance {away} away"
    return f"mean and variance within {away:.0e}"


def elementwise_and_sums(bench: Bench, random: np.random.Generator) -> None:
    """Outer products by broadcasting; sums of the inner, the outer and the middle axis."""
    left, right = random.normal(size=(8000, 1)), random.normal(size=5000)
    x, y = shared(left), shared(right)
    bench.step(
        "broadcast outer 8000 x 5000",
        lambda: (x * y + x).to_numpy(),
        [Rival("numpy", lambda: left * right + left, BAR)],
        equal,
        8 * 8000 * 5000,
        8000 * 5000,
    )
    cube = random.normal(size=(400, 250, 400))
    z = shared(cube)
    for axis in (2, 0, 1):
        bench.step(
            f"sum axis {axis} of 400 x 250 x 400",
            lambda axis=axis: z.sum(axis=axis).to_numpy(),
            [Rival("numpy", lambda axis=axis: cube.sum(axis=axis), BAR)],
            close_to(1e-12),
            cube.nbytes,
            cube.size,
        )


def layout_and_order(bench: Bench, random: np.random.Generator, rows: int) -> None:
    """A transposed copy, elements at positions, sorted rows, searches, what occurs."""
    matrix = random.normal(size=(6000, 5000))
    m = shared(matrix)
    bench.step(
        "transpose copy 6000 x 5000",
        lambda: m.T.reshape(-1).to_numpy(),
        [Rival("numpy", lambda: matrix.T.reshape(-1), BAR)],
        equal,
        2 * matrix.nbytes,
        matrix.size,
    )
    i, j = (random.integers(0, size, 5_000_000) for size in matrix.shape)
    at = shared(i), shared(j)
    bench.step(
        "gather 5e6 of x[i, j]",
        lambda: m[at].to_numpy(),
        [
            Rival("numpy", lambda: matrix[i, j], BAR),
            Rival("numpy take", lambda: matrix.ravel().take(i * 5000 + j), BAR),
        ],
        equal,
        3 * 8 * len(i),
        len(i),
    )
    lines = random.normal(size=(20_000, 500))
    s = shared(lines)
    bench.step(
        "argsort rows 20000 x 500",
        lambda: np.argsort(s, axis=1).to_numpy(),
        [
            Rival("numpy", lambda: np.argsort(lines, axis=1), BAR),
            Rival("numpy stable", lambda: np.argsort(lines, axis=1, stable=True), BAR),
        ],
        equal,
        2 * lines.nbytes,
        lines.size,
    )
    edges = np.sort(random.normal(size=1_000_000))
    values = random.normal(size=5_000_000)
    e, v = shared(edges), shared(values)
    bench.step(
        "searchsorted 5e6 in 1e6",
        lambda: np.searchsorted(e, v).to_numpy(),
        [Rival("numpy", lambda: np.searchsorted(edges, values), BAR)],
        equal,
        16 * len(values),
        len(values),
    )
    numbers = random.integers(0, rows // 10, rows)
    n = shared(numbers)
    bench.step(
        f"unique {rows:.0e} i64",
        lambda: np.unique(n).to_numpy(),
        [
            Rival("numpy", lambda: np.unique(numbers), BAR),
            Rival("numpy sorted", lambda: np.unique(numbers, sorted=False), BAR, equal_sets),
        ],
        equal,
        numbers.nbytes,
        rows,
    )


def equal_sets(ours: Any, theirs: Any) -> str:
    """Compare values in any order."""
    return equal(ours, np.sort(theirs))


def linear_algebra(bench: Bench, random: np.random.Generator, rows: int) -> None:
    """Products of three, equations, covariances."""
    a, b, c = (random.normal(size=shape) for shape in ((1000, 800), (800, 1200), (1200, 600)))
    x, y, z = (shared(each) for each in (a, b, c))
    bench.step(
        "einsum ij,jk,kl->il",
        lambda: hr.linalg.einsum("ij,jk,kl->il", x, y, z).to_numpy(),
        [
            Rival("numpy", lambda: np.einsum("ij,jk,kl->il", a, b, c, optimize=True), PRODUCT_BAR),
            Rival("numpy matmul", lambda: a @ b @ c, PRODUCT_BAR),
        ],
        close_to(1e-10),
        a.nbytes + b.nbytes + c.nbytes,
        1000 * 600,
    )
    square = random.normal(size=(2000, 2000))
    right = random.normal(size=2000)
    s, r = shared(square), shared(right)
    bench.step(
        "solve 2000",
        lambda: hr.linalg.solve(s, r).to_numpy(),
        [
            Rival("numpy", lambda: np.linalg.solve(square, right), SOLVE_BAR),
            Rival("scipy", lambda: scipy.linalg.solve(square, right), SOLVE_BAR),
        ],
        close_to(1e-6),
        square.nbytes,
        square.size,
    )
    tall = random.normal(size=(rows // 100, 64))
    t = shared(tall)
    bench.step(
        f"cov {rows // 100:.0e} x 64",
        lambda: np.asarray(np.cov(t, rowvar=False)),
        [Rival("numpy", lambda: np.cov(tall, rowvar=False), PRODUCT_BAR)],
        close_to(1e-10),
        tall.nbytes,
        tall.size,
    )


def transforms_and_random(bench: Bench, random: np.random.Generator, rows: int) -> None:
    """A matrix to its spectrum; uniform numbers."""
    image = random.normal(size=(4096, 4096))
    x = shared(image)
    bench.step(
        "fft2 4096 x 4096",
        lambda: np.asarray(hr.array_api.fft.fftn(x)),
        [
            Rival(
                "scipy",
                lambda: scipy.fft.fft2(image.astype(complex), workers=WORKERS),
                BAR,
            ),
            Rival("scipy real", lambda: scipy.fft.fft2(image, workers=WORKERS), BAR),
            Rival("numpy", lambda: np.fft.fft2(image), BAR),
        ],
        close_to(1e-10),
        3 * image.nbytes,
        image.size,
    )
    bench.step(
        f"random {rows:.0e}",
        lambda: hr.random.random(rows, seed=1).to_numpy(),
        [
            Rival("numpy", lambda: np.random.default_rng(1).random(rows), BAR),
            Rival(
                "numpy SFC64",
                lambda: np.random.Generator(np.random.SFC64(1)).random(rows),
                BAR,
            ),
        ],
        same_moments,
        8 * rows,
        rows,
    )


def steps(bench: Bench, rows: int) -> None:
    """All tasks."""
    random = np.random.default_rng(1)
    elementwise_and_sums(bench, random)
    layout_and_order(bench, random, rows)
    linear_algebra(bench, random, rows)
    transforms_and_random(bench, random, rows)


if __name__ == "__main__":
    sys.exit(run("arrays", __doc__, PACKAGES, steps))
