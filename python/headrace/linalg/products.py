# SPDX-License-Identifier: Apache-2.0
"""Products of matrices and vectors, lazy, and `einsum`."""

from __future__ import annotations

import functools
import math
import operator
import string
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

from headrace import _core
from headrace.array import layout
from headrace.array.construct import asarray
from headrace.errors import InvalidArgumentError, TypeMismatchError, UnsupportedError
from headrace.lazy.handle import array_of, mark

if TYPE_CHECKING:
    from headrace.array.array import Array

_P = ParamSpec("_P")
_T = TypeVar("_T")


def raising(function: Callable[_P, _T]) -> Callable[_P, _T]:
    """A factorization whose refusals are caught as NumPy's `LinAlgError` too."""

    @functools.wraps(function)
    def call(*args: _P.args, **kwargs: _P.kwargs) -> _T:
        try:
            return function(*args, **kwargs)
        except InvalidArgumentError as error:
            from headrace.linalg.singular import LinAlgError  # needs NumPy

            raise LinAlgError(*error.args) from None

    return call


def operand(op: str, x: Any) -> Array:
    """An array of real numbers."""
    array = asarray(x)
    if array.dtype.kind not in "biuf":
        error = UnsupportedError if array.dtype.kind == "c" else TypeMismatchError
        raise error(f"{op}: expected real numbers: dtype={array.dtype}; convert with to_numpy()")
    return array


def matrix_operand(op: str, x: Any) -> Array:
    """An array of at least two dimensions that a factorization takes."""
    array = operand(op, x)
    if array.ndim < 2:
        raise InvalidArgumentError(f"{op}: expected a matrix: dimensions={array.ndim}")
    mark(op)
    return array.astype("float64") if array.dtype.kind == "b" else array


def turned(x: Array) -> Array:
    """Each matrix transposed."""
    return x.transpose(*range(x.ndim - 2), x.ndim - 1, x.ndim - 2)


def as_columns(b: Array) -> tuple[Array, bool]:
    """Right sides as columns, and whether it was one alone."""
    return (b.reshape(-1, 1), True) if b.ndim == 1 else (b, False)


def matrix_product(a: Array, b: Array) -> Array:
    """The product of matrices, in NumPy's dtype."""
    word = a._node.dtype
    if word == b._node.dtype and word.startswith("float"):
        mark("matmul")
        return array_of(_core.matmul(a._node, b._node, word))
    import numpy as np

    dtype = str(np.result_type(str(a.dtype), str(b.dtype)))
    sums = dtype if dtype.startswith("float") else "int64"
    left, right = (x.astype("uint8") if x.dtype.kind == "b" else x for x in (a, b))
    mark("matmul")
    made = array_of(_core.matmul(left._node, right._node, sums))
    return made != 0 if dtype == "bool" else made if dtype == sums else made.astype(dtype)


def matmul(x1: Any, x2: Any, /) -> Array:
    """The matrix product ``x1 @ x2``, lazy, as `numpy.matmul`.

    Dimensions before the last two broadcast; a vector is a row on the left and a column on the
    right. Each sum goes over the inner dimension in order, by fused multiply-add in blocks of 256.
    Integers wrap.

    Raises ValueError for shapes that do not fit and for scalars, NotImplementedError for complex
    numbers.

    >>> hr.linalg.matmul([[1.0, 2.0], [3.0, 4.0]], [[1.0], [10.0]]).tolist()
    [[21.0], [43.0]]
    """
    a, b = operand("matmul", x1), operand("matmul", x2)
    if 0 in (a.ndim, b.ndim):
        raise InvalidArgumentError("matmul: an operand is a scalar; use *")
    made = matrix_product(a.reshape(1, -1) if a.ndim == 1 else a, as_columns(b)[0])
    if a.ndim > 1 < b.ndim:
        return made
    shape = made.shape
    rows, columns = shape[-2:-1] if a.ndim > 1 else (), shape[-1:] if b.ndim > 1 else ()
    return made.reshape(shape[:-2] + rows + columns)


