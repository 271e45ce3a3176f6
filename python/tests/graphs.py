# SPDX-License-Identifier: Apache-2.0
"""Graphs for tests: NetworkX's atlas, random ones of all kinds, and a comparison by vertex."""

import numpy as np
import pytest

import headrace as hr

networkx = pytest.importorskip("networkx")

THREADS = (1, 2, 4)


def atlas():
    """All 1,253 graphs up to 7 vertices, but the one without any."""
    return [graph for graph in networkx.graph_atlas_g() if len(graph)]


def random_graphs(count, seed, *, directed=None, multigraph=False, weighted=False):
    """Random graphs of NetworkX: sparse and dense, with loops, lone vertices and hubs."""
    random = np.random.default_rng(seed)
    for _ in range(count):
        n = int(random.integers(1, 40))
        m = int(random.integers(0, 3 * n))
        is_directed = bool(random.integers(2)) if directed is None else directed
        kind = ("Multi" if multigraph else "") + ("Di" if is_directed else "")
        graph = getattr(networkx, f"{kind}Graph")()
        graph.add_nodes_from(range(n))
        skew = random.choice([1.0, 3.0])
        ends = (random.random((m, 2)) ** skew * n).astype(int)
        for u, v in ends.tolist():
            weight = {"weight": float(random.integers(1, 9))} if weighted else {}
            graph.add_edge(u, v, **weight)
        yield graph


def by_vertex(frame, column):
    """A column as a dict by vertex."""
    return dict(zip(frame["vertex"].to_list(), frame[column].to_list(), strict=True))


def rmat(scale, edge_factor=16, seed=1):
    """An R-MAT graph's edges as two arrays, by NumPy: a, b, c = .57, .19, .19."""
    random = np.random.default_rng(seed)
    count = edge_factor << scale
    source = np.zeros(count, np.int64)
    target = np.zeros(count, np.int64)
    for _ in range(scale):
        place = np.searchsorted([0.57, 0.76, 0.95], random.random(count))
        source = 2 * source + (place >> 1)
        target = 2 * target + (place & 1)
    names = random.permutation(1 << scale)
    return names[source], names[target]


def same_for_any_threads(run):
    """`run()`, arrays, has the same bytes for 1, 2 and 4 threads."""
    made = []
    for count in THREADS:
        with hr.threads(count):
            made.append([np.asarray(each).tobytes() for each in run()])
    assert all(each == made[0] for each in made)
