# SPDX-License-Identifier: Apache-2.0
"""Windows of rows and of spans of time: `rolling` and `expanding` of series, frames and groups."""

from __future__ import annotations

import operator
import time
from collections.abc import Callable
from typing import Any

from headrace import _core
from headrace.errors import Error, InvalidArgumentError, TypeMismatchError, UnsupportedError
from headrace.facade import facade
from headrace.lazy.advice import window_by_window
from headrace.lazy.handle import mark
from headrace.lazy.traceable import is_traceable
from headrace.series.column import is_series, new_series, series_of, with_rows_of
from headrace.time_units import is_length, length_of
from headrace.windows.span import WindowRows, Windows, series_of_one, times_node


@facade("Rolling")
class Rolling(Windows):
    """Aggregates over a moving window, from `rolling` of series, frames and groups.

    Null and NaN are skipped; a row whose window has fewer than `min_periods` values gets null.
    Sums, minima and maxima of integers stay integers, unlike in pandas. A value that leaves the
    window leaves no rounding error and no NaN behind.

    >>> s = hr.Series([1.0, 2.0, None, 4.0, 8.0])
    >>> s.rolling(2).sum().to_list(), s.rolling(2, min_periods=1).mean().to_list()
    ([None, 3.0, None, None, 12.0], [1.0, 1.5, 2.0, 4.0, 6.0])
    """

    __slots__ = ("_closed", "_few", "_options", "_step", "_times")

    def __init__(
        self,
        rows: WindowRows,
        window: Any,
        min_periods: int | None = None,
        center: bool = False,
        win_type: str | None = None,
        on: str | None = None,
        closed: str | None = None,
        step: int | None = None,
    ) -> None:
        if win_type is not None:
            raise UnsupportedError(
                f"rolling: windows have no weights: win_type={win_type!r}; use "
                "numpy.convolve(column, weights / weights.sum(), 'valid'), or ewm for weights "
                "that decay"
            )
        if rows.keys and step not in (None, 1):
            raise UnsupportedError(
                f"rolling: windows of groups have no step: step={step}; take rows of the result, "
                f"such as .iloc[::{step}]"
            )
        self._rows, self._times, self._step = rows, None, step
        if isinstance(window, str) or is_length(window):
            self._times, length = times_node("rolling", rows, on, length_of("rolling", window))
        else:
            try:
                length = operator.index(window)
            except TypeError:
                raise TypeMismatchError(
                    f"rolling: expected a number of rows, or a span of time such as '7D': "
                    f"window={window!r}"
                ) from None
        if length > _core.ALL_ROWS:
            raise InvalidArgumentError(
                f"rolling: the window is too long: window={window!r}; use expanding for all rows"
            )
        if length < 1:
            raise InvalidArgumentError(
                f"rolling: the window is too short: window={window!r}; expected at least 1 row"
            )
        most = length if self._times is None else None
        if min_periods is not None and (min_periods < 0 or (most and min_periods > most)):
            raise InvalidArgumentError(
                f"rolling: min_periods is out of range: min_periods={min_periods}, "
                f"window={window!r}; expected 0 to {most or 'any number'}"
            )
        few = 1 if most is None else most
        few = few if min_periods is None else min_periods
        self._options: dict[str, Any] = {"window": length, "min_periods": few, "center": center}
        self._options["closed"] = closed or "right"

    def _of(self, rows: WindowRows) -> Rolling:
        made = object.__new__(Rolling)
        for name in Rolling.__slots__:
            if hasattr(self, name):
                setattr(made, name, getattr(self, name))
        made._rows = rows
        return made

    def __repr__(self) -> str:
        window = self._options["window"]
        rows = "all rows" if window == _core.ALL_ROWS else f"{window} rows"
        rows = rows if self._times is None else "a span of time"
        return f"Rolling(window: {rows}; columns: {', '.join(self._rows.columns)})"

    def _with(
        self, ddof: int = 1, quantile: float = 0.5, interpolation: str = "linear", **words: Any
    ) -> _core.RollingOptions:
        return _core.RollingOptions(
            **{**self._options, **words}, ddof=ddof, quantile=quantile, interpolation=interpolation
        )

    def _made(
        self, aggregate: str, columns: dict[str, _core.Node] | None = None, **words: Any
    ) -> Any:
        mark("rolling")
        rows = self._rows
        columns = rows.columns if columns is None else columns
        nodes = list(columns.values())
        options = self._with(**words)
        made = _core.rolling(rows.keys, nodes, rows.dropna, self._times, aggregate, options)
        return self._finished(dict(zip(columns, made, strict=True)))

    def _finished(self, made: dict[str, _core.Node]) -> Any:
        return self._stepped(self._rows.finish(made))

    def _stepped(self, result: Any) -> Any:
        return result if self._step in (None, 1) else result.iloc[:: self._step]

    def _row_by_row(self) -> Rolling:
        made: Rolling = super()._row_by_row()
        made._step = None
        return made

    def _pairs(self, op: str, other: Any, pairwise: bool | None, ddof: int) -> Any:
        mark("rolling")
        rows = self._rows
        words = (rows.dropna, self._times, op == "corr", self._with(ddof))
        return self._paired(
            op,
            other,
            pairwise,
            lambda others: self._finished(
                {
                    name: _core.rolling_pairs(rows.keys, node, others[name], *words)
                    for name, node in rows.columns.items()
                }
            ),
        )

    def sum(self) -> Any:
        """Sums; 0 for no values with ``min_periods=0``.

        >>> hr.Series([1, 2, 4]).rolling(2).sum().to_list()
        [None, 3, 6]
        """
        return self._made("sum")

    def mean(self) -> Any:
        """Means.

        >>> hr.Series([1, 2, 4]).rolling(2).mean().to_list()
        [None, 1.5, 3.0]
        """
        return self._made("mean")

    def min(self) -> Any:
        """Minima.

        >>> hr.Series([1, 2, 4]).rolling(2).min().to_list()
        [None, 1, 2]
        """
        return self._made("min")

    def max(self) -> Any:
        """Maxima.

        >>> hr.Series([1, 2, 4]).rolling(2).max().to_list()
        [None, 2, 4]
        """
        return self._made("max")

    def var(self, ddof: int = 1) -> Any:
        """Variances; null with `ddof` values or fewer.

        >>> hr.Series([1, 2, 4]).rolling(2).var().to_list()
        [None, 0.5, 2.0]
        """
        return self._made("var", ddof=ddof)

    def std(self, ddof: int = 1) -> Any:
        """Standard deviations; null with `ddof` values or fewer.

        >>> hr.Series([1, 2, 4]).rolling(2).std().round(6).to_list()
        [None, 0.707107, 1.414214]
        """
        return self._made("std", ddof=ddof)

    def sem(self, ddof: int = 1) -> Any:
        """Standard errors of the mean; null with `ddof` values or fewer.

        >>> hr.Series([1, 2, 4]).rolling(2).sem().to_list()
        [None, 0.5, 1.0]
        """
        return self._made("sem", ddof=ddof)

    def skew(self) -> Any:
        """Sample skewness; null with fewer than three values, NaN if all are equal.

        >>> hr.Series([1, 2, 5, 9]).rolling(4).skew().round(6).to_list()
        [None, None, None, 0.888584]
        """
        return self._made("skew")

    def kurt(self) -> Any:
        """Excess kurtosis of samples; null with fewer than four values, NaN if all are equal.

        >>> hr.Series([1, 2, 5, 9]).rolling(4).kurt().round(6).to_list()
        [None, None, None, -0.581894]
        """
        return self._made("kurt")

    def median(self) -> Any:
        """Medians; the cost grows with the window.

        >>> hr.Series([1, 2, 4]).rolling(2).median().to_list()
        [None, 1.5, 3.0]
        """
        return self._made("median")

    def quantile(self, q: float = 0.5, interpolation: str = "linear") -> Any:
        """Quantiles; the cost grows with the window.

        >>> hr.Series([1, 2, 4]).rolling(2).quantile(0.25).to_list()
        [None, 1.25, 2.5]
        """
        return self._made("quantile", quantile=float(q), interpolation=interpolation)

    def first(self) -> Any:
        """First values."""
        return self._made("first")

    def last(self) -> Any:
        """Last values."""
        return self._made("last")

    def nunique(self) -> Any:
        """Numbers of distinct values; the cost grows with the window.

        >>> hr.Series([1, 1, 4]).rolling(2).nunique().to_list()
        [None, 1, 2]
        """
        return self._made("nunique")

    def rank(self, method: str = "average", ascending: bool = True, pct: bool = False) -> Any:
        """The place of the last value of each window among all of it, from 1 on.

        >>> hr.Series([3, 1, 4, 2]).rolling(3).rank().to_list()
        [None, None, 3.0, 2.0]
        """
        if method not in ("average", "min", "max"):
            raise InvalidArgumentError(
                f"rank: invalid value: method={method!r}; expected 'average', 'min' or 'max'"
            )
        mark("rolling")
        rows = self._rows
        words = (rows.dropna, self._times, method, not ascending, pct, self._with())
        made = _core.rolling_rank(rows.keys, list(rows.columns.values()), *words)
        return self._finished(dict(zip(rows.columns, made, strict=True)))

    def cov(self, other: Any = None, pairwise: bool | None = None, ddof: int = 1) -> Any:
        """Covariances with another column, of the rows where both have a value.

        `other` is a series, or a frame with the same columns. Without it, or with `pairwise`, all
        pairs of columns: a row for each row and second column, which label it.

        >>> s = hr.Series([1.0, 2.0, 4.0])
        >>> s.rolling(2).cov(s * s).to_list()
        [None, 1.5, 12.0]
        """
        return self._pairs("cov", other, pairwise, ddof)

    def corr(self, other: Any = None, pairwise: bool | None = None, ddof: int = 1) -> Any:
        """Pearson correlations with another column, as `cov`; NaN if one of them is constant.

        >>> s = hr.Series([1.0, 2.0, 4.0])
        >>> s.rolling(2).corr(-s).to_list()
        [None, -1.0, -1.0]
        """
        return self._pairs("corr", other, pairwise, ddof)

    def apply(
        self, func: Callable[..., Any], raw: bool = False, args: Any = (), kwargs: Any = None
    ) -> Any:
        """A Python function of the values of each window, as float64 with NaN for missing ones.

        A function that only uses arithmetic and aggregates of its argument runs once for all
        windows; any other is called window by window, with a series or, with `raw`, an array, and
        `hr.fallbacks` lists it.

        >>> hr.Series([1, 2, 4]).rolling(2).apply(lambda x: x.max() - x.min()).to_list()
        [None, 1.0, 2.0]
        >>> hr.Series([1, 2, 4]).rolling(2).apply(lambda x: x[0] + x[-1], raw=True).to_list()
        [None, 3.0, 6.0]
        """
        mark("rolling")
        kwargs = kwargs or {}
        made = {}
        for name, node in self._rows.columns.items():
            if raw or args or kwargs or (found := self._traced(name, func)) is None:
                found = self._called_each(node, lambda x: func(x, *args, **kwargs), raw, func)
            made[name] = found
        return self._finished(made)

    def _traced(self, name: str, func: Any) -> _core.Node | None:
        """The function of all windows at once; None if it has to be called for each."""
        if not is_traceable(func):
            return None
        alone = self[name] if name in self._rows.columns else self
        try:
            found = func(_Aggregates(alone._row_by_row()))
        except (Error, TypeError, AttributeError, ValueError):
            return None
        return found.astype("float64")._node if is_series(found) else None

    def _called_each(
        self, node: _core.Node, func: Callable[[Any], Any], raw: bool, named: Any
    ) -> _core.Node:
        import numpy as np

        window_by_window("apply", "use aggregates of the window: rolling(...).mean()")
        rows = self._rows
        values = series_of(node).astype("float64").fill_null(float("nan")).to_numpy()
        places = np.arange(len(values))
        order = places
        whole = Rolling(rows._replace(finish=_array_of), _core.ALL_ROWS, 1)
        if rows.keys and len(places):  # the rows of a group side by side
            first = whole._made("first", {"": with_rows_of(new_series(places), node)._node})
            order = np.argsort(first, kind="stable")
            places = np.argsort(order)
        column = {"": with_rows_of(new_series(places), node)._node}
        there = {"": series_of(node).notna().astype("int64")._node}
        own = self._row_by_row()
        own._rows = rows._replace(finish=_array_of)
        begins, ends = (own._made(edge, column, min_periods=0) for edge in ("first", "last"))
        counts = own._made("sum", there, min_periods=0)
        values = values[order]
        made = np.full(len(values), np.nan)
        name = getattr(named, "__name__", type(named).__name__)
        start = time.perf_counter()
        enough = np.flatnonzero(counts >= max(1, self._options["min_periods"]))
        for row in enough.tolist():
            window = values[int(begins[row]) : int(ends[row]) + 1]
            made[row] = func(window if raw else new_series(window))
        _core.record_fallback(
            "rolling.apply",
            f"Python function called per window: {name}",
            time.perf_counter() - start,
        )
        result = new_series(made)
        return with_rows_of(result.where(~np.isnan(made)), node)._node

    def count(self) -> Any:
        """Numbers of non-missing values; null if the window has too few rows.

        >>> hr.Series([1, 2, 4]).rolling(2).count().to_list()
        [None, 2, 2]
        """
        there = {
            n: series_of(node).notna().astype("int64")._node
            for n, node in self._rows.columns.items()
        }
        return self._made("sum", there)


def _array_of(made: dict[str, _core.Node]) -> Any:
    """One column as an array, -1 for null."""
    return series_of_one(made).fill_null(-1).to_numpy()


class _Aggregates:
    """The windows of a column in place of one of them: only aggregates are there."""

    __slots__ = ("_windows",)

    def __init__(self, windows: Rolling) -> None:
        self._windows = windows

    def __getattr__(self, name: str) -> Any:
        if name not in _TRACED:
            raise AttributeError(name)
        return getattr(self._windows, name)


#: Aggregates that mean the same for a series and for a window.
_TRACED = ("sum", "mean", "median", "var", "std", "sem", "skew", "kurt", "min", "max", "quantile")
