# SPDX-License-Identifier: Apache-2.0
"""hr.graph compared with SciPy, pandas, NetworKit and igraph: ./dev bench graphs [--rows N]."""

from __future__ import annotations

import importlib.util
import sys
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any

sys.path.pop(0)  # this folder: csv.py here is not Python's
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import numpy as np
import pandas as pd
import scipy.sparse
from measure import WORKERS, Bench, Rival, close_to, equal, run
from scipy.sparse import csgraph

import headrace as hr

EDGE_FACTOR = 16
HAS_NETWORKIT, HAS_IGRAPH, HAS_PECANPY = (
    importlib.util.find_spec(name) is not None for name in ("networkit", "igraph", "pecanpy")
)
PACKAGES = (
    ["numpy", "scipy", "pandas", "networkx"]
    + ["networkit"] * HAS_NETWORKIT
    + ["igraph"] * HAS_IGRAPH
    + ["pecanpy"] * HAS_PECANPY
)
ALPHA, ITERATIONS = 0.85, 20
#: Rivals that no package has.
MISSING = {
    "bfs, shortest paths, components, triangles": ("gap", "a program of C++ in no registry"),
    "sample of neighbours": ("pyg-lib", "in no registry"),
}


def _matrix(source: Any, target: Any, n: int) -> tuple[Any, Any]:
    """SciPy's rows and columns of edges; those that repeat are one."""
    ones = np.ones(len(source), np.float32)
    made = scipy.sparse.csr_matrix((ones, (source, target)), (n, n))
    made.sum_duplicates()
    made.data[:] = 1
    return made, made.T.tocsr()


def _same_rows(ours: hr.graph.Graph, theirs: tuple[Any, Any]) -> str:
    made = ours.adjacency()
    np.testing.assert_array_equal(np.asarray(made.indptr), theirs[0].indptr)
    np.testing.assert_array_equal(np.asarray(made.indices), theirs[0].indices)
    np.testing.assert_array_equal(np.asarray(ours.in_degree().in_degree), np.diff(theirs[1].indptr))
    return "equal rows"


def building(bench: Bench, source: Any, target: Any, n: int) -> None:
    """Edges to rows by source and by target, of ids that are near each other or not."""
    m = len(source)
    wide = [
        (x.astype(np.int64) * 0x1E3779B97F4A7C15) & 0x7FFFFFFFFFFFFFFF for x in (source, target)
    ]
    names = [pd.array(x.astype(str), "string[pyarrow]") for x in (source, target)]

    def ours(ends: list[Any], **options: Any) -> hr.graph.Graph:
        edges = hr.DataFrame({"source": ends[0], "target": ends[1]})
        hr.eval(edges)

        def build() -> hr.graph.Graph:
            graph = hr.graph.Graph(edges, directed=True, **options)
            hr.eval(graph.in_degree())  # makes the rows by target
            return graph

        return build

    def theirs(ends: list[Any]) -> Any:
        codes, ids = pd.factorize(pd.concat([pd.Series(x) for x in ends]), sort=True)
        return _matrix(codes[:m], codes[m:], len(ids))

    cases = [
        ("near ids", [source, target], {"nodes": n}, lambda: _matrix(source, target, n), 4),
        ("wide ids", wide, {}, lambda: theirs(wide), 4),
        ("strings", names, {}, lambda: theirs(names), 3),
    ]
    for title, ends, options, rival, bar in cases:
        work = [Rival("scipy", rival, bar)]
        bench.step(f"edges of {title}", ours(ends, **options), work, _same_rows, 16 * m, m)


def _scipy_ranks(matrix: Any) -> Any:
    """PageRank by products, as NetworkX does it, of a given number of steps."""
    n = matrix.shape[0]
    total = np.asarray(matrix.sum(axis=1)).ravel()
    inverse = np.divide(1, total, where=total > 0, out=np.zeros(n))
    steps = (scipy.sparse.diags(inverse) @ matrix).T.tocsr()

    def ranks() -> Any:
        rank = np.full(n, 1 / n)
        for _ in range(ITERATIONS):
            before = rank
            rank = ALPHA * (steps @ rank + rank[total == 0].sum() / n) + (1 - ALPHA) / n
            np.abs(rank - before).sum()  # which tells whether to stop
        return rank

    return ranks


