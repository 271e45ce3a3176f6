# SPDX-License-Identifier: Apache-2.0
"""Random queries against DuckDB over small tables full of null, NaN and equal values.

HEADRACE_SQL_RANDOM has the number of queries of a long run, HEADRACE_SQL_SEED its first seed.
"""

from __future__ import annotations

import decimal
import os
import random
from typing import Any

import duckdb
import pyarrow as pa
import pytest
from test_sql_queries import plain, rows_of

import headrace as hr

pytest.importorskip("sqlglot")

COUNT = int(os.environ.get("HEADRACE_SQL_RANDOM", "80"))
FIRST = int(os.environ.get("HEADRACE_SQL_SEED", "0"))
BATCH = 20
COLUMNS = {
    "i": "bigint",
    "j": "integer",
    "f": "double",
    "s": "varchar",
    "b": "boolean",
    "d": "decimal(9,2)",
    "t": "date",
}


class Maker:
    """Makes queries of tables `x`, `y` and `z`, which have the same columns."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.depth = 0

    def pick(self, *options: Any) -> Any:
        """One of these."""
        return self.random.choice(options)

    def table(self) -> str:
        """A name of a table."""
        return self.pick("x", "y", "z")

    def number(self, source: str) -> str:
        """An expression that is a number."""
        kind = self.random.random()
        if kind < 0.4:
            return f"{source}.{self.pick('i', 'j', 'd', 'f')}"
        if kind < 0.6:
            return str(self.pick(0, 1, 2, -1, 3, "1.5", "null", 100))
        if kind < 0.85 or self.depth > 2:
            op = self.pick("+", "-", "*")
            return f"({self.number(source)} {op} {self.number(source)})"
        if kind < 0.93:
            return f"coalesce({self.number(source)}, {self.number(source)})"
        return f"case when {self.truth(source)} then {self.number(source)} else 0 end"

    def whole(self, source: str) -> str:
        """An expression that is an integer."""
        return self.pick(
            f"{source}.i",
            f"{source}.j",
            f"({source}.i + 1)",
            f"({source}.j % 3)",
            f"length({source}.s)",
        )

    def truth(self, source: str) -> str:
        """A condition."""
        kind = self.random.random()
        compare = self.pick("=", "<>", "<", "<=", ">", ">=")
        if kind < 0.3:
            return f"{self.number(source)} {compare} {self.number(source)}"
        if kind < 0.4:
            return f"{source}.{self.pick(*COLUMNS)} is {self.pick('', 'not ')}null"
        if kind < 0.5:
            return f"{source}.s {compare} {self.pick(repr('a'), repr(''), source + '.s')}"
        if kind < 0.6:
            values = ", ".join(self.pick("1", "2", "3", "null", "-1") for _ in range(3))
            return f"{self.whole(source)} {self.pick('', 'not ')}in ({values})"
        if kind < 0.66:
            return f"{source}.b"
        if kind < 0.72:
            return f"{source}.t {compare} date '2020-01-0{self.random.randint(1, 5)}'"
        if kind < 0.8:
            return f"not ({self.truth(source)})"
        if self.depth < 2 and kind < 0.9:
            return self.subquery(source)
        op = self.pick("and", "or")
        return f"({self.truth(source)} {op} {self.truth(source)})"

    def subquery(self, source: str) -> str:
        """A condition with a subquery, which may use the query around."""
        self.depth += 1
        inner = f"q{self.depth}"
        where = self.pick(
            "",
            f"where {self.truth(inner)}",
            f"where {inner}.{self.pick('i', 's')} = {source}.{self.pick('i')}"
            if self.random.random() < 0
            else f"where {inner}.i = {source}.i",
            f"where {inner}.s = {source}.s and {self.truth(inner)}",
            f"where {inner}.i < {source}.j",
        )
        body = f"from {self.table()} as {inner} {where}"
        made = self.pick(
            f"{self.pick('', 'not ')}exists (select 1 {body})",
            f"{source}.i {self.pick('', 'not ')}in (select {inner}.j {body})",
            f"{source}.i > (select {self.pick('max', 'min', 'count')}({inner}.j) {body})",
        )
        self.depth -= 1
        return made

    def source(self) -> tuple[str, str]:
        """A FROM list and the alias whose columns are used."""
        kind = self.random.random()
        first = self.table()
        if kind < 0.5:
            return f"{first} as p", "p"
        how = self.pick("join", "left join", "right join", "full join")
        on = self.pick(
            "p.i = q.i",
            "p.i = q.j",
            "p.s = q.s",
            "p.i = q.i and p.s = q.s",
            "p.i = q.i and p.j < q.j",
            "p.s = q.s and q.i > 1",
            "p.d = q.i",
            "p.i = q.i and p.b",
        )
        return f"{first} as p {how} {self.table()} as q on {on}", self.pick("p", "q")

    def query(self) -> str:
        """A query; its rows have no order."""
        kind = self.random.random()
        source, alias = self.source()
        where = f" where {self.truth(alias)}" if self.random.random() < 0.7 else ""
        if kind < 0.35:
            return f"select {self.number(alias)} as v, {alias}.s from {source}{where}"
        if kind < 0.65:
            keys = self.pick("s", "b", "i", "f", "s, b", "i, t")
            listed = ", ".join(f"{alias}.{key.strip()}" for key in keys.split(","))
            folded = self.pick(
                "count(*)",
                f"sum({self.whole(alias)})",
                f"max({alias}.f)",
                f"min({alias}.s)",
                f"count(distinct {alias}.i)",
                f"avg({alias}.j)",
                f"sum({alias}.d)",
                f"min({alias}.f)",
                f"max({alias}.t)",
                f"sum({alias}.f)",
                f"count({alias}.f)",
                f"count(*) filter (where {self.truth(alias)})",
            )
            group = self.pick(listed, listed, f"rollup ({listed})")
            having = self.pick("", "", " having count(*) > 1")
            return f"select {listed}, {folded} as v from {source}{where} group by {group}{having}"
        if kind < 0.75:
            folded = self.pick("count(*)", f"sum({alias}.i)", f"avg({alias}.d)", f"max({alias}.s)")
            return f"select {folded} as v from {source}{where}"
        if kind < 0.85:
            op = self.pick(
                "union", "union all", "intersect", "except", "intersect all", "except all"
            )
            columns = self.pick("i", "s", "i, s", "f")
            return f"select {columns} from {self.table()} {op} select {columns} from {self.table()}"
        if kind < 0.9:
            return f"select distinct {alias}.{self.pick('i', 'f', 's', 'b')} from {source}{where}"
        order = f"{alias}.i, {alias}.f, {alias}.s, {alias}.t, {alias}.d"
        function = self.pick(
            "rank()",
            "dense_rank()",
            f"sum({alias}.j)",
            f"count({alias}.f)",
            f"max({alias}.i)",
            f"min({alias}.d)",
            f"first_value({alias}.i)",
        )
        over = f"partition by {alias}.{self.pick('s', 'b')} order by {order}"
        if not function.startswith("first_value"):  # which depends on the order of all rows
            over = self.pick(over, f"partition by {alias}.s", f"order by {alias}.i")
        return f"select {alias}.i, {function} over ({over}) as v from {source}{where}"


def tables(seed: int) -> dict[str, pa.Table]:
    """Three tables of a few rows; one may be empty."""
    source = random.Random(seed)
    made = {}
    kinds = {
        "bigint": pa.int64(),
        "integer": pa.int32(),
        "double": pa.float64(),
        "varchar": pa.string(),
        "boolean": pa.bool_(),
        "decimal(9,2)": pa.decimal128(9, 2),
        "date": pa.date32(),
    }
    for name in ("x", "y", "z"):
        rows = source.choice([0, 1, 5, 30, 70])
        columns: dict[str, list[Any]] = {
            "i": [source.choice([None, 1, 2, 3, 4, -1]) for _ in range(rows)],
            "j": [source.choice([None, 0, 1, 2, 3, 7]) for _ in range(rows)],
            "f": [source.choice([None, float("nan"), 0.5, -1.0, 2.0, 3.25]) for _ in range(rows)],
            "s": [source.choice([None, "", "a", "b", "ab", "é"]) for _ in range(rows)],
            "b": [source.choice([None, True, False]) for _ in range(rows)],
            "d": [source.choice([None, 1, 2, 3]) for _ in range(rows)],
            "t": [source.choice([None, 18262, 18263, 18264]) for _ in range(rows)],
        }
        columns["d"] = [None if d is None else decimal.Decimal(d) for d in columns["d"]]
        arrays = {}
        for word, kind in COLUMNS.items():
            base = pa.array(columns[word], pa.int32() if kind == "date" else kinds[kind])
            arrays[word] = base.cast(kinds[kind])
        made[name] = pa.table(arrays)
    return made


@pytest.mark.parametrize("batch", range(max(1, COUNT // BATCH)))
def test_random_queries_give_the_rows_of_duckdb(batch: int) -> None:
    for seed in range(FIRST + batch * BATCH, FIRST + (batch + 1) * BATCH):
        data = tables(seed)
        query = Maker(seed).query()
        with duckdb.connect() as connection:
            for name, table in data.items():
                connection.register(name, table)
            try:
                expected = connection.execute(query).fetchall()
            except duckdb.Error:
                continue  # an overflow, or types that do not go together
        try:
            found = rows_of(hr.sql(query, **{n: hr.DataFrame(t) for n, t in data.items()}))
        except hr.UnsupportedError as error:
            assert "sql" in str(error), query
            continue
        wanted = sorted(repr(tuple(map(plain, row))) for row in expected)
        assert sorted(map(repr, found)) == wanted, f"seed {seed}: {query}"
