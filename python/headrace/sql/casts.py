# SPDX-License-Identifier: Apache-2.0
"""Conversions of SQL: CAST and TRY_CAST, and those that operators make by themselves."""

from __future__ import annotations

import datetime
import decimal
from typing import Any

from headrace import _core
from headrace.errors import InvalidArgumentError, TypeMismatchError, UnsupportedError
from headrace.sql.elementwise import filled, run, where
from headrace.sql.lists import mapped
from headrace.sql.values import (
    FLOATS,
    INTEGERS,
    NULL,
    Constant,
    Operand,
    Value,
    common_dtype,
    decimal_dtype,
    is_decimal,
    is_list,
    is_number,
    is_time,
    item_dtype,
    null_column,
    precision_and_scale,
    type_name,
    value_of,
)

ROUND_HALF_UP = decimal.Context(prec=76, rounding=decimal.ROUND_HALF_UP)


def cast(operand: Operand, dtype: str, or_null: bool = False) -> Operand:
    """CAST, or TRY_CAST where `or_null`."""
    if operand.dtype == dtype:
        return operand._replace(untyped=False) if isinstance(operand, Constant) else operand
    if isinstance(operand, Constant):
        if operand.value is None:
            return Constant(None, dtype)
        try:
            return Constant(_cast_constant(operand.value, dtype), dtype)
        except (ValueError, ArithmeticError, InvalidArgumentError):
            if or_null:
                return Constant(None, dtype)
            raise InvalidArgumentError(
                f"sql: the value cannot be cast: value={operand.value!r}, to={type_name(dtype)}; "
                "use TRY_CAST for NULL"
            ) from None
    return value_of(_cast_column(operand, dtype, or_null), operand.bits)


def _cast_constant(value: Any, dtype: str) -> Any:
    if isinstance(value, str):
        return _from_text(value, dtype)
    if dtype == "string":
        return _to_text(value)
    if dtype == "bool" and isinstance(value, int | float | decimal.Decimal):
        return value != 0
    if dtype in INTEGERS and isinstance(value, bool | int | float | decimal.Decimal):
        return _fitting(_rounded(value), dtype)
    if dtype in FLOATS and isinstance(value, bool | int | float | decimal.Decimal):
        return float(value)
    if is_decimal(dtype) and isinstance(value, bool | int | float | decimal.Decimal):
        return _as_decimal(value, dtype)
    if dtype == "date" and isinstance(value, datetime.datetime):
        return value.date()
    if dtype.startswith("datetime64") and type(value) is datetime.date:
        return datetime.datetime(value.year, value.month, value.day)
    if dtype == "date" and type(value) is datetime.date:
        return value
    if dtype.startswith("datetime64") and isinstance(value, datetime.datetime):
        return value
    raise TypeMismatchError(
        f"sql: the types do not cast: value={value!r}, to={type_name(dtype)}; cast to VARCHAR first"
    )


def _rounded(value: Any) -> int:
    if isinstance(value, float):
        return round(value)
    if isinstance(value, decimal.Decimal):
        return int(value.to_integral_value(decimal.ROUND_HALF_UP))
    return int(value)


def _fitting(value: int, dtype: str) -> int:
    bits = int(dtype.lstrip("uint"))
    low, high = (0, 1 << bits) if dtype[0] == "u" else (-(1 << (bits - 1)), 1 << (bits - 1))
    if not low <= value < high:
        raise ValueError
    return value


def _as_decimal(value: Any, dtype: str) -> decimal.Decimal:
    precision, scale = precision_and_scale(dtype)
    exact = decimal.Decimal(value)
    made = exact.quantize(decimal.Decimal(1).scaleb(-scale), context=ROUND_HALF_UP)
    if abs(made) >= decimal.Decimal(10) ** (precision - scale):
        raise ValueError
    return made


def _from_text(text: str, dtype: str) -> Any:
    word = text.strip()
    if dtype == "bool":
        words = {"true": True, "t": True, "1": True, "false": False, "f": False, "0": False}
        words |= {"yes": True, "y": True, "no": False, "n": False}
        if word.lower() not in words:
            raise ValueError
        return words[word.lower()]
    if dtype in INTEGERS:
        return _fitting(_rounded(decimal.Decimal(word)), dtype)
    if dtype in FLOATS:
        return float(word)
    if is_decimal(dtype):
        return _as_decimal(decimal.Decimal(word), dtype)
    if dtype == "date":
        day = word.partition(" ")[0].partition("T")[0]
        year, month, number = day.split("-")
        return datetime.date(int(year), int(month), int(number))
    if dtype.startswith("datetime64"):
        return _moment(word)
    if dtype == "interval":
        raise UnsupportedError("sql: INTERVAL of a string; write interval '1' day")
    return text


def _moment(word: str) -> datetime.datetime:
    day, _, clock = word.replace("T", " ").partition(" ")
    year, month, number = day.split("-")
    made = datetime.datetime(int(year), int(month), int(number))
    if len(clock.partition(".")[2].strip()) > 6:
        raise UnsupportedError(f"sql: a time with nanoseconds: value={word!r}; use a column")
    if clock.strip():
        hours = datetime.time.fromisoformat(clock.strip())
        if hours.tzinfo is not None:
            raise ValueError
        made = datetime.datetime.combine(made.date(), hours)
    return made


def _to_text(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, datetime.datetime):
        text = value.isoformat(" ")
        return text.rstrip("0") if value.microsecond else text
    if isinstance(value, decimal.Decimal):
        return f"{value:f}"
    if isinstance(value, float):
        return repr(value)
    if isinstance(value, datetime.date):
        return value.isoformat()
    if isinstance(value, int):
        return str(value)
    raise UnsupportedError(f"sql: CAST to VARCHAR of this: value={value!r}")


