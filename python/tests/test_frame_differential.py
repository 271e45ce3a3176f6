# SPDX-License-Identifier: Apache-2.0
"""Random relational programs, as frames and as SQL for DuckDB: the same rows in the same order.

Run as a program for more of them: ``python test_frame_differential.py 100000 [seed]``.
"""

from __future__ import annotations

import collections
import random
import sys
import time
from collections.abc import Callable
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pytest

import headrace as hr

WORDS = ["", "a", "b", "ab", "a text that is longer", "ä"]
SOME = 200  # programs an operator, at least


def base_table(rng: random.Random, rows: int) -> pa.Table:
    """Keys and values with nulls; floats are eighths, so that sums are exact in any order."""

    def column(make: Callable[[], Any], nulls: float) -> list[Any]:
        return [None if rng.random() < nulls else make() for _ in range(rows)]

    keys = rng.choice([2, 5, 1000])
    return pa.table(
        {
            "r": pa.array(range(rows), pa.int64()),
            "k": pa.array(column(lambda: rng.randrange(keys), 0.1), pa.int64()),
            "s": pa.array(column(lambda: rng.choice(WORDS), 0.15), pa.string()),
            "x": pa.array(column(lambda: rng.randrange(-800, 800) / 8, 0.2), pa.float64()),
            "n": pa.array(column(lambda: rng.randrange(-20, 20), rng.choice([0, 0.2])), pa.int64()),
        }
    )


