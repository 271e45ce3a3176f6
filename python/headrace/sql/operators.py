# SPDX-License-Identifier: Apache-2.0
"""Operators of SQL on values: DuckDB's rules for null, NaN, overflow and division by zero."""

from __future__ import annotations

import datetime
import decimal
import math
from collections.abc import Callable
from typing import Any

from headrace import _core
from headrace.errors import InvalidArgumentError, TypeMismatchError, UnsupportedError
from headrace.sql.casts import ROUND_HALF_UP, cast, common
from headrace.sql.elementwise import bool_value, filled, run, where
from headrace.sql.lists import chosen
from headrace.sql.nested.keys import nested_key
from headrace.sql.values import (
    FLOATS,
    INTEGERS,
    NOTHING,
    NULL,
    TIMESTAMP,
    Constant,
    Interval,
    Operand,
    Value,
    column_of,
    common_dtype,
    constant_of,
    decimal_dtype,
    is_decimal,
    is_nested,
    is_number,
    is_time,
    precision_and_scale,
    type_name,
    value_of,
)

_COMPARE: dict[str, Callable[[Any, Any], bool]] = {
    "equal": lambda a, b: a == b,
    "not_equal": lambda a, b: a != b,
    "less": lambda a, b: a < b,
    "less_equal": lambda a, b: a <= b,
    "greater": lambda a, b: a > b,
    "greater_equal": lambda a, b: a >= b,
}
_NEGATED = {"less_equal": "greater", "greater_equal": "less"}
_SWAPPED = {"less": "greater", "less_equal": "greater_equal", "greater": "less"}
_SWAPPED |= {"greater_equal": "less_equal"}


# ---- comparisons and logic -----------------------------------------------------------------------


def _typed(a: Operand, b: Operand) -> tuple[Operand, Operand]:
    """An untyped string takes the type of the other side."""
    if isinstance(a, Constant) and a.untyped and b.dtype not in ("string", NULL):
        return cast(a, b.dtype), b
    if isinstance(b, Constant) and b.untyped and a.dtype not in ("string", NULL):
        return a, cast(b, a.dtype)
    return a, b


def compare(op: str, a: Operand, b: Operand) -> Operand:
    """A comparison: NaN is equal to itself and greater than all numbers."""
    a, b = _typed(a, b)
    if NULL in (a.dtype, b.dtype):
        return Constant(None, "bool")
    dtype = common_dtype([a, b], op)
    if is_nested(dtype):
        return _compare_nested(op, cast(a, dtype), cast(b, dtype))
    if isinstance(a, Constant) and isinstance(b, Constant):
        if a.value is None or b.value is None:
            return Constant(None, "bool")
        return Constant(_compare_constants(op, a, b, dtype), "bool")
    if isinstance(a, Constant):
        return compare(_SWAPPED.get(op, op), b, a)
    if isinstance(b, Constant):
        if b.value is None:
            return Constant(None, "bool")
        return bool_value(_with_nan(op, a, b, run(op, a.node, _plain(b, a.dtype))))
    if {a.dtype, b.dtype} & FLOATS and a.dtype != b.dtype:
        a, b = _float(a), _float(b)
    assert isinstance(b, Value)
    if dtype in FLOATS and op in _NEGATED:  # of NaN, by the comparison that it is the reverse of
        return negated(compare(_NEGATED[op], a, b))
    return bool_value(_with_nan(op, a, b, run(op, a.node, b.node)))


def _compare_nested(op: str, a: Operand, b: Operand) -> Operand:
    """Of lists and structs, in which null is equal to null and greater than all else."""
    if isinstance(a, Constant) or isinstance(b, Constant):
        return Constant(None, "bool")
    ordered = op not in ("equal", "not_equal")
    return bool_value(run(op, nested_key(a.node, ordered), nested_key(b.node, ordered)))


def _float(operand: Operand) -> Value:
    made = cast(operand, "float64")
    assert isinstance(made, Value)
    return made


