# SPDX-License-Identifier: Apache-2.0
"""The command `python -m headrace lint`."""

from __future__ import annotations

import argparse
import os
import sys
import tokenize
from collections.abc import Iterator, Sequence

from headrace.lint.notebook import check_notebook
from headrace.lint.output import FORMATS
from headrace.lint.rules import RULES, Finding
from headrace.lint.source import check

_ENDINGS = (".py", ".ipynb")
_FOUND, _FAILED = 1, 2


def _files(path: str) -> Iterator[str]:
    """A file, or the Python files and notebooks below a folder, in order."""
    if not os.path.isdir(path):
        yield path
        return
    for folder, folders, names in os.walk(path):
        folders[:] = sorted(
            name
            for name in folders
            if not name.startswith((".", "__pycache__", "node_modules"))
            and not os.path.exists(os.path.join(folder, name, "pyvenv.cfg"))
        )
        yield from (os.path.join(folder, name) for name in sorted(names) if name.endswith(_ENDINGS))


def check_file(path: str) -> list[Finding]:
    """What the rules find in a file; its errors are SyntaxError, ValueError and OSError."""
    if path.endswith(".ipynb"):
        with open(path, encoding="utf-8") as file:
            return check_notebook(file.read(), path)
    with tokenize.open(path) as file:  # in the encoding that the file names
        return check(file.read(), path)


def _codes(text: str) -> tuple[str, ...]:
    codes = tuple(word.strip().upper() for word in text.split(",") if word.strip())
    for code in codes:
        if not any(each.startswith(code) for each in RULES):
            raise argparse.ArgumentTypeError(
                f"no rule begins with {code}; there are HR001 to HR018"
            )
    return codes


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; gives its exit status."""
    parser = argparse.ArgumentParser(
        prog="python -m headrace lint",
        description="Find slow patterns in code for data frames and arrays.",
        epilog="Exit status: 0 nothing found, 1 findings, 2 a file could not be read. "
        "A comment '# noqa: HR001' excuses a line.",
    )
    parser.add_argument("paths", nargs="+", metavar="PATH", help="files, notebooks and folders")
    parser.add_argument("--format", choices=list(FORMATS), default="text", help="text if left out")
    parser.add_argument("--select", type=_codes, default=(), help="only these codes: HR0,HR012")
    parser.add_argument("--ignore", type=_codes, default=(), help="all but these codes")
    options = parser.parse_args(arguments)
    found, failed = [], False
    for path in (file for each in options.paths for file in _files(each)):
        try:
            found += check_file(path)
        except (SyntaxError, ValueError, RecursionError, OSError) as error:
            failed = True
            line = getattr(error, "lineno", None)
            why = error.strerror if isinstance(error, OSError) else error
            print(f"lint: cannot read {path}{f':{line}' if line else ''}: {why}", file=sys.stderr)
    found = [
        each
        for each in found
        if each.code.startswith(options.select or "HR") and not each.code.startswith(options.ignore)
    ]
    sys.stdout.write(FORMATS[options.format](found))
    return _FAILED if failed else _FOUND if found else 0
