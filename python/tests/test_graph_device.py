# SPDX-License-Identifier: Apache-2.0
"""Graphs on a GPU: the host's bits, and ranks within rounding."""

import numpy as np
import pytest
from headrace.lazy.handle import array_of

import headrace as hr
from headrace import _core

pytestmark = pytest.mark.gpu


@pytest.fixture(autouse=True)
def gpu():
    """A GPU; no step has fallen back so far."""
    if not _core.built_with_cuda() or _core.why_no_cuda():
        pytest.skip("no GPU here")
    _core.clear_fallbacks()


KINDS = ["near", "wide", "narrow"]


def edges(seed, vertices, count, kind="near", loops=True):
    rng = np.random.default_rng(seed)
    ends = (vertices * rng.power(0.4, (2, count))).astype(np.int64)
    if not loops:
        ends = ends[:, ends[0] != ends[1]]
    if kind == "wide":
        ends = ends * 0x1E3779B97F4A7C15 - 2**62
    if kind == "narrow":
        ends = ends.astype(np.int16)
    return hr.DataFrame(
        {"source": ends[0], "target": ends[1], "weight": rng.uniform(0, 9, ends.shape[1])}
    )


def pair(frame, **options):
    """The same graph on the host and made on the device."""
    graphs = [hr.graph.Graph(each, **options) for each in (frame, frame.to("cuda"))]
    assert graphs[1].device == ("cuda:0" if len(frame) else "host")
    return graphs


def same(ours, theirs):
    assert list(ours.columns) == list(theirs.columns)
    for name in theirs.columns:
        assert ours[name].to_list() == theirs[name].to_list(), name


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("options", [{}, {"duplicates": "first"}, {"multigraph": True}])
def test_building(kind, directed, options):
    frame = edges(1, 900, 20_000, kind)
    for weight in (None, "weight"):
        host, there = pair(frame, directed=directed, weight=weight, **options)
        assert there.number_of_nodes() == host.number_of_nodes()
        assert there.number_of_edges() == host.number_of_edges()
        same(there.nodes(), host.nodes())
        mine, its = there.to("cpu")._graph.entries(), host._graph.entries()
        for a, b in zip(mine, its, strict=True):
            assert (a is None) == (b is None)
            if a is not None:
                np.testing.assert_array_equal(*(array_of(x).to_numpy() for x in (a, b)))
        if weight:
            same(there.edges(), host.edges())


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("directed", [False, True])
def test_algorithms(seed, directed):
    vertices, count = [
        (30, 40),
        (900, 30_000),
        (5000, 6000),
        (4, 9),
        (70_000, 500_000),
        (40, 2000),
    ][seed]
    host, there = pair(
        edges(seed, vertices, count, loops=False), directed=directed, weight="weight"
    )
    _core.clear_fallbacks()
    start = host.nodes().vertex.to_list()[0]
    with hr.strict():
        found = {
            "components": there.connected_components(),
            "bfs": there.bfs(start),
            "limited": there.bfs(start, depth_limit=2),
            "core": there.core_number(),
            "paths": there.shortest_path_length(start, weight="weight"),
        }
        if not directed:
            found["triangles"] = there.triangle_count()
        for made in found.values():
            hr.eval(made)
    same(found["components"], host.connected_components())
    same(found["bfs"], host.bfs(start))
    same(found["limited"], host.bfs(start, depth_limit=2))
    same(found["core"], host.core_number())
    same(found["paths"], host.shortest_path_length(start, weight="weight"))
    if not directed:
        same(found["triangles"], host.triangle_count())


def star(leaves):
    """One row of all entries, a few more between the leaves."""
    rng = np.random.default_rng(leaves)
    ends = np.concatenate(
        [
            np.stack([np.zeros(leaves, np.int64), np.arange(1, leaves + 1)]),
            rng.integers(1, leaves + 1, (2, 2 * leaves)),
        ],
        axis=1,
    )
    weights = rng.integers(1, 9, ends.shape[1]).astype(float)
    return hr.DataFrame({"source": ends[0], "target": ends[1], "weight": weights})


