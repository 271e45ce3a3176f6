# SPDX-License-Identifier: Apache-2.0
"""Heart rate, SDNN and RMSSD by their definitions; unusual beats, one of each shape."""

from itertools import pairwise

import numpy as np
import pytest
from headrace.demo import rhythm, unusual

RATE = 250.0


def positions_of(seconds):
    return np.round(np.cumsum([1.0, *seconds]) * RATE).astype(np.int64)


def naive(found, begin, end):
    """The measures in plain Python."""
    rows = [k for k, at in enumerate(found.at.tolist()) if begin <= at < end]
    kept = [found.seconds[k] for k in rows if found.normal[k]]
    steps = [
        found.seconds[b] - found.seconds[a]
        for a, b in pairwise(rows)
        if found.normal[a] and found.normal[b]
    ]
    mean = sum(kept) / len(kept)
    sdnn = (sum((each - mean) ** 2 for each in kept) / (len(kept) - 1)) ** 0.5
    rmssd = (sum(step**2 for step in steps) / len(steps)) ** 0.5
    return 60 / mean, 60 / max(kept), 60 / min(kept), 1000 * sdnn, 1000 * rmssd


@pytest.mark.parametrize("part", [(0, np.inf), (100, 300), (0, 60)])
def test_measures_follow_their_definitions(part):
    rng = np.random.default_rng(0)
    seconds = rng.normal(0.8, 0.04, 1000)
    seconds[[50, 400]] = 0.5  # early beats, then pauses
    seconds[[51, 401]] = 1.1
    seconds[700] = 4.0
    found = rhythm.rhythm_of(positions_of(seconds), RATE)
    assert not found.normal[[50, 51, 400, 401, 700]].any()
    assert found.normal.sum() >= 985
    measures = rhythm.variability(found, *part)
    got = (measures.rate, measures.slowest, measures.fastest, measures.sdnn, measures.rmssd)
    np.testing.assert_allclose(got, naive(found, *part), rtol=1e-9)


@pytest.mark.parametrize("beats", [0, 1, 2, 3, 12])
def test_few_beats(beats):
    found = rhythm.rhythm_of(positions_of([0.8] * (beats - 1))[: max(beats, 0)], RATE)
    measures = rhythm.variability(found)
    assert measures.beats == max(beats - 1, 0)
    assert np.isnan(measures.rate) == (beats < 2)
    assert len(rhythm.tachogram(found, 12.0, 4)) == 48


def test_tachogram_holds_each_interval():
    found = rhythm.rhythm_of(np.array([250, 450, 650, 1900, 2100, 2300]), RATE)
    made = rhythm.tachogram(found, 10, 4)
    assert np.isnan(made[:4]).all()  # before the first beat
    np.testing.assert_allclose(made[4:10], 0.8)
    assert np.isnan(made[12:30]).all()  # 5 s without a beat
    np.testing.assert_allclose(made[31:36], 0.8)
    assert np.isnan(made[38:]).all()  # after the last


@pytest.mark.parametrize("rate", [50.0, 250.0, 277.7777777777778, 360.0, 1000.0])
def test_bins_are_whole_samples(rate):
    count, low, high = rhythm.bins(rate)
    width = (high - low) / count
    assert width == int(width) >= 1 and low % 1 == 0.5
    assert low - 0.5 < rhythm.SHORTEST * rate <= low + 0.5
    assert high >= np.floor(rhythm.LONGEST * rate) + 0.5


def test_windows_cover_a_recording():
    for length in (3.0, 100.0, 7300.0, 72_000.0, 3.6e6):
        parts = rhythm.windows(length, 1500)
        assert parts[0][0] == 0 and parts[-1][1] == length and len(parts) <= 1501
        assert all(a[1] == b[0] for a, b in pairwise(parts))


def test_unusual_beats():
    rng = np.random.default_rng(1)
    time = np.linspace(-1, 1, 160)
    shapes = [np.exp(-((time / w) ** 2)) * s for w, s in ((0.08, 1), (0.3, 1), (0.3, -1))]
    beats = np.array([shapes[k] for k in [0] * 900 + [1] * 60 + [2] * 40])
    beats += rng.normal(0, 0.01, beats.shape)
    beats[990:] = rng.normal(size=(10, 160))  # noise
    score = np.r_[rng.random(900), 5 + rng.random(60), 7 + rng.random(30), 9 + rng.random(10)]
    noise = unusual.is_noise(beats, beats[:500])
    assert noise[990:].all() and not noise[:990].any()
    found = unusual.most_unusual(beats, score, noise, 12)
    kinds = [0 if row < 900 else 1 if row < 960 else 2 for row in found.rows]
    assert kinds == [2, 1, 0]
    assert found.alike == [29, 59, 899]
    assert found.artefacts == 10
    assert found.rows[0] == 960 + int(np.argmax(score[960:990]))
    assert unusual.most_unusual(beats, score, noise, 2).rows == found.rows[:2]
    assert unusual.most_unusual(beats[990:], score[990:], noise[990:], 3).rows == []
