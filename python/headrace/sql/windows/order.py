# SPDX-License-Identifier: Apache-2.0
"""Window functions with an ORDER BY of their own, which orders the rows of the frame."""

from __future__ import annotations

from typing import Any

from headrace import _core
from headrace.errors import UnsupportedError
from headrace.groupby.keys import Words
from headrace.sql import operators
from headrace.sql.casts import cast
from headrace.sql.clauses.ordering import sort_keys
from headrace.sql.elementwise import bool_value, filled, run, where
from headrace.sql.expressions import evaluate
from headrace.sql.lists import rows_from_zero
from headrace.sql.nested.keys import as_keys
from headrace.sql.relation import Field, Relation, groups_of, joined
from headrace.sql.scope import Scope
from headrace.sql.syntax import exp
from headrace.sql.values import NOTHING, NULL, Constant, Operand, Value, column_of, value_of
from headrace.sql.windows.pairs import Frame, Pairs, Positions

Expression = Any


def with_order(node: Expression) -> tuple[Expression, tuple[Expression, ...]]:
    """A call without the ORDER BY of its arguments, and what that orders by."""
    for key, value in node.args.items():
        values = value if isinstance(value, list) else [value]
        for each in values:
            if isinstance(each, exp.Order):
                made = node.copy()
                made.set(key, [] if isinstance(value, list) else each.this)
                return made, tuple(each.expressions)
    return node, ()


def tile_of(place: _core.Node, size: _core.Node, count: int) -> _core.Node:
    """NTILE of a row at a place, from 0 on, among `size` rows."""
    each = run("floor_divide", size, count)
    more = run("remainder", size, count)
    border = run("multiply", more, run("add", each, 1))
    large = run("floor_divide", place, run("add", each, 1))
    small = run("floor_divide", run("subtract", place, border), run("maximum", each, 1))
    return run("add", where(run("less", place, border), large, run("add", more, small)), 1)


def _ranks(scope: Scope, items: tuple[Expression, ...]) -> tuple[_core.Node, _core.Node]:
    """For each row its place in an order of all rows, and the first place that is equal."""
    like = scope.relation.rows
    rows = rows_from_zero(like)
    order = [
        (
            evaluate(each.this, scope),
            bool(each.args.get("desc")),
            bool(each.args.get("nulls_first")),
        )
        for each in items
    ]
    values = [operand for operand, _, _ in order if isinstance(operand, Value)]
    if not values:
        return rows, _core.astype(_core.repeat(like, 0), "int64")
    held = Relation(
        [Field("", str(i), each) for i, each in enumerate([value_of(rows), *values])], rows
    )
    held = held.sorted(sort_keys(order, rows))
    row, *keys = held.nodes()
    place = rows_from_zero(row)
    same = _core.part(_core.group_places(as_keys(keys), False), 0)
    first = run("subtract", place, _core.astype(_core.in_domain(same, row.domain), "int64"))
    back = Relation([Field("", "place", value_of(place)), Field("", "first", value_of(first))], row)
    found = back.sorted([(row, False)]).nodes()
    return _core.in_domain(found[0], like.domain), _core.in_domain(found[1], like.domain)


def in_argument_order(
    scope: Scope,
    places: Positions,
    frame: Frame,
    call: Expression,
    items: tuple[Expression, ...],
) -> Operand:
    """A rank of each row, or the row some places away, among the rows of its frame."""
    place, first = _ranks(scope, items)
    pairs = Pairs(scope, places, frame, {"place": place, "first": first})
    if isinstance(call, exp.Lag | exp.Lead):
        return _moved(scope, places, pairs, call)
    size, before = _counts(places, pairs, "less", "place", "place")
    if isinstance(call, exp.RowNumber):
        return value_of(run("add", before, 1), 48)
    if isinstance(call, exp.Ntile):
        count = evaluate(call.this, scope)
        if not isinstance(count, Constant) or type(count.value) is not int or count.value < 1:
            raise UnsupportedError("sql: expected a number from 1 on: word='NTILE'")
        return value_of(tile_of(before, size, count.value), 48)
    if isinstance(call, exp.CumeDist):
        size, upto = _counts(places, pairs, "less_equal", "first", "first")
        none = run("equal", size, 0)
        return value_of(where(none, 0.0, run("divide", upto, run("maximum", size, 1))))
    size, before = _counts(places, pairs, "less", "first", "first")
    if isinstance(call, exp.Rank):
        return value_of(run("add", before, 1), 48)
    if isinstance(call, exp.PercentRank):
        others = run("subtract", size, 1)
        single = run("less_equal", others, 0)
        return value_of(where(single, 0.0, run("divide", before, run("maximum", others, 1))))
    raise UnsupportedError(
        f"sql: unsupported: word='ORDER BY', expression={call.sql('duckdb')[:80]!r}"
    )


def _counts(
    places: Positions, pairs: Pairs, op: str, name: str, own: str
) -> tuple[_core.Node, _core.Node]:
    """The rows of each frame, and how many of them compare so with the row."""
    smaller = _core.astype(run(op, pairs.other(name), pairs.own(own)), "int64")
    words = [Words("rows", "size"), Words("smaller", "sum", smaller)]
    (row,), sums = groups_of([pairs.own("row")], words)
    right = Relation(
        [Field("", str(i), value_of(_core.astype(each, "int64"))) for i, each in enumerate(sums)],
        row,
    )
    made = joined(Relation([], places.row()), right, [(places.row(), row)], "left", True)
    found = [filled(_aligned(node, places.like), 0) for node in made.nodes()]
    return found[0], found[1]


def _aligned(node: _core.Node, like: _core.Node) -> _core.Node:
    """A column of a join that keeps the rows of `like`, as one of these."""
    return _core.in_domain(_core.take(node, rows_from_zero(like)), like.domain)


def _moved(scope: Scope, places: Positions, pairs: Pairs, call: Expression) -> Operand:
    """LAG and LEAD: the row that is `offset` places away in the order of the frame."""
    value = evaluate(call.this, scope)
    offset, other = call.args.get("offset"), call.args.get("default")
    step: Operand = Constant(1, "int32") if offset is None else evaluate(offset, scope)
    default: Operand = NOTHING if other is None else evaluate(other, scope)
    default = default if NULL in (value.dtype, default.dtype) else cast(default, value.dtype)
    if not isinstance(step, Constant) or type(step.value) is not int:
        raise UnsupportedError("sql: a column as an offset with ORDER BY: word='LAG'")
    moved = -step.value if isinstance(call, exp.Lag) else step.value
    # The rows of the frames in order, each with its place in the frame.
    own, row, place = pairs.own("row"), pairs.other("row"), pairs.other("place")
    held = Relation([Field("", "own", value_of(own)), Field("", "row", value_of(row))], own)
    frame_of, found = held.sorted([(own, False), (place, False)]).nodes()
    at = _core.part(_core.group_places([frame_of], False), 0)
    at = _core.astype(_core.in_domain(at, frame_of.domain), "int64")
    _, before = _counts(places, pairs, "less", "place", "place")
    right = Relation([Field("", "row", value_of(found))], found)
    keys = [(places.row(), frame_of), (run("add", before, moved), at)]
    made = joined(Relation([], places.row()), right, keys, "left", True)
    node = _aligned(made.fields[0].value.node, places.like)
    there = run("logical_not", run("is_null", node))
    node = _core.take(column_of(value, places.like), filled(node, 0))
    taken = value_of(where(there, _core.in_domain(node, places.like.domain), None))
    return operators.choose(bool_value(there), taken, default)
