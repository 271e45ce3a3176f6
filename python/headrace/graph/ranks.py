# SPDX-License-Identifier: Apache-2.0
"""Ranks of vertices by those of their neighbours."""

from __future__ import annotations

import numbers
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from headrace import _core
from headrace.errors import InvalidArgumentError
from headrace.frame.columns import frame_of_parts, is_frame, new_frame
from headrace.graph.graph import graph_of
from headrace.graph.sources import key_names
from headrace.lazy.handle import mark
from headrace.series.column import new_series

if TYPE_CHECKING:
    import numpy.typing as npt

    from headrace.frame.dataframe import DataFrame
    from headrace.graph.graph import Graph


def values_of(graph: Graph, op: str, name: str, given: Any) -> _core.Node | None:
    """Numbers by vertex, a dict or a frame of ids and numbers, in the rows of vertices; else 0."""
    if given is None:
        return None
    if isinstance(given, Mapping):
        ids, values = list(given), list(given.values())
    else:
        frame = given if is_frame(given) else new_frame(given)
        *keys, last = frame.columns
        ids, values = frame[keys], frame[last].to_numpy()
    return new_series(_spread(graph, op, name, ids, values))._node


def _spread(graph: Graph, op: str, name: str, ids: Any, values: Any) -> npt.NDArray[np.float64]:
    made = np.zeros(len(graph))
    if len(values):
        rows = graph._find(op, ids, name)
        if len(np.unique(rows)) < len(rows):
            raise InvalidArgumentError(f"{op}: a vertex has two values: name={name!r}")
        made[rows] = values
    return made


