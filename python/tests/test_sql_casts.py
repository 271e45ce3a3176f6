# SPDX-License-Identifier: Apache-2.0
"""Conversions of SQL against DuckDB: rounding of times, words for true and false, text of times."""

from __future__ import annotations

import datetime

import duckdb
import pyarrow as pa
import pytest
from test_sql_queries import check, plain

import headrace as hr

pytest.importorskip("sqlglot")

QUERIES = r"""
select a + 0.5, a * 0.5, m + 1, 0.5 - a, m - a, log10(1000), log10(5) from t;
select '2020-01-05'::date, '2020-1-5'::date, '2020-01-05 10:11'::date, '2020/01/05'::date;
select '2020-01-05 10:11:12.5'::timestamp, '2020-01-05T10:11:12'::timestamp,
    '2020-01-05 10:11:12+02'::timestamp, '2020-01-05 10:11:12 Z'::timestamp;
select timestamp '2020-01-05 10:11:12.5'::timestamp_s,
    timestamp '1960-01-05 10:11:12.5'::timestamp_s,
    timestamp '2020-01-05 10:11:12.0005'::timestamp_ms;
select try_cast('2020-01-05 garbage' as timestamp), try_cast('x' as date);
select 'yes'::boolean, 'F'::boolean, try_cast('maybe' as boolean);
select 1.5 + 1.5, 1.5 * 2.25, 1.5 - 0.25, 2.50 * 0.1;
select concat([1], [2, 3]), typeof(1.5), typeof(0.5), typeof(12.340);
select try_cast(s as boolean), try_cast(s as double) from t;
select -12345678901234567890123456789012345678::decimal(38, 0),
    abs(-1234567890123456789012345678.9),
    '0.1'::decimal(3, 3)::varchar, round(155.25, -1), round(-155, -1), 1.1::float, typeof(-2.35);
select m::varchar, round(m, -1), (m / 100)::varchar is null from t;
select row(a, s)::struct(x bigint, y varchar), {'x': a, 'y': 1}::struct(y bigint, x bigint) from t;
select date '2020-01-05'::varchar, timestamp '2020-01-05 01:02:03'::date;
select [1, 2]::bigint[], [1.5]::int[], {'x': 1}::struct(x bigint);
select '[12,13,14]'::int[], '["hello", "world", !]'::varchar[], '[[a b], c]'::varchar[],
    '[null, , NULL,]'::varchar[], '[]'::int[], '[ [1,2], [] ]'::int[][];
select '{a: 1, ''b'': [x, "y z"]}'::struct(a int, b varchar[]), '{b: null}'::struct(a int, b int),
    $$it's$$, '(1, a)'::struct(a int, b varchar), '{}'::struct(a int),
    '{a:b:c}'::struct(a varchar);
select x::varchar[] from (values ('[a, b]'), (null), ('[]'), ('["\"", "a\b", a\b]')) v(x);
select try_cast('[1,x]' as int[]), try_cast('1' as int[]), try_cast('{a:1,}' as struct(a int));
select ['a b', 'a,b', null, ' x', '', 'null', 'it''s', '\', s]::varchar,
    {'a': a, 'b': null, 'c x': [s]}::varchar, row(1, s)::varchar, row(a)::varchar,
    [[a, null], null, []]::varchar, p::varchar, [p]::varchar, [b]::varchar, [d]::varchar from t;
select '[1.5, 2]'::decimal(5, 2)[], '[2020-01-01]'::date[], '[2020-01-01 01:02:03]'::timestamp[];
"""


@pytest.mark.parametrize("query", QUERIES.strip().rstrip(";").split(";\n"))
def test_a_query_gives_the_rows_of_duckdb(query: str) -> None:
    check(query)


TIMES = [
    None,
    *(
        datetime.datetime(1969, 12, 31, 23, 59, s, us)
        for s in (0, 58)
        for us in (0, 1, 499_999, 500_000, 500_001, 999_500, 120_000)
    ),
]
TIMES += [each and each + datetime.timedelta(days=9000) for each in TIMES]


def test_columns_of_times_are_rounded_and_written_as_in_duckdb() -> None:
    table = pa.table({"t": pa.array(TIMES, pa.timestamp("us"))})
    query = "select t::timestamp_s, t::timestamp_ms, t::varchar, t::timestamp_ms::varchar from x"
    connection = duckdb.connect()
    connection.register("x", table)
    expected = connection.execute(query).fetchall()
    found = hr.sql(query, x=hr.DataFrame(table)).to_dict()
    assert [list(map(plain, row)) for row in expected] == [
        list(map(plain, row)) for row in zip(*found.values(), strict=True)
    ]


def test_columns_of_strings_become_bools_or_an_error() -> None:
    words = ["true", "T", "1", "yes", "Y", "false", "f", "0", "No", "n", None]
    frame = hr.DataFrame({"s": words})
    found = hr.sql("select s::boolean as b from x", x=frame).to_dict()["b"]
    assert found == [True] * 5 + [False] * 5 + [None]
    bad = hr.DataFrame({"s": ["true", "maybe"]})
    with pytest.raises(hr.Error):
        hr.sql("select s::boolean as b from x", x=bad).to_dict()


@pytest.mark.parametrize(
    ("query", "word"),
    [
        ("select 5::hugeint // 2", "HUGEINT"),
        ("select typeof(5::hugeint)", "TYPEOF"),
        ("select 170141183460469231731687303715884105727 - 1", "HUGEINT"),
        ("select try_cast('infinity' as timestamp)", "infinity"),
        ("select try_cast('294247-01-10 04:00:54' as timestamp)", "294247"),
        ("select regexp_replace('ab', '.*', 'x', 'g')", "REGEXP_REPLACE"),
        ("select fsum(x) from range(3) as t(x)", "FSUM"),
    ],
)
def test_what_is_not_as_in_duckdb_is_refused(query: str, word: str) -> None:
    with pytest.raises(hr.UnsupportedError, match=word):
        hr.sql(query)


@pytest.mark.parametrize("word", ["2020-01-05 garbage", "2020-01-05x", "2020-13-01", "20200105"])
def test_a_word_that_is_no_date_is_an_error(word: str) -> None:
    with pytest.raises(hr.InvalidArgumentError, match="cannot be cast"):
        hr.sql(f"select '{word}'::date as d")
