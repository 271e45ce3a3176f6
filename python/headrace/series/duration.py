# SPDX-License-Identifier: Apache-2.0
"""Durations: their `Series.dt` accessor, and aggregates of times."""

from __future__ import annotations

import datetime
from typing import TYPE_CHECKING, Any

from headrace import _core
from headrace.dtypes import refuse_months
from headrace.errors import InvalidArgumentError, TypeMismatchError
from headrace.lazy.handle import Deferred

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


class DurationAccessor:
    """The components of each duration, as in Python's timedelta; null for null."""

    __slots__ = ("_series",)

    def __init__(self, series: Series) -> None:
        self._series = series

    def _field(self, name: str) -> Series:
        made: Series = self._series._like(_core.time_field(self._series._node, name))
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
        return self._field("days")

    @property
    def seconds(self) -> Series:
        """Seconds of the day, 0 to 86,399.

        >>> from datetime import timedelta
        >>> import headrace as hr
        >>> spans = hr.Series([timedelta(days=1, seconds=5, microseconds=7)])
        >>> spans.dt.seconds.to_list()
        [5]
        """
        return self._field("seconds")

    @property
    def microseconds(self) -> Series:
        """Microseconds of the second, 0 to 999,999.

        >>> from datetime import timedelta
        >>> import headrace as hr
        >>> spans = hr.Series([timedelta(days=1, seconds=5, microseconds=7)])
        >>> spans.dt.microseconds.to_list()
        [7]
        """
        return self._field("microseconds")

    @property
    def nanoseconds(self) -> Series:
        """Nanoseconds of the microsecond, 0 to 999.

        >>> from datetime import timedelta
        >>> import headrace as hr
        >>> spans = hr.Series([timedelta(days=1, seconds=5, microseconds=7)])
        >>> spans.dt.nanoseconds.to_list()
        [0]
        """
        return self._field("nanoseconds")

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
        from headrace.series.rounding import period

        made: Series = self._series._like(_core.round_times(op, self._series._node, period(freq)))
        return made

    def total_seconds(self) -> Series:
        """The duration in seconds, as float64.

        >>> import datetime
        >>> import headrace as hr
        >>> span = datetime.timedelta(minutes=2, milliseconds=500)
        >>> hr.Series([span]).dt.total_seconds().to_list()
        [120.5]
        """
        return self._field("total_seconds")


def level_of(q: Any) -> float:
    """A quantile as a number."""
    try:
        return float(q)
    except (TypeError, ValueError):
        raise TypeMismatchError(
            f"quantile: expected a number from 0 to 1, or a list of them: q={q!r}"
        ) from None
