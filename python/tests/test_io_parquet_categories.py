# SPDX-License-Identifier: Apache-2.0
"""Filters of Parquet files next to category columns: the dictionaries of many row groups."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import headrace as hr

#: The order of the words of each file, which a comparison goes by.
ORDERS = [["b", "a", "c"], ["a", "b", "d"], ["a", "b", "d"], ["d", "c", "a"], ["a"]]
ROWS = 2000


def ordered_files(folder: Path) -> tuple[list[str], list[dict[str, Any]]]:
    """Files with ordered categories, and their rows with the place of each word in its order."""
    random = np.random.default_rng(1)
    paths, rows = [], []
    for number, words in enumerate(ORDERS):
        codes = random.integers(0, len(words), ROWS)
        codes[-len(words) :] = np.arange(len(words))
        categories = pa.DictionaryArray.from_arrays(
            pa.array(codes, pa.int32()), pa.array(words), ordered=True
        )
        x = np.arange(ROWS) + ROWS * number
        few = random.integers(0, 5, ROWS)
        path = folder / f"{number}.parquet"
        table = pa.table({"c": categories, "x": x, "few": few})
        pq.write_table(table, path, row_group_size=700, use_dictionary=["c", "few"])
        paths.append(str(path))
        rows += [
            {"word": words[code], "rank": code, "b": words.index("b") if "b" in words else -1}
            | {"x": int(a), "few": int(b)}
            for code, a, b in zip(codes.tolist(), x, few, strict=True)
        ]
    return paths, rows


@pytest.mark.parametrize("kept", [["x"], ["c"], ["c", "x"]])
@pytest.mark.parametrize(
    "where",
    [
        (lambda f: f.c <= "b", lambda r: 0 <= r["rank"] <= r["b"]),
        (lambda f: (f.c > "b") & (f.few == 3), lambda r: r["rank"] > r["b"] >= 0 and r["few"] == 3),
        (
            lambda f: (f.few == 3) & ((f.c <= "b") | (f.x < 100)),
            lambda r: r["few"] == 3 and (r["rank"] <= r["b"] or r["x"] < 100),
        ),
        (
            lambda f: (f.c < "b") & f.x.isin(list(range(0, 40_000, 2))),
            lambda r: r["rank"] < r["b"] and r["x"] % 2 == 0,
        ),
    ],
)
def test_the_order_of_categories_is_that_of_each_file(
    where: Any, kept: list[str], tmp_path: Path
) -> None:
    paths, rows = ordered_files(tmp_path)
    paths = paths[:3]  # in which "b" has a place
    expected = [r for r in rows[: 3 * ROWS] if where[1](r)]
    for threads in (1, 2, 4):
        with hr.threads(threads):
            scan = hr.scan_parquet(paths)
            made = scan[where[0](scan)][kept]
            hr.eval(made)
            if "x" in kept:
                assert made.x.to_list() == [r["x"] for r in expected]
            if "c" in kept:
                assert made.c.to_list() == [r["word"] for r in expected]


def test_files_of_which_one_lacks_the_word(tmp_path: Path) -> None:
    """Equality needs no order, and the dictionaries of all files become one."""
    paths, rows = ordered_files(tmp_path)
    for word in ("a", "b", "d", "z"):
        scan = hr.scan_parquet(paths)
        made = scan[scan.c == word]
        assert made.x.to_list() == [r["x"] for r in rows if r["word"] == word]
        whole = hr.read_parquet(paths)
        assert made.c.cat.categories.to_list() == whole.c.cat.categories.to_list()


def read_bytes(frame: hr.DataFrame) -> tuple[float, float]:
    """Bytes that a scan read and those of its file, in MB."""
    units = {"B": 1e-6, "kB": 1e-3, "MB": 1.0}
    line = str(frame.explain(analyze=True))
    found = re.search(r"([\d.]+) (k?M?B) of ([\d.]+) (k?M?B) read", line)
    assert found is not None, line
    return float(found[1]) * units[found[2]], float(found[3]) * units[found[4]]


@pytest.mark.parametrize("threads", [1, 2])
def test_only_dictionaries_are_read_of_row_groups_without_wanted_rows(
    threads: int, tmp_path: Path
) -> None:
    rows, groups = 1_000_000, 20
    random = np.random.default_rng(2)
    words = [f"word {k} of the dictionary" for k in range(500)]
    codes = random.integers(0, 25, rows) + np.arange(rows) // (rows // groups) * 25
    table = pa.table(
        {
            "x": np.arange(rows),
            "c": pa.DictionaryArray.from_arrays(pa.array(codes, pa.int32()), pa.array(words)),
            "items": pa.ListArray.from_arrays(
                np.arange(rows + 1, dtype=np.int32), random.random(rows)
            ),
        }
    )
    path = tmp_path / "a.parquet"
    pq.write_table(table, path, row_group_size=rows // groups)
    whole = hr.read_parquet(path)
    with hr.threads(threads):
        scan = hr.scan_parquet(path)
        some = scan[(scan.x >= 300_010) & (scan.x < 300_020)]
        read, size = read_bytes(some)
        assert read < size / 8, (read, size)
        assert some.c.to_list() == [words[code] for code in codes[300_010:300_020].tolist()]
        assert some["items"].to_list() == table["items"][300_010:300_020].to_pylist()
        assert some.c.cat.categories.to_list() == whole.c.cat.categories.to_list()
        # Of the filter's own column the same.
        scan = hr.scan_parquet(path)
        some = scan[(scan.x < 20) & (scan.c != "word 3 of the dictionary")]
        picked = [words[code] for code in codes[:20].tolist() if code != 3]
        assert some.c.to_list() == picked
        assert some.c.cat.categories.to_list() == whole.c.cat.categories.to_list()


def test_row_groups_whose_pages_are_not_all_codes_keep_their_categories(tmp_path: Path) -> None:
    """Of these the pages are read, as they have more values than the dictionary."""
    rows = 40_000
    words = [f"{k:030d}" for k in range(2000)]
    codes = np.arange(rows) // 10_000 * 500 + np.arange(rows) % 500
    table = pa.table(
        {
            "x": np.arange(rows),
            "c": pa.DictionaryArray.from_arrays(pa.array(codes, pa.int32()), pa.array(words)),
        }
    )
    path = tmp_path / "a.parquet"
    with pq.ParquetWriter(path, table.schema, dictionary_pagesize_limit=4096) as writer:
        for begin in range(0, rows, 10_000):
            writer.write_table(table.slice(begin, 10_000))
    scan = hr.scan_parquet(path)
    some = scan[scan.x < 3]
    whole = hr.read_parquet(path)
    assert some.c.to_list() == words[:3]
    assert some.c.cat.categories.to_list() == whole.c.cat.categories.to_list()


def test_dictionaries_of_many_row_groups_are_tested_in_parts(tmp_path: Path) -> None:
    """64 dictionaries of 4 MB each, which compress well, are never in memory together."""
    path = tmp_path / "a.parquet"
    groups, each, size = 64, 40, 100_000
    schema = pa.schema([("word", pa.string()), ("x", pa.int64())])
    with pq.ParquetWriter(
        path, schema, dictionary_pagesize_limit=1 << 24, compression="zstd", write_statistics=False
    ) as writer:
        for g in range(groups):
            words = [chr(97 + k) * size + str(g % 7) for k in range(26)] + [
                chr(65 + k) * size + str(g) for k in range(each - 26)
            ]
            writer.write_table(
                pa.table({"word": words, "x": np.arange(each) + each * g}, schema=schema)
            )
    wanted = "C" * size + "17"
    for threads in (1, 2):
        with hr.threads(threads):
            scan = hr.scan_parquet(path)
            some = scan[scan.word == wanted]
            with hr.memory.stats() as stats:
                assert some.x.to_list() == [17 * each + 28]
            assert stats.peak_bytes - hr.memory.stats().used_bytes < 100_000_000


@pytest.mark.parametrize("size", [None, 2])
def test_categories_without_a_value_keep_their_names(size: int | None, tmp_path: Path) -> None:
    """Row groups of nulls have the dictionary too."""
    path = tmp_path / "a.parquet"
    whole = pd.DataFrame({"c": pd.Categorical([None] * 5, ["b", "a"]), "x": range(5)})
    hr.DataFrame(whole).to_parquet(path, row_group_size=size)
    for read in (hr.read_parquet(path), hr.scan_parquet(path).head(2), hr.read_parquet([path])):
        assert read.c.cat.categories.to_list() == ["b", "a"]
        assert read.c.to_list() == [None] * len(read)
    assert pq.read_table(path)["c"].chunk(0).dictionary.to_pylist() == ["b", "a"]


def test_bounds_of_categories_in_any_order(tmp_path: Path) -> None:
    """They are those of the rows of a group, not of the dictionary."""
    path = tmp_path / "a.parquet"
    words = ["m", "b", "z", "a", "k"]
    values = ["m", "b", "b", None, "k", "z", None, None, "a", "a"]
    frame = pd.DataFrame({"c": pd.Categorical(values, words)})
    hr.DataFrame(frame).to_parquet(path, row_group_size=3)
    metadata = pq.ParquetFile(path).metadata
    found = [metadata.row_group(g).column(0).statistics for g in range(4)]
    assert [(s.min, s.max) for s in found] == [("b", "m"), ("k", "z"), ("a", "a"), ("a", "a")]
    assert hr.read_parquet(path).c.to_list() == values
