# SPDX-License-Identifier: Apache-2.0
"""The ECG job step by step vs. NumPy, SciPy, pandas and others: ./dev bench ecg [--rows N]."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

sys.path.pop(0)  # this folder: csv.py here is not Python's
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import numpy as np
import whole_job
from headrace.demo import RATE, ecg, job
from measure import (
    DTYPES,
    EXTRA,
    FULL,
    OURS,
    ROOT,
    Bench,
    Rival,
    close_to,
    count_near,
    equal,
    run,
    shared,
)
from numba_kernels import cut_beats, cut_beats_into
from numpy.lib.stride_tricks import sliding_window_view
from peers import csv, expressions, signals, transforms
from sklearn.decomposition import PCA
from whole_job import BEFORE, GATE_WINDOW, QRS_WIDTH, TAPS, WINDOW, ricker_numpy

import headrace as hr

CSV_BAR = 2.5
PACKAGES = sorted({*csv.PACKAGES, *signals.PACKAGES, "scikit-learn", *EXTRA})


# ---- signal --------------------------------------------------------------------------------------
def envelope_numpy(x: Any, width: int = 1200) -> Any:
    """Lowest and highest value of each pixel column, by reduceat."""
    at = np.arange(width, dtype=np.int64) * len(x) // width
    return np.minimum.reduceat(x, at), np.maximum.reduceat(x, at)


def envelope_reshape(x: Any, width: int = 1200) -> Any:
    """The same where the width divides the length; the rest one by one."""
    if len(x) % width:
        return envelope_numpy(x, width)
    pixels = x.reshape(width, -1)
    return pixels.min(axis=1), pixels.max(axis=1)


def detection(bench: Bench, x64: Any) -> dict[str, Any]:
    """Envelope, wavelet, convolution, threshold, suppression; returns the job's arrays in f32."""
    kept: dict[str, Any] = {}
    n = len(x64)
    for name, dtype in DTYPES.items():
        x, size = x64.astype(dtype), np.dtype(dtype).itemsize
        ours, word = shared(x), np.dtype(dtype).name
        eps = float(np.finfo(dtype).eps)
        bench.step(
            f"envelope {name}",
            lambda ours=ours: tuple(part.to_numpy() for part in hr.plot.envelope(ours)),
            [
                Rival("numpy reduceat", lambda x=x: envelope_numpy(x), 1),
                Rival("numpy reshape", lambda x=x: envelope_reshape(x), 1),
            ],
            equal,
            n * size,
            n,
        )
        bench.step(
            f"ricker {name}",
            lambda word=word: hr.signal.ricker(TAPS, QRS_WIDTH, dtype=word).to_numpy(),
            [Rival("numpy", lambda d=dtype: ricker_numpy(TAPS, QRS_WIDTH).astype(d))],
            close_to(4 * eps),
            rows=TAPS,
        )
        # The wavelet takes microseconds: it is shown alone, its target is that of the whole job.
        our_taps = hr.signal.ricker(TAPS, QRS_WIDTH, dtype=word)
        response = hr.signal.fft_convolve(ours, our_taps, "same")
        r = response.to_numpy()
        bench.step(
            f"std {name}",
            lambda v=response: float(v.std()),
            [Rival("numpy", lambda r=r: float(r.std()), 1)],
            close_to(1e-12 if name == "f64" else 1e-4),
            n * size,
            n,
        )
        threshold = float((1.6 * response.std()).to_numpy())
        bench.step(
            f"non_max_suppression {name}",
            lambda v=response, t=threshold: hr.signal.non_max_suppression(
                v, GATE_WINDOW, t
            ).to_numpy(),
            signals.suppressors(r, GATE_WINDOW, threshold, 1.5),
            equal if name == "f64" else count_near(0.001),
            n * size + n,
            n,
        )
        kept = {"x": x, "ours": ours, "response": response, "threshold": threshold}
    return kept


# ---- beats ---------------------------------------------------------------------------------------
def windows_numpy(x: Any, begins: Any, lengths: Any, width: int) -> Any:
    """Cut rows from the signal, zero behind their length, with mean 0 and deviation 1."""
    rows = sliding_window_view(x, width)[begins]
    inside = np.arange(width) < lengths[:, None]
    count = np.minimum(lengths, width)[:, None].astype(x.dtype)
    np.multiply(rows, inside, out=rows)
    rows -= rows.sum(axis=1, keepdims=True) / count
    np.multiply(rows, inside, out=rows)
    rows /= np.sqrt(np.einsum("ij,ij->i", rows, rows)[:, None] / count)
    return rows


