# SPDX-License-Identifier: Apache-2.0
"""Parse and format times: `hr.to_datetime`, `Series.dt.strftime`, names, period ends."""

from __future__ import annotations

from numbers import Real
from typing import TYPE_CHECKING, Any

from headrace import _core
from headrace.dtypes import dtype_word
from headrace.errors import InvalidArgumentError, TypeMismatchError
from headrace.lazy.handle import mark
from headrace.series.column import new_series
from headrace.series.duration import unit_of
from headrace.series.rounding import STEPS
from headrace.series.strings import is_text
from headrace.series.timezone import know_zone
from headrace.zone_names import zone_in

if TYPE_CHECKING:
    from headrace.series.series import Series

_ONE = (str, Real)  # scalars


def _column_of(op: str, values: Any, errors: str) -> Series:
    """The argument as a column; a scalar becomes one row."""
    if errors not in ("raise", "coerce"):
        raise InvalidArgumentError(
            f"{op}: invalid value: errors={errors!r}; expected 'raise' or 'coerce'"
        )
    return new_series([values] if isinstance(values, _ONE) else values)


def _of_texts(column: Series, format: str, dtype: str, errors: str) -> Series:
    """Parse strings to times; ``{}`` in `dtype` is the unit, chosen from the strings."""
    or_null = errors == "coerce"

    def times(unit: str, or_null: bool) -> _core.Node:
        return _core.parse_times(column._node, format, dtype.format(unit), or_null)

    if "{}" not in dtype:
        return column._like(times("", or_null))  # type: ignore[no-any-return]
    made, given = times("us", True), column.count()
    _core.force([made, given._node])
    if (~(whole := column._like(made)).is_null()).sum().item() == given.item():
        return whole  # type: ignore[no-any-return]
    fine = column._like(times("ns", True))
    unit = "ns" if (whole.is_null() & ~fine.is_null()).any().item() else "us"
    made = times(unit, or_null)
    _core.force([made])
    return column._like(made)  # type: ignore[no-any-return]


def _given(values: Any, made: Series) -> Any:
    """The resulting column, or its value for a scalar argument."""
    return made.to_list()[0] if isinstance(values, _ONE) else made


