# SPDX-License-Identifier: Apache-2.0
"""Shortest paths by weights against NetworkX and SciPy."""

import time

import numpy as np
import pytest
from graphs import atlas, by_vertex, networkx, random_graphs, rmat, same_for_any_threads

import headrace as hr

Graph = hr.graph.Graph


def check_paths(graph, theirs, source, cutoff=None):
    found = graph.shortest_path_length(source, cutoff=cutoff)
    lengths = networkx.single_source_dijkstra_path_length(theirs, source, cutoff=cutoff)
    assert by_vertex(found, "distance") == {v: lengths.get(v) for v in sorted(theirs)}
    before = by_vertex(found, "predecessor")
    for v, length in lengths.items():
        steps, at = 0, v
        while at != source:  # a way back, of the same length
            last = before[at]
            edge = theirs.get_edge_data(last, at)
            weights = edge.values() if theirs.is_multigraph() else [edge]
            ends = [lengths[last] + each.get("weight", 1) for each in weights]
            assert lengths[at] in ends
            at, steps = last, steps + 1
            assert steps < len(theirs)
        assert length is not None
    assert before[source] is None


@pytest.mark.parametrize("multigraph", [False, True])
@pytest.mark.parametrize("least", [0, 1])
def test_random_graphs(multigraph, least):
    random = np.random.default_rng(least)
    for theirs in random_graphs(100, 7, multigraph=multigraph):
        for *_, data in theirs.edges(data=True):
            data["weight"] = float(random.integers(least, 4)) / 4
        cutoff = None if random.integers(2) else float(random.integers(3))
        check_paths(Graph(theirs), theirs, int(random.integers(len(theirs))), cutoff)


def test_atlas():
    for theirs in atlas():
        for u, v, data in theirs.edges(data=True):
            data["weight"] = float((3 * u + 5 * v) % 4)
        check_paths(Graph(theirs), theirs, 0)


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("kind", ["integers", "floats", "apart", "extremes"])
def test_bits_of_scipy(directed, kind):
    csgraph = pytest.importorskip("scipy.sparse.csgraph")
    random = np.random.default_rng(5)
    source, target = rmat(13, 8)
    weights = {
        "integers": random.integers(1, 256, len(source)).astype(float),
        "floats": random.random(len(source)),
        "apart": 10.0 ** random.uniform(-9, 9, len(source)),
        "extremes": 10.0 ** random.uniform(-320, 300, len(source)),
    }[kind]
    edges = hr.DataFrame({"a": source, "b": target, "w": weights})
    graph = Graph(edges, weight="w", directed=directed)
    matrix = graph.to_scipy_sparse_array()
    expected = csgraph.dijkstra(matrix, directed=True, indices=5)
    found = graph.shortest_path_length(graph.nodes().vertex.to_list()[5])
    assert (np.asarray(found.distance.fill_null(np.inf)) == expected).all()


@pytest.mark.parametrize("kind", ["one", "some", "tiny"])
def test_uneven_weights_take_no_longer(kind):
    side = 150
    ids = np.arange(side * side).reshape(side, side)
    source = np.concatenate([ids[:, :-1].ravel(), ids[:-1].ravel()])
    target = np.concatenate([ids[:, 1:].ravel(), ids[1:].ravel()])
    random = np.random.default_rng(2)
    even = random.integers(1, 256, len(source)).astype(float)
    chosen = random.random(len(source))
    uneven = {
        "one": np.where(np.arange(len(source)) == 999, 1e15, even),
        "some": np.where(chosen < 0.05, 1e15, even),
        "tiny": np.where(chosen < 0.85, even * 1e-12, even),
    }[kind]
    seconds = []
    for weights in (even, uneven):
        graph = Graph(hr.DataFrame({"a": source, "b": target, "w": weights}), weight="w")
        hr.eval(graph.shortest_path_length(0).distance)
        times = []
        for _ in range(5):
            begin = time.perf_counter()
            hr.eval(graph.shortest_path_length(0).distance)
            times.append(time.perf_counter() - begin)
        seconds.append(min(times))
    assert seconds[1] < 5 * seconds[0] + 0.01


def test_long_path():
    count = 200_000
    ends = np.arange(count)
    weights = np.where(ends % 3 > 0, 0.0, 10.0 ** (ends % 7))
    edges = hr.DataFrame({"a": ends, "b": ends + 1, "w": weights})
    found = Graph(edges, weight="w").shortest_path_length(0)
    assert (found.distance.to_numpy() == np.concatenate([[0], np.cumsum(weights)])).all()


def test_grid():
    csgraph = pytest.importorskip("scipy.sparse.csgraph")
    side = 150
    random = np.random.default_rng(6)
    place = np.arange(side * side).reshape(side, side)
    source = np.concatenate([place[:, :-1].ravel(), place[:-1].ravel()])
    target = np.concatenate([place[:, 1:].ravel(), place[1:].ravel()])
    edges = hr.DataFrame({"a": source, "b": target, "w": random.integers(1, 256, len(source))})
    graph = Graph(edges, weight="w")
    expected = csgraph.dijkstra(graph.to_scipy_sparse_array(), indices=7)
    assert (graph.shortest_path_length(7).distance.to_numpy() == expected).all()


