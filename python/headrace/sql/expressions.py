# SPDX-License-Identifier: Apache-2.0
"""Expressions of SQL over the columns of a scope."""

from __future__ import annotations

import datetime
import decimal
from collections.abc import Callable
from typing import Any

from headrace import _core
from headrace.errors import InvalidArgumentError, UnsupportedError
from headrace.sql import functions, operators
from headrace.sql.casts import cast, common
from headrace.sql.elementwise import bool_value, filled, run, where
from headrace.sql.functions import nested
from headrace.sql.functions.argument_values import called, constant_from
from headrace.sql.lists import (
    chosen,
    chosen_items,
    items_of,
    null_where_null,
    places_of,
    relisted,
    rows_from_zero,
)
from headrace.sql.relation import Field, Relation, broadcast, one_row
from headrace.sql.scope import ITEM, Scope
from headrace.sql.syntax import exp, is_aggregate, named, replaced, walk
from headrace.sql.values import (
    INTEGERS,
    NOTHING,
    NULL,
    TIMESTAMP,
    Constant,
    ConstantExpectedError,
    Interval,
    Operand,
    Value,
    column_of,
    column_value,
    constant_of,
    decimal_dtype,
    is_list,
    is_nested,
    is_struct,
    null_column,
    value_of,
)

Expression = Any

_TYPES = {
    **{"TINYINT": "int8", "SMALLINT": "int16", "INT": "int32", "BIGINT": "int64"},
    **{"UTINYINT": "uint8", "USMALLINT": "uint16", "UINT": "uint32", "UBIGINT": "uint64"},
    **{"FLOAT": "float32", "DOUBLE": "float64", "BOOLEAN": "bool", "DATE": "date"},
    **{"VARCHAR": "string", "TEXT": "string", "CHAR": "string", "TIMESTAMP": TIMESTAMP},
    **{"TIMESTAMPNTZ": TIMESTAMP, "DATETIME": TIMESTAMP, "INT128": "decimal128(38, 0)"},
    **{"TIMESTAMP_S": "datetime64[s]", "TIMESTAMP_MS": "datetime64[ms]"},
    **{"TIMESTAMP_NS": "datetime64[ns]", "INTERVAL": "interval", "NVARCHAR": "string"},
    **{"UINT8": "uint8", "UINT16": "uint16", "UINT32": "uint32", "UINT64": "uint64"},
    **{"BPCHAR": "string", "HUGEINT": "decimal128(38, 0)", "NULL": "null"},
}
_MONTHS = {"year": 12, "quarter": 3, "month": 1, "decade": 120, "century": 1200}
_MICROSECONDS = {
    **{"week": 7 * 86_400_000_000, "day": 86_400_000_000, "hour": 3_600_000_000},
    **{"minute": 60_000_000, "second": 1_000_000, "millisecond": 1000, "microsecond": 1},
}


def dtype_of(kind: Expression) -> str:
    """The engine's dtype of a type in SQL."""
    word = kind.this.value if hasattr(kind.this, "value") else str(kind.this)
    if word.startswith("USER"):
        word = str(kind.args.get("kind")).upper()
    if word in ("DECIMAL", "BIGDECIMAL"):
        numbers = [int(each.this.name) for each in kind.expressions]
        precision, scale = (*numbers, 0)[:2] if numbers else (18, 3)
        if not 1 <= precision <= 38 or not 0 <= scale <= precision:
            raise InvalidArgumentError(
                f"sql: no such type: type={kind.sql('duckdb')!r}; up to 38 digits are exact"
            )
        return decimal_dtype(precision, scale)
    if word in ("ARRAY", "LIST") and len(kind.expressions) == 1 and not kind.args.get("values"):
        return f"list[{dtype_of(kind.expressions[0])}]"
    if word == "STRUCT" and kind.expressions and not kind.args.get("values"):
        fields = [(each.name, each.args.get("kind")) for each in kind.expressions]
        if all(inside is not None for _, inside in fields):
            return f"struct[{', '.join(f'{name}: {dtype_of(inside)}' for name, inside in fields)}]"
    if word not in _TYPES or kind.args.get("nested"):
        raise UnsupportedError(f"sql: unsupported type: type={kind.sql('duckdb')!r}")
    return _TYPES[word]


