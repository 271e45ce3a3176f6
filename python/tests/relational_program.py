# SPDX-License-Identifier: Apache-2.0
"""A relational program that grows step by step, as a frame and as SQL for DuckDB."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pyarrow as pa

import headrace as hr

WORDS = ["", "a", "b", "ab", "a text that is longer", "ä"]
MOST_ROWS = 60_000  # of a side of a join, so that few steps make no millions


def base_table(rng: random.Random, rows: int) -> pa.Table:
    """Keys and values with nulls; floats are eighths, so that sums are exact in any order."""
    made = np.random.default_rng(rng.getrandbits(32))

    def column(values: Any, nulls: float) -> pa.Array:
        return pa.array(values, mask=made.random(rows) < nulls)

    keys = rng.choice([2, 5, 1000])
    words = column(made.integers(0, len(WORDS), rows), 0.15)
    return pa.table(
        {
            "r": pa.array(np.arange(rows)),
            "k": column(made.integers(0, keys, rows), 0.1),
            "s": pa.array(WORDS).take(words),
            "x": column(made.integers(-800, 800, rows) / 8, 0.2),
            "n": column(made.integers(-20, 20, rows), rng.choice([0, 0.2])),
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
                return column.str.contains("a"), f"coalesce(contains({name}, 'a'), false)"
            return (
                (column == word, f"coalesce({name} = '{word}', false)")
                if rng.random() < 0.5
                else (column <= word, f"coalesce({name} <= '{word}', false)")
            )
        value = rng.randrange(-15, 15)
        if form == 1:
            return (
                column.between(value, value + 10),
                f"coalesce({name} BETWEEN {value} AND {value + 10}, false)",
            )
        other = self.pick("if")
        if form == 2 and other is not None:
            return column < frame[other], f"coalesce({name} < {other}, false)"
        sign = rng.choice(["<", "<=", ">", ">=", "==", "!="])
        made = {
            "<": column < value,
            "<=": column <= value,
            ">": column > value,
            ">=": column >= value,
            "==": column == value,
            "!=": column != value,
        }[sign]
        return made, f"coalesce({name} {sign.replace('==', '=')} {value}, {sign == '!='})"

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
        if key is None or len(self.frame) > MOST_ROWS:
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
        place = self.rng.choice(["first", "last"])
        self.frame = self.frame.sort_values(names, ascending=up, na_position=place)
        order = ", ".join(
            f"{name} {'ASC' if each else 'DESC'} NULLS {place}"
            for name, each in zip(names, up, strict=True)
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
        rng, frame = self.rng, self.frame.reset_index(drop=True)  # of groups, matched by label
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
            made = made.reset_index(level=0, drop=True) if grouped else made
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
            made = rows.rank(method=method, ascending=up)
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
        rows, largest = self.rng.randrange(0, 20), self.rng.random() < 0.5
        pick = self.frame.nlargest if largest else self.frame.nsmallest
        self.frame = pick(rows, name)
        order = f"{name} {'DESC' if largest else 'ASC'} NULLS LAST, r"
        self.then(
            f"SELECT * FROM (SELECT row_number() OVER (ORDER BY {order}) - 1 "
            f"AS r, {', '.join(self.kinds)} FROM T!) WHERE r < {rows}"
        )
        self.renumber()

    # ---- the end -----------------------------------------------------------------------------
    def step(self, word: str, seed: int) -> None:
        """One operator, with operands of this seed; nothing where no column fits."""
        self.rng = random.Random(seed)
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
