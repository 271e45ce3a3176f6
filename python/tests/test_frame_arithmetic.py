# SPDX-License-Identifier: Apache-2.0
"""Arithmetic, comparison and choice on whole frames, against pandas."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import headrace as hr

FLOATS = st.one_of(st.none(), st.sampled_from([0.0, 1.0, -2.5, 1e6, float("nan")]))
BINARY = [
    *(operator.add, operator.sub, operator.mul, operator.truediv),
    *(operator.eq, operator.ne, operator.lt, operator.le, operator.gt, operator.ge),
]


def lists(frame: Any) -> dict[str, list[Any]]:
    """Columns without NaN; of comparisons with a null false, as pandas has it."""
    data = frame.to_dict() if isinstance(frame, hr.DataFrame) else frame.to_dict("list")
    return {n: [None if v is None or v != v else v for v in each] for n, each in data.items()}


@given(
    st.lists(st.tuples(FLOATS, FLOATS), min_size=1, max_size=70),
    st.sampled_from(BINARY),
    st.sampled_from([2, -1.5, "mean", "self"]),
    st.booleans(),
)
def test_operators_are_those_of_pandas(
    rows: list[Any], function: Any, other: Any, turned: bool
) -> None:
    data = {"a": [a for a, _ in rows], "b": [b for _, b in rows]}
    ours = hr.DataFrame({n: hr.Series(v, dtype="float64") for n, v in data.items()})
    theirs = pd.DataFrame(data, dtype="float64")
    sides = [(ours, ours.mean(), ours), (theirs, theirs.mean(), theirs)]
    made = []
    for frame, mean, same in sides:
        right = {"mean": mean, "self": same}.get(other, other)
        made.append(
            function(frame, right) if not turned or other == "mean" else function(right, frame)
        )
    missing = {n: (theirs[n].isna() | (other == "mean" and theirs[n].isna().all())) for n in data}
    got, wanted = lists(made[0]), lists(made[1])
    for name in data:
        for row, (a, b) in enumerate(zip(got[name], wanted[name], strict=True)):
            if isinstance(b, bool) and a is None:
                assert missing[name][row]  # null compares to null, NaN to false or true
            else:
                assert a == b or a == pytest.approx(b), (name, row)


def test_labels_and_texts_stay() -> None:
    df = hr.DataFrame({"id": ["u", "v"], "a": [1, 5], "b": [2.0, 8.0]}).set_index("id")
    assert (df * 2).to_dict() == {"a": [2, 10], "b": [4.0, 16.0]}
    assert (df * 2).a.loc["v"] == 10
    assert (10 - df).a.to_list() == [9, 5]
    assert (df - df.mean()).to_dict() == {"a": [-2.0, 2.0], "b": [-3.0, 3.0]}
    assert (-df).b.to_list() == [-2.0, -8.0]
    assert abs(-df).b.to_list() == [2.0, 8.0]
    assert (df / {"a": 2, "b": 4}).to_dict()["b"] == [0.5, 2.0]
    assert df.mul(df.a, axis=0).b.to_list() == [2.0, 40.0]
    assert ((df > 1) & (df < 8)).to_dict() == {
        "a": [False, True],
        "b": [True, False],
    }
    assert (~(df > 1)).a.to_list() == [True, False]
    assert np.sqrt(df).a.to_list() == [1.0, 5**0.5]
    assert np.add(df, 1).a.to_list() == [2, 6]
    assert (np.float64(2) * df).b.to_list() == [4.0, 16.0]


def test_choices() -> None:
    df = hr.DataFrame({"a": [1, -2, 3], "b": [-3.0, None, 4.0]})
    assert df.where(df > 0, 0).to_dict() == {"a": [1, 0, 3], "b": [0.0, 0.0, 4.0]}
    assert df[df > 0].a.to_list() == [1, None, 3]
    assert df.mask(df > 0, 9).a.to_list() == [9, -2, 9]
    assert df.where(df.a > 0).a.to_list() == [1, None, 3]
    assert df.clip(0, 2).to_dict() == {"a": [1, 0, 2], "b": [0.0, None, 2.0]}
    assert df.clip(upper={"a": 1, "b": 3}).to_dict() == {"a": [1, -2, 1], "b": [-3.0, None, 3.0]}
    assert df.fillna({"b": 7.5}).b.to_list() == [-3.0, 7.5, 4.0]
    assert df.fillna(df.max()).b.to_list() == [-3.0, 4.0, 4.0]
    assert df.isin([3, 4.0]).to_dict() == {"a": [False, False, True], "b": [False, False, True]}
    assert df.notna().b.to_list() == [True, False, True]
    assert df.replace(3, 5).a.to_list() == [1, -2, 5]
    assert hr.DataFrame({"s": ["x", "y"], "n": [1, 2]}).replace("x", "z").to_dict() == {
        "s": ["z", "y"],
        "n": [1, 2],
    }
    assert hr.DataFrame({"x": [1.25, 2.75], "s": ["u", "v"]}).round(1).x.to_list() == [1.2, 2.8]


def test_rows_beside_others() -> None:
    df = hr.DataFrame({"a": [3, 1, 2], "b": [1.0, 2.0, 4.0]})
    theirs = pd.DataFrame({"a": [3, 1, 2], "b": [1.0, 2.0, 4.0]})
    for name in ("shift", "diff", "rank", "cumsum", "cumprod", "cummin", "cummax"):
        assert lists(getattr(df, name)()) == lists(getattr(theirs, name)()), name


def test_errors_name_the_fix() -> None:
    df = hr.DataFrame({"a": [1, 2], "b": [3, 4]})
    with pytest.raises(hr.InvalidArgumentError, match=r"different columns.*select the shared"):
        df + df[["a"]]
    with pytest.raises(hr.TypeMismatchError, match=r"df\.sub\(series, axis=0\)"):
        df - df.a
    with pytest.raises(hr.InvalidArgumentError, match="expected=2, got=3"):
        df * [1, 2, 3]
    with pytest.raises(hr.InvalidArgumentError, match=r"merge or join|lengths"):
        df + hr.DataFrame({"a": [1, 2, 3], "b": [3, 4, 5]})
    with pytest.raises(TypeError):
        hash(df)
