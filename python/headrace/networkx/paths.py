# SPDX-License-Identifier: Apache-2.0
"""Shortest paths by weights, nearest first and in NetworkX's order, and what is made of them."""

from __future__ import annotations

import math
from contextlib import contextmanager
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import networkx as nx
import numpy as np
from networkx.algorithms.shortest_paths import generic

from headrace.errors import InvalidArgumentError
from headrace.graph import traversal
from headrace.lazy.handle import array_of
from headrace.networkx.table import composed, function
from headrace.networkx.traversal import search

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

    from headrace.networkx.graph import RowGraph

_SEARCHES_AT_ONCE = 256


def _check(graph: RowGraph, sources: Collection[Any]) -> None:
    if not sources:
        raise ValueError("sources must not be empty")
    for source in sources:
        if source not in graph:
            raise nx.NodeNotFound(f"Node {source} not found in graph")


def _lengths(graph: RowGraph, weight: Any, found: Any, sources: int = 1) -> list[Any]:
    """Lengths as NetworkX has them: integers where all weights are, and of sources."""
    lengths = array_of(found).to_numpy()
    if graph.is_whole(weight):
        return list(lengths.astype(np.int64).tolist())
    return [0] * sources + list(lengths[sources:].tolist())


def _dijkstra(
    graph: RowGraph,
    sources: Iterable[Any],
    weight: Any,
    cutoff: float | None = None,
    target: Any = None,
) -> tuple[Any, list[Any], Any]:
    """Numbers of nodes, nearest first, their lengths, and numbers of those before them."""
    end = graph.number(target) if target is not None and target in graph else -1
    numbers = [graph.number(source) for source in dict.fromkeys(sources)]
    weights = graph.ordered_weights(weight)
    with _contradictions("Contradictory paths found:", "negative weights?"):
        reached, lengths, before = graph.rows.dijkstra(weights, numbers, end, _most(cutoff))
    numbers_of = (array_of(each).to_numpy() for each in (reached, before))
    return next(numbers_of), _lengths(graph, weight, lengths, len(numbers)), next(numbers_of)


def _most(cutoff: float | None) -> float:
    return float("inf") if cutoff is None else cutoff


@contextmanager
def _contradictions(*words: str) -> Iterator[None]:
    try:
        yield
    except InvalidArgumentError as error:
        raise ValueError(*words) from error


def _before(graph: RowGraph, met: Any, begins: Any, before: Any) -> dict[Any, list[Any]]:
    """Lists of the nodes before each one."""
    named = [graph.nodes[number] for number in before]
    parts = (named[a:b] for a, b in pairwise(begins))
    return dict(zip((graph.nodes[number] for number in met), parts, strict=True))


@function()
def multi_source_dijkstra_path_length(
    G: RowGraph, sources: Any, cutoff: float | None = None, weight: Any = "weight"
) -> dict[Any, Any]:
    """Lengths of shortest paths from the nearest of some nodes."""
    _check(G, sources)
    reached, lengths, _ = _dijkstra(G, sources, weight, cutoff)
    return dict(zip(G.named(reached), lengths, strict=True))


@function()
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


@function()
def dijkstra_path_length(G: RowGraph, source: Any, target: Any, weight: Any = "weight") -> Any:
    """The length of the shortest path between two nodes."""
    if source not in G:
        raise nx.NodeNotFound(f"Node {source} not found in graph")
    if source == target:
        return 0
    reached, lengths, _ = _dijkstra(G, [source], weight, target=target)
    if target not in G or reached[-1] != G.number(target):
        raise nx.NetworkXNoPath(f"Node {target} not reachable from {source}")
    return lengths[-1]


@function()
def dijkstra_predecessor_and_distance(
    G: RowGraph, source: Any, cutoff: float | None = None, weight: Any = "weight"
) -> tuple[dict[Any, list[Any]], dict[Any, Any]]:
    """All nodes before each one on shortest paths, and lengths."""
    if source not in G:
        raise nx.NodeNotFound(f"Node {source} is not found in the graph")
    weights = G.ordered_weights(weight)
    with _contradictions("Contradictory paths found:", "negative weights?"):
        reached, lengths, *before = G.rows.dijkstra_before(weights, G.number(source), _most(cutoff))
    listed = _lengths(G, weight, lengths)
    nodes = G.named(array_of(reached).to_numpy())
    return _before(G, *before), dict(zip(nodes, listed, strict=True))


def _check_ends(graph: RowGraph, source: Any, target: Any) -> None:
    for word, node in (("Source", source), ("Target", target)):
        if node not in graph:
            raise nx.NodeNotFound(f"{word} {node} is not in G")


@function()
def bidirectional_dijkstra(
    G: RowGraph, source: Any, target: Any, weight: Any = "weight"
) -> tuple[Any, list[Any]]:
    """The length of the shortest path between two nodes, and the path."""
    _check_ends(G, source, target)
    if source == target:
        return 0, [source]
    other = G.backward
    weights = G.ordered_weights(weight), other.rows, other.ordered_weights(weight)
    with _contradictions("Contradictory paths found: negative weights?"):
        length, path = G.rows.weighed_path_between(*weights, G.number(source), G.number(target))
    if not path:
        raise nx.NetworkXNoPath(f"No path between {source} and {target}.")
    length = int(length) if G.is_whole(weight) else length
    return length, [G.nodes[number] for number in path]


@function()
def bidirectional_shortest_path(G: RowGraph, source: Any, target: Any) -> list[Any]:
    """A path of the fewest edges between two nodes."""
    _check_ends(G, source, target)
    path = G.rows.path_between(G.backward.rows, G.number(source), G.number(target))
    if not path:
        raise nx.NetworkXNoPath(f"No path between {source} and {target}.")
    return [G.nodes[number] for number in path]