class Program:
    """A frame and the SQL that says the same. Column r numbers the rows in order."""

    def __init__(self, rng: random.Random, rows: int) -> None:
        self.rng = rng
        self.tables = {"base": base_table(rng, rows)}
        self.frame: hr.DataFrame = hr.from_arrow(self.tables["base"])
        self.queries: list[str] = []
        self.now = "base"
        self.kinds = {"k": "i", "s": "s", "x": "f", "n": "i"}
        self.used: list[str] = []
        self.fresh = 0

    def names(self, kinds: str) -> list[str]:
        return [name for name, kind in self.kinds.items() if kind in kinds]

    def pick(self, kinds: str) -> str | None:
        names = self.names(kinds)
        return self.rng.choice(names) if names else None

    def then(self, query: str) -> None:
        """`query` reads what is called T."""
        name = f"t{len(self.queries)}"
        self.queries.append(f"{name} AS MATERIALIZED ({query.replace('T!', self.now)})")
        self.now = name

    def number(self, name: str = "v") -> str:
        self.fresh += 1
        return f"{name}{self.fresh}"

    def renumber(self) -> None:
        self.frame = self.frame.assign(r=np.arange(len(self.frame)))
        self.frame = self.frame[["r", *self.kinds]]

    # ---- conditions and values ---------------------------------------------------------------
    def condition(self, depth: int = 0) -> tuple[Any, str]:
        rng, frame = self.rng, self.frame
        if depth < 2 and rng.random() < 0.35:
            a, left = self.condition(depth + 1)
            if rng.random() < 0.3:
                return ~a, f"(NOT {left})"
            b, right = self.condition(depth + 1)
            return (
                (a & b, f"({left} AND {right})")
                if rng.random() < 0.5
                else (a | b, f"({left} OR {right})")
            )
        name = self.pick("ifs")
        assert name is not None
        column, form = frame[name], rng.randrange(4)
        if form == 0:
            return column.is_null(), f"({name} IS NULL)"
        if self.kinds[name] == "s":
            word = rng.choice(WORDS)
            if form == 1:
                return column.isin([word, "b"]), f"coalesce({name} IN ('{word}', 'b'), false)"
            if form == 2:
                return column.str.contains("a"), f"contains({name}, 'a')"
            return (
                (column == word, f"({name} = '{word}')")
                if rng.random() < 0.5
                else (column <= word, f"({name} <= '{word}')")
            )
        value = rng.randrange(-15, 15)
        if form == 1:
            return column.between(value, value + 10), f"({name} BETWEEN {value} AND {value + 10})"
        other = self.pick("if")
        if form == 2 and other is not None:
            return column < frame[other], f"({name} < {other})"
        sign = rng.choice(["<", "<=", ">", ">=", "==", "!="])
        made = {
            "<": column < value,
            "<=": column <= value,
            ">": column > value,
            ">=": column >= value,
            "==": column == value,
            "!=": column != value,
        }[sign]
        return made, f"({name} {sign.replace('==', '=')} {value})"

    # ---- operators ---------------------------------------------------------------------------
    def filter(self) -> None:
        mask, text = self.condition()
        self.frame = self.frame[mask]
        self.then(f"SELECT * FROM T! WHERE {text}")

    def assign(self) -> None:
        rng, frame = self.rng, self.frame
        a, b = self.pick("if"), self.pick("if")
        if a is None or b is None:
            return
        both = "f" if "f" in (self.kinds[a], self.kinds[b]) else "i"
        mask, text = self.condition()
        forms: list[tuple[Any, str, str]] = [
            (frame[a] + frame[b] * 2, f"{a} + {b} * 2", both),
            (frame[a] - 3, f"{a} - 3", self.kinds[a]),
            (-frame[a], f"-{a}", self.kinds[a]),
            (frame[a].abs(), f"abs({a})", self.kinds[a]),
            (frame[a].fillna(7), f"coalesce({a}, 7)", self.kinds[a]),
            (frame[a].where(mask), f"CASE WHEN {text} THEN {a} END", self.kinds[a]),
            (
                frame[a].where(mask, frame[b]),
                f"CASE WHEN {text} THEN {a} ELSE {b} END",
                both,
            ),
            (
                frame[a].clip(-5, 9),
                f"CASE WHEN {a} IS NOT NULL THEN least(greatest({a}, -5), 9) END",
                self.kinds[a],
            ),
        ]
        made, value, kind = rng.choice(forms)
        name = self.number()
        self.frame = frame.assign(**{name: made})
        self.then(f"SELECT *, {value} AS {name} FROM T!")
        self.kinds[name] = kind

    def group(self) -> None:
        rng = self.rng
        keys = rng.sample(self.names("is"), k=min(rng.choice([1, 1, 2]), len(self.names("is"))))
        values = [name for name in self.names("if") if name not in keys]
        if not keys or not values:
            return
        sql = {
            "sum": "coalesce(sum({}), 0)",
            "mean": "avg({})",
            "min": "min({})",
            "max": "max({})",
            "count": "count({})",
            "nunique": "count(DISTINCT {})",
            "std": "stddev_samp({})",
            "median": "median({})",
            "first": "first({0} ORDER BY r) FILTER ({0} IS NOT NULL)",
            "last": "last({0} ORDER BY r) FILTER ({0} IS NOT NULL)",
        }
        chosen = {}
        for _ in range(rng.randrange(1, 4)):
            chosen[self.number()] = (rng.choice(values), rng.choice(list(sql)))
        dropna = rng.random() < 0.7
        self.frame = self.frame.groupby(keys, dropna=dropna).agg(**chosen).reset_index()
        made = ", ".join(f"{sql[how].format(name)} AS {new}" for new, (name, how) in chosen.items())
        order = ", ".join(f"{key} NULLS LAST" for key in keys)
        where = " AND ".join(f"{key} IS NOT NULL" for key in keys) if dropna else "true"
        self.then(
            f"SELECT row_number() OVER (ORDER BY {order}) - 1 AS r, * FROM (SELECT "
            f"{', '.join(keys)}, {made} FROM T! WHERE {where} GROUP BY {', '.join(keys)})"
        )
        kinds = {key: self.kinds[key] for key in keys}
        for new, (name, how) in chosen.items():
            own = self.kinds[name] if how in ("sum", "min", "max", "first", "last") else "f"
            kinds[new] = "i" if how in ("count", "nunique") else own
        # What was rounded is compared, but decides nothing any more.
        inexact = {new for new, (_, how) in chosen.items() if how in ("mean", "std", "median")}
        self.kinds = {name: "o" if name in inexact else kind for name, kind in kinds.items()}
        self.renumber()

    def join(self) -> None:
        rng = self.rng
        key = self.pick("is")
        if key is None:
            return
        other = base_table(rng, rng.choice([0, 3, 20]))
        side = f"side{len(self.tables)}"
        mate = "s" if self.kinds[key] == "s" else "k"
        p, q = self.number(), self.number()
        right = other.select(["r", mate, "x"]).rename_columns(["side_r", key, p])
        right = right.append_column(q, other["n"])
        self.tables[side] = right
        how = rng.choice(["inner", "left", "semi", "anti"])
        theirs: Any = hr.from_arrow(right)
        if how in ("semi", "anti"):
            self.frame = self.frame.merge(theirs, on=key, how=how)
            yes = "" if how == "semi" else "NOT "
            self.then(
                f"SELECT * FROM T! t WHERE {yes}EXISTS (SELECT 1 FROM {side} o "
                f"WHERE o.{key} IS NOT DISTINCT FROM t.{key})"
            )
            return
        self.frame = self.frame.merge(theirs.drop("side_r"), on=key, how=how)
        self.then(
            f"SELECT row_number() OVER (ORDER BY t.r, o.side_r) - 1 AS r, "
            f"{', '.join('t.' + name for name in self.kinds)}, o.{p}, o.{q} FROM T! t "
            f"{how} JOIN {side} o ON o.{key} IS NOT DISTINCT FROM t.{key}"
        )
        self.kinds |= {p: "f", q: "i"}
        self.renumber()

    def sort(self) -> None:
        names = self.rng.sample(self.names("ifs"), k=min(2, len(self.names("ifs"))))
        up = [self.rng.random() < 0.5 for _ in names]
        self.frame = self.frame.sort_values(names, ascending=up)
        order = ", ".join(
            f"{n} {'ASC' if each else 'DESC'} NULLS LAST" for n, each in zip(names, up, strict=True)
        )
        self.then(
            f"SELECT row_number() OVER (ORDER BY {order}, r) - 1 AS r, {', '.join(self.kinds)} "
            "FROM T!"
        )
        self.renumber()

    def distinct(self) -> None:
        names = self.rng.sample(self.names("ifs"), k=min(2, len(self.names("ifs"))))
        self.frame = self.frame.drop_duplicates(names)
        self.then(
            "SELECT * EXCLUDE q FROM (SELECT *, row_number() OVER "
            f"(PARTITION BY {', '.join(names)} ORDER BY r) AS q FROM T!) WHERE q = 1"
        )

    def concat(self) -> None:
        mask, text = self.condition()
        self.frame = hr.concat([self.frame, self.frame[mask]])
        self.then(
            f"SELECT row_number() OVER (ORDER BY part, r) - 1 AS r, {', '.join(self.kinds)} FROM "
            f"(SELECT 0 AS part, * FROM T! UNION ALL SELECT 1 AS part, * FROM T! WHERE {text})"
        )
        self.renumber()

    def window(self) -> None:
        rng, frame = self.rng, self.frame
        value, key = self.pick("if"), self.pick("is")
        if value is None:
            return
        grouped = key is not None and key != value and rng.random() < 0.7
        dropna = rng.random() < 0.5
        rows: Any = frame.groupby(key, dropna=dropna)[value] if grouped else frame[value]
        part = f"PARTITION BY {key} " if grouped else ""
        name, form = self.number(), rng.randrange(5)
        kind = self.kinds[value]
        if form == 0:
            window = rng.randrange(1, 6)
            few, how = rng.randrange(1, window + 1), rng.choice(["sum", "min", "max", "count"])
            ahead = rng.random() < 0.3
            shift = (window - 1) // 2 if ahead else 0
            made = getattr(rows.rolling(window, min_periods=few, center=ahead), how)()
            over = (
                f"OVER ({part}ORDER BY r ROWS BETWEEN {window - 1 - shift} PRECEDING "
                f"AND {shift} FOLLOWING)"
            )
            rows_there = "*" if how == "count" else value  # min_periods of it are rows
            text = f"CASE WHEN count({rows_there}) {over} >= {few} THEN {how}({value}) {over} END"
            if how == "count":
                kind = "i"
        elif form == 1:
            how = rng.choice(["sum", "min", "max"])
            made = getattr(rows, f"cum{how}")()
            text = f"CASE WHEN {value} IS NOT NULL THEN {how}({value}) OVER ({part}ORDER BY r) END"
        elif form == 2:
            by = rng.choice([1, 2, -1])
            made = rows.shift(by)
            text = f"{'lag' if by > 0 else 'lead'}({value}, {abs(by)}) OVER ({part}ORDER BY r)"
        elif form == 3:
            made = rows.diff()
            text = f"{value} - lag({value}) OVER ({part}ORDER BY r)"
        else:
            method, up = rng.choice(["min", "dense", "first"]), rng.random() < 0.5
            made = rows.rank(method, up)
            word = {"min": "rank", "dense": "dense_rank", "first": "row_number"}[method]
            order = f"{value} {'ASC' if up else 'DESC'} NULLS LAST{', r' * (method == 'first')}"
            text = f"CASE WHEN {value} IS NOT NULL THEN {word}() OVER ({part}ORDER BY {order}) END"
            kind = "f"
        if grouped and dropna:
            text = f"CASE WHEN {key} IS NOT NULL THEN {text} END"
        self.frame = frame.assign(**{name: made})
        self.then(f"SELECT *, {text} AS {name} FROM T!")
        self.kinds[name] = kind

    def head(self) -> None:
        rows = self.rng.randrange(0, 30)
        self.frame = self.frame.head(rows)
        self.then(f"SELECT * FROM T! ORDER BY r LIMIT {rows}")

    def largest(self) -> None:
        name = self.pick("if")
        if name is None:
            return
        rows = self.rng.randrange(0, 20)
        self.frame = self.frame.nlargest(rows, name)
        self.then(
            f"SELECT * FROM (SELECT row_number() OVER (ORDER BY {name} DESC NULLS LAST, r) - 1 "
            f"AS r, {', '.join(self.kinds)} FROM T!) WHERE r < {rows}"
        )
        self.renumber()

    # ---- the end -----------------------------------------------------------------------------
    def step(self, word: str) -> None:
        before = len(self.queries)
        getattr(self, word)()
        if len(self.queries) > before:
            self.used.append(word)

    def query(self) -> str:
        steps = ", ".join(self.queries)
        names = ", ".join(["r", *self.kinds])
        return f"WITH {steps} SELECT {names} FROM {self.now} ORDER BY r"


