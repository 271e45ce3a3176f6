# SPDX-License-Identifier: Apache-2.0
"""`RowGraph`: a graph of NetworkX as rows of numbers."""

from __future__ import annotations

import os
from functools import cached_property
from typing import TYPE_CHECKING, Any

import networkx as nx
import numpy as np

from headrace import _core
from headrace.errors import Error
from headrace.frame.columns import frame_of
from headrace.graph.graph import Graph
from headrace.lazy.handle import array_of
from headrace.series.column import new_series

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_WRITES = ("add_", "remove_", "clear", "update")


class RowGraph:
    """A graph of NetworkX whose nodes are numbers and whose neighbours are rows, in its order.

    All that reads a graph is the original's: ``G.adj``, ``G.nodes``, ``G.subgraph``.

    Parameters
    ----------
    original : networkx.Graph
        Of any of its four kinds.
    attributes : dict, optional
        Attributes of edges to read now, with what counts where an edge has none; others are read
        when they are needed.
    """

    __networkx_backend__ = "headrace"
    original: Any
    nodes: list[Any]
    rows: _core.OrderedRows

    def __init__(self, original: Any, attributes: dict[Any, Any] | None = None) -> None:
        self.original = original
        self._attributes: dict[tuple[Any, Any], tuple[str, bool]] = {}
        self._columns: dict[str, _core.Node] = {}
        self._ordered: dict[str, _core.Node] = {}
        self._read(list((attributes or {}).items()))

    def _read(self, attributes: list[tuple[Any, Any]]) -> None:
        """Walk the adjacency; NotImplementedError for what has no number in it."""
        kind = self.original.is_directed(), self.original.is_multigraph()
        adjacency = _plain(self.original._adj, kind[1])
        self.nodes, self.rows, source, target, columns = _core.networkx_walk(
            adjacency, attributes, *kind
        )
        self._ends = {"source": source, "target": target}
        for attribute, (_, values, is_whole) in zip(attributes, columns, strict=True):
            name = f"attribute {len(self._columns)}"
            self._columns[name] = values
            self._attributes[_key(*attribute)] = name, is_whole
        self.__dict__.pop("engine", None)

    @cached_property
    def numbers(self) -> dict[Any, int]:
        """The number of each node."""
        return dict(zip(self.nodes, range(len(self.nodes)), strict=True))

    @cached_property
    def engine(self) -> Graph:
        """The graph of numbers, with the attributes that were read."""
        frame = frame_of({**self._ends, **self._columns})
        directed, multigraph = self.original.is_directed(), self.original.is_multigraph()
        return Graph(
            frame,
            source="source",
            target="target",
            edge_attr=list(self._columns),
            nodes=len(self.nodes),
            directed=directed,
            multigraph=multigraph,
        )

    def column(self, attribute: Any, missing: Any = 1) -> str | None:
        """What the engine calls an attribute of edges; None for None."""
        if attribute is None:
            return None
        if callable(attribute):
            raise NotImplementedError("a function for weights")
        if _key(attribute, missing) not in self._attributes:
            self._read([(attribute, missing)])
        return self._attributes[_key(attribute, missing)][0]

    def is_whole(self, attribute: Any) -> bool:
        """Whether all values of an attribute are integers."""
        name = self.column(attribute)
        return name is None or any(w for n, w in self._attributes.values() if n == name)

    def ordered_weights(self, attribute: Any) -> _core.Node:
        """An attribute in the order of the rows; of several edges the least."""
        name = self.column(attribute)
        if name is None:
            return _core.as_tensor(new_series(np.ones(len(self.adjacency[1])))._node)
        if name not in self._ordered:
            self._ordered[name] = self.rows.weights(self.engine._graph, self._columns[name])
        return self._ordered[name]

    def edge_arrays(self, attribute: Any) -> tuple[Any, Any, Any]:
        """Numbers of both ends of each edge, and an attribute, int64 or float64; ones for None."""
        name = self.column(attribute)
        source, target = (_array(self._ends[end]) for end in ("source", "target"))
        if name is None:
            return source, target, np.ones(len(source), np.int64)
        values = _array(self._columns[name])
        return source, target, values.astype(np.int64) if self.is_whole(attribute) else values

    def check(self) -> None:
        """Raise if the original is another graph by now: what is kept does not see all changes."""
        now = RowGraph(self.original, {key: missing for key, (_, missing) in self._attributes})
        same = [self.nodes == now.nodes, *map(np.array_equal, self.adjacency, now.adjacency)]
        for key, (name, _) in self._attributes.items():
            other = now._columns[now._attributes[key][0]]
            same.append(np.array_equal(_array(self._columns[name]), _array(other)))
        if not all(same):
            raise Error(
                "networkx: the graph was changed behind its conversion: by G[u][v][name] = value, "
                "or the like; G.__networkx_cache__.clear() makes it read again"
            )

    @cached_property
    def backward(self) -> RowGraph:
        """The graph with its edges the other way round, neighbours in NetworkX's order."""
        return RowGraph(nx.reverse_view(self.original)) if self.is_directed() else self

    # ---- nodes and numbers -----------------------------------------------------------------------
    def number(self, node: Any) -> int:
        """The number of a node; KeyError as in NetworkX."""
        return int(self.numbers[node])

    def named(self, numbers: Any) -> Iterator[Any]:
        """The nodes of an array of numbers."""
        return map(self.nodes.__getitem__, numbers.tolist())

    def by_node(self, values: Any, nodes: Iterable[Any] | None = None) -> dict[Any, Any]:
        """Values of all nodes, an array or list, as a dict in their order; or of some nodes."""
        listed = values if isinstance(values, list) else values.tolist()
        if nodes is None:
            return dict(zip(self.nodes, listed, strict=True))
        return {node: listed[self.numbers[node]] for node in self.original.nbunch_iter(nodes)}

    def by_number(self, values: dict[Any, Any] | None) -> dict[int, Any] | None:
        """A dict of nodes as one of numbers; what is no node of the graph counts for nothing."""
        if values is None:
            return None
        return {self.numbers[n]: value for n, value in values.items() if n in self.numbers}

    def groups(self, labels: Any) -> list[set[Any]]:
        """Sets of nodes with one label, 0, 1, ... in their order."""
        if not len(labels):
            return []
        order = np.argsort(labels, kind="stable")
        ends = np.cumsum(np.bincount(labels)).tolist()
        named = list(self.named(order))
        return [set(named[a:b]) for a, b in zip([0, *ends], ends, strict=False)]

    def edges_of(self, numbers: Any = slice(None)) -> list[tuple[Any, Any]]:
        """Both nodes of edges by their numbers, in NetworkX's order; all of them by default."""
        ends = (self.named(_array(self._ends[end])[numbers]) for end in ("source", "target"))
        return list(zip(*ends, strict=True))

    @cached_property
    def adjacency(self) -> tuple[Any, Any]:
        """Offsets of rows and neighbours, arrays, in NetworkX's order."""
        offsets, targets = self.rows.offsets(), self.rows.targets()
        return array_of(offsets).to_numpy(), array_of(targets).to_numpy()

    # ---- as NetworkX's graphs --------------------------------------------------------------------
    def is_directed(self) -> bool:
        """Whether edges have a direction."""
        return bool(self.original.is_directed())

    def is_multigraph(self) -> bool:
        """Whether there may be several edges between two nodes."""
        return bool(self.original.is_multigraph())

    def number_of_edges(self, u: Any = None, v: Any = None) -> int:
        """How many edges there are, or between two nodes."""
        return self.engine.number_of_edges() if u is None else self.original.number_of_edges(u, v)

    def reverse(self, copy: bool = True) -> RowGraph:
        """The edges the other way round."""
        return self.backward

    def __len__(self) -> int:
        return len(self.nodes)

    def __iter__(self) -> Iterator[Any]:
        return iter(self.nodes)

    def __contains__(self, node: Any) -> bool:
        try:
            return node in self.numbers
        except TypeError:
            return False

    def __getitem__(self, node: Any) -> Any:
        return self.original[node]

    def __getattr__(self, name: str) -> Any:
        if name.startswith(("__", *_WRITES)):
            raise AttributeError(f"a converted graph has no {name!r}; use networkx's own graph")
        return getattr(self.original, name)