def product_of_values(left: Any, right: Any) -> Any:
    """The matrix product of frames and series, whose nulls are NaN, as NumPy's values."""
    a, b = (x.to_numpy() if hasattr(x, "to_numpy") else x for x in (left, right))
    return matmul(a, b).to_numpy()[()]


def dot(a: Any, b: Any) -> Array:
    """The sum of products over the last axis of `a` and the last but one of `b`, as `numpy.dot`.

    >>> hr.linalg.dot([1.0, 2.0], [3.0, 4.0]).item()
    11.0
    """
    x, y = operand("dot", a), operand("dot", b)
    if 0 in (x.ndim, y.ndim):
        return x * y
    if y.ndim <= 2:
        return matmul(x, y)
    axes = list(range(y.ndim))
    flat = y.transpose(axes.pop(-2), *axes).reshape(y.shape[-2], -1)
    return matmul(x, flat).reshape(x.shape[:-1] + y.shape[:-2] + y.shape[-1:])


def inner(a: Any, b: Any, /) -> Array:
    """The sum of products over the last axes, as `numpy.inner`.

    >>> hr.linalg.inner([[1, 2], [3, 4]], [1, 10]).tolist()
    [21, 43]
    """
    x, y = operand("inner", a), operand("inner", b)
    if 0 in (x.ndim, y.ndim):
        return x * y
    return dot(x, y if y.ndim == 1 else turned(y))


def outer(a: Any, b: Any, /) -> Array:
    """All products of two vectors, as `numpy.outer`.

    >>> hr.linalg.outer([1, 2], [3, 4]).tolist()
    [[3, 4], [6, 8]]
    """
    x, y = operand("outer", a), operand("outer", b)
    return matrix_product(x.reshape(-1, 1), y.reshape(1, -1))


def contract(x: Array, y: Array, axes: Any, product: Callable[[Array, Array], Array]) -> Array:
    """The sums of `tensordot`, as one product of matrices."""
    if layout.is_count(axes):
        count = operator.index(axes)
        if not 0 <= count <= min(x.ndim, y.ndim):
            raise InvalidArgumentError(
                f"tensordot: the operands do not have that many axes: axes={axes}, "
                f"shapes={x.shape}, {y.shape}"
            )
        left, right = tuple(range(x.ndim - count, x.ndim)), tuple(range(count))
    else:
        first, second = (each if layout.is_count(each) else tuple(each) for each in axes)
        left = layout.axis_numbers("tensordot", first, x.ndim)
        right = layout.axis_numbers("tensordot", second, y.ndim)
    if [x.shape[d] for d in left] != [y.shape[d] for d in right]:
        raise InvalidArgumentError(
            f"tensordot: sizes differ: axes={axes}, shapes={x.shape}, {y.shape}"
        )
    rows = [d for d in range(x.ndim) if d not in left]
    columns = [d for d in range(y.ndim) if d not in right]
    count = math.prod(x.shape[d] for d in left)
    heights, widths = tuple(x.shape[d] for d in rows), tuple(y.shape[d] for d in columns)
    a = layout.permute_dims(x, [*rows, *left]).reshape((math.prod(heights), count))
    b = layout.permute_dims(y, [*right, *columns]).reshape((count, math.prod(widths)))
    return product(a, b).reshape(heights + widths)


def tensordot(a: Any, b: Any, axes: Any = 2) -> Array:
    """Sums of products over axes of both arrays, as `numpy.tensordot`, lazy: one matrix product.

    `axes` is how many, the last of `a` and the first of `b`, or the axes of each: a pair of
    integers or of sequences. The result has the other axes of `a`, then those of `b`.

    Raises ValueError for axes that are not there or differ in size, NotImplementedError for
    complex numbers.

    >>> hr.linalg.tensordot([[1, 2], [3, 4]], [10, 1], axes=1).tolist()
    [12, 34]
    """
    return contract(operand("tensordot", a), operand("tensordot", b), axes, matmul)


