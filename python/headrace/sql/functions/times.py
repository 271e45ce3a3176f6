# SPDX-License-Identifier: Apache-2.0
"""Functions of dates and times."""

from __future__ import annotations

import calendar
import datetime
from collections.abc import Callable
from typing import Any

from headrace import _core
from headrace.errors import InvalidArgumentError, TypeMismatchError, UnsupportedError
from headrace.sql import operators
from headrace.sql.casts import cast
from headrace.sql.elementwise import run, where
from headrace.sql.functions.arguments import constant, numbers_of
from headrace.sql.syntax import exp, named
from headrace.sql.values import (
    INTEGERS,
    NULL,
    TIMESTAMP,
    Constant,
    Operand,
    column_of,
    is_time,
    type_name,
    value_of,
)

Expression = Any
Evaluate = Callable[[Expression], Operand]
ByName = Callable[[list[Operand], _core.Node], Operand]


_FIELDS = {
    **{"year": "year", "years": "year", "month": "month", "months": "month", "mon": "month"},
    **{"day": "day", "days": "day", "dayofmonth": "day", "quarter": "quarter", "hour": "hour"},
    **{"hours": "hour", "minute": "minute", "minutes": "minute", "dayofyear": "day_of_year"},
    **{"doy": "day_of_year", "second": "second", "seconds": "second", "y": "year", "yr": "year"},
    **{"mons": "month", "d": "day", "h": "hour", "hr": "hour", "m": "minute", "min": "minute"},
    **{"mins": "minute", "s": "second", "sec": "second", "secs": "second", "dayofmonth": "day"},
    **{"quarters": "quarter"},
}
#: Microseconds of the parts of a second.
_FRACTIONS = {
    **dict.fromkeys(("millisecond", "milliseconds", "ms", "msec", "msecs"), 1000),
    **dict.fromkeys(("microsecond", "microseconds", "us", "usec", "usecs"), 1),
}
#: Years of longer periods, and whether the first one begins with year 1.
_PERIODS = {
    **dict.fromkeys(("decade", "decades", "dec", "decs"), (10, False)),
    **dict.fromkeys(("century", "centuries", "cent", "c"), (100, True)),
    **dict.fromkeys(("millennium", "millenniums", "millennia", "mil", "mils"), (1000, True)),
}
_WEEKS = ("week", "weeks", "w", "weekofyear")


def time_part(word: str, operand: Operand, like: _core.Node) -> Operand:
    """EXTRACT and the functions of its words."""
    word = word.lower()
    if isinstance(operand, Constant) and operand.untyped:
        operand = cast(operand, TIMESTAMP)
    if operand.dtype == NULL:
        return Constant(None, "int64")
    if not is_time(operand.dtype):
        raise TypeMismatchError(
            f"sql: expected dates or times: function={word!r}, type={type_name(operand.dtype)}"
        )
    if operand.dtype == "datetime64[ns]":  # DuckDB rounds first
        operand = cast(operand, TIMESTAMP)
    node = column_of(operand, like)
    if word in _FIELDS:
        return value_of(_core.astype(_core.time_field(node, _FIELDS[word]), "int64"), 20)
    if word in ("dow", "weekday", "dayofweek", "isodow"):
        day = _core.astype(_core.time_field(node, "day_of_week"), "int64")
        if word == "isodow":
            return value_of(run("add", day, 1), 4)
        return value_of(run("remainder", run("add", day, 1), 7), 4)
    if word in _FRACTIONS:
        return _fraction(node, _FRACTIONS[word])
    if word in _PERIODS:
        return _period(node, *_PERIODS[word])
    if word in (*_WEEKS, "isoyear", "yearweek"):
        return _iso_week(node, word)
    if word == "epoch":
        return value_of(run("divide", _microseconds(node), 1e6))
    if word == "era":
        year = _core.astype(_core.time_field(node, "year"), "int64")
        return value_of(_core.astype(run("greater", year, 0), "int64"), 1)
    raise UnsupportedError(f"sql: unsupported part of a time: word={word.upper()!r}")


def _microseconds(node: _core.Node) -> _core.Node:
    """Since 1970, as integers."""
    if "," in node.dtype:  # an instant, the same number in any zone
        node = _core.retype(node, node.dtype.partition(",")[0] + "]")
    return _core.retype(_core.astype(node, TIMESTAMP), "int64")


def _fraction(node: _core.Node, per: int) -> Operand:
    """The seconds of the minute in parts of a second."""
    if node.dtype == "date":
        return value_of(_core.astype(run("multiply", _core.time_field(node, "day"), 0), "int64"))
    second = _core.astype(_core.time_field(node, "second"), "int64")
    parts = _core.astype(_core.time_field(node, "microsecond"), "int64")
    whole = run("add", run("multiply", second, 1_000_000), parts)
    return value_of(run("floor_divide", whole, per), 27)


