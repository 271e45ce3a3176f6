# SPDX-License-Identifier: Apache-2.0
"""Conversions of SQL: CAST and TRY_CAST, and those that operators make by themselves."""

from __future__ import annotations

import datetime
import decimal
import math
import re
import struct
from typing import Any

from headrace import _core
from headrace.errors import InvalidArgumentError, TypeMismatchError, UnsupportedError
from headrace.sql.elementwise import filled, run, where
from headrace.sql.lists import mapped, null_where_null
from headrace.sql.nested.text import nested_of_text, nested_text
from headrace.sql.values import (
    FLOATS,
    INTEGERS,
    NULL,
    Constant,
    ConstantExpectedError,
    Operand,
    Value,
    column_of,
    common_dtype,
    decimal_dtype,
    is_decimal,
    is_list,
    is_nested,
    is_number,
    is_row,
    is_struct,
    is_time,
    item_dtype,
    null_column,
    precision_and_scale,
    stored_dtype,
    struct_fields,
    type_name,
    value_of,
)

_EPOCH = datetime.datetime(1970, 1, 1)
_PER_SECOND = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}
ROUND_HALF_UP = decimal.Context(prec=76, rounding=decimal.ROUND_HALF_UP)


def cast(operand: Operand, dtype: str, or_null: bool = False) -> Operand:
    """CAST, or TRY_CAST where `or_null`."""
    if operand.dtype == dtype or (dtype == NULL and isinstance(operand, Value)):
        return operand._replace(untyped=False) if isinstance(operand, Constant) else operand
    if isinstance(operand, Constant):
        if operand.value is None:
            return Constant(None, dtype)
        try:
            if is_nested(dtype) and isinstance(operand.value, str):
                return _nested_constant(operand.value, dtype, or_null)
            return Constant(_cast_constant(operand.value, dtype, operand.dtype), dtype)
        except (ValueError, ArithmeticError, InvalidArgumentError):
            if or_null:
                return Constant(None, dtype)
            raise InvalidArgumentError(
                f"sql: the value cannot be cast: value={operand.value!r}, to={type_name(dtype)}; "
                "use TRY_CAST for NULL"
            ) from None
    return value_of(_cast_column(operand, dtype, or_null), operand.bits)


def _cast_constant(value: Any, dtype: str, own: str) -> Any:
    if isinstance(value, str):
        return _from_text(value, dtype)
    if dtype == "string":
        text = _to_text(value)
        return text.replace("0.", ".", 1) if _is_fraction(own) else text
    if dtype == "bool" and isinstance(value, int | float | decimal.Decimal):
        return value != 0
    if dtype in INTEGERS and isinstance(value, bool | int | float | decimal.Decimal):
        return _fitting(_rounded(value), dtype)
    if dtype in FLOATS and isinstance(value, bool | int | float | decimal.Decimal):
        return _as_float(value, dtype)
    if is_decimal(dtype) and isinstance(value, bool | int | float | decimal.Decimal):
        return _as_decimal(value, dtype)
    if dtype == "date" and isinstance(value, datetime.datetime):
        return value.date()
    if dtype.startswith("datetime64") and type(value) is datetime.date:
        return datetime.datetime(value.year, value.month, value.day)
    if dtype == "date" and type(value) is datetime.date:
        return value
    if dtype.startswith("datetime64") and isinstance(value, datetime.datetime):
        return _in_unit(value, dtype)
    raise TypeMismatchError(
        f"sql: the types do not cast: value={value!r}, to={type_name(dtype)}; cast to VARCHAR first"
    )


def _as_float(value: Any, dtype: str) -> float:
    made = float(value)
    if dtype == "float32" and math.isfinite(made):
        return float(struct.unpack("f", struct.pack("f", made))[0])
    return made


def _is_fraction(dtype: str) -> bool:
    """Whether decimals have no digit before their point, so that no 0 is written there."""
    if not is_decimal(dtype):
        return False
    precision, scale = precision_and_scale(dtype)
    return precision == scale


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
    if made.copy_abs() >= decimal.Decimal(10) ** (precision - scale):
        raise ValueError
    return made


def _nested_constant(text: str, dtype: str, or_null: bool) -> Value:
    """A list or struct in one row; with `or_null` values that do not cast are null in it."""
    column = _core.column_from_list([nested_of_text(text, dtype, _from_text, or_null)], dtype)
    return value_of(_core.data(column, "value", _core.new_domain()))


