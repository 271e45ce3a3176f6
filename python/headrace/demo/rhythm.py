# SPDX-License-Identifier: Apache-2.0
"""The rhythm of a recording: normal intervals, heart rate, SDNN and RMSSD over any part of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

if TYPE_CHECKING:
    Numbers = np.ndarray[Any, Any]

#: Seconds between two beats that can be a heart's.
SHORTEST, LONGEST = 0.3, 2.0
#: An interval is normal within this share of the median of its neighbourhood.
_NEAR, _NEIGHBOURS = 0.2, 11
#: Bins of intervals are about as wide, in seconds, and whole samples.
_BIN = 0.01
#: Seconds of windows that readers know.
_WINDOWS = (5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600)


class Rhythm(NamedTuple):
    """Intervals between beats (R waves), and where each begins, in seconds."""

    at: Numbers
    seconds: Numbers
    #: Between two normal beats: not the first or second half of an early one, nor an artefact.
    normal: Numbers
    rate: float


class Variability(NamedTuple):
    """What a cardiologist asks of a part of a recording; NaN of too few intervals."""

    beats: int
    rate: float  #: beats a minute, the mean over normal intervals
    slowest: float
    fastest: float
    sdnn: float  #: standard deviation of normal intervals in ms
    rmssd: float  #: root of the mean squared difference of neighbouring normal ones in ms
    left_out: float  #: share of the intervals that are not normal


def rhythm_of(positions: Numbers, rate: float) -> Rhythm:
    """The intervals between beats at these samples.

    Normal are those of 0.3 to 2 s that differ from the median of the 11 around them by at most 20 %
    (as M. Malik and others leave out ectopic beats, Circulation 93, 1996).
    """
    seconds = np.diff(positions) / rate
    plausible = (seconds >= SHORTEST) & (seconds <= LONGEST)
    reach = _NEIGHBOURS // 2
    normal = np.zeros(len(seconds), bool)
    if plausible.any():
        padded = np.pad(np.where(plausible, seconds, np.nan), reach, constant_values=np.nan)
        around = np.lib.stride_tricks.sliding_window_view(padded, _NEIGHBOURS)
        middle = np.nanmedian(around[plausible], axis=1)
        normal[plausible] = np.abs(seconds[plausible] - middle) <= _NEAR * middle
    return Rhythm(np.asarray(positions[:-1]) / rate, seconds, normal, rate)


def variability(rhythm: Rhythm, begin: float = 0.0, end: float = np.inf) -> Variability:
    """Of the intervals that begin in [begin, end) seconds."""
    first, last = np.searchsorted(rhythm.at, [begin, end])
    seconds, normal = rhythm.seconds[first:last], rhythm.normal[first:last]
    kept = seconds[normal]
    steps = np.diff(seconds)[normal[1:] & normal[:-1]]
    none = float("nan")
    return Variability(
        beats=int(last - first),
        rate=60 / float(kept.mean()) if len(kept) else none,
        slowest=60 / float(kept.max()) if len(kept) else none,
        fastest=60 / float(kept.min()) if len(kept) else none,
        sdnn=1000 * float(kept.std(ddof=1)) if len(kept) > 1 else none,
        rmssd=1000 * float(np.sqrt((steps**2).mean())) if len(steps) else none,
        left_out=1 - float(normal.mean()) if len(normal) else none,
    )


def windows(length: float, most: int) -> list[tuple[float, float]]:
    """Parts of a recording of `length` seconds that readers know, at most about `most`."""
    step = next((float(each) for each in _WINDOWS if length / each <= most), length / most)
    return [(at * step, min((at + 1) * step, length)) for at in range(int(np.ceil(length / step)))]


def tachogram(rhythm: Rhythm, length: float, per_second: int) -> Numbers:
    """The normal interval that holds at each of `per_second` moments; NaN where there is none."""
    moments = np.arange(int(length * per_second)) / per_second
    place = np.searchsorted(rhythm.at, moments, "right") - 1
    made = np.full(len(moments), np.nan, np.float32)
    inside = place >= 0
    found = place[inside]
    ended = rhythm.at[found] + rhythm.seconds[found] < moments[inside]
    made[inside] = np.where(rhythm.normal[found] & ~ended, rhythm.seconds[found], np.nan)
    return made


def pairs(rhythm: Rhythm) -> tuple[Numbers, Numbers]:
    """Each plausible interval and the next one, in samples."""
    samples = np.round(rhythm.seconds * rhythm.rate)
    plausible = (rhythm.seconds >= SHORTEST) & (rhythm.seconds <= LONGEST)
    both = plausible[1:] & plausible[:-1]
    return samples[:-1][both], samples[1:][both]


def bins(rate: float) -> tuple[int, float, float]:
    """How many bins of intervals, and the ends of all in samples.

    A bin has whole samples, or neighbours would differ by how many they hold.
    """
    width = max(round(_BIN * rate), 1)
    first = int(np.ceil(SHORTEST * rate))
    count = int((np.floor(LONGEST * rate) - first) // width) + 1
    return count, first - 0.5, first - 0.5 + count * width
