# SPDX-License-Identifier: Apache-2.0
"""Dates, timestamps and categories in CSV text, against pandas, NumPy and Python's datetime."""

import datetime as dt
import io
import re

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import headrace as hr

UNITS = ("s", "ms", "us", "ns")


def csv_of(name, cells):
    return ("id," + name + "\n" + "".join(f"{i},{c}\n" for i, c in enumerate(cells))).encode()


@given(st.lists(st.none() | st.dates(), min_size=1, max_size=50))
def test_dates_agree_with_datetime(days):
    text = csv_of("day", ["" if d is None else d.isoformat() for d in days])
    assert hr.read_csv(text, dtypes={"day": "date"})["day"].to_list() == days
    if any(days):
        frame = hr.read_csv(text)
        assert frame["day"].dtype == "date"
        assert frame["day"].to_list() == days


@given(
    st.lists(st.none() | st.datetimes(), min_size=1, max_size=50),
    st.sampled_from([" ", "T"]),
    st.sampled_from(["auto", "minutes", "seconds", "milliseconds", "microseconds"]),
)
def test_times_agree_with_datetime(moments, separator, precision):
    texts = ["" if m is None else m.isoformat(separator, precision) for m in moments]
    expected = [None if t == "" else dt.datetime.fromisoformat(t) for t in texts]
    assert hr.read_csv(csv_of("t", texts), dtypes={"t": dt.datetime})["t"].to_list() == expected
    if any(moments):
        frame = hr.read_csv(csv_of("t", texts))
        assert frame["t"].dtype == "datetime64[us]"
        assert frame["t"].to_list() == expected


def is_day(word):
    """Tell whether NumPy knows this day."""
    if re.fullmatch(r"\d{4}-\d\d-\d\d", word) is None:
        return False
    try:
        np.datetime64(word)
    except ValueError:
        return False
    return True


@given(st.from_regex(r"[0-2]\d{3}-[01]\d-[0-3]\d|[0-9: T.Z-]{8,30}", fullmatch=True))
def test_what_is_no_date_stays_text(text):
    frame = hr.read_csv(csv_of("t", [text]), null_words=[])
    dtype, word = frame["t"].dtype, text.strip()
    if dtype.kind == "M":
        assert frame["t"].to_numpy()[0] == np.datetime64(word.replace(" ", "T"))
    elif dtype == "string":
        assert frame["t"].to_list() == [text]
    assert (dtype == "date") == is_day(word)


@pytest.mark.parametrize("unit", UNITS)
def test_given_units_agree_with_numpy(unit):
    texts = [
        "2262-04-11 23:47:16",
        "1677-09-22 00:00:00",
        "1970-01-01",
        "1969-12-31T23:59",
        "",
        "2024-02-29 12:34:56",
    ]
    texts += {"s": [], "ms": ["2000-01-01 00:00:00.125"], "us": ["2000-01-01 00:00:00.12500"]}.get(
        unit, ["2000-01-01 00:00:00.000000001"]
    )
    expected = np.array([t or "NaT" for t in texts], f"datetime64[{unit}]")
    frame = hr.read_csv(csv_of("t", texts), dtypes={"t": f"datetime64[{unit}]"})
    assert frame["t"].dtype == f"datetime64[{unit}]"
    np.testing.assert_array_equal(frame["t"].to_numpy(), expected)


def test_digits_are_never_lost():
    text = csv_of("t", ["2000-01-01 00:00:00.5"])
    with pytest.raises(hr.InputError, match=r'"t": "datetime64\[us\]"'):
        hr.read_csv(text, dtypes={"t": "datetime64[s]"})
    late = csv_of("t", ["2000-01-01 00:00:00"] * 200_000 + ["2000-01-01 00:00:00.000000001"])
    with pytest.raises(hr.InputError, match=r'line=200002.*"t": "datetime64\[ns\]"'):
        hr.read_csv(late)
    rejects = hr.read_csv(late, on_bad="reject").rejects
    assert rejects["line"].to_list() == [200_002]


def test_a_late_word_says_what_to_pass():
    text = csv_of("day", ["2000-01-01"] * 200_000 + ["unknown"])
    with pytest.raises(hr.InputError, match=r'not a date.*"day": "string"') as caught:
        hr.read_csv(text)
    assert caught.value.line == 200_002
    frame = hr.read_csv(text, null_words=["", "unknown"])
    assert int(frame["day"].is_null().sum()) == 1


@given(
    st.lists(
        st.none() | st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=20),
        max_size=40,
    )
)
def test_categories_agree_with_pandas(values):
    pandas = pd.DataFrame({"id": range(len(values)), "kind": pd.Series(values, dtype="object")})
    out = io.StringIO(newline="")
    pandas.to_csv(out, index=False, quoting=2, na_rep="", lineterminator="\r\n")
    text = out.getvalue().replace(',""\r\n', ",\r\n").encode()
    kind = hr.read_csv(text, dtypes={"kind": "category", "id": "int64"})["kind"]
    assert kind.to_list() == values
    assert kind.cat.categories.to_list() == sorted(
        {v for v in values if v is not None}, key=str.encode
    )


