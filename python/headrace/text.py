# SPDX-License-Identifier: Apache-2.0
"""Texts as operands: columns of strings and categories, and Python's str."""

from __future__ import annotations

from typing import Any

from headrace import _core
from headrace.deferred import Deferred

#: Operators on two texts, and the same with the sides turned round.
_TURNED = {
    "equal": "equal",
    "not_equal": "not_equal",
    "less": "greater",
    "less_equal": "greater_equal",
    "greater": "less",
    "greater_equal": "less_equal",
}


def is_text(value: Any) -> bool:
    """A str, or a column of strings or categories."""
    return isinstance(value, str) or (
        isinstance(value, Deferred) and value._node.dtype in ("string", "category")
    )


def text_node(op: str, values: tuple[Any, ...]) -> _core.Node | None:
    """The node of an operator on texts, or None for what takes none."""
    texts = [is_text(value) for value in values]
    if op in _TURNED and all(texts):
        return _compare(op, *values)
    if op == "fill_null" and all(texts):
        return _choose(values[0].is_null(), values[1], values[0])
    if op == "where" and all(texts[1:]) and isinstance(values[0], Deferred):
        return _choose(*values)
    return None


def _compare(op: str, left: Any, right: Any) -> _core.Node:
    """The node of a comparison of which one side at least is a column."""
    if isinstance(left, str):
        return _core.compare_text(_TURNED[op], right._node, left)
    if isinstance(right, str):
        return _core.compare_text(op, left._node, right)
    return _core.compare_text(op, left._node, right._node)


def _choose(condition: Any, yes: Any, no: Any) -> _core.Node:
    """The node of texts by condition; at least one of `yes` and `no` is a column."""
    sides = [
        _core.repeat(condition._node, value) if isinstance(value, str) else value._node
        for value in (yes, no)
    ]
    return _core.choose_text(condition._node, *sides)
