# SPDX-License-Identifier: Apache-2.0
"""Columns of lists against Python's own lists and pandas."""

from __future__ import annotations

import datetime as dt
import decimal
import pickle
import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import headrace as hr

EDGES: list[list[Any]] = [
    [],
    [[]],
    [None],
    [[], None, []],
    [[1, 2], [3], [], None, [None, 4]],
    [["a", "a text longer than twelve bytes"], None, ["é"]],
    [[True, None, False], [], [True]],
    [[1.5, None], [2.5]],
    [[[1], []], None, [[2, 3], None]],
    [[dt.date(2024, 2, 29)], [None]],
    [[dt.datetime(2024, 2, 29, 9, 30)], []],
    [[decimal.Decimal("1.25")], [decimal.Decimal("-3")]],
]


def many(rows: int, seed: int = 1) -> list[Any]:
    """Lists of 0 to 4 integers; some lists and some items are None."""
    rng = random.Random(seed)
    return [
        None
        if rng.random() < 0.1
        else [rng.choice([None, rng.randrange(100)]) for _ in range(rng.randrange(5))]
        for _ in range(rows)
    ]


@pytest.mark.parametrize("rows", EDGES, ids=str)
def test_lists_come_back(rows: list[Any]) -> None:
    series = hr.Series(rows) if any(rows) else hr.Series(rows, dtype="list[int64]")
    assert series.dtype.startswith("list[")
    assert series.to_list() == rows
    assert series.isna().to_list() == [row is None for row in rows]
    assert [series.iloc[i] for i in range(len(rows))] == rows
    assert pickle.loads(pickle.dumps(series)).to_list() == rows
    assert hr.from_arrow(pa.chunked_array([pa.array(series)])).to_list() == rows
    assert hr.from_arrow(series.to_arrow()).dtype == series.dtype
    assert hr.concat([series, series[1:], series]).to_list() == rows + rows[1:] + rows
    objects = series.to_pandas()
    assert objects.dtype == object and objects.tolist() == rows
    assert hr.DataFrame({"x": series}).to_dict() == {"x": rows}


def test_dtypes() -> None:
    assert hr.Series([[1], [2.5]]).dtype == "list[float64]"
    assert hr.Series([["a"], []]).dtype == "list[string]"
    assert hr.Series([[[1]], None]).dtype == "list[list[int64]]"
    assert hr.Series([(1, 2), np.array([3])]).to_list() == [[1, 2], [3]]
    assert hr.Series([[1], [2]], dtype="list[int8]").list.get(0).dtype == "int8"
    assert hr.Series([[1]]).dtype.kind == "O"
    assert hr.DataFrame({"x": [[1, 2], [3]]}).dtypes["x"] == "list[int64]"
    with pytest.raises(hr.TypeMismatchError, match="lists and other values"):
        hr.Series([[1], 2])
    with pytest.raises(hr.TypeMismatchError, match="strings and other values"):
        hr.Series([[1], ["a"]])
    deep: Any = []
    deep.append(deep)
    with pytest.raises(hr.UnsupportedError, match="levels"):
        hr.Series([deep])
    deep = 1
    for _ in range(40):
        deep = [deep]
    with pytest.raises(hr.UnsupportedError, match="levels"):
        hr.Series([deep])


@pytest.mark.parametrize("kind", [pa.list_, pa.large_list])
@pytest.mark.parametrize("rows", EDGES[1:], ids=str)
def test_arrow_in_is_shared(kind: Any, rows: list[Any]) -> None:
    items = pa.array([item for row in rows if row for item in row])
    array = pa.array(rows, type=kind(items.type))
    assert hr.from_arrow(array).to_list() == array.to_pylist()
    for begin in range(len(rows)):
        assert hr.from_arrow(array.slice(begin)).to_list() == rows[begin:]
        assert hr.from_arrow(array.slice(begin, 1)).to_list() == rows[begin : begin + 1]
    table = pa.table({"x": array, "k": range(len(rows))})
    assert hr.from_arrow(table.slice(1)).x.to_list() == rows[1:]


def test_no_item_is_copied_by_arrow() -> None:
    items = pa.array(np.arange(100_000))
    array = pa.LargeListArray.from_arrays(pa.array([0, 30_000, 100_000]), items)
    series = hr.from_arrow(array)
    out = pa.array(series)
    assert out.values.buffers()[1].address == items.buffers()[1].address
    assert pa.array(series[1:]).to_pylist() == [list(range(30_000, 100_000))]
    assert pa.array(series[1:]).values.buffers()[1].address == items.buffers()[1].address


