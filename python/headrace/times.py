# SPDX-License-Identifier: Apache-2.0
"""Dates and timestamps as operands, and what the calendar says of them: `Series.dt`."""

from __future__ import annotations

import datetime
from typing import TYPE_CHECKING, Any

from headrace import _core
from headrace.deferred import Deferred, mark
from headrace.durations import (
    DAY,
    UNITS,
    coarsest,
    counts,
    durations_node,
    is_duration,
    is_span,
    scale,
    span,
    span_counts,
    span_unit,
    unit_of,
)
from headrace.errors import InvalidArgumentError, TypeMismatchError
from headrace.time_texts import TimeTexts

if TYPE_CHECKING:
    from headrace.series import Series

#: Nanoseconds of what `floor` takes.
_STEPS = {
    "D": DAY * 10**9,
    "h": 3600 * 10**9,
    "min": 60 * 10**9,
    "s": 10**9,
    "ms": 10**6,
    "us": 10**3,
    "ns": 1,
}
_STARTS = {"MS": "month_start", "QS": "quarter_start", "YS": "year_start"}
_COMPARISONS = ("equal", "not_equal", "less", "less_equal", "greater", "greater_equal")
#: Operators that give one of their last two values.
_CHOICES = ("where", "fill_null", "maximum", "minimum")
_MONDAY = 3  # 1970-01-01 was a Thursday


def _dtype(unit: str) -> str:
    return "date" if unit == "D" else f"datetime64[{unit}]"


def _moment(value: Any) -> tuple[int, str] | None:
    """Nanoseconds since 1970 of a date or time, and its own unit; None for anything else."""
    import numpy as np

    if isinstance(value, str):
        try:
            value = datetime.datetime.fromisoformat(value)
        except ValueError:
            return None
    if isinstance(value, np.datetime64):
        if np.isnat(value):
            return None
        unit = np.datetime_data(value.dtype)[0]
        if unit not in UNITS:
            value, unit = value.astype("datetime64[D]"), "D"
        return int(value.astype("int64")) * scale(unit, "ns"), unit
    if isinstance(value, datetime.datetime):
        if value.tzinfo is not None:
            raise TypeMismatchError(
                f"datetime: columns have no zone: value={value!r}; use replace(tzinfo=None)"
            )
        since = value - datetime.datetime(1970, 1, 1)
    elif isinstance(value, datetime.date):
        since = value - datetime.date(1970, 1, 1)
    else:
        return None
    ns = span(since)
    return ns, coarsest(ns)


def is_time(value: Any) -> bool:
    """A column of dates or timestamps."""
    return isinstance(value, Deferred) and value._node.dtype.startswith(("date",))


def _as_it_is(column: Deferred, unit: str) -> Any:
    """The same to be compared and chosen from, not computed with: days stay int32."""
    from headrace.series import Series

    days = unit == "D" and unit_of(column._node.dtype) == "D"
    return Series(_core.retype(column._node, "int32")) if days else counts(column, unit)


