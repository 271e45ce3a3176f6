# SPDX-License-Identifier: Apache-2.0
"""Timestamps with a zone: fields, moves between zones, operators, and the ways in and out."""

from __future__ import annotations

import copy
import datetime
import operator
import pickle
import random
import zoneinfo
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import headrace as hr

UTC = datetime.UTC
datetimes = datetime.datetime
delta = datetime.timedelta
UNITS = ("s", "ms", "us", "ns")
ZONES = [
    "UTC",
    "Europe/Berlin",
    "America/New_York",
    "America/St_Johns",
    "Asia/Kolkata",
    "Asia/Gaza",
    "Africa/Casablanca",
    "Africa/Freetown",
    "Australia/Lord_Howe",
    "Pacific/Apia",
    "Antarctica/Troll",
    "+05:30",
    "-03:00",
]
HALF_A_DAY = 43_200
SECONDS = st.one_of(
    st.integers(-5 * 10**9, 25 * 10**9),
    st.sampled_from([954_637_200, 972_781_200, 1_711_846_800, 1_729_990_800]).flatmap(
        lambda change: st.integers(change - HALF_A_DAY, change + HALF_A_DAY)
    ),
)


def plain(values: Any) -> list[Any]:
    return [None if v is pd.NaT or v != v else v for v in values]


def zoned(seconds: list[Any], zone: str, unit: str = "us") -> hr.Series:
    return (
        hr.Series(seconds, dtype="int64")
        .astype(f"datetime64[s, {zone}]")
        .astype(f"datetime64[{unit}, {zone}]")
    )


@pytest.mark.parametrize("zone", ZONES)
def test_local_times_are_those_of_zoneinfo(zone: str) -> None:
    rng = random.Random(1)
    seconds = [rng.randrange(-5 * 10**9, 25 * 10**9) for _ in range(2000)]
    place = UTC if zone == "UTC" else None
    if zone[0] in "+-":
        hours, minutes = int(zone[:3]), int(zone[0] + zone[4:])
        place = datetime.timezone(delta(hours=hours, minutes=minutes))
    place = place or zoneinfo.ZoneInfo(zone)
    wanted = [datetimes.fromtimestamp(s, UTC).astimezone(place) for s in seconds]
    s = zoned(seconds, zone)
    assert s.dt.tz_localize(None).to_list() == [w.replace(tzinfo=None) for w in wanted]
    got = s.to_list()
    assert got == wanted
    assert [g.utcoffset() for g in got] == [w.utcoffset() for w in wanted]
    assert [g.fold for g in got] == [w.fold for w in wanted]


@given(
    st.lists(st.one_of(st.none(), SECONDS), min_size=1, max_size=70),
    st.sampled_from(ZONES[:5] + ZONES[8:9]),
    st.sampled_from(UNITS),
)
def test_fields_are_those_of_pandas(seconds: list[Any], zone: str, unit: str) -> None:
    if unit == "ns":
        seconds = [None if s is None else s % (9 * 10**9) for s in seconds]
    ours = zoned(seconds, zone, unit)
    values = np.array([np.iinfo("int64").min if s is None else s for s in seconds])
    theirs = pd.Series(values.view("datetime64[s]")).dt.as_unit(unit)
    theirs = theirs.dt.tz_localize("UTC").dt.tz_convert(zone)
    for field in ("year", "month", "day", "hour", "minute", "second", "day_of_week", "quarter"):
        assert getattr(ours.dt, field).to_list() == plain(getattr(theirs.dt, field)), field
    assert ours.dt.date.to_list() == plain(theirs.dt.date)
    local = ours.dt.tz_localize(None)
    assert np.array_equal(local.to_numpy(), theirs.dt.tz_localize(None).to_numpy(), equal_nan=True)
    assert ours.dt.tz_convert("Asia/Tokyo").dt.hour.to_list() == plain(
        theirs.dt.tz_convert("Asia/Tokyo").dt.hour
    )