def test_polars_both_ways() -> None:
    rows = many(1000)
    theirs = pl.Series("x", rows, dtype=pl.List(pl.Int64))
    ours = hr.from_arrow(theirs)
    assert ours.to_list() == rows
    assert pl.Series(ours).to_list() == rows
    assert pl.Series(ours[np.arange(999, -1, -1)]).to_list() == rows[::-1]


def test_pandas_in() -> None:
    theirs = pd.DataFrame({"x": [["a"], None, ["b", "c"]], "k": [1, 2, 3]})
    assert hr.from_pandas(theirs).x.to_list() == [["a"], None, ["b", "c"]]
    assert hr.Series(theirs.x).to_list() == [["a"], None, ["b", "c"]]


def test_hostile_arrow_lists() -> None:
    for offsets in ([0, 5, 2], [0, 1, 9], [-1, 0, 1]):
        memory = np.array([0, 1, 2], "int32")
        places = pa.Array.from_buffers(pa.int32(), 3, [None, pa.py_buffer(memory)])
        array = pa.ListArray.from_arrays(places, pa.array([1, 2, 3]))
        memory[:] = offsets  # after pyarrow looked
        with pytest.raises(hr.InvalidArgumentError, match="leaves its items"):
            hr.from_arrow(array)


ROWS: dict[str, Callable[[hr.DataFrame], hr.DataFrame]] = {
    "mask": lambda d: d[d.k % 3 == 0],
    "take": lambda d: d.take([5, 2, 2, -1]),
    "sort": lambda d: d.sort_values(["k", "i"]),
    "slice": lambda d: d[7:400],
    "merge": lambda d: d.merge(
        hr.DataFrame({"k": [1, 2, 99], "y": [7, 8, 9]}), on="k", how="outer"
    ).sort_values(["k", "i"]),
    "drop_duplicates": lambda d: d.drop_duplicates(subset="k"),
    "head": lambda d: d.head(3),
    "concat": lambda d: hr.concat([d, d[d.k > 3], d.head(2)]),
    "shift": lambda d: d.assign(x=d.x.shift(2)),
}


@pytest.mark.parametrize("way", ROWS)
@pytest.mark.parametrize("rows", [1, 500, 140_000])
def test_rows_carry_lists(way: str, rows: int) -> None:
    if way == "take" and rows < 6:
        return
    lists = many(rows)
    frame = hr.DataFrame({"k": [i % 7 for i in range(rows)], "i": range(rows), "x": lists})
    results = []
    for threads in (1, 2, 4):
        with hr.threads(threads):
            results.append(ROWS[way](frame).to_dict())
    assert results[0] == results[1] == results[2]
    made = results[0]
    for at, x in zip(made["i"], made["x"], strict=True):
        if way == "shift":
            assert x == (lists[int(at) - 2] if at >= 2 else None)
        else:
            assert x == (None if at is None or at != at else lists[int(at)])


@pytest.mark.parametrize("rows", [0, 1, 3, 70_000, 131_073])
@pytest.mark.parametrize("threads", [1, 2, 4])
def test_words(rows: int, threads: int) -> None:
    lists = many(rows)
    with hr.threads(threads):
        series = hr.Series(lists, dtype="list[int64]")
        assert series.list.len().to_list() == [None if x is None else len(x) for x in lists]
        for at in (0, 2, -1, -4):
            wanted = [x[at] if x is not None and -len(x) <= at < len(x) else None for x in lists]
            assert series.list.get(at).to_list() == wanted
            assert series.str[at].to_list() == wanted
        for begin, end in ((None, 2), (1, None), (-2, None), (0, -1), (3, 1)):
            wanted_lists = [None if x is None else x[begin:end] for x in lists]
            assert series.list[begin:end].to_list() == wanted_lists
        flat = [(i, item) for i, x in enumerate(lists) for item in (x or [None])]
        exploded = series.explode()
        assert exploded.to_list() == [item for _, item in flat]
        assert exploded.reset_index()["index"].to_list() == [i for i, _ in flat]
        frame = hr.DataFrame({"x": series, "y": series, "k": range(rows)})
        both = frame.explode(["x", "y"])
        assert both.x.to_list() == both.y.to_list() == [item for _, item in flat]
        assert both.k.to_list() == [i for i, _ in flat]


