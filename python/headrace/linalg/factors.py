# SPDX-License-Identifier: Apache-2.0
"""Factors of matrices, evaluated at the call."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from headrace import _core
from headrace.errors import InvalidArgumentError, UnsupportedError
from headrace.lazy.handle import array_of
from headrace.linalg.products import matrix_operand, raising, turned

if TYPE_CHECKING:
    from headrace.array.array import Array


class EighResult(NamedTuple):
    """What `eigh` returns."""

    eigenvalues: Array
    eigenvectors: Array


class QRResult(NamedTuple):
    """What `qr` returns."""

    Q: Array
    R: Array


class SVDResult(NamedTuple):
    """What `svd` returns."""

    U: Array
    S: Array
    Vh: Array


@raising
def cholesky(a: Any, /, *, upper: bool = False) -> Array:
    """The lower triangular factor of a positive definite matrix, as `numpy.linalg.cholesky`.

    Only the lower triangle of `a` is read (`upper`: the upper one, for the upper factor). Raises
    LinAlgError, which names the column of the pivot, for one that is not positive definite.

    >>> hr.linalg.cholesky([[4.0, 2.0], [2.0, 5.0]]).tolist()
    [[2.0, 0.0], [1.0, 2.0]]
    """
    matrix = matrix_operand("cholesky", a)
    made = array_of(_core.cholesky((turned(matrix) if upper else matrix)._node))
    return turned(made) if upper else made


def qr(a: Any, mode: Literal["reduced", "complete", "r"] = "reduced") -> QRResult | Array:
    """Orthogonal and upper triangular factors, as `numpy.linalg.qr`, by Householder reflections.

    >>> q, r = hr.linalg.qr([[3.0, 0.0], [4.0, 5.0]])
    >>> (q @ r).to_numpy().round(12).tolist()
    [[3.0, 0.0], [4.0, 5.0]]
    """
    if mode not in ("reduced", "complete", "r"):
        raise UnsupportedError(f"qr: mode is not supported: mode={mode!r}; use reduced")
    made = [array_of(node) for node in _core.qr(matrix_operand("qr", a)._node, mode)]
    return made[0] if mode == "r" else QRResult(*made)


@raising
def svd(
    a: Any, full_matrices: bool = True, compute_uv: bool = True, hermitian: bool = False
) -> SVDResult | Array:
    """Singular values, falling, and vectors, as `numpy.linalg.svd`, by Jacobi rotations.

    Small singular values of graded matrices keep 12 digits or more. `hermitian` changes
    nothing. Raises LinAlgError for NaN and infinite entries.

    >>> hr.linalg.svd([[3.0, 0.0], [0.0, 4.0]]).S.tolist()
    [4.0, 3.0]
    """
    made = _core.svd(matrix_operand("svd", a)._node, full_matrices, compute_uv)
    arrays = [array_of(node) for node in made]
    return SVDResult(*arrays) if compute_uv else arrays[0]


def svdvals(x: Any, /) -> Array:
    """The singular values, falling.

    >>> hr.linalg.svdvals([[3.0, 0.0], [0.0, 4.0]]).tolist()
    [4.0, 3.0]
    """
    values: Any = svd(x, compute_uv=False)
    return values


def eigh(a: Any, UPLO: Literal["L", "U"] = "L") -> EighResult:  # noqa: N803
    """Eigenvalues, rising, and vectors of a symmetric matrix, as `numpy.linalg.eigh`.

    Only the lower triangle is read (`UPLO="U"`: the upper one). Raises LinAlgError for NaN and
    infinite entries.

    >>> hr.linalg.eigh([[2.0, 0.0], [0.0, 1.0]]).eigenvalues.tolist()
    [1.0, 2.0]
    """
    return EighResult(*_eigh("eigh", a, UPLO, True))


def eigvalsh(a: Any, UPLO: Literal["L", "U"] = "L") -> Array:  # noqa: N803
    """Eigenvalues of a symmetric matrix, rising, as `numpy.linalg.eigvalsh`.

    >>> hr.linalg.eigvalsh([[2.0, 0.0], [0.0, 1.0]]).tolist()
    [1.0, 2.0]
    """
    return _eigh("eigvalsh", a, UPLO, False)[0]


@raising
def _eigh(op: str, a: Any, triangle: str, with_vectors: bool) -> list[Array]:
    if triangle.upper() not in ("L", "U"):
        raise InvalidArgumentError(f"{op}: expected 'L' or 'U': UPLO={triangle!r}")
    matrix = matrix_operand(op, a)
    if triangle.upper() == "U":
        matrix = turned(matrix)
    return [array_of(node) for node in _core.eigh(matrix._node, with_vectors)]