def _starts_of(graph: Graph, given: DataFrame) -> tuple[list[int], _core.Node]:
    """The vertices in columns ``start``, as they come, and the shares of each in turn."""
    op, keys = "pagerank", len(graph._given.source)
    names = key_names("start", keys)
    *ids, last = (name for name in given.columns if name not in names)
    starts = graph._find(op, given[names], "start")
    rows, first = np.unique(starts, return_index=True)
    rows = rows[np.argsort(first)]
    values, parts = given[last].to_numpy(), []
    for row in rows:
        own = np.flatnonzero(starts == row)
        some = given[ids].iloc[own].reset_index(drop=True)
        parts.append(_spread(graph, op, "personalization", some, values[own]))
    return rows.tolist(), new_series(np.concatenate(parts) if parts else np.zeros(0))._node


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
    strict: bool = True,
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
        Even by default. A frame with a column ``start``, of vertices, asks several questions: one
        for the rows of each; 8 of them share the passes over the graph.
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
    strict : bool, default True
        Whether it is an error if `max_iter` steps are not enough; else the last step is the result,
        and `hr.advice` says so.
    vertices : list, optional
        Only these.

    Returns
    -------
    DataFrame
        ``vertex`` and ``pagerank``, float64, which sums to 1. Of several questions all vertices for
        each in turn, with its ``start``.

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
    >>> asked = hr.DataFrame({"start": [0, 3], "vertex": [0, 3], "share": [1.0, 1.0]})
    >>> many = graph.pagerank(personalization=asked, tol=1e-7)
    >>> round(many[many.start == 3].pagerank.to_list()[3], 3)
    0.15
    """
    graph = graph_of(G, "pagerank")
    if not 0 <= alpha <= 1:
        raise InvalidArgumentError(f"pagerank: expected 0 to 1: alpha={alpha}")
    weights, keys = graph._weights("pagerank", weight), len(graph._given.source)
    if hasattr(personalization, "columns") and key_names("start", keys)[0] in personalization:
        if not (nstart is None and dangling is None and vertices is None):
            raise InvalidArgumentError(
                "pagerank: several questions take no nstart, dangling or vertices; pick rows of "
                "the result"
            )
        given = personalization if is_frame(personalization) else new_frame(personalization)
        starts, parts = _starts_of(graph, given)
        mark("pagerank")
        table = _core.graph_many_pagerank(
            graph._graph, alpha, max_iter, tol, strict, starts, parts, weights
        )
        names = [*key_names("start", keys), *key_names("vertex", keys), "pagerank"]
        return frame_of_parts(table, names)
    anew, start, lost = (
        values_of(graph, "pagerank", name, given)
        for name, given in (
            ("personalization", personalization),
            ("nstart", nstart),
            ("dangling", dangling),
        )
    )
    mark("pagerank")
    table = _core.graph_pagerank(
        graph._graph, alpha, max_iter, tol, strict, anew, start, lost, weights
    )
    return graph._frame(table, "pagerank", vertices=vertices)


def eigenvector_centrality(
    G: Any,
    max_iter: int = 100,
    tol: float = 1e-6,
    nstart: Any = None,
    weight: str | bool | None = None,
    *,
    strict: bool = True,
    vertices: Any = None,
) -> DataFrame:
    """The leading eigenvector: vertices count by how much those that lead to them count.

    Parameters
    ----------
    G : Graph, or what `Graph` takes
    max_iter, tol, strict
        As `pagerank` takes them.
    nstart : dict or frame, optional
        What it starts with; the same for all by default.
    weight : str, True or None, default None
        The column of edges' weights; True: the graph's, None: all edges alike.
    vertices : list, optional
        Only these.

    Returns
    -------
    DataFrame
        ``vertex`` and ``eigenvector_centrality``, float64, whose squares sum to 1.

    Raises
    ------
    ConvergenceError
        When it runs, if `max_iter` steps are not enough; with the error that was reached.
    InvalidArgumentError
        If a vertex is not there; when it runs, if a number is not finite.

    Notes
    -----
    P. Bonacich (1986), as NetworkX computes it: what is pulled is added to what is there. Of a
    graph in several parts the one with the largest eigenvalue takes all. 16 bytes a vertex.

    >>> found = hr.graph.eigenvector_centrality([(0, 1), (1, 2)])
    >>> found.eigenvector_centrality.round(4).to_list()
    [0.5, 0.7071, 0.5]
    """
    op = "eigenvector_centrality"
    graph = graph_of(G, op)
    weights, start = graph._weights(op, weight), values_of(graph, op, "nstart", nstart)
    mark(op)
    table = _core.graph_eigenvector_centrality(graph._graph, max_iter, tol, strict, start, weights)
    return graph._frame(table, op, vertices=vertices)


def katz_centrality(
    G: Any,
    alpha: float = 0.1,
    beta: Any = 1.0,
    max_iter: int = 1000,
    tol: float = 1e-6,
    nstart: Any = None,
    normalized: bool = True,
    weight: str | bool | None = None,
    *,
    strict: bool = True,
    vertices: Any = None,
) -> DataFrame:
    """Katz centrality: `beta`, and `alpha` of what those that lead to a vertex have.

    Parameters
    ----------
    G : Graph, or what `Graph` takes
    alpha : float, default 0.1
        Less than 1 over the largest eigenvalue, or it does not converge.
    beta : float, dict or frame, default 1.0
        What vertices have by themselves; by vertex: for all of them.
    max_iter, tol, strict
        As `pagerank` takes them.
    nstart : dict or frame, optional
        What it starts with; 0 by default.
    normalized : bool, default True
        Whether squares sum to 1.
    weight : str, True or None, default None
        As `eigenvector_centrality` takes it.
    vertices : list, optional
        Only these.

    Returns
    -------
    DataFrame
        ``vertex`` and ``katz_centrality``, float64.

    Raises
    ------
    ConvergenceError, InvalidArgumentError
        As `eigenvector_centrality`; also if `beta` leaves out a vertex.

    Notes
    -----
    L. Katz (1953), as NetworkX computes it. 24 bytes a vertex.

    >>> graph = hr.graph.Graph([(0, 2), (1, 2)], directed=True)
    >>> graph.katz_centrality(normalized=False).katz_centrality.to_list()
    [1.0, 1.0, 1.2]
    """
    op = "katz_centrality"
    graph = graph_of(G, op)
    is_one = isinstance(beta, numbers.Real)
    if not is_one and len(beta) != len(graph):
        raise InvalidArgumentError(
            f"{op}: expected a value for each vertex: beta={len(beta)} values, "
            f"vertices={len(graph)}"
        )
    betas = None if is_one else values_of(graph, op, "beta", beta)
    weights, start = graph._weights(op, weight), values_of(graph, op, "nstart", nstart)
    mark(op)
    table = _core.graph_katz_centrality(
        graph._graph,
        max_iter,
        tol,
        strict,
        alpha,
        float(beta) if is_one else 0.0,
        normalized,
        betas,
        start,
        weights,
    )
    return graph._frame(table, op, vertices=vertices)


def hits(
    G: Any,
    max_iter: int = 100,
    tol: float = 1e-8,
    nstart: Any = None,
    normalized: bool = True,
    *,
    weight: str | bool | None = True,
    strict: bool = True,
    vertices: Any = None,
) -> DataFrame:
    """Hubs, which lead to good authorities, and authorities, to which good hubs lead.

    Parameters
    ----------
    G : Graph, or what `Graph` takes
    max_iter, tol, strict
        As `pagerank` takes them.
    nstart : dict or frame, optional
        The hubs that it starts with; all alike by default.
    normalized : bool, default True
        Whether each sums to 1; else the squares of authorities do, and hubs are what they lead to.
    weight : str, True or None, default True
        The column of edges' weights; True: the graph's, None: all edges alike.
    vertices : list, optional
        Only these.

    Returns
    -------
    DataFrame
        ``vertex``, ``hubs`` and ``authorities``, float64.

    Raises
    ------
    ConvergenceError, InvalidArgumentError
        As `eigenvector_centrality`.

    Notes
    -----
    J. Kleinberg (1999): the leading singular vectors, step by step. 24 bytes a vertex.

    >>> graph = hr.graph.Graph([(0, 1), (0, 2), (3, 2)], directed=True)
    >>> found = graph.hits()
    >>> found.sort_values("authorities").vertex.to_list()[-1]
    2
    """
    graph = graph_of(G, "hits")
    weights, start = graph._weights("hits", weight), values_of(graph, "hits", "nstart", nstart)
    mark("hits")
    table = _core.graph_hits(graph._graph, max_iter, tol, strict, normalized, start, weights)
    return graph._frame(table, "hubs", "authorities", vertices=vertices)
