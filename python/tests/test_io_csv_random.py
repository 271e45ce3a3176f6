# SPDX-License-Identifier: Apache-2.0
"""Random CSV files beside Python's csv and pandas: rows in = rows out + rejects, values equal.

A thousand files a run, the same each time; ``HEADRACE_EXAMPLES=10000`` (as ``./dev fuzz csv`` sets
it) takes that many new ones.
"""

import csv
import io
import math
import os

import pandas as pd
from hypothesis import given, settings
from hypothesis import strategies as st

import headrace as hr

EXAMPLES = int(os.environ.get("HEADRACE_EXAMPLES", "0"))
MANY = settings(max_examples=EXAMPLES or 1000, derandomize=not EXAMPLES)
NULLS = ["", "NA", "null", "NULL"]

# A text begins with a letter that no number, bool or null begins with.
TEXT = st.builds(
    str.__add__,
    st.sampled_from(["x", "é", "漢", " x"]),
    st.text(st.sampled_from("ab ,;|\t\"'\n\r#é😀0"), max_size=16),
)
INTEGER = st.integers(-(10**6), 10**6) | st.integers(-(2**63), 2**63 - 1)
FLOAT = st.floats(allow_nan=False, allow_infinity=False)
CELLS = {
    "text": TEXT,
    "integer": INTEGER.map(str),
    "short": st.integers(-(10**7), 10**7).map(lambda x: f"{x / 1000:.3f}"),
    "float": FLOAT.map(repr),
    "digits": FLOAT.map(lambda x: f"{x:.18e}"),
    "bool": st.sampled_from(["True", "False"]),
    "any": st.one_of(TEXT, INTEGER.map(str), FLOAT.map(repr), st.sampled_from(["True", "False"])),
}


@st.composite
def files(draw):
    """Draw the rows of a file with a header, and how it is written."""
    kinds = draw(st.lists(st.sampled_from(sorted(CELLS)), min_size=1, max_size=6))
    null = st.sampled_from(NULLS)
    columns = [CELLS[kind] if draw(st.booleans()) else CELLS[kind] | null for kind in kinds]
    rows = draw(st.lists(st.tuples(*columns).map(list), max_size=12))
    repeat = draw(st.sampled_from([1, 1, 1, 8, 300]))  # more than one block of text or of values
    style = {
        "delimiter": draw(st.sampled_from(",;\t|")),
        "lineterminator": draw(st.sampled_from(["\n", "\r\n"])),
        "quoting": draw(st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL])),
    }
    return [f"c{i}" for i in range(len(kinds))], rows * repeat, style


def written(names, rows, style):
    """Give the text that Python's csv writes."""
    out = io.StringIO(newline="")
    writer = csv.writer(out, **style)
    writer.writerow(names)
    writer.writerows(rows)
    text = out.getvalue()
    if style["lineterminator"] == "\n":  # csv leaves a lone \r unquoted there
        out = io.StringIO(newline="")
        csv.writer(out, **style | {"quoting": csv.QUOTE_ALL}).writerows([names, *rows])
        text = out.getvalue()
    return text


@MANY
@given(files(), st.data())
def test_rows_in_are_rows_out_and_rejects(file, data):
    names, rows, style = file
    for row in rows[:12]:  # fields too many or too few
        change = data.draw(st.sampled_from([0, 0, 0, 0, 1, -1]))
        if change > 0:
            row.append("more")
        elif change < 0 and len(row) > 1:
            row.pop()
    text = written(names, rows, style)
    if data.draw(st.booleans()):
        text = text.rstrip("\r\n")
    expected = list(csv.reader(io.StringIO(text, newline=""), delimiter=style["delimiter"]))[1:]
    expected = [row for row in expected if row]  # lines without a byte are no rows
    good = [row for row in expected if len(row) == len(names)]
    frame = hr.read_csv(
        text.encode(), delimiter=style["delimiter"], dtypes="str", null_words=[], on_bad="reject"
    )
    assert len(frame) + len(frame.rejects) == len(expected)
    assert list(frame.columns) == names
    got = [frame[name].to_list() for name in names]
    assert [list(row) for row in zip(*got, strict=True)] == good


def same(ours, theirs):
    """Whether a cell of ours is what pandas read, which may have kept it as another type."""
    if ours is None or ours in NULLS:  # pandas has no difference between a null and a quoted one
        return theirs is None or (isinstance(theirs, float) and math.isnan(theirs))
    if isinstance(ours, str) and not isinstance(theirs, str):
        return False
    return ours == theirs


@MANY
@given(files())
def test_values_are_those_of_pandas(file):
    names, rows, style = file
    text = written(names, rows, style)
    frame = hr.read_csv(text.encode(), delimiter=style["delimiter"], null_words=NULLS)
    other = pd.read_csv(
        io.StringIO(text, newline=""),
        sep=style["delimiter"],
        keep_default_na=False,
        na_values=NULLS,
        dtype_backend="numpy_nullable",
    )
    assert len(frame) == len(other)
    for name in names:
        ours, theirs = frame[name].to_list(), other[name].astype(object).tolist()
        theirs = [None if x is pd.NA else x for x in theirs]
        wrong = [
            (i, a, b) for i, (a, b) in enumerate(zip(ours, theirs, strict=True)) if not same(a, b)
        ]
        assert not wrong, f"{name}: {frame[name].dtype}, {other[name].dtype}: {wrong[:3]}"
