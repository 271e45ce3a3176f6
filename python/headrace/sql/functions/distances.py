# SPDX-License-Identifier: Apache-2.0
"""Distances and similarities of two strings."""

from __future__ import annotations

from collections.abc import Callable

from headrace import _core
from headrace.sql.functions.arguments import of_constants
from headrace.sql.values import Operand

ByName = Callable[[list[Operand], _core.Node], Operand]


def _levenshtein(a: str, b: str) -> int:
    before = list(range(len(b.encode()) + 1))
    other = b.encode()
    for i, x in enumerate(a.encode(), 1):
        row = [i]
        for j, y in enumerate(other, 1):
            row.append(min(before[j] + 1, row[-1] + 1, before[j - 1] + (x != y)))
        before = row
    return before[-1]


def _damerau_levenshtein(a: str, b: str) -> int:
    """With swaps of neighbours, between which others may be put in or taken out."""
    one, other = a.encode(), b.encode()
    most = len(one) + len(other)
    table = [[most] * (len(other) + 2) for _ in range(len(one) + 2)]
    for i in range(len(one) + 1):
        table[i + 1][1] = i
    for j in range(len(other) + 1):
        table[1][j + 1] = j
    last_rows: dict[int, int] = {}
    for i, x in enumerate(one, 1):
        last_column = 0
        for j, y in enumerate(other, 1):
            row, column = last_rows.get(y, 0), last_column
            if x == y:
                last_column = j
            table[i + 1][j + 1] = min(
                table[i][j] + (x != y),
                table[i + 1][j] + 1,
                table[i][j + 1] + 1,
                table[row][column] + (i - row - 1) + 1 + (j - column - 1),
            )
        last_rows[x] = i
    return table[-1][-1]


def _hamming(a: str, b: str) -> int:
    if len(a) != len(b) or not a:
        raise ValueError
    return sum(x != y for x, y in zip(a, b, strict=True))


def _jaccard(a: str, b: str) -> float:
    if not a or not b:
        raise ValueError
    one, other = set(a), set(b)
    return len(one & other) / len(one | other)


def _jaro(a: str, b: str) -> float:
    """Shared bytes that are near to each other, and how many of them change places."""
    one, other = a.encode(), b.encode()
    reach = max(0, max(len(one), len(other)) // 2 - 1)
    taken = [False] * len(other)
    mine = []
    for i, x in enumerate(one):
        for j in range(max(0, i - reach), min(len(other), i + reach + 1)):
            if not taken[j] and other[j] == x:
                taken[j] = True
                mine.append(x)
                break
    if not mine:
        return 0.0
    theirs = [y for y, found in zip(other, taken, strict=True) if found]
    swaps = sum(x != y for x, y in zip(mine, theirs, strict=True)) // 2
    count = len(mine)
    return (count / len(one) + count / len(other) + (count - swaps) / count) / 3.0


def _jaro_winkler(a: str, b: str) -> float:
    """More for strings that begin alike."""
    made = _jaro(a, b)
    if made <= 0.7:
        return made
    prefix = 0
    for x, y in zip(a.encode()[:4], b.encode()[:4], strict=False):
        if x != y:
            break
        prefix += 1
    return made + prefix * 0.1 * (1.0 - made)


def _from(similarity: Callable[[str, str], float]) -> Callable[..., float]:
    """0 for less than a third argument."""

    def made(a: str, b: str, least: float = 0.0) -> float:
        found = similarity(a, b)
        return found if found >= float(least) else 0.0

    return made


BY_NAME: dict[str, ByName] = {
    "levenshtein": of_constants("LEVENSHTEIN", "int64", _levenshtein),
    "editdist3": of_constants("EDITDIST3", "int64", _levenshtein),
    "damerau_levenshtein": of_constants("DAMERAU_LEVENSHTEIN", "int64", _damerau_levenshtein),
    "hamming": of_constants("HAMMING", "int64", _hamming),
    "mismatches": of_constants("MISMATCHES", "int64", _hamming),
    "jaccard": of_constants("JACCARD", "float64", _jaccard),
    "jaro_similarity": of_constants("JARO_SIMILARITY", "float64", _from(_jaro)),
    "jaro_winkler_similarity": of_constants(
        "JARO_WINKLER_SIMILARITY", "float64", _from(_jaro_winkler)
    ),
}
