# SPDX-License-Identifier: Apache-2.0
"""`hr.Array`: lazy, immutable n-dimensional numbers, shared with NumPy without a copy."""

from __future__ import annotations

import math
import operator
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Self

from headrace import _core
from headrace.array.array_function import call_numpy
from headrace.array.construct import selector
from headrace.display import array_text
from headrace.dtypes import dtype_word
from headrace.errors import InvalidArgumentError, TypeMismatchError
from headrace.interop.exchange import to_ndarray
from headrace.interop.sharing import reduced
from headrace.lazy.handle import Deferred, mark
from headrace.lazy.profile import Explanation, explain
from headrace.series.column import series_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import numpy as np
    import numpy.typing as npt
    import torch

    from headrace.series.series import Series


def _is_numpy_array(key: Any) -> bool:
    return type(key).__module__ == "numpy" and bool(getattr(key, "ndim", 0))


def _index(key: Any) -> int:
    try:
        return operator.index(key)
    except TypeError:
        raise TypeMismatchError(
            "getitem: expected an integer or a slice as index: "
            f"type={type(key).__name__!r}; a mask or an array of positions selects along "
            "the first axis: x[mask]"
        ) from None


class Flags(NamedTuple):
    """Layout flags of an array, as NumPy and XGBoost read them."""

    c_contiguous: bool
    f_contiguous: bool
    writeable: bool


