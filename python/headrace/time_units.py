# SPDX-License-Identifier: Apache-2.0
"""Units of dates, times and durations, and timedeltas as nanoseconds."""

from __future__ import annotations

import datetime
import re
from fractions import Fraction
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


def unit_of(dtype: str) -> str:
    """The unit of a dtype of times or durations."""
    return "D" if dtype == "date" else dtype.partition("[")[2].rstrip("]").partition(",")[0]


def objects(series: Any) -> Any:
    """Python values in a NumPy array."""
    import numpy as np

    values = series.to_list()
    made = np.empty(len(values), dtype=object)
    made[:] = values
    return made


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


#: Nanoseconds of what pandas calls units of time.
LENGTHS = {
    **dict.fromkeys(("W", "w", "weeks", "week"), 7 * DAY * 10**9),
    **dict.fromkeys(("D", "d", "days", "day"), DAY * 10**9),
    **dict.fromkeys(("h", "H", "hours", "hour", "hr"), 3600 * 10**9),
    **dict.fromkeys(("min", "T", "m", "minutes", "minute"), 60 * 10**9),
    **dict.fromkeys(("s", "S", "sec", "seconds", "second"), 10**9),
    **dict.fromkeys(("ms", "L", "milliseconds", "millisecond", "millis", "milli"), 10**6),
    **dict.fromkeys(("us", "U", "µs", "microseconds", "microsecond", "micros", "micro"), 10**3),
    **dict.fromkeys(("ns", "N", "nanoseconds", "nanosecond", "nanos", "nano"), 1),
}


def nanoseconds_of(text: str) -> int | None:
    """Nanoseconds in a string: ``"1D 2h"``, ``"1h30min"``, ``"-0.5 days"``; None for others.

    A unit may be alone: ``"D"`` is one day.
    """
    sign, rest = (-1, text.strip()[1:]) if text.strip()[:1] == "-" else (1, text.strip())
    parts = re.findall(r"\s*(\d*\.?\d*)\s*([A-Za-zµ]+)\s*(?:,|and)?", rest)
    whole = "".join(re.split(r"\s|,|\band\b", rest))
    known = all(unit in LENGTHS for _, unit in parts)
    if not parts or not known or whole != "".join(number + unit for number, unit in parts):
        return None
    return sign * int(sum(Fraction(number or 1) * LENGTHS[unit] for number, unit in parts))


def is_length(value: Any) -> bool:
    """A timedelta, or an offset of pandas or ours."""
    return is_span(value) or hasattr(value, "normalize")


def length_of(op: str, value: Any) -> int:
    """Nanoseconds of a fixed length of time: ``"7D"``, a timedelta, `hr.offsets.Hour`."""
    found: int | None = None
    if isinstance(value, str):
        found = nanoseconds_of(value)
    elif is_span(value):
        found = span(value)
    elif type(value).__name__ == "Day":
        found = value.n * DAY * 10**9
    else:
        try:
            found = value.nanos
        except (AttributeError, ValueError):
            found = None
    if found is None:
        raise InvalidArgumentError(
            f"{op}: expected a fixed length of time: value={value!r}; for example '7D', '2h' or "
            "'90s' (months and years have no fixed length)"
        )
    return found


def period(freq: Any) -> str | tuple[int, int]:
    """A period as the engine takes it: a string, or seconds and nanoseconds of a timedelta."""
    if is_span(freq):
        return divmod(span(freq), 10**9)
    return freq if isinstance(freq, str) else repr(freq)
