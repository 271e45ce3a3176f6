# SPDX-License-Identifier: Apache-2.0
"""Random walks and samples of neighbours: their laws, by counts, and their shape."""

import itertools

import numpy as np
import pytest
from graphs import networkx, random_graphs, rmat, same_for_any_threads

import headrace as hr

stats = pytest.importorskip("scipy.stats")


def fits(counts, shares):
    """Whether counts look like draws with these chances."""
    there = np.asarray(shares) > 0
    assert not np.asarray(counts)[~there].any()
    counts, shares = np.asarray(counts)[there], np.asarray(shares)[there]
    return stats.chisquare(counts, shares / shares.sum() * counts.sum()).pvalue > 1e-4


def test_walks_follow_edges():
    for graph in random_graphs(60, 51):
        ours = hr.graph.Graph(graph)
        ids = ours.nodes().vertex.to_numpy()
        walks = ours.random_walks(length=5, p=0.5, q=2).to_numpy()
        assert walks.shape == (len(graph), 6) and (walks[:, 0] == np.arange(len(graph))).all()
        for walk in walks.tolist():
            for one, other in itertools.pairwise(walk):
                if other >= 0:
                    assert graph.has_edge(ids[one], ids[other])
                else:
                    assert one < 0 or graph.degree(ids[one]) == 0 or not list(graph[ids[one]])


def test_steps_have_the_chances_of_node2vec():
    edges = [(0, 1), (1, 2), (0, 2), (2, 3), (2, 4), (4, 5), (2, 6), (6, 1)]
    graph = networkx.Graph(edges)
    p, q, count = 0.25, 4.0, 60_000
    walks = hr.graph.random_walks(graph, [1] * count, 2, p, q).to_numpy()
    assert fits([(walks[:, 1] == v).sum() for v in sorted(graph[1])], [1] * graph.degree(1))
    at = walks[walks[:, 1] == 2, 2]
    shares = [1 / p if v == 1 else 1.0 if graph.has_edge(v, 1) else 1 / q for v in graph[2]]
    assert fits([(at == v).sum() for v in graph[2]], shares)


def test_weights_of_steps():
    frame = hr.DataFrame({"a": [0, 0, 0, 0], "b": [1, 2, 3, 4], "w": [1.0, 0.0, 2.5, 4.0]})
    graph = hr.graph.Graph(frame, weight="w", directed=True)
    walks = graph.random_walks([0] * 40_000, 1, weight=True).to_numpy()
    assert fits([(walks[:, 1] == v).sum() for v in (1, 2, 3, 4)], [1.0, 0.0, 2.5, 4.0])
    none = hr.DataFrame({"a": [0], "b": [1], "w": [0.0]})
    lone = hr.graph.Graph(none, weight="w").random_walks([0], 2, weight=True)
    assert lone.tolist() == [[0, -1, -1]]


def test_walks_are_the_same_for_any_threads():
    source, target = rmat(12, 8)
    graph = hr.graph.Graph(np.stack([source, target], 1))
    same_for_any_threads(lambda: [graph.random_walks(length=20, p=0.5, q=2)])
    assert (graph.random_walks(random_state=1) != graph.random_walks().to_numpy()).any()
    # A walk is a function of its number: those before others are the same.
    few = graph.random_walks(graph.nodes().vertex.head(10), length=20)
    assert (few.to_numpy() == graph.random_walks(length=20).to_numpy()[:10]).all()


