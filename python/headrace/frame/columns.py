# SPDX-License-Identifier: Apache-2.0
"""The base of frames: nodes of columns and labels by name, below the public methods."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from headrace import _core
from headrace._first_use import public_class
from headrace.dtypes import DType
from headrace.errors import ColumnNotFoundError, InvalidArgumentError, TypeMismatchError
from headrace.rows import LevelName, are_picked, engine_names, refuse_apart, unnamed, with_levels
from headrace.series.column import at_equal_labels, counted, is_labelled, labelled_series, series_of

if TYPE_CHECKING:
    from typing_extensions import TypeIs

    from headrace.frame.dataframe import DataFrame
    from headrace.series.series import Series


class Columns:
    """Columns of one row set. Its public subclass is `DataFrame`.

    Modules below the public class make frames with `frame_of` and `new_frame`, and ask for them
    with `is_frame`: so they do not import it.
    """

    __slots__ = ("__weakref__", "_labels", "_nodes", "_rejects")
    _nodes: dict[Any, _core.Node]
    #: The index: nodes by name of the level; no columns, and names may be those of columns.
    _labels: dict[Any, _core.Node]
    _rejects: DataFrame | None
    _frame: ClassVar[type[DataFrame]] = public_class()

    def __init_subclass__(cls) -> None:
        Columns._frame = cls  # type: ignore[assignment]

    def __init__(self) -> None:
        _set_nodes(self, {})
        _set_labels(self, {})
        _set_rejects(self, None)

    def _every(self) -> list[_core.Node]:
        """The columns, then the labels."""
        return [*self._nodes.values(), *self._labels.values()]

    def _of_rows(
        self,
        nodes: Sequence[_core.Node],
        pick: Callable[[_core.Node], _core.Node] | None = None,
    ) -> DataFrame:
        """A frame of new rows, given as `_every` gives these; `pick` makes them of a node."""
        columns = dict(zip(self._nodes, nodes))  # noqa: B905 (the labels come behind)
        if not self._labels and pick is not None:
            return frame_of(columns, picked_numbers(self._labels, self._any_node(), pick))
        return frame_of(columns, dict(zip(self._labels, nodes[len(columns) :], strict=True)))

    def _names_of(self, kinds: str) -> list[str]:
        """The columns of these kinds of dtypes; see `DType.is_of`."""
        return names_of(self._nodes, kinds)

    def _find(self, name: Any) -> Any:
        """The name, if there is such a column."""
        try:
            known = name in self._nodes
        except TypeError:
            raise TypeMismatchError(
                f"DataFrame: expected a column name: name={name!r}; the columns are "
                f"{', '.join(engine_names(self._nodes))}"
            ) from None
        if not known:
            if name in self._labels:
                raise ColumnNotFoundError(
                    f"DataFrame: the name of row labels, not of a column: name={name!r}; use "
                    "df.index, or reset_index() to make them a column"
                )
            _core.no_such_column("DataFrame", engine_names(self._nodes), str(name))
        return name

    def _below(self, name: Any) -> dict[Any, _core.Node]:
        """The columns whose names begin with `name`, by the rest: of names that are tuples."""
        front = name if isinstance(name, tuple) else (name,)
        made: dict[Any, _core.Node] = {}
        for full, node in self._nodes.items():
            if isinstance(full, tuple) and len(full) > len(front) and full[: len(front)] == front:
                rest = full[len(front) :]
                short = rest[0] if len(rest) == 1 else rest
                if isinstance(full, LevelName):
                    short = with_levels(short, full.levels[len(front) :])
                made[short] = node
        return made

    def _key(self, name: Any) -> _core.Node:
        """A column, or a label level if no column has this name."""
        if name in self._labels and name not in self._nodes:
            return self._labels[name]
        return self._nodes[self._find(name)]

    def _series(self, name: Any) -> Series:
        """An existing column, with its row labels."""
        node = self._nodes[name]
        if not self._labels:
            made = series_of(node, name)
            if isinstance(self._labels, PickedNumbers):
                made._numbers = self._labels
            return made
        return labelled_series(frame_of({name: node}, self._labels), name)

    def _rows(self) -> int:
        """The number of rows; runs the plan if it depends on the data."""
        node = self._any_node()
        if node is None:
            return 0
        rows: int = node.shape[0]
        return rows if rows >= 0 else len(series_of(node))

    def _number_node(self) -> _core.Node | None:
        """The numbers of the rows of a frame without labels; None if they were not kept."""
        numbers = picked_numbers(self._labels, self._any_node(), lambda node: node)
        return None if numbers is None else numbers.node()

    def _numbered(self) -> DataFrame:
        """The rows labelled by their numbers if they were selected, else the frame."""
        if not isinstance(self._labels, PickedNumbers):
            return self  # type: ignore[return-value]
        numbers = self._labels.node()
        if self._nodes:
            numbers = _core.in_domain(numbers, self._every()[0].domain)
        return frame_of(self._nodes, {unnamed(0, 1): numbers})

    def _any_node(self) -> _core.Node | None:
        """A column or label of these rows; None if there is neither."""
        for node in self._nodes.values() or self._labels.values():
            return node
        return None

    def _label_list(self) -> list[Any]:
        """The label of each row: a tuple for several levels, a number without; evaluates."""
        labels = list(self._labels.values())
        if isinstance(self._labels, PickedNumbers):
            labels = [self._labels.node()]
        levels = [series_of(node).to_list() for node in labels]
        if len(levels) == 1:
            return levels[0]
        return list(zip(*levels, strict=True)) if levels else list(range(self._rows()))

    def _with_labels(self, renamed: bool = False) -> dict[str, _core.Node]:
        """The labels as the first columns, and the columns; raises, or renames, for equal names."""
        if not self._labels:
            return self._nodes
        taken = [name for name in self._labels if name in self._nodes]
        if taken and not renamed:
            raise InvalidArgumentError(
                f"reset_index: a column has the name of the labels: name={taken[0]!r}; use "
                "reset_index(drop=True), or rename one"
            )
        depth = max((len(name) for name in self._nodes if isinstance(name, tuple)), default=0)
        front = [(name, *[""] * (depth - 1)) if depth else name for name in self._labels]
        every: list[Any] = [*front, *self._nodes]
        nodes = [*self._labels.values(), *self._nodes.values()]
        return dict(zip(engine_names(every) if taken else every, nodes, strict=True))

    def _table(self) -> _core.Table:
        """The labels and columns as a table in memory; evaluates."""
        named = self._with_labels(renamed=True)
        _core.force(list(named.values()))
        return _core.Table(engine_names(named), [node.value() for node in named.values()])

    def _levels(self) -> list[_core.Node]:
        """The labels, or the numbers of the rows; none if they were not kept."""
        if self._labels or isinstance(self._labels, PickedNumbers):
            return list(self._numbered()._labels.values())
        node = self._any_node()
        return [] if node is None or are_picked(node) else [counted(self._rows())]

    def _over_rows(self, series: Series) -> Series:
        """A series of other rows as one of these rows if their labels are equal; else as it is."""
        node = self._any_node()
        return series if node is None else at_equal_labels(node, self._levels, series)

    def _aligned(self, series: Series) -> _core.Node:
        """Values with the row count of this frame, as part of it."""
        node = self._any_node()
        if node is None:
            return series._node
        if series._node.domain:
            series = self._over_rows(series)
        return _core.align_check("DataFrame", str(series.name or ""), node, series._node)

    def _in_domain(self, domain: int) -> DataFrame:
        """The same rows as another row set, without labels."""
        return frame_of({n: _core.in_domain(v, domain) for n, v in self._nodes.items()})

    def _refuse_free(self, op: str, node: _core.Node) -> None:
        """Raise for a separate series combined with filtered or sorted rows."""
        refuse_apart(op, [node, *self._every()[:1]])

    def _put(self, name: Any, node: _core.Node) -> None:
        """Set a column, which must have the rows of this frame."""
        first = self._any_node()
        if first is not None:
            if not node.domain and node.shape[0] >= 0 > first.shape[0]:
                _core.force([first])  # the row count depends on the data
            node = _core.align_check("DataFrame", str(name), first, node)
        self._nodes[name] = node


# Attributes of a frame are its columns: `DataFrame.__setattr__` would look these names up.
_set_nodes = Columns.__dict__["_nodes"].__set__
_set_labels = Columns.__dict__["_labels"].__set__
_set_rejects = Columns.__dict__["_rejects"].__set__


def new_frame(
    data: Any = None,
    columns: Any = None,
    index: Any = None,
    dtype: Any = None,
    copy: bool | None = None,
) -> DataFrame:
    """A frame of values, or another handle on a frame."""
    return Columns._frame(data, index, columns, dtype, copy)


def names_of(nodes: Mapping[Any, _core.Node], kinds: str) -> list[Any]:
    """The names of the nodes of these kinds of dtypes; see `DType.is_of`."""
    found = {dtype: DType(dtype).is_of(kinds) for dtype in {n.dtype for n in nodes.values()}}
    if all(found.values()):
        return list(nodes)
    return [name for name, node in nodes.items() if found[node.dtype]]


def frame_of(
    nodes: dict[Any, _core.Node], labels: Mapping[Any, _core.Node] | None = None
) -> DataFrame:
    """A frame of the nodes of its columns and labels."""
    frame = object.__new__(Columns._frame)
    _set_nodes(frame, nodes)
    _set_labels(frame, labels if isinstance(labels, PickedNumbers) else dict(labels or {}))
    _set_rejects(frame, None)
    return frame


def frame_of_parts(table: _core.Node, names: list[str]) -> DataFrame:
    """The columns of a table node, in order."""
    return frame_of(dict(zip(names, _core.parts(table, len(names)), strict=True)))


def frame_of_table(table: _core.Table, kept: bool = False) -> DataFrame:
    """The columns of a table in memory; ``kept``: for a device without room for them."""
    domain = _core.new_domain()
    return frame_of(
        {
            name: _core.data(table.column(i), name, domain, kept=kept)
            for i, name in enumerate(table.names)
        }
    )


#: How many selections wait for their numbers at most.
_DEEPEST = 100


class PickedNumbers(dict[str, Any]):
    """No labels, for rows that were selected: their numbers before that, made when asked for."""

    __slots__ = ("_make", "_node", "depth")

    depth: int

    def __init__(self, make: Callable[[], _core.Node], below: Iterable[Any] = ()) -> None:
        self._make: Callable[[], _core.Node] | None = make
        self._node: _core.Node | None = None
        self.depth = 1
        for each in below:
            if isinstance(each, PickedNumbers):
                self.depth = max(self.depth, each.depth + 1)
        if self.depth > _DEEPEST:  # a loop of selections must not recurse as deep as it is long
            with contextlib.suppress(InvalidArgumentError):
                self.node()
                self.depth = 0

    def node(self) -> _core.Node:
        """The numbers, lazy."""
        if self._make is not None:
            self._node, self._make = self._make(), None
        assert self._node is not None
        return self._node


def picked_numbers(
    labels: Mapping[str, _core.Node],
    like: _core.Node | None,
    pick: Callable[[_core.Node], _core.Node],
) -> PickedNumbers | None:
    """The numbers of rows that `pick` selects from the rows of `like`; none after a renumbering."""
    if like is None or (are_picked(like) and not isinstance(labels, PickedNumbers)):
        return None
    if isinstance(labels, PickedNumbers):
        domain = like.domain  # the rows that `pick` knows, which numbers of a slice do not name
        return PickedNumbers(lambda: pick(_core.in_domain(labels.node(), domain)), [labels])
    if like.op in ("read_csv", "scan_parquet"):  # what `read_*` gives is data
        return None  # of a scan: numbers would read the rows that a filter rules out
    rows, domain = like.shape[0], like.domain
    if rows < 0:
        return PickedNumbers(lambda: pick(_counted(like)))
    return PickedNumbers(lambda: pick(_core.in_domain(counted(rows), domain)))


def with_numbers(made: Series, series: Series, pick: Callable[[_core.Node], _core.Node]) -> Series:
    """The rows that `pick` selects from a series, with their numbers if it has no labels."""
    if not is_labelled(series):
        made._numbers = picked_numbers(
            {} if series._numbers is None else series._numbers, series._node, pick
        )
    return made


def _counted(like: _core.Node) -> _core.Node:
    """0, 1, 2, ... for the rows of a node, without evaluating their number."""
    return ((series_of(_core.repeat(like, 1))).cumsum() - 1)._node


def is_frame(value: object) -> TypeIs[DataFrame]:
    """Whether this is a frame."""
    return isinstance(value, Columns)


def without_labels(frame: DataFrame, ignore_index: bool) -> DataFrame:
    """The frame; with ``ignore_index=True`` without label columns and renumbered."""
    return frame.reset_index(drop=True) if ignore_index else frame


def framed(series: Series) -> DataFrame:
    """A series as the column of a frame with its labels."""
    if is_labelled(series):
        return series._frame
    return frame_of({series.name or "value": series._node}, series._numbers)