def evaluate(node: Expression, scope: Scope) -> Operand:
    """The value of an expression."""
    if scope.computed:
        found = scope.computed.get(id(node)) or scope.computed.get(node)
        if found is not None:
            return scope.value(found)
    handler = _HANDLERS.get(type(node))
    if handler is not None:
        return handler(node, scope)
    if is_aggregate(node):
        raise InvalidArgumentError(
            f"sql: an aggregate is not allowed here: expression={node.sql('duckdb')!r}; use HAVING "
            "or a subquery"
        )
    if isinstance(node, exp.Window):
        raise InvalidArgumentError(
            f"sql: a window function is not allowed here: expression={node.sql('duckdb')!r}; use "
            "QUALIFY or a subquery"
        )
    if isinstance(node, exp.Array | exp.Transform) or functions.is_lambda(node):
        return _items(node, scope)
    if functions.is_reduction(node):
        return _reduced(node, scope)
    folded = _folded_items(node, scope)
    if folded is not None:
        return folded
    return called(functions.call, node, lambda each: evaluate(each, scope), scope.relation.rows)


def _items(node: Expression, scope: Scope) -> Operand:
    """A list of expressions, or of what a lambda makes of items."""
    if isinstance(node, exp.Array):
        inside = node.expressions[0] if len(node.expressions) == 1 else None
        if not isinstance(inside, exp.Comprehension):
            operands = [evaluate(each, scope) for each in node.expressions]
            return nested.list_of(operands, scope.relation.rows)
        names = [named(inside.expression.name)]
        test = inside.args.get("condition")
        lists = evaluate(inside.args["iterator"], scope)
        if inside.args.get("position") is not None:
            names.append(named(inside.args["position"].name))
            made = _changed_items(lists, names, inside.this, scope)
            if test is None or lists.dtype == NULL:
                return made
            kept = _changed_items(lists, names, test, scope)
            return functions.items_where(made, kept)
        if test is not None:
            lists = _filtered_items(lists, names, test, scope)
        return _changed_items(lists, names, inside.this, scope)
    lists, function = functions.lambda_of(node)
    names = [named(each.name) for each in function.expressions]
    if functions.is_lambda(node) == "filter":
        return _filtered_items(evaluate(lists, scope), names, function.this, scope)
    return _changed_items(evaluate(lists, scope), names, function.this, scope)


#: LIST_REDUCE of a longer list is refused: each item is a step of the plan.
_MOST_ITEMS = 1000


def _reduced(node: Expression, scope: Scope) -> Operand:
    """LIST_REDUCE: a lambda of what was made so far and the next item.

    The longest list is looked for at the line of the query; the steps for its items are lazy.
    """
    arguments = functions.arguments_of(node)
    arguments[1:] = sorted(arguments[1:], key=lambda each: not isinstance(each, exp.Lambda))
    if len(arguments) not in (2, 3) or not isinstance(arguments[1], exp.Lambda):
        raise UnsupportedError(f"sql: unsupported: expression={node.sql('duckdb')[:80]!r}")
    operand = evaluate(arguments[0], scope)
    if operand.dtype == NULL:
        return NOTHING
    lists = nested.as_list(operand, "LIST_REDUCE")
    names = [named(each.name) for each in arguments[1].expressions]
    if len(names) not in (2, 3):
        raise InvalidArgumentError("sql: LIST_REDUCE takes a lambda of two or three parameters")
    length = nested.length(lists)
    least, size = _lengths(lists)
    if size > _MOST_ITEMS:
        raise UnsupportedError(f"sql: a list is too long: word='LIST_REDUCE', items={size}")
    first = 0
    if len(arguments) == 3:
        made = evaluate(arguments[2], scope)
    else:
        made, first = nested.item(lists, Constant(1, "int32")), 1
        if least == 0 and lists.node.shape[0] != 0:
            raise InvalidArgumentError("sql: LIST_REDUCE of an empty list needs an initial value")
    dtype = NULL
    for place in range(first + 1, size + 1):
        item = nested.item(lists, Constant(place, "int32"))
        number = Constant(place, "int64")
        step = _step(names, arguments[1].this, [made, item, number], scope)
        there = operators.compare("greater_equal", length, number)
        if dtype == NULL:
            dtype = common([made, step], "LIST_REDUCE")[0]
        made = operators.choose(there, cast(step, dtype), cast(made, dtype))
    none = operators.is_null(lists)
    return operators.choose(none, Constant(None, made.dtype), made)


