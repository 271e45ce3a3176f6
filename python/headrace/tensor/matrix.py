# SPDX-License-Identifier: Apache-2.0
"""What sparse matrices of every layout have in common: SciPy's words over compressed rows."""

from __future__ import annotations

import math
import numbers
import sys
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from headrace import _core
from headrace.array.construct import asarray
from headrace.errors import InvalidArgumentError, TypeMismatchError, UnsupportedError
from headrace.lazy.handle import array_of, mark

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy.typing as npt

    from headrace.array.array import Array
    from headrace.dtypes import DType
    from headrace.tensor.sparse import coo_matrix, csc_matrix, csr_matrix

_VALUES = ("float32", "float64", "int64")
_MOST_SHOWN = 50  # entries, by str


def values_of(data: Any, dtype: npt.DTypeLike | None = None) -> Array:
    """An array of a dtype that sparse matrices have: floats, else int64."""
    made = asarray(data)
    if dtype is not None:
        name = np.dtype(dtype).name
        if name not in _VALUES:
            raise UnsupportedError(
                f"csr_matrix: no such values: dtype={name}; use float32, float64 or int64"
            )
    else:
        name = str(made.dtype)
        if name not in _VALUES:
            name = "float32" if name == "float16" else "int64"
    return made if str(made.dtype) == name else made.astype(name)


def issparse(x: Any) -> bool:
    """Whether this is a sparse matrix: of ours, or of SciPy.

    >>> hr.tensor.issparse(hr.tensor.eye(2)), hr.tensor.issparse([[1.0]])
    (True, False)
    """
    scipy = sys.modules.get("scipy.sparse")
    return isinstance(x, SparseMatrix) or (scipy is not None and scipy.issparse(x))


def _axis(word: str, axis: Any) -> int | None:
    if axis not in (None, 0, 1, -1, -2):
        raise InvalidArgumentError(f"{word}: no such axis: axis={axis}; use 0, 1 or None")
    return axis if axis is None else axis % 2


def _of_values(name: str) -> Any:
    def method(self: SparseMatrix) -> SparseMatrix:
        made = self._summed()
        return made._with(getattr(np, name)(made.data))

    method.__name__, method.__qualname__ = name, f"SparseMatrix.{name}"
    method.__doc__ = f"`numpy.{name}` of each element; it leaves 0 as it is.\n\n" + (
        f">>> hr.tensor.csr_matrix([[0.0, 0.0]]).{name}().toarray().tolist()\n[[0.0, 0.0]]"
    )
    return method


