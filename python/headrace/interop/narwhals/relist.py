# SPDX-License-Identifier: Apache-2.0
"""Columns of lists made again of their items."""

from __future__ import annotations

from typing import Any

from headrace import _core
from headrace.interop.narwhals.rows import as_column, chosen
from headrace.series.column import new_series, series_of
from headrace.series.elementwise import row_positions


def relisted(own: Any, rows: _core.Node, items: _core.Node) -> _core.Node:
    """Lists of items in the order in which they come; empty and null lists stay as they are."""
    empty = (own.list.len().fill_null(0) == 0)._node
    rows = as_column(rows)
    gone = _core.in_domain(_core.take(empty, rows), rows.domain)
    numbers = chosen(gone, None, rows)
    lists = _core.group_lists(items, numbers, own._node)
    places = chosen(own.is_null(), -1, row_positions(own._plain()))
    return _core.in_domain(_core.asof_values(lists, places), own._node.domain)


def cast_items(own: Any, word: str) -> _core.Node:
    """Lists with their items as another dtype."""
    rows, (items,) = _core.explode([own._node])
    values = series_of(items)
    made = cast_items(values, word[5:-1]) if word.startswith("list[") else values.astype(word)._node
    return relisted(own, rows, made)


def listed_rows(columns: list[Any]) -> _core.Node:
    """The values of each row as a list."""
    first = columns[0]._node
    rows = len(columns[0])
    values = _core.concat([each._node for each in columns])
    numbers = new_series([row for _ in columns for row in range(rows)], dtype="int64")
    node = _core.group_lists(
        _core.in_domain(values, 0), _core.in_domain(numbers._node, 0), _core.in_domain(first, 0)
    )
    return _core.in_domain(node, first.domain)
