# SPDX-License-Identifier: Apache-2.0
"""Moments, durations and regular times: `hr.Timestamp`, `hr.Timedelta`, `hr.date_range`."""

from __future__ import annotations

import datetime
import re
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from headrace.errors import InvalidArgumentError, TypeMismatchError
from headrace.rows import whole_number
from headrace.series.column import new_series
from headrace.series.parse_times import to_datetime, to_timedelta

if TYPE_CHECKING:
    from headrace.series.series import Series

#: Microseconds of the periods of fixed length.
_TICKS = {
    **{"us": 1, "ms": 10**3, "s": 10**6, "min": 60 * 10**6, "h": 3600 * 10**6},
    **{"D": 86_400 * 10**6},
}
_OLD_WORDS = {"T": "min", "H": "h", "S": "s", "L": "ms", "U": "us", "d": "D", "M": "ME"}
_OLD_WORDS |= {"Q": "QE", "Y": "YE", "A": "YE"}
_MONTHS = {"MS": 1, "QS": 3, "YS": 12, "ME": 1, "QE": 3, "YE": 12}
_DAYS = ("MON", "TUE", "WED", "THU", "FRI", "SAT", "SUN")


class Frequency(NamedTuple):
    """A period: `multiple` times microseconds, weeks that end on a weekday, months, or workdays."""

    multiple: int
    unit: str
    #: The last weekday of a week, from Monday as 0.
    weekday: int = 6

    @property
    def ticks(self) -> int:
        """Microseconds; 0 for weeks and calendar periods."""
        return self.multiple * _TICKS.get(self.unit, 0)

    @property
    def months(self) -> int:
        """Months; 0 for other periods."""
        return self.multiple * _MONTHS.get(self.unit, 0)

    @property
    def is_end(self) -> bool:
        """Whether the period is named by its last day."""
        return self.unit in ("ME", "QE", "YE", "W")


def frequency(op: str, freq: Any) -> Frequency:
    """A frequency as pandas writes it: ``"D"``, ``"15min"``, ``"W-MON"``, ``"ME"``, a timedelta."""
    if isinstance(freq, datetime.timedelta):
        micro = freq // datetime.timedelta(microseconds=1)
        if micro <= 0:
            raise InvalidArgumentError(f"{op}: expected a positive frequency: freq={freq!r}")
        return Frequency(micro, "us")
    match = re.fullmatch(r"(\d*)\s*([A-Za-z]+)(?:-([A-Z]{3}))?", str(freq))
    count, unit, day = (int(match[1] or 1), match[2], match[3]) if match else (0, "", None)
    unit = _OLD_WORDS.get(unit, unit)
    known = unit in _TICKS or unit in _MONTHS or unit in ("W", "B")
    if count < 1 or not known or (day is not None and (unit != "W" or day not in _DAYS)):
        raise InvalidArgumentError(
            f"{op}: unknown frequency: freq={freq!r}; expected a number and one of "
            f"{', '.join([*_TICKS, 'B', 'W', *_MONTHS])}, such as '15min' or 'W-MON'"
        )
    return Frequency(count, unit, _DAYS.index(day) if day else 6)