def _lengths(lists: Value) -> tuple[int, int]:
    """The least and the largest number of items; runs."""
    length = _core.astype(_core.list_length(lists.node), "int64")
    ends = [
        _core.reduce_columns(word, [filled(length, other)], 0)[0]
        for word, other in (("min", 1 << 40), ("max", 0))
    ]
    _core.force(ends)
    found = [end.value().to_list() for end in ends]
    least, most = (each[0] if isinstance(each, list) else each for each in found)
    return int(least or 0), int(most or 0)


def _step(names: list[str], body: Expression, values: list[Operand], scope: Scope) -> Operand:
    """The body of a lambda with these values for its parameters."""
    like = scope.relation.rows
    fields = [
        Field(ITEM, name, column_value(value, like), True)
        for name, value in zip(names, values, strict=False)
    ]
    hidden = [f for f in scope.relation.fields if f.table != ITEM or f.name not in names]
    inner = scope.over(Relation([*hidden, *fields], like))
    return evaluate(_with_parameters(body, names), inner)


def _folded_items(node: Expression, scope: Scope) -> Operand | None:
    """An aggregate or an order of the items of each list; None where the engine has it itself."""
    name, arguments = functions.list_aggregate_of(node)
    if not name or not arguments:
        return None
    operand = evaluate(arguments[0], scope)
    if operand.dtype == NULL and name not in ("asc", "desc"):
        return NOTHING
    if not isinstance(operand, Value) or not is_list(operand.dtype):
        return None
    item = exp.Column(this=exp.Identifier(this="item"), table=exp.Identifier(this=ITEM))
    if name in ("asc", "desc"):
        if nested.sorts(operand):
            return None
        order = exp.Ordered(this=item.copy(), desc=name == "desc", nulls_first=bool(arguments[1:]))
        call: Expression = exp.ArrayAgg(this=exp.Order(this=item, expressions=[order]))
    else:
        if nested.reduces(operand, name) and len(arguments) == 1:
            return None
        call = _aggregate_of(name, item, arguments[1:])
    if not is_aggregate(call):
        raise UnsupportedError(f"sql: unsupported: word='LIST_{name.upper()}'")
    rows, items = items_of(operand)
    empty = run("equal", filled(_core.list_length(operand.node), 0), 0)
    gone = _core.in_domain(_core.take(empty, rows), rows.domain)
    domain = rows.domain
    fields = [
        Field(ITEM, "item", value_of(_core.in_domain(items.node, domain), items.bits), True),
        Field(ITEM, "row", value_of(_core.astype(rows, "int64")), True),
    ]
    held = Relation(fields, rows).filtered(run("logical_not", gone))
    inner = Scope(held, None, scope.planner)
    found = scope.planner.folded(
        inner, held.fields[1].value.node, call, rows_from_zero(operand.node)
    )
    made = column_value(found, operand.node)
    if name in ("asc", "desc"):  # no items are an empty list
        none = _core.list_slice(operand.node, 0, 0)
        made = value_of(chosen(run("is_null", made.node), none, made.node))
    return value_of(null_where_null(made.node, operand), made.bits)


def _aggregate_of(name: str, item: Expression, more: list[Expression]) -> Expression:
    """The call of an aggregate by its name."""
    if name == "string_agg":
        return exp.GroupConcat(this=item, separator=more[0] if more else None)
    if name == "any_value":
        return exp.IgnoreNulls(this=exp.AnyValue(this=item))
    return exp.func(name, item, *more, dialect="duckdb")


