# SPDX-License-Identifier: Apache-2.0
"""Dates and timestamps as operands, and their calendar, against pandas and Python."""

from __future__ import annotations

import datetime as dt
import operator
from typing import Any

import numpy as np
import pandas as pd
import pytest
from dateutil.relativedelta import relativedelta
from hypothesis import given
from hypothesis import strategies as st

import headrace as hr

UNITS = ["s", "ms", "us", "ns"]
DAYS = st.one_of(st.none(), st.dates(dt.date(1, 1, 1), dt.date(9999, 12, 31)))
MOMENTS = st.one_of(st.none(), st.datetimes(dt.datetime(1700, 1, 1), dt.datetime(2250, 1, 1)))
COMPARE = [operator.lt, operator.le, operator.gt, operator.ge, operator.eq, operator.ne]
FIELDS = ["year", "month", "day", "day_of_year", "days_in_month", "quarter", "day_of_week"]
OFFSETS = [
    {"months": 1},
    {"months": -25},
    {"years": 3},
    {"n": 5, "months": 1, "days": 2},
    {"years": -1, "weeks": 1, "hours": 30, "minutes": 1, "seconds": -7},
    {"n": -2, "days": 40},
    {"months": 13, "microseconds": 1},
    {"n": 2},
]
CLOCK = ["hour", "minute", "second", "microsecond", "nanosecond"]


def random_times(unit: str, rows: int = 200_000) -> np.ndarray:
    random = np.random.default_rng(3)
    low, high = (np.datetime64(day, unit).astype("int64") for day in ("1690-03-01", "2260-01-01"))
    return random.integers(low, high, rows).astype(f"datetime64[{unit}]")


@pytest.mark.parametrize("unit", UNITS)
def test_fields_are_those_of_pandas(unit: str) -> None:
    values = random_times(unit)
    ours, theirs = hr.Series(values).dt, pd.Series(values).dt
    for name in FIELDS:
        assert (getattr(ours, name).to_numpy() == getattr(theirs, name).to_numpy()).all(), name
    for name in CLOCK:
        got = getattr(ours, name)
        assert got.dtype == "int32"
        assert (got.to_numpy() == getattr(theirs, name).to_numpy()).all(), name
    for freq in ("D", "h", "min", "s"):
        assert (ours.floor(freq).to_numpy() == theirs.floor(freq).to_numpy()).all(), freq
    assert (ours.date.to_numpy() == values.astype("datetime64[D]")).all()


