# SPDX-License-Identifier: Apache-2.0
"""Offsets of the calendar: lengths of time, ends of months, weekdays, working days.

>>> days = hr.to_datetime(["2024-01-15 10:00", "2024-01-31 10:00"])
>>> [str(day) for day in (days + hr.offsets.MonthEnd()).to_list()]
['2024-01-31 10:00:00', '2024-02-29 10:00:00']
>>> hr.Timestamp("2024-03-01") + 3 * hr.offsets.BDay()
Timestamp('2024-03-06 00:00:00')
"""

from __future__ import annotations

import datetime
from typing import Any, ClassVar

from headrace import _core
from headrace.errors import InvalidArgumentError, TypeMismatchError
from headrace.rows import is_missing, whole_number
from headrace.series.calendar_offset import LENGTHS, MONTHS
from headrace.series.column import is_series, new_series
from headrace.time_units import DAY
from headrace.times.ranges import frequency
from headrace.times.scalars import Timestamp
from headrace.zone_names import zone_in

__all__ = [
    "BDay",
    "BusinessDay",
    "DateOffset",
    "Day",
    "Hour",
    "Micro",
    "Milli",
    "Minute",
    "MonthBegin",
    "MonthEnd",
    "Nano",
    "QuarterBegin",
    "QuarterEnd",
    "Second",
    "Week",
    "YearBegin",
    "YearEnd",
]

_DAY = datetime.timedelta(days=1)
_MONTH_NAMES: tuple[str, ...] = ("JAN", "FEB", "MAR", "APR", "MAY", "JUN")
_MONTH_NAMES += ("JUL", "AUG", "SEP", "OCT", "NOV", "DEC")
_DAY_NAMES = ("MON", "TUE", "WED", "THU", "FRI", "SAT", "SUN")


class Offset:
    """A step of the calendar, `n` times; with `normalize` results are at midnight.

    Added to a moment, a date or a column of times; zoned times move in local time.
    """

    __slots__ = ("n", "normalize")
    _prefix: ClassVar[str] = ""

    def __init__(self, n: int = 1, normalize: bool = False) -> None:
        self.n: int = whole_number(type(self).__name__, "n", n)
        self.normalize: bool = normalize

    def _parts(self) -> dict[str, Any]:
        """The arguments besides `n` and `normalize`."""
        return {}

    def _times(self, n: int) -> Any:
        return type(self)(n, self.normalize, **self._parts())

    def _moved(self, days: Any) -> Any:
        """Dates a step later."""
        raise NotImplementedError

    def _added(self, times: Any) -> Any:
        """Naive times a step later."""
        days = times.astype("date")
        return times + (self._moved(days) - days)

    def __add__(self, other: Any) -> Any:
        if isinstance(other, Offset):
            raise TypeMismatchError(f"offsets: add them one after the other: {self!r}, {other!r}")
        if is_missing(other):
            return other
        if is_series(other):
            zone = zone_in(str(other.dtype))
            made = self._added(other.dt.tz_localize(None) if zone else other)
            made = made.dt.normalize() if self.normalize else made
            return made.dt.tz_localize(zone) if zone else made
        if not isinstance(other, datetime.date) and type(other).__module__ != "numpy":
            return NotImplemented
        moment = Timestamp(other)
        return Timestamp((self + new_series([moment])).to_list()[0])

    __radd__ = __add__

    def __rsub__(self, other: Any) -> Any:
        return -self + other

    def __neg__(self) -> Any:
        return self._times(-self.n)

    def __mul__(self, other: int) -> Any:
        return self._times(self.n * whole_number("offsets", "n", other))

    __rmul__ = __mul__

    def __sub__(self, other: Any) -> Any:
        if type(other) is type(self):
            return self._times(self.n - other.n)
        return NotImplemented

    def __eq__(self, other: object) -> bool:
        if isinstance(other, str):
            return self.freqstr == other
        mine = (self.n, self.normalize, self._parts())
        return type(self) is type(other) and mine == (other.n, other.normalize, other._parts())

    def __hash__(self) -> int:
        return hash((type(self), self.n, self.normalize, *self._parts().items()))

    def __repr__(self) -> str:
        name = type(self).__name__
        parts = ", ".join(f"{word}={value}" for word, value in sorted(self._parts().items()))
        parts = f": {parts}" if parts else ""
        plural = "s" if abs(self.n) != 1 else ""
        return f"<{name}{parts}>" if self.n == 1 else f"<{self.n} * {name}{plural}{parts}>"

    @property
    def name(self) -> str:
        """The name as a frequency, without its number: ``"ME"``."""
        return self._prefix

    @property
    def freqstr(self) -> str:
        """The name as a frequency: ``"2ME"``."""
        return self.name if self.n == 1 else f"{self.n}{self.name}"

    def is_on_offset(self, moment: Any) -> bool:
        """Whether a step back and one forward lead to the same day."""
        return bool(self._times(0) + Timestamp(moment) == Timestamp(moment))

    def rollforward(self, moment: Any) -> Timestamp:
        """The moment, if it is on the offset, else the next one that is."""
        return Timestamp(self._times(0) + Timestamp(moment))

    def rollback(self, moment: Any) -> Timestamp:
        """The moment, if it is on the offset, else the last one that is."""
        moment = Timestamp(moment)
        return moment if self.is_on_offset(moment) else Timestamp(self._times(-1) + moment)


