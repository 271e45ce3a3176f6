# SPDX-License-Identifier: Apache-2.0
"""hr.signal.medfilt against NumPy's medians and SciPy."""

import numpy as np
import pytest

import headrace as hr
from headrace import signal

scipy_signal = pytest.importorskip("scipy.signal")


def by_definition(x, size):
    if not len(x):
        return x
    padded = np.pad(x, size // 2)
    return np.median(np.lib.stride_tricks.sliding_window_view(padded, size), axis=1)


@pytest.mark.parametrize("size", [1, 3, 5, 7, 9, 11, 31, 63, 65, 1001])
@pytest.mark.parametrize("rows", [0, 1, 2, 63, 64, 65, 1025, 8193, 20_001])
def test_any_window(rows, size):
    x = np.random.default_rng(size).normal(size=rows)
    for values in (x, x.astype("float32"), np.round(x * 2), np.round(x * 100).astype("int64")):
        found = signal.medfilt(values, size)
        assert found.dtype == values.dtype
        np.testing.assert_array_equal(found.to_numpy(), by_definition(values, size))


def test_equals_scipy():
    x = np.random.default_rng(1).normal(size=5000)
    for size in (3, 5, 21, 99):
        np.testing.assert_array_equal(
            signal.medfilt(x, size).to_numpy(), scipy_signal.medfilt(x, size)
        )


@pytest.mark.parametrize("dtype", ["int8", "int16", "int32", "uint8", "uint16", "uint32"])
def test_integers(dtype):
    x = np.random.default_rng(1).integers(0, 120, 1000).astype(dtype)
    found = signal.medfilt(x, 5)
    assert found.dtype == dtype
    np.testing.assert_array_equal(found.to_numpy(), by_definition(x, 5))


@pytest.mark.parametrize("size", [3, 31, 65])
def test_a_window_with_nan_is_nan(size):
    x = np.random.default_rng(1).normal(size=20_000)
    x[[0, 500, 8191, 8192, 19_990]] = np.nan
    x[600] = np.inf
    np.testing.assert_array_equal(signal.medfilt(x, size).to_numpy(), by_definition(x, size))


def test_rows_and_strides():
    x = np.random.default_rng(1).normal(size=(7, 300))
    wanted = scipy_signal.medfilt(x, (1, 5))
    np.testing.assert_array_equal(signal.medfilt(x, (1, 5)).to_numpy(), wanted)
    np.testing.assert_array_equal(
        signal.medfilt(x[3, ::-2], 5).to_numpy(), by_definition(x[3, ::-2], 5)
    )


def test_is_the_same_for_any_threads():
    x = np.random.default_rng(1).normal(size=300_000)
    found = set()
    for count in (1, 2, 4):
        with hr.threads(count):
            found.add(signal.medfilt(x, 9).to_numpy().tobytes())
    assert len(found) == 1


def test_bad_input_names_the_fix():
    x = np.zeros(10)
    for size in (0, 2, -3):
        with pytest.raises(hr.InvalidArgumentError, match=r"^medfilt: .*kernel_size="):
            signal.medfilt(x, size)
    with pytest.raises(hr.UnsupportedError, match=r"^medfilt: .*dimensions=2"):
        signal.medfilt(x.reshape(5, 2), 3)
    with pytest.raises(TypeError, match=r"^medfilt: .*bool"):
        signal.medfilt(x > 0, 3)
    assert signal.medfilt([3.0, 1.0, 2.0]).tolist() == [1.0, 2.0, 1.0]
