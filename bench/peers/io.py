# SPDX-License-Identifier: Apache-2.0
"""Files of all formats in one run: Parquet, JSON, Arrow IPC, many files, logs. ./dev bench io."""

from __future__ import annotations

import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

sys.path.pop(0)  # this folder: csv.py here is not Python's
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from measure import Bench, run

PACKAGES = ["polars", "duckdb", "pyarrow"]


def task(name: str) -> Any:
    """Load another task of this folder."""
    spec = spec_from_file_location(f"peers_{name}", Path(__file__).with_name(f"{name}.py"))
    assert spec and spec.loader
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def steps(bench: Bench, rows: int) -> None:
    """Run each task with half of the rows, which are 1e7; JSON has a tenth of these."""
    for name, count in (
        ("parquet", rows // 2),
        ("json_lines", rows // 20),
        ("ipc", rows // 2),
        ("sources", rows),
    ):
        task(name).steps(bench, count)


if __name__ == "__main__":
    sys.exit(run("io", __doc__, PACKAGES, steps))
