# SPDX-License-Identifier: Apache-2.0
"""Charts of columns: their numbers against NumPy and matplotlib, their files, other libraries."""

import struct
import zlib
from xml.etree import ElementTree

import matplotlib as mpl
import numpy as np
import pytest
from headrace.plot.chart import time_ticks
from headrace.plot.letters import lines_of
from headrace.plot.pixels import png_of

import headrace as hr

mpl.use("Agg")
from matplotlib import pyplot
from matplotlib.cbook import boxplot_stats

RNG = np.random.default_rng(5)
SIZES = [1, 63, 64, 65, 4_999, 5_000, 5_001, 2**17 + 1]


def read_png(data: bytes) -> np.ndarray:
    """Pixels of a PNG file without filters."""
    width, height = struct.unpack(">II", data[16:24])
    at, packed = 8, b""
    while at < len(data):
        (size,) = struct.unpack(">I", data[at : at + 4])
        if data[at + 4 : at + 8] == b"IDAT":
            packed += data[at + 8 : at + 8 + size]
        at += size + 12
    lines = np.frombuffer(zlib.decompress(packed), np.uint8).reshape(height, -1)
    return lines[:, 1:].reshape(height, width, -1)


def frame_of(rows: int) -> hr.DataFrame:
    x = RNG.normal(size=rows)
    y = 2 * x + RNG.normal(size=rows)
    y[RNG.random(rows) < 0.05] = np.nan
    return hr.DataFrame({"x": x, "y": y, "n": np.arange(rows), "k": ["a"] * rows})


# ---- numbers -------------------------------------------------------------------------------------
@pytest.mark.parametrize("rows", SIZES)
def test_lines_lose_no_peak(rows):
    frame = frame_of(rows)
    frame["y"] = frame.y.fillna(0.0)
    values = frame.y.to_numpy()
    for chart in (frame.plot.line(y="y"), frame.plot.line("n", "y")):
        (mark,) = chart.marks
        low, high = mark.extent()[1][0], mark.extent()[1][-1]
        assert (low, high) == (values.min(), values.max())
        assert len(mark.x) <= max(5_000, 640)
    if rows <= 5_000:
        np.testing.assert_array_equal(frame.plot.line("n", "y").marks[0].y, values)


def test_a_band_has_the_range_of_each_pixel_column():
    frame = frame_of(20_000)
    at, values = frame.n.to_numpy(), frame.y.to_numpy()
    (mark,) = frame.plot.line("n", "y").marks
    part = np.floor(at / at.max() * 639).astype(int)
    for place in (0, 1, 300, 639):
        known = values[(part == place) & ~np.isnan(values)]
        assert (mark.low[place], mark.high[place]) == (known.min(), known.max())
        assert mark.x[place] == pytest.approx(place / 639 * at.max())


@pytest.mark.parametrize("rows", SIZES)
@pytest.mark.parametrize("bins", [1, 10, [-1.0, 0.0, 0.5, 9.0]])
def test_histograms_are_numpys(rows, bins):
    frame = frame_of(rows)
    (mark,) = frame.plot.hist("y", bins=bins).marks
    known = frame.y.dropna().to_numpy()
    if len(known):
        counts, edges = np.histogram(known, bins)
        np.testing.assert_array_equal(mark.high, counts)
        np.testing.assert_allclose([*mark.left, mark.right[-1]], edges)


def test_columns_share_the_bins_of_a_histogram():
    frame = hr.DataFrame({"a": [0.0, 1.0], "b": [9.0, 10.0]})
    marks = frame.plot.hist(bins=5).marks
    np.testing.assert_array_equal(marks[0].left, marks[1].left)
    assert [each.high.tolist() for each in marks] == [[2, 0, 0, 0, 0], [0, 0, 0, 0, 2]]


@pytest.mark.parametrize("rows", SIZES)
@pytest.mark.parametrize("gridsize", [2, 7, 40])
def test_honeycombs_are_matplotlibs(rows, gridsize):
    frame = frame_of(rows).dropna()
    x, y = frame.x.to_numpy(), frame.y.to_numpy()
    if rows < 2 or not len(x):
        return
    (mark,) = frame.plot.hexbin("x", "y", gridsize=gridsize).marks
    theirs = pyplot.hexbin(x, y, gridsize=gridsize, mincnt=1)
    counts = theirs.get_array()
    assert mark.values.sum() == len(x)
    order = np.lexsort((mark.y.round(6), mark.x.round(6)))
    other = theirs.get_offsets()
    there = np.lexsort((other[:, 1].round(6), other[:, 0].round(6)))
    np.testing.assert_array_equal(mark.values[order], counts[there])
    np.testing.assert_allclose(mark.x[order], other[there, 0], atol=1e-6)
    pyplot.close("all")


