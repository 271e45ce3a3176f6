# SPDX-License-Identifier: Apache-2.0
"""Moments and durations as Python values: `hr.Timestamp`, `hr.Timedelta`, `hr.NaT`."""

from __future__ import annotations

import calendar
import datetime
import re
from fractions import Fraction
from typing import Any, NamedTuple

from headrace.errors import TypeMismatchError
from headrace.rows import is_missing
from headrace.series.column import Column, new_series
from headrace.series.parse_times import to_datetime, to_timedelta
from headrace.time_units import length_of, nanoseconds_of

_EMPTY: Any = ...


class NaTType:
    """The missing moment: equal to nothing; arithmetic with it is missing too."""

    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        return False

    def __ne__(self, other: object) -> bool:
        return True

    def __hash__(self) -> int:
        return 0

    def __bool__(self) -> bool:
        return True

    def _missing(self, *others: Any) -> NaTType:
        return self

    def _false(self, other: Any) -> bool:
        return False

    __lt__ = _false
    __le__ = _false
    __gt__ = _false
    __ge__ = _false
    __add__ = _missing
    __radd__ = _missing
    __sub__ = _missing
    __rsub__ = _missing
    __neg__ = _missing
    __mul__ = _missing
    __rmul__ = _missing
    __truediv__ = _missing

    def __getattr__(self, name: str) -> float:
        if name in ("year", "month", "day", "hour", "minute", "second", "days", "seconds", "value"):
            return float("nan")
        raise AttributeError(name)

    def __reduce__(self) -> str:
        return "NaT"

    def __repr__(self) -> str:
        return "NaT"


NaT: Any = NaTType()


def _one(value: Any) -> Any:
    """A series of one moment or duration."""
    return new_series([value])


