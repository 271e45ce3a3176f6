#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs scikit-learn's own tests, from its installed wheel, under `headrace.sklearn`.

``PYTHONPATH`` has the built package. Our loops take work of any size here, however small. Prints
how many tests there are, how many are skipped by scikit-learn, how many pass and which fail;
failures that a rule of tools/sklearn_tests_left_out.txt explains are exceptions. 1 if another test
fails. ``--plain`` runs scikit-learn as it is, to compare.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib.util
import io
import os
import re
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

RULES = Path(__file__).resolve().parent / "sklearn_tests_left_out.txt"
#: The tests of the modules whose classes have loops of ours, and of all estimators.
TARGETS = [
    "cluster/tests/test_k_means.py",
    "cluster/tests/test_dbscan.py",
    "cluster/tests/test_bisect_k_means.py",
    "cluster/tests/test_spectral.py",
    "decomposition/tests/test_pca.py",
    "decomposition/tests/test_incremental_pca.py",
    "neighbors/tests/test_neighbors.py",
    "neighbors/tests/test_neighbors_pipeline.py",
    "neighbors/tests/test_graph.py",
    "neighbors/tests/test_lof.py",
    "linear_model/tests/test_base.py",
    "linear_model/tests/test_common.py",
    "linear_model/tests/test_ridge.py",
    "preprocessing/tests/test_data.py",
    "preprocessing/tests/test_encoders.py",
    "preprocessing/tests/test_common.py",
    "feature_extraction/tests/test_text.py",
    "compose/tests/test_column_transformer.py",
    "tests/test_pipeline.py",
    "tests/test_common.py",
]


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
            word = "expected to fail" if hasattr(report, "wasxfail") else report.outcome
            self.counts[word] += 1


class Counting:
    """The engine's functions, with a count of their calls."""

    def __init__(self, engine: Any) -> None:
        self._engine = engine
        self.calls: Counter[str] = Counter()

    def __getattr__(self, name: str) -> Any:
        self.calls[name] += 1
        return getattr(self._engine, name)


def rules() -> list[tuple[re.Pattern[str], str]]:
    """Expressions of names of tests, and why they fail."""
    lines = [line for line in RULES.read_text().splitlines() if line and line[0] != "#"]
    parts = (line.split("  # ", 1) for line in lines)
    return [(re.compile(name), reason) for name, reason in parts]


def main() -> int:
    """Run what is asked for and print the figures."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("targets", nargs="*", default=TARGETS, help="below sklearn/")
    parser.add_argument("-k", dest="match", default="", help="pytest's expression of names")
    parser.add_argument("--plain", action="store_true", help="without our loops")
    options = parser.parse_args()
    if not options.plain:
        from headrace.sklearn import install, loops

        loops.Sizes.scale = 0.0
        loops._core = Counting(loops._core)  # type: ignore[assignment]
        install()
    spec = importlib.util.find_spec("sklearn")
    if spec is None or spec.origin is None:
        raise SystemExit("scikit-learn is not installed")
    folder = Path(spec.origin).parent
    line = ["-q", "-p", "no:cacheprovider", "-p", "no:warnings", "--tb=line", "-c", os.devnull]
    line += ["--rootdir", str(folder.parent), "--import-mode=importlib"]
    line += ["-k", options.match] if options.match else []
    found: dict[str, str] = {}
    total: Counter[str] = Counter()
    print(f"{'tests of':44} passed  failed  skipped")
    for target in options.targets:
        outcomes = Outcomes()
        with contextlib.redirect_stdout(io.StringIO()) as printed:
            code = pytest.main([*line, str(folder / target)], plugins=[outcomes])
        if code not in (0, 1, 5):
            print(printed.getvalue()[-3000:], file=sys.stderr)
            return 1
        counts = outcomes.counts
        skipped = counts["skipped"] + counts["expected to fail"]
        print(
            f"{target:44} {counts['passed']:6}  {len(outcomes.failures):6}  {skipped:7}", flush=True
        )
        total.update(passed=counts["passed"], failed=len(outcomes.failures), skipped=skipped)
        found |= outcomes.failures
    known = rules()
    share = total["passed"] / max(total["passed"] + total["failed"], 1)
    print(f"{'all':44} {total['passed']:6}  {total['failed']:6}  {total['skipped']:7}  {share:.2%}")
    if not options.plain:
        print("calls of the engine:", dict(sorted(loops._core.calls.items())))
    unknown = 0
    for name, cause in sorted(found.items()):
        reason = next((reason for rule, reason in known if rule.search(name)), None)
        unknown += reason is None
        print(f"{'exception' if reason else 'FAILED'}: {name}: {reason or cause}")
    return int(unknown > 0)


if __name__ == "__main__":
    sys.exit(main())
