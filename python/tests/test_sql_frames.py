# SPDX-License-Identifier: Apache-2.0
"""Frames of window functions against DuckDB: bounds by value and by peers, what is left out."""

from __future__ import annotations

import pytest
from test_sql_queries import check

import headrace as hr

pytest.importorskip("sqlglot")

FRAMES = """
rows between 1 preceding and 1 following exclude current row
rows between unbounded preceding and unbounded following exclude group
rows between 2 preceding and current row exclude ties
range between 1 preceding and 1 following
range between unbounded preceding and 2 following
range between 2 preceding and unbounded following
range between 3 following and 4 following
range between current row and unbounded following exclude current row
groups between 1 preceding and current row
groups between 1 following and 2 following
groups between unbounded preceding and 1 preceding exclude ties
rows between a preceding and a following
""".strip().split("\n")
ORDERS = ["order by k", "order by k desc", "order by k nulls first", "partition by g order by k"]
ROWS = """
    (select a, s, b, k, p, k % 2 as g from (select row_number() over () % 3 as a, s, b,
        row_number() over () * 7 % 5 as n, case when s = 'yy' then null else a end as k, p
        from (select * from t order by a, s, b, d))) as x
"""


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("frame", FRAMES)
def test_a_frame_holds_the_rows_of_duckdb(frame: str, order: str) -> None:
    calls = ", ".join(f"{call} over w" for call in ("count(*)", "sum(k)", "count(distinct s)"))
    check(f"select k, {calls} from {ROWS} window w as ({order} {frame})")


QUERIES = """
select s, list(a order by a) over (partition by p) from t;
select string_agg(s, ',' order by s) over (partition by p) from t;
select a, median(a) over (order by a rows between 1 preceding and 1 following) from t
    where a is not null and a <> 2;
select a, stddev_pop(a) over (order by a rows 2 preceding) from t where a is not null and a <> 2;
select a, mode(s) over (partition by p) from t where s = 'x';
select d, quantile_disc(a, 0.5) over (order by d rows between 2 preceding and current row) from t;
select d, first_value(a ignore nulls) over (order by d nulls first) from t;
select d, last_value(a ignore nulls) over (order by d rows between 1 preceding and current row)
    from t;
select d, nth_value(a, 2 ignore nulls) over (order by d) from t;
select d, lag(a ignore nulls) over (order by d), lead(a, 2, -1 ignore nulls) over (order by d)
    from t;
select d, count(distinct s) over (order by d rows between 3 preceding and current row) from t;
select d, sum(a) filter (where p) over (order by d range between interval 2 days preceding and
    current row) from t where d is not null;
select d, min(s) over (order by d rows between 1 following and 3 following) from t;
select a, sum(v) over (order by k range between 5 preceding and 5 following) from t, u
    where a = 1;
"""


@pytest.mark.parametrize("query", QUERIES.strip().rstrip(";").split(";\n"))
def test_a_window_function_gives_the_rows_of_duckdb(query: str) -> None:
    check(query)


def test_an_offset_below_zero_is_an_error() -> None:
    with pytest.raises(hr.InvalidArgumentError, match="offset"):
        hr.sql(
            "select sum(x) over (order by x range between -1 preceding and current row) from t",
            t=hr.DataFrame({"x": [1, 2]}),
        )
