# SPDX-License-Identifier: Apache-2.0
"""Sorting: the code shared by `sort_values`, `argsort`, `nlargest` and `nsmallest`."""

from __future__ import annotations

import functools
import operator
from typing import TYPE_CHECKING, Any, Literal

from headrace import _core
from headrace.array.construct import asarray
from headrace.errors import InvalidArgumentError, TypeMismatchError, UnsupportedError
from headrace.frame.columns import with_numbers
from headrace.lazy.handle import Deferred, array_of, is_array, mark
from headrace.rows import engine_names, is_missing, picked_domain, whole_number
from headrace.series.column import is_series, new_series, series_of
from headrace.series.elementwise import row_positions

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from headrace.array.array import Array
    from headrace.frame.dataframe import DataFrame
    from headrace.series.series import Series

NaPosition = Literal["first", "last"]


def _missing_first(op: str, na_position: str) -> bool:
    if na_position not in ("first", "last"):
        raise InvalidArgumentError(
            f"{op}: invalid value: na_position={na_position!r}; expected 'first' or 'last'"
        )
    return na_position == "first"


def _descending(op: str, ascending: bool | Sequence[bool], keys: int) -> list[bool]:
    each = [ascending] * keys if isinstance(ascending, bool) else list(ascending)
    if not all(isinstance(up, bool) for up in each):
        raise TypeMismatchError(
            f"{op}: expected a bool or a list of bools: ascending={ascending!r}"
        )
    if len(each) != keys:
        raise InvalidArgumentError(
            f"{op}: number of directions does not match the keys: expected={keys}, got={len(each)}"
        )
    return [not up for up in each]


def _keys(op: str, frame: DataFrame, by: str | Sequence[str]) -> list[_core.Node]:
    names = (
        [by]
        if isinstance(by, str) or (not isinstance(by, list) and by in frame.columns)
        else list(by)
    )
    if not names:
        raise InvalidArgumentError(f"{op}: missing sort key: by={by!r}; pass a column name")
    return [frame._key(name) for name in names]


def sort_frame(
    frame: DataFrame,
    by: str | Sequence[str],
    ascending: bool | Sequence[bool],
    na_position: NaPosition,
    key: Callable[[Series], Series] | None = None,
) -> DataFrame:
    """Sort the rows of a frame by columns, or by `key` applied to each."""
    mark("sort_values")
    keys = _keys("sort_values", frame, by)
    if key is not None:
        names = [by] if isinstance(by, str) else by
        keys = [
            frame._aligned(new_series(key(series_of(frame._key(name), name)))) for name in names
        ]
    return sort_by_nodes("sort_values", frame, keys, ascending, na_position)


def sort_by_nodes(
    op: str,
    frame: DataFrame,
    keys: list[_core.Node],
    ascending: bool | Sequence[bool],
    na_position: NaPosition,
) -> DataFrame:
    """Sort the rows of a frame by keys over the same rows."""
    descending = _descending(op, ascending, len(keys))
    missing_first = _missing_first(op, na_position)
    nodes, names = frame._every(), engine_names([*frame._nodes, *frame._labels])
    table = _core.sort(keys, descending, missing_first, names, nodes)
    made = _core.parts(table, len(nodes))

    def pick(node: _core.Node) -> _core.Node:
        table = _core.sort(keys, descending, missing_first, ["number"], [node])
        return _core.in_domain(_core.part(table, 0), made[0].domain)

    return frame._of_rows(made, pick)


def _first_rows(op: str, keys: list[_core.Node], n: int, largest: bool, keep: str) -> _core.Node:
    """The positions of the first `n` rows by keys; of equal ones the first, the last or all."""
    if keep not in ("first", "last", "all"):
        raise InvalidArgumentError(
            f"{op}: invalid value: keep={keep!r}; expected 'first', 'last' or 'all'"
        )
    first = max(whole_number(op, "n", n), 0)
    directions = [largest] * len(keys)
    if keep != "last":
        rows = _core.argsort(keys, directions, False, first)
        more = _equal_to_last(keys, rows) if keep == "all" else 0
        return _core.argsort(keys, directions, False, first + more) if more else rows
    places = row_positions(series_of(keys[0]))  # the later row first
    return _core.argsort([*keys, places._node], [*directions, True], False, first)


