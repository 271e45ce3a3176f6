# SPDX-License-Identifier: Apache-2.0
"""Element-wise expressions and reductions against NumPy (and pandas for nulls), dtype by dtype."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import headrace as hr

INTEGERS = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]
FLOATS = ["float32", "float64"]
DTYPES = ["bool", *INTEGERS, *FLOATS]

UNARY_EXACT = ["negative", "absolute", "square", "sign", "sqrt", "floor", "ceil", "rint", "trunc"]
UNARY_EXACT += ["isnan", "isinf", "isfinite", "logical_not", "reciprocal"]
UNARY_MATHS = ["exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "sin", "cos", "tan", "tanh"]
UNARY_MATHS += ["arcsin", "arccos", "arctan", "sinh", "cosh", "cbrt"]
BINARY = [
    "add",
    "subtract",
    "multiply",
    "divide",
    "floor_divide",
    "remainder",
    "minimum",
    "maximum",
]
BINARY += ["fmin", "fmax", "equal", "not_equal", "less", "less_equal", "greater", "greater_equal"]
BINARY += ["logical_and", "logical_or", "logical_xor"]


def values(dtype: str, size: int = 2500, seed: int = 0) -> np.ndarray:
    """Numbers of every size class, and the special ones of the dtype."""
    rng = np.random.default_rng(seed)
    if dtype == "bool":
        return rng.integers(0, 2, size).astype(bool)
    if dtype in INTEGERS:
        info = np.iinfo(dtype)
        wide = rng.integers(info.min, info.max, size, dtype=dtype, endpoint=True)
        small = rng.integers(max(info.min, -9), 9, size).astype(dtype)
        wide[::2] = small[::2]
        wide[:3] = [info.min, info.max, 0]
        return wide
    x = rng.normal(size=size) * 10.0 ** rng.integers(-3, 4, size)
    x[:10] = [0.0, -0.0, np.nan, np.inf, -np.inf, 1.0, -1.0, 0.5, 2.5, -2.5]
    return x.astype(dtype)


def check(got: object, expected: np.ndarray, ulps: int = 0) -> None:
    array = got.to_numpy()  # type: ignore[attr-defined]
    assert array.dtype == expected.dtype
    assert array.shape == expected.shape
    if ulps and expected.dtype.kind == "f":
        np.testing.assert_array_equal(np.isnan(array), np.isnan(expected))
        finite = np.isfinite(expected) & np.isfinite(array)
        np.testing.assert_array_equal(array[~finite], expected[~finite])
        np.testing.assert_array_max_ulp(array[finite], expected[finite], maxulp=ulps)
    else:
        np.testing.assert_array_equal(array, expected)


def numpy_result(name: str, *arrays: np.ndarray) -> np.ndarray | None:
    """What NumPy gives, or None where it refuses or uses float16."""
    try:
        with np.errstate(all="ignore"):
            result = getattr(np, name)(*arrays)
    except TypeError:
        return None
    return None if result.dtype == np.float16 else result


@pytest.mark.parametrize("name", UNARY_EXACT)
@pytest.mark.parametrize("dtype", DTYPES)
def test_unary_operations_equal_numpy(name: str, dtype: str) -> None:
    x = values(dtype)
    if name == "reciprocal" and dtype in INTEGERS:
        x = x[x != 0]  # NumPy's result for 0 depends on the machine
    expected = numpy_result(name, x)
    if expected is None:
        if name in ("negative", "sign"):
            with pytest.raises(hr.TypeMismatchError):
                getattr(np, name)(hr.asarray(x))
        return
    check(getattr(np, name)(hr.asarray(x)), expected)


@pytest.mark.parametrize("name", UNARY_MATHS)
@pytest.mark.parametrize("dtype", [*FLOATS, "int16", "int32", "uint64"])
def test_elementary_functions_are_within_ulps_of_numpy(name: str, dtype: str) -> None:
    expected = numpy_result(name, values(dtype))
    assert expected is not None
    check(getattr(np, name)(hr.asarray(values(dtype))), expected, ulps=6)


@pytest.mark.parametrize("name", BINARY)
@pytest.mark.parametrize("left", DTYPES)
@pytest.mark.parametrize(
    "right", ["bool", "int8", "uint8", "int32", "int64", "uint64", "float32", "float64"]
)
def test_binary_operations_equal_numpy(name: str, left: str, right: str) -> None:
    x, y = values(left), values(right, seed=1)
    expected = numpy_result(name, x, y)
    if expected is None:
        return
    check(getattr(np, name)(hr.asarray(x), hr.asarray(y)), expected)


@pytest.mark.parametrize("dtype", FLOATS)
def test_power_and_two_argument_functions(dtype: str) -> None:
    x, y = values(dtype), values(dtype, seed=1)
    for name in ("power", "hypot", "arctan2", "copysign"):
        expected = numpy_result(name, x, y)
        assert expected is not None
        # NumPy's own arctan2 of float32 is up to 2.6 ulp off, ours 0.5.
        check(getattr(np, name)(hr.asarray(x), hr.asarray(y)), expected, ulps=3)
    with np.errstate(all="ignore"):
        for exponent in (2, 0.5, -1, 1, 0, 3, -2.5):
            check(hr.asarray(x) ** exponent, x**exponent, ulps=2)


@pytest.mark.parametrize("dtype", INTEGERS)
def test_bits_of_integers(dtype: str) -> None:
    x, y = values(dtype), values(dtype, seed=1)
    a, b = hr.asarray(x), hr.asarray(y)
    check(a & b, x & y)
    check(a | b, x | y)
    check(a ^ b, x ^ y)
    check(~a, ~x)
    with np.errstate(all="ignore"):
        check(np.power(a, abs(b) % 7), np.power(x, abs(y) % 7))


@pytest.mark.parametrize("source", DTYPES)
@pytest.mark.parametrize("target", DTYPES)
def test_casts_equal_numpy_where_it_defines_them(source: str, target: str) -> None:
    x = values(source)
    if source in FLOATS and target in INTEGERS:
        info = np.iinfo(target)
        x = x[(x > info.min) & (x < info.max)]
    check(hr.asarray(x).astype(target), x.astype(target))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("literal", [True, 3, -2, 2.5])
def test_literals_take_the_dtype_they_meet(dtype: str, literal: float) -> None:
    x = values(dtype)
    for name in ("add", "multiply", "less", "minimum"):
        try:
            with np.errstate(all="ignore"):
                expected = getattr(np, name)(x, literal)
        except OverflowError:
            with pytest.raises(hr.InvalidArgumentError):
                getattr(np, name)(hr.asarray(x), literal)
            continue
        if expected.dtype != np.float16:
            check(getattr(np, name)(hr.asarray(x), literal), expected)


@pytest.mark.parametrize("dtype", ["uint8", "int8", "int64", "uint64"])
@pytest.mark.parametrize("literal", [300, -300, -1, 2**63 - 1, 2**63, 2**64 - 1, -(2**63)])
def test_literals_beyond_the_dtype_compare_but_do_not_add(dtype: str, literal: int) -> None:
    x = values(dtype)
    for name in BINARY[10:16]:
        compare = getattr(np, name)
        check(compare(hr.asarray(x), literal), compare(x, literal))
        check(compare(literal, hr.asarray(x)), compare(literal, x))
    info = np.iinfo(dtype)
    if not info.min <= literal <= info.max:
        with pytest.raises(hr.InvalidArgumentError, match=str(literal)):
            hr.asarray(x) + literal


@pytest.mark.parametrize("name", BINARY[10:16])
def test_signed_and_unsigned_compare_exactly(name: str) -> None:
    edges = [-(2**63), -2, -1, 0, 1, 2**53, 2**53 + 1, 2**63 - 2, 2**63 - 1]
    x = np.array(edges, "int64")[:, None]
    y = np.array([e for e in edges if e >= 0] + [2**63, 2**63 + 1, 2**64 - 1], "uint64")
    compare = getattr(np, name)
    check(compare(hr.asarray(x), hr.asarray(y)), compare(x, y))
    check(compare(hr.asarray(y), hr.asarray(x)), compare(y, x))
    check(compare(hr.asarray(x.astype("int8")), hr.asarray(y)), compare(x.astype("int8"), y))


def test_integer_division_by_zero_is_zero_and_negative_powers_are_refused() -> None:
    a = hr.asarray(np.array([5, -5, 0]))
    assert (a // 0).to_numpy().tolist() == [0, 0, 0]
    assert (a % 0).to_numpy().tolist() == [0, 0, 0]
    with pytest.raises(hr.InvalidArgumentError, match="negative"):
        (a ** hr.asarray(np.array([1, -1, 2]))).to_numpy()


@given(
    hnp.mutually_broadcastable_shapes(num_shapes=3, max_dims=4, max_side=5),
    st.integers(0, 2**31),
)
def test_broadcasting_equals_numpy(shapes: hnp.BroadcastableShapes, seed: int) -> None:
    rng = np.random.default_rng(seed)
    a, b, c = (rng.integers(-9, 9, shape).astype("float64") for shape in shapes.input_shapes)
    check((hr.asarray(a) - hr.asarray(b)) * hr.asarray(c), (a - b) * c)


@given(st.integers(0, 5000), st.integers(1, 7), st.integers(0, 2**31))
def test_any_length_offset_and_stride(size: int, step: int, seed: int) -> None:
    x = np.random.default_rng(seed).normal(size=size + 8)
    a = hr.asarray(x)
    for cut in (slice(3, None), slice(None, None, step), slice(None, None, -step), slice(5, 5)):
        check(np.sin(a[cut]) * 2 + a[cut], (np.sin(a) * 2 + a).to_numpy()[cut])


REDUCTIONS = ["sum", "prod", "mean", "var", "std", "min", "max", "argmin", "argmax", "any", "all"]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", REDUCTIONS)
@pytest.mark.parametrize("size", [1, 63, 1024, 1025, 2**17 + 3])
def test_reductions_equal_numpy(name: str, dtype: str, size: int) -> None:
    x = values(dtype, max(size, 10), seed=size)[:size]
    if dtype in FLOATS:
        x = np.nan_to_num(x, nan=1, posinf=2, neginf=-2)
        if name == "prod":
            x = (1 + np.abs(x) * 1e-9).astype(dtype)
    with np.errstate(all="ignore"):
        expected = getattr(x, name)()
        oracle = getattr(x.astype("longdouble"), name)() if dtype in FLOATS else expected
    got = getattr(hr.asarray(x), name)()
    assert got.dtype == expected.dtype or (dtype == "float32" and name in ("mean", "var", "std"))
    if np.asarray(expected).dtype.kind == "f":
        np.testing.assert_allclose(
            float(got), float(oracle), rtol=1e-6 if dtype == "float32" else 1e-12
        )
    else:
        assert got.item() == expected


@pytest.mark.parametrize("name", ["sum", "mean", "max", "min", "std"])
def test_nan_spreads_as_in_numpy(name: str) -> None:
    x = np.array([1.0, np.nan, 3.0])
    assert np.isnan(float(getattr(hr.asarray(x), name)()))


@given(
    hnp.arrays("float64", hnp.array_shapes(max_dims=4, max_side=6), elements=st.floats(-1e3, 1e3)),
    st.data(),
)
def test_reductions_along_an_axis_equal_numpy(x: np.ndarray, data: st.DataObject) -> None:
    axis = data.draw(st.integers(-x.ndim, x.ndim - 1))
    name = data.draw(st.sampled_from(["sum", "min", "max", "mean", "argmax"]))
    got = getattr(hr.asarray(x), name)(axis=axis).to_numpy()
    expected = np.asarray(getattr(x, name)(axis=axis))
    assert got.shape == expected.shape
    np.testing.assert_allclose(got, expected, rtol=1e-12, atol=1e-9)


def nullable(size: int, seed: int) -> pd.Series:
    rng = np.random.default_rng(seed)
    return (
        pd.Series(rng.integers(-50, 50, size))
        .astype("Int64")
        .mask(pd.Series(rng.random(size) < 0.3))
    )


def series(x: pd.Series) -> hr.Series:
    return hr.Series([None if v is pd.NA else v for v in x.astype(object)])


@pytest.mark.parametrize("size", [1, 64, 65, 1025])
def test_nulls_spread_as_in_pandas(size: int) -> None:
    x, y = nullable(size, 1), nullable(size, 2)
    a, b = series(x), series(y)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        cases = [
            (a + b, x + y),
            (a * 2 - b, x * 2 - y),
            (a < b, (x < y).fillna(False)),
            (a != b, (x != y).fillna(True)),
        ]
        cases += [
            ((a < b) | (a > 3), ((x < y) | (x > 3)).fillna(False)),
            (~(a == b), ~(x == y).fillna(False)),
            (a.isna(), x.isna()),
        ]
        cases += [(a.fillna(7), x.fillna(7))]
    for got, expected in cases:
        assert got.to_list() == [None if v is pd.NA else v for v in expected.astype(object)]
    assert int(a.sum()) == int(x.sum())
    assert int(a.count()) == int(x.count())
    if x.count():
        assert int(a.min()) == int(x.min())


def test_one_pass_for_a_chain_with_its_reduction() -> None:
    x = hr.asarray(np.linspace(0, 100, 300_001))
    count = (np.sin(x) ** 2 + np.cos(x) ** 2 == 1).sum()
    ones = np.sin(x.to_numpy()) ** 2 + np.cos(x.to_numpy()) ** 2
    assert count.dtype == "int64"
    assert abs(int(count) - int((ones == 1).sum())) < 0.1 * len(ones)
    assert abs(float((np.sin(x) ** 2 + np.cos(x) ** 2).mean()) - 1) < 1e-15


@pytest.mark.parametrize("workers", [1, 2, 4])
def test_threads_do_not_change_a_bit(workers: int) -> None:
    x = values("float64", 700_001)[10:]

    def run() -> tuple[bytes, float, float]:
        a = hr.asarray(x)
        y = np.exp(np.sin(a)) / (a * a + 1)
        return y.to_numpy().tobytes(), float(y.sum()), float(y.std())

    with hr.threads(3):
        expected = run()
    with hr.threads(workers):
        assert run() == expected