@function()
def predecessor(
    G: RowGraph,
    source: Any,
    target: Any = None,
    cutoff: float | None = None,
    return_seen: bool | None = None,
) -> Any:
    """All nodes before each one on paths of the fewest edges."""
    if source not in G:
        raise nx.NodeNotFound(f"Source {source} not in G")
    most = max(math.ceil(cutoff), 1) if cutoff and cutoff != math.inf else -1
    levels, *found = G.rows.bfs_before(G.number(source), most)
    before = _before(G, *found)
    steps = np.repeat(np.arange(len(levels) - 1), np.diff(levels)).tolist()
    if target is None:
        return (before, dict(zip(before, steps, strict=True))) if return_seen else before
    listed = before.get(target, [])
    if not return_seen:
        return listed
    return listed, dict(zip(before, steps, strict=True)).get(target, -1)


# ---- negative weights ----------------------------------------------------------------------------
def _bellman_ford(
    graph: RowGraph, source: Any, weight: Any, early: bool = True
) -> tuple[dict[Any, list[Any]], dict[Any, Any]]:
    """Nodes before each one, and lengths; of graphs with cycles of negative weight an error."""
    if source not in graph:
        raise nx.NodeNotFound(f"Source {source} not in G")
    weights = graph.ordered_weights(weight)
    try:
        lengths, *found = graph.rows.bellman_ford(weights, graph.number(source), early)
    except InvalidArgumentError as error:
        raise nx.NetworkXUnbounded("Negative cycle detected.") from error
    before = _before(graph, *found)
    return before, dict(zip(before, _lengths(graph, weight, lengths), strict=True))


@function()
def bellman_ford_predecessor_and_distance(
    G: RowGraph, source: Any, target: Any = None, weight: Any = "weight", heuristic: bool = False
) -> tuple[dict[Any, list[Any]], dict[Any, Any]]:
    """All nodes before each one on shortest paths, and lengths."""
    if source not in G:
        raise nx.NodeNotFound(f"Node {source} is not found in the graph")
    starts, ends, values = G.edge_arrays(weight)
    if (values[starts == ends] < 0).any():
        raise nx.NetworkXUnbounded("Negative cycle detected.")
    if len(G) == 1:
        return {source: []}, {source: 0}
    return _bellman_ford(G, source, weight, heuristic)


@function()
def single_source_bellman_ford_path_length(
    G: RowGraph, source: Any, weight: Any = "weight"
) -> dict[Any, Any]:
    """Lengths of shortest paths."""
    return _bellman_ford(G, source, weight)[1]


@function()
def single_source_bellman_ford(
    G: RowGraph, source: Any, target: Any = None, weight: Any = "weight"
) -> tuple[Any, Any]:
    """Lengths and paths, or those to one node."""
    if source == target:
        if source not in G:
            raise nx.NodeNotFound(f"Node {source} is not found in the graph")
        return 0, [source]
    before, lengths = _bellman_ford(G, source, weight)
    if target is not None and target not in lengths:
        # As NetworkX, which traces the path first.
        raise nx.NetworkXNoPath(f"Target {target} cannot be reached from given sources")
    paths = {
        node: next(generic._build_paths_from_predecessors({source}, node, before))
        for node in (lengths if target is None else [target])
    }
    return (lengths, paths) if target is None else (lengths[target], paths[target])


@function()
def bellman_ford_path_length(G: RowGraph, source: Any, target: Any, weight: Any = "weight") -> Any:
    """The length of the shortest path between two nodes."""
    if source == target:
        if source not in G:
            raise nx.NodeNotFound(f"Node {source} not found in graph")
        return 0
    lengths = _bellman_ford(G, source, weight)[1]
    if target not in lengths:
        raise nx.NetworkXNoPath(f"node {target} not reachable from {source}")
    return lengths[target]


@function()
def has_path(G: RowGraph, source: Any, target: Any) -> bool:
    """Whether there is a path."""
    _check_ends(G, source, target)
    return bool((search(G, [source], None)[0] == G.number(target)).any())


@function()
def average_shortest_path_length(
    G: RowGraph, weight: Any = None, method: str | None = None
) -> float:
    """The mean length over all pairs of nodes."""
    original = nx.average_shortest_path_length.orig_func
    if weight is not None or method not in (None, "unweighted") or len(G) <= 1:
        return original(G, weight, method)
    total, pairs = 0, 0
    for first in range(0, len(G), _SEARCHES_AT_ONCE):
        numbers = list(range(first, min(first + _SEARCHES_AT_ONCE, len(G))))
        found = traversal.bfs(G.engine, numbers)["distance"]
        total += int(found.sum())
        pairs += int(found.count())
    if pairs < len(G) ** 2:
        word = "strongly connected" if G.is_directed() else "connected"
        raise nx.NetworkXError(f"Graph is not {word}.")
    return total / (len(G) * (len(G) - 1))


composed("""
    all_pairs_bellman_ford_path all_pairs_bellman_ford_path_length all_pairs_dijkstra
    all_pairs_dijkstra_path all_pairs_dijkstra_path_length all_shortest_paths
    all_pairs_all_shortest_paths bellman_ford_path dijkstra_path ego_graph
    multi_source_dijkstra_path shortest_path shortest_path_length single_source_all_shortest_paths
    single_source_bellman_ford_path single_source_dijkstra single_source_dijkstra_path
    single_source_dijkstra_path_length
""")
