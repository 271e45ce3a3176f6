# SPDX-License-Identifier: Apache-2.0
"""The Parquet reader against pyarrow: every type, encoding, codec and writer; damaged files."""

from __future__ import annotations

import datetime
import decimal
import io
import random
import uuid
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import headrace as hr

CODECS = ["none", "snappy", "gzip", "zstd", "lz4", "brotli"]
ROWS = 3000


def table(rows: int = ROWS) -> pa.Table:
    """Columns of all types that frames have, most of them with nulls."""
    rng = np.random.default_rng(0)
    gone = rng.random(rows) < 0.1
    at = np.arange(rows)
    texts = ["x" * (i % 40) + str(i % 77) for i in range(rows)]
    return pa.table(
        {
            "i8": pa.array(rng.integers(-100, 100, rows), pa.int8(), mask=gone),
            "u16": pa.array(rng.integers(0, 60_000, rows), pa.uint16()),
            "u32": pa.array(rng.integers(0, 2**32 - 1, rows), pa.uint32(), mask=gone),
            "u64": pa.array(rng.integers(0, 2**63 - 1, rows).astype("uint64") * 2, mask=gone),
            "i64": pa.array(at, mask=gone),
            "f": pa.array(rng.random(rows), mask=gone),
            "f32": pa.array(rng.random(rows).astype("f4")),
            "b": pa.array(rng.random(rows) < 0.5, mask=gone),
            "all": pa.array(rng.random(rows) < 0.5),
            "s": pa.array(texts, mask=gone),
            "é": pa.array([text + "é" for text in texts], pa.large_string()),
            "d": pa.array(at.astype("datetime64[D]"), mask=gone),
            "sec": pa.array(at.astype("datetime64[s]"), mask=gone),
            "ns": pa.array(at.astype("datetime64[ns]")),
            "zone": pa.array(at.astype("datetime64[us]"), pa.timestamp("us", "Europe/Berlin")),
            "dur": pa.array(at.astype("timedelta64[us]"), mask=gone),
            "dec": pa.array(
                [decimal.Decimal(int(row)) / 4 for row in at], pa.decimal128(12, 2), mask=gone
            ),
            "wide": pa.array([decimal.Decimal(-(10**30) - i) for i in range(rows)]),
            "cat": pa.array([f"k{i % 5}" for i in range(rows)], mask=gone).dictionary_encode(),
            "l": pa.array([None if i % 7 == 0 else list(range(i % 5)) for i in range(rows)]),
            "ll": pa.array(
                [
                    None
                    if i % 11 == 0
                    else [None if j % 3 == 2 else ["a" * j * 5] * j for j in range(i % 4)]
                    for i in range(rows)
                ]
            ),
            "none": pa.nulls(rows),
        }
    )


def written(values: pa.Table, **options: Any) -> bytes:
    file = io.BytesIO()
    pq.write_table(values, file, **options)
    return file.getvalue()


def check(content: bytes) -> None:
    """What we read whole, and filtered batch by batch, is what pyarrow reads."""
    ours = hr.read_parquet(content)
    read = pq.read_table(io.BytesIO(content))
    if "sec" in read.column_names and b"parquet-cpp-arrow" in content:  # it reads ms
        place = read.column_names.index("sec")
        read = read.set_column(place, "sec", read["sec"].cast(pa.timestamp("s")))
    theirs = hr.from_arrow(read)
    assert ours.columns == theirs.columns
    for name in ours.columns:
        assert ours[name].dtype == theirs[name].dtype, name
        assert repr(ours[name].to_list()) == repr(theirs[name].to_list()), name
    filters: list[Any] = [lambda f: f.i64 > ROWS - 700] if "i64" in ours.columns else []
    if "u16" in ours.columns:
        filters += [lambda f, n=n: f.u16 < n for n in (300, 30_000, 59_500)]
    for where in filters:
        scan = hr.scan_parquet(content)
        picked, expected = scan[where(scan)], theirs[where(theirs)]
        for name in ours.columns:
            assert repr(picked[name].to_list()) == repr(expected[name].to_list()), name


