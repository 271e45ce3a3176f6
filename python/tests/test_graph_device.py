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
    same(there.louvain(), host.louvain())
    assert "louvain" in str(hr.fallbacks())
    with hr.strict(), pytest.raises(hr.errors.DeviceError):
        hr.eval(there.louvain(seed=1))
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
