#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that documents match the tree: links, names of files, C++ blocks that are tested code.

A C++ block in Markdown follows a line `<!-- docs: name -->` and is a copy of the region between
`// docs: name` and `// docs: end` in a test or an example. Python blocks are run by pytest.
"""

from __future__ import annotations

import re
import sys
import textwrap
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
REGION = re.compile(
    r"^[ ]*// docs: (?P<name>(?!end\b)[\w-]+)\n(?P<code>.*?)^[ ]*// docs: end$", re.M | re.S
)
BLOCK = re.compile(
    r"(?:^<!-- docs: (?P<name>[\w-]+) -->\n+)?^```cpp\n(?P<code>.*?)^```$", re.M | re.S
)
FENCE = re.compile(r"^```.*?^```$", re.M | re.S)
SOURCE = re.compile(r"(?<![\w/.])(?:headrace|python|tools|bench)/[\w/]+\.(?:h|cpp|cu|py)\b")
LINK = re.compile(r"\]\((?P<target>[^)#\s]+)(?:#[^)]*)?\)")


def regions() -> dict[str, str]:
    """Collect the marked regions of tests and examples."""
    files = [*(ROOT / "headrace").rglob("*_test.cpp"), *(ROOT / "examples").rglob("*.cpp")]
    found = (match for file in files for match in REGION.finditer(file.read_text()))
    return {match["name"]: textwrap.dedent(match["code"]) for match in found}


def check_page(page: Path, tested: dict[str, str]) -> list[str]:
    """Check one Markdown page and list its problems."""
    problems, text = [], page.read_text()
    for match in LINK.finditer(FENCE.sub("", text)):
        target = match["target"]
        if not re.match(r"[a-z]+:", target) and not (page.parent / target).exists():
            problems.append(f"the link to {target} leads nowhere")
    for path in sorted(set(SOURCE.findall(text))):
        if not (ROOT / path).exists():
            problems.append(f"no such file: {path}")
    for match in BLOCK.finditer(text):
        line, name = text.count("\n", 0, match.start()) + 1, match["name"]
        if name is None:
            problems.append(f"line {line}: a C++ block without <!-- docs: name --> before it")
        elif name not in tested:
            problems.append(f"line {line}: no region '// docs: {name}' in a test or an example")
        elif match["code"] != tested[name]:
            problems.append(f"line {line}: the block differs from the region '{name}'")
    return [f"{page.relative_to(ROOT)}: {problem}" for problem in problems]


def main() -> int:
    """Check every page; print one line per problem."""
    folders = ("docs", "headrace", "examples", "bench", "testdata", "python")
    pages = [
        *ROOT.glob("*.md"),
        *(page for folder in folders for page in (ROOT / folder).rglob("*.md")),
    ]
    tested = regions()
    problems = [problem for page in sorted(pages) for problem in check_page(page, tested)]
    print("\n".join(problems) or f"docs: {len(pages)} pages, no problem")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
