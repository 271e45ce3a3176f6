# SPDX-License-Identifier: Apache-2.0
"""Arrays of one value, and of numbers in steps."""

from __future__ import annotations

import math
import operator
from typing import TYPE_CHECKING, Any

from headrace.array import views
from headrace.array.construct import asarray
from headrace.array.layout import broadcast_to, expand_dims, iota
from headrace.dtypes import dtype_word
from headrace.errors import InvalidArgumentError
from headrace.lazy.handle import mark

if TYPE_CHECKING:
    import numpy.typing as npt

    from headrace.array.array import Array

    Shape = int | tuple[int, ...]


def _sizes(shape: Any) -> tuple[int, ...]:
    given = shape if isinstance(shape, tuple | list) else (shape,)
    sizes = tuple(operator.index(size) for size in given)
    if any(size < 0 for size in sizes):
        raise InvalidArgumentError(f"shape: a size is negative: shape={sizes}")
    return sizes


def full(shape: Shape, fill_value: Any, dtype: npt.DTypeLike | None = None) -> Array:
    """An array of one value: a view that repeats it, so it takes no memory.

    ``numpy.asarray`` of it, while it is not changed otherwise, is memory of its own that may be
    written: code for NumPy that writes into an output finds one (`scipy.ndimage`).

    >>> hr.full((2, 2), 7).tolist()
    [[7, 7], [7, 7]]
    """
    value = asarray(fill_value, dtype)
    mark("full")
    return views.for_output(broadcast_to(value, _sizes(shape)))


def zeros(shape: Shape, dtype: npt.DTypeLike = "float64") -> Array:
    """An array of zeros, as `full`.

    >>> hr.zeros(2).tolist()
    [0.0, 0.0]
    """
    return full(shape, 0, dtype)


def empty(shape: Shape, dtype: npt.DTypeLike = "float64") -> Array:
    """An array whose values are to be replaced: zeros, as `zeros`, which take no memory.

    >>> hr.empty((2, 3)).shape
    (2, 3)
    """
    return zeros(shape, dtype)


def ones(shape: Shape, dtype: npt.DTypeLike = "float64") -> Array:
    """An array of ones, as `full`.

    >>> hr.ones(2, "int32").tolist()
    [1, 1]
    """
    return full(shape, 1, dtype)


def full_like(x: Any, fill_value: Any, dtype: npt.DTypeLike | None = None) -> Array:
    """An array of one value with the shape, and unless given the dtype, of another.

    >>> hr.full_like([1.5, 2.5], 3).tolist()
    [3.0, 3.0]
    """
    like = asarray(x)
    return full(like.shape, fill_value, str(like.dtype) if dtype is None else dtype)


def zeros_like(x: Any, dtype: npt.DTypeLike | None = None) -> Array:
    """Zeros with the shape and dtype of another array.

    >>> hr.zeros_like([1, 2]).tolist()
    [0, 0]
    """
    return full_like(x, 0, dtype)


def empty_like(x: Any, dtype: npt.DTypeLike | None = None) -> Array:
    """`empty` with the shape and dtype of another array.

    >>> hr.empty_like([1, 2]).shape
    (2,)
    """
    return zeros_like(x, dtype)


def ones_like(x: Any, dtype: npt.DTypeLike | None = None) -> Array:
    """Ones with the shape and dtype of another array.

    >>> hr.ones_like([1, 2]).tolist()
    [1, 1]
    """
    return full_like(x, 1, dtype)


def arange(
    start: float, stop: float | None = None, step: float = 1, dtype: npt.DTypeLike | None = None
) -> Array:
    """Numbers from `start` up to, but not with, `stop`, as `numpy.arange`.

    >>> hr.arange(1, 7, 2).tolist()
    [1, 3, 5]
    """
    if stop is None:
        start, stop = 0, start
    if step == 0:
        raise InvalidArgumentError("arange: the step is zero: step=0")
    whole = all(isinstance(each, int) for each in (start, stop, step))
    count = -((start - stop) // step) if whole else math.ceil((stop - start) / step)
    word = dtype_word(dtype) if dtype is not None else "int64" if whole else "float64"
    mark("arange")
    numbers = iota(max(int(count), 0))
    numbers = (numbers if whole else numbers.astype("float64")) * step + start
    return numbers if str(numbers.dtype) == word else numbers.astype(word)


def linspace(
    start: Any,
    stop: Any,
    num: int = 50,
    endpoint: bool = True,
    dtype: npt.DTypeLike | None = None,
) -> Array:
    """`num` numbers in equal steps from `start` to `stop`, as `numpy.linspace`.

    >>> hr.linspace(0, 1, 3).tolist()
    [0.0, 0.5, 1.0]
    """
    count = operator.index(num)
    if count < 0:
        raise InvalidArgumentError(f"linspace: num is negative: num={num}")
    steps = count - 1 if endpoint else count
    mark("linspace")
    number = iota(count)
    if isinstance(start, complex) or isinstance(stop, complex):
        start, stop = asarray(complex(start)), asarray(complex(stop))
        made = number * ((stop - start) / max(steps, 1)) + start
        made = (
            made
            if not endpoint or count < 2
            else made._elementwise("where", number == count - 1, stop, made)
        )
    else:
        made = number.astype("float64") * ((stop - start) / max(steps, 1)) + start
        if endpoint and count > 1:
            made = made._elementwise("where", number == count - 1, float(stop), made)
    return made if dtype is None or made.dtype == dtype else made.astype(dtype)


def eye(n: int, m: int | None = None, k: int = 0, dtype: npt.DTypeLike = "float64") -> Array:
    """Ones on diagonal `k` of a matrix of zeros.

    >>> hr.eye(2).tolist()
    [[1.0, 0.0], [0.0, 1.0]]
    """
    rows, columns = _sizes((n, n if m is None else m))
    mark("eye")
    return (expand_dims(iota(rows), 1) + k == iota(columns)).astype(dtype)
