# SPDX-License-Identifier: Apache-2.0
"""What errors of frames say: the value, the column with its dtype, and the fix."""

import copy
import datetime as dt
import pickle
from collections.abc import Callable
from typing import Any

import pytest

import headrace as hr

FRAME = hr.DataFrame(
    {
        "alpha": [1, 2, 3],
        "s": ["x", None, "z"],
        "t": [dt.datetime(2024, 1, 1), None, dt.datetime(2024, 3, 1)],
    }
)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda f: f.alpha > "x", r"greater: .*column='alpha', dtype='int64', value='x'; pass a n"),
        (lambda f: f.s > 3, r"greater: .*column='s', dtype='string', value=3; pass a string"),
        (lambda f: f.t > "garbage", r"column='t', dtype='datetime64\[us\]', value='garbage'; pass"),
        (lambda f: f.t > 3, r"column='t', .*value=3; pass a date or a time"),
        (
            lambda f: f.s.fillna(3),
            r"fill_null: .*column='s', dtype='string', value=3; pass a string",
        ),
        (lambda f: f.alpha.where(f.alpha > 1, "x"), r"column='alpha', dtype='int64', value='x'"),
        (lambda f: f.alpha + f.s, r"column='alpha', dtype='int64', other='s', other_dtype='stri"),
        (lambda f: f.alpha.shift("x"), "shift: expected an integer: periods='x'"),
        (lambda f: f.shift(1.5), "shift: expected an integer: periods=1.5"),
        (lambda f: f.groupby("s").shift(1.5), "shift: expected an integer: periods=1.5"),
        (lambda f: f.groupby("s").head("x"), "head: expected an integer: n='x'"),
        (lambda f: f.nlargest("x", "alpha"), "nlargest: expected an integer: n='x'"),
        (lambda f: f.sample(1.5), "sample: expected an integer: n=1.5"),
        (lambda f: f.alpha["x"], "getitem: expected an integer: row='x'"),
        (lambda f: f.alpha.quantile("x"), "quantile: expected a number from 0 to 1.*: q='x'"),
        (lambda f: f[["alpha"]].quantile("x"), "quantile: expected a number from 0 to 1"),
        (lambda f: f.groupby("s").alpha.quantile("x"), "quantile: expected a number from 0 to 1"),
        (lambda f: f.iloc["a"], "iloc: expected an integer: row='a'"),
        (lambda f: f.iloc[0, "a"], "iloc: expected an integer: column='a'"),
    ],
)
def test_a_value_that_is_none_is_named(call: Callable[[Any], Any], message: str) -> None:
    with pytest.raises(hr.TypeMismatchError, match=message):
        call(FRAME)


def test_places_that_are_not_there_are_named() -> None:
    with pytest.raises(IndexError, match="iloc: column out of range: column=5, columns=3"):
        FRAME.iloc[0:2, [0, 5]]
    with pytest.raises(IndexError, match="iloc: row out of range: row=7, rows=3"):
        FRAME.iloc[[0, 7]]


def test_columns_that_are_not_there_are_named() -> None:
    with pytest.raises(hr.ColumnNotFoundError, match=r"name='alfa'; did you mean 'alpha'\?"):
        FRAME["alfa"]
    with pytest.raises(hr.ColumnNotFoundError, match="name='x'; the columns are alpha, s, t"):
        FRAME.merge(FRAME, on="x")
    with pytest.raises(hr.ColumnNotFoundError, match="name='b'; the columns are a"):
        hr.DataFrame({"a": [1]}, columns=["b"])
    assert hr.DataFrame({"a": [1]}, columns=["a", "b"]).to_dict() == {"a": [1], "b": [None]}
    assert hr.DataFrame({}, columns=["b"]).to_dict() == {"b": []}


def test_names_with_one_underscore_are_columns() -> None:
    merged = FRAME.merge(hr.DataFrame({"alpha": [2]}), on="alpha", how="left", indicator=True)
    assert merged[merged._merge == "left_only"].alpha.to_list() == [1, 3]
    assert merged.groupby("alpha")._merge.count().to_list() == [1, 1, 1]
    row = merged.iloc[0]
    copies = (copy.copy(row), pickle.loads(pickle.dumps(row)))
    assert [each._merge for each in (row, *copies)] == ["left_only"] * 3
    merged._merge = "new"
    assert copy.deepcopy(merged)._merge.to_list() == ["new"] * 3
    with pytest.raises(AttributeError, match="did you mean '_merge'"):
        _ = merged._merg
    odd = hr.DataFrame({"_repr_png_": [1], "_ipython_display_": [2], "__len": [3]})
    for name in odd.columns:
        assert not hasattr(odd, name)


@pytest.mark.parametrize(
    "call",
    [
        lambda f: f.x.shift(10**30),
        lambda f: f.x.head(2**70),
        lambda f: f.tail(-(2**70)),
        lambda f: f.x.rolling(2**70).sum(),
        lambda f: f.x.sample(n=2**70),
        lambda f: f.x.nlargest(2**63),
        lambda f: f.x.diff(2**70),
        lambda f: f.x.std(ddof=2**70),
        lambda f: f.iloc[2**70],
        lambda f: hr.read_csv(b"a\n1\n", num_rows=2**70),
        lambda f: hr.fft.fft([1.0, 2.0], n=2**70),
        lambda f: f.s == "\ud800",
        lambda f: f.s + "\ud800",
        lambda f: f.s.fillna("\ud800"),
        lambda f: f.s.str.contains("\ud800"),
        lambda f: f.s.str.replace("a", "\ud800"),
        lambda f: f["\ud800"],
        lambda f: f.assign(**{"\ud800": 1}),
    ],
)
def test_numbers_of_more_than_64_bits_and_half_surrogates(call: Any) -> None:
    frame = hr.DataFrame({"x": [1.0, 2.0], "s": ["a", None]})
    with pytest.raises(hr.InvalidArgumentError, match=r"64 bits|surrogate|too long"):
        call(frame)


def test_arguments_of_another_type_are_our_error() -> None:
    with pytest.raises(hr.TypeMismatchError, match=r"reduction: unexpected argument types.*str"):
        hr.Series([1, 2]).sem(ddof="x")
    with pytest.raises(TypeError):
        hr.fft.fft([1.0], n="x")
