# SPDX-License-Identifier: Apache-2.0
"""Parse times and durations: `hr.to_datetime`, `hr.to_timedelta`."""

from __future__ import annotations

import re
from numbers import Real
from typing import TYPE_CHECKING, Any

from headrace import _core
from headrace.dtypes import dtype_word
from headrace.errors import InvalidArgumentError, TypeMismatchError
from headrace.frame.columns import is_frame
from headrace.lazy.handle import mark
from headrace.series.column import (
    is_index,
    is_series,
    labels_of,
    new_series,
    single_value,
    with_rows_of,
)
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
    """The resulting column, its value for a scalar argument; labels of a list or of labels."""
    if isinstance(values, _ONE):
        return single_value(made.to_list()[0])
    is_column = type(values).__name__ == "Series" or (is_series(values) and not is_index(values))
    return made if is_column else labels_of(made._node, made.name)


def to_datetime(
    values: Any,
    errors: str = "raise",
    dayfirst: bool = False,
    yearfirst: bool = False,
    utc: bool = False,
    format: str | None = None,
    unit: str | None = None,
    origin: Any = "unix",
    *,
    dtype: str | None = None,
) -> Any:
    """Convert strings or numbers to times.

    Parameters
    ----------
    values : Series, or what `hr.Series` takes
        Strings; numbers with `unit`, or integers written in `format`; dates and times. A frame with
        columns ``year``, ``month``, ``day``, and optionally ``hour``, ``minute``, ``second``, ...
    errors : {"raise", "coerce"}
        Whether an invalid string raises, or becomes null.
    dayfirst : bool
        Whether ``01/02/2024`` is the first of February.
    yearfirst : bool
        Whether ``01-02-03`` is in 2001.
    utc : bool
        Return times in UTC; strings may have an offset.
    format : str, optional
        A pattern of ``%Y %y %m %d %H %I %M %S %f %p %a %A %b %B %F %T %z``; other characters are
        literal. Without it strings are ``YYYY-MM-DD[ T]HH:MM[:SS[.fraction]]``, else all like the
        first: ``2/29/2024``, ``29 Feb 2024 13:45``, ... ``"ISO8601"``, or ``"mixed"``: each by
        itself.
    unit : {"D", "h", "min", "s", "ms", "us", "ns"}, optional
        The unit of numbers; NaN is null, and fractions keep microseconds.
    origin : "unix", "julian" or time
        From where numbers are counted.
    dtype : str, optional
        ``date`` or ``datetime64`` with a unit and optionally a zone: then ISO strings may have an
        offset; those without one, and naive times, are local times of the zone. By default the unit
        is ``us``, or ``ns`` if a string or the `unit` of numbers is finer; times keep theirs.

    Raises
    ------
    InvalidArgumentError
        For an unknown letter in `format`, and for a string that does not match, with its row. With
        `dtype` this is checked on evaluation; without it the strings are evaluated immediately.

    >>> hr.to_datetime(["29.02.2024"], format="%d.%m.%Y", dtype="date").to_list()
    [datetime.date(2024, 2, 29)]
    >>> str(hr.to_datetime(["2024-02-29 12:00:00.000000001"]).dtype)
    'datetime64[ns]'
    """
    mark("to_datetime")
    if values is None:
        return None
    if is_frame(values):
        return _of_parts(values, errors)
    column = _column_of("to_datetime", values, errors)
    word = dtype_word(dtype) if dtype else None
    texts = column.dtype.is_of("U")
    if origin != "unix":
        return _given(values, _from_origin(column, unit, origin, errors))
    if format == "mixed":
        found = _each(column, errors, dayfirst, yearfirst)
        return _given(values, found if not utc else found.dt.tz_localize("UTC"))
    first = first_text(column) if texts and word is None else None
    if format is None and first is not None:
        format = guessed_format(first, dayfirst, yearfirst)
    format = None if format == "ISO8601" else format
    if first is not None and not utc and (zone := _offset_zone(column, first, format)):
        made = to_datetime(column, errors, utc=True, format=format)
        return _given(values, made if zone == "UTC" else made.dt.tz_convert(zone))
    know_zone(word or "datetime64[us, UTC]")
    or_null = errors == "coerce"
    made = _core.to_datetime(column._node, format or "", or_null, str(unit or ""), word, utc)
    return _given(values, column._like(made))


