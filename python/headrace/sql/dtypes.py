# SPDX-License-Identifier: Apache-2.0
"""Types and intervals as they are written in SQL."""

from __future__ import annotations

import decimal
from typing import Any

from headrace.errors import InvalidArgumentError, UnsupportedError
from headrace.sql.values import TIMESTAMP, Interval, decimal_dtype, list_dtype, struct_dtype

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
        return list_dtype(dtype_of(kind.expressions[0]))
    if word == "STRUCT" and kind.expressions and not kind.args.get("values"):
        fields = [(each.name, each.args.get("kind")) for each in kind.expressions]
        if all(inside is not None for _, inside in fields):
            return struct_dtype([(name, dtype_of(inside)) for name, inside in fields])
    if word not in _TYPES or kind.args.get("nested"):
        raise UnsupportedError(f"sql: unsupported type: type={kind.sql('duckdb')!r}")
    return _TYPES[word]


# ---- intervals -----------------------------------------------------------------------------------

_MONTHS = {"year": 12, "quarter": 3, "month": 1, "decade": 120, "century": 1200}
_MICROSECONDS = {
    **{"week": 7 * 86_400_000_000, "day": 86_400_000_000, "hour": 3_600_000_000},
    **{"minute": 60_000_000, "second": 1_000_000, "millisecond": 1000, "microsecond": 1},
}


def interval(amount: str, unit: str) -> Interval:
    """An amount of a unit."""
    count = decimal.Decimal(amount.strip())
    if unit in _MONTHS:
        months = count * _MONTHS[unit]
        if months != int(months):
            raise UnsupportedError(f"sql: INTERVAL of a part of a month: amount={amount!r}")
        return Interval(int(months), 0)
    if unit not in _MICROSECONDS:
        raise UnsupportedError(f"sql: unsupported unit of INTERVAL: unit={unit!r}")
    return Interval(0, int(count * _MICROSECONDS[unit]))


def interval_of_text(text: str) -> Interval:
    """As in '1 day 2 hours'."""
    words = text.split()
    if not words or len(words) % 2:
        raise UnsupportedError(f"sql: unsupported INTERVAL: text={text!r}; write '1' day")
    months = microseconds = 0
    for amount, unit in zip(words[::2], words[1::2], strict=True):
        part = interval(amount, unit.lower().rstrip("s"))
        months, microseconds = months + part.months, microseconds + part.microseconds
    return Interval(months, microseconds)