@given(
    st.lists(st.one_of(st.none(), SECONDS), min_size=1, max_size=70),
    st.sampled_from(ZONES[1:5] + ZONES[8:9]),
    st.sampled_from(["NaT", True, False]),
    st.sampled_from(["NaT", "shift_forward", "shift_backward"]),
)
def test_clocks_become_instants_as_in_pandas(
    seconds: list[Any], zone: str, ambiguous: Any, nonexistent: str
) -> None:
    values = np.array([np.iinfo("int64").min if s is None else s for s in seconds])
    theirs = pd.Series(values.view("datetime64[s]")).dt.as_unit("us")
    ours = hr.Series(theirs)
    flags = ambiguous if ambiguous == "NaT" else np.full(len(seconds), ambiguous)
    wanted = theirs.dt.tz_localize(zone, ambiguous=flags, nonexistent=nonexistent)
    got = ours.dt.tz_localize(zone, ambiguous=ambiguous, nonexistent=nonexistent)
    expected = plain(wanted.dt.tz_convert("UTC").dt.tz_localize(None))
    if nonexistent == "shift_backward":  # pandas goes back by a nanosecond, which it rounds
        expected = [None if e is None else e.floor("us") for e in expected]
    assert got.dt.tz_convert(None).to_list() == expected


def test_times_twice_or_never() -> None:
    twice = hr.Series([None, datetimes(2024, 10, 27, 2, 30)])
    never = hr.Series([datetimes(2024, 3, 31, 2, 30)])
    with pytest.raises(
        hr.InvalidArgumentError, match="clocks show it twice: row=1, time='2024-10-27 02:30:00'"
    ):
        twice.dt.tz_localize("Europe/Berlin").to_list()
    with pytest.raises(hr.InvalidArgumentError, match="clocks skip it: row=0"):
        never.dt.tz_localize("Europe/Berlin").to_list()
    early = twice.dt.tz_localize("Europe/Berlin", ambiguous="earliest")
    late = twice.dt.tz_localize("Europe/Berlin", ambiguous="latest")
    assert (late - early).to_list() == [None, delta(hours=1)]
    mixed = hr.Series([datetimes(2024, 10, 27, 2, 30)] * 2)
    mixed = mixed.dt.tz_localize("Europe/Berlin", ambiguous=[True, False])
    assert mixed.dt.tz_convert("UTC").dt.hour.to_list() == [0, 1]
    for options in ({"ambiguous": "first"}, {"nonexistent": "shift"}):
        with pytest.raises(hr.InvalidArgumentError, match=r"first|shift"):
            twice.dt.tz_localize("Europe/Berlin", **options)


def test_words_and_refusals() -> None:
    noon = datetimes(2024, 7, 1, 12)
    naive = hr.Series([noon, None])
    berlin = naive.dt.tz_localize("Europe/Berlin")
    assert str(berlin.dtype) == "datetime64[us, Europe/Berlin]"
    assert (berlin.dtype.kind, berlin.dtype.itemsize) == ("M", 8)
    assert berlin.dt.tz == zoneinfo.ZoneInfo("Europe/Berlin")
    assert naive.dt.tz is None
    assert berlin.dtype == pd.DatetimeTZDtype("us", "Europe/Berlin")
    assert (
        naive.dt.tz_localize(zoneinfo.ZoneInfo("Asia/Tokyo"))
        .dt.tz_convert(UTC)
        .dt.hour.to_list()[0]
        == 3
    )
    assert "2024-07-01 12:00:00+02:00" in repr(berlin)
    assert "null" in repr(berlin)
    for wrong in (
        lambda: naive.dt.tz_convert("UTC"),
        lambda: berlin.dt.tz_localize("UTC"),
        lambda: berlin.astype("datetime64[us]"),
        lambda: naive.astype("datetime64[us, UTC]"),
        lambda: naive.astype("date").dt.tz_localize("UTC"),
        lambda: berlin - naive,
        lambda: berlin > naive,
        lambda: berlin > noon,
        lambda: naive > noon.replace(tzinfo=UTC),
        lambda: berlin.fillna(noon),
        lambda: berlin.where([True, False], berlin.dt.tz_convert("UTC")),
        lambda: berlin == datetime.date(2024, 7, 1),
        lambda: hr.concat([hr.DataFrame({"t": naive}), hr.DataFrame({"t": berlin})]),
        lambda: hr.DataFrame({"t": naive}).merge(hr.DataFrame({"t": berlin}), on="t"),
        lambda: berlin.isin(naive),
    ):
        with pytest.raises(hr.TypeMismatchError):
            wrong()
    with pytest.raises(
        hr.TypeMismatchError, match=r"left='datetime64.us, Europe/Berlin.', right='d"
    ):
        berlin - naive
    for zone in ("Europe/Atlantis", "", "Europe/../Berlin", "+99:00"):
        with pytest.raises(hr.InvalidArgumentError, match="time zone"):
            naive.dt.tz_localize(zone)
    with pytest.raises(hr.InvalidArgumentError, match="Atlantis"):
        naive.astype("datetime64[us, Europe/Atlantis]")
    with pytest.raises(hr.TypeMismatchError, match="3"):
        naive.dt.tz_localize(3)
    with pytest.raises((hr.TypeMismatchError, hr.ExchangeError), match="tz_convert"):
        berlin.to_array()
    with pytest.raises((hr.TypeMismatchError, hr.ExchangeError), match="tz_convert"):
        hr.asarray(berlin)


