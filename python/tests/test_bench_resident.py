# SPDX-License-Identifier: Apache-2.0
"""Anonymous memory under a limit, as another process sees it; HEADRACE_RESIDENT=all: all works."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

TASK = Path(__file__).resolve().parents[2] / "bench/peers/resident.py"
ALL = os.environ.get("HEADRACE_RESIDENT") == "all"
STEPS = ("",) if ALL else ("sort, numbers, 50", "cumsum in groups, texts, 50")

pytestmark = [
    pytest.mark.slow,
    pytest.mark.pool,
    pytest.mark.skipif(sys.platform != "linux", reason="reads /proc"),
]


@pytest.mark.parametrize("only", STEPS)
def test_resident_memory_stays_within_the_limit(tmp_path, only):
    output = tmp_path / "resident.jsonl"
    line = [sys.executable, str(TASK), "--only", only, "--output", str(output)]
    if not ALL:
        line += ["--rows", "3000000"]
    timeout = 7200 if ALL else 300
    done = subprocess.run(line, capture_output=True, text=True, timeout=timeout, check=False)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    rows = [json.loads(line) for line in output.read_text().splitlines()]
    judged = [row for row in rows if row.get("bar") is not None]
    assert judged and all(row["met"] for row in judged), judged
    moved = [row["value"] for row in rows if row.get("step", "").endswith("moved")]
    assert all(value > 50 for value in moved), moved  # the limit was felt
