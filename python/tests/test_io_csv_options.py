# SPDX-License-Identifier: Apache-2.0
"""What the options of read_csv choose, and texts longer than a chunk, against plain Python."""

import csv
import gzip
import io
import os
import random
import re

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from headrace.io.csv import read_csv
from hypothesis import given
from hypothesis import strategies as st

import headrace as hr

CHUNK = 1 << 20  # the reader's, in bytes


def columns(frame):
    """Give the values of all columns as lists."""
    return {name: frame[name].to_list() for name in frame.columns}


def zstd(text):
    """Pack text as a zstd frame."""
    return pa.compress(text, codec="zstd", asbytes=True)


# ---- random tables against csv and pandas --------------------------------------------------------
@st.composite
def tables(draw):
    """Give text, what Python's csv reads from it, and the options it was written with."""
    width = draw(st.integers(1, 5))
    delimiter = draw(st.sampled_from(",;\t|"))
    ends = draw(st.sampled_from(["\n", "\r\n", "\r"]))
    cell = st.sampled_from(
        ["", "1", "-2.5", "x", 'q"q', "a,b", "c;d", "line\nbreak", "é", " pad ", "NA", "1e300"]
    )
    rows = draw(st.lists(st.lists(cell, min_size=width, max_size=width), max_size=12))
    if width == 1:
        rows = [row for row in rows if row[0] != ""]  # an empty line is no row
    out = io.StringIO(newline="")
    writer = csv.writer(out, delimiter=delimiter, lineterminator=ends, quoting=csv.QUOTE_ALL)
    writer.writerow([f"n{i}" for i in range(width)])
    for row in rows:
        writer.writerow(row)
    text = out.getvalue()
    if draw(st.booleans()):
        text = text.removesuffix(ends)
    return text, rows, delimiter


@given(tables(), st.data())
def test_random_tables(table, data):
    text, rows, delimiter = table
    width = text.split("\n", 1)[0].split("\r", 1)[0].count(delimiter) + 1
    names = [f"n{i}" for i in range(width)]
    chosen = data.draw(st.permutations(names))[: data.draw(st.integers(1, width))]
    most = data.draw(st.none() | st.integers(0, 14))
    frame = read_csv(
        text.encode(), delimiter=delimiter, dtypes="str", columns=chosen, num_rows=most
    )
    assert frame.columns == chosen
    wanted = rows if most is None else rows[:most]
    assert columns(frame) == {n: [row[names.index(n)] for row in wanted] for n in chosen}
    theirs = pd.read_csv(
        io.StringIO(text, newline=""), sep=delimiter, dtype=str, keep_default_na=False, nrows=most
    )
    assert columns(frame) == theirs[chosen].to_dict("list")


NUMBER_LINES = st.one_of(
    st.decimals(allow_nan=False, allow_infinity=False, min_value=-(10**9), max_value=10**9).map(
        lambda x: f"{x:f}"
    ),
    st.tuples(
        st.sampled_from(["", "-", "+"]), st.from_regex(r"[0-9]{0,9}\.[0-9]{1,12}", fullmatch=True)
    ).map("".join),
    st.integers(-(10**18), 10**18).map(str),
    st.floats(allow_nan=False).map("{:.18e}".format),
    st.floats(-10, 10).map("{:.18e}".format),
    st.integers(-20, 20).map(lambda i: f"{i / 4:.18e}"),
    st.sampled_from(["", "NA", "nan", "inf", "1", "-0.5", '"1.5"', " 2 ", "1.0E+01", "+3"]),
)


@given(st.lists(NUMBER_LINES, max_size=60), st.sampled_from(["\n", "\r\n", "\r"]), st.booleans())
def test_one_column_of_numbers(lines, end, closed):
    text = "x" + end + end.join(lines) + (end if closed else "")
    expected = []
    for line in lines:
        word = line.strip(' "')
        if line:  # an empty line is no row
            expected.append(None if word == "NA" else float(word))
    for dtype in ("float64", "float32"):
        got = read_csv(text.encode(), dtypes=dtype).x.to_list()
        assert len(got) == len(expected)
        with np.errstate(over="ignore"):
            for a, b in zip(got, expected, strict=True):
                if b is None:
                    assert a is None
                else:
                    np.testing.assert_equal(a, float(np.dtype(dtype).type(b)))


