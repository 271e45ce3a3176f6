# SPDX-License-Identifier: Apache-2.0
"""`headrace.array_api` beside array_api_strict and NumPy; the suite of the standard runs apart."""

from __future__ import annotations

import inspect
from typing import Any

import array_api_strict
import numpy as np
import pytest

import headrace as hr

xp = hr.array_api


def frozen(values: Any) -> hr.Array:
    values = np.array(values)
    values.flags.writeable = False
    return hr.asarray(values)


def test_arrays_name_the_namespace() -> None:
    x = hr.asarray([1.0])
    for version in (None, "2021.12", "2025.12"):
        assert x.__array_namespace__(api_version=version) is xp
    with pytest.raises(ValueError, match="api_version"):
        x.__array_namespace__(api_version="2020.01")
    assert xp.__array_api_version__ == "2025.12"


def public(space: Any) -> set[str]:
    names = (name for name in dir(space) if not name.startswith("_"))
    return {name for name in names if name.islower() and callable(getattr(space, name))}


@pytest.mark.parametrize("part", ["", "linalg", "fft"])
def test_the_names_of_the_standard_are_there_with_their_parameters(part: str) -> None:
    ours, strict = (getattr(s, part) if part else s for s in (xp, array_api_strict))
    extras = {"set_array_api_strict_flags", "get_array_api_strict_flags"}
    extras |= {"reset_array_api_strict_flags"}
    names = (public(strict) if not part else set(ours.__all__)) - extras
    assert len(names) > 10
    assert names <= set(dir(ours))
    for name in names:
        wanted = inspect.signature(getattr(strict, name)).parameters
        given = inspect.signature(getattr(ours, name)).parameters
        kinds = {each.name: each.kind for each in given.values()}
        for each in wanted.values():
            if each.kind is inspect.Parameter.KEYWORD_ONLY:
                assert kinds[each.name] is each.kind, (name, each.name)


def test_dtypes_compare_with_those_of_arrays_and_numpy() -> None:
    assert xp.float32 == np.float32 == frozen(np.ones(1, "float32")).dtype
    assert xp.float32 == "float32"
    assert xp.float64 != None  # noqa: E711
    assert hr.asarray([1.0]).dtype != None  # noqa: E711
    assert hr.asarray([1.0]).dtype != (1, 2)
    assert xp.isdtype(hr.asarray([1]).dtype, ("bool", "integral"))
    assert not xp.isdtype(xp.complex64, "real floating")
    assert xp.result_type(xp.int8, xp.uint8) == xp.int16
    assert xp.result_type(hr.asarray([1], "int8"), 3) == xp.int8
    assert not xp.can_cast(xp.complex64, xp.float64)
    with pytest.raises(ValueError, match="kind"):
        xp.isdtype(xp.int8, "number")
    assert xp.finfo(xp.complex64).bits == 32
    assert xp.iinfo(xp.uint8).max == 255


def test_asarray_shares_or_copies() -> None:
    x = xp.asarray([1, 2])
    assert xp.asarray(x, copy=False) is x
    other = xp.asarray(x, copy=True)
    x[0] = 9
    assert (x.tolist(), other.tolist()) == ([9, 2], [1, 2])
    memory = np.arange(2)
    assert np.shares_memory(xp.asarray(memory).to_numpy(), memory)
    assert not np.shares_memory(xp.asarray(memory, copy=True).to_numpy(), memory)
    with pytest.raises(ValueError, match="copy"):
        xp.asarray(memory, dtype=xp.int8, copy=False)
    assert xp.asarray([hr.asarray(1), 2]).tolist() == [1, 2]
    assert xp.asarray(2**63).dtype == xp.uint64


@pytest.mark.parametrize(
    ("left", "right", "expected"),
    [
        (np.inf, 2.0, np.inf),
        (-np.inf, 2.0, -np.inf),
        (2.0, -np.inf, -0.0),
        (-2.0, np.inf, -0.0),
        (7.0, 2.0, 3.0),
        (np.inf, np.inf, np.nan),
    ],
)
def test_quotients_of_infinities_are_the_standards(left: Any, right: Any, expected: Any) -> None:
    x, divisor = frozen([left]), frozen([right])
    in_place = frozen([left])
    in_place //= divisor
    quotients = (hr.array_api.floor_divide(x, divisor), x // divisor, x // right, left // divisor)
    for made in (*quotients, in_place):
        np.testing.assert_array_equal(made.to_numpy(), [expected])
        assert (
            np.copysign(1, made.to_numpy())[0] == np.copysign(1, expected) or expected != expected
        )
    with np.errstate(invalid="ignore"):  # NumPy's function has NumPy's answer
        numpys = np.floor_divide(np.array([left]), np.array([right]))
        np.testing.assert_array_equal(np.floor_divide(x, divisor).to_numpy(), numpys)


@pytest.mark.parametrize("name", ["acosh", "asinh", "atanh"])
@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "complex128"])
@pytest.mark.filterwarnings("ignore")
def test_inverse_hyperbolic_functions(name: str, dtype: str) -> None:
    n = np.array([0, 1e-9, 0.1, 0.5, 0.999, 1, 1.001, 3, 1e5, 1e12, 1e30, -0.3, np.inf, np.nan])
    n = n.astype(dtype)
    made = getattr(xp, name)(frozen(n))
    assert made.dtype == dtype
    close = 4 * np.finfo(dtype).eps
    np.testing.assert_allclose(made.to_numpy(), getattr(np, name)(n), rtol=close)


