# SPDX-License-Identifier: Apache-2.0
"""PageRank against a dense solve and NetworkX."""

import numpy as np
import pytest
from graphs import atlas, by_vertex, networkx, random_graphs, rmat, same_for_any_threads

import headrace as hr

Graph = hr.graph.Graph


def solved(theirs, alpha, personal=None, dangling=None, weight="weight"):
    """The ranks by definition: a linear system."""
    nodes = sorted(theirs)
    n = len(nodes)
    matrix = networkx.to_numpy_array(theirs, nodelist=nodes, weight=weight)
    anew = np.array([(personal or {}).get(v, 0.0 if personal else 1.0) for v in nodes], float)
    anew /= anew.sum()
    lost = anew
    if dangling:
        lost = np.array([dangling.get(v, 0.0) for v in nodes])
        lost = lost / lost.sum()
    total = matrix.sum(axis=1)
    steps = np.where(total[:, None] > 0, matrix / np.where(total > 0, total, 1)[:, None], lost)
    return np.linalg.solve(np.eye(n) - alpha * steps.T, (1 - alpha) * anew)


def test_atlas():
    for theirs in atlas():
        found = hr.graph.pagerank(Graph(theirs), tol=1e-15, max_iter=1000)
        np.testing.assert_allclose(found.pagerank.to_numpy(), solved(theirs, 0.85), rtol=1e-9)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("multigraph", [False, True])
def test_random_graphs(weighted, multigraph):
    random = np.random.default_rng(0)
    for theirs in random_graphs(60, 5, weighted=weighted, multigraph=multigraph):
        alpha = float(random.choice([0.0, 0.5, 0.85, 0.95]))
        some = random.integers(len(theirs), size=3).tolist()
        personal = {v: 1.0 + v for v in some} if random.integers(2) else None
        dangling = {some[0]: 2.0} if random.integers(2) else None
        found = Graph(theirs).pagerank(
            alpha, personal, 5000, 1e-15, nstart={some[1]: 1}, dangling=dangling
        )
        expected = solved(theirs, alpha, personal, dangling)
        np.testing.assert_allclose(found.pagerank.to_numpy(), expected, rtol=1e-9, atol=1e-15)


def test_stops_as_networkx():
    for theirs in random_graphs(30, 6):
        found = by_vertex(Graph(theirs).pagerank(), "pagerank")
        expected = networkx.pagerank(theirs)
        assert found == pytest.approx(expected, rel=1e-9)


def test_weights_of_other_columns():
    edges = hr.DataFrame({"a": [0, 0, 1], "b": [1, 2, 2], "w": [1.0, 3.0, 1.0], "v": [1, 1, 1]})
    graph = Graph(edges, weight="w", edge_attr="v", directed=True)
    plain = Graph(edges, directed=True).pagerank().pagerank.to_list()
    assert graph.pagerank(weight=None).pagerank.to_list() == plain
    assert graph.pagerank(weight="v").pagerank.to_list() == plain
    assert graph.pagerank().pagerank.to_list() != plain
    with pytest.raises(hr.ColumnNotFoundError, match="weight='u'"):
        graph.pagerank(weight="u")


def test_same_bits_for_any_threads():
    source, target = rmat(15, 8)
    frame = hr.DataFrame({"a": source, "b": target, "w": 1.0 + np.arange(len(source)) % 7})

    def run():
        for options in ({"directed": True}, {}, {"weight": "w"}):
            yield Graph(frame, **options).pagerank(tol=1e-9).pagerank

    same_for_any_threads(run)