def check_sample(graph, seeds, fanout, replace, found):
    """The edges are edges, each vertex has as many as it should, and all is numbered in turn."""
    ids = graph.nodes().vertex.to_numpy()
    node, row, col = (each.to_numpy() for each in (found.node, found.row, found.col))
    assert ids[node[: len(seeds)]].tolist() == list(seeds) and len(set(node.tolist())) == len(node)
    assert sum(found.num_sampled_nodes) == len(node) and sum(found.num_sampled_edges) == len(row)
    theirs = graph.to_networkx()
    first, edge, seen = 0, 0, len(seeds)
    for hop, most in enumerate(fanout):
        last = first + found.num_sampled_nodes[hop]
        for v in range(first, last):
            begin = edge
            while edge < len(row) and col[edge] == v:
                assert theirs.has_edge(ids[node[row[edge]]], ids[node[v]])
                assert row[edge] <= seen
                seen += row[edge] == seen
                edge += 1
            taken = row[begin:edge].tolist()
            name = ids[node[v]]
            there = set(theirs.predecessors(name) if theirs.is_directed() else theirs[name])
            if replace and there and most >= 0:
                assert len(taken) == most
            else:
                assert len(taken) == (len(there) if most < 0 else min(most, len(there)))
                assert len(set(taken)) == len(taken)
        assert edge == sum(found.num_sampled_edges[: hop + 1])
        first = last
    assert edge == len(row) and seen == len(node)


@pytest.mark.parametrize("replace", [False, True])
def test_samples_of_random_graphs(replace):
    random = np.random.default_rng(6)
    for graph in random_graphs(40, 52, weighted=True):
        ours = hr.graph.Graph(graph)
        ids = ours.nodes().vertex.to_list()
        seeds = random.choice(ids, min(len(ids), 3), replace=False).tolist()
        for fanout in ([2, 3], [-1, 1, 2], [0], []):
            found = ours.neighbor_sample(seeds, fanout, replace)
            check_sample(ours, seeds, fanout, replace, found)
            if found.edge is None:
                continue
            if len(edges := ours.edges()) == 0:
                continue
            node, row, col, edge = (each.to_numpy() for each in found[:4])
            ends = np.array(ids)[node[np.stack([row, col])]]
            there = edges[["source", "target"]].to_numpy()[edge].T
            if not ours.is_directed():
                ends, there = np.sort(ends, axis=0), np.sort(there, axis=0)
            np.testing.assert_array_equal(ends, there)


def test_each_neighbor_is_as_likely():
    star = [(0, v) for v in range(1, 9)]
    counts = np.zeros(9)
    for state in range(3000):
        found = hr.graph.neighbor_sample(star, [0], [3], random_state=state)
        counts[found.node.to_numpy()[1:]] += 1
    assert counts[1:].sum() == 9000
    # Without replacement the counts vary less than those of independent draws.
    assert abs(counts[1:] - 1125).max() < 5 * np.sqrt(1125)
    many = hr.graph.neighbor_sample(star, [0], [8000], replace=True)
    assert fits(np.bincount(many.row.to_numpy())[1:], [1] * 8)


def test_large_samples():
    source, target = rmat(13)
    graph = hr.graph.Graph(np.stack([source, target], 1), directed=True)
    seeds = graph.nodes().vertex.to_list()[:200]
    for fanout in ([15, 10, 5], [100, 2]):
        check_sample(graph, seeds, fanout, False, graph.neighbor_sample(seeds, fanout))
    same_for_any_threads(lambda: graph.neighbor_sample(seeds)[:3])


def test_bad_input():
    graph = hr.graph.Graph([(0, 1)])
    for options, text in [
        ({"p": 0.0}, "biases of 1e-6 to 1e6: p=0"),
        ({"q": float("nan")}, "biases"),
        ({"length": -1}, "number of steps: length=-1"),
        ({"start": [5]}, "no such vertex: start=5"),
        ({"random_state": -1}, "seed=-1"),
    ]:
        with pytest.raises(hr.InvalidArgumentError, match=text):
            graph.random_walks(**options)
    with pytest.raises(hr.InvalidArgumentError, match="a seed repeats"):
        graph.neighbor_sample([0, 0])
    with pytest.raises(hr.InvalidArgumentError, match="fanout=-2"):
        graph.neighbor_sample([0], [-2])
    with pytest.raises(hr.InvalidArgumentError, match="no such vertex: seeds=4"):
        graph.neighbor_sample([4])
    assert graph.random_walks([], 3).shape == (0, 4)
    assert hr.graph.Graph(nodes=2).random_walks(length=1).tolist() == [[0, -1], [1, -1]]
    assert graph.neighbor_sample([]).node.tolist() == []
