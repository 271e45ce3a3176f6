# SPDX-License-Identifier: Apache-2.0
"""How alike vertices are, by their neighbours."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from headrace import _core
from headrace.errors import InvalidArgumentError
from headrace.frame.columns import frame_of, is_frame, new_frame
from headrace.graph.graph import graph_of, undirected_graph_of
from headrace.graph.sources import key_names
from headrace.lazy.handle import array_of, mark
from headrace.series.column import new_series

if TYPE_CHECKING:
    from headrace.frame.dataframe import DataFrame
    from headrace.graph.graph import Graph

_KINDS = ("jaccard", "overlap", "sorensen", "cosine")


def two_hop_neighbors(G: Any, vertices: Any = None) -> DataFrame:
    """The pairs of vertices that a path of two edges connects.

    Parameters
    ----------
    G : Graph, or what `Graph` takes
        Along the edges where it is directed.
    vertices : list, optional
        The pairs whose first vertex is one of these, in their order.

    Returns
    -------
    DataFrame
        ``first`` and ``second``, and ``common``, int64: how many vertices are between them. Without
        `vertices` and directions each pair once, the lesser vertex first; in the order of vertices.

    Notes
    -----
    The pairs are counted when the line runs: as many as squares of degrees, for graphs with hubs.

    >>> hr.graph.two_hop_neighbors([(0, 1), (1, 2), (2, 3), (3, 0)]).to_dict("list")
    {'first': [0, 1], 'second': [2, 3], 'common': [2, 2]}
    """
    graph = graph_of(G, "two_hop_neighbors")
    starts = None
    if vertices is not None:
        starts = graph._find("two_hop_neighbors", vertices).tolist()
    return frame_of(dict(list(two_hop_nodes(graph, starts).items())[:-2]))


def two_hop_nodes(graph: Graph, starts: list[int] | None) -> dict[str, _core.Node]:
    """The columns of the pairs, and the numbers of their vertices as the last two."""
    mark("two_hop_neighbors")
    table = _core.graph_two_hop(graph._graph, starts)
    keys = len(graph._given.source)
    names = [
        *key_names("first", keys),
        *key_names("second", keys),
        "common",
        "row",
        "row of second",
    ]
    return dict(zip(names, _core.parts(table, len(names)), strict=True))


def _pair_rows(graph: Graph, op: str, pairs: Any) -> tuple[_core.Node, _core.Node]:
    """The numbers of the vertices of pairs, two columns of a key."""
    keys = len(graph._given.source)
    frame = pairs if is_frame(pairs) else new_frame(pairs if len(pairs) else {"": [], " ": []})
    names = list(frame.columns)
    if len(names) != 2 * keys:
        raise InvalidArgumentError(
            f"{op}: expected {2 * keys} columns of pairs of vertices: columns={names}"
        )
    sides = (graph._find(op, frame[part]) for part in (names[:keys], names[keys:]))
    first, second = (new_series(rows) for rows in sides)
    return first._node, second._node


def _similarity(
    op: str, G: Any, pairs: Any, weight: str | bool | None, top_k: int | None
) -> DataFrame:
    graph = undirected_graph_of(G, op)
    if top_k is not None:
        if pairs is not None:
            raise InvalidArgumentError(f"{op}: top_k is of all pairs: top_k={top_k}; leave out one")
        return _most_similar(op, graph, weight, top_k)
    if pairs is None:
        first, second = list(two_hop_nodes(graph, None).values())[-2:]
    else:
        first, second = _pair_rows(graph, op, pairs)
    mark(op)
    weights = graph._weights(op, weight)
    table = _core.graph_similarity(graph._graph, _KINDS.index(op), first, second, weights)
    keys = len(graph._given.source)
    names = [*key_names("first", keys), *key_names("second", keys), op]
    return frame_of(dict(zip(names, _core.parts(table, len(names)), strict=True)))


def _most_similar(op: str, graph: Graph, weight: str | bool | None, top_k: int) -> DataFrame:
    mark(op)
    starts, weights = list(range(len(graph))), graph._weights(op, weight)
    *ends, share = _core.graph_most_similar(graph._graph, _KINDS.index(op), starts, top_k, weights)
    ids, made = graph._vertices(), dict[str, _core.Node]()
    for word, numbers in zip(("first", "second"), ends, strict=True):
        taken = ids.iloc[array_of(numbers).to_numpy()]
        names = key_names(word, len(ids.columns))
        made |= dict(zip(names, taken._nodes.values(), strict=True))
    return frame_of({**made, op: share})._in_domain(_core.new_domain())


def jaccard(
    G: Any, pairs: Any = None, weight: str | bool | None = None, *, top_k: int | None = None
) -> DataFrame:
    """The share of the neighbours of two vertices that are neighbours of both.

    Parameters
    ----------
    G : Graph, or what `Graph` takes
        Undirected, no multigraph.
    pairs : DataFrame or list of pairs, optional
        Two columns of ids (of several keys: those of the first vertex, then of the second). By
        default all pairs with a common neighbour, as `two_hop_neighbors` has them.
    weight : str or bool, optional
        The attribute of edges that weighs neighbours, none negative; True: the graph's. The share
        of the lesser weights in the greater ones.
    top_k : int, optional
        In place of `pairs`: for each vertex the `top_k` others that are most like it, by falling
        share, then in the order of vertices; found when the line runs.

    Returns
    -------
    DataFrame
        ``first``, ``second`` and ``jaccard``, float64: 0 to 1, 0 of vertices without neighbours.

    Raises
    ------
    InvalidArgumentError
        For a vertex that is not there, a directed graph or a multigraph; when it runs, for a
        negative weight.

    Notes
    -----
    P. Jaccard (1901). A vertex with an edge to itself is its own neighbour, and may be a common
    one, which NetworkX leaves out.

    >>> hr.graph.jaccard([(0, 1), (0, 2), (1, 2), (2, 3)], [(0, 1), (0, 3)]).jaccard.to_list()
    [0.3333333333333333, 0.5]
    >>> best = hr.graph.jaccard([(0, 1), (0, 2), (1, 2), (2, 3)], top_k=1)
    >>> best.second.to_list()
    [3, 3, 0, 0]
    """
    return _similarity("jaccard", G, pairs, weight, top_k)


def overlap(
    G: Any, pairs: Any = None, weight: str | bool | None = None, *, top_k: int | None = None
) -> DataFrame:
    """Common neighbours over those of the vertex that has fewer; see `jaccard`.

    >>> hr.graph.overlap([(0, 1), (0, 2), (1, 2), (2, 3)], [(0, 3)]).overlap.to_list()
    [1.0]
    """
    return _similarity("overlap", G, pairs, weight, top_k)


def sorensen(
    G: Any, pairs: Any = None, weight: str | bool | None = None, *, top_k: int | None = None
) -> DataFrame:
    """Common neighbours over the mean number of neighbours (T. Sørensen, 1948); see `jaccard`.

    >>> hr.graph.sorensen([(0, 1), (0, 2), (1, 2), (2, 3)], [(0, 1)]).sorensen.to_list()
    [0.5]
    """
    return _similarity("sorensen", G, pairs, weight, top_k)


def cosine(
    G: Any, pairs: Any = None, weight: str | bool | None = None, *, top_k: int | None = None
) -> DataFrame:
    """The cosine of the angle between two vertices' rows of the adjacency matrix; see `jaccard`.

    >>> hr.graph.cosine([(0, 1), (0, 2), (1, 2), (2, 3)], [(0, 1)]).cosine.to_list()
    [0.5]
    """
    return _similarity("cosine", G, pairs, weight, top_k)