@pytest.mark.parametrize("codec", CODECS)
@pytest.mark.parametrize("version", ["1.0", "2.0"])
def test_files_of_pyarrow(codec: str, version: str) -> None:
    values = table()
    for dictionary, rows in ((True, ROWS), (False, 777)):
        check(
            written(
                values,
                compression=codec,
                data_page_version=version,
                use_dictionary=dictionary,
                row_group_size=rows,
                data_page_size=2000,
                write_page_checksum=True,
            )
        )


@pytest.mark.parametrize("version", ["1.0", "2.0"])
@pytest.mark.parametrize("text", ["DELTA_BYTE_ARRAY", "DELTA_LENGTH_BYTE_ARRAY", "PLAIN"])
def test_encodings(version: str, text: str) -> None:
    encodings = {
        **dict.fromkeys(["i8", "i64", "u32", "u64", "sec", "ns"], "DELTA_BINARY_PACKED"),
        **dict.fromkeys(["f", "f32", "u16", "d", "dur"], "BYTE_STREAM_SPLIT"),
        "dec": "DELTA_BYTE_ARRAY" if text == "PLAIN" else "BYTE_STREAM_SPLIT",
        **dict.fromkeys(["b", "all"], "RLE"),
        **dict.fromkeys(["s", "é"], text),
    }
    check(
        written(
            table(),
            data_page_version=version,
            use_dictionary=False,
            column_encoding=encodings,
            row_group_size=1777,
            data_page_size=3000,
        )
    )


def test_a_dictionary_that_grew_too_large() -> None:
    values = pa.table({"s": [f"text number {i}" for i in range(20_000)], "i64": range(20_000)})
    check(written(values, dictionary_pagesize_limit=20_000, data_page_size=5000))
    coded = values.set_column(0, "s", values["s"].dictionary_encode())
    check(written(coded, dictionary_pagesize_limit=20_000, row_group_size=9000))


@pytest.mark.parametrize("codec", ["uncompressed", "snappy", "gzip", "zstd", "lz4", "brotli"])
def test_files_of_polars(codec: Any) -> None:
    for rows, pages in ((None, None), (700, 3000)):
        file = io.BytesIO()
        pl.from_arrow(table()).write_parquet(  # type: ignore[union-attr]
            file, compression=codec, row_group_size=rows, data_page_size=pages
        )
        check(file.getvalue())


@pytest.mark.parametrize("codec", ["uncompressed", "snappy", "gzip", "zstd", "lz4_raw", "brotli"])
def test_files_of_duckdb(codec: str, tmp_path: Path) -> None:
    values = table().drop_columns(["none", "cat", "dur"])
    contents = []
    with duckdb.connect() as connection:
        connection.register("t", values)
        connection.sql("set timezone = 'UTC'")
        for version in ("V1", "V2"):
            path = tmp_path / f"{version}.parquet"
            options = f"codec {codec}, parquet_version {version}, row_group_size 2048"
            connection.sql(f"copy t to '{path}' (format parquet, {options})")
            contents.append(path.read_bytes())
    check(contents[0])
    # pyarrow 26 cannot read the encodings of the other version.
    first, second = (hr.read_parquet(content) for content in contents)
    assert first.dtypes.to_dict() == second.dtypes.to_dict()
    assert repr(first.to_dict()) == repr(second.to_dict())


