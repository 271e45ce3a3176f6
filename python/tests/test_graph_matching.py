# SPDX-License-Identifier: Apache-2.0
"""Matchings, sides and projections against NetworkX."""

import numpy as np
import pytest
from graphs import atlas, by_vertex, networkx, random_graphs, same_for_any_threads

import headrace as hr

bipartite = networkx.bipartite


def pairs_of(frame):
    names = list(frame.columns)
    return list(zip(frame[names[0]].to_list(), frame[names[1]].to_list(), strict=True))


def sided_graphs(count, seed):
    """Random graphs of two sides, their vertices mixed; the vertices of one side."""
    random = np.random.default_rng(seed)
    for _ in range(count):
        n = int(random.integers(2, 30))
        top = random.choice(n, int(random.integers(1, n)), replace=False).tolist()
        others = [v for v in range(n) if v not in top]
        graph = networkx.Graph()
        graph.add_nodes_from(range(n))
        for _ in range(int(random.integers(0, 2 * n))):
            if others:
                graph.add_edge(int(random.choice(top)), int(random.choice(others)))
        yield graph, top


def test_maximal_matching():
    for graph in [*atlas(), *random_graphs(100, 41, directed=False)]:
        found = pairs_of(hr.graph.maximal_matching(graph))
        assert set(found) == networkx.maximal_matching(graph)
        assert networkx.is_maximal_matching(graph, set(found)) or not graph.number_of_edges()


def test_weighted_matching():
    for graph in random_graphs(100, 42, directed=False, weighted=True):
        found = hr.graph.approx_weighted_matching(graph)
        assert networkx.is_matching(graph, set(pairs_of(found)))
        graph.remove_edges_from(list(networkx.selfloop_edges(graph)))
        best = networkx.max_weight_matching(graph)
        weight = found.weight.sum() if len(found) else 0
        assert 2 * weight >= sum(graph.edges[edge]["weight"] for edge in best)
        # The greedy matching by its definition.
        taken, free = [], set(graph)
        ordered = sorted(graph.edges(data="weight"), key=lambda edge: -edge[2])
        for u, v, _ in ordered:
            if u in free and v in free:
                taken.append((u, v))
                free -= {u, v}
        assert sorted(taken) == sorted(pairs_of(found))


def matching_of(found, graph, weighed=True):
    """The weight of a matching and its edges."""
    edges = pairs_of(found)
    ends = [v for edge in edges for v in edge]
    assert len(ends) == len(set(ends))
    return sum(graph.edges[edge]["weight"] if weighed else 1 for edge in edges), len(edges)


def test_matchings_of_the_greatest_weight():
    random = np.random.default_rng(6)
    draws = (
        lambda: int(random.integers(-2, 4)),
        lambda: float(random.integers(1, 200)) / 8,
        lambda: float(random.random()),
    )
    graphs = [*atlas()[::3], *random_graphs(150, 47, directed=False)]
    for graph in graphs:
        draw = draws[random.integers(3)]
        for *_, data in graph.edges(data=True):
            data["weight"] = draw()
        for most in (False, True):
            best = networkx.max_weight_matching(graph, most)
            weight = sum(graph.edges[edge]["weight"] for edge in best)
            found = matching_of(hr.graph.max_weight_matching(graph, most), graph)
            assert found[0] == pytest.approx(weight, rel=1e-12, abs=1e-12)
            assert found[1] == len(best) or not most
        best = networkx.max_weight_matching(graph, True, weight="none")
        found = hr.graph.max_weight_matching(graph, weight=None)
        assert matching_of(found, graph, False)[1] == len(best)


def test_matchings_within_blossoms():
    """Cycles in cycles that shrink, expand and shrink again (NetworkX's hard cases)."""
    nested = [
        *((1, 2, 45), (1, 5, 45), (2, 3, 50), (3, 4, 45), (4, 5, 50), (1, 6, 30)),
        *((3, 9, 35), (4, 8, 35), (5, 7, 26), (9, 10, 5)),
    ]
    graph = networkx.Graph()
    graph.add_weighted_edges_from(nested)
    best = networkx.max_weight_matching(graph)
    found = hr.graph.max_weight_matching(graph)
    assert set(map(frozenset, pairs_of(found))) == set(map(frozenset, best))
    # A ladder of triangles, each of which must be opened again.
    random = np.random.default_rng(2)
    ladder = networkx.Graph()
    for i in range(120):
        ends = ((3 * i, 3 * i + 1), (3 * i + 1, 3 * i + 2), (3 * i, 3 * i + 2), (3 * i, 3 * i + 4))
        for u, v in ends:
            ladder.add_edge(u, v, weight=int(random.integers(8, 12)))
    best = networkx.max_weight_matching(ladder)
    found = matching_of(hr.graph.max_weight_matching(ladder), ladder)
    assert found[0] == sum(ladder.edges[edge]["weight"] for edge in best)


