# SPDX-License-Identifier: Apache-2.0
"""Scalar subqueries over tables that the query around joins, too: aggregates of its own rows.

As "WinMagic" (C. Zuzarte et al., SIGMOD 2003): where the rows of a key in the query around are
those of the subquery, each as often as the others, minimum, maximum and mean are the same.
"""

from __future__ import annotations

from typing import Any

from headrace import _core
from headrace.groupby.keys import Words
from headrace.sql.aggregates.folder import call_of
from headrace.sql.expressions import evaluate
from headrace.sql.nested.keys import as_keys
from headrace.sql.scope import OUTER, Scope
from headrace.sql.sources.join_order import is_unique
from headrace.sql.syntax import (
    aggregates_of,
    aliases_of,
    columns_of,
    conditions_of,
    exp,
    folds_all_columns,
    named,
    queries_of,
    replaced,
    table_name,
    tables_of_joins,
)
from headrace.sql.values import FLOATS, Value

Expression = Any
#: Aggregates of values of which each may be there several times, if all are as often.
_OF_ANY_COUNT = (exp.Min, exp.Max, exp.Avg)
_OF_ONE_EACH = (*_OF_ANY_COUNT, exp.Sum, exp.Count)
_CLAUSES = {"kind", "expressions", "from_", "joins", "where"}


def windowed_scalar(scope: Scope, node: Expression, query: Expression) -> Scope | None:
    """The scope with an aggregate of its own rows with equal keys; None for other subqueries."""
    if scope.made_by is None or not isinstance(query, exp.Select):
        return None
    outer, waiting = scope.made_by
    around, inside = tables_of_joins(outer), tables_of_joins(query)
    if around is None or inside is None or len(query.expressions) != 1:
        return None
    ours, theirs = (
        {alias: table_name(table) for alias, table in each.items()} for each in (around, inside)
    )
    if not {key for key, value in query.args.items() if value} <= _CLAUSES:
        return None
    if (scope.outer is not None and aliases_of(outer)) or query.find(exp.Rand):
        return None
    if any(f.table.startswith(OUTER) for f in scope.relation.fields):
        return None
    names = _Names(scope, ours, theirs)
    done = [each for each in conditions_of(outer) if all(each is not w for w in waiting)]
    if not names.are_clear or any(map(queries_of, done)):
        return None
    keys = names.keys_of(conditions_of(query), done)
    wanted = names.own(query.expressions[0].unalias())
    if not keys or wanted is None:
        return None
    if not _folds(wanted, len(ours) == len(theirs)):
        return None
    once = all(
        any(is_unique(scope.planner.table(around[alias]).column(name)) for name in linked)
        for alias, linked in names.linked.items()
    )
    nodes = [each.node for key in keys if isinstance(each := evaluate(key, scope), Value)]
    if len(nodes) < len(keys):
        return None
    grouping = as_keys(nodes)

    def folded(words: Words) -> _core.Node:
        given = words._replace(values=grouping[0]) if words.values is None else words
        made = _core.group_transform(grouping, given, False)
        return _core.in_domain(made, scope.relation.rows.domain)

    held = scope.over(scope.relation)
    held.computed = dict(scope.computed)
    for call in dict.fromkeys(aggregates_of(wanted)):
        made = call_of(call, held)
        if not once and any(_rounds(words) for words in made.words):
            return None
        held.compute(call, made.finish([folded(words) for words in made.words]))
    result = scope.over(scope.relation)
    result.made_by = scope.made_by
    result.compute_node(node, evaluate(wanted, held))
    return result


def _folds(node: Expression, once: bool) -> bool:
    """Whether an expression reads columns in aggregates alone, of which these rows are enough."""
    calls = aggregates_of(node)
    kinds = _OF_ONE_EACH if once else _OF_ANY_COUNT
    if any(type(c) not in kinds or isinstance(c.this, exp.Distinct | exp.Order) for c in calls):
        return False
    if any(each.args.get("count") or each.expressions for each in calls):
        return False
    return folds_all_columns(node)


def _rounds(words: Words) -> bool:
    """Whether values that are there several times give another result: a sum of floats."""
    return words.aggregate == "sum" and words.values is not None and words.values.dtype in FLOATS