def test_honeycombs_of_an_aggregate():
    frame = hr.DataFrame({"x": [0, 0, 9], "y": [0, 0, 9], "v": [1.0, 3.0, 7.0]})
    for word, expected in (("mean", [2, 7]), ("sum", [4, 7]), ("max", [3, 7])):
        (mark,) = frame.plot.hexbin("x", "y", "v", word, gridsize=3).marks
        assert mark.values.tolist() == expected and mark.name == f"{word} of v"


@pytest.mark.parametrize("rows", SIZES)
def test_boxes_are_matplotlibs(rows):
    frame = frame_of(rows)
    frame["y"] = frame.y.fillna(0.0)
    (expected,) = boxplot_stats(frame.y.to_numpy())
    body, foot, top, *_, dots = frame.plot.box("y").marks
    found = [body.low[0], body.high[0], foot.y[0], top.y[1]]
    wanted = [expected[each] for each in ("q1", "q3", "whislo", "whishi")]
    np.testing.assert_allclose(found, wanted)
    outliers = np.sort(expected["fliers"])
    if len(outliers) <= 200:
        np.testing.assert_array_equal(dots.y, outliers)
    assert len(dots.y) <= 200


@pytest.mark.parametrize("rows", SIZES)
def test_points_are_drawn_or_counted(rows):
    frame = frame_of(rows)
    (mark,) = frame.plot.scatter("x", "y").marks
    if rows <= 5_000:
        np.testing.assert_array_equal(mark.x, frame.x.to_numpy())
        np.testing.assert_array_equal(mark.y, frame.y.to_numpy())
        return
    x, y = frame.x.to_numpy(), frame.y.to_numpy()
    known = ~np.isnan(y)
    cells, *_ = np.histogram2d(y[known], x[known], (320, 640), (mark.y, mark.x))
    np.testing.assert_array_equal(mark.pixels[::-1, :, 3] > 0, cells > 0)


def test_bars_by_label_and_stacked():
    frame = hr.DataFrame({"k": ["a", "b", "a"], "x": [1, 2, 4], "y": [1.0, -1.0, 1.0]})
    totals = frame.groupby("k").sum()
    chart = totals.plot.bar()
    assert [mark.high.tolist() for mark in chart.marks] == [[5, 2], [2, -1]]
    _, other = totals.plot.bar(stacked=True).marks
    assert other.low.tolist() == [5, 0] and other.high.tolist() == [7, -1]
    assert ">a</text>" in chart._repr_html_() and ">k</text>" in chart._repr_html_()
    assert frame.plot(x="k", y="x", kind="bar").marks[0].words == ["a: 1", "b: 2", "a: 4"]
    with pytest.raises(hr.InvalidArgumentError, match=r"plot.bar: too many bars: rows=1001"):
        hr.DataFrame({"x": np.arange(1001)}).plot.bar()


def test_same_chart_for_any_number_of_threads():
    frame = frame_of(300_000)
    frame["y"] = frame.y.fillna(0.0)
    made = set()
    for threads in (1, 2, 4):
        with hr.threads(threads):
            kinds = (
                frame.plot.line(y=["x", "y"]),
                frame.plot.line("n", "y"),
                frame.plot.scatter("x", "y"),
                frame.plot.hexbin("x", "y"),
                frame.plot.hist("x"),
                frame.plot.box(["x", "y"]),
            )
            made.add(tuple(each._repr_html_() for each in kinds))
    assert len(made) == 1


# ---- nothing, one row, missing values ------------------------------------------------------------
def test_charts_of_nothing():
    frame = frame_of(0)
    for chart in (
        frame.plot(y="x"),
        frame.plot.line("n", "y"),
        frame.plot.scatter("x", "y"),
        frame.plot.hist("x"),
        frame.plot.bar("k", "x"),
        frame.plot.box("x"),
        frame.x.plot(),
        hr.Series([np.nan, np.nan], name="x").plot(),
        hr.Series([None, 1.0, None, None], name="x").plot(),
    ):
        ElementTree.fromstring(chart._repr_html_())
        assert chart._repr_png_().startswith(b"\x89PNG")


