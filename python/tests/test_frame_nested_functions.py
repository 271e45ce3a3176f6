# SPDX-License-Identifier: Apache-2.0
"""Functions of lists and structs, and structs as keys, against Polars and Python's own."""

from __future__ import annotations

import datetime as dt
import math
import random
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import headrace as hr

SIZES = (0, 1, 64, 65, 3000)


def numbers(rows: int, seed: int) -> list[Any]:
    """Lists of integers; some lists and items are None."""
    chance = random.Random(seed)
    return [
        None
        if chance.random() < 0.1
        else [chance.choice([None, *range(-9, 9)]) for _ in range(chance.randrange(5))]
        for _ in range(rows)
    ]


def each(rows: list[Any], function: Any) -> list[Any]:
    """The function of each list without its missing items; null stays."""
    return [None if row is None else function([x for x in row if x is not None]) for row in rows]


@pytest.mark.parametrize("rows", SIZES)
@pytest.mark.parametrize("threads", [1, 4])
def test_reductions(rows: int, threads: int) -> None:
    values = numbers(rows, rows)
    with hr.threads(threads):
        lists = hr.Series([None, *values], dtype="list[int64]")[1:].list
        assert lists.sum().to_list() == each(values, sum)
        assert lists.min().to_list() == each(values, lambda x: min(x, default=None))
        assert lists.max().to_list() == each(values, lambda x: max(x, default=None))
        means = each(values, lambda x: sum(x) / len(x) if x else None)
        assert lists.mean().to_list() == means
        assert lists.len().to_list() == [None if v is None else len(v) for v in values]
        assert lists.contains(3).to_list() == [3 in (v or []) for v in values]
        theirs = pl.Series(values, dtype=pl.List(pl.Int64))
        assert lists.sort().to_list() == theirs.list.sort(nulls_last=True).to_list()
        down = theirs.list.sort(descending=True, nulls_last=False).to_list()
        assert lists.sort(ascending=False, na_position="first").to_list() == down
        assert lists.reverse().to_list() == theirs.list.reverse().to_list()
        stable = theirs.list.unique(maintain_order=True).to_list()
        assert lists.unique().to_list() == stable
        assert lists.first().to_list() == theirs.list.first().to_list()
        assert lists.last().to_list() == theirs.list.last().to_list()
        flat = [x for v in values if v is not None for x in v]
        assert hr.Series(values, dtype="list[int64]").list.flatten().to_list() == flat


def test_reductions_of_other_items() -> None:
    floats = hr.Series([[1.5, None, math.nan], [], None, [-0.0]])
    assert floats.list.sum().to_list() == [1.5, 0.0, None, 0.0]
    assert floats.list.max().to_list() == [1.5, None, None, 0.0]
    assert floats.list.contains(0).to_list() == [False, False, False, True]
    small = hr.Series([[200, 100]], dtype="list[uint8]").list
    assert small.sum().dtype == "uint64" and small.sum().to_list() == [300]
    assert small.max().dtype == "uint8" and small.contains(1000).to_list() == [False]
    bools = hr.Series([[True, None], [False], [], None])
    assert bools.list.any().to_list() == [True, False, False, None]
    assert bools.list.all().to_list() == [True, False, True, None]
    assert bools.list.sum().to_list() == [1, 0, 0, None]
    assert bools.list.contains(False).to_list() == [False, True, False, False]
    days = hr.Series([[dt.date(2024, 2, 29), dt.date(2024, 1, 1)], []])
    assert days.list.min().to_list() == [dt.date(2024, 1, 1), None]
    assert days.list.contains(dt.date(2024, 2, 29)).to_list() == [True, False]
    spans = hr.Series([[dt.timedelta(1), dt.timedelta(2)]])
    assert spans.list.sum().to_list() == [dt.timedelta(3)]
    texts = hr.Series([["b", "a", None], ["a text longer than twelve bytes"], []])
    assert texts.list.min().to_list() == ["a", "a text longer than twelve bytes", None]
    assert texts.list.max().to_list() == ["b", "a text longer than twelve bytes", None]
    assert texts.list.contains("b").to_list() == [True, False, False]
    assert texts.list.unique().list.len().to_list() == [3, 1, 0]


