# SPDX-License-Identifier: Apache-2.0
"""`hr.tensor.csr_matrix`, `csc_matrix`, `coo_matrix`: sparse matrices over shared memory."""

from __future__ import annotations

import numbers
import time
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from headrace import _core
from headrace.array.construct import asarray
from headrace.errors import InvalidArgumentError, TypeMismatchError, UnsupportedError
from headrace.facade import facade
from headrace.lazy.handle import array_of, mark
from headrace.tensor.matrix import SparseMatrix, values_of

if TYPE_CHECKING:
    import numpy.typing as npt

    from headrace.array.array import Array


def _indices(values: Any) -> Array:
    made = asarray(values, "int64" if isinstance(values, list | tuple) else None)
    return made if str(made.dtype) in ("int32", "int64") else made.astype("int64")


def _is_there(part: Array) -> bool:
    """Whether an array is, or will be, on a device."""
    return _core.place_ahead(part._node) != "host"


def _together(parts: tuple[Array, ...]) -> tuple[Array, ...]:
    """The parts on the device of those that are on one."""
    place = next((_core.place_ahead(part._node) for part in parts if _is_there(part)), None)
    return parts if place is None else tuple(p if _is_there(p) else p.to(place) for p in parts)


def _on_host(word: str, parts: tuple[Array, ...]) -> tuple[Array, ...]:
    """The parts on the host, by a step that `hr.fallbacks` tells."""
    if not any(map(_is_there, parts)):
        return parts
    begin = time.perf_counter()
    here = tuple(part.to("cpu") for part in parts)
    _core.force([part._node for part in here])
    seconds = time.perf_counter() - begin
    _core.record_fallback(word, "sparse matrices have no kernels", seconds)
    return here


class DeviceParts:
    """Compressed rows whose parts are on a device, until work without kernels asks for them.

    Then they are copied to the host once. Those of others are checked there, in the words of their
    `layout`.
    """

    __slots__ = ("_matrix", "data", "indices", "indptr", "layout", "shape")

    def __init__(
        self,
        parts: tuple[Array, ...],
        shape: tuple[int, int],
        layout: str = "",
    ) -> None:
        self.data, self.indices, self.indptr = _together(parts)
        self.shape, self.layout = shape, layout
        self._matrix: _core.Sparse | None = None
        sizes = {name: getattr(self, name).shape for name in ("data", "indices", "indptr")}
        if sizes["data"] != sizes["indices"] or sizes["indptr"] != (shape[0] + 1,):
            raise InvalidArgumentError(
                f"{layout or 'csr_matrix'}: parts do not have the sizes of the shape: "
                f"shape={shape}, " + ", ".join(f"{name}={size}" for name, size in sizes.items())
            )

    def matrix(self) -> _core.Sparse:
        """The engine's matrix, on the host."""
        if self._matrix is None:
            parts = _on_host(self.layout or "csr_matrix", (self.data, self.indices, self.indptr))
            data, indices, indptr = (part._node for part in parts)
            self._matrix = _core.sparse(*self.shape, indptr, indices, data, self.layout)
        return self._matrix


def _is_shape(value: Any) -> bool:
    whole = numbers.Integral
    return isinstance(value, tuple) and len(value) == 2 and all(isinstance(v, whole) for v in value)


def _parts_of(source: Any) -> tuple[str, tuple[Any, ...], tuple[int, int]] | None:
    """Layout, parts and shape of a sparse matrix of SciPy, CuPy or PyTorch; None for others."""
    if hasattr(source, "crow_indices") and "sparse_csr" in str(source.layout):
        parts = source.values(), source.col_indices(), source.crow_indices()
        return "csr", parts, tuple(source.shape)
    if hasattr(source, "crow_indices") and "sparse_coo" in str(getattr(source, "layout", "")):
        source = source.coalesce()
        row, column = source.indices()
        return "coo", (source.values(), (row, column)), tuple(source.shape)
    if not hasattr(source, "tocsr"):
        return None
    if source.ndim == 1:
        source = source.reshape(1, -1)
    if source.format == "coo":
        return "coo", (source.data, (source.row, source.col)), source.shape
    if source.format != "csc":
        source = source.tocsr()
    return source.format, (source.data, source.indices, source.indptr), source.shape


