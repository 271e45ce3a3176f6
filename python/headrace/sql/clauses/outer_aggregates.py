# SPDX-License-Identifier: Apache-2.0
"""Aggregates that stand in a subquery but fold the rows of the query around."""

from __future__ import annotations

from typing import Any

from headrace.sql.scope import FOLDED, Scope
from headrace.sql.syntax import aggregates_of, exp, named, walk

Expression = Any


def with_outer_aggregates(select: Expression, scope: Scope) -> tuple[Expression, list[Expression]]:
    """The aggregates that subqueries without FROM hold of this query's columns.

    There the subqueries read their values, as columns of the table `FOLDED`.
    """
    if not any(_outer_aggregates(each, scope) for each in _clauses_of(select)):
        return select, []
    select = select.copy()
    found: list[Expression] = []
    for clause in _clauses_of(select):
        for each in _outer_aggregates(clause, scope):
            place = next((i for i, own in enumerate(found) if own == each), len(found))
            found += [each.copy()] if place == len(found) else []
            name, table = exp.Identifier(this=str(place)), exp.Identifier(this=FOLDED)
            each.replace(exp.Column(this=name, table=table))
    return select, found


def _clauses_of(select: Expression) -> list[Expression]:
    """The parts of a query that stand for its groups."""
    clauses = [select.args.get(key) for key in ("having", "qualify", "order")]
    return [*select.expressions, *(each for each in clauses if each is not None)]


def _outer_aggregates(clause: Expression, scope: Scope) -> list[Expression]:
    found: list[Expression] = []
    for query in clause.find_all(exp.Select):
        around: Expression | None = query
        while around is not None and around is not clause and not around.args.get("from_"):
            around = around.parent
        if around is not clause:
            continue
        for each in (one for node in query.expressions for one in aggregates_of(node)):
            columns = [c for c in walk(each) if isinstance(c, exp.Column)]
            if columns and all(scope.has(named(c.table), named(c.name)) for c in columns):
                found.append(each)
    return found
