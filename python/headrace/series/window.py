# SPDX-License-Identifier: Apache-2.0
"""Window functions: `rolling` of series, frames and groups, and per-row group functions."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Literal

from headrace import _core
from headrace.aggregates import NUMBERS, WINDOWS
from headrace.errors import InvalidArgumentError, TypeMismatchError
from headrace.frame.columns import frame_of, new_frame
from headrace.lazy.handle import mark
from headrace.rows import whole_number
from headrace.series.column import series_of
from headrace.series.elementwise import row_positions

if TYPE_CHECKING:
    from headrace.series.series import Series

#: Methods of groups that `transform` accepts by name.
ROW_FUNCTIONS = (
    *("cumsum", "cumprod", "cummin", "cummax"),
    *("cumcount", "rank", "shift", "diff"),
)


def rows_of_groups(
    make: Callable[..., _core.Node],
    keys: list[_core.Node],
    columns: Mapping[str, _core.Node],
    *words: Any,
) -> dict[str, _core.Node]:
    """Per-row group functions of the engine, in the row order of `columns`."""
    table = make(keys, list(columns.values()), *words)
    return {
        name: _core.in_domain(_core.part(table, place), node.domain)
        for place, (name, node) in enumerate(columns.items())
    }


class Rolling:
    """Aggregates over a moving window of rows, from `rolling` of series, frames and groups.

    Null and NaN are skipped; a row whose window has fewer than `min_periods` values gets null.
    Sums, minima and maxima of integers stay integers, unlike in pandas. A value that leaves the
    window leaves no rounding error and no NaN behind.

    >>> import headrace as hr
    >>> s = hr.Series([1.0, 2.0, None, 4.0, 8.0])
    >>> s.rolling(2).sum().to_list(), s.rolling(2, min_periods=1).mean().to_list()
    ([None, 3.0, None, None, 12.0], [1.0, 1.5, 2.0, 4.0, 6.0])
    """

    __slots__ = ("_center", "_columns", "_dropna", "_finish", "_keys", "_min_periods", "_window")

    def __init__(
        self,
        columns: Mapping[str, _core.Node],
        finish: Callable[[dict[str, _core.Node]], Any],
        window: int,
        min_periods: int | None,
        center: bool,
        keys: list[_core.Node] | None = None,
        dropna: bool = True,
    ) -> None:
        try:
            self._window = operator.index(window)
        except TypeError:
            raise TypeMismatchError(
                f"rolling: expected a number of rows as window: window={window!r}"
            ) from None
        if self._window < 1:
            raise InvalidArgumentError(
                f"rolling: the window is too short: window={window}; expected at least 1 row"
            )
        if min_periods is not None and not 0 <= min_periods <= self._window:
            raise InvalidArgumentError(
                f"rolling: min_periods is out of range: min_periods={min_periods}, "
                f"window={window}; expected 0 to {window}"
            )
        self._columns = dict(columns)
        self._finish = finish
        self._min_periods = min_periods
        self._center = center
        self._keys = keys or []
        self._dropna = dropna

    def __repr__(self) -> str:
        rows = "all" if self._window == _core.ALL_ROWS else self._window
        return f"Rolling(window: {rows} rows; columns: {', '.join(self._columns)})"

    def _made(
        self, aggregate: str, ddof: int = 1, columns: dict[str, _core.Node] | None = None
    ) -> Any:
        mark("rolling")
        columns = self._columns if columns is None else columns
        few = self._window if self._min_periods is None else self._min_periods
        words = (aggregate, self._window, few, self._center, ddof)
        if self._keys:
            made = rows_of_groups(_core.group_rolling, self._keys, columns, self._dropna, *words)
        else:
            made = {name: _core.rolling(node, *words) for name, node in columns.items()}
        return self._finish(made)

    def sum(self) -> Any:
        """Sums; 0 for no values with ``min_periods=0``.

        >>> import headrace as hr
        >>> hr.Series([1, 2, 4]).rolling(2).sum().to_list()
        [None, 3, 6]
        """
        return self._made("sum")

    def mean(self) -> Any:
        """Means.

        >>> import headrace as hr
        >>> hr.Series([1, 2, 4]).rolling(2).mean().to_list()
        [None, 1.5, 3.0]
        """
        return self._made("mean")

    def min(self) -> Any:
        """Minima.

        >>> import headrace as hr
        >>> hr.Series([1, 2, 4]).rolling(2).min().to_list()
        [None, 1, 2]
        """
        return self._made("min")

    def max(self) -> Any:
        """Maxima.

        >>> import headrace as hr
        >>> hr.Series([1, 2, 4]).rolling(2).max().to_list()
        [None, 2, 4]
        """
        return self._made("max")

    def var(self, ddof: int = 1) -> Any:
        """Variances; null with `ddof` values or fewer.

        >>> import headrace as hr
        >>> hr.Series([1, 2, 4]).rolling(2).var().to_list()
        [None, 0.5, 2.0]
        """
        return self._made("var", ddof)

    def std(self, ddof: int = 1) -> Any:
        """Standard deviations; null with `ddof` values or fewer.

        >>> import headrace as hr
        >>> hr.Series([1, 2, 4]).rolling(2).std().round(6).to_list()
        [None, 0.707107, 1.414214]
        """
        return self._made("std", ddof)

    def sem(self, ddof: int = 1) -> Any:
        """Standard errors of the mean; null with `ddof` values or fewer.

        >>> import headrace as hr
        >>> hr.Series([1, 2, 4]).rolling(2).sem().to_list()
        [None, 0.5, 1.0]
        """
        return self._made("sem", ddof)

    def skew(self) -> Any:
        """Sample skewness; null with fewer than three values, NaN if all are equal.

        >>> import headrace as hr
        >>> hr.Series([1, 2, 5, 9]).rolling(4).skew().round(6).to_list()
        [None, None, None, 0.888584]
        """
        return self._made("skew")

    def kurt(self) -> Any:
        """Excess kurtosis of samples; null with fewer than four values, NaN if all are equal.

        >>> import headrace as hr
        >>> hr.Series([1, 2, 5, 9]).rolling(4).kurt().round(6).to_list()
        [None, None, None, -0.581894]
        """
        return self._made("kurt")

    def median(self) -> Any:
        """Medians; the cost grows with the window.

        >>> import headrace as hr
        >>> hr.Series([1, 2, 4]).rolling(2).median().to_list()
        [None, 1.5, 3.0]
        """
        return self._made("median")

    def agg(self, func: str | list[str]) -> Any:
        """An aggregate by name; for a single column also a list, as columns of a frame.

        >>> import headrace as hr
        >>> hr.Series([1, 2, 4]).rolling(2).agg(["sum", "max"]).to_dict()
        {'sum': [None, 3, 6], 'max': [None, 2, 4]}
        """
        known = (*WINDOWS, "count")
        names = [func] if isinstance(func, str) else func
        for name in names:
            if name not in known:
                raise InvalidArgumentError(
                    f"agg: unknown window aggregate: func={name!r}; expected "
                    f"{', '.join(map(repr, known))}"
                )
        if isinstance(func, str):
            return getattr(self, func)()
        if len(self._columns) != 1:
            raise InvalidArgumentError(
                f"agg: a list of aggregates needs a single column: columns={list(self._columns)}"
            )
        return new_frame({name: getattr(self, name)() for name in names})

    def count(self) -> Any:
        """Numbers of non-missing values; null if the window has too few rows.

        >>> import headrace as hr
        >>> hr.Series([1, 2, 4]).rolling(2).count().to_list()
        [None, 2, 2]
        """
        there = {
            n: series_of(node).notna().astype("int64")._node for n, node in self._columns.items()
        }
        return self._made("sum", columns=there)


def rolling_series(series: Series, window: int, min_periods: int | None, center: bool) -> Rolling:
    """Implement ``series.rolling(...)``."""
    nodes = {series.name or "value": series._node}

    def finish(made: dict[str, _core.Node]) -> Any:
        (node,) = made.values()
        return series._like(node)

    return Rolling(nodes, finish, window, min_periods, center)


def numbers_of(frame: Any, op: str) -> dict[str, _core.Node]:
    """The numeric non-label columns of a frame."""
    names = [name for name in frame._unlabelled() if frame[name].dtype.is_of(NUMBERS)]
    if not names:
        raise TypeMismatchError(f"{op}: no numeric column: columns={frame.columns}")
    return {name: frame._nodes[name] for name in names}


def rolling_frame(frame: Any, window: int, min_periods: int | None, center: bool) -> Rolling:
    """Implement ``frame.rolling(...)`` for each numeric column."""

    def finish(made: dict[str, _core.Node]) -> Any:
        labels = {name: node for name, node in frame._nodes.items() if name in frame._labels}
        return frame_of({**labels, **made}, frame._labels)

    return Rolling(numbers_of(frame, "rolling"), finish, window, min_periods, center)


def shift(series: Series, periods: int = 1, *, fill_value: Any = None) -> Series:
    """See `Series.shift`."""
    mark("shift")
    periods = whole_number("shift", "periods", periods)
    made: Series = series._like(_core.shift(series._node, periods))
    if fill_value is None or periods == 0:
        return made
    places = row_positions(type(series)._plain(series))
    there = places >= periods if periods > 0 else places < places.count() + periods
    return made.where(there, fill_value)


def diff(series: Series, periods: int = 1) -> Series:
    """See `Series.diff`."""
    change: Series = series - series.shift(periods)
    return change


def rank(
    series: Series,
    method: Literal["average", "min", "max", "first", "dense"] = "average",
    ascending: bool = True,
    *,
    pct: bool = False,
) -> Series:
    """See `Series.rank`."""
    mark("rank")
    made: Series = series._like(_core.rank(series._node, method, not ascending))
    if not pct:
        return made
    return made / (made.max() if method == "dense" else series.count())


def cumulate(series: Series, name: str) -> Series:
    """A cumulative function by name."""
    mark(name)
    if series._node.dtype == "bool" and name in ("cummin", "cummax"):
        return cumulate(series.astype("int8"), name).astype("bool")
    made: Series = series._like(_core.cumulative(name, series._node))
    return made
