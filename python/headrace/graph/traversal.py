# SPDX-License-Identifier: Apache-2.0
"""Shortest paths by the number of edges."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from headrace import _core
from headrace.errors import InvalidArgumentError
from headrace.frame.columns import frame_of_parts
from headrace.graph.graph import graph_of
from headrace.graph.sources import key_names
from headrace.lazy.handle import mark
from headrace.series.column import is_series

if TYPE_CHECKING:
    from headrace.frame.dataframe import DataFrame


def bfs(G: Any, source: Any, depth_limit: int | None = None, *, vertices: Any = None) -> DataFrame:
    """Breadth-first search: how many edges away from `source` each vertex is.

    Parameters
    ----------
    G : Graph, or what `Graph` takes
        Edges are followed in their direction.
    source : vertex or list of vertices
        Several: a search of each; 64 of them share the passes over the graph.
    depth_limit : int, optional
        No vertex farther away is reached.
    vertices : list, optional
        Only these; of one source.

    Returns
    -------
    DataFrame
        ``vertex``, ``distance``, int64, and ``predecessor``, the first of the vertices before it on
        shortest paths; null where there is no path, and before the source. Of a list all vertices
        for each source in turn, with the source as ``start``.

    Raises
    ------
    InvalidArgumentError
        If there is no such vertex.

    Notes
    -----
    Direction-optimising (S. Beamer, K. Asanovic, D. Patterson, SC 2012); many at once as
    M. Then and others (VLDB 2014). Only the columns that are used are computed.

    >>> graph = hr.graph.Graph([(0, 1), (1, 2), (2, 0), (2, 3)])
    >>> found = hr.graph.bfs(graph, source=0)
    >>> found.distance.to_list(), found.predecessor.to_list()
    ([0, 1, 1, 2], [None, 0, 0, 2])
    >>> many = graph.bfs(source=[0, 3])
    >>> many[many.start == 3].distance.to_list()
    [2, 2, 1, 0]
    """
    graph = graph_of(G, "bfs")
    if depth_limit is not None and depth_limit < 0:
        raise InvalidArgumentError(f"bfs: a negative limit: depth_limit={depth_limit}")
    most = -1 if depth_limit is None else depth_limit
    keys = len(graph._given.source)
    numbers = graph._find("bfs", source, "source").tolist()
    mark("bfs")
    before = key_names("predecessor", keys)
    if not (isinstance(source, list) or is_series(source) or hasattr(source, "__array__")):
        table = _core.graph_bfs(graph._graph, numbers[0], most)
        return graph._frame(table, "distance", *before, vertices=vertices)
    if vertices is not None:
        raise InvalidArgumentError("bfs: vertices of several searches; pick rows of the result")
    names = key_names("start", keys) + key_names("vertex", keys) + ["distance", *before]
    return frame_of_parts(_core.graph_many_bfs(graph._graph, numbers, most), names)
