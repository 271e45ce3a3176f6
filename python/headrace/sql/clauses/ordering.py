# SPDX-License-Identifier: Apache-2.0
"""Orders of rows, as SQL has them of null and NaN."""

from __future__ import annotations

from headrace import _core
from headrace.sql.elementwise import filled, run
from headrace.sql.nested.keys import nested_key
from headrace.sql.values import FLOATS, Constant, Operand, is_nested


def sort_keys(
    items: list[tuple[Operand, bool, bool]], like: _core.Node
) -> list[tuple[_core.Node, bool]]:
    """Null last or first as asked, NaN greater than all numbers."""
    keys: list[tuple[_core.Node, bool]] = []
    for operand, descending, first in items:
        if isinstance(operand, Constant):
            continue
        node = operand.node
        if is_nested(operand.dtype):
            node = nested_key(node, True)
        if operand.dtype in FLOATS:
            if node.nullable:
                keys.append((run("is_null", node), first))
            is_nan = filled(run("isnan", node), False)
            keys.append((_core.astype(is_nan, "int8"), descending))
        elif first and node.nullable:
            keys.append((_core.astype(run("is_null", node), "int8"), True))
        if operand.dtype == "bool":
            node = _core.astype(node, "int8")
        keys.append((node, descending))
    return keys
