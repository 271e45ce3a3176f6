#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the tests of the array API standard on `headrace.array_api`.

Usage: run_array_api_tests.py [-k WORDS] [--examples N] [--seed N] FOLDER [FILES...]: the folder of
data-apis/array-api-tests with its submodule. ``PYTHONPATH`` has the built package; hypothesis and
ndindex are needed. Prints how many pass, fail and are skipped by the suite. 1 if one fails.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import os
import sys
from pathlib import Path

import pytest
from run_sklearn_tests import Outcomes


def main() -> int:
    """Run what is asked for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path, help="the repository of the tests")
    parser.add_argument("targets", nargs="*", help="files below array_api_tests/; all of them")
    parser.add_argument("-k", dest="match", default="", help="pytest's expression of names")
    parser.add_argument("--examples", type=int, default=20, help="examples a test")
    parser.add_argument("--seed", type=int, default=0, help="hypothesis' seed")
    options = parser.parse_args()
    root = options.folder.resolve()
    os.environ |= {
        "ARRAY_API_TESTS_MODULE": "headrace.array_api",
        "ARRAY_API_TESTS_VERSION": "2025.12",
    }
    os.chdir(root)
    sys.path.insert(0, str(root))
    line = ["-q", "-p", "no:cacheprovider", "-p", "no:warnings", "--tb=line", "-c", "pytest.ini"]
    line += ["--max-examples", str(options.examples), "--hypothesis-seed", str(options.seed)]
    line += ["--hypothesis-disable-deadline", *(["-k", options.match] if options.match else [])]
    tests = [str(root / "array_api_tests" / target) for target in options.targets or [""]]
    outcomes = Outcomes()
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        code = pytest.main([*line, *tests], plugins=[outcomes])
    if code not in (0, 1, 5):
        raise SystemExit(printed.getvalue()[-3000:])
    for name, cause in outcomes.failures.items():
        print(f"FAILED: {name}: {cause}")
    counts = outcomes.counts
    print(
        f"passed {counts['passed']}, failed {len(outcomes.failures)}, skipped {counts['skipped']}"
    )
    return int(bool(outcomes.failures))


if __name__ == "__main__":
    sys.exit(main())