@pytest.mark.parametrize("unit", UNITS)
def test_in_and_out(unit: str) -> None:
    s = zoned([1_711_846_800, None, 0, -5], "Europe/Berlin", unit)
    arrow = s.to_arrow()
    assert arrow.type == pa.timestamp(unit, "Europe/Berlin")
    assert arrow.to_pylist()[0] == s.to_list()[0]
    back = hr.from_arrow(arrow)
    assert (back.dtype, back.to_list()) == (s.dtype, s.to_list())
    assert hr.from_arrow(arrow[1:]).to_list() == s.to_list()[1:]
    pandas = s.to_pandas()
    assert str(pandas.dtype) == f"datetime64[{unit}, Europe/Berlin]"
    assert plain(pandas) == s.to_list()
    assert hr.from_pandas(pandas).to_list() == s.to_list()
    frame = hr.DataFrame({"t": s, "x": [1, 2, 3, 4]})
    assert hr.from_pandas(frame.to_pandas()).t.to_list() == s.to_list()
    assert pickle.loads(pickle.dumps(s)).to_list() == s.to_list()
    assert str(pickle.loads(pickle.dumps(frame)).t.dtype) == str(s.dtype)
    assert copy.copy(s).to_list() == s.to_list()
    assert s.to_numpy().tolist() == s.to_list()
    assert "1970-01-01 01:00:00" in repr(frame)
    if unit != "s":
        polars = pl.from_arrow(arrow)
        assert hr.from_arrow(polars).to_list() == s.to_list()


def test_lists() -> None:
    berlin = zoneinfo.ZoneInfo("Europe/Berlin")
    times = [datetimes(2024, 10, 27, 2, 30, tzinfo=berlin), None]
    times.append(times[0].replace(fold=1))
    s = hr.Series(times)
    assert str(s.dtype) == "datetime64[us, Europe/Berlin]"
    assert s.to_list() == times
    assert (s.to_list()[2] - s.to_list()[0].astimezone(UTC)) == delta(hours=1)
    assert str(hr.Series([datetimes(2024, 1, 1, tzinfo=UTC)]).dtype) == "datetime64[us, UTC]"
    east = datetime.timezone(delta(hours=-3, minutes=-30))
    assert str(hr.Series([datetimes(2024, 1, 1, tzinfo=east)]).dtype) == "datetime64[us, -03:30]"
    both = [times[0], times[0].astimezone(UTC)]
    with pytest.raises(hr.TypeMismatchError, match="several time zones"):
        hr.Series(both)
    tokyo = hr.Series(both, dtype="datetime64[s, Asia/Tokyo]")
    assert [t.timestamp() for t in tokyo.to_list()] == [t.timestamp() for t in both]
    assert hr.Series([pd.Timestamp("2024-01-01", tz="Asia/Tokyo")]).dt.hour.to_list() == [0]
    with pytest.raises(hr.InvalidArgumentError, match="tzinfo"):
        hr.Series([datetimes(2024, 1, 1)], dtype="datetime64[us, UTC]")
    with pytest.raises(hr.InvalidArgumentError, match="without a zone"):
        hr.Series([datetimes(2024, 1, 1, tzinfo=UTC)], dtype="datetime64[us]")
    with pytest.raises(hr.TypeMismatchError, match="other values"):
        hr.Series([datetimes(2024, 1, 1, tzinfo=UTC), datetimes(2024, 1, 1)])
    fine = hr.Series([1_500, 1], dtype="int64").astype("datetime64[ns, UTC]")
    assert "1970-01-01 00:00:00.000001500+00:00" in repr(fine)
    with pytest.raises(hr.UnsupportedError, match="floor"):
        fine.to_list()
    whole = [datetimes(1970, 1, 1, 0, 0, 0, 1, UTC), datetimes(1970, 1, 1, tzinfo=UTC)]
    assert fine.dt.floor("us").to_list() == whole