def _period(node: _core.Node, years: int, from_one: bool) -> Operand:
    year = _core.astype(_core.time_field(node, "year"), "int64")
    if not from_one:
        cut = run("floor_divide", run("absolute", year), years)
        return value_of(where(run("less", year, 0), run("negative", cut), cut), 20)
    after = run("add", run("floor_divide", run("subtract", year, 1), years), 1)
    before = run("negative", run("add", run("floor_divide", run("negative", year), years), 1))
    return value_of(where(run("greater", year, 0), after, before), 20)


def _iso_week(node: _core.Node, word: str) -> Operand:
    """The week that holds the Thursday of the day's week, and its year."""
    days = _core.astype(_core.retype(_core.astype(node, "date"), "int32"), "int64")
    weekday = _core.astype(_core.time_field(node, "day_of_week"), "int64")
    thursday = run("add", run("subtract", days, weekday), 3)
    day = _core.retype(_core.astype(thursday, "int32"), "date")
    year = _core.astype(_core.time_field(day, "year"), "int64")
    if word == "isoyear":
        return value_of(year, 20)
    place = run("subtract", _core.astype(_core.time_field(day, "day_of_year"), "int64"), 1)
    week = run("add", run("floor_divide", place, 7), 1)
    if word != "yearweek":
        return value_of(week, 6)
    signed = where(run("less", year, 0), run("negative", week), week)
    return value_of(run("add", run("multiply", year, 100), signed), 28)


def _extract(node: Expression, evaluate: Evaluate, like: _core.Node) -> Operand:
    return time_part(node.this.name, evaluate(node.expression), like)


def _part(word: str) -> Callable[..., Operand]:
    def handle(node: Expression, evaluate: Evaluate, like: _core.Node) -> Operand:
        return time_part(word, evaluate(node.this), like)

    return handle


_STARTS = {"month": "month_start", "quarter": "quarter_start", "year": "year_start"}


def _date_trunc(node: Expression, evaluate: Evaluate, like: _core.Node) -> Operand:
    unit = node.args.get("unit")
    word = named(unit.name if unit is not None else "")
    operand = evaluate(node.this)
    word = word if word in ("ms", "us") else word.rstrip("s")
    if operand.dtype == NULL:
        return Constant(None, TIMESTAMP)
    column = column_of(
        cast(operand, "date") if isinstance(operand, Constant) and operand.untyped else operand,
        like,
    )
    if word in _STARTS:
        return value_of(_core.astype(_core.time_field(column, _STARTS[word]), TIMESTAMP))
    if word == "day":
        return value_of(_core.astype(_core.astype(column, "date"), TIMESTAMP))
    if word == "week":
        days = _core.astype(_core.retype(_core.astype(column, "date"), "int32"), "int64")
        weekday = _core.astype(_core.time_field(column, "day_of_week"), "int64")
        moved = _core.astype(run("subtract", days, weekday), "int32")
        return value_of(_core.astype(_core.retype(moved, "date"), TIMESTAMP))
    if word in _PERIODS:
        return _long_period_start(column, _PERIODS[word])
    if word in ("hour", "minute", "second", "millisecond", "microsecond") and (
        column.dtype == "date"
    ):
        return value_of(_core.astype(column, TIMESTAMP))
    periods = {"hour": "h", "minute": "min", "second": "s", "millisecond": "ms"}
    periods["microsecond"] = "us"
    if word in periods and column.dtype.startswith("datetime64") and "," not in column.dtype:
        made = _core.round_times("floor", column, periods[word])
        return value_of(_core.astype(made, TIMESTAMP))
    raise UnsupportedError(f"sql: unsupported part of a time: word={word.upper()!r}")


def _long_period_start(column: _core.Node, period: tuple[int, bool]) -> Operand:
    """The first day of the decade, century or millennium."""
    years, from_one = period
    year = _core.astype(_core.time_field(column, "year"), "int64")
    back = run("remainder", run("subtract", year, 1) if from_one else year, years)
    start = _core.astype(_core.time_field(column, "year_start"), "date")
    return value_of(_core.astype(_months_later(start, run("multiply", back, -12)), TIMESTAMP))


