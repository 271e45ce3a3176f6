# SPDX-License-Identifier: Apache-2.0
"""Similarity and two-hop neighbours against NetworkX and definitions."""

import itertools
import math

import numpy as np
import pytest
from graphs import atlas, networkx, random_graphs, rmat, same_for_any_threads

import headrace as hr

KINDS = ["jaccard", "overlap", "sorensen", "cosine"]


def expected(kind, common, a, b):
    divisor = {
        "jaccard": a + b - common,
        "overlap": min(a, b),
        "sorensen": (a + b) / 2,
        "cosine": math.sqrt(a * b),
    }[kind]
    return common / divisor if divisor else 0.0


def rows_of(frame):
    return list(zip(*(frame[name].to_list() for name in frame.columns), strict=True))


def test_all_pairs():
    for graph in [*atlas(), *random_graphs(40, 21, directed=False)]:
        pairs = list(itertools.product(graph, graph))
        for kind in KINDS:
            found = getattr(hr.graph, kind)(graph, pairs)
            assert list(found.columns) == ["first", "second", kind]
            for u, v, value in rows_of(found):
                near = [set(graph[u]), set(graph[v])]
                common = len(near[0] & near[1])
                assert value == expected(kind, common, *map(len, near)), (u, v, graph.edges)
        if networkx.number_of_selfloops(graph):
            continue  # NetworkX does not count the two vertices themselves
        theirs = {(u, v): p for u, v, p in networkx.jaccard_coefficient(graph, pairs)}
        assert theirs == {(u, v): p for u, v, p in rows_of(hr.graph.jaccard(graph, pairs))}


def test_weights():
    for graph in random_graphs(30, 22, directed=False, weighted=True):
        pairs = list(itertools.product(graph, graph))
        rows = networkx.to_numpy_array(graph)
        for kind in KINDS:
            for u, v, value in rows_of(getattr(hr.graph, kind)(graph, pairs, weight=True)):
                a, b = rows[u], rows[v]
                if kind == "cosine":
                    wanted = expected(kind, (a * b).sum(), (a * a).sum(), (b * b).sum())
                else:
                    wanted = expected(kind, np.minimum(a, b).sum(), a.sum(), b.sum())
                assert value == pytest.approx(wanted, rel=1e-14)


def test_two_hop_neighbors():
    for graph in [*atlas(), *random_graphs(100, 23)]:
        after = {u: {v for x in graph[u] for v in graph[x] if v != u} for u in graph}
        common = {
            (u, v): sum(v in graph[x] for x in graph[u]) for u in sorted(graph) for v in after[u]
        }
        found = rows_of(hr.graph.two_hop_neighbors(graph))
        wanted = sorted((u, v, n) for (u, v), n in common.items() if graph.is_directed() or u < v)
        assert found == wanted
        some = sorted(graph)[:2][::-1]
        found = rows_of(hr.graph.two_hop_neighbors(graph, some))
        assert found == [(u, v, common[u, v]) for u in some for v in sorted(after[u])]


def test_pairs_by_default_are_those_with_common_neighbors():
    for graph in random_graphs(40, 24, directed=False):
        found = rows_of(hr.graph.jaccard(graph))
        wanted = rows_of(hr.graph.jaccard(graph, [row[:2] for row in found]))
        assert found == wanted and all(value > 0 for *_, value in found)
        assert len(found) == len(hr.graph.two_hop_neighbors(graph))


