# SPDX-License-Identifier: Apache-2.0
"""The rules as a plug-in of flake8, under the codes HR001 to HR018."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from headrace.lint.source import check


class Plugin:
    """What flake8 makes for each file."""

    name = "headrace-lint"
    version = "1"

    def __init__(self, tree: ast.AST, lines: list[str], filename: str = "") -> None:
        self._text, self._path = "".join(lines), filename

    def run(self) -> Iterator[tuple[int, int, str, type]]:
        """Line, column from 0, and message of each finding."""
        for each in check(self._text, self._path):
            yield each.line, each.column - 1, f"{each.code} {each.message}", type(self)
