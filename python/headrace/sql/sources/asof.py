# SPDX-License-Identifier: Apache-2.0
"""ASOF joins: each row with the nearest row of another table; positional joins."""

from __future__ import annotations

from typing import Any

from headrace import _core
from headrace.errors import InvalidArgumentError, UnsupportedError
from headrace.sql import operators
from headrace.sql.clauses.ordering import sort_keys
from headrace.sql.elementwise import filled, run, where
from headrace.sql.expressions import evaluate
from headrace.sql.nested.keys import as_keys
from headrace.sql.relation import Field, Relation, joined
from headrace.sql.scope import Scope
from headrace.sql.sources.joins import (
    ROW,
    completed,
    equality_of,
    filtered,
    join_pairs,
    key_pair,
    masked,
    numbered,
    row_field,
    tables_of,
)
from headrace.sql.syntax import exp, queries_of
from headrace.sql.values import FLOATS, INTEGERS, Operand, is_time, type_name, value_of

Expression = Any
_KEY = " asof"
#: Direction and whether an equal key matches, of `left op right`.
_NEAREST = {
    exp.GTE: ("backward", True),
    exp.GT: ("backward", False),
    exp.LTE: ("forward", True),
    exp.LT: ("forward", False),
}
_SWAPPED = {exp.GTE: exp.LTE, exp.GT: exp.LT, exp.LTE: exp.GTE, exp.LT: exp.GT}


def asof_join(
    left: Relation, right: Relation, conditions: list[Expression], how: str, scope: Scope
) -> Relation:
    """Each left row with the nearest right row by one inequality, where all equalities hold."""
    scopes = [scope.over(left), scope.over(right)]
    pairs: list[tuple[_core.Node, _core.Node, bool]] = []
    nearest: tuple[Any, Any, Any] | None = None
    rest: list[Expression] = []
    own: list[list[Expression]] = [[], []]
    for each in conditions:
        tables = None if queries_of(each) else tables_of(each, scopes)
        if tables in ({0}, {1}):
            is_early = how in ("inner", "semi") or (tables == {1} and how in ("left", "anti"))
            (own[min(tables)] if is_early else rest).append(each)
            continue
        equality = equality_of(each, scopes)
        if equality is not None:
            a, b = equality.left, equality.right
            if equality.left_tables == {1}:
                a, b = b, a
            pair = key_pair(evaluate(a, scopes[0]), evaluate(b, scopes[1]))
            if pair is not None:
                pairs.append((*pair, equality.same_null))
                continue
        sides = (
            [tables_of(side, scopes) for side in (each.this, each.expression)]
            if type(each) in _NEAREST
            else []
        )
        if sorted(map(str, sides)) != ["{0}", "{1}"]:
            rest.append(each)
            continue
        if nearest is not None:
            raise InvalidArgumentError("sql: an ASOF join has two inequalities; use one")
        kind, a, b = type(each), each.this, each.expression
        if sides[0] == {1}:
            kind, a, b = _SWAPPED[kind], b, a
        nearest = (kind, a, b)
    if nearest is None:
        raise InvalidArgumentError("sql: an ASOF join has no inequality; add one, as a.t >= b.t")
    if own[0] or own[1]:  # leave rows out before the nearest one is chosen
        kept = [each for each in conditions if each not in own[0] and each not in own[1]]
        narrowed = [filtered(s, mine).relation for s, mine in zip(scopes, own, strict=True)]
        return asof_join(narrowed[0], narrowed[1], kept, how, scope)
    kind, a, b = nearest
    pair = key_pair(evaluate(a, scopes[0]), evaluate(b, scopes[1]))
    dtype = "" if pair is None else pair[0].dtype
    if pair is None or not (dtype in INTEGERS or dtype in FLOATS or is_time(dtype)):
        raise UnsupportedError(
            f"sql: the key of an ASOF join: word='ASOF', type={type_name(dtype)}; use numbers or "
            "times"
        )
    if dtype in FLOATS:
        pair = (without_nan(pair[0]), without_nan(pair[1]))
    first, last = numbered(left, "left"), numbered(right, "right")
    direction, exact = _NEAREST[kind]
    if rest or any(same for _, _, same in pairs):
        held = _nearest_pair(first, last, pairs, (kind, pair), rest, scope)
    else:
        ours, mine = _ordered(first, [pair[0], *(one for one, _, _ in pairs)], False)
        # Of equal right keys the first row.
        keys = [pair[1], *(two for _, two, _ in pairs)]
        theirs, other = _ordered(last, keys, direction == "backward")
        rows = _core.asof_rows(
            mine[0], other[0], as_keys(mine[1:]), as_keys(other[1:]), direction, exact, None, None
        )
        found = _core.asof_values(row_field(theirs, "right"), rows)
        found = _core.in_domain(found, ours.rows.domain)
        held = Relation(
            [
                Field(_KEY, "left", value_of(row_field(ours, "left")), True),
                Field(_KEY, "right", value_of(found), True),
            ],
            ours.rows,
        ).filtered(run("logical_not", run("is_null", found)))
    mine_at, theirs_at = (f.value.node for f in held.fields)
    if how != "right":
        return completed(first, last, mine_at, theirs_at, how)
    made = completed(numbered(right, "left"), numbered(left, "right"), theirs_at, mine_at, "left")
    count = len(right.fields)
    return Relation([*made.fields[count:], *made.fields[:count]], made.rows)