class Timestamp(datetime.datetime):
    """A moment: a Python datetime that is also made of ISO 8601 text, with pandas' methods.

    To the microsecond; use `numpy.datetime64` for nanoseconds. None, NaN and NaT give `NaT`.

    >>> moment = hr.Timestamp("2024-02-29 13:45")
    >>> moment.day_name(), moment.floor("h").hour, moment + hr.Timedelta(days=1)
    ('Thursday', 13, Timestamp('2024-03-01 13:45:00'))
    >>> moment - hr.Timestamp(2024, 2, 28)
    Timedelta('1 days 13:45:00')
    """

    def __new__(  # noqa: D102
        cls, value: Any = _EMPTY, *args: Any, tz: Any = None, unit: str | None = None, **parts: Any
    ) -> Timestamp:
        made: Timestamp
        if value is _EMPTY:
            made = super().__new__(cls, **parts)
        elif type(value) is bytes or (isinstance(value, int) and (args or parts)):
            given: tuple[Any, ...] = (value, *args)  # bytes: from a pickle
            made = super().__new__(cls, *given, **parts)
        else:
            made = cls._of(value, unit, parts)
        return made if tz is None or made is NaT else _in_zone(made, tz)

    @classmethod
    def _of(cls, value: Any, unit: str | None, parts: dict[str, Any]) -> Any:
        moment = value
        if is_missing(value) or value in ("NaT", ""):
            return NaT
        if isinstance(value, str) and value in ("now", "today"):
            return cls.now()
        if isinstance(value, int | float):
            moment = to_datetime([value], unit=unit or "ns").to_list()[0]
            moment = moment.item() if type(moment).__module__ == "numpy" else moment
            if not isinstance(moment, datetime.datetime):  # nanoseconds
                moment = datetime.datetime(1970, 1, 1) + datetime.timedelta(
                    microseconds=value // 1000
                )
        elif isinstance(value, str):
            utc = bool(re.search(r"\d(Z|[+-]\d\d:?\d\d)$", value))
            moment = to_datetime(value, utc=utc)
            if utc and (zone := datetime.datetime.fromisoformat(value).tzinfo):
                moment = moment.astimezone(zone)
        elif type(value).__module__ == "numpy":
            moment = value.astype("datetime64[us]").item()
        elif hasattr(value, "to_pydatetime") and not isinstance(value, Timestamp):
            moment = value.to_pydatetime(warn=False)
        if not isinstance(moment, datetime.date):
            moment = moment.astype("datetime64[us]").item() if hasattr(moment, "astype") else moment
        if not isinstance(moment, datetime.date):
            raise TypeMismatchError(f"Timestamp: expected a time: value={value!r}")
        if not isinstance(moment, datetime.datetime):
            moment = datetime.datetime(moment.year, moment.month, moment.day)
        return cls.combine(moment.date(), moment.timetz()).replace(**parts)

    def __repr__(self) -> str:
        zone = f", tz={str(self.tzinfo)!r}" if self.tzinfo else ""
        return f"Timestamp({str(self)!r}{zone})"

    def __add__(self, other: Any) -> Any:
        if type(other).__module__ == "numpy" and not getattr(other, "ndim", 1):
            other = Timedelta(other)
        return super().__add__(other)

    def __radd__(self, other: Any) -> Any:
        return self.__add__(other)

    def __sub__(self, other: Any) -> Any:
        if type(other).__module__ == "numpy" and not getattr(other, "ndim", 1):
            other = Timestamp(other) if other.dtype.kind == "M" else Timedelta(other)
        made = super().__sub__(other)
        return Timedelta(made) if isinstance(made, datetime.timedelta) else made

    def __rsub__(self, other: Any) -> Any:
        return Timestamp(other) - self

    def normalize(self) -> Timestamp:
        """Midnight of the day."""
        return self.replace(hour=0, minute=0, second=0, microsecond=0)

    def floor(self, freq: Any) -> Timestamp:
        """The start of the period that contains this moment; see `Series.dt.floor`."""
        return self._by("floor", freq)

    def ceil(self, freq: Any) -> Timestamp:
        """The end of the period that contains this moment; see `Series.dt.ceil`."""
        return self._by("ceil", freq)

    def round(self, freq: Any) -> Timestamp:
        """The nearest period start; see `Series.dt.round`."""
        return self._by("round", freq)

    def _by(self, method: str, *words: Any) -> Any:
        """What a method of columns makes of this moment."""
        made = getattr(_one(self).dt, method)(*words).to_list()[0]
        return Timestamp(made) if isinstance(made, datetime.date) else made

    def tz_localize(self, tz: Any) -> Timestamp:
        """The same local time in a zone; None gives a naive one."""
        return self.replace(tzinfo=None) if tz is None else self._by("tz_localize", tz)

    def tz_convert(self, tz: Any) -> Timestamp:
        """The same instant in another zone; None gives naive UTC time."""
        return self._by("tz_convert", tz)

    def to_period(self, freq: str) -> str:
        """The name of the period; see `Series.dt.to_period`."""
        return self._by("to_period", freq)

    def to_pydatetime(self, warn: bool = True) -> datetime.datetime:
        """A plain datetime."""
        return datetime.datetime.combine(self.date(), self.timetz())

    def to_datetime64(self) -> Any:
        """A NumPy datetime64 in microseconds, in UTC if zoned."""
        import numpy as np

        moment = self.astimezone(datetime.UTC).replace(tzinfo=None) if self.tzinfo else self
        return np.datetime64(moment, "us")

    to_numpy = to_datetime64

    def day_name(self) -> str:
        """Monday to Sunday."""
        return self.strftime("%A")

    def month_name(self) -> str:
        """January to December."""
        return self.strftime("%B")

    @property
    def tz(self) -> datetime.tzinfo | None:
        """The zone."""
        return self.tzinfo

    @property
    def value(self) -> int:
        """Nanoseconds since 1970."""
        return int(self.to_datetime64().astype("int64")) * 1000

    @property
    def nanosecond(self) -> int:
        """Always 0."""
        return 0

    @property
    def dayofweek(self) -> int:
        """0 for Monday to 6."""
        return self.weekday()

    @property
    def dayofyear(self) -> int:
        """1 to 366."""
        return self.timetuple().tm_yday

    @property
    def quarter(self) -> int:
        """1 to 4."""
        return (self.month + 2) // 3

    @property
    def week(self) -> int:
        """The week of ISO 8601."""
        return self.isocalendar().week

    @property
    def days_in_month(self) -> int:
        """28 to 31."""
        return calendar.monthrange(self.year, self.month)[1]

    @property
    def is_leap_year(self) -> bool:
        """Whether the year has 366 days."""
        return calendar.isleap(self.year)

    @property
    def is_month_start(self) -> bool:
        """Whether it is the first day of a month."""
        return self.day == 1

    @property
    def is_month_end(self) -> bool:
        """Whether it is the last day of a month."""
        return self.day == self.days_in_month

    day_of_week = dayofweek
    day_of_year = dayofyear
    daysinmonth = days_in_month
    weekofyear = week


def _in_zone(moment: Timestamp, tz: Any) -> Timestamp:
    return moment.tz_convert(tz) if moment.tzinfo else moment.tz_localize(tz)


def _kept(name: str) -> Any:
    """An operation of timedeltas whose result is a Timedelta."""
    plain = getattr(datetime.timedelta, name)

    def method(length: Any, *others: Any) -> Any:
        made = plain(length, *map(_plain_length, others))
        return Timedelta(made) if type(made) is datetime.timedelta else made

    return method


