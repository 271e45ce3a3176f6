# SPDX-License-Identifier: Apache-2.0
"""Statistical and utility functions of the array API standard."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from headrace.array.axis_reductions import cumulative, reduce_axes
from headrace.array.layout import axis_number, concatenate

if TYPE_CHECKING:
    from headrace.array.array import Array

    Axes = int | tuple[int, ...] | None


def _cast(x: Any, dtype: Any) -> Any:
    return x if dtype is None or x.dtype == dtype else x.astype(str(dtype))


def sum(x: Any, /, *, axis: Axes = None, dtype: Any = None, keepdims: Any = False) -> Array:
    """Sums; integers in 64 bits, and 0 of nothing.

    >>> hr.array_api.sum(hr.asarray([1, 2])).item()
    3
    """
    return _cast(reduce_axes(_cast(x, dtype), "sum", axis, keepdims), dtype)


def prod(x: Any, /, *, axis: Axes = None, dtype: Any = None, keepdims: Any = False) -> Array:
    """Products; integers in 64 bits, and 1 of nothing.

    >>> hr.array_api.prod(hr.asarray([2, 3])).item()
    6
    """
    return _cast(reduce_axes(_cast(x, dtype), "prod", axis, keepdims), dtype)


def mean(x: Any, /, *, axis: Axes = None, keepdims: Any = False) -> Array:
    """Arithmetic means.

    >>> hr.array_api.mean(hr.asarray([1.0, 2.0])).item()
    1.5
    """
    return reduce_axes(x, "mean", axis, keepdims)


def min(x: Any, /, *, axis: Axes = None, keepdims: Any = False) -> Array:
    """Smallest elements.

    >>> hr.array_api.min(hr.asarray([2, 1])).item()
    1
    """
    return reduce_axes(x, "min", axis, keepdims)


def max(x: Any, /, *, axis: Axes = None, keepdims: Any = False) -> Array:
    """Largest elements.

    >>> hr.array_api.max(hr.asarray([2, 1])).item()
    2
    """
    return reduce_axes(x, "max", axis, keepdims)


def var(x: Any, /, *, axis: Axes = None, correction: float = 0.0, keepdims: Any = False) -> Array:
    """Variances.

    >>> hr.array_api.var(hr.asarray([1.0, 3.0])).item()
    1.0
    """
    return reduce_axes(x, "var", axis, keepdims, correction)


def std(x: Any, /, *, axis: Axes = None, correction: float = 0.0, keepdims: Any = False) -> Array:
    """Standard deviations.

    >>> hr.array_api.std(hr.asarray([1.0, 3.0])).item()
    1.0
    """
    return reduce_axes(x, "std", axis, keepdims, correction)


def cumulative_sum(
    x: Any, /, *, axis: int | None = None, dtype: Any = None, include_initial: Any = False
) -> Array:
    """Running sums along an axis.

    >>> hr.array_api.cumulative_sum(hr.asarray([1, 2])).tolist()
    [1, 3]
    """
    return _cast(cumulative(_cast(x, dtype), False, axis, include_initial), dtype)


def cumulative_prod(
    x: Any, /, *, axis: int | None = None, dtype: Any = None, include_initial: Any = False
) -> Array:
    """Running products along an axis.

    >>> hr.array_api.cumulative_prod(hr.asarray([2, 3])).tolist()
    [2, 6]
    """
    return _cast(cumulative(_cast(x, dtype), True, axis, include_initial), dtype)


def all(x: Any, /, *, axis: Axes = None, keepdims: Any = False) -> Array:
    """Whether all elements are true.

    >>> hr.array_api.all(hr.asarray([1, 0])).item()
    False
    """
    return reduce_axes(x, "all", axis, keepdims)


def any(x: Any, /, *, axis: Axes = None, keepdims: Any = False) -> Array:
    """Whether an element is true.

    >>> hr.array_api.any(hr.asarray([1, 0])).item()
    True
    """
    return reduce_axes(x, "any", axis, keepdims)


def diff(
    x: Any, /, *, axis: int = -1, n: int = 1, prepend: Any = None, append: Any = None
) -> Array:
    """Differences of neighbours along an axis, `n` times.

    >>> hr.array_api.diff(hr.asarray([1, 3, 6])).tolist()
    [2, 3]
    """
    along = axis_number("diff", axis, x.ndim)
    parts = [part for part in (prepend, x, append) if part is not None]
    made = concatenate(parts, along) if len(parts) > 1 else x
    lead = (slice(None),) * along
    for _ in range(n):
        left, right = made[(*lead, slice(None, -1))], made[(*lead, slice(1, None))]
        made = right != left if made.dtype == "bool" else right - left
    return made
