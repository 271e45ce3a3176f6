# SPDX-License-Identifier: Apache-2.0
"""NumPy's functions of arrays by our own, with NumPy's parameters."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

from headrace.array import complex_numbers, create, layout, order
from headrace.array.axis_reductions import cumulative, reduce_axes
from headrace.array.construct import asarray
from headrace.array.numpy_results import as_ours
from headrace.array.numpy_transforms import TRANSFORMS
from headrace.errors import InvalidArgumentError
from headrace.lazy.numpy_fallback import through_numpy
from headrace.linalg import matmul

if TYPE_CHECKING:
    from collections.abc import Callable

    from headrace.array.array import Array


def _cast(array: Array, dtype: Any) -> Array:
    return array if dtype is None or array.dtype == dtype else array.astype(dtype)


def _concatenate(arrays: Any, axis: int | None = 0, dtype: Any = None) -> Array:
    return _cast(layout.concatenate(arrays, axis), dtype)


def _stack(arrays: Any, axis: int = 0, dtype: Any = None) -> Array:
    return _cast(layout.stack(list(arrays), axis), dtype)


def _at_least(array: Array, dimensions: int) -> Array:
    """With new axes as `numpy.atleast_1d`, `_2d` and `_3d` add them."""
    x = asarray(array)
    if x.ndim >= dimensions:
        return x
    if x.ndim == 2:
        return layout.expand_dims(x, 2)
    return x.reshape((1,) * (dimensions - 1 - (dimensions == 3)) + (-1,) + (1,) * (dimensions == 3))


def _each_at_least(dimensions: int) -> Callable[..., Any]:
    def call(*arrays: Any) -> Any:
        made = tuple(_at_least(array, dimensions) for array in arrays)
        return made[0] if len(made) == 1 else made

    return call


def _vertical(arrays: Any, dtype: Any = None) -> Array:
    return _concatenate([_at_least(array, 2) for array in arrays], 0, dtype)


def _horizontal(arrays: Any, dtype: Any = None) -> Array:
    parts = [_at_least(array, 1) for array in arrays]
    return _concatenate(parts, 0 if parts[0].ndim == 1 else 1, dtype)


def _in_depth(arrays: Any) -> Array:
    return _concatenate([_at_least(array, 3) for array in arrays], 2)


def _columns(arrays: Any) -> Array:
    parts = [asarray(array) for array in arrays]
    return _concatenate([x if x.ndim > 1 else x.reshape((-1, 1)) for x in parts], 1)


def _split_at(array: Array, places: list[int], axis: int) -> list[Array]:
    along = layout.axis_number("split", axis, array.ndim)
    lead = (slice(None),) * along
    begins, ends = [0, *places], [*places, None]
    return [array[(*lead, slice(begin, end))] for begin, end in zip(begins, ends, strict=True)]


def _array_split(ary: Any, indices_or_sections: Any, axis: int = 0) -> list[Array]:
    x = asarray(ary)
    if not layout.is_count(indices_or_sections):
        return _split_at(x, [int(place) for place in indices_or_sections], axis)
    count = indices_or_sections.__index__()
    if count < 1:
        raise InvalidArgumentError(f"split: expected one section or more: sections={count}")
    size = x.shape[layout.axis_number("split", axis, x.ndim)]
    each, more = divmod(size, count)
    places = [each * k + min(k, more) for k in range(1, count)]
    return _split_at(x, places, axis)


def _split(ary: Any, indices_or_sections: Any, axis: int = 0) -> list[Array]:
    x = asarray(ary)
    size = x.shape[layout.axis_number("split", axis, x.ndim)]
    if layout.is_count(indices_or_sections) and size % indices_or_sections.__index__():
        raise InvalidArgumentError(
            f"split: the sections are not equal: size={size}, sections={indices_or_sections}; "
            "use array_split"
        )
    return _array_split(x, indices_or_sections, axis)


def _split_along(axis: int) -> Callable[..., Any]:
    def call(ary: Any, indices_or_sections: Any) -> list[Array]:
        x = asarray(ary)
        return _split(x, indices_or_sections, 0 if axis == 1 and x.ndim == 1 else axis)

    return call


def _swapaxes(a: Any, axis1: int, axis2: int) -> Array:
    x = asarray(a)
    places = list(range(x.ndim))
    one, two = (layout.axis_number("swapaxes", axis, x.ndim) for axis in (axis1, axis2))
    places[one], places[two] = places[two], places[one]
    return layout.permute_dims(x, places)


def _rollaxis(a: Any, axis: int, start: int = 0) -> Array:
    x = asarray(a)
    along = layout.axis_number("rollaxis", axis, x.ndim)
    to = start + x.ndim if start < 0 else start
    return layout.moveaxis(x, along, to - 1 if along < to else to)


def _rot90(m: Any, k: int = 1, axes: Any = (0, 1)) -> Array:
    x = asarray(m)
    one, two = layout.axis_numbers("rot90", tuple(axes), x.ndim)
    if k % 4 == 0:
        return x[...]
    if k % 4 == 2:
        return layout.flip(x, (one, two))
    if k % 4 == 1:
        return _swapaxes(layout.flip(x, two), one, two)
    return layout.flip(_swapaxes(x, one, two), two)


def _unique(
    ar: Any,
    return_index: bool = False,
    return_inverse: bool = False,
    return_counts: bool = False,
    *,
    equal_nan: bool = True,
) -> Any:
    x = asarray(ar)
    if not (return_index or return_inverse or return_counts or complex_numbers.is_complex(x)):
        return order.unique_values(x, equal_nan)
    found = order.unique_all(x, equal_nan)
    asked = (True, return_index, return_inverse, return_counts)
    made = tuple(part for part, wanted in zip(found, asked, strict=True) if wanted)
    return made[0] if len(made) == 1 else made


def _cumulative(product: bool, numpy2: bool) -> Callable[..., Any]:
    def call(a: Any, axis: int | None = None, dtype: Any = None) -> Array:
        return _cast(cumulative(_cast(asarray(a), dtype), product, axis), dtype)

    def standard(
        x: Any, *, axis: int | None = None, dtype: Any = None, include_initial: bool = False
    ) -> Array:
        return _cast(cumulative(_cast(asarray(x), dtype), product, axis, include_initial), dtype)

    return standard if numpy2 else call


def _argwhere(a: Any) -> Array:
    x = asarray(a)
    return layout.stack(order.nonzero(x), 1)


def _pad(array: Any, pad_width: Any, mode: Any = "constant", constant_values: Any = 0) -> Any:
    import numpy as np

    if mode != "constant" or not isinstance(constant_values, int | float | complex):
        options = {"constant_values": constant_values} if mode == "constant" else {}
        return as_ours(through_numpy("pad", np.pad, (array, pad_width, mode), options))

    x = asarray(array)
    widths = np.broadcast_to(np.asarray(pad_width), (x.ndim, 2)).tolist()
    shape = tuple(
        before + size + after for (before, after), size in zip(widths, x.shape, strict=True)
    )
    made = create.full(shape, constant_values, str(x.dtype))
    made[tuple(slice(b, b + size) for (b, _), size in zip(widths, x.shape, strict=True))] = x
    return made


def _diff(a: Any, n: int = 1, axis: int = -1, prepend: Any = None, append: Any = None) -> Array:
    x = asarray(a)
    if n < 0:
        raise InvalidArgumentError(f"diff: expected a number of times of 0 or more: n={n}")
    if not n:
        return x
    along = layout.axis_number("diff", axis, x.ndim)
    one = (*x.shape[:along], 1, *x.shape[along + 1 :])
    ends = [part if part is None else asarray(part) for part in (prepend, append)]
    before, after = (
        layout.broadcast_to(end, one) if end is not None and not end.ndim else end for end in ends
    )
    parts = [part for part in (before, x, after) if part is not None]
    made = layout.concatenate(parts, along) if len(parts) > 1 else x
    lead = (slice(None),) * along
    for _ in range(n):
        left, right = made[(*lead, slice(None, -1))], made[(*lead, slice(1, None))]
        made = right != left if made.dtype == "bool" else right - left
    return made


def _cov(m: Any, *, rowvar: bool = True, bias: bool = False, ddof: int | None = None) -> Array:
    x = asarray(m).astype("float64")
    lines = x.reshape((1, -1)) if x.ndim < 2 else x
    along = 1 if rowvar or x.ndim < 2 else 0
    around = lines - reduce_axes(lines, "mean", along, keepdims=True)  # lies as `m` does
    free = lines.shape[along] - (ddof if ddof is not None else int(not bias))
    turned = layout.permute_dims(around, (1, 0))
    made = matmul(around, turned) if along else matmul(turned, around)
    made = made / float(max(free, 0))
    return made.reshape(()) if made.shape[0] == 1 else made


def _corrcoef(x: Any, *, rowvar: bool = True) -> Array:
    made = _cov(x, rowvar=rowvar)
    if not made.ndim:
        return made / made
    each = layout.iota(made.shape[0], made)
    spread = made[each, each]._elementwise("sqrt", made[each, each])
    made = made / layout.expand_dims(spread, 1) / spread
    return made.clip(-1.0, 1.0)


def _ptp(a: Any, axis: Any = None, keepdims: bool = False) -> Array:
    x = asarray(a)
    return reduce_axes(x, "max", axis, keepdims) - reduce_axes(x, "min", axis, keepdims)


def _count_nonzero(a: Any, axis: Any = None, *, keepdims: bool = False) -> Array:
    x = asarray(a)
    return reduce_axes(x if x.dtype == "bool" else x != 0, "sum", axis, keepdims)


def _angle(z: Any, deg: bool = False) -> Array:
    x = asarray(z)
    made = x._elementwise("arctan2", complex_numbers.imag(x), complex_numbers.real(x))
    return made * 57.29577951308232 if deg else made


def _ordered(name: str) -> Callable[..., Any]:
    def call(a: Any, axis: int | None = -1, kind: Any = None, *, stable: Any = None) -> Array:
        x = asarray(a)
        return getattr(order, name)(x, axis)

    return call


def _full_like(a: Any, fill_value: Any, dtype: Any = None, *, shape: Any = None) -> Array:
    like = asarray(a)
    word = str(like.dtype) if dtype is None else dtype
    return create.full(like.shape if shape is None else shape, fill_value, word)


def _like(value: int) -> Callable[..., Any]:
    def call(a: Any, dtype: Any = None, *, shape: Any = None) -> Array:
        return _full_like(a, value, dtype, shape=shape)

    return call


def _squared(m: Any) -> Array:
    """A matrix, or one of rows that are the vector, as `numpy.tril` takes it."""
    x = asarray(m)
    return layout.broadcast_to(x, (x.size, x.size)) if x.ndim == 1 else x


def _real(function: Callable[..., Array]) -> Callable[..., Any]:
    """A function of real matrices; of others NumPy's of its name."""

    @functools.wraps(function)  # which options it takes is read from its signature
    def call(first: Any, *, rowvar: bool = True, **options: Any) -> Any:
        import numpy as np

        name = function.__name__[1:]
        if complex_numbers.is_complex(asarray(first)) or asarray(first).ndim > 2:
            given = {"rowvar": rowvar, **options}
            return as_ours(through_numpy(name, getattr(np, name), (first,), given))
        return function(first, rowvar=rowvar, **options)

    return call


