# SPDX-License-Identifier: Apache-2.0
"""Aggregates: GROUP BY, grouping sets, DISTINCT and FILTER inside of calls."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from headrace import _core
from headrace.errors import TypeMismatchError, UnsupportedError
from headrace.groupby.keys import Words
from headrace.sql import operators
from headrace.sql.casts import cast
from headrace.sql.elementwise import filled, run, where
from headrace.sql.expressions import condition, evaluate
from headrace.sql.lists import grouped
from headrace.sql.ordering import sort_keys
from headrace.sql.relation import Field, Relation, joined, refuse_nested, row_numbers
from headrace.sql.scope import COMPUTED, OUTER, Scope
from headrace.sql.syntax import exp, named
from headrace.sql.values import (
    FLOATS,
    INTEGERS,
    NULL,
    Constant,
    Operand,
    Value,
    column_of,
    is_decimal,
    is_number,
    null_column,
    precision_and_scale,
    type_name,
    value_of,
)

Expression = Any
Finish = Callable[[list[_core.Node]], Operand]


class Call(NamedTuple):
    """An aggregate: what the engine folds, and what is made of the results."""

    words: list[Words]
    finish: Finish
    #: Its value of no rows.
    empty: Any = None


def word(kind: str, node: _core.Node | None = None, q: float = 0.5, ddof: int = 1) -> Words:
    """One aggregate in the engine's terms; a sum of no values is null."""
    return Words("", kind, node, None, q, ddof, 1 if kind == "sum" else 0)


class _Folder:
    """Makes calls of aggregate expressions over the rows of a scope."""

    def __init__(self, scope: Scope, keys: list[_core.Node] | None = None) -> None:
        self.scope = scope
        self.like = scope.relation.rows
        #: What the groups are of; None in windows.
        self.keys: list[_core.Node] | None = keys
        self._known: dict[Any, Operand] = {}

    def operand(self, node: Expression) -> Operand:
        """The value of an argument, each made once."""
        if node not in self._known:
            self._known[node] = evaluate(node, self.scope)
        return self._known[node]

    def call(self, node: Expression) -> Call:
        """The call of an aggregate expression."""
        mask: _core.Node | None = None
        ordered = None
        if isinstance(node, exp.Filter):
            test = condition(node.expression.this, self.scope)
            mask = column_of(test, self.like, "bool")
            node = node.this
        if isinstance(node, exp.IgnoreNulls):  # as sqlglot reads any_value
            node = node.this
        if isinstance(node, exp.WithinGroup):
            ordered, node = node.expression.expressions[0], node.this
        if isinstance(node, exp.ArrayAgg | exp.GroupConcat):
            return self._listed(node, mask)
        name, arguments = _name_and_arguments(node, ordered)
        make = _CALLS.get(name)
        if make is None:
            raise UnsupportedError(
                f"sql: unsupported aggregate: word={name.upper()!r}, "
                f"expression={node.sql('duckdb')[:80]!r}"
            )
        if name == "count_star" and mask is None:
            return Call([word("size")], _counted, 0)
        if name == "count_star":
            arguments = []
            values: list[Operand] = [Constant(1, "int32")]
            make = _count
        else:
            values = [self.operand(each) for each in arguments]
        if mask is not None:
            values[0] = operators.choose(
                Value(mask, "bool", 1), values[0], Constant(None, values[0].dtype)
            )
        return make(values, self.like)

    def _listed(self, node: Expression, mask: _core.Node | None) -> Call:
        """The values of a group as a list, or as one string."""
        is_text = isinstance(node, exp.GroupConcat)
        word_of = "STRING_AGG" if is_text else "LIST"
        if self.keys is None:
            raise UnsupportedError(f"sql: unsupported as a window function: word={word_of!r}")
        inner, order = node.this, []
        if isinstance(inner, exp.Order):
            order, inner = inner.expressions, inner.this
        once = isinstance(inner, exp.Distinct)
        if once:
            (inner,) = inner.expressions
        value = _as_column(self.operand(inner), self.like)
        if is_text:
            text = cast(value, "string")
            assert isinstance(text, Value)
            value = text
        kept = mask
        if is_text and value.node.nullable:
            there = run("logical_not", run("is_null", value.node))
            kept = there if kept is None else run("logical_and", kept, there)
        items = [
            (self.operand(o.this), bool(o.args.get("desc")), bool(o.args.get("nulls_first")))
            for o in order
        ]
        separator = node.args.get("separator")
        mark = "," if separator is None else constant_text(self.operand(separator), word_of)
        return listed(value, kept, items, self.keys, self.like, mark if is_text else None, once)


