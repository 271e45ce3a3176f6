# SPDX-License-Identifier: Apache-2.0
"""Spans of time, regular times and times of day, against pandas."""

from __future__ import annotations

import datetime
import pickle
from typing import Any

import numpy as np
import pandas as pd
import pytest

import headrace as hr

FREQUENCIES = ["D", "h", "15min", "7h", "2D", "W", "W-WED", "MS", "ME", "QS", "QE", "YS", "YE"]
CALLS = r"""
df.resample("D").mean()
df.resample("W").agg({"v": "sum", "n": "max"})
df.resample("MS").agg(a=("v", "mean"), b=("n", "count"))
df[["v"]].resample("D").sum()
df.resample("D").size()
df.resample("D").v.first()
df.resample("D")["v"].sum().rolling(2).mean()
df.reset_index().resample("D", on="t").v.sum()
df.reset_index().groupby(m.Grouper(key="t", freq="D")).v.sum()
df.reset_index().groupby([m.Grouper(key="t", freq="MS"), "n"]).v.sum()
df.groupby(m.Grouper(freq="D")).v.max()
df.v.resample("D").sum()
df.v.resample("6h", closed="right").sum()
df.v.resample("6h", closed="right", label="right").sum()
df.v.resample("7h", origin="epoch").count()
df.v.resample("7h", origin="start").count()
df.v.resample("7h", origin="2023-12-30 02:00").count()
df.v.resample("D").ohlc()
df.v.resample("D").ffill()
df.v.resample("D").bfill()
df.v.resample("h").asfreq()
df.resample("W").ffill()
df.resample("12h").asfreq(fill_value=-1)
df.v.resample("D").agg(lambda s: s.max() - s.min())
df.v.resample("D").quantile(0.25)
df[~df.index.normalize().duplicated()].v.asfreq("D") if m is pd else days.v.asfreq("D")
df.between_time("00:30", "06:00").v
df.between_time("20:00", "04:00").v
df.v.between_time("06:00", "12:00", inclusive="left")
m.Series([None, 1.0, None, None, 4.0, None]).interpolate()
m.date_range("2024-01-01", periods=3)
m.date_range("2024-01-01", "2024-02-01", freq="W")
m.date_range("2024-01-01 05:00", "2024-02-01", freq="W-TUE")
m.date_range("2024-01-15", periods=3, freq="MS")
m.date_range("2024-01-15 03:00", periods=4, freq="QE")
m.date_range("2024-01-31", periods=3, freq="2ME")
m.date_range(end="2024-03-01", periods=3, freq="ME")
m.date_range(end="2024-03-01", periods=3)
m.date_range("2024-01-01", "2024-01-02", periods=5)
m.date_range("2024-01-01", "2024-01-02", freq="6h", inclusive="left")
m.date_range("2024-01-01", "2024-01-02", freq="6h", inclusive="neither")
m.date_range("2024-01-01 07:30", periods=2, normalize=True)
m.date_range("2024-01-06", periods=4, freq="B")
m.date_range("2024-01-01", periods=3, freq=datetime.timedelta(hours=5))
m.bdate_range("2024-01-01", periods=9)
m.bdate_range("2024-01-01", "2024-01-14")
df.v.shift(freq="D")
df.shift(-2, freq="ME")
df.v.shift(1, freq=m.offsets.BDay())
df.v.at_time("05:00")
df.v.truncate("2024-01-04", "2024-02-29 20:00")
df.tz_localize("UTC").tz_convert("Asia/Tokyo").v
df.v.groupby(df.index.month).sum()
df.v.groupby(df.index.day_name()).sum()
df.v.groupby(df.index.floor("D")).sum()
df.v.groupby(m.Grouper(freq="MS")).sum()
m.Series(df.index).dt.is_month_end
m.Series([*df.index[:2], None], dtype="datetime64[us]").dt.is_quarter_start
m.Series([*df.index[:2], None], dtype="datetime64[us]").dt.is_leap_year
m.Series(df.index).dt.as_unit("s")
m.Series(df.index - df.index[0]).dt.components
m.Series(df.index).diff().dt.total_seconds()
m.Series([str(name) + str(rows.v.sum()) for name, rows in df.resample("7D")])
m.Series([str(name) + str(len(rows)) for name, rows in df.v.resample("QE")])
""".strip().splitlines()


