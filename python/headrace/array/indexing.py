# SPDX-License-Identifier: Apache-2.0
"""NumPy's rules of indexing: views by slices, elements by arrays of positions and masks."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any

from headrace import _core
from headrace.array import views
from headrace.array.construct import asarray, selector
from headrace.array.layout import (
    broadcast_shapes,
    broadcast_to,
    expand_dims,
    in_dim,
    iota,
    permute_dims,
)
from headrace.errors import InvalidArgumentError, OutOfBoundsError, TypeMismatchError
from headrace.interop.exchange import fresh_array
from headrace.lazy.handle import Deferred, array_of, is_array, mark

if TYPE_CHECKING:
    from headrace.array.array import Array

Item = tuple[int, int, int]


def _is_array(key: Any) -> bool:
    if isinstance(key, Deferred):
        return not is_array(key) or key.ndim > 0 or key.dtype == "bool"
    if isinstance(key, list):
        return True
    return type(key).__module__ == "numpy" and (
        bool(getattr(key, "ndim", 0)) or key.dtype == "bool"
    )


def _index(key: Any) -> int:
    try:
        return operator.index(key)
    except TypeError:
        raise TypeMismatchError(
            "getitem: expected an integer or a slice as index: "
            f"type={type(key).__name__!r}; a mask or an array of positions selects along "
            "the first axis: x[mask]"
        ) from None


def _expanded(array: Array, key: Any) -> tuple[list[Any], bool]:
    """The items of a key, one for each axis, with new axes as None and arrays as ours.

    And whether an ellipsis over no axis parts indices, as one over some does.
    """
    keys = [
        selector(each) if _is_array(each) or isinstance(each, bool) else each
        for each in (key if isinstance(key, tuple) else (key,))
    ]
    consumed = sum(
        each.ndim if is_array(each) and each.dtype == "bool" else 1
        for each in keys
        if each is not None and each is not Ellipsis
    )
    if consumed > array.ndim:
        raise OutOfBoundsError(
            f"getitem: too many indices: indices={consumed}, dimensions={array.ndim}"
        )
    dots = [place for place, each in enumerate(keys) if each is Ellipsis]
    if len(dots) > 1:
        raise OutOfBoundsError("getitem: an index has one ellipsis at most")
    whole = [slice(None)] * (array.ndim - consumed)
    at = dots[0] if dots else len(keys)
    before, after = keys[:at], keys[at + 1 :]
    expanded = [*before, *whole, *after]
    if any(map(is_array, expanded)):
        _compare_masks(array, expanded)
    return expanded, any(map(_is_index, before)) and any(map(_is_index, after))


def _is_index(key: Any) -> bool:
    """Whether it is a position or an array, not a slice, new axis or ellipsis."""
    return not (key is None or key is Ellipsis or isinstance(key, slice))


def _is_positions(key: Any) -> bool:
    """Whether it is an array of ours without masks."""
    return is_array(key) and key._node.dtype != "bool"


def _is_flag(key: Any) -> bool:
    """Whether it is a mask without dimensions."""
    return is_array(key) and not key.ndim and bool(key.dtype == "bool")


def _axes_of(keys: list[Any]) -> list[int]:
    """The axis of the array where each item of an expanded key begins."""
    axes, axis = [], 0
    for each in keys:
        axes.append(axis)
        if each is not None:
            axis += each.ndim if is_array(each) and each.dtype == "bool" else 1
    return axes


def _compare_masks(array: Array, keys: list[Any]) -> None:
    """Refuse masks of another shape than the axes that they cover; no element fits any axis."""
    for axis, mask in zip(_axes_of(keys), keys, strict=True):
        if not (is_array(mask) and mask.dtype == "bool" and mask.ndim):
            continue
        covered = array.shape[axis : axis + mask.ndim]
        if any(own not in (0, size) for own, size in zip(mask.shape, covered, strict=True)):
            raise OutOfBoundsError(
                f"getitem: the mask has another shape than the axes that it covers: "
                f"mask={mask.shape}, axes={covered}, first={axis}"
            )


def _slice_item(cut: slice, size: int) -> Item:
    picked = range(*cut.indices(size))
    count = len(picked)
    # A step beyond the one element means nothing, and may be beyond 64 bits.
    return (picked.start if count else 0, picked.step if count > 1 else 1, count)


def _index_item(key: Any, axis: int, size: int) -> Item:
    index = _index(key)
    if not -size <= index < size:
        raise OutOfBoundsError(
            f"getitem: index out of range: index={index}, axis={axis}, size={size}"
        )
    return (index % size, 0, 1)


def _trimmed(array: Array, keys: list[Any]) -> Array | None:
    """A slice that cuts both ends of a length not known yet: it needs none, so it stays lazy."""
    if not (array._node.shape and array._node.shape[0] < 0 and isinstance(keys[0], slice)):
        return None
    cut = keys[0]
    first, last = cut.start or 0, -(cut.stop or 0)
    if cut.step in (None, 1) and first >= 0 and last >= 0 and cut.stop != 0:
        node = _core.trim(array._node, first, last) if first or last else array._node
        trimmed = views.view_of(array, node, views.TRIMMED, (first, last))
        rest = keys[1:]
        if all(each == slice(None) for each in rest):
            return trimmed
        return trimmed[(slice(None), *rest)] if first or last else None
    return None


def _view(array: Array, keys: list[Any], is_element: bool = False) -> Array:
    """The view by slices, integers and new axes; an element is no view, as NumPy's is a number."""
    axes = [each for each in keys if each is not None]
    plain = all(each == slice(None) for each in axes[:1])
    sizes = array._node.shape if plain and array._node.shape[:1] < (0,) else list(array.shape)
    items: list[Item] = []
    for axis, (each, size) in enumerate(zip(axes, sizes, strict=True)):
        if not isinstance(each, slice):
            items.append(_index_item(each, axis, size))
        else:
            items.append((0, 1, -1) if size < 0 else _slice_item(each, size))
    is_whole = all(item == (0, 1, size) for item, size in zip(items, sizes, strict=True))
    node = array._node if is_whole else _core.view(array._node, items)
    if is_element:
        return array_of(node)
    made = views.view_of(array, node, views.WHOLE if is_whole else views.ITEMS, items)
    if None in keys:
        left = [each for each in keys if each is None or isinstance(each, slice)]
        made = expand_dims(made, tuple(d for d, each in enumerate(left) if each is None))
    return made


