# SPDX-License-Identifier: Apache-2.0
"""hr.signal.segments equals its definition in plain NumPy."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import headrace as hr
from headrace import signal

MODES = ["none", "zscore", "minmax", "max"]
DTYPES = ["float32", "float64"]


def scaled(part, mode):
    """One segment over its own samples, computed in float64."""
    wide = part.astype(np.float64)
    if mode == "none" or not len(part):
        return part
    if not np.isfinite(wide).all():
        return np.full_like(part, np.nan)
    center, divisor = 0.0, np.abs(wide).max()
    if mode == "zscore":
        center, divisor = wide.mean(), 0.0 if (wide == wide[0]).all() else wide.std()
    if mode == "minmax":
        center, divisor = wide.min(), wide.max() - wide.min()
    return ((wide - center) / divisor if divisor else 0 * wide).astype(part.dtype)


def by_definition(x, begins, lengths, width, mode):
    out = np.zeros((len(begins), width), x.dtype)
    for k, begin in enumerate(begins):
        length = min(width, lengths[k if len(lengths) > 1 else 0])
        first, last = max(begin, 0), min(begin + length, len(x))
        if first < last:
            out[k, first - begin : last - begin] = scaled(x[first:last], mode)
    return out


def check(x, begins, lengths, width, mode):
    begins = np.asarray(begins, np.int64)
    given = None if lengths is None else np.asarray(lengths, np.int64)
    found = signal.segments(x, begins, given, width=width, normalize=mode)
    wanted = by_definition(x, begins, [width] if lengths is None else given, width, mode)
    assert found.dtype == x.dtype
    assert found.shape == wanted.shape
    if mode == "zscore":  # NumPy adds in another order
        eps = np.finfo(x.dtype).eps
        np.testing.assert_allclose(found.to_numpy(), wanted, rtol=64 * eps, atol=64 * eps)
    else:
        np.testing.assert_array_equal(found.to_numpy(), wanted)


def noise(rows, dtype, seed=0):
    return np.random.default_rng(seed).normal(size=rows).astype(dtype)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("width", [0, 1, 31, 32, 33, 63, 64, 65, 150, 1000])
def test_any_width(width, dtype, mode):
    rng = np.random.default_rng(width)
    x = noise(20_000, dtype)
    begins = rng.integers(-200, 20_200, 300)
    check(x, begins, None, width, mode)
    check(x, begins, rng.integers(0, 2 * width + 1, 300), width, mode)
    check(x, begins, [width // 2], width, mode)


@pytest.mark.parametrize("rows", [0, 1, 63, 64, 65, 3000])
def test_any_number_of_rows(rows):
    x = noise(5000, "float32")
    check(x, np.arange(rows), None, 100, "zscore")


@pytest.mark.parametrize("mode", MODES)
def test_begins_outside_of_the_signal(mode):
    x = noise(100, "float64")
    far = 2**62
    begins = [-far, -(2**63), far, 2**63 - 1, -50, -49, -1, 0, 99, 100, 101]
    width = 50
    found = signal.segments(x, begins, width=width, normalize=mode).to_numpy()
    for k, begin in enumerate(begins):
        inside = [(i, begin + i) for i in range(width) if 0 <= begin + i < 100]
        outside = sorted(set(range(width)) - {i for i, _ in inside})
        assert (found[k, outside] == 0).all()
    check(x, begins[4:], None, width, mode)
    check(np.zeros(0), [0, 5, -5], None, 4, mode)


@given(
    st.integers(0, 80),
    st.lists(st.tuples(st.integers(-100, 150), st.integers(0, 90)), max_size=20),
    st.integers(0, 70),
    st.sampled_from(MODES),
    st.sampled_from(DTYPES),
    st.integers(1, 3),
)
def test_anything(rows, segments, width, mode, dtype, step):
    begins = [begin for begin, _ in segments]
    lengths = [length for _, length in segments]
    check(noise(rows * step, dtype)[::step], begins, lengths, width, mode)


@pytest.mark.parametrize("mode", ["zscore", "minmax", "max"])
@pytest.mark.parametrize("value", [0.0, 0.1, -3.3, 1e300])
def test_constant_windows_are_zeros_or_ones(value, mode):
    found = signal.segments(np.full(100, value), [0, 3, 98], width=7, normalize=mode).to_numpy()
    wanted = np.sign(value) if mode == "max" else 0.0
    np.testing.assert_array_equal(found[:2], np.full((2, 7), wanted))
    np.testing.assert_array_equal(found[2], [wanted, wanted, 0, 0, 0, 0, 0])


@pytest.mark.parametrize("mode", ["zscore", "minmax", "max"])
@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_nan_and_inf_stay_in_their_windows(bad, mode):
    x = noise(1000, "float32")
    x[500] = bad
    found = signal.segments(x, [0, 480, 600, 990], width=40, normalize=mode).to_numpy()
    assert np.isnan(found[1]).all()
    assert np.isfinite(found[[0, 2, 3]]).all()
    found = signal.segments(x, [480], width=40).to_numpy()
    np.testing.assert_array_equal(found[0], x[480:520])


def test_normalised_rows_have_their_moments():
    found = signal.segments(
        noise(9000, "float64"), range(0, 9000, 90), width=90, normalize="zscore"
    )
    rows = found.to_numpy()
    np.testing.assert_allclose(rows.mean(axis=1), 0, atol=1e-14)
    np.testing.assert_allclose(rows.std(axis=1), 1, rtol=1e-13)


@pytest.mark.parametrize("width", [2, 33, 216, 5000])
@pytest.mark.parametrize("offset", [0.0, 1.0, 63.0, -65.0, 3e3, 1e5])
def test_float32_is_rounded_once_whatever_the_mean(offset, width):
    x = noise(60_000, "float32") + np.float32(offset)
    begins = np.arange(0, 55_000, 101)
    found = signal.segments(x, begins, width=width, normalize="zscore").to_numpy()
    wanted = by_definition(x, begins, [width], width, "zscore")
    np.testing.assert_array_max_ulp(found, wanted, 1)
    assert (found != wanted).mean() < 1e-4


def test_strides_and_series():
    x = noise(3000, "float64")
    for view in (x[::-1], x[::3], x.reshape(-1, 5)[:, 2], x[17:2900]):
        check(view, np.arange(-5, 400, 7), None, 33, "zscore")
    begins = np.arange(0, 2800, 10)
    check(x, begins[::-2], None, 20, "minmax")
    frame = hr.DataFrame({"x": x})
    found = signal.segments(frame.x, signal.nonzero(frame.x > 2.5), width=9).to_numpy()
    wanted = by_definition(x, np.flatnonzero(x > 2.5), [9], 9, "none")
    np.testing.assert_array_equal(found, wanted)


@pytest.mark.parametrize("mode", MODES)
def test_is_the_same_for_any_threads(mode):
    x = noise(300_000, "float32")
    begins = np.arange(-100, 299_000, 111)
    found = []
    for count in (1, 2, 4):
        with hr.threads(count):
            rows = signal.segments(x, begins, width=150, normalize=mode)
            found.append(rows.to_numpy().tobytes())
    assert found[0] == found[1] == found[2]


def test_nothing_is_copied():
    x, begins = noise(100_000, "float64"), np.arange(1000)
    with hr.no_copies():
        rows = signal.segments(x, begins, width=100, normalize="zscore").to_numpy()
    assert rows.flags.c_contiguous


def test_errors_name_the_fix():
    x = noise(100, "float64")
    with pytest.raises(ValueError, match=r"^segments: .*width=-1; "):
        signal.segments(x, [0], width=-1)
    with pytest.raises(ValueError, match=r"^segments: .*row=1, length=-4; drop"):
        signal.segments(x, [0, 1], [3, -4], width=5).to_numpy()
    with pytest.raises(ValueError, match=r"^segments: .*begins=3, lengths=2; "):
        signal.segments(x, [0, 1, 2], [3, 4], width=5).to_numpy()
    with pytest.raises(TypeError, match=r"^segments: .*dtype='int64'.*float.*; .*astype"):
        signal.segments([1, 2, 3], [0], width=2)
    for places in (np.array([0.5]), np.array([3], np.int32), np.array([3], np.uint64)):
        with pytest.raises(TypeError, match=r"^segments: .*int64: dtype='.*; use astype"):
            signal.segments(x, places, width=2)
        with pytest.raises(TypeError, match=r"^segments: .*int64: dtype='.*; use astype"):
            signal.segments(x, [3], places, width=2)
    with pytest.raises(TypeError, match=r"^segments: .*dimensions=2"):
        signal.segments(x.reshape(2, 50), [0], width=2)
    with pytest.raises(ValueError, match=r"normalize|mode"):
        signal.segments(x, [0], width=2, normalize="best")
    with pytest.raises(hr.Error, match=r"^segments: "):
        signal.segments(x, np.arange(100), width=2**62).to_numpy()
    column = hr.from_arrow(pytest.importorskip("pyarrow").array([1.0, None]))
    with pytest.raises(hr.Error, match=r"null.*fillna"):
        signal.segments(column, [0], width=2).to_numpy()
    assert signal.segments(x, [0], width=2).shape == (1, 2)


def test_old_names_work_and_warn():
    x = noise(100, "float64")
    with pytest.warns(
        DeprecationWarning, match=r"signal\.windows is now hr\.signal\.segments"
    ) as seen:
        rows = signal.windows(x, [0, 3], width=2)
    assert seen[0].filename == __file__
    np.testing.assert_array_equal(rows.to_numpy(), signal.segments(x, [0, 3], width=2).to_numpy())
    with pytest.warns(DeprecationWarning, match=r"index_of_true is now hr\.signal\.nonzero"):
        assert signal.index_of_true([False, True]).tolist() == [1]