@pytest.fixture(scope="module")
def mixed():
    """About 12 MB with all three dtypes, over several chunks."""
    n = 200_000
    rng = np.random.default_rng(5)
    frame = pd.DataFrame(
        {
            "day": (np.datetime64("1990-01-01") + rng.integers(0, 20_000, n)).astype(str),
            "t": (np.datetime64("1990-01-01T00:00:00") + rng.integers(0, 10**9, n)).astype(str),
            "kind": rng.choice(["walk-in", "planned", 'with "quotes", and commas'], n),
            "user": np.char.add("user ", rng.integers(0, 50_000, n).astype(str)),
            "x": rng.standard_normal(n).round(3),
        }
    )
    frame.loc[::17, ["day", "t", "kind"]] = None
    return frame, frame.to_csv(index=False).encode()


def test_any_threads_read_and_write_the_same(mixed, tmp_path):
    pandas, text = mixed
    dtypes = {"kind": "category", "user": "category"}
    expected = None
    for threads in (1, 2, 4):
        with hr.threads(threads):
            frame = hr.read_csv(text, dtypes=dtypes)
            hr.io.csv.write_csv(frame, tmp_path / "out.csv")
        assert frame.dtypes == {
            **{"day": "date", "t": "datetime64[us]", "kind": "category"},
            **{"user": "category", "x": "float64"},
        }
        made = [frame["user"].cat.codes.to_numpy(), frame["user"].cat.categories.to_numpy()]
        made.append((tmp_path / "out.csv").read_bytes())
        expected = expected or made
        np.testing.assert_array_equal(made[0], expected[0])
        np.testing.assert_array_equal(made[1], expected[1])
        assert made[2] == expected[2]
    np.testing.assert_array_equal(frame["t"].to_numpy(), pd.to_datetime(pandas.t).to_numpy())
    days = pd.to_datetime(pandas.day).to_numpy().astype("datetime64[D]")
    np.testing.assert_array_equal(frame["day"].to_numpy(), days)
    assert frame["user"].to_list() == pandas.user.tolist()
    assert frame["user"].cat.categories.to_list() == sorted(pandas.user.unique())
    assert frame["kind"].to_list() == [None if pd.isna(k) else k for k in pandas.kind]
    back = hr.read_csv(tmp_path / "out.csv", dtypes=dtypes)
    assert back.to_dict() == frame.to_dict()


def test_scans_prune_and_cut(mixed):
    _, text = mixed
    frame = hr.scan_csv(text, dtypes={"kind": "category", "day": "date"})
    assert frame.head(3)["day"].to_list() == hr.read_csv(text, num_rows=3)["day"].to_list()
    few = hr.read_csv(text, num_rows=2, dtypes={"user": "category"})
    assert few["user"].cat.categories.to_list() == few["user"].to_list()
    kinds = frame[frame["x"] > 2]["kind"]
    assert set(kinds.to_list()) <= {None, "walk-in", "planned", 'with "quotes", and commas'}
    assert hr.read_csv(b"", names=["a"], dtypes="category")["a"].to_list() == []


def test_other_dtypes_are_refused_or_text():
    for text in (b"t\n2020-01-01T00:00:00Z\n", b"t\n2020-02-30\n", b"t\n20200101x\n"):
        assert hr.read_csv(text)["t"].dtype == "string"
    with pytest.raises(hr.TypeMismatchError, match="needs a unit"):
        hr.read_csv(b"t\n2020-01-01\n", dtypes={"t": "datetime64"})


def test_far_years_are_written_but_not_read_as_dates(tmp_path):
    days = hr.Series(np.array(["-0001-12-31", "12345-06-07"], "datetime64[D]"))
    hr.DataFrame({"day": days, "x": [1, 2]}).to_csv(tmp_path / "far.csv")
    assert hr.read_csv(tmp_path / "far.csv")["day"].to_list() == ["-0001-12-31", "12345-06-07"]


# ---- texts longer than what is looked at first ---------------------------------------------------
@pytest.mark.parametrize("read", [hr.read_csv, hr.scan_csv])
@pytest.mark.parametrize("note", ["one, two\nthree, four", "a note\n3.5,of two lines"])
def test_lines_of_quoted_text_are_no_rows(read, note):
    rows = "".join(f'{9007199254740993 + 2 * i},"{note}",{i}\n' for i in range(50_000))
    frame = read(("id,note,n\n" + rows).encode())
    assert [str(dtype) for dtype in frame.dtypes.values()] == ["int64", "string", "int64"]
    assert frame["id"].to_list()[:2] == [9007199254740993, 9007199254740995]
    assert frame["note"][49_999] == note


@pytest.mark.parametrize("read", [hr.read_csv, hr.scan_csv])
def test_a_row_longer_than_the_head_is_read_whole(read):
    names = ",".join(f"c{i}" for i in range(16_000))
    row = ",".join(["9007199254740993"] * 16_000)
    frame = read(f"{names}\n{row}\n".encode())
    assert frame["c0"].to_list() == frame["c15999"].to_list() == [9007199254740993]
    frame = read(b"a,b\n" + b"x" * 300_000 + b",1\n")
    assert frame.to_dict() == {"a": ["x" * 300_000], "b": [1]}
    frame = read(b"x" * 300_000 + b',1\n"y\n",2', header=None, names=["a", "b"])
    assert frame.to_dict() == {"a": ["x" * 300_000, "y\n"], "b": [1, 2]}
