# SPDX-License-Identifier: Apache-2.0
"""Strings, numbers and frames as times, periods, and lines between missing values, as pandas."""

from __future__ import annotations

import datetime
from typing import Any

import numpy as np
import pandas as pd
import pytest

import headrace as hr

CALLS = r"""
m.to_datetime(m.DataFrame({"year": [2024, 2023], "month": [2, 12], "day": [29, 31]}))
m.to_datetime(m.DataFrame({"Year": [2024], "month": [2], "day": [2], "hour": [5], "minutes": [7]}))
m.to_datetime(m.DataFrame({"year": [2024, 2023], "month": [2, 13], "day": [2, 3]}), errors="coerce")
m.to_datetime(m.Series(["2024-01-01 10:00:00+0200"] * 2), format="%Y-%m-%d %H:%M:%S%z")
m.to_datetime(m.Series(["01.02.2024 -0330", "02.02.2024 +01:00"]), format="%d.%m.%Y %z", utc=True)
m.to_datetime(m.Series(["2024-01-01T10:00:00Z", "2024-02-01T10:00:00Z", None]))
m.to_datetime(m.Series(["2024-01-01T10:00:00.5+01:00"]))
m.to_datetime(m.Series([1700000000, 1700000001]), unit="s")
m.to_datetime(m.Series([1700000000123]), unit="ms")
m.to_datetime(m.Series([1.5, 2.5]), unit="D", origin="2020-01-01")
m.to_datetime(m.Series([100, 200]), unit="D", origin=m.Timestamp("1960-01-01"))
m.to_datetime(m.Series([2459000.5]), unit="D", origin="julian")
m.to_datetime(m.Series(["31/01/2024", "01/02/2024"]), dayfirst=True)
m.to_datetime(m.Series(["01/02/2024", "11/10/2024"]))
m.to_datetime(m.Series(["13/02/2024", "14/10/2024"]))
m.to_datetime(m.Series(["1/2/24", "12/31/68"]))
m.to_datetime(m.Series(["2024/01/31", "2024/02/01"]))
m.to_datetime(m.Series(["Jan 5, 2024", "Feb 16, 2024"]))
m.to_datetime(m.Series(["5 January 2024", "6 February 2024"]))
m.to_datetime(m.Series(["05-Jan-2024", "06-Feb-2024"]))
m.to_datetime(m.Series(["20240131", "20240201"]))
m.to_datetime(m.Series([20240131, 20240201]), format="%Y%m%d")
m.to_datetime(m.Series(["2024-01-31", "31.01.2024 10:00", None]), format="mixed", dayfirst=True)
m.to_datetime(m.Series(["2024-01-31", "2024-01-31 10:00"]), format="ISO8601")
m.to_datetime(m.Series(["1/31/2024", "bad", None]), errors="coerce")
m.to_datetime(m.Series(["01/02/24 10:00 PM"]), format="%d/%m/%y %I:%M %p")
m.to_datetime(m.Series(["1/2/2024 3:04 PM", "1/3/2024 11:59 AM"]))
m.to_datetime(m.Series(["10:30"]), format="%H:%M")
m.to_datetime(m.Series(["Mon 05 Feb 2024"]), format="%a %d %b %Y")
m.to_datetime(m.Series(["Monday, 05. February 2024"]), format="%A, %d. %B %Y")
m.to_datetime(m.Series(["2024-05", "2025-06"]))
m.to_datetime(m.Series(["2024", "2025"]))
m.Series([m.to_datetime("2024-01-31").floor("D"), m.to_datetime("03/05/2024").normalize()])
m.to_timedelta(m.Series(["1 days", "2h30min", "00:05:00", None]))
m.to_timedelta(m.Series(["1D", "90s", "-3h", "1.5 hours", "2 days, 3 min", "+1W"]))
m.to_timedelta(m.Series(["15.5us", "1ns"]))
m.to_timedelta(m.Series(["bad", "1 fortnight", "1 day"]), errors="coerce")
m.to_timedelta(m.Series([1, 2]), unit="h")
m.Series([m.to_timedelta("1 day 2 hours"), m.to_timedelta(5, unit="min")])
gaps.interpolate(method="time")
gaps.interpolate(method="index", limit=1)
m.Series([1.0, np.nan, np.nan, 4.0], index=[0, 1, 5, 6]).interpolate(method="values")
m.DataFrame({"a": [1.0, np.nan, 3.0], "b": [np.nan, 2.0, np.nan], "c": [1, 2, 3]}).interpolate()
times.dt.to_period("M").dt.to_timestamp()
times.dt.to_period("Q").dt.to_timestamp(how="end")
times.dt.to_period("Y").dt.start_time
times.dt.to_period("M").dt.end_time
times.dt.to_period("M").dt.month
times.dt.to_period("W").astype(str)
times.dt.to_period("h").astype(str)
times.dt.to_period("min").astype(str)
times.dt.to_period("M") == "2024-02"
m.date_range("2024-03-30", periods=3, freq="D", tz="Europe/Berlin")
m.date_range("2024-03-30 22:00", periods=8, freq="h", tz="Europe/Berlin")
m.date_range(m.Timestamp("2024-01-01", tz="Asia/Tokyo"), periods=2, freq="MS")
m.Series([times.max() - times.min(), times.max() - m.Timedelta("1D") - times.min()])
m.Series([times.max().floor("D"), times.min().normalize(), times.median(), times.quantile(0.25)])
m.Series([spans.sum(), spans.mean() / 2, spans.max().floor("D"), spans.median()])
""".strip().splitlines()


