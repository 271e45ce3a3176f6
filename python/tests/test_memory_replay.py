# SPDX-License-Identifier: Apache-2.0
"""Replays: recorded logs come back exactly, run on every resource, and bad files are refused."""

from __future__ import annotations

import csv
import random
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from headrace.memory.timeline import LINE_FIELDS

import headrace as hr
from headrace import _core

LOGS = sorted((Path(__file__).parents[2] / "testdata" / "memory").glob("*.csv"))
HEAD = "Thread,Time,Action,Pointer,Size,Stream\n"
ACTIONS = ("allocate", "free", "allocate failure")


def run(*arguments: object) -> subprocess.CompletedProcess[str]:
    code = "import sys; from headrace.memory.replay import main; sys.exit(main())"
    return subprocess.run(
        [sys.executable, "-c", code, *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=100,
    )


def test_there_are_three_recorded_logs() -> None:
    assert [path.stem for path in LOGS] == ["ecg", "random", "rmm"]


@pytest.mark.parametrize("path", LOGS, ids=lambda path: path.stem)
def test_a_log_is_read_exactly(path: Path) -> None:
    log = _core.read_memory_log(str(path))
    lines = np.frombuffer(log.lines(), LINE_FIELDS)
    with path.open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(lines) == log.count == len(rows) > 100
    for line, row in zip(lines.tolist(), rows, strict=True):
        thread, time_ns, pointer, size, stream, tag, tier, action, _ = line
        assert (str(thread), ACTIONS[action], str(size)) == (
            row["Thread"],
            row["Action"],
            row["Size"],
        )
        assert f"0x{pointer:x}" == row["Pointer"]
        assert stream == int(row["Stream"], 0)
        seconds, rest = divmod(time_ns, 10**9)
        clock = f"{seconds // 3600 % 24:02}:{seconds // 60 % 60:02}:{seconds % 60:02}"
        assert clock + row["Time"][8] + f"{rest // 1000:06}" == row["Time"]
        assert log.tags[tag] == row.get("Tag", "")
        assert log.tiers[tier] == row.get("Tier", "")


@pytest.mark.parametrize("path", LOGS, ids=lambda path: path.stem)
def test_the_pool_holds_little_more_than_was_asked_for(path: Path) -> None:
    found = hr.memory.replay(path, runs=2)
    assert found.refused == found.counts["unknown_frees"] == found.counts["double_allocations"] == 0
    assert found.operations == found.counts["allocations"] + found.counts["frees"] > 100
    assert found.ns_per_operation < 100_000
    assert 1 <= found.peak_ratio <= 1.10
    assert found.largest_free_share >= 0.5
    with path.open(newline="") as file:
        rows = list(csv.DictReader(file))
    level, peak = 0, 0
    for row in rows:
        level += {"allocate": 1, "free": -1}.get(row["Action"], 0) * int(row["Size"])
        peak = max(peak, level)
    assert found.requested_peak_bytes == peak


@pytest.mark.parametrize("resource", ["pool", "system", "binning", "fixed_size"])
@pytest.mark.parametrize("threads", [False, True], ids=["one", "threads"])
def test_every_resource_replays_every_log(resource: str, threads: bool) -> None:
    for path in LOGS:
        found = hr.memory.replay(path, resource, threads=threads, runs=1)
        assert found.refused == 0
        assert found.threads == (found.counts["threads"] if threads else 1)
        assert found.held_peak_bytes >= found.requested_peak_bytes > 0
        assert found.seconds > 0
        assert resource in str(found)


def test_the_command_prints_time_peak_and_fragmentation(tmp_path: Path) -> None:
    done = run(LOGS[0], LOGS[2], "--resource", "pool", "--resource", "system", "--threads")
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("ns an operation") == 4
    for word in ("time ", "peak ", "fragmentation ", "requested"):
        assert done.stdout.count(word) >= 4
    bad = tmp_path / "bad.csv"
    bad.write_text(HEAD + "1,10:00:00:000000,allocate,0x10,many,0\n")
    done = run(bad)
    assert done.returncode == 1
    assert done.stdout == ""
    assert "headrace-replay: memory log: not a valid size" in done.stderr
    assert "line=2, column=33" in done.stderr
    assert run(tmp_path / "none.csv").returncode == 1
    assert run(LOGS[0], "--resource", "lake").returncode == 2


def test_a_recorded_run_comes_back(tmp_path: Path) -> None:
    path = tmp_path / "run.csv"
    with hr.memory.log(path) as log:
        for size in range(1000, 60_000, 1000):
            (hr.asarray(np.ones(size)) * 2).to_numpy()
    found = hr.memory.replay(path, runs=1)
    assert found.counts["allocations"] == sum(event.action == "allocate" for event in log)
    assert found.counts["frees"] == sum(event.action == "free" for event in log)
    assert found.counts["left"] == 0


def test_any_resource_can_replay() -> None:
    path = LOGS[1]
    named = hr.memory.replay(path, "pool", runs=1)
    found = hr.memory.replay(path, hr.memory.PoolResource, runs=1)
    assert found.resource == "pool over system"
    assert found.held_peak_bytes == named.held_peak_bytes
    small = hr.memory.replay(path, lambda system: hr.memory.LimitAdaptor(system, "100kB"), runs=1)
    assert small.refused > 0
    assert small.held_peak_bytes < named.held_peak_bytes
    with pytest.raises(hr.InvalidArgumentError, match="did not return a resource: type=int"):
        hr.memory.replay(path, lambda system: 3)  # type: ignore[arg-type, return-value]
    with pytest.raises(hr.InvalidArgumentError, match="lake"):
        hr.memory.replay(path, "lake")


def test_nonsense_has_a_defined_outcome(tmp_path: Path) -> None:
    path = tmp_path / "odd.csv"
    path.write_text(
        HEAD
        + "1,10:00:00.000000,free,0x99,64,0x2\n"
        + "1,10:00:00.000000,allocate,0x10,64,0x2\n"
        + "1,10:00:00.000000,allocate,0x10,128,0x2\n"
        + "2,10:00:00.000000,free,0x10,1,7\n"
        + "2,10:00:00.000000,allocate,0x20,4611686018427387904,0\n"
        + "2,10:00:00.000000,free,0x20,4611686018427387904,0\n"
        + "2,10:00:00.000000,allocate failure,(nil),64,(nil)\n"
    )
    for resource in ("pool", "system", "binning", "fixed_size"):
        found = hr.memory.replay(path, resource, threads=True, runs=1)
        assert found.refused == 1
        assert found.counts == {
            "allocations": 3,
            "frees": 3,
            "threads": 2,
            "requested_peak_bytes": 1 << 62,
            "left": 0,
            "failed": 1,
            "unknown_frees": 1,
            "double_allocations": 1,
            "empty": 0,
        }
        assert "1 requests refused" in str(found)
    path.write_text(HEAD)
    nothing = hr.memory.replay(path, threads=True)
    assert (nothing.operations, nothing.peak_ratio, nothing.largest_free_share) == (0, 0, 1)
    path.write_text(HEAD + "".join(f"{k},10:00:00.0,free,0x1,1,0\n" for k in range(2000)))
    with pytest.raises(hr.UnsupportedError, match="threads=2000"):
        hr.memory.replay(path, threads=True)
    with pytest.raises(hr.InvalidArgumentError, match="resource='lake'"):
        hr.memory.replay(path, "lake")


def test_random_bytes_are_refused_or_read(tmp_path: Path) -> None:
    """Damage of good logs: an error with its line, or a log; never anything else."""
    generator = random.Random(5)
    good = LOGS[0].read_bytes()[:4000]
    good = good[: good.rindex(b"\n") + 1]
    path = tmp_path / "damaged.csv"
    refused = 0
    for _ in range(400):
        data = bytearray(good)
        for _ in range(generator.randint(1, 4)):
            at = generator.randrange(len(data))
            what = generator.random()
            if what < 0.4:
                data[at] = generator.choice(b'\0\xff",\n\r-0x9(')
            elif what < 0.7:
                del data[at : at + generator.randint(1, 40)]
            else:
                data[at:at] = generator.choice([b"9" * 30, b'"', b",,", b"\n", b"\xc3", b"0x"])
        path.write_bytes(bytes(data))
        try:
            found = hr.memory.replay(path, runs=1)
            assert found.operations >= 0
        except hr.InputError as error:
            refused += 1
            assert error.filename == str(path)
            assert 1 <= error.line <= 200
    assert 50 < refused < 400
