# SPDX-License-Identifier: Apache-2.0
"""GraphML: graphs with typed attributes as XML."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NoReturn
from xml.parsers import expat
from xml.sax.saxutils import escape, quoteattr

from headrace.errors import InputError, UnsupportedError
from headrace.frame.columns import new_frame
from headrace.graph.graph import Graph, graph_of
from headrace.graph.sources import key_names
from headrace.io.atomic_write import new_file
from headrace.lazy.handle import mark
from headrace.series.column import new_series

if TYPE_CHECKING:
    import os
    from collections.abc import Callable

_NAMESPACE = "http://graphml.graphdrawing.org/xmlns"
_BOOLS = {"true": True, "1": True, "false": False, "0": False}
#: How values of each type are read, and the dtype of their column.
_TYPES: dict[str, tuple[Callable[[str], Any], str]] = {
    "boolean": (lambda text: _BOOLS[text.lower()], "bool"),
    "int": (int, "int64"),
    "integer": (int, "int64"),
    "long": (int, "int64"),
    "float": (float, "float64"),
    "double": (float, "float64"),
    "string": (str, "string"),
}
_NOT_READ = ("hyperedge", "port")
_CHUNK = 1 << 16


class _Reader:
    """Follows the elements of a file, and collects vertices and edges by column."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.parser = expat.ParserCreate("utf-8", " ")
        self.parser.buffer_text = True
        self.parser.StartElementHandler = self.start
        self.parser.EndElementHandler = self.end
        self.parser.CharacterDataHandler = self.text
        self.parser.StartDoctypeDeclHandler = self.refuse
        self.parser.EntityDeclHandler = self.refuse
        self.depth: list[str] = []
        #: Of each key: whom it is for, the name, the type, what those have that say nothing.
        self.keys: dict[str, tuple[str, str, str, Any]] = {}
        self.key = ""
        self.words: list[str] = []
        self.directed: bool | None = None
        self.rows: dict[str, list[dict[str, Any]]] = {"node": [], "edge": []}
        self.seen: set[str] = set()

    def fail(self, what: str, **found: Any) -> NoReturn:
        line, column = self.parser.CurrentLineNumber, self.parser.CurrentColumnNumber + 1
        shown = "".join(f", {name}={value!r}" for name, value in found.items())
        error = InputError(
            f"read_graphml: {what}: path={self.path!r}, line={line}, column={column}{shown}"
        )
        error.path, error.line, error.column = self.path, line, column
        raise error

    def refuse(self, *_: Any) -> NoReturn:
        self.fail("a document type or entity, which may expand without end")

    def start(self, tag: str, given: dict[str, str]) -> None:
        tag = tag.rpartition(" ")[2]
        where = self.depth[-1] if self.depth else ""
        self.depth.append(tag)
        if (where == "") != (tag == "graphml"):
            self.fail("no file of GraphML", element=tag)
        if tag in _NOT_READ:
            raise UnsupportedError(f"read_graphml: cannot read this: element={tag!r}")
        if tag == "key":
            kind = given.get("attr.type", "string")
            if kind not in _TYPES:
                self.fail("no such type of an attribute", type=kind)
            self.key = self.need(given, "id")
            name = given.get("attr.name", self.key)
            self.keys[self.key] = given.get("for", "all"), name, kind, None
        elif tag == "graph":
            if self.directed is not None or where != "graphml":
                raise UnsupportedError(
                    f"read_graphml: more than one graph, or one inside another: path={self.path!r}"
                )
            self.directed = given.get("edgedefault", "undirected") == "directed"
        elif tag == "node":
            name = self.need(given, "id")
            if name in self.seen:
                self.fail("a vertex is there twice", id=name)
            self.seen.add(name)
            self.rows["node"].append({"": (name,)})
        elif tag == "edge":
            says = given.get("directed")
            if says is not None and (says == "true") != self.directed:
                raise UnsupportedError(
                    "read_graphml: edges with and without direction in one graph"
                )
            ends = self.need(given, "source"), self.need(given, "target")
            self.rows["edge"].append({"": ends})
        elif tag == "data":
            self.key = self.need(given, "key")
            if self.key not in self.keys:
                self.fail("no such key", key=self.key)
        self.words.clear()

    def need(self, given: dict[str, str], name: str) -> str:
        if name not in given:
            self.fail("an attribute is missing", element=self.depth[-1], attribute=name)
        return given[name]

    def text(self, words: str) -> None:
        if self.depth and self.depth[-1] in ("data", "default"):
            self.words.append(words)

    def end(self, tag: str) -> None:
        tag = self.depth.pop()
        if tag not in ("data", "default") or not self.depth:
            return
        domain, name, kind, _ = self.keys.get(self.key, ("", "", "string", None))
        words = "".join(self.words)
        try:
            value = _TYPES[kind][0](words if kind == "string" else words.strip())
        except (ValueError, KeyError):
            self.fail("a value does not match its type", key=self.key, type=kind, text=words[:80])
        if tag == "default" and self.depth[-1] == "key":
            self.keys[self.key] = domain, name, kind, value
        elif self.depth[-1] in self.rows:
            self.rows[self.depth[-1]][-1][self.key] = value

    def frame(self, element: str, ids: list[str]) -> Any:
        """Ids, and a column for each key of these elements; null where nothing is said."""
        rows = self.rows[element]
        made = {name: new_series([r[""][k] for r in rows]) for k, name in enumerate(ids)}
        for key, (domain, name, kind, default) in self.keys.items():
            is_said = domain in (element, "all") and any(key in row for row in rows)
            if not is_said and (domain != element or default is None):
                continue
            if name in made:
                self.fail("two attributes have one name", name=name)
            values = [row.get(key, default) for row in rows]
            made[name] = new_series(values, dtype=_TYPES[kind][1]) if rows else new_series(values)
        return new_frame(made)


