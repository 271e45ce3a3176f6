# SPDX-License-Identifier: Apache-2.0
"""Row groups of Parquet files: those that no wanted row can stand in are not read."""

from __future__ import annotations

import datetime
import decimal
import math
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute
import pyarrow.parquet as pq
import pytest

import headrace as hr

GROUP = 1000
GROUPS = 40
Filter = Callable[[Any], Any]


def table() -> pa.Table:
    """Forty groups of a thousand rows; values of some columns rise with the rows."""
    rows = GROUP * GROUPS
    rng = np.random.default_rng(3)
    at = np.arange(rows)
    gone = rng.random(rows) < 0.1
    gone[5 * GROUP : 6 * GROUP] = True  # a group of nulls alone
    gone[7 * GROUP : 9 * GROUP] = False  # and two without
    floats = at * 0.25
    floats[rng.random(rows) < 0.05] = np.nan
    floats[11 * GROUP : 12 * GROUP] = np.nan
    begin = np.datetime64("2024-01-01T00:00:00", "us")
    times = begin + at * np.timedelta64(1, "m")
    return pa.table(
        {
            "i": pa.array(at, mask=gone),
            "small": pa.array((at // GROUP).astype("int8"), mask=gone),
            "big": pa.array(at.astype("uint64") + np.uint64(2**63), mask=gone),
            "f": pa.array(floats, mask=gone),
            "s": pa.array([f"{row // 100:05}" for row in at], mask=gone),
            "b": pa.array(at // GROUP % 2 == 0, mask=gone),
            "d": pa.array(times.astype("datetime64[D]"), mask=gone),
            "t": pa.array(times, mask=gone),
            "ns": pa.array(times.astype("datetime64[ns]"), mask=gone),
            "sec": pa.array(times.astype("datetime64[s]"), mask=gone),
            "zone": pa.array(times, pa.timestamp("us", "Europe/Berlin"), mask=gone),
            "m": pa.array([decimal.Decimal(int(row)) / 4 for row in at], pa.decimal128(12, 2)),
            "c": pa.array([f"k{row // GROUP}" for row in at]).dictionary_encode(),
            "r": pa.array(rng.integers(0, 1000, rows)),
        }
    )


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    to = tmp_path_factory.mktemp("groups") / "x.parquet"
    pq.write_table(table(), to, row_group_size=GROUP)
    return to


def taken(frame: hr.DataFrame) -> int:
    """Row groups that were read."""
    with hr.profile() as seen:
        hr.eval(frame)
    notes = [step.note for step in seen.steps if "row groups" in step.note]
    if not notes:
        return 0  # a filter that is never true is not asked of the file
    (note,) = notes
    left_out = r"(?:, left out by dictionaries \d+)?"
    read = r"[\d.]+ .?B of [\d.]+ .?B read"
    found = re.fullmatch(rf"row groups (\d+) of (\d+){left_out}, {read}", note)
    assert found is not None, note
    assert int(found[2]) == GROUPS
    return int(found[1])


def predicted(frame: hr.DataFrame) -> int:
    return int(frame.explain().partition("row groups ")[2].partition(" of ")[0] or 0)


DAY = datetime.date(2024, 1, 20)
#: What is asked, and the most groups that have to be read for it.
WHERE: dict[str, tuple[Filter, int]] = {
    "less": (lambda f: f.i < 2500, 3),
    "less or equal": (lambda f: f.i <= 3000, 4),
    "greater": (lambda f: f.i > 37_999, 2),
    "greater or equal": (lambda f: f.i >= 38_000, 2),
    "equal": (lambda f: f.i == 12_345, 1),
    "not equal": (lambda f: f.i != 12_345, 40),
    "not equal to the only one": (lambda f: f.small != 7, 39),
    "none": (lambda f: f.i < 0, 0),
    "all": (lambda f: f.i >= 0, 39),
    "and": (lambda f: (f.i > 9_000) & (f.i < 11_500) & (f.r > 500), 3),
    "or": (lambda f: (f.i < 500) | (f.i > 39_500), 2),
    "or with what is not known": (lambda f: (f.i < 500) | (f.r * 2 == 4), 40),
    "not": (lambda f: ~(f.i >= 2000), 38),
    "not of both": (lambda f: ~((f.i >= 2000) | (f.r > 990)), 38),
    "not null": (lambda f: f.i.notna() & (f.i < 1000), 1),
    "null": (lambda f: f.i.isna(), 38),
    "null as well": (lambda f: f.i.isna() & (f.r > 500), 38),
    "float of int": (lambda f: f.i < 1999.5, 2),
    "past the type": (lambda f: f.small > 3_000_000_000, 0),
    "unsigned": (lambda f: f.big >= 2**63 + 39_000, 1),
    "cast": (lambda f: f.i.astype("float64") > 38_999.5, 1),
    "two columns": (lambda f: f.small > f.r, 40),
    "small": (lambda f: f.small == 17, 1),
    "float": (lambda f: f.f < 250, 2),
    "float equal": (lambda f: f.f == 2500.25, 2),
    "NaN is not equal": (lambda f: f.f != 3.0, 40),
    "not of NaN": (lambda f: ~(f.f > -1), 40),
    "text": (lambda f: f.s == "00123", 1),
    "text less": (lambda f: f.s < "00020", 2),
    "text not equal": (lambda f: f.s != "00020", 40),
    "texts": (lambda f: f.s.isin(["00005", "00390", "no"]), 2),
    "bool": (lambda f: f.b & (f.i < 4000), 2),
    "not bool": (lambda f: ~f.b & (f.i < 4000), 2),
    "day": (lambda f: f.d >= DAY, 40),
    "few days": (lambda f: f.d < datetime.date(2024, 1, 2), 2),
    "time": (lambda f: f.t < datetime.datetime(2024, 1, 1, 10), 1),
    "nanoseconds": (lambda f: f.ns >= datetime.datetime(2024, 1, 28), 2),
    "seconds": (lambda f: f.sec < datetime.datetime(2024, 1, 1, 10), 1),
    "zone": (
        lambda f: f.zone < pd.Timestamp("2024-01-01 11:00", tz="Europe/Berlin").to_pydatetime(),
        1,
    ),
    "members": (lambda f: f.i.isin([5, 20_005, -1]), 2),
    "no members": (lambda f: f.i.isin([]), 40),
    "small members": (lambda f: f.small.isin([3, 30]), 2),
    "float members": (lambda f: f.f.isin([0.25, 2500.0]), 3),
    "NaN is a member": (lambda f: f.f.isin([0.25, math.nan]), 40),
    "days": (lambda f: f.d.isin([datetime.date(2024, 1, 2)]), 3),
    "category": (lambda f: f.c == "k7", 1),
    "between": (lambda f: f.i.between(5_500, 6_100), 1),
}


@pytest.mark.parametrize("threads", [1, 2, 4])
@pytest.mark.parametrize("name", WHERE)
def test_wanted_rows_are_those_of_the_whole_file(name: str, threads: int, path: Path) -> None:
    where, most = WHERE[name]
    whole = hr.read_parquet(path)
    expected = whole[where(whole)]
    with hr.threads(threads):
        scan = hr.scan_parquet(path)
        some = scan[where(scan)]
        assert predicted(some) <= most
        assert taken(some) <= most
        # Not by to_dict alone: NaN is not equal to itself.
        assert repr(some.to_dict()) == repr(expected.to_dict())
        assert some.c.cat.codes.to_list() == expected.c.cat.codes.to_list()
        assert some.c.cat.categories.to_list() == expected.c.cat.categories.to_list()


@pytest.mark.parametrize(
    "name", ["less", "not", "null", "float", "NaN is not equal", "not of NaN", "text", "members"]
)
def test_pandas_picks_the_same_rows(name: str, path: Path) -> None:
    where, _ = WHERE[name]
    scan = hr.scan_parquet(path, columns=["i", "f", "s", "r"])
    theirs = pd.read_parquet(path, columns=["i", "f", "s", "r"])
    ours = scan[where(scan)].r.to_list()
    assert ours == theirs.r[where(theirs)].to_list()


def test_decimals_rule_groups_out(path: Path) -> None:
    scan, whole = hr.scan_parquet(path), hr.read_parquet(path)
    for where, most in (
        (lambda f: f.m < decimal.Decimal("12.5"), 1),
        (lambda f: f.m == decimal.Decimal("2500.25"), 1),
        (lambda f: f.m >= 9750, 1),
    ):
        some = scan[where(scan)]
        assert taken(some) <= most
        assert some.i.to_list() == whole[where(whole)].i.to_list()


def test_statistics_that_mean_nothing_rule_nothing_out(tmp_path: Path) -> None:
    values = table().select(["i", "f", "s", "t"])
    bare = tmp_path / "bare.parquet"
    pq.write_table(values, bare, row_group_size=GROUP, write_statistics=False)
    some = tmp_path / "some.parquet"
    pq.write_table(values, some, row_group_size=GROUP, write_statistics=["s"])
    whole = hr.read_parquet(bare)
    for path, most in ((bare, 40), (some, 40)):
        for where in (lambda f: f.i < 2500, lambda f: f.i.isna(), lambda f: f.f != 3.0):
            scan = hr.scan_parquet(path)
            assert taken(kept := scan[where(scan)]) <= most
            assert repr(kept.to_dict()) == repr(whole[where(whole)].to_dict())
    scan = hr.scan_parquet(some)
    assert taken(scan[scan.s == "00123"]) == 1
    scan = hr.scan_parquet(bare)
    assert taken(scan[scan.s == "00123"]) == 1  # by dictionaries


def test_a_value_of_other_rows_rules_groups_out_when_it_is_there(path: Path) -> None:
    scan, whole = hr.scan_parquet(path), hr.read_parquet(path)
    limit = hr.DataFrame({"x": [30_000, 39_000]}).x.max()
    some = scan[scan.i > limit]
    assert taken(some) == 1
    assert some.i.to_list() == whole[whole.i > 39_000].i.to_list()


def test_only_wanted_columns_and_pages_are_read(path: Path, tmp_path: Path) -> None:
    class Counted:
        """A file that counts the bytes that are read."""

        closed = False

        def __init__(self, path: Path) -> None:
            self.file = open(path, "rb")  # noqa: SIM115
            self.bytes = 0

        def read(self, size: int = -1) -> bytes:
            found = self.file.read(size)
            self.bytes += len(found)
            return found

        def seek(self, *to: int) -> int:
            return self.file.seek(*to)

        def tell(self) -> int:
            return self.file.tell()

        def seekable(self) -> bool:
            return True

        def readable(self) -> bool:
            return True

        def writable(self) -> bool:
            return False

        def close(self) -> None:
            self.file.close()

    rows = 400_000
    rng = np.random.default_rng(0)
    wide = pa.table({"k": np.arange(rows), **{f"x{i}": rng.random(rows) for i in range(8)}})
    to = tmp_path / "wide.parquet"
    pq.write_table(
        wide,
        to,
        row_group_size=rows // 4,
        compression="none",
        use_dictionary=False,
        data_page_size=1 << 16,
    )
    size = to.stat().st_size
    column = size / 9

    def read_by(make: Callable[[hr.DataFrame], hr.DataFrame], expected: Any) -> int:
        source = Counted(to)
        scan = hr.scan_parquet(source)
        source.bytes = 0
        found = make(scan).to_pandas()
        source.file.close()
        pd.testing.assert_frame_equal(found.reset_index(drop=True), expected.reset_index(drop=True))
        return source.bytes

    frame = wide.to_pandas()
    few = read_by(lambda f: f[f.k >= rows - 10][["k", "x3"]], frame[["k", "x3"]][-10:])
    assert few < column / 4 * 2.2  # two columns of one group
    none = read_by(lambda f: f[f.k < 0][["x1"]], frame[["x1"]][:0])
    assert none == 0
    # A filter that the statistics cannot help reads its column, and the others where it is true.
    rare = frame[frame.x0 < 1e-6]
    some = read_by(lambda f: f[f.x0 < 1e-6], rare)
    assert some < column * 1.2 + 2 * size / 4 * max(len(set(rare.k // (rows // 4))), 1)
    first = read_by(lambda f: f.head(10), frame[:10])
    assert first < size / 8
    picked = read_by(lambda f: f[f.x0 > 0.5].head(10), frame[frame.x0 > 0.5][:10])
    assert picked < size / 8


@pytest.mark.parametrize("n", [0, 1, 999, 1000, 1001, 4_500, 50_000])
def test_first_rows(n: int, path: Path) -> None:
    whole = hr.read_parquet(path)
    scan = hr.scan_parquet(path)
    assert repr(scan.head(n).to_dict()) == repr(whole.head(n).to_dict())
    for where in (lambda f: f.i > 9_500, lambda f: f.r > 700, lambda f: f.c == "k3"):
        scan = hr.scan_parquet(path)
        some = scan[where(scan)].head(n)
        assert repr(some.to_dict()) == repr(whole[where(whole)].head(n).to_dict())
    scan = hr.scan_parquet(path)
    assert taken(scan[scan.i > 9_500].head(10)) == (0 if n == 0 else 1) or n == 0


def test_files_without_rows_and_groups(tmp_path: Path) -> None:
    empty = table().slice(0, 0)
    pq.write_table(empty, tmp_path / "empty.parquet")
    scan = hr.scan_parquet(tmp_path / "empty.parquet")
    assert scan[scan.i > 3].to_dict() == {name: [] for name in empty.column_names}
    assert scan[scan.s == "a"].head(3).s.to_list() == []
    assert scan.head(3).to_dict() == {name: [] for name in empty.column_names}


def test_nested_columns_beside_the_wanted_ones(tmp_path: Path) -> None:
    values = pa.table(
        {
            "l": [[i, i + 1] for i in range(100)],
            "n": [{"x": i, "y": -i} for i in range(100)],
            "n.x": list(range(100, 200)),
            "x": list(range(100)),
        }
    )
    pq.write_table(values, tmp_path / "n.parquet", row_group_size=10)
    scan = hr.scan_parquet(tmp_path / "n.parquet", columns=["x"])
    some = scan[scan.x > 94]
    assert "row groups 1 of 10" in some.explain()
    assert some.x.to_list() == [95, 96, 97, 98, 99]


def test_a_plan_says_which_groups_it_read(path: Path) -> None:
    scan = hr.scan_parquet(path)
    some = scan[(scan.i < 2500) & (scan.r > 500)]
    text = some.explain()
    assert "x.parquet where (i < 2500) and (r > 500); row groups 3 of 40" in text
    line = some.explain(analyze=True).splitlines()[1]
    assert re.search(r"in memory, row groups 3 of 40, [\d.]+ kB of [\d.]+ .B read$", line), line


def test_filtered_rows_take_the_memory_of_the_result(tmp_path: Path) -> None:
    rows = 4_000_000
    values = pa.table({"k": np.arange(rows) % 1000, "x": np.arange(rows) * 0.5})
    for size in (rows, 100_000):
        path = tmp_path / f"{size}.parquet"
        pq.write_table(values, path, row_group_size=size)
        scan = hr.scan_parquet(path)
        some = scan[scan.k == 7]
        before = pa.total_allocated_bytes()
        pool = pa.default_memory_pool()
        with hr.memory.stats() as stats:
            assert len(some.x.to_list()) == rows // 1000
        # A worker holds two pages, packed and unpacked.
        assert stats.peak_bytes - hr.memory.stats().used_bytes < 12_000_000
        assert pa.total_allocated_bytes() - before < 8_000_000
        assert pool.max_memory() > 0


def bytes_given(work: Callable[[], Any]) -> int:
    """Bytes that the system gives to this process."""

    def given() -> int:
        lines = Path("/proc/self/io").read_text().splitlines()
        return int(next(line for line in lines if line.startswith("rchar")).split()[1])

    before = given()
    work()
    return given() - before


def test_what_is_not_wanted_is_not_read(tmp_path: Path) -> None:
    """One percent of sorted rows and 2 of 50 columns take less than a tenth of the bytes."""
    rows = 2_000_000
    random = np.random.default_rng(50)
    wide = pa.table({f"c{i}": random.random(rows // 40) for i in range(50)})
    pq.write_table(wide, tmp_path / "wide.parquet")
    table = pa.table({"k": np.arange(rows) * 100 // rows, "x": random.random(rows)})
    hr.from_arrow(table).to_parquet(tmp_path / "ours.parquet")
    pq.write_table(table, tmp_path / "theirs.parquet", row_group_size=rows // 100)
    two = bytes_given(lambda: hr.read_parquet(tmp_path / "wide.parquet", columns=["c7", "c31"]))
    assert two < (tmp_path / "wide.parquet").stat().st_size / 10
    for name in ("ours.parquet", "theirs.parquet"):
        scan = hr.scan_parquet(tmp_path / name)
        some = scan[scan.k == 7]
        given = bytes_given(lambda some=some: hr.eval(some))
        assert some.x.to_list() == table["x"].to_pylist()[rows // 100 * 7 : rows // 100 * 8]
        assert given < (tmp_path / name).stat().st_size / 10, name
