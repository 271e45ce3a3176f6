# SPDX-License-Identifier: Apache-2.0
"""Partial dates as labels: strings that mean a year, a month, a day or an hour."""

from __future__ import annotations

import datetime
import re
from typing import TYPE_CHECKING, Any, NamedTuple

from headrace.errors import ColumnNotFoundError
from headrace.series.datetime import is_time
from headrace.zone_names import zone_in, zone_of

if TYPE_CHECKING:
    from headrace.series.series import Series

_PARTS = re.compile(
    r"(\d{4})(?:([-/]?)(\d{1,2})(?:\2(\d{1,2})"
    r"(?:[T ](\d{1,2})(?::(\d\d)(?::(\d\d)(?:\.(\d{1,6}))?)?)?)?)?)?"
    r" ?(Z|[+-]\d\d:?\d\d)?"
)
_UNITS = ("Y", "M", "D", "h", "min", "s")
_LENGTHS = {
    "D": datetime.timedelta(days=1),
    "h": datetime.timedelta(hours=1),
    "min": datetime.timedelta(minutes=1),
    "s": datetime.timedelta(seconds=1),
    "ms": datetime.timedelta(milliseconds=1),
    "us": datetime.timedelta(microseconds=1),
}
_MONTHS = {"Y": 12, "M": 1}


class TimeSpan(NamedTuple):
    """The span of a partial date: times from `first` up to but excluding `end`."""

    first: datetime.datetime
    #: None at the end of the calendar.
    end: datetime.datetime | None
    unit: str


def time_span(text: str, label: Series) -> TimeSpan:
    """The span of a partial date in the labels' local time, unless it has an offset."""
    found = _parts(text)
    zone: Any = zone_in(str(label.dtype))
    if found is None:
        raise _not_found(text, "a partial date looks like '2024', '2024-03' or '2024-03-05 14:30'")
    first, unit, offset = found
    if offset and not zone:
        raise _not_found(text, "the labels have no time zone; omit the offset")
    end = _next(first, unit)
    if not zone:
        return TimeSpan(first, end, unit)
    zone = _offset(offset) if offset else zone_of(zone)
    last = None if end is None else _instant(text, end - _LENGTHS["us"], zone) + _LENGTHS["us"]
    return TimeSpan(_instant(text, first, zone), last, unit)


def _parts(text: str) -> tuple[datetime.datetime, str, str] | None:
    """The start, the unit, and the offset of a partial date."""
    match = _PARTS.fullmatch(text.strip())
    if match is None or (match[3] and not match[2] and not (len(match[3]) == 2 and match[4])):
        return None
    year, _, month, day, hour, minute, second, digits, offset = match.groups()
    given = [each for each in (year, month, day, hour, minute, second) if each is not None]
    unit = _UNITS[len(given) - 1]
    micro = 0
    if digits:
        unit, micro = "ms" if len(digits) <= 3 else "us", int(digits.ljust(6, "0"))
    day = [*map(int, given[:3]), 1, 1][:3]
    clock = [*map(int, given[3:]), 0, 0, 0][:3]
    try:
        date = datetime.date(day[0], day[1], day[2])
        time = datetime.time(clock[0], clock[1], clock[2], micro)
        return datetime.datetime.combine(date, time), unit, offset or ""
    except ValueError:
        return None


def _next(first: datetime.datetime, unit: str) -> datetime.datetime | None:
    try:
        if unit not in _MONTHS:
            return first + _LENGTHS[unit]
        months = first.year * 12 + first.month - 1 + _MONTHS[unit]
        return first.replace(year=months // 12, month=months % 12 + 1)
    except (ValueError, OverflowError):
        return None


def _offset(text: str) -> datetime.timezone:
    if text == "Z":
        return datetime.UTC
    size = datetime.timedelta(hours=int(text[1:3]), minutes=int(text[-2:]))
    return datetime.timezone(-size if text[0] == "-" else size)


def _instant(text: str, clock: datetime.datetime, zone: datetime.tzinfo) -> datetime.datetime:
    """The unambiguous UTC instant of a local time."""
    instant = clock.replace(tzinfo=zone).astimezone(datetime.UTC)
    is_shown = instant.astimezone(zone).replace(tzinfo=None) == clock
    again = clock.replace(tzinfo=zone, fold=1).astimezone(datetime.UTC)
    if not is_shown or again != instant:
        raise _not_found(
            text, "this local time is skipped or repeated; add an offset such as '+01:00'"
        )
    return instant


def _not_found(text: str, fix: str) -> ColumnNotFoundError:
    return ColumnNotFoundError(f"loc: no such label: label={text!r}; {fix}")


def _is_finer(label: Series, unit: str) -> bool:
    """Whether any label is finer than a unit; evaluates."""
    if unit in _MONTHS:
        return True
    dtype = str(label.dtype)
    if dtype == "date":
        return False
    local = label.dt.tz_localize(None) if zone_in(dtype) else label
    return bool((local.dt.floor(unit) < local).any().item())


def is_partial(label: Series, key: Any) -> bool:
    """Whether a string is coarser than the labels and so means a span, as in pandas."""
    if not isinstance(key, str) or not is_time(label):
        return False
    return _is_finer(label, time_span(key, label).unit)


def within(label: Series, key: str) -> Series:
    """The rows whose label lies in the span of a partial date."""
    span = time_span(key, label)
    return (label >= span.first) & before_end(label, span)


def equal_to(label: Series, key: str) -> Series:
    """The rows whose label is the start of the span of a partial date."""
    return label == time_span(key, label).first


def before_end(label: Series, span: TimeSpan) -> Series:
    """The rows whose label is before the end of a span."""
    return label.notna() if span.end is None else label < span.end


def is_beyond(label: Series, key: str) -> bool:
    """Whether a span lies before or after all labels, which are sorted; evaluates."""
    if not (label.is_monotonic_increasing or label.is_monotonic_decreasing):
        return False
    span = time_span(key, label)
    behind = bool((label < span.first).all().item())
    return behind or not bool(before_end(label, span).any().item())
