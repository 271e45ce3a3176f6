# SPDX-License-Identifier: Apache-2.0
"""Subqueries as groups and aggregates of the rows around, and early groups, against DuckDB."""

from __future__ import annotations

import duckdb
import numpy as np
import pyarrow as pa
import pytest
from test_sql_queries import plain, rows_of

import headrace as hr

pytest.importorskip("sqlglot")

NAN = float("nan")
LINES = {
    "k": pa.array([1, 1, 2, 2, 2, 3, 4, 4, 9], pa.int64()),
    "g": pa.array([0, 0, 1, 1, 0, None, 1, 1, 2], pa.int64()),
    "x": pa.array([1.5, 2.5, NAN, 1.0, None, -0.0, NAN, NAN, 4.0], pa.float64()),
    "y": pa.array([1.0, 2.0, 3.0, NAN, 5.0, 6.0, NAN, NAN, 9.0], pa.float64()),
    "i": pa.array([1, 2, 3, 4, None, 6, 7, 8, 9], pa.int64()),
    "s": pa.array(["a", "b", "A", "b", None, "", "a", "c", "d"], pa.string()),
}
PARTS = {
    "p": pa.array([1, 2, 3, 4, 5], pa.int64()),
    "n": pa.array([10, 10, 20, 30, 20], pa.int64()),
    "name": pa.array(["one", "two", None, "two", "five"], pa.string()),
    "w": pa.array([0.5, NAN, -0.0, 0.0, None], pa.float64()),
}
TABLES = {
    "lines": pa.table(LINES),
    "parts": pa.table(PARTS),
    "places": pa.table({"n": pa.array([10, 20], pa.int64()), "place": ["north", "south"]}),
    "twice": pa.table({"p": pa.array([1, 2, 2], pa.int64()), "name": ["a", "b", "c"]}),
    "nothing": pa.table(LINES).slice(0, 0),
}
WINDOWS = """
select sum(i) from lines, parts where p = k and i < (select 2 * avg(i) from lines where k = p);
select l.* from lines l, parts where k = p and x = (select max(x) from lines where k = p);
select l.* from lines l, parts where k = p and y = (select min(y) from lines m where m.k = p);
select k, (select max(y) from lines m where m.k = p) from lines, parts where p = k and n > 10;
select k, i from lines l where i = (select max(i) from lines where k = l.k);
select k, (select count(*) from lines where k = l.k), (select sum(i) from lines m where m.k = l.k)
    from lines l;
select k, i from lines l, parts, places where k = p and parts.n = places.n and place = 'north' and
    i >= (select avg(i) from lines where k = p);
select i from lines, parts where k = p and s <> 'b' and i = (select min(i) from lines where k = p
    and s <> 'b');
select l.i from lines l, parts where l.k = p and l.i > (select avg(i) from lines m, parts q where
    m.k = q.p and m.k = l.k);
select i, avg(i) from lines, parts where k = p and i > (select 0.5 * avg(i) from lines where k = p)
    group by i;
"""
OTHERS = """
select l.i from lines l, parts where k = p and l.g = 1 and i >= (select min(i) from lines where
    k = p);
select i from lines, parts where k = p and i >= (select min(i) from lines where k = p and i > 2);
select i from lines, parts where k = p and i > n - 10 and i = (select max(i) from lines where
    k = p);
select k, (select sum(i) from lines m where m.k = p) from lines, twice where k = p;
select k, (select count(*) from lines m where m.g = l.g) from lines l;
select i from lines, parts where k = p and i in (select i from lines where g = 1) and i = (select
    max(i) from lines where k = p);
select k, (select max(i) from lines where k = g) from lines;
select p, (select count(*) from lines where k = p), (select count(x) from lines where k = p) from
    parts;
select p, (select count(*) + 1 from lines where k = p and i > 3) from parts;
select p, (select coalesce(sum(i), -1) from lines where k = p and x > 1) from parts;
select p, (select case when count(*) = 0 then 'none' else max(s) end from lines where k = p and
    i > 6) from parts;
select p from parts where 2 > (select count(*) from lines where k = p and g is not null);
select p, (select avg(x) from nothing where k = p), (select count(*) from nothing where k = p) from
    parts;
select p, (select sum(x) from lines where k = p and g = n / 10 - 1) from parts;
select p, (select min(x) filter (where i > 3) from lines where k = p) from parts;
select p, (select count(distinct g) from lines where k = p) from parts;
select n, (select max(i) from lines where g = n - 9) from parts where p < 4;
select w, (select count(*) from lines where x = w), (select sum(i) from lines where y = w) from
    parts;
select p, (select string_agg(s, ',' order by s) from lines where k = p) from parts;
select p, (select max(i) from lines where k = p and i < p) from parts;
select p, (select max(i) from lines where k < p) from parts;
select k from nothing where i = (select max(i) from lines where lines.k = nothing.k);
select p in (select k from lines where i = (select max(i) from lines m where m.k = lines.k)) from
    parts;
"""
IN_GROUPS = """
select p, name, sum(y) from lines, parts where p = k and p in (select k from lines group by k having
    sum(i) > 5) and name <> 'one' group by p, name;
select p, name, sum(i) from lines, parts where p = k and g = 1 and p in (select k from lines group
    by k having sum(i) > 5) and name <> 'one' group by p, name;
"""
NANS = """
select k, sum(y), avg(y), min(y), max(y), count(y) from lines group by k;
select k, var_pop(y), stddev(y), product(y), sem(y), var_samp(y) from lines group by k;
select k, g, sum(y), min(y), max(x), avg(x) from lines group by rollup(k, g);
select sum(y), avg(y), min(y), max(y), var_pop(y) from lines;
select sum(y), avg(y), min(y), max(y), var_pop(y) from lines where k = 4;
select sum(y), avg(y), min(y), max(y), var_pop(y) from lines where k = 70;
select i, sum(y) over w, min(y) over w, max(y) over w, avg(y) over w from lines window w as (order
    by i rows between 1 preceding and current row);
select i, sum(y) over w, min(y) over w, max(y) over w, stddev(y) over w from lines window w as
    (partition by k);
"""
GROUPS = """
select p, name, n, sum(i) as total from lines, parts where k = p group by p, name, n;
select p, name, place, sum(i), count(*) from lines, parts, places where k = p and parts.n = places.n
    group by p, name, place order by p;
select k, name, max(x), avg(y) from lines join parts on k = p where i > 1 group by k, name;
select name, p, w, g, min(s) as low from parts, lines where p = k group by w, p, name, g having
    count(*) > 1 and low > 'A';
select k, name, count(distinct g), sum(i) filter (where i > 2) from lines, parts where k = p group
    by k, name order by sum(i) desc, 1 limit 3;
select p, name, sum(i) from lines, parts where p = k and p in (select k from lines group by k
    having sum(i) > 5) and name <> 'one' group by p, name;
select p, place, sum(l.i) as total from lines l, parts, places where p = l.k and parts.n = places.n
    and l.k in (select k from lines m group by k having sum(m.i) > 2) group by p, place order by 1;
select name as a, k + 1, 2 * sum(i) from lines, parts where k = p group by k, name order by a, 2;
select * from (select p, name, sum(i) as t from lines, parts where k = p group by p, name) where
    t > 3;
"""
NO_EARLY_GROUPS = """
select twice.p, name, sum(i) from lines, twice where k = p group by twice.p, name;
select name, sum(i) from lines, parts where k = p group by name;
select p, name, sum(i * w) from lines, parts where k = p group by p, name;
select p, name, sum(i) from lines, parts where k = p and name <> 'two' group by p, name;
select p, name, sum(i) from lines, parts where k = p and i < n group by p, name;
select p, name, sum(i) from lines, parts where k = p and exists (select 1 from places where
    places.n = parts.n) group by p, name;
select p, name, sum(i) from lines left join parts on k = p group by p, name;
"""


