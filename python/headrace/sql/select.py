# SPDX-License-Identifier: Apache-2.0
"""Queries lowered to relations: SELECT from its FROM list to its LIMIT, WITH and set operations."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from typing import Any

from headrace import _core
from headrace.errors import InvalidArgumentError, UnsupportedError
from headrace.sql import operators, setops
from headrace.sql.aggregates import group
from headrace.sql.elementwise import run
from headrace.sql.expressions import evaluate
from headrace.sql.grouping import grouping_sets
from headrace.sql.ordering import sort_keys
from headrace.sql.relation import Field, Relation, distinct_nodes, joined, one_row
from headrace.sql.scope import COMPUTED, OUTER, Correlation, Scope
from headrace.sql.sources import joins
from headrace.sql.sources.asof import asof_join, positional_join
from headrace.sql.sources.unnest import (
    is_series,
    series_table,
    unnested,
    unnested_table,
    unnests_of,
)
from headrace.sql.subqueries import attach, lower_inner, outer_keys, semi_join
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
    NULL,
    Constant,
    Value,
    column_of,
    column_value,
    value_of,
)
from headrace.sql.windows import attach_windows

Expression = Any


class Planner:
    """Lowers queries over tables. `views` are names of WITH and of a context, which hide tables."""

    def __init__(self, tables: Any, parameters: Mapping[str, Constant] | None = None) -> None:
        self.tables: Any = tables
        self.parameters: Mapping[str, Constant] = parameters or {}
        self._views: dict[str, Any] = {}
        #: Of a view that uses a query around: which one.
        self._owners: dict[str, Correlation | None] = {}
        #: Subqueries of FROM that depend on tables before them, by their numbers.
        self._laterals: dict[int, Expression] = {}

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

    def define(self, name: str, relation: Relation) -> None:
        """A table of this name, for a while."""
        self._views[name] = relation

    def _lowered(self, query: Expression, correlation: Correlation | None) -> Relation:
        if isinstance(query, exp.Subquery):
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

    # ---- FROM

    def _table(self, node: Expression, correlation: Correlation | None) -> Relation:
        if not isinstance(node.this, exp.Identifier):
            raise UnsupportedError(
                "sql: functions as tables are not supported: "
                f"expression={node.sql('duckdb')[:80]!r}; pass a frame"
            )
        name = named(node.name)
        if node.args.get("db") or node.args.get("sample") or node.args.get("pivots"):
            raise UnsupportedError(f"sql: unsupported table: expression={node.sql('duckdb')!r}")
        found = self._views.get(name)
        if found is not None and self._owners.get(name, correlation) is not correlation:
            raise UnsupportedError(
                f"sql: a correlated WITH table in a nested subquery: name={name!r}"
            )
        if found is None:
            found = self.tables.relation(name)
        alias = node.args.get("alias")
        names = [each.name for each in alias.args.get("columns") or []] if alias else []
        return found.renamed(named(node.alias or name), names)

    def _source(self, node: Expression, correlation: Correlation | None) -> Relation:
        if is_series(node):
            return series_table(node, Scope(one_row(), correlation, self))
        if isinstance(node, exp.Lateral):
            node = _as_subquery(node)
        if isinstance(node, exp.Table):
            made = self._table(node, correlation)
            for each in node.args.get("joins") or []:
                raise UnsupportedError(f"sql: unsupported: expression={each.sql('duckdb')[:80]!r}")
            return made
        alias = node.args.get("alias")
        name = named(node.alias) if node.alias else "unnamed_subquery"
        columns = [each.name for each in alias.args.get("columns") or []] if alias else []
        if isinstance(node, exp.Subquery):
            if isinstance(node.this, exp.Table):  # a join in parentheses
                made = self._from_tables(node.this, node.this.args.get("joins") or [], correlation)
                return made.renamed(name, columns) if node.alias else made
            inner = node.copy() if node.args.get("joins") else node
            made = self.lower(inner.this, correlation)
            return made.renamed(name, columns)
        if isinstance(node, exp.Values):
            made = setops.values(node, self._free_scope(correlation))
            return made.renamed(name, columns)
        word = type(node).__name__.upper()
        raise UnsupportedError(f"sql: unsupported in FROM: word={word!r}")

    def _from_tables(
        self, first: Expression, more: list[Expression], correlation: Correlation | None
    ) -> Relation:
        bare = first.copy()
        bare.set("joins", None)
        select = exp.Select(expressions=[exp.Star()], from_=exp.From(this=bare), joins=more)
        relation, rest = self._from(select, [], correlation)
        assert not rest
        return relation

    def _from(
        self, select: Expression, conditions: list[Expression], correlation: Correlation | None
    ) -> tuple[Relation, list[Expression]]:
        """The rows of FROM where the conditions are true that need no subquery, and the others."""
        source = select.args.get("from_")
        joins_of = select.args.get("joins") or []
        if source is not None and isinstance(source.this, exp.Unnest):
            joins_of, source = [exp.Join(this=source.this), *joins_of], None
        units = [one_row()] if source is None else [self._source(source.this, correlation)]
        if correlation is not None and correlation.bound:
            units.insert(0, self._domain(correlation))
        #: None for a table that depends on those before it.
        sources: list[Relation | None] = []
        for each in joins_of:
            known = [relation for relation in sources if relation is not None]
            before = [*units, *known] if source is not None else units
            is_later = None in sources and isinstance(
                each.this, exp.Lateral | exp.Subquery | exp.Values
            )
            sources.append(None if is_later else self._sibling(each.this, correlation, before))
        inner: list[Expression] = []  # conditions of inner joins
        pool = list(conditions)
        units[-1], links = _linked(units[-1])
        inner += links
        for place, (join, joined_one) in enumerate(zip(joins_of, sources, strict=True)):
            how, on = _kind(join), conjuncts(join.args.get("on"))
            right, links = (None, []) if joined_one is None else _linked(joined_one)
            on = [*on, *links]
            using = [named(each.name) for each in join.args.get("using") or []]
            method = named(join.method)
            if method not in ("", "asof", "natural", "positional"):
                raise UnsupportedError(f"sql: unsupported: word={method.upper()!r}")
            if how == "inner" and not using and not method and right is not None:
                units.append(right)
                inner += on
                continue
            later = [Scope(each, None, self) for each in sources[place:] if each is not None]
            early = inner if how in ("full", "right") or method else [*inner, *pool]
            if None in sources[place:]:  # whose columns are not known yet
                seen = [Scope(unit, None, self) for unit in units]
                early = [each for each in early if _reads_only(each, seen)]
            early = [each for each in early if not _reads(each, later)]
            scope = Scope(units[0], correlation, self)
            left, rest = joins.inner_joins(units, early, scope)
            inner = [each for each in inner if each not in early or each in rest]
            pool = [each for each in pool if each not in early or each in rest]
            scope = Scope(left, correlation, self)
            if method == "natural":
                using = _shared_names(left, right)
            is_kept = how in ("full", "right") and correlation is not None and correlation.bound
            if (using or method) and (links or is_kept):
                raise UnsupportedError("sql: USING with a table that uses the query around")
            if right is None:
                if using or method:
                    raise UnsupportedError("sql: unsupported: word='LATERAL' with USING")
                left = self._lateral(join.this, scope, how, on)
            elif method == "positional":
                left = positional_join(left, right)
            elif method == "asof" and how != "right":
                on += [_using_condition(name, left, right, name == using[-1]) for name in using]
                left = asof_join(left, right, on, {"full": "outer"}.get(how, how), scope)
                if using:
                    left = _without_right(left, right, using)
            elif method == "asof":
                raise UnsupportedError("sql: unsupported: word='ASOF RIGHT'; swap the tables")
            elif using:
                left = joins.using_join(left, right, using, how, scope)
            else:
                if how in ("full", "right") and inner:
                    raise UnsupportedError(
                        "sql: a condition of an inner join that reads a table "
                        f"listed after it: word={how.upper()!r}"
                    )
                if how in ("full", "right") and correlation is not None and correlation.bound:
                    left = self._right_join(left, joined_one, join, how, scope)
                else:
                    left = joins.outer_join(left, right, join, how, scope, on)
            units = [left]
        scope = Scope(units[0], correlation, self)
        return joins.inner_joins(units, [*inner, *pool], scope)

    def _right_join(
        self, left: Relation, right: Relation, join: Expression, how: str, scope: Scope
    ) -> Relation:
        """RIGHT and FULL joins in a query that uses the one around: each right row for its rows."""
        assert scope.outer is not None
        if not any(f.table == OUTER for f in right.fields):
            right = joined(self._domain(scope.outer), right, [], "inner")
        right, links = _linked(right)
        on = [*conjuncts(join.args.get("on")), *links]
        made = joins.outer_join(left, right, join, how, scope, on)
        count = len(left.fields)
        own = {f.name: f.value for f in made.fields[count:] if f.table.startswith(OUTER)}
        fields = []
        for field in made.fields:
            value: Any = field.value
            if field.table == OUTER:
                value = own[field.name]
                value = operators.coalesce([field.value, value]) if how == "full" else value
            fields.append(field._replace(value=value))
        return Relation(fields, made.rows)

    def _lateral(self, node: Expression, scope: Scope, how: str, on: list[Expression]) -> Relation:
        """The rows of a scope with those of a table that depends on them."""
        if how not in ("inner", "left"):
            raise UnsupportedError(f"sql: unsupported: word='LATERAL', join={how.upper()!r}")
        always = all(isinstance(each, exp.Boolean) and each.this for each in on)
        if how == "left" and not always:
            raise UnsupportedError(
                "sql: a condition of LEFT JOIN LATERAL; move it into the subquery"
            )
        if isinstance(node, exp.Unnest):
            made = unnested_table(node, scope, how == "left")
        else:
            node = _as_subquery(node)
            query = node if isinstance(node, exp.Values) else node.this
            inner, correlation = lower_inner(scope, query)
            alias = node.args.get("alias")
            columns = [each.name for each in alias.args.get("columns") or []] if alias else []
            name = named(node.alias) if node.alias else "unnamed_subquery"
            mine, theirs = outer_keys(scope, inner, correlation) if correlation else ([], [])
            right = Relation([f for f in inner.fields if not f.hidden], inner.rows)
            right = right.renamed(name, columns)
            keys = list(zip(mine, theirs, strict=True))
            if not keys and how == "left":
                keys = [(_core.repeat(scope.relation.rows, 0), _core.repeat(right.rows, 0))]
            made = joined(scope.relation, right, keys, how)
        return made if always else joins.filtered(scope.over(made), on).relation

    def _sibling(
        self, node: Expression, correlation: Correlation | None, before: list[Relation]
    ) -> Relation | None:
        """A table of FROM; None if it depends on those before it."""
        if isinstance(node, exp.Unnest):
            return None
        if not isinstance(node, exp.Lateral | exp.Subquery | exp.Values) or self._owners:
            return self._source(node, correlation)
        if id(node) in self._laterals:
            return None
        if correlation is not None and correlation.bound:
            return self._source(node, correlation)
        around = Scope(
            Relation([f for r in before for f in r.fields], before[0].rows), correlation, self
        )
        found = Correlation(around)
        made = self._source(node, found)
        if any(around.field(table, name) is not None for table, name in found.found.values()):
            self._laterals[id(node)] = node
            return None
        return made

    def _free_scope(self, correlation: Correlation | None) -> Scope:
        """Of expressions without a table: one row, or one for each of the query around."""
        if correlation is None or not correlation.bound:
            return Scope(one_row(), correlation, self)
        return Scope(self._domain(correlation), correlation, self)

    def _domain(self, correlation: Correlation) -> Relation:
        """The distinct rows of the columns of the query around that are used here."""
        if correlation.domain is not None:
            return correlation.domain
        scope = correlation.parent
        nodes = []
        for table, name in correlation.found.values():
            operand = scope.find(table, name)
            assert operand is not None
            nodes.append(
                column_of(operand, scope.relation.rows, "int32" if operand.dtype == NULL else "")
            )
        made = distinct_nodes(nodes)
        fields = [
            Field(OUTER, name, value_of(node), True)
            for name, node in zip(correlation.found, made, strict=True)
        ]
        correlation.domain = Relation(fields, made[0])
        return correlation.domain

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
        unnests = _unique([call for node in every for call in unnests_of(node)])
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
        if len(sets) == 1:
            keys = sets[0]
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


_units = itertools.count()


def _linked(relation: Relation) -> tuple[Relation, list[Expression]]:
    """A table of FROM whose rows belong to those of the query around, and the conditions for it."""
    if not any(f.table == OUTER for f in relation.fields):
        return relation, []
    own = f"{OUTER} {next(_units)}"
    fields = [f._replace(table=own) if f.table == OUTER else f for f in relation.fields]
    links = [
        exp.NullSafeEQ(
            this=exp.Column(this=exp.Identifier(this=f.name), table=exp.Identifier(this=OUTER)),
            expression=exp.Column(this=exp.Identifier(this=f.name), table=exp.Identifier(this=own)),
        )
        for f in relation.fields
        if f.table == OUTER
    ]
    return Relation(fields, relation.rows), links


def _reads(condition: Expression, scopes: list[Scope]) -> bool:
    """Whether a condition names a column that one of these has."""
    return any(
        scope.field(named(each.table), named(each.name)) is not None
        for each in condition.find_all(exp.Column)
        for scope in scopes
    )


def _reads_only(condition: Expression, scopes: list[Scope]) -> bool:
    """Whether each column that a condition names is one of these."""
    return all(
        any(scope.field(named(each.table), named(each.name)) is not None for scope in scopes)
        for each in condition.find_all(exp.Column)
    )


def _as_subquery(node: Expression) -> Expression:
    """LATERAL as the subquery that it holds."""
    if not isinstance(node, exp.Lateral):
        return node
    if not isinstance(node.this, exp.Subquery):
        raise UnsupportedError(f"sql: unsupported: expression={node.sql('duckdb')[:80]!r}")
    return exp.Subquery(this=node.this.this, alias=node.args.get("alias"))


def _shared_names(left: Relation, right: Relation) -> list[str]:
    """The columns of NATURAL JOIN."""
    other = {f.name.lower() for f in right.fields if not f.hidden}
    names = [f.name.lower() for f in left.fields if not f.hidden and f.name.lower() in other]
    if not names:
        raise InvalidArgumentError(
            "sql: the tables of a NATURAL JOIN have no column name in common; use ON"
        )
    return list(dict.fromkeys(names))


def _using_condition(name: str, left: Relation, right: Relation, is_last: bool) -> Expression:
    """USING of an ASOF join: equalities, and of the last column `>=`."""
    sides = []
    for relation in (left, right):
        tables = [f.table for f in relation.fields if not f.hidden and f.name.lower() == name]
        if len(tables) != 1:
            raise InvalidArgumentError(f"sql: expected one column in each table: name={name!r}")
        sides.append(
            exp.Column(this=exp.Identifier(this=name), table=exp.Identifier(this=tables[0]))
        )
    return (exp.GTE if is_last else exp.EQ)(this=sides[0], expression=sides[1])


def _without_right(made: Relation, right: Relation, names: list[str]) -> Relation:
    """Without the right columns of USING."""
    count = len(made.fields) - len(right.fields)
    fields = [
        f._replace(hidden=f.hidden or (i >= count and f.name.lower() in names))
        for i, f in enumerate(made.fields)
    ]
    return Relation(fields, made.rows)


def _kind(join: Expression) -> str:
    side, kind = named(join.side or ""), named(join.kind or "")
    if kind in ("semi", "anti"):
        return kind
    if side in ("left", "right", "full"):
        return side
    if kind in ("", "inner", "cross", "outer"):
        return "inner"
    raise UnsupportedError(f"sql: unsupported join: word={kind.upper()!r}")


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
            outputs.append((node.alias, node.this))
        elif isinstance(node, exp.Aliases | exp.Columns):
            raise UnsupportedError(f"sql: unsupported: word={type(node).__name__.upper()!r}")
        else:
            outputs.append((_name_of(node), node))
    return outputs


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
    for each in on.expressions if isinstance(on, exp.Tuple) else [on]:
        node = each
        if isinstance(node, exp.Literal) and not node.is_string:
            node = outputs[int(node.this) - 1][1]
        elif (
            isinstance(node, exp.Column) and not node.table and not scope.has("", named(node.name))
        ):
            node = names.get(named(node.name), node)
        keys.append(_resolved(node, scope, scope.aliases))
    if not order:
        raise UnsupportedError("sql: DISTINCT ON without ORDER BY: word='DISTINCT ON'")
    listed = [exp.Ordered(this=node, desc=d, nulls_first=f) for node, d, f in order]
    place = exp.Window(this=exp.RowNumber(), partition_by=keys, order=exp.Order(expressions=listed))
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
    place = _core.part(_core.group_places(outer, False), 0)
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
