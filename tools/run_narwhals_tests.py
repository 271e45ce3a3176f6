#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs narwhals' own tests on frames of ours.

Usage: run_narwhals_tests.py [-k WORDS] FOLDER [TESTS...]: the folder of narwhals' repository at the
tag of its tests (its wheel has none). ``PYTHONPATH`` has the built package. Only the tests that
take any frame, or any eager one, run. Prints how many pass, fail and are skipped by narwhals. A
failure that a rule of tools/narwhals_tests_left_out.txt explains is an exception. 1 if another
counts.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import os
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from run_sklearn_tests import Outcomes, rules

TOOLS = Path(__file__).resolve().parent
#: What narwhals calls the functions that make a frame of a dictionary, for its tests.
CONSTRUCTORS = ("constructor_eager", "constructor")


def headrace_constructor(columns: dict[str, list[Any]]) -> Any:
    """The frame that a test works on."""
    import headrace as hr

    return hr.DataFrame(columns)


class Constructors:
    """Gives narwhals' tests our frames, and leaves the others out."""

    @pytest.hookimpl(tryfirst=True)
    def pytest_generate_tests(self, metafunc: Any) -> None:
        for name in CONSTRUCTORS:
            if name in metafunc.fixturenames:
                metafunc.parametrize(name, [headrace_constructor], ids=["headrace"])
                return

    def pytest_collection_modifyitems(self, items: list[Any]) -> None:
        params = ((item, getattr(getattr(item, "callspec", None), "params", {})) for item in items)
        items[:] = [item for item, given in params if any(name in given for name in CONSTRUCTORS)]


def main() -> int:
    """Run what is asked for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path, help="narwhals' repository")
    parser.add_argument("targets", nargs="*", help="folders or files below tests/; all of them")
    parser.add_argument("-k", dest="match", default="", help="pytest's expression of names")
    options = parser.parse_args()
    root = options.folder.resolve()
    tests = [str(root / "tests" / target) for target in options.targets or [""]]
    line = ["-q", "-p", "no:cacheprovider", "-p", "no:warnings", "--tb=line", "-c", os.devnull]
    line += ["--rootdir", str(root), "--use-external-constructor", "-o", "markers=slow"]
    line += ["--confcutdir", str(root), *(["-k", options.match] if options.match else [])]
    os.environ["TZ"] = "UTC"
    outcomes = Outcomes()
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        code = pytest.main([*line, *tests], plugins=[outcomes, Constructors()])
    if code not in (0, 1, 5):
        raise SystemExit(printed.getvalue()[-3000:])
    failures, reasons = outcomes.failures, Counter[str]()
    for rule, reason in rules(TOOLS / "narwhals_tests_left_out.txt"):
        for name in [name for name in failures if rule.search(name)]:
            reasons[reason] += 1
            del failures[name]
    for name, cause in failures.items():
        print(f"FAILED: {name}: {cause}")
    counts = outcomes.counts
    print(f"passed {counts['passed']}, open {len(failures)}, skipped {counts['skipped']}")
    print(f"exceptions: {sum(reasons.values())}: {dict(reasons)}")
    return int(bool(failures))


if __name__ == "__main__":
    sys.exit(main())