def _with_items(
    lists: Value, names: list[str], body: Expression, scope: Scope
) -> tuple[Any, Scope, Expression]:
    """The rows of the items, their scope, and the body with the items as columns."""
    rows, items = items_of(lists)
    relation = scope.relation.taken(rows)
    own = [f for f in relation.fields if f.table != ITEM or f.name not in names]
    relation = Relation(own, relation.rows)
    place = value_of(places_of(rows))
    held = zip(names, (items, place), strict=False)
    if len(names) > 2:
        raise UnsupportedError("sql: unsupported: word='LAMBDA', parameters=3; use up to two")
    fields = [
        Field(ITEM, name, value_of(_core.in_domain(v.node, relation.rows.domain), v.bits), True)
        for name, v in held
    ]
    inner = scope.over(relation.with_fields(fields))

    return rows, inner, _with_parameters(body, names)


def _with_parameters(body: Expression, names: list[str]) -> Expression:
    """The body of a lambda with its parameters as columns of the items."""

    def change(each: Expression) -> Expression | None:
        if isinstance(each, exp.Lambda):  # whose own parameters hide these
            hidden = {named(own.name) for own in each.expressions}
            inner = each.copy()
            inner.set("this", _with_parameters(each.this, [n for n in names if n not in hidden]))
            return inner
        is_name = isinstance(each, exp.Column) and not each.table
        word = named(each.name) if is_name or isinstance(each, exp.Identifier) else ""
        if word in names:
            return exp.Column(this=exp.Identifier(this=word), table=exp.Identifier(this=ITEM))
        if isinstance(each, exp.Column) and named(each.table) in names:  # a field of the item
            own = exp.Column(
                this=exp.Identifier(this=named(each.table)), table=exp.Identifier(this=ITEM)
            )
            return exp.StructExtract(this=own, expression=exp.Literal.string(each.name))
        return each if isinstance(each, exp.Column) else None

    return replaced(body.copy(), change)


def _changed_items(operand: Operand, names: list[str], body: Expression, scope: Scope) -> Operand:
    if operand.dtype == NULL:
        return NOTHING
    lists = nested.as_list(operand, "LIST_TRANSFORM")
    rows, inner, body = _with_items(lists, names, body, scope)
    made = column_value(evaluate(body, inner), inner.relation.rows)
    return value_of(relisted(lists, rows, _core.in_domain(made.node, rows.domain)))


def _filtered_items(operand: Operand, names: list[str], test: Expression, scope: Scope) -> Operand:
    if operand.dtype == NULL:
        return NOTHING
    lists = nested.as_list(operand, "LIST_FILTER")
    rows, inner, test = _with_items(lists, names, test, scope)
    kept = column_of(condition(test, inner), inner.relation.rows, "bool")
    return value_of(chosen_items(lists, rows, _core.in_domain(kept, rows.domain)))


def _bracket(node: Expression, scope: Scope) -> Operand:
    return called(_item_or_part, node, lambda each: evaluate(each, scope), scope.relation.rows)


def _item_or_part(node: Expression, evaluate: functions.Evaluate, like: _core.Node) -> Operand:
    """An item of a list, a character of a string, a field of a struct, or a part of them."""
    base = evaluate(node.this)
    if len(node.expressions) != 1:
        raise UnsupportedError(f"sql: unsupported: expression={node.sql('duckdb')[:80]!r}")
    (at,) = node.expressions
    if isinstance(at, exp.Slice):
        ends = [at.this, at.expression]
        if at.args.get("step") is not None:
            raise UnsupportedError("sql: unsupported: word='SLICE', step=...")
        begin, end = (None if e is None else evaluate(e) for e in ends)
        if base.dtype == "string":
            return functions.text_part(base, begin, end, like)
        if isinstance(base, Value) and (isinstance(begin, Value) or isinstance(end, Value)):
            return functions.part_between(base, begin, end)
        return nested.part(base, begin, end)
    place = evaluate(at)
    if base.dtype == "string":
        return functions.text_part(base, place, place, like)
    if is_struct(base.dtype):
        if isinstance(place, Constant) and isinstance(place.value, str):
            return nested.field(base, place.value)
        names = nested.struct_names(base.dtype)
        number = nested.whole(place, "STRUCT_EXTRACT")
        if number is None or not 1 <= number <= len(names):
            raise InvalidArgumentError(f"sql: no such field: place={number}, fields={len(names)}")
        return nested.field(base, names[number - 1])
    if isinstance(base, Value) and isinstance(place, Value):
        return functions.item_at(base, place)
    return nested.item(base, place)


