# SPDX-License-Identifier: Apache-2.0
"""Values put into frames: at picked rows, all or nothing, from reductions too."""

import datetime as dt
import decimal
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest

import headrace as hr

DATA = {
    "a": [1, 2, 3],
    "s": ["x", None, "z"],
    "f": [0.5, 1.5, 2.5],
    "b": [10, 20, 30],
}


def values(frame: Any) -> dict[str, list[Any]]:
    columns = {name: frame[name].to_list() for name in sorted(frame.columns)}
    return {n: [None if v is None or v != v else v for v in c] for n, c in columns.items()}


@pytest.fixture
def frame() -> hr.DataFrame:
    return hr.DataFrame(DATA)


@pytest.mark.parametrize(
    "text",
    [
        "f.loc[f.a > 1, 'a'] += 1",
        "f.loc[f.a > 1, 'a'] = f.loc[f.a > 1, 'b'] * 2",
        "f.loc[f.a > 1, 's'] = f.loc[f.a > 1, 's']",
        "f.loc[f.a > 1, ['a', 'b']] = f.loc[f.a > 1, ['a', 'b']] * 2",
        "f.loc[f.a > 9, 'a'] += 1",
        "f.loc[f.a > 9, 's'] = f.loc[f.a > 9, 's']",
        "f.loc[f.a > 1, 'a'] = [8, 9]",
        "f.loc[f.a > 1, 's'] = np.array(['p', 'q'])",
        "f.loc[f.a > 1, 'new'] = [8, 9]",
        "f.loc[f.a > 1, 'new'] = f.loc[f.a > 1, 'b']",
        "f.loc[f.a > 1, 'new'] = f.f.mean()",
        "f.loc[f.a > 1, ['a', 's']] = [7, 'q']",
        "f.loc[[0, 2], ['a', 'b']] = [[1, 2], [3, 4]]",
        "f.loc[[2, 0], 'a'] = [8, 9]",
        "f.loc[[2, 0], 'a'] += 1",
        "f.loc[0:1, 'a'] *= 2",
        "f.loc[0] = [7, 'k', 1.5, 2]",
        "f.loc[0] = f.loc[2]",
        "f.iloc[0:2, 0] *= 2",
        "f.iloc[[2, 0], 0] = [8, 9]",
        "f.iloc[-1] = [1, 't', 0.5, 3]",
        "f['m'] = f.f.mean()",
        "f['m'] = (f.a > 1).any()",
        "f[['u', 'v']] = [f.a.sum(), 't']",
        "f.insert(0, 'm', f.a.max())",
    ],
)
def test_values_are_set_as_in_pandas(text: str) -> None:
    ours, theirs = hr.DataFrame(DATA), pd.DataFrame(DATA)
    for each in (ours, theirs):
        exec(text, {"f": each, "np": np})
    assert values(ours) == values(theirs)


def test_values_of_rows_by_label_leave_the_labels(frame: hr.DataFrame) -> None:
    labelled = frame.set_index("s")
    labelled.loc["z"] = [7, 8.5, 9]
    labelled[labelled.a < 2] = 0
    assert labelled.reset_index().to_dict() == {
        "a": [0, 2, 7],
        "s": ["x", None, "z"],
        "f": [0.0, 1.5, 8.5],
        "b": [0, 20, 9],
    }


def test_values_of_picked_rows_run_nothing(frame: hr.DataFrame) -> None:
    kept = frame[frame.b > 5]  # only the data tell how many rows
    mask = kept.a > 1
    with hr.profile() as profile:
        kept.loc[mask, "a"] += 1
        kept.loc[mask, "f"] = kept.loc[mask, "b"] * kept.f.mean()
    assert not profile.steps
    assert kept.to_dict()["a"] == [1, 3, 4]
    assert kept.f.to_list() == [0.5, 30.0, 45.0]