def _from(
    source: Any, shape: tuple[int, int] | None, dtype: npt.DTypeLike | None, layout: str
) -> _core.Sparse | DeviceParts:
    """The engine's matrix, by rows or columns as `layout` says, of any of SciPy's arguments."""
    if isinstance(source, SparseMatrix):
        return (source if dtype is None else source.astype(dtype)).asformat(layout)._held
    turn = layout == "csc"
    if (known := _parts_of(source)) is not None:
        of, source, shape = known
        if of != layout:
            kind: Any = {"csr": csr_matrix, "csc": csc_matrix, "coo": coo_matrix}[of]
            return kind(source, shape, dtype).asformat(layout)._held
    mark(f"{layout}_matrix")
    if _is_shape(source):
        long, short = map(int, source[::-1] if turn else source)
        nowhere, nothing = _indices([])._node, values_of([], dtype or "float64")._node
        return _core.sparse_from_coordinates(long, short, nowhere, nowhere, nothing)
    if isinstance(source, tuple) and len(source) == 3:
        data, indices, indptr = source
        parts = values_of(data, dtype), _indices(indices), _indices(indptr)
        if shape is None:
            long, short = len(parts[2]) - 1, int(parts[1].max()) + 1 if len(parts[1]) else 0
        else:
            long, short = shape[::-1] if turn else shape
        return _made(*parts, (long, short), f"{layout}_matrix")
    if isinstance(source, tuple) and len(source) == 2:
        parts, (rows, columns) = _coordinates(source, shape, dtype)
        if turn:
            parts, rows, columns = (parts[0], parts[2], parts[1]), columns, rows
        return _grouped(*parts, (rows, columns))
    dense = _dense(source, shape, dtype, layout)
    made = _core.sparse_from_dense(dense._node)
    return _core.sparse_transposed(made) if turn else made


def _dense(
    source: Any, shape: tuple[int, int] | None, dtype: npt.DTypeLike | None, layout: str
) -> Array:
    dense = values_of(source, dtype)
    if dense.ndim == 1:
        dense = dense.reshape(1, -1)
    if shape is not None and dense.shape != tuple(shape):
        raise InvalidArgumentError(
            f"{layout}_matrix: the shape is not that of the data: shape={shape}, data={dense.shape}"
        )
    return dense


def _made(
    data: Array, indices: Array, indptr: Array, shape: tuple[int, int], layout: str
) -> _core.Sparse | DeviceParts:
    rows, columns = map(int, shape)
    if any(map(_is_there, (data, indices, indptr))):
        return DeviceParts((data, indices, indptr), (rows, columns), layout)
    return _core.sparse(rows, columns, indptr._node, indices._node, data._node, layout)


def _coordinates(
    source: Any, shape: tuple[int, int] | None, dtype: npt.DTypeLike | None
) -> tuple[tuple[Array, Array, Array], tuple[int, int]]:
    """Values, rows and columns of SciPy's ``(data, (row, column))``, and the shape."""
    data, (row, column) = source
    places = [_indices(row), _indices(column)]
    if places[0].dtype != places[1].dtype:
        places = [place.astype("int64") for place in places]
    if shape is None:
        rows, columns = (int(place.max()) + 1 if len(place) else 0 for place in places)
    else:
        rows, columns = map(int, shape)
    return (values_of(data, dtype), places[0], places[1]), (rows, columns)


def _grouped(data: Array, row: Array, column: Array, shape: tuple[int, int]) -> _core.Sparse:
    data, row, column = _on_host("coo_matrix", (data, row, column))
    made = _core.sparse_canonical_from_coordinates
    return made(*shape, row._node, column._node, data._node)


def _positions(layout: str, key: Any, count: int, what: str) -> Any:
    """A row or column number, a slice of step 1, or int64 positions in their own shape."""
    if isinstance(key, numbers.Integral) and not isinstance(key, bool | np.bool_):
        if not -count <= int(key) < count:
            raise IndexError(
                f"{layout}_matrix: there is no such {what}: {what}={key}, {what}s={count}"
            )
        return int(key) % count
    if isinstance(key, slice):
        first, stop, step = key.indices(count)
        if step == 1:
            return slice(first, max(first, stop))
        return np.arange(first, stop, step)
    places = np.asarray(key)
    if places.dtype == bool:
        if places.shape != (count,):
            raise InvalidArgumentError(
                f"{layout}_matrix: the mask has other {what}s: mask={places.shape}, {what}s={count}"
            )
        return np.flatnonzero(places)
    if places.dtype.kind not in "iu" and places.size:
        raise TypeMismatchError(
            f"{layout}_matrix: {what}s are whole numbers, slices or masks: dtype={places.dtype}"
        )
    places = places.astype(np.int64)
    return np.where(places < 0, places + count, places)


