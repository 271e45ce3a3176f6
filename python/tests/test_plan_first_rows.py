# SPDX-License-Identifier: Apache-2.0
"""The first rows of filtered files, chains and parts: as much is read as they need."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import headrace as hr

ROWS = 3_000_000


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A text of about 70 MB, with a bad row near its end."""
    to = tmp_path_factory.mktemp("first") / "long.csv"
    a = np.arange(ROWS)
    hr.DataFrame(
        {"a": a, "b": a * 0.5, "s": hr.Series(a % 1000).map({i: f"word {i}" for i in range(1000)})}
    ).to_csv(to)
    with open(to, "a") as file:
        file.write("5,no number,x,one field too many\n")
    return to


class Counted(io.BufferedReader):
    """A file that knows how many bytes went out."""

    def __init__(self, path: Path) -> None:
        super().__init__(io.FileIO(path))
        self.bytes = 0

    def read(self, size: int | None = -1) -> bytes:
        found = super().read(size)
        self.bytes += len(found)
        return found

    def readinto(self, into: Any) -> int:
        count = super().readinto(into)
        self.bytes += count
        return count


@pytest.fixture
def count() -> Iterator[Callable[[Path], Counted]]:
    """Opens such files, and closes them in the end."""
    files: list[Counted] = []

    def opened(path: Path) -> Counted:
        files.append(Counted(path))
        return files[-1]

    yield opened
    for file in files:
        file.close()


Make = Callable[[hr.DataFrame], hr.DataFrame | hr.Series]
SHAPES: dict[str, Make] = {
    "filter": lambda f: f[f.a % 7 == 3],
    "two filters": lambda f: f[f.a % 7 == 3][["a", "b"]].pipe(lambda g: g[g.b > 100]),
    "text": lambda f: f[f.s.str.contains("99")],
    "projection": lambda f: f[f.a % 7 == 3][["s"]],
    "series": lambda f: f.b[f.a % 7 == 3],
    "chain": lambda f: f.assign(z=f.a * 2 + f.b)[f.a % 7 == 3],
    "chain behind": lambda f: f[f.a % 7 == 3].pipe(lambda g: g.assign(z=g.a * 2 + g.b)),
    "filter of a chain": lambda f: f.assign(z=f.a * 2 + f.b).pipe(lambda g: g[g.z > 1000]),
    "texts of a filter": lambda f: f[f.a % 7 == 3].pipe(lambda g: g.assign(t=g.s.str.upper())),
    "texts": lambda f: f.assign(t=f.s.str.upper()),
}


@pytest.mark.parametrize("name", SHAPES)
def test_the_first_rows_are_read_from_the_front(name: str, path: Path, count: Any) -> None:
    source = count(path)
    scan = hr.scan_csv(source)
    before = source.bytes
    first = SHAPES[name](scan).head(10)
    found = first.to_dict() if isinstance(first, hr.DataFrame) else first.to_list()
    assert source.bytes - before < 12_000_000  # of 70 MB
    whole = hr.read_csv(path, num_rows=20_000)
    expected = SHAPES[name](whole)
    hr.eval(expected)
    rows = expected.head(10)
    assert found == (rows.to_dict() if isinstance(rows, hr.DataFrame) else rows.to_list())


@pytest.mark.parametrize("n", [0, 1, 63, 64, 65, 1000, 5_000, 10_000])
@pytest.mark.parametrize("threads", [1, 2, 4])
def test_so_many_first_rows_are_those_of_the_whole(n: int, threads: int, path: Path) -> None:
    whole = hr.read_csv(path, num_rows=70_000)
    expected = whole[whole.a % 7 == 3]
    hr.eval(expected)
    with hr.threads(threads):
        scan = hr.scan_csv(path)
        first = scan[scan.a % 7 == 3].head(n)
        assert f"first {n} rows" in first.explain()
        assert first.to_dict() == expected.head(n).to_dict()
        assert len(first) == n


