# SPDX-License-Identifier: Apache-2.0
"""Filtered or sorted rows keep their numbers; what pandas would align by them is an error."""

from __future__ import annotations

import operator
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest

import headrace as hr

DATA = {"a": [3, 1, 2, 1], "b": [1, 2, 3, 4], "k": ["x", "y", "x", "y"]}
#: Operators that pick rows or put them in another order.
OTHER_ROWS: dict[str, Callable[[Any], Any]] = {
    "sort_values": lambda d: d.sort_values("a"),
    "sorted down": lambda d: d.sort_values("a", ascending=False),
    "reversed": lambda d: d[::-1],
    "slice": lambda d: d[1:],
    "tail": lambda d: d.tail(3),
    "head of sorted": lambda d: d.sort_values("b", ascending=False).head(4),
    "iloc list": lambda d: d.iloc[[3, 2, 1, 0]],
    "iloc slice": lambda d: d.iloc[1:],
    "take": lambda d: d.take([3, 2, 1, 0]),
    "mask": lambda d: d[d.a < 3],
    "query": lambda d: d.query("a < 3"),
    "loc mask": lambda d: d.loc[d.a < 3],
    "sample": lambda d: d.sample(4, random_state=0),
    "nlargest": lambda d: d.nlargest(4, "a"),
    "nsmallest": lambda d: d.nsmallest(4, "a"),
    "drop_duplicates": lambda d: d[1:].drop_duplicates("a"),
    "drop_duplicates last": lambda d: d.drop_duplicates("a", keep="last"),
    "drop": lambda d: d.drop(index=[0]),
    "dropna": lambda d: d.assign(c=[1.0, None, 2.0, 3.0]).dropna(),
    "group head": lambda d: d[1:].groupby("k").head(1),
    "group filter": lambda d: d.groupby("k").filter(lambda part: part.a.sum() < 5),
    "get_group": lambda d: d.groupby("k").get_group("y"),
}
SERIES: dict[str, Callable[[Any], Any]] = {
    "sort_values": lambda s: s.sort_values(),
    "reversed": lambda s: s[::-1],
    "mask": lambda s: s[s < 3],
    "slice": lambda s: s[1:],
    "tail": lambda s: s.tail(3),
    "list": lambda s: s.iloc[[3, 2, 1, 0]],
    "nlargest": lambda s: s.nlargest(4),
    "nsmallest": lambda s: s.nsmallest(4),
    "sample": lambda s: s.sample(4, random_state=0),
    "dropna": lambda s: s.where(s > 1).dropna(),
    "drop_duplicates": lambda s: s.drop_duplicates(),
    "head of sorted": lambda s: s.sort_values().head(4),
}
ERROR = pytest.raises(hr.InvalidArgumentError)


def frame() -> hr.DataFrame:
    return hr.DataFrame(DATA)


@pytest.mark.parametrize("name", OTHER_ROWS)
def test_rows_beside_others_are_an_error(name: str) -> None:
    df = frame()
    other = OTHER_ROWS[name](df)
    free = hr.Series([10, 20, 30, 40][: len(other)])
    for compute in (
        lambda: other.a - df.a,
        lambda: df.a * other.b,
        lambda: other.a + free,
        lambda: free > other.a,
        lambda: other.a.where(free > 10),
        lambda: np.where(free > 10, other.a, 0),
        lambda: other[free > 10],
        lambda: other.loc[free > 10],
        lambda: other.groupby(free),
        lambda: other.a.fillna(free),
        lambda: other.a.eq(free),
        lambda: other[["a"]].add(free, axis=0),
    ):
        with ERROR:
            compute()
    # columns are matched by row number
    theirs = OTHER_ROWS[name](pd.DataFrame(DATA))
    plain = pd.Series([10, 20, 30, 40][: len(theirs)])
    for ours, wanted in (
        (other.assign(c=free), theirs.assign(c=plain)),
        (df.assign(c=other.a), pd.DataFrame(DATA).assign(c=theirs.a)),
        (hr.DataFrame({"x": other.a, "y": free}), pd.DataFrame({"x": theirs.a, "y": plain})),
        (hr.DataFrame({"y": free, "x": other.a}), pd.DataFrame({"y": plain, "x": theirs.a})),
    ):
        pd.testing.assert_frame_equal(
            ours.to_pandas(), wanted, check_dtype=False, check_index_type=False
        )
    # rows of one frame, arrays, lists and single values go on
    assert (other.a - other.b).to_list() == [x - y for x, y in zip(other.a, other.b, strict=True)]
    assert (other.a + free.to_numpy()).to_list() == (other.a.to_numpy() + free.to_numpy()).tolist()
    assert other.assign(c=list(range(len(other)))).c.to_list() == list(range(len(other)))
    assert (other.a - other.a.mean()).sum().item() == pytest.approx(0)
    assert len(other[other.a > 1]) == sum(v > 1 for v in other.a)


