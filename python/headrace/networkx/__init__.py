# SPDX-License-Identifier: Apache-2.0
"""The backend of NetworkX: its functions on our kernels, its types and its order.

NetworkX finds it by the package's entry points. ``nx.pagerank(G, backend="headrace")`` runs one
call here, ``nx.config.backend_priority.algos = ["headrace"]`` all that the table has; what it does
not do runs in NetworkX.

>>> import networkx as nx
>>> from headrace import networkx as backend
>>> sorted(backend.pagerank(backend.convert_from_nx(nx.path_graph(3)))) == [0, 1, 2]
True
"""

from __future__ import annotations

from typing import Any

from headrace.networkx import (  # noqa: F401
    centralities,
    edges,
    generators,
    groups,
    matrices,
    measures,
    paths,
    traversal,
)
from headrace.networkx.graph import convert_to_nx
from headrace.networkx.table import FUNCTIONS, can_run, convert_from_nx, should_run

__all__ = ["can_run", "convert_from_nx", "convert_to_nx", "should_run"]


def __dir__() -> list[str]:
    """The interface of backends, and the functions."""
    return sorted([*__all__, *FUNCTIONS])


def __getattr__(name: str) -> Any:
    if name in FUNCTIONS:
        return FUNCTIONS[name]
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
