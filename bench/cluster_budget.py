#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Works on 4 GB with a cluster whose budget is 1 GB, and adds up what its processes hold.

Usage: cluster_budget.py [GIGABYTES]: of Parquet files that are made first, in a new folder below
the current one. Prints the largest sum of anonymous and shared memory of this process, which has
the scheduler, and all below it (a sample each 50 ms; a page of several processes counts once), and
whether a worker was lost. 1 if it is above 1.05 of the budget, if a worker was lost, or if the
answer is wrong.
"""

from __future__ import annotations

import contextlib
import os
import re
import sys
import tempfile
import threading
import time
from pathlib import Path

import numpy as np

import headrace as hr

BUDGET = 1_000_000_000
ROWS = 4_000_000  # of a file: 4 columns of 8 bytes


def below(pid: int) -> list[int]:
    """A process and those that it started, and they."""
    found = [pid]
    for each in found:
        for task in Path(f"/proc/{each}/task").glob("*/children"):
            with contextlib.suppress(OSError):
                found += map(int, task.read_text().split())
    return found


def memory(pids: list[int]) -> int:
    """Bytes of anonymous and shared memory of some processes, each page once."""
    total = 0
    for pid in pids:
        try:
            text = Path(f"/proc/{pid}/smaps_rollup").read_text()
        except OSError:
            continue
        total += 1024 * sum(map(int, re.findall(r"Pss_(?:Anon|Shmem):\s+(\d+) kB", text)))
    return total


def write(folder: Path, files: int) -> int:
    """Files of whole numbers; the sum of one column of the rows that are asked for."""
    total = 0
    for at in range(files):
        rng = np.random.default_rng(at)
        columns = {name: rng.integers(0, 1000, ROWS) for name in ("k", "a", "b", "c")}
        total += int(columns["a"][columns["b"] > 500].sum())
        hr.DataFrame(columns).to_parquet(folder / f"{at}.parquet", row_group_size=1 << 18)
    return total


def main(gigabytes: float) -> int:
    """Write, work, watch."""
    with tempfile.TemporaryDirectory(dir=".") as name:
        folder = Path(name)
        wanted = write(folder, max(1, round(gigabytes * 1e9 / (32 * ROWS))))
        hr.memory.trim()
        most, done = 0, threading.Event()
        with hr.cluster(workers=2, memory=BUDGET) as cluster:
            workers = set(cluster.client.run(os.getpid).values())

            def watch() -> None:
                nonlocal most
                while not done.is_set():
                    most = max(most, memory(below(os.getpid())))
                    time.sleep(0.05)

            watcher = threading.Thread(target=watch, daemon=True)
            watcher.start()
            rows = cluster.read_parquet(str(folder), blocksize="16MB")
            groups = rows[rows.b > 500].groupby("k").a.sum().compute()
            ordered = rows.sort_values("a").c.sum().compute()
            done.set()
            watcher.join()
            lost = len(workers - set(cluster.client.run(os.getpid).values()))
        right = groups.sum().item() == wanted and ordered > 0
        print(f"memory {most / BUDGET:.2f} of the budget, workers lost {lost}, {right=}")
        return int(most > 1.05 * BUDGET or lost > 0 or not right)


if __name__ == "__main__":
    sys.exit(main(float(sys.argv[1]) if len(sys.argv) > 1 else 4))
