# SPDX-License-Identifier: Apache-2.0
"""Errors for operands whose type does not match a column."""

from __future__ import annotations

import datetime
import decimal
from typing import Any

from headrace.deferred import Deferred
from headrace.errors import TypeMismatchError

_FIXES = {
    "text": "pass a string, or convert the column with hr.to_numeric",
    "time": "pass a date or a time, or an ISO string",
    "duration": "pass a datetime.timedelta",
    "decimal": "pass a decimal or an integer",
    "number": "pass a number, or convert the column with astype('string')",
}
_PLAIN = {str: "text", datetime.date: "time", datetime.timedelta: "duration"}
_OF_NUMPY = {"M": "time", "m": "duration", "U": "text"}


def _kind_of(value: Any) -> str | None:
    """The kind of these values; None for anything else."""
    if isinstance(value, Deferred):
        word = value._node.dtype
        for start, kind in (("date", "time"), ("timedelta", "duration"), ("decimal", "decimal")):
            if word.startswith(start):
                return kind
        return "text" if word in ("string", "category") else "number"
    if type(value).__module__ == "numpy":
        return _OF_NUMPY.get(value.dtype.kind, "number") if hasattr(value, "dtype") else None
    for python, kind in _PLAIN.items():
        if isinstance(value, python):
            return kind
    if isinstance(value, decimal.Decimal):
        return "decimal"
    return "number" if isinstance(value, bool | int | float) else None


def refuse_misfit(op: str, values: tuple[Any, ...]) -> None:
    """Raise if a value is of another kind than the column."""
    sides = values[1:] if op == "where" else values
    column = next((side for side in sides if getattr(side, "_kind", "") == "series"), None)
    if column is None:
        return
    kind = _kind_of(column)
    fix = _FIXES[kind or "number"]
    for side in sides:
        if side is column or _kind_of(side) in (None, kind):
            continue
        words = f"column={column.name!r}, dtype={str(column.dtype)!r}"
        if isinstance(side, Deferred):
            raise TypeMismatchError(
                f"{op}: the dtypes cannot be combined: {words}, "
                f"other={getattr(side, 'name', None)!r}, other_dtype={str(side.dtype)!r}; use "
                "astype on one of them"
            )
        raise TypeMismatchError(
            f"{op}: the value does not match the column's dtype: {words}, value={side!r}; {fix}"
        )
