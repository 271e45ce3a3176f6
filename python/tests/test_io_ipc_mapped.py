# SPDX-License-Identifier: Apache-2.0
"""Arrow IPC files in the page cache: nothing is copied, and a file that changes is an error."""

from __future__ import annotations

import os
import subprocess
import sys

import pyarrow as pa
import pyarrow.ipc
import pytest

import headrace as hr

ROWS = 200_000
CUT = """
import faulthandler, os, sys
import headrace as hr
if sys.argv[2] == "first":
    faulthandler.enable()
frame = hr.{reader}(sys.argv[1], memory_map=True)
if sys.argv[2] == "last":
    faulthandler.enable()
    other = hr.read_ipc(sys.argv[1], memory_map=True)  # puts our handler over it again
size = os.path.getsize(sys.argv[1])
os.truncate(sys.argv[1], size // 3)
looks = [lambda: frame.x.sum().item(), lambda: len(frame[frame.s == "a"])]
for look in [*looks, lambda: (frame.y * 2).to_list()]:
    for _ in range(2):
        try:
            look()
            print("no error")
        except hr.InputError as error:
            assert "changed while it was mapped" in str(error) or "damaged" in str(error), error
            print("error")
del frame
if sys.argv[2] == "last":
    del other
print(hr.Series([1, 2]).sum().item())
"""


@pytest.fixture
def path(tmp_path):
    table = pa.table(
        {
            "x": pa.array(range(ROWS)),
            "y": pa.array([None if k % 7 == 0 else k / 2 for k in range(ROWS)]),
            "s": pa.array(
                ["a", "a string of more than twelve bytes"] * (ROWS // 2), pa.string_view()
            ),
        }
    )
    place = tmp_path / "f.arrow"
    with pa.OSFile(str(place), "wb") as file, pa.ipc.new_file(file, table.schema) as writer:
        writer.write_table(table)
    return place


def test_nothing_is_copied(path):
    plain = hr.read_ipc(path)
    with hr.no_copies():
        frame = hr.read_ipc(path, memory_map=True)
        hr.eval(frame)
    for name in ("x", "y", "s"):
        assert frame[name].to_list() == plain[name].to_list()
    assert frame.x.sum().item() == sum(range(ROWS))
    scan = hr.scan_ipc(path, columns=["s", "x"], memory_map=True)
    assert scan[scan.x < 3].to_dict() == plain[["s", "x"]].head(3).to_dict()
    with hr.memory.limit(hr.memory.stats().used_bytes + (1 << 20)):
        assert int(hr.read_ipc(path, memory_map=True).x.max()) == ROWS - 1


def test_replacing_the_file_changes_nothing(path, tmp_path):
    frame = hr.read_ipc(path, memory_map=True)
    hr.DataFrame({"x": [1]}).to_ipc(path)
    assert frame.x.sum().item() == sum(range(ROWS))
    assert hr.read_ipc(path, memory_map=True).x.to_list() == [1]


def test_writing_to_the_file_is_an_error(path):
    frame = hr.read_ipc(path, memory_map=True)
    with open(path, "r+b") as file:
        file.seek(5000)
        file.write(b"other")
    os.utime(path)
    with pytest.raises(hr.InputError, match=r"changed while it was mapped: path=.*f\.arrow"):
        frame.x.sum().item()
    del frame
    assert hr.Series([1, 2]).sum().item() == 3


@pytest.mark.parametrize("reader", ["read_ipc", "scan_ipc"])
@pytest.mark.parametrize("faulthandler", ["none", "first", "last"])
def test_a_cut_file_is_an_error_and_no_signal(path, reader, faulthandler):
    run = [sys.executable, "-c", CUT.format(reader=reader), str(path), faulthandler]
    done = subprocess.run(run, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == ["error"] * 6 + ["3"]


def test_only_files_are_mapped(path):
    with pytest.raises(hr.InvalidArgumentError, match="only files can be mapped"):
        hr.read_ipc(path.read_bytes(), memory_map=True)
    with pytest.raises(FileNotFoundError):
        hr.read_ipc(str(path) + ".none", memory_map=True)
    with pytest.raises(hr.UnsupportedError, match="regular files"):
        hr.read_ipc("/dev/null", memory_map=True)
