# SPDX-License-Identifier: Apache-2.0
"""Pictures of graphs: what is drawn where, and the page that zooms."""

import base64
import io
import json
import re

import numpy as np
import pytest

import headrace as hr
from headrace import plot

EDGES = [("ann", "bob"), ("bob", "cem"), ("cem", "ann"), ("cem", "<dan>")]
POS = {"ann": (0, 1), "bob": (0, 0), "cem": (1, 0.5), "<dan>": (2, 0.5)}


def pixels(picture):
    image = pytest.importorskip("PIL.Image")
    (data,) = re.findall('data:image/png;base64,([^"]+)', picture._repr_html_())
    return np.asarray(image.open(io.BytesIO(base64.b64decode(data))))


def data_of(picture):
    found = re.search(r'<script type="application/json">(.*?)</script>', picture.page)
    return json.loads(found.group(1))


def numbers(text, dtype):
    return np.frombuffer(base64.b64decode(text), dtype)


def color(word):
    return list(bytes.fromhex(word[1:]))


# ---- rasters of lines ----------------------------------------------------------------------------
def lines_by_definition(ends, cells):
    """Of ends inside: the cell of the line's middle in each column, or each row if it is steep."""
    made = np.zeros((cells, cells), int)
    for x0, y0, x1, y1 in ends.tolist():
        y0, y1 = cells - y0, cells - y1
        steep = abs(y1 - y0) > abs(x1 - x0)
        (a, b, c, d) = (y0, x0, y1, x1) if steep else (x0, y0, x1, y1)
        if c < a:
            a, b, c, d = c, d, a, b
        for i in range(min(int(a), cells - 1), min(int(c), cells - 1) + 1):
            at = np.clip(i + 0.5, a, c)
            j = min(int(b + (at - a) * ((d - b) / (c - a) if c > a else 0)), cells - 1)
            made[(i, j) if steep else (j, i)] += 1
    return made


def test_lines_by_definition():
    rng = np.random.default_rng(0)
    ends = rng.random((3000, 4)) * 40
    made = []
    for threads in (1, 2, 4):
        with hr.threads(threads):
            found = plot.raster_segments(*ends.T, (0, 40), (0, 40), 40, 40)
            made.append(np.asarray(found))
    assert all(np.array_equal(made[0], other) for other in made)
    # Slopes are rounded differently: a few cells at borders.
    assert np.abs(made[0] - lines_by_definition(ends, 40)).sum() <= 4
    narrow = plot.raster_segments(*ends.astype("f4").T, (10, 30), (10, 30), 20, 20)
    assert np.asarray(narrow).sum() < made[0].sum()


def test_lines_refused():
    with pytest.raises(hr.InvalidArgumentError, match="differ in length"):
        plot.raster_segments([0.0], [0.0], [1.0], [1.0, 2.0], (0, 1), (0, 1), 2, 2).tolist()


# ---- pictures ------------------------------------------------------------------------------------
def test_vertices_are_where_pos_says():
    graph = hr.graph.Graph(EDGES)
    groups = hr.DataFrame({"vertex": list(POS), "kind": ["x", "x", "y", "z"]})
    picture = plot.graph(graph, POS, color=groups, width=400, height=200)
    drawn = pixels(picture)
    assert drawn.shape == (400, 800, 4)
    data = data_of(picture)
    x, y = numbers(data["x"], "<f4"), numbers(data["y"], "<f4")
    assert data["names"] == ["<dan>", "ann", "bob", "cem"]
    order = [data["names"].index(name) for name in POS]
    scale = (x[order[3]] - x[order[1]]) / 2
    wanted = np.array(list(POS.values()), float)
    assert np.allclose(x[order] - x[order[1]], wanted[:, 0] * scale, atol=1e-3)
    assert np.allclose(y[order[1]] - y[order], wanted[:, 1] * scale, atol=1e-3)
    layers = [hue for _, hue in data["layers"]]
    for v, code in enumerate(numbers(data["layer"], "u1")):
        at = drawn[int(2 * y[v]), int(2 * x[v])]
        assert at.tolist() == [*color(layers[code]), 255]
    # The edge between ann and bob, of one kind, has its colour; the others are grey.
    middle = drawn[int(y[order[0]] + y[order[1]]), int(2 * x[order[0]])]
    assert middle[:3].tolist() == color(layers[numbers(data["layer"], "u1")[order[0]]])
    across = drawn[int(2 * y[order[3]]), int(x[order[2]] + x[order[3]])]
    assert across[:3].tolist() == color("#9aa0a6") and across[3] > 0
    pairs = np.column_stack([numbers(data[end], "<u4") for end in ("source", "target")])
    named = {frozenset(data["names"][v] for v in pair) for pair in pairs.tolist()}
    assert named == {frozenset(pair) for pair in EDGES}