def test_the_most_similar_of_each_vertex():
    random = np.random.default_rng(5)
    for graph in random_graphs(60, 26, directed=False, weighted=True):
        most = int(random.integers(1, 5))
        weight = "weight" if random.integers(2) and graph.size() else None
        ours = hr.graph.Graph(graph)
        every = hr.graph.two_hop_neighbors(ours, sorted(graph))[["first", "second"]]
        for kind in KINDS:
            found = rows_of(getattr(hr.graph, kind)(ours, weight=weight, top_k=most))
            pairs = rows_of(getattr(hr.graph, kind)(ours, every, weight))
            wanted = []
            for vertex in sorted(graph):
                own = [row for row in pairs if row[0] == vertex]
                wanted += sorted(own, key=lambda row: (-row[2], row[1]))[:most]
            assert found == wanted
    keys = hr.DataFrame({"a": [0, 0], "b": ["x", "y"], "c": [1, 1], "d": ["z", "z"]})
    graph = hr.graph.Graph(keys, source=["a", "b"], target=["c", "d"])
    assert rows_of(graph.jaccard(top_k=3)) == [(0, "x", 0, "y", 1.0), (0, "y", 0, "x", 1.0)]
    with pytest.raises(hr.InvalidArgumentError, match="jaccard: top_k is of all pairs: top_k=2"):
        graph.jaccard([], top_k=2)
    with pytest.raises(hr.InvalidArgumentError, match=r"cosine: expected a positive.*top_k=0"):
        graph.cosine(top_k=0)
    assert len(hr.graph.Graph().overlap(top_k=1)) == 0


def test_hubs_and_several_keys():
    edges = [(0, i) for i in range(1, 3000)] + [(5000, i) for i in range(2990, 3010)]
    graph = hr.graph.Graph(edges)
    assert graph.overlap([(0, 5000), (5000, 0)]).overlap.to_list() == [0.5, 0.5]
    frame = hr.DataFrame({"a": [0, 0], "b": ["x", "y"], "c": [1, 1], "d": ["z", "z"]})
    graph = hr.graph.Graph(frame, source=["a", "b"], target=["c", "d"])
    found = graph.jaccard()
    assert rows_of(found) == [(0, "x", 0, "y", 1.0)]
    assert rows_of(graph.jaccard(hr.DataFrame([(0, "x", 1, "z")])))[0][-1] == 0


def test_same_bits_for_any_threads():
    source, target = rmat(11)
    graph = hr.graph.Graph(np.stack([source, target], 1))
    pairs = np.random.default_rng(1).choice(graph.nodes().vertex.to_numpy(), (20_000, 2))
    same_for_any_threads(
        lambda: [
            graph.cosine(pairs).cosine,
            graph.two_hop_neighbors().common[:100_000],
            graph.cosine(top_k=3).second,
        ]
    )
    matrix = graph.adjacency().to_scipy()
    common = (matrix @ matrix).toarray()
    rows = np.searchsorted(graph.nodes().vertex.to_numpy(), pairs)
    degrees = np.diff(matrix.indptr)
    both = common[rows[:, 0], rows[:, 1]]
    wanted = both / (degrees[rows].sum(axis=1) - both)
    np.testing.assert_array_equal(graph.jaccard(pairs).jaccard.to_numpy(), wanted)


def test_bad_input():
    graph = hr.graph.Graph([(0, 1)])
    with pytest.raises(hr.InvalidArgumentError, match="jaccard: no such vertex: vertex=7"):
        graph.jaccard([(0, 7)])
    with pytest.raises(hr.InvalidArgumentError, match="expected 2 columns of pairs"):
        graph.jaccard([(0, 1, 2)])
    with pytest.raises(hr.InvalidArgumentError, match="jaccard: the graph is directed"):
        hr.graph.jaccard(hr.graph.Graph([(0, 1)], directed=True))
    several = hr.graph.Graph([(0, 1), (0, 1)], multigraph=True)
    with pytest.raises(hr.InvalidArgumentError, match="overlap: the graph is a multigraph"):
        several.overlap()
    frame = hr.DataFrame({"a": [0], "b": [1], "w": [-1.0]})
    with pytest.raises(hr.InvalidArgumentError, match="cosine: a weight is negative"):
        hr.eval(hr.graph.Graph(frame, weight="w").cosine([(0, 1)], weight=True))
    assert len(graph.jaccard([])) == 0 and len(hr.graph.Graph(nodes=1).jaccard()) == 0
