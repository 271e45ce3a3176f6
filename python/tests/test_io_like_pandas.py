# SPDX-License-Identifier: Apache-2.0
"""Reading and writing with pandas' options: the same frames and the same text."""

import io
import json
import sqlite3

import numpy as np
import pandas as pd
import pytest
from headrace.compare import difference

import headrace as hr

TEXT = "id;name; price ;when\n1;ann;1.234,50;2024-01-31\n2;böb;-0,25;2024-02-29\n3;;7;n/a\n"
WIDE = "a,b,c\n1,2,3\n4,5,6\n7,8,9\n"


@pytest.mark.parametrize(
    ("text", "options"),
    [
        (TEXT, {"sep": ";", "decimal": ",", "thousands": "."}),
        (TEXT, {"sep": ";", "decimal": ",", "thousands": ".", "skipinitialspace": True}),
        (TEXT, {"delimiter": ";", "decimal": ",", "parse_dates": ["when"]}),
        ("x  y\n1   a\n 2 b\n", {"sep": r"\s+"}),
        ("x  y\n1   a\n2 b\n", {"sep": " +", "engine": "python"}),
        ("a|b,c\n1|2,3\n", {"sep": "[|,]", "engine": "python"}),
        ("a;b\n1;2\n", {"sep": None, "engine": "python"}),
        (WIDE + "1,2,3,4\n", {"on_bad_lines": "skip"}),
        (WIDE, {"on_bad_lines": "error"}),
        ("head\n" + WIDE + "total,1,1\n", {"skiprows": 1, "skipfooter": 1, "engine": "python"}),
        (WIDE, {"skiprows": [1]}),
        (WIDE, {"skiprows": lambda i: i == 2}),
        (WIDE, {"header": None}),
        (WIDE, {"header": 1}),
        (WIDE, {"header": 0, "names": ["x", "y", "z"]}),
        (WIDE, {"names": ["x", "y", "z"], "header": 0, "usecols": ["x", "z"]}),
        (WIDE, {"index_col": 0}),
        (WIDE, {"index_col": ["a", "b"]}),
        (WIDE, {"index_col": False}),
        (WIDE, {"usecols": lambda name: name != "b"}),
        (WIDE, {"usecols": [0, 2], "nrows": 2}),
        (WIDE, {"dtype": {"a": "float64", "c": str}}),
        (WIDE, {"dtype": str}),
        (WIDE, {"engine": "c", "low_memory": False, "memory_map": False}),
        (WIDE, {"na_values": {"a": [1], "b": ["5"]}}),
        (WIDE, {"na_values": [4]}),
        (WIDE, {"converters": {"a": lambda text: int(text) * 10}}),
        ("n,f\n1,yes\n2,no\n", {"true_values": ["yes"], "false_values": ["no"]}),
        ("n,f\n1,NA\n2,x\n", {"keep_default_na": False}),
        ("n,f\n1,NA\n2,x\n", {"na_filter": False}),
        ("a,b,\n1,2,\n3,4,\n", {}),
        (",x\n0,1.5\n1,2.5\n", {}),
        (",x\nu,1.5\nv,2.5\n", {"index_col": 0}),
        ("x,x,y\n1,2,3\n", {}),
        ("d,v\n31/01/2024,1\n01/02/2024,2\n", {"parse_dates": ["d"], "dayfirst": True}),
        ("d,v\n31.01.2024,1\n", {"parse_dates": ["d"], "date_format": "%d.%m.%Y"}),
        ("d,v\n2024-01-31 10:00,1\n", {"parse_dates": [0]}),
        ("a,b\n'x,y',1\n", {"quotechar": "'"}),
        ("a,b\nx\\,y,1\n", {"escapechar": "\\"}),
        ("# note\na,b\n1,2\n", {"comment": "#"}),
        ("a,b\n1,2\n\n3,4\n", {}),
    ],
)
def test_read_csv(text, options):
    """The options of pandas, from a buffer of text."""
    wanted = pd.read_csv(io.StringIO(text), **options)
    assert difference(wanted, hr.read_csv(io.StringIO(text), **options)) is None
    if "encoding" not in options:
        assert difference(wanted, hr.read_csv(text.encode(), **options)) is None


