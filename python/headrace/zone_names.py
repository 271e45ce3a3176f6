# SPDX-License-Identifier: Apache-2.0
"""Names of time zones, and of the dtypes with one."""

from __future__ import annotations

import datetime
import functools
import re
from typing import Any

from headrace.errors import InvalidArgumentError, TypeMismatchError

_FIXED = re.compile(r"(?:UTC)?([+-])(\d\d):?(\d\d)")


_ZONED = re.compile(r"datetime64\[(s|ms|us|ns), *(.+)\]")


def zone_in(dtype: str) -> str:
    """The zone in a dtype name; empty for naive times."""
    return dtype.partition(", ")[2].removesuffix("]") if dtype.startswith("datetime64") else ""


def zoned_word(word: str) -> str | None:
    """The engine's name of a zoned dtype whose zone is known here; None for others."""
    match = _ZONED.fullmatch(word)
    if not match:
        return None
    zone_of(match[2])
    return f"datetime64[{match[1]}, {match[2]}]"


@functools.cache
def zone_of(name: str) -> datetime.tzinfo:
    """The tzinfo of a zone name: from the tz database, or fixed such as ``+05:30``."""
    if name == "UTC":
        return datetime.UTC
    if fixed := _FIXED.fullmatch(name):
        size = datetime.timedelta(hours=int(fixed[2]), minutes=int(fixed[3]))
        if size < datetime.timedelta(days=1):
            return datetime.timezone(-size if fixed[1] == "-" else size, name)
    import zoneinfo

    try:
        return zoneinfo.ZoneInfo(name)
    except (zoneinfo.ZoneInfoNotFoundError, ValueError, OSError):
        raise InvalidArgumentError(
            f"time zone: not found in the system's tz database: zone={name!r}; use a name "
            "such as 'Europe/Berlin', 'UTC' or '+05:30' (if the system has no database: "
            "pip install tzdata)"
        ) from None


def name_of(zone: Any) -> str:
    """The name of a zone, given as a name or a ``tzinfo``."""
    if isinstance(zone, str):
        zone_of(zone)
        return zone
    if not isinstance(zone, datetime.tzinfo):
        raise TypeMismatchError(f"time zone: expected a name or a tzinfo: zone={zone!r}")
    name = getattr(zone, "key", None) or getattr(zone, "zone", None)  # zoneinfo, pytz
    if name:
        return str(name)
    offset = zone.utcoffset(None)
    if offset is None or offset % datetime.timedelta(minutes=1):
        raise TypeMismatchError(
            f"time zone: the tzinfo has no name: zone={zone!r}; use zoneinfo.ZoneInfo(name)"
        )
    minutes = offset // datetime.timedelta(minutes=1)
    if not minutes:
        return "UTC"
    return f"{'-' if minutes < 0 else '+'}{abs(minutes) // 60:02}:{abs(minutes) % 60:02}"
