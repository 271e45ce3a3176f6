# SPDX-License-Identifier: Apache-2.0
"""Manipulation functions of the array API standard."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from headrace.array import layout
from headrace.array.construct import asarray as _asarray
from headrace.errors import InvalidArgumentError

if TYPE_CHECKING:
    from headrace.array.array import Array


def broadcast_arrays(*arrays: Any) -> tuple[Array, ...]:
    """Views of one shape.

    >>> [x.shape for x in hr.array_api.broadcast_arrays(hr.asarray([1, 2]), hr.asarray([[3]]))]
    [(1, 2), (1, 2)]
    """
    return tuple(layout.broadcast_arrays(*arrays))


def broadcast_shapes(*shapes: tuple[int, ...]) -> tuple[int, ...]:
    """The shape that all broadcast to.

    >>> hr.array_api.broadcast_shapes((2, 1), (3,))
    (2, 3)
    """
    return layout.broadcast_shapes(*shapes)


def broadcast_to(x: Any, /, shape: tuple[int, ...]) -> Array:
    """A view that repeats an array.

    >>> hr.array_api.broadcast_to(hr.asarray([1, 2]), (2, 2)).tolist()
    [[1, 2], [1, 2]]
    """
    return layout.broadcast_to(x, shape)


def concat(arrays: Any, /, *, axis: int | None = 0) -> Array:
    """Arrays one after the other along an axis.

    >>> hr.array_api.concat([hr.asarray([1]), hr.asarray([2, 3])]).tolist()
    [1, 2, 3]
    """
    return layout.concatenate(arrays, axis)


def expand_dims(x: Any, /, axis: int | tuple[int, ...]) -> Array:
    """A view with new axes of one element.

    >>> hr.array_api.expand_dims(hr.asarray([1, 2]), axis=1).shape
    (2, 1)
    """
    return layout.expand_dims(x, axis)


def flip(x: Any, /, *, axis: int | tuple[int, ...] | None = None) -> Array:
    """A view in reverse order.

    >>> hr.array_api.flip(hr.asarray([1, 2])).tolist()
    [2, 1]
    """
    return layout.flip(x, axis)


def moveaxis(x: Any, source: int | tuple[int, ...], destination: int | tuple[int, ...], /) -> Array:
    """A view with axes at other places.

    >>> hr.array_api.moveaxis(hr.array_api.zeros((1, 2, 3)), 0, -1).shape
    (2, 3, 1)
    """
    return layout.moveaxis(x, source, destination)


def permute_dims(x: Any, /, axes: tuple[int, ...]) -> Array:
    """A view with the axes in another order.

    >>> hr.array_api.permute_dims(hr.asarray([[1, 2]]), (1, 0)).shape
    (2, 1)
    """
    return layout.permute_dims(x, axes)


def repeat(x: Any, repeats: Any, /, *, axis: int | None = None) -> Array:
    """Each element several times.

    >>> hr.array_api.repeat(hr.asarray([1, 2]), 2).tolist()
    [1, 1, 2, 2]
    """
    return layout.repeat(x, repeats, axis)


def reshape(x: Any, /, shape: tuple[int, ...], *, copy: Any = None) -> Array:
    """The same elements in another shape, a view where they lie so; `copy=True` is never a view.

    >>> hr.array_api.reshape(hr.asarray([1, 2]), (2, 1)).tolist()
    [[1], [2]]
    """
    made = _asarray(x).reshape(shape)
    if copy is False and made._origin is None:
        raise InvalidArgumentError(
            f"reshape: another layout needs a copy: shape={tuple(x.shape)}, wanted={shape}; use "
            "copy=None"
        )
    return made.copy() if copy else made


def roll(
    x: Any, /, shift: int | tuple[int, ...], *, axis: int | tuple[int, ...] | None = None
) -> Array:
    """Elements moved along axes, those beyond the end to the beginning.

    >>> hr.array_api.roll(hr.asarray([1, 2, 3]), 1).tolist()
    [3, 1, 2]
    """
    return layout.roll(x, shift, axis)


def squeeze(x: Any, /, axis: int | tuple[int, ...]) -> Array:
    """A view without axes of one element.

    >>> hr.array_api.squeeze(hr.asarray([[1, 2]]), axis=0).shape
    (2,)
    """
    return layout.squeeze(x, axis)


def stack(arrays: Any, /, *, axis: int = 0) -> Array:
    """Arrays along a new axis.

    >>> hr.array_api.stack([hr.asarray([1]), hr.asarray([2])]).tolist()
    [[1], [2]]
    """
    return layout.stack(arrays, axis)


def tile(x: Any, repetitions: tuple[int, ...], /) -> Array:
    """An array repeated as a whole.

    >>> hr.array_api.tile(hr.asarray([1, 2]), (2,)).tolist()
    [1, 2, 1, 2]
    """
    return layout.tile(x, repetitions)


def unstack(x: Any, /, *, axis: int = 0) -> tuple[Array, ...]:
    """Views of the parts along an axis.

    >>> [part.tolist() for part in hr.array_api.unstack(hr.asarray([[1, 2], [3, 4]]))]
    [[1, 2], [3, 4]]
    """
    return layout.unstack(x, axis)
