# SPDX-License-Identifier: Apache-2.0
"""Structs, maps and lists of Parquet files as pyarrow and Polars write them."""

from __future__ import annotations

import io
import random
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from nested_data import nested_type, random_array

import headrace as hr


def written(table: pa.Table, **options: Any) -> bytes:
    """The file as pyarrow writes it."""
    sink = io.BytesIO()
    pq.write_table(table, sink, **options)
    return sink.getvalue()


@pytest.mark.parametrize("seed", range(60))
def test_any_nesting_is_read(seed: int, tmp_path: Path) -> None:
    chance = random.Random(seed)
    rows = chance.choice((1, 7, 64, 300))
    dtypes = [nested_type(chance, 1 + seed % 5) for _ in range(2)]
    while any(
        "struct<>" in str(dtype) for dtype in dtypes
    ):  # Parquet has no structs without fields
        dtypes = [nested_type(chance, 1 + seed % 5) for _ in range(2)]
    columns = [random_array(chance, dtype, rows) for dtype in dtypes]
    table = pa.table({"n": range(rows), "a": columns[0], "b": columns[1]})
    path = tmp_path / "nested.parquet"
    path.write_bytes(
        written(
            table,
            row_group_size=chance.choice((5, 100, 1000)),
            data_page_size=chance.choice((16, 4096)),
            data_page_version=chance.choice(("1.0", "2.0")),
            use_dictionary=chance.random() < 0.5,
            compression=chance.choice(("none", "snappy", "zstd")),
            store_schema=chance.random() < 0.7,
        )
    )
    wanted = table.to_pydict()
    frame = hr.read_parquet(path)
    for name in ("a", "b"):
        assert frame[name].to_list() == wanted[name]
        assert frame[name].to_arrow().to_pylist() == wanted[name]
    scanned = hr.scan_parquet(path)
    assert scanned["b"].to_list() == wanted["b"]
    picked = scanned[scanned["n"] % 3 == 1]
    assert picked["a"].to_list() == wanted["a"][1::3]
    assert scanned.head(2)["a"].to_list() == wanted["a"][:2]


@pytest.mark.parametrize("threads", [1, 4])
def test_several_groups(threads: int) -> None:
    rows = 150_000
    points = pa.StructArray.from_arrays(
        [pa.array(range(rows)), pa.array([f"text {i % 100}" for i in range(rows)])],
        names=["x", "y"],
        mask=pa.array([i % 11 == 0 for i in range(rows)]),
    )
    bytes_ = written(pa.table({"p": points}), row_group_size=40_000)
    with hr.threads(threads):
        frame = hr.read_parquet(io.BytesIO(bytes_))
        assert frame["p"].dtype == "struct[x: int64, y: string]"
        assert frame["p"].to_list() == points.to_pylist()
        assert frame["p"].struct.x.sum() == sum(i for i in range(rows) if i % 11)


def test_details_of_fields_come_back() -> None:
    dtype = pa.struct(
        [
            ("t", pa.timestamp("us", "Europe/Berlin")),
            ("d", pa.duration("ms")),
            ("c", pa.dictionary(pa.int32(), pa.string())),
            ("n", pa.decimal128(9, 2)),
        ]
    )
    table = pa.table({"s": pa.array([None, {"t": 1, "d": 5, "c": "x", "n": None}], dtype)})
    made = hr.read_parquet(io.BytesIO(written(table)))["s"]
    assert made.dtype == (
        "struct[t: datetime64[us, Europe/Berlin], d: timedelta64[ms], c: category, "
        "n: decimal128(9, 2)]"
    )
    assert made.to_list() == table["s"].to_pylist()


def test_polars_files() -> None:
    frame = pl.DataFrame(
        {"s": [{"x": 1, "l": [{"y": "a"}, None]}, None], "l": [[{"z": [1.5]}], []]}
    )
    sink = io.BytesIO()
    frame.write_parquet(sink)
    made = hr.read_parquet(io.BytesIO(sink.getvalue()))
    assert made["s"].to_list() == frame["s"].to_list()
    assert made["l"].to_list() == frame["l"].to_list()


def test_too_deep_is_refused() -> None:
    array: Any = pa.array([1])
    for _ in range(33):
        array = pa.StructArray.from_arrays([array], names=["x"])
    bytes_ = written(pa.table({"deep": array, "n": [1]}))
    with pytest.raises(hr.UnsupportedError, match="column='deep'"):
        hr.read_parquet(io.BytesIO(bytes_))
    assert hr.read_parquet(io.BytesIO(bytes_), columns=["n"])["n"].to_list() == [1]


def test_damaged_bytes_are_refused() -> None:
    chance = random.Random(1)
    array = random_array(
        chance, pa.struct([("x", pa.large_list(pa.int64())), ("y", pa.string())]), 50
    )
    good = written(pa.table({"s": array}), compression="none")
    for _ in range(300):
        bad = bytearray(good)
        for _ in range(chance.randrange(1, 4)):
            bad[chance.randrange(len(bad))] = chance.randrange(256)
        try:
            hr.read_parquet(io.BytesIO(bytes(bad))).to_dict()
        except hr.Error as error:
            assert not isinstance(error, hr.InternalError)
    assert hr.read_parquet(io.BytesIO(good))["s"].to_list() == array.to_pylist()
