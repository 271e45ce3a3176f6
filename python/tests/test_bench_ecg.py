# SPDX-License-Identifier: Apache-2.0
"""The bench of the ECG job runs, and its answers agree, on a small input."""

import pytest


def test_small_bench(bench_lines):
    pytest.importorskip("duckdb")
    pytest.importorskip("polars")
    run, *rows = bench_lines("ecg.py", "--rows", "30000")
    assert run["kind"] == "run" and run["versions"]["numpy"]
    steps = {row["step"] for row in rows if row.get("engine") == "headrace"}
    assert {
        "read_csv f64",
        "convolve wavelet f32",
        "PCA f32",
        "end to end f32",
        "sin**2 + cos**2 == 1",
        "csv shortest f64",
        "csv 3 decimals",
        "csv integers",
        "csv mixed",
    } <= steps
    assert "end to end, fresh process" in steps
    for row in (row for row in rows if row["kind"] == "step"):
        assert (row["median_s"] > 0 and row["engine"] == "headrace") or row["answer"]
    for row in rows:
        if "csv" in row.get("step", "") and row["engine"] != "headrace":
            assert row["answer"].startswith(("equal", "floats within"))
