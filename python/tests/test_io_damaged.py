# SPDX-License-Identifier: Apache-2.0
"""Small files of each format, cut at every length and with flipped bytes: a valid frame or a clear
error, and the next read works.

A few hundred flips a format; ``HEADRACE_EXAMPLES=100000`` takes that many, from another seed.
"""

from __future__ import annotations

import bz2
import datetime as dt
import decimal
import gzip
import io
import lzma
import os
import random
from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import headrace as hr

EXAMPLES = int(os.environ.get("HEADRACE_EXAMPLES", "0"))
FLIPS = EXAMPLES or 300
EXPECTED = (hr.InputError, hr.UnsupportedError, hr.OutOfMemoryError, hr.TypeMismatchError)

TIME = dt.datetime(2024, 2, 29, 12, 30, 15, 123456)
WORDS = ["a", None, "more than twelve bytes of it", "é"]
FLAT = {
    "i": [1, None, -(2**62), 4] * 3,
    "x": [0.5, -1e300, None, float("inf")] * 3,
    "b": [True, None, False, True] * 3,
    "s": WORDS * 3,
    "t": [TIME, None, TIME.replace(year=1904), TIME] * 3,
}


def rows_of(columns: dict[str, list[Any]]) -> hr.DataFrame:
    """Make a frame."""
    return hr.from_arrow(pa.table(columns))


def nested() -> hr.DataFrame:
    """Columns that JSON has no types for, and columns in columns."""
    table = pa.table(FLAT)
    words = pa.array(WORDS * 3)
    columns = {
        "d": pa.array([decimal.Decimal("1.25"), None] * 6, pa.decimal128(10, 2)),
        "c": words.dictionary_encode(),
        "l": pa.array([[1, None], [], None] * 4, pa.list_(pa.int64())),
        "r": pa.array([{"x": 1, "s": ["a"]}, None, {"x": None, "s": []}] * 4),
        "m": pa.array([[("a", 1)], None, []] * 4, pa.map_(pa.string(), pa.int64())),
    }
    for name, column in columns.items():
        table = table.append_column(name, column)
    return hr.from_arrow(table)


def text_of(frame: hr.DataFrame, **options: Any) -> bytes:
    """As CSV."""
    return (frame.to_csv(**options) or "").encode()


def ipc(**options: Any) -> bytes:
    """As Arrow IPC."""
    sink = io.BytesIO()
    nested().to_ipc(sink, **options)
    return sink.getvalue()


def parquet_by_pyarrow() -> bytes:
    """With each column, of version 2 and without checksums."""
    sink = io.BytesIO()
    pq.write_table(nested().to_arrow(), sink, data_page_version="2.0", row_group_size=7)
    return sink.getvalue()


def json(lines: bool) -> bytes:
    """With lists and structs."""
    columns = {name: FLAT[name] for name in ("i", "b", "s", "t")}
    columns["l"] = [[1, None], [], None] * 4
    columns["r"] = [{"x": 1.5, "s": ["a"]}, None, {"x": None, "s": []}] * 4
    return (rows_of(columns).to_json(orient="records", lines=lines) or "").encode()


LOG = b"".join(
    b'127.0.0.1 - - [17/May/2015:10:05:%02d +0000] "GET /a?b=%d HTTP/1.1" 200 %d "-" "curl/8"\n'
    % (k, k, 97 * k)
    for k in range(6)
)
FIXED = b"name   year   size\n" + b"".join(b"row%-4d2024%7d\n" % (k, k * k) for k in range(9))


def npy() -> bytes:
    """Two dimensions, in the order of Fortran."""
    sink = io.BytesIO()
    np.save(sink, np.asfortranarray(np.arange(24.0).reshape(4, 6)))
    return sink.getvalue()


def npz() -> bytes:
    """Compressed, of three dtypes."""
    sink = io.BytesIO()
    np.savez_compressed(
        sink, a=np.arange(50), b=np.array(["2024-02-29"], "M8[s]"), c=np.ones(3, "?")
    )
    return sink.getvalue()


def excel() -> bytes:
    """A sheet of each kind of cell."""
    pytest.importorskip("python_calamine")
    sink = io.BytesIO()
    time = TIME.replace(microsecond=0)
    cells = {"k": ["a", "é", None], "x": [1.5, None, -2], "b": [True, False, True]}
    pd.DataFrame({**cells, "t": [time, None, time], "n": [1, 2, 3]}).to_excel(sink, index=False)
    return sink.getvalue()


