# SPDX-License-Identifier: Apache-2.0
"""Plans of queries that were asked before, kept as long as the columns that they read."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from headrace import _core
from headrace.errors import InvalidArgumentError
from headrace.frame.columns import frame_of, is_frame
from headrace.settings import device

_MOST = 128


class _Source(NamedTuple):
    """A table as it was: a view, or the columns and labels of a frame by name."""

    name: str
    view: Any
    columns: tuple[Any, ...]
    nodes: tuple[weakref.ref[_core.Node], ...]


class _Plan(NamedTuple):
    """What a query gave. Its nodes never run: each caller gets a copy."""

    names: list[str]
    template: _core.PlanTemplate
    sources: list[_Source]


class PlanCache:
    """The plans of the last queries, by their text, dialect, parameters and the device.

    A plan is used again only for the very columns that it was made of, under the same names; it
    goes when one of them does.
    """

    def __init__(self) -> None:
        self._plans: dict[Any, _Plan] = {}

    def find(self, key: Any, table: Callable[[str], Any]) -> Any:
        """The frame of a known query, not evaluated; None if it must be planned."""
        plan = self._plans.pop(key, None)
        if plan is None:
            return None
        for source in plan.sources:
            found = table(source.name)
            if source.view is not None:
                if found is not source.view:
                    return None
                continue
            if not is_frame(found) or columns_of(found) != source.columns:
                return None
            nodes = found._every()
            if [ref() for ref in source.nodes] != nodes:
                return None
        self._plans[key] = plan  # the newest one
        return frame_of(dict(zip(plan.names, plan.template.copy(), strict=True)))

    def keep(self, key: Any, frame: Any, tables: Mapping[str, Any]) -> None:
        """Keep the plan of a frame that was made of these tables."""
        made: list[_Source] = []
        shared: list[_core.Node] = []

        def forget(_: Any) -> None:
            self._plans.pop(key, None)

        for name, table in tables.items():
            if not is_frame(table):
                made.append(_Source(name, table, (), ()))
                continue
            nodes = table._every()
            if any(node.is_live for node in nodes):
                return  # its memory may change, and parts of the plan have run
            refs = tuple(weakref.ref(node, forget) for node in nodes)
            made.append(_Source(name, None, columns_of(table), refs))
            shared += nodes
        copies = _core.PlanTemplate(list(frame._nodes.values()), shared).copy()
        template = _core.PlanTemplate(copies, shared)
        self._plans[key] = _Plan(list(frame._nodes), template, made)
        while len(self._plans) > _MOST:
            self._plans.pop(next(iter(self._plans)), None)


def columns_of(frame: Any) -> tuple[Any, ...]:
    """The names of columns and labels."""
    return (*frame._nodes, None, *frame._labels)


def key_of(query: str, dialect: str, params: Any) -> Any:
    """What tells queries apart; raises for a query that is no string."""
    if not isinstance(query, str):
        raise InvalidArgumentError(
            f"sql: expected a query as a string: got={type(query).__name__!r}"
        )
    values = dict(params) if isinstance(params, Mapping) else list(params or ())
    return (query, dialect, repr(values), device())
