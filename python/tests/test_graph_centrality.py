# SPDX-License-Identifier: Apache-2.0
"""Centralities by shortest paths against NetworkX."""

import random as chance

import numpy as np
import pytest
from graphs import atlas, by_vertex, networkx, random_graphs, rmat, same_for_any_threads

import headrace as hr

Graph = hr.graph.Graph


class Chosen(chance.Random):
    """Draws what it is told."""

    def __init__(self, nodes):
        self.nodes = nodes

    def sample(self, population, k):
        return self.nodes


def same(frame, column, expected):
    assert by_vertex(frame, column) == pytest.approx(expected, rel=1e-9, nan_ok=True)


def by_ends(rows, directed):
    """Values of edges by their ends; of several between two vertices in order."""
    made = {}
    for u, v, value in rows:
        made.setdefault((u, v) if directed else frozenset((u, v)), []).append(value)
    return {ends: sorted(values) for ends, values in made.items()}


def same_edges(frame, expected, directed):
    ours = by_ends(zip(*(frame[n].to_list() for n in frame.columns), strict=True), directed)
    theirs = by_ends(((*edge[:2], value) for edge, value in expected.items()), directed)
    assert ours.keys() == theirs.keys()
    for ends, values in theirs.items():
        assert ours[ends] == pytest.approx(values, rel=1e-9)


def test_betweenness_of_the_atlas():
    for theirs in atlas():
        graph = Graph(theirs)
        same(graph.betweenness_centrality(), "betweenness", networkx.betweenness_centrality(theirs))
        expected = networkx.edge_betweenness_centrality(theirs)
        same_edges(graph.edge_betweenness_centrality(), expected, False)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("multigraph", [False, True])
def test_betweenness_of_random_graphs(weighted, multigraph):
    random = np.random.default_rng(1)
    for theirs in random_graphs(50, 8, weighted=weighted, multigraph=multigraph):
        graph, nodes, directed = Graph(theirs), len(theirs), theirs.is_directed()
        options = {
            "normalized": bool(random.integers(2)),
            "weight": "weight" if weighted and theirs.size() else None,
        }
        endpoints = bool(random.integers(2))
        some = sorted(random.permutation(nodes)[: random.integers(1, nodes + 1)].tolist())
        for ours, its in (({}, {}), ({"sources": some}, {"k": len(some), "seed": Chosen(some)})):
            found = graph.betweenness_centrality(endpoints=endpoints, **ours, **options)
            expected = networkx.betweenness_centrality(
                theirs, endpoints=endpoints, **its, **options
            )
            same(found, "betweenness", expected)
            found = graph.edge_betweenness_centrality(**ours, **options)
            expected = networkx.edge_betweenness_centrality(theirs, **its, **options)
            same_edges(found, expected, directed)


def test_betweenness_of_samples():
    graph = Graph(networkx.karate_club_graph())
    everything = graph.betweenness_centrality().betweenness.to_numpy()
    assert (graph.betweenness_centrality(k=34).betweenness.to_numpy() == everything).all()
    some = [graph.betweenness_centrality(k=10, seed=s).betweenness.to_numpy() for s in (0, 0, 1)]
    assert (some[0] == some[1]).all() and (some[0] != some[2]).any()
    assert np.corrcoef(some[0], everything)[0, 1] > 0.8
    assert graph.betweenness_centrality(vertices=[33, 0]).vertex.to_list() == [33, 0]
    for options, text in (
        ({"k": 35}, "k=35"),
        ({"k": 0}, "k=0"),
        ({"sources": [99]}, "sources=99"),
        ({"sources": [1, 1]}, "twice"),
        ({"sources": [1], "k": 2}, "k=2"),
    ):
        with pytest.raises(hr.InvalidArgumentError, match=text):
            graph.betweenness_centrality(**options)
    assert len(Graph().betweenness_centrality()) == 0
    assert len(Graph().edge_betweenness_centrality()) == 0


