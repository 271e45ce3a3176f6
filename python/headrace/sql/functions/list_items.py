# SPDX-License-Identifier: Apache-2.0
"""Functions of lists that pick items by places or by other lists."""

from __future__ import annotations

from collections.abc import Callable

from headrace import _core
from headrace.errors import InvalidArgumentError, UnsupportedError
from headrace.groupby.keys import Words
from headrace.sql.casts import cast, common
from headrace.sql.elementwise import filled, run, where
from headrace.sql.functions import nested
from headrace.sql.lists import (
    chosen_items,
    grouped,
    items_of,
    null_where_null,
    places_of,
    relisted,
)
from headrace.sql.relation import Field, Relation, groups_of, joined
from headrace.sql.values import NULL, Constant, Operand, Value, column_of, item_dtype, value_of

ByName = Callable[[list[Operand], _core.Node], Operand]
_MOST = 100_000


def _of_rows(operand: Operand, rows: _core.Node, like: _core.Node) -> _core.Node:
    """A value of each list for each of its items."""
    column = column_of(cast(operand, "int64"), like, "int64")
    return _core.in_domain(_core.take(column, rows), rows.domain)


def _counted(place: _core.Node, size: _core.Node) -> _core.Node:
    """A place from the front; negative ones count from the end."""
    return where(run("less", place, 0), run("add", run("add", place, size), 1), place)


def item_at(operand: Operand, at: Operand) -> Operand:
    """The item at a place that is a column."""
    lists = nested.as_list(operand, "LIST_EXTRACT")
    rows, _ = items_of(lists)
    size = _of_rows(nested.length(lists), rows, lists.node)
    wanted = _counted(_of_rows(at, rows, lists.node), size)
    found = chosen_items(lists, rows, run("equal", places_of(rows), wanted))
    return value_of(_core.list_item(found, 0))


def part_between(operand: Operand, begin: Operand | None, end: Operand | None) -> Operand:
    """The items between two places that are columns, both counted."""
    lists = nested.as_list(operand, "LIST_SLICE")
    ends = [each for each in (begin, end) if each is not None]
    if any(each.dtype == NULL for each in ends):
        return Constant(None, lists.dtype)
    rows, _ = items_of(lists)
    size = _of_rows(nested.length(lists), rows, lists.node)
    place = places_of(rows)
    kept = run("greater_equal", place, 1)
    for op, bound in (("greater_equal", begin), ("less_equal", end)):
        if bound is not None:
            limit = _counted(_of_rows(bound, rows, lists.node), size)
            kept = run("logical_and", kept, run(op, place, limit))
    found = chosen_items(lists, rows, kept)
    return value_of(null_where_null(found, *ends))


def items_at(lists: Value, rows: _core.Node, places: _core.Node) -> Value:
    """The items of these lists at these places; null for none."""
    own, items = items_of(lists)
    left = Relation(
        [Field("", "row", value_of(rows), True), Field("", "place", value_of(places), True)], rows
    )
    right = Relation([Field("", "item", items, True)], own)
    keys = [
        (_core.astype(rows, "int64"), _core.astype(own, "int64")),
        (places, places_of(own)),
    ]
    made = joined(left, right, keys, "left", True)
    return value_of(_core.in_domain(made.fields[-1].value.node, rows.domain), items.bits)


def _where(operands: list[Operand], like: _core.Node) -> Operand:
    """LIST_WHERE."""
    if any(each.dtype == NULL for each in operands):
        return Constant(None, operands[0].dtype)
    return items_where(*operands)


def items_where(operand: Operand, kept_ones: Operand) -> Operand:
    """The items for which a list of bools is true."""
    lists, mask = (nested.as_list(each, "LIST_WHERE") for each in (operand, kept_ones))
    rows, _ = items_of(lists)
    kept = items_at(mask, rows, places_of(rows))
    return value_of(null_where_null(chosen_items(lists, rows, kept.node), mask))


def _select(operands: list[Operand], like: _core.Node) -> Operand:
    """LIST_SELECT: the items at a list of places."""
    if any(each.dtype == NULL for each in operands):
        return Constant(None, operands[0].dtype)
    lists = nested.as_list(operands[0], "LIST_SELECT")
    places = nested.as_list(cast(operands[1], "list[int64]"), "LIST_SELECT")
    rows, wanted = items_of(places)
    found = items_at(lists, rows, wanted.node)
    return value_of(null_where_null(relisted(places, rows, found.node), lists))