def _nearest_pair(
    first: Relation,
    last: Relation,
    pairs: list[tuple[_core.Node, _core.Node, bool]],
    nearest: tuple[Any, tuple[_core.Node, _core.Node]],
    rest: list[Expression],
    scope: Scope,
) -> Relation:
    """Of all pairs that the conditions allow, for each left row the one with the nearest key."""
    kind, (a, b) = nearest
    direction, exact = _NEAREST[kind]
    left = first.with_fields([Field(_KEY, "left", value_of(a), True)])
    right = last.with_fields([Field(_KEY, "right", value_of(b), True)])
    made = join_pairs(left, right, pairs, "inner")
    mine, theirs = (
        next(f.value for f in made.fields if f.table == _KEY and f.name == name)
        for name in ("left", "right")
    )
    op = "greater" if direction == "backward" else "less"
    near = operators.compare(f"{op}_equal" if exact else op, mine, theirs)
    held = scope.planner.filtered(scope.over(masked(made, near)), rest).relation
    rows = row_field(held, "left"), row_field(held, "right")
    key = next(f.value for f in held.fields if f.table == _KEY and f.name == "right")
    order: list[tuple[Operand, bool, bool]] = [
        (value_of(rows[0]), False, False),
        (key, direction == "backward", False),
        (value_of(rows[1]), False, False),  # of equal keys the first row
    ]
    both = Relation(
        [Field(_KEY, "0", value_of(rows[0]), True), Field(_KEY, "1", value_of(rows[1]), True)],
        held.rows,
    ).sorted(sort_keys(order, held.rows))
    place = _core.part(_core.group_places([both.fields[0].value.node], False), 0)
    return both.filtered(run("equal", _core.in_domain(place, both.rows.domain), 0))


def without_nan(node: _core.Node) -> _core.Node:
    """Doubles of which NaN is an error: the engine's join leaves it out where DuckDB does not."""
    bad = where(filled(run("isnan", node), False), float("inf"), 0.0)
    return run("add", node, _core.astype(_core.astype(bad, "int64"), node.dtype))


def _ordered(
    relation: Relation, keys: list[_core.Node], last_first: bool
) -> tuple[Relation, list[_core.Node]]:
    """The rows without null keys, in the order of the first key; and their keys."""
    held = Relation(
        [
            *(f for f in relation.fields if f.table == ROW),
            *(Field(_KEY, str(i), value_of(key), True) for i, key in enumerate(keys)),
        ],
        relation.rows,
    )
    nullable = [key for key in keys if key.nullable]
    if nullable:
        mask = run("logical_not", run("is_null", nullable[0]))
        for key in nullable[1:]:
            mask = run("logical_and", mask, run("logical_not", run("is_null", key)))
        held = held.filtered(mask)
    first = next(f.value for f in held.fields if f.table == _KEY and f.name == "0")
    number = next(f.value for f in held.fields if f.table == ROW)
    held = held.sorted(sort_keys([(first, False, False), (number, last_first, False)], held.rows))
    return held, [f.value.node for f in held.fields if f.table == _KEY]


def positional_join(left: Relation, right: Relation) -> Relation:
    """Rows side by side; the shorter table ends in nulls."""
    first, last = numbered(left, "left"), numbered(right, "right")
    keys = [(row_field(first, "left"), row_field(last, "right"))]
    made = joined(first, last, keys, "outer")
    return Relation([f for f in made.fields if f.table != ROW], made.rows)