class _Compressed(SparseMatrix):
    """Compressed rows, of the matrix or of its transpose."""

    __slots__ = ("_held",)

    def __init__(
        self,
        arg1: Any,
        shape: tuple[int, int] | None = None,
        dtype: npt.DTypeLike | None = None,
        copy: bool = False,
    ) -> None:
        own = isinstance(arg1, _core.Sparse | DeviceParts)
        self._held = arg1 if own else _from(arg1, shape, dtype, self.format)

    @property
    def _matrix(self) -> _core.Sparse:
        return self._held.matrix() if isinstance(self._held, DeviceParts) else self._held

    @_matrix.setter
    def _matrix(self, matrix: _core.Sparse) -> None:
        self._held = matrix

    @classmethod
    def _of(cls, matrix: _core.Sparse) -> Self:
        return cls(matrix)

    def _with(self, data: Array) -> Self:
        data, held = values_of(data), self._held
        if isinstance(held, DeviceParts) and _is_there(data):
            return type(self)(
                DeviceParts((data, held.indices, held.indptr), held.shape, held.layout)
            )
        return self._of(self._matrix.with_data(data._node))

    @property
    def nnz(self) -> int:  # type: ignore[override]
        """The number of entries, explicit zeros included."""
        held = self._held
        return len(held.data) if isinstance(held, DeviceParts) else held.num_entries

    @property
    def data(self) -> Array:  # type: ignore[override]
        """The values of the entries, row after row (of csc: column after column)."""
        held = self._held
        return held.data if isinstance(held, DeviceParts) else array_of(held.data())

    @property
    def indices(self) -> Array:
        """The columns (of csc: the rows) of the entries, int32 or int64."""
        held = self._held
        return held.indices if isinstance(held, DeviceParts) else array_of(held.indices())

    @property
    def indptr(self) -> Array:
        """Where the entries of each row (of csc: column) begin, and the end of the last."""
        if isinstance(held := self._held, DeviceParts):
            return held.indptr
        made, first = array_of(held.indptr()), held.row_begin(0)
        return made - first if first else made

    @property
    def has_sorted_indices(self) -> bool:
        """Whether the entries of each row (of csc: column) ascend."""
        return _core.sparse_is_sorted(self._matrix)

    @property
    def has_canonical_format(self) -> bool:
        """Whether they ascend, with one entry for each place."""
        return _core.sparse_is_canonical(self._matrix)

    def sort_indices(self) -> None:
        """Sort the entries of each row; those of one place stay in their order.

        The handle then shows new memory: memory that others share is not written.

        >>> a = hr.tensor.csr_matrix(([1, 2], [1, 0], [0, 2]))
        >>> a.sort_indices()
        >>> a.indices.tolist()
        [0, 1]
        """
        mark("sort_indices")
        self._matrix = _core.sparse_sorted(self._matrix)

    def sorted_indices(self) -> Self:
        """The matrix with the entries of each row sorted.

        >>> hr.tensor.csr_matrix(([1, 2], [1, 0], [0, 2])).sorted_indices().data.tolist()
        [2, 1]
        """
        mark("sorted_indices")
        return self._of(_core.sparse_sorted(self._matrix))

    def sum_duplicates(self) -> None:
        """Sort the entries of each row and add those of one place, in their order.

        >>> a = hr.tensor.csr_matrix(([1, 2], [0, 0], [0, 2]))
        >>> a.sum_duplicates()
        >>> a.data.tolist()
        [3]
        """
        mark("sum_duplicates")
        self._matrix = _core.sparse_canonical(self._matrix)

    def eliminate_zeros(self) -> None:
        """Leave out entries that are 0.

        >>> a = hr.tensor.csr_matrix(([1, 0], [0, 1], [0, 2]))
        >>> a.eliminate_zeros()
        >>> a.nnz
        1
        """
        mark("eliminate_zeros")
        self._matrix = _core.sparse_without_zeros(self._matrix)

    def to_scipy(self) -> Any:
        """The matrix as that of `scipy.sparse` over the same memory.

        >>> hr.tensor.csr_matrix([[0.0, 1.0]]).to_scipy().nnz
        1
        """
        from scipy import sparse

        return getattr(sparse, f"{self.format}_matrix")(
            tuple(np.asarray(part) for part in (self.data, self.indices, self.indptr)), self.shape
        )

    def to_cupy(self) -> Any:
        """The matrix as that of `cupyx.scipy.sparse`, on the GPU.

        Parts that are there are shared where CuPy has their dtype, which is int32 for indices;
        those on the host are copied to it.

        Raises
        ------
        hr.UnsupportedError
            For int64 values, which CuPy's sparse matrices do not have.

        >>> hr.tensor.csr_matrix([[0.0, 1.0]]).to_cupy().nnz  # doctest: +SKIP
        1
        """
        return _to_cupy(self, (self.data, self.indices, self.indptr))

    def to_torch(self) -> Any:
        """The matrix as a sparse tensor of PyTorch, of rows or of columns, over the same memory.

        >>> hr.tensor.csr_matrix([[0.0, 1.0]]).to_torch().layout  # doctest: +SKIP
        torch.sparse_csr
        """
        import torch

        parts = [part.to_torch() for part in (self.indptr, self.indices, self.data)]
        made = getattr(torch, f"sparse_{self.format}_tensor")
        return made(*parts, size=self.shape, check_invariants=True)

    def __reduce__(self) -> Any:
        parts = tuple(np.asarray(part) for part in (self.data, self.indices, self.indptr))
        return type(self), (parts, self.shape)


