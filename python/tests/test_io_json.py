# SPDX-License-Identifier: Apache-2.0
"""JSON lines and arrays against Python's json and pandas."""

from __future__ import annotations

import gzip
import io
import json
import os
import random
from typing import Any

import numpy as np
import pandas as pd
import pytest

import headrace as hr

FILES = int(os.environ.get("HEADRACE_EXAMPLES", "0")) or 300


def test_lines_and_arrays(tmp_path):
    """Both shapes, from a path, bytes, a file, a stream and packed."""
    rows = [{"a": i, "b": f"x{i}", "l": [i] * (i % 3)} for i in range(200)]
    lines = "".join(json.dumps(row) + "\n" for row in rows).encode()
    array = json.dumps(rows, indent=1).encode()
    wanted = {name: [row[name] for row in rows] for name in rows[0]}
    for text in (lines, array):
        (tmp_path / "a.json").write_bytes(text)
        packed = gzip.compress(text)
        for source in (text, tmp_path / "a.json", str(tmp_path / "a.json"), packed):
            assert hr.read_json(source).to_dict() == wanted
            assert hr.scan_json(source).to_dict() == wanted
        assert hr.read_json(io.BytesIO(text)).to_dict() == wanted
        assert hr.read_json(io.StringIO(text.decode())).to_dict() == wanted
        with open(tmp_path / "a.json", "rb") as file:
            assert hr.read_json(file, columns=["l", "a"]).columns == ["l", "a"]


def test_scan_reads_what_is_wanted(tmp_path):
    """A plan builds only the columns that it needs, and `head` only its rows."""
    path = tmp_path / "a.json"
    path.write_text("".join(f'{{"a":{i},"b":"{i % 3}","c":[{i}]}}\n' for i in range(5000)))
    scan = hr.scan_json(path)
    assert "read_json" in scan.explain()
    assert scan.head(3).a.to_list() == [0, 1, 2]
    assert scan[scan.b == "1"].a.sum().item() == sum(range(1, 5000, 3))
    assert len(scan) == 5000 and scan.c.list.len().sum().item() == 5000
    scan = hr.scan_json(path)
    path.write_text('{"a":1,"b":"x","c":[]}\n')
    with pytest.raises(hr.InputError, match="changed"):
        scan.b.to_list()


def test_dtypes():
    """Inferred from all rows, or given; text keeps what else there is."""
    text = b'{"i":1,"f":1,"t":"2024-01-01 10:00:00","d":"2024-01-01","b":true,"n":null}\n' * 3
    text += b'{"f":0.5}\n'
    assert [str(dtype) for dtype in hr.read_json(text).dtypes.values()] == [
        *("int64", "float64", "datetime64[us]", "date", "bool", "float64")
    ]
    given = {"i": "float32", "t": "string", "b": "string", "d": "datetime64[ns]", "x": "category"}
    frame = hr.read_json(text, dtypes=given)
    assert str(frame.i.dtype) == "float32" and str(frame.d.dtype) == "datetime64[ns]"
    assert frame.t.to_list()[0] == "2024-01-01 10:00:00" and frame.b.to_list()[:2] == ["true"] * 2
    assert frame.x.to_list() == [None] * 4
    zoned = hr.read_json(
        b'{"t":"2024-07-01T12:00:00Z"}', dtypes={"t": "datetime64[us, Europe/Berlin]"}
    )
    assert zoned.to_json(lines=True) == '{"t":"2024-07-01T14:00:00+02:00"}\n'
    objects = hr.read_json(b'{"o":{"a":[1, 2]}}\n{"o":{"a":null,"b":"x"}}\n{}', lines=True)
    assert objects.o.to_list() == [{"a": [1, 2], "b": None}, {"a": None, "b": "x"}, None]
    nested = hr.read_json(b'{"o":{"a":[1, 2]}}\n{"o":"x"}', lines=True, dtypes={"o": "string"})
    assert nested.o.to_list() == ['{"a":[1, 2]}', "x"]


def test_bad_rows(tmp_path):
    """Errors name file, line and column, or the rows are set aside."""
    path = tmp_path / "a.json"
    path.write_text('{"a":1}\n\n{"a":"x"}\n{"a":2}\n')
    with pytest.raises(hr.InputError, match=r"numbers and strings: key='a'.*dtypes=") as caught:
        hr.read_json(path)
    assert (caught.value.path, caught.value.line, caught.value.column) == (str(path), 3, 6)
    frame = hr.read_json(path, on_bad="reject")
    assert frame.a.to_list() == [1, 2]
    assert frame.rejects.to_dict() == {
        "line": [3],
        "column": [6],
        "text": ['{"a":"x"}'],
        "reason": ["a column has numbers and strings: key='a'"],
    }
    assert hr.read_json(path, dtypes={"a": "string"}).a.to_list() == ["1", "x", "2"]
    assert hr.read_json(b'{"a":1}').a.to_list() == [1]
    with pytest.raises(hr.InputError, match="the text is empty"):
        hr.read_json(b"")
    assert len(hr.read_json(b"", lines=True)) == 0
    with pytest.raises(hr.ColumnNotFoundError, match="did you mean"):
        hr.read_json(b'{"abc":1}', columns=["abd"])
    with pytest.raises(FileNotFoundError):
        hr.read_json(tmp_path / "none.json")
    with pytest.raises(hr.InvalidArgumentError, match="on_bad"):
        hr.read_json(path, on_bad="skip")
    with pytest.raises(hr.TypeMismatchError, match="columns"):
        hr.read_json(path, columns="a")