REFUSED = {
    "sum of strings": lambda: hr.Series([["a"]]).list.sum(),
    "any of numbers": lambda: hr.Series([[1]]).list.any(),
    "mean of lists": lambda: hr.Series([[[1]]]).list.mean(),
    "sort of structs": lambda: hr.Series([[{"x": 1}]]).list.sort(),
    "contains of another dtype": lambda: hr.Series([[1]]).list.contains("a"),
    "contains of lists": lambda: hr.Series([[[1]]]).list.contains([1]),
    "no lists": lambda: hr.Series([1]).list,
    "no structs": lambda: hr.Series([1]).struct,
    "less": lambda: hr.Series([{"x": 1}]) < hr.Series([{"x": 1}]),
    "sum of structs": lambda: hr.Series([{"x": 1}]).sum().item(),
    "key with lists": lambda: hr.DataFrame({"s": [{"x": [1]}], "v": [1]}).groupby("s").sum(),
    "other number": lambda: hr.Series([{"x": 1}]) == 1,
}


@pytest.mark.parametrize("call", REFUSED)
def test_what_makes_no_sense_is_refused(call: str) -> None:
    with pytest.raises(hr.Error) as info:
        REFUSED[call]()
    assert not isinstance(info.value, hr.InternalError)


def test_fields() -> None:
    rows: list[Any] = [{"x": 1, "at": {"y": "a"}, "len": 1.5}, None, {"x": None, "at": None}]
    series = hr.Series(rows, name="s")
    assert series.struct.fields == ["x", "at", "len"]
    assert series.struct.dtypes["at"] == "struct[y: string]"
    assert series.struct.field("x").to_list() == [1, None, None]
    assert series.struct.field("x").name == "x"
    assert series.struct["at"].struct.y.to_list() == ["a", None, None]
    assert series.struct.field(["at", 0]).to_list() == ["a", None, None]
    assert series.struct.field(-1).to_list() == [1.5, None, None]
    assert series.struct.explode().to_dict()["x"] == [1, None, None]
    with pytest.raises(KeyError, match=r"no such field.*field='z'"):
        series.struct.field("z")
    with pytest.raises(AttributeError, match="no such field"):
        _ = series.struct.z
    assert not hasattr(series.struct, "z")
    frame = hr.DataFrame({"n": [1, 2, 3], "s": rows})
    late = frame[frame["n"] > 1]["s"].struct.x
    assert late.to_list() == [None, None]
    assert (frame["s"].struct.x + frame["n"]).to_list()[0] == 2
    columns = hr.DataFrame({"x": [1, 2], "y": ["a", None]})
    assert columns.to_struct("p").to_list() == [{"x": 1, "y": "a"}, {"x": 2, "y": None}]
    assert columns.to_struct("p").struct.explode().to_dict() == columns.to_dict()


def structs(rows: int, seed: int) -> list[Any]:
    """Structs of few values, so that many are equal."""
    chance = random.Random(seed)
    return [
        None
        if chance.random() < 0.1
        else {
            "x": chance.choice([None, 1, 2]),
            "in": chance.choice([None, {"y": "a", "z": 0.5}, {"y": "b", "z": None}]),
        }
        for _ in range(rows)
    ]


def key_of(value: Any) -> Any:
    """A hashable stand-in of a struct that sorts as it does, null fields last."""
    if not isinstance(value, dict):
        return (value is None, value if value is not None else 0)
    return (False, tuple(key_of(each) for each in value.values()))


