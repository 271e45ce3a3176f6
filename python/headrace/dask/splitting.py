# SPDX-License-Identifier: Apache-2.0
"""The rows of a partition by the partitions that they go to."""

from __future__ import annotations

from typing import Any

import numpy as np

from headrace import _core
from headrace.frame.columns import is_frame
from headrace.frame.sort import sort_by_nodes
from headrace.series.column import new_series


def in_groups(value: Any, codes: Any, count: int) -> tuple[Any, list[int]]:
    """The rows in the order of their codes, 0 to `count` - 1, and where each code ends."""
    short = np.min_scalar_type(max(count - 1, 0))
    codes = np.asarray(codes).astype(short, copy=False)
    ends = np.cumsum(np.bincount(codes, minlength=count)).tolist()
    every = value._every() if is_frame(value) else []
    if not every:
        return value.take(np.argsort(codes, kind="stable")), ends
    key = _core.in_domain(new_series(codes, copy=True)._node, every[0].domain)
    return sort_by_nodes("group_split", value, [key], True, "last"), ends