def beats_numpy(x: Any, positions: Any, intervals: Any, cut: Any = windows_numpy) -> Any:
    """Prune what is no beat, then cut."""
    seconds = intervals / RATE
    kept = (seconds >= 0.3) & (seconds <= 2.0)
    begins = positions[:-1][kept] - BEFORE
    return cut(x, np.maximum(begins, 0), intervals[kept], WINDOW)


def beats_headrace(x: Any, positions: Any, intervals: Any) -> Any:
    """Do the same with us."""
    seconds = intervals / RATE
    kept = (seconds >= 0.3) & (seconds <= 2.0)
    begins = positions[:-1][kept] - BEFORE
    return hr.signal.segments(x, begins, intervals[kept], width=WINDOW, normalize="zscore")


def intervals_headrace(gate: Any) -> Any:
    """Positions, differences and histogram: all of step 5."""
    seconds = hr.signal.diff(hr.signal.nonzero(gate)) / RATE
    return hr.signal.histogram(seconds, 85, (0.3, 2.0))[0].to_numpy()


def intervals_numpy(gate: Any) -> Any:
    """Do the same with NumPy."""
    return np.histogram(np.diff(np.flatnonzero(gate)) / RATE, 85, (0.3, 2.0))[0]


def beats(bench: Bench, kept: dict[str, Any]) -> Any:
    """Positions, differences, histogram, windows; returns the windows."""
    x, ours = kept["x"], kept["ours"]
    n = len(x)
    gate = hr.signal.non_max_suppression(kept["response"], GATE_WINDOW, kept["threshold"])
    g = gate.to_numpy()
    bench.step(
        "index_of_true",
        lambda: hr.signal.nonzero(gate).to_numpy(),
        [Rival("numpy flatnonzero", lambda: np.flatnonzero(g), 1)],
        equal,
        n,
        n,
    )
    positions = hr.signal.nonzero(gate)
    p = positions.to_numpy()
    intervals = hr.signal.diff(positions)
    d = intervals.to_numpy()
    bench.step(
        "diff",
        lambda: hr.signal.diff(positions).to_numpy(),
        [Rival("numpy diff", lambda: np.diff(p))],
        equal,
        16 * len(p),
        len(p),
    )
    bench.step(
        "diff of the signal f32",
        lambda: hr.signal.diff(ours).to_numpy(),
        [Rival("numpy diff", lambda: np.diff(x), 1)],
        equal,
        8 * n,
        n,
    )
    seconds = intervals / RATE
    s = seconds.to_numpy()
    bench.step(
        "histogram",
        lambda: tuple(a.to_numpy() for a in hr.signal.histogram(seconds, 85, (0.3, 2.0))),
        [Rival("numpy histogram", lambda: np.histogram(s, 85, (0.3, 2.0)), 1)],
        equal,
        8 * len(s),
        len(s),
    )
    bench.step(
        "histogram of the signal f32",
        lambda: tuple(a.to_numpy() for a in hr.signal.histogram(ours, 256, (-4.0, 4.0))),
        [Rival("numpy histogram", lambda: np.histogram(x, 256, (-4.0, 4.0)), 1)],
        equal,
        4 * n,
        n,
    )
    bench.step(
        "gate to histogram",
        lambda: intervals_headrace(gate),
        [Rival("numpy", lambda: intervals_numpy(g), 1)],
        equal,
        n,
        n,
    )
    made = beats_headrace(ours, positions, intervals)
    memory = np.zeros(made.shape, np.float32)

    def in_given_memory(*arguments: Any) -> Any:
        cut_beats_into(memory, *arguments)
        return memory

    bench.step(
        "prune, windows, normalise",
        lambda: beats_headrace(ours, positions, intervals).to_numpy(),
        [
            Rival("numba", lambda: beats_numpy(x, p, d, cut_beats), 1.2),
            Rival("numba, memory given", lambda: beats_numpy(x, p, d, in_given_memory)),
            Rival("numpy sliding_window_view", lambda: beats_numpy(x, p, d), 1.2),
        ],
        close_to(2e-5),
        2 * made.nbytes,
        made.shape[0],
    )
    return made