COMMUNITIES = [
    (edges(1, 3000, 20_000, loops=False), {}),
    (edges(2, 20_000, 300_000), {}),
    (edges(3, 20_000, 300_000), {"multigraph": True}),
    (edges(4, 100_000, 200_000, "wide"), {}),
    (edges(5, 900, 9000), {}),
    (star(100_000), {}),
]


@pytest.mark.parametrize("case", range(len(COMMUNITIES)))
@pytest.mark.parametrize("name", ["louvain", "leiden"])
def test_communities(case, name):
    frame, options = COMMUNITIES[case]
    host, there = pair(frame, weight="weight", **options)
    _core.clear_fallbacks()
    for chosen in ({"weight": None}, {"weight": "weight"}, {"resolution": 3, "seed": 7}):
        ours, theirs = (getattr(each, name)(**chosen) for each in (there, host))
        hr.eval(ours)
        same(ours, theirs)
    assert not hr.fallbacks()


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("weight", [None, "weight"])
def test_ranks(directed, weight):
    host, there = pair(edges(3, 20_000, 300_000), directed=directed, weight="weight")
    for options in ({}, {"alpha": 0.5}):
        ours = there.pagerank(weight=weight, tol=1e-12, **options).pagerank.to_numpy()
        theirs = host.pagerank(weight=weight, tol=1e-12, **options).pagerank.to_numpy()
        np.testing.assert_allclose(ours, theirs, rtol=1e-12)
    again = there.pagerank(weight=weight, tol=1e-12, alpha=0.5).pagerank.to_numpy()
    np.testing.assert_array_equal(again, ours)
    with pytest.raises(hr.ConvergenceError):
        hr.eval(there.pagerank(max_iter=1, tol=1e-15))


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("size", [(30, 40), (5000, 6000), (20_000, 300_000)])
def test_many_searches(directed, size):
    host, there = pair(edges(11, *size), directed=directed)
    ids = host.nodes().vertex.to_list()
    for asked, limit in ((ids[:3], None), (ids[:: max(1, len(ids) // 130)], 3)):
        _core.clear_fallbacks()
        ours = there.bfs(asked, depth_limit=limit)
        hr.eval(ours)
        assert not hr.fallbacks()
        same(ours, host.bfs(asked, depth_limit=limit))


def near(ours, theirs, bound=1e-11):
    assert list(ours.columns) == list(theirs.columns)
    for name in theirs.columns:
        a, b = ours[name].to_numpy(), theirs[name].to_numpy()
        np.testing.assert_allclose(a, b, rtol=bound, atol=bound * np.abs(b).max())


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("weight", [None, "weight"])
@pytest.mark.parametrize("size", [(300, 2000), (20_000, 300_000)])
def test_powers(directed, weight, size):
    host, there = pair(edges(4, *size), directed=directed, weight="weight")
    for name, options in {
        "eigenvector_centrality": {"tol": 1e-13, "max_iter": 1000},
        "hits": {"tol": 1e-13, "max_iter": 1000},
        "katz_centrality": {"alpha": 1e-6, "tol": 1e-15, "normalized": False},
    }.items():
        _core.clear_fallbacks()
        ours = getattr(there, name)(weight=weight, **options)
        hr.eval(ours)
        assert not hr.fallbacks()
        near(ours, getattr(host, name)(weight=weight, **options))
        again = getattr(there, name)(weight=weight, **options)
        same(again, ours)


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("size", [(40, 60), (400, 3000), (20_000, 300_000)])
def test_betweenness(directed, size):
    host, there = pair(edges(6, *size), directed=directed)
    for options in ({"k": 9, "seed": 3}, {"k": 5, "endpoints": True, "normalized": False}):
        _core.clear_fallbacks()
        ours = there.betweenness_centrality(**options)
        hr.eval(ours)
        assert not hr.fallbacks()
        near(ours, host.betweenness_centrality(**options))


@pytest.mark.parametrize("word", ["jaccard", "overlap", "sorensen", "cosine"])
@pytest.mark.parametrize("size", [(40, 300), (20_000, 300_000)])
def test_similarity(word, size):
    frame = edges(8, *size)
    host, there = pair(frame, weight="weight")
    ids = host.nodes().vertex.to_numpy()
    picked = np.random.default_rng(0).choice(ids, (2, 5000))
    for pairs in (None, hr.DataFrame({"first": picked[0], "second": picked[1]})):
        if pairs is None and size[0] > 100:
            continue
        for weight in (None, "weight"):
            ours, theirs = (getattr(each, word)(pairs, weight=weight) for each in (there, host))
            if weight:
                near(ours, theirs, 1e-14)
            else:
                same(ours, theirs)


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("weight", [None, "weight"])
@pytest.mark.parametrize("biases", [(1, 1), (0.25, 4), (4, 0.5)])
def test_walks(directed, weight, biases):
    host, there = pair(edges(9, 3000, 30_000), directed=directed, weight="weight")
    p, q = biases
    options = {"length": 20, "p": p, "q": q, "weight": weight, "random_state": 5}
    _core.clear_fallbacks()
    ours = there.random_walks(**options)
    assert ours.device == "cuda:0"
    assert not hr.fallbacks()
    np.testing.assert_array_equal(ours.to_numpy(), host.random_walks(**options).to_numpy())


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("fanout", [[5, 3], [-1, 2], [100, 0, 4], [2, -1]])
@pytest.mark.parametrize("replace", [False, True])
def test_sampling(directed, fanout, replace):
    frame = edges(10, 3000, 60_000)
    for weight in (None, "weight"):
        host, there = pair(frame, directed=directed, weight=weight)
        seeds = host.nodes().vertex.to_list()[5:300:7]
        _core.clear_fallbacks()
        ours, theirs = (
            each.neighbor_sample(seeds, fanout, replace, random_state=3) for each in (there, host)
        )
        assert not hr.fallbacks()
        assert ours[4:] == theirs[4:]
        for a, b in zip(ours[:4], theirs[:4], strict=True):
            assert (a is None) == (b is None)
            if a is not None:
                np.testing.assert_array_equal(a.to_numpy(), b.to_numpy())
    with pytest.raises(hr.errors.InvalidArgumentError, match="a seed repeats"):
        there.neighbor_sample([seeds[0], seeds[1], seeds[0]], [1])


def test_star_and_chain():
    """One row of all entries; as many levels as vertices."""
    star = hr.DataFrame({"source": np.zeros(300_000, np.int64), "target": np.arange(1, 300_001)})
    chain = hr.DataFrame({"source": np.arange(3000), "target": np.arange(1, 3001)})
    for frame in (star, chain):
        host, there = pair(frame)
        for name in ("connected_components", "core_number", "triangle_count"):
            same(getattr(there, name)(), getattr(host, name)())
        same(there.bfs(5), host.bfs(5))


def test_moved_and_unsupported():
    """Graphs go there and back; what has no kernel runs on the host, and says so."""
    frame = edges(5, 50, 300, loops=False)
    host = hr.graph.Graph(frame, weight="weight")
    there = host.to("cuda")
    same(there.bfs(1), host.bfs(1))
    same(there.to("cpu").bfs(1), host.bfs(1))
    _core.clear_fallbacks()
    same(there.label_propagation(), host.label_propagation())
    assert "label_propagation" in str(hr.fallbacks())
    with hr.strict(), pytest.raises(hr.errors.DeviceError):
        hr.eval(there.label_propagation(seed=1))
    names = hr.DataFrame({"source": ["a", "b"], "target": ["b", "c"]})
    assert hr.graph.Graph(names.to("cuda")).nodes().vertex.to_list() == ["a", "b", "c"]


def test_bad_input():
    _, there = pair(edges(6, 50, 300, loops=False), weight="weight")
    with pytest.raises(hr.errors.InvalidArgumentError, match="no such vertex"):
        there.bfs(99)
    frame = hr.DataFrame({"source": [0, 1], "target": [1, 2], "weight": [1.0, -1.0]}).to("cuda")
    graph = hr.graph.Graph(frame, weight="weight")
    with pytest.raises(hr.errors.InvalidArgumentError, match="negative: edge=1"):
        hr.eval(graph.shortest_path_length(0, weight="weight"))
    assert graph.number_of_edges() == 2
