# SPDX-License-Identifier: Apache-2.0
"""Check the text of a file: only what may hold a finding is parsed, and `noqa` is heeded."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable

from headrace.lint import expressions, loops, scopes
from headrace.lint.checker import Check, Checker, Found
from headrace.lint.rules import Finding

_CHECKS: dict[type, list[Check]] = {}
for _part in (loops.CHECKS, expressions.CHECKS, scopes.CHECKS):
    for _kind, _checks in _part.items():
        _CHECKS.setdefault(_kind, []).extend(_checks)

#: Cheap tests that decide whether code is parsed: words that a finding contains, and a pattern that
#: must match near the word, from the start of its line to `_REACH` characters after it.
_SIGNS = [
    ("iterrows( itertuples( iter_rows(", ""),
    (
        ".append( concat( concatenate( np.append( stack(",
        r"([\w.]+)\s*=\s*(?:\1\.append\(|[\w.]+\([^=)]{0,200}?\b\1\b)",
    ),
    ("merge( merge_asof( merge_ordered(", r"([\w.]+)\s*=\s*(?:\1\.merge|[\w.]*\(\s*\1\b)"),
    (".join(", r"([\w.]+)\s*=\s*\1\.join\("),
    (".apply(", r"\.apply\([^=]{1,300}[^=]*axis\s*=\s*(?:1|[\"']columns)"),
    (
        ".apply( .agg( .aggregate( .transform(",
        r"\.\w+\(\s*(?:lambda|(?:np|numpy)\.|(?:len|sum|min|max|any|all)\s*[,)])",
    ),
    (".iloc[ .iat[", r"\.i(?:loc|at)\[[A-Za-z_]\w*(?: [-+] \d+)?[\],]"),
    (".index: .index] .index)", r"for \w+ in \w+\.index"),
    ("].item()", ""),
    ("float( int(", r"\b(?:float|int)\(\w+\[[A-Za-z]\w*(?: [-+] \d+)?\]\)"),
    ("][ ].loc[ ].iloc[ ].at[ ].iat[", r"\][^\n]*\[[^\n]*\]\s*[-+*/]?=[^=]"),
    ("inplace", r"inplace\s*=\s*True"),
    ("to_pandas(", ""),
    (".values .to_numpy()", r"(?:DataFrame|Series)\(\s*[\w.\[\]\"']+\.(?:values|to_numpy)\b"),
    (".sort_values( .sort(", r"\)\s*(?:\.head\(|\.tail\(|\.iloc\[|\[[^\n]*:)"),
    ("len(", r"\blen\([\w.]+\[(?:[^\]\n]*[<>!=]|~?[A-Za-z]\w*\]\))"),
    ("].shape[0]", ""),
    ("==~None !=~None None~== None~!=", ""),
    ("nan~== nan~!= ==~np.nan !=~np.nan ==~nan !=~nan ==~math.nan !=~math.nan", ""),
    ("==~float( !=~float(", r"float\([\"']nan"),
    ("read_csv( read_table( read_parquet( read_json( read_ipc( read_feather(", r"\.read_|= read_"),
    ("map(", r"\bmap\(\s*\w+\.read_"),
    ("torch.tensor(", ""),
    (".sample(", ""),
    ("000000 000_000 e6 e7 e8 e9 10**", r"[\d_](?:000000|000_000|e[6-9])\b|10\*\*"),
]
_WORDS = [([w.replace("~", " ") for w in words.split()], sign) for words, sign in _SIGNS]
#: How many characters after its word a pattern may reach.
_REACH = 400
_TOP = re.compile(r"^(?:@|def |class |async def )", re.MULTILINE)
_METHOD = re.compile(r"^    (?:@|def |async def |class )", re.MULTILINE)
_NAMED_FUNCTION = re.compile(r"\.apply\((\w+),\s*axis=")
_NOQA = re.compile(r"#\s*noqa(?P<codes>:\s*[A-Z]+[0-9]+(?:[,\s]+[A-Z]+[0-9]+)*)?", re.IGNORECASE)


def _cut(text: str, pattern: re.Pattern[str]) -> list[int]:
    """Where parts begin; a definition begins at its first decorator."""
    starts, in_decorators = [0], False
    for match in pattern.finditer(text):
        if not in_decorators and match.start():
            starts.append(match.start())
        in_decorators = match.group().endswith("@")
    return starts


def _is_closed(part: str) -> bool:
    """Whether no string of several lines begins in this part and ends in another."""
    return not part.count('"""') % 2 and not part.count("'''") % 2