@pytest.mark.parametrize("rows", (1, 64, 1000))
def test_structs_are_keys(rows: int) -> None:
    values = structs(rows, rows)
    frame = hr.DataFrame({"s": hr.Series(values), "v": range(rows)})
    there = [value for value in values if value is not None]
    sums: dict[Any, int] = {}
    for number, value in enumerate(values):
        if value is not None:
            sums[key_of(value)] = sums.get(key_of(value), 0) + number
    made = frame.groupby("s")["v"].sum().reset_index()
    assert made["s"].dtype == frame["s"].dtype
    assert [key_of(key) for key in made["s"].to_list()] == sorted(sums)
    assert made["v"].to_list() == [sums[key] for key in sorted(sums)]
    with_null = frame.groupby("s", dropna=False, sort=False)["v"].count().reset_index()
    first_seen = list(dict.fromkeys(map(key_of, values)))
    assert [key_of(key) for key in with_null["s"].to_list()] == first_seen
    ordered = frame.sort_values("s")["s"].to_list()
    assert ordered == sorted(values, key=lambda v: (v is None, key_of(v)))
    down = frame.sort_values("s", ascending=False)["s"].to_list()
    nulls = [None] * (rows - len(there))
    assert [key_of(v) for v in down] == [
        *sorted(map(key_of, there), reverse=True),
        *map(key_of, nulls),
    ]
    once = frame.drop_duplicates("s")["s"].to_list()
    assert [key_of(v) for v in once] == first_seen
    assert [key_of(v) for v in frame["s"].unique().to_list()] == first_seen
    assert frame["s"].nunique() == len(set(map(key_of, there)))
    counts = frame["s"].value_counts()
    assert sum(counts.to_list()) == len(there)
    totals = frame.groupby("s")["v"].transform("sum").to_list()
    wanted = [None if value is None else sums[key_of(value)] for value in values]
    assert [None if t is None or t != t else int(t) for t in totals] == wanted


def test_structs_join() -> None:
    left = hr.DataFrame({"s": structs(200, 1), "l": range(200)})
    right = hr.DataFrame({"s": structs(9, 2), "r": range(9)}).drop_duplicates("s").dropna()
    places = {key_of(s): r for s, r in zip(*right.to_dict().values(), strict=True)}
    made = left.merge(right, on="s", how="left")
    wanted = [places.get(key_of(s)) if s is not None else None for s in left["s"].to_list()]
    found = [None if r is None or r != r else int(r) for r in made["r"].to_list()]
    assert found == wanted
    assert made["s"].to_list() == left["s"].to_list()
    inner = left.merge(right, on="s")
    assert len(inner) == sum(r is not None for r in wanted)


def test_structs_are_equal() -> None:
    one, other = structs(300, 5), structs(300, 6)
    frame = hr.DataFrame({"a": hr.Series(one), "b": hr.Series(other)})
    wanted = [a is not None and a == b for a, b in zip(one, other, strict=True)]
    assert (frame["a"] == frame["b"]).to_list() == wanted
    assert (frame["a"] != frame["b"]).to_list() == [not w for w in wanted]
    example = next(value for value in one if value is not None)
    assert (frame["a"] == example).to_list() == [value == example for value in one]


def test_groups_collect_structs() -> None:
    values = structs(500, 3)
    frame = hr.DataFrame({"k": [i % 7 for i in range(500)], "s": hr.Series(values)})
    made = frame.groupby("k").agg({"s": "list"})
    assert made["s"].dtype == f"list[{frame['s'].dtype}]"
    assert made["s"].to_list() == [values[k::7] for k in range(7)]
    assert frame.groupby("k")["s"].count().to_list() == [
        sum(v is not None for v in values[k::7]) for k in range(7)
    ]
    firsts = [next(v for v in values[k::7] if v is not None) for k in range(7)]
    assert frame.groupby("k")["s"].first().to_list() == firsts


def test_explode_nested() -> None:
    frame = hr.DataFrame({"id": [1, 2, 3], "l": [[{"x": 1}, None], [], None]})
    made = frame.explode("l")
    assert made["l"].to_list() == [{"x": 1}, None, None, None]
    assert made["l"].struct.x.to_list() == [1, None, None, None]
    maps = hr.DataFrame(
        {"id": [1, 2], "m": hr.Series([{"a": 1, "b": 2}, {}], dtype="map[string, int64]")}
    )
    entries = maps.explode("m")
    assert entries["id"].to_list() == [1, 1, 2]
    assert entries["m"].struct.key.to_list() == ["a", "b", None]
    assert entries["m"].struct.value.to_list() == [1, 2, None]
    theirs = pd.Series(
        pa.array([[("a", 1), ("b", 2)], []], pa.map_(pa.string(), pa.int64())).to_pylist()
    )
    assert len(theirs.explode()) == len(entries)
