#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs SciPy's and scikit-learn's own tests of the array API, from their wheels, on our arrays.

Usage: run_scipy_tests.py [-k WORDS] [--slow] [TARGETS...]: folders or files below scipy/ or
sklearn/, such as scipy/fft/tests; without any, all that the table below names. ``PYTHONPATH`` has
the built package. The tests ask for the module `array_api_strict`; here a module of that name
forwards to `headrace.array_api`. Each target runs in a process of its own. Prints how many tests
pass, fail and are skipped. A failure that a rule of tools/scipy_tests_left_out.txt explains is an
exception. 1 if another counts.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib
import importlib.util
import io
import json
import os
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from headrace.array_api.data_types import Information
from run_sklearn_tests import Outcomes, rules

TOOLS = Path(__file__).resolve().parent
ROOMS = ("fft", "special", "signal", "stats", "ndimage")
TARGETS = (*(f"scipy/{room}/tests" for room in ROOMS), "sklearn/utils/tests/test_array_api.py")


class Alias(ModuleType):
    """The module that the tests ask for, with what array_api_strict has beyond the standard."""

    __version__ = "2.6.1"

    def __getattr__(self, name: str) -> Any:
        import headrace.array_api

        return getattr(headrace.array_api, name)

    @staticmethod
    def set_array_api_strict_flags(api_version: str) -> None:
        """Devices are a list before edition 2025.12, which SciPy asks for."""
        if api_version < "2025.12":
            found = Information().devices()
            Information.devices = lambda _: list(found)  # type: ignore[assignment, return-value]

    @staticmethod
    def Device(_: str) -> str:
        """Our host, whatever device is asked for."""
        return "host"


def run_here(target: str, match: str, slow: bool) -> dict[str, Any]:
    """Run tests in this process."""
    sys.modules["array_api_strict"] = Alias("array_api_strict")
    vars(importlib.import_module("headrace.array_api"))["Device"] = Alias.Device
    spec = importlib.util.find_spec(target.split("/")[0])
    if spec is None or spec.origin is None:
        raise SystemExit(f"{target}: the package is not installed")
    root = Path(spec.origin).parents[1]
    line = ["-q", "-p", "no:cacheprovider", "-p", "no:warnings", "--tb=short", "-c", os.devnull]
    line += ["--rootdir", str(root), "-o", "console_output_style=classic"]
    if target.startswith("scipy"):
        line += ["-m", "array_api_backends" + ("" if slow else " and not slow")]
    line += ["-k", match] if match else []
    outcomes = Outcomes()
    start = time.perf_counter()
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        code = pytest.main([*line, str(root / target)], plugins=[outcomes])
    if code not in (0, 1, 5):
        raise SystemExit(printed.getvalue()[-3000:])
    return {
        "passed": outcomes.counts["passed"],
        "skipped": outcomes.counts["skipped"],
        "seconds": round(time.perf_counter() - start, 1),
        "failures": outcomes.failures,
    }


def run_apart(target: str, options: argparse.Namespace) -> dict[str, Any]:
    """Run tests in a process of their own, with one thread for OpenMP and BLAS."""
    environment = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", **os.environ}
    environment["SCIPY_ARRAY_API"] = '["array_api_strict"]' if target.startswith("scipy") else "1"
    line = [sys.executable, __file__, "--here", target, "-k", options.match]
    line += ["--slow"] if options.slow else []
    run = subprocess.run(line, env=environment, capture_output=True, text=True, check=False)
    if run.returncode:
        raise SystemExit(f"{target}: status {run.returncode}\n{run.stdout}{run.stderr[-3000:]}")
    found: dict[str, Any] = json.loads(run.stdout.splitlines()[-1])
    return found


def main() -> int:
    """Run what is asked for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("targets", nargs="*", help="folders or files; all of the table")
    parser.add_argument("-k", dest="match", default="", help="pytest's expression of names")
    parser.add_argument("--slow", action="store_true", help="tests that SciPy marks as slow too")
    parser.add_argument("--here", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.here:
        print(json.dumps(run_here(options.here, options.match, options.slow)))
        return 0
    known, is_open = rules(TOOLS / "scipy_tests_left_out.txt"), False
    print(f"{'tests of':42} passed  failed  skipped")
    for target in options.targets or TARGETS:
        found = run_apart(target, options)
        failures, reasons = found["failures"], Counter[str]()
        failed = len(failures)
        for rule, reason in known:
            for name in [name for name in failures if rule.search(name)]:
                reasons[reason] += 1
                del failures[name]
        print(
            f"{target:42} {found['passed']:6}  {failed:6}  {found['skipped']:7}  "
            f"{found['seconds']:6.0f} s",
            flush=True,
        )
        for name, cause in failures.items():
            print(f"FAILED: {name}: {cause}", flush=True)
        for reason, count in reasons.items():
            print(f"exceptions: {count}: {reason}", flush=True)
        is_open = is_open or bool(failures)
    return int(is_open)


if __name__ == "__main__":
    sys.exit(main())
