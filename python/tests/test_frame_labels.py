# SPDX-License-Identifier: Apache-2.0
"""Labels of rows: set_index, reset_index, loc, iloc, sort_index, against pandas."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import headrace as hr

DATA = {"id": ["b", "a", "c", "a"], "k": [1, 2, 1, 2], "x": [1.0, 2.0, 3.0, 4.0]}
LABELS = st.lists(st.sampled_from("abcde"), min_size=1, max_size=30)


def both(labels: Any = "id") -> tuple[hr.DataFrame, pd.DataFrame]:
    return hr.DataFrame(DATA).set_index(labels), pd.DataFrame(DATA).set_index(labels)


def same(ours: hr.DataFrame, theirs: pd.DataFrame) -> None:
    """Equal values and labels."""
    plain = pd.DataFrame(ours.to_dict(), ours.to_pandas().index, ours.columns)
    pd.testing.assert_frame_equal(
        plain, theirs, check_dtype=False, check_index_type=False, check_names=False
    )


def test_an_index_is_set_by_position_also_on_filtered_rows() -> None:
    rows = hr.DataFrame({"x": [1, 2, 3]}, index=hr.date_range("2024-01-31", periods=3))
    kept = rows[rows.x > 1]
    kept["month"], kept["day"] = kept.index.month, rows.index[:2].day
    assert kept.to_dict() == {"x": [2, 3], "month": [2, 2], "day": [31, 1]}
    with pytest.raises(hr.InvalidArgumentError, match="column='index', rows=3, frame_rows=2"):
        kept["other"] = rows.index


def test_labels_are_no_columns() -> None:
    ours, theirs = both()
    same(ours, theirs)
    assert ours.columns == ["k", "x"] and ours.index.to_list() == theirs.index.tolist()
    assert ours.reset_index().columns == ["id", "k", "x"]
    assert ours.reset_index(drop=True).columns == ["k", "x"]
    assert hr.DataFrame(DATA).index.to_list() == [0, 1, 2, 3]
    two, wanted = both(["k", "id"])
    same(two, wanted)
    assert two.index.to_list() == list(zip(DATA["k"], DATA["id"], strict=True))
    assert two.index.names == ["k", "id"] and two.index[0] == wanted.index[0]
    same(hr.DataFrame(DATA).set_index("id").set_index("k", append=True), wanted.swaplevel())
    made = hr.DataFrame({"x": [1, 2]}).set_index(hr.Series(["p", "q"], name="w"))
    assert made.loc["q", "x"] == 2


@given(LABELS, st.data())
def test_loc_is_that_of_pandas(labels: list[str], data: Any) -> None:
    columns = {"id": labels, "x": list(range(len(labels))), "y": [0.5 * i for i in labels * 0] or 1}
    ours = hr.DataFrame(columns).set_index("id")
    theirs = pd.DataFrame(columns).set_index("id")
    one = data.draw(st.sampled_from(labels))
    got, expected = ours.loc[one], theirs.loc[one]
    if isinstance(expected, pd.Series):
        assert got.to_dict() == expected.to_dict()
        assert ours.loc[one, "x"] == theirs.loc[one, "x"] == ours.x.loc[one]
    else:
        same(got, expected)
        assert ours.loc[one, "x"].to_list() == theirs.loc[one, "x"].tolist()
    several = data.draw(st.lists(st.sampled_from(labels), max_size=5))
    same(ours.loc[several], theirs.loc[several])
    assert ours.x.loc[several].to_list() == theirs.x.loc[several].tolist()
    assert ours.loc[ours.x > 2, "x"].to_list() == theirs.loc[theirs.x > 2, "x"].tolist()
    ordered, wanted = ours.sort_index(), theirs.sort_index(kind="stable")
    same(ordered, wanted)
    low, high = sorted(data.draw(st.tuples(st.sampled_from("abcde"), st.sampled_from("abcde"))))
    same(ordered.loc[low:high], wanted.loc[low:high])
    same(ordered.loc[low:], wanted.loc[low:])


def test_several_labels() -> None:
    ours, theirs = both(["k", "id"])
    assert ours.loc[(1, "c")].x == theirs.loc[(1, "c"), "x"] == ours.loc[(1, "c"), "x"]
    assert ours.x.loc[1, "c"] == 3.0
    assert ours.loc[2].x.to_list() == theirs.loc[2].x.tolist() == ours.x.loc[2].to_list()
    assert ours.loc[(2, "a")].x.to_list() == [2.0, 4.0]
    wanted = [(1, "c"), (1, "b")]
    same(ours.loc[wanted], theirs.loc[wanted])
    same(ours.sort_index(ascending=[False, True]), theirs.sort_index(ascending=[False, True]))


def test_rows_without_labels_are_labelled_by_position() -> None:
    ours, theirs = hr.DataFrame(DATA), pd.DataFrame(DATA)
    same(ours.loc[1:2], theirs.loc[1:2])
    same(ours.loc[[3, 0]].reset_index(), theirs.loc[[3, 0]].reset_index())
    assert ours.loc[2].to_dict() == theirs.loc[2].to_dict()
    same(ours.loc[:, "k":"x"], theirs.loc[:, "k":"x"])
    same(
        ours.loc[ours.k == 1, ["x"]].reset_index(),
        theirs.loc[theirs.k == 1, ["x"]].reset_index(),
    )
    same(ours.loc[lambda d: d.x > 3].reset_index(), theirs[theirs.x > 3].reset_index())
    assert ours.x.loc[3] == 4.0 and ours.x.loc[1:2].to_list() == [2.0, 3.0]


@pytest.mark.parametrize(
    "pick",
    [
        lambda d: d.iloc[1:3],
        lambda d: d.iloc[[2, 0, -1]],
        lambda d: d.iloc[:, 0:2],
        lambda d: d.iloc[1:, [1]],
        lambda d: d.iloc[[]],
        lambda d: d.iloc[[True, False, True, False]],
        lambda d: d.iloc[-2:],
    ],
)
def test_iloc_is_that_of_pandas(pick: Any) -> None:
    ours, theirs = hr.DataFrame(DATA), pd.DataFrame(DATA)
    same(pick(ours), pick(theirs))


def test_iloc_of_one() -> None:
    ours, theirs = hr.DataFrame(DATA), pd.DataFrame(DATA)
    assert ours.iloc[-1].to_dict() == theirs.iloc[-1].to_dict()
    assert ours.iloc[1, 2] == 2.0 and ours.iloc[:, -1].to_list() == DATA["x"]
    assert ours.x.iloc[0] == 1.0 and ours.x.iloc[1:].to_list() == [2.0, 3.0, 4.0]
    row = ours.iloc[0]
    assert row.id == row["id"] == "b" and list(row.keys()) == ours.columns and "x=1.0" in repr(row)
    for wrong in (lambda: ours.iloc[4], lambda: ours.iloc[[0, 4]], lambda: ours.iloc[0, 3]):
        with pytest.raises(IndexError):
            wrong()
    with pytest.raises(hr.TypeMismatchError):
        ours.iloc[[0.5]]
    with pytest.raises(hr.ColumnNotFoundError):
        row["y"]


def test_values_of_some_rows_are_set() -> None:
    for change in (
        lambda d: d.loc.__setitem__((d.x > 2, "k"), 9),
        lambda d: d.loc.__setitem__((d.x > 2, "k"), d.x * 2),
        lambda d: d.loc.__setitem__((d.x > 2, ["k", "x"]), 0),
        lambda d: d.loc.__setitem__((slice(None), "k"), 7),
        lambda d: d.loc.__setitem__((d.k == 1, "new"), 5.0),
        lambda d: d.loc.__setitem__((d.k == 1, "x"), None),
    ):
        ours, theirs = hr.DataFrame(DATA), pd.DataFrame(DATA)
        change(ours)
        change(theirs)
        same(ours, theirs)
    for key in ("a", ["c", "b"]):
        ours, theirs = both()
        ours.loc[key, "x"] = -1.0
        theirs.loc[key, "x"] = -1.0
        same(ours, theirs)
    ours.loc["z", "x"] = 1
    assert ours.index.to_list()[-1] == "z" and ours.x.to_list()[-1] == 1


def test_labels_stay_through_operations() -> None:
    ours, theirs = both()
    for work in (
        lambda d: d[d.x > 1],
        lambda d: d[["x"]],
        lambda d: d.head(2),
        lambda d: d.tail(2),
        lambda d: d[1:3],
        lambda d: d.sort_values("x", ascending=False),
        lambda d: d.nlargest(2, "x"),
        lambda d: d.assign(y=d.x * 2),
        lambda d: d.drop(columns=["k"]),
        lambda d: d.rename(columns={"k": "q"}),
        lambda d: d.query("x > 1"),
        lambda d: d.fillna(0).astype("float64"),
        lambda d: d[["x"]][d.x > 1].sort_values("x").head(3),
        lambda d: d.copy(),
        lambda d: pickle.loads(pickle.dumps(d)),
        lambda d: pickle.loads(pickle.dumps(d[["x"]])),
        lambda d: copy.copy(d),
    ):
        same(work(ours), work(theirs))
    turned = theirs[["x"]].sort_index(ascending=False, kind="stable")
    same(ours[["x"]].sort_index(ascending=False), turned)
    assert ours.sum().to_dict() == {"k": 6, "x": 10.0}
    assert ours.to_numpy().tolist() == theirs.to_numpy().tolist()
    assert ours.describe().columns == ["k", "x"]
    assert ours[["x"]].reset_index().to_dict() == {"id": DATA["id"], "x": DATA["x"]}
    assert ours.merge(hr.DataFrame({"k": [1]}), on="k").index.to_list() == [0, 1]
    same(hr.concat([ours, ours]), pd.concat([theirs, theirs]))
    ours.index = ours.index + "!"
    assert ours.loc["c!", "x"] == 3.0 and ours.index.name == "id"


def test_series_of_a_labelled_frame() -> None:
    ours, theirs = both()
    for work in (
        lambda s: s,
        lambda s: s * 2 + 1,
        lambda s: s[s > 1],
        lambda s: s.head(2),
        lambda s: s.tail(1),
        lambda s: s[1:3],
        lambda s: s.sort_values(ascending=False),
        lambda s: s.nlargest(2),
        lambda s: s.nsmallest(2),
        lambda s: s.cumsum(),
        lambda s: s.shift().fillna(0),
        lambda s: s.rank(),
        lambda s: s.map(lambda v: v + 1),
        lambda s: s.isin([1.0]),
    ):
        got, expected = work(ours.x), work(theirs.x)
        pd.testing.assert_series_equal(
            got.to_pandas(), expected, check_dtype=False, check_index_type=False
        )
    assert ours.x["c"] == 3.0 and ours.x[0] == 1.0
    assert dict(ours.x.iloc[:2].items()) == {"b": 1.0, "a": 2.0}
    assert ours.x.sort_index().index.to_list() == ["a", "a", "b", "c"]
    assert pickle.loads(pickle.dumps(ours.x)).loc["b"] == 1.0
    assert ours.x.reset_index(drop=True).loc[0] == 1.0
    assert hr.Series([3, 1], name="s").to_frame().to_dict() == {"s": [3, 1]}


def test_groups_are_labelled_by_their_keys() -> None:
    ours, theirs = hr.DataFrame(DATA), pd.DataFrame(DATA)
    same(ours.groupby("id").agg({"x": "sum"}), theirs.groupby("id").agg({"x": "sum"}))
    sums = ours.groupby("id").x.sum()
    assert sums.loc["a"] == sums["a"] == 6.0 and (sums / sums.sum()).loc["a"] == 0.6
    assert sums.sort_values(ascending=False).to_dict() == {"a": 6.0, "c": 3.0, "b": 1.0}
    assert ours.groupby(["id", "k"]).x.sum().loc["a", 2] == 6.0
    assert ours.groupby("id").sum().mean().index.to_list() == ["k", "x"]
    assert ours.id.map(sums).to_list() == theirs.id.map(theirs.groupby("id").x.sum()).tolist()


def test_as_index_false() -> None:
    ours, theirs = hr.DataFrame(DATA), pd.DataFrame(DATA)
    for work in (
        lambda g: g.x.sum(),
        lambda g: g[["x"]].mean(),
        lambda g: g.size(),
        lambda g: g.agg({"x": "max"}),
        lambda g: g.agg(t=("x", "sum")),
    ):
        same(work(ours.groupby("id", as_index=False)), work(theirs.groupby("id", as_index=False)))


@pytest.mark.parametrize(
    "wrong",
    [
        lambda d: d.loc["z"],
        lambda d: d.loc[["a", "z"]],
        lambda d: d.loc["a", "nope"],
        lambda d: d.set_index("nope"),
        lambda d: d.reset_index().loc[4],
        lambda d: d.reset_index().loc[[0, 4]],
        lambda d: d.x.loc["z"],
        lambda d: d.columns.drop("nope"),
        lambda d: d.columns.get_loc("nope"),
    ],
)
def test_what_is_not_there_is_a_key_error(wrong: Any) -> None:
    with pytest.raises(KeyError) as error:
        wrong(both()[0])
    assert isinstance(error.value, hr.Error)


def test_other_wrong_keys_say_so() -> None:
    ours = both(["k", "id"])[0]
    for wrong in (
        lambda: ours.loc[(1, "a", 3)],
        lambda: ours.loc[[(1,)]],
        lambda: hr.DataFrame(DATA).loc[0, "x", 1],
        lambda: hr.DataFrame(DATA).loc[:, [True]],
        lambda: hr.DataFrame(DATA).loc[:, hr.DataFrame(DATA)[["x"]].isna().any()],
        lambda: ours.set_index([]),
    ):
        with pytest.raises(hr.InvalidArgumentError):
            wrong()


def test_missing_labels_are_found() -> None:
    ours = hr.DataFrame({"id": ["a", None], "x": [1, 2]}).set_index("id")
    assert ours.loc[None, "x"] == 2
    assert hr.DataFrame({"id": [1.0, np.nan], "x": [1, 2]}).set_index("id").loc[np.nan, "x"] == 2


def test_nothing_runs_before_somebody_looks() -> None:
    frame = hr.DataFrame({"id": np.arange(10), "x": np.arange(10) * 2.0})
    labelled = frame[frame.x > 3].set_index("id").sort_index()
    assert not next(iter(labelled._nodes.values())).is_ready
    assert labelled.loc[4:6].x.to_list() == [8.0, 10.0, 12.0]


def test_scikit_learn_splits_frames() -> None:
    split = pytest.importorskip("sklearn.model_selection").train_test_split
    theirs = pd.DataFrame({"x": np.arange(20), "t": list("abcde" * 4)})
    ours = hr.from_pandas(theirs)
    parts = zip(
        split(ours, ours["x"], test_size=0.25, random_state=3),
        split(theirs, theirs["x"], test_size=0.25, random_state=3),
        strict=True,
    )
    for mine, other in parts:
        same(mine, other) if mine.ndim == 2 else None
        assert mine.shape == other.shape and (mine.ndim == 2 or mine.to_list() == other.tolist())


def _relabelled(words: Callable[[Any], Any]) -> Callable[[Any, Any], Any]:
    def change(module: Any, rows: Any) -> Any:
        rows = rows[rows.a > 1]
        rows.index = words((module, rows))
        return rows

    return change


RELABELLED = {
    "list": _relabelled(lambda to: ["p", "q"]),
    "column": _relabelled(lambda to: to[1].b),
    "numbers": _relabelled(lambda to: to[1].index + 10),
    "computed": _relabelled(lambda to: to[1].a - 1),
    "times": _relabelled(lambda to: to[0].to_datetime(["2024-01-01", "2024-01-02"])),
    "index": _relabelled(lambda to: to[0].Index(to[1].b.values, name="k")),
    "function": _relabelled(lambda to: to[1].index.map(lambda i: f"r{i}")),
    "strings": _relabelled(lambda to: to[1].index.astype(str)),
    "range": _relabelled(lambda to: pd.RangeIndex(2)),
    "named numbers": lambda module, rows: rows[rows.a > 1].rename_axis("r"),
    "unnamed": lambda module, rows: rows.set_index("b").rename_axis(None),
    "of columns": lambda module, rows: rows.set_index("b").rename_axis(columns="c"),
    "named rows": lambda module, rows: rows.rename_axis(index=["r"]),
}


@pytest.mark.parametrize("name", RELABELLED)
def test_filtered_rows_take_labels(name: str) -> None:
    data = {"a": [1, 2, 3], "b": ["x", "y", "z"]}
    ours = RELABELLED[name](hr, hr.DataFrame(data))
    theirs = RELABELLED[name](pd, pd.DataFrame(data))
    assert ours.index.names == list(theirs.index.names)
    assert ours.index.tolist() == theirs.index.tolist()
    assert ours.to_dict("list") == theirs.to_dict("list")


def test_where_and_select_of_numpy_give_no_name() -> None:
    rows = hr.DataFrame({"a": [1, 2, 3], "k": ["x", "y", "z"]})
    for each in (rows.a, rows[rows.a > 0].a, rows.set_index("k").a):
        assert np.where(each > 2, 1, each).name is None
        assert np.select([each > 2], [each], 0).name is None
        assert np.where(each > 2, 1, each).to_list() == [1, 2, 1]


def test_rows_picked_of_a_slice_keep_their_numbers() -> None:
    for data in ([1, 2, 3], [5, 1, None, 7, 2]):
        for part in (slice(1, None), slice(None, -1), slice(None, None, 2), slice(0, 0)):
            ours, theirs = hr.Series(data)[part], pd.Series(data)[part]
            assert list(ours[ours > 1].index) == list(theirs[theirs > 1].index)
            assert list(ours[ours > 1][1:].index) == list(theirs[theirs > 1][1:].index)
    frame = hr.DataFrame({"a": [3, 1, 2]})[1:]
    assert list(frame[frame.a > 1].index) == [2]
