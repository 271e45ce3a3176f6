# SPDX-License-Identifier: Apache-2.0
"""Durations: their `Series.dt` accessor, and aggregates of times."""

from __future__ import annotations

import datetime
import math
from typing import TYPE_CHECKING, Any

from headrace import _core
from headrace.dtypes import refuse_months
from headrace.errors import InvalidArgumentError, TypeMismatchError
from headrace.lazy.handle import Deferred, mark
from headrace.series.column import new_series, series_of

if TYPE_CHECKING:
    from headrace.series.series import Series

#: Units per second; a date counts days.
PER_SECOND = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}
UNITS = ("D", *PER_SECOND)
DAY = 86_400


def unit_of(dtype: str) -> str:
    """The unit that a dtype of dates, times or durations counts."""
    return "D" if dtype == "date" else dtype.partition("[")[2].removesuffix("]").partition(",")[0]


def scale(unit: str, finer: str) -> int:
    """How many `finer` units make one `unit`."""
    if unit == "D":
        return 1 if finer == "D" else DAY * PER_SECOND[finer]
    return PER_SECOND[finer] // PER_SECOND[unit]


def coarsest(nanoseconds: int) -> str:
    """The coarsest unit in which this is an integer."""
    return next(u for u in UNITS if nanoseconds % scale(u, "ns") == 0)


def is_duration(value: Any) -> bool:
    """A column of durations."""
    return isinstance(value, Deferred) and value._node.dtype.startswith("timedelta")


def is_span(value: Any) -> bool:
    """A timedelta of Python, pandas or NumPy."""
    import numpy as np

    return isinstance(value, datetime.timedelta | np.timedelta64)


def span(value: Any) -> int:
    """Nanoseconds of a timedelta."""
    if isinstance(value, datetime.timedelta):
        micro = (value.days * DAY + value.seconds) * 10**6 + value.microseconds
        return micro * 1000 + int(getattr(value, "nanoseconds", 0))
    import numpy as np

    refuse_months(value, "timedelta")
    if np.isnat(value):
        raise InvalidArgumentError(
            f"timedelta: NaT has no length: value={value!r}; use isna to find missing "
            "values, where to set them"
        )
    return int(value.astype("timedelta64[ns]").astype("int64"))


def counts(column: Deferred, unit: str, clamp: bool = False) -> Any:
    """The integers of a column in its own unit or a finer one.

    A value that does not fit raises with its row, or with `clamp` becomes the largest integer.
    """
    dtype = column._node.dtype
    if unit_of(dtype) != unit:
        return series_of(_core.rescale_unit(column._node, f"timedelta64[{unit}]", clamp))
    return series_of(_core.retype(column._node, _storage(dtype))).astype("int64")


def of_counts(whole: Any, dtype: str) -> _core.Node:
    """Integers as dates, times or durations."""
    return _core.retype(whole.astype(_storage(dtype))._node, dtype)


def _storage(dtype: str) -> str:
    return "int32" if dtype == "date" else "int64"