def _frame(module: Any) -> Any:
    days = ["2024-01-01 00:10", "2024-01-01 05:00", "2024-01-01 06:00", "2024-01-04 12:00"]
    days += ["2024-01-06 23:00", "2024-02-29 18:00", "2024-05-05 00:00", "2025-01-01 07:30"]
    times = np.array(days, "datetime64[us]")
    values = [1.0, 2.0, 3.5, 4.0, 5.0, 6.0, 7.0, 8.0]
    return module.DataFrame({"t": times, "v": values, "n": [1, 2, 3, 1, 2, 3, 1, 2]})


def _rows(value: Any) -> Any:
    value = value.to_pandas() if hasattr(value, "to_pandas") else value
    if isinstance(value, pd.DatetimeIndex):
        value = pd.Series(value)
    frame = value.to_frame("value") if isinstance(value, pd.Series) else value
    labels = [each if isinstance(each, tuple) else (each,) for each in frame.index]
    frame = frame.astype(object).where(frame.notna(), None)
    return [str(n) for n in frame.columns], labels, frame.to_numpy().tolist()


def _made(call: str, module: Any) -> Any:
    df = _frame(module).set_index("t")
    days = df[[True, False, False, True, True, True, True, True]]
    if module is hr:
        days = days.reset_index()
        days["t"] = days.t.dt.normalize()
        days = days.set_index("t")
    names = {"m": module, "pd": pd, "datetime": datetime, "df": df, "days": days}
    return _rows(eval(call, names))


@pytest.mark.parametrize("call", [call for call in CALLS if "days" not in call])
def test_as_pandas(call: str) -> None:
    assert _made(call, hr) == _made(call, pd)


@pytest.mark.parametrize("freq", FREQUENCIES)
@pytest.mark.parametrize("how", ["sum", "mean", "count", "last", "median", "nunique"])
def test_spans(freq: str, how: str) -> None:
    call = f"df.resample({freq!r}).v.{how}()"
    assert _made(call, hr) == _made(call, pd)


def test_regular_times_keep_rows_and_gaps() -> None:
    frame = hr.DataFrame({"x": [1, 2]}, index=hr.to_datetime(["2024-01-01", "2024-01-03"]))
    assert frame.asfreq("D").x.to_list() == [1, None, 2]
    assert frame.asfreq("D", fill_value=0).x.to_list() == [1, 0, 2]


def test_weeks_and_periods() -> None:
    days = pd.Series(pd.date_range("2019-12-20", periods=800, freq="D"))
    ours = hr.Series(days)
    wanted = days.dt.isocalendar()
    got = ours.dt.isocalendar()
    for name in ("year", "week", "day"):
        assert got[name].to_list() == wanted[name].tolist()
    for freq in "DMQY":
        assert ours.dt.to_period(freq).to_list() == days.dt.to_period(freq).astype(str).tolist()


def test_moments_and_durations() -> None:
    moment, wanted = hr.Timestamp("2024-02-29 13:45:10"), pd.Timestamp("2024-02-29 13:45:10")
    assert moment == wanted.to_pydatetime() == hr.Timestamp(wanted) == hr.Timestamp(moment)
    assert hr.Timestamp(2024, 2, 29, 13, 45, 10) == moment
    assert hr.Timestamp(year=2024, month=2, day=29) == moment.normalize()
    assert hr.Timestamp(np.datetime64("2024-02-29T13:45:10")) == moment
    assert hr.Timestamp(datetime.date(2024, 2, 29)) == moment.normalize()
    assert (moment.dayofweek, moment.dayofyear, moment.quarter) == (3, 60, 1)
    assert (moment.day_name(), moment.month_name()) == ("Thursday", "February")
    assert moment.floor("15min") == wanted.floor("15min").to_pydatetime()
    assert moment.ceil("h") == wanted.ceil("h").to_pydatetime()
    assert isinstance(moment + hr.Timedelta("1 day"), hr.Timestamp)
    assert repr(moment) == repr(wanted)
    assert pickle.loads(pickle.dumps(moment)) == moment
    assert hr.Timedelta(90, "min") == hr.Timedelta(minutes=90) == pd.Timedelta("90min")
    assert hr.Timedelta(np.timedelta64(2, "h")) == datetime.timedelta(hours=2)
    frame = _frame(hr)
    assert len(frame[frame.t > hr.Timestamp("2024-02-01")]) == 3
    assert (frame.t + hr.Timedelta(days=1)).dt.day.to_list()[0] == 2


