# SPDX-License-Identifier: Apache-2.0
"""The ECG job with SciPy's convolution and Numba's loops, on Headrace's memory.

python examples/ecg/scipy_numba.py [FILE.csv COLUMN RATE]
"""

import sys

import numpy as np
from numba import njit
from scipy.signal import fftconvolve

import headrace as hr


@njit
def suppress(response, half, threshold):
    """Positions at or above the threshold that are the maximum within `half` samples."""
    places = np.empty(len(response), np.int64)
    count = 0
    i = 0
    while i < len(response):
        peak = response[i] >= threshold
        for j in range(max(i - half, 0), min(i + half + 1, len(response))):
            if response[j] > response[i] or (response[j] == response[i] and j < i):
                peak = False
                break
        if peak:
            places[count] = i
            count += 1
            i += half  # none of its neighbours can be one
        i += 1
    return places[:count]


@njit
def embed(signal, begins, lengths, width):
    """One row per segment, zero-padded, with mean 0 and standard deviation 1."""
    rows = np.zeros((len(begins), width), signal.dtype)
    for k in range(len(begins)):
        first = max(begins[k], 0)
        last = min(begins[k] + min(lengths[k], width), len(signal))
        part = signal[first:last]
        mean, square = 0.0, 0.0
        for value in part:
            mean += value / len(part)
        for value in part:
            square += (value - mean) ** 2 / len(part)
        if square > 0:
            for i in range(len(part)):
                rows[k, first - begins[k] + i] = (part[i] - mean) / np.sqrt(square)
    return rows


def find_beats(ecg: hr.Array, rate: float) -> tuple[hr.Array, hr.Array]:
    """Positions of the beats, and one row for each that is not an artefact."""
    signal = np.asarray(ecg)  # the same memory, read-only
    width = 0.02 * rate
    wavelet = hr.signal.ricker(2 * round(5 * width) + 1, width, dtype=ecg.dtype)
    response = fftconvolve(signal, np.asarray(wavelet), "same")
    threshold = 1.6 * hr.asarray(response).std().item()  # and theirs, seen by ours
    positions = suppress(response, round(0.3 * rate) // 2, threshold)
    intervals = np.diff(positions)
    kept = (intervals >= 0.3 * rate) & (intervals <= 2 * rate)
    begins = positions[:-1][kept] - round(0.25 * rate)
    beats = embed(signal, begins, intervals[kept], 4 * round(0.15 * rate))
    return hr.asarray(positions), hr.asarray(beats)


if __name__ == "__main__":
    path, column, hertz = sys.argv[1:] or ("testdata/ecg/minute.csv", "ecg", 360)
    series = hr.asarray(hr.read_csv(path, columns=[column])[column])
    positions, beats = find_beats(series, float(hertz))
    print(f"rows {len(series)}")
    print(f"beats {len(positions)}")
    print(f"kept {beats.shape[0]} of width {beats.shape[1]}")
    print(f"mean square of the windows {(beats * beats).mean().item():.9g}")
    print(hr.memory.ledger())
