# SPDX-License-Identifier: Apache-2.0
"""`hr.tensor.csr_matrix`: compressed rows over shared memory."""

from __future__ import annotations

import numbers
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from headrace import _core
from headrace.array.construct import asarray
from headrace.errors import InvalidArgumentError, TypeMismatchError, UnsupportedError
from headrace.facade import facade
from headrace.lazy.handle import array_of, mark

if TYPE_CHECKING:
    from collections.abc import Iterator

    import numpy.typing as npt

    from headrace.array.array import Array
    from headrace.dtypes import DType

_VALUES = ("float32", "float64", "int64")


def _values(data: Any, dtype: npt.DTypeLike | None = None) -> Array:
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


def _indices(values: Any) -> Array:
    made = asarray(values, "int64" if isinstance(values, list | tuple) else None)
    return made if str(made.dtype) in ("int32", "int64") else made.astype("int64")


def _is_pair(value: Any, kind: type = numbers.Integral) -> bool:
    return isinstance(value, tuple) and len(value) == 2 and all(isinstance(v, kind) for v in value)


def _from(source: Any, shape: tuple[int, int] | None, dtype: npt.DTypeLike | None) -> _core.Sparse:
    """The engine's matrix of any of SciPy's forms of arguments."""
    if isinstance(source, csr_matrix):
        return source.astype(dtype or source.dtype)._matrix
    if hasattr(source, "tocsr"):  # of SciPy
        source = source.tocsr()
        shape, source = source.shape, (source.data, source.indices, source.indptr)
    mark("csr_matrix")
    if _is_pair(source):
        rows, columns = map(int, source)
        nothing = _values([], dtype or "float64"), _indices([]), _indices([0] * (rows + 1))
        return _csr(*nothing, (rows, columns))
    if isinstance(source, tuple) and len(source) == 3:
        data, indices, indptr = source
        parts = _values(data, dtype), _indices(indices), _indices(indptr)
        if shape is None:
            shape = len(parts[2]) - 1, int(parts[1].max()) + 1 if len(parts[1]) else 0
        return _csr(*parts, shape, check=True)
    if isinstance(source, tuple) and len(source) == 2:
        data, (row, column) = source
        places = [_indices(row), _indices(column)]
        if places[0].dtype != places[1].dtype:
            places = [place.astype("int64") for place in places]
        if shape is None:
            rows, columns = (int(place.max()) + 1 if len(place) else 0 for place in places)
        else:
            rows, columns = shape
        at_row, at_column = (place._node for place in places)
        values = _values(data, dtype)._node
        return _core.sparse_from_coordinates(rows, columns, at_row, at_column, values)
    dense = _values(source, dtype)
    if dense.ndim == 1:
        dense = dense.reshape(1, -1)
    if shape is not None and dense.shape != tuple(shape):
        raise InvalidArgumentError(
            f"csr_matrix: the shape is not that of the data: shape={shape}, data={dense.shape}"
        )
    return _core.sparse_from_dense(dense._node)


def _csr(
    data: Array, indices: Array, indptr: Array, shape: tuple[int, int], check: bool = False
) -> _core.Sparse:
    rows, columns = map(int, shape)
    return _core.sparse(rows, columns, indptr._node, indices._node, data._node, check)


