# SPDX-License-Identifier: Apache-2.0
"""One value per column of a frame: the result of frame reductions."""

from __future__ import annotations

import functools
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from headrace import _core
from headrace.errors import InvalidArgumentError
from headrace.frame.columns import frame_of
from headrace.lazy.handle import array_of
from headrace.rows import engine_names
from headrace.series.column import new_series
from headrace.series.labelled import LabelledSeries

if TYPE_CHECKING:
    from headrace.series.series import Series

_LABEL = "column"


@functools.lru_cache(maxsize=4096)
def _domain_of(names: tuple[str, ...]) -> int:
    """The row set of values for these columns; other columns make another row set."""
    return _core.new_domain()


class ColumnValues(LabelledSeries, role="_column_values"):
    """One value per column of a frame, labelled by column name; lazy.

    An item keeps the dtype of its column; as a series the values have one common dtype. Arithmetic,
    comparison, `fillna`, `clip` and `where` of a frame match the values to columns by name.

    >>> df = hr.DataFrame({"x": [1, 2, 6], "y": [1.5, None, 2.5]})
    >>> means = df.mean()
    >>> f"{means['x']:.1f}", means.to_dict(), df.isna().sum().sum().item()
    ('3.0', {'x': 3.0, 'y': 2.0}, 1)
    >>> (df - means).x.to_list(), means.sort_values().index.to_list()
    ([-2.0, -1.0, 3.0], ['y', 'x'])
    """

    __slots__ = ("_names", "_parts")

    def __init__(
        self,
        names: list[str],
        values: _core.Node,
        name: str,
        parts: dict[str, Any] | list[_core.Node] | None = None,
    ) -> None:

        domain = _domain_of(tuple(names))
        whole = all(isinstance(name, int) for name in names)
        words = new_series(names if whole else engine_names(names))
        labels = _core.in_domain(words._node, domain)
        nodes = {name: _core.in_domain(values, domain)}
        super().__init__(frame_of(nodes, {_LABEL: labels}), name=name)
        self._names = names
        self._parts = parts

    @classmethod
    def _again(cls, names: list[str], values: Series, name: str) -> ColumnValues:
        """Rebuild from a pickle."""
        return cls(names, values._node, name)

    def _like(self, node: _core.Node) -> Any:
        if node.domain != self._node.domain:
            return super()._like(node)
        return ColumnValues(self._names, node, *self._frame._nodes)

    def _elementwise(self, op: str, *values: Any, missing_is_false: bool = False) -> Any:
        for value in values:
            if isinstance(value, ColumnValues) and value._names != self._names:
                raise InvalidArgumentError(
                    f"{op}: the column names differ: columns={self._names}, other={value._names}; "
                    "select the shared ones: df[[...]]"
                )
        return super()._elementwise(op, *values, missing_is_false=missing_is_false)

    def _nodes_of(self, names: Iterable[str]) -> list[_core.Node] | None:
        """The values of these columns as nodes; None where they are others, or were asked for."""
        parts = self._parts
        return parts if isinstance(parts, list) and self._names == list(names) else None

    def _by_column(self) -> dict[str, Any]:
        """The value of each column by name, lazy if it is a number."""
        if self._parts is None:
            rows = self._plain()
            self._parts = {name: rows[i : i + 1].max() for i, name in enumerate(self._names)}
        elif isinstance(self._parts, list):
            self._parts = dict(zip(self._names, map(array_of, self._parts), strict=True))
        return self._parts

    def __getitem__(self, key: Any) -> Any:
        """The value of a column by name; positions, masks and slices as for any series."""
        if isinstance(key, str):
            if key not in self._names:
                _core.no_such_column("getitem", self._names, key)
            return self._by_column()[key]
        return super().__getitem__(key)

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            if not name.startswith("_") and name in self._names:
                return self._by_column()[name]
            return super().__getattr__(name)

    def __len__(self) -> int:
        return len(self._names)

    def keys(self) -> list[str]:
        """The column names, so that ``dict(values)`` works."""
        return list(self._names)

    def __contains__(self, name: object) -> bool:
        return name in self._names

    def __reduce_ex__(self, protocol: Any) -> Any:
        return ColumnValues._again, (self._names, self._plain(), *self._frame._nodes)
