# SPDX-License-Identifier: Apache-2.0
"""A report is one file that a browser opens from disk, without a network, and zooms to rows."""

import os
import re
import resource
import shutil

import numpy as np
import pytest
from headrace.report import Report

RATE = 250.0
ROWS = 300_000
SPIKE = 123_456


def signal() -> np.ndarray:
    """A wave with noise, a gap and a spike of one row."""
    rng = np.random.default_rng(0)
    x = np.sin(np.arange(ROWS) / 40) + rng.normal(0, 0.02, ROWS)
    x[200_000:200_500] = np.nan
    x[SPIKE] = 9.0
    return x.astype(np.float32)


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    """A report with one section of each kind; texts hold what could break out of HTML."""
    nasty = "</script><b>&\u2028'\""
    rng = np.random.default_rng(1)
    rows = np.sin(np.arange(64) / 5) + rng.normal(0, 0.1, (500, 64))
    at = np.arange(500) * 500
    score = np.r_[np.full(499, 1.0), 50.0]
    report = Report(f"Title {nasty}", f"subtitle {nasty}")
    report.add_facts({nasty: nasty, "rows": ROWS})
    report.add_envelope(
        "Series", signal(), rate=RATE, unit="mV", marks={nasty: at, "few": [SPIKE]}, note=nasty
    )
    report.add_histogram("Histogram", [1, 5, 2], [0, 1, 2, 3.5], lines={nasty: 1.5}, x=nasty)
    report.add_lines("Lines", {nasty: ([0, 1, 2], [3, np.nan, 5])}, bands=[(nasty, 0, 1)])
    report.add_rows("Rows", rows[:6], [nasty] * 6, positions=at[:6], reference=rows.mean(0))
    report.add_scatter(
        "Scatter",
        rng.normal(size=500),
        rng.normal(size=500),
        score,
        rows=rows,
        captions=[nasty] * 500,
        positions=at,
        flag=score > 10,
        flag_name=nasty,
    )
    report.add_table("Table", ["name", nasty, "share"], [[nasty, 1234567, 0.5]], bars=["share"])
    report.add_table("Empty table", ["name"], [])
    target = tmp_path_factory.mktemp("report") / "new" / "index.html"
    report.save(target)
    return target


@pytest.fixture(scope="module")
def browser():
    """Headless Chromium from the system; nothing is downloaded."""
    program = shutil.which("chromium") or shutil.which("google-chrome")
    if not os.environ.get("CI"):
        if program is None:
            pytest.skip("chromium is not installed")
        pytest.importorskip("playwright", reason="playwright is not installed")
    assert program is not None, "the tests of the report need chromium"
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        yield running
        running.close()


@pytest.fixture(params=["light", "dark"])
def page(browser, path, request):
    """The report, opened from disk; any message or any request beyond the file fails the test."""
    opened = browser.new_page(color_scheme=request.param, viewport={"width": 1200, "height": 900})
    said, asked = [], []
    opened.on("console", lambda message: said.append(message.text))
    opened.on("pageerror", lambda error: said.append(str(error)))
    opened.on("request", lambda each: asked.append(each.url))
    opened.goto(path.as_uri())
    opened.wait_for_selector("html[data-drawn=yes]", timeout=30_000)
    yield opened
    assert said == []
    assert asked == [path.as_uri()]
    assert opened.locator("[data-failed]").count() == 0
    opened.close()


def data_of(canvas, name):
    """A number that the view writes on its canvas."""
    return float(canvas.get_attribute(f"data-{name}"))


def test_is_whole_and_safe(path):
    text = path.read_text()
    assert "{{" not in text
    assert "<b>" not in text
    links = re.findall(r"(?:src|href)=[\"']?([^\"'\s>]+)", text)
    assert all(link.startswith(("#", "data:")) for link in links)
    assert not re.search(r"@import|url\(|fetch\(|XMLHttpRequest", text)
    assert [each.name for each in path.parent.iterdir()] == ["index.html"]