def arrays(read: Callable[..., Any]) -> Callable[[bytes], list[hr.DataFrame]]:
    """Arrays, which are computed; there is no frame."""

    def outcome(data: bytes) -> list[hr.DataFrame]:
        found = read(data)
        for array in found.values() if isinstance(found, dict) else [found]:
            array.to_numpy().tobytes()
        return []

    return outcome


def frames(read: Callable[..., Any], **options: Any) -> Callable[[bytes], list[hr.DataFrame]]:
    """What a reader gives: the frame, and its rejects."""

    def outcome(data: bytes) -> list[hr.DataFrame]:
        frame = read(data, **options)
        rejects = frame.rejects if options.get("on_bad") == "reject" else None
        return [frame] if rejects is None else [frame, rejects]

    return outcome


#: By format: a small file, and what reads it.
FILES: dict[str, tuple[Callable[[], bytes], Callable[[bytes], list[hr.DataFrame]]]] = {
    "csv": (lambda: text_of(rows_of(FLAT)), frames(hr.read_csv)),
    "csv with rejects": (lambda: text_of(rows_of(FLAT)), frames(hr.read_csv, on_bad="reject")),
    "csv gzip": (lambda: gzip.compress(text_of(rows_of(FLAT))), frames(hr.read_csv)),
    "csv bz2": (lambda: bz2.compress(text_of(rows_of(FLAT))), frames(hr.read_csv)),
    "csv xz": (lambda: lzma.compress(text_of(rows_of(FLAT))), frames(hr.read_csv)),
    "csv zstd": (
        lambda: pa.compress(text_of(rows_of(FLAT)), codec="zstd", asbytes=True),
        frames(hr.read_csv),
    ),
    "fixed width": (lambda: FIXED, frames(hr.read_fwf)),
    "json lines": (lambda: json(True), frames(hr.read_json, lines=True)),
    "json array": (lambda: json(False), frames(hr.read_json, lines=False)),
    "json with rejects": (lambda: json(True), frames(hr.read_json, lines=True, on_bad="reject")),
    "log with rejects": (lambda: LOG, frames(hr.read_log)),
    "parquet": (lambda: parquet_by_pyarrow(), frames(hr.read_parquet)),
    "parquet zstd": (
        lambda: (
            nested()
            .drop(columns=["r", "m"])
            .to_parquet(compression="zstd", write_page_checksum=True)
            or b""
        ),
        frames(hr.read_parquet),
    ),
    "npy": (npy, arrays(hr.read_npy)),
    "npz": (npz, arrays(hr.read_npz)),
    "excel": (excel, frames(lambda data: hr.read_excel(io.BytesIO(data)))),
    "ipc file": (lambda: ipc(), frames(hr.read_ipc)),
    "ipc stream zstd": (lambda: ipc(format="stream", compression="zstd"), frames(hr.read_ipc)),
}


def check(read: Callable[[bytes], list[hr.DataFrame]], data: bytes) -> str:
    """Read it; of a frame Arrow checks each value, of an error the message says what and where."""
    try:
        found = read(data)
    except EXPECTED as error:
        assert str(error).startswith("read_"), error
        return type(error).__name__
    for frame in found:
        try:
            frame.to_arrow().validate(full=True)
        except hr.InvalidArgumentError as error:
            assert "NUL byte" in str(error)  # in a name, which Arrow's interface cannot have
    return "frame"


@pytest.mark.parametrize("format", FILES)
def test_cut_at_each_length(format: str) -> None:
    make, read = FILES[format]
    data = make()
    with hr.memory.limit(hr.memory.stats().used_bytes + (64 << 20)):
        outcomes = Counter(check(read, data[:size]) for size in range(len(data)))
        assert check(read, data) == "frame"
    assert outcomes["InputError"] > 0 or "rejects" in format


@pytest.mark.parametrize("format", FILES)
def test_flipped_bytes(format: str, record_property: Callable[[str, Any], None]) -> None:
    make, read = FILES[format]
    data = make()
    draw = random.Random(f"{format} {EXAMPLES}")
    outcomes: Counter[str] = Counter()
    with hr.memory.limit(hr.memory.stats().used_bytes + (64 << 20)):
        for _ in range(FLIPS):
            damaged = bytearray(data)
            for _ in range(draw.choice([1, 1, 1, 2, 8])):
                at = draw.randrange(len(data))
                damaged[at] = draw.choice([damaged[at] ^ 1 << draw.randrange(8), 0, 0x7F, 0xFF])
            outcomes[check(read, bytes(damaged))] += 1
        assert check(read, data) == "frame"
    record_property(format, dict(outcomes))
    print(format, len(data), "bytes", dict(outcomes))
    assert outcomes["InputError"] + outcomes["frame"] > FLIPS // 2
