# SPDX-License-Identifier: Apache-2.0
"""What texts hold, and pieces of them, against Python and DuckDB."""

from __future__ import annotations

import os
import re
import sys
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


def each(texts: list[Any], get: Any, missing: Any = None) -> list[Any]:
    return [missing if text is None else get(text) for text in texts]


def both(texts: list[Any]) -> list[hr.Series]:
    column = hr.Series([*texts, None], dtype="string")[: len(texts)]
    return [column, column.astype("category")]


@given(TEXTS, st.text(alphabet="abé漢", max_size=3))
def test_tests_are_those_of_python(texts: list[Any], part: str) -> None:
    for column in both(texts):
        assert column.str.contains(part, regex=False).to_list() == each(
            texts, lambda t: part in t, False
        )
        assert column.str.startswith(part).to_list() == each(
            texts, lambda t: t.startswith(part), False
        )
        assert column.str.endswith((part, "a")).to_list() == each(
            texts, lambda t: t.endswith((part, "a")), False
        )


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


@given(
    TEXTS,
    st.one_of(st.none(), st.integers(-20, 20)),
    st.one_of(st.none(), st.integers(-20, 20)),
    st.one_of(st.integers(-4, 4), st.sampled_from([2**62, -(2**63)])).filter(bool),
)
def test_steps_are_those_of_python(
    texts: list[Any], start: int | None, stop: int | None, step: int
) -> None:
    for column in both(texts):
        assert column.str[start:stop:step].to_list() == each(texts, lambda t: t[start:stop:step])
        assert column.str.slice(step=step)[1:].to_list() == each(texts, lambda t: t[::step])[1:]


def test_steps_of_long_texts() -> None:
    texts = ["añ" * 400_000, None, "b" * 70_000, "€𝄞"] * 3
    column = hr.Series(texts)
    assert column.str[::-1].to_list() == each(texts, lambda t: t[::-1])
    assert column.str[5:-5:3].to_list() == each(texts, lambda t: t[5:-5:3])


def test_steps_that_are_none() -> None:
    with pytest.raises(hr.InvalidArgumentError, match="the step of a slice is 0"):
        hr.Series(["a"]).str[::0]
    with pytest.raises(hr.TypeMismatchError, match="step='x'"):
        hr.Series(["a"]).str.slice(step="x")


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
        lambda: hr.Series(["a"]).str.contains(3),
        lambda: hr.Series(["a"]).str.startswith(()),
        lambda: hr.Series(["a"]).str[::0],
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
        (frame.text.str.contains("^D.*N$"), [t[:1] == "D" and t[-1:] == "N" for t in texts]),
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


def test_texts_with_nulls_are_compared_in_all_rows() -> None:
    frame = hr.DataFrame({"text": ["a", None, "b"], "number": [1, 1, 2]})
    mask = (frame.text == "a") & (frame.number == 1)
    assert mask.to_list() == [True, False, False]
    assert "where a mask is true" not in frame[mask].explain()
    whole = hr.DataFrame({"text": ["a", "c", "b"], "number": [1, 1, 2]})
    mask = (whole.text == "a") & (whole.number == 1)
    if os.environ.get("HEADRACE_EAGER") != "1":  # then the mask is there
        assert "where a mask is true" in whole[mask].explain()
    assert whole[mask].number.to_list() == [1]


# ---- texts made of texts -------------------------------------------------------------------------
ANY_TEXTS = st.lists(st.none() | st.text(max_size=30), max_size=40)


@given(ANY_TEXTS)
def test_case_is_that_of_python(texts: list[Any]) -> None:
    for column in both(texts):
        assert column.str.upper().to_list() == each(texts, str.upper)
        lower = each(texts, lambda t: "".join(c.lower() for c in t))  # letter by letter: no sigma
        assert column.str.lower().to_list() == lower


def test_every_letter_has_the_case_of_python() -> None:
    letters = [chr(c) for c in range(sys.maxunicode + 1) if not 0xD800 <= c < 0xE000]
    column = hr.Series(letters)
    assert column.str.upper().to_list() == [c.upper() for c in letters]
    assert column.str.lower().to_list() == [c.lower() for c in letters]


@given(ANY_TEXTS, st.none() | st.text(alphabet="ab é漢", max_size=3))
def test_strip_is_that_of_python(texts: list[Any], gone: str | None) -> None:
    texts = each(texts, lambda t: f" \u3000ab{t}é漢\x85 ")
    for column in both(texts):
        assert column.str.strip(gone).to_list() == each(texts, lambda t: t.strip(gone))
        assert column.str.lstrip(gone).to_list() == each(texts, lambda t: t.lstrip(gone))
        assert column.str.rstrip(gone).to_list() == each(texts, lambda t: t.rstrip(gone))


