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


def test_ranks_without_convergence():
    graph = Graph([(0, 1), (1, 2), (2, 0), (2, 3), (0, 2)], directed=True)
    options = {"max_iter": 3, "tol": 1e-12}
    for name in ("pagerank", "eigenvector_centrality", "katz_centrality", "hits"):
        column = "hubs" if name == "hits" else name
        with pytest.raises(hr.ConvergenceError, match=f"{name}: no convergence: iterations=3"):
            getattr(graph, name)(**options)[column].to_list()
        found = getattr(graph, name)(strict=False, **options)[column].to_list()
        assert len(found) == 4 and np.isfinite(found).all()
        assert any(f"{name}: no convergence: iterations=3" in each[2] for each in hr.advice())
    last = graph.pagerank(strict=False, **options).pagerank.to_numpy()
    asked = hr.DataFrame({"start": [0] * 4, "vertex": [0, 1, 2, 3], "share": [1.0] * 4})
    many = graph.pagerank(personalization=asked, strict=False, **options)
    np.testing.assert_allclose(many.pagerank.to_numpy(), last, rtol=1e-12)
    with pytest.raises(hr.ConvergenceError, match="iterations=3"):
        graph.pagerank(personalization=asked, **options).pagerank.to_list()


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("multigraph", [False, True])
def test_many_at_once(weighted, multigraph):
    random = np.random.default_rng(6)
    for theirs in random_graphs(40, 15, weighted=weighted, multigraph=multigraph):
        n = len(theirs)
        graph = Graph(theirs)
        starts = random.permutation(n)[: random.integers(1, 20)].tolist()
        rows = [(s, int(v), 1.0 + s) for s in starts for v in {s, int(random.integers(n))}]
        names = ("start", "vertex", "share")
        asked = hr.DataFrame(dict(zip(names, zip(*rows, strict=True), strict=True)))
        found = graph.pagerank(personalization=asked, tol=1e-14, max_iter=1000)
        assert found.start.to_list() == [s for s in starts for _ in range(n)]
        assert found.vertex.to_list() == sorted(theirs) * len(starts)
        for place, start in enumerate(starts):
            one = {v: share for s, v, share in rows if s == start}
            expected = graph.pagerank(personalization=one, tol=1e-14, max_iter=1000)
            ours = found.pagerank.to_numpy()[place * n : place * n + n]
            np.testing.assert_allclose(ours, expected.pagerank.to_numpy(), rtol=1e-9, atol=1e-15)
    with pytest.raises(hr.InvalidArgumentError, match="start=99"):
        Graph([(0, 1)]).pagerank(
            personalization=hr.DataFrame({"start": [99], "vertex": [0], "share": [1.0]})
        )
    with pytest.raises(hr.InvalidArgumentError, match="take no nstart"):
        graph.pagerank(personalization=asked, nstart={0: 1.0})


def test_one_of_many_does_not_depend_on_the_others():
    source, target = rmat(10, 8)
    graph = Graph(hr.DataFrame({"a": source, "b": target}), directed=True, nodes=1 << 10)

    def asked(starts):
        share = [1.0] * len(starts)
        return graph.pagerank(
            personalization=hr.DataFrame({"start": starts, "vertex": starts, "share": share})
        )

    many = asked(list(range(0, 200, 10)))
    alone = asked([70]).pagerank.to_numpy()
    assert (many[many.start == 70].pagerank.to_numpy() == alone).all()


def leading(matrix):
    """The leading eigenvector, and whether it stands apart."""
    values, vectors = np.linalg.eig(matrix)
    order = np.argsort(-values.real)
    vector = np.abs(vectors[:, order[0]].real)
    apart = len(values) == 1 or abs(values[order[0]] - values[order[1]]) > 0.05
    return vector, apart and values[order[0]].real > 0.05


@pytest.mark.parametrize("weighted", [False, True])
def test_eigenvector_centrality(weighted):
    graphs = [*atlas()[::3], *random_graphs(60, 16, weighted=weighted)]
    compared = 0
    for theirs in graphs:
        weight = "weight" if weighted and networkx.is_weighted(theirs) else None
        matrix = networkx.to_numpy_array(theirs, nodelist=sorted(theirs), weight=weight)
        expected, is_clear = leading(matrix.T + np.eye(len(theirs)))
        if not is_clear:
            continue
        found = Graph(theirs).eigenvector_centrality(5000, 1e-13, weight=weight)
        ours = found.eigenvector_centrality.to_numpy()
        np.testing.assert_allclose(ours, expected, rtol=1e-7, atol=1e-7)
        compared += 1
    assert compared > 200
    theirs = networkx.karate_club_graph()
    found = by_vertex(Graph(theirs).eigenvector_centrality(), "eigenvector_centrality")
    assert found == pytest.approx(networkx.eigenvector_centrality(theirs), rel=1e-12)
    start = {v: 1.0 + v for v in theirs}
    found = by_vertex(Graph(theirs).eigenvector_centrality(nstart=start), "eigenvector_centrality")
    expected = networkx.eigenvector_centrality(theirs, nstart=start)
    assert found == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("weighted", [False, True])