def _positions(keys: list[Any]) -> list[Any]:
    """Masks as the positions where they are true, one array for each of their axes."""
    spread: list[Any] = []
    for each in keys:
        if is_array(each) and each.dtype == "bool":
            spread += true_positions(each) or [_one_or_none(each)]
        else:
            spread.append(each)
    return spread


def _one_or_none(flag: Any) -> Any:
    """A mask without dimensions: a new axis of one element or of none."""
    return asarray([0] if flag.item() else [], "int64")


def true_positions(mask: Array) -> list[Array]:
    """For each axis of a mask the positions where it is true, in row-major order."""
    mark("nonzero")
    flat = array_of(_core.nonzero(mask.reshape(-1)._node))
    found: list[Array] = []
    for size in reversed(mask.shape[1:]):
        found.insert(0, flat % size)
        flat = flat // size
    if mask.ndim:
        found.insert(0, flat)
    for each in found:
        each.shape  # noqa: B018 (evaluates the length)
    return found


def _spread(array: Array, keys: list[Any]) -> tuple[Array, list[Any]]:
    """The key with positions for its masks, and the array as it indexes it.

    A mask without dimensions has an axis of its own.
    """
    flags = [axis for axis, each in zip(_axes_of(keys), keys, strict=True) if _is_flag(each)]
    if flags:
        array = expand_dims(array, tuple(axis + more for more, axis in enumerate(flags)))
    spread = [
        _position(each) if _is_index(each) and not is_array(each) else each
        for each in _positions(keys)
    ]
    return array, spread


def _position(key: Any) -> Array:
    """An integer as positions without dimensions, in memory of its own."""
    import numpy as np

    return fresh_array(np.array(_index(key), "int64"))