@pytest.mark.parametrize("name", OTHER_ROWS)
def test_numbers_of_picked_rows_are_those_of_pandas(name: str) -> None:
    ours, theirs = OTHER_ROWS[name](frame()), OTHER_ROWS[name](pd.DataFrame(DATA))
    pd.testing.assert_frame_equal(
        ours.to_pandas(), theirs, check_dtype=False, check_index_type=False
    )
    label = theirs.index[-1]
    for look in (
        lambda d: d.loc[label].to_dict(),
        lambda d: d.loc[label, "a"],
        lambda d: d.at[label, "a"],
        lambda d: d.a.loc[label],
        lambda d: d.a[label],
        lambda d: (d.a * 2)[label],
        lambda d: d.index.tolist(),
        lambda d: d.a.index[0],
        lambda d: d.a.idxmax(),
        lambda d: d.sort_index().a.tolist(),
        lambda d: d.a.sort_index().tolist(),
        lambda d: d.drop(label).a.tolist(),
        lambda d: d.loc[[label]].b.tolist(),
        lambda d: d.loc[d.index[:2]].a.tolist(),
        lambda d: list(d.reset_index().columns),
        lambda d: d.a.to_dict(),
        lambda d: d[d.b > 1].sort_values("b").index.tolist(),
    ):
        assert look(ours) == look(theirs)
    # places, masks and slices
    assert ours.iloc[0].a == ours.a.to_list()[0] == ours.a.iloc[0] == ours.iat[0, 0]
    assert ours.loc[::2].a.to_list() == ours.a.to_list()[::2]
    assert ours.loc[:, "a"].to_list() == ours.a.to_list() == ours.loc[ours.index].a.to_list()
    assert ours.a[:2].to_list() == ours.a.to_list()[:2]
    numbered = ours.reset_index(drop=True)
    assert numbered.loc[0].a == numbered.a[0] == ours.a.iloc[0]
    assert (numbered.a - numbered.b).to_list() == (ours.a - ours.b).to_list()
    assert (numbered.a + hr.Series([0] * len(ours))).to_list() == ours.a.to_list()
    for frame_of_two in (ours, theirs):
        frame_of_two.loc[label, "a"] = 50
    assert ours.a.to_list() == theirs.a.tolist()


@pytest.mark.parametrize("name", SERIES)
def test_series_of_their_own(name: str) -> None:
    s = hr.Series([3, 1, 2, 1])
    other, theirs = SERIES[name](s), SERIES[name](pd.Series([3, 1, 2, 1]))
    pd.testing.assert_series_equal(
        other.to_pandas(), theirs, check_dtype=False, check_index_type=False
    )
    label = theirs.index[-1]
    assert other.loc[label] == other[label] == theirs[label]
    assert other.index.to_list() == theirs.index.tolist()
    for look in (lambda: other - s, lambda: s - other):
        with ERROR:
            look()
    assert other.iloc[0] == other.to_list()[0] == other.reset_index(drop=True)[0]
    assert (other / other.sum() * other.sum()).to_list() == pytest.approx(other.to_list())
    made = hr.DataFrame({"s": s, "t": other}).to_pandas()
    wanted = pd.DataFrame({"s": pd.Series([3, 1, 2, 1]), "t": theirs})
    pd.testing.assert_frame_equal(made, wanted, check_dtype=False, check_index_type=False)


def test_rows_with_equal_labels_go_together() -> None:
    results = []
    for lib in (hr, pd):
        df = lib.DataFrame(DATA)
        every, low, again = df[df.a > 0], df[df.a < 3], df[df.a <= 2]
        sums, counts = low.groupby("k").a.sum(), df.groupby("k").b.count()
        named, other = df.set_index("k"), df.sort_values("b").set_index("k")
        frame = low.assign(c=again.b, d=low.sort_values("a").a, e=df.a, f=1)
        frame["g"] = df[df.b > 1].sort_values("b", ascending=False).b
        df["part"] = again.b
        results.append(
            [
                *(every.a - df.b, low.a * again.b, low.a.where(again.b > 2), again[low.a > 1].a),
                *(named.a + other.b, (named[["a", "b"]] - other[["a", "b"]]).sum(axis=1)),
                *(named[["a"]].div(other.b, axis=0).a, named.groupby(other.b > 2).a.sum()),
                *(sums / counts[sums.index], low.groupby(again.b).a.sum(), frame.c, frame.d),
                *(frame.e, frame.g, df.part, low.set_index(again.b).a),
                lib.DataFrame({"s": sums, "t": df[df.k == "y"].groupby("k").b.sum()}).t,
                lib.DataFrame({"s": low.a, "t": df.b}).s,
                low.a.add(df.b, fill_value=0),
                named[["a"]].sum(),
                counts.sub(sums[:1], fill_value=0),
                low[["a"]].add(df[["a", "b"]], fill_value=0).sum(axis=1),
            ]
        )
    for ours, theirs in zip(*results, strict=True):
        pd.testing.assert_series_equal(
            ours.to_pandas(), theirs, check_dtype=False, check_index_type=False, check_names=False
        )


