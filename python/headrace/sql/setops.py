# SPDX-License-Identifier: Apache-2.0
"""UNION, INTERSECT and EXCEPT, VALUES, recursive WITH, and grouping sets as a union."""

from __future__ import annotations

from typing import Any, Protocol

from headrace import _core
from headrace.errors import InvalidArgumentError, UnsupportedError
from headrace.sql.aggregates import Folds, group
from headrace.sql.casts import cast
from headrace.sql.expressions import evaluate
from headrace.sql.nested.keys import as_keys
from headrace.sql.relation import Field, Relation, distinct_nodes, joined, one_row
from headrace.sql.scope import COMPUTED, OUTER, Correlation, Scope
from headrace.sql.syntax import exp, walk
from headrace.sql.values import (
    INTEGERS,
    NULL,
    Operand,
    Value,
    column_of,
    common_dtype,
    null_column,
    value_of,
)

Expression = Any
_MOST_ROUNDS = 100_000


class Lowering(Protocol):
    """The planner, as recursive queries need it."""

    def lower(self, query: Expression, correlation: Correlation | None) -> Relation:
        """The relation of a query."""

    def define(self, name: str, relation: Relation) -> None:
        """A table of this name."""


def distinct(relation: Relation) -> Relation:
    """Each different row once."""
    made = distinct_nodes(relation.nodes())
    return relation.of_nodes(made, made[0])


def matched(left: Relation, right: Relation) -> tuple[Relation, Relation]:
    """Both sides with as many columns of the same dtypes; the names are the left ones."""
    mine = [f for f in left.fields if not f.hidden]
    other = [f for f in right.fields if not f.hidden]
    if len(mine) != len(other):
        raise InvalidArgumentError(
            f"sql: the sides have different numbers of columns: left={len(mine)}, "
            f"right={len(other)}"
        )
    lefts, rights = [], []
    for a, b in zip(mine, other, strict=True):
        dtypes = {a.value.dtype, b.value.dtype}
        if "string" in dtypes and len(dtypes & INTEGERS) == 1:  # as strings, as in DuckDB
            dtype = "string"
        else:
            dtype = common_dtype([a.value, b.value], "UNION")
        lefts.append(Field("", a.name, _as(a.value, dtype, left)))
        rights.append(Field("", a.name, _as(b.value, dtype, right)))
    for field in left.fields:
        if field.hidden:
            twin = next((f for f in right.fields if f.hidden and f[:2] == field[:2]), None)
            if twin is None:
                raise UnsupportedError("sql: only one side of a set operation is correlated")
            lefts.append(field)
            rights.append(twin)
    return (Relation(lefts, lefts[0].value.node), Relation(rights, rights[0].value.node))


def _by_name(left: Relation, right: Relation) -> tuple[Relation, Relation]:
    """Both sides with the columns of either; what one has not is null there."""
    sides = [{f.name.lower(): f for f in r.fields if not f.hidden} for r in (left, right)]
    names = list(dict.fromkeys([*sides[0], *sides[1]]))
    made = []
    for relation, own, other in ((left, sides[0], sides[1]), (right, sides[1], sides[0])):
        fields = [
            own[name]
            if name in own
            else Field("", other[name].name, Value(null_column(relation.rows, NULL), NULL))
            for name in names
        ]
        made.append(Relation([*fields, *(f for f in relation.fields if f.hidden)], relation.rows))
    return made[0], made[1]


def _as(value: Value, dtype: str, relation: Relation) -> Value:
    if dtype == NULL:
        return value
    made = cast(value, dtype)
    return value_of(column_of(made, relation.rows))


def stacked(relations: list[Relation]) -> Relation:
    """The rows of all, one relation after the other."""
    domain = _core.new_domain()
    nodes = [
        _core.in_domain(_core.concat([r.fields[i].value.node for r in relations]), domain)
        for i in range(len(relations[0].fields))
    ]
    fields = [
        f._replace(value=Value(n, n.dtype, max(r.fields[i].value.bits for r in relations)))
        for i, (f, n) in enumerate(zip(relations[0].fields, nodes, strict=True))
    ]
    return Relation(fields, nodes[0])


def combined(node: Expression, left: Relation, right: Relation) -> Relation:
    """A set operation, in which null equals null."""
    if node.args.get("by_name"):
        left, right = _by_name(left, right)
    left, right = matched(left, right)
    once = bool(node.args.get("distinct"))
    if isinstance(node, exp.Union):
        made = stacked([left, right])
        return distinct(made) if once else made
    if not once:
        left, right = _numbered(left), _numbered(right)
    elif isinstance(node, exp.Intersect | exp.Except):
        left = distinct(left)
    how = "semi" if isinstance(node, exp.Intersect) else "anti"
    keys = list(zip(left.nodes(), right.nodes(), strict=True))
    made = joined(left, Relation([], right.rows), keys, how)
    kept = [f for f in made.fields if f.table != COMPUTED]
    return Relation(kept, made.rows)


def _numbered(relation: Relation) -> Relation:
    """With how often the row came before."""
    places = _core.part(_core.group_places(as_keys(relation.nodes()), False), 0)
    places = _core.in_domain(places, relation.rows.domain)
    return relation.with_fields([Field(COMPUTED, "copy", value_of(places), True)])


