# SPDX-License-Identifier: Apache-2.0
"""The engine inside a process: Ctrl-C, fork, other threads, and the end of the interpreter."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from typing import Any

import numpy as np
import pytest

import headrace as hr


def frozen(size: int) -> hr.Array:
    n = np.ones(size)
    n.flags.writeable = False
    return hr.asarray(n)


def long_chain(x: hr.Array, length: int = 150) -> hr.Array:
    for _ in range(length):
        x = np.sin(x) * 1.1
    return x.sum()


def test_ctrl_c_ends_a_long_run_and_the_next_one_works() -> None:
    x = frozen(10_000_000)
    total = long_chain(x)
    timer = threading.Timer(0.2, signal.raise_signal, [signal.SIGINT])
    # The handler runs on the main thread, as at a terminal; background jobs begin without it.
    former = signal.signal(signal.SIGINT, signal.default_int_handler)
    begin = time.monotonic()
    timer.start()
    try:
        with pytest.raises(KeyboardInterrupt):
            total.item()
    finally:
        signal.signal(signal.SIGINT, former)
    assert time.monotonic() - begin < 5
    assert not total._node.is_ready
    timer.join()
    assert x.sum().item() == 10_000_000


def test_an_exception_of_a_signal_handler_arrives() -> None:
    def handler(*_: Any) -> None:
        raise TimeoutError("time is up")

    total = long_chain(frozen(10_000_000))
    former = signal.signal(signal.SIGALRM, handler)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.2)
        with pytest.raises(TimeoutError, match="time is up"):
            total.item()
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, former)


WRITE = """
import os, signal, subprocess, sys, time
import numpy as np, headrace as hr
frame = hr.DataFrame({"a": np.arange(12_000_000), "b": np.arange(12_000_000) % 7})
hr.eval(frame)
signal.signal(signal.SIGINT, signal.default_int_handler)
path = sys.argv[1]
for after in (0.1, 0.2, 0.3):
    with open(path, "w") as file:
        file.write("old")
    subprocess.Popen(["sh", "-c", f"sleep {after}; kill -INT {os.getpid()}"])
    ended = False
    try:
        frame.to_csv(path)
        ended = True
        time.sleep(5)
    except KeyboardInterrupt:
        assert ended or open(path).read(4) == "old", after
        assert os.listdir(os.path.dirname(path)) == ["x.csv"]
"""


def test_ctrl_c_ends_a_write_that_is_many_short_jobs(tmp_path: Any) -> None:
    run = [sys.executable, "-c", WRITE, str(tmp_path / "x.csv")]
    done = subprocess.run(run, capture_output=True, text=True, timeout=100)
    assert (done.returncode, done.stderr) == (0, "")


FORK = """
import os, numpy as np, headrace as hr
hr.threads(4)
x = hr.asarray(np.ones(1_000_000)) * 2
assert x.sum().item() == 2_000_000
for _ in range(3):
    child = os.fork()
    if child == 0:
        right = (x * 3).sum().item() == 6_000_000 and (x + 1).to_numpy()[-1] == 3
        os._exit(0 if right else 1)
    assert os.waitpid(child, 0)[1] == 0
assert (x * 4).sum().item() == 8_000_000
"""

FORK_BESIDE_THREADS = """
import os, signal, threading, time
import numpy as np, headrace as hr
frame = hr.DataFrame({"x": np.arange(500_000.)})
hr.eval(frame)
def work():
    while True:
        hr.eval(frame.sort_values("x", ascending=False))
for _ in range(2):
    threading.Thread(target=work, daemon=True).start()
time.sleep(0.2)
child = os.fork()
if child == 0:
    signal.alarm(30)  # ends a child that hangs
    os._exit(0 if hr.DataFrame({"x": [1]}).x.sum().item() == 1 else 1)