def test_explode_as_pandas() -> None:
    data = {"k": ["a", "b", "c"], "x": [[1, 2], [], [3]], "y": [["p", "q"], None, ["r"]]}
    ours, theirs = hr.DataFrame(data), pd.DataFrame(data)
    for column in ("x", "y", ["x", "y"], "k"):
        made, wanted = ours.explode(column), theirs.explode(column)
        assert made.columns == list(wanted.columns)
        for name in wanted:
            expected = [None if v is None or v != v else v for v in wanted[name]]
            assert made[name].to_list() == expected
    assert ours.explode("x").reset_index()["index"].to_list() == [0, 0, 1, 2]
    assert ours.explode("x", ignore_index=True).loc[3, "k"] == "c"
    assert ours.set_index("k").explode("x").x.to_dict()["c"] == 3
    assert ours[ours.k != "a"].explode("x").k.to_list() == ["b", "c"]
    assert ours.explode("x").groupby("k").x.sum().to_dict() == {"a": 3, "b": 0, "c": 3}
    assert hr.Series([1, 2]).explode().to_list() == [1, 2]
    with pytest.raises(hr.InvalidArgumentError, match="differ in length"):
        hr.DataFrame({"x": [[1, 2]], "y": [[1]]}).explode(["x", "y"]).to_dict()
    with pytest.raises(hr.ColumnNotFoundError):
        ours.explode("z")


@pytest.mark.parametrize("sort", [True, False])
@pytest.mark.parametrize("rows", [0, 5, 140_000])
def test_groups_to_lists(sort: bool, rows: int) -> None:
    rng = np.random.default_rng(3)
    keys = [None if k == 4 else f"k{k}" for k in rng.integers(0, 40, rows)]
    data = {"k": keys, "x": rng.integers(0, 9, rows), "s": [f"s{i % 5}" for i in range(rows)]}
    ours = hr.DataFrame({**data, "k": hr.Series(keys, dtype="string")})
    theirs = pd.DataFrame({**data, "k": pd.Series(keys, dtype="str")})
    mine, wanted = ours.groupby("k", sort=sort), theirs.groupby("k", sort=sort)
    results = []
    for threads in (1, 2, 4):
        with hr.threads(threads):
            results.append(mine.x.agg(list).to_dict())
    assert results[0] == results[1] == results[2] == wanted.x.agg(list).to_dict()
    assert mine.x.apply(list).to_dict() == wanted.x.apply(list).to_dict()
    assert mine.s.agg("list").to_dict() == wanted.s.agg(list).to_dict()
    both = mine.agg(list)
    assert both.x.to_list() == wanted.agg(list).x.tolist()
    named = mine.agg(all=("x", list), total=("x", "sum"), first=("s", "first"))
    assert named["all"].to_list() == wanted.x.agg(list).tolist()
    assert named.total.to_list() == wanted.x.sum().tolist()
    assert mine.agg({"x": list, "s": "count"}).s.to_list() == wanted.s.count().tolist()


@pytest.mark.parametrize("sort", [True, False])
@pytest.mark.parametrize("rows", [0, 5, 140_000])
def test_groups_to_sets(sort: bool, rows: int) -> None:
    rng = np.random.default_rng(4)
    keys = [None if k == 4 else f"k{k}" for k in rng.integers(0, 40, rows)]
    data = {"x": rng.integers(0, 9, rows), "s": [f"s{i}" for i in rng.integers(0, 5, rows)]}
    ours = hr.DataFrame({"k": hr.Series(keys, dtype="string"), **data}).groupby("k", sort=sort)
    theirs = pd.DataFrame({"k": pd.Series(keys, dtype="str"), **data}).groupby("k", sort=sort)
    results = []
    for threads in (1, 4):
        with hr.threads(threads):
            results.append(ours.x.agg(set).to_dict())
    assert results[0] == results[1]
    once = theirs.x.agg(lambda x: list(dict.fromkeys(x))) if rows else theirs.x.agg(list)
    assert list(results[0].items()) == list(once.to_dict().items())
    assert {k: set(v) for k, v in results[0].items()} == theirs.x.agg(set).to_dict()
    assert ours.x.apply(set).to_dict() == results[0]
    named = ours.agg(each=("s", set), total=("x", "sum"))
    assert [set(v) for v in named["each"].to_list()] == theirs.s.agg(set).tolist()
    assert named.total.to_list() == theirs.x.sum().tolist()
    lengths = ours.s.agg(set).apply(len)
    assert lengths.to_dict() == theirs.s.agg(set).apply(len).to_dict()


