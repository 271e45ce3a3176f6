# SPDX-License-Identifier: Apache-2.0
"""Functions of structs and rows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from headrace import _core
from headrace.errors import InvalidArgumentError, TypeMismatchError, UnsupportedError
from headrace.sql import operators
from headrace.sql.functions import nested
from headrace.sql.lists import null_where_null
from headrace.sql.values import NULL, Constant, Operand, Value, is_struct, value_of

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
    if found[0][0] != "element1":
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


def _contains(operands: list[Operand], like: _core.Node) -> Operand:
    """STRUCT_CONTAINS: whether a value of a row is equal to another value."""
    row, wanted = operands
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


def _node(operand: Operand) -> _core.Node:
    assert isinstance(operand, Value)
    return operand.node


BY_NAME: dict[str, ByName] = {
    "struct_contains": _contains,
    "struct_has": _contains,
    "struct_position": _position,
    "struct_indexof": _position,
    "struct_concat": _concat,
    "struct_keys": _keys,
}