def _kept(text: str, places: list[int], pattern: re.Pattern[str]) -> str | None:
    """The text with parts that hold none of the places made blank, the first excepted."""
    starts = _cut(text, pattern)
    parts = []
    left = iter(places)
    place = next(left, len(text))
    for start, end in zip(starts, [*starts[1:], len(text)], strict=True):
        part = text[start:end]
        if not _is_closed(part):
            return None
        within = []
        while place < end:
            within.append(place - start)
            place = next(left, len(text))
        if within and part.startswith("class ") and pattern is _TOP:
            part = _kept(part, within, _METHOD) or part
        elif start and not within:
            part = "\n" * part.count("\n")
        parts.append(part)
    return "".join(parts)


def _signs(text: str) -> list[int]:
    """Where something is written that a rule may find."""
    places: set[int] = set()
    for words, sign in _WORDS:
        for word in words:
            at = text.find(word)
            if at < 0:
                continue
            pattern = re.compile(sign)  # kept by `re`; most files need few
            while at >= 0:
                begin = text.rfind("\n", 0, at) + 1
                if not sign or pattern.search(text, begin, at + _REACH):
                    places.add(at)
                at = text.find(word, at + len(word))
    if "headrace" in text:
        places.update(match.start() for match in re.finditer(r"\.to_numpy\(", text))
    for match in _NAMED_FUNCTION.finditer(text) if ".apply(" in text else ():
        places.add(text.find(f"def {match[1]}(") + 1)
    return sorted(places)


def _parse(text: str, places: list[int]) -> ast.Module:
    """The parts of a file that may hold a finding; all of it where they cannot be told apart."""
    if kept := _kept(text, places, _TOP):
        try:
            return ast.parse(kept)
        except SyntaxError:
            pass
    return ast.parse(text)


def _is_excused(lines: list[str], found: Found) -> bool:
    node = found.node
    for line in lines[node.lineno - 1 : node.end_lineno]:  # type: ignore[attr-defined]
        if match := _NOQA.search(line) if "#" in line else None:
            codes = match["codes"]
            if not codes or found.code in codes.upper():
                return True
    return False


def _character(lines: list[str], line: int, offset: int) -> int:
    """The column of a byte's offset, counted from 1."""
    text = lines[line - 1]
    return offset + 1 if text.isascii() else len(text.encode()[:offset].decode()) + 1


def check(text: str, path: str) -> list[Finding]:
    """What the rules find in Python source, by place.

    Raises
    ------
    SyntaxError
        If the source, or what the rules need of it, is not Python.
    """
    places = _signs(text)
    if not places:
        return []
    found = Checker(_parse(text, places), text, _CHECKS).run()
    lines = text.split("\n") if found else []
    return sorted(set(_findings(found, lines, path)))


def _findings(found: list[Found], lines: list[str], path: str) -> Iterable[Finding]:
    for each in found:
        if _is_excused(lines, each):
            continue
        node: ast.expr = each.node  # type: ignore[assignment]
        end = node.end_lineno or node.lineno
        yield Finding(
            path,
            node.lineno,
            _character(lines, node.lineno, node.col_offset),
            end,
            _character(lines, end, node.end_col_offset or 0),
            each.code,
            each.message,
        )
