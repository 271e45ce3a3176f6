# SPDX-License-Identifier: Apache-2.0
"""Frames and series for libraries that take any frame through narwhals.

Altair, Plotly, Bokeh and scikit-learn do. They work on an Arrow table and answer in their own
types.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from headrace.frame.dataframe import DataFrame
    from headrace.series.series import Series


def narwhals_frame(frame: DataFrame) -> Any:
    """The columns as a frame of narwhals' protocol; evaluates."""
    import narwhals

    return narwhals.from_native(_arrow_table(frame), eager_only=True)._compliant_frame


def narwhals_series(series: Series) -> Any:
    """The values as a series of narwhals' protocol; evaluates."""
    return narwhals_frame(series.to_frame()).get_column(series.to_frame().columns[-1])


def _arrow_table(frame: DataFrame) -> Any:
    """The columns as an Arrow table with strings by offsets, which pyarrow's functions know."""
    import pyarrow

    table = pyarrow.table(frame)
    for place, field in enumerate(table.schema):
        if field.type == pyarrow.string_view():
            column = table.column(place).cast(pyarrow.large_string())
            table = table.set_column(place, field.name, column)
    return table


def interchange_frame(frame: DataFrame, nan_as_null: bool, allow_copy: bool) -> Any:
    """The columns in the older dataframe interchange protocol, by pyarrow; evaluates."""
    return _arrow_table(frame).__dataframe__(nan_as_null, allow_copy)
