# SPDX-License-Identifier: Apache-2.0
"""GROUP BY before joins whose tables have one row for each group: fewer rows to join, fewer keys.

As "eager aggregation" (W. Yan and P. Larson, VLDB 1995), for tables joined by a column of which no
value is there twice: a group is a group of the rows before these joins.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from headrace import _core
from headrace.sql.clauses.outputs import name_of
from headrace.sql.relation import Relation
from headrace.sql.sources.join_order import is_unique
from headrace.sql.syntax import (
    aggregates_of,
    aliases_of,
    columns_of,
    conditions_of,
    conjuncts,
    exp,
    is_query,
    may_raise,
    named,
    queries_of,
    replaced,
    table_name,
    tables_of_joins,
    walk,
)

Expression = Any
_GROUPS = "groups before joins"


def grouped_early(select: Expression, table_of: Callable[[Expression], Relation]) -> Expression:
    """The query with tables joined to its groups that it joins to rows, or as it is."""
    group = select.args.get("group")
    if group is None or not _is_plain(select, group):
        return select
    tables = tables_of_joins(select)
    if tables is None or len(tables) < 2:
        return select
    return _Early(select, tables, table_of).made() or select


def _is_plain(select: Expression, group: Expression) -> bool:
    """Whether it groups by columns, and there is no clause that reads rows in another way."""
    known = {"kind", "expressions", "from_", "joins", "where", "group", "having", "order"}
    known |= {"limit", "offset", "with_"}
    if not {key for key, value in select.args.items() if value} <= known:
        return False
    if {key for key, value in group.args.items() if value} != {"expressions"}:
        return False
    if not all(isinstance(each, exp.Column) for each in group.expressions):
        return False
    every = _after_groups(select)
    if any(queries_of(each) or each.find(exp.Window, exp.Columns, exp.Explode) for each in every):
        return False
    stars = (star for each in select.expressions for star in each.find_all(exp.Star))
    return all(isinstance(star.parent, exp.Count) for star in stars)


def _after_groups(select: Expression) -> list[Expression]:
    """What reads groups: the expressions of SELECT, HAVING and ORDER BY."""
    clauses = [select.args[key] for key in ("having", "order") if select.args.get(key)]
    return [*select.expressions, *clauses]


class _Link:
    """An equality `table.key = other.column`, where no value of the key is there twice."""

    def __init__(self, node: Expression, key: Expression, other: Expression) -> None:
        self.node: Expression = node
        self.key: Expression = key
        self.other: Expression = other


class _Early:
    """One query: which of its tables are joined later, and what it becomes."""

    def __init__(
        self,
        select: Expression,
        tables: dict[str, Expression],
        table_of: Callable[[Expression], Relation],
    ) -> None:
        self._select: Expression = select
        self._tables: dict[str, Expression] = tables
        self._table_of: Callable[[Expression], Relation] = table_of
        self._relations: dict[str, Relation] = {
            alias: table_of(node) for alias, node in tables.items()
        }
        self._conditions: list[Expression] = conditions_of(select)
        self._keys: list[Expression | None] = [
            self._column(each) for each in select.args["group"].expressions
        ]

    def made(self) -> Expression | None:
        """The query; None where no table can be joined later."""
        if None in self._keys or not all(map(self._is_clear, self._conditions)):
            return None
        calls = self._calls()
        if may_raise(calls):  # of rows that the joins leave out
            return None
        read = {self._table(c) for call in calls for c in columns_of(call)}
        if None in read:
            return None
        shared = self._shared_groups(calls, read)
        if shared is not None:
            return self._rewritten(calls, *shared)
        links = self._links(read)
        later = {link.key.table for link in links}
        gained = [k for k in self._keys if k is not None and k.table in later]
        linked = [column for link in links for column in (link.key, link.other)]
        if all(key in linked for key in gained):
            return None
        return self._rewritten(calls, links, later)

    def _calls(self) -> list[Expression]:
        every = map(aggregates_of, _after_groups(self._select))
        return list(dict.fromkeys(call for each in every for call in each))

    # ---- names

    def _table(self, column: Expression) -> str | None:
        """The table of a column; None if it is of none or of several."""
        if column.db or isinstance(column.this, exp.Star):
            return None
        table, name = named(column.table), named(column.name)
        found = [
            alias
            for alias, relation in self._relations.items()
            if table in ("", alias)
            and any(not f.hidden and f.name.lower() == name for f in relation.fields)
        ]
        return found[0] if len(found) == 1 else None

    def _column(self, node: Expression) -> Expression | None:
        """A column by its full name."""
        table = self._table(node)
        return None if table is None else exp.column(named(node.name), table)

    def _node(self, column: Expression) -> _core.Node:
        return self._relations[column.table].column(column.name)

    def _reads(self, condition: Expression, table: str) -> bool:
        """Whether a condition may read a column of a table, be it in a subquery."""
        names = {f.name.lower() for f in self._relations[table].fields}
        columns: list[Expression] = []
        for each in walk(condition):
            if isinstance(each, exp.Column):
                columns.append(each)
            elif is_query(each) and not self._is_closed(each):
                columns += each.find_all(exp.Column)
        return any(
            named(c.table) == table
            or (not c.table and (named(c.name) in names or named(c.name) == table))
            for c in columns
        )

    def _is_closed(self, query: Expression) -> bool:
        """Whether a subquery reads columns of its own tables alone."""
        inner = _inside(query)
        tables = tables_of_joins(inner) if isinstance(inner, exp.Select) else None
        if tables is None or inner.args.get("with_") or inner.find(exp.Subquery, exp.SetOperation):
            return False
        if sum(1 for _ in inner.find_all(exp.Select)) > 1:
            return False
        names = {
            alias: {f.name.lower() for f in self._table_of(node).fields if not f.hidden}
            for alias, node in tables.items()
        }
        return all(
            named(c.name) in names.get(named(c.table), ())
            if c.table
            else any(named(c.name) in own for own in names.values())
            for c in inner.find_all(exp.Column)
        )

    def _is_clear(self, condition: Expression) -> bool:
        """Whether a condition reads columns of tables, and no alias of SELECT."""
        aliases = aliases_of(self._select)
        return all(self._table(c) is not None for c in columns_of(condition)) and not any(
            not c.table and named(c.name) in aliases and self._table(c) is None
            for c in condition.find_all(exp.Column)
        )

    # ---- tables

    def _links(self, read: set[str | None]) -> list[_Link]:
        """How tables are joined of which no aggregate reads and no condition but these."""
        refused: set[str] = set()
        while True:
            links: dict[str, _Link] = {}
            grown = True
            while grown:
                grown = False
                for table in self._tables:
                    if table in read or table in refused or table in links:
                        continue
                    link = self._link(table, [each.node for each in links.values()])
                    if link is not None:
                        links[table] = link
                        grown = True
            # Rows of one group have one row of a table if the group's keys say which.
            bad = {
                table
                for table, link in links.items()
                if link.other.table not in links
                and link.other not in self._keys
                and link.key not in self._keys
            }
            if not bad and len(links) < len(self._tables):
                return list(links.values())
            refused |= bad or set(links)

    def _shared_groups(
        self, calls: list[Expression], read: set[str | None]
    ) -> tuple[list[_Link], set[str]] | None:
        """The link to groups that IN of a query asks for, too, and the tables joined to them."""
        table = next(iter(read)) if len(read) == 1 else None
        if table is None:
            return None
        if not any(
            isinstance(each, exp.In) and each.args.get("query") for each in self._conditions
        ):
            return None
        mine = [each for each in self._conditions if self._reads(each, table)]
        link = self._unique_link(mine[0]) if len(mine) == 1 else None
        if link is None or link.other.table != table:
            return None
        own = [key for key in self._keys if key is not None and key.table == table]
        if any(key != link.other for key in own) or not {link.key, link.other} & {*self._keys}:
            return None
        if not any(self._asks_for_groups(each, link.other, calls) for each in self._conditions):
            return None
        later = {link.key.table}
        pairs = [each for each in map(self._unique_link, self._conditions) if each is not None]
        grown = True
        while grown:
            found = {each.key.table for each in pairs if each.other.table in later} - {table}
            grown = not found <= later
            later |= found
        return ([link], later) if len(later) == len(self._tables) - 1 else None

    def _asks_for_groups(
        self, condition: Expression, key: Expression, calls: list[Expression]
    ) -> bool:
        """Whether this is IN of a query with the same aggregates of the same groups."""
        query = condition.args.get("query") if isinstance(condition, exp.In) else None
        if query is None or not self._is_closed(query):
            return False
        inner = _inside(query)
        known = {"kind", "expressions", "from_", "group", "having"}
        if not {word for word, value in inner.args.items() if value} <= known:
            return False
        tables = [table_name(node) for node in (tables_of_joins(inner) or {}).values()]
        group = inner.args.get("group")
        if tables != [table_name(self._tables[key.table])] or group is None:
            return False
        if [named(each.name) for each in group.expressions] != [key.name]:
            return False
        having = inner.args.get("having")
        asked = [*inner.expressions, *([having] if having is not None else [])]
        theirs = {_bare(call) for each in asked for call in aggregates_of(each)}
        return _is_plain(inner, group) and theirs == {_bare(call) for call in calls}

    def _link(self, table: str, known: list[Expression]) -> _Link | None:
        mine = [
            each
            for each in self._conditions
            if self._reads(each, table) and all(each is not node for node in known)
        ]
        return self._unique_link(mine[0], table) if len(mine) == 1 else None

    def _unique_link(self, node: Expression, table: str = "") -> _Link | None:
        """An equality with a column whose values differ, of this table or of any."""
        if not isinstance(node, exp.EQ):
            return None
        sides = [node.this, node.expression]
        if not all(isinstance(each, exp.Column) for each in sides):
            return None
        one, other = (self._column(each) for each in sides)
        if one is None or other is None or one.table == other.table:
            return None
        if self._node(one).dtype != self._node(other).dtype:
            return None
        for key, rest in ((one, other), (other, one)):
            if table in ("", key.table) and is_unique(self._node(key)):
                return _Link(node, key, rest)
        return None

    # ---- the query

    def _rewritten(
        self, calls: list[Expression], links: list[_Link], later: set[str]
    ) -> Expression | None:
        roots = [link.other for link in links if link.other.table not in later]
        own = [key for key in self._keys if key is not None and key.table not in later]
        keys = list(dict.fromkeys([*own, *roots]))
        inner = exp.Select(
            expressions=[
                *(exp.alias_(key.copy(), f"key {i}", quoted=True) for i, key in enumerate(keys)),
                *(
                    exp.alias_(call.copy(), f"call {i}", quoted=True)
                    for i, call in enumerate(calls)
                ),
            ],
            group=exp.Group(expressions=[key.copy() for key in keys]),
        )
        done = [link.node for link in links]
        rest = [each for each in self._conditions if all(each is not node for node in done)]
        after = [each for each in rest if any(self._reads(each, table) for table in later)]
        before = [each for each in rest if all(each is not node for node in after)]
        _join(inner, [node for alias, node in self._tables.items() if alias not in later], before)
        alias = exp.TableAlias(this=exp.to_identifier(_GROUPS, quoted=True))
        groups = exp.Subquery(this=inner, alias=alias)
        names = {named(each.alias_or_name) for each in self._select.expressions}
        aliases = aliases_of(self._select)
        is_known = not any(word.startswith(("key ", "call ")) for word in aliases)

        def change(node: Expression) -> Expression | None:
            nonlocal is_known
            if node in calls:
                return _of_groups(f"call {calls.index(node)}")
            if not isinstance(node, exp.Column):
                return None
            column = self._column(node)
            if column is None or column not in self._keys:
                # An alias of SELECT, or an error that the query as it is tells.
                is_known &= column is None and not node.table and named(node.name) in aliases
                return None
            return here(column)

        def here(column: Expression) -> Expression:
            return column if column.table in later else _of_groups(f"key {keys.index(column)}")

        def full(node: Expression) -> Expression | None:
            return self._column(node) if isinstance(node, exp.Column) else None

        def changed(node: Expression) -> Expression:
            return replaced(node.copy(), change)

        made = exp.Select(
            **{k: v for k, v in self._select.args.items() if k in ("limit", "offset")}
        )
        made.set(
            "expressions",
            [
                exp.alias_(changed(each.unalias()), each.alias or name_of(each), quoted=True)
                for each in self._select.expressions
            ],
        )
        conditions = [exp.EQ(this=here(k.key), expression=here(k.other)) for k in links]
        conditions += [replaced(each.copy(), full) for each in after]
        having = self._select.args.get("having")
        conditions += [changed(each) for each in conjuncts(having.this)] if having else []
        _join(
            made,
            [groups, *(self._tables[table] for table in self._tables if table in later)],
            conditions,
        )
        order = self._select.args.get("order")
        if order is not None:
            items = [each.copy() for each in order.expressions]
            for each in items:
                node = each.this
                is_name = (
                    isinstance(node, exp.Column) and not node.table and named(node.name) in names
                )
                if not is_name:
                    each.set("this", changed(node))
            made.set("order", exp.Order(expressions=items))
        return made if is_known else None


def _inside(query: Expression) -> Expression:
    while isinstance(query, exp.Subquery):
        query = query.this
    return query


def _bare(call: Expression) -> Expression:
    """An aggregate with the names of its columns alone."""
    return replaced(
        call.copy(),
        lambda each: exp.column(named(each.name)) if isinstance(each, exp.Column) else None,
    )


def _of_groups(name: str) -> Expression:
    return exp.column(exp.to_identifier(name, quoted=True), exp.to_identifier(_GROUPS, quoted=True))


def _join(select: Expression, tables: list[Expression], conditions: list[Expression]) -> None:
    """Set FROM to tables and WHERE to conditions."""
    first, *more = tables
    select.set("from_", exp.From(this=first.copy()))
    select.set("joins", [exp.Join(this=each.copy()) for each in more])
    if conditions:
        where = conditions[0].copy()
        for each in conditions[1:]:
            where = exp.And(this=where, expression=each.copy())
        select.set("where", exp.Where(this=where))