def test_draws_everything(page):
    assert page.locator("section").count() == 8
    assert page.locator("rect.bin").count() == 3
    assert page.locator("path.line").count() == 1
    assert page.locator(".rows figure path.row").count() == 6
    assert page.locator(".side path.row").count() == 1
    assert page.locator("td.number", has_text="1,234,567").count() == 1
    assert page.locator("td .bar").count() == 1
    assert page.locator("nav a").count() == 7


def test_series_zooms_to_rows(page):
    canvas = page.locator("canvas.plain").first
    assert (data_of(canvas, "begin"), data_of(canvas, "end")) == (0, ROWS)
    assert canvas.get_attribute("data-mode") == "spans"
    assert data_of(canvas, "high") > 9  # one row among 300,000 is not lost
    canvas.scroll_into_view_if_needed()
    page.wait_for_timeout(300)
    box = canvas.bounding_box()
    share = (SPIKE + 0.5) / ROWS
    x = box["x"] + 58 + share * (box["width"] - 68)
    page.mouse.move(x, box["y"] + 150)
    for _ in range(30):
        page.mouse.wheel(0, -500)
        page.wait_for_timeout(10)
    page.wait_for_timeout(100)
    assert data_of(canvas, "end") - data_of(canvas, "begin") < 20
    assert canvas.get_attribute("data-mode") == "rows"
    found = page.evaluate(
        """row => { const s = page.series; s.pyramid.query(row, row + 1);
        return s.value(s.pyramid.low); }""",
        SPIKE,
    )
    assert found == pytest.approx(9.0, abs=0.01)

    begin = data_of(canvas, "begin")
    page.mouse.down()
    page.mouse.move(x - 80, box["y"] + 150, steps=5)
    page.mouse.up()
    page.wait_for_timeout(100)
    assert data_of(canvas, "begin") > begin
    page.mouse.dblclick(x, box["y"] + 150)
    page.wait_for_timeout(100)
    assert (data_of(canvas, "begin"), data_of(canvas, "end")) == (0, ROWS)


def test_every_column_is_exact(page):
    found = page.evaluate(
        """() => { const s = page.series; const spans = s.columns(1000, 291000, 777);
        const value = code => code === 0 ? null : s.value(code);
        return [[...spans.low].map(value), [...spans.high].map(value)]; }"""
    )
    x = signal()
    edges = np.floor(1000 + np.arange(778) * ((291_000 - 1000) / 777)).astype(int)
    for k in range(777):
        part = x[edges[k] : edges[k + 1]]
        if np.isnan(part).all():
            assert found[1][k] is None
        else:
            assert found[0][k] == pytest.approx(np.nanmin(part), abs=0.01)
            assert found[1][k] == pytest.approx(np.nanmax(part), abs=0.01)


def test_a_click_draws_the_row(page):
    side = page.locator(".side")
    assert side.get_attribute("data-chosen") == "499"  # the strangest at first
    canvas = page.locator(".pair canvas")
    canvas.scroll_into_view_if_needed()
    page.wait_for_timeout(300)
    box = canvas.bounding_box()
    where = page.evaluate(
        """() => { const v = page.sections.find(s => s.kind === "scatter").view;
        let best = 0; v.x.forEach((x, i) => { if (x > v.x[best]) best = i; });
        return [best, v.toX(v.x[best]), v.toY(v.y[best])]; }"""
    )
    page.mouse.click(box["x"] + where[1], box["y"] + where[2])
    assert side.get_attribute("data-chosen") == str(where[0])
    side.get_by_role("button").click()
    series = page.locator("canvas.plain").first
    page.wait_for_timeout(200)
    middle = (data_of(series, "begin") + data_of(series, "end")) / 2
    assert middle == pytest.approx(max(where[0] * 500, 3 * RATE), abs=2)


