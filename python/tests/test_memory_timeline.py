# SPDX-License-Identifier: Apache-2.0
"""The timeline: exact levels, from the ring and from files, and pictures that are whole."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from pathlib import Path

import numpy as np
import pytest

import headrace as hr

MB = 1_000_000
HEAD = "Thread,Time,Action,Pointer,Size,Stream,Tag,Tier\n"


def areas_of(timeline: hr.memory.Timeline) -> dict[str, list[int]]:
    return {area.name: area.bytes.tolist() for area in timeline.areas}


def write(path: Path, *lines: str) -> Path:
    path.write_text(HEAD + "".join(line + "\n" for line in lines))
    return path


def test_levels_of_a_file_by_operator_line_and_tier(tmp_path: Path) -> None:
    path = write(
        tmp_path / "run.csv",
        "1,10:00:00:000000,allocate,0x10,1000,0,read_csv etl.py:1,host",
        "1,10:00:01:000000,allocate,0x20,500,0,sort etl.py:2,host",
        "1,10:00:02:100000,evict,0x10,400,0,read_csv etl.py:1,host",
        "1,10:00:03:000000,fetch,0x10,300,0,read_csv etl.py:1,host",
        "1,10:00:03:500000,allocate failure,0x0,9999,0,sort etl.py:2,host",
        "1,10:00:04:000000,free,0x20,500,0,sort etl.py:2,host",
    )
    timeline = hr.memory.timeline(path)
    assert timeline.seconds.tolist() == pytest.approx(np.arange(6) * 4 / 6)
    assert areas_of(timeline) == {
        "read_csv": [1000, 1000, 1000, 1000, 900, 900],
        "sort": [0, 500, 500, 500, 500, 500],
    }
    assert timeline.peak == 1500
    assert timeline.limit is None
    assert set(areas_of(hr.memory.timeline(path, by="line"))) == {
        "read_csv etl.py:1",
        "sort etl.py:2",
    }
    tiers = areas_of(hr.memory.timeline(path, by="tier", limit="2kB"))
    assert max(tiers["host"]) == 1500
    assert max(tiers["disk"]) == 400
    assert tiers["disk"][-1] == 100
    assert hr.memory.timeline(path, limit="2kB").limit == 2000


def test_what_a_file_frees_unseen_was_there_before(tmp_path: Path) -> None:
    path = write(
        tmp_path / "run.csv",
        "1,23:59:59:000000,allocate,0x10,100,0,a x.py:1,host",
        "1,00:00:01:000000,free,0x99,1000,0,b x.py:2,host",
    )
    timeline = hr.memory.timeline(path)
    assert areas_of(timeline) == {"b": [1000, 1000], "a": [100, 100]}
    assert timeline.seconds[-1] < 3


def test_the_ring_knows_what_it_forgot() -> None:
    kept = hr.asarray(np.ones(MB)) * 2
    kept.to_numpy()
    for k in range(40_000):
        hr.Series([k])  # more events than the ring holds
    big = hr.asarray(np.ones(MB // 2)) + 1
    big.to_numpy()
    with hr.memory.limit("5GB"):
        timeline = hr.memory.timeline()
    now = hr.memory.stats().used_bytes
    areas = areas_of(timeline)
    assert areas["multiply"][0] >= 8 * MB
    assert areas["add"][-1] >= areas["add"][0] + 4 * MB
    assert abs(int(timeline.total[-1]) - now) < MB
    assert timeline.limit == 5 * 10**9
    assert "limit 5.0 GB" in repr(timeline)
    assert len(timeline.areas) <= 8
    lines = hr.memory.timeline(by="line")
    assert abs(int(lines.total[-1]) - now) < MB
    tiers = hr.memory.timeline(by="tier")
    assert tiers.areas[0].name == "host"
    assert abs(int(tiers.total[-1]) - now) < MB


def test_a_run_through_a_file_shows_its_peak(tmp_path: Path) -> None:
    path = tmp_path / "run.csv"
    with hr.memory.log(path), hr.memory.stats() as counted:
        before = counted.used_bytes
        for size in (100_000, 300_000, 200_000):
            (hr.asarray(np.ones(size)) * 2).to_numpy()
    timeline = hr.memory.timeline(path)
    assert 0 <= timeline.peak - (counted.peak_bytes - before) < MB
    assert timeline.peak >= 2_400_000
    assert timeline.areas[0].name == "multiply"


def test_many_groups_become_few(tmp_path: Path) -> None:
    path = write(
        tmp_path / "run.csv",
        *(
            f"1,10:00:{k // 10:02}:{k % 10}00000,allocate,{k + 16:#x},{k + 1},0,op{k} x.py:{k},"
            for k in range(300)
        ),
    )
    timeline = hr.memory.timeline(path)
    assert len(timeline.areas) == 8
    assert timeline.areas[-1].name == "others"
    assert int(timeline.total[-1]) == timeline.peak == 300 * 301 // 2


def test_pictures_are_whole(tmp_path: Path) -> None:
    path = write(
        tmp_path / "run.csv",
        '1,10:00:00:000000,allocate,0x10,1000,0,"<b>&""x"" y.py:1",host',
        '1,10:00:01:000000,free,0x10,1000,0,"<b>&""x"" y.py:1",host',
    )
    timeline = hr.memory.timeline(path, limit=1500)
    svg = timeline.to_svg()
    root = ET.fromstring(svg)
    tag = "{http://www.w3.org/2000/svg}"
    assert len(root.findall(f"{tag}polygon")) == len(timeline.areas)
    assert "limit 1.5 kB" in svg
    assert "stroke-dasharray" in svg
    assert timeline._repr_html_() == svg
    assert "far above" in hr.memory.timeline(path, limit="1GB").to_svg()
    for polygon in root.findall(f"{tag}polygon"):
        for point in polygon.attrib["points"].split():
            x, y = map(float, point.split(","))
            assert 0 <= x <= 900
            assert 0 <= y <= 320
    timeline.save(tmp_path / "run.svg")
    ET.parse(tmp_path / "run.svg")
    timeline.save(tmp_path / "run.html")
    page = (tmp_path / "run.html").read_text()
    assert "<svg" in page
    assert "<b>" not in page
    text = repr(timeline)
    assert "peak 1.0 kB, limit 1.5 kB" in text
    assert "█" in text


def test_edges(tmp_path: Path) -> None:
    empty = hr.memory.timeline(write(tmp_path / "empty.csv"))
    assert (empty.peak, len(empty.areas)) == (0, 0)
    ET.fromstring(empty.to_svg())
    assert "peak 0 B" in repr(empty)
    one = hr.memory.timeline(write(tmp_path / "one.csv", "1,1:00:00:0,allocate,0x1,64,0,,"))
    assert areas_of(one) == {"untagged": [64]}
    ET.fromstring(one.to_svg())
    plain = tmp_path / "plain.csv"
    plain.write_text("Thread,Action,Pointer,Size\n1,allocate,0x1,64\n1,free,0x1,64\n")
    assert hr.memory.timeline(plain).peak == 64
    with pytest.raises(hr.InvalidArgumentError, match="by='colour'"):
        hr.memory.timeline(by="colour")
    with pytest.raises(hr.InvalidArgumentError, match=r"\.svg or \.html"):
        one.save(tmp_path / "run.png")
    (tmp_path / "bad.csv").write_text(HEAD + "1,noon,free,0x1,64,0,,\n")
    with pytest.raises(hr.InputError, match=r"not a time.*line=2, column=3"):
        hr.memory.timeline(tmp_path / "bad.csv")
