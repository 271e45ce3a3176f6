# SPDX-License-Identifier: Apache-2.0
"""Arrays of any rank beside NumPy: indices, assignment, reductions, layout, order, complex."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from headrace.array import create, layout, order
from headrace.array.axis_reductions import cumulative
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import headrace as hr

SHAPES = hnp.array_shapes(min_dims=0, max_dims=4, min_side=0, max_side=4)


def numbers(shape: tuple[int, ...], dtype: str = "float64") -> np.ndarray:
    return np.arange(np.prod(shape, dtype=int)).reshape(shape).astype(dtype)


def frozen(values: Any) -> hr.Array:
    values = np.asarray(values)
    values.flags.writeable = False
    return hr.asarray(values)


def check(made: Any, expected: Any) -> None:
    assert isinstance(made, hr.Array)
    assert made.shape == np.shape(expected)
    assert made.dtype == np.asarray(expected).dtype
    np.testing.assert_array_equal(made.to_numpy(), expected)


@st.composite
def keys(draw: st.DrawFn, shape: tuple[int, ...]) -> Any:
    """A tuple of slices, integers, new axes, an ellipsis, arrays of positions and one mask."""
    items: list[Any] = []
    together = draw(st.integers(0, 3))
    axis = 0
    while axis < len(shape):
        size = shape[axis]
        kind = draw(st.sampled_from(["slice", "all", "int", "positions", "mask", "new", "stop"]))
        if kind == "stop":
            break
        if kind == "new":
            items.append(None)
            continue
        if kind == "int" and size:
            items.append(draw(st.integers(-size, size - 1)))
        elif kind == "positions" and size:
            lengths = hnp.array_shapes(min_dims=1, max_dims=2, min_side=1, max_side=1)
            extent = draw(st.sampled_from([(together,), (2, together), (1,)])) or draw(lengths)
            values = st.integers(-size, size - 1)
            items.append(draw(hnp.arrays("int64", extent, elements=values)))
        elif kind == "mask" and together == 2 and size > 1:
            mask = np.zeros(size, bool)
            mask[draw(st.permutations(range(size)))[:2]] = True
            items.append(mask)
        elif kind == "slice":
            items.append(draw(st.slices(size)))
        else:
            items.append(slice(None))
        axis += 1
    if draw(st.booleans()):
        items.append(Ellipsis)
    return tuple(items)


# ---- indices -------------------------------------------------------------------------------------
@settings(max_examples=400)
@given(st.data(), SHAPES)
def test_mixed_indices_equal_numpy(data: st.DataObject, shape: tuple[int, ...]) -> None:
    n = numbers(shape)
    key = data.draw(keys(shape))
    check(frozen(n)[key], n[key])


@settings(max_examples=300)
@given(st.data(), SHAPES)
def test_assignment_equals_numpy(data: st.DataObject, shape: tuple[int, ...]) -> None:
    n = numbers(shape)
    key = data.draw(keys(shape))
    x = hr.asarray(n.copy())
    before, twice = x[...], x * 2
    values = -1 - numbers(n[key].shape)
    value = data.draw(st.sampled_from([-7.0, values, values[:1] if values.ndim else values]))
    x[key] = hr.asarray(value) if data.draw(st.booleans()) else value
    expected = n.copy()
    expected[key] = value
    check(x, expected)
    check(before, n)
    check(twice, n * 2)


@pytest.mark.parametrize("size", [0, 1, 63, 64, 65, (1 << 17) - 1, (1 << 17) + 1, 5 << 16])
def test_elements_by_positions_in_several_morsels(size: int) -> None:
    n = numbers((size, 2))
    x = frozen(n)
    at = np.random.default_rng(0).integers(-size, size, 2 * size) if size else np.arange(0)
    check(x[at, at % 2], n[at, at % 2])
    check(x[:, 1][at], n[:, 1][at])
    y = hr.asarray(n.copy())
    y[at, 0] = np.arange(2.0 * size)
    expected = n.copy()
    expected[at, 0] = np.arange(2.0 * size)  # of equal positions the last one
    check(y, expected)


def test_masks_of_several_axes() -> None:
    n = numbers((3, 4, 2))
    x, mask = frozen(n), n[..., 0] % 3 == 0
    check(x[mask], n[mask])
    check(x[hr.asarray(mask)], n[mask])
    check(x[:, mask[0]], n[:, mask[0]])
    check(x[n > 5], n[n > 5])
    y = hr.asarray(n.copy())
    y[mask] = 1.5
    y[n > 20] = [7, 8, 9]
    expected = n.copy()
    expected[mask] = 1.5
    expected[n > 20] = [7, 8, 9]
    check(y, expected)


def test_assignment_converts_and_refuses() -> None:
    x = hr.asarray(np.arange(4))
    x[1] = 2.9
    assert x.tolist() == [0, 2, 2, 3]
    with pytest.raises(ValueError, match=r"setitem.*fit"):
        x[:2] = [1, 2, 3]
    with pytest.raises(TypeError, match="imaginary"):
        x[0] = hr.asarray(1j)
    with pytest.raises(IndexError, match="range"):
        x[4] = 1
    with pytest.raises(ValueError, match="range"):
        x[hr.asarray([4])].to_numpy()
    assert x.tolist() == [0, 2, 2, 3]


def test_operators_in_place_give_the_handle_another_node() -> None:
    n = np.arange(4.0)
    x = hr.asarray(n)
    other, view = x, x[1:]
    x += 1
    x *= 2
    assert other is x
    assert x.tolist() == [2, 4, 6, 8]
    assert view.tolist() == [1, 2, 3]
    assert n.tolist() == [0, 1, 2, 3]
    with pytest.raises(ValueError, match="shape"):
        x += np.ones((2, 1))
    y = hr.asarray([1, 2])
    with pytest.raises(TypeError, match="dtype"):
        y /= 2


# ---- reductions ----------------------------------------------------------------------------------
@settings(max_examples=200)
@given(st.data(), hnp.array_shapes(min_dims=0, max_dims=4, min_side=1, max_side=4), st.booleans())
def test_reductions_over_axes_equal_numpy(
    data: st.DataObject, shape: tuple[int, ...], keepdims: bool
) -> None:
    n = numbers(shape) % 7 - 2
    axes = data.draw(st.none() | st.lists(st.integers(0, len(shape) - 1), unique=True).map(tuple)
                     if shape else st.none())  # fmt: skip
    name = data.draw(st.sampled_from(["sum", "prod", "mean", "var", "std", "min", "max", "any"]))
    if axes == () and name in ("mean", "var", "std"):
        axes = None
    made = getattr(frozen(n), name)(axis=axes, keepdims=keepdims)
    expected = np.asarray(getattr(n, name)(axis=axes, keepdims=keepdims))
    assert made.shape == expected.shape
    np.testing.assert_allclose(made.to_numpy(), expected, rtol=1e-14)


@pytest.mark.parametrize("threads", [1, 2, 4])
def test_bits_do_not_depend_on_threads(threads: int) -> None:
    n = np.random.default_rng(1).normal(size=(3, 1 << 16, 2))
    results = []
    for count in (1, threads):
        with hr.threads(count):
            x = frozen(n)
            parts = [x.sum((0, 2)), x.std((0, 1)), cumulative(x, False, 1), order.sort(x, 1)]
            parts += [layout.roll(x, 5, 1), x.T.reshape(-1), (x * (1 + 2j)).sum((0, 1))]
            results.append([part.to_numpy().tobytes() for part in parts])
    assert results[0] == results[1]


@pytest.mark.parametrize("dtype", ["float64", "int32", "uint8", "bool", "complex128"])
@pytest.mark.parametrize("axis", [0, 1, 2])
def test_running_sums_equal_numpy(dtype: str, axis: int) -> None:
    n = (numbers((3, 4, 5)) % 3).astype(dtype)
    made = cumulative(frozen(n), False, axis, True)
    expected = np.cumulative_sum(n, axis=axis, include_initial=True)
    np.testing.assert_array_equal(made.to_numpy(), expected)
    made = cumulative(frozen(n), True, axis)
    np.testing.assert_array_equal(made.to_numpy(), np.cumulative_prod(n, axis=axis))


# ---- layout --------------------------------------------------------------------------------------
@settings(max_examples=200)
@given(st.data(), hnp.array_shapes(min_dims=1, max_dims=4, min_side=0, max_side=4))
def test_layout_equals_numpy(data: st.DataObject, shape: tuple[int, ...]) -> None:
    n = numbers(shape, data.draw(st.sampled_from(["float64", "int16", "bool", "complex64"])))
    x = frozen(n)
    axis = data.draw(st.integers(-n.ndim, n.ndim - 1))
    by = data.draw(st.integers(-5, 5))
    check(layout.roll(x, by, axis), np.roll(n, by, axis))
    check(layout.roll(x, by), np.roll(n, by))
    check(layout.flip(x, axis), np.flip(n, axis))
    check(layout.concatenate([x, x, x[:0] if not axis % n.ndim else x], axis),
          np.concatenate([n, n, n[:0] if not axis % n.ndim else n], axis))  # fmt: skip
    check(layout.stack([x, x], axis), np.stack([n, n], axis))
    check(layout.tile(x, (2, 3)), np.tile(n, (2, 3)))
    check(layout.repeat(x, 2, axis), np.repeat(n, 2, axis))
    check(layout.expand_dims(x, (0, -1)), np.expand_dims(n, (0, -1)))
    check(layout.moveaxis(x, axis, 0), np.moveaxis(n, axis, 0))
    order_of_axes = data.draw(st.permutations(range(n.ndim)))
    turned = x.transpose(*order_of_axes).reshape(-1)
    check(turned, n.transpose(order_of_axes).reshape(-1))


def test_repeated_views_take_no_memory() -> None:
    x = layout.broadcast_to(frozen(np.arange(3.0)), (1 << 20, 1 << 20, 3))
    assert x.to_numpy().strides == (0, 0, 8)
    assert hr.zeros((1 << 30, 1 << 20)).shape == (1 << 30, 1 << 20)
    assert x[5, 6].tolist() == [0, 1, 2]


@pytest.mark.parametrize("shape", [(1, 1), (33, 65), (1000, 300), (5, 70, 40)])
@pytest.mark.parametrize("dtype", ["int8", "int16", "float32", "float64", "complex128"])
def test_copies_between_layouts(shape: tuple[int, ...], dtype: str) -> None:
    n = numbers(shape, dtype)
    x = frozen(n)
    check(x.T.reshape(-1), n.T.reshape(-1))
    check(layout.concatenate([x.T, x.T[::-1]], 0), np.concatenate([n.T, n.T[::-1]], 0))
    check(x[..., ::2].reshape(-1), n[..., ::2].reshape(-1))


def test_broadcasting_in_fused_chains() -> None:
    n, row, column = numbers((40, 50)), np.arange(50.0), np.arange(40.0)[:, None]
    x, r, c = (frozen(part) for part in (n, row, column))
    check((x * r + c) / (r + 1), (n * row + column) / (row + 1))
    assert "1 full-size pass" in ((x * r + c) / (r + 1)).explain()
    check(r.reshape(1, -1) * c, row * column)


# ---- new arrays ----------------------------------------------------------------------------------
def test_new_arrays_equal_numpy() -> None:
    for made, expected in [
        (hr.arange(5), np.arange(5)),
        (hr.arange(10, 0, -3), np.arange(10, 0, -3)),
        (hr.arange(0, 1, 0.25), np.arange(0, 1, 0.25)),
        (hr.arange(3, dtype="float32"), np.arange(3, dtype="float32")),
        (hr.linspace(0, 1, 7), np.linspace(0, 1, 7)),
        (hr.linspace(3, 1, 5, endpoint=False), np.linspace(3, 1, 5, endpoint=False)),
        (hr.eye(3, 4, 1), np.eye(3, 4, 1)),
        (hr.eye(2, dtype="bool"), np.eye(2, dtype="bool")),
        (hr.ones(3, "int8"), np.ones(3, "int8")),
        (hr.full((2, 2), 1.5), np.full((2, 2), 1.5)),
        (hr.zeros_like(np.ones(2, "float32")), np.zeros(2, "float32")),
        (hr.full_like([1, 2], 3.7), np.full_like([1, 2], 3.7)),
    ]:
        check(made, expected)
    with pytest.raises(ValueError, match="step"):
        hr.arange(0, 1, 0)
    with pytest.raises(ValueError, match="negative"):
        create.zeros((2, -1))


# ---- order ---------------------------------------------------------------------------------------
@pytest.mark.parametrize("dtype", ["float64", "float32", "int64", "uint8", "bool"])
@pytest.mark.parametrize("size", [0, 1, 2, 63, 65, 1 << 15])
def test_order_equals_numpy(dtype: str, size: int) -> None:
    n = np.random.default_rng(size).integers(0, 9, (3, size)).astype(dtype)
    if dtype.startswith("float") and size > 2:
        n[:, ::5] = np.nan
    x = frozen(n)
    for axis in (0, 1):
        check(order.sort(x, axis), np.sort(n, axis, stable=True))
        check(order.argsort(x, axis), np.argsort(n, axis, stable=True))
        check(layout.flip(order.sort(x, axis, True), axis), np.sort(n, axis, stable=True))
    found = order.unique_all(x)
    expected = np.unique_all(n)
    check(found.values, expected.values)
    for mine, theirs in zip(found[1:], expected[1:], strict=True):
        np.testing.assert_array_equal(mine.to_numpy(), theirs)
    line = np.sort(n[0])
    for side in ("left", "right"):
        check(order.search_sorted(line, x, side), np.searchsorted(line, n, side))
    check(order.isin(x, n[0, :2]), np.isin(n, n[0, :2]))


def test_positions_along_an_axis_equal_numpy() -> None:
    n = np.random.default_rng(2).normal(size=(4, 5, 6))
    x = frozen(n)
    for axis in (0, 1, -1):
        at = np.argsort(n, axis)
        check(order.take_along_axis(x, at, axis), np.take_along_axis(n, at, axis))
        check(order.take(x, [1, 0, 1], axis), np.take(n, [1, 0, 1], axis))
    values, positions = order.top_k(x, 2)
    check(values, -np.sort(-n, -1)[..., :2])
    check(order.take_along_axis(x, positions, -1), values.to_numpy())
    check(layout.triangle(x, 1, lower=True), np.tril(n, 1))
    check(layout.triangle(x, -1, lower=False), np.triu(n, -1))


# ---- complex numbers -----------------------------------------------------------------------------
PAIRS = [0.0, -0.0, 1.0, -2.5, 0.3 + 0.4j, -1.5 + 2j, 3 - 1j, 1e-3j, -4j, 20 - 9j, 0.999 + 1e-3j]
UNARY = ["negative", "absolute", "square", "reciprocal", "sqrt", "exp", "expm1", "log", "log2"]
UNARY += ["log10", "log1p", "sin", "cos", "tan", "sinh", "cosh", "tanh", "arcsin", "arccos"]
UNARY += ["arctan", "isnan", "isinf", "isfinite", "logical_not", "sign"]


@pytest.mark.parametrize("name", UNARY)
@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
@pytest.mark.filterwarnings("ignore")
def test_complex_functions_equal_numpy(name: str, dtype: str) -> None:
    n = np.array(PAIRS, dtype)
    if name in ("reciprocal", "log", "log2", "log10"):
        n = n[2:]
    made = getattr(np, name)(frozen(n))
    expected = getattr(np, name)(n)
    assert isinstance(made, hr.Array)
    assert made.dtype == expected.dtype
    close = 2e-5 if dtype == "complex64" else 1e-13
    np.testing.assert_allclose(made.to_numpy(), expected, rtol=close, atol=close)


@pytest.mark.parametrize("name", ["add", "subtract", "multiply", "divide", "power", "equal"])
@pytest.mark.parametrize("other", ["complex64", "complex128", "float32", "float64", "int32"])
@pytest.mark.filterwarnings("ignore")
def test_complex_arithmetic_equals_numpy(name: str, other: str) -> None:
    n = np.array(PAIRS[2:], "complex64")
    m = (np.array(PAIRS[:-3:-1] * 5)[: n.size].real + 1).astype(other)
    for left, right in ((n, m), (m, n), (n, n)):
        made = getattr(np, name)(frozen(left.copy()), frozen(right.copy()))
        expected = getattr(np, name)(left, right)
        assert made.dtype == expected.dtype
        np.testing.assert_allclose(made.to_numpy(), expected, rtol=3e-5)


def test_complex_arrays_beside_python_numbers() -> None:
    n = np.array([1 + 2j, -3j], "complex64")
    x = frozen(n)
    for made, expected in [
        (x + 1, n + 1),
        (2.5 * x, 2.5 * n),
        (x * 1j, n * 1j),
        (x**2, n**2),
        (1 / x, 1 / n),
        (frozen(np.ones(2, "float32")) * 1j, np.ones(2, "float32") * 1j),
        (frozen(np.ones(2)) + 1j, np.ones(2) + 1j),
        (x.real, n.real),
        (x.imag, n.imag),
        (abs(x), abs(n)),
        (x.sum(), n.sum()),
        (x.mean(), n.mean()),
        (x.prod(), n.prod()),
        (x == n[0], n == n[0]),
        (x.astype("complex128"), n.astype("complex128")),
        (frozen(np.arange(2)).astype("complex64"), np.arange(2).astype("complex64")),
        (x[::-1].T, n[::-1].T),
    ]:
        assert made.dtype == np.asarray(expected).dtype
        np.testing.assert_allclose(made.to_numpy(), expected, rtol=1e-6)
    assert np.shares_memory(x.imag.to_numpy(), n)
    assert complex(x[0]) == 1 + 2j
    with pytest.raises(TypeError, match="imaginary"):
        x.astype("float32")
    with pytest.raises(TypeError, match="complex"):
        x < x


def test_a_chain_of_complex_arithmetic_is_one_pass_over_each_part() -> None:
    n = np.array(PAIRS)
    x = frozen(n)
    made = (x * x + 1) * (x - 2j)
    np.testing.assert_allclose(made.to_numpy(), (n * n + 1) * (n - 2j), rtol=1e-13)


def test_shapes_of_more_bytes_than_there_are_addresses() -> None:
    calls = (
        lambda: hr.zeros(2**61 + 1),
        lambda: np.tile(hr.asarray([1.0]), 2**61 + 1),
        lambda: np.concatenate([hr.zeros(2**62, "bool")] * 4 + [hr.zeros(1, "bool")]),
        lambda: hr.random.default_rng(1).normal(size=2**61 + 1),
    )
    for call in calls:
        with pytest.raises(hr.Error):
            hr.eval(call())


def test_a_whole_slice_of_unknown_length_is_a_view_of_its_own() -> None:
    y = hr.arange(5)
    y = y[y > 1]
    z = y[:]
    z[0] = 99
    assert (y.tolist(), z.tolist()) == ([99, 3, 4], [99, 3, 4])


@pytest.mark.parametrize(
    "make",
    [
        lambda x: hr.full_like(x, 300),
        lambda x: np.full_like(x, 300),
        lambda x: hr.full((2, 2), -1, x.dtype),
        lambda x: hr.asarray([1, 256], "uint8"),
    ],
)
def test_integers_beyond_a_dtype_are_refused(make: Any) -> None:
    with pytest.raises(OverflowError, match="uint8"):
        make(hr.asarray(np.zeros(3, "uint8")))
    assert hr.full_like(hr.asarray(np.zeros(3, "uint8")), 255).tolist() == [255] * 3
    assert hr.asarray([1.9, -1.9], "int8").tolist() == [1, -1]


@pytest.mark.parametrize(
    "shape", [(6, 5), (9, 16), (40, 33), (600, 20), (7, 6, 8), (3, 4, 5, 6), (9, 2)]
)
def test_transforms_over_axes_are_numpys(shape: tuple[int, ...]) -> None:
    real = np.random.default_rng(1).normal(size=shape)
    fft = hr.array_api.fft
    for n in (real, real + 1j * real[::-1], real.astype("float32")):
        x = hr.asarray(n)
        for axes in (None, (0, 1), (-1,), (0,), (1, 0), (1, 1)):
            close(fft.fftn(x, axes=axes), np.fft.fftn(n, axes=axes))
            close(fft.ifftn(x, axes=axes, norm="ortho"), np.fft.ifftn(n, axes=axes, norm="ortho"))
        close(fft.fftn(x, s=(4, 7)), np.fft.fftn(n, s=(4, 7), axes=(-2, -1)))
        close(fft.fft(x, n=11, axis=0), np.fft.fft(n, n=11, axis=0))
        close(fft.irfftn(x, axes=(0, 1)), np.fft.irfftn(n, axes=(0, 1)))
    close(fft.rfftn(hr.asarray(real)), np.fft.rfftn(real))
    for axes in ((0, 0, 1), (1, 0, 1)):
        found = fft.irfftn(hr.asarray(real), s=(8, 3, 6), axes=axes)
        close(found, np.fft.irfftn(real, s=(8, 3, 6), axes=axes))


def close(ours: Any, theirs: Any) -> None:
    """Equal within rounding, of the dtype of our kernels."""
    made = np.asarray(ours)
    assert made.shape == theirs.shape and made.dtype.kind == theirs.dtype.kind
    eps = np.finfo(made.dtype).eps
    np.testing.assert_allclose(made, theirs, atol=50 * eps * max(np.abs(theirs).max(), 1))


@pytest.mark.parametrize("key", [[], [[]], ([], []), [[], []], np.zeros((0, 2), "i8")])
def test_lists_without_elements_are_positions(key: Any) -> None:
    theirs = np.arange(6.0).reshape(2, 3)
    ours = hr.asarray(theirs.copy()).copy()
    assert ours[key].shape == theirs[key].shape
    ours[key] = 9.0
    np.testing.assert_array_equal(np.asarray(ours), theirs)


@pytest.mark.parametrize("dtype", ["u1", "i2", "i4", "i8", "f4", "?"])
@pytest.mark.parametrize("exponent", ["c8", "c16"])
def test_complex_powers_have_the_precision_of_their_dtype(dtype: str, exponent: str) -> None:
    base = np.array([200, 3, 7, 1, -(2**63) if dtype == "i8" else 5]).astype(dtype)
    power = np.array([1 + 2j, -0.5j, 2, 0, 1j]).astype(exponent)
    wanted = base**power
    made = (hr.asarray(base) ** hr.asarray(power)).to_numpy()
    assert made.dtype == wanted.dtype
    np.testing.assert_allclose(made, wanted, rtol=1e-13 if wanted.dtype == "c16" else 1e-5)