def _in_common(sides: tuple[Any, ...], least: str = "D") -> tuple[list[_core.Node], str] | None:
    """Counts of times in the coarsest unit that holds all of them; None where a side is no time."""
    moments = [None if is_time(side) else _moment(side) for side in sides]
    units = [least]
    for moment, side in zip(moments, sides, strict=True):
        if moment is None and not is_time(side):
            return None
        units.append(moment[1] if moment else unit_of(side._node.dtype))
    unit = max(units, key=UNITS.index)
    counts = [
        _core.scalar(moment[0] // scale(unit, "ns")) if moment else _as_it_is(side, unit)._node
        for moment, side in zip(moments, sides, strict=True)
    ]
    return counts, unit


def times_node(op: str, values: tuple[Any, ...]) -> _core.Node | None:
    """The node of an operator on dates and timestamps, or None for what takes none."""
    if not any(map(is_time, values)):
        return durations_node(op, values)
    if op == "add" and (is_span(values[0]) or is_duration(values[0])):
        values = values[::-1]
    if op in ("add", "subtract") and is_span(values[1]):
        return _moved(values[0], values[1], 1 if op == "add" else -1)
    if op in ("add", "subtract") and is_duration(values[1]):
        return _moved_each(values[0], values[1], 1 if op == "add" else -1)
    if op == "subtract":
        found = _in_common(values, "s")
        if not found:
            return None
        counted, unit = found
        return _core.retype(_core.elementwise(op, counted, None), f"timedelta64[{unit}]")
    if op not in _COMPARISONS and op not in _CHOICES:
        return None
    found = _in_common(values[-2:])
    if not found:
        return None
    counts, unit = found
    if op in _COMPARISONS:
        return _core.elementwise(op, counts, None)
    node = _core.elementwise(op, [*(value._node for value in values[:-2]), *counts], None)
    return _core.retype(
        _core.elementwise("cast", [node], "int32" if unit == "D" else "int64"), _dtype(unit)
    )


def _moved(column: Deferred, span: Any, sign: int) -> _core.Node:
    """The node of a column of times that much later; dates stay dates for whole days."""
    ns = span(span)
    unit = max(unit_of(column._node.dtype), coarsest(ns), key=UNITS.index)
    moved = counts(column, unit) + sign * (ns // scale(unit, "ns"))
    if unit == "D":
        moved = moved.astype("int32")
    return _core.retype(moved._node, _dtype(unit))


def converted(column: Deferred, dtype: str) -> _core.Node:
    """The node of dates or times in another unit; a coarser one rounds down."""
    own, unit = unit_of(column._node.dtype), unit_of(dtype)
    if UNITS.index(unit) >= UNITS.index(own):
        whole = counts(column, unit)
    else:
        whole = counts(column, own) // scale(unit, own)
    return _core.retype(whole.astype("int32" if unit == "D" else "int64")._node, dtype)


def _moved_each(times: Any, durations: Any, sign: int) -> _core.Node | None:
    """The node of times that much later each; dates become timestamps."""
    moment = None if is_time(times) else _moment(times)
    if moment is None and not is_time(times):
        return None
    own = moment[1] if moment else unit_of(times._node.dtype)
    unit = max(own, span_unit(durations), key=UNITS.index)
    start = moment[0] // scale(unit, "ns") if moment else counts(times, unit)
    moved = start + sign * span_counts(durations, unit)
    return _core.retype(moved._node, _dtype(unit))


class TimeAccessor(TimeTexts):
    """What the calendar says of each date or timestamp; null where it is null.

    Numbers are int32, as in pandas. Timestamps have no zone.
    """

    __slots__ = ("_series", "_unit")

    def __init__(self, series: Series) -> None:
        if not is_time(series):
            raise TypeMismatchError(
                f"dt: not a column of dates or timestamps: dtype={str(series.dtype)!r}; "
                "use astype('date') first"
            )
        self._series = series
        self._unit = unit_of(series._node.dtype)

    def _made(self, node: _core.Node) -> Series:
        series: Series = self._series._like(node)
        return series

    def _field(self, name: str) -> Series:
        mark("dt")
        return self._made(_core.date_field(self._series._node, name))

    def _part(self, step: int, count: int) -> Series:
        """How many steps of nanoseconds the time of day has, modulo `count`."""
        mark("dt")
        own = scale(self._unit, "ns")
        whole = counts(self._series, self._unit)
        steps = whole // (step // own) if step >= own else whole * (own // step)
        return self._made((steps % count).astype("int32")._node)

    @property
    def year(self) -> Series:
        """The year."""
        return self._field("year")

    @property
    def month(self) -> Series:
        """The month, 1 to 12."""
        return self._field("month")

    @property
    def day(self) -> Series:
        """The day of the month, 1 to 31."""
        return self._field("day")

    @property
    def day_of_year(self) -> Series:
        """The day of the year, 1 to 366."""
        return self._field("day_of_year")

    dayofyear = day_of_year

    @property
    def days_in_month(self) -> Series:
        """Days of the month, 28 to 31."""
        return self._field("days_in_month")

    @property
    def quarter(self) -> Series:
        """The quarter of the year, 1 to 4."""
        return ((self.month + 2) // 3).astype("int32")

    @property
    def day_of_week(self) -> Series:
        """The day of the week: 0 is Monday, 6 Sunday."""
        mark("dt")
        per_day = scale("D", self._unit)
        days = counts(self._series, self._unit) // per_day
        return self._made(((days + _MONDAY) % 7).astype("int32")._node)

    dayofweek = weekday = day_of_week

    @property
    def hour(self) -> Series:
        """Hours of the day, 0 to 23; 0 of dates."""
        return self._part(_STEPS["h"], 24)

    @property
    def minute(self) -> Series:
        """Minutes of the hour, 0 to 59."""
        return self._part(_STEPS["min"], 60)

    @property
    def second(self) -> Series:
        """Seconds of the minute, 0 to 59."""
        return self._part(_STEPS["s"], 60)

    @property
    def microsecond(self) -> Series:
        """Microseconds of the second, 0 to 999,999."""
        return self._part(_STEPS["us"], 10**6)

    @property
    def nanosecond(self) -> Series:
        """Nanoseconds of the microsecond, 0 to 999."""
        return self._part(1, 1000)

    @property
    def date(self) -> Series:
        """The day, as a date."""
        mark("dt")
        if self._unit == "D":
            return self._series
        days = counts(self._series, self._unit) // scale("D", self._unit)
        node = _core.retype(days.astype("int32")._node, "date")
        return self._made(node)

    def floor(self, freq: str) -> Series:
        """The start of the period that a time lies in.

        Parameters
        ----------
        freq : {"D", "h", "min", "s", "ms", "us", "ns", "MS", "QS", "YS"}
            Day to nanosecond: the dtype stays. Month, quarter or year: a date.

        >>> import datetime
        >>> import headrace as hr
        >>> hr.Series([datetime.date(2024, 2, 29)]).dt.floor("MS").to_list()
        [datetime.date(2024, 2, 1)]
        """
        if freq in _STARTS:
            return self._field(_STARTS[freq])
        if freq not in _STEPS:
            raise InvalidArgumentError(
                f"floor: no such period: freq={freq!r}; pass {', '.join((*_STEPS, *_STARTS))}"
            )
        mark("dt")
        own = scale(self._unit, "ns")
        by = _STEPS[freq] // own
        if by <= 1:
            return self._series
        whole = counts(self._series, self._unit)
        node = (whole - whole % by)._node
        return self._made(_core.retype(node, self._series._node.dtype))