def test_ends_of_the_greatest_weight():
    assert len(hr.graph.Graph().max_weight_matching()) == 0
    assert len(hr.graph.max_weight_matching([(0, 0)])) == 0
    several = hr.DataFrame({"a": [0, 1, 0], "b": [1, 0, 1], "w": [1.0, 5.0, 2.0]})
    graph = hr.graph.Graph(several, weight="w", multigraph=True)
    assert graph.max_weight_matching().w.to_list() == [5.0]
    for factor in (2.0**900, 2.0**-900):
        other = several.assign(w=several.w * factor)
        assert len(hr.graph.Graph(other, weight="w").max_weight_matching()) == 1
    with pytest.raises(hr.InvalidArgumentError, match="max_weight_matching: the graph is dir"):
        hr.graph.max_weight_matching(hr.graph.Graph([(0, 1)], directed=True))
    with pytest.raises(hr.InvalidArgumentError, match="a weight is not finite: edge=0"):
        endless = several[:1].assign(w=float("inf"))
        hr.graph.Graph(endless, weight="w").max_weight_matching()


def test_negative_weights_are_left_out():
    frame = hr.DataFrame({"a": [0, 2, 4], "b": [1, 3, 5], "w": [-1.0, 0.0, 2.0]})
    found = hr.graph.approx_weighted_matching(hr.graph.Graph(frame, weight="w"))
    assert pairs_of(found) == [(2, 3), (4, 5)]


def test_sides():
    for graph in [*atlas(), *random_graphs(80, 43, directed=False)]:
        assert hr.graph.is_bipartite(graph) == networkx.is_bipartite(graph)
        if networkx.is_bipartite(graph):
            ours = by_vertex(hr.graph.bipartite_color(graph), "color")
            assert ours == bipartite.color(graph)
        else:
            with pytest.raises(hr.InvalidArgumentError, match="not bipartite"):
                hr.eval(hr.graph.bipartite_color(graph))


def test_largest_matching():
    for graph, top in sided_graphs(200, 44):
        best = len(bipartite.hopcroft_karp_matching(graph, top)) // 2
        for found in (
            hr.graph.hopcroft_karp_matching(graph, top),
            hr.graph.hopcroft_karp_matching(graph),
        ):
            assert len(found) == best
            assert networkx.is_matching(graph, set(pairs_of(found)))


def test_largest_matching_of_many():
    csgraph = pytest.importorskip("scipy.sparse.csgraph")
    sparse = pytest.importorskip("scipy.sparse")
    random = np.random.default_rng(4)
    n = 3000
    ends = random.integers(0, n, (2, 2 * n))
    matrix = sparse.csr_array((np.ones(2 * n), ends), (n, n))
    best = (csgraph.maximum_bipartite_matching(matrix, perm_type="column") >= 0).sum()
    graph = hr.graph.Graph(np.stack([ends[0], ends[1] + n], 1))
    top = np.unique(ends[0])
    assert len(graph.hopcroft_karp_matching(top)) == best
    same_for_any_threads(lambda: [graph.hopcroft_karp_matching(top)[0]])


def test_projections():
    for graph, top in sided_graphs(100, 45):
        ours = hr.graph.projected_graph(graph, top)
        theirs = bipartite.projected_graph(graph, top)
        assert ours.nodes().vertex.to_list() == sorted(top)
        assert sorted(pairs_of(ours.edges())) == sorted(tuple(sorted(e)) for e in theirs.edges)
        for ratio in (False, True):
            ours = hr.graph.weighted_projected_graph(graph, top, ratio)
            theirs = bipartite.weighted_projected_graph(graph, top, ratio)
            edges = ours.edges()
            found = dict(zip(pairs_of(edges), edges.weight.to_list(), strict=True))
            wanted = {tuple(sorted((u, v))): w for u, v, w in theirs.edges(data="weight")}
            assert found == wanted


def test_bad_input():
    directed = hr.graph.Graph([(0, 1)], directed=True)
    for word in ("maximal_matching", "approx_weighted_matching", "is_bipartite"):
        with pytest.raises(hr.InvalidArgumentError, match=f"{word}: the graph is directed"):
            getattr(hr.graph, word)(directed)
    with pytest.raises(hr.InvalidArgumentError, match="an edge is within a side"):
        hr.graph.hopcroft_karp_matching([(0, 1), (2, 3)], [0, 1])
    with pytest.raises(hr.InvalidArgumentError, match="top_nodes=9"):
        hr.graph.hopcroft_karp_matching([(0, 1)], [9])
    with pytest.raises(hr.InvalidArgumentError, match="no vertices on the other side"):
        hr.graph.weighted_projected_graph([(0, 1)], [0, 1])
    assert hr.graph.is_bipartite(hr.graph.Graph()) and len(hr.graph.Graph().maximal_matching()) == 0
