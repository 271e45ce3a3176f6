# SPDX-License-Identifier: Apache-2.0
"""Lists, folders, patterns and partitions of JSON and Arrow IPC files."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

import headrace as hr

READERS = {
    "json": (hr.read_json, hr.scan_json, lambda frame, path: frame.to_json(path, lines=True)),
    "arrow": (hr.read_ipc, hr.scan_ipc, lambda frame, path: frame.to_ipc(path)),
}


@pytest.fixture(params=sorted(READERS))
def kind(request):
    return request.param


@pytest.fixture
def folder(tmp_path, kind):
    """Three files in two partitions."""
    write = READERS[kind][2]
    for at, part in enumerate(("year=2023", "year=2024", "year=2024")):
        place = tmp_path / "data" / part
        place.mkdir(parents=True, exist_ok=True)
        frame = hr.DataFrame({"x": [3 * at, 3 * at + 1], "s": [f"row {at} of many files", None]})
        write(frame, place / f"part-{at}.{kind}")
    return tmp_path / "data"


def both(kind):
    return READERS[kind][:2]


def test_folders_and_patterns(folder, kind):
    for read in both(kind):
        for source in (folder, str(folder), f"{folder}/*/*.{kind}", f"{folder}/**/part-*"):
            frame = read(source)
            assert frame.columns == ["x", "s", "year"]
            assert frame.x.to_list() == [0, 1, 3, 4, 6, 7]
            assert frame.year.to_list() == [2023, 2023, 2024, 2024, 2024, 2024]
            assert frame.s.to_list()[::2] == [f"row {at} of many files" for at in range(3)]
        assert read(folder, hive_partitioning=False).columns == ["x", "s"]
        frame = read(folder, columns=["year", "x"])
        assert frame.columns == ["year", "x"]
        assert int(frame[frame.year == 2024].x.sum()) == 20


def test_lists_and_names(folder, kind):
    paths = [str(path) for path in sorted(folder.rglob(f"*.{kind}"))]
    for read in both(kind):
        frame = read(paths[::-1], include_file_paths="file")
        assert frame.x.to_list() == [6, 7, 3, 4, 0, 1]
        assert frame.file.to_list() == [path for path in paths[::-1] for _ in range(2)]
        content = [Path(path).read_bytes() for path in paths]
        assert read(content).x.to_list() == [0, 1, 3, 4, 6, 7]
        assert read([io.BytesIO(content[1]), content[0]]).x.to_list() == [3, 4, 0, 1]
        assert read(f"file://{paths[2]}").x.to_list() == [6, 7]
    with pytest.raises(FileNotFoundError, match="no file matches"):
        both(kind)[0](f"{folder}/*.none")
    with pytest.raises(hr.InputError, match="nothing to read"):
        both(kind)[0]([])


def test_files_that_differ(folder, kind, tmp_path):
    write = READERS[kind][2]
    other, text = tmp_path / f"other.{kind}", tmp_path / f"text.{kind}"
    write(hr.DataFrame({"x": [1], "t": ["a"]}), other)
    write(hr.DataFrame({"x": ["a"], "s": ["b"]}), text)
    first = str(next(folder.rglob("part-0*")))
    for read in both(kind):
        with pytest.raises(hr.InputError, match=r"different columns: .*missing=\['s'\]"):
            read([first, str(other)])
        with pytest.raises(hr.InputError, match="another dtype than in the first file: column='x'"):
            read([first, str(text)])
        assert read([first, str(other)], columns=["x"]).x.to_list() == [0, 1, 1]


def test_numbers_of_several_dtypes(tmp_path):
    (tmp_path / "a.json").write_text('{"x": 1}\n')
    (tmp_path / "b.json").write_text('{"x": 2.5}\n')
    assert hr.read_json(tmp_path).x.to_list() == [1.0, 2.5]
    assert hr.scan_json(tmp_path).x.to_list() == [1.0, 2.5]


def test_rows_and_rejects_of_several_json_files(tmp_path):
    (tmp_path / "a.json").write_text('{"x": 1}\nwrong\n{"x": 2}\n')
    (tmp_path / "b.json").write_text('{"x": 3}\n{"x": 4}\nwrong too\n')
    frame = hr.read_json(tmp_path, on_bad="reject")
    assert frame.x.to_list() == [1, 2, 3, 4]
    assert frame.rejects.text.to_list() == ["wrong", "wrong too"]
    assert [path[-6:] for path in frame.rejects.path.to_list()] == ["a.json", "b.json"]
    (tmp_path / "a.json").write_text('{"x": 1}\n{"x": 2}\n')
    assert hr.read_json(tmp_path, num_rows=3, on_bad="reject").x.to_list() == [1, 2, 3]
    assert hr.scan_json(tmp_path / "[ab].json", num_rows=1).x.to_list() == [1]