def test_read_csv_of_files(tmp_path):
    """Encodings, tabs, missing files, directories and URLs."""
    path = tmp_path / "a.csv"
    path.write_bytes(TEXT.encode("latin-1"))
    options = {"sep": ";", "decimal": ",", "encoding": "latin-1"}
    assert difference(pd.read_csv(path, **options), hr.read_csv(path, **options)) is None
    path.write_text("a\tb\n1\t2\n")
    assert hr.read_table(path).to_dict() == {"a": [1], "b": [2]}
    url = path.as_uri()
    assert hr.read_csv(url, sep="\t").to_dict() == {"a": [1], "b": [2]}
    for missing in (tmp_path / "no.csv", str(tmp_path / "*.tsv")):
        with pytest.raises(FileNotFoundError):
            hr.read_csv(missing)
        with pytest.raises(FileNotFoundError):
            hr.read_csv(missing, decimal=",")
    assert hr.read_csv([path, path], sep="\t").to_dict() == {"a": [1, 1], "b": [2, 2]}


def test_read_csv_in_parts():
    """``chunksize`` and ``iterator`` give frames of some rows."""
    text = "k,v\n" + "\n".join(f"{i % 3},{i}" for i in range(100))
    sizes, total = [], 0
    with hr.read_csv(io.StringIO(text), chunksize=30) as parts:
        for part in parts:
            sizes.append(len(part))
            total += part["v"].sum()
    assert sizes == [30, 30, 30, 10] and int(total) == 4950
    parts = hr.read_csv(io.StringIO(text), iterator=True)
    assert parts.get_chunk(7).v.to_list() == list(range(7))
    parts.close()


def test_what_pandas_reads_is_listed():
    """`hr.fallbacks` names it, and `hr.strict` refuses it."""
    hr.read_csv(io.StringIO("a;b\n1,5;2\n"), sep=";", decimal=",")
    assert any(entry[0] == "read_csv" for entry in hr.fallbacks())
    with pytest.raises(hr.UnsupportedError), hr.strict():
        hr.read_csv(io.StringIO("a;b\n1,5;2\n"), sep=";", decimal=",")


@pytest.mark.parametrize(
    "options",
    [
        {"index": False},
        {"index": False, "sep": "\t", "na_rep": "NULL"},
        {"index": False, "columns": ["s", "x"]},
        {"index": False, "header": False},
        {"index": False, "date_format": "%d.%m.%y"},
        {"index": False, "decimal": ","},
        {"index": False, "float_format": "%.1f"},
        {"index": False, "quoting": 1},
        {"index_label": "row", "index": True},
    ],
)
def test_to_csv(options):
    """The same text."""
    data = {
        "x": [1.25, None, -3.5],
        "s": ["a,b", None, 'say "x"'],
        "when": np.array(["2024-01-05T10:00", "NaT", "2024-02-07T00:30"], "datetime64[us]"),
        "b": [True, False, True],
    }
    theirs, ours = pd.DataFrame(data), hr.DataFrame(data)
    assert ours.to_csv(**options) == theirs.to_csv(**options)
    text, binary = io.StringIO(), io.BytesIO()
    ours.to_csv(text, **options)
    ours.to_csv(binary, **options)
    assert text.getvalue() == binary.getvalue().decode() == theirs.to_csv(**options)


def test_to_csv_of_rows_without_numbers():
    """Filtered rows keep their numbers in pandas only."""
    frame = hr.DataFrame({"x": [1, 2, 3]})
    with pytest.raises(hr.InvalidArgumentError, match="index=False"):
        frame[frame.x > 1].to_csv(index=True)
    assert frame.to_csv(index=True) == '"",x\n0,1\n1,2\n2,3\n'
    assert frame[frame.x > 1].to_csv(index=False) == "x\n2\n3\n"


