# SPDX-License-Identifier: Apache-2.0
"""Breadth-first search against NetworkX and SciPy."""

import numpy as np
import pytest
from graphs import atlas, by_vertex, networkx, random_graphs, rmat, same_for_any_threads

import headrace as hr

Graph = hr.graph.Graph


def check_search(graph, theirs, source, limit=None):
    found = graph.bfs(source, limit)
    levels = networkx.single_source_shortest_path_length(theirs, source, cutoff=limit)
    assert by_vertex(found, "distance") == {v: levels.get(v) for v in sorted(theirs)}
    into = theirs.predecessors if theirs.is_directed() else theirs.neighbors
    before = {
        v: min((u for u in into(v) if levels.get(u) == levels.get(v, -9) - 1), default=None)
        for v in theirs
    }
    assert by_vertex(found, "predecessor") == before


def test_atlas():
    for theirs in atlas():
        check_search(Graph(theirs), theirs, len(theirs) // 2)


def test_random_graphs():
    random = np.random.default_rng(0)
    for theirs in random_graphs(150, 3):
        graph = Graph(theirs)
        limit = None if random.integers(3) else int(random.integers(4))
        check_search(graph, theirs, int(random.integers(len(theirs))), limit)


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("count", [1, 3, 64, 65, 130])
def test_many_searches_are_searches(directed, count):
    random = np.random.default_rng(count)
    for theirs in random_graphs(8, count, directed=directed):
        graph = Graph(theirs)
        sources = random.integers(len(theirs), size=count).tolist()
        limit = None if random.integers(2) else 2
        many = graph.bfs(sources, limit)
        assert many.start.to_list() == np.repeat(sources, len(theirs)).tolist()
        assert many.vertex.to_list() == sorted(theirs) * count
        singles = [graph.bfs(source, limit) for source in sources]
        for name in ("distance", "predecessor"):
            assert many[name].to_list() == [v for one in singles for v in one[name].to_list()]


@pytest.mark.parametrize("directed", [False, True])
def test_large_graph_against_scipy(directed):
    csgraph = pytest.importorskip("scipy.sparse.csgraph")
    source, target = rmat(15, 8)
    graph = Graph(hr.DataFrame({"a": source, "b": target}), directed=directed, nodes=1 << 15)
    matrix = graph.to_scipy_sparse_array()
    starts = [int(source[0]), int(target[7]), 5]
    expected = csgraph.dijkstra(matrix, directed=True, indices=starts, unweighted=True)
    for start, row in zip(starts, expected, strict=True):
        found = np.asarray(graph.bfs(start).distance.fill_null(-1))
        assert (found == np.where(np.isinf(row), -1, row)).all()
    many = np.asarray(graph.bfs(starts).distance.fill_null(-1)).reshape(3, -1)
    assert (many == np.where(np.isinf(expected), -1, expected)).all()


def test_long_paths():
    graph = Graph([(i, i + 1) for i in range(3000)])
    assert graph.bfs(0).distance.to_list() == list(range(3001))
    star = Graph([(0, i) for i in range(1, 5000)])
    assert star.bfs(17).distance.to_list()[:20] == [1] + [2] * 16 + [0, 2, 2]


def test_same_bits_for_any_threads():
    source, target = rmat(14, 8)
    frame = hr.DataFrame({"a": source, "b": target})

    def run():
        for directed in (False, True):
            graph = Graph(frame, directed=directed)
            start = graph.nodes().vertex.to_list()[0]
            found = graph.bfs(start)
            many = graph.bfs([start, int(source[1])])
            for each in (found, many):
                yield from (each[name].fill_null(-1) for name in ("distance", "predecessor"))

    same_for_any_threads(run)


def test_ids_and_errors():
    graph = Graph([("a", "b"), ("b", "c")])
    assert graph.bfs("c").predecessor.to_list() == ["b", "c", None]
    assert graph.bfs("a", vertices=["c"]).distance.to_list() == [2]
    many = graph.bfs(["a", "c"], 1)
    assert many.start.to_list() == ["a"] * 3 + ["c"] * 3
    assert many.distance.to_list() == [0, 1, None, None, 1, 0]
    with pytest.raises(hr.InvalidArgumentError, match="bfs: no such vertex: source='z'"):
        graph.bfs("z")
    with pytest.raises(hr.InvalidArgumentError, match="source='z'"):
        graph.bfs(["a", "z"])
    with pytest.raises(hr.InvalidArgumentError, match="depth_limit=-1"):
        graph.bfs("a", -1)
    assert len(graph.bfs([])) == 0
    keys = hr.DataFrame({"a": [1, 1], "b": ["x", "y"], "c": [1, 2], "d": ["y", "z"]})
    graph = Graph(keys, source=["a", "b"], target=["c", "d"])
    found = graph.bfs((1, "x"))
    assert found.columns == ["vertex_0", "vertex_1", "distance", "predecessor_0", "predecessor_1"]
    assert found.predecessor_1.to_list() == [None, "x", "y"]
