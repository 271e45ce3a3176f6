# SPDX-License-Identifier: Apache-2.0
"""The connection of Mosaic dashboards: the statements of linked charts, as DuckDB answers them."""

from __future__ import annotations

import math
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pytest

import headrace as hr

RANDOM = np.random.default_rng(3)
FLIGHTS = pa.table(
    {
        "delay": pa.array(RANDOM.integers(-60, 180, 5000), pa.int32()),
        "time": RANDOM.random(5000) * 24,
        "at": pa.array(RANDOM.integers(-(10**10), 10**10, 5000) * 500, pa.timestamp("us")),
        "zoned": pa.array(
            RANDOM.integers(-(10**10), 10**10, 5000) * 500, pa.timestamp("us", "America/Lima")
        ),
        "carrier": pa.array(RANDOM.choice(["AA", "UA", None], 5000).tolist(), pa.string()),
    }
)
BINS = '(floor((("delay" - -60)::DOUBLE / 20))*20 - 60)::INTEGER'
ACTIVE = '(floor(((24.1)::DOUBLE * ("time" - 0)::DOUBLE)))::INTEGER'
#: In the order in which a page sends them.
STATEMENTS = [
    'DESC SELECT "delay" AS "column" FROM "flights" AS "source"',
    'DESC SELECT count(*) AS "column", * FROM "flights" AS "source" GROUP BY ALL',
    'SELECT min("delay") AS "min", max("delay") AS "max" FROM "flights"',
    f'SELECT {BINS} AS "x1", count(*) AS "y" FROM "flights" GROUP BY "x1" ORDER BY "x1"',
    'CREATE SCHEMA IF NOT EXISTS "mosaic"; CREATE TABLE IF NOT EXISTS "mosaic"."preagg_1" AS '
    f'SELECT {BINS} AS "x1", count(*) AS "pre", {ACTIVE} AS "active0" FROM "flights" GROUP BY ALL',
    'SELECT "x1", coalesce(sum("pre"), 0)::BIGINT AS "y" FROM "mosaic"."preagg_1" '
    'WHERE ("active0" BETWEEN 48 AND 200) GROUP BY "x1" ORDER BY "x1"',
    'SELECT epoch_ms("at") AS "ms", epoch("at") AS "s", epoch_us("at") AS "us" FROM "flights"',
    'SELECT "delay" & 7 AS "a", "delay" | 8 AS "o", ~"delay" AS "n", xor("delay", 5) AS "x" '
    'FROM "flights"',
    'SELECT sign("delay") * log(abs(nullif("delay", 0))) AS "d", log2("time") AS "two", '
    'log(2, "time") AS "b", degrees("time") AS "deg", atan2("time", 2) AS "at" FROM "flights"',
    'SELECT make_date(2012, month("at"), day("at")) AS "day" FROM "flights"',
    'SELECT epoch_ms("zoned") AS "ms", epoch("zoned") AS "s", epoch_us("zoned") AS "us" '
    'FROM "flights"',
    'SELECT "at" BETWEEN epoch_ms(-1334836800000) AND epoch_ms(5) AS "in" FROM "flights"',
]


@pytest.fixture
def both() -> tuple[duckdb.DuckDBPyConnection, Any]:
    theirs = duckdb.connect(config={"threads": 1})
    theirs.register("flights", FLIGHTS)
    ours = hr.sql.Context().mosaic()
    return theirs, ours.register("flights", FLIGHTS)


def test_statements_of_linked_charts(both: tuple[duckdb.DuckDBPyConnection, Any]) -> None:
    theirs, ours = both
    for sql in STATEMENTS:
        if sql.startswith("CREATE"):
            theirs.execute(sql)
            ours.execute(sql)
            ours.execute(sql)  # as the page does for each chart
            continue
        wanted = theirs.sql(sql).to_arrow_table()
        made = ours.query(sql).arrow().read_all()
        assert made.column_names == wanted.column_names, sql
        for name in wanted.column_names:
            pairs = zip(made[name].to_pylist(), wanted[name].to_pylist(), strict=True)
            for one, other in pairs:
                alike = isinstance(other, float) and math.isclose(one, other, rel_tol=1e-15)
                assert alike or one == other, (sql, name)
            if not pa.types.is_string(wanted[name].type):
                assert made[name].type == wanted[name].type, (sql, name)


@pytest.mark.parametrize("function", ["ln", "log", "log2", "sqrt", "acos"])
def test_no_number_outside_of_the_domain(function: str) -> None:
    query = f"select {function}(x) as y from t"
    t = pa.table({"x": [-1.5, 0.0, 0.5, math.inf, math.nan, None]})
    made = hr.sql(query, t=t).to_dict()["y"]
    wanted = [row[0] for row in duckdb.sql(query).fetchall()]
    assert np.array_equal(np.array(made, float), np.array(wanted, float), equal_nan=True), (
        made,
        wanted,
    )


def test_schemas_keep_tables_apart() -> None:
    context = hr.sql.Context(t=hr.DataFrame({"x": [1]}))
    with pytest.raises(hr.InvalidArgumentError, match="no such schema: name='s'"):
        context.sql("create table s.t as select 2 as x")
    context.sql("create schema s")
    context.sql("create table s.t as select 2 as x")
    assert context.tables == ["s.t", "t"]
    assert context.sql("select t.x from t").to_dict() == {"x": [1]}
    assert context.sql("select t.x from main.t").to_dict() == {"x": [1]}
    assert context.sql("select t.x from s.t").to_dict() == {"x": [2]}
    context.sql("drop table s.t")
    assert context.tables == ["t"]
    with pytest.raises(hr.InvalidArgumentError, match="there is a schema"):
        context.sql("create schema s")
    with pytest.raises(hr.UnsupportedError, match=r"a\.s\.t"):
        context.sql("select * from a.s.t")


def test_several_statements() -> None:
    context = hr.sql.Context()
    made = context.sql("create table a as select 1 as x; select x + 1 as y from a")
    assert made.to_dict() == {"y": [2]}
    with pytest.raises(hr.InvalidArgumentError, match="statements=2"):
        context.sql("select ? as x; select ? as y", params=[1])
    with pytest.raises(hr.InvalidArgumentError, match="statements=0"):
        context.sql("  ")


def test_errors_reach_the_page(both: tuple[duckdb.DuckDBPyConnection, Any]) -> None:
    _, ours = both
    with pytest.raises(hr.UnsupportedError):
        ours.execute("CREATE TABLE x AS SELECT * FROM read_parquet('data/flights.parquet')")
    assert ours.query("select count(*) as n from flights").arrow().read_all().to_pydict() == {
        "n": [5000]
    }