def test_a_zone_that_nobody_knows_is_kept() -> None:
    arrow = pa.array([0, None], pa.timestamp("us", "Mars/Phobos"))
    s = hr.from_arrow(arrow)
    assert s.to_arrow().type == arrow.type
    assert "1970-01-01 00:00:00Z" in repr(s)
    with pytest.raises(hr.InvalidArgumentError, match="Mars/Phobos"):
        s.dt.hour
    with pytest.raises(hr.UnsupportedError, match="column='t'"):
        hr.from_arrow(pa.table({"t": pa.array([0], pa.timestamp("us", "a b"))}))


@given(
    st.lists(st.tuples(SECONDS, SECONDS, st.booleans()), min_size=1, max_size=70),
    st.sampled_from(
        [operator.sub, operator.eq, operator.ne, operator.lt, operator.le, operator.gt, operator.ge]
    ),
    st.sampled_from(["column", "datetime", "turned"]),
)
def test_operators_go_by_instant(rows: list[Any], function: Any, form: str) -> None:
    left = [None if gone else a for a, _, gone in rows]
    right = [b for _, b, _ in rows]
    if form != "column":
        right = [right[0]] * len(right)
    x, y = zoned(left, "Europe/Berlin"), zoned(right, "Asia/Kolkata", "s")
    moments = [
        [None if s is None else datetimes(1970, 1, 1, tzinfo=UTC) + delta(seconds=s) for s in side]
        for side in (left, right)
    ]
    missing = None if function is operator.sub else function is operator.ne
    wanted = [missing if a is None else function(a, b) for a, b in zip(*moments, strict=True)]
    if form == "column":
        got = function(x, y)
    elif form == "datetime":
        got = function(x, moments[1][0])
    else:
        got = function(moments[1][0], x)
        wanted = [missing if a is None else function(b, a) for a, b in zip(*moments, strict=True)]
    assert got.to_list() == wanted


def test_operators_keep_the_zone() -> None:
    berlin = zoneinfo.ZoneInfo("Europe/Berlin")
    eve = datetimes(2024, 3, 30, 12, tzinfo=berlin)
    df = hr.DataFrame({"t": [eve, None], "d": [delta(days=1), delta(1)]})
    for later in (df.t + delta(days=1), df.t + df.d, df.d + df.t, delta(days=1) + df.t):
        assert str(later.dtype) == "datetime64[us, Europe/Berlin]"
        assert later.dt.hour.to_list() == [13, None]  # 24 hours, over the change of the clocks
    assert (df.t - df.d).dt.hour.to_list() == [12, None]
    assert (eve + df.d).dtype == df.t.dtype
    filled = df.t.fillna(eve.astimezone(UTC))
    assert (filled.dtype, filled.to_list()) == (df.t.dtype, [eve, eve])
    assert df.t.clip(upper=eve - delta(1)).to_list() == [eve - delta(1), None]
    assert df.t.where(df.t > eve, eve.astimezone(UTC)).dtype == df.t.dtype
    assert df.t.astype("datetime64[s, Asia/Tokyo]").dt.hour.to_list() == [20, None]
    assert df.t.astype("date").to_list() == [datetime.date(2024, 3, 30), None]
    assert (df.t > "2024-03-30 11:59").to_list() == [True, False]  # a clock in Berlin
    assert (df.t > "2024-03-30T11:59Z").to_list() == [False, False]
    assert df.t.dt.floor("D").to_list()[0] == datetimes(2024, 3, 30, tzinfo=berlin)
    assert df.t.dt.floor("MS").to_list() == [datetime.date(2024, 3, 1), None]
    assert df.t.isin(["2024-03-30 12:00"]).to_list() == [True, False]
    assert df.t.astype("string").to_list() == ["2024-03-30 12:00:00+01:00", None]
    assert df.t.dt.strftime("%H h %d.%m.").to_list() == ["12 h 30.03.", None]
    assert df.t.dt.normalize().to_list()[0] == datetimes(2024, 3, 30, tzinfo=berlin)
    assert hr.to_datetime(["2024-01-01"], dtype="datetime64[us, UTC]").dt.hour.to_list() == [0]
    assert df.t.isin([eve.astimezone(UTC)]).to_list() == [True, False]
    assert (df.t.min(), df.t.max(), df.t.count().item()) == (eve, eve, 1)
    assert df.t.mean() == eve
    assert df.t.diff().to_list() == [None, None]
    assert df.t.shift(1).dtype == df.t.dtype


