# SPDX-License-Identifier: Apache-2.0
"""The event log as a file: complete however long, after exceptions, at exit, beside a fork."""

from __future__ import annotations

import csv
import os
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest

import headrace as hr


def rows_of(path: Path) -> list[dict[str, str]]:
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def run(code: str, *arguments: object) -> None:
    done = subprocess.run(
        [sys.executable, "-c", code, *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert (done.returncode, done.stderr) == (0, "")


def make(count: int) -> None:
    """Events of `count` small series, each made and freed."""
    for k in range(count):
        hr.Series([k])


def test_a_file_has_every_event_however_many(tmp_path: Path) -> None:
    path = tmp_path / "run.csv"
    with hr.memory.stats() as counted, hr.memory.log(path) as log:
        make(40_000)
        made = counted.allocations
    assert made >= 40_000
    assert log.lost > 0  # the ring alone would not do
    rows = rows_of(path)
    assert len(rows) == len(log) + log.lost
    assert sum(row["Action"] == "allocate" for row in rows) == made
    sizes = {"allocate": 1, "free": -1}
    assert sum(sizes[row["Action"]] * int(row["Size"]) for row in rows) == 0
    last = log.entries[-1]
    assert (int(rows[-1]["Pointer"], 16), int(rows[-1]["Size"])) == (last.pointer, last.bytes)


def test_threads_write_one_file(tmp_path: Path) -> None:
    path = tmp_path / "run.csv"
    with hr.memory.log(path), hr.memory.stats() as counted:
        threads = [threading.Thread(target=make, args=[10_000]) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        made = counted.allocations
    rows = rows_of(path)
    assert sum(row["Action"] == "allocate" for row in rows) == made >= 40_000
    held: set[str] = set()  # no block is handed out twice: the lines stand in order
    for row in rows:
        if row["Action"] == "allocate":
            assert row["Pointer"] not in held
            held.add(row["Pointer"])
        else:
            held.discard(row["Pointer"])


def test_it_is_complete_after_an_exception(tmp_path: Path) -> None:
    path = tmp_path / "run.csv"
    with pytest.raises(KeyError), hr.memory.log(path):
        (hr.asarray(np.ones(1000)) * 2).to_numpy()
        raise KeyError
    assert [row["Size"] for row in rows_of(path)].count("8000") == 2


def test_it_begins_and_ends_by_hand(tmp_path: Path) -> None:
    path = tmp_path / "run.csv"
    log = hr.memory.log(path)
    before = len(log)
    make(3)
    log.close()
    made = len(log)
    assert made >= before + 6
    make(3)
    log.close()
    assert len(log) == made == len(rows_of(path))
    again = hr.memory.log(path)
    other = hr.memory.log(path)  # takes the file over
    make(1)
    again.close()
    other.close()
    assert len(rows_of(path)) == len(other) == 2
    with hr.memory.log(path) as log:
        make(2)
    assert len(rows_of(path)) == len(log) == 4


def test_two_files_at_once(tmp_path: Path) -> None:
    with hr.memory.log(tmp_path / "outer.csv") as outer:
        make(1)
        with hr.memory.log(tmp_path / "inner.csv") as inner:
            make(40_000)
        make(1)
    inner_rows, outer_rows = rows_of(tmp_path / "inner.csv"), rows_of(tmp_path / "outer.csv")
    assert len(inner_rows) == len(inner) + inner.lost >= 80_000
    assert len(outer_rows) == len(outer) + outer.lost >= len(inner_rows) + 4


@pytest.mark.parametrize(
    ("path", "code"),
    [("/nowhere/log.csv", 2), ("/proc/log.csv", 2), ("/", 21), ("/dev/full", 28)],
)
def test_what_cannot_be_written_says_why(path: str, code: int) -> None:
    with pytest.raises(hr.InputError, match=rf"memory\.log: .*path='{path}'") as caught:
        hr.memory.log(path)
    assert (caught.value.errno, caught.value.filename) == (code, path)
    make(1)


FULL = """
import resource, signal, sys, headrace as hr
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
def fill():
    for k in range(40_000):
        hr.Series([k])
resource.setrlimit(resource.RLIMIT_FSIZE, (1_000_000, resource.RLIM_INFINITY))
try:
    with hr.memory.log(sys.argv[1]):
        fill()
except hr.InputError as error:
    assert "File too large" in str(error) and "first" in str(error), error
else:
    raise AssertionError
try:
    with hr.memory.log(sys.argv[1]):
        fill()
        raise KeyError("mine")
except KeyError as error:
    assert "File too large" in error.__notes__[0]
assert hr.asarray([1.0, 2.0]).sum().item() == 3
"""


def test_a_full_disk_is_told_and_stops_nothing(tmp_path: Path) -> None:
    path = tmp_path / "run.csv"
    run(FULL, path)
    assert path.stat().st_size <= 1_000_000
    assert path.read_text().endswith("\n")
    assert all(row["Tier"] == "host" for row in rows_of(path))


EXIT = """
import sys, threading, numpy as np, headrace as hr
log = hr.memory.log(sys.argv[1])
for k in range(40_000):
    hr.Series([k])
kept = hr.asarray(np.ones(12_345)) * 2
kept.to_numpy()
threading.Thread(target=lambda: hr.asarray(np.ones(3)).sum().item(), daemon=True).start()
if sys.argv[2] == "raise":
    sys.excepthook = lambda *_: None
    raise KeyError
"""


@pytest.mark.parametrize("how", ["quietly", "raise"])
def test_it_is_complete_at_exit(tmp_path: Path, how: str) -> None:
    path = tmp_path / "run.csv"
    done = subprocess.run(
        [sys.executable, "-c", EXIT, path, how], capture_output=True, text=True, timeout=60
    )
    assert done.stderr == ""
    assert done.returncode == (how == "raise")
    rows = rows_of(path)
    assert len(rows) >= 80_000
    assert any(row["Size"] == "98816" and row["Tag"].startswith("multiply") for row in rows)


FORK = """
import os, sys, headrace as hr
def make(count, size):
    for k in range(count):
        hr.Series([0.0] * size)
with hr.memory.log(sys.argv[1]):
    make(10, 100)
    child = os.fork()
    if child == 0:
        make(40_000, 200)
        sys.exit(0)
    assert os.waitpid(child, 0)[1] == 0
    make(10, 100)
    with hr.memory.log(sys.argv[2]):
        child = os.fork()
        if child == 0:
            with hr.memory.log(sys.argv[2]):
                make(7, 300)
            os._exit(0)
        assert os.waitpid(child, 0)[1] == 0
"""


def test_a_child_writes_nothing_to_its_parents_file(tmp_path: Path) -> None:
    path, childs = tmp_path / "run.csv", tmp_path / "child.csv"
    run(FORK, path, childs)
    sizes = [row["Size"] for row in rows_of(path)]
    assert sizes.count("832") == 40  # 800 bytes, padded
    assert sizes.count("1600") == 0
    assert [row["Size"] for row in rows_of(childs)].count("2432") == 14


BUSY_FORK = """
import os, sys, threading, headrace as hr
(hr.Series([1.0]) * 2).to_list(), hr.memory.report()  # a child would wait for imports of threads
stop = False
def make():
    while not stop:
        hr.Series([1.0]) * 2
with hr.memory.log(sys.argv[1]):
    threads = [threading.Thread(target=make) for _ in range(3)]
    for thread in threads:
        thread.start()
    for _ in range(20):
        child = os.fork()
        if child == 0:
            hr.Series([1.0]).to_list()
            hr.memory.report()
            os._exit(0)
        assert os.waitpid(child, 0)[1] == 0
    stop = True
    for thread in threads:
        thread.join()
"""


def test_a_fork_beside_busy_threads_ends(tmp_path: Path) -> None:
    path = tmp_path / "run.csv"
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", BUSY_FORK, path],
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert rows_of(path)


def test_entries_are_there_while_it_goes_on() -> None:
    with hr.memory.log() as log:
        assert len(log) == 0
        make(2)
        assert len(log) >= 4
    assert os.path.basename(__file__) in log[0].line or log[0].line == ""