def _to_cupy(matrix: SparseMatrix, parts: tuple[Array, ...]) -> Any:
    """A matrix of CuPy over its values and what says their places."""
    import cupy
    from cupyx.scipy import sparse

    if matrix.dtype == "int64":
        raise UnsupportedError(
            "to_cupy: CuPy's sparse matrices have no such values: dtype=int64; use "
            "astype('float64')"
        )
    data, *places = (cupy.asarray(part if _is_there(part) else np.asarray(part)) for part in parts)
    where = (data, *places) if matrix.format != "coo" else (data, tuple(places))
    return getattr(sparse, f"{matrix.format}_matrix")(where, shape=matrix.shape)


@facade("csr_matrix")
class csr_matrix(_Compressed):  # noqa: N801
    """A sparse matrix in compressed rows (CSR), with SciPy's words; immutable.

    Work on it runs when its line does. Products have the same bits for any number of threads.
    Memory is shared with SciPy both ways where dtypes allow it: do not write to shared parts.
    Parts on a GPU, such as CuPy's, stay there and are shared both ways, `transpose`, `astype` and
    the arithmetic of values run there; other work brings them to the host once, checks them there
    and is listed by `hr.fallbacks`.

    Parameters
    ----------
    arg1 : array_like, sparse matrix or tuple
        A dense matrix or frame, of which the elements other than 0 are kept; a sparse matrix of
        SciPy, CuPy, PyTorch or ours; a shape, for a matrix without entries;
        ``(data, (row, column))``, where values of one place are added; or
        ``(data, indices, indptr)``, which are checked and
        shared.
    shape : tuple of int, optional
        Rows and columns; as large as the entries need by default.
    dtype : dtype, optional
        float32, float64 or int64 (what other integers and bools become).
    copy : bool, default False
        Changes nothing: matrices are immutable.

    >>> a = hr.tensor.csr_matrix(([1.0, 2.0, 3.0], ([0, 1, 1], [2, 0, 0])), shape=(2, 3))
    >>> a.toarray().tolist()
    [[0.0, 0.0, 1.0], [5.0, 0.0, 0.0]]
    >>> (a @ [1.0, 1.0, 2.0]).tolist()
    [2.0, 5.0]
    """

    __slots__ = ()
    format = "csr"
    _layout = "Compressed Sparse Row"

    @property
    def shape(self) -> tuple[int, int]:  # type: ignore[override]
        """Rows and columns."""
        return self._held.shape

    def tocsr(self, copy: bool = False) -> csr_matrix:
        """The matrix itself.

        >>> hr.tensor.csr_matrix((2, 3)).tocsr().shape
        (2, 3)
        """
        return self

    def tocsc(self, copy: bool = False) -> csc_matrix:
        """The matrix in compressed columns, which are sorted where the rows ascend.

        >>> hr.tensor.csr_matrix([[0, 1], [2, 0]]).tocsc().indices.tolist()
        [1, 0]
        """
        mark("tocsc")
        return csc_matrix(_core.sparse_transposed(self._matrix))

    def tocoo(self, copy: bool = False) -> coo_matrix:
        """The matrix as coordinates; columns and values are shared.

        >>> hr.tensor.csr_matrix([[0, 1], [2, 0]]).tocoo().row.tolist()
        [0, 1]
        """
        parts = self.data, array_of(self._matrix.rows()), self.indices
        data, row, column = _together(parts)
        return coo_matrix._of_parts(data, row, column, self.shape)

    def transpose(self, axes: None = None, copy: bool = False) -> csc_matrix:
        """The transpose: compressed columns over the same memory.

        >>> hr.tensor.csr_matrix([[0, 1], [2, 0], [3, 0]]).transpose().toarray().tolist()
        [[0, 2, 3], [1, 0, 0]]
        """
        return csc_matrix(self._held)

    # ---- rows, columns and elements --------------------------------------------------------------
    def __getitem__(self, key: Any) -> Any:
        if key is Ellipsis:
            return self
        if not isinstance(key, tuple) and getattr(key, "ndim", 1) == 2:
            mask = np.asarray(key)
            if mask.dtype != bool or mask.shape != self.shape:
                raise InvalidArgumentError(
                    f"csr_matrix: no mask of this shape: shape={self.shape}, mask={mask.shape}"
                )
            return self._elements(*np.nonzero(mask))
        rows, columns = key if isinstance(key, tuple) else (key, slice(None))
        if columns is Ellipsis:
            columns = slice(None)
        across = isinstance(rows, slice) or isinstance(columns, slice)
        rows = _positions("csr", rows, self.shape[0], "row")
        columns = _positions("csr", columns, self.shape[1], "column")
        arrays = [isinstance(places, np.ndarray) for places in (rows, columns)]
        if not across and all(arrays):
            across = rows.ndim == columns.ndim == 2 and rows.shape[1] == columns.shape[0] == 1
        if not across and (all(arrays) or not any(arrays)):
            return self._elements(rows, columns)
        return self._rows(rows)._columns(columns)

    def _elements(self, rows: Any, columns: Any) -> Any:
        """The elements at pairs of positions, which NumPy broadcasts; a number for one pair."""
        try:
            rows, columns = np.broadcast_arrays(rows, columns)
        except ValueError:
            raise IndexError(
                f"csr_matrix: rows and columns differ in shape: rows={np.shape(rows)}, "
                f"columns={np.shape(columns)}"
            ) from None
        at = [asarray(np.ascontiguousarray(part.ravel(), np.int64)) for part in (rows, columns)]
        mark("take")
        made = array_of(_core.sparse_take_elements(self._matrix, at[0]._node, at[1]._node))
        return made[0].item() if rows.ndim == 0 else made.reshape(rows.shape)

    def _rows(self, places: Any) -> csr_matrix:
        """Rows by number, slice or positions; those of a slice are shared."""
        if isinstance(places, int):
            return csr_matrix(self._matrix.slice(places, 1))
        if isinstance(places, slice):
            return csr_matrix(self._matrix.slice(places.start, places.stop - places.start))
        mark("take")
        return csr_matrix(_core.sparse_take_rows(self._matrix, asarray(places.ravel())._node))

    def _columns(self, places: Any) -> csr_matrix:
        if places == slice(0, self.shape[1]) if isinstance(places, slice) else False:
            return self
        if isinstance(places, slice):
            places = np.arange(places.start, places.stop)
        mark("take")
        taken = asarray(np.atleast_1d(places).ravel())
        return csr_matrix(_core.sparse_take_columns(self._matrix, taken._node))


