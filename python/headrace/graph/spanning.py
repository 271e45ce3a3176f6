# SPDX-License-Identifier: Apache-2.0
"""Spanning trees: edges that connect a graph without a cycle."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from headrace import _core
from headrace.graph.graph import undirected_graph_of
from headrace.lazy.handle import mark

if TYPE_CHECKING:
    from headrace.frame.dataframe import DataFrame
    from headrace.graph.graph import Graph


def _spanning_edges(op: str, G: Any, weight: str | bool | None) -> tuple[Graph, DataFrame]:
    graph = undirected_graph_of(G, op)
    mark(op)
    weights = graph._weights(op, weight)
    is_maximum = op.startswith("maximum")
    found = _core.graph_spanning_forest(graph._with_edges(), weights, is_maximum)
    return graph, graph._picked_edges(found)


def minimum_spanning_edges(G: Any, weight: str | bool | None = True) -> DataFrame:
    """The edges of least weight that connect what the graph connects.

    Parameters
    ----------
    G : Graph, or what `Graph` takes
        Undirected.
    weight : str, bool or None
        The attribute of edges that weighs them; True: the graph's; None: 1 each.

    Returns
    -------
    DataFrame
        Those rows of `Graph.edges` that form a tree of each component, in their order.

    Raises
    ------
    InvalidArgumentError
        For a directed graph, or a weight that is not finite.

    Notes
    -----
    O. Borůvka (1926): each component takes its lightest edge, all at once. Of edges that weigh the
    same the first are taken, so these are the edges of NetworkX's Kruskal algorithm.

    >>> roads = hr.DataFrame({"a": [0, 1, 2, 2], "b": [1, 2, 0, 3], "km": [4, 1, 2, 7]})
    >>> hr.graph.minimum_spanning_edges(hr.graph.Graph(roads, weight="km")).km.to_list()
    [1, 2, 7]
    """
    return _spanning_edges("minimum_spanning_edges", G, weight)[1]


def maximum_spanning_edges(G: Any, weight: str | bool | None = True) -> DataFrame:
    """The same of greatest weight; see `minimum_spanning_edges`.

    >>> roads = hr.DataFrame({"a": [0, 1, 2, 2], "b": [1, 2, 0, 3], "km": [4, 1, 2, 7]})
    >>> hr.graph.maximum_spanning_edges(hr.graph.Graph(roads, weight="km")).km.to_list()
    [4, 2, 7]
    """
    return _spanning_edges("maximum_spanning_edges", G, weight)[1]


def minimum_spanning_tree(G: Any, weight: str | bool | None = True) -> Graph:
    """All vertices and the edges that `minimum_spanning_edges` has: a tree of each component.

    >>> roads = hr.DataFrame({"a": [0, 1, 2, 2], "b": [1, 2, 0, 3], "km": [4, 1, 2, 7]})
    >>> hr.graph.minimum_spanning_tree(hr.graph.Graph(roads, weight="km")).has_edge(0, 1)
    False
    """
    graph, edges = _spanning_edges("minimum_spanning_tree", G, weight)
    return graph._of(edges, graph.nodes())


def maximum_spanning_tree(G: Any, weight: str | bool | None = True) -> Graph:
    """All vertices and the edges that `maximum_spanning_edges` has.

    >>> roads = hr.DataFrame({"a": [0, 1, 2, 2], "b": [1, 2, 0, 3], "km": [4, 1, 2, 7]})
    >>> hr.graph.maximum_spanning_tree(hr.graph.Graph(roads, weight="km")).has_edge(1, 2)
    False
    """
    graph, edges = _spanning_edges("maximum_spanning_tree", G, weight)
    return graph._of(edges, graph.nodes())
