# SPDX-License-Identifier: Apache-2.0
"""Times as text and from text: `hr.to_datetime`, `Series.dt.strftime`, names, ends of periods."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from headrace import _core
from headrace.deferred import mark
from headrace.errors import InvalidArgumentError, TypeMismatchError

if TYPE_CHECKING:
    from headrace.series import Series

_UNITS = ("D", "s", "ms", "us", "ns")


def to_datetime(
    values: Any,
    *,
    format: str | None = None,
    errors: str = "raise",
    unit: str | None = None,
    utc: bool = False,
    dtype: str = "datetime64[us]",
) -> Any:
    """The times that texts or numbers are, as ``datetime64[us]`` or another `dtype`.

    Parameters
    ----------
    values : Series, or what `hr.Series` takes
        Texts; numbers with `unit`; dates and times.
    format : str, optional
        A pattern of ``%Y %y %m %d %H %I %M %S %f %p %b %B %F %T``; all else stands for itself.
        Without it texts are ``YYYY-MM-DD[ T]HH:MM[:SS[.fraction]]``.
    errors : {"raise", "coerce"}
        A text that is no such time is an error, or null.
    unit : {"D", "s", "ms", "us", "ns"}, optional
        What numbers count from 1970 on.
    utc : bool
        The same as ``dtype="datetime64[us, UTC]"``.
    dtype : str
        ``date`` or ``datetime64`` with a unit, and with a zone: then ISO texts may have an offset,
        and those without one are clocks of the zone, as times without a zone are.

    Raises
    ------
    InvalidArgumentError
        For a letter of `format` that has no meaning, and, when it runs, for a text that does not
        fit: it names row and text.

    Examples
    --------
    >>> import headrace as hr
    >>> hr.to_datetime(["29.02.2024"], format="%d.%m.%Y", dtype="date").to_list()
    [datetime.date(2024, 2, 29)]
    """
    from headrace.dtypes import dtype_word
    from headrace.series import Series
    from headrace.text import is_text
    from headrace.zones import know_zone, zone_in

    mark("to_datetime")
    if errors not in ("raise", "coerce"):
        raise InvalidArgumentError(
            f"to_datetime: no such word: errors={errors!r}; pass raise or coerce"
        )
    column = Series([values] if isinstance(values, str) else values)
    word = dtype_word(f"{dtype.removesuffix(']')}, UTC]" if utc and "," not in dtype else dtype)
    know_zone(word)
    if is_text(column):
        node = _core.times_of_texts(column._node, format or "", word, errors == "coerce")
        made: Series = column._like(node)
        return made.to_list()[0] if isinstance(values, str) else made
    if column.dtype.kind in "iuf":
        if unit not in _UNITS:
            raise InvalidArgumentError(
                f"to_datetime: a unit of the numbers is wanted: unit={unit!r}; "
                f"pass {', '.join(_UNITS)}"
            )
        days = unit == "D"
        whole = column.astype("int64")
        times = whole * 86_400 if days else whole
        plain = f"datetime64[{'s' if days else unit}]"
        zone = zone_in(word)
        counted = f"{plain[:-1]}, {zone}]" if zone else plain
        return column._like(_core.retype(times._node, counted)).astype(word)
    if column.dtype.kind != "M":
        raise TypeMismatchError(
            f"to_datetime: texts, numbers or times are wanted: dtype={str(column.dtype)!r}"
        )
    if zone := zone_in(word):
        has_zone = zone_in(str(column.dtype))
        column = column.dt.tz_convert(zone) if has_zone else column.dt.tz_localize(zone)
    return column.astype(word)


def to_timedelta(
    values: Any, *, unit: str | None = None, errors: str = "raise", dtype: str = "timedelta64[us]"
) -> Any:
    """The durations that texts or numbers are, as ``timedelta64[us]`` or another `dtype`.

    Parameters
    ----------
    values : Series, or what `hr.Series` takes
        Texts ``[-]D days [+]HH:MM[:SS[.fraction]]``, of which days or clock may be missing; whole
        numbers with `unit`; durations.
    unit : {"D", "s", "ms", "us", "ns"}, optional
        What numbers count.
    errors : {"raise", "coerce"}
        A text that is no such duration is an error, or null.
    dtype : str
        ``timedelta64`` with a unit.

    Raises
    ------
    InvalidArgumentError
        When it runs, for a text that does not fit: it names row and text.

    Examples
    --------
    >>> import headrace as hr
    >>> [str(each) for each in hr.to_timedelta(["1 days 02:00:00", "-00:30"]).to_list()]
    ['1 day, 2:00:00', '-1 day, 23:30:00']
    """
    from headrace.dtypes import dtype_word
    from headrace.series import Series
    from headrace.text import is_text

    mark("to_timedelta")
    if errors not in ("raise", "coerce"):
        raise InvalidArgumentError(
            f"to_timedelta: no such word: errors={errors!r}; pass raise or coerce"
        )
    column = Series([values] if isinstance(values, str) else values)
    word = dtype_word(dtype)
    if is_text(column):
        node = _core.times_of_texts(column._node, "", word, errors == "coerce")
        made: Series = column._like(node)
        return made.to_list()[0] if isinstance(values, str) else made
    if column.dtype.kind in "iu":
        if unit not in _UNITS:
            raise InvalidArgumentError(
                f"to_timedelta: a unit of the numbers is wanted: unit={unit!r}; "
                f"pass {', '.join(_UNITS)}"
            )
        whole = column.astype("int64") * (86_400 if unit == "D" else 1)
        counted = _core.retype(whole._node, f"timedelta64[{'s' if unit == 'D' else unit}]")
        return column._like(counted).astype(word)
    if column.dtype.kind != "m":
        raise TypeMismatchError(
            "to_timedelta: texts, whole numbers or durations are wanted: "
            f"dtype={str(column.dtype)!r}"
        )
    return column.astype(word)


class TimeTexts:
    """The part of `Series.dt` that writes texts, and tests where in a period a day is."""

    __slots__ = ()

    def strftime(self: Any, date_format: str) -> Series:
        """Each time as text by a pattern, in English; null stays null.

        The letters are ``%Y %y %m %d %H %I %M %S %f %p %j %a %A %b %B %F %T``.

        >>> import datetime
        >>> import headrace as hr
        >>> hr.Series([datetime.date(2024, 2, 29)]).dt.strftime("%d %b %Y, a %A").to_list()
        ['29 Feb 2024, a Thursday']
        """
        mark("strftime")
        return self._made(_core.texts_of_times(self._series._node, date_format))  # type: ignore[no-any-return]

    def day_name(self) -> Series:
        """Monday to Sunday."""
        return self.strftime("%A")

    def month_name(self) -> Series:
        """January to December."""
        return self.strftime("%B")

    def normalize(self: Any) -> Series:
        """Midnight of the same day; the dtype stays."""
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
        """True in a year that has a 29th of February."""
        year = self.year
        return (year % 4 == 0) & ((year % 100 != 0) | (year % 400 == 0))  # type: ignore[no-any-return]
