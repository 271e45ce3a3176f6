# SPDX-License-Identifier: Apache-2.0
"""The part of `DataFrame` for grouping and for duplicate rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from headrace import _core
from headrace.frame.reductions import FrameReductions
from headrace.groupby.keys import groupby
from headrace.lazy.handle import mark

if TYPE_CHECKING:
    from headrace.frame.dataframe import DataFrame
    from headrace.series.series import Series


class FrameGroups(FrameReductions):
    """Groups and distinct rows of a frame."""

    __slots__ = ()

    # ---- groups ----------------------------------------------------------------------------------
    groupby = groupby

    def duplicated(
        self: Any, subset: Any = None, keep: Literal["first", "last", False] = "first"
    ) -> Series:
        """Mark repeated rows: all but the first, all but the last, or all; null equals null.

        >>> import headrace as hr
        >>> hr.DataFrame({"a": [1, 1, 2], "b": [3, 3, 3]}).duplicated().to_list()
        [False, True, False]
        """
        from headrace.frame.reshape import repeated_rows
        from headrace.groupby.groupby import keys_of
        from headrace.series.series import Series

        keys = keys_of(self, subset if subset is not None else self._unlabelled())
        mark("duplicated")
        return Series(repeated_rows([node for _, node in keys], keep))

    def drop_duplicates(
        self: Any,
        subset: str | list[str] | None = None,
        *,
        keep: Literal["first", "last", False] = "first",
        ignore_index: bool = False,
    ) -> DataFrame:
        """Drop rows that are equal in the columns of `subset` (all columns), keeping the first.

        ``keep="last"`` keeps the last, ``keep=False`` none. Order is preserved. Null equals null,
        and NaN equals NaN. Keys already known to be unique (from a group-by or an earlier
        `drop_duplicates`) return the frame itself.

        >>> import headrace as hr
        >>> df = hr.DataFrame({"x": [1, 2, 2], "y": [0.5, None, 2.5]})
        >>> df.drop_duplicates("x").to_dict()
        {'x': [1, 2], 'y': [0.5, None]}
        """
        from headrace.frame.dataframe import DataFrame
        from headrace.frame.labels import without_labels
        from headrace.groupby.groupby import Words, keys_of

        keys = keys_of(self, subset if subset is not None else self._unlabelled())
        if _core.are_unique([node for _, node in keys]):
            return without_labels(DataFrame(self), ignore_index)
        if keep != "first":
            return without_labels(self[~self.duplicated(subset, keep)], ignore_index)
        mark("drop_duplicates")
        table = _core.group_by(keys, [Words("", "first_row")], "first", False)
        rows = _core.part(table, len(keys))
        nodes, domain = self._everything(), rows.domain | _core.PICKED_ROWS
        taken = [_core.in_domain(_core.take(node, rows), domain) for node in nodes.values()]
        made = self._of_rows(list(nodes), taken)
        return without_labels(made, ignore_index)
