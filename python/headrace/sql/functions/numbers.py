# SPDX-License-Identifier: Apache-2.0
"""Functions of numbers."""

from __future__ import annotations

import decimal
import math
from collections.abc import Callable
from typing import Any

from headrace import _core
from headrace.errors import TypeMismatchError, UnsupportedError
from headrace.sql import operators
from headrace.sql.casts import ROUND_HALF_UP, cast, common, half_up
from headrace.sql.elementwise import bool_value, run, where
from headrace.sql.functions.arguments import constant, numbers_of, of_constants
from headrace.sql.syntax import exp
from headrace.sql.values import (
    FLOATS,
    INTEGERS,
    NULL,
    Constant,
    Operand,
    column_of,
    constant_of,
    decimal_dtype,
    is_decimal,
    is_number,
    precision_and_scale,
    type_name,
    value_of,
)

Expression = Any
Evaluate = Callable[[Expression], Operand]
ByName = Callable[[list[Operand], _core.Node], Operand]


def _absolute(node: Expression, evaluate: Evaluate, like: _core.Node) -> Operand:
    operand = _number(evaluate(node.this), "ABS")
    if isinstance(operand, Constant):
        if isinstance(operand.value, decimal.Decimal):
            return Constant(operand.value.copy_abs(), operand.dtype)
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
            return _round_decimals(operand, digits, decimal_dtype(precision, 0))
        return cast(operand, decimal_dtype(precision, digits))
    if operand.dtype in INTEGERS:
        return _round_integers(operand, -digits)
    value = cast(operand, operand.dtype)
    if isinstance(value, Constant):
        return Constant(_round_float(value.value, digits), value.dtype)
    return value_of(_round_floats(value.node, digits))


def _round_decimals(operand: Operand, digits: int, dtype: str) -> Operand:
    """To a decimal that ends in zeros before its point, halves away from zero."""
    if -digits > precision_and_scale(dtype)[0]:
        return operators.arithmetic("multiply", cast(operand, dtype), Constant(0, "int32"))
    if isinstance(operand, Constant):
        if operand.value is None:
            return Constant(None, dtype)
        unit = decimal.Decimal(1).scaleb(-digits)
        made = operand.value.quantize(unit, context=ROUND_HALF_UP)
        return Constant(made.quantize(decimal.Decimal(1), context=ROUND_HALF_UP), dtype)
    return value_of(_core.astype(half_up(operand.node, digits), dtype))


def _round_integers(operand: Operand, zeros: int) -> Operand:
    """To a number that ends in zeros, halves away from zero."""
    if zeros > 18:
        raise UnsupportedError(f"sql: digits below 0 of integers: word='ROUND', digits={-zeros}")
    unit, half = Constant(10**zeros, "int64"), Constant(5 * 10 ** (zeros - 1), "int64")
    is_negative = operators.compare("less", operand, Constant(0, "int32"))
    moved = operators.choose(
        is_negative,
        operators.arithmetic("subtract", operand, half),
        operators.arithmetic("add", operand, half),
    )
    cut = operators.arithmetic("floor_divide", moved, unit)
    return operators.arithmetic("multiply", cut, unit)


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


def _floating(op: str) -> Callable[..., Operand]:
    """A function of doubles; NaN outside of its domain, as in DuckDB from version 2 on."""

    def handle(node: Expression, evaluate: Evaluate, like: _core.Node) -> Operand:
        return _named_floating(op)([evaluate(node.this)], like)

    return handle


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


def _named_floating(op: str) -> ByName:
    """The same by its name."""

    def handle(operands: list[Operand], like: _core.Node) -> Operand:
        operand = _number(operands[0], op.upper())
        if operand.dtype == NULL:
            return Constant(None, "float64")
        if op == "log10" and isinstance(operand, Constant) and (operand.value or 0) > 0:
            return Constant(math.log10(operand.value), "float64")
        return value_of(run(op, numbers_of(operand, like)))

    return handle


def _made_of(make: Callable[[_core.Node], _core.Node]) -> ByName:
    """A function of one double."""

    def handle(operands: list[Operand], like: _core.Node) -> Operand:
        if operands[0].dtype == NULL:
            return Constant(None, "float64")
        return value_of(make(numbers_of(_number(operands[0], "number"), like)))

    return handle


def _tested(test: str) -> ByName:
    """A test of doubles; dates and times are never infinite here."""

    def handle(operands: list[Operand], like: _core.Node) -> Operand:
        (operand,) = operands
        if operand.dtype == NULL:
            return Constant(None, "bool")
        return bool_value(run(test, numbers_of(_number(operand, test.upper()), like)))

    return handle


def _even(value: _core.Node) -> _core.Node:
    """The next even number away from zero."""
    half = run("ceil", run("divide", run("absolute", value), 2.0))
    return run("copysign", run("multiply", half, 2.0), value)


def _log(node: Expression, evaluate: Evaluate, like: _core.Node) -> Operand:
    """LOG(x) to base 10, LOG(base, x)."""
    if node.args.get("expression") is None:
        return _floating("log10")(node, evaluate, like)
    base, value = evaluate(node.this), evaluate(node.expression)
    if NULL in (base.dtype, value.dtype):
        return Constant(None, "float64")
    x = numbers_of(_number(value, "LOG"), like)
    if isinstance(base, Constant) and base.value in (2, 10):
        return value_of(run("log2" if base.value == 2 else "log10", x))
    b = numbers_of(_number(base, "LOG"), like)
    return value_of(run("divide", run("log10", x), run("log10", b)))


