# SPDX-License-Identifier: Apache-2.0
"""The shape of arrays, views of them, and reductions along an axis."""

from __future__ import annotations

import math
import operator
from typing import TYPE_CHECKING, Any

from headrace import _core
from headrace.array.construct import selector
from headrace.errors import InvalidArgumentError, TypeMismatchError
from headrace.lazy.handle import Deferred, array_of, mark

if TYPE_CHECKING:
    from headrace.array.array import Array


def shape(array: Array) -> tuple[int, ...]:
    """See `Array.shape`."""
    if any(size < 0 for size in array._node.shape):
        _core.force([array._node])
    return tuple(array._node.shape)


def reshape(array: Array, shape: tuple[int | tuple[int, ...], ...]) -> Array:
    """See `Array.reshape`."""
    sizes: list[int] = []
    for each in shape:
        sizes += [each.__index__()] if hasattr(each, "__index__") else each
    mark("reshape")
    if -1 in sizes:
        known = math.prod(size for size in sizes if size != -1)
        sizes[sizes.index(-1)] = array.size // max(known, 1)
    return array_of(_core.reshape(array._node, sizes))


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


def get_item(array: Array, key: Any) -> Array:
    """See `Array.__getitem__`."""
    mark("getitem")
    if isinstance(key, Deferred | list) or _is_numpy_array(key):
        picked = selector(key)
        place = _core.place_ahead(array._node)
        if place != "host" and not isinstance(key, Deferred):  # of the host, goes to the rows
            picked = picked.to(place)
        if picked.dtype == "bool":
            return array_of(_core.filter(array._node, picked._node))
        return array_of(_core.take(array._node, picked._node))
    keys = list(key) if isinstance(key, tuple) else [key]
    if Ellipsis in keys:
        at = keys.index(Ellipsis)
        keys[at : at + 1] = [slice(None)] * (array.ndim - len(keys) + 1)
    if len(keys) > array.ndim:
        raise IndexError(f"getitem: too many indices: indices={len(keys)}, dimensions={array.ndim}")
    if array._node.shape and array._node.shape[0] < 0 and isinstance(keys[0], slice):
        # Cutting both ends needs no length, so it stays lazy.
        cut = keys[0]
        first, last = cut.start or 0, -(cut.stop or 0)
        if cut.step in (None, 1) and first >= 0 and last >= 0 and cut.stop != 0:
            trimmed = array_of(_core.trim(array._node, first, last)) if first or last else array
            rest = keys[1:]
            return trimmed[(slice(None), *rest)] if rest else trimmed
    plain = all(k == slice(None) for k in keys[:1])
    sizes = array._node.shape if plain and array._node.shape[0] < 0 else list(array.shape)
    items: list[tuple[int, int, int]] = []  # begin, step, count; step 0 drops the dimension
    for axis, size in enumerate(sizes):
        each = keys[axis] if axis < len(keys) else slice(None)
        if isinstance(each, slice):
            if size < 0:
                items.append((0, 1, -1))
                continue
            begin, _, step = each.indices(size)
            items.append((begin, step, len(range(*each.indices(size)))))
        else:
            index = _index(each)
            if not -size <= index < size:
                raise IndexError(
                    f"getitem: index out of range: index={index}, axis={axis}, size={size}"
                )
            items.append((index % size, 0, 1))
    return array_of(_core.view(array._node, items))


def reduce_axis(array: Array, kind: str, axis: int | None, ddof: int = 0) -> Array:
    """A reduction along one axis, or of all elements."""
    axis = None if axis is None else operator.index(axis)
    if axis is None or (array.ndim == 1 and axis in (0, -1)):
        return array._reduce(kind, ddof)
    if not -array.ndim <= axis < array.ndim:
        raise InvalidArgumentError(
            f"{kind}: axis out of range: axis={axis}, dimensions={array.ndim}"
        )
    mark(kind)
    return array_of(_core.reduction_axis(kind, array._node, axis % array.ndim, ddof))
