# SPDX-License-Identifier: Apache-2.0
"""Python functions over rows: traced to a plan where possible, else called row by row."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from headrace import _core
from headrace.dtypes import DType
from headrace.errors import InvalidArgumentError, TypeMismatchError
from headrace.frame.column_reductions import column_values
from headrace.frame.columns import frame_of, framed, is_frame, new_frame
from headrace.frame.indexing import domain_of, lists_of_columns, rows_of_frame
from headrace.groupby.keys import aggregate_name, is_custom
from headrace.lazy.advice import row_by_row
from headrace.lazy.handle import mark
from headrace.rows import Row
from headrace.series.column import (
    is_labelled,
    is_series,
    new_series,
    series_of,
    single_value,
    with_rows_of,
)
from headrace.series.strings import plain
from headrace.times.scalars import NaT

if TYPE_CHECKING:
    from headrace.frame.dataframe import DataFrame
    from headrace.series.series import Series


def _call_each(
    op: str, function: Callable[[Any], Any], values: Any, fix: str, expand: bool = False
) -> Any:
    """The results of a Python function as a column; rows, and with `expand` lists, as columns."""
    row_by_row(op, fix)
    start = time.perf_counter()
    results = [None if value is None else function(value) for value in values]
    are_rows = any(is_series(each) or isinstance(each, Row) for each in results[:1])
    made = new_frame(results) if expand or are_rows else new_series(results)
    name = getattr(function, "__name__", type(function).__name__)
    _core.record_fallback(
        op, f"Python function called per row: {name}", time.perf_counter() - start
    )
    return made


def map_series(series: Series, arg: Any, na_action: str | None = None) -> Any:
    """See `Series.map`."""
    mark("map")
    skip = na_action == "ignore"
    if isinstance(arg, Mapping) and not hasattr(arg, "__missing__"):
        if not arg:
            return series.where(series.is_null() & False)
        pairs = new_frame({"key": list(arg.keys()), "value": list(arg.values())})
    elif is_labelled(arg):
        frame = arg._frame
        if len(frame._labels) != 1:
            raise InvalidArgumentError(
                f"map: expected a series with one label level: labels={list(frame._labels)}; "
                "use merge"
            )
        (key,), (value,) = frame._labels.values(), frame._nodes.values()
        pairs = frame_of({"key": key, "value": value})
    elif isinstance(arg, Mapping) or callable(arg):
        pairs = None
    else:
        raise TypeMismatchError(
            f"map: expected a mapping, a labelled series or a function: arg={arg!r}"
        )
    if pairs is not None:
        rows = frame_of({"key": plain(series)._node})
        pairs["key"] = plain(pairs.key)
        found = rows.merge(pairs, on="key", how="left", validate="m:1").value
        return series._like(with_rows_of(new_series(found), series._node)._node)
    function = (lambda value: arg[value]) if isinstance(arg, Mapping) else arg
    if series.dtype.is_of("iuf"):
        from headrace.lazy.compiled import of_values as compiled_of_values
        from headrace.lazy.tracing import of_values  # on first use: it loads much

        traced = of_values(function, series, skip)
        if traced is None:
            traced = compiled_of_values(function, series)
        if traced is not None:
            return series._like(traced._node)
    missing: Any = NaT if series.dtype.is_of("mM") else math.nan
    values = series.to_list()
    fix = "use arithmetic, where(), .str or .dt methods, or map a dict"
    if not skip:
        values = [missing if value is None else value for value in values]
    made = _call_each("map", function, values, fix)
    if is_frame(made):
        nodes = {n: with_rows_of(made[n], series._node)._node for n in made.columns}
        return frame_of(nodes, framed(series)._labels)
    return series._like(with_rows_of(made, series._node)._node)


def apply_function(
    frame: DataFrame,
    function: Any,
    axis: int | str,
    result_type: str | None,
    args: tuple[Any, ...],
    options: Mapping[str, Any],
) -> Any:
    """See `DataFrame.apply`."""
    mark("apply")
    along = axis in (1, "columns") and callable(function) and not is_custom(function)
    if isinstance(function, str) or along:
        word = aggregate_name(function, "function", "apply")
        return getattr(frame, word)(*args, axis=axis, **options)
    if args or options:
        return apply_function(
            frame, lambda part: function(part, *args, **options), axis, result_type, (), {}
        )
    if axis in (0, "index"):
        made = {name: function(frame[name]) for name in frame._nodes}
        if all(is_series(each) for each in made.values()):
            whole = new_frame(made)
            own = domain_of(whole) == domain_of(frame)
            return frame_of(whole._nodes, frame._labels) if own else whole
        return column_values(made, "apply")
    if axis not in (1, "columns"):
        raise InvalidArgumentError(f"apply: expected axis 0 or 1: axis={axis!r}")
    if not frame._nodes:
        raise InvalidArgumentError("apply: the frame has no columns: columns=0")
    like = next(iter(frame._nodes.values()))
    columns = {name: series_of(node, name) for name, node in frame._nodes.items()}
    from headrace.lazy.tracing import of_rows  # on first use: it loads much

    traced = of_rows(function, columns)
    if traced is None:
        fix = "use arithmetic over columns, where() or case_when()"
        rows = (row for _, row in _rows_of(frame))
        traced = _call_each("apply", function, rows, fix, result_type == "expand")
        if is_frame(traced):
            nodes = {n: with_rows_of(traced[n], like)._node for n in traced.columns}
            return frame_of(nodes, frame._labels)
        traced = with_rows_of(traced, like)
    return frame_of({"apply": traced._node}, frame._labels)._series("apply").rename(None)


def iterrows(frame: DataFrame) -> Iterator[tuple[Any, Any]]:
    """See `DataFrame.iterrows`."""
    row_by_row("iterrows", "work on whole columns: df.a + df.b, masks, groupby")
    return _rows_of(frame)


def itertuples(frame: DataFrame, index: bool = True, name: str | None = "Row") -> Iterator[Any]:
    """See `DataFrame.itertuples`."""
    from collections import namedtuple

    row_by_row("itertuples", "work on whole columns: df.a + df.b, masks, groupby")
    names = [*(["Index"] if index else []), *frame.columns]
    kind: Any = None if name is None else namedtuple(name, names, rename=True)
    return _tuples(frame, index, tuple if kind is None else kind._make)


def _tuples(frame: DataFrame, index: bool, make: Callable[[Any], Any]) -> Iterator[Any]:
    # Only times need methods of their own: pandas gives plain floats here.
    columns = [
        map(single_value, values) if DType(node.dtype).is_of("mM") else values
        for values, node in zip(lists_of_columns(frame), frame._nodes.values(), strict=True)
    ]
    labels = [frame._label_list()] if index else []
    yield from map(make, zip(*labels, *columns, strict=True))


def _rows_of(frame: DataFrame) -> Iterator[tuple[Any, Any]]:
    return ((label, Row(values, label)) for label, values in rows_of_frame(frame))
