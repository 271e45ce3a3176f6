# SPDX-License-Identifier: Apache-2.0
"""Values of SQL expressions: columns of a relation, and constants; their types and conversions."""

from __future__ import annotations

import datetime
import decimal
import re
from collections.abc import Sequence
from typing import Any, NamedTuple

from headrace import _core
from headrace.errors import TypeMismatchError, UnsupportedError

#: Digits of integers as decimals, and bits of their magnitudes.
_INTEGER_DIGITS = {"int8": 3, "int16": 5, "int32": 10, "int64": 19}
_INTEGER_DIGITS |= {"uint8": 3, "uint16": 5, "uint32": 10, "uint64": 20}
_BITS = {"int8": 7, "int16": 15, "int32": 31, "int64": 63}
_BITS |= {"uint8": 8, "uint16": 16, "uint32": 32, "uint64": 64}
INTEGERS = frozenset(_BITS)
FLOATS = frozenset(("float32", "float64"))
NULL = "null"
#: NULL's type within lists and structs, which the engine has not: SQL has no complex numbers.
_NULL_INSIDE = "complex64"
TIMESTAMP = "datetime64[us]"
_MOST_DIGITS = 38


class Value(NamedTuple):
    """A column. Its numbers are less than 2 to the power `bits` where they are integers."""

    node: _core.Node
    dtype: str
    bits: int = 64


class Constant(NamedTuple):
    """A number, string, date, time, interval or None. An untyped string takes any type."""

    value: Any
    dtype: str
    untyped: bool = False


Operand = Value | Constant
NOTHING = Constant(None, NULL)


class ConstantExpectedError(UnsupportedError):
    """A column stands where a function takes a constant."""

    def __init__(self, operand: Value, word: str) -> None:
        super().__init__(f"sql: a column is not supported here: word={word!r}; pass a constant")
        self.operand: Value = operand


class Interval(NamedTuple):
    """Months of the calendar, then a span of time."""

    months: int = 0
    microseconds: int = 0


def value_of(node: _core.Node, bits: int = 64) -> Value:
    """A column as a value of its own dtype."""
    dtype = node.dtype
    if dtype in _BITS:
        bits = min(bits, _BITS[dtype])
    return Value(node, dtype, bits)


