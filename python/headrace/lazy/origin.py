# SPDX-License-Identifier: Apache-2.0
"""The query that a frame is the result of, for `explain`."""

from __future__ import annotations

import weakref
from typing import Any

_queries: dict[int, str] = {}


def remember(frame: Any, query: str) -> None:
    """Keep the text of a query as long as its frame lives."""
    _queries[id(frame)] = query
    weakref.finalize(frame, _queries.pop, id(frame), None).atexit = False


def query_of(frame: Any) -> str:
    """The query; empty for a frame that is not the result of one."""
    return _queries.get(id(frame), "")
