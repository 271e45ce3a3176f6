# SPDX-License-Identifier: Apache-2.0
"""Rounding of times and durations: `dt.floor`, `dt.ceil`, `dt.round`."""

from __future__ import annotations

import re
from typing import Any

from headrace.errors import InvalidArgumentError
from headrace.series.duration import DAY, is_span, scale, span

#: Nanoseconds per unit of a period.
STEPS = {
    "D": DAY * 10**9,
    "h": 3600 * 10**9,
    "min": 60 * 10**9,
    "s": 10**9,
    "ms": 10**6,
    "us": 10**3,
    "ns": 1,
}
_PART = re.compile(r" *(\d*) *(D|h|min|s|ms|us|ns)(?![a-z])")


def step_of(op: str, freq: Any, also: tuple[str, ...] = ()) -> int:
    """Nanoseconds of a period: "15min", "1h30min", a timedelta."""
    step = span(freq) if is_span(freq) else 0
    text = freq if isinstance(freq, str) else ""
    while part := _PART.match(text):
        step += int(part[1] or 1) * STEPS[part[2]]
        text = text[part.end() :]
    if step <= 0 or text:
        raise InvalidArgumentError(
            f"{op}: invalid period: freq={freq!r}; expected a timedelta, or a number with "
            f"one of {', '.join(STEPS)}, as "
            f"'15min'{', or ' + ', '.join(also) if also else ''}"
        )
    return step


def multiples(op: str, whole: Any, unit: str, step: int) -> Any:
    """Round counts of a unit to multiples of `step` nanoseconds: down, up, or to the nearest.

    Halves go to even multiples. Returns the counts themselves if each is a multiple.
    """
    own = scale(unit, "ns")
    if own % step == 0:
        return whole
    if step % own:
        raise InvalidArgumentError(
            f"{op}: the period is not a multiple of the dtype's unit: period={step} ns, "
            f"unit={unit!r}; use astype with a finer unit first"
        )
    by = step // own
    rest = whole % by
    below = whole - rest
    if op == "floor":
        return below
    if op == "ceil":
        return below + (rest > 0).astype("int64") * by
    odd = (below // by) % 2 == 1
    return below + ((rest > by - rest) | ((rest == by - rest) & odd)).astype("int64") * by
