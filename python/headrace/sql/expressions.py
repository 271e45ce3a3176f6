# SPDX-License-Identifier: Apache-2.0
"""Expressions of SQL over the columns of a scope."""

from __future__ import annotations

import datetime
import decimal
import re
from collections.abc import Callable
from typing import Any

from headrace import _core
from headrace.errors import InvalidArgumentError, UnsupportedError
from headrace.sql import functions, operators
from headrace.sql.casts import cast, common
from headrace.sql.dtypes import dtype_of, interval, interval_of_text
from headrace.sql.elementwise import bool_value, run, where
from headrace.sql.functions import nested, structs
from headrace.sql.functions.argument_values import called, constant_from
from headrace.sql.lambdas import folded_items, items_made, reduced
from headrace.sql.relation import broadcast, one_row
from headrace.sql.scope import Scope
from headrace.sql.syntax import exp, is_aggregate, named, walk
from headrace.sql.values import (
    INTEGERS,
    NOTHING,
    Constant,
    ConstantExpectedError,
    Operand,
    Value,
    column_of,
    constant_of,
    decimal_dtype,
    is_list,
    is_nested,
    is_struct,
    null_column,
    value_of,
)

Expression = Any


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
        return items_made(node, scope, evaluate)
    if functions.is_reduction(node):
        return reduced(node, scope, evaluate)
    folded = folded_items(node, scope, evaluate)
    if folded is not None:
        return folded
    return called(functions.call, node, lambda each: evaluate(each, scope), scope.relation.rows)


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
    if any(re.fullmatch(r"element\d+", name) for name in names):
        raise UnsupportedError(
            f"sql: a name that fields of rows have: word={names[0]!r}; rename it"
        )
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
        whole, value = evaluate(node.args["field"], scope), evaluate(node.this, scope)
        found = structs.contains if is_struct(whole.dtype) else nested.contains
        return found(whole, value)
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


#: Integers that are compared one after the other as fast; each string is a pass of its own.
_FEW = 4


def _in_constants(value: Operand, others: list[Operand]) -> Operand | None:
    """Strings and integers among many constants: by one look-up."""
    if not isinstance(value, Value) or len(others) < (2 if value.dtype == "string" else _FEW):
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
    made = _core.is_in(node, held)
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
        return Constant(interval_of_text(node.this.this), "interval")

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
        return Constant(interval_of_text(amount.name), "interval")
    word = named(unit.name).rstrip("s")
    found = evaluate(amount, scope)
    if not isinstance(found, Constant):
        raise UnsupportedError("sql: INTERVAL of a column: word='INTERVAL'; use date + n for days")
    if found.value is None:
        return Constant(None, "interval")
    return Constant(interval(str(found.value), word), "interval")


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
