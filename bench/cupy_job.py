# SPDX-License-Identifier: Apache-2.0
"""The ECG job with CuPy and kernels by hand."""

from __future__ import annotations

from typing import Any

import cupy as cp
import numpy as np
from cupyx.scipy.signal import fftconvolve
from headrace.demo import job

# Typical hand-written kernels, one thread per element or row; Numba compiles them no better.
KERNELS = cp.RawModule(
    code="""
extern "C" __global__ void suppress(const float* x, long long n, int half, float threshold,
                                    bool* gate) {
  const long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const float value = x[i];
  bool peak = value >= threshold;
  for (long long j = max(0ll, i - half); peak && j <= min(n - 1, i + half); ++j)
    if (x[j] > value || (x[j] == value && j < i)) peak = false;
  gate[i] = peak;
}

extern "C" __global__ void cut(const float* x, const long long* begins, long long rows, int width,
                               float* out) {
  const long long k = (long long)blockIdx.x * blockDim.x + threadIdx.x;
  if (k >= rows) return;
  const float* row = x + begins[k];
  double total = 0, squares = 0;
  for (int j = 0; j < width; ++j) total += row[j];
  const double mean = total / width;
  for (int j = 0; j < width; ++j) squares += (row[j] - mean) * (row[j] - mean);
  const double deviation = sqrt(squares / width);
  for (int j = 0; j < width; ++j) out[k * width + j] = (row[j] - mean) / deviation;
}

extern "C" __global__ void embed(const float* x, long long n, const long long* begins,
                                 const long long* lengths, long long rows, int width, float* out) {
  const long long k = (long long)blockIdx.x * blockDim.x + threadIdx.x;
  if (k >= rows) return;
  const int first = begins[k] < 0 ? (int)-begins[k] : 0;
  const int last = (int)min(min((long long)width, lengths[k]), n - begins[k]);
  const float* row = x + begins[k];
  double total = 0, squares = 0;
  for (int j = first; j < last; ++j) total += row[j];
  const double mean = total / (last - first);
  for (int j = first; j < last; ++j) squares += (row[j] - mean) * (row[j] - mean);
  const double deviation = sqrt(squares / (last - first));
  for (int j = 0; j < width; ++j)
    out[k * width + j] = j >= first && j < last ? (row[j] - mean) / deviation : 0;
}
"""
)


def short_deviation(x: Any) -> Any:
    """Compute the standard deviation from two means: CuPy's own `std` takes fifty times as long."""
    return cp.sqrt(cp.square(x - x.mean()).mean())


def run(x: Any, rate: float, deviation: Any) -> Any:
    """Curve, histogram and windows of the job after its reader."""
    width = 0.02 * rate
    i = cp.arange(2 * round(5 * width) + 1) - round(5 * width)
    square = (i / width) ** 2
    height = 2 / (np.sqrt(3 * width) * np.pi**0.25)
    taps = (height * (1 - square) * cp.exp(-square / 2)).astype(np.float32)
    pixels = x.reshape(1000, -1)
    low, high = pixels.min(1), pixels.max(1)
    response = fftconvolve(x, taps, "same")
    gate = cp.empty(x.size, dtype=bool)
    threshold = np.float32(1.6 * float(deviation(response)))
    suppress, embed = KERNELS.get_function("suppress"), KERNELS.get_function("embed")
    half = np.int32(job.odd(0.3, rate) // 2)
    suppress(((x.size + 255) // 256,), (256,), (response, np.int64(x.size), half, threshold, gate))
    positions = cp.flatnonzero(gate)
    intervals = cp.diff(positions)
    seconds = intervals / rate
    counts, _ = cp.histogram(seconds, 85, (0.3, 2.0))
    kept = (seconds >= 0.3) & (seconds <= 2.0)
    begins = positions[:-1][kept] - round(0.25 * rate)
    lengths = intervals[kept]
    columns = 4 * round(0.15 * rate)
    beats = cp.empty((begins.size, columns), np.float32)
    arguments = (
        x,
        np.int64(x.size),
        begins,
        lengths,
        np.int64(begins.size),
        np.int32(columns),
        beats,
    )
    embed(((begins.size + 127) // 128,), (128,), arguments)
    cp.cuda.Stream.null.synchronize()
    assert low.size == high.size
    return counts.sum(), beats, high


def pca(x: Any) -> Any:
    """Two components of rows and their coordinates, by a float64 covariance."""
    wide = x.astype(np.float64)
    wide -= wide.mean(0)
    _, vectors = cp.linalg.eigh(wide.T @ wide / (len(wide) - 1))
    first = vectors[:, :-3:-1]
    return wide @ (first * cp.sign(first[cp.argmax(abs(first), axis=0), cp.arange(2)]))
