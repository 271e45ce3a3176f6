# SPDX-License-Identifier: Apache-2.0
"""read_csv, scan_csv and write_csv against Python's csv module, pandas and exact fractions."""

import csv
import gzip
import io
import math
import struct
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from headrace.io.csv import read_csv, scan_csv, write_csv
from hypothesis import given
from hypothesis import strategies as st

import headrace as hr

THREADS = [1, 2, 4]


def columns(frame):
    """Give the values of all columns as lists."""
    return {name: frame[name].to_list() for name in frame.columns}


# ---- text ----------------------------------------------------------------------------------------
TEXT = st.text(
    st.sampled_from("ab ,\"'\n\r\t;#é漢😀\0") | st.characters(exclude_categories=["Cs"]),
    max_size=30,
)


@given(
    st.lists(st.tuples(TEXT, TEXT), max_size=20),
    st.sampled_from(
        [
            ("\r\n", csv.QUOTE_MINIMAL),  # with other line ends it leaves a \r in text unquoted
            ("\r\n", csv.QUOTE_ALL),
            ("\n", csv.QUOTE_ALL),
            ("\r", csv.QUOTE_ALL),
        ]
    ),
)
def test_text_is_what_pythons_csv_wrote(rows, style):
    line_end, quoting = style
    out = io.StringIO(newline="")
    writer = csv.writer(out, lineterminator=line_end, quoting=quoting)
    writer.writerow(["a", "b"])
    writer.writerows(rows)
    frame = read_csv(out.getvalue().encode(), dtypes="str", null_words=[])
    assert frame["a"].to_list() == [a for a, _ in rows]
    assert frame["b"].to_list() == [b for _, b in rows]


def test_any_bytes_give_a_frame_or_an_error():
    @given(st.binary(max_size=400))
    def check(data):
        try:
            frame = read_csv(b"a,b\n" + data, dtypes="str", on_bad="reject")
        except hr.Error:
            return
        assert len(frame) + len(frame.rejects) <= data.count(b"\n") + data.count(b"\r") + 1

    with hr.memory.leak_check():
        check()


@given(st.binary(max_size=200))
def test_any_bytes_alone_give_a_frame_or_an_error(data):
    try:
        frame = read_csv(data)
        columns(frame)
    except hr.Error:
        pass


# ---- numbers -------------------------------------------------------------------------------------
FLOATS = st.floats(allow_nan=False) | st.integers(-(2**70), 2**70).map(float)
FLOAT_TEXT = st.one_of(
    FLOATS.map(repr),
    FLOATS.map(lambda x: f"{x:.18e}"),
    FLOATS.map(lambda x: f"{x:.17g}"),
    st.floats(-1e6, 1e6).map(lambda x: f"{x:.3f}"),
    st.from_regex(r"[+-]?[0-9]{1,40}\.[0-9]{0,40}([eE][+-]?[0-9]{1,3})?", fullmatch=True),
    st.from_regex(r"[+-]?[0-9]\.[0-9]{18}[eE][+-][0-9]{2}", fullmatch=True),
)


@given(st.lists(FLOAT_TEXT, min_size=1))
def test_floats_are_correctly_rounded(texts):
    frame = read_csv("\n".join(["x", *texts]).encode(), dtypes="float64")
    got = frame["x"].to_numpy()
    assert got.tobytes() == np.array([float(text) for text in texts]).tobytes()


def nearest_float32(text):
    """Round the exact decimal once, ties to even."""
    exact = Fraction(text.replace("+", "") if text.startswith("+") else text)
    if abs(exact) >= Fraction(2) ** 128 - Fraction(2) ** 103:
        return math.inf if exact > 0 else -math.inf
    guess = np.float32(float(text))
    if np.isinf(guess):
        guess = np.copysign(np.finfo(np.float32).max, guess)
    with np.errstate(over="ignore"):
        near = [
            np.nextafter(guess, np.float32(-np.inf)),
            guess,
            np.nextafter(guess, np.float32(np.inf)),
        ]
    near = [x for x in near if np.isfinite(x)]
    even = [struct.unpack("<I", struct.pack("<f", x))[0] % 2 for x in near]
    return float(
        min(zip(near, even, strict=True), key=lambda c: (abs(Fraction(float(c[0])) - exact), c[1]))[
            0
        ]
    )