def test_sizes_labels_and_names():
    graph = hr.graph.Graph([(0, v) for v in range(1, 100)], nodes=hr.DataFrame(
        {"id": np.arange(100), "label": [f"n{v}" for v in range(100)]}
    ))  # fmt: skip
    rank = graph.pagerank()
    picture = plot.graph(graph, size=rank, labels=3, names="label", title="a <star>")
    data = data_of(picture)
    radii = numbers(data["radius"], "<f4")
    assert radii.argmax() == 0 and radii[0] > 2 * radii[1]
    assert len(data["named"]) == 3 and data["named"][0] == 0
    svg = picture._repr_html_()
    assert ">n0</text>" in svg and ">n50</text>" not in svg and "a &lt;star&gt;" in svg
    chosen = data_of(plot.graph(graph, labels=[7, 5]))
    assert chosen["named"] == [7, 5]
    assert data_of(plot.graph(graph, labels=0))["named"] == []
    assert data_of(plot.graph(graph))["named"][0] == 0  # by degree
    assert len(data_of(plot.graph(EDGES))["named"]) == 4


def test_page_is_safe_and_alone(tmp_path):
    nasty = "</script><script>alert(1)</script>"
    picture = plot.graph([(nasty, "b"), ("b", "c")], title=nasty)
    picture.save(tmp_path / "g.html")
    text = (tmp_path / "g.html").read_text()
    assert nasty not in text
    assert data_of(picture)["names"][0] == nasty
    assert not re.search(r"(src|href)=.https?:", text)
    picture.save(tmp_path / "g.png")
    picture.save(tmp_path / "g.svg")
    assert (tmp_path / "g.png").read_bytes()[1:4] == b"PNG"
    report = hr.report.Report("graphs")
    report.add_plot("A graph", picture, note="it zooms")
    assert "headrace-graph" in report.to_html()


def test_edges_beyond_the_limit_are_chosen_evenly():
    graph = hr.graph.Graph([(v, v + 1) for v in range(999)])
    data = data_of(plot.graph(graph, {v: (v, v % 7) for v in range(1000)}, max_edges=100))
    source = numbers(data["source"], "<u4")
    assert len(source) == 100 and data["edges"] == 999
    assert np.diff(source).min() >= 9


def test_same_bytes():
    rng = np.random.default_rng(3)
    graph = hr.graph.Graph(rng.integers(500, size=(3000, 2)))
    made = set()
    for threads in (1, 2, 4):
        with hr.threads(threads):
            picture = plot.graph(graph, color=graph.louvain(), size=graph.pagerank())
            made.add((picture._repr_png_(), picture.page))
    assert len(made) == 1


def test_values_are_found_by_vertex():
    graph = hr.graph.Graph(EDGES)
    ranks = graph.pagerank()
    turned = ranks.sort_values("pagerank", ascending=False)
    one, other = (data_of(plot.graph(graph, POS, size=each)) for each in (ranks, turned))
    assert one["radius"] == other["radius"]
    listed = data_of(plot.graph(graph, POS, size=ranks.pagerank.to_numpy()))
    assert listed["radius"] == one["radius"]


@pytest.mark.parametrize("directed", [False, True])
def test_one_vertex_and_no_edges(directed):
    for graph in (hr.graph.Graph(nodes=1, directed=directed), hr.graph.Graph(nodes=3),
                  hr.graph.Graph([(0, 0)], directed=directed)):  # fmt: skip
        assert pixels(plot.graph(graph, width=80, height=60))[..., 3].max() == 255


def test_errors():
    graph = hr.graph.Graph(EDGES)
    with pytest.raises(hr.InvalidArgumentError, match="no vertices"):
        plot.graph(hr.graph.Graph())
    with pytest.raises(hr.InvalidArgumentError, match="color=2 values, vertices=4"):
        plot.graph(graph, color=["a", "b"])
    with pytest.raises(hr.ColumnNotFoundError, match="color='none'"):
        plot.graph(graph, color="none")
    with pytest.raises(hr.InvalidArgumentError, match="a size is negative"):
        plot.graph(graph, size=[1, 2, 3, -1])
    with pytest.raises(hr.InvalidArgumentError, match="no such vertex: labels='eva'"):
        plot.graph(graph, labels=["eva"])
    with pytest.raises(hr.InvalidArgumentError, match="a vertex has no place"):
        plot.graph(graph, {"ann": (0, 0)})


def test_notebooks_draw_small_graphs():
    small = hr.graph.Graph(EDGES)._repr_html_()
    assert "<svg" in small and "Graph(undirected, 4 vertices, 4 edges)" in small
    large = hr.graph.Graph([(v, v + 1) for v in range(3000)])._repr_html_()
    assert "<svg" not in large and "3001 vertices" in large
