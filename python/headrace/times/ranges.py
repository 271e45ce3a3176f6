# SPDX-License-Identifier: Apache-2.0
"""Regular times: `hr.date_range`, and the frequencies that it and `resample` take."""

from __future__ import annotations

import datetime
import re
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from headrace.errors import InvalidArgumentError
from headrace.rows import whole_number
from headrace.series.column import labels_of, new_series
from headrace.time_units import length_of, nanoseconds_of
from headrace.times.scalars import Timedelta, Timestamp

if TYPE_CHECKING:
    from headrace.series.index import Index

#: Microseconds of the periods of fixed length.
_TICKS = {
    **{"us": 1, "ms": 10**3, "s": 10**6, "min": 60 * 10**6, "h": 3600 * 10**6},
    **{"D": 86_400 * 10**6},
}
_OLD_WORDS = {"T": "min", "Min": "min", "H": "h", "S": "s", "L": "ms", "U": "us", "d": "D"}
_OLD_WORDS |= {"M": "ME", "Q": "QE", "Y": "YE", "A": "YE", "BM": "BME"}
_MONTHS = {"MS": 1, "QS": 3, "YS": 12, "ME": 1, "QE": 3, "YE": 12}
_DAYS = ("MON", "TUE", "WED", "THU", "FRI", "SAT", "SUN")
_MONTH_NAMES: tuple[str, ...] = ("JAN", "FEB", "MAR", "APR", "MAY", "JUN")
_MONTH_NAMES += ("JUL", "AUG", "SEP", "OCT", "NOV", "DEC")