def test_lines_end_at_missing_values():
    chart = hr.Series([1.0, 2.0, None, 4.0, float("nan"), 1.0, 3.0]).plot()
    svg = chart._repr_html_()
    assert svg.count('stroke="#0072b2"') == 2 and svg.count("<circle") == 1


def test_infinite_values_are_left_out():
    chart = hr.Series([1.0, float("inf"), 2.0, -float("inf")], name="x").plot()
    assert "inf" not in chart._repr_html_() and "nan" not in chart._repr_html_()


# ---- axes ----------------------------------------------------------------------------------------
def test_axes_units_and_title(tmp_path):
    chart = hr.Series(np.sin(np.arange(1000) / 30), name="voltage").plot(
        rate=250, unit="mV", title="An <ECG>"
    )
    svg = chart._repr_html_()
    for words in ("An &lt;ECG&gt;", "voltage [mV]", "time [s]"):
        assert words in svg
    chart.save(tmp_path / "x.png")
    pixels = read_png((tmp_path / "x.png").read_bytes())
    root = ElementTree.fromstring(svg)
    size = (2 * float(root.get("height")), 2 * float(root.get("width")))
    assert pixels.shape == (*map(round, size), 3)
    title, numbers, label = pixels[:60], pixels[-80:-40, 200:], pixels[:, 10:40]
    for part in (title, numbers, label):
        assert 0.002 < (part.mean(axis=2) < 200).mean() < 0.3


def test_moments_have_round_ticks():
    days = hr.date_range("2024-01-01", periods=400)
    frame = hr.DataFrame({"day": days, "x": np.arange(400.0)})
    for chart in (frame.plot("day", "x"), frame.set_index("day").plot()):
        assert all(f">{month}<" in chart._repr_html_() for month in ("Jul 2024", "Jan 2025"))
    spans = [0.003, 5, 300, 7e3, 9e4, 2e6, 4e7, 3e8, 3e9, 9e10]
    for span in spans:
        found = time_ticks(1.7e9, 1.7e9 + span, 5)
        assert 2 <= len(found) <= 11, (span, found)
        places = [place for place, _ in found]
        assert places == sorted(places) and places[0] >= 1.7e9 and places[-1] <= 1.7e9 + span
    assert [words for _, words in time_ticks(0, 86400 * 3, 3)] == [
        "01 Jan 1970", "02 Jan 1970", "03 Jan 1970", "04 Jan 1970",
    ]  # fmt: skip


def test_limits_sizes_colours_and_legends():
    frame = hr.DataFrame({"a": [1.0, 2.0], "b": [3.0, 5.0]})
    chart = frame.plot(color=["#ff0000", "#00ff00"], xlim=(0, 9), ylim=(-1, 7), figsize=(3, 2))
    svg = chart._repr_html_()
    assert "#ff0000" in svg and "#00ff00" in svg and ">b</text>" in svg
    assert chart._ranges() == ((0, 9), (-1, 7)) and chart._size == (300, 200)
    assert ">b</text>" not in frame.plot(legend=False)._repr_html_()


# ---- pixels --------------------------------------------------------------------------------------
def test_pixels_show_what_the_svg_says():
    head = '<svg xmlns="http://www.w3.org/2000/svg" width="40" height="30" fill="#777">'

    def drawn(element):
        return read_png(png_of(f"{head}<{element}/></svg>"))

    pixels = drawn('rect x="10" y="5" width="20" height="10" fill="#ff0000"')
    red = (pixels == [255, 0, 0]).all(axis=2)
    assert red[10:30, 20:60].all() and red.sum() == 20 * 40
    half = drawn('rect x="0" y="0" width="40" height="30" fill="#00000080"')
    assert set(half.ravel().tolist()) == {127}
    line = drawn('path d="M5 10h20" stroke="#0000ff" stroke-width="2"')
    blue = (line == [0, 0, 255]).all(axis=2)
    assert blue[18:22, 10:50].all() and not blue[:17].any() and not blue[:, 54:].any()
    ring = drawn('path d="M0 0L30 0L30 30L0 30zM10 10L20 10L20 20L10 20z" fill="#000000"')
    assert (ring[20:40, 20:40] == 255).all() and (ring[:19, :60] == 0).all()
    circle = drawn('circle cx="20" cy="15" r="10" fill="#000000"')
    assert (circle < 128).all(axis=2).sum() == pytest.approx(np.pi * 400, rel=0.03)
    assert (drawn('path d="M-90 -90L900 -80" stroke="#000"') == 255).all()


