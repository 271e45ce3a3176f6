# SPDX-License-Identifier: Apache-2.0
"""Graphs in files: edge lists as CSV, Matrix Market; GraphML is in `graphml`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from headrace.errors import InvalidArgumentError
from headrace.frame.columns import new_frame
from headrace.graph.graph import Graph, graph_of
from headrace.io.csv import read_csv
from headrace.lazy.handle import mark
from headrace.tensor.matrix_market import read_entries, write_entries

if TYPE_CHECKING:
    import os
    from collections.abc import Sequence


def read_edgelist(
    path: Any,
    *,
    source: str | list[str] | None = None,
    target: str | list[str] | None = None,
    weight: str | None = None,
    edge_attr: str | Sequence[str] | None = None,
    nodes: Any = None,
    directed: bool = False,
    multigraph: bool = False,
    duplicates: str = "last",
    **csv: Any,
) -> Graph:
    r"""Read a graph from CSV, a row an edge.

    Parameters
    ----------
    path : path, bytes or binary file object, or a list of these
    source, target, weight, edge_attr, nodes, directed, multigraph, duplicates
        As `Graph` has them; a third column is called by `weight` or `edge_attr`, or left out.
    **csv
        Options of `hr.read_csv`: ``names`` and ``dtype``, ``delimiter``, ``comment``, ...

    Raises
    ------
    InputError
        For a line that does not match the dtypes, with its number and column.

    >>> lines = b"# who whom\nann bob 3\nbob cem 1\n"
    >>> graph = hr.graph.read_edgelist(
    ...     lines, delimiter=" ", comment="#", names=["from", "to", "calls"], weight="calls"
    ... )
    >>> graph.edges().calls.to_list(), graph.nodes().vertex.to_list()
    ([3, 1], ['ann', 'bob', 'cem'])
    """
    return Graph(
        read_csv(path, **csv), source=source, target=target, weight=weight, edge_attr=edge_attr,
        nodes=nodes, directed=directed, multigraph=multigraph, duplicates=duplicates,
    )  # fmt: skip


def read_matrix_market(
    path: str | os.PathLike[str], *, directed: bool | None = None, multigraph: bool = False
) -> Graph:
    """Read a graph from a Matrix Market file of coordinates: an entry is an edge, row to column.

    Vertices are 0, 1, ... below the side of the matrix. A symmetric file is an undirected graph and
    a general one a directed graph, unless `directed` says otherwise; values are weights, which a
    pattern does not have.

    Raises
    ------
    InputError, UnsupportedError
        As `hr.tensor.mmread` does.

    >>> path = "a.mtx"
    >>> hr.graph.write_matrix_market(hr.graph.Graph([(0, 1), (1, 2)]), path)
    >>> hr.graph.read_matrix_market(path)
    Graph(undirected, 3 vertices, 2 edges)
    """
    row, column, value, shape, symmetry = read_entries(path)
    if shape[0] != shape[1]:
        raise InvalidArgumentError(
            f"read_matrix_market: expected a square matrix: shape={shape}; hr.tensor.mmread reads "
            "others"
        )
    if symmetry == "skew-symmetric":
        off = row != column
        row, column = np.append(row, column[off]), np.append(column, row[off])
        value = None if value is None else np.append(value, -value[off])
    columns = {"source": row, "target": column}
    if value is not None:
        columns["weight"] = value
    return Graph(
        new_frame(columns),
        weight=None if value is None else "weight",
        nodes=shape[0],
        directed=symmetry != "symmetric" if directed is None else directed,
        multigraph=multigraph,
    )


def write_matrix_market(
    G: Any, path: str | os.PathLike[str], weight: str | bool | None = True
) -> None:
    """Write a graph as a Matrix Market file: symmetric if it is undirected.

    Vertices are numbered in the order of `nodes`; their ids and other attributes are not written.

    Parameters
    ----------
    G : Graph, or what `Graph` takes
    path : path
    weight : str, bool or None
        The attribute of edges that is the value; True: the graph's. Without one, a pattern.
    """
    graph = graph_of(G, "write_matrix_market")
    mark("write_matrix_market")
    edges, weights = graph._edge_frame(), graph._weights("write_matrix_market", weight)
    row, column = (graph._find_columns(edges[names]) for names in graph._given[1:3])
    if not graph.is_directed():
        row, column = np.maximum(row, column), np.minimum(row, column)
    value, field = None, "pattern"
    if weights is not None:
        name = graph._given.weight if weight is True else weight
        value = edges[name].to_numpy()
        field = "real" if value.dtype.kind == "f" else "integer"
    symmetry = "general" if graph.is_directed() else "symmetric"
    write_entries(path, row, column, value, (len(graph), len(graph)), (field, symmetry))
