# SPDX-License-Identifier: Apache-2.0
"""`inplace=True` of methods that make a frame or a series."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from headrace.errors import InvalidArgumentError
from headrace.series.column import Column, is_labelled

if TYPE_CHECKING:
    from headrace.frame.dataframe import DataFrame

Values = TypeVar("Values", bound=Column)


def made_or_rebound(frame: DataFrame, made: DataFrame, inplace: bool) -> DataFrame:
    """What a method made; or None, with `inplace`, and `frame` is that from now on."""
    if not inplace:
        return made
    frame._nodes, frame._labels = made._nodes, made._labels
    return None  # type: ignore[return-value]


def series_made_or_rebound(series: Values, made: Values, inplace: bool) -> Values:
    """The same of a series."""
    if not inplace:
        return made
    if is_labelled(series) != is_labelled(made):
        raise InvalidArgumentError(
            "inplace: the result has other labels: a series cannot lose or get them in place; "
            "assign what the method gives"
        )
    series._node, series.name = made._node, made.name
    if is_labelled(series) and is_labelled(made):
        series._frame = made._frame
    return None  # type: ignore[return-value]
