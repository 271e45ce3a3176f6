# SPDX-License-Identifier: Apache-2.0
"""The plug-in of narwhals: frames and series for libraries that take any frame through it.

Altair, Plotly, Bokeh and scikit-learn do. It works on our own series, so it stays lazy. What it
lacks is refused by name, never done by another library. Rows have no labels in it, and nulls are
as in Polars: a comparison with null is null, NaN is a number.

>>> import narwhals as nw
>>> frame = nw.from_native(hr.DataFrame({"k": ["a", "b", "a"], "x": [1, 2, 3]}))
>>> frame.group_by("k").agg(nw.col("x").sum()).to_native().to_dict()
{'k': ['a', 'b'], 'x': [4, 2]}
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from headrace.frame.columns import is_frame
from headrace.series.column import is_series

if TYPE_CHECKING:
    from headrace.frame.dataframe import DataFrame


def is_native(native_object: object, /) -> bool:
    """Whether it is a frame or a series of ours."""
    return is_frame(native_object) or is_series(native_object)


def __narwhals_namespace__(version: Any) -> Any:  # noqa: N807 (narwhals' hook)
    """The functions of the plug-in for a version of narwhals' API."""
    from headrace.interop.narwhals.namespace import HeadraceNamespace

    return HeadraceNamespace(version=version)


def narwhals_frame(frame: DataFrame) -> Any:
    """The columns as a frame of narwhals' protocol."""
    from narwhals._utils import Version

    return __narwhals_namespace__(Version.MAIN).from_native(frame)


def interchange_frame(frame: DataFrame, nan_as_null: bool, allow_copy: bool) -> Any:
    """The columns in the older dataframe interchange protocol, by pyarrow; evaluates."""
    import pyarrow

    table = pyarrow.table(frame)
    for place, field in enumerate(table.schema):
        if field.type == pyarrow.string_view():
            column = table.column(place).cast(pyarrow.large_string())
            table = table.set_column(place, field.name, column)
    return table.__dataframe__(nan_as_null, allow_copy)
