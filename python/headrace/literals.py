# SPDX-License-Identifier: Apache-2.0
"""Scalars of Python, NumPy and pandas as literals of the engine, which has the rules of types."""

from __future__ import annotations

import datetime
import decimal
from typing import Any

from headrace import _core
from headrace.array.construct import asarray
from headrace.errors import InvalidArgumentError, TypeMismatchError, UnsupportedError
from headrace.lazy.handle import Deferred
from headrace.rows import is_missing
from headrace.series.calendar_offset import calendar_span
from headrace.series.timezone import know_zone
from headrace.time_units import UNITS, coarsest, is_span, scale, span
from headrace.zone_names import name_of

#: Reflected methods that Python and NumPy try if an operand is unknown to us.
_OPERATORS = (
    *("add", "subtract", "multiply", "divide", "floor_divide", "remainder", "power"),
    *("bitwise_and", "bitwise_or", "bitwise_xor", "left_shift", "right_shift"),
    *("equal", "not_equal", "less", "less_equal", "greater", "greater_equal"),
)
_SECOND = 10**9
_EPOCH = datetime.datetime(1970, 1, 1)


def operand(op: str, value: Any, values: tuple[Any, ...]) -> Any:
    """A value that the engine does not read itself, as a literal or a node.

    Raises for others, but None where Python has another operand to try. Arrays hold numbers.
    """
    if type(value).__module__ == "numpy" and not getattr(value, "ndim", 1):
        value = value[()]  # of the arrays without dimensions that NumPy's operators pass
    with_series = any(getattr(each, "_kind", "") == "series" for each in values)
    if with_series and (typed := _typed(op, value, values)) is not None:
        return typed
    if op == "where" and is_missing(value):
        return _core.null_literal()
    if isinstance(value, float) and type(value).__module__ != "numpy":
        return _core.scalar(value)
    if isinstance(value, complex) and type(value).__module__ != "numpy" and not with_series:
        return _complex_number(value, values)
    if type(value).__module__ == "numpy" or hasattr(value, "__array_interface__"):
        return _of_numpy(op, value, with_series)
    if op in _OPERATORS:
        return None
    raise TypeMismatchError(
        f"{op}: unsupported operand: type={type(value).__name__!r}; convert it to a Series first"
    )


def _complex_number(value: complex, values: tuple[Any, ...]) -> Any:
    """A complex number of 64 bits next to arrays of floats of 32 bits, else of 128."""
    dtypes = [each._node.dtype for each in values if isinstance(each, Deferred)]
    narrow = all(dtype in ("float32", "complex64") for dtype in dtypes)
    number = asarray(value)
    return number.astype("complex64")._node if narrow else number._node


def _typed(op: str, value: Any, values: tuple[Any, ...]) -> Any:
    """The literal of a decimal, a time or a span of time; None for anything else."""
    if isinstance(value, decimal.Decimal):
        return _core.decimal_literal(f"{value:f}")
    if is_span(value):
        return _core.duration_literal(*divmod(span(value), _SECOND))
    if op in ("add", "subtract") and (by := calendar_span(op, value)) is not None:
        return _calendar(by, values)
    return _moment(value)


def _of_numpy(op: str, value: Any, with_series: bool) -> Any:
    """A number with its dtype, or an array."""
    if not getattr(value, "ndim", 1):
        dtype = value.dtype
        if with_series and dtype.kind in "iuf":  # as pandas: they bring no dtype
            return _core.scalar(value.item())
        if dtype.kind in "biuf" and dtype.itemsize <= 8 and dtype.name != "float16":
            return _core.number_literal(value.item(), dtype.name)
    try:
        return asarray(value)._node
    except UnsupportedError as error:
        if with_series:
            raise TypeMismatchError(f"{op}: {error}") from None
        raise


def _calendar(by: tuple[int, int], values: tuple[Any, ...]) -> Any:
    """Months and nanoseconds; the engine needs the rules of the zone that they move in."""
    for value in values:
        if isinstance(value, Deferred):
            know_zone(value._node.dtype)
    months, nanoseconds = by
    if max(abs(months), abs(nanoseconds) // _SECOND) >= 2**63:
        raise InvalidArgumentError(
            f"add_months: the offset exceeds the dtype's range: months={months}, "
            f"nanoseconds={nanoseconds}; pass fewer months"
        )
    return _core.calendar_literal(months, *divmod(nanoseconds, _SECOND))


def _moment(value: Any) -> Any:
    """The literal of a date or time; None for anything else, and for NaT."""
    import numpy as np

    zone = ""
    if isinstance(value, np.datetime64):
        if np.isnat(value):
            return None
        unit = np.datetime_data(value.dtype)[0]
        if unit not in UNITS:
            value, unit = value.astype("datetime64[D]"), "D"
        ns = int(value.astype("int64")) * scale(unit, "ns")
    elif isinstance(value, datetime.date):
        if value != value:  # noqa: PLR0124 (NaT)
            return None
        if isinstance(value, datetime.datetime):
            zone = _zone(value)
            since = value - (_EPOCH.replace(tzinfo=datetime.UTC) if zone else _EPOCH)
        else:
            since = value - _EPOCH.date()
        ns = span(since)
        unit = coarsest(ns)
    else:
        return None
    if zone:
        dtype = f"datetime64[{'s' if unit == 'D' else unit}, {zone}]"
    else:
        dtype = "date" if unit == "D" else f"datetime64[{unit}]"
    return _core.time_literal(*divmod(ns, _SECOND), dtype)


def _zone(value: datetime.datetime) -> str:
    """The zone of a time, in UTC if its zone has no name; empty for a naive one."""
    if value.tzinfo is None:
        return ""
    try:
        return name_of(value.tzinfo)
    except TypeMismatchError:
        return "UTC"