def _compare_constants(op: str, a: Constant, b: Constant, dtype: str) -> bool:
    left, right = cast(a, dtype), cast(b, dtype)
    assert isinstance(left, Constant)
    assert isinstance(right, Constant)
    x, y = left.value, right.value
    if isinstance(x, float) and (math.isnan(x) or math.isnan(y)):
        x, y = math.isnan(x), math.isnan(y)
        if x == y == True:  # noqa: E712
            return op in ("equal", "less_equal", "greater_equal")
    return _COMPARE[op](x, y)


def _plain(constant: Constant, dtype: str) -> Any:
    """A constant as the engine takes it next to a column."""
    value = constant.value
    if isinstance(value, datetime.datetime) and dtype == "date" and not value.time():
        return value.date() if value.time() == datetime.time() else value
    if isinstance(value, datetime.datetime) and dtype == "date":
        return value.date() if value.time() == datetime.time() else value
    if isinstance(value, Interval):
        if value.months:
            raise UnsupportedError("sql: comparison with INTERVAL of months; use days")
        return datetime.timedelta(microseconds=value.microseconds)
    return value


def _with_nan(op: str, a: Value, b: Operand, made: _core.Node) -> _core.Node:
    if a.dtype not in FLOATS and b.dtype not in FLOATS:
        return made
    if isinstance(b, Constant):
        is_nan = isinstance(b.value, float) and math.isnan(b.value)
        if not is_nan:
            if op in ("greater", "greater_equal") and a.dtype in FLOATS:
                return run("logical_or", made, run("isnan", a.node))
            return made
        mine = run("isnan", a.node)
        if op in ("equal", "greater_equal"):
            return mine
        return run("logical_not", mine) if op in ("not_equal", "less") else _all_true(mine, op)
    left = run("isnan", a.node) if a.dtype in FLOATS else None
    right = run("isnan", b.node) if b.dtype in FLOATS else None
    if left is None or right is None:
        return made
    if op in ("equal", "not_equal"):
        both = run("logical_and", left, right)
        if op == "equal":
            return run("logical_or", made, both)
        return run("logical_and", made, run("logical_not", both))
    first, last = (left, right) if op == "greater" else (right, left)
    return run("logical_or", made, run("logical_and", first, run("logical_not", last)))


def _all_true(mine: _core.Node, op: str) -> _core.Node:
    """Of no number is NaN less; all are at most NaN. Null stays null."""
    if op == "greater":
        return run("logical_and", mine, run("logical_not", mine))
    return run("logical_or", mine, run("logical_not", mine))


def as_bool(operand: Operand) -> Operand:
    """The truth of a condition."""
    if operand.dtype == "bool":
        return operand
    if operand.dtype == NULL:
        return Constant(None, "bool")
    if is_number(operand.dtype) or (isinstance(operand, Constant) and operand.untyped):
        return cast(operand, "bool")
    raise TypeMismatchError(f"sql: expected a condition: type={type_name(operand.dtype)}")


def logical(op: str, a: Operand, b: Operand) -> Operand:
    """AND and OR: false and null is false, true or null is true."""
    a, b = as_bool(a), as_bool(b)
    decides = op == "logical_or"
    for one, other in ((a, b), (b, a)):
        if isinstance(one, Constant):
            if one.value is None:
                if isinstance(other, Constant):
                    return other if other.value is decides else Constant(None, "bool")
                return bool_value(run(op, other.node, null_bools(other.node)))
            return one if one.value is decides else other
    assert isinstance(a, Value)
    assert isinstance(b, Value)
    return bool_value(run(op, a.node, b.node))


def null_bools(like: _core.Node) -> _core.Node:
    """Nulls as bools."""
    return column_of(Constant(None, "bool"), like)


def negated(operand: Operand) -> Operand:
    """NOT."""
    operand = as_bool(operand)
    if isinstance(operand, Constant):
        return operand if operand.value is None else Constant(not operand.value, "bool")
    return bool_value(run("logical_not", operand.node))


def is_null(operand: Operand) -> Operand:
    """IS NULL."""
    if isinstance(operand, Constant):
        return Constant(operand.value is None, "bool")
    return bool_value(run("is_null", operand.node))


