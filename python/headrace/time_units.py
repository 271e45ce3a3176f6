# SPDX-License-Identifier: Apache-2.0
"""Units of dates, times and durations, and timedeltas as nanoseconds."""

from __future__ import annotations

import datetime
from typing import Any

from headrace.dtypes import refuse_months
from headrace.errors import InvalidArgumentError

#: Units per second; a date counts days.
PER_SECOND = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}
UNITS = ("D", *PER_SECOND)
DAY = 86_400


def scale(unit: str, finer: str) -> int:
    """How many `finer` units make one `unit`."""
    if unit == "D":
        return 1 if finer == "D" else DAY * PER_SECOND[finer]
    return PER_SECOND[finer] // PER_SECOND[unit]


def coarsest(nanoseconds: int) -> str:
    """The coarsest unit in which this is an integer."""
    return next(u for u in UNITS if nanoseconds % scale(u, "ns") == 0)


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


def period(freq: Any) -> str | tuple[int, int]:
    """A period as the engine takes it: a string, or seconds and nanoseconds of a timedelta."""
    if is_span(freq):
        return divmod(span(freq), 10**9)
    return freq if isinstance(freq, str) else repr(freq)
