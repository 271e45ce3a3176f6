# SPDX-License-Identifier: Apache-2.0
"""Views: other shapes of arrays, and in-place changes that reach the arrays they were taken from.

Views of one array share a record of its changes. A view remembers the array that it was taken from,
by a weak reference, and the step between them: a change of the view is put into that array by a
node of its own. A view whose elements were changed otherwise keeps the old values, so it refuses.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple
from weakref import ref

from headrace import _core
from headrace.errors import InvalidArgumentError
from headrace.lazy.handle import array_of, mark

if TYPE_CHECKING:
    from headrace.array.array import Array

    Shape = Sequence[int]
    #: Offset, shape and strides in elements; an unknown length is negative.
    Layout = tuple[int, Shape, Shape]

#: Changes that are remembered one by one; with more since a view was taken it counts as changed.
_MOST_CHANGES = 64
#: Beyond every length that is not known yet.
_ENDLESS = 1 << 40


class Changes:
    """What was changed of an array and its views."""

    __slots__ = ("count", "latest", "output", "shape", "strides")

    def __init__(self, array: Array) -> None:
        node = array._node
        self.shape: Shape = node.shape
        self.strides: Shape | None = node.strides  # None: row by row
        self.count = 0
        self.latest: deque[Origin] = deque(maxlen=_MOST_CHANGES)
        # Of an array to write into: the number of changes then, NumPy's array if it has one.
        self.output: tuple[int, Any] | None = None

    def add(self, origin: Origin) -> None:
        """Note that the view of this origin has changed."""
        self.count += 1
        self.latest.append(origin)

    def touch(self, origin: Origin) -> bool:
        """Whether some element of a view has changed since its values were taken."""
        missed = self.count - origin.seen
        if not missed:
            return False
        if missed > len(self.latest):
            return True
        changes = [self.latest[-1 - k] for k in range(missed)]
        return any(_overlap(_layout(origin), _layout(each)) for each in changes)


class Origin(NamedTuple):
    """Where an array comes from: the last four are of views alone."""

    changes: Changes
    seen: int  # changes that its values have in them
    parent: ref[Array] | None = None  # the array that it was taken from
    step: Step | None = None
    by: Any = None  # parameters of the step
    above: Origin | None = None  # of the parent


class Step(NamedTuple):
    """A way from an array to a view."""

    view: Callable[[Any, Any], _core.Node]  # of a node, with parameters
    updated: Callable[[Any, Any, Any], _core.Node]  # a node in which another one is the view
    layout: Callable[[Layout, Any], Layout]


def _updated_items(base: Any, value: Any, items: Any) -> _core.Node:
    if -1 in base.shape:
        _core.force([base, value])
        items = [
            (0, 1, size) if item[2] < 0 else item
            for item, size in zip(items, base.shape, strict=True)
        ]
    return _core.slice_update(base, value, items)


def _item_layout(layout: Layout, items: Any) -> Layout:
    offset, _, strides = layout
    pairs = list(zip(items, strides, strict=True))
    offset += sum(begin * by for (begin, _, _), by in pairs)
    kept = [(count, step * by) for (_, step, count), by in pairs if step]
    return offset, [count for count, _ in kept], [by for _, by in kept]


def _updated_trimmed(base: Any, value: Any, ends: tuple[int, int]) -> _core.Node:
    _core.force([base, value])
    size, *others = base.shape
    count = max(size - sum(ends), 0)
    items = [(ends[0] if count else 0, 1, count), *((0, 1, each) for each in others)]
    return _core.slice_update(base, value, items)


def _turned_back(_: Any, value: Any, axes: Any) -> _core.Node:
    return _core.transpose(value, sorted(range(len(axes)), key=axes.__getitem__))


def _axes_layout(layout: Layout, axes: Any) -> Layout:
    offset, shape, strides = layout
    return offset, [shape[axis] for axis in axes], [strides[axis] for axis in axes]


def _shape_layout(layout: Layout, made: Any) -> Layout:
    offset, shape, strides = layout
    if -1 in shape and -1 not in made:  # a length that became known after the record began
        others = math.prod(size for size in shape if size != -1)
        shape = [math.prod(made) // max(others, 1) if size == -1 else size for size in shape]
    found = strides_in_shape(shape, strides, made)
    assert found is not None  # else it is no view
    return offset, made, found


def _same_layout(layout: Layout, _: Any) -> Layout:
    return layout


#: Slices and integers; a flipped array; one with its ends cut off, of a length not known yet; all
#: of it; other axes and shapes; the parts of complex numbers, whose layout is counted in pairs.
ITEMS = Step(_core.view, _updated_items, _item_layout)
FLIPPED = Step(_core.view, lambda _, value, items: _core.view(value, items), _item_layout)
TRIMMED = Step(lambda base, ends: _core.trim(base, *ends), _updated_trimmed, _same_layout)
WHOLE = Step(lambda base, _: base, lambda _, value, __: value, _same_layout)
AXES = Step(_core.transpose, _turned_back, _axes_layout)
SHAPE = Step(
    _core.reshape, lambda base, value, _: _core.reshape(value, list(base.shape)), _shape_layout
)
REAL = Step(
    lambda base, _: _core.real_part(base),
    lambda base, value, _: _core.complex_from_parts(value, _core.imaginary_part(base)),
    _same_layout,
)
IMAGINARY = Step(
    lambda base, _: _core.imaginary_part(base),
    lambda base, value, _: _core.complex_from_parts(_core.real_part(base), value),
    _same_layout,
)


def _noted(array: Array) -> Any:
    """The origin of an array that is no view, which begins the record of its changes."""
    array._origin = Origin(Changes(array), 0)
    return array._origin


def view_of(array: Array, node: _core.Node, step: Step, by: Any) -> Array:
    """A view of an array, whose node is what the step makes of the array's."""
    made = array_of(node)
    above = array._origin or _noted(array)
    changes = above.changes
    seen = changes.count if above.parent is None else above.seen  # as old as the view that it is of
    made._origin = Origin(changes, seen, ref(array), step, by, above)
    return made


