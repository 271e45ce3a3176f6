# SPDX-License-Identifier: Apache-2.0
"""Pictures of graphs: edges counted in pixels, vertices above them, and a page that zooms."""

from __future__ import annotations

import base64
import html
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from headrace import _core
from headrace.array.array import Array
from headrace.array.construct import asarray
from headrace.errors import ColumnNotFoundError, InvalidArgumentError
from headrace.frame.columns import is_frame
from headrace.graph.graph import graph_of
from headrace.graph.layouts import layout, places_of
from headrace.graph.sources import key_names
from headrace.lazy.handle import array_of, mark
from headrace.plot.clouds import coded
from headrace.plot.figure import GREY, Axes, Plot, room, text
from headrace.plot.long_series import encode_png
from headrace.series.column import is_series

if TYPE_CHECKING:
    from headrace.graph.graph import Graph

Matrix = np.ndarray[Any, Any]
_HERE = Path(__file__).parent
#: Pixels of the picture for each one of its width, for sharp screens.
_FINE = 2
#: Graphs with fewer edges draw them as thick as a pixel of the width.
_THICK = 5000
#: Graphs that a notebook draws unasked, and how large.
_SMALL = (2000, 20_000)


def graph(
    G: Any,  # noqa: N803
    pos: Any = None,
    *,
    color: Any = None,
    size: Any = None,
    labels: Any = None,
    names: Any = None,
    max_edges: int = 200_000,
    width: int = 900,
    height: int = 680,
    title: str = "",
    random_state: int = 0,
) -> Plot:
    """Vertices and edges of a graph: a picture, and as ``.html`` a page with zoom, pan and names.

    Parameters
    ----------
    G : Graph, or what `hr.graph.Graph` takes
    pos : dict or frame, optional
        Where vertices are, as `hr.graph.layout` gives it; by default it is asked.
    color : str, frame, series or array, optional
        A label of each vertex: an attribute of vertices, or what an algorithm found, such as
        communities. The seven most frequent have a colour, as has an edge between two of one.
    size : str, frame, series or array, optional
        A number of each vertex, not negative, to which its area grows, such as its rank.
    labels : int or list, optional
        How many of the largest vertices, by degree if there is no `size`, are named; or which. By
        default ten, all of up to forty.
    names : str, frame, series or list, optional
        What vertices are called; by default their ids.
    max_edges : int, default 200000
        Edges that the page can show one by one when it is near; beyond them evenly chosen ones. Its
        first picture has all.
    width, height : int
        Of the picture.
    title : str
    random_state : int, default 0
        Of the layout.

    Returns
    -------
    Plot
        Saves as ``.png``, ``.svg`` or ``.html``.

    Raises
    ------
    InvalidArgumentError
        For values that do not match the vertices, or sizes that are negative or not finite.

    >>> edges = hr.graph.Graph([(0, 1), (1, 2), (2, 0), (2, 3)])
    >>> hr.plot.graph(edges, color=edges.louvain(), size=edges.pagerank(), title="four")
    Plot('four')
    """
    drawn = graph_of(G, "plot.graph")
    mark("plot.graph")
    if not len(drawn):
        raise InvalidArgumentError("plot.graph: the graph has no vertices")
    places = layout(drawn, random_state=random_state) if pos is None else pos
    xy = _fitted(places_of(drawn, "plot.graph", places), width, height)
    codes, layers = coded("plot.graph", _values(drawn, "color", color), len(drawn))
    inks = np.array([list(bytes.fromhex(each[1:])) for _, each in layers], np.uint8)
    radii, weights = _radii(drawn, size, width * height)
    ends = _ends(drawn)
    pixels = _edge_pixels(xy, ends, codes.astype(int), inks, width, height)
    behind = bytes(encode_png(pixels).to_numpy())
    _draw_vertices(pixels, xy, radii, inks[codes.astype(int)])
    png = bytes(encode_png(pixels).to_numpy())
    words = _names(drawn, names)
    named = _named(drawn, labels, weights)
    shown = [(name, each) for name, each in layers if name]
    axes = Axes(
        (0, width), (height, 0), width, height, grid="", left=14, below=14, title=title,
        right=room([name for name, _ in shown]),
    )  # fmt: skip
    axes.image(png)
    halo = ' paint-order="stroke" stroke="#fff" stroke-width="3" style="fill:#222"'
    for v in named[::-1].tolist():
        (x, y), name = xy[v].tolist(), words[v]
        axes.parts.append(text(14 + x, axes.above + y - radii[v] - 3, name, more=halo))
    axes.legend(shown)
    made = axes.plot()
    made.page = _page(
        xy, radii, codes, layers, _chosen(ends, max_edges), words, named, behind,
        {"width": width, "height": height, "edges": len(ends[0]), "title": title},
    )  # fmt: skip
    return made


