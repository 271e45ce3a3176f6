# SPDX-License-Identifier: Apache-2.0
"""How much can flow from one vertex to another, and where it is held up."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from headrace import _core
from headrace.errors import InvalidArgumentError
from headrace.frame.columns import frame_of
from headrace.graph.graph import graph_of
from headrace.graph.sources import key_names
from headrace.lazy.handle import mark
from headrace.series.column import new_series, series_of

if TYPE_CHECKING:
    from headrace.frame.dataframe import DataFrame
    from headrace.graph.graph import Graph


def _flow(op: str, graph: Graph, s: Any, t: Any, capacity: str | bool) -> tuple[float, Any, Any]:
    (start,) = graph._find(op, [s], "s").tolist()
    (end,) = graph._find(op, [t], "t").tolist()
    if start == end:
        raise InvalidArgumentError(f"{op}: source and sink are the same: s={s!r}, t={t!r}")
    capacities = graph._weights(op, capacity)
    if capacities is None:
        raise InvalidArgumentError(f"{op}: edges have no capacity: capacity={capacity!r}")
    edges, given = graph._edge_frame(), graph._given
    source, target = (new_series(graph._find_columns(edges[names]))._node for names in given[1:3])
    mark(op)
    directed = graph.is_directed()
    return _core.graph_maximum_flow(len(graph), directed, source, target, capacities, start, end)


def maximum_flow(
    G: Any, s: Any, t: Any, capacity: str | bool = "capacity"
) -> tuple[float, DataFrame]:
    """The most that flows from `s` to `t`, and how much goes along each edge.

    Parameters
    ----------
    G : Graph, or what `Graph` takes
        An undirected edge carries as much either way.
    s, t : vertex
        Source and sink.
    capacity : str or True, default 'capacity'
        The column of what edges carry, numbers, not negative; infinity: without a limit. True: the
        graph's weights.

    Returns
    -------
    value : float
    frame : DataFrame
        ``source``, ``target`` and ``flow``, float64, in the rows of ``graph.edges()``; of
        undirected edges negative where it goes from target to source.

    Raises
    ------
    InvalidArgumentError
        If there is no such vertex, both are the same, a capacity is negative or missing, or nothing
        limits the flow.

    Notes
    -----
    E. Dinic (1970), on one thread. Exact for whole capacities up to 2^53.

    >>> pipes = hr.DataFrame({"a": [0, 0, 1, 2], "b": [1, 2, 3, 3], "capacity": [3, 2, 2, 4]})
    >>> graph = hr.graph.Graph(pipes, edge_attr="capacity", directed=True)
    >>> value, flow = graph.maximum_flow(0, 3)
    >>> value, flow.flow.to_list()
    (4.0, [2.0, 2.0, 2.0, 2.0])
    """
    graph = graph_of(G, "maximum_flow")
    value, along, _ = _flow("maximum_flow", graph, s, t, capacity)
    edges, given = graph._edge_frame(), graph._given
    ends = [edges._nodes[name] for name in given.source + given.target]
    names = [n for word in ("source", "target") for n in key_names(word, len(given.source))]
    found = _core.in_domain(along, ends[0].domain)
    return value, frame_of({**dict(zip(names, ends, strict=True)), "flow": found})


def minimum_cut(
    G: Any, s: Any, t: Any, capacity: str | bool = "capacity"
) -> tuple[float, tuple[DataFrame, DataFrame]]:
    """The least capacity of edges that part `s` from `t`, and the vertices on either side.

    Parameters
    ----------
    G, s, t, capacity
        As `maximum_flow` takes them.

    Returns
    -------
    value : float
    sides : tuple of DataFrame
        ``vertex`` on the side of `s`, and on that of `t`, which is as small as can be.

    Raises
    ------
    InvalidArgumentError
        As `maximum_flow`.

    >>> pipes = hr.DataFrame({"a": [0, 0, 1, 2], "b": [1, 2, 3, 3], "capacity": [3, 2, 2, 4]})
    >>> graph = hr.graph.Graph(pipes, edge_attr="capacity", directed=True)
    >>> value, (near, far) = graph.minimum_cut(0, 3)
    >>> value, near.vertex.to_list(), far.vertex.to_list()
    (4.0, [0, 1], [2, 3])
    """
    graph = graph_of(G, "minimum_cut")
    value, _, behind = _flow("minimum_cut", graph, s, t, capacity)
    ids, is_behind = graph._vertices(), series_of(behind).to_numpy()
    sides = (ids[new_series(mask)].reset_index(drop=True) for mask in (~is_behind, is_behind))
    return value, tuple(sides)  # type: ignore[return-value]
