# SPDX-License-Identifier: Apache-2.0
"""`inplace=True` leaves what pandas leaves."""

from __future__ import annotations

import inspect
import pickle
from typing import Any

import pandas as pd
import pytest

import headrace as hr

CALLS: dict[str, tuple[Any, dict[str, Any]]] = {
    "drop": ((), {"columns": ["b"]}),
    "rename": ((), {"columns": {"a": "z"}}),
    "fillna": ((0,), {}),
    "dropna": ((), {"subset": ["a"]}),
    "sort_values": ((["g", "a"],), {"ascending": [False, True]}),
    "sort_index": ((), {"ascending": False}),
    "drop_duplicates": (("g",), {"keep": "last"}),
    "replace": ((2.0, 20.0), {}),
    "set_index": (("g",), {"drop": True}),
    "reset_index": ((), {"drop": True}),
}
DATA = {"a": [2.0, None, 1.0, 2.0], "b": [1.0, 2.0, None, 4.0], "g": ["x", "y", "x", "z"]}


@pytest.mark.parametrize("name", CALLS)
def test_the_frame_is_what_the_method_makes(name: str) -> None:
    values, options = CALLS[name]
    data = {**DATA, "g": [1, 2, 1, 3]} if name == "fillna" else DATA
    ours, theirs = hr.DataFrame(data), pd.DataFrame(data)
    column = ours.a
    made = getattr(ours, name)(*values, **options)
    assert getattr(ours, name)(*values, **options, inplace=True) is None
    assert ours.to_dict() == made.to_dict()
    wanted = getattr(theirs, name)(*values, **options).reset_index(drop=True)
    shown = ours.to_pandas().reset_index(drop=True).astype(wanted.dtypes.to_dict())
    pd.testing.assert_frame_equal(shown, wanted)
    assert [v for v in column.to_list() if v is not None] == [2.0, 1.0, 2.0]


def test_an_error_leaves_the_frame() -> None:
    frame = hr.DataFrame(DATA)
    with pytest.raises(KeyError, match="nope"):
        frame.drop(columns=["nope"], inplace=True)
    assert frame.columns == ["a", "b", "g"]
    assert inspect.signature(hr.DataFrame.dropna).parameters["inplace"].default is False


@pytest.mark.filterwarnings("ignore")
def test_series_in_place():
    for make in (
        lambda s: s.fillna(0.0, inplace=True),
        lambda s: s.drop_duplicates(inplace=True),
        lambda s: s.clip(upper=2, inplace=True),
        lambda s: s.where(s > 1, 9.0, inplace=True),
        lambda s: s.mask(s > 1, 9.0, inplace=True),
        lambda s: s.replace(1.0, 5.0, inplace=True),
        lambda s: s.dropna(inplace=True),
        lambda s: s.ffill(limit=1, inplace=True),
        lambda s: s.interpolate(limit_direction="both", inplace=True),
    ):
        values, labels = [3.0, None, None, 1.0, 3.0], list("abcde")
        ours, theirs = hr.Series(values, labels), pd.Series(values, labels)
        assert make(ours) is None
        make(theirs)
        pd.testing.assert_series_equal(
            ours.to_pandas().astype(float), theirs.rename_axis("index"), check_names=False
        )


def test_a_series_gets_labels_in_place():
    ours = hr.Series([1, 2, 3], name="x")
    other, ours.index = ours, ["a", "b", "c"]
    assert other is ours and ours["b"] == 2 and ours.name == "x"
    ours.index = pd.MultiIndex.from_product([["u"], [1, 2, 3]], names=["k", "n"])
    assert ours.to_dict() == {("u", 1): 1, ("u", 2): 2, ("u", 3): 3}
    taken = hr.DataFrame({"k": [1, 1, 2], "x": [1, 2, 3]})
    sums = taken.groupby("k").x.sum()
    sums.index = range(5, 7)
    assert sums.to_dict() == {5: 3, 6: 3}
    taken = taken[taken.x > 1]
    taken.index = ["p", "q"]
    assert taken.loc["q", "x"] == 3
    rest = taken.x
    rest.index = hr.Series([7, 8])
    assert rest.to_dict() == {7: 2, 8: 3} and taken.index.to_list() == ["p", "q"]
    for series, labels, kind in (
        (ours, [1], ValueError),
        (ours, "abc", TypeError),
        (taken.mean(), ["u", "v"], ValueError),
    ):
        with pytest.raises(kind):
            series.index = labels
    assert ours["u", 3] == 3


def test_labels_are_renamed_in_place():
    for library in (hr, pd):
        numbered = library.DataFrame({"a": [1], "b": [2]})
        numbered.index.name = "k"
        labelled = library.DataFrame({"a": [1], "b": [2]}, index=["x"])
        labelled.index.names = ["k"]
        for frame in (numbered, labelled):
            assert frame.index.name == "k" and list(frame.reset_index()) == ["k", "a", "b"]
        values = labelled.a
        values.index.name = "w"
        assert (values.index.name, labelled.index.name) == ("w", "k")
        values.index.name = ("b", 1)
        assert values.index.name == ("b", 1)
        values.index.name = None
        assert values.index.names == [None]
        several = labelled.set_index(["a", "b"], append=True)
        several.index.names = ["p", None, "b"]
        other = several.copy()
        other.index.names = ["x", "y", "z"]
        assert list(several.index.names) == ["p", None, "b"]
        assert list(other.index.names) == ["x", "y", "z"]
        assert list(pickle.loads(pickle.dumps(other.index)).names) == ["x", "y", "z"]
        for index, names in ((several.index, ["p"]), (labelled.index, ["p", "q"])):
            with pytest.raises(ValueError):
                index.names = names


@pytest.mark.parametrize("area", [None, "inside", "outside"])
@pytest.mark.parametrize("limit", [None, 1, 2])
def test_filling_has_limits(limit, area):
    values = [None, None, 1.0, None, None, None, 4.0, None, None]
    ours, theirs = hr.Series(values), pd.Series(values)
    words = {"limit": limit, "limit_area": area}
    pairs = [(ours.ffill(**words), theirs.ffill(**words))]
    pairs.append((ours.bfill(**words), theirs.bfill(**words)))
    for direction in (None, "forward", "backward", "both"):
        words["limit_direction"] = direction
        pairs.append((ours.interpolate(**words), theirs.interpolate(**words)))
    for found, wanted in pairs:
        assert [None if x is None or x != x else x for x in found.to_list()] == [
            None if x != x else x for x in wanted
        ]
    with pytest.raises(ValueError, match="limit"):
        ours.ffill(limit=0)
