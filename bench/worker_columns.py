#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A column from one worker to another: in shared segments and through TCP on one machine.

Usage: worker_columns.py [MEGABYTES]: of a column of doubles; 512. Prints the speed at which
the other worker has it (the best of 5; a task without data is subtracted) and the bytes that both
copied by their ledgers. 1 if a target is missed: shared 20 GB/s, TCP 1 GB/s, no copies where it
arrives.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np

import headrace as hr

LEAST = {"shared": 20.0, "TCP": 1.0}
RUNS = 5


def column(rows: int, seed: int) -> hr.DataFrame:
    """Values in shared segments."""
    with hr.sharing():
        frame = hr.DataFrame({"x": np.full(rows, 1.0 + seed)}) * 2
        hr.eval(frame)
    return frame


def first(frame: hr.DataFrame) -> float:
    """Look at a value."""
    return float(frame.x.to_numpy()[0])


def copied() -> int:
    """What the ledger of this process says."""
    return int(hr.memory.ledger().total_bytes)


def only_bytes(yes: bool) -> None:
    """Let a worker send all values through the socket."""
    from headrace.dask import transport

    transport._LEAST_SHARED = 1 << (60 if yes else 20)


def seconds(work: Callable[[], Any]) -> float:
    """How long a call takes."""
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def main(megabytes: float) -> int:
    """Make, move, measure."""
    rows, missed = int(megabytes * 1e6 / 8), 0
    with hr.cluster(workers=2, memory="12GB") as cluster:
        client = cluster.client
        here, there = client.run(copied)
        for way, least in LEAST.items():
            client.run(only_bytes, way == "TCP")
            best, idle, copies = float("inf"), float("inf"), {here: 0, there: 0}
            for run in range(RUNS):
                made = client.submit(column, rows, run, workers=[here], pure=False)
                client.gather(client.submit(len, made, workers=[here]))
                before = client.run(copied)

                def move(made: Any = made) -> None:
                    client.submit(first, made, workers=[there], pure=False).result()

                best = min(best, seconds(move))
                idle = min(idle, seconds(move))  # it is there already
                for worker, now in client.run(copied).items():
                    copies[worker] += now - before[worker]
                made.release()
            speed = rows * 8 / 1e9 / max(best - idle, 1e-9)
            held = speed >= least and copies[there] == 0 and (way == "TCP" or copies[here] == 0)
            missed += not held
            print(
                f"{way}: {speed:.1f} GB/s (target {least:g}), {1000 * best:.1f} ms with the task, "
                f"copied by the sender {copies[here]} bytes, where it arrived {copies[there]}"
            )
    return int(missed > 0)


if __name__ == "__main__":
    sys.exit(main(float(sys.argv[1]) if len(sys.argv) > 1 else 512))
