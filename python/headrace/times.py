# SPDX-License-Identifier: Apache-2.0
"""Date and timestamp operands, and the `Series.dt` accessor."""

from __future__ import annotations

import datetime
from typing import TYPE_CHECKING, Any

from headrace import _core
from headrace.calendar_spans import calendar_span
from headrace.deferred import Deferred, mark
from headrace.durations import (
    UNITS,
    coarsest,
    counts,
    durations_node,
    is_duration,
    is_span,
    of_counts,
    scale,
    span,
    span_counts,
    span_unit,
    unit_of,
    whole_of,
)
from headrace.errors import InvalidArgumentError, TypeMismatchError
from headrace.rounding import STEPS, multiples, step_of
from headrace.rows import whole_number
from headrace.time_texts import TimeTexts
from headrace.zones import know_zone, localized, name_of, zone_in, zone_of

if TYPE_CHECKING:
    from headrace.series import Series

_STARTS = {"MS": "month_start", "QS": "quarter_start", "YS": "year_start"}
_COMPARISONS = ("equal", "not_equal", "less", "less_equal", "greater", "greater_equal")
#: Operators that return one of their last two operands.
_CHOICES = ("where", "fill_null", "maximum", "minimum")
_MONDAY = 3  # 1970-01-01 was a Thursday


def _dtype(unit: str, zone: str = "") -> str:
    if unit == "D":
        return "date"
    return f"datetime64[{unit}, {zone}]" if zone else f"datetime64[{unit}]"


def _moment(value: Any, zone: str = "") -> tuple[int, str] | None:
    """Nanoseconds since 1970 of a date or time, and its unit; None for anything else.

    With a zoned column a time needs a zone too; a string means local time there.
    """
    import numpy as np

    if isinstance(value, str):
        try:
            value = datetime.datetime.fromisoformat(value)
        except ValueError:
            return None
        if zone and value.tzinfo is None:
            value = value.replace(tzinfo=zone_of(zone))
    if zone and (
        isinstance(value, np.datetime64 | datetime.date) and not getattr(value, "tzinfo", None)
    ):
        raise TypeMismatchError(
            "datetime: a naive time cannot be combined with zoned times: "
            f"value={value!r}, zone={zone!r}; use replace(tzinfo=...) on the value, or "
            "dt.tz_localize(None) on the column"
        )
    if isinstance(value, np.datetime64):
        if np.isnat(value):
            return None
        unit = np.datetime_data(value.dtype)[0]
        if unit not in UNITS:
            value, unit = value.astype("datetime64[D]"), "D"
        return int(value.astype("int64")) * scale(unit, "ns"), unit
    if isinstance(value, datetime.datetime):
        if value.tzinfo is not None and not zone:
            raise TypeMismatchError(
                "datetime: a zoned time cannot be combined with naive times: "
                f"value={value!r}; use replace(tzinfo=None) on the value, or "
                "dt.tz_localize(zone) on the column"
            )
        since = value - datetime.datetime(1970, 1, 1, tzinfo=datetime.UTC if zone else None)
    elif isinstance(value, datetime.date):
        since = value - datetime.date(1970, 1, 1)
    else:
        return None
    ns = span(since)
    return ns, coarsest(ns)


def is_time(value: Any) -> bool:
    """A column of dates or timestamps."""
    return isinstance(value, Deferred) and value._node.dtype.startswith(("date",))


def _as_it_is(column: Deferred, unit: str, clamp: bool) -> Any:
    """The column for comparison and choice only: days stay int32."""
    from headrace.series import Series

    days = unit == "D" and unit_of(column._node.dtype) == "D"
    return Series(_core.retype(column._node, "int32")) if days else counts(column, unit, clamp)


def _common_zone(op: str, sides: tuple[Any, ...]) -> str:
    """The zone of the first column; raises unless the other has one too."""
    dtypes = [side._node.dtype for side in sides if is_time(side)]
    zones = [zone_in(dtype) for dtype in dtypes]
    if len(set(map(bool, zones))) > 1:
        raise TypeMismatchError(
            f"{op}: cannot combine zoned and naive times: left={dtypes[0]!r}, "
            f"right={dtypes[1]!r}; use dt.tz_localize(zone) on the naive ones"
        )
    if op in _CHOICES and len(set(zones)) > 1:
        raise TypeMismatchError(
            f"{op}: one column cannot hold two time zones: left={dtypes[0]!r}, "
            f"right={dtypes[1]!r}; use dt.tz_convert on one side"
        )
    return zones[0]