def split(queries: str) -> list[str]:
    """The queries of a list."""
    return queries.strip().rstrip(";").split(";\n")


def made(query: str) -> hr.DataFrame:
    """A query over the tables."""
    return hr.sql(query, **{name: hr.from_arrow(table) for name, table in TABLES.items()})


@pytest.mark.parametrize("query", split(WINDOWS + OTHERS + IN_GROUPS + NANS + GROUPS))
def test_a_query_gives_the_rows_of_duckdb(query: str) -> None:
    check(query)


@pytest.mark.parametrize("query", split(NO_EARLY_GROUPS))
def test_groups_that_are_not_made_early_give_the_rows_of_duckdb(query: str) -> None:
    check(query)
    plan = made(query).explain()
    assert plan.index("merge [how=") < plan.index("groupby")


def check(query: str) -> None:
    """Compare the rows with DuckDB's, of a plan and of a known one."""
    connection = duckdb.connect()
    for name, table in TABLES.items():
        connection.register(name, table)
    rows = connection.execute(query).fetchall()
    wanted = sorted((tuple(map(plain, row)) for row in rows), key=repr)
    frames = {name: hr.from_arrow(table) for name, table in TABLES.items()}
    for _ in range(2):
        found = hr.sql(query, **frames)
        assert sorted(rows_of(found), key=repr) == wanted


