# SPDX-License-Identifier: Apache-2.0
"""Scalar functions of SQL, by the names and rules of DuckDB."""

from __future__ import annotations

import datetime
import math
from collections.abc import Callable
from typing import Any

from headrace import _core
from headrace.errors import InvalidArgumentError, TypeMismatchError, UnsupportedError
from headrace.sql import operators
from headrace.sql.casts import cast, common
from headrace.sql.elementwise import bool_value, filled, run, where
from headrace.sql.functions import nested, strings
from headrace.sql.functions.arguments import constant, numbers_of
from headrace.sql.functions.strings import text_part as text_part
from headrace.sql.syntax import exp, named
from headrace.sql.values import (
    FLOATS,
    INTEGERS,
    NULL,
    TIMESTAMP,
    Constant,
    Operand,
    column_of,
    constant_of,
    decimal_dtype,
    is_decimal,
    is_number,
    is_time,
    precision_and_scale,
    type_name,
    value_of,
)

Expression = Any
Evaluate = Callable[[Expression], Operand]


def call(node: Expression, evaluate: Evaluate, like: _core.Node) -> Operand:
    """The value of a function for the rows of `like`."""
    handler = _BY_CLASS.get(type(node))
    if handler is not None:
        return handler(node, evaluate, like)
    if isinstance(node, exp.Anonymous):
        by_name = _BY_NAME.get(named(node.this))
        if by_name is not None:
            return by_name([evaluate(each) for each in node.expressions], like)
    word = (
        node.sql_name()
        if isinstance(node, exp.Func) and not isinstance(node, exp.Anonymous)
        else getattr(node, "name", "") or type(node).__name__
    )
    raise UnsupportedError(
        f"sql: unsupported: word={str(word).upper()!r}, expression={node.sql('duckdb')[:80]!r}"
    )


_LAMBDAS = {
    **dict.fromkeys(
        ("list_transform", "list_apply", "array_transform", "array_apply", "apply"), "map"
    ),
    **dict.fromkeys(("list_filter", "array_filter", "filter"), "filter"),
}


def is_lambda(node: Expression) -> str:
    """What a function does with a lambda and the items of a list: "map", "filter", or nothing."""
    if isinstance(node, exp.Transform | exp.ArrayFilter):
        return "map" if isinstance(node, exp.Transform) else "filter"
    return _LAMBDAS.get(named(node.this), "") if isinstance(node, exp.Anonymous) else ""


def lambda_of(node: Expression) -> tuple[Expression, Expression]:
    """The list and the lambda of such a function."""
    operands = node.expressions if isinstance(node, exp.Anonymous) else [node.this, node.expression]
    if len(operands) != 2 or not isinstance(operands[1], exp.Lambda):
        raise UnsupportedError(f"sql: unsupported: expression={node.sql('duckdb')[:80]!r}")
    return operands[0], operands[1]


# ---- numbers -------------------------------------------------------------------------------------


def _absolute(node: Expression, evaluate: Evaluate, like: _core.Node) -> Operand:
    operand = _number(evaluate(node.this), "ABS")
    if isinstance(operand, Constant):
        return operand if operand.value is None else constant_of(abs(operand.value))
    if operand.dtype in INTEGERS:
        return operators.choose(
            operators.compare("less", operand, Constant(0, "int32")),
            operators.negative(operand),
            operand,
        )
    return value_of(run("absolute", operand.node))


def _number(operand: Operand, word: str) -> Operand:
    if isinstance(operand, Constant) and operand.untyped:
        operand = cast(operand, "float64")
    if operand.dtype != NULL and not is_number(operand.dtype):
        raise TypeMismatchError(
            f"sql: expected a number: function={word!r}, type={type_name(operand.dtype)}; use CAST"
        )
    return operand


