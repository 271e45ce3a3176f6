# SPDX-License-Identifier: Apache-2.0
"""What the functions of signals take and designs give."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from headrace.array.construct import asarray
from headrace.interop.exchange import frozen_array
from headrace.lazy.handle import Deferred

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from headrace import _core
    from headrace.array.array import Array


def node_of(x: Any) -> _core.Node:
    """The plan node of an array, a series, or what `hr.asarray` takes."""
    return x._node if isinstance(x, Deferred) else asarray(x)._node


def array_of_design(values: npt.NDArray[np.generic]) -> Array:
    """An array over numbers that were computed for it."""
    return frozen_array(values)
