#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks the types of the Python package: its own code, its stub against the engine, and its API.

mypy checks the code, stubtest compares stubs and annotations with the modules at run time, and
basedpyright counts the public names of known type. ``PYTHONPATH`` has the built package.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]

#: The least share of public names whose type is known.
LEAST_KNOWN = 0.99

# What stubtest reports and is right nonetheless; an entry matches a whole line. No entry matches a
# name of the binary module that is missing from its stub, or from the engine.
ALLOWED = (
    # The binding's functions are objects of its own; their signatures come from the engine.
    r"headrace\._core\.\S+ is not a function",
    # The binding's classes, and those that derive from them, have its metaclass `nb_type`.
    r"headrace\.\S+ is inconsistent, metaclass differs",
    # Its classes are laid out in C++, which the generated stub does not say.
    r"headrace\._core\.\w+ is a disjoint base at runtime, but isn't marked with "
    r"@disjoint_base in the stub",
    # A class that only the engine makes inherits `object.__init__`.
    r"headrace\._core\.\w+\.__init__ is inconsistent, stub does not have \*args parameter \"args\"",
    # Types that exist for type checkers alone: those of `Deferred` are written by its subclasses.
    r"headrace\.\S+\.(Across|Axes|Color|Columns|Floats|Function|Integers|Layout|Numbers|Origin|Shape"
    r"|Sources?|Values|torch|xgboost) is not present at runtime",
    r"headrace\.signal\.\w+\.(Complexes|DetrendOption|Mode|Output|Roots|Samples|Scaling|Taps"
    r"|Window) is not present at runtime",
    r"headrace\.learn\.[\w.]+\.(Batches@\d+|Candidate|Labels|Numbers|Places|Scores) is not "
    r"present at runtime",
    r"headrace\.lazy\.handle\.Deferred\.(astype|copy) is not present at runtime",
    r"headrace\._first_use\.<callable subtype of object>\d* is not present at runtime",
    # Subclasses of int and tuple, and functions that a decorator gives one signature.
    r"headrace\.rows\._(Parts|Whole) is a disjoint base at runtime, .*",
    r"headrace\.sklearn\.loops\.\w+ is inconsistent, .*\"(__arg0|theirs)\".*",
    # An alias of `Literal` with several values is a union for mypy.
    r"headrace\.\S+\.(Advice|Device|NaPosition|Norm) is not a Union",
    # A function in a cache takes any arguments at run time.
    r"headrace\.(array\.array_function\._takes|frame\.export\._matrix_dtype|lazy\.traceable\._names_of|learn\.base\._both"
    r"|learn\.base\._requester|networkx\.table\._signature|plot\.letters\._table"
    r"|linalg\.products\._order_of_shapes|provenance\.sources\._generator"
    r"|series\.column_values\._domain_of|series\.timezone\._know"
    r"|zone_names\.zone_of) is inconsistent, .*",
    # Fields of a structure of ctypes are attributes that it makes.
    r"headrace\.learn\.boost\._ArrowArray\.(_fields_ variable differs from runtime type .*"
    r"|\w+ is not present in stub)",
    # The decorator shows each option; overloads have them as `Unpack[CsvOptions]`.
    r"headrace\.io\.csv\.read_csv is inconsistent, stub does not have parameter .*",
    # Modules that are imported for type checkers alone.
    r"headrace\.interop\.ibis\.(ir|ops) is not present at runtime",
    # Without an argument these ask for a setting, which is an overload of its own.
    r"headrace\.(memory\.log\.trace|provenance\.policy\.policy|settings\.device"
    r"|settings\.threads) is inconsistent, runtime "
    r"parameter \"\w+\" has a default value of type None, .*",
    # The operators of traced values and of rows are set in a loop.
    r"headrace\.(groupby\.tracing\._Value|lazy\.tracing\.Traced|rows\.Row)\.__\w+__ is not present "
    r"in stub",
    r"headrace\.lazy\.query_values\._FIELDS variable differs from runtime type .*",
    # Fields of times are properties of a table.
    r"headrace\.series\.\w+\.(Time|Duration)Accessor\.\w+ is read-only at runtime but not in "
    r"the stub",
    # The engine itself is a library without a Python module.
    r"headrace\.libheadrace failed to find stubs",
)


def output_of(*words: str) -> tuple[int, str]:
    """Exit status and output of a program of the environment."""
    done = subprocess.run(words, cwd=ROOT, stdout=subprocess.PIPE, text=True)
    return done.returncode, done.stdout


def check_code() -> list[str]:
    """Check the package with mypy."""
    status, text = output_of("mypy")
    return text.splitlines() if status else []


def differences(text: str) -> list[str]:
    """The lines of stubtest that no entry of `ALLOWED` explains."""
    allowed = re.compile("|".join(f"(?:{each})" for each in ALLOWED))
    return [line for line in text.splitlines() if line and not allowed.fullmatch(line)]


def check_stubs() -> list[str]:
    """Compare stubs and annotations with the modules at run time."""
    options = ("--concise", "--mypy-config-file", "pyproject.toml")
    status, text = output_of("stubtest", "headrace", *options)
    found = differences(text)
    return found or ([] if text or not status else [f"stubtest: exit status {status}"])


def check_public() -> list[str]:
    """Check that the types of enough public names are known."""
    options = ("--verifytypes", "headrace", "--ignoreexternal", "--outputjson")
    _, text = output_of("basedpyright", "--pythonpath", sys.executable, *options)
    found = json.loads(text)["typeCompleteness"]
    known = found["completenessScore"]
    print(f"types: {known:.2%} of the public names known")
    if known >= LEAST_KNOWN:
        return []
    unknown = [
        f"{each['name']}: type unknown"
        for each in found["symbols"]
        if each["isExported"] and not each["isTypeKnown"]
    ]
    return [*unknown, f"types known: {known:.2%}, expected at least {LEAST_KNOWN:.0%}"]


def main() -> int:
    """Run all checks; print one line per problem."""
    checks = (check_code, check_stubs, check_public)
    with ThreadPoolExecutor() as pool:  # each waits for a program of one thread
        problems = [line for found in pool.map(lambda check: check(), checks) for line in found]
    if problems:
        print("\n".join(problems))
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
