# SPDX-License-Identifier: Apache-2.0
"""`hr.NA`, `hr.Index`, `hr.Categorical`, `hr.api.types`, `hr.testing`, `hr.errors`."""

import datetime as dt
import decimal
import io
import re
import warnings
from collections import namedtuple
from typing import Any

import numpy as np
import pandas as pd
import pytest
from headrace.api import types

import headrace as hr

COLUMNS: dict[str, list[Any]] = {
    "int64": [1, 2],
    "uint8": [1, 2],
    "float64": [1.5, 2.0],
    "float32": [1.5, 2.0],
    "bool": [True, False],
    "str": ["a", "b"],
    "category": ["a", "b"],
    "datetime64[us]": [dt.datetime(2024, 1, 1), dt.datetime(2024, 1, 2)],
    "datetime64[ns]": [dt.datetime(2024, 1, 1), dt.datetime(2024, 1, 2)],
    "datetime64[us, UTC]": [dt.datetime(2024, 1, 1, tzinfo=dt.UTC)] * 2,
    "timedelta64[us]": [dt.timedelta(1), dt.timedelta(2)],
    "timedelta64[ns]": [dt.timedelta(1), dt.timedelta(2)],
}
DTYPE_TESTS = [name for name in types.__all__ if name.endswith("_dtype") and name[:3] == "is_"]


@pytest.mark.parametrize("name", DTYPE_TESTS)
@pytest.mark.filterwarnings("ignore::pandas.errors.Pandas4Warning", "ignore::DeprecationWarning")
def test_dtypes_are_of_the_kinds_that_pandas_says(name: str) -> None:
    ours, theirs = getattr(types, name), getattr(pd.api.types, name)
    for word, values in COLUMNS.items():
        column, own = pd.Series(values, dtype=word), hr.Series(values, dtype=word)
        assert ours(own) == theirs(column), word
        assert ours(own.dtype) == theirs(column.dtype), word
    for given in (
        int,
        float,
        bool,
        str,
        np.float32,
        np.dtype("int8"),
        "uint16",
        "no such dtype",
        None,
    ):
        if given not in ("none", None):
            assert ours(given) == theirs(given), given
        else:
            assert not ours(given)


VALUES: list[Any] = [
    *(1, 1.5, True, None, "a", b"a", 1j, [1], (1, 2), {1}, {"a": 1}, range(3), iter([1]), int),
    *(np.int64(3), np.float64(2.5), np.bool_(True), np.array([1]), np.array(1)),
    np.datetime64("2024"),
    *(dt.date(2024, 1, 1), dt.datetime(2024, 1, 1), dt.timedelta(1), decimal.Decimal(1), object()),
    *(re.compile("a"), io.StringIO("x"), namedtuple("Pair", "a b")(1, 2), lambda: 1, float("nan")),
]  # fmt: skip
VALUE_TESTS = [
    *("is_list_like", "is_dict_like", "is_array_like", "is_number", "is_integer", "is_float"),
    *("is_complex", "is_bool", "is_scalar", "is_hashable", "is_iterator", "is_file_like"),
    *("is_re", "is_named_tuple", "is_re_compilable"),
]


@pytest.mark.parametrize("name", VALUE_TESTS)
def test_values_are_what_pandas_says(name: str) -> None:
    ours, theirs = getattr(types, name), getattr(pd.api.types, name)
    assert [ours(value) for value in VALUES] == [theirs(value) for value in VALUES]


def test_a_reduction_is_a_scalar() -> None:
    s = hr.Series([1, 2])
    assert types.is_scalar(s.sum()) and types.is_integer(s.sum()) and types.is_float(s.mean())
    assert types.is_number(s.mean()) and types.is_bool((s > 1).any())
    assert types.is_list_like(s) and not types.is_list_like(s.sum()) and not types.is_scalar(s)


@pytest.mark.parametrize(
    "values", [[1, 2], [1.5], ["a", None], [True], [dt.datetime(2024, 1, 1)], [dt.timedelta(1)], []]
)
def test_kinds_of_values(values: list[Any]) -> None:
    wanted = pd.api.types.infer_dtype(values).replace("datetime", "datetime64")
    assert types.infer_dtype(values) == wanted.replace("timedelta", "timedelta64")


def test_missing_values_of_pandas_are_null() -> None:
    frame = hr.DataFrame({"x": [1, hr.NA], "t": [dt.datetime(2024, 1, 1), hr.NaT]})
    assert frame.isna().x.to_list() == frame.isna().t.to_list() == [False, True]
    assert frame.x.iloc[1] is hr.NA and hr.isna(hr.NaT)
    assert hr.Series(["?", "a"]).replace("?", hr.NA).to_list() == [None, "a"]


def test_an_index_is_a_series_of_labels() -> None:
    labels = hr.Index(["a", "b"], name="k")
    frame = hr.DataFrame({"x": [1, 2]}, index=labels)
    assert frame.x.loc["b"] == 2 and isinstance(frame.index, hr.Index)
    frame.columns = hr.Index(["y"])
    assert list(frame.columns) == ["y"]


@pytest.mark.parametrize(
    ("categories", "ordered"), [(None, False), (["b", "a"], True), (["a"], False)]
)
@pytest.mark.filterwarnings("ignore::pandas.errors.Pandas4Warning")
def test_categories(categories: list[str] | None, ordered: bool) -> None:
    values = ["b", "a", None, "b"]
    ours = hr.Series(hr.Categorical(values, categories, ordered))
    theirs = pd.Series(pd.Categorical(values, categories, ordered))
    assert ours.cat.categories.to_list() == list(theirs.cat.categories)
    assert [v if v == v else None for v in theirs.tolist()] == ours.to_list()
    assert ours.cat.ordered == theirs.cat.ordered
    kind = hr.CategoricalDtype(categories, ordered)
    if categories is not None:
        made = hr.Series(values, dtype=kind)
        assert made.cat.categories.to_list() == list(theirs.cat.categories)
    assert isinstance(ours.dtype, hr.CategoricalDtype) and ours.dtype == hr.CategoricalDtype()
    assert not isinstance(hr.Series(["a"]).dtype, hr.CategoricalDtype)