def _plain_length(value: Any) -> Any:
    if type(value).__module__ == "numpy" and getattr(value, "ndim", 1) == 0:
        return Timedelta(value) if value.dtype.kind == "m" else value.item()
    return value


class Timedelta(datetime.timedelta):
    """A duration: a Python timedelta that is also made of text such as ``"1 day 2h"``.

    >>> hr.Timedelta("1D 2h30min"), hr.Timedelta(90, "min") / hr.Timedelta(hours=1)
    (Timedelta('1 days 02:30:00'), 1.5)
    >>> hr.Timedelta("1 day") == hr.Timedelta(24, "h"), hr.Timedelta(hours=2).total_seconds()
    (True, 7200.0)
    """

    def __new__(cls, value: Any = _EMPTY, unit: Any = None, *rest: Any, **parts: Any) -> Timedelta:  # noqa: D102
        if value is _EMPTY:
            return super().__new__(cls, **parts)
        if is_missing(value) or (isinstance(value, str) and value == "NaT"):
            return NaT
        if rest:  # from a pickle
            return super().__new__(cls, value, unit, *rest)
        if isinstance(value, int | float):
            micro = Fraction(value) * length_of("Timedelta", unit or "ns") / 1000
            length = datetime.timedelta(microseconds=int(micro))
        elif isinstance(value, str):
            known = nanoseconds_of(value)
            length = (
                to_timedelta(value)
                if known is None
                else datetime.timedelta(microseconds=known // 1000)
            )
        elif hasattr(value, "nanos"):
            length = datetime.timedelta(microseconds=value.nanos // 1000)
        elif type(value).__module__ == "numpy":
            length = value.astype("timedelta64[us]").item()
        else:
            length = value
        if not isinstance(length, datetime.timedelta):
            raise TypeMismatchError(f"Timedelta: expected a duration: value={value!r}")
        return super().__new__(cls, length.days, length.seconds, length.microseconds)

    __add__: Any = _kept("__add__")
    __radd__: Any = _kept("__add__")
    __sub__: Any = _kept("__sub__")
    __rsub__: Any = _kept("__rsub__")
    __mul__: Any = _kept("__mul__")
    __rmul__: Any = _kept("__mul__")
    __truediv__: Any = _kept("__truediv__")
    __floordiv__: Any = _kept("__floordiv__")
    __mod__: Any = _kept("__mod__")
    __neg__: Any = _kept("__neg__")
    __abs__: Any = _kept("__abs__")

    def __reduce__(self) -> Any:
        return Timedelta, (self.days, self.seconds, self.microseconds)

    def __str__(self) -> str:
        parts = self.components
        text = f"{parts.days} days {parts.hours:02}:{parts.minutes:02}:{parts.seconds:02}"
        text = text if self.days >= 0 else text.replace(" days ", " days +")
        return f"{text}.{self.microseconds:06}" if self.microseconds else text

    def __repr__(self) -> str:
        return f"Timedelta({str(self)!r})"

    @property
    def components(self) -> Components:
        """Days, hours, minutes, seconds, ..., as a named tuple."""
        minutes, seconds = divmod(self.seconds, 60)
        milli, micro = divmod(self.microseconds, 1000)
        return Components(self.days, *divmod(minutes, 60), seconds, milli, micro, 0)

    @property
    def value(self) -> int:
        """Nanoseconds."""
        micro = (self.days * 86_400 + self.seconds) * 10**6 + self.microseconds
        return micro * 1000

    @property
    def nanoseconds(self) -> int:
        """Always 0."""
        return 0

    def floor(self, freq: Any) -> Timedelta:
        """Rounded down to a multiple of a length; see `Series.dt.floor`."""
        return Timedelta(_one(self).dt.floor(freq).to_list()[0])

    def ceil(self, freq: Any) -> Timedelta:
        """Rounded up to a multiple of a length."""
        return Timedelta(_one(self).dt.ceil(freq).to_list()[0])

    def round(self, freq: Any) -> Timedelta:
        """Rounded to the nearest multiple of a length."""
        return Timedelta(_one(self).dt.round(freq).to_list()[0])

    def to_pytimedelta(self) -> datetime.timedelta:
        """A plain timedelta."""
        return datetime.timedelta(self.days, self.seconds, self.microseconds)

    def to_timedelta64(self) -> Any:
        """A NumPy timedelta64 in microseconds."""
        import numpy as np

        return np.timedelta64(self.to_pytimedelta(), "us")

    to_numpy = to_timedelta64


class Components(NamedTuple):
    """The parts of a duration."""

    days: int
    hours: int
    minutes: int
    seconds: int
    milliseconds: int
    microseconds: int
    nanoseconds: int


Column._timestamp, Column._timedelta = Timestamp, Timedelta
