# SPDX-License-Identifier: Apache-2.0
"""Filters that read the pages they need: the rows of the whole file, and few of its bytes."""

from __future__ import annotations

import io
import re
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import headrace as hr

ROWS = 200_000


def table_of(rows: int = ROWS) -> pa.Table:
    random = np.random.default_rng(rows)
    keys = np.sort(random.integers(0, 10_000, rows))
    gone = random.random(rows) < 0.1
    long = pa.array(np.where(keys < 5000, None, keys))
    return pa.table(
        {
            "k": keys,
            "n": pa.array(keys, mask=gone),
            "nulls first": long,
            "f": np.where(keys % 97 == 0, np.nan, keys / 4),
            "s": [f"key {key:05} that is longer than a view" for key in keys],
            "c": pa.array([f"{key // 1000}" for key in keys]).dictionary_encode(),
            "b": keys % 2 == 0,
            "random": random.integers(0, 1000, rows),
            "value": random.random(rows),
            "text": [f"{i % 1013}" * (i % 4) for i in range(rows)],
            "list": [[i, None] if i % 3 else None for i in range(rows)],
        }
    )


def contents() -> dict[str, bytes]:
    """The table by two writers, with pages of different columns at different rows."""
    table = table_of()
    made = {}
    for word, options in {
        "pyarrow": {"data_page_size": 10_000, "row_group_size": 70_001},
        "pyarrow v2": {"data_page_size": 5_000, "data_page_version": "2.0"},
        "pyarrow without index": {"write_page_index": False},
    }.items():
        file = io.BytesIO()
        pq.write_table(table, file, **{"write_page_index": True, **options})
        made[word] = file.getvalue()
    frame = hr.from_arrow(table)
    assert isinstance(frame, hr.DataFrame)
    for word, wanted in {"ours": {}, "ours, small": {"row_group_size": 60_000}}.items():
        found = frame.to_parquet(compression="zstd", **wanted)
        assert found is not None
        made[word] = found
    return made


CONTENTS = contents()
FILTERS: list[Any] = [
    lambda f: f.k == 5000,
    lambda f: f.k < 0,
    lambda f: (f.k > 2000) & (f.k < 2100),
    lambda f: (f.k < 10) | (f.k > 9990),
    lambda f: (f.k > 4000) & (f.random == 7),
    lambda f: f.random == 7,
    lambda f: f.n == 1234,
    lambda f: f["nulls first"].isna() & (f.k > 4990),
    lambda f: f["nulls first"] < 5010,
    lambda f: f.f < 3.5,
    lambda f: f.f != f.f,
    lambda f: f.s == "key 07777 that is longer than a view",
    lambda f: f.s > "key 0999",
    lambda f: (f.c == "3") & (f.k % 100 == 7),
    lambda f: f.b & (f.k < 50),
    lambda f: f.value > 0.9999,
]


@pytest.mark.parametrize("word", CONTENTS)
@pytest.mark.parametrize("threads", [1, 3])
def test_the_rows_are_those_of_the_whole_file(word: str, threads: int) -> None:
    whole = hr.read_parquet(CONTENTS[word])
    with hr.threads(threads):
        for number, where in enumerate(FILTERS):
            scan = hr.scan_parquet(CONTENTS[word])
            picked, expected = scan[where(scan)], whole[where(whole)]
            assert len(picked) == len(expected), number
            for name in whole.columns:
                assert repr(picked[name].to_list()) == repr(expected[name].to_list()), (
                    number,
                    name,
                )
            scan = hr.scan_parquet(CONTENTS[word])
            first = scan[where(scan)].head(7)
            assert repr(first.to_dict()) == repr(expected.head(7).to_dict()), number


class Counted(io.BytesIO):
    """A file that counts the bytes that are read."""

    def __init__(self, content: bytes) -> None:
        super().__init__(content)
        self.bytes = 0

    def read(self, size: int | None = -1, /) -> bytes:
        found = super().read(size)
        self.bytes += len(found)
        return found


