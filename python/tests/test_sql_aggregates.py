# SPDX-License-Identifier: Apache-2.0
"""Aggregates of SQL with an order and of pairs, DISTINCT ON, UNION BY NAME, against DuckDB."""

from __future__ import annotations

import pytest
from test_sql_queries import check

pytest.importorskip("sqlglot")

QUERIES = """
select arg_max(s, a), arg_min(s, a), max_by(a, b), min_by(m, b), arg_max(a, d) from t;
select p, arg_max(s, a), arg_min(a, m), arg_max(s, b) filter (where a > 1) from t group by p
    order by p;
select s, first(a order by b, a), last(a order by b, a desc), any_value(a order by m desc)
    from t group by s;
select arg_max(a, b) from t where a > 100;
select arg_max(s, m), arg_max_null(s, m) from t;
select corr(a, b), covar_pop(a, m), covar_samp(a, m), regr_slope(a, m), regr_count(a, m) from
    t where b < 100;
select regr_intercept(a, m), regr_r2(a, m), regr_avgx(a, m), regr_avgy(a, m), regr_sxx(a, m),
    regr_syy(a, m), regr_sxy(a, m) from t;
select p, corr(a, m), covar_pop(a, m), covar_samp(a, m), regr_slope(a, m), regr_r2(a, m) from
    t group by p;
select bit_and(a), bit_or(a), bit_xor(a), bit_or(-k), bit_and(k) from t, u where a = k;
select mad(a), entropy(s), mad(m) from t where a <> 5;
select corr(a, 1), regr_slope(a, 1), regr_r2(a, 1), regr_slope(1, a) from t;
select min(columns(*)), max(columns('^[as]$')) from (select a, s from t);
select skewness(a), kurtosis(a), skewness(m), kurtosis(m), sem(a), product(a) from t;
select p, skewness(a), kurtosis(a), product(a), sem(m) from t group by p;
select skewness(k), kurtosis(k), product(k), sem(k), corr(k, v), covar_pop(k, v), arg_max(k,
    v) from none;
select distinct on (s) s from t;
select g, sum(x), avg(x), min(x), max(x), count(x), stddev(x) from (values (1, 1.5::double), (1,
    'nan'), (2, 'nan'), (2, null), (3, 2), (3, null), (4, null), (5, 0.5)) v(g, x) group by g;
select i % 5, sum(x), avg(x), min(x), max(x) from (select i, case when i % 7 = 3 then 'nan' else
    i::double end as x from range(40) r(i)) group by i % 5;
select sum(x), avg(x), min(x), max(x) from (select 'nan'::double + i as x from range(3) r(i));
select i, sum(x) over w, avg(x) over w, min(x) over w, count(x) over w from (select i, case when i
    % 7 = 3 then 'nan' else i::double end as x from range(20) r(i)) window w as (order by i rows
    between 2 preceding and current row);
select p, count(distinct a), count(distinct s), sum(distinct a), count(distinct a) filter (where
    a > 1) from t group by p;
select p, count(distinct a) from t group by p;
select count(distinct a), count(distinct s) from t;
select a from t union by name select k from u;
select a, s from t union all by name select w as s, k from u;
select 1 as a, 2 as b union all by name select 3 as b;
select arbitrary(p) is null or true, list(a order by a)[1], first(k) from t, u where k = a and
    k > 2;
"""


@pytest.mark.parametrize("query", QUERIES.strip().rstrip(";").split(";\n"))
def test_a_query_gives_the_rows_of_duckdb(query: str) -> None:
    check(query)
