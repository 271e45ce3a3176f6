# SPDX-License-Identifier: Apache-2.0
"""A pyramid stays within its error bound, and its bytes give the codes back."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from headrace import plot


def values_of(pyramid):
    """What a page shows: codes as values, NaN for missing ones."""
    codes = pyramid.codes.to_numpy().astype(float)
    return np.where(codes == 0, np.nan, pyramid.offset + pyramid.step * codes)


def unpack(data: np.ndarray, rows: int, count: int) -> np.ndarray:
    """The reading of the page, in Python."""
    codes, at = [], 0
    for _ in range(rows):
        last = 0
        for _ in range(count):
            first = int(data[at])
            at += 1
            if first:
                last += first - 128
            else:
                last = int(data[at]) | int(data[at + 1]) << 8
                at += 2
            codes.append(last)
    assert at == len(data)
    return np.array(codes, np.uint16).reshape(rows, count)


@given(
    hnp.arrays(
        np.float64,
        st.integers(1, 200),
        elements=st.one_of(st.floats(-1e300, 1e300), st.just(float("nan"))),
    )
)
def test_rows_are_within_half_a_step(x):
    made = plot.pyramid(x)
    assert made.bucket == 1
    found = values_of(made)
    np.testing.assert_array_equal(np.isnan(found), np.isnan(x))
    present = ~np.isnan(x)
    # The value itself may round once more where the step is near the spacing of floats.
    slack = 4 * np.spacing(np.abs(np.r_[x[present], made.offset, made.step * 65536]).max())
    assert (np.abs(found - x)[present] <= made.step * 0.5000001 + slack).all()


def test_spikes_do_not_coarsen_the_rest():
    x = np.random.default_rng(0).normal(size=100_000)
    fine = plot.pyramid(x).step
    x[50_000] = 60
    assert plot.pyramid(x).step == pytest.approx(fine, rel=1e-3)
    assert values_of(plot.pyramid(x))[50_000] == pytest.approx(60, abs=fine)


@pytest.mark.parametrize("dtype", ["float32", "int16", "uint64"])
def test_buckets_are_rounded_outward(dtype):
    x = (np.random.default_rng(1).normal(size=50_001).cumsum() * 100 + 50_000).astype(dtype)
    made = plot.pyramid(x, 20_000)
    assert (made.bucket, made.num_buckets, made.codes.shape) == (8, 6251, (2, 6251))
    low, high = values_of(made)
    starts = np.arange(0, len(x), 8)
    assert (low <= np.minimum.reduceat(x, starts)).all()
    assert (high >= np.maximum.reduceat(x, starts)).all()
    assert (low > np.minimum.reduceat(x, starts) - 1.001 * made.step).all()
    assert (high < np.maximum.reduceat(x, starts) + 1.001 * made.step).all()


def test_bytes_give_the_codes_back():
    x = np.random.default_rng(2).normal(size=10_000)
    x[::1000] = np.nan
    x[5::777] *= 50
    for limit in (20_000, 3_000):
        made = plot.pyramid(x, limit)
        codes = np.atleast_2d(made.codes.to_numpy())
        data = plot.pack_codes(made.codes).to_numpy()
        np.testing.assert_array_equal(unpack(data, *codes.shape), codes)


def test_errors():
    with pytest.raises(ValueError, match="pyramid"):
        plot.pyramid([1.0, 2.0], 1)
    with pytest.raises(TypeError, match="pyramid"):
        plot.pyramid(np.zeros((2, 2)))
    with pytest.raises(TypeError, match="pack_codes"):
        plot.pack_codes([1.0])