def first_text(column: Any) -> str | None:
    """The first string that is there."""
    found = column[column.notna()].head(1).to_list()
    return found[0].strip() if found else None


_OFFSET = r":\d\d(?:\.\d+)?\s?(Z|[+-]\d\d:?\d*)$"


def _offset_zone(column: Series, first: str, format: str | None) -> str | None:
    """The zone of strings with the same offset from UTC."""
    if "%z" not in (format or "%z") or not (match := re.search(_OFFSET, first)):
        return None
    ends = column.dropna().str.strip().str.extract(_OFFSET).iloc[:, 0].unique()
    if len(ends) > 1:
        raise InvalidArgumentError(
            f"to_datetime: strings have several offsets: offsets={list(ends)[:3]}; pass utc=True"
        )
    sign, digits = match[1][0], match[1][1:].replace(":", "").ljust(4, "0")
    return "UTC" if sign == "Z" or digits == "0000" else f"{sign}{digits[:2]}:{digits[2:]}"


_DATES = (
    (r"\d{4}-\d{1,2}-\d{1,2}", "%Y-%m-%d"),
    (r"\d{4}/\d{1,2}/\d{1,2}", "%Y/%m/%d"),
    (r"\d{4}\.\d{1,2}\.\d{1,2}", "%Y.%m.%d"),
    (r"\d{4}\d{4}", "%Y%m%d"),
    (r"\d{4}-\d{2}", "%Y-%m"),
    (r"\d{4}", "%Y"),
    (r"[A-Za-z]{3} \d{1,2}, \d{4}", "%b %d, %Y"),
    (r"[A-Za-z]{4,} \d{1,2}, \d{4}", "%B %d, %Y"),
    (r"\d{1,2} [A-Za-z]{3} \d{4}", "%d %b %Y"),
    (r"\d{1,2}-[A-Za-z]{3}-\d{4}", "%d-%b-%Y"),
    (r"\d{1,2} [A-Za-z]{4,} \d{4}", "%d %B %Y"),
    (r"[A-Za-z]{3} \d{4}", "%b %Y"),
    (r"[A-Za-z]{4,} \d{4}", "%B %Y"),
)
_CLOCKS = (
    (r"", ""),
    (r"[ T]\d{1,2}:\d{2}", "%H:%M"),
    (r"[ T]\d{1,2}:\d{2}:\d{2}", "%H:%M:%S"),
    (r"[ T]\d{1,2}:\d{2}:\d{2}\.\d+", "%H:%M:%S.%f"),
    (r" \d{1,2}:\d{2} [AaPp][Mm]", "%I:%M %p"),
    (r" \d{1,2}:\d{2}:\d{2} [AaPp][Mm]", "%I:%M:%S %p"),
)


def guessed_format(text: str, dayfirst: bool = False, yearfirst: bool = False) -> str | None:
    """The pattern of a string, as pandas guesses it of the first; None for ISO 8601 and others."""
    if re.match(r"\d{4}-\d\d-\d\d", text):
        return None
    dates: tuple[tuple[str, str], ...] = _DATES
    form: tuple[str, ...]
    if match := re.match(r"(\d{1,2})([/.-])(\d{1,2})\2(\d{4}|\d{2})(?=$|[ T])", text):
        one, mark_, other, year = match.groups()
        if yearfirst and len(year) == 2:
            form = ("%y", "%m", "%d")
        else:
            days = int(one) > 12 or (dayfirst and int(other) <= 12)
            form = ("%d", "%m") if days else ("%m", "%d")
            form = (*form, "%Y" if len(year) == 4 else "%y")
        pattern = r"\d{1,2}" + re.escape(mark_) + r"\d{1,2}" + re.escape(mark_) + r"\d{2,4}"
        dates = ((pattern, mark_.join(form)),)
    for date, form_date in dates:
        for clock, form_clock in _CLOCKS:
            for zone, form_zone in (("", ""), (r"(Z|[+-]\d\d:?\d\d)", "%z")):
                if re.fullmatch(date + clock + zone, text):
                    between = text[re.match(date, text).end()] if clock else ""  # type: ignore[union-attr]
                    return form_date + between + form_clock + form_zone
    return None


