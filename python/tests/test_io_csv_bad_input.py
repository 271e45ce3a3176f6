# SPDX-License-Identifier: Apache-2.0
"""Bad input ends in a clear error, leaks nothing, and the next call works."""

import errno
import gzip
import itertools
import os
import subprocess
import sys
import threading

import numpy as np
import pyarrow
import pytest
from headrace.io.csv import read_csv, scan_csv, write_csv

import headrace as hr


@pytest.fixture(autouse=True)
def nothing_is_left_and_the_next_call_works():
    """Hold for every test of this file."""
    with hr.memory.leak_check():
        yield
        assert read_csv(b"a\n1\n")["a"].to_list() == [1]


def caught(kind, source, **options):
    """Give the text of the error that reading ends in."""
    try:
        read_csv(source, **options)
    except kind as error:
        return str(error)
    pytest.fail("no error")


@pytest.mark.parametrize(
    ("text", "dtypes", "message"),
    [
        (b"", None, "no rows"),
        (b"\n\r\n", None, "no rows"),
        (b"\xef\xbb\xbf", None, "no rows"),
        (b"a\0b\n1\n", None, "NUL"),
        (b"a\n1\n2\0\n", "int64", r"'2\x00'"),
        (b"a\n1\n\0\n", "float64", r"'\x00'"),
        (b"\xff\xfea\0\n\0", None, "UTF-16"),
        (b"a\nx\n\xff\xfe\n", None, "not UTF-8"),
        (b'a,b\n1,"x\n2,y\n', None, "never closed"),
        (b'a,b\n1,"x"y\n', None, "follows a closing quote"),
        (b"a,b\n1\n", None, "1 field where there are 2 names"),
        (b"a,b\n1,2,3\n", None, "3 fields"),
        (b"one,two\n1,a,alice\n", None, "a row has 3 fields where there are 2 names"),
        (b"a\nx,1\n", "int64", "a row has 2 fields where there is 1 name"),
        (b'a,b\nx,"1"y,2\n', "int64", "'x'"),
        (b"a\n1e5\n", "int64", "float64"),
        (b"a\n128\n", "int8", "int8"),
        (b"a\n18446744073709551616\n", "uint64", "uint64"),
        (b"a\nyes\n", "bool", "bool"),
        (b"PK\x03\x04....", None, "zip"),
    ],
)
def test_bad_text_is_a_clear_error(text, dtypes, message):
    assert message in caught(hr.Error, text, dtypes=dtypes)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (b"a,b\n", {"a": [], "b": []}),
        (b'a\nNA\n""\nnull\n', {"a": [None] * 3}),
        (b"a\n1", {"a": [1]}),
        (b"a\ninf\n-Infinity\n", {"a": [np.inf, -np.inf]}),
        (b"a\nx\0y\n", {"a": ["x\0y"]}),
    ],
)
def test_odd_text_is_read(text, expected):
    frame = read_csv(text)
    assert {name: frame[name].to_list() for name in frame.columns} == expected


def test_nan_is_a_value_and_null_is_none():
    values = read_csv(b"a\nnan\nNA\n1\n")["a"].to_list()
    assert np.isnan(values[0]) and values[1] is None and values[2] == 1


def test_missing_files_and_directories(tmp_path):
    for path, code in [(tmp_path / "no.csv", errno.ENOENT), (tmp_path, errno.ENOENT)]:
        with pytest.raises(hr.InputError) as info:
            read_csv(path)
        assert info.value.path == str(path) and str(path) in str(info.value)
        assert info.value.errno == code


def test_no_permission(tmp_path):
    path = tmp_path / "x.csv"
    path.write_text("a\n1\n")
    path.chmod(0)
    code = (
        "import os, sys\n"
        "import headrace as hr\n"
        "from headrace.io.csv import read_csv\n"
        "if os.geteuid() == 0:\n"
        "    os.setgid(65534); os.setuid(65534)\n"
        "try:\n"
        "    read_csv(sys.argv[1])\n"
        "except hr.InputError as error:\n"
        "    print(error)\n"
    )
    for folder in [tmp_path, *tmp_path.parents]:
        if folder.owner() == path.owner() and str(folder).startswith("/tmp/"):
            folder.chmod(0o755)
    done = subprocess.run(
        [sys.executable, "-c", code, str(path)], capture_output=True, text=True, check=True
    )
    assert "no permission to read" in done.stdout and str(path) in done.stdout


@pytest.mark.parametrize("cut", [3, 20, 0.5, -1])
def test_truncated_gzip(tmp_path, cut):
    packed = gzip.compress(b"a\n" + b"".join(b"%d\n" % i for i in range(10000)))
    path = tmp_path / "x.csv.gz"
    path.write_bytes(packed[: int(len(packed) * cut) if isinstance(cut, float) else cut])
    message = caught(hr.InputError, path)
    assert "ends early" in message and str(path) in message


