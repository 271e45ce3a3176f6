# SPDX-License-Identifier: Apache-2.0
"""The part of `Series` with operators as methods, and conditional choice.

>>> s = hr.Series([1, None, 3])
>>> s.add(s.shift(), fill_value=0).to_list(), s.rsub(10).to_list(), s.ge(2).to_list()
([1, 1, 3], [9, None, 7], [False, False, True])
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from headrace.errors import InvalidArgumentError
from headrace.lazy.handle import mark
from headrace.operators import Binary
from headrace.reshape.alignment import beside
from headrace.series.column import is_series, same_values

if TYPE_CHECKING:
    from headrace.series.series import Series


def combine(
    series: Series, name: str, function: Binary, other: Any, fill_value: Any = None
) -> Series:
    """``function(series, other)``; `fill_value` replaces a value missing on one side."""
    mark(name)
    if fill_value is None:
        return function(series, other)
    series, other = beside(series, other)
    gone = series.isna() & other.isna() if hasattr(other, "isna") else None
    theirs = other.fillna(fill_value) if hasattr(other, "fillna") else other
    made: Series = function(series.fillna(fill_value), theirs)
    return made if gone is None else made.where(~gone)


def case_when(series: Series, caselist: Sequence[tuple[Any, Any]]) -> Series:
    """See `Series.case_when`."""
    mark("case_when")
    pairs = list(caselist)
    if not pairs or not all(isinstance(pair, tuple) and len(pair) == 2 for pair in pairs):
        raise InvalidArgumentError(
            f"case_when: expected a list of (condition, value) pairs: caselist={caselist!r}"
        )
    made: Series = series
    for condition, value in reversed(pairs):
        mask = condition(series) if callable(condition) else condition
        made = made.mask(mask, value(series) if callable(value) else value)
    return made


def combine_first(series: Series, other: Any) -> Series:
    """See `Series.combine_first`."""
    mark("combine_first")
    series, other = beside(series, other)
    return series.where(series.notna(), other)


def pct_change(series: Series, periods: int = 1) -> Series:
    """See `Series.pct_change`."""
    return series / series.shift(periods) - 1


def equals(series: Series, other: Any) -> bool:
    """See `Series.equals`."""
    if not is_series(other) or series.dtype != other.dtype:
        return False
    return same_values(series._node, other._node)
