# SPDX-License-Identifier: Apache-2.0
"""Creation functions of the array API standard."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from headrace.array import create, layout
from headrace.array.construct import asarray as _asarray
from headrace.errors import InvalidArgumentError, TypeMismatchError
from headrace.interop.exchange import fresh_array
from headrace.interop.exchange import from_dlpack as _from_dlpack
from headrace.lazy.handle import Deferred, array_of, is_array

if TYPE_CHECKING:
    from headrace.array.array import Array


def _there(array: Array, device: Any) -> Array:
    return array if device is None else array.to_device(device)


def _nested(values: Any) -> Any:
    """Lists of numbers in which arrays without dimensions stand, as numbers alone."""
    if isinstance(values, list | tuple):
        return [_nested(each) for each in values]
    return values.tolist() if is_array(values) else values


def asarray(obj: Any, /, *, dtype: Any = None, device: Any = None, copy: Any = None) -> Array:
    """An array of numbers, nested lists, or the memory of another object, as `hr.asarray`.

    `copy=True` copies, as a later write to the memory of others would show; False raises where a
    copy is needed.

    >>> hr.array_api.asarray([1, 2]).tolist()
    [1, 2]
    """
    import numpy as np

    word = None if dtype is None else str(dtype)
    if isinstance(obj, Deferred) and not copy and word in (None, str(obj.dtype)):
        return _there(_asarray(obj), device)  # the same handle
    if isinstance(obj, list | tuple):
        if copy is False:
            raise InvalidArgumentError("asarray: a list has no memory to share; use copy=None")
        made = fresh_array(np.asarray(_nested(obj), word))
    else:
        if isinstance(obj, int) and not isinstance(obj, bool) and word is None and obj >= 1 << 63:
            word = "uint64"
        is_number = isinstance(obj, int | float | complex)
        made = fresh_array(np.asarray(obj, word)) if is_number else _asarray(obj)
        if copy and not is_number and not isinstance(obj, Deferred):
            made = fresh_array(np.array(made.to_numpy()))
    if word is not None and str(made.dtype) != word:
        if copy is False:
            raise InvalidArgumentError(
                f"asarray: another dtype needs a copy: dtype={made.dtype}, wanted={word}; "
                "use copy=None"
            )
        made = made.astype(word)
    return _there(array_of(made._node), device)


def from_dlpack(x: Any, /, *, device: Any = None, copy: Any = None) -> Array:
    """The memory of another library's array, shared by DLPack.

    >>> import numpy as np
    >>> hr.array_api.from_dlpack(np.arange(2)).tolist()
    [0, 1]
    """
    made = _asarray(_from_dlpack(x))
    if copy:
        import numpy as np

        made = fresh_array(np.array(made.to_numpy()))
    return _there(made, device)


def full(shape: Any, fill_value: Any, *, dtype: Any = None, device: Any = None) -> Array:
    """An array of one value.

    >>> hr.array_api.full(2, 1.5).tolist()
    [1.5, 1.5]
    """
    if is_array(fill_value):
        fill_value = fill_value.item()
    return _there(create.full(shape, asarray(fill_value, dtype=dtype)), device)


def empty(shape: Any, *, dtype: Any = None, device: Any = None) -> Array:
    """An array of no particular values: zeros."""
    return zeros(shape, dtype=dtype, device=device)


def zeros(shape: Any, *, dtype: Any = None, device: Any = None) -> Array:
    """An array of zeros.

    >>> hr.array_api.zeros(2).tolist()
    [0.0, 0.0]
    """
    return _there(create.zeros(shape, "float64" if dtype is None else str(dtype)), device)


def ones(shape: Any, *, dtype: Any = None, device: Any = None) -> Array:
    """An array of ones.

    >>> hr.array_api.ones(2).tolist()
    [1.0, 1.0]
    """
    return _there(create.ones(shape, "float64" if dtype is None else str(dtype)), device)


def full_like(x: Any, /, fill_value: Any, *, dtype: Any = None, device: Any = None) -> Array:
    """An array of one value with the shape and dtype of another.

    >>> hr.array_api.full_like(hr.asarray([1.5]), 2).tolist()
    [2.0]
    """
    word = str(x.dtype) if dtype is None else dtype
    return full(x.shape, fill_value, dtype=word, device=device)


def empty_like(x: Any, /, *, dtype: Any = None, device: Any = None) -> Array:
    """`empty` with the shape and dtype of another array."""
    return full_like(x, 0, dtype=dtype, device=device)


def zeros_like(x: Any, /, *, dtype: Any = None, device: Any = None) -> Array:
    """Zeros with the shape and dtype of another array.

    >>> hr.array_api.zeros_like(hr.asarray([1.5])).tolist()
    [0.0]
    """
    return full_like(x, 0, dtype=dtype, device=device)


def ones_like(x: Any, /, *, dtype: Any = None, device: Any = None) -> Array:
    """Ones with the shape and dtype of another array.

    >>> hr.array_api.ones_like(hr.asarray([1.5])).tolist()
    [1.0]
    """
    return full_like(x, 1, dtype=dtype, device=device)


def arange(
    start: Any,
    /,
    stop: Any = None,
    step: Any = 1,
    *,
    dtype: Any = None,
    device: Any = None,
) -> Array:
    """Numbers in steps up to, but not with, `stop`.

    >>> hr.array_api.arange(3).tolist()
    [0, 1, 2]
    """
    word = None if dtype is None else str(dtype)
    return _there(create.arange(start, stop, step, word), device)


def linspace(
    start: Any,
    stop: Any,
    /,
    num: int,
    *,
    dtype: Any = None,
    device: Any = None,
    endpoint: Any = True,
) -> Array:
    """`num` numbers in equal steps.

    >>> hr.array_api.linspace(0, 1, 3).tolist()
    [0.0, 0.5, 1.0]
    """
    word = None if dtype is None else str(dtype)
    return _there(create.linspace(start, stop, num, endpoint, word), device)


def eye(
    n_rows: int,
    n_cols: int | None = None,
    /,
    *,
    k: int = 0,
    dtype: Any = None,
    device: Any = None,
) -> Array:
    """Ones on a diagonal of zeros.

    >>> hr.array_api.eye(2).tolist()
    [[1.0, 0.0], [0.0, 1.0]]
    """
    word = "float64" if dtype is None else str(dtype)
    return _there(create.eye(n_rows, n_cols, k, word), device)


def meshgrid(*arrays: Any, indexing: str = "xy") -> tuple[Array, ...]:
    """Each array along an axis of its own.

    >>> [x.tolist() for x in hr.array_api.meshgrid(hr.asarray([1, 2]), hr.asarray([3]))]
    [[[1, 2]], [[3, 3]]]
    """
    if len({str(array.dtype) for array in arrays}) > 1:
        raise TypeMismatchError("meshgrid: the arrays differ in dtype; convert them with astype")
    return tuple(layout.meshgrid(*arrays, indexing=indexing))


def tril(x: Any, /, *, k: int = 0) -> Array:
    """Each matrix with zeros above a diagonal.

    >>> hr.array_api.tril(hr.asarray([[1, 2], [3, 4]])).tolist()
    [[1, 0], [3, 4]]
    """
    return layout.triangle(x, k, lower=True)


def triu(x: Any, /, *, k: int = 0) -> Array:
    """Each matrix with zeros below a diagonal.

    >>> hr.array_api.triu(hr.asarray([[1, 2], [3, 4]])).tolist()
    [[1, 2], [0, 4]]
    """
    return layout.triangle(x, k, lower=False)
