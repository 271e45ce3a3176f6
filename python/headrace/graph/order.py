# SPDX-License-Identifier: Apache-2.0
"""Orders in which edges lead forward."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from headrace import _core
from headrace.graph.graph import directed_graph_of, graph_of
from headrace.lazy.handle import mark

if TYPE_CHECKING:
    from headrace.frame.dataframe import DataFrame


def is_directed_acyclic_graph(G: Any) -> bool:
    """Whether the graph is directed and no path leads from a vertex back to it.

    >>> hr.graph.is_directed_acyclic_graph(hr.graph.Graph([(0, 1), (1, 2)], directed=True))
    True
    """
    graph = graph_of(G, "is_directed_acyclic_graph")
    return graph.is_directed() and _core.graph_is_acyclic(graph._graph)


def topological_generations(G: Any, *, vertices: Any = None) -> DataFrame:
    """How many edges the longest path to each vertex has.

    Parameters
    ----------
    G : Graph, or what `Graph` takes
        Directed, without cycles.
    vertices : list, optional
        Only these.

    Returns
    -------
    DataFrame
        ``vertex`` and ``generation``, int64; edges lead to later generations.

    Raises
    ------
    InvalidArgumentError
        If the graph is undirected; when it runs, if it has a cycle.

    Notes
    -----
    A. Kahn (1962); 8 bytes a vertex.

    >>> graph = hr.graph.Graph([("a", "b"), ("b", "c"), ("a", "c")], directed=True)
    >>> graph.topological_generations().generation.to_list()
    [0, 1, 2]
    """
    graph = directed_graph_of(G, "topological_generations")
    mark("topological_generations")
    return graph._frame(_core.graph_generations(graph._graph), "generation", vertices=vertices)


def topological_sort(G: Any) -> DataFrame:
    """The vertices in an order in which edges lead forward.

    Returns
    -------
    DataFrame
        ``vertex`` and ``generation``, by generation and then by vertex.

    Raises
    ------
    InvalidArgumentError
        As `topological_generations`.

    >>> order = [("shoes", "out"), ("coat", "out"), ("socks", "shoes")]
    >>> graph = hr.graph.Graph(order, directed=True)
    >>> graph.topological_sort().vertex.to_list()
    ['coat', 'socks', 'shoes', 'out']
    """
    graph = directed_graph_of(G, "topological_sort")
    found = topological_generations(graph)
    return found.sort_values("generation", kind="stable", ignore_index=True)
