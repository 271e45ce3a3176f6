# SPDX-License-Identifier: Apache-2.0
"""Shortest paths by weights, nearest first and in NetworkX's order, and what is made of them."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

import networkx as nx
import numpy as np

from headrace.errors import InvalidArgumentError
from headrace.lazy.handle import array_of
from headrace.networkx.table import composed, function
from headrace.networkx.traversal import search

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from headrace.networkx.graph import RowGraph

_SEARCHES_AT_ONCE = 256
_MOST_WHOLE = 2**53


def _check(graph: RowGraph, sources: Collection[Any]) -> None:
    if not sources:
        raise ValueError("sources must not be empty")
    for source in sources:
        if source not in graph:
            raise nx.NodeNotFound(f"Node {source} not found in graph")


def _dijkstra(
    graph: RowGraph,
    sources: Iterable[Any],
    weight: Any,
    cutoff: float | None = None,
    target: Any = None,
    all_before: bool = False,
) -> tuple[Any, ...]:
    """What the search finds: numbers of nodes and lists of lengths, first."""
    end = graph.number(target) if target is not None and target in graph else -1
    most = float("inf") if cutoff is None else cutoff
    numbers = [graph.number(source) for source in dict.fromkeys(sources)]
    weights = graph.ordered_weights(weight)
    try:
        found = graph.rows.dijkstra(weights, numbers, end, most, all_before)
    except InvalidArgumentError as error:
        raise ValueError("Contradictory paths found:", "negative weights?") from error
    reached, *rest = found
    lengths = array_of(rest.pop(0 if all_before else 1)).to_numpy()
    if graph.is_whole(weight):
        if lengths.max(initial=0) >= _MOST_WHOLE:
            raise NotImplementedError("lengths beyond 2^53")
        listed = lengths.astype(np.int64).tolist()
    else:
        listed = lengths.tolist()
        listed[: len(numbers)] = [0] * len(numbers)
    return array_of(reached).to_numpy(), listed, *rest


@function
def multi_source_dijkstra_path_length(
    G: RowGraph, sources: Any, cutoff: float | None = None, weight: Any = "weight"
) -> dict[Any, Any]:
    """Lengths of shortest paths from the nearest of some nodes."""
    _check(G, sources)
    reached, lengths = _dijkstra(G, sources, weight, cutoff)[:2]
    return dict(zip(G.named(reached), lengths, strict=True))


@function
def multi_source_dijkstra(
    G: RowGraph,
    sources: Any,
    target: Any = None,
    cutoff: float | None = None,
    weight: Any = "weight",
) -> tuple[Any, Any]:
    """Lengths and paths from the nearest of some nodes, or to one node."""
    _check(G, sources)
    if target in sources:
        return 0, [target]
    reached, lengths, before = _dijkstra(G, sources, weight, cutoff, target)
    before = array_of(before).to_numpy()
    if target is None:
        named = list(G.named(reached))
        paths = {source: [source] for source in sources}
        for node, last in zip(named[len(paths) :], G.named(before[len(paths) :]), strict=True):
            paths[node] = [*paths[last], node]
        return dict(zip(named, lengths, strict=True)), paths
    if target not in G or not len(reached) or reached[-1] != G.number(target):
        raise nx.NetworkXNoPath(f"No path to {target}.")
    last_of = dict(zip(reached.tolist(), before.tolist(), strict=True))
    path = [int(reached[-1])]
    while last_of[path[-1]] != path[-1]:
        path.append(last_of[path[-1]])
    return lengths[-1], [G.nodes[number] for number in reversed(path)]


@function
def dijkstra_path_length(G: RowGraph, source: Any, target: Any, weight: Any = "weight") -> Any:
    """The length of the shortest path between two nodes."""
    if source not in G:
        raise nx.NodeNotFound(f"Node {source} not found in graph")
    if source == target:
        return 0
    reached, lengths = _dijkstra(G, [source], weight, target=target)[:2]
    if target not in G or reached[-1] != G.number(target):
        raise nx.NetworkXNoPath(f"Node {target} not reachable from {source}")
    return lengths[-1]


@function
def dijkstra_predecessor_and_distance(
    G: RowGraph, source: Any, cutoff: float | None = None, weight: Any = "weight"
) -> tuple[dict[Any, list[Any]], dict[Any, Any]]:
    """All nodes before each one on shortest paths, and lengths."""
    if source not in G:
        raise nx.NodeNotFound(f"Node {source} is not found in the graph")
    found = _dijkstra(G, [source], weight, cutoff, all_before=True)
    reached, lengths, met, begins, before = found
    named = [G.nodes[number] for number in before]
    parts = [named[a:b] for a, b in pairwise(begins)]
    order = [G.nodes[number] for number in met]
    return dict(zip(order, parts, strict=True)), dict(zip(G.named(reached), lengths, strict=True))


@function
def has_path(G: RowGraph, source: Any, target: Any) -> bool:
    """Whether there is a path."""
    if source not in G:
        raise nx.NodeNotFound(f"Source {source} is not in G")
    if target not in G:
        raise nx.NodeNotFound(f"Target {target} is not in G")
    return bool((search(G, [source], None)[0] == G.number(target)).any())


composed("""
    dijkstra_path single_source_dijkstra single_source_dijkstra_path
    single_source_dijkstra_path_length multi_source_dijkstra_path all_pairs_dijkstra
    all_pairs_dijkstra_path all_pairs_dijkstra_path_length
""")