# ---- changes -------------------------------------------------------------------------------------
def rebind(array: Array, node: _core.Node) -> None:
    """Give an array another node, and so the arrays that it is a view of.

    Raises InvalidArgumentError where elements of a view have been changed otherwise since.
    """
    origin = array._origin
    if origin is None:
        if array._node.strides is None:
            array._node = node
            return
        origin = _noted(array)  # whose views NumPy lays over the strides that it has now
    changes = origin.changes
    if origin.parent is not None:
        if changes.touch(origin):
            raise InvalidArgumentError(
                "in place: the view is a snapshot, as elements of it have been changed since it "
                f"was taken: shape={tuple(array._node.shape)}; write x[key] += values, take the "
                "view again, or change a copy of it: view.copy()"
            )
        for parent, made, is_current in _updated(array, node):
            parent._node = made
            if is_current:
                parent._origin = _seen(parent._origin, changes.count + 1)
    changes.add(origin)
    array._node, array._origin = node, _seen(origin, changes.count)


def _seen(origin: Any, count: int) -> Any:
    return Origin(origin.changes, count, *origin[2:])


def _updated(array: Array, node: _core.Node) -> list[tuple[Array, _core.Node, bool]]:
    """The arrays that an array is a view of, their new nodes, and whether no element is older."""
    links: list[tuple[Any, Any]] = []
    last, origin = 0, array._origin
    while origin.parent is not None:
        parent = origin.parent()
        links.append((parent, origin))
        if parent is not None:  # beyond the last one that is left a change is not seen
            last = len(links)
        origin = origin.above
    mark("setitem")
    bases: list[tuple[_core.Node, bool]] = []  # in which views change, the outermost array's first
    for parent, origin in reversed(links[:last]):
        if parent is not None:
            own = parent._origin
            is_current = own.parent is None or not own.changes.touch(own)
        if parent is not None and (is_current or not bases):
            bases.append((parent._node, is_current))
        else:
            base, is_current = bases[-1]
            above = origin.above
            bases.append((above.step.view(base, above.by), is_current))
    made = []
    for (parent, origin), (base, is_current) in zip(links[:last], reversed(bases), strict=True):
        node = origin.step.updated(base, node, origin.by)
        if parent is not None:
            made.append((parent, node, is_current))
    return made


def for_output(array: Array) -> Array:
    """An array of one value, which nothing else refers to: NumPy's code may write into it."""
    if array._origin is None and array._node.shape and array.dtype.kind in "biufc":
        _noted(array)[0].output = (0, None)
    return array


def output_memory(array: Array) -> Any:
    """NumPy's array to write into, of an array that was made by `full` and never changed.

    None of others. The array gets memory of its own, which no plan and no other array has, and
    counts as written by others from then on: what is made of it runs when it is made.
    """
    origin = array._origin
    if origin is None or origin.parent is not None or origin.changes.output is None:
        return None
    changes = origin.changes
    count, memory = changes.output
    if count != changes.count:
        changes.output = None
        return None
    if memory is None:
        import numpy as np

        values = np.asarray(array._value())
        first = values[(slice(0, 1),) * values.ndim].tobytes()
        if first.strip(b"\0"):
            memory = np.array(values, order="C")
        else:
            memory = np.zeros(values.shape, values.dtype)  # its pages come when they are written
        array._node = _core.data(_core.from_array(memory, "asarray")[0], live=True)
    changes.add(origin)
    changes.output = (changes.count, memory)
    array._origin = _seen(origin, changes.count)
    return memory


def is_the_view(value: Array, array: Array, view: Array) -> bool:
    """Whether a value is what an array has at a view of it already."""
    steps = _steps_from(array, value)
    return steps is not None and steps == _steps_from(array, view)


def share_memory(view: Array, array: Array) -> bool:
    """Whether a view is of an array or of what that is a view of, as these are now or were."""
    one, other = view._origin, array._origin
    if view is array or one is None or other is None:
        return False
    return one.changes is other.changes


