# SPDX-License-Identifier: Apache-2.0
"""Filters on columns whose pages are all codes of a dictionary: the rows that pandas picks."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import headrace as hr


def table_of(rows: int) -> pa.Table:
    random = np.random.default_rng(rows)
    few = random.integers(0, 50, rows)
    gaps = random.random(rows) < 0.3
    gaps[1000:9000] = True  # pages of nulls alone
    return pa.table(
        {
            "few": few,
            "one": np.full(rows, 7),
            "gaps": pa.array(few, mask=gaps),
            "runs": np.arange(rows) // 700 % 5,
            "word": pa.array([f"a word of many letters, {v}" for v in few], mask=few == 3),
            "cat": pa.array([f"k{v % 5}" for v in few]).dictionary_encode(),
            "time": pa.array(few * 86_400_000_000, pa.timestamp("us")),
            "value": np.arange(rows),
            "float": np.arange(rows) / 7,
        }
    )


def content_of(table: pa.Table, **options: Any) -> bytes:
    to = io.BytesIO()
    words: Any = {"row_group_size": 100_000, "data_page_size": 4096}
    words |= {"use_dictionary": [n for n in table.column_names if n not in ("value", "float")]}
    pq.write_table(table, to, **(words | options))
    return to.getvalue()


MANY = list(range(0, 150_000, 3))

WHERE: list[Any] = [
    lambda f: f.few == 7,
    lambda f: f.few != 7,
    lambda f: f.few * 2 > 60,
    lambda f: (f.few > 40) & (f.runs == 3),
    lambda f: (f.few > 40) & (f.few < 45) & (f.gaps > 42),
    lambda f: (f.few > 40) | (f.few == 1),
    lambda f: f.one == 7,
    lambda f: (f.one == 7) & (f.value < 1500),
    lambda f: f.gaps == 7,
    lambda f: f.gaps.isna(),
    lambda f: f.gaps.notna() & (f.runs > 1),
    lambda f: f.word == "a word of many letters, 9",
    lambda f: f.word.isna() & (f.runs == 0),
    lambda f: f.cat == "k2",
    lambda f: f.time >= np.datetime64("1970-02-10"),
    lambda f: (f.few > f.runs) & (f.cat == "k1"),
    lambda f: (f.few == 7) & (f.value % 5 == 2) & (f.gaps == f.few),
    lambda f: f.value.isin(MANY),
    lambda f: ~f.value.isin(MANY) & (f.float < 9000),
    lambda f: f.value.isin(MANY) & (f.few < 30),
    lambda f: (f.value % 2 == 0) & f.value.isin(MANY) & (f.cat != "k1"),
    lambda f: (f.value % 2 == 0) & f.value.isin(MANY) & f.few.isin([-1, -2]),
]


@pytest.mark.parametrize("rows", [1, 63, 64, 65, 1023, 1025, (1 << 17) + 1, 210_000])
def test_the_rows_that_pandas_picks(rows: int) -> None:
    table = table_of(rows)
    content, frame = content_of(table), table.to_pandas()
    for threads in (1, 2, 4):
        with hr.threads(threads):
            for number, where in enumerate(WHERE):
                scan = hr.scan_parquet(content)
                made, expected = scan[where(scan)], frame[where(frame)]
                assert made.value.to_list() == expected.value.to_list(), number
                scan = hr.scan_parquet(content)
                made = scan[where(scan)]
                assert made.to_arrow().column_names == table.column_names
                picked = table.take(expected.value.to_numpy())
                for name in ("few", "gaps", "word", "cat", "time", "float"):
                    assert made[name].to_list() == picked[name].to_pylist(), (number, name)


def test_only_some_columns_are_wanted() -> None:
    table = table_of(150_000)
    content = content_of(table)
    scan = hr.scan_parquet(content)
    few = table["few"].to_numpy()
    assert scan[scan.few == 7].float.to_list() == list(np.flatnonzero(few == 7) / 7)
    assert len(scan[(scan.few == 7) & (scan.one == 7)]) == np.count_nonzero(few == 7)
    assert scan[scan.few == 7].few.sum().item() == 7 * np.count_nonzero(few == 7)


@pytest.mark.parametrize(
    "options",
    [
        {"dictionary_pagesize_limit": 64},  # codes, then plain values
        {"data_page_version": "2.0"},
        {"use_dictionary": False},
        {"write_page_index": True},
        {"row_group_size": 999},
    ],
)
def test_other_layouts(options: Any) -> None:
    table = table_of(30_000)
    content, frame = content_of(table, **options), table.to_pandas()
    for number, where in enumerate(WHERE):
        scan = hr.scan_parquet(content)
        assert scan[where(scan)].value.to_list() == frame[where(frame)].value.to_list(), number


def test_parts_that_a_set_of_many_values_rules_out() -> None:
    table = pa.table({"value": np.arange(400_000), "float": np.arange(400_000) / 8})
    content = content_of(table, row_group_size=50_000)
    for name, scale in (("value", 1), ("float", 8)):
        for first, groups in ((60_000, 1), (95_000, 2), (500_000, 0)):
            scan = hr.scan_parquet(content)
            inside = np.arange(first, first + 20_000)
            made = scan[scan[name].isin(inside / scale if scale > 1 else inside)]
            assert f"row groups {groups} of 8" in str(made.explain(analyze=True))
            assert made.value.to_list() == [v for v in inside.tolist() if v < 400_000]
    lonely = np.append(np.arange(20_000), [399_999])  # in no sample
    scan = hr.scan_parquet(content)
    made = scan[scan.value.isin(lonely)]
    assert "row groups 2 of 8" in str(made.explain(analyze=True))
    assert made.value.to_list() == lonely.tolist()


def test_under_a_limit() -> None:
    table = table_of(210_000)
    content, frame = content_of(table), table.to_pandas()
    with hr.memory.limit(hr.memory.stats().used_bytes + 8_000_000):
        scan = hr.scan_parquet(content)
        made = scan[(scan.few == 7) & (scan.cat == "k2")].float.to_list()
        assert made == frame[(frame.few == 7) & (frame["cat"] == "k2")].float.to_list()
        made = scan[(scan.few == 7) & scan.value.isin(MANY)].float.to_list()
        assert made == frame[(frame.few == 7) & frame.value.isin(MANY)].float.to_list()


def test_damaged_bytes_end_in_rows_or_errors() -> None:
    """A file that says that all its pages are codes may lie."""
    content = content_of(table_of(3000).select(["few", "gaps", "word", "value"]))
    random = np.random.default_rng(1)
    failed = 0
    for at in random.integers(4, len(content) - 8, 600).tolist():
        damaged = bytearray(content)
        damaged[at] ^= 1 << int(random.integers(8))
        try:
            scan = hr.scan_parquet(bytes(damaged))
            if scan.columns != ["few", "gaps", "word", "value"]:
                continue
            hr.eval(scan[(scan.few == 7) & (scan.gaps != 8) & (scan.word != "x")])
        except hr.Error:
            failed += 1
    assert failed > 0
    scan = hr.scan_parquet(content)
    assert len(scan[scan.few == 7]) > 0


def test_more_rows_than_are_tested_together(tmp_path: Path) -> None:
    """Row groups of 2^24 rows are settled before the next ones are read."""
    places = np.arange((1 << 24) + (1 << 20) + 5)
    picked, kept = places % 1000 == 7, places // 1000 % 3 == 0
    path = tmp_path / "a.parquet"
    hr.DataFrame({"picked": picked, "kept": kept}).to_parquet(path, row_group_size=1 << 19)
    scan = hr.scan_parquet(path)
    assert scan[scan.picked].kept.to_list() == kept[picked].tolist()
