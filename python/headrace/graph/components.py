# SPDX-License-Identifier: Apache-2.0
"""Which vertices are connected."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from headrace import _core
from headrace.graph.graph import graph_of
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
