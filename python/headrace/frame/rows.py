# SPDX-License-Identifier: Apache-2.0
"""The part of `DataFrame` that filters, sorts and joins rows."""

from __future__ import annotations

import contextlib
import functools
import operator
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from headrace import _core
from headrace.dtypes import INTEGERS
from headrace.errors import Error, InvalidArgumentError, TypeMismatchError
from headrace.frame.arithmetic import with_number
from headrace.frame.column_reductions import by_column
from headrace.frame.columns import frame_of, is_frame, new_frame, without_labels
from headrace.frame.concat import rows_of
from headrace.frame.sort import sort_frame
from headrace.lazy.advice import grows
from headrace.lazy.caller import user_variables
from headrace.lazy.handle import mark
from headrace.rows import are_picked, picked_domain, same_rows, whole_number
from headrace.series.column import is_series

if TYPE_CHECKING:
    from headrace.frame.dataframe import DataFrame
    from headrace.frame.sort import NaPosition
    from headrace.series.series import Series


#: Dtypes between which a whole frame converts without checking each column.
_NUMBERS = {*INTEGERS, "float32", "float64"}


def filter_by_expression(frame: DataFrame, text: str) -> DataFrame:
    """See `DataFrame.query`."""
    from headrace.lazy.query import cut, evaluate  # on first use: it loads much

    mark("query")
    mask = evaluate(text, frame, user_variables())
    if not is_series(mask) or mask.dtype.kind != "b":
        raise TypeMismatchError(f"query: the expression is not a row condition: text={cut(text)!r}")
    return new_frame(frame[mask])


def eval_expression(frame: DataFrame, text: str) -> Any:
    """See `DataFrame.eval`."""
    from headrace.lazy.query import evaluate, target_of

    mark("eval")
    name, expression = target_of(text)
    made = evaluate(expression, frame, user_variables())
    return made if name is None else frame.assign(**{name: made})


def is_missing_columns(frame: DataFrame) -> DataFrame:
    """See `DataFrame.isna`."""
    mark("isna")
    found = _core.elementwise_columns("isna", list(frame._nodes.values()))
    return frame_of(dict(zip(frame._nodes, found, strict=True)), frame._labels)


def fillna(frame: DataFrame, value: Any) -> DataFrame:
    """See `DataFrame.fillna`."""
    mark("fillna")
    value = by_column(value)
    if is_frame(value):
        value = dict(value.items())
    # Of columns that do not hold the value, those with missing ones are found below.
    with contextlib.suppress(InvalidArgumentError, TypeMismatchError):
        if (made := with_number(frame, "fillna", value)) is not None:
            return made
    values = value if isinstance(value, Mapping) else dict.fromkeys(frame._nodes, value)
    for name in values.keys():  # noqa: SIM118 (a row of a frame too)
        frame._find(name)
    filled = {name: frame[name].fillna(each)._node for name, each in values.items()}
    return frame_of({**frame._nodes, **filled}, frame._labels)


def dropna(
    frame: DataFrame, subset: Any, how: str, axis: int | str, thresh: int | None, ignore_index: bool
) -> DataFrame:
    """See `DataFrame.dropna`."""
    mark("dropna")
    if how not in ("any", "all"):
        raise InvalidArgumentError(f"dropna: invalid value: how={how!r}; expected 'any' or 'all'")
    names = [subset] if isinstance(subset, str) else subset or frame.columns
    if axis in (1, "columns"):
        return columns_with_values(frame, how, thresh)
    present = [frame[frame._find(name)].notna() for name in names]
    if not present:
        return new_frame(frame)
    if thresh is not None:
        counts = [mask.astype("int64") for mask in present]
        kept = functools.reduce(operator.add, counts) >= thresh
    else:
        kept = functools.reduce(operator.and_ if how == "any" else operator.or_, present)
    return without_labels(new_frame(frame[kept]), ignore_index)


def columns_with_values(frame: DataFrame, how: str, thresh: int | None) -> DataFrame:
    """The columns without missing values, with any value, or with `thresh` values."""
    names = frame.columns
    counts = [frame[name].count() for name in names]
    _core.force([count._node for count in counts])
    least = thresh if thresh is not None else len(frame) if how == "any" else 1
    found = {name for name, count in zip(names, counts, strict=True) if int(count) >= least}
    return frame[[n for n in names if n in found]]