def constant_text(operand: Operand, name: str) -> str:
    """A constant string."""
    if isinstance(operand, Constant) and isinstance(operand.value, str):
        return operand.value
    raise UnsupportedError(f"sql: expected a constant string: word={name!r}")


def listed(
    value: Value,
    kept: _core.Node | None,
    order: list[tuple[Operand, bool, bool]],
    keys: list[_core.Node],
    like: _core.Node,
    separator: str | None,
    once: bool,
) -> Call:
    """The kept values of each group in an order, as a list or joined to a string; null of none."""
    rows = run("subtract", _core.astype(row_numbers(like), "int64"), 1)
    first = rows if not keys else None
    if keys:
        first = _core.in_domain(_core.group_transform(keys, word("min", rows), False), like.domain)
    else:
        first = _core.astype(_core.repeat(like, 0), "int64")
    numbers = first if kept is None else where(filled(kept, False), first, None)
    values = value.node
    sorting = sort_keys(order, like)
    if sorting:
        held = Relation([Field("", "v", value), Field("", "n", value_of(numbers))], numbers).sorted(
            sorting
        )
        values, numbers = held.nodes()
    lists = grouped(values, numbers, like)
    if once:
        lists = _core.list_unique(lists)
    made = lists if separator is None else _core.list_join(lists, separator)
    empty = run("equal", _core.list_length(lists), 0)

    def finish(nodes: list[_core.Node]) -> Operand:
        places = nodes[0]
        gone = run("is_null", places)
        at = filled(places, 0)
        none = _core.in_domain(_core.asof_values(empty, where(gone, -1, at)), places.domain)
        none = filled(none, True)
        found = _core.asof_values(made, where(none, -1, at))
        return value_of(_core.in_domain(found, places.domain))

    return Call([word("min", rows)], finish)


def call_of(node: Expression, scope: Scope) -> Call:
    """The call of an aggregate expression over the rows of a scope."""
    return _Folder(scope).call(node)


def _counted(nodes: list[_core.Node]) -> Operand:
    return value_of(filled(nodes[0], 0), 48)


_CLASSES = {
    exp.Count: "count",
    exp.Sum: "sum",
    exp.Avg: "avg",
    exp.Min: "min",
    exp.Max: "max",
    exp.Stddev: "stddev_samp",
    exp.StddevSamp: "stddev_samp",
    exp.StddevPop: "stddev_pop",
    exp.Variance: "var_samp",
    exp.VariancePop: "var_pop",
    exp.AnyValue: "any_value",
    exp.First: "first",
    exp.Last: "last",
    exp.LogicalAnd: "bool_and",
    exp.LogicalOr: "bool_or",
    exp.Median: "median",
    exp.PercentileCont: "quantile_cont",
    exp.ArgMax: "arg_max",
    exp.ArgMin: "arg_min",
    exp.CountIf: "count_if",
}


def _name_and_arguments(node: Expression, ordered: Expression | None) -> tuple[str, list[Any]]:
    if isinstance(node, exp.Anonymous):
        return named(node.this), list(node.expressions)
    name = _CLASSES.get(type(node), node.sql_name().lower() if isinstance(node, exp.Func) else "")
    if isinstance(node.this, exp.Star):
        return "count_star", []
    if isinstance(node.this, exp.Distinct):
        raise UnsupportedError(f"sql: DISTINCT is not supported here: word={name.upper()!r}")
    if isinstance(node, exp.Count) and node.this is None:
        return "count_star", []
    if node.args.get("order") is not None or isinstance(node.this, exp.Order):
        raise UnsupportedError(f"sql: ORDER BY in an aggregate: word={name.upper()!r}")
    arguments = [node.this, *([node.expression] if node.args.get("expression") else [])]
    if ordered is not None:
        arguments = [ordered.this, node.this]
        if ordered.args.get("desc"):
            raise UnsupportedError(f"sql: DESC in WITHIN GROUP: word={name.upper()!r}")
    arguments += node.expressions if isinstance(node, exp.Count) else []
    return name, [each for each in arguments if each is not None]


# ---- the calls -----------------------------------------------------------------------------------


