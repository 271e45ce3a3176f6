#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Pages of the C++ interface for the documentation site, from the `///` comments of its headers.

A page is a room: the headers that `headrace/headrace.h` includes from it, in that order.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
PUBLIC = ROOT / "headrace/headrace.h"
#: Parts of a class that users cannot see.
HIDDEN = ("private:", "protected:")


class Entry(NamedTuple):
    """A declaration, what its comment says, and the class that it is a member of."""

    code: str
    doc: str
    owner: str


def headers() -> list[Path]:
    """The public headers."""
    return [ROOT / path for path in re.findall(r'#include "(\S+)"', PUBLIC.read_text())]


def purpose(text: str) -> str:
    """What the comment at the top of a header says."""
    lines = text.splitlines()[1:]
    end = next((k for k, line in enumerate(lines) if not line.startswith("// ")), 0)
    return " ".join(line[3:] for line in lines[:end])


def declaration(lines: list[str], first: int) -> tuple[str, int]:
    """A declaration without its body, and the line behind it."""
    code: list[str] = []
    depth, last = 0, first
    for last in range(first, len(lines)):
        line = lines[last]
        depth += line.count("{") - line.count("}")
        if not code or "{" not in code[-1]:
            code.append(line)
        if depth <= 0 and line.rstrip().endswith((";", "}")):
            break
    shown = "\n".join(code)
    head = re.split(r"\s*\{(?![^()]*\))", shown, maxsplit=1)[0] if "{" in shown else shown
    return head.rstrip().rstrip(";").replace("HR_API ", ""), last + 1


def members(lines: list[str], first: int) -> int:
    """The line behind the class that begins at a line."""
    depth = 0
    for k in range(first, len(lines)):
        depth += lines[k].count("{") - lines[k].count("}")
        if depth == 0 and "}" in lines[k]:
            return k + 1
    return len(lines)


def entries(lines: list[str], owner: str = "") -> Iterator[Entry]:
    """The declarations with a comment, members of classes among them."""
    doc: list[str] = []
    at, is_hidden = 0, False
    while at < len(lines):
        line = lines[at].strip()
        if line.startswith("///") and not line.startswith("///<"):
            doc.append(line[3:].strip())
        elif line in HIDDEN:
            is_hidden = True
        elif line == "public:":
            is_hidden = False
        elif opened := re.match(r"(?:class|struct|enum class) (?:HR_API )?(\w+)[^;]*\{$", line):
            end = members(lines, at)
            body = lines[at + 1 : end - 1]
            if not is_hidden:
                is_class = line.startswith("class")
                code = line[:-1].rstrip() if is_class else "\n".join(lines[at:end])
                yield Entry(code.replace("HR_API ", ""), "\n".join(doc), owner)
                if is_class:  # its members are hidden unless it says that they are public
                    begin = next((k for k, each in enumerate(body) if "public:" in each), len(body))
                    yield from entries(body[begin:], opened[1])
            doc, at = [], end
            continue
        elif doc and line and not line.startswith(("//", "#")):
            code, at = declaration(lines, at)
            if not is_hidden:
                yield Entry(code, "\n".join(doc), owner)
            doc = []
            continue
        elif line.startswith(("//", "#")):
            doc = []
        at += 1


def plain(doc: str) -> str:
    """A comment as Markdown: `name` is code already; brackets and stars are not markup."""
    parts = re.split(r"(`[^`]*`)", doc)
    return "".join(p if p.startswith("`") else re.sub(r"([*_<\[\]\\])", r"\\\1", p) for p in parts)


def page_of(room: str, paths: list[Path]) -> str:
    """The page of a room."""
    parts = [
        f"# {room}",
        "",
        "Everything is in `namespace hr`; `headrace/headrace.h` includes all.",
    ]
    for path in paths:
        text = path.read_text()
        found = list(entries(text.partition("namespace hr {")[2].splitlines()))
        if not found:
            continue
        parts += ["", f"## {path.relative_to(ROOT).as_posix()}", "", plain(purpose(text))]
        for entry in found:
            indent = min(
                (len(r) - len(r.lstrip()) for r in entry.code.splitlines() if r), default=0
            )
            code = "\n".join(row[indent:] for row in entry.code.splitlines())
            of = f"Of `{entry.owner}`: " if entry.owner else ""
            parts += ["", "```cpp", code, "```", "", f"{of}{plain(entry.doc)}"]
    return "\n".join(parts) + "\n"


def pages() -> dict[str, str]:
    """The pages by room."""
    rooms: dict[str, list[Path]] = {}
    for path in headers():
        rooms.setdefault(path.relative_to(ROOT).parts[1], []).append(path)
    return {room: page_of(room, paths) for room, paths in rooms.items()}
