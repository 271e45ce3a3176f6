# SPDX-License-Identifier: Apache-2.0
"""Arrow IPC files and streams against pyarrow and Polars, and damaged ones."""

from __future__ import annotations

import datetime as dt
import decimal
import io
import random

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.feather
import pyarrow.ipc
import pytest

import headrace as hr

FLIPS = 3_000

DAY = dt.date(2024, 2, 29)
TIME = dt.datetime(2024, 2, 29, 12, 30, 15, 123456)


def each_type(rows: int) -> pa.Table:
    """A column of each type that Headrace has, with nulls."""

    def column(values: list, dtype: pa.DataType) -> pa.Array:
        return pa.array([values[i % len(values)] for i in range(rows)], dtype)

    columns = {
        str(dtype): column([1, None, 3], dtype)
        for dtype in (
            *(pa.int8(), pa.int16(), pa.int32(), pa.int64()),
            *(pa.uint8(), pa.uint16(), pa.uint32(), pa.uint64()),
        )
    }
    columns |= {
        str(t): column([0.5, None, -1.0, float("nan")], t) for t in (pa.float32(), pa.float64())
    }
    columns["bool"] = column([True, None, False], pa.bool_())
    words = ["a", None, "", "more than twelve bytes of it", "é"]
    for text in (pa.string(), pa.large_string(), pa.string_view()):
        columns[str(text)] = column(words, text)
    columns["date32"] = column([DAY, None], pa.date32())
    columns["date64"] = column([DAY, None], pa.date64())
    for unit in ("s", "ms", "us", "ns"):
        whole = TIME.replace(microsecond=0)
        columns[f"time {unit}"] = column([whole, None], pa.timestamp(unit))
        columns[f"zoned {unit}"] = column([whole, None], pa.timestamp(unit, "Europe/Berlin"))
        columns[f"span {unit}"] = column([dt.timedelta(seconds=5), None], pa.duration(unit))
    columns["decimal"] = column([decimal.Decimal("1.25"), None], pa.decimal128(10, 2))
    columns["null"] = pa.nulls(rows)
    columns["list"] = column([[1, None], [], None], pa.list_(pa.int64()))
    columns["large list"] = column([["x"], None], pa.large_list(pa.string()))
    columns["lists"] = column([[[1], []], None, []], pa.list_(pa.list_(pa.int8())))
    coded = column(["u", "v", None, "u"], pa.string()).dictionary_encode()
    columns["dictionary"] = coded
    point = pa.struct([("x", pa.int64()), ("s", pa.list_(pa.string()))])
    columns["struct"] = column([{"x": 1, "s": ["a"]}, None, {"x": None, "s": []}], point)
    columns["structs"] = column([[{"x": 1, "s": None}], None, []], pa.list_(point))
    columns["map"] = column([[("a", 1), ("b", None)], None, []], pa.map_(pa.string(), pa.int64()))
    columns["short codes"] = coded.cast(pa.dictionary(pa.int8(), pa.string()))
    return pa.table(columns)


def written(table: pa.Table, stream: bool = False, step: int | None = None, **options) -> bytes:
    """By pyarrow."""
    sink = io.BytesIO()
    make = pa.ipc.new_stream if stream else pa.ipc.new_file
    with make(sink, table.schema, options=pa.ipc.IpcWriteOptions(**options)) as writer:
        writer.write_table(table, step)
    return sink.getvalue()


def same(ours: hr.DataFrame, theirs: pa.Table) -> None:
    """Equal to what the C data interface brings in."""
    hr.testing.assert_frame_equal(ours, hr.from_arrow(theirs))