def small_picture(whole: Graph) -> str:
    """What a notebook shows of a graph next to its facts; nothing of a large one."""
    if not 0 < len(whole) <= _SMALL[0] or whole.number_of_edges() > _SMALL[1]:
        return ""
    return graph(whole, width=360, height=270, labels=None if len(whole) <= 40 else 0)._repr_html_()


# ---- what is drawn -------------------------------------------------------------------------------
def _values(whole: Graph, word: str, given: Any) -> Any:
    """A value of each vertex, in their order."""
    if given is None:
        return None
    if isinstance(given, str):
        if given not in whole.nodes().columns:
            raise ColumnNotFoundError(
                f"plot.graph: no such attribute of vertices: {word}={given!r}"
            )
        return whole.nodes()[given]
    if is_frame(given):
        ids = key_names("vertex", len(whole._given.source))
        column = given[given.columns[-1]]
        if set(ids) <= set(given.columns) and len(given) == len(whole):
            rows = whole._find("plot.graph", given[ids])
            if (rows != np.arange(len(whole))).any():
                column = column.iloc[np.argsort(rows)].reset_index(drop=True)
        given = column
    if len(given) != len(whole):
        raise InvalidArgumentError(
            f"plot.graph: expected a value of each vertex: {word}={len(given)} values, "
            f"vertices={len(whole)}"
        )
    return given


def _fitted(places: Matrix, width: int, height: int) -> Matrix:
    """Places as pixels, one scale for both axes, a little apart from the edges."""
    low, high = places.min(axis=0), places.max(axis=0)
    air = 0.04 * min(width, height) + 4
    room_for = np.array([width, height]) - 2 * air
    scale = (room_for / np.maximum(high - low, 1e-12)).min() if (high > low).any() else 0
    middle = (places - (low + high) / 2) * scale * [1, -1]
    return middle + np.array([width, height]) / 2


def _radii(whole: Graph, size: Any, area: int) -> tuple[Matrix, Matrix]:
    """The radius of each vertex, and what it is large by."""
    base = float(np.clip(0.16 * np.sqrt(area / len(whole)), 0.8, 7))
    if size is None:
        return np.full(len(whole), base), whole.degree().degree.to_numpy().astype(float)
    values = np.asarray(asarray(_values(whole, "size", size)).to_numpy(), np.float64)
    if not np.isfinite(values).all() or (values < 0).any():
        raise InvalidArgumentError(
            f"plot.graph: a size is negative or not finite: least={values.min()}"
        )
    grown = np.sqrt(values / (values.mean() or 1.0))
    return base * np.clip(grown, 0.7, 4), values


def _ends(whole: Graph) -> tuple[Matrix, Matrix]:
    """The vertices of each edge, of undirected ones once."""
    offsets, targets = (array_of(each).to_numpy() for each in whole._graph.entries()[:2])
    sources = np.repeat(np.arange(len(whole), dtype=np.uint32), np.diff(offsets))
    if whole.is_directed():
        return sources, targets
    once = sources <= targets
    return sources[once], targets[once]


def _names(whole: Graph, names: Any) -> list[str]:
    if names is not None:
        found = _values(whole, "names", names)
        return [str(each) for each in (found.to_list() if is_series(found) else found)]
    ids = whole._vertices()
    parts = [ids[name].to_list() for name in ids.columns]
    return list(map(str, parts[0])) if len(parts) == 1 else list(map(str, zip(*parts, strict=True)))


def _named(whole: Graph, labels: Any, weights: Matrix) -> Matrix:
    """The vertices that are named at once, the largest first."""
    if labels is None:
        labels = len(whole) if len(whole) <= 40 else 10
    if isinstance(labels, int | np.integer):
        return np.argsort(-weights, kind="stable")[:labels]
    return whole._find("plot.graph", labels, "labels")


def _chosen(ends: tuple[Matrix, Matrix], most: int) -> tuple[Matrix, Matrix]:
    count = len(ends[0])
    if count <= most:
        return ends
    at = np.linspace(0, count - 1, most).astype(np.int64)
    return ends[0][at], ends[1][at]


# ---- pixels --------------------------------------------------------------------------------------
def raster_segments(
    x0: Any,
    y0: Any,
    x1: Any,
    y1: Any,
    x_range: tuple[float, float],
    y_range: tuple[float, float],
    width: int,
    height: int,
) -> Array:
    """Count lines in the cells of a grid, top row first.

    A line takes one cell in each column that it reaches if it is wider than high, else in each row.
    What lies outside is cut off; lines with NaN are not counted.

    Returns
    -------
    Array
        int64 ``[height, width]``.

    >>> hr.plot.raster_segments([0.0], [0.0], [1.0], [1.0], (0, 1), (0, 1), 2, 2).tolist()
    [[0, 1], [1, 0]]
    """
    mark("raster_segments")
    lines = [asarray(each)._node for each in (x0, y0, x1, y1)]
    left, right, bottom, top = (float(each) for each in (*x_range, *y_range))
    return Array(_core.raster_segments(lines, left, right, bottom, top, width, height))