def _diagonal(x: Array, offset: int = 0) -> Array:
    """Of the last two dimensions."""
    part = x[..., :, offset:] if offset >= 0 else x[..., -offset:, :]
    *lead, rows, columns = part.shape
    count = min(rows, columns)
    return part[..., :count, :].reshape((*lead, count * columns))[..., :: columns + 1]


def trace(x: Any, /, *, offset: int = 0) -> Array:
    """The sum along a diagonal of the last two dimensions, as `numpy.linalg.trace`.

    >>> hr.linalg.trace([[1, 2], [3, 4]]).item()
    5
    """
    return _diagonal(matrix_operand("trace", x), offset).sum(-1)


def _summed(x: Array, names: str, kept: set[str]) -> tuple[Array, str]:
    """One operand of `einsum`: repeated names as their diagonal, others summed."""
    for name in dict.fromkeys(names):
        while names.count(name) > 1:
            first, second = names.index(name), names.rindex(name)
            rest = [axis for axis in range(len(names)) if axis not in (first, second)]
            x = _diagonal(x.transpose(*rest, first, second))
            names = "".join(names[axis] for axis in rest) + name
        if name not in kept:
            x = x.sum(names.index(name))
            names = names.replace(name, "")
    return x, names


def _joined(x: Array, left: str, y: Array, right: str, kept: set[str]) -> tuple[Array, str]:
    """Two operands of `einsum` as one product of stacked matrices."""
    both = [name for name in left if name in right]
    stack = [name for name in both if name in kept]
    inner = [name for name in both if name not in kept]
    rows = [name for name in left if name not in right]
    columns = [name for name in right if name not in left]
    sizes = dict(zip(left + right, x.shape + y.shape, strict=True))

    def matrices(z: Array, names: str, *parts: list[str]) -> Array:
        parts = parts if stack else parts[1:]
        order = [names.index(name) for part in parts for name in part]
        if order == sorted(order) and all(len(part) == 1 for part in parts):
            return z
        turned = z if order == sorted(order) else z.transpose(*order)
        shape = tuple(math.prod(sizes[name] for name in part) for part in parts)
        return turned if turned.shape == shape else turned.reshape(shape)

    made = matrix_product(
        matrices(x, left, stack, rows, inner), matrices(y, right, stack, inner, columns)
    )
    names = "".join(stack + rows + columns)
    if len(rows) == len(columns) == 1 >= len(stack):
        return made, names
    shape = tuple(sizes[name] for name in names)
    return made if made.shape == shape else made.reshape(shape), names


def _order(subscripts: str, arrays: list[Array]) -> list[tuple[int, ...]]:
    """Places of the operands that are joined one after the other: the way with the fewest products.

    Each result stands behind the operands that are left.
    """
    if len(arrays) < 3:
        return [tuple(range(len(arrays)))]
    return _order_of_shapes(subscripts, tuple(x.shape for x in arrays))


@functools.lru_cache(256)
def _order_of_shapes(subscripts: str, shapes: tuple[tuple[int, ...], ...]) -> list[tuple[int, ...]]:
    import numpy as np

    views = [np.broadcast_to(np.empty(()), shape) for shape in shapes]
    way = "optimal" if len(shapes) <= 5 else "greedy"
    return list(np.einsum_path(subscripts, *views, optimize=(way, sys.maxsize))[0][1:])


def _contracted(operands: list[tuple[Array, str]], kept: set[str]) -> tuple[Array, str]:
    """Operands of `einsum` joined from the left, with the names that the rest needs."""
    needed = [kept.union(*(names for _, names in operands[at:])) for at in range(1, len(operands))]
    needed.append(kept)
    made, own = _summed(*operands[0], needed[0])
    for (each, names), wanted in zip(operands[1:], needed[1:], strict=True):
        other, theirs = _summed(each, names, wanted | set(own))
        made, own = _joined(made, own, other, theirs, wanted)
        made, own = _summed(made, own, wanted)
    return made, own


def _unfit(subscripts: str, arrays: list[Array]) -> InvalidArgumentError:
    return InvalidArgumentError(
        f"einsum: subscripts do not fit the operands: subscripts={subscripts!r}, "
        f"dimensions={[x.ndim for x in arrays]}"
    )


