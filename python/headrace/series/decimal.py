# SPDX-License-Identifier: Apache-2.0
"""Decimals: the words of their dtypes, and aggregates."""

from __future__ import annotations

import decimal
from typing import TYPE_CHECKING, Any

from headrace import _core
from headrace.lazy.handle import Deferred, mark
from headrace.series.column import series_of

if TYPE_CHECKING:
    from headrace.series.series import Series


def is_decimal(value: Any) -> bool:
    """Whether this is a decimal column or a Python Decimal."""
    if isinstance(value, Deferred):
        return value._node.dtype.startswith("decimal")
    return isinstance(value, decimal.Decimal)


def _is_float(value: Any) -> bool:
    kind = getattr(getattr(value, "dtype", None), "kind", None)
    return kind == "f" if kind else isinstance(value, float)


def aggregate(series: Series, kind: str) -> decimal.Decimal | None:
    """The exact sum, minimum or maximum, evaluated here; None if there is no value."""
    mark(kind)
    found: decimal.Decimal | None = series_of(
        _core.decimal_reduction(kind, series._node)
    ).to_list()[0]
    return found


def in_one_column(values: list[Any]) -> list[Any]:
    """Results of several aggregates in one column: decimals become floats if mixed with floats."""
    if not any(map(_is_float, values)):
        return values
    return [float(v) if isinstance(v, decimal.Decimal) else v for v in values]
