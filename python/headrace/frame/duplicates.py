# SPDX-License-Identifier: Apache-2.0
"""The part of `DataFrame` for grouping and for duplicate rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from headrace import _core
from headrace.errors import InvalidArgumentError
from headrace.frame.columns import new_frame, without_labels
from headrace.groupby.keys import Words, keys_of
from headrace.lazy.handle import mark
from headrace.rows import free_name
from headrace.series.column import new_series, series_of

if TYPE_CHECKING:
    from headrace.frame.dataframe import DataFrame
    from headrace.series.labelled import LabelledSeries


def drop_duplicates(
    frame: DataFrame, subset: Any, keep: Literal["first", "last", False], ignore_index: bool
) -> DataFrame:
    """See `DataFrame.drop_duplicates`."""
    keys = keys_of(frame, subset if subset is not None else frame.columns)
    if _core.are_unique([node for _, node in keys]):
        return without_labels(new_frame(frame), ignore_index)
    if keep != "first":
        return without_labels(frame[~frame.duplicated(subset, keep)], ignore_index)
    mark("drop_duplicates")
    table = _core.group_by(keys, [Words("", "first_row")], "first", False)
    rows = _core.part(table, len(keys))
    domain = rows.domain | _core.PICKED_ROWS

    def pick(node: _core.Node) -> _core.Node:
        return _core.in_domain(_core.take(node, rows), domain)

    made = frame._of_rows([pick(node) for node in frame._every()], pick)
    return without_labels(made, ignore_index)


def repeated_rows(keys: list[_core.Node], keep: str | bool) -> _core.Node:
    """The node of a mask of rows that repeat the keys of a kept row."""
    if keep not in ("first", "last", False):
        raise InvalidArgumentError(
            f"duplicated: invalid value: keep={keep!r}; expected 'first', 'last' or False"
        )
    if _core.are_unique(keys):
        return _core.repeat(keys[0], False)
    if keep == "first":
        named = [(f"k{i}", key) for i, key in enumerate(keys)]
        table = _core.group_by(named, [Words("", "first_row")], "first", False)
        return _core.not_at(keys[0], _core.part(table, len(keys)))
    place = _core.in_domain(_core.part(_core.group_places(keys, False), 0), keys[0].domain)
    rows = series_of(_core.group_transform(keys, Words("rows", "size", keys[0]), False))
    if keep == "last":
        return (new_series(place) < rows - 1)._node
    return (rows > 1)._node


def value_counts(
    frame: DataFrame,
    subset: str | list[str] | None = None,
    normalize: bool = False,
    sort: bool = True,
    ascending: bool = False,
    dropna: bool = True,
) -> Any:
    """See `DataFrame.value_counts`."""
    names = [subset] if isinstance(subset, str) else subset or frame.columns

    counted = frame.groupby(names, sort=False, dropna=dropna).size()
    return counted_values(counted, normalize, sort, ascending)


def counted_values(counted: LabelledSeries, normalize: bool, sort: bool, ascending: bool) -> Any:
    """Sorted counts, or shares."""
    counted = counted.rename(free_name("count", counted._frame._labels))
    made = counted.sort_values(ascending=ascending) if sort else counted
    if not normalize:
        return made
    shares = made / made.sum()
    return shares.rename("proportion")