def _each(column: Series, errors: str, dayfirst: bool, yearfirst: bool) -> Series:
    """Strings of several patterns: those of one pattern at a time."""
    texts = [None if text is None else text.strip() for text in column.to_list()]
    made: list[Any] = [None] * len(texts)
    rows: dict[str | None, list[int]] = {}
    for row, text in enumerate(texts):
        if text is not None:
            rows.setdefault(guessed_format(text, dayfirst, yearfirst), []).append(row)
    for form, places in rows.items():
        found = to_datetime([texts[row] for row in places], errors, format=form or "ISO8601")
        for row, moment in zip(places, found.to_list(), strict=True):
            made[row] = moment
    return with_rows_of(new_series(made, dtype="datetime64[us]"), column._node)


_PARTS = {"h": "hour", "m": "minute", "s": "second", "ms": "ms", "us": "us", "ns": "ns"}


def _of_parts(frame: Any, errors: str) -> Series:
    """Times of columns named after their parts."""
    names = {name.lower().rstrip("s") if len(name) > 2 else name: name for name in frame.columns}
    if missing := [word for word in ("year", "month", "day") if word not in names]:
        raise InvalidArgumentError(
            f"to_datetime: missing columns: missing={missing}, columns={frame.columns}"
        )
    if extra := [
        n for word, n in names.items() if word not in ("year", "month", "day", *_PARTS.values())
    ]:
        raise InvalidArgumentError(f"to_datetime: unknown columns: columns={extra}")
    number = frame[names["year"]].astype("int64") * 10_000
    number = number + frame[names["month"]].astype("int64") * 100
    number = number + frame[names["day"]].astype("int64")
    made = to_datetime(number.astype("string"), errors, format="%Y%m%d", dtype="datetime64[us]")
    for unit, word in _PARTS.items():
        if word in names:
            made = made + to_timedelta(frame[names[word]], unit="min" if unit == "m" else unit)
    return new_series(made._plain())


def _from_origin(column: Series, unit: str | None, origin: Any, errors: str) -> Series:
    """Numbers counted from a moment."""
    if origin == "julian":
        if unit != "D":
            raise InvalidArgumentError(f"to_datetime: Julian dates are days: unit={unit!r}")
        return to_datetime(column - 2_440_587.5, errors, unit="D")
    if not column.dtype.is_of("iuf"):
        raise TypeMismatchError(
            f"to_datetime: numbers have an origin: dtype={str(column.dtype)!r}, origin={origin!r}"
        )
    start = to_datetime(origin) if isinstance(origin, str) else origin
    return to_timedelta(column, unit=unit or "ns", errors=errors) + start


def to_timedelta(
    values: Any, unit: str | None = None, errors: str = "raise", *, dtype: str | None = None
) -> Any:
    """Convert strings or numbers to durations.

    Parameters
    ----------
    values : Series, or what `hr.Series` takes
        Strings ``[-]D days [+]HH:MM[:SS[.fraction]]``, days or clock optional, or ``1h30min``;
        numbers with `unit`; durations.
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

    >>> [str(each) for each in hr.to_timedelta(["1 days 02:00:00", "-00:30"]).to_list()]
    ['1 day, 2:00:00', '-1 day, 23:30:00']
    """
    mark("to_timedelta")
    if values is None:
        return None
    column = _column_of("to_timedelta", values, errors)
    word = dtype_word(dtype) if dtype else None
    made = _core.to_timedelta(column._node, errors == "coerce", str(unit or ""), word)
    return _given(values, column._like(made))
