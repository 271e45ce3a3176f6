# SPDX-License-Identifier: Apache-2.0
"""Ranks of vertices by how often a random surfer meets them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from headrace import _core
from headrace.errors import InvalidArgumentError
from headrace.frame.columns import is_frame, new_frame
from headrace.graph.graph import graph_of
from headrace.lazy.handle import mark
from headrace.series.column import new_series

if TYPE_CHECKING:
    from headrace.frame.dataframe import DataFrame
    from headrace.graph.graph import Graph


def values_of(graph: Graph, op: str, name: str, given: Any) -> _core.Node | None:
    """Numbers by vertex, a dict or a frame of ids and numbers, in the rows of vertices; else 0."""
    if given is None:
        return None
    if isinstance(given, Mapping):
        ids, numbers = list(given), list(given.values())
    else:
        frame = given if is_frame(given) else new_frame(given)
        *keys, last = frame.columns
        ids, numbers = frame[keys], frame[last].to_numpy()
    made = np.zeros(len(graph))
    if len(numbers):
        rows = graph._find(op, ids, name)
        if len(np.unique(rows)) < len(rows):
            raise InvalidArgumentError(f"{op}: a vertex has two values: name={name!r}")
        made[rows] = numbers
    return new_series(made)._node


def pagerank(
    G: Any,
    alpha: float = 0.85,
    personalization: Any = None,
    max_iter: int = 100,
    tol: float = 1e-6,
    nstart: Any = None,
    weight: str | bool | None = True,
    dangling: Any = None,
    *,
    vertices: Any = None,
) -> DataFrame:
    """PageRank: how often a random surfer, who starts anew at times, is at each vertex.

    Parameters
    ----------
    G : Graph, or what `Graph` takes
        Undirected edges are followed both ways.
    alpha : float, default 0.85
        How often the surfer follows an edge.
    personalization : dict or frame, optional
        Where they start anew: a number for some vertices, a dict or a frame of ids and numbers.
        Even by default.
    max_iter : int, default 100
    tol : float, default 1e-6
        Enough when the changes of all vertices sum up to less than this for each vertex.
    nstart : dict or frame, optional
        Where they start.
    weight : str, True or None, default True
        The column of edges that says how often an edge is taken, not negative; True: the graph's
        weights, None: all edges alike.
    dangling : dict or frame, optional
        Where they go from vertices without edges out; by default as `personalization`.
    vertices : list, optional
        Only these.

    Returns
    -------
    DataFrame
        ``vertex`` and ``pagerank``, float64, which sums to 1.

    Raises
    ------
    ConvergenceError
        When it runs, if `max_iter` steps are not enough; with the error that was reached.
    InvalidArgumentError
        If a vertex is not there; when it runs, if weights or other numbers are negative, not finite
        or all 0.

    Notes
    -----
    L. Page, S. Brin, R. Motwani, T. Winograd (1999), as NetworkX computes it. 24 bytes a vertex.

    >>> graph = hr.graph.Graph([(0, 1), (1, 2), (2, 0), (3, 2)], directed=True)
    >>> graph.pagerank().sort_values("pagerank", ascending=False).vertex.head(1).to_list()
    [2]
    >>> found = graph.pagerank(personalization={3: 1}, tol=1e-7)
    >>> round(found.pagerank.to_list()[3], 3)
    0.15
    """
    graph = graph_of(G, "pagerank")
    if not 0 <= alpha <= 1:
        raise InvalidArgumentError(f"pagerank: expected 0 to 1: alpha={alpha}")
    weights = graph._weights("pagerank", weight)
    anew, start, lost = (
        values_of(graph, "pagerank", name, given)
        for name, given in (
            ("personalization", personalization),
            ("nstart", nstart),
            ("dangling", dangling),
        )
    )
    mark("pagerank")
    table = _core.graph_pagerank(graph._graph, alpha, max_iter, tol, anew, start, lost, weights)
    return graph._frame(table, "pagerank", vertices=vertices)
