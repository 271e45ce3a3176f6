# SPDX-License-Identifier: Apache-2.0
"""`read_fwf` against pandas', and what only ours does."""

from __future__ import annotations

import io
import random

import pandas as pd
import pytest

import headrace as hr

TEXTS = [
    "name  size\nlamp    12\npen      3\n",
    "a b  c\n1 2  3\n\n   \n4    6\n",
    "id8141    360.242940   149.910199   11950.7\nid1594    444.953632   166.985655   11788.4\n",
    "x\n1\n2\n",
    "é  x\nab  y\nñandú z\n",
    "a   b\r\n1   2\r\n3   4",
    "  a   b\n  1   2\n 33  44\n",
]


def same(text: str, **options: object) -> None:
    """Compare with pandas."""
    theirs = pd.read_fwf(io.StringIO(text), **options)
    ours = hr.read_fwf(text.encode(), **options)
    assert list(ours.columns) == [str(name) for name in theirs.columns]
    for name, column in zip(ours.columns, theirs.columns, strict=True):
        values = [None if pd.isna(x) else x for x in theirs[column].tolist()]
        assert ours[name].to_list() == values, name


@pytest.mark.parametrize("text", TEXTS)
def test_columns_are_found_as_pandas_finds_them(text):
    same(text)
    same(text, infer_nrows=1)
    same(text, header=None)
    same(text, skiprows=1, header=None)


@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.parametrize(
    "options",
    [
        {"widths": [4, 6]},
        {"colspecs": [(0, 3), (5, None)]},
        {"colspecs": [(5, 9), (0, 3)], "names": ["p", "q"]},
        {"widths": [3, 2, 9], "header": None},
        {"colspecs": [(2, 40), (90, 99)], "header": None},
    ],
)
def test_places_that_are_given(text, options):
    try:
        pd.read_fwf(io.StringIO(text), **options)
    except pd.errors.EmptyDataError:
        with pytest.raises(hr.InputError, match="no rows"):
            hr.read_fwf(text.encode(), **options)
    else:
        same(text, **options)


@pytest.mark.parametrize("seed", range(40))
def test_random_tables(seed):
    draw = random.Random(seed)
    widths = [draw.randint(1, 9) for _ in range(draw.randint(1, 5))]
    words = ["", "a", "12", "-3.5", "é", "a b", "long word"]
    lines = [
        "".join(draw.choice(words)[:width].ljust(width) for width in widths)[
            : draw.choice([99, 99, 5])
        ]
        for _ in range(draw.randint(1, 30))
    ]
    lines = [line for line in lines if line.strip()] or ["a"]
    text = "\n".join(lines) + "\n"
    names = [f"c{k}" for k in range(len(widths))]
    same(text, widths=widths, names=names, dtype=str)


def test_blanks_and_comments():
    text = b"..a..b\n# none\n..1..2 # two\n..3...\n"
    frame = hr.read_fwf(text, widths=[3, 3], delimiter=".", comment="#")
    assert frame.to_dict() == {"a": [1, 3], "b": [2, None]}


def test_rejects_and_errors():
    text = b"a   b\n1   2\nx   3\n4   5\n"
    frame = hr.read_fwf(text, dtypes="int64", on_bad="reject")
    assert (frame.a.to_list(), frame.rejects.line.to_list()) == ([1, 4], [3])
    with pytest.raises(hr.InputError, match="line=3"):
        hr.read_fwf(text, dtypes="int64")
    with pytest.raises(hr.InputError, match="control character") as raised:
        hr.read_fwf(b"a   b\n1 \x1f 2\n")
    assert raised.value.line == 2
    with pytest.raises(hr.InputError, match="no columns"):
        hr.read_fwf(b"   \n")
    with pytest.raises(hr.InvalidArgumentError, match="ends before it begins"):
        hr.read_fwf(text, colspecs=[(3, 1)])
    with pytest.raises(hr.InvalidArgumentError, match="twice"):
        hr.read_fwf(text, colspecs=[(0, 1)], widths=[1])
    with pytest.raises(hr.TypeMismatchError, match=r"delimiter|sep"):
        hr.read_fwf(text, sep=",")


def test_several_files_and_options_of_the_frame(tmp_path):
    for k in range(3):
        (tmp_path / f"{k}.txt").write_text(f"k  day\nu{k} 2024-01-0{k + 1}\n")
    frame = hr.read_fwf(tmp_path / "*.txt", index_col="k")
    assert frame.index.to_list() == ["u0", "u1", "u2"]
    assert str(frame.day.dtype) == "date"
    assert hr.read_fwf([b"a\n1\n", b"a\n2\n"]).a.to_list() == [1, 2]


def test_rows_and_rejects_of_several_files(tmp_path):
    for name in ("a", "b", "c"):
        (tmp_path / name).write_text("n   m\n1   2\n3   4\nx   5\n")
    options = {"widths": [4, 1], "dtypes": {"n": "int64"}, "on_bad": "reject"}
    made = hr.read_fwf(tmp_path, nrows=3, **options)
    assert made.to_dict() == {"n": [1, 3, 1], "m": [2, 4, 2]}
    every = hr.read_fwf(tmp_path, **options)
    assert len(every) == 6
    assert [path[-1] for path in every.rejects["path"].to_list()] == ["a", "b", "c"]
    assert len(hr.read_fwf(tmp_path, nrows=0, **options)) == 0


def test_many_lines():
    text = "".join(f"{k:>8}{k * 0.5:>12}{'w' * (k % 7):>8}\n" for k in range(200_000))
    frame = hr.read_fwf(text.encode(), widths=[8, 12, 8], header=None)
    assert frame["0"].sum().item() == sum(range(200_000))
    assert frame["2"].str.len().sum().item() == sum(k % 7 for k in range(200_000))
