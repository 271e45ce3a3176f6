# SPDX-License-Identifier: Apache-2.0
"""Norms of vectors and matrices."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Literal

from headrace.errors import InvalidArgumentError
from headrace.lazy.handle import mark
from headrace.linalg.factors import svdvals
from headrace.linalg.products import operand

if TYPE_CHECKING:
    from headrace.array.array import Array


def _root(x: Array) -> Array:
    return x._elementwise("sqrt", x)


def _vector_norm(x: Array, order: Any, axis: int) -> Array:
    if order in (None, 2):
        return _root((x * x).sum(axis))
    if order == math.inf:
        return abs(x).max(axis)
    if order == -math.inf:
        return abs(x).min(axis)
    if isinstance(order, str):
        raise InvalidArgumentError(f"norm: not a norm of vectors: ord={order!r}")
    if order == 0:
        return (x != 0).astype(str(x.dtype)).sum(axis)
    if order == 1:
        return abs(x).sum(axis)
    return (abs(x) ** order).sum(axis) ** (1.0 / order)


def _matrix_norm(x: Array, order: Any) -> Array:
    """Of the last two dimensions."""
    if order in (None, "fro", "f"):
        return _root((x * x).sum(-1).sum(-1))
    if order in (1, -1, math.inf, -math.inf):
        sums = abs(x).sum(-2 if abs(order) == 1 else -1)
    elif order in (2, -2, "nuc"):
        sums = svdvals(x)
    else:
        raise InvalidArgumentError(f"norm: not a norm of matrices: ord={order!r}")
    return sums.sum(-1) if order == "nuc" else sums.max(-1) if order > 0 else sums.min(-1)


def norm(
    x: Any,
    ord: float | Literal["fro", "nuc"] | None = None,
    axis: int | tuple[int, int] | None = None,
    keepdims: bool = False,
) -> Array:
    """A norm of vectors or matrices, as `numpy.linalg.norm`: by default of all elements as one.

    >>> hr.linalg.norm([3.0, 4.0]).item()
    5.0
    """
    array = operand("norm", x)
    if array.dtype.kind != "f":
        array = array.astype("float64")
    mark("norm")
    every = array.ndim
    if axis is None and (
        ord is None or (ord == 2 and every == 1) or (ord in ("f", "fro") and every == 2)
    ):
        made = _vector_norm(array.reshape(-1), None, 0)
        return made.reshape((1,) * every) if keepdims else made
    axes = tuple(range(every)) if axis is None else axis if isinstance(axis, tuple) else (axis,)
    if len(axes) not in (1, 2) or any(not -every <= a < every for a in axes):
        raise InvalidArgumentError(f"norm: invalid axes: axis={axis}, dimensions={every}")
    own = [a % every for a in axes]
    if len(set(own)) < len(own):
        raise InvalidArgumentError(f"norm: an axis twice: axis={axis}")
    if len(own) == 1:
        made = _vector_norm(array, ord, own[0])
    else:
        rest = [a for a in range(every) if a not in own]
        made = _matrix_norm(array.transpose(*rest, *own), ord)
    if not keepdims:
        return made
    return made.reshape(tuple(1 if a in own else size for a, size in enumerate(array.shape)))
