# SPDX-License-Identifier: Apache-2.0
"""What the memory says of itself, judged from outside: copies by libc, resident pages by Linux.

The ECG job runs in a process of its own. A library that is loaded before libc counts the bytes of
every memcpy and memmove of 64 KiB and more (memcpy_counter.c): that is how the engine, and NumPy
for it, copy contiguous values. Copies that change the form of values on the way (a transposed
array, nulls that become NaN, bits that become bytes) are loops of the engine, which no such library
sees; these are held against the new buffers in the event log. Text on its way into a reader is no
value yet, and in no ledger.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from headrace.demo import ecg

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform != "linux", reason="reads /proc, preloads a library"),
    pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler"),
]

HOURS = 6
SHARE = 0.02

CHILD = """
import ctypes, gc, json, sys, threading, time
import numpy as np
import headrace as hr
from headrace.demo import RATE, job

libc = ctypes.CDLL(None)
libc.copied_by_engine.restype = libc.copied_by_all.restype = ctypes.c_longlong


def resident():
    \"\"\"Pages of the process that no file backs.\"\"\"
    words = open("/proc/self/statm").read().split()
    return (int(words[1]) - int(words[2])) * 4096


def told():
    now = hr.memory.stats()
    return now.used_bytes + now.cached_bytes


def phase(name, work):
    hr.memory.ledger().clear()
    engine, everybody = libc.copied_by_engine(), libc.copied_by_all()
    with hr.memory.log() as log:
        result = work()
    answer["phases"][name] = {
        "engine": libc.copied_by_engine() - engine,
        "all": libc.copied_by_all() - everybody,
        "ledger": hr.memory.ledger().total_bytes,
        "made": sum(e.bytes for e in log if e.action == "allocate" and e.bytes > 1 << 20),
        "resident": resident() - before_resident,
        "told": told() - before_told,
        "used": hr.memory.stats().used_bytes - before_used,
        "time": time.time_ns(),
    }
    return result


answer = {"phases": {}}
(hr.asarray(np.ones(200_000)) * 2).to_numpy()  # workers have begun
samples, taken = np.full((200_000, 2), -1), 0  # written here, so that samples add no pages
gc.collect()
before_resident, before_told = resident(), told()
before_used = hr.memory.stats().used_bytes
whole = hr.memory.log().__enter__()
over = threading.Event()


def sample():
    global taken
    while not over.is_set() and taken < len(samples):
        said = told() - before_told
        samples[taken] = resident() - before_resident, max(said, told() - before_told)
        taken += 1
        time.sleep(0.001)


sampler = threading.Thread(target=sample)
sampler.start()
x = phase("read_csv", lambda: hr.read_csv(sys.argv[1], dtypes="float64").ecg.to_array())
plan = job.plan(x, RATE)
phase("response", lambda: plan.response.to_numpy())
phase("gate", lambda: plan.gate.to_numpy())
phase("beats", lambda: (plan.counts.to_numpy(), plan.beats.to_numpy()))
phase("envelope", lambda: [part.to_numpy() for part in hr.plot.envelope(x)])
del plan
gc.collect()
phase("freed", lambda: None)
phase("doubled", lambda: (x * 2 + 1).to_numpy())
phase("again", lambda: None)
over.set()
sampler.join()
pairs = samples[:taken].tolist()
answer["samples"] = pairs
answer["peak"] = max(one for one, _ in pairs)
answer["peak told"] = max(one for _, one in pairs)
del x
gc.collect()
phase("all freed", lambda: None)
hr.memory.trim()
phase("trimmed", lambda: None)
whole.__exit__(None, None, None)
answer["events"] = [(e.time_ns, e.action, e.bytes) for e in whole]
answer["lost"] = whole.lost

values = np.arange(3_000_000.0)
import pyarrow as pa

