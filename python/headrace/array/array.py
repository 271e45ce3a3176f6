# SPDX-License-Identifier: Apache-2.0
"""`hr.Array`: lazy, immutable n-dimensional numbers, shared with NumPy without a copy."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, ClassVar, Self

from headrace import _core, linalg
from headrace.array import convert, indexing, json_numbers, layout, views
from headrace.array.array_function import call_numpy
from headrace.array.axis_reductions import reduce_axes
from headrace.array.convert import Flags
from headrace.array.standard import StandardOperators
from headrace.display.tables import array_text
from headrace.errors import TypeMismatchError
from headrace.facade import facade
from headrace.interop.exchange import to_ndarray
from headrace.interop.sharing import reduced
from headrace.io import npy
from headrace.lazy.handle import array_of, mark
from headrace.series.column import series_of

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Iterator
    from typing import IO

    import numpy as np
    import numpy.typing as npt
    import torch

    from headrace.series.series import Series

    Axes = int | tuple[int, ...] | None


@facade("Array")
class Array(StandardOperators, role="_array"):
    """An n-dimensional array of numbers or bools (one byte each), without nulls.

    It is lazy: arithmetic builds plan nodes, and using the result (`repr`, `len`, an export) runs
    them in as few passes as possible. NumPy functions on it stay lazy. Make one with `hr.asarray`.

    >>> x = hr.asarray([1.0, 2.0, 4.0])
    >>> float((x * 2 + 1).sum())
    17.0
    """

    __slots__ = ()
    _kind: ClassVar[str] = "array"

    def _like(self, node: _core.Node) -> Any:
        return array_of(node)

    def _buffer_value(self) -> Any:
        memory = views.output_memory(self) if self.device == "host" else None
        return super()._buffer_value() if memory is None else memory

    # ---- shape -----------------------------------------------------------------------------------
    @property
    def shape(self) -> tuple[int, ...]:
        """Shape; runs the plan if it depends on the data.

        >>> hr.asarray([[1, 2, 3], [4, 5, 6]]).shape
        (2, 3)
        """
        return views.shape(self)

    @property
    def ndim(self) -> int:
        """Number of dimensions.

        >>> hr.asarray([[1, 2, 3], [4, 5, 6]]).ndim
        2
        """
        return len(self._node.shape)

    @property
    def size(self) -> int:
        """Number of elements.

        >>> hr.asarray([[1, 2, 3], [4, 5, 6]]).size
        6
        """
        return math.prod(self.shape)

    @property
    def nbytes(self) -> int:
        """Bytes of all elements.

        >>> hr.asarray([[1, 2, 3], [4, 5, 6]]).nbytes
        48
        """
        return self.size * self.dtype.itemsize

    @property
    def T(self) -> Array:  # noqa: N802
        """The transposed view.

        >>> hr.asarray([[1, 2, 3], [4, 5, 6]]).T.tolist()
        [[1, 4], [2, 5], [3, 6]]
        """
        return self.transpose()

    def transpose(self, *axes: int) -> Array:
        """The view with permuted axes (reversed by default); nothing is copied.

        >>> hr.asarray([[1, 2], [3, 4]]).transpose().tolist()
        [[1, 3], [2, 4]]
        """
        mark("transpose")
        return views.transpose(self, list(axes))

    def reshape(self, *shape: int | tuple[int, ...]) -> Array:
        """The same elements in another shape; one size may be -1. A view when contiguous.

        >>> hr.asarray([1, 2, 3, 4]).reshape(2, 2).tolist()
        [[1, 2], [3, 4]]
        """
        return views.reshape(self, shape)

    def squeeze(self, axis: int | tuple[int, ...] | None = None) -> Array:
        """A view without axes of one element.

        >>> hr.asarray([[1], [2]]).squeeze().tolist()
        [1, 2]
        """
        return layout.squeeze(self, axis)

    def ravel(self) -> Array:
        """One dimension, row-major.

        >>> hr.asarray([[1, 2], [3, 4]]).ravel().tolist()
        [1, 2, 3, 4]
        """
        return views.ravel(self)

    def copy(self) -> Array:
        """Another handle on the values: a change of one does not reach the other.

        Memory that others may write is copied; else it costs nothing.

        >>> x = hr.asarray([1, 2])
        >>> y = x[:].copy()
        >>> y += 1
        >>> x.tolist()
        [1, 2]
        """
        if self._node.is_live and self.device == "host":  # others may write it
            return array_of(_core.data(self._value().copy("copy")))
        return array_of(self._node)

    def __len__(self) -> int:
        if not self._node.shape:
            raise TypeError("len() of a 0-d array")
        return self.shape[0]

    def __iter__(self) -> Iterator[Any]:
        if self._node.shape == ():
            raise TypeError("iteration over a 0-d array")
        if self.ndim == 1:
            _core.force([self._node])  # elements are views, of one result
        return (self[row] for row in range(len(self)))

    def __getitem__(self, key: Any) -> Array:
        """Index by slices, integers, new axes (views), masks and arrays of positions, as NumPy."""
        return indexing.get_item(self, key)

    def __matmul__(self, other: Any) -> Any:
        return linalg.matmul(self, other)

    def __rmatmul__(self, other: Any) -> Any:
        return linalg.matmul(other, self)

    def dot(self, other: Any) -> Array:
        """The sum of products over the last axis and the last but one of `other`.

        >>> hr.asarray([[1, 2], [3, 4]]).dot([1, 10]).tolist()
        [21, 43]
        """
        return linalg.dot(self, other)

    # ---- reductions ------------------------------------------------------------------------------
    def sum(
        self, axis: Axes = None, keepdims: bool = False, *, dtype: npt.DTypeLike | None = None
    ) -> Array:
        """Sum: integers in 64 bits, floats in a fixed order, so the same for any thread count.

        With `dtype`, the values are converted first.

        >>> hr.asarray([1.0, 2.0, 6.0]).sum().item()
        9.0
        """
        return reduce_axes(self if dtype is None else self.astype(dtype), "sum", axis, keepdims)

    def prod(
        self, axis: Axes = None, keepdims: bool = False, *, dtype: npt.DTypeLike | None = None
    ) -> Array:
        """Product; `dtype` as in `sum`.

        >>> hr.asarray([1.0, 2.0, 6.0]).prod().item()
        12.0
        """
        return reduce_axes(self if dtype is None else self.astype(dtype), "prod", axis, keepdims)

    def mean(
        self, axis: Axes = None, keepdims: bool = False, *, dtype: npt.DTypeLike | None = None
    ) -> Array:
        """Arithmetic mean; NaN for no elements; `dtype` as in `sum`.

        >>> hr.asarray([1.0, 2.0, 6.0]).mean().item()
        3.0
        """
        return reduce_axes(self if dtype is None else self.astype(dtype), "mean", axis, keepdims)

    def var(self, axis: Axes = None, ddof: float = 0, keepdims: bool = False) -> Array:
        """Variance with NumPy's default of `ddof=0`.

        >>> hr.asarray([1.0, 2.0, 6.0]).var().item()
        4.666666666666667
        """
        return reduce_axes(self, "var", axis, keepdims, ddof)

    def std(self, axis: Axes = None, ddof: float = 0, keepdims: bool = False) -> Array:
        """Standard deviation with NumPy's default of `ddof=0`.

        >>> hr.asarray([1.0, 3.0]).std().item()
        1.0
        """
        return reduce_axes(self, "std", axis, keepdims, ddof)

    def min(self, axis: Axes = None, keepdims: bool = False) -> Array:
        """Smallest element; NaN if there is one.

        >>> hr.asarray([1.0, 2.0, 6.0]).min().item()
        1.0
        """
        return reduce_axes(self, "min", axis, keepdims)

    def max(self, axis: Axes = None, keepdims: bool = False) -> Array:
        """Largest element; NaN if there is one.

        >>> hr.asarray([1.0, 2.0, 6.0]).max().item()
        6.0
        """
        return reduce_axes(self, "max", axis, keepdims)

    def argmin(self, axis: int | None = None, keepdims: bool = False) -> Array:
        """Position of the first smallest element.

        >>> hr.asarray([1.0, 2.0, 6.0]).argmin().item()
        0
        """
        return reduce_axes(self, "argmin", axis, keepdims)

    def argmax(self, axis: int | None = None, keepdims: bool = False) -> Array:
        """Position of the first largest element.

        >>> hr.asarray([1.0, 2.0, 6.0]).argmax().item()
        2
        """
        return reduce_axes(self, "argmax", axis, keepdims)

    def any(self, axis: Axes = None, keepdims: bool = False) -> Array:
        """True if some element is true.

        >>> hr.asarray([0, 2]).any().item()
        True
        """
        return reduce_axes(self, "any", axis, keepdims)

    def all(self, axis: Axes = None, keepdims: bool = False) -> Array:
        """True if all elements are true.

        >>> hr.asarray([0, 2]).all().item()
        False
        """
        return reduce_axes(self, "all", axis, keepdims)

    # ---- evaluation ------------------------------------------------------------------------------
    def item(self) -> Any:
        """The single element as a Python number.

        >>> hr.asarray([1.5, 2.5]).sum().item()
        4.0
        """
        if self._node.shape == () and self.dtype.kind in "biuf":
            return self._value().item(())
        return self.to_numpy().item()

    def tolist(self) -> Any:
        """Nested lists of Python numbers.

        >>> hr.asarray([[1, 2], [3, 4]]).tolist()
        [[1, 2], [3, 4]]
        """
        return self.to_numpy().tolist()

    def __float__(self) -> float:
        return float(self.item())

    def __int__(self) -> int:
        return int(self.item())

    __trunc__ = __int__

    def __hash__(self) -> int:  # type: ignore[override]
        if self.ndim:
            raise TypeMismatchError(
                f"hash: an array of several values is no key: shape={self.shape}; use tolist()"
            )
        return hash(self.item())

    def __round__(self, digits: int | None = None) -> Any:
        return round(self.item(), digits)

    def __bool__(self) -> bool:
        return bool(self.to_numpy())

    def __index__(self) -> int:
        return convert.as_index(self)

    def __format__(self, spec: str) -> str:
        return format(self.item() if self.ndim == 0 else repr(self), spec)

    def __str__(self) -> str:
        return str(self.item()) if self.ndim == 0 else repr(self)

    def __array__(
        self, dtype: npt.DTypeLike | None = None, copy: bool | None = None
    ) -> np.ndarray[Any, Any]:
        return to_ndarray(self._value(), dtype, copy)

    def __array_function__(
        self, func: Callable[..., Any], types: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Any:
        return call_numpy(func, types, args, kwargs)

    def __reduce_ex__(self, protocol: Any) -> Any:
        return reduced(self, protocol)

    def astype(self, dtype: npt.DTypeLike) -> Self:
        """Convert to another dtype; may copy, which the ledger records.

        >>> hr.asarray([1.7, -2.2]).astype("int64").tolist()
        [1, -2]
        """
        return convert.as_dtype(self, dtype)

    def __repr__(self) -> str:
        return array_text(self)

    def to_numpy(self) -> np.ndarray[Any, Any]:
        """A read-only NumPy view on the same memory; nothing is copied.

        >>> hr.asarray([1.5, 2.5]).to_numpy()
        array([1.5, 2.5])
        """
        import numpy as np

        return np.asarray(self._value())

    def to_torch(self) -> torch.Tensor:
        """A PyTorch tensor on the same memory; do not write to it (it cannot be read-only)."""
        return convert.to_torch(self)

    def to_npy(self, path: str | os.PathLike[str] | IO[bytes]) -> None:
        """Write a NumPy ``.npy`` file, which `numpy.load` reads; see `hr.read_npy`.

        A regular file is replaced whole at the end, or stays as it was. What is contiguous by rows
        or by columns is written without a copy.

        Raises
        ------
        hr.InputError
            (an OSError) With path and errno, when the system refuses.

        >>> hr.asarray([[1.5, 2.5]]).to_npy("example.npy")
        >>> hr.read_npy("example.npy").shape
        (1, 2)
        """
        npy.to_npy(self, path)

    def to_series(self, name: str | None = None) -> Series:
        """The same memory as a series (1-D only).

        >>> hr.asarray([1.5, 2.5]).to_series().to_list()
        [1.5, 2.5]
        """
        mark("to_series")
        return series_of(_core.as_column(self._node), name)

    @property
    def flags(self) -> Flags:
        """Layout flags; an array is never writeable."""
        view = self.to_numpy()
        return Flags(view.flags.c_contiguous, view.flags.f_contiguous, False)

    def __arrow_c_array__(self, requested_schema: Any = None) -> tuple[object, object]:
        column: _core.Column = self.to_series()._value()
        return column.__arrow_c_array__(requested_schema)

    def __arrow_c_device_array__(
        self, requested_schema: Any = None, **kwargs: Any
    ) -> tuple[object, object]:
        column: _core.Column = self.to_series()._value_there()
        return column.__arrow_c_device_array__(requested_schema)


json_numbers.install()
