# SPDX-License-Identifier: Apache-2.0
"""SciPy's convolution and Numba's loops do the ECG job on our arrays: no copy, the same beats."""

import importlib.util
from pathlib import Path

import numpy as np
import pytest
from headrace.demo import generator, job

import headrace as hr

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def example():
    pytest.importorskip("numba")
    pytest.importorskip("scipy")
    path = ROOT / "examples/ecg/scipy_numba.py"
    spec = importlib.util.spec_from_file_location("scipy_numba", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def ecg(tmp_path_factory):
    path = tmp_path_factory.mktemp("ecg") / "ecg.csv"
    hr.demo.ecg(path, hours=0.1)
    return hr.asarray(hr.read_csv(path).ecg)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_same_beats_without_a_copy(example, ecg, dtype, monkeypatch):
    signal = hr.asarray(ecg.to_numpy().astype(dtype))
    seen = []
    for name in ("fftconvolve", "suppress", "embed"):
        kernel = getattr(example, name)

        def watched(array, *rest, kernel=kernel):
            result = kernel(array, *rest)
            seen.extend((array, result))
            return result

        monkeypatch.setattr(example, name, watched)
    hr.memory.ledger().clear()
    with hr.no_copies(strict=True):
        positions, beats = example.find_beats(signal, generator.RATE)
    assert hr.memory.ledger().total_bytes == 0

    convolved, response, suppressed, places, embedded, rows = seen
    ours = signal.to_numpy().ctypes.data
    assert convolved.ctypes.data == embedded.ctypes.data == ours
    assert suppressed.ctypes.data == response.ctypes.data
    assert positions.to_numpy().ctypes.data == places.ctypes.data
    assert beats.to_numpy().ctypes.data == rows.ctypes.data

    plan = job.plan(signal, generator.RATE)
    assert positions.tolist() == plan.positions.tolist()
    assert len(positions) > 400
    np.testing.assert_allclose(beats, plan.beats, atol=1e-5 if dtype == "float32" else 1e-12)
