# SPDX-License-Identifier: Apache-2.0
"""What texts hold, and pieces of them, against Python and DuckDB."""

from __future__ import annotations

from typing import Any

import duckdb
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import headrace as hr

LETTERS = st.text(alphabet="ab%_\\é漢🙂", max_size=18)
TEXTS = st.lists(st.one_of(st.none(), LETTERS), max_size=70)


def each(texts: list[Any], get: Any) -> list[Any]:
    return [None if text is None else get(text) for text in texts]


def both(texts: list[Any]) -> list[hr.Series]:
    column = hr.Series([*texts, None], dtype="string")[: len(texts)]
    return [column, column.astype("category")]


@settings(max_examples=200, deadline=None)
@given(TEXTS, st.text(alphabet="abé漢", max_size=3))
def test_tests_are_those_of_python(texts: list[Any], part: str) -> None:
    for column in both(texts):
        assert column.str.contains(part, regex=False).to_list() == each(texts, lambda t: part in t)
        assert column.str.startswith(part).to_list() == each(texts, lambda t: t.startswith(part))
        assert column.str.endswith((part, "a")).to_list() == each(
            texts, lambda t: t.endswith((part, "a"))
        )


@settings(max_examples=300, deadline=None)
@given(
    st.lists(st.text(alphabet="abc", min_size=10, max_size=120), min_size=1, max_size=20),
    st.text(alphabet="abc", min_size=1, max_size=7),
)
def test_parts_of_long_texts_are_found(texts: list[str], part: str) -> None:
    column = hr.Series(texts)
    assert column.str.contains(part, regex=False).to_list() == [part in text for text in texts]
    like = column.str.like(f"%{part}%{part[::-1]}%").to_list()
    assert like == [
        part[::-1] in text.partition(part)[2] if part in text else False for text in texts
    ]


@settings(max_examples=200, deadline=None)
@given(
    TEXTS,
    st.one_of(st.none(), st.integers(-20, 20)),
    st.one_of(st.none(), st.integers(-20, 20)),
)
def test_slices_are_those_of_python(texts: list[Any], start: int | None, stop: int | None) -> None:
    for column in both(texts):
        assert column.str[start:stop].to_list() == each(texts, lambda t: t[start:stop])
        assert column.str.len().to_list() == each(texts, len)
        assert column.str[start:stop].str.len().to_list() == each(
            texts, lambda t: len(t[start:stop])
        )


@settings(max_examples=300, deadline=None)
@given(st.lists(LETTERS, min_size=1, max_size=20), st.text(alphabet="ab%_é", max_size=8))
def test_like_is_that_of_duckdb(texts: list[str], pattern: str) -> None:
    rows = pa.table({"t": texts})  # noqa: F841 (named in the query)
    wanted = duckdb.execute("select t like $p from rows", {"p": pattern}).fetchall()
    for column in both(texts):
        assert column.str.like(pattern).to_list() == [row[0] for row in wanted]


def test_like_takes_a_character_as_it_is() -> None:
    column = hr.Series(["100%", "1000", "a_b", "axb"])
    assert column.str.like("100\\%").to_list() == [True, False, False, False]
    assert column.str.like("a\\_b").to_list() == [False, False, True, False]


def test_texts_over_morsels() -> None:
    words = pd.Series([f"name {i % 977} of a thing that is long" for i in range(150_000)])
    column = hr.Series(words.to_list())[5:]
    plain = words[5:]
    assert column.str.contains("97").sum().item() == plain.str.contains("97").sum()
    assert column.str[3:9].to_list() == plain.str[3:9].to_list()
    assert column.str[5:30].isin(["12 of a thing that is lon"]).any().item()


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: hr.Series([1]).str,
        lambda: hr.Series(["a"]).str.contains("a.*b"),
        lambda: hr.Series(["a"]).str.contains(3),
        lambda: hr.Series(["a"]).str.startswith(()),
        lambda: hr.Series(["a"]).str[::2],
        lambda: hr.Series(["a"]).str.like(None),
    ],
)
def test_what_does_not_work_says_so(wrong: Any) -> None:
    with pytest.raises(hr.Error):
        wrong()
    assert hr.Series(["a (b)"]).str.contains("(", regex=False).to_list() == [True]


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 2**32 - 1), st.sampled_from([1, 63, 64, 65, 300]), st.integers(0, 4))
def test_tests_look_only_where_others_are_true(seed: int, rows: int, rare: int) -> None:
    random = np.random.default_rng(seed)
    words = np.array(["", "MAIL", "SHIP", "DELIVER IN PERSON", "DELIVER IN TURN", "TAKE BACK"])
    texts = words[random.integers(0, len(words), rows)].tolist()
    numbers = random.integers(0, 10, rows)
    frame = hr.DataFrame({"text": texts, "number": numbers})
    category = frame.text.astype("category")
    few, near = numbers < rare, numbers > 3
    tests = [
        (frame.text == "DELIVER IN PERSON", [t == "DELIVER IN PERSON" for t in texts]),
        (frame.text != "MAIL", [t != "MAIL" for t in texts]),
        (frame.text > "MAIL", [t > "MAIL" for t in texts]),
        (category == "SHIP", [t == "SHIP" for t in texts]),
        (frame.text.isin(["MAIL", "SHIP"]), [t in ("MAIL", "SHIP") for t in texts]),
        (frame.text.isin(words[:4]), [t in words[:4] for t in texts]),
        (frame.number.isin([1, 5, 7]), np.isin(numbers, [1, 5, 7])),
        (frame.number.isin([1, 1 << 40]), numbers == 1),
        (frame.text.str.contains("IN P"), ["IN P" in t for t in texts]),
        (frame.text.str.like("%L_V%T%"), ["LIV" in t and "T" in t[5:] for t in texts]),
        (category.str.startswith("D"), [t.startswith("D") for t in texts]),
    ]
    for test, wanted in tests:
        expected = np.asarray(wanted, dtype=bool)
        assert ((frame.number < rare) & test).to_list() == (few & expected).tolist()
        both = test & (frame.number > 3)
        assert (both & (frame.number < rare)).to_list() == (few & near & expected).tolist()
        assert both.to_list() == (near & expected).tolist()
        for other, also in tests:
            mask = test & other & (frame.number < rare)
            assert mask.to_list() == (few & expected & np.asarray(also, dtype=bool)).tolist()
        assert (test | (frame.number < rare)).to_list() == (few | expected).tolist()


def test_a_test_of_nulls_stays_null_beside_others() -> None:
    frame = hr.DataFrame({"text": ["a", None, "b"], "number": [1, 1, 2]})
    mask = (frame.text == "a") & (frame.number == 1)
    assert mask.to_list() == [True, None, False]
    assert "where a mask is true" not in frame[mask].explain()
    whole = hr.DataFrame({"text": ["a", "c", "b"], "number": [1, 1, 2]})
    mask = (whole.text == "a") & (whole.number == 1)
    assert "where a mask is true" in whole[mask].explain()
    assert whole[mask].number.to_list() == [1]