@pytest.mark.parametrize("cut", [3, 9, 0.5, -1])
def test_truncated_zstd(tmp_path, cut):
    text = b"a\n" + b"".join(b"%d\n" % i for i in range(10000))
    packed = pyarrow.compress(text, codec="zstd", asbytes=True)
    path = tmp_path / "x.csv.zst"
    path.write_bytes(packed[: int(len(packed) * cut) if isinstance(cut, float) else cut])
    message = caught(hr.InputError, path, compression="zstd")
    assert "ends early" in message and str(path) in message


@pytest.mark.parametrize("codec", ["gzip", "zstd"])
def test_damaged_bytes_in_a_compressed_file(codec):
    text = b"a\n" + b"".join(b"%d\n" % (i * 7919 % 10007) for i in range(10000))
    packed = bytearray(pyarrow.compress(text, codec=codec, asbytes=True))
    for at in range(12, len(packed), 997):
        packed[at] ^= 0xFF
    caught(hr.InputError, bytes(packed), compression=codec)


def test_one_row_and_no_rows(tmp_path):
    path = tmp_path / "x.csv"
    for text, rows in [("a,b\n1,2", 1), ("a,b\n", 0), ("a,b", 0), ("a,b\n\n\n", 0)]:
        path.write_text(text)
        frame = read_csv(path)
        assert frame.columns == ["a", "b"] and len(frame) == rows
    path.write_text("")
    assert "no rows" in caught(hr.InputError, path)
    assert "no rows" in caught(hr.InputError, "/dev/null")


def test_a_file_that_is_cut_while_it_is_read(tmp_path):
    path = tmp_path / "x.csv"
    path.write_text("a\n" + "1\n" * 100)
    scan = scan_csv(path)
    os.truncate(path, 11)
    with pytest.raises(hr.InputError, match="changed"):
        scan["a"].to_list()
    del scan


def test_another_file_at_the_path_while_it_is_read(tmp_path):
    path, other = tmp_path / "x.csv", tmp_path / "y.csv"
    texts = [b"a\n" + b"1\n" * 100_000, b"b\n" + b"2\n" * 100_000]
    path.write_bytes(texts[0])
    is_over = threading.Event()

    def replace():
        for i in itertools.count(1):
            if is_over.is_set():
                return
            other.write_bytes(texts[i % 2])
            os.replace(other, path)

    thread = threading.Thread(target=replace)
    thread.start()
    try:
        for _ in range(200):
            frame = read_csv(path)
            assert len(frame) == 100_000
            assert frame.columns in (["a"], ["b"])
            assert frame[frame.columns[0]].sum().item() in (100_000, 200_000)
    finally:
        is_over.set()
        thread.join()
    scan = scan_csv(path)
    other.write_bytes(texts[0])
    os.replace(other, path)
    with pytest.raises(hr.InputError, match="names another file"):
        len(scan)
    del frame, scan


@pytest.mark.parametrize("path", ["/proc/self/limits", "/sys/devices/system/cpu/online"])
def test_a_file_that_does_not_say_its_size(path):
    if not os.path.exists(path):
        pytest.skip("no such file here")
    with open(path) as file:
        lines = file.read().splitlines()
    for read in (read_csv, scan_csv):
        frame = read(path, names=["line"], delimiter="|", dtypes="str")
        assert frame["line"].to_list() == lines


def test_one_line_of_a_gigabyte_under_a_small_limit(tmp_path, memory_room):
    path = tmp_path / "line.csv"
    for head in [b"", b"a\n", b'a\n"']:
        path.write_bytes(head)
        os.truncate(path, 1_000_000_000)  # a hole: bytes of zero, none on the disk
        with memory_room("100MB"), hr.memory.stats() as counted:
            limit = hr.memory.limit()
            message = caught(hr.Error, path, dtypes="str" if head else None)
        assert "longer than" in message or "never closed" in message or "bytes" in message
        assert counted.peak_bytes < limit


def test_a_bomb_of_gzip_stays_within_the_limit(tmp_path, memory_room):
    """What it unpacks to leaves for the disk."""
    path = tmp_path / "bomb.gz"
    path.write_bytes(gzip.compress(b"a\n" + b"1\n" * 20_000_000, 1))
    with memory_room("20MB"):
        assert read_csv(path)["a"].sum().item() == 20_000_000


def test_a_failed_write_leaves_the_old_file(tmp_path):
    path = tmp_path / "x.csv"
    path.write_text("old")
    frame = read_csv(b"a\n1.5\n")
    with pytest.raises(hr.InvalidArgumentError):
        write_csv(frame, path, float_format="%d")
    with pytest.raises(hr.InputError):
        write_csv(frame, "/dev/full")
    assert path.read_text() == "old" and os.listdir(tmp_path) == ["x.csv"]
    del frame
