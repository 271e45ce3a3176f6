# SPDX-License-Identifier: Apache-2.0
"""Queries lowered to relations: SELECT from its FROM list to its LIMIT, WITH and set operations."""

from __future__ import annotations

import re
from typing import Any

from headrace import _core
from headrace.errors import InvalidArgumentError, UnsupportedError
from headrace.sql import setops
from headrace.sql.aggregates import group
from headrace.sql.elementwise import run
from headrace.sql.expressions import evaluate
from headrace.sql.grouping import grouping_sets
from headrace.sql.nested.keys import as_keys
from headrace.sql.ordering import sort_keys
from headrace.sql.relation import Field, Relation, distinct_nodes, one_row
from headrace.sql.scope import COMPUTED, OUTER, Correlation, Scope
from headrace.sql.sources import joins
from headrace.sql.sources.from_list import FromList
from headrace.sql.sources.unnest import (
    unnested,
    unnests_of,
)
from headrace.sql.subqueries import attach, semi_join
from headrace.sql.syntax import (
    aggregates_of,
    conjuncts,
    exp,
    is_query,
    named,
    queries_of,
    replaced,
    walk,
    windows_of,
)
from headrace.sql.values import (
    Constant,
    Operand,
    Value,
    column_value,
    is_struct,
)
from headrace.sql.window_pairs import folded
from headrace.sql.windows import attach_windows

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
        return _filtered(scope, [_resolved(each, scope, {}) for each in conditions])

    def value(self, scope: Scope, node: Expression) -> Operand:
        """The value of an expression."""
        return evaluate(_resolved(node, scope, scope.aliases), scope)

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
        if not isinstance(query, exp.Select):
            raise UnsupportedError(
                f"sql: unsupported statement: word={type(query).__name__.upper()!r}; only queries"
            )
        return self._select(query, correlation)

    # ---- SELECT

    def _select(self, select: Expression, correlation: Correlation | None) -> Relation:
        _refuse_clauses(select)
        conditions = conjuncts(select.args["where"].this) if select.args.get("where") else []
        aliases = {named(e.alias): e.this for e in select.expressions if isinstance(e, exp.Alias)}
        relation, left = self._from(select, conditions, correlation)
        scope = Scope(relation, correlation, self)
        if correlation is not None and correlation.bound:
            scope.domain = self._domain(correlation)
        scope.aliases = aliases
        left = [_resolved(each, scope, aliases) for each in left]
        scope = _filtered(scope, left)
        outputs = _outputs(select, scope)
        outputs = [(name, _resolved(node, scope, aliases, name)) for name, node in outputs]
        order = _order_items(select, scope, outputs, aliases)
        having = select.args.get("having")
        having = None if having is None else _resolved(having.this, scope, aliases)
        qualify = select.args.get("qualify")
        qualify = None if qualify is None else _resolved(qualify.this, scope, aliases)
        qualify = _first_of_each(select, qualify, outputs, order, scope)
        every = [node for _, node in outputs] + [node for node, _, _ in order]
        every += [each for each in (having, qualify) if each is not None]
        scope = self._grouped(select, scope, outputs, every, having)
        windows = [w for node in every for w in windows_of(node)]
        if windows:
            named_windows = [
                _resolved(each, scope, aliases) for each in select.args.get("windows") or []
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
    ) -> Scope:
        aggregates = _unique([a for node in every for a in aggregates_of(node)])
        for each in aggregates:
            _refuse_outer(each, scope)
        clause = select.args.get("group")
        if clause is None and not aggregates and having is None:
            return attach(scope, every)
        arguments = [c for a in aggregates for c in [a] if queries_of(a)]
        if arguments:
            scope = attach(scope, arguments)
        sets = grouping_sets(
            clause, outputs, scope, lambda node: _resolved(node, scope, scope.aliases)
        )
        unnests = _unique([c for keys in sets for key in keys for c in unnests_of(key)])
        if unnests:
            scope = unnested(scope, unnests)
        if len(sets) == 1:
            keys = _unique(sets[0])
            scope = attach(scope, keys)
            made = group(scope, keys, aggregates, not keys)
        else:
            made = setops.grouped_by_sets(scope, sets, aggregates, every)
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
        order = _order_items(query, scope, outputs, {})
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


def _resolved(
    node: Expression, scope: Scope, aliases: dict[str, Expression], own: str = ""
) -> Expression:
    """With full names of columns, and the expressions of aliases where no column has the name.

    So equal expressions are equal trees.
    """
    node = node.copy() if not is_query(node) else node

    def change(each: Expression) -> Expression | None:
        if isinstance(each, exp.PositionalColumn):
            return _positional(each, scope)
        if not isinstance(each, exp.Column) or isinstance(each.this, exp.Star) or each.db:
            return None
        table, name = named(each.table), named(each.name)
        field = scope.field(table, name)
        if field is not None:
            made = exp.Column(this=exp.Identifier(this=name))
            if field.table:
                made.set("table", exp.Identifier(this=field.table))
            return made
        if not table and name in aliases and name != own.lower():
            rest = {k: v for k, v in aliases.items() if k != name}
            return exp.Paren(this=_resolved(aliases[name], scope, rest))
        return None

    return replaced(node, change)


def _positional(node: Expression, scope: Scope) -> Expression:
    """#1: a column of FROM by its place."""
    fields = [f for f in scope.relation.fields if not f.hidden]
    place = int(node.name)
    if not 1 <= place <= len(fields):
        raise InvalidArgumentError(f"sql: no such column: place={place}, columns={len(fields)}")
    made = exp.Column(this=exp.Identifier(this=fields[place - 1].name.lower()))
    if fields[place - 1].table:
        made.set("table", exp.Identifier(this=fields[place - 1].table))
    return made


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


