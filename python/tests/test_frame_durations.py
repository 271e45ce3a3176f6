# SPDX-License-Identifier: Apache-2.0
"""Durations: arithmetic with times, parts, aggregates, and the ways in and out."""

from __future__ import annotations

import copy
import datetime
import operator
import pickle
import re
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import headrace as hr

delta = datetime.timedelta
UNITS = ("s", "ms", "us", "ns")
SPANS = st.one_of(
    st.none(),
    st.integers(-(10**6), 10**6).map(lambda n: delta(seconds=n)),
    st.integers(-(10**12), 10**12).map(lambda n: delta(microseconds=n)),
)


def plain(values: Any) -> list[Any]:
    """Python's values of a pandas series."""
    return [None if v is pd.NaT or v != v else v for v in values]


@pytest.mark.parametrize("unit", UNITS)
def test_in_and_out(unit: str) -> None:
    spans = np.array([0, -5, 90_061, "NaT"], f"timedelta64[{unit}]")
    s = hr.Series(spans, name="d")
    assert str(s.dtype) == f"timedelta64[{unit}]"
    assert s.dtype.kind == "m"
    assert s.dtype == spans.dtype
    assert s.is_null().to_list() == [False, False, False, True]
    assert np.array_equal(s.to_numpy(), spans, equal_nan=True)
    arrow = s.to_arrow()
    assert arrow.type == pa.duration(unit)
    assert hr.from_arrow(arrow).to_list() == s.to_list()
    pandas = s.to_pandas()
    assert pandas.dtype == f"timedelta64[{unit}]"
    assert hr.from_pandas(pandas).to_list() == s.to_list()
    assert pickle.loads(pickle.dumps(s)).to_list() == s.to_list()
    assert copy.copy(s).to_list() == s.to_list()
    assert s.astype("int64").to_list() == [0, -5, 90_061, None]
    assert hr.Series([1, None], dtype="int64").astype(f"timedelta64[{unit}]").dtype == s.dtype


def test_lists_and_what_they_show() -> None:
    s = hr.Series([delta(days=1, seconds=5), None, delta(microseconds=-1)])
    assert str(s.dtype) == "timedelta64[us]"
    assert s.to_list() == [delta(days=1, seconds=5), None, delta(microseconds=-1)]
    assert "1 day, 0:00:05" in repr(s)
    fine = hr.Series([np.timedelta64(1_500, "ns"), None])
    assert str(fine.dtype) == "timedelta64[ns]"
    assert "0:00:00.0000015" in repr(fine)
    assert hr.Series([pd.Timedelta("2 days")], dtype="timedelta64[s]").to_list() == [delta(days=2)]
    assert hr.Series(np.array([2], "timedelta64[h]")).to_list() == [delta(hours=2)]
    with pytest.raises(hr.InvalidArgumentError, match="finer unit"):
        hr.Series([delta(microseconds=1)], dtype="timedelta64[s]")
    with pytest.raises(hr.TypeMismatchError, match="other values"):
        hr.Series([delta(1), 3])
    with pytest.raises(hr.TypeMismatchError, match="timedelta64 needs a unit"):
        hr.Series([1]).astype("timedelta64")


@pytest.mark.parametrize("unit", ["M", "Y"])
def test_months_and_years_of_numpy_have_no_fixed_length(unit: str) -> None:
    day, span = hr.Series([datetime.date(2024, 1, 31)]), np.timedelta64(1, unit)
    worked = hr.Series([delta(days=1), None])
    for wrong in (
        lambda: day + span,
        lambda: span + day,
        lambda: day.astype("datetime64[us]") - span,
        lambda: worked * 2 < span,
        lambda: worked.fillna(span),
        lambda: day.astype("datetime64[us]").dt.floor(span),
        lambda: hr.Series([None, span]),
        lambda: hr.Series([np.timedelta64(1, "D"), span], dtype="timedelta64[s]"),
    ):
        with pytest.raises(
            hr.InvalidArgumentError, match=rf"no fixed length: value=.*1,'{unit}'.*; use days"
        ):
            wrong()
    with pytest.raises(hr.InvalidArgumentError, match=rf"dtype='timedelta64.{unit}.'"):
        hr.Series(np.array([1, 2], f"timedelta64[{unit}]"))


