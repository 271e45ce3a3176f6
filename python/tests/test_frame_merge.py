# SPDX-License-Identifier: Apache-2.0
"""Joins against pandas and against two loops."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import headrace as hr

HOW = ["inner", "left", "right", "outer", "semi", "anti"]
KEYS = {
    "int64": st.integers(-3, 6),
    "wide": st.sampled_from([-(2**63), 2**63 - 1, 0, 10**15, -(10**15)]),
    "float64": st.sampled_from([0.0, -0.0, 1.5, math.nan, math.inf, None]),
    "string": st.sampled_from(["", "a", "ab", "a longer string than inline", "b", None]),
    "bool": st.sampled_from([True, False, None]),
    "nullable": st.one_of(st.none(), st.integers(0, 4)),
}


def same(a: Any, b: Any) -> bool:
    """As keys are compared: null equals null, and NaN equals NaN."""
    if isinstance(a, float) and isinstance(b, float) and math.isnan(a) and math.isnan(b):
        return True
    return type(a) is type(b) and a == b


def loops(left: list[tuple], right: list[tuple], how: str) -> list[tuple[int | None, int | None]]:
    """Pairs of rows."""
    if how == "right":
        return [(b, a) for a, b in loops(right, left, "left")]
    pairs: list[tuple[int | None, int | None]] = []
    met = set()
    for i, a in enumerate(left):
        found = [j for j, b in enumerate(right) if all(map(same, a, b))]
        met.update(found)
        if how in ("semi", "anti"):
            if bool(found) == (how == "semi"):
                pairs.append((i, None))
        elif found:
            pairs.extend((i, j) for j in found)
        elif how != "inner":
            pairs.append((i, None))
    if how == "outer":
        pairs.extend((None, j) for j in range(len(right)) if j not in met)
        pairs.sort(key=lambda pair: order(right[pair[1]] if pair[0] is None else left[pair[0]]))
    return pairs


def order(key: tuple[Any, ...]) -> list[tuple[bool, Any]]:
    """The place of a key in a sort: missing values last, null and NaN alike."""
    missing = [value is None or value != value for value in key]
    return [(gone, 0 if gone else value) for gone, value in zip(missing, key, strict=True)]


@st.composite
def sides(draw: Any) -> tuple[list[str], list[tuple], list[tuple]]:
    kinds = draw(st.lists(st.sampled_from(sorted(KEYS)), min_size=1, max_size=3))
    row = st.tuples(*(KEYS[kind] for kind in kinds))
    return kinds, draw(st.lists(row, max_size=12)), draw(st.lists(row, max_size=12))


def frame_of(kinds: list[str], rows: list[tuple], value: str) -> hr.DataFrame:
    dtypes = {"wide": "int64", "nullable": "int64"}
    columns: dict[str, Any] = {}
    for k, kind in enumerate(kinds):
        values = hr.Series([row[k] for row in rows], dtype=dtypes.get(kind, kind))
        columns[f"k{k}"] = values
    columns[value] = hr.Series(list(range(len(rows))), dtype="int64")
    return hr.DataFrame(columns)


@given(sides(), st.sampled_from(HOW))
def test_merge_agrees_with_two_loops(drawn: Any, how: str) -> None:
    kinds, left, right = drawn
    names = [f"k{k}" for k in range(len(kinds))]
    merged = frame_of(kinds, left, "x").merge(frame_of(kinds, right, "y"), on=names, how=how)
    pairs = loops(left, right, how)
    assert merged.columns == [*names, "x"] + (["y"] if how not in ("semi", "anti") else [])
    assert merged.x.to_list() == [i for i, _ in pairs]
    if how not in ("semi", "anti"):
        assert merged.y.to_list() == [j for _, j in pairs]
    for k, name in enumerate(names):
        got = merged[name].to_list()
        wanted = [left[i][k] if i is not None else right[j][k] for i, j in pairs]
        if how == "right":
            wanted = [right[j][k] for _, j in pairs]
        assert len(got) == len(wanted) and all(map(same, got, wanted)), (got, wanted)


@pytest.mark.parametrize("how", ["inner", "left", "right", "outer"])
@pytest.mark.parametrize("spread", [1, 10**12])
def test_merge_agrees_with_pandas(how: str, spread: int) -> None:
    random = np.random.default_rng(4)
    left = {"k": random.integers(0, 3000, 5000) * spread, "x": random.random(5000)}
    right = {"k": random.integers(0, 3000, 4000) * spread, "x": random.random(4000)}
    ours = hr.DataFrame(left).merge(hr.DataFrame(right), on="k", how=how, indicator=True)
    theirs = pd.DataFrame(left).merge(pd.DataFrame(right), on="k", how=how, indicator=True)
    assert ours.columns == list(theirs.columns)
    frame = pd.DataFrame({name: ours[name].to_numpy() for name in ["k", "x_x", "x_y"]})
    frame["_merge"] = ours["_merge"].to_list()
    theirs["_merge"] = theirs["_merge"].astype(str)
    pd.testing.assert_frame_equal(frame, theirs, check_dtype=False)


@pytest.mark.parametrize("how", ["left", "right", "outer", "inner"])
@pytest.mark.parametrize("sort", [False, True])
@pytest.mark.parametrize(
    "keys", [("k", "k"), ("j", "m"), ("a", "k"), (["k", "j"], ["k", "m"])], ids=str
)
def test_rows_come_in_the_order_of_pandas(how: str, sort: bool, keys: Any) -> None:
    left = {"k": [3, 1, 2, None, 1], "j": ["b", "a", "b", "c", "a"], "a": [1, 2, 3, 4, 5]}
    right = {"k": [2, 5, 0, 1, None], "m": ["b", "z", "a", "a", "q"], "b": [1, 2, 3, 4, 5]}
    ours, theirs = (
        lib.DataFrame(left).merge(
            lib.DataFrame(right), how, left_on=keys[0], right_on=keys[1], sort=sort
        )
        for lib in (hr, pd)
    )
    pd.testing.assert_frame_equal(ours.to_pandas(), theirs, check_dtype=False)


def test_other_names_suffixes_and_cross() -> None:
    left = hr.DataFrame({"id": [1, 2, 3], "v": [10, 20, 30]})
    right = hr.DataFrame({"key": [3, 1, 1], "v": [7, 8, 9]})
    merged = left.merge(right, left_on="id", right_on="key", suffixes=(None, "_r"))
    assert merged.to_dict() == {
        "id": [1, 1, 3],
        "v": [10, 10, 30],
        "key": [1, 1, 3],
        "v_r": [8, 9, 7],
    }
    crossed = left[["id"]].merge(right[["key"]], how="cross")
    assert crossed.to_dict() == {
        "id": [1, 1, 1, 2, 2, 2, 3, 3, 3],
        "key": [3, 1, 1, 3, 1, 1, 3, 1, 1],
    }
    by_series = left.merge(right, left_on=left.id + 2, right_on=right.key)
    assert by_series.id.to_list() == [1]


def test_categories_of_different_dictionaries_match_by_text() -> None:
    left = hr.DataFrame({"k": hr.Series(["b", "a", "c"], dtype="category"), "x": [1, 2, 3]})
    right = hr.DataFrame({"k": hr.Series(["a", "b"], dtype="category"), "y": [5, 6]})
    merged = left.merge(right, on="k", how="left")
    assert merged.k.to_list() == ["b", "a", "c"] and merged.y.to_list() == [6, 5, None]


@pytest.mark.parametrize("how", ["inner", "left", "right", "outer", "semi", "anti"])
def test_categories_match_texts(how: Any) -> None:
    texts = hr.DataFrame({"k": ["b", None, "c", "b"], "x": [1, 2, 3, 4]})
    others = hr.DataFrame({"k": ["a", "b", None], "y": [5, 6, 7]})
    wanted = texts.merge(others, on="k", how=how)
    by_code = [frame.assign(k=frame.k.astype("category")) for frame in (texts, others)]
    for left, right in ((by_code[0], others), (texts, by_code[1])):
        merged = left.merge(right, on="k", how=how)
        assert merged.k.dtype == "string"
        assert merged.to_dict() == wanted.to_dict()
        named = left.merge(right.rename(columns={"k": "q"}), left_on="k", right_on="q", how=how)
        assert named.k.dtype == left.k.dtype
        assert named.x.to_list() == wanted.x.to_list()
    both = hr.concat([by_code[0][["k"]], others[["k"]]])
    assert (both.k.dtype, both.k.to_list()) == ("string", ["b", None, "c", "b", "a", "b", None])


def test_only_wanted_columns_are_read_and_rows_matched_once() -> None:
    left = hr.DataFrame({"k": [1, 2], "x": [1.0, 2.0]})
    right = hr.DataFrame({"k": [2, 1], "y": [3.0, 4.0], "z": [5.0, 6.0]})
    merged = left.merge(right.assign(z=right.z * 2), on="k")
    assert "multiply" not in merged[["y"]].explain()
    assert merged.y.to_list() == [4.0, 3.0] and merged.z.to_list() == [12.0, 10.0]


def test_a_unique_side_leaves_the_left_columns_where_they_are() -> None:
    left = hr.DataFrame({"k": np.arange(1000) % 7, "x": np.arange(1000.0)})
    right = hr.DataFrame({"k": np.arange(7), "y": np.arange(7) * 10})
    hr.memory.ledger().clear()
    merged = left.merge(right, on="k", validate="m:1")
    x = left.x.to_numpy()
    assert merged.x.to_numpy().__array_interface__["data"] == x.__array_interface__["data"]
    assert hr.memory.ledger().total_bytes == 0


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"on": "z"}, "no such column"),
        ({"on": "k", "left_on": "k"}, "pass one or the other"),
        ({"left_on": "k"}, "passed together"),
        ({"left_on": ["k", "x"], "right_on": "k"}, "left=2, right=1"),
        ({"on": "k", "how": "inside"}, "how='inside'"),
        ({"on": "k", "how": "cross"}, "takes no keys"),
        ({"on": "k", "validate": "1:x"}, "validate='1:x'"),
        ({"left_on": "k", "right_on": "s"}, "left='int64', right='string'"),
        ({"on": "k", "suffixes": ("", "")}, "name='x'"),
        ({"left_on": 3, "right_on": "k"}, "left_on='int'"),
    ],
)
def test_bad_input_is_named(options: dict[str, Any], text: str) -> None:
    left = hr.DataFrame({"k": [1, 2], "x": [1, 2]})
    right = hr.DataFrame({"k": [1, 1], "x": [3, 4], "s": ["a", "b"]})
    with pytest.raises(hr.Error) as caught:
        left.merge(right, **options)
    assert text in str(caught.value)
    assert left.merge(right, on="k").x_y.to_list() == [3, 4]


def test_validate_names_side_and_rows() -> None:
    left = hr.DataFrame({"k": [1, 2], "x": [1, 2]})
    right = hr.DataFrame({"k": [5, 1, 1], "y": [3, 4, 5]})
    with pytest.raises(hr.InvalidArgumentError, match="side='right', row=1, same_key_at=2"):
        left.merge(right, on="k", validate="1:1").y.to_list()
    with pytest.raises(hr.InvalidArgumentError, match="side='left', row=1"):
        right.merge(left, on="k", how="right", validate="1:m").y.to_list()
    assert right.merge(left, on="k", validate="m:1").x.to_list() == [1, 1]
