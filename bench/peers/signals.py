# SPDX-License-Identifier: Apache-2.0
"""hr.signal on noise compared with SciPy, NumPy and Numba: ./dev bench signals [--rows N]."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from typing import Any

sys.path.pop(0)  # this folder: csv.py here is not Python's
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import numba
import numpy as np
import scipy.fft
import scipy.ndimage
import scipy.signal
from headrace.demo import RATE
from measure import DTYPES, EXTRA, WORKERS, Bench, Rival, close_to, count_near, equal, run
from numba_kernels import convolve_direct, cut_rows, early_exit, van_herk

import headrace as hr

PACKAGES = ["numpy", "scipy", "numba"]


def overlap_save(x: Any, taps: Any) -> Any:
    """Overlap-save convolution written with scipy.fft."""
    m = len(taps)
    length = 1 << max(15, (4 * m - 1).bit_length())
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


def convolve_scipy(x: Any, taps: Any, how: Any) -> Any:
    """One of SciPy's convolutions, with all threads it supports."""
    with scipy.fft.set_workers(WORKERS):
        return how(x, taps, mode="same")


def suppress_scipy(x: Any, window: int, threshold: float) -> Any:
    """Local maxima; a plateau is marked completely."""
    highest = scipy.ndimage.maximum_filter1d(x, window, mode="constant", cval=-np.inf)
    return (x == highest) & (x >= threshold)


def suppress_bottleneck(x: Any, window: int, threshold: float) -> Any:
    """The same by a moving maximum, shifted to be centred."""
    bottleneck = importlib.import_module("bottleneck")
    half = window // 2
    padded = np.concatenate([x, np.full(half, -np.inf, x.dtype)])
    return (x == bottleneck.move_max(padded, window, min_count=1)[half:]) & (x >= threshold)


def near_peaks(ours: Any, theirs: Any) -> str:
    """Compare counts: scipy selects from the highest peak down, so it keeps more in noise."""
    return count_near(0.25)(ours, theirs)


