# SPDX-License-Identifier: Apache-2.0
"""Window functions with ORDER BY in their arguments, and joins by NEAREST, against DuckDB."""

from __future__ import annotations

import pytest
from test_sql_queries import check, frames

import headrace as hr

pytest.importorskip("sqlglot")

QUERIES = """
select i, cume_dist(order by i // 2 desc) over (order by (i * 29) % 11) from range(10) t(i);
select i, cume_dist(order by i // 2) over (order by i // 2 rows between 3 preceding and 3
    following) from range(10) t(i);
select i, cume_dist(order by i) over (order by i rows between 2 following and 2 following) from
    range(5) t(i);
select i, rank(order by i // 2 desc) over w, percent_rank(order by i // 2 desc) over w from
    range(70) t(i) window w as (partition by i % 3 order by (i * 29) % 71);
select i, rank(order by i % 5) over (partition by i % 2 order by i rows between 4 preceding and 1
    following) from range(66) t(i);
select i, row_number(order by -i) over w, ntile(4 order by i % 7, i) over w from range(40) t(i)
    window w as (order by (i * 29) % 41);
select i, lead(i, 1, null order by i // 2 desc, i) over w, lag(i, 2, -1 order by i // 2 desc, i)
    over w from range(30) t(i) window w as (partition by i % 4 order by (i * 29) % 31);
select i, first_value(i order by i desc) over w, last_value(i order by i desc) over w,
    nth_value(i, 2 order by i desc) over w from range(20) t(i) window w as (order by (i * 29) % 23);
select a, rank(order by b) over (order by a, d, m), rank(order by s desc, a) over (order by m, d)
    from t;
select a, rank(order by 1) over (order by m) from t;
select i, lead("offset" := 2, col := i) over (order by i), lag("default" := 7, col := i) over
    (order by i) from range(5) t(i);
select i, ntile(null) over (order by i) from range(5) t(i);
select i, lag(i, o, -1) over (order by i) from (values (0, 1), (1, null), (2, 2), (3, 1)) t(i, o);
select lag(s, 1, 3) over (order by s) from (values ('x'), ('y')) t(s);
select i, list(distinct {'k': i % 2}) over (order by i rows between 1 preceding and current row)
    from range(5) t(i);
select i, median(distinct i % 3) over (order by i rows between 2 preceding and 2 following) from
    range(9) t(i);
select a, max(m) over (partition by (select max(k) from u)) from t;
select distinct on (2) a, (select max(k) from u where k > a) from t order by 2, a;
select a, k from t join u nearest 2 by distance abs(a - k);
select a, k from t left join u nearest 1 by distance abs(a - k);
select a, k from t join u exact nearest by similarity k;
select a, q.k from t join (select k from u where v > 10) q approx nearest 3 by distance abs(q.k - a)
    where a > 1;
select list_distance([1.0, 2.0], [3.0, 5.0]), list_inner_product([1.5, 2], [2, 4]),
    list_cosine_similarity([1.0, 2.0], [3.0, 5.0]), list_cosine_distance([1.0, 2.0], [3.0, 5.0]),
    list_negative_inner_product([1.5, 2], [2, 4]), list_distance([]::double[], []::double[]);
select list_distance([b, 1.5], [2.0, 0.5]) from t where b is not null;
select x, y from (values (1)) t(x), generate_series(1, x + 2) s(y);
select x, y from (values (1), (3)) t(x), lateral range(x, 4) s(y);
select x, y from (values ([1, 2]), ([]), (null)) t(x) left join unnest(x) s(y) on false;
select x, y from (values ([1, 2]), ([]), (null)) t(x) left join unnest(x) s(y) on 1 = 1 and true;
select count(*) from unnest((select list(a) from t)) as q(i);
select array(select 1 union all select 3 union all select 2 order by 1);
select x, k from (values (1), (4), (20)) l(k) asof right join (select k, v as x from u) r
    using (k);
select max(a), (select max(t.a)), (select (select min(t.a)) + count(*) filter (where t.a > 1))
    from t;
select s, (select sum(t.a) + 1) from t group by s;
select a + 1 as z from t union all select k from u order by k;
select s, grouping(s), count(*) from t group by s;
select a from t union all select s from t;
select 1 as x union select '1' union all select 'q' order by x;
select entropy(distinct a), mode(distinct s) is null, median(distinct a), mad(distinct a) from t;
select s, median(distinct a) filter (where a > 0), quantile_disc(distinct a, 0.5) from t group by s;
"""


@pytest.mark.parametrize("query", QUERIES.strip().rstrip(";").split(";\n"))
def test_a_query_gives_the_rows_of_duckdb(query: str) -> None:
    check(query)


@pytest.mark.parametrize(
    ("query", "word"),
    [
        ("select dense_rank(order by a) over (order by a) from t", "DENSE_RANK"),
        ("select a from t right join u nearest 1 by distance a - k", "NEAREST"),
        ("select lag(a, a order by a) over (order by a) from t", "LAG"),
    ],
)
def test_what_is_not_there_is_refused_by_its_word(query: str, word: str) -> None:
    with pytest.raises(hr.UnsupportedError, match=word):
        hr.sql(query, **frames())


@pytest.mark.parametrize("lists", ["[1.0], [1.0, 2.0]", "[1.0, null], [1.0, 2.0]"])
def test_lists_of_other_lengths_or_with_null_have_no_distance(lists: str) -> None:
    with pytest.raises(hr.Error):
        hr.sql(f"select list_distance({lists}) as d").to_dict()