def _struct(node: Expression, scope: Scope) -> Operand:
    names, operands = [], []
    for place, each in enumerate(node.expressions):
        is_named = isinstance(each, exp.PropertyEQ | exp.Kwarg)
        names.append(each.this.name if is_named else f"element{place + 1}")
        operands.append(evaluate(each.expression if is_named else each, scope))
    return nested.struct_of(names, operands, scope.relation.rows)


def _row(node: Expression, scope: Scope) -> Operand:
    operands = [evaluate(each, scope) for each in node.expressions]
    return nested.row_of(operands, scope.relation.rows)


def _struct_extract(node: Expression, scope: Scope) -> Operand:
    return _bracket(exp.Bracket(this=node.this, expressions=[node.expression]), scope)


def _dot(node: Expression, scope: Scope) -> Operand:
    if isinstance(node.expression, exp.Anonymous):  # a function written behind its first argument
        first = node.this.copy()
        first = first.this if isinstance(first, exp.Paren) else first
        first = exp.Column(this=first) if isinstance(first, exp.Identifier) else first
        more = [each.copy() for each in node.expression.expressions]
        call = exp.func(named(node.expression.this), first, *more, dialect="duckdb")
        return evaluate(call, scope)
    return nested.field(evaluate(node.this, scope), node.expression.name)


def condition(node: Expression, scope: Scope) -> Operand:
    """The truth of an expression."""
    return operators.as_bool(evaluate(node, scope))


def _literal(node: Expression, scope: Scope) -> Operand:
    word = node.this
    if node.is_string:
        return Constant(word, "string", untyped=True)
    return number(word)


def number(word: str) -> Constant:
    """The constant of digits: an integer, a decimal, or with an exponent a double."""
    if "e" in word or "E" in word:
        return Constant(float(word), "float64")
    if "." in word:
        before, _, after = word.replace("_", "").lstrip("-").partition(".")
        digits = max(1, len(before) + len(after))
        if digits > 38:
            return Constant(float(word), "float64")
        value = decimal.Decimal(word.replace("_", ""))
        return Constant(value, decimal_dtype(max(digits, len(after)), len(after)))
    return constant_of(int(word))


def _column(node: Expression, scope: Scope) -> Operand:
    if isinstance(node.this, exp.Star):
        raise UnsupportedError("sql: * is not allowed here: word='*'; name the columns")
    table, name = named(node.table), named(node.name)
    if not table:
        return _row_of(name, scope) if scope.find("", name) is None else scope.column("", name)
    parts = [named(each) for each in (node.catalog, node.db) if each] + [table, name]
    found = scope.find(parts[0], parts[1])
    rest = parts[2:]
    if found is None:  # the fields of a column
        found = scope.find("", parts[0])
        rest = parts[1:]
        if found is None or not is_struct(found.dtype):
            return scope.column(table, name)
    for each in rest:
        found = nested.field(found, each)
    return found


def _row_of(table: str, scope: Scope) -> Operand:
    """The row of a table as a struct."""
    fields = [f for f in scope.relation.fields if f.table == table and not f.hidden]
    if not fields:
        return scope.column("", table)
    return nested.struct_of(
        [f.name for f in fields], [f.value for f in fields], scope.relation.rows
    )


def _binary(
    function: Callable[[str, Operand, Operand], Operand], op: str
) -> Callable[..., Operand]:
    def handle(node: Expression, scope: Scope) -> Operand:
        if isinstance(node.expression, exp.Any | exp.All):
            raise UnsupportedError("sql: ANY and ALL of lists: word='ANY'; use IN")
        return function(op, evaluate(node.this, scope), evaluate(node.expression, scope))

    return handle


