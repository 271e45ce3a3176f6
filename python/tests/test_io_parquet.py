# SPDX-License-Identifier: Apache-2.0
"""Parquet files as frames."""

from __future__ import annotations

import datetime
import io
import os
import sys
import time
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import headrace as hr

DATA: dict[str, list[Any]] = {
    "i": [1, None, 3],
    "f": [0.5, float("inf"), None],
    "s": ["a", None, "a longer text than a view holds"],
    "b": [True, None, False],
    "d": [datetime.date(2024, 2, 29), None, datetime.date(1969, 12, 31)],
    "t": [datetime.datetime(2024, 2, 29, 12), None, datetime.datetime(1900, 1, 1)],
}


@pytest.fixture
def path(tmp_path: Any) -> str:
    """A file of all dtypes."""
    frame = hr.DataFrame(DATA)
    frame["c"] = frame.s.astype("category")
    frame.to_parquet(tmp_path / "x.parquet")
    return str(tmp_path / "x.parquet")


def test_round_trip(path: str) -> None:
    read = hr.read_parquet(path)
    assert read.columns == [*DATA, "c"]
    assert {name: read[name].to_list() for name in DATA} == DATA
    assert str(read.c.dtype) == "category"
    assert hr.read_parquet(path, columns=["s", "i"]).columns == ["s", "i"]
    with open(path, "rb") as file:
        content = file.read()
    assert hr.read_parquet(content).i.to_list() == DATA["i"]
    assert hr.read_parquet(io.BytesIO(content)).i.to_list() == DATA["i"]
    with hr.strict():
        assert hr.read_parquet(content).i.to_list() == DATA["i"]
    assert "read_parquet" not in {each[0] for each in hr.fallbacks()}


class Counted(io.BytesIO):
    """A file that counts the bytes that are read."""

    def __init__(self, content: bytes) -> None:
        super().__init__(content)
        self.bytes = 0

    def read(self, size: int | None = -1, /) -> bytes:
        found = super().read(size)
        self.bytes += len(found)
        return found


def test_scan_reads_what_is_wanted(path: str) -> None:
    rows = 50_000
    table = pa.table({name: np.random.default_rng(0).random(rows) for name in "abcde"})
    content = io.BytesIO()
    pq.write_table(table, content, compression="none", use_dictionary=False)
    file = Counted(content.getvalue())
    frame = hr.scan_parquet(file)
    assert frame.shape == (rows, 5)
    assert file.bytes < 10_000  # the footer
    file.bytes = 0
    assert frame.c.sum().item() == pytest.approx(table["c"].to_numpy().sum())
    assert 8 * rows < file.bytes < 9 * rows
    frame = hr.scan_parquet(path)
    assert frame.shape == (3, 7)
    assert str(frame.t.dtype) == "datetime64[us]"
    kept = frame[frame.i > 1]
    assert kept.s.to_list() == ["a longer text than a view holds"]
    assert frame.i.sum().item() == 4
    assert "x.parquet" in hr.scan_parquet(path).explain()


def test_chunks_are_joined(tmp_path: Any) -> None:
    table = pa.table({"x": list(range(1000)), "s": [str(i) for i in range(1000)]})
    pq.write_table(table, tmp_path / "x.parquet", row_group_size=64)
    frame = hr.scan_parquet(tmp_path / "x.parquet")
    assert frame.x.sum().item() == 499500
    assert frame.s.to_list()[999] == "999"


def test_labels_are_columns(tmp_path: Any) -> None:
    frame = hr.DataFrame({"k": ["a"], "x": [1]}).set_index("k")
    frame.to_parquet(tmp_path / "x.parquet")
    assert hr.read_parquet(tmp_path / "x.parquet").to_dict() == {"k": ["a"], "x": [1]}


def test_another_file_takes_the_path(path: str) -> None:
    frame = hr.scan_parquet(path)
    hr.DataFrame({"i": [7, 8, 9], "s": ["x", "y", "z"]}).to_parquet(path + ".other")
    os.replace(path + ".other", path)
    with pytest.raises(hr.InputError, match="changed"):
        frame[frame.i > 1].s.to_list()
    assert hr.read_parquet(path).i.to_list() == [7, 8, 9]


def test_errors(path: str, tmp_path: Any) -> None:
    with pytest.raises(hr.ColumnNotFoundError, match=r"did you mean|columns are"):
        hr.read_parquet(path, columns=["ii"])
    with pytest.raises(hr.InputError, match=r"none\.parquet"):
        hr.read_parquet(tmp_path / "none.parquet")
    (tmp_path / "bad.parquet").write_bytes(b"PAR1 no file PAR1")
    with pytest.raises(hr.InputError, match=r"bad\.parquet"):
        hr.scan_parquet(tmp_path / "bad.parquet")
    with pytest.raises(hr.TypeMismatchError, match="type='int'"):
        hr.read_parquet(5)  # type: ignore[arg-type]
    nested = pa.table({"x": [1], "l": [{"a": b"1"}]})
    pq.write_table(nested, tmp_path / "l.parquet")
    with pytest.raises(hr.UnsupportedError, match="column='l'"):
        hr.read_parquet(tmp_path / "l.parquet")
    assert hr.read_parquet(tmp_path / "l.parquet", columns=["x"]).x.to_list() == [1]
    with pytest.raises(hr.InputError):
        hr.DataFrame({"x": [1]}).to_parquet(tmp_path / "no" / "x.parquet")
    frame = hr.scan_parquet(path)
    time.sleep(0.01)
    os.utime(path)
    with pytest.raises(hr.InputError, match="changed"):
        frame.i.to_list()


def test_pyarrow_is_not_needed(path: str, tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in ("pyarrow", "pyarrow.parquet", "pyarrow.lib"):
        monkeypatch.setitem(sys.modules, module, None)
    frame = hr.read_parquet(path)
    frame.to_parquet(tmp_path / "y.parquet")
    assert hr.read_parquet(tmp_path / "y.parquet").i.to_list() == DATA["i"]
