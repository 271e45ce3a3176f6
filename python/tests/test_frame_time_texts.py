# SPDX-License-Identifier: Apache-2.0
"""Texts of values, times by patterns and back: as Python and pandas write and read them."""

from __future__ import annotations

import datetime as dt
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import headrace as hr

PATTERN = "%Y-%m-%d %H:%M:%S.%f %y %I %p %j %a %A %b %B %F %T %% x"
BACK = "%d.%m.%Y %H:%M:%S.%f"


@given(st.lists(st.none() | st.floats(), max_size=80))
def test_floats_are_written_as_python_does(values: list[float | None]) -> None:
    got = hr.Series(values, dtype="float64").astype("string").to_list()
    assert got == [None if v is None else repr(v) for v in values]


@given(st.lists(st.none() | st.floats(width=32), max_size=40))
def test_single_floats_read_back_to_themselves(values: list[float | None]) -> None:
    got = hr.Series(values, dtype="float32").astype(str).to_list()
    for text, value in zip(got, values, strict=True):
        assert (text is None) == (value is None)
        if text is not None and value is not None:
            assert np.float32(text) == np.float32(value) or value != value


@pytest.mark.parametrize("dtype", ["int8", "int64", "uint64"])
def test_integers_and_bools(dtype: str) -> None:
    info = np.iinfo(dtype)
    values = [info.min, info.max, 0, 7, None]
    got = hr.Series(values, dtype=dtype).astype("string").to_list()
    assert got == [None if v is None else str(v) for v in values]
    assert hr.Series([True, None, False]).astype("string").to_list() == ["True", None, "False"]


@given(st.lists(st.none() | st.datetimes(min_value=dt.datetime(1000, 1, 1)), max_size=70))
def test_times_are_written_as_python_does(values: list[dt.datetime | None]) -> None:
    column = hr.Series(values, dtype="datetime64[us]")
    assert column.dt.strftime(PATTERN).to_list() == [
        None if v is None else v.strftime(PATTERN) for v in values
    ]
    assert column.astype("string").to_list() == [None if v is None else str(v) for v in values]
    texts = column.dt.strftime(BACK)
    assert hr.to_datetime(texts, format=BACK).to_list() == values
    assert hr.to_datetime(column.astype("string")).to_list() == values


@given(st.lists(st.none() | st.dates(min_value=dt.date(1000, 1, 1)), max_size=40))
def test_dates(values: list[dt.date | None]) -> None:
    column = hr.Series(values, dtype="date")
    assert column.astype("string").to_list() == [None if v is None else str(v) for v in values]
    assert column.astype("string").astype("date").to_list() == values
    ends = column.dt.is_month_end.to_list()
    assert ends == [
        v is not None and (v == dt.date.max or (v + dt.timedelta(1)).day == 1) for v in values
    ]


@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
def test_units(unit: str) -> None:
    times = np.array(["2024-02-29T23:59:58.5", "1969-12-31T23:59:59", "NaT"], f"M8[{unit}]")
    column = hr.Series(times)
    texts = column.astype("string")
    expected = [None if np.isnat(t) else str(t).replace("T", " ") for t in times]
    trimmed = [
        None if t is None else t.rstrip("0").rstrip(".") if "." in t else t for t in expected
    ]
    got = [
        None if t is None else t.rstrip("0").rstrip(".") if "." in t else t for t in texts.to_list()
    ]
    assert got == trimmed
    assert texts.astype(f"datetime64[{unit}]").to_list() == column.to_list()


WRONG = [
    *("2024-02-30", "2024-13-01", "2024-00-01", "24-01-01", "2024-01-01 24:00", "2024-01-01 10:60"),
    *("", "x", "2024-01-01Z", "2024-01-01 10:00:00.", "2024-01-01  10:00", "2024/01/01"),
]


@pytest.mark.parametrize("text", WRONG)
def test_what_is_no_time(text: str) -> None:
    column = hr.Series(["2024-01-01", None, text])
    assert hr.to_datetime(column, errors="coerce").to_list() == [
        *(dt.datetime(2024, 1, 1), None),
        None,
    ]
    with pytest.raises(hr.InvalidArgumentError, match=r"row=2"):
        hr.to_datetime(column).to_list()


