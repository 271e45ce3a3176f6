# SPDX-License-Identifier: Apache-2.0
"""Aggregates that depend on an order: lists, strings, first and last values."""

from __future__ import annotations

from typing import Any

from headrace import _core
from headrace.errors import UnsupportedError
from headrace.sql.aggregates.calls import Call, at_rows, word
from headrace.sql.clauses.ordering import sort_keys
from headrace.sql.elementwise import filled, run, where
from headrace.sql.lists import grouped, rows_from_zero
from headrace.sql.nested.keys import unique_items
from headrace.sql.relation import Field, Relation, row_numbers
from headrace.sql.values import (
    Constant,
    Operand,
    Value,
    value_of,
)

Expression = Any


def first_in_order(
    value: Value,
    order: list[tuple[Operand, bool, bool]],
    kept: _core.Node | None,
    like: _core.Node,
) -> Call:
    """The value of the first kept row of each group in an order; null of none."""
    rows = rows_from_zero(like)
    sorting = sort_keys(order, like)
    if not sorting:
        places = rows if kept is None else where(filled(kept, False), rows, None)
        return Call([word("min", places)], lambda n: at_rows(value, n[0]))
    row = Relation([Field("", "row", value_of(rows))], rows).sorted(sorting).rows
    place = rows_from_zero(row)
    back = Relation([Field("", "place", value_of(place))], place).sorted([(row, False)]).rows
    place = _core.in_domain(back, like.domain)
    places = place if kept is None else where(filled(kept, False), place, None)

    def finish(nodes: list[_core.Node]) -> Operand:
        at = _core.asof_values(row, filled(nodes[0], -1))
        return at_rows(value, _core.in_domain(at, nodes[0].domain))

    return Call([word("min", places)], finish)


def end_of(value: Value, kept: _core.Node | None, kind: str, like: _core.Node) -> Call:
    """The value of the first kept row of each group for "min", of the last one for "max"."""
    rows = rows_from_zero(like)
    places = rows if kept is None else where(filled(kept, False), rows, None)
    return Call([word(kind, places)], lambda n: at_rows(value, n[0]))


def there(values: list[Value], kept: _core.Node | None) -> _core.Node | None:
    """The kept rows in which none of the values is null."""
    for each in values:
        if each.node.nullable:
            known = run("logical_not", run("is_null", each.node))
            kept = known if kept is None else run("logical_and", kept, known)
    return kept


def constant_text(operand: Operand, name: str) -> str:
    """A constant string."""
    if isinstance(operand, Constant) and isinstance(operand.value, str):
        return operand.value
    raise UnsupportedError(f"sql: expected a constant string: word={name!r}")


def listed(
    value: Value,
    kept: _core.Node | None,
    order: list[tuple[Operand, bool, bool]],
    keys: list[_core.Node],
    like: _core.Node,
    separator: str | None,
    once: bool,
) -> Call:
    """The kept values of each group in an order, as a list or joined to a string; null of none."""
    rows = run("subtract", _core.astype(row_numbers(like), "int64"), 1)
    first = rows if not keys else None
    if keys:
        first = _core.in_domain(_core.group_transform(keys, word("min", rows), False), like.domain)
    else:
        first = _core.astype(_core.repeat(like, 0), "int64")
    numbers = first if kept is None else where(filled(kept, False), first, None)
    values = value.node
    sorting = sort_keys(order, like)
    if sorting:
        held = Relation([Field("", "v", value), Field("", "n", value_of(numbers))], numbers).sorted(
            sorting
        )
        values, numbers = held.nodes()
    lists = grouped(values, numbers, like)
    if once:
        lists = unique_items(lists)
    made = lists if separator is None else _core.list_join(lists, separator)
    empty = run("equal", _core.list_length(lists), 0)

    def finish(nodes: list[_core.Node]) -> Operand:
        places = nodes[0]
        gone = run("is_null", places)
        at = filled(places, 0)
        none = _core.in_domain(_core.asof_values(empty, where(gone, -1, at)), places.domain)
        none = filled(none, True)
        found = _core.asof_values(made, where(none, -1, at))
        return value_of(_core.in_domain(found, places.domain))

    return Call([word("min", rows)], finish)