def test_order_groups_and_joins() -> None:
    instants = [10**9, 5, None, 10**9, 7]
    df = hr.DataFrame({"t": zoned(instants, "America/New_York"), "x": [1, 2, 3, 4, 5]})
    assert df.sort_values("t").x.to_list() == [2, 5, 1, 4, 3]
    assert df.t.rank().to_list() == [3.5, 1.0, None, 3.5, 2.0]
    counted = df.groupby("t").x.sum().reset_index()
    assert counted.t.dtype == df.t.dtype
    assert counted.x.to_list() == [2, 5, 5]
    assert df.groupby("x").t.max().reset_index().t.dtype == df.t.dtype
    assert df.groupby(df.t.dt.hour).x.sum().to_dict() == {19: 7, 21: 5}
    other = hr.DataFrame({"t": zoned([5, 10**9], "America/New_York"), "y": ["a", "b"]})
    assert df.merge(other, on="t").y.to_list() == ["b", "a", "b"]
    assert df.merge(other, on="t").t.dtype == df.t.dtype
    assert df.drop_duplicates("t").x.to_list() == [1, 2, 3, 5]
    assert hr.concat([df, df]).t.nunique().item() == 3
    assert df.t.value_counts().to_dict()[df.t.to_list()[0]] == 2
    assert df.set_index("t").loc[df.t.to_list()[1]].x == 2


@pytest.mark.parametrize(
    ("how", "hours"),
    [
        ("inner", [9]),
        ("left", [9, 10]),
        ("right", [9, 11]),
        ("outer", [9, 10, 11]),
        ("semi", [9]),
        ("anti", [10]),
    ],
)
def test_joins_compare_instants_of_two_zones_and_units(how: str, hours: list[int]) -> None:
    left = hr.DataFrame({"t": zoned([9 * 3600, 10 * 3600], "UTC"), "x": [1, 2]})
    right = hr.DataFrame({"t": zoned([9 * 3600, 11 * 3600], "Europe/Berlin"), "y": [1, 2]})
    for unit in ("s", "ns"):
        left["t"] = left.t.astype(f"datetime64[{unit}, UTC]")
        joined = left.merge(right, on="t", how=how)
        assert joined.t.dtype.endswith(", UTC]")
        assert joined.t.dt.hour.to_list() == hours
    if how in ("inner", "left", "right"):
        theirs = left.to_pandas().merge(right.to_pandas(), on="t", how=how)
        assert theirs.t.dt.hour.to_list() == hours
    kept = left.merge(right, left_on=left.t, right_on="t", how="inner")
    assert kept.columns == ["t_x", "x", "t_y", "y"]
    assert kept.t_y.dtype == right.t.dtype
    assert left.t.isin(right.t).to_list() == [True, False]


def test_joins_of_dates_with_times() -> None:
    left = hr.DataFrame({"t": [datetime.date(2024, 7, 1), datetime.date(2024, 7, 2)]})
    right = hr.DataFrame({"t": [datetime.datetime(2024, 7, 1), datetime.datetime(2024, 7, 2, 1)]})
    assert left.merge(right, on="t").t.to_list() == [datetime.date(2024, 7, 1)]
    assert len(left.merge(right, on="t", how="outer")) == 3


