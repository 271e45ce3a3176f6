# SPDX-License-Identifier: Apache-2.0
"""The span of time that contains each moment, and all spans from the first to the last."""

from __future__ import annotations

import datetime
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

from headrace.errors import InvalidArgumentError
from headrace.series.column import new_series, with_rows_of
from headrace.time_units import length_of
from headrace.times.offsets import offset_of
from headrace.times.ranges import Frequency, frequency, times_between
from headrace.times.scalars import Timestamp
from headrace.zone_names import zone_in

if TYPE_CHECKING:
    from headrace.series.series import Series

_DAY_TICKS = 86_400 * 10**6
_DAY = datetime.timedelta(days=1)


class Spans(NamedTuple):
    """Spans of rows, named by naive times; `zoned` gives these their zone again."""

    key: Series
    step: Frequency
    #: All names, where they do not follow from the first and the last one.
    names: Any
    zoned: Callable[[Any], Any]

    def every(self, first: Any, last: Any) -> Any:
        """The names from one to another, as NumPy's datetime64 in microseconds."""
        return times_between(first, last, self.step) if self.names is None else self.names


def spans(
    op: str,
    times: Series,
    freq: Any,
    closed: str | None,
    label: str | None,
    origin: Any,
    offset: Any = None,
) -> Spans:
    """The name of the span that contains each time: its first or its last moment."""
    step = frequency(op, freq)
    for word, side in (("closed", closed), ("label", label)):
        if side not in (None, "left", "right"):
            raise InvalidArgumentError(
                f"{op}: invalid value: {word}={side!r}; expected 'left' or 'right'"
            )
    from_end = isinstance(origin, str) and origin in ("end", "end_day")
    usual = "right" if step.is_end or from_end else "left"
    closed, label = closed or usual, label or usual
    zone = zone_in(str(times.dtype))
    by_clock = step.ticks % _DAY_TICKS == 0  # days and longer follow the local clock
    zoned: Callable[[Any], Any] = _itself
    if zone and by_clock:
        local = times.dt.tz_localize(None)
        zoned = lambda made: made.dt.tz_localize(zone, "earliest", "shift_forward")  # noqa: E731
    elif zone:
        local = times.dt.tz_convert(None)
        zoned = lambda made: made.dt.tz_localize("UTC").dt.tz_convert(zone)  # noqa: E731
    else:
        local = times
    if step.ticks:
        start = _origin(op, times if zone and not by_clock else local, origin, step)
        start += length_of(op, offset) // 1000 if offset is not None else 0
        return Spans(_ticks(local, step, start, closed, label), step, None, zoned)
    if offset is not None:
        raise InvalidArgumentError(
            f"{op}: only spans of fixed length have an offset: freq={freq!r}, offset={offset!r}"
        )
    is_plain = step.multiple == 1 and closed == label == usual
    first_month = step.month + step.is_end - 1
    if is_plain and (step.unit in ("W", "B") or first_month % step.months == 0):
        return Spans(_calendar_spans(local, step), step, None, zoned)
    return _between_edges(op, local, step, closed, label)._replace(zoned=zoned)


def _itself(made: Any) -> Any:
    return made


def _ticks(times: Series, step: Frequency, start: int, closed: str, label: str) -> Series:
    """Spans of fixed length, counted from a moment."""
    from_start = times.astype("datetime64[us]").astype("int64") - start
    number = from_start // step.ticks
    if closed == "right":
        number = -((-from_start) // step.ticks) - 1
    if label == "right":
        number = number + 1
    return (number * step.ticks + start).astype("datetime64[us]")


def _calendar_spans(times: Series, step: Frequency) -> Series:
    """First days of months, quarters and years, or the last ones; last days of weeks; workdays."""
    days = times.astype("date")
    weekday = days.dt.day_of_week
    if step.unit == "W":
        found = days + ((step.weekday - weekday + 7) % 7).astype("int64") * _DAY
    elif step.unit == "B":
        found = days - (weekday - 4).clip(0, None).astype("int64") * _DAY
    else:
        found = days.dt.floor({1: "MS", 3: "QS", 12: "YS"}[step.months])
        found = found.dt.add_months(step.months) - _DAY if step.is_end else found
    return found.astype("datetime64[us]")


def _between_edges(op: str, times: Series, step: Frequency, closed: str, label: str) -> Spans:
    """Spans of the calendar between edges that NumPy finds; evaluates the times."""
    import numpy as np

    first, last = times.min(), times.max()
    if first is None:
        return Spans(times.astype("datetime64[us]"), step, np.array([], "M8[us]"), _itself)
    offset = offset_of(op, step)
    begin, end = Timestamp(first).normalize(), Timestamp(last).normalize() + offset
    begin = offset.rollback(begin) if closed == "left" else begin - offset
    edges = times_between(begin.to_datetime64(), end.to_datetime64(), step)
    borders = edges
    if step.is_end:
        if closed == "right":  # the whole last day belongs to the span
            borders = edges + np.timedelta64(_DAY_TICKS - 1, "us")
        if len(borders) > 1 and borders[-2] > Timestamp(last).to_datetime64():
            edges, borders = edges[:-1], borders[:-1]
    moments = times.to_numpy().astype("datetime64[us]")
    place = np.searchsorted(borders, moments, "left" if closed == "right" else "right") - 1
    names = edges[1:] if label == "right" else edges[:-1]
    key = names[place.clip(0, len(names) - 1)]
    key[np.isnat(moments)] = np.datetime64("NaT")
    return Spans(with_rows_of(new_series(key), times._node), step, names, _itself)


def _origin(op: str, times: Series, origin: Any, step: Frequency) -> int:
    """Microseconds from 1970 to the moment from which spans are counted."""
    if origin == "epoch":
        return 0
    if origin in ("start", "start_day", "end", "end_day"):
        first = times.min() if origin in ("start", "start_day") else times.max()
        if first is None:
            return 0
        moment = Timestamp(first)
        if origin == "start_day" or (origin == "end_day" and moment == moment.normalize()):
            moment = moment.normalize()
        elif origin == "end_day":
            moment = moment.normalize() + _DAY
    elif isinstance(origin, str) and not origin[:1].isdigit():
        raise InvalidArgumentError(
            f"{op}: invalid value: origin={origin!r}; expected 'epoch', 'start', 'start_day', "
            "'end', 'end_day' or a time"
        )
    else:
        moment = Timestamp(origin)
    return moment.value // 1000
