# SPDX-License-Identifier: Apache-2.0
"""Lists and globs of CSV files, against one text of all of them and against pandas."""

import bz2
import gzip
import io
import random
import resource

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import headrace as hr


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """Work in an empty folder."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def written(**files):
    """Write texts as files; give their names."""
    for name, text in files.items():
        with open(f"{name}.csv", "w") as file:
            file.write(text)
    return [f"{name}.csv" for name in files]


READERS = pytest.mark.parametrize("read", [hr.read_csv, hr.scan_csv])


# ---- lists and patterns --------------------------------------------------------------------------
@READERS
def test_order_of_a_list_and_of_a_pattern(read, folder):
    paths = written(b="x,s\n1,u\n2,v\n", a="x,s\n3,w\n", c="x,s\n4,\n")
    assert read(paths).to_dict() == {"x": [1, 2, 3, 4], "s": ["u", "v", "w", None]}
    assert read(tuple(folder / path for path in paths)).x.to_list() == [1, 2, 3, 4]
    for pattern in ("*.csv", "?.csv", "[a-c].csv", folder / "*.csv"):
        assert read(pattern).x.to_list() == [3, 1, 2, 4]
    assert read(["c.csv", "[ab].csv", b"x,s\n9,z\n"]).x.to_list() == [4, 3, 1, 2, 9]
    assert read(["a.csv", "a.csv"]).x.to_list() == [3, 3]
    assert list(read(paths).index.to_list()) == [0, 1, 2, 3]
    assert read(["a.csv"]).to_dict() == read("[a].csv").to_dict() == read("a.csv").to_dict()


@READERS
def test_folders_below(read, folder):
    (folder / "data" / "2024" / "q1.csv").mkdir(parents=True)  # a folder, whatever it is called
    for at, name in enumerate(("z.csv", "2024/a.csv", "2024/q1.csv/b.csv")):
        (folder / "data" / name).write_text(f"x\n{at}\n")
    assert read("data/**/*.csv").x.to_list() == [1, 2, 0]
    assert read("data/*.csv").x.to_list() == [0]
    assert read("data/*/*.csv").x.to_list() == [1]


@READERS
def test_a_file_whose_name_looks_like_a_pattern(read):
    written(**{"a*": "x\n1\n", "a[b]": "x\n2\n", "ab": "x\n3\n"})
    assert read("a*.csv").x.to_list() == [1]
    assert read("a[b].csv").x.to_list() == [2]
    assert read(["a[b].csv", "a?.csv"]).x.to_list() == [2, 1, 3]


@READERS
def test_nothing_to_read(read):
    with pytest.raises(FileNotFoundError, match=r"no file matches.*'none/\*\.csv'") as caught:
        read("none/*.csv")
    assert isinstance(caught.value, hr.InputError)
    assert caught.value.path == caught.value.filename == "none/*.csv"
    with pytest.raises(FileNotFoundError, match=r"none\[0\]"):
        read([b"x\n1\n", "none[0].csv"])
    with pytest.raises(hr.InputError, match=r"nothing to read: sources=\[\]"):
        read([])
    with pytest.raises(FileNotFoundError, match=r"late\.csv"):
        read([b"x\n1\n", "late.csv"])


@READERS
def test_compressed_files_among_plain_ones(read, folder):
    (folder / "a.csv.gz").write_bytes(gzip.compress(b"x\n1\n2\n"))
    (folder / "b.csv").write_bytes(b"x\n3\n")
    (folder / "c.csv.zst").write_bytes(pa.compress(b"x\n4\n", codec="zstd", asbytes=True))
    assert read("*.csv*").x.to_list() == [1, 2, 3, 4]


@READERS
def test_more_files_than_may_be_open(read, folder):
    limit = resource.getrlimit(resource.RLIMIT_NOFILE)
    for k in range(300):
        (folder / f"{k:03d}.csv").write_text(f"x\n{k}\n")
    resource.setrlimit(resource.RLIMIT_NOFILE, (200, limit[1]))
    try:
        assert read("*.csv").x.to_list() == list(range(300))
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, limit)


def test_file_objects(folder):
    parts = [io.BytesIO(b"x\n1\n"), io.StringIO("x\n2.5\n")]
    assert hr.read_csv(parts).x.to_list() == [1.0, 2.5]
    (folder / "l.csv").write_bytes("x\nä\n".encode("latin-1"))
    assert hr.read_csv(["l.csv", "l.csv"], encoding="latin-1").x.to_list() == ["ä", "ä"]


# ---- columns and dtypes --------------------------------------------------------------------------
CELLS = {
    "int": ["1", "-2", ""],
    "whole": ["3", "4"],
    "large": [str(2**64 - 1), "7"],
    "float": ["1.5", "", "nan"],
    "null": ["", "NA"],
    "bool": ["true", "False"],
    "day": ["2024-02-29", "2023-01-01"],
    "time": ["2024-02-29 01:02:03", ""],
    "nanos": ["2024-02-29 01:02:03.123456789"],
    "text": ["x", "1.50", "true"],
}


@pytest.mark.parametrize("seed", range(60))
def test_dtypes_are_those_of_one_text(seed):
    choose = random.Random(seed)
    texts, names = [], ["a", "b", "c"]
    for _ in range(choose.randint(2, 4)):
        kinds = [choose.choice(list(CELLS)) for _ in names]
        rows = [[choose.choice(CELLS[kind]) for kind in kinds] for _ in range(choose.randint(0, 5))]
        texts.append("".join(",".join(row) + ",-\n" for row in rows))
    head = "a,b,c,end\n"
    whole = hr.read_csv((head + "".join(texts)).encode())
    parts = hr.read_csv([(head + text).encode() for text in texts])
    assert {n: str(parts[n].dtype) for n in parts} == {n: str(whole[n].dtype) for n in whole}
    hr.testing.assert_frame_equal(parts, whole)


def test_nulls_below_many_rows_are_no_floats():
    nulls = b"x,y\n" + b",1\n" * 5000
    assert hr.read_csv([nulls, b"x,y\n7,1\n"]).x.dtype == "int64"
    late = b"x,y\n" + b",1\n" * 5000 + b"1.5,1\n"
    assert hr.read_csv([late, b"x,y\n7,1\n"]).x.dtype == "float64"


@READERS
def test_columns_are_matched_by_name(read):
    written(a="x,y\n1,u\n", b="y,x\nv,2\n")
    assert read("*.csv").to_dict() == {"x": [1, 2], "y": ["u", "v"]}
    assert read("*.csv", usecols=["y"]).to_dict() == {"y": ["u", "v"]}


@READERS
@pytest.mark.parametrize(
    "options", [{}, {"dtypes": {"y": "int64"}}, {"usecols": ["y"]}, {"dtypes": "str"}]
)
def test_different_columns(read, options):
    paths = written(a="x,y\n1,2\n", b="x,y\n1,2\n", c="x,z\n1,2\n")
    what = r"different columns: path='c\.csv', first='a\.csv', missing=\['y'\], unexpected=\['z'\]"
    with pytest.raises(hr.InputError, match=what):
        read(paths, **options)
    assert read(paths, usecols=["x"]).x.to_list() == [1, 1, 1]
    assert read(paths, usecols=[0]).x.to_list() == [1, 1, 1]


@READERS
def test_different_numbers_of_columns_without_names(read):
    paths = written(a="1,2\n", b="1,2,3\n")
    with pytest.raises(hr.InputError, match=r"path='b\.csv', first='a\.csv'.*unexpected=\['2'\]"):
        read(paths, header=None)
    with pytest.raises(hr.InvalidArgumentError, match=r"names.*b\.csv"):
        read(paths, header=None, names=["p", "q"])


def test_a_scan_has_the_dtypes_of_its_first_file():
    paths = written(a="x,s\n1,u\n", b="x,s\n2,v\n2.5,w\n")
    scan = hr.scan_csv(paths)
    assert scan.x.dtype == "int64"
    with pytest.raises(hr.InputError, match=r"dtypes=\{\"x\": \"float64\"\}") as caught:
        scan.x.sum().item()
    assert (caught.value.path, caught.value.line, caught.value.column) == ("b.csv", 3, 1)
    assert scan.s.to_list() == ["u", "v", "w"]
    assert hr.scan_csv(paths, dtypes={"x": "float64"}).x.to_list() == [1, 2, 2.5]
    assert hr.read_csv(paths).x.to_list() == [1, 2, 2.5]


def test_dtypes_given():
    kinds = {"k": "category", "price": "decimal128(15, 2)", "at": "datetime64[us, Europe/Berlin]"}
    paths = written(
        a="k,price,at\nz,1.50,2024-01-01T00:00:00+02:00\n",
        b="k,price,at\na,2,2024-07-01T00:00:00Z\nz,,\n",
    )
    for read in (hr.read_csv, hr.scan_csv):
        frame = read(paths, dtypes=kinds)
        assert {name: str(frame[name].dtype) for name in kinds} == {
            name: str(hr.read_csv(paths[0], dtypes=kinds)[name].dtype) for name in kinds
        }
        assert frame.k.to_list() == ["z", "a", "z"]
        assert frame.price.isna().to_list() == [False, False, True]
    assert hr.read_csv(paths, dtypes=kinds).k.cat.categories.to_list() == ["a", "z"]


# ---- options -------------------------------------------------------------------------------------
@READERS
def test_fields_without_header(read):
    paths = written(a="1|u|0.5\n", b="2|v|\n3|w|1.5\n")
    frame = read(
        paths,
        sep="|",
        header=None,
        names=["id", "s", "x"],
        usecols=["x", "id"],
        dtypes={"id": "int32", "x": "float32"},
    )
    assert frame.to_dict() == {"x": [0.5, None, 1.5], "id": [1, 2, 3]}
    assert [str(frame[name].dtype) for name in frame] == ["float32", "int32"]


@READERS
@pytest.mark.parametrize("name", ["nrows", "num_rows"])
@pytest.mark.parametrize("most", [0, 1, 2, 3, 4, 9, None])
def test_rows_of_all_files_together(read, name, most):
    paths = written(a="x\n1\n2\n", b="x\n3\n", c="x\n4\n5\n")
    assert read(paths, **{name: most}).x.to_list() == [1, 2, 3, 4, 5][:most]


@READERS
def test_a_wrong_number_of_rows(read):
    with pytest.raises(hr.InvalidArgumentError, match="negative"):
        read([b"x\n1\n", b"x\n2\n"], nrows=-1)


def test_options_of_the_frame():
    paths = written(a="k,d,x\nu,2024-01-01,1\n", b="k,d,x\nv,2024-01-02,2\n")
    frame = hr.read_csv(paths, index_col="k", parse_dates=["d"], usecols=lambda name: name != "x")
    theirs = pd.concat(
        [pd.read_csv(path, index_col="k", parse_dates=["d"], usecols=["k", "d"]) for path in paths]
    )
    pd.testing.assert_frame_equal(frame.to_pandas(), theirs, check_dtype=False)


def test_rejects_name_their_file():
    paths = written(a="x\n1\nu\n", b="x\n2\n", c="x\n1,2\n3\n")
    frame = hr.read_csv(paths, dtypes="int64", on_bad="reject")
    assert frame.x.to_list() == [1, 2, 3]
    rejects = frame.rejects
    assert rejects["path"].to_list() == ["a.csv", "c.csv"]
    assert rejects["line"].to_list() == [3, 2]
    assert hr.read_csv(paths[1:2], on_bad="reject").rejects.columns[-1] == "path"
    assert hr.read_csv(paths[1:2]).rejects is None


def test_files_that_pandas_reads():
    paths = written(a="x;s\n1,5;u\n1;2;3\n2;v\n", b="s;x\nw;3\n")
    options = {"sep": ";", "decimal": ",", "on_bad_lines": "skip"}
    frame = hr.read_csv(paths, **options)
    theirs = pd.concat([pd.read_csv(path, **options) for path in paths], ignore_index=True)
    pd.testing.assert_frame_equal(frame.to_pandas(), theirs, check_dtype=False)
    assert hr.read_csv("*.csv", nrows=2, **options).x.to_list() == [1.5, 2.0]
    assert hr.read_csv(paths, index_col="s", **options).index.to_list() == ["u", "v", "w"]
    assert hr.read_csv(paths[1:], sep=";", on_bad_lines="error").x.to_list() == [3]
    with pytest.raises(hr.UnsupportedError, match="chunksize=1, files=2"):
        hr.read_csv(paths, sep=";", chunksize=1)
    written(b="s;z\nw;3\n")
    with pytest.raises(hr.InputError, match=r"path='b\.csv', first='a\.csv'"):
        hr.read_csv(paths, **options)


def test_files_of_another_compression(folder):
    (folder / "a.csv.bz2").write_bytes(bz2.compress(b"x\n1\n"))
    assert hr.read_csv(["a.csv.bz2"], compression="bz2", decimal=",").x.to_list() == [1]


# ---- plans, memory, threads ----------------------------------------------------------------------
def test_filters_and_columns_reach_every_file():
    paths = written(a="x,y,z\n1,2,u\n5,6,v\n", b="x,y,z\n7,8,w\n", c="x,y,z\n0,0,q\n")
    scan = hr.scan_csv(paths)
    plan = scan[scan.x > 4][["y"]].explain()
    for path in paths:
        assert f"read_csv [{path} where (x > 4)] -> int64 column" in plan
    assert "string" not in plan
    assert scan[scan.x > 4].y.to_list() == [6, 8]
    assert scan[scan.x > 4].groupby("z").y.sum().to_dict() == {"v": 6, "w": 8}


def test_a_head_reads_only_the_first_files():
    paths = written(a="x\n1\n2\n", b="x\n3\nbad\n")
    scan = hr.scan_csv(paths)
    assert "first 2 rows of 2 parts" in hr.scan_csv(paths, nrows=2).explain()
    assert scan.head(2).x.to_list() == [1, 2]
    assert hr.scan_csv(paths, nrows=3).x.to_list() == [1, 2, 3]
    with pytest.raises(hr.InputError):
        scan.x.to_list()


def test_a_file_that_changes_after_the_scan():
    paths = written(a="x\n1\n", b="x\n2\n")
    scan, read = hr.scan_csv(paths), hr.read_csv(paths)
    written(b="x\n22\n")
    with pytest.raises(hr.InputError, match=r"b\.csv"):
        scan.x.to_list()
    assert read.x.to_list() == [1, 2]


def test_a_sum_of_files_streams_under_a_limit():
    """Only rows that pass the filter are held: the files are several times the limit."""
    rows = 100_000
    for k in range(8):
        x = np.arange(k * rows, (k + 1) * rows)
        frame = hr.DataFrame({"k": x % 100, "x": x}).assign(text="a text of some length")
        frame.to_csv(f"{k}.csv", durable=False)
    scan = hr.scan_csv("*.csv")
    hr.memory.trim()
    with hr.memory.limit(hr.memory.stats().used_bytes + (8 << 20)):
        kept = scan[scan.k == 7]
        assert kept.x.sum().item() == sum(range(7, 8 * rows, 100))
    assert len(hr.read_csv("*.csv")) == 8 * rows