def _spell_out(
    subscripts: str, names: list[str], arrays: list[Array]
) -> tuple[list[str], str, list[Array]]:
    """Operands with names for the axes of ``...``, which broadcast, and these names.

    An operand with one element where others have more is taken without that axis.
    """
    counts = [
        x.ndim + 3 - len(each) if "..." in each else 0
        for each, x in zip(names, arrays, strict=True)
    ]
    if any("." in each.replace("...", "", 1) for each in names) or min(counts) < 0:
        raise _unfit(subscripts, arrays)
    longest = max(counts)
    spare = [name for name in string.ascii_letters if name not in subscripts][:longest]
    if len(spare) < longest:
        raise InvalidArgumentError(f"einsum: too many axes: subscripts={subscripts!r}")
    own = "".join(spare)
    names = [
        each.replace("...", own[longest - count :])
        for each, count in zip(names, counts, strict=True)
    ]
    sizes = [dict(zip(each, x.shape, strict=False)) for each, x in zip(names, arrays, strict=True)]
    wide = {name for name in spare if any(size.get(name, 1) != 1 for size in sizes)}
    for place, (each, x) in enumerate(zip(names, arrays, strict=True)):
        if any(name in wide and sizes[place][name] == 1 for name in each):
            kept = [name not in wide or sizes[place][name] != 1 for name in each]
            shape = tuple(size for size, keep in zip(x.shape, kept, strict=True) if keep)
            arrays[place] = x.reshape(shape)
            names[place] = "".join(name for name, keep in zip(each, kept, strict=True) if keep)
    return names, own, arrays


def einsum(subscripts: str, /, *operands: Any) -> Array:
    """Sums of products by named axes, as `numpy.einsum`, lazy: each pair is one matrix product.

    Operands are joined in the order that takes the fewest products (`numpy.einsum_path`); an index
    that the rest does not need is summed at once.
    ``...`` stands for axes without names, which broadcast. Raises NotImplementedError for the form
    with lists of axes, ValueError for subscripts that do not fit the operands.

    >>> hr.linalg.einsum("ij,kj->ik", [[1.0, 2.0]], [[3.0, 4.0]]).tolist()
    [[11.0]]
    """
    if not isinstance(subscripts, str):
        raise UnsupportedError(
            f"einsum: expected names of axes: subscripts={subscripts!r}; use numpy.einsum"
        )
    left, arrow, right = subscripts.replace(" ", "").partition("->")
    names, unnamed = left.split(","), ""
    arrays = [operand("einsum", x) for x in operands]
    if "." in left and len(names) == len(arrays):
        if arrow and "..." not in right:
            raise _unfit(subscripts, arrays)
        names, unnamed, arrays = _spell_out(subscripts, names, arrays)
    right = right.replace("...", unnamed, 1)
    inputs = ",".join(names)
    once = sorted(n for n in {*inputs} - {",", *unnamed} if inputs.count(n) == 1)
    result = right if arrow else unnamed + "".join(once)
    if [len(each) for each in names] != [x.ndim for x in arrays]:
        raise _unfit(subscripts, arrays)
    if not set(result) <= set(inputs) or len(set(result)) < len(result):
        raise InvalidArgumentError(f"einsum: invalid result: subscripts={subscripts!r}")
    sizes: dict[str, int] = {}
    for name, size in zip("".join(names), (size for x in arrays for size in x.shape), strict=True):
        if sizes.setdefault(name, size) != size:
            raise InvalidArgumentError(f"einsum: sizes differ: index={name!r}")
    for places in _order(f"{inputs}->{result}", arrays):
        taken = [(arrays[place], names[place]) for place in places]
        arrays = [x for place, x in enumerate(arrays) if place not in places]
        names = [each for place, each in enumerate(names) if place not in places]
        kept = set(result).union(*names)
        made, own = _contracted(taken, kept)
        arrays.append(made)
        names.append(own)
    order = [own.index(name) for name in result]
    return made if order == sorted(order) else made.transpose(*order)