def _of_first(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function with its first parameter as an array of ours."""
    return lambda a, *args, **kwargs: function(asarray(a), *args, **kwargs)


#: Functions of NumPy that write into an array.
WRITERS = ("copyto", "fill_diagonal", "place", "put", "put_along_axis", "putmask")

#: NumPy's functions of arrays alone; other parameters than these ask NumPy instead.
ARRAY_FUNCTIONS: dict[str, Callable[..., Any]] = {
    **TRANSFORMS,
    "concatenate": _concatenate,
    "stack": _stack,
    "vstack": _vertical,
    "hstack": _horizontal,
    "dstack": _in_depth,
    "column_stack": _columns,
    "split": _split,
    "array_split": _array_split,
    "vsplit": _split_along(0),
    "hsplit": _split_along(1),
    "dsplit": _split_along(2),
    "unstack": lambda x, /, *, axis=0: layout.unstack(asarray(x), axis),
    "tile": lambda a, reps: layout.tile(asarray(a), reps),
    "repeat": lambda a, repeats, axis=None: layout.repeat(asarray(a), repeats, axis),
    "roll": lambda a, shift, axis=None: layout.roll(asarray(a), shift, axis),
    "flip": lambda m, axis=None: layout.flip(asarray(m), axis),
    "flipud": lambda m: layout.flip(asarray(m), 0),
    "fliplr": lambda m: layout.flip(asarray(m), 1),
    "pad": _pad,
    "expand_dims": lambda a, axis: layout.expand_dims(asarray(a), axis),
    "squeeze": lambda a, axis=None: layout.squeeze(asarray(a), axis),
    "moveaxis": lambda a, source, destination: layout.moveaxis(asarray(a), source, destination),
    "swapaxes": _swapaxes,
    "rollaxis": _rollaxis,
    "rot90": _rot90,
    "matrix_transpose": lambda x, /: _swapaxes(x, -1, -2),
    "atleast_1d": _each_at_least(1),
    "atleast_2d": _each_at_least(2),
    "atleast_3d": _each_at_least(3),
    "broadcast_to": lambda array, shape: layout.broadcast_to(
        asarray(array), tuple(shape) if isinstance(shape, tuple | list) else (shape,)
    ),
    "broadcast_arrays": lambda *args: tuple(
        layout.broadcast_arrays(*(asarray(each) for each in args))
    ),
    "meshgrid": lambda *xi, indexing="xy": tuple(
        layout.meshgrid(*(asarray(each) for each in xi), indexing=indexing)
    ),
    "tril": lambda m, k=0: layout.triangle(_squared(m), k, lower=True),
    "triu": lambda m, k=0: layout.triangle(_squared(m), k, lower=False),
    "zeros_like": _like(0),
    "ones_like": _like(1),
    "empty_like": _like(0),
    "full_like": _full_like,
    "sort": _ordered("sort"),
    "argsort": _ordered("argsort"),
    "searchsorted": lambda a, v, side="left", sorter=None: order.search_sorted(a, v, side, sorter),
    "unique": _unique,
    "unique_values": _of_first(order.unique_values),
    "unique_all": _of_first(order.unique_all),
    "isin": lambda element, test_elements, assume_unique=False, invert=False: order.isin(
        element, test_elements, invert
    ),
    "nonzero": _of_first(order.nonzero),
    "argwhere": _argwhere,
    "take": lambda a, indices, axis=None: order.take(asarray(a), indices, axis),
    "take_along_axis": lambda arr, indices, axis=-1: order.take_along_axis(
        asarray(arr), indices, axis
    ),
    "cumsum": _cumulative(False, False),
    "cumprod": _cumulative(True, False),
    "cumulative_sum": _cumulative(False, True),
    "cumulative_prod": _cumulative(True, True),
    "diff": _diff,
    "cov": _real(_cov),
    "corrcoef": _real(_corrcoef),
    "ptp": _ptp,
    "count_nonzero": _count_nonzero,
    "real": _of_first(complex_numbers.real),
    "imag": _of_first(complex_numbers.imag),
    "angle": _angle,
    "iscomplexobj": lambda x: asarray(x).dtype.kind == "c",
    "isrealobj": lambda x: asarray(x).dtype.kind != "c",
}
