# SPDX-License-Identifier: Apache-2.0
"""Offsets, moments, durations and regular times, against pandas."""

from __future__ import annotations

import datetime
import pickle
from typing import Any

import numpy as np
import pandas as pd
import pytest

import headrace as hr

MOMENTS = [
    *("2024-01-31 10:00", "2024-02-29", "2023-12-31 23:59:59", "2024-03-02", "2024-03-03 12:00"),
    *("2024-03-04", "2024-04-01", "2024-07-01 05:00", "2024-09-30", "2024-12-31", "2025-01-01"),
]
OFFSETS: list[tuple[str, dict[str, int]]] = [
    *((name, {}) for name in ("MonthEnd", "MonthBegin", "BusinessDay", "BDay", "Week")),
    *(("QuarterEnd", {"startingMonth": month}) for month in (1, 2, 3)),
    *(("QuarterBegin", {"startingMonth": month}) for month in (1, 2, 3)),
    *(("YearEnd", {"month": month}) for month in (2, 12)),
    *(("YearBegin", {"month": month}) for month in (1, 6)),
    *(("Week", {"weekday": day}) for day in (0, 3, 6)),
    *((name, {}) for name in ("QuarterEnd", "QuarterBegin", "YearEnd", "YearBegin")),
    *((name, {}) for name in ("Day", "Hour", "Minute", "Second", "Milli", "Micro")),
]


def python(values: Any) -> list[Any]:
    return [None if value is pd.NaT else value.to_pydatetime() for value in values]


@pytest.mark.parametrize(("name", "words"), OFFSETS)
def test_offsets_of_columns_and_moments(name: str, words: dict[str, int]) -> None:
    times = pd.Series(pd.to_datetime([*MOMENTS, None], format="mixed"))
    mine = hr.from_pandas(times.to_frame("t")).t
    for n in (1, 3, 0, -1, -4):
        theirs, ours = getattr(pd.offsets, name)(n, **words), getattr(hr.offsets, name)(n, **words)
        assert (mine + ours).to_list() == python([t + theirs for t in times])
        assert (mine - ours).to_list() == python([t - theirs for t in times])
        assert repr(ours) == repr(theirs)
    theirs, ours = getattr(pd.offsets, name)(**words), getattr(hr.offsets, name)(**words)
    assert (2 * ours).freqstr == (2 * theirs).freqstr
    for moment in times[:-1]:
        own = hr.Timestamp(moment)
        assert own + ours == moment + theirs
        assert own - ours == moment - theirs
        assert ours.rollback(own) == theirs.rollback(moment)
        assert ours.rollforward(own) == theirs.rollforward(moment)
        assert ours.is_on_offset(own) == theirs.is_on_offset(moment)
    assert ours == getattr(hr.offsets, name)(**words) != 2 * ours
    assert hash(ours) == hash(-(-ours))


def test_date_offsets_zones_and_normalize() -> None:
    times = pd.Series(pd.to_datetime(MOMENTS, format="mixed"))
    mine = hr.from_pandas(times.to_frame("t")).t
    for words in (
        {"months": 1},
        {"days": 2, "hours": 3},
        {"day": 31},
        {"month": 2, "day": 30},
        {"hour": 9, "minute": 5},
        {"years": 1, "day": 1},
        {},
    ):
        for n in (1, -2):
            theirs, ours = pd.DateOffset(n, **words), hr.DateOffset(n, **words)
            assert (mine + ours).to_list() == python([t + theirs for t in times])
    theirs = [t + pd.offsets.MonthEnd(normalize=True) for t in times]
    assert (mine + hr.offsets.MonthEnd(normalize=True)).to_list() == python(theirs)
    zoned = times.dt.tz_localize("Europe/Berlin")
    got = mine.dt.tz_localize("Europe/Berlin") + hr.offsets.MonthEnd(2)
    wanted = [t + pd.offsets.MonthEnd(2) for t in zoned]
    assert got.dt.tz_convert("UTC").to_list() == [
        t.tz_convert("UTC").to_pydatetime() for t in wanted
    ]
    day = datetime.date(2024, 1, 31)
    assert day + hr.DateOffset(months=1) == hr.Timestamp("2024-02-29")
    with pytest.raises(hr.InvalidArgumentError, match="weekday"):
        hr.DateOffset(weekday=1)
    with pytest.raises(hr.InvalidArgumentError, match="month"):
        hr.offsets.YearEnd(month=13)
    with pytest.raises(TypeError):
        hr.offsets.MonthEnd() + 5