@pytest.mark.parametrize("rows", [0, 1, 65, 3000])
@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("compression", [None, "lz4", "zstd"])
def test_reads_what_pyarrow_writes(rows, stream, compression):
    """Each type, in one batch and in several."""
    table = each_type(rows)
    for step in (None, 1000, 7 if rows < 100 else 1024):
        data = written(table, stream, step, compression=compression)
        same(hr.read_ipc(data), table)
        with hr.threads(1):
            same(hr.scan_ipc(data), table)
    assert hr.read_ipc(data, columns=["list", "int8"]).columns == ["list", "int8"]


@pytest.mark.parametrize("compression", ["uncompressed", "lz4", "zstd"])
def test_reads_what_polars_writes(tmp_path, compression):
    """Views, categories, lists."""
    frame = pl.DataFrame(
        {
            "i": [1, None, 3] * 1000,
            "s": ["a", None, "more than twelve bytes of it"] * 1000,
            "l": [[1.5], None, []] * 1000,
            "c": pl.Series(["u", "v", None] * 1000, dtype=pl.Categorical),
            "t": pl.Series([TIME, None, TIME] * 1000),
            "b": [True, None, False] * 1000,
        }
    )
    path = tmp_path / "a.arrow"
    frame.write_ipc(path, compression=compression)
    hr.testing.assert_frame_equal(hr.read_ipc(path), hr.from_arrow(frame))


@pytest.mark.parametrize("rows", [0, 1, 64, 65, 3000])
@pytest.mark.parametrize("compression", [None, "lz4", "zstd"])
@pytest.mark.parametrize("form", ["file", "stream"])
def test_others_read_what_we_write(tmp_path, rows, compression, form):
    """pyarrow and Polars, and ourselves."""
    frame = hr.from_arrow(each_type(rows))
    path = tmp_path / "a.arrow"
    frame.to_ipc(path, compression=compression, format=form)
    open_file = pa.ipc.open_file if form == "file" else pa.ipc.open_stream
    table = open_file(path.read_bytes()).read_all()
    table.validate(full=True)
    hr.testing.assert_frame_equal(hr.from_arrow(table), frame)
    read = pl.read_ipc if form == "file" else pl.read_ipc_stream
    polars = read(path.read_bytes(), use_pyarrow=False)
    assert polars.shape == (rows, len(frame.columns))
    assert polars["string"].to_list() == table["string"].to_pylist()
    hr.testing.assert_frame_equal(hr.read_ipc(path), frame)
    picked = frame[frame["int64"] == 3]
    picked.to_ipc(path, compression=compression, format=form)
    hr.testing.assert_frame_equal(hr.read_ipc(path), picked)


def test_several_batches(tmp_path):
    """More rows than a batch has; the same bytes for any number of threads."""
    frame = hr.DataFrame({"i": np.arange(1_200_000), "s": ["ab", "cd", None] * 400_000})
    frame.to_ipc(tmp_path / "a.arrow")
    with hr.threads(1):
        frame.to_ipc(tmp_path / "b.arrow")
    assert (tmp_path / "a.arrow").read_bytes() == (tmp_path / "b.arrow").read_bytes()
    assert pa.ipc.open_file(str(tmp_path / "a.arrow")).num_record_batches == 19
    hr.testing.assert_frame_equal(hr.read_ipc(tmp_path / "a.arrow"), frame)
    scan = hr.scan_ipc(tmp_path / "a.arrow")
    assert scan.head(2).s.to_list() == ["ab", "cd"]
    assert scan[scan.i > 1_199_997].i.to_list() == [1_199_998, 1_199_999]


def test_feather(tmp_path):
    """Both names, and labels as columns."""
    frame = hr.DataFrame({"k": ["a", "b"], "x": [1, 2]}).set_index("k")
    frame.to_feather(tmp_path / "a.feather")
    assert pa.feather.read_table(tmp_path / "a.feather").column_names == ["k", "x"]
    assert hr.read_feather(tmp_path / "a.feather", columns=["x"]).to_dict() == {"x": [1, 2]}
    sink = io.BytesIO()
    frame.to_ipc(sink)
    assert hr.read_ipc(sink.getvalue()).to_dict() == {"k": ["a", "b"], "x": [1, 2]}
    with pytest.raises(hr.UnsupportedError, match="Feather 1"):
        hr.read_feather(b"FEA1" + bytes(100) + b"FEA1")


