# SPDX-License-Identifier: Apache-2.0
"""Changes of a graph: a short log next to the rows that are there, applied in one pass."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from headrace.frame.concat import concat
from headrace.series.column import new_series

if TYPE_CHECKING:
    from collections.abc import Sequence

    from headrace import _core
    from headrace.frame.dataframe import DataFrame
    from headrace.series.series import Series

ADD_EDGES, ADD_NODES, REMOVE_EDGES, REMOVE_NODES = range(4)
#: Rows up to which a log is kept, and the share of the edges beyond that: a longer one costs more
#: to sort than the edges to build anew.
SHORT, SHARE = 1024, 1 / 8


class Change(NamedTuple):
    """Vertices or pairs of them by their ids, one column a key; of edges their frame too."""

    kind: int
    first: list[Series]
    second: list[Series]
    edges: DataFrame | None = None

    @property
    def rows(self) -> int:
        """How many vertices or pairs."""
        return len(self.first[0])


def is_long(changes: Sequence[Change], edges: int) -> bool:
    """Whether a graph of that many edges is better built anew."""
    return sum(each.rows for each in changes) > max(SHORT, edges * SHARE)


def changed(graph: _core.Graph, changes: Sequence[Change]) -> _core.Graph:
    """The engine's graph after changes, one after the other."""
    changes = [each for each in changes if each.rows]
    if not changes:
        return graph
    kinds = [np.full(each.rows, each.kind, np.uint8) for each in changes]
    first, second = (
        [concat(list(key), ignore_index=True)._node for key in zip(*sides, strict=True)]
        for sides in zip(*((each.first, each.second) for each in changes), strict=True)
    )
    return graph.changed(new_series(np.concatenate(kinds))._node, first, second)


def edges_after(edges: DataFrame, changes: Sequence[Change]) -> DataFrame:
    """All edges that there were, in their order."""
    more = [each.edges for each in changes if each.edges is not None]
    return concat([edges, *more], ignore_index=True) if more else edges
