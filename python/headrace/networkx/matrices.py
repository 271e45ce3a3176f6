# SPDX-License-Identifier: Apache-2.0
"""Graphs as matrices of NumPy and SciPy."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import networkx as nx
import numpy as np

from headrace.networkx.table import composed, function

if TYPE_CHECKING:
    from headrace.networkx.graph import RowGraph


def _entries(graph: RowGraph, nodelist: Any, weight: Any) -> tuple[Any, Any, Any, Any]:
    """Rows, columns and values of edges, and which are loops; of some nodes in their order."""
    source, target, values = graph.edge_arrays(weight)
    if nodelist is not None:
        places = np.full(len(graph), -1)
        numbers = [graph.numbers[node] for node in nodelist if node in graph]
        if len(set(numbers)) < len(nodelist):
            raise NotImplementedError("nodes that are none, or twice: nodelist")
        places[numbers] = np.arange(len(numbers))
        source, target = places[source], places[target]
        kept = (source >= 0) & (target >= 0)
        source, target, values = source[kept], target[kept], values[kept]
    return source, target, values, source == target


@function()
def to_scipy_sparse_array(
    G: RowGraph,
    nodelist: Any = None,
    dtype: Any = None,
    weight: Any = "weight",
    format: str = "csr",
) -> Any:
    """The adjacency matrix; weights of several edges are added."""
    from scipy import sparse

    if not len(G) or (nodelist is not None and not len(nodelist)):
        raise nx.NetworkXError("nodelist has no nodes" if len(G) else "Graph has no nodes or edges")
    rows, columns, values, is_loop = _entries(G, nodelist, weight)
    if not G.is_directed():
        other = ~is_loop
        rows, columns = (
            np.concatenate([rows, columns[other]]),
            np.concatenate([columns, rows[other]]),
        )
        values = np.concatenate([values, values[other]])
    count = len(G) if nodelist is None else len(nodelist)
    if not len(values):
        values = np.zeros(0)
    made = sparse.coo_array((values, (rows, columns)), shape=(count, count), dtype=dtype)
    try:
        return made.asformat(format)
    except ValueError as error:
        raise nx.NetworkXError(f"Unknown sparse matrix format: {format}") from error


def _refuse_kinds(G: Any, dtype: Any = None, **_: Any) -> str:
    if G.is_multigraph():
        return "several edges between nodes"
    return "a dtype of several fields" if getattr(np.dtype(dtype), "names", None) else ""


@function(_refuse_kinds)
def to_numpy_array(
    G: RowGraph,
    nodelist: Any = None,
    dtype: Any = None,
    order: Any = None,
    multigraph_weight: Any = sum,
    weight: Any = "weight",
    nonedge: float = 0.0,
) -> Any:
    """The adjacency matrix as a dense array."""
    rows, columns, values, _ = _entries(G, nodelist, weight)
    count = len(G) if nodelist is None else len(nodelist)
    made = np.full((count, count), fill_value=nonedge, dtype=dtype, order=order)
    made[rows, columns] = values
    if not G.is_directed():
        made[columns, rows] = values
    return made


composed("""
    adjacency_matrix laplacian_matrix normalized_laplacian_matrix directed_laplacian_matrix
    directed_combinatorial_laplacian_matrix google_matrix tournament_matrix modularity_matrix
    directed_modularity_matrix bethe_hessian_matrix
""")