class Array(Deferred, role="_array"):
    """An n-dimensional array of numbers or bools (one byte each), without nulls.

    It is lazy: arithmetic builds plan nodes, and using the result (`repr`, `len`, an export) runs
    them in as few passes as possible. NumPy functions on it stay lazy. Make one with `hr.asarray`.

    >>> import headrace as hr
    >>> x = hr.asarray([1.0, 2.0, 4.0])
    >>> float((x * 2 + 1).sum())
    17.0
    """

    __slots__ = ()
    _kind: ClassVar[str] = "array"

    # ---- shape -----------------------------------------------------------------------------------
    @property
    def shape(self) -> tuple[int, ...]:
        """Shape; runs the plan if it depends on the data.

        >>> import headrace as hr
        >>> hr.asarray([[1, 2, 3], [4, 5, 6]]).shape
        (2, 3)
        """
        if any(size < 0 for size in self._node.shape):
            _core.force([self._node])
        return tuple(self._node.shape)

    @property
    def ndim(self) -> int:
        """Number of dimensions.

        >>> import headrace as hr
        >>> hr.asarray([[1, 2, 3], [4, 5, 6]]).ndim
        2
        """
        return len(self._node.shape)

    @property
    def size(self) -> int:
        """Number of elements.

        >>> import headrace as hr
        >>> hr.asarray([[1, 2, 3], [4, 5, 6]]).size
        6
        """
        return math.prod(self.shape)

    @property
    def nbytes(self) -> int:
        """Bytes of all elements.

        >>> import headrace as hr
        >>> hr.asarray([[1, 2, 3], [4, 5, 6]]).nbytes
        48
        """
        return self.size * self.dtype.itemsize

    @property
    def T(self) -> Array:  # noqa: N802
        """The transposed view.

        >>> import headrace as hr
        >>> hr.asarray([[1, 2, 3], [4, 5, 6]]).T.tolist()
        [[1, 4], [2, 5], [3, 6]]
        """
        return self.transpose()

    def transpose(self, *axes: int) -> Array:
        """The view with permuted axes (reversed by default); nothing is copied.

        >>> import headrace as hr
        >>> hr.asarray([[1, 2], [3, 4]]).transpose().tolist()
        [[1, 3], [2, 4]]
        """
        mark("transpose")
        order = list(axes) or list(reversed(range(self.ndim)))
        return Array(_core.transpose(self._node, order))

    def reshape(self, *shape: int | tuple[int, ...]) -> Array:
        """The same elements in another shape; one size may be -1. A view when contiguous.

        >>> import headrace as hr
        >>> hr.asarray([1, 2, 3, 4]).reshape(2, 2).tolist()
        [[1, 2], [3, 4]]
        """
        sizes: list[int] = []
        for each in shape:
            sizes += [each.__index__()] if hasattr(each, "__index__") else each
        mark("reshape")
        if -1 in sizes:
            known = math.prod(size for size in sizes if size != -1)
            sizes[sizes.index(-1)] = self.size // max(known, 1)
        return Array(_core.reshape(self._node, sizes))

    def ravel(self) -> Array:
        """One dimension, row-major.

        >>> import headrace as hr
        >>> hr.asarray([[1, 2], [3, 4]]).ravel().tolist()
        [1, 2, 3, 4]
        """
        return self.reshape(-1)

    def __len__(self) -> int:
        if not self._node.shape:
            raise TypeError("len() of a 0-d array")
        return self.shape[0]

    def __iter__(self) -> Iterator[Any]:
        return iter(self.to_numpy())

    def __getitem__(self, key: Any) -> Array:
        """Index by slices, integers, a boolean mask or an array of positions; slices are views."""
        mark("getitem")
        if isinstance(key, Deferred | list) or _is_numpy_array(key):
            picked = selector(key)
            if picked.dtype == "bool":
                return Array(_core.filter(self._node, picked._node))
            return Array(_core.take(self._node, picked._node))
        keys = list(key) if isinstance(key, tuple) else [key]
        if Ellipsis in keys:
            at = keys.index(Ellipsis)
            keys[at : at + 1] = [slice(None)] * (self.ndim - len(keys) + 1)
        if len(keys) > self.ndim:
            raise IndexError(
                f"getitem: too many indices: indices={len(keys)}, dimensions={self.ndim}"
            )
        if self._node.shape and self._node.shape[0] < 0 and isinstance(keys[0], slice):
            # Cutting both ends needs no length, so it stays lazy.
            cut = keys[0]
            first, last = cut.start or 0, -(cut.stop or 0)
            if cut.step in (None, 1) and first >= 0 and last >= 0 and cut.stop != 0:
                trimmed = Array(_core.trim(self._node, first, last)) if first or last else self
                rest = keys[1:]
                return trimmed[(slice(None), *rest)] if rest else trimmed
        plain = all(k == slice(None) for k in keys[:1])
        shape = self._node.shape if plain and self._node.shape[0] < 0 else list(self.shape)
        items: list[tuple[int, int, int]] = []  # begin, step, count; step 0 drops the dimension
        for axis, length in enumerate(shape):
            each = keys[axis] if axis < len(keys) else slice(None)
            if isinstance(each, slice):
                if length < 0:
                    items.append((0, 1, -1))
                    continue
                begin, _, step = each.indices(length)
                items.append((begin, step, len(range(*each.indices(length)))))
            else:
                index = _index(each)
                if not -length <= index < length:
                    raise IndexError(
                        f"getitem: index out of range: index={index}, axis={axis}, size={length}"
                    )
                items.append((index % length, 0, 1))
        return Array(_core.view(self._node, items))

    # ---- reductions ------------------------------------------------------------------------------
    def _along(self, kind: str, axis: int | None, ddof: int = 0) -> Array:
        axis = None if axis is None else operator.index(axis)
        if axis is None or (self.ndim == 1 and axis in (0, -1)):
            return self._reduce(kind, ddof)
        if not -self.ndim <= axis < self.ndim:
            raise InvalidArgumentError(
                f"{kind}: axis out of range: axis={axis}, dimensions={self.ndim}"
            )
        mark(kind)
        return Array(_core.reduction_axis(kind, self._node, axis % self.ndim, ddof))

    def sum(self, axis: int | None = None) -> Array:
        """Sum: integers in 64 bits, floats in a fixed order, so the same for any thread count.

        >>> import headrace as hr
        >>> hr.asarray([1.0, 2.0, 6.0]).sum().item()
        9.0
        """
        return self._along("sum", axis)

    def prod(self, axis: int | None = None) -> Array:
        """Product.

        >>> import headrace as hr
        >>> hr.asarray([1.0, 2.0, 6.0]).prod().item()
        12.0
        """
        return self._along("prod", axis)

    def mean(self, axis: int | None = None) -> Array:
        """Arithmetic mean; NaN for no elements.

        >>> import headrace as hr
        >>> hr.asarray([1.0, 2.0, 6.0]).mean().item()
        3.0
        """
        return self._along("mean", axis)

    def var(self, axis: int | None = None, ddof: int = 0) -> Array:
        """Variance with NumPy's default of `ddof=0`.

        >>> import headrace as hr
        >>> hr.asarray([1.0, 2.0, 6.0]).var().item()
        4.666666666666667
        """
        return self._along("var", axis, ddof)

    def std(self, axis: int | None = None, ddof: int = 0) -> Array:
        """Standard deviation with NumPy's default of `ddof=0`.

        >>> import headrace as hr
        >>> hr.asarray([1.0, 3.0]).std().item()
        1.0
        """
        return self._along("std", axis, ddof)

    def min(self, axis: int | None = None) -> Array:
        """Smallest element; NaN if there is one.

        >>> import headrace as hr
        >>> hr.asarray([1.0, 2.0, 6.0]).min().item()
        1.0
        """
        return self._along("min", axis)

    def max(self, axis: int | None = None) -> Array:
        """Largest element; NaN if there is one.

        >>> import headrace as hr
        >>> hr.asarray([1.0, 2.0, 6.0]).max().item()
        6.0
        """
        return self._along("max", axis)

    def argmin(self, axis: int | None = None) -> Array:
        """Position of the first smallest element.

        >>> import headrace as hr
        >>> hr.asarray([1.0, 2.0, 6.0]).argmin().item()
        0
        """
        return self._along("argmin", axis)

    def argmax(self, axis: int | None = None) -> Array:
        """Position of the first largest element.

        >>> import headrace as hr
        >>> hr.asarray([1.0, 2.0, 6.0]).argmax().item()
        2
        """
        return self._along("argmax", axis)

    def any(self, axis: int | None = None) -> Array:
        """True if some element is true.

        >>> import headrace as hr
        >>> hr.asarray([0, 2]).any().item()
        True
        """
        return self._along("any", axis)

    def all(self, axis: int | None = None) -> Array:
        """True if all elements are true.

        >>> import headrace as hr
        >>> hr.asarray([0, 2]).all().item()
        False
        """
        return self._along("all", axis)

    # ---- evaluation ------------------------------------------------------------------------------
    def item(self) -> Any:
        """The single element as a Python number.

        >>> import headrace as hr
        >>> hr.asarray([1.5, 2.5]).sum().item()
        4.0
        """
        if self._node.shape == () and self.dtype.kind in "biuf":
            return self._value().item(())
        return self.to_numpy().item()

    def tolist(self) -> Any:
        """Nested lists of Python numbers.

        >>> import headrace as hr
        >>> hr.asarray([[1, 2], [3, 4]]).tolist()
        [[1, 2], [3, 4]]
        """
        return self.to_numpy().tolist()

    def __float__(self) -> float:
        return float(self.item())

    def __int__(self) -> int:
        return int(self.item())

    def __round__(self, digits: int | None = None) -> Any:
        return round(self.item(), digits)

    def __bool__(self) -> bool:
        return bool(self.to_numpy())

    def __index__(self) -> int:
        if self.dtype.kind not in "iu":
            raise TypeError(f"only integer arrays can be used as an index: dtype={self.dtype.name}")
        return int(self.item())

    def __format__(self, spec: str) -> str:
        return format(self.item() if self.ndim == 0 else repr(self), spec)

    def __str__(self) -> str:
        return str(self.item()) if self.ndim == 0 else repr(self)

    def explain(self, analyze: bool = False, *, passes: bool = False) -> Explanation:
        """The steps that evaluation would take, with the number of passes over the data.

        With `analyze` they run, and each line reports time, rows, bytes, and what a memory limit
        moved. With `passes` the plan is shown before and after each optimizer pass that changes it.
        """
        return explain([self._node], analyze, passes)

    def __array__(
        self, dtype: npt.DTypeLike | None = None, copy: bool | None = None
    ) -> np.ndarray[Any, Any]:
        return to_ndarray(self._value(), dtype, copy)

    def __array_function__(
        self, func: Callable[..., Any], types: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Any:
        return call_numpy(self, func, types, args, kwargs)

    def __reduce_ex__(self, protocol: Any) -> Any:
        return reduced(self, protocol)

    def astype(self, dtype: npt.DTypeLike) -> Self:
        """Convert to another dtype; may copy, which the ledger records.

        >>> import headrace as hr
        >>> hr.asarray([1.7, -2.2]).astype("int64").tolist()
        [1, -2]
        """
        word = dtype_word(dtype)
        if word == self._node.dtype:
            return self
        mark("cast")
        converted: Self = self._like(_core.elementwise("cast", [self._node], word))
        return converted

    def __repr__(self) -> str:
        return array_text(self)

    def to_numpy(self) -> np.ndarray[Any, Any]:
        """A read-only NumPy view on the same memory; nothing is copied.

        >>> import headrace as hr
        >>> hr.asarray([1.5, 2.5]).to_numpy()
        array([1.5, 2.5])
        """
        import numpy as np

        return np.asarray(self._value())

    def to_torch(self) -> torch.Tensor:
        """A PyTorch tensor on the same memory; do not write to it (it cannot be read-only)."""
        import warnings

        import torch

        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            return torch.from_dlpack(self)

    def to_series(self, name: str | None = None) -> Series:
        """The same memory as a series (1-D only).

        >>> import headrace as hr
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
