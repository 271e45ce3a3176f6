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

EXIT = """
import sys, threading, numpy as np, headrace as hr
x = hr.asarray(np.ones(1_000_000)) * 2
view, arrow = x.to_numpy(), hr.Series(x)
sys.modules["kept"] = [x, view, arrow, hr.scan_csv(b"a\\n1\\n"), memoryview(x)]
threading.Thread(target=lambda: hr.asarray(np.ones(3)).sum().item(), daemon=True).start()
"""


@pytest.mark.parametrize("code", [FORK, EXIT], ids=["fork", "exit"])
def test_children_and_the_end_are_quiet(code: str) -> None:
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", code], capture_output=True, text=True, timeout=60
    )
    assert (done.returncode, done.stderr) == (0, "")


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