def test_loops_of_selections_keep_their_numbers() -> None:
    def grown(library: Any) -> Any:
        frame = library.DataFrame({"x": range(5)})
        made = frame[frame.x > 1]
        for step in range(1200):
            made = library.concat([made, frame[frame.x == step % 5]])
            made = made[made.x != 3] if step % 50 == 0 else made
        return made

    pd.testing.assert_frame_equal(grown(hr).to_pandas(), grown(pd))


def test_rows_that_were_never_moved_keep_their_numbers() -> None:
    df, theirs = frame(), pd.DataFrame(DATA)
    for work in (
        lambda d: d,
        lambda d: d.head(3),
        lambda d: d[:3],
        lambda d: d.assign(c=d.a * 2),
        lambda d: d.sort_values("a", ignore_index=True),
        lambda d: d.sort_values("a").reset_index(drop=True),
        lambda d: d[d.a > 0].reset_index(),
        lambda d: d.drop_duplicates("a", ignore_index=True),
        lambda d: d.dropna(ignore_index=True),
        lambda d: d.merge(d, on="b"),
        lambda d: d.groupby("k", as_index=False).sum(),
        lambda d: d.groupby("k").a.sum().reset_index(),
        lambda d: d.melt("k", ["a", "b"]),
        lambda d: (hr if isinstance(d, hr.DataFrame) else pd).concat([d, d], ignore_index=True),
        lambda d: d.k.value_counts().reset_index(),
    ):
        ours, other = work(df), work(theirs)
        first = ours.columns[-1]
        assert ours.loc[1, first] == other.loc[1, first]
        assert ours[first][1] == other[first][1]
        assert ours.loc[0:1, first].to_list() == other.loc[0:1, first].tolist()
    assert df.loc[df.head(2).a.idxmin(), "b"] == df.loc[hr.Series([3, 1]).idxmin(), "b"] == 2
    assert df.drop(df.a.idxmax()).a.to_list() == theirs.drop(theirs.a.idxmax()).a.tolist()
    assert df.a.mode()[0] == 1 and df.a.unique()[0] == 3
    assert (df.a + hr.Series([1, 1, 1, 1])).to_list() == [4, 2, 3, 2]


def test_rows_one_behind_the_other_keep_their_numbers() -> None:
    df, theirs = frame(), pd.DataFrame(DATA)
    both, wanted = hr.concat([df, df[df.a > 1]]), pd.concat([theirs, theirs[theirs.a > 1]])
    assert both.index.to_list() == wanted.index.tolist()
    assert both.loc[0].b.to_list() == wanted.loc[0].b.tolist()
    assert both.drop(0).b.to_list() == wanted.drop(0).b.tolist()
    assert hr.concat([df]).loc[0].b == 1
    names = hr.DataFrame({"k": ["x", "y"], "w": [1, 2]}).set_index("k")
    with ERROR:
        df.sort_values("a").join(names, on="k").loc[0]
    assert df.join(names, on="k").loc[1, "w"] == 2


def test_frames_of_pandas_whose_numbers_are_no_places() -> None:
    theirs = pd.DataFrame(DATA)
    assert hr.from_pandas(theirs).loc[1].b == 2 and hr.Series(theirs.a)[1] == 1
    for moved in (theirs.sort_values("a"), theirs[theirs.b > 1], theirs[::-1]):
        for look in (
            lambda m=moved: hr.from_pandas(m).loc[1],
            lambda m=moved: hr.DataFrame(m).loc[1],
            lambda m=moved: hr.Series(m.a)[1],
            lambda m=moved: frame().__setitem__("c", m.a),
        ):
            with ERROR:
                look()