@given(st.lists(FLOAT_TEXT.filter(lambda text: "inf" not in text), min_size=1))
def test_float32_is_rounded_once(texts):
    frame = read_csv("\n".join(["x", *texts]).encode(), dtypes="float32")
    assert frame["x"].to_list() == [nearest_float32(text) for text in texts]


@given(st.lists(st.integers(-(2**63), 2**63 - 1), min_size=1))
def test_integers_are_exact(values):
    frame = read_csv("\n".join(["x", *map(str, values)]).encode())
    assert frame["x"].dtype == np.int64
    assert frame["x"].to_list() == values


@given(st.lists(st.integers(-(2**80), 2**80), min_size=1))
def test_large_integers_never_wrap(values):
    frame = read_csv("\n".join(["x", *map(str, values)]).encode())
    if all(-(2**63) <= v < 2**63 for v in values) or all(0 <= v < 2**64 for v in values):
        assert frame["x"].to_list() == values
    else:
        assert frame["x"].to_list() == [float(v) for v in values]


# ---- pandas --------------------------------------------------------------------------------------
CELLS = {
    "i": st.none() | st.integers(-(10**12), 10**12),
    "f": st.none() | st.floats(allow_nan=False, allow_infinity=False),
    "s": st.none() | st.text('abcXYZ," é', min_size=1).filter(str.strip),
    "b": st.booleans(),
}


@given(
    st.lists(st.fixed_dictionaries(CELLS), min_size=1, max_size=30),
    st.sampled_from([";", ",", "\t"]),
)
def test_agrees_with_pandas(rows, delimiter):
    text = (
        pd.DataFrame(rows, columns=list(CELLS))
        .astype({"i": "Int64"})
        .to_csv(index=False, sep=delimiter)
    )
    theirs = pd.read_csv(io.StringIO(text), sep=delimiter, dtype={"i": "Int64", "s": "str"})
    ours = read_csv(
        text.encode(), delimiter=delimiter, dtypes={"i": "int64", "f": "float64", "s": "str"}
    )
    for name in CELLS:
        expected = [None if pd.isna(x) else x for x in theirs[name].tolist()]
        assert ours[name].to_list() == expected


def test_skips_what_pandas_skips():
    text = "junk\n# more\n\na,b\n\n1,2 # rest\n   \n# none\n3,4\n"
    theirs = pd.read_csv(io.StringIO(text), skiprows=1, comment="#")
    ours = read_csv(text.encode(), skip_rows=1, comment="#")
    assert columns(ours) == theirs.to_dict("list")


# ---- sources -------------------------------------------------------------------------------------
@pytest.fixture(scope="module")
def large():
    """About 12 MB: a dozen chunks, quotes and long text across their borders."""
    n = 200_000
    frame = {
        "i": list(range(n)),
        "f": [i / 7 for i in range(n)],
        "s": [None if i % 11 == 0 else f'text, "{i}"' + "\n" * (i % 3) for i in range(n)],
        "b": [i % 3 == 0 for i in range(n)],
    }
    out = io.StringIO(newline="")
    writer = csv.writer(out)
    writer.writerow(frame)
    for row in zip(*frame.values(), strict=True):
        writer.writerow(["" if v is None else v for v in row])
    return frame, out.getvalue().encode()


@pytest.mark.parametrize("count", THREADS)
def test_any_threads_read_and_write_the_same(large, count, tmp_path):
    frame, text = large
    with hr.threads(count):
        read = read_csv(text)
        assert columns(read) == frame
        write_csv(read, tmp_path / "out.csv", durable=False)
        again = read_csv(tmp_path / "out.csv")
        assert columns(again) == frame


def test_reads_every_kind_of_source(large, tmp_path):
    frame, text = large
    (tmp_path / "x.csv").write_bytes(text)
    (tmp_path / "x.csv.gz").write_bytes(gzip.compress(text, 1))
    with open(tmp_path / "x.csv", "rb") as file, gzip.open(tmp_path / "x.csv.gz") as unzipped:
        sources = [
            tmp_path / "x.csv",
            str(tmp_path / "x.csv.gz"),
            file,
            unzipped,
            io.BytesIO(text),
            bytearray(text),
        ]
        for source in sources:
            read = read_csv(source, columns=["b", "i"])
            assert read.columns == ["b", "i"]
            assert read["i"].to_list() == frame["i"]


