#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Kills a worker of a cluster at a random moment, again and again: the answer is right or an error.

Usage: worker_kills.py [KILLS] [SECONDS]: 100 kills, each with an answer within 60 seconds. The work
is a filter, a merge by a shuffle and a group-by; its answer is known from one process. Prints how
many answers were right and how many runs raised; 1 if one was wrong or none came in time.
"""

from __future__ import annotations

import contextlib
import os
import random
import signal
import sys
import threading
import time
from collections import Counter
from typing import Any

import numpy as np

import headrace as hr

ROWS = 1 << 22  # so that what goes from worker to worker goes in shared segments
WORKERS = 3


def tables() -> tuple[hr.DataFrame, hr.DataFrame]:
    """Whole numbers, so that sums are equal to the last digit."""
    rng = np.random.default_rng(1)
    left = {"k": rng.integers(0, 5000, ROWS), "g": rng.integers(0, 50, ROWS)}
    left["v"] = rng.integers(0, 1000, ROWS)
    return hr.DataFrame(left), hr.DataFrame({"k": np.arange(5000), "w": np.arange(5000) % 17})


def answer(left: Any, right: Any) -> Any:
    """What is asked, of frames or of collections."""
    rows = left[left.v > 100].merge(right, on="k")
    return rows.assign(z=rows.v * rows.w).groupby("g").z.sum()


def running(client: Any, dead: set[int], seconds: float) -> list[int]:
    """The processes of the workers, as soon as all are there again."""
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        with contextlib.suppress(OSError):  # one that is just lost
            pids = list(client.run(os.getpid).values())
            if len(pids) == WORKERS and not dead.intersection(pids):
                return pids
        time.sleep(0.05)
    raise TimeoutError(f"no {WORKERS} workers within {seconds:g} s")


def main(kills: int, seconds: float) -> int:
    """Kill, compare, count."""
    left, right = tables()
    wanted = answer(left, right).to_dict()
    draw, seen, longest, met = random.Random(1), Counter[str](), 0.0, 0
    with hr.cluster(workers=WORKERS, memory="2GB") as cluster:
        client = cluster.client
        for _ in range(2):  # the first run loads what workers need
            start = time.perf_counter()
            answer(hr.dask.from_frame(left, partitions=8), hr.dask.from_frame(right)).compute()
            usual = time.perf_counter() - start
        dead: set[int] = set()
        for _ in range(kills):
            pid = draw.choice(running(client, dead, seconds))
            killer = threading.Timer(draw.uniform(0, usual), os.kill, (pid, signal.SIGKILL))
            work = answer(hr.dask.from_frame(left, partitions=8), hr.dask.from_frame(right))
            killer.start()
            start = time.perf_counter()
            future = client.compute(work)
            try:
                found = future.result(timeout=seconds).to_dict()
                seen["right" if found == wanted else "wrong"] += 1
            except TimeoutError:
                seen["no answer"] += 1
            except Exception as error:
                seen[f"raised {type(error).__name__}"] += 1
            longest = max(longest, time.perf_counter() - start)
            met += not killer.is_alive()
            future.cancel()
            killer.join()
            dead.add(pid)
    print(f"{kills} kills, {met} before the answer: {dict(seen)}; the longest took {longest:.1f} s")
    return int(bool(seen["wrong"] or seen["no answer"]))


if __name__ == "__main__":
    given = [float(word) for word in sys.argv[1:]]
    sys.exit(main(int(given[0]) if given else 100, given[1] if len(given) > 1 else 60))