def _from_text(text: str, dtype: str) -> Any:
    word = text.strip()
    if dtype == "bool":
        words = {"true": True, "t": True, "1": True, "false": False, "f": False, "0": False}
        words |= {"yes": True, "y": True, "no": False, "n": False}
        if word.lower() not in words:
            raise ValueError
        return words[word.lower()]
    if dtype in INTEGERS:
        if _HEX.fullmatch(word):
            return _fitting(int(word, 16), dtype)
        return _fitting(_rounded(decimal.Decimal(word)), dtype)
    if dtype in FLOATS:
        return _as_float(word, dtype)
    if is_decimal(dtype):
        return _as_decimal(decimal.Decimal(word), dtype)
    if dtype == "date":
        return _moment(word).date()
    if dtype.startswith("datetime64"):
        return _in_unit(_moment(word, dtype.startswith("datetime64[ns")), dtype)
    if dtype == "interval":
        raise UnsupportedError("sql: INTERVAL of a string; write interval '1' day")
    return text


_HEX = re.compile(r"0[xX][0-9a-fA-F]+")
#: A day, then nothing or the time of day with an offset of its zone.
_MOMENT = re.compile(
    r"(?P<year>[0-9]{1,6})(?P<mark>[-/])(?P<month>[0-9]{1,2})(?P=mark)(?P<day>[0-9]{1,2})"
    r"(?:[ T]+(?P<hour>[0-9]{1,2}):(?P<minute>[0-9]{1,2})"
    r"(?::(?P<second>[0-9]{1,2})(?:[.](?P<rest>[0-9]+))?)?"
    r" ?(?P<zone>Z|UTC|[+-][0-9]{2}(?::?[0-9]{2})?)?)?"
)


#: What DuckDB reads too: years before 1, names of zones, infinity.
_OTHER_MOMENT = re.compile(r"(?i)\(bc\)|infinity|epoch|^-[0-9]|:[0-9.]+ ?[a-z_/]+$")


def _moment(word: str, is_nano: bool = False) -> datetime.datetime:
    """A day and a time of day; an offset of its zone is not read, as in DuckDB."""
    found = _MOMENT.fullmatch(word)
    if found is None and _OTHER_MOMENT.search(word):
        raise UnsupportedError(f"sql: a time of this form: value={word!r}; use years 1 to 9999")
    if found is None:
        raise ValueError
    if not 1 <= int(found["year"]) <= 9999:
        raise UnsupportedError(f"sql: a time out of range: value={word!r}; use years 1 to 9999")
    parts = [int(found[name] or 0) for name in ("year", "month", "day", "hour", "minute", "second")]
    rest = found["rest"] or ""
    if is_nano and rest[6:].strip("0"):
        raise UnsupportedError(f"sql: a time with nanoseconds: value={word!r}; use a column")
    year, month, day, hour, minute, second = parts
    micros = int(rest[:6].ljust(6, "0"))
    return datetime.datetime(year, month, day, hour, minute, second, micros)