def test_large_graph_against_scipy():
    sparse = pytest.importorskip("scipy.sparse")
    source, target = rmat(14, 16)
    graph = Graph(hr.DataFrame({"a": source, "b": target}), directed=True, nodes=1 << 14)
    matrix = sparse.csr_matrix(graph.to_scipy_sparse_array()).astype(float)
    total = matrix.sum(axis=1).A1
    steps = (
        sparse.diags(np.divide(1, total, where=total > 0, out=np.zeros_like(total))) @ matrix
    ).T
    rank = np.full(1 << 14, 1 / (1 << 14))
    for _ in range(200):
        rank = 0.85 * (steps @ rank + rank[total == 0].sum() / len(rank)) + 0.15 / len(rank)
    np.testing.assert_allclose(graph.pagerank(tol=1e-15).pagerank.to_numpy(), rank, rtol=1e-9)


def test_is_one_plan():
    edges = hr.DataFrame({"src": [0, 1, 2, 2], "dst": [1, 2, 0, 3]})
    names = hr.DataFrame({"vertex": [0, 1, 2, 3], "name": ["a", "b", "c", "d"]})
    graph = Graph(edges, directed=True)
    best = graph.pagerank().merge(names).sort_values("pagerank", ascending=False).head(2)
    text = str(best.explain())
    assert text.count("pagerank") and "merge" in text
    assert best.name.to_list() == ["c", "b"]
    both = graph.pagerank().assign(component=graph.connected_components().component)
    assert both[both.component == 0].pagerank.sum() == pytest.approx(1)


def test_errors():
    graph = Graph([(0, 1), (1, 2), (2, 0), (2, 3)], directed=True)
    late = graph.pagerank(tol=1e-12, max_iter=3)
    with pytest.raises(hr.ConvergenceError, match="iterations=3, error=") as info:
        late.pagerank.to_list()
    assert info.value.iterations == 3 and 0 < info.value.error < 1
    with pytest.raises(hr.InvalidArgumentError, match="alpha=2"):
        graph.pagerank(2)
    with pytest.raises(hr.InvalidArgumentError, match="personalization=9"):
        graph.pagerank(personalization={9: 1.0})
    for shares, text in (({0: 0.0}, "all shares are 0"), ({0: -1.0, 1: 2.0}, "negative")):
        with pytest.raises(hr.InvalidArgumentError, match=text):
            graph.pagerank(personalization=shares).pagerank.to_list()
    edges = hr.DataFrame({"a": [0, 1], "b": [1, 2], "w": [1.0, -1.0]})
    with pytest.raises(hr.InvalidArgumentError, match="edge=1"):
        Graph(edges, weight="w").pagerank().pagerank.to_list()
    assert len(Graph().pagerank()) == 0
    frame = hr.DataFrame({"id": [3], "share": [1.0]})
    assert graph.pagerank(personalization=frame).pagerank.to_list()[0] < 1e-5
    assert graph.pagerank(vertices=[2, 0]).vertex.to_list() == [2, 0]


def test_rmat():
    edges = hr.graph.rmat(12, 8, seed=3)
    assert edges.shape == (8 << 12, 2) and str(edges.source.dtype) == "uint32"
    source, target = edges.source.to_numpy(), edges.target.to_numpy()
    assert source.max() < 1 << 12
    degrees = np.sort(np.bincount(np.concatenate([source, target]), minlength=1 << 12))
    # Hubs: one vertex of 64 has a quarter of all ends.
    assert degrees[-64:].sum() > degrees.sum() / 4
    same_for_any_threads(lambda: [hr.graph.rmat(10, seed=5).target])
    assert (hr.graph.rmat(12, 8, seed=4).source.to_numpy() != source).any()
    even = hr.graph.rmat(7, 500, a=0.25, b=0.25, c=0.25)
    counts = np.bincount(even.source.to_numpy(), minlength=128)
    assert ((counts - 500) ** 2 / 500).sum() < 220  # 128 places: 5 deviations
    for scale in (0, 1, 5):
        names = np.unique(hr.graph.rmat(scale, 400, a=0.25, b=0.25, c=0.25).source.to_numpy())
        assert names.tolist() == list(range(1 << scale))
    with pytest.raises(hr.InvalidArgumentError, match=r"a=0\.9"):
        hr.graph.rmat(3, a=0.9)