def _months_later(day: _core.Node, months: _core.Node) -> _core.Node:
    """First days of months moved by whole months: days from the civil calendar."""
    year = _core.astype(_core.time_field(day, "year"), "int64")
    month = _core.astype(_core.time_field(day, "month"), "int64")
    count = run("add", run("add", run("multiply", year, 12), run("subtract", month, 1)), months)
    y = run("floor_divide", count, 12)
    m = run("add", run("remainder", count, 12), 1)
    return _days_of(y, m)


def _days_of(y: _core.Node, m: _core.Node) -> _core.Node:
    """The first days of months as dates: the days before a year that begins in March."""
    late = run("greater", m, 2)
    y = where(late, y, run("subtract", y, 1))
    shifted = where(late, run("subtract", m, 3), run("add", m, 9))
    before = run("floor_divide", run("add", run("multiply", shifted, 153), 2), 5)
    leap = run("subtract", run("floor_divide", y, 4), run("floor_divide", y, 100))
    leap = run("add", leap, run("floor_divide", y, 400))
    days = run("add", run("add", run("multiply", y, 365), leap), before)
    return _core.retype(_core.astype(run("subtract", days, 719468), "int32"), "date")


_SPANS = {"hour": 3_600_000_000, "minute": 60_000_000, "second": 1_000_000}
_SPANS |= {"millisecond": 1000, "microsecond": 1}


def _date_diff(node: Expression, evaluate: Evaluate, like: _core.Node) -> Operand:
    unit = named(node.args["unit"].name if node.args.get("unit") is not None else "day").rstrip("s")
    end, start = evaluate(node.this), evaluate(node.expression)
    if NULL in (end.dtype, start.dtype):
        return Constant(None, "int64")
    if unit in _SPANS:
        if any(isinstance(each, Constant) and each.untyped for each in (end, start)):
            raise UnsupportedError("sql: a string as a time: word='DATE_DIFF'; use TIMESTAMP '...'")

        def steps(operand: Operand) -> _core.Node:
            micros = _microseconds(column_of(cast(operand, TIMESTAMP), like))
            return run("floor_divide", micros, _SPANS[unit])

        return value_of(run("subtract", steps(end), steps(start)))
    if unit == "day":
        return operators.arithmetic("subtract", cast(end, "date"), cast(start, "date"))
    if unit in ("year", "month", "quarter"):

        def count(operand: Operand) -> Operand:
            years = time_part("year", operand, like)
            if unit == "year":
                return years
            per = 12 if unit == "month" else 4
            whole = operators.arithmetic("multiply", years, Constant(per, "int32"))
            return operators.arithmetic("add", whole, time_part(unit, operand, like))

        return operators.arithmetic("subtract", count(end), count(start))
    raise UnsupportedError(f"sql: unsupported unit: word={unit.upper()!r}")


def _strftime(node: Expression, evaluate: Evaluate, like: _core.Node) -> Operand:
    pattern = constant(evaluate(node.args["format"]), "STRFTIME")
    return value_of(_core.format_times(column_of(evaluate(node.this), like), pattern))


def _typed_date(node: Expression, evaluate: Evaluate, like: _core.Node) -> Operand:
    return cast(evaluate(node.this), "date")


def _typed_timestamp(node: Expression, evaluate: Evaluate, like: _core.Node) -> Operand:
    return cast(evaluate(node.this), TIMESTAMP)


def _last_day(node: Expression, evaluate: Evaluate, like: _core.Node) -> Operand:
    operand = evaluate(node.this)
    if isinstance(operand, Constant) and operand.untyped:
        operand = cast(operand, "date")
    if operand.dtype == NULL:
        return Constant(None, "date")
    column = column_of(operand, like)
    one = run("add", _core.astype(_core.repeat(like, 0), "int64"), 1)
    day = _core.astype(_core.time_field(column, "month_start"), "date")
    following = _core.retype(_months_later(day, one), "int32")
    return value_of(_core.retype(run("subtract", following, _one_of("int32")), "date"))


def _one_of(dtype: str) -> Any:
    return _core.number_literal(1, dtype)


def _name_of(names: tuple[str, ...], word: str) -> Callable[..., Operand]:
    """DAYNAME and MONTHNAME."""

    def handle(node: Expression, evaluate: Evaluate, like: _core.Node) -> Operand:
        number = time_part(word, evaluate(node.this), like)
        made: Operand = Constant(None, "string")
        for place, name in enumerate(names):
            same = operators.compare("equal", number, Constant(place, "int32"))
            made = operators.choose(same, Constant(name, "string"), made)
        return made

    return handle


_DAYS = ("Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday")


