# SPDX-License-Identifier: Apache-2.0
"""Quantiles of columns, groups and rows, between two values as pandas takes them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import headrace as hr

BETWEEN = ["linear", "lower", "higher", "midpoint", "nearest"]
LEVELS = st.sampled_from([0, 0.1, 0.25, 1 / 3, 0.5, 0.75, 0.9, 1])
FLOATS = st.one_of(st.none(), st.just(float("nan")), st.integers(-40, 40).map(lambda i: i / 8))
ROWS = st.lists(
    st.tuples(st.sampled_from(["b", "a", None]), FLOATS, st.integers(-9, 9)), max_size=40
)


def plain(values: Any) -> list[Any]:
    """Values with None for what is missing."""
    return [None if v is None or v != v else v for v in values]


def nearly(ours: Any, theirs: pd.Series, between: str) -> bool:
    """Equal; times between two may be cut to neighbours, for they are rounded elsewhere."""
    if between != "linear":
        return np.array_equal(ours, theirs.to_numpy())
    off = ours.astype("float64") - theirs.to_numpy().astype("float64")
    return bool((np.abs(off) < (1.5 if theirs.dtype.kind == "M" else 1e-9)).all())


def both(rows: list[Any]) -> tuple[hr.DataFrame, pd.DataFrame]:
    columns = {
        "k": np.array([k for k, _, _ in rows], object),
        "x": np.array([np.nan if x is None else x for _, x, _ in rows]),
        "i": np.array([i for _, _, i in rows], np.int64),
        "t": np.array([i * 86_400 + 7 for _, _, i in rows], np.int64).view("M8[s]"),
    }
    ours = {**columns, "k": hr.Series([k for k, _, _ in rows], dtype="string")}
    return hr.DataFrame(ours), pd.DataFrame(columns)


@given(ROWS, st.lists(LEVELS, min_size=1, max_size=3), st.sampled_from(BETWEEN))
def test_quantiles_of_columns(rows: list[Any], levels: list[float], between: str) -> None:
    ours, theirs = both(rows)
    got = ours.x.quantile(levels, interpolation=between)
    assert plain(got.tolist()) == pytest.approx(plain(theirs.x.quantile(levels, between)))
    if not rows:
        return
    for name in ("i", "t"):
        found = ours[name].quantile(levels, between)
        wanted = theirs[name].quantile(levels, between)
        assert found.dtype == str(wanted.dtype)
        assert nearly(np.asarray(found), wanted, between)
        assert ours[name].quantile(levels[0], between) == found[0]
    columns = ours[["x", "i", "t"]].quantile(levels, interpolation=between)
    assert columns.columns == ["x", "i", "t"]
    wanted = theirs[["x", "i", "t"]].quantile(levels, interpolation=between)
    assert columns.i.to_list() == wanted.i.to_list()
    assert nearly(columns.t.to_numpy(), wanted.t, between)


@given(
    ROWS, st.lists(LEVELS, min_size=1, max_size=3, unique=True), st.sampled_from(BETWEEN), st.data()
)
def test_quantiles_of_groups(
    rows: list[Any], levels: list[float], between: str, data: st.DataObject
) -> None:
    ours, theirs = both(rows)
    options = {"sort": data.draw(st.booleans()), "dropna": data.draw(st.booleans())}
    if not options["dropna"] and not options["sort"]:
        options["sort"] = True
    groups, others = ours.groupby("k", **options), theirs.groupby("k", **options)
    one = groups[["x", "i", "t"]].quantile(levels[0], interpolation=between)
    wanted = others[["x", "i", "t"]].quantile(levels[0], interpolation=between)
    assert one.index.to_list() == plain(wanted.index)
    assert plain(one.x.to_list()) == pytest.approx(plain(wanted.x))
    assert one.i.to_list() == wanted.i.to_list()
    assert nearly(one.t.to_numpy(), wanted.t, between)
    if not rows or ours.k.isna().all():
        return
    several = groups.x.quantile(levels, interpolation=between).reset_index()
    found = others.x.quantile(levels, interpolation=between).reset_index()
    assert several.columns == list(found.columns) == ["k", "level_1", "x"]
    assert several.level_1.to_list() == found.level_1.to_list()
    assert several.k.to_list() == plain(found.k)
    assert plain(several.x.to_list()) == pytest.approx(plain(found.x))


def test_several_quantiles_of_groups_are_labelled() -> None:
    df = hr.DataFrame({"k": [2, 1, 2], "j": [0, 0, 0], "level_1": [1.0, 5.0, 3.0]})
    found = df.groupby(["k", "j"]).level_1.quantile([0.5, 1])
    assert found.to_dict() == {
        (1, 0, 0.5): 5.0,
        (1, 0, 1.0): 5.0,
        (2, 0, 0.5): 2.0,
        (2, 0, 1.0): 3.0,
    }
    frame = df.groupby("k").quantile([0.5])
    assert frame.columns == ["j", "level_1"]
    assert frame.index.get_level_values(1).to_list() == [0.5, 0.5]
    assert df[:0].groupby("k").level_1.quantile([0.5, 1]).to_list() == []


@given(
    st.lists(st.tuples(*[FLOATS] * 4, st.integers(-9, 9)), max_size=70),
    LEVELS,
    st.sampled_from(BETWEEN),
)
def test_quantiles_of_rows(rows: list[Any], level: float, between: str) -> None:
    floats = np.array([[np.nan if v is None else v for v in row[:4]] for row in rows])
    columns: dict[str, Any] = dict(zip("abcd", floats.reshape(-1, 4).T.copy(), strict=True))
    theirs = pd.DataFrame(columns)
    ours = hr.DataFrame(
        {
            name: hr.Series([row[i] for row in rows], dtype="float64")
            for i, name in enumerate("abcd")
        }
    )
    got = ours.quantile(level, axis=1, interpolation=between).to_list()
    wanted = theirs.quantile(level, axis=1, interpolation=between) if rows else []
    assert plain(got) == pytest.approx(plain(wanted))
    assert plain(ours.median(axis=1).to_list()) == pytest.approx(plain(theirs.median(axis=1)))
    whole = ours.assign(i=hr.Series([row[4] for row in rows], dtype="int32"))
    theirs = theirs.assign(i=[row[4] for row in rows])
    assert (
        whole[whole.i > 0].median(axis=1).to_list() == theirs[theirs.i > 0].median(axis=1).to_list()
    )


def test_medians_of_rows_of_labelled_and_equal_columns() -> None:
    df = hr.DataFrame({"id": ["u", "v"], "a": [1, 2], "b": [True, False]}).set_index("id")
    assert df.median(axis=1).to_dict() == {"u": 1.0, "v": 1.0}
    twice = hr.Series([1.0, None])
    assert hr.DataFrame({"a": twice, "b": twice}).median(axis=1).to_list() == [1.0, None]


def test_quantiles_that_are_none() -> None:
    df = hr.DataFrame({"k": [1, 1], "x": [1, 2]})
    for make in (df.x.quantile, df.quantile, df.groupby("k").x.quantile):
        with pytest.raises(hr.InvalidArgumentError, match=r"interpolation='?cubic.*midpoint"):
            make(0.5, interpolation="cubic")
        for q in (1.5, [0.5, -1]):
            with pytest.raises(hr.InvalidArgumentError, match=r"out of range: q=.* 0 to 1"):
                make(q, interpolation="lower")
    with pytest.raises(hr.InvalidArgumentError, match="there are no values"):
        df.x[:0].quantile(0.5, interpolation="lower").item()
    assert df.quantile([0.5], axis=1).to_numpy().tolist() == [[1.0, 1.5]]
    with pytest.raises(hr.InvalidArgumentError, match="out of range"):
        df.quantile(2, axis=1)
