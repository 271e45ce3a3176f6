# SPDX-License-Identifier: Apache-2.0
"""Searching, sorting, set and indexing functions of the array API standard."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from headrace.array import order
from headrace.array.axis_reductions import reduce_axes
from headrace.array.construct import asarray as _asarray
from headrace.array.order import UniqueAll, UniqueCounts, UniqueInverse
from headrace.lazy.handle import Deferred

if TYPE_CHECKING:
    from headrace.array.array import Array


def argmax(x: Any, /, *, axis: int | None = None, keepdims: Any = False) -> Array:
    """Positions of the first largest elements.

    >>> hr.array_api.argmax(hr.asarray([1, 3, 2])).item()
    1
    """
    return reduce_axes(x, "argmax", axis, keepdims)


def argmin(x: Any, /, *, axis: int | None = None, keepdims: Any = False) -> Array:
    """Positions of the first smallest elements.

    >>> hr.array_api.argmin(hr.asarray([2, 1, 3])).item()
    1
    """
    return reduce_axes(x, "argmin", axis, keepdims)


def count_nonzero(
    x: Any, /, *, axis: int | tuple[int, ...] | None = None, keepdims: Any = False
) -> Array:
    """How many elements are not zero.

    >>> hr.array_api.count_nonzero(hr.asarray([0, 1, 2])).item()
    2
    """
    return reduce_axes(x if x.dtype == "bool" else x != 0, "sum", axis, keepdims)


def nonzero(x: Any, /) -> tuple[Array, ...]:
    """For each axis the positions of elements that are not zero.

    >>> hr.array_api.nonzero(hr.asarray([0, 1, 2]))[0].tolist()
    [1, 2]
    """
    return order.nonzero(x)


def searchsorted(x1: Any, x2: Any, /, *, side: str = "left", sorter: Any = None) -> Array:
    """Where values would stand in a sorted array.

    >>> hr.array_api.searchsorted(hr.asarray([1, 3]), hr.asarray([2])).tolist()
    [1]
    """
    return order.search_sorted(x1, x2, side, sorter)


def where(condition: Any, x1: Any, x2: Any, /) -> Array:
    """Elements of the one array where a condition is true, else of the other.

    >>> hr.array_api.where(hr.asarray([True, False]), hr.asarray([1, 1]), 0).tolist()
    [1, 0]
    """
    owner = next((v for v in (condition, x1, x2) if isinstance(v, Deferred)), None)
    ours: Any = _asarray(condition) if owner is None else owner
    return ours._elementwise("where", condition, x1, x2)


def argsort(x: Any, /, *, axis: int = -1, descending: Any = False, stable: Any = True) -> Array:
    """Positions in order along an axis; always stable.

    >>> hr.array_api.argsort(hr.asarray([3, 1, 2])).tolist()
    [1, 2, 0]
    """
    return order.argsort(x, axis, descending)


def sort(x: Any, /, *, axis: int = -1, descending: Any = False, stable: Any = True) -> Array:
    """Elements in order along an axis; always stable.

    >>> hr.array_api.sort(hr.asarray([3, 1, 2])).tolist()
    [1, 2, 3]
    """
    return order.sort(x, axis, descending)


def take(x: Any, indices: Any, /, *, axis: int | None = None) -> Array:
    """Parts along an axis.

    >>> hr.array_api.take(hr.asarray([1, 2, 3]), hr.asarray([2, 0])).tolist()
    [3, 1]
    """
    return order.take(x, indices, 0 if axis is None and x.ndim == 1 else axis)


def take_along_axis(x: Any, indices: Any, /, *, axis: int = -1) -> Array:
    """For each line along an axis the elements at its own positions.

    >>> hr.array_api.take_along_axis(hr.asarray([[1, 2]]), hr.asarray([[1]])).tolist()
    [[2]]
    """
    return order.take_along_axis(x, indices, axis)


def isin(x1: Any, x2: Any, /, *, invert: Any = False) -> Array:
    """For each element whether it is one of another array.

    >>> hr.array_api.isin(hr.asarray([1, 2]), hr.asarray([2])).tolist()
    [False, True]
    """
    return order.isin(x1, x2, invert)


def unique_all(x: Any, /) -> UniqueAll:
    """Values that occur, where first, which of them each element is, and how often.

    >>> hr.array_api.unique_all(hr.asarray([3, 1, 3])).counts.tolist()
    [1, 2]
    """
    return order.unique_all(x)


def unique_counts(x: Any, /) -> UniqueCounts:
    """Values that occur and how often.

    >>> hr.array_api.unique_counts(hr.asarray([3, 1, 3])).values.tolist()
    [1, 3]
    """
    found = order.unique_all(x)
    return UniqueCounts(found.values, found.counts)


def unique_inverse(x: Any, /) -> UniqueInverse:
    """Values that occur and which of them each element is.

    >>> hr.array_api.unique_inverse(hr.asarray([3, 1, 3])).inverse_indices.tolist()
    [1, 0, 1]
    """
    found = order.unique_all(x)
    return UniqueInverse(found.values, found.inverse_indices)


def unique_values(x: Any, /) -> Array:
    """Values that occur, in order.

    >>> hr.array_api.unique_values(hr.asarray([3, 1, 3])).tolist()
    [1, 3]
    """
    return order.unique_values(x)
