# SPDX-License-Identifier: Apache-2.0
"""Scalar subqueries of rows that equalities link to the query around: groups by these keys."""

from __future__ import annotations

from typing import Any

from headrace.sql.aggregates import group
from headrace.sql.clauses.outputs import resolved
from headrace.sql.correlated.keyed_rows import keyed_rows, reads_all
from headrace.sql.expressions import evaluate
from headrace.sql.relation import Field, Relation
from headrace.sql.scope import OUTER, Scope
from headrace.sql.sources.joins import without_null_keys
from headrace.sql.syntax import aggregates_of, columns_of, folds_all_columns, may_raise
from headrace.sql.values import value_of

Expression = Any


def keyed_scalar(scope: Scope, node: Expression, query: Expression) -> Scope | None:
    """The scope with an aggregate of the rows that have its keys; None for other subqueries.

    The groups need not be those of the query around alone: the join asks for the others, too.
    """
    if any(f.table == OUTER for f in scope.relation.fields) or query.args.get("joins"):
        return None  # of several tables those around may leave out rows before they are joined
    found = keyed_rows(scope, query, _folds_own_columns, 0)
    if found is None:
        return None
    relation, keys = without_null_keys(found.inner.relation, found.theirs)
    base = scope.relation
    mine, theirs = (
        [Field(OUTER, f"key {i}", value_of(each), True) for i, each in enumerate(nodes)]
        for nodes in (found.mine, keys)
    )
    rows = found.inner.over(relation.with_fields(theirs))
    rows.domain = Relation([*mine, *base.fields], base.rows)
    (item,) = query.expressions
    wanted = resolved(item.unalias(), rows, {})
    made = group(rows, [], aggregates_of(wanted), True)
    value = evaluate(wanted, made)
    fields = made.relation.fields[len(mine) : len(mine) + len(base.fields)]
    result = scope.over(Relation(fields, made.relation.rows))
    result.compute_node(node, value)
    return result


def _folds_own_columns(scope: Scope, nodes: list[Expression]) -> bool:
    """Whether SELECT has one expression of aggregates, which read columns of these rows alone."""
    if len(nodes) != 1:
        return False
    node = nodes[0].unalias()
    if not folds_all_columns(node) or may_raise(aggregates_of(node)):
        return False
    return all(reads_all(scope, column) for column in columns_of(node))