def test_other_types():
    """Columns of types that we do not have are left out, or named."""
    table = pa.table({"x": [1, 2], "u": pa.array([b"a", b"b"]), "s": ["a", "b"]})
    data = written(table)
    assert hr.read_ipc(data, columns=["s", "x"]).to_dict() == {"s": ["a", "b"], "x": [1, 2]}
    with pytest.raises(hr.UnsupportedError, match="column='u'"):
        hr.read_ipc(data)
    with pytest.raises(hr.ColumnNotFoundError):
        hr.read_ipc(data, columns=["y"])
    with pytest.raises(FileNotFoundError):
        hr.read_ipc("/tmp/no-such-file.arrow")
    with pytest.raises(hr.InvalidArgumentError, match="compression"):
        hr.DataFrame({"x": [1]}).to_ipc("/tmp/hr-none.arrow", compression="lzo")


def test_dictionaries_that_grow():
    """A stream may replace dictionaries and add to them."""
    schema = pa.schema([("c", pa.dictionary(pa.int32(), pa.string()))])
    for deltas in (False, True):
        sink = io.BytesIO()
        options = pa.ipc.IpcWriteOptions(emit_dictionary_deltas=deltas)
        with pa.ipc.new_stream(sink, schema, options=options) as writer:
            for words in (["a"], ["a", "b"], ["a", "b", "c"]):
                codes = pa.array(range(len(words)), pa.int32())
                column = pa.DictionaryArray.from_arrays(codes, words)
                writer.write_batch(pa.record_batch([column], schema=schema))
        assert hr.read_ipc(sink.getvalue()).c.to_list() == list("aababc")


