# SPDX-License-Identifier: Apache-2.0
"""Random graphs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headrace import _core
from headrace.frame.columns import frame_of_parts
from headrace.lazy.handle import mark

if TYPE_CHECKING:
    from headrace.frame.dataframe import DataFrame


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
