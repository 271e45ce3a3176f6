# SPDX-License-Identifier: Apache-2.0
"""The ECG job: from a signal to normalised beats, as one lazy plan."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from headrace import signal

if TYPE_CHECKING:
    from headrace.array.array import Array


class Plan(NamedTuple):
    """Every step of the job as a handle; nothing has run yet."""

    ecg: Array
    response: Array  #: similarity of each position to a QRS complex
    gate: Array  #: true at the beats
    positions: Array  #: samples of the beats
    intervals: Array  #: samples from each beat to the next
    counts: Array  #: histogram of the intervals in seconds
    edges: Array
    begins: Array  #: first sample of each kept beat
    beats: Array  #: [kept beats, width], each with mean 0 and deviation 1


def odd(seconds: float, rate: float) -> int:
    """The odd number of samples closest to a time."""
    return 2 * (round(seconds * rate) // 2) + 1


def detect(ecg: Array, rate: float) -> tuple[Array, Array, Array]:
    """Response, gate and beat positions of a signal of `rate` samples per second.

    A Ricker wavelet as wide as a QRS complex (zero crossing at 20 ms) finds the beats; the maxima
    of 0.3 s that rise above 1.6 standard deviations of the response are taken.
    """
    width = 0.02 * rate
    wavelet = signal.ricker(2 * round(5 * width) + 1, width, dtype=ecg.dtype)
    response = signal.fft_convolve(ecg, wavelet, "same")
    gate = signal.non_max_suppression(response, odd(0.3, rate), 1.6 * response.std())
    return response, gate, signal.nonzero(gate)


def plan(ecg: Array, rate: float) -> Plan:
    """The job over a float signal: detection, intervals, pruning, and windows of 0.6 s.

    Beats whose interval to the next is not between 0.3 and 2 s are dropped as artefacts. A window
    begins 0.25 s before its beat and ends before the next beat's, padded with zeros.
    """
    response, gate, positions = detect(ecg, rate)
    intervals = signal.diff(positions)
    seconds = intervals / rate
    counts, edges = signal.histogram(seconds, 85, (0.3, 2.0))
    kept = (seconds >= 0.3) & (seconds <= 2.0)
    begins = positions[:-1][kept] - round(0.25 * rate)
    beats = signal.segments(
        ecg, begins, intervals[kept], width=4 * round(0.15 * rate), normalize="zscore"
    )
    return Plan(ecg, response, gate, positions, intervals, counts, edges, begins, beats)
