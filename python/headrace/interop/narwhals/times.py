# SPDX-License-Identifier: Apache-2.0
"""Functions of times and durations for narwhals."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from narwhals._compliant.any_namespace import DateTimeNamespace
from narwhals._compliant.series import EagerSeriesNamespace
from narwhals._duration import Interval

from headrace import _core
from headrace.interop.narwhals.rows import chosen
from headrace.series.column import series_of
from headrace.time_units import unit_of
from headrace.zone_names import zone_in

_NANOSECONDS = {"s": 10**9, "ms": 10**6, "us": 10**3, "ns": 1}
_MONTHS = {"mo": 1, "q": 3, "y": 12}
_DAYS_OF_WEEK = 7
#: Polars' letters of units, and ours.
_UNITS = {"m": "min", "h": "h", "d": "D", "s": "s", "ms": "ms", "us": "us", "ns": "ns"}


class Times(EagerSeriesNamespace, DateTimeNamespace):  # type: ignore[misc]
    """``.dt`` of a series of dates, times or durations."""

    def _of(self, made: Any) -> Any:
        return self.compliant._kept(made._node)

    def _field(self, name: str, dtype: str) -> Any:
        return self._of(getattr(self.native.dt, name).astype(dtype))

    @property
    def _is_date(self) -> bool:
        return bool(self.native._node.dtype == "date")

    @property
    def _zone(self) -> str | None:
        return zone_in(self.native._node.dtype) or None

    @property
    def _unit(self) -> str:
        return unit_of(str(self.native._node.dtype))

    def date(self) -> Any:
        """The day."""
        return self._of(self.native.astype("date"))

    def year(self) -> Any:
        """The year."""
        return self._field("year", "int32")

    def month(self) -> Any:
        """The month."""
        return self._field("month", "int8")

    def day(self) -> Any:
        """The day of the month."""
        return self._field("day", "int8")

    def hour(self) -> Any:
        """The hour of the day."""
        return self._field("hour", "int8")

    def minute(self) -> Any:
        """The minute of the hour."""
        return self._field("minute", "int8")

    def second(self) -> Any:
        """The second of the minute."""
        return self._field("second", "int8")

    def millisecond(self) -> Any:
        """Whole milliseconds of the second."""
        return self._of((self.native.dt.microsecond // 1000).astype("int32"))

    def microsecond(self) -> Any:
        """Whole microseconds of the second."""
        return self._field("microsecond", "int32")

    def nanosecond(self) -> Any:
        """Nanoseconds of the second."""
        times = self.native.dt
        total = times.microsecond.astype("int64") * 1000 + times.nanosecond
        return self._of(total.astype("int32"))

    def ordinal_day(self) -> Any:
        """The day of the year."""
        return self._field("day_of_year", "int16")

    def weekday(self) -> Any:
        """The day of the week: 1 is Monday, 7 Sunday."""
        return self._of((self.native.dt.weekday + 1).astype("int8"))

    def to_string(self, format: str) -> Any:
        """The times as strings."""
        pieces: list[Any] = []
        for part in _PARTS.split(format.replace("%.f", ".%f")):
            if part in _OWN:
                pieces.append(_OWN[part](self.native).astype("string")._node)
            elif part:
                pieces.append(self.native.dt.strftime(part)._node)
        if len(pieces) == 1:
            return self.compliant._kept(pieces[0])
        return self.compliant._kept(_core.concatenate_text(pieces or [""]))

    def replace_time_zone(self, time_zone: str | None) -> Any:
        """The same local times in another zone, or in none."""
        local = self.native if self._zone is None else self.native.dt.tz_localize(None)
        return self._of(local if time_zone is None else local.dt.tz_localize(time_zone))

    def convert_time_zone(self, time_zone: str) -> Any:
        """The same instants in another zone; times without one are in UTC."""
        times = self.native if self._zone is not None else self.native.dt.tz_localize("UTC")
        return self._of(times.dt.tz_convert(time_zone))

    def timestamp(self, time_unit: str) -> Any:
        """The number of units since 1970."""
        if self.native.dtype.kind != "M":
            raise TypeError("Input should be either of Date or Datetime type")
        times = self.native.astype("datetime64[s]") if self._is_date else self.native
        own = unit_of(str(times._node.dtype))
        counts = times.astype("int64")
        have, want = _NANOSECONDS[own], _NANOSECONDS[time_unit]
        return self._of(counts * (have // want) if have >= want else counts // (want // have))

    def _total(self, nanoseconds: int) -> Any:
        """Whole units of durations, cut towards zero."""
        counts = self.native.astype("int64")
        have = _NANOSECONDS[self._unit]
        if have >= nanoseconds:
            return self._of(counts * (have // nanoseconds))
        size = nanoseconds // have
        below = counts // size
        up = ((counts < 0) & (below * size != counts)).astype("int64")
        return self._of(below + up)

    def total_minutes(self) -> Any:
        """Whole minutes."""
        return self._total(60 * 10**9)

    def total_seconds(self) -> Any:
        """Whole seconds."""
        return self._total(10**9)

    def total_milliseconds(self) -> Any:
        """Whole milliseconds."""
        return self._total(10**6)

    def total_microseconds(self) -> Any:
        """Whole microseconds."""
        return self._total(10**3)

    def total_nanoseconds(self) -> Any:
        """Whole nanoseconds."""
        return self._total(1)

    def truncate(self, every: str) -> Any:
        """The times rounded down to a multiple of a period."""
        interval = Interval.parse(every)
        times = self.native
        if interval.unit in _MONTHS:
            return self._of(_first_of_months(times, interval.multiple * _MONTHS[interval.unit]))
        return self._of(times.dt.floor(f"{interval.multiple}{_UNITS[interval.unit]}"))

    def offset_by(self, by: str) -> Any:
        """The times moved by a period: days and months on the calendar of their zone."""
        interval = Interval.parse_no_constraints(by)
        if interval.unit in _MONTHS:
            return self._of(self.native.dt.add_months(interval.multiple * _MONTHS[interval.unit]))
        if interval.unit == "d" and self._zone is not None:
            local = self.native.dt.tz_localize(None) + _span(interval)
            return self._of(local.dt.tz_localize(self._zone))
        moved = self.native + _span(interval)
        return self._of(moved if self._is_date else moved.astype(self.native._node.dtype))


def _week(times: Any) -> Any:
    return times.dt.isocalendar()["week"].astype("string").str.zfill(2)


def _offset(times: Any) -> Any:
    """Hours and minutes in front of UTC; nothing for times without a zone."""
    if not zone_in(times._node.dtype):
        return times.dt.strftime("%Y").str.slice(0, 0)
    local, utc = (
        each.astype("datetime64[s]").astype("int64")
        for each in (times.dt.tz_localize(None), times.dt.tz_convert("UTC").dt.tz_localize(None))
    )
    minutes = (local - utc) // 60
    size = minutes.abs()
    digits = (size // 60 * 100 + size % 60).astype("string").str.zfill(4)
    signs = series_of(chosen(minutes < 0, "-", series_of(_core.repeat(minutes._node, "+"))))
    return series_of(_core.concatenate_text([signs._node, digits._node]))


#: Directives of `to_string` that the engine does not write.
_OWN: dict[str, Callable[[Any], Any]] = {
    "%z": _offset,
    "%G": lambda times: times.dt.isocalendar()["year"],
    "%V": _week,
    "%u": lambda times: times.dt.weekday + 1,
}
_PARTS = re.compile("(%%|" + "|".join(_OWN) + ")")


def _span(interval: Interval) -> Any:
    if interval.unit == "ns":
        return _core.duration_literal(*divmod(interval.multiple, 10**9))
    return interval.to_timedelta()


def _first_of_months(times: Any, months: int) -> Any:
    """The first day of spans of months."""
    zone, dtype = zone_in(times._node.dtype) or None, times._node.dtype
    local = times if zone is None else times.dt.tz_localize(None)
    dates = local.astype("date")
    month = dates.dt.month.astype("int64") - 1
    made = dates.dt.floor("MS")
    for back in range(1, months):
        made = series_of(
            chosen(month % months == back, dates.dt.floor("MS").dt.add_months(-back), made)
        )
    if zone is not None:
        made = made.astype(str(local._node.dtype)).dt.tz_localize(zone)
    return made.astype(dtype)
