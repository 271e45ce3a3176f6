# SPDX-License-Identifier: Apache-2.0
"""Edges that are chosen: spanning trees, matchings, trusses; and how alike nodes are."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Any

import networkx as nx
import numpy as np

from headrace import _core
from headrace.graph import layouts, similarity
from headrace.lazy.handle import array_of
from headrace.networkx.table import composed, function

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from headrace.networkx.graph import RowGraph

_PAIRS_AT_ONCE = 1 << 16


def _refuse_kinds(G: Any, **_: Any) -> str:
    if G.is_multigraph():
        return "several edges between nodes"
    return "edges with a direction" if G.is_directed() else ""


def _numbers(column: _core.Node) -> Any:
    return array_of(_core.as_tensor(column)).to_numpy()


def _weights(graph: RowGraph, weight: Any) -> _core.Node | None:
    name = graph.column(weight)  # may make the engine read it
    return graph.engine._weights("networkx", name)


# ---- spanning trees ------------------------------------------------------------------------------
def _refuse_methods(G: Any, algorithm: str = "kruskal", **_: Any) -> str:
    return _refuse_kinds(G) or ("" if algorithm == "kruskal" else f"algorithm={algorithm!r}")


def _spanning(graph: RowGraph, weight: Any, greatest: bool) -> list[tuple[Any, Any]]:
    """Edges as Kruskal meets them."""
    if not graph.number_of_edges():
        return []
    weights = _weights(graph, weight)
    edges = graph.engine._with_edges()
    found = _numbers(_core.graph_spanning_forest(edges, weights, greatest))
    values = graph.edge_arrays(weight)[2][found]
    return graph.edges_of(found[np.argsort(-values if greatest else values, kind="stable")])


def _with_data(graph: RowGraph, edges: Iterable[tuple[Any, Any]], data: bool) -> Iterator[Any]:
    rows = graph.original._adj
    return ((u, v, rows[u][v]) if data else (u, v) for u, v in edges)


@function(_refuse_methods)
def minimum_spanning_edges(
    G: RowGraph,
    algorithm: str = "kruskal",
    weight: Any = "weight",
    keys: bool = True,
    data: bool = True,
    ignore_nan: bool = False,
) -> Iterator[Any]:
    """The edges of least weight that connect what the graph connects."""
    return _with_data(G, _spanning(G, weight, False), data)


@function(_refuse_methods)
def maximum_spanning_edges(
    G: RowGraph,
    algorithm: str = "kruskal",
    weight: Any = "weight",
    keys: bool = True,
    data: bool = True,
    ignore_nan: bool = False,
) -> Iterator[Any]:
    """The same of greatest weight."""
    return _with_data(G, _spanning(G, weight, True), data)


def _tree(graph: RowGraph, weight: Any, greatest: bool) -> Any:
    original = graph.original
    made = original.__class__()
    made.graph.update(original.graph)
    made.add_nodes_from(original.nodes.items())
    made.add_edges_from(_with_data(graph, _spanning(graph, weight, greatest), True))
    return made


@function(_refuse_methods)
def minimum_spanning_tree(
    G: RowGraph, weight: Any = "weight", algorithm: str = "kruskal", ignore_nan: bool = False
) -> Any:
    """All nodes and the edges of least weight that connect them."""
    return _tree(G, weight, False)


@function(_refuse_methods)
def maximum_spanning_tree(
    G: RowGraph, weight: Any = "weight", algorithm: str = "kruskal", ignore_nan: bool = False
) -> Any:
    """The same of greatest weight."""
    return _tree(G, weight, True)


# ---- matchings -----------------------------------------------------------------------------------
@function(_refuse_kinds)
def maximal_matching(G: RowGraph) -> set[Any]:
    """Edges without a common node, one after the other where both are free."""
    found = _core.graph_greedy_matching("maximal_matching", G.engine._with_edges(), None)
    return set(G.edges_of(_numbers(found)))


@function(_refuse_kinds)
def max_weight_matching(
    G: RowGraph, maxcardinality: bool = False, weight: Any = "weight"
) -> set[Any]:
    """Edges without a common node, of the greatest weight."""
    if not G.number_of_edges():
        return set()
    weights = _weights(G, weight)
    found = _core.graph_max_weight_matching(G.engine._with_edges(), weights, bool(maxcardinality))
    return set(G.edges_of(_numbers(found)))


# ---- trusses, likeness, places -------------------------------------------------------------------
@function(_refuse_kinds)
def k_truss(G: RowGraph, k: int) -> Any:
    """The largest subgraph of which each edge is in k - 2 triangles."""
    if G.engine._graph.num_self_loops:
        raise NotImplementedError("edges from a node to itself")
    if not isinstance(k, int):
        raise NotImplementedError(f"no whole number: k={k!r}")
    stays = np.zeros(G.number_of_edges(), bool)
    stays[_numbers(_core.graph_k_truss(G.engine._with_edges(), k))] = True
    made = G.original.copy()
    made.remove_edges_from(G.edges_of(~stays))
    made.remove_nodes_from(list(nx.isolates(made)))
    return made


@function(_refuse_kinds)
def jaccard_coefficient(G: RowGraph, ebunch: Any = None) -> Iterator[Any]:
    """The share of the neighbours of two nodes that are neighbours of both."""
    if G.engine._graph.num_self_loops:
        raise NotImplementedError("edges from a node to itself")
    if ebunch is None:
        pairs = nx.non_edges(G.original)
    else:
        pairs = iter(ebunch := list(ebunch))
        for node in (node for pair in ebunch for node in pair):
            if node not in G:
                raise nx.NodeNotFound(f"Node {node} not in G.")
    return _likenesses(G, pairs)


def _likenesses(graph: RowGraph, pairs: Iterator[Any]) -> Iterator[Any]:
    degrees = np.diff(graph.adjacency[0]).tolist()
    while taken := list(islice(pairs, _PAIRS_AT_ONCE)):
        numbers = np.array([(graph.numbers[u], graph.numbers[v]) for u, v in taken])
        found = similarity.jaccard(graph.engine, numbers)["jaccard"].to_list()
        for (u, v), (a, b), share in zip(taken, numbers.tolist(), found, strict=True):
            yield u, v, share if degrees[a] or degrees[b] else 0


@function(_refuse_kinds)
def forceatlas2_layout(
    G: RowGraph,
    pos: Any = None,
    *,
    max_iter: int = 100,
    jitter_tolerance: float = 1.0,
    scaling_ratio: float = 2.0,
    gravity: float = 1.0,
    distributed_action: bool = False,
    strong_gravity: bool = False,
    node_mass: Any = None,
    node_size: Any = None,
    weight: Any = None,
    linlog: bool = False,
    seed: Any = None,
    dim: int = 2,
    store_pos_as: Any = None,
) -> dict[Any, Any]:
    """Places of nodes that repel each other, and edges that pull."""
    if pos is not None or node_mass is not None or node_size is not None or store_pos_as:
        raise NotImplementedError("places, masses and sizes of nodes")
    if distributed_action or jitter_tolerance != 1 or dim not in (2, 3) or not len(G):
        raise NotImplementedError("distributed_action, jitter_tolerance, or no nodes")
    name = G.column(weight)
    found = layouts.layout(
        G.engine,
        iterations=max_iter,
        weight=name,
        scale=None,
        scaling_ratio=scaling_ratio,
        gravity=gravity,
        strong_gravity=strong_gravity,
        linlog=linlog,
        dim=dim,
        random_state=0 if seed is np.random.mtrand._rand else int(seed.randint(0, 2**31 - 1)),
    )
    places = np.column_stack([found[name].to_numpy() for name in ("x", "y", "z")[:dim]])
    return dict(zip(G.nodes, places, strict=True))


@function()
def to_dict_of_lists(G: RowGraph, nodelist: Any = None) -> dict[Any, list[Any]]:
    """Neighbours of nodes."""
    if nodelist is not None:
        return nx.to_dict_of_lists.orig_func(G.original, nodelist)
    offsets, targets = G.adjacency
    named, ends = list(G.named(targets)), offsets.tolist()
    return {n: named[a:b] for n, a, b in zip(G.nodes, ends, ends[1:], strict=False)}


composed("biadjacency_matrix is_isolate lowest_common_ancestor reciprocity")