def test_shapes_of_pandas(tmp_path):
    """Other orients, and options that only pandas has, are read by pandas."""
    frame = pd.DataFrame({"a": [1, 2], "b": ["x", "y"]})
    for orient in ("columns", "index", "split", "values", "table"):
        text = frame.to_json(orient=orient)
        read = hr.read_json(io.StringIO(text), orient=orient)
        assert len(read) == 2 and read.to_pandas().iloc[0].tolist() == [1, "x"]
    (tmp_path / "a.json").write_text(frame.to_json())
    assert hr.read_json(tmp_path / "a.json").to_dict() == {"a": [1, 2], "b": ["x", "y"]}
    parts = list(hr.read_json(io.StringIO('{"a":1}\n{"a":2}\n'), lines=True, chunksize=1))
    assert [len(part) for part in parts] == [1, 1]
    assert hr.read_json(b'{"a":1}\n{"a":2}\n', dtype={"a": "int8"}, nrows=1).a.to_list() == [1]
    with hr.strict(), pytest.raises(hr.UnsupportedError, match="strict"):
        hr.read_json(tmp_path / "a.json")
    with hr.strict():
        assert len(hr.read_json(b'[{"a":1}]', orient="records")) == 1


def test_written(tmp_path):
    """What is written is what Python's json reads, and what we read again."""
    frame = hr.DataFrame(
        {
            "i": np.arange(70_000) - 35_000,
            "f": np.linspace(-1, 1, 70_000) ** 3,
            "s": [
                ['a"\\\n\x01é/', None, "", "long text without escapes"][i % 4]
                for i in range(70_000)
            ],
            "b": [[True, None, False][i % 3] for i in range(70_000)],
            "l": [[[1.5, None], [], None][i % 3] for i in range(70_000)],
        }
    )
    path = tmp_path / "a.json"
    wanted = frame.to_dict("records")
    for lines in (True, False):
        frame.to_json(path, orient="records", lines=lines)
        text = path.read_text()
        read = [json.loads(line) for line in text.splitlines()] if lines else json.loads(text)
        assert read == wanted
        assert frame.to_json(orient="records", lines=lines) == text
        again = hr.read_json(path)
        assert hr.testing.assert_frame_equal(again, frame) is None
        with hr.threads(1):
            frame.to_json(tmp_path / "b.json", orient="records", lines=lines)
        assert (tmp_path / "b.json").read_text() == text
    times = hr.DataFrame({"t": np.array(["2024-01-02T03:04:05.000006", "NaT"], "M8[us]")})
    assert times.to_json(lines=True) == '{"t":"2024-01-02T03:04:05.000006"}\n{"t":null}\n'
    floats = hr.DataFrame({"x": [1.0, float("nan"), float("inf"), 1e300, 5e-324]})
    assert floats.to_json(orient="records") == (
        '[{"x":1.0},{"x":null},{"x":null},{"x":1e+300},{"x":5e-324}]'
    )
    assert hr.DataFrame({"x": []}).to_json(orient="records") == "[]"
    with open(tmp_path / "c.json", "wb") as file:
        frame.head(1).to_json(file, lines=True)
    assert json.loads((tmp_path / "c.json").read_text())["i"] == -35_000
    with pytest.raises(hr.InputError):
        frame.to_json(tmp_path / "none" / "a.json", lines=True)


# ---- random files --------------------------------------------------------------------------------
def random_value(rng: random.Random, kind: str) -> Any:
    """A value of a kind, seldom of another."""
    if rng.random() < 0.02:
        kind = rng.choice(["int", "text", "bool", "list"])
    if rng.random() < 0.1:
        return None
    if kind == "int":
        return rng.choice([0, 1, -1, rng.getrandbits(62), -rng.getrandbits(63), 2**63 - 1, 2**70])
    if kind == "float":
        return rng.choice([0.5, rng.random() * 10 ** rng.randint(-320, 308), rng.randint(-9, 9)])
    if kind == "text":
        letters = 'ab"\\/\n\té\U0001f600\x00\x7f,:{}[] '
        return "".join(rng.choice(letters) for _ in range(rng.choice([0, 1, 5, 12, 13, 40])))
    if kind == "bool":
        return rng.random() < 0.5
    return [random_value(rng, "int") for _ in range(rng.randint(0, 3))]