def _sum(node: Expression, scope: Scope) -> Operand:
    """`+`, of lists one after the other."""
    operands = [evaluate(each, scope) for each in (node.this, node.expression)]
    if any(is_list(each.dtype) for each in operands):
        return nested.joined_lists(operands, True)
    return operators.arithmetic("add", *operands)


def _compare(op: str, a: Operand, b: Operand) -> Operand:
    return operators.compare(op, a, b)


def _tuples(node: Expression, scope: Scope, op: str) -> Operand | None:
    left, right = node.this, node.expression
    if not (isinstance(left, exp.Tuple) and isinstance(right, exp.Tuple)):
        return None
    if len(left.expressions) != len(right.expressions):
        raise InvalidArgumentError("sql: rows of different lengths are compared: word='ROW'")
    if op not in ("equal", "not_equal"):
        return None
    made: Operand = Constant(True, "bool")
    for a, b in zip(left.expressions, right.expressions, strict=True):
        same = operators.is_same(evaluate(a, scope), evaluate(b, scope))  # null equals null
        made = operators.logical("logical_and", made, same)
    return made if op == "equal" else operators.negated(made)


def _comparison(op: str) -> Callable[..., Operand]:
    plain = _binary(_compare, op)

    def handle(node: Expression, scope: Scope) -> Operand:
        made = _tuples(node, scope, op)
        return plain(node, scope) if made is None else made

    return handle


def _is(node: Expression, scope: Scope) -> Operand:
    value = evaluate(node.this, scope)
    if isinstance(node.expression, exp.Null):
        return operators.is_null(value)
    if isinstance(node.expression, exp.Boolean):
        wanted = Constant(bool(node.expression.this), "bool")
        return operators.negated(operators.is_distinct(operators.as_bool(value), wanted))
    return operators.negated(operators.is_distinct(value, evaluate(node.expression, scope)))


def _in(node: Expression, scope: Scope) -> Operand:
    if node.args.get("field") is not None:
        return nested.contains(evaluate(node.args["field"], scope), evaluate(node.this, scope))
    if node.args.get("unnest") is not None:
        raise UnsupportedError("sql: IN of UNNEST: word='IN'; use list_contains")
    value = evaluate(node.this, scope)
    made: Operand = Constant(False, "bool")
    others = [evaluate(each, scope) for each in node.expressions]
    fast = _in_constants(value, others)
    if fast is not None:
        return fast
    for other in others:
        made = operators.logical("logical_or", made, operators.compare("equal", value, other))
    return made


_FEW = 4


def _in_constants(value: Operand, others: list[Operand]) -> Operand | None:
    """Strings and integers among many constants: by one look-up."""
    if not isinstance(value, Value) or len(others) < _FEW:
        return None
    if not all(isinstance(each, Constant) and each.value is not None for each in others):
        return None
    words = [each.value for each in others]  # type: ignore[union-attr]
    if value.dtype == "string" and all(isinstance(word, str) for word in words):
        dtype = "string"
    elif value.dtype in ("int8", "int16", "int32", "int64") and all(
        type(word) is int for word in words
    ):
        dtype = "int64"
    else:
        return None
    held = _core.data(_core.column_from_list(words, dtype), "values", 0)
    node = value.node if dtype == "string" else _core.astype(value.node, "int64")
    made = _core.in_domain(_core.is_in(node, held), value.node.domain)
    if not value.node.nullable:
        return bool_value(made)
    null = column_of(Constant(None, "bool"), value.node)
    return bool_value(where(run("is_null", value.node), null, made))


def _between(node: Expression, scope: Scope) -> Operand:
    value = evaluate(node.this, scope)
    low, high = evaluate(node.args["low"], scope), evaluate(node.args["high"], scope)
    return operators.logical(
        "logical_and",
        operators.compare("greater_equal", value, low),
        operators.compare("less_equal", value, high),
    )