class SparseMatrix:
    """The base of `csr_matrix`, `csc_matrix` and `coo_matrix`."""

    __slots__ = ()
    #: NumPy leaves operators to this class.
    __array_ufunc__ = None
    __hash__: Any = object.__hash__
    format = ""
    ndim = 2
    _layout = ""
    _rows_of: ClassVar[Callable[..., csr_matrix]]
    _matrix: _core.Sparse
    shape: tuple[int, int]
    data: Array
    nnz: int

    def sum_duplicates(self) -> None:
        """Sort the entries and add those of one place."""
        raise NotImplementedError

    def eliminate_zeros(self) -> None:
        """Leave out entries that are 0."""
        raise NotImplementedError

    def _with(self, data: Array) -> Self:
        """The same places with other values."""
        raise NotImplementedError

    def _summed(self) -> Self:
        """The matrix with one entry for each place."""
        made = self.copy()
        made.sum_duplicates()
        return made

    def tocsr(self, copy: bool = False) -> csr_matrix:
        """The matrix in compressed rows.

        >>> hr.tensor.csc_matrix((2, 3)).tocsr().shape
        (2, 3)
        """
        raise NotImplementedError

    def tocsc(self, copy: bool = False) -> csc_matrix:
        """The matrix in compressed columns.

        >>> hr.tensor.csr_matrix([[0, 1], [2, 0]]).tocsc().indices.tolist()
        [1, 0]
        """
        raise NotImplementedError

    def tocoo(self, copy: bool = False) -> coo_matrix:
        """The matrix as coordinates; columns and values are shared.

        >>> hr.tensor.csr_matrix([[0, 1], [2, 0]]).tocoo().row.tolist()
        [0, 1]
        """
        raise NotImplementedError

    def transpose(self, axes: None = None, copy: bool = False) -> Any:
        """The transpose over the same memory: of rows, it is in compressed columns.

        >>> hr.tensor.csr_matrix([[0, 1], [2, 0], [3, 0]]).transpose().toarray().tolist()
        [[0, 2, 3], [1, 0, 0]]
        """
        raise NotImplementedError

    @property
    def T(self) -> Any:  # noqa: N802
        """The transpose, as `transpose`."""
        return self.transpose()

    @property
    def dtype(self) -> DType:
        """The dtype of the values."""
        return self.data.dtype

    @property
    def size(self) -> int:
        """The number of entries, as `nnz`."""
        return self.nnz

    @property
    def real(self) -> Self:
        """The matrix itself: there are no complex values."""
        return self

    def asformat(self, format: str | None, copy: bool = False) -> Any:
        """The matrix as ``"csr"``, ``"csc"`` or ``"coo"``; itself for None.

        >>> hr.tensor.csr_matrix((2, 3)).asformat("coo").format
        'coo'
        """
        if format not in (None, "csr", "csc", "coo"):
            raise UnsupportedError(
                f"asformat: no such layout: format={format!r}; use csr, csc, coo"
            )
        return self if format is None else getattr(self, f"to{format}")()

    def copy(self) -> Self:
        """Another handle on the same immutable memory.

        >>> hr.tensor.csr_matrix((2, 3)).copy().shape
        (2, 3)
        """
        return self._with(self.data)

    def conj(self, copy: bool = True) -> Self:
        """The matrix itself: there are no complex values.

        >>> hr.tensor.csr_matrix([[1.0]]).conj().nnz
        1
        """
        return self

    conjugate = conj

    def astype(self, dtype: npt.DTypeLike, casting: str = "unsafe", copy: bool = True) -> Self:
        """The values as float32, float64 or int64; the places are shared.

        >>> hr.tensor.csr_matrix([[1, 0]]).astype("float32").dtype
        dtype('float32')
        """
        return self._with(values_of(self.data, dtype))

    def toarray(self) -> Array:
        """The dense matrix; entries of one place are added.

        >>> hr.tensor.csr_matrix((1, 2)).toarray().tolist()
        [[0.0, 0.0]]
        """
        mark("toarray")
        return array_of(_core.sparse_to_dense(self.tocsr()._matrix))

    def todense(self) -> Array:
        """The dense matrix, as `toarray`: NumPy's `matrix` is not ours.

        >>> hr.tensor.csr_matrix((1, 2)).todense().tolist()
        [[0.0, 0.0]]
        """
        return self.toarray()

    def __array__(self, dtype: npt.DTypeLike | None = None, copy: bool | None = None) -> Any:
        return np.asarray(self.toarray(), dtype)

    def to_scipy(self) -> Any:
        """The matrix as that of `scipy.sparse` over the same memory.

        >>> hr.tensor.csr_matrix([[0.0, 1.0]]).to_scipy().nnz
        1
        """
        raise NotImplementedError

    # ---- numbers of entries and elements -------------------------------------------------------
    def count_nonzero(self, axis: int | None = None) -> Any:
        """The number of elements that are not 0: of all, or of each column (0) or row (1).

        >>> hr.tensor.csr_matrix(([1.0, 0.0], ([0, 0], [0, 1])), shape=(1, 2)).count_nonzero()
        1
        """
        made = self._summed()
        return made._with((made.data != 0).astype("int64")).sum(_axis("count_nonzero", axis))

    def getnnz(self, axis: int | None = None) -> Any:
        """The number of entries: of all, or of each column (0) or row (1).

        >>> hr.tensor.csr_matrix([[0, 1], [2, 3]]).getnnz(axis=0).tolist()
        [1, 2]
        """
        if _axis("getnnz", axis) is None:
            return self.nnz
        return self._with((self.data == self.data).astype("int64") * 0 + 1).sum(axis)

    def nonzero(self) -> tuple[Array, Array]:
        """Rows and columns of the entries that are not 0.

        >>> [part.tolist() for part in hr.tensor.csr_matrix([[0, 5], [0, 0]]).nonzero()]
        [[0], [1]]
        """
        places = self.tocoo()
        keep = places.data != 0
        return places.row[keep], places.col[keep]

    def sum(self, axis: int | None = None, dtype: npt.DTypeLike | None = None) -> Any:
        """The sum of all values, of each column (``axis=0``) or of each row (``axis=1``).

        >>> hr.tensor.csr_matrix([[1.0, 2.0], [0.0, 4.0]]).sum(axis=0).tolist()
        [1.0, 6.0]
        """
        if dtype is not None:
            return self.astype(dtype).sum(axis)
        axis = _axis("sum", axis)
        if axis is None:
            return self.data.sum().item()
        ones = np.ones(self.shape[axis], str(self.dtype))
        return (self if axis == 1 else self.T) @ ones

    def mean(self, axis: int | None = None, dtype: npt.DTypeLike | None = None) -> Any:
        """The mean of all elements, of each column (``axis=0``) or of each row (``axis=1``).

        >>> hr.tensor.csr_matrix([[1, 2], [0, 4]]).mean(axis=1).tolist()
        [1.5, 2.0]
        """
        axis = _axis("mean", axis)
        if dtype is None and str(self.dtype) == "int64":
            dtype = "float64"
        count = math.prod(self.shape) if axis is None else self.shape[axis]
        total = self.sum(axis, dtype)
        return total / (count or math.nan) if axis is None else total / count

    def max(self, axis: int | None = None) -> Any:
        """The largest element of all, of each column or of each row; NaN where one is.

        >>> hr.tensor.csr_matrix([[0, 5], [-2, -1]]).max(axis=1).tolist()
        [5, -1]
        """
        return self._extreme("max", axis)

    def min(self, axis: int | None = None) -> Any:
        """The smallest element of all, of each column or of each row; NaN where one is.

        >>> hr.tensor.csr_matrix([[0, 5], [-2, -1]]).min()
        -2
        """
        return self._extreme("min", axis)

    def _extreme(self, word: str, axis: int | None) -> Any:
        axis = _axis(word, axis)
        if axis is None:
            if 0 in self.shape:
                raise InvalidArgumentError(f"{word}: there are no elements: shape={self.shape}")
            return getattr(self._extreme(word, 1), word)()
        rows = self.tocsr() if axis else self.tocsc()
        mark(word)
        return array_of(_core.sparse_row_extremes(rows._matrix, word == "max"))

    def diagonal(self, k: int = 0) -> Array:
        """The elements of a diagonal; that of `k` begins in column `k`, or in row ``-k``.

        >>> hr.tensor.csr_matrix([[1.0, 2.0], [3.0, 4.0]]).diagonal(1).tolist()
        [2.0]
        """
        rows, columns = self.shape
        places = np.arange(max(0, min(rows + min(k, 0), columns - max(k, 0))))
        mark("diagonal")
        return self.tocsr()._elements(places - min(k, 0), places + max(k, 0))

    def trace(self, offset: int = 0) -> Any:
        """The sum of a diagonal.

        >>> hr.tensor.eye(3).trace()
        3.0
        """
        return self.diagonal(offset).sum().item()

    # ---- arithmetic ------------------------------------------------------------------------------
    def _same_kind(self, other: Any) -> tuple[Any, Any]:
        """Both matrices in the layout of this one (of coordinates: by rows) and one dtype."""
        other = other if isinstance(other, SparseMatrix) else self._rows_of(other)
        to = "csc" if self.format == "csc" else "csr"
        dtype = np.result_type(str(self.dtype), str(other.dtype)).name
        both = (each.asformat(to) for each in (self, other))
        mine, others = (each if each.dtype == dtype else each.astype(dtype) for each in both)
        return mine, others

    def _combined(self, other: Any, word: str) -> Any:
        mine, others = self._same_kind(other)
        mark(word)
        return mine._of(_core.sparse_combine(mine._matrix, others._matrix, word))

    def _sum(self, other: Any, word: str) -> Any:
        if issparse(other):
            return self._combined(other, word)
        if np.isscalar(other):
            if other != 0:
                raise UnsupportedError(
                    f"{word}: a number other than 0 would fill the matrix: value={other!r}; use "
                    "toarray()"
                )
            return self
        dense = asarray(other)
        return self.toarray() + dense if word == "add" else self.toarray() - dense

    def __add__(self, other: Any) -> Any:
        return self._sum(other, "add")

    __radd__ = __add__

    def __sub__(self, other: Any) -> Any:
        return self._sum(other, "subtract")

    def __rsub__(self, other: Any) -> Any:
        return (-self)._sum(other, "add")

    def maximum(self, other: Any) -> Any:
        """The larger elements of two sparse matrices; NaN where one is.

        >>> a, b = hr.tensor.csr_matrix([[1, -2]]), hr.tensor.csr_matrix([[0, 3]])
        >>> a.maximum(b).toarray().tolist()
        [[1, 3]]
        """
        return self._combined(other, "maximum")

    def minimum(self, other: Any) -> Any:
        """The smaller elements of two sparse matrices; NaN where one is.

        >>> a, b = hr.tensor.csr_matrix([[1, -2]]), hr.tensor.csr_matrix([[0, 3]])
        >>> a.minimum(b).toarray().tolist()
        [[0, -2]]
        """
        return self._combined(other, "minimum")

    def multiply(self, other: Any) -> Any:
        """Element by element with a number, a sparse or a dense matrix, or one row or column of it.

        >>> a = hr.tensor.csr_matrix([[1.0, 2.0], [0.0, 4.0]])
        >>> a.multiply([[10.0], [1.0]]).toarray().tolist()
        [[10.0, 20.0], [0.0, 4.0]]
        """
        if np.isscalar(other):
            return self._with(self.data * other)
        if issparse(other):
            if other.shape == self.shape:
                return self._combined(other, "multiply")
            made = self.multiply(other.toarray())
            made.eliminate_zeros()
            return made
        dense = asarray(other)
        dtype = np.result_type(str(self.dtype), str(dense.dtype)).name
        mine = self.tocsr() if self.format == "coo" else self
        mine = mine if mine.dtype == dtype else mine.astype(dtype)
        try:
            wide = np.broadcast_to(np.asarray(dense, dtype), self.shape)
        except ValueError:
            raise InvalidArgumentError(
                f"multiply: inconsistent shapes: shape={self.shape}, other={dense.shape}"
            ) from None
        mark("multiply")
        by_rows = asarray(wide.T if self.format == "csc" else wide)
        at = array_of(_core.sparse_dense_at_entries(mine._matrix, by_rows._node))
        return mine._with(mine.data * at)

    def __mul__(self, factor: Any) -> Any:
        if np.isscalar(factor):
            return self._with(self.data * factor)
        raise TypeMismatchError(
            "multiply: `*` is the matrix product of SciPy's matrices, elementwise for its arrays: "
            f"type={type(factor).__name__}; use `@`, or multiply()"
        )

    __rmul__ = __mul__

    def __truediv__(self, divisor: Any) -> Any:
        if np.isscalar(divisor):
            return self._with(self.data / divisor)
        if issparse(divisor):
            raise UnsupportedError("divide: by a sparse matrix; use a / b.toarray()")
        return self.multiply(1.0 / asarray(divisor))

    def __neg__(self) -> Self:
        return self._with(-self.data)

    def __abs__(self) -> Self:
        made = self._summed()
        return made._with(abs(made.data))

    def power(self, n: float, dtype: npt.DTypeLike | None = None) -> Self:
        """Each element to the power of `n`, a number other than 0.

        >>> hr.tensor.csr_matrix([[0, 3]]).power(2).toarray().tolist()
        [[0, 9]]
        """
        if not np.isscalar(n) or not n:
            raise UnsupportedError(
                f"power: the exponent must be a number other than 0: n={n!r:.60}"
            )
        made = self._summed()
        return made._with((made.data if dtype is None else values_of(made.data, dtype)) ** n)

    def __pow__(self, n: Any) -> Any:
        if self.shape[0] != self.shape[1] or not isinstance(n, numbers.Integral) or n < 0:
            raise TypeMismatchError(
                f"power: not a square matrix and a whole number: shape={self.shape}, n={n!r:.60}; "
                "power() is that of each entry"
            )
        if n < 2:
            places = np.arange(self.shape[0] + 1)
            parts = np.ones(len(places) - 1), places[:-1], places
            ones = self._rows_of(parts, self.shape, str(self.dtype))
            return self if n else ones.asformat(self.format)
        half = self ** (n // 2)
        return half @ half @ self if n % 2 else half @ half

    def __matmul__(self, other: Any) -> Any:
        if issparse(other):
            left, right = self._same_kind(other)
            parts = (left, right) if left.format == "csr" else (right, left)
            mark("matmul")
            return left._of(_core.sparse_matmul(parts[0]._matrix, parts[1]._matrix))
        dense = asarray(other)
        if dense.ndim not in (1, 2):
            raise TypeMismatchError(f"matmul: no vector or matrix: dimensions={dense.ndim}")
        dtype = np.result_type(str(self.dtype), str(dense.dtype)).name
        mine = self.tocsr() if self.format == "coo" else self
        matrix = mine if mine.dtype == dtype else mine.astype(dtype)
        dense = dense if str(dense.dtype) == dtype else dense.astype(dtype)
        mark("matmul")
        by_rows = _core.sparse_multiply
        multiply = by_rows if mine.format == "csr" else _core.sparse_multiply_transposed
        return array_of(multiply(matrix._matrix, dense._node))

    def __rmatmul__(self, other: Any) -> Array:
        return (self.T @ asarray(other).T).T

    def dot(self, other: Any) -> Any:
        """The product with a number, a sparse matrix, or a dense vector or matrix, as ``@``.

        >>> hr.tensor.csr_matrix([[1.0, 2.0]]).dot([1.0, 1.0]).tolist()
        [3.0]
        """
        return self * other if np.isscalar(other) else self @ other

    def _compare(self, other: Any) -> Any:
        if issparse(other) or isinstance(other, numbers.Number | np.ndarray):
            raise UnsupportedError(
                "compare: sparse matrices have no comparisons; use a.to_scipy() and b.to_scipy()"
            )
        return NotImplemented

    __eq__: Any = _compare
    __ne__: Any = _compare
    __lt__: Any = _compare
    __le__: Any = _compare
    __gt__: Any = _compare
    __ge__: Any = _compare

    # NumPy's functions of each element that leave 0 as it is.
    sqrt: Any = _of_values("sqrt")
    expm1: Any = _of_values("expm1")
    log1p: Any = _of_values("log1p")
    sign: Any = _of_values("sign")
    floor: Any = _of_values("floor")
    ceil: Any = _of_values("ceil")
    rint: Any = _of_values("rint")
    trunc: Any = _of_values("trunc")
    sin: Any = _of_values("sin")
    tan: Any = _of_values("tan")
    arcsin: Any = _of_values("arcsin")
    arctan: Any = _of_values("arctan")
    sinh: Any = _of_values("sinh")
    tanh: Any = _of_values("tanh")
    deg2rad: Any = _of_values("deg2rad")
    rad2deg: Any = _of_values("rad2deg")

    # ---- rows, columns and elements --------------------------------------------------------------
    def __len__(self) -> int:
        raise TypeError("a sparse matrix has no length; use shape[0] or nnz")

    def __bool__(self) -> bool:
        raise ValueError("the truth value of a sparse matrix is ambiguous; use nnz")

    def __getitem__(self, key: Any) -> Any:
        return self.tocsr()[key]

    def __iter__(self) -> Any:
        rows = self.tocsr()
        return (rows[row] for row in range(self.shape[0]))

    def getrow(self, i: int) -> Any:
        """Row `i` as a matrix of one row.

        >>> hr.tensor.csr_matrix([[1, 0], [0, 2]]).getrow(1).toarray().tolist()
        [[0, 2]]
        """
        return self.tocsr()[int(i), :]

    def getcol(self, j: int) -> Any:
        """Column `j` as a matrix of one column.

        >>> hr.tensor.csr_matrix([[1, 0], [0, 2]]).getcol(1).toarray().tolist()
        [[0], [2]]
        """
        return (self if self.format == "csc" else self.tocsr())[:, int(j)]

    def __repr__(self) -> str:
        rows, columns = self.shape
        return (
            f"<{self._layout} sparse matrix of dtype '{self.dtype}'\n"
            f"\twith {self.nnz} stored elements and shape ({rows}, {columns})>"
        )

    def __str__(self) -> str:
        places = self.tocoo()
        lines = [repr(self)]
        if self.nnz:
            half = _MOST_SHOWN // 2
            few = self.nnz <= _MOST_SHOWN
            parts = [slice(None)] if few else [slice(0, half), slice(self.nnz - half, None)]
            shown = [
                "\n".join(
                    f"  ({row}, {column})\t{value}"
                    for row, column, value in zip(
                        *(each[part].tolist() for each in (places.row, places.col, places.data)),
                        strict=True,
                    )
                )
                for part in parts
            ]
            lines += ["  Coords\tValues", "\n  :\t:\n".join(shown)]
        return "\n".join(lines)
