# SPDX-License-Identifier: Apache-2.0
"""Streams: rows that come one batch after the other, and aggregates that go on with them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from headrace.facade import missing_of_module
from headrace.stream.columns import ColumnState
from headrace.stream.flow import Flow
from headrace.stream.groups import GroupState
from headrace.stream.kafka import from_kafka
from headrace.stream.load import load
from headrace.stream.stream import Stream

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["ColumnState", "Flow", "GroupState", "Stream", "from_kafka", "load"]


def __dir__() -> list[str]:
    """The public names."""
    return sorted(__all__)


__getattr__: Callable[[str], Any] = missing_of_module(__name__)
