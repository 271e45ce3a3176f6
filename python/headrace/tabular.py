# SPDX-License-Identifier: Apache-2.0
"""`Tabular`: what frames and series have alike."""

from __future__ import annotations

import copy as copies
import operator
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Literal, Self, cast

from headrace.errors import InvalidArgumentError
from headrace.frame import arithmetic as frame_arithmetic
from headrace.frame import rows as frame_rows
from headrace.frame.arithmetic import along_rows, combine, map_columns, several_transformed
from headrace.frame.columns import is_frame
from headrace.frame.in_place import made_or_rebound
from headrace.frame.reductions import reduce_frame
from headrace.frame.reshape import sampled_rows, weights_of
from headrace.groupby import groupby as groups
from headrace.groupby import resample as resampling
from headrace.lazy.handle import mark
from headrace.operators import Binary, Operators
from headrace.reshape.alignment import align
from headrace.series import arithmetic, elementwise, window
from headrace.series import rows as series_rows
from headrace.series.reductions import reduce_series
from headrace.times import time_labels
from headrace.windows.span import WindowRows, rows_of_frame, rows_of_series
from headrace.windows.windowed import Windowed

if TYPE_CHECKING:
    import numpy as np

    from headrace.groupby.groupby import GroupBy
    from headrace.series.series import Series

Axis = int | str

#: The topics of frames, and those of series.
_ROWS: dict[bool, Any] = {True: frame_rows, False: series_rows}
_VALUES: dict[bool, Any] = {True: frame_arithmetic, False: elementwise}
_ARITHMETIC: dict[bool, Any] = {True: frame_arithmetic, False: arithmetic}


