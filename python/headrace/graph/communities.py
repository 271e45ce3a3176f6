# SPDX-License-Identifier: Apache-2.0
"""Communities: groups with more edges between their vertices than chance would give."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from headrace import _core
from headrace.errors import InvalidArgumentError
from headrace.frame.columns import is_frame
from headrace.graph.graph import undirected_graph_of
from headrace.graph.sources import key_names
from headrace.lazy.handle import mark
from headrace.series.column import new_series

if TYPE_CHECKING:
    from headrace.frame.dataframe import DataFrame


def seed_of(op: str, seed: int) -> int:
    """A seed of random numbers."""
    if isinstance(seed, bool) or not isinstance(seed, int | np.integer) or not 0 <= seed < 2**64:
        raise InvalidArgumentError(f"{op}: expected an integer from 0 on: seed={seed!r}")
    return int(seed)


def louvain(
    G: Any,
    weight: str | bool | None = True,
    resolution: float = 1,
    threshold: float = 1e-7,
    max_level: int | None = None,
    seed: int = 0,
    *,
    vertices: Any = None,
) -> DataFrame:
    """Communities by Louvain: vertices, then whole communities, move where modularity grows.

    Parameters
    ----------
    G : Graph, or what `Graph` takes
        Undirected.
    weight : str, bool or None
        The attribute of edges that weighs them, none negative; True: the graph's; None: 1 each.
    resolution : float, default 1
        More makes smaller communities.
    threshold : float, default 1e-7
        A level that gains less modularity is the last one.
    max_level : int, optional
        No more levels than that.
    seed : int, default 0
        Of the order in which vertices decide.
    vertices : list, optional
        Only these.

    Returns
    -------
    DataFrame
        ``vertex`` and ``community``, int64: 0, 1, ... in the order of their first vertices.

    Raises
    ------
    InvalidArgumentError
        For a directed graph, a negative or infinite weight, a resolution that is not positive.

    Notes
    -----
    V. D. Blondel and others (J. Stat. Mech. 2008). Vertices of a sixteenth decide on the same
    communities, then all of them move (L. Gottesbüren, M. Hamann, Euro-Par 2022), on whole weights:
    the same for any number of threads. Up to 1,024 vertices move one by one, in eight orders; the
    best is kept. Some 24 bytes an edge's end and 40 a vertex.

    >>> pairs = [(0, 1), (1, 2), (2, 0), (3, 4), (4, 5), (5, 3), (0, 3)]
    >>> hr.graph.louvain(pairs).community.to_list()
    [0, 0, 0, 1, 1, 1]
    """
    graph = undirected_graph_of(G, "louvain")
    mark("louvain")
    weights = graph._weights("louvain", weight)
    levels = -1 if max_level is None else max_level
    table = _core.graph_louvain(
        graph._graph, weights, resolution, threshold, levels, seed_of("louvain", seed)
    )
    return graph._frame(table, "community", vertices=vertices)


def leiden(
    G: Any,
    weight: str | bool | None = True,
    resolution: float = 1,
    n_iterations: int = 2,
    seed: int = 0,
    *,
    vertices: Any = None,
) -> DataFrame:
    """Communities by Leiden: as `louvain`, and each is connected.

    Parameters
    ----------
    G, weight, resolution, seed, vertices
        As `louvain` has them.
    n_iterations : int, default 2
        Passes, each from the communities of the one before; -1: until nothing moves.

    Returns
    -------
    DataFrame
        ``vertex`` and ``community``, int64: 0, 1, ... in the order of their first vertices.

    Notes
    -----
    V. A. Traag, L. Waltman, N. J. van Eck (Scientific Reports 9, 2019); a vertex joins the part of
    its community where it gains most. The same for any number of threads.

    >>> pairs = [(0, 1), (1, 2), (2, 0), (3, 4), (4, 5), (5, 3), (0, 3)]
    >>> hr.graph.leiden(pairs).community.to_list()
    [0, 0, 0, 1, 1, 1]
    """
    graph = undirected_graph_of(G, "leiden")
    mark("leiden")
    weights = graph._weights("leiden", weight)
    table = _core.graph_leiden(
        graph._graph, weights, resolution, n_iterations, seed_of("leiden", seed)
    )
    return graph._frame(table, "community", vertices=vertices)


def ecg(
    G: Any,
    min_weight: float = 0.0001,
    ensemble_size: int = 100,
    max_level: int = 10,
    threshold: float = 1e-7,
    resolution: float = 1,
    random_state: int = 0,
    weight: str | bool | None = True,
    *,
    vertices: Any = None,
) -> DataFrame:
    """Communities by ensemble clustering: `louvain` on how often edges are within a community.

    Parameters
    ----------
    G, max_level, threshold, resolution, weight, vertices
        As `louvain` has them.
    min_weight : float, default 0.0001
        Of an edge whose ends are never together; 1 of one whose ends always are.
    ensemble_size : int, default 100
        One-level partitions by Louvain, each from another draw.
    random_state : int, default 0
        Of the draws.

    Returns
    -------
    DataFrame
        ``vertex`` and ``community``, int64: 0, 1, ... in the order of their first vertices.

    Notes
    -----
    V. Poulin, F. Théberge (Applied Network Science 3, 2018), with cuGraph's defaults. The same for
    any number of threads.

    >>> pairs = [(0, 1), (1, 2), (2, 0), (3, 4), (4, 5), (5, 3), (0, 3)]
    >>> hr.graph.ecg(pairs).community.to_list()
    [0, 0, 0, 1, 1, 1]
    """
    graph = undirected_graph_of(G, "ecg")
    mark("ecg")
    table = _core.graph_ecg(
        graph._graph,
        graph._weights("ecg", weight),
        min_weight,
        ensemble_size,
        max_level,
        threshold,
        resolution,
        seed_of("ecg", random_state),
    )
    return graph._frame(table, "community", vertices=vertices)


def label_propagation(
    G: Any, weight: str | bool | None = None, seed: int = 0, *, vertices: Any = None
) -> DataFrame:
    """Communities of vertices that took their label from most of their neighbours.

    Parameters
    ----------
    G : Graph, or what `Graph` takes
        Undirected.
    weight : str, bool or None
        The attribute of edges that weighs neighbours, none negative; True: the graph's; None: 1
        each, as NetworkX's `asyn_lpa_communities`.
    seed, vertices
        As `louvain` has them; `seed` also chooses among labels that weigh the same.

    Returns
    -------
    DataFrame
        ``vertex`` and ``community``, int64: 0, 1, ... in the order of their first vertices. Each
        has a label that no other of its neighbours' outweighs.

    Notes
    -----
    U. N. Raghavan, R. Albert, S. Kumara (Phys. Rev. E 76, 2007). Vertices of a sixteenth decide on
    the same labels: the same for any number of threads.

    >>> pairs = [(0, 1), (1, 2), (2, 0), (3, 4), (4, 5), (5, 3), (0, 3)]
    >>> hr.graph.label_propagation(pairs).community.to_list()
    [0, 0, 0, 1, 1, 1]
    """
    graph = undirected_graph_of(G, "label_propagation")
    mark("label_propagation")
    weights = graph._weights("label_propagation", weight)
    table = _core.graph_label_propagation(graph._graph, weights, seed_of("label_propagation", seed))
    return graph._frame(table, "community", vertices=vertices)


def modularity(
    G: Any, communities: Any, weight: str | bool | None = True, resolution: float = 1
) -> float:
    """How much more weight is within communities than chance would give: -0.5 to 1.

    Parameters
    ----------
    G : Graph, or what `Graph` takes
        Undirected.
    communities : DataFrame, or list of lists of vertices
        A row for each vertex, with its community in the last column, as `louvain` gives it; or
        communities that have each vertex once.
    weight, resolution
        As `louvain` has them.

    Returns
    -------
    float
        NaN of a graph without edges (M. E. J. Newman, M. Girvan, Phys. Rev. E 69, 2004).

    >>> pairs = [(0, 1), (1, 2), (2, 0), (3, 4), (4, 5), (5, 3), (0, 3)]
    >>> graph = hr.graph.Graph(pairs)
    >>> round(hr.graph.modularity(graph, graph.louvain()), 4)
    0.3571
    >>> round(hr.graph.modularity(graph, [[0, 1, 2, 3, 4, 5]]), 4)
    0.0
    """
    graph = undirected_graph_of(G, "modularity")
    mark("modularity")
    if is_frame(communities):
        ids: Any = communities[key_names("vertex", len(graph._given.source))]
        named = communities[communities.columns[-1]].to_numpy()
        labels = np.unique(named, return_inverse=True)[1]
    else:
        groups = [list(group) for group in communities]
        ids = [vertex for group in groups for vertex in group]
        labels = np.repeat(np.arange(len(groups)), [len(group) for group in groups])
    rows = graph._find("modularity", ids)
    if len(rows) != len(graph) or len(np.unique(rows)) != len(rows):
        raise InvalidArgumentError(
            f"modularity: expected each vertex once: vertices={len(graph)}, given={len(rows)}"
        )
    ordered = np.empty(len(rows), np.int64)
    ordered[rows] = labels
    weights = graph._weights("modularity", weight)
    return _core.graph_modularity(graph._graph, new_series(ordered)._node, weights, resolution)
