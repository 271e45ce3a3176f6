# SPDX-License-Identifier: Apache-2.0
"""Matchings, and graphs of two sides."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from headrace import _core
from headrace.errors import InvalidArgumentError
from headrace.frame.columns import frame_of
from headrace.graph.graph import Graph, undirected_graph_of
from headrace.graph.similarity import two_hop_nodes
from headrace.graph.sources import key_names
from headrace.lazy.handle import array_of, mark
from headrace.series.column import new_series, series_of

if TYPE_CHECKING:
    from headrace.frame.dataframe import DataFrame


def maximal_matching(G: Any) -> DataFrame:
    """Edges without a common vertex, to which no further one can be added.

    Parameters
    ----------
    G : Graph, or what `Graph` takes
        Undirected.

    Returns
    -------
    DataFrame
        Rows of `Graph.edges`: one after the other is taken where both its vertices are free, as
        NetworkX does it. At least half as many as the most there could be.

    >>> hr.graph.maximal_matching([(0, 1), (1, 2), (2, 3)]).to_dict("list")
    {0: [0, 2], 1: [1, 3]}
    """
    graph = undirected_graph_of(G, "maximal_matching")
    mark("maximal_matching")
    found = _core.graph_greedy_matching("maximal_matching", graph._with_edges(), None)
    return graph._picked_edges(found)


def approx_weighted_matching(G: Any, weight: str | bool | None = True) -> DataFrame:
    """Edges without a common vertex, of at least half the greatest weight that there could be.

    Parameters
    ----------
    G : Graph, or what `Graph` takes
        Undirected.
    weight : str, bool or None
        The attribute of edges that weighs them; True: the graph's; None: 1 each. Edges of negative
        weight are left out.

    Returns
    -------
    DataFrame
        Rows of `Graph.edges`, in their order: the heaviest edge, then the heaviest that is left,
        the first of several (R. Preis, STACS 1999).

    Raises
    ------
    InvalidArgumentError
        For a directed graph.

    >>> pay = hr.DataFrame({"a": [0, 1, 2], "b": [1, 2, 3], "euro": [3, 4, 3]})
    >>> hr.graph.approx_weighted_matching(hr.graph.Graph(pay, weight="euro")).euro.to_list()
    [4]
    """
    graph = undirected_graph_of(G, "approx_weighted_matching")
    mark("approx_weighted_matching")
    order = None
    weights = graph._weights("approx_weighted_matching", weight)
    if weights is not None:
        lightness = -series_of(weights)
        taken = int((lightness <= 0).sum())
        order = new_series(lightness.argsort()[:taken])._node
    found = _core.graph_greedy_matching("approx_weighted_matching", graph._with_edges(), order)
    return graph._picked_edges(found)


def max_weight_matching(
    G: Any, maxcardinality: bool = False, weight: str | bool | None = True
) -> DataFrame:
    """Edges without a common vertex, of the greatest weight that there could be.

    Parameters
    ----------
    G : Graph, or what `Graph` takes
        Undirected.
    maxcardinality : bool, default False
        Of the matchings with the most edges that of the greatest weight.
    weight : str, bool or None
        The attribute of edges that weighs them; True: the graph's; None: 1 each.

    Returns
    -------
    DataFrame
        Rows of `Graph.edges`, in their order; one of those that weigh the same.

    Raises
    ------
    InvalidArgumentError
        For a directed graph, or a weight that is not finite.

    Notes
    -----
    Blossoms (J. Edmonds, 1965; Z. Galil, ACM Computing Surveys 18, 1986), on one thread: at most
    the cube of the vertices. For large graphs see `approx_weighted_matching`.

    >>> pay = hr.DataFrame({"a": [0, 1, 2], "b": [1, 2, 3], "euro": [3, 4, 3]})
    >>> hr.graph.max_weight_matching(hr.graph.Graph(pay, weight="euro")).euro.to_list()
    [3, 3]
    """
    graph = undirected_graph_of(G, "max_weight_matching")
    mark("max_weight_matching")
    weights = graph._weights("max_weight_matching", weight)
    found = _core.graph_max_weight_matching(graph._with_edges(), weights, maxcardinality)
    return graph._picked_edges(found)


def hopcroft_karp_matching(G: Any, top_nodes: Any = None) -> DataFrame:
    """As many edges as possible without a common vertex, of a graph of two sides.

    Parameters
    ----------
    G : Graph, or what `Graph` takes
        Undirected, each edge between a vertex of one side and one of the other.
    top_nodes : list, optional
        The vertices of one side; by default those that `bipartite_color` has 1 for.

    Returns
    -------
    DataFrame
        Rows of `Graph.edges`, in their order.

    Raises
    ------
    InvalidArgumentError
        For a directed graph, an edge within a side, or where there are no two sides.

    Notes
    -----
    J. Hopcroft, R. Karp (SIAM J. Comput. 2, 1973), on one thread.

    >>> hr.graph.hopcroft_karp_matching([(0, 5), (0, 6), (1, 5)]).to_dict("list")
    {0: [0, 1], 1: [6, 5]}
    """
    graph = undirected_graph_of(G, "hopcroft_karp_matching")
    mark("hopcroft_karp_matching")
    if top_nodes is None:
        rows = np.flatnonzero(bipartite_color(graph).color.to_numpy())
    else:
        rows = np.unique(graph._find("hopcroft_karp_matching", top_nodes, "top_nodes"))
    found = _core.graph_hopcroft_karp(graph._with_edges(), new_series(rows.astype(np.int64))._node)
    return graph._picked_edges(found)


def is_bipartite(G: Any) -> bool:
    """Whether vertices have two sides such that each edge is between them.

    >>> hr.graph.is_bipartite([(0, 1), (1, 2), (2, 3), (3, 0)])
    True
    >>> hr.graph.is_bipartite([(0, 1), (1, 2), (2, 0)])
    False
    """
    graph = undirected_graph_of(G, "is_bipartite")
    mark("is_bipartite")
    return _core.graph_is_bipartite(graph._graph)


def bipartite_color(G: Any, *, vertices: Any = None) -> DataFrame:
    """The side of each vertex, as ``color``: 1 of the first vertex of a component, 0 of the other.

    0 of vertices without edges too, as in NetworkX. Raises when it runs where there are no two
    sides.

    >>> hr.graph.bipartite_color([(0, 1), (1, 2), (2, 3)]).color.to_list()
    [1, 0, 1, 0]
    """
    graph = undirected_graph_of(G, "bipartite_color")
    mark("bipartite_color")
    return graph._frame(_core.graph_bipartite_color(graph._graph), "color", vertices=vertices)


def projected_graph(G: Any, nodes: Any) -> Graph:
    """The graph of one side: an edge between vertices that have a neighbour in common.

    Parameters
    ----------
    G : Graph, or what `Graph` takes
        Undirected, of two sides.
    nodes : list
        The vertices of one side; all are in the result, with their attributes.

    >>> papers = hr.graph.Graph([("ann", "p"), ("bob", "p"), ("bob", "q"), ("eva", "q")])
    >>> hr.graph.projected_graph(papers, ["ann", "bob", "eva"]).edges().to_dict("list")
    {'source': ['ann', 'bob'], 'target': ['bob', 'eva']}
    """
    return _projected("projected_graph", G, nodes, None)


def weighted_projected_graph(G: Any, nodes: Any, ratio: bool = False) -> Graph:
    """The same, each edge with the number of neighbours that both vertices have, as ``weight``.

    With `ratio` the share of these in the vertices of the other side.

    >>> papers = hr.graph.Graph([("ann", "p"), ("bob", "p"), ("bob", "q"), ("ann", "q")])
    >>> hr.graph.weighted_projected_graph(papers, ["ann", "bob"]).edges().weight.to_list()
    [2]
    """
    return _projected("weighted_projected_graph", G, nodes, ratio)


def _projected(op: str, G: Any, nodes: Any, ratio: bool | None) -> Graph:
    graph = undirected_graph_of(G, op)
    rows = np.unique(graph._find(op, nodes, "nodes"))
    if ratio is not None and len(rows) == len(graph):
        raise InvalidArgumentError(f"{op}: no vertices on the other side: nodes={len(rows)}")
    inside = np.zeros(len(graph), bool)
    inside[rows] = True
    found = two_hop_nodes(graph, rows.tolist())
    first, second = (array_of(found[word]).to_numpy() for word in ("row", "row of second"))
    keys = len(graph._given.source)
    names = [key_names(word, keys) for word in ("source", "target")]
    both = key_names("first", keys) + key_names("second", keys)
    edges = frame_of({name: found[name] for name in [*both, "common"]})
    edges = edges[new_series(inside[second] & (first < second))].reset_index(drop=True)
    edges = edges.rename(columns=dict(zip(both, names[0] + names[1], strict=True)))
    weight = edges.common / (len(graph) - len(rows)) if ratio else edges.common
    edges = edges.drop(columns="common")
    if ratio is not None:
        edges = edges.assign(weight=weight)
    taken = graph.nodes().iloc[rows].reset_index(drop=True)
    word = None if ratio is None else "weight"
    return Graph(edges, source=names[0], target=names[1], weight=word, nodes=taken)
