# SPDX-License-Identifier: Apache-2.0
"""Row groups that Bloom filters and dictionaries leave out: the rows of the whole file, always."""

from __future__ import annotations

import datetime
import io
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import headrace as hr

ROWS, GROUPS = 60_000, 6


def table_of(rows: int = ROWS) -> pa.Table:
    """Each key lies in one group of rows, between the least and the greatest of all groups."""
    random = np.random.default_rng(5)
    keys = np.arange(rows) * 2
    spread = np.concatenate(
        [keys[g::GROUPS][random.permutation(rows // GROUPS)] for g in range(GROUPS)]
    )
    group = np.arange(rows) // (rows // GROUPS)
    few = spread % 500 * GROUPS + group  # some hundred values a group
    return pa.table(
        {
            "i": spread,
            "i32": spread.astype("int32"),
            "u32": spread.astype("uint32"),
            "i16": (few // 2).astype("int16"),
            "f": spread / 4,
            "f32": spread.astype("float32"),
            "s": [f"word {v}" for v in spread],
            "t": pa.array(spread, pa.timestamp("us")),
            "n": pa.array(spread, mask=random.random(rows) < 0.1),
            "few": few,
            "fs": [f"few {v}" for v in few],
            "cat": pa.array([f"few {v}" for v in few]).dictionary_encode(),
            "value": np.arange(rows),
        }
    )


TABLE = table_of()
FEW = TABLE["few"][3 * ROWS // GROUPS + 77].as_py()  # in the fourth group alone
KEYS = ["i", "i32", "u32", "i16", "f", "f32", "s", "t", "n"]


def ours(bloom: bool = True) -> bytes:
    frame = hr.from_arrow(TABLE)
    assert isinstance(frame, hr.DataFrame)
    content = frame.to_parquet(row_group_size=ROWS // GROUPS, bloom_filter=KEYS if bloom else [])
    assert content is not None
    return content


OURS, BARE = ours(), ours(bloom=False)


def noted(scan: hr.DataFrame, where: Callable[[Any], Any]) -> str:
    """What a filtered scan says of its row groups when it ran."""
    with hr.profile() as seen:
        hr.eval(scan[where(scan)])
    return next(step.note for step in seen.steps if "row groups" in step.note)


def counted(note: str) -> tuple[int, int, int]:
    """Groups read, left out by filters and left out by dictionaries."""
    found = re.match(
        r"row groups (\d+) of \d+(?:, left out by Bloom filters (\d+))?"
        r"(?:, left out by dictionaries (\d+))?,",
        note,
    )
    assert found, note
    return int(found[1]), int(found[2] or 0), int(found[3] or 0)


SINGLE: list[Any] = [
    lambda f: f.i == 4002,
    lambda f: f.i == 4003,
    lambda f: f.i32 == 4002,
    lambda f: f.i32 == 4002.0,
    lambda f: f.i32 == 4002.5,
    lambda f: f.i32 == 2**40,
    lambda f: f.u32 == 4002,
    lambda f: f.f == 1000.5,
    lambda f: f.f == 1000.3,
    lambda f: f.f32 == 4002,
    lambda f: f.f == -0.0,
    lambda f: f.s == "word 4002",
    lambda f: f.s == "word 4003",
    lambda f: f.i == 4002.0,
    lambda f: f.i.isin([4002, 8004]),
    lambda f: f.i.isin([4003]),
    lambda f: f.i.isin([]),
    lambda f: f.i32.isin([4002, 2**40]),
    lambda f: f.s.isin(["word 4002", "word 5"]),
    lambda f: (f.i == 4002) | (f.s == "word 8004"),
    lambda f: (f.i == 4002) & (f.value >= 0),
    lambda f: (f.i == 4002) & (f.s == "word 8004"),
    lambda f: f.n == 4002,
    lambda f: f.f32 == 4002.0,
]
OTHERS: list[Any] = [
    lambda f: f.n.isna(),
    lambda f: f.n.isin([4002, None]),
    lambda f: ~(f.i == 4002) & (f.value < 10),
    lambda f: f.i != 4002,
    lambda f: (f.i == 4002) | (f.value == 5),
    lambda f: f.i + 1 == 4003,
    lambda f: f.f.isin([float("nan"), 1000.5]),
    lambda f: f.few == FEW,
    lambda f: f.fs == f"few {FEW}",
    lambda f: f.fs.isin([f"few {FEW}", "few x"]),
    lambda f: f.fs.str.endswith(str(FEW)),
    lambda f: f.cat == f"few {FEW}",
    lambda f: f.cat.isin([f"few {FEW}", "none"]),
    lambda f: (f.few % 1000 == FEW % 1000) & (f.fs != "few 7"),
    lambda f: f.few.isna(),
    lambda f: f.f32 == 0.1,
    lambda f: f.f32 == 2**25 + 1,
    lambda f: f.t == datetime.datetime(1970, 1, 1, 0, 0, 0, 4002),
]


@pytest.mark.parametrize("threads", [1, 2, 4])
@pytest.mark.parametrize("content", [OURS, BARE], ids=["filters", "none"])
def test_the_rows_are_those_of_the_whole_file(content: bytes, threads: int) -> None:
    whole = hr.read_parquet(content)
    with hr.threads(threads):
        for number, where in enumerate(SINGLE + OTHERS):
            scan = hr.scan_parquet(content)
            expected = whole[where(whole)]
            assert scan[where(scan)].equals(expected), number
            scan = hr.scan_parquet(content)
            assert scan[where(scan)].head(2).equals(expected.head(2)), number


def groups_with(where: Callable[[Any], Any]) -> int:
    """How many groups have a row that the test picks."""
    whole = hr.read_parquet(OURS)
    return len({row // (ROWS // GROUPS) for row in whole[where(whole)].value.to_list()})


@pytest.mark.parametrize("number", [n for n in range(len(SINGLE)) if n not in (5, 10, 16)])
def test_filters_leave_groups_out(number: int) -> None:
    """Of tests that bounds do not decide, nor the plan."""
    note = noted(hr.scan_parquet(OURS), SINGLE[number])
    read, by_filter, _ = counted(note)
    assert by_filter > 0, note
    assert read <= groups_with(SINGLE[number]) + 1, note  # they are wrong once in a hundred times


def test_what_the_filters_do_not_know_is_read() -> None:
    for where in (OTHERS[0], OTHERS[1], OTHERS[3], OTHERS[4]):
        assert counted(noted(hr.scan_parquet(OURS), where))[1] == 0


def test_dictionaries_leave_groups_out() -> None:
    for number, where in enumerate([*OTHERS[7:11], OTHERS[13]]):
        read, _, by_dictionary = counted(noted(hr.scan_parquet(BARE), where))
        assert read == groups_with(where), number
        assert by_dictionary > 0, number
    scan = hr.scan_parquet(BARE)
    told = str(scan[scan.few == FEW].explain(analyze=True))
    assert "row groups 1 of 6, left out by dictionaries 5" in told


def test_over_several_files(tmp_path: Path) -> None:
    frame = hr.read_parquet(OURS)
    size = ROWS // GROUPS
    for g in range(GROUPS):
        part = frame[g * size : (g + 1) * size]
        part.to_parquet(tmp_path / f"{g}.parquet", bloom_filter=["i", "s"])
    for number, where in enumerate(SINGLE + OTHERS):
        scan = hr.scan_parquet(tmp_path, include_file_paths="from")
        picked = scan[where(scan)]
        assert picked.drop(columns="from").equals(frame[where(frame)]), number
        assert [name[-9:] for name in picked["from"].to_list()] == [
            f"{row // size}.parquet" for row in picked.value.to_list()
        ]
    scan = hr.scan_parquet(tmp_path)
    assert counted(noted(scan, lambda f: f.s == "word 4002")) == (1, 5, 0)
    scan = hr.scan_parquet(tmp_path)
    assert counted(noted(scan, lambda f: f.few == FEW)) == (1, 0, 5)


def test_filters_of_others(tmp_path: Path) -> None:
    path = tmp_path / "x.parquet"
    with duckdb.connect() as connection:
        connection.register("t", TABLE.drop(["cat"]))
        connection.execute(f"copy t to '{path}' (format parquet, row_group_size 10240)")
    whole, metadata = hr.read_parquet(path), pq.read_metadata(path)
    assert metadata.num_row_groups > 4
    for where in (SINGLE[0], SINGLE[2], SINGLE[7], SINGLE[11], SINGLE[14], *OTHERS[7:10]):
        scan = hr.scan_parquet(path)
        assert scan[where(scan)].equals(whole[where(whole)])
    note = noted(hr.scan_parquet(path), lambda f: f.few == FEW)
    assert counted(note)[1] + counted(note)[2] > 0, note


def test_filters_of_uuids(tmp_path: Path) -> None:
    """They are stored as 16 bytes and read as strings."""
    path = tmp_path / "x.parquet"
    group = np.arange(ROWS) // 10_240
    words = [
        f"00000000-0000-4000-8000-{v * 6 + g:012x}"
        for v, g in zip(np.arange(ROWS) % 400, group, strict=True)
    ]
    with duckdb.connect() as connection:
        connection.register("t", pa.table({"u": words}))
        connection.execute(
            f"copy (select u::uuid as u from t) to '{path}' (format parquet, row_group_size 10240)"
        )
    assert pq.read_schema(path).field("u").type == pa.uuid()
    metadata = pq.read_metadata(path)
    assert metadata.num_row_groups > 4
    word = words[2 * 10_240 + 77]
    assert counted(noted(hr.scan_parquet(path), lambda f: f.u == word))[1] > 0
    for wanted in (word, words[-1], word[:-1] + "z", word.upper() + " "):
        scan = hr.scan_parquet(path)
        assert scan[scan.u == wanted].u.to_list() == [w for w in words if w == wanted]


def test_a_value_that_was_found_by_another_scan() -> None:
    whole = hr.read_parquet(OURS)
    wanted = hr.DataFrame({"i": [4002, 8004], "x": [1, 2]})
    scan = hr.scan_parquet(OURS)
    picked = scan[scan.i.isin(wanted.i)]
    assert picked.value.to_list() == whole[whole.i.isin([4002, 8004])].value.to_list()


def test_damaged_filters_are_errors_or_ignored() -> None:
    """Whatever byte of the header of a filter or of the footer is another: the rows or an error."""
    rows = 900
    frame = hr.DataFrame({"k": np.arange(rows) * 7 % rows, "s": [f"{i:05}" for i in range(rows)]})
    content = frame.to_parquet(row_group_size=300, bloom_filter=["k", "s"], compression="none")
    assert content is not None
    metadata = pq.read_metadata(io.BytesIO(content))
    size = int.from_bytes(content[-8:-4], "little")
    places = list(range(len(content) - 8 - size, len(content)))
    for g in range(3):
        for c in range(2):
            chunk = metadata.row_group(g).column(c)
            begin = chunk.total_compressed_size + min(
                offset
                for offset in (chunk.dictionary_page_offset, chunk.data_page_offset)
                if offset is not None
            )
            places += [place for place in range(begin, begin + 20) if content[place] != 0] * 20
    random = np.random.default_rng(1)
    errors = 0
    for at in random.choice(places, 3000):
        damaged = bytearray(content)
        damaged[at] ^= 1 << int(random.integers(0, 8))
        try:
            scan = hr.scan_parquet(bytes(damaged))
            picked = scan[scan.s == "00500"]
            picked.to_dict()
        except hr.Error as error:
            assert not isinstance(error, hr.InternalError)
            errors += 1
    assert errors > 100
    scan = hr.scan_parquet(content)
    assert scan[scan.s == "00500"].k.to_list() == [500 * 7 % rows]


def test_a_filter_of_a_wrong_size_or_place_is_an_error() -> None:
    frame = hr.DataFrame({"k": np.arange(1000) * 7 % 1000})
    content = frame.to_parquet(bloom_filter=["k"], compression="none")
    assert content is not None
    chunk = pq.read_metadata(io.BytesIO(content)).row_group(0).column(0)
    begin = (chunk.dictionary_page_offset or chunk.data_page_offset) + chunk.total_compressed_size
    assert content[begin] == 0x15  # the size, a number of two bytes
    for size in (b"\x40", b"\x00", b"\xbf\x7f", b"\xff\xff\xff\xff\x0f"):
        bad = content[: begin + 1] + size + content[begin + 1 + len(size) :]
        with pytest.raises(hr.InputError, match="damaged"):
            scan = hr.scan_parquet(bad)
            scan[scan.k == 5].k.to_list()
        assert hr.read_parquet(bad).k.to_list() == frame.k.to_list()


def test_many_values_beside_the_value_of_a_folder(tmp_path: Path) -> None:
    """`isin` of many values waits for rows that tests of folders alone leave."""
    rows = np.random.default_rng(3).permutation(50_000)
    for year in (2020, 2021):
        folder = tmp_path / f"year={year}"
        folder.mkdir()
        table = pa.table({"value": rows + 7 * (year - 2020)})
        pq.write_table(
            table,
            folder / "a.parquet",
            write_page_index=True,
            use_dictionary=False,
            data_page_size=999,
        )
    some = np.arange(0, 50_000, 2)
    for years in ([2020], [2021], [2020, 2021], [1999]):
        scan = hr.scan_parquet(tmp_path)
        found = scan[scan.year.isin(years) & scan.value.isin(some)].value.to_numpy()
        wanted = [rows + 7 * (year - 2020) for year in years if year != 1999]
        every = np.concatenate([*wanted, np.zeros(0, int)])
        assert np.array_equal(found, every[np.isin(every, some)])