def _rows(value: Any) -> Any:
    value = value.to_pandas() if hasattr(value, "to_pandas") else value
    value = pd.Series(value) if isinstance(value, pd.DatetimeIndex) else value
    frame = value.to_frame("value") if isinstance(value, pd.Series) else value
    for name in frame.columns:
        if isinstance(frame[name].dtype, pd.DatetimeTZDtype):
            offsets = frame[name].map(lambda t: None if t is pd.NaT else t.utcoffset())
            frame = frame.assign(**{name: frame[name].dt.tz_convert("UTC"), "offset": offsets})
    frame = frame.astype(object).where(frame.notna(), None)
    cells = frame.to_numpy().tolist()
    return [[pytest.approx(v) if isinstance(v, float) else v for v in row] for row in cells]


def _made(call: str, module: Any) -> Any:
    texts = ["2024-01-31 00:00:00", "2024-02-29 13:45:10", "2023-12-31 23:59:59"]
    days = module.to_datetime(["2024-01-01", "2024-01-02", "2024-01-05", "2024-01-06"])
    names = {
        "m": module,
        "np": np,
        "datetime": datetime,
        "times": module.to_datetime(module.Series(texts)),
        "spans": module.to_timedelta(module.Series(["1 days 02:00:00", "-00:30:00", "5 days"])),
        "gaps": module.Series([1.0, np.nan, np.nan, 4.0], index=days),
    }
    return _rows(eval(call, names))


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("call", CALLS)
def test_as_pandas(call: str) -> None:
    assert _made(call, hr) == _made(call, pd)


@pytest.mark.parametrize("side", [None, "forward", "backward", "both"])
@pytest.mark.parametrize("limit", [None, 1, 2])
@pytest.mark.parametrize("area", [None, "inside", "outside"])
def test_where_lines_are_drawn(side: Any, limit: Any, area: Any) -> None:
    nan = np.nan
    long = [nan, nan, 1, nan, nan, nan, 4, nan, nan]
    for values in (long, [nan, nan], [1, nan], [nan, 1], [2.0]):
        words = {"limit": limit, "limit_direction": side, "limit_area": area}
        got = hr.Series(values, dtype="float64").interpolate(**words)
        wanted = pd.Series(values, dtype="float64").interpolate(**words)
        assert _rows(got) == _rows(wanted), values


def test_what_times_refuse() -> None:
    with pytest.raises(hr.InvalidArgumentError, match="missing columns: missing=\\['day'\\]"):
        hr.to_datetime(hr.DataFrame({"year": [2024], "month": [1]}))
    with pytest.raises(hr.InvalidArgumentError, match="unknown columns"):
        hr.to_datetime(hr.DataFrame({"year": [2024], "month": [1], "day": [1], "week": [2]}))
    with pytest.raises(hr.InvalidArgumentError, match="row=1"):
        parts = hr.DataFrame({"year": [2024, 2024], "month": [1, 2], "day": [1, 30]})
        hr.to_datetime(parts).to_list()
    with pytest.raises(hr.InvalidArgumentError, match="several offsets"):
        hr.to_datetime(["2024-01-01T10:00+01:00", "2024-01-01T10:00+02:00"])
    with pytest.raises(hr.InvalidArgumentError, match="row=1, text='31/01/2024'"):
        hr.to_datetime(["01/02/2024", "31/01/2024"])
    with pytest.raises(hr.InvalidArgumentError, match="text='soon'"):
        hr.to_datetime(["soon"])
    with pytest.raises(hr.TypeMismatchError, match="origin"):
        hr.to_datetime(["2024-01-01"], origin="1960-01-01")
    with pytest.raises(hr.InvalidArgumentError, match="%z"):
        hr.to_datetime(["2024-01-01"]).dt.strftime("%z")
    with pytest.raises(hr.UnsupportedError, match="method='spline'"):
        hr.Series([1.0]).interpolate("spline")
    with pytest.raises(hr.TypeMismatchError, match="times as labels"):
        hr.Series([1.0]).interpolate("time")
    with pytest.raises(hr.TypeMismatchError, match="dtype='string'"):
        hr.Series(["a"]).dt
