# SPDX-License-Identifier: Apache-2.0
"""EXISTS of rows that equalities link to the query around: a semi join by these keys.

One more comparison with the query around is one with the extremes of the rows of a key.
"""

from __future__ import annotations

from typing import Any

from headrace import _core
from headrace.groupby.keys import Words
from headrace.sql import operators
from headrace.sql.expressions import evaluate
from headrace.sql.relation import Field, Relation, groups_of, joined
from headrace.sql.scope import Correlation, Scope
from headrace.sql.sources.joins import key_pair, masked, without_null_keys
from headrace.sql.syntax import (
    aliases_of,
    conjuncts,
    exp,
    named,
    queries_of,
    walk,
    with_aliases,
)
from headrace.sql.values import INTEGERS, Constant, Operand, Value, is_time

Expression = Any


def keyed_exists(scope: Scope, query: Expression, negated: bool) -> Scope | None:
    """EXISTS of rows that equalities link to the query around; None for others.

    The inner rows need not be made for each row around: they are asked for their keys, and with
    one comparison more for the extremes that their keys have.
    """
    clauses = {key for key, value in query.args.items() if value} if _is_plain(query) else set()
    if not clauses or not clauses <= {"kind", "expressions", "from_", "joins", "where"}:
        return None
    aliases = aliases_of(query)
    conditions = conjuncts(query.args["where"].this) if query.args.get("where") else []
    if aliases and any(map(queries_of, conditions)):
        return None
    pairs: list[tuple[Expression, Expression]] = []
    tests: list[tuple[Any, Expression, Expression]] = []

    def choose(own: Scope) -> list[Expression] | None:
        """The conditions that are no keys."""
        if not all(_is_known(own, each.unalias()) for each in query.expressions):
            return None  # an aggregate has a row always, others may be errors
        left: list[Expression] = []
        for node in conditions:
            each = with_aliases(node, aliases, lambda name: own.has("", name)) if aliases else node
            sides = [each.this, each.expression] if type(each) in _SWAPPED else []
            if not sides or queries_of(each):
                left.append(each)
                continue
            kind = type(each)
            if _reads_all(own, sides[1]) and _reads_none(own, sides[0]):
                kind, sides = _SWAPPED[kind], sides[::-1]
            if not (_reads_all(own, sides[0]) and _reads_none(own, sides[1])):
                left.append(each)
            elif kind is exp.EQ:
                pairs.append((sides[1], sides[0]))
            else:
                tests.append((kind, sides[1], sides[0]))
        return left if pairs and len(tests) <= 1 else None

    found = Correlation(scope)
    inner = scope.planner.rows_where(query, choose, found)
    if inner is None or found.found:
        return None
    keys = [
        key_pair(evaluate(outer, scope), scope.planner.value(inner, own)) for outer, own in pairs
    ]
    known = [key for key in keys if key is not None]
    if len(known) < len(keys):
        return None
    mine, theirs = [a for a, _ in known], [b for _, b in known]
    if tests:
        return _compared(scope, inner, mine, theirs, tests[0], negated)
    _, nodes = without_null_keys(Relation([], inner.relation.rows), theirs)
    how = "anti" if negated else "semi"
    return scope.over(
        joined(scope.relation, Relation([], nodes[0]), list(zip(mine, nodes, strict=True)), how)
    )


#: Comparisons, as they are with sides swapped.
_SWAPPED = {
    **{exp.EQ: exp.EQ, exp.NEQ: exp.NEQ, exp.LT: exp.GT, exp.GT: exp.LT},
    **{exp.LTE: exp.GTE, exp.GTE: exp.LTE},
}
#: `inner op outer` holds for some row where it holds for one of these extremes.
_EXTREMES = {
    exp.NEQ: ("not_equal", ("min", "max")),
    exp.LT: ("less", ("min",)),
    exp.LTE: ("less_equal", ("min",)),
    exp.GT: ("greater", ("max",)),
    exp.GTE: ("greater_equal", ("max",)),
}
_TEST = " test"


def _compared(
    scope: Scope,
    inner: Scope,
    mine: list[_core.Node],
    theirs: list[_core.Node],
    test: tuple[Any, Expression, Expression],
    negated: bool,
) -> Scope | None:
    """The rows for which an inner row of their keys compares so with a value of theirs."""
    kind, around, own = test
    value, other = scope.planner.value(inner, own), evaluate(around, scope)
    if not isinstance(value, Value) or not isinstance(other, Value):
        return None
    if not (value.dtype in INTEGERS or is_time(value.dtype)):
        return None
    op, words = _EXTREMES[kind]
    held, nodes = without_null_keys(
        Relation([Field(_TEST, "value", value, True)], inner.relation.rows), theirs
    )
    column = held.fields[0].value.node
    keys, found = groups_of(nodes, [Words(word, word, column) for word in words])
    extremes = [
        Field(_TEST, word, value._replace(node=node), True)
        for word, node in zip(words, found, strict=True)
    ]
    left = scope.relation.with_fields([Field(_TEST, "other", other, True)])
    # A LEFT join filters the groups by its keys, and is not filtered by theirs.
    right = Relation(extremes, keys[0])
    made = joined(left, right, list(zip(mine, keys, strict=True)), "left")
    values = {f.name: f.value for f in made.fields if f.table == _TEST}
    holds: Operand = Constant(False, "bool")
    for word in words:
        holds = operators.logical(
            "logical_or", holds, operators.compare(op, values[word], values["other"])
        )
    if negated:
        holds = operators.negated(operators.coalesce([holds, Constant(False, "bool")]))
    kept = masked(made, holds)
    return scope.over(Relation([f for f in kept.fields if f.table != _TEST], kept.rows))


def _is_plain(query: Expression) -> bool:
    """Whether a query is a SELECT over tables."""
    return isinstance(query, exp.Select) and query.args.get("from_") is not None


def _is_known(scope: Scope, node: Expression) -> bool:
    """Whether SELECT's expression gives a value for each row, and no error."""
    return isinstance(node, exp.Star | exp.Literal) or (
        isinstance(node, exp.Column) and _reads_all(scope, node)
    )


def _reads_all(scope: Scope, node: Expression) -> bool:
    """Whether an expression has columns, all of this scope."""
    columns = [each for each in walk(node) if isinstance(each, exp.Column)]
    return bool(columns) and all(scope.has(named(c.table), named(c.name)) for c in columns)


def _reads_none(scope: Scope, node: Expression) -> bool:
    """Whether an expression has columns, none of this scope."""
    columns = [each for each in walk(node) if isinstance(each, exp.Column)]
    return bool(columns) and not any(scope.has(named(c.table), named(c.name)) for c in columns)