def test_every_space_is_stripped() -> None:
    letters = [chr(c) for c in range(0x3100)]
    assert hr.Series(letters).str.strip().to_list() == [c.strip() for c in letters]


@given(
    st.lists(st.none() | st.text(alphabet="ab漢", max_size=20), max_size=30),
    st.text(alphabet="ab漢", max_size=2),
    st.text(alphabet="xab🙂", max_size=14),
    st.integers(-1, 3),
)
def test_literal_replace_is_that_of_python(
    texts: list[Any], old: str, fresh: str, most: int
) -> None:
    wanted = each(texts, lambda t: t.replace(old, fresh, most))
    for column in both(texts):
        assert column.str.replace(old, fresh, n=most).to_list() == wanted
        if old:
            insensitive = column.str.replace(old.upper(), fresh, n=most, case=False)
            assert insensitive.to_list() == wanted


@given(st.lists(st.tuples(st.none() | LETTERS, st.none() | LETTERS), max_size=40))
def test_texts_put_together_are_those_of_pandas(rows: list[Any]) -> None:
    a, b = [r[0] for r in rows], [r[1] for r in rows]
    ours = hr.DataFrame({"a": hr.Series(a, dtype="string"), "b": hr.Series(b, dtype="string")})
    joined = [None if x is None or y is None else f"{x}-{y}" for x, y in rows]
    assert ours.a.str.cat(ours.b, sep="-").to_list() == joined
    assert (ours.a + "-" + ours.b.astype("category")).to_list() == joined
    assert ("<" + ours.a).to_list() == [None if x is None else f"<{x}" for x in a]
    filled = [f"{'?' if x is None else x}{'?' if y is None else y}" for x, y in rows]
    assert ours.a.str.cat([ours.b], na_rep="?").to_list() == filled
    if a:
        assert ours.a.str.cat(sep=",") == pd.Series(a, dtype=object).str.cat(sep=",")


# ---- regular expressions -------------------------------------------------------------------------
PATTERNS = [
    "a", "a+b", "^a", "b$", "(a|b)+", "[^a]", "a{2}", "a.b", "", "(a)(b)?", "x*", r"\Aa\z", "a*b*",
    "(?P<first>a)|(?P<other>b)", "é|漢", "[a-b]é?",
]  # fmt: skip


def python_pattern(pattern: str) -> str:
    return pattern.replace(r"\z", r"\Z")


@given(
    st.lists(st.none() | st.text(alphabet="abé漢x", max_size=16), max_size=30),
    st.sampled_from(PATTERNS),
    st.booleans(),
)
def test_patterns_match_as_in_python(texts: list[Any], pattern: str, case: bool) -> None:
    regex = re.compile(python_pattern(pattern), 0 if case else re.IGNORECASE)
    for column in both(texts):
        text = column.str
        found = each(texts, lambda t: regex.search(t) is not None)
        assert text.contains(pattern, case=case).to_list() == [bool(f) for f in found]
        assert text.contains(pattern, case, na=None).to_list() == found
        begins = each(texts, lambda t: regex.match(t) is not None, False)
        assert text.match(pattern, case=case).to_list() == begins
        whole = each(texts, lambda t: regex.fullmatch(t) is not None, False)
        assert text.fullmatch(pattern, case=case).to_list() == whole


@given(
    st.lists(st.none() | st.text(alphabet="abé漢x", max_size=24), max_size=30),
    st.sampled_from(PATTERNS),
    st.sampled_from(["", "-", r"<\g<0>>", r"\\", "a long text that stands apart "]),
    st.integers(-1, 2),
)
def test_patterns_are_replaced_as_in_python(
    texts: list[Any], pattern: str, fresh: str, most: int
) -> None:
    regex = re.compile(python_pattern(pattern))
    wanted = each(texts, lambda t: t if most == 0 else regex.sub(fresh, t, max(most, 0)))
    for column in both(texts):
        assert column.str.replace(pattern, fresh, n=most, regex=True).to_list() == wanted


@given(
    st.lists(st.none() | st.text(alphabet="ab12é ", max_size=30), min_size=1, max_size=30),
    st.sampled_from([r"(a)(\d)?", r"(?P<word>[a-z]+) ?(?P<number>\d+)", r"(é.*)", "()"]),
)
def test_groups_are_those_of_pandas(texts: list[Any], pattern: str) -> None:
    wanted = pd.Series(texts, dtype=object).str.extract(pattern)
    for column in both(texts):
        made = column.str.extract(pattern)
        assert made.columns == list(wanted.columns)
        for name, theirs in zip(made.columns, wanted.columns, strict=True):
            expected = [None if pd.isna(v) else v for v in wanted[theirs]]
            assert made[name].to_list() == expected
            assert pa.array(made[name]).to_pylist() == expected