def test_nat_beside_a_column_is_an_error() -> None:
    day, span = hr.Series([datetime.date(2024, 1, 31)]), np.timedelta64("NaT")
    for wrong in (lambda: day + span, lambda: (day - day) + span, lambda: (day - day) > span):
        with pytest.raises(hr.InvalidArgumentError, match=r"NaT has no length: value=.*isna"):
            wrong()


@given(
    st.lists(st.tuples(SPANS, SPANS), min_size=1, max_size=70),
    st.sampled_from(
        [
            operator.add,
            operator.sub,
            operator.truediv,
            operator.floordiv,
            operator.mod,
            operator.eq,
            operator.ne,
            operator.lt,
            operator.ge,
        ]
    ),
    st.sampled_from(["column", "timedelta", "turned"]),
)
def test_durations_with_durations(rows: list[Any], function: Any, form: str) -> None:
    left = [a for a, _ in rows]
    right = [b if b else delta(seconds=7) for _, b in rows]
    ours, theirs = hr.Series(left, dtype="timedelta64[us]"), pd.Series(left, dtype="m8[us]")
    other: list[Any] = {
        "column": [hr.Series(right, dtype="timedelta64[us]"), pd.Series(right, dtype="m8[us]")],
    }.get(form, [right[0], right[0]])
    if form == "turned" and function in (operator.truediv, operator.floordiv, operator.mod):
        form = "timedelta"
    if form == "turned":
        got, wanted = function(other[0], ours), function(other[1], theirs)
    else:
        got, wanted = function(ours, other[0]), function(theirs, other[1])
    expected = plain(wanted)
    for a, b, value in zip(got.to_list(), expected, left, strict=True):
        assert (a is None and value is None) or a == b or a == pytest.approx(b)


