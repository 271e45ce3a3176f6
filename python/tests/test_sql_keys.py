# SPDX-License-Identifier: Apache-2.0
"""Lists and structs as keys of groups, joins and orders, and compared, against DuckDB."""

from __future__ import annotations

import pytest
from test_sql_queries import check

pytest.importorskip("sqlglot")

QUERIES = """
select [a], count(*) from t group by all;
select [a, 1], [s], count(*) from t group by [a, 1], [s];
select distinct [s, 'x'] from t;
select distinct {'p': p, 's': s} from t;
select count(distinct [a]) from t;
select [a, 2] from t order by 1;
select [s] as l from t order by l desc;
select {'x': a, 'y': s} as r from t order by r;
select [1, 2] = [1, 2], [1, null] = [1, null], [1] < [1, 2], [2] > [1, 2], [null] > [3],
    [1] <> [2], [1, 2] <= [1, null];
select [a] = [2], [a] < [2], [s] >= ['x'], [a, 1] is distinct from [2, 1] from t;
select {'x': a} = {'x': 2}, {'x': a, 'y': s} < {'x': 2, 'y': 'z'} from t;
select a, k from t join u on [a] = [k];
select a, k from t left join u on {'x': a, 'y': s} = {'x': k, 'y': w};
select a from t where [a] in (select [k] from u);
select a from t where [a] not in (select [k] from u);
select min([a]), max([a]), min([s, 'q']), max({'x': a}) from t;
select p, max([a, 3]) from t group by p;
select [a] from t union select [k] from u;
select [a] from t intersect select [k] from u;
select [a] from t except all select [k] from u;
select row_number() over (partition by [p] order by [a, 1], s, b, d), p, a from t;
select [[a]] = [[2]], [[1], null] < [[1], [2]] from t;
select [m] = [1.25::decimal(9, 2)], [d] > [date '2020-02-02'], [p] = [true] from t;
select [b] = [1.5], [b] = ['nan'::double] from t;
select list_sort([b, 1.0, null]), list_sort([[a], [2]]), list_reverse_sort([b, 2.0]) from t;
select list_min([b, 1.0]), list_max([b, 1.0]), list_sum([b, 1.0]), list_avg([b, 1.0]) from t;
select list_median([a, 1, 3]), list_mode([s, 'x']), list_aggr([s, 'b'], 'string_agg', '-') from t;
select list_stddev_pop([a, 1]), list_product([a, 2]), list_first([b]), list_last([s, null]) from t;
select list_aggr([a, 1], 'quantile_disc', 0.5), list_any_value([null, a]) from t;
select list_max([s, 'x']), list_min([p, true]), list_max([]::double[]),
    list_max(null::double[]) from t;
select list_reduce([a, 1, 2], lambda x, y: x - y), list_reduce([s, 'q'], lambda x, y, i: x || i
    || y), list_reduce([a], lambda x, y: x * y, 2) from t;
select list_zip([a, 1], [s]), list_zip([a, 2], [s], true) from t;
select list_where([a, 1, 2], [true, false, true]), list_select([a, 5, 6], [3, 1]),
    list_resize([a], 3), list_resize([a, 2], 1), list_intersect([a, 1, 2], [2, a]) from t;
select [a, 1, 5][a], [1, 2, 3][a:3], range(a), range(1, a, 2), generate_series(0, a) from t
    where a > 0;
select struct_contains(row(a, 1), 1), struct_position(row(a, 2), 2), struct_concat({'x': a},
    {'y': s}) from t;
select unnest([a, 1]) as x, count(*) from t group by x;
select unnest([[a], [1, 2]], recursive := true) from t;
select unnest({'x': a, 'y': {'z': s}}, recursive := true) from t;
select t from t where a = 1;
select list_entropy([a, 1]), list_bool_and([p]), list_mad([a, 1, 7]) from t where a < 9;
select concat([a], [1]), concat([s], null, ['x']), [a] || [1] from t;
"""


@pytest.mark.parametrize("query", QUERIES.strip().rstrip(";").split(";\n"))
def test_a_query_gives_the_rows_of_duckdb(query: str) -> None:
    check(query)
