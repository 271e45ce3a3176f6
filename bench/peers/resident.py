# SPDX-License-Identifier: Apache-2.0
"""Anonymous memory under a limit, observed by another process: ./dev bench resident.

Each workload runs in its own process over a file of four times the limit. RssAnon of /proc, sampled
every two milliseconds, less its value before the first read, may be 1.05 limits plus 8 MB.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

sys.path.pop(0)  # this folder: csv.py here is not Python's
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import numpy as np
from limited_work import WORKS
from measure import FULL, OURS, Bench, run

import headrace as hr

PACKAGES = ["numpy"]
MEGABYTE = 1_000_000
LIMITS = (50, 100, 200)
#: Bytes of a row in memory: four numbers, or two strings and two numbers.
ROW_BYTES = {"numbers": 32, "texts": 62}
CHILD = Path(__file__).resolve().parents[1] / "limited_work.py"


def write(path: Path, kind: str, rows: int) -> None:
    """Write the file that the workloads read."""
    random = np.random.default_rng(7)
    frame = hr.DataFrame(
        {
            "k": random.integers(0, rows, rows) * (1_000_003 if kind == "numbers" else 1),
            "g": random.integers(0, 1000, rows),
            "v": random.random(rows),
            "w": np.round(random.random(rows) * 1e4) / 16,
        }
    )
    if kind == "texts":
        frame["k"] = "key " + (frame.k + 10**10).astype("string")
        frame["g"] = "g" + frame.g.astype("string")
    frame.to_csv(str(path))


def anonymous_bytes(process: int) -> int:
    """Return the private pages of a process; 0 when it is gone."""
    try:
        status = Path(f"/proc/{process}/status").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return 0
    lines = [line.split()[1] for line in status.splitlines() if line.startswith("RssAnon")]
    return int(lines[0]) << 10 if lines else 0


def watch(file: Path, work: str, limit: int) -> dict[str, Any]:
    """Run a workload: its output, and its peak anonymous memory."""
    line = [sys.executable, str(CHILD), str(file), work, str(limit)]
    pipe = subprocess.PIPE
    with subprocess.Popen(line, stdin=pipe, stdout=pipe, stderr=pipe, text=True) as child:
        child.stdout.readline()
        base, most = anonymous_bytes(child.pid), 0
        child.stdin.write("go\n")
        child.stdin.flush()
        while child.poll() is None:
            most = max(most, anonymous_bytes(child.pid) - base)
            time.sleep(0.002)
        told, errors = child.communicate()
    assert child.returncode == 0, errors[-2000:]
    return json.loads(told) | {"resident_bytes": most}


def steps(bench: Bench, rows: int) -> None:
    """Observe each workload under each limit; few rows, as in tests, use the lowest."""
    for kind, row_bytes in ROW_BYTES.items():
        for limit in LIMITS if rows == FULL else LIMITS[:1]:
            count = 4 * limit * MEGABYTE // row_bytes if rows == FULL else rows
            for work in WORKS:
                step = f"{work}, {kind}, {limit} MB"
                if not bench.wants(step):
                    continue
                file = bench.file(
                    f"{kind}-{count}.csv", lambda path, k=kind, n=count: write(path, k, n)
                )
                found: dict[str, Any] = {}

                def claim(
                    file: Path = file,
                    work: str = work,
                    limit: int = limit,
                    found: dict[str, Any] = found,
                ) -> str:
                    found |= watch(file, work, limit * MEGABYTE)
                    wanted = watch(file, work, 0)["answer"]
                    assert found["answer"] == wanted, f"{found['answer']} and {wanted}"
                    return "equal to the answer without a limit"

                bench.check(step, claim)
                if not found:
                    continue
                most = 1.05 * limit + 8
                bench.value(step, OURS, found["resident_bytes"] / MEGABYTE, "MB", most=most)
                bench.value(f"{step}, time", OURS, found["seconds"], "s")
                bench.value(f"{step}, moved", OURS, found["moved_bytes"] / MEGABYTE, "MB")


if __name__ == "__main__":
    sys.exit(run("resident", __doc__, PACKAGES, steps))
