# SPDX-License-Identifier: Apache-2.0
"""EXISTS of rows that equalities link to the query around: a semi join by these keys.

One more comparison with the query around is one with the extremes of the rows of a key.
"""

from __future__ import annotations

from typing import Any

from headrace import _core
from headrace.groupby.keys import Words
from headrace.sql import operators
from headrace.sql.correlated.keyed_rows import keyed_rows, reads_all
from headrace.sql.expressions import evaluate
from headrace.sql.relation import Field, Relation, groups_of, joined
from headrace.sql.scope import Scope
from headrace.sql.sources.joins import masked, without_null_keys
from headrace.sql.syntax import exp
from headrace.sql.values import INTEGERS, Constant, Operand, Value, is_time

Expression = Any


def keyed_exists(scope: Scope, query: Expression, negated: bool) -> Scope | None:
    """EXISTS of rows that equalities link to the query around; None for others.

    The inner rows need not be made for each row around: they are asked for their keys, and with
    one comparison more for the extremes that their keys have.
    """
    found = keyed_rows(scope, query, _are_known, 1)
    if found is None:
        return None
    inner, mine, theirs, tests = found
    if tests:
        return _compared(scope, inner, mine, theirs, tests[0], negated)
    _, nodes = without_null_keys(Relation([], inner.relation.rows), theirs)
    how = "anti" if negated else "semi"
    return scope.over(
        joined(scope.relation, Relation([], nodes[0]), list(zip(mine, nodes, strict=True)), how)
    )


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


def _are_known(scope: Scope, nodes: list[Expression]) -> bool:
    """Whether SELECT's expressions give values for each row, and no error."""
    return all(  # an aggregate has a row always, others may be errors
        isinstance(node, exp.Star | exp.Literal)
        or (isinstance(node, exp.Column) and reads_all(scope, node))
        for node in (each.unalias() for each in nodes)
    )
