# SPDX-License-Identifier: Apache-2.0
"""Subqueries of SQL: ANY, ALL, ARRAY, rows, in ON and in FROM, against DuckDB."""

from __future__ import annotations

import pytest
from test_sql_queries import check

pytest.importorskip("sqlglot")

QUERIES = """
select count(*), count(m), count_if(m) from (select row(i, 0) in (select a, b from (select i as a,
    0 as b from range(50000) r(i) union all select null, 0)) as m from range(50000) l(i));
select count(*) from range(50000) l(i) where row([i], 0) not in (select [i + 100000], 0 from
    range(50000) r(i));
select a, (select sum(n) from (select k, count(*) as n from u group by k) q where q.k > a) from t;
select a, (select count(*) from (select k from u where k > a) q, (select v from u) r) from t;
select id, b[0][1], b[1][1] from (values (1, [[1, 2]]), (2, null)) v(id, b);
select a > any (select k from u), a <= all (select k from u), a < all (select k from u where k
    is not null) from t;
select a > any (select k from none), a = all (select k from none), a < all (select k from
    none), a = any (select k from none) from t;
select a = all (select k from u where k = 2), a <> any (select k from u where k = 2), a <> any
    (select k from u), a = all (select k from u) from t;
select a >= any (select k from u where k = a), a > all (select v from u where k = a) from t;
select b > any (select b from t), b >= all (select b from t where b is not null), b = all
    (select b from t) from t;
select a = any ([1, 2, null]), a <> all ([1, 2]), a > any ([2, 3]), a < all ([a + 1, 3]) from
    t;
select a from t where a > all (select k from u where k < 3);
select a from t where a = any ([2, a]);
select a, v from t left join u on a = k and exists (select 1 from u y where y.v > u.v);
select a, v from t left join u on a = k and v in (select v from u where v > 10);
select a, v from t join u on a = k and v = (select max(v) from u y where y.k = u.k);
select a, v from t full join u on a = k and not exists (select 1 from u y where y.v > u.v);
select a, v from t right join u on a = (select min(k) from u y where y.k >= t.a);
select a from t semi join u on a = k and exists (select 1 from none);
select a from t anti join u on a = k and v > (select min(v) from u);
select array(select k from u order by k desc);
select a, array(select v from u where k = a order by v) from t;
select (a, s) < any (select k, w from u), (a, 1) >= all (select k, 1 from u where k > 2) from t;
select (a, s) = any (select k, w from u), (a, s) <> all (select k, w from u), (a, s) <> any
    (select k, w from u), (a, s) = all (select k, w from u) from t;
select row(a, s) in (select k, w from u), (a, s) not in (select k, w from u) from t;
select row(a, 2) = any (select row(k, 2) from u) from t;
select a as o, (select max(v) from u where k <> o) from t;
select a + 1 as n, n in (select k from u) from t;
select t.a, u.v, x.v from t join u on true full join u as x on u.k = x.v and x.v > 30;
select * from (from (select 42 a), (select 43 b)) join (select 44 c) on (true);
select last(a), first(a), any_value(a), max(a) from t where a > 100;
select median(m), quantile_cont(m, 0.25) from t;
select k, q.x from u, lateral (values (k + 1), (v)) as q(x);
select k, (select sum(x) from (values (k), (2)) as q(x)) from u;
select k, q.x from u left join lateral (values (k)) as q(x) on true;
select a in (select y.v from (select v from u where u.k = t.a) y right join range(3) r(i) on
    y.v = r.i) from t;
select a, (select count(*) from (select v from u where u.k = t.a) y right join range(3) r(i)
    on y.v = r.i * 10) from t;
select a, (select count(*) from (select v from u where u.k = t.a) y full join range(3) r(i) on
    y.v = r.i * 10) from t;
select a, (select count(y.v) from u y right join (select k from u where k > t.a) z on y.k =
    z.k) from t;
select a, (select count(*) from u y right join u z on y.k = z.k and y.k = t.a) from t;
select a, (select count(*) from u y full join u z on y.k = z.k and z.k < t.a) from t;
select (a, s) in (select k, w from u), (a, s) not in (select k, w from u) from t;
select a from t where (a, s) not in (select k, w from u where w is not null and k is not
    null);
select a from t where (a, s) in (select k, w from u);
select (a, b) = (2, null), (a, s) = (2, 'yy'), (a, s) <> (2, 'x') from t;
select s like 'a' escape null from t;
select unnest(l) from (select list(a order by a) as l from t) q;
select k, (select list(x order by x) from unnest([k, v]) as q(x)) from u;
select a, (select k from u where k >= a order by k limit 1), (select k from u where k > a
    order by k desc limit 1 offset 1) from t;
select o.k, q.x, q.y from u o left join lateral (select l.a as x, r.b as y from lateral
    (select k) l(a) right join (values (2)) r(b) on exists (select 1 where l.a = r.b)) q on true;
select o.k, q.x, q.y from u o left join lateral (select l.a as x, r.b as y from (select k)
    l(a) right join (values (2)) r(b) on l.a = r.b) q on true;
select o.k, q.x, q.y from (select 1 as k union all select 2) o left join lateral (select l.a
    as x, r.b as y from lateral (select k) l(a) right join (values (2)) r(b) on exists (select 1
    where l.a = r.b)) q on true;
select o.k, q.x, q.y from (select 1 as k union all select 2) o left join lateral (select l.a
    as x, r.b as y from (select k) l(a) right join (values (2)) r(b) on l.a < r.b) q on true;
select o.k, q.x, q.y from (select 1 as k union all select 2) o left join lateral (select l.a
    as x, r.b as y from (select k) l(a) left join (values (2)) r(b) on exists (select 1 where l.a
    = r.b)) q on true;
select sum(v - (select avg(v) from u)) filter (where v > 1) from u;
select sum(distinct v + (select min(v) from u)) filter (where k < (select max(k) from u)) from u;
select k, sum(v - (select avg(v) from u)) filter (where v is not null), k as again from u group by
    all order by k;
select k, (select count(*) from (values (1), (2)) as q(x) where x < u.k) from u;
select a from t where a in (5, (select 2));
select a from t where a in ((select min(k) from u), (select v from u where u.k = t.a limit 1),
    null);
select a, u.v, x.w from t, u full join u as x on u.k = x.v;
select a, u.v, x.w from t, u right join u as x on u.k = x.v where t.a < 3;
select a, k, x.w from t, u full join u as x using (k) where t.a < 3;
select a, v, q.x from t, (values (1), (7)) as q(x) full join u on q.x = u.k;
select a, q.v, x.k from t, (select * from u) as q right join u as x on q.k = x.v;
select t.a, p.a, u.k, x.k from t, t as p full join u on p.a = u.k, u as x left
    join none on x.k = none.k;
select a, v from t, u natural join u as x;
select count(*) from u natural join u as x;
select y from u as z(x, y) where x > 2;
select max(columns('k|v')) from u;
select t.a from t join (u join u as x on u.k = x.v) on t.a = u.k where t.b in (select b from t where
    a > 1);
select t.a, q.v, x.k from t, lateral (select v from u where u.k = t.a) q, (u x join u y
    on x.k = y.k) where (select max(k) from u) > 1;
select a from t where exists (select * from u where k = a and v > 10);
select a from t where not exists (select 1 from u where a = k);
select a from t where not exists (select k from u where k = a and v = a * 10);
select a from t where exists (select k from u x where x.k + 1 = a + 1 and exists (select 1 from u
    y where y.k = x.v));
select a from t where exists (select * from u, t z where k = t.a and z.a = v and z.s = t.s);
select a from t where exists (select max(k) from u where k = a);
select a from t where not exists (select 1 from u left join t z on z.a = k where k = t.b and z.a is
    null);
select i from range(9) r(i) where i not in (select * from range(5));
select i from range(9) r(i) where i not in (select i + j from range(2) s(j));
select i from range(9) r(i) where not exists (select * from range(5) s(j) where j = i and i < 3);
select k, (select sum(x) from (values (1), (2), (v)) as q(x) where x < u.k) from u;
select a, (select v as b from u where k = a and b > 10) from t;
select a from t where exists (select v as b from u where b > 20);
select a from t where exists (select v + 0 as b from u where k = a and b > 20);
select a from t where exists (select v as b from u where k = a and b in (select v from u));
select a from t where b in (select v as b from u where b = v);
select a, (select v + t.b as b from u where k = a and b > 10) from t;
select a, (select v as x from u where k = a and x + b > 20) from t;
select a, (select v as b from u where k = a and exists (select 1 from u y where y.v = b)) from t;
select a, q.b from t, lateral (select v as b from u where k = a and b > 10) q;
select a, q.b from t, lateral (select r.v as b from u, lateral (select u.v) r where k = a and b >
    10) q;
select t.a, u.v from t join u x on t.a = x.k right join u on u.k = t.b where t.a = x.k;
select t.a, u.v from t join u x on t.a = x.k and t.a > 1 full join u on u.k = t.b where t.a > 1;
select a from t where exists (select u.v as b from u semi join t y on y.a = u.k where t.a * 10 = b);
select a from t where exists (select u.v as b from u anti join t y on y.b = u.k where b > t.a);
select a from t where exists (select r.v as b from u r, u p where p.k = r.k and r.k = t.a and b in
    (select v from u));
select a, b from t where exists (select 1 from u where k = a and v <> b * 10);
select a, b from t where exists (select * from u, u y where u.k = a
    and y.v <> a and y.w = u.w);
select a, b from t where exists (select 1 from u where k = a and a * 8 <> v and w <> '');
select a, b from t where exists (select 1 from u where k = a and v < b * 10);
select a, b from t where exists (select * from u, u y where u.k = a
    and y.v < a and y.w = u.w);
select a, b from t where exists (select 1 from u where k = a and a * 8 < v and w <> '');
select a, b from t where exists (select 1 from u where k = a and v <= b * 10);
select a, b from t where exists (select * from u, u y where u.k = a
    and y.v <= a and y.w = u.w);
select a, b from t where exists (select 1 from u where k = a and a * 8 <= v and w <> '');
select a, b from t where exists (select 1 from u where k = a and v > b * 10);
select a, b from t where exists (select * from u, u y where u.k = a
    and y.v > a and y.w = u.w);
select a, b from t where exists (select 1 from u where k = a and a * 8 > v and w <> '');
select a, b from t where exists (select 1 from u where k = a and v >= b * 10);
select a, b from t where exists (select * from u, u y where u.k = a
    and y.v >= a and y.w = u.w);
select a, b from t where exists (select 1 from u where k = a and a * 8 >= v and w <> '');
select a, b from t where not exists (select 1 from u where k = a and v <> b * 10);
select a, b from t where not exists (select * from u, u y where u.k = a
    and y.v <> a and y.w = u.w);
select a, b from t where not exists (select 1 from u where k = a and a * 8 <> v and w <> '');
select a, b from t where not exists (select 1 from u where k = a and v < b * 10);
select a, b from t where not exists (select * from u, u y where u.k = a
    and y.v < a and y.w = u.w);
select a, b from t where not exists (select 1 from u where k = a and a * 8 < v and w <> '');
select a, b from t where not exists (select 1 from u where k = a and v <= b * 10);
select a, b from t where not exists (select * from u, u y where u.k = a
    and y.v <= a and y.w = u.w);
select a, b from t where not exists (select 1 from u where k = a and a * 8 <= v and w <> '');
select a, b from t where not exists (select 1 from u where k = a and v > b * 10);
select a, b from t where not exists (select * from u, u y where u.k = a
    and y.v > a and y.w = u.w);
select a, b from t where not exists (select 1 from u where k = a and a * 8 > v and w <> '');
select a, b from t where not exists (select 1 from u where k = a and v >= b * 10);
select a, b from t where not exists (select * from u, u y where u.k = a
    and y.v >= a and y.w = u.w);
select a, b from t where not exists (select 1 from u where k = a and a * 8 >= v and w <> '');
select a from t where exists (select 1 from t y where y.a = t.a and y.d <> t.d);
select a from t where not exists (select 1 from t y where y.a = t.a and y.d > t.d);
select a from t where not exists (select 1 from t y where y.a = t.a and y.b <> t.b);
select a from t where exists (select 1 from t y where y.a = t.a and y.s < t.s and y.d <> t.d);
select t.a, x.a, y.k, z.k from t, t x, u y, u z where t.a = x.a and x.a = y.k and y.k = z.k;
select t.a, x.b, y.k from t, t x, u y where t.a = y.k and t.b = y.k and x.a = t.a and x.a = y.k;
select t.a, x.a, y.v from t, t x, u y where t.a = x.b and x.b = y.k and t.b is not distinct from
    x.a and t.b = y.v / 10;
"""


@pytest.mark.parametrize("query", QUERIES.strip().rstrip(";").split(";\n"))
def test_a_query_gives_the_rows_of_duckdb(query: str) -> None:
    check(query)
