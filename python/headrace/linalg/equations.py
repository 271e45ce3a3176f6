# SPDX-License-Identifier: Apache-2.0
"""Systems of equations, inverses, determinants and rank, evaluated at the call."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from headrace import _core
from headrace.array.construct import asarray
from headrace.lazy.handle import array_of
from headrace.linalg.factors import svd, svdvals
from headrace.linalg.products import as_columns, matmul, matrix_operand, operand, raising, turned

if TYPE_CHECKING:
    from headrace.array.array import Array


class SlogdetResult(NamedTuple):
    """What `slogdet` returns."""

    sign: Array
    logabsdet: Array


@raising
def solve(a: Any, b: Any) -> Array:
    """``x`` of ``a @ x == b``, by LU factors with partial pivoting, as `numpy.linalg.solve`.

    Raises LinAlgError, which names the column of the pivot, for a singular matrix.

    >>> hr.linalg.solve([[2.0, 0.0], [1.0, 1.0]], [2.0, 4.0]).tolist()
    [1.0, 3.0]
    """
    right, alone = as_columns(operand("solve", b))
    if right.dtype.kind == "b":
        right = right.astype("float64")
    made = array_of(_core.solve(matrix_operand("solve", a)._node, right._node))
    return made.reshape(made.shape[:-1]) if alone else made


@raising
def inv(a: Any) -> Array:
    """The inverse matrix, as `numpy.linalg.inv`; raises LinAlgError for a singular one.

    >>> hr.linalg.inv([[2.0, 0.0], [0.0, 4.0]]).tolist()
    [[0.5, 0.0], [0.0, 0.25]]
    """
    return array_of(_core.inv(matrix_operand("inv", a)._node))


@raising
def det(a: Any) -> Array:
    """The determinant, as `numpy.linalg.det`.

    >>> hr.linalg.det([[2.0, 0.0], [0.0, 4.0]]).item()
    8.0
    """
    return array_of(_core.det(matrix_operand("det", a)._node))


@raising
def slogdet(a: Any) -> SlogdetResult:
    """Sign and logarithm of the absolute value of the determinant, as `numpy.linalg.slogdet`.

    >>> hr.linalg.slogdet([[0.0, 1.0], [1.0, 0.0]]).sign.item()
    -1.0
    """
    return SlogdetResult(*map(array_of, _core.slogdet(matrix_operand("slogdet", a)._node)))


@raising
def lstsq(a: Any, b: Any, rcond: float | None = None) -> tuple[Array, Array, int, Array]:
    """The shortest ``x`` with ``a @ x`` nearest to ``b``, as `numpy.linalg.lstsq`.

    Returns ``x``, sums of squared residuals (empty unless ``a`` has full rank and more rows than
    columns), rank and singular values; those up to `rcond` times the largest count as zero.

    >>> x, residuals, rank, s = hr.linalg.lstsq([[1.0], [1.0]], [1.0, 3.0])
    >>> round(x.item(), 12), rank
    (2.0, 1)
    """
    import numpy as np

    right, alone = as_columns(operand("lstsq", b))
    left = matrix_operand("lstsq", a)
    if rcond is None or rcond < 0:
        single = str(left.dtype) == str(right.dtype) == "float32"
        epsilon = float(np.finfo("float32" if single else "float64").eps)
        rcond = epsilon if rcond is not None else epsilon * max(left.shape)
    made, rank = _core.lstsq(left._node, right._node, rcond)
    x, residuals, values = map(array_of, made)
    return x.reshape(-1) if alone else x, residuals, rank, values


def matrix_rank(
    A: Any,  # noqa: N803
    tol: Any = None,
    hermitian: bool = False,
    *,
    rtol: Any = None,
) -> Any:
    """The number of singular values above `tol`, as `numpy.linalg.matrix_rank`.

    An int, or int64 numbers of a stack. `rtol`, of the largest one, is by default epsilon times the
    longer side.

    >>> hr.linalg.matrix_rank([[1.0, 2.0], [2.0, 4.0]])
    1
    """
    import numpy as np

    array = operand("matrix_rank", A)
    if array.ndim < 2:
        return int(bool((array != 0).any()))
    values = svdvals(array).to_numpy()
    if tol is None:
        if rtol is None:
            rtol = max(array.shape[-2:]) * np.finfo(values.dtype).eps
        largest = values.max(axis=-1, initial=0)
        tol = largest * rtol
    ranks = (values > np.asarray(tol)[..., np.newaxis]).sum(axis=-1)
    return int(ranks) if array.ndim == 2 else asarray(ranks)


def pinv(
    a: Any, rcond: float | None = None, hermitian: bool = False, *, rtol: float | None = None
) -> Array:
    """The Moore-Penrose inverse, as `numpy.linalg.pinv`.

    Singular values up to `rcond` (or `rtol`; 1e-15) times the largest count as zero.

    >>> hr.linalg.pinv([[2.0], [0.0]]).tolist()
    [[0.5, 0.0]]
    """
    import numpy as np

    u, s, vh = svd(a, full_matrices=False)
    values = s.to_numpy()
    cutoff = 1e-15 if rcond is None and rtol is None else rcond if rtol is None else rtol
    kept = values > cutoff * values.max(axis=-1, initial=0, keepdims=True)
    factors = np.divide(1, values, out=np.zeros_like(values), where=kept)
    scaled = np.swapaxes(vh.to_numpy(), -1, -2) * factors[..., np.newaxis, :]
    return matmul(scaled, turned(u))