def _make_date(node: Expression, evaluate: Evaluate, like: _core.Node) -> Operand:
    parts = [evaluate(node.args[word]) for word in ("year", "month", "day") if node.args.get(word)]
    if len(parts) != 3:
        raise UnsupportedError("sql: expected year, month and day: word='MAKE_DATE'")
    if NULL in [each.dtype for each in parts]:
        return Constant(None, "date")
    if all(isinstance(each, Constant) for each in parts):
        values = [constant(each, "MAKE_DATE") for each in parts]
        try:
            return Constant(datetime.date(*values), "date")
        except ValueError:
            raise InvalidArgumentError(
                f"sql: no such day: word='MAKE_DATE', values={values}"
            ) from None
    year, month, day = (column_of(cast(each, "int64"), like) for each in parts)
    text = _core.astype(year, "string")  # the cast below names a day that does not exist
    for part in (month, day):
        digits = _core.astype(part, "string")
        mark = where(run("less", part, 10), "-0", "-")
        text = run("add", run("add", text, mark), digits)
    return cast(value_of(text), "date")


def _epoch(per: int, dtype: str = "int64") -> ByName:
    """EPOCH_MS and others of a time; of an integer the time itself."""

    def handle(operands: list[Operand], like: _core.Node) -> Operand:
        (operand,) = operands
        if operand.dtype == NULL:
            return Constant(None, dtype)
        if operand.dtype in INTEGERS and per != 1_000_000:
            count = _core.checked_arithmetic(
                "multiply", numbers_of(operand, like, "int64"), _core.scalar(per)
            )
            return value_of(_core.retype(count, TIMESTAMP))
        if isinstance(operand, Constant) and operand.untyped:
            operand = cast(operand, TIMESTAMP)
        micros = _microseconds(column_of(operand, like))
        if per == 1_000_000:
            return value_of(run("divide", micros, 1e6))
        if per == 1:
            return value_of(micros)
        # DuckDB rounds, halves away from zero.
        half = where(run("less", micros, 0), per // 2 - 1, per // 2)
        return value_of(run("floor_divide", run("add", micros, half), per))

    return handle


def _unix_to_time(node: Expression, evaluate: Evaluate, like: _core.Node) -> Operand:
    scale = node.args.get("scale")
    if scale is None or str(getattr(scale, "this", scale)) != "3":
        raise UnsupportedError("sql: unsupported: word='TO_TIMESTAMP'")
    return _epoch(1000)([evaluate(node.this)], like)


def _named_part(operands: list[Operand], like: _core.Node) -> Operand:
    return time_part(constant(operands[0], "DATE_PART"), operands[1], like)


def _one_part(word: str) -> ByName:
    def handle(operands: list[Operand], like: _core.Node) -> Operand:
        if len(operands) != 1:
            raise InvalidArgumentError(f"sql: {word} takes one value: got={len(operands)}")
        return time_part(word, operands[0], like)

    return handle


BY_CLASS: dict[Any, Callable[[Expression, Evaluate, _core.Node], Operand]] = {
    exp.Extract: _extract,
    exp.Year: _part("year"),
    exp.Month: _part("month"),
    exp.Day: _part("day"),
    exp.Quarter: _part("quarter"),
    exp.Hour: _part("hour"),
    exp.Minute: _part("minute"),
    exp.Second: _part("second"),
    exp.DayOfWeek: _part("dow"),
    exp.DayOfMonth: _part("day"),
    exp.DayOfYear: _part("doy"),
    exp.DayOfWeekIso: _part("isodow"),
    exp.Week: _part("week"),
    exp.WeekOfYear: _part("week"),
    exp.DateTrunc: _date_trunc,
    exp.TimestampTrunc: _date_trunc,
    exp.DateDiff: _date_diff,
    exp.TimeToStr: _strftime,
    exp.Date: _typed_date,
    exp.TsOrDsToDate: _typed_date,
    exp.Timestamp: _typed_timestamp,
    exp.LastDay: _last_day,
    exp.Dayname: _name_of(_DAYS, "dow"),
    exp.Monthname: _name_of(tuple(calendar.month_name), "month"),
    exp.DateFromParts: _make_date,
    exp.TimeToUnix: lambda node, evaluate, like: _epoch(1_000_000, "float64")(
        [evaluate(node.this)], like
    ),
    exp.UnixToTime: _unix_to_time,
}

BY_NAME: dict[str, ByName] = {
    **{
        word: _one_part(word)
        for word in (
            *("decade", "century", "millennium", "microsecond", "millisecond", "era", "isoyear"),
            *("yearweek", "isodow", "weekday", "dayofmonth", "dayofweek", "dayofyear", "week"),
            *("weekofyear",),
        )
    },
    "date_part": _named_part,
    "datepart": _named_part,
    "epoch_ms": _epoch(1000),
    "epoch_us": _epoch(1),
}
