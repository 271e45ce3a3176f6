# SPDX-License-Identifier: Apache-2.0
"""The base of frames: nodes of columns and labels by name, below the public methods."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, ClassVar

from headrace import _core
from headrace.dtypes import DType
from headrace.errors import TypeMismatchError
from headrace.rows import refuse_apart
from headrace.series.column import Column, is_labelled, labelled_series, series_of

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
    _nodes: dict[str, _core.Node]
    #: The index: nodes by name, shared with the columns that are shown.
    _labels: dict[str, _core.Node]
    _rejects: DataFrame | None
    _frame: ClassVar[type[DataFrame]]

    def __init_subclass__(cls) -> None:
        Columns._frame = cls  # type: ignore[assignment]

    def __init__(self) -> None:
        _set_nodes(self, {})
        _set_labels(self, {})
        _set_rejects(self, None)

    def _of_rows(self, names: list[str], nodes: Iterable[_core.Node]) -> DataFrame:
        """A frame of new rows for the columns and hidden labels `names`."""
        made = dict(zip(names, nodes, strict=True))
        if not self._labels:
            return frame_of(made)
        shown = {name: made[name] for name in self._nodes}
        return frame_of(shown, {name: made[name] for name in self._labels})

    def _hidden(self) -> dict[str, _core.Node]:
        """Labels that are not among the selected columns."""
        return {name: node for name, node in self._labels.items() if name not in self._nodes}

    def _everything(self) -> dict[str, _core.Node]:
        """Columns and hidden labels."""
        return {**self._nodes, **self._hidden()} if self._labels else dict(self._nodes)

    def _unlabelled(self) -> list[str]:
        """The columns that are not labels."""
        return [name for name in self._nodes if name not in self._labels]

    def _names_of(self, kinds: str) -> list[str]:
        """The columns of these kinds of dtypes that are not labels; see `DType.is_of`."""
        dtypes = {name: self._nodes[name].dtype for name in self._unlabelled()}
        found = {dtype: DType(dtype).is_of(kinds) for dtype in set(dtypes.values())}
        return [name for name, dtype in dtypes.items() if found[dtype]]

    def _find(self, name: str) -> str:
        """The name, if there is such a column."""
        if not isinstance(name, str):
            raise TypeMismatchError(
                f"DataFrame: a column name must be a string: name={name!r}; the columns are "
                f"{', '.join(self._nodes)}"
            )
        if name not in self._nodes:
            _core.no_such_column("DataFrame", list(self._nodes), name)
        return name

    def _series(self, name: str) -> Series:
        """An existing column, with its row labels."""
        node = self._nodes[name]
        if not self._labels or name in self._labels:
            return series_of(node, name)
        return labelled_series(frame_of({**self._labels, name: node}, self._labels), name)

    def _rows(self) -> int:
        """The number of rows; runs the plan if it depends on the data."""
        for node in self._nodes.values():
            return len(series_of(node))
        return 0

    def _table(self) -> _core.Table:
        """The columns as a table in memory; evaluates."""
        nodes = list(self._nodes.values())
        _core.force(nodes)
        return _core.Table(list(self._nodes), [node.value() for node in nodes])

    def _aligned(self, series: Column) -> _core.Node:
        """Values with the row count of this frame, as part of it."""
        for node in self._nodes.values():
            return _core.align_check("DataFrame", series.name or "", node, series._node)
        return series._node

    def _in_domain(self, domain: int) -> DataFrame:
        """The same rows as another row set, without labels."""
        return frame_of({n: _core.in_domain(v, domain) for n, v in self._nodes.items()})

    def _refuse_free(self, op: str, node: _core.Node) -> None:
        """Raise for a separate series combined with filtered or sorted rows."""
        refuse_apart(op, [node, *list(self._everything().values())[:1]])

    def _put(self, name: str, node: _core.Node) -> None:
        """Set a column, which must have the rows of this frame."""
        if self._nodes:
            first = next(iter(self._nodes.values()))
            if not node.domain and node.shape[0] >= 0 > first.shape[0]:
                _core.force([first])  # the row count depends on the data
            node = _core.align_check("DataFrame", name, first, node)
        self._nodes[name] = node
        if name in self._labels:
            self._labels[name] = node


# Attributes of a frame are its columns: `DataFrame.__setattr__` would look these names up.
_set_nodes = Columns.__dict__["_nodes"].__set__
_set_labels = Columns.__dict__["_labels"].__set__
_set_rejects = Columns.__dict__["_rejects"].__set__


def new_frame(
    data: Any = None, columns: Any = None, index: Any = None, copy: bool | None = None
) -> DataFrame:
    """A frame of values, or another handle on a frame."""
    return Columns._frame(data, index, columns, copy=copy)


def frame_of(
    nodes: dict[str, _core.Node], labels: Mapping[str, _core.Node] | None = None
) -> DataFrame:
    """A frame of nodes; labels of the same names are these columns."""
    frame = object.__new__(Columns._frame)
    _set_nodes(frame, nodes)
    _set_labels(frame, {n: nodes.get(n, v) for n, v in labels.items()} if labels else {})
    _set_rejects(frame, None)
    return frame


def frame_of_parts(table: _core.Node, names: list[str]) -> DataFrame:
    """The columns of a table node, in order."""
    return frame_of(dict(zip(names, _core.parts(table, len(names)), strict=True)))


def frame_of_table(table: _core.Table) -> DataFrame:
    """The columns of a table in memory."""
    domain = _core.new_domain()
    return frame_of(
        {name: _core.data(table.column(i), name, domain) for i, name in enumerate(table.names)}
    )


def is_frame(value: object) -> TypeIs[DataFrame]:
    """Whether this is a frame."""
    return isinstance(value, Columns)


def without_labels(frame: DataFrame, ignore_index: bool) -> DataFrame:
    """The frame; with ``ignore_index=True`` without label columns and renumbered."""
    return frame.reset_index(drop=True) if ignore_index else frame


def framed(series: Series) -> DataFrame:
    """A series as the last column of a frame with its labels."""
    if is_labelled(series):
        return series._frame
    return frame_of({series.name or "value": series._node})