@pytest.mark.parametrize(
    ("call", "words"),
    [
        ("df.resample('D')", "single label level of times"),
        ("df.set_index('v').resample('D')", "expected dates or timestamps"),
        ("df.set_index('t').resample('fortnight')", "unknown frequency: freq='fortnight'"),
        ("df.set_index('t').resample('0D')", "unknown frequency"),
        ("df.set_index('t').resample('D', closed='up')", "closed='up'"),
        ("df.set_index('t').resample('D', origin='noon')", "origin='noon'"),
        ("df.set_index('t').resample('D').vv", "no column or aggregate"),
        ("df.set_index('t').between_time('9h', '10:00')", "time of day"),
        ("hr.date_range('2024-01-01')", "expected three of"),
        ("hr.date_range('2024-01-01', periods=2, freq='W-XXX')", "W-XXX"),
        ("hr.Timestamp([1])", r"expected a time: value=\[1\]"),
        ("hr.Timestamp('soon')", "soon"),
        ("hr.Timedelta([1])", "expected a duration"),
        ("df.t.dt.to_period('X')", "unknown period"),
        ("df.t.interpolate()", "expected numbers"),
    ],
)
def test_errors_name_the_value(call: str, words: str) -> None:
    with pytest.raises((hr.errors.Error, AttributeError), match=words):
        eval(call, {"hr": hr, "df": _frame(hr)})


SPANS = [
    *("D", "2D", "7h", "90min", "W", "W-MON", "2W", "B", "MS", "ME", "2MS", "3ME", "QE", "QS"),
    *("QE-FEB", "QS-FEB", "2QE", "YE", "YS", "YE-JUN", "YS-APR"),
]
SIDES = [None, "left", "right"]


def _moments(zone: str | None) -> Any:
    rng = np.random.default_rng(8)
    at = pd.Timestamp("2023-10-20 05:00") + pd.to_timedelta(np.sort(rng.integers(0, 500, 60)), "D")
    at = at + pd.to_timedelta(rng.integers(0, 24, 60), "h")
    return pd.DatetimeIndex(at).sort_values().tz_localize(zone)


@pytest.mark.parametrize("zone", [None, "UTC", "America/New_York"])
@pytest.mark.parametrize("rule", SPANS)
def test_ends_and_names_of_spans(rule: str, zone: str | None) -> None:
    at = _moments(zone)
    theirs = pd.Series(np.arange(60.0), index=at)
    mine = hr.from_pandas(pd.DataFrame({"t": at, "x": np.arange(60.0)})).set_index("t", drop=True).x
    for closed in SIDES:
        if zone and closed == "right" and rule in ("D", "2D"):
            continue  # pandas puts an empty span before the first, unlike without a zone
        for label in SIDES:
            got = mine.resample(rule, closed=closed, label=label).sum()
            wanted = theirs.resample(rule, closed=closed, label=label).sum()
            assert got.to_list() == wanted.to_list(), (closed, label)
            names = got.index.dt.tz_convert(None) if zone else got.index
            expected = wanted.index.tz_convert(None) if zone else wanted.index
            assert names.to_list() == [each.to_pydatetime() for each in expected], (closed, label)