def test_katz_centrality(weighted):
    random = np.random.default_rng(7)
    for theirs in [*atlas()[::3], *random_graphs(60, 17, weighted=weighted)]:
        weight = "weight" if weighted and networkx.is_weighted(theirs) else None
        nodes = sorted(theirs)
        matrix = networkx.to_numpy_array(theirs, nodelist=nodes, weight=weight)
        alpha = 0.9 / max(np.abs(np.linalg.eigvals(matrix)).max(), 1)
        beta = {v: 1.0 + v for v in nodes} if random.integers(2) else 2.0
        normalized = bool(random.integers(2))
        own = np.array(list(beta.values())) if isinstance(beta, dict) else np.full(len(nodes), beta)
        expected = np.linalg.solve(np.eye(len(nodes)) - alpha * matrix.T, own)
        if normalized:
            expected /= np.linalg.norm(expected)
        found = Graph(theirs).katz_centrality(
            alpha, beta, 5000, 1e-14, normalized=normalized, weight=weight
        )
        np.testing.assert_allclose(found.katz_centrality.to_numpy(), expected, rtol=1e-8)
    theirs = networkx.karate_club_graph()
    found = by_vertex(Graph(theirs).katz_centrality(), "katz_centrality")
    assert found == pytest.approx(networkx.katz_centrality(theirs), rel=1e-12)
    with pytest.raises(hr.ConvergenceError):
        Graph(theirs).katz_centrality(0.5).katz_centrality.to_list()
    with pytest.raises(hr.InvalidArgumentError, match="beta=1 values, vertices=34"):
        Graph(theirs).katz_centrality(beta={0: 1.0})


@pytest.mark.parametrize("weighted", [False, True])
def test_hits(weighted):
    compared = 0
    for theirs in [*atlas()[::3], *random_graphs(80, 18, weighted=weighted)]:
        matrix = networkx.to_numpy_array(theirs, nodelist=sorted(theirs))
        left, values, right = np.linalg.svd(matrix)
        if values[0] == 0 or (len(values) > 1 and values[1] > 0.97 * values[0]):
            continue
        graph = Graph(theirs)
        found = graph.hits(5000, 1e-13)
        hubs, authorities = np.abs(left[:, 0]), np.abs(right[0])
        for name, vector in (("hubs", hubs), ("authorities", authorities)):
            ours = found[name].to_numpy()
            np.testing.assert_allclose(ours, vector / vector.sum(), rtol=1e-7, atol=1e-7)
        raw = graph.hits(5000, 1e-13, normalized=False)
        np.testing.assert_allclose(raw.authorities.to_numpy(), authorities, rtol=1e-7, atol=1e-7)
        np.testing.assert_allclose(raw.hubs.to_numpy(), matrix @ authorities, rtol=1e-7, atol=1e-6)
        compared += 1
    assert compared > 200
    lone = Graph([(0, 0)], nodes=3, directed=True).edge_subgraph(np.array([False]))
    assert len(lone.hits()) == 0
    ours = by_vertex(Graph(networkx.karate_club_graph()).hits(tol=1e-12), "hubs")
    assert ours == pytest.approx(networkx.hits(networkx.karate_club_graph())[0], rel=1e-6)


def test_powers_have_the_same_bits_for_any_threads():
    source, target = rmat(14, 8)
    frame = hr.DataFrame({"a": source, "b": target, "w": 1.0 + np.arange(len(source)) % 7})

    def run():
        for options in ({"directed": True}, {"weight": "w"}):
            graph = Graph(frame, **options)
            weight = options.get("weight")
            yield graph.hits(tol=1e-5).hubs
            yield graph.eigenvector_centrality(tol=1e-4, weight=weight).eigenvector_centrality
            yield graph.katz_centrality(1e-5, weight=weight).katz_centrality
            starts = graph.nodes().vertex.to_list()[:11]
            asked = hr.DataFrame({"start": starts, "vertex": starts, "share": [1.0] * 11})
            yield graph.pagerank(personalization=asked).pagerank

    same_for_any_threads(run)