class _Length(Offset):
    """A length of time."""

    __slots__ = ()
    _nanoseconds: ClassVar[int]

    @property
    def nanos(self) -> int:
        """Nanoseconds."""
        return self.n * self._nanoseconds

    def _added(self, times: Any) -> Any:
        return times + _core.duration_literal(*divmod(self.nanos, 10**9))

    def is_on_offset(self, moment: Any) -> bool:
        """Always."""
        return True


class Day(_Length):
    """Days."""

    __slots__ = ()
    _prefix, _nanoseconds = "D", DAY * 10**9


class Hour(_Length):
    """Hours."""

    __slots__ = ()
    _prefix, _nanoseconds = "h", 3600 * 10**9


class Minute(_Length):
    """Minutes."""

    __slots__ = ()
    _prefix, _nanoseconds = "min", 60 * 10**9


class Second(_Length):
    """Seconds."""

    __slots__ = ()
    _prefix, _nanoseconds = "s", 10**9


class Milli(_Length):
    """Milliseconds."""

    __slots__ = ()
    _prefix, _nanoseconds = "ms", 10**6


class Micro(_Length):
    """Microseconds."""

    __slots__ = ()
    _prefix, _nanoseconds = "us", 10**3


class Nano(_Length):
    """Nanoseconds."""

    __slots__ = ()
    _prefix, _nanoseconds = "ns", 1


class _Period(Offset):
    """First or last days of months, quarters or years."""

    __slots__ = ("month",)
    _months: ClassVar[int] = 1
    _is_end: ClassVar[bool] = False
    #: The argument that says in which month, and its default.
    _word: ClassVar[str] = ""
    _default: ClassVar[int] = 1

    def __init__(self, n: int = 1, normalize: bool = False, **month: int) -> None:
        super().__init__(n, normalize)
        if set(month) - {self._word}:
            raise InvalidArgumentError(f"{type(self).__name__}: unknown argument: {month}")
        self.month: int = month.get(self._word, self._default) if self._word else self._default
        if not 1 <= self.month <= 12:
            raise InvalidArgumentError(f"{type(self).__name__}: expected a month: {month}")

    def _parts(self) -> dict[str, Any]:
        return {self._word: self.month} if self._word else {}

    @property
    def name(self) -> str:
        """The name as a frequency, without its number: ``"QE-DEC"``."""
        month = _MONTH_NAMES[self.month - 1]
        return f"{self._prefix}-{month}" if self._word else self._prefix

    def _moved(self, days: Any) -> Any:
        ahead = (self.month - (0 if self._is_end else 1)) % self._months
        starts = days.dt.floor("MS").dt.add_months(-ahead)
        starts = starts.dt.floor({1: "MS", 3: "QS", 12: "YS"}[self._months]).dt.add_months(ahead)

        def step(periods: int) -> Any:
            made = starts.dt.add_months(self._months * periods)
            return made - _DAY if self._is_end else made

        if self._is_end:
            on, off = self.n + 1, self.n + (self.n <= 0)
        else:
            on, off = self.n, self.n + (self.n <= 0)
        return step(on).where(days == step(1 if self._is_end else 0), step(off))


class MonthEnd(_Period):
    """Last days of months."""

    __slots__ = ()
    _prefix, _is_end = "ME", True


class MonthBegin(_Period):
    """First days of months."""

    __slots__ = ()
    _prefix = "MS"


class QuarterEnd(_Period):
    """Last days of quarters; `startingMonth` is the end of one."""

    __slots__ = ()
    _prefix, _is_end, _months, _word, _default = "QE", True, 3, "startingMonth", 3


class QuarterBegin(_Period):
    """First days of quarters; `startingMonth`, March by default, is the start of one."""

    __slots__ = ()
    _prefix, _months, _word, _default = "QS", 3, "startingMonth", 3


class YearEnd(_Period):
    """Last days of years that end in `month`."""

    __slots__ = ()
    _prefix, _is_end, _months, _word, _default = "YE", True, 12, "month", 12


class YearBegin(_Period):
    """First days of years that begin in `month`."""

    __slots__ = ()
    _prefix, _months, _word, _default = "YS", 12, "month", 1