def test_few_bytes_are_read() -> None:
    rows = 1_000_000
    random = np.random.default_rng(0)
    frame = hr.DataFrame(
        {"k": np.arange(rows) // 100} | {f"v{i}": random.random(rows) for i in range(8)}
    )
    content = frame.to_parquet()
    assert content is not None
    file = Counted(content)
    scan = hr.scan_parquet(file)
    file.bytes = 0
    picked = scan[(scan.k >= 5000) & (scan.k < 5100)]
    assert picked.v3.to_list() == frame.v3.to_list()[500_000:510_000]
    file.bytes = 0
    scan = hr.scan_parquet(file)
    picked = scan[(scan.k >= 5000) & (scan.k < 5100)]
    hr.eval(picked)
    assert len(picked) == 10_000
    assert file.bytes < len(content) / 10


def test_explain_counts_pages() -> None:
    scan = hr.scan_parquet(CONTENTS["ours"])
    told = str(scan[scan.k == 5000].explain(analyze=True))
    found = re.search(r"row groups 1 of 1, pages (\d+) of (\d+), .* read", told)
    assert found, told
    assert 1 <= int(found[1]) < int(found[2])


@pytest.mark.parametrize("threads", [1, 3])
def test_pages_of_several_files(tmp_path: Path, threads: int) -> None:
    for number, content in enumerate(CONTENTS.values()):
        folder = tmp_path / f"part={number}"
        folder.mkdir()
        (folder / "x.parquet").write_bytes(content)
    whole = hr.read_parquet(tmp_path, hive_partitioning=True)
    assert len(whole) == ROWS * len(CONTENTS)
    more: list[Any] = [
        lambda f: (f.k == 5000) & (f.part == 3),
        lambda f: (f.k == 5000) | (f.part == 7),
        lambda f: (f.part > 1) & (f.k < 5),
    ]
    with hr.threads(threads):
        for number, where in enumerate([*FILTERS, *more]):
            scan = hr.scan_parquet(tmp_path, hive_partitioning=True)
            picked, expected = scan[where(scan)], whole[where(whole)]
            assert repr(picked.to_dict()) == repr(expected.to_dict()), number
            scan = hr.scan_parquet(tmp_path, hive_partitioning=True)
            first = scan[where(scan)].head(7)
            assert repr(first.to_dict()) == repr(expected.head(7).to_dict()), number


def test_few_pages_and_bytes_of_several_files(tmp_path: Path) -> None:
    rows = 300_000
    random = np.random.default_rng(0)
    frame = hr.DataFrame({"k": np.arange(rows) // 100, "v": random.random(rows)})
    for part in range(3):
        frame[part * 100_000 : (part + 1) * 100_000].to_parquet(tmp_path / f"{part}.parquet")
    scan = hr.scan_parquet(tmp_path)
    told = str(scan[(scan.k >= 999) & (scan.k <= 1000)].explain(analyze=True))
    found = re.search(r"row groups 2 of 3, pages 2 of 8, ([\d.]+) kB of ([\d.]+) MB read", told)
    assert found, told
    assert float(found[1]) < 1000 * float(found[2]) / 3
    picked = scan[(scan.k >= 999) & (scan.k <= 1000)]
    assert picked.v.to_list() == frame.v.to_list()[99_900:100_100]


def test_damaged_indexes_end_in_errors() -> None:
    """Whatever byte of the indexes and the footer is another, the next call works."""
    rows = 3000
    frame = hr.DataFrame({"k": np.arange(rows), "s": [f"{i:05}" for i in range(rows)]})
    content = frame.to_parquet(row_group_size=1000)
    assert content is not None
    metadata = pq.read_metadata(io.BytesIO(content))
    begin = min(
        metadata.row_group(g).column(c).data_page_offset
        + metadata.row_group(g).column(c).total_compressed_size
        for g in range(3)
        for c in range(2)
    )
    random = np.random.default_rng(0)
    for _ in range(2000):
        damaged = bytearray(content)
        at = int(random.integers(begin, len(content)))
        damaged[at] ^= int(random.integers(1, 256))
        try:
            scan = hr.scan_parquet(bytes(damaged))
            picked = scan[(scan.k > 1500) & (scan.k < 1510)]
            len(picked.s.to_list())
        except hr.Error:
            pass
    scan = hr.scan_parquet(content)
    assert scan[scan.k == 1500].s.to_list() == ["01500"]