def test_csv(tmp_path: Any) -> None:
    s = zoned([1_711_846_800, 1_711_846_799, None, -(10**10)], "Europe/Berlin")
    path = tmp_path / "t.csv"
    hr.DataFrame({"t": s, "x": [1, 2, 3, 4]}).to_csv(path)
    lines = path.read_text().splitlines()
    assert lines[1:4] == ["2024-03-31 03:00:00+02:00,1", "2024-03-31 01:59:59+01:00,2", ",3"]
    read = hr.read_csv(path, dtypes={"t": "datetime64[us, Europe/Berlin]"})
    assert (read.t.dtype, read.t.to_list()) == (s.dtype, s.to_list())
    path.write_text(
        "t\n2024-07-01 12:00\n2024-07-01T12:00:00.5Z\n2024-07-01 12:00:00 -0330\n2024-07-01\n"
    )
    read = hr.read_csv(path, dtypes={"t": "datetime64[ms, Asia/Tokyo]"})
    hours = read.t.dt.tz_convert("UTC").dt.tz_localize(None).to_list()
    assert hours == [
        datetimes(2024, 7, 1, 3),
        datetimes(2024, 7, 1, 12, 0, 0, 500_000),
        datetimes(2024, 7, 1, 15, 30),
        datetimes(2024, 6, 30, 15),
    ]
    for text in ("2024-03-31 02:30:00", "2024-10-27 02:30:00", "2024-07-01 12:00+25:00", "noon"):
        path.write_text(f"x,t\n1,2024-01-01\n2,{text}\n")
        with pytest.raises(hr.InputError, match="column 't' is not") as caught:
            hr.read_csv(path, dtypes={"t": "datetime64[us, Europe/Berlin]"})
        assert (caught.value.line, caught.value.column) == (3, 2)
    path.write_text("t\n2024-01-01\n2024-01-01 10:00:00Z\n")
    with pytest.raises(hr.InputError, match=r"datetime64.us, UTC."):
        hr.read_csv(path, dtypes={"t": "datetime64[us]"})


@pytest.mark.parametrize("rows", [0, 1, 63, 64, 65, 131_071, 131_073, 300_000])
def test_sizes_and_threads(rows: int) -> None:
    rng = np.random.default_rng(rows)
    values = rng.integers(0, 2 * 10**9, rows)
    gone = rng.random(rows) < 0.1
    made = []
    for count in (1, 2, 4):
        with hr.threads(count):
            column = hr.Series(values).astype("datetime64[s, America/New_York]")
            column = column.where(hr.Series(~gone))
            made.append(column.dt.tz_localize(None).astype("int64").fillna(0).to_numpy())
    assert all(np.array_equal(made[0], each) for each in made)
    theirs = pd.Series(values.view("datetime64[s]")).dt.tz_localize("UTC")
    theirs = theirs.dt.tz_convert("America/New_York").dt.tz_localize(None)
    assert np.array_equal(made[0][~gone], theirs.to_numpy().view("int64")[~gone])
    if rows > 64:
        part = hr.Series(values).astype("datetime64[s, America/New_York]")[17 : rows - 3]
        assert np.array_equal(
            part.dt.tz_localize(None).to_numpy().view("int64"),
            theirs.to_numpy().view("int64")[17 : rows - 3],
        )


def test_under_a_limit(memory_room: Any) -> None:
    values = np.random.default_rng(3).integers(0, 2 * 10**9, 2_000_000)

    def program() -> Any:
        df = hr.DataFrame({"t": hr.Series(values).astype("datetime64[s, America/New_York]")})
        df["h"] = df.t.dt.hour
        return df.groupby("h").t.max().reset_index().sort_values("t").to_dict()

    free = program()
    with memory_room("40MB"):
        assert program() == free


def outcome(function: Any) -> Any:
    """Seconds since 1970, None for null; or that it is an error."""
    try:
        made = function()
        if isinstance(made, pd.Series):
            plain = made.dt.tz_convert("UTC").dt.tz_localize(None).astype("M8[s]").to_numpy()
            return [None if np.isnat(v) else int(v.astype("int64")) for v in plain]
        return made.astype("datetime64[s, UTC]").astype("int64").to_list()
    except Exception:
        return "error"


