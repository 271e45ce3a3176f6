# SPDX-License-Identifier: Apache-2.0
"""Folders, partitions, columns of paths and URLs, for each reader alike."""

from __future__ import annotations

import datetime
import functools
import http.server
import re
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import headrace as hr

#: By format: reads, scans, and writes.
FORMATS: dict[str, tuple[Callable[..., Any], Callable[..., Any], str]] = {
    "csv": (hr.read_csv, hr.scan_csv, "to_csv"),
    "parquet": (hr.read_parquet, hr.scan_parquet, "to_parquet"),
}
EACH = pytest.mark.parametrize("format", FORMATS)
BOTH = pytest.mark.parametrize("which", [0, 1], ids=["read", "scan"])


def put(folder: Path, format: str, **files: dict[str, list[Any]]) -> None:
    """Write frames to files below a folder; dots of their names make folders."""
    for name, columns in files.items():
        path = folder / f"{name.replace('__', '/').replace('_is_', '=')}.{format}"
        path.parent.mkdir(parents=True, exist_ok=True)
        getattr(hr.DataFrame(columns), FORMATS[format][2])(path)


@EACH
@BOTH
def test_a_folder_a_pattern_and_a_list_are_one_frame(format, which, tmp_path):
    read = FORMATS[format][which]
    put(tmp_path, format, b={"x": [3], "s": ["c"]}, a={"x": [1, 2], "s": ["a", None]})
    put(tmp_path, format, d__e={"x": [4], "s": ["d"]})
    for aside in ("_SUCCESS", ".hidden", f"a.{format}.headrace-part-0"):
        (tmp_path / aside).write_text("no data")
    assert read(tmp_path).to_dict() == {"x": [1, 2, 3, 4], "s": ["a", None, "c", "d"]}
    assert read(str(tmp_path) + "/").x.to_list() == [1, 2, 3, 4]
    assert read(tmp_path / f"*.{format}").x.to_list() == [1, 2, 3]
    assert read(tmp_path / "**" / f"*.{format}").x.to_list() == [1, 2, 3, 4]
    paths = [tmp_path / f"b.{format}", str(tmp_path / f"a.{format}")]
    assert read(paths).x.to_list() == [3, 1, 2]
    assert read(paths[:1]).x.to_list() == [3]
    assert list(read(paths).index.to_list()) == [0, 1, 2]
    with pytest.raises(FileNotFoundError, match=re.escape("no file matches")):
        read(tmp_path / "none*")
    (tmp_path / "empty").mkdir()
    with pytest.raises(FileNotFoundError, match="no file in the folder"):
        read(tmp_path / "empty")
    with pytest.raises(hr.InputError, match=r"sources=\[\]"):
        read([])


@EACH
@BOTH
def test_the_column_of_paths(format, which, tmp_path):
    read = FORMATS[format][which]
    put(tmp_path, format, a={"x": [1, 2]}, b={"x": [3]})
    a, b = (str(tmp_path / f"{name}.{format}") for name in "ab")
    frame = read(tmp_path, include_file_paths="file")
    assert list(frame.columns) == ["x", "file"]
    assert frame.file.to_list() == [a, a, b]
    assert frame[frame.file == b].x.to_list() == [3]
    assert frame.groupby("file").x.sum().to_dict() == {a: 3, b: 3}
    assert read(a, include_file_paths="file").file.to_list() == [a, a]
    assert read([a], include_file_paths="f").columns == ["x", "f"]


@EACH
@BOTH
def test_folders_with_keys_make_columns(format, which, tmp_path):
    read = FORMATS[format][which]
    for year in (2023, 2024):
        for day, name in (("2024-01-02", "a%20b"), ("2024-01-03", "c")):
            path = tmp_path / f"year={year}" / f"day={day}" / f"kind={name}" / f"x.{format}"
            path.parent.mkdir(parents=True)
            getattr(hr.DataFrame({"x": [year, year + 1]}), FORMATS[format][2])(path)
    frame = read(tmp_path)
    assert list(frame.columns) == ["x", "year", "day", "kind"]
    assert [str(frame[name].dtype) for name in ("year", "day", "kind")] == [
        "int64",
        "date",
        "string",
    ]
    assert frame.year.to_list() == [2023] * 4 + [2024] * 4
    assert frame.kind.to_list() == ["a b", "a b", "c", "c"] * 2
    assert frame.day.to_list()[1:3] == [datetime.date(2024, 1, 2), datetime.date(2024, 1, 3)]
    picked = frame[(frame.year == 2024) & (frame.kind == "c")]
    assert picked.x.to_list() == [2024, 2025]
    assert frame.groupby("year").x.sum().to_dict() == {2023: 8094, 2024: 8098}
    assert frame[["kind"]].head(3).kind.to_list() == ["a b", "a b", "c"]
    # A pattern counts from its first special character on, a list does not.
    assert read(tmp_path / "year=2024" / "**" / f"*.{format}").columns == ["x", "day", "kind"]
    assert read(tmp_path, hive_partitioning=False).columns == ["x"]
    path = tmp_path / "year=2023" / "day=2024-01-02" / "kind=c" / f"x.{format}"
    path = next(tmp_path.rglob("kind=c/*"))
    assert read([path]).columns == ["x"]
    assert read([path], hive_partitioning=True).columns == ["x", "year", "day", "kind"]