def test_a_brush_of_the_cloud_marks_the_series(page):
    canvas = page.locator(".pair canvas")
    canvas.scroll_into_view_if_needed()
    page.wait_for_timeout(300)
    box = canvas.bounding_box()
    corners = page.evaluate(
        """() => { const v = page.sections.find(s => s.kind === "scatter").view;
        v.reset(); v.draw();
        return [v.toX(-0.5), v.toY(1), v.toX(1), v.toY(-1)]; }"""
    )
    page.keyboard.down("Shift")
    page.mouse.move(box["x"] + corners[0], box["y"] + corners[1])
    page.mouse.down()
    page.mouse.move(box["x"] + corners[2], box["y"] + corners[3], steps=5)
    page.mouse.up()
    page.keyboard.up("Shift")
    inside, marked, area = page.evaluate(
        """() => { const v = page.sections.find(s => s.kind === "scatter").view;
        const [[left, right], [low, high]] = v.area, inside = [];
        v.x.forEach((x, i) => {
          if (x >= left && x <= right && v.y[i] >= low && v.y[i] <= high) inside.push(v.at[i]);
        });
        return [inside, [...page.series.marks.at(-1).at], v.area]; }"""
    )
    np.testing.assert_allclose(area, [[-0.5, 1], [-1, 1]], atol=0.02)
    assert marked == sorted(inside) and 100 < len(marked) < 400
    page.get_by_role("button", name=f"Show {len(marked)} in the series").click()
    page.wait_for_timeout(300)
    page.get_by_role("button", name="next ›").first.click()
    series = page.locator("canvas.plain").first
    assert int(data_of(series, "sought")) in [int(row) for row in marked]
    assert "brushed in Scatter" in page.locator("select").first.inner_text()
    page.evaluate("page.series.mark('', [])")
    assert "brushed" not in page.locator("select").first.inner_text()


def opened_report(browser, path, report):
    """A report of a test's own, and what its page says."""
    report.save(path)
    opened, said = browser.new_page(viewport={"width": 1200, "height": 900}), []
    opened.on("console", lambda message: said.append(message.text))
    opened.on("pageerror", lambda error: said.append(str(error)))
    opened.goto(path.as_uri())
    opened.wait_for_selector("html[data-drawn=yes]", timeout=30_000)
    return opened, said


def shift_drag(opened, canvas, corners):
    canvas.scroll_into_view_if_needed()
    opened.wait_for_timeout(200)
    box = canvas.bounding_box()
    opened.keyboard.down("Shift")
    opened.mouse.move(box["x"] + corners[0], box["y"] + corners[1])
    opened.mouse.down()
    opened.mouse.move(box["x"] + corners[2], box["y"] + corners[3], steps=5)
    opened.mouse.up()
    opened.keyboard.up("Shift")


def test_clouds_above_their_series_are_linked(browser, tmp_path):
    rng, report = np.random.default_rng(0), Report("R")
    at = np.arange(200) * 100
    for title in ("One", "Other"):
        x, y = rng.normal(size=(2, 200))
        report.add_scatter(title, x, y, np.ones(200), positions=rng.permutation(at))
    report.add_rows("Rows", rng.normal(size=(2, 20)), ["a", "b"], positions=at[3:5])
    report.add_envelope("Series", np.sin(np.arange(20_000) / 50))
    opened, said = opened_report(browser, tmp_path / "r.html", report)
    show = opened.get_by_role("button", name="Show it in the series")
    assert show.count() == 2
    assert opened.get_by_text("Shift and drag marks").count() == 2
    opened.evaluate("page.series.goTo = (row) => { window.wanted = row; }")
    opened.locator("figure.place").first.click()
    assert opened.evaluate("wanted") == 300
    clouds = opened.locator(".pair canvas")
    areas = """page.sections.filter((s) => s.kind === "scatter").map((s) => s.view.area !== null)"""
    names = "page.series.marks.map((mark) => mark.name)"
    shift_drag(opened, clouds.nth(0), (150, 100, 400, 300))
    assert opened.evaluate(areas) == [True, False]
    shift_drag(opened, clouds.nth(1), (150, 100, 400, 300))
    assert opened.evaluate(areas) == [False, True]
    assert opened.evaluate(names) == ["brushed in Other"]
    assert opened.get_by_role("button", name=re.compile(r"Show \d+ in the series")).count() == 1
    clouds.nth(0).dblclick(position={"x": 300, "y": 200})  # not the brushed one
    assert opened.evaluate(areas) == [False, True]
    clouds.nth(1).dblclick(position={"x": 300, "y": 200})
    assert opened.evaluate(areas) == [False, False] and opened.evaluate(names) == []
    assert said == []
    opened.close()


