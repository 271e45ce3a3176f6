# SPDX-License-Identifier: Apache-2.0
"""Multiples of a period: floor, ceil and round of times, times with a zone, dates, durations."""

from __future__ import annotations

import datetime
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import headrace as hr

UNITS = ("s", "ms", "us", "ns")
PERIODS = ("15min", "7D", "D", "h", "3h", "1h30min", "45s", "s", "250ms", "7us", "10ns", "min")
COUNTS = st.lists(
    st.one_of(st.none(), st.integers(-(10**15), 10**15), st.integers(-5000, 5000)),
    min_size=1,
    max_size=40,
)


def both(counts: list[Any], word: str) -> tuple[hr.Series, pd.Series]:
    """The same integers as times or durations, here and in pandas."""
    values = np.array([np.iinfo("int64").min if c is None else c for c in counts]).view(word)
    return hr.Series(values), pd.Series(values)


@given(
    COUNTS,
    st.sampled_from(UNITS),
    st.sampled_from(PERIODS),
    st.sampled_from(["floor", "ceil", "round"]),
    st.sampled_from(["M8", "m8"]),
)
def test_as_pandas(counts: list[Any], unit: str, freq: str, op: str, kind: str) -> None:
    if unit == "s":  # what pandas shows of years is not asked for here
        counts = [None if c is None else c % 10**11 for c in counts]
    ours, theirs = both(counts, f"{kind}[{unit}]")
    step = pd.tseries.frequencies.to_offset(freq).nanos
    own = {"s": 10**9, "ms": 10**6, "us": 10**3, "ns": 1}[unit]
    if own % step and step % own:
        with pytest.raises(hr.InvalidArgumentError, match="finer unit"):
            getattr(ours.dt, op)(freq)
        return
    got = getattr(ours.dt, op)(freq)
    assert got.dtype == ours.dtype
    wanted = getattr(theirs.dt, op)(freq)
    assert np.array_equal(got.to_numpy(), wanted.to_numpy(), equal_nan=True)
    assert getattr(ours.dt, op)(pd.Timedelta(step)).equals(got)


@given(
    st.lists(st.integers(1_680_000_000, 1_720_000_000), min_size=1, max_size=30),
    st.sampled_from(["15min", "6h", "D", "2D", "90min"]),
    st.sampled_from(["floor", "ceil", "round"]),
    st.sampled_from(["Europe/Berlin", "Asia/Kolkata", "America/St_Johns", "UTC"]),
)
def test_by_the_clocks_of_a_zone(seconds: list[int], freq: str, op: str, zone: str) -> None:
    values = np.array(seconds).view("M8[s]")
    words: dict[str, Any] = {"nonexistent": "shift_forward"}
    ours = hr.Series(values).dt.tz_localize("UTC").dt.tz_convert(zone)
    theirs = pd.Series(values).dt.tz_localize("UTC").dt.tz_convert(zone)
    got = getattr(ours.dt, op)(freq, "NaT", "shift_forward")
    wanted = getattr(theirs.dt, op)(freq, ambiguous="NaT", **words)
    assert got.dtype == ours.dtype
    plain = wanted.dt.tz_convert("UTC").dt.tz_localize(None).to_numpy()
    assert np.array_equal(got.dt.tz_convert(None).to_numpy(), plain, equal_nan=True)


def test_dates_and_words() -> None:
    days = hr.Series([datetime.date(2024, 2, 29), None, datetime.date(1969, 12, 31)])
    week = days.dt.floor("7D")
    assert week.dtype == "date"
    assert week.to_list() == [datetime.date(2024, 2, 29), None, datetime.date(1969, 12, 25)]
    assert days.dt.ceil("7D").to_list()[2] == datetime.date(1970, 1, 1)
    assert days.dt.round("h").equals(days)
    times = hr.Series([datetime.datetime(2024, 2, 29, 9, 7, 30)])
    assert times.dt.round("15min").to_list() == [datetime.datetime(2024, 2, 29, 9, 0)]
    assert times.dt.floor(datetime.timedelta(hours=1)).dt.hour.to_list() == [9]
    assert times.dt.floor("MS").dtype == "date"
    for wrong in ("M", "15", "", "0min", "min15", "1x", None, datetime.timedelta(0), "minutes"):
        with pytest.raises(hr.InvalidArgumentError, match=r"invalid period.*15min"):
            times.dt.floor(wrong)
    with pytest.raises(hr.InvalidArgumentError, match="invalid period"):
        times.dt.ceil("MS")
