# SPDX-License-Identifier: Apache-2.0
"""Columns that narwhals puts side by side: by position, whatever rows they came from."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from narwhals.exceptions import ShapeError

from headrace import _core
from headrace.dtypes import DType
from headrace.frame.construct import repeated
from headrace.series.column import new_series, series_of, series_over


def row_count(node: _core.Node) -> int:
    """The number of rows; evaluates a column whose count depends on the data."""
    rows: int = node.shape[0]
    return rows if rows >= 0 else len(series_of(node))


def at_rows(node: _core.Node, like: _core.Node) -> _core.Node:
    """A column as one of the rows of `like`; raises if their counts differ."""
    if node.domain == like.domain and node.domain:
        return node
    expected, found = row_count(like), row_count(node)
    if expected != found:
        raise ShapeError(f"Expected object of length {expected}, got: {found}.")
    return node if node.domain == like.domain else _core.in_domain(node, like.domain)


def side_by_side(series: Sequence[Any]) -> list[_core.Node]:
    """The nodes of compliant series as columns of one frame; those of one value are repeated."""
    like = next((each.node for each in series if not each._broadcast), None)
    if like is None:
        like = series[0].node
        return [_core.in_domain(each.node, like.domain) for each in series]
    if not like.domain:
        like = _core.in_domain(like, _core.new_domain())
    return [
        repeated(like, each.native) if each._broadcast else at_rows(each.node, like)
        for each in series
    ]


def literal(value: Any) -> Any:
    """The single value of a compliant series as an operand; a column where that is exacter."""
    if value._literal is not None:
        return value._literal
    dtype = value.native.dtype
    if dtype.kind not in "biufU":
        return None
    (held,) = value.native.to_list()
    if held is None or isinstance(held, bool | str):
        return held
    return _core.number_literal(held, str(dtype))


def operands(left: Any, right: Any) -> tuple[Any, Any, bool]:
    """What an operation of two compliant series takes, and whether its result is one value.

    `right` may be a value of Python.
    """
    if not hasattr(right, "_broadcast"):
        if right is None:
            return left.native, null_column(left.node, left.node.dtype), left._broadcast
        return left.native, right, left._broadcast
    if left._broadcast == right._broadcast:
        theirs = at_rows(right.node, left.node)
        return left.native, series_of(theirs), left._broadcast
    if right._broadcast:
        return left.native, _as_operand(right, left.node), False
    return _as_operand(left, right.node), right.native, False


def _as_operand(value: Any, like: _core.Node) -> Any:
    found = literal(value)
    return series_of(repeated(like, value.native)) if found is None else found


def null_column(like: _core.Node, dtype: str) -> Any:
    """Nulls for the rows of `like`."""
    word = "float64" if dtype.startswith("list[") else dtype
    return series_of(repeated(like, new_series([None], dtype=word)))


def binary(op: str, left: Any, right: Any) -> _core.Node:
    """An operation of two columns, or of a column and a value; null where an operand is."""
    node = _core.apply(op, (left, right), False, True)
    if node is None:
        kinds = [str(getattr(each, "dtype", type(each).__name__)) for each in (left, right)]
        raise TypeError(f"{op}: unsupported operands: dtypes={kinds}")
    return node


def unary(op: str, value: Any) -> _core.Node:
    """An operation of one column; null where it is."""
    made: Any = _core.apply(op, (value,), False, True)
    return made


def chosen(condition: Any, left: Any, right: Any) -> _core.Node:
    """Values of one column where a condition holds, else of another; a null does not hold."""
    sides = (series_of(e) if isinstance(e, _core.Node) else e for e in (condition, left, right))
    made: Any = _core.apply("where", tuple(sides), True)
    return made


def positions_sorted(
    nodes: Sequence[_core.Node], descending: Sequence[bool], nulls_last: bool
) -> _core.Node:
    """The positions of rows in order of their keys: NaN after all numbers, nulls apart."""
    keys: list[_core.Node] = []
    falls: list[bool] = []
    for node, down in zip(nodes, descending, strict=True):
        if DType(node.dtype).kind == "f":
            series = series_of(node)
            keys += [
                series.is_null().astype("int8")._node,
                series_of(chosen(unary("isnan", series), 1, 0)).astype("int8")._node,
            ]
            falls += [not nulls_last, down]
        keys.append(node)
        falls.append(down)
    return _core.argsort(keys, falls, not nulls_last)


def taken(nodes: Sequence[_core.Node], positions: Any) -> list[_core.Node]:
    """The rows at these positions, as rows of a new frame."""
    import numpy as np

    domain = _core.new_domain()
    place = positions
    if not isinstance(place, _core.Node):
        place = series_over(np.array(positions, dtype=np.int64))._node
    return [_core.in_domain(_core.take(node, place), domain) for node in nodes]


def as_column(node: _core.Node) -> _core.Node:
    """The result of a reduction as a column of one row."""
    if not node.shape:
        node = _core.stack([node])
    return _core.as_column(node) if node.form != "column" else node
