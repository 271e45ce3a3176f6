# SPDX-License-Identifier: Apache-2.0
"""`to_string` gives pandas' text, character by character."""

import io
import random

import numpy as np
import pandas as pd
import pytest

import headrace as hr

CLOCKS = ["2024-01-01 10:00:00.250", None, "2024-02-29 00:00:00"]
FRAMES = {
    "numbers": pd.DataFrame({"count": [1, -25, 300], "y": [1.5, np.nan, -1e-7]}),
    "texts": pd.DataFrame({"name": ["Ann\tB", None, "a" * 70], "ok": [True, False, True]}),
    "days": pd.DataFrame({"t": pd.to_datetime(["2024-01-01", None, "2024-02-29"])}),
    "clocks": pd.DataFrame({"t": pd.to_datetime(pd.Series(CLOCKS), format="ISO8601")}),
    "spans": pd.DataFrame({"d": pd.to_timedelta([90, None, -1.5], unit="s")}),
    "whole days": pd.DataFrame({"d": pd.to_timedelta([1, 2, None], unit="D")}),
    "categories": pd.DataFrame({"c": pd.Categorical(["x", None, "yy"]), "long name": [1, 2, 3]}),
    "labels": pd.DataFrame({"k": ["b", "a", "ccc"], "x": [1, 2, 3]}).set_index("k"),
    "floats": pd.DataFrame({"k": [0.5, -1.25, 2], "x": [1, 2, 3]}).set_index("k"),
    "times": pd.DataFrame({"x": [1, 2, 3]}, index=pd.date_range("2024-01-31", periods=3)),
    "levels": pd.DataFrame(
        {"k": ["a", "a", "b"], "n": [1, 1, 1], "m": [1, 2, 2], "x": [1.0, 2.5, -3.0]}
    ).set_index(["k", "n", "m"]),
    "columns": pd.DataFrame(
        [[1, 2.5, "x"], [3, 4.5, "y"], [5, 6, "z"]],
        columns=pd.MultiIndex.from_tuples([("a", "u"), ("a", "v"), ("b", "u")]),
    ),
}


@pytest.mark.parametrize("max_rows", [None, 1, 2, 3])
@pytest.mark.parametrize("index", [True, False])
@pytest.mark.parametrize("name", FRAMES)
def test_frames(name: str, index: bool, max_rows: int | None) -> None:
    theirs = FRAMES[name]
    ours = hr.from_pandas(theirs)
    for options in (
        {},
        {"header": False},
        {"na_rep": "-"},
        {"justify": "left"},
        {"justify": "center"},
    ):
        asked = {"index": index, "max_rows": max_rows, **options}
        if max_rows and options == {"header": False}:
            continue  # pandas has an IndexError of one row, and misplaces the dots
        assert ours.to_string(**asked) == theirs.to_string(**asked), asked


@pytest.mark.parametrize("max_rows", [None, 1, 2, 3])
@pytest.mark.parametrize("index", [True, False])
@pytest.mark.parametrize("name", FRAMES)
def test_series(name: str, index: bool, max_rows: int | None) -> None:
    column = FRAMES[name].columns[0]
    theirs = FRAMES[name][column]
    ours = hr.from_pandas(FRAMES[name])[column]
    for options in ({}, {"header": False}, {"na_rep": "-"}):
        asked = {"index": index, "max_rows": max_rows, **options}
        text = theirs.to_string(**asked)
        footers = ("\nFreq: D", "\nCategories (2, str): ['x', 'yy']")
        for footer in footers:
            text = text.removesuffix(footer)
        assert ours.to_string(**asked) == text, asked


def test_random_frames() -> None:
    draw = random.Random(3)
    for _ in range(200):
        rows = draw.randint(1, 9)
        values = {
            "i": [draw.randint(-(10 ** draw.randint(0, 6)), 1000) for _ in range(rows)],
            "long name of floats": [
                draw.uniform(-1, 1) * 10 ** draw.randint(-6, 9) for _ in range(rows)
            ],
            "s": ["x" * draw.randint(0, 12) for _ in range(rows)],
        }
        theirs, ours = pd.DataFrame(values), hr.DataFrame(values)
        asked = {"max_rows": draw.choice([None, 4]), "index": draw.random() < 0.7}
        assert ours.to_string(**asked) == theirs.to_string(**asked), (asked, values)
        kept = draw.randint(-100, 500)
        if len(theirs[theirs["i"] < kept]):
            assert ours[ours["i"] < kept].to_string() == theirs[theirs["i"] < kept].to_string()


def test_columns_headers_and_formats() -> None:
    data = {"x": [1.25, None], "longer": [3, 4], "s": ["a", "b"]}
    theirs, ours = pd.DataFrame(data), hr.DataFrame(data)
    for asked in (
        {"columns": ["s", "x"]},
        {"header": ["one", "two", "three"]},
        {"float_format": "{:.1f}".format},
        {"float_format": "{:,.3f}"},
        {"float_format": "{:.1f}".format, "na_rep": "missing"},
    ):
        assert ours.to_string(**asked) == theirs.to_string(**asked), asked
    assert ours["x"].to_string(float_format="{:.4f}".format) == theirs["x"].to_string(
        float_format="{:.4f}".format
    )
    assert ours["s"].to_string(length=True) == theirs["s"].to_string(length=True)  # by pandas
    by_pandas = {"formatters": {"longer": "<{}>".format}}
    assert ours.dropna().to_string(**by_pandas) == theirs.dropna().to_string(**by_pandas)
    out = io.StringIO()
    assert ours.to_string(out) is None
    assert out.getvalue() == theirs.to_string()
    with pytest.raises(hr.InvalidArgumentError, match="unknown justify"):
        ours.to_string(justify="up")
    with pytest.raises(hr.InvalidArgumentError, match="give one name for each"):
        ours.to_string(header=["a"])
    empty = {"a": [], "b": []}
    assert hr.DataFrame(empty).to_string() == pd.DataFrame(empty).to_string().replace(
        "RangeIndex(start=0, stop=0, step=1)", "[]"
    )
