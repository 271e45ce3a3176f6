# SPDX-License-Identifier: Apache-2.0
"""The ECG job in pure Python: python examples/ecg/main.py [FILE.csv COLUMN RATE]."""

import sys

import headrace as hr


def odd(seconds: float, rate: float) -> int:
    """The odd number of samples closest to a time."""
    return 2 * (round(seconds * rate) // 2) + 1


path, column, rate = sys.argv[1:] or ("testdata/ecg/minute.csv", "ecg", 360)
rate = float(rate)

# 1 and 2. Open the file; define a curve 1000 pixels wide. Nothing is read yet.
ecg = hr.asarray(hr.scan_csv(path, columns=[column])[column])
low, high = hr.plot.envelope(ecg, width=1000)

# 3 and 4. Match the shape of a beat, and find the peaks of the response.
width = 0.02 * rate
wavelet = hr.signal.ricker(2 * round(5 * width) + 1, width, dtype=ecg.dtype)
response = hr.signal.fft_convolve(ecg, wavelet, "same")
gate = hr.signal.non_max_suppression(response, odd(0.3, rate), 1.6 * response.std())

# 5. Positions of the beats, and the intervals between them.
positions = hr.signal.nonzero(gate)
intervals = hr.signal.diff(positions)
seconds = intervals / rate
counts, edges = hr.signal.histogram(seconds, 85, (0.3, 2.0))

# 6. Drop artefacts; one row per beat, padded, with mean 0 and standard deviation 1.
kept = (seconds >= 0.3) & (seconds <= 2.0)
begins = positions[:-1][kept] - round(0.25 * rate)
beats = hr.signal.segments(
    ecg, begins, intervals[kept], width=4 * round(0.15 * rate), normalize="zscore"
)

print(f"rows {len(ecg)}")
print(f"curve {low.min().item():.17g} to {high.max().item():.17g}")
print(f"beats {len(positions)}")
print(f"kept {beats.shape[0]} of width {beats.shape[1]}")
print(f"most intervals from {edges[counts.argmax().item()].item():.17g} s on")
print(f"mean square of the windows {(beats * beats).mean().item():.17g}")