@facade("csc_matrix")
class csc_matrix(_Compressed):  # noqa: N801
    """A sparse matrix in compressed columns (CSC): the transpose of a `csr_matrix`.

    The parameters and words are those of `csr_matrix`; ``(data, indices, indptr)`` are rows by
    column. Columns that a slice picks are shared.

    >>> a = hr.tensor.csc_matrix([[0.0, 2.0], [3.0, 0.0]])
    >>> a.indices.tolist(), a.data.tolist()
    ([1, 0], [3.0, 2.0])
    >>> (a @ [1.0, 10.0]).tolist()
    [20.0, 3.0]
    """

    __slots__ = ()
    format = "csc"
    _layout = "Compressed Sparse Column"

    @property
    def shape(self) -> tuple[int, int]:  # type: ignore[override]
        """Rows and columns."""
        columns, rows = self._held.shape
        return rows, columns

    def tocsr(self, copy: bool = False) -> csr_matrix:
        """The matrix in compressed rows, which are sorted where the columns ascend.

        >>> hr.tensor.csc_matrix([[0, 1], [2, 0]]).tocsr().indices.tolist()
        [1, 0]
        """
        mark("tocsr")
        return csr_matrix(_core.sparse_transposed(self._matrix))

    def tocsc(self, copy: bool = False) -> csc_matrix:
        """The matrix itself.

        >>> hr.tensor.csc_matrix((2, 3)).tocsc().shape
        (2, 3)
        """
        return self

    def tocoo(self, copy: bool = False) -> coo_matrix:
        """The matrix as coordinates, column after column; rows and values are shared.

        >>> hr.tensor.csc_matrix([[0, 1], [2, 0]]).tocoo().row.tolist()
        [1, 0]
        """
        return self.transpose().tocoo().transpose()

    def transpose(self, axes: None = None, copy: bool = False) -> csr_matrix:
        """The transpose: compressed rows over the same memory.

        >>> hr.tensor.csc_matrix([[0, 1], [2, 0], [3, 0]]).transpose().toarray().tolist()
        [[0, 2, 3], [1, 0, 0]]
        """
        return csr_matrix(self._held)

    def __getitem__(self, key: Any) -> Any:
        if key is Ellipsis:
            return self
        if not isinstance(key, tuple) and getattr(key, "ndim", 1) == 2:
            return self.tocsr()[key]
        keys = key if isinstance(key, tuple) else (key, slice(None))
        rows, columns = (slice(None) if part is Ellipsis else part for part in keys)
        if not isinstance(rows, slice):
            rows = _positions("csc", rows, self.shape[0], "row")
        if not isinstance(columns, slice):
            columns = _positions("csc", columns, self.shape[1], "column")
        across: list[Any] = [columns, rows]
        across = [part.T if getattr(part, "ndim", 0) == 2 else part for part in across]
        made = self.transpose()[across[0], across[1]]
        return made.T if getattr(made, "ndim", 0) == 2 else made