def _presence(value: Value) -> Words:
    """How many values are not null."""
    if not value.node.nullable:
        return word("size")
    there = run("logical_not", run("is_null", value.node))
    return word("sum", _core.astype(there, "int64"))


def _as_column(operand: Operand, like: _core.Node, name: str = "") -> Value:
    if isinstance(operand, Value):
        return operand
    dtype = "int32" if operand.dtype == NULL else operand.dtype
    return value_of(column_of(operand, like, dtype))


def _count(values: list[Operand], like: _core.Node) -> Call:
    if len(values) != 1:
        raise UnsupportedError("sql: several values in an aggregate: word='COUNT'")
    return Call([_presence(_as_column(values[0], like))], _counted, 0)


def _count_if(values: list[Operand], like: _core.Node) -> Call:
    there = _as_column(operators.as_bool(values[0]), like).node
    return Call([word("sum", _core.astype(filled(there, False), "int64"))], _counted, 0)


def _number(operand: Operand, like: _core.Node, name: str) -> Value:
    if operand.dtype == "bool" and name == "SUM":
        operand = cast(operand, "int32")
    if isinstance(operand, Constant) and operand.untyped:
        operand = cast(operand, "float64")
    value = _as_column(operand, like)
    if not is_number(value.dtype):
        raise TypeMismatchError(
            f"sql: expected numbers: function={name!r}, type={type_name(value.dtype)}; use CAST"
        )
    if value.dtype == "float32":
        value = value_of(_core.astype(value.node, "float64"))
    if value.dtype == "uint64":
        value = value_of(_core.astype(value.node, "decimal128(20, 0)"))
    return value


def _any_nan(value: Value) -> list[Words]:
    if value.dtype not in FLOATS:
        return []
    is_nan = _core.astype(filled(run("isnan", value.node), False), "int8")
    return [word("max", is_nan)]


def _with_nan(made: _core.Node, has_nan: _core.Node) -> _core.Node:
    """NaN where a group has one."""
    found = filled(run("equal", has_nan, 1), False)
    return where(found, float("nan"), made)


_HALF = 32
#: Of decimals whose quantiles a double holds.
_EXACT_DIGITS = 15


def halves_of(wide: _core.Node) -> tuple[_core.Node, _core.Node]:
    """The upper and lower 32 bits of 64: the sums of neither wrap."""
    return run("right_shift", wide, _HALF), run("bitwise_and", wide, (1 << _HALF) - 1)


def _halves(value: Value) -> list[Words]:
    return [word("sum", half) for half in halves_of(_core.astype(value.node, "int64"))]


def whole_of(high: _core.Node, low: _core.Node) -> _core.Node:
    """Both sums put together; an error where they do not fit into 64 bits."""
    carried = run("add", high, run("right_shift", low, _HALF))
    rest = run("bitwise_and", low, (1 << _HALF) - 1)
    shifted = _core.checked_arithmetic("multiply", carried, _core.scalar(1 << _HALF))
    return run("add", shifted, rest)


def _sum(values: list[Operand], like: _core.Node) -> Call:
    value = _number(values[0], like, "SUM")
    if value.dtype in INTEGERS:
        if value.bits + 31 <= 63:
            wide = value.node if value.dtype == "int64" else _core.astype(value.node, "int64")
            return Call([word("sum", wide)], lambda nodes: value_of(nodes[0]))
        return Call(_halves(value), lambda nodes: value_of(whole_of(*nodes)))
    words = [word("sum", value.node), *_any_nan(value)]
    if len(words) == 1:
        return Call(words, lambda nodes: value_of(nodes[0]))
    return Call(words, lambda nodes: value_of(_with_nan(nodes[0], nodes[1])))


def _avg(values: list[Operand], like: _core.Node) -> Call:
    value = _number(values[0], like, "AVG")
    count = _presence(value)

    def mean(total: _core.Node, rows: _core.Node) -> _core.Node:
        known = run("greater", rows, 0)
        return where(filled(known, False), run("divide", total, rows), None)

    if value.dtype in INTEGERS:
        if value.bits + 31 <= 63:
            wide = _core.astype(value.node, "int64")
            return Call(
                [word("sum", wide), count],
                lambda n: value_of(mean(_core.astype(n[0], "float64"), n[1])),
            )

        def of_halves(nodes: list[_core.Node]) -> Operand:
            high, low = (_core.astype(n, "float64") for n in nodes[:2])
            return value_of(
                mean(run("add", run("multiply", high, float(1 << _HALF)), low), nodes[2])
            )

        return Call([*_halves(value), count], of_halves)
    if is_decimal(value.dtype):
        return Call(
            [word("sum", value.node), count],
            lambda n: value_of(mean(_core.decimal_to_float(n[0]), n[1])),
        )
    return Call(
        [word("sum", value.node), count, *_any_nan(value)],
        lambda n: value_of(_with_nan(mean(n[0], n[1]), n[2])),
    )