def test_to_csv_appends(tmp_path):
    """``mode="a"`` adds rows to a file."""
    frame = hr.DataFrame({"x": [1]})
    frame.to_csv(tmp_path / "a.csv", index=False)
    frame.to_csv(tmp_path / "a.csv", index=False, mode="a", header=False)
    assert (tmp_path / "a.csv").read_text() == "x\n1\n1\n"


FRAME = {"k": ["a", "b", None], "x": [1.5, None, -2.0], "n": [1, 2, 3]}


def test_json():
    """Records, lines, nested records."""
    ours, theirs = hr.DataFrame(FRAME), pd.DataFrame(FRAME)
    for orient in ("records", "columns", "split", "index", "values"):
        text = ours.to_json(orient=orient)
        assert json.loads(text) == json.loads(theirs.to_json(orient=orient))
    lines = theirs.to_json(orient="records", lines=True)
    assert ours.to_json(orient="records", lines=True) == lines
    wanted = pd.read_json(io.StringIO(lines), lines=True)
    assert difference(wanted, hr.read_json(io.StringIO(lines), lines=True)) is None
    parts = hr.read_json(io.StringIO(lines), lines=True, chunksize=2)
    assert [len(part) for part in parts] == [2, 1]
    nested = [{"id": 1, "at": {"x": 1, "y": 2}, "rows": [{"q": 1}, {"q": 2}]}]
    options = {"record_path": "rows", "meta": ["id", ["at", "x"]], "sep": "_"}
    wanted = pd.json_normalize(nested, **options)
    assert difference(wanted, hr.json_normalize(nested, **options)) is None


def test_excel(tmp_path):
    """One sheet, and all of them."""
    pytest.importorskip("python_calamine")
    ours, theirs = hr.DataFrame(FRAME), pd.DataFrame(FRAME)
    ours.to_excel(tmp_path / "a.xlsx", index=False)
    assert difference(theirs, hr.read_excel(tmp_path / "a.xlsx")) is None
    with pd.ExcelWriter(tmp_path / "b.xlsx") as writer:
        ours.to_excel(writer, sheet_name="one", index=False)
        ours.head(1).to_excel(writer, sheet_name="two", index=False)
    sheets = hr.read_excel(tmp_path / "b.xlsx", sheet_name=None)
    assert {name: len(sheet) for name, sheet in sheets.items()} == {"one": 3, "two": 1}
    assert hr.read_excel(tmp_path / "b.xlsx", sheet_name="two", usecols="A,C").columns == ["k", "n"]


def test_sql():
    """Tables and queries of a database."""
    ours = hr.DataFrame(FRAME)
    with sqlite3.connect(":memory:") as base:
        ours.to_sql("t", base, index=False)
        wanted = pd.read_sql("select * from t", base)
        assert difference(wanted, hr.read_sql("select * from t", base)) is None
        query = "select k, sum(n) as n from t group by k"
        wanted = pd.read_sql_query(query, base, index_col="k")
        assert difference(wanted, hr.read_sql_query(query, base, index_col="k")) is None
        assert [len(part) for part in hr.read_sql("select * from t", base, chunksize=2)] == [2, 1]


def test_other_forms(tmp_path):
    """Feather, records, and the pickles that are refused."""
    ours, theirs = hr.DataFrame(FRAME), pd.DataFrame(FRAME)
    ours.to_feather(tmp_path / "a.feather")
    assert difference(theirs, hr.read_feather(tmp_path / "a.feather")) is None
    records = ours.to_records(index=False)
    assert records.dtype.names == ("k", "x", "n") and records["n"].tolist() == [1, 2, 3]
    with pytest.raises(hr.UnsupportedError, match="read_parquet"):
        hr.read_pickle(tmp_path / "a.pkl")
    with pytest.raises(AttributeError, match="to_parquet"):
        ours.to_pickle(tmp_path / "a.pkl")