def test_what_a_dtype_does_not_hold() -> None:
    texts = hr.Series(["2024-01-01 10:00"])
    with pytest.raises(hr.InvalidArgumentError, match="dtype='date'"):
        texts.astype("date").to_list()
    fine = hr.Series(["2024-01-01 10:00:00.5"])
    assert hr.to_datetime(fine, dtype="datetime64[s]", errors="coerce").to_list() == [None]
    far = hr.Series(["9999-01-01"])
    assert hr.to_datetime(far, dtype="datetime64[ns]", errors="coerce").to_list() == [None]


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda s: hr.to_datetime(s, format="%Q"), "%Q"),
        (lambda s: hr.to_datetime(s, format="%j"), "%j"),
        (lambda s: hr.to_datetime(s, format="%"), "letter"),
        (lambda s: hr.to_datetime(s, errors="ignore"), "coerce"),
        (lambda s: hr.to_datetime(s.str.len()), "unit"),
        (lambda s: s.dt.strftime("%d"), "expected a column of dates"),
        (lambda s: hr.Series([dt.date(2024, 1, 1)]).dt.strftime("%k"), "%k"),
    ],
)
def test_wrong_patterns_are_refused_at_their_line(call: Any, text: str) -> None:
    with pytest.raises(hr.Error, match=text):
        call(hr.Series(["2024-01-01"]))


def test_the_same_texts_for_any_threads() -> None:
    random = np.random.default_rng(5)
    frame = hr.DataFrame(
        {
            "f": random.standard_normal(300_001) * 10.0 ** random.integers(-20, 20, 300_001),
            "t": random.integers(-(10**15), 10**15, 300_001).astype("M8[us]"),
        }
    )
    made = []
    for threads in (1, 2, 4):
        with hr.threads(threads):
            texts = frame.f.astype("string")
            back = hr.to_datetime(frame.t.dt.strftime(BACK), format=BACK)
            assert (texts.astype("float64") == frame.f).all().item()
            assert (back == frame.t).all().item()
            made.append(texts.to_list())
    assert made[0] == made[1] == made[2]


OFFSETS = st.sampled_from(["", "Z", "+02:00", "-03:30", "+0530", " +01", "+00:00"])


@given(
    st.lists(
        st.tuples(st.datetimes(dt.datetime(1952, 1, 1), dt.datetime(2090, 1, 1)), OFFSETS),
        min_size=1,
        max_size=30,
    )
)
def test_texts_with_offsets(rows: list[Any]) -> None:
    texts = [f"{time}{offset}" for time, offset in rows]
    wanted = [pd.to_datetime(text.replace(" +01", "+01"), utc=True) for text in texts]
    made = hr.to_datetime(texts, utc=True)
    assert str(made.dtype) == "datetime64[us, UTC]"
    assert made.to_list() == wanted
    assert hr.Series(texts).astype("datetime64[us, Asia/Tokyo]").to_list() == [
        time if offset else time - dt.timedelta(hours=9)
        for time, (_, offset) in zip(wanted, rows, strict=True)
    ]
    zoned = made.dt.tz_convert("America/New_York")
    assert zoned.astype("string").astype(str(zoned.dtype)).equals(zoned)


def test_zones_of_texts_numbers_and_times() -> None:
    berlin = "datetime64[us, Europe/Berlin]"
    texts = ["2024-07-01 12:00", "2024-07-01T10:00:00.5Z", None, "2024-07-01"]
    made = hr.to_datetime(texts, dtype=berlin)
    assert made.dt.hour.to_list() == [12, 12, None, 0]
    for wrong in ("2024-03-31 02:30:00", "2024-10-27 02:30:00", "2024-07-01+02:00", "noon"):
        with pytest.raises(hr.InvalidArgumentError, match="row=0"):
            hr.to_datetime([wrong], dtype=berlin).to_list()
        assert hr.to_datetime([wrong], dtype=berlin, errors="coerce").to_list() == [None]
    clocks = hr.to_datetime(["1.7.2024 12"], format="%d.%m.%Y %H", dtype=berlin)
    assert clocks.dt.tz_convert("UTC").dt.hour.to_list() == [10]
    assert hr.to_datetime([0], unit="s", utc=True).dt.year.to_list() == [1970]
    plain = hr.Series([dt.datetime(2024, 7, 1, 12)])
    assert hr.to_datetime(plain, utc=True).dt.tz_convert(None).equals(plain)
    assert str(hr.to_datetime(made, utc=True).dtype) == "datetime64[us, UTC]"
    assert hr.to_datetime(made, utc=True).dt.hour.to_list()[0] == 10
    with pytest.raises(hr.InvalidArgumentError, match="not found in the system"):
        hr.to_datetime(texts, dtype="datetime64[us, Mars/Base]")


FINE = "1959-03-07 23:59:59.999999999"
TIME = "%Y-%m-%d %H:%M:%S.%f"