def test_a_frame_remembers_it_in_other_processes() -> None:
    df = frame()
    assert pickle.loads(pickle.dumps(df)).loc[1].b == 2
    for moved in (df.sort_values("a"), df.a.sort_values()):
        again = pickle.loads(pickle.dumps(moved))
        assert again.iloc[1:2].equals(moved.iloc[1:2])
    assert pickle.loads(pickle.dumps(df.sort_values("a"))).loc[1].b == 2
    for moved in (df.b[df.b > 1], df[df.b > 1].b, df.b.sort_values(ascending=False), df.b.tail(2)):
        again = pickle.loads(pickle.dumps(moved))
        assert again.to_pandas().equals(moved.to_pandas())
        assert again.loc[3] == moved.loc[3] and again.name == moved.name
    labels = pickle.loads(pickle.dumps(df.set_index("a").index))
    assert type(labels) is hr.Index and labels.name == "a" and labels[0] == df.a.iloc[0]


def test_values_of_picked_rows() -> None:
    df = frame()
    with pytest.raises(hr.InvalidArgumentError, match="to_numpy"):
        df.loc[df.a > 1, "b"] = hr.Series([7, 8])
    df.loc[df.a > 1, "b"] = [7, 8]
    assert df.b.to_list() == [7, 2, 8, 4]


def test_a_row_is_iterated_as_a_series() -> None:
    row, expected = frame().iloc[0], pd.DataFrame(DATA).iloc[0]
    assert list(row) == list(expected) and dict(zip("abk", row, strict=True)) == dict(expected)
    assert dict(row) == {**row} == row.to_dict() == dict(expected) == dict(row.items())
    assert list(row.keys()) == list(expected.keys()) and "a" in row and 3 not in row
    assert row.to_list() == row.tolist() == expected.tolist() == row.values.tolist()
    assert hr.DataFrame([row, row]).to_dict() == {"a": [3, 3], "b": [1, 1], "k": ["x", "x"]}
    assert len(row) == 3 and (row == frame().iloc[0]).all()
    dtypes = frame().dtypes
    assert list(dtypes) == dtypes.to_list() == ["int64", "int64", "string"]
    assert dict(dtypes) == dict(dtypes.items()) and frame().astype(dtypes).dtypes.index == list(
        DATA
    )


def test_values_set_in_what_nobody_keeps_are_an_error() -> None:
    df = frame()
    holder = [df]
    series = df.a

    def chained(text: str) -> None:
        with pytest.raises(hr.InvalidArgumentError, match=r"df\.loc"):
            exec(text, {"df": df, "hr": hr})

    for text in (
        'df["a"][0] = 5',
        "df.a[0] = 5",
        'df["a"][df.a > 1] = 5',
        'df["a"][0] += 5',
        'df["a"].loc[0] = 5',
        "df.a.iloc[0] = 5",
        "df.a.at[0] = 5",
        'df[df.a > 1]["b"] = 5',
        'df.loc[df.a > 1]["b"] = 5',
        "df[df.a > 1].b = 5",
        'df[["a"]]["a"] = 5',
        'df.head(2).loc[0, "a"] = 5',
        "df[df.a > 1].iloc[0, 0] = 5",
        'df.copy()["x"] = 1',
    ):
        chained(text)
    assert df.to_dict() == DATA
    series.__setitem__(0, 7)
    series.loc[1] = 8
    series.iloc[2] = 9
    assert series.to_list() == [7, 8, 9, 1] and df.a.to_list() == DATA["a"]
    holder[0]["a"] = series
    holder[0].loc[0, "b"] = -1
    df.iat[1, 1] = -2
    df.a *= 2
    setattr(df, "a", df.a)
    df["a"] += 1
    exec('df.__setitem__("b", df.b); df.b = df.b; df["b"] = df.b', {"df": df})
    operator.setitem(df, "a", df.a)
    assert df.a.to_list() == [15, 17, 19, 3] and df.b.to_list() == [-1, -2, 3, 4]


def test_columns_that_are_numbered_anew_stay_together() -> None:
    frame = hr.DataFrame({"a": [3, 1, 2], "b": [1, 2, 3]})
    for _ in range(5000):  # more than the parts of rows that are remembered
        made = frame.sort_values("a").reset_index(drop=True)
        assert made.a._node.domain == made.b._node.domain


def test_rows_of_a_scan_have_no_numbers_also_once_it_ran(tmp_path) -> None:
    path = tmp_path / "rows.csv"
    path.write_text("a,b\n1,2\n3,4\n5,6\n")
    scan = hr.scan_csv(path)
    before = scan[scan.a > 1].to_pandas().index.tolist()
    hr.eval(scan.a, scan.b)
    assert scan[scan.a > 1].to_pandas().index.tolist() == before == [0, 1]
    read = hr.read_csv(path)
    assert read[read.a > 1].to_pandas().index.tolist() == [1, 2]
