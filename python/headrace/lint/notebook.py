# SPDX-License-Identifier: Apache-2.0
"""Check the cells of a notebook as one program: names of earlier cells are known in later ones."""

from __future__ import annotations

import ast
import json
from bisect import bisect_right

from headrace.lint.rules import Finding
from headrace.lint.source import check

#: Cell magics whose cell is Python.
_PYTHON_CELLS = ("%%time", "%%timeit", "%%capture", "%%prun", "%%hrprofile", "%%python")


def _python(cell: str) -> str:
    """A cell without what only IPython knows; its lines keep their numbers."""
    lines = cell.split("\n")
    if lines[0].startswith("%%"):
        if lines[0].split()[0] not in _PYTHON_CELLS:
            return "\n" * (len(lines) - 1)
        lines[0] = ""
    for at, line in enumerate(lines):
        word = line.lstrip()
        if word.startswith(("%", "!", "?")) or word.rstrip().endswith("?"):
            lines[at] = line[: len(line) - len(word)] + "pass"
    text = "\n".join(lines)
    try:
        ast.parse(text)
    except SyntaxError:
        return "\n" * (len(lines) - 1)
    return text


def check_notebook(text: str, path: str) -> list[Finding]:
    """What the rules find in a notebook's cells of Python, by cell and line.

    Cells that are no Python (other languages, unfinished code) are left out.

    Raises
    ------
    ValueError
        If the text is no notebook.
    """
    try:
        cells = json.loads(text)["cells"]
        sources = {
            at: each["source"] if isinstance(each["source"], str) else "".join(each["source"])
            for at, each in enumerate(cells, 1)
            if each["cell_type"] == "code"
        }
    except (KeyError, TypeError) as error:
        raise ValueError("the file is no notebook of format 4") from error
    numbers, starts, parts = list(sources), [], []
    line = 1
    for source in sources.values():
        part = _python(source)
        parts.append(part)
        starts.append(line)
        line += part.count("\n") + 1
    found = []
    for each in check("\n".join(parts), path):
        at = bisect_right(starts, each.line) - 1
        before = starts[at] - 1
        found.append(
            each._replace(
                line=each.line - before, end_line=each.end_line - before, cell=numbers[at]
            )
        )
    return found