class DurationAccessor:
    """The components of each duration, as in Python's timedelta; null for null."""

    __slots__ = ("_series", "_unit")

    def __init__(self, series: Series) -> None:
        self._series = series
        self._unit = unit_of(series._node.dtype)

    def _part(self, step: str, count: int) -> Series:
        mark("dt")
        whole = counts(self._series, self._unit)
        if UNITS.index(step) > UNITS.index(self._unit):
            whole = whole * scale(self._unit, step)
        else:
            whole = whole // scale(step, self._unit)
        made: Series = self._series._like((whole % count if count else whole)._node)
        return made

    @property
    def days(self) -> Series:
        """Whole days, rounded down.

        >>> from datetime import timedelta
        >>> import headrace as hr
        >>> spans = hr.Series([timedelta(days=1, seconds=5, microseconds=7)])
        >>> spans.dt.days.to_list()
        [1]
        """
        return self._part("D", 0)

    @property
    def seconds(self) -> Series:
        """Seconds of the day, 0 to 86,399.

        >>> from datetime import timedelta
        >>> import headrace as hr
        >>> spans = hr.Series([timedelta(days=1, seconds=5, microseconds=7)])
        >>> spans.dt.seconds.to_list()
        [5]
        """
        return self._part("s", DAY)

    @property
    def microseconds(self) -> Series:
        """Microseconds of the second, 0 to 999,999.

        >>> from datetime import timedelta
        >>> import headrace as hr
        >>> spans = hr.Series([timedelta(days=1, seconds=5, microseconds=7)])
        >>> spans.dt.microseconds.to_list()
        [7]
        """
        return self._part("us", 10**6)

    @property
    def nanoseconds(self) -> Series:
        """Nanoseconds of the microsecond, 0 to 999.

        >>> from datetime import timedelta
        >>> import headrace as hr
        >>> spans = hr.Series([timedelta(days=1, seconds=5, microseconds=7)])
        >>> spans.dt.nanoseconds.to_list()
        [0]
        """
        return self._part("ns", 1000)

    def floor(self, freq: Any) -> Series:
        """Round down to a multiple of a period: ``"15min"``, ``"1h30min"`` or a timedelta.

        >>> import datetime
        >>> import headrace as hr
        >>> str(hr.Series([datetime.timedelta(minutes=50)]).dt.floor("15min").to_list()[0])
        '0:45:00'
        """
        return self._multiples("floor", freq)

    def ceil(self, freq: Any) -> Series:
        """Round up to a multiple of a period; see `floor`.

        >>> from datetime import timedelta
        >>> import headrace as hr
        >>> spans = hr.Series([timedelta(days=1, seconds=5, microseconds=7)])
        >>> spans.dt.ceil("s").to_list()
        [datetime.timedelta(days=1, seconds=6)]
        """
        return self._multiples("ceil", freq)

    def round(self, freq: Any) -> Series:
        """Round to the nearest multiple of a period, halves to even; see `floor`.

        >>> from datetime import timedelta
        >>> import headrace as hr
        >>> spans = hr.Series([timedelta(days=1, seconds=5, microseconds=7)])
        >>> spans.dt.round("s").to_list()
        [datetime.timedelta(days=1, seconds=5)]
        """
        return self._multiples("round", freq)

    def _multiples(self, op: str, freq: Any) -> Series:
        from headrace.series.rounding import multiples, step_of

        mark("dt")
        whole = counts(self._series, self._unit)
        found = multiples(op, whole, self._unit, step_of(op, freq))
        made: Series = self._series._like(of_counts(found, self._series._node.dtype))
        return made

    def total_seconds(self) -> Series:
        """The duration in seconds, as float64.

        >>> import datetime
        >>> import headrace as hr
        >>> span = datetime.timedelta(minutes=2, milliseconds=500)
        >>> hr.Series([span]).dt.total_seconds().to_list()
        [120.5]
        """
        mark("dt")
        made: Series = self._series._like(
            (counts(self._series, self._unit) / PER_SECOND[self._unit])._node
        )
        return made


#: Aggregates that interpolate, and so go through floats.
BETWEEN = ("mean", "median", "quantile")


def from_base(whole: Any) -> tuple[Any, Any]:
    """Counts relative to about the smallest one, which floats hold more exactly, and that base.

    The base is 0 if the counts are too far apart.
    """
    floats = whole.astype("float64")
    least = floats.min()
    near = (floats.max() - least) < 2.0**62
    base = least._elementwise("where", near, least, 0.0).astype("int64")
    return whole - base, base


def whole_units(numbers: Any, base: Any, dtype: str) -> _core.Node:
    """Floats relative to a base as times or durations, truncated as in pandas."""
    below = numbers._elementwise("floor", numbers)
    whole = below.astype("int64") + base
    whole = whole + ((whole < 0) & (numbers > below)).astype("int64")
    return of_counts(whole, dtype)


def deviation_of(dtype: str) -> str:
    """The dtype of the standard deviation of times or durations."""
    return f"timedelta64[{'s' if dtype == 'date' else unit_of(dtype)}]"


def counts_for(kind: str, series: Deferred) -> tuple[str, Any, Any]:
    """Result dtype, integer input and base of an aggregate of times or durations."""
    own = series._node.dtype
    dtype = deviation_of(own) if kind == "std" else own
    whole = counts(series, unit_of(dtype))
    return dtype, *(from_base(whole) if kind in BETWEEN else (whole, 0))


def aggregate(series: Deferred, kind: str, **options: Any) -> Any:
    """An aggregate of dates, times or durations, evaluated; None if there is no value."""
    mark(kind)
    dtype, whole, base = counts_for(kind, series)
    if not whole.count().item() and kind != "sum":
        return None
    found = getattr(whole, kind)(**options).item()
    if math.isnan(found):
        return None
    number = new_series([found])
    if isinstance(found, int):
        return new_series(of_counts(number + base, dtype)).to_list()[0]
    return new_series(whole_units(number, base, dtype)).to_list()[0]


def level_of(q: Any) -> float:
    """A quantile as a number."""
    try:
        return float(q)
    except (TypeError, ValueError):
        raise TypeMismatchError(
            f"quantile: expected a number from 0 to 1, or a list of them: q={q!r}"
        ) from None


def quantile(series: Deferred, q: float | list[float], interpolation: str) -> Any:
    """Quantiles of dates, times or durations: a value, or a series for a list of them."""

    def one(level: Any) -> Any:
        return aggregate(series, "quantile", q=level_of(level), interpolation=interpolation)

    if isinstance(q, list):
        return new_series([one(each) for each in q], dtype=series._node.dtype)
    return one(q)
