# SPDX-License-Identifier: Apache-2.0
"""How central vertices and edges are by the shortest paths through them and to them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from headrace import _core
from headrace.errors import InvalidArgumentError
from headrace.frame.columns import frame_of
from headrace.graph.graph import graph_of
from headrace.graph.sources import key_names
from headrace.lazy.handle import mark
from headrace.random import permutation

if TYPE_CHECKING:
    from headrace.frame.dataframe import DataFrame
    from headrace.graph.graph import Graph


def _sources(graph: Graph, op: str, k: int | None, sources: Any, seed: Any) -> list[int]:
    """The numbers of `k` vertices by chance, of those that are named, or of all; ascending."""
    count = len(graph)
    if sources is not None:
        if k is not None:
            raise InvalidArgumentError(f"{op}: sources are named, not drawn: k={k}; leave k out")
        rows = np.sort(graph._find(op, sources, "sources"))
        if (np.diff(rows) == 0).any():
            raise InvalidArgumentError(f"{op}: a source is named twice")
        return rows.tolist()
    if k is None or k == count:
        return list(range(count))
    if not 0 < k < count:
        raise InvalidArgumentError(f"{op}: expected 1 to {count} sources: k={k}")
    return np.sort(permutation(count, seed=seed)[:k]).tolist()


def betweenness_centrality(
    G: Any,
    k: int | None = None,
    normalized: bool = True,
    weight: str | bool | None = None,
    endpoints: bool = False,
    seed: Any = 0,
    *,
    sources: Any = None,
    vertices: Any = None,
) -> DataFrame:
    """How many of the shortest paths between others go through each vertex.

    Of several shortest paths between two vertices each counts its share.

    Parameters
    ----------
    G : Graph, or what `Graph` takes
        Edges are followed in their direction.
    k : int, optional
        Only the paths from this many vertices, drawn by chance, which stand for all.
    normalized : bool, default True
        Whether it is divided by the number of pairs of vertices.
    weight : str, True or None, default None
        The column of edges' lengths, positive; True: the graph's weights, None: each counts 1.
    endpoints : bool, default False
        Whether a path goes through its ends too.
    seed : int, default 0
        Of the draw.
    sources : list, optional
        Only the paths from these vertices, in place of `k`.
    vertices : list, optional
        Only these.

    Returns
    -------
    DataFrame
        ``vertex`` and ``betweenness``, float64.

    Raises
    ------
    InvalidArgumentError
        If there are fewer vertices than `k`, or no such one; when it runs, if a weight is not
        positive or not finite, or there are more shortest paths than a float64 counts.

    Notes
    -----
    U. Brandes (2001), scaled as NetworkX does it. A search forth and back for each source, several
    at once; 25 bytes a vertex for each of them.

    >>> graph = hr.graph.Graph([(0, 1), (1, 2), (2, 3)])
    >>> graph.betweenness_centrality(normalized=False).betweenness.to_list()
    [0.0, 2.0, 2.0, 0.0]
    """
    op = "betweenness_centrality"
    graph = graph_of(G, op)
    rows, weights = _sources(graph, op, k, sources, seed), graph._weights(op, weight)
    mark(op)
    table = _core.graph_betweenness(
        graph._graph, rows, len(rows) < len(graph), normalized, endpoints, weights
    )
    return graph._frame(table, "betweenness", vertices=vertices)


def edge_betweenness_centrality(
    G: Any,
    k: int | None = None,
    normalized: bool = True,
    weight: str | bool | None = None,
    seed: Any = 0,
    *,
    sources: Any = None,
) -> DataFrame:
    """How many of the shortest paths between vertices go along each edge.

    Parameters
    ----------
    G : Graph, or what `Graph` takes
    k, normalized, weight, seed, sources
        As `betweenness_centrality` takes them.

    Returns
    -------
    DataFrame
        ``source``, ``target`` and ``betweenness``, float64, in the rows of ``graph.edges()``. Of
        several edges between two vertices the shortest ones share it.

    Raises
    ------
    InvalidArgumentError
        As `betweenness_centrality`.

    >>> graph = hr.graph.Graph([(0, 1), (1, 2), (2, 3)])
    >>> graph.edge_betweenness_centrality(normalized=False).betweenness.to_list()
    [3.0, 4.0, 3.0]
    """
    op = "edge_betweenness_centrality"
    graph = graph_of(G, op)
    rows, weights = _sources(graph, op, k, sources, seed), graph._weights(op, weight)
    edges, given = graph._edge_frame(), graph._given
    ends = [edges._nodes[name] for name in given.source + given.target]
    mark(op)
    table = _core.graph_edge_betweenness(
        graph._with_edges(),
        rows,
        k is not None or sources is not None,
        normalized,
        weights,
        ends[0].domain,
    )
    names = [n for word in ("source", "target") for n in key_names(word, len(given.source))]
    (found,) = _core.parts(table, 1)
    return frame_of({**dict(zip(names, ends, strict=True)), "betweenness": found})


def closeness_centrality(
    G: Any,
    u: Any = None,
    distance: str | bool | None = None,
    wf_improved: bool = True,
    *,
    vertices: Any = None,
) -> Any:
    """How near each vertex is to those that have a path to it: 1 over their mean distance.

    Parameters
    ----------
    G : Graph, or what `Graph` takes
        Edges are followed backwards.
    u : vertex, optional
        The number of this one alone.
    distance : str, True or None, default None
        The column of edges' lengths, not negative; True: the graph's weights, None: each counts 1.
    wf_improved : bool, default True
        Whether it is multiplied by the share of other vertices that have a path.
    vertices : list, optional
        Only these; only they are computed.

    Returns
    -------
    DataFrame or float
        ``vertex`` and ``closeness_centrality``, float64; 0 where no other vertex has a path.

    Raises
    ------
    InvalidArgumentError
        If there is no such vertex; when it runs, if a length is negative or not finite.

    Notes
    -----
    L. Freeman (1978), with S. Wasserman and K. Faust (1994). A search from each vertex; without
    lengths 64 of them share each pass (M. Then and others, VLDB 2014), 24 bytes a vertex.

    >>> hr.graph.closeness_centrality([(0, 1), (1, 2)]).closeness_centrality.to_list()[1]
    1.0
    """
    op = "closeness_centrality"
    graph = graph_of(G, op)
    kind = "improved" if wf_improved else "plain"
    if u is None:
        return _near(graph, op, kind, distance, vertices)
    rows = _near(graph, op, kind, distance, [u], "u")
    return rows[op].to_list()[0]


def harmonic_centrality(
    G: Any, nbunch: Any = None, distance: str | bool | None = None, sources: Any = None
) -> DataFrame:
    """The sum of 1 over the distances from other vertices to each one.

    Parameters
    ----------
    G : Graph, or what `Graph` takes
        Edges are followed in their direction.
    nbunch : list, optional
        Only these vertices.
    distance : str, True or None, default None
        As `closeness_centrality` takes it.
    sources : list, optional
        The vertices from which distances count; all by default.

    Returns
    -------
    DataFrame
        ``vertex`` and ``harmonic_centrality``, float64.

    Raises
    ------
    InvalidArgumentError
        As `closeness_centrality`.

    >>> hr.graph.harmonic_centrality([(0, 1), (1, 2)]).harmonic_centrality.to_list()
    [1.5, 2.0, 1.5]
    """
    op = "harmonic_centrality"
    graph = graph_of(G, op)
    if sources is None:
        return _near(graph, op, "reciprocal", distance, nbunch)
    rows, weights = _sources(graph, op, None, sources, None), graph._weights(op, distance)
    mark(op)
    table = _core.graph_reciprocal_distances(graph._graph, rows, weights)
    return graph._frame(table, op, vertices=nbunch)


def _near(
    graph: Graph, op: str, kind: str, distance: Any, vertices: Any, word: str = "vertex"
) -> DataFrame:
    ids = graph._vertices()
    rows = range(len(graph)) if vertices is None else graph._find(op, vertices, word).tolist()
    if vertices is not None:
        ids = ids.iloc[rows].reset_index(drop=True)
    weights = graph._weights(op, distance)
    mark(op)
    domain = ids._nodes[ids.columns[0]].domain
    table = _core.graph_closeness(graph._graph, kind, list(rows), weights, domain)
    return frame_of({**ids._nodes, op: _core.parts(table, 1)[0]})