def test_a_text_file_is_refused_by_a_scan():
    with pytest.raises(hr.TypeMismatchError, match="binary"):
        hr.scan_csv(io.StringIO("a\n1\n"))
    with pytest.raises(hr.TypeMismatchError):
        read_csv(3)


def test_a_failing_file_object_passes_its_error():
    class Failing:
        def read(self, size):
            raise RuntimeError("no more")

    with pytest.raises(RuntimeError, match="no more"):
        read_csv(Failing())


def test_scan_reads_only_what_is_asked(tmp_path):
    path = tmp_path / "x.csv"
    path.write_text("a,b\n1,2\n3,4\n")
    frame = scan_csv(path, dtypes={"b": "int8"})
    assert frame.columns == ["a", "b"]
    assert int(frame["a"].sum()) == 4
    # A value that misfits column b does not matter to who asks for a alone.
    path.write_text("a,b\n1,2\n3,400\n")
    frame = scan_csv(path, dtypes={"b": "int8"})
    assert int(frame["a"].sum()) == 4
    with pytest.raises(hr.InputError, match="int8"):
        frame["b"].to_list()


def test_a_file_that_changed_since_the_scan_is_an_error(tmp_path):
    path = tmp_path / "x.csv"
    path.write_text("a\n1\n")
    frame = scan_csv(path)
    path.write_text("a\n1\n2\n")
    with pytest.raises(hr.InputError, match="changed"):
        frame["a"].to_list()


# ---- bad rows ------------------------------------------------------------------------------------
def test_the_first_bad_row_is_named(tmp_path):
    path = tmp_path / "x.csv"
    path.write_text("a,b\n1,2\n3,x\n4\n")
    with pytest.raises(hr.InputError) as caught:
        read_csv(path, dtypes={"b": "int64"})
    error = caught.value
    assert (error.path, error.line, error.column) == (str(path), 3, 2)
    assert "3,x" in str(error) and "dtypes=" in str(error)


@given(st.lists(st.sampled_from(["1,2", "x,2", "3", "4,5,6", "", "7,", '"8",9']), max_size=50))
def test_rows_in_are_rows_out_and_rejects(lines):
    text = "\n".join(["a,b", *lines, ""])
    frame = read_csv(text.encode(), dtypes="int64", on_bad="reject")
    good = {"1,2": (1, 2), "7,": (7, None), '"8",9': (8, 9)}
    assert list(zip(*columns(frame).values(), strict=True)) == [good[x] for x in lines if x in good]
    bad = [(n + 2, x) for n, x in enumerate(lines) if x and x not in good]
    assert (
        list(zip(frame.rejects["line"].to_list(), frame.rejects["text"].to_list(), strict=True))
        == bad
    )


# ---- writing -------------------------------------------------------------------------------------
@given(st.lists(FLOATS, min_size=1))
def test_writes_what_printf_writes(values):
    frame = hr_frame({"x": np.array(values)})
    for form in ["%.18e", "%.3f", "%.10g"]:
        assert written(frame, float_format=form) == "".join(
            f"{line}\n" for line in ["x", *(form % v for v in values)]
        )


@given(st.lists(st.fixed_dictionaries(CELLS), min_size=1, max_size=20))
def test_what_is_written_reads_back(rows):
    text = pd.DataFrame(rows, columns=list(CELLS)).astype({"i": "Int64"}).to_csv(index=False)
    dtypes = {"i": "int64", "f": "float64", "s": "str", "b": "bool"}
    frame = read_csv(text.encode(), dtypes=dtypes)
    assert columns(read_csv(written(frame).encode(), dtypes=dtypes)) == columns(frame)


def hr_frame(data):
    from headrace.frame.dataframe import DataFrame

    return DataFrame(data)


def written(frame, **options):
    """Give the text that `write_csv` writes."""
    import tempfile
    from pathlib import Path

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "x.csv"
        write_csv(frame, path, durable=False, **options)
        return path.read_bytes().decode()