def test_types_that_only_files_have(tmp_path: Path) -> None:
    path = str(tmp_path / "x.parquet")
    with duckdb.connect() as connection:
        connection.sql(
            f"""copy (select i, uuid_of as u, (i * 1000)::int::varchar::json as j,
            time '01:02:03.5' as t, (case when i % 2 = 0 then 'a' else 'b' end)::enum('a', 'b') as e
            from (select i, '00112233-4455-6677-8899-aabbccddee' || (10 + i) as text,
                  text::uuid as uuid_of from range(5) r(i))) to '{path}'"""
        )
    frame = hr.read_parquet(path)
    assert frame.u.to_list() == [f"00112233-4455-6677-8899-aabbccddee{10 + i}" for i in range(5)]
    assert uuid.UUID(frame.u.to_list()[0])
    assert frame.j.to_list() == [str(1000 * i) for i in range(5)]
    assert frame.t.to_list()[0] == datetime.timedelta(hours=1, minutes=2, seconds=3.5)
    assert frame.e.to_list() == ["a", "b", "a", "b", "a"]
    values = pa.table(
        {
            "half": pa.array(np.array([0.5, np.nan, -65504], "f2")),
            "ms": pa.array([1, None, 3], pa.time32("ms")),
            "ns": pa.array([1, None, 3], pa.time64("ns")),
            "fixed": pa.array([[1, 2], None, [3, 4]], pa.list_(pa.int16(), 2)),
        }
    )
    frame = hr.read_parquet(written(values))
    assert repr(frame.half.to_list()) == "[0.5, nan, -65504.0]"
    assert [str(dtype) for dtype in frame.dtypes] == [
        *("float32", "timedelta64[ms]", "timedelta64[ns]", "list[int16]")
    ]
    assert frame.ns.astype("int64").to_list() == [1, None, 3]
    assert frame.fixed.to_list() == [[1, 2], None, [3, 4]]


def test_old_timestamps_and_decimals_of_integers() -> None:
    values = pa.table({"t": pa.array([0, None, -1, 10**18], pa.timestamp("ns"))})
    check(written(values, use_deprecated_int96_timestamps=True))
    times = pa.table({"t": pa.array([2**55], pa.timestamp("s"))})
    with pytest.raises((hr.Error, pa.ArrowInvalid)):
        hr.read_parquet(written(times, use_deprecated_int96_timestamps=True))
    amounts = [decimal.Decimal("1.25"), None, decimal.Decimal("-9.99")]
    for digits in (4, 12, 25):
        values = pa.table({"d": pa.array(amounts, pa.decimal128(digits, 2))})
        check(written(values, store_decimal_as_integer=True))


def test_what_frames_do_not_have_is_named() -> None:
    values = pa.table(
        {
            "x": [1],
            "bytes": pa.array([b"a"]),
            "struct": [{"a": 1, "b": b"a"}],
            "map": pa.array([[("a", b"a")]], pa.map_(pa.string(), pa.binary())),
            "deep": [[{"a": b"a"}]],
            "fixed": pa.array([b"abc"], pa.binary(3)),
            "y": [2.5],
        }
    )
    content = written(values)
    assert hr.read_parquet(content, columns=["y", "x"]).to_dict() == {"y": [2.5], "x": [1]}
    for name in ("bytes", "struct", "map", "deep", "fixed"):
        for read in (hr.read_parquet, hr.scan_parquet):
            with pytest.raises(hr.UnsupportedError, match=f"column='{name}'.*columns="):
                read(content, columns=["x", name])
    with pytest.raises(hr.UnsupportedError, match="NUL"):
        hr.read_parquet(written(pa.table({"a\0b": [1]})))


def test_no_rows_no_columns_no_groups() -> None:
    check(written(table().slice(0, 0)))
    assert hr.read_parquet(written(pa.table({}))).shape == (0, 0)
    file = io.BytesIO()
    with pq.ParquetWriter(file, table().schema) as writer:
        writer.write_table(table().slice(0, 0))
        writer.write_table(table().slice(0, 10))
        writer.write_table(table().slice(0, 0))
    check(file.getvalue())


def test_the_same_bits_for_any_threads_under_a_limit(memory_room: Any) -> None:
    content = written(table(), row_group_size=500, data_page_size=1500)
    expected = repr(hr.read_parquet(content).to_dict())
    for count in (1, 2, 4):
        with hr.threads(count), memory_room("64MB"):
            assert repr(hr.read_parquet(content).to_dict()) == expected
            scan = hr.scan_parquet(content)
            assert repr(scan.to_dict()) == expected


def test_a_result_larger_than_the_limit(memory_room: Any) -> None:
    numbers = np.random.default_rng(0).integers(0, 100, 500_000)
    content = written(pa.table({"x": numbers, "s": numbers.astype(str)}))
    before = hr.memory.stats().used_bytes
    with memory_room("8MB"):
        frame = hr.read_parquet(content)
        assert frame.x.sum().item() == numbers.sum()
        assert (frame.s == "7").sum().item() == (numbers == 7).sum()
        del frame
    assert hr.memory.stats().used_bytes <= before


