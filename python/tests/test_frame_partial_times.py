# SPDX-License-Identifier: Apache-2.0
"""Texts of dates and hours as labels of times: pandas' partial string indexing."""

from __future__ import annotations

import datetime as dt
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import headrace as hr

LABELS = {
    "minutes": [
        *("2024-03-04 23:59", "2024-03-05 00:00", "2024-03-05 14:30", "2024-03-05 14:45:10"),
        *("2024-03-07 23:59:59.500", "2024-03-08"),
    ],
    "seconds": ["2024-03-05 14:30:00", "2024-03-05 14:30:59", "2024-03-05 14:31:00"],
    "fractions": ["2024-03-05 14:30:00.000001", "2024-03-05 14:30:00.5", "2024-03-05 14:30:01"],
    "hours": ["2024-03-05 14:00", "2024-03-05 15:00", "2024-12-31 23:00"],
    "days": ["2024-03-04", "2024-03-05", "2024-03-05", "2024-04-01"],
    "unsorted": ["2024-03-05 10:00", "2024-03-04 09:00", "2024-03-05 08:00"],
    "descending": ["2024-03-06 10:00", "2024-03-05 09:00", "2024-03-05 08:00", "2024-03-04 01:00"],
    "missing": ["2024-03-05 10:00", "NaT", "2024-03-06 10:00"],
    "one": ["2024-03-05 10:00"],
}
KEYS = [
    *("2023", "2024", "2025", "2024-03", "2024-04", "2024-03-05", "20240305"),
    *("2024/03/05", "2024-3-5", "2024-03-06", "2023-01-01", "2024-03-05 14", "2024-03-05T14"),
    *("2024-03-05 10", "2024-03-05 14:30", "2024-03-05 14:31", "2024-03-05 00:00"),
    *("2024-03-05 14:30:00", "2024-03-05 14:30:59", "2024-03-05 14:30:00.5", "2024-13", "hello"),
    *("2024-03-05 14:30:00.000001", "2024-12-31", "2024-03-05 25"),
]
SLICES = [
    *(("2024-03-05", "2024-03-07"), ("2024-03", "2024-03"), ("2024-03-05 14", None)),
    *((None, "2024-03-05"), ("2023", "2023"), ("2024-03-05 08:30", "2024-03-05 14:30")),
    *(("2024-03-07", "2024-03-05"), ("2024-03-05 14:30:00", "2024-03-05 14:30:00.5")),
    *((dt.datetime(2024, 3, 5), "2024-03-05"), ("2024-04", "2200")),
]
#: Where the order of labels decides, pandas refuses slices by texts; here they go by value.
BY_VALUE = ("unsorted", "descending", "missing")


def both(labels: Any, zone: str | None = None) -> tuple[hr.DataFrame, pd.DataFrame]:
    times = pd.DatetimeIndex(labels)
    times = times.tz_localize(zone) if zone else times
    theirs = pd.DataFrame({"t": times, "v": range(len(times))}).set_index("t")
    return hr.from_pandas(theirs), theirs


def found(look: Any) -> Any:
    """The rows, or the value of one, or that there are none of this name."""
    try:
        made = look()
    except KeyError:
        return KeyError
    return int(made.v) if np.ndim(made.v) == 0 else [int(v) for v in made.v]


@pytest.mark.parametrize("labels", LABELS)
def test_a_text_means_what_it_means_in_pandas(labels: str) -> None:
    ours, theirs = both(LABELS[labels])
    for key in KEYS:
        expected = found(lambda key=key: theirs.loc[key])
        assert found(lambda key=key: ours.loc[key]) == expected, key
        if isinstance(expected, list):
            assert ours.loc[key, "v"].to_list() == ours.v.loc[key].to_list() == expected
            assert ours.v[key].to_list() == expected
    for first, last in SLICES:
        expected = found(lambda a=first, b=last: theirs.loc[a:b])
        got = found(lambda a=first, b=last: ours.loc[a:b])
        if labels not in BY_VALUE:
            assert got == expected, (first, last)
            assert ours.v.loc[first:last].to_list() == expected
        else:
            ordered = theirs[theirs.index.notna()].sort_index().loc[first:last]
            assert got == sorted(ordered.v), (first, last)
    assert (
        ours["2024-03-05":"2024-03-07"].v.to_list()
        == ours.loc["2024-03-05":"2024-03-07"].v.to_list()
    )


UNITS = {"days": 86_400 * 10**6, "hours": 3600 * 10**6, "seconds": 10**6, "microseconds": 1}


