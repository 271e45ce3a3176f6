# SPDX-License-Identifier: Apache-2.0
"""`hr.graph.Graph`: vertices named by the user's keys, edges in compressed rows."""

from __future__ import annotations

import functools
import html
import importlib
import numbers
import sys
from typing import TYPE_CHECKING, Any

import numpy as np

from headrace import _core
from headrace.errors import (
    ColumnNotFoundError,
    InvalidArgumentError,
    TypeMismatchError,
)
from headrace.facade import facade, missing_of_module
from headrace.frame.columns import frame_of, is_frame, new_frame
from headrace.frame.concat import concat
from headrace.graph.changes import (
    ADD_EDGES,
    ADD_NODES,
    REMOVE_EDGES,
    REMOVE_NODES,
    Change,
    changed,
    edges_after,
    is_long,
)
from headrace.graph.sources import Edges, edges_of, key_names, nodes_of, same_dtype
from headrace.lazy.handle import array_of, mark
from headrace.series.column import is_series, new_series, series_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

    from headrace.frame.dataframe import DataFrame
    from headrace.series.series import Series
    from headrace.tensor.sparse import csr_matrix

_DUPLICATES = ("last", "first", "sum", "min", "max", "error")


@facade("Graph")
class Graph:
    """A graph whose vertices are values of a frame's columns; immutable.

    It is built when its line runs. What algorithms find on it are lazy frames in one row set, a row
    a vertex in the order of the ids, so columns of several combine without a join; each algorithm
    of `hr.graph` is a method too.

    Parameters
    ----------
    data : frame, array, matrix or graph, optional
        Edges: a frame of ours, pandas, Polars or Arrow; pairs, or an array of two columns; a square
        sparse matrix of SciPy or ours; a graph of NetworkX or igraph, which says itself whether it
        is directed. None: a graph without edges.
    source, target : str or list of str, optional
        Columns of ids (several: one id of several parts), of integers, strings, times or floats.
        ``source`` and ``target`` if there are such, else the first two columns.
    destination : str or list of str, optional
        Another word for `target`.
    weight : str, optional
        The column of weights, numbers. Of a matrix its values; of NetworkX and igraph the attribute
        ``weight``, if edges have it.
    edge_attr : str or list of str, optional
        Columns of further attributes of edges; they are shared, not copied.
    nodes : int, list, series or frame, optional
        Ids of all vertices, also of those without edges (of an integer 0, 1, ... below it); in a
        frame with their attributes.
    vertex : str or list of str, optional
        The columns of ids in `nodes`; its first ones by default.
    directed, multigraph : bool, default False
        Whether edges have a direction, and whether several between two vertices stay apart.
    duplicates : {'last', 'first', 'sum', 'min', 'max', 'error'}, default 'last'
        Which of several edges between two vertices stays, or how their weights become one.

    Raises
    ------
    InvalidArgumentError
        If an id is missing, or edges repeat where that is an error.
    TypeMismatchError
        If ids have different dtypes, or weights are not numeric.

    Notes
    -----
    Self loops are kept. 4 bytes an entry and 8 a vertex; an undirected edge is two entries, weights
    and attributes take 4 bytes an entry more.

    >>> edges = hr.DataFrame({"from": ["b", "a", "c"], "to": ["a", "c", "a"]})
    >>> graph = hr.graph.Graph(edges, source="from", target="to")
    >>> graph.number_of_nodes(), graph.number_of_edges()
    (3, 2)
    >>> graph.nodes().vertex.to_list()
    ['a', 'b', 'c']
    """

    __slots__ = (
        "_attributes",
        "_changes",
        "_done",
        "_duplicates",
        "_edges",
        "_given",
        "_made",
        "_node_frame",
    )
    _given: Edges
    #: What was changed since `_given`, and how many of these changes the engine's graph has.
    _changes: tuple[Change, ...]
    _done: int
    _made: _core.Graph
    #: The edges that are in the graph, once they are needed.
    _edges: DataFrame | None
    #: Attributes of vertices, and the same in the rows of the vertices once they are needed.
    _attributes: DataFrame | None
    _node_frame: DataFrame | None
    #: NetworkX leaves its functions to this engine.
    __networkx_backend__ = "headrace"

    def __init__(
        self,
        data: Any = None,
        *,
        source: str | list[str] | None = None,
        target: str | list[str] | None = None,
        destination: str | list[str] | None = None,
        weight: str | None = None,
        edge_attr: str | Sequence[str] | None = None,
        nodes: Any = None,
        vertex: str | list[str] | None = None,
        directed: bool = False,
        multigraph: bool = False,
        duplicates: str = "last",
    ) -> None:
        if duplicates not in _DUPLICATES:
            raise InvalidArgumentError(
                f"Graph: no such rule: duplicates={duplicates!r}; use {', '.join(_DUPLICATES)}"
            )
        if target is not None and destination is not None:
            raise InvalidArgumentError(
                f"Graph: two words for one thing: target={target!r}, destination={destination!r}"
            )
        attributes = [edge_attr] if isinstance(edge_attr, str) else list(edge_attr or ())
        given = edges_of(data, source, target or destination, weight, attributes)
        self._duplicates = duplicates
        self._build(
            given._replace(
                nodes=given.nodes if nodes is None else nodes,
                directed=directed if given.directed is None else given.directed,
                multigraph=multigraph if given.multigraph is None else given.multigraph,
            ),
            vertex,
        )

    def _build(self, given: Edges, vertex: Any = None) -> None:
        mark("Graph")
        frame, keys = given.frame, len(given.source)
        if given.weight is not None:
            self._check_weight(frame[given.weight])
        columns, attributes = nodes_of(given.nodes, vertex, keys, frame[given.source[0]].dtype)
        parts: list[list[_core.Node]] = [[], [], []]
        for key in range(keys):
            ends = [frame[given.source[key]], frame[given.target[key]], *columns[key : key + 1]]
            for part, column in zip(parts, same_dtype(ends), strict=False):
                part.append(column._node)
        keeps_edges = len(frame.columns) > len({*given.source, *given.target})
        self._given, self._edges, self._node_frame = given, None, None
        self._changes, self._done, self._attributes = (), 0, None
        self._made = _core.graph(
            parts[0],
            parts[1],
            parts[2],
            bool(given.directed),
            bool(given.multigraph),
            self._duplicates == "first",
            keeps_edges,
        )
        if isinstance(given.nodes, numbers.Integral) and self.number_of_nodes() > given.nodes:
            raise InvalidArgumentError(
                f"Graph: ids beyond the vertices: nodes={given.nodes}; they are 0 to "
                f"{given.nodes - 1}, or name them: nodes=list"
            )
        if self._graph.is_deduplicated and self._duplicates not in ("last", "first"):
            self._combine()
        if attributes is not None and len(attributes.columns) > keys:
            if attributes.duplicated(key_names("vertex", keys)).any():
                raise InvalidArgumentError("Graph: a vertex has two rows in nodes")
            self._attributes = attributes

    @property
    def _graph(self) -> _core.Graph:
        """The engine's graph, with all changes."""
        if self._done < len(self._changes):
            self._made = changed(self._made, self._changes[self._done :])
            self._done = len(self._changes)
        return self._made

    @staticmethod
    def _check_weight(weights: Series) -> None:
        if weights.dtype.kind not in "iufb":
            raise TypeMismatchError(
                f"Graph: weights are not numeric: weight={weights.name!r}, dtype={weights.dtype}"
            )
        if missing := int(weights.isna().sum()):
            raise InvalidArgumentError(
                f"Graph: missing weights: weight={weights.name!r}, missing={missing}; fill them, "
                "or drop these edges"
            )

    def _combine(self) -> None:
        """One edge for several between two vertices, their weights as `duplicates` says."""
        given, rule = self._given, self._duplicates
        repeated = len(given.frame) - self.number_of_edges()
        if rule == "error":
            raise InvalidArgumentError(
                f"Graph: several edges between two vertices: more={repeated}; choose with "
                "duplicates=, or keep them: multigraph=True"
            )
        if given.weight is None:
            raise InvalidArgumentError(f"Graph: no weights to combine: duplicates={rule!r}")
        ends = [np.asarray(self._find_columns(given.frame[names])) for names in given[1:3]]
        if not given.directed:
            ends = [np.minimum(*ends), np.maximum(*ends)]
        names = ["source of edges", "target of edges"]
        ids = set(given.source) | set(given.target)
        rules = {name: "last" for name in given.frame.columns if name not in ids}
        rules[given.weight] = rule
        frame = given.frame[list(rules)].assign(**dict(zip(names, ends, strict=True)))
        frame = frame.groupby(names).agg(rules).reset_index()
        nodes = self._vertices()
        for name, columns in zip(names, given[1:3], strict=True):
            taken = nodes.iloc[frame[name].to_numpy()].reset_index(drop=True)
            values = dict(zip(columns, (taken[each] for each in taken.columns), strict=True))
            frame = frame.assign(**values)
        self._build(given._replace(frame=frame[list(given.frame.columns)], nodes=nodes))

    def _attached(self, attributes: DataFrame) -> DataFrame:
        """Attributes in the rows of the vertices; null where nothing is said."""
        nodes, names = self._vertices(), key_names("vertex", len(self._given.source))
        attributes = attributes.assign(**{n: attributes[n].astype(nodes[n].dtype) for n in names})
        merged = nodes.merge(attributes, on=names, how="left")
        _core.force(list(merged._nodes.values()))
        return merged._in_domain(self._graph.domain)

    # ---- rows of vertices ------------------------------------------------------------------------
    def _vertices(self) -> DataFrame:
        ids = self._graph.ids()
        return frame_of(dict(zip(key_names("vertex", len(ids)), ids, strict=True)))

    def _frame(self, table: _core.Node, *names: str, vertices: Any = None) -> DataFrame:
        """The ids of the vertices and the columns of a table in their rows."""
        made = self._vertices()
        parts = _core.parts(table, len(names))
        made = frame_of({**made._nodes, **dict(zip(names, parts, strict=True))})
        if vertices is None:
            return made
        return made.iloc[self._find(table.op, vertices)].reset_index(drop=True)

    def _find_columns(self, asked: DataFrame) -> npt.NDArray[np.int64]:
        """The numbers of vertices that rows name, -1 where there is none."""
        columns, exact = self._as_ids([asked[name] for name in asked.columns])
        if not columns:
            return np.full(len(asked), -1)
        found = array_of(self._graph.find([each._node for each in columns])).to_numpy()
        return found if exact is True else np.where(exact, found, -1)

    def _as_ids(self, asked: list[Series]) -> tuple[list[Series], Any]:
        """Columns in the dtypes of ids, none if they have none in common, and which rows can."""
        exact: Any = True
        made = []
        for column, node in zip(asked, self._made.ids(), strict=True):
            dtype, cast = series_of(node).dtype, column
            if str(column.dtype) != str(dtype):
                are_numbers = [each.kind in "iufb" for each in (column.dtype, dtype)]
                if len(column) and are_numbers[0] != are_numbers[1]:
                    return [], False
                cast = column.astype(str(dtype))
                exact = exact & (cast == column).to_numpy() if all(are_numbers) else exact
            made.append(cast)
        return made, exact

    def _find(self, op: str, vertices: Any, word: str = "vertex") -> npt.NDArray[np.int64]:
        """The numbers of these vertices; an error names one that is not there."""
        if is_frame(vertices):
            asked = vertices
        elif len(self._given.source) > 1:
            rows = [vertices] if isinstance(vertices, tuple) else list(vertices)
            asked = new_frame([list(row) for row in rows])
        else:
            listed = is_series(vertices) or isinstance(vertices, list | tuple | np.ndarray)
            if not listed and hasattr(vertices, "__iter__") and not isinstance(vertices, str):
                vertices, listed = list(vertices), True
            asked = new_frame({"vertex": new_series(vertices if listed else [vertices])})
        found = self._find_columns(asked)
        if (found < 0).any():
            row = [asked[name].to_list()[int((found < 0).argmax())] for name in asked.columns]
            raise InvalidArgumentError(
                f"{op}: no such vertex: {word}={row[0] if len(row) == 1 else tuple(row)!r}; "
                f"{self._described()}"
            )
        return found

    def _described(self) -> str:
        count = self.number_of_nodes()
        if count == 0:
            return "the graph has no vertices"
        ends = self._vertices().iloc[[0, count - 1]]
        first, last = zip(*(ends[name].to_list() for name in ends.columns), strict=True)
        words = [str(each[0] if len(each) == 1 else each) for each in (first, last)]
        return f"the graph has {count} vertices, {words[0]} to {words[1]}"

    def _weights(self, op: str, weight: str | bool | None) -> _core.Node | None:
        """The weights of edges in float64, None where each counts 1; True: the graph's."""
        name = self._given.weight if weight is True else weight
        if name is None or name is False:
            return None
        frame = self._edge_frame()
        if name not in frame.columns:
            raise ColumnNotFoundError(
                f"{op}: no such attribute of edges: weight={name!r}; give it to the graph, "
                "edge_attr="
            )
        self._check_weight(frame[name])
        return frame[name].astype("float64")._node

    def _edge_frame(self) -> DataFrame:
        if self._edges is None:
            self._edges = edges_after(self._given.frame, self._changes)
            if self._graph.is_deduplicated:
                rows = array_of(self._with_edges().edge_rows())
                self._edges = self._edges.iloc[rows].reset_index(drop=True)
        return self._edges

    def _with_edges(self) -> _core.Graph:
        """The same graph, whose entries know their edges."""
        given, ids = self._given, self._vertices()
        if len(given.frame.columns) > len({*given.source, *given.target}):
            return self._graph
        sides = [given.frame[given.source], given.frame[given.target], ids]
        keys = [[side[name] for name in side.columns] for side in sides]
        parts = [same_dtype(list(key)) for key in zip(*keys, strict=True)]
        source, target, nodes = ([key[side]._node for key in parts] for side in range(3))
        first, directed, several = self._duplicates == "first", *self._kind()[:2]
        made = _core.graph(source, target, nodes, directed, several, first, True)
        return changed(made, self._changes)

    def _picked_edges(self, numbers: _core.Node) -> DataFrame:
        frame = self._edge_frame()
        if self.device != "host":
            return frame.iloc[array_of(numbers).to_numpy()].reset_index(drop=True)
        domain = _core.new_domain()
        return frame_of(
            {
                n: _core.in_domain(_core.take(node, numbers), domain)
                for n, node in frame._nodes.items()
            }
        )

    # ---- what there is ---------------------------------------------------------------------------
    def from_edgelist(
        self,
        frame: Any,
        source: str | list[str] | None = None,
        target: str | list[str] | None = None,
        *,
        destination: str | list[str] | None = None,
        weight: str | None = None,
        edge_attr: str | Sequence[str] | None = None,
    ) -> None:
        """Fill a graph that has no edges yet; see `Graph`.

        >>> graph = hr.graph.Graph(directed=True)
        >>> graph.from_edgelist(hr.DataFrame({"src": [0, 1], "dst": [1, 2]}), "src", "dst")
        >>> graph.number_of_edges()
        2
        """
        if self.number_of_edges() or self.number_of_nodes():
            raise InvalidArgumentError(
                f"from_edgelist: the graph has edges: edges={self.number_of_edges()}; use "
                "add_edges, which makes a new one"
            )
        self.__init__(  # type: ignore[misc]
            frame,
            source=source,
            target=target,
            destination=destination,
            weight=weight,
            edge_attr=edge_attr,
            directed=self.is_directed(),
            multigraph=self.is_multigraph(),
            duplicates=self._duplicates,
        )

    @classmethod
    def from_bipartite(
        cls,
        frame: Any,
        source: str | None = None,
        target: str | None = None,
        *,
        weight: str | None = None,
        edge_attr: str | Sequence[str] | None = None,
        multigraph: bool = False,
        duplicates: str = "last",
    ) -> Graph:
        """A graph of two sides: ids of `source` and of `target` are different vertices, even equal.

        The id of a vertex has two parts, the name of its column and the value; `edges` has the
        first ones as ``<column>_side``. Values of different dtypes become strings.

        >>> likes = hr.DataFrame({"user": [1, 1, 2], "item": [1, 2, 2]})
        >>> graph = hr.graph.Graph.from_bipartite(likes)
        >>> graph.nodes().vertex_0.to_list(), graph.nodes().vertex_1.to_list()
        (['item', 'item', 'user', 'user'], [1, 2, 1, 2])
        >>> graph.neighbors(("user", 1)).vertex_1.to_list()
        [1, 2]
        """
        attributes = [edge_attr] if isinstance(edge_attr, str) else list(edge_attr or ())
        given = edges_of(frame, source, target, weight, attributes)
        (one,), (other,) = given.source, given.target
        if one == other:
            raise InvalidArgumentError(f"from_bipartite: one column for both sides: source={one!r}")
        edges = given.frame.assign(**{f"{one}_side": str(one), f"{other}_side": str(other)})
        if len({column.dtype.kind in "iufb" for column in (edges[one], edges[other])}) == 2:
            edges = edges.assign(**{n: edges[n].astype("str") for n in (one, other)})
        return cls(
            edges,
            source=[f"{one}_side", one],
            target=[f"{other}_side", other],
            weight=weight,
            edge_attr=attributes,
            multigraph=multigraph,
            duplicates=duplicates,
        )

    @property
    def device(self) -> str:
        """Where the graph is: "host" or "cuda:0".

        A graph of columns on a GPU is made there, and algorithms with kernels leave results there;
        `hr.fallbacks` lists the others.

        >>> hr.graph.Graph([(0, 1)]).device
        'host'
        """
        return self._graph.place

    def to(self, device: str) -> Graph:
        """Copy the graph to a device, "cpu" or "cuda": ids, entries and attributes.

        >>> hr.graph.Graph([(0, 1)]).to("cpu").number_of_edges()
        1
        """
        mark("to")
        if self._changes:
            return self._of(self._edge_frame(), self.nodes()).to(device)
        made = object.__new__(Graph)
        made._duplicates, made._edges = self._duplicates, None
        made._given = self._given._replace(frame=self._given.frame.to(device))
        made._attributes = None if self._attributes is None else self._attributes.to(device)
        made._changes, made._done, made._node_frame = (), 0, None
        made._made = self._graph.to(device)
        return made

    def number_of_nodes(self) -> int:
        """The number of vertices.

        >>> hr.graph.Graph([(0, 1)], nodes=4).number_of_nodes()
        4
        """
        return self._graph.num_vertices

    def __len__(self) -> int:
        return self._graph.num_vertices

    def number_of_edges(self) -> int:
        """The number of edges.

        >>> hr.graph.Graph([(0, 1), (1, 0), (1, 2)]).number_of_edges()
        2
        """
        return self._graph.num_edges

    def is_directed(self) -> bool:
        """Whether edges have a direction.

        >>> hr.graph.Graph([(0, 1)]).is_directed()
        False
        """
        return self._graph.is_directed

    def is_multigraph(self) -> bool:
        """Whether there may be several edges between two vertices.

        >>> hr.graph.Graph([(0, 1), (0, 1)], multigraph=True).number_of_edges()
        2
        """
        return self._graph.is_multigraph

    def has_node(self, vertex: Any) -> bool:
        """Whether there is such a vertex.

        >>> hr.graph.Graph([("a", "b")]).has_node("c")
        False
        """
        try:
            return len(self._find("has_node", vertex)) == 1
        except InvalidArgumentError:
            return False

    __contains__ = has_node

    def has_edge(self, u: Any, v: Any) -> bool:
        """Whether there is an edge from `u` to `v`.

        >>> hr.graph.Graph([(0, 1)], directed=True).has_edge(1, 0)
        False
        """
        if not (self.has_node(u) and self.has_node(v)):
            return False
        start, end = (int(self._find("has_edge", each)[0]) for each in (u, v))
        return end in self._row(start)

    def _row(self, number: int) -> npt.NDArray[np.uint32]:
        offsets, targets = (array_of(each).to_numpy() for each in self._graph.entries()[:2])
        return targets[offsets[number] : offsets[number + 1]]

    def neighbors(self, vertex: Any) -> Series | DataFrame:
        """The ids that edges of `vertex` lead to, each once, ascending.

        >>> hr.graph.Graph([(0, 2), (1, 0)]).neighbors(0).to_list()
        [1, 2]
        """
        row = np.unique(self._row(int(self._find("neighbors", vertex)[0])))
        found = self._vertices().iloc[row].reset_index(drop=True)
        return found["vertex"] if len(found.columns) == 1 else found

    def nodes(self, **conditions: Any) -> DataFrame:
        """The vertices in the order of their ids, with their attributes.

        Parameters
        ----------
        **conditions
            Values of attributes, or lists of them: only the vertices that have them.

        >>> kinds = hr.DataFrame({"id": [0, 1, 2], "kind": ["x", "y", "x"]})
        >>> hr.graph.Graph([(0, 1)], nodes=kinds).nodes(kind="x").vertex.to_list()
        [0, 2]
        """
        if self._attributes is None:
            return _where("nodes", self._vertices(), conditions)
        if self._node_frame is None:
            self._node_frame = self._attached(self._attributes)
        return _where("nodes", self._node_frame, conditions)

    def edges(self, **conditions: Any) -> DataFrame:
        """The edges in the order they were given, under their columns' names.

        Of edges between the same vertices those that `duplicates` left.

        Parameters
        ----------
        **conditions
            Values of columns, or lists of them: only the edges that have them.

        >>> table = hr.DataFrame({"a": [0, 1, 2], "b": [1, 2, 0], "kind": ["x", "y", "x"]})
        >>> hr.graph.Graph(table, edge_attr="kind").edges(kind="x").a.to_list()
        [0, 2]
        """
        return _where("edges", self._edge_frame(), conditions)

    def degree(self, vertex: Any = None) -> Any:
        """The number of edges of each vertex, a frame, or of one; a self loop counts twice.

        >>> hr.graph.Graph([(0, 1), (1, 2)]).degree(1)
        2
        """
        return self._degree("degree", vertex)

    def in_degree(self, vertex: Any = None) -> Any:
        """The number of edges that end at each vertex, or at one.

        >>> hr.graph.Graph([(0, 1), (1, 2)], directed=True).in_degree(0)
        0
        """
        return self._degree("in_degree", vertex)

    def out_degree(self, vertex: Any = None) -> Any:
        """The number of edges that begin at each vertex, or at one.

        >>> hr.graph.Graph([(0, 1), (1, 2)], directed=True).out_degree(0)
        1
        """
        return self._degree("out_degree", vertex)

    def _degree(self, kind: str, vertex: Any) -> Any:
        made = self._frame(_core.graph_degrees(self._graph, kind), kind, vertices=vertex)
        if vertex is None or isinstance(vertex, list) or is_series(vertex):
            return made
        return made[kind].to_list()[0]

    # ---- other graphs ----------------------------------------------------------------------------
    def _of(self, edges: DataFrame, nodes: Any = None, **changes: Any) -> Graph:
        """A graph like this one of other edges."""
        made = object.__new__(Graph)
        made._duplicates = self._duplicates
        made._build(self._given._replace(frame=edges, nodes=nodes, **changes))
        return made

    def subgraph(self, vertices: Any) -> Graph:
        """These vertices and the edges between them.

        Parameters
        ----------
        vertices : list, series or mask
            Ids, or a bool for each row of `nodes`.

        >>> graph = hr.graph.Graph([(0, 1), (1, 2), (2, 0), (2, 3)])
        >>> graph.subgraph([0, 1, 3]).number_of_edges()
        1
        >>> graph.subgraph(graph.degree().degree > 1).number_of_edges()
        3
        """
        frame = self.nodes()
        if is_series(vertices) and str(vertices.dtype) == "bool":
            frame = frame[vertices].reset_index(drop=True)
        else:
            rows = np.unique(self._find("subgraph", vertices))
            frame = frame.iloc[rows].reset_index(drop=True)
        inside = np.zeros(len(self), bool)
        names = key_names("vertex", len(self._given.source))
        inside[self._find_columns(frame[names])] = True
        edges = self._edge_frame()
        ends = [inside[self._find_columns(edges[names])] for names in self._given[1:3]]
        return self._of(edges[new_series(ends[0] & ends[1])].reset_index(drop=True), frame)

    def edge_subgraph(self, mask: Any) -> Graph:
        """The edges for whose rows of `edges` the mask is true, and their vertices.

        >>> edges = hr.DataFrame({"a": [0, 1], "b": [1, 2], "w": [1, 5]})
        >>> graph = hr.graph.Graph(edges, weight="w")
        >>> graph.edge_subgraph(graph.edges().w > 2).nodes().vertex.to_list()
        [1, 2]
        """
        edges = self._edge_frame()
        return self._of(edges[mask].reset_index(drop=True))

    def reverse(self) -> Graph:
        """The same vertices, edges the other way round.

        >>> hr.graph.Graph([(0, 1)], directed=True).reverse().has_edge(1, 0)
        True
        """
        source, target = self._given.target, self._given.source
        return self._of(self._edge_frame(), self.nodes(), source=source, target=target)

    def to_undirected(self) -> Graph:
        """The same vertices and edges, without their direction.

        >>> hr.graph.Graph([(0, 1), (1, 0)], directed=True).to_undirected().number_of_edges()
        1
        """
        return self._of(self._edge_frame(), self.nodes(), directed=False)

    def to_directed(self) -> Graph:
        """Each edge in both directions.

        >>> hr.graph.Graph([(0, 1)]).to_directed().number_of_edges()
        2
        """
        edges = self._edge_frame()
        if not self.is_directed():
            given = self._given
            ends = [[edges[name] for name in names] for names in given[1:3]]
            pairs = zip(*ends, strict=True)
            is_loop = functools.reduce(lambda a, b: a & b, (a == b for a, b in pairs))
            forth, back = given.source + given.target, given.target + given.source
            turned = edges[~is_loop].rename(columns=dict(zip(forth, back, strict=True)))
            edges = _below(edges, turned[list(edges.columns)])
        return self._of(edges, self.nodes(), directed=True)

    # ---- changes ---------------------------------------------------------------------------------
    def _with(self, change: Change, attributes: DataFrame | None) -> Graph:
        """A graph that shares what there is and has one more change."""
        if self._made.place != "host":
            return self.to("cpu")._with(change, attributes).to(self._made.place)
        made = object.__new__(Graph)
        for name in ("_duplicates", "_given", "_done", "_made"):
            setattr(made, name, getattr(self, name))
        made._changes, made._attributes = (*self._changes, change), attributes
        made._edges, made._node_frame = None, None
        if is_long(made._changes, len(self._given.frame)):
            return made._of(made._edge_frame(), made.nodes())
        return made

    def _can_add(self, change: Change) -> bool:
        """Whether further ids can be told by a change; else edges are built anew, or are wrong."""
        is_same = all(
            str(column.dtype) == str(series_of(node).dtype) and not column.isna().any()
            for side in (change.first, change.second)
            for column, node in zip(side, self._made.ids(), strict=True)
        )
        return is_same and self._made.num_vertices > 0

    def add_edges(self, frame: Any) -> Graph:
        """A new graph with further edges, under the columns' names of `edges`.

        A few of them wait in a log next to the rows of this graph, which both share: the next
        algorithm copies the rows once, with the changes. More than an eighth of the edges are built
        anew, as are those of ``duplicates="sum"`` and the like.

        >>> graph = hr.graph.Graph([(0, 1)])
        >>> graph.add_edges([(1, 2)]).number_of_edges(), graph.number_of_edges()
        (2, 1)
        """
        given, more = self._given, frame if is_frame(frame) else new_frame(frame)
        more = more[list(given.frame.columns)].reset_index(drop=True)
        if given.weight is not None:
            self._check_weight(more[given.weight])
        first, second = ([more[name] for name in names] for names in given[1:3])
        change = Change(ADD_EDGES, first, second, more)
        is_plain = self.is_multigraph() or self._duplicates in ("last", "first")
        if is_plain and not is_long([change], len(given.frame)) and self._can_add(change):
            return self._with(change, self._attributes)
        return self._of(_below(self._edge_frame(), more), self.nodes())

    def add_nodes(self, nodes: Any, vertex: str | list[str] | None = None) -> Graph:
        """A new graph with further vertices; attributes that a frame has are theirs from now on.

        Parameters
        ----------
        nodes, vertex
            As `Graph` takes them; vertices may be there already.

        >>> graph = hr.graph.Graph([(0, 1)]).add_nodes([5, 1])
        >>> graph.nodes().vertex.to_list(), graph.number_of_edges()
        ([0, 1, 5], 1)
        """
        given = self._given
        names = key_names("vertex", len(given.source))
        like = given.frame[given.source[0]].dtype
        ids, more = nodes_of(nodes, vertex, len(names), like)
        attributes = self._attributes
        if more is not None and len(more.columns) > len(names):
            both = more if attributes is None else concat([attributes, more], ignore_index=True)
            attributes = both.groupby(names).last().reset_index()
        change = Change(ADD_NODES, ids, ids)
        if self._can_add(change):
            return self._with(change, attributes)
        every = dict(zip(names, ids, strict=True))
        every = concat([self._vertices(), frame_of({n: c._node for n, c in every.items()})])
        made = self._of(self._edge_frame(), every.reset_index(drop=True))
        made._attributes = attributes
        return made

    def remove_edges(self, pairs: Any) -> Graph:
        """A new graph without the edges between these vertices, whether there are such or not.

        Parameters
        ----------
        pairs : DataFrame or list of pairs
            Two columns of ids (of several keys: those of one end, then of the other).

        >>> graph = hr.graph.Graph([(0, 1), (1, 2)])
        >>> graph.remove_edges([(2, 1), (0, 2)]).edges().to_dict("list")
        {0: [0], 1: [1]}
        """
        frame = pairs if is_frame(pairs) else new_frame(pairs)
        keys, columns = len(self._given.source), [frame[name] for name in frame.columns]
        if not len(frame):
            return self
        first, exact = self._as_ids(columns[:keys])
        second, too = self._as_ids(columns[keys:])
        if not first or not second:
            return self
        named = ~functools.reduce(lambda a, b: a | b, (each.isna() for each in first + second))
        rows = np.flatnonzero(named.to_numpy() & exact & too)
        first, second = (
            [each.iloc[rows].reset_index(drop=True) for each in side] for side in (first, second)
        )
        return self._with(Change(REMOVE_EDGES, first, second), self._attributes)

    def remove_nodes(self, vertices: Any) -> Graph:
        """A new graph without these vertices and their edges.

        >>> hr.graph.Graph([(0, 1), (1, 2), (2, 3)]).remove_nodes([1]).nodes().vertex.to_list()
        [0, 2, 3]
        """
        rows = np.unique(self._find("remove_nodes", vertices))
        taken = self._vertices().iloc[rows].reset_index(drop=True)
        ids = [taken[name] for name in taken.columns]
        attributes = self._attributes
        if attributes is not None:
            stays = np.setdiff1d(np.arange(len(self)), rows)
            attributes = self.nodes().iloc[stays].reset_index(drop=True)
        return self._with(Change(REMOVE_NODES, ids, ids), attributes)

    # ---- to others -------------------------------------------------------------------------------
    def adjacency(self, weight: str | bool | None = None) -> csr_matrix:
        """The adjacency matrix: a row and a column for each vertex, in the order of `nodes`.

        Parameters
        ----------
        weight : str or True, optional
            The column of its values, True for the graph's weights; ones by default.

        >>> hr.graph.Graph([(0, 1), (1, 2)], directed=True).adjacency().toarray().tolist()
        [[0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [0.0, 0.0, 0.0]]
        """
        from headrace.tensor.sparse import csr_matrix

        offsets, targets, edges = self._graph.entries()
        indices = array_of(targets).to_numpy()
        count = len(self)
        # Read as int32, they are shared.
        indices = indices.view(np.int32) if count < 2**31 else indices.astype(np.int64)
        weights = self._weights("adjacency", weight)
        if weights is None:
            data = np.ones(len(indices))
        else:
            assert edges is not None
            data = array_of(_core.as_tensor(weights)).to_numpy()[array_of(edges).to_numpy()]
        return csr_matrix((data, indices, array_of(offsets)), shape=(count, count))

    def to_scipy_sparse_array(self, weight: str | bool | None = True) -> Any:
        """The adjacency matrix as `scipy.sparse.csr_array`, with the graph's weights, else ones.

        >>> hr.graph.Graph([(0, 1)]).to_scipy_sparse_array().nnz
        2
        """
        from scipy import sparse

        return sparse.csr_array(self.adjacency(weight).to_scipy())

    def to_networkx(self) -> Any:
        """The graph as one of NetworkX, with the attributes of vertices and edges.

        >>> hr.graph.Graph([("a", "b")]).to_networkx().has_edge("b", "a")
        True
        """
        import networkx

        kind = ("Multi" if self.is_multigraph() else "") + ("Di" if self.is_directed() else "")
        made = getattr(networkx, f"{kind}Graph")()
        keys = len(self._given.source)
        nodes, edges = self.nodes(), self._edge_frame()
        made.add_nodes_from(_labelled(nodes, [key_names("vertex", keys)]))
        made.add_edges_from(_labelled(edges, [self._given.source, self._given.target]))
        return made

    def to_igraph(self) -> Any:
        """The graph as one of igraph; ids are the attribute ``name``, weights ``weight``.

        >>> hr.graph.Graph([("a", "b")]).to_igraph().ecount()  # doctest: +SKIP
        1
        """
        import igraph

        edges = self._edge_frame()
        ends = [self._find_columns(edges[names]) for names in self._given[1:3]]
        made = igraph.Graph(len(self), np.stack(ends, 1), directed=self.is_directed())
        ids = self._vertices()
        made.vs["name"] = ids[ids.columns[0]].to_list()
        if self._given.weight is not None:
            made.es["weight"] = edges[self._given.weight].to_list()
        return made

    def __repr__(self) -> str:
        kind = f"{'directed' if self.is_directed() else 'undirected'}"
        kind += " multigraph" if self.is_multigraph() else ""
        return (
            f"Graph({kind}, {self.number_of_nodes()} vertices, {self.number_of_edges()} edges"
            + (f", weight={self._given.weight!r})" if self._given.weight else ")")
        )

    def _repr_html_(self) -> str:
        # By its name: pictures stand on graphs.
        drawn = importlib.import_module("headrace.plot.graphs").small_picture(self)
        return f"<p>{html.escape(repr(self))}</p>{drawn}{self.edges().head(5)._repr_html_()}"

    def __reduce__(self) -> Any:
        edges, given = self._edge_frame(), self._given
        return _rebuilt, (edges, list(edges.columns), self.nodes(), given[1:4], *self._kind())

    def _kind(self) -> tuple[bool, bool, str]:
        return self.is_directed(), self.is_multigraph(), self._duplicates

    def __getattr__(self, name: str) -> Any:
        """Algorithms of `hr.graph` as methods."""
        package = sys.modules[__package__ or ""]
        if name in package._ALGORITHMS:
            return functools.partial(getattr(package, name), self)
        return missing_of_module(__name__)(name)


