# SPDX-License-Identifier: Apache-2.0
"""Methods of frames and series as functions, under pandas' names."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from headrace.frame.construct import is_single
from headrace.lazy.handle import is_array
from headrace.rows import by_position, is_missing
from headrace.series.column import new_series

if TYPE_CHECKING:
    from headrace.frame.dataframe import DataFrame
    from headrace.series.series import Series


def melt(frame: DataFrame, *args: Any, **kwargs: Any) -> DataFrame:
    """Unpivot columns to rows; see `DataFrame.melt`."""
    return frame.melt(*args, **kwargs)


def pivot_table(data: DataFrame, *args: Any, **kwargs: Any) -> DataFrame:
    """A spreadsheet-style pivot table; see `DataFrame.pivot_table`."""
    return data.pivot_table(*args, **kwargs)


def pivot(data: DataFrame, *args: Any, **kwargs: Any) -> DataFrame:
    """One column per value of a column; see `DataFrame.pivot`."""
    return data.pivot(*args, **kwargs)


def isna(values: Any) -> Any:
    """Whether a value is None or NaN; element by element for frames, series and lists.

    >>> hr.isna(None), hr.isna([1.0, None, float("nan")]).to_list()
    (True, [False, True, True])
    """
    if hasattr(values, "isna") and not isinstance(values, type):
        return values.isna()
    if is_single(values) or is_missing(values):
        return is_missing(values.item() if is_array(values) else values)
    return new_series(by_position(values)).isna()


def notna(values: Any) -> Any:
    """The opposite of `isna`."""
    missing = isna(values)
    return not missing if isinstance(missing, bool) else ~missing


isnull = isna
notnull = notna


def unique(values: Any) -> Series:
    """The distinct values in order of first appearance; see `Series.unique`.

    >>> hr.unique(["b", "a", "b"]).to_list()
    ['b', 'a']
    """
    return new_series(new_series(by_position(values)).unique())