def test_same_bits_for_any_threads():
    source, target = rmat(13, 8)
    weights = np.arange(len(source)) % 5 / 3
    edges = hr.DataFrame({"a": source, "b": target, "w": weights})

    def run():
        for directed in (False, True):
            graph = Graph(edges, weight="w", directed=directed)
            found = graph.shortest_path_length(graph.nodes().vertex.to_list()[0])
            yield from (found[name].fill_null(-1) for name in ("distance", "predecessor"))

    same_for_any_threads(run)


def test_words_and_errors():
    roads = hr.DataFrame(
        {"a": ["x", "y", "x", "u"], "b": ["y", "z", "z", "v"], "km": [1.0, 1.5, 4.0, 1.0]}
    )
    graph = Graph(roads, weight="km")
    assert graph.shortest_path_length("x", "z") == 2.5
    assert graph.shortest_path_length("x", "z", weight=None) == 1
    assert graph.shortest_path_length("x", cutoff=1).distance.to_list()[2:] == [0.0, 1.0, None]
    assert graph.shortest_path("x", "z").vertex.to_list() == ["x", "y", "z"]
    assert graph.shortest_path("x", "z", weight=None).distance.to_list() == [0, 1]
    assert graph.shortest_path("x", "x").vertex.to_list() == ["x"]
    for call in (graph.shortest_path, graph.shortest_path_length):
        with pytest.raises(hr.InvalidArgumentError, match="no path: source='x', target='u'"):
            call("x", "u")
        with pytest.raises(hr.InvalidArgumentError, match="target='q'"):
            call("x", "q")
    with pytest.raises(hr.InvalidArgumentError, match="cutoff=-1"):
        graph.shortest_path_length("x", cutoff=-1)
    wrong = Graph(roads.assign(km=[1.0, -1.0, 1.0, 1.0]), weight="km")
    with pytest.raises(hr.InvalidArgumentError, match="negative: edge=1"):
        wrong.shortest_path_length("x").distance.to_list()
    alone = Graph(nodes=["a", "b"])
    assert alone.shortest_path_length("b").distance.to_list() == [None, 0]


@pytest.mark.parametrize("multigraph", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
def test_all_shortest_paths(weighted, multigraph):
    graphs = random_graphs(60, 41, weighted=weighted, multigraph=multigraph)
    for graph in [*([] if weighted or multigraph else atlas()[::9]), *graphs]:
        ours, name = Graph(graph), "weight" if weighted else None
        for target in list(graph)[:6]:
            if not networkx.has_path(graph, 0, target):
                with pytest.raises(hr.InvalidArgumentError, match="no path: source=0"):
                    ours.all_shortest_paths(0, target)
                continue
            found = ours.all_shortest_paths(0, target)
            paths = {}
            for path, vertex in zip(found.path.to_list(), found.vertex.to_list(), strict=True):
                paths.setdefault(path, []).append(vertex)
            theirs = sorted(set(map(tuple, networkx.all_shortest_paths(graph, 0, target, name))))
            assert sorted(map(tuple, paths.values())) == theirs
            assert list(paths) == list(range(len(theirs)))
            lengths = found.distance.to_list()
            assert lengths[-1] == networkx.shortest_path_length(graph, 0, target, name)


def test_more_shortest_paths_than_rows():
    side = 24
    grid = Graph(networkx.convert_node_labels_to_integers(networkx.grid_2d_graph(side, side)))
    with pytest.raises(hr.UnsupportedError, match="paths=8233430727600"):
        grid.all_shortest_paths(0, side * side - 1)
    assert len(grid.all_shortest_paths(0, 2 * side + 2)) == 6 * 5
    free = Graph(hr.DataFrame({"a": [0, 1], "b": [1, 2], "w": [1.0, 0.0]}), weight="w")
    with pytest.raises(hr.InvalidArgumentError, match="not positive: edge=1"):
        free.all_shortest_paths(0, 2)


def test_a_hub_that_is_often_improved_is_expanded_once() -> None:
    """A hub with as many edges as ways to it, each shorter than the one before."""
    count, hub = 40_000, 40_001
    mids, leaves = np.arange(1, count + 1), np.arange(hub + 1, hub + 1 + count)
    ways = 1 + (count - np.arange(count)) / count
    frame = hr.DataFrame(
        {
            "a": np.concatenate([np.zeros(count, int), mids, np.full(count, hub)]),
            "b": np.concatenate([mids, np.full(count, hub), leaves]),
            "w": np.concatenate([np.ones(count), ways, np.ones(count)]),
        }
    )
    graph = Graph(frame, weight="w", directed=True)
    begin = time.process_time()
    found = graph.shortest_path_length(0)
    assert time.process_time() - begin < 1  # 0.02 s; 2.3 s when each improvement is followed
    distances = dict(zip(found.vertex.to_list(), found.distance.to_list(), strict=True))
    assert distances[hub] == 1 + ways[-1]
    assert all(distances[leaf] == 2 + ways[-1] for leaf in leaves.tolist())
