# SPDX-License-Identifier: Apache-2.0
"""Queries of SQL against DuckDB over the same tables, with null, NaN and empty tables."""

from __future__ import annotations

import datetime
import decimal
import math
from typing import Any

import duckdb
import pytest

import headrace as hr

pytest.importorskip("sqlglot")

from headrace.sql.values import type_name

NAN = float("nan")
TABLES: dict[str, dict[str, list[Any]]] = {
    "t": {
        "a": [1, 2, 2, 3, None, 5, -7, 2],
        "b": [1.5, None, NAN, 2.5, -0.5, 1.5, NAN, 0.0],
        "s": ["x", "yy", None, "x", "", "zé", "yy", "%_"],
        "d": [datetime.date(2024, 1, 31), None, *[datetime.date(2020, 2, i) for i in range(1, 7)]],
        "p": [True, False, None, True, True, None, False, False],
        "m": [decimal.Decimal(f"{n}.25") for n in (1, -2, 3, 4, 5, -6, 7)] + [None],
    },
    "u": {
        "k": [2, 3, 3, None, 9],
        "v": [10, 20, None, 40, 50],
        "w": ["x", "x", "yy", None, ""],
    },
    "none": {"k": [1], "v": [2]},
}
TYPES = {"m": "decimal128(9, 2)", "a": "int64", "k": "int64", "v": "int64", "b": "float64"}


def frames() -> dict[str, hr.DataFrame]:
    """The tables as frames; `none` has no row."""
    made = {}
    for name, columns in TABLES.items():
        frame = hr.DataFrame(
            {
                word: hr.Series(values, dtype=TYPES.get(word))
                if word in TYPES
                else hr.Series(values)
                for word, values in columns.items()
            }
        )
        made[name] = frame[:0] if name == "none" else frame
    return made


def oracle() -> duckdb.DuckDBPyConnection:
    """The same tables in DuckDB."""
    kinds = {
        "a": "bigint",
        "b": "double",
        "s": "varchar",
        "d": "date",
        "p": "boolean",
        "m": "decimal(9,2)",
        "k": "bigint",
        "v": "bigint",
        "w": "varchar",
    }
    connection = duckdb.connect()
    for name, columns in TABLES.items():
        listed = ", ".join(f"{word} {kinds[word]}" for word in columns)
        connection.execute(f"create table {name} ({listed})")
        if name != "none":
            for row in zip(*columns.values(), strict=True):
                marks = ", ".join("?" for _ in row)
                connection.execute(f"insert into {name} values ({marks})", list(row))
    return connection


def plain(value: Any) -> Any:
    """A value in a form that both sides have."""
    if isinstance(value, bool | str | None):
        return value
    if isinstance(value, list | tuple):
        return [plain(each) for each in value]
    if isinstance(value, dict) and "element1" in value:  # a row
        return [plain(each) for each in value.values()]
    if isinstance(value, dict):
        return {name: plain(each) for name, each in value.items()}
    if isinstance(value, datetime.datetime):
        return value.date() if value.time() == datetime.time() else value
    if isinstance(value, int | float | decimal.Decimal):
        number = float(value)
        return "nan" if math.isnan(number) else float(f"{number + 0.0:.12g}")
    return value


def rows_of(frame: hr.DataFrame) -> list[tuple[Any, ...]]:
    """The rows of a frame."""
    return [tuple(map(plain, row)) for row in zip(*frame.to_dict().values(), strict=True)]


#: Types of ours that stand for others of DuckDB.
WIDER = {
    "HUGEINT": "BIGINT",
    "INTEGER": "BIGINT",
    "UBIGINT": "BIGINT",
    "UINTEGER": "BIGINT",
    '"NULL"': "INTEGER",
}


def wider(kind: str) -> str:
    """The type of ours that stands for one of DuckDB, of lists by that of their items."""
    base = kind.rstrip("[]")
    return WIDER.get(base, base) + kind[len(base) :]


