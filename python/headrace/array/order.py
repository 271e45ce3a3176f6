# SPDX-License-Identifier: Apache-2.0
"""Arrays in order: sorts along an axis, searches, what occurs in them."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any, NamedTuple

from headrace import _core
from headrace.array.complex_numbers import is_complex
from headrace.array.construct import asarray
from headrace.array.indexing import true_positions
from headrace.array.layout import (
    axis_number,
    common_dtype,
    concatenate,
    expand_dims,
    iota,
    moveaxis,
)
from headrace.errors import InvalidArgumentError, TypeMismatchError
from headrace.lazy.handle import array_of, mark
from headrace.lazy.numpy_fallback import through_numpy

if TYPE_CHECKING:
    from headrace.array.array import Array


class UniqueAll(NamedTuple):
    """Values that occur, where first, which of them each element is, and how often."""

    values: Array
    indices: Array
    inverse_indices: Array
    counts: Array


class UniqueCounts(NamedTuple):
    """Values that occur and how often."""

    values: Array
    counts: Array


class UniqueInverse(NamedTuple):
    """Values that occur and which of them each element is."""

    values: Array
    inverse_indices: Array


def sort(array: Array, axis: int | None = -1, descending: bool = False) -> Array:
    """Lines along an axis in order: stable, NaN last (descending: first). None: all elements."""
    return _ordered("sort", array, axis, descending)


def argsort(array: Array, axis: int | None = -1, descending: bool = False) -> Array:
    """The positions of lines along an axis in that order."""
    return _ordered("argsort", array, axis, descending)


def _ordered(op: str, array: Array, axis: int | None, descending: bool) -> Array:
    if axis is None:
        array, axis = array.reshape(-1), 0
    along = axis_number(op, axis, array.ndim)
    if is_complex(array):
        raise TypeMismatchError(
            f"{op}: complex numbers have no order: dtype={array.dtype}; use abs, .real or .imag"
        )
    last = along == array.ndim - 1
    lines = array if last else moveaxis(array, along, -1)
    mark(op)
    call = _core.sort_last_axis if op == "sort" else _core.argsort_last_axis
    made = array_of(call(lines._node, descending))
    return made if last else moveaxis(made, -1, along)


def search_sorted(line: Any, values: Any, side: str = "left", sorter: Any = None) -> Array:
    """Where values would stand in a sorted array of one dimension."""
    if side not in ("left", "right"):
        raise InvalidArgumentError(f"searchsorted: unknown side: side={side!r}; use 'left'")
    x = asarray(line)
    if isinstance(values, int) and x.dtype.kind in "iu":
        signed, bits = x.dtype.kind == "i", 8 * x.dtype.itemsize
        low, high = -signed << (bits - 1), (1 << (bits - signed)) - 1
        if not low <= values <= high:  # before all that the dtype has, or behind
            values, side = (low, "left") if values < low else (high, "right")
    # Python's numbers take the dtype of the line.
    v = asarray(values) if hasattr(values, "dtype") or not isinstance(values, int | float) else None
    if v is None or v._node.dtype != x._node.dtype:
        word = common_dtype(x, v if v is not None else values)
        v = asarray(values) if v is None else v
        x, v = (a if str(a.dtype) == word else a.astype(word) for a in (x, v))
    if sorter is not None:
        x = x[asarray(sorter)]
    mark("searchsorted")
    return array_of(_core.search_sorted(x._node, v._node, side == "right"))


def take(array: Array, positions: Any, axis: int | None = None) -> Array:
    """The parts at `positions` along an axis; None: the elements of the flat array."""
    if axis is None:
        array, axis = array.reshape(-1), 0
    along = axis_number("take", axis, array.ndim)
    picked = asarray(positions)
    picked = picked.astype("int64") if picked.dtype == "bool" else picked
    return array[(slice(None),) * along + (picked,)]


def take_along_axis(array: Array, positions: Any, axis: int | None = -1) -> Array:
    """For each line along an axis the elements at its own positions."""
    picked = asarray(positions)
    if axis is None:
        array, axis, picked = array.reshape(-1), 0, picked.reshape(-1)
    along = axis_number("take_along_axis", axis, array.ndim)
    if picked.ndim != array.ndim:
        raise InvalidArgumentError(
            f"take_along_axis: positions and array differ in dimensions: "
            f"positions={picked.ndim}, array={array.ndim}"
        )
    keys: list[Any] = []
    for d, size in enumerate(array.shape):
        others = tuple(k for k in range(array.ndim) if k != d)
        keys.append(picked if d == along else expand_dims(iota(size, array), others))
    return array[tuple(keys)]


def nonzero(array: Array) -> tuple[Array, ...]:
    """For each axis the positions of elements that are not zero, in row-major order."""
    if array.ndim == 0:
        raise InvalidArgumentError("nonzero: an array without dimensions has no positions")
    return tuple(true_positions(array if array.dtype == "bool" else array != 0))


def _runs(array: Array, equal_nan: bool) -> tuple[Array, Array, Array, Array]:
    """Elements in order, their positions, where each value begins, and that as a mask."""
    flat = array.reshape(-1)
    order = argsort(flat, 0)
    line = flat[order]
    mask = _begins(line, equal_nan)
    return line, order, true_positions(mask)[0], mask


def _begins(line: Array, equal_nan: bool) -> Array:
    """Where the elements of an ordered line differ from those before."""
    begins = line[1:] != line[:-1]
    if equal_nan and line.dtype.kind == "f":  # they come last
        begins = begins & (line[:-1] == line[:-1])
    first = asarray([True] if line.size else [], "bool")
    return concatenate([first, begins])


def unique_all(array: Array, equal_nan: bool = False) -> UniqueAll:
    """What occurs in an array, each NaN for itself unless they are equal."""
    if is_complex(array):
        import numpy as np

        asked = dict.fromkeys(("return_index", "return_inverse", "return_counts"), True)
        found = through_numpy("unique", np.unique, (array,), {**asked, "equal_nan": equal_nan})
        return UniqueAll(*(asarray(each) for each in found))
    line, order, begins, mask = _runs(array, equal_nan)
    groups = asarray(mask.astype("int64"))
    number = array_of(_core.cumulative_axis(False, groups._node, 0, False)) - 1
    inverse = array_of(_core.scatter_elements(number._node, [order._node], number._node))
    ends = concatenate([begins[1:], asarray([array.size] if array.size else [], "int64")])
    return UniqueAll(line[begins], order[begins], inverse.reshape(array.shape), ends - begins)


def unique_values(array: Array, equal_nan: bool = False) -> Array:
    """The values that occur, in order, each NaN for itself unless they are equal."""
    if is_complex(array):
        return unique_all(array, equal_nan).values
    if array.dtype.kind in "biu":  # the positions of equal ones do not matter
        line = sort(array, None)
        begins = true_positions(_begins(line, equal_nan=False))[0]
    else:
        line, _, begins, _ = _runs(array, equal_nan)
    return line[begins]


def isin(values: Any, among: Any, invert: bool = False) -> Array:
    """For each element whether it is one of those of another array."""
    x, others = asarray(values), asarray(among).reshape(-1)
    word = common_dtype(x, others)
    if word.startswith("complex"):
        import numpy as np

        return asarray(through_numpy("isin", np.isin, (x, others), {"invert": invert}))
    x, others = (a if str(a.dtype) == word else a.astype(word) for a in (x, others))
    if not others.size:
        return _all(x, invert)
    line = sort(others, 0)
    at = search_sorted(line, x)
    near = line[at._elementwise("minimum", at, line.size - 1).reshape(-1)].reshape(x.shape)
    found = near == x
    return ~found if invert else found


def top_k(array: Array, k: int, axis: int = -1, largest: bool = True) -> tuple[Array, Array]:
    """The `k` largest (or smallest) elements of each line along an axis, and their positions."""
    along = axis_number("top_k", axis, array.ndim)
    count = operator.index(k)
    if not 0 <= count <= array.shape[along]:
        raise InvalidArgumentError(
            f"top_k: the axis has fewer elements: k={count}, size={array.shape[along]}"
        )
    positions = argsort(array, along, largest)[(slice(None),) * along + (slice(0, count),)]
    return take_along_axis(array, positions, along), positions


def _all(array: Array, flag: bool) -> Array:
    return array_of(_core.broadcast_in_dim(asarray(flag)._node, list(array.shape), []))