def _extreme(kind: str) -> Callable[[list[Operand], _core.Node], Call]:
    def make(values: list[Operand], like: _core.Node) -> Call:
        if len(values) != 1:
            raise UnsupportedError(f"sql: several values: word={kind.upper()!r}")
        value = _as_column(values[0], like)
        if value.dtype == "bool":
            return Call(
                [word(kind, _core.astype(value.node, "int8"))],
                lambda n: cast(value_of(n[0]), "bool"),
            )
        if value.dtype not in FLOATS:
            return Call([word(kind, value.node)], lambda n: value_of(n[0], value.bits))

        def finish(nodes: list[_core.Node]) -> Operand:
            made, has_nan = nodes
            if kind == "max":
                return value_of(_with_nan(made, has_nan))
            only = _core.astype(run("is_null", made), "int8")
            return value_of(_with_nan(made, run("minimum", only, has_nan)))

        return Call([word(kind, value.node), *_any_nan(value)], finish)

    return make


def _spread(kind: str, ddof: int) -> Callable[[list[Operand], _core.Node], Call]:
    def make(values: list[Operand], like: _core.Node) -> Call:
        value = _number(values[0], like, kind.upper())
        if value.dtype not in FLOATS:
            value = value_of(_core.astype(value.node, "float64"))
        return Call(
            [word(kind, value.node, ddof=ddof), *_any_nan(value)],
            lambda n: value_of(_with_nan(n[0], n[1])),
        )

    return make


def _truth(kind: str) -> Callable[[list[Operand], _core.Node], Call]:
    def make(values: list[Operand], like: _core.Node) -> Call:
        return _extreme(kind)([operators.as_bool(values[0])], like)

    return make


def refusing_nan(value: Value) -> _core.Node:
    """Doubles of which NaN is an error: the engine leaves it out where DuckDB does not."""
    if value.dtype not in FLOATS:
        return _core.astype(value.node, "float64")
    wide = _core.astype(value.node, "float64")
    bad = where(filled(run("isnan", wide), False), float("inf"), 0.0)
    return run("add", wide, _core.astype(_core.astype(bad, "int64"), "float64"))


def _quantile(values: list[Operand], like: _core.Node) -> Call:
    value = _number(values[0], like, "QUANTILE")
    q = 0.5
    if len(values) > 1:
        if not isinstance(values[1], Constant):
            raise UnsupportedError("sql: a column as a quantile: word='QUANTILE_CONT'")
        q = float(values[1].value)
    dtype = value.dtype

    def finish(nodes: list[_core.Node]) -> Operand:
        made = value_of(nodes[0])
        is_exact = is_decimal(dtype) and precision_and_scale(dtype)[0] <= _EXACT_DIGITS
        return cast(made, dtype) if is_exact else made

    return Call([word("quantile", refusing_nan(value), q)], finish)


def _at_rows(value: Value, places: _core.Node) -> Operand:
    """The values in these rows, null for none."""
    found = _core.asof_values(value.node, filled(places, -1))
    return value_of(_core.in_domain(found, places.domain), value.bits)


def _places(value: Value, like: _core.Node, skip_null: bool) -> _core.Node:
    rows = run("subtract", _core.astype(row_numbers(like), "int64"), 1)
    if not skip_null or not value.node.nullable:
        return rows
    return where(run("is_null", value.node), None, rows)


def _end(kind: str, skip_null: bool) -> Callable[[list[Operand], _core.Node], Call]:
    def make(values: list[Operand], like: _core.Node) -> Call:
        value = _as_column(values[0], like)
        return Call([word(kind, _places(value, like, skip_null))], lambda n: _at_rows(value, n[0]))

    return make