def _case(node: Expression, scope: Scope) -> Operand:
    subject = node.args.get("this")
    base = None if subject is None else evaluate(subject, scope)
    made: Operand = NOTHING
    if node.args.get("default") is not None:
        made = evaluate(node.args["default"], scope)
    branches = []
    for each in node.args["ifs"]:
        test = evaluate(each.this, scope)
        if base is not None:
            test = operators.compare("equal", base, test)
        branches.append((test, evaluate(each.args["true"], scope)))
    dtype, values = common([made, *(value for _, value in branches)], "CASE")
    made = values[0]
    for (test, _), value in zip(branches[::-1], values[:0:-1], strict=True):
        made = operators.choose(test, value, made)
    if isinstance(made, Constant) and made.value is None:
        return Constant(None, dtype)
    return made


def _if(node: Expression, scope: Scope) -> Operand:
    no = node.args.get("false")
    return operators.choose(
        evaluate(node.this, scope),
        evaluate(node.args["true"], scope),
        NOTHING if no is None else evaluate(no, scope),
    )


def _cast(node: Expression, scope: Scope) -> Operand:
    dtype = dtype_of(node.to)
    if dtype == "interval" and isinstance(node.this, exp.Literal):
        return _interval_of_text(node.this.this)

    def converted(node: Expression, evaluate: functions.Evaluate, like: _core.Node) -> Operand:
        operand = evaluate(node.this)
        made = cast(operand, dtype, isinstance(node, exp.TryCast))
        if not is_nested(dtype) or not isinstance(operand, Constant):
            return made
        if isinstance(made, Constant):
            return value_of(null_column(like, dtype))
        return value_of(broadcast(made.node, like))

    return called(converted, node, lambda each: evaluate(each, scope), scope.relation.rows)


def _try(node: Expression, scope: Scope) -> Operand:
    """TRY: null where the expression is an error, for each different row of its columns."""
    columns = list(dict.fromkeys(each for each in walk(node.this) if isinstance(each, exp.Column)))

    def tried(node: Expression, evaluated: functions.Evaluate, like: _core.Node) -> Operand:
        values = [evaluated(each) for each in columns]
        for each in values:
            if isinstance(each, Value):
                raise ConstantExpectedError(each, "TRY")
        inner = Scope(one_row(), None, scope.planner)
        inner.computed = {
            column: value
            for column, value in zip(columns, values, strict=True)
            if isinstance(value, Constant)
        }
        try:
            made = evaluate(node.this, inner)
            if isinstance(made, Constant):
                return made
            _core.force([made.node])
            return constant_from(made.node.value().to_list()[0], made.dtype)
        except InvalidArgumentError:
            return NOTHING

    return called(tried, node, lambda each: evaluate(each, scope), scope.relation.rows)


def _interval(node: Expression, scope: Scope) -> Operand:
    unit = node.args.get("unit")
    amount = node.this
    if unit is None:
        return _interval_of_text(amount.name)
    word = named(unit.name).rstrip("s")
    found = evaluate(amount, scope)
    if not isinstance(found, Constant):
        raise UnsupportedError("sql: INTERVAL of a column: word='INTERVAL'; use date + n for days")
    if found.value is None:
        return Constant(None, "interval")
    return Constant(_span(str(found.value), word), "interval")


def _span(amount: str, unit: str) -> Interval:
    count = decimal.Decimal(amount.strip())
    if unit in _MONTHS:
        months = count * _MONTHS[unit]
        if months != int(months):
            raise UnsupportedError(f"sql: INTERVAL of a part of a month: amount={amount!r}")
        return Interval(int(months), 0)
    if unit not in _MICROSECONDS:
        raise UnsupportedError(f"sql: unsupported unit of INTERVAL: unit={unit!r}")
    return Interval(0, int(count * _MICROSECONDS[unit]))


def _interval_of_text(text: str) -> Operand:
    words = text.split()
    if not words or len(words) % 2:
        raise UnsupportedError(f"sql: unsupported INTERVAL: text={text!r}; write '1' day")
    months = microseconds = 0
    for amount, unit in zip(words[::2], words[1::2], strict=True):
        span = _span(amount, unit.lower().rstrip("s"))
        months, microseconds = months + span.months, microseconds + span.microseconds
    return Constant(Interval(months, microseconds), "interval")


def _not(node: Expression, scope: Scope) -> Operand:
    return operators.negated(evaluate(node.this, scope))


