# SPDX-License-Identifier: Apache-2.0
"""Spanning trees against NetworkX and SciPy."""

import numpy as np
import pytest
from graphs import atlas, networkx, random_graphs, same_for_any_threads

import headrace as hr


def edges_of(frame):
    names = list(frame.columns)
    return set(zip(frame[names[0]].to_list(), frame[names[1]].to_list(), strict=True))


def kruskal(graph, way):
    method = getattr(networkx, f"{way}_spanning_edges")
    return set(method(graph, data=False))


def test_the_edges_of_kruskal():
    random = np.random.default_rng(3)
    for graph in [*atlas(), *random_graphs(150, 31, directed=False, weighted=True)]:
        if not networkx.is_weighted(graph):
            for *_, data in graph.edges(data=True):
                data["weight"] = int(random.integers(-2, 3))
        for way in ("minimum", "maximum"):
            found = getattr(hr.graph, f"{way}_spanning_edges")(graph)
            assert edges_of(found) == kruskal(graph, way), graph.edges.data()
            tree = getattr(hr.graph, f"{way}_spanning_tree")(graph)
            assert tree.nodes().vertex.to_list() == sorted(graph)
            assert edges_of(tree.edges()) == edges_of(found)


def test_multigraphs_and_no_weights():
    for graph in random_graphs(60, 32, directed=False, multigraph=True, weighted=True):
        found = hr.graph.minimum_spanning_edges(graph)
        theirs = networkx.minimum_spanning_edges(graph, data=True, keys=False)
        if graph.number_of_edges():
            assert found.weight.sum() == sum(data["weight"] for *_, data in theirs)
        parts = networkx.number_connected_components(graph)
        assert len(found) == len(graph) - parts
        assert edges_of(hr.graph.minimum_spanning_edges(graph, weight=None)) == set(
            (u, v) for u, v, _ in networkx.minimum_spanning_edges(graph, weight="none", data=False)
        )


def grid(side, seed):
    """A grid with weights 1 to 255: its edges."""
    numbers = np.arange(side * side).reshape(side, side)
    source = np.concatenate([numbers[:, :-1].ravel(), numbers[:-1].ravel()])
    target = np.concatenate([numbers[:, 1:].ravel(), numbers[1:].ravel()])
    weight = np.random.default_rng(seed).integers(1, 256, len(source)).astype(float)
    return hr.DataFrame({"source": source, "target": target, "weight": weight})


def test_same_weight_as_scipy_for_any_threads():
    csgraph = pytest.importorskip("scipy.sparse.csgraph")
    graph = hr.graph.Graph(grid(200, 1), weight="weight")
    theirs = csgraph.minimum_spanning_tree(graph.to_scipy_sparse_array())
    found = graph.minimum_spanning_edges()
    assert len(found) == len(graph) - 1 == theirs.nnz
    assert found.weight.sum() == theirs.sum()
    same_for_any_threads(lambda: [graph.minimum_spanning_edges().source])


def test_small_graphs_and_bad_input():
    assert len(hr.graph.minimum_spanning_edges(hr.graph.Graph(nodes=3))) == 0
    assert len(hr.graph.Graph().minimum_spanning_edges()) == 0
    lone = hr.graph.minimum_spanning_tree([(0, 0), (0, 1), (1, 0)])
    assert edges_of(lone.edges()) in ({(1, 0)}, {(0, 1)})
    with pytest.raises(hr.InvalidArgumentError, match="minimum_spanning_edges: the graph is dir"):
        hr.graph.minimum_spanning_edges(hr.graph.Graph([(0, 1)], directed=True))
    frame = hr.DataFrame({"a": [0], "b": [1], "w": [float("inf")]})
    with pytest.raises(hr.InvalidArgumentError, match="not finite"):
        hr.graph.Graph(frame, weight="w").maximum_spanning_edges()


@pytest.mark.parametrize("spread", [1e-12, 1.0, 1e300])
def test_weights_that_floats_do_not_tell_apart(spread):
    random = np.random.default_rng(7)
    ends = np.sort(random.integers(0, 60, (700, 2)), 1)
    ends = np.unique(ends[ends[:, 0] != ends[:, 1]], axis=0)
    weights = (1 + spread * random.integers(-9, 9, len(ends))) * random.choice([-1.0, 1.0])
    graph = networkx.Graph()
    for (a, b), weight in zip(ends.tolist(), weights.tolist(), strict=True):
        graph.add_edge(a, b, weight=weight)
    for way in ("minimum", "maximum"):
        found = getattr(hr.graph, f"{way}_spanning_edges")(graph)
        assert edges_of(found) == kruskal(graph, way)


def test_a_long_path_and_a_star():
    side = 200_000
    for weight in (np.arange(side), np.arange(side)[::-1], np.ones(side)):
        frame = hr.DataFrame(
            {"a": np.arange(side), "b": np.arange(side) + 1, "w": weight.astype(float)}
        )
        assert len(hr.graph.Graph(frame, weight="w").minimum_spanning_edges()) == side
        star = hr.DataFrame({"a": np.zeros(side, int), "b": np.arange(side) + 1, "w": weight})
        graph = hr.graph.Graph(star, weight="w")
        assert len(graph.minimum_spanning_edges()) == side
        same_for_any_threads(lambda graph=graph: [graph.minimum_spanning_edges().b])
