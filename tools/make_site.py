#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Builds the documentation site: `make_site.py FOLDER` writes FOLDER/html; warnings are errors.

The pages are those of `docs`, with the C++ interface and the benchmarks added. Nothing in the site
needs a network: its search runs in the page.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import draw_results
import make_cpp_api

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"
LINK = re.compile(r"(?P<image>!?)\[(?P<words>[^\]]*)\]\((?P<target>[^)\s]+)\)")
FENCED = re.compile(r"(^```.*?^```$)", re.M | re.S)
#: Parts of the site: title, and the pages by pattern.
PARTS = (
    ("Guide", ("guide/first-ten-minutes", "guide/coming-from-*", "guide/*")),
    ("Reference", ("reference/frame", "reference/io", "reference/*")),
    ("Python API", ("reference/api/*",)),
    ("C++ API", ("cpp/*",)),
    ("Design", ("architecture", "design/*", "glossary", "licences")),
    ("Benchmarks", ("benchmarks/README", "benchmarks/*")),
)


def for_site(page: Path, text: str) -> str:
    """A page of `docs`; links to files that the site does not have become their names."""

    def link(match: re.Match[str]) -> str:
        target = match["target"].partition("#")[0]
        if match["image"] or not target or re.match(r"[a-z]+:", target):
            return match[0]
        there = Path(os.path.normpath(page.parent / target))
        if there.is_dir() and there.is_relative_to(DOCS):
            return match["words"] if there != DOCS / "design" else "[design](design/csv.md)"
        if there.is_relative_to(DOCS):
            return match[0]
        name, words = there.relative_to(ROOT).as_posix(), match["words"]
        return f"`{name}`" if words.strip("`") in name else f"{words} (`{name}`)"

    parts = FENCED.split(text)
    parts[::2] = [LINK.sub(link, part) for part in parts[::2]]
    return "".join(parts).replace("```output\n", "```text\n")


def contents(source: Path) -> str:
    """The tables of contents, which also order the pages."""
    seen: set[str] = set()
    lines = []
    for title, patterns in PARTS:
        lines += ["", "```{toctree}", ":hidden:", ":maxdepth: 1", f":caption: {title}", ""]
        for pattern in patterns:
            found = sorted(
                source.glob(f"{pattern}.md"), key=lambda each: (each.stem != "README", each)
            )
            names = [each.relative_to(source).with_suffix("").as_posix() for each in found]
            lines += [name for name in names if name not in seen]
            seen |= set(names)
        lines.append("```")
    return "\n".join(lines)


def collect(source: Path) -> None:
    """Write all pages into a folder."""
    shutil.rmtree(source, ignore_errors=True)
    for path in sorted(DOCS.rglob("*")):
        to = source / path.relative_to(DOCS)
        if path.is_file():
            to.parent.mkdir(parents=True, exist_ok=True)
            if path.suffix == ".md":
                to.write_text(for_site(path, path.read_text()))
            else:
                shutil.copyfile(path, to)
    (source / "cpp").mkdir()
    for room, text in make_cpp_api.pages().items():
        (source / f"cpp/{room}.md").write_text(text)
    names = draw_results.write(source / "benchmarks")
    method = for_site(ROOT / "bench/README.md", (ROOT / "bench/README.md").read_text())
    lists = "\n".join(f"- [{name}]({name}.md)" for name in names)
    (source / "benchmarks/README.md").write_text(f"{method}\n## Measurements\n\n{lists}\n")
    (source / "README.md").rename(source / "index.md")
    index = (source / "index.md").read_text()
    more = "| [benchmarks](benchmarks/README.md) | how they are measured, and all of them |\n"
    more += "| [C++](cpp/frame.md) | the C++ interface, by room |\n"
    begin, end = index.split("\n\nEvery Python block")
    (source / "index.md").write_text(
        f"{begin}\n{more}\nEvery Python block{end}\n{contents(source)}\n"
    )


def main(folder: str) -> int:
    """Collect the pages and build the site."""
    out = Path(folder)
    collect(out / "source")
    command = [sys.executable, "-m", "sphinx", "-q", "-W", "--keep-going", "-b", "html"]
    return subprocess.run(
        [*command, "-d", out / "doctrees", out / "source", out / "html"]
    ).returncode


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
