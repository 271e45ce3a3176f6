# SPDX-License-Identifier: Apache-2.0
"""FROM: the tables of a query, joined, and the conditions that are left for its rows."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping
from typing import Any

from headrace import _core
from headrace.errors import InvalidArgumentError, UnsupportedError
from headrace.sql import operators, setops
from headrace.sql.expressions import evaluate
from headrace.sql.relation import Field, Relation, distinct_nodes, joined, one_row
from headrace.sql.scope import OUTER, Correlation, Scope
from headrace.sql.sources import joins
from headrace.sql.sources.asof import asof_join, positional_join
from headrace.sql.sources.nearest import nearest_join
from headrace.sql.sources.unnest import is_series, series_table, unnested_table
from headrace.sql.subqueries import attach, lower_inner, outer_keys
from headrace.sql.syntax import (
    aliases_of,
    conjuncts,
    exp,
    named,
    queries_of,
    table_name,
    with_aliases,
)
from headrace.sql.values import NULL, Constant, Operand, column_of, value_of

Expression = Any
_units = itertools.count()


class FromList:
    """What of the planner reads FROM."""

    def __init__(self, tables: Any, parameters: Mapping[str, Constant] | None = None) -> None:
        self.tables: Any = tables
        self.parameters: Mapping[str, Constant] = parameters or {}
        self._views: dict[str, Any] = {}
        #: Of a view that uses a query around: which one.
        self._owners: dict[str, Correlation | None] = {}
        #: Subqueries of FROM that depend on tables before them, by their numbers.
        self._laterals: dict[int, Expression] = {}

    def lower(self, query: Expression, correlation: Correlation | None = None) -> Relation:
        """The relation of a query."""
        raise NotImplementedError

    def filtered(self, scope: Scope, conditions: list[Expression]) -> Scope:
        """The rows where all conditions are true, which may hold subqueries."""
        raise NotImplementedError

    def value(self, scope: Scope, node: Expression) -> Operand:
        """The value of an expression."""
        raise NotImplementedError

    def folded(
        self, scope: Scope, key: _core.Node, call: Expression, wanted: _core.Node
    ) -> Operand:
        """An aggregate of the rows with equal keys, for each wanted key."""
        raise NotImplementedError

    def table(self, node: Expression) -> Relation:
        """A table of FROM, alone."""
        return self._table(node, None)

    def rows_where(
        self,
        select: Expression,
        choose: Callable[[Scope], list[Expression] | None],
        correlation: Correlation,
    ) -> Scope | None:
        """The rows of FROM where conditions hold; None if its columns leave none to choose.

        `choose` gives them for a scope that has the columns of all tables.
        """
        units, joins_of, sources = self._tables(select, correlation)
        tables = [*units, *_visible(joins_of, sources)]
        known = Relation([f for each in tables for f in each.fields], units[0].rows)
        conditions = None if None in sources else choose(Scope(known, None, self))
        if conditions is None:
            return None
        relation, left = self._joined(units, joins_of, sources, conditions, {}, correlation)
        return self.filtered(Scope(relation, correlation, self), left)

    def _table(self, node: Expression, correlation: Correlation | None) -> Relation:
        if isinstance(node.this, exp.Values):
            rows = node.this.copy()
            rows.set("alias", node.args.get("alias"))
            return self._source(rows, correlation)
        if not isinstance(node.this, exp.Identifier):
            raise UnsupportedError(
                "sql: functions as tables are not supported: "
                f"expression={node.sql('duckdb')[:80]!r}; pass a frame"
            )
        name = table_name(node)
        if node.args.get("sample") or node.args.get("pivots"):
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
        return found.renamed(named(node.alias or node.name), names)

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
            if node.args.get("joins"):
                made = self._from_tables(node, node.args["joins"], correlation)
                return made.renamed(name, columns) if node.alias else made
            inner = node.this
            if isinstance(inner, exp.Table) or _is_joined(inner):  # in parentheses
                made = self._from_tables(inner, inner.args.get("joins") or [], correlation)
                return made.renamed(name, columns) if node.alias else made
            made = self._derived(node.this, correlation)
            return made.renamed(name, columns)
        if isinstance(node, exp.Values):
            made = setops.values(node, self._free_scope(correlation))
            return made.renamed(name, columns)
        word = type(node).__name__.upper()
        raise UnsupportedError(f"sql: unsupported in FROM: word={word!r}")

    def _derived(self, query: Expression, correlation: Correlation | None) -> Relation:
        """A query in FROM: once for all rows of the query around if it uses none of its columns."""
        if correlation is None or not correlation.bound or self._owners:
            return self.lower(query, correlation)
        own = Correlation(correlation.parent)
        made = self.lower(query, own)
        return self.lower(query, correlation) if own.found else made

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
        units, joins_of, sources = self._tables(select, correlation)
        aliases = aliases_of(select) if correlation is not None else {}
        return self._joined(units, joins_of, sources, conditions, aliases, correlation)

    def _tables(
        self, select: Expression, correlation: Correlation | None
    ) -> tuple[list[Relation], list[Expression], list[Relation | None]]:
        """The first table of FROM, the joins and their tables: None if it depends on others."""
        source = select.args.get("from_")
        joins_of = [_with_series(each) for each in select.args.get("joins") or []]
        joins_of = _parenthesized(joins_of)
        if source is not None and isinstance(source.this, exp.Unnest):
            joins_of, source = [exp.Join(this=source.this), *joins_of], None
        units = [one_row()] if source is None else [self._source(source.this, correlation)]
        if correlation is not None and correlation.bound:
            units.insert(0, self._domain(correlation))
        sources: list[Relation | None] = []
        for each in joins_of:
            known = [relation for relation in sources if relation is not None]
            before = [*units, *known] if source is not None else units
            is_later = None in sources and isinstance(
                each.this, exp.Lateral | exp.Subquery | exp.Values
            )
            is_later = is_later and not _is_joined(each.this.this)
            sources.append(None if is_later else self._sibling(each.this, correlation, before))
        return units, joins_of, sources

    def _joined(
        self,
        units: list[Relation],
        joins_of: list[Expression],
        sources: list[Relation | None],
        conditions: list[Expression],
        aliases: dict[str, Expression],
        correlation: Correlation | None,
    ) -> tuple[Relation, list[Expression]]:
        """The rows of tables where conditions are true that need no subquery, and the others."""
        inner: list[Expression] = []  # conditions of inner joins
        pool = list(conditions)
        units[-1], links = _linked(units[-1])
        inner += links
        #: LEFT joins that wait, since others may leave fewer rows; and all tables in their order.
        waiting: list[tuple[Expression, Relation, list[Expression]]] = []
        sequence = list(units)

        def read_aliases(place: int) -> None:
            """Once all tables are known, since their columns come before aliases."""
            nonlocal pool
            if not aliases or None in sources[place:]:
                return
            tables = [*units, *_visible(joins_of[place:], sources[place:])]
            known = [Scope(each, None, self) for each in tables]
            pool = [
                with_aliases(each, aliases, lambda name: any(s.has("", name) for s in known))
                for each in pool
            ]

        read_aliases(0)

        def joined_now(place: int, every: bool) -> Relation:
            """All of `units`, then the tables that wait; `every`: conditions of WHERE too."""
            nonlocal inner, pool, units, sequence
            later = [Scope(each, None, self) for each in sources[place:] if each is not None]
            later += [Scope(right, None, self) for _, right, _ in waiting]
            # WHERE holds for the rows that later joins give back, too.
            restores = any(_gives_back(each) for each in joins_of[place:])
            early = [*inner, *pool] if every and not restores else inner
            if None in sources[place:]:  # whose columns are not known yet
                seen = [Scope(unit, None, self) for unit in units]
                early = [each for each in early if _reads_only(each, seen)]
            early = [each for each in early if not _reads(each, later)]
            left, rest = joins.inner_joins(units, early, Scope(units[0], correlation, self))
            # By identity: WHERE may say again what ON says, and holds for rows that are given back.
            done = {id(each) for each in early} - {id(each) for each in rest}
            inner = [each for each in inner if id(each) not in done]
            pool = [each for each in pool if id(each) not in done]
            for join, right, on in waiting:
                scope = Scope(left, correlation, self)
                left = joins.outer_join(left, right, join, "left", scope, on)
            if waiting:
                left = joins.in_order(left, sequence)
            waiting.clear()
            units, sequence = [left], [left]
            return left

        for place, (join, joined_one) in enumerate(zip(joins_of, sources, strict=True)):
            how, on = _kind(join), conjuncts(join.args.get("on"))
            by_place = next((c for each in on if (c := each.find(exp.PositionalColumn))), None)
            if by_place is not None:
                raise UnsupportedError(
                    f"sql: a place of a column in ON: word='#{by_place.name}'; name the column"
                )
            right, links = (None, []) if joined_one is None else _linked(joined_one)
            on = [*on, *links]
            using = [named(each.name) for each in join.args.get("using") or []]
            method = named(join.method)
            if method not in ("", "asof", "natural", "positional"):
                raise UnsupportedError(f"sql: unsupported: word={method.upper()!r}")
            nearest = join.args.get("nearest")
            if nearest is not None and (right is None or on or how not in ("inner", "left")):
                raise UnsupportedError(f"sql: a join of this kind: word='NEAREST', join={how!r}")
            is_plain = right is not None and nearest is None and not using and not method
            after = [Scope(each, None, self) for each in sources[place + 1 :] if each is not None]
            can_wait = is_plain and how == "left" and not links and None not in sources[place:]
            can_wait = can_wait and not any(_reads(each, after) for each in on)
            if right is not None and can_wait:
                own = Scope(right, None, self)
                is_inner = any(_needs_value(each, own) for each in [*inner, *pool])
                is_inner = is_inner and not any(queries_of(each) for each in on)
                if not is_inner:
                    waiting.append((join, right, on))
                    sequence.append(right)
                    continue
            else:
                is_inner = is_plain and how == "inner"
            if right is not None and is_inner:
                held = [Scope(each, None, self) for _, each, _ in waiting]
                if any(_reads(each, held) for each in on):
                    joined_now(place, True)
                units.append(right)
                sequence.append(right)
                inner += [c for c in on if not (isinstance(c, exp.Boolean) and c.this)]
                continue
            left = joined_now(place, not (how in ("full", "right") or method))
            scope = Scope(left, correlation, self)
            if method == "natural" and right is not None:
                using = _shared_names(left, right)
            is_kept = how in ("full", "right") and correlation is not None and correlation.bound
            if (using or method) and (links or is_kept):
                raise UnsupportedError("sql: USING with a table that uses the query around")
            if right is None:
                if using or method:
                    raise UnsupportedError("sql: unsupported: word='LATERAL' with USING")
                left = self._lateral(join.this, scope, how, on)
            elif nearest is not None:
                left = nearest_join(left, right, nearest, how, scope)
            elif method == "positional":
                left = positional_join(left, right)
            elif method == "asof":
                on += [_using_condition(name, left, right, name == using[-1]) for name in using]
                left = asof_join(left, right, on, {"full": "outer"}.get(how, how), scope)
                if using:
                    left = _without_twins(left, len(right.fields), using, how == "right")
            elif using:
                left = joins.using_join(left, right, using, how, scope)
            else:
                if how in ("full", "right") and inner:
                    raise UnsupportedError(
                        "sql: a condition of an inner join that reads a table "
                        f"listed after it: word={how.upper()!r}"
                    )
                if is_kept and joined_one is not None:
                    left = self._right_join(left, joined_one, join, how, scope)
                else:
                    left = joins.outer_join(left, right, join, how, scope, on)
            units, sequence = [left], [left]
            if right is None:
                read_aliases(place + 1)
        if waiting:
            joined_now(len(sources), True)
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
        truth = _truth(on, scope)
        always = truth is True
        if isinstance(node, exp.Unnest):
            if how == "left" and truth is None:
                raise UnsupportedError(
                    "sql: a condition of LEFT JOIN UNNEST: word='UNNEST'; use a subquery"
                )
            scope = attach(scope, node.expressions)
            made = unnested_table(node, scope, how == "left", truth is not False)
            always = always or how == "left"
        else:
            node = _as_subquery(node)
            query = node if isinstance(node, exp.Values) else node.this
            if _is_joined(query):
                raise UnsupportedError(
                    "sql: a join that uses a table before it: word='JOIN', "
                    f"expression={query.sql('duckdb')[:80]!r}; use LATERAL (SELECT ...)"
                )
            inner, correlation = lower_inner(scope, query)
            alias = node.args.get("alias")
            columns = [each.name for each in alias.args.get("columns") or []] if alias else []
            name = named(node.alias) if node.alias else "unnamed_subquery"
            mine, theirs = outer_keys(scope, inner, correlation) if correlation else ([], [])
            right = Relation([f for f in inner.fields if not f.hidden], inner.rows)
            right = right.renamed(name, columns)
            keys = list(zip(mine, theirs, strict=True))
            if how == "left" and not always:
                pairs = [(a, b, True) for a, b in keys]
                return joins.residual_join(scope.relation, right, pairs, on, how, scope)
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
    """Whether a condition names a column that one of these has, be it for a subquery."""
    return any(
        scope.has(named(each.table), named(each.name))
        for each in condition.find_all(exp.Column)
        for scope in scopes
    )


def _is_joined(node: Expression) -> bool:
    """Whether this is a table with the joins that follow it."""
    return bool(node.args.get("joins")) and not isinstance(node, exp.Select)


def _is_comma(join: Expression) -> bool:
    return not any(join.args.get(word) for word in ("kind", "side", "method", "on", "using"))


def _parenthesized(joins_of: list[Expression]) -> list[Expression]:
    """The joins of FROM with those between commas in parentheses where it makes a difference.

    A comma binds less than JOIN: `a, b FULL JOIN c` is `a, (b FULL JOIN c)`. Inner and LEFT joins
    with ON give the same rows in any order, and are left to the order that costs least.
    """
    made: list[Expression] = []
    for each in joins_of:
        differs = _gives_back(each) or each.args.get("using") or named(each.method) == "natural"
        start = next((i for i in range(len(made) - 1, -1, -1) if _is_comma(made[i])), None)
        if not differs or start is None:
            made.append(each)
            continue
        comma = exp.Join(**made[start].args)
        held = comma.this.copy()
        held.set("joins", [*(held.args.get("joins") or []), *made[start + 1 :], each])
        comma.set("this", exp.Subquery(this=held))
        made = [*made[:start], comma]
    return made


def _gives_back(join: Expression) -> bool:
    """Whether a join keeps rows of its right side that the left one does not have."""
    return _kind(join) in ("full", "right") or named(join.method) == "positional"


_COMPARISONS = (exp.EQ, exp.NEQ, exp.LT, exp.LTE, exp.GT, exp.GTE, exp.Like, exp.Between)


def _needs_value(condition: Expression, scope: Scope) -> bool:
    """Whether a condition is never true where the columns of a table are null: LEFT is INNER."""
    is_in = isinstance(condition, exp.In) and not condition.args.get("query")
    if not is_in and not isinstance(condition, _COMPARISONS):
        return False
    if any(isinstance(each, exp.All) for each in condition.args.values()):
        return False  # true of no rows, whatever it compares
    return any(
        isinstance(each, exp.Column)
        and scope.field(named(each.table), named(each.name)) is not None
        for each in (condition.this, condition.args.get("expression"))
    )


def _reads_only(condition: Expression, scopes: list[Scope]) -> bool:
    """Whether each column that a condition names is one of these."""
    return all(
        any(scope.has(named(each.table), named(each.name)) for scope in scopes)
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


def _without_twins(made: Relation, right: int, names: list[str], is_right: bool) -> Relation:
    """With one column for each of USING: that of the side whose rows are all kept."""
    count = len(made.fields) - right
    fields = [f._replace(hidden=f.hidden or f.name.lower() in names) for f in made.fields]
    if not is_right:
        return Relation([*made.fields[:count], *fields[count:]], made.rows)
    twins = {
        f.name.lower(): f._replace(table=" using") for f in made.fields[count:] if not f.hidden
    }
    left = [
        twins[f.name.lower()]
        for f in made.fields[:count]
        if not f.hidden and f.name.lower() in names
    ]
    return Relation([*left, *fields], made.rows)


def _with_series(join: Expression) -> Expression:
    """A join with a series of numbers that depends on columns, as one with the list of them."""
    node = join.this
    is_lateral = isinstance(node, exp.Lateral) and isinstance(node.this, exp.GenerateSeries)
    if not is_lateral and not (is_series(node) and node.this.find(exp.Column) is not None):
        return join
    call, alias = node.this, node.args.get("alias")
    columns = list(alias.args.get("columns") or []) if alias else []
    word = "range" if call.args.get("is_end_exclusive") else "generate_series"
    names = exp.TableAlias(
        this=exp.to_identifier(node.alias or word), columns=columns or [exp.to_identifier(word)]
    )
    made = exp.Join(**join.args)
    made.set("this", exp.Unnest(expressions=[call.copy()], alias=names))
    return made


def _truth(conditions: list[Expression], scope: Scope) -> bool | None:
    """Whether conditions without columns hold; None for others."""
    found = True
    for each in conditions:
        if each.find(exp.Column, exp.Query) is not None:
            return None
        value = operators.as_bool(evaluate(each, scope.over(one_row())))
        if not isinstance(value, Constant):
            return None
        found = found and bool(value.value)
    return found


def _visible(joins_of: list[Expression], sources: list[Relation | None]) -> list[Relation]:
    """The tables of joins whose columns WHERE and SELECT see: not those of SEMI and ANTI."""
    return [
        table
        for join, table in zip(joins_of, sources, strict=True)
        if table is not None and _kind(join) not in ("semi", "anti")
    ]


def _kind(join: Expression) -> str:
    side, kind = named(join.side or ""), named(join.kind or "")
    if kind in ("semi", "anti"):
        return kind
    if side in ("left", "right", "full"):
        return side
    if kind in ("", "inner", "cross", "outer"):
        return "inner"
    raise UnsupportedError(f"sql: unsupported join: word={kind.upper()!r}")