def random_line(rng: random.Random, kinds: dict[str, str]) -> str:
    """A row as an object, seldom damaged."""
    keys = [key for key in kinds if rng.random() < 0.9]
    if rng.random() < 0.2:
        rng.shuffle(keys)
    members = [
        f"{json.dumps(key, ensure_ascii=rng.random() < 0.5)}{rng.choice(['', ' '])}:"
        f"{rng.choice(['', ' ', chr(9)])}"
        f"{json.dumps(random_value(rng, kinds[key]), ensure_ascii=rng.random() < 0.5)}"
        for key in keys
    ]
    if members and rng.random() < 0.03:
        members.append(rng.choice(members))
    line = "{" + ", ".join(members) + "}"
    if rng.random() < 0.05:
        at = rng.randrange(len(line) + 1)
        line = (
            line[:at]
            + rng.choice(["", ",", '"', "}", "x", "0", "\\", "\x01", "[", "\\ud800"])
            + (line[at + 1 :])
        )
    return line.replace("\n", " ")


def refuse(word: str) -> None:
    """Words that are no JSON."""
    raise ValueError(word)


def class_of(value: Any) -> str:
    """What has one dtype together."""
    if isinstance(value, bool):
        return "bool"
    if isinstance(value, int | float):
        return "number"
    return type(value).__name__


def classes(value: Any, path: str) -> list[tuple[str, str]]:
    """The class of a value and of the items inside of it, by place."""
    if value is None:
        return []
    inside = (
        [one for item in value for one in classes(item, path + "[]")]
        if (isinstance(value, list))
        else []
    )
    return [(path, class_of(value)), *inside]


def with_python(lines: list[str]) -> tuple[list[dict[str, Any]], list[int]]:
    """The rows that have a place in the table, and the numbers of the other lines."""
    good: dict[int, dict[str, Any]] = {}
    bad = []
    for number, line in enumerate(lines, 1):
        if not line.strip(" \t\r"):
            continue
        try:
            row = json.loads(line, parse_constant=refuse)
            json.dumps(row, ensure_ascii=False).encode()
        except (ValueError, UnicodeEncodeError):
            bad.append(number)
            continue
        if isinstance(row, dict):
            good[number] = row
        else:
            bad.append(number)
    first: dict[str, str] = {}
    for number, row in good.items():
        for key, value in row.items():
            for path, kind in classes(value, key):
                first.setdefault(path, kind)
    kept = []
    for number, row in good.items():
        pairs = [pair for key, value in row.items() for pair in classes(value, key)]
        if all(first[path] == kind for path, kind in pairs):
            kept.append(row)
        else:
            bad.append(number)
    return kept, sorted(bad)


def check_file(seed: int) -> None:
    """One random file: the same rows, the same rejects."""
    rng = random.Random(seed)
    names = ["a", "b", 'key with "quotes"', "é", "e"][: rng.randint(1, 5)]
    kinds = {name: rng.choice(["int", "float", "text", "bool", "list"]) for name in names}
    lines = [random_line(rng, kinds) for _ in range(rng.choice([0, 1, 5, 60]))]
    if any("{" in line and any(isinstance(v, dict) for v in _loaded(line)) for line in lines):
        return
    text = rng.choice(["\n", "\r\n", "\n\n"]).join(lines)
    rows, bad = with_python(text.split("\n"))
    frame = hr.read_json(text.encode(), lines=True, on_bad="reject")
    assert frame.rejects is not None and frame.rejects.line.to_list() == bad, seed
    assert len(frame) == (len(rows) if frame.columns else 0), seed
    for name, values in frame.to_dict().items():
        wanted = [row.get(name) for row in rows]
        assert values == _as_floats(values, wanted), (seed, name)


def _loaded(line: str) -> list[Any]:
    try:
        row = json.loads(line)
    except ValueError:
        return []
    return list(row.values()) if isinstance(row, dict) else []


def _as_floats(values: list[Any], wanted: list[Any]) -> list[Any]:
    """Integers as floats where the column became one."""
    found = [v for v in _flat(values) if v is not None]
    if found and all(isinstance(v, float) for v in found):
        return _map_numbers(wanted)
    return wanted


def _flat(values: list[Any]) -> list[Any]:
    return [one for v in values for one in (_flat(v) if isinstance(v, list) else [v])]


def _map_numbers(value: Any) -> Any:
    if isinstance(value, list):
        return [_map_numbers(one) for one in value]
    return float(value) if isinstance(value, int) and not isinstance(value, bool) else value


def test_random_files():
    """Rows in = rows out + rejects."""
    for seed in range(FILES):
        check_file(seed)
