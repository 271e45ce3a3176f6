# SPDX-License-Identifier: Apache-2.0
"""Layouts: places of vertices for pictures."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from headrace import _core
from headrace.errors import InvalidArgumentError
from headrace.frame.columns import is_frame, new_frame
from headrace.graph.communities import seed_of
from headrace.graph.graph import graph_of
from headrace.graph.sources import key_names
from headrace.lazy.handle import mark
from headrace.series.column import new_series

if TYPE_CHECKING:
    from headrace.frame.dataframe import DataFrame
    from headrace.graph.graph import Graph

_METHODS = ("force_atlas2", "spring")


def places_of(graph: Graph, op: str, pos: Any, dim: int = 2) -> np.ndarray[Any, Any]:
    """Coordinates ``[vertices, dim]`` of a dict of vertices or a frame that ends with them."""
    if isinstance(pos, Mapping):
        ids: Any = list(pos)
        given = np.array([np.asarray(each, np.float64) for each in pos.values()], ndmin=2)
    else:
        frame = pos if is_frame(pos) else new_frame(pos)
        names = [n for n in ("x", "y", "z")[:dim] if n in frame.columns]
        names = names if len(names) == dim else list(frame.columns)[-dim:]
        ids = frame[key_names("vertex", len(graph._given.source))]
        given = np.column_stack([frame[name].to_numpy() for name in names])
    if given.ndim != 2 or given.shape[1] != dim:
        raise InvalidArgumentError(
            f"{op}: expected {dim} coordinates of each vertex: shape={given.shape}"
        )
    made = np.full((len(graph), dim), np.nan)
    if len(given):
        made[graph._find(op, ids, "pos")] = given
    if not np.isfinite(made).all():
        raise InvalidArgumentError(
            f"{op}: a vertex has no place: missing={int((~np.isfinite(made).all(axis=1)).sum())}; "
            "pos needs finite coordinates of all vertices"
        )
    return made


def layout(
    G: Any,
    method: str = "force_atlas2",
    *,
    pos: Any = None,
    iterations: int = 100,
    weight: str | bool | None = True,
    scale: float | None = 1,
    scaling_ratio: float = 2,
    gravity: float = 1,
    strong_gravity: bool = False,
    linlog: bool = False,
    dim: int = 2,
    random_state: int = 0,
    vertices: Any = None,
) -> DataFrame:
    """Places of vertices where edges pull them together and all others push them apart.

    Parameters
    ----------
    G : Graph, or what `Graph` takes
        Directions mean nothing.
    method : {'force_atlas2', 'spring'}
        ForceAtlas2: edges pull by their length, vertices push by their degree + 1 (M. Jacomy and
        others, PLoS ONE 9, 2014). Spring: edges pull by its square, all push alike (T. Fruchterman,
        E. Reingold, Software 21, 1991).
    pos : dict or frame, optional
        Where vertices start: coordinates by vertex, or a frame as `layout` gives it. By default
        communities of communities are placed first, then their members around them.
    iterations : int, default 100
        Steps of each level of communities.
    weight : str, bool or None
        The attribute of edges by which they pull, none negative; True: the graph's; None: 1 each.
    scale : float, optional
        The largest coordinate, of places around 0; None: as the forces leave them.
    scaling_ratio, gravity : float
        How much vertices push, and are drawn to the middle, which keeps components together.
    strong_gravity : bool, default False
        Whether gravity grows with the distance.
    linlog : bool, default False
        Whether edges pull by the logarithm of their length: tighter communities.
    dim : {2, 3}
        Coordinates.
    random_state : int, default 0
        Of where vertices start.
    vertices : list, optional
        Only these.

    Returns
    -------
    DataFrame
        ``vertex``, and ``x``, ``y`` (and ``z``), float32.

    Raises
    ------
    InvalidArgumentError
        For an unknown method, a vertex without a place in `pos`, negative or infinite weights.

    Notes
    -----
    Far vertices push together (J. Barnes, P. Hut, Nature 324, 1986), 16 vertices at a time. The
    same bits for any number of threads. About 130 bytes a vertex and 40 an edge's end.

    >>> places = hr.graph.layout([(0, 1), (1, 2), (2, 0), (2, 3)])
    >>> places.columns.to_list(), float(abs(places.x).max()) <= 1
    (['vertex', 'x', 'y'], True)
    """
    graph = graph_of(G, "layout")
    if method not in _METHODS or (linlog and method == "spring"):
        raise InvalidArgumentError(
            f"layout: no such method: method={method!r}, linlog={linlog}; use "
            f"{' or '.join(map(repr, _METHODS))}, the first with linlog=True"
        )
    if dim not in (2, 3):
        raise InvalidArgumentError(f"layout: expected 2 or 3 dimensions: dim={dim}")
    if iterations < 0 or not np.isfinite([scaling_ratio, gravity]).all():
        raise InvalidArgumentError(
            f"layout: expected finite numbers, not negative: iterations={iterations}, "
            f"scaling_ratio={scaling_ratio}, gravity={gravity}"
        )
    if scale is not None and not 0 < scale < np.inf:
        raise InvalidArgumentError(f"layout: expected a positive scale: scale={scale}")
    weights = graph._weights("layout", weight)
    start = []
    if pos is not None:
        given = places_of(graph, "layout", pos, dim).astype(np.float32)
        start = [new_series(column)._node for column in np.ascontiguousarray(given.T)]
    pull = "square" if method == "spring" else "logarithmic" if linlog else "linear"
    mark("layout")
    table = _core.graph_layout(
        graph._graph, weights, start, pull, method != "spring", dim, iterations,
        scaling_ratio, gravity, strong_gravity, scale or 0, seed_of("layout", random_state),
    )  # fmt: skip
    return graph._frame(table, *("x", "y", "z")[:dim], vertices=vertices)
