# SPDX-License-Identifier: Apache-2.0
"""Lists, structs, LATERAL, UNNEST, NATURAL and ASOF joins of SQL against DuckDB."""

from __future__ import annotations

import pytest
from test_sql_queries import check

import headrace as hr

pytest.importorskip("sqlglot")

QUERIES = """
SELECT l.a, r.b, s.c FROM ((VALUES (1), (2)) l(a) FULL OUTER JOIN (VALUES (10), (20)) r(b) ON
    EXISTS (SELECT 1 WHERE l.a = 1 AND r.b = 10)) CROSS JOIN (VALUES (3), (4)) s(c);
select x, y from (values (1),(2),(3)) t(x) left join lateral (select x + 1 as y) on y > 2;
select x, y from (values (1),(2),(3)) t(x) left join lateral (select z as y from (values
    (1),(5)) v(z) where z > x) on y > x + 2;
select #2 from (values (1,2),(3,4)) t(a,b) where #1 = 1;
select (a).lower(), a.upper() from (values ('aB')) t(a);
select x, (select count(*) from t) from (values (1), (4)) l(x) asof left join (select k from u) r
    on l.x >= r.k and l.x < 4 and r.k <> 9;
select x, k from (values (1), (4), (9)) l(x) asof join u r on l.x >= r.k and l.x + r.k <> 7;
select x, k from (values (1), (4), (20)) l(x) asof right join u r on l.x >= r.k;
select x, v from (values (1, 2), (null, 3), (3, 3)) l(x, y) asof left join (values (1, 1),
    (null, 3), (null, 2), (3, 3)) r(k, v) on x is not distinct from k and y >= v;
select x from (values (1), (4), (9)) l(x) asof anti join u r on l.x >= r.k and l.x + r.k > 7;
select [1,2]+[3,4], null::int[]+[1], [1,null]+[2], []+[1], [[1]]+[[2,3]], [1]+[2.5];
select repeat([1],-1), repeat([1,null],5), repeat(['a'],3), repeat([1],null),
    repeat(repeat([1],50),50) = repeat([1],2500), repeat(null::int[],3);
select generate_series(timestamp '2020-01-31', timestamp '2020-07-01', interval '1' month),
    range(timestamp '2020-01-01', timestamp '2020-01-03', interval '1' day),
    generate_series(date '2020-06-01', date '2020-01-01', -interval '3' month),
    generate_series(null, timestamp '2020-01-01', interval 1 day);
select [i FOR x, i IN [4, 5, 6] IF x > 5], [x + i for x, i in [10, 9, null]], [i FOR x, i IN
    [4, 5, 6] IF i % 2 = 0];
select list_sum([1.5,2.25]), list_avg([1.5,2.25]), list_bit_xor([1,3]), list_bit_and([7,3]);
select list_transform([1, 2], lambda x: list_transform([3, 4], lambda x: x)), reduce([1, 2,
    3], lambda x, y: x + y, 100);
select #1, #2 from (values (1,2),(3,4)) t(a,b);
select (i).list_reverse(), i.list_sum() from (values ([1,2]),([3])) t(i);
select array_aggr([1, 2], 'min'), list_transform([1, 2, 3], lambda x: x + #1) from range(3);
select '0xF'::INTEGER, '0xfee'::INTEGER, try_cast('0x100' AS UINT8),
    '0x7FFFFFFFFFFFFFFF'::BIGINT;
select list_transform([1,2], lambda x: list_transform([x, 10], lambda y: x + y)),
    list_transform([1,2], lambda x: list_filter([1,2,3], lambda y: y > x));
select struct_contains(row(1, true, 1.0), '1'), struct_position(row(1, true, 1.0), '1'),
    struct_contains(row([1, 2], 3), [1, 2]), struct_contains(row('1', 2), 1),
    struct_contains(row(a, s), s), struct_contains(row(a, s), 'x') from t;
select unnest(null::int[]), 1;
select * from ((select 1 as x) v join (select 1 as f, 5 as g) w on x = f) j, lateral (select x) y;
select [1, 2, a] as l, list_value(a, 2.5), [], [null, s] from t;
select len([1,2,a]), array_length([a]), [a, 2, 3][1], [a,2,3][-1], [a,2,3][2:3], [a,2,3][:2],
    [a,2,3][-2:], [a][0], [a][5] from t;
select list_contains([1,2,3], a), list_contains([a, null], 2), list_has(['x', s], 'x'),
    list_position([1,2,a], a), list_contains([1], null) from t;
select [a] || [1,2], list_concat([a], null, [3]), list_append([1], a), list_prepend(a, [1])
    from t;
select list_sort([3, a, null, 1]), list_reverse_sort([3, a, null, 1]), list_sort([3,a,null],
    'DESC'), list_sort([3,a,null], 'ASC', 'NULLS FIRST') from t;
select list_sum([a, 2]), list_min([a, 2]), list_max([a,2]), list_avg([a,2]), list_count([a, 2,
    null]) from t;
select list_reverse([1, a]), len(list_distinct([a, a, 2, null])), list_unique([a, 2, null]),
    flatten([[1, a], [2], []]) from t;
select list_transform([1, 2, a], lambda x: x + a) from t;
select array_to_string([s, 'b', 'c'], '-'), string_split('a,b,c', ','), string_split(s, 'y'),
    range(4), generate_series(1, 3), range(5, 1, -2) from t;
select z.x, z.y from (select {'x': a, 'y': s} as z from t) q;
select q.z.x + 1 from (select {'x': a, 'y': s} as z from t) q where z.x > 1 order by z.x;
select unnest([1, 2, a]) from t;
select a, unnest([a, 1]) + 1 as n from t where a > 1 order by n, a;
select unnest([1, 2, 3]), unnest(['x', 'y']);
select unnest([]) from t;
select unnest(null) from t;
select * from unnest([1, 2, 3]) as q(x);
select * from unnest([1, 2, 3]) with ordinality as q(x, i);
select a, x from t, unnest([a, 10]) as q(x);
select a, x from t cross join unnest([a, 10]) as q(x) where x > 5;
select a, x from t left join unnest(case when a > 1 then [a] else [] end) as q(x) on true;
select k, n from u, lateral (select count(*) as n from t where a = k) as q;
select k, n from u, (select count(*) as n from t where a = k) as q;
select k, q.a, q.s from u, lateral (select a, s from t where a >= k order by a, s limit 2) as
    q;
select k, q.a from u left join lateral (select a from t where a = k) as q on true;
select k, q.n, r.m from u, lateral (select k + 1 as n) q, lateral (select n * 2 as m) r;
select k, (select max(x) from unnest([k, v]) as q(x)) from u;
select * from range(5);
select i * 2 from range(1, 10, 3) as r(i);
select range from range(3);
select * from generate_series(3);
select count(*), sum(range) from range(100000);
select a, k, v from t asof join u on a >= k;
select a, k, v from t asof left join u on a >= k;
select a, k from t asof join u on a > k;
select a, k from t asof join u on a <= k;
select a, k from t asof left join u on k > a;
select a, s, k, v from t asof left join u on s = w and a >= k;
select x.k, y.v from u x asof join u y using (k);
select x.k, x.w, y.v from u x asof join (select k, w, v from u) y using (w, k);
select * from u natural join (select 3 as k, 'x' as w);
select * from t positional join u;
select a, v from t positional join (select v from u where v > 10 order by v);
select s, list(a order by a) from t group by s;
select list([a, 1]) from t where a = 1;
select [a]::varchar from t;
select cast([a, 2] as double[]), [1, 2]::varchar[], [1.5, a] from t;
select 'hello'[2], 'hello'[2:3], s[1] from t;
select typeof([1]), [1,2] is null;
select x, y from (select [1,2] as l, 5 as y) q, unnest(q.l) as r(x);
select s, list(a order by a desc), array_agg(a order by a nulls first) from t group by s;
select list(a order by b, a), string_agg(s, '-' order by s, a), count(*) from t;
select s, string_agg(a, ',' order by a), list(a order by a) filter (a > 1) from t group by s;
select list(k), string_agg(k, ',') from none;
select len(list(distinct a)), len(string_agg(distinct s, '')) from t;
select p, list({'x': a, 'y': s} order by a, s) from t group by p;
select s, list(a order by a) from t group by rollup (s);
select k, (select list(a order by a) from t where a > k) from u;
select group_concat(s order by s) from t;
select case when a > 1 then [a] else [] end, case when a > 1 then {'x': a} end from t;
select coalesce(null, [a]) from t;
select (select r from (select k as a) x, (select a as r) y) from t, u;
select typeof([1]), [1,2] is null;
select (select q.r from (select k as a) x, lateral (select x.a as r) q) from u;
select * from t, u, lateral (select t.a + u.k as z) q where z > 3;
select [1,2,3][0:1], [1,2,3][2:1], [1,2,3][:-1], [1,2,3][5:], [1,2,3][-5:2], [1,2,3][-2:-1],
    [1,2,3][-4], [1,2,3][4], [1,2,3][0];
select range(0), range(5, 1), range(1, 6, 2), generate_series(5, 1, -2), range(null),
    range(-2, 1);
select s, list(distinct a) is null, list(a order by a) filter (a > 100), count(*) from t group
    by s having len(list(a)) > 0;
select list_filter([1, null, a], lambda x: x > 1), list_transform([], lambda x: x + 1),
    list_transform([[1, 2], [a]], lambda l: list_transform(l, lambda y: y + a)) from t;
select q.z, q.z.x, z.y[1] from (select {'x': a, 'y': [a, 1]} as z from t) q where z.x is not
    null order by z.x;
select {'x': a, 'y': null}.x, {'x': {'y': a}}.x.y from t;
select x, count(*) from (select unnest([a, 1]) as x from t) q group by x order by x nulls
    last;
select unnest([a, 1]) as x from t order by x limit 3;
select distinct unnest([a, 1]) as x from t;
select a, (select sum(x) from (select unnest([a, 1]) as x) q) from t;
select u.k, q.x from u left join unnest(case when k > 2 then [k, v] end) as q(x) on true;
select * from u natural left join (select 3 as k, 'x' as w, 7 as z);
select * from u positional join (select 1 as one) where one is null or k = 2;
select x.*, y.* from u x asof left join (select k as k2, v as v2 from u where k < 5) y on x.k
    > y.k2;
select * from (select 3 as k, 'x' as w) x asof join u using (w, k);
select o.k, (select count(*) from u i, lateral (select i.v + o.k as z) q where q.z > 20) from
    u o;
select o.k, q.n from u o, lateral (select count(*) as n from t where a > o.k and exists
    (select 1 from u i where i.k = t.a and i.v > o.v)) q;
select o.k, q.n, r.m from u o left join lateral (select sum(a) as n from t where a > o.k) q on
    true left join lateral (select q.n + o.k as m) r on true;
select k, x from u, (select a as x from t where a > k order by a limit 1) q;
select k, x from u, (select unnest([k, v]) as x) q where x > 3;
select a, x from t, generate_series(1, 2) g(x) where a = x;
select max(x), min(x), count(*) from range(10) r(x) where x % 3 = 0;
select [a, k] from t join u on a = k where list_contains([a, v], 10);
select list_concat(l, l) from (select list(a order by a) as l from t where a > 1);
select coalesce([a], [0]), nullif(1, 2), case when a is null then [0] else [a] end from t;
select a, b from t where (a, b) = (2, 2.5) or (a, s) in (select 5, 'zé');
select a = any (select unnest([1, 2])), a <> all (select unnest([1, a])) from t;
select len([]), len([null]), list_sum([null]::int[]), list_max([]::int[]),
    list_contains([]::int[], 1), flatten([[]]);
select string_agg(s, '' order by a desc, s), string_agg(s, ', ') filter (s = 'x') from t;
select arg_max(a, b), arg_min(s, d), arg_max([a], a) from t;
select first(s order by a nulls first), last(s order by a), any_value(s order by a desc) from
    t;
select a, list(b order by b nulls first) from t group by a;
select 'abc'[1:2], 'abc'[-1], 'abc'[2:], s[1:1] from t;
select a from t union by name select 'x' as b;
select count(*) from (select distinct on (s, p) * from t order by a);
select z.x, count(*) from (select {'x': a % 2} as z from t) q group by z.x;
select z.x + 1, sum(z.x) from (select {'x': a % 2} as z from t) q group by z.x having z.x is
    not null;
select * from u natural full join (select 3 as k, 'x' as w, 7 as z);
select * from u full join (select 3 as k, 'x' as w, 7 as z) q using (w);
select * from u right join (select 3 as k, 'x' as w, 7 as z) q using (w);
select * from u right join (select 3 as k, 'q' as w, 7 as z) q using (w, k);
select w, u.w, q.w from u full join (select 3 as k, 'q' as w) q using (w);
"""


@pytest.mark.parametrize("query", QUERIES.strip().rstrip(";").split(";\n"))
def test_a_query_gives_the_rows_of_duckdb(query: str) -> None:
    check(query)


def test_a_slice_has_no_step() -> None:
    assert hr.sql("select list_slice([1, 2, 3], 2, 3) as a").to_dict() == {"a": [[2, 3]]}
    with pytest.raises(hr.UnsupportedError, match="step"):
        hr.sql("select list_slice([1, 2, 3, 4], 1, 4, 2) as a")
