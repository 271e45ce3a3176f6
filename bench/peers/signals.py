# SPDX-License-Identifier: Apache-2.0
"""hr.signal on noise of any kind beside SciPy, NumPy and Numba: ./dev bench signals [--rows N]."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import numba
import numpy as np
import scipy.fft
import scipy.signal
from measure import HEADER, ROOT, Bench, Rival

import headrace as hr

WORKERS = 2
PACKAGES = ["numpy", "scipy", "numba"]


def equal(ours: Any, theirs: Any) -> str:
    """Compare values bit for bit (NaN equals NaN)."""
    for a, b in zip(*(x if isinstance(x, tuple) else (x,) for x in (ours, theirs)), strict=True):
        np.testing.assert_array_equal(np.asarray(a), np.asarray(b))
    return "equal"


def close_to(relative: float) -> Any:
    """Compare with a tolerance that is relative to the largest value."""

    def compare(ours: Any, theirs: Any) -> str:
        worst = float(np.abs(ours - theirs).max() / np.abs(theirs).max())
        assert worst <= relative, f"off by {worst:.1e} of the largest, {relative:.0e} allowed"
        return f"within {worst:.0e}"

    return compare


def overlap_save(x: Any, taps: Any) -> Any:
    """Convolve by hand in blocks of scipy.fft, as somebody who knows how would."""
    m = len(taps)
    length = 1 << max(12, (4 * m - 1).bit_length())
    fresh = length - m + 1
    blocks = -(-len(x) // fresh)
    padded = np.zeros(blocks * fresh + m - 1, x.dtype)
    first = m - 1 - (m - 1) // 2
    padded[first : first + len(x)] = x
    views = np.lib.stride_tricks.sliding_window_view(padded, length)[::fresh]
    spectrum = scipy.fft.rfft(taps, length)
    out = np.empty((blocks, fresh), x.dtype)
    for k in range(0, blocks, 64):
        terms = scipy.fft.rfft(views[k : k + 64], workers=WORKERS)
        terms *= spectrum
        out[k : k + 64] = scipy.fft.irfft(terms, length, workers=WORKERS)[:, m - 1 :]
    return out.ravel()[: len(x)]


@numba.njit(parallel=True)
def van_herk(x: Any, half: int, threshold: float) -> Any:
    """Mark maxima of windows by running maxima of blocks, forwards and backwards."""
    least = x.dtype.type(-np.inf)
    window = 2 * half + 1
    gate = np.zeros(len(x), np.bool_)
    blocks = (len(x) + window - 1) // window
    chunk = max(1, 65_536 // window)
    for part in numba.prange((blocks + chunk - 1) // chunk):
        backwards = np.empty(window, x.dtype)
        for block in range(part * chunk, min(blocks, (part + 1) * chunk)):
            first = block * window
            top = least
            for j in range(window - 1, -1, -1):
                i = first - half + j
                if 0 <= i < len(x):
                    top = max(top, x[i])
                backwards[j] = top
            top = least
            for j in range(min(window, len(x) - first)):
                if j > 0 and first + half + j < len(x):
                    top = max(top, x[first + half + j])
                value = x[first + j]
                gate[first + j] = value >= threshold and value >= max(top, backwards[j])
    return gate


@numba.njit(parallel=True)
def cut_rows(x: Any, begins: Any, width: int, zscore: bool) -> Any:
    """Cut segments, and scale them, row by row."""
    out = np.empty((len(begins), width), x.dtype)
    for k in numba.prange(len(begins)):
        part = x[begins[k] : begins[k] + width]
        center, spread = 0.0, 1.0
        if zscore:
            for value in part:
                center += value
            center /= width
            spread = 0.0
            for value in part:
                spread += (value - center) ** 2
            spread = np.sqrt(spread / width)
        for i in range(width):
            out[k, i] = (part[i] - center) / spread
    return out


def convolve(bench: Bench, x: Any, name: str) -> None:
    """Many taps, and a wavelet of which few count."""
    many = np.random.default_rng(2).normal(size=4096).astype(x.dtype)
    wavelet = hr.signal.ricker(200, 4.0, x.dtype).to_numpy()
    for title, taps, bar in (("4096 taps", many, 2.5), ("wavelet", wavelet, 5)):
        bench.step(
            f"convolve {title} {name}",
            lambda taps=taps: hr.signal.fft_convolve(x, taps).to_numpy(),
            [
                Rival(
                    "oaconvolve", lambda taps=taps: scipy.signal.oaconvolve(x, taps, "same"), bar
                ),
                Rival("overlap-save by hand", lambda taps=taps: overlap_save(x, taps), 1),
            ],
            close_to(64 * float(np.finfo(x.dtype).eps)),
            2 * x.nbytes,
            len(x),
        )


def suppress(bench: Bench, x: Any, name: str) -> None:
    """Short, middle and wide windows."""
    for window in (33, 129, 1001, 10_001):
        bench.step(
            f"peaks {window} {name}",
            lambda window=window: hr.signal.non_max_suppression(x, window, 2.0).to_numpy(),
            [Rival("numba", lambda window=window: van_herk(x, window // 2, 2.0), 1.5)],
            equal,
            x.nbytes + len(x),
            len(x),
        )


def windows(bench: Bench, x: Any, name: str) -> None:
    """Segments at any places."""
    begins = np.sort(np.random.default_rng(3).integers(0, len(x) - 150, len(x) // 200))
    for mode in ("none", "zscore"):
        bench.step(
            f"windows {mode} {name}",
            lambda mode=mode: hr.signal.windows(x, begins, width=150, normalize=mode).to_numpy(),
            [Rival("numba", lambda mode=mode: cut_rows(x, begins, 150, mode == "zscore"), 1.2)],
            close_to(4 * float(np.finfo(x.dtype).eps)),
            2 * len(begins) * 150 * x.itemsize,
            len(begins),
        )


def counts(bench: Bench, x: Any, name: str) -> None:
    """Differences, positions and histograms."""

    def both(bins: Any) -> Any:
        found, edges = hr.signal.histogram(x, bins)
        return found.to_numpy(), edges.to_numpy()

    bench.step(
        f"diff {name}",
        lambda: hr.signal.diff(x).to_numpy(),
        [Rival("numpy", lambda: np.diff(x), 1)],
        equal,
        2 * x.nbytes,
        len(x),
    )
    for title, gate in (("few", x > 2), ("half", x > 0)):
        bench.step(
            f"positions {title} {name}",
            lambda gate=gate: hr.signal.index_of_true(gate).to_numpy(),
            [Rival("numpy", lambda gate=gate: np.flatnonzero(gate), 1)],
            equal,
            len(x) + 8 * int(gate.sum()),
            len(x),
        )
    edges = np.sort(np.random.default_rng(4).normal(size=101))
    for title, bins in (("100", 100), ("20000", 20_000), ("given edges", edges)):
        bench.step(
            f"histogram {title} {name}",
            lambda bins=bins: both(bins),
            [Rival("numpy", lambda bins=bins: np.histogram(x, bins), 1)],
            equal,
            x.nbytes,
            len(x),
        )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=20_000_000, help="samples")
    parser.add_argument("--runs", type=int, default=7, help="timed runs of each engine")
    parser.add_argument("--only", default="", help="only the steps whose name holds this")
    parser.add_argument("--output", type=Path, help="JSON lines (default: bench/results)")
    options = parser.parse_args()
    output = options.output
    if output is None and options.rows == 20_000_000 and not options.only:
        output = ROOT / "bench/results/signals-cpu.jsonl"
    hr.threads(WORKERS)
    numba.set_num_threads(WORKERS)
    bench = Bench("signals", PACKAGES, options.runs, output, options.only)
    print(HEADER, flush=True)
    noise = np.random.default_rng(1).normal(size=options.rows)
    for name, dtype in (("f32", np.float32), ("f64", np.float64)):
        x = noise.astype(dtype)
        x.flags.writeable = False
        for part in (convolve, suppress, windows, counts):
            part(bench, x, name)
    return bench.close()


if __name__ == "__main__":
    sys.exit(main())