def pagerank(bench: Bench, title: str, graph: hr.graph.Graph, matrix: Any, bar: float) -> None:
    """Twenty steps of PageRank."""
    bench.step(
        title,
        lambda: graph.pagerank(max_iter=ITERATIONS, tol=0, strict=False).pagerank.to_numpy(),
        [Rival("scipy", _scipy_ranks(matrix), bar)],
        close_to(1e-12),
        ITERATIONS * 12 * matrix.nnz,
        ITERATIONS * matrix.nnz,
    )


def communities(bench: Bench, title: str, graph: hr.graph.Graph, methods: list[str]) -> None:
    """Louvain and Leiden, judged by modularity."""
    if not any(bench.wants(title.format(method)) for method in methods):
        return
    n = graph.number_of_nodes()
    upper = scipy.sparse.triu(graph.to_scipy_sparse_array()).tocoo()
    rivals: dict[str, list[Rival]] = {"louvain": [], "leiden": []}
    if HAS_NETWORKIT:
        import networkit

        networkit.setNumberOfThreads(WORKERS)
        theirs = networkit.GraphFromCoo((upper.row, upper.col), n=n)
        for method, name, bar in (("louvain", "PLM", 1.2), ("leiden", "ParallelLeiden", None)):
            found = getattr(networkit.community, name)
            rivals[method].append(
                Rival("networkit", partial(_labels, found, theirs), bar, _as_good(graph))
            )
    if HAS_IGRAPH:
        import igraph

        other = igraph.Graph(n, np.stack([upper.row, upper.col], 1))
        found = {
            "louvain": (lambda: np.array(other.community_multilevel().membership), 4),
            "leiden": (
                lambda: np.array(
                    other.community_leiden("modularity", n_iterations=2).membership,
                ),
                3,
            ),
        }
        for method, (labels, bar) in found.items():
            rivals[method].append(Rival("igraph", labels, bar, _as_good(graph, 0.995)))
    for method in methods:
        bench.step(
            title.format(method),
            lambda method=method: getattr(graph, method)().community.to_numpy(),
            rivals[method],
            None,
            8 * len(upper.row),
            2 * len(upper.row),
        )


def algorithms(bench: Bench, source: Any, target: Any, n: int) -> None:
    """Ranks, searches and components; the graph is there."""
    edges = hr.DataFrame({"source": source, "target": target})
    directed = hr.graph.Graph(edges, directed=True, nodes=n)
    hr.eval(directed.in_degree())
    plain = hr.graph.Graph(edges, nodes=n)
    matrix = _matrix(source, target, n)[0].astype(np.float64)
    both = scipy.sparse.csr_matrix(plain.to_scipy_sparse_array())
    start = int(np.argmax(np.diff(both.indptr)))
    starts = np.flatnonzero(np.diff(both.indptr))[:64].tolist()
    words = ["bfs", "components", "core", "triangles"]
    rivals: dict[str, list[Rival]] = {word: [] for word in words}
    if HAS_NETWORKIT:
        import networkit

        networkit.setNumberOfThreads(WORKERS)
        upper = scipy.sparse.triu(both).tocoo()
        graph = networkit.GraphFromCoo((upper.row, upper.col), n=n)

        def search() -> Any:
            found = networkit.distance.BFS(graph, start, storePaths=False).run()
            levels = np.array(found.getDistances())
            return np.where(levels > n, -1, levels)

        def parts() -> Any:
            found = networkit.components.ConnectedComponents(graph).run()
            return np.array(found.getPartition().getVector())

        simple = networkit.graphtools.toUnweighted(graph)
        simple.removeSelfLoops()
        simple.indexEdges()

        def cores() -> Any:
            return np.array(networkit.centrality.CoreDecomposition(simple).run().scores(), int)

        def triangles() -> Any:
            score = networkit.sparsification.TriangleEdgeScore(simple)
            score.run()
            return sum(score.scores()) // 3

        rivals["core"].append(Rival("networkit", cores, 3))
        rivals["triangles"].append(Rival("networkit", triangles, 2.5))
        rivals["bfs"].append(Rival("networkit", search))
        rivals["components"].append(Rival("networkit", parts, None, _same_parts))

    def levels(of: Any) -> Any:
        found = csgraph.dijkstra(both, indices=of, unweighted=True)
        return np.where(np.isinf(found), -1, found).ravel()

    entries = both.nnz
    pagerank(bench, "pagerank of 20 steps", directed, matrix, 3 if n < 1 << 22 else 4.5)
    bench.step(
        "bfs",
        lambda: np.asarray(plain.bfs(start).distance.fill_null(-1)),
        [Rival("scipy", lambda: _levels(both, start), 4), *rivals["bfs"]],
        equal,
        4 * entries,
        entries,
    )
    bench.step(
        "64 bfs",
        lambda: np.asarray(plain.bfs(starts).distance.fill_null(-1)),
        [Rival("scipy", lambda: np.concatenate([_levels(both, s) for s in starts]), 8)],
        equal,
        4 * entries,
        64 * entries,
    )
    lengths = np.random.default_rng(3).integers(1, 256, len(source)).astype(float)
    weighted = hr.graph.Graph(
        edges.assign(weight=lengths), weight="weight", nodes=n, duplicates="min"
    )
    paths(bench, "shortest paths", weighted, start)
    bench.step(
        "components",
        lambda: plain.connected_components().component.to_numpy(),
        [
            Rival("scipy", lambda: csgraph.connected_components(both, False)[1], 4),
            *rivals["components"],
        ],
        equal,
        4 * entries,
        entries,
    )
    loopless = hr.graph.Graph(edges[edges.source != edges.target], nodes=n)
    bench.step(
        "core number",
        lambda: loopless.core_number().core.to_numpy(),
        rivals["core"],
        equal,
        4 * entries,
        entries,
    )
    bench.step(
        "triangles",
        lambda: int(plain.triangle_count()["count"].sum()) // 3,
        rivals["triangles"],
        equal,
        4 * entries,
        entries,
    )