def _indexed(spread: list[Any]) -> tuple[list[int], bool]:
    """The places of arrays in a spread key, and whether they adjoin."""
    places = [d for d, each in enumerate(spread) if is_array(each)]
    return places, places == list(range(places[0], places[-1] + 1))


def get_item(array: Array, key: Any) -> Array:
    """See `Array.__getitem__`."""
    mark("getitem")
    if (isinstance(key, Deferred | list) or _is_array(key)) and array.ndim:
        picked = selector(key)
        if picked.ndim == 1:
            return _picked_rows(array, picked)
    if isinstance(key, tuple) and 0 < len(key) <= array.ndim and all(map(_is_positions, key)):
        return array_of(_core.gather_elements(array._node, [each._node for each in key]))
    keys, is_parted = _expanded(array, key)
    if not any(is_array(each) for each in keys):
        trimmed = _trimmed(array, keys) if keys and None not in keys else None
        if trimmed is not None:
            return trimmed
        given = key if isinstance(key, tuple) else (key,)
        is_element = len(given) == array.ndim and all(map(_is_index, given))
        return _view(array, keys, is_element)
    return _gathered(array, keys, is_parted)


def _picked_rows(array: Array, picked: Array) -> Array:
    """Rows by one mask or one array of positions."""
    if picked.dtype == "bool":
        size, rows = picked._node.shape[0], array._node.shape[0]
        if min(size, rows) >= 0 and size != rows:  # known, so it raises here
            _compare_masks(array, [picked])
            return _view(array, [slice(0, 0)] + [slice(None)] * (array.ndim - 1))
        return array_of(_core.filter(array._node, picked._node))
    return array_of(_core.take(array._node, picked._node))


def _gathered(array: Array, keys: list[Any], is_parted: bool) -> Array:
    """Elements by arrays of positions, NumPy's order of axes."""
    array, spread = _spread(array, keys)
    places, together = _indexed(spread)
    view = _view(array, [slice(None) if is_array(each) else each for each in spread])
    rest = [d for d in range(view.ndim) if d not in places]
    front = permute_dims(view, [*places, *rest])
    mark("getitem")
    made = array_of(_core.gather_elements(front._node, [spread[d]._node for d in places]))
    own = made.ndim - len(rest)
    if is_parted or not together or places[0] == 0 or not own:
        return made
    before = places[0]
    order = [*range(own, own + before), *range(own), *range(own + before, made.ndim)]
    return permute_dims(made, order)


# ---- assignment ----------------------------------------------------------------------------------
def _value(array: Array, value: Any) -> Array:
    """What is assigned, in the dtype of the array."""
    dtype = str(array.dtype)
    if isinstance(value, Deferred):
        given = asarray(value)
        # A view, or an element, would keep the array from being written in place.
        if is_array(value) and (views.share_memory(value, array) or not value.ndim):
            given = _copied(given)
    else:
        import numpy as np

        # Their own copy of NumPy's values: over memory that its owner may write the update would
        # run here, while this handle still refers to the array, which would have to be copied.
        if isinstance(value, np.ndarray | np.generic):
            given = fresh_array(np.array(value))
        elif hasattr(value, "dtype"):
            given = asarray(value)
        else:
            given = fresh_array(np.array(value, dtype))
    return given if str(given.dtype) == dtype else given.astype(dtype)


def _copied(value: Array) -> Array:
    """The value by a node that has memory of its own once it ran."""
    if -1 in value._node.shape:
        return value
    line = value if value.ndim else value.reshape(1)
    return array_of(_core.concatenate([line._node], 0))


def _fitted(value: Array, shape: tuple[int, ...]) -> Array:
    """The value repeated to a shape, without leading axes of one element that it has not."""
    while value.ndim > len(shape) and value.shape[0] == 1:
        value = value[0]
    return broadcast_to(value, shape)


def set_part(array: Array, part: Array, value: Any) -> None:
    """Assign to a view that was just taken of all of an array's elements."""
    if not (is_array(value) and views.is_the_view(value, array, part)):
        set_item(part, Ellipsis, value)


