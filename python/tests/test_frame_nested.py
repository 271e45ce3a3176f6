# SPDX-License-Identifier: Apache-2.0
"""Columns of structs and maps, in any depth, against pyarrow, Polars and Python's own values."""

from __future__ import annotations

import pickle
import random
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from nested_data import nested_type, random_array

import headrace as hr

POINTS: list[Any] = [
    {"x": 1, "y": "a"},
    None,
    {"x": None, "y": "longer than twelve bytes"},
    {"x": 3},
]
AS_STRUCTS = [row and {"x": row.get("x"), "y": row.get("y")} for row in POINTS]


def arrow(series: hr.Series) -> pa.Array:
    """The series as one array of pyarrow, checked."""
    made = series.to_arrow()
    made = made.combine_chunks() if isinstance(made, pa.ChunkedArray) else made
    made.validate(full=True)
    return made


@pytest.mark.parametrize("seed", range(60))
@pytest.mark.parametrize("rows", [0, 1, 65])
def test_any_nesting_comes_back(seed: int, rows: int) -> None:
    chance = random.Random(seed)
    array = random_array(chance, nested_type(chance, 1 + seed % 5), rows)
    series = hr.Series(array)
    wanted = array.to_pylist()
    assert series.to_list() == wanted
    assert arrow(series).to_pylist() == wanted
    assert hr.Series(arrow(series)).dtype == series.dtype
    assert [series.iloc[row] for row in range(rows)] == wanted
    assert series.isna().to_list() == [value is None for value in wanted]
    assert pickle.loads(pickle.dumps(series)).to_list() == wanted
    assert hr.Series(wanted, dtype=series.dtype).to_list() == wanted
    assert series.to_pandas().tolist() == wanted
    assert len(repr(series).splitlines()) >= min(rows, 5)
    sliced = array[rows // 3 :]
    assert hr.Series(sliced).to_list() == sliced.to_pylist()
    assert arrow(hr.Series(sliced)).to_pylist() == sliced.to_pylist()


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("rows", [3, 64, 1000])
def test_rows_are_picked(seed: int, rows: int) -> None:
    chance = random.Random(seed)
    array = random_array(chance, nested_type(chance, 1 + seed % 4), rows)
    wanted = array.to_pylist()
    frame = hr.DataFrame({"n": range(rows), "s": array})
    kept = [chance.random() < 0.4 for _ in range(rows)]
    assert frame[hr.Series(kept)]["s"].to_list() == [
        v for v, k in zip(wanted, kept, strict=True) if k
    ]
    places = [chance.randrange(rows) for _ in range(rows)]
    taken = frame.take(places)
    assert taken["s"].to_list() == [wanted[place] for place in places]
    assert arrow(taken["s"]).to_pylist() == [wanted[place] for place in places]
    assert pickle.loads(pickle.dumps(taken["s"])).to_list() == [wanted[p] for p in places]
    assert pickle.loads(pickle.dumps(frame["s"][1:3])).to_list() == wanted[1:3]
    several = hr.concat([frame, taken, frame[1:], frame])["s"]
    assert several.to_list() == wanted + [wanted[p] for p in places] + wanted[1:] + wanted
    assert arrow(several).to_pylist() == several.to_list()
    assert frame["s"].shift(1).to_list() == [None, *wanted[:-1]]
    ordered = frame.sort_values("n", ascending=False)["s"]
    assert ordered.to_list() == wanted[::-1]
    right = hr.DataFrame({"n": places[:2], "m": [0, 1]}).drop_duplicates("n")
    joined = frame.merge(right, on="n", how="left")
    assert joined["s"].to_list() == wanted
    back = right.merge(frame, on="n", how="left")["s"]
    assert back.to_list() == [wanted[n] for n in right["n"].to_list()]
    assert frame["s"].dropna().to_list() == [value for value in wanted if value is not None]


def test_several_morsels() -> None:
    chance = random.Random(1)
    part = random_array(
        chance, pa.struct([("x", pa.int64()), ("l", pa.large_list(pa.string()))]), 997
    )
    array = pa.concat_arrays([part] * 300)
    frame = hr.DataFrame({"n": hr.Series(range(len(array))), "s": array})
    kept = frame[frame["n"] % 3 == 1]["s"]
    assert kept.to_list() == array.to_pylist()[1::3]
    assert arrow(kept).equals(arrow(hr.Series(array.take(pa.array(range(1, len(array), 3))))))


def test_python_dicts_make_structs() -> None:
    frame = hr.DataFrame({"s": POINTS})
    assert frame["s"].dtype == "struct[x: int64, y: string]"
    assert frame["s"].to_list() == AS_STRUCTS
    assert hr.Series([{}, None]).dtype == "struct[]"
    assert hr.Series([[{"x": 1}], []]).dtype == "list[struct[x: int64]]"
    assert hr.Series([{"a": {"b": [1.5]}}]).dtype == "struct[a: struct[b: list[float64]]]"
    typed = hr.Series([{"y": "a"}, {}], dtype="struct[x: float32, y: str]")
    assert typed.dtype == "struct[x: float32, y: string]"
    assert typed.to_list() == [{"x": None, "y": "a"}, {"x": None, "y": None}]
    maps = hr.Series([{"a": 1, "b": None}, None, {}], dtype="map[string, int64]")
    assert maps.to_list() == [[("a", 1), ("b", None)], None, []]
    assert hr.Series([[("a", 1)]], dtype="map[string, int64]").to_list() == [[("a", 1)]]
    odd = hr.Series([{'say "x", [\\': 1, "": 2}])
    assert odd.dtype == 'struct["say \\"x\\", [\\\\": int64, "": int64]'
    assert hr.Series(odd.to_list(), dtype=odd.dtype).to_list() == odd.to_list()


def test_dtypes() -> None:
    dtype = hr.Series(POINTS).dtype
    assert (dtype.kind, dtype.itemsize) == ("O", 8)
    assert hr.Series([], dtype="map[int, str]").dtype == "map[int64, string]"
    for wrong in ("struct[x]", "map[int64]", "struct[x: int63]", "struct[x: int64, x: bool]"):
        with pytest.raises(ValueError if wrong.endswith("x: bool]") else TypeError):
            hr.Series([], dtype=wrong)


def test_fixed_size_lists_come_in() -> None:
    array = pa.array([[1, 2], None, [3, 4]], pa.list_(pa.int64(), 2))
    assert hr.Series(array).to_list() == array.to_pylist()
    assert hr.Series(array[1:]).to_list() == array[1:].to_pylist()
    assert hr.Series(array).dtype == "list[int64]"
    empty = pa.array([], pa.list_(pa.int64(), 2))
    assert hr.Series(empty).to_list() == []


def test_tables_and_columns_are_told_apart() -> None:
    array = pa.array(AS_STRUCTS)
    for column in (array, pa.chunked_array([array, array[1:]]), pl.Series("s", AS_STRUCTS)):
        assert isinstance(hr.from_arrow(column), hr.Series)
        assert (
            hr.Series(column).to_list() == column.to_pylist() if hasattr(column, "to_pylist") else 1
        )
    assert isinstance(hr.from_arrow(pa.table({"s": array})), hr.DataFrame)
    assert isinstance(hr.from_arrow(pa.record_batch({"s": array})), hr.DataFrame)
    assert isinstance(hr.from_arrow(pl.DataFrame({"s": AS_STRUCTS})), hr.DataFrame)
    with pytest.raises(hr.TypeMismatchError, match="expected a column, got a table"):
        hr.Series(pa.table({"s": array}))
    assert pl.DataFrame(hr.DataFrame({"s": AS_STRUCTS}).to_arrow())["s"].to_list() == AS_STRUCTS
    theirs = pd.Series(pd.arrays.ArrowExtensionArray(array))
    assert hr.Series(theirs).to_list() == AS_STRUCTS
    assert hr.from_pandas(pd.DataFrame({"s": theirs}))["s"].to_list() == AS_STRUCTS
    assert hr.Series(pd.Series(POINTS)).to_list() == AS_STRUCTS


def test_no_field_is_copied_by_arrow() -> None:
    array = pa.array([{"x": i, "y": i / 2} for i in range(1000)])
    hr.memory.ledger().clear()
    series = hr.Series(array)
    back = arrow(series)
    assert back.field("x").buffers()[1].address == array.field("x").buffers()[1].address
    assert back.field("y").buffers()[1].address == array.field("y").buffers()[1].address


def test_hostile_arrow() -> None:
    x = pa.array([1, 2, 3])
    twice = pa.StructArray.from_arrays([x, x], names=["x", "x"])
    with pytest.raises(ValueError, match=r"two fields of a struct have the same name.*field='x'"):
        hr.Series(twice)
    deep: Any = pa.array([1])
    for _ in range(33):
        deep = pa.StructArray.from_arrays([deep], names=["x"])
    with pytest.raises(hr.UnsupportedError, match="32 levels"):
        hr.Series(deep)
    nested: Any = 1
    for _ in range(50):
        nested = {"x": [nested]}
    with pytest.raises(hr.UnsupportedError, match="too many levels"):
        hr.Series([nested])
    with pytest.raises(TypeError, match="dicts and other values"):
        hr.Series([{"x": 1}, 2])
    with pytest.raises(TypeError, match="name of a field is not a string"):
        hr.Series([{1: 1}])
    with pytest.raises(TypeError, match="a field that the dtype does not have"):
        hr.Series([{"x": 1, "z": 1}], dtype="struct[x: int64]")
    with pytest.raises(TypeError, match="unsupported value"):
        hr.Series([{"x": object()}])
    assert hr.Series(POINTS).to_list() == AS_STRUCTS  # the next call works


@pytest.mark.parametrize("call", ["as_tensor", "asarray", "dlpack", "numpy"])
def test_arrays_refuse_structs(call: str) -> None:
    series = hr.Series(POINTS)
    if call == "numpy":
        assert series.to_numpy().tolist() == AS_STRUCTS
        return
    with pytest.raises((hr.Error, BufferError), match="struct"):
        if call == "dlpack":
            series.__dlpack__()
        else:
            hr.asarray(series) + 1


def test_shown() -> None:
    text = repr(
        hr.DataFrame(
            {
                "s": POINTS,
                "m": hr.Series([{"k": 1}, {}, None, {"a": 2, "b": 3}], dtype="map[string, int64]"),
            }
        )
    )
    for cell in (
        "{x: 1, y: a}",
        "null",
        "{k: 1}",
        "{a: 2, b: 3}",
        "struct[x: int64, y: string]",
    ):
        assert cell in text


def test_spilled_structs_come_back(memory_room: Any) -> None:
    rows = 200_000
    x, y = pa.array(range(rows)), pa.array([f"a text of row {i}" for i in range(rows)])
    frame = hr.DataFrame({"s": pa.StructArray.from_arrays([x, y], names=["x", "y"])})
    frame["n"] = range(rows)
    with memory_room("32MB"):
        taken = frame.sort_values("n", ascending=False)["s"]
        last = [{"x": i, "y": f"a text of row {i}"} for i in (rows - 1, rows - 2)]
        assert taken.head(2).to_list() == last
        assert arrow(taken)[-1].as_py() == {"x": 0, "y": "a text of row 0"}


@pytest.mark.parametrize("seed", range(20))
def test_equal_values_of_any_nesting(seed: int) -> None:
    chance = random.Random(seed)
    kind = nested_type(chance, 3)
    one, other = (random_array(chance, kind, 40) for _ in range(2))
    series = hr.Series(one)
    assert series.equals(hr.Series(pa.concat_arrays([one.slice(0, 7), one.slice(7)])))
    for row in range(40):  # one row of the other
        mixed = pa.concat_arrays([one.slice(0, row), other.slice(row, 1), one.slice(row + 1)])
        alike = repr(mixed.to_pylist()) == repr(one.to_pylist())
        assert series.equals(hr.Series(mixed)) == alike


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ([[1, 2], [3]], [[1], [2, 3]]),
        ([[], None], [None, []]),
        ([[1], []], [[1], [None]]),
        ([[[1], []]], [[[1]]]),
        ([{"x": [1]}, None], [{"x": [2]}, None]),
    ],
)
def test_other_values_of_lists_differ(one: list[Any], other: list[Any]) -> None:
    assert hr.Series(one).equals(hr.Series(one))
    assert not hr.Series(one).equals(hr.Series(other))