@facade("coo_matrix")
class coo_matrix(SparseMatrix):  # noqa: N801
    """A sparse matrix of coordinates: a row, a column and a value for each entry; immutable.

    Entries of one place add up. Words that need rows work on `tocsr()`.

    Parameters
    ----------
    arg1 : array_like, sparse matrix or tuple
        As of `csr_matrix`; ``(data, (row, column))`` are checked and shared.
    shape, dtype, copy
        As of `csr_matrix`.

    >>> a = hr.tensor.coo_matrix(([1.0, 2.0, 3.0], ([1, 0, 1], [0, 1, 0])))
    >>> a.nnz, a.toarray().tolist()
    (3, [[0.0, 2.0], [4.0, 0.0]])
    """

    __slots__ = ("_shape", "col", "data", "row")
    format = "coo"
    _layout = "COOrdinate"
    data: Array
    row: Array
    col: Array

    def __init__(
        self,
        arg1: Any,
        shape: tuple[int, int] | None = None,
        dtype: npt.DTypeLike | None = None,
        copy: bool = False,
    ) -> None:
        if (known := _parts_of(arg1)) is not None and known[0] == "coo":
            _, arg1, shape = known
        if not (isinstance(arg1, tuple) and len(arg1) == 2) or _is_shape(arg1):
            if not isinstance(arg1, SparseMatrix):
                arg1 = csr_matrix(arg1, shape, dtype)
            made = (arg1 if dtype is None else arg1.astype(dtype)).tocoo()
            self._set(made.data, made.row, made.col, made.shape)
            return
        mark("coo_matrix")
        given, size = _coordinates(arg1, shape, dtype)
        parts = _together(given)
        if len({part.shape for part in parts}) > 1 or not _is_there(parts[0]):
            here, row, column = (part._node for part in _on_host("coo_matrix", parts))
            _core.sparse_check_coordinates(*size, row, column, here)
        data, rows, columns = parts
        self._set(data, rows, columns, size)

    def _set(self, data: Array, row: Array, column: Array, shape: tuple[int, int]) -> None:
        self.data, self.row, self.col, self._shape = data, row, column, shape

    @classmethod
    def _of_parts(
        cls, data: Array, row: Array, column: Array, shape: tuple[int, int]
    ) -> coo_matrix:
        made = cls.__new__(cls)
        made._set(data, row, column, shape)
        return made

    def _with(self, data: Array) -> Self:
        return self._of_parts(values_of(data), self.row, self.col, self.shape)  # type: ignore[return-value]

    @property
    def shape(self) -> tuple[int, int]:  # type: ignore[override]
        """Rows and columns."""
        return self._shape

    @property
    def nnz(self) -> int:  # type: ignore[override]
        """The number of entries: those of one place each, and explicit zeros, included."""
        return len(self.data)

    @property
    def coords(self) -> tuple[Array, Array]:
        """Rows and columns of the entries."""
        return self.row, self.col

    def tocsr(self, copy: bool = False) -> csr_matrix:
        """The matrix in compressed rows, sorted, with one entry for each place.

        >>> hr.tensor.coo_matrix(([1, 2], ([0, 0], [1, 1]))).tocsr().data.tolist()
        [3]
        """
        mark("tocsr")
        return csr_matrix(_grouped(self.data, self.row, self.col, self.shape))

    def tocsc(self, copy: bool = False) -> csc_matrix:
        """The matrix in compressed columns, sorted, with one entry for each place.

        >>> hr.tensor.coo_matrix(([1, 2], ([0, 0], [1, 1]))).tocsc().indptr.tolist()
        [0, 0, 1]
        """
        mark("tocsc")
        return csc_matrix(_grouped(self.data, self.col, self.row, self.shape[::-1]))

    def tocoo(self, copy: bool = False) -> coo_matrix:
        """The matrix itself.

        >>> hr.tensor.coo_matrix((2, 3)).tocoo().shape
        (2, 3)
        """
        return self

    def transpose(self, axes: None = None, copy: bool = False) -> coo_matrix:
        """The transpose over the same memory.

        >>> hr.tensor.coo_matrix([[0, 1], [2, 0], [3, 0]]).transpose().shape
        (2, 3)
        """
        rows, columns = self.shape
        return self._of_parts(self.data, self.col, self.row, (columns, rows))

    def toarray(self) -> Array:
        """The dense matrix; entries of one place are added in their order.

        >>> hr.tensor.coo_matrix(([1, 2], ([0, 0], [1, 1]))).toarray().tolist()
        [[0, 3]]
        """
        mark("toarray")
        data, row, column = self.data, self.row, self.col
        if _is_there(data):
            return self.tocsr().toarray()
        parts = row._node, column._node, data._node
        return array_of(_core.sparse_to_dense(_core.sparse_from_coordinates(*self.shape, *parts)))

    def sum_duplicates(self) -> None:
        """Sort the entries by row and column and add those of one place, in their order.

        >>> a = hr.tensor.coo_matrix(([1, 2], ([0, 0], [1, 1])))
        >>> a.sum_duplicates()
        >>> a.nnz
        1
        """
        made = self.tocsr().tocoo()
        self._set(made.data, made.row, made.col, made.shape)

    def eliminate_zeros(self) -> None:
        """Leave out entries that are 0.

        >>> a = hr.tensor.coo_matrix(([1, 0], ([0, 0], [0, 1])))
        >>> a.eliminate_zeros()
        >>> a.nnz
        1
        """
        keep = self.data != 0
        self._set(self.data[keep], self.row[keep], self.col[keep], self.shape)

    def to_scipy(self) -> Any:
        """The matrix as `scipy.sparse.coo_matrix` over the same memory.

        >>> hr.tensor.coo_matrix([[0.0, 1.0]]).to_scipy().nnz
        1
        """
        from scipy import sparse

        data, row, column = (np.asarray(part) for part in (self.data, self.row, self.col))
        return sparse.coo_matrix((data, (row, column)), self.shape)

    def to_cupy(self) -> Any:
        """The matrix as `cupyx.scipy.sparse.coo_matrix`, as `csr_matrix.to_cupy`.

        >>> hr.tensor.coo_matrix([[0.0, 1.0]]).to_cupy().nnz  # doctest: +SKIP
        1
        """
        return _to_cupy(self, (self.data, self.row, self.col))

    def __reduce__(self) -> Any:
        data, row, column = (np.asarray(part) for part in (self.data, self.row, self.col))
        return coo_matrix, ((data, (row, column)), self.shape)


SparseMatrix._rows_of = csr_matrix
