# SPDX-License-Identifier: Apache-2.0
"""Linear algebra of the array API standard, of real numbers by our own kernels.

Factorizations of complex matrices and general eigenvalues are computed by NumPy, as `hr.fallbacks`
lists.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

from headrace import linalg as ours
from headrace.array import layout
from headrace.array.axis_reductions import reduce_axes
from headrace.array.complex_numbers import complex_of, conj, imag, is_complex, real
from headrace.array.construct import asarray
from headrace.errors import InvalidArgumentError
from headrace.lazy.numpy_fallback import through_numpy
from headrace.linalg.products import contract

if TYPE_CHECKING:
    from headrace.array.array import Array

__all__ = [
    "cholesky",
    "cross",
    "det",
    "diagonal",
    "eig",
    "eigh",
    "eigvals",
    "eigvalsh",
    "inv",
    "matmul",
    "matrix_norm",
    "matrix_power",
    "matrix_rank",
    "matrix_transpose",
    "outer",
    "pinv",
    "qr",
    "slogdet",
    "solve",
    "svd",
    "svdvals",
    "tensordot",
    "trace",
    "vecdot",
    "vector_norm",
]


class EigResult(NamedTuple):
    """Eigenvalues and eigenvectors."""

    eigenvalues: Array
    eigenvectors: Array


EighResult = EigResult


class QRResult(NamedTuple):
    """An orthogonal and an upper triangular matrix."""

    Q: Array
    R: Array


class SlogdetResult(NamedTuple):
    """Sign and logarithm of the absolute value of a determinant."""

    sign: Array
    logabsdet: Array


class SVDResult(NamedTuple):
    """Singular vectors and values."""

    U: Array
    S: Array
    Vh: Array


def _by_numpy(name: str, *args: Any, **options: Any) -> Any:
    import numpy as np

    found = through_numpy(f"linalg.{name}", getattr(np.linalg, name), args, options)
    return tuple(map(asarray, found)) if isinstance(found, tuple) else asarray(found)


def _call(name: str, x: Any, *args: Any, **options: Any) -> Any:
    if any(is_complex(each) for each in (x, *args) if hasattr(each, "_node")):
        return _by_numpy(name, x, *args, **options)
    return getattr(ours, name)(x, *args, **options)


def matmul(x1: Any, x2: Any, /) -> Array:
    """Products of matrices; of complex ones four products of their parts.

    >>> hr.array_api.matmul(hr.asarray([[1, 2]]), hr.asarray([[3], [4]])).tolist()
    [[11]]
    """
    if is_complex(x1) or is_complex(x2):
        if not is_complex(x1):
            return complex_of(ours.matmul(x1, real(x2)), ours.matmul(x1, imag(x2)))
        if not is_complex(x2):
            return complex_of(ours.matmul(real(x1), x2), ours.matmul(imag(x1), x2))
        a, b, c, d = real(x1), imag(x1), real(x2), imag(x2)
        return complex_of(
            ours.matmul(a, c) - ours.matmul(b, d), ours.matmul(a, d) + ours.matmul(b, c)
        )
    return ours.matmul(x1, x2)


def matrix_transpose(x: Any, /) -> Array:
    """Each matrix transposed, a view.

    >>> hr.array_api.matrix_transpose(hr.asarray([[1, 2]])).tolist()
    [[1], [2]]
    """
    return x.mT


def outer(x1: Any, x2: Any, /) -> Array:
    """All products of two vectors.

    >>> hr.array_api.linalg.outer(hr.asarray([1, 2]), hr.asarray([3])).tolist()
    [[3], [6]]
    """
    return layout.expand_dims(x1, 1) * layout.expand_dims(x2, 0)


def tensordot(x1: Any, x2: Any, /, *, axes: Any = 2) -> Array:
    """Sums of products over axes of both arrays.

    >>> hr.array_api.tensordot(hr.asarray([1, 2]), hr.asarray([3, 4]), axes=1).item()
    11
    """
    return contract(x1, x2, axes, matmul)


def vecdot(x1: Any, x2: Any, /, *, axis: int = -1) -> Array:
    """Sums of products of vectors along an axis, the first conjugated.

    >>> hr.array_api.vecdot(hr.asarray([1, 2]), hr.asarray([3, 4])).item()
    11
    """
    dimensions = max(x1.ndim, x2.ndim)
    back = layout.axis_number("vecdot", axis, dimensions) - dimensions
    sizes = [x.shape[back] if x.ndim + back >= 0 else 1 for x in (x1, x2)]
    if sizes[0] != sizes[1]:
        raise InvalidArgumentError(f"vecdot: vectors differ in length: axis={axis}, sizes={sizes}")
    a, b = layout.broadcast_arrays(x1, x2)
    product = conj(a) * b
    made = reduce_axes(product, "sum", axis)
    return made if made.dtype == product.dtype else made.astype(str(product.dtype))


def cholesky(x: Any, /, *, upper: Any = False) -> Array:
    """The triangular factor of positive definite matrices.

    >>> hr.array_api.linalg.cholesky(hr.asarray([[4.0]])).tolist()
    [[2.0]]
    """
    made = _call("cholesky", x)
    return conj(made.mT) if upper else made


def cross(x1: Any, x2: Any, /, *, axis: int = -1) -> Array:
    """Cross products of vectors of three elements.

    >>> hr.array_api.linalg.cross(hr.asarray([1, 0, 0]), hr.asarray([0, 1, 0])).tolist()
    [0, 0, 1]
    """
    a, b = layout.broadcast_arrays(x1, x2)
    along = layout.axis_number("cross", axis, a.ndim)
    if a.shape[along] != 3:
        raise InvalidArgumentError(f"cross: expected three elements: size={a.shape[along]}")
    p, q = layout.unstack(a, along), layout.unstack(b, along)
    parts = [p[i - 2] * q[i - 1] - p[i - 1] * q[i - 2] for i in range(3)]
    return layout.stack(parts, along)


def det(x: Any, /) -> Array:
    """Determinants.

    >>> hr.array_api.linalg.det(hr.asarray([[2.0]])).item()
    2.0
    """
    return _call("det", x)


def diagonal(x: Any, /, *, offset: int = 0) -> Array:
    """A diagonal of each matrix.

    >>> hr.array_api.linalg.diagonal(hr.asarray([[1, 2], [3, 4]])).tolist()
    [1, 4]
    """
    rows, columns = x.shape[-2:]
    first, begin = max(-offset, 0), max(offset, 0)
    count = max(min(rows - first, columns - begin), 0)
    place = layout.iota(count, x)
    return x[..., place + first, place + begin]


def eig(x: Any, /) -> EigResult:
    """Eigenvalues and eigenvectors of general matrices, complex; by NumPy.

    >>> hr.array_api.linalg.eig(hr.asarray([[2.0]])).eigenvalues.tolist()
    [(2+0j)]
    """
    return EigResult(*(_as_complex(part) for part in _by_numpy("eig", x)))


def eigvals(x: Any, /) -> Array:
    """Eigenvalues of general matrices, complex; by NumPy.

    >>> hr.array_api.linalg.eigvals(hr.asarray([[2.0]])).tolist()
    [(2+0j)]
    """
    return _as_complex(_by_numpy("eigvals", x))


def _as_complex(x: Array) -> Array:
    if is_complex(x):
        return x
    return x.astype("complex64" if x.dtype == "float32" else "complex128")


def eigh(x: Any, /) -> EigResult:
    """Eigenvalues and eigenvectors of symmetric matrices.

    >>> hr.array_api.linalg.eigh(hr.asarray([[2.0]])).eigenvalues.tolist()
    [2.0]
    """
    return EigResult(*_call("eigh", x))


def eigvalsh(x: Any, /) -> Array:
    """Eigenvalues of symmetric matrices.

    >>> hr.array_api.linalg.eigvalsh(hr.asarray([[2.0]])).tolist()
    [2.0]
    """
    return _call("eigvalsh", x)


def inv(x: Any, /) -> Array:
    """Inverse matrices.

    >>> hr.array_api.linalg.inv(hr.asarray([[2.0]])).tolist()
    [[0.5]]
    """
    return _call("inv", x)


def matrix_norm(x: Any, /, *, keepdims: Any = False, ord: Any = "fro") -> Array:
    """Norms of matrices.

    >>> hr.array_api.linalg.matrix_norm(hr.asarray([[3.0, 4.0]])).item()
    5.0
    """
    size = abs(x)
    if ord in ("fro", None):
        return _root(reduce_axes(size * size, "sum", (-2, -1), keepdims))
    if ord in (2, -2, "nuc"):
        values = svdvals(x)
        made = values.sum(-1) if ord == "nuc" else values.max(-1) if ord == 2 else values.min(-1)
        return layout.expand_dims(made, (-2, -1)) if keepdims else made
    if ord in (1, -1, math.inf, -math.inf):
        lines = reduce_axes(size, "sum", -2 if abs(ord) == 1 else -1, True)
        return reduce_axes(lines, "max" if ord > 0 else "min", (-2, -1), keepdims)
    raise InvalidArgumentError(f"matrix_norm: unknown norm: ord={ord!r}; use 'fro', 1, 2 or inf")


def _root(x: Array) -> Array:
    return x._elementwise("sqrt", x)


def vector_norm(
    x: Any,
    /,
    *,
    axis: int | tuple[int, ...] | None = None,
    keepdims: Any = False,
    ord: float = 2,
) -> Array:
    """Norms of vectors along axes, or of all elements.

    >>> hr.array_api.linalg.vector_norm(hr.asarray([3.0, 4.0])).item()
    5.0
    """
    size = abs(x)
    if ord in (math.inf, -math.inf):
        made = reduce_axes(size, "max" if ord > 0 else "min", axis, keepdims)
    elif ord == 0:
        made = reduce_axes(size != 0, "sum", axis, keepdims)
    elif ord == 1:
        made = reduce_axes(size, "sum", axis, keepdims)
    elif ord == 2:
        made = _root(reduce_axes(size * size, "sum", axis, keepdims))
    else:
        made = reduce_axes(size**ord, "sum", axis, keepdims) ** (1.0 / ord)
    return made if made.dtype == size.dtype else made.astype(str(size.dtype))


def matrix_power(x: Any, n: int, /) -> Array:
    """Powers of square matrices.

    >>> hr.array_api.linalg.matrix_power(hr.asarray([[2.0]]), 3).tolist()
    [[8.0]]
    """
    if n < 0:
        return matrix_power(inv(x), -n)
    made, square = None, x
    while n:
        if n & 1:
            made = square if made is None else matmul(made, square)
        n >>= 1
        square = matmul(square, square) if n else square
    if made is None:
        identity = layout.iota(x.shape[-1], x)
        ones = (layout.expand_dims(identity, 1) == identity).astype(str(x.dtype))
        return layout.broadcast_to(ones, x.shape)
    return made


def matrix_rank(x: Any, /, *, rtol: Any = None) -> Array:
    """How many singular values are not close to zero.

    >>> hr.array_api.linalg.matrix_rank(hr.asarray([[1.0, 0.0], [0.0, 0.0]])).item()
    1
    """
    values = svdvals(x)
    limit = _cutoff(x, values, rtol)
    return (values > limit).sum(-1)


def _cutoff(x: Any, values: Array, rtol: Any) -> Any:
    import numpy as np

    if rtol is None:
        rtol = max(x.shape[-2:]) * float(np.finfo(str(values.dtype)).eps)
    largest = reduce_axes(values, "max", -1, True)
    given = layout.expand_dims(rtol, -1) if getattr(rtol, "ndim", 0) else rtol
    return largest * given


def pinv(x: Any, /, *, rtol: Any = None) -> Array:
    """Pseudo-inverses.

    >>> hr.array_api.linalg.pinv(hr.asarray([[2.0]])).tolist()
    [[0.5]]
    """
    u, s, vh = svd(x, full_matrices=False)
    large = s > _cutoff(x, s, rtol)
    turned = s._elementwise("where", large, 1.0 / s, 0.0)
    return matmul(conj(vh.mT) * layout.expand_dims(turned, -2), conj(u.mT))


def qr(x: Any, /, *, mode: str = "reduced") -> QRResult:
    """An orthogonal and an upper triangular factor.

    >>> hr.array_api.linalg.qr(hr.asarray([[1.0]])).R.shape
    (1, 1)
    """
    return QRResult(*_call("qr", x, mode=mode))


def slogdet(x: Any, /) -> SlogdetResult:
    """Signs and logarithms of determinants.

    >>> hr.array_api.linalg.slogdet(hr.asarray([[1.0]])).logabsdet.item()
    0.0
    """
    return SlogdetResult(*_call("slogdet", x))


def solve(x1: Any, x2: Any, /) -> Array:
    """Solutions of linear equations; a right side of one dimension is one vector.

    >>> hr.array_api.linalg.solve(hr.asarray([[2.0]]), hr.asarray([4.0])).tolist()
    [2.0]
    """
    if x2.ndim == 1:
        return _call("solve", x1, layout.expand_dims(x2, -1))[..., 0]
    return _call("solve", x1, x2)


def svd(x: Any, /, *, full_matrices: Any = True) -> SVDResult:
    """Singular vectors and values.

    >>> hr.array_api.linalg.svd(hr.asarray([[2.0]])).S.tolist()
    [2.0]
    """
    return SVDResult(*_call("svd", x, full_matrices=full_matrices))


def svdvals(x: Any, /) -> Array:
    """Singular values.

    >>> hr.array_api.linalg.svdvals(hr.asarray([[2.0]])).tolist()
    [2.0]
    """
    return _call("svdvals", x)


def trace(x: Any, /, *, offset: int = 0, dtype: Any = None) -> Array:
    """Sums along a diagonal.

    >>> hr.array_api.linalg.trace(hr.asarray([[1, 2], [3, 4]])).item()
    5
    """
    line = diagonal(x, offset=offset)
    made = reduce_axes(line if dtype is None else line.astype(str(dtype)), "sum", -1)
    return made if dtype is None or made.dtype == dtype else made.astype(str(dtype))