@given(st.lists(DAYS, max_size=70))
def test_fields_of_dates_are_those_of_python(days: list[dt.date | None]) -> None:
    column = hr.Series(days, dtype="date")

    def each(get: Any) -> list[Any]:
        return [None if day is None else get(day) for day in days]

    assert column.dt.year.to_list() == each(lambda d: d.year)
    assert column.dt.month.to_list() == each(lambda d: d.month)
    assert column.dt.day.to_list() == each(lambda d: d.day)
    assert column.dt.day_of_week.to_list() == each(lambda d: d.weekday())
    assert column.dt.day_of_year.to_list() == each(lambda d: d.timetuple().tm_yday)
    assert column.dt.hour.to_list() == each(lambda d: 0)
    assert column.dt.floor("MS").to_list() == each(lambda d: d.replace(day=1))
    assert column.dt.floor("QS").to_list() == each(
        lambda d: d.replace(day=1, month=(d.month - 1) // 3 * 3 + 1)
    )
    assert column.dt.floor("YS").to_list() == each(lambda d: d.replace(day=1, month=1))
    assert column[3:].dt.year.to_list() == each(lambda d: d.year)[3:]


@given(
    st.lists(st.tuples(MOMENTS, MOMENTS), max_size=40),
    MOMENTS.filter(lambda m: m is not None),
    st.sampled_from(COMPARE),
)
def test_times_compare_in_any_unit(rows: list[Any], moment: dt.datetime, compare: Any) -> None:
    left = hr.Series([a for a, _ in rows], dtype="datetime64[us]")
    right = hr.Series([b for _, b in rows], dtype="datetime64[us]")
    frame = hr.DataFrame({"a": left, "b": right})

    def expected(pairs: list[Any]) -> list[Any]:
        missing = compare is operator.ne
        return [missing if a is None or b is None else compare(a, b) for a, b in pairs]

    assert compare(frame.a, frame.b).to_list() == expected(rows)
    assert compare(frame.a, moment).to_list() == expected([(a, moment) for a, _ in rows])
    assert compare(frame.a, np.datetime64(moment, "ns")).to_list() == expected(
        [(a, moment) for a, _ in rows]
    )
    assert compare(frame.a, moment.isoformat()).to_list() == expected(
        [(a, moment) for a, _ in rows]
    )
    days = frame.a.dt.date
    noon = dt.datetime.combine(moment.date(), dt.time(12))
    midnights = [None if a is None else dt.datetime.combine(a.date(), dt.time()) for a, _ in rows]
    assert compare(days, moment.date()).to_list() == expected(
        [(m and m.date(), moment.date()) for m in midnights]
    )
    assert compare(days, noon).to_list() == expected([(m, noon) for m in midnights])
    assert compare(days, frame.b).to_list() == expected(
        [(m, b) for m, (_, b) in zip(midnights, rows, strict=True)]
    )


@given(
    st.lists(MOMENTS, max_size=20),
    st.timedeltas(dt.timedelta(days=-9000), dt.timedelta(days=9000)),
)
def test_timedeltas_move_times(moments: list[Any], span: dt.timedelta) -> None:
    column = hr.Series(moments, dtype="datetime64[us]")
    assert (column + span).to_list() == [None if m is None else m + span for m in moments]
    assert (span + column).to_list() == (column + span).to_list()
    assert (column - np.timedelta64(span)).to_list() == [m and m - span for m in moments]


def test_dates_move_by_days_and_by_less() -> None:
    days = hr.Series([dt.date(2024, 2, 28), None])
    assert (days + dt.timedelta(days=2)).to_list() == [dt.date(2024, 3, 1), None]
    assert (days - dt.timedelta(days=59)).dtype == "date"
    later = days + dt.timedelta(hours=30)
    assert later.dtype == "datetime64[s]"
    assert later.to_list() == [dt.datetime(2024, 2, 29, 6), None]


def test_missing_and_chosen_times() -> None:
    days = hr.Series([dt.date(2024, 2, 28), None, dt.date(2020, 1, 1)])
    assert days.fillna(dt.date(1999, 1, 1)).to_list()[1] == dt.date(1999, 1, 1)
    assert days.where(days > dt.date(2022, 1, 1)).to_list() == [dt.date(2024, 2, 28), None, None]
    assert days.clip(lower=dt.date(2021, 1, 1)).to_list()[2] == dt.date(2021, 1, 1)
    assert days.between("2020-01-01", "2021-01-01").to_list() == [False, False, True]
    frame = hr.DataFrame({"d": days, "x": [1, 2, 3]})
    assert frame.query("d < '2021-06-01'").x.to_list() == [3]


@pytest.mark.parametrize(
    "wrong",
    [
        lambda days: days + 1,
        lambda days: days < 3,
        lambda days: days == "no date",
        lambda days: days < dt.datetime(2020, 1, 1, tzinfo=dt.UTC),
        lambda days: days.dt.floor("W"),
        lambda days: hr.Series([1]).dt,
        lambda days: hr.Series(["a"]).dt,
    ],
)
def test_what_does_not_work_says_so(wrong: Any) -> None:
    days = hr.Series([dt.date(2024, 2, 28)])
    with pytest.raises(hr.Error):
        wrong(days)
    assert (days == dt.date(2024, 2, 28)).to_list() == [True]


FAR = [-(2**62), -(10**12), -1, 0, 1, 10**12, 2**62]


def nanoseconds(count: int, unit: str) -> int:
    return count * {"D": 86_400 * 10**9, "s": 10**9, "ms": 10**6, "us": 10**3, "ns": 1}[unit]


@given(
    st.lists(st.sampled_from(FAR), min_size=1, max_size=8),
    st.lists(st.sampled_from(FAR), min_size=8, max_size=8),
    st.sampled_from(["s", "ms", "us"]),
    st.sampled_from(["us", "ns"]),
    st.sampled_from(["M8", "m8"]),
)
def test_times_that_a_finer_unit_does_not_hold_compare_exactly(
    coarse: list[int], fine: list[int], unit: str, finer: str, kind: str
) -> None:
    fine = fine[: len(coarse)]
    left = hr.Series(np.array(coarse).view(f"{kind}[{unit}]"))
    right = hr.Series(np.array(fine).view(f"{kind}[{finer}]"))
    pairs = [
        (nanoseconds(a, unit), nanoseconds(b, finer)) for a, b in zip(coarse, fine, strict=True)
    ]
    for function in COMPARE:
        assert function(left, right).to_list() == [function(a, b) for a, b in pairs]
    assert left.isin(right).to_list() == [a in {b for _, b in pairs} for a, _ in pairs]
    fits = all(abs(a) < nanoseconds(2**63, finer) for a, _ in pairs)
    word = "datetime64" if kind == "M8" else "timedelta64"
    if fits:
        assert left.astype(f"{word}[{finer}]").astype("int64").to_list() == [
            a // nanoseconds(1, finer) for a, _ in pairs
        ]
        return
    row = next(i for i, (a, _) in enumerate(pairs) if abs(a) >= nanoseconds(2**63, finer))
    for wrong in (
        lambda: left.astype(f"{word}[{finer}]"),
        lambda: left - right,
        lambda: hr.concat([left, right]),
        lambda: left.where(left.notna(), right),
    ):
        with pytest.raises(
            hr.InvalidArgumentError, match=rf"out of range of the finer unit: row={row}.*coarser"
        ):
            wrong().to_list()


def test_far_values_beside_columns() -> None:
    fine = hr.Series(np.array(["1990-01-01", "NaT"], "M8[ns]"))
    far = dt.datetime(9999, 1, 1)
    assert (fine < far).to_list() == [True, False]
    assert fine.between(dt.datetime(1, 1, 1), far).to_list() == [True, False]
    days = hr.Series([dt.date(9999, 1, 1), None])
    assert (days > fine).to_list() == [True, False]
    with pytest.raises(hr.InvalidArgumentError, match="row=0"):
        (days - fine).to_list()
    assert days.astype("datetime64[us]").to_list() == [far, None]


@pytest.mark.parametrize("offset", OFFSETS, ids=str)
@pytest.mark.parametrize("unit", UNITS)
def test_offsets_move_times_as_in_pandas(unit: str, offset: dict[str, int]) -> None:
    by, values = pd.DateOffset(**offset), random_times(unit, 20_000)
    if unit == "ns":  # room to move
        values = values[np.abs(values.astype("int64")) < 2**63 - 10**18]
    values[3] = np.datetime64("NaT")
    ours, theirs = hr.Series(values), pd.Series(values)
    for got, want in [(ours + by, theirs + by), (by + ours, by + theirs), (ours - by, theirs - by)]:
        assert got.dtype == str(want.dtype)
        assert np.array_equal(got.to_numpy(), want.to_numpy(), equal_nan=True)


def test_offsets_of_days_that_come_again() -> None:
    days = np.datetime64("2024-01-27", "D") + np.arange(5_000) % 8
    frame = hr.DataFrame({"day": hr.Series(days), "i": np.arange(5_000)})
    moved = frame[frame.i % 3 > 0].day + pd.DateOffset(months=1)
    want = [day + relativedelta(months=1) for day in days[np.arange(5_000) % 3 > 0].tolist()]
    assert moved.to_list() == want
    assert "add_months" in str(moved.explain())


@given(st.lists(DAYS, max_size=40), st.integers(-40, 40), st.integers(-3, 3), st.integers(-60, 60))
def test_dates_move_as_in_python(
    days: list[dt.date | None], months: int, years: int, more: int
) -> None:
    days = [day for day in days if day is None or 10 < day.year < 9990]
    by = relativedelta(years=years, months=months, days=more)
    ours = hr.Series(days, dtype="date")
    assert (ours + by).dtype == "date"
    assert (ours + by).to_list() == [None if day is None else day + by for day in days]
    assert (ours - by)[2:].to_list() == [None if day is None else day - by for day in days[2:]]
    only = relativedelta(months=months)
    assert ours.dt.add_months(months).to_list() == [
        None if day is None else day + only for day in days
    ]
    hours = ours + relativedelta(months=months, hours=7)
    assert hours.dtype == "datetime64[s]"
    assert hours.to_list() == [
        None if day is None else day + relativedelta(months=months, hours=7) for day in days
    ]


def test_months_that_the_dtype_does_not_hold() -> None:
    late = hr.Series(np.array(["2024-01-31", "NaT", "2262-01-01"], "datetime64[ns]"))
    with pytest.raises(hr.InvalidArgumentError, match=r"add_months: .*row=2.*\[ns\].*coarser"):
        (late + pd.DateOffset(years=1)).to_list()
    assert (late.astype("datetime64[s]") + pd.DateOffset(years=1)).dt.year.to_list()[2] == 2263
    assert late[:2].dt.add_months(-3000).is_null().to_list() == [False, True]
    day = hr.Series([dt.date(2024, 1, 31)])
    for months in (10**9, 10**15, 2**70, -(2**70)):
        with pytest.raises(hr.InvalidArgumentError, match="add_months"):
            day.dt.add_months(months).to_list()
    with pytest.raises(hr.InvalidArgumentError, match="exceeds the dtype"):
        hr.Series([dt.datetime(2024, 1, 31)]) + pd.DateOffset(10**10 + 1, nanoseconds=10**9 + 1)


def test_offsets_that_move_no_column() -> None:
    day = hr.Series([dt.date(2024, 1, 31)])
    absolute = [pd.DateOffset(day=1), relativedelta(hour=0), relativedelta(leapdays=1)]
    others = [pd.offsets.MonthEnd(), pd.offsets.BDay(2), pd.DateOffset(months=1, normalize=True)]
    for offset in (*absolute, *others):
        for move in (operator.add, operator.sub, lambda a, b: b + a):
            with pytest.raises(hr.TypeMismatchError, match=r"cannot be added.*offset=.*use "):
                move(day, offset)
    with pytest.raises(hr.TypeMismatchError, match=r"expected an integer: n=1\.5"):
        day.dt.add_months(1.5)
    with pytest.raises(TypeError):
        hr.Series([1]) + pd.DateOffset(months=1)
    with pytest.raises(TypeError):
        pd.DateOffset(months=1) - day


def test_fields_finer_than_the_unit_are_zero_far_from_1970() -> None:
    far = hr.Series([dt.date(1, 1, 1), dt.date(9999, 12, 31), None])
    assert far.dt.nanosecond.to_list() == [0, 0, None]
    spans = hr.Series(np.array([123_456_789_012_345], "timedelta64[s]"))
    assert (spans.dt.microseconds.to_list(), spans.dt.nanoseconds.to_list()) == ([0], [0])