def choose(condition: Operand, yes: Operand, no: Operand) -> Operand:
    """CASE WHEN: `no` where the condition is false or null."""
    condition = as_bool(condition)
    dtype, (yes, no) = common([yes, no], "CASE")
    if isinstance(condition, Constant):
        return yes if condition.value else no
    if dtype == NULL:
        return NOTHING
    mask = filled(condition.node, False)
    if dtype == "interval":
        raise UnsupportedError("sql: CASE of INTERVAL; use a number of days")
    if is_nested(dtype):
        return value_of(chosen(mask, column_of(yes, mask, dtype), column_of(no, mask, dtype)))
    a: Any = yes.node if isinstance(yes, Value) else None
    b: Any = no.node if isinstance(no, Value) else None
    if isinstance(yes, Constant) and isinstance(no, Constant):
        if yes.value is None and no.value is None:
            return Constant(None, dtype)
        if yes.value is None:
            b = column_of(no, mask, dtype)
        else:
            a = column_of(yes, mask, dtype)
            b = no.value
    elif isinstance(yes, Constant):
        a = yes.value
    elif isinstance(no, Constant):
        b = no.value
    made = where(mask, a, b)
    bits = max(yes.bits if isinstance(yes, Value) else 64, no.bits if isinstance(no, Value) else 64)
    return value_of(made if made.dtype == dtype else _core.astype(made, dtype), bits)


def coalesce(operands: list[Operand]) -> Operand:
    """The first operand that is not null."""
    _, operands = common(operands, "COALESCE")
    made = operands[-1]
    for each in reversed(operands[:-1]):
        made = choose(negated(is_null(each)), each, made)
    return made


def is_same(a: Operand, b: Operand) -> Operand:
    """IS NOT DISTINCT FROM."""
    return negated(is_distinct(a, b))


def is_distinct(a: Operand, b: Operand) -> Operand:
    """IS DISTINCT FROM: null is equal to null."""
    same = compare("equal", a, b)
    nulls = logical("logical_and", is_null(a), is_null(b))
    if isinstance(same, Value):
        same = bool_value(filled(same.node, False))
    elif same.value is None:
        same = Constant(False, "bool")
    return negated(logical("logical_or", same, nulls))


# ---- arithmetic ----------------------------------------------------------------------------------


def arithmetic(op: str, a: Operand, b: Operand) -> Operand:
    """+, -, *, /, //, % and **."""
    a, b = _arithmetic_types(a, b)
    if NULL in (a.dtype, b.dtype):
        dtype = b.dtype if a.dtype == NULL else a.dtype
        return Constant(None, "float64" if op in ("divide", "power") else dtype)
    if "interval" in (a.dtype, b.dtype) or is_time(a.dtype) or is_time(b.dtype):
        return _times(op, a, b)
    for each in (a, b):
        if not is_number(each.dtype) and not each.dtype.startswith("timedelta"):
            raise TypeMismatchError(
                f"sql: the operation does not take this type: operation={op!r}, "
                f"type={type_name(each.dtype)}; use CAST"
            )
    is_wide = "decimal128(38, 0)" in (a.dtype, b.dtype)  # which also stands for HUGEINT
    if is_wide and op in ("floor_divide", "remainder"):
        raise UnsupportedError(f"sql: unsupported: word='HUGEINT', operation={op!r}; use BIGINT")
    if isinstance(a, Constant) and isinstance(b, Constant):
        return _fold(op, a, b)
    if op in ("divide", "power"):
        x, y = cast(a, "float64"), cast(b, "float64")
        return value_of(run(op, _side(x), _side(y)))
    if (isinstance(a, Constant) and a.value is None) or (
        isinstance(b, Constant) and b.value is None
    ):
        return Constant(None, common_dtype([a, b], op))
    if a.dtype in INTEGERS and b.dtype in INTEGERS:
        return _integers(op, a, b)
    if {a.dtype, b.dtype} & FLOATS:
        return _floats(op, a, b)
    if op in ("floor_divide", "remainder"):
        return _decimal_rest(op, a, b)
    made = run(op, _side(a), _side(b))
    dtype = _exact_dtype(op, a.dtype, b.dtype)
    if made.dtype != dtype:  # the engine's integers have other numbers of digits
        made = _core.astype(made, dtype)
    return value_of(made)


