# SPDX-License-Identifier: Apache-2.0
"""The part of `Series` that makes one value, or one a group, of many."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from headrace import _core
from headrace.deferred import mark
from headrace.series_values import SeriesValues
from headrace.text import is_text
from headrace.times import aggregate, is_time

if TYPE_CHECKING:
    from headrace.array import Array
    from headrace.frame import DataFrame
    from headrace.group import GroupBy
    from headrace.labels import LabelledSeries
    from headrace.series import Series


class SeriesReductions(SeriesValues):
    """Reductions and groups of a column."""

    __slots__ = ()
    name: str | None

    # ---- reductions --------------------------------------------------------------------------
    def _total(self, kind: str) -> Any:
        """A reduction; of times and texts a value, looked at here."""
        if is_time(self):
            return aggregate(self, kind)
        if kind in ("min", "max") and is_text(self):
            first = self.dropna().sort_values(ascending=kind == "min").head(1).to_list()
            return first[0] if first else None
        return self._reduce(kind, skip_nan=True)

    def sum(self) -> Array:
        """Sum of the values that are not missing; 0 for none."""
        return self._reduce("sum", skip_nan=True)

    def mean(self) -> Any:
        """Mean of the values that are not missing; NaN for none. Of times one, as `min` gives."""
        return self._total("mean")

    def var(self, ddof: int = 1) -> Array:
        """Variance with pandas' default of `ddof=1`."""
        return self._reduce("var", ddof, skip_nan=True)

    def std(self, ddof: int = 1) -> Array:
        """Standard deviation with pandas' default of `ddof=1`."""
        return self._reduce("std", ddof, skip_nan=True)

    def min(self) -> Any:
        """Smallest value that is not missing; NaN for none.

        Of numbers an array of one element, deferred. Of dates, times and texts a Python value
        (`numpy.datetime64` for nanoseconds), None for none: these are looked at here.

        >>> import datetime
        >>> import headrace as hr
        >>> hr.Series(["b", None, "a"]).min(), hr.Series([datetime.date(2024, 2, 29)]).max()
        ('a', datetime.date(2024, 2, 29))
        """
        return self._total("min")

    def max(self) -> Any:
        """Largest value that is not missing; see `min`."""
        return self._total("max")

    def count(self) -> Array:
        """Number of values that are not missing."""
        return self._reduce("count", skip_nan=True)

    def any(self) -> Array:
        """True if some value is true."""
        return self._reduce("any", skip_nan=True)

    def all(self) -> Array:
        """True if all values are true."""
        return self._reduce("all", skip_nan=True)

    def quantile(self, q: float | list[float] = 0.5) -> Array:
        """Quantiles of the values that are not missing, linear between ranks as in pandas.

        Parameters
        ----------
        q : float or list of float
            Between 0 and 1. A float gives a number, a list an array.
        """
        from headrace.array import Array

        mark("quantile")
        levels = q if isinstance(q, list) else [float(q)]
        result = Array(_core.quantile(self._node, levels))
        return result if isinstance(q, list) else result[0]

    def median(self) -> Array:
        """The middle of the values that are not missing."""
        return self.quantile(0.5)

    # ---- groups ------------------------------------------------------------------------------
    def groupby(
        self, by: Any, *, sort: bool = True, dropna: bool = True, order: bool = True
    ) -> GroupBy:
        """The values by the key `by`, a series of the same rows or a list of them.

        See `DataFrame.groupby`.

        >>> import headrace as hr
        >>> df = hr.DataFrame({"id": [1, 2, 1], "x": [1.0, 2.0, 3.0]})
        >>> df.x.groupby(df.id).sum().to_dict()
        {1: 4.0, 2: 2.0}
        """
        from headrace.group import SeriesGroupBy, group_order, keys_of

        nodes = {self.name or "value": self._node}
        return SeriesGroupBy(keys_of(None, by), nodes, group_order(sort, order), dropna)

    def unique(self) -> Series:
        """The distinct values in the order in which they are first seen, null and NaN included."""
        from headrace.series import Series

        mark("unique")
        table = _core.group_by([(self.name or "", self._node)], [], "first", False)
        return Series(_core.part(table, 0), self.name)

    def value_counts(self, *, sort: bool = True, dropna: bool = True) -> LabelledSeries:
        """How often each value occurs, the most frequent first, of equals the one seen first.

        >>> import headrace as hr
        >>> hr.Series(["b", "a", "b"], name="s").value_counts().to_dict()
        {'b': 2, 'a': 1}
        """
        from headrace.group import SeriesGroupBy, keys_of

        groups = SeriesGroupBy(keys_of(None, self), {}, "first", dropna)
        counted: LabelledSeries = groups.size().rename_values("count")
        return counted.sort_values(ascending=False) if sort else counted

    def nunique(self, dropna: bool = True) -> Array:
        """The number of distinct values; null and NaN count with ``dropna=False``."""
        from headrace.array import Array
        from headrace.group import Words

        mark("nunique")
        words = [Words("size", "size")]
        table = _core.group_by([("key", self._node)], words, "any", dropna)
        return Array(_core.reduction("count", _core.part(table, 1)))

    def describe(self) -> DataFrame:
        """Count, mean, std, min, quartiles and max, as a frame of one column."""
        from headrace.frame import DataFrame

        return DataFrame({self.name or "value": self}).describe()