def outcome(data: bytes) -> None:
    """A frame whose values can be read, or a clear error."""
    try:
        frame = hr.read_ipc(data)
        frame.to_dict()
    except hr.Error as error:
        assert isinstance(
            error,
            hr.InputError | hr.UnsupportedError | hr.OutOfMemoryError | (hr.InvalidArgumentError),
        )
        assert str(error).startswith("read_ipc: ")


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("compression", [None, "lz4", "zstd"])
def test_damaged(stream, compression, memory_room):
    """Cuts at each length, and random flips."""
    table = each_type(9).select(["int16", "string", "string_view", "bool", "list", "dictionary"])
    data = written(table, stream, 5, compression=compression)
    for size in range(len(data)):
        outcome(data[:size])
    rng = random.Random(1)
    with memory_room("64MiB"):
        for _ in range(FLIPS // 6):
            damaged = bytearray(data)
            for _ in range(rng.choice([1, 1, 2, 8])):
                damaged[rng.randrange(len(data))] = rng.choice(
                    [0, 1, 0x7F, 0x80, 0xFF, rng.randrange(256)]
                )
            outcome(bytes(damaged))
    same(hr.read_ipc(data), table)


@pytest.mark.parametrize("compression", [None, "zstd"])
def test_decimals_of_more_digits_than_their_type(compression):
    """An error, but for what stands in null rows; also of lists, and without a file."""
    wide = pa.array([decimal.Decimal(10**10), decimal.Decimal(5)], pa.decimal128(38, 0))
    for bits, is_good in ((0b11, False), (0b10, True), (0b01, False)):
        buffers = [pa.py_buffer(bytes([bits])), wide.buffers()[1]]
        column = pa.Array.from_buffers(pa.decimal128(10, 0), 2, buffers)
        lists = pa.ListArray.from_arrays(pa.array([0, 2], pa.int32()), column)
        for table in (pa.table({"d": column}), pa.table({"l": lists})):
            data = written(table, compression=compression)
            if is_good:
                assert hr.read_ipc(data).columns == table.column_names
                continue
            with pytest.raises(hr.InputError, match=r"more digits.*column='[dl]'"):
                hr.read_ipc(data)
            with pytest.raises(hr.InvalidArgumentError, match="more digits"):
                hr.from_arrow(table)


@pytest.mark.parametrize("format", ["file", "stream"])
def test_values_of_another_type_than_the_schema_says(format):
    """As where a damaged schema names the dictionary of another column: no column without rows."""
    sink = io.BytesIO()
    table = each_type(3).select(["dictionary", "struct"])
    hr.from_arrow(table).to_ipc(sink, format=format)
    data = bytearray(sink.getvalue())
    wrong = frames = 0
    for at in [at for at, byte in enumerate(data) if byte == 0]:
        data[at] = 1
        try:
            hr.read_ipc(bytes(data)).to_dict()
            frames += 1
        except (hr.InputError, hr.UnsupportedError) as error:
            wrong += "another type than the schema says" in str(error)
        data[at] = 0
    assert wrong > 0
    assert frames > 0


@pytest.mark.parametrize("codec", ["lz4", "zstd"])
def test_packed_buffers_of_several_blocks(codec, tmp_path):
    """Of more than the 4 MiB that a block of LZ4 may have, some of which do not get smaller."""
    random = np.random.default_rng(4)
    noise = random.integers(33, 127, (1 << 16, 90), dtype=np.uint8)
    noise[20_000:50_000] = noise[0]
    words = [bytes(row).decode() for row in noise]
    frame = hr.DataFrame({"words": words, "noise": random.integers(0, 2**62, len(words))})
    path = tmp_path / "a.arrow"
    frame.to_ipc(path, compression=codec)
    assert path.stat().st_size < 0.9 * 98 * len(words)
    assert pa.ipc.open_file(path).read_all()["words"].to_pylist() == words
    assert pl.read_ipc(path)["words"].to_list() == words
    hr.testing.assert_frame_equal(hr.read_ipc(path), frame)


@pytest.mark.parametrize("codec", ["lz4", "zstd"])
def test_packed_batches_of_many_sizes(codec, tmp_path):
    """Batches share memory while they are unpacked: text that one keeps is not another's."""
    random = np.random.default_rng(3)
    path = tmp_path / "a.arrow"
    batches = []
    for number, rows in enumerate([1000, 0, 1, 63, 64, 65, (1 << 17) + 1, 5000, 3000, 7]):
        kind = number % 4
        words = [f"w{k % 997}" for k in range(rows)]
        if kind == 1:
            words = [f"a text that no view of {k} bytes holds" for k in range(rows)]
        if kind == 2:
            words = [""] * rows
        gaps = random.random(rows) < (1.0 if kind == 3 else 0.2)
        batches.append(
            pa.record_batch(
                {
                    "words": pa.array(words, pa.string()),
                    "gaps": pa.array(words, pa.string(), mask=gaps),
                    "large": pa.array(words, pa.large_string()),
                    "noise": random.integers(-(2**62), 2**62, rows),
                    "few": pa.array(np.arange(rows) % 7, mask=gaps, type=pa.int16()),
                    "views": pa.array(words, pa.string_view()),
                }
            )
        )
    options = pa.ipc.IpcWriteOptions(compression=codec)
    with pa.ipc.new_file(path, batches[0].schema, options=options) as writer:
        for batch in batches:
            writer.write_batch(batch)
    expected = pa.Table.from_batches(batches).to_pydict()
    for threads in (1, 2, 4):
        with hr.threads(threads):
            made = hr.read_ipc(path)
            for name, values in expected.items():
                assert made[name].to_list() == values, name
    with hr.memory.limit(hr.memory.stats().used_bytes + 30_000_000):
        made = hr.read_ipc(path)
        assert made.gaps.to_list() == expected["gaps"]
