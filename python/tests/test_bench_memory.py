# SPDX-License-Identifier: Apache-2.0
"""The bench of memory runs, and its answers agree, on small arrays."""

import pytest


def test_small_bench(bench_lines):
    pytest.importorskip("polars")
    pytest.importorskip("pyarrow")
    run, *rows = bench_lines("memory.py", "--rows", "50000", "--only", "0.4 MB live")
    assert run["task"] == "memory"
    engines = {row["engine"]: row for row in rows if row["kind"] == "step"}
    assert {"headrace", "numpy", "glibc tuned", "pyarrow mimalloc", "polars"} <= set(engines)
    assert all(row["answer"] == "equal" for name, row in engines.items() if name != "headrace")
    assert all(row["page_faults"] >= 0 and row["cpu_s"] > 0 for row in engines.values())
    missing = {row["engine"] for row in rows if row["kind"] == "missing"}
    assert {"tcmalloc", "mimalloc", "jemalloc"} <= missing | set(engines)
