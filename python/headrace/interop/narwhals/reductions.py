# SPDX-License-Identifier: Apache-2.0
"""Reductions of the plug-in's series: nulls are skipped, NaN is a number that spreads.

Each gives a value of Python; with ``_return_py_scalar=False``, as expressions ask, a lazy column of
one row.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from narwhals.exceptions import InvalidOperationError

from headrace import _core
from headrace.interop.narwhals.rows import as_column, chosen, null_column, row_count, unary
from headrace.series.column import new_series, series_of


def single(function: Callable[..., Any]) -> Callable[..., Any]:
    """A method that makes a node, of one row, as one that gives the value if asked to."""

    @functools.wraps(function)
    def reduced(*args: Any, _return_py_scalar: bool = True, **options: Any) -> Any:
        made = function(*args, **options)
        node = as_column(made) if isinstance(made, _core.Node) else made
        if not _return_py_scalar:
            return node
        if not isinstance(node, _core.Node):
            return node
        values = series_of(node).to_list()
        return values[0] if values else None

    return reduced


class Reductions:
    """The reductions; a mixin of the series."""

    native: Any
    node: Any

    @single
    def len(self) -> Any:
        """The number of rows."""
        return row_count(self.node)

    @single
    def count(self) -> Any:
        """The number of values that are not null."""
        return self._places(~self.native.is_null(), "sum")

    @single
    def null_count(self) -> Any:
        """The number of nulls."""
        return self._places(self.native.is_null(), "sum")

    def _places(self, truths: Any, kind: str) -> Any:
        return _core.column_reduction(kind, truths.astype("int64")._node, 0)

    @single
    def sum(self) -> Any:
        """The total; 0 of nothing."""
        values = self.native
        return self._spread("sum", values.astype("int64") if values.dtype == "bool" else values)

    @single
    def mean(self) -> Any:
        """The mean; null of nothing."""
        return self._spread("mean", self.native)

    @single
    def median(self) -> Any:
        """The median; null of nothing."""
        if not self.native.dtype.is_of("biuf"):
            raise InvalidOperationError(
                "`median` operation not supported for non-numeric input type."
            )
        return self._quantile(0.5, "linear")

    @single
    def quantile(self, quantile: float, interpolation: str) -> Any:
        """The value below which a share of the values lies."""
        return self._quantile(quantile, interpolation)

    def _quantile(self, q: float, interpolation: str) -> Any:
        values = self.native
        values = values.astype("float64") if values.dtype == "bool" else values
        found = series_of(as_column(_core.quantile(values._node, [q], interpolation)))
        counts = series_of(as_column(self._places(~self.native.is_null(), "sum")))
        return chosen(counts > 0, found, None)

    @single
    def min(self) -> Any:
        """The smallest value; NaN only if all values are NaN."""
        return self._extreme("min")

    @single
    def max(self) -> Any:
        """The largest value; NaN only if all values are NaN."""
        return self._extreme("max")

    def _extreme(self, kind: str) -> Any:
        values = self.native
        if values.dtype == "bool":
            found = _core.column_reduction(kind, values.astype("int8")._node, 0)
            return _core.astype(as_column(found), "bool")
        if values.dtype == "category":
            place = _core.slice(_core.argsort([self.node], [kind == "max"], False), 0, 1)
            return self._or_null(_core.take(self.node, place))
        whole = values.dtype.kind in "iu"
        if whole and (values._node.nullable or values._node.shape[0] < 1) and not self.count():
            return null_column(new_series([0])._node, values._node.dtype)._node
        found = _core.column_reduction(kind, values._node, 0)
        if values.dtype.kind == "f":  # no number is null, not NaN
            counts = series_of(as_column(self._places(~values.is_null(), "sum")))
            return chosen(counts > 0, series_of(as_column(found)), None)
        return found if whole else self._or_null(as_column(found))

    def _or_null(self, node: Any) -> Any:
        """A column of one row, of a null if it has none."""
        if row_count(node):
            return node
        return null_column(new_series([0])._node, node.dtype)._node

    @single
    def std(self, *, ddof: int) -> Any:
        """The standard deviation; null of too few values."""
        return self._spread("std", self.native, ddof)

    @single
    def var(self, *, ddof: int) -> Any:
        """The variance; null of too few values."""
        return self._spread("var", self.native, ddof)

    def _spread(self, kind: str, values: Any, ddof: int = 0) -> Any:
        """A reduction that is NaN if a number is, and null without enough values."""
        found = as_column(_core.column_reduction(kind, values._node, ddof))
        result = series_of(found)
        if kind in ("std", "var"):
            counts = series_of(as_column(self._places(~values.is_null(), "sum")))
            result = series_of(chosen(counts > ddof, result, None))
        if kind == "mean" and result.dtype.kind == "f":
            counts = series_of(as_column(self._places(~values.is_null(), "sum")))
            result = series_of(chosen(counts > 0, result, None))
        if values.dtype.kind == "f":
            nans = series_of(chosen(unary("isnan", values), 1, 0))
            some = series_of(as_column(_core.column_reduction("sum", nans._node, 0)))
            result = series_of(chosen(some > 0, float("nan"), result))
        return result._node

    @single
    def skew(self) -> Any:
        """The biased skewness; NaN of equal values."""
        return self._moments(3, lambda third, second: third / second**1.5)

    @single
    def kurtosis(self) -> Any:
        """The biased excess kurtosis; NaN of equal values."""
        return self._moments(4, lambda fourth, second: fourth / second**2 - 3)

    def _moments(self, power: int, share: Callable[[Any, Any], Any]) -> Any:
        values = self.native.astype("float64")
        values = values[~values.is_null()]
        count = len(values)
        if count == 0:
            return null_column(new_series([0])._node, "float64")._node
        if count == 1:
            return new_series([float("nan")])._node
        off = values - values.mean()
        second = float((off * off).mean())
        third = float((off**power).mean())
        return new_series([share(third, second) if second else float("nan")])._node

    @single
    def any(self) -> Any:
        """Whether any value is true."""
        return self._truth("any")

    @single
    def all(self) -> Any:
        """Whether no value is false."""
        return self._truth("all")

    def _truth(self, kind: str) -> Any:
        if self.native.dtype != "bool":
            raise InvalidOperationError(f"`{kind}` needs Boolean: dtype={self.native.dtype!s}")
        return _core.column_reduction(kind, self.native.fill_null(kind == "all")._node, 0)

    @single
    def n_unique(self) -> Any:
        """The number of distinct values; null is one."""
        return _core.count_distinct(self.node, False)

    @single
    def arg_min(self) -> Any:
        """The place of the first smallest value."""
        return self._place("argmin")

    @single
    def arg_max(self) -> Any:
        """The place of the first largest value."""
        return self._place("argmax")

    def _place(self, kind: str) -> Any:
        if not row_count(self.node) or not self.count():
            return null_column(new_series([0])._node, "int64")._node
        if self.native.dtype.kind in "iuf":
            return _core.reduction(kind, self.node, 0, True)
        first = _core.argsort([self.node], [kind == "argmax"], False)
        return _core.slice(first, 0, 1)

    @single
    def first(self) -> Any:
        """The value of the first row; null without rows."""
        return self._or_null(_core.slice(self.node, 0, min(1, row_count(self.node))))

    @single
    def last(self) -> Any:
        """The value of the last row; null without rows."""
        rows = row_count(self.node)
        return self._or_null(_core.slice(self.node, max(rows - 1, 0), min(1, rows)))

    @single
    def any_value(self, *, ignore_nulls: bool) -> Any:
        """The value of the first row, or of the first that is not null."""
        values = self.native
        values = values[~values.is_null()] if ignore_nulls else values
        return self._or_null(_core.slice(values._node, 0, min(1, row_count(values._node))))

    def item(self, index: int | None) -> Any:
        """The only value, or that at a place."""
        rows = row_count(self.node)
        if index is None and rows != 1:
            raise ValueError(
                "can only call '.item()' if the Series is of length 1,"
                f" or an explicit index is provided (Series is of length {rows})"
            )
        return self._at(index or 0, rows)

    def _at(self, index: int, rows: int) -> Any:
        if not -rows <= index < rows:
            raise IndexError(f"index {index} is out of bounds for {rows} rows")
        return series_of(_core.slice(self.node, index % rows, 1)).to_list()[0]

    def is_sorted(self, *, descending: bool) -> bool:
        """Whether the rows are in order."""
        if not isinstance(descending, bool):
            raise TypeError(f"`descending` should be a bool, found {type(descending)}.")
        values = self.native
        before = values.shift(1)
        wrong = values > before if descending else values < before
        return not bool(wrong.any())
