# SPDX-License-Identifier: Apache-2.0
"""Aggregates by rank and by place against DuckDB, and what FILTER and IGNORE NULLS leave out."""

from __future__ import annotations

import pytest
from test_sql_queries import check

pytest.importorskip("sqlglot")

QUERIES = """
select quantile_disc(a, 0.5), quantile_disc(s, 0.25), quantile(b, 0.5),
    quantile_disc(d, 0.9) from t;
select p, quantile_disc(a, 0.3), quantile_disc(m, 0.75), quantile_disc(s, 0.0) from t group by p;
select quantile_disc(a, [0.25, 0.5, 0.75]), quantile_cont(a, [0.1, 0.9]) from t;
select quantile_disc(a, 0.5) filter (where p), quantile_cont(a, 0.5) filter (where a > 1) from t;
select quantile_disc(k, 0.5), quantile_cont(k, [0.5]), mode(k) from none;
select percentile_disc(0.5) within group (order by a desc), percentile_cont(0.25) within group
    (order by a desc) from t;
select p, quantile_cont(d, 0.5), median(d), quantile_cont(d, 0.25) from t group by p;
select mode(s), mode(a), mode(d) from t where s = 'yy' or a = 2;
select w, mode(v) from (select * from u union all select * from u where v > 10) x group by w;
select mode(a) filter (where a > 2) from t where a > 2 and a < 4;
select max(a, 2), min(a, 3), max(s, 2), arg_max(s, a, 2), arg_min(a, s, 1) from t;
select p, max(a, 2) from t group by p;
select first(a) filter (where a > 1), last(a) filter (where a = 2), first(s) filter (where not p)
    from t;
select mode(a order by a desc) from t where a in (1, 5, 3);
select mode() within group (order by a) from t where a in (1, 5, 3);
select p, first(a order by a desc), last(a order by a), any_value(a) filter (where a > 2) from t
    group by p;
select first(a order by d) filter (where p) from t;
select quantile_disc(a, 0.0), quantile_disc(a, 1.0), quantile_cont(a, 1.0) from t;
"""


@pytest.mark.parametrize("query", QUERIES.strip().rstrip(";").split(";\n"))
def test_a_query_gives_the_rows_of_duckdb(query: str) -> None:
    check(query)
