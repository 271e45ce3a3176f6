# SPDX-License-Identifier: Apache-2.0
"""Names of periods, ``"2024-02"``, as the times that they begin and end with."""

from __future__ import annotations

import datetime
import re
from typing import TYPE_CHECKING, Any

from headrace.series.parse_times import first_text, to_datetime

if TYPE_CHECKING:
    from headrace.series.series import Series

#: What names look like, their pattern, and the length of a period.
_NAMES = {
    "Y": (r"\d{4}", "%Y", 12),
    "Q": (r"\d{4}Q[1-4]", "", 3),
    "M": (r"\d{4}-\d{2}", "%Y-%m", 1),
    "W": (r"\d{4}-\d{2}-\d{2}/\d{4}-\d{2}-\d{2}", "%Y-%m-%d", 0),
}


def period_of(series: Any) -> str | None:
    """The period that the first string names: ``"Y"``, ``"Q"``, ``"M"`` or ``"W"``."""
    if not series.dtype.is_of("U") or (text := first_text(series)) is None:
        return None
    return next((freq for freq, name in _NAMES.items() if re.fullmatch(name[0], text)), None)


class PeriodAccessor:
    """The times of names of periods, from `dt.to_period`; other fields are those of their start.

    >>> months = hr.to_datetime(["2024-02-29", "2023-12-31"]).dt.to_period("M")
    >>> [str(day) for day in months.dt.to_timestamp().to_list()], months.dt.month.to_list()
    (['2024-02-01 00:00:00', '2023-12-01 00:00:00'], [2, 12])
    """

    __slots__ = ("_freq", "_series")

    def __init__(self, series: Series, freq: str) -> None:
        self._series, self._freq = series, freq

    @property
    def freq(self) -> str:
        """The length of the periods: ``"Y"``, ``"Q"``, ``"M"`` or ``"W"``."""
        return self._freq

    @property
    def start_time(self) -> Series:
        """The first moment of each period."""
        names, pattern = self._series, _NAMES[self._freq][1]
        if self._freq == "Q":
            for quarter, month in zip("1234", ("01", "04", "07", "10"), strict=True):
                names = names.str.replace(f"Q{quarter}", f"-{month}", regex=False)
            pattern = "%Y-%m"
        names = names.str[:10]  # of a week, its first day
        return to_datetime(names, format=pattern, dtype="datetime64[us]")

    @property
    def end_time(self) -> Series:
        """The last microsecond of each period."""
        start = self.start_time
        after = start.dt.add_months(_NAMES[self._freq][2])
        after = start + datetime.timedelta(days=7) if self._freq == "W" else after
        return after - datetime.timedelta(microseconds=1)

    def to_timestamp(self, freq: Any = None, how: str = "start") -> Series:
        """The first moment of each period, or the last one with ``how="end"``."""
        return self.end_time if how.lower() in ("e", "end") else self.start_time

    def __getattr__(self, name: str) -> Any:
        return getattr(self.start_time.dt, name)
