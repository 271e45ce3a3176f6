# SPDX-License-Identifier: Apache-2.0
"""Findings as lines, JSON, SARIF, or annotations of GitHub."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from headrace.lint.rules import RULES, Finding

_PAGE = "docs/reference/lint.md"


def as_text(found: list[Finding]) -> str:
    """One line a finding."""
    return "".join(f"{each.place}: {each.code} {each.message}\n" for each in found)


def as_json(found: list[Finding]) -> str:
    """A list of objects."""
    return json.dumps([each._asdict() for each in found], indent=1) + "\n"


def _result(each: Finding, codes: list[str]) -> dict[str, Any]:
    from pathlib import PurePath  # these load much, and other formats need neither
    from urllib.parse import quote

    path = PurePath(each.path)
    uri = path.as_uri() if path.is_absolute() else quote(path.as_posix())
    region = {
        "startLine": each.line,
        "startColumn": each.column,
        "endLine": each.end_line,
        "endColumn": each.end_column,
    }
    place: dict[str, Any] = {
        "physicalLocation": {"artifactLocation": {"uri": uri}, "region": region}
    }
    if each.cell:
        place["logicalLocations"] = [{"name": f"cell {each.cell}"}]
    return {
        "ruleId": each.code,
        "ruleIndex": codes.index(each.code),
        "level": _level(each.code),
        "message": {"text": each.message},
        "locations": [place],
    }


def _level(code: str) -> str:
    return "note" if RULES[code].is_advice else "warning"


def as_sarif(found: list[Finding]) -> str:
    """SARIF 2.1.0, as code scanning reads it."""
    codes = list(RULES)
    rules = [
        {
            "id": code,
            "shortDescription": {"text": f"{rule.title}; {rule.fix}"},
            "defaultConfiguration": {"level": _level(code)},
            "help": {"text": f"See {_PAGE}."},
        }
        for code, rule in RULES.items()
    ]
    run = {
        "tool": {"driver": {"name": "headrace-lint", "rules": rules}},
        "columnKind": "unicodeCodePoints",
        "results": [_result(each, codes) for each in found],
    }
    schema = "https://json.schemastore.org/sarif-2.1.0.json"
    return json.dumps({"$schema": schema, "version": "2.1.0", "runs": [run]}, indent=1) + "\n"


def _escaped(text: str, of_property: bool = False) -> str:
    for plain in "%\r\n:," if of_property else "%\r\n":
        text = text.replace(plain, f"%{ord(plain):02X}")
    return text


def as_github(found: list[Finding]) -> str:
    """Workflow commands, which GitHub shows at the lines of a pull request."""
    lines = []
    for each in found:
        cell = f"cell {each.cell}: " if each.cell else ""
        where = f"file={_escaped(each.path, True)},line={each.line},endLine={each.end_line}"
        if each.line == each.end_line:
            where += f",col={each.column},endColumn={each.end_column}"
        level = "notice" if RULES[each.code].is_advice else "warning"
        lines.append(f"::{level} {where},title={each.code}::{_escaped(cell + each.message)}\n")
    return "".join(lines)


FORMATS: dict[str, Callable[[list[Finding]], str]] = {
    "text": as_text,
    "json": as_json,
    "sarif": as_sarif,
    "github": as_github,
}