@pytest.mark.parametrize(
    "change",
    [
        lambda f: f.__setitem__(f.a > 2, 0),
        lambda f: f.iloc.__setitem__(0, 0),
        lambda f: f.loc.__setitem__(f.a > 1, 0),
        lambda f: f.loc.__setitem__((f.a > 1, ["a", "s"]), 0),
        lambda f: f.loc.__setitem__((f.a > 1, ["a", "s"]), [7, 8]),
        lambda f: f.loc.__setitem__((slice(None), ["a", "s"]), [7, [1]]),
        lambda f: f.__setitem__(["a", "s"], [7, [1]]),
    ],
)
def test_an_assignment_that_fails_changes_nothing(
    frame: hr.DataFrame, change: Callable[[hr.DataFrame], None]
) -> None:
    with pytest.raises(hr.Error):
        change(frame)
    assert frame.to_dict() == DATA


def test_a_value_that_does_not_fit_is_named_with_its_column(frame: hr.DataFrame) -> None:
    with pytest.raises(hr.TypeMismatchError, match=r"column='s', dtype='string', value=0; pass a"):
        frame[frame.a > 2] = 0
    with pytest.raises(hr.TypeMismatchError, match=r"column='a', dtype='int64', value='text'"):
        frame.loc[0, "a"] = "text"


def test_values_of_all_sorts_are_set() -> None:
    moment, price = dt.datetime(2024, 1, 1), decimal.Decimal("1.5")
    frame = hr.DataFrame({"d": [price, None, price], "t": [moment] * 3, "n": [1, 2, 3]})
    mask = frame.n > 1
    frame.loc[mask, "d"] = decimal.Decimal("2.5")
    frame.loc[mask, "t"] = pd.NaT
    frame.loc[mask, "n"] = pd.NA
    frame["most"] = frame.d.max()
    frame.loc[mask, "when"] = moment
    assert frame.to_dict() == {
        "d": [price, price + 1, price + 1],
        "t": [moment, None, None],
        "n": [1, None, None],
        "most": [price + 1] * 3,
        "when": [None, moment, moment],
    }
    with pytest.raises(hr.TypeMismatchError, match="iloc: expected an integer: row='x'"):
        frame.iloc["x", 0] = price


def test_a_wrong_number_of_values_names_both(frame: hr.DataFrame) -> None:
    mask = frame.a > 1
    with pytest.raises(hr.InvalidArgumentError, match="column='a', expected=2, got=3"):
        frame.loc[mask, "a"] = [7, 8, 9]
    with pytest.raises(hr.InvalidArgumentError, match="expected=2, got=1"):
        frame.loc[mask, ["a", "s"]] = [7]
    with pytest.raises(hr.InvalidArgumentError, match=r"column='a'.*to_numpy"):
        frame.loc[mask, "a"] = frame[frame.a < 3].b  # as many, but others


def test_a_reduction_is_a_value_for_all_rows(frame: hr.DataFrame) -> None:
    kept = frame[frame.b > 5]
    with hr.profile() as profile:
        made = kept.assign(m=frame.a.mean(), n=frame.a.sum(), p=(frame.a > 2).all())
    assert not profile.steps
    assert {name: str(dtype) for name, dtype in made[["m", "n", "p"]].dtypes.items()} == {
        "m": "float64",
        "n": "int64",
        "p": "bool",
    }
    assert (made.m.to_list(), made.n.to_list()) == ([2.0] * 3, [6] * 3)
    assert hr.DataFrame({"a": [1, 2], "m": frame.a.mean()}).m.to_list() == [2.0, 2.0]
    assert frame[:0].assign(m=frame.a.sum()).m.to_list() == []


def test_a_reduction_is_a_number_of_rows(frame: hr.DataFrame) -> None:
    two = (frame.a > 1).sum()
    assert frame.head(two).a.to_list() == frame.a.head(two).to_list() == [1, 2]
    assert frame.tail(two).a.to_list() == frame.a.tail(np.int64(2)).to_list() == [2, 3]
    for call in (frame.head, frame.tail, frame.a.head, frame.a.tail):
        with pytest.raises(hr.TypeMismatchError, match="expected an integer: n='x'"):
            call("x")


def test_a_list_beside_rows_that_are_not_counted_yet() -> None:
    df = hr.DataFrame({"x": [3, 1, 2]})
    some = df[df.x > 1].assign(y=["a", "b"])
    assert some.to_dict() == {"x": [3, 2], "y": ["a", "b"]}
    with pytest.raises(hr.InvalidArgumentError, match="column='z', rows=3, frame_rows=2"):
        some["z"] = [1, 2, 3]
    assert some.columns == ["x", "y"]
