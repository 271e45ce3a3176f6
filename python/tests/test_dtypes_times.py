# SPDX-License-Identifier: Apache-2.0
"""Dates and timestamps: NumPy, pandas, Arrow and Python in and out, rows picked, refusals."""

import datetime as dt
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import headrace as hr

UNITS = ("s", "ms", "us", "ns")
SIZES = (0, 1, 63, 64, 65, 1000, 131_073)


def times(rows: int, unit: str, every: int = 0) -> np.ndarray[Any, Any]:
    """Times before and after 1970, NaT in each `every`-th row."""
    values = (np.arange(rows) - rows // 2) * 86_399 * 10 ** (3 * UNITS.index(unit))
    result = values.astype(f"datetime64[{unit}]")
    if every:
        result[::every] = "NaT"
    return result


def address(array: Any) -> int:
    return int(array.__array_interface__["data"][0])


@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.parametrize("rows", SIZES)
def test_numpy_times_stay_where_they_are(unit: str, rows: int) -> None:
    values = times(rows, unit)
    values.flags.writeable = False
    with hr.no_copies():
        series = hr.Series(values)
        back = series.to_numpy()
    assert series.dtype == values.dtype == f"datetime64[{unit}]"
    np.testing.assert_array_equal(back, values)
    assert rows == 0 or address(back) == address(values)
    assert not back.flags.writeable
    part = hr.Series(values[rows // 3 :])[1:]
    np.testing.assert_array_equal(part.to_numpy(), values[rows // 3 :][1:])


@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.parametrize("rows", SIZES)
def test_not_a_time_is_null(unit: str, rows: int) -> None:
    values = times(rows, unit, 3)
    hr.memory.ledger().clear()
    series = hr.Series(values)
    assert int(series.count()) == rows - len(values[::3])
    np.testing.assert_array_equal(series.is_null().to_numpy(), np.isnat(values))
    np.testing.assert_array_equal(series.to_numpy(), values)
    assert rows == 0 or hr.memory.ledger().total_bytes >= 8 * rows
    np.testing.assert_array_equal(hr.Series(values[::-2]).to_numpy(), values[::-2])
    expected = pd.Series(values)
    pd.testing.assert_series_equal(series.to_pandas(), expected)
    assert series.to_arrow().equals(pa.array(values))


def test_numpy_days_are_dates() -> None:
    days = np.array(["2020-02-29", "NaT", "0001-01-01", "9999-12-31"], "datetime64[D]")
    series = hr.Series(days)
    assert series.dtype == "date"
    assert series.dtype == np.dtype("datetime64[D]")
    assert series.to_list() == [dt.date(2020, 2, 29), None, dt.date.min, dt.date.max]
    np.testing.assert_array_equal(series.to_numpy(), days)
    np.testing.assert_array_equal(hr.Series(days[::-2]).to_numpy(), days[::-2])
    np.testing.assert_array_equal(np.asarray(series), days)
    assert series.astype("int32").to_list()[0] == 18_321
    with pytest.raises(hr.InvalidArgumentError, match=r"32-bit date.*row=1"):
        hr.Series(np.array([0, 2**31]).astype("datetime64[D]"))


def test_pandas_times_share_memory() -> None:
    values = times(1000, "ns")
    frame = pd.DataFrame({"t": values, "x": np.arange(1000)}, copy=False)
    ours = hr.from_pandas(frame)
    assert ours.dtypes == {"t": "datetime64[ns]", "x": "int64"}
    back = ours.to_pandas()
    pd.testing.assert_frame_equal(back, frame)
    hr.memory.ledger().clear()
    assert address(ours.t.to_pandas().to_numpy()) == address(ours.t)
    assert hr.memory.ledger().total_bytes == 0


def test_pandas_gets_dates_as_arrow_has_them() -> None:
    days = pa.array([1, None, 3], pa.date32())
    series = hr.Series(days)
    made = series.to_pandas()
    assert made.dtype == pd.ArrowDtype(pa.date32())
    assert made.dt.day.to_list()[::2] == [2, 4]
    assert hr.Series(made).to_list() == series.to_list()


@pytest.mark.parametrize("kind", [pa.date32(), *(pa.timestamp(unit) for unit in UNITS)])
@pytest.mark.parametrize("nulls", [False, True])
def test_arrow_times_stay_where_they_are(kind: pa.DataType, nulls: bool) -> None:
    integer = pa.int32() if kind == pa.date32() else pa.int64()
    values = [None if nulls and i % 3 == 0 else i - 500 for i in range(1000)]
    array = pa.array(values, integer).view(kind)
    for part in (array, array[13:], array[64:65], array[:0]):
        with hr.no_copies():
            series = hr.Series(part)
            back = series.to_arrow()
        assert back.equals(part)
        assert len(part) == 0 or back.buffers()[1].address == part.buffers()[1].address
    chunked = pa.chunked_array([array[:10], array[10:], array[:0]])
    assert hr.Series(chunked).to_arrow().equals(array)


def test_date64_is_copied_once_or_refused() -> None:
    array = pa.array([86_400_000, None, -86_400_000], pa.int64()).view(pa.date64())
    hr.memory.ledger().clear()
    assert hr.Series(array).to_arrow().equals(array.cast(pa.date32()))
    assert hr.memory.ledger().total_bytes == 12
    with pytest.raises(hr.InvalidArgumentError, match=r"time of day.*row=0"):
        hr.Series(pa.array([5], pa.int64()).view(pa.date64()))


def test_polars_reads_and_gives_them() -> None:
    frame = pl.DataFrame(
        {
            "day": [dt.date(2020, 1, 1), None],
            "t": [dt.datetime(2020, 1, 1, 5), dt.datetime(1969, 1, 1)],
        }
    )
    ours = hr.DataFrame(frame)
    assert ours.dtypes == {"day": "date", "t": "datetime64[us]"}
    assert pl.DataFrame(ours).equals(frame)


@given(st.lists(st.none() | st.dates(), max_size=40))
def test_dates_go_through_python(days: list[dt.date | None]) -> None:
    series = hr.Series(days, dtype="date")
    assert series.to_list() == days
    assert series.to_arrow().to_pylist() == days
    np.testing.assert_array_equal(series.to_numpy(), np.array(days, "datetime64[D]"))


@given(st.lists(st.none() | st.datetimes(), max_size=40))
def test_datetimes_go_through_python(moments: list[dt.datetime | None]) -> None:
    series = hr.Series(moments, dtype="datetime64[us]")
    assert series.to_list() == moments
    np.testing.assert_array_equal(series.to_numpy(), np.array(moments, "datetime64[us]"))
    if any(m is not None for m in moments):
        assert hr.Series(moments).dtype == "datetime64[us]"


@given(st.lists(st.integers(-(2**63) + 1, 2**63 - 1), max_size=20), st.sampled_from(UNITS))
def test_every_timestamp_has_a_python_value(values: list[int], unit: str) -> None:
    expected = np.array(values, "int64").astype(f"datetime64[{unit}]")
    series = hr.Series(expected)
    got = series.to_list()
    assert [np.datetime64(value, unit) for value in got] == list(expected)
    assert all(isinstance(v, np.datetime64) == (unit == "ns" or _far(v)) for v in got)
    assert hr.Series(got, dtype=f"datetime64[{unit}]").astype("int64").to_list() == values
    str(series)


def _far(value: Any) -> bool:
    return not isinstance(value, dt.datetime)


def test_lists_with_numpy_times() -> None:
    values = [np.datetime64("2020-01-01T01:02:03.000000004"), None]
    assert hr.Series(values).dtype == "datetime64[ns]"
    assert hr.Series(values).to_list() == values
    assert hr.Series([np.datetime64("2020-01-01")]).to_list() == [dt.date(2020, 1, 1)]
    with pytest.raises(hr.UnsupportedError, match="astype"):
        hr.Series([np.datetime64("2020-01")])
    with pytest.raises(hr.InvalidArgumentError, match=r"row=1.*finer"):
        hr.Series([None, values[0]], dtype="datetime64[us]")


def test_lists_that_do_not_fit() -> None:
    noon = dt.datetime(2020, 1, 1, 12)
    for values, dtype, word in (
        ([noon], "date", "finer"),
        ([noon.replace(microsecond=1)], "datetime64[ms]", "finer"),
        ([noon.replace(tzinfo=dt.UTC)], "datetime64[us]", "zone"),
        ([dt.datetime(2300, 1, 1)], "datetime64[ns]", "does not fit"),
        ([noon, noon.date()], None, "dates and other values"),
        ([noon, 1], None, "dates and other values"),
        ([1], "datetime64[s]", "value in a list"),
        ([pd.Timestamp("2020-01-01 00:00:00.000000001")], None, "finer"),
    ):
        with pytest.raises(hr.Error, match=word):
            hr.Series(values, dtype=dtype)
    assert hr.Series([noon.date(), noon], dtype="datetime64[s]").to_list()[0].hour == 0
    assert hr.Series([pd.Timestamp(noon)]).to_list() == [noon]


def test_rows_are_picked_as_of_any_column() -> None:
    days = pa.array([None if i % 7 == 0 else i for i in range(200_000)], pa.int32()).view(
        pa.date32()
    )
    moments = times(200_000, "ms", 11)
    frame = hr.DataFrame({"day": days, "t": moments, "x": np.arange(200_000)})
    table = pa.table({"day": days, "t": moments, "x": np.arange(200_000)})
    wanted = np.arange(200_000) % 3 == 1
    for threads in (1, 2, 4):
        with hr.threads(threads):
            assert frame[frame.x % 3 == 1].to_arrow().equals(table.filter(pa.array(wanted)))
            places = np.array([5, 0, 199_999, 7, 7])
            assert frame.day[places].to_arrow().equals(days.take(pa.array(places)))
    assert frame[10:20].to_arrow().equals(table[10:20])
    assert frame.head(3).to_arrow().equals(table[:3])
    assert frame.tail(3).to_arrow().equals(table[-3:])
    assert (
        frame[frame.day.is_null()].to_arrow().equals(table.filter(pa.compute.is_null(table["day"])))
    )
    assert len(frame.day.dropna()) == len(days) - days.null_count
    assert frame.count().to_dict() == {
        "day": len(days) - days.null_count,
        "t": int((~np.isnat(moments)).sum()),
        "x": 200_000,
    }


def test_arrays_hold_timestamps() -> None:
    values = times(10, "us")
    array = hr.asarray(values)
    assert array.dtype == "datetime64[us]"
    np.testing.assert_array_equal(array[2:5].to_numpy(), values[2:5])
    assert array.tolist() == values.tolist()
    assert hr.Series(array).to_list() == values.tolist()
    assert hr.DataFrame({"t": array})["t"].dtype == "datetime64[us]"
    assert hr.Series(
        hr.asarray(np.array(["NaT", "2020"], "datetime64[s]"))
    ).is_null().to_list() == [
        True,
        False,
    ]
    with pytest.raises(hr.UnsupportedError, match="int64"):
        np.from_dlpack(array)
    with pytest.raises(BufferError, match="to_numpy"):
        memoryview(array)


def test_integers_behind_the_times() -> None:
    moments = hr.Series(times(5, "ms", 2))
    assert moments.astype("int64").to_list()[1] == int(times(5, "ms")[1].astype("int64"))
    assert moments.astype("int64").astype("datetime64[ms]").to_list() == moments.to_list()
    with hr.no_copies():
        assert hr.Series([0, 1, 2]).astype("datetime64[ns]").astype("int64").to_list() == [
            0,
            1,
            2,
        ]
    assert hr.Series([1, 2], dtype="int32").astype("date").to_list()[0] == dt.date(1970, 1, 2)
    for bad in (
        lambda: hr.Series([1.5]).astype("date"),
        lambda: hr.Series([1]).astype("date"),
    ):
        with pytest.raises(hr.TypeMismatchError, match="integers of their width"):
            bad()


def test_what_does_not_work_says_so() -> None:
    frame = hr.DataFrame({"day": [dt.date(2020, 1, 1)], "t": [dt.datetime(2020, 1, 1)]})
    for column in (frame.day, frame.t):
        for wrong in (
            lambda c: c + 1,
            lambda c: c.shift().fillna(0),
            lambda c: c.sum(),
            lambda c: c.any(),
            lambda c: np.sin(c),
            lambda c: c.is_nan(),
            lambda c: hr.signal.diff(c.to_array()),
        ):
            with pytest.raises((hr.TypeMismatchError, hr.UnsupportedError)):
                wrong(column)
    with pytest.raises(hr.TypeMismatchError, match="int32"):
        frame.day.to_array()
    assert not hasattr(frame.day, "__array_interface__")


def test_words_of_dtypes() -> None:
    for dtype in ("date", dt.date, np.dtype("datetime64[D]")):
        assert hr.Series([dt.date(2020, 1, 1)], dtype=dtype).dtype == "date"
    for dtype in ("datetime64[us]", dt.datetime, np.dtype("datetime64[us]")):
        assert hr.Series([dt.datetime(2020, 1, 1)], dtype=dtype).dtype == "datetime64[us]"
    for dtype in ("datetime64", np.dtype("datetime64"), np.datetime64):
        with pytest.raises(hr.TypeMismatchError, match=r"needs a unit.*datetime64\[us\]"):
            hr.Series([dt.datetime(2020, 1, 1)], dtype=dtype)
    word = hr.Series([dt.datetime(2020, 1, 1)]).dtype
    assert (word.kind, word.itemsize, np.dtype(word)) == ("M", 8, np.dtype("datetime64[us]"))
    assert word != "datetime64[ns]"
    assert (hr.Series([dt.date(2020, 1, 1)]).dtype.itemsize) == 4


def test_a_frame_becomes_one_array() -> None:
    day, moment = dt.date(2020, 1, 1), dt.datetime(2020, 1, 1, 5)
    nano = np.datetime64("2020-01-01T00:00:00.000000001")
    frame = hr.DataFrame({"day": [day], "t": [moment], "n": [nano], "x": [1.5], "s": ["a"]})
    assert frame[["day", "t"]].to_numpy().dtype == "datetime64[us]"
    assert frame[["t", "x"]].to_numpy().tolist() == [[moment, 1.5]]
    assert frame.to_numpy().tolist() == [[day, moment, nano, 1.5, "a"]]
    assert frame[["x"]].to_numpy().dtype == "float64"


def test_repr_shows_times_as_pandas_does() -> None:
    frame = hr.DataFrame(
        {
            "day": [dt.date(2020, 1, 31), None],
            "t": [dt.datetime(2020, 1, 31, 5, 6, 7), dt.datetime(2020, 1, 31, 5, 6, 7, 8)],
        }
    )
    text = repr(frame)
    for word in ("date ", "datetime64[us]", "2020-01-31 ", "null", "2020-01-31 05:06:07.000008"):
        assert word in text
    assert "2020-01-01 00:00:00.000000001" in repr(
        hr.Series([np.datetime64(1577836800000000001, "ns")])
    )
    assert "2020-01-31" in frame._repr_html_()
