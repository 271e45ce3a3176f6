# SPDX-License-Identifier: Apache-2.0
"""Python functions over rows: traced to a plan where possible, else called row by row."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from headrace import _core
from headrace.errors import InvalidArgumentError, TypeMismatchError, UnsupportedError
from headrace.frame.columns import Columns
from headrace.lazy.handle import mark
from headrace.series.column import Column, is_labelled, is_series

if TYPE_CHECKING:
    from headrace.frame.dataframe import DataFrame
    from headrace.series.series import Series


def row_by_row(op: str, fix: str) -> None:
    """Advise against Python code per row; raise under `hr.strict`."""
    from headrace.settings import is_strict

    if is_strict():
        raise UnsupportedError(
            f"{op}: Python code would run once per row, and hr.strict() is on; {fix}"
        )
    _core.give_advice(op, _core.user_line(), f"Python code ran once per row; {fix}")


def group_by_group(op: str, fix: str) -> None:
    """Advise against Python code per group; raise under `hr.strict`."""
    from headrace.settings import is_strict

    if is_strict():
        raise UnsupportedError(
            f"{op}: Python code would run once per group, and hr.strict() is on; {fix}"
        )
    _core.give_advice(op, _core.user_line(), f"Python code ran once per group; {fix}")


_REPEATS = 8
_VALUES = 200
_seen: dict[str, int] = {}


def grows(op: str, fix: str, times: int = _REPEATS) -> None:
    """Advise when one line calls this repeatedly."""
    line = _core.user_line()
    _seen[line] = _seen.get(line, 0) + 1
    if _seen[line] == times:
        _core.give_advice(op, line, f"called {times} or more times by one line; {fix}")


def value_by_value(op: str) -> None:
    """Advise when one line reads values one at a time."""
    grows(op, "work on whole columns, or call to_list() once", _VALUES)


def goes_to_python(op: str, rows: int) -> None:
    """Advise against a loop over many values."""
    if rows >= _VALUES:
        text = (
            "values are read one at a time from Python; work on the whole column, or call to_list()"
        )
        _core.give_advice(op, _core.user_line(), text)


#: Key in pandas' `attrs`.
_FROM_HERE = "headrace"


def sent(made: Any) -> Any:
    """A pandas object that remembers the line that made it."""
    made.attrs[_FROM_HERE] = _core.user_line()
    return made


def came_back(op: str, values: Any) -> None:
    """Advise when values come back from pandas."""
    line = getattr(values, "attrs", {}).get(_FROM_HERE)
    if line is not None:
        text = (
            f"these values went to pandas at {line} and came back; do the steps in "
            "between on Headrace frames"
        )
        _core.give_advice(op, _core.user_line(), text)


def with_rows_of(made: Series, like: _core.Node) -> Series:
    """Mark a result as having one row for each row of `like`."""
    if like.domain:
        return Column.of(_core.in_domain(made._node, like.domain), made.name)
    return Column.of(_core.data(made._value()), made.name)


def _call_each(op: str, function: Callable[[Any], Any], values: Any, fix: str) -> Series:
    """The results of a Python function as a column."""
    row_by_row(op, fix)
    start = time.perf_counter()
    made = Column.make([function(value) for value in values])
    name = getattr(function, "__name__", type(function).__name__)
    _core.record_fallback(
        op, f"Python function called per row: {name}", time.perf_counter() - start
    )
    return made


def map_series(series: Series, arg: Any) -> Series:
    """Implement ``series.map(arg)``: by a mapping, a labelled series or a function."""
    from headrace.frame.indexing import plain

    mark("map")
    if isinstance(arg, Mapping) and not hasattr(arg, "__missing__"):
        if not arg:
            empty: Series = series.where(series.is_null() & False)
            return empty
        pairs = Columns.make({"key": list(arg.keys()), "value": list(arg.values())})
    elif is_labelled(arg):
        frame = arg._frame
        if len(frame._labels) != 1:
            raise InvalidArgumentError(
                f"map: expected a series with one label level: labels={list(frame._labels)}; "
                "use merge"
            )
        key, value = frame._nodes.values()
        pairs = Columns.of({"key": key, "value": value})
    elif isinstance(arg, Mapping) or callable(arg):
        pairs = None
    else:
        raise TypeMismatchError(
            f"map: expected a mapping, a labelled series or a function: arg={arg!r}"
        )
    if pairs is not None:
        rows = Columns.of({"key": plain(series)._node})
        pairs["key"] = plain(pairs.key)
        found = rows.merge(pairs, on="key", how="left", validate="m:1").value
        return series._like(with_rows_of(Column.make(found), series._node)._node)  # type: ignore[no-any-return]
    function = (lambda value: arg[value]) if isinstance(arg, Mapping) else arg
    if series.dtype.is_of("iuf"):
        from headrace.lazy.tracing import of_values

        traced = of_values(function, series)
        if traced is not None:
            return series._like(traced._node)  # type: ignore[no-any-return]
    values = series.to_list()
    made = _call_each(
        "map",
        lambda value: None if value is None else function(value),
        values,
        "use arithmetic, where(), .str or .dt methods, or map a dict",
    )
    return series._like(with_rows_of(made, series._node)._node)  # type: ignore[no-any-return]


def copy_frame(frame: DataFrame, deep: bool = True) -> DataFrame:
    """See `DataFrame.copy`."""
    made: DataFrame = frame.__copy__()
    return made


def pipe(frame: DataFrame, function: Any, *args: Any, **kwargs: Any) -> Any:
    """See `DataFrame.pipe`."""
    if isinstance(function, tuple):
        function, word = function
        return function(*args, **{**kwargs, word: frame})
    return function(frame, *args, **kwargs)


def apply_function(frame: DataFrame, function: Callable[[Any], Any], axis: int | str = 0) -> Any:
    """See `DataFrame.apply`."""
    from headrace.frame.column_reductions import column_values
    from headrace.lazy.tracing import of_rows

    mark("apply")
    if axis in (0, "index"):
        made = {name: function(frame[name]) for name in frame._unlabelled()}
        if all(is_series(each) for each in made.values()):
            return Columns.of({**frame._labels, **Columns.make(made)._nodes}, frame._labels)
        return column_values(made, "apply")
    if axis not in (1, "columns"):
        raise InvalidArgumentError(f"apply: expected axis 0 or 1: axis={axis!r}")
    if not frame._nodes:
        raise InvalidArgumentError("apply: the frame has no columns: columns=0")
    like = next(iter(frame._nodes.values()))
    whole = {name: Column.of(node, name) for name, node in frame._nodes.items()}
    traced = of_rows(function, whole)
    if traced is None:
        fix = "use arithmetic over columns, where() or case_when()"
        rows = (row for _, row in _rows_of(frame))
        traced = with_rows_of(_call_each("apply", function, rows, fix), like)
    if not frame._labels:
        return Column.of(traced._node)
    labelled = Columns.make(frame)
    labelled["apply"] = traced
    return labelled._series("apply").rename("")


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
    make = tuple if kind is None else kind._make
    labelled = _rows_of(frame)
    return (make([*([label] if index else []), *row.values()]) for label, row in labelled)


def _rows_of(frame: DataFrame) -> Iterator[tuple[Any, Any]]:
    from headrace.rows import Row

    columns = frame.to_dict()
    index = [Column.of(node).to_list() for node in frame._labels.values()]
    labels: Any = range(len(frame))
    if index:
        labels = zip(*index, strict=True) if len(index) > 1 else index[0]
    names = list(columns)
    for label, values in zip(labels, zip(*columns.values(), strict=True), strict=True):
        yield label, Row(dict(zip(names, values, strict=True)))
