# SPDX-License-Identifier: Apache-2.0
"""The shape of arrays, and other shapes."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from headrace import _core
from headrace.lazy.handle import array_of, mark

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
