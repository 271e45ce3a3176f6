# SPDX-License-Identifier: Apache-2.0
"""How many edges vertices have."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from headrace import _core
from headrace.graph.graph import graph_of

if TYPE_CHECKING:
    from headrace.frame.dataframe import DataFrame


def _degrees(G: Any, kind: str, vertices: Any) -> DataFrame:
    graph = graph_of(G, kind)
    return graph._frame(_core.graph_degrees(graph._graph, kind), kind, vertices=vertices)


def degree(G: Any, *, vertices: Any = None) -> DataFrame:
    """The number of edges of each vertex; a self loop counts twice.

    Parameters
    ----------
    G : Graph, or what `Graph` takes
        Edges in and out are added where it is directed.
    vertices : list, optional
        Only these.

    Returns
    -------
    DataFrame
        ``vertex`` and ``degree``, int64.

    >>> hr.graph.degree([(0, 1), (1, 2)]).degree.to_list()
    [1, 2, 1]
    """
    return _degrees(G, "degree", vertices)


def in_degree(G: Any, *, vertices: Any = None) -> DataFrame:
    """The number of edges that end at each vertex, as ``in_degree``.

    >>> hr.graph.in_degree(hr.graph.Graph([(0, 1), (1, 2)], directed=True)).in_degree.to_list()
    [0, 1, 1]
    """
    return _degrees(G, "in_degree", vertices)


def out_degree(G: Any, *, vertices: Any = None) -> DataFrame:
    """The number of edges that begin at each vertex, as ``out_degree``.

    >>> hr.graph.out_degree(hr.graph.Graph([(0, 1), (1, 2)], directed=True)).out_degree.to_list()
    [1, 1, 0]
    """
    return _degrees(G, "out_degree", vertices)


def degree_centrality(G: Any, *, vertices: Any = None) -> DataFrame:
    """The degree over the number of other vertices, as ``degree_centrality``; 1 of a lone vertex.

    >>> hr.graph.degree_centrality([(0, 1), (1, 2)]).degree_centrality.to_list()
    [0.5, 1.0, 0.5]
    """
    graph = graph_of(G, "degree_centrality")
    found = _degrees(graph, "degree", vertices)
    others = graph.number_of_nodes() - 1
    # NetworkX multiplies by the inverse: the same bits.
    share = found.degree * (1.0 / others) if others > 0 else found.degree * 0.0 + 1.0
    return found.drop(columns="degree").assign(degree_centrality=share)
