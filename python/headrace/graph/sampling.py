# SPDX-License-Identifier: Apache-2.0
"""Parts of graphs by chance: walks, and neighbours for batches of training."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from headrace import _core
from headrace.graph.communities import seed_of
from headrace.graph.graph import graph_of
from headrace.lazy.handle import array_of, mark
from headrace.series.column import new_series

if TYPE_CHECKING:
    from collections.abc import Sequence

    from headrace.array.array import Array


def random_walks(
    G: Any,
    start: Any = None,
    length: int = 80,
    p: float = 1,
    q: float = 1,
    random_state: int = 0,
    *,
    weight: str | bool | None = None,
) -> Array:
    """Walks along edges that are chosen by chance, as node2vec takes them.

    Parameters
    ----------
    G : Graph, or what `Graph` takes
        Along the edges where it is directed.
    start : list, optional
        The vertex where each walk begins; by default each vertex once.
    length : int, default 80
        Steps.
    p, q : float, default 1
        A step back has 1 / `p` of the chance of one to a neighbour of the vertex before, and one to
        other vertices 1 / `q`; from 1e-6 to 1e6.
    random_state : int, default 0
        A walk is a function of it and of the number of the walk.
    weight : str or bool, optional
        The attribute of edges that steps are in proportion to, none negative; True: the graph's.

    Returns
    -------
    Array
        int64 [walks, length + 1]: rows of `Graph.nodes`, -1 behind the end of one that cannot go
        on.

    Raises
    ------
    InvalidArgumentError
        For a vertex that is not there, a negative weight, a bias out of range.

    Notes
    -----
    A. Grover, J. Leskovec (KDD 2016); steps that the bias refuses are drawn again (K. Yang and
    others, SOSP 2019).

    >>> graph = hr.graph.Graph([("a", "b"), ("b", "c")], directed=True)
    >>> walks = hr.graph.random_walks(graph, ["a", "b"], length=3)
    >>> walks.tolist()
    [[0, 1, 2, -1], [1, 2, -1, -1]]
    >>> graph.nodes().vertex.iloc[walks[0, :3].to_numpy()].to_list()
    ['a', 'b', 'c']
    """
    graph = graph_of(G, "random_walks")
    rows = np.arange(len(graph)) if start is None else graph._find("random_walks", start, "start")
    mark("random_walks")
    weights = graph._weights("random_walks", weight)
    seed = seed_of("random_walks", random_state)
    begin = new_series(rows)._node
    return array_of(_core.graph_random_walks(graph._graph, begin, length, p, q, seed, weights))


class NeighborSample(NamedTuple):
    """What `neighbor_sample` found; the fields of PyTorch Geometric's ``SamplerOutput``."""

    #: Rows of `Graph.nodes`, int64: the seeds, then the vertices that each hop added.
    node: Array
    #: Edge i goes from ``node[row[i]]`` to ``node[col[i]]``.
    row: Array
    col: Array
    #: Rows of `Graph.edges`, int64; None where the graph has no weights and attributes of edges.
    edge: Array | None
    #: Of the seeds and of each hop.
    num_sampled_nodes: list[int]
    num_sampled_edges: list[int]


def neighbor_sample(
    G: Any,
    seeds: Any,
    fanout: Sequence[int] = (15, 10, 5),
    replace: bool = False,
    random_state: int = 0,
) -> NeighborSample:
    """Neighbours by chance, and theirs: the part of a graph for a batch of training.

    Parameters
    ----------
    G : Graph, or what `Graph` takes
        Edges lead to the seeds where it is directed.
    seeds : list
        Vertices of the batch, each once.
    fanout : sequence of int, default (15, 10, 5)
        How many neighbours each vertex gets, hop by hop, or all if it has no more; -1: all.
    replace : bool, default False
        Whether a neighbour may come several times; each vertex then gets as many as `fanout` says.
    random_state : int, default 0
        A draw is a function of it, the hop and the vertex.

    Returns
    -------
    NeighborSample
        ``node, row, col, edge, num_sampled_nodes, num_sampled_edges``.

    Raises
    ------
    InvalidArgumentError
        For a vertex that is not there, or comes twice.

    Notes
    -----
    As the sampler of PyTorch Geometric: a vertex is expanded in the hop after it was first found.
    Without replacement by R. Floyd's algorithm.

    >>> found = hr.graph.neighbor_sample([(0, 1), (1, 2), (2, 3)], [0], fanout=[1, 2])
    >>> found.node.tolist(), found.row.tolist(), found.col.tolist()
    ([0, 1, 2], [1, 0, 2], [0, 1, 1])
    """
    graph = graph_of(G, "neighbor_sample")
    rows = new_series(graph._find("neighbor_sample", seeds, "seeds"))
    mark("neighbor_sample")
    seed = seed_of("neighbor_sample", random_state)
    node, row, col, edge, nodes, edges = _core.graph_neighbor_sample(
        graph._graph, rows._node, [int(each) for each in fanout], replace, seed
    )
    rows_of_edges = None if edge is None else array_of(edge)
    found = array_of(node), array_of(row), array_of(col)
    return NeighborSample(*found, rows_of_edges, nodes, edges)