def _outputs(select: Expression, scope: Scope) -> list[tuple[str, Expression]]:
    """Names and expressions of SELECT, with what its stars stand for."""
    outputs: list[tuple[str, Expression]] = []
    for each in select.expressions:
        node = each
        while isinstance(node, exp.Paren):
            node = node.this
        star = node.this if isinstance(node, exp.Column) else node
        if isinstance(star, exp.Star):
            table = named(node.table) if isinstance(node, exp.Column) else ""
            outputs += _starred(star, table, scope)
        elif isinstance(node, exp.Alias):
            if named(node.alias) == "export_state" and not node.args["alias"].args.get("quoted"):
                raise UnsupportedError("sql: unsupported: word='EXPORT_STATE'")
            outputs.append((node.alias, node.this))
        elif node.find(exp.Columns) is not None:
            outputs += _of_columns(node, scope)
        elif isinstance(node, exp.Explode) and _fields_of(node.this, scope):
            outputs += _parted(node.this, scope, _depth_of(node))
        elif isinstance(node, exp.Aliases):
            raise UnsupportedError(f"sql: unsupported: word={type(node).__name__.upper()!r}")
        else:
            outputs.append((_name_of(node), node))
    return outputs


def _of_columns(node: Expression, scope: Scope) -> list[tuple[str, Expression]]:
    """An expression for each of the columns that COLUMNS stands for."""
    found = {each.sql("duckdb"): each for each in node.find_all(exp.Columns)}
    if len(found) != 1:
        raise UnsupportedError("sql: several patterns in one expression: word='COLUMNS'")
    (words,) = found.values()
    inside = words.this
    every = _starred(inside if isinstance(inside, exp.Star) else exp.Star(), "", scope)
    if isinstance(inside, exp.Literal) and inside.is_string:
        every = [pair for pair in every if re.search(inside.this, pair[0])]
    elif not isinstance(inside, exp.Star):
        raise UnsupportedError("sql: unsupported: word='COLUMNS'; use * or a pattern")
    if not every:
        raise InvalidArgumentError(f"sql: COLUMNS finds no column: pattern={inside.name!r}")
    made = []
    for name, column in every:

        def change(each: Expression, column: Expression = column) -> Expression | None:
            return column.copy() if isinstance(each, exp.Columns) else None

        made.append((name, replaced(node.copy(), change)))
    return made


def _field(node: Expression, name: str) -> Expression:
    return exp.StructExtract(this=node.copy(), expression=exp.Literal.string(name))


_DEPTH = re.compile(r"max_depth\s*(?::=|=>|=)\s*(\d+)")


def _depth_of(node: Expression) -> int:
    """How many levels of structs UNNEST takes apart."""
    depth = 1
    for each in node.expressions:
        text = each.sql("duckdb").lower()
        found = _DEPTH.fullmatch(text)
        if found is None and not re.fullmatch(r"recursive\s*(:=|=>|=)\s*true", text):
            raise UnsupportedError(f"sql: unsupported: word='UNNEST', option={text!r}")
        depth = 100 if found is None else int(found[1])
    return depth


def _parted(node: Expression, scope: Scope, depth: int) -> list[tuple[str, Expression]]:
    """The fields of a struct, and of structs in it down to a depth."""
    made = []
    for name in _fields_of(node, scope):
        inside = _field(node, name)
        deeper = _parted(inside, scope, depth - 1) if depth > 1 else []
        made += deeper or [(name, inside)]
    return made


def _fields_of(node: Expression, scope: Scope) -> list[str]:
    """The fields of a struct; none of other values."""
    if aggregates_of(node) or queries_of(node):
        return []
    dtype = evaluate(_resolved(node, scope, {}), scope).dtype
    return [name for name, _ in _core.dtype_fields(dtype)] if is_struct(dtype) else []


def _name_of(node: Expression) -> str:
    if isinstance(node, exp.Column):
        return str(node.name)
    return (
        str(node.sql("duckdb")).lower()
        if not isinstance(node, exp.Literal)
        else str(node.sql("duckdb"))
    )


def _starred(star: Expression, table: str, scope: Scope) -> list[tuple[str, Expression]]:
    without = {named(each.name) for each in star.args.get("except_") or []}
    instead = {named(each.alias): each.this for each in star.args.get("replace") or []}
    if star.args.get("rename"):
        raise UnsupportedError("sql: unsupported: word='RENAME'; use AS")
    found: list[tuple[str, Expression]] = []
    if table and not any(f.table == table for f in scope.relation.fields) and scope.has("", table):
        own = exp.Column(this=exp.Identifier(this=table))
        return [
            (name, _field(own, name))
            for name in _fields_of(own, scope)
            if name.lower() not in without
        ]
    for field in scope.relation.fields:
        if field.hidden or (table and field.table != table) or field.name.lower() in without:
            continue
        if field.name.lower() in instead:
            found.append((field.name, instead[field.name.lower()]))
            continue
        column = exp.Column(this=exp.Identifier(this=field.name.lower()))
        if field.table:
            column.set("table", exp.Identifier(this=field.table))
        found.append((field.name, column))
    if not found:
        raise InvalidArgumentError(f"sql: * stands for no column: table={table!r}; check the name")
    return found


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
            node = _resolved(node, scope, {**more, **aliases})
        items.append((node, descending, first))
    return items


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
            [made for _, made in _of_columns(each, scope)] if each.find(exp.Columns) else [each]
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
        keys.append(_resolved(node, scope, scope.aliases))
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
