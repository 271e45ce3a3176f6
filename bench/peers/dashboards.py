# SPDX-License-Identifier: Apache-2.0
"""Linked charts against DuckDB with the SQL of Mosaic: ./dev bench dashboards."""

from __future__ import annotations

import importlib.util
import shutil
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

sys.path.pop(0)  # this folder: csv.py here is not Python's
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import duckdb
import numpy as np
from headrace.plot.dashboards import page
from measure import OURS, WORKERS, Bench, Rival, run, show

import headrace as hr

PACKAGES = ["duckdb"]
RIVAL_BAR = 5.0
#: Milliseconds for 2e7 rows: numbers of five charts, cubes for a brush, a frame of a brush.
PAINT, ACTIVATE, FRAME = 150.0, 120.0, 16.0
#: Milliseconds until a saved page is drawn.
OPEN = 1000.0
CARRIERS = ["UA", "B6", "EV", "DL", "AA", "MQ", "US", "9E", "WN", "VX", "FL", "AS", "F9", "YV"]


def flights(rows: int) -> dict[str, np.ndarray]:
    """Columns as `./dev demo board` has them: skewed delays, hours, distances."""
    draw = np.random.default_rng(0)
    delay = (draw.gamma(0.7, 25, rows) - 12 + draw.random(rows)).astype(np.float32)
    distance = draw.choice(np.sort(draw.integers(80, 2700, 220)), rows).astype(np.float32)
    share = np.arange(len(CARRIERS), 0, -1) ** 1.5
    return {
        "departure": delay,
        "arrival": (delay + draw.normal(-4, 15, rows)).astype(np.float32),
        "distance": distance,
        "air": np.round(distance / 8 + 18 + draw.normal(0, 9, rows)).astype(np.float32),
        "hour": draw.choice(np.arange(5, 24), rows).astype(np.int8),
        "month": draw.integers(1, 13, rows).astype(np.int8),
        "carrier": draw.choice(len(CARRIERS), rows, p=share / share.sum()).astype(np.int8),
    }


def charts() -> list[Any]:
    """Describe five charts, as `./dev demo board` has them."""
    plot = hr.plot
    return [
        plot.histogram("departure", range=(-30, 120)),
        plot.histogram("arrival", range=(-60, 120)),
        plot.bar("carrier", "arrival", "mean"),
        plot.heatmap("hour", "month"),
        plot.points("distance", "air"),
    ]