def paths(bench: Bench, title: str, graph: hr.graph.Graph, start: int) -> None:
    """The lengths of the shortest paths from a vertex."""
    if not bench.wants(title):
        return
    matrix = scipy.sparse.csr_matrix(graph.to_scipy_sparse_array(weight="weight"))
    bench.step(
        title,
        lambda: graph.shortest_path_length(start).distance.fillna(np.inf).to_numpy(),
        [Rival("scipy", lambda: csgraph.dijkstra(matrix, indices=start), 10)],
        equal,
        12 * matrix.nnz,
        matrix.nnz,
    )


def centralities(bench: Bench, source: Any, target: Any, n: int) -> None:
    """Shortest paths from many vertices, and strong components."""
    edges = hr.DataFrame({"source": source, "target": target})
    directed = hr.graph.Graph(edges, directed=True, nodes=n)
    hr.eval(directed.in_degree())
    matrix = _matrix(source, target, n)[0]
    bench.step(
        "strong components",
        lambda: directed.strongly_connected_components().component.to_numpy(),
        [Rival("scipy", lambda: csgraph.connected_components(matrix, connection="strong")[1], 2)],
        _same_parts,
        8 * matrix.nnz,
        matrix.nnz,
    )
    plain = hr.graph.Graph(edges, nodes=n)
    starts = np.random.default_rng(2).choice(n, 64, replace=False)
    both = scipy.sparse.triu(scipy.sparse.csr_matrix(plain.to_scipy_sparse_array()), 1).tocoo()
    rivals = []
    if HAS_IGRAPH:
        import igraph

        alike = igraph.Graph(n, np.stack([both.row, both.col], 1))
        # Its sums are halves; ours stand for all sources, a source not being between its own.
        scale = np.full(n, (n - 1) / len(starts))
        scale[starts] = (n - 1) / (len(starts) - 1)

        def exact() -> Any:
            sums = alike.betweenness(directed=False, sources=starts.tolist(), targets=range(n))
            return np.array(sums) * scale

        rivals.append(Rival("igraph", exact, 3, close_to(1e-9)))
    if HAS_NETWORKIT:
        import networkit

        networkit.setNumberOfThreads(WORKERS)
        graph = networkit.graphtools.toUnweighted(networkit.GraphFromCoo((both.row, both.col), n=n))

        def sampled() -> Any:
            return networkit.centrality.EstimateBetweenness(graph, 64, False, True).run().scores()

        rivals.append(Rival("networkit", sampled, 3, _alike))
    bench.step(
        "betweenness of 64 sources",
        lambda: plain.betweenness_centrality(
            sources=starts, normalized=False
        ).betweenness.to_numpy(),
        rivals,
        None,
        64 * 8 * plain.number_of_edges(),
        64 * plain.number_of_edges(),
    )
    if not HAS_IGRAPH:
        return
    import igraph

    # As sparse as the power grid of the western United States, and as many vertices.
    random = np.random.default_rng(1)
    around = np.arange(4941)
    grid = np.stack([around, (around + 1) % 4941], 1)
    pairs = np.concatenate([grid, np.stack([random.integers(0, 4941, 1653) for _ in "ab"], 1)])
    pairs = pairs[pairs[:, 0] != pairs[:, 1]]
    small = hr.graph.Graph(pairs)
    ends = small.edges()
    theirs = igraph.Graph(4941, np.stack([ends[c].to_numpy() for c in ends.columns], 1).tolist())
    for word, ours, rival, bar in (
        (
            "betweenness of 4,941 vertices",
            lambda: small.betweenness_centrality(normalized=False).betweenness.to_numpy(),
            theirs.betweenness,
            2,
        ),
        (
            "closeness of 4,941 vertices",
            lambda: small.closeness_centrality().closeness_centrality.to_numpy(),
            theirs.closeness,
            2,
        ),
    ):
        work = [Rival("igraph", lambda rival=rival: np.array(rival()), bar)]
        bench.step(word, ours, work, close_to(1e-9), 4941 * 8 * len(ends), 4941 * len(ends))