def _array(column: _core.Node) -> Any:
    return array_of(_core.as_tensor(column)).to_numpy()


def _key(attribute: Any, missing: Any) -> tuple[Any, Any]:
    return attribute, (type(missing), missing)


def _plain(adjacency: Any, multigraph: bool) -> dict[Any, dict[Any, Any]]:
    """The adjacency as dicts of dicts, which views of NetworkX are not."""

    def plain(mapping: Any, depth: int) -> Any:
        if type(mapping) is dict and (depth == 0 or type(next(iter(mapping.values()), {})) is dict):
            return mapping
        if depth == 0:
            return dict(mapping.items())
        return {key: plain(value, depth - 1) for key, value in mapping.items()}

    made: dict[Any, dict[Any, Any]] = plain(adjacency, 3 if multigraph else 2)
    return made


def rows_of(graph: Any) -> RowGraph:
    """What functions are given: a converted graph, or one of ours, whose ids become nodes."""
    if not isinstance(graph, RowGraph):
        return RowGraph(graph.to_networkx())
    if os.environ.get("HEADRACE_NETWORKX_CHECK", "0") not in ("", "0"):
        graph.check()
    return graph


def convert_to_nx(obj: Any, **_: Any) -> Any:
    """Results are NetworkX's own already; of our graphs one of NetworkX."""
    if isinstance(obj, RowGraph):
        return obj.original
    return obj.to_networkx() if isinstance(obj, Graph) else obj
