# SPDX-License-Identifier: Apache-2.0
"""Functions of structs and rows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from headrace import _core
from headrace.errors import InvalidArgumentError, TypeMismatchError, UnsupportedError
from headrace.sql import operators
from headrace.sql.casts import cast
from headrace.sql.functions import nested
from headrace.sql.lists import mapped, null_where_null
from headrace.sql.syntax import exp, named
from headrace.sql.values import (
    NULL,
    Constant,
    Operand,
    Value,
    is_list,
    is_nested,
    is_row,
    is_struct,
    item_dtype,
    struct_fields,
    type_name,
    value_of,
)

Expression = Any
Evaluate = Callable[[Expression], Operand]
ByName = Callable[[list[Operand], _core.Node], Operand]


def _fields(operand: Operand, word: str) -> list[tuple[str, Operand]]:
    if not isinstance(operand, Value) or not is_struct(operand.dtype):
        raise UnsupportedError(
            f"sql: expected a struct: word={word!r}, type={operand.dtype.upper()}"
        )
    return [(name, nested.field(operand, name)) for name in nested.struct_names(operand.dtype)]


def _of_row(operand: Operand, word: str) -> list[Operand]:
    """The values of a row, whose fields have no names of their own."""
    found = _fields(operand, word)
    if not is_row(operand.dtype):
        raise InvalidArgumentError(f"sql: expected a row without names: word={word!r}")
    return [value for _, value in found]


def _null_where_null(made: Operand, row: Operand) -> Operand:
    none = Constant(None, made.dtype)
    return operators.choose(operators.is_null(row), none, made)


def _same(compare: Callable[..., Operand], *operands: Any) -> Operand:
    """Whether two values are equal; false for types that do not compare, and strings stay such."""
    typed = [e._replace(untyped=False) if isinstance(e, Constant) else e for e in operands]
    try:
        return compare(*typed)
    except TypeMismatchError:
        return Constant(False, "bool")


def contains(row: Operand, wanted: Operand) -> Operand:
    """Whether a value of a row is equal to another value."""
    if NULL in (row.dtype, wanted.dtype):
        return Constant(None, "bool")
    made: Operand = Constant(False, "bool")
    for each in _of_row(row, "STRUCT_CONTAINS"):
        same = _same(operators.compare, "equal", each, wanted)
        found = operators.choose(same, Constant(True, "bool"), Constant(False, "bool"))
        made = operators.logical("logical_or", made, found)
    return _null_where_null(_null_where_null(made, wanted), row)


def _position(operands: list[Operand], like: _core.Node) -> Operand:
    """STRUCT_POSITION: the place of the first value of a row that is equal; null for none."""
    row, wanted = operands
    if row.dtype == NULL:
        return Constant(None, "int32")
    made: Operand = Constant(None, "int32")
    values = _of_row(row, "STRUCT_POSITION")
    for place in range(len(values), 0, -1):
        same = _same(operators.is_same, values[place - 1], wanted)
        made = operators.choose(same, Constant(place, "int32"), made)
    return _null_where_null(made, row)


def _concat(operands: list[Operand], like: _core.Node) -> Operand:
    """STRUCT_CONCAT: the fields of several structs."""
    found = [pair for each in operands for pair in _fields(each, "STRUCT_CONCAT")]
    if all(is_row(each.dtype) for each in operands):
        return nested.row_of([value for _, value in found], like)
    if any(is_row(each.dtype) for each in operands):
        raise InvalidArgumentError("sql: rows and structs do not mix: word='STRUCT_CONCAT'")
    names = [name for name, _ in found]
    if len({name.lower() for name in names}) != len(names):
        raise InvalidArgumentError(f"sql: a field is there twice: word='STRUCT_CONCAT', {names=}")
    return nested.struct_of(names, [value for _, value in found], like)


def _keys(operands: list[Operand], like: _core.Node) -> Operand:
    """STRUCT_KEYS: the names of the fields."""
    (operand,) = operands
    names = [name for name, _ in _fields(operand, "STRUCT_KEYS")]
    made = nested.list_of([Constant(name, "string") for name in names], like)
    return value_of(null_where_null(_node(made), operand))


def _values(operands: list[Operand], like: _core.Node) -> Operand:
    """STRUCT_VALUES: the fields as a row."""
    (operand,) = operands
    made = nested.row_of([value for _, value in _fields(operand, "STRUCT_VALUES")], like)
    return Value(null_where_null(_node(made), operand), made.dtype)


# ---- REMAP_STRUCT --------------------------------------------------------------------------------


def remapped(node: Expression, evaluate: Evaluate, like: _core.Node) -> Operand:
    """REMAP_STRUCT: the fields of a struct under other names, in the order of another type."""
    if len(node.expressions) != 4:
        raise InvalidArgumentError(
            f"sql: REMAP_STRUCT takes four arguments: got={len(node.expressions)}"
        )
    value, target = (evaluate(each) for each in node.expressions[:2])
    names, defaults = (_tree(each) for each in node.expressions[2:])
    if not is_nested(target.dtype) or is_row(value.dtype) or value.dtype == NULL:
        raise InvalidArgumentError(
            f"sql: REMAP_STRUCT takes structs with names: from={type_name(value.dtype)}, "
            f"to={type_name(target.dtype)}"
        )
    return _remapped(value, target.dtype, names, defaults, evaluate)


def _tree(node: Expression) -> dict[str, Expression]:
    """The fields of a struct as it is written; none for NULL."""
    if isinstance(node, exp.Null):
        return {}
    if not isinstance(node, exp.Struct):
        raise UnsupportedError(
            f"sql: expected a struct of constants: word='REMAP_STRUCT', "
            f"expression={node.sql('duckdb')[:80]!r}"
        )
    return {named(each.this.name): each.expression for each in node.expressions}


def _remapped(
    value: Operand,
    dtype: str,
    names: dict[str, Expression],
    defaults: dict[str, Expression],
    evaluate: Evaluate,
) -> Operand:
    own = value.dtype
    if not isinstance(value, Value) or is_list(own) != is_list(dtype):
        raise InvalidArgumentError(
            f"sql: REMAP_STRUCT keeps lists and structs: from={type_name(own)}, "
            f"to={type_name(dtype)}"
        )
    if is_list(dtype):
        _, inside = _source(names.get("list"))
        more = _tree(defaults["list"]) if "list" in defaults else {}
        inner = item_dtype(dtype)
        return mapped(value, lambda items: _remapped(items, inner, inside, more, evaluate))
    parts: list[Operand] = []
    for name, inner in struct_fields(dtype):
        word = name.lower()
        if word in names:
            source, inside = _source(names[word])
            part = nested.field(value, source)
            if inside:
                more = _tree(defaults[word]) if word in defaults else {}
                parts.append(_remapped(part, inner, inside, more, evaluate))
            else:
                parts.append(cast(part, inner))
        elif word in defaults:
            parts.append(_default(defaults[word], inner, evaluate, value.node))
        else:
            raise InvalidArgumentError(f"sql: REMAP_STRUCT has no value for a field: name={name!r}")
    made = nested.struct_of([name for name, _ in struct_fields(dtype)], parts, value.node)
    return value_of(null_where_null(_node(made), value))


def _source(node: Expression | None) -> tuple[str, dict[str, Expression]]:
    """The name of a field, and of a struct or list the names within it."""
    if isinstance(node, exp.Literal) and node.is_string:
        return node.this, {}
    parts = node.expressions if isinstance(node, exp.Tuple | exp.Anonymous) else []
    if len(parts) != 2:
        raise UnsupportedError(
            "sql: expected a name or a row of one and a struct: word='REMAP_STRUCT'"
        )
    return parts[0].this, _tree(parts[1])


def _default(node: Expression, dtype: str, evaluate: Evaluate, like: _core.Node) -> Operand:
    if isinstance(node, exp.Struct) and is_struct(dtype):
        known = _tree(node)
        fields = struct_fields(dtype)
        if set(known) != {name.lower() for name, _ in fields}:
            raise InvalidArgumentError("sql: a default has other fields: word='REMAP_STRUCT'")
        parts = [_default(known[name.lower()], inner, evaluate, like) for name, inner in fields]
        return nested.struct_of([name for name, _ in fields], parts, like)
    if isinstance(node, exp.Cast) and isinstance(node.this, exp.Null):
        return Constant(None, dtype)
    value = evaluate(node)
    if not isinstance(value, Constant):
        raise UnsupportedError("sql: expected a constant default: word='REMAP_STRUCT'")
    return cast(value, dtype)


def _node(operand: Operand) -> _core.Node:
    assert isinstance(operand, Value)
    return operand.node


BY_TREE: dict[str, Callable[[Expression, Evaluate, _core.Node], Operand]] = {
    "remap_struct": remapped,
}
BY_NAME: dict[str, ByName] = {
    "struct_contains": lambda o, like: contains(*o),
    "struct_has": lambda o, like: contains(*o),
    "struct_values": _values,
    "struct_position": _position,
    "struct_indexof": _position,
    "struct_concat": _concat,
    "struct_keys": _keys,
}