OPERATORS = (
    *("filter", "assign", "group", "join", "sort", "distinct"),
    *("concat", "window", "head", "largest"),
)
WEIGHTS = (3, 3, 2, 2, 2, 2, 2, 4, 2, 2)


def same(a: Any, b: Any) -> bool:
    """Equal, floats up to their rounding."""
    if a is None or b is None or isinstance(a, str):
        return bool(a == b)
    return bool(a == b or abs(a - b) <= 1e-9 * max(1.0, abs(a), abs(b)))


def hold_against_duckdb(program: Program, ours: dict[str, list[Any]], base: Any, seed: int) -> None:
    """Run the program's query too, and compare column by column."""
    for name, table in program.tables.items():
        base.register(name, table)
    theirs = base.sql(program.query()).to_arrow_table()
    for name in program.tables:
        base.unregister(name)
    for name in program.kinds:  # r is what both made for the order
        wanted, got = theirs[name].to_pylist(), ours[name]
        wanted = [
            float(v) if v is not None and not isinstance(v, str | float) else v for v in wanted
        ]
        if len(got) != len(wanted) or not all(map(same, got, wanted)):
            raise AssertionError(
                f"seed {seed}, column {name}: {program.used}\n{program.query()}\n"
                f"ours   {got[:40]}\ntheirs {wanted[:40]}"
            )