def _counted(op: str, column: Series, unit: str | None) -> tuple[Series, str]:
    """Numbers as integers of a time unit, and that unit; days become seconds.

    NaN becomes null, and fractions are rounded to microseconds.
    """
    step = STEPS.get("min" if unit == "m" else str(unit))
    if step is None:
        raise InvalidArgumentError(
            f"{op}: missing or unknown unit for numbers: unit={unit!r}; expected "
            f"{', '.join(map(repr, STEPS))}"
        )
    if column.dtype.kind == "f":
        column = column.astype("float64")
        column, step = column.where(column.notna()) * max(step / 1000, 1), min(step, 1000)
        column = column.round()
    own = min(step, 10**9)
    whole = column.astype("int64")
    unit = next(word for word, each in STEPS.items() if each == own)
    return (whole * (step // own) if step > own else whole), unit


def to_datetime(
    values: Any,
    *,
    format: str | None = None,
    errors: str = "raise",
    unit: str | None = None,
    utc: bool = False,
    dtype: str | None = None,
) -> Any:
    """Convert strings or numbers to times.

    Parameters
    ----------
    values : Series, or what `hr.Series` takes
        Strings; numbers with `unit`, or integers written in `format`; dates and times.
    format : str, optional
        A pattern of ``%Y %y %m %d %H %I %M %S %f %p %b %B %F %T``; other characters are literal.
        Without it strings are ``YYYY-MM-DD[ T]HH:MM[:SS[.fraction]]``.
    errors : {"raise", "coerce"}
        Whether an invalid string raises, or becomes null.
    unit : {"D", "h", "min", "s", "ms", "us", "ns"}, optional
        The unit of numbers, counted from 1970; NaN is null, and fractions keep microseconds.
    utc : bool
        Return times in UTC; ISO strings may have an offset.
    dtype : str, optional
        ``date`` or ``datetime64`` with a unit and optionally a zone: then ISO strings may have an
        offset; those without one, and naive times, are local times of the zone. By default the unit
        is ``us``, or ``ns`` if a string or the `unit` of numbers is finer; times keep theirs.

    Raises
    ------
    InvalidArgumentError
        For an unknown letter in `format`, and for a string that does not match, with its row. With
        `dtype` this is checked on evaluation; without it the strings are evaluated immediately.

    Examples
    --------
    >>> import headrace as hr
    >>> hr.to_datetime(["29.02.2024"], format="%d.%m.%Y", dtype="date").to_list()
    [datetime.date(2024, 2, 29)]
    >>> str(hr.to_datetime(["2024-02-29 12:00:00.000000001"]).dtype)
    'datetime64[ns]'
    """
    mark("to_datetime")
    column = _column_of("to_datetime", values, errors)
    wanted = dtype or "datetime64[{}]"
    wanted = f"{wanted.removesuffix(']')}, UTC]" if utc and "," not in wanted else wanted
    wanted = dtype_word(wanted) if dtype else wanted
    know_zone(wanted.format("us"))
    if format and column.dtype.kind in "iu":
        column = column.astype("string")
    if is_text(column):
        return _given(values, _of_texts(column, format or "", wanted, errors))
    zone = zone_in(wanted.format("us"))
    if column.dtype.kind in "iuf":
        whole, own = _counted("to_datetime", column, unit)
        counted = f"datetime64[{own}, {zone}]" if zone else f"datetime64[{own}]"
        times = column._like(_core.retype(whole._node, counted))
        return _given(values, times.astype(wanted.format("ns" if own == "ns" else "us")))
    if column.dtype.kind != "M":
        raise TypeMismatchError(
            f"to_datetime: expected strings, numbers or times: dtype={str(column.dtype)!r}"
        )
    own = unit_of(str(column.dtype))
    if not (dtype or utc or own == "D"):
        return column
    if zone:
        has_zone = zone_in(str(column.dtype))
        column = column.dt.tz_convert(zone) if has_zone else column.dt.tz_localize(zone)
    return column.astype(wanted.format("us" if own == "D" else own))


def to_timedelta(
    values: Any, *, unit: str | None = None, errors: str = "raise", dtype: str | None = None
) -> Any:
    """Convert strings or numbers to durations.

    Parameters
    ----------
    values : Series, or what `hr.Series` takes
        Strings ``[-]D days [+]HH:MM[:SS[.fraction]]``, days or clock optional; numbers with `unit`;
        durations.
    unit : {"D", "h", "min", "s", "ms", "us", "ns"}, optional
        The unit of numbers; NaN is null, and fractions keep microseconds.
    errors : {"raise", "coerce"}
        Whether an invalid string raises, or becomes null.
    dtype : str, optional
        ``timedelta64`` with a unit; by default chosen as in `to_datetime`.

    Raises
    ------
    InvalidArgumentError
        For a string that does not match, with its row; with `dtype` on evaluation.

    Examples
    --------
    >>> import headrace as hr
    >>> [str(each) for each in hr.to_timedelta(["1 days 02:00:00", "-00:30"]).to_list()]
    ['1 day, 2:00:00', '-1 day, 23:30:00']
    """
    mark("to_timedelta")
    column = _column_of("to_timedelta", values, errors)
    word = dtype_word(dtype) if dtype else "timedelta64[{}]"
    if is_text(column):
        return _given(values, _of_texts(column, "", word, errors))
    if column.dtype.kind in "iuf":
        whole, own = _counted("to_timedelta", column, unit)
        spans = column._like(_core.retype(whole._node, f"timedelta64[{own}]"))
        return _given(values, spans.astype(word.format("ns" if own == "ns" else "us")))
    if column.dtype.kind != "m":
        raise TypeMismatchError(
            f"to_timedelta: expected strings, numbers or durations: dtype={str(column.dtype)!r}"
        )
    return column.astype(word) if dtype else column


class TimeTexts:
    """The part of `Series.dt` that formats times, and tests for period starts and ends."""

    __slots__ = ()

    def strftime(self: Any, date_format: str) -> Series:
        """Format each time by a pattern, in English; null stays null.

        Supported: ``%Y %y %m %d %H %I %M %S %f %p %j %a %A %b %B %F %T``.

        >>> import datetime
        >>> import headrace as hr
        >>> hr.Series([datetime.date(2024, 2, 29)]).dt.strftime("%d %b %Y, a %A").to_list()
        ['29 Feb 2024, a Thursday']
        """
        mark("strftime")
        return self._made(_core.format_times(self._series._node, date_format))  # type: ignore[no-any-return]

    def day_name(self) -> Series:
        """Monday to Sunday.

        >>> from datetime import datetime
        >>> import headrace as hr
        >>> hr.Series([datetime(2024, 2, 29, 13, 45)]).dt.day_name().to_list()
        ['Thursday']
        """
        return self.strftime("%A")

    def month_name(self) -> Series:
        """January to December."""
        return self.strftime("%B")

    def normalize(self: Any) -> Series:
        """Midnight of the same day, in the same dtype.

        >>> from datetime import datetime
        >>> import headrace as hr
        >>> hr.Series([datetime(2024, 2, 29, 13, 45)]).dt.normalize().to_list()
        [datetime.datetime(2024, 2, 29, 0, 0)]
        """
        return self.floor("D")  # type: ignore[no-any-return]

    @property
    def daysinmonth(self: Any) -> Series:
        """The same as `days_in_month`."""
        return self.days_in_month  # type: ignore[no-any-return]

    @property
    def is_month_start(self: Any) -> Series:
        """True on the first day of a month."""
        return self.day == 1  # type: ignore[no-any-return]

    @property
    def is_month_end(self: Any) -> Series:
        """True on the last day of a month.

        >>> import datetime
        >>> import headrace as hr
        >>> hr.Series([datetime.date(2024, 2, 28), None]).dt.is_month_end.to_list()
        [False, None]
        """
        return self.day == self.days_in_month  # type: ignore[no-any-return]

    @property
    def is_quarter_start(self: Any) -> Series:
        """True on the first day of a quarter."""
        return self.is_month_start & (self.month % 3 == 1)  # type: ignore[no-any-return]

    @property
    def is_quarter_end(self: Any) -> Series:
        """True on the last day of a quarter."""
        return self.is_month_end & (self.month % 3 == 0)  # type: ignore[no-any-return]

    @property
    def is_year_start(self: Any) -> Series:
        """True on the first of January."""
        return self.is_month_start & (self.month == 1)  # type: ignore[no-any-return]

    @property
    def is_year_end(self: Any) -> Series:
        """True on the last of December."""
        return self.is_month_end & (self.month == 12)  # type: ignore[no-any-return]

    @property
    def is_leap_year(self: Any) -> Series:
        """True in a leap year.

        >>> from datetime import datetime
        >>> import headrace as hr
        >>> hr.Series([datetime(2024, 2, 29, 13, 45, 10, 250)]).dt.is_leap_year.to_list()
        [True]
        """
        year = self.year
        return (year % 4 == 0) & ((year % 100 != 0) | (year % 400 == 0))  # type: ignore[no-any-return]