def suppress_peaks(x: Any, window: int, threshold: float) -> Any:
    """Count scipy's peaks; they are chosen by height, so a few differ."""
    found, _ = scipy.signal.find_peaks(x, height=threshold, distance=window // 2 + 1)
    return len(found)


def suppressors(x: Any, window: int, threshold: float, bar: float) -> list[Rival]:
    """List the ways to mark the maxima of windows."""
    half = window // 2
    return [
        Rival("numba van Herk", lambda: van_herk(x, half, threshold), bar),
        Rival("numba early exit", lambda: early_exit(x, half, threshold), bar),
        Rival("scipy maximum_filter1d", lambda: suppress_scipy(x, window, threshold), bar),
        Rival("scipy find_peaks", lambda: suppress_peaks(x, window, threshold), bar, near_peaks),
        Rival("bottleneck move_max", lambda: suppress_bottleneck(x, window, threshold), bar),
    ][: 5 if "bottleneck" in EXTRA else 4]


def convolve(bench: Bench, x: Any, name: str) -> None:
    """Many effective taps, the wavelet of the ECG job, and a wide one."""
    many = np.random.default_rng(2).normal(size=4096).astype(x.dtype)
    width = 0.02 * RATE
    wavelet = hr.signal.ricker(2 * round(5 * width) + 1, width, x.dtype).to_numpy()
    wide = hr.signal.ricker(1001, 100.0, x.dtype).to_numpy()
    for title, taps, bar in (
        ("4096 taps", many, 2.5),
        ("wavelet", wavelet, 5),
        ("1001 taps", wide, 1),
    ):
        direct = [
            Rival("numba direct", lambda taps=taps: convolve_direct(x, taps), bar),
            Rival("numpy convolve", lambda taps=taps: np.convolve(x, taps, "same"), bar),
        ]
        bench.step(
            f"convolve {title} {name}",
            lambda taps=taps: hr.signal.fft_convolve(x, taps).to_numpy(),
            [
                Rival(
                    "scipy oaconvolve",
                    lambda taps=taps: convolve_scipy(x, taps, scipy.signal.oaconvolve),
                    bar,
                ),
                Rival(
                    "scipy fftconvolve",
                    lambda taps=taps: convolve_scipy(x, taps, scipy.signal.fftconvolve),
                    bar,
                ),
                Rival("overlap-save by hand", lambda taps=taps: overlap_save(x, taps), bar),
                *(direct if len(taps) < 100 else []),
            ],
            close_to(64 * float(np.finfo(x.dtype).eps)),
            2 * x.nbytes,
            len(x),
        )


def suppress(bench: Bench, x: Any, name: str) -> None:
    """Short, middle and wide windows."""
    for window in (33, 129, 1001, 10_001):
        rivals = suppressors(x, window, 2.0, 1.5)
        bench.step(
            f"peaks {window} {name}",
            lambda window=window: hr.signal.non_max_suppression(x, window, 2.0).to_numpy(),
            rivals if window == 129 else rivals[:2],
            equal,
            x.nbytes + len(x),
            len(x),
        )


def windows(bench: Bench, x: Any, name: str) -> None:
    """Segments at arbitrary positions."""
    begins = np.sort(np.random.default_rng(3).integers(0, len(x) - 150, len(x) // 200))
    for mode in ("none", "zscore"):
        bench.step(
            f"windows {mode} {name}",
            lambda mode=mode: hr.signal.segments(x, begins, width=150, normalize=mode).to_numpy(),
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
            lambda gate=gate: hr.signal.nonzero(gate).to_numpy(),
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


def spectra(bench: Bench, x: Any, name: str) -> None:
    """Analytic signals, spectra of segments and the way back, SciPy with all its threads."""
    y = np.random.default_rng(5).normal(size=len(x)).astype(x.dtype)
    near = close_to(256 * float(np.finfo(x.dtype).eps))

    def back(stft: Any, istft: Any) -> Any:
        return np.asarray(istft(stft(x)[2])[1])[: len(x)]

    def theirs(call: Any) -> Any:
        with scipy.fft.set_workers(WORKERS):
            return call()

    tasks = {
        "hilbert": lambda room: room.hilbert(x),
        "spectrogram": lambda room: room.spectrogram(x)[2],
        "stft + istft": lambda room: back(room.stft, room.istft),
        "welch": lambda room: room.welch(x)[1],
        "csd": lambda room: room.csd(x, y)[1],
        "correlate": lambda room: room.correlate(x, y[:4096], "same"),
    }
    for title, task in tasks.items():
        bench.step(
            f"{title} {name}",
            lambda task=task: np.asarray(task(hr.signal)),
            [Rival("scipy", lambda task=task: theirs(lambda: task(scipy.signal)), 1)],
            near,
            2 * x.nbytes,
            len(x),
        )


def filters(bench: Bench, x: Any) -> None:
    """Recursive filters, smoothing and other rates."""
    b, a = scipy.signal.butter(4, 0.2)
    sections = scipy.signal.butter(4, 0.2, output="sos")
    near = close_to(1e-9)
    for name, ours, rivals in (
        (
            "lfilter order 4",
            lambda: hr.signal.lfilter(b, a, x),
            [Rival("scipy", lambda: scipy.signal.lfilter(b, a, x), 1, near)],
        ),
        (
            "sosfilt order 4",
            lambda: hr.signal.sosfilt(sections, x),
            [Rival("scipy", lambda: scipy.signal.sosfilt(sections, x), 1, near)],
        ),
        (
            "filtfilt order 4",
            lambda: hr.signal.filtfilt(b, a, x),
            [
                Rival("scipy", lambda: scipy.signal.filtfilt(b, a, x), 1, near),
                Rival("scipy sections", lambda: scipy.signal.sosfiltfilt(sections, x), 1, near),
            ],
        ),
        (
            "decimate 10",
            lambda: hr.signal.decimate(x, 10),
            [Rival("scipy", lambda: scipy.signal.decimate(x, 10), 1, near)],
        ),
        (
            "resample_poly 3/2",
            lambda: hr.signal.resample_poly(x, 3, 2),
            [Rival("scipy", lambda: scipy.signal.resample_poly(x, 3, 2), 1, near)],
        ),
        (
            "savgol 11, 3",
            lambda: hr.signal.savgol_filter(x, 11, 3),
            [Rival("scipy", lambda: scipy.signal.savgol_filter(x, 11, 3), 1, near)],
        ),
        (
            "medfilt 5",
            lambda: hr.signal.medfilt(x, 5),
            [
                Rival("scipy", lambda: scipy.signal.medfilt(x, 5), 1, equal),
                Rival(
                    "scipy ndimage",
                    lambda: scipy.ndimage.median_filter(x, 5, mode="constant"),
                    1,
                    equal,
                ),
            ],
        ),
    ):
        bench.step(name, lambda ours=ours: ours().to_numpy(), rivals, near, 2 * x.nbytes, len(x))


def prominent(bench: Bench, x: Any) -> None:
    """Peaks with their prominences."""

    def ours() -> Any:
        peaks, found = hr.signal.find_peaks(x, prominence=1.0)
        return peaks.to_numpy(), found["prominences"].to_numpy()

    def theirs() -> Any:
        peaks, found = scipy.signal.find_peaks(x, prominence=1.0)
        return peaks, found["prominences"]

    rivals = [Rival("scipy", theirs, 1)]
    bench.step("find_peaks prominence", ours, rivals, equal, x.nbytes, len(x))


def transforms(bench: Bench, x: Any) -> None:
    """Wavelets of 32 widths, and a matrix with a kernel of 31 x 31."""
    widths = np.geomspace(1, 64, 32)
    wavelets = [
        hr.signal.ricker(max(1, int(min(10 * w, len(x)))), w).to_numpy()[::-1] for w in widths
    ]

    def by_rows(how: Any) -> Any:
        made = np.empty((len(widths), len(x)))
        for row, taps in zip(made, wavelets, strict=True):
            row[:] = convolve_scipy(x, taps, how)
        return made

    bench.step(
        "cwt 32 widths",
        lambda: hr.signal.cwt(x, hr.signal.ricker, widths).to_numpy(),
        [
            Rival("scipy oaconvolve", lambda: by_rows(scipy.signal.oaconvolve), 1),
            Rival("scipy fftconvolve", lambda: by_rows(scipy.signal.fftconvolve), 1),
        ],
        close_to(1e-10),
        33 * x.nbytes,
        len(x),
    )
    side = 4096 if len(x) >= 10**7 else 1024
    image = np.random.default_rng(5).normal(size=(side, side))
    kernel = np.random.default_rng(6).normal(size=(31, 31))
    image.flags.writeable = False
    bench.step(
        f"convolve2d {side} x 31",
        lambda: hr.signal.convolve2d(image, kernel, "same").to_numpy(),
        [
            Rival(
                "scipy fftconvolve",
                lambda: convolve_scipy(image, kernel, scipy.signal.fftconvolve),
                1,
            ),
            Rival(
                "scipy oaconvolve",
                lambda: convolve_scipy(image, kernel, scipy.signal.oaconvolve),
                1,
            ),
        ],
        close_to(1e-10),
        2 * image.nbytes,
        image.size,
    )


def steps(bench: Bench, rows: int) -> None:
    """Measure all of it on noise."""
    noise = np.random.default_rng(1).normal(size=rows)
    numba.set_num_threads(WORKERS)
    for name, dtype in DTYPES.items():
        x = noise.astype(dtype)
        x.flags.writeable = False
        for part in (convolve, suppress, windows, counts, spectra):
            part(bench, x, name)
    x = noise
    x.flags.writeable = False
    for rest in (filters, prominent, transforms):
        rest(bench, x)


if __name__ == "__main__":
    sys.exit(run("signals", __doc__, PACKAGES, steps))