def damaged(content: bytes, chance: random.Random) -> bytes:
    changed = bytearray(content)
    for _ in range(chance.choice([1, 1, 2, 5])):
        at = chance.randrange(len(changed))
        changed[at] = chance.choice([changed[at] ^ 1 << chance.randrange(8), 0, 127, 128, 255])
    return bytes(changed)


@pytest.mark.parametrize("codec", CODECS)
def test_damaged_files_are_frames_or_errors(codec: str) -> None:
    chance = random.Random(codec)
    small = table(100)
    for version, dictionary in (("1.0", True), ("2.0", False)):
        content = written(
            small,
            compression=codec,
            data_page_version=version,
            use_dictionary=dictionary,
            row_group_size=70,
            data_page_size=300,
        )
        contents = [damaged(content, chance) for _ in range(700)]
        contents += [content[:size] for size in range(0, len(content), 31)]
        for each in contents:
            try:
                hr.read_parquet(each).to_arrow().validate(full=True)
            except (hr.InputError, hr.UnsupportedError, hr.OutOfMemoryError) as error:
                assert "read_parquet" in str(error)
            except hr.InvalidArgumentError as error:
                assert "column" in str(error)  # two of one name


def test_checksums_are_compared() -> None:
    values = pa.table({"x": np.arange(1000)})
    content = written(values, compression="none", use_dictionary=False, write_page_checksum=True)
    at = content.index(np.arange(500, 510).tobytes())
    changed = content[:at] + b"\1" + content[at + 1 :]
    with pytest.raises(hr.InputError, match=r"checksum.*column='x', row_group=0"):
        hr.read_parquet(changed)


def test_files_that_cannot_seek(tmp_path: Path) -> None:
    content = written(table(200))

    class Pipe:
        """A file of which only reading is left."""

        def __init__(self) -> None:
            self.file = io.BytesIO(content)

        def read(self, size: int = -1) -> bytes:
            return self.file.read(min(size, 1000))

    assert repr(hr.read_parquet(Pipe()).to_dict()) == repr(  # type: ignore[arg-type]
        hr.read_parquet(content).to_dict()
    )
    with pytest.raises(hr.TypeMismatchError, match="binary"):
        hr.read_parquet(io.StringIO("PAR1" * 10))  # type: ignore[arg-type]


def test_two_columns_of_one_name(tmp_path):
    table = pa.Table.from_arrays([pa.array([1]), pa.array([2]), pa.array([3])], ["a", "a", "b"])
    pq.write_table(table, tmp_path / "x.parquet")
    with pytest.raises(hr.InputError, match=r"read_parquet: two columns.*column='a', path='.*x\.p"):
        hr.read_parquet(tmp_path / "x.parquet")
    assert hr.read_parquet(tmp_path / "x.parquet", columns=["b", "a"]).to_dict() == {
        "b": [3],
        "a": [1],
    }


def test_damage_of_pages_that_are_unpacked_together_names_its_row_group(tmp_path: Path) -> None:
    """Pages of two row groups are unpacked at once; the damaged one is named, the others read."""
    groups, each = 40, 10_000
    table = pa.table({"x": np.random.default_rng(1).integers(0, 1 << 20, groups * each)})
    sink = io.BytesIO()
    pq.write_table(table, sink, row_group_size=each, use_dictionary=False)
    assert hr.read_parquet(sink.getvalue()).x.to_list() == table["x"].to_pylist()
    for group in (6, 7):
        column = pq.ParquetFile(sink).metadata.row_group(group).column(0)
        begin, size = column.data_page_offset, column.total_compressed_size
        damaged = bytearray(sink.getvalue())
        damaged[begin + size // 2 : begin + size // 2 + 64] = b"\xff" * 64
        with pytest.raises(hr.InputError, match=rf"the file is damaged.*row_group={group}"):
            hr.read_parquet(bytes(damaged))