@given(st.data())
def test_random_labels_and_texts(data: Any) -> None:
    unit = UNITS[data.draw(st.sampled_from(list(UNITS)))]
    steps = data.draw(st.lists(st.integers(0, 40 * UNITS["days"] // unit), min_size=1, max_size=8))
    start = dt.datetime(2023, 12, 20)
    times = sorted(start + dt.timedelta(microseconds=step * unit) for step in steps)
    ours, theirs = both(times)
    length = st.sampled_from([4, 7, 10, 13, 16, 19, 23, 26])

    def text() -> str:
        time = data.draw(st.sampled_from(times))
        moved = time + dt.timedelta(microseconds=data.draw(st.integers(-1, 1)) * unit)
        return moved.isoformat(" ", "microseconds")[: data.draw(length)]

    key, first, last = text(), text(), text()
    assert found(lambda: ours.loc[key]) == found(lambda: theirs.loc[key]), key
    assert found(lambda: ours.loc[first:last]) == found(lambda: theirs.loc[first:last])


def test_zones_have_days_of_their_own() -> None:
    winter = ["2024-03-30 23:30", "2024-03-31 01:30", "2024-03-31 03:30", "2024-04-01 00:30"]
    ours, theirs = both(winter, "Europe/Berlin")
    for key in (
        *("2024-03-31", "2024-03-31 01", "2024-03-31 03", "2024-03", "2024", "2024-03-31 02"),
        *("2024-03-31T00+00:00", "2024-03-30 23:30+01:00", "2024-03-30 22:30Z"),
    ):
        assert found(lambda key=key: ours.loc[key]) == found(lambda key=key: theirs.loc[key]), key
    for first, last in (("2024-03-31", "2024-03-31"), ("2024-03-31 03", None), (None, "2024-03")):
        assert ours.loc[first:last].v.to_list() == theirs.loc[first:last].v.tolist()
    with pytest.raises(KeyError, match="skipped or repeated"):
        ours.loc["2024-03-31 02:30":]
    with pytest.raises(KeyError, match="no time zone"):
        both(winter)[0].loc["2024-03-31 00:00+00:00"]
    ours, theirs = both(winter, "UTC")
    assert ours.loc["2024-03-31"].v.to_list() == theirs.loc["2024-03-31"].v.tolist() == [1, 2]


def test_values_are_set_for_the_whole_day() -> None:
    ours, theirs = both(LABELS["minutes"])
    for frame in (ours, theirs):
        frame.loc["2024-03-05", "v"] = -1
        frame.loc["2024-03-07":"2024-03-08", "v"] = -2
    assert ours.v.to_list() == theirs.v.tolist()


def test_texts_that_look_like_times_are_texts() -> None:
    texts = ["2024-03-05 10:00+00:00", "2024-03-06 10:00+00:00", "2024-03-05"]
    theirs = pd.DataFrame({"t": texts, "v": [0, 1, 2]}).set_index("t")
    ours = hr.from_pandas(theirs)
    for key in (*texts, "2024-03-05 10:00", "2024-03", "2024"):
        assert found(lambda key=key: ours.loc[key]) == found(lambda key=key: theirs.loc[key])
    ordered, wanted = ours.sort_index(), theirs.sort_index()
    for first, last in (("2024-03-05", "2024-03-06"), ("2024", "2025"), ("2024-03-05 10", None)):
        assert ordered.loc[first:last].v.to_list() == wanted.loc[first:last].v.tolist()


def test_dates_are_times_of_days() -> None:
    days = [dt.date(2024, 3, 4), dt.date(2024, 3, 5), dt.date(2024, 4, 1)]
    ours = hr.DataFrame({"t": days, "v": [0, 1, 2]}).set_index("t")
    theirs = pd.DataFrame({"t": pd.DatetimeIndex(days), "v": [0, 1, 2]}).set_index("t")
    assert str(ours.index.dtype) == "date"
    for key in ("2024-03-05", "2024-03", "2024", "2024-03-05 14", "2024-03-06", "2024-05"):
        assert found(lambda key=key: ours.loc[key]) == found(lambda key=key: theirs.loc[key]), key
    for first, last in (("2024-03", "2024-03"), ("2024-03-05 12", None), ("2024-03-05", "2024")):
        assert ours.loc[first:last].v.to_list() == theirs.loc[first:last].v.tolist()


def test_one_of_several_labels() -> None:
    times = pd.DatetimeIndex(LABELS["minutes"])
    theirs = pd.DataFrame({"k": ["a", "a", "b", "a", "b", "a"], "t": times, "v": range(6)})
    ours = hr.from_pandas(theirs).set_index(["k", "t"])
    assert ours.loc[("a", "2024-03-05")].v.to_list() == [1, 3]
    assert ours.loc[("a", "2024-03-05 00:00")].v.to_list() == [1]


def test_the_end_of_the_calendar() -> None:
    ours, _ = both(LABELS["minutes"])
    for key in ("9999", "9999-12", "9999-12-31"):
        assert found(lambda key=key: ours.loc[key]) is KeyError
        assert ours.loc["2024-03-08":key].v.to_list() == [5]
