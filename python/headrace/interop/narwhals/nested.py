# SPDX-License-Identifier: Apache-2.0
"""Categories, lists, maps and structs for narwhals."""

from __future__ import annotations

from typing import Any

from narwhals._compliant.any_namespace import (
    CatNamespace,
    ListNamespace,
    MapNamespace,
    StructNamespace,
)
from narwhals._compliant.series import EagerSeriesNamespace
from narwhals._utils import not_implemented

from headrace import _core
from headrace.groupby.keys import Words
from headrace.interop.narwhals.relist import relisted
from headrace.interop.narwhals.rows import as_column, chosen, positions_sorted, taken
from headrace.series.column import series_of


class Categories(EagerSeriesNamespace, CatNamespace):  # type: ignore[misc]
    """``.cat`` of a series of categories."""

    def get_categories(self) -> Any:
        """The distinct values, in the order of their codes."""
        return self.compliant._made(self.native.cat.categories._node)


class Maps(EagerSeriesNamespace, MapNamespace):  # type: ignore[misc]
    """``.map``: there are no columns of maps."""

    get: Any = not_implemented()


class Structs(EagerSeriesNamespace, StructNamespace):  # type: ignore[misc]
    """``.struct`` of a series of structs."""

    def field(self, name: str) -> Any:
        """A field, null where the struct is."""
        return self._of(self.native.struct.field(name)._node).alias(name)

    def _of(self, node: _core.Node) -> Any:
        return self.compliant._kept(node)


class Lists(EagerSeriesNamespace, ListNamespace):  # type: ignore[misc]
    """``.list`` of a series of lists."""

    def _of(self, node: _core.Node) -> Any:
        return self.compliant._kept(node)

    def len(self) -> Any:
        """The number of items, nulls included."""
        return self._of(self.native.list.len().astype("uint32")._node)

    def get(self, index: int) -> Any:
        """The item at a position."""
        return self._of(self.native.list.get(index)._node)

    def _items(self) -> tuple[_core.Node, _core.Node]:
        """The row of each item, and the items; an empty list has one null."""
        rows, (items,) = _core.explode([self.native._node])
        rows = as_column(rows)
        return rows, _core.in_domain(items, rows.domain)

    def _reduced(self, make: Any, of_none: Any = None) -> Any:
        """A reduction of the items of each list; null for null, and `of_none` for none."""
        rows, items = self._items()
        found = series_of(_core.in_domain(make(rows, items), self.native._node.domain))
        if of_none is not None:
            found = series_of(chosen(self.native.list.len() == 0, of_none, found))
        return self._of(chosen(self.native.is_null(), None, found))

    def _aggregate(self, name: str, of_none: Any = None, **options: Any) -> Any:
        def make(rows: _core.Node, items: _core.Node) -> _core.Node:
            words = [Words("", name, _core.in_domain(items, rows.domain), **options)]
            return _core.group_columns([("row", rows)], words, "first", False)[1]

        return self._reduced(make, of_none)

    def min(self) -> Any:
        """The smallest item."""
        return self._aggregate("min")

    def max(self) -> Any:
        """The largest item."""
        return self._aggregate("max")

    def mean(self) -> Any:
        """The mean of the items."""
        return self._aggregate("mean")

    def median(self) -> Any:
        """The median of the items."""
        return self._aggregate("median")

    def sum(self) -> Any:
        """The total of the items; 0 of none."""
        return self._aggregate("sum", 0)

    def contains(self, item: Any) -> Any:
        """Whether an item is there."""

        def make(rows: _core.Node, items: _core.Node) -> _core.Node:
            values = series_of(_core.in_domain(items, rows.domain))
            found = (values.is_null() if item is None else values == item).astype("int8")
            words = [Words("", "max", found._node)]
            return _core.group_columns([("row", rows)], words, "first", False)[1]

        found = self._reduced(make, 0)
        return self._of(found.native.astype("bool")._node)

    def sort(self, *, descending: bool, nulls_last: bool) -> Any:
        """The items of each list in order."""
        rows, items = self._items()
        places = positions_sorted([rows, items], [False, descending], nulls_last)
        return self._listed(*taken([rows, items], places))

    def unique(self, *, maintain_order: bool) -> Any:
        """The distinct items of each list, in the order in which they come."""
        rows, items = self._items()
        first = _core.group_by(
            [("row", rows), ("item", items)], [Words("", "first_row")], "first", False
        )
        return self._listed(*taken([rows, items], _core.part(first, 2)))

    def _listed(self, rows: _core.Node, items: _core.Node) -> Any:
        return self._of(relisted(self.native, rows, items))
