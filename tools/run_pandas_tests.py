#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs pandas' own tests, from its installed wheel, with Headrace in the place of pandas.

``PYTHONPATH`` has the built package. Prints and writes (bench/results/pandas-tests.jsonl, one line
a folder) how many tests pandas collects, how many a rule of tools/pandas_tests_left_out.txt leaves
out, and how many pass; then the commonest causes of failures. `tools/pandas_tests_plugin.py` says
what passing means. ``--step 20`` runs every twentieth test, ``--least 0.6`` fails below a share.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import re
import subprocess
import sys
import tempfile
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

TOOLS = Path(__file__).resolve().parent
RULES = TOOLS / "pandas_tests_left_out.txt"
WRITTEN = TOOLS.parent / "bench/results/pandas-tests.jsonl"
FOLDERS = ["frame/methods", "series/methods", "groupby", "reshape", "strings", "resample", "window"]
#: A test that ends the process costs a new one.
MOST_RESTARTS = 100


def pandas_tests() -> Path:
    """The folder of pandas' tests in the installed wheel."""
    spec = importlib.util.find_spec("pandas")
    if spec is None or spec.origin is None:
        raise SystemExit("pandas is not installed")
    return Path(spec.origin).parent / "tests"


def collected_by_pandas(target: Path) -> int:
    """How many tests pandas itself has there."""
    line = [sys.executable, "-m", "pytest", "--collect-only", "-qq", "-c", os.devnull]
    line += ["-p", "no:cacheprovider", "--rootdir", str(target.parent), str(target)]
    text = subprocess.run(line, capture_output=True, text=True, check=False).stdout
    return sum(int(count) for count in re.findall(r"^\S+\.py: (\d+)$", text, re.M))


def run_folder(target: Path, results: Path, step: int, match: str) -> None:
    """Run the tests of a folder, again after each one that ends the process."""
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join([str(TOOLS), os.environ.get("PYTHONPATH", "")]),
        "PANDAS_TESTS_RESULTS": str(results),
        "PANDAS_TESTS_RULES": str(RULES),
        "PANDAS_TESTS_STEP": str(step),
    }
    line = [sys.executable, "-m", "pytest", "-p", "pandas_tests_plugin", "--assert=plain", "-qq"]
    line += ["-c", os.devnull, "-p", "no:cacheprovider", "-p", "no:warnings", "--tb=no", "-rN"]
    line += ["--rootdir", str(pandas_tests().parents[1]), str(target)]
    line += ["-k", match] if match else []
    for _ in range(MOST_RESTARTS):
        run = subprocess.run(
            line, env=environment, capture_output=True, text=True, errors="replace", check=False
        )
        if run.returncode in (0, 1, 5):  # passed, failed, nothing to run
            return
        if not any(map(is_open, by_test(results).values())):
            print(run.stdout[-3000:], run.stderr[-3000:], file=sys.stderr)
            return


def is_open(record: dict[str, Any]) -> bool:
    """Whether a test ended without a result."""
    return record["outcome"] == "started"


def by_test(results: Path) -> dict[str, dict[str, Any]]:
    """The last record of each test; a failure stays one."""
    found: dict[str, dict[str, Any]] = {}
    for line in results.read_text().splitlines():
        record = json.loads(line)
        if found.get(record["id"], record)["outcome"] != "failed":
            found[record["id"]] = record
    return found


def cause(record: dict[str, Any]) -> str:
    """The type and first words of a failure, without its values."""
    text = record.get("cause", "the process ended")
    text = re.sub(r"'[^']*'|\"[^\"]*\"", "'...'", text) if "no attribute" not in text else text
    return re.sub(r"[=(\[{].*", "", re.sub(r"\d+", "0", text))[:100]


def main() -> int:
    """Run what is asked for, print and write the figures."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folders", nargs="*", default=FOLDERS, help="below pandas/tests")
    parser.add_argument("--step", type=int, default=1, help="run every n-th test")
    parser.add_argument("-k", dest="match", default="", help="pytest's expression of names")
    parser.add_argument("--causes", type=int, default=30, help="how many causes are printed")
    parser.add_argument("--results", type=Path, help="keep a record of each test in this folder")
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--write", action="store_true", help="write bench/results")
    parser.add_argument("--least", type=float, default=0.0, help="fail below this share")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        folder = options.results or Path(scratch)
        folder.mkdir(parents=True, exist_ok=True)

        def run(name: str) -> tuple[str, int, dict[str, dict[str, Any]]]:
            results = folder / f"{name.replace('/', '.')}.jsonl"
            results.write_text("")
            target = pandas_tests() / name
            whole = options.step == 1 and not options.match
            count = collected_by_pandas(target) if whole else 0
            run_folder(target, results, options.step, options.match)
            return name, count, by_test(results)

        with ThreadPoolExecutor(options.processes) as pool:
            rows = [summary(*each) for each in pool.map(run, options.folders)]
    return report(rows, options)


def summary(name: str, count: int, found: dict[str, dict[str, Any]]) -> dict[str, Any]:
    """The figures of a folder."""
    outcomes = Counter(record["outcome"] for record in found.values())
    left_out = Counter(r["reason"] for r in found.values() if r["outcome"] == "left out")
    left_out["pandas skips it here"] = outcomes["skipped"]
    collected = max(count, len(found))
    failures = Counter(
        cause(record) for record in found.values() if record["outcome"] in ("failed", "started")
    )
    failures["not collected"] = collected - len(found)
    return {
        "folder": name,
        "collected": collected,
        "left_out": left_out.total(),
        "passed": outcomes["passed"],
        "rules": left_out,
        "failures": failures,
    }


def report(rows: list[dict[str, Any]], options: argparse.Namespace) -> int:
    """Print the figures; 1 if too few passed."""
    keys = ("collected", "left_out", "passed")
    total = {"folder": "all", **{key: sum(row[key] for row in rows) for key in keys}}
    print(f"{'folder':16} collected  left out    passed   of the rest")
    for row in [*rows, total]:
        rest = max(row["collected"] - row["left_out"], 1)
        print(
            f"{row['folder']:16} {row['collected']:9}  {row['left_out']:8}  {row['passed']:8}  "
            f"{row['passed'] / rest:11.1%}"
        )
    for title, key, most in (("left out", "rules", 99), ("failures", "failures", options.causes)):
        print(f"\n{title}:")
        for text, count in sum((row[key] for row in rows), Counter()).most_common(most):
            print(f"{count:6}  {text}")
    if options.write:
        lines = [{key: row[key] for key in ("folder", *keys, "rules")} for row in rows]
        WRITTEN.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return int(total["passed"] < options.least * max(total["collected"] - total["left_out"], 1))


if __name__ == "__main__":
    sys.exit(main())
