# SPDX-License-Identifier: Apache-2.0
"""Window functions of groups: the rows of each group in their order."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from headrace import _core
from headrace.aggregates import NUMBERS, TABLE
from headrace.errors import TypeMismatchError
from headrace.frame.columns import frame_of
from headrace.frame.labels import numbered_labels
from headrace.groupby.aggregate import refuse_others, value_columns
from headrace.groupby.keys import Words
from headrace.lazy.handle import mark
from headrace.rows import given, unnamed, whole_number
from headrace.series.column import new_series, series_of
from headrace.series.window import ranks_with_missing, rows_of_groups
from headrace.windows.span import WindowRows

if TYPE_CHECKING:
    from headrace.frame.dataframe import DataFrame
    from headrace.groupby.groupby import GroupBy
    from headrace.series.series import Series


def key_nodes(groups: GroupBy) -> list[_core.Node]:
    """The nodes of the keys."""
    return [node for _, node in groups._keys]


def rows_after(groups: GroupBy) -> Series:
    """Number of rows after each row within its group."""
    keys = key_nodes(groups)
    rows = _core.group_transform(keys, Words("rows", "size", keys[0]), groups._dropna)
    return new_series(rows) - 1 - groups.cumcount()


def of_rows_of(groups: GroupBy, node: _core.Node) -> Series:
    """One value for each row of the groups, with its labels and without a name."""
    return frame_of({"value": node}, groups._rows)._series("value").rename(None)


def frame_or_series(groups: GroupBy, made: dict[str, _core.Node]) -> Any:
    """Results by column as a frame, or as a series for a single selected column."""
    frame = frame_of(made, groups._rows)
    return groups._shown(frame)


def group_by_group(
    groups: GroupBy, made: dict[Any, _core.Node], on: str | None = None, labelled: bool = True
) -> DataFrame:
    """Results in the order of the groups, labelled by key and then as the rows or by column `on`.

    Without `labelled` the keys are columns.
    """
    group, levels = " group", dict(groups._keys)
    rows = {on: groups._nodes[on]} if on else numbered_labels(frame_of(made, groups._rows))._labels
    named = [name for name in ([on] if on else groups._rows) if given(name) and name not in levels]
    before = len(levels) if labelled else 0
    labels = {
        name if name in named else unnamed(i, before + len(rows)): node
        for i, (name, node) in enumerate(rows.items(), before)
    }
    columns = {**({} if labelled else levels), **made, group: groups.ngroup()._node}
    whole = frame_of(columns, {**levels, **labels} if labelled else labels)
    return whole[whole[group] >= 0].sort_values(group).drop(columns=group)


def window_function(
    groups: GroupBy, op: str, make: Callable[..., _core.Node], *words: Any, kinds: str | None = None
) -> Any:
    """A window function of the engine, over the columns of these kinds."""
    mark(op)
    keys = [node for _, node in groups._keys]
    return frame_or_series(
        groups,
        rows_of_groups(make, keys, supported_columns(groups, op, kinds), groups._dropna, *words),
    )


def supported_columns(groups: GroupBy, op: str, kinds: str | None) -> dict[str, _core.Node]:
    """The columns, which have to be of these kinds."""
    values = value_columns(groups)
    if kinds is not None and not groups._single:
        refuse_others(op, values, kinds)
    return values


def window_rows(groups: GroupBy, op: str, on: str | None = None) -> WindowRows:
    """The rows that windows of these groups walk over."""
    columns = {
        name: node
        for name, node in value_columns(groups).items()
        if name != on and (groups._single or series_of(node).dtype.is_of(NUMBERS))
    }
    if not columns:
        raise TypeMismatchError(f"{op}: no numeric column: columns={list(groups._nodes)}")
    keys = [node for _, node in groups._keys]

    def finish(made: dict[str, _core.Node]) -> Any:
        shown = {
            name: made.get(name, node)
            for name, node in groups._nodes.items()
            if name == on or name in made
        }
        whole = group_by_group(groups, shown, None, groups._labelled)
        return groups._shown(whole) if groups._labelled else whole

    table = functools.partial(group_by_group, groups, on=on)
    labels, every = groups._rows, groups._nodes
    return WindowRows(columns, finish, table, labels, every, keys, groups._dropna)


def cumulative(groups: GroupBy, op: str) -> Any:
    """See `GroupBy.cumsum` and its like."""
    kinds = TABLE[op.removeprefix("cum")].cumulative
    return window_function(groups, op, _core.group_cumulative, op, kinds=kinds)


def cumcount(groups: GroupBy, ascending: bool = True) -> Series:
    """See `GroupBy.cumcount`."""
    mark("cumcount")
    if not ascending:
        return rows_after(groups)
    keys = [node for _, node in groups._keys]
    node = _core.part(_core.group_places(keys, groups._dropna), 0)
    return of_rows_of(groups, _core.in_domain(node, keys[0].domain))


def rank(groups: GroupBy, method: str, ascending: bool, na_option: str, pct: bool) -> Any:
    """See `GroupBy.rank`."""
    mark("rank")
    columns = value_columns(groups)
    places = rows_of_groups(
        _core.group_rank, key_nodes(groups), columns, groups._dropna, method, not ascending
    )
    made = {}
    for name, node in columns.items():
        gone = series_of(node).isna().astype("int64")
        own, missing = groups._column(name, node), groups._column(name, gone._node)
        of_group = (missing.transform("sum"), own.transform("count"), own.transform("nunique"))
        plain = [new_series(each._node) for each in (*of_group, missing.cumsum())]
        ranks = series_of(places[name])
        ranks = ranks_with_missing(ranks, method, na_option, pct, gone, *plain)
        made[name] = ranks._node
    return frame_or_series(groups, made)


def shift(groups: GroupBy, periods: int = 1, *, fill_value: Any = None) -> Any:
    """See `GroupBy.shift`."""
    periods = whole_number("shift", "periods", periods)
    made = window_function(groups, "shift", _core.group_shift, periods)
    if fill_value is None or periods == 0:
        return made
    there = groups.cumcount() >= periods if periods > 0 else rows_after(groups) >= -periods
    return made.where(there, fill_value)


def diff(groups: GroupBy, periods: int = 1) -> Any:
    """See `GroupBy.diff`."""
    mark("diff")
    keys = [node for _, node in groups._keys]
    columns = supported_columns(groups, "diff", "iufmM")
    before = rows_of_groups(
        _core.group_shift, keys, columns, groups._dropna, whole_number("diff", "periods", periods)
    )
    made = {n: (series_of(node) - new_series(before[n]))._node for n, node in columns.items()}
    return frame_or_series(groups, made)
