# SPDX-License-Identifier: Apache-2.0
"""The part of `DataFrame` that groups rows and sums them up."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from headrace import _core
from headrace.deferred import mark
from headrace.errors import TypeMismatchError

if TYPE_CHECKING:
    from headrace.frame import DataFrame
    from headrace.group import GroupBy


class FrameReductions:
    """Groups, distinct rows and reductions of a frame."""

    __slots__ = ()

    # ---- groups ------------------------------------------------------------------------------
    def groupby(
        self: Any,
        by: Any,
        *,
        as_index: bool = True,
        sort: bool = True,
        dropna: bool = True,
        order: bool = True,
    ) -> GroupBy:
        """The rows by key. Aggregates are frames with the keys as their first columns.

        An aggregate of one column picked by name is a series that knows its keys.

        Parameters
        ----------
        by : str, Series or list of these
            Column names, or series and expressions over rows of this frame.
        as_index : bool
            Whether the keys are labels of the aggregates; without, that of one column is a frame.
        sort : bool
            Groups in the order of their keys; else in the order of their first rows.
        dropna : bool
            Leave out rows with null or NaN in a key; else null and NaN are keys, at the end.
        order : bool
            False with ``sort=False``: groups in whatever order is cheapest, the same in each run.

        >>> import headrace as hr
        >>> df = hr.DataFrame({"id": ["b", "a", "b"], "x": [1.0, 2.0, 3.0]})
        >>> df.groupby("id").x.mean().to_dict()
        {'a': 2.0, 'b': 2.0}
        """
        from headrace.group import GroupBy, group_order, keys_of

        keys = keys_of(self, by)
        return GroupBy(keys, self._nodes, group_order(sort, order), dropna, as_index)

    def drop_duplicates(self: Any, subset: str | list[str] | None = None) -> DataFrame:
        """The first of the rows that are equal in the columns of `subset` (all columns), in order.

        Null equals null, and NaN equals NaN.
        """
        from headrace.group import Words, keys_of

        keys = keys_of(self, subset if subset is not None else self._unlabelled())
        mark("drop_duplicates")
        table = _core.group_by(keys, [Words("", "first_row")], "first", False)
        rows = _core.part(table, len(keys))
        nodes = self._everything()
        return self._of_rows(list(nodes), [_core.take(node, rows) for node in nodes.values()])  # type: ignore[no-any-return]

    def describe(self: Any) -> DataFrame:
        """Count, mean, std, min, quartiles and max of each numeric column.

        The first column, `statistic`, names the rows.
        """
        from headrace.frame import DataFrame

        table: dict[str, Any] = {
            "statistic": ["count", "mean", "std", "min", "25%", "50%", "75%", "max"]
        }
        todo: dict[str, list[Any]] = {}
        for name in self._unlabelled():
            column = self[name]
            if column.dtype.kind not in "iuf":
                continue
            column = column.astype("float64")  # the least of no integers is NaN
            parts = [column.count(), column.mean(), column.std(), column.min(), column.max()]
            todo[name] = [*parts, column.quantile([0.25, 0.5, 0.75])]
        if not todo:
            raise TypeMismatchError(f"describe: no numeric column: columns={self.columns}")
        _core.force([part._node for parts in todo.values() for part in parts])
        for name, (count, mean, std, least, most, quartiles) in todo.items():
            table[name] = [float(x) for x in (count, mean, std, least, *quartiles.tolist(), most)]
        return DataFrame(table)

    # ---- reductions: one row, a value for each column of numbers -----------------------------
    def _each(self: Any, kind: str, kinds: str = "biuf", **options: Any) -> DataFrame:
        from headrace.frame import DataFrame

        columns = [self[name] for name in self._unlabelled() if self[name].dtype.kind in kinds]
        if not columns:
            raise TypeMismatchError(f"{kind}: no column of numbers: columns={self.columns}")
        return DataFrame(
            {str(c.name): getattr(c, kind)(**options).reshape(1) for c in columns},
        )

    def sum(self) -> DataFrame:
        """Sums, nulls and NaN left out."""
        return self._each("sum")

    def mean(self) -> DataFrame:
        """Means, nulls and NaN left out."""
        return self._each("mean")

    def median(self) -> DataFrame:
        """Medians, nulls and NaN left out."""
        return self._each("median", "iuf")

    def std(self, ddof: int = 1) -> DataFrame:
        """Standard deviations, dividing by the count less `ddof`."""
        return self._each("std", ddof=ddof)

    def var(self, ddof: int = 1) -> DataFrame:
        """Variances, dividing by the count less `ddof`."""
        return self._each("var", ddof=ddof)

    def min(self) -> DataFrame:
        """Least values, nulls and NaN left out."""
        return self._each("min")

    def max(self) -> DataFrame:
        """Greatest values, nulls and NaN left out."""
        return self._each("max")

    def count(self) -> DataFrame:
        """Numbers of values that are neither null nor NaN, of all columns but complex ones."""
        return self._each("count", "biufMOU")
