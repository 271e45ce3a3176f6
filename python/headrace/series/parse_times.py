# SPDX-License-Identifier: Apache-2.0
"""Parse times and durations: `hr.to_datetime`, `hr.to_timedelta`."""

from __future__ import annotations

from numbers import Real
from typing import TYPE_CHECKING, Any

from headrace import _core
from headrace.dtypes import dtype_word
from headrace.errors import InvalidArgumentError
from headrace.lazy.handle import mark
from headrace.series.column import new_series
from headrace.series.timezone import know_zone

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


def _given(values: Any, made: Series) -> Any:
    """The resulting column, or its value for a scalar argument."""
    return made.to_list()[0] if isinstance(values, _ONE) else made


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
    word = dtype_word(dtype) if dtype else None
    know_zone(word or "datetime64[us, UTC]")
    or_null = errors == "coerce"
    made = _core.to_datetime(column._node, format or "", or_null, str(unit or ""), word, utc)
    return _given(values, column._like(made))


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
    word = dtype_word(dtype) if dtype else None
    made = _core.to_timedelta(column._node, errors == "coerce", str(unit or ""), word)
    return _given(values, column._like(made))
