# SPDX-License-Identifier: Apache-2.0
"""hr.plot.envelope equals NumPy's minimum and maximum of each pixel's rows."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import headrace as hr
from headrace import plot

DTYPES = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]


def by_definition(x: np.ndarray, start: int, stop: int, width: int):
    """Lowest and highest of each pixel's rows, NaN passed over."""
    rows = stop - start
    low, high = np.full(width, np.nan), np.full(width, np.nan)
    if x.dtype.kind != "f":
        low, high = np.zeros(width, x.dtype), np.zeros(width, x.dtype)
    for p in range(width):
        first = start + p * rows // width
        part = x[first : max(first + 1, start + (p + 1) * rows // width)]
        part = part[part == part]
        if len(part):
            low[p], high[p] = part.min(), part.max()
    return low, high


def check(x, start, stop, width):
    low, high = plot.envelope(x, start, stop, width)
    wanted = by_definition(np.asarray(x), start, len(x) if stop is None else stop, width)
    np.testing.assert_array_equal(low.to_numpy(), wanted[0])
    np.testing.assert_array_equal(high.to_numpy(), wanted[1])
    assert low.to_numpy().dtype == np.asarray(x).dtype


@pytest.mark.parametrize("rows", [1, 63, 64, 65, 131_071, 131_072, 131_073, 300_000])
@pytest.mark.parametrize("width", [1, 7, 640])
def test_sizes(rows, width):
    x = np.random.default_rng(rows).normal(size=rows)
    check(x, 0, None, width)
    check(x.astype(np.float32), rows // 3, rows, width)


@pytest.mark.parametrize("dtype", DTYPES)
def test_integers(dtype):
    limits = np.iinfo(dtype)
    x = np.random.default_rng(1).integers(limits.min, limits.max, 5000, dtype, endpoint=True)
    check(x, 0, None, 33)


def test_strides_and_slices():
    x = np.arange(1000.0)[::-3]
    check(x, 10, 300, 50)
    check(np.asfortranarray(np.random.default_rng(2).normal(size=(400, 3)))[:, 1], 0, None, 21)


@given(
    hnp.arrays(
        np.float64,
        st.integers(1, 300),
        elements=st.floats(width=32, allow_nan=True, allow_infinity=True),
    ),
    st.data(),
)
def test_anything(x, data):
    start = data.draw(st.integers(0, len(x) - 1))
    stop = data.draw(st.integers(start + 1, len(x)))
    check(x, start, stop, data.draw(st.integers(1, 400)))


def test_threads_give_the_same_bits():
    x = np.random.default_rng(3).normal(size=700_000)
    found = []
    for count in (1, 2, 4):
        with hr.threads(count):
            low, high = plot.envelope(x, 1, 699_999, 321)
            found.append(low.to_numpy().tobytes() + high.to_numpy().tobytes())
    assert found[0] == found[1] == found[2]


def test_nothing_is_copied():
    x = np.random.default_rng(4).normal(size=200_000)
    with hr.no_copies():
        plot.envelope(x, width=100).high.to_numpy()


def test_errors():
    x = np.arange(10.0)
    for start, stop, width in [(0, 11, 5), (-1, 5, 5), (5, 5, 5), (0, 10, 0)]:
        with pytest.raises(ValueError, match="envelope"):
            plot.envelope(x, start, stop, width)
    with pytest.raises(TypeError, match="envelope"):
        plot.envelope(x.reshape(2, 5))
    with pytest.raises(ValueError, match="envelope"):
        plot.envelope(np.zeros(0), width=5)