def test_betweenness_joins_edges():
    edges = hr.DataFrame({"a": [0, 1, 1, 0], "b": [1, 2, 2, 1], "w": [1.0, 2.0, 3.0, 4.0]})
    graph = Graph(edges, weight="w")
    found = graph.edge_betweenness_centrality(normalized=False)
    both = graph.edges().assign(found=found.betweenness)
    assert both.w.to_list() == [3.0, 4.0] and both.found.to_list() == [2.0, 2.0]


def test_weights_of_betweenness():
    edges = hr.DataFrame({"a": [0, 1], "b": [1, 2], "w": [1.0, 0.0]})
    with pytest.raises(hr.InvalidArgumentError, match="a weight is 0: edge=1"):
        Graph(edges, weight="w").betweenness_centrality(weight=True).betweenness.to_list()
    found = Graph(edges, weight="w").betweenness_centrality()
    assert found.betweenness.to_list() == [0, 1, 0]
    # 2^1100 shortest paths from end to end.
    corners = ((0, 1), (0, 2), (1, 3), (2, 3))
    squares = [(3 * i + a, 3 * i + b) for i in range(1100) for a, b in corners]
    with pytest.raises(hr.InvalidArgumentError, match="more shortest paths"):
        Graph(squares).betweenness_centrality(sources=[0]).betweenness.to_list()


def test_closeness_of_the_atlas():
    for theirs in atlas():
        graph = Graph(theirs)
        same(
            graph.closeness_centrality(),
            "closeness_centrality",
            networkx.closeness_centrality(theirs),
        )
        same(
            graph.harmonic_centrality(), "harmonic_centrality", networkx.harmonic_centrality(theirs)
        )


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("multigraph", [False, True])
def test_closeness_of_random_graphs(weighted, multigraph):
    random = np.random.default_rng(2)
    for theirs in random_graphs(60, 9, weighted=weighted, multigraph=multigraph):
        graph = Graph(theirs)
        improved = bool(random.integers(2))
        distance = "weight" if weighted and theirs.size() else None
        found = graph.closeness_centrality(distance=distance, wf_improved=improved)
        expected = networkx.closeness_centrality(theirs, distance=distance, wf_improved=improved)
        same(found, "closeness_centrality", expected)
        one = int(random.integers(len(theirs)))
        assert graph.closeness_centrality(
            one, distance=distance, wf_improved=improved
        ) == pytest.approx(expected[one])
        expected = networkx.harmonic_centrality(theirs, distance=distance)
        same(graph.harmonic_centrality(distance=distance), "harmonic_centrality", expected)
        some = sorted(random.permutation(len(theirs))[:3].tolist())
        expected = networkx.harmonic_centrality(theirs, sources=some, distance=distance)
        found = graph.harmonic_centrality(sources=some, distance=distance)
        same(found, "harmonic_centrality", expected)


def test_closeness_of_many_batches():
    theirs = networkx.gnm_random_graph(300, 900, seed=1, directed=True)
    graph = Graph(theirs)
    same(
        graph.closeness_centrality(), "closeness_centrality", networkx.closeness_centrality(theirs)
    )
    same(graph.harmonic_centrality(), "harmonic_centrality", networkx.harmonic_centrality(theirs))
    some = graph.closeness_centrality(vertices=[7, 3])
    assert some.vertex.to_list() == [7, 3]
    with pytest.raises(hr.InvalidArgumentError, match="u=999"):
        graph.closeness_centrality(999)
    assert len(Graph().closeness_centrality()) == len(Graph().harmonic_centrality()) == 0


def test_same_bits_for_any_threads():
    source, target = rmat(10, 8)
    frame = hr.DataFrame({"a": source, "b": target, "w": 1.0 + np.arange(len(source)) % 7})

    def run():
        for options in ({"directed": True}, {"weight": "w"}):
            graph = Graph(frame, **options)
            weight = options.get("weight")
            yield graph.betweenness_centrality(k=200, weight=weight).betweenness
            yield graph.edge_betweenness_centrality(k=100, weight=weight).betweenness
            yield graph.closeness_centrality(distance=weight).closeness_centrality
            yield graph.harmonic_centrality(distance=weight).harmonic_centrality

    same_for_any_threads(run)