def _arithmetic_types(a: Operand, b: Operand) -> tuple[Operand, Operand]:
    for_number = "float64"

    def typed(one: Operand, other: Operand) -> Operand:
        if isinstance(one, Constant) and one.untyped:
            return cast(one, other.dtype if is_number(other.dtype) else for_number)
        return one

    if is_time(a.dtype) or is_time(b.dtype):
        if isinstance(a, Constant) and a.untyped and b.dtype != "interval":
            a = cast(a, b.dtype)
        if isinstance(b, Constant) and b.untyped:
            b = cast(b, a.dtype)
        return a, b
    return typed(a, b), typed(b, a)


def _side(operand: Operand) -> Any:
    if isinstance(operand, Value):
        return operand.node
    if operand.dtype == "float64":
        return _core.number_literal(float(operand.value), "float64")
    return operand.value


def _fold(op: str, a: Constant, b: Constant) -> Constant:
    """Arithmetic of constants."""
    x, y = a.value, b.value
    if op in ("divide", "power"):
        if x is None or y is None:
            return Constant(None, "float64")
        x, y = float(x), float(y)
        return Constant(_float_divide(x, y) if op == "divide" else x**y, "float64")
    dtype = common_dtype([a, b], op)
    if x is None or y is None:
        return Constant(None, dtype)
    if dtype in FLOATS:
        x, y = float(x), float(y)
    elif is_decimal(dtype):
        x, y = decimal.Decimal(x), decimal.Decimal(y)
    if op in ("floor_divide", "remainder") and y == 0:
        return Constant(None, dtype)
    with decimal.localcontext(ROUND_HALF_UP):
        if op == "floor_divide":
            if isinstance(x, int):
                return constant_of(abs(x) // abs(y) * (1 if (x < 0) == (y < 0) else -1))
            return constant_of(_float_divide(float(x), float(y)))
        if op == "remainder":
            made = (
                math.fmod(x, y) if isinstance(x, float) else abs(x) % abs(y) * (-1 if x < 0 else 1)
            )
            return Constant(made, dtype) if is_decimal(dtype) else constant_of(made)
        made = x + y if op == "add" else x - y if op == "subtract" else x * y
        if is_decimal(dtype):
            return _exact(op, made, a.dtype, b.dtype)
    if isinstance(made, int) and not -(2**63) <= made < 2**63:
        raise InvalidArgumentError(f"sql: an integer of more than 64 bits: value={made}; use CAST")
    return constant_of(made)


def _exact(op: str, value: decimal.Decimal, a: str, b: str) -> Constant:
    """The result of arithmetic of decimal constants, of the type that columns have."""
    return Constant(value, _exact_dtype(op, a, b))


def _exact_dtype(op: str, a: str, b: str) -> str:
    """The type of a sum, difference or product of decimals and integers."""
    (pa, sa), (pb, sb) = precision_and_scale(a), precision_and_scale(b)
    if op == "multiply":
        return decimal_dtype(pa + pb, sa + sb)
    scale = max(sa, sb)
    return decimal_dtype(max(pa - sa, pb - sb) + scale + 1, scale)


def _float_divide(x: float, y: float) -> float:
    if y:
        return x / y
    return math.nan if not x or math.isnan(x) else math.copysign(math.inf, x) * math.copysign(1, y)


def _bits(operand: Operand) -> int:
    if isinstance(operand, Constant):
        return int(operand.value).bit_length()
    return operand.bits


def _wide(operand: Operand) -> Operand:
    if operand.dtype == "uint64":
        raise UnsupportedError("sql: arithmetic of UBIGINT; use CAST to DECIMAL(20, 0)")
    return cast(operand, "int64")


def _integers(op: str, a: Operand, b: Operand) -> Operand:
    """In 64 bits; an error where the result does not fit."""
    bits = {"add": max(_bits(a), _bits(b)) + 1, "subtract": max(_bits(a), _bits(b)) + 1}
    bits |= {"multiply": _bits(a) + _bits(b), "floor_divide": _bits(a), "remainder": _bits(b)}
    x, y = _wide(a), _wide(b)
    if op in ("floor_divide", "remainder"):
        return _whole_quotient(op, x, y, bits[op])
    if bits[op] <= 63:
        return value_of(run(op, _side(x), _side(y)), bits[op])
    nodes = [v.node if isinstance(v, Value) else _core.scalar(v.value) for v in (x, y)]
    return value_of(_core.checked_arithmetic(op, *nodes))


def _whole_quotient(op: str, x: Operand, y: Operand, bits: int) -> Operand:
    """Cut towards zero; the rest has the sign of the left side; null by zero."""
    if isinstance(y, Constant) and y.value == 0:
        return Constant(None, "int64")
    a, b = _side(x), _side(y)
    floor = run("floor_divide", a, b)
    rest = run("subtract", a, run("multiply", floor, b))  # with the sign of b
    moves = run(
        "logical_and",
        run("not_equal", rest, 0),
        run(
            "logical_xor",
            run("less", a, 0) if isinstance(x, Value) else bool(a < 0),
            run("less", b, 0) if isinstance(y, Value) else bool(b < 0),
        ),
    )
    if op == "floor_divide":
        made = run("add", floor, _core.astype(moves, "int64"))
    else:
        made = run(
            "subtract",
            rest,
            where(moves, b, 0)
            if isinstance(y, Value)
            else run("multiply", _core.astype(moves, "int64"), b),
        )
    if isinstance(y, Value):
        made = where(run("not_equal", y.node, 0), made, None)
    return value_of(made, bits)


def _floats(op: str, a: Operand, b: Operand) -> Operand:
    if a.dtype != b.dtype and {a.dtype, b.dtype} != {"float32", "int32"}:
        a, b = cast(a, "float64"), cast(b, "float64")
    if op == "floor_divide":
        return value_of(run("divide", _side(a), _side(b)))
    if op == "remainder":  # with the sign of the left side
        x, y = _side(a), _side(b)
        size = run(
            "remainder",
            run("absolute", x) if isinstance(a, Value) else abs(a.value),
            run("absolute", y) if isinstance(b, Value) else abs(b.value),
        )
        made = run("copysign", size, x)
        return value_of(made)
    return value_of(run(op, _side(a), _side(b)))


def _decimal_rest(op: str, a: Operand, b: Operand) -> Operand:
    if op == "floor_divide":
        return arithmetic("divide", a, b)
    if isinstance(b, Value):
        raise UnsupportedError("sql: % of DECIMAL by a column; use CAST to DOUBLE")
    if b.value == 0:
        return Constant(None, a.dtype)
    if isinstance(a, Constant):
        return _fold(op, a, b)
    size = run("remainder", run("absolute", a.node), decimal.Decimal(b.value).copy_abs())
    return value_of(where(run("less", a.node, 0), run("negative", size), size))


def _times(op: str, a: Operand, b: Operand) -> Operand:
    """Dates and times with intervals, days, and each other."""
    if b.dtype == "interval" or a.dtype == "interval":
        return _with_interval(op, a, b)
    if op == "subtract" and a.dtype == "date" and b.dtype == "date":
        if isinstance(a, Constant) and isinstance(b, Constant):
            if a.value is None or b.value is None:
                return Constant(None, "int64")
            return Constant((a.value - b.value).days, "int64")
        like = a.node if isinstance(a, Value) else b.node  # type: ignore[union-attr]
        return value_of(run("subtract", _days(a, like), _days(b, like)), 33)
    if op == "subtract" and is_time(a.dtype) and is_time(b.dtype):
        x, y = cast(a, TIMESTAMP), cast(b, TIMESTAMP)
        if isinstance(x, Constant) and isinstance(y, Constant):
            return constant_of(x.value - y.value)
        return value_of(run(op, _side(x), _side(y)))
    if op == "add" and a.dtype in INTEGERS:
        a, b = b, a
    if op in ("add", "subtract") and a.dtype == "date" and b.dtype in INTEGERS:
        if isinstance(a, Constant) and isinstance(b, Constant):
            span = datetime.timedelta(days=b.value)
            return constant_of(a.value + span if op == "add" else a.value - span)
        like = a.node if isinstance(a, Value) else b.node  # type: ignore[union-attr]
        days = cast(b, "int64")
        moved = run(op, _days(a, like), _side(days))
        return value_of(_core.retype(_core.astype(moved, "int32"), "date"))
    raise TypeMismatchError(
        f"sql: these types have no such operation: operation={op!r}, left={type_name(a.dtype)}, "
        f"right={type_name(b.dtype)}; use CAST"
    )


def _days(operand: Operand, like: _core.Node) -> _core.Node:
    return _core.astype(_core.retype(column_of(operand, like), "int32"), "int64")


def _with_interval(op: str, a: Operand, b: Operand) -> Operand:
    if a.dtype == "interval" and b.dtype == "interval":
        x, y = a.value, b.value  # type: ignore[union-attr]
        sign = 1 if op == "add" else -1
        if op not in ("add", "subtract"):
            raise UnsupportedError(f"sql: operation of intervals: operation={op!r}")
        return constant_of(
            Interval(x.months + sign * y.months, x.microseconds + sign * y.microseconds)
        )
    if a.dtype == "interval" and op == "add":
        a, b = b, a
    if op == "multiply":
        span, times = (a, b) if a.dtype == "interval" else (b, a)
        if isinstance(times, Constant) and times.dtype in INTEGERS and isinstance(span, Constant):
            n = times.value
            return constant_of(Interval(span.value.months * n, span.value.microseconds * n))
        raise UnsupportedError("sql: INTERVAL times a column; use date + n for days")
    if op not in ("add", "subtract") or not is_time(a.dtype) or not isinstance(b, Constant):
        raise TypeMismatchError(
            f"sql: these types have no such operation: operation={op!r}, "
            f"left={type_name(a.dtype)}, right={type_name(b.dtype)}"
        )
    if b.value is None:
        return Constant(None, TIMESTAMP)
    zoned = "," in a.dtype
    if zoned:
        raise UnsupportedError("sql: INTERVAL with TIMESTAMP WITH TIME ZONE; cast to TIMESTAMP")
    moment = cast(a, TIMESTAMP) if a.dtype == "date" else a
    sign = 1 if op == "add" else -1
    months, span_of = sign * b.value.months, sign * b.value.microseconds
    if isinstance(moment, Constant):
        if moment.value is None:
            return moment
        moved = add_months(moment.value, months) + datetime.timedelta(microseconds=span_of)
        return Constant(moved, TIMESTAMP)
    seconds, micros = divmod(span_of, 10**6)
    literal = (
        _core.calendar_literal(months, seconds, micros * 1000)
        if months
        else (datetime.timedelta(microseconds=span_of))
    )
    return value_of(run("add", moment.node, literal))


def add_months(moment: datetime.datetime, months: int) -> datetime.datetime:
    """Moved by months of the calendar, to the last day of a shorter one."""
    import calendar

    count = moment.year * 12 + moment.month - 1 + months
    year, month = divmod(count, 12)
    day = min(moment.day, calendar.monthrange(year, month + 1)[1])
    return moment.replace(year=year, month=month + 1, day=day)


def negative(operand: Operand) -> Operand:
    """-x."""
    if isinstance(operand, Constant):
        if operand.value is None:
            return operand
        if isinstance(operand.value, Interval):
            return constant_of(Interval(-operand.value.months, -operand.value.microseconds))
        if operand.untyped:
            return constant_of(-float(operand.value))
        if isinstance(operand.value, decimal.Decimal):  # a minus would round to 28 digits
            return Constant(operand.value.copy_negate(), operand.dtype)
        return constant_of(-operand.value)
    if operand.dtype in INTEGERS:
        return arithmetic("subtract", Constant(0, "int32"), operand)
    return value_of(run("negative", operand.node))