class _Names:
    """Columns of a subquery as those of the tables around that are the same."""

    def __init__(self, scope: Scope, ours: dict[str, str], theirs: dict[str, str]) -> None:
        self._scope: Scope = scope
        twins = {
            alias: [own for own, table in ours.items() if table == name]
            for alias, name in theirs.items()
        }
        #: Whether each table of the subquery is one table around.
        self.are_clear: bool = all(len(found) == 1 for found in twins.values())
        self.are_clear &= len(set(theirs.values())) == len(theirs)
        self._twin: dict[str, str] = {alias: found[0] for alias, found in twins.items() if found}
        #: Columns of the other tables around that `keys_of` finds equal to keys.
        self.linked: dict[str, list[str]] = {
            alias: [] for alias in ours if alias not in self._twin.values()
        }

    def own(self, node: Expression) -> Expression | None:
        """An expression of the subquery over its twins; None if it reads other columns."""
        return self._named(node, self._own)

    def around(self, node: Expression) -> Expression | None:
        """An expression with the full names of the columns around; None for other columns."""
        return self._named(node, self._around)

    def keys_of(
        self, conditions: list[Expression], done: list[Expression]
    ) -> list[Expression] | None:
        """The columns that link the subquery to the query around; None where rows would differ.

        Of the conditions around, those of the subquery must be there, and the others may read its
        tables by these columns alone.
        """
        held = [self.around(each) for each in done]
        if any(each is None for each in held):
            return None
        there, used = {_canonical(each) for each in held}, set[Any]()
        keys: list[Expression] = []
        links: set[Expression] = set()
        for each in conditions:
            made = self.own(each)
            if made is None:
                pair = self._pair(each)
                if pair is None:
                    return None
                key, other = pair
                keys.append(key)
                links.add(key)
                mine, theirs = (self._value(column) for column in pair)
                if key == other:
                    if mine.node.nullable:
                        return None  # null is no key of the subquery
                    continue
                if named(other.table) not in self.linked or mine.dtype != theirs.dtype:
                    return None
                self.linked[named(other.table)].append(named(other.name))
                made = exp.EQ(this=key, expression=other)
            elif queries_of(made) or not columns_of(made):
                return None
            if _canonical(made) not in there:
                return None
            used.add(_canonical(made))
        for each in held:
            if _canonical(each) in used:
                continue
            columns = columns_of(each)
            if any(c not in links and named(c.table) not in self.linked for c in columns):
                return None
        return keys

    def _pair(self, node: Expression) -> tuple[Expression, Expression] | None:
        """The column of the subquery and the one around that a condition says are equal."""
        if not isinstance(node, exp.EQ):
            return None
        sides = (node.this, node.expression)
        if not all(isinstance(each, exp.Column) for each in sides):
            return None
        for one, other in (sides, sides[::-1]):
            if self.own(other) is not None or named(other.table) in self._twin:
                continue
            key, around = self.own(one), self.around(other)
            if key is not None and around is not None:
                return key, around
        return None

    def _value(self, column: Expression) -> Value:
        field = self._scope.field(named(column.table), named(column.name))
        assert field is not None
        return field.value

    def _named(self, node: Expression, find: Any) -> Expression | None:
        known = True

        def change(each: Expression) -> Expression | None:
            nonlocal known
            if not isinstance(each, exp.Column):
                return None
            table = None if each.db or isinstance(each.this, exp.Star) else find(each)
            if table is None:
                known = False
                return None
            return exp.Column(
                this=exp.Identifier(this=named(each.name)), table=exp.Identifier(this=table)
            )

        made = replaced(node.copy(), change)
        return made if known else None

    def _own(self, column: Expression) -> str | None:
        table, name = named(column.table), named(column.name)
        aliases = [table] if table else list(self._twin)
        found = [self._twin[a] for a in aliases if a in self._twin and self._has(a, name)]
        return found[0] if len(found) == 1 else None

    def _has(self, alias: str, name: str) -> bool:
        return self._scope.field(self._twin[alias], name) is not None

    def _around(self, column: Expression) -> str | None:
        field = self._scope.field(named(column.table), named(column.name))
        return None if field is None or field.hidden else field.table


def _canonical(node: Expression) -> Any:
    """The same for an equality with its sides swapped."""
    while isinstance(node, exp.Paren):
        node = node.this
    return frozenset((node.this, node.expression)) if isinstance(node, exp.EQ) else node
