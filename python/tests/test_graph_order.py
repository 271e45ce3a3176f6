# SPDX-License-Identifier: Apache-2.0
"""Strong components and topological order against NetworkX and SciPy."""

import numpy as np
import pytest
from graphs import atlas, by_vertex, networkx, random_graphs, rmat, same_for_any_threads

import headrace as hr

Graph = hr.graph.Graph


def numbered(components, nodes):
    """Components as numbers in the order of their first vertices."""
    made, number = {}, {}
    of = {v: i for i, members in enumerate(components) for v in members}
    for v in sorted(nodes):
        made[v] = number.setdefault(of[v], len(number))
    return made


def check(theirs):
    graph = Graph(theirs)
    found = by_vertex(graph.strongly_connected_components(), "component")
    assert found == numbered(networkx.strongly_connected_components(theirs), theirs)
    made = graph.condensation()
    edges = {
        (found[u], found[v]) for u, v in networkx.DiGraph(theirs).edges() if found[u] != found[v]
    }
    ours = made.edges()
    assert set(zip(ours.source.to_list(), ours.target.to_list(), strict=True)) == edges
    assert made.number_of_edges() == len(edges) and made.is_directed()
    assert by_vertex(made.nodes(), "members") == {
        c: list(found.values()).count(c) for c in set(found.values())
    }
    assert hr.graph.is_directed_acyclic_graph(made)
    acyclic = networkx.is_directed_acyclic_graph(theirs)
    assert hr.graph.is_directed_acyclic_graph(graph) == acyclic
    if not acyclic:
        with pytest.raises(hr.InvalidArgumentError, match="the graph has a cycle"):
            graph.topological_generations().generation.to_list()
        return
    expected = {
        v: number
        for number, some in enumerate(networkx.topological_generations(theirs))
        for v in some
    }
    assert by_vertex(graph.topological_generations(), "generation") == expected
    order = graph.topological_sort().vertex.to_list()
    assert order == sorted(theirs, key=lambda v: (expected[v], v))


@pytest.mark.parametrize("multigraph", [False, True])
@pytest.mark.parametrize("cycles", [False, True])
def test_random_graphs(multigraph, cycles):
    for theirs in random_graphs(150, 11, directed=True, multigraph=multigraph):
        if not cycles:
            theirs.remove_edges_from([edge for edge in theirs.edges() if edge[0] >= edge[1]])
            theirs.remove_edges_from(list(theirs.edges())[::5])
        check(theirs)


def test_atlas():
    for number, theirs in enumerate(atlas()):
        random = np.random.default_rng(number)
        made = networkx.DiGraph()
        made.add_nodes_from(theirs)
        for u, v in theirs.edges():
            made.add_edges_from([[(u, v)], [(v, u)], [(u, v), (v, u)]][random.integers(3)])
        check(made)


@pytest.mark.parametrize("factor", [1, 2, 8])
def test_partition_of_scipy(factor):
    csgraph = pytest.importorskip("scipy.sparse.csgraph")
    source, target = rmat(13, factor)
    graph = Graph(hr.DataFrame({"a": source, "b": target}), directed=True, nodes=1 << 13)
    found = graph.strongly_connected_components().component.to_numpy()
    count, labels = csgraph.connected_components(graph.to_scipy_sparse_array(), connection="strong")
    pairs = np.unique(np.stack([found, labels], 1), axis=0)
    assert len(pairs) == count == found.max() + 1
    assert (np.diff(np.unique(found, return_index=True)[1]) > 0).all()


def test_long_paths_and_cycles():
    # Deeper than a stack of calls would go.
    n = 200_000
    v = np.arange(n)
    path = Graph(hr.DataFrame({"a": v[:-1], "b": v[1:]}), directed=True)
    assert (path.topological_generations().generation.to_numpy() == v).all()
    assert (path.strongly_connected_components().component.to_numpy() == v).all()
    cycles = (v + 1) % 1000 + v // 1000 * 1000
    rings = Graph(hr.DataFrame({"a": v, "b": cycles}), directed=True)
    assert (rings.strongly_connected_components().component.to_numpy() == v // 1000).all()


def test_errors():
    plain = Graph([(0, 1)])
    for name in (
        "strongly_connected_components",
        "condensation",
        "topological_generations",
        "topological_sort",
    ):
        with pytest.raises(hr.InvalidArgumentError, match=f"{name}: the graph is undirected"):
            getattr(plain, name)()
    assert not hr.graph.is_directed_acyclic_graph(plain)
    empty = Graph(directed=True)
    assert len(empty.strongly_connected_components()) == len(empty.topological_sort()) == 0
    assert hr.graph.is_directed_acyclic_graph(empty)
    some = Graph([("b", "a"), ("a", "c")], directed=True).topological_sort()
    assert some.vertex.to_list() == ["b", "a", "c"]


def test_same_bits_for_any_threads():
    source, target = rmat(15, 4)
    graph = Graph(hr.DataFrame({"a": source, "b": target}), directed=True)
    forward = Graph(
        hr.DataFrame({"a": np.minimum(source, target), "b": np.maximum(source, target) + 1}),
        directed=True,
    )

    def run():
        yield graph.strongly_connected_components().component
        yield forward.topological_generations().generation

    same_for_any_threads(run)
