# SPDX-License-Identifier: Apache-2.0
"""Decimal operands: columns, Python's Decimal and integers."""

from __future__ import annotations

import decimal
import re
from typing import TYPE_CHECKING, Any

from headrace import _core
from headrace.deferred import Deferred, mark
from headrace.dtypes import digits_of
from headrace.errors import TypeMismatchError

if TYPE_CHECKING:
    from headrace.series import Series

_WORD = re.compile(r"decimal128\((\d+), *(\d+)\)(\[pyarrow\])?")
_EXACT = (
    *("add", "subtract", "multiply", "floor_divide", "remainder", "minimum", "maximum"),
    *("equal", "not_equal", "less", "less_equal", "greater", "greater_equal"),
)


def decimal_word(word: str) -> str | None:
    """The engine's name of a decimal dtype; None for others."""
    match = _WORD.fullmatch(word)
    return f"decimal128({match[1]}, {match[2]})" if match else None


def is_decimal(value: Any) -> bool:
    """Whether this is a decimal column or a Python Decimal."""
    if isinstance(value, Deferred):
        return value._node.dtype.startswith("decimal")
    return isinstance(value, decimal.Decimal)


def _is_float(value: Any) -> bool:
    kind = getattr(getattr(value, "dtype", None), "kind", None)
    return kind == "f" if kind else isinstance(value, float)


def _side(op: str, value: Any) -> _core.Node | str:
    """An operand for the engine: a decimal column, or a string."""
    if isinstance(value, decimal.Decimal):
        if not value.is_finite():
            raise TypeMismatchError(f"{op}: the value is not a finite decimal: value={value}")
        return f"{value:f}"
    if isinstance(value, Deferred):
        dtype = value._node.dtype
        if dtype.startswith("decimal"):
            return value._node
        if value.dtype.kind in "biu" and value._node.form == "column":
            before, _ = digits_of(dtype) or (1, 0)
            return _core.decimal_cast(value._node, f"decimal128({before}, 0)")
    elif hasattr(value, "__index__"):
        return str(int(value))
    kind = getattr(value, "dtype", type(value).__name__)
    raise TypeMismatchError(
        f"{op}: cannot combine a decimal column with this: other={str(kind)!r}; use "
        "decimals, integers or floats"
    )


def decimals_node(op: str, values: tuple[Any, ...]) -> _core.Node | None:
    """The node of an operator with a decimal operand, or None if there is none."""
    if op in ("negative", "abs", "absolute"):
        return _core.decimal_sign(op, values[0]._node)
    sides = values[-2:]
    if op in ("fill_null", "where"):
        condition = values[0].is_null() if op == "fill_null" else values[0]
        chosen = (values[1], values[0]) if op == "fill_null" else sides
        if not any(map(is_decimal, chosen)) or not isinstance(condition, Deferred):
            return None
        node = _core.decimal_where(condition._node, *(_side(op, side) for side in chosen))
        if op == "fill_null" and node.dtype != values[0]._node.dtype:
            raise TypeMismatchError(
                f"fill_null: the value has more digits than the dtype: value={values[1]}, "
                f"dtype={values[0]._node.dtype!r}; use astype to add digits first"
            )
        return node
    if op == "power" and _is_exponent(sides[1]):
        return _power(sides[0]._node, int(sides[1]))
    if op in ("divide", "power") or (op in _EXACT and any(map(_is_float, sides))):
        plain = [_floats(side) for side in sides]
        made: _core.Node = (
            next(s for s in plain if isinstance(s, Deferred))._elementwise(op, *plain)._node
        )
        return made
    if op not in _EXACT:
        return None
    return _core.decimal(op, *(_side(op, side) for side in sides))


def _is_exponent(value: Any) -> bool:
    whole = not isinstance(value, bool | Deferred) and hasattr(value, "__index__")
    return whole and int(value) >= 0


def _power(base: _core.Node, exponent: int) -> _core.Node:
    """Exact integer powers."""
    if exponent == 0:
        return _core.decimal("add", _core.decimal("multiply", base, "0"), "1")
    half = _power(base, exponent // 2) if exponent > 1 else None
    square = base if half is None else _core.decimal("multiply", half, half)
    return _core.decimal("multiply", square, base) if half is not None and exponent % 2 else square


def _floats(side: Any) -> Any:
    if isinstance(side, decimal.Decimal):
        return float(side)
    return side.astype("float64") if is_decimal(side) else side


def aggregate(series: Series, kind: str) -> decimal.Decimal | None:
    """The exact sum, minimum or maximum, evaluated here; None if there is no value."""
    from headrace.series import Series

    mark(kind)
    found: decimal.Decimal | None = Series(_core.decimal_reduction(kind, series._node)).to_list()[0]
    return found


def in_one_column(values: list[Any]) -> list[Any]:
    """Results of several aggregates in one column: decimals become floats if mixed with floats."""
    if not any(map(_is_float, values)):
        return values
    return [float(v) if isinstance(v, decimal.Decimal) else v for v in values]
