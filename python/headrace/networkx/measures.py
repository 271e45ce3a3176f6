# SPDX-License-Identifier: Apache-2.0
"""Numbers of nodes and of graphs: ranks, degrees, cores, triangles."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import networkx as nx
import numpy as np

from headrace.errors import ConvergenceError
from headrace.graph import degrees, density, ranks
from headrace.networkx.table import composed, function

if TYPE_CHECKING:
    from collections.abc import Iterator

    from headrace.networkx.graph import RowGraph


@function()
def pagerank(
    G: RowGraph,
    alpha: float = 0.85,
    personalization: dict[Any, Any] | None = None,
    max_iter: int = 100,
    tol: float = 1.0e-6,
    nstart: dict[Any, Any] | None = None,
    weight: Any = "weight",
    dangling: dict[Any, Any] | None = None,
) -> dict[Any, float]:
    """How often a random surfer is at each node."""
    if not len(G):
        return {}
    given = [G.by_number(each) for each in (personalization, nstart, dangling)]
    if given[0] is not None and not sum(given[0].values()):
        raise ZeroDivisionError
    weights = G.column(weight)
    try:
        found = ranks.pagerank(
            G.engine, alpha, given[0], max_iter, tol, given[1], weights, given[2]
        )
        return G.by_node(found["pagerank"].to_numpy())
    except ConvergenceError as error:
        raise nx.PowerIterationFailedConvergence(max_iter) from error


# ---- degrees -------------------------------------------------------------------------------------
def _degree(graph: RowGraph, kind: str) -> Any:
    return getattr(degrees, kind)(graph.engine)[kind].to_numpy()


def _centrality(graph: RowGraph, kind: str) -> dict[Any, Any]:
    if len(graph) <= 1:
        return dict.fromkeys(graph.nodes, 1)
    return graph.by_node(_degree(graph, kind) * (1.0 / (len(graph) - 1.0)))


@function()
def degree_centrality(G: RowGraph) -> dict[Any, Any]:
    """The share of other nodes that each is connected to."""
    return _centrality(G, "degree")


@function()
def in_degree_centrality(G: RowGraph) -> dict[Any, Any]:
    """The share of other nodes from which an edge comes."""
    return _centrality(G, "in_degree")


@function()
def out_degree_centrality(G: RowGraph) -> dict[Any, Any]:
    """The share of other nodes to which an edge goes."""
    return _centrality(G, "out_degree")


@function()
def isolates(G: RowGraph) -> Iterator[Any]:
    """Nodes without edges."""
    return G.named(np.flatnonzero(_degree(G, "degree") == 0))


@function()
def number_of_isolates(G: RowGraph) -> int:
    """How many nodes have no edge."""
    return int((_degree(G, "degree") == 0).sum())


@function()
def number_of_selfloops(G: RowGraph) -> int:
    """How many edges go from a node to itself."""
    return G.engine._graph.num_self_loops


def _refuse_several(G: Any, **_: Any) -> str:
    return "several edges between nodes" if G.is_multigraph() else ""


@function(_refuse_several)
def overall_reciprocity(G: RowGraph) -> float:
    """The share of edges that are there in both directions."""
    edges = G.number_of_edges()
    if edges == 0:
        raise nx.NetworkXError("Not defined for empty graphs")
    source, target, _ = G.edge_arrays(None)
    pairs = np.stack([np.minimum(source, target), np.maximum(source, target)]).astype(np.uint64)
    different = len(np.unique(pairs[0] << np.uint64(32) | pairs[1]))
    return (edges - different) * 2 / edges


@function()
def is_negatively_weighted(G: RowGraph, edge: Any = None, weight: Any = "weight") -> bool:
    """Whether an edge has a weight below 0."""
    if edge is not None:
        raise NotImplementedError("one edge")
    values = G.edge_arrays(weight)[2]
    return bool((values < 0).any())


# ---- cores, triangles ----------------------------------------------------------------------------
@function()
def core_number(G: RowGraph) -> dict[Any, int]:
    """The largest k such that a node is in the k-core."""
    return G.by_node(density.core_number(G.engine)["core"].to_numpy())


def _triangles(graph: RowGraph) -> tuple[list[int], list[int]]:
    """Triangles of nodes, and their other neighbours."""
    found = density._triangles("triangle_count", graph.engine, None)
    return found["count"].to_numpy().tolist(), found["neighbors"].to_numpy().tolist()


def _refuse_more(G: Any, nodes: Any = None, weight: Any = None, **_: Any) -> str:
    if weight is not None:
        return "triangles by weights"
    if G.is_multigraph():
        return "triangles of several edges"
    return "triangles of directed edges" if G.is_directed() else ""


@function(_refuse_more)
def triangles(G: RowGraph, nodes: Any = None) -> Any:
    """The triangles that nodes are in."""
    counts = _triangles(G)[0]
    return counts[G.number(nodes)] if nodes in G else G.by_node(counts, nodes)


@function(_refuse_more)
def clustering(G: RowGraph, nodes: Any = None, weight: Any = None) -> Any:
    """How many of the pairs of neighbours are neighbours."""
    counts, others = _triangles(G)
    shares = [
        0 if count == 0 else 2 * count / (d * (d - 1))
        for count, d in zip(counts, others, strict=True)
    ]
    return shares[G.number(nodes)] if nodes in G else G.by_node(shares, nodes)


@function(_refuse_more)
def transitivity(G: RowGraph) -> float:
    """The share of pairs of neighbours that are neighbours, over all nodes."""
    counts, others = _triangles(G)
    closed = 2 * sum(counts)
    return 0 if closed == 0 else closed / sum(d * (d - 1) for d in others)


composed("average_clustering k_core k_shell k_crust k_corona")