_CALLS: dict[str, Callable[[list[Operand], _core.Node], Call]] = {
    "count_star": _count,
    "count": _count,
    "count_if": _count_if,
    "sum": _sum,
    "avg": _avg,
    "mean": _avg,
    "min": _extreme("min"),
    "max": _extreme("max"),
    "stddev_samp": _spread("std", 1),
    "stddev_pop": _spread("std", 0),
    "var_samp": _spread("var", 1),
    "var_pop": _spread("var", 0),
    "bool_and": _truth("min"),
    "bool_or": _truth("max"),
    "median": _quantile,
    "quantile_cont": _quantile,
    "any_value": _end("min", True),
    "first": _end("min", False),
    "last": _end("max", False),
}


# ---- groups --------------------------------------------------------------------------------------


def _fold(keys: Sequence[_core.Node], calls: Sequence[Call]) -> tuple[list[Any], list[list[Any]]]:
    """The keys of the groups, and of each call what the engine folds."""
    words: list[Words] = []
    places: list[list[int]] = []
    known: dict[Any, int] = {}
    for call in calls:
        mine = []
        for each in call.words:
            key = (each[1], id(each[2]), *each[4:])
            if key not in known:
                known[key] = len(words)
                words.append(each._replace(name=f"a{len(words)}"))
            mine.append(known[key])
        places.append(mine)
    named_keys = [(f"k{i}", node) for i, node in enumerate(keys)]
    nodes = _core.group_columns(named_keys, words, "any", False)
    values = nodes[len(keys) :]
    return nodes[: len(keys)], [[values[i] for i in mine] for mine in places]


def _padded(node: _core.Node, domain: int) -> _core.Node:
    """A column of one row or none as one row, null for none."""
    null = _core.slice(null_column(_one_row(), node.dtype), 0, 1)
    both = _core.concat([node, null])
    return _core.in_domain(_core.slice(both, 0, 1), domain)


def _one_row() -> _core.Node:
    return _core.data(_core.column_from_list([0], "int32"), "one row", 0)


def is_distinct(node: Expression) -> bool:
    """Whether the call folds distinct values only, where that makes a difference."""
    call = node.this if isinstance(node, exp.Filter) else node
    if not isinstance(call.this, exp.Distinct):
        return False
    return not isinstance(call, exp.Min | exp.Max | exp.ArrayAgg | exp.GroupConcat)


def _plain(node: Expression) -> Expression:
    """The call without DISTINCT."""
    if isinstance(node, exp.Filter):
        made = node.copy()
        made.set("this", _plain(made.this))
        return made
    if isinstance(node.this, exp.Distinct) and not isinstance(node, exp.ArrayAgg | exp.GroupConcat):
        made = node.copy()
        inner = made.this.expressions
        if len(inner) != 1:
            raise UnsupportedError(
                "sql: DISTINCT of several values: word='DISTINCT'; use a subquery"
            )
        made.set("this", inner[0])
        return made
    return node


def group(scope: Scope, keys: list[Expression], aggregates: list[Expression], whole: bool) -> Scope:
    """One row for each group of the keys; `whole`: one row for all, even of no rows.

    The scope that results knows the keys and the aggregates by their expressions.
    """
    relation = scope.relation
    hidden = [f for f in relation.fields if f.table == OUTER]
    like = relation.rows
    values = [evaluate(each, scope) for each in keys]
    columns = [_as_column(each, like).node for each in values] + [f.value.node for f in hidden]
    plain = [each for each in aggregates if not is_distinct(each)]
    folder = _Folder(scope, columns)
    calls = [folder.call(_plain(each)) for each in plain]
    refuse_nested(columns)
    grouping = columns or [_core.repeat(like, 0)]
    if not calls:
        calls = [Call([word("size")], _counted, 0)] if not columns or not plain else calls
    found_keys, found = _fold(grouping, calls)
    fields = _key_fields(keys, values, found_keys, scope)
    fields += [
        f._replace(value=f.value._replace(node=n))
        for f, n in zip(hidden, found_keys[len(keys) :], strict=False)
    ]
    made = Scope(Relation(fields, found_keys[0]), scope.outer, scope.planner)
    made.aliases, made.domain = scope.aliases, scope.domain
    results = {id(each): nodes for each, nodes in zip(plain, found, strict=False)}
    raw = [
        Field(COMPUTED, f"raw {i} {j}", value_of(n), True)
        for i, each in enumerate(plain)
        for j, n in enumerate(results[id(each)])
    ]
    relation = Relation([*fields, *raw], found_keys[0])
    distinct = [each for each in aggregates if is_distinct(each)]
    relation, more = _joined_distinct(scope, relation, columns, distinct, len(plain))
    if whole:
        relation = _whole_rows(relation, scope, len(hidden))
    made.relation = relation
    _finish(made, [*plain, *distinct], [*calls[: len(plain)], *more])
    for i, (key, value) in enumerate(zip(keys, values, strict=True)):
        if isinstance(value, Constant):
            made.computed[key] = value
        elif not isinstance(key, exp.Column):
            made.computed[key] = f"key {i}"
    return made


