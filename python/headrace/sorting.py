# SPDX-License-Identifier: Apache-2.0
"""Rows in order: what `sort_values`, `argsort`, `nlargest` and `nsmallest` share."""

from __future__ import annotations

import functools
import operator
from typing import TYPE_CHECKING, Any, Literal

from headrace import _core
from headrace.array import Array, asarray
from headrace.deferred import Deferred, mark
from headrace.errors import InvalidArgumentError, TypeMismatchError, UnsupportedError
from headrace.frame import DataFrame
from headrace.rows import is_missing, picked_domain, whole_number
from headrace.series import Series

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

NaPosition = Literal["first", "last"]


def _missing_first(op: str, na_position: str) -> bool:
    if na_position not in ("first", "last"):
        raise InvalidArgumentError(
            f"{op}: missing values come first or last: na_position={na_position!r}"
        )
    return na_position == "first"


def _descending(op: str, ascending: bool | Sequence[bool], keys: int) -> list[bool]:
    each = [ascending] * keys if isinstance(ascending, bool) else list(ascending)
    if not all(isinstance(up, bool) for up in each):
        raise TypeMismatchError(
            f"{op}: ascending is True, False or a list of these: ascending={ascending!r}"
        )
    if len(each) != keys:
        raise InvalidArgumentError(
            f"{op}: as many keys as directions are wanted: keys={keys}, ascending={len(each)}"
        )
    return [not up for up in each]


def _keys(op: str, frame: DataFrame, by: str | Sequence[str]) -> list[_core.Node]:
    names = [by] if isinstance(by, str) else list(by)
    if not names:
        raise InvalidArgumentError(f"{op}: there is no key: by={by!r}; name a column to sort by")
    return [frame._nodes[frame._find(name)] for name in names]


def sort_frame(
    frame: DataFrame,
    by: str | Sequence[str],
    ascending: bool | Sequence[bool],
    na_position: NaPosition,
    key: Callable[[Series], Series] | None = None,
) -> DataFrame:
    """The rows of a frame by some of its columns, or by what `key` makes of each."""
    mark("sort_values")
    keys = _keys("sort_values", frame, by)
    if key is not None:
        names = [by] if isinstance(by, str) else by
        keys = [frame._aligned(Series(key(frame[name]))) for name in names]
    return sort_by_nodes("sort_values", frame, keys, ascending, na_position)


def sort_by_nodes(
    op: str,
    frame: DataFrame,
    keys: list[_core.Node],
    ascending: bool | Sequence[bool],
    na_position: NaPosition,
) -> DataFrame:
    """The rows of a frame by keys of the same rows."""
    descending = _descending(op, ascending, len(keys))
    missing_first = _missing_first(op, na_position)
    nodes = frame._everything()
    table = _core.sort(keys, descending, missing_first, list(nodes), list(nodes.values()))
    return frame._of_rows(list(nodes), [_core.part(table, i) for i in range(len(nodes))])


def _first_rows(op: str, keys: list[_core.Node], n: int, largest: bool, keep: str) -> _core.Node:
    """The positions of the `n` first rows by keys; of equal ones the first, the last or all."""
    if keep not in ("first", "last", "all"):
        raise InvalidArgumentError(f"{op}: no such word: keep={keep!r}; pass first, last or all")
    first = max(whole_number(op, "n", n), 0)
    directions = [largest] * len(keys)
    if keep != "last":
        rows = _core.argsort(keys, directions, False, first)
        more = _equal_to_last(keys, rows) if keep == "all" else 0
        return _core.argsort(keys, directions, False, first + more) if more else rows
    places = Series(keys[0])._places()  # the later row first
    return _core.argsort([*keys, places._node], [*directions, True], False, first)


def _equal_to_last(keys: list[_core.Node], rows: _core.Node) -> int:
    """How many rows that are not among `rows` have the keys of the last of these; looks."""
    found = Array(rows)
    if len(found) == 0:
        return 0
    last = int(found[-1])
    tests = []
    for key in map(Series, keys):
        value = key.iloc[last]
        tests.append(key.isna() if is_missing(value) else (key == value).fill_null(False))
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
    """The `n` first rows by some columns."""
    mark(op)
    rows = _first_rows(op, _keys(op, frame, columns), n, largest, keep)
    domain = picked_domain()
    nodes = frame._everything()
    taken = [_core.in_domain(_core.take(node, rows), domain) for node in nodes.values()]
    return frame._of_rows(list(nodes), taken)


def sort_series(
    series: Series,
    ascending: bool,
    na_position: NaPosition,
    key: Callable[[Series], Series] | None = None,
) -> Series:
    """The values of a series in order."""
    mark("sort_values")
    descending = _descending("sort_values", ascending, 1)
    missing_first = _missing_first("sort_values", na_position)
    by = series._node if key is None else Series(key(series))._node
    table = _core.sort([by], descending, missing_first, ["value"], [series._node])
    return Series(_core.part(table, 0), series.name)


def argsort_series(series: Series, ascending: bool, na_position: NaPosition) -> Array:
    """The positions that sort a series."""
    mark("argsort")
    descending = _descending("argsort", ascending, 1)
    return Array(_core.argsort([series._node], descending, _missing_first("argsort", na_position)))


def first_of_series(op: str, series: Series, n: int, largest: bool, keep: str = "first") -> Series:
    """The `n` first values."""
    mark(op)
    rows = _first_rows(op, [series._node], n, largest, keep)
    return Series(_core.in_domain(_core.take(series._node, rows), picked_domain()), series.name)


# ---- arrays --------------------------------------------------------------------------------------
def _one_dimension(op: str, values: Any) -> Deferred:
    x: Deferred = values if isinstance(values, Series) else asarray(values)
    if isinstance(x, Array) and x.ndim != 1:
        raise UnsupportedError(
            f"{op}: only one dimension is sorted: dimensions={x.ndim}; sort rows one by one"
        )
    return x


def sort(values: Any, *, descending: bool = False) -> Array | Series:
    """The values in order; equal ones stay in theirs.

    Parameters
    ----------
    values : Array, Series or what `asarray` takes
        One dimension.
    descending : bool
        From the greatest to the least; NaN and null are last all the same.

    Returns
    -------
    Array or Series
        Deferred, of the same dtype.

    Examples
    --------
    >>> import headrace as hr
    >>> hr.sort([3, 1, 2]).tolist()
    [1, 2, 3]
    """
    mark("sort")
    x = _one_dimension("sort", values)
    if isinstance(x, Series):
        return sort_series(x, not descending, "last")
    if x.dtype == "bool":
        ordered = sort(x.astype("uint8"), descending=descending)
        assert isinstance(ordered, Array)
        return ordered.astype("bool")
    table = _core.sort([x._node], [descending], False, ["value"], [_core.as_column(x._node)])
    return Array(_core.as_tensor(_core.part(table, 0)))


def argsort(values: Any, *, descending: bool = False) -> Array:
    """The positions that sort `values`; equal ones stay in their order.

    Parameters
    ----------
    values : Array, Series or what `asarray` takes
        One dimension.
    descending : bool
        From the greatest to the least; NaN and null are last all the same.

    Returns
    -------
    Array
        int64, deferred: ``values[argsort(values)]`` is in order.

    Examples
    --------
    >>> import headrace as hr
    >>> hr.argsort([3, 1, 2]).tolist()
    [1, 2, 0]
    """
    mark("argsort")
    x = _one_dimension("argsort", values)
    node = x.astype("uint8")._node if isinstance(x, Array) and x.dtype == "bool" else x._node
    return Array(_core.argsort([node], [descending], False))
