# SPDX-License-Identifier: Apache-2.0
"""Structs, rows, null within them, UNNEST in depth and DESCRIBE of SQL against DuckDB."""

from __future__ import annotations

import pytest
from test_sql_queries import check, frames

import headrace as hr

pytest.importorskip("sqlglot")

QUERIES = """
select unnest({'a': 42, 'b': {'c': 88, 'd': 99}}, recursive := true);
select a, "b.c", "b.d" from (select unnest({'a': 42, 'b': {'c': 88, 'd': 99}}, recursive := true,
    keep_parent_names := true));
select unnest([{'a': 42, 'b': 88}, {'a': null, 'b': 99}], recursive := true);
select unnest([[{'a': 42, 'b': {'x': 99}}, {'a': null, 'b': {'x': null}}]], max_depth := 1);
select unnest([[{'a': 42, 'b': {'x': 99}}, {'a': null, 'b': {'x': null}}]], max_depth := 2);
select unnest([[{'a': 42, 'b': {'x': 99}}, {'a': null, 'b': {'x': null}}]], max_depth := 3);
select unnest([[{'a': 42, 'b': {'x': 99}}, {'a': null, 'b': {'x': null}}]], max_depth := 4);
select a, unnest([{'k': a, 'l': [a, 1]}, null], max_depth := 2) from t where a > 1;
select a, a_1, b from (select unnest({'a': 42, 'b': {'a': 88, 'b': 99}}, recursive := true));
select unnest([[[1, a], [2]], [[a]]], max_depth := 2) from t;
select column_name, column_type from (describe t);
select column_name, column_type from (describe select a, [a] as l, {'x': s, 'y z': d} as r from t);
select column_name from (describe select unnest([{'a': {'aa': {'aaa': 42}}, 'b': {'bb': 8}}],
    recursive := true, keep_parent_names := true));
select column_name, column_type from (describe select unnest(row(row(a), s), recursive := true,
    keep_parent_names := true) from t);
select remap_struct({'i': a, 'j': s}, null::row(v1 varchar, v2 varchar, v3 bigint),
    {'v1': 'j', 'v3': 'i'}, {'v2': 'hello'}) from t;
select remap_struct({'i': a, 'j': {'x': a, 'z': 1}}, null::row(v1 int, v2 struct(x int, y int,
    z int)), {'v1': 'i', 'v2': row('j', {'x': 'x', 'z': 'z'})}, {'v2': {'y': null::int}}) from t;
select remap_struct([{'i': a}, null], null::struct(v1 int, v2 varchar)[],
    {'list': row('list', {'v1': 'i'})}, {'list': {'v2': null::varchar}}) from t;
select {'i': a}::struct(i int, j int), {'i': a, 'j': s}::struct(j varchar) from t;
select {'b': a, 'a': [s]}::struct("A" varchar[], c int) from t;
select {'i': 1, 'j': null}::row(i bigint, j row(a bigint, b varchar));
select case when a > 1 then {'i': [1, 2]} else {'i': null} end from t;
select [[{'a': a}], [null], null] from t where a > 1;
select x from (values ([null]), (['a']), (null)) v(x);
select flatten([null]), flatten([[[1], null], null, []]);
select [{'t': s, 'n': a}, (s, 2)], [(s, 2), {'t': 'q', 'n': 1}] from t;
select (a, s)::struct(x int, y varchar) from t;
select struct_values({'a': a, 'b': s}), struct_concat(row(a), row(s)) from t;
select a in r from (select a, (a, 2) as r from t);
select typeof((1, 'a')), typeof([row(1)]), typeof({'a b': 1, 'select': 2, 'Cc': 3});
select $${"user,name": Alice, age: 30}$$::struct("user,name" varchar, age int);
select $${"name\\:": test, n: 30}$$::struct("name:" varchar, n int);
select list_distinct([{'a': a}, {'a': a}, null, {'a': 1}]) from t where a = 1;
select len(list_distinct([[a], [a], [1, a]])), list_has_any([[a]], [[2]]), list_has_all([[a], [2]],
    [[2]]) from t where a is not null;
select s, list_sort(list(distinct [a % 2])) from t group by s;
select list_reduce([{'v': 'a', 'i': 1}, {'v': 'b', 'i': a}], lambda x, y: row(x.v || y.v, x.i +
    y.i)) from t;
select row(a) in (select k from u), row(2) in (select k from u) from t;
"""


@pytest.mark.parametrize("query", QUERIES.strip().rstrip(";").split(";\n"))
def test_a_query_gives_the_rows_of_duckdb(query: str) -> None:
    check(query)


@pytest.mark.parametrize(
    ("query", "word"),
    [
        ("select row()", "STRUCT"),
        ("select {'element1': 1}", "element1"),
        ("select unnest([1], max_depth := 0)", "UNNEST"),
        ("select unnest({'a': 1}, other := true)", "UNNEST"),
        ("select remap_struct({'i': 1}, null::row(v int), {'v': k}, null) from u", "REMAP_STRUCT"),
    ],
)
def test_what_is_not_there_is_refused_by_its_word(query: str, word: str) -> None:
    with pytest.raises(hr.UnsupportedError, match=word):
        hr.sql(query, **frames())


@pytest.mark.parametrize(
    "query",
    [
        "select remap_struct({'i': 1}, null::row(v int), {'v': 'k'}, null)",
        "select remap_struct({'i': 1}, null::row(v int, w int), {'v': 'i'}, null)",
        "select remap_struct(row(1), null::row(v int), {'v': 'i'}, null)",
        "select {'a': 1}::struct(b int)",
        "select struct_concat({'a': 1}, row(2))",
    ],
)
def test_a_struct_of_another_form_is_an_error(query: str) -> None:
    with pytest.raises((hr.InvalidArgumentError, hr.ColumnNotFoundError, hr.TypeMismatchError)):
        hr.sql(query)


def test_describe_is_a_statement() -> None:
    made = hr.sql("describe select 1 as x, 'a' as y").to_dict()
    assert made["column_name"] == ["x", "y"]
    assert made["column_type"] == ["INTEGER", "VARCHAR"]
