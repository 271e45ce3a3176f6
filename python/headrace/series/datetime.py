# SPDX-License-Identifier: Apache-2.0
"""Conversions of dates and timestamps, and their `Series.dt` accessor."""

from __future__ import annotations

import datetime
from typing import TYPE_CHECKING, Any, Final

from headrace import _core
from headrace.errors import InvalidArgumentError, TypeMismatchError
from headrace.facade import Field, facade
from headrace.frame.columns import frame_of
from headrace.lazy.handle import Deferred
from headrace.rows import whole_number
from headrace.series.column import new_series
from headrace.series.timezone import know_zone, known_name, localize_words
from headrace.time_units import objects, period, unit_of
from headrace.zone_names import zone_in, zone_of

if TYPE_CHECKING:
    from headrace.frame.dataframe import DataFrame
    from headrace.series.series import Series


_EXAMPLE = """>>> from datetime import datetime
>>> hr.Series([datetime(2024, 2, 29, 13, 45, 10, 250)]).dt.{name}.to_list()
"""


def is_time(value: Any) -> bool:
    """A column of dates or timestamps."""
    return isinstance(value, Deferred) and value._node.dtype.startswith(("date",))


@facade("Series.dt")
class TimeAccessor:
    """Calendar and clock fields of each date or timestamp; null for null.

    Numbers are int32, as in pandas. Zoned timestamps use local time.
    """

    __slots__ = ("_series",)

    def __init__(self, series: Series) -> None:
        if not is_time(series):
            raise TypeMismatchError(
                f"dt: expected a column of dates or timestamps: dtype={str(series.dtype)!r}; "
                "use astype('date') first"
            )
        know_zone(series._node.dtype)
        self._series = series

    def _made(self, node: _core.Node) -> Series:
        return self._series._like(node)

    def _localized(self, node: _core.Node, ambiguous: Any) -> Series:
        if isinstance(ambiguous, str) and ambiguous == "infer":
            _core.force([node])
        return self._made(node)

    def _field(self, name: str) -> Series:
        made = self._made(_core.time_field(self._series._node, name))
        return made.fill_null(False) if name.startswith("is_") else made

    year: Final = Field("The year.", _EXAMPLE + "[2024]")
    month: Final = Field("The month, 1 to 12.", _EXAMPLE + "[2]")
    day: Final = Field("The day of the month, 1 to 31.", _EXAMPLE + "[29]")
    day_of_year: Final = Field("The day of the year, 1 to 366.", _EXAMPLE + "[60]")
    dayofyear: Final = day_of_year
    days_in_month: Final = Field("Days of the month, 28 to 31.", _EXAMPLE + "[29]")
    daysinmonth: Final = days_in_month
    quarter: Final = Field("The quarter of the year, 1 to 4.", _EXAMPLE + "[1]")
    day_of_week: Final = Field("The day of the week: 0 is Monday, 6 Sunday.", _EXAMPLE + "[3]")
    dayofweek: Final = day_of_week
    weekday: Final = day_of_week
    hour: Final = Field("Hours of the day, 0 to 23; 0 for dates.", _EXAMPLE + "[13]")
    minute: Final = Field("Minutes of the hour, 0 to 59.", _EXAMPLE + "[45]")
    second: Final = Field("Seconds of the minute, 0 to 59.", _EXAMPLE + "[10]")
    microsecond: Final = Field("Microseconds of the second, 0 to 999,999.", _EXAMPLE + "[250]")
    nanosecond: Final = Field("Nanoseconds of the microsecond, 0 to 999.", _EXAMPLE + "[0]")
    date: Final = Field("The day, as a date.", _EXAMPLE + "[datetime.date(2024, 2, 29)]")
    is_month_start: Final = Field("True on the first day of a month.")
    is_month_end: Final = Field("True on the last day of a month.", _EXAMPLE + "[True]")
    is_quarter_start: Final = Field("True on the first day of a quarter.")
    is_quarter_end: Final = Field("True on the last day of a quarter.")
    is_year_start: Final = Field("True on the first of January.")
    is_year_end: Final = Field("True on the last of December.")
    is_leap_year: Final = Field("True in a leap year.", _EXAMPLE + "[True]")

    @property
    def time(self) -> Series:
        """The time of day as a string, `HH:MM:SS`, with a fraction where there is one.

        >>> from datetime import datetime
        >>> hr.Series([datetime(2024, 2, 29, 13, 45, 10, 250)]).dt.time.to_list()
        ['13:45:10.000250']
        """
        text = self.strftime("%H:%M:%S")
        if unit_of(str(self._series.dtype)) in ("s", "D"):
            return text
        return text.where(self.microsecond == 0, self.strftime("%H:%M:%S.%f"))

    @property
    def unit(self) -> str:
        """The unit of the dtype: ``"s"``, ``"ms"``, ``"us"``, ``"ns"``; ``"D"`` of dates."""
        return unit_of(str(self._series.dtype))

    def as_unit(self, unit: str) -> Series:
        """The same times in another unit, rounded down.

        >>> str(hr.to_datetime(["2024-02-29"]).dt.as_unit("ns").dtype)
        'datetime64[ns]'
        """
        zone = zone_in(self._series._node.dtype)
        return self._series.astype(f"datetime64[{unit}{f', {zone}' if zone else ''}]")

    def to_pydatetime(self) -> Any:
        """A NumPy array of Python datetimes; None for null."""
        return objects(self._series)

    @property
    def tz(self) -> datetime.tzinfo | None:
        """The zone as a Python tzinfo; None for naive times."""
        zone = zone_in(self._series._node.dtype)
        return zone_of(zone) if zone else None

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

        >>> import datetime
        >>> noon = hr.Series([datetime.datetime(2024, 7, 1, 12)])
        >>> berlin = noon.dt.tz_localize("Europe/Berlin")
        >>> str(berlin.dtype), berlin.dt.tz_convert("UTC").dt.hour.to_list()
        ('datetime64[us, Europe/Berlin]', [10])
        """
        zone = known_name(tz)
        words = localize_words(self._series._node, ambiguous, nonexistent)
        return self._localized(_core.localize(self._series._node, zone, *words), ambiguous)

    def tz_convert(self, tz: Any) -> Series:
        """The same instants in the zone `tz`; None gives naive UTC times.

        >>> import datetime
        >>> start = datetime.datetime(2024, 7, 1, 22, tzinfo=datetime.timezone.utc)
        >>> hr.Series([start]).dt.tz_convert("Asia/Tokyo").dt.day.to_list()
        [2]
        """
        return self._made(_core.convert_zone(self._series._node, known_name(tz)))

    def add_months(self, n: int) -> Series:
        """Add `n` months, or subtract for negative `n`; dtype and nulls are kept.

        A day beyond the month's end becomes its last day. Zoned times move in local time. The same
        as adding ``pandas.DateOffset(months=n)``, which also takes years, days and hours.

        Raises
        ------
        InvalidArgumentError
            On evaluation with the row of a time that is out of range, ambiguous or nonexistent.

        >>> import datetime
        >>> hr.Series([datetime.date(2024, 1, 31), None]).dt.add_months(1).to_list()
        [datetime.date(2024, 2, 29), None]
        """
        n = whole_number("add_months", "n", n)
        return self._series + _core.calendar_literal(n, 0, 0)

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
        >>> hr.Series([datetime.date(2024, 2, 29)]).dt.floor("MS").to_list()
        [datetime.date(2024, 2, 1)]
        """
        return self._multiples("floor", freq, ambiguous, nonexistent)

    def ceil(self, freq: Any, ambiguous: Any = "raise", nonexistent: Any = "raise") -> Series:
        """The end of the period that contains each time, or the time itself at a period start.

        >>> import datetime
        >>> hr.Series([datetime.datetime(2024, 2, 29, 9, 50)]).dt.ceil("15min").dt.hour.to_list()
        [10]
        """
        return self._multiples("ceil", freq, ambiguous, nonexistent)

    def round(self, freq: Any, ambiguous: Any = "raise", nonexistent: Any = "raise") -> Series:
        """The nearest period start; halves go to the even period.

        >>> from datetime import datetime
        >>> hr.Series([datetime(2024, 2, 29, 13, 45)]).dt.round("h").to_list()
        [datetime.datetime(2024, 2, 29, 14, 0)]
        """
        return self._multiples("round", freq, ambiguous, nonexistent)

    def _multiples(self, op: str, freq: Any, ambiguous: Any, nonexistent: Any) -> Series:
        node = self._series._node
        words = localize_words(node, ambiguous, nonexistent)
        return self._localized(_core.round_times(op, node, period(freq), *words), ambiguous)

    def to_period(self, freq: str) -> Series:
        """The name of the period of each time: a string that sorts as the periods do.

        ``"D"``, ``"M"``, ``"Q"`` and ``"Y"``: ``"2024-02-29"``, ``"2024-02"``, ``"2024Q1"``,
        ``"2024"``, as pandas prints its periods, ``"min"``, ``"h"`` and ``"W"`` too. Their ``dt``
        has `to_timestamp`, `start_time`, `end_time`, and the fields of times.

        >>> import datetime
        >>> hr.Series([datetime.date(2024, 2, 29)]).dt.to_period("M").to_list()
        ['2024-02']
        """
        patterns = {"D": "%Y-%m-%d", "M": "%Y-%m", "Y": "%Y", "A": "%Y", "Q": "%YQ"}
        patterns |= {"h": "%Y-%m-%d %H:00", "min": "%Y-%m-%d %H:%M"}
        if freq in ("W", "W-SUN"):
            first = self.floor("D") - self.day_of_week.astype("int64") * datetime.timedelta(days=1)
            last = first + datetime.timedelta(days=6)
            return first.dt.strftime("%Y-%m-%d/") + last.dt.strftime("%Y-%m-%d")
        if freq not in patterns:
            raise InvalidArgumentError(
                f"to_period: unknown period: freq={freq!r}; expected 'h', 'D', 'W', 'M', 'Q' or 'Y'"
            )
        name = self.strftime(patterns[freq])
        return name if freq != "Q" else name + self.quarter.astype("string")

    def isocalendar(self) -> DataFrame:
        """The year, week and day of ISO 8601: weeks begin on Monday and belong to Thursday's year.

        >>> import datetime
        >>> hr.Series([datetime.date(2024, 12, 30)]).dt.isocalendar().to_dict()
        {'year': [2025], 'week': [1], 'day': [1]}
        """
        days = new_series(self._series.astype("date")._plain())
        weekday = days.dt.day_of_week
        thursday = (days + (3 - weekday).astype("int64") * datetime.timedelta(days=1)).dt
        week = (thursday.day_of_year - 1) // 7 + 1
        parts = {"year": thursday.year, "week": week, "day": weekday + 1}
        return frame_of({name: self._made(part._node)._node for name, part in parts.items()})

    # ---- strings, starts and ends of periods ----------------------------------------------------
    def strftime(self, date_format: str) -> Series:
        """Format each time by a pattern, in English; null stays null.

        Supported: ``%Y %y %m %d %H %I %M %S %f %p %j %a %A %b %B %F %T``.

        >>> import datetime
        >>> hr.Series([datetime.date(2024, 2, 29)]).dt.strftime("%d %b %Y, a %A").to_list()
        ['29 Feb 2024, a Thursday']
        """
        return self._made(_core.format_times(self._series._node, date_format))

    def day_name(self) -> Series:
        """Monday to Sunday.

        >>> from datetime import datetime
        >>> hr.Series([datetime(2024, 2, 29, 13, 45)]).dt.day_name().to_list()
        ['Thursday']
        """
        return self.strftime("%A")

    def month_name(self) -> Series:
        """January to December."""
        return self.strftime("%B")

    def normalize(self) -> Series:
        """Midnight of the same day, in the same dtype.

        >>> from datetime import datetime
        >>> hr.Series([datetime(2024, 2, 29, 13, 45)]).dt.normalize().to_list()
        [datetime.datetime(2024, 2, 29, 0, 0)]
        """
        return self.floor("D")
