# SPDX-License-Identifier: Apache-2.0
"""Sets of nodes: components, communities, trees."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any

import networkx as nx
import numpy as np

from headrace.graph import communities as engine
from headrace.graph import components
from headrace.lazy.handle import array_of
from headrace.networkx.measures import _degree
from headrace.networkx.table import composed, function

if TYPE_CHECKING:
    from collections.abc import Iterator

    from headrace.networkx.graph import RowGraph


def _refuse_directed(G: Any, **_: Any) -> str:
    return "edges with a direction" if G.is_directed() else ""


def _labels(graph: RowGraph) -> Any:
    return components.connected_components(graph.engine)["component"].to_numpy()


def _count(graph: RowGraph) -> int:
    return int(_labels(graph).max(initial=-1)) + 1


@function()
def connected_components(G: RowGraph) -> Iterator[set[Any]]:
    """Sets of nodes that are connected."""
    return iter(G.groups(_labels(G)))


@function()
def weakly_connected_components(G: RowGraph) -> Iterator[set[Any]]:
    """The same, whichever way edges go."""
    return iter(G.groups(_labels(G)))


@function()
def number_connected_components(G: RowGraph) -> int:
    """How many components there are."""
    return _count(G)


@function()
def number_weakly_connected_components(G: RowGraph) -> int:
    """The same, whichever way edges go."""
    return _count(G)


@function()
def node_connected_component(G: RowGraph, n: Any) -> set[Any]:
    """The nodes that one is connected to."""
    labels = _labels(G)
    return set(G.named(np.flatnonzero(labels == labels[G.number(n)])))


def _is_connected(graph: RowGraph) -> bool:
    if not len(graph):
        raise nx.NetworkXPointlessConcept("Connectivity is undefined for the null graph.")
    return _count(graph) == 1


@function()
def is_connected(G: RowGraph) -> bool:
    """Whether there is one component."""
    return _is_connected(G)


@function()
def is_weakly_connected(G: RowGraph) -> bool:
    """The same, whichever way edges go."""
    return _is_connected(G)


# ---- trees ---------------------------------------------------------------------------------------
@function()
def is_forest(G: RowGraph) -> bool:
    """Whether there is no cycle, whichever way edges go."""
    if not len(G):
        raise nx.exception.NetworkXPointlessConcept("G has no nodes.")
    return G.number_of_edges() == len(G) - _count(G)


def _has_one_parent(graph: RowGraph) -> bool:
    return int(_degree(graph, "in_degree").max(initial=0)) <= 1


@function()
def is_branching(G: RowGraph) -> bool:
    """Whether it is a forest of edges away from roots."""
    return is_forest(G) and _has_one_parent(G)


@function()
def is_arborescence(G: RowGraph) -> bool:
    """Whether it is a tree of edges away from its root."""
    return nx.is_tree(G) and _has_one_parent(G)


@function(_refuse_directed)
def is_bipartite(G: RowGraph) -> bool:
    """Whether two colours are enough."""
    if not len(G):
        return True
    roots = np.unique(_labels(G), return_index=True)[1]
    offsets, targets = G.adjacency
    reached, _, levels = G.rows.bfs(roots.tolist(), -1)
    side = np.empty(len(G), np.int64)
    side[array_of(reached).to_numpy()] = np.repeat(np.arange(len(levels) - 1), np.diff(levels))
    sources = np.repeat(np.arange(len(G)), np.diff(offsets))
    return not ((side[sources] - side[targets]) % 2 == 0).any()


# ---- communities ---------------------------------------------------------------------------------
def _seed(seed: Any) -> int:
    """A number of a generator; of NetworkX's own, which no seed has set, always the same."""
    return 0 if seed is None or seed is random._inst else int(seed.randint(0, 2**31 - 1))


@function(_refuse_directed)
def louvain_communities(
    G: RowGraph,
    weight: Any = "weight",
    resolution: float = 1,
    threshold: float = 1e-7,
    max_level: int | None = None,
    seed: Any = None,
) -> list[set[Any]]:
    """Communities by Louvain."""
    if max_level is not None and max_level <= 0:
        raise ValueError("max_level argument must be a positive integer or None")
    column = G.column(weight)
    found = engine.louvain(G.engine, column, resolution, threshold, max_level, _seed(seed))
    return G.groups(found["community"].to_numpy())


@function(_refuse_directed)
def leiden_communities(
    G: RowGraph,
    weight: Any = "weight",
    resolution: float = 1,
    max_level: int | None = None,
    seed: Any = None,
) -> list[set[Any]]:
    """Communities by Leiden."""
    if max_level is not None:
        raise NotImplementedError("a limit of levels: max_level")
    found = engine.leiden(G.engine, G.column(weight), resolution, seed=_seed(seed))
    return G.groups(found["community"].to_numpy())


@function(_refuse_directed)
def modularity(
    G: RowGraph, communities: Any, weight: Any = "weight", resolution: float = 1
) -> float:
    """How much more weight is within communities than chance would give."""
    given = communities if isinstance(communities, list) else list(communities)
    if not nx.community.is_partition(G.original, given):
        raise nx.algorithms.community.quality.NotAPartition(G, given)
    if not G.number_of_edges():
        raise ZeroDivisionError("division by zero")
    column = G.column(weight)
    groups = [[G.number(node) for node in group] for group in given if len(group)]
    return engine.modularity(G.engine, groups, column, resolution)


composed("is_tree")