def set_item(array: Array, key: Any, value: Any) -> None:
    """See `Array.__setitem__`."""
    if is_array(value) and value._origin and views.is_the_view(value, array, get_item(array, key)):
        return  # `x[key] += values` has changed it
    mark("setitem")
    given = _value(array, value)
    keys, is_parted = _expanded(array, key)
    if not any(is_array(each) for each in keys):
        view = _view(array, keys)
        views.rebind(view, _assigned(given, view.shape)._node)
        return
    mask = keys[0]
    arrays = [each for each in keys if is_array(each)]
    whole = all(each == slice(None) for each in keys[1:] if not is_array(each))
    is_mask = mask is arrays[0] and len(arrays) == 1 and mask.dtype == "bool" and mask.ndim
    covers = is_mask and mask.shape == array.shape[: mask.ndim]
    if covers and whole and list(given._node.shape) in ([], [1]):
        views.rebind(array, _masked(array, mask, given.reshape(()))._node)
        return
    for axis, each in zip(_axes_of(keys), keys, strict=True):
        if _is_index(each):
            _check_positions(each, axis, array.shape)
    base, spread = _spread(array, keys)
    indices, shape = _element_positions(base, spread, is_parted)
    fitted = _assigned(given, shape)
    mark("setitem")
    node = _core.scatter_elements(base._node, [each._node for each in indices], fitted._node)
    views.rebind(array, _core.reshape(node, list(array.shape)) if base is not array else node)


def _assigned(given: Array, shape: tuple[int, ...]) -> Array:
    """The values repeated to the shape of what they are assigned to."""
    try:
        return _fitted(given, shape)
    except InvalidArgumentError:
        raise InvalidArgumentError(
            f"setitem: the values do not fit: values={given.shape}, selected={shape}"
        ) from None


def _check_positions(key: Any, axis: int, shape: tuple[int, ...]) -> None:
    """Refuse positions out of range now: an update that fails when it runs would lose the array."""
    if not is_array(key):
        low = high = _index(key)
    elif key.dtype.kind in "iu" and key.size:
        _core.force([key._node])
        low, high = int(key.min()), int(key.max())
    else:
        return
    size = shape[axis]
    if low < -size or high >= size:
        raise OutOfBoundsError(
            f"setitem: index out of range: index={low if low < -size else high}, axis={axis}, "
            f"size={size}"
        )


def _element_positions(
    array: Array, spread: list[Any], is_parted: bool
) -> tuple[list[Array], tuple[int, ...]]:
    """The positions of what a key picks along each axis, and its shape.

    Last axes of which all is picked need no positions.
    """
    sizes = list(array.shape)
    rows: list[int] = []
    while not is_array(spread[-1]) and spread[-1] == slice(None):
        spread = spread[:-1]
        rows.insert(0, sizes.pop())
    places, together = _indexed(spread)
    own = broadcast_shapes(*(spread[d].shape for d in places))
    first = 0 if is_parted or not together else places[0]
    # What slices and new axes pick along each of their axes.
    lines: list[Array | None] = []
    picked: list[int] = []
    axis = 0
    for each in spread:
        if each is not None:
            axis += 1
        if is_array(each):
            continue
        begin, step, count = (0, 1, 1) if each is None else _slice_item(each, sizes[axis - 1])
        lines.append(None if each is None else iota(count, array) * step + begin)
        picked.append(count)
    shape = (*picked[:first], *own, *picked[first:])
    indices: list[Array] = []
    line = 0
    for each in spread:
        if is_array(each):
            end = first + len(own)
            indices.append(in_dim(each, shape, range(end - each.ndim, end)))
            continue
        along = lines[line]
        if along is not None:
            indices.append(in_dim(along, shape, [line if line < first else line + len(own)]))
        line += 1
    return indices, (*shape, *rows)


def _masked(array: Array, mask: Array, value: Array) -> Array:
    spread = in_dim(mask, array.shape, range(mask.ndim)) if mask.ndim < array.ndim else mask
    return array._elementwise("where", spread, value, array)
