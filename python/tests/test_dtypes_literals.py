# SPDX-License-Identifier: Apache-2.0
"""Literals next to columns: ISO strings beside `datetime.fromisoformat`."""

from __future__ import annotations

import datetime as dt
import math
import zoneinfo
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import headrace as hr

EPOCH = dt.datetime(1970, 1, 1)
ZONES = ("Europe/Berlin", "America/New_York", "+05:30", "UTC")


@st.composite
def iso_strings(draw: Any) -> str:
    """Dates and times in the forms of ISO 8601, and some that are none."""
    day = draw(st.dates(min_value=dt.date(1, 1, 1)))
    year, week, weekday = day.isocalendar()
    date = draw(
        st.sampled_from(
            [
                day.isoformat(),
                f"{day:%Y%m%d}".zfill(8),
                f"{year:04}-W{week:02}-{weekday}",
                f"{year:04}-W{week:02}",
                f"{year:04}W{week:02}{weekday}",
                f"{year:04}W{week:02}",
                f"{day.year:04}-W53-1",
                f"{day.year:04}-02-29",
            ]
        )
    )
    colon = draw(st.sampled_from([":", ""]))
    parts = [f"{draw(st.integers(0, 24)):02}", *(f"{draw(st.integers(0, 60)):02}" for _ in "ms")]
    clock = colon.join(parts[: draw(st.integers(0, 3))])
    if clock.count(colon or clock[:0]) >= 2 and len(clock) >= 6:
        clock += draw(st.sampled_from(["", ".5", ",25", ".123456", ".000001"]))
    if clock:
        clock = draw(st.sampled_from("T _")) + clock
        clock += draw(st.sampled_from(["", "Z", "+01:00", "-0530", "+14", "+00:00:30", "+24:00"]))
    return date + clock


@given(iso_strings(), st.sampled_from(["", *ZONES]))
def test_iso_strings_are_the_times_that_python_reads(text: str, zone: str) -> None:
    dtype = f"datetime64[us, {zone}]" if zone else "datetime64[us]"
    start = EPOCH.replace(tzinfo=dt.UTC) if zone else EPOCH
    column = hr.Series([start], dtype=dtype)
    try:
        value = dt.datetime.fromisoformat(text)
    except ValueError:
        with pytest.raises(hr.TypeMismatchError, match="does not match the column's dtype"):
            column - text
        return
    if value.tzinfo is not None and not zone:
        with pytest.raises(hr.TypeMismatchError, match="cannot be combined with naive times"):
            column - text
        return
    if zone and value.tzinfo is None:
        tz = zoneinfo.ZoneInfo(zone) if "/" in zone else dt.UTC
        offset = dt.timedelta(hours=5, minutes=30) if zone[0] == "+" else dt.timedelta(0)
        value = value.replace(tzinfo=dt.timezone(offset) if zone[0] == "+" else tz)
    assert (column - text).to_list() == [start - value]


def test_fractions_have_nanoseconds() -> None:
    column = hr.Series(np.array(["2024-03-05T00:00:00.000000001"], "M8[ns]"))
    assert (column == "2024-03-05 00:00:00.000000001").to_list() == [True]
    assert (column > "2024-03-05").to_list() == [True]


def test_isin_reads_iso_strings() -> None:
    days = [dt.date(2024, 3, 5), dt.date(2024, 2, 29), None]
    wanted = ["2024-W10-2", None, "20240301"]
    assert hr.Series(days).isin(wanted).to_list() == [True, False, True]
    times = hr.Series([dt.datetime(2024, 3, 5, 12), None]).astype("datetime64[s]")
    assert times.isin(["2024-03-05 12:00:00.5", "2024-03-05T13"]).to_list() == [False, False]
    assert times.isin(["2024-03-05 12:00:00.000000000"]).to_list() == [True, False]
    zoned = times.dt.tz_localize("Europe/Berlin")
    assert zoned.isin(["2024-03-05 11:00Z"]).to_list() == [True, False]
    assert zoned.isin(["2024-03-05 12:00"]).to_list() == [True, False]
    with pytest.raises(hr.InvalidArgumentError, match="not an ISO date or time: value='soon'"):
        times.isin(["soon"])
    with pytest.raises(hr.TypeMismatchError, match="cannot be combined with naive times"):
        times.isin(["2024-03-05 11:00Z"])


def test_clocks_that_show_a_time_twice_or_never() -> None:
    berlin = zoneinfo.ZoneInfo("Europe/Berlin")
    for text in ("2024-10-27 02:30", "2024-03-31 02:30"):
        moment = dt.datetime.fromisoformat(text).replace(tzinfo=berlin).astimezone(dt.UTC)
        column = hr.Series([moment], dtype="datetime64[us, Europe/Berlin]")
        assert (column == text).to_list() == [True]


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int32", "float32", "float64"])
@pytest.mark.parametrize("number", [np.int64(3), np.uint8(3), np.float32(2.5), np.float64(2.5)])
def test_numpy_numbers_bring_no_dtype_as_in_pandas(dtype: str, number: Any) -> None:
    ours, theirs = hr.Series([4, 5], dtype=dtype), pd.Series([4, 5], dtype=dtype)
    for made, expected in (
        (ours + number, theirs + number),
        (number - ours, number - theirs),
        (ours * number, theirs * number),
        (ours > number, theirs > number),
    ):
        assert str(made.dtype) == str(expected.dtype)
        assert made.to_list() == expected.to_list()


def test_logic_of_bools_and_integers_is_bool_as_in_pandas() -> None:
    mask, numbers = [True, False, True], [2, 2, 1]
    for op in ("__and__", "__or__", "__xor__", "__rand__"):
        for other in (numbers, 1, 2):
            ours = getattr(hr.Series(mask), op)(hr.Series(other) if other is numbers else other)
            theirs = getattr(pd.Series(mask), op)(pd.Series(other) if other is numbers else other)
            assert str(ours.dtype) == "bool"
            assert ours.to_list() == theirs.tolist()
    assert (hr.asarray([True]) | hr.asarray([2])).tolist() == [3]


def test_durations_by_zero_are_missing_as_in_pandas() -> None:
    spans = [dt.timedelta(seconds=-7), dt.timedelta(0)]
    for zero in (0, 0.0, hr.Series([0, 0]), hr.Series([0.0, -0.0])):
        assert (hr.Series(spans) / zero).to_list() == [None, None]
        assert (hr.Series(spans) // zero).to_list() == [None, None]
        assert (hr.Series([7.0]) * hr.Series(spans)[:1] / 0.5 * math.nan).to_list() == [None]
    assert (hr.Series(spans) % dt.timedelta(0)).to_list() == spans
    assert (hr.Series(spans) * 0.5).to_list() == list(pd.Series(spans) * 0.5)
    assert (dt.timedelta(1) / hr.Series([0, 2])).to_list() == [None, dt.timedelta(hours=12)]


def test_a_timedelta_by_small_integers_keeps_microseconds() -> None:
    span, numbers = dt.timedelta(hours=36), [7, -3]
    ours, theirs = hr.Series(numbers, dtype="int8"), pd.Series(numbers, dtype="int8")
    for made, expected in ((span / ours, span / theirs), (span * ours, span * theirs)):
        assert str(made.dtype) == str(expected.dtype) == "timedelta64[us]"
        assert made.to_list() == [each.to_pytimedelta() for each in expected]
    assert (hr.Series([3.0], dtype="float32") * span).to_list() == [3 * span]
