#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes the recorded logs of testdata/memory: the ECG job, random sizes, and RMM's format."""

from __future__ import annotations

import csv
import sys
from pathlib import Path

import numpy as np
from headrace.demo.job import plan

import headrace as hr


def ecg(path: Path, record: Path) -> None:
    """Record the ECG job over five minutes, eight times, each with more repeats."""
    values = np.load(record)["ecg"]
    with hr.memory.log(path):
        for repeats in range(1, 9):
            job = plan(hr.asarray(np.tile(values, repeats)), 360.0)
            hr.eval(*job)


def sizes(generator: np.random.Generator) -> int:
    """Sizes from 256 B to 2 MiB, log-uniform."""
    return int(2 ** generator.uniform(8, 21))


def random_log(path: Path) -> None:
    """Record 500 arrays of random sizes, 20 to 60 of them alive at a time."""
    generator = np.random.default_rng(7)
    alive: list[hr.Array] = []
    with hr.memory.log(path):
        for _ in range(500):
            alive.append(hr.asarray(np.ones(sizes(generator) // 8)) * 2)
            alive[-1].to_numpy()
            while len(alive) > generator.integers(20, 60):
                del alive[generator.integers(len(alive))]
        alive.clear()


def rmm(path: Path) -> None:
    """Write the events of three threads with two streams, as RMM's logging adaptor prints them."""
    generator = np.random.default_rng(8)
    alive: list[tuple[str, int, str]] = []
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(("Thread", "Time", "Action", "Pointer", "Size", "Stream"))
        for step in range(600):
            thread = 140573312345856 + 4096 * int(generator.integers(3))
            when = f"23:59:{58 + step // 400:02}.{step * 2500 % 1_000_000:06}"
            if not alive or (len(alive) < 40 and generator.uniform() < 0.53):
                pointer = f"0x{0x7F8A40000000 + step * (4 << 20):x}"
                block = (pointer, sizes(generator), ("0x0", "0x2")[int(generator.integers(2))])
                alive.append(block)
                writer.writerow((thread, when, "allocate", *block))
            else:
                block = alive.pop(int(generator.integers(len(alive))))
                writer.writerow((thread, when, "free", *block))


def main() -> int:
    """Write the three files into the folder of the argument."""
    root = Path(__file__).resolve().parents[1]
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else root / "testdata" / "memory"
    folder.mkdir(parents=True, exist_ok=True)
    ecg(folder / "ecg.csv", root / "python" / "headrace" / "demo" / "record.npz")
    random_log(folder / "random.csv")
    rmm(folder / "rmm.csv")
    return 0


if __name__ == "__main__":
    sys.exit(main())
