# SPDX-License-Identifier: Apache-2.0
"""`ColumnValues`: one value per column of a frame, the result of frame reductions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from headrace import _core
from headrace.dtypes import FLOATS, INTEGERS, digits_of
from headrace.errors import TypeMismatchError
from headrace.lazy.handle import Deferred, looked_at, mark
from headrace.rows import Row
from headrace.series.column import Column, is_column_values, is_labelled, new_series, series_of
from headrace.series.strings import is_text

if TYPE_CHECKING:
    from headrace.series.column_values import ColumnValues
    from headrace.series.series import Series

_LABEL = "column"


def _alone(value: Any, dtype: str | None) -> _core.Node:
    """A value as a one-row column; bools are bits there, so they are passed as numbers."""
    if not isinstance(value, Deferred):
        return new_series([value], dtype=dtype)._node
    flat: Any = value.astype("uint8") if value.dtype == "bool" else value
    return new_series(flat.reshape(1))._node


def column_values(
    values: dict[str, Any], kind: str, dtypes: Mapping[str, str | None] | None = None
) -> ColumnValues | Row:
    """The results of an aggregate; Python values get these dtypes.

    A row of evaluated values if no dtype holds all of them.
    """
    if not values:
        return Column._column_values([], new_series([])._node, kind, {})
    nodes = [_alone(value, (dtypes or {}).get(name)) for name, value in values.items()]
    try:
        node = _core.concat(nodes)
    except TypeMismatchError:
        return Row(dict(zip(values, looked_at(list(values.values())), strict=True)))
    if all(isinstance(value, Deferred) and value.dtype == "bool" for value in values.values()):
        node = (series_of(node) != 0)._node
    return Column._column_values(list(values), node, kind, values)


def by_column(values: Any) -> Any:
    """The values of a series labelled by column names, by name; anything else unchanged."""
    if is_column_values(values):
        return values._by_column()
    if is_labelled(values) and is_text(values.index):
        return values.to_dict()
    return values


def _dtype_of(column: Series, kind: str) -> str | None:
    """The dtype of an aggregate that is not a lazy number; None where its value shows it."""
    if kind.startswith("idx") or not column.dtype.is_of("mMOU"):
        return None
    if digits := digits_of(column.dtype):
        return f"decimal128(38, {digits[1]})"
    return _core.aggregate_dtype("std", column.dtype) if kind == "std" else column.dtype


#: Aggregates of numbers that the engine makes for all columns in one call: their `ddof`.
_OF_NUMBERS = {
    **dict.fromkeys(("sum", "prod", "mean", "min", "max", "any", "all", "count"), 0),
    **dict.fromkeys(("skew", "kurt"), 0),
    **dict.fromkeys(("var", "std", "sem"), 1),
}
_NUMBERS = {"bool", *INTEGERS, *FLOATS}


def reduced_numbers(
    columns: dict[str, _core.Node], kind: str, options: Mapping[str, Any]
) -> ColumnValues | None:
    """As `reduced`, in one call for columns of numbers; None for others."""
    dtypes = {node.dtype for node in columns.values()}
    if kind not in _OF_NUMBERS or options.keys() - {"ddof"}:
        return None
    if not dtypes <= _NUMBERS and kind != "count":
        return None
    if "bool" in dtypes and len(dtypes) > 1 and kind in ("min", "max"):
        return None  # results of different kinds
    mark(kind)
    ddof = options.get("ddof", _OF_NUMBERS[kind])
    values = _core.reduce_columns(kind, list(columns.values()), ddof)
    stacked = _core.stack(values) if values else new_series([])._node
    return Column._column_values(list(columns), stacked, kind, values)


def reduced(columns: Mapping[str, Series], kinds: Mapping[str, str], **options: Any) -> Any:
    """An aggregate of each column, by column name."""
    values = {name: column.agg(kinds[name], **options) for name, column in columns.items()}
    dtypes = {name: _dtype_of(column, kinds[name]) for name, column in columns.items()}
    words = set(kinds.values())
    return column_values(values, words.pop() if len(words) == 1 else "value", dtypes)