class Tabular(Windowed, Operators):
    """Methods of frames and series. Most treat each column of a frame by itself."""

    __slots__ = ()

    def _each(self, function: Callable[[Any], Any], axis: Axis | None = 0) -> Self:
        """What a function makes of the series, or of each column, or each row, of the frame."""
        if is_frame(self) and axis in (1, "columns"):
            return cast("Self", along_rows(self, function))
        if axis not in (0, "index", "rows", None):
            raise InvalidArgumentError(
                f"axis: expected 0, or 1 for a frame: axis={axis!r}; name the method: method=..."
            )
        return cast("Self", map_columns(self, function) if is_frame(self) else function(self))

    def _combined(
        self, name: str, function: Binary, other: Any, axis: Axis, fill_value: Any = None
    ) -> Self:
        """What an operator makes of the values and another operand."""

        def filled(series: Any, theirs: Any) -> Any:
            return arithmetic.combine(series, name, function, theirs, fill_value)

        if not is_frame(self):
            return cast("Self", filled(self, other))
        if fill_value is None:
            return cast("Self", combine(self, name, function, other, axis))
        frame, theirs = frame_arithmetic.over_all_labels(self, other)
        return cast("Self", combine(frame, name, filled, theirs, axis))

    def _reduced(
        self,
        kind: str,
        axis: Axis | None = 0,
        skipna: bool = True,
        numeric_only: bool = False,
        min_count: int = 0,
        bool_only: bool = False,
        **options: Any,
    ) -> Any:
        """A reduction of the series, or of each column or row of the frame."""
        if not is_frame(self):
            self._each(lambda series: series, axis)  # a series has one axis
            return reduce_series(cast("Series", self), kind, skipna, min_count, **options)
        frame = self.select_dtypes("bool") if bool_only else self
        if min_count:
            options["min_count"] = min_count
        return reduce_frame(frame, kind, axis, numeric_only, skipna, **options)

    def _window_rows(self, op: str, on: str | None = None) -> WindowRows:
        return rows_of_frame(self, op, on) if is_frame(self) else rows_of_series(self)

    # ---- other forms -----------------------------------------------------------------------------
    @property
    def empty(self) -> bool:
        """Whether there are no rows, or no columns.

        >>> hr.Series([3, 1, 4]).empty
        False
        """
        values: Any = self
        return bool(values.size == 0)

    @property
    def values(self) -> np.ndarray[Any, Any]:
        """The same as `to_numpy`.

        >>> hr.DataFrame({"x": [1, 2], "y": [3, 4]}).values
        array([[1, 3],
               [2, 4]])
        """
        values: Any = self
        return values.to_numpy()

    def copy(self, deep: bool = True) -> Self:
        """Another handle on the same immutable values; `deep` has no effect.

        >>> df = hr.DataFrame({"x": [1, 2]})
        >>> other = df.copy()
        >>> other["x"] = 0
        >>> df.x.to_list()
        [1, 2]
        """
        return copies.copy(self)

    def infer_objects(self, copy: bool = True) -> Self:
        """The same values: no column holds objects."""
        return self.copy()

    def pipe(self, function: Any, *args: Any, **kwargs: Any) -> Any:
        """``function(self, *args, **kwargs)``; a pair ``(function, name)`` passes it by keyword.

        >>> hr.DataFrame({"x": [1, 2]}).pipe(lambda df, n: df.x * n, 3).to_list()
        [3, 6]
        """
        if isinstance(function, tuple):
            function, word = function
            return function(*args, **{**kwargs, word: self})
        return function(self, *args, **kwargs)

    def to_torch(self) -> Any:
        """A PyTorch tensor on the memory of `to_array`; raises for nulls of a series."""
        values: Any = self
        return values.to_array().to_torch()

    # ---- groups and times ------------------------------------------------------------------------
    def groupby(
        self,
        by: Any = None,
        *,
        level: Any = None,
        as_index: bool = True,
        sort: bool = True,
        dropna: bool = True,
        order: bool = True,
        observed: bool = True,
        group_keys: bool = True,
    ) -> GroupBy:
        """Group the rows of a frame, or the values of a series, by key.

        Aggregates of a frame are frames with the keys as their first columns; those of a series, or
        of a single selected column, are series labelled by the keys.

        Parameters
        ----------
        by : str, Series or list of these
            Column names, or series and expressions over rows of this frame.
        level : int, str or list of these, optional
            Label levels by position or name, instead of `by`.
        as_index : bool
            Whether the keys become labels; if not, an aggregate of one column is a frame too. A
            series has no other columns: True.
        sort : bool
            Sort groups by key; else keep them in order of first appearance.
        dropna : bool
            Drop rows with null or NaN in a key; else null and NaN are keys, at the end.
        order : bool
            False with ``sort=False``: groups in the cheapest order, the same in each run.
        observed : bool
            False adds groups for categories, and combinations with them, that do not occur; their
            keys are evaluated.
        group_keys : bool
            Whether rows that a function of `apply` returns are labelled by their keys.

        >>> df = hr.DataFrame({"id": ["b", "a", "b"], "x": [1.0, 2.0, 3.0]})
        >>> df.groupby("id").x.mean().to_dict()
        {'a': 2.0, 'b': 2.0}
        >>> df.x.groupby(df.id).sum().to_dict()
        {'a': 2.0, 'b': 4.0}
        """
        words = {"level": level, "as_index": as_index, "sort": sort, "dropna": dropna}
        more = {"order": order, "observed": observed, "group_keys": group_keys}
        return groups.groupby(self, by, **words, **more)  # type: ignore[arg-type]

    def resample(
        self,
        rule: Any,
        *,
        on: str | None = None,
        level: Any = None,
        closed: Literal["left", "right"] | None = None,
        label: Literal["left", "right"] | None = None,
        origin: Any = "start_day",
        offset: Any = None,
    ) -> resampling.Resampler:
        """Group the rows by spans of time; aggregates give a row for each span, empty ones too.

        Parameters
        ----------
        rule : str or timedelta
            The spans: ``"D"``, ``"h"``, ``"15min"``, ``"W"``, ``"MS"`` (months named by their first
            day), ``"ME"`` (by their last), ...; see `hr.date_range`.
        on : str, optional
            A column of times; the row labels by default.
        level : int or str, optional
            The label level of the times.
        closed, label : {"left", "right"}, optional
            The end that belongs to a span, and the end that names it: left, but right for weeks
            and for ends of months, quarters and years.
        origin : {"start_day", "start", "epoch", "end", "end_day"} or time
            From where spans of fixed length are counted.
        offset : str or timedelta, optional
            Added to `origin`.

        >>> df = hr.DataFrame({"t": hr.date_range("2024-01-31", periods=3), "x": [1, 2, 4]})
        >>> df.resample("MS", on="t").x.sum().to_list(), df.set_index("t").x.resample("MS").max()[0]
        ([1, 6], 1)
        """
        return resampling.resample(self, rule, on, level, closed, label, origin, offset)

    def asfreq(self, freq: Any, method: str | None = None, *, fill_value: Any = None) -> Self:
        """The rows at regular times from the first to the last label; missing ones are null.

        `method`: "ffill" for the last row before, "bfill" for the next one.

        >>> s = hr.Series([1, 2], index=hr.to_datetime(["2024-01-01", "2024-01-03"]))
        >>> s.asfreq("D").to_list()
        [1, None, 2]
        """
        return resampling.asfreq(self, freq, fill_value, method)

    def at_time(self, time: Any) -> Self:
        """The rows whose label is at a time of day, such as ``"09:30"``."""
        return self.between_time(time, time)

    def between_time(self, start_time: Any, end_time: Any, inclusive: str = "both") -> Self:
        """The rows whose label is between two times of day, across midnight if these are reversed.

        >>> df = hr.DataFrame({"x": [1, 2, 3]}, index=hr.date_range("2024-01-01", None, 3, "8h"))
        >>> df.between_time("07:00", "16:00").x.to_list()
        [2, 3]
        """
        return time_labels.between_time(self, start_time, end_time, inclusive)

    def truncate(self, before: Any = None, after: Any = None) -> Self:
        """The rows whose labels are not before and not after; see `loc`."""
        return time_labels.truncate(self, before, after)

    def tz_localize(self, tz: Any, ambiguous: Any = "raise", nonexistent: Any = "raise") -> Self:
        """The rows with labels read as local times of a zone; see `Series.dt.tz_localize`.

        >>> s = hr.Series([1, 2], index=hr.date_range("2024-01-31", periods=2))
        >>> s.tz_localize("UTC").tz_convert("Asia/Tokyo").index.dt.hour.to_list()
        [9, 9]
        """
        words = (tz, ambiguous, nonexistent)
        return time_labels.with_labels(self, "tz_localize", lambda t: t.dt.tz_localize(*words))

    def tz_convert(self, tz: Any) -> Self:
        """The rows with labels in another zone; see `Series.dt.tz_convert`."""
        return time_labels.with_labels(self, "tz_convert", lambda t: t.dt.tz_convert(tz))

    def align(self, other: Any, join: str = "outer") -> tuple[Any, Any]:
        """Give two frames or series, this one and another, the same labels.

        Parameters
        ----------
        join : {"outer", "inner", "left", "right"}
            All labels in sorted order, the common ones, or those of one side.

        >>> a, b = hr.Series({"x": 1, "y": 2}), hr.Series({"y": 3, "z": 4})
        >>> [side.to_list() for side in a.align(b)]
        [[1, 2, None], [None, 3, 4]]
        """
        return align(self, other, join)

    # ---- rows ------------------------------------------------------------------------------------
    def head(self, n: int = 5) -> Self:
        """The first `n` rows, computed from no more than these where the plan allows it.

        All but the last ``-n`` if `n` is negative, as in pandas.

        >>> hr.DataFrame({"x": [1, 2, 2], "y": [0.5, None, 2.5]}).head(2).x.to_list()
        [1, 2]
        """
        return _ROWS[is_frame(self)].head(self, n)

    def tail(self, n: int = 5) -> Self:
        """The last `n` rows; all but the first ``-n`` if `n` is negative.

        >>> hr.DataFrame({"x": [1, 2, 2], "y": [0.5, None, 2.5]}).tail(1).to_dict()
        {'x': [2], 'y': [2.5]}
        """
        return _ROWS[is_frame(self)].tail(self, n)

    def take(self, indices: Any, axis: Axis = 0) -> Self:
        """The rows, or with ``axis=1`` the columns, at these positions: the same as `iloc`.

        >>> hr.Series([3.0, None, 1.0]).take([2, 0]).to_list()
        [1.0, 3.0]
        """
        values: Any = self
        columns = axis in (1, "columns") and is_frame(self)
        return values.iloc[:, indices] if columns else values.iloc[indices]

    def sample(
        self,
        n: int | None = None,
        *,
        frac: float | None = None,
        replace: bool = False,
        weights: Any = None,
        random_state: Any = None,
        axis: Axis = 0,
        ignore_index: bool = False,
    ) -> Self:
        """A random sample of rows: `n` of them (default 1), or the share `frac` of all.

        With an integer `random_state` the rows are those that pandas draws. `weights`, a column or
        values, are how likely each row is; missing ones are 0. With ``axis=1`` columns are drawn.

        >>> hr.DataFrame({"a": [1, 2, 3, 4]}).sample(n=2, random_state=0).a.to_list()
        [3, 4]
        """
        mark("sample")
        values: Any = self
        words = n, frac, replace, random_state, weights_of(values, weights)
        if axis in (1, "columns") and is_frame(values):
            names = values.columns
            made: Any = values[[names[at] for at in sampled_rows(len(names), *words)]]
        else:
            made = values[sampled_rows(len(values), *words)]
            made = made.reset_index(drop=True) if ignore_index else made
        return cast("Self", made)

    # ---- rows relative to others -----------------------------------------------------------------
    def shift(
        self, periods: int = 1, freq: Any = None, axis: Axis = 0, *, fill_value: Any = None
    ) -> Self:
        """Shift rows down by `periods`; vacated rows become null, or `fill_value`.

        With `freq` rows stay, and their time labels move by `periods` of it; else labels stay.

        >>> hr.Series([1, 2, 3]).shift().to_list(), hr.Series([1, 2]).shift(fill_value=0).to_list()
        ([None, 1, 2], [0, 1])
        """
        if freq is not None:
            return time_labels.shift_labels(self, periods, freq)
        return self._each(lambda column: window.shift(column, periods, fill_value=fill_value), axis)

    def diff(self, periods: int = 1, axis: Axis = 0) -> Self:
        """Difference to the value `periods` rows, or columns, before; null where there is none.

        >>> hr.Series([1, 4, 9]).diff().to_list()
        [None, 3, 5]
        """
        return self._each(lambda column: window.diff(column, periods), axis)

    def pct_change(self, periods: int = 1, axis: Axis = 0) -> Self:
        """Each value relative to the one `periods` rows before: ``s / s.shift() - 1``.

        >>> hr.Series([4.0, 5.0]).pct_change().to_list()
        [None, 0.25]
        """
        return self._each(lambda column: arithmetic.pct_change(column, periods), axis)

    def cumsum(self, axis: Axis = 0) -> Self:
        """Cumulative sums; missing values are kept and skipped.

        >>> hr.Series([1, None, 3]).cumsum().to_list()
        [1, None, 4]
        """
        return self._each(lambda column: window.cumulate(column, "cumsum"), axis)

    def cumprod(self, axis: Axis = 0) -> Self:
        """Cumulative products; missing values are kept and skipped.

        >>> hr.Series([2, 3, 4]).cumprod().to_list()
        [2, 6, 24]
        """
        return self._each(lambda column: window.cumulate(column, "cumprod"), axis)

    def cummin(self, axis: Axis = 0) -> Self:
        """Cumulative minima; missing values are kept and skipped.

        >>> hr.Series([3, 1, 2]).cummin().to_list()
        [3, 1, 1]
        """
        return self._each(lambda column: window.cumulate(column, "cummin"), axis)

    def cummax(self, axis: Axis = 0) -> Self:
        """Cumulative maxima; missing values are kept and skipped.

        >>> hr.Series([1, 3, 2]).cummax().to_list()
        [1, 3, 3]
        """
        return self._each(lambda column: window.cumulate(column, "cummax"), axis)

    # ---- missing values --------------------------------------------------------------------------
    def isna(self) -> Self:
        """True where a value is null or NaN.

        >>> hr.Series([1.0, None, float("nan")]).isna().to_list()
        [False, True, True]
        """
        if is_frame(self):
            return cast("Self", frame_rows.is_missing_columns(self))
        return self._each(elementwise.isna)

    def notna(self) -> Self:
        """False where a value is null or NaN.

        >>> hr.Series([1.0, None, float("nan")]).notna().to_list()
        [True, False, False]
        """
        return ~self.isna()

    def isnull(self) -> Self:
        """The same as `isna`."""
        return self.isna()

    def notnull(self) -> Self:
        """The same as `notna`."""
        return self.notna()

    def ffill(
        self,
        *,
        axis: Axis | None = 0,
        inplace: bool = False,
        limit: int | None = None,
        limit_area: Literal["inside", "outside"] | None = None,
    ) -> Self:
        """Replace null and NaN by the last valid value before them.

        `limit`: the most in a row; `limit_area`: only between valid values, or only outside.

        >>> s = hr.Series([None, 1.0, None, 3.0, None])
        >>> s.ffill().to_list(), s.bfill().to_list()
        ([None, 1.0, 1.0, 3.0, 3.0], [1.0, 1.0, 3.0, 3.0, None])
        """
        made = self._each(lambda column: elementwise.ffill(column, limit, limit_area), axis)
        return made_or_rebound(self, made, inplace)

    def bfill(
        self,
        *,
        axis: Axis | None = 0,
        inplace: bool = False,
        limit: int | None = None,
        limit_area: Literal["inside", "outside"] | None = None,
    ) -> Self:
        """Replace null and NaN by the next valid value after them; see `ffill`.

        >>> hr.Series([None, 2, None, 5]).bfill().to_list()
        [2, 2, 5, 5]
        """
        made = self._each(lambda column: elementwise.bfill(column, limit, limit_area), axis)
        return made_or_rebound(self, made, inplace)

    # ---- element-wise ----------------------------------------------------------------------------
    def convert_dtypes(self) -> Self:
        """Floats that are whole become integers, and NaN null; evaluates.

        >>> hr.Series([1.0, float("nan")]).convert_dtypes().to_list()
        [1, None]
        """
        return self._each(elementwise.convert_dtypes)

    def isin(self, values: Any) -> Self:
        """True where the value is in `values`: a list, a series, an array, or a list by column.

        Never null: null matches a null in `values`, and NaN a NaN.

        >>> hr.Series(["a", "b", None]).isin(["b", "c"]).to_list()
        [False, True, False]
        """
        return _VALUES[is_frame(self)].isin(self, values)

    def where(self, condition: Any, other: Any = None, *, inplace: bool = False) -> Self:
        """The values where `condition` is true, else `other` (null if it is not given).

        The condition is a boolean frame or series; null in it is false. Both may be functions of
        the values.

        >>> df = hr.DataFrame({"a": [1, -2], "b": [-3, 4]})
        >>> df.where(df > 0, 0).to_dict()
        {'a': [1, 0], 'b': [0, 4]}
        """
        made: Self = _VALUES[is_frame(self)].where(self, condition, other)
        return made_or_rebound(self, made, inplace)

    def mask(self, condition: Any, other: Any = None, *, inplace: bool = False) -> Self:
        """The values where `condition` is false, else `other`; see `where`.

        >>> s = hr.Series([3.0, None, 1.0])
        >>> s.mask(s > 2, 0.0).to_list()
        [0.0, None, 1.0]
        """
        made: Self = _VALUES[is_frame(self)].mask(self, condition, other)
        return made_or_rebound(self, made, inplace)

    def clip(
        self, lower: Any = None, upper: Any = None, *, axis: Axis | None = 1, inplace: bool = False
    ) -> Self:
        """Limit values to [`lower`, `upper`].

        Bounds are scalars, series or frames of the same rows, reductions of frames or mappings by
        column; series for the rows of a frame with ``axis=0``. A missing bound does not limit.

        >>> hr.Series([3.0, None, 1.0]).clip(upper=2).to_list()
        [2.0, None, 1.0]
        """
        made: Self = _VALUES[is_frame(self)].clip(self, lower, upper, axis=axis)
        return made_or_rebound(self, made, inplace)

    def replace(
        self, to_replace: Any, value: Any = None, *, inplace: bool = False, regex: bool = False
    ) -> Self:
        """Replace values equal to `to_replace` by `value`; None matches null and NaN matches NaN.

        A list replaces each of its values (by the value at the same position if `value` is a list
        too), a mapping each of its keys, a mapping of mappings per column. All are matched against
        the original values. With `regex`, matches within strings become `value`. Columns of another
        kind are skipped. A `value` that the dtype cannot hold raises if any value matches, which is
        evaluated to find out.

        >>> s = hr.Series(["a", "b", "c"])
        >>> s.replace(["a", "b"], "x").to_list(), s.replace({"a": "b", "b": "a"}).to_list()
        (['x', 'x', 'c'], ['b', 'a', 'c'])
        """
        made: Self = _VALUES[is_frame(self)].replace(self, to_replace, value, regex=regex)
        return made_or_rebound(self, made, inplace)

    def combine_first(self, other: Any) -> Self:
        """Fill null and NaN from `other`.

        >>> hr.Series([1.0, None]).combine_first(hr.Series([5.0, 6.0])).to_list()
        [1.0, 6.0]
        """
        return _ARITHMETIC[is_frame(self)].combine_first(self, other)

    def equals(self, other: Any) -> bool:
        """Whether both have the same names of columns, dtypes and values; evaluates.

        Null equals null, and NaN equals NaN.

        >>> df = hr.DataFrame({"x": [1, 2, 2], "y": [0.5, None, 2.5]})
        >>> df.equals(df.head(3)), df.equals(df.head(2))
        (True, False)
        """
        return _ARITHMETIC[is_frame(self)].equals(self, other)

    def transform(self, func: Any) -> Any:
        """What a function, by itself or by name, makes of the values: of the same rows.

        >>> hr.Series([1.0, 4.0]).transform("sqrt").to_list()
        [1.0, 2.0]
        """
        if isinstance(func, list) and is_frame(self):
            return several_transformed(self, func)
        return self._each(lambda column: elementwise.transform(column, func))

    def interpolate(
        self,
        method: str = "linear",
        *,
        axis: Axis | None = 0,
        limit: int | None = None,
        inplace: bool = False,
        limit_direction: Literal["forward", "backward", "both"] | None = None,
        limit_area: Literal["inside", "outside"] | None = None,
    ) -> Self:
        """Fill missing values by straight lines between their neighbours.

        Parameters
        ----------
        method : {"linear", "time", "index", "values", "nearest"}
            Whether rows are equal steps, or as far apart as their labels, times or numbers.
        limit : int, optional
            The most values to fill in a row.
        limit_direction : {"forward", "backward", "both"}
            Forward, after the last value it is repeated; backward, before the first.
        limit_area : {"inside", "outside"}, optional
            Fill only between values, or only outside of them.

        >>> hr.Series([None, 1.0, None, None, 4.0, None]).interpolate().to_list()
        [None, 1.0, 2.0, 3.0, 4.0, 4.0]
        """
        words = (method, limit, limit_direction, limit_area)
        fill = elementwise.interpolate_numbers if is_frame(self) else elementwise.interpolate
        return made_or_rebound(self, self._each(lambda column: fill(column, *words), axis), inplace)

    def rank(
        self,
        axis: Axis = 0,
        method: Literal["average", "min", "max", "first", "dense"] = "average",
        numeric_only: bool = False,
        na_option: Literal["keep", "top", "bottom"] = "keep",
        ascending: bool = True,
        pct: bool = False,
    ) -> Self:
        """Rank the values, of a frame those of each column, from 1.

        Parameters
        ----------
        axis : {0, 1}
            With 1 ranks within each row of a small frame.
        method : {"average", "min", "max", "first", "dense"}
            Rank of equal values: the mean, lowest or highest rank, row order, or the number of
            distinct values up to it.
        numeric_only : bool
            Only the columns of numbers and bools; a series of other values raises.
        na_option : {"keep", "top", "bottom"}
            Missing values get null, or rank before or after all others.
        ascending : bool
            Whether the smallest value has rank 1.
        pct : bool
            Ranks as shares of the last rank.

        >>> hr.Series([3.0, 1.0, 3.0]).rank().to_list()
        [2.5, 1.0, 2.5]
        """
        values: Any = self
        if numeric_only and is_frame(self):
            values, numeric_only = self[self._names_of("biuf")], False
        words = (numeric_only, method, na_option, ascending, pct)
        return values._each(lambda column: window.rank(column, *words), axis)

    # ---- operators as methods --------------------------------------------------------------------

    def add(self, other: Any, axis: Axis = "columns", *, fill_value: Any = None) -> Self:
        """Sums.

        Parameters
        ----------
        other : value, Series, DataFrame or mapping
            Frames and reductions are matched to columns by name.
        axis : {"columns", 0}
            With 0 a series is combined with each column, row by row.
        fill_value : optional
            In place of a value that is missing on one side; rows, and columns of frames, are then
            matched by label.

        >>> hr.DataFrame({"x": [7, None]}).add(2, fill_value=0).to_dict()
        {'x': [9, 2]}
        """
        return self._combined("add", operator.add, other, axis, fill_value)

    def sub(self, other: Any, axis: Axis = "columns", *, fill_value: Any = None) -> Self:
        """Differences; see `add`.

        >>> hr.Series([7, 9]).sub(2).to_list()
        [5, 7]
        """
        return self._combined("sub", operator.sub, other, axis, fill_value)

    def mul(self, other: Any, axis: Axis = "columns", *, fill_value: Any = None) -> Self:
        """Products; see `add`.

        >>> hr.Series([7, 9]).mul(2).to_list()
        [14, 18]
        """
        return self._combined("mul", operator.mul, other, axis, fill_value)

    def div(self, other: Any, axis: Axis = "columns", *, fill_value: Any = None) -> Self:
        """Quotients; see `add`.

        >>> hr.Series([7, 9]).div(2).to_list()
        [3.5, 4.5]
        """
        return self._combined("div", operator.truediv, other, axis, fill_value)

    def floordiv(self, other: Any, axis: Axis = "columns", *, fill_value: Any = None) -> Self:
        """Floor division; see `add`.

        >>> hr.Series([7, 9]).floordiv(2).to_list()
        [3, 4]
        """
        return self._combined("floordiv", operator.floordiv, other, axis, fill_value)

    def mod(self, other: Any, axis: Axis = "columns", *, fill_value: Any = None) -> Self:
        """Remainders; see `add`.

        >>> hr.Series([7, 9]).mod(2).to_list()
        [1, 1]
        """
        return self._combined("mod", operator.mod, other, axis, fill_value)

    def pow(self, other: Any, axis: Axis = "columns", *, fill_value: Any = None) -> Self:
        """Powers; see `add`.

        >>> hr.Series([7, 9]).pow(2).to_list()
        [49, 81]
        """
        return self._combined("pow", operator.pow, other, axis, fill_value)

    def eq(self, other: Any, axis: Axis = "columns", *, fill_value: Any = None) -> Self:
        """True where the values are equal; see `add`.

        >>> hr.Series([7, 9]).eq(2).to_list()
        [False, False]
        """
        return self._combined("eq", operator.eq, other, axis, fill_value)

    def ne(self, other: Any, axis: Axis = "columns", *, fill_value: Any = None) -> Self:
        """True where the values differ; see `add`.

        >>> hr.Series([7, 9]).ne(2).to_list()
        [True, True]
        """
        return self._combined("ne", operator.ne, other, axis, fill_value)

    def lt(self, other: Any, axis: Axis = "columns", *, fill_value: Any = None) -> Self:
        """True where the values are smaller; see `add`.

        >>> hr.Series([7, 9]).lt(2).to_list()
        [False, False]
        """
        return self._combined("lt", operator.lt, other, axis, fill_value)

    def le(self, other: Any, axis: Axis = "columns", *, fill_value: Any = None) -> Self:
        """True where the values are smaller or equal; see `add`.

        >>> hr.Series([7, 9]).le(2).to_list()
        [False, False]
        """
        return self._combined("le", operator.le, other, axis, fill_value)

    def gt(self, other: Any, axis: Axis = "columns", *, fill_value: Any = None) -> Self:
        """True where the values are greater; see `add`.

        >>> hr.Series([7, 9]).gt(2).to_list()
        [True, True]
        """
        return self._combined("gt", operator.gt, other, axis, fill_value)

    def ge(self, other: Any, axis: Axis = "columns", *, fill_value: Any = None) -> Self:
        """True where the values are greater or equal; see `add`.

        >>> hr.Series([7, 9]).ge(2).to_list()
        [True, True]
        """
        return self._combined("ge", operator.ge, other, axis, fill_value)

    subtract = sub
    multiply = mul
    divide = div
    truediv = div

    # ---- reductions ------------------------------------------------------------------------------
    def sum(
        self,
        axis: Axis | None = 0,
        skipna: bool = True,
        numeric_only: bool = False,
        min_count: int = 0,
    ) -> Any:
        """Sum of the non-missing values; 0 for none, NaN for fewer than `min_count`.

        Of a frame one for each column, with ``axis=1`` for each row. NaN with ``skipna=False`` if a
        value is missing, as in the other reductions. Durations give a timedelta, None instead of
        NaN.

        >>> hr.Series([2, None, 5]).sum().item()
        7
        >>> hr.DataFrame({"x": [1, 2, 6], "y": [1.5, None, 2.5]}).sum().to_dict()
        {'x': 9.0, 'y': 4.0}
        """
        return self._reduced("sum", axis, skipna, numeric_only, min_count=min_count)

    def prod(
        self,
        axis: Axis | None = 0,
        skipna: bool = True,
        numeric_only: bool = False,
        min_count: int = 0,
    ) -> Any:
        """Product of the non-missing values; 1 for none, NaN for fewer than `min_count`.

        Decimals give float64.

        >>> hr.Series([2, None, 5]).prod().item()
        10
        """
        return self._reduced("prod", axis, skipna, numeric_only, min_count=min_count)

    product = prod

    def mean(self, axis: Axis | None = 0, skipna: bool = True, numeric_only: bool = False) -> Any:
        """Mean of the non-missing values; NaN for none. Times give a time, as in `min`.

        >>> hr.Series([2, None, 5]).mean().item()
        3.5
        """
        return self._reduced("mean", axis, skipna, numeric_only)

    def median(self, axis: Axis | None = 0, skipna: bool = True, numeric_only: bool = False) -> Any:
        """Median of the non-missing values.

        >>> hr.Series([2, None, 5]).median().item()
        3.5
        """
        return self._reduced("median", axis, skipna, numeric_only)

    def var(
        self, axis: Axis | None = 0, skipna: bool = True, ddof: int = 1, numeric_only: bool = False
    ) -> Any:
        """Variance, with divisor ``n - ddof``.

        >>> hr.Series([2, 4, 6]).var().item()
        4.0
        """
        return self._reduced("var", axis, skipna, numeric_only, ddof=ddof)

    def std(
        self, axis: Axis | None = 0, skipna: bool = True, ddof: int = 1, numeric_only: bool = False
    ) -> Any:
        """Standard deviation, with divisor ``n - ddof``.

        >>> hr.Series([2, 4, 6]).std().item()
        2.0
        """
        return self._reduced("std", axis, skipna, numeric_only, ddof=ddof)

    def sem(
        self, axis: Axis | None = 0, skipna: bool = True, ddof: int = 1, numeric_only: bool = False
    ) -> Any:
        """Standard error of the mean: standard deviation over the root of the count.

        >>> hr.Series([1, 3, 5, 7, 9]).sem().round(6).item()
        1.414214
        """
        return self._reduced("sem", axis, skipna, numeric_only, ddof=ddof)

    def skew(self, axis: Axis | None = 0, skipna: bool = True, numeric_only: bool = False) -> Any:
        """Sample skewness; NaN for fewer than three values or equal ones.

        G1 of Joanes and Gill (1998), from moments of blocks around their means, merged by Pébay's
        formulas (2008).

        >>> round(hr.Series([1, 2, 5, 9]).skew().item(), 6)
        0.888584
        """
        return self._reduced("skew", axis, skipna, numeric_only)

    def kurt(self, axis: Axis | None = 0, skipna: bool = True, numeric_only: bool = False) -> Any:
        """Excess kurtosis of a sample (G2, see `skew`); NaN for fewer than four or equal values.

        >>> round(hr.Series([1, 2, 5, 9]).kurt().item(), 6)
        -0.581894
        """
        return self._reduced("kurt", axis, skipna, numeric_only)

    kurtosis = kurt

    def min(self, axis: Axis | None = 0, skipna: bool = True, numeric_only: bool = False) -> Any:
        """Smallest non-missing value; NaN for none.

        Numbers give a lazy one-element array. Dates, times and strings give a Python value
        (`numpy.datetime64` for nanoseconds), None if there is none, evaluated immediately.

        >>> import datetime
        >>> hr.Series(["b", None, "a"]).min(), hr.Series([datetime.date(2024, 2, 29)]).max()
        ('a', datetime.date(2024, 2, 29))
        """
        return self._reduced("min", axis, skipna, numeric_only)

    def max(self, axis: Axis | None = 0, skipna: bool = True, numeric_only: bool = False) -> Any:
        """Largest non-missing value; see `min`.

        >>> hr.Series([2, None, 5]).max().item()
        5
        """
        return self._reduced("max", axis, skipna, numeric_only)

    def any(self, axis: Axis | None = 0, bool_only: bool = False, skipna: bool = True) -> Any:
        """Whether any value is true (nonzero); missing ones are with ``skipna=False``.

        >>> hr.DataFrame({"x": [0, 2], "y": [0, 0]}).any().to_dict()
        {'x': True, 'y': False}
        """
        return self._reduced("any", axis, skipna, bool_only=bool_only)

    def all(self, axis: Axis | None = 0, bool_only: bool = False, skipna: bool = True) -> Any:
        """Whether all values are true (nonzero); missing ones are with ``skipna=False``.

        >>> hr.DataFrame({"x": [0, 2], "y": [1, 1]}).all().to_dict()
        {'x': False, 'y': True}
        """
        return self._reduced("all", axis, skipna, bool_only=bool_only)

    def idxmin(self, axis: Axis = 0, *, numeric_only: bool = False) -> Any:
        """Label of the first smallest value, or its position; of rows the name of its column.

        >>> df = hr.DataFrame({"id": ["a", "b"], "x": [2, 1]})
        >>> df.x.idxmin().item(), df.set_index("id").x.idxmin()
        (1, 'b')
        """
        return self._reduced("idxmin", axis, numeric_only=numeric_only)

    def idxmax(self, axis: Axis = 0, *, numeric_only: bool = False) -> Any:
        """Label of the first largest value, or its position; of rows the name of its column.

        >>> hr.DataFrame({"x": [1, 2, 6], "y": [1.5, None, 2.5]}).idxmax().to_dict()
        {'x': 2, 'y': 2}
        """
        return self._reduced("idxmax", axis, numeric_only=numeric_only)