class Week(Offset):
    """Weeks; with `weekday`, 0 for Monday, to that day."""

    __slots__ = ("weekday",)

    def __init__(self, n: int = 1, normalize: bool = False, weekday: int | None = None) -> None:
        super().__init__(n, normalize)
        self.weekday: int | None = weekday

    def _parts(self) -> dict[str, Any]:
        return {"weekday": self.weekday}

    @property
    def name(self) -> str:
        """The name as a frequency, without its number: ``"W-MON"``."""
        return "W" if self.weekday is None else f"W-{_DAY_NAMES[self.weekday]}"

    def _moved(self, days: Any) -> Any:
        if self.weekday is None:
            return days + self.n * 7 * _DAY
        ahead = (self.weekday - days.dt.day_of_week.astype("int64") + 7) % 7
        weeks = self.n - (ahead != 0).astype("int64") * int(self.n > 0)
        return days + (ahead + 7 * weeks) * _DAY

    def is_on_offset(self, moment: Any) -> bool:
        """Whether it is that weekday."""
        return self.weekday is None or Timestamp(moment).weekday() == self.weekday


class BusinessDay(Offset):
    """Monday to Friday."""

    __slots__ = ()
    _prefix = "B"

    def _moved(self, days: Any) -> Any:
        weekday = days.dt.day_of_week.astype("int64")
        over = (weekday - 4).clip(0, None)
        if self.n > 0:  # a weekend counts as Friday
            begin, days = weekday - over, days - over * _DAY
        else:
            begin = weekday.where(over == 0, 0)
            days = days + ((7 - weekday) * (over > 0).astype("int64")) * _DAY
        total = begin + self.n
        return days + (total // 5 * 7 + total % 5 - begin) * _DAY


BDay = BusinessDay


class DateOffset(Offset):
    """Lengths of the calendar, ``months=1, days=2``, and parts to set, ``day=1, hour=9``.

    Parts are set first; a day beyond the month's end becomes its last day.
    """

    __slots__ = ("kwds",)

    def __init__(self, n: int = 1, normalize: bool = False, **kwds: int) -> None:
        super().__init__(n, normalize)
        self.kwds: dict[str, int] = kwds
        known = (*MONTHS, *LENGTHS, "month", "day", *_CLOCK)
        if wrong := [word for word in kwds if word not in known]:
            raise InvalidArgumentError(
                f"DateOffset: unsupported: {wrong[0]}={kwds[wrong[0]]!r}; expected "
                f"{', '.join(known)}"
            )

    def _parts(self) -> dict[str, Any]:
        return self.kwds

    def _added(self, times: Any) -> Any:
        kwds = self.kwds or {"days": 1}
        days = times.astype("date")
        moved = days
        if "month" in kwds:
            moved = moved.dt.floor("YS").dt.add_months(kwds["month"] - 1)
        if "month" in kwds or "day" in kwds:
            first = moved.dt.floor("MS")
            day, last = kwds.get("day", days.dt.day), first.dt.days_in_month
            moved = first + (last.where(last < day, day).astype("int64") - 1) * _DAY
        made = times + (moved - days)
        if any(word in kwds for word in _CLOCK):
            clock = made.dt
            parts = (
                kwds.get(w, getattr(clock, w).astype("int64")) * us for w, us in _CLOCK.items()
            )
            made = clock.normalize() + sum(parts) * datetime.timedelta(microseconds=1)
        months = sum(kwds.get(word, 0) * each for word, each in MONTHS.items())
        span = sum(kwds.get(word, 0) * each for word, each in LENGTHS.items())
        if months or span:
            made = made + _core.calendar_literal(self.n * months, *divmod(self.n * span, 10**9))
        return made


#: Microseconds of the parts of the time of day.
_CLOCK = {"hour": 3600 * 10**6, "minute": 60 * 10**6, "second": 10**6, "microsecond": 1}


def offset_of(op: str, freq: Any) -> Offset:
    """The offset of a frequency: ``"2ME"``, ``"W-MON"``, ``"15min"``, or an offset itself."""
    if isinstance(freq, Offset):
        return freq
    step = frequency(op, freq)
    if step.ticks:
        unit = next(each for each in _LENGTHS if each._prefix == step.unit)
        return unit(step.multiple)
    if step.unit == "W":
        return Week(step.multiple, weekday=step.weekday)
    if step.unit == "B":
        return BusinessDay(step.multiple)
    kind = next(each for each in _Period.__subclasses__() if each._prefix == step.unit)
    month = {kind._word: step.month} if kind._word else {}
    return kind(step.multiple, False, **month)


_LENGTHS = (Day, Hour, Minute, Second, Milli, Micro, Nano)
