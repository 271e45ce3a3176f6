# SPDX-License-Identifier: Apache-2.0
"""Which vertices are connected."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from headrace import _core
from headrace.frame.columns import new_frame
from headrace.graph.graph import Graph, directed_graph_of, graph_of
from headrace.lazy.handle import mark

if TYPE_CHECKING:
    from headrace.frame.dataframe import DataFrame


def connected_components(G: Any, *, vertices: Any = None) -> DataFrame:
    """The connected component of each vertex, whichever way edges go.

    Parameters
    ----------
    G : Graph, or what `Graph` takes
    vertices : list, optional
        Only these.

    Returns
    -------
    DataFrame
        ``vertex`` and ``component``, int64: 0, 1, ... in the order of their first vertices.

    Notes
    -----
    Afforest (M. Sutton, T. Ben-Nun, A. Barak, IPDPS 2018); 4 bytes a vertex.

    >>> hr.graph.connected_components([(0, 1), (2, 3), (1, 4)]).component.to_list()
    [0, 0, 1, 1, 0]
    """
    graph = graph_of(G, "connected_components")
    mark("connected_components")
    return graph._frame(_core.graph_components(graph._graph), "component", vertices=vertices)


#: NetworkX's word for directed graphs.
weakly_connected_components = connected_components


def strongly_connected_components(G: Any, *, vertices: Any = None) -> DataFrame:
    """The component of each vertex in which paths lead from every vertex to every other.

    Parameters
    ----------
    G : Graph, or what `Graph` takes
        Directed.
    vertices : list, optional
        Only these.

    Returns
    -------
    DataFrame
        ``vertex`` and ``component``, int64: 0, 1, ... in the order of their first vertices.

    Raises
    ------
    InvalidArgumentError
        If the graph is undirected.

    Notes
    -----
    L. Fleischer, B. Hendrickson, A. Pinar (2000) for the largest component, R. Tarjan (1972) for
    the rest of those on cycles; about 30 bytes a vertex.

    >>> graph = hr.graph.Graph([(0, 1), (1, 0), (1, 2)], directed=True)
    >>> graph.strongly_connected_components().component.to_list()
    [0, 0, 1]
    """
    graph = directed_graph_of(G, "strongly_connected_components")
    mark("strongly_connected_components")
    return graph._frame(_core.graph_strong_components(graph._graph), "component", vertices=vertices)


def condensation(G: Any) -> Graph:
    """The graph of strongly connected components: it has no cycle.

    Its vertices are the numbers in `strongly_connected_components`, with how many ``members`` each
    has as an attribute; an edge stands for all between two components.

    Raises
    ------
    InvalidArgumentError
        If the graph is undirected.

    >>> graph = hr.graph.Graph([(0, 1), (1, 0), (1, 2), (0, 2)], directed=True)
    >>> made = graph.condensation()
    >>> made.nodes().members.to_list(), made.number_of_edges()
    ([2, 1], 1)
    """
    graph = directed_graph_of(G, "condensation")
    numbers = strongly_connected_components(graph).component.to_numpy()
    edges = graph._edge_frame()
    ends = [numbers[graph._find_columns(edges[names])] for names in graph._given[1:3]]
    is_between = ends[0] != ends[1]
    counts = np.bincount(numbers)
    return Graph(
        new_frame({"source": ends[0][is_between], "target": ends[1][is_between]}),
        nodes=new_frame({"vertex": np.arange(len(counts)), "members": counts}),
        directed=True,
    )