def _key_fields(
    keys: list[Expression], values: list[Operand], nodes: list[_core.Node], scope: Scope
) -> list[Field]:
    fields = []
    for i, (key, value) in enumerate(zip(keys, values, strict=True)):
        bits = value.bits if isinstance(value, Value) else 64
        kept = Value(nodes[i], nodes[i].dtype, bits)
        own = (
            scope.field(named(key.table), named(key.name)) if isinstance(key, exp.Column) else None
        )
        if own is not None:
            fields.append(Field(own.table, own.name, kept))
        else:
            fields.append(Field(COMPUTED, f"key {i}", kept, True))
    return fields


def _finish(made: Scope, aggregates: list[Expression], calls: list[Call]) -> None:
    raw: dict[int, list[_core.Node]] = {}
    for field in made.relation.fields:
        if field.table == COMPUTED and field.name.startswith("raw "):
            raw.setdefault(int(field.name.split()[1]), []).append(field.value.node)
    kept = [f for f in made.relation.fields if f.table != COMPUTED or not f.name.startswith("raw ")]
    made.relation = Relation(kept, made.relation.rows)
    for i, (node, call) in enumerate(zip(aggregates, calls, strict=True)):
        made.compute(node, call.finish(raw[i]))


def _joined_distinct(
    scope: Scope,
    relation: Relation,
    columns: list[_core.Node],
    aggregates: list[Expression],
    first: int,
) -> tuple[Relation, list[Call]]:
    """With the results of calls of distinct values: each of its own groups, joined by the keys."""
    calls = []
    keys = [f.value.node for f in relation.fields if not f.name.startswith("raw ")]
    for place, node in enumerate(aggregates):
        folder = _Folder(scope)
        like = scope.relation.rows
        plain = _plain(node)
        call = plain.this if isinstance(plain, exp.Filter) else plain
        argument = _as_column(folder.operand(call.this), like)
        values: Operand = argument
        if isinstance(plain, exp.Filter):
            test = condition(plain.expression.this, scope)
            values = operators.choose(test, argument, Constant(None, argument.dtype))
        column = _as_column(values, like).node
        every = [*columns, column] if columns else [_core.repeat(like, 0), column]
        distinct, _ = _fold(every, [Call([word("size")], _counted)])
        name, _ = _name_and_arguments(call, None)
        calls.append(_CALLS[name]([value_of(distinct[-1], argument.bits)], distinct[0]))
        mine, found = _fold(distinct[:-1], calls[-1:])
        fields = [
            Field(COMPUTED, f"raw {first + place} {j}", value_of(n), True)
            for j, n in enumerate(found[0])
        ]
        other = Relation(fields, mine[0])
        if columns:
            relation = joined(relation, other, list(zip(keys, mine, strict=True)), "left", True)
        else:
            own = _core.repeat(relation.rows, 0)
            relation = joined(relation, other, [(own, mine[0])], "left", True)
        keys = [f.value.node for f in relation.fields if not f.name.startswith("raw ")]
    return relation, calls


def _whole_rows(relation: Relation, scope: Scope, hidden: int) -> Relation:
    """One row, or one for each row of the query around, even where nothing was folded."""
    if not hidden:
        domain = _core.new_domain()
        nodes = [_padded(node, domain) for node in [relation.rows, *relation.nodes()]]
        return relation.of_nodes(nodes[1:], nodes[0])
    if scope.domain is None:
        return relation
    outer = [f.value.node for f in relation.fields if f.table == OUTER]
    rest = Relation([f for f in relation.fields if f.table != OUTER], relation.rows)
    keys = list(zip([f.value.node for f in scope.domain.fields], outer, strict=True))
    return joined(scope.domain, rest, keys, "left", True)