def test_patterns_of_python_and_their_flags() -> None:
    column = hr.Series(["Ab\ncd", "xx"])
    assert column.str.contains(re.compile("^CD", re.I | re.M)).to_list() == [True, False]
    assert column.str.fullmatch("a.*d", flags=re.I | re.S).to_list() == [True, False]
    assert column.str.contains("B\n", case=False, regex=False).to_list() == [True, False]
    assert column.str.replace(re.compile(r"(?P<l>[b-d])"), r"\g<l>\1").to_list()[0] == "Abb\nccdd"
    one = column.str.extract("(x)", expand=False)
    assert isinstance(one, hr.Series) and one.to_list() == [None, "x"]
    assert column.str.contains(" b # comment", flags=re.VERBOSE).to_list() == [True, False]
    assert any(op == "contains" for op, _, _ in hr.fallbacks())


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (lambda s: s.contains("(a"), r"contains: invalid RE2 .*pat='\(a'.*missing \)"),
        (lambda s: s.match(r"(a)\2"), r"match: invalid RE2 .*at='\\2'"),
        (lambda s: s.replace("(?<=a+)b", "c", regex=True), "replace: invalid RE2"),
        (lambda s: s.replace("a", r"\1", regex=True), "unknown group in the replacement"),
        (lambda s: s.replace("(a)", r"\g<b>", regex=True), "unknown group in the replacement"),
        (lambda s: s.replace("(a)", r"\g<b", regex=True), "is not closed"),
        (lambda s: s.replace("(a)", r"\q", regex=True), "unknown escape"),
        (lambda s: s.replace("a", 3, regex=True), "replace: expected a string"),
        (lambda s: s.extract("a"), "extract: the pattern has no group"),
        (lambda s: s.cat(hr.Series([1])), "cat: expected a string column"),
        (lambda s: s.strip(3), "strip: expected a string"),
        (lambda s: s.cat(hr.Series(["a", "b"])), "different lengths"),
    ],
)
def test_wrong_patterns_say_so(wrong: Any, message: str) -> None:
    column = hr.Series(["a"])
    with pytest.raises(hr.Error, match=message):
        wrong(column.str)
    assert column.str.upper().to_list() == ["A"]


def test_many_morsels_give_the_same_for_any_number_of_threads() -> None:
    rows = 3 * (1 << 17) + 65
    texts = [None if i % 11 == 0 else f"row {i} " + "Äb" * (i % 13) for i in range(rows)]
    column = hr.Series(texts)[7:]
    texts = texts[7:]
    wanted = {
        "upper": each(texts, str.upper),
        "replace": each(texts, lambda t: t.replace("row", "the row of")),
        "regex": each(texts, lambda t: re.sub(r"(\d)(Ä|$)", r"\2\1", t)),
        "extract": each(texts, lambda t: re.search(r"\d+ .*", t).group()),
        "strip": each(texts, lambda t: t.strip("row b")),
        "cat": each(texts, lambda t: t + "|" + t),
        "contains": each(texts, lambda t: re.search("7 Ä", t) is not None, False),
    }
    seen = []
    for threads in (1, 2, 4):
        with hr.threads(threads):
            text = column.str
            made = {
                "upper": text.upper(),
                "replace": text.replace("row", "the row of"),
                "regex": text.replace(r"(\d)(Ä|$)", r"\2\1", regex=True),
                "extract": text.extract(r"(\d+ .*)", expand=False),
                "strip": text.strip("row b"),
                "cat": text.cat(column, sep="|"),
                "contains": text.contains("7 Ä|7 Ä.*", regex=True),
            }
            hr.eval(*made.values())
            seen.append({name: pa.array(series) for name, series in made.items()})
    for name, expected in wanted.items():
        assert seen[0][name].to_pylist() == expected, name
        for other in seen[1:]:
            assert [b and b.to_pybytes() for b in other[name].buffers()] == [
                b and b.to_pybytes() for b in seen[0][name].buffers()
            ], name


def test_parts_of_short_texts():
    """All sizes around a vector, texts with zeros in them, parts at both ends."""
    random = np.random.default_rng(4)
    for size in range(21):
        texts = ["".join(random.choice(list("ab\0c"), size)) for _ in range(200)]
        column = hr.Series(texts)
        for length in (1, 2, 3, 5, 8, 12, 16):
            part = "".join(random.choice(list("abc"), length))
            parts = [part, *(t[:length] for t in texts[:2]), *(t[-length:] for t in texts[2:4])]
            for each in filter(None, parts):
                found = column.str.contains(each, regex=False).to_list()
                assert found == [each in text for text in texts], (size, each)