def _bits(op: str) -> Callable[..., Operand]:
    """An operation of the bits of integers."""

    def handle(node: Expression, evaluate: Evaluate, like: _core.Node) -> Operand:
        operands = [evaluate(each) for each in (node.this, node.args.get("expression")) if each]
        for each in operands:
            if each.dtype not in INTEGERS and each.dtype != NULL:
                raise TypeMismatchError(
                    f"sql: expected integers: operation={op!r}, type={type_name(each.dtype)}; "
                    "use CAST"
                )
        dtype, operands = common(operands, op.upper())
        if any(isinstance(each, Constant) and each.value is None for each in operands):
            return Constant(None, dtype)
        return value_of(run(op, *(column_of(each, like) for each in operands)))

    return handle


def _trunc(node: Expression, evaluate: Evaluate, like: _core.Node) -> Operand:
    operand = _number(evaluate(node.this), "TRUNC")
    if node.args.get("decimals") is not None:
        raise UnsupportedError("sql: digits: word='TRUNC'; use ROUND")
    if operand.dtype in INTEGERS or operand.dtype == NULL:
        return operand
    if is_decimal(operand.dtype):
        precision, _ = precision_and_scale(operand.dtype)
        column = column_of(operand, like)
        size = run("absolute", column)
        whole = run("subtract", size, run("remainder", size, 1))
        made = where(run("less", column, 0), run("negative", whole), whole)
        return value_of(_core.astype(made, decimal_dtype(precision, 0)))
    return value_of(run("trunc", column_of(operand, like)))


def _pi(operands: list[Operand], like: _core.Node) -> Operand:
    return Constant(math.pi, "float64")


def _pair(op: str) -> ByName:
    """A function of two doubles."""

    def handle(operands: list[Operand], like: _core.Node) -> Operand:
        if any(each.dtype == NULL for each in operands):
            return Constant(None, "float64")
        a, b = (numbers_of(_number(each, op.upper()), like) for each in operands)
        return value_of(run(op, a, b))

    return handle


def _fdiv(operands: list[Operand], like: _core.Node) -> Operand:
    """FDIV: the quotient cut to the next lower integer."""
    a, b = operands
    if NULL in (a.dtype, b.dtype):
        return Constant(None, "float64")
    return value_of(run("floor", run("divide", numbers_of(a, like), numbers_of(b, like))))


def _fmod(operands: list[Operand], like: _core.Node) -> Operand:
    """FMOD: what FDIV leaves."""
    a, b = operands
    if NULL in (a.dtype, b.dtype):
        return Constant(None, "float64")
    x, y = numbers_of(a, like), numbers_of(b, like)
    return value_of(run("subtract", x, run("multiply", run("floor", run("divide", x, y)), y)))


def _arithmetic(op: str) -> ByName:
    def handle(operands: list[Operand], like: _core.Node) -> Operand:
        return operators.arithmetic(op, *operands)

    return handle


BY_CLASS: dict[Any, Callable[[Expression, Evaluate, _core.Node], Operand]] = {
    exp.Abs: _absolute,
    exp.Floor: _rounding("floor"),
    exp.Ceil: _rounding("ceil"),
    exp.Round: _round,
    exp.Trunc: _trunc,
    exp.Sqrt: _floating("sqrt"),
    exp.Exp: _floating("exp"),
    exp.Ln: _floating("log"),
    exp.Log: _log,
    exp.Sin: _floating("sin"),
    exp.Cos: _floating("cos"),
    exp.Tan: _floating("tan"),
    exp.BitwiseAnd: _bits("bitwise_and"),
    exp.BitwiseOr: _bits("bitwise_or"),
    exp.BitwiseXor: _bits("bitwise_xor"),
    exp.BitwiseNot: _bits("invert"),
    exp.Sign: _sign,
    exp.Greatest: _extreme("greater"),
    exp.Least: _extreme("less"),
}

BY_NAME: dict[str, ByName] = {
    "asin": _named_floating("arcsin"),
    "acos": _named_floating("arccos"),
    "atan": _named_floating("arctan"),
    "atan2": _pair("arctan2"),
    "sinh": _named_floating("sinh"),
    "cosh": _named_floating("cosh"),
    "tanh": _named_floating("tanh"),
    "cbrt": _named_floating("cbrt"),
    "cot": _made_of(lambda x: run("divide", 1.0, run("tan", x))),
    "degrees": _made_of(lambda x: run("multiply", x, 180.0 / math.pi)),
    "radians": _made_of(lambda x: run("multiply", x, math.pi / 180.0)),
    "even": _made_of(_even),
    "pi": _pi,
    "isnan": _tested("isnan"),
    "isinf": _tested("isinf"),
    "isfinite": _tested("isfinite"),
    "fdiv": _fdiv,
    "fmod": _fmod,
    "factorial": of_constants("FACTORIAL", "decimal128(38, 0)", math.factorial),
    "gamma": of_constants("GAMMA", "float64", lambda x: math.gamma(float(x))),
    "lgamma": of_constants("LGAMMA", "float64", lambda x: math.lgamma(float(x))),
    "gcd": of_constants("GCD", "int64", math.gcd),
    "greatest_common_divisor": of_constants("GCD", "int64", math.gcd),
    "lcm": of_constants("LCM", "int64", math.lcm),
    "least_common_multiple": of_constants("LCM", "int64", math.lcm),
    "nextafter": of_constants(
        "NEXTAFTER", "float64", lambda a, b: math.nextafter(float(a), float(b))
    ),
    "add": _arithmetic("add"),
    "subtract": _arithmetic("subtract"),
    "multiply": _arithmetic("multiply"),
    "divide": _arithmetic("floor_divide"),
    "mod": _arithmetic("remainder"),
}