def test_dtypes_of_zones() -> None:
    times = hr.to_datetime(["2024-01-01"]).dt.tz_localize("UTC")
    assert isinstance(times.dtype, hr.DatetimeTZDtype)
    assert times.dtype == hr.DatetimeTZDtype("us", "UTC")


@pytest.mark.parametrize("downcast", ["integer", "signed", "unsigned", "float"])
def test_downcast_as_pandas(downcast: str) -> None:
    ends = [-129, -128, -1, 0, 127, 128, 255, 256, 40000, 2**31, 2**40]
    columns = [[0, end] for end in ends] + [[float(end), 1.0] for end in ends]
    columns += [[0.5, 1.0], [0.1, 1e10 + 0.1], [1.0, float("nan")], [1.0, float("inf")]]
    for values in columns:
        wanted = pd.to_numeric(pd.Series(values), downcast=downcast)
        found = hr.to_numeric(hr.Series(values), downcast=downcast)
        assert str(found.dtype) == str(wanted.dtype), values
        assert repr(found.to_list()) == repr(wanted.tolist())
    assert hr.to_numeric(["1", "2"], downcast=downcast).dtype.itemsize <= 4
    with pytest.raises(hr.InvalidArgumentError, match="expected one of"):
        hr.to_numeric([1], downcast="int8")


def test_converted_dtypes() -> None:
    data = {"w": [1.0, 2.0, np.nan], "f": [0.5, 1.0, np.nan], "s": ["a", None, "b"], "n": [1, 2, 3]}
    ours, theirs = hr.DataFrame(data).convert_dtypes(), pd.DataFrame(data).convert_dtypes()
    for name in data:
        assert str(ours[name].dtype) == str(theirs[name].dtype).lower()
        assert ours[name].to_list() == [None if v is pd.NA or v != v else v for v in theirs[name]]
    assert hr.DataFrame(data).infer_objects().w.dtype == "float64"
    big = hr.Series([2.0**60, 1.0])
    assert big.convert_dtypes().dtype == "float64" and hr.Series([1]).infer_objects().to_list() == [
        1
    ]


FRAMES = {
    "same": ({"x": [1.0, None], "s": ["a", "b"]}, ""),
    "close": ({"x": [1.0 + 1e-9, None], "s": ["a", "b"]}, ""),
    "value": ({"x": [1.1, None], "s": ["a", "b"]}, "values differ: column='x', row=0"),
    "null": ({"x": [1.0, 2.0], "s": ["a", "b"]}, "values differ: column='x', row=1"),
    "name": ({"y": [1.0, None], "s": ["a", "b"]}, "columns differ"),
    "order": ({"s": ["a", "b"], "x": [1.0, None]}, "columns differ"),
    "dtype": ({"x": hr.Series([1, None]), "s": ["a", "b"]}, "dtypes differ: column='x'"),
    "rows": ({"x": [1.0], "s": ["a"]}, "rows differ: left=2, right=1"),
}


@pytest.mark.parametrize("name", FRAMES)
def test_frames_are_compared(name: str) -> None:
    data, text = FRAMES[name]
    left, right = hr.DataFrame(FRAMES["same"][0]), hr.DataFrame(data)
    if not text:
        hr.testing.assert_frame_equal(left, right)
    else:
        with pytest.raises(AssertionError, match=text):
            hr.testing.assert_frame_equal(left, right)
    if name == "close":
        with pytest.raises(AssertionError, match="values differ"):
            hr.testing.assert_frame_equal(left, right, check_exact=True)
    if name == "order":
        hr.testing.assert_frame_equal(left, right, check_like=True)
    if name == "dtype":
        hr.testing.assert_frame_equal(left, right, check_dtype=False)


def test_series_are_compared() -> None:
    one = hr.Series([1.0, 2.0], name="x")
    hr.testing.assert_series_equal(one, one + 1e-9)
    hr.testing.assert_series_equal(one, one.rename("y"), check_names=False)
    for other, text in (
        (one.rename("y"), "names"),
        (one + 1, "values"),
        (one.astype("float32"), "dtypes"),
    ):
        with pytest.raises(AssertionError, match=f"{text} differ"):
            hr.testing.assert_series_equal(one, other)
    labelled = hr.Series({"a": 1.0, "b": 2.0}, name="x")
    with pytest.raises(AssertionError, match="differ"):
        hr.testing.assert_series_equal(one, labelled)
    with pytest.raises(AssertionError, match="values differ"):
        hr.testing.assert_series_equal(labelled, hr.Series({"a": 1.0, "c": 2.0}, name="x"))


def test_errors_of_pandas_catch_ours() -> None:
    with pytest.raises(hr.errors.ParserError):
        hr.read_csv(b"x,y\n1,2\n1,2,3\n")
    with pytest.raises(hr.errors.MergeError):
        hr.DataFrame({"k": [1, 1]}).merge(
            hr.DataFrame({"k": [1]}), on="k", validate="1:1"
        ).to_dict()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", category=hr.errors.PerformanceWarning)
    with pytest.raises(AttributeError, match=r"use hr\.Error"):
        _ = hr.errors.NoSuchError
