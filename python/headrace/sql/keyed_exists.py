# SPDX-License-Identifier: Apache-2.0
"""EXISTS of rows that only equalities link to the query around: a semi join by these keys."""

from __future__ import annotations

from typing import Any

from headrace.sql.expressions import evaluate
from headrace.sql.relation import Relation, joined
from headrace.sql.scope import Correlation, Scope
from headrace.sql.sources.joins import key_pair, without_null_keys
from headrace.sql.syntax import all_of, conjuncts, exp, named, queries_of, walk

Expression = Any


def keyed_exists(scope: Scope, query: Expression, negated: bool) -> Scope | None:
    """EXISTS of rows that only equalities link to the query around; None for others.

    The inner rows need not be made for each row around: they are asked for their keys.
    """
    clauses = {key for key, value in query.args.items() if value} if _is_plain(query) else set()
    if not clauses or not clauses <= {"kind", "expressions", "from_", "joins", "where"}:
        return None
    own = Scope(scope.planner.rows_of(query, Correlation(scope)), None, scope.planner)
    if not all(_is_known(own, each.unalias()) for each in query.expressions):
        return None  # an aggregate has a row always, others may be errors
    pairs: list[tuple[Expression, Expression]] = []
    left: list[Expression] = []
    for each in conjuncts(query.args["where"].this) if query.args.get("where") else []:
        sides = [each.this, each.expression] if isinstance(each, exp.EQ) else []
        if not sides or queries_of(each):
            left.append(each)
        elif _reads_all(own, sides[0]) and _reads_none(own, sides[1]):
            pairs.append((sides[1], sides[0]))
        elif _reads_all(own, sides[1]) and _reads_none(own, sides[0]):
            pairs.append((sides[0], sides[1]))
        else:
            left.append(each)
    if not pairs:
        return None
    found = Correlation(scope)
    inner = scope.planner.lower(_picking(query, [b for _, b in pairs], left), found)
    if found.found:
        return None
    keys = []
    for (outer, _), field in zip(pairs, inner.fields, strict=True):
        pair = key_pair(evaluate(outer, scope), field.value)
        if pair is None:
            return None
        keys.append(pair)
    _, nodes = without_null_keys(Relation([], inner.rows), [b for _, b in keys])
    mine = [a for a, _ in keys]
    how = "anti" if negated else "semi"
    return scope.over(
        joined(scope.relation, Relation([], nodes[0]), list(zip(mine, nodes, strict=True)), how)
    )


def _is_plain(query: Expression) -> bool:
    """Whether a query is a SELECT over tables."""
    return isinstance(query, exp.Select) and query.args.get("from_") is not None


def _is_known(scope: Scope, node: Expression) -> bool:
    """Whether SELECT's expression gives a value for each row, and no error."""
    return isinstance(node, exp.Star | exp.Literal) or (
        isinstance(node, exp.Column) and _reads_all(scope, node)
    )


def _picking(query: Expression, outputs: list[Expression], where: list[Expression]) -> Expression:
    """The rows of a query's tables where some conditions are true."""
    made = exp.Select(
        expressions=[
            exp.Alias(this=each.copy(), alias=exp.Identifier(this=f"key {i}", quoted=True))
            for i, each in enumerate(outputs)
        ],
        from_=query.args["from_"].copy(),
        joins=[each.copy() for each in query.args.get("joins") or []],
    )
    if where:
        made.set("where", exp.Where(this=all_of([each.copy() for each in where])))
    return made


def _reads_all(scope: Scope, node: Expression) -> bool:
    """Whether an expression has columns, all of this scope."""
    columns = [each for each in walk(node) if isinstance(each, exp.Column)]
    return bool(columns) and all(scope.has(named(c.table), named(c.name)) for c in columns)


def _reads_none(scope: Scope, node: Expression) -> bool:
    """Whether an expression has columns, none of this scope."""
    columns = [each for each in walk(node) if isinstance(each, exp.Column)]
    return bool(columns) and not any(scope.has(named(c.table), named(c.name)) for c in columns)