def _rounding(op: str) -> Callable[..., Operand]:
    exact = math.floor if op == "floor" else math.ceil

    def handle(node: Expression, evaluate: Evaluate, like: _core.Node) -> Operand:
        operand = _number(evaluate(node.this), op.upper())
        if isinstance(operand, Constant):
            if operand.value is None or operand.dtype in INTEGERS:
                return operand
            if operand.dtype in FLOATS:
                return Constant(float(exact(operand.value)), operand.dtype)
            return cast(
                constant_of(exact(operand.value)),
                decimal_dtype(precision_and_scale(operand.dtype)[0], 0),
            )
        if operand.dtype in INTEGERS:
            return operand
        if not is_decimal(operand.dtype):
            return value_of(run(op, operand.node))
        precision, _ = precision_and_scale(operand.dtype)
        one = _core.astype(run("floor_divide", operand.node, 1), decimal_dtype(precision, 0))
        if op == "floor":
            return value_of(one)
        more = run("not_equal", one, operand.node)
        return value_of(
            _core.astype(where(more, run("add", one, 1), one), decimal_dtype(precision, 0))
        )

    return handle


def _round(node: Expression, evaluate: Evaluate, like: _core.Node) -> Operand:
    operand = _number(evaluate(node.this), "ROUND")
    digits_node = node.args.get("decimals")
    digits = 0 if digits_node is None else constant(evaluate(digits_node), "ROUND")
    if operand.dtype == NULL or digits is None:
        return Constant(None, operand.dtype)
    if operand.dtype in INTEGERS and digits >= 0:
        return operand
    if is_decimal(operand.dtype):
        precision, scale = precision_and_scale(operand.dtype)
        if digits >= scale:
            return operand
        if digits < 0:
            raise UnsupportedError("sql: digits below 0 of DECIMAL: word='ROUND'; use DOUBLE")
        return cast(operand, decimal_dtype(precision, digits))
    if operand.dtype in INTEGERS:
        raise UnsupportedError("sql: digits below 0 of integers: word='ROUND'; use DOUBLE")
    value = cast(operand, operand.dtype)
    if isinstance(value, Constant):
        return Constant(_round_float(value.value, digits), value.dtype)
    return value_of(_round_floats(value.node, digits))


def _round_float(value: float, digits: int) -> float:
    scale = 10.0 ** abs(digits)
    moved = value * scale if digits >= 0 else value / scale
    if not math.isfinite(moved):
        return value
    cut = math.copysign(math.floor(abs(moved) + 0.5), moved) if abs(moved) < 2**52 else moved
    return cut / scale if digits >= 0 else cut * scale


def _round_floats(node: _core.Node, digits: int) -> _core.Node:
    """Halves away from zero, as C's round does of the scaled number."""
    scale = _core.number_literal(10.0 ** abs(digits), "float64")
    moved = node if not digits else run("multiply" if digits > 0 else "divide", node, scale)
    size = run("absolute", moved)
    floor = run("floor", size)
    half = run("greater_equal", run("subtract", size, floor), 0.5)
    cut = run("add", floor, _core.astype(half, node.dtype))
    cut = run("copysign", cut, moved)
    made = cut if not digits else run("divide" if digits > 0 else "multiply", cut, scale)
    if not digits:
        return made
    return where(run("isfinite", moved), made, node)


def _floating(op: str, low: float | None = None, open_: bool = False) -> Callable[..., Operand]:
    """A function of doubles; values below `low` are errors in DuckDB."""

    def handle(node: Expression, evaluate: Evaluate, like: _core.Node) -> Operand:
        operand = _number(evaluate(node.this), op.upper())
        if operand.dtype == NULL:
            return Constant(None, "float64")
        value = numbers_of(operand, like)
        if low is not None:
            value = _checked(value, op, low, open_)
        return value_of(run(op, value))

    return handle


def _checked(value: _core.Node, op: str, low: float, open_: bool) -> _core.Node:
    """Doubles of which one that is too small raises when it is read."""
    small = run("less_equal" if open_ else "less", value, low)
    # A cast of infinity to an integer is the engine's error with the row.
    bad = where(filled(small, False), math.inf, 0.0)
    return run("add", value, _core.astype(_core.astype(bad, "int64"), "float64"))


def _sign(node: Expression, evaluate: Evaluate, like: _core.Node) -> Operand:
    operand = _number(evaluate(node.this), "SIGN")
    zero = Constant(0, "int32")
    made = operators.choose(
        operators.compare("greater", operand, zero),
        Constant(1, "int8"),
        operators.choose(
            operators.compare("less", operand, zero), Constant(-1, "int8"), Constant(0, "int8")
        ),
    )
    return operators.choose(operators.is_null(operand), Constant(None, "int8"), made)


