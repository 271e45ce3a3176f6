# SPDX-License-Identifier: Apache-2.0
"""How closely vertices are knit: cores, triangles, clustering."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from headrace import _core
from headrace.graph.graph import graph_of, undirected_graph_of
from headrace.lazy.handle import array_of, mark

if TYPE_CHECKING:
    from headrace.frame.dataframe import DataFrame
    from headrace.graph.graph import Graph


def core_number(G: Any, *, vertices: Any = None) -> DataFrame:
    """The largest k such that a vertex is in a subgraph where all have k neighbours.

    Parameters
    ----------
    G : Graph, or what `Graph` takes
        Edges in and out both count where it is directed.
    vertices : list, optional
        Only these.

    Returns
    -------
    DataFrame
        ``vertex`` and ``core``, int64.

    Raises
    ------
    InvalidArgumentError
        If the graph has self loops.

    Notes
    -----
    Vertices of the least degree are taken away, all at once (H. Kabir, K. Madduri, IPDPSW 2017).

    >>> hr.graph.core_number([(0, 1), (1, 2), (2, 0), (2, 3)]).core.to_list()
    [2, 2, 2, 1]
    """
    graph = graph_of(G, "core_number")
    mark("core_number")
    return graph._frame(_core.graph_core_number(graph._graph), "core", vertices=vertices)


def k_core(G: Any, k: int | None = None) -> Graph:
    """The subgraph of the vertices whose core number is `k` or more; by default the innermost.

    >>> hr.graph.k_core([(0, 1), (1, 2), (2, 0), (2, 3)]).nodes().vertex.to_list()
    [0, 1, 2]
    """
    graph = graph_of(G, "k_core")
    cores = core_number(graph)
    if k is None:
        k = int(cores.core.max()) if len(cores) else 0
    return graph.subgraph(cores.core >= k)


def edge_support(G: Any) -> DataFrame:
    """How many triangles each edge is in, as ``support`` next to the columns of `Graph.edges`.

    Parameters
    ----------
    G : Graph, or what `Graph` takes
        Undirected, no multigraph; 0 of self loops.

    >>> hr.graph.edge_support([(0, 1), (1, 2), (2, 0), (2, 3)]).support.to_list()
    [1, 1, 1, 0]
    """
    graph = undirected_graph_of(G, "edge_support")
    mark("edge_support")
    found = array_of(_core.graph_edge_support(graph._with_edges()))
    return graph.edges().assign(support=found)


def k_truss(G: Any, k: int) -> Graph:
    """The largest subgraph of which each edge is in `k` - 2 triangles.

    Parameters
    ----------
    G : Graph, or what `Graph` takes
        Undirected, no multigraph, without self loops.
    k : int
        Vertices without an edge left are not in the result.

    Raises
    ------
    InvalidArgumentError
        For another kind of graph.

    Notes
    -----
    J. Cohen (2008). Edges in too few triangles are taken away, all at once.

    >>> hr.graph.k_truss([(0, 1), (1, 2), (2, 0), (2, 3)], 3).nodes().vertex.to_list()
    [0, 1, 2]
    """
    graph = undirected_graph_of(G, "k_truss")
    mark("k_truss")
    return graph._of(graph._picked_edges(_core.graph_k_truss(graph._with_edges(), k)))


def _triangles(op: str, G: Any, vertices: Any) -> DataFrame:
    graph = undirected_graph_of(G, op)
    mark(op)
    table = _core.graph_triangles(graph._graph)
    return graph._frame(table, "count", "neighbors", vertices=vertices)


def triangle_count(G: Any, *, vertices: Any = None) -> DataFrame:
    """The triangles that each vertex is in.

    Parameters
    ----------
    G : Graph, or what `Graph` takes
        Undirected; self loops and repeated edges make no triangle.
    vertices : list, optional
        Only these.

    Returns
    -------
    DataFrame
        ``vertex`` and ``count``, int64. Three times the number of triangles in all.

    Notes
    -----
    Edges go to the vertex of larger degree; neighbours of neighbours are looked up in a bitmap
    (J. Shun, K. Tangwongsan, ICDE 2015).

    >>> hr.graph.triangle_count([(0, 1), (1, 2), (2, 0), (2, 3)])["count"].to_list()
    [1, 1, 1, 0]
    """
    return _triangles("triangle_count", G, vertices).drop(columns="neighbors")


def clustering(G: Any, *, vertices: Any = None) -> DataFrame:
    """The share of a vertex's pairs of neighbours that are connected, as ``clustering``.

    0 of fewer than two neighbours. Undirected graphs, without weights
    (D. J. Watts, S. H. Strogatz, Nature 393, 1998).

    >>> hr.graph.clustering([(0, 1), (1, 2), (2, 0), (2, 3)]).clustering.round(3).to_list()
    [1.0, 1.0, 0.333, 0.0]
    """
    found = _triangles("clustering", G, vertices)
    pairs = (found.neighbors * (found.neighbors - 1)).clip(lower=1)
    share = 2 * found["count"] / pairs
    return found.drop(columns=["count", "neighbors"]).assign(clustering=share)


def transitivity(G: Any) -> float:
    """The share of paths of two edges whose ends are connected: 0 without such a path.

    >>> hr.graph.transitivity([(0, 1), (1, 2), (2, 0), (2, 3)])
    0.6
    """
    found = _triangles("transitivity", G, None)
    pairs = (found.neighbors * (found.neighbors - 1)).sum()
    return float(2 * found["count"].sum() / pairs) if pairs > 0 else 0.0


def average_clustering(G: Any) -> float:
    """The mean of `clustering`; NaN without vertices.

    >>> round(hr.graph.average_clustering([(0, 1), (1, 2), (2, 0), (2, 3)]), 3)
    0.583
    """
    return float(clustering(G).clustering.mean())