class Timestamp(datetime.datetime):
    """A moment: a Python datetime that is also made of ISO 8601 text, with some of pandas' methods.

    To the microsecond; use `numpy.datetime64` for nanoseconds.

    >>> import headrace as hr
    >>> moment = hr.Timestamp("2024-02-29 13:45")
    >>> moment.day_name(), moment.floor("h").hour, moment + hr.Timedelta(days=1)
    ('Thursday', 13, Timestamp('2024-03-01 13:45:00'))
    """

    def __new__(cls, value: Any = None, *args: Any, **parts: Any) -> Timestamp:  # noqa: D102
        moment = value
        if value is None:
            return super().__new__(cls, **parts)
        if isinstance(value, int | bytes):  # bytes: from a pickle
            return super().__new__(cls, moment, *args, **parts)
        if isinstance(value, str):
            moment = to_datetime([value]).to_list()[0]
        elif type(value).__module__ == "numpy":
            moment = value.astype("datetime64[us]").item()
        elif hasattr(value, "to_pydatetime"):
            moment = value.to_pydatetime(warn=False)
        if not isinstance(moment, datetime.date):
            raise TypeMismatchError(f"Timestamp: expected a time: value={value!r}")
        clock = (
            moment
            if isinstance(moment, datetime.datetime)
            else datetime.datetime(moment.year, moment.month, moment.day)
        )
        return cls.combine(clock.date(), clock.timetz())

    def __repr__(self) -> str:
        return f"Timestamp({str(self)!r})"

    def normalize(self) -> Timestamp:
        """Midnight of the day."""
        return self.replace(hour=0, minute=0, second=0, microsecond=0)

    def floor(self, freq: Any) -> Timestamp:
        """The start of the period that contains this moment; see `Series.dt.floor`."""
        return Timestamp(new_series([self]).dt.floor(freq).to_list()[0])

    def ceil(self, freq: Any) -> Timestamp:
        """The end of the period that contains this moment; see `Series.dt.ceil`."""
        return Timestamp(new_series([self]).dt.ceil(freq).to_list()[0])

    def day_name(self) -> str:
        """Monday to Sunday."""
        return self.strftime("%A")

    def month_name(self) -> str:
        """January to December."""
        return self.strftime("%B")

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


class Timedelta(datetime.timedelta):
    """A duration: a Python timedelta that is also made of text such as ``"1 day 2h"``.

    >>> import headrace as hr
    >>> hr.Timedelta("1 day") == hr.Timedelta(24, "h"), hr.Timedelta(hours=2).total_seconds()
    (True, 7200.0)
    """

    def __new__(cls, value: Any = None, unit: str | None = None, **parts: Any) -> Timedelta:  # noqa: D102
        if value is None:
            return super().__new__(cls, **parts)
        length = value
        if isinstance(value, int | float):
            micro = frequency("Timedelta", unit or "us").ticks
            length = datetime.timedelta(microseconds=value * micro)
        elif isinstance(value, str):
            length = to_timedelta([value]).to_list()[0]
        elif type(value).__module__ == "numpy":
            length = value.astype("timedelta64[us]").item()
        if not isinstance(length, datetime.timedelta):
            raise TypeMismatchError(f"Timedelta: expected a duration: value={value!r}")
        return super().__new__(cls, length.days, length.seconds, length.microseconds)


def times_between(first: Any, last: Any, freq: Frequency) -> Any:
    """The times of a frequency from `first` to `last`, as NumPy's datetime64 in microseconds."""
    import numpy as np

    if freq.ticks:
        return np.arange(first, last + np.timedelta64(1, "us"), np.timedelta64(freq.ticks, "us"))
    clock = first - first.astype("datetime64[D]")
    day, end = first.astype("datetime64[D]"), last.astype("datetime64[D]")
    if freq.unit == "B":
        days = np.arange(day, end + 1)
        made = days[np.is_busday(days)][:: freq.multiple]
    elif freq.unit == "W":
        ahead = (freq.weekday - (day.astype("int64") + 3)) % 7  # 1970 began on a Thursday
        made = np.arange(day + ahead, end + 1, 7 * freq.multiple)
    else:
        ends = 1 if freq.is_end else 0
        each = _MONTHS[freq.unit]
        month = day.astype("datetime64[M]").astype("int64")
        month -= month % each
        starts = np.arange(month, end.astype("datetime64[M]").astype("int64") + each + 1, each)
        days = (starts + ends * each).astype("datetime64[M]").astype("datetime64[D]") - ends
        made = days[(days >= day) & (days <= end)][:: freq.multiple]
    made = made.astype("datetime64[us]") + clock
    return made[made <= last]


