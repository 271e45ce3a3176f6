# SPDX-License-Identifier: Apache-2.0
"""Random CSV files beside Python's csv and pandas: rows in = rows out + rejects, values equal.

Three hundred files a run (thirty long ones), the same each time; ``HEADRACE_EXAMPLES=10000`` (as
``./dev fuzz csv`` sets it) takes that many new ones.
"""

import csv
import io
import itertools
import math
import os
import random

import pandas as pd
from hypothesis import given, settings
from hypothesis import strategies as st

import headrace as hr

EXAMPLES = int(os.environ.get("HEADRACE_EXAMPLES", "0"))
MANY = settings(max_examples=EXAMPLES or 300, derandomize=not EXAMPLES)
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


# ---- long files: quoted line ends, wide rows, rows and names longer than what is looked at first -
LETTERS = ["a", "3.5", "", "x y", "7", "True", "-", '"', '""', '"q"', " ", "é"]
HEAD = 1 << 18  # bytes that are looked at first
SEEN_WHOLE = 1_200_000  # bytes of a file of which no row is left out by the samples


class LongFile:
    """A file of a seed: the kinds of its columns and its text."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.end = self.random.choice(["\n", "\n", "\r\n"])
        self.bytes = self.random.choices(
            [0, 20_000, 2 * HEAD, SEEN_WHOLE, 3 * SEEN_WHOLE], [30, 58, 7, 4, 1]
        )[0]
        width = self.random.choices([3, 6, 400, 3000, 20_000], [70, 27, 2.7, 0.25, 0.05])[0]
        kinds = ["id", "integer", "float", "bool", "text", "prose", "nulls", "late"]
        self.kinds = self.random.choices(kinds, k=self.random.randint(1, width))
        self.late = self.random.choice(["0.5", "word"])
        rows = self.rows()
        self.names = [f"c{i}" for i in range(len(self.kinds))]
        if self.random.random() < 0.03:  # longer than the head
            self.names[0] = "n" * self.random.choice([HEAD - 3, HEAD + 3, 2 * HEAD])
        out = io.StringIO(newline="")
        quoting = self.random.choice([csv.QUOTE_MINIMAL, csv.QUOTE_MINIMAL, csv.QUOTE_ALL])
        writer = csv.writer(out, lineterminator=self.end, quoting=quoting)
        writer.writerow(self.names)
        writer.writerows(rows)
        self.text = out.getvalue()

    def cell(self, kind):
        """Give a cell; of "late" the common one."""
        draw = self.random
        if kind == "prose":  # its lines have as many fields as a row, more or less
            count = len(self.kinds) + draw.choice([-1, 0, 0, 0, 1])
            lines = (
                ",".join(draw.choices(LETTERS, k=min(max(count, 0), 30)))
                for _ in range(draw.randint(1, 4))
            )
            return "x" + draw.choice(["\n", self.end]).join(lines)
        if kind == "text":
            return "x" + "ab, é"[draw.randint(0, 4) :]
        if kind == "float":
            return repr(draw.random() * 10.0 ** draw.randint(-3, 20))
        if kind == "bool":
            return draw.choice(["True", "False"])
        if kind == "nulls":
            return draw.choice(["", "", str(2**53 + draw.randint(1, 10**6))])
        return str(draw.randint(-(10**6), 10**6))

    def rows(self):
        """Draw a few rows, repeat them with other ids, and put long texts somewhere."""
        draw = self.random
        few = [[self.cell(kind) for kind in self.kinds] for _ in range(draw.randint(1, 30))]
        size = sum(len(cell) + 1 for row in few for cell in row) + len(few)
        rows = []
        for repeat in range(max(1, self.bytes // size)):
            for i, row in enumerate(few):
                number = str(2**53 + 1 + 2 * (repeat * len(few) + i))
                cells = zip(self.kinds, row, strict=True)
                rows.append([number if kind == "id" else cell for kind, cell in cells])
        size *= len(rows) // len(few)
        texts = [i for i, kind in enumerate(self.kinds) if kind in ("text", "prose")]
        if texts and draw.random() < 0.15:
            line = draw.choice(["y" * 50, self.end + ",".join(["4.5"] * len(self.kinds)), '"'])
            long = "x" + line * (draw.choice([HEAD // 2, HEAD, 2 * HEAD]) // len(line))
            place = draw.choice([0, 0, draw.randrange(len(rows))])
            rows[place][draw.choice(texts)] = long
            size += 2 * len(long)  # quotes are doubled
        for i, kind in enumerate(self.kinds):
            if kind == "late" and size < SEEN_WHOLE // 2:  # quotes may double it
                rows[draw.randrange(len(rows))][i] = self.late
            if kind == "nulls" and size >= SEEN_WHOLE // 2 and not rows[0][i]:
                rows[0][i] = "7"  # of what no sample shows the dtype is not told
        return rows


CLASSES = {"i": "integer", "u": "integer", "f": "float", "b": "bool"}


def class_of(dtype):
    """Give the class of a dtype of ours or of pandas."""
    return CLASSES.get(getattr(dtype, "kind", ""), "string")


def check_long_file(seed, tmp_path):
    file = LongFile(seed)
    rows = [row for row in csv.reader(io.StringIO(file.text, newline="")) if row][1:]
    other = pd.read_csv(
        io.StringIO(file.text, newline=""),
        keep_default_na=False,
        na_values=NULLS,
        dtype_backend="numpy_nullable",
        low_memory=False,
    )
    source = file.text.encode()
    if file.random.random() < 0.3:
        (tmp_path / "x.csv").write_bytes(source)
        source = tmp_path / "x.csv"
    read = file.random.choice([hr.read_csv, hr.read_csv, hr.scan_csv])
    frame = read(source)
    assert list(frame.columns) == file.names == list(other.columns)
    columns, dtypes = frame.to_dict(), frame.dtypes
    for i, name in enumerate(file.names):
        ours, theirs = columns[name], other[name]
        cells = [row[i] for row in rows]
        kind = class_of(dtypes[name])
        told = f"seed {seed}, column {i} of {len(file.names)}: {kind}, {theirs.dtype}"
        if any(cell not in NULLS for cell in cells):
            assert kind == class_of(theirs.dtype), told
        values = [None if x is pd.NA else x for x in theirs.astype(object).tolist()]
        assert ours == values, told
        if kind == "string":
            assert [x or "" for x in ours] == cells, told
        elif kind in ("integer", "float"):
            number = int if kind == "integer" else float
            assert ours == [None if x == "" else number(x) for x in cells], told


def test_long_files_are_those_of_csv_and_pandas(tmp_path):
    first = random.SystemRandom().randrange(2**40) if EXAMPLES else 0
    limit = csv.field_size_limit(1 << 30)
    try:
        for seed in itertools.islice(itertools.count(first), EXAMPLES or 30):
            check_long_file(seed, tmp_path)
    finally:
        csv.field_size_limit(limit)