def test_moments() -> None:
    for text in ("2024-03-05", "2024-03-05 13:45:10.000250", "2024-12-30T23:59"):
        ours, theirs = hr.Timestamp(text), pd.Timestamp(text)
        for name in (
            *("year", "month", "day", "hour", "minute", "second", "microsecond", "quarter"),
            *("week", "days_in_month", "is_leap_year", "is_month_start"),
            *("is_month_end", "day_of_week", "value", "tz"),
        ):
            assert getattr(ours, name) == getattr(theirs, name), name
        for method in ("floor", "ceil", "round"):
            for freq in ("h", "15min", "D"):
                assert getattr(ours, method)(freq) == getattr(theirs, method)(freq)
        assert ours.day_name() == theirs.day_name()
        assert ours.month_name() == theirs.month_name()
        assert ours.normalize() == theirs.normalize()
        assert ours.isoformat() == theirs.isoformat()
        assert repr(ours) == repr(theirs)
        assert ours.to_datetime64() == theirs.to_datetime64()
        assert pickle.loads(pickle.dumps(ours)) == ours
        assert str(ours.tz_localize("Europe/Berlin")) == str(theirs.tz_localize("Europe/Berlin"))
        assert repr(ours - hr.Timestamp("2024-01-01")) == repr(theirs - pd.Timestamp("2024-01-01"))
    assert hr.Timestamp(2024, 3, 5) == hr.Timestamp(year=2024, month=3, day=5)
    assert hr.Timestamp(1_700_000_000, unit="s") == pd.Timestamp(1_700_000_000, unit="s")
    assert hr.Timestamp(1_700_000_000_123_456_000) == pd.Timestamp(1_700_000_000_123_456_000)
    assert hr.Timestamp("2024-01-01", tz="UTC").tz_convert("Asia/Tokyo").hour == 9
    assert hr.Timestamp("2024-01-01T10:00+02:00").utcoffset() == datetime.timedelta(hours=2)
    assert hr.Timestamp("2024-01-01") + np.timedelta64(1, "D") == hr.Timestamp("2024-01-02")
    assert isinstance(hr.Timestamp.now(), hr.Timestamp)
    assert hr.Timestamp(None) is hr.Timestamp(float("nan")) is hr.Timestamp("NaT") is hr.NaT
    times = hr.to_datetime(["2024-01-01", "2024-03-01"])
    assert (times > hr.Timestamp("2024-02-01")).to_list() == [False, True]
    assert (hr.Timestamp("2024-02-01") > times).to_list() == [True, False]
    assert (times - hr.Timestamp("2024-01-01")).dt.days.to_list() == [0, 60]
    with pytest.raises(hr.TypeMismatchError, match="Timestamp"):
        hr.Timestamp([1])


def test_durations() -> None:
    for text in ("1D 2h", "1 days 02:30:00", "-1h30min", "90s", "1.5 days", "250ms", "2h", "3 us"):
        ours, theirs = hr.Timedelta(text), pd.Timedelta(text)
        assert ours.to_pytimedelta() == theirs.to_pytimedelta(), text
        assert repr(ours) == repr(theirs)
        assert tuple(ours.components) == tuple(theirs.components)
        assert ours.total_seconds() == theirs.total_seconds()
        assert ours.value == theirs.as_unit("ns").value
        for method in ("floor", "ceil", "round"):
            assert getattr(ours, method)("h") == getattr(theirs, method)("h")
        assert type(2 * ours) is type(ours + ours) is type(-ours) is type(ours / 2) is hr.Timedelta
        assert pickle.loads(pickle.dumps(ours)) == ours
    assert hr.Timedelta(90, "min") == hr.Timedelta(hours=1, minutes=30) == hr.Timedelta("1h30min")
    assert hr.Timedelta(1.5, unit="D") / hr.Timedelta("1h") == 36.0
    assert hr.Timedelta(np.timedelta64(3, "h")) == hr.Timedelta(hr.offsets.Hour(3))
    assert hr.Timedelta(None) is hr.NaT
    for bad in ("tomorrow", "3 fortnights", "1 2h x"):
        with pytest.raises(hr.InvalidArgumentError):
            hr.Timedelta(bad)


def test_the_missing_moment() -> None:
    assert hr.NaT != hr.NaT
    assert repr(hr.NaT + hr.Timedelta("1D")) == repr(hr.Timestamp("2024-01-01") - hr.NaT) == "NaT"
    assert not hr.NaT < hr.Timestamp("2024-01-01")
    assert hr.isna(hr.NaT)
    assert hr.Series([datetime.datetime(2024, 1, 1), hr.NaT]).isna().to_list() == [False, True]
    assert hr.NaT.year != hr.NaT.year
    assert pickle.loads(pickle.dumps(hr.NaT)) is hr.NaT


def test_regular_times() -> None:
    for words in (
        {"start": "2024-01-15", "periods": 4, "freq": "QE-FEB"},
        {"start": "2024-01-15", "periods": 4, "freq": "2QS"},
        {"start": "2024-01-15", "periods": 3, "freq": "YE-JUN"},
        {"start": "2024-01-15", "periods": 3, "freq": "YS-APR"},
        {"start": "2024-01-15", "end": "2024-01-16", "freq": "7h30min"},
    ):
        assert hr.date_range(**words).to_list() == python(pd.date_range(**words))
    made = hr.date_range("2024-01-15", periods=3, freq=hr.offsets.MonthEnd(2))
    assert made.to_list() == python(pd.date_range("2024-01-15", periods=3, freq="2ME"))
    spans = hr.timedelta_range("1D", periods=3, freq="6h")
    assert spans.to_list() == list(pd.timedelta_range("1D", periods=3, freq="6h"))
    for words in (
        {"start": "2024-11", "periods": 4, "freq": "M"},
        {"start": "2024Q3", "end": "2025Q2", "freq": "Q"},
        {"start": "2023", "end": "2026", "freq": "Y"},
        {"start": "2024-02-27", "periods": 4, "freq": "D"},
    ):
        assert hr.period_range(**words).to_list() == [str(p) for p in pd.period_range(**words)]