def check(query: str, ordered: bool | None = None) -> None:
    """Compare a query with DuckDB, in order where it says so, and its types."""
    connection = oracle()
    expected = [tuple(map(plain, row)) for row in connection.execute(query).fetchall()]
    made = hr.sql(query, **frames())
    found = rows_of(made)
    kinds = [type_name(node.dtype) for node in made._nodes.values()]
    wanted = [str(kind) for kind in connection.sql(query).types]
    pairs = [(a, b) for a, b in zip(kinds, wanted, strict=True) if "TUPLE" not in b]
    assert all(a in (b, wider(b)) for a, b in pairs), (kinds, wanted)
    if ordered if ordered is not None else "order by" in query.rpartition(")")[2]:
        assert found == expected
    else:
        assert sorted(map(repr, found)) == sorted(map(repr, expected))


QUERIES = """
select * from t
select * from t left join u on a = k join u as x on t.a = x.k
select * from t left join u on a = k left join u as x on u.k = x.k join u as y on a = y.k
select * from t left join u on a = k, u as x where t.a = x.k and x.v > 10
select * from t left join u on a = k, u as x where u.k = x.k
select * from t left join u on a = k where u.v > 10
select * from t left join u on a = k where u.v in (10, 20) or u.v is null
select * from t left join u on a = k where u.v between 5 and 25
select * from t left join u on a = k where coalesce(u.v, 0) < 15
select * from t left join u on a = k join u as x on u.v = x.v
select * from t left join u on a = k where u.v > all (select k from u where k > 90)
select * from t left join u on a = k where u.v > any (select k from u where k > 2)
select x.k from t left join u on a = k join u y on y.v = u.v right join u x on x.k = a where b > 0
select a, x.k from t left join u on a = k join u y on y.v = u.v full join u x on x.k = a where a = 2
select a from t left join u on a = k and exists (select 1 from u z where z.v = a * 5) where u.v > 5
select a, v from t, u where a = k and a in (select k from u where k in (select a from t))
select u.v from t left join u on a = k, u x where a = x.k and (u.v > 5 and x.v = 20 or u.k = 2)
select a from t, u, u x where a = u.k and u.k = x.k and (b > 1 and x.v = 10 or b < 1 and x.k > 2)
select a, u.v from t, u where a = k and a in (select k from u where v > 10)
select a, u.v from t, u where a = k and a in (select x.k from u as x where x.v = t.a * 5)
select a, u.v from t, u where a = k and t.a in (select k from none)
select a from t, u, u x where a = u.k and s = x.w and x.k in (select max(k) from u group by w)
select s, a, sum(b), count(*), avg(b), min(b), max(b), count(b) from t group by rollup (s, a)
select s, p, sum(b / 0 * a) from t group by rollup (s, p)
select s, p, a, sum(m), sum(a), count(distinct a) from t group by cube (s, p, a)
select s, sum(a) filter (where a > 1), avg(a) from t group by grouping sets ((s), (s, p), (p), ())
select p, s, sum(a) from none, t where none.k = t.a group by rollup (p, s)
select a, b from t where a > 1
select a + 1 as x, -a, a * 2, a / 2, a // 2, a % 2 from t
select a / 0, b / 0 from t
select 7 // -2, -7 % 3, 1 / 0, 5.5 // 2, 2 ** 10
select a from t where a is null or a = 2 order by a
select a, b from t order by b, a
select a, b from t order by b desc, a desc nulls first
select s, count(*), count(a), sum(a), avg(a), min(a), max(a) from t group by s
select p, sum(b), avg(b), min(b), max(b), count(b) from t group by p
select sum(m), avg(m), min(m), max(m) from t
select count(*), sum(k), max(v) from none
select count(*), sum(k) from none group by k
select distinct s from t
select distinct p, a > 1 from t
select a, case when a > 2 then 'big' when a is null then null else 'small' end from t
select a, case a when 1 then 10 when 2 then 20 end from t
select coalesce(a, 0), nullif(a, 2), ifnull(s, 'none') from t
select a from t where a in (1, 2, null)
select a from t where a not in (1, 2)
select a from t where a not in (1, null)
select a in (1, null), s in ('x', 'yy', '', 'q', 'r') from t
select a between 1 and 2, not p, p and a > 1, p or a > 1 from t
select s || '!', upper(s), length(s), substring(s, 1, 1), s like '%y%', s like '\\%\\_' from t
select s like '_', s not like 'x%', concat(s, '-', a), replace(s, 'y', 'z') from t
select d, d + interval 1 month, d - interval 1 day, year(d), month(d), extract(day from d) from t
select d - date '2020-01-01', d + 3, date_trunc('month', d), d > '2020-02-03' from t
select cast(b as integer) from t where b < 100
select a::varchar, a::double, m::integer, m::double, p::integer, s::varchar from t
select round(m, 1), round(b), floor(b), ceil(m), abs(a), abs(m) from t
select b = b, b > 1, b < 1, b >= 2.5, b <> 1.5, b is distinct from null from t
select x.a, u.v from t as x join u on x.a = u.k
select x.a, u.v from t as x left join u on x.a = u.k
select x.a, u.v from t as x right join u on x.a = u.k
select x.a, u.v from t as x full join u on x.a = u.k
select a, v from t left join u on a = k and v > 10
select a, v from t full join u on a = k and v > 10
select a, v from t left join u on a = k and s = w
select a, v from t left join u on a < k
select a, v from t join u on a < k and s <> w
select count(*) from t, u
select t.a, x.v from t cross join u as x where t.a = x.k
select a from t semi join u on a = k
select a from t anti join u on a = k
select k, v, w from u join (select 3 as k, 'x' as w) using (k, w)
select k, x.v, y.v from u as x full join (select k, v from u where v > 10) as y using (k)
with c as (select a, count(*) as n from t group by a) select * from c where n > 1
with c(x) as (select a from t), e as (select x from c where x > 1) select sum(x) from e
select * from (select a + 1 as x from t) as q where x > 2
select (select max(k) from u), a from t
select a from t where a > (select avg(k) from u)
select a from t where a in (select k from u)
select a from t where a not in (select k from u)
select a from t where a not in (select k from u where k is not null)
select a from t where a not in (select k from none)
select a in (select k from u), a not in (select k from none) from t
select a from t where exists (select 1 from u where k = a)
select a from t where not exists (select 1 from u where k = a and v > 10)
select a, exists (select 1 from u where k = a) as e from t
select a from t where exists (select 1 from none)
select a, (select count(*) from u where k = a) from t
select a, (select sum(v) from u where k = a) from t
select a, (select count(*) + coalesce(sum(v), 100) from u where k < a) from t
select a, (select max(v) from u where k > a and w <> s) from t
select a from t where b > (select min(v) / 10 from u where u.w = t.s)
select a from t where a in (select k from u where w = s)
select a from t where a not in (select k from u where w = s)
select a, a not in (select k from u where w = s) from t
select a from t where exists (select 1 from u where k = a and w <> s)
select s from t union select w from u
select a from t union all select k from u
select a from t intersect select k from u
select a from t except select k from u
select a from t intersect all select k from u
select a from t except all select k from u
select a from t union select k from u order by 1 nulls first limit 3
select s, a, sum(a) from t group by rollup (s, a)
select s, p, count(*) from t group by cube (s, p)
select s, p, grouping(s), grouping(p), count(*) from t group by grouping sets ((s), (p), ())
select s, count(*) from t group by all
select s, sum(a) from t group by s having sum(a) > 1
select a % 2 as odd, count(*) from t group by odd
select a + 1 as y, count(*) from t group by 1 order by 2, 1
select count(distinct a), count(distinct s), count(distinct b), sum(distinct a) from t
select s, count(distinct a), sum(a) from t group by s
select count(*) filter (where a > 1), sum(a) filter (where p) from t
select s, count(distinct a) filter (where a > 1) from t group by s
select any_value(s), bool_and(p), bool_or(p) from t
select stddev_samp(a), var_pop(a), stddev_pop(m), median(a) from t
select a, row_number() over (order by a, b, s) from t
select a, rank() over (order by a), dense_rank() over (order by a) from t
select a, s, sum(a) over (partition by s), count(*) over (partition by s) from t
select a, sum(a) over (order by a), sum(m) over (order by a) from t
select a, avg(b) over (order by a, s rows between 1 preceding and 1 following) from t where b < 9
select a, max(b) over (order by a, s, b rows between 2 preceding and current row) from t
select a, min(d) over (order by a, s, b rows unbounded preceding) from t
select a, lag(a) over (order by a, s, b), lead(a, 2, -1) over (order by a, s, b) from t
select a, first_value(s) over (partition by p order by a, b), last_value(a) over (order by a) from t
select a, nth_value(a, 2) over (order by a, s, b rows between current row and 2 following) from t
select a, ntile(3) over (order by a, s, b), percent_rank() over (order by a) from t
select a, cume_dist() over (order by a) from t
select a from t qualify row_number() over (partition by s order by a, b) = 1
select s, sum(a) as n, rank() over (order by sum(a)) from t group by s
select s, sum(sum(a)) over () from t group by s
select sum(a) over w, count(*) over w from t window w as (partition by s)
with recursive c(n) as (select 1 union all select n + 1 from c where n < 5) select * from c
with recursive c(n) as (select 1 union select (n * 2) % 7 from c) select * from c
select * from (values (1, 'a'), (2, null)) as v(x, y)
values (1, 2.5), (3, 4)
select a from t order by a desc nulls last limit 2 offset 1
select a as x, x + 1 as y from t
select a from t where a = 1 or a = 2 and p
select greatest(a, 2), least(a, 2, null) from t
select if(p, a, -a), sign(a), sqrt(abs(a)) from t
select t.* exclude (b, m), a * 2 as z from t
select max(a) from t having count(*) > 100
select 1 as one where 1 = 0
select count(*) from (select 1 where false)
select sum(a) from t where false
select t1.a, t2.a from t t1, t t2 where t1.a = t2.a and t1.b < t2.b
select a from t where (a = 1 and s = 'x') or (a = 1 and p) or (a = 1 and b > 0)
select x.k from u x where x.v = (select max(y.v) from u y where y.k = x.k)
select k, (select count(*) from t where a = k and exists (select 1 from u y where y.k = a)) from u
select * from u x, t, u y where x.k = t.a and y.k = x.k and t.b > 0
select * from none, u, t where none.k = u.k and u.k = t.a
select distinct on (s) s, a from t order by s, a, b
select a = any (select k from u), a <> all (select k from u) from t
select count(*) over w from t window base as (partition by s), w as (base order by a)
select k, (select max(q.v) from (select v from u where k = x.k) as q) from u x
select k, (with c as (select v + x.k as n from u where k = x.k) select sum(n) from c) from u x
select sum(case when exists (select 1 from u where k = a) then 1 else 0 end) from t
select exists (select 1 from u where k = a) as e, count(*) from t group by e
select s, sum(distinct a::int + 1), avg(distinct a::int + 1), sum(b) from t group by s
select sum(distinct a::int + 1) filter (p) from t
""".strip().splitlines()