def _cast_column(value: Value, dtype: str, or_null: bool) -> _core.Node:
    node, own = value.node, value.dtype
    if own == NULL:
        return null_column(node, dtype)
    if is_list(own) and is_list(dtype):
        inner = item_dtype(dtype)
        return mapped(value, lambda items: cast(items, inner, or_null)).node
    if is_list(own) and dtype == "string":
        return _list_text(value)
    if own == "string":
        return _cast_strings(node, dtype, or_null)
    if dtype == "string":
        if own.startswith("datetime64"):
            raise UnsupportedError("sql: CAST of TIMESTAMP to VARCHAR; use strftime")
        return _core.astype(node, "string")
    if dtype == "bool" and is_number(own):
        return run("not_equal", node, 0)
    numbers = is_number(own) or own == "bool"
    if dtype in INTEGERS and numbers:
        return _to_integers(value, dtype, or_null)
    if dtype in FLOATS and numbers:
        return _core.astype(node, dtype)
    if is_decimal(dtype) and numbers:
        if or_null:
            raise UnsupportedError("sql: TRY_CAST of numbers to DECIMAL; use CAST")
        return _to_decimals(node, own, dtype)
    if is_time(own) and is_time(dtype):
        return _core.astype(node, dtype)
    raise TypeMismatchError(
        f"sql: the types do not cast: from={type_name(own)}, to={type_name(dtype)}; cast to "
        "VARCHAR first"
    )


def _list_text(value: Value) -> _core.Node:
    """Lists as DuckDB writes them."""
    inner = item_dtype(value.dtype)
    if not is_number(inner) and inner not in ("bool", "date"):
        raise UnsupportedError(f"sql: CAST to VARCHAR of this: type={type_name(value.dtype)}")

    def text(items: Value) -> Operand:
        made = cast(items, "string")
        assert isinstance(made, Value)
        return value_of(where(run("is_null", made.node), "NULL", made.node))

    joined = _core.list_join(mapped(value, text).node, ", ")
    return _core.concatenate_text(["[", joined, "]"])


def _to_decimals(node: _core.Node, own: str, dtype: str) -> _core.Node:
    if is_decimal(own) and precision_and_scale(own)[1] > precision_and_scale(dtype)[1]:
        return _core.astype(_half_up(node, precision_and_scale(dtype)[1]), dtype)
    return _core.astype(node, dtype)


def _half_up(node: _core.Node, digits: int) -> _core.Node:
    """Decimals cut to this many digits, halves away from zero."""
    precision, scale = precision_and_scale(node.dtype)
    half = decimal.Decimal(5).scaleb(-digits - 1)
    wide = _core.astype(node, decimal_dtype(min(38, precision + 1), scale))
    negative = run("less", wide, 0)
    moved = where(negative, run("subtract", wide, half), run("add", wide, half))
    # Cut towards zero: what is left of the units is taken away.
    unit = decimal.Decimal(1).scaleb(-digits)
    size = run("absolute", moved)
    cut = run("subtract", size, run("remainder", size, unit))
    return where(negative, run("negative", cut), cut)


def _to_integers(value: Value, dtype: str, or_null: bool) -> _core.Node:
    node, own = value.node, value.dtype
    if own == "bool":
        return _core.astype(node, dtype)
    if is_decimal(own):
        node = _half_up(node, 0)
    elif own in FLOATS:
        node = run("rint", node)
    bits = int(dtype.lstrip("uint"))
    low, high = (0, (1 << bits) - 1) if dtype[0] == "u" else (-(1 << bits - 1), (1 << bits - 1) - 1)
    fits = value.bits < bits and (dtype[0] != "u" or own[0] == "u")
    if own in INTEGERS and fits:
        return _core.astype(node, dtype)
    if own in FLOATS:
        inside = run(
            "logical_and",
            run("greater_equal", node, float(low)),
            run("less", node, float(high + 1)),
        )
    else:
        inside = run("logical_and", run("greater_equal", node, low), run("less_equal", node, high))
    if or_null:
        return _core.astype(where(filled(inside, False), node, None), dtype)
    if own in INTEGERS:  # the engine's cast wraps: decimals and floats are checked by it
        return _core.astype(_core.astype(node, f"decimal128({20}, 0)"), dtype)
    return _core.astype(node, dtype)


def _cast_strings(node: _core.Node, dtype: str, or_null: bool) -> _core.Node:
    if dtype in FLOATS:
        return _core.to_numeric(node, True) if or_null else _core.astype(node, dtype)
    if dtype in INTEGERS:
        if or_null:
            raise UnsupportedError(
                "sql: TRY_CAST of a string column to an integer; to DOUBLE first"
            )
        return _core.astype(node, dtype)
    if dtype == "date" or dtype.startswith("datetime64"):
        return _core.to_datetime(node, "", or_null, "", dtype, False)
    if is_decimal(dtype) and not or_null:
        return _core.astype(node, dtype)
    if dtype == "bool" and not or_null:
        lower = _core.change_case("lower", node)
        return run("equal", lower, "true")
    raise UnsupportedError(f"sql: CAST of strings: to={type_name(dtype)}")


def common(operands: list[Operand], word: str) -> tuple[str, list[Operand]]:
    """The operands in the dtype that they have in common, and which it is."""
    dtype = common_dtype(operands, word)
    if dtype == NULL:
        return dtype, operands
    return dtype, [each if each.dtype == dtype else cast(each, dtype) for each in operands]