def _extreme(op: str) -> Callable[..., Operand]:
    def handle(node: Expression, evaluate: Evaluate, like: _core.Node) -> Operand:
        operands = [evaluate(each) for each in [node.this, *node.expressions]]
        _dtype, operands = common(operands, op.upper())
        made = operands[0]
        for each in operands[1:]:
            chooses = operators.compare(op, each, made)
            chooses = operators.logical("logical_or", chooses, operators.is_null(made))
            made = operators.choose(chooses, each, made)
        return made

    return handle


# ---- times ---------------------------------------------------------------------------------------

_FIELDS = {
    **{"year": "year", "years": "year", "month": "month", "months": "month", "mon": "month"},
    **{"day": "day", "days": "day", "dayofmonth": "day", "quarter": "quarter", "hour": "hour"},
    **{"hours": "hour", "minute": "minute", "minutes": "minute", "dayofyear": "day_of_year"},
    **{"doy": "day_of_year", "second": "second", "seconds": "second"},
}


def time_part(word: str, operand: Operand, like: _core.Node) -> Operand:
    """EXTRACT and the functions of its words."""
    word = word.lower()
    if isinstance(operand, Constant) and operand.untyped:
        operand = cast(operand, TIMESTAMP)
    if operand.dtype == NULL:
        return Constant(None, "int64")
    if not is_time(operand.dtype):
        raise TypeMismatchError(
            f"sql: expected dates or times: function={word!r}, type={type_name(operand.dtype)}"
        )
    node = column_of(operand, like)
    if word in _FIELDS:
        return value_of(_core.astype(_core.time_field(node, _FIELDS[word]), "int64"), 20)
    if word in ("dow", "weekday", "dayofweek", "isodow"):
        day = _core.astype(_core.time_field(node, "day_of_week"), "int64")
        if word == "isodow":
            return value_of(run("add", day, 1), 4)
        return value_of(run("remainder", run("add", day, 1), 7), 4)
    raise UnsupportedError(f"sql: unsupported part of a time: word={word.upper()!r}")


def _extract(node: Expression, evaluate: Evaluate, like: _core.Node) -> Operand:
    return time_part(node.this.name, evaluate(node.expression), like)


def _part(word: str) -> Callable[..., Operand]:
    def handle(node: Expression, evaluate: Evaluate, like: _core.Node) -> Operand:
        return time_part(word, evaluate(node.this), like)

    return handle


_STARTS = {"month": "month_start", "quarter": "quarter_start", "year": "year_start"}


def _date_trunc(node: Expression, evaluate: Evaluate, like: _core.Node) -> Operand:
    unit = node.args.get("unit")
    word = named(unit.name if unit is not None else "")
    operand = evaluate(node.this)
    if operand.dtype == NULL:
        return Constant(None, TIMESTAMP)
    column = column_of(
        cast(operand, "date") if isinstance(operand, Constant) and operand.untyped else operand,
        like,
    )
    if word in _STARTS:
        return value_of(_core.astype(_core.time_field(column, _STARTS[word]), TIMESTAMP))
    if word == "day":
        return value_of(_core.astype(_core.astype(column, "date"), TIMESTAMP))
    if word == "week":
        days = _core.astype(_core.retype(_core.astype(column, "date"), "int32"), "int64")
        weekday = _core.astype(_core.time_field(column, "day_of_week"), "int64")
        moved = _core.astype(run("subtract", days, weekday), "int32")
        return value_of(_core.astype(_core.retype(moved, "date"), TIMESTAMP))
    periods = {"hour": "h", "minute": "min", "second": "s"}
    if word in periods and column.dtype.startswith("datetime64") and "," not in column.dtype:
        made = _core.round_times("floor", column, periods[word])
        return value_of(_core.astype(made, TIMESTAMP))
    raise UnsupportedError(f"sql: unsupported part of a time: word={word.upper()!r}")


