# SPDX-License-Identifier: Apache-2.0
"""Numbers of texts, units of times, and the least and greatest of what is no number."""

from __future__ import annotations

import datetime
from typing import Any

import numpy as np
import pandas as pd
import pytest

import headrace as hr


def test_least_and_greatest_are_values() -> None:
    times = hr.Series([datetime.datetime(2024, 1, 1), None, datetime.datetime(2024, 1, 3)])
    assert times.min() == datetime.datetime(2024, 1, 1)
    assert times.max() == datetime.datetime(2024, 1, 3)
    assert times.mean() == datetime.datetime(2024, 1, 2)
    days = hr.Series([datetime.date(2024, 1, 5), datetime.date(2023, 1, 5), None])
    assert (days.min(), days.max()) == (datetime.date(2023, 1, 5), datetime.date(2024, 1, 5))
    assert days[days == days.max()].to_list() == [datetime.date(2024, 1, 5)]
    texts = hr.Series(["b", None, "", "a"])
    assert (texts.min(), texts.max()) == ("", "b")
    assert texts.astype("category").max() == "b"
    empty = hr.Series([None, None], dtype="datetime64[us]")
    assert (empty.min(), hr.Series([], dtype="string").max()) == (None, None)
    fine = hr.Series(np.array([5, 7], "datetime64[ns]")).max()
    assert fine == np.datetime64(7, "ns")
    with pytest.raises(hr.TypeMismatchError):
        texts.sum()


def test_units_of_times() -> None:
    noon = datetime.datetime(2024, 2, 28, 12)
    before = datetime.datetime(1969, 12, 31, 23, 59, 59, 500_000)
    times = hr.Series([noon, before, None])
    assert times.astype("date").to_list() == [noon.date(), before.date(), None]
    assert times.astype("datetime64[s]").to_list() == [noon, before.replace(microsecond=0), None]
    assert times.astype("datetime64[ns]").astype("datetime64[us]").to_list() == times.to_list()
    midnight = datetime.datetime(2024, 2, 28)
    days = hr.Series([noon.date()])
    assert days.astype("datetime64[ms]").to_list() == [midnight]
    assert str(days.astype("datetime64[ms]").dtype) == "datetime64[ms]"


TEXTS = [
    "1",
    " -2 ",
    "+3",
    "2.5e3",
    "inf",
    "-Infinity",
    "nan",
    "1e400",
    "1e-400",
    "0x10",
    "1_0",
    "",
    "abc",
    "9223372036854775808",
    "- 1",
    "+-1",
    "1 2",
    "nan(1)",
    None,
]


def test_numbers_of_texts() -> None:
    s = hr.Series(TEXTS)
    got = hr.to_numeric(s, errors="coerce").to_list()
    wanted = pd.to_numeric(pd.Series(TEXTS, dtype="str"), errors="coerce").to_list()
    for text, a, b in zip(TEXTS, got, wanted, strict=True):
        if text == "0x10":
            assert a is None  # pandas reads hexadecimal digits
            continue
        assert a == b or (b != b and (a is None or a != a)), text
    assert hr.to_numeric(hr.Series(["1", None])).to_list() == [1, None]
    assert hr.Series(["1", "2"], dtype="category").astype("int8").to_list() == [1, 2]
    with pytest.raises(hr.InvalidArgumentError, match="row=1, text='300'"):
        hr.Series(["1", "300"]).astype("int8").to_list()
    with pytest.raises(hr.InvalidArgumentError, match="errors='ignore'"):
        hr.to_numeric(s, errors="ignore")
    values = np.random.default_rng(1).normal(size=200_000) * 10.0**50
    assert np.array_equal(
        hr.Series([repr(float(v)) for v in values]).astype("float64").to_numpy(), values
    )


@pytest.mark.parametrize("rows", [0, 1, 7, 8, 9, 63, 64, 65, 5000])
@pytest.mark.parametrize(
    ("dtype", "make"),
    [
        ("float64", lambda i: i / 7),
        ("int64", lambda i: i - (1 << 62)),
        ("string", lambda i: "é" * (i % 20)),
        ("bool", lambda i: i % 3 == 0),
        ("float64", lambda i: i if i % 2 else i + 0.5),
    ],
    ids=["floats", "ints", "strings", "bools", "ints and floats"],
)
def test_columns_of_plain_lists(rows: int, dtype: str, make: Any) -> None:
    values = [make(i) for i in range(rows)]
    for holes in (False, True):
        wanted = [None if holes and i % 5 == 3 else v for i, v in enumerate(values)]
        made = hr.Series(wanted)
        assert made.to_list() == wanted
        if rows > 1:
            assert (made.dtype, int(made.count())) == (dtype, sum(v is not None for v in wanted))
            assert made[1:].isna().to_list() == [v is None for v in wanted[1:]]


def test_lists_that_are_not_plain_are_read_as_before() -> None:
    assert hr.Series([1, 1 << 63]).dtype == "uint64"
    assert hr.Series([1.5, 1 << 70]).to_list() == [1.5, float(1 << 70)]
    assert hr.Series([np.float64(1.5), 2]).to_list() == [1.5, 2.0]
    assert hr.Series([True, np.True_, None]).to_list() == [True, True, None]
    assert hr.Series(["a", float("nan")]).to_list() == ["a", None]
    assert hr.Series([None, np.str_("b")]).to_list() == [None, "b"]
    for wrong in ([1, "a"], [1, True, "x"], ["\ud800"], [object()]):
        with pytest.raises(hr.Error, match="Series: "):
            hr.Series(wrong)


def test_rows_that_are_dictionaries_may_have_other_names_and_orders() -> None:
    rows = [{"a": 1, "b": "x"}, {"b": "y", "a": 2}, {}, {"c": 1.5}, {3: None, "a": 4}]
    assert hr.DataFrame(rows).to_dict() == {
        "a": [1, 2, None, None, 4],
        "b": ["x", "y", None, None, None],
        "c": [None, None, None, 1.5, None],
        3: [None] * 5,
    }
    assert hr.DataFrame(rows, columns=["c", "a"]).to_dict() == {
        "c": [None, None, None, 1.5, None],
        "a": [1, 2, None, None, 4],
    }
