# SPDX-License-Identifier: Apache-2.0
"""The bench of CSV shapes runs, and its answers agree, on small inputs."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

TASK = Path(__file__).resolve().parents[2] / "bench/peers/csv.py"


def test_small_bench(tmp_path):
    pytest.importorskip("duckdb")
    pytest.importorskip("polars")
    output = tmp_path / "csv.jsonl"
    line = [sys.executable, str(TASK), "--rows", "20000", "--runs", "1", "--output", str(output)]
    done = subprocess.run(line, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    _, *rows = map(json.loads, output.read_text().splitlines())
    steps = {row["step"] for row in rows if row["engine"] == "headrace"}
    assert {"csv shortest f64", "csv 3 decimals", "csv integers", "csv mixed"} <= steps
    for row in rows:
        assert row["engine"] == "headrace" or row["answer"].startswith(("equal", "floats within"))
