# SPDX-License-Identifier: Apache-2.0
"""Text methods against pandas."""

from __future__ import annotations

import re
from typing import Any

import pandas as pd
import pytest

import headrace as hr

TEXTS = ["ann lee", "BOB Ray", None, "", "1a2b", "½", "-7", "a|b", "Straße ", "été-x-y", "a.b.c"]
CALLS = r"""
s.str.title()
s.str.swapcase()
s.str.casefold()
s.str.zfill(9)
s.str.pad(9)
s.str.pad(9, side="both", fillchar="*")
s.str.ljust(9)
s.str.rjust(9, "0")
s.str.center(8)
s.str.count("a")
s.str.count("[ab]", flags=re.I)
s.str.find("a")
s.str.find("a", 1, 5)
s.str.rfind("b")
s.str.repeat(3)
s.str.slice_replace(1, 3, "--")
s.str.slice_replace(stop=-2, repl="_")
s.str.slice_replace(3, 1, "_")
s.str.translate({97: "A", 98: None})
s.str.normalize("NFKD")
s.str.wrap(4)
s.str.isalpha()
s.str.isdigit()
s.str.isdecimal()
s.str.isnumeric()
s.str.isalnum()
s.str.isspace()
s.str.islower()
s.str.isupper()
s.str.istitle()
s.str.split(expand=True)
s.str.split("-", expand=True)
s.str.split(".", expand=True)
s.str.split("a|b", expand=True)
s.str.split("a|b", expand=True, regex=False)
s.str.split("-", n=1, expand=True)
s.str.rsplit("-", n=1, expand=True)
s.str.rsplit(expand=True)
s.str.split().str[0]
s.str.split(" ").str.get(-1)
s.str.split(re.compile("[ -]")).str.get(1)
s.str.split("-").str.len()
s.str.split("-").str.join("+")
s.str.split("-").explode()
s.str.partition("-")
s.str.rpartition("-")
s.str.get_dummies()
s.str.get_dummies(" ")
s.str.extractall("([a-z])(?P<digit>[0-9])")
s.str.extractall("(q)")
s.str.replace("[aeiou]", lambda m: m.group(0).upper(), regex=True)
s.str.replace("A", lambda m: "_", n=1, case=False, regex=True)
""".strip().splitlines()


def _rows(value: Any) -> Any:
    value = value.to_pandas() if hasattr(value, "to_pandas") else value
    frame = value.to_frame("value") if isinstance(value, pd.Series) else value
    frame = frame.astype(object).where(frame.notna(), None)
    return [str(n) for n in frame.columns], list(frame.index), frame.to_numpy().tolist()


@pytest.mark.parametrize("call", CALLS)
def test_as_pandas(call: str) -> None:
    # pyarrow, behind pandas' strings, has rules of its own for ß, ½ and empty pieces.
    own = any(word in call for word in ("swapcase", "isdigit", "get_dummies"))
    theirs = pd.Series(TEXTS, dtype=object if own else "str")
    wanted, got = (_rows(eval(call, {"s": s, "re": re})) for s in (theirs, hr.Series(TEXTS)))
    if "is" in call:
        wanted[2][2] = [False]
    assert got == wanted


def test_labels_and_categories_stay() -> None:
    frame = hr.DataFrame({"k": [1, 2], "s": ["a b", "c"]}).set_index("k")
    assert frame.s.str.title().to_dict() == {1: "A B", 2: "C"}
    assert frame.s.str.split().str[0].to_dict() == {1: "a", 2: "c"}
    assert frame.s.str.split().explode().to_list() == ["a", "b", "c"]
    assert frame.s.str.split(expand=True).loc[2, "0"] == "c"
    assert frame.s.astype("category").str.title().to_list() == ["A B", "C"]
    empty = hr.Series([], dtype="string")
    assert empty.str.split(expand=True).shape == (0, 0)
    assert empty.str.title().to_list() == []
    assert "[a, b]" in repr(hr.Series(["a b"]).str.split())


def test_they_are_listed_and_refused_if_strict() -> None:
    assert hr.Series(["A"]).str.casefold().to_list() == ["a"]
    assert ("casefold", "Python called per string") in {each[:2] for each in hr.fallbacks()}
    with hr.strict(), pytest.raises(hr.UnsupportedError, match="casefold"):
        hr.Series(["a"]).str.casefold()


@pytest.mark.parametrize(
    ("call", "words"),
    [
        ("s.str.pad(3, side='up')", "side='up'"),
        ("s.str.pad(3, fillchar='ab')", "fillchar='ab'"),
        ("s.str.zfill('3')", "width='3'"),
        ("s.str.find(3)", "sub=3"),
        ("s.str.normalize('NFX')", "form='NFX'"),
        ("s.str.extractall('a')", "no groups"),
        ("s.str.replace('a', 3)", "repl=3"),
        ("s.str.replace('a', lambda m: 'b')", "regex=True"),
        ("s.str.split().str['a']", "i='a'"),
        ("s.str.split(expand=True)['9']", "9"),
    ],
)
def test_errors_name_the_value(call: str, words: str) -> None:
    with pytest.raises(hr.errors.Error, match=words):
        eval(call, {"s": hr.Series(TEXTS)})
