# SPDX-License-Identifier: Apache-2.0
"""Lists taken apart into a row for each item, and put together again."""

from __future__ import annotations

from collections.abc import Callable

from headrace import _core
from headrace.sql.elementwise import filled, run, where
from headrace.sql.values import Operand, Value, column_of, value_of


def rows_from_zero(like: _core.Node) -> _core.Node:
    """0, 1, 2, ... for the rows of a node."""
    ones = _core.astype(_core.repeat(like, 1), "int64")
    return run("subtract", _core.cumulative("cumsum", ones), 1)


def grouped(values: _core.Node, numbers: _core.Node, groups: _core.Node) -> _core.Node:
    """Lists of the values with the number of each row; those without a number are left out."""
    own = [_core.in_domain(each, 0) for each in (values, numbers, groups)]
    return _core.in_domain(_core.group_lists(*own), groups.domain)


def items_of(lists: Value) -> tuple[_core.Node, Value]:
    """The row of its list for each item, and the items; an empty list has one null."""
    rows, (items,) = _core.explode([lists.node])
    rows = _core.as_column(rows) if rows.form == "tensor" else rows
    return rows, value_of(items)


def relisted(lists: Value, rows: _core.Node, items: _core.Node) -> _core.Node:
    """Lists of other items, of which those of empty lists are none; a null list stays null."""
    empty = run("equal", filled(_core.list_length(lists.node), 0), 0)
    gone = _core.in_domain(_core.take(empty, rows), rows.domain)
    made = grouped(items, where(gone, None, _core.astype(rows, "int64")), lists.node)
    return null_where_null(made, lists)


def null_where_null(made: _core.Node, *operands: Operand) -> _core.Node:
    """Nested values that are null where one of these is."""
    places = None
    for each in operands:
        if isinstance(each, Value) and each.node.nullable:
            places = where(
                run("is_null", each.node), -1, rows_from_zero(made) if places is None else places
            )
    if places is None:
        return made
    return _core.in_domain(_core.asof_values(made, filled(places, -1)), made.domain)


def mapped(lists: Value, change: Callable[[Value], Operand]) -> Value:
    """Lists of what is made of each item."""
    rows, items = items_of(lists)
    made = change(items)
    return value_of(relisted(lists, rows, column_of(made, items.node)))


def places_of(rows: _core.Node) -> _core.Node:
    """The place of each item in its list, from 1 on; `rows` as `items_of` gives them."""
    place = _core.in_domain(_core.part(_core.group_places([rows], False), 0), rows.domain)
    return run("add", _core.astype(place, "int64"), 1)


def chosen_items(lists: Value, rows: _core.Node, kept: _core.Node) -> _core.Node:
    """Lists of the items for which a condition is true."""
    items = items_of(lists)[1].node
    empty = run("equal", filled(_core.list_length(lists.node), 0), 0)
    gone = _core.in_domain(_core.take(empty, rows), rows.domain)
    there = run("logical_and", filled(kept, False), run("logical_not", gone))
    numbers = where(there, _core.astype(rows, "int64"), None)
    return null_where_null(grouped(items, numbers, lists.node), lists)


def chosen(mask: _core.Node, yes: _core.Node, no: _core.Node) -> _core.Node:
    """Nested values of one side where a mask is true, else of the other."""
    rows = rows_from_zero(mask)
    ones = _core.astype(_core.repeat(mask, 1), "int64")
    (total,) = _core.reduce_columns("sum", [ones], 0)
    count = _core.in_domain(_core.take(_core.stack([total]), _core.repeat(mask, 0)), mask.domain)
    places = where(mask, rows, run("add", rows, count))
    return _core.in_domain(_core.asof_values(_core.concat([yes, no]), places), mask.domain)
