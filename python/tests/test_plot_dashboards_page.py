# SPDX-License-Identifier: Apache-2.0
"""In a browser the page of a dashboard shows Python's numbers, served and as a file."""

import itertools
import os
import shutil

import numpy as np
import pytest

import headrace as hr

p = hr.plot


@pytest.fixture(scope="module")
def browser():
    """Headless Chromium from the system; nothing is downloaded."""
    program = shutil.which("chromium") or shutil.which("google-chrome")
    if not os.environ.get("CI"):
        if program is None:
            pytest.skip("chromium is not installed")
        pytest.importorskip("playwright", reason="playwright is not installed")
    assert program is not None, "the tests of dashboards need chromium"
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        yield running
        running.close()


def board_of(rows: int) -> p.Board:
    nasty = "</script><b>&\u2028'\""
    rng = np.random.default_rng(0)
    frame = hr.DataFrame(
        {
            "delay": rng.gamma(2, 20, rows) - 20,
            "hour": rng.integers(0, 24, rows),
            "day": np.datetime64("2013-01-01") + rng.integers(0, 365, rows).astype("m8[D]"),
            "carrier": np.array(["AA", "DL", nasty])[rng.integers(0, 3, rows)],
            "distance": np.where(rng.random(rows) < 0.1, np.nan, rng.normal(1000, 200, rows)),
        }
    )
    square = {"type": "Polygon", "coordinates": [[[0, 0], [1, 0], [1, 1], [0, 1], [0, 0]]]}
    shapes = [{"properties": {"name": n}, "geometry": square} for n in ("AA", "DL")]
    charts = [
        p.number("distance", "mean"), p.histogram("delay"), p.bar("carrier", "distance", "mean"),
        p.heatmap("hour", "carrier"), p.points("delay", "distance", color="carrier"),
        p.trend("day", "distance"), p.series("delay"), p.table(["carrier", "hour"], rows=10),
        p.choropleth("carrier", {"features": shapes}, name="map"),
    ]  # fmt: skip
    return p.dashboard(frame, charts, title=f"Title {nasty}")


class Opened:
    """A page whose every message and request is kept."""

    def __init__(self, browser, address, scheme="light"):
        self.page = browser.new_page(
            color_scheme=scheme,
            viewport={"width": 1300, "height": 1200},
            offline="file:" in address,
        )
        self.said, self.asked = [], []
        self.page.on("console", lambda message: self.said.append(message.text))
        self.page.on("pageerror", lambda error: self.said.append(str(error)))
        self.page.on("request", lambda request: self.asked.append(request.url))
        self.page.goto(address)
        self.page.wait_for_selector("html[data-drawn=yes]", timeout=30_000)

    def cells(self):
        """Counts and sums of each chart, and the rows that are left."""
        return self.page.evaluate(
            "headrace.cells.map((c) => [[...c.counts], c.sums && [...c.sums]])"
        )

    def until(self, condition):
        """Wait for what the page's policy does not let `wait_for_function` evaluate there."""
        for _ in range(600):
            if self.page.evaluate(condition):
                return
            self.page.wait_for_timeout(50)
        raise AssertionError(condition)

    def choose(self, index, selection):
        """As a brush does, and let go of."""
        self.page.evaluate(
            """async ([i, s]) => {
              headrace.choose(i, s, false);
              const key = JSON.stringify([i, headrace.others(i)]);
              while (!headrace.source.direct && headrace.cube?.key !== key)
                await new Promise((go) => setTimeout(go, 5));
              headrace.refresh();
            }""",
            [index, selection],
        )


def same(cells, board):
    """What the page holds is what Python counts."""
    for (counts, sums), (ours, our_sums) in zip(cells, board._cells(), strict=True):
        np.testing.assert_array_equal(np.array(counts), ours.ravel())
        if our_sums is not None:
            np.testing.assert_allclose(np.array(sums), our_sums.ravel(), rtol=1e-9)