def test_origins_offsets_and_neighbours() -> None:
    at = _moments(None)
    theirs = pd.Series(np.arange(60.0), index=at)
    mine = hr.from_pandas(pd.DataFrame({"t": at, "x": np.arange(60.0)})).set_index("t", drop=True).x

    def same(call: Any) -> None:
        got, wanted = call(mine), call(theirs)
        plain = [None if v != v else v for v in wanted.to_list()]
        assert [None if v is None or v != v else v for v in got.to_list()] == plain
        assert got.index.to_list() == [each.to_pydatetime() for each in wanted.index]

    for words in (
        *({"origin": origin} for origin in ("start", "start_day", "epoch", "end", "end_day")),
        {"offset": "5h"},
        {"offset": "90min", "origin": "start"},
    ):
        for rule in ("17h", "3D"):
            same(lambda s, rule=rule, words=words: s.resample(rule, **words).sum())
    for rule in ("6h", "3D", "MS", "90Min"):
        same(lambda s, rule=rule: s.resample(rule).ffill(limit=2))
        same(lambda s, rule=rule: s[~s.index.duplicated()].resample(rule).bfill(limit=1))
        same(lambda s, rule=rule: s[~s.index.duplicated()].resample(rule).nearest())
        same(lambda s, rule=rule: s[~s.index.duplicated()].resample(rule).nearest(limit=1))
    assert mine.resample("MS").transform("sum").to_list() == (
        theirs.resample("MS").transform("sum").to_list()
    )
    same(lambda s: s.resample("MS", group_keys=False).sum())
    assert len(mine.resample("MS")) == len(theirs.resample("MS"))
    assert mine.resample("MS").pipe(len) == len(mine.resample("MS"))
    days = pd.Series(
        [1.0, 2.0, 4.0], index=pd.to_datetime(["2024-01-01", "2024-01-04", "2024-01-09"])
    )
    ours = hr.Series([1.0, 2.0, 4.0], index=hr.Series(days.index.to_numpy()))
    for call in (
        lambda s: s.asfreq("D", method="ffill"),
        lambda s: s.asfreq("2D", method="bfill"),
        lambda s: s.resample("D").interpolate(),
        lambda s: s.resample("17h").interpolate(),
    ):
        got, wanted = call(ours), call(days)
        assert [v if v is not None else -1 for v in got.to_list()] == wanted.fillna(-1).to_list()
        assert got.index.to_list() == [each.to_pydatetime() for each in wanted.index]
    with pytest.raises(hr.InvalidArgumentError, match="method='up'"):
        ours.asfreq("D", method="up")


@pytest.mark.parametrize("rule", ["D", "6h", "W", "MS", "ME"])
def test_spans_of_groups(rule: str) -> None:
    at = _moments(None)
    data = {"t": at.to_numpy(), "k": [i % 3 for i in range(60)], "g": ["a", "b"] * 30}
    data["x"], data["y"] = np.arange(60.0), np.arange(60)
    mine, theirs = hr.DataFrame(data), pd.DataFrame(data)
    for by in (["k"], ["k", "g"]):
        for name in ("sum", "mean", "count"):
            got = getattr(mine.groupby(by).resample(rule, on="t")[["x", "y"]], name)()
            wanted = getattr(theirs.groupby(by).resample(rule, on="t")[["x", "y"]], name)()
            for column in ("x", "y"):
                values = [None if v != v else v for v in wanted[column]]
                assert got[column].to_list() == values, (by, name)
        one = mine.set_index("t", drop=True).groupby(by).x.resample(rule).max().reset_index()
        two = theirs.set_index("t").groupby(by).x.resample(rule).max().reset_index()
        assert one.t.to_list() == [each.to_pydatetime() for each in two.t]
        assert one.k.to_list() == two.k.to_list()
    with pytest.raises(hr.InvalidArgumentError, match="divide the day"):
        mine.groupby("k").resample("7h", on="t")


@pytest.mark.parametrize("method", ["ffill", "bfill", "nearest"])
@pytest.mark.parametrize("limit", [None, 1, 2])
@pytest.mark.parametrize(
    "labels", [[1, 4, 9], [2.5, 2.75, 8.0], [], pd.to_datetime(["2024-01-02", "2024-01-05"])]
)
def test_reindexing_takes_neighbours(labels: Any, limit: int | None, method: Any) -> None:
    times = isinstance(labels, pd.DatetimeIndex)
    wanted = pd.date_range("2024-01-01", periods=12) if times else list(range(12))
    words = {"method": method, "limit": limit}
    theirs = pd.Series(np.arange(len(labels)) * 1.0, labels)
    found = hr.Series(theirs.to_list(), labels).reindex(wanted, **words).to_numpy()
    np.testing.assert_array_equal(found, theirs.reindex(wanted, **words).to_numpy())
    frame = hr.DataFrame({"x": theirs.to_list()}, labels).reindex(wanted, **words)
    np.testing.assert_array_equal(found, frame.x.to_numpy())


def test_reindexing_without_order_raises() -> None:
    for labels, wanted, words in (
        ([2, 1], [1], {"method": "ffill"}),
        ([1, 1], [1], {"method": "ffill"}),
        ([1, 2], [2, 1], {"method": "ffill", "limit": 1}),
        ([1, 2], [1], {"method": "sideways"}),
    ):
        with pytest.raises(ValueError, match="reindex"):
            hr.Series([1.0, 2.0], labels).reindex(wanted, **words)
