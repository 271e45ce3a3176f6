# SPDX-License-Identifier: Apache-2.0
"""Cores, triangles and clustering against NetworkX."""

import numpy as np
import pytest
from graphs import atlas, by_vertex, networkx, random_graphs, rmat, same_for_any_threads

import headrace as hr


def without_loops(graph):
    graph.remove_edges_from(list(networkx.selfloop_edges(graph)))
    return graph


def several_kinds():
    yield from atlas()
    yield from random_graphs(150, 3)


def test_core_numbers():
    for graph in several_kinds():
        graph = without_loops(graph)
        assert by_vertex(hr.graph.core_number(graph), "core") == networkx.core_number(graph)


def test_k_core():
    for graph in random_graphs(60, 5, directed=False):
        graph = without_loops(graph)
        for k in (None, 0, 2, 9):
            ours = hr.graph.k_core(graph, k)
            theirs = networkx.k_core(graph, k)
            assert ours.nodes().vertex.to_list() == sorted(theirs.nodes)
            assert ours.number_of_edges() == theirs.number_of_edges()


def test_triangles_and_clustering():
    for graph in [*atlas(), *random_graphs(150, 7, directed=False)]:
        assert by_vertex(hr.graph.triangle_count(graph), "count") == networkx.triangles(graph)
        assert by_vertex(hr.graph.clustering(graph), "clustering") == networkx.clustering(graph)
        assert hr.graph.transitivity(graph) == networkx.transitivity(graph)
        assert hr.graph.average_clustering(graph) == pytest.approx(
            networkx.average_clustering(graph), rel=1e-14
        )


def test_repeated_edges_make_no_triangles():
    edges = [(0, 1), (0, 1), (1, 2), (2, 0), (2, 2)]
    graph = hr.graph.Graph(edges, multigraph=True)
    assert graph.triangle_count()["count"].to_list() == [1, 1, 1]
    assert graph.clustering().clustering.to_list() == [1.0, 1.0, 1.0]


def test_many_vertices():
    source, target = rmat(15, 8)
    keep = source != target
    graph = hr.graph.Graph(np.stack([source[keep], target[keep]], 1))
    theirs = networkx.from_edgelist(zip(source[keep].tolist(), target[keep].tolist(), strict=True))
    assert by_vertex(graph.core_number(), "core") == networkx.core_number(theirs)
    picked = np.argsort(-graph.degree().degree.to_numpy())[::400]
    ids = graph.nodes().vertex.to_numpy()[picked].tolist()
    found = by_vertex(graph.triangle_count(vertices=ids), "count")
    assert found == networkx.triangles(theirs, ids)
    same_for_any_threads(lambda: [graph.core_number().core, graph.triangle_count()["count"]])


def test_bad_graphs():
    with pytest.raises(hr.InvalidArgumentError, match="self loops: self_loops=1"):
        hr.eval(hr.graph.core_number([(0, 1), (1, 1)]))
    directed = hr.graph.Graph([(0, 1)], directed=True)
    for word in ("triangle_count", "clustering", "transitivity"):
        with pytest.raises(hr.InvalidArgumentError, match=f"{word}: the graph is directed"):
            getattr(hr.graph, word)(directed)


def test_small_graphs():
    lone = hr.graph.Graph([], nodes=[5])
    assert lone.core_number().core.to_list() == [0]
    assert lone.triangle_count()["count"].to_list() == [0]
    assert hr.graph.transitivity(lone) == 0
    star = hr.graph.Graph([(0, i) for i in range(1, 70_000)])
    assert star.triangle_count()["count"].sum() == 0
    assert star.core_number().core.to_numpy().tolist() == [1] * 70_000


def test_support_and_trusses():
    for graph in [*atlas(), *random_graphs(100, 9, directed=False)]:
        found = hr.graph.edge_support(graph)
        ends = list(zip(found.source.to_list(), found.target.to_list(), strict=True))
        near = {v: set(graph[v]) - {v} for v in graph}
        wanted = [len(near[u] & near[v]) if u != v else 0 for u, v in ends]
        assert found.support.to_list() == wanted
        graph = without_loops(graph)
        for k in (0, 3, 4, 5):
            ours = hr.graph.k_truss(graph, k)
            theirs = networkx.k_truss(graph, k)
            assert ours.nodes().vertex.to_list() == sorted(theirs.nodes)
            edges = ours.edges()
            pairs = zip(edges.source.to_list(), edges.target.to_list(), strict=True)
            assert set(map(frozenset, pairs)) == set(map(frozenset, theirs.edges))


def test_trusses_of_many():
    source, target = rmat(11, 8, seed=2)
    keep = source != target
    graph = hr.graph.Graph(np.stack([source[keep], target[keep]], 1))
    theirs = graph.to_networkx()
    for k in (4, 12):
        assert graph.k_truss(k).number_of_edges() == networkx.k_truss(theirs, k).number_of_edges()
    support = graph.edge_support().support
    assert support.sum() == graph.triangle_count()["count"].sum()
    same_for_any_threads(lambda: [graph.edge_support().support, graph.k_truss(8).edges()[0]])
    with pytest.raises(hr.InvalidArgumentError, match="k_truss: the graph has self loops"):
        hr.graph.k_truss([(0, 0)], 3)
    with pytest.raises(hr.InvalidArgumentError, match="edge_support: the graph is a multigraph"):
        hr.graph.edge_support(hr.graph.Graph([(0, 1)], multigraph=True))