def date_range(
    start: Any = None,
    end: Any = None,
    periods: int | None = None,
    freq: Any = None,
    *,
    normalize: bool = False,
    name: str | None = None,
    inclusive: Literal["both", "left", "right", "neither"] = "both",
) -> Series:
    """Regular times.

    Parameters
    ----------
    start, end : str or datetime, optional
        The first and the last moment: of `start`, `end`, `periods` and `freq` three are needed,
        where `freq` is a day if it is not given.
    periods : int, optional
        How many times; with `start` and `end` and without `freq` they are equally spaced.
    freq : str or timedelta, optional
        ``"D"``, ``"h"``, ``"15min"``, ``"s"``, ``"ms"``, ``"us"``; ``"B"``: Monday to Friday;
        ``"W"``, ``"W-MON"``: weekly on Sunday, on Monday; ``"MS"``, ``"QS"``, ``"YS"``: first days
        of months, quarters, years; ``"ME"``, ``"QE"``, ``"YE"``: their last days.
    normalize : bool
        Start and end at midnight.
    name : str, optional
        Name of the series.
    inclusive : {"both", "left", "right", "neither"}
        Whether `start` and `end` themselves belong to the result.

    Returns
    -------
    Series
        Timestamps in microseconds.

    Raises
    ------
    InvalidArgumentError
        For an unknown frequency, or too few or too many of the four.

    Examples
    --------
    >>> import headrace as hr
    >>> hr.date_range("2024-01-31", periods=3, freq="ME").dt.day.to_list()
    [31, 29, 31]
    """
    import numpy as np

    ends = [
        None if each is None else np.datetime64(Timestamp(each).replace(tzinfo=None), "us")
        for each in (start, end)
    ]
    if normalize:
        days = [None if each is None else each.astype("datetime64[D]") for each in ends]
        ends = [None if each is None else each.astype("datetime64[us]") for each in days]
    first, last = ends
    given = sum(each is not None for each in (first, last, periods))
    if given == 3 and freq is None:
        assert first is not None
        assert last is not None
        steps = np.linspace(0, 1, whole_number("date_range", "periods", periods))
        made = first + (steps * (last - first).astype("int64")).round().astype("timedelta64[us]")
    elif given != 2:
        raise InvalidArgumentError(
            "date_range: expected three of start, end, periods and freq: "
            f"start={start!r}, end={end!r}, periods={periods!r}, freq={freq!r}"
        )
    else:
        step = frequency("date_range", freq or "D")
        if periods is None:
            made = times_between(first, last, step)
        else:
            count = whole_number("date_range", "periods", periods)
            most = np.timedelta64(
                (count + 2) * (step.ticks or step.multiple * _widest(step) * _TICKS["D"]), "us"
            )
            if first is not None:
                made = times_between(first, first + most, step)[:count]
            else:
                assert last is not None
                made = _until(last, most, step, count)
    if inclusive not in ("both", "left", "right", "neither"):
        raise InvalidArgumentError(f"date_range: invalid value: inclusive={inclusive!r}")
    if inclusive in ("right", "neither") and first is not None:
        made = made[made != first]
    if inclusive in ("left", "neither") and last is not None:
        made = made[made != last]
    return new_series(made, name)


def _widest(freq: Frequency) -> int:
    """The most days of one step."""
    return 3 if freq.unit == "B" else 7 if freq.unit == "W" else 31 * _MONTHS[freq.unit]


def _until(last: Any, most: Any, freq: Frequency, count: int) -> Any:
    """The last `count` times up to a moment."""
    import numpy as np

    if freq.ticks:
        return last - np.arange(count)[::-1] * np.timedelta64(freq.ticks, "us")
    single = times_between(last - most, last, freq._replace(multiple=1))
    return single[:: -freq.multiple][:count][::-1]


def bdate_range(start: Any = None, end: Any = None, periods: int | None = None) -> Series:
    """Days from Monday to Friday; see `date_range`.

    >>> import headrace as hr
    >>> hr.bdate_range("2024-03-01", periods=2).dt.day_name().to_list()
    ['Friday', 'Monday']
    """
    return date_range(start, end, periods, "B")
