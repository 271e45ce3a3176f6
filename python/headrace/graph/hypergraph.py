# SPDX-License-Identifier: Apache-2.0
"""Graphs of the values that rows have in common."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

from headrace.errors import ColumnNotFoundError, InvalidArgumentError
from headrace.frame.columns import is_frame, new_frame
from headrace.frame.concat import concat
from headrace.graph.graph import Graph
from headrace.series.column import new_series

if TYPE_CHECKING:
    from collections.abc import Sequence


def hypergraph(
    frame: Any, columns: Sequence[str] | None = None, direct: bool = False, delim: str = "::"
) -> Graph:
    """A graph whose vertices are the values of columns, and an edge where a row has a value.

    Parameters
    ----------
    frame : DataFrame
        A row an event.
    columns : list of str, optional
        The columns whose values are vertices; all by default. Missing values are none.
    direct : bool, default False
        Edges between the values of a row, for any two columns, instead of edges from a vertex of
        the row to each of its values.
    delim : str, default '::'
        Between the column and the value in the id of a vertex, and between two columns.

    Returns
    -------
    Graph
        Undirected, of strings: ``'column::value'`` and, unless `direct`, ``'event_id::row'``. Edges
        are in ``source`` and ``target``, with the column, or both, as ``edge_type``.

    Raises
    ------
    ColumnNotFoundError
        If there is no such column.

    >>> visits = hr.DataFrame({"user": ["ann", "bob"], "ip": [7, 7]})
    >>> hr.graph.hypergraph(visits).nodes().vertex.to_list()
    ['event_id::0', 'event_id::1', 'ip::7', 'user::ann', 'user::bob']
    >>> hr.graph.hypergraph(visits, direct=True).edges().to_dict("list")["target"]
    ['ip::7', 'ip::7']
    """
    frame = frame if is_frame(frame) else new_frame(frame)
    names = list(frame.columns) if columns is None else list(columns)
    for name in names:
        if name not in frame.columns:
            raise ColumnNotFoundError(
                f"hypergraph: no such column: columns={name!r}; there are "
                f"{', '.join(map(repr, frame.columns))}"
            )
    if len(names) < 1 + direct:
        raise InvalidArgumentError(f"hypergraph: too few columns: columns={names}")
    frame = frame[names].reset_index(drop=True)
    there = {name: frame[name].notna() for name in names}
    ids = {name: name + delim + frame[name].astype("str") for name in names}
    if direct:
        pairs = [(one, other) for one, other in itertools.combinations(names, 2)]
    else:
        event = "event_id"
        ids[event] = event + delim + new_series(range(len(frame))).astype("str")
        pairs = [(event, name) for name in names]
    parts = []
    for one, other in pairs:
        word = one + delim + other if direct else other
        part = new_frame({"source": ids[one], "target": ids[other]}).assign(edge_type=word)
        mask = there[one] & there[other] if direct else there[other]
        parts.append(part[mask.to_numpy()])
    edges = concat(parts, ignore_index=True)
    return Graph(edges, source="source", target="target", edge_attr="edge_type", multigraph=direct)
