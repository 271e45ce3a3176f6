# SPDX-License-Identifier: Apache-2.0
"""What graphs are made of: edges as a frame, from any library."""

from __future__ import annotations

import numbers
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from headrace import _core
from headrace.errors import (
    ColumnNotFoundError,
    InvalidArgumentError,
    TypeMismatchError,
    UnsupportedError,
)
from headrace.frame.columns import frame_of_parts, is_frame, new_frame
from headrace.lazy.handle import mark
from headrace.series.column import new_series, series_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from headrace.frame.dataframe import DataFrame
    from headrace.series.series import Series


class Edges(NamedTuple):
    """Edges as a frame, with the names of its columns, and what the source says of the rest."""

    frame: DataFrame
    source: list[str]
    target: list[str]
    weight: str | None = None
    #: The ids of all vertices, where there may be some without edges.
    nodes: Any = None
    directed: bool | None = None
    multigraph: bool | None = None


def _words(names: Any) -> list[str]:
    return [names] if isinstance(names, str) or not isinstance(names, list | tuple) else list(names)


def _of_pairs(pairs: Iterable[Any], like: Any = ()) -> tuple[Any, Any]:
    """Sources and targets of pairs; of none with the dtype of `like`."""
    listed = list(pairs)
    if not listed:
        empty = new_series(list(like))[:0]
        return empty, empty
    source, target = zip(*listed, strict=True)
    return list(source), list(target)


def _of_matrix(matrix: Any) -> Edges:
    """Rows are sources and columns targets; explicit zeros are edges."""
    rows, columns = matrix.shape
    if rows != columns:
        raise InvalidArgumentError(
            f"Graph: expected a square matrix: shape={matrix.shape}; name the sides of a table of "
            "two kinds of vertices apart"
        )
    if hasattr(matrix.data, "__cuda_array_interface__"):  # CuPy's, which stays on its device
        from headrace.tensor.sparse import coo_matrix

        places = coo_matrix(matrix.tocoo())
        frame = new_frame({"source": places.row, "target": places.col, "weight": places.data})
        return Edges(frame, ["source"], ["target"], "weight", nodes=rows)
    matrix = matrix.tocsr()
    indptr, indices = np.asarray(matrix.indptr), np.asarray(matrix.indices)
    source = np.repeat(np.arange(rows, dtype=indices.dtype), np.diff(indptr))
    frame = new_frame({"source": source, "target": indices, "weight": np.asarray(matrix.data)})
    return Edges(frame, ["source"], ["target"], "weight", nodes=rows)


def _of_networkx(graph: Any, weight: str | None, attributes: Sequence[str]) -> Edges:
    nodes = list(graph)
    data = list(graph.edges(data=True))
    source, target = _of_pairs(((u, v) for u, v, _ in data), nodes)
    columns = {"source": source, "target": target}
    name = weight or "weight"
    if weight or any(name in values for _, _, values in data):
        columns[name] = [values.get(name, 1) for _, _, values in data]
    else:
        name = ""
    for attribute in attributes:
        columns[attribute] = [values.get(attribute) for _, _, values in data]
    several = bool(graph.is_multigraph())
    made = new_frame(columns)
    return Edges(made, ["source"], ["target"], name or None, nodes, graph.is_directed(), several)


def _of_igraph(graph: Any, weight: str | None, attributes: Sequence[str]) -> Edges:
    names = graph.vs["name"] if "name" in graph.vs.attributes() else range(graph.vcount())
    nodes = list(names)
    source, target = _of_pairs(((nodes[u], nodes[v]) for u, v in graph.get_edgelist()), nodes)
    columns = {"source": source, "target": target}
    name = weight or ("weight" if "weight" in graph.es.attributes() else None)
    for attribute in [*([name] if name else []), *attributes]:
        columns[attribute] = graph.es[attribute]
    made = new_frame(columns)
    return Edges(made, ["source"], ["target"], name, nodes, graph.is_directed())


def _named(frame: DataFrame, given: Any, word: str, place: int) -> list[str]:
    """Columns as named, else `word`, else the one at this place."""
    if given is None:
        given = word if {"source", "target"} <= set(frame.columns) else frame.columns[place]
    for name in (names := _words(given)):
        if name not in frame.columns:
            raise ColumnNotFoundError(
                f"Graph: no such column: {word}={name!r}; the columns are "
                f"{', '.join(map(repr, frame.columns))}"
            )
    return names