def run(seed: int, base: Any, rows: int | None = None) -> list[str]:
    """Check one program; the operators that it has."""
    rng = random.Random(seed)
    program = Program(rng, rng.choice([0, 1, 5, 30, 70]) if rows is None else rows)
    words = rng.choices(OPERATORS, WEIGHTS, k=rng.randrange(1, 6))
    with hr.threads(rng.choice([1, 2, 4])):
        for word in words:
            program.step(word)
        if not program.queries:
            return []
        ours = program.frame[["r", *program.kinds]].to_dict()
    hold_against_duckdb(program, ours, base, seed)
    return program.used


@pytest.fixture
def base() -> Any:
    """A DuckDB of one thread, since the tables are small."""
    return duckdb.connect(":memory:", config={"threads": 1})


def test_random_programs_are_those_of_duckdb(base: Any) -> None:
    seen: collections.Counter[str] = collections.Counter()
    seed = 0
    while len(seen) < len(OPERATORS) or min(seen.values()) < SOME:
        seen.update(set(run(seed, base)))
        seed += 1


def test_programs_over_morsels(base: Any) -> None:
    for seed in range(4):
        run(seed, base, rows=2**17 + 100)


def bits(seed: int, threads: int) -> dict[str, list[Any]]:
    """What a program gives, floats as their bits."""
    rng = random.Random(seed)
    with hr.threads(threads):
        program = Program(rng, 2 * 2**17 + 5)
        for word in rng.choices(OPERATORS[:-2], WEIGHTS[:-2], k=4):
            program.step(word)
        columns = program.frame.to_dict()
    return {
        name: [v.hex() if isinstance(v, float) else v for v in values]
        for name, values in columns.items()
    }


@pytest.mark.parametrize("seed", [11, 12, 13])
def test_threads_change_no_bits(seed: int) -> None:
    one = bits(seed, 1)
    assert bits(seed, 2) == one
    assert bits(seed, 4) == one


def main(programs: int, seed: int) -> None:
    """Run so many programs and say what they had."""
    base = duckdb.connect(":memory:", config={"threads": 1})
    seen: collections.Counter[str] = collections.Counter()
    start = time.perf_counter()
    for at in range(seed, seed + programs):
        seen.update(set(run(at, base)))
    took = time.perf_counter() - start
    print(f"{programs} programs from seed {seed} in {took:.0f} s, no difference: {dict(seen)}")


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 0)