@pytest.mark.parametrize(
    ("texts", "words"),
    [
        ([FINE], {}),
        ([FINE], {"format": TIME}),
        ([FINE, None], {"errors": "coerce"}),
        (["1959-03-07 23:59:59.5", FINE], {}),
        (["1959-03-07 23:59:59.5", FINE], {"format": TIME}),
        ([FINE, "1959-03-07 23:59:59"], {"format": "ISO8601"}),
        *(([f"2024-02-29 10:00:00.{'123456789'[:n]}"], {}) for n in range(1, 10)),
        ([f"{FINE}Z", "1959-03-07 23:59:59.5+05:30"], {"utc": True, "format": "ISO8601"}),
        (["1959-03-07 23:59:59.5Z"], {"utc": True}),
        ([FINE, "x", "1500-01-01 00:00:00.5"], {"errors": "coerce", "format": "ISO8601"}),
        (["1500-01-01 00:00:00.5", "x"], {"errors": "coerce"}),
    ],
)
def test_the_unit_is_that_of_pandas(texts: list[str | None], words: dict[str, Any]) -> None:
    ours = {**words, "format": None} if words.get("format") == "ISO8601" else words
    made = hr.to_datetime(hr.Series(texts), **ours)
    theirs = pd.to_datetime(pd.Series(texts), **words)
    assert made.dtype == str(theirs.dtype)
    same = hr.from_pandas(theirs)
    assert made.equals(same) and made.astype("string").to_list() == same.astype("string").to_list()


def test_times_and_numbers_keep_their_nanoseconds() -> None:
    for unit in ("s", "ms", "us", "ns"):
        times = np.array([1, 2], f"M8[{unit}]")
        assert hr.to_datetime(hr.Series(times)).dtype == pd.to_datetime(pd.Series(times)).dtype
        spans = np.array([1, 2], f"m8[{unit}]")
        assert hr.to_timedelta(hr.Series(spans)).dtype == pd.to_timedelta(pd.Series(spans)).dtype
        for call in ("to_datetime", "to_timedelta"):
            made = getattr(hr, call)(hr.Series([1, 2]), unit=unit)
            theirs = getattr(pd, call)(pd.Series([1, 2]), unit=unit)
            assert made.dtype == str(theirs.dtype) and made.equals(hr.from_pandas(theirs))
    assert hr.to_datetime([dt.date(2024, 1, 1)]).dtype == "datetime64[us]"
    zoned = hr.to_datetime([FINE], utc=True)
    assert hr.to_datetime(zoned).dtype == "datetime64[ns, UTC]"
    assert hr.to_datetime(zoned.dt.tz_localize(None), utc=True).equals(zoned)


def test_durations_finer_than_microseconds() -> None:
    for texts in (["1 days 00:00:00.123456789", None], ["00:00:01.5", "-00:00:00.000000001"]):
        made = hr.to_timedelta(texts)
        assert made.dtype == "timedelta64[ns]"
        assert hr.Series(made).equals(hr.from_pandas(pd.to_timedelta(pd.Series(texts))))
    assert hr.to_timedelta(["00:00:01.5"]).dtype == "timedelta64[us]"


@pytest.mark.parametrize(
    ("texts", "words", "says"),
    [
        ([FINE, "1500-01-01"], {}, "out of range.*row=1.*dtype='datetime64.ns.'"),
        ([FINE, "2300-01-01"], {}, "out of range.*row=1"),
        ([FINE], {"dtype": "datetime64[us]"}, "finer than the dtype.*row=0.*nanoseconds"),
        ([FINE], {"dtype": "date"}, "cannot hold a time of day"),
        ([FINE + "9"], {}, "as a time.*row=0"),
        ([FINE, "x"], {}, "as a time.*row=1"),
        ([FINE + "9"], {"format": TIME}, "as a time.*row=0"),
    ],
)
def test_times_that_no_unit_holds(texts: list[str], words: dict[str, Any], says: str) -> None:
    with pytest.raises(hr.InvalidArgumentError, match=says):
        hr.to_datetime(texts, **words).to_list()


def test_durations_that_no_unit_holds() -> None:
    for texts, says in (
        (["200000 days", "00:00:00.000000001"], "out of range.*row=0"),
        (["1 fortnight"], "as a time"),
    ):
        with pytest.raises(hr.InvalidArgumentError, match=says):
            hr.to_timedelta(texts).to_list()
    with pytest.raises(hr.InvalidArgumentError, match="finer than the dtype"):
        hr.Series(["00:00:00.000000001"]).astype("timedelta64[us]").to_list()
