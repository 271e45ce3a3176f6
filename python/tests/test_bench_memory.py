# SPDX-License-Identifier: Apache-2.0
"""The bench of memory runs, and its answers agree, on small arrays."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

TASK = Path(__file__).resolve().parents[2] / "bench/peers/memory.py"


def test_small_bench(tmp_path):
    pytest.importorskip("polars")
    pytest.importorskip("pyarrow")
    output = tmp_path / "memory.jsonl"
    line = [sys.executable, str(TASK), "--rows", "50000", "--runs", "1", "--output", str(output)]
    line += ["--only", "0.4 MB live"]
    done = subprocess.run(line, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    run, *rows = map(json.loads, output.read_text().splitlines())
    assert run["task"] == "memory"
    engines = {row["engine"]: row for row in rows if row["kind"] == "step"}
    assert {"headrace", "numpy", "glibc tuned", "pyarrow mimalloc", "polars"} <= set(engines)
    assert all(row["answer"] == "equal" for name, row in engines.items() if name != "headrace")
    assert all(row["page_faults"] >= 0 and row["cpu_s"] > 0 for row in engines.values())
    missing = {row["engine"] for row in rows if row["kind"] == "missing"}
    assert {"tcmalloc", "mimalloc", "jemalloc"} <= missing | set(engines)
