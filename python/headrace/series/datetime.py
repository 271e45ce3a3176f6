# SPDX-License-Identifier: Apache-2.0
"""Conversions of dates and timestamps, and their `Series.dt` accessor."""

from __future__ import annotations

import datetime
from typing import TYPE_CHECKING, Any

from headrace import _core
from headrace.errors import TypeMismatchError
from headrace.lazy.handle import Deferred, mark
from headrace.rows import whole_number
from headrace.series.duration import (
    counts,
    of_counts,
    scale,
    unit_of,
)
from headrace.series.parse_times import TimeTexts
from headrace.series.rounding import STEPS, multiples, step_of
from headrace.series.timezone import know_zone, localized
from headrace.zone_names import name_of, zone_in, zone_of

if TYPE_CHECKING:
    from headrace.series.series import Series

_STARTS = {"MS": "month_start", "QS": "quarter_start", "YS": "year_start"}
_MONDAY = 3  # 1970-01-01 was a Thursday


def _dtype(unit: str, zone: str = "") -> str:
    if unit == "D":
        return "date"
    return f"datetime64[{unit}, {zone}]" if zone else f"datetime64[{unit}]"


def is_time(value: Any) -> bool:
    """A column of dates or timestamps."""
    return isinstance(value, Deferred) and value._node.dtype.startswith(("date",))


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
        moved: Series = self._given._elementwise(
            "add", self._given, _core.calendar_literal(n, 0, 0)
        )
        return moved

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