def _resize(operands: list[Operand], like: _core.Node) -> Operand:
    """LIST_RESIZE: as many items, more ones null or a value."""
    if operands[0].dtype == NULL:
        return Constant(None, NULL)
    lists = nested.as_list(operands[0], "LIST_RESIZE")
    if operands[1].dtype == NULL:
        return Constant(None, lists.dtype)
    size = nested.whole(operands[1], "LIST_RESIZE") or 0
    if not 0 <= size <= _MOST:
        raise InvalidArgumentError(f"sql: a size is out of range: word='LIST_RESIZE', size={size}")
    inner = item_dtype(lists.dtype)
    more = cast(operands[2], inner) if len(operands) > 2 else Constant(None, inner)
    fill = nested.list_of([more] * size, like) if size else lists
    made = nested.joined_lists([lists, fill], False) if size else lists
    assert isinstance(made, Value)
    return value_of(_core.list_slice(made.node, 0, size))


def _intersect(operands: list[Operand], like: _core.Node) -> Operand:
    """LIST_INTERSECT: the different items that are in both lists."""
    if any(each.dtype == NULL for each in operands):
        return Constant(None, NULL)
    if len(operands) != 2:
        raise UnsupportedError("sql: expected two lists: word='LIST_INTERSECT'")
    _, both = common(operands, "LIST_INTERSECT")
    first, other = (nested.as_list(each, "LIST_INTERSECT") for each in both)
    once = nested.as_list(nested.distinct(first), "LIST_INTERSECT")
    rows, items = items_of(once)
    theirs = value_of(_core.in_domain(_core.take(other.node, rows), items.node.domain))
    kept = nested.contains(theirs, items)
    found = chosen_items(
        once, rows, _core.in_domain(column_of(kept, items.node, "bool"), rows.domain)
    )
    return value_of(null_where_null(found, other))


def _zip(operands: list[Operand], like: _core.Node) -> Operand:
    """LIST_ZIP: rows of the items at the same places; shorter lists end in nulls."""
    cut = operands[-1].dtype == "bool"
    if cut and not isinstance(operands[-1], Constant):
        raise UnsupportedError("sql: a column as an option: word='LIST_ZIP'")
    shortest = bool(operands.pop().value) if cut else False  # type: ignore[union-attr]
    empty = value_of(_core.list_slice(_node(nested.list_of([Constant(1, "int32")], like)), 0, 0))
    lists = [empty if each.dtype == NULL else nested.as_list(each, "LIST_ZIP") for each in operands]
    parts = []
    for each in lists:
        rows, _ = items_of(each)
        there = run("not_equal", filled(_core.list_length(each.node), 0), 0)
        kept = _core.in_domain(_core.take(there, rows), rows.domain)
        parts.append(_core.filter_columns([_core.astype(rows, "int64"), places_of(rows)], kept))
    domain = _core.new_domain()
    every = [_core.in_domain(_core.concat([part[i] for part in parts]), domain) for i in (0, 1)]
    groups, (count,) = groups_of(every, [Words("n", "size")])
    if shortest:
        groups = _core.filter_columns(groups, run("equal", count, len(lists)))
    order = Relation(
        [Field("", str(i), value_of(each)) for i, each in enumerate(groups)], groups[0]
    )
    rows, places = order.sorted([(each, False) for each in groups]).nodes()
    items: list[Operand] = [items_at(each, rows, places) for each in lists]
    made = _node(nested.row_of(items, rows))
    return value_of(_core.in_domain(grouped(made, rows, like), like.domain))


def _node(operand: Operand) -> _core.Node:
    assert isinstance(operand, Value)
    return operand.node


BY_NAME: dict[str, ByName] = {
    **{name: _zip for name in ("list_zip", "array_zip")},
    **{name: _where for name in ("list_where", "array_where")},
    **{name: _select for name in ("list_select", "array_select")},
    **{name: _resize for name in ("list_resize", "array_resize")},
    **{name: _intersect for name in ("list_intersect", "array_intersect")},
}