@given(st.lists(SPANS, min_size=1, max_size=70), st.sampled_from([2, -3, 7, 0.5, -1.25]))
def test_durations_with_numbers(spans: list[Any], number: Any) -> None:
    ours, theirs = hr.Series(spans, dtype="timedelta64[us]"), pd.Series(spans, dtype="m8[us]")
    assert (ours * number).to_list() == (number * ours).to_list()
    for a, b in zip((ours * number).to_list(), plain(theirs * number), strict=True):
        assert a == b or abs(a - b) <= delta(microseconds=1)
    for a, b in zip((ours / number).to_list(), plain(theirs / number), strict=True):
        assert a == b or abs(a - b) <= delta(microseconds=1)
    if isinstance(number, int):
        assert (ours // number).to_list() == [None if s is None else s // number for s in spans]
    assert (-ours).to_list() == [None if s is None else -s for s in spans]
    assert abs(ours).to_list() == [None if s is None else abs(s) for s in spans]


def test_times_and_durations() -> None:
    day = datetime.date(2024, 2, 28)
    noon = datetime.datetime(2024, 2, 28, 12)
    df = hr.DataFrame({"day": [day, None], "at": [noon, noon + delta(hours=1)]})
    df["late"] = df["at"] - datetime.datetime(2024, 2, 28)
    assert str(df.late.dtype) == "timedelta64[us]"
    assert df.late.to_list() == [delta(hours=12), delta(hours=13)]
    assert (df.day - datetime.date(2024, 1, 1)).to_list() == [delta(days=58), None]
    assert (df["at"] - df.day).to_list() == [delta(hours=12), None]
    assert (df["at"] - df.late).to_list() == [datetime.datetime(2024, 2, 28)] * 2
    assert (df.late + df["at"]).to_list() == [noon + delta(hours=12), noon + delta(hours=14)]
    assert (df.day + df.late).to_list() == [noon, None]
    assert (noon + df.late).to_list() == [noon + delta(hours=12), noon + delta(hours=13)]
    assert (df["at"] - df["at"].min()).to_list() == [delta(0), delta(hours=1)]
    assert df["at"].diff().to_list() == [None, delta(hours=1)]
    assert df.late.where(df.late > delta(hours=12), delta(0)).to_list() == [
        delta(0),
        delta(hours=13),
    ]
    assert df.late.fillna(delta(1)).to_list() == df.late.to_list()
    assert df.late.clip(upper=delta(hours=12)).to_list() == [delta(hours=12)] * 2
    assert df[df.late == delta(hours=13)].late.to_list() == [delta(hours=13)]
    assert df.day.astype("datetime64[s]").to_list() == [datetime.datetime(2024, 2, 28), None]
    assert df["at"].astype("date").to_list() == [day, day]
    assert df.late.astype("timedelta64[s]").to_list() == df.late.to_list()
    for wrong in (lambda: df.late * df.late, lambda: df["at"] + df["at"], lambda: df.late + 1):
        with pytest.raises(hr.TypeMismatchError):
            wrong()


def test_parts() -> None:
    spans = [delta(days=3, hours=2, microseconds=7), delta(microseconds=-1), None]
    for unit in ("us", "ns"):
        ours = hr.Series(spans).astype(f"timedelta64[{unit}]").dt
        theirs = pd.Series(spans, dtype=f"m8[{unit}]").dt
        for part in ("days", "seconds", "microseconds", "nanoseconds"):
            assert getattr(ours, part).to_list() == plain(getattr(theirs, part)), part
        for a, b in zip(ours.total_seconds().to_list(), plain(theirs.total_seconds()), strict=True):
            assert a == b or a == pytest.approx(b)
    with pytest.raises(AttributeError):
        hr.Series(spans).dt.year
    with pytest.raises(hr.TypeMismatchError):
        hr.Series([1]).dt


def test_aggregates_are_values() -> None:
    spans = [delta(seconds=1), None, delta(seconds=4)]
    s = hr.Series(spans)
    assert (s.sum(), s.mean()) == (delta(seconds=5), delta(seconds=2.5))
    assert (s.min(), s.max(), s.count().item()) == (delta(seconds=1), delta(seconds=4), 2)
    assert abs(s.std() - delta(seconds=2.1213203)) < delta(microseconds=2)
    times = hr.Series([datetime.datetime(2024, 1, 1), None, datetime.datetime(2024, 1, 3)])
    assert (times.min(), times.max()) == (
        datetime.datetime(2024, 1, 1),
        datetime.datetime(2024, 1, 3),
    )
    assert times.mean() == datetime.datetime(2024, 1, 2)
    days = hr.Series([datetime.date(2024, 1, 5), datetime.date(2023, 1, 5), None])
    assert (days.min(), days.max()) == (datetime.date(2023, 1, 5), datetime.date(2024, 1, 5))
    texts = hr.Series(["b", None, "", "a"])
    assert (texts.min(), texts.max()) == ("", "b")
    assert texts.astype("category").max() == "b"
    empty = hr.Series([None, None], dtype="datetime64[us]")
    assert (empty.min(), hr.Series([], dtype="string").max()) == (None, None)
    assert hr.Series([], dtype="timedelta64[us]").sum() == delta(0)
    fine = hr.Series(np.array([5, 7], "datetime64[ns]")).max()
    assert fine == np.datetime64(7, "ns")


def test_order_groups_and_joins() -> None:
    df = hr.DataFrame({"k": ["a", "b", "a"], "d": [delta(3), delta(1), delta(2)]})
    assert df.sort_values("d").k.to_list() == ["b", "a", "a"]
    assert df.d.rank().to_list() == [3.0, 1.0, 2.0]
    assert df.groupby("k").d.max().to_dict() == {"a": delta(3), "b": delta(1)}
    assert df.groupby("k").d.first().to_dict() == {"a": delta(3), "b": delta(1)}
    assert df.groupby("k").d.diff().to_list() == [None, None, delta(-1)]
    assert df.groupby("d").k.count().to_dict() == {delta(1): 1, delta(2): 1, delta(3): 1}
    assert df.merge(hr.DataFrame({"d": [delta(1)], "x": [5]}), on="d").x.to_list() == [5]
    assert hr.concat([df, df]).d.nunique().item() == 3
    assert df.d.isin([delta(3)]).to_list() == [True, False, False]
    assert df.d.value_counts().to_dict()[delta(3)] == 1


def test_csv_and_numbers_refuse(tmp_path: Any) -> None:
    spans = [delta(days=1, hours=2, milliseconds=5), delta(seconds=-1), None]
    path = tmp_path / "d.csv"
    hr.DataFrame({"d": hr.Series(spans), "x": [1, 2, 3]}).to_csv(path)
    text = path.read_text().splitlines()
    assert text[1:] == ["1 days 02:00:00.005000,1", "-1 days +23:59:59,2", ",3"]
    assert pd.to_timedelta(pd.read_csv(path).d).to_list()[:2] == spans[:2]
    assert hr.read_csv(path, dtypes={"d": "timedelta64[us]"}).d.to_list() == spans


TEXTS = st.one_of(
    st.none(),
    st.integers(-(10**12), 10**12),
    st.integers(-(10**9), 10**9).map(lambda n: n * 1000),
    st.sampled_from([0, -1, 86_399, 86_400, -86_400]),
)


@given(st.lists(TEXTS, min_size=1, max_size=40), st.sampled_from(UNITS))
def test_texts_and_back(counts: list[Any], unit: str) -> None:
    spans = np.array([np.iinfo("int64").min if c is None else c for c in counts])
    ours = hr.Series(spans.view(f"m8[{unit}]"))
    texts = ours.astype("string")
    per_second = 1000 ** UNITS.index(unit)
    for text, count in zip(texts.to_list(), counts, strict=True):
        if count is None:
            assert text is None
            continue
        parts = re.fullmatch(r"(-?\d+) days \+?(\d\d):(\d\d):(\d\d)(?:\.(\d+))?", text)
        assert parts
        days, hours, minutes, seconds = map(int, parts.groups()[:4])
        whole = days * 86_400 + hours * 3600 + minutes * 60 + seconds
        assert whole * per_second + int(parts[5] or 0) == count
        if abs(count) < 9 * 10**9 * per_second:
            assert pd.Timedelta(text) == pd.Timedelta(np.timedelta64(count, unit))
    assert texts.astype(f"timedelta64[{unit}]").equals(ours)
    python = [None if c is None else str(delta(microseconds=c)) for c in counts]
    if unit == "us":
        assert hr.Series(python, dtype="string").astype("timedelta64[us]").equals(ours)


@pytest.mark.parametrize("unit", UNITS)
def test_csv_and_back(unit: str, tmp_path: Any) -> None:
    spans = np.array([0, -5, 90_061, "NaT", 10**12 + 7], f"timedelta64[{unit}]")
    frame = hr.DataFrame({"x": [1, 2, 3, 4, 5], "d": hr.Series(spans)})
    path = tmp_path / "d.csv"
    frame.to_csv(path)
    back = hr.read_csv(path, dtypes={"d": f"timedelta64[{unit}]"})
    assert back.equals(frame)
    assert hr.scan_csv(path, dtypes={"d": f"timedelta64[{unit}]"}).d.sum() == frame.d.sum()
    path.write_text('x,d\n1,1 days\n2, -00:30 \n3,\n4,+2:03:04\n5,"-1 day, 0:00:01"\n')
    read = hr.read_csv(path, dtypes={"d": "timedelta64[s]"}).d.to_list()
    assert read == [
        delta(1),
        delta(minutes=-30),
        None,
        delta(hours=2, minutes=3, seconds=4),
        delta(seconds=1 - 86_400),
    ]
    for wrong in (
        "1",
        "1:2",
        "1 week",
        "1:60",
        "1:00:60",
        "1 days 1",
        "--1:00",
        "1:00:00.",
        "1:00:00.5",
    ):
        path.write_text(f"x,d\n1,1:00\n2,{wrong}\n")
        with pytest.raises(hr.InputError, match=r"column 'd' is not a timedelta64.s.") as caught:
            hr.read_csv(path, dtypes={"d": "timedelta64[s]"})
        assert (caught.value.line, caught.value.column) == (3, 2)


def test_to_timedelta() -> None:
    texts = ["1 days 02:00:00.5", "soon", None]
    made = hr.to_timedelta(texts, errors="coerce")
    assert made.dtype == "timedelta64[us]"
    assert made.to_list() == [delta(days=1, hours=2, milliseconds=500), None, None]
    with pytest.raises(
        hr.InvalidArgumentError, match=r"to_timedelta: .*row=1, text='soon'.*coerce"
    ):
        hr.to_timedelta(texts).to_list()
    with pytest.raises(hr.InvalidArgumentError, match=r"timedelta64\[s\]"):
        hr.Series(texts[:1]).astype("timedelta64[s]").to_list()
    assert hr.to_timedelta([2, None], unit="D").to_list() == [delta(2), None]
    assert hr.to_timedelta([5], unit="ms", dtype="timedelta64[s]").to_list() == [delta(0)]
    assert hr.to_timedelta("1:00") == delta(hours=1)
    assert hr.to_timedelta(made).equals(made)
    top = np.iinfo("int64").max
    for count in (top, -top, -top + 1):
        fine = hr.Series(np.array([count]).view("m8[ns]"))
        assert fine.astype("string").astype("timedelta64[ns]").equals(fine)
    with pytest.raises(hr.InvalidArgumentError, match="row=0"):
        hr.Series(["106752 days"]).astype("timedelta64[ns]").to_list()
    for wrong in (lambda: hr.to_timedelta([1]), lambda: hr.to_timedelta(["1:00"], errors="ignore")):
        with pytest.raises(hr.InvalidArgumentError, match="expected"):
            wrong()
    with pytest.raises(hr.TypeMismatchError, match="numbers or durations"):
        hr.to_timedelta([True], unit="s")


def test_units_come_together() -> None:
    coarse = hr.Series(np.array([1, 2], "m8[s]"))
    fine = hr.Series(np.array([2_000, "NaT"], "m8[ms]"))
    both = hr.concat([coarse, fine])
    assert str(both.dtype) == "timedelta64[ms]"
    assert both.to_list() == [delta(seconds=1), delta(seconds=2), delta(seconds=2), None]
    joined = hr.DataFrame({"k": coarse, "x": [1, 2]}).merge(
        hr.DataFrame({"k": fine, "y": [5, 6]}), on="k", how="outer"
    )
    assert (joined.x.to_list(), joined.y.to_list()) == ([1, 2, None], [None, 5, 6])
    times = [hr.Series(np.array(["2024-01-01"], f"M8[{unit}]")) for unit in ("s", "us")]
    assert str(hr.concat(times).dtype) == "datetime64[us]"
    left, right = (hr.DataFrame({"k": each, "x": [1]}) for each in times)
    assert left.merge(right, on="k").x_y.to_list() == [1]


def test_nanoseconds_do_not_wrap() -> None:
    late = hr.to_datetime(["2000-01-01", "2262-01-01", None]).dt.as_unit("ns")
    assert (late + hr.Timedelta(days=4)).dt.day.to_list() == [5, 5, None]
    early = hr.to_datetime(["1700-01-01"]).dt.as_unit("ns")
    spans = hr.Series(np.array([2, 10**18], "m8[ns]"))
    assert (spans * 2 + spans - spans).astype("int64").to_list() == [4, 2 * 10**18]
    assert (3 * spans).astype("int64").to_list() == [6, 3 * 10**18]
    for call, row in (
        (lambda: late + hr.Timedelta(days=400), 1),
        (lambda: hr.Timedelta(days=400) + late, 1),
        (lambda: early - hr.Timestamp("2200-01-01"), 0),
        (lambda: hr.Timestamp("2200-01-01") - early, 0),
        (lambda: spans * 10, 1),
        (lambda: hr.Series([1, 10]) * spans, 1),
        (lambda: spans * 9 + spans, 1),
    ):
        with pytest.raises(hr.InvalidArgumentError, match=f"out of range.*row={row}"):
            call().to_list()
    rows = np.zeros(400_000, "m8[ns]")
    rows[[150_000, 390_000]] = 2 * 10**18
    for threads in (1, 4):
        with hr.threads(threads), pytest.raises(hr.InvalidArgumentError, match="row=150000,"):
            (hr.Series(rows) * 5).to_list()
