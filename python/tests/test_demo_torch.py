# SPDX-License-Identifier: Apache-2.0
"""The autoencoder of the demo, where PyTorch is: on our memory, good enough, repeatable."""

import warnings

import numpy as np
import pytest

import headrace as hr

torch = pytest.importorskip("torch")
from headrace.demo import run  # noqa: E402
from headrace.demo.meter import Meter  # noqa: E402


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    source = run.made_up(tmp_path_factory.mktemp("cache"), 0.5, 1, lambda: None)
    meter = Meter()
    found = run.find_beats(source, meter, lambda name: None)
    yield found
    meter.close()


@pytest.fixture(scope="module")
def scored(results):
    hr.memory.ledger().clear()
    model = run.with_autoencoder(results, 1, lambda share: None)
    assert hr.memory.ledger().total_bytes == 0
    return model


def test_the_planted_beats_stand_out(results, scored):
    assert scored.area >= 0.95
    assert len(scored.score) == len(scored.x) == len(scored.y) == len(results.test)
    assert np.isfinite(scored.score).all()


def test_the_same_numbers_for_the_same_seed(results, scored):
    again = run.with_autoencoder(results, 1, lambda share: None)
    np.testing.assert_array_equal(again.score, scored.score)
    np.testing.assert_array_equal(again.x, scored.x)
    other = run.with_autoencoder(results, 2, lambda share: None)
    assert (other.score != scored.score).any()
    assert other.area >= 0.95


def test_pytorch_stands_on_our_memory(results):
    for part in (results.train, results.test):
        ours = part.to_numpy()
        theirs = part.to_torch()
        assert theirs.data_ptr() == ours.ctypes.data
        assert tuple(theirs.shape) == ours.shape
        assert theirs.is_contiguous()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # PyTorch knows no read-only tensors
            assert torch.from_dlpack(part).data_ptr() == ours.ctypes.data
    whole = results.plan.beats.to_numpy().ctypes.data
    assert results.train.to_numpy().ctypes.data == whole
    assert results.test.to_numpy().ctypes.data == whole + results.train.nbytes