@given(
    st.lists(st.integers(-7200, 10_800), min_size=1, max_size=12),
    st.sampled_from([3600, -3600, 7200, 1800, -1800]),
    st.sampled_from(["earliest", "NaT"]),
)
def test_jumped_over_times_move_by_a_timedelta(
    offsets: list[int], step: int, ambiguous: str
) -> None:
    gap = int(pd.Timestamp("2024-03-31 02:00").value // 10**9)
    clocks = np.array([gap + offset for offset in offsets]).view("M8[s]")
    by = datetime.timedelta(seconds=step)
    ours = outcome(
        lambda: hr.Series(clocks).dt.tz_localize(
            "Europe/Berlin", ambiguous=ambiguous, nonexistent=by
        )
    )
    theirs = outcome(
        lambda: pd.Series(clocks).dt.tz_localize(
            "Europe/Berlin", ambiguous=True if ambiguous == "earliest" else "NaT", nonexistent=by
        )
    )
    assert ours == theirs


@given(
    st.lists(st.integers(1, 2400), min_size=1, max_size=20),
    st.sampled_from([2023, 2024]),
    st.lists(st.integers(0, 19), max_size=2),
)
def test_times_shown_twice_are_told_by_their_order(
    steps: list[int], year: int, gone: list[int]
) -> None:
    begin = int(pd.Timestamp(f"{year}-10-{29 if year == 2023 else 27} 00:20").value // 10**9)
    instants = pd.Series((begin + np.cumsum(steps)).view("M8[s]")).dt.tz_localize("UTC")
    clocks = instants.dt.tz_convert("Europe/Berlin").dt.tz_localize(None)
    ours = hr.Series(clocks.to_numpy())
    missing = np.isin(np.arange(len(steps)), gone)
    if missing.any():
        clocks, ours = clocks.mask(missing), ours.where(~missing)
    wanted = outcome(lambda: clocks.dt.tz_localize("Europe/Berlin", ambiguous="infer"))
    got = outcome(lambda: ours.dt.tz_localize("Europe/Berlin", ambiguous="infer"))
    assert got == wanted


def test_order_that_does_not_tell() -> None:
    twice = hr.Series([datetimes(2024, 10, 27, 2, 30), datetimes(2024, 10, 27, 2, 45)])
    with pytest.raises(
        hr.InvalidArgumentError, match=r"inferred from their order.*row=0, rows=2.*bools"
    ):
        twice.dt.tz_localize("Europe/Berlin", ambiguous="infer")
    both = hr.concat([twice, twice]).dt.tz_localize("Europe/Berlin", ambiguous="infer")
    assert both.diff().to_list()[2] == datetime.timedelta(minutes=45)
    plain = hr.Series([datetimes(2024, 7, 1), None])
    assert plain.dt.tz_localize("UTC", ambiguous="infer").is_null().to_list() == [False, True]


@pytest.mark.parametrize("zone", ZONES)
def test_offsets_move_the_clocks_of_a_zone(zone: str) -> None:
    noons = np.arange(np.datetime64("2014-01-01T12", "us"), np.datetime64("2030"), delta(days=11))
    theirs = pd.Series([*noons, np.datetime64("NaT")]).dt.tz_localize(zone)
    ours = hr.Series([*noons, np.datetime64("NaT")]).dt.tz_localize(zone)
    for by in (pd.DateOffset(months=1), pd.DateOffset(years=-2, hours=-1), pd.DateOffset(days=3)):
        got = ours + by
        assert got.dtype == ours.dtype
        want = (theirs + by).dt.tz_convert("UTC").dt.tz_localize(None).to_numpy()
        assert np.array_equal(got.dt.tz_convert(None).to_numpy(), want, equal_nan=True)


def test_offsets_to_a_time_that_clocks_jump_over() -> None:
    night = hr.Series([datetimes(2024, 2, 29, 2, 30)]).dt.tz_localize("Europe/Berlin")
    with pytest.raises(hr.InvalidArgumentError, match=r"clocks skip it: row=0.*2024-03-31"):
        (night + pd.DateOffset(months=1, days=2)).to_list()