@pytest.mark.parametrize("query", QUERIES)
def test_a_query_gives_the_rows_of_duckdb(query: str) -> None:
    check(query)


@pytest.mark.parametrize(
    ("query", "word"),
    [
        ("select * from read_csv('x.csv')", "read_csv"),
        ("copy t to 'x.csv'", "COPY"),
        ("attach 'x.db'", "ATTACH"),
        ("install httpfs", "INSTALL"),
        ("insert into t values (1)", "INSERT"),
        ("delete from t", "DELETE"),
        ("select * from t tablesample 10%", "sample"),
        ("select foo(a) from t", "FOO"),
        ("select * from t right join u on #1 = 1", "1"),
        ("select a from t order by [b]", "DOUBLE"),
        ("select (select max(a) from u) from t", "aggregate"),
        ("select * from t, u full join none n on t.a = n.k", "FULL JOIN"),
        ("select * from t, (u join none n on t.a = n.k)", "JOIN"),
    ],
)
def test_what_is_not_supported_is_named(query: str, word: str) -> None:
    with pytest.raises(hr.UnsupportedError) as error:
        hr.sql(query, **frames())
    assert word.lower() in str(error.value).lower()


@pytest.mark.parametrize(
    ("query", "error", "word"),
    [
        ("select q from t", hr.ColumnNotFoundError, "q"),
        ("select a from nowhere", hr.ColumnNotFoundError, "nowhere"),
        ("select a frm t where", hr.InvalidArgumentError, "line=1"),
        ("select sum(a) from t where sum(a) > 1", hr.InvalidArgumentError, "aggregate"),
        ("select a + s from t", hr.TypeMismatchError, "VARCHAR"),
        ("select a from t where a = s", hr.TypeMismatchError, "VARCHAR"),
        ("select k from u x, u y", hr.InvalidArgumentError, "ambiguous"),
        ("select a from t union select k, v from u", hr.InvalidArgumentError, "columns"),
        ("select 1; select 2", hr.InvalidArgumentError, "statements"),
        ("select cast('x' as integer)", hr.InvalidArgumentError, "TRY_CAST"),
    ],
)
def test_a_wrong_query_is_an_error(query: str, error: type[Exception], word: str) -> None:
    with pytest.raises(error, match=word):
        hr.sql(query, **frames())