# ---- what Mosaic asks a database -----------------------------------------------------------------
def bin_of(axis: Any, per: int, name: str) -> tuple[str, str]:
    """The bin of a column, and which rows have one."""
    if axis.kind == "key":
        return f'"{name}"', "TRUE"
    low, high = axis.at(0), axis.at(axis.fine)
    cells = -(-axis.fine // per)
    value = f'("{name}"::DOUBLE - {low})'  # in FLOAT, values at edges would be in other bins
    place = f"least(floor({value} / {axis.width * per}::DOUBLE)::INTEGER, {cells - 1})"
    return place, f'"{name}" BETWEEN {low} AND {high}'


def grouping(view: Any, more: list[tuple[str, str]]) -> str:
    """The statement of a chart, with the bins of the one that is brushed in front."""
    bins = [bin_of(a, a.per_bin, a.label) for a in view._axes]
    value = ""
    wheres = [where for _, where in (*more, *bins)]
    if view.chart.value:
        value = f', sum("{view.chart.value}"::DOUBLE) AS total'
    names = [f"{each} AS b{k}" for k, (each, _) in enumerate((*more, *bins))]
    listed = "".join(f"{each}, " for each in names)
    groups = f" GROUP BY {', '.join(f'b{k}' for k in range(len(names)))}" if names else ""
    return f"SELECT {listed}count(*) AS rows{value} FROM t WHERE {' AND '.join(wheres)}{groups}"


def paint_by(db: Any, board: hr.plot.Board) -> list[Any]:
    """The ranges of columns, then the numbers of each chart."""
    for name in ("distance", "air", "hour", "month"):
        db.execute(f'SELECT min("{name}"), max("{name}") FROM t').fetchall()
    return [db.execute(grouping(view, [])).fetchnumpy() for view in board._views]


def activate_by(db: Any, board: hr.plot.Board, active: int) -> list[Any]:
    """A table for each other chart, by its bins and the steps of the one that is brushed."""
    view = board._views[active]
    per = board._steps_of_cell(view)
    steps = [bin_of(a, per, a.label) for a in view._brushed()]
    made = []
    for other in board._views:
        if other is not view:
            query = grouping(other, steps)
            db.execute(f"CREATE OR REPLACE TEMP TABLE p{other._index} AS {query}")
            made.append(f"p{other._index}")
    return made


def dense(found: dict[str, Any], shape: tuple[int, ...], column: str, labels: list[Any]) -> Any:
    """Rows of a result as the cells of a chart."""
    cells = np.zeros(shape)
    keys = [found[f"b{k}"] for k in range(len(shape))]
    for k, each in enumerate(labels):
        if each is not None:
            known = {label: place for place, label in enumerate(each)}
            keys[k] = np.array([known[key] for key in np.asarray(keys[k]).tolist()])
    cells[tuple(np.asarray(key).astype(int) for key in keys)] = found[column]
    return cells


def labels_of(axes: list[Any]) -> list[Any]:
    """The keys of each axis that has keys."""
    return [axis.labels if axis.kind == "key" else None for axis in axes]


def same_cells(board: hr.plot.Board) -> Callable[[Any, Any], str]:
    """Compare what five charts show."""

    def compare(_: Any, theirs: Any) -> str:
        for view, found in zip(board._views, theirs, strict=True):
            counts, sums = board._cells()[view._index]
            axes = labels_of(view._axes)
            np.testing.assert_array_equal(counts, dense(found, counts.shape, "rows", axes))
            if sums is not None:
                np.testing.assert_allclose(
                    sums, dense(found, counts.shape, "total", axes), rtol=1e-9
                )
        return "equal counts, sums within 1e-9"

    return compare


def same_cubes(board: hr.plot.Board, active: int, db: Any) -> Callable[[Any, Any], str]:
    """Compare the cubes for a brush of a chart."""

    def compare(_: Any, theirs: Any) -> str:
        view = board._views[active]
        others = [each for each in board._views if each is not view]
        for each, (counts, sums), name in zip(
            others, board._cube(active)[2][:-1], theirs, strict=True
        ):
            found = db.execute(f"FROM {name}").fetchnumpy()
            axes = labels_of([*view._brushed(), *each._axes])
            np.testing.assert_array_equal(counts, dense(found, counts.shape, "rows", axes))
            if sums is not None:
                theirs_sums = dense(found, counts.shape, "total", axes)
                np.testing.assert_allclose(sums, theirs_sums, rtol=1e-7, atol=1e-6)
        return "equal counts, sums within 1e-7"

    return compare


# ---- in a browser --------------------------------------------------------------------------------
@contextmanager
def browser() -> Iterator[Any]:
    """Headless Chromium of the system."""
    from playwright.sync_api import sync_playwright

    program = shutil.which("chromium") or shutil.which("google-chrome")
    with sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        yield running
        running.close()


DRAG = """async () => {
  headrace.prepare(0);
  while (headrace.cube?.index !== 0) await new Promise((go) => setTimeout(go, 1));
  headrace.frames.length = 0;
  for (let k = 0; k < 60; ++k) {
    headrace.choose(0, [[k, k + 80]], false);
    await new Promise((go) => requestAnimationFrame(() => requestAnimationFrame(go)));
  }
  return [headrace.activation, ...headrace.frames];
}"""


def serious(tab: Any) -> str:
    """Serious findings of axe-core in an open page; raises where there is one."""
    folder = importlib.util.find_spec("axe_playwright_python").submodule_search_locations[0]
    tab.evaluate((Path(folder) / "axe.min.js").read_text("utf-8"))
    found = tab.evaluate("axe.run()")
    bad = [each for each in found["violations"] if each["impact"] in ("serious", "critical")]
    assert not bad, [(each["id"], [node["html"] for node in each["nodes"][:3]]) for each in bad]
    minor = [each["id"] for each in found["violations"]]
    return f"axe-core {found['testEngine']['version']}: 0 serious findings, others: {minor}"


def exported(bench: Bench, running: Any, frame: hr.DataFrame) -> None:
    """A saved page opens without a network and says nothing on the console."""
    path = bench.folder / "board.html"
    bench.folder.mkdir(parents=True, exist_ok=True)
    hr.plot.dashboard(frame, charts()).save(path)
    for scheme in ("light", "dark"):
        said: list[str] = []
        times = []
        for _ in range(bench.runs + 1):
            tab = running.new_page(color_scheme=scheme, offline=True)
            tab.on("console", lambda message: said.append(message.text))
            tab.on("pageerror", lambda error: said.append(str(error)))
            begin = 1e3 * time.time()
            tab.goto(path.as_uri())
            tab.wait_for_selector("html[data-drawn=yes]")
            times.append(tab.evaluate("headrace.drawn") - begin)
            if len(times) == bench.runs + 1 and importlib.util.find_spec("axe_playwright_python"):
                bench.check(f"exported page, {scheme}", lambda: serious(tab))
            tab.close()
        bench.value(f"saved page opens, {scheme}", OURS, float(np.median(times[1:])), "ms", OPEN)
        bench.value(f"console, {scheme}", OURS, len(said), "messages", 0)


def in_chromium(bench: Bench, frame: hr.DataFrame) -> None:
    """From the frame to five drawn charts, to the cubes of a brush, and of a brush's moves."""
    missing = importlib.util.find_spec("playwright") is None or not shutil.which("chromium")
    if missing:
        bench.left_out("in Chromium", OURS, "needs playwright and chromium")
        return
    paints, activations, frames = [], [], []
    with browser() as running:
        for _ in range(bench.runs + 1):
            tab = running.new_page(viewport={"width": 1300, "height": 900})
            tab.goto("about:blank")
            tab.wait_for_timeout(500)  # a browser that is open and idle
            begin = 1e3 * time.time()
            board = hr.plot.dashboard(frame, charts())
            tab.goto(board.show(open=False))
            tab.wait_for_selector("html[data-drawn=yes]")
            paints.append(tab.evaluate("headrace.drawn") - begin)
            found = tab.evaluate(DRAG)
            activations.append(found[0])
            frames.append(float(np.percentile(found[1:], 95)))
            if len(paints) == bench.runs + 1 and importlib.util.find_spec("axe_playwright_python"):
                bench.check("served page", lambda: serious(tab))
            tab.close()
            board.close()
        exported(bench, running, frame)
    more = max(len(frame) / 2e7, 1)
    for step, times, most in (
        ("first paint, Chromium", paints, PAINT * more),
        ("activation, Chromium", activations, ACTIVATE * more),
        ("frame of a brush, 95 %", frames, FRAME),
    ):
        bench.value(step, OURS, float(np.median(times[1:])), "ms", most)


def steps(bench: Bench, rows: int) -> None:
    """Run all steps over the same rows."""
    show("making the columns")
    columns = flights(rows)
    kinds = hr.Series(columns["carrier"])
    frame = hr.DataFrame({k: v for k, v in columns.items() if k != "carrier"}, copy=True)
    names = hr.Series(CARRIERS, dtype="string")
    frame["carrier"] = names.iloc[kinds].astype("category").reset_index(drop=True)
    hr.eval(frame)
    db = duckdb.connect(config={"threads": WORKERS})
    db.execute(f"CREATE TYPE carriers AS ENUM ({', '.join(map(repr, CARRIERS))})")
    plain = frame.assign(carrier=frame.carrier.astype("string")).to_arrow()
    db.register("plain", plain)
    db.execute("CREATE TABLE t AS SELECT * REPLACE (carrier::carriers AS carrier) FROM plain")
    db.unregister("plain")
    del plain, columns
    board = hr.plot.dashboard(frame, charts())
    board._cells()

    def paint() -> bytes:
        return page.counts(hr.plot.dashboard(frame, charts()))

    mosaic = Rival("duckdb, Mosaic's SQL", lambda: paint_by(db, board), RIVAL_BAR)
    bench.step("first paint", paint, [mosaic], same_cells(board), rows=rows)
    for name in board.charts:
        active = board.charts[name]._index
        bench.step(
            f"activation of {name}",
            lambda active=active: page.cubes(board, active),
            [
                Rival(
                    "duckdb, Mosaic's SQL",
                    lambda active=active: activate_by(db, board, active),
                    RIVAL_BAR,
                )
            ],
            same_cubes(board, active, db),
            rows=rows,
        )
    for row in [each for each in bench.rows if each["engine"] == OURS and "median_s" in each]:
        most = (PAINT if row["step"] == "first paint" else ACTIVATE) * max(rows / 2e7, 1)
        bench.value(f"{row['step']}, time", OURS, 1e3 * row["median_s"], "ms", most)
    if bench.wants("Chromium"):
        in_chromium(bench, frame)


if __name__ == "__main__":
    sys.exit(run("dashboards", __doc__, PACKAGES, steps))