def astype(frame: DataFrame, dtype: Any, errors: str = "raise") -> DataFrame:
    """See `DataFrame.astype`."""
    mark("astype")
    wanted = dtype if isinstance(dtype, Mapping) else dict.fromkeys(frame._nodes, dtype)
    for name in wanted.keys():  # noqa: SIM118 (dtypes of a frame too)
        frame._find(name)
    nodes = frame._nodes
    if errors == "ignore":
        wanted = {name: each for name, each in wanted.items() if _converts(frame[name], each)}
    elif type(dtype) is str and {dtype, *(node.dtype for node in nodes.values())} <= _NUMBERS:
        cast = {
            n: node if node.dtype == dtype else _core.astype(node, dtype)
            for n, node in nodes.items()
        }
        return frame_of(cast, frame._labels)
    cast = {name: frame[name].astype(each)._node for name, each in wanted.items()}
    return frame_of({**frame._nodes, **cast}, frame._labels)


def _converts(series: Series, dtype: Any) -> bool:
    """Whether all values of a series have another dtype; evaluates."""
    try:
        _core.force([series.astype(dtype)._node])
    except Error:
        return False
    return True


def join_frames(
    frame: DataFrame,
    other: DataFrame | Series | list[DataFrame | Series],
    on: str | list[str] | None,
    how: str,
    lsuffix: str,
    rsuffix: str,
    sort: bool,
    validate: str | None,
) -> DataFrame:
    """See `DataFrame.join`."""
    if isinstance(other, list | tuple):
        for each in other:
            frame = join_frames(frame, each, on, how, lsuffix, rsuffix, sort, validate)
        return frame
    if is_series(other):
        other = other.to_frame()
    both = [n for n in other.columns if n in frame.columns]
    if both and not (lsuffix or rsuffix):
        raise InvalidArgumentError(f"join: overlapping column names: columns={both}; pass rsuffix")
    if on is None and how == "left" and not frame._labels and not other._labels:
        names = [f"{n}{lsuffix}" if n in both else n for n in frame.columns]
        beside = frame.set_axis(names, axis=1)
        for n in other.columns:
            beside[f"{n}{rsuffix}" if n in both else n] = other[n]
        return beside
    made: DataFrame = frame.merge(
        other,
        how,
        left_on=on,
        left_index=on is None,
        right_index=True,
        suffixes=(lsuffix, rsuffix),
        validate=validate,
        sort=sort,
    )
    first = next(iter(frame._nodes.values()), None)
    if first is None or not are_picked(first) or made._labels:
        return made
    return made._in_domain(picked_domain())


def append(frame: DataFrame, other: Any, ignore_index: bool = False) -> DataFrame:
    """See `DataFrame.append`."""
    mark("append")
    grows("append", "collect the rows in a list and build one frame after the loop")
    if isinstance(other, Mapping):
        other = [dict(other)]
    rows = other if is_frame(other) else new_frame(other)
    return without_labels(rows_of([frame, rows]), ignore_index)


def head(frame: DataFrame, n: int = 5) -> DataFrame:
    """See `DataFrame.head`."""
    mark("head")
    n = whole_number("head", "n", n)
    if n < 0:
        return new_frame(frame[:n])
    every = frame._every()
    domain = same_rows(next(iter(every), None), n)
    first = _core.prefix(every, n, domain)
    return frame._of_rows(first, lambda node: _core.prefix([node], n, domain)[0])


def tail(frame: DataFrame, n: int = 5) -> DataFrame:
    """See `DataFrame.tail`."""
    n, length = whole_number("tail", "n", n), len(frame)
    return new_frame(frame[max(length - n, 0) if n >= 0 else -n : length])


def sort_values(
    frame: DataFrame, by: Any, ascending: Any, na_position: NaPosition, ignore_index: bool, key: Any
) -> DataFrame:
    """See `DataFrame.sort_values`."""
    if by is None:
        raise InvalidArgumentError(
            "sort_values: missing sort key: by=None; pass a column name or a list of them"
        )
    return without_labels(sort_frame(frame, by, ascending, na_position, key), ignore_index)
