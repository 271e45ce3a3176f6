# SPDX-License-Identifier: Apache-2.0
"""Strings of Arrow IPC against pyarrow: parts, batches of short and of long ones, damaged text."""

from __future__ import annotations

import random

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.ipc
import pytest

import headrace as hr

ROWS = (1 << 14) + 77
KINDS = [pa.string(), pa.large_string(), pa.string_view()]
WORDS = ["", "a", "twelve bytes", "thirteen byte", "é", "日本語のとても長い文字列です", "x" * 500]


def written(batches: list[pa.RecordBatch], compression: str | None = None) -> bytes:
    sink = pa.BufferOutputStream()
    options = pa.ipc.IpcWriteOptions(compression=compression)
    with pa.ipc.new_file(sink, batches[0].schema, options=options) as writer:
        for batch in batches:
            writer.write_batch(batch)
    return sink.getvalue().to_pybytes()


def batch_of(values: list, kind: pa.DataType) -> pa.RecordBatch:
    return pa.record_batch({"s": pa.array(values, kind)})


def drawn(words: list, rows: int, seed: int) -> list:
    return random.Random(seed).choices(words, k=rows)


@pytest.mark.parametrize("compression", [None, "lz4", "zstd"])
@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_batches_of_short_and_of_long_strings(kind, compression):
    """Text is kept of some batches only; parts of a batch are longer than one task reads."""
    parts = [
        drawn(["", "a", "twelve bytes"], ROWS, 1),
        drawn([*WORDS, None], ROWS, 2),
        [],
        drawn(["x" * 40, "y" * 40], 3 * ROWS, 3),
        drawn([None], 65, 4),
        drawn(["é", "ab"], 64, 5),
    ]
    data = written([batch_of(part, kind) for part in parts], compression)
    expected = [value for part in parts for value in part]
    for threads in (1, 2, 4):
        with hr.threads(threads):
            frame = hr.read_ipc(data)
            assert frame["s"].to_list() == expected
    assert hr.scan_ipc(data)["s"].to_list() == expected
    with hr.memory.limit(hr.memory.stats().used_bytes + (40 << 20)):
        assert hr.read_ipc(data)["s"].to_list() == expected


@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_slices_and_empty_columns(kind):
    long = pa.array(drawn([*WORDS, None], 300, 6), kind)
    for begin, count in ((0, 0), (1, 1), (7, 63), (8, 64), (130, 65)):
        part = pa.record_batch({"s": long.slice(begin, count)})
        frame = hr.read_ipc(written([part, part]))
        assert frame["s"].to_list() == 2 * long.slice(begin, count).to_pylist()


def test_files_of_polars(tmp_path):
    """Views with several buffers of text in one column."""
    frame = pl.concat([pl.DataFrame({"s": drawn([*WORDS, None], 5_000, seed)}) for seed in (7, 8)])
    for rechunk in (False, True):
        path = tmp_path / "f.arrow"
        (frame.rechunk() if rechunk else frame).write_ipc(path)
        assert hr.read_ipc(path)["s"].to_list() == frame["s"].to_list()


def test_damaged_offsets_and_text():
    values = ["abcdefgh"] * 1000 + ["\x7f" * 20] * 1000
    data = written([batch_of(values, pa.string())])
    with pytest.raises(hr.InputError, match=r"not UTF-8.*column='s'.*row=1999"):
        hr.read_ipc(data[: (at := data.rindex(b"\x7f" * 20)) + 19] + b"\xff" + data[at + 20 :])
    offsets = np.cumsum([0] + [len(value) for value in values]).astype("<i4").tobytes()
    at = data.index(offsets)
    for row, wrong in ((1000, -1), (1000, 2**31 - 1), (0, 5), (2000, 10**9), (1500, 3)):
        hurt = bytearray(data)
        hurt[at + 4 * row : at + 4 * row + 4] = np.int32(wrong).tobytes()
        if row == 0:
            assert hr.read_ipc(bytes(hurt))["s"].to_list()[1:] == values[1:]
            continue
        with pytest.raises(hr.InputError, match=r"offsets|too short|negative"):
            hr.read_ipc(bytes(hurt))
    assert hr.read_ipc(data)["s"].to_list() == values


def test_damaged_views():
    values = ["x" * 30, "short", None, "y" * 30]
    array = pa.array(values, pa.string_view())
    data = written([pa.record_batch({"s": array})])
    views = array.buffers()[1].to_pybytes()[: 16 * 4]
    at = data.index(views)

    def with_word(row: int, word: int, value: int) -> bytes:
        hurt = bytearray(data)
        place = at + 16 * row + 4 * word
        hurt[place : place + 4] = np.uint32(value).tobytes()
        return bytes(hurt)

    for row, word, value in ((0, 2, 7), (0, 3, 40), (3, 0, 2**31), (3, 3, 2**32 - 1)):
        with pytest.raises(hr.InputError, match="out of range of its buffer"):
            hr.read_ipc(with_word(row, word, value))
    # A wrong prefix, and bytes behind a short string, would make comparisons wrong.
    frame = hr.read_ipc(with_word(0, 1, 0x41414141))
    assert (frame.s == "x" * 30).to_list() == [True, False, False, False]
    frame = hr.read_ipc(with_word(1, 3, 0x41414141))
    assert (frame.s == "short").to_list() == [False, True, False, False]
    with pytest.raises(hr.InputError, match="not UTF-8"):
        hr.read_ipc(with_word(1, 1, 0xFFFFFFFF))


@pytest.mark.parametrize("rows", [1, 63, 65, 1024, 1025, 40_000])
@pytest.mark.parametrize("kind", [pa.string(), pa.large_string()])
def test_strings_that_fit_in_their_views(rows, kind, tmp_path):
    draw = np.random.default_rng(rows)
    letters = "abcé0123456789"
    words = ["".join(letters[k] for k in draw.integers(0, 14, n)) for n in draw.integers(0, 9, 500)]
    words = [word for word in words if len(word.encode()) <= 12]
    values = [words[k] for k in draw.integers(0, len(words), rows)]
    for gaps in (None, draw.random(rows) < 0.1):
        table = pa.table({"s": pa.array(values, kind, mask=gaps)})
        path = tmp_path / "x.arrow"
        with pa.OSFile(str(path), "wb") as file, pa.ipc.new_file(file, table.schema) as writer:
            writer.write_table(table, max_chunksize=30_000)
        assert hr.read_ipc(path).s.to_list() == table["s"].to_pylist()
        assert (hr.read_ipc(path).s == hr.from_arrow(table).s).sum().item() == rows - table[
            "s"
        ].null_count
