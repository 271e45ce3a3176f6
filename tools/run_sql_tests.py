#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the queries of sqllogictest files on `hr.sql` and compares them with DuckDB or the file.

    tools/run_sql_tests.py [--sqlite] [--record FILE] PATH ...

The files are those of DuckDB's `test/sql` and of SQLite's sqllogictest, which are not part of this
project. Statements run in DuckDB; tables that a query names come over as Arrow. A query of DuckDB's
files must give the rows that DuckDB gives; one of SQLite's (--sqlite) those of the file. Queries
with types that the engine has not, estimates (`approx_quantile`), and those not over tables
(sequences, catalogs, macros of the file, chance, row numbers of storage) are counted apart. It
prints how many are equal, how many are refused, by word, and each wrong answer; exit status 1 for
these.
"""

from __future__ import annotations

import argparse
import collections
import contextlib
import datetime
import decimal
import hashlib
import json
import math
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import duckdb

import headrace as hr

#: Settings of DuckDB that change what queries mean, and columns that remember a collation.
SETTINGS = (
    r"regex_match_operator|default_(null_)?order|default_collation|integer_division|scalar_sub"
    r"|\bcollate\b"
)

#: What makes or reads states of aggregates, a type of DuckDB's own.
STATES = r"\b(export_state|finalize|combine|combine_aggr|to_aggregate_state)\b"


#: What a query reads that is neither a table nor a value: sequences, catalogs, chance, row numbers
#: of storage, and functions that make tables for DuckDB's own tests.
STATE = (
    r"\b(nextval|currval|random|uuid|gen_random_uuid|setseed|current_setting)\s*\("
    r"|\b(duckdb_\w+|pragma_\w+|test_all_types|test_vector_types)\s*\(|\browid\b"
)

#: Maps and strings of bits, which the engine's SQL has not, in a query.
MAPS = r"\bmap\s*[({\[]|\bmap_\w+\s*\(|\b(list_)?histogram\w*\s*\(|\bbitstring_agg\s*\("
MAPS += r"|\bis_histogram_other_bin\s*\("

#: Estimates, which depend on how DuckDB makes them.
ESTIMATES = r"\b(list_)?(approx_\w+|reservoir_quantile)\s*\("


class Block(NamedTuple):
    """A part of a file: its first line, the text below it, and what is expected."""

    head: list[str]
    text: str
    expected: list[str]
    line: int


def blocks(path: Path) -> Iterator[Block]:
    """The blocks of a file, comments left out."""
    lines = path.read_text(errors="replace").splitlines()
    place = 0
    while place < len(lines):
        if not lines[place].strip() or lines[place].startswith("#"):
            place += 1
            continue
        first, body = place, []
        while place < len(lines) and lines[place].strip():
            if not lines[place].startswith("#"):
                body.append(lines[place])
            place += 1
        while body and body[0].startswith(("skipif", "onlyif")):
            if body[0].split()[:2] in (
                ["skipif", "sqlite"],
                ["onlyif", "mysql"],
                ["onlyif", "mssql"],
                ["onlyif", "oracle"],
            ):
                body = []
                break
            body = body[1:]
        if not body:
            continue
        at = body.index("----") if "----" in body else len(body)
        yield Block(body[0].split(), "\n".join(body[1:at]), body[at + 1 :], first + 1)


def plain(value: Any) -> Any:
    """A value in a form that both sides have."""
    if isinstance(value, bool | str | None):
        return value
    if isinstance(value, list | tuple):
        return [plain(each) for each in value]
    if isinstance(value, dict):
        if list(value) == [f"element{i + 1}" for i in range(len(value))]:
            return [plain(each) for each in value.values()]  # a row
        return {name: plain(each) for name, each in value.items()}
    if type(value).__name__ == "datetime64":  # of nanoseconds
        whole = value.astype("datetime64[ns]").astype(int).item() // 1000  # as DuckDB's client
        value = datetime.datetime(1970, 1, 1) + datetime.timedelta(microseconds=whole)
    if isinstance(value, datetime.datetime):
        return value.date() if value.time() == datetime.time() else value
    if isinstance(value, int) and abs(value) < 2**53:
        return float(value)
    if isinstance(value, int):
        return value
    if isinstance(value, decimal.Decimal) and value == value.to_integral_value():
        return plain(int(value))
    if isinstance(value, float | decimal.Decimal):
        number = float(value)
        return "nan" if math.isnan(number) else float(f"{number + 0.0:.10g}")
    return value


class Runner:
    """Runs files and counts."""

    def __init__(self, sqlite: bool) -> None:
        self.sqlite = sqlite
        self.counts: collections.Counter[str] = collections.Counter()
        self.words: collections.Counter[str] = collections.Counter()
        self.errors: collections.Counter[str] = collections.Counter()
        self.wrong: list[str] = []
        self._held: dict[str, Any] = {}

    def file(self, path: Path) -> None:
        """Run a file, up to the first thing that only DuckDB's own runner does."""
        self._held = {}
        with duckdb.connect() as connection:
            connection.execute("set timezone='UTC'")
            for block in blocks(path):
                kind = block.head[0]
                if kind in (
                    "loop",
                    "foreach",
                    "concurrentloop",
                    "concurrentforeach",
                    "endloop",
                    "load",
                    "restart",
                    "reconnect",
                    "unzip",
                    "tags",
                ):
                    self.counts["files cut at loops"] += kind != "endloop"
                    return
                if (
                    kind == "require"
                    and len(block.head) > 1
                    and block.head[1] not in ("vector_size", "skip_reload", "no_alternative_verify")
                ):
                    return
                if re.search(SETTINGS, block.text, re.I):
                    self.counts["files cut at settings"] += 1
                    return
                if kind == "statement":
                    self._statement(connection, block)
                elif kind == "query":
                    self._query(connection, block, path)

    def _statement(self, connection: Any, block: Block) -> None:
        with contextlib.suppress(Exception):  # statements that are meant to fail
            connection.execute(block.text)
        self._held = {}

    def _frames(self, connection: Any, query: str) -> dict[str, Any]:
        words = set(re.findall(r"\w+", query.lower()))
        names = connection.execute("select table_name from information_schema.tables").fetchall()
        for (name,) in names:
            if name.lower() in words and name not in self._held:
                found = connection.sql(f'from "{name}"')
                if any(re.search("HUGEINT|ENUM", str(kind)) for kind in found.types):
                    raise TypeError(name)  # Arrow has none of these, or not their order
                self._held[name] = hr.DataFrame(found.to_arrow_table())
        return self._held

    def _query(self, connection: Any, block: Block, path: Path) -> None:
        query = block.text.strip().rstrip(";")
        is_query = query.lower().lstrip("( \n").startswith(("select", "with", "from", "values"))
        if not is_query or re.search(r"\b(insert|update|delete|merge)\b", query, re.I):
            self.counts["statements as queries"] += 1
            self._held = {}
            return
        if self.sqlite:  # the file has the answer
            self.counts["queries"] += 1
            self._compare(query, [], self._frames(connection, query), block, path)
            return
        try:
            result = connection.execute(query)
            expected = result.fetchall()
            kinds = [str(column[1]) for column in result.description]
        except Exception:
            self.counts["errors in DuckDB"] += 1
            return
        self.counts["queries"] += 1
        if re.search(f"{STATES}|{MAPS}", query, re.I):
            self.counts["types that the engine has not"] += 1
            return
        if re.search(ESTIMATES, query, re.I):
            self.counts["estimates"] += 1
            return
        if re.search(STATE, query, re.I) or self._calls_macro(connection, query):
            self.counts["not over tables"] += 1
            return
        if any(
            re.search(
                r"\[\d|MAP|BLOB|BIT|UUID|UNION|JSON|(?<!WITH )TIME\b|TIMETZ|INTERVAL|ENUM"
                r"|VARIANT|GEOMETRY|BIGNUM",
                kind,
                re.I,
            )
            for kind in kinds
        ):
            self.counts["types that the engine has not"] += 1
            return
        try:
            frames = self._frames(connection, query)
        except Exception:
            self.counts["types that the engine has not"] += 1
            return
        self._compare(query, expected, frames, block, path)

    def _calls_macro(self, connection: Any, query: str) -> bool:
        """Whether a query calls a function that a statement of the file made."""
        made = connection.execute(
            "select function_name from duckdb_functions() where not internal"
        ).fetchall()
        words = set(re.findall(r"\w+", query.lower()))
        return any(name.lower() in words for (name,) in made)

    def _compare(
        self, query: str, expected: list[Any], frames: Any, block: Block, path: Path
    ) -> None:
        try:
            dialect = "sqlite" if self.sqlite else "duckdb"
            made = hr.sql(query, dialect=dialect, **frames).to_dict()
            found = list(zip(*made.values(), strict=True))
        except hr.UnsupportedError as error:
            if str(error).startswith("sql: unsupported type: type="):
                self.counts["types that the engine has not"] += 1
                return
            self.counts["refused"] += 1
            word = re.search(r"word='([^']*)'", str(error))
            self.words[word[1] if word else str(error)[:40]] += 1
            if VERBOSE:
                print(f"{path.name}:{block.line}: refused {str(error)[:120]}\n    {query[:200]}")
            return
        except Exception as error:
            self.counts["errors"] += 1
            self.errors[f"{type(error).__name__}: {str(error)[:70]}"] += 1
            if VERBOSE:
                print(f"{path.name}:{block.line}: {str(error)[:120]}\n    {query[:200]}")
            return
        if self.sqlite:
            same = text_of(found, block) == wanted_of(block)
        else:
            same = sorted(repr(tuple(map(plain, row))) for row in found) == sorted(
                repr(tuple(map(plain, row))) for row in expected
            )
        if not same and not self.sqlite:  # DuckDB itself may be wrong where the file is newer
            same = as_file(found, block)
        self.counts["equal" if same else "wrong"] += 1
        if not same:
            self.wrong.append(f"{path.name}:{block.line}: {query[:300]}")
            print(self.wrong[-1])
            print("   ours", found[:4], "\n   want", expected[:4])