@EACH
@BOTH
def test_values_of_folders(format, which, tmp_path):
    read = FORMATS[format][which]
    for value in ("1", "__HIVE_DEFAULT_PARTITION__"):
        put(tmp_path / f"k={value}", format, x={"x": [1], "k": ["of the file"]})
    frame = read(tmp_path)
    assert frame.k.to_list() == [1, None]
    assert str(frame.k.dtype) == "int64"
    put(tmp_path / "j=1", format, x={"x": [1], "k": ["of the file"]})
    with pytest.raises(hr.InputError, match=r"different keys.*keys=\['k'\]"):
        read(tmp_path)


def test_partitions_leave_out_files(tmp_path):
    for month in range(1, 13):
        put(tmp_path / f"month={month}", "parquet", x={"x": list(range(100))})
        put(tmp_path / f"c/month={month}", "csv", x={"x": list(range(100))})
    scan = hr.scan_parquet(str(tmp_path / "month=*" / "*.parquet"))
    few = scan[(scan.month >= 11) & (scan.x < 5)]
    assert "row groups 2 of 12" in few.explain()
    assert few.x.to_list() == [0, 1, 2, 3, 4] * 2
    report = scan[scan.month == 3].x.explain(analyze=True)
    assert "row groups 1 of 12" in report
    assert "read" in report


@BOTH
def test_parquet_files_that_differ(which, tmp_path):
    read = FORMATS["parquet"][which]
    put(tmp_path, "parquet", a={"x": [1], "s": ["u"]}, b={"x": [1.5], "s": ["v"]})
    what = r"another dtype.*column='x', dtype='float64', first_dtype='int64', path='.*b\.parquet'"
    with pytest.raises(hr.InputError, match=what) as raised:
        read(tmp_path)
    assert raised.value.path == str(tmp_path / "b.parquet")
    assert read(tmp_path, columns=["s"]).s.to_list() == ["u", "v"]
    put(tmp_path, "parquet", b={"y": [1], "s": ["v"]})
    with pytest.raises(hr.InputError, match=r"missing=\['x'\], unexpected=\['y'\]"):
        read(tmp_path)
    put(tmp_path, "parquet", b={"s": ["v"], "x": [2]})
    assert read(tmp_path).to_dict() == {"x": [1, 2], "s": ["u", "v"]}
    with pytest.raises(hr.ColumnNotFoundError):
        read(tmp_path, columns=["no"])
    assert read(tmp_path, columns=["s", "f"], include_file_paths="f").columns == ["s", "f"]


def frame_of(rows: int, seed: int) -> hr.DataFrame:
    """Make a frame of many dtypes with nulls."""
    draw = np.random.default_rng(seed)
    numbers = draw.integers(-1000, 1000, rows)
    words = np.array(["a", "bb", "a longer word than twelve", ""])[draw.integers(0, 4, rows)]
    return hr.DataFrame(
        {
            "k": numbers,
            "x": np.where(numbers % 7 == 0, np.nan, numbers / 3),
            "s": [None if k % 11 == 0 else str(w) for k, w in zip(numbers, words, strict=True)],
            "b": numbers > 0,
            "t": numbers.astype("datetime64[us]"),
        }
    )


@EACH
@BOTH
@pytest.mark.parametrize("threads", [1, 4])
def test_many_files_are_one_file_of_their_rows(format, which, threads, tmp_path):
    """Files of 0, 1, 63 to 65 and more rows than a morsel."""
    read = FORMATS[format][which]
    sizes = [1, 0, 63, 64, 65, 140_000, 1000] if format == "parquet" else [1, 63, 64, 65, 9000]
    whole = frame_of(sum(sizes), 1)
    ends = np.cumsum(sizes)
    parts = [whole[end - size : end] for size, end in zip(sizes, ends.tolist(), strict=True)]
    write = FORMATS[format][2]
    (tmp_path / "parts").mkdir()
    for at, part in enumerate(parts):
        getattr(part, write)(tmp_path / "parts" / f"{at}.{format}")
    getattr(whole, write)(tmp_path / f"whole.{format}")
    with hr.threads(threads):
        one, many = read(tmp_path / f"whole.{format}"), read(tmp_path / "parts")
        hr.testing.assert_frame_equal(many, one)
        hr.testing.assert_frame_equal(many.head(70), one.head(70))
        hr.testing.assert_frame_equal(
            many[many.k > 900].reset_index(drop=True), one[one.k > 900].reset_index(drop=True)
        )
        assert many.x.sum().item() == one.x.sum().item()
        assert len(many) == len(one) == sum(sizes)