def pca_numpy(rows: Any, components: int) -> Any:
    """Coordinates by the eigenvectors of the covariance matrix, in f64 as ours."""
    wide = rows.astype(np.float64)
    centred = wide - wide.mean(axis=0)
    _, vectors = np.linalg.eigh(centred.T @ centred)
    return centred @ vectors[:, : -components - 1 : -1]


def same_coordinates(ours: Any, theirs: Any) -> str:
    """Compare coordinates, whose signs are free."""
    return close_to(1e-3)(np.abs(ours), np.abs(theirs))


def pca(bench: Bench, made: Any, components: int = 8) -> None:
    """Fit and transform the windows of beats."""
    rows = made.to_numpy()
    sklearn = PCA(components, svd_solver="covariance_eigh")
    bench.step(
        "PCA f32",
        lambda: hr.learn.PCA(components).fit_transform(made).to_numpy(),
        [
            Rival("numpy eigh f64", lambda: pca_numpy(rows, components), 1),
            Rival("scikit-learn", lambda: sklearn.fit_transform(rows), 1),
        ],
        same_coordinates,
        rows.nbytes + 4 * components * len(rows),
        len(rows),
    )


# ---- all of it -----------------------------------------------------------------------------------
def same_beats(ours: Any, theirs: Any) -> str:
    """Compare the number of beats and the histogram; a tie of the gate may differ in f32."""
    (a, counts), (b, others) = (
        (x["beats"], np.array(x["counts"])) if isinstance(x, dict) else (len(x[0]), x[1])
        for x in (ours, theirs)
    )
    assert abs(a - b) <= 1e-3 * b + 1, f"{a} and {b} beats"
    apart = int(np.abs(counts - others).sum())
    assert apart <= 2e-3 * others.sum() + 2, f"histograms differ by {apart}"
    return f"{a} and {b} beats, histograms differ by {apart}"


def whole(bench: Bench, path: str, rows: int) -> None:
    """Steps 1 and 3 to 6, here and in fresh processes."""
    works = {name: engine() for name, engine in whole_job.ENGINES.items()}
    others = [name for name in works if name != OURS]
    bench.step(
        "end to end f32",
        lambda: works[OURS](path),
        [Rival(name, lambda work=works[name]: work(path), 2) for name in others],
        same_beats,
        Path(path).stat().st_size,
        rows,
    )
    bench.fresh(
        "end to end, fresh process",
        [str(ROOT / "bench/whole_job.py"), "ENGINE", path],
        [Rival(name, str, 1.7) for name in others],
        same_beats,
        rows,
        400 * 2**20 if rows <= FULL else None,
    )
    traced(bench, path, rows)


def traced(bench: Bench, path: str, rows: int) -> None:
    """Steps 1 to 6 with event log, ledger and tags, and without: at most 3 % slower."""

    def work(on: bool) -> Any:
        with hr.memory.trace(on):
            x = hr.read_csv(path, dtypes="float32").ecg.to_array()
            lines = [part.to_numpy() for part in hr.plot.envelope(x)]
            plan = job.plan(x, RATE)
            return plan.counts.to_numpy(), plan.beats.to_numpy(), *lines

    bench.step(
        "steps 1 to 6, traced",
        lambda: work(True),
        [Rival("trace off", lambda: work(False), 1 / 1.03)],
        equal,
        rows=rows,
        more_runs=5,
    )


def steps(bench: Bench, rows: int) -> None:
    """Measure the job, then what it is made of on data of any kind."""
    path = str(bench.file(f"ecg-{rows}.csv", lambda path: ecg(path, hours=rows / 1e6)))
    x = hr.read_csv(path, dtypes="float64").ecg.to_numpy()
    for name, dtype in DTYPES.items():
        csv.read(bench, f"read_csv {name}", path, len(x), {"ecg": np.dtype(dtype).name}, CSV_BAR)
    made = beats(bench, detection(bench, x))
    pca(bench, made)
    whole(bench, path, len(x))
    for task in (csv, signals, transforms, expressions):
        task.steps(bench, rows)


if __name__ == "__main__":
    sys.exit(run("ecg", __doc__, PACKAGES, steps))