def text_of(rows: list[Any], block: Block) -> list[str]:
    """Rows as the files have them, or their hash."""
    kinds = block.head[1]

    def word(value: Any, kind: str) -> str:
        if value is None:
            return "NULL"
        if kind == "I":
            return str(int(value))
        if kind == "R":
            return f"{float(value):.3f}"
        return str(value) or "(empty)"

    listed = [[word(value, kind) for value, kind in zip(row, kinds, strict=True)] for row in rows]
    mode = block.head[2] if len(block.head) > 2 else "nosort"
    if mode == "rowsort":
        listed.sort()
    values = [value for row in listed for value in row]
    if mode == "valuesort":
        values.sort()
    if block.expected and "values hashing to" in block.expected[0]:
        digest = hashlib.md5("".join(f"{value}\n" for value in values).encode()).hexdigest()
        return [f"{len(values)} values hashing to {digest}"]
    return values


def as_file(rows: list[Any], block: Block) -> bool:
    """Whether the rows are those that DuckDB's file expects, in any order."""
    listed = [
        "\t".join(
            "NULL" if v is None else str(v).lower() if isinstance(v, bool) else str(v) for v in row
        )
        for row in rows
    ]
    return sorted(listed) == sorted(block.expected)


def wanted_of(block: Block) -> list[str]:
    """What the file expects."""
    return [line for line in block.expected if line]


