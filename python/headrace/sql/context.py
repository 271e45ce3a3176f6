# SPDX-License-Identifier: Apache-2.0
"""Queries over frames: where tables come from, statements of a context, and results as frames."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from headrace import _core
from headrace.errors import ColumnNotFoundError, InvalidArgumentError, UnsupportedError
from headrace.facade import facade
from headrace.frame.columns import frame_of, is_frame, new_frame
from headrace.lazy.handle import mark
from headrace.lazy.origin import remember
from headrace.rows import engine_names, given
from headrace.series.column import is_series
from headrace.sql.macros import expand_macros
from headrace.sql.plan_cache import PlanCache, key_of
from headrace.sql.relation import Field, Relation
from headrace.sql.select import Planner
from headrace.sql.syntax import check_words, exp, named, parsed, statements, table_name
from headrace.sql.values import Constant, constant_of, value_of

if TYPE_CHECKING:
    from headrace.frame.dataframe import DataFrame
    from headrace.interop.mosaic import Connection

Expression = Any


#: The plans of `hr.sql`.
PLANS = PlanCache()


class View(NamedTuple):
    """A query by name: it is planned anew whenever it is read."""

    tree: Expression
    parameters: dict[str, Constant]


class Tables:
    """The tables of a query by name: frames given, of a context, or variables of the caller."""

    def __init__(
        self,
        frames: Mapping[str, Any],
        views: Mapping[str, Any],
        variables: bool,
    ) -> None:
        self._frames = {name.lower(): frame for name, frame in frames.items()}
        self._views = views
        self._variables = variables
        #: The columns that the query names; None for all.
        self.wanted: set[str] | None = None
        self._made: dict[str, Relation] = {}
        self._open: set[str] = set()
        #: The tables that were read.
        self.read: dict[str, Any] = {}

    def relation(self, name: str) -> Relation:
        """The relation of a table; raises if there is none."""
        if name not in self._made:
            self._made[name] = self._relation(name)
        return self._made[name]

    def table(self, name: str) -> Any:
        """What a query reads as this table; None if there is none."""
        for tables in (self._frames, self._views):
            if name in tables:
                return tables[name]
        if not self._variables:
            return None
        caller = _core.user_frame()
        for values in (caller.f_locals, caller.f_globals):
            if is_table(values.get(name)):
                return values[name]
            for word, value in values.items():
                if word.lower() == name and is_table(value):
                    return value
        return None

    def _relation(self, name: str) -> Relation:
        found = self.table(name)
        if found is None:
            known = sorted({*self._frames, *self._views})
            raise ColumnNotFoundError(
                f"sql: no such table: name={name!r}, tables={known}; pass it by name: "
                f"hr.sql(query, {name}=frame)"
            )
        self.read[name] = found
        if not isinstance(found, View):
            return relation_of(name, found, self.wanted)
        if name in self._open:
            raise InvalidArgumentError(f"sql: a view reads itself: name={name!r}")
        inside = Tables({}, self._views, False)
        inside._open = {*self._open, name}
        inside.read = self.read
        planner = Planner(inside, found.parameters)
        return planner.lower(found.tree.copy()).renamed(name)


def is_table(value: Any) -> bool:
    """What a query reads as a table."""
    if is_frame(value):
        return True
    kind = type(value)
    if kind.__module__.partition(".")[0] in ("pandas", "polars", "pyarrow"):
        return kind.__name__ in ("DataFrame", "LazyFrame", "Table", "RecordBatch")
    return hasattr(value, "__arrow_c_stream__") and not is_series(value)


def relation_of(name: str, value: Any, wanted: set[str] | None) -> Relation:
    """A frame, or what becomes one, as a relation; only the columns in `wanted`."""
    if type(value).__name__ == "LazyFrame":
        value = value.collect()
    frame = value if is_frame(value) else new_frame(value)
    nodes: dict[Any, _core.Node] = {}
    for word, node in frame._labels.items():
        if given(word) is not None:
            nodes[given(word)] = node
    nodes |= frame._nodes
    if not nodes:
        raise InvalidArgumentError(f"sql: a table has no columns: name={name!r}")
    fields = []
    seen: dict[str, str] = {}
    for word, node in zip(engine_names(nodes), nodes.values(), strict=True):
        if word.lower() in seen:
            raise InvalidArgumentError(
                f"sql: two columns have one name in any case: table={name!r}, "
                f"names={[seen[word.lower()], word]}; rename one"
            )
        seen[word.lower()] = word
        if wanted is None or word.lower() in wanted:
            fields.append(Field(name, word, value_of(_plain(node))))
    rows = _plain(next(iter(nodes.values())))
    return Relation(fields, fields[0].value.node if fields else rows)


def _plain(node: _core.Node) -> _core.Node:
    """A column that SQL has a type for: strings for categories of strings."""
    if node.form == "tensor":
        node = _core.as_column(node)
    if node.dtype.startswith("category") or node.dtype != "string" == node.item_dtype:
        return _core.astype(node, "string")
    return node


def wanted_names(tree: Expression) -> set[str] | None:
    """The names that a query mentions; None if it reads all columns without their names."""
    if tree.find(exp.Describe, exp.Columns) is not None:
        return None
    if any(named(join.method) == "natural" for join in tree.find_all(exp.Join)):
        return None
    if any(each.args.get("columns") for each in tree.find_all(exp.TableAlias)):
        return None  # names by place
    for star in tree.find_all(exp.Star):
        if not isinstance(star.parent, exp.Count):
            return None
    tables = {named(each.alias_or_name) for each in tree.find_all(exp.Table)}
    for column in tree.find_all(exp.Column):
        if not column.table and named(column.name) in tables:  # a row of the table
            return None
    return {named(each.name) for each in tree.find_all(exp.Identifier)}


def planned(tree: Expression, tables: Tables, params: Any = None) -> DataFrame:
    """The lazy frame of a query; raises for other statements."""
    if not isinstance(tree, exp.Query | exp.Values | exp.Describe):
        raise UnsupportedError(
            f"sql: unsupported statement: word={_word(tree)!r}; only queries and DESCRIBE, and in "
            "a Context CREATE TABLE or VIEW AS and DROP"
        )
    expand_macros(tree)
    check_words(tree)
    tables.wanted = wanted_names(tree)
    relation = Planner(tables, parameters_of(tree, params)).lower(tree)
    fields = [f for f in relation.fields if not f.hidden]
    names = engine_names([f.name for f in fields])
    return frame_of({n: f.value.node for n, f in zip(names, fields, strict=True)})


def parameters_of(tree: Expression, params: Any) -> dict[str, Constant]:
    """The values of parameters by name: `?` in order, `$1`, `$name`."""
    found = dict(params) if isinstance(params, Mapping) else dict(enumerate(params or (), 1))
    values = {str(key): constant_of(value) for key, value in found.items()}
    place = 0
    for node in tree.find_all(exp.Placeholder, exp.Parameter, bfs=False):
        if not node.args.get("this"):
            place += 1
            node.set("this", str(place))
        if node.name not in values:
            raise InvalidArgumentError(
                f"sql: a parameter has no value: parameter={node.name!r}; pass params="
            )
    return values


def run(
    query: str,
    frames: Mapping[str, Any],
    views: Mapping[str, Any],
    dialect: str,
    params: Any,
    variables: bool,
    cache: PlanCache,
) -> DataFrame:
    """A query as a lazy frame."""
    mark("sql")
    tables = Tables(frames, views, variables)
    key = key_of(query, dialect, params)
    made = cache.find(key, tables.table)
    if made is None:
        made = kept(parsed(query, dialect), tables, params, key, cache)
    return with_text(made, query)


def with_text(frame: DataFrame, query: str) -> DataFrame:
    """The frame of a query, which `explain` shows."""
    remember(frame, query)
    return frame


def kept(tree: Expression, tables: Tables, params: Any, key: Any, cache: PlanCache) -> DataFrame:
    """The lazy frame of a query, whose plan is kept if it may be used again."""
    made = planned(tree, tables, params)
    if is_lasting(tree, tables.read):
        cache.keep(key, made, tables.read)
    return made


def is_lasting(tree: Expression, read: Mapping[str, Any]) -> bool:
    """Whether a plan gives the same answer at another time, and did not run meanwhile."""
    if any(not is_frame(table) and not isinstance(table, View) for table in read.values()):
        return False
    if any(recursive.args.get("recursive") for recursive in tree.find_all(exp.With)):
        return False
    return tree.find(exp.CurrentDate, exp.Rand) is None


def _word(tree: Expression) -> str:
    return str(tree.this if isinstance(tree, exp.Command) else type(tree).__name__).upper()


@facade("sql.Context")
class Context:
    """Frames by name for queries, which may make tables and views of their own.

    >>> context = hr.sql.Context(points=hr.DataFrame({"x": [1, 2, 3]}))
    >>> context.sql("create view large as select x from points where x > 1").to_dict()
    {'count': []}
    >>> context.sql("select sum(x) as total from large").to_dict()
    {'total': [5]}
    """

    def __init__(self, frames: Mapping[str, Any] | None = None, **more: Any) -> None:
        self._tables: dict[str, Any] = {}
        self._schemas = {"main"}
        self._plans: PlanCache = PlanCache()
        for name, frame in {**(frames or {}), **more}.items():
            self.register(name, frame)

    def register(self, name: str, frame: Any) -> None:
        """Add a table, in place of one of this name."""
        if not isinstance(name, str) or not name:
            raise InvalidArgumentError(f"sql: expected a name: name={name!r}")
        self._tables[named(name)] = frame if is_frame(frame) else new_frame(frame)

    def unregister(self, name: str) -> None:
        """Remove a table."""
        if named(name) not in self._tables:
            raise ColumnNotFoundError(f"sql: no such table: name={name!r}, tables={self.tables}")
        del self._tables[named(name)]

    @property
    def tables(self) -> list[str]:
        """The names of the tables and views."""
        return sorted(self._tables)

    def sql(self, query: str, *, dialect: str = "duckdb", params: Any = None) -> DataFrame:
        """Run a query or statement over the tables of this context; the result is lazy.

        ``CREATE [OR REPLACE] TABLE name AS``, ``CREATE VIEW name AS``, ``CREATE SCHEMA name``,
        ``DESCRIBE name`` and ``DROP`` work too. A table is a value from then on, a view a plan. Of
        several statements the result is that of the last.
        """
        mark("sql")
        tables = Tables({}, self._tables, False)
        key = key_of(query, dialect, params)
        known = self._plans.find(key, tables.table)
        if known is not None:
            return with_text(known, query)
        trees = statements(query, dialect)
        if len(trees) == 1 and isinstance(trees[0], exp.Query | exp.Values):
            return with_text(kept(trees[0], tables, params, key, self._plans), query)
        if not trees or (len(trees) > 1 and params):
            raise InvalidArgumentError(
                f"sql: expected one statement: statements={len(trees)}; several take no params="
            )
        return [self._run(tree, params) for tree in trees][-1]

    def mosaic(self) -> Connection:
        """What a Mosaic dashboard takes as its DuckDB connection, over these tables.

        ``MosaicWidget(spec, con=context.mosaic())`` draws linked charts of frames.

        >>> connection = hr.sql.Context(points=hr.DataFrame({"x": [1, 2]})).mosaic()
        >>> connection.query("select sum(x) as total from points").arrow().read_all().to_pydict()
        {'total': [3]}
        """
        from headrace.interop.mosaic import Connection

        return Connection(self)

    def _run(self, tree: Expression, params: Any) -> DataFrame:
        """One statement, whose plan is not kept."""
        if isinstance(tree, exp.Create):
            return self._create(tree, params)
        if isinstance(tree, exp.Drop):
            return self._drop(tree)
        return planned(tree, Tables({}, self._tables, False), params)

    def _create(self, tree: Expression, params: Any) -> DataFrame:
        kind = str(tree.args.get("kind") or "").upper()
        target, query = tree.this, tree.expression
        if kind == "SCHEMA":
            return self._create_schema(named(target.db), bool(tree.args.get("exists")))
        if kind not in ("TABLE", "VIEW") or not isinstance(target, exp.Table) or query is None:
            raise UnsupportedError(
                f"sql: unsupported statement: word='CREATE {kind}'; only TABLE and VIEW AS SELECT"
            )
        name = table_name(target)
        if target.db and named(target.db) not in self._schemas:
            raise InvalidArgumentError(
                f"sql: no such schema: name={named(target.db)!r}; write CREATE SCHEMA first"
            )
        if name in self._tables and not tree.args.get("replace"):
            if tree.args.get("exists"):
                return _nothing()
            raise InvalidArgumentError(
                f"sql: there is a table of this name: name={name!r}; write CREATE OR REPLACE"
            )
        frame = planned(query, Tables({}, self._tables, False), params)
        if kind == "VIEW":
            self._tables[name] = View(query, parameters_of(query, params))
            return _nothing()
        _core.force(list(frame._nodes.values()))
        self._tables[name] = frame
        return _nothing()

    def _create_schema(self, name: str, exists: bool) -> DataFrame:
        if name in self._schemas and not exists:
            raise InvalidArgumentError(
                f"sql: there is a schema of this name: name={name!r}; write IF NOT EXISTS"
            )
        self._schemas.add(name)
        return _nothing()

    def _drop(self, tree: Expression) -> DataFrame:
        for table in tree.args["tables"]:
            name = table_name(table)
            if name in self._tables or not tree.args.get("exists"):
                self.unregister(name)
        return _nothing()


def _nothing() -> DataFrame:
    return new_frame({"count": new_frame({"count": [0]})["count"][:0]})
