# SPDX-License-Identifier: Apache-2.0
"""Structs, maps and lists of our own writer, read back by pyarrow, Polars, DuckDB and by us."""

from __future__ import annotations

import datetime
import decimal
import io
import random
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from nested_data import nested_type, random_array

import headrace as hr


def array_of(seed: int, rows: int, maps: bool = True) -> pa.Array:
    """Rows of a random dtype that Parquet has: no struct in it is without fields."""
    chance = random.Random(seed)
    dtype = nested_type(chance, 1 + seed % 5, maps)
    while "struct<>" in str(dtype):
        dtype = nested_type(chance, 1 + seed % 5, maps)
    return random_array(chance, dtype, rows)


def frame_of(**columns: pa.Array) -> hr.DataFrame:
    frame = hr.from_arrow(pa.table(columns))
    assert isinstance(frame, hr.DataFrame)
    return frame


def as_python(value: Any) -> Any:
    """Entries of maps as pairs, whatever a library makes of them."""
    if isinstance(value, dict) and set(value) == {"key", "value"}:
        return (as_python(value["key"]), as_python(value["value"]))
    if isinstance(value, dict):
        return {name: as_python(each) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return type(value)(as_python(each) for each in value)
    return value


@pytest.mark.parametrize("seed", range(60))
def test_any_nesting_is_written(seed: int, tmp_path: Path) -> None:
    rows = (0, 1, 7, 64, 65, 300)[seed % 6]
    array, other = array_of(seed, rows), array_of(seed + 1000, rows)
    frame = frame_of(n=pa.array(range(rows), pa.int64()), a=array, b=other)
    path = tmp_path / "x.parquet"
    options: dict[str, Any] = {"row_group_size": (5, 100, 1000)[seed % 3]}
    frame.to_parquet(path, compression=("snappy", "zstd", "none")[seed % 3], **options)
    theirs, ours = pq.read_table(path), hr.read_parquet(path)
    for name, want in (("a", array), ("b", other)):
        assert theirs[name].to_pylist() == want.to_pylist()
        assert ours[name].to_list() == frame[name].to_list()
        assert ours[name].dtype == frame[name].dtype
    part = frame[rows // 3 : rows - rows // 5]
    part.to_parquet(path)
    want = array.to_pylist()[rows // 3 : rows - rows // 5]
    assert pq.read_table(path)["a"].to_pylist() == want
    picked = frame[frame.n % 3 == 1]
    picked.to_parquet(path)
    assert pq.read_table(path)["a"].to_pylist() == array.to_pylist()[1::3]


@pytest.mark.parametrize("seed", range(40))
def test_polars_and_duckdb_read_any_nesting(seed: int, tmp_path: Path) -> None:
    rows = (1, 7, 65, 300)[seed % 4]
    path = tmp_path / "x.parquet"
    flat = array_of(seed, rows, maps=False)  # Polars has no maps
    frame_of(a=flat).to_parquet(path, row_group_size=100)
    assert pl.read_parquet(path)["a"].to_list() == flat.to_pylist()
    array = array_of(seed, rows)
    frame_of(a=array).to_parquet(path, row_group_size=100)
    with duckdb.connect() as connection:
        read = connection.sql(f"select * from '{path}'").to_arrow_table()
    assert as_python(read["a"].to_pylist()) == as_python(array.to_pylist())


def every_field(rows: int) -> pa.Array:
    """Structs with a field of each type, nulls at both levels."""
    random = np.random.default_rng(rows)
    few = random.integers(0, 7, rows)
    fields = {f"i{bits}": pa.array(few.astype(f"int{bits}")) for bits in (8, 16, 32, 64)}
    fields |= {f"u{bits}": pa.array(few.astype(f"uint{bits}")) for bits in (8, 16, 32, 64)}
    fields |= {f"f{bits}": pa.array((few / 2).astype(f"float{bits}")) for bits in (32, 64)}
    fields["bool"] = pa.array(few % 2 == 0)
    fields["s"] = pa.array(
        [("", "ü", "a longer text than a view holds")[i % 3] for i in few], pa.string()
    )
    fields["date"] = pa.array((few * 1000).astype("int32")).cast(pa.date32())
    for unit in ("ms", "us", "ns"):
        fields[f"t {unit}"] = pa.array(few).cast(pa.timestamp(unit))
        fields[f"z {unit}"] = pa.array(few).cast(pa.timestamp(unit, "Europe/Berlin"))
        fields[f"d {unit}"] = pa.array(few).cast(pa.duration(unit))
    for digits in (5, 15, 30):
        numbers = [decimal.Decimal(int(i)).scaleb(-2) for i in few]
        fields[f"decimal {digits}"] = pa.array(numbers, pa.decimal128(digits, 2))
    missing = pa.array(random.random(rows) < 0.2)
    with_nulls = [
        pa.compute.if_else(missing, pa.scalar(None, each.type), each) for each in fields.values()
    ]
    return pa.StructArray.from_arrays(
        with_nulls, names=list(fields), mask=pa.array(random.random(rows) < 0.2)
    )


@pytest.mark.parametrize("rows", [0, 1, 63, 64, 65, 4000])
def test_fields_of_every_type(rows: int, tmp_path: Path) -> None:
    array = every_field(rows)
    offsets = pa.array(np.arange(0, rows + 1, dtype="int64"))
    keys = pa.array([f"k{i}" for i in range(rows)], pa.string())
    many = pa.MapArray.from_arrays(offsets.cast(pa.int32()), keys, array)
    frame = frame_of(a=array, l=pa.LargeListArray.from_arrays(offsets, array), m=many)
    path = tmp_path / "x.parquet"
    frame.to_parquet(path, row_group_size=1500)
    theirs = pq.read_table(path)
    assert theirs["a"].to_pylist() == array.to_pylist()
    assert theirs["l"].to_pylist() == [[each] for each in array.to_pylist()]
    assert theirs["m"].to_pylist() == many.to_pylist()
    for field in theirs.schema.field("a").type:
        assert field.type == array.type.field(field.name).type
    ours = hr.read_parquet(path)
    assert ours.to_arrow().equals(frame.to_arrow())
    assert pl.read_parquet(path, columns=["a"])["a"].struct["s"].to_list() == [
        each and each["s"] for each in array.to_pylist()
    ]


def test_details_of_fields_come_back() -> None:
    dtype = pa.struct(
        [
            ("t", pa.timestamp("us", "Europe/Berlin")),
            ("d", pa.duration("ms")),
            ("c", pa.dictionary(pa.int32(), pa.string(), ordered=True)),
            ("n", pa.decimal128(9, 2)),
            ("sec", pa.timestamp("s")),
        ]
    )
    frame = frame_of(s=pa.array([None, {"t": 1, "d": 5, "c": "x", "n": None, "sec": 7}], dtype))
    made = hr.read_parquet(frame.to_parquet())
    assert made.s.dtype == frame.s.dtype
    assert made.to_arrow().equals(frame.to_arrow())
    assert made.s.struct.c.cat.ordered
    theirs = pq.read_table(io.BytesIO(frame.to_parquet() or b""))
    assert theirs["s"][1].as_py()["sec"] == datetime.datetime(1970, 1, 1, 0, 0, 7)


def test_the_same_bytes_for_any_number_of_threads() -> None:
    frame = frame_of(a=array_of(3, 5000), b=array_of(7, 5000), c=every_field(5000))
    made = set()
    for threads in (1, 2, 4):
        with hr.threads(threads):
            made.add(frame.to_parquet(row_group_size=700, compression="zstd"))
    assert len(made) == 1


def test_made_by_frames_themselves(tmp_path: Path) -> None:
    frame = hr.DataFrame({"k": [1, 2, 1], "x": [1.5, None, 2.5], "s": ["a", "b", None]})
    frame["both"] = frame[["x", "s"]].to_struct()
    made = frame.sort_values("k").groupby("k").agg({"both": list}).reset_index()
    made.to_parquet(tmp_path / "x.parquet")
    want = [{"x": 1.5, "s": "a"}, {"x": 2.5, "s": None}], [{"x": None, "s": "b"}]
    assert pq.read_table(tmp_path / "x.parquet")["both"].to_pylist() == list(want)
    assert pl.read_parquet(tmp_path / "x.parquet")["both"].to_list() == list(want)
    assert hr.read_parquet(tmp_path / "x.parquet").both.to_list() == list(want)


def test_a_struct_without_fields_is_refused(tmp_path: Path) -> None:
    frame = frame_of(n=pa.array([1, 2]), s=pa.array([{}, None], pa.struct([])))
    with pytest.raises(hr.UnsupportedError, match="column='s'"):
        frame.to_parquet(tmp_path / "x.parquet")
    assert list(tmp_path.iterdir()) == []
    frame[["n"]].to_parquet(tmp_path / "x.parquet")
    assert hr.read_parquet(tmp_path / "x.parquet").n.to_list() == [1, 2]