status = os.waitpid(child, 0)[1]
assert status == 0, status
os._exit(0)
"""

EXIT = """
import sys, threading, numpy as np, headrace as hr
x = hr.asarray(np.ones(1_000_000)) * 2
view, arrow = x.to_numpy(), hr.Series(x)
sys.modules["kept"] = [x, view, arrow, hr.scan_csv(b"a\\n1\\n"), memoryview(x)]
threading.Thread(target=lambda: hr.asarray(np.ones(3)).sum().item(), daemon=True).start()
"""


@pytest.mark.parametrize(
    "code", [FORK, FORK_BESIDE_THREADS, EXIT], ids=["fork", "fork beside threads", "exit"]
)
def test_children_and_the_end_are_quiet(code: str) -> None:
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", code], capture_output=True, text=True, timeout=60
    )
    assert (done.returncode, done.stderr) == (0, "")


def test_a_fork_waits_for_the_imports_of_other_threads(tmp_path: Any) -> None:
    (tmp_path / "slow.py").write_text("import time\ntime.sleep(0.5)\nx = 1\n")
    code = """
import os, signal, threading, time
import headrace
threading.Thread(target=__import__, args=("slow",)).start()
time.sleep(0.1)
child = os.fork()
if child == 0:
    signal.alarm(10)
    import slow
    os._exit(slow.x)
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""
    paths = [str(tmp_path), *sys.path]
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(paths)},
    )
    assert done.stdout.strip() == "1", done.stderr


def test_threads_look_at_the_same_values() -> None:
    x = frozen(300_000)
    for _ in range(20):
        y = np.sqrt(x * 3 + 1)
        parts = [y, y.sum(), y.max(), y[10:20], (y > 1).any()]
        seen: list[list[bytes]] = []

        def look(parts: list[hr.Array] = parts, seen: list[list[bytes]] = seen) -> None:
            seen.append([part.to_numpy().tobytes() for part in parts])

        threads = [threading.Thread(target=look) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(seen) == 4
        assert all(each == seen[0] for each in seen)


def test_the_gil_is_free_while_the_engine_works() -> None:
    total = long_chain(frozen(5_000_000))
    worker = threading.Thread(target=total.item)
    worker.start()
    turns = 0
    while worker.is_alive():
        turns += 1
        time.sleep(0.001)
    assert turns > 10


@pytest.mark.skipif(not hasattr(os, "sched_getaffinity"), reason="Linux only")
def test_the_engine_uses_no_more_processors_than_it_may() -> None:
    code = "import headrace as hr; print(hr.threads())"
    env = {name: value for name, value in os.environ.items() if name != "HEADRACE_THREADS"}
    one = f"import os; os.sched_setaffinity(0, [{min(os.sched_getaffinity(0))}]); {code}"
    done = subprocess.run([sys.executable, "-c", one], env=env, capture_output=True, text=True)
    assert done.stdout == "1\n", done.stderr


SHORT_OF_ADDRESSES = """
import resource, sys, numpy as np, headrace as hr
frame = hr.DataFrame({"a": np.arange(100_000), "b": np.arange(100_000) % 7.5})
with open("/proc/self/status") as file:
    here = int(next(line for line in file if line.startswith("VmSize")).split()[1]) << 10
resource.setrlimit(resource.RLIMIT_AS, (here + (int(sys.argv[2]) << 20),) * 2)
try:
    frame.to_csv(sys.argv[1])
    print(len(hr.read_csv(sys.argv[1])))
except hr.OutOfMemoryError:
    print("OutOfMemoryError")
"""


@pytest.mark.skipif(not os.path.exists("/proc/self/status"), reason="Linux only")
def test_few_addresses_are_a_clean_error_or_fewer_threads(tmp_path: Any) -> None:
    env = {**os.environ, "HEADRACE_THREADS": "8"}
    seen = set()
    for megabytes in (1, 6, 12, 20, 45, 80, 1000):
        run = [sys.executable, "-c", SHORT_OF_ADDRESSES, str(tmp_path / "x.csv"), str(megabytes)]
        done = subprocess.run(run, env=env, capture_output=True, text=True, timeout=60)
        assert done.returncode == 0, (megabytes, done.stderr)
        seen.add(done.stdout)
    assert seen == {"100000\n", "OutOfMemoryError\n"}
