# SPDX-License-Identifier: Apache-2.0
"""A long synthetic ECG from a short real one: `hr.demo.ecg`.

Only exact operations are used (integers, and IEEE sums, products and quotients), so a seed gives
the same bytes on every machine.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

from headrace.errors import InvalidArgumentError
from headrace.frame.dataframe import DataFrame

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from headrace.frame.dataframe import DataFrame

    Floats = npt.NDArray[np.float64]
    Integers = npt.NDArray[np.int64]

#: Samples per second: one million per hour, 277.8 Hz.
RATE = 1e6 / 3600
KINDS = ("normal", "ventricular", "wide", "elevated", "burst")

_QRS = 0.09  # seconds around the peak that are not stretched with the heart rate
_PARTS = (96, 96, 192)  # template points before, in and after these seconds
_POINTS = sum(_PARTS) + 1
_BEFORE = 0.38  # share of a beat-to-beat interval that belongs to the next beat


class Record(NamedTuple):
    """The real record: millivolts at 360 Hz, and its beats (sample and label)."""

    samples: Floats
    rate: float
    beats: Integers
    labels: npt.NDArray[np.str_]


def record() -> Record:
    """MIT-BIH record 208, five minutes, with the beat list of this project (testdata/README.md)."""
    import numpy as np

    with np.load(os.path.join(os.path.dirname(__file__), "record.npz"), allow_pickle=False) as data:
        return Record(data["ecg"], 360.0, data["beats"].astype(np.int64), data["labels"])


def _hash(seed: int, stream: int, start: int, count: int) -> npt.NDArray[np.uint64]:
    """Random 64-bit words number start, start + 1, ... of a stream (splitmix64)."""
    import numpy as np

    mask = (1 << 64) - 1
    origin = (seed * 0xD1342543DE82EF95 + stream * 0xAF251AF3B0F025B5) & mask
    z = np.arange(start + 1, start + count + 1, dtype=np.uint64)
    z *= np.uint64(0x9E3779B97F4A7C15)
    z += np.uint64(origin)
    z ^= z >> np.uint64(30)
    z *= np.uint64(0xBF58476D1CE4E5B9)
    z ^= z >> np.uint64(27)
    z *= np.uint64(0x94D049BB133111EB)
    z ^= z >> np.uint64(31)
    return z


def _uniform(seed: int, stream: int, start: int, count: int) -> Floats:
    """Numbers in [0, 1)."""
    import numpy as np

    return (_hash(seed, stream, start, count) >> np.uint64(11)).astype(np.float64) * 2.0**-53


def _noise(seed: int, stream: int, start: int, count: int) -> Floats:
    """Approximately normal numbers of variance 1: the sum of four 16-bit uniforms from one word."""
    import numpy as np

    word = _hash(seed, stream, start, count)
    total = np.zeros(count)
    for _ in range(4):
        total += (word & np.uint64(0xFFFF)).astype(np.float64)
        word >>= np.uint64(16)
    return (total * (1 / 65536) - 2.0) * 1.7320508075688772


def _wave(phase: Floats) -> Floats:
    """A sine of period 1 approximated by two parabolas, with exact operations only."""
    import numpy as np

    part = phase - np.floor(phase)
    half = np.where(part < 0.5, part, part - 0.5)
    arch = 16.0 * half * (0.5 - half)
    return np.where(part < 0.5, arch, -arch)


def _templates(source: Record, label: str, most: int) -> Floats:
    """The `most` typical beats of one label on the common grid of `_POINTS`, both ends at zero."""
    import numpy as np

    beats, rate = source.beats, source.rate
    rows = []
    for i in range(1, len(beats) - 1):
        before = (beats[i] - beats[i - 1]) / rate
        after = (beats[i + 1] - beats[i]) / rate
        around = source.labels[i - 1 : i + 2]
        if source.labels[i] != label or (label == "N" and any(around != "N")):
            continue
        if not (0.4 < before < 1.3 and 0.4 < after < 1.3):
            continue
        edges = (-_BEFORE * before, -_QRS, _QRS, (1 - _BEFORE) * after)
        times = [
            edges[k] + (edges[k + 1] - edges[k]) * (np.arange(_PARTS[k]) / _PARTS[k])
            for k in range(3)
        ]
        at = beats[i] + np.append(np.concatenate(times), edges[3]) * rate
        if at[0] < 1 or at[-1] > len(source.samples) - 3:
            continue
        left = np.floor(at).astype(np.int64)
        t = at - left
        a, b, c, d = (source.samples[left + k] for k in (-1, 0, 1, 2))
        row = b + 0.5 * t * (c - a + t * (2 * a - 5 * b + 4 * c - d + t * (3 * (b - c) + d - a)))
        row -= row[0] + (row[-1] - row[0]) * (np.arange(_POINTS) / (_POINTS - 1))
        rows.append(row)
    found = np.array(rows)
    # The cleanest ones, by the largest deviation from the median beat, which is exact.
    deviation = np.abs(found - np.median(found, axis=0)).max(axis=1)
    return found[np.argsort(deviation, kind="stable")[:most]]


def synthesize(rows: int, seed: int = 1) -> tuple[Floats, Integers, Integers]:
    """A signal of `rows` samples at `RATE`, the samples of its beats, and their kinds.

    Normal beats of the record are tiled with drifting heart rate and amplitude, baseline wander and
    noise. About 3 % of the beats are of four abnormal kinds (see `KINDS`): early ventricular beats
    of the record, beats with a stretched QRS, with a raised ST segment, and with a burst of noise.
    """
    import numpy as np

    source = record()
    normal = _templates(source, "N", 64)
    ventricular = _templates(source, "V", 32)
    table = np.concatenate([normal, ventricular])

    count = int(rows / RATE / 0.42) + 8
    index = np.arange(count, dtype=np.float64)
    kind = np.zeros(count, dtype=np.int64)
    draw = _uniform(seed, 1, 0, count)
    kind[draw < 0.03] = 1 + (draw[draw < 0.03] * (4 / 0.03)).astype(np.int64)
    kind[:2] = 0
    kind[1:][kind[:-1] > 0] = 0  # a normal beat follows each abnormal one

    interval = 0.66 * (
        1
        + 0.14 * _wave(index / 11000 + 0.1)
        + 0.06 * _wave(index / 1700)
        + 0.03 * _wave(index / 6.3)
        + 0.02 * _noise(seed, 2, 0, count)
    )
    early = np.flatnonzero(kind == 1)
    interval[early - 1] *= 0.72  # an early beat, then a pause
    interval[early] *= 1.25
    peak = 0.5 + np.cumsum(interval) - interval
    before = _BEFORE * np.append(interval[0], interval[:-1])
    after = (1 - _BEFORE) * interval
    begin = np.ceil((peak - before) * RATE).astype(np.int64)
    begin[0] = 0
    last = int(np.searchsorted(begin, rows))
    begin = np.append(begin[:last], rows)

    pick = _uniform(seed, 3, 0, count)
    template = (pick * len(normal)).astype(np.int64)
    template[early] = len(normal) + (pick[early] * len(ventricular)).astype(np.int64)
    size = 1 + 0.12 * _wave(index / 5200) + 0.03 * _noise(seed, 4, 0, count)
    half_width = np.where(kind == 2, 2.3 * _QRS, _QRS)

    signal = np.empty(rows)
    flat = table.ravel()
    beats_a_part = 4000
    for first in range(0, last, beats_a_part):
        stop = min(first + beats_a_part, last)
        low, high = int(begin[first]), int(begin[stop])
        beat = np.repeat(np.arange(first, stop), np.diff(begin[first : stop + 1]))
        sample = np.arange(low, high, dtype=np.float64)
        time = sample / RATE - peak[beat]
        half = half_width[beat]
        place = np.where(
            time < -half,
            (time + before[beat]) / (before[beat] - half) * _PARTS[0],
            np.where(
                time < half,
                _PARTS[0] + (time + half) / (2 * half) * _PARTS[1],
                _PARTS[0] + _PARTS[1] + (time - half) / (after[beat] - half) * _PARTS[2],
            ),
        )
        place = np.minimum(np.maximum(place, 0.0), _POINTS - 1.001)
        left = place.astype(np.int64)
        at = template[beat] * _POINTS + left
        value = flat[at] + (place - left) * (flat[at + 1] - flat[at])
        # A raised ST segment: an arch over the 0.25 s behind the QRS.
        rise = (time - _QRS) * 4
        arch = np.where((kind[beat] == 3) & (rise > 0) & (rise < 1), 4 * rise * (1 - rise), 0.0)
        value += 0.9 * arch
        value *= size[beat]
        noise = _noise(seed, 5, low, high - low)
        value += np.where(kind[beat] == 4, 0.35, 0.02) * noise
        value += 0.18 * _wave(sample / 3100) + 0.05 * _wave(sample / 1130 + 0.3)
        signal[low:high] = value
    position = np.floor(peak[:last] * RATE + 0.5).astype(np.int64)
    inside = position < rows
    return signal, position[inside], kind[:last][inside]


def ecg(path: str | os.PathLike[str], hours: float = 20, seed: int = 1) -> DataFrame:
    """Write a long ECG as CSV and return the ground truth of its beats.

    One column, ``ecg``, in millivolts at 277.8 Hz: one million rows per hour, 25 bytes per row. A
    seed gives the same bytes on every machine.

    Parameters
    ----------
    path : path
        The file to write.
    hours : float
        Length, 0.001 to 1000; 20 hours make 20,000,000 rows and 500 MB.
    seed : int
        Seed of the random generator.

    Returns
    -------
    DataFrame
        One row per beat: ``position`` (row of its peak) and ``label`` (one of `KINDS`).

    Raises
    ------
    InvalidArgumentError
        If `hours` is out of range.
    """
    if not 0.001 <= hours <= 1000:
        raise InvalidArgumentError(
            f"demo.ecg: length out of range: hours={hours}; expected 0.001 to 1000"
        )
    rows = round(hours * 1_000_000)
    signal, position, kind = synthesize(rows, seed)
    for made in (signal, position):
        made.setflags(write=False)  # shared by the frames
    DataFrame({"ecg": signal}).to_csv(path, float_format="%.18e")
    return DataFrame({"position": position, "label": [KINDS[k] for k in kind]})