@facade("csr_matrix")
class csr_matrix:  # noqa: N801
    """A sparse matrix in compressed rows (CSR), with SciPy's words; immutable.

    Work on it runs when its line does. Products have the same bits for any number of threads.
    Memory is shared with SciPy both ways where dtypes allow it: do not write to shared parts.

    Parameters
    ----------
    arg1 : array_like, sparse matrix or tuple
        A dense matrix, of which the elements other than 0 are kept; a sparse matrix of SciPy or
        ours; a shape, for a matrix without entries; ``(data, (row, column))``, where values of one
        place are added; or ``(data, indices, indptr)``, which are checked and shared.
    shape : tuple of int, optional
        Rows and columns; as large as the entries need by default.
    dtype : dtype, optional
        float32, float64 or int64 (what other integers and bools become).

    >>> a = hr.tensor.csr_matrix(([1.0, 2.0, 3.0], ([0, 1, 1], [2, 0, 0])), shape=(2, 3))
    >>> a.toarray().tolist()
    [[0.0, 0.0, 1.0], [5.0, 0.0, 0.0]]
    >>> (a @ [1.0, 1.0, 2.0]).tolist()
    [2.0, 5.0]
    """

    __slots__ = ("_matrix",)
    #: NumPy leaves operators to this class.
    __array_ufunc__ = None
    format = "csr"
    ndim = 2

    def __init__(
        self,
        arg1: Any,
        shape: tuple[int, int] | None = None,
        dtype: npt.DTypeLike | None = None,
    ) -> None:
        self._matrix = arg1 if isinstance(arg1, _core.Sparse) else _from(arg1, shape, dtype)

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        return self._matrix.shape

    @property
    def dtype(self) -> DType:
        """The dtype of the values."""
        return self.data.dtype

    @property
    def nnz(self) -> int:
        """The number of entries, explicit zeros included."""
        return self._matrix.num_entries

    @property
    def data(self) -> Array:
        """The values of the entries, row after row."""
        return array_of(self._matrix.data())

    @property
    def indices(self) -> Array:
        """The columns of the entries, int32 or int64."""
        return array_of(self._matrix.indices())

    @property
    def indptr(self) -> Array:
        """Where the entries of each row begin, and the end of the last; int32 or int64."""
        made, first = array_of(self._matrix.indptr()), self._matrix.row_begin(0)
        return made - first if first else made

    @property
    def T(self) -> csr_matrix:  # noqa: N802
        """The transpose, as CSR with sorted rows."""
        return self.transpose()

    def transpose(self) -> csr_matrix:
        """The transpose, as CSR with sorted rows.

        >>> hr.tensor.csr_matrix([[0, 1], [2, 0], [3, 0]]).transpose().toarray().tolist()
        [[0, 2, 3], [1, 0, 0]]
        """
        mark("transpose")
        return csr_matrix(_core.sparse_transposed(self._matrix))

    def toarray(self) -> Array:
        """The dense matrix; entries of one place are added.

        >>> hr.tensor.csr_matrix((1, 2)).toarray().tolist()
        [[0.0, 0.0]]
        """
        mark("toarray")
        return array_of(_core.sparse_to_dense(self._matrix))

    def __array__(self, dtype: npt.DTypeLike | None = None, copy: bool | None = None) -> Any:
        return np.asarray(self.toarray(), dtype)

    def to_scipy(self) -> Any:
        """The matrix as `scipy.sparse.csr_matrix` over the same memory.

        >>> hr.tensor.csr_matrix([[0.0, 1.0]]).to_scipy().nnz
        1
        """
        from scipy import sparse

        parts = (np.asarray(part) for part in (self.data, self.indices, self.indptr))
        return sparse.csr_matrix(tuple(parts), shape=self.shape)

    def tocsr(self) -> Self:
        """The matrix itself.

        >>> hr.tensor.csr_matrix((2, 3)).tocsr().shape
        (2, 3)
        """
        return self

    def astype(self, dtype: npt.DTypeLike) -> csr_matrix:
        """The values as float32, float64 or int64; the places are shared.

        >>> hr.tensor.csr_matrix([[1, 0]]).astype("float32").dtype
        dtype('float32')
        """
        return self._with(_values(self.data, dtype))

    def sum(self, axis: int | None = None) -> Any:
        """The sum of all values, of each column (``axis=0``) or of each row (``axis=1``).

        >>> hr.tensor.csr_matrix([[1.0, 2.0], [0.0, 4.0]]).sum(axis=0).tolist()
        [1.0, 6.0]
        """
        if axis is None:
            return self.data.sum().item()
        if axis not in (0, 1, -1, -2):
            raise InvalidArgumentError(f"sum: no such axis: axis={axis}; use 0 or 1")
        ones = np.ones(self.shape[axis], str(self.dtype))
        return (self if axis in (1, -1) else self.T) @ ones

    def _with(self, data: Array) -> csr_matrix:
        made = data if str(data.dtype) in _VALUES else _values(data)
        return csr_matrix(_csr(made, self.indices, self.indptr, self.shape))

    # ---- arithmetic ------------------------------------------------------------------------------
    def __matmul__(self, other: Any) -> Array:
        if isinstance(other, csr_matrix) or hasattr(other, "tocsr"):
            raise UnsupportedError(
                "matmul: a product of two sparse matrices; use a.to_scipy() @ b.to_scipy()"
            )
        dense = asarray(other)
        if dense.ndim not in (1, 2):
            raise TypeMismatchError(f"matmul: no vector or matrix: dimensions={dense.ndim}")
        dtype = np.result_type(str(self.dtype), str(dense.dtype)).name
        matrix = self if str(self.dtype) == dtype else self.astype(dtype)
        dense = dense if str(dense.dtype) == dtype else dense.astype(dtype)
        mark("matmul")
        return array_of(_core.sparse_multiply(matrix._matrix, dense._node))

    def __rmatmul__(self, other: Any) -> Array:
        return (self.T @ asarray(other).T).T

    def dot(self, other: Any) -> Array:
        """The product with a dense vector or matrix, as ``@``.

        >>> hr.tensor.csr_matrix([[1.0, 2.0]]).dot([1.0, 1.0]).tolist()
        [3.0]
        """
        return self @ other

    def __mul__(self, factor: Any) -> csr_matrix:
        return self._with(self.data * factor) if np.isscalar(factor) else NotImplemented

    __rmul__ = __mul__

    def __truediv__(self, divisor: Any) -> csr_matrix:
        return self._with(self.data / divisor) if np.isscalar(divisor) else NotImplemented

    def __neg__(self) -> csr_matrix:
        return self._with(-self.data)

    # ---- rows ------------------------------------------------------------------------------------
    def __len__(self) -> int:
        raise TypeError("a sparse matrix has no length; use shape[0] or nnz")

    def __iter__(self) -> Iterator[csr_matrix]:
        return (self[row] for row in range(self.shape[0]))

    def __getitem__(self, key: Any) -> Any:
        rows, columns = key if isinstance(key, tuple) else (key, slice(None))
        if isinstance(rows, numbers.Integral) and isinstance(columns, numbers.Integral):
            return self[rows].toarray()[0, columns].item()
        if columns is Ellipsis or (isinstance(columns, slice) and columns == slice(None)):
            return self._rows(rows)
        if not isinstance(rows, slice | numbers.Integral) and not isinstance(
            columns, slice | numbers.Integral
        ):
            raise UnsupportedError(
                "csr_matrix: lists of rows and of columns at once; use a[rows][:, columns]"
            )
        return self._rows(rows).T._rows(columns).T

    def _rows(self, key: Any) -> csr_matrix:
        """Rows by number, slice, list or mask; those of a slice are shared."""
        count = self.shape[0]
        if isinstance(key, numbers.Integral):
            row = int(key) + count * (key < 0)
            if not 0 <= row < count:
                raise IndexError(f"csr_matrix: there is no such row: row={key}, rows={count}")
            return csr_matrix(self._matrix.slice(row, 1))
        if isinstance(key, slice):
            first, stop, step = key.indices(count)
            if step == 1:
                return csr_matrix(self._matrix.slice(first, max(stop - first, 0)))
            key = np.arange(first, stop, step)
        places = np.asarray(key)
        if places.dtype == bool:
            if places.shape != (count,):
                raise InvalidArgumentError(
                    f"csr_matrix: the mask has other rows: mask={places.shape}, rows={count}"
                )
            places = np.flatnonzero(places)
        places = places.astype(np.int64).ravel()
        mark("take")
        taken = asarray(np.where(places < 0, places + count, places))
        return csr_matrix(_core.sparse_take_rows(self._matrix, taken._node))

    def __repr__(self) -> str:
        rows, columns = self.shape
        return f"csr_matrix(shape=({rows}, {columns}), dtype={self.dtype}, nnz={self.nnz})"

    def __reduce__(self) -> Any:
        return csr_matrix, ((self.data, self.indices, self.indptr), self.shape)
