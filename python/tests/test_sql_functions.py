# SPDX-License-Identifier: Apache-2.0
"""Functions of strings and lists in SQL against DuckDB: null, overflow and empty lists."""

from __future__ import annotations

import pytest
from test_sql_queries import check

import headrace as hr

pytest.importorskip("sqlglot")

QUERIES = r"""
select printf('%,d',1234567), printf('%_d',1234567), printf('%.d',1234567),
    printf('%,.3f',12345.6789), printf('%+,.0f',1234567.0), printf('%,.0e',1234567.0),
    printf('%+,.0f', -5::bigint), printf('%,.0f', 9007199254740993::BIGINT);
select format('{:,}',-1234567), format('{:_}',999), format('{:''}',1000), format('{:t }',123456789),
    format('{:tss}',123456789), format('{:t|}',1234),
    format('{:,}',123456789.123), format('{:_}',1234.5), format('{:,.1f}',123456789.123);
select format('{:.2}', 0.00023404094995959), format('{}', 120381902481294715712::HUGEINT),
    printf('%d', 120381902481294715712::HUGEINT), printf('%d', TRUE), printf('%d', 5),
    printf('%5d|%s', 7, 'a'), printf('%.3d', 5);
select string_split_regex('a,b','(,)'), string_split_regex('abab','(a)'),
    string_split_regex('1,2,*,6', '(,|\*)');
select try(1+1), try('x'::int), try(c::int) from (values
    ('1'),('x'),(null)) t(c);
select count(distinct i), min(distinct i), sum(distinct i), product(distinct i), entropy(i)
    from (values (1),(2),(2),(null)) t(i);
select STRING_AGG('hello', NULL), STRING_AGG(NULL, ' '), string_agg('a', ',');
select printf('%,d', i) from (values (1),(1000000),(null)) t(i);
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
select damerau_levenshtein('ca', 'abc'), damerau_levenshtein(s, 'yx'), levenshtein(s, 'xyy') from t;
select jaro_similarity(s, 'yxy'), jaro_winkler_similarity('CRATE', 'TRACE'),
    jaro_winkler_similarity('DwAyNE', 'DuANE'), jaro_winkler_similarity('abc', 'abd', 0.9) from t;
select bar(5.3, 0, 10, 10) || '|', bar(1, 1, 1), bar(20, 0, 10, 3), bar(a, 0, 3, 8), bar(40, 20, 0),
    bar(5, 10, 0, 10) from t;
select format_bytes(1), format_bytes(1536), format_bytes(-1536), format_bytes(123456789012),
    formatReadableDecimalSize(123456), pg_size_pretty(123456);
select parse_formatted_bytes('1.5 GB'), parse_formatted_bytes('1KiB'),
    parse_formatted_bytes('2 kilobytes'), parse_formatted_bytes(' 1 b ');
select to_base(10, 2, 64), to_base(0, 2), to_base(35, 36), regexp_escape('a_b-ä c'),
    url_encode('a b/ä~-_.+'), url_decode('a%20b+c%zz%C3%A4'), strip_accents('äöüß é å ø ł');
select strlen('ä'), bit_length(s), sha1(s), sha256(s), md5(null), to_binary(5), bin(7) from t;
select overlay('abc' placing 'x' from 0), overlay('abcdef' placing 'xyz' from 10),
    overlay(s placing 'x' from 2 for 0), overlay('abcdef', s, 3) from t;
select regexp_extract('abc', '(a)(b)', ['x', 'y']), regexp_extract('zz', '(a)(b)', ['x', 'y']),
    regexp_extract('b', '(a)?b', 1), regexp_extract('foobar', 'b..', 5);
select regexp_extract_all('ab ab', '(a)(b)', ['x', 'y']), regexp_extract_all('ab ab', '(a)(b)', 2),
    regexp_extract_all('bab', '(a)?', 1), regexp_extract_all('a1 b', '([a-z])(\d)?', 2),
    regexp_extract_all('aB', '(a)(b)', ['p', 'q'], 'i'), regexp_extract_all(s, '(x)|(y)', 2) from t;
select regexp_replace('abc', '(a)(b)', '\2\1'), regexp_replace(s, '(x)(y)', '\0-\2\\') from t;
select 'a%c' ilike 'A$%C' escape '$', 'abc' like 'a%' escape '', 'a' like null escape 'x',
    'a' like 'axb' escape 'x', s not like 'x$_' escape '$' from t;
select 'äöü' glob '???', 'ä' glob '?', 'a' glob '[!b]', ']' glob '[]]', '-' glob '[a-]',
    'a' glob '[b', '*' glob '\*', 'x' glob '[a-z]', s glob 'x*y', 'B' glob '[z-a]' from t;
select array_slice(s, 0, 2), array_slice('hello', -3, -2), array_extract(s, -1), s[0], s[a], s[a:2],
    'hello'[:0], list_extract('1', -1), array_slice('hello', null, 2) from t;
select path_join('dir//sub/', './file'), path_join('d/..', '../..'), path_join('/usr', '../..'),
    path_join('s3://foo', '../..'), path_join('file:/usr/local', '../bin'), path_join('', '');
select 'hello' like s || '%', s like '_' || repeat('y', a), lpad(s, a::int, 'ab'), repeat(s, a),
    left(s, a), printf('%5d|%s', a, s), replace('axyb', s, 'q') from t;
select s like w from t, (values ('x%'), (null)) v(w) where false;
select split_part('a,b', ',', 0), split_part('a,b', '', 1), lpad('Base', 2, ''), lpad(s, 1, '')
    from t where s <> '';
"""


@pytest.mark.parametrize("query", QUERIES.strip().rstrip(";").split(";\n"))
def test_a_query_gives_the_rows_of_duckdb(query: str) -> None:
    check(query)


def test_a_function_of_constants_takes_each_value_of_a_column() -> None:
    """On sizes around a morsel, against Python's own."""
    for size in (0, 1, 63, 64, 65, 2**17 + 3):
        words = [None if i % 11 == 5 else f"w{i % 7}" for i in range(size)]
        parts = [None if i % 13 == 4 else f"%{i % 5}" for i in range(size)]
        frame = hr.DataFrame(
            {"w": hr.Series(words, dtype="string"), "p": hr.Series(parts, dtype="string")}
        )
        query = "select w like p as found, levenshtein(w, 'w1') as steps from t"
        made = hr.sql(query, t=frame).to_dict()
        known = list(zip(words, parts, strict=True))
        assert made["found"] == [
            None if None in pair else pair[0][1] == pair[1][1] for pair in known
        ]
        assert made["steps"] == [w and int(w != "w1") for w in words]


def test_too_many_values_of_an_argument_are_refused() -> None:
    frame = hr.DataFrame({"w": ["abc"] * 1001, "p": [f"{i}%" for i in range(1001)]})
    with pytest.raises(hr.UnsupportedError, match="values=1001, most=1000"):
        hr.sql("select w like p from t", t=frame)
    assert hr.sql("select count(*) as n from t where w like p", t=frame[:1000]).to_dict() == {
        "n": [0]
    }
