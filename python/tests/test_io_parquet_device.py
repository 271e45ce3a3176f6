# SPDX-License-Identifier: Apache-2.0
"""Parquet read to a device: values, nulls, dtypes and errors of the host, whatever the file."""

from __future__ import annotations

import decimal
import io
import random
from typing import Any

import numpy as np
import pytest

import headrace as hr
from headrace import _core

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")

ROWS = 50_000


def table(rows: int, gaps: bool, seed: int = 0) -> Any:
    """Flat columns of the types that kernels read, and some that the host reads."""
    rng = np.random.default_rng(seed)
    gone = rng.random(rows) < 0.2 if gaps else None
    at = np.arange(rows)
    decimals = np.array([decimal.Decimal(i - 500) / 4 for i in range(rows)], object)
    words = np.array([f"word {i % 97} {'x' * (i % 30)}" for i in range(rows)], object)
    unlike = np.array([f"{i * 7919} \u00e4\u4e2d" for i in range(rows)], object)
    return pa.table(
        {
            "i8": pa.array(rng.integers(-100, 100, rows), pa.int8(), mask=gone),
            "u16": pa.array(rng.integers(0, 60_000, rows), pa.uint16(), mask=gone),
            "i32": pa.array(rng.integers(-(2**31), 2**31 - 1, rows), pa.int32(), mask=gone),
            "i64": pa.array(rng.integers(-(2**62), 2**62, rows), mask=gone),
            "few": pa.array(rng.integers(0, 100, rows), mask=gone),
            "f32": pa.array(rng.standard_normal(rows).astype("float32"), mask=gone),
            "f64": pa.array(rng.standard_normal(rows), mask=gone),
            "half": pa.array(rng.standard_normal(rows).astype("float16"), mask=gone),
            "b": pa.array(rng.random(rows) < 0.3, mask=gone),
            "date": pa.array(at.astype("int32"), pa.date32(), mask=gone),
            "ms": pa.array(at * 1000, pa.timestamp("ms"), mask=gone),
            "s": pa.array(at * 1000, pa.timestamp("s"), mask=gone),
            "utc": pa.array(at * 10**9, pa.timestamp("ns", "UTC"), mask=gone),
            "time": pa.array((at % 86_400_000).astype("int32"), pa.time32("ms"), mask=gone),
            "small": pa.array(decimals, pa.decimal128(10, 2), mask=gone),
            "large": pa.array(decimals, pa.decimal128(38, 5), mask=gone),
            "words": pa.array(words, mask=gone),
            "unlike": pa.array(unlike, mask=gone),
            "category": pa.array(words, mask=gone).dictionary_encode(),
            "list": pa.array([[i, None] for i in range(rows)]),
        }
    )


def written(data: Any, **options: Any) -> bytes:
    file = io.BytesIO()
    pq.write_table(data, file, store_schema=True, **options)
    return file.getvalue()


def same(made: hr.DataFrame, host: hr.DataFrame, device: str) -> None:
    assert made.columns == host.columns
    assert len(made) == len(host)
    for name in host.columns:
        column = made[name]
        nested = host[name].dtype.startswith("list")
        if len(host) and not (nested and device == "cuda"):
            assert column.device == f"{device}:0", name
        back = column.to("cpu")
        assert back.dtype == host[name].dtype, name
        assert back.to_arrow().equals(host[name].to_arrow()), name


VERSIONS = ["1.0", "2.0"]
KERNELS = [name for name in table(1, False).column_names if name not in ("category", "list")]


@pytest.mark.parametrize("codec", ["none", "snappy", "zstd"])
@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("gaps", [False, True])
def test_files_of_pyarrow(device: str, codec: str, version: str, gaps: bool) -> None:
    for rows, options in (
        (ROWS, {"row_group_size": 20_011, "data_page_size": 30_000}),
        (ROWS, {"use_dictionary": False, "data_page_size": 300_000}),
        (33, {}),
        (1, {}),
        (0, {}),
    ):
        data = table(rows, gaps)
        file = written(data, compression=codec, data_page_version=version, **options)
        host = hr.read_parquet(file)
        with hr.device(device):
            same(hr.read_parquet(file), host, device)
            same(hr.scan_parquet(file, columns=KERNELS), host[KERNELS], device)


def test_kernels_read_all_but_what_fallbacks_tells(device: str) -> None:
    with hr.device(device):
        for codec in ("none", "snappy", "zstd"):
            file = written(table(ROWS, True), compression=codec)
            hr.read_parquet(file, columns=KERNELS)
            assert not hr.fallbacks()
        with hr.strict():
            hr.read_parquet(file, columns=KERNELS)
        if device == "cuda":
            hr.read_parquet(file)
            assert {fallback[0] for fallback in hr.fallbacks()} == {"read_parquet"}
            assert any("category" in fallback[1] for fallback in hr.fallbacks())