def edges_of(
    data: Any, source: Any, target: Any, weight: str | None, attributes: Sequence[str]
) -> Edges:
    """The edges of whatever `Graph` takes."""
    if data is None or (isinstance(data, list) and not data):
        empty = np.empty(0, np.int64)
        return Edges(new_frame({"source": empty, "target": empty}), ["source"], ["target"])
    if hasattr(data, "tocsr"):
        return _of_matrix(data)
    if hasattr(data, "adj") and hasattr(data, "is_multigraph"):
        return _of_networkx(data, weight, attributes)
    if hasattr(data, "get_edgelist") and hasattr(data, "vs"):
        return _of_igraph(data, weight, attributes)
    if isinstance(data, np.ndarray) and (data.ndim != 2 or data.shape[1] != 2):
        raise InvalidArgumentError(
            f"Graph: expected an array of two columns, sources and targets: shape={data.shape}"
        )
    frame = data if is_frame(data) else new_frame(data)
    if len(frame.columns) < 2:
        raise InvalidArgumentError(
            f"Graph: expected columns of sources and of targets: columns={list(frame.columns)}"
        )
    sources = _named(frame, source, "source", 0)
    targets = _named(frame, target, "target", 1)
    if len(sources) != len(targets):
        raise InvalidArgumentError(
            f"Graph: source and target have different numbers of keys: source={sources}, "
            f"target={targets}"
        )
    for name in (*([weight] if weight else []), *attributes):
        _named(frame, name, "weight" if name == weight else "edge_attr", 0)
    columns = dict.fromkeys([*sources, *targets, *([weight] if weight else []), *attributes])
    return Edges(frame[list(columns)].reset_index(drop=True), sources, targets, weight)


def nodes_of(
    nodes: Any, vertex: Any, keys: int, like: Any
) -> tuple[list[Series], DataFrame | None]:
    """The columns of ids of further vertices, and a frame of all that is said of them.

    Those that are counted have the dtype of ids `like`, where it is large enough.
    """
    if nodes is None:
        return [], None
    if isinstance(nodes, numbers.Integral):
        count, word = int(nodes), str(like)
        if count < 0:
            raise InvalidArgumentError(f"Graph: a negative number of vertices: nodes={count}")
        if count >= 2**32:
            raise UnsupportedError(f"Graph: more than 2^32 - 1 vertices: nodes={count}")
        fits = like.kind in "iu" and count - 1 <= np.iinfo(word).max
        ids = series_of(_core.counted_ids(count), "vertex")
        return [ids.astype(word) if fits else ids], None
    if not is_frame(nodes) and not (hasattr(nodes, "columns") and hasattr(nodes, "shape")):
        if keys > 1:
            nodes = new_frame(list(map(list, nodes)))
            return [nodes[name] for name in nodes.columns], None
        return [new_series(nodes)], None
    frame = nodes if is_frame(nodes) else new_frame(nodes)
    words = _words(vertex) if vertex is not None else list(frame.columns)[:keys]
    names = [name for word in words for name in _named(frame, word, "vertex", 0)]
    if len(names) != keys:
        raise InvalidArgumentError(
            f"Graph: nodes have another number of keys: vertex={names}, keys={keys}"
        )
    return [frame[name] for name in names], frame.rename(
        columns=dict(zip(names, key_names("vertex", keys), strict=True))
    )


def key_names(word: str, keys: int) -> list[str]:
    """What ids of vertices are called in results: the word, or of several keys one each."""
    return [word] if keys == 1 else [f"{word}_{key}" for key in range(keys)]


def same_dtype(columns: list[Series]) -> list[Series]:
    """Ids of one key, of sources, targets and nodes, as one dtype; categories as their values."""
    columns = [each.astype("str") if str(each.dtype) == "category" else each for each in columns]
    words = {str(each.dtype) for each in columns if len(each)} or {str(columns[0].dtype)}
    if len(words) == 1:
        word = words.pop()
    elif all(each.dtype.kind in "iuf" for each in columns if len(each)):
        word = str(np.result_type(*words))
        if word.startswith("float") and not any(each.startswith("float") for each in words):
            raise TypeMismatchError(
                f"Graph: no integer dtype has all ids: dtypes={sorted(words)}; convert one side"
            )
    else:
        raise TypeMismatchError(
            f"Graph: ids of vertices have different dtypes: dtypes={sorted(words)}; convert them "
            "to one"
        )
    if word.startswith(("decimal", "list", "complex")):
        raise UnsupportedError(f"Graph: vertices cannot have ids of this dtype: dtype={word}")
    return [each if str(each.dtype) == word else each.astype(word) for each in columns]


def rmat(
    scale: int,
    edge_factor: int = 16,
    *,
    a: float = 0.57,
    b: float = 0.19,
    c: float = 0.19,
    seed: int = 0,
) -> DataFrame:
    """Edges of a random graph with hubs, as those of the Graph500 benchmark.

    Parameters
    ----------
    scale : int
        There are ``2 ** scale`` vertices, not all of which have edges; at most 32.
    edge_factor : int, default 16
        Edges for each vertex; some come several times, and some are self loops.
    a, b, c : float
        The shares of the first three quarters of the adjacency matrix, into which edges fall again
        and again.
    seed : int, default 0
        An edge is a function of the seed and its number, for any number of threads.

    Returns
    -------
    DataFrame
        ``source`` and ``target``, uint32.

    Notes
    -----
    R-MAT (D. Chakrabarti, Y. Zhan, C. Faloutsos, SDM 2004), the vertices permuted.

    >>> hr.graph.rmat(4, 2, seed=1).shape
    (32, 2)
    """
    mark("rmat")
    table = _core.graph_rmat(scale, edge_factor << max(scale, 0), a, b, c, seed)
    return frame_of_parts(table, ["source", "target"])