def read_graphml(
    path: str | os.PathLike[str], node_type: type = str, *, multigraph: bool | None = None
) -> Graph:
    """Read a graph from a GraphML file, with the attributes of its vertices and edges.

    Parameters
    ----------
    path : path
    node_type : {str, int, float}
        What ids are made.
    multigraph : bool, optional
        Whether several edges between two vertices stay apart; by default if there are such.

    Returns
    -------
    Graph
        An attribute ``weight`` of edges that is a number weighs them. Null where a vertex or edge
        says nothing and the key has no default.

    Raises
    ------
    InputError
        For text that is no GraphML, a value unlike its type, an unknown key, a document type or an
        entity; with line and column.
    UnsupportedError
        For hyperedges, ports, graphs in graphs, and edges of both kinds.

    >>> path = "a.graphml"
    >>> edges = hr.DataFrame({"a": ["x", "y"], "b": ["y", "z"], "weight": [1.5, 2.0]})
    >>> hr.graph.write_graphml(hr.graph.Graph(edges, weight="weight"), path)
    >>> hr.graph.read_graphml(path)
    Graph(undirected, 3 vertices, 2 edges, weight='weight')
    """
    reader = _Reader(str(path))
    mark("read_graphml")
    with open(path, "rb") as file:
        try:
            while chunk := file.read(_CHUNK):
                reader.parser.Parse(chunk, False)
            reader.parser.Parse(b"", True)
        except expat.ExpatError as error:
            reader.fail(f"no XML: {expat.ErrorString(error.code)}")
    if reader.directed is None:
        reader.fail("no graph")
    nodes, edges = reader.frame("node", ["vertex"]), reader.frame("edge", ["source", "target"])
    if node_type is not str:
        word = {int: "int64", float: "float64"}[node_type]
        nodes = nodes.assign(vertex=nodes.vertex.astype(word))
        edges = edges.assign(source=edges.source.astype(word), target=edges.target.astype(word))
    if not len(edges):
        edges = new_frame({name: nodes.vertex[:0] for name in ("source", "target")})
    others = [name for name in edges.columns if name not in ("source", "target")]
    weighs = "weight" in others and edges["weight"].dtype.kind in "iufb"
    given = {
        "weight": "weight" if weighs and not edges["weight"].isna().any() else None,
        "edge_attr": others,
        "nodes": nodes,
        "directed": reader.directed,
    }
    made = Graph(edges, multigraph=bool(multigraph), **given)
    if multigraph is None and made.number_of_edges() < len(edges):
        return Graph(edges, multigraph=True, **given)
    return made


def _type_of(column: Any) -> str:
    return {"b": "boolean", "i": "long", "u": "long", "f": "double"}.get(
        column.dtype.kind, "string"
    )


def _texts(column: Any) -> list[str | None]:
    kind = _type_of(column)
    if kind == "boolean":
        return [None if v is None else str(v).lower() for v in column.to_list()]
    if kind == "double":
        return [None if v is None else repr(v) for v in column.to_list()]
    return [None if v is None else escape(str(v)) for v in column.to_list()]


def write_graphml(G: Any, path: str | os.PathLike[str]) -> None:
    """Write a graph as GraphML, with the attributes of its vertices and edges; null is left out.

    Parameters
    ----------
    G : Graph, or what `Graph` takes
        Ids of several keys are not written.
    path : path
        Replaced whole or not at all.
    """
    graph = graph_of(G, "write_graphml")
    mark("write_graphml")
    if len(graph._given.source) > 1:
        raise UnsupportedError(
            f"write_graphml: ids of several keys: keys={len(graph._given.source)}; make them one"
        )
    nodes, edges = graph.nodes(), graph._edge_frame()
    ends = {"node": key_names("vertex", 1), "edge": [*graph._given.source, *graph._given.target]}
    keys: list[str] = []
    bodies: dict[str, list[str]] = {}
    for element, frame in (("node", nodes), ("edge", edges)):
        ids = [list(map(quoteattr, map(str, frame[name].to_list()))) for name in ends[element]]
        names = [name for name in frame.columns if name not in ends[element]]
        columns = []
        for name in names:
            key = f"d{len(keys)}"
            keys.append(
                f'<key id="{key}" for="{element}" attr.name={quoteattr(str(name))} '
                f'attr.type="{_type_of(frame[name])}"/>\n'
            )
            columns.append([
                "" if text is None else f'<data key="{key}">{text}</data>'
                for text in _texts(frame[name])
            ])  # fmt: skip
        data = ["".join(row) for row in zip(*columns, strict=True)] or [""] * len(frame)
        words = ["id"] if element == "node" else ["source", "target"]
        bodies[element] = [
            f"<{element} {' '.join(f'{w}={i}' for w, i in zip(words, row, strict=True))}"
            + (f">{more}</{element}>\n" if more else "/>\n")
            for *row, more in zip(*ids, data, strict=True)
        ]
    kind = "directed" if graph.is_directed() else "undirected"
    with new_file("write_graphml", path) as file:
        for part in (
            [f'<?xml version="1.0" encoding="utf-8"?>\n<graphml xmlns="{_NAMESPACE}">\n'],
            keys,
            [f'<graph edgedefault="{kind}">\n'],
            bodies["node"],
            bodies["edge"],
            ["</graph>\n</graphml>\n"],
        ):
            file.write("".join(part).encode())
