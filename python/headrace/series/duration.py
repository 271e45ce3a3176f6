# SPDX-License-Identifier: Apache-2.0
"""Durations: their `Series.dt` accessor, and aggregates of times."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from headrace import _core
from headrace.errors import TypeMismatchError
from headrace.facade import Field, facade
from headrace.frame.columns import frame_of
from headrace.lazy.handle import Deferred
from headrace.time_units import objects, period, unit_of

if TYPE_CHECKING:
    from headrace.frame.dataframe import DataFrame
    from headrace.series.series import Series


_EXAMPLE = """>>> from datetime import timedelta
>>> spans = hr.Series([timedelta(days=1, seconds=5, microseconds=7)])
>>> spans.dt.{name}.to_list()
"""


def is_duration(value: Any) -> bool:
    """A column of durations."""
    return isinstance(value, Deferred) and value._node.dtype.startswith("timedelta")


@facade("Series.dt")
class DurationAccessor:
    """The components of each duration, as in Python's timedelta; null for null."""

    __slots__ = ("_series",)

    def __init__(self, series: Series) -> None:
        self._series = series

    def _field(self, name: str) -> Series:
        return self._series._like(_core.time_field(self._series._node, name))

    days: Final = Field("Whole days, rounded down.", _EXAMPLE + "[1]")
    seconds: Final = Field("Seconds of the day, 0 to 86,399.", _EXAMPLE + "[5]")
    microseconds: Final = Field("Microseconds of the second, 0 to 999,999.", _EXAMPLE + "[7]")
    nanoseconds: Final = Field("Nanoseconds of the microsecond, 0 to 999.", _EXAMPLE + "[0]")

    def floor(self, freq: Any) -> Series:
        """Round down to a multiple of a period: ``"15min"``, ``"1h30min"`` or a timedelta.

        >>> import datetime
        >>> str(hr.Series([datetime.timedelta(minutes=50)]).dt.floor("15min").to_list()[0])
        '0:45:00'
        """
        return self._multiples("floor", freq)

    def ceil(self, freq: Any) -> Series:
        """Round up to a multiple of a period; see `floor`.

        >>> from datetime import timedelta
        >>> spans = hr.Series([timedelta(days=1, seconds=5, microseconds=7)])
        >>> spans.dt.ceil("s").to_list()
        [datetime.timedelta(days=1, seconds=6)]
        """
        return self._multiples("ceil", freq)

    def round(self, freq: Any) -> Series:
        """Round to the nearest multiple of a period, halves to even; see `floor`.

        >>> from datetime import timedelta
        >>> spans = hr.Series([timedelta(days=1, seconds=5, microseconds=7)])
        >>> spans.dt.round("s").to_list()
        [datetime.timedelta(days=1, seconds=5)]
        """
        return self._multiples("round", freq)

    def _multiples(self, op: str, freq: Any) -> Series:
        return self._series._like(_core.round_times(op, self._series._node, period(freq)))

    @property
    def unit(self) -> str:
        """The unit of the dtype."""
        return unit_of(str(self._series.dtype))

    def as_unit(self, unit: str) -> Series:
        """The same durations in another unit, rounded down."""
        return self._series.astype(f"timedelta64[{unit}]")

    def to_pytimedelta(self) -> Any:
        """A NumPy array of Python timedeltas; None for null."""
        return objects(self._series)

    @property
    def components(self) -> DataFrame:
        """Days, hours, minutes, seconds, milliseconds, microseconds and nanoseconds.

        >>> hr.Series([hr.Timedelta("1D 2h30min")]).dt.components.hours.to_list()
        [2]
        """
        seconds, micro = self.seconds, self.microseconds
        parts = {
            "days": self.days,
            "hours": seconds // 3600,
            "minutes": seconds // 60 % 60,
            "seconds": seconds % 60,
            "milliseconds": micro // 1000,
            "microseconds": micro % 1000,
            "nanoseconds": self.nanoseconds,
        }
        return frame_of({name: part._node for name, part in parts.items()})

    def total_seconds(self) -> Series:
        """The duration in seconds, as float64.

        >>> import datetime
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
