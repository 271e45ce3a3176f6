# SPDX-License-Identifier: Apache-2.0
"""The real ECG record, unmodified, through the public functions: the bar for finding its beats."""

import hashlib
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from headrace.demo import generator, job

import headrace as hr

ROOT = Path(__file__).resolve().parents[2]
TOLERANCE = 0.075  # seconds between a mark and what was found


def matched(found, beats, reach):
    """Pairs of a found place and a beat, in order, each used once, at most `reach` apart."""
    i = j = pairs = 0
    while i < len(found) and j < len(beats):
        if abs(found[i] - beats[j]) <= reach:
            pairs, i, j = pairs + 1, i + 1, j + 1
        elif found[i] < beats[j]:
            i += 1
        else:
            j += 1
    return pairs


@pytest.fixture(scope="module")
def record():
    return generator.record()


def test_the_record_is_the_published_one(record):
    counts = np.rint(record.samples * 200)
    assert (counts / 200 == record.samples).all()
    digest = hashlib.sha256(counts.astype("<i2").tobytes()).hexdigest()
    assert digest == "edeedc8a30591a2c95c3cd932dee965735c01f582ad12ff873730939983dacf9"


def test_the_beat_list_is_the_committed_one(record):
    lines = (ROOT / "testdata/ecg/beats.csv").read_text().splitlines()
    assert lines[0] == "sample,label"
    assert lines[1:] == [
        f"{i},{label}" for i, label in zip(record.beats, record.labels, strict=True)
    ]
    assert (np.diff(record.beats) > 0.3 * record.rate).all()


def test_the_beat_list_can_be_made_again():
    pytest.importorskip("scipy")
    tool = [sys.executable, ROOT / "tools/make_beat_list.py"]
    assert subprocess.run(tool, capture_output=True).returncode == 0


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_beats_are_found(record, dtype):
    ecg = hr.asarray(record.samples.astype(dtype))
    _, gate, positions = job.detect(ecg, record.rate)
    found = positions.tolist()
    pairs = matched(found, record.beats, TOLERANCE * record.rate)
    assert pairs >= 0.99 * len(record.beats)
    assert len(found) - pairs <= 0.01 * len(found)
    assert int(gate.sum()) == len(found)


def test_beats_are_those_of_scipy(record):
    """SciPy's convolution and a running maximum find the same places."""
    signal, ndimage = pytest.importorskip("scipy.signal"), pytest.importorskip("scipy.ndimage")
    response, _, positions = job.detect(hr.asarray(record.samples), record.rate)
    width = 0.02 * record.rate
    x = (np.arange(2 * round(5 * width) + 1) - round(5 * width)) / width
    wavelet = 2 / (np.sqrt(3 * width) * np.pi**0.25) * (1 - x**2) * np.exp(-(x**2) / 2)
    expected = signal.fftconvolve(record.samples, wavelet, "same")
    np.testing.assert_allclose(response, expected, atol=1e-12)
    highest = ndimage.maximum_filter1d(expected, job.odd(0.3, record.rate), mode="nearest")
    gate = (expected == highest) & (expected >= 1.6 * expected.std())
    assert positions.tolist() == np.flatnonzero(gate).tolist()


def test_other_sizes_of_the_same_signal_give_the_same_beats(record):
    """The threshold follows the signal: units and offset do not matter."""
    places = job.detect(hr.asarray(record.samples), record.rate)[2].tolist()
    inside = [i for i in places if 100 < i < len(record.samples) - 100]
    moved = job.detect(hr.asarray(record.samples * 1000 + 500), record.rate)[2].tolist()
    assert [i for i in moved if 100 < i < len(record.samples) - 100] == inside


@pytest.mark.parametrize("seed", [1, 2])
def test_beats_of_the_made_up_signal_are_found(seed):
    signal, truth, _ = generator.synthesize(200_000, seed)
    found = job.detect(hr.asarray(signal), generator.RATE)[2].tolist()
    pairs = matched(found, truth, TOLERANCE * generator.RATE)
    assert pairs >= 0.999 * len(truth) and len(found) - pairs <= 0.005 * len(found)