def _in_common(
    sides: tuple[Any, ...], zone: str, least: str = "D", clamp: bool = False
) -> tuple[list[_core.Node], str] | None:
    """Counts of times in the coarsest common unit; None if a side is not a time.

    A value that does not fit raises with its row, or with `clamp` becomes the largest count.
    """
    moments = [None if is_time(side) else _moment(side, zone) for side in sides]
    units = [least]
    for moment, side in zip(moments, sides, strict=True):
        if moment is None and not is_time(side):
            return None
        units.append(moment[1] if moment else unit_of(side._node.dtype))
    unit = max(units, key=UNITS.index)
    counts = [
        _core.scalar(whole_of(moment[0], unit, clamp))
        if moment
        else _as_it_is(side, unit, clamp)._node
        for moment, side in zip(moments, sides, strict=True)
    ]
    return counts, unit


def in_one_unit(op: str, left: Deferred, right: Deferred) -> list[_core.Node] | None:
    """Two time or duration columns as integers of a common unit."""
    sides = (left, right)
    if all(map(is_duration, sides)):
        unit = max(map(span_unit, sides), key=UNITS.index)
        return [counts(side, unit, clamp=True)._node for side in sides]
    if not all(map(is_time, sides)):
        return None
    found = _in_common(sides, _common_zone(op, sides), clamp=True)
    return found[0] if found else None


def times_node(op: str, values: tuple[Any, ...]) -> _core.Node | None:
    """The node of an operator with a date or time operand, or None if there is none."""
    from headrace.series import Series

    if op == "add" and (is_duration(values[0]) or is_time(values[1])):
        values = values[::-1]
    sign = 1 if op == "add" else -1
    if op in ("add", "subtract") and is_duration(values[1]):
        moved = _moved_each(values[0], values[1], sign)
        if moved is not None:
            return moved
    if not any(map(is_time, values)):
        return durations_node(op, values)
    if op in ("add", "subtract") and is_span(values[1]):
        return _moved(values[0], values[1], sign)
    if op in ("add", "subtract") and is_time(values[0]) and (by := calendar_span(op, values[1])):
        return _moved_by_calendar(values[0], sign * by[0], sign * by[1])
    if op == "subtract":
        found = _in_common(values, _common_zone(op, values), "s")
        if not found:
            return None
        counted, unit = found
        return _core.retype(_core.elementwise(op, counted, None), f"timedelta64[{unit}]")
    if op not in _COMPARISONS and op not in _CHOICES:
        return None
    zone = _common_zone(op, values[-2:])
    found = _in_common(values[-2:], zone, clamp=op in _COMPARISONS)
    if not found:
        return None
    counted, unit = found
    if op in _COMPARISONS:
        return _core.elementwise(op, counted, None)
    node = _core.elementwise(op, [*(value._node for value in values[:-2]), *counted], None)
    return of_counts(Series(node), _dtype(unit, zone))


