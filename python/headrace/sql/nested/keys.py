# SPDX-License-Identifier: Apache-2.0
"""Keys for lists and structs: strings that are equal, and in order, where the values are.

Within them null is equal to null and greater than all else, as in DuckDB.
"""

from __future__ import annotations

import decimal
from collections.abc import Sequence

from headrace import _core
from headrace.errors import UnsupportedError
from headrace.sql.elementwise import run, where
from headrace.sql.lists import chosen_items, items_of, relisted
from headrace.sql.values import (
    FLOATS,
    INTEGERS,
    Value,
    is_decimal,
    is_list,
    is_nested,
    is_struct,
    is_time,
    item_dtype,
    precision_and_scale,
    struct_fields,
    type_name,
    value_of,
)

#: What ends a string: less than what follows in a longer one.
_END = "\x00\x00"
_ESCAPED = "\x00\x01"
#: Added to integers, so that all have as many digits.
_OFFSET = decimal.Decimal(2 * 10**19)
_MOST_DIGITS = 36


def nested_key(node: _core.Node, ordered: bool) -> _core.Node:
    """The key of lists or structs as a column of strings, null where these are."""
    return _encoded(value_of(node), ordered)


def as_keys(nodes: Sequence[_core.Node]) -> list[_core.Node]:
    """Columns as the engine groups and joins by them."""
    return [nested_key(each, False) if is_nested(each.dtype) else each for each in nodes]


def unique_items(lists: _core.Node) -> _core.Node:
    """Each different item of each list once, in the order in which they come first."""
    value = value_of(lists)
    if not is_nested(item_dtype(value.dtype)):
        return _core.list_unique(lists)
    rows, items = items_of(value)
    key = _core.in_domain(nested_key(items.node, False), rows.domain)
    place = _core.in_domain(_core.part(_core.group_places([rows, key], False), 0), rows.domain)
    return chosen_items(value, rows, run("equal", place, 0))


def _encoded(value: Value, ordered: bool) -> _core.Node:
    node, dtype = value.node, value.dtype
    if is_list(dtype):
        rows, items = items_of(value)
        marked = relisted(value, rows, _marked(items, ordered))
        return _core.concatenate_text([_core.list_join(marked, ""), "0"])
    if is_struct(dtype):
        fields = [
            _marked(value_of(_core.struct_field(node, name)), ordered)
            for name, _ in struct_fields(dtype)
        ]
        whole = _core.in_domain(_core.concatenate_text(fields), node.domain)
        return where(run("is_null", node), None, whole) if node.nullable else whole
    if dtype == "string":
        escaped = _core.replace_pattern(node, "\x00", "", False, _ESCAPED, -1)
        return _core.concatenate_text([escaped, _END])
    if dtype == "bool":
        return _core.astype(_core.astype(node, "int8"), "string")
    if dtype in INTEGERS:
        return _digits(_core.astype(node, "decimal128(20, 0)"), _OFFSET)
    if is_time(dtype) or dtype.startswith("timedelta64"):
        counts = _core.astype(_core.retype(node, "int32" if dtype == "date" else "int64"), "int64")
        return _digits(_core.astype(counts, "decimal128(20, 0)"), _OFFSET)
    if is_decimal(dtype):
        precision, scale = precision_and_scale(dtype)
        if precision <= _MOST_DIGITS:
            return _digits(node, decimal.Decimal(2 * 10 ** (precision - scale)))
    if dtype in FLOATS and not ordered:
        plain = where(run("equal", node, 0.0), 0.0, node)
        return _core.concatenate_text([_core.astype(plain, "string"), _END])
    raise UnsupportedError(f"sql: an order of lists and structs: type={type_name(dtype)}")


def _digits(node: _core.Node, offset: decimal.Decimal) -> _core.Node:
    precision, scale = precision_and_scale(node.dtype)
    wide = _core.astype(node, f"decimal128({min(38, precision + 2)}, {scale})")
    return _core.astype(run("add", wide, offset), "string")


def _marked(value: Value, ordered: bool) -> _core.Node:
    """The key of a part, after a mark that puts null last."""
    text = _core.concatenate_text(["1", _encoded(value, ordered)])
    return where(run("is_null", value.node), "2", text) if value.node.nullable else text
