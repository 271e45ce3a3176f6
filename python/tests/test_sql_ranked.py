# SPDX-License-Identifier: Apache-2.0
"""Aggregates by rank and by place against DuckDB, and what FILTER and IGNORE NULLS leave out."""

from __future__ import annotations

import pytest
from test_sql_queries import check

pytest.importorskip("sqlglot")

QUERIES = """
select weighted_avg(3, 3), weighted_avg(3, NULL), weighted_avg(NULL, 3), wavg(3,1),
    weighted_avg(3, 0), weighted_avg(3, 0.0);
select g, weighted_avg(v, w), kurtosis_pop(v), arg_max_nulls_last(v, w),
    arg_min_nulls_last(v,w,2), arg_max_nulls_last(v,w,5) from (values
    (1,1,2),(1,3,null),(1,4,5),(2,null,3),(2,9,1),(3,null,null),(1,1,7),(1,8,0)) t(g,v,w)
    group by g;
select regexp_split_to_table('a b c', ' '), 42;
select generate_subscripts([4,5,6], 1), array_pop_back([1,2]), array_pop_front([1,2]),
    days_in_month(date '2020-02-03');
select array_to_string_comma_default([1,2,3], sep:='-'),
    array_to_string_comma_default([1,2,3]), array_to_string_comma_default(NULL, sep:='-'),
    array_to_string_comma_default([], sep:='-'), array_to_string_comma_default([1],sep:=null);
select median(r::varchar), median([r]), median({'i': r}) from range(5) t(r);
select count(1 order by 1);
FROM (VALUES (1,1,2),(1,1,3),(2,1,4)) AS t(key1,key2,v) select distinct on (columns('key'))
    key1, key2;
select kurtosis_pop(v) from (values (1),(2)) t(v);
select struct_pack(key_a => 1), (i).list_reverse() from (values ([1,2]),([3])) t(i);
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
