# SPDX-License-Identifier: Apache-2.0
"""How central nodes are: by eigenvectors, by shortest paths; strong components and cycles."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import networkx as nx

from headrace.errors import ConvergenceError
from headrace.graph import centrality, components, order, ranks
from headrace.networkx.measures import _refuse_several
from headrace.networkx.table import function

if TYPE_CHECKING:
    from headrace.networkx.graph import RowGraph


def _start(graph: RowGraph, nstart: dict[Any, Any] | None) -> dict[int, Any] | None:
    if nstart is not None and set(nstart) != set(graph):
        raise NotImplementedError("a start for some nodes only: nstart")
    return graph.by_number(nstart)


@function()
def eigenvector_centrality(
    G: RowGraph,
    max_iter: int = 100,
    tol: float = 1.0e-6,
    nstart: dict[Any, Any] | None = None,
    weight: Any = None,
) -> dict[Any, float]:
    """The leading eigenvector."""
    if not len(G):
        raise nx.NetworkXPointlessConcept("cannot compute centrality for the null graph")
    if nstart is not None and all(value == 0 for value in nstart.values()):
        raise nx.NetworkXError("initial vector cannot have all zero values")
    start, column = _start(G, nstart), G.column(weight)
    try:
        found = ranks.eigenvector_centrality(G.engine, max_iter, tol, start, column)
        return G.by_node(found["eigenvector_centrality"].to_numpy())
    except ConvergenceError as error:
        raise nx.PowerIterationFailedConvergence(max_iter) from error


@function()
def katz_centrality(
    G: RowGraph,
    alpha: float = 0.1,
    beta: Any = 1.0,
    max_iter: int = 1000,
    tol: float = 1.0e-6,
    nstart: dict[Any, Any] | None = None,
    normalized: bool = True,
    weight: Any = None,
) -> dict[Any, float]:
    """All walks that lead to a node, long ones less."""
    if not len(G):
        return {}
    if isinstance(beta, dict):
        if set(beta) != set(G):
            raise nx.NetworkXError("beta dictionary must have a value for every node")
        beta = G.by_number(beta)
    start, column = _start(G, nstart), G.column(weight)
    try:
        found = ranks.katz_centrality(
            G.engine, alpha, beta, max_iter, tol, start, normalized, column
        )
        return G.by_node(found["katz_centrality"].to_numpy())
    except ConvergenceError as error:
        raise nx.PowerIterationFailedConvergence(max_iter) from error


@function()
def hits(
    G: RowGraph,
    max_iter: int = 100,
    tol: float = 1.0e-8,
    nstart: dict[Any, Any] | None = None,
    normalized: bool = True,
) -> tuple[dict[Any, float], dict[Any, float]]:
    """Hubs and authorities."""
    if not len(G):
        return {}, {}
    if not normalized or not G.number_of_edges() or max_iter <= 0:
        raise NotImplementedError("vectors whose sign means nothing, or no edges")
    start, column = _start(G, nstart), G.column("weight")
    try:
        found = ranks.hits(G.engine, max_iter, tol, start, weight=column)
        hubs, authorities = (found[name].to_numpy() for name in ("hubs", "authorities"))
    except ConvergenceError as error:  # NetworkX's method needs fewer steps
        raise NotImplementedError(str(error)) from error
    return G.by_node(hubs), G.by_node(authorities)


@function(_refuse_several)
def betweenness_centrality(
    G: RowGraph,
    k: int | None = None,
    normalized: bool = True,
    weight: Any = None,
    endpoints: bool = False,
    seed: Any = None,
) -> dict[Any, float]:
    """How many shortest paths go through each node."""
    sources = None
    if k is not None and k != len(G):
        sources = [G.number(node) for node in seed.sample(G.nodes, k)]
    if not len(G) or sources == []:
        raise NotImplementedError("no sources")
    found = centrality.betweenness_centrality(
        G.engine, None, normalized, G.column(weight), endpoints, sources=sources
    )
    return G.by_node(found["betweenness"].to_numpy())


@function(_refuse_several)
def edge_betweenness_centrality(
    G: RowGraph,
    k: int | None = None,
    normalized: bool = True,
    weight: Any = None,
    seed: Any = None,
) -> dict[Any, float]:
    """How many shortest paths go along each edge."""
    sources = None if k is None else [G.number(node) for node in seed.sample(G.nodes, k)]
    if not len(G) or sources == []:
        raise NotImplementedError("no sources")
    column = G.column(weight)
    found = centrality.edge_betweenness_centrality(
        G.engine, None, normalized, column, sources=sources
    )
    return dict(zip(G.edges_of(), found["betweenness"].to_list(), strict=True))


@function()
def closeness_centrality(
    G: RowGraph, u: Any = None, distance: Any = None, wf_improved: bool = True
) -> Any:
    """How near each node is to those that lead to it."""
    if not len(G):
        return {}
    number = None if u is None else G.number(u) if u in G else -1
    if number == -1:
        raise NotImplementedError(f"no such node: u={u!r}")
    found = centrality.closeness_centrality(
        G.engine, None, G.column(distance), wf_improved, vertices=number
    )
    values = found["closeness_centrality"].to_numpy()
    return G.by_node(values) if u is None else float(values[0])


@function()
def harmonic_centrality(
    G: RowGraph, nbunch: Any = None, distance: Any = None, sources: Any = None
) -> dict[Any, float]:
    """The sum of 1 over distances to a node."""
    if sources is not None or not len(G):
        raise NotImplementedError("some sources only")
    found = centrality.harmonic_centrality(G.engine, None, G.column(distance))
    values = G.by_node(found["harmonic_centrality"].to_numpy())
    wanted = set(G.nodes if nbunch is None else G.nbunch_iter(nbunch))
    return {node: values[node] or 0 for node in wanted}


# ---- directed graphs -----------------------------------------------------------------------------
@function()
def number_strongly_connected_components(G: RowGraph) -> int:
    """How many sets of nodes there are that lead to each other."""
    if not len(G):
        return 0
    found = components.strongly_connected_components(G.engine)
    return int(found["component"].max()) + 1


@function()
def is_strongly_connected(G: RowGraph) -> bool:
    """Whether every node leads to every other."""
    if not len(G):
        raise nx.NetworkXPointlessConcept("Connectivity is undefined for the null graph.")
    return int(components.strongly_connected_components(G.engine)["component"].max()) == 0


@function()
def is_directed_acyclic_graph(G: RowGraph) -> bool:
    """Whether edges have a direction and make no cycle."""
    return bool(order.is_directed_acyclic_graph(G.engine))