class Frequency(NamedTuple):
    """A period: `multiple` times microseconds, weeks that end on a weekday, months, or workdays."""

    multiple: int
    unit: str
    #: The last weekday of a week, from Monday as 0.
    weekday: int = 6
    #: The first month of a quarter or year, or the last one of an end.
    month: int = 1

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
    """A frequency as pandas writes it: ``"15min"``, ``"W-MON"``, ``"QE-FEB"``, a timedelta."""
    if isinstance(freq, Frequency):
        return freq
    if isinstance(freq, datetime.timedelta) or hasattr(freq, "nanos"):
        micro = length_of(op, freq) // 1000
        if micro <= 0:
            raise InvalidArgumentError(f"{op}: expected a positive frequency: freq={freq!r}")
        days, rest = divmod(micro, _TICKS["D"])
        return Frequency(micro, "us") if rest else Frequency(days, "D")
    text = str(getattr(freq, "freqstr", freq))
    match = re.fullmatch(r"(\d*)\s*([A-Za-z]+)(?:-([A-Z]{3}))?", text)
    count, unit, name = (int(match[1] or 1), match[2], match[3]) if match else (0, "", None)
    unit = _OLD_WORDS.get(unit, unit)
    anchors: tuple[str, ...] = ()
    anchors = _DAYS if unit == "W" else _MONTH_NAMES if unit[:1] in ("Q", "Y") else anchors
    known = unit in _TICKS or unit in _MONTHS or unit in ("W", "B")
    if count < 1 or not known or (name is not None and name not in anchors):
        if (fixed := nanoseconds_of(text)) and fixed > 0 and unit != "W":
            return frequency(op, datetime.timedelta(microseconds=fixed // 1000))
        raise InvalidArgumentError(
            f"{op}: unknown frequency: freq={freq!r}; expected a number and one of "
            f"{', '.join([*_TICKS, 'B', 'W', *_MONTHS])}, such as '15min' or 'W-MON'"
        )
    place = anchors.index(name) if name else -1
    if unit == "W":
        return Frequency(count, unit, place % 7)
    month = place + 1 if name else 12 if unit in ("QE", "YE") else 1
    return Frequency(count, unit, month=month)


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
        shift = (freq.month - 1 + ends) % each
        month = day.astype("datetime64[M]").astype("int64")
        month -= (month - shift) % each
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
    tz: Any = None,
) -> Index:
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
        Name of the labels.
    inclusive : {"both", "left", "right", "neither"}
        Whether `start` and `end` themselves belong to the result.
    tz : str or tzinfo, optional
        The zone, by default that of `start` or `end`. Days and longer steps keep the time of day.

    Returns
    -------
    Index
        Timestamps in microseconds, with the fields and methods of `Series.dt`.

    Raises
    ------
    InvalidArgumentError
        For an unknown frequency, or too few or too many of the four.

    >>> hr.date_range("2024-01-31", periods=3, freq="ME").day.to_list()
    [31, 29, 31]
    """
    import numpy as np

    moments = [None if each is None else Timestamp(each) for each in (start, end)]
    zones = [each.tzinfo for each in moments if each is not None and each.tzinfo is not None]
    if tz is None and zones:
        tz = zones[0]
    by_clock = freq is None or frequency("date_range", freq).ticks % _TICKS["D"] == 0
    moments = [m if m is None or tz is None else _in_zone(m, tz) for m in moments]
    if tz is not None and by_clock:
        moments = [m if m is None else m.replace(tzinfo=None) for m in moments]
    ends = [m if m is None else m.to_datetime64() for m in moments]
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
    times = labels_of(new_series(made)._node, name)
    if tz is None:
        return times
    local = times.tz_localize(tz if by_clock else "UTC")
    return labels_of((local if by_clock else local.dt.tz_convert(tz))._node, name)


def _in_zone(moment: Timestamp, tz: Any) -> Timestamp:
    return moment if moment.tzinfo else moment.tz_localize(tz)


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


def bdate_range(start: Any = None, end: Any = None, periods: int | None = None) -> Index:
    """Days from Monday to Friday; see `date_range`.

    >>> hr.bdate_range("2024-03-01", periods=2).day_name().to_list()
    ['Friday', 'Monday']
    """
    return date_range(start, end, periods, "B")


def timedelta_range(
    start: Any = None,
    end: Any = None,
    periods: int | None = None,
    freq: Any = None,
    name: str | None = None,
    closed: Literal["left", "right"] | None = None,
) -> Index:
    """Regular durations; see `date_range`.

    >>> hr.timedelta_range("0h", "2h", freq="h").total_seconds().to_list()
    [0.0, 3600.0, 7200.0]
    """
    ends = [None if each is None else _EPOCH + Timedelta(each) for each in (start, end)]
    inclusive = "both" if closed is None else closed
    made = date_range(ends[0], ends[1], periods, freq, name=name, inclusive=inclusive)
    return labels_of((made - _EPOCH)._node, name)


def period_range(
    start: Any = None, end: Any = None, periods: int | None = None, freq: str = "D"
) -> Index:
    """The names of consecutive periods; see `Series.dt.to_period`.

    >>> hr.period_range("2024-11", periods=3, freq="M").to_list()
    ['2024-11', '2024-12', '2025-01']
    """
    step = {"M": "MS", "Q": "QS", "Y": "YS", "A": "YS"}.get(freq, freq)
    ends = [None if each is None else period_start("period_range", each) for each in (start, end)]
    ends = [each if each is None or step == "D" else each.floor(step) for each in ends]
    return labels_of(date_range(ends[0], ends[1], periods, step).dt.to_period(freq)._node)


def period_start(op: str, value: Any) -> Timestamp:
    """The first moment of a period: ``"2024"``, ``"2024Q1"``, ``"2024-02"``, or a moment."""
    text = str(value)
    if match := re.fullmatch(r"(\d{4})-?Q([1-4])", text):
        return Timestamp(int(match[1]), 3 * int(match[2]) - 2, 1)
    if match := re.fullmatch(r"(\d{4})(?:-(\d{2}))?", text):
        return Timestamp(int(match[1]), int(match[2] or 1), 1)
    return Timestamp(value)


_EPOCH = datetime.datetime(1970, 1, 1)
