# SPDX-License-Identifier: Apache-2.0
"""`inplace=True` of methods that make a frame or a series."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

from headrace.errors import InvalidArgumentError
from headrace.frame.columns import frame_of, framed, is_frame
from headrace.series.column import is_column_values, is_labelled, is_series, labelled_series

if TYPE_CHECKING:
    from headrace.series.series import Series

Values = TypeVar("Values")


def made_or_rebound(values: Values, made: Values, inplace: bool) -> Values:
    """What a method made; or None, with `inplace`, and the frame or series is that from now on."""
    if not inplace:
        return made
    if is_column_values(values):
        raise InvalidArgumentError(
            "inplace: one value for each column does not change in place; "
            "assign what the method gives"
        )
    if is_frame(values) and is_frame(made):
        values._nodes, values._labels = made._nodes, made._labels
    elif is_series(values) and is_series(made):  # which may get or lose labels
        values.__class__ = type(made)
        values._node, values.name, values._numbers = made._node, made.name, made._numbers
        if is_labelled(values) and is_labelled(made):
            values._frame = made._frame
    return None  # type: ignore[return-value]


def set_series_labels(series: Series, labels: Any) -> None:
    """See `Series.index`."""
    frame = frame_of(framed(series)._nodes)
    frame.index = labels
    made_or_rebound(series, labelled_series(frame, series.name), True)
