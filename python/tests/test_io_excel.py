# SPDX-License-Identifier: Apache-2.0
"""Excel sheets against pandas."""

from __future__ import annotations

import datetime as dt
import io
import sys

import pandas as pd
import pytest

import headrace as hr

FRAME = {
    "k": ["a", "b", None],
    "x": [1.5, None, -2.0],
    "n": [1, 2, 3],
    "t": [dt.datetime(2024, 2, 29, 12, 30), None, dt.datetime(1999, 1, 1)],
    "b": [True, False, True],
}


def sheets(tmp_path):
    """A file of two sheets."""
    pytest.importorskip("python_calamine")
    path = tmp_path / "a.xlsx"
    with pd.ExcelWriter(path) as writer:
        pd.DataFrame(FRAME).to_excel(writer, sheet_name="one", index=False)
        pd.DataFrame(FRAME).head(1).to_excel(writer, sheet_name="two", index=False)
    with pd.ExcelWriter(tmp_path / "b.xlsx") as writer:
        pd.DataFrame(FRAME).to_excel(writer, index=False, startrow=1)
    return path


def test_sheets(tmp_path):
    """By place, by name, all; columns, rows and names."""
    path = sheets(tmp_path)
    frame = hr.read_excel(path)
    assert frame.to_dict() == FRAME
    assert [str(dtype) for dtype in frame.dtypes.values()] == [
        *("string", "float64", "int64", "datetime64[us]", "bool")
    ]
    assert {name: len(each) for name, each in hr.read_excel(path, None).items()} == {
        "one": 3,
        "two": 1,
    }
    for shifted in ({"header": 1}, {"skiprows": 1}):
        assert hr.read_excel(tmp_path / "b.xlsx", **shifted).to_dict() == FRAME
    for chosen in ("A,C", [0, 2], ["k", "n"], lambda name: name in "kn"):
        assert hr.read_excel(path, usecols=chosen).columns == ["k", "n"]
    assert hr.read_excel(path, header=None, nrows=2, usecols="A").to_dict() == {"0": ["k", "a"]}
    read = hr.read_excel(io.BytesIO(path.read_bytes()), names=list("vwxyz"), dtypes={"x": "string"})
    assert read.x.to_list() == ["1", "2", "3"]


def test_faults(tmp_path):
    """Errors say what is wrong and what to do."""
    path = sheets(tmp_path)
    with pytest.raises(hr.InvalidArgumentError, match=r"no such sheet: .*'one'"):
        hr.read_excel(path, "three")
    with pytest.raises(hr.ColumnNotFoundError):
        hr.read_excel(path, usecols=["none"])
    with pytest.raises(FileNotFoundError):
        hr.read_excel(tmp_path / "none.xlsx")
    (tmp_path / "c.xlsx").write_bytes(b"PK\x03\x04 no zip")
    with pytest.raises(hr.InputError, match="cannot be opened"):
        hr.read_excel(tmp_path / "c.xlsx")
    mixed = pd.DataFrame({"a": [1, "x"]})
    mixed.to_excel(tmp_path / "c.xlsx", index=False)
    with pytest.raises(hr.TypeMismatchError, match="numbers and strings: column='a'"):
        hr.read_excel(tmp_path / "c.xlsx")
    assert hr.read_excel(tmp_path / "c.xlsx", dtypes={"a": "string"}).a.to_list() == ["1", "x"]


def test_without_calamine(monkeypatch):
    """The error names what to install."""
    monkeypatch.setitem(sys.modules, "python_calamine", None)
    with pytest.raises(hr.UnsupportedError, match=r"pip install 'headrace\[excel\]'"):
        hr.read_excel("a.xlsx")
