# SPDX-License-Identifier: Apache-2.0
"""The whole ECG job while memory or the disk refuses, at each place in its turn.

Each time there is the same result or a clear error, nothing is left behind, and the next run is
right. Of the calls of the disk the tests take a sample; HEADRACE_FAULTS=all takes every one.
"""

from __future__ import annotations

import gc
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from headrace.demo import ecg, job

import headrace as hr

ALL = os.environ.get("HEADRACE_FAULTS") == "all"
PLACES = 4


@pytest.fixture(scope="module")
def text(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """100,000 rows of CSV."""
    path = tmp_path_factory.mktemp("faults") / "ecg.csv"
    ecg(path, hours=0.1)
    return path


def steps(path: Path) -> list[Any]:
    """The job as handles: from the file to beats, histogram and curve."""
    signal = hr.asarray(hr.scan_csv(path, columns=["ecg"])["ecg"])
    plan = job.plan(signal, 277.8)
    low, high = hr.plot.envelope(signal, width=500)
    return [plan.positions, plan.counts, plan.beats, low, high, plan.response.std()]


def results(handles: list[Any]) -> list[bytes]:
    hr.eval(*handles)
    return [np.array(each).tobytes() for each in handles]


def held() -> tuple[int, int]:
    gc.collect()
    now = hr.memory.stats()
    return now.used_bytes, now.foreign_bytes


def sample(count: int) -> list[int]:
    """Places from 1 to `count`."""
    if ALL:
        return list(range(1, count + 1))
    return sorted({1 + round(i * (count - 1) / (PLACES - 1)) for i in range(PLACES)})


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("for_ever", [False, True], ids=["once", "for ever"])
def test_each_allocation_of_the_job_fails(text: Path, for_ever: bool, threads: int) -> None:
    with hr.threads(threads):
        wanted = results(steps(text))
        count = hr.memory.FaultAdaptor()
        with hr.memory.use_resource(count):
            assert results(steps(text)) == wanted
        before, errors = held(), 0
        for place in range(1, count.requests + 1):
            fault = hr.memory.FaultAdaptor(first=place, for_ever=for_ever)
            handles = None
            try:
                with hr.memory.use_resource(fault):
                    handles = steps(text)
                    assert results(handles) == wanted
            except hr.OutOfMemoryError as error:
                assert "made to fail" in str(error)
                errors += 1
            if threads == 1:
                assert fault.faults >= 1, place
            if handles:
                assert results(handles) == wanted, place  # the same handles, with memory again
            del handles, fault
            assert held() == before, (place, hr.memory.leaks())
        assert errors > 0
        assert results(steps(text)) == wanted


IO_CHILD = """
import ctypes, errno, gc, json, sys
sys.path.insert(0, sys.argv[1])
from test_memory_faults import held, results, sample, steps
import headrace as hr

libc, path, room = ctypes.CDLL(None), sys.argv[2], 8 << 20
KINDS = ("write", "read", "allocate", "map", "move")
told = {"calls": {}, "same": 0, "errors": 0, "texts": []}
wanted = results(steps(path))
before = held()


def under_limit():
    with hr.memory.limit(before[0] + room):
        return results(steps(path))


hr.memory.trim()
libc.fail_call(-1, 0, 0)
assert under_limit() == wanted
told["calls"] = {name: libc.calls_of(kind) for kind, name in enumerate(KINDS)}
assert held() == before
for kind, name in enumerate(KINDS):
    codes = (errno.ENOSPC, errno.EIO, 0) if kind < 2 else (errno.ENOSPC, errno.EIO)
    if name in ("map", "move"):
        codes = (errno.ENOMEM,)
    for code in codes:
        places = sample(told["calls"][name])
        for place in [*places, *(-each for each in places[::4])]:
            libc.fail_call(kind, place, code)
            try:
                assert under_limit() == wanted, (name, place, code)
                told["same"] += 1
            except hr.Error as error:
                assert isinstance(error, (hr.OutOfMemoryError, hr.InputError)), error
                told["errors"] += 1
                told["texts"].append(f"{name} {place} {code}: {str(error).splitlines()[0]}")
            libc.fail_call(-1, 0, 0)
            hr.memory.trim()
            assert held() == before, (name, place, code, hr.memory.leaks())
assert under_limit() == wanted
print(json.dumps(told))
"""


@pytest.mark.pool
@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="preloads a library")
@pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler")
def test_each_call_of_the_spill_path_fails(tmp_path: Path) -> None:
    text = tmp_path / "ecg.csv"
    ecg(text, hours=0.8)
    library = tmp_path / "failing_calls.so"
    source = Path(__file__).with_name("failing_calls.c")
    subprocess.run(["cc", "-O2", "-shared", "-fPIC", "-o", library, source], check=True)
    env = {**os.environ, "LD_PRELOAD": str(library), "HEADRACE_THREADS": "2"}
    child = [sys.executable, "-c", IO_CHILD, str(source.parent), str(text)]
    run = subprocess.run(child, env=env, capture_output=True, text=True, timeout=3000, check=False)
    assert run.returncode == 0, run.stderr
    told = json.loads(run.stdout)
    assert all(count > 5 for count in told["calls"].values()), told["calls"]
    assert told["same"] > 0 and told["errors"] > 0
    print({name: told[name] for name in ("calls", "same", "errors")})
