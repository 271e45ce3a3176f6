# SPDX-License-Identifier: Apache-2.0
"""hr.signal.non_max_suppression equals brute force over every window."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import headrace as hr
from headrace import signal

INTEGERS = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]
DTYPES = [*INTEGERS, "float32", "float64"]
# Value by value up to 63, cells of 16 up to 4097, cells of 64 beyond.
WINDOWS = [1, 3, 5, 9, 17, 33, 61, 63, 65, 129, 1001, 4097, 4099, 100_001]


def brute_force(x, window, threshold=-np.inf):
    """By the words of the header; NaN compares false with everything."""
    half = window // 2
    gate = np.zeros(len(x), bool)
    for i, value in enumerate(x):
        before = x[max(0, i - half) : i]
        after = x[i + 1 : i + half + 1]
        gate[i] = value >= threshold and not (before >= value).any() and not (after > value).any()
    return gate


def check(x, window, threshold=-np.inf):
    found = signal.non_max_suppression(x, window, threshold)
    assert found.dtype == "bool"
    np.testing.assert_array_equal(found.to_numpy(), brute_force(np.asarray(x), window, threshold))


def signals(dtype, rows=2600):
    rng = np.random.default_rng(rows)
    yield rng.integers(0, 4, rows).astype(dtype)  # plateaus, many of the least unsigned value
    walk = np.cumsum(rng.integers(-1, 2, rows))
    yield (walk - walk.min()).clip(0, 127).astype(dtype)
    if np.dtype(dtype).kind == "f":
        x = rng.normal(size=rows).astype(dtype)
        yield x
        x = x.copy()
        x[rng.random(rows) < 0.3] = np.nan
        x[rng.random(rows) < 0.2] = -np.inf
        x[rng.random(rows) < 0.002] = np.inf
        yield x
        x[100:2500] = np.nan
        x[700:703] = -np.inf
        x[1900] = -np.inf
        yield x
    else:
        limits = np.iinfo(dtype)
        yield rng.integers(limits.min, limits.max, rows, dtype, endpoint=True)
        yield rng.choice(np.array([limits.min, limits.max], dtype), rows)
        yield np.full(rows, limits.min, dtype)


@pytest.mark.parametrize("window", WINDOWS)
@pytest.mark.parametrize("dtype", DTYPES)
def test_equals_brute_force(dtype, window):
    for x in signals(dtype):
        check(x, window)
        check(x, window, 2.5)


@pytest.mark.parametrize("rows", [0, 1, 2, 15, 16, 17, 31, 32, 33, 63, 64, 65, 1023, 1024, 1025])
def test_any_size(rows):
    x = np.random.default_rng(rows).normal(size=rows).round(1)
    for window in WINDOWS:
        check(x, window)


@given(
    hnp.arrays(
        st.sampled_from(DTYPES),
        st.integers(0, 300),
        fill=st.nothing(),
    ),
    st.integers(0, 200),
    st.floats(allow_nan=False),
)
def test_anything(x, half, threshold):
    # NumPy would round the threshold to float32 or an integer beyond 2^53 to a double.
    if x.dtype.kind != "f":
        x = x.astype(object)
        wanted = brute_force(x, 2 * half + 1, threshold)
        x = x.astype("int64") if not len(x) or x.max() < 2**63 else x.astype("uint64")
    else:
        wanted = brute_force(x.astype(float), 2 * half + 1, threshold)
    found = signal.non_max_suppression(x, 2 * half + 1, threshold)
    np.testing.assert_array_equal(found.to_numpy(), wanted)


@given(
    hnp.arrays(
        np.float64,
        st.integers(0, 600),
        elements=st.sampled_from([0.0, -0.0, 1.0, 2.0, np.nan, -np.inf, np.inf]),
    ),
    st.sampled_from([1, 3, 9, 31, 63, 65, 67, 129, 301, 4099]),
)
def test_ties_nan_and_inf(x, window):
    check(x, window)


def test_a_plateau_has_one_peak():
    x = np.array([1, 3, 3, 3, 2, 3, 0], float)
    assert signal.non_max_suppression(x, 3).tolist() == [False, True, *[False] * 3, True, False]
    flat = signal.non_max_suppression(np.full(5000, 7.0), 101).to_numpy()
    assert flat[0]
    assert flat.sum() == 1


def test_the_window_may_be_wider_than_the_signal():
    x = np.random.default_rng(1).normal(size=1000)
    wanted = np.arange(1000) == x.argmax()
    for window in (2001, 10**9 + 1, 2**63 - 1):
        np.testing.assert_array_equal(signal.non_max_suppression(x, window).to_numpy(), wanted)


@pytest.mark.parametrize("window", [9, 65, 4099])
@pytest.mark.parametrize("rows", [131_071, 131_073, 300_007])
def test_across_the_borders_of_morsels(rows, window):
    x = np.random.default_rng(rows).normal(size=rows).astype(np.float32)
    ranks = np.lib.stride_tricks.sliding_window_view(
        np.pad(x, window // 2, constant_values=-np.inf), window
    ).max(axis=1)
    np.testing.assert_array_equal(signal.non_max_suppression(x, window).to_numpy(), x == ranks)


def test_strides_offsets_and_series():
    x = np.random.default_rng(2).normal(size=9000).round(2)
    for window in (5, 129, 5001):
        check(x[::-1], window)
        check(x[1::3], window)
        check(x.reshape(-1, 3)[:, 1], window)
        check(x[77:8001], window)
    frame = hr.DataFrame({"x": x})
    found = signal.non_max_suppression(frame.x, 33).to_numpy()
    np.testing.assert_array_equal(found, brute_force(x, 33))


def test_a_deferred_threshold_stays_part_of_the_plan():
    n = np.random.default_rng(3).normal(size=5000)
    x = hr.asarray(n)
    found = signal.non_max_suppression(x, 65, 2 * x.std())
    np.testing.assert_array_equal(found.to_numpy(), brute_force(n, 65, 2 * n.std()))
    for limit in (np.float32(1.5), np.array(1.5), hr.asarray(1.5), 1, True):
        found = signal.non_max_suppression(x, 65, limit)
        np.testing.assert_array_equal(found.to_numpy(), brute_force(n, 65, float(limit)))


def test_thresholds_compare_exactly():
    top = np.array([2**63 - 1, 0], np.int64)
    assert signal.non_max_suppression(top, 1, 2.0**63).tolist() == [False, False]
    assert signal.non_max_suppression(top, 1, 2.0**62).tolist() == [True, False]
    assert signal.non_max_suppression(top, 1, 1e-300).tolist() == [True, False]
    tenth = np.array([0.1], np.float32)
    assert signal.non_max_suppression(tenth, 1, float(tenth[0])).tolist() == [True]
    assert signal.non_max_suppression(tenth, 1, np.nextafter(float(tenth[0]), 1)).tolist() == [
        False
    ]
    assert signal.non_max_suppression([1.0, np.inf], 1, np.inf).tolist() == [False, True]


@pytest.mark.parametrize("window", [3, 33, 129, 10_001])
def test_is_the_same_for_any_threads(window):
    x = np.random.default_rng(4).normal(size=700_001).astype(np.float32).round(2)
    found = []
    for count in (1, 2, 4):
        with hr.threads(count):
            found.append(signal.non_max_suppression(x, window, 1.0).to_numpy().tobytes())
    assert found[0] == found[1] == found[2]


def test_nothing_is_copied():
    x = np.random.default_rng(5).normal(size=200_000)
    with hr.no_copies():
        signal.non_max_suppression(x[::2], 129).to_numpy()


@pytest.mark.parametrize("window", [0, 2, 128, -3])
def test_even_windows_name_the_fix(window):
    with pytest.raises(
        hr.InvalidArgumentError, match=rf"^non_max_suppression: .*odd.*window={window}; .*odd"
    ):
        signal.non_max_suppression([1.0], window)


def test_other_errors_name_the_fix():
    x = np.arange(10.0)
    with pytest.raises(ValueError, match=r"^non_max_suppression: .*threshold=nan; .*-inf"):
        signal.non_max_suppression(x, 3, float("nan")).to_numpy()
    with pytest.raises(TypeError, match=r"^non_max_suppression: .*threshold"):
        signal.non_max_suppression(x, 3, hr.asarray(x))
    for bad in (x > 1, x * 1j):
        with pytest.raises(TypeError, match=r"^non_max_suppression: .*dtype=.*; .*astype"):
            signal.non_max_suppression(bad, 3)
    with pytest.raises(TypeError, match=r"^non_max_suppression: .*dimensions=2; .*ravel"):
        signal.non_max_suppression(x.reshape(2, 5), 3)
    column = hr.from_arrow(pytest.importorskip("pyarrow").array([1.0, None]))
    with pytest.raises(hr.Error, match=r"null.*fillna"):
        signal.non_max_suppression(column, 3).to_numpy()
    assert signal.non_max_suppression(x, 3).to_numpy().sum() == 1
