# SPDX-License-Identifier: Apache-2.0
"""Queries lowered to relations: SELECT from its FROM list to its LIMIT, WITH and set operations."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from headrace import _core
from headrace.errors import InvalidArgumentError, UnsupportedError
from headrace.sql import setops
from headrace.sql.aggregates import group
from headrace.sql.clauses.description import description
from headrace.sql.clauses.early_groups import grouped_early
from headrace.sql.clauses.grouping import grouping_sets
from headrace.sql.clauses.ordering import sort_keys
from headrace.sql.clauses.outer_aggregates import with_outer_aggregates
from headrace.sql.clauses.outputs import of_columns, outputs_of, resolved
from headrace.sql.elementwise import run
from headrace.sql.expressions import evaluate
from headrace.sql.nested.keys import as_keys
from headrace.sql.relation import Field, Relation, distinct_nodes, one_row
from headrace.sql.scope import COMPUTED, FOLDED, OUTER, Correlation, Scope
from headrace.sql.sources import joins
from headrace.sql.sources.from_list import FromList
from headrace.sql.sources.unnest import (
    unnested,
    unnests_of,
)
from headrace.sql.subqueries import attach, semi_join
from headrace.sql.syntax import (
    aggregates_of,
    aliases_of,
    conjuncts,
    exp,
    named,
    queries_of,
    walk,
    windows_of,
)
from headrace.sql.values import (
    Constant,
    Operand,
    Value,
    column_value,
)
from headrace.sql.windows import attach_windows
from headrace.sql.windows.pairs import folded

Expression = Any


class Planner(FromList):
    """Lowers queries over tables. `views` are names of WITH and of a context, which hide tables."""

    # ---- queries

    def lower(self, query: Expression, correlation: Correlation | None = None) -> Relation:
        """The relation of a query."""
        before, owners = dict(self._views), dict(self._owners)
        try:
            self._define(query, correlation)
            return self._lowered(query, correlation)
        finally:
            self._views, self._owners = before, owners

    def _define(self, query: Expression, correlation: Correlation | None) -> None:
        found = query.args.get("with_")
        if found is None:
            return
        for view in found.expressions:
            name = named(view.alias)
            columns = [each.name for each in view.args["alias"].args.get("columns") or []]
            if found.args.get("recursive") and _names(view.this, name):
                made = setops.recursive(self, name, view.this, columns)
            else:
                made = self.lower(view.this, correlation)
            if len(columns) > sum(not f.hidden for f in made.fields):
                raise InvalidArgumentError(f"sql: WITH names too many columns: table={name!r}")
            self._owners.pop(name, None)
            if any(f.table == OUTER for f in made.fields):
                self._owners[name] = correlation
            self._views[name] = made.renamed(name, columns)

    def filtered(self, scope: Scope, conditions: list[Expression]) -> Scope:
        """The rows where all conditions are true, which may hold subqueries."""
        return _filtered(scope, [resolved(each, scope, {}) for each in conditions])

    def value(self, scope: Scope, node: Expression) -> Operand:
        """The value of an expression."""
        return evaluate(resolved(node, scope, scope.aliases), scope)

    def folded(
        self, scope: Scope, key: _core.Node, call: Expression, wanted: _core.Node
    ) -> Operand:
        """An aggregate of the rows with equal keys, for each wanted key."""
        return folded(scope, key, call, wanted)

    def define(self, name: str, relation: Relation) -> None:
        """A table of this name, for a while."""
        self._views[name] = relation

    def _lowered(self, query: Expression, correlation: Correlation | None) -> Relation:
        if isinstance(query, exp.Subquery):
            if query.args.get("joins"):
                raise UnsupportedError("sql: a join of a query here: word='JOIN'; use FROM")
            made = self.lower(query.this, correlation)
            return self._ordered(query, made, correlation)
        if isinstance(query, exp.SetOperation):
            left = self.lower(query.this, correlation)
            right = self.lower(query.expression, correlation)
            return self._ordered(query, setops.combined(query, left, right), correlation)
        if isinstance(query, exp.Values):
            return setops.values(query, self._free_scope(correlation))
        if isinstance(query, exp.Table):
            return self._table(query, correlation)
        if isinstance(query, exp.Describe):
            return description(self.lower(query.this))
        if not isinstance(query, exp.Select):
            raise UnsupportedError(
                f"sql: unsupported statement: word={type(query).__name__.upper()!r}; only queries"
            )
        return self._select(query, correlation)

    # ---- SELECT

    def _select(self, select: Expression, correlation: Correlation | None) -> Relation:
        _refuse_clauses(select)
        if correlation is None:
            select = grouped_early(select, self.table)
        conditions = conjuncts(select.args["where"].this) if select.args.get("where") else []
        aliases = aliases_of(select)
        relation, left = self._from(select, conditions, correlation)
        scope = Scope(relation, correlation, self)
        if correlation is not None and correlation.bound:
            scope.domain = self._domain(correlation)
        scope.aliases = aliases
        scope.made_by = select, left
        left = [resolved(each, scope, aliases) for each in left]
        scope = _filtered(scope, left)
        select, outer_ones = with_outer_aggregates(select, scope)
        outputs = outputs_of(select, scope)
        outputs = [(name, resolved(node, scope, aliases, name)) for name, node in outputs]
        order = _order_items(select, scope, outputs, aliases)
        having = select.args.get("having")
        having = None if having is None else resolved(having.this, scope, aliases)
        qualify = select.args.get("qualify")
        qualify = None if qualify is None else resolved(qualify.this, scope, aliases)
        qualify = _first_of_each(select, qualify, outputs, order, scope)
        every = [node for _, node in outputs] + [node for node, _, _ in order]
        every += [each for each in (having, qualify) if each is not None]
        scope = self._grouped(select, scope, outputs, every, having, outer_ones)
        windows = [w for node in every for w in windows_of(node)]
        if windows:
            named_windows = [
                resolved(each, scope, aliases) for each in select.args.get("windows") or []
            ]
            scope = attach_windows(scope, windows, named_windows)
        if qualify is not None:
            scope = _filtered(scope, conjuncts(qualify))
        unnests = _unique([c for node in every for c in unnests_of(node, scope.computed)])
        if unnests:
            scope = unnested(scope, unnests)
        return _projected(select, scope, outputs, order)

    def _grouped(
        self,
        select: Expression,
        scope: Scope,
        outputs: list[tuple[str, Expression]],
        every: list[Expression],
        having: Expression | None,
        outer_ones: list[Expression],
    ) -> Scope:
        outer_ones = [resolved(each, scope, {}) for each in outer_ones]
        aggregates = _unique([a for node in [*every, *outer_ones] for a in aggregates_of(node)])
        for each in aggregates:
            _refuse_outer(each, scope)
        clause = select.args.get("group")
        if clause is None and not aggregates and having is None:
            return attach(scope, every)
        arguments = [c for a in aggregates for c in [a] if queries_of(a)]
        if arguments:
            scope = attach(scope, arguments)
        sets = grouping_sets(
            clause, outputs, scope, lambda node: resolved(node, scope, scope.aliases)
        )
        unnests = _unique([c for keys in sets for key in keys for c in unnests_of(key)])
        if unnests:
            scope = unnested(scope, unnests)
        if len(sets) == 1 and not any(isinstance(each, _GROUPING) for each in aggregates):
            keys = _unique(sets[0])
            scope = attach(scope, keys)
            made = group(scope, keys, aggregates, not keys)
        else:
            made = setops.grouped_by_sets(scope, sets, aggregates, every)
        rows = made.relation.rows
        for place, each in enumerate(outer_ones):
            value = column_value(evaluate(each, made), rows)
            made.with_fields([Field(FOLDED, str(place), value, True)])
        made = attach(made, [*([having] if having is not None else []), *every])
        if having is not None:
            made = _filtered(made, conjuncts(having))
        return made

    def _ordered(
        self, query: Expression, relation: Relation, correlation: Correlation | None
    ) -> Relation:
        """ORDER BY and LIMIT of set operations and of queries in parentheses."""
        if not any(query.args.get(each) for each in ("order", "limit", "offset")):
            return relation
        scope = Scope(relation, correlation, self)
        outputs = [(f.name, exp.column(f.name)) for f in relation.fields if not f.hidden]
        order = _order_items(_with_places(query, scope), scope, outputs, {})
        return _limited(query, _sorted(scope, order), scope)


# ---- clauses -------------------------------------------------------------------------------------

_REFUSED = {
    **{"laterals": "LATERAL", "match": "MATCH_RECOGNIZE", "cluster": "CLUSTER BY"},
    **{"distribute": "DISTRIBUTE BY", "sort": "SORT BY", "pivots": "PIVOT", "into": "INTO"},
    **{"locks": "FOR UPDATE", "sample": "SAMPLE", "connect": "CONNECT BY", "prewhere": "PREWHERE"},
}


def _refuse_clauses(select: Expression) -> None:
    for key, word in _REFUSED.items():
        if select.args.get(key):
            raise UnsupportedError(f"sql: unsupported: word={word!r}")


def _names(query: Expression, name: str) -> bool:
    """Whether a query reads a table of this name."""
    return any(named(table.name) == name for table in query.find_all(exp.Table))


_GROUPING = (exp.Grouping, exp.GroupingId)


def _refuse_outer(aggregate: Expression, scope: Scope) -> None:
    """An aggregate of columns of the query around belongs to that one."""
    columns = [each for each in walk(aggregate) if isinstance(each, exp.Column)]
    if scope.outer is None or not columns:
        return
    if not any(scope.has(named(each.table), named(each.name)) for each in columns):
        raise UnsupportedError(
            "sql: an aggregate of the outer query in a subquery: "
            f"expression={aggregate.sql('duckdb')[:80]!r}"
        )


def _unique(nodes: list[Expression]) -> list[Expression]:
    return list(dict.fromkeys(nodes))


def _filtered(scope: Scope, conditions: list[Expression]) -> Scope:
    """The rows where all conditions are true; EXISTS and IN as semi and anti joins."""
    plain = [each for each in conditions if not queries_of(each)]
    scope = joins.filtered(scope, plain) if plain else scope
    for each in conditions:
        if not queries_of(each):
            continue
        negated, inner = False, each
        while isinstance(inner, exp.Not | exp.Paren):
            negated ^= isinstance(inner, exp.Not)
            inner = inner.this
        made = semi_join(scope, inner, negated)
        if made is None:
            scope = attach(scope, [each])
            made = joins.filtered(scope, [each])
        scope = made
    return scope


def _order_items(
    query: Expression,
    scope: Scope,
    outputs: list[tuple[str, Expression]],
    aliases: dict[str, Expression],
) -> list[tuple[Expression, bool, bool]]:
    """Expression, whether it is descending, and whether null comes first."""
    clause = query.args.get("order")
    items: list[tuple[Expression, bool, bool]] = []
    names = {name.lower(): node for name, node in reversed(outputs)}
    for each in clause.expressions if clause is not None else []:
        descending, first = bool(each.args.get("desc")), bool(each.args.get("nulls_first"))
        node = each.this
        if isinstance(node, exp.Var) and named(node.name) == "all":
            items += [(n, descending, first) for _, n in outputs]
            continue
        if isinstance(node, exp.Literal) and not node.is_string:
            place = int(node.this)
            if not 1 <= place <= len(outputs):
                raise InvalidArgumentError(
                    f"sql: ORDER BY names no column: position={place}, columns={len(outputs)}"
                )
            node = outputs[place - 1][1]
        elif isinstance(node, exp.Column) and not node.table and named(node.name) in names:
            node = names[named(node.name)]
        else:
            more = {k: v for k, v in names.items() if not scope.has("", k)}
            node = resolved(node, scope, {**more, **aliases})
        items.append((node, descending, first))
    return items


def _with_places(query: Expression, scope: Scope) -> Expression:
    """A set operation ordered by places where it names columns or expressions of a side."""
    sides = list(_sides_of(query)) if query.args.get("order") is not None else []
    if len(sides) < 2 or any(side.find(exp.Star, exp.Explode, exp.Columns) for side in sides):
        return query
    items = []
    for each in query.args["order"].expressions:
        node, places = each.this, set[int]()
        own = isinstance(node, exp.Column) and not node.table and scope.has("", named(node.name))
        if not own and not isinstance(node, exp.Literal | exp.Var):
            for side in sides:
                for place, item in enumerate(side.expressions, 1):
                    is_named = isinstance(node, exp.Column) and not node.table
                    if (is_named and named(item.alias_or_name) == named(node.name)) or (
                        item.unalias() == node
                    ):
                        places.add(place)
        made = each.copy()
        if len(places) == 1:
            made.set("this", exp.Literal.number(places.pop()))
        items.append(made)
    return exp.Select(order=exp.Order(expressions=items))


def _sides_of(query: Expression) -> Iterator[Expression]:
    """The SELECTs of a set operation."""
    if isinstance(query, exp.SetOperation):
        yield from _sides_of(query.this)
        yield from _sides_of(query.expression)
    elif isinstance(query, exp.Subquery):
        yield from _sides_of(query.this)
    elif isinstance(query, exp.Select):
        yield query


def _sorted(scope: Scope, order: list[tuple[Expression, bool, bool]]) -> Relation:
    if not order:
        return scope.relation
    keys = sort_keys([(evaluate(n, scope), d, f) for n, d, f in order], scope.relation.rows)
    return scope.relation.sorted(keys) if keys else scope.relation


def _first_of_each(
    select: Expression,
    qualify: Expression | None,
    outputs: list[tuple[str, Expression]],
    order: list[tuple[Expression, bool, bool]],
    scope: Scope,
) -> Expression | None:
    """DISTINCT ON as the condition that a row is the first one of its keys."""
    distinct = select.args.get("distinct")
    on = distinct.args.get("on") if distinct is not None else None
    if on is None:
        return qualify
    if qualify is not None:
        raise UnsupportedError("sql: DISTINCT ON together with QUALIFY: word='DISTINCT ON'")
    names = {name.lower(): node for name, node in reversed(outputs)}
    keys = []
    listed_on = on.expressions if isinstance(on, exp.Tuple) else [on]
    columns = [
        node
        for each in listed_on
        for node in (
            [made for _, made in of_columns(each, scope)] if each.find(exp.Columns) else [each]
        )
    ]
    for each in columns:
        node = each
        if isinstance(node, exp.Literal) and not node.is_string:
            node = outputs[int(node.this) - 1][1]
        elif (
            isinstance(node, exp.Column) and not node.table and not scope.has("", named(node.name))
        ):
            node = names.get(named(node.name), node)
        keys.append(resolved(node, scope, scope.aliases))
    listed = [exp.Ordered(this=node, desc=d, nulls_first=f) for node, d, f in order]
    place = exp.Window(this=exp.RowNumber(), partition_by=keys)
    if listed:
        place.set("order", exp.Order(expressions=listed))
    return exp.EQ(this=place, expression=exp.Literal(this="1", is_string=False))


def _projected(
    select: Expression,
    scope: Scope,
    outputs: list[tuple[str, Expression]],
    order: list[tuple[Expression, bool, bool]],
) -> Relation:
    rows = scope.relation.rows
    values = [evaluate(node, scope) for _, node in outputs]
    fields = []
    for (name, _), operand in zip(outputs, values, strict=True):
        value = column_value(operand, rows)
        fields.append(Field("", name, value))
    hidden = [f for f in scope.relation.fields if f.table == OUTER]
    distinct = select.args.get("distinct")
    items = [(evaluate(node, scope), d, f) for node, d, f in order]
    keys = [
        Field(COMPUTED, f"order {i}", operand, True)
        for i, (operand, _, _) in enumerate(items)
        if isinstance(operand, Value)
    ]
    relation = Relation([*fields, *hidden, *keys], fields[0].value.node)
    if distinct is not None and distinct.args.get("on") is None:
        relation = _distinct_rows(relation, outputs, order)
    if items:
        held = {f.name: f.value for f in relation.fields if f.table == COMPUTED}
        now = [(held.get(f"order {i}", operand), d, f) for i, (operand, d, f) in enumerate(items)]
        asked = sort_keys(now, relation.rows)
        relation = relation.sorted(asked) if asked else relation
    kept = [f for f in relation.fields if f.table != COMPUTED]
    return _limited(select, Relation(kept, relation.rows), scope)


def _distinct_rows(
    relation: Relation, outputs: list[tuple[str, Expression]], order: list[Any]
) -> Relation:
    known = {node for _, node in outputs}
    for node, _, _ in order:
        if node not in known:
            raise UnsupportedError(
                "sql: ORDER BY with DISTINCT must use selected expressions: "
                f"expression={node.sql('duckdb')[:80]!r}"
            )
    nodes = list({id(n): n for n in relation.nodes()}.values())
    found = dict(zip(map(id, nodes), distinct_nodes(nodes), strict=True))
    return relation.of_nodes([found[id(n)] for n in relation.nodes()])


def _limited(query: Expression, relation: Relation, scope: Scope) -> Relation:
    limit, offset = query.args.get("limit"), query.args.get("offset")
    if limit is None and offset is None:
        return relation
    count = _whole(limit.expression, "LIMIT", scope) if limit is not None else (1 << 62)
    begin = _whole(offset.expression, "OFFSET", scope) if offset is not None else 0
    if limit is not None and (isinstance(limit, exp.Fetch) or limit.args.get("expressions")):
        raise UnsupportedError("sql: unsupported: word='FETCH'; use LIMIT")
    outer = [f.value.node for f in relation.fields if f.table == OUTER]
    if not outer:
        return relation.sliced(begin, count)
    # The first rows for each row of the query around.
    place = _core.part(_core.group_places(as_keys(outer), False), 0)
    place = _core.in_domain(place, relation.rows.domain)
    inside = run("less", place, min(count, 1 << 40) + begin)
    if begin:
        inside = run("logical_and", inside, run("greater_equal", place, begin))
    return relation.filtered(inside)


def _whole(node: Expression, word: str, scope: Scope) -> int:
    operand = evaluate(node, Scope(one_row(), None, scope.planner))
    if isinstance(operand, Constant) and operand.value is None:
        return 1 << 62
    if not isinstance(operand, Constant) or type(operand.value) is not int or operand.value < 0:
        raise UnsupportedError(f"sql: expected a number of rows: word={word!r}")
    return operand.value
