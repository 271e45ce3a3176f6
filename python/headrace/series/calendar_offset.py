# SPDX-License-Identifier: Apache-2.0
"""Calendar offsets: pandas' DateOffset and dateutil's relativedelta, neither imported."""

from __future__ import annotations

from typing import Any

from headrace.errors import TypeMismatchError
from headrace.rows import whole_number

MONTHS = {"years": 12, "months": 1}
LENGTHS = {
    "weeks": 7 * 86_400 * 10**9,
    "days": 86_400 * 10**9,
    "hours": 3600 * 10**9,
    "minutes": 60 * 10**9,
    "seconds": 10**9,
    "milliseconds": 10**6,
    "microseconds": 10**3,
    "nanoseconds": 1,
}


def calendar_span(op: str, value: Any) -> tuple[int, int] | None:
    """The months and nanoseconds of a calendar offset; None for anything else."""
    library, kind = type(value).__module__.partition(".")[0], type(value).__name__
    times = 1
    if (library, kind) == ("dateutil", "relativedelta"):
        parts = {
            word: part
            for word, part in vars(value).items()
            if word[0] != "_" and part is not None and (part or word[-1] != "s")
        }
    elif library == "pandas" and hasattr(value, "kwds") and hasattr(value, "normalize"):
        times, parts = value.n, value.kwds or {"days": 1}
        if kind != "DateOffset" or value.normalize:
            parts = {kind: value}
    else:
        return None
    if unknown := [word for word in parts if word not in MONTHS and word not in LENGTHS]:
        raise TypeMismatchError(
            f"{op}: this offset cannot be added to a column of times: offset={value!r}, "
            f"unsupported={unknown[0]!r}; use a timedelta, pandas.DateOffset or "
            f"relativedelta of {', '.join([*MONTHS, *LENGTHS])}, or "
            "hr.offsets"
        )
    months = sum(whole_number(op, word, parts.get(word, 0)) * each for word, each in MONTHS.items())
    span = sum(round(parts.get(word, 0) * each) for word, each in LENGTHS.items())
    return times * months, times * span