@pytest.mark.filterwarnings("ignore")
def test_logarithms_of_sums_of_exponentials() -> None:
    n = np.array([0.0, 1000.0, -np.inf, np.inf, np.nan, -3.0])
    for m in (n[::-1].copy(), n):
        made = xp.logaddexp(frozen(n), frozen(m))
        np.testing.assert_allclose(made.to_numpy(), np.logaddexp(n, m), rtol=1e-15)
    assert xp.logaddexp(frozen(np.ones(1, "float32")), 2.0).dtype == xp.float32


def test_products_and_norms_equal_numpy() -> None:
    r = np.random.default_rng(0)
    a, b = r.normal(size=(2, 3, 4)), r.normal(size=(4, 3, 5))
    x, y = frozen(a), frozen(b)
    for made, expected in [
        (xp.tensordot(x, y, axes=((1, 2), (1, 0))), np.tensordot(a, b, ((1, 2), (1, 0)))),
        (xp.tensordot(x, y[:, 0], axes=1), np.tensordot(a, b[:, 0], 1)),
        (xp.vecdot(x, x[0]), np.vecdot(a, a[0])),
        (xp.matmul(x * 1j, y[:, :, 0]), np.matmul(a * 1j, b[:, :, 0])),
        (xp.linalg.cross(x[..., :3], x[..., 1:]), np.cross(a[..., :3], a[..., 1:])),
        (xp.linalg.matrix_norm(x), np.linalg.matrix_norm(a)),
        (xp.linalg.matrix_norm(x, ord=2), np.linalg.matrix_norm(a, ord=2)),
        (
            xp.linalg.vector_norm(x, axis=(0, 1), ord=3),
            np.linalg.vector_norm(a, axis=(0, 1), ord=3),
        ),
        (xp.linalg.pinv(x), np.linalg.pinv(a)),
        (xp.linalg.diagonal(x, offset=-1), np.linalg.diagonal(a, offset=-1)),
        (xp.fft.fftn(x), np.fft.fftn(a)),
        (xp.fft.irfftn(xp.fft.rfftn(x, axes=(0, 2)), s=(2, 4), axes=(0, 2)), a),
        (xp.fft.hfft(x, axis=1, norm="ortho"), np.fft.hfft(a, axis=1, norm="ortho")),
    ]:
        assert isinstance(made, hr.Array)
        assert made.shape == expected.shape
        np.testing.assert_allclose(made.to_numpy(), expected, rtol=1e-12, atol=1e-13)


def test_one_line_of_the_founding_documents() -> None:
    x = frozen(np.linspace(0, 6, 5000).reshape(100, 50))
    made = (np.sin(x) ** 2 + np.cos(x) ** 2 - 1 < 1e-12).all()
    assert "1 full-size pass" in made.explain()
    assert made.item()


def test_a_loop_gives_arrays_without_dimensions() -> None:
    x = frozen(np.array([3.0, 1.0]))
    a, b = x
    assert isinstance(a, hr.Array) and a.shape == ()
    assert (a - b).item() == 2.0
    assert [row.tolist() for row in frozen(np.eye(2))] == [[1.0, 0.0], [0.0, 1.0]]
    assert list(x[x > 9]) == []
    with pytest.raises(TypeError, match="0-d"):
        iter(a)


def test_lengths_that_follow_from_the_data_combine() -> None:
    n, m = np.arange(6.0), np.array([5.0, -1.0, 2.0, 7.0])
    x, y = frozen(n), frozen(m)
    np.testing.assert_array_equal(x[x > 2] * y[y > 0], n[n > 2] * m[m > 0])
    np.testing.assert_array_equal(x[x > 1] + y, n[n > 1] + m)
    np.testing.assert_array_equal(xp.where(x[x > 2] > 3, y[y > 0], 0.0), [0.0, 2.0, 7.0])
    chain = (x[x > 2] + 1) * x[x > 2]  # of one source: nothing is looked up
    assert -1 in chain._node.shape
    with pytest.raises(hr.errors.InvalidArgumentError):
        x[x > 2] + y
    part = x[x > 1]
    part += y
    np.testing.assert_array_equal(part, n[n > 1] + m)


def test_sums_in_another_dtype() -> None:
    x = frozen(np.full(3, 3e38, "float32"))
    made = np.sum(x, dtype="float64", keepdims=True)
    assert made.dtype == "float64" and made.shape == (1,)
    assert made.item() == float(np.float32(3e38)) * 3


def test_vecdot_repeats_no_vector_along_its_axis() -> None:
    xp = hr.array_api
    line, one = xp.asarray([1.0, 2.0]), xp.asarray([3.0])
    for left, right, axis in [
        (line, one, -1),
        (one, line, -1),
        (xp.ones((2, 3)), line[:, None], -1),
        (xp.ones((2, 3)), xp.ones(3), -2),
    ]:
        with pytest.raises(ValueError, match="differ in length"):
            xp.vecdot(left, right, axis=axis)
    assert xp.vecdot(xp.ones((2, 3)), xp.ones(3)).tolist() == [3, 3]
    assert xp.vecdot(xp.ones((2, 1)), xp.ones((2, 3)), axis=-2).tolist() == [2, 2, 2]