def values(node: Expression, scope: Scope) -> Relation:
    """The rows of VALUES."""
    rows = []
    for each in node.expressions:
        items = each.expressions if isinstance(each, exp.Tuple) else [each]
        rows.append([evaluate(item, scope) for item in items])
    if len({len(row) for row in rows}) != 1:
        raise InvalidArgumentError("sql: the rows of VALUES have different lengths")
    if any(isinstance(operand, Value) for row in rows for operand in row):
        return _values_of_rows(rows, scope)
    fields = []
    domain, single = _core.new_domain(), one_row().rows
    for place in range(len(rows[0])):
        operands: list[Operand] = [row[place] for row in rows]
        dtype = common_dtype(operands, "VALUES")
        dtype = "int32" if dtype == NULL else dtype
        nodes = [column_of(cast(each, dtype), single, dtype) for each in operands]
        made = _core.in_domain(_core.concat(nodes) if len(nodes) > 1 else nodes[0], domain)
        fields.append(Field("", f"col{place}", value_of(made)))
    return Relation(fields, fields[0].value.node)


def _values_of_rows(rows: list[list[Operand]], scope: Scope) -> Relation:
    """VALUES with expressions of the query around: each of its rows has all of these."""
    like = scope.relation.rows
    hidden = [f for f in scope.relation.fields if f.table == OUTER]
    columns = []
    for place in range(len(rows[0])):
        operands = [row[place] for row in rows]
        dtype = common_dtype(operands, "VALUES")
        dtype = "int32" if dtype == NULL else dtype
        columns.append([value_of(column_of(cast(each, dtype), like, dtype)) for each in operands])
    parts = [
        Relation([*(Field("", f"col{i}", c[row]) for i, c in enumerate(columns)), *hidden], like)
        for row in range(len(rows))
    ]
    return stacked(parts)


def recursive(planner: Lowering, name: str, query: Expression, columns: list[str]) -> Relation:
    """The rows of a recursive query; it runs round by round, at this line."""
    if not isinstance(query, exp.Union):
        raise UnsupportedError(f"sql: expected UNION in a recursive query: table={name!r}")
    once = bool(query.args.get("distinct"))
    first = planner.lower(query.this, None).renamed(name, columns)
    first = _ready(distinct(first) if once else first)
    found, latest = [first], first
    for _ in range(_MOST_ROUNDS):
        planner.define(name, latest)
        step = planner.lower(query.expression, None)
        _, step = matched(first, step)
        step = step.renamed(name, [f.name for f in first.fields])
        if once:
            step = distinct(step)
            known = stacked(found)
            keys = list(zip(step.nodes(), known.nodes(), strict=True))
            step = joined(step, Relation([], known.rows), keys, "anti")
        latest = _ready(step)
        if latest.rows.shape[0] == 0:
            return found[0] if len(found) == 1 else stacked(found)
        found.append(latest)
    raise InvalidArgumentError(
        f"sql: a recursive query does not end: table={name!r}, rounds={_MOST_ROUNDS}; add a "
        "condition"
    )


def _ready(relation: Relation) -> Relation:
    """The rows as values in memory."""
    nodes = [relation.rows, *relation.nodes()]
    _core.force(nodes)
    domain = _core.new_domain()
    made = [_core.data(node.value(), "rows", domain) for node in nodes]
    return relation.of_nodes(made[1:], made[0])


# ---- grouping sets -------------------------------------------------------------------------------


def grouped_by_sets(
    scope: Scope,
    sets: list[list[Expression]],
    aggregates: list[Expression],
    every: list[Expression],
) -> Scope:
    """The groups of each set, one after the other; keys that a set does not have are null."""
    keys = list(dict.fromkeys(key for each in sets for key in each))
    tests = list(
        dict.fromkeys(
            n for node in every for n in walk(node) if isinstance(n, exp.Grouping | exp.GroupingId)
        )
    )
    plain = [a for a in aggregates if not isinstance(a, exp.Grouping | exp.GroupingId)]
    folds = Folds()
    parts = [_of_set(scope, own, keys, plain, tests, folds) for own in sets]
    _, order = parts[0]
    relation = stacked([part for part, _ in parts])
    made = Scope(relation, scope.outer, scope.planner)
    made.aliases = scope.aliases
    made.computed = order
    return made


def _of_set(
    scope: Scope,
    own: list[Expression],
    keys: list[Expression],
    aggregates: list[Expression],
    tests: list[Expression],
    folds: Folds,
) -> tuple[Relation, dict[Expression, Any]]:
    grouped = group(scope, own, aggregates, not own, folds)
    rows = grouped.relation.rows
    fields: list[Field] = []
    names: dict[Expression, Any] = {}
    for key in keys:
        name = f"set {len(fields)}"
        if key in own:
            operand = evaluate(key, grouped)
            node = column_of(operand, rows)
        else:
            node = null_column(rows, column_of(evaluate(key, scope), scope.relation.rows).dtype)
        names[key] = name
        fields.append(Field(COMPUTED, name, value_of(node), True))
    for each in aggregates:
        name = f"set {len(fields)}"
        operand = evaluate(each, grouped)
        names[each] = name
        fields.append(Field(COMPUTED, name, value_of(column_of(operand, rows)), True))
    for test in tests:
        name = f"set {len(fields)}"
        bits = 0
        for each in test.expressions:
            bits = bits * 2 + (each not in own)
        node = _core.astype(_core.repeat(rows, bits), "int64")
        names[test] = name
        fields.append(Field(COMPUTED, name, value_of(node), True))
    hidden = [f for f in grouped.relation.fields if f.table == OUTER]
    return Relation([*fields, *hidden], rows), names
