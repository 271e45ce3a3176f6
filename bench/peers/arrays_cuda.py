# SPDX-License-Identifier: Apache-2.0
"""Arrays of any rank and signals on an NVIDIA GPU compared with CuPy: ./dev bench arrays_cuda."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

sys.path.pop(0)  # this folder: csv.py here is not Python's
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

try:
    import cupy as cp
except ImportError:
    sys.exit("arrays_cuda: CuPy is required for the comparison; install cupy-cuda13x")
import cupyx.scipy.signal
import measure
import numpy as np

import headrace as hr
from headrace import _core

#: Ratio that each task asks for; less where a library's GEMM or FFT does the work.
BAR, PRODUCT_BAR = 2.0, 0.7


def host(value: Any) -> Any:
    """An answer of either side as NumPy arrays."""
    if isinstance(value, tuple):
        return tuple(host(each) for each in value)
    return cp.asnumpy(value) if isinstance(value, cp.ndarray) else np.asarray(value)


def equal(ours: Any, theirs: Any) -> str:
    """Compare integers and what is moved alone."""
    np.testing.assert_array_equal(host(ours), host(theirs))
    return "equal"


def near(relative: float) -> Any:
    """Compare floats."""

    def same(ours: Any, theirs: Any) -> str:
        return measure.close_to(relative)(host(ours), host(theirs))

    return same


def same_moments(ours: Any, theirs: Any) -> str:
    """Compare random numbers of other generators by size, mean and variance."""
    assert ours.shape == theirs.shape
    away = abs(float(ours.mean()) - 0.5) + abs(float(ours.var()) - 1 / 12)
    assert away < 10 / np.sqrt(theirs.size), f"mean and variance {away} away"
    return f"mean and variance within {away:.0e}"


def done(value: Any) -> Any:
    """Run ours to completion."""
    for each in value if isinstance(value, tuple) else (value,):
        hr.eval(each)
    _core.synchronize_device()
    return value


def there(work: Any) -> Any:
    """Run theirs to completion."""
    value = work()
    cp.cuda.Stream.null.synchronize()
    return value


def taken(x: Any) -> Any:
    """CuPy values as ours, in memory without a writer."""
    return done(hr.asarray(x) * x.dtype.type(1))


class Steps:
    """Adds tasks of ours and of CuPy to a bench."""

    def __init__(self, bench: measure.Bench) -> None:
        self.bench = bench

    def __call__(
        self, name: str, ours: Any, theirs: Any, same: Any, moved: int, rows: int, bar: float = BAR
    ) -> None:
        if not self.bench.wants(name):
            return
        self.bench.step(
            name,
            lambda: done(ours()),
            [measure.Rival("cupy", lambda: there(theirs), bar)],
            same,
            moved=moved,
            rows=rows,
        )
        cp.get_default_memory_pool().free_all_blocks()


def layout_and_order(step: Steps, rows: int) -> None:
    """Broadcasting, axes, copies, positions, order."""
    random = cp.random.default_rng(1)
    left, right = random.standard_normal((8000, 1)), random.standard_normal(5000)
    x, y = taken(left), taken(right)
    step(
        "broadcast outer 8000 x 5000",
        lambda: x * y + x,
        lambda: left * right + left,
        equal,
        8 * 8000 * 5000,
        8000 * 5000,
    )
    cube = random.standard_normal((400, 250, 400))
    z = taken(cube)
    for axis in (2, 0, 1):
        step(
            f"sum axis {axis} of 400 x 250 x 400",
            lambda axis=axis: z.sum(axis=axis),
            lambda axis=axis: cube.sum(axis=axis),
            near(1e-12),
            cube.nbytes,
            cube.size,
        )
    matrix = random.standard_normal((6000, 5000))
    m = taken(matrix)
    step(
        "transpose copy 6000 x 5000",
        lambda: m.T.reshape(-1),
        lambda: matrix.T.reshape(-1),
        equal,
        2 * matrix.nbytes,
        matrix.size,
    )
    i, j = (random.integers(0, size, 5_000_000) for size in matrix.shape)
    at = taken(i), taken(j)
    step(
        "gather 5e6 of x[i, j]",
        lambda: m[at],
        lambda: matrix[i, j],
        equal,
        24 * len(i),
        len(i),
    )
    lines = random.standard_normal((20_000, 500))
    s = taken(lines)
    step(
        "argsort rows 20000 x 500",
        lambda: np.argsort(s, axis=1),
        lambda: cp.argsort(lines, axis=1),
        equal,
        2 * lines.nbytes,
        lines.size,
    )
    edges, values = cp.sort(random.standard_normal(1_000_000)), random.standard_normal(5_000_000)
    e, v = taken(edges), taken(values)
    step(
        "searchsorted 5e6 in 1e6",
        lambda: np.searchsorted(e, v),
        lambda: cp.searchsorted(edges, values),
        equal,
        16 * len(values),
        len(values),
    )
    numbers = random.integers(0, rows // 10, rows)
    n = taken(numbers)
    step(
        f"unique {rows:.0e} i64",
        lambda: np.unique(n),
        lambda: cp.unique(numbers),
        equal,
        numbers.nbytes,
        rows,
    )


def algebra_and_random(step: Steps, rows: int) -> None:
    """Products, equations, covariances, a transform of two axes, random numbers."""
    random = cp.random.default_rng(2)
    a, b, c = (random.standard_normal(shape) for shape in ((1000, 800), (800, 1200), (1200, 600)))
    x, y, z = (taken(each) for each in (a, b, c))
    step(
        "einsum ij,jk,kl->il",
        lambda: hr.linalg.einsum("ij,jk,kl->il", x, y, z),
        lambda: cp.einsum("ij,jk,kl->il", a, b, c, optimize=True),
        near(1e-10),
        a.nbytes + b.nbytes + c.nbytes,
        1000 * 600,
        PRODUCT_BAR,
    )
    square, right = random.standard_normal((2000, 2000)), random.standard_normal(2000)
    s, r = taken(square), taken(right)
    step(
        "solve 2000",
        lambda: hr.linalg.solve(s, r),
        lambda: cp.linalg.solve(square, right),
        near(1e-6),
        square.nbytes,
        square.size,
        PRODUCT_BAR,
    )
    tall = random.standard_normal((rows // 100, 64))
    t = taken(tall)
    step(
        f"cov {rows // 100:.0e} x 64",
        lambda: np.cov(t, rowvar=False),
        lambda: cp.cov(tall, rowvar=False),
        near(1e-10),
        tall.nbytes,
        tall.size,
    )
    image = random.standard_normal((4096, 4096))
    p = taken(image)
    step(
        "fft2 4096 x 4096",
        lambda: hr.array_api.fft.fftn(p),
        lambda: cp.fft.fft2(image),
        near(1e-10),
        5 * image.nbytes,
        image.size,
        PRODUCT_BAR,
    )

    def draws() -> Any:
        with hr.device("cuda"):
            return hr.random.random(rows, seed=1)

    step(
        f"random {rows:.0e}",
        draws,
        lambda: cp.random.default_rng(1).random(rows),
        same_moments,
        8 * rows,
        rows,
    )


def signals(step: Steps, rows: int) -> None:
    """Convolutions and spectra, SciPy's own defaults."""
    random = cp.random.default_rng(3)
    theirs = cupyx.scipy.signal
    for dtype in (cp.float64, cp.float32):
        x = random.standard_normal(rows, dtype)
        taps, y = random.standard_normal(4096, dtype), random.standard_normal(rows, dtype)
        h, g, z = taken(x), taken(taps), taken(y)
        same = near(512 * float(np.finfo(dtype).eps))
        word = np.dtype(dtype).name
        tasks = {
            "fftconvolve 4096 taps": (
                lambda h=h, g=g: hr.signal.fft_convolve(h, g),
                lambda x=x, taps=taps: theirs.oaconvolve(x, taps, mode="same"),
            ),
            "correlate 4096": (
                lambda h=h, g=g: hr.signal.correlate(h, g, "same"),
                lambda x=x, taps=taps: theirs.correlate(x, taps, "same", "fft"),
            ),
            "spectrogram": (
                lambda h=h: hr.signal.spectrogram(h)[2],
                lambda x=x: theirs.spectrogram(x)[2],
            ),
            "stft": (lambda h=h: hr.signal.stft(h)[2], lambda x=x: theirs.stft(x)[2]),
            "welch": (lambda h=h: hr.signal.welch(h)[1], lambda x=x: theirs.welch(x)[1]),
            "csd": (
                lambda h=h, z=z: hr.signal.csd(h, z)[1],
                lambda x=x, y=y: theirs.csd(x, y)[1],
            ),
        }
        for name, (mine, other) in tasks.items():
            step(f"{name} {word}", mine, other, same, 2 * x.nbytes, rows)


def main() -> int:
    """Run the tasks that are asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--rows", type=int, default=100_000_000)
    parser.add_argument("--only", default="")
    parser.add_argument(
        "--output", type=Path, default=Path(measure.ROOT / "bench/results/arrays-cuda.jsonl")
    )
    options = parser.parse_args()
    if reason := _core.why_no_cuda():
        print(f"nothing to run: {reason}")
        return 0
    bench = measure.Bench(
        "arrays_cuda", ["cupy-cuda13x", "numpy"], options.runs, options.output, options.only
    )
    print(_core.cuda_device_name(0))
    print(measure.HEADER)
    step = Steps(bench)
    layout_and_order(step, options.rows)
    algebra_and_random(step, options.rows)
    signals(step, options.rows // 10)
    print(f"what ran on the host: {hr.fallbacks()}")
    return bench.close()


if __name__ == "__main__":
    sys.exit(main())
