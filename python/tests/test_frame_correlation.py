# SPDX-License-Identifier: Apache-2.0
"""Covariances and correlations of each two columns beside NumPy's in long double."""

import numpy as np
import pandas as pd
import pytest

import headrace as hr


def table(rows: int, columns: int, missing: float) -> pd.DataFrame:
    """Columns of other sizes and places, one of them constant, with holes."""
    random = np.random.default_rng(rows * 100 + columns)
    scale, place = 10.0 ** random.uniform(-4, 4, columns), 10.0 ** random.uniform(-2, 5, columns)
    values = random.normal(size=(rows, columns)) * scale + place
    values[:, 1:] += values[:, :1] / scale[0] * scale[1:]  # so that they have to do with the first
    values[random.random(values.shape) < missing] = np.nan
    values[:, 1] = 7.1
    return pd.DataFrame(values, columns=[f"c{i}" for i in range(columns)])


def pair(a: np.ndarray, b: np.ndarray) -> tuple[float, float]:
    """Covariance and correlation in long double."""
    both = ~(np.isnan(a) | np.isnan(b))
    x, y = (each[both].astype(np.longdouble) for each in (a, b))
    if len(x) < 2:
        return np.nan, np.nan
    x, y = x - x.mean(), y - y.mean()
    spread = np.sqrt((x * x).sum() * (y * y).sum())
    constant = np.ptp(a[both]) == 0 or np.ptp(b[both]) == 0
    return float((x * y).sum() / (len(x) - 1)), (
        np.nan if constant else float((x * y).sum() / spread)
    )


@pytest.mark.parametrize("missing", [0.0, 0.2])
@pytest.mark.parametrize(
    ("rows", "columns"),
    [(0, 2), (1, 2), (2, 3), (7, 5), (513, 17), (300, 133), (8193, 33), (70_000, 4)],
)
def test_pairs_are_those_of_long_doubles_for_any_threads(rows, columns, missing):
    wanted = table(rows, columns, missing)
    frame = hr.from_pandas(wanted)
    found = {}
    for threads in (1, 2, 4):
        with hr.threads(threads):
            found[threads] = [frame.cov().to_pandas(), frame.corr().to_pandas()]
    for k in range(2):
        bits = [each[k].to_numpy().astype("f8").tobytes() for each in found.values()]
        assert bits[0] == bits[1] == bits[2]
    cov, corr = (each.iloc[:, -columns:].to_numpy().astype("f8") for each in found[1])
    np.testing.assert_array_equal(cov, cov.T)
    np.testing.assert_array_equal(corr, corr.T)
    values, variances = wanted.to_numpy(), wanted.var().to_numpy()
    for i in range(columns):
        for j in range(i, columns):
            first, second = pair(values[:, i], values[:, j])
            spread = np.sqrt(variances[i] * variances[j]) if rows > 1 else 1.0
            assert np.isnan(first) == np.isnan(cov[i, j])
            assert np.isnan(first) or abs(cov[i, j] - first) <= 1e-12 * spread
            assert np.isnan(second) == np.isnan(corr[i, j])
            assert np.isnan(second) or abs(corr[i, j] - second) <= 1e-12
    if rows > 1 and not missing:
        assert corr[0, 0] == 1 and cov[1, 1] == 0 and np.isnan(corr[1, 1])


def test_nulls_infinities_and_other_dtypes():
    frame = hr.DataFrame(
        {"i": [1, 2, None, 4], "f": np.array([2, 4, 6, 9], "f4"), "inf": [np.inf, 1.0, 2.0, None]}
    )
    corr = frame.corr()
    assert corr.loc["i", "f"] == pytest.approx(np.corrcoef([1, 2, 4], [2, 4, 9])[0, 1], abs=1e-15)
    assert np.isnan(corr.loc["inf", "f"])
    # The infinite value stands in a row that the other column lacks.
    other = hr.DataFrame({"a": [np.inf, 1.0, 2.0, 4.0], "b": [None, 1.0, 3.0, 2.0]})
    assert other.corr().loc["a", "b"] == pytest.approx(np.corrcoef([1, 2, 4], [1, 3, 2])[0, 1])


def test_a_series_has_the_bits_of_its_frame():
    frame = hr.from_pandas(table(3000, 3, 0.1))
    assert frame.c0.corr(frame.c2) == frame.corr().loc["c0", "c2"]
    assert frame.c0.cov(frame.c2) == frame.cov().loc["c0", "c2"]
    assert frame.c0.cov(frame.c2, ddof=0) < frame.c0.cov(frame.c2)


def test_columns_beyond_the_limit(memory_room):
    wanted = table(400_000, 12, 0.1)
    whole = hr.from_pandas(wanted).corr().to_pandas()
    with memory_room("16MB"):
        frame = hr.from_pandas(wanted) + 0.0  # 38 MB of our own
        assert frame.corr().to_pandas().equals(whole)
