# SPDX-License-Identifier: Apache-2.0
"""Decimals: the names of their dtypes, and their values among others."""

from __future__ import annotations

import decimal
from typing import Any


def _is_float(value: Any) -> bool:
    kind = getattr(getattr(value, "dtype", None), "kind", None)
    return kind == "f" if kind else isinstance(value, float)


def in_one_column(values: list[Any]) -> list[Any]:
    """Results of several aggregates in one column: decimals become floats if mixed with floats."""
    if not any(map(_is_float, values)):
        return values
    return [float(v) if isinstance(v, decimal.Decimal) else v for v in values]
