# SPDX-License-Identifier: Apache-2.0
"""Reductions of arrays over any axes, and running ones."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from headrace import _core
from headrace.array.complex_numbers import complex_of, imag, is_complex, real
from headrace.array.construct import asarray
from headrace.array.layout import axis_number, axis_numbers, concatenate, in_dim, permute_dims
from headrace.errors import TypeMismatchError
from headrace.lazy.handle import array_of, mark
from headrace.lazy.numpy_fallback import through_numpy

if TYPE_CHECKING:
    from headrace.array.array import Array


def reduce_axes(
    array: Array, kind: str, axis: Any = None, keepdims: bool = False, ddof: float = 0
) -> Array:
    """A reduction over all elements, or along axes that leave the shape or stay as one element."""
    axes = axis_numbers(kind, axis, array.ndim)
    if is_complex(array):
        return _complex_reduction(array, kind, axis, keepdims, ddof)
    # A correction between integers, or of all elements: then NumPy divides by zero.
    if ddof != int(ddof) or ddof > 1:
        count = math.prod(array.shape[d] for d in axes)
        if ddof != int(ddof) or ddof >= count:
            free = max(count - ddof, 0)
            spread = reduce_axes(array, "var", axis, keepdims)
            spread = spread * (count / free) if free else spread / 0.0
            return spread._elementwise("sqrt", spread) if kind == "std" else spread
    mark(kind)
    if not axes and array.ndim:  # no axis: every element for itself
        array = in_dim(array, (*array.shape, 1), range(array.ndim))
        return array_of(_core.reduction_axis(kind, array._node, array.ndim - 1, int(ddof)))
    if len(axes) == array.ndim:
        made = array._reduce(kind, int(ddof))
    elif len(axes) == 1:
        made = array_of(_core.reduction_axis(kind, array._node, axes[0], int(ddof)))
    else:
        rest = [d for d in range(array.ndim) if d not in axes]
        count = math.prod(array.shape[d] for d in axes)
        lines = permute_dims(array, [*rest, *axes])
        lines = lines.reshape((*(array.shape[d] for d in rest), count))
        mark(kind)
        made = array_of(_core.reduction_axis(kind, lines._node, len(rest), int(ddof)))
    return kept(made, array.shape, axes) if keepdims else made


def kept(made: Array, shape: tuple[int, ...], axes: tuple[int, ...]) -> Array:
    """A reduced array with its axes as axes of one element."""
    wide = tuple(1 if d in axes else size for d, size in enumerate(shape))
    return in_dim(made, wide, [d for d in range(len(shape)) if d not in axes])


def _complex_reduction(array: Array, kind: str, axis: Any, keepdims: bool, ddof: float) -> Array:
    if kind in ("sum", "mean"):
        parts = (reduce_axes(part, kind, axis, keepdims) for part in (real(array), imag(array)))
        return complex_of(*parts)
    if kind in ("any", "all"):
        return reduce_axes(array.astype("bool"), kind, axis, keepdims)
    if kind in ("var", "std"):
        squares = reduce_axes(real(array), "var", axis, keepdims, ddof)
        squares = squares + reduce_axes(imag(array), "var", axis, keepdims, ddof)
        return squares._elementwise("sqrt", squares) if kind == "std" else squares
    if kind == "prod":
        axes = axis_numbers(kind, axis, array.ndim)
        made = array
        for place in sorted(axes, reverse=True):
            made = _complex_product(made, place)
        return kept(made, array.shape, axes) if keepdims else made
    raise TypeMismatchError(
        f"{kind}: complex numbers have no order: dtype={array.dtype}; use abs, .real or .imag"
    )


def _complex_product(array: Array, axis: int) -> Array:
    """Neighbours multiplied until one is left: the same order for any number of threads."""
    lead = (slice(None),) * axis
    while (size := array.shape[axis]) > 1:
        half = size // 2
        pairs = array[(*lead, slice(0, 2 * half, 2))] * array[(*lead, slice(1, 2 * half, 2))]
        if size % 2:
            pairs = concatenate([pairs, array[(*lead, slice(2 * half, None))]], axis)
        array = pairs
    if array.shape[axis]:
        return array[(*lead, 0)].copy()
    shape = array.shape[:axis] + array.shape[axis + 1 :]
    return in_dim(asarray(1).astype(str(array.dtype)), shape, [])


def cumulative(array: Array, product: bool, axis: Any = None, initial: bool = False) -> Array:
    """Running sums or products along an axis, of a bool or a narrow integer in 64 bits."""
    name = "cumulative_prod" if product else "cumulative_sum"
    if axis is None:
        array, axis = array.reshape(-1), 0
    along = axis_number(name, axis, array.ndim)
    kind = array.dtype.kind
    if kind in "biu" and array.dtype.itemsize < 8:
        array = array.astype("uint64" if kind == "u" else "int64")
    if is_complex(array) and product:
        import numpy as np

        options = {"axis": along, "include_initial": initial}
        return asarray(through_numpy(name, np.cumulative_prod, (array,), options))
    if is_complex(array):
        parts = (cumulative(part, product, axis, initial) for part in (real(array), imag(array)))
        return complex_of(*parts)
    mark(name)
    return array_of(_core.cumulative_axis(product, array._node, along, initial))
