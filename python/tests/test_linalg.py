# SPDX-License-Identifier: Apache-2.0
"""`hr.linalg` and products of arrays, frames and series, against NumPy."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest

import headrace as hr

SIZES = [0, 1, 2, 33, 64, 65, 255, 256, 257]
EPSILON = float(np.finfo("float64").eps)


def random(*shape: int, seed: int = 0) -> np.ndarray[Any, Any]:
    return np.random.default_rng(seed).standard_normal(shape)


def check(ours: Any, theirs: Any, tolerance: float = 1e-9) -> None:
    made = np.asarray(ours)
    expected = np.asarray(theirs)
    assert made.shape == expected.shape
    assert made.dtype == expected.dtype
    np.testing.assert_allclose(made, expected, tolerance, tolerance)


def same_bits_for_any_threads(make: Callable[[], Any]) -> bool:
    made = []
    for count in (1, 2, 4):
        with hr.threads(count):
            made.append(np.ascontiguousarray(np.asarray(make())).tobytes())
    return made[0] == made[1] == made[2]


# ---- products ------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("left", "right"),
    [
        ((3,), (3,)),
        ((3,), (3, 2)),
        ((2, 3), (3,)),
        ((2, 3), (3, 4)),
        ((5, 2, 3), (3, 4)),
        ((2, 3), (5, 3, 4)),
        ((5, 1, 2, 3), (4, 3, 2)),
        ((5, 2, 3), (3,)),
        ((3,), (5, 3, 2)),
        ((2, 0), (0, 3)),
        ((0, 2), (2, 3)),
        ((0,), (0,)),
        ((0, 2, 3), (3, 1)),
        ((1, 256), (256, 257)),
        ((300, 1), (1, 20)),
    ],
)
def test_products_are_numpys(left: tuple[int, ...], right: tuple[int, ...]) -> None:
    a, b = random(*left), random(*right, seed=1)
    for function in ("matmul", "dot"):
        if function == "dot" and len(left) > 2 and len(right) > 2:
            continue
        try:
            expected = getattr(np, function)(a, b)
        except ValueError:
            with pytest.raises(ValueError, match="matmul"):
                getattr(hr.linalg, function)(a, b)
            continue
        check(getattr(hr.linalg, function)(a, b), expected)
    check(hr.asarray(a) @ b, a @ b)
    check(a @ hr.asarray(b), a @ b)
    check(np.matmul(hr.asarray(a), b), a @ b)


def test_dot_inner_and_outer_are_numpys() -> None:
    a, b = random(2, 3, 4), random(5, 4, 6, seed=1)
    check(hr.linalg.dot(a, b), np.dot(a, b))
    check(hr.asarray(a).dot(b), np.dot(a, b))
    check(np.dot(hr.asarray(a), b), np.dot(a, b))
    check(hr.linalg.inner(a, random(7, 4)), np.inner(a, random(7, 4)))
    check(hr.linalg.inner(a, random(4)), np.inner(a, random(4)))
    check(hr.linalg.outer(random(3), random(2, 2)), np.outer(random(3), random(2, 2)))
    check(hr.linalg.dot(2.0, random(3)), 2 * random(3))


@pytest.mark.parametrize("a", ["bool", "int8", "uint8", "int32", "int64", "float32", "float64"])
@pytest.mark.parametrize("b", ["bool", "uint64", "int32", "float32", "float64"])
def test_products_have_numpys_dtype(a: str, b: str) -> None:
    x, y = (np.arange(6).reshape(2, 3) % 3).astype(a), np.arange(6).reshape(3, 2).astype(b)
    check(hr.linalg.matmul(x, y), x @ y, 0)
    most = np.full((2, 2), np.iinfo("int32").max, "int32")
    check(hr.linalg.matmul(most, most), most @ most, 0)  # wraps


def test_products_of_any_strides_and_of_lazy_operands() -> None:
    a, b = random(40, 30), random(60, 70, seed=1)
    left, right = a.T, b[::-1, ::3][:40]
    check(hr.asarray(left) @ hr.asarray(right), left @ right)
    lazy = hr.asarray(a).T * 2.0
    made = lazy @ hr.asarray(right)
    assert "matmul" in str(made.explain())
    check(made, (left * 2) @ right)
    nan = a.copy()
    nan[3, 4] = np.nan
    np.testing.assert_array_equal(np.isnan(hr.asarray(nan) @ a.T), np.isnan(nan @ a.T))


def test_products_refuse_what_does_not_fit() -> None:
    for a, b in [
        (random(2, 3), random(2, 3)),
        (random(3), random(2)),
        (random(2, 2, 3), random(3, 3, 1)),
    ]:
        with pytest.raises(ValueError, match="matmul"):
            hr.linalg.matmul(a, b)
    with pytest.raises(ValueError, match="scalar"):
        hr.linalg.matmul(1.0, random(2))
    with pytest.raises(hr.UnsupportedError, match="complex"):
        hr.linalg.matmul(np.ones((2, 2), "complex128"), random(2, 2))
    with pytest.raises(TypeError, match="asarray"):
        hr.linalg.matmul(["a"], random(1))


def test_products_of_frames_and_series_are_pandas() -> None:
    values = random(4, 3)
    frame, ours = (
        pd.DataFrame(values, columns=list("abc")),
        hr.DataFrame(dict(zip("abc", values.T, strict=True))),
    )
    weights = [1.0, 2.0, 3.0]
    np.testing.assert_allclose((ours @ weights).to_numpy(), (frame @ weights).to_numpy())
    turn = random(3, 2)
    np.testing.assert_allclose((ours @ turn).to_numpy(), (frame @ turn).to_numpy())
    assert hr.Series(weights) @ hr.Series(weights) == 14.0
    for left in (random(2, 4), random(4)):
        made, expected = left @ ours, left @ frame
        np.testing.assert_allclose(made.to_numpy(), expected.to_numpy())
    assert list((random(2, 4) @ ours).columns) == list((random(4) @ ours).index) == list("abc")
    before = hr.fallbacks()
    ours @ weights
    assert len(hr.fallbacks()) == len(before)


@pytest.mark.parametrize(
    ("subscripts", "shapes"),
    [
        ("ij,jk->ik", [(2, 3), (3, 4)]),
        ("ij,jk", [(2, 3), (3, 4)]),
        ("ij,kj->ki", [(2, 3), (4, 3)]),
        ("bij,bjk->bik", [(5, 2, 3), (5, 3, 4)]),
        ("ij->ji", [(2, 3)]),
        ("ba", [(2, 3)]),
        ("ii", [(3, 3)]),
        ("ii->i", [(3, 3)]),
        ("ijk->j", [(2, 3, 4)]),
        ("i,i->", [(3,), (3,)]),
        ("i,j->ij", [(3,), (2,)]),
        ("ij,ij->ij", [(2, 3), (2, 3)]),
        ("ij,ij->i", [(2, 3), (2, 3)]),
        ("ij,i->ij", [(2, 3), (2,)]),
        ("ij,jk,kl->il", [(2, 3), (3, 4), (4, 2)]),
        ("abc,cd,ad->b", [(2, 3, 4), (4, 5), (2, 5)]),
        ("iij,j->i", [(3, 3, 2), (2,)]),
        (" ij , jk -> ik ", [(0, 3), (3, 4)]),
    ],
)
def test_einsum_is_numpys(subscripts: str, shapes: list[tuple[int, ...]]) -> None:
    operands = [random(*shape, seed=place) for place, shape in enumerate(shapes)]
    check(hr.linalg.einsum(subscripts, *operands), np.einsum(subscripts, *operands))


@pytest.mark.parametrize(
    ("subscripts", "shapes"),
    [
        ("...i,i->...", [(2, 3, 4), (4,)]),
        ("...i,...i", [(2, 3, 4), (2, 3, 4)]),
        ("...i,...i", [(2, 3, 4), (1, 3, 4)]),
        ("i...,i...->...", [(2, 3, 4), (2, 3, 4)]),
        ("ij->...", [(2, 3)]),
        ("ij,jk->i...k", [(2, 3), (3, 4)]),
        ("...ij,jk", [(2, 3, 4), (4, 5)]),
        ("...", [(2, 3)]),
        ("...,...", [(2, 3, 4), (3, 4)]),
        ("...ij->...ji", [(2, 3, 4)]),
        ("ij...,jk...->ik...", [(2, 3, 4), (3, 5, 1)]),
        ("b...i,...ij,jk->b...k", [(2, 1, 3), (5, 3, 4), (4, 2)]),
        ("...i,...i->...", [(0, 3), (1, 3)]),
        ("ij,...", [(2, 3), ()]),
    ],
)
def test_einsum_with_an_ellipsis_is_numpys(subscripts: str, shapes: list[tuple[int, ...]]) -> None:
    operands = [random(*shape, seed=at) for at, shape in enumerate(shapes)]
    check(hr.linalg.einsum(subscripts, *operands), np.einsum(subscripts, *operands))


def test_einsum_refuses_what_it_lacks() -> None:
    with pytest.raises(hr.UnsupportedError, match="einsum"):
        hr.linalg.einsum(random(2, 3), [0, 1])
    for subscripts, operands in [("ij,jk->iz", 2), ("ij->i", 2), ("ijk->i", 1), ("ij->ii", 1)]:
        with pytest.raises(ValueError, match="einsum"):
            hr.linalg.einsum(subscripts, *[random(2, 2)] * operands)
    with pytest.raises(ValueError, match="sizes differ"):
        hr.linalg.einsum("ij,jk", random(2, 3), random(2, 3))
    with pytest.raises(ValueError, match="sizes differ"):
        hr.linalg.einsum("ij,jk,kl", random(2, 3), random(3, 4), random(3, 4))


def test_einsum_takes_the_way_with_the_fewest_products() -> None:
    tall, wide, line = random(300, 2), random(2, 300, seed=1), random(300, 1, seed=2)
    for each in (tall, wide, line):
        each.setflags(write=False)
    made = hr.linalg.einsum("ij,jk,kl->il", *map(hr.asarray, (tall, wide, line)))
    plan = str(made.explain())
    assert "(2, 1)" in plan and "(300, 300)" not in plan
    check(made, tall @ wide @ line)


# ---- factors -------------------------------------------------------------------------------------
@pytest.mark.parametrize("size", SIZES)
def test_equations_are_numpys(size: int) -> None:
    a, b = random(size, size) + 4 * np.eye(size), random(size, 3, seed=1)
    positive = a @ a.T + np.eye(size)
    check(hr.linalg.solve(a, b), np.linalg.solve(a, b))
    check(hr.linalg.solve(a, b[:, 0]), np.linalg.solve(a, b[:, 0]))
    check(hr.linalg.inv(a), np.linalg.inv(a))
    check(hr.linalg.cholesky(positive), np.linalg.cholesky(positive))
    check(hr.linalg.cholesky(positive, upper=True), np.linalg.cholesky(positive, upper=True))
    small = a / max(size, 1) ** 0.5
    check(hr.linalg.det(small), np.linalg.det(small))
    for ours, theirs in zip(hr.linalg.slogdet(a), np.linalg.slogdet(a), strict=True):
        check(ours, theirs)
    check(hr.linalg.eigvalsh(positive), np.linalg.eigvalsh(positive))
    values, vectors = map(np.asarray, hr.linalg.eigh(positive, "U"))
    check(vectors * values @ vectors.T, positive)
    check(vectors.T @ vectors, np.eye(size))


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("more", [-5, 0, 7])
def test_orthogonal_factors_are_numpys(size: int, more: int) -> None:
    rows = max(size + more, 0)
    a = random(rows, size)
    for mode in ("reduced", "complete"):
        for ours, theirs in zip(hr.linalg.qr(a, mode), np.linalg.qr(a, mode), strict=True):
            check(ours, theirs)
    check(hr.linalg.qr(a, "r"), np.linalg.qr(a, "r"))
    for full in (True, False):
        u, s, vh = map(np.asarray, hr.linalg.svd(a, full))
        expected = np.linalg.svd(a, full)
        check(s, expected.S)
        assert (u.shape, vh.shape) == (expected.U.shape, expected.Vh.shape)
        check(u[:, : len(s)] * s @ vh[: len(s)], a)
        check(u.T @ u, np.eye(u.shape[1]))
        check(vh @ vh.T, np.eye(len(vh)))
    check(hr.linalg.svdvals(a), np.linalg.svdvals(a))
    if 0 in a.shape:
        return
    b = random(rows, 2, seed=1)
    for right in (b, b[:, 0]):
        ours, theirs = hr.linalg.lstsq(a, right), np.linalg.lstsq(a, right)
        for made, expected in zip(ours, theirs, strict=True):
            check(np.asarray(made, np.asarray(expected).dtype), expected, 1e-7)
    check(hr.linalg.pinv(a), np.linalg.pinv(a), 1e-7)


def test_factorizations_take_stacks_float32_integers_and_strides() -> None:
    a = random(2, 3, 5, 5) + 4 * np.eye(5)
    b = random(3, 5, 2, seed=1)
    check(hr.linalg.solve(a, b), np.linalg.solve(a, b))
    check(hr.linalg.inv(a), np.linalg.inv(a))
    check(hr.linalg.det(a), np.linalg.det(a))
    check(hr.linalg.svdvals(a), np.linalg.svdvals(a))
    check(hr.linalg.pinv(a), np.linalg.pinv(a))
    check(hr.linalg.eigvalsh(a), np.linalg.eigvalsh(a))
    check(hr.linalg.matrix_rank(a), np.linalg.matrix_rank(a))
    check(hr.linalg.trace(a, offset=-1), np.linalg.trace(a, offset=-1))
    q, r = hr.linalg.qr(a)
    check(hr.linalg.matmul(q, r), a)
    single = a.astype("float32")
    check(hr.linalg.solve(single, single), np.linalg.solve(single, single), 1e-5)
    check(hr.linalg.svdvals(single), np.linalg.svdvals(single), 1e-5)
    whole = np.array([[2, 1], [1, 3]])
    check(hr.linalg.inv(whole), np.linalg.inv(whole))
    check(hr.linalg.det(whole > 1), np.linalg.det((whole > 1).astype(float)))
    wide = random(10, 30)
    check(hr.linalg.inv(hr.asarray(wide)[::2, ::-6]), np.linalg.inv(wide[::2, ::-6]))
    assert hr.linalg.matrix_rank(np.ones(3)) == 1
    assert hr.linalg.matrix_rank(np.zeros((3, 3))) == 0


@pytest.mark.parametrize("axes", [0, 1, 2, ([2, 1], [0, 1]), ((-1,), (-2,)), (2, 1)])
def test_tensordot_is_numpys(axes: Any) -> None:
    a, b = random(2, 4, 4), random(4, 4, 3, seed=1)
    check(hr.linalg.tensordot(a, b, axes), np.tensordot(a, b, axes))
    whole = (a * 9).astype("int32"), (b * 9).astype("int64")
    check(hr.linalg.tensordot(*whole, axes), np.tensordot(*whole, axes))


def test_tensordot_refuses_axes_that_do_not_fit() -> None:
    for axes in (3, -1, ([0], [0]), ([0, 0], [0, 1]), ([5], [0])):
        with pytest.raises(ValueError, match="tensordot"):
            hr.linalg.tensordot(random(2, 3), random(3, 2), axes)
    with pytest.raises(NotImplementedError, match="complex"):
        hr.linalg.tensordot([1j], [1.0], 1)


def test_errors_name_the_column_of_the_pivot() -> None:
    singular = random(70, 70)
    singular[:, 40] = singular[:, 3]
    singular[:, 40] = 0
    for call in (hr.linalg.inv, lambda a: hr.linalg.solve(a, random(70))):
        with pytest.raises(hr.linalg.LinAlgError, match=r"singular: column=40"):
            call(singular)
        with pytest.raises(np.linalg.LinAlgError):
            call(singular)
        with pytest.raises(hr.InvalidArgumentError) as caught:
            call(hr.asarray(singular))
        assert type(caught.value) is hr.linalg.LinAlgError
        assert type(pickle.loads(pickle.dumps(caught.value))) is hr.linalg.LinAlgError
    for call in (np.linalg.inv, np.linalg.cholesky, np.linalg.eigvalsh, np.linalg.svd):
        for wrong in (np.full((3, 3), np.nan), np.ones((2, 3)), np.zeros((3, 3))):
            try:
                call(wrong)
            except np.linalg.LinAlgError:
                with pytest.raises(np.linalg.LinAlgError):
                    call(hr.asarray(wrong))
    assert hr.linalg.det(singular).item() == 0
    assert hr.linalg.slogdet(singular)[1].item() == -np.inf
    indefinite = np.eye(80)
    indefinite[70, 70] = -1
    with pytest.raises(ValueError, match=r"cholesky: .*positive definite: column=70"):
        hr.linalg.cholesky(indefinite)
    nan = np.full((3, 3), np.nan)
    for function in (hr.linalg.svd, hr.linalg.eigh, hr.linalg.cholesky):
        with pytest.raises(ValueError, match=r"finite|positive"):
            function(nan)
    assert np.isnan(hr.linalg.solve(nan, np.ones(3))).all()
    assert np.isnan(hr.linalg.qr(nan).R).any()


def test_wrong_shapes_are_errors() -> None:
    wide = random(2, 3)
    for function in (hr.linalg.inv, hr.linalg.det, hr.linalg.eigh, hr.linalg.cholesky):
        with pytest.raises(ValueError, match="not square"):
            function(wide)
        with pytest.raises(ValueError, match="expected a matrix"):
            function(random(3))
    with pytest.raises(ValueError, match="another number of rows"):
        hr.linalg.solve(random(3, 3), random(2))
    with pytest.raises(ValueError, match="as many rows"):
        hr.linalg.lstsq(random(3, 3), random(2))
    with pytest.raises(ValueError, match="UPLO"):
        hr.linalg.eigh(np.eye(2), UPLO="x")  # type: ignore[arg-type]
    with pytest.raises(hr.UnsupportedError, match="mode"):
        hr.linalg.qr(wide, "raw")  # type: ignore[arg-type]


def test_hard_matrices() -> None:
    hilbert = 1 / (np.arange(10)[:, None] + np.arange(10) + 1.0)
    exact = np.rint(np.linalg.inv(hilbert))  # its inverse holds integers
    ours = np.asarray(hr.linalg.inv(hilbert))
    assert abs(ours - exact).max() < 1e-3 * abs(exact).max()
    b = hilbert @ np.ones(10)
    assert abs(hilbert @ np.asarray(hr.linalg.solve(hilbert, b)) - b).max() < 10 * EPSILON
    # Graded: small singular values are exact to the last digits, unlike LAPACK's.
    scales = 10.0 ** -np.arange(0, 60, 6)
    graded = np.linalg.qr(random(10, 10)).Q * scales
    np.testing.assert_allclose(np.asarray(hr.linalg.svdvals(graded)), scales, 1e-13)
    assert hr.linalg.matrix_rank(graded) == np.linalg.matrix_rank(graded)
    low = random(40, 3) @ random(3, 20, seed=1)
    x, residuals, rank, _ = hr.linalg.lstsq(low, random(40, 2, seed=2))
    expected = np.linalg.lstsq(low, random(40, 2, seed=2))
    assert rank == 3 == hr.linalg.matrix_rank(low)
    assert residuals.shape == (0,)
    check(x, expected[0])
    huge = np.array([[1e300, 1e300], [0, 1e300]])
    np.testing.assert_allclose(hr.linalg.svdvals(huge), np.linalg.svdvals(huge))
    np.testing.assert_allclose(np.asarray(hr.linalg.qr(huge).R), np.linalg.qr(huge).R)
    zero = np.zeros((4, 3))
    u, s, vh = map(np.asarray, hr.linalg.svd(zero))
    assert not s.any()
    check(u.T @ u, np.eye(4))
    check(vh.T @ vh, np.eye(3))


def dependent_matrices() -> dict[str, np.ndarray[Any, Any]]:
    """Matrices whose rank is not full, or whose entries lie far apart."""
    generator = np.random.default_rng(1)
    rows = generator.random((15, 30))
    rows = np.repeat(rows, generator.integers(0, 5, 15), axis=0)
    centred = rows - rows.mean(axis=0)
    scales = 10.0 ** -np.arange(0, 300, 15)
    one = np.zeros((40, 30))
    one[17, 11] = 3
    hollow = random(30, 20)
    hollow[:, ::3] = 0
    return {
        "repeated rows": centred,
        "repeated columns": centred.T.copy(),
        "each column thrice": np.repeat(random(50, 9), 3, axis=1),
        "equal entries": np.full((25, 25), 0.1),
        "of rank one": np.outer(random(60), random(33)),
        "of rank 3, tall": random(300, 3) @ random(3, 70),
        "sums of columns": np.hstack([random(40, 10), random(40, 10) @ random(10, 15)]),
        "columns of zeros": hollow,
        "graded columns": random(40, 20) * scales,
        "graded rows": random(20, 40) * scales[:, None],
        "graded both ways": scales[:, None] * random(20, 20) * scales,
        "kahan": np.triu(-0.9 * np.ones((40, 40)), 1) * 0.4 ** np.arange(40)[:, None]
        + np.diag(0.4 ** np.arange(40)),
        "one entry": one,
        "one row": random(1, 50),
        "one column": random(50, 1),
        "a row of zeros": np.zeros((1, 5)),
        "denormal": random(12, 7) * 1e-310,
        "denormal column": random(12, 7) * np.array([1, 1, 1e-310, 1, 1e-320, 0, 1]),
        "near overflow": random(30, 30) * 1e307,
        "small beside large": random(30, 30) * np.where(np.arange(30) % 2, 1e150, 1e-150),
        "float32": np.repeat(random(20, 8).astype("float32"), 2, axis=1),
        "float32, tiny": (random(20, 8) * 1e-38).astype("float32"),
        "hilbert": 1 / (np.arange(60)[:, None] + np.arange(60) + 1.0),
    }


@pytest.mark.parametrize("name", list(dependent_matrices()))
def test_matrices_of_any_rank_and_scale(name: str) -> None:
    a = dependent_matrices()[name]
    rows, columns = a.shape
    u, s, vh = (np.asarray(part, "float64") for part in hr.linalg.svd(a))
    expected = np.linalg.svd(a.astype("float64"), compute_uv=False)
    unit = expected[0] or 1.0
    tolerance = 1e-13 if a.dtype == "float64" else 1e-6
    assert (s[:-1] >= s[1:]).all()
    np.testing.assert_allclose(s / unit, expected / unit, 0, tolerance)
    np.testing.assert_allclose(np.asarray(hr.linalg.svdvals(a)) / unit, s / unit, 0, tolerance)
    np.testing.assert_allclose(u.T @ u, np.eye(rows), 0, tolerance)
    np.testing.assert_allclose(vh @ vh.T, np.eye(columns), 0, tolerance)
    back = (u[:, : s.size] * (s / unit)) @ vh[: s.size]
    np.testing.assert_allclose(back, a.astype("float64") / unit, 0, 4 * tolerance)
    b = random(rows, 1, seed=2).astype(a.dtype)
    ours, theirs = hr.linalg.lstsq(a, b), np.linalg.lstsq(a, b)
    assert ours[2] == theirs[2] == hr.linalg.matrix_rank(a)
    if name not in ("hilbert", "kahan", "denormal"):  # values near the cutoff; x overflows
        scale = np.abs(theirs[0]).max() or 1.0
        bound = 1e-9 if a.dtype == "float64" else 1e-3
        np.testing.assert_allclose(np.asarray(ours[0]) / scale, theirs[0] / scale, 0, bound)


def test_small_values_of_graded_matrices_are_exact() -> None:
    scales = 10.0 ** -np.arange(0, 100, 10)
    base = random(10, 10) + 4 * np.eye(10)
    for graded in (base * scales, scales[:, None] * base):
        s, s_alone = np.asarray(hr.linalg.svd(graded).S), np.asarray(hr.linalg.svdvals(graded))
        np.testing.assert_allclose(s, s_alone, 1e-13)
        exact = np.linalg.slogdet(base).logabsdet + np.log(scales).sum()
        assert abs(np.log(s).sum() - exact) < 1e-11
        assert 1e-92 < s[-1] < 1e-88
    many = 10.0 ** -np.linspace(0, 40, 200)  # of which rows of one size are turned together
    made = hr.linalg.svdvals(np.linalg.qr(random(200, 200)).Q * many)
    np.testing.assert_allclose(np.asarray(made), many, 1e-12)


@pytest.mark.parametrize("size", [1, 2, 3, 16, 31, 33, 64, 65, 130])
def test_singular_values_alone_are_those_beside_vectors(size: int) -> None:
    q = np.linalg.qr(random(size + 3, size)).Q
    spread = np.logspace(0, -4, size)
    for a in (
        random(size, size),
        random(2 * size, size),
        np.eye(size) + 1e-9 * random(size, size),
        np.ones((size, size)) + 1e-6 * random(size, size),  # one large, the others in a heap
        np.diag(abs(np.arange(size) - size / 2) + 0.01) + np.eye(size, k=1),
        q,
        q * np.where(np.arange(size) % 2, 1.0, 2 + 1e-12),
        q * spread,
        q * spread[::-1],
        random(size, size).round(),
    ):
        s = np.asarray(hr.linalg.svd(a).S)
        np.testing.assert_allclose(np.asarray(hr.linalg.svdvals(a)), s, 0, 1e-14 * s[0])


@pytest.mark.parametrize("order", [None, 1, -1, 2, -2, np.inf, -np.inf, 0, 3, 0.5, "fro", "nuc"])
@pytest.mark.parametrize("keepdims", [False, True])
def test_norms_are_numpys(order: Any, keepdims: bool) -> None:
    cases: list[tuple[Any, Any]] = [
        (random(7), None),
        (random(4, 6), None),
        (random(2, 4, 6), 1),
        (random(2, 4, 6), (0, 2)),
        (random(2, 4, 6), (-1, 0)),
        (np.arange(1, 7), None),
    ]
    for x, axis in cases:
        try:
            expected = np.linalg.norm(x, order, axis, keepdims)
        except ValueError:
            with pytest.raises(ValueError, match="norm"):
                hr.linalg.norm(x, order, axis, keepdims)
            continue
        check(hr.linalg.norm(x, order, axis, keepdims), expected)


def test_numpys_functions_take_arrays() -> None:
    a = random(6, 6) + 4 * np.eye(6)
    ours = hr.asarray(a)
    check(np.linalg.inv(ours), np.linalg.inv(a))
    check(np.linalg.norm(ours), np.linalg.norm(a))
    check(np.einsum("ij,jk->ik", ours, ours), a @ a)
    assert isinstance(np.linalg.solve(ours, ours), hr.Array)


def test_same_bits_for_any_threads() -> None:
    a, b = random(300, 300), random(300, 200, seed=1)
    positive = a @ a.T + np.eye(300)
    for make in (
        lambda: hr.linalg.matmul(a, b),
        lambda: hr.linalg.matmul(a[:20].repeat(20, 1), random(6000, 10)),
        lambda: hr.linalg.solve(a, b),
        lambda: hr.linalg.cholesky(positive),
        lambda: hr.linalg.qr(b).Q,
        lambda: hr.linalg.svd(b, full_matrices=False).U,
        lambda: hr.linalg.lstsq(b, a)[0],
        lambda: hr.linalg.eigh(positive).eigenvectors,
        lambda: hr.linalg.slogdet(a).logabsdet,
    ):
        assert same_bits_for_any_threads(make)