def test_letters_are_told_apart():
    seen = {}
    printable = [chr(code) for code in range(33, 127)]
    for letter in [*printable, *"°µ²³·×±Ω…"]:
        lines, width = lines_of(letter)
        points = str(lines)
        assert points not in seen, (letter, seen.get(points))
        seen[points] = letter
        assert 0 <= width <= 4 and all(0 <= y <= 8 for line in lines for _, y in line)
    assert lines_of("é")[0] == lines_of("e")[0] and lines_of("−") == lines_of("-")
    assert lines_of("漢") == lines_of("語") and lines_of("")[1] == 0
    assert lines_of("a b")[1] > lines_of("ab")[1]


# ---- other libraries -----------------------------------------------------------------------------
KINDS = ["line", "days", "band", "scatter", "dense", "hist", "bar", "box", "hexbin"]


def all_kinds() -> dict[str, object]:
    frame = frame_of(200)
    frame["day"] = hr.date_range("2024-01-01", periods=200)
    many = frame_of(6_000)
    totals = hr.DataFrame({"k": ["a", "b"], "x": [1, 2]})
    return {
        "line": frame.plot("n", ["x", "y"], title="t"),
        "days": frame.plot("day", "x"),
        "band": many.plot("n", "x"),
        "scatter": frame.plot.scatter("x", "y"),
        "dense": many.plot.scatter("x", "y"),
        "hist": frame.plot.hist(["x", "y"]),
        "bar": totals.plot.bar("k", "x"),
        "box": frame.plot.box(["x", "y"]),
        "hexbin": frame.plot.hexbin("x", "y"),
    }


@pytest.mark.parametrize("kind", KINDS)
def test_charts_go_into_altair(kind):
    altair = pytest.importorskip("altair")
    chart = all_kinds()[kind]
    made = chart.to_altair()
    assert isinstance(made, altair.LayerChart)
    assert made.to_dict()["layer"] and (made | made).to_dict()["hconcat"]


@pytest.mark.parametrize("kind", KINDS)
def test_charts_go_into_matplotlib(kind):
    figure, ax = pyplot.subplots()
    chart = all_kinds()[kind]
    assert chart.to_matplotlib(ax) is ax
    assert len(ax.get_children()) > 10 and ax.get_title() == chart.title
    figure.canvas.draw()
    pyplot.close("all")


def test_axes_of_matplotlib_as_pandas_takes_them():
    _, ax = pyplot.subplots()
    frame = hr.DataFrame({"x": [1, 2, 3], "y": [2.0, 4.0, 8.0]})
    assert frame.plot.line("x", "y", ax=ax, xlabel="across") is ax
    assert ax.lines[0].get_ydata().tolist() == [2, 4, 8] and ax.get_xlabel() == "across"
    assert frame.y.plot.hist(ax=ax) is ax
    pyplot.close("all")


# ---- errors --------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda f: f.plot(kind="pie"), r"plot: unknown kind: kind='pie'; expected one of line, sc"),
        (lambda f: f.x.plot(kind="hexbin"), r"unknown kind: kind='hexbin'"),
        (lambda f: f[["k"]].plot(), r"plot.line: no column of numbers: columns=\['k'\]"),
        (lambda f: f.plot(y="k"), r"plot.line: a column that is not numbers or times: column='k'"),
        (lambda f: f.plot.scatter("k", "x"), r"plot.scatter: a column that is not numbers"),
        (lambda f: f.plot.hexbin("x", "y", gridsize=0), r"plot.hexbin: not positive: gridsize=0"),
        (lambda f: f.plot(titel="x"), r"unexpected keyword argument 'titel'; did you mean 'title'"),
        (lambda f: f.plot.line(subplots=True), r"'subplots'; .*ax=axes"),
        (lambda f: f.plot.scatter("x", "z"), "z"),
        (lambda f: f.plot.pie(), "pie"),
    ],
)
def test_errors_name_what_is_wrong(call, message):
    frame = frame_of(3)
    with pytest.raises((hr.Error, TypeError, AttributeError), match=message):
        call(frame)
    assert frame.plot("n", "x").marks