@EACH
@BOTH
@pytest.mark.parametrize("threads", [1, 2, 4])
def test_the_first_unreadable_file_is_named(format, which, threads, tmp_path):
    """Files are opened by all threads at a time."""
    read = FORMATS[format][which]
    put(tmp_path, format, **{f"f{k:02d}": {"x": [k]} for k in range(30)})
    paths = [str(tmp_path / f"f{k:02d}.{format}") for k in range(30)]
    gone = [paths[7], paths[21]]
    for path in gone:
        Path(path).unlink()
    with hr.threads(threads):
        with pytest.raises(FileNotFoundError, match=rf"f07\.{format}"):
            read(paths)
        left = [path for path in paths if path not in gone]
        assert read(left).x.sum().item() == sum(range(30)) - 28


def test_a_damaged_footer_among_many_is_named(tmp_path):
    put(tmp_path, "parquet", **{f"f{k:02d}": {"x": [k]} for k in range(20)})
    for k in (5, 11):
        path = tmp_path / f"f{k:02d}.parquet"
        path.write_bytes(path.read_bytes()[:-3])
    with pytest.raises(hr.InputError, match=r"damaged.*f05\.parquet"):
        hr.read_parquet(tmp_path)


@pytest.mark.parametrize("threads", [1, 4])
def test_filtered_files_whose_columns_differ(threads, tmp_path):
    """Some have nulls or need none, categories of their own, lists; of some no row is left."""
    draw = np.random.default_rng(5)
    for at, rows in enumerate([70, 1, 9000, 0, 300, 65]):
        numbers = draw.integers(at, 40, rows)
        words = pa.array([f"w{n % (3 + at)}" for n in numbers], pa.string())
        table = pa.table(
            {
                "k": pa.array(numbers, pa.int64()),
                "x": pa.array([None if n % 5 == at else n / 4 for n in numbers], pa.float64()),
                "c": words.dictionary_encode(),
                "l": pa.array([[int(n)] * (n % 3) for n in numbers], pa.list_(pa.int64())),
            }
        )
        if at % 2:
            table = table.set_column(
                1, pa.field("x", pa.float64(), False), table["x"].fill_null(0.5)
            )
        pq.write_table(table, tmp_path / f"{at}.parquet", row_group_size=1000)
    whole = hr.concat([hr.read_parquet(path) for path in sorted(tmp_path.iterdir())])
    with hr.threads(threads):
        for least in (0, 3, 30, 39, 100):
            scan = hr.scan_parquet(tmp_path, include_file_paths="path")
            made, wanted = scan[scan.k >= least], whole[whole.k >= least]
            for name in ("x", "c", "l"):
                assert made[name].to_list() == wanted[name].to_list()
            assert made[["x", "c"]].to_dict() == wanted[["x", "c"]].to_dict()
            places = [int(Path(path).stem) for path in made.path.to_list()]
            assert places == sorted(places)
            assert len(places) == len(wanted)


def test_a_file_that_changes_after_the_scan(tmp_path):
    put(tmp_path, "parquet", a={"x": [1]}, b={"x": [2]})
    scan = hr.scan_parquet(tmp_path)
    put(tmp_path, "parquet", b={"x": [3]})
    with pytest.raises(hr.InputError, match=r"b\.parquet"):
        scan.x.to_list()


def test_more_parquet_files_than_may_be_open(tmp_path):
    import resource

    limit = resource.getrlimit(resource.RLIMIT_NOFILE)
    for k in range(250):
        hr.DataFrame({"x": [k]}).to_parquet(tmp_path / f"{k:03d}.parquet")
    resource.setrlimit(resource.RLIMIT_NOFILE, (150, limit[1]))
    try:
        for read in (hr.read_parquet, hr.scan_parquet):
            frame = read(tmp_path)
            assert frame[frame.x > 1].x.to_list() == list(range(2, 250))
            assert frame.x.to_list() == list(range(250))
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, limit)