def test_overflow_is_an_error_and_not_a_number() -> None:
    big = hr.DataFrame({"x": [2**62, 2**62, 5]})
    for query in (
        "select x + x as y from big",
        "select x * 4 as y from big",
        "select sum(x) + 0 as y from big",
    ):
        with pytest.raises(hr.InvalidArgumentError, match="HUGEINT"):
            hr.sql(query, big=big).to_dict()
    exact = hr.sql("select sum(x::HUGEINT) as y from big", big=big)
    assert [int(value) for value in exact.y.to_list()] == [2**63 + 5]
    assert hr.sql("select avg(x) as y from big where x > 5", big=big).to_dict() == {"y": [2.0**62]}
    small = hr.DataFrame({"x": [2**62, -(2**62), 7]})
    assert hr.sql("select sum(x) as y from small", small=small).to_dict() == {"y": [7]}


def test_a_scalar_subquery_of_two_rows_is_an_error() -> None:
    with pytest.raises(hr.Error):
        hr.sql("select (select k from u) as x from t", **frames()).to_dict()


def test_tables_come_by_name_from_the_caller_and_from_a_register() -> None:
    import pandas as pd
    import pyarrow as pa

    points = pd.DataFrame({"x": [1, 2]})
    arrows = pa.table({"X": [3]})
    assert hr.sql("select sum(x) as s from Points").to_dict() == {"s": [3]}
    assert hr.sql("select x from arrows").to_dict() == {"x": [3]}
    hr.sql.register("mine", points)
    try:
        assert hr.sql("select max(x) as m from mine").to_dict() == {"m": [2]}
    finally:
        hr.sql.unregister("mine")
    assert len(points), len(arrows)