chunks = pa.chunked_array([values, values[:1_000_000]])
phase("chunks", lambda: hr.from_arrow(pa.table({"a": chunks})).a.to_numpy())
mine = hr.asarray(values)
phase("copy", lambda: mine.__array__(copy=True))
phase("no copy", lambda: (mine.to_numpy(), np.asarray(mine[5:]), np.from_dlpack(mine)))
wide = hr.asarray(values.reshape(1000, 3000))
phase("transposed", lambda: wide.T.reshape(-1).to_numpy())
holes = hr.Series([1.0, None] * 200_000)
phase("nulls", lambda: holes.to_numpy())
print(json.dumps(answer))
"""


@pytest.fixture(scope="module")
def answer(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    pytest.importorskip("pyarrow")
    folder = tmp_path_factory.mktemp("outside")
    counter = folder / "memcpy_counter.so"
    source = Path(__file__).with_name("memcpy_counter.c")
    subprocess.run(["cc", "-O2", "-shared", "-fPIC", "-o", counter, source, "-ldl"], check=True)
    path = folder / "ecg.csv"
    ecg(str(path), hours=HOURS)
    env = {**os.environ, "LD_PRELOAD": str(counter), "HEADRACE_THREADS": "2"}
    child = [sys.executable, "-c", CHILD, str(path)]
    run = subprocess.run(child, env=env, capture_output=True, text=True, timeout=300, check=False)
    path.unlink()
    assert run.returncode == 0, run.stderr
    return json.loads(run.stdout)


STEPS = ("read_csv", "response", "gate", "beats", "envelope", "doubled")


@pytest.mark.parametrize("step", STEPS)
def test_the_job_copies_nothing(answer: dict[str, Any], step: str) -> None:
    found = answer["phases"][step]
    assert (found["engine"], found["all"], found["ledger"]) == (0, 0, 0)


@pytest.mark.parametrize("step", ["chunks", "copy", "no copy"])
def test_the_ledger_tells_what_memcpy_copied(answer: dict[str, Any], step: str) -> None:
    found = answer["phases"][step]
    expected = {"chunks": 32_000_000, "copy": 24_000_000, "no copy": 0}[step]
    assert found["ledger"] == expected
    assert abs(found["all"] - expected) <= SHARE * expected
    assert found["engine"] == (0 if step == "copy" else found["all"])  # NumPy makes that copy


@pytest.mark.parametrize("step", ["transposed", "nulls"])
def test_the_ledger_tells_what_loops_copied(answer: dict[str, Any], step: str) -> None:
    found = answer["phases"][step]
    assert found["ledger"] == {"transposed": 24_000_000, "nulls": 3_200_000}[step]
    assert abs(found["made"] - found["ledger"]) <= SHARE * found["ledger"]


def test_resident_memory_is_what_the_statistics_tell(answer: dict[str, Any]) -> None:
    allowed = SHARE * answer["peak"]
    assert answer["peak"] > 100e6
    assert abs(answer["peak"] - answer["peak told"]) <= allowed
    for name, found in answer["phases"].items():
        assert abs(found["resident"] - found["told"]) <= allowed, name
        if name == "trimmed":  # what follows uses pyarrow's memory too
            break


def test_the_event_log_tells_the_used_bytes_over_time(answer: dict[str, Any]) -> None:
    assert answer["lost"] == 0
    signs = {"allocate": 1, "free": -1}
    for name, found in answer["phases"].items():
        before = [e for e in answer["events"] if e[0] < found["time"]]
        assert sum(signs[action] * size for _, action, size in before) == found["used"], name
        if name == "trimmed":
            break


def test_resident_memory_is_never_more_than_the_statistics_tell(answer: dict[str, Any]) -> None:
    """A buffer is charged before its pages are touched, so less may be resident, but never more."""
    samples = answer["samples"]
    assert len(samples) > 20
    over = [resident - told for resident, told in samples]
    assert max(over) <= SHARE * answer["peak"]
