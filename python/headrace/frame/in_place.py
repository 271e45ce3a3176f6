# SPDX-License-Identifier: Apache-2.0
"""`inplace=True` of methods that make a frame or a series."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

from headrace.errors import InvalidArgumentError
from headrace.frame.columns import frame_of, framed
from headrace.series.column import Column, is_column_values, is_labelled, labelled_series

if TYPE_CHECKING:
    from headrace.frame.dataframe import DataFrame
    from headrace.series.series import Series

Values = TypeVar("Values", bound=Column)


def made_or_rebound(frame: DataFrame, made: DataFrame, inplace: bool) -> DataFrame:
    """What a method made; or None, with `inplace`, and `frame` is that from now on."""
    if not inplace:
        return made
    frame._nodes, frame._labels = made._nodes, made._labels
    return None  # type: ignore[return-value]


def series_made_or_rebound(series: Values, made: Values, inplace: bool) -> Values:
    """The same of a series, which may get or lose labels."""
    if not inplace:
        return made
    if is_column_values(series):
        raise InvalidArgumentError(
            "inplace: one value for each column does not change in place; "
            "assign what the method gives"
        )
    series.__class__ = type(made)
    series._node, series.name, series._numbers = made._node, made.name, made._numbers
    if is_labelled(series) and is_labelled(made):
        series._frame = made._frame
    return None  # type: ignore[return-value]


def set_series_labels(series: Series, labels: Any) -> None:
    """See `Series.index`."""
    frame = frame_of(framed(series)._nodes)
    frame.index = labels
    series_made_or_rebound(series, labelled_series(frame, series.name), True)