def test_fewer_rows_than_asked_for_are_all(path: Path) -> None:
    scan = hr.scan_csv(path, num_rows=100_000)
    few = scan[scan.a % 10_000 == 3]
    assert few.head(50).a.to_list() == list(range(3, 100_000, 10_000))
    assert few.head(3).a.to_list() == [3, 10_003, 20_003]
    none = scan[scan.a < 0]
    assert none.head(5).to_dict() == {"a": [], "b": [], "s": []}


def test_bad_rows_behind_the_last_wanted_one_are_no_error() -> None:
    text = b"a,b\n1,x\n2,y\n3,z\n4\n5,w\n"
    scan = hr.scan_csv(text)
    assert scan[scan.a > 1].head(2).a.to_list() == [2, 3]
    with pytest.raises(hr.InputError, match="line=5"):
        scan[scan.a > 1].head(3).to_dict()
    with pytest.raises(hr.InputError, match="line=5"):
        scan.head(4).to_dict()
    assert scan.head(3).a.to_list() == [1, 2, 3]
    values = b"a,b\n" + b"".join(b"%d,%d\n" % (i, i) for i in range(5000)) + b"7,no\n"
    scan = hr.scan_csv(values, dtypes={"b": "int64"})
    assert scan[scan.b > 4990].head(9).b.to_list() == list(range(4991, 5000))
    with pytest.raises(hr.InputError, match="line=5002"):
        scan[scan.b > 4990].head(10).to_dict()
    open_quote = b'a,b\n1,x\n2,"never closed\n'
    scan = hr.scan_csv(open_quote, dtypes={"a": "int64", "b": "string"})
    assert scan[scan.a > 0].head(1).a.to_list() == [1]
    with pytest.raises(hr.InputError, match="line=3"):
        scan[scan.a > 0].head(2).to_dict()


def test_what_others_read_is_made_whole_once(path: Path, count: Any) -> None:
    source = count(path)
    scan = hr.scan_csv(source, num_rows=200_000)
    some = scan[scan.a % 7 == 3]
    first = some.head(4)
    hr.eval(some, first)
    assert first.a.to_list() == [3, 10, 17, 24]
    assert len(some) == len(range(3, 200_000, 7))
    # And looked at alone afterwards it is there.
    before = source.bytes
    assert some.head(4).a.to_list() == [3, 10, 17, 24]
    assert source.bytes == before


def test_parts_are_read_one_after_the_other(tmp_path: Path, count: Any) -> None:
    paths = [tmp_path / f"{k}.csv" for k in range(4)]
    size = 400_000
    for k, path in enumerate(paths):
        rows = np.arange(k * size, (k + 1) * size)
        hr.DataFrame({"a": rows, "b": rows * 0.5}).to_csv(path)

    def joined() -> tuple[list[Counted], hr.DataFrame]:
        sources = [count(path) for path in paths]
        frame = hr.concat([hr.scan_csv(source) for source in sources])
        for source in sources:
            source.bytes = 0
        return sources, frame

    sources, frame = joined()
    assert frame.head(5).a.to_list() == [0, 1, 2, 3, 4]
    assert sources[1].bytes == sources[2].bytes == sources[3].bytes == 0

    sources, frame = joined()
    assert "first 5 rows of 4 parts" in frame[frame.a > 10].head(5).explain()
    assert frame[frame.a > 790_000].head(5).a.to_list() == list(range(790_001, 790_006))
    assert sources[1].bytes > 0
    assert sources[2].bytes == sources[3].bytes == 0

    sources, frame = joined()
    chain = frame.assign(z=frame.a + frame.b)
    kept = chain[chain.z > 1.5 * (size - 10)]
    assert kept.assign(y=kept.z * 2).head(12).y.to_list() == [
        3.0 * a for a in range(size - 9, size + 3)
    ]
    assert sources[2].bytes == sources[3].bytes == 0

    sources, frame = joined()
    assert len(frame[frame.a < 7].head(9)) == 7
    nested = hr.concat([frame, frame])
    assert nested[nested.a < 3].head(5).a.to_list() == [0, 1, 2, 0, 1]