def _steps_from(array: Array, view: Array) -> list[Any] | None:
    """The steps from an array to a view of what it is now."""
    steps, origin = [], view._origin
    if origin is None or origin.seen < origin.changes.count:
        return None
    while origin.parent is not None:
        steps.append((origin.step, origin.by))
        if origin.parent() is array:
            return steps
        origin = origin.above
    return None


# ---- layout --------------------------------------------------------------------------------------
def _layout(origin: Any) -> Layout:
    steps = []
    while origin.parent is not None:
        steps.append((origin.step, origin.by))
        origin = origin.above
    shape = origin.changes.shape
    layout: Layout = (0, shape, origin.changes.strides or row_major(shape))
    for step, by in reversed(steps):
        layout = step.layout(layout, by)
    return layout


class _Region:
    """Elements as NumPy's arrays describe them; nothing is there to be read."""

    def __init__(self, layout: Layout) -> None:
        offset, shape, strides = layout
        self.__array_interface__ = {
            "version": 3,
            "typestr": "|u1",
            "data": (_ENDLESS + offset, True),
            "shape": tuple(_ENDLESS if size < 0 else size for size in shape),
            "strides": tuple(strides),
        }


def _overlap(one: Layout, other: Layout) -> bool:
    """Whether two views have an element in common; True where that takes long to tell."""
    import numpy as np

    first: Any = np.asarray(_Region(one))
    work: Any = 1000
    try:
        return bool(np.shares_memory(first, np.asarray(_Region(other)), max_work=work))
    except np.exceptions.TooHardError:
        return True


def row_major(shape: Shape) -> list[int]:
    """The strides of an array that lies row by row, in elements."""
    strides = [1] * len(shape)
    for axis in reversed(range(len(shape) - 1)):
        strides[axis] = strides[axis + 1] * shape[axis + 1]
    return strides


def strides_of(array: Array) -> Shape:
    """The strides of an array, in elements: results lie row by row, memory of others as it does."""
    if array._origin is None:
        return array._node.strides or row_major(array._node.shape)
    return _layout(array._origin)[2]


def strides_in_shape(shape: Shape, strides: Shape, made: Shape) -> Shape | None:
    """The strides of the same elements in another shape; None where that needs a copy.

    Axes of both shapes are taken from the front until they cover the same number of elements.
    """
    if 0 in made:
        return row_major(made)
    pairs = [(size, by) for size, by in zip(shape, strides, strict=True) if size != 1]
    found = [1] * len(made)
    place = old = 0
    while old < len(pairs):
        first, begin = old, place
        covered, wanted = pairs[old][0], made[place]
        while covered != wanted:
            if covered < wanted:
                old += 1
                covered *= pairs[old][0]
            else:
                place += 1
                wanted *= made[place]
        if any(pairs[k][1] != pairs[k + 1][0] * pairs[k + 1][1] for k in range(first, old)):
            return None
        by = pairs[old][1]
        for k in reversed(range(begin, place + 1)):
            found[k] = by
            by *= made[k]
        old, place = old + 1, place + 1
    return found


# ---- shapes --------------------------------------------------------------------------------------
def shape(array: Array) -> tuple[int, ...]:
    """See `Array.shape`."""
    sizes = array._node.shape
    if min(sizes, default=0) < 0:
        _core.force([array._node])
        sizes = array._node.shape
    return tuple(sizes)


def reshape(array: Array, shape: tuple[int | tuple[int, ...], ...]) -> Array:
    """See `Array.reshape`."""
    sizes: list[int] = []
    for each in shape:
        sizes += [each.__index__()] if hasattr(each, "__index__") else each
    mark("reshape")
    if -1 in sizes:
        known = math.prod(size for size in sizes if size != -1)
        sizes[sizes.index(-1)] = array.size // max(known, 1)
    node = _core.reshape(array._node, sizes)
    origin = array._origin
    if origin is None:
        is_plain = array._node.strides is None
    else:
        is_plain = origin.parent is None and origin.changes.strides is None
    if not is_plain and strides_in_shape(array.shape, strides_of(array), sizes) is None:
        return array_of(node)  # a copy
    return view_of(array, node, SHAPE, sizes)


def ravel(array: Array) -> Array:
    """See `Array.ravel`; unlike `reshape` it is a view of what lies row by row alone."""
    own = array.shape
    strides, origin = strides_of(array), array._origin
    made = reshape(array, (-1,))
    pairs = zip(own, strides, row_major(own), strict=True)
    if not all(size == 1 or by == plain for size, by, plain in pairs) or _is_part(origin):
        made._origin = None
    return made


def _is_part(origin: Any) -> bool:
    """Whether these are parts of complex numbers."""
    while origin is not None:
        if origin.step in (REAL, IMAGINARY):
            return True
        origin = origin.above
    return False


def transpose(array: Array, axes: list[int]) -> Array:
    """The view with permuted axes, which are counted from the first; none: reversed."""
    axes = axes or [*reversed(range(len(array._node.shape)))]
    return view_of(array, _core.transpose(array._node, axes), AXES, axes)
