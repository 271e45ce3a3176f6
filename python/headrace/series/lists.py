# SPDX-License-Identifier: Apache-2.0
"""Columns of lists: the accessors `Series.list` and `Series.str` of them, and `explode`."""

from __future__ import annotations

import builtins
import re
from typing import TYPE_CHECKING, Any

from headrace import _core
from headrace.errors import InvalidArgumentError, TypeMismatchError
from headrace.facade import facade
from headrace.frame.columns import frame_of, framed, new_frame
from headrace.lazy.handle import mark
from headrace.rows import are_picked, picked_domain, unnamed, whole_number
from headrace.series.column import new_series

if TYPE_CHECKING:
    from headrace.frame.dataframe import DataFrame
    from headrace.series.series import Series


def is_list(dtype: str) -> bool:
    """Whether it is the dtype of a column of lists."""
    return dtype.startswith("list[")


@facade("Series.list")
class ListAccessor:
    """Methods on each list of a column; null stays null.

    ``.str`` of a column of lists has the same methods, as in pandas.

    >>> words = hr.Series(["ann lee", "bob", None]).str.split(" ")
    >>> words.dtype, words.str.len().to_list(), words.str[0].to_list()
    (dtype('list[string]'), [2, 1, None], ['ann', 'bob', None])
    """

    __slots__ = ("_series",)

    def __init__(self, series: Series) -> None:
        if not is_list(series.dtype):
            raise TypeMismatchError(
                f"list: expected a column of lists: dtype={str(series.dtype)!r}; str.split and "
                "agg(list) make lists"
            )
        self._series = series

    def _made(self, node: _core.Node) -> Series:
        return self._series._like(node)

    def len(self) -> Series:
        """The number of items, nulls included: int64.

        >>> hr.Series([[1, None], [], None]).list.len().to_list()
        [2, 0, None]
        """
        mark("list.len")
        return self._made(_core.list_length(self._series._node))

    def get(self, i: int) -> Series:
        """The item at a position, from the end if negative; null if there is none.

        >>> hr.Series([[1, 2], [3], []]).list.get(-1).to_list()
        [2, 3, None]
        """
        mark("list.get")
        return self._made(_core.list_item(self._series._node, whole_number("get", "i", i)))

    def slice(self, start: int | None = None, stop: int | None = None) -> Series:
        """The items from `start` up to `stop`, counted as in Python, as lists; nothing is copied.

        >>> hr.Series([[1, 2, 3], [4]]).list.slice(1).to_list()
        [[2, 3], []]
        """
        mark("list.slice")
        return self._made(_core.list_slice(self._series._node, start, stop))

    def __getitem__(self, key: int | builtins.slice) -> Series:
        """The item at a position, or a slice of each list."""
        if isinstance(key, builtins.slice):
            if key.step not in (None, 1):
                raise InvalidArgumentError(f"list: the step of a slice must be 1: key={key!r}")
            return self.slice(key.start, key.stop)
        return self.get(key)

    def join(self, sep: str) -> Series:
        """The strings of each list with `sep` between them; null if one is null.

        >>> hr.Series([["a", "b"], [], ["c", None]]).str.join("-").to_list()
        ['a-b', '', None]
        """
        mark("list.join")
        return self._made(_core.list_join(self._series._node, sep))

    def explode(self) -> Series:
        """One row for each item; see `Series.explode`."""
        return explode_series(self._series, False)


def _exploded(frame: DataFrame, names: list[str], ignore_index: bool) -> DataFrame:
    """The frame with a row for each item of these columns, which hold lists."""
    rows, items = _core.explode([frame._nodes[name] for name in names])
    made = dict(zip(names, items, strict=True))
    nodes = {n: made[n] if n in made else _core.take(v, rows) for n, v in frame._nodes.items()}
    if ignore_index:
        return frame_of(nodes)
    if frame._labels:
        return frame_of(nodes, {n: _core.take(v, rows) for n, v in frame._labels.items()})
    numbers = frame._numbered()._labels  # real labels: `rows` checks that lists have one length
    if are_picked(frame._nodes[names[0]]) and not numbers:
        return frame_of(nodes)._in_domain(picked_domain())
    found = [_core.take(node, rows) for node in numbers.values()] or [_core.as_column(rows)]
    return frame_of(nodes, {unnamed(0, 1): found[0]})


def explode_frame(frame: DataFrame, column: Any, ignore_index: bool) -> DataFrame:
    """See `DataFrame.explode`."""
    mark("explode")
    names = [frame._find(name) for name in (column if isinstance(column, list) else [column])]
    if not names or len(set(names)) < len(names):
        raise InvalidArgumentError(f"explode: expected different columns: column={column!r}")
    names = [name for name in names if is_list(frame._nodes[name].dtype)]
    return _exploded(frame, names, ignore_index) if names else frame_of(frame._nodes, frame._labels)


def explode_series(series: Series, ignore_index: bool) -> Series:
    """See `Series.explode`."""
    mark("explode")
    if not is_list(series.dtype):
        return series
    frame = framed(series)
    (name,) = frame._nodes
    return _exploded(frame, [name], ignore_index)._series(name).rename(series.name)


def rows_of_matches(
    pattern: re.Pattern[str], matches: list[list[re.Match[str]] | None]
) -> DataFrame:
    """See `Series.str.extractall`: the groups of the matches of each string."""
    words = {number: name for name, number in pattern.groupindex.items()}
    names = [words.get(i + 1, i) for i in range(pattern.groups)]
    found = [
        (row, number, *match.groups())
        for row, several in enumerate(matches)
        for number, match in enumerate(several or ())
    ]
    columns = list(zip(*found, strict=True)) or [()] * (len(names) + 2)
    dtypes = {"index": "int64", "match": "int64", **dict.fromkeys(names, "string")}
    made = {
        name: new_series(list(column), dtype=dtype)
        for (name, dtype), column in zip(dtypes.items(), columns, strict=True)
    }
    return new_frame(made).set_index(["index", "match"])
