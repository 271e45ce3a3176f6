# SPDX-License-Identifier: Apache-2.0
"""Element-wise operations of the engine by the null rules of SQL."""

from __future__ import annotations

import datetime
import decimal
from typing import Any

from headrace import _core
from headrace.errors import TypeMismatchError
from headrace.sql.values import Value

_EPOCH = datetime.datetime(1970, 1, 1)
_MICROSECOND = datetime.timedelta(microseconds=1)
#: Bits of the halves in which 64-bit integers are summed.
HALF = 32


def literal(value: Any) -> Any:
    """A Python value as the engine takes it next to a column."""
    if isinstance(value, decimal.Decimal):
        return _core.decimal_literal(f"{value:f}")
    if isinstance(value, datetime.timedelta):
        seconds, micros = divmod(value // _MICROSECOND, 10**6)
        return _core.duration_literal(seconds, micros * 1000)
    if isinstance(value, datetime.date):
        dtype = "datetime64[us]" if isinstance(value, datetime.datetime) else "date"
        moment = datetime.datetime(value.year, value.month, value.day)
        if isinstance(value, datetime.datetime):
            moment = value
        seconds, micros = divmod((moment - _EPOCH) // _MICROSECOND, 10**6)
        return _core.time_literal(seconds, micros * 1000, dtype)
    return value


def run(op: str, *operands: Any) -> _core.Node:
    """An operation of the engine by the rules of SQL, of nodes and Python values."""
    made = _core.apply(op, tuple(literal(each) for each in operands), three_valued=True)
    if made is None:
        raise TypeMismatchError(f"sql: the operation does not take these: operation={op!r}")
    return made


def bool_value(node: _core.Node) -> Value:
    """A column of bools."""
    return Value(node, "bool", 1)


def filled(node: _core.Node, value: bool | int) -> _core.Node:
    """Bools or numbers with another value for null."""
    if not node.nullable:
        return node
    return _core.elementwise("fill_null", [node, _core.scalar(value)])


def where(condition: _core.Node, yes: Any, no: Any) -> _core.Node:
    """`yes` where the condition is true, else `no`; these are nodes or values of one type."""
    null = _core.null_literal()
    return run("where", condition, null if yes is None else yes, null if no is None else no)


def halves_of(wide: _core.Node) -> tuple[_core.Node, _core.Node]:
    """The upper and lower 32 bits of 64: the sums of neither wrap."""
    return run("right_shift", wide, HALF), run("bitwise_and", wide, (1 << HALF) - 1)


def whole_of(high: _core.Node, low: _core.Node) -> _core.Node:
    """Both sums put together; an error where they do not fit into 64 bits."""
    carried = run("add", high, run("right_shift", low, HALF))
    rest = run("bitwise_and", low, (1 << HALF) - 1)
    shifted = _core.checked_arithmetic("multiply", carried, _core.scalar(1 << HALF))
    return run("add", shifted, rest)