def _rebuilt(
    edges: DataFrame, columns: list[Any], nodes: DataFrame, names: tuple[Any, ...], *kind: Any
) -> Graph:
    # Frames travel with names that are strings.
    edges = frame_of(dict(zip(columns, edges._nodes.values(), strict=True)))
    made = object.__new__(Graph)
    directed, multigraph, made._duplicates = kind
    source, target, weight = names
    made._build(Edges(edges, source, target, weight, nodes, directed, multigraph))
    return made


def _below(one: DataFrame, other: DataFrame) -> DataFrame:
    from headrace.frame.concat import concat

    return concat([one, other], ignore_index=True)


def _where(op: str, frame: DataFrame, conditions: dict[str, Any]) -> DataFrame:
    for name, value in conditions.items():
        if name not in frame.columns:
            raise ColumnNotFoundError(
                f"{op}: no such attribute: {name}={value!r}; there are "
                f"{', '.join(map(repr, frame.columns))}"
            )
        is_list = isinstance(value, list | tuple | set) or is_series(value)
        frame = frame[frame[name].isin(value if is_list else [value])]
    return frame.reset_index(drop=True) if conditions else frame


def _labelled(frame: DataFrame, ids: list[list[str]]) -> list[tuple[Any, ...]]:
    """Rows as NetworkX takes them: an id of each list of columns, then the rest as a dict."""
    columns = {name: frame[name].to_list() for name in frame.columns}
    parts: list[Any] = [
        columns[names[0]]
        if len(names) == 1
        else list(zip(*(columns[n] for n in names), strict=True))
        for names in ids
    ]
    used = {name for names in ids for name in names}
    rest = [name for name in columns if name not in used]
    rows = zip(*(columns[name] for name in rest), strict=True) if rest else ()
    parts.append([dict(zip(rest, row, strict=True)) for row in rows] or [{}] * len(frame))
    return list(zip(*parts, strict=True))


def graph_of(data: Any, op: str) -> Graph:
    """A graph, or what `Graph` takes."""
    if isinstance(data, Graph):
        return data
    if data is None:
        raise TypeMismatchError(f"{op}: expected a graph: type='NoneType'")
    return Graph(data)


def undirected_graph_of(data: Any, op: str) -> Graph:
    """The same for what edges' directions would mean nothing to."""
    graph = graph_of(data, op)
    if graph.is_directed():
        raise InvalidArgumentError(f"{op}: the graph is directed; use graph.to_undirected()")
    return graph


def directed_graph_of(data: Any, op: str) -> Graph:
    """The same for what means nothing without edges' directions."""
    graph = graph_of(data, op)
    if not graph.is_directed():
        raise InvalidArgumentError(f"{op}: the graph is undirected; make it with directed=True")
    return graph