@pytest.mark.parametrize("query", split(WINDOWS))
def test_an_aggregate_of_the_rows_around_reads_no_table_again(query: str) -> None:
    plan = made(query).explain()
    assert "transform" in plan
    assert "groupby [k0] of k" not in plan


def test_a_scalar_subquery_groups_by_its_own_keys() -> None:
    plan = made("select p, (select sum(i) from lines where k = p) from parts").explain()
    assert plan.count("merge") == 1
    assert plan.count("groupby") == 1


@pytest.mark.parametrize("query", split(GROUPS))
def test_groups_are_made_before_joins_with_one_row_for_each(query: str) -> None:
    plan = made(query).explain()
    assert plan.index("groupby") < plan.index("merge [how=")


def test_means_of_floats_are_of_each_row_once() -> None:
    lines = hr.DataFrame({"k": [1, 1, 1, 2], "x": [0.1, 0.1, 0.1, 0.3]})
    query = """select count(*) as n from lines l, parts where k = p
        and x >= (select avg(x) from lines where k = p)"""
    # A sum of nine copies rounds in another way than one of three.
    for keys, wanted in (([1, 2], 1), ([1, 1, 1, 2, 2], 2)):
        assert hr.sql(query, lines=lines, parts=hr.DataFrame({"p": keys})).n.to_list() == [wanted]


def test_early_groups_keep_the_errors_and_the_names_of_a_query() -> None:
    lines = hr.DataFrame({"k": [1, 1, 2], "i": [5, 6, 7], "s": ["1", "2", "bad"]})
    parts = hr.DataFrame({"p": [1, 3], "name": ["a", "b"], "n": [4, 9], "w": [0, 0]})
    joined = "from lines, parts where k = p group by p, name"
    for columns, after in [
        ("n, name, sum(i)", ""),
        ("k, sum(i)", ""),
        ("name, sum(i)", "having n > 5"),
        ("name, sum(i)", "order by n"),
    ]:
        with pytest.raises(hr.Error):
            hr.sql(f"select {columns} {joined} {after}", lines=lines, parts=parts)
    query = f"select name, max(cast(s as int)) as most {joined}"  # no row of 'bad' is joined
    assert hr.sql(query, lines=lines, parts=parts).most.to_list() == [2]
    of_part = "(select max(cast(s as int)) from lines where k = p)"
    query = f"select {of_part} as most from parts where p = 1"
    assert hr.sql(query, lines=lines, parts=parts).most.to_list() == [2]
    lists = hr.DataFrame({"q": [[1], [2]], "name": ["a", "b"]})
    query = "select q, sum(i) as t from l, lists where v = q group by q order by t"
    numbers = hr.DataFrame({"v": [[1], [1]], "i": [3, 4]})
    assert hr.sql(query, l=numbers, lists=lists).t.to_list() == [7]


def test_live_memory_is_read_each_time() -> None:
    key = np.array([0, 1, 2], np.int64)
    d = hr.DataFrame({"k": hr.asarray(key), "g": [10, 20, 30]})
    o = hr.DataFrame({"k": [0, 1, 2], "v": [100, 200, 300]})
    query = "select d.k, sum(o.v) as s from o, d where o.k = d.k group by d.k, d.g order by s, d.k"
    assert hr.sql(query, d=d, o=o).s.to_list() == [100, 200, 300]
    key[0] = 2
    assert hr.sql(query, d=d, o=o).s.to_list() == [200, 300, 300]
