# SPDX-License-Identifier: Apache-2.0
"""EXISTS of rows that only equalities link to the query around: a semi join by these keys."""

from __future__ import annotations

from typing import Any

from headrace.sql.expressions import evaluate
from headrace.sql.relation import Relation, joined
from headrace.sql.scope import Correlation, Scope
from headrace.sql.sources.joins import key_pair, without_null_keys
from headrace.sql.syntax import (
    aliases_of,
    conjuncts,
    exp,
    named,
    queries_of,
    walk,
    with_aliases,
)

Expression = Any


def keyed_exists(scope: Scope, query: Expression, negated: bool) -> Scope | None:
    """EXISTS of rows that only equalities link to the query around; None for others.

    The inner rows need not be made for each row around: they are asked for their keys.
    """
    clauses = {key for key, value in query.args.items() if value} if _is_plain(query) else set()
    if not clauses or not clauses <= {"kind", "expressions", "from_", "joins", "where"}:
        return None
    aliases = aliases_of(query)
    conditions = conjuncts(query.args["where"].this) if query.args.get("where") else []
    if aliases and any(map(queries_of, conditions)):
        return None
    pairs: list[tuple[Expression, Expression]] = []

    def choose(own: Scope) -> list[Expression] | None:
        """The conditions that are no keys."""
        if not all(_is_known(own, each.unalias()) for each in query.expressions):
            return None  # an aggregate has a row always, others may be errors
        left: list[Expression] = []
        for node in conditions:
            each = with_aliases(node, aliases, lambda name: own.has("", name)) if aliases else node
            sides = [each.this, each.expression] if isinstance(each, exp.EQ) else []
            if not sides or queries_of(each):
                left.append(each)
            elif _reads_all(own, sides[0]) and _reads_none(own, sides[1]):
                pairs.append((sides[1], sides[0]))
            elif _reads_all(own, sides[1]) and _reads_none(own, sides[0]):
                pairs.append((sides[0], sides[1]))
            else:
                left.append(each)
        return left if pairs else None

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
    _, nodes = without_null_keys(Relation([], inner.relation.rows), [b for _, b in known])
    mine = [a for a, _ in known]
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


def _reads_all(scope: Scope, node: Expression) -> bool:
    """Whether an expression has columns, all of this scope."""
    columns = [each for each in walk(node) if isinstance(each, exp.Column)]
    return bool(columns) and all(scope.has(named(c.table), named(c.name)) for c in columns)


def _reads_none(scope: Scope, node: Expression) -> bool:
    """Whether an expression has columns, none of this scope."""
    columns = [each for each in walk(node) if isinstance(each, exp.Column)]
    return bool(columns) and not any(scope.has(named(c.table), named(c.name)) for c in columns)