# ---- longer than a chunk -------------------------------------------------------------------------
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("shift", [0, 1, 2, 3])
def test_quotes_and_line_ends_at_the_border_of_chunks(end, shift):
    """Put doubled quotes, line breaks in quotes and line ends at every place around a border."""
    pad = "x" * (CHUNK - 40 - shift * 7)
    tail = [f'{i},"a""{i}{end}b""","{"z" * (i % 5)}"' for i in range(200_000 // 20)]
    text = f'i,s,t{end}0,"{pad}",""{end}' + end.join(f"{line}" for line in tail) + end
    frame = read_csv(text.encode(), null_words=[])
    assert frame.s.to_list()[0] == pad
    assert frame.i.to_list() == [0, *range(len(tail))]
    assert frame.s.to_list()[1:] == [f'a"{i}{end}b"' for i in range(len(tail))]
    assert frame.t.to_list()[1:] == ["z" * (i % 5) for i in range(len(tail))]


def test_rows_longer_than_chunks():
    rows = ["a" * (3 * CHUNK), "b", "c" * CHUNK, "d" * (CHUNK - 1), "e\n" * CHUNK]
    text = "s\n" + "".join(f'"{row}"\n' for row in rows)
    assert read_csv(text.encode()).s.to_list() == rows


@pytest.mark.parametrize("threads", [1, 2, 4])
def test_rows_skipped_and_limited_over_chunks(threads):
    lines = [f"{i},{i * 0.5}" for i in range(300_000)]
    text = ("\n".join(["i,h", *lines]) + "\n").encode()
    with hr.threads(threads):
        for most in (0, 1, 1000, 100_000, 299_999, 300_000, 300_001):
            i = read_csv(text, num_rows=most).i.to_numpy()
            assert len(i) == min(most, 300_000) and (i == np.arange(len(i))).all()
        for skip in (1, 2, 150_000):
            frame = read_csv(text, skip_rows=skip, header=False, names=["i", "h"], num_rows=5)
            assert frame.i.to_list() == list(range(skip - 1, skip + 4))
            assert frame.h.to_list() == [0.5 * i for i in range(skip - 1, skip + 4)]


# ---- compression ---------------------------------------------------------------------------------
@pytest.mark.parametrize("pack", [gzip.compress, zstd], ids=["gzip", "zstd"])
def test_compressed(pack, tmp_path):
    text = b"a,b\n" + b"".join(b"%d,%d.5\n" % (i, i) for i in range(200_000))
    half = text.index(b"\n", len(text) // 2) + 1
    path = tmp_path / "x.csv"  # the ending says nothing
    for packed in (pack(text), pack(text[:half]) + pack(text[half:])):  # and in two members
        path.write_bytes(packed)
        for source in (packed, path, io.BytesIO(packed)):
            frame = read_csv(source)
            assert (frame.a.to_numpy() == np.arange(200_000)).all()
            assert float(frame.b.sum()) == 200_000 * 100_000
    with pytest.raises(hr.Error):
        read_csv(path, compression="none")
    with pytest.raises(hr.Error):
        read_csv(text, compression="zstd" if pack is zstd else "gzip")


def test_another_compression_is_named():
    with pytest.raises(hr.Error, match="zip"):
        read_csv(b"PK\x03\x04 and so on")


# ---- inference -----------------------------------------------------------------------------------
def late_misfit(rows=1_000_000, at=777_777):
    """Whole numbers, but one word where no sample lies."""
    lines = [str(i) for i in range(rows)]
    lines[at] = "oops"
    return ("n\n" + "\n".join(lines) + "\n").encode()


def test_a_late_misfit_is_an_error_that_names_dtypes():
    with pytest.raises(hr.InputError) as caught:
        read_csv(late_misfit())
    assert caught.value.line == 777_779
    assert "oops" in str(caught.value) and "dtypes={" in str(caught.value)
    frame = read_csv(late_misfit(), dtypes={"n": "str"})
    assert frame.n[777_777] == "oops" and len(frame) == 1_000_000


def test_a_late_misfit_can_be_rejected():
    frame = read_csv(late_misfit(), on_bad="reject")
    assert len(frame) == 999_999 and len(frame.rejects) == 1
    assert frame.rejects["text"].to_list() == ["oops"]
    assert frame.rejects["line"].to_list() == [777_779]
    assert frame.n.dtype == "int64"


def test_many_rejects_keep_their_order():
    choose = random.Random(1)
    lines = [choose.choice(["1,2", "3", "x,4"]) for _ in range(200_000)]
    frame = read_csv("\n".join(["a,b", *lines, ""]).encode(), dtypes="int64", on_bad="reject")
    good = lines.count("1,2")
    assert len(frame) == good and len(frame) + len(frame.rejects) == len(lines)
    bad = [i + 2 for i, line in enumerate(lines) if line != "1,2"]
    assert frame.rejects["line"].to_list() == bad
    assert frame.rejects["text"].to_list() == [lines[i - 2] for i in bad]


@pytest.mark.parametrize(
    ("cells", "dtype"),
    [
        (["1", "2"], "int64"),
        (["1", ""], "int64"),
        (["1", "2.5"], "float64"),
        (["1", "nan"], "float64"),
        (["inf", "-inf"], "float64"),
        (["18446744073709551615", "1"], "uint64"),
        (["18446744073709551616", "1"], "float64"),
        (["-1", "18446744073709551615"], "float64"),
        (["true", "False"], "bool"),
        (["true", "1"], "string"),
        (["", "NA"], "float64"),
        (["1", "x"], "string"),
        (['"1"', '"2"'], "int64"),
    ],
)
def test_inferred_dtypes(cells, dtype):
    text = "a,b\n" + "".join(f"{cell},0\n" for cell in cells)
    assert read_csv(text.encode()).a.dtype == dtype


# ---- the other options ---------------------------------------------------------------------------
def test_comments_and_quotes():
    text = 'a,b # names\n"x#y",1# one\n# none\n"z",2\n"#",3'
    assert columns(read_csv(text.encode(), comment="#", names=["a", "b"], header=True)) == {
        "a": ["x#y", "z", "#"],
        "b": [1, 2, 3],
    }


def test_other_null_words():
    text = b"a,s\n-,-\n1,\nNA,NA\n"
    frame = read_csv(text, null_words=["-", "NA"])
    assert columns(frame) == {"a": [None, 1, None], "s": [None, "", None]}


@pytest.mark.parametrize("word", ["-999", "0", "-9.990000000000000000e+02", "nan", "1e400", "inf"])
def test_null_words_that_are_numbers(word):
    for cells in ([word, "1"], ["1.5", word, word], ["2.000000000000000000e+00"] * 9 + [word]):
        text = "a\n" + "".join(f"{cell}\n" for cell in cells)
        pairs = "a,b\n" + "".join(f"{cell},{cell}\n" for cell in cells)
        expected = [None if cell == word else float(cell) for cell in cells]
        for dtype in (None, "float64", "float32"):
            assert read_csv(text.encode(), null_words=[word], dtypes=dtype).a.to_list() == expected
            frame = read_csv(pairs.encode(), null_words=[word], dtypes=dtype)
            assert columns(frame) == {"a": expected, "b": expected}


def test_given_dtypes():
    text = b"a,b,c\n1,2,3\n"
    frame = read_csv(text, dtypes={"a": "int8", "b": np.float32, "c": str})
    assert [str(frame[n].dtype) for n in "abc"] == ["int8", "float32", "string"]
    frame = read_csv(text, columns=np.array([2, 0]), dtypes="float64")
    assert frame.columns == ["c", "a"] and columns(frame) == {"c": [3.0], "a": [1.0]}


@pytest.mark.parametrize(
    ("options", "kind"),
    [
        ({"delimiter": '"'}, hr.InvalidArgumentError),
        ({"delimiter": "\n"}, hr.InvalidArgumentError),
        ({"delimiter": "1"}, hr.InvalidArgumentError),
        ({"delimiter": "ab"}, Exception),
        ({"num_rows": -5}, hr.InvalidArgumentError),
        ({"num_rows": -1}, hr.InvalidArgumentError),
        ({"nrows": -(2**70)}, hr.InvalidArgumentError),
        ({"skip_rows": -1}, hr.InvalidArgumentError),
        ({"columns": ["z"]}, hr.ColumnNotFoundError),
        ({"columns": [7]}, hr.ColumnNotFoundError),
        ({"columns": [2**70]}, hr.InvalidArgumentError),
        ({"columns": [-(2**63)]}, hr.ColumnNotFoundError),
        ({"skip_rows": 2**70}, hr.InvalidArgumentError),
        ({"columns": 5}, hr.TypeMismatchError),
        ({"columns": ["a", "a"]}, hr.Error),
        ({"dtypes": {"z": "int64"}}, hr.ColumnNotFoundError),
        ({"dtypes": "complex128"}, hr.TypeMismatchError),
        ({"names": ["a", "a"]}, hr.Error),
        ({"compression": "rar"}, hr.InvalidArgumentError),
        ({"header": "no"}, hr.InvalidArgumentError),
        ({"header": 1.5}, hr.InvalidArgumentError),
        ({"on_bad": "skip"}, hr.InvalidArgumentError),
        ({"columns": "ab"}, hr.TypeMismatchError),
        ({"columns": ["a", 1]}, hr.TypeMismatchError),
        ({"columns": [1.5]}, hr.TypeMismatchError),
        ({"names": "ab"}, hr.TypeMismatchError),
        ({"names": 5}, hr.TypeMismatchError),
        ({"delimiter": None}, hr.TypeMismatchError),
        ({"quote": 5}, hr.TypeMismatchError),
        ({"comment": b"#"}, hr.TypeMismatchError),
        ({"compression": None}, hr.TypeMismatchError),
        ({"on_bad": 5}, hr.TypeMismatchError),
        ({"null_words": "NA"}, hr.TypeMismatchError),
        ({"dtypes": {0: "int8"}}, hr.TypeMismatchError),
        ({"dtypes": "flaot"}, hr.TypeMismatchError),
        ({"num_rows": 1.5}, hr.TypeMismatchError),
        ({"skip_rows": "1"}, hr.TypeMismatchError),
    ],
)
def test_options_that_make_no_sense(options, kind):
    with pytest.raises(kind):
        read_csv(b"a,b\n1,2\n", **options)
    assert columns(read_csv(b"a,b\n1,2\n")) == {"a": [1], "b": [2]}


def test_numbers_of_rows():
    for read in (hr.read_csv, hr.scan_csv):
        assert columns(read(b"a\n1\n2\n", num_rows=2**63 - 1)) == {"a": [1, 2]}
        assert columns(read(b"a\n1\n2\n", names=["a"], skip_rows=2**63 - 1)) == {"a": []}
        with pytest.raises(hr.InvalidArgumentError, match="num_rows=-1"):
            read(b"a\n1\n2\n", nrows=-1)
        with pytest.raises(hr.InvalidArgumentError, match=r"64 bits.*num_rows"):
            read(b"a\n1\n2\n", num_rows=2**70)


def test_names_given_and_not():
    text = b"1,2\n3,4\n"
    assert read_csv(text, header=False).columns == ["0", "1"]
    assert columns(read_csv(text, names=["x", "y"])) == {"x": [1, 3], "y": [2, 4]}
    assert columns(read_csv(text, names=["x", "y"], header=True)) == {"x": [3], "y": [4]}


@pytest.mark.parametrize("delimiter", [".", "-", "e", "+"])
def test_delimiters_that_numbers_may_hold(delimiter):
    text = delimiter.join(["a", "b"]) + "\n" + delimiter.join(["25", "37"]) + "\n"
    for dtype in (None, "float64", "int64"):
        frame = read_csv(text.encode(), delimiter=delimiter, dtypes=dtype)
        assert columns(frame) == {"a": [25], "b": [37]}
    assert (
        len(read_csv(b"a\n2.5\n-3\n", delimiter=delimiter, on_bad="reject", dtypes="float64")) < 3
    )


def test_words_of_pandas(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("x;y;z\n1;-;a\n2;5;b\n3;6;c\n")
    got = hr.read_csv(
        path, sep=";", header=0, usecols=["y", "x"], dtype={"x": "int8"}, na_values="-", nrows=2
    )
    assert got.to_dict() == {"y": [None, 5], "x": [1, 2]}
    assert got.x.dtype == "int8"
    assert hr.scan_csv(path, sep=";", skiprows=1, names=["a", "b", "c"]).a.to_list() == [1, 2, 3]
    assert hr.read_csv(path, sep=";", na_values=2).x.to_list() == [1, None, 3]
    assert hr.read_csv(path, sep=";", na_values={"x": [2]}).x.isna().to_list() == [
        False,
        True,
        False,
    ]
    with pytest.raises(TypeError, match="replace"):
        hr.scan_csv(path, sep=";", na_values={"x": [2]})
    got.to_csv(tmp_path / "b.csv", sep="|", na_rep="?")
    assert (tmp_path / "b.csv").read_text() == "y|x\n?|1\n5|2\n"
    with pytest.raises(TypeError, match="set_index"):
        hr.scan_csv(path, index_col=0)
    with pytest.raises(TypeError, match="did you mean 'delimiter'"):
        hr.read_csv(path, delimeter=";")


def test_names_of_files_that_are_not_utf8(tmp_path):
    path = os.fsdecode(os.fsencode(tmp_path) + b"/caf\xe9.csv")
    with open(path, "w") as file:
        file.write("a\n1\n")
    assert hr.read_csv(path).a.to_list() == [1]
    with pytest.raises(hr.InvalidArgumentError, match=r"not a valid file name.*ud800"):
        hr.read_csv("\ud800.csv")


# ---- pandas' options -----------------------------------------------------------------------------
STOCK = "id,day,when,prix,name\n7,2024-01-01,2024-01-01 10:00,1.5,Zoé\n9,2024-02-01,,N/A,None\n"


def same_frame(ours, theirs):
    """Compare the values and the labels with pandas' frame; missing values are None."""
    theirs = theirs.reset_index() if theirs.index.name or theirs.index.nlevels > 1 else theirs
    ours = ours.reset_index() if ours._labels else ours
    wanted = theirs.astype(object).where(theirs.notna(), None)
    assert columns(ours) == {name: wanted[name].to_list() for name in wanted}


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"index_col": "id"},
        {"index_col": 0},
        {"index_col": ["name", "id"]},
        {"index_col": False},
        {"parse_dates": ["day", "when"]},
        {"parse_dates": [1, -3], "index_col": "id"},
        {"parse_dates": True, "encoding": "utf-8"},
        {"usecols": lambda name: name in ("id", "prix")},
        {"usecols": lambda name: name != "day", "nrows": 1},
    ],
)
def test_options_of_pandas_that_change_the_frame(tmp_path, options):
    path = tmp_path / "stock.csv"
    path.write_text(STOCK, encoding="utf-8")
    dates = options.get("parse_dates")
    other = {**options, "parse_dates": dates if isinstance(dates, list) else ["when"]}
    if "usecols" in options and "when" not in filter(options["usecols"], STOCK.split(",")):
        del other["parse_dates"]
    theirs = pd.read_csv(path, **other)
    if "day" in theirs and not isinstance(dates, list):
        theirs["day"] = pd.to_datetime(theirs.day).dt.date
    for source in (path, path.read_bytes(), io.StringIO(STOCK), io.BytesIO(path.read_bytes())):
        same_frame(hr.read_csv(source, **options), theirs)


def test_text_of_other_encodings_is_converted(tmp_path):
    path = tmp_path / "stock.csv"
    for encoding in ("latin-1", "cp1252", "utf-16"):
        path.write_text(STOCK, encoding=encoding)
        wanted = columns(hr.read_csv(STOCK.encode()))
        for source in (path, str(path), path.read_bytes(), io.BytesIO(path.read_bytes())):
            assert columns(hr.read_csv(source, encoding=encoding)) == wanted
    assert wanted["name"] == ["Zoé", None]
    with path.open(encoding="utf-16") as file:
        assert columns(hr.read_csv(file)) == wanted
    with pytest.raises(UnicodeDecodeError):
        hr.read_csv(path.read_bytes(), encoding="utf-32")


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"encoding": "utf-9"}, "encoding='utf-9'; use 'utf-8', 'latin-1'"),
        ({"parse_dates": "day"}, "a list of columns: parse_dates='day'"),
        ({"parse_dates": [9]}, "parse_dates=9, columns=5"),
        ({"index_col": 5}, "index_col=5, columns=5"),
        ({"index_col": "nmae"}, "nmae"),
        ({"parse_dates": ["name"]}, "Zoé"),
    ],
)
def test_bad_options_of_pandas_are_named(options, text):
    with pytest.raises((hr.Error, KeyError), match=re.escape(text)):
        hr.read_csv(STOCK.encode(), **options).to_dict()