VERBOSE = False


def main() -> int:
    """Run the files of all paths."""
    global VERBOSE
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("paths", nargs="+", type=Path)
    parser.add_argument("--sqlite", action="store_true", help="compare with the file")
    parser.add_argument("--record", type=Path, help="append the counts to a file of JSON lines")
    parser.add_argument("--verbose", action="store_true", help="print each error")
    options = parser.parse_args()
    VERBOSE = options.verbose
    runner = Runner(options.sqlite)
    files = [
        file
        for path in options.paths
        for file in ([path] if path.is_file() else sorted(path.rglob("*.test")))
    ]
    for file in files:
        runner.file(file)
    for name, count in runner.counts.most_common():
        print(f"{count:7} {name}")
    print("refused:", dict(runner.words.most_common(60)))
    print("errors:", *(f"{n:5} {word}" for word, n in runner.errors.most_common(60)), sep="\n")
    if options.record:
        line = {
            "suite": [path.name for path in options.paths],
            "files": len(files),
            "duckdb": duckdb.__version__,
            "counts": dict(runner.counts),
            "refused": dict(runner.words.most_common()),
            "errors": dict(runner.errors.most_common()),
        }
        with options.record.open("a") as out:
            out.write(json.dumps(line) + "\n")
    return 1 if runner.wrong else 0


if __name__ == "__main__":
    sys.exit(main())