def _date_diff(node: Expression, evaluate: Evaluate, like: _core.Node) -> Operand:
    unit = named(node.args["unit"].name if node.args.get("unit") is not None else "day").rstrip("s")
    end, start = evaluate(node.this), evaluate(node.expression)
    if NULL in (end.dtype, start.dtype):
        return Constant(None, "int64")
    if unit == "day":
        return operators.arithmetic("subtract", cast(end, "date"), cast(start, "date"))
    if unit in ("year", "month", "quarter"):

        def count(operand: Operand) -> Operand:
            years = time_part("year", operand, like)
            if unit == "year":
                return years
            per = 12 if unit == "month" else 4
            whole = operators.arithmetic("multiply", years, Constant(per, "int32"))
            return operators.arithmetic("add", whole, time_part(unit, operand, like))

        return operators.arithmetic("subtract", count(end), count(start))
    raise UnsupportedError(f"sql: unsupported unit: word={unit.upper()!r}")


def _strftime(node: Expression, evaluate: Evaluate, like: _core.Node) -> Operand:
    pattern = constant(evaluate(node.args["format"]), "STRFTIME")
    return value_of(_core.format_times(column_of(evaluate(node.this), like), pattern))


def _typed_date(node: Expression, evaluate: Evaluate, like: _core.Node) -> Operand:
    return cast(evaluate(node.this), "date")


def _typed_timestamp(node: Expression, evaluate: Evaluate, like: _core.Node) -> Operand:
    return cast(evaluate(node.this), TIMESTAMP)


_BY_CLASS: dict[Any, Callable[[Expression, Evaluate, _core.Node], Operand]] = {
    **strings.BY_CLASS,
    exp.Abs: _absolute,
    exp.Floor: _rounding("floor"),
    exp.Ceil: _rounding("ceil"),
    exp.Round: _round,
    exp.Sqrt: _floating("sqrt", 0.0),
    exp.Exp: _floating("exp"),
    exp.Ln: _floating("log", 0.0, True),
    exp.Sin: _floating("sin"),
    exp.Cos: _floating("cos"),
    exp.Tan: _floating("tan"),
    exp.Sign: _sign,
    exp.Greatest: _extreme("greater"),
    exp.Least: _extreme("less"),
    exp.Extract: _extract,
    exp.Year: _part("year"),
    exp.Month: _part("month"),
    exp.Day: _part("day"),
    exp.Quarter: _part("quarter"),
    exp.Hour: _part("hour"),
    exp.Minute: _part("minute"),
    exp.Second: _part("second"),
    exp.DayOfWeek: _part("dow"),
    exp.DayOfMonth: _part("day"),
    exp.DayOfYear: _part("doy"),
    exp.DateTrunc: _date_trunc,
    exp.TimestampTrunc: _date_trunc,
    exp.DateDiff: _date_diff,
    exp.TimeToStr: _strftime,
    exp.Typeof: lambda node, evaluate, like: Constant(
        type_name(evaluate(node.this).dtype), "string"
    ),
    exp.Date: _typed_date,
    exp.TsOrDsToDate: _typed_date,
    exp.Timestamp: _typed_timestamp,
}


def _named_part(operands: list[Operand], like: _core.Node) -> Operand:
    return time_part(constant(operands[0], "DATE_PART"), operands[1], like)


def _make_date(operands: list[Operand], like: _core.Node) -> Operand:
    parts = [constant(each, "MAKE_DATE") for each in operands]
    return Constant(datetime.date(*parts), "date")


def _is_nan(operands: list[Operand], like: _core.Node) -> Operand:
    (operand,) = operands
    return bool_value(run("isnan", numbers_of(operand, like)))


def _one_argument(operands: list[Operand], word: str) -> Operand:
    if len(operands) != 1:
        raise InvalidArgumentError(f"sql: {word} takes one value: got={len(operands)}")
    return operands[0]


_BY_NAME: dict[str, Callable[[list[Operand], _core.Node], Operand]] = {
    **nested.BY_NAME,
    **strings.BY_NAME,
    "date_part": _named_part,
    "datepart": _named_part,
    "make_date": _make_date,
    "isnan": _is_nan,
    "isodow": lambda operands, like: time_part("isodow", _one_argument(operands, "isodow"), like),
}
