# SPDX-License-Identifier: Apache-2.0
"""The condensed tree of HDBSCAN as a picture."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from headrace.plot.figure import COLORS, GREY, Axes, Plot, room, thinned
from headrace.plot.models import attribute

if TYPE_CHECKING:
    from collections.abc import Iterator

    Numbers = np.ndarray[Any, Any]


class _Cluster(NamedTuple):
    """Where it comes from, at which density, and how many rows it has there."""

    parent: int
    density: float
    rows: int


def dendrogram(hdbscan: Any, *, width: int = 720, height: int = 420) -> Plot:
    """The condensed tree of an `HDBSCAN`: clusters as they split and shrink with density.

    Each cluster is a bar, as wide as it has rows, from the density at which it appears down to the
    one at which it splits or its last rows leave; a density is one over a distance. The clusters
    that were chosen have the colours of their labels, the others are grey.

    >>> rows = [[0.0], [0.1], [0.2], [5.0], [5.1], [5.3], [20.0]]
    >>> model = hr.learn.HDBSCAN(min_cluster_size=3, min_samples=2)
    >>> hr.plot.dendrogram(model.fit(rows))
    Plot('Condensed tree: 2 clusters')
    """
    tree = attribute("dendrogram", hdbscan, "condensed_tree_")[1]
    names = ("parent", "child", "lambda_val", "child_size")
    parent, child, density, size = (np.asarray(tree[name]) for name in names)
    finite = density[np.isfinite(density)]  # equal rows are infinitely dense
    density = np.minimum(density, finite.max() if len(finite) else 1.0)
    root = int(parent.min())
    inner = child >= root
    clusters = {root: _Cluster(root, 0.0, int(size[parent == root].sum()))}
    links = (each[inner].tolist() for each in (child, parent, density, size))
    clusters |= {key: _Cluster(*about) for key, *about in zip(*links, strict=True)}
    chosen = _chosen(hdbscan, parent[~inner], child[~inner], clusters)
    centers = _centers(clusters)
    labels = sorted(chosen.values())[: height // 18]
    halves = [(centers[key], each.rows / 2) for key, each in clusters.items()]
    ends = [(middle - half, middle + half) for middle, half in halves]
    shown = (min(ends)[0], max(end for _, end in ends)), (float(density.max()) * 1.02 or 1.0, 0.0)
    axes = Axes(
        *shown, width, height, grid="y", title=f"Condensed tree: {len(chosen)} clusters",
        x_label="rows", y_label="density", right=room([str(label) for label in labels]),
    )  # fmt: skip
    for key, cluster in clusters.items():
        words, color = f"{cluster.rows:,} rows", GREY
        if key in chosen:
            words, color = f"{words}, label {chosen[key]}", COLORS[chosen[key] % len(COLORS)]
        leaving = parent == key
        stairs = list(_stairs(cluster, density[leaving], size[leaving]))
        outline = [(centers[key] + half, at) for half, at in stairs]
        outline += [(centers[key] - half, at) for half, at in reversed(stairs)]
        axes.outline(outline, color, words)
        axes.line([(centers[cluster.parent], cluster.density), outline[0]], GREY)
    axes.legend((str(label), COLORS[label % len(COLORS)]) for label in labels)
    return axes.plot()


def _chosen(
    hdbscan: Any, parent: Numbers, child: Numbers, clusters: dict[int, _Cluster]
) -> dict[int, int]:
    """The label of each chosen cluster: the one that all rows of the label come from."""
    labels = np.asarray(hdbscan.labels_)
    labels = (labels if len(labels) == min(clusters) else labels[labels > -2])[child]
    made = {}
    for label in np.unique(labels[labels >= 0]).tolist():
        found = set(parent[labels == label].tolist())
        while len(found) > 1:  # a parent has a smaller number than its children
            last = max(found)
            found = found - {last} | {clusters[last].parent}
        made[found.pop()] = label
    return made


def _centers(clusters: dict[int, _Cluster]) -> dict[int, float]:
    """The middle of each cluster, whose parts stand side by side below it."""
    root, parts = min(clusters), {key: [] for key in clusters}  # type: ignore[var-annotated]
    for key, cluster in clusters.items():
        if key != root:
            parts[cluster.parent].append(key)
    order, stack = [], [root]
    while stack:
        order.append(key := stack.pop())
        stack += parts[key]
    gap = clusters[root].rows * 0.03
    below: dict[int, float] = {}  # how wide the parts are
    room: dict[int, float] = {}
    for key in reversed(order):
        below[key] = sum(room[each] + gap for each in parts[key]) - gap
        room[key] = max(clusters[key].rows, below[key])
    made = {root: 0.0}
    for key in order:
        begin = made[key] - below[key] / 2
        for each in reversed(parts[key]):
            made[each] = begin + room[each] / 2
            begin += room[each] + gap
    return made


def _stairs(cluster: _Cluster, density: Numbers, size: Numbers) -> Iterator[tuple[float, float]]:
    """Half the rows that a cluster still has, and at which density, from the top down."""
    order = np.argsort(density, kind="stable")
    density, left = density[order], cluster.rows - np.cumsum(size[order])
    last = np.append(np.flatnonzero(np.diff(density)), len(density) - 1)
    last = last[thinned(len(last))]
    rows = cluster.rows
    yield rows / 2, cluster.density
    for at, then in zip(density[last].tolist(), left[last].tolist(), strict=True):
        yield rows / 2, at
        yield then / 2, at
        rows = then