def test_groups_of_lists() -> None:
    frame = hr.DataFrame({"k": [1, 2, 1, 2], "x": [[1], None, [2, 3], [4]]})
    assert frame.groupby("k").x.first().to_list() == [[1], [4]]
    assert frame.groupby("k").x.last().to_list() == [[2, 3], [4]]
    assert frame.groupby("k").x.count().to_list() == [2, 1]
    assert frame.groupby("k").x.agg(list).to_list() == [[[1], [2, 3]], [None, [4]]]
    assert frame.x.count() == 3 and frame.dropna().x.to_list() == [[1], [2, 3], [4]]


LISTS_OF = "lists|list\\[|dtype|strings|Series.list"
REFUSED: dict[str, Callable[[hr.DataFrame], Any]] = {
    "+": lambda d: (d.x + 1).to_list(),
    "==": lambda d: (d.x == d.x).to_list(),
    "sum": lambda d: float(d.x.sum()),
    "min": lambda d: d.groupby("k").x.min().to_list(),
    "nunique": lambda d: d.groupby("k").x.nunique().to_list(),
    "sort": lambda d: d.sort_values("x").to_dict(),
    "key": lambda d: d.groupby("x").k.sum().to_list(),
    "join": lambda d: d.merge(d, on="x").to_dict(),
    "distinct": lambda d: d.x.unique().to_list(),
    "duplicates": lambda d: d.drop_duplicates().to_dict(),
    "astype": lambda d: d.x.astype("int64").to_list(),
    "to text": lambda d: d.x.astype("string").to_list(),
    "array": lambda d: hr.asarray(d.x).tolist(),
    "fillna": lambda d: d.x.fillna(0).to_list(),
    "isin": lambda d: d.x.isin([1]).to_list(),
    "rank": lambda d: d.x.rank().to_list(),
    "cumsum": lambda d: d.x.cumsum().to_list(),
    "median": lambda d: float(d.x.median()),
    "upper": lambda d: d.x.str.upper(),
    "join of numbers": lambda d: d.x.str.join("-").to_list(),
    "list": lambda d: d.k.list.len(),
    "csv": lambda d: d.to_csv(),
    "where": lambda d: d.x.where(d.k == 1).to_list(),
    "dt": lambda d: d.x.dt.year.to_list(),
    "cast": lambda d: d.x.astype("list[float64]").to_list(),
}


@pytest.mark.parametrize("call", REFUSED)
def test_what_makes_no_sense_is_refused(call: str) -> None:
    frame = hr.DataFrame({"k": [1, 2, 1], "x": [[1], None, [2, 3]]})
    with pytest.raises((hr.Error, AttributeError), match=LISTS_OF) as info:
        REFUSED[call](frame)
    assert not isinstance(info.value, hr.InternalError)


def test_shown() -> None:
    frame = hr.DataFrame({"x": [[1, 2], None, []], "s": [["a", None], ["b"], None]})
    text = repr(frame)
    assert "[1, 2]" in text and "[a, null]" in text
    assert "[1, 2]" in frame.x._repr_html_() and "[b]" in frame._repr_html_()
    assert "…" in repr(hr.Series([list(range(1000))]))


def test_spilled_lists_come_back(tmp_path: Any, memory_room: Any) -> None:
    rows = 200_000
    lists = [[i, i + 1] for i in range(rows)]
    series = hr.Series(lists)
    made = hr.DataFrame({"i": range(rows), "x": series})
    with memory_room("24MB"):
        ordered = made.sort_values("i", ascending=False)
        assert ordered.x.list.get(0).head(3).to_list() == [rows - 1, rows - 2, rows - 3]
        assert ordered.x.explode().tail(2).to_list() == [0, 1]


def test_memory_is_counted() -> None:
    series = hr.Series([[1, 2, 3], [4]])
    assert series.nbytes == 2 * 16 + 4 * 8
    few = series[:1]
    assert pa.array(few).to_pylist() == [[1, 2, 3]]
    big = hr.Series([list(range(1000)) for _ in range(1000)])
    assert len(pickle.dumps(big[:1])) < 100_000