def _in_unit(value: datetime.datetime, dtype: str) -> datetime.datetime:
    """A time to whole units of a dtype, halves away from 1970."""
    per = max(1, 10**6 // _unit(dtype))
    micros = (value - _EPOCH) // datetime.timedelta(microseconds=1)
    size = (abs(micros) + per // 2) // per * per
    return _EPOCH + datetime.timedelta(microseconds=size if micros >= 0 else -size)


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
        own_item, inner = item_dtype(own), item_dtype(dtype)
        return mapped(value, lambda items: cast(_typed(items.node, own_item), inner, or_null)).node
    if is_nested(own) and dtype == "string":
        return nested_text(value, cast)
    if own == "string":
        return _cast_strings(value, dtype, or_null)
    if dtype == "string":
        if own.startswith("datetime64"):
            return _time_text(node, own)
        if _is_fraction(own):
            return _fraction_text(node)
        if own == "bool":
            return where(run("is_null", node), None, where(node, "true", "false"))
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
        return _times(node, own, dtype)
    if is_struct(own) and is_struct(dtype):
        return _structs(value, dtype, or_null)
    raise TypeMismatchError(
        f"sql: the types do not cast: from={type_name(own)}, to={type_name(dtype)}; cast to "
        "VARCHAR first"
    )


def _unit(dtype: str) -> int:
    return _PER_SECOND[dtype[11:].partition(",")[0].rstrip("]")]


def _times(node: _core.Node, own: str, dtype: str) -> _core.Node:
    """Times in another unit: to a coarser one halves go away from 1970, as in DuckDB."""
    zoned = "," in own or "," in dtype
    if "date" in (own, dtype) or zoned or _unit(own) <= _unit(dtype):
        return _core.astype(node, dtype)
    per = _unit(own) // _unit(dtype)
    count = _core.retype(node, "int64")
    size = run("floor_divide", run("add", run("absolute", count), per // 2), per)
    moved = where(run("less", count, 0), run("negative", size), size)
    return _core.retype(moved, dtype)


def _time_text(node: _core.Node, own: str) -> _core.Node:
    """Times as DuckDB writes them: the parts of a second without zeros at their end."""
    if "," in own or own == "datetime64[ns]":
        raise UnsupportedError(f"sql: CAST to VARCHAR of this: type={type_name(own)}; use strftime")
    whole = _core.format_times(node, "%Y-%m-%d %H:%M:%S")
    if own == "datetime64[s]":
        return whole
    parts = _core.time_field(node, "microsecond")
    digits = _core.change_text("zfill", _core.astype(parts, "string"), 6)
    more = _core.concatenate_text([whole, ".", _core.strip_text(digits, False, True, "0")])
    return where(run("equal", parts, 0), whole, more)


def _fraction_text(node: _core.Node) -> _core.Node:
    """Decimals less than 1 without the 0 before their point."""
    text = _core.astype(node, "string")
    short = _core.concatenate_text(["-", _core.slice_text(text, 2, None, 1)])
    return where(run("less", node, 0), short, _core.slice_text(text, 1, None, 1))


def _typed(node: _core.Node, dtype: str) -> Value:
    """A part of nested values, which may have NULL's type."""
    return Value(node, dtype, 64) if dtype == NULL or is_nested(dtype) else value_of(node)


def _structs(value: Value, dtype: str, or_null: bool) -> _core.Node:
    """Structs field by field: rows by places, others by names, null for none."""
    own, wanted = struct_fields(value.dtype), struct_fields(dtype)
    sources: list[tuple[str, str] | None]
    if is_row(value.dtype) or is_row(dtype):
        sources = [*own] if len(own) == len(wanted) else []
    else:
        known = {name.lower(): (name, inner) for name, inner in own}
        sources = [known.get(name.lower()) for name, _ in wanted]
    if not any(sources):
        raise TypeMismatchError(
            f"sql: the structs have no field in common: from={type_name(value.dtype)}, "
            f"to={type_name(dtype)}"
        )
    nodes = []
    for source, (_, inner) in zip(sources, wanted, strict=True):
        part: Operand = Constant(None, inner)
        if source is not None:
            part = cast(
                _typed(_core.struct_field(value.node, source[0]), source[1]), inner, or_null
            )
        nodes.append(column_of(part, value.node, stored_dtype(inner)))
    return null_where_null(_core.structs_of([name for name, _ in wanted], nodes), value)


def _to_decimals(node: _core.Node, own: str, dtype: str) -> _core.Node:
    if is_decimal(own) and precision_and_scale(own)[1] > precision_and_scale(dtype)[1]:
        return _core.astype(half_up(node, precision_and_scale(dtype)[1]), dtype)
    return _core.astype(node, dtype)


def half_up(node: _core.Node, digits: int) -> _core.Node:
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
        node = half_up(node, 0)
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


def _cast_strings(value: Value, dtype: str, or_null: bool) -> _core.Node:
    node = value.node
    if is_nested(dtype):
        raise ConstantExpectedError(value, "CAST")
    if dtype in FLOATS:
        return _core.astype(_core.to_numeric(node, True) if or_null else node, dtype)
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
    if dtype == "bool":
        return _bools(_core.change_case("lower", node), or_null)
    raise UnsupportedError(f"sql: CAST of strings: to={type_name(dtype)}")


def _bools(text: _core.Node, or_null: bool) -> _core.Node:
    """The words for true and false; others are null or an error."""

    def among(words: list[str]) -> _core.Node:
        held = _core.data(_core.column_from_list(words, "string"), "words", 0)
        return _core.in_domain(_core.is_in(text, held), text.domain)

    yes, no = among(["true", "t", "1", "yes", "y"]), among(["false", "f", "0", "no", "n"])
    null = run("is_null", text)
    if or_null:
        return where(run("logical_or", yes, no), yes, None)
    known = run("logical_or", run("logical_or", yes, no), null)
    # A cast of infinity to an integer is the engine's error with the row.
    checked = _core.astype(where(known, 0.0, float("inf")), "int64")
    return where(null, None, run("logical_and", yes, run("equal", checked, 0)))


def common(operands: list[Operand], word: str) -> tuple[str, list[Operand]]:
    """The operands in the dtype that they have in common, and which it is."""
    dtype = common_dtype(operands, word)
    if dtype == NULL:
        return dtype, operands
    return dtype, [each if each.dtype == dtype else cast(each, dtype) for each in operands]
