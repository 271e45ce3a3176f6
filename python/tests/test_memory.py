# SPDX-License-Identifier: Apache-2.0
"""The budget and its error, statistics, holders with their Python line, leaks and the ledger."""

from __future__ import annotations

import csv
import gc
import os
import re
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import headrace as hr

MB = 1_000_000


def frozen(size: int) -> hr.Array:
    """An array that stays deferred in chains."""
    n = np.ones(size)
    n.flags.writeable = False
    return hr.asarray(n)


def line_of_caller() -> int:
    return sys._getframe(1).f_lineno


@pytest.fixture(autouse=True)
def no_garbage() -> None:
    gc.collect()


# ---- the budget ------------------------------------------------------------------------------
@pytest.mark.pool
def test_what_does_not_fit_names_the_holders_and_harms_nothing() -> None:
    keep, line = hr.asarray(np.ones(MB)) * 2, line_of_caller()
    view = (hr.asarray(np.ones(MB // 2)) + 1).to_numpy()
    source = frozen(40 * MB)  # more than what earlier tests left that could be dropped
    used = hr.memory.stats().used_bytes
    no_disk = hr.memory.spill(limit=0)
    with no_disk, hr.memory.limit(used + 10 * MB), pytest.raises(hr.OutOfMemoryError) as caught:
        (source * 2 + 1).to_numpy()
    failed = line_of_caller() - 1
    error, text = caught.value, str(caught.value)
    assert isinstance(error, MemoryError)
    assert (error.requested_bytes, error.limit_bytes) == (320 * MB, used + 10 * MB)
    assert used <= error.used_bytes < used + MB
    first, *rest = text.splitlines()
    assert first.startswith("add: out of memory: requested=320.0 MB, limit=")
    assert "tier=host" in first
    assert "raise hr.memory.limit to at least " in first
    assert "foreign 320.0 MB (not charged)" in rest[0]
    where = "on host, {0} MB in memory: spilling is off"
    assert f"8.0 MB multiply at test_memory.py:{line} {where.format('8.0')}" in text
    assert f"4.0 MB add at test_memory.py:{line + 1} {where.format('4.0')}, exported" in text
    assert text.endswith(f"made by add at test_memory.py:{failed}")
    assert hr.memory.stats().used_bytes - used < MB
    assert float((source * 2 + 1).sum()) == 120 * MB  # the next call works, and needs no memory
    assert keep.tolist()[-1] == view[-1] == 2


def test_the_budget_holds_at_every_instant() -> None:
    base = hr.memory.stats().used_bytes
    refused = []

    def work() -> None:
        held = []
        for _ in range(20):
            try:
                held.append(hr.asarray(np.ones(MB // 8)) * 2)
            except MemoryError:
                refused.append(1)
                held.clear()

    with hr.memory.spill(limit=0), hr.memory.limit(base + 10 * MB), hr.memory.stats() as counted:
        threads = [threading.Thread(target=work) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert counted.peak_bytes <= base + 10 * MB
    assert refused


def test_the_limit_is_set_read_and_restored() -> None:
    before = hr.memory.limit()
    assert repr(hr.memory.limit(before)) == "memory limit: none"
    with hr.memory.limit("2GB") as setting:
        assert hr.memory.limit() == 2 * 10**9
        assert setting == 2 * 10**9
        with hr.memory.limit("1.5GiB"):
            assert hr.memory.limit() == 3 * 2**29
            with hr.memory.limit(None):
                assert hr.memory.limit() is None
        assert hr.memory.stats().limit_bytes == 2 * 10**9
    assert hr.memory.limit() == before


@pytest.mark.parametrize("size", [-1, "", "2 GBB", "-3MB", "nan", "1e30GB", "lots"])
def test_a_size_that_is_none_is_refused(size: Any) -> None:
    before = hr.memory.limit()
    with pytest.raises(hr.InvalidArgumentError, match=r"bytes|size|GB"):
        hr.memory.limit(size)
    assert hr.memory.limit() == before


def test_the_environment_sets_the_first_limit() -> None:
    code = "import headrace as hr; print(hr.memory.limit())"
    env = {**os.environ, "HEADRACE_MEMORY_LIMIT": "3MB"}
    run = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True)
    assert run.stdout == "3000000\n", run.stderr
    env["HEADRACE_MEMORY_LIMIT"] = "much"
    run = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True)
    assert run.returncode != 0
    assert "HEADRACE_MEMORY_LIMIT" in run.stderr


# ---- statistics and holders ------------------------------------------------------------------
def test_statistics_of_a_block() -> None:
    source = frozen(MB)
    with hr.memory.stats() as counted:
        total = (source * 2 + 1).sum().item()
        assert counted.allocated_bytes < MB  # the chain takes no memory of its own
        twice = source * 2
        twice.to_numpy()
        assert counted.peak_bytes >= 8 * MB
    assert total == 3 * MB
    after = counted.allocations
    frozen(10).sum().item()
    assert counted.allocations == after > 0
    process = hr.memory.stats()
    assert process.used_bytes >= 8 * MB
    assert process.foreign_bytes >= 8 * MB
    assert "used_bytes" in repr(process)
    assert "<table>" in process._repr_html_()


@pytest.mark.pool
def test_memory_goes_back() -> None:
    before = hr.memory.stats().used_bytes
    x = hr.asarray(np.ones(MB)) * 2
    y = x[10:20]
    assert hr.memory.stats().used_bytes - before >= 8 * MB
    del x
    assert hr.memory.stats().used_bytes - before >= 8 * MB  # the view holds it
    del y
    assert hr.memory.stats().used_bytes - before < 1000
    cached = hr.memory.stats().cached_bytes
    assert cached >= 8 * MB
    given = hr.memory.trim()
    assert given >= 8 * MB
    assert hr.memory.stats().cached_bytes == cached - given


def test_holders_carry_operator_and_python_line() -> None:
    made, line = hr.signal.fft_convolve(np.ones(MB), np.ones(100)), line_of_caller()
    made.to_numpy()
    mine = [h for h in hr.memory.leaks() if h.bytes >= 8 * MB]
    assert ("fft_convolve", f"test_memory.py:{line}") in [(h.op, h.line) for h in mine]
    assert f"test_memory.py:{line}" in str(hr.memory.report())
    arrow = hr.Series(made).to_arrow()
    exported = [h for h in hr.memory.leaks() if h.bytes >= 8 * MB and h.exported]
    assert len(exported) == 1
    del arrow


# ---- leaks -----------------------------------------------------------------------------------
def test_leak_check_finds_what_is_still_held() -> None:
    with hr.memory.leak_check():
        x = hr.asarray(np.ones(1000)) * 2
        assert x.sum().item() == 2000
        del x
    kept = []
    error = pytest.raises(hr.InternalError, match=r"buffers=1, bytes=8000.*drop")
    with error as caught, hr.memory.leak_check():
        kept.append(hr.asarray(np.ones(1000)) * 2)
    assert caught.value.held_bytes == 8000
    assert "multiply at test_memory.py:" in str(caught.value)
    with pytest.raises(KeyError), hr.memory.leak_check():
        kept.append(hr.asarray(np.ones(1000)) * 2)
        raise KeyError


def test_a_failed_line_leaks_nothing() -> None:
    x = hr.DataFrame({"x": np.arange(1000.0), "s": ["a"] * 1000})
    with hr.memory.leak_check():
        for bad in (
            lambda: x.s * 2,
            lambda: x.x[np.array([1, 2000])].to_list(),
            lambda: hr.asarray([2, 3]) ** hr.asarray([-1, 2]),
            lambda: x.x.to_array().reshape(3, 7),
            lambda: hr.Series([1, None]).to_array().to_numpy(),
            lambda: hr.read_csv(b"x\n1\nb\n", dtypes={"x": "int64"}),
            lambda: hr.signal.segments(x.x, [1, 2], width=-1),
        ):
            with pytest.raises(hr.Error):
                value = bad()
                value.to_numpy()
            value = None


# ---- the ledger ------------------------------------------------------------------------------
def test_the_ledger_names_operator_reason_bytes_and_line() -> None:
    x = hr.asarray(np.ones((100, 50)))
    line = line_of_caller() + 1
    x.T.reshape(5000).to_numpy()
    np.asarray(hr.Series([1.0, None]))
    ledger = hr.memory.ledger()
    assert len(ledger) == 2
    entry = ledger[0]
    assert (entry.op, entry.bytes, entry.asked) == ("reshape", 40_000, False)
    assert (entry.source, entry.target, entry.line) == ("host", "host", f"test_memory.py:{line}")
    assert entry.seconds >= 0
    assert ledger.total_bytes == ledger.unasked_bytes == 40_016
    text = repr(ledger)
    assert "reshape" in text
    assert text.endswith("40,016 bytes in 2 copies")
    assert "<table>" in ledger._repr_html_()
    ledger.clear()
    assert len(hr.memory.ledger()) == 0


def test_operators_are_no_copies() -> None:
    df = hr.DataFrame({"x": np.arange(10.0), "b": [True, None] * 5}, copy=False)
    for value in (
        df.x * 2,
        df.x[df.x > 3],
        df.x.fillna(1),
        df.x.dropna(),
        df.head(3).x,
        df.b & df.b,
    ):
        value.to_list()
    hr.signal.fft_convolve(df.x, df.x).to_numpy()
    assert hr.memory.ledger().total_bytes == 0


def test_no_copies_refuses_the_first_unasked_one() -> None:
    x = hr.asarray(np.ones((3, 2)))
    with hr.no_copies():
        with pytest.raises(hr.InvalidArgumentError, match=r"reshape.*copies|copy"):
            x.T.reshape(6).to_numpy()
        assert x.__array__(copy=True).shape == (3, 2)  # asked for
        assert x.astype("float32").dtype == "float32"
    with hr.no_copies(strict=True), pytest.raises(hr.InvalidArgumentError):
        x.__array__(copy=True)
    assert x.T.reshape(6).tolist() == [1.0] * 6


def test_no_copies_counts_for_all_threads_and_nests() -> None:
    x = hr.asarray(np.ones((3, 2)))
    caught: list[BaseException] = []

    def other() -> None:
        try:
            x.T.reshape(6).to_numpy()
        except hr.InvalidArgumentError as error:
            caught.append(error)

    with hr.no_copies():
        with hr.no_copies():
            pass
        thread = threading.Thread(target=other)
        thread.start()
        thread.join()
    assert len(caught) == 1
    other()
    assert len(caught) == 1


# ---- the event log ---------------------------------------------------------------------------
def test_the_log_tells_every_byte_with_operator_and_line() -> None:
    with hr.memory.log() as log:
        before = hr.memory.stats()
        x, line = hr.asarray(np.ones(MB)) * 2, line_of_caller()
        x.to_numpy()
        held = hr.memory.stats().used_bytes - before.used_bytes
        del x
        after = hr.memory.stats().used_bytes - before.used_bytes
    big = [event for event in log if event.bytes == 8 * MB]
    assert [event.action for event in big] == ["allocate", "free"]
    assert {(e.op, e.line, e.tier) for e in big} == {("multiply", f"test_memory.py:{line}", "host")}
    assert big[0].pointer == big[1].pointer != 0
    assert 0 < big[1].time_ns - big[0].time_ns < 60e9
    signs = {"allocate": 1, "free": -1}
    assert sum(signs[e.action] * e.bytes for e in log) == after
    assert held >= 8 * MB
    assert log.lost == 0
    text = repr(log)
    assert "multiply" in text
    assert f"{len(log):,} events" in text
    assert "<table>" in log._repr_html_()


def test_the_log_as_a_file_is_one_of_rmm(tmp_path: Path) -> None:
    path = tmp_path / "log.csv"
    with hr.memory.log(path) as log:
        hr.Series([1.5, None]).to_numpy()
        with hr.memory.limit(1), pytest.raises(hr.OutOfMemoryError):
            (hr.asarray(np.ones(1000)) * 2).to_numpy()
    with path.open() as file:
        rows = list(csv.DictReader(file))
    assert list(rows[0]) == ["Thread", "Time", "Action", "Pointer", "Size", "Stream", "Tag", "Tier"]
    assert len(rows) == len(log) > 2
    for row, event in zip(rows, log, strict=True):
        assert re.fullmatch(r"\d\d:\d\d:\d\d:\d{6}", row["Time"])
        assert int(row["Pointer"], 16) == event.pointer
        assert (int(row["Size"]), int(row["Stream"])) == (event.bytes, 0)
        assert int(row["Thread"]) == event.thread >= 1
    assert rows[-1]["Action"] == "allocate failure"
    assert rows[-1]["Tag"].startswith("multiply test_memory.py:")
    assert {row["Action"] for row in rows[:-1]} == {"allocate", "free"}
    hr.memory.log().to_csv(tmp_path / "all.csv")  # what the ring holds
    assert len((tmp_path / "all.csv").read_text().splitlines()) > len(rows)


def test_a_log_that_was_too_short_says_so() -> None:
    with hr.memory.log() as log:
        for _ in range(40_000):
            hr.Series([1])
    assert len(log) <= 65_536
    assert log.lost > 0
    assert "lost" in repr(log)


def test_the_trace_is_off_and_on_again() -> None:
    assert hr.memory.trace() is True
    assert repr(hr.memory.trace(True)) == "memory trace: True"
    source = hr.asarray(np.ones((MB // 10, 3)))
    hr.memory.ledger().clear()
    with hr.memory.trace(False), hr.memory.log() as log:
        assert hr.memory.trace() is False
        kept = source.T.reshape(-1)
        kept.to_numpy()
        assert len(hr.memory.ledger()) == 0
        assert [h for h in hr.memory.leaks() if h.bytes >= MB][-1].op == ""
        with hr.no_copies(), pytest.raises(hr.InvalidArgumentError, match=r"reshape.*no_copies"):
            source.T.reshape(-1).to_numpy()
        with hr.memory.limit(1), pytest.raises(hr.OutOfMemoryError):
            source.T.reshape(-1).to_numpy()
    assert len(log) == 0
    with hr.memory.log() as log:
        source.T.reshape(-1).to_numpy()
    assert len(log) > 0
    assert hr.memory.ledger().total_bytes == source.nbytes


def test_the_environment_switches_the_trace() -> None:
    code = "import headrace as hr; print(hr.memory.trace())"
    for text, answer in (("0", "False"), ("1", "True")):
        env = {**os.environ, "HEADRACE_MEMORY_TRACE": text}
        run = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True)
        assert run.stdout == f"{answer}\n", run.stderr
