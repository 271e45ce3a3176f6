# SPDX-License-Identifier: Apache-2.0
"""Axes of arrays: views that move, repeat and add them, and arrays put together of others."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any

from headrace import _core
from headrace.array import views
from headrace.array.construct import asarray
from headrace.errors import InvalidArgumentError
from headrace.lazy.handle import Deferred, array_of, mark

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from headrace.array.array import Array

    Shape = tuple[int, ...]


class AxisError(InvalidArgumentError, IndexError):
    """An axis that the array does not have."""


def axis_number(op: str, axis: Any, dimensions: int) -> int:
    """An axis counted from the first."""
    number = operator.index(axis)
    if not -dimensions <= number < dimensions:
        raise AxisError(f"{op}: axis out of range: axis={axis}, dimensions={dimensions}")
    return number % dimensions


def axis_numbers(op: str, axes: Any, dimensions: int) -> tuple[int, ...]:
    """Axes counted from the first, all different; None: all."""
    if axes is None:
        return tuple(range(dimensions))
    given = axes if isinstance(axes, tuple | list) else (axes,)
    numbers = tuple(axis_number(op, axis, dimensions) for axis in given)
    if len(set(numbers)) < len(numbers):
        raise InvalidArgumentError(f"{op}: an axis is named twice: axis={axes}")
    return numbers


def is_count(value: Any) -> bool:
    """Whether this is one integer, not an array of some."""
    return hasattr(value, "__index__") and not getattr(value, "ndim", 0)


def known_shape(array: Array) -> Shape:
    """The shape; runs the plan where it depends on the data."""
    return array.shape


def in_dim(array: Array, shape: Shape, axes: Sequence[int]) -> Array:
    """A view of `shape` whose `axes` are those of the array, one after the other."""
    known_shape(array)
    return array_of(_core.broadcast_in_dim(array._node, list(shape), list(axes)))


def broadcast_to(array: Array, shape: Shape) -> Array:
    """The array repeated along new and one-element axes, without a copy."""
    mark("broadcast_to")
    shape = tuple(operator.index(size) for size in shape)
    return in_dim(array, shape, range(len(shape) - array.ndim, len(shape)))


def expand_dims(array: Array, axis: Any = 0) -> Array:
    """A view with axes of one element at the places `axis` of the result."""
    mark("expand_dims")
    count = len(axis) if isinstance(axis, tuple | list) else 1
    fresh = axis_numbers("expand_dims", axis, array.ndim + count)
    rest = [place for place in range(array.ndim + count) if place not in fresh]
    own = known_shape(array)
    sizes = dict(zip(rest, own, strict=True))
    shape = [sizes.get(d, 1) for d in range(array.ndim + count)]
    node = _core.broadcast_in_dim(array._node, shape, rest)
    return views.view_of(array, node, views.SHAPE, shape)


def squeeze(array: Array, axis: Any = None) -> Array:
    """A view without axes of one element."""
    mark("squeeze")
    shape = array.shape
    every = tuple(d for d, size in enumerate(shape) if size == 1)
    gone = every if axis is None else axis_numbers("squeeze", axis, array.ndim)
    for place in gone:
        if shape[place] != 1:
            raise InvalidArgumentError(
                f"squeeze: the axis has more than one element: axis={place}, size={shape[place]}"
            )
    items = [(0, 0, 1) if d in gone else (0, 1, size) for d, size in enumerate(shape)]
    made = [size for d, size in enumerate(shape) if d not in gone]
    return views.view_of(array, _core.view(array._node, items), views.SHAPE, made)


def permute_dims(array: Array, axes: Sequence[int]) -> Array:
    """A view with the axes in another order."""
    mark("transpose")
    order = [axis_number("transpose", axis, array.ndim) for axis in axes]
    return views.transpose(array, order)


def moveaxis(array: Array, source: Any, destination: Any) -> Array:
    """A view with some axes at other places."""
    mark("moveaxis")
    origins = axis_numbers("moveaxis", source, array.ndim)
    places = axis_numbers("moveaxis", destination, array.ndim)
    if len(origins) != len(places):
        raise InvalidArgumentError(
            f"moveaxis: source and destination differ in length: source={source}, "
            f"destination={destination}"
        )
    order = [axis for axis in range(array.ndim) if axis not in origins]
    for place, origin in sorted(zip(places, origins, strict=True)):
        order.insert(place, origin)
    return permute_dims(array, order)


def flip(array: Array, axis: Any = None) -> Array:
    """A view with the elements along axes in reverse order."""
    mark("flip")
    turned = axis_numbers("flip", axis, array.ndim)
    items = [
        (max(size - 1, 0), -1, size) if d in turned else (0, 1, size)
        for d, size in enumerate(array.shape)
    ]
    return views.view_of(array, _core.view(array._node, items), views.FLIPPED, items)


def arrays_of_one_dtype(op: str, values: Iterable[Any]) -> list[Array]:
    """Arrays in the dtype that they have in common, with known shapes."""
    arrays = [asarray(value) for value in values]
    if not arrays:
        raise InvalidArgumentError(f"{op}: expected at least one array: arrays=0")
    word = common_dtype(*arrays)
    arrays = [array if str(array.dtype) == word else array.astype(word) for array in arrays]
    for array in arrays:
        known_shape(array)
    return arrays


def common_dtype(*values: Any) -> str:
    """NumPy's promotion of dtypes, and of Python's numbers next to them."""
    import numpy as np

    given = [np.dtype(str(v.dtype)) if isinstance(v, Deferred) else v for v in values]
    return np.result_type(*given).name


def concatenate(values: Sequence[Any], axis: int | None = 0) -> Array:
    """Arrays one after the other along an axis; None: of their elements."""
    arrays = arrays_of_one_dtype("concatenate", values)
    if axis is None:
        arrays, axis = [array.reshape(-1) for array in arrays], 0
    mark("concatenate")
    if arrays[0].ndim == 0:
        raise InvalidArgumentError("concatenate: arrays without dimensions have no axis; use stack")
    along = axis_number("concatenate", axis, arrays[0].ndim)
    return array_of(_core.concatenate([array._node for array in arrays], along))


def stack(values: Sequence[Any], axis: int = 0) -> Array:
    """Arrays of one shape along a new axis."""
    arrays = arrays_of_one_dtype("stack", values)
    if any(array.shape != arrays[0].shape for array in arrays):
        raise InvalidArgumentError(
            f"stack: the arrays differ in shape: shapes={[array.shape for array in arrays]}"
        )
    along = axis_number("stack", axis, arrays[0].ndim + 1)
    return concatenate([expand_dims(array, along) for array in arrays], along)


def unstack(array: Array, axis: int = 0) -> tuple[Array, ...]:
    """Views of the parts along an axis."""
    along = axis_number("unstack", axis, array.ndim)
    lead = (slice(None),) * along
    return tuple(array[(*lead, place)] for place in range(array.shape[along]))


def roll(array: Array, shift: Any, axis: Any = None) -> Array:
    """Elements moved along axes, those beyond the end to the beginning."""
    if axis is None:
        total = shift if is_count(shift) else sum(int(by) for by in shift)
        return roll(array.reshape(-1), total, 0).reshape(array.shape)
    array = array_of(array._node)
    axes = axis if isinstance(axis, tuple | list) else (axis,)
    shifts = (shift,) * len(axes) if is_count(shift) else tuple(int(by) for by in shift)
    if len(shifts) == 1 < len(axes):
        shifts = tuple(shifts) * len(axes)
    for by, each in zip(shifts, axes, strict=True):
        along = axis_number("roll", each, array.ndim)
        size = array.shape[along]
        cut = size and -operator.index(by) % size
        if cut:
            lead = (slice(None),) * along
            parts = [array[(*lead, slice(cut, None))], array[(*lead, slice(None, cut))]]
            array = concatenate(parts, along)
    return array


def tile(array: Array, repetitions: Any) -> Array:
    """The array repeated as a whole along each axis."""
    counts = (repetitions,) if is_count(repetitions) else tuple(repetitions)
    counts = tuple(operator.index(count) for count in counts)
    shape = array.shape
    counts = (1,) * (len(shape) - len(counts)) + counts
    shape = (1,) * (len(counts) - len(shape)) + shape
    pairs = [size for count, own in zip(counts, shape, strict=True) for size in (count, own)]
    places = range(2 * (len(shape) - array.ndim) + 1, 2 * len(shape), 2)
    mark("tile")
    return in_dim(array, tuple(pairs), places).reshape(
        tuple(count * own for count, own in zip(counts, shape, strict=True))
    )


def repeat(array: Array, repeats: Any, axis: int | None = None) -> Array:
    """Each element or slice along an axis several times."""
    if axis is None:
        return repeat(array.reshape(-1), repeats, 0)
    along = axis_number("repeat", axis, array.ndim)
    size = array.shape[along]
    mark("repeat")
    if is_count(repeats):
        shape = array.shape
        wide = (*shape[: along + 1], operator.index(repeats), *shape[along + 1 :])
        places = [*range(along + 1), *range(along + 2, array.ndim + 1)]
        out = (*shape[:along], size * operator.index(repeats), *shape[along + 1 :])
        return in_dim(array, wide, places).reshape(out)
    import numpy as np

    counts = np.broadcast_to(np.asarray(repeats), (size,))
    rows = asarray(np.repeat(np.arange(size), counts))
    return array[(slice(None),) * along + (rows,)]


def broadcast_shapes(*shapes: Shape) -> Shape:
    """The shape that all broadcast to."""
    made: list[int] = []
    for shape in shapes:
        made = [1] * (len(shape) - len(made)) + made
        for place in range(1, len(shape) + 1):
            size = shape[-place]
            if size != made[-place] and size != 1:
                if made[-place] != 1:
                    raise InvalidArgumentError(
                        f"broadcast: the shapes cannot be broadcast: shapes={shapes}"
                    )
                made[-place] = size
    return tuple(made)


def broadcast_arrays(*arrays: Array) -> list[Array]:
    """Views of one shape."""
    shape = broadcast_shapes(*(array.shape for array in arrays))
    return [broadcast_to(array, shape) for array in arrays]


def iota(count: int, near: Array | None = None) -> Array:
    """The numbers 0, 1, ..., as int64, made when they are needed, on the device of `near`."""
    return array_of(_core.iota(count, None if near is None else near._node))


def meshgrid(*arrays: Array, indexing: str = "xy") -> list[Array]:
    """Each array along an axis of its own, as views of one shape."""
    if indexing not in ("xy", "ij"):
        raise InvalidArgumentError(f"meshgrid: unknown indexing: indexing={indexing!r}; use 'xy'")
    dimensions = len(arrays)
    order = list(range(dimensions))
    if indexing == "xy" and dimensions > 1:
        order[:2] = [1, 0]
    sizes = [0] * dimensions
    flat = [array.reshape(-1) for array in arrays]
    for place, array in zip(order, flat, strict=True):
        sizes[place] = array.size
    return [in_dim(array, tuple(sizes), [place]) for place, array in zip(order, flat, strict=True)]


def triangle(array: Array, k: int, *, lower: bool) -> Array:
    """Each matrix with zeros above, or below, diagonal `k`."""
    if array.ndim < 2:
        raise InvalidArgumentError(f"tril: expected a matrix: dimensions={array.ndim}")
    rows = expand_dims(iota(array.shape[-2], array), 1)
    columns = iota(array.shape[-1], array)
    kept = columns <= rows + k if lower else columns >= rows + k
    return array._elementwise("where", kept, array, False if array.dtype == "bool" else 0)
