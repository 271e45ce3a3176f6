# SPDX-License-Identifier: Apache-2.0
"""Functions of strings and lists in SQL against DuckDB: null, overflow and empty lists."""

from __future__ import annotations

import pytest
from test_sql_queries import check

pytest.importorskip("sqlglot")

QUERIES = """
select reverse(s), reverse('abc') from t;
select list_sum([a, 1]), list_sum([null, a]), list_sum([9223372036854775807, -1]),
    list_sum([]::int[]) from t;
select list_bool_or([p, false]), list_bool_and([p]), list_bool_or([null::bool]),
    list_count(null), list_count([null, 1]), list_count([a]) from t;
select array_to_string([1, 2, 3], null), array_to_string([a, 1], '-') from t;
select 'abc' ~ 'b', 'abc' ~ 'abc', s ~ 'y+' , 'abc' !~ 'b' from t;
select regexp_matches('abc', 'b'), regexp_full_match('abc', 'b') from t;
select list_sum([[a], [1, 2]][2]), s ~ 'y+' from t;
select ltrim(s, null), rtrim(s, 'y'), trim(s, null), trim('  x ') from t;
select regexp_extract(s, 'y(.)'), regexp_extract(s, '(y)(y)', 2), regexp_extract(s, 'q'),
    regexp_extract('a1b22', '[0-9]+') from t;
select regexp_replace(s, 'y', 'z'), regexp_replace(s, 'y', 'z', 'g'), regexp_replace('abcabc',
    'b.', 'X', 'g') from t;
select split_part('a,b,c', ',', 1), split_part('a,b,c', ',', -1), split_part('a,b', ',', 5),
    split_part(s, 'y', 2) from t;
select concat_ws(',', s, 'x', null, a), concat_ws('-', s), concat_ws(null, s) from t;
select prefix(s, 'y'), suffix(s, 'y'), starts_with(s, 'x'), prefix(null, 'a'), suffix(s, null)
    from t;
"""


@pytest.mark.parametrize("query", QUERIES.strip().rstrip(";").split(";\n"))
def test_a_query_gives_the_rows_of_duckdb(query: str) -> None:
    check(query)
