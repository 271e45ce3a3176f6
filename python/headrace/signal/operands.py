# SPDX-License-Identifier: Apache-2.0
"""What the functions of signals take."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from headrace.array.construct import asarray
from headrace.lazy.handle import Deferred

if TYPE_CHECKING:
    from headrace import _core


def node_of(x: Any) -> _core.Node:
    """The plan node of an array, a series, or what `hr.asarray` takes."""
    return x._node if isinstance(x, Deferred) else asarray(x)._node