def _quotient(node: Expression, scope: Scope) -> Operand:
    """`/`: of integers whole in some dialects, and null by zero in some."""
    a, b = evaluate(node.this, scope), evaluate(node.expression, scope)
    whole = node.args.get("typed") and a.dtype in INTEGERS and b.dtype in INTEGERS
    made = operators.arithmetic("floor_divide" if whole else "divide", a, b)
    if not node.args.get("safe"):
        return made
    is_zero = operators.compare("equal", b, Constant(0, "int32"))
    return operators.choose(is_zero, Constant(None, made.dtype), made)


def _distinct_from(node: Expression, scope: Scope) -> Operand:
    made = operators.is_distinct(evaluate(node.this, scope), evaluate(node.expression, scope))
    return made if isinstance(node, exp.NullSafeNEQ) else operators.negated(made)


def _coalesce(node: Expression, scope: Scope) -> Operand:
    return operators.coalesce([evaluate(each, scope) for each in [node.this, *node.expressions]])


def _nullif(node: Expression, scope: Scope) -> Operand:
    value, other = evaluate(node.this, scope), evaluate(node.expression, scope)
    return operators.choose(operators.compare("equal", value, other), NOTHING, value)


def _inner(node: Expression, scope: Scope) -> Operand:
    return evaluate(node.this, scope)


def _boolean(node: Expression, scope: Scope) -> Operand:
    return Constant(bool(node.this), "bool")


def _nothing(node: Expression, scope: Scope) -> Operand:
    return NOTHING


def _negative(node: Expression, scope: Scope) -> Operand:
    if isinstance(node.this, exp.Literal) and not node.this.is_string:
        return number(f"-{node.this.this}")
    return operators.negative(evaluate(node.this, scope))


def _today(node: Expression, scope: Scope) -> Operand:
    return Constant(datetime.datetime.now(datetime.UTC).date(), "date")


def _parameter(node: Expression, scope: Scope) -> Operand:
    found = scope.planner.parameters.get(node.name)
    if found is not None:
        return found
    raise InvalidArgumentError(
        f"sql: a parameter has no value: parameter={node.sql('duckdb')!r}; pass params="
    )


_HANDLERS: dict[Any, Callable[[Expression, Scope], Operand]] = {
    exp.Literal: _literal,
    exp.RawString: lambda node, scope: Constant(node.this, "string", untyped=True),
    exp.Column: _column,
    exp.Paren: _inner,
    exp.Alias: _inner,
    exp.Boolean: _boolean,
    exp.Null: _nothing,
    exp.Neg: _negative,
    exp.Not: _not,
    exp.And: _binary(operators.logical, "logical_and"),
    exp.Or: _binary(operators.logical, "logical_or"),
    exp.EQ: _comparison("equal"),
    exp.NEQ: _comparison("not_equal"),
    exp.LT: _comparison("less"),
    exp.LTE: _comparison("less_equal"),
    exp.GT: _comparison("greater"),
    exp.GTE: _comparison("greater_equal"),
    exp.NullSafeEQ: _distinct_from,
    exp.NullSafeNEQ: _distinct_from,
    exp.Add: _sum,
    exp.Sub: _binary(operators.arithmetic, "subtract"),
    exp.Mul: _binary(operators.arithmetic, "multiply"),
    exp.Div: _quotient,
    exp.IntDiv: _binary(operators.arithmetic, "floor_divide"),
    exp.Mod: _binary(operators.arithmetic, "remainder"),
    exp.Pow: _binary(operators.arithmetic, "power"),
    exp.Is: _is,
    exp.In: _in,
    exp.Between: _between,
    exp.Case: _case,
    exp.If: _if,
    exp.Cast: _cast,
    exp.TryCast: _cast,
    exp.Interval: _interval,
    exp.Try: _try,
    exp.Coalesce: _coalesce,
    exp.Bracket: _bracket,
    exp.Struct: _struct,
    exp.Tuple: _row,
    exp.StructExtract: _struct_extract,
    exp.Dot: _dot,
    exp.Nullif: _nullif,
    exp.CurrentDate: _today,
    exp.Placeholder: _parameter,
    exp.Parameter: _parameter,
}