def test_ticks_say_their_values(browser, tmp_path):
    report = Report("R")
    near = 1e6 + np.linspace(0, 0.01, 50)
    report.add_lines("Lines", {"near": (np.arange(50.0), near)}, x="x", y="y", zero=False)
    report.add_scatter("Cloud", near, near, np.ones(50))
    report.add_envelope("Series", np.float32(123_456) + np.arange(5000) / np.float32(5000))
    opened, said = opened_report(browser, tmp_path / "r.html", report)
    for low, high in ((1e6, 1e6 + 0.01), (20_000, 20_003), (0, 1), (1e8, 1e8 + 5), (-4e300, 4e300)):
        values, words = opened.evaluate(
            "([low, high]) => { const v = ticks(low, high, 5); return [v, tickWords(v)]; }",
            [low, high],
        )
        assert [float(word.replace(",", "")) for word in words] == values and len(values) > 2
    assert opened.evaluate("tickWords([0, 0.5, 1000])") == ["0", "0.5", "1,000"]
    assert opened.evaluate("tickWords([1 / 3])") == ["0.3333"]
    room = """[...document.querySelectorAll(".axis[text-anchor=end]")].map((e) =>
        e.getBoundingClientRect().left - e.closest("svg").getBoundingClientRect().left)"""
    assert min(opened.evaluate(room)) > 16  # right of the axis' name
    assert opened.evaluate("page.series.left") > 58
    assert opened.evaluate("page.sections[1].view.box.left") > 58
    assert said == []
    opened.close()


def test_theme_follows_and_switches(page):
    background = "getComputedStyle(document.body).backgroundColor"
    theme = page.evaluate("document.documentElement.dataset.theme")
    assert page.evaluate("matchMedia('(prefers-color-scheme: dark)').matches") == (theme == "dark")
    before = page.evaluate(background)
    page.click("#theme")
    assert page.evaluate(background) != before
    page.click("#theme")
    assert page.evaluate(background) == before


def test_a_section_takes_the_place_of_its_namesake(tmp_path):
    report = Report("x")
    report.add_table("A", ["v"], [[1]])
    report.add_table("B", ["v"], [[2]])
    report.add_table("A", ["v"], [[3]])
    report.add_table("C", ["v"], [[4]], after="A")
    text = report.to_html()
    order = [text.index(f"<h2>{title}</h2>") for title in "ACB"]
    assert order == sorted(order)
    assert ">1</td>" not in text
    with pytest.raises(ValueError, match="after='D'"):
        report.add_table("E", ["v"], [], after="D")


def test_a_failed_save_leaves_the_old_file(tmp_path):
    target = tmp_path / "x.html"
    target.write_text("old")
    report = Report("x")
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100, limits[1]))
    try:
        with pytest.raises(OSError, match="File too large"):
            report.save(target)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert target.read_text() == "old"
    assert len(list(tmp_path.iterdir())) == 1


def test_errors():
    with pytest.raises(ValueError, match="expected=2, got=1"):
        Report("x").add_table("t", ["a", "b"], [[1]])


# ---- an ECG --------------------------------------------------------------------------------------
@pytest.fixture
def ecg_page(browser, tmp_path, request):
    """A series with the grid of ECG paper, kinds of marks, and marks that are dense."""
    report = Report("ECG", "")
    beats = np.arange(100, ROWS, 200)
    report.add_envelope(
        "Series", signal(), rate=RATE, unit="mV", ecg_grid=True,
        marks={"beats": beats, "abnormal": [200_100, 50_100, 123_300]},
        kinds={"abnormal": ["wide", "early", "early"]},
    )  # fmt: skip
    path = tmp_path / "ecg.html"
    report.save(path)
    opened = browser.new_page(viewport={"width": 1300, "height": 900})
    said = []
    opened.on("console", lambda message: said.append(message.text))
    opened.on("pageerror", lambda error: said.append(str(error)))
    opened.goto(path.as_uri())
    opened.wait_for_selector("html[data-drawn=yes]", timeout=30_000)
    yield opened
    assert said == []
    opened.close()