# ---- URLs ----------------------------------------------------------------------------------------
class Ranges(http.server.SimpleHTTPRequestHandler):
    """Serves files, also parts of them, and counts the bytes."""

    sent = 0

    def log_message(self, *args: Any) -> None:
        """Say nothing."""

    def send_head(self) -> Any:
        """Answer a request for a range."""
        path = Path(self.translate_path(self.path))
        wanted = re.fullmatch(r"bytes=(\d+)-(\d*)", self.headers.get("Range", ""))
        if not path.is_file() or not wanted:
            return super().send_head()
        size = path.stat().st_size
        begin, end = int(wanted[1]), min(int(wanted[2] or size - 1), size - 1)
        self.send_response(206)
        self.send_header("Content-Range", f"bytes {begin}-{end}/{size}")
        self.send_header("Content-Length", str(end - begin + 1))
        self.end_headers()
        self.wfile.write(path.read_bytes()[begin : end + 1])
        type(self).sent += end - begin + 1
        return None


@pytest.fixture
def server(tmp_path: Path) -> Iterator[str]:
    """Serve a folder."""
    handler = functools.partial(Ranges, directory=str(tmp_path))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as made:
        threading.Thread(target=made.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{made.server_address[1]}"
        made.shutdown()


@EACH
@BOTH
def test_urls_of_a_server(format, which, server, tmp_path):
    pytest.importorskip("fsspec")
    read = FORMATS[format][which]
    put(tmp_path, format, a={"x": [1, 2], "s": ["u", None]}, b={"x": [3], "s": ["v"]})
    url = f"{server}/a.{format}"
    assert read(url).to_dict() == {"x": [1, 2], "s": ["u", None]}
    both = read([url, f"{server}/b.{format}"], include_file_paths="file")
    assert both.x.to_list() == [1, 2, 3]
    assert both.file.to_list()[0] == url
    with pytest.raises(FileNotFoundError) as raised:
        read(f"{server}/none.{format}")
    assert isinstance(raised.value, hr.InputError)
    assert raised.value.path == f"{server}/none.{format}"


def test_only_the_wanted_bytes_of_a_url_are_fetched(server, tmp_path):
    pytest.importorskip("fsspec")
    draw = np.random.default_rng(1)
    columns = {f"c{k}": draw.normal(size=100_000) for k in range(20)}
    hr.DataFrame(columns).to_parquet(tmp_path / "x.parquet")
    Ranges.sent = 0
    options = {"block_size": 1 << 16}
    frame = hr.read_parquet(f"{server}/x.parquet", columns=["c3"], storage_options=options)
    assert frame.c3.to_list() == columns["c3"].tolist()
    assert 0 < Ranges.sent < (tmp_path / "x.parquet").stat().st_size / 5


@EACH
@BOTH
def test_file_systems_of_fsspec(format, which, tmp_path):
    fsspec = pytest.importorskip("fsspec")
    read = FORMATS[format][which]
    put(tmp_path, format, k_is_1__a={"x": [1]}, k_is_2__b={"x": [2, 3]})
    memory = fsspec.filesystem("memory")
    memory.put(str(tmp_path), f"/{format}-{which}", recursive=True)
    url = f"memory://{format}-{which}"
    assert read(f"{url}/k=1/a.{format}").x.to_list() == [1]
    frame = read(url, include_file_paths="file")
    assert frame.x.to_list() == [1, 2, 3]
    assert frame.k.to_list() == [1, 2, 2]
    assert frame.file.to_list()[0].endswith(f"/k=1/a.{format}")
    assert read(f"{url}/*/*.{format}").k.to_list() == [1, 2, 2]
    assert read((tmp_path / "k=1" / f"a.{format}").as_uri()).x.to_list() == [1]
    for missing in (f"{url}/none.{format}", f"{url}/none*"):
        with pytest.raises(FileNotFoundError):
            read(missing)
    with pytest.raises((hr.UnsupportedError, hr.InputError)):
        read(f"nosuch://x.{format}")


# ---- limits --------------------------------------------------------------------------------------
@EACH
def test_a_scan_into_a_group_by_under_a_quarter_of_its_columns(format, tmp_path):
    """The same bits as without a limit: of sums of floats too."""
    rows = 1_500_000
    draw = np.random.default_rng(7)
    columns = {"k": draw.integers(0, 500, rows), "x": draw.normal(size=rows), "n": np.arange(rows)}
    path = tmp_path / f"x.{format}"
    getattr(hr.DataFrame(columns), FORMATS[format][2])(path)
    del columns

    def grouped() -> dict[str, bytes]:
        frame = FORMATS[format][1](path)
        made = frame.groupby("k").agg({"x": "sum", "n": "max"}).reset_index()
        return {name: made[name].to_numpy().tobytes() for name in made.columns}

    wanted = grouped()
    hr.memory.trim()
    with hr.memory.limit(hr.memory.stats().used_bytes + rows * 3 * 8 // 4):
        assert grouped() == wanted