def _moved(column: Deferred, by: Any, sign: int) -> _core.Node:
    """The node of times shifted by a duration; dates stay dates for whole days."""
    ns = span(by)
    dtype = column._node.dtype
    unit = max(unit_of(dtype), coarsest(ns), key=UNITS.index)
    moved = counts(column, unit) + sign * (ns // scale(unit, "ns"))
    return of_counts(moved, _dtype(unit, zone_in(dtype)))


def _moved_by_calendar(column: Any, months: int, ns: int) -> _core.Node:
    """The node of times shifted by months in local time, then by nanoseconds."""
    from headrace.series import Series

    dtype = column._node.dtype
    zone = zone_in(dtype)
    unit = max(unit_of(dtype), coarsest(ns), key=UNITS.index)
    if unit != unit_of(dtype):
        column = Series(of_counts(counts(column, unit), _dtype(unit, zone)))
    local = column.dt.tz_localize(None) if zone else column
    units = ns // scale(unit, "ns")
    if max(abs(months), abs(units)) >= 2**63:
        raise InvalidArgumentError(
            f"add_months: the offset exceeds the dtype's range: months={months}, "
            f"units={units}, dtype={_dtype(unit)!r}; pass fewer months"
        )
    moved = _core.add_months(local._node, months, units)
    return localized(Series(moved), zone, "raise", "raise") if zone else moved


def converted(column: Any, dtype: str) -> _core.Node:
    """The node of dates, times or durations in another unit; a coarser one rounds down.

    Zoned times become dates in local time.
    """
    zones = zone_in(column._node.dtype), zone_in(dtype)
    if zones[0] and dtype == "date":
        date: _core.Node = column.dt.date._node
        return date
    if bool(zones[0]) != bool(zones[1]):
        raise TypeMismatchError(
            "astype: cannot add or drop a time zone implicitly: "
            f"from={column._node.dtype!r}, to={dtype!r}; use dt.tz_localize(zone), "
            "dt.tz_localize(None) or dt.tz_convert(None)"
        )
    own, unit = unit_of(column._node.dtype), unit_of(dtype)
    if UNITS.index(unit) >= UNITS.index(own):
        whole = counts(column, unit)
    else:
        whole = counts(column, own) // scale(unit, own)
    return of_counts(whole, dtype)


def _moved_each(times: Any, durations: Any, sign: int) -> _core.Node | None:
    """The node of times shifted by a duration column; dates become timestamps."""
    zone = zone_in(times._node.dtype) if is_time(times) else ""
    if isinstance(times, datetime.datetime) and times.tzinfo:
        zone = name_of(times.tzinfo)
    moment = None if is_time(times) else _moment(times, zone)
    if moment is None and not is_time(times):
        return None
    own = moment[1] if moment else unit_of(times._node.dtype)
    unit = max(own, span_unit(durations), key=UNITS.index)
    start = moment[0] // scale(unit, "ns") if moment else counts(times, unit)
    moved = start + sign * span_counts(durations, unit)
    return of_counts(moved, _dtype(unit, zone))


class TimeAccessor(TimeTexts):
    """Calendar and clock fields of each date or timestamp; null for null.

    Numbers are int32, as in pandas. Zoned timestamps use local time.
    """

    __slots__ = ("_given", "_series", "_unit", "_zone")

    def __init__(self, series: Series) -> None:
        if not is_time(series):
            raise TypeMismatchError(
                f"dt: expected a column of dates or timestamps: dtype={str(series.dtype)!r}; "
                "use astype('date') first"
            )
        self._given = self._series = series
        self._zone = zone_in(series._node.dtype)
        self._unit = unit_of(series._node.dtype)
        if self._zone:
            know_zone(series._node.dtype)
            mark("dt")
            self._series = series._like(_core.local_times(series._node))

    def _made(self, node: _core.Node) -> Series:
        series: Series = self._series._like(node)
        return series

    def _field(self, name: str) -> Series:
        mark("dt")
        return self._made(_core.date_field(self._series._node, name))

    def _part(self, step: int, count: int) -> Series:
        """The time of day in steps of nanoseconds, modulo `count`."""
        mark("dt")
        own = scale(self._unit, "ns")
        whole = counts(self._series, self._unit)
        steps = whole // (step // own) if step >= own else whole * (own // step)
        return self._made((steps % count).astype("int32")._node)

    @property
    def year(self) -> Series:
        """The year.

        >>> from datetime import datetime
        >>> import headrace as hr
        >>> hr.Series([datetime(2024, 2, 29, 13, 45, 10, 250)]).dt.year.to_list()
        [2024]
        """
        return self._field("year")

    @property
    def month(self) -> Series:
        """The month, 1 to 12.

        >>> from datetime import datetime
        >>> import headrace as hr
        >>> hr.Series([datetime(2024, 2, 29, 13, 45, 10, 250)]).dt.month.to_list()
        [2]
        """
        return self._field("month")

    @property
    def day(self) -> Series:
        """The day of the month, 1 to 31.

        >>> from datetime import datetime
        >>> import headrace as hr
        >>> hr.Series([datetime(2024, 2, 29, 13, 45, 10, 250)]).dt.day.to_list()
        [29]
        """
        return self._field("day")

    @property
    def day_of_year(self) -> Series:
        """The day of the year, 1 to 366.

        >>> from datetime import datetime
        >>> import headrace as hr
        >>> hr.Series([datetime(2024, 2, 29, 13, 45, 10, 250)]).dt.day_of_year.to_list()
        [60]
        """
        return self._field("day_of_year")

    dayofyear = day_of_year

    @property
    def days_in_month(self) -> Series:
        """Days of the month, 28 to 31.

        >>> from datetime import datetime
        >>> import headrace as hr
        >>> hr.Series([datetime(2024, 2, 29, 13, 45, 10, 250)]).dt.days_in_month.to_list()
        [29]
        """
        return self._field("days_in_month")

    @property
    def quarter(self) -> Series:
        """The quarter of the year, 1 to 4.

        >>> from datetime import datetime
        >>> import headrace as hr
        >>> hr.Series([datetime(2024, 2, 29, 13, 45, 10, 250)]).dt.quarter.to_list()
        [1]
        """
        return ((self.month + 2) // 3).astype("int32")

    @property
    def day_of_week(self) -> Series:
        """The day of the week: 0 is Monday, 6 Sunday.

        >>> from datetime import datetime
        >>> import headrace as hr
        >>> hr.Series([datetime(2024, 2, 29, 13, 45, 10, 250)]).dt.day_of_week.to_list()
        [3]
        """
        mark("dt")
        per_day = scale("D", self._unit)
        days = counts(self._series, self._unit) // per_day
        return self._made(((days + _MONDAY) % 7).astype("int32")._node)

    dayofweek = weekday = day_of_week

    @property
    def hour(self) -> Series:
        """Hours of the day, 0 to 23; 0 for dates.

        >>> from datetime import datetime
        >>> import headrace as hr
        >>> hr.Series([datetime(2024, 2, 29, 13, 45, 10, 250)]).dt.hour.to_list()
        [13]
        """
        return self._part(STEPS["h"], 24)

    @property
    def minute(self) -> Series:
        """Minutes of the hour, 0 to 59.

        >>> from datetime import datetime
        >>> import headrace as hr
        >>> hr.Series([datetime(2024, 2, 29, 13, 45, 10, 250)]).dt.minute.to_list()
        [45]
        """
        return self._part(STEPS["min"], 60)

    @property
    def second(self) -> Series:
        """Seconds of the minute, 0 to 59.

        >>> from datetime import datetime
        >>> import headrace as hr
        >>> hr.Series([datetime(2024, 2, 29, 13, 45, 10, 250)]).dt.second.to_list()
        [10]
        """
        return self._part(STEPS["s"], 60)

    @property
    def microsecond(self) -> Series:
        """Microseconds of the second, 0 to 999,999.

        >>> from datetime import datetime
        >>> import headrace as hr
        >>> hr.Series([datetime(2024, 2, 29, 13, 45, 10, 250)]).dt.microsecond.to_list()
        [250]
        """
        return self._part(STEPS["us"], 10**6)

    @property
    def nanosecond(self) -> Series:
        """Nanoseconds of the microsecond, 0 to 999.

        >>> from datetime import datetime
        >>> import headrace as hr
        >>> hr.Series([datetime(2024, 2, 29, 13, 45, 10, 250)]).dt.nanosecond.to_list()
        [0]
        """
        return self._part(1, 1000)

    @property
    def date(self) -> Series:
        """The day, as a date.

        >>> from datetime import datetime
        >>> import headrace as hr
        >>> hr.Series([datetime(2024, 2, 29, 13, 45, 10, 250)]).dt.date.to_list()
        [datetime.date(2024, 2, 29)]
        """
        mark("dt")
        if self._unit == "D":
            return self._series
        days = counts(self._series, self._unit) // scale("D", self._unit)
        return self._made(of_counts(days, "date"))

    @property
    def tz(self) -> datetime.tzinfo | None:
        """The zone as a Python tzinfo; None for naive times."""
        return zone_of(self._zone) if self._zone else None

    def tz_localize(self, tz: Any, ambiguous: Any = "raise", nonexistent: Any = "raise") -> Series:
        """Interpret naive times as local times of the zone `tz`; None converts back to naive.

        Parameters
        ----------
        tz : str, datetime.tzinfo or None
            ``"Europe/Berlin"``, ``"UTC"``, ``"+05:30"``. None gives naive local times.
        ambiguous : {"raise", "NaT", "earliest", "latest", "infer"}, bool or series of bool
            How to treat local times that occur twice; a bool tells whether it was summer time (the
            earliest). ``"infer"`` evaluates the rows: in a run of ambiguous times, those after a
            step back are the latest.
        nonexistent : {"raise", "NaT", "shift_forward", "shift_backward"} or timedelta
            How to treat skipped local times: null, the first instant after the gap, the last unit
            before it, or shifted by a timedelta.

        Raises
        ------
        InvalidArgumentError
            On evaluation with the row of an ambiguous or nonexistent time; for a zone missing from
            the system's tz database.

        Examples
        --------
        >>> import datetime
        >>> import headrace as hr
        >>> noon = hr.Series([datetime.datetime(2024, 7, 1, 12)])
        >>> berlin = noon.dt.tz_localize("Europe/Berlin")
        >>> str(berlin.dtype), berlin.dt.tz_convert("UTC").dt.hour.to_list()
        ('datetime64[us, Europe/Berlin]', [10])
        """
        mark("tz_localize")
        if tz is None:
            return self._series
        if self._zone:
            raise TypeMismatchError(
                "tz_localize: the times already have a zone: "
                f"dtype={self._given._node.dtype!r}; use dt.tz_convert to change it"
            )
        if self._unit == "D":
            raise TypeMismatchError(
                "tz_localize: dates have no time of day; use astype('datetime64[us]') first"
            )
        return self._made(localized(self._series, name_of(tz), ambiguous, nonexistent))

    def tz_convert(self, tz: Any) -> Series:
        """The same instants in the zone `tz`; None gives naive UTC times.

        >>> import datetime
        >>> import headrace as hr
        >>> start = datetime.datetime(2024, 7, 1, 22, tzinfo=datetime.timezone.utc)
        >>> hr.Series([start]).dt.tz_convert("Asia/Tokyo").dt.day.to_list()
        [2]
        """
        mark("tz_convert")
        if not self._zone:
            raise TypeMismatchError(
                f"tz_convert: the times have no zone: dtype={self._given._node.dtype!r}; use "
                "dt.tz_localize to set one"
            )
        zone = "" if tz is None else name_of(tz)
        return self._made(_core.retype(self._given._node, _dtype(self._unit, zone)))

    def add_months(self, n: int) -> Series:
        """Add `n` months, or subtract for negative `n`; dtype and nulls are kept.

        A day beyond the month's end becomes its last day. Zoned times move in local time. The same
        as adding ``pandas.DateOffset(months=n)``, which also takes years, days and hours.

        Raises
        ------
        InvalidArgumentError
            On evaluation with the row of a time that is out of range, ambiguous or nonexistent.

        >>> import datetime
        >>> import headrace as hr
        >>> hr.Series([datetime.date(2024, 1, 31), None]).dt.add_months(1).to_list()
        [datetime.date(2024, 2, 29), None]
        """
        mark("add_months")
        n = whole_number("add_months", "n", n)
        return self._made(_moved_by_calendar(self._given, n, 0))

    def floor(self, freq: Any, ambiguous: Any = "raise", nonexistent: Any = "raise") -> Series:
        """The start of the period that contains each time.

        Parameters
        ----------
        freq : str or timedelta
            A multiple of D, h, min, s, ms, us or ns, such as ``"15min"``, counted from 1970: the
            dtype is kept. ``"MS"``, ``"QS"``, ``"YS"``: month, quarter, year; a date.
        ambiguous, nonexistent
            For period starts in local time; see `tz_localize`.

        >>> import datetime
        >>> import headrace as hr
        >>> hr.Series([datetime.date(2024, 2, 29)]).dt.floor("MS").to_list()
        [datetime.date(2024, 2, 1)]
        """
        if freq in _STARTS:
            return self._field(_STARTS[freq])
        return self._multiples("floor", freq, ambiguous, nonexistent)

    def ceil(self, freq: Any, ambiguous: Any = "raise", nonexistent: Any = "raise") -> Series:
        """The end of the period that contains each time, or the time itself at a period start.

        >>> import datetime
        >>> import headrace as hr
        >>> hr.Series([datetime.datetime(2024, 2, 29, 9, 50)]).dt.ceil("15min").dt.hour.to_list()
        [10]
        """
        return self._multiples("ceil", freq, ambiguous, nonexistent)

    def round(self, freq: Any, ambiguous: Any = "raise", nonexistent: Any = "raise") -> Series:
        """The nearest period start; halves go to the even period.

        >>> from datetime import datetime
        >>> import headrace as hr
        >>> hr.Series([datetime(2024, 2, 29, 13, 45)]).dt.round("h").to_list()
        [datetime.datetime(2024, 2, 29, 14, 0)]
        """
        return self._multiples("round", freq, ambiguous, nonexistent)

    def _multiples(self, op: str, freq: Any, ambiguous: Any, nonexistent: Any) -> Series:
        step = step_of(op, freq, tuple(_STARTS) if op == "floor" else ())
        mark("dt")
        whole = counts(self._series, self._unit)
        found = multiples(op, whole, self._unit, step)
        if found is whole:
            return self._given
        made = self._made(of_counts(found, self._series._node.dtype))
        if not self._zone:
            return made
        return self._made(localized(made, self._zone, ambiguous, nonexistent))
