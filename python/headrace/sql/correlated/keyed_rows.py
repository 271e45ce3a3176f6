# SPDX-License-Identifier: Apache-2.0
"""Subqueries whose rows equalities link to the query around: the rows and their keys."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from headrace import _core
from headrace.sql.expressions import evaluate
from headrace.sql.scope import Correlation, Scope
from headrace.sql.sources.joins import key_pair
from headrace.sql.syntax import (
    aliases_of,
    columns_of,
    conjuncts,
    exp,
    named,
    queries_of,
    with_aliases,
)

Expression = Any

#: Comparisons, as they are with sides swapped.
_SWAPPED = {
    **{exp.EQ: exp.EQ, exp.NEQ: exp.NEQ, exp.LT: exp.GT, exp.GT: exp.LT},
    **{exp.LTE: exp.GTE, exp.GTE: exp.LTE},
}


class KeyedRows(NamedTuple):
    """The rows of a subquery that equalities link to the query around."""

    inner: Scope
    #: The keys, of the query around and of the rows.
    mine: list[_core.Node]
    theirs: list[_core.Node]
    #: Other comparisons: operator, expression of the query around, expression of the rows.
    tests: list[tuple[Any, Expression, Expression]]


def keyed_rows(
    scope: Scope,
    query: Expression,
    accepts: Callable[[Scope, list[Expression]], bool],
    most_tests: int,
) -> KeyedRows | None:
    """The rows of FROM for which the conditions hold that do not read the query around.

    None for a query that is no plain SELECT over tables, whose expressions are not accepted, or
    that uses the query around in other ways than as keys and in `most_tests` comparisons.
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
        if not accepts(own, query.expressions):
            return None
        left: list[Expression] = []
        for node in conditions:
            each = with_aliases(node, aliases, lambda name: own.has("", name)) if aliases else node
            sides = [each.this, each.expression] if type(each) in _SWAPPED else []
            if not sides or queries_of(each):
                left.append(each)
                continue
            kind = type(each)
            if reads_all(own, sides[1]) and _reads_none(own, sides[0]):
                kind, sides = _SWAPPED[kind], sides[::-1]
            if not (reads_all(own, sides[0]) and _reads_none(own, sides[1])):
                left.append(each)
            elif kind is exp.EQ:
                pairs.append((sides[1], sides[0]))
            else:
                tests.append((kind, sides[1], sides[0]))
        return left if pairs and len(tests) <= most_tests else None

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
    return KeyedRows(inner, [a for a, _ in known], [b for _, b in known], tests)


def _is_plain(query: Expression) -> bool:
    """Whether a query is a SELECT over tables."""
    return isinstance(query, exp.Select) and query.args.get("from_") is not None


def reads_all(scope: Scope, node: Expression) -> bool:
    """Whether an expression has columns, all of this scope."""
    columns = columns_of(node)
    return bool(columns) and all(scope.has(named(c.table), named(c.name)) for c in columns)


def _reads_none(scope: Scope, node: Expression) -> bool:
    """Whether an expression has columns, none of this scope."""
    columns = columns_of(node)
    return bool(columns) and not any(scope.has(named(c.table), named(c.name)) for c in columns)