def _edge_pixels(
    xy: Matrix, ends: tuple[Matrix, Matrix], codes: Matrix, inks: Matrix, width: int, height: int
) -> Matrix:
    """Edges by how many share a pixel, on a logarithmic scale, in the colours of their ends."""
    wide, high = _FINE * width, _FINE * height
    grey = np.array(list(bytes.fromhex(GREY[1:])), np.uint8)
    inks = np.concatenate([inks, grey[None]]) if len(inks) > 1 else grey[None]
    same = codes[ends[0]] == codes[ends[1]]
    layer = np.where(same, codes[ends[0]], len(inks) - 1) if len(inks) > 1 else np.zeros(len(same))
    color = np.zeros((high, wide, 3), np.float32)
    total = np.zeros((high, wide), np.float32)
    x, y = np.ascontiguousarray(xy.T)
    for number, ink in enumerate(inks):
        of = [each[layer == number] for each in ends]
        if not len(of[0]):
            continue
        lines = (x[of[0]], -y[of[0]], x[of[1]], -y[of[1]])
        counts = raster_segments(*lines, (0, width), (-height, 0), wide, high).to_numpy()
        if len(ends[0]) < _THICK:  # as thick as a pixel of the width
            counts = np.maximum(counts, np.roll(counts, 1, axis=0))
            counts = np.maximum(counts, np.roll(counts, 1, axis=1))
        total += counts
        color += counts[..., None] * ink.astype(np.float32)
    pixels = np.zeros((high, wide, 4), np.uint8)
    some = total > 0
    if some.any():
        pixels[some, :3] = np.round(color[some] / total[some, None])
        # Few lines are seen well; of many, where they are dense.
        most = np.log1p(max(float(np.quantile(total[some], 0.999)), 1))
        faint = np.clip(255 - 25 * np.log10(1 + len(ends[0])), 70, 220)
        share = np.minimum(np.log1p(total[some]) / most, 1)
        pixels[some, 3] = np.round(faint * (0.25 + 0.75 * share))
    return pixels


def _draw_vertices(pixels: Matrix, xy: Matrix, radii: Matrix, inks: Matrix) -> None:
    """Discs, larger ones above."""
    high, wide = pixels.shape[:2]
    fine, centers = radii * _FINE, xy * _FINE
    order = np.argsort(fine, kind="stable")
    places = np.floor(centers[order]).astype(np.int64)
    top = np.full(high * wide, -1, np.int64)
    squares = np.maximum(fine[order], 0.8) ** 2
    reach = int(np.ceil(fine.max()))
    numbers = np.arange(len(order))
    for down in range(-reach, reach + 1):
        for across in range(-reach, reach + 1):
            first = int(np.searchsorted(squares, down * down + across * across))
            at = places[first:] + np.array([across, down])
            inside = ((at >= 0) & (at < [wide, high])).all(axis=1)
            np.maximum.at(top, at[inside, 1] * wide + at[inside, 0], numbers[first:][inside])
    some = top >= 0
    flat = pixels.reshape(-1, 4)
    flat[some, :3] = inks[order[top[some]]]
    flat[some, 3] = 255


# ---- the page ------------------------------------------------------------------------------------
def _packed(values: Matrix, dtype: str) -> str:
    return base64.b64encode(np.ascontiguousarray(values, dtype).tobytes()).decode()


def _page(
    xy: Matrix,
    radii: Matrix,
    codes: Matrix,
    layers: list[tuple[str, str]],
    ends: tuple[Matrix, Matrix],
    words: list[str],
    named: Matrix,
    behind: bytes,
    facts: dict[str, Any],
) -> str:
    """The picture as an element of a page with its script and all that it shows."""
    data = facts | {
        "x": _packed(xy[:, 0], "<f4"),
        "y": _packed(xy[:, 1], "<f4"),
        "radius": _packed(radii, "<f4"),
        "layer": _packed(codes, "u1"),
        "layers": layers,
        "source": _packed(ends[0], "<u4"),
        "target": _packed(ends[1], "<u4"),
        "names": words,
        "named": named.tolist(),
        "behind": "data:image/png;base64," + base64.b64encode(behind).decode(),
    }
    packed = json.dumps(data, separators=(",", ":")).replace("<", "\\u003c")
    script = (_HERE / "graphs.js").read_text("utf-8")
    return (
        f'<div class="headrace-graph" role="img" aria-label="{html.escape(facts["title"])}">'
        f'<script type="application/json">{packed}</script><script>{script}</script></div>'
    )