def test_own_files(device: str) -> None:
    frame = hr.read_parquet(written(table(ROWS, True)))
    for compression in ("none", "snappy", "zstd"):
        for layout in ("default", "gpu"):
            file = frame.to_parquet(compression=compression, layout=layout)
            host = hr.read_parquet(file)
            with hr.device(device):
                same(hr.read_parquet(file), host, device)


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("gaps", [False, True])
def test_packed_differences(device: str, version: str, gaps: bool) -> None:
    names = ["i32", "i64", "few", "date", "ms", "s", "utc", "time"]
    data = table(ROWS, gaps).select(names)
    encodings = dict.fromkeys(names, "DELTA_BINARY_PACKED")
    theirs = written(
        data,
        use_dictionary=False,
        column_encoding=encodings,
        data_page_version=version,
        row_group_size=20_011,
    )
    ours = hr.read_parquet(theirs).to_parquet()
    for file in (theirs, ours):
        columns = pq.ParquetFile(io.BytesIO(file)).metadata.row_group(0)
        used = [columns.column(c).encodings for c in range(len(names))]
        assert sum("DELTA_BINARY_PACKED" in encodings for encodings in used) >= 4
        host = hr.read_parquet(file)
        with hr.device(device), hr.strict():
            same(hr.read_parquet(file), host, device)


def test_filters_leave_groups_out(device: str, tmp_path: Any) -> None:
    path = str(tmp_path / "x.parquet")
    data = table(ROWS, True).append_column("row", pa.array(np.arange(ROWS)))
    pq.write_table(data, path, row_group_size=5_000)
    names = ["row", "f64", "words", "b", "unlike"]
    host = hr.read_parquet(path, columns=names)
    for test in (
        lambda x: (x["row"] > 12_000) & (x["row"] < 13_000),
        lambda x: x["row"] < 0,
        lambda x: (x["f64"] > 0.5) & (x["row"] >= 30_000),
        lambda x: x["row"].isin([3, 20_000, 49_999]),
    ):
        with hr.device(device):
            scan = hr.scan_parquet(path, columns=names)
            made = scan[test(scan)][["words", "row", "b"]]
            hr.eval(made)
        same(made, host[test(host)][["words", "row", "b"]], device)


def test_several_files(device: str, tmp_path: Any) -> None:
    for at in range(3):
        folder = tmp_path / f"part={at}"
        folder.mkdir()
        data = table(1000 + at, at != 1, at).select(KERNELS)
        pq.write_table(data, folder / "x.parquet", row_group_size=400)
    host = hr.read_parquet(str(tmp_path))
    with hr.device(device):
        same(hr.read_parquet(str(tmp_path)), host, device)
        scan = hr.scan_parquet(str(tmp_path))
        made = scan[scan["i8"] > 50]
        hr.eval(made)
    same(made, host[host["i8"] > 50], device)


def outcome(file: bytes, names: list[str]) -> Any:
    try:
        frame = hr.read_parquet(file, columns=names)
        columns = [frame[name].to("cpu").to_arrow() for name in frame.columns]
        bits = {pa.float64(): pa.int64(), pa.float32(): pa.int32()}  # of which NaN is equal
        return [column.view(bits.get(column.type, column.type)) for column in columns]
    except hr.Error as error:
        return type(error), str(error)


@pytest.mark.parametrize("codec", ["none", "snappy", "zstd"])
def test_damaged_files(device: str, codec: str) -> None:
    random.seed(5)
    names = [name for name in KERNELS if name != "half"]
    data = table(700, True).select(names)
    errors = 0
    for options in ({"data_page_size": 500}, {"use_dictionary": False}):
        file = written(data, compression=codec, row_group_size=300, **options)
        for _ in range(150):
            damaged = bytearray(file)
            places = random.choice((1, 1, 3, 40))
            for _ in range(places):
                damaged[random.randrange(4, len(damaged) - 8)] = random.randrange(256)
            host = outcome(bytes(damaged), names)
            with hr.device(device):
                made = outcome(bytes(damaged), names)
            if places > 1 and isinstance(host, tuple):  # which of the errors comes first may differ
                made, host = made[:1], host[:1]
            assert made == host
            errors += isinstance(host, tuple)
    assert errors > 50


def test_budget(device: str) -> None:
    if device == "sim" or not _core.built_with_cuda():
        pytest.skip("the limit of a CUDA device")
    file = written(table(ROWS, False).select(["i64", "f64"]))
    with hr.device(device), hr.memory.limit(2**20, device="cuda"):
        frame = hr.read_parquet(file)
        assert frame["i64"].device == "host"
    assert frame.equals(hr.read_parquet(file))
