# SPDX-License-Identifier: Apache-2.0
"""The part of `DataFrame` for grouping and for duplicate rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from headrace import _core
from headrace.frame.columns import Columns
from headrace.lazy.handle import mark
from headrace.series.column import Column

if TYPE_CHECKING:
    from headrace.frame.dataframe import DataFrame
    from headrace.series.series import Series


def duplicated(
    frame: DataFrame, subset: Any = None, keep: Literal["first", "last", False] = "first"
) -> Series:
    """See `DataFrame.duplicated`."""
    from headrace.frame.reshape import repeated_rows
    from headrace.groupby.groupby import keys_of

    keys = keys_of(frame, subset if subset is not None else frame._unlabelled())
    mark("duplicated")
    return Column.make(repeated_rows([node for _, node in keys], keep))


def drop_duplicates(
    frame: DataFrame,
    subset: str | list[str] | None = None,
    *,
    keep: Literal["first", "last", False] = "first",
    ignore_index: bool = False,
) -> DataFrame:
    """See `DataFrame.drop_duplicates`."""
    from headrace.frame.labels import without_labels
    from headrace.groupby.groupby import Words, keys_of

    keys = keys_of(frame, subset if subset is not None else frame._unlabelled())
    if _core.are_unique([node for _, node in keys]):
        return without_labels(Columns.make(frame), ignore_index)
    if keep != "first":
        return without_labels(frame[~frame.duplicated(subset, keep)], ignore_index)
    mark("drop_duplicates")
    table = _core.group_by(keys, [Words("", "first_row")], "first", False)
    rows = _core.part(table, len(keys))
    nodes, domain = frame._everything(), rows.domain | _core.PICKED_ROWS
    taken = [_core.in_domain(_core.take(node, rows), domain) for node in nodes.values()]
    made = frame._of_rows(list(nodes), taken)
    return without_labels(made, ignore_index)