def constant_of(value: Any) -> Constant:
    """The constant of a Python value."""
    if value is None:
        return NOTHING
    if isinstance(value, bool):
        return Constant(value, "bool")
    if isinstance(value, int):
        if -(2**31) <= value < 2**31:
            return Constant(value, "int32")
        if -(2**63) <= value < 2**63:
            return Constant(value, "int64")
        digits = len(str(abs(value)))
        if digits > _MOST_DIGITS:
            raise UnsupportedError(f"sql: an integer of over 38 digits: word='HUGEINT', {value=}")
        return Constant(decimal.Decimal(value), f"decimal128({digits}, 0)")
    if isinstance(value, float):
        return Constant(value, "float64")
    if isinstance(value, decimal.Decimal):
        return Constant(value, decimal_dtype(*digits_of_decimal(value)))
    if isinstance(value, datetime.datetime):
        if value.tzinfo is not None:
            raise UnsupportedError("sql: a constant with a time zone: value=...; use a column")
        return Constant(value, TIMESTAMP)
    if isinstance(value, datetime.date):
        return Constant(value, "date")
    if isinstance(value, Interval):
        return Constant(value, "interval")
    if isinstance(value, datetime.timedelta):
        return Constant(Interval(0, value // datetime.timedelta(microseconds=1)), "interval")
    if isinstance(value, str):
        return Constant(value, "string")
    raise UnsupportedError(
        f"sql: unsupported value: type={type(value).__name__!r}; pass numbers, strings or dates"
    )


def digits_of_decimal(value: decimal.Decimal) -> tuple[int, int]:
    """Precision and scale of a decimal number as it is written."""
    _, digits, exponent = value.as_tuple()
    scale = max(0, -exponent) if isinstance(exponent, int) else 0
    before = len(digits) + (exponent if isinstance(exponent, int) else 0)
    return max(1, scale + max(0, before)), scale


def decimal_dtype(precision: int, scale: int) -> str:
    """The name of a decimal dtype, of 38 digits at most."""
    return f"decimal128({min(_MOST_DIGITS, precision)}, {scale})"


def is_decimal(dtype: str) -> bool:
    """Whether this is a dtype of decimals."""
    return dtype.startswith("decimal")


def precision_and_scale(dtype: str) -> tuple[int, int]:
    """Of decimals, and of integers as decimals."""
    if dtype in _INTEGER_DIGITS:
        return _INTEGER_DIGITS[dtype], 0
    precision, scale = dtype.partition("(")[2].rstrip(")").split(",")
    return int(precision), int(scale)


def is_number(dtype: str) -> bool:
    """Integers, floats and decimals."""
    return dtype in INTEGERS or dtype in FLOATS or is_decimal(dtype)


def is_time(dtype: str) -> bool:
    """Dates and timestamps."""
    return dtype == "date" or dtype.startswith("datetime64")


def is_list(dtype: str) -> bool:
    """Lists of anything."""
    return dtype.startswith("list[")


def item_dtype(dtype: str) -> str:
    """Of the items of lists."""
    return NULL if dtype[5:-1] == _NULL_INSIDE else dtype[5:-1]


def list_dtype(item: str) -> str:
    """Of lists of such items."""
    return f"list[{_NULL_INSIDE if item == NULL else item}]"


def struct_fields(dtype: str) -> list[tuple[str, str]]:
    """The names and dtypes of the fields of structs."""
    fields = _core.dtype_fields(dtype)
    return [(name, NULL if d == _NULL_INSIDE else d) for name, d in fields]


def struct_dtype(fields: Sequence[tuple[str, str]]) -> str:
    """Of structs with these fields."""
    words = [
        f"{_quoted(name)}: {_NULL_INSIDE if dtype == NULL else dtype}" for name, dtype in fields
    ]
    return f"struct[{', '.join(words)}]"


def _quoted(name: str) -> str:
    """A name as the engine's dtypes have it."""
    if re.fullmatch(r"[A-Za-z0-9_\x80-\U0010ffff]+", name):
        return name
    marked = re.sub(r'["\\]', r"\\\g<0>", name)
    return '"' + re.sub(r"[\x00-\x1f]", lambda c: f"\\x{ord(c[0]):02x}", marked) + '"'


def stored_dtype(dtype: str) -> str:
    """The dtype of the engine's columns: NULL's type is that of integers."""
    if is_list(dtype):
        return list_dtype(stored_dtype(item_dtype(dtype)))
    if is_struct(dtype):
        return struct_dtype([(name, stored_dtype(inner)) for name, inner in struct_fields(dtype)])
    return "int32" if dtype == NULL else dtype


def is_struct(dtype: str) -> bool:
    """Structs."""
    return dtype.startswith("struct[")


def is_row(dtype: str) -> bool:
    """Rows: structs whose fields have the names that DuckDB gives them in Arrow."""
    if not is_struct(dtype):
        return False
    return all(name == f"element{i}" for i, (name, _) in enumerate(struct_fields(dtype), 1))


def is_nested(dtype: str) -> bool:
    """Lists and structs."""
    return is_list(dtype) or is_struct(dtype)


def type_name(dtype: str) -> str:
    """What SQL calls a dtype, for errors and DESCRIBE."""
    if is_list(dtype):
        return f"{type_name(item_dtype(dtype))}[]"
    if is_row(dtype):
        return f"TUPLE({', '.join(type_name(d) for _, d in struct_fields(dtype))})"
    if is_struct(dtype):
        fields = ", ".join(f"{_identifier(n)} {type_name(d)}" for n, d in struct_fields(dtype))
        return f"STRUCT({fields})"
    names = {"int8": "TINYINT", "int16": "SMALLINT", "int32": "INTEGER", "int64": "BIGINT"}
    names |= {"uint8": "UTINYINT", "uint16": "USMALLINT", "uint32": "UINTEGER"}
    names |= {"uint64": "UBIGINT", "float32": "FLOAT", "float64": "DOUBLE", "bool": "BOOLEAN"}
    names |= {"string": "VARCHAR", "date": "DATE", NULL: "NULL", "interval": "INTERVAL"}
    if is_decimal(dtype):
        precision, scale = precision_and_scale(dtype)
        return f"DECIMAL({precision},{scale})"
    if dtype.startswith("datetime64"):
        units = {"s": "_S", "ms": "_MS", "ns": "_NS"}
        unit = units.get(dtype[11:].rstrip("]"), "")
        return "TIMESTAMP WITH TIME ZONE" if "," in dtype else f"TIMESTAMP{unit}"
    if dtype.startswith("timedelta64"):
        return "INTERVAL"
    return names.get(dtype, dtype.upper())


#: Words that are names in quotes only.
_WORDS = """
    all analyse analyze and any array as asc asymmetric both case cast check collate column
    constraint create default deferrable desc describe distinct do else end except false fetch for
    foreign from group having in initially intersect into lambda lateral leading limit not null
    offset on only or order pivot pivot_longer pivot_wider placing primary qualify references
    returning select show some summarize symmetric table then to trailing true union unique unpivot
    using variadic when where window with
"""
_RESERVED = frozenset(_WORDS.split())


def _identifier(name: str) -> str:
    """A name as SQL has it, in quotes where it needs them."""
    if re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", name) and name.lower() not in _RESERVED:
        return name
    return '"' + name.replace('"', '""') + '"'


def common_dtype(operands: Sequence[Operand], word: str) -> str:
    """The dtype that all convert to without an explicit cast."""
    found = NULL
    for each in operands:
        if each.dtype == NULL or (isinstance(each, Constant) and each.untyped):
            continue
        found = each.dtype if found == NULL else _common(found, each.dtype, word)
    untyped = any(isinstance(each, Constant) and each.untyped for each in operands)
    return "string" if found == NULL and untyped else found


def _common(a: str, b: str, word: str) -> str:
    if b in (a, NULL):
        return a
    if a == NULL:
        return b
    if is_number(a) and is_number(b):
        if a in FLOATS or b in FLOATS:
            return a if b not in FLOATS and a == "float32" and b in ("int8", "int16") else "float64"
        if a in INTEGERS and b in INTEGERS:
            return _common_integer(a, b)
        (pa, sa), (pb, sb) = precision_and_scale(a), precision_and_scale(b)
        scale, before = max(sa, sb), max(pa - sa, pb - sb)
        if before + scale > _MOST_DIGITS:
            return "float64"
        return decimal_dtype(before + scale, scale)
    if is_nested(a) and is_nested(b):
        return _common_nested(a, b, word)
    if "bool" in (a, b) and (a in INTEGERS or b in INTEGERS):
        return b if a == "bool" else a
    if is_time(a) and is_time(b) and ("," in a) == ("," in b):
        if "date" in (a, b):
            return b if a == "date" else a
        units = ("s", "ms", "us", "ns")
        return max(a, b, key=lambda dtype: units.index(dtype[11:].split(",")[0].rstrip("]")))
    raise TypeMismatchError(
        f"sql: these types have no common one: operation={word!r}, left={type_name(a)}, "
        f"right={type_name(b)}; use CAST on one of them"
    )


def _common_nested(a: str, b: str, word: str) -> str:
    if is_list(a) and is_list(b):
        return list_dtype(_common(item_dtype(a), item_dtype(b), word))
    if is_struct(a) and is_struct(b):
        ours, theirs = struct_fields(a), struct_fields(b)
        names = [name for name, _ in (theirs if is_row(a) else ours)]
        mixed = is_row(a) != is_row(b) and len(ours) == len(theirs)
        if mixed or [name for name, _ in ours] == [name for name, _ in theirs]:
            dtypes = [_common(d, e, word) for (_, d), (_, e) in zip(ours, theirs, strict=True)]
            return struct_dtype(list(zip(names, dtypes, strict=True)))
    raise TypeMismatchError(
        f"sql: these types have no common one: operation={word!r}, left={type_name(a)}, "
        f"right={type_name(b)}"
    )


def _common_integer(a: str, b: str) -> str:
    signed_a, signed_b = a.startswith("i"), b.startswith("i")
    if signed_a == signed_b:
        return max(a, b, key=lambda dtype: _BITS[dtype])
    unsigned = _BITS[b if signed_a else a]
    if unsigned >= 64:
        return "decimal128(20, 0)"
    wanted = max(unsigned + 1, _BITS[a if signed_a else b] + 1)
    return next(name for name in ("int16", "int32", "int64") if _BITS[name] + 1 >= wanted)


def null_column(like: _core.Node, dtype: str) -> _core.Node:
    """Nulls of a dtype for the rows of a node."""
    if is_nested(dtype):
        column = _core.column_from_list([None], stored_dtype(dtype))
        single = _core.data(column, "null", _core.new_domain())
        return _core.in_domain(_core.take(single, _core.repeat(like, 0)), like.domain)
    made = _core.shift(_core.repeat(like, 0), 1 << 62)
    if dtype in (NULL, made.dtype):
        return made
    if is_time(dtype) or dtype.startswith("timedelta64"):
        return _core.retype(_core.astype(made, "int32" if dtype == "date" else "int64"), dtype)
    return _core.astype(made, dtype)


def column_of(operand: Operand, like: _core.Node, dtype: str = "") -> _core.Node:
    """The operand as a column of the rows of `like`."""
    if isinstance(operand, Value):
        return operand.node
    value = operand.value
    wanted = dtype or operand.dtype
    if value is None or wanted == NULL:
        return null_column(like, "int32" if wanted == NULL else wanted)
    if wanted == "interval":
        if value.months:
            raise UnsupportedError(
                "sql: unsupported column type: INTERVAL of months; add it to a date instead"
            )
        return _core.retype(_core.repeat(like, value.microseconds), "timedelta64[us]")
    if isinstance(value, (bool | float | str, int)):
        made = _core.repeat(like, value)
    elif isinstance(value, decimal.Decimal):
        made = _core.astype(_core.repeat(like, f"{value:f}"), operand.dtype)
    elif isinstance(value, datetime.datetime):
        made = _core.astype(_core.repeat(like, value.isoformat(" ")), operand.dtype)
    else:
        made = _core.astype(_core.repeat(like, value.isoformat()), "date")
    return made if made.dtype == wanted else _core.astype(made, wanted)


def column_value(operand: Operand, like: _core.Node) -> Value:
    """The operand as a column; nulls without a type keep that they have none."""
    if isinstance(operand, Value):
        return operand
    node = column_of(operand, like)
    return Value(node, operand.dtype, 64) if operand.dtype == NULL else value_of(node)
