# SPDX-License-Identifier: Apache-2.0
"""Corners of indices, order and zeros where our arrays answer or raise as NumPy does."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import headrace as hr

CUBE = np.arange(24).reshape(2, 3, 4)
LAST, FIRST = np.array([True, False, True]), np.array([[True] * 3, [False] * 3])
TRUE, FALSE, ALL = np.True_, np.False_, slice(None)
KEYS: list[Any] = [
    (ALL, np.array([True, False])),
    (ALL, LAST),
    (LAST,),
    (..., LAST),
    (..., np.array([True] * 4)),
    (np.array([[True] * 2] * 2),),
    (ALL, np.array([[True] * 4] * 3)),
    (ALL, np.array([[True] * 4] * 2)),
    (np.zeros((0,), bool),),
    (np.zeros((0, 3), bool),),
    (np.zeros((0, 5), bool),),
    (ALL, np.zeros((3, 0), bool)),
    (FIRST, [0, 1, 2]),
    (0, ..., [1]),
    (ALL, [0, 1], ..., [0, 1]),
    (ALL, [0, 1], ..., 1),
    (0, ..., [0], ALL),
    ([0, 1], [0, 1], ..., 0),
    ([0, 1], ..., [0, 1], ALL),
    (TRUE,),
    (FALSE,),
    (TRUE, FALSE),
    (TRUE, TRUE),
    (TRUE, None, TRUE),
    (TRUE, ALL, TRUE),
    (ALL, TRUE, 0),
    (ALL, TRUE, [0, 1]),
    (FIRST, TRUE),
    (FIRST, ALL, TRUE),
    (..., TRUE),
    (TRUE, ..., [0]),
    ([0], [0], [0], ..., TRUE),
    (5,),
    ([5],),
    ([0, -3],),
    (ALL, [3]),
    (0, 0, 0, 0),
    (..., ...),
]


def ours(values: Any) -> hr.Array:
    frozen = np.array(values)
    frozen.flags.writeable = False
    return hr.asarray(frozen)


def answer(call: Any, *args: Any) -> Any:
    """What a call gives, or the class of its error."""
    try:
        return call(*args)
    except (IndexError, ValueError) as error:
        return type(error)


def assert_same(made: Any, expected: Any) -> None:
    if isinstance(expected, type):
        assert isinstance(made, type), expected
        assert issubclass(made, expected) and issubclass(made, hr.Error)
    else:
        np.testing.assert_array_equal(np.asarray(made), expected, strict=True)


@pytest.mark.parametrize("key", KEYS, ids=str)
def test_an_index_selects_and_assigns_as_numpys(key: Any) -> None:
    def assigned(x: Any) -> Any:
        x[key] = 7
        return np.asarray(x)

    assert_same(answer(lambda x: np.asarray(x[key]), ours(CUBE)), answer(lambda x: x[key], CUBE))
    assert_same(answer(assigned, ours(CUBE)), answer(assigned, CUBE.copy()))


@pytest.mark.parametrize("size", [0, 1, 2, 4])
def test_a_mask_of_another_length_raises_but_an_empty_one(size: int) -> None:
    for rows in (np.arange(3), CUBE, np.zeros(0)):
        mask = np.ones(size, bool)
        for key in (mask, ours(mask)):
            made = answer(lambda: np.asarray(ours(rows)[key]))
            assert_same(made, answer(lambda: rows[mask]))


def test_positions_beyond_rows_without_bytes_raise() -> None:
    nothing = ours(np.zeros((3, 0)))
    for key in (5, [5], (ALL, [0])):
        with pytest.raises(IndexError, match="out of range"):
            np.asarray(nothing[key])
    with pytest.raises(hr.InvalidArgumentError, match="position='9', rows=3"):
        np.asarray(ours([1, 2, 3])[[0, 9]])
    assert ours([1, 2, 3])[[0, -1]].tolist() == [1, 3]  # and the next call works


@pytest.mark.parametrize("dtype", ["?", "i2", "f4", "f8", "c16"])
def test_elements_at_many_positions(dtype: str) -> None:
    random = np.random.default_rng(2)
    matrix = (random.normal(size=(70, 90)) * 9).astype(dtype)
    for size in (0, 1, 1023, 1024, 1025, 2**17 + 1025):
        i, j = random.integers(-70, 70, size), random.integers(-90, 90, size)
        for x in (matrix, matrix.T[:70, :70]):
            j = j % x.shape[1]
            assert_same(np.asarray(ours(x)[ours(i), ours(j)]), x[i, j])
    pairs = random.integers(0, 70, (300, 20))
    assert_same(np.asarray(ours(matrix)[ours(pairs).T, ours(pairs[0])[::-1][:, None]]),
                matrix[pairs.T, pairs[0][::-1][:, None]])  # fmt: skip
    i, j = np.zeros((2, 2**17 + 3000), int)
    i[2**17 + 2000], j[2**17 + 2500] = 70, -91
    with pytest.raises(IndexError, match="position=70, axis=0, size=70"):
        np.asarray(ours(matrix)[ours(i), ours(j)])


@pytest.mark.parametrize("dtype", ["i1", "u1", "u2", "i8", "u8"])
def test_integers_beyond_a_dtype_stand_at_its_ends(dtype: str) -> None:
    line = np.array([0, 1, 2, 60, np.iinfo(dtype).max // 2], dtype)
    for value in (-(2**63) - 1, -129, -1, 0, 1, 127, 128, 255, 256, 2**63, 2**64):
        for side in ("left", "right"):
            assert np.searchsorted(ours(line), value, side) == np.searchsorted(line, value, side)


@pytest.mark.parametrize("dtype", ["f4", "f8", "c16", "i4"])
def test_equal_values_and_nan_occur_once(dtype: str) -> None:
    with np.errstate(invalid="ignore"):
        values = np.array([[np.nan, 1, np.nan, 2], [1, 0, 7, np.nan]]).astype(dtype)
    for equal_nan in (True, False):
        found = np.unique(ours(values), True, True, True, equal_nan=equal_nan)
        expected = np.unique(values, True, True, True, equal_nan=equal_nan)
        for mine, theirs in zip(found, expected, strict=True):
            np.testing.assert_array_equal(np.asarray(mine), theirs)
    assert hr.array_api.unique_values(ours([np.nan, np.nan])).size == 2


@pytest.mark.parametrize(
    "call",
    [
        lambda x: np.zeros_like(x, "i1"),
        lambda x: np.ones_like(x, "f4"),
        lambda x: np.full_like(x, 3, "i4"),
        lambda x: np.zeros_like(x, dtype=bool, shape=(2,)),
        lambda x: np.diff(x, prepend=0),
        lambda x: np.diff(x, append=1.5, axis=0),
        lambda x: np.diff(x, n=2, prepend=x[:, :2], append=0),
        lambda x: np.diff(x, n=0),
        lambda x: np.diff(x.astype("i1"), prepend=300),
    ],
)
def test_dtypes_and_ends_are_taken(call: Any) -> None:
    x = np.array([[1.5, 2, 4], [1, 3, 9]])
    np.testing.assert_array_equal(np.asarray(call(ours(x))), call(x), strict=True)


@pytest.mark.parametrize("ddof", [0, 1, 2, 3, 4, 2.5])
@pytest.mark.parametrize("axis", [None, 0, 1, (0, 1)])
def test_a_correction_of_all_elements_divides_by_zero(axis: Any, ddof: float) -> None:
    x = np.array([[1.5, 2, 4], [1, 3, 9]])
    with np.errstate(all="ignore"), pytest.MonkeyPatch.context() as patch:
        patch.setattr("warnings.warn", lambda *_, **__: None)
        for name in ("var", "std"):
            expected = getattr(np, name)(x, axis=axis, ddof=ddof)
            made = getattr(np, name)(ours(x), axis=axis, ddof=ddof)
            np.testing.assert_allclose(np.asarray(made), expected, rtol=1e-12)


@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize("shape", [(1, 700), (33, 64), (31, 65), (1025, 130), (3, 500, 70)])
def test_columns_reduce_with_the_bits_of_contiguous_lines(shape: Any, dtype: str) -> None:
    x = np.random.default_rng(1).normal(size=shape).astype(dtype)
    x[(0,) * x.ndim], x[(-1,) * x.ndim] = -0.0, np.inf
    x[..., 5] = np.nan
    x[..., 7] = -0.0
    for axis in range(x.ndim):
        turned = np.ascontiguousarray(np.moveaxis(x, axis, -1))
        for name in ("sum", "mean", "min", "max", "prod"):
            by_rows = np.asarray(getattr(ours(x), name)(axis=axis))
            by_lines = np.asarray(getattr(ours(turned), name)(axis=-1))
            assert by_rows.tobytes() == by_lines.tobytes(), (name, axis)
            expected = getattr(np, name)(x.astype("f8"), axis=axis)
            np.testing.assert_allclose(
                by_rows, expected, rtol=1e-5 if dtype == "f4" else 1e-11, atol=1e-4
            )


@pytest.mark.parametrize("rowvar", [True, False])
@pytest.mark.filterwarnings("ignore")
def test_covariances_are_ours(rowvar: bool) -> None:
    x = np.random.default_rng(1).normal(size=(40, 5)).astype("f4")
    with hr.strict():
        for given in (x, x[0], x[:, :1], x[:1], np.arange(12).reshape(3, 4)):
            for call in (np.cov, np.corrcoef):
                made, expected = call(ours(given), rowvar=rowvar), call(given, rowvar=rowvar)
                assert made.shape == expected.shape
                assert made.dtype == expected.dtype
                np.testing.assert_allclose(np.asarray(made), expected, rtol=1e-6, atol=1e-9)
        np.testing.assert_allclose(np.cov(ours(x), bias=True).to_numpy(), np.cov(x, bias=True))
    assert np.cov(ours(np.empty((0, 5)))).shape == np.cov(np.empty((0, 5))).shape
    weights = np.arange(1, x.shape[1] + 1)
    for words in ({"y": x}, {"aweights": weights}, {"dtype": "f4"}):  # by NumPy
        np.testing.assert_allclose(np.asarray(np.cov(ours(x), **words)), np.cov(x, **words), 1e-4)
    mixed = np.cov(ours(x * 1j))  # of complex numbers by NumPy
    np.testing.assert_allclose(np.asarray(mixed), np.cov(x * 1j))


ZEROS = [0j, complex(-0.0, 0.0), complex(0.0, -0.0), complex(-0.0, -0.0)]
NUMBERS = [
    *ZEROS,
    1 + 1j,
    complex(-1, 0.0),
    complex(np.inf, 1),
    complex(1, -np.inf),
    complex("nan"),
]


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("dtype", ["c8", "c16"])
def test_complex_quotients_and_powers_of_zero(dtype: str) -> None:
    numbers = np.array(NUMBERS, dtype)
    below = np.array([*ZEROS, 2j, -1], dtype)[:, None]
    np.testing.assert_array_equal(np.asarray(ours(numbers) / ours(below)), numbers / below)
    real = below.real.copy()
    zero_or_one = np.array([0j, complex(-0.0, 0), 1, 1 + 1j], dtype)
    made = np.asarray(ours(zero_or_one) / ours(real))
    np.testing.assert_array_equal(made, zero_or_one / real)
    for exponent in (-2, -1, -0.5, 0, 0.5, 1, 1j, -1 + 1j, 1 + 2j, 0j):
        made = np.asarray(ours(zero_or_one) ** exponent)
        np.testing.assert_allclose(made, zero_or_one**exponent, rtol=1e-6, atol=1e-6)
    assert (ours(np.array([np.inf + 1j])) ** 0).tolist() == [1 + 0j]