def test_parts_that_are_there_give_their_first_rows() -> None:
    one = hr.DataFrame({"x": [1, 2, None], "s": ["a", None, "c"]})
    two = hr.DataFrame({"x": [4.5, 5.0], "s": ["d", "e"]})
    for n in range(7):
        expected = hr.concat([one, two])
        hr.eval(expected)
        assert hr.concat([one, two]).head(n).to_dict() == expected.head(n).to_dict()
    assert hr.concat([one.s.astype("category"), two.s.astype("category")]).head(4).to_list() == [
        "a",
        None,
        "c",
        "d",
    ]


def test_first_rows_of_what_the_plan_also_makes_whole() -> None:
    frame = hr.DataFrame({"s": ["a", "b", "a"], "n": [1, 2, -7]})
    frame["change"] = frame.n - frame.groupby("s").n.shift(1)
    both = hr.concat([frame, frame[frame.change == -8]])
    both["first"] = both.groupby("s").n.transform("first")
    assert both.head(4).to_dict() == {
        "s": ["a", "b", "a", "a"],
        "n": [1, 2, -7, -7],
        "change": [None, None, -8, -8],
        "first": [1, 2, 1, 1],
    }


def rows_to_pick() -> hr.DataFrame:
    at = np.arange(200_000)
    columns = {"k": at % 7, "x": at * 0.5, "n": at % 1000}
    for column in columns.values():
        column.flags.writeable = False  # so that nothing runs before it is looked at
    return hr.DataFrame(columns)


def names_of_keys() -> hr.DataFrame:
    return hr.DataFrame({"k": list(range(5)), "t": [f"key {k}" for k in range(5)]})


PICKED: dict[str, Make] = {
    "filter": lambda f: f[f.n > 300],
    "few rows": lambda f: f[f.n == 300],
    "chain": lambda f: f[f.n > 300].pipe(lambda p: p.assign(x=p.x * 2 - p.n)),
    "two filters": lambda f: f[f.n > 300].pipe(lambda p: p[p.x < 50_000]),
    "filter of a chain": lambda f: f.assign(z=f.x + f.n).pipe(lambda p: p[p.z > 900]),
    "filter of a join": lambda f: f.merge(names_of_keys(), on="k").pipe(lambda p: p[p.n > 300]),
    "filter of sorted rows": lambda f: f.sort_values("n").pipe(lambda p: p[p.n > 300]),
    "filter of groups": lambda f: f.groupby("n", as_index=False)[["k", "x"]].max().query("x > 9e4"),
}
GROUPED: dict[str, Make] = {
    "sum": lambda p: p.groupby("k", as_index=False).x.sum(),
    "median of a chain": lambda p: p.assign(x=p.x * 3).groupby("k", as_index=False).x.median(),
    "two": lambda p: p.groupby(["k", "n"], as_index=False).x.max(),
    "chain of sums": lambda p: p.groupby("k", as_index=False).agg(x=("x", "sum"), n=("n", "mean")),
    "distinct": lambda p: p[["k", "x"]].drop_duplicates("k"),
    "sorted": lambda p: p.sort_values(["k", "x"], ascending=False)[["k", "x"]].head(9),
}


@pytest.mark.parametrize("grouped", GROUPED)
@pytest.mark.parametrize("name", PICKED)
def test_first_rows_of_rows_that_groups_pick_themselves(name: str, grouped: str) -> None:
    def parts(look: Callable[[hr.DataFrame], None]) -> tuple[hr.DataFrame, hr.DataFrame]:
        picked = PICKED[name](rows_to_pick())
        look(picked)
        first = hr.concat([picked[["k", "x"]], rows_to_pick()[["k", "x"]]]).head(5)
        return first, GROUPED[grouped](picked)[["k", "x"]]

    expected = [part.to_dict() for part in parts(hr.eval)]
    for turn in (1, -1):
        first, groups = parts(lambda _: None)
        both = hr.concat([first, groups][::turn]).to_dict()
        wanted = {c: [v for part in expected[::turn] for v in part[c]] for c in ("k", "x")}
        assert both == wanted