def _equal_to_last(keys: list[_core.Node], rows: _core.Node) -> int:
    """The number of rows outside `rows` with the keys of its last row; evaluates."""
    found = array_of(rows)
    if len(found) == 0:
        return 0
    last = int(found[-1])
    tests = []
    for key in map(series_of, keys):
        value = key.iloc[last]
        tests.append(
            key.isna()
            if is_missing(value)
            else key._elementwise("equal", key, value, missing_is_false=True)
        )
    equal = functools.reduce(operator.and_, tests)
    return int(equal.sum()) - int(equal[found].sum())


def first_of_frame(
    op: str,
    frame: DataFrame,
    n: int,
    columns: str | Sequence[str],
    largest: bool,
    keep: str = "first",
) -> DataFrame:
    """The first `n` rows by some columns."""
    mark(op)
    rows = _first_rows(op, _keys(op, frame, columns), n, largest, keep)
    domain = picked_domain()

    def pick(node: _core.Node) -> _core.Node:
        return _core.in_domain(_core.take(node, rows), domain)

    return frame._of_rows([pick(node) for node in frame._every()], pick)


def sort_series(
    series: Series,
    ascending: bool,
    na_position: NaPosition,
    key: Callable[[Series], Series] | None = None,
) -> Series:
    """Sort the values of a series."""
    mark("sort_values")
    descending = _descending("sort_values", ascending, 1)
    missing_first = _missing_first("sort_values", na_position)
    by = series._node if key is None else new_series(key(series))._node
    table = _core.sort([by], descending, missing_first, ["value"], [series._node])
    made = series_of(_core.part(table, 0), series.name)

    def pick(node: _core.Node) -> _core.Node:
        table = _core.sort([by], descending, missing_first, ["number"], [node])
        return _core.in_domain(_core.part(table, 0), made._node.domain)

    return with_numbers(made, series, pick)


def argsort_series(series: Series, ascending: bool, na_position: NaPosition) -> Array:
    """The positions that sort a series."""
    mark("argsort")
    descending = _descending("argsort", ascending, 1)
    return array_of(
        _core.argsort([series._node], descending, _missing_first("argsort", na_position))
    )


def first_of_series(op: str, series: Series, n: int, largest: bool, keep: str = "first") -> Series:
    """The first `n` values."""
    mark(op)
    rows = _first_rows(op, [series._node], n, largest, keep)
    domain = picked_domain()

    def pick(node: _core.Node) -> _core.Node:
        return _core.in_domain(_core.take(node, rows), domain)

    return with_numbers(series_of(pick(series._node), series.name), series, pick)


# ---- arrays --------------------------------------------------------------------------------------
def _one_dimension(op: str, values: Any) -> Deferred:
    x: Deferred = values if is_series(values) else asarray(values)
    if is_array(x) and x.ndim != 1:
        raise UnsupportedError(
            f"{op}: expected one dimension: dimensions={x.ndim}; sort each row separately"
        )
    return x


def sort(values: Any, *, descending: bool = False) -> Array | Series:
    """Sort values, stably.

    Parameters
    ----------
    values : Array, Series or what `asarray` takes
        One dimension.
    descending : bool
        Largest first; NaN and null are still last.

    Returns
    -------
    Array or Series
        Lazy, of the same dtype.

    >>> hr.sort([3, 1, 2]).tolist()
    [1, 2, 3]
    """
    mark("sort")
    x = _one_dimension("sort", values)
    if is_series(x):
        return sort_series(x, not descending, "last")
    if x.dtype == "bool":
        ordered = sort(x.astype("uint8"), descending=descending)
        assert is_array(ordered)
        return ordered.astype("bool")
    table = _core.sort([x._node], [descending], False, ["value"], [_core.as_column(x._node)])
    return array_of(_core.as_tensor(_core.part(table, 0)))


def argsort(values: Any, *, descending: bool = False) -> Array:
    """The positions that sort `values`, stably.

    Parameters
    ----------
    values : Array, Series or what `asarray` takes
        One dimension.
    descending : bool
        Largest first; NaN and null are still last.

    Returns
    -------
    Array
        int64, lazy: ``values[argsort(values)]`` is sorted.

    >>> hr.argsort([3, 1, 2]).tolist()
    [1, 2, 0]
    """
    mark("argsort")
    x = _one_dimension("argsort", values)
    node = x.astype("uint8")._node if is_array(x) and x.dtype == "bool" else x._node
    return array_of(_core.argsort([node], [descending], False))