def test_next_goes_through_the_marks(ecg_page):
    canvas = ecg_page.locator("canvas.plain")
    forward = ecg_page.get_by_role("button", name="next")
    seen = []
    for _ in range(4):
        forward.click()
        ecg_page.wait_for_timeout(60)
        seen.append(data_of(canvas, "sought"))
        assert data_of(canvas, "begin") <= seen[-1] < data_of(canvas, "end")
    assert seen == [200_100, 50_100, 123_300, 200_100]  # from the middle of the series, around
    ecg_page.get_by_role("button", name="previous").click()
    assert data_of(canvas, "sought") == 123_300
    ecg_page.get_by_label("Marks to go through").select_option("beats")
    canvas.press("n")
    assert data_of(canvas, "sought") == 123_500


def test_tips_name_marks_and_kinds(ecg_page):
    canvas = ecg_page.locator("canvas.plain")
    box = canvas.bounding_box()
    middle = box["x"] + 58 + (box["width"] - 68) / 2
    ecg_page.get_by_role("button", name="next").click()
    ecg_page.wait_for_timeout(60)
    ecg_page.mouse.move(middle, box["y"] + 100)
    tip = canvas.get_attribute("data-tip")
    assert tip == "beats, 0:13:20.400; wide: abnormal, 0:13:20.400"
    ecg_page.get_by_role("button", name="Whole").click()
    ecg_page.wait_for_timeout(60)
    ecg_page.mouse.move(middle, box["y"] + 101)
    assert re.match(r"\d+ beats", canvas.get_attribute("data-tip"))


def test_calipers_measure(ecg_page):
    canvas = ecg_page.locator("canvas.plain")
    box = canvas.bounding_box()
    ecg_page.evaluate("page.series.show(1000, 1000 + 4 * 250)")
    ecg_page.get_by_role("button", name="Calipers").click()
    left, wide = box["x"] + 58, box["width"] - 68
    begin = data_of(canvas, "begin")
    ecg_page.mouse.move(left + wide / 4, box["y"] + 100)
    ecg_page.mouse.down()
    ecg_page.mouse.move(left + wide / 2, box["y"] + 150, steps=4)
    ecg_page.mouse.up()
    time, value = canvas.get_attribute("data-caliper").split("; ")
    assert time == "1 s, 60 a minute"
    low, high = data_of(canvas, "low"), data_of(canvas, "high")
    found = ecg_page.evaluate("[page.series.top, page.series.bottom]")
    assert float(value.split()[0]) == pytest.approx(
        50 * (high - low) / (found[1] - found[0]), rel=0.01
    )
    assert data_of(canvas, "begin") == begin  # a drag measures, it does not pan
    canvas.press("Escape")
    assert ecg_page.get_by_role("button", name="Calipers").get_attribute("aria-pressed") == "false"


def test_kinds_match_marks():
    with pytest.raises(ValueError, match="marks=2, kinds=1"):
        Report("x").add_envelope("s", [1.0, 2.0], marks={"a": [0, 1]}, kinds={"a": ["k"]})


def test_navigation_is_whole_and_wide_screens_are_used(browser, path):
    for width in (500, 1200, 1900):
        opened = browser.new_page(viewport={"width": width, "height": 900})
        opened.goto(path.as_uri())
        opened.wait_for_selector("html[data-drawn=yes]", timeout=30_000)
        for link in opened.locator("nav a").all():
            box = link.bounding_box()
            assert box["x"] >= 0 and box["x"] + min(box["width"], width - 48) <= width
        wide = opened.evaluate("document.querySelector('main').clientWidth")
        assert wide > 0.9 * width
        assert opened.evaluate("document.documentElement.scrollWidth") <= width
        opened.close()
