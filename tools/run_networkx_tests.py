#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs NetworkX's own tests, from its installed wheel, through the backend.

``PYTHONPATH`` has the built package. Every function that the backend has takes graphs of any size
here; what it refuses runs in NetworkX. Prints how many tests pass, fail and are skipped, and how
often each function ran. A failure that a rule of tools/networkx_tests_left_out.txt explains is an
exception; others run again without the backend, and count only if they pass then. 1 if one counts.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from run_sklearn_tests import Outcomes, rules

TOOLS = Path(__file__).resolve().parent


def counted() -> Counter[str]:
    """Count the calls of the functions of the backend that come to an end."""
    from headrace.networkx.table import FUNCTIONS

    calls: Counter[str] = Counter()

    def counting(name: str, function: Any) -> Any:
        def called(*arguments: Any, **options: Any) -> Any:
            made = function(*arguments, **options)
            calls[name] += 1
            return made

        return called

    for name, function in FUNCTIONS.items():
        FUNCTIONS[name] = counting(name, function)
    return calls


def main() -> int:
    """Run what is asked for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("targets", nargs="*", help="folders or files below networkx/; all of them")
    parser.add_argument("-k", dest="match", default="", help="pytest's expression of names")
    options = parser.parse_args()
    os.environ |= {"NETWORKX_TEST_BACKEND": "headrace", "NETWORKX_FALLBACK_TO_NX": "True"}
    import networkx

    root = Path(networkx.__file__).parent
    line = ["-q", "-p", "no:cacheprovider", "-p", "no:warnings", "--tb=line", "-c", os.devnull]
    line += ["--rootdir", str(root.parent), *(["-k", options.match] if options.match else [])]
    calls, outcomes = counted(), Outcomes()
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        tests = [str(root / target) for target in options.targets or [""]]
        code = pytest.main([*line, *tests], plugins=[outcomes])
    if code not in (0, 1, 5):
        raise SystemExit(printed.getvalue()[-3000:])
    failures, reasons = outcomes.failures, Counter[str]()
    for rule, reason in rules(TOOLS / "networkx_tests_left_out.txt"):
        for name in [name for name in failures if rule.search(name)]:
            reasons[reason] += 1
            del failures[name]
    if failures:  # those that NetworkX fails alone are not ours
        environment = {k: v for k, v in os.environ.items() if not k.startswith("NETWORKX_")}
        alone = subprocess.run(
            [
                sys.executable,
                "-m",
                "pytest",
                *line,
                "-rA",
                *(f"{root.parent}/{n}" for n in failures),
            ],
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        ).stdout
        for name in [name for name in failures if f"PASSED {name}" not in alone]:
            reasons["fails without the backend too"] += 1
            del failures[name]
    for name, cause in failures.items():
        print(f"FAILED: {name}: {cause}")
    counts = outcomes.counts
    print(f"passed {counts['passed']}, open {len(failures)}, skipped {counts['skipped']}")
    print(
        f"exceptions: {dict(reasons)}\nfunctions: {len(calls)}\n"
        f"calls: {dict(sorted(calls.items()))}"
    )
    return int(bool(failures))


if __name__ == "__main__":
    sys.exit(main())
