#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs scikit-learn's own tests, from its installed wheel, under `headrace.sklearn`.

``PYTHONPATH`` has the built package. Our loops take work of any size here, however small. Each
folder of tests runs in a process of its own. Prints and writes (``--write``:
bench/results/sklearn-tests.jsonl, one line a folder, kept until the folder runs again) how many
tests pass, fail and are skipped by scikit-learn, and how often the engine was called. A failure
that a rule of tools/sklearn_tests_left_out.txt explains is an exception; others run again without
our loops, and count only if they pass then. 1 if one counts. ``--plain``: as scikit-learn is.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib.util
import io
import json
import os
import re
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

TOOLS = Path(__file__).resolve().parent
RULES = TOOLS / "sklearn_tests_left_out.txt"
FAILS_WITHOUT = "fails without our loops too"
_WRITING = threading.Lock()
WRITTEN = TOOLS.parent / "bench/results/sklearn-tests.jsonl"


class Outcomes:
    """Counts what pytest tells."""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()
        self.failures: dict[str, str] = {}

    def pytest_runtest_logreport(self, report: Any) -> None:
        """Take the outcome of a test: one that fails in any phase has failed."""
        if report.failed:
            text = str(report.longrepr).strip().splitlines()
            self.failures[report.nodeid] = text[-1][:200] if text else ""
        if report.when == "call" or report.skipped:
            word = "skipped" if hasattr(report, "wasxfail") else report.outcome
            self.counts[word] += 1


class Counting:
    """The engine's functions, with a count of their calls."""

    def __init__(self, engine: Any) -> None:
        self._engine = engine
        self.calls: Counter[str] = Counter()

    def __getattr__(self, name: str) -> Any:
        self.calls[name] += 1
        return getattr(self._engine, name)


def scikit_learn() -> Path:
    """The folder of the installed package."""
    spec = importlib.util.find_spec("sklearn")
    if spec is None or spec.origin is None:
        raise SystemExit("scikit-learn is not installed")
    return Path(spec.origin).parent


def rules(path: Path = RULES) -> list[tuple[re.Pattern[str], str]]:
    """Expressions of names of tests, and why they fail."""
    lines = [line for line in path.read_text().splitlines() if line and line[0] != "#"]
    parts = (line.split("  # ", 1) for line in lines)
    return [(re.compile(name), reason) for name, reason in parts]


def run_here(tests: list[str], match: str, plain: bool) -> dict[str, Any]:
    """Run tests in this process."""
    calls: Counter[str] = Counter()
    if not plain:
        from headrace.sklearn import install, loops

        loops.Sizes.scale = 0.0
        counting = Counting(loops._core)
        loops._core, calls = counting, counting.calls  # type: ignore[assignment]
        install()
    root = scikit_learn().parent
    line = ["-q", "-p", "no:cacheprovider", "-p", "no:warnings", "--tb=line", "-c", os.devnull]
    line += ["--rootdir", str(root), "--import-mode=importlib"]
    line += ["-k", match] if match else []
    outcomes = Outcomes()
    start = time.perf_counter()
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        code = pytest.main([*line, *(f"{root}/{test}" for test in tests)], plugins=[outcomes])
    if code not in (0, 1, 5):
        raise SystemExit(printed.getvalue()[-3000:])
    return {
        "passed": outcomes.counts["passed"],
        "failed": len(outcomes.failures),
        "skipped": outcomes.counts["skipped"],
        "seconds": round(time.perf_counter() - start, 1),
        "calls": dict(sorted(calls.items())),
        "failures": outcomes.failures,
    }


