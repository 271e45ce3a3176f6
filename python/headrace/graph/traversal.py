# SPDX-License-Identifier: Apache-2.0
"""Shortest paths, by the number of edges or by their weights."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from headrace import _core
from headrace.errors import InvalidArgumentError, UnsupportedError
from headrace.frame.columns import frame_of, frame_of_parts
from headrace.graph.graph import graph_of
from headrace.graph.sources import key_names
from headrace.lazy.handle import mark
from headrace.series.column import is_series, new_series, series_of

if TYPE_CHECKING:
    import numpy.typing as npt

    from headrace.frame.dataframe import DataFrame
    from headrace.graph.graph import Graph


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


def shortest_path_length(
    G: Any,
    source: Any,
    target: Any = None,
    weight: str | bool | None = True,
    cutoff: float | None = None,
    *,
    vertices: Any = None,
) -> Any:
    """The lengths of shortest paths from `source`: sums of weights, or numbers of edges.

    Parameters
    ----------
    G : Graph, or what `Graph` takes
    source : vertex
    target : vertex, optional
        Only the length of the path to it.
    weight : str, True or None, default True
        The column of edges' lengths, not negative; True: the graph's weights, if it has any; None:
        each edge counts 1.
    cutoff : float, optional
        Longer paths are none.
    vertices : list, optional
        Only these.

    Returns
    -------
    DataFrame or number
        ``vertex``, ``distance``, float64 with weights and int64 without, and ``predecessor``, the
        first of the vertices before it that are nearer to the source; null where there is no path.

    Raises
    ------
    InvalidArgumentError
        If there is no such vertex, or no path to `target`; when it runs, if a weight is negative
        (`bellman_ford` takes those) or not finite.

    Notes
    -----
    With weights as A. Davidson and others (IPDPS 2014), after delta-stepping (U. Meyer, P. Sanders,
    2003); else `bfs`. Distances are those of Dijkstra's algorithm, bit for bit.

    >>> roads = hr.DataFrame({"a": ["x", "y", "x"], "b": ["y", "z", "z"], "km": [1.0, 1.5, 4.0]})
    >>> graph = hr.graph.Graph(roads, weight="km")
    >>> graph.shortest_path_length("x").distance.to_list()
    [0.0, 1.0, 2.5]
    >>> graph.shortest_path_length("x", "z", weight=None)
    1
    """
    graph = graph_of(G, "shortest_path_length")
    weights = graph._weights("shortest_path_length", weight)
    (number,) = graph._find("shortest_path_length", [source], "source").tolist()
    if cutoff is not None and not cutoff >= 0:
        raise InvalidArgumentError(f"shortest_path_length: a negative limit: cutoff={cutoff}")
    mark("shortest_path_length")
    if weights is None:
        most = -1 if cutoff is None or cutoff == float("inf") else int(cutoff)
        table = _core.graph_bfs(graph._graph, number, most)
    else:
        limit = float("inf") if cutoff is None else cutoff
        table = _core.graph_shortest_paths(graph._graph, weights, number, limit)
    before = key_names("predecessor", len(graph._given.source))
    found = graph._frame(table, "distance", *before, vertices=vertices)
    if target is None:
        return found
    (number,) = graph._find("shortest_path_length", [target], "target").tolist()
    length = found["distance"].iloc[[number]].to_list()[0]
    if length is None:
        raise _no_path("shortest_path_length", source, target)
    return length


def bellman_ford(
    G: Any, source: Any, weight: str | bool = True, *, vertices: Any = None
) -> DataFrame:
    """The lengths of shortest paths from `source` where weights may be negative.

    Parameters
    ----------
    G : Graph, or what `Graph` takes
        Edges are followed in their direction.
    source : vertex
    weight : str or True, default True
        The column of edges' lengths; True: the graph's weights.
    vertices : list, optional
        Only these.

    Returns
    -------
    DataFrame
        ``vertex``, ``distance``, float64, and ``predecessor``, the first of the vertices before it
        on shortest paths of the fewest edges; null where there is no path.

    Raises
    ------
    InvalidArgumentError
        If there is no such vertex, or no weights; when it runs, if a weight is not finite, or a
        cycle that `source` leads to has negative length, as each negative undirected edge has.

    Notes
    -----
    R. Bellman (1958), L. Ford (1956), on one thread; 24 bytes a vertex and 8 an entry.

    >>> steps = hr.DataFrame({"a": [0, 0, 1], "b": [1, 2, 2], "w": [4.0, 3.0, -2.0]})
    >>> graph = hr.graph.Graph(steps, weight="w", directed=True)
    >>> graph.bellman_ford(0).distance.to_list()
    [0.0, 4.0, 2.0]
    """
    graph = graph_of(G, "bellman_ford")
    weights = graph._weights("bellman_ford", weight)
    if weights is None:
        raise InvalidArgumentError("bellman_ford: the graph has no weights; use bfs")
    (number,) = graph._find("bellman_ford", [source], "source").tolist()
    mark("bellman_ford")
    table = _core.graph_bellman_ford(graph._graph, weights, number)
    before = key_names("predecessor", len(graph._given.source))
    return graph._frame(table, "distance", *before, vertices=vertices)


def ego_graph(
    G: Any,
    n: Any,
    radius: float = 1,
    center: bool = True,
    undirected: bool = False,
    distance: str | bool | None = None,
) -> Graph:
    """The vertices near one, and the edges between them.

    Parameters
    ----------
    G : Graph, or what `Graph` takes
    n : vertex
    radius : number, default 1
        How far away they may be.
    center : bool, default True
        Whether `n` is among them.
    undirected : bool, default False
        Whether edges are followed either way where they have a direction.
    distance : str, True or None, default None
        The column of edges' lengths, not negative; True: the graph's weights, None: each counts 1.

    Raises
    ------
    InvalidArgumentError
        If there is no such vertex, or a length is negative or not finite.

    >>> hr.graph.ego_graph([(0, 1), (1, 2), (2, 3)], 1).nodes().vertex.to_list()
    [0, 1, 2]
    """
    graph = graph_of(G, "ego_graph")
    within = graph.to_undirected() if undirected and graph.is_directed() else graph
    found = shortest_path_length(within, n, weight=distance, cutoff=radius)
    is_near = found.distance.notna().to_numpy()
    if not center:
        is_near = is_near & (np.arange(len(graph)) != graph._find("ego_graph", [n], "n")[0])
    ids = graph._vertices().iloc[np.flatnonzero(is_near)]
    return graph.subgraph(ids.reset_index(drop=True))


def shortest_path(G: Any, source: Any, target: Any, weight: str | bool | None = True) -> DataFrame:
    """The vertices of a shortest path, from `source` to `target`.

    Parameters
    ----------
    G : Graph, or what `Graph` takes
    source, target : vertex
    weight : str, True or None, default True
        As `shortest_path_length` takes it.

    Returns
    -------
    DataFrame
        ``vertex`` and ``distance`` from the source, in the order of the path. Of several paths the
        one that goes back from `target` to the first vertex each time.

    Raises
    ------
    InvalidArgumentError
        If there is no such vertex or no path.

    >>> hr.graph.shortest_path([(0, 1), (1, 2), (2, 3), (0, 3)], 1, 3).vertex.to_list()
    [1, 0, 3]
    """
    graph = graph_of(G, "shortest_path")
    found = shortest_path_length(graph, source, weight=weight)
    (end,) = graph._find("shortest_path", [target], "target").tolist()
    keys = len(graph._given.source)
    before = graph._find_columns(found[key_names("predecessor", keys)])
    path = [end]
    while before[path[-1]] >= 0:
        path.append(int(before[path[-1]]))
    if path[-1] != int(graph._find("shortest_path", [source], "source")[0]):
        raise _no_path("shortest_path", source, target)
    ids = [*key_names("vertex", keys), "distance"]
    return found[ids].iloc[path[::-1]].reset_index(drop=True)


def all_shortest_paths(
    G: Any, source: Any, target: Any, weight: str | bool | None = True
) -> DataFrame:
    """The vertices of each of the shortest paths from `source` to `target`.

    Parameters
    ----------
    G : Graph, or what `Graph` takes
    source, target : vertex
    weight : str, True or None, default True
        As `shortest_path_length` takes it; lengths are positive.

    Returns
    -------
    DataFrame
        ``path``, 0, 1, ..., ``vertex`` and ``distance`` from the source: paths of few vertices
        first, then by their vertices, each from `source` to `target`.

    Raises
    ------
    InvalidArgumentError
        If there is no such vertex or no path, or a length is 0 or negative.
    UnsupportedError
        If the paths have 2^31 vertices and more together.

    Notes
    -----
    8 bytes an edge and a search; then what the paths have. They are counted before they are made.

    >>> paths = hr.graph.all_shortest_paths([(0, 1), (1, 3), (0, 2), (2, 3)], 0, 3)
    >>> paths.path.to_list(), paths.vertex.to_list()
    ([0, 0, 0, 1, 1, 1], [0, 1, 3, 0, 2, 3])
    """
    op = "all_shortest_paths"
    graph = graph_of(G, op)
    named = (source, "source"), (target, "target")
    ends = [int(graph._find(op, [each], word)[0]) for each, word in named]
    found = shortest_path_length(graph, source, weight=weight)
    distance = found.distance.astype("float64").to_numpy()
    if np.isnan(distance[ends[1]]):
        raise _no_path(op, source, target)
    begins, before = _vertices_before(graph, op, weight, distance)
    steps = [(np.array([ends[1]]), np.zeros(1, np.int64))]
    _check_count(op, begins, before, ends[0], ends[1], distance)
    while (steps[-1][0] != ends[0]).any():
        last = steps[-1][0]
        counts = begins[last + 1] - begins[last]
        behind = np.repeat(np.arange(len(last)), counts)
        first = np.repeat(begins[last] - np.cumsum(counts) + counts, counts)
        steps.append((before[first + np.arange(len(behind))], behind))
    rows: list[npt.NDArray[np.int64]] = []
    sizes: list[int] = []
    for k, (vertices, _) in enumerate(steps):
        place = np.flatnonzero(vertices == ends[0])
        columns = []
        for of, behind in steps[k::-1]:
            columns.append(of[place])
            place = behind[place]
        made = np.stack(columns, 1)
        rows.append(made[np.lexsort(made.T[::-1])].ravel())
        sizes += [k + 1] * len(made)
    keys = key_names("vertex", len(graph._given.source))
    taken = found[[*keys, "distance"]].iloc[np.concatenate(rows)].reset_index(drop=True)
    paths = new_series(np.repeat(np.arange(len(sizes)), sizes))
    return frame_of({"path": paths._node, **taken._nodes})


def _vertices_before(
    graph: Graph, op: str, weight: str | bool | None, distance: npt.NDArray[np.float64]
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """The vertices before each on shortest paths: where rows begin, and what they have."""
    weights, edges = graph._weights(op, weight), graph._edge_frame()
    ends = [graph._find_columns(edges[names]) for names in graph._given[1:3]]
    lengths = np.ones(len(edges)) if weights is None else series_of(weights, None).to_numpy()
    if len(lengths) and not lengths.min() > 0:
        edge = int((~(lengths > 0)).argmax())
        raise InvalidArgumentError(f"{op}: a length is not positive: edge={edge}, {lengths[edge]}")
    u, v = ends
    if not graph.is_directed():
        u, v, lengths = np.concatenate([u, v]), np.concatenate([v, u]), np.tile(lengths, 2)
    is_shortest = distance[u] + lengths == distance[v]
    pairs = np.unique(np.stack([v, u], 1)[is_shortest], axis=0)
    return np.searchsorted(pairs[:, 0], np.arange(len(distance) + 1)), pairs[:, 1]


def _check_count(
    op: str,
    begins: npt.NDArray[np.int64],
    before: npt.NDArray[np.int64],
    source: int,
    target: int,
    distance: npt.NDArray[np.float64],
) -> None:
    """Raise where paths have more vertices than rows are made of."""
    near, level = {target}, [target]
    while level:
        level = [u for v in level for u in before[begins[v] : begins[v + 1]].tolist()]
        level = [u for u in dict.fromkeys(level) if u not in near]
        near.update(level)
    counts, rows = {source: 1}, {source: 1}
    for v in sorted(near, key=distance.__getitem__):
        if v == source:
            continue
        row = before[begins[v] : begins[v + 1]].tolist()
        counts[v] = sum(counts[u] for u in row)
        rows[v] = sum(rows[u] for u in row) + counts[v]
    if rows[target] >= 2**31:
        raise UnsupportedError(
            f"{op}: the paths have 2^31 vertices and more: paths={counts[target]}, "
            f"vertices={rows[target]}; shortest_path finds one of them"
        )


def _no_path(op: str, source: Any, target: Any) -> InvalidArgumentError:
    return InvalidArgumentError(f"{op}: there is no path: source={source!r}, target={target!r}")
