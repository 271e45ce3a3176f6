#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes docs/reference/types.md: what operations mean for dtypes, as the engine answers.

Run it with the package, pandas and pyarrow installed: `python tools/make_types.py`. The rules and
result dtypes come from the engine, the exceptions from the test that walks all of them.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import headrace as hr
from headrace import _core

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "python/tests"))
import dtype_walk as walk  # noqa: E402

PAGE = ROOT / "docs/reference/types.md"

#: One dtype of each kind whose results differ.
SHOWN = (
    *("bool", "int8", "int64", "uint64", "float32", "float64", "string", "category", "date"),
    *("datetime64[s]", "datetime64[us]", "datetime64[us, UTC]", "timedelta64[s]"),
    *("timedelta64[us]", "decimal128(15, 2)"),
)
OPERATIONS = ("+", "-", "*", "/", "//", "%", "**", "<", "&", "where", "common")
HEAD = """# Types: what operations mean for dtypes

<!-- Written by tools/make_types.py; do not edit. -->
The engine decides types in one place, the [binder](../design/binder.md): the same for Python and
C++. Dtypes and their memory are in [frame.md](frame.md#dtypes).
"""
NULLS = """
## Nulls
Arithmetic with null is null. Comparisons and tests with null are false, and `!=` is true, as in
pandas' dtypes without nulls. Logic has two rules. *Operators* (`&`, `|`, `~`) are three-valued:
a column of bools with nulls may give null. In *conditions* (`df[mask]`, `where`, `np.where`,
`case_when`, `loc`) null counts as false.
"""
NAMES = """
## Dtypes with nulls by name
pandas' `boolean`, `Int8` to `Int64`, `UInt8` to `UInt64` and `string[pyarrow]` are `bool`,
`int8`, ..., `string` here: all dtypes have nulls, and comparisons with them are false. `Float32`
and `Float64` have no NaN: in `astype` and `hr.Series(dtype=)` it becomes null, and `hr.read_csv`
raises for them. Two differences are the last of the exceptions.
"""
EXCEPTIONS = """
## Exceptions
A test runs each operation on each pair of dtypes and literals, {cases:,} cases: they give what
pandas gives, both raise, or one of these holds. Both null rules are compared with DuckDB, without
exception.
"""


def table(head: Iterable[str], rows: Iterable[Iterable[str]]) -> list[str]:
    """A Markdown table."""
    lines = [list(head), *map(list, rows)]
    shown = ["| " + " | ".join(line) + " |" for line in lines]
    return [shown[0], "|" + "---|" * len(lines[0]), *shown[1:]]


def code(text: str) -> str:
    """The text as code, if there is any."""
    return f"`{text}`" if text else ""


def dtype_of(run: Callable[[], Any]) -> str:
    """The dtype of a lazy result; empty if it raises."""
    try:
        made = run()
    except (hr.Error, TypeError):
        return ""
    return str(made.dtype) if isinstance(made, hr.Series) else ""


def results() -> list[list[str]]:
    """Pairs of dtypes with the dtypes that result, symmetric ones once."""
    columns = {dtype: hr.Series(walk.values_of(dtype, 0), dtype=dtype) for dtype in SHOWN}

    def row(left: str, right: str) -> list[str]:
        sides = columns[left], columns[right]
        runs = {**walk.BINARY, "common": lambda *both: hr.concat(both)}
        return [dtype_of(lambda op=op: runs[op](*sides)) for op in OPERATIONS]

    made = []
    for place, left in enumerate(SHOWN):
        for right in SHOWN[place:]:
            there, back = row(left, right), row(right, left)
            if any(there):
                made.append([code(left), code(right), *map(code, there)])
            if any(back) and back != there:
                made.append([code(right), code(left), *map(code, back)])
    return made


def null_rows() -> list[list[str]]:
    """The results of both rules for a missing operand."""
    truth = hr.Series([None, None, None], dtype="bool")
    number, other = hr.Series([None] * 3, dtype="int64"), hr.Series([1, 1, 1])
    known = hr.Series([True, False, None])
    shown = {
        "null `<` 1": ("less", number, other),
        "null `!=` 1": ("not_equal", number, other),
        "null and true, false, null": ("bitwise_and", truth, known),
        "null or true, false, null": ("bitwise_or", truth, known),
        "not null": ("invert", truth),
        "`where` null, 1, 2": ("where", truth, other, other * 2),
    }
    rows = []
    for words, (op, *values) in shown.items():
        row = [words]
        for rule in (False, True):
            found = values[0]._elementwise(op, *values, missing_is_false=rule).to_list()
            found = found if "," in words and op != "where" else found[:1]
            row.append(", ".join("null" if v is None else str(v).lower() for v in found))
        rows.append(row)
    return rows


def page() -> str:
    """The text of docs/reference/types.md."""
    rules = [[code(rule[0]), *rule[1:]] for rule in _core.bind_rules()]
    cases = sum(1 for _ in walk.cases())
    exempt = (*walk.EXCEPTIONS, *walk.NULLABLE_EXCEPTIONS)
    lines = [
        HEAD,
        "## Rules",
        "The first row that lists the operation and both kinds holds; other pairs raise.",
        "Categories are strings. Numbers with numbers follow NumPy's promotion.",
        "",
        *table(("operation", "left", "right", "computed with", "cast", "result"), rules),
        NULLS,
        *table(("", "operators", "conditions"), null_rows()),
        NAMES,
        "## Keys, and rows put together",
        "Rows put together by `concat` have the dtype that the table below calls common, and so",
        "have the keys of `merge` and `isin`; but there times of any unit and zone compare as",
        "instants, and decimals next to floats as float64.",
        "",
        "## Results",
        "No entry: it raises. All comparisons are as `<`, `|` and `^` as `&`. A literal of time",
        "or duration has the coarsest unit that holds it, so a column keeps its unit; in pandas it",
        "has the unit of its type, microseconds for Python's. Decimals get the digits that values",
        "need.",
        "",
        *table(("left", "right", *map(code, OPERATIONS[:-1]), "common"), results()),
        EXCEPTIONS.format(cases=cases),
        *(f"{number}. {each.text}" for number, each in enumerate(exempt, 1)),
    ]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    PAGE.write_text(page())
