#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks the rules that a reader of the tree relies on: rooms, names, sizes, who may touch what."""

from __future__ import annotations

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]

# A room includes rooms of lower rank and itself; rooms of one rank do not see each other.
RANKS = [
    ["base"],
    ["memory"],
    ["exec"],
    ["data"],
    ["algo", "exchange"],
    ["plan"],
    ["io", "frame", "signal", "tensor", "graph", "learn", "plot"],
]
RANK = {room: rank for rank, rooms in enumerate(RANKS) for room in rooms}

FORBIDDEN_NAMES = re.compile(r"(^|_)(utils?|helpers?|common|misc|manager|core)($|_)")
NAME_EXCEPTIONS = {
    "python/headrace/_core.pyi": "the binary module's stub; private by its underscore"
}
MAX_LINES = 800
LONG_FILES = {  # path -> why it may be longer
    "python/headrace/_core.pyi": "generated",
    "python/tests/test_promises.py": "one small test a promise, in the order of the documents",
}
README_LINES = 12

# What only some C++ files may say, outside comments and strings: pattern, where it is allowed,
# what is wrong elsewhere.
ONLY_IN = [
    (
        r"#include\s*<(cuda|cub/|cufft|cublas|nvrtc|thrust)",
        r"_cuda\.(cu|cpp)$|^headrace/data/device_launch\.h$|^bench/",
        "CUDA header outside *_cuda files and what they share",
    ),
    (
        r"#include\s*[<\"](Python\.h|nanobind)",
        r"^python/bind/",
        "Python header outside python/bind",
    ),
    (
        r"\bstd::(thread|jthread|async)\b(?!::)",
        r"^headrace/exec/|_test\.cpp$",
        "thread made outside exec",
    ),
    (
        r"(?<![\w.:>])(?:std::|::)?"
        r"(malloc|calloc|realloc|aligned_alloc|posix_memalign|mmap)\s*\(|\bnew\s+[\w:]+\s*\[",
        r"^headrace/memory/|_test\.cpp$",
        "allocation outside memory",
    ),
    (
        r"#include\s*<iostream>|(?<![\w.:>])(?:std::)?(printf|puts|exit|abort|_exit)\s*\(",
        r"^python/|^examples/|^tools/|^bench/|_(test|bench|fuzz)\.cpp$",
        "printing or exit in the engine",
    ),
]
ANYWHERE = [
    (r"\bTO" + r"DO\b|\bFIX" + r"ME\b", r"^$", "unfinished work: finish it or file it"),
    (r"/(work|home|root|Users)/\w", r"_(test|fuzz)\.cpp$|^python/tests/", "machine path"),
]
INCLUDE = re.compile(r'^\s*#\s*include\s*"(?P<path>[^"]+)"', re.MULTILINE)
NOT_CODE = re.compile(
    r"""(?P<include>^\s*#\s*include[^\n]*)|"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)'|//[^\n]*|/\*.*?\*/""",
    re.DOTALL | re.MULTILINE,
)
CPP = {".h", ".cpp", ".cu"}
FOLDERS = ["headrace", "python", "bench", "examples", "tools"]


def room_of(path: str) -> str | None:
    """Name the room that a file of the engine lives in."""
    parts = path.split("/")
    return parts[1] if parts[0] == "headrace" and len(parts) > 2 else None


def check_includes(path: str, text: str) -> list[str]:
    """Check that a file includes only rooms before its own, and that what it includes is there."""
    problems, room = [], room_of(path)
    for match in INCLUDE.finditer(text):
        target = match["path"]
        if not (ROOT / target).exists():
            problems.append(f'includes "{target}", which is not there (write it from the root)')
        other = room_of(target)
        if room and target.startswith("python/"):
            problems.append(f"the engine includes {target}")
        if room and other and other != room and RANK.get(other, 99) >= RANK.get(room, 99):
            problems.append(f"room {room} may not include room {other} ({target})")
    return problems


def check_file(path: str, text: str) -> list[str]:
    """Check one source file and list what is wrong with it."""
    problems, lines = [], text.splitlines()
    suffix = Path(path).suffix
    first = (
        lines[1] if lines and lines[0].startswith("#!") and len(lines) > 1 else "".join(lines[:1])
    )
    if path not in LONG_FILES and "SPDX-License-Identifier: Apache-2.0" not in first:
        problems.append("the first line is not the SPDX line")
    if len(lines) > MAX_LINES and path not in LONG_FILES:
        problems.append(
            f"{len(lines)} lines, more than {MAX_LINES} and not on the list with a reason"
        )
    parts = [Path(part).stem for part in path.split("/")]
    if path not in NAME_EXCEPTIONS and any(FORBIDDEN_NAMES.search(part) for part in parts):
        problems.append("a name that says nothing (utils, helpers, common, misc, manager, core)")
    if suffix in CPP:
        problems += check_includes(path, text)
        if room_of(path) and room_of(path) not in RANK:
            problems.append(f"unknown room {room_of(path)}")
    code = NOT_CODE.sub(lambda match: match["include"] or "\n" * match[0].count("\n"), text)
    rules = [(rule, code) for rule in ONLY_IN if suffix in CPP] + [
        (rule, text) for rule in ANYWHERE
    ]
    for (pattern, allowed, message), subject in rules:
        if not re.search(allowed, path) and (match := re.search(pattern, subject)):
            line = subject.count("\n", 0, match.start()) + 1
            problems.append(f"{message}: line {line}: {match[0].strip()}")
    return problems


def check_rooms() -> list[str]:
    """Check that each room tells in a short README what lives there."""
    problems = []
    for room in sorted(path for path in (ROOT / "headrace").iterdir() if path.is_dir()):
        readme = room / "README.md"
        if not readme.exists():
            problems.append(f"headrace/{room.name}: no README.md")
        elif len(readme.read_text().splitlines()) > README_LINES:
            problems.append(f"headrace/{room.name}/README.md: more than {README_LINES} lines")
    return problems


def main() -> int:
    """Check the whole tree; print one line a problem."""
    problems = check_rooms()
    files = [
        path for folder in FOLDERS for path in sorted((ROOT / folder).rglob("*")) if path.is_file()
    ]
    for file in [*files, ROOT / "dev", ROOT / "CMakeLists.txt"]:
        path = file.relative_to(ROOT).as_posix()
        if file.suffix in {*CPP, ".py", ".pyi"} or path in ("dev", "CMakeLists.txt"):
            problems += [f"{path}: {problem}" for problem in check_file(path, file.read_text())]
    print("\n".join(problems) or f"layout: {len(files)} files, no problem")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