def run_apart(tests: list[str], match: str, plain: bool) -> dict[str, Any]:
    """Run tests in a process of their own, with one thread for OpenMP and BLAS."""
    with tempfile.NamedTemporaryFile("w", suffix=".json") as asked:
        json.dump([tests, match, plain], asked)
        asked.flush()
        line = [sys.executable, __file__, "--here", asked.name]
        environment = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", **os.environ}
        run = subprocess.run(line, env=environment, capture_output=True, text=True, check=False)
    if run.returncode:
        raise SystemExit(f"{tests}: status {run.returncode}\n{run.stdout}{run.stderr[-3000:]}")
    found: dict[str, Any] = json.loads(run.stdout.splitlines()[-1])
    return found


def run_folder(target: str, options: argparse.Namespace) -> dict[str, Any]:
    """The figures of a folder or file of tests."""
    match, plain = options.match, options.plain
    found = run_apart([f"sklearn/{target}"], match, plain)
    failures, reasons, known = found.pop("failures"), Counter[str](), rules()
    for name in list(failures):
        reason = next((reason for rule, reason in known if rule.search(name)), None)
        if reason is not None and not plain:
            reasons[reason] += 1
            del failures[name]
    if failures and not plain:
        without = run_apart(list(failures), "", True)["failures"]
        reasons[FAILS_WITHOUT] = len(without)
        failures = {name: cause for name, cause in failures.items() if name not in without}
    print(
        f"{target:36} {found['passed']:6}  {found['failed']:6}  {found['skipped']:7}  "
        f"{found['seconds']:6.0f} s",
        flush=True,
    )
    for name, cause in failures.items():
        print(f"FAILED: {name}: {cause}", flush=True)
    row = {"folder": target, **found, "exceptions": dict(+reasons), "open": failures}
    if options.write:
        keep(row)
    return row


def total_of(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """The figures of all folders."""
    total: dict[str, Any] = {"folder": "all"}
    for key in ("passed", "failed", "skipped", "seconds"):
        total[key] = round(sum(row[key] for row in rows), 1)
    for key in ("calls", "exceptions"):
        total[key] = dict(sum((Counter(row[key]) for row in rows), Counter()))
    same = total["exceptions"].get(FAILS_WITHOUT, 0)
    rest = total["passed"] + total["failed"] - same
    return total | {"share": round(total["passed"] / max(rest, 1), 5)}


def keep(row: dict[str, Any]) -> None:
    """Put the figures of a folder in the place of those that are written."""
    with _WRITING:
        text = WRITTEN.read_text() if WRITTEN.exists() else ""
        rows = {each["folder"]: each for each in map(json.loads, text.splitlines())}
        rows.pop("all", None)
        rows[row["folder"]] = {key: value for key, value in row.items() if key != "open"}
        made = [rows[name] for name in sorted(rows)]
        lines = [json.dumps(each) + "\n" for each in [*made, total_of(made)]]
        WRITTEN.write_text("".join(lines))


def main() -> int:
    """Run what is asked for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("targets", nargs="*", help="folders or files below sklearn/; all of them")
    parser.add_argument("-k", dest="match", default="", help="pytest's expression of names")
    parser.add_argument("--plain", action="store_true", help="without our loops")
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--write", action="store_true", help="write bench/results")
    parser.add_argument("--here", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.here:
        print(json.dumps(run_here(*json.loads(options.here.read_text()))))
        return 0
    root = scikit_learn()
    folders = [path for path in root.rglob("tests") if path.is_dir()]
    folders.sort(key=lambda path: -sum(file.stat().st_size for file in path.glob("test_*.py")))
    targets = options.targets or [str(path.relative_to(root)) for path in folders]
    print(f"{'tests of':36} passed  failed  skipped")
    with ThreadPoolExecutor(options.processes) as pool:
        rows = list(pool.map(lambda each: run_folder(each, options), targets))
    total = total_of(rows)
    print(f"{'all':36} {total['passed']:6}  {total['failed']:6}  {total['skipped']:7}")
    print(f"{total['share']:.2%} of the tests that pass without our loops")
    print(f"exceptions: {total['exceptions']}\ncalls: {total['calls']}")
    return int(any(row["open"] for row in rows))


if __name__ == "__main__":
    sys.exit(main())
