# SPDX-License-Identifier: Apache-2.0
"""The bench of threads runs, its answers agree, and its picture can be drawn."""

import importlib.util
import os
import xml.etree.ElementTree as ET
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import headrace as hr

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def cores(monkeypatch):
    """The bench as a module."""
    pytest.importorskip("polars")
    pytest.importorskip("pyarrow")
    monkeypatch.syspath_prepend("the folder that it drops")
    spec = importlib.util.spec_from_file_location("cores", ROOT / "bench/peers/cores.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def draw(monkeypatch):
    """The tool as a module."""
    monkeypatch.syspath_prepend(str(ROOT / "tools"))
    return importlib.import_module("draw_cores")


def test_small_bench(bench_lines):
    pytest.importorskip("polars")
    pytest.importorskip("pyarrow")
    run, *lines = bench_lines("cores.py", "--rows", "30000", "--simulate")
    counts = [str(n) for n in (1, 2, 4, 8, 16) if n <= len(os.sched_getaffinity(0))]
    assert run["task"] == "cores" and run["threads"] == int(counts[-1])
    rows = [line for line in lines if line["kind"] == "cores"]
    assert len(rows) == len({row["step"] for row in rows}) == 13
    for row in rows:
        assert list(row["median_s"]) == counts
        assert min(row["median_s"].values()) > 0 and row["least_bytes"] > 0
        assert (row["serial_ms"] is None) == (len(counts) == 1)
        assert row["forecast"]["steps"], row["step"]
        workers = row["forecast"]["workers"]
        assert {*counts, "16", "32", "64"} == set(workers)
        assert workers["64"]["ms"] <= workers["1"]["ms"], row
        assert workers["1"]["measured_ms"] > 0 and workers["64"]["measured_ms"] is None


def test_a_digest_has_every_bit(cores):
    x = np.arange(10.0)
    y = x.copy()
    y[3] = np.nextafter(y[3], 9)
    a, b = (hr.DataFrame({"x": each}) for each in (x, y))
    assert cores.digest(a) == cores.digest(hr.DataFrame({"x": x})) != cores.digest(b)
    assert cores.digest(a)[1] == 80 and cores.digest(hr.asarray(x))[1] == 80
    assert cores.digest(0.0) != cores.digest(-0.0)
    p, q = (hr.DataFrame({"s": each}) for each in (["ab", "c"], ["a", "bc"]))
    assert cores.digest(p) != cores.digest(q)
    sums = a.groupby("x").x.sum()
    assert cores.digest(sums) == cores.digest(a.groupby("x").x.sum())


def test_answers_that_differ_end_the_run(cores):
    with pytest.raises(AssertionError, match="another answer with 2 threads"):
        cores.times_of("step", hr.threads, [1, 2], 1)


def test_the_serial_part_is_fitted(cores):
    serial, parallel = cores.fit({n: 2 + 8 / n for n in (1, 2, 4, 8)})
    assert serial == pytest.approx(2) and parallel == pytest.approx(8)
    assert cores.fit({1: 1.0}) is None
    assert cores.fit({1: 1.0, 2: 0.4}) == (0, pytest.approx(2.25 / 2.5625))
    assert cores.fit({1: 1.0, 2: 1.4}) == (pytest.approx(2.4 / 2.96 * 1.4), 0)


def test_traffic_of_steps(cores):
    steps = [
        SimpleNamespace(id=id, after=after, result_bytes=size)
        for id, after, size in ((7, [], 10), (8, [7, 3], 20), (9, [], 5))
    ]
    assert cores.traffic(steps, (100,)) == {7: 110, 8: 30, 9: 5}
    assert cores.traffic(steps, (100, 50)) == {7: 110, 8: 80, 9: 5}
    assert cores.traffic([], (100,)) == {}


def row_of(step, *speedups):
    times = {str(1 << k): 1 / speedup for k, speedup in enumerate(speedups)}
    return {"step": step, "median_s": times}


def test_the_picture_of_speedups(draw):
    machine = {"cores": 4, "cpu": "some", "memory_gb": 16}
    head = {"machine": machine, "date": "2026-11-23T00:00:00+00:00"}
    rows = [row_of("sort", 1, 2, 4), row_of("sum", 1, 1, 1), row_of("scan", 1, 0.9, 0.8)]
    text = draw.picture(head, rows)
    ET.fromstring(text)
    assert "4.0x sort" in text and "0.8x scan" in text and "stroke-dasharray" in text
    with pytest.raises(SystemExit, match="one number of threads"):
        draw.picture(head, [row_of("sort", 1)])


def test_labels_keep_their_distance(draw):
    assert draw.apart([], 10, 99) == []
    assert draw.apart([5, 50], 10, 99) == [5, 50]
    assert draw.apart([5, 6, 7], 10, 99) == [5, 15, 25]
    assert draw.apart([90, 95, 98], 10, 99) == [79, 89, 99]