def random_selection(rng, board, index):
    view, made = board._views[index], []
    per = board._steps_of_cell(view)
    axes = view._brushed()
    if len(axes) == 1 and axes[0].kind == "key":
        return sorted({int(each) for each in rng.integers(0, len(axes[0].labels), 2)})
    for axis in axes:
        wide = 1 if axis.kind == "key" else per
        most = len(axis.labels) if axis.kind == "key" else axis.fine
        ends = np.sort(rng.choice(-(-most // wide) + 1, 2, replace=False)) * wide
        made.append([int(ends[0]), int(min(ends[1], most))])
    return made


@pytest.mark.parametrize("kind", ["served", "rows"])
def test_the_page_equals_python(browser, tmp_path, kind):
    board = board_of(5000)
    board.save(tmp_path / "board.html")
    shown = board.show(open=False) if kind == "served" else (tmp_path / "board.html").as_uri()
    opened = Opened(browser, shown)
    same(opened.cells(), board)
    rng = np.random.default_rng(1)
    brushed = [view._index for view in board._views if view._brushed()]
    for _ in range(60):
        index = int(rng.choice(brushed))
        selection = random_selection(rng, board, index)
        opened.choose(index, selection)
        keep = {str(k): board._views[k]._shown(s) for k, (s, _) in board._selected.items()}
        board._choose_steps({**keep, str(index): selection})
        cells = opened.cells()
        if kind == "served":  # the brushed chart keeps its own until the brush is let go
            counts, sums = board._cells()[index]
            cells[index] = [counts.ravel(), None if sums is None else sums.ravel()]
        same(cells, board)
    assert opened.said == []
    board.close()


def test_a_page_begins_with_what_python_selected(browser):
    board = board_of(5000)
    board.select("carrier", ["AA"])
    version, left = board._version, len(board.frame)
    opened = Opened(browser, board.show(open=False))
    same(opened.cells(), board)
    assert opened.page.evaluate("headrace.selections[2]") == board._views[2]._shown(
        board._selected[2][0]
    )
    assert board._version == version and len(board.frame) == left < 5000
    assert opened.said == []
    board.close()


def test_a_drag_selects_in_python(browser):
    board = board_of(5000)
    opened = Opened(browser, board.show(open=False), "dark")
    canvas = opened.page.locator("canvas").first
    box = canvas.bounding_box()
    opened.page.mouse.move(box["x"] + 100, box["y"] + 100)
    opened.page.mouse.down()
    opened.page.mouse.move(box["x"] + 220, box["y"] + 100, steps=6)
    opened.page.mouse.up()
    opened.until("document.getElementById('status').textContent !== ''")
    left = int(opened.page.locator("#left").inner_text().replace(",", ""))
    assert 0 < left == len(board.frame) < 5000
    same(opened.cells(), board)
    assert opened.page.locator("tbody tr").count() == 10
    board.select("carrier", ["AA"])
    opened.until(f"headrace.version === {board._version}")
    same(opened.cells(), board)
    opened.page.locator("#clear").click()
    opened.until("document.getElementById('left').textContent === '5,000'")
    opened.until("headrace.waiting === false")
    assert len(board.frame) == 5000
    assert opened.said == [] and all(url.startswith("http://127.0.0.1:") for url in opened.asked)
    board.close()


def test_a_saved_page_needs_no_network(browser, tmp_path):
    for rows in (3000, 210_000):
        board = board_of(rows)
        board.select("delay", 0, 10)  # a saved page begins with all rows
        board.save(tmp_path / "board.html")
        assert len(board.frame) < rows
        board.clear()
        address = (tmp_path / "board.html").as_uri()
        opened = Opened(browser, address)
        assert opened.asked == [address]
        same(opened.cells(), board)
        view = board.charts["delay"]
        step = 1 if rows <= 200_000 else board._steps_of_cell(view, 1 << 18)
        opened.choose(view._index, [[0, 4 * step]])
        board._choose_steps({str(view._index): [[0, 4 * step]]})
        same(opened.cells(), board)
        words = opened.page.locator("#limits").inner_text()
        assert "without a server" in words and ("one brush" in words) == (rows > 200_000)
        assert opened.said == []
        opened.page.close()


def drawn_words(opened):
    """Words of all charts: [words, left, right, y]."""
    return opened.page.evaluate(
        """() => {
          const drawn = [], old = CanvasRenderingContext2D.prototype.fillText;
          CanvasRenderingContext2D.prototype.fillText = function (words, x, y) {
            const wide = this.measureText(words).width, at = { center: 0.5, right: 1, left: 0 };
            const left = x - wide * at[this.textAlign];
            drawn.push([words, left, left + wide, y]);
            old.call(this, words, x, y);
          };
          headrace.draw();
          CanvasRenderingContext2D.prototype.fillText = old;
          return drawn;
        }"""
    )


def test_infinities_and_near_values_are_drawn(browser, tmp_path):
    rng, rows = np.random.default_rng(0), 2000
    value = rng.random(rows) - 0.5
    value[:2] = np.inf, -np.inf
    frame = hr.DataFrame(
        {
            "x": rng.normal(size=rows),
            "key": rng.integers(0, 3, rows),
            "value": value,
            "near": 1e6 + rng.random(rows) * 0.01,
        }
    )
    charts = [
        p.heatmap("key", "x", value="value", agg="mean"), p.trend("x", "value", name="trend"),
        p.points("near", "near", name="points"), p.histogram("near"), p.bar("key", "value", "sum"),
    ]  # fmt: skip
    board = p.dashboard(frame, charts)
    board.save(tmp_path / "board.html")
    opened = Opened(browser, (tmp_path / "board.html").as_uri())
    scale = "const s = valueScale([1, 2, Infinity, -Infinity, NaN], false); "
    place = opened.page.evaluate(
        f"() => {{ {scale} return [-Infinity, Infinity, 1.5].map(s.place); }}"
    )
    np.testing.assert_allclose(place, [0, 1, 0.5])
    words = opened.page.evaluate(f"() => {{ {scale} return s.marks.map((mark) => mark[1]); }}")
    assert words == ["1", "1.5", "2"]
    ticks = [each for each in drawn_words(opened) if each[0].startswith("1,000,000")]
    assert all("…" not in words for words, *_ in ticks)
    assert len({words for words, *_ in ticks}) >= 5 and min(left for _, left, _, _ in ticks) >= 0
    # No two of a line overlap; each chart begins its axis anew on the left.
    for (_, left, end, y), (_, left2, _, y2) in itertools.pairwise(ticks):
        assert y != y2 or left2 >= end + 3 or left2 <= left
    assert opened.said == []


def test_whole_numbers_have_whole_ticks_in_the_middle_of_their_cells(browser, tmp_path):
    rng, rows = np.random.default_rng(0), 3000
    months, ages = rng.integers(1, 13, rows), rng.integers(0, 90, rows)
    charts = [p.heatmap("month", "month"), p.histogram("age"), p.histogram("few")]
    frame = hr.DataFrame({"month": months, "age": ages, "few": rng.integers(3, 5, rows)})
    p.dashboard(frame, charts).save(tmp_path / "board.html")
    opened = Opened(browser, (tmp_path / "board.html").as_uri())
    found = opened.page.evaluate(
        "() => [[0, 400], [0, 200], [1, 400], [2, 400]].map(([k, pixels]) => "
        "axisTicks(headrace.spec.charts[k].axes[0], pixels))"
    )
    for ticks in found:
        assert ticks and all(words.isdigit() for _, words in ticks)
    for ticks in found[:2]:
        assert all(at == pytest.approx((int(words) - 0.5) / 12) for at, words in ticks)
    assert [words for _, words in found[3]] == ["3", "4"]
    assert opened.said == []


def test_many_keys_and_a_steep_axis_have_words_that_do_not_overlap(browser, tmp_path):
    rng, rows = np.random.default_rng(0), 3000
    keys = np.array([f"key {i:02d}" for i in range(30)])[rng.integers(0, 30, rows)]
    frame = hr.DataFrame({"key": keys, "x": rng.normal(size=rows), "y": rng.uniform(0, 9, rows)})
    board = p.dashboard(frame, [p.bar("key"), p.heatmap("x", "key"), p.points("x", "y")])
    board.save(tmp_path / "board.html")
    opened = Opened(browser, (tmp_path / "board.html").as_uri())
    words = drawn_words(opened)
    groups = itertools.groupby(words, lambda each: each[0].startswith("key"))
    columns = [list(group) for named, group in groups if named]
    assert [len(column) >= 12 for column in columns] == [True, True]
    for column in columns:
        heights = [y for *_, y in column]
        assert min(abs(a - b) for a, b in itertools.pairwise(heights)) >= 11
    assert {"2", "4", "6", "8"} <= {word for word, *_ in words}
    assert opened.said == []


def test_a_page_that_cannot_be_built_says_why(browser, tmp_path):
    board_of(100).save(tmp_path / "board.html")
    opened = browser.new_page()
    opened.add_init_script("delete window.ResizeObserver")
    opened.goto((tmp_path / "board.html").as_uri())
    opened.wait_for_selector("html[data-failed]")
    assert "could not be drawn" in opened.locator("#limits").inner_text()
    assert "ResizeObserver" in opened.locator("#limits").inner_text()
    opened.close()


def test_keyboards_select(browser, tmp_path):
    board = board_of(2000)
    board.save(tmp_path / "board.html")
    opened = Opened(browser, (tmp_path / "board.html").as_uri())
    slider = opened.page.get_by_role("slider", name="delay from").first
    slider.focus()
    for _ in range(3):
        opened.page.keyboard.press("PageUp")
    opened.until("headrace.selections[1]?.[0][0] === 30")
    opened.page.keyboard.press("Escape")
    opened.until("headrace.selections[1] === undefined")
    box = opened.page.get_by_role("checkbox", name="AA").first
    box.focus()
    opened.page.keyboard.press("Space")
    opened.until("headrace.selections[2]?.length === 1")
    assert "selected AA" in opened.page.locator("canvas").nth(1).get_attribute("aria-label")
    assert opened.said == []
