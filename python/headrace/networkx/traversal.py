# SPDX-License-Identifier: Apache-2.0
"""Breadth-first searches in the order of NetworkX's queue, and what is made of them."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import networkx as nx
import numpy as np

from headrace.lazy.handle import array_of
from headrace.networkx.table import composed, function

if TYPE_CHECKING:
    from collections.abc import Iterator

    from headrace.networkx.graph import RowGraph


def search(graph: RowGraph, sources: list[Any], limit: float | None) -> tuple[Any, Any, list[int]]:
    """Numbers of nodes as they are met, of the node that met each, and where levels begin."""
    most = -1 if limit is None or limit == math.inf else max(math.ceil(limit), 0)
    reached, before, levels = graph.rows.bfs([graph.number(s) for s in sources], most)
    return array_of(reached).to_numpy(), array_of(before).to_numpy(), levels


def _edges(graph: RowGraph, source: Any, limit: float | None) -> Iterator[tuple[Any, Any]]:
    if source not in graph:
        graph.original.neighbors(source)  # raises
    reached, before, _ = search(graph, [source], limit)
    return zip(graph.named(before[1:]), graph.named(reached[1:]), strict=True)


def _layers(graph: RowGraph, sources: Any, limit: float | None = None) -> list[list[Any]]:
    first = list({sources} if sources in graph else set(sources))
    for source in first:
        if source not in graph:
            raise nx.NetworkXError(f"The node {source} is not in the graph.")
    if not first:
        return []
    reached, _, levels = search(graph, first, limit)
    named = list(graph.named(reached))
    return [named[a:b] for a, b in pairwise(levels)]


@function()
def generic_bfs_edges(
    G: RowGraph, source: Any, neighbors: Any = None, depth_limit: float | None = None
) -> Iterator[tuple[Any, Any]]:
    """Edges of a breadth-first search."""
    return _edges(G, source, depth_limit)


@function()
def bfs_edges(
    G: RowGraph,
    source: Any,
    reverse: bool = False,
    depth_limit: float | None = None,
    sort_neighbors: Any = None,
) -> Iterator[tuple[Any, Any]]:
    """Edges of a breadth-first search, also against their direction."""
    return _edges(G.backward if reverse else G, source, depth_limit)


@function()
def bfs_layers(G: RowGraph, sources: Any) -> Iterator[list[Any]]:
    """Nodes by their distance from sources."""
    return iter(_layers(G, sources))


@function()
def descendants_at_distance(G: RowGraph, source: Any, distance: int) -> set[Any]:
    """The nodes at one distance."""
    if source not in G:
        raise nx.NetworkXError(f"The node {source} is not in the graph.")
    layers = _layers(G, source, distance)
    return set(layers[distance]) if distance in range(len(layers)) else set()


def _lengths(graph: RowGraph, source: Any, cutoff: float | None) -> dict[Any, int]:
    reached, _, levels = search(graph, [source], cutoff)
    lengths = np.repeat(np.arange(len(levels) - 1), np.diff(levels)).tolist()
    return dict(zip(graph.named(reached), lengths, strict=True))


@function()
def single_source_shortest_path_length(
    G: RowGraph, source: Any, cutoff: float | None = None
) -> dict[Any, int]:
    """How many edges away nodes are."""
    if source not in G:
        raise nx.NodeNotFound(f"Source {source} is not in G")
    return _lengths(G, source, cutoff)


@function()
def single_target_shortest_path_length(
    G: RowGraph, target: Any, cutoff: float | None = None
) -> dict[Any, int]:
    """How many edges away a node is."""
    if target not in G:
        raise nx.NodeNotFound(f"Target {target} is not in G")
    return _lengths(G.backward, target, cutoff)


def _tree(graph: RowGraph, source: Any, cutoff: float | None) -> Iterator[tuple[Any, Any]]:
    reached, before, _ = search(graph, [source], cutoff)
    return zip(graph.named(reached[1:]), graph.named(before[1:]), strict=True)


@function()
def single_source_shortest_path(
    G: RowGraph, source: Any, cutoff: float | None = None
) -> dict[Any, list[Any]]:
    """Paths of the fewest edges to nodes."""
    if source not in G:
        raise nx.NodeNotFound(f"Source {source} not in G")
    paths = {source: [source]}
    for node, before in _tree(G, source, cutoff):
        paths[node] = [*paths[before], node]
    return paths


@function()
def single_target_shortest_path(
    G: RowGraph, target: Any, cutoff: float | None = None
) -> dict[Any, list[Any]]:
    """Paths of the fewest edges from nodes."""
    if target not in G:
        raise nx.NodeNotFound(f"Target {target} not in G")
    paths = {target: [target]}
    for node, before in _tree(G.backward, target, cutoff):
        paths[node] = [node, *paths[before]]
    return paths


composed("""
    bfs_tree bfs_predecessors bfs_successors ancestors descendants all_pairs_shortest_path
    all_pairs_shortest_path_length
""")