def _alike(ours: Any, theirs: Any) -> str:
    """Estimates from different samples: exact answers are compared in the next row."""
    found = float(np.corrcoef(ours, np.asarray(theirs))[0, 1])
    return f"other sources, correlation {found:.2f}"


def structure(bench: Bench, source: Any, target: Any, n: int) -> None:
    """Pairs of vertices, spanning trees, labels, walks and samples."""
    loopless = source != target
    edges = hr.DataFrame({"source": source[loopless], "target": target[loopless]})
    plain = hr.graph.Graph(edges, nodes=n)
    both = scipy.sparse.csr_matrix(plain.to_scipy_sparse_array())
    upper = scipy.sparse.triu(both).tocoo()
    random = np.random.default_rng(1)
    pairs = random.integers(0, n, (10 * len(source) // 16, 2))
    pairs = pairs[pairs[:, 0] != pairs[:, 1]]  # igraph has 1 for lone vertices and themselves
    rivals: dict[str, list[Rival]] = {"jaccard": [], "labels": []}
    if HAS_IGRAPH:
        import igraph

        theirs = igraph.Graph(n, np.stack([upper.row, upper.col], 1))
        asked = list(map(tuple, pairs.tolist()))
        shares = lambda: np.array(theirs.similarity_jaccard(pairs=asked, loops=False))  # noqa: E731
        rivals["jaccard"].append(Rival("igraph", shares, 5))
    table = hr.DataFrame({"first": pairs[:, 0], "second": pairs[:, 1]})
    bench.step(
        f"jaccard of {len(pairs):,} pairs",
        lambda: plain.jaccard(table).jaccard.to_numpy(),
        rivals["jaccard"],
        close_to(1e-15),
        16 * len(pairs),
        len(pairs),
    )
    if HAS_NETWORKIT:
        import networkit

        graph = networkit.GraphFromCoo((upper.row, upper.col), n=n)
        spread = partial(_labels, networkit.community.PLP, graph)
        rivals["labels"].append(Rival("networkit", spread, None, _as_good(plain)))
    bench.step(
        "label propagation",
        lambda: plain.label_propagation().community.to_numpy(),
        rivals["labels"],
        None,
        4 * both.nnz,
        both.nnz,
    )
    few = max(n >> 3, 16)
    near = np.unique(np.concatenate([source, target]) % few)
    small = hr.graph.Graph(
        hr.DataFrame({"source": source[: 16 * few] % few, "target": target[: 16 * few] % few}),
        nodes=few,
    )
    starts = np.repeat(near, 10)
    steps = 80 * len(starts)
    rivals["walks"] = []
    if HAS_PECANPY:
        from pecanpy.pecanpy import SparseOTF

        walker = SparseOTF(p=0.5, q=2, workers=WORKERS)
        rows = scipy.sparse.csr_matrix(small.to_scipy_sparse_array())
        walker.IDlst = list(map(str, range(few)))
        walker.indptr, walker.indices = (
            rows.indptr.astype(np.uint32),
            rows.indices.astype(np.uint32),
        )
        walker.data = np.ones(rows.nnz, np.float32)
        rivals["walks"].append(Rival("pecanpy", partial(walker.simulate_walks, 10, 80), 3))
    bench.step(
        f"node2vec, {len(starts):,} walks of 80 steps",
        lambda: small.random_walks(starts, 80, p=0.5, q=2).to_numpy(),
        rivals["walks"],
        lambda ours, theirs: f"other draws, {len(ours):,} and {len(theirs):,} walks",
        8 * steps,
        steps,
    )
    seeds = np.flatnonzero(np.diff(both.indptr))[:1024]
    found = plain.neighbor_sample(seeds)
    bench.step(
        f"sample of {sum(found.num_sampled_edges):,} neighbours",
        lambda: plain.neighbor_sample(seeds).node.to_numpy(),
        [],
        None,
        8 * sum(found.num_sampled_edges),
        sum(found.num_sampled_edges),
    )


def roads(bench: Bench, rows: int) -> None:
    """A grid of weighted edges, as long and flat as a road network."""
    side = min(int(np.sqrt(rows / 2)), 2000)
    numbers = np.arange(side * side, dtype=np.int32).reshape(side, side)
    ends = [
        np.concatenate([numbers[:, :-1].ravel(), numbers[:-1].ravel()]),
        np.concatenate([numbers[:, 1:].ravel(), numbers[1:].ravel()]),
    ]
    weights = np.random.default_rng(1).integers(1, 256, len(ends[0])).astype(float)
    table = hr.DataFrame({"source": ends[0], "target": ends[1], "weight": weights})
    grid, plain = (hr.graph.Graph(table, weight=weight) for weight in ("weight", None))
    matrix = scipy.sparse.csr_matrix((weights, ends), (side * side,) * 2)
    both = (matrix + matrix.T).tocsr()
    name = f"of a grid of {side} x {side}"
    bench.step(
        f"spanning tree {name}",
        lambda: float(grid.minimum_spanning_edges().weight.sum()),
        [Rival("scipy", lambda: float(csgraph.minimum_spanning_tree(matrix).sum()), 4)],
        equal,
        8 * len(weights),
        len(weights),
    )
    bench.step(
        f"bfs {name}",
        lambda: np.asarray(plain.bfs(0).distance),
        [Rival("scipy", lambda: _levels(both, 0))],
        equal,
        8 * len(weights),
        2 * len(weights),
    )
    paths(bench, f"shortest paths {name}", grid, 0)
    communities(bench, f"{{}} {name}", plain, ["louvain"])


def others(bench: Bench, n: int, m: int) -> None:
    """Graphs without hubs, and of planted groups."""
    random = np.random.default_rng(4)
    title = "pagerank of a uniform graph"
    if bench.wants(title):
        source, target = random.integers(0, n, (2, m), dtype=np.int32)
        flat = hr.graph.Graph(
            hr.DataFrame({"source": source, "target": target}), directed=True, nodes=n
        )
        hr.eval(flat.in_degree())
        pagerank(bench, title, flat, _matrix(source, target, n)[0].astype(np.float64), 3)
    vertices = min(n, 100_000)
    groups = max(vertices // 200, 1)
    ends = random.integers(0, vertices, (2, 10 * vertices))
    near = random.random(ends.shape[1]) < 0.6
    ends[1, near] = ends[0, near] % groups + groups * (ends[1, near] // groups)
    ends = ends[:, (ends[0] != ends[1]) & (ends[1] < vertices)]
    planted = hr.graph.Graph(ends.T, nodes=vertices)
    communities(bench, "{} of planted groups", planted, ["louvain", "leiden"])


def _levels(matrix: Any, start: int) -> Any:
    """Levels of SciPy's search: those of the vertices before, in its order."""
    order, before = csgraph.breadth_first_order(matrix, start)
    levels = np.full(matrix.shape[0], -1)
    levels[start] = 0
    # A level is a run of the order: its vertices' predecessors are those of the run before.
    first, last, level = 0, 1, 0
    places = np.empty(matrix.shape[0], np.int64)
    places[order] = np.arange(len(order))
    places_before = np.concatenate([[-1], places[before[order[1:]]]])
    while first < len(order):
        levels[order[first:last]] = level
        first, last = last, int(np.searchsorted(places_before, last, "left"))
        level += 1
    return levels


def _labels(method: Any, graph: Any) -> Any:
    """The communities that NetworKit finds, one for each vertex."""
    return np.array(method(graph).run().getPartition().getVector())


def _as_good(graph: hr.graph.Graph, share: float = 0.95) -> Any:
    """Compare the modularity of two answers; ours may have this share of theirs."""
    nodes = graph.nodes()

    def same(ours: Any, theirs: Any) -> str:
        mine, its = (graph_modularity(graph, nodes, labels) for labels in (ours, theirs))
        assert mine >= share * its, f"modularity {mine:.4f} and {its:.4f}"
        return f"modularity {mine:.4f} and {its:.4f}"

    return same


def graph_modularity(graph: hr.graph.Graph, nodes: Any, labels: Any) -> float:
    """The modularity of labels in the order of the vertices."""
    return hr.graph.modularity(graph, nodes.assign(community=np.asarray(labels)))


def _same_parts(ours: Any, theirs: Any) -> str:
    """The same partition under other numbers."""
    pairs = np.unique(np.stack([ours, theirs], 1), axis=0)
    assert len(pairs) == len(np.unique(ours)) == len(np.unique(theirs))
    return "the same partition"


def networkx_backend(bench: Bench, rows: int) -> None:
    """NetworkX's graphs read, and its PageRank with and without a conversion that is there."""
    import networkx as nx
    from headrace.networkx.graph import RowGraph

    nx.config.warnings_to_ignore.add("cache")
    edges = hr.graph.rmat(max(int(np.log2(rows / 8)), 4), 8, seed=1)
    ends = [edges[name].to_list() for name in edges.columns]
    weights = np.random.default_rng(0).random(len(edges)).tolist()
    graph = nx.DiGraph()
    graph.add_weighted_edges_from(zip(*ends, weights, strict=True))
    plain = nx.DiGraph(zip(*ends, strict=True))
    entries = graph.number_of_edges()

    def by_iterators(of: Any, weight: str | None) -> Any:
        """Neighbours as numbers, and weights, by NumPy from iterators."""
        numbers = dict(zip(of, range(len(of)), strict=True))
        rows_of = list(of._adj.values())
        named = map(numbers.__getitem__, chain.from_iterable(rows_of))
        made = np.fromiter(named, np.int32, entries)
        if weight is None:
            return made
        data = chain.from_iterable(row.values() for row in rows_of)
        return made, np.fromiter((each.get(weight, 1) for each in data), np.float64, entries)

    def read(of: Any, weight: str | None) -> Any:
        made = RowGraph(of, {weight: 1} if weight else None)
        return made.adjacency[1] if weight is None else made.edge_arrays(weight)[1:]

    cases = [("read a graph", plain, None, 3), ("read a weighted graph", graph, "weight", 1.9)]
    for title, of, weight, bar in cases:
        rival = Rival("iterators", lambda of=of, w=weight: by_iterators(of, w), bar)
        ours = lambda of=of, w=weight: read(of, w)  # noqa: E731
        bench.step(f"networkx: {title}", ours, [rival], equal, 8 * entries, entries)

    def ranks(**options: Any) -> Any:
        return np.array(list(nx.pagerank(graph, **options).values()))

    def cold() -> Any:
        graph.__networkx_cache__.clear()
        return ranks(backend="headrace")

    rivals = [Rival("networkx", ranks, bar) for bar in (15, 100)]
    bench.step("networkx: pagerank", cold, rivals[:1], close_to(1e-9), 0, entries)
    bench.step(
        "networkx: pagerank again",
        lambda: ranks(backend="headrace"),
        rivals[1:],
        close_to(1e-9),
        0,
        entries,
    )


def steps(bench: Bench, rows: int) -> None:
    """Measure an R-MAT graph of about `rows` edges."""
    scale = max(int(np.log2(rows / EDGE_FACTOR)), 4)
    edges = hr.graph.rmat(scale, EDGE_FACTOR, seed=1)
    source, target = (edges[name].to_numpy().astype(np.int32) for name in edges.columns)
    building(bench, source, target, 1 << scale)
    algorithms(bench, source, target, 1 << scale)
    edges = hr.DataFrame({"source": source, "target": target})
    communities(bench, "{}", hr.graph.Graph(edges, nodes=1 << scale), ["louvain", "leiden"])
    centralities(bench, source, target, 1 << scale)
    structure(bench, source, target, 1 << scale)
    roads(bench, rows)
    others(bench, 1 << scale, len(source))
    for step, why in MISSING.items():
        bench.left_out(step, *why)
    networkx_backend(bench, min(rows, 1 << 20))


if __name__ == "__main__":
    sys.exit(run("graphs", __doc__, PACKAGES, steps))
