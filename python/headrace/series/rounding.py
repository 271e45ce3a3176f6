# SPDX-License-Identifier: Apache-2.0
"""Periods of `dt.floor`, `dt.ceil` and `dt.round`."""

from __future__ import annotations

from typing import Any

from headrace.series.duration import is_span, span


def period(freq: Any) -> str | tuple[int, int]:
    """A period as the engine takes it: a string, or seconds and nanoseconds of a timedelta."""
    if is_span(freq):
        return divmod(span(freq), 10**9)
    return freq if isinstance(freq, str) else repr(freq)