def test_parameters_are_values_and_never_text() -> None:
    table = hr.DataFrame({"s": ["a", "b' or 1=1"], "x": [1, 2]})
    query = "select x from table_ where s = ?"
    assert hr.sql(query, params=["b' or 1=1"], table_=table).to_dict() == {"x": [2]}
    named = hr.sql("select x from table_ where x > $low", params={"low": 1}, table_=table)
    assert named.to_dict() == {"x": [2]}
    with pytest.raises(hr.InvalidArgumentError, match="params"):
        hr.sql(query, table_=table)


def test_a_context_has_tables_and_views_of_its_own() -> None:
    context = hr.sql.Context(t=frames()["t"])
    context.sql("create table big as select a from t where a > 1")
    context.sql("create view twice as select a * 2 as b from big")
    assert context.tables == ["big", "t", "twice"]
    assert context.sql("select max(b) as m from twice").to_dict() == {"m": [10]}
    assert context.sql("describe big").to_dict() == {
        **{key: [None] for key in ("key", "default", "extra")},
        "null": ["YES"],
        "column_name": ["a"],
        "column_type": ["BIGINT"],
    }
    with pytest.raises(hr.InvalidArgumentError, match="OR REPLACE"):
        context.sql("create table big as select 1 as x")
    context.sql("create or replace table big as select 1 as a")
    assert context.sql("select max(b) as m from twice").to_dict() == {"m": [2]}
    context.sql("drop view twice")
    assert context.tables == ["big", "t"]
    with pytest.raises(hr.UnsupportedError):
        context.sql("create table x (a integer)")


def test_results_are_lazy() -> None:
    frame = hr.sql("select a + 1 as x from t", t=frames()["t"])
    assert not frame._nodes["x"].is_ready
