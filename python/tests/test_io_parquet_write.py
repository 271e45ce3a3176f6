# SPDX-License-Identifier: Apache-2.0
"""Parquet files of our own writer, read back by pyarrow, Polars, DuckDB and by us."""

from __future__ import annotations

import datetime
import decimal
import io
import os
import threading
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.dataset
import pyarrow.parquet as pq
import pytest

import headrace as hr

GROUP = 1 << 20
CODECS = ["snappy", "zstd", "gzip", "lz4", "brotli", "none"]


def every_dtype(rows: int) -> pa.Table:
    """Columns of all types, with and without nulls, in many and few distinct values."""
    random = np.random.default_rng(rows)
    missing = random.random(rows) < 0.3
    few, many = random.integers(0, 7, rows), random.integers(-(2**62), 2**62, rows)
    columns: dict[str, pa.Array] = {}

    def add(name: str, values: Any, kind: pa.DataType | None = None) -> None:
        column = pa.array(values, from_pandas=False)
        column = column if kind is None else column.cast(kind)
        columns[name] = column
        columns[name + " null"] = pa.compute.if_else(
            pa.array(missing), pa.scalar(None, column.type), column
        )

    for bits in (8, 16, 32, 64):
        for word, values in (("few", few), ("many", many)):
            add(f"i{bits} {word}", values.astype(f"int{bits}"))
            add(f"u{bits} {word}", values.astype(f"uint{bits}"))
    add("i64 sorted", np.sort(many))
    add("i64 steps", np.arange(rows) // 1000)
    floats = random.normal(size=rows)
    add("f64", np.where(few == 3, np.nan, floats))
    add("f64 few", few * 0.5 - 1)
    add("f32", floats.astype("float32"))
    add("bool", few % 2 == 0)
    texts = [f"word {i}" * (i % 5) for i in many % 1000]
    add("s", texts, pa.string())
    add("s many", [f"{i:x}ü" for i in many], pa.string())
    add("s few", [("", "ü", "a longer text than a view holds")[i % 3] for i in few], pa.string())
    add("date", (few * 1000).astype("int32"), pa.date32())
    for unit in ("s", "ms", "us", "ns"):
        ticks = pa.array(many % 10**9)
        add(f"t {unit}", ticks, pa.timestamp(unit))
        add(f"z {unit}", ticks, pa.timestamp(unit, "Europe/Berlin"))
        add(f"d {unit}", ticks, pa.duration(unit))
    for digits in (5, 15, 30):
        numbers = [decimal.Decimal(int(i)).scaleb(-2) for i in many % 10**5]
        add(f"decimal {digits}", pa.array(numbers, pa.decimal128(digits, 2)))
    columns["list"] = pa.array(
        [[int(i), None][: i % 3] if i < 5 else None for i in few], pa.list_(pa.int64())
    )
    columns["lists"] = pa.array(
        [[["a", None][: i % 3], None, []][: i % 4] for i in few], pa.list_(pa.list_(pa.string()))
    )
    return pa.table(columns)


def frame_of(table: pa.Table) -> hr.DataFrame:
    frame = hr.from_arrow(table)
    assert isinstance(frame, hr.DataFrame)
    return frame


def plain(table: pa.Table) -> pa.Table:
    """The table with one form of strings and lists, and without seconds, as Parquet has it."""

    def kind_of(kind: pa.DataType) -> pa.DataType:
        if pa.types.is_large_string(kind) or pa.types.is_string_view(kind):
            return pa.string()
        if pa.types.is_large_list(kind) or pa.types.is_list(kind):
            return pa.list_(pa.field("element", kind_of(kind.value_type)))
        if pa.types.is_timestamp(kind) and kind.unit == "s":
            return pa.timestamp("ms", kind.tz)
        return kind

    fields = [pa.field(each.name, kind_of(each.type)) for each in table.schema]
    return table.combine_chunks().cast(pa.schema(fields))


def same(ours: pa.Table, theirs: pa.Table) -> None:
    ours, theirs = plain(ours), plain(theirs)
    assert ours.schema.names == theirs.schema.names
    for name in ours.schema.names:
        a, b = ours[name], theirs[name]
        assert a.type == b.type, name
        # NaN differs from itself there.
        if pa.types.is_floating(a.type):
            np.testing.assert_array_equal(a.to_pandas(), b.to_pandas())
        assert a.is_null().equals(b.is_null()), name
        assert pa.types.is_floating(a.type) or a.equals(b), name


@pytest.mark.parametrize("threads", [1, 2, 4])
@pytest.mark.parametrize("rows", [0, 1, 63, 64, 65, 1000])
def test_pyarrow_and_we_read_what_is_written(rows: int, threads: int, tmp_path: Any) -> None:
    table = every_dtype(rows)
    with hr.threads(threads):
        frame_of(table).to_parquet(tmp_path / "x.parquet", row_group_size=300)
    same(pq.read_table(tmp_path / "x.parquet"), table)
    same(hr.read_parquet(tmp_path / "x.parquet").to_arrow(), table)
    read = pq.read_schema(tmp_path / "x.parquet")
    for name in table.schema.names:
        if "s" in name.split():
            continue  # seconds
        assert read.field(name).type == plain(table.select([name])).schema.field(0).type


@pytest.mark.parametrize("compression", CODECS)
def test_each_codec_in_large_and_small_groups(compression: str, tmp_path: Any) -> None:
    table = every_dtype(70_000 if compression == "zstd" else 25_000)
    frame, path = frame_of(table), tmp_path / "x.parquet"
    for options in ({}, {"row_group_size": 9_999, "write_page_checksum": True}):
        frame.to_parquet(path, compression=compression, **options)
        same(pq.read_table(path, page_checksum_verification=True), table)
        same(hr.read_parquet(path).to_arrow(), table)
        same(pl.read_parquet(path).to_arrow(), pl.from_arrow(table).to_arrow())
        with duckdb.connect() as connection:
            read = connection.sql(f"select * from '{path}'").to_arrow_table()
        for name in table.schema.names:
            if table[name].type in (
                pa.duration("s"),
                pa.duration("ms"),
                pa.duration("us"),
                pa.duration("ns"),
            ):
                assert read[name].to_pylist() == table[name].cast(pa.int64()).to_pylist()
            elif pa.types.is_timestamp(table[name].type):
                want = table[name].cast(pa.timestamp("ns")).cast(pa.int64())
                assert read[name].cast(pa.timestamp("ns")).cast(pa.int64()).equals(want), name
            else:
                same(read.select([name]), table.select([name]))


def test_columns_and_rows_in_any_number(tmp_path: Any) -> None:
    path = tmp_path / "x.parquet"
    hr.DataFrame({}).to_parquet(path)
    assert pq.read_table(path).num_columns == 0
    assert hr.read_parquet(path).columns == []
    wide = hr.DataFrame({f"c{i}": np.arange(3000) * i for i in range(400)})
    wide.to_parquet(path)
    same(pq.read_table(path), wide.to_arrow())
    long = hr.DataFrame({"x": np.arange(5000)})
    long.to_parquet(path, row_group_size=1)
    assert pq.read_metadata(path).num_row_groups == 5000
    assert pl.read_parquet(path)["x"].to_list() == list(range(5000))
    same(hr.read_parquet(path).to_arrow(), long.to_arrow())


@pytest.mark.parametrize("rows", [GROUP - 1, GROUP, GROUP + 1])
def test_at_the_border_of_a_row_group(rows: int, tmp_path: Any) -> None:
    frame = hr.DataFrame({"i": np.arange(rows) // 3, "b": np.arange(rows) % 3 == 0})
    for threads in (1, 3):
        with hr.threads(threads):
            frame.to_parquet(tmp_path / str(threads), compression="zstd")
    assert (tmp_path / "1").read_bytes() == (tmp_path / "3").read_bytes()
    same(pq.read_table(tmp_path / "1"), frame.to_arrow())
    assert pq.read_metadata(tmp_path / "1").num_row_groups == -(-rows // GROUP)


def test_categories_are_read_back_as_categories(tmp_path: Any) -> None:
    path = tmp_path / "x.parquet"
    words = pd.Categorical(["b", None, "a", "b"], categories=["c", "b", "a"], ordered=True)
    frame = hr.from_pandas(pd.DataFrame({"c": words, "n": [1, 2, 3, 4]}))
    assert isinstance(frame, hr.DataFrame)
    frame.to_parquet(path)
    theirs = pq.read_table(path)["c"].combine_chunks()
    assert pa.types.is_dictionary(theirs.type)
    assert theirs.type.ordered
    assert theirs.dictionary.to_pylist() == ["c", "b", "a"]
    assert theirs.to_pylist() == ["b", None, "a", "b"]
    ours = hr.read_parquet(path)
    assert str(ours.c.dtype) == "category"
    assert list(ours.c.cat.categories) == ["c", "b", "a"]
    assert ours.c.cat.ordered
    pd.testing.assert_series_equal(pd.read_parquet(path).c, pd.Series(words, name="c"))
    few = frame[frame.n > 4]
    few.to_parquet(path)
    assert len(hr.read_parquet(path)) == 0


def test_statistics_and_indexes_are_true(tmp_path: Any) -> None:
    path = tmp_path / "x.parquet"
    table = every_dtype(100_000)
    frame_of(table).to_parquet(path, row_group_size=60_000)
    metadata = pq.read_metadata(path)
    for group, (begin, count) in enumerate([(0, 60_000), (60_000, 40_000)]):
        for place in range(metadata.row_group(group).num_columns):
            chunk = metadata.row_group(group).column(place)
            name = chunk.path_in_schema.split(".")[0]
            part = table[name].slice(begin, count).combine_chunks()
            assert chunk.has_offset_index
            assert chunk.has_column_index
            if name.startswith("list"):
                continue
            assert chunk.statistics.null_count == part.null_count
            if pa.types.is_duration(part.type):
                part = part.cast(pa.int64())
            if pa.types.is_floating(part.type):
                part = part.filter(pa.compute.invert(pa.compute.is_nan(part)))
            ends = pa.compute.min_max(part).as_py()
            least, most = chunk.statistics.min, chunk.statistics.max
            if pa.types.is_timestamp(part.type):
                assert (
                    pd.Timestamp(least).tz_localize(None)
                    == pd.Timestamp(ends["min"]).tz_convert("UTC").tz_localize(None)
                    if part.type.tz
                    else True
                )
                continue
            if pa.types.is_string(part.type) and len(ends["max"].encode()) > 64:
                assert least <= ends["min"]
                assert most >= ends["max"]
                continue
            assert (least, most) == (ends["min"], ends["max"]), name


def test_rivals_skip_by_our_bounds(tmp_path: Any) -> None:
    path = tmp_path / "x.parquet"
    values = np.sort(np.random.default_rng(0).integers(0, 10**6, 300_000))
    texts = [f"{v:07}" for v in values]
    frame = hr.DataFrame({"i": values, "s": texts, "f": values / 8})
    frame.to_parquet(path, row_group_size=70_000, bloom_filter=["i", "s", "f"])
    for low in (0, 1234, 500_000, 999_999):
        want = values[(values >= low) & (values < low + 1000)].tolist()
        picked = pl.scan_parquet(path).filter(pl.col("i").is_between(low, low + 999)).collect()
        assert picked["i"].to_list() == want
        text = pl.scan_parquet(path).filter(pl.col("s") == f"{values[low % 300_000]:07}").collect()
        assert text.height == int((values == values[low % 300_000]).sum())
        with duckdb.connect() as connection:
            for query in (
                f"i >= {low} and i < {low + 1000}",
                f"f >= {low / 8} and i < {low + 1000}",
                f"s >= '{low:07}' and s < '{low + 1000:07}'",
            ):
                found = connection.sql(f"select i from '{path}' where {query}").fetchall()
                assert [each[0] for each in found] == want
            for value in (int(values[7]), int(values[299_999]), -5, 10**7):
                found = connection.sql(
                    f"select count(*) from '{path}' where i = {value}"
                ).fetchall()
                assert found[0][0] == int((values == value).sum())
        found = pq.read_table(path, filters=[("i", ">=", low), ("i", "<", low + 1000)])
        assert found["i"].to_pylist() == want


def test_bloom_filters_are_those_of_the_format(tmp_path: Any) -> None:
    path = tmp_path / "x.parquet"
    values = np.random.default_rng(0).integers(0, 10**9, 50_000) * 2
    frame = hr.DataFrame({"i": values, "s": [f"word {v}" for v in values], "f": values / 4})
    frame.to_parquet(path, bloom_filter=["i", "s", "f"])
    with duckdb.connect() as connection:
        for column, there, missing in (
            ("i", int(values[5]), int(values[5]) + 1),
            ("s", f"word {values[5]}", f"word {values[5]}x"),
            ("f", float(values[5] / 4), float(values[5] / 4) + 0.1),
        ):
            probe = "select bloom_filter_excludes from parquet_bloom_probe(?, ?, ?)"
            found = [
                connection.execute(probe, [str(path), column, value]).fetchall()[0][0]
                for value in (there, missing)
            ]
            assert found[0] is False
            assert found[1] is True


def test_sizes_are_near_those_of_the_smallest(tmp_path: Any) -> None:
    random = np.random.default_rng(1)
    rows = 300_000
    table = pa.table(
        {
            "few": random.integers(1, 101, rows),
            "many": random.integers(1, 10_001, rows),
            "s": [f"id{i:010}" for i in random.integers(1, 3001, rows)],
            "f": random.random(rows) * 100,
            "sorted": np.sort(random.integers(0, 10**9, rows)),
        }
    )
    for codec in ("snappy", "zstd"):
        ours = len(frame_of(table).to_parquet(compression=codec) or b"")
        content = io.BytesIO()
        pq.write_table(table, content, compression=codec)
        theirs = [len(content.getvalue())]
        pl.from_arrow(table).write_parquet(tmp_path / "pl", compression=codec)
        theirs.append(os.path.getsize(tmp_path / "pl"))
        assert ours < 1.05 * min(theirs)


def test_without_path_and_to_file_objects(tmp_path: Any) -> None:
    frame = hr.DataFrame({"x": [1, 2, 3]})
    content = frame.to_parquet()
    assert isinstance(content, bytes)
    frame.to_parquet(tmp_path / "x")
    assert (tmp_path / "x").read_bytes() == content
    stream = io.BytesIO()
    frame.to_parquet(stream)
    assert stream.getvalue() == content
    with open(tmp_path / "y", "wb") as file:
        frame.to_parquet(file)
    assert (tmp_path / "y").read_bytes() == content

    class Full(io.BytesIO):
        def write(self, _data: Any, /) -> int:
            raise OSError(28, "no space left")

    with pytest.raises(OSError, match="no space"):
        frame.to_parquet(Full())
    assert frame.to_parquet(None, "pyarrow", None) == frame.to_parquet(compression="none")


def test_labels_lead_unless_left_out(tmp_path: Any) -> None:
    frame = hr.DataFrame({"k": ["a"], "x": [1]}).set_index("k")
    assert hr.read_parquet(frame.to_parquet()).columns == ["k", "x"]
    assert hr.read_parquet(frame.to_parquet(index=False)).columns == ["x"]
    assert hr.read_parquet(frame.to_parquet(index=True)).columns == ["k", "x"]


def test_partitions(tmp_path: Any) -> None:
    frame = hr.DataFrame(
        {
            "year": [2023, 2024, 2024, None, 2023],
            "kind": ["a/b", "c", "c", None, "ü d"],
            "x": [1, 2, 3, 4, 5],
        }
    ).astype({"year": "int64"})
    frame.to_parquet(tmp_path / "parts", partition_cols=["year", "kind"], bloom_filter=["x"])
    files = sorted(str(p.relative_to(tmp_path)) for p in (tmp_path / "parts").rglob("*.parquet"))
    missing = "__HIVE_DEFAULT_PARTITION__"
    assert files == [
        "parts/year=2023/kind=%C3%BC d/part-0.parquet",
        "parts/year=2023/kind=a%2Fb/part-0.parquet",
        "parts/year=2024/kind=c/part-0.parquet",
        f"parts/year={missing}/kind={missing}/part-0.parquet",
    ]
    kinds = pa.schema([("year", pa.int64()), ("kind", pa.string())])
    hive = pa.dataset.partitioning(kinds, flavor="hive")
    read = pa.dataset.dataset(tmp_path / "parts", partitioning=hive).to_table().sort_by("x")
    assert read["x"].to_pylist() == [1, 2, 3, 4, 5]
    assert read["kind"].to_pylist() == ["a/b", "c", "c", None, "ü d"]
    assert read["year"].to_pylist() == [2023, 2024, 2024, None, 2023]
    assert pq.read_table(tmp_path / files[2], partitioning=None).column_names == ["x"]
    with pytest.raises(hr.ColumnNotFoundError):
        frame.to_parquet(tmp_path / "parts", partition_cols=["yeer"])
    with pytest.raises(hr.InvalidArgumentError, match="partition_cols"):
        frame.to_parquet(tmp_path / "parts", partition_cols=["year", "kind", "x"])
    with pytest.raises(hr.InvalidArgumentError, match="folder"):
        frame.to_parquet(partition_cols=["year"])


def test_dictionaries_of_strings_are_sorted(tmp_path: Any) -> None:
    random = np.random.default_rng(11)
    words = [
        "",
        "b",
        "a",
        "a longer word than twelve",
        "a longer word",
        "ä",
        "z\0",
        "z",
        "\U0001f600",
    ]
    values = [None if k == 9 else words[k] for k in random.integers(0, 10, 70_000)]
    path = tmp_path / "words.parquet"
    hr.DataFrame({"s": values}).to_parquet(path)
    theirs = pq.read_table(path, read_dictionary=["s"])["s"].combine_chunks()
    assert theirs.dictionary.to_pylist() == sorted(words, key=str.encode)
    assert theirs.to_pylist() == hr.read_parquet(path).s.to_list() == values
    found = pq.ParquetFile(path).metadata.row_group(0).column(0).statistics
    assert (found.min, found.max) == ("", "\U0001f600")


@pytest.mark.parametrize("compression", ["snappy", "zstd", "none"])
def test_strings_are_written_without_what_they_repeat(compression: str, tmp_path: Any) -> None:
    random = np.random.default_rng(12)
    rows = 70_000
    keys = random.integers(0, rows, rows)
    umlaut = [f"wörld {k:06d}" for k in keys]
    frame = {
        "keys": [f"id{k:010d}" for k in keys],
        "nulls": [None if k % 7 == 0 else f"id{k:08d}" for k in keys],
        "sorted": [f"https://example.org/{k:012d}" for k in range(rows)],
        "few": [f"id{k % 5000:010d}" for k in keys],
        "umlauts": umlaut,
        "mixed": [text if k % 1000 == 0 else text[5:] for k, text in enumerate(umlaut)],
    }
    path = tmp_path / "keys.parquet"
    hr.DataFrame(frame).to_parquet(path, compression=compression)
    ours = hr.read_parquet(path)
    theirs = pq.read_table(path)
    polars = pl.read_parquet(path)
    other = duckdb.sql(f"from '{path}'").fetchnumpy()
    for name, values in frame.items():
        assert ours[name].to_list() == theirs[name].to_pylist() == values, name
        assert polars[name].to_list() == values, name
        assert [None if x is np.ma.masked else x for x in other[name]] == values, name
        of = theirs.schema.get_field_index(name)
        encodings = pq.ParquetFile(path).metadata.row_group(0).column(of).encodings
        assert ("DELTA_BYTE_ARRAY" in encodings) == (name != "few"), name
    scan = hr.scan_parquet(path)
    for name in ("keys", "umlauts", "sorted"):
        value = frame[name][31_416]
        assert scan[scan[name] == value][name].to_list() == [v for v in frame[name] if v == value]
    assert scan["mixed"].tail(5).to_list() == frame["mixed"][-5:]


def test_a_layout_for_gpus(tmp_path: Any) -> None:
    path = tmp_path / "x.parquet"
    rows = 3 * GROUP // 2
    random = np.random.default_rng(0)
    frame = hr.DataFrame({"i": random.integers(0, 100, rows), "f": random.random(rows)})
    frame["s"] = ("a long beginning " + hr.Series(np.arange(rows)).astype("string")).sort_values()
    frame.to_parquet(path)
    assert "DELTA_BYTE_ARRAY" in pq.read_metadata(path).row_group(0).column(2).encodings
    frame.to_parquet(path, layout="gpu", compression="zstd")
    metadata = pq.read_metadata(path)
    assert "PLAIN" in metadata.row_group(0).column(2).encodings
    assert metadata.num_row_groups == 1
    assert metadata.row_group(0).column(1).compression == "UNCOMPRESSED"
    assert hr.read_parquet(path).equals(frame)


def test_under_a_limit_a_larger_result_is_written(tmp_path: Any, memory_room: Any) -> None:
    rows = 2_500_000
    plain_file, limited = tmp_path / "plain.parquet", tmp_path / "limited.parquet"

    def write(path: Any) -> None:
        frame = hr.DataFrame({"k": np.arange(rows) * 7919 % rows})
        frame["a"] = frame.k * 0.5
        frame["b"] = frame.k % 100
        frame.sort_values("k").to_parquet(path)

    write(plain_file)
    evicted = hr.memory.spill().evicted_bytes
    with memory_room("40MB"):  # of 60 MB, and as much to sort
        write(limited)
    assert hr.memory.spill().evicted_bytes > evicted
    assert plain_file.read_bytes() == limited.read_bytes()
    assert hr.read_parquet(limited).k.is_monotonic_increasing


def test_errors_leave_the_old_file(tmp_path: Any) -> None:
    frame = hr.DataFrame({"i": np.arange(300_000), "j": np.arange(300_000)})
    path = tmp_path / "x.parquet"
    path.write_bytes(b"before")
    for options, words in (
        ({"compression": "lzo"}, "compression='lzo'"),
        ({"compression": "zstd", "compression_level": 30}, "compression_level=30"),
        ({"compression_level": 3}, "no levels"),
        ({"row_group_size": 0}, "row_group_size=0"),
        ({"layout": "tpu"}, "layout='tpu'"),
        ({"engine": "none such"}, "engine='none such'"),
    ):
        with pytest.raises(hr.InvalidArgumentError, match=words):
            frame.to_parquet(path, **options)
    with pytest.raises(hr.ColumnNotFoundError):
        frame.to_parquet(path, bloom_filter=["k"])
    with pytest.raises(hr.TypeMismatchError, match="complex"):
        hr.DataFrame({"c": np.ones(3, complex)}).to_parquet(path)
    far = hr.DataFrame({"t": np.array([2**62], "datetime64[s]")})
    with pytest.raises(hr.InvalidArgumentError, match="milliseconds"):
        far.to_parquet(path)
    assert os.listdir(tmp_path) == ["x.parquet"]
    assert path.read_bytes() == b"before"
    frame.to_parquet(path)
    assert hr.read_parquet(path).equals(frame)


def test_several_threads_of_python(tmp_path: Any) -> None:
    frame = hr.DataFrame({"i": np.arange(400_000), "j": np.arange(400_000) * 0.5})
    paths = [tmp_path / str(i) for i in range(4)]
    writers = [threading.Thread(target=frame.to_parquet, args=(path,)) for path in paths]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    assert len({path.read_bytes() for path in paths}) == 1
    assert len(hr.read_parquet(paths[0])) == 400_000


def test_strict_needs_no_other_library(tmp_path: Any) -> None:
    before = len(hr.fallbacks())
    with hr.strict():
        hr.DataFrame({"d": [datetime.date(2024, 1, 1)]}).to_parquet(tmp_path / "x")
    assert len(hr.fallbacks()) == before
