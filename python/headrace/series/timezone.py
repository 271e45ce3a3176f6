# SPDX-License-Identifier: Apache-2.0
"""Time zones: names, and the transition rules passed from zoneinfo to the engine."""

from __future__ import annotations

import datetime
import functools
import itertools
from typing import Any

from headrace import _core
from headrace.display.cells import ClockText
from headrace.errors import InvalidArgumentError
from headrace.rows import refuse_apart
from headrace.series.column import is_series, new_series
from headrace.time_units import is_span, span
from headrace.zone_names import name_of, zone_in, zone_of

_EPOCH = datetime.datetime(1970, 1, 1, tzinfo=datetime.UTC)
_DAY = 86_400


def _rules(zone: datetime.tzinfo) -> tuple[list[int], list[int]]:
    """The seconds at which the zone's offset changes, until 2500, and the offsets.

    zoneinfo gives offsets, not transitions. Between two days with different offsets the second is
    found by bisection; no zone in the tz database changes twice within three days. After 2100 only
    yearly rules remain.
    """

    def offset(second: int) -> int:
        moment = datetime.datetime.fromtimestamp(second, zone)
        return int(moment.utcoffset().total_seconds())  # type: ignore[union-attr]

    years = [
        int((datetime.datetime(year, 1, 1, tzinfo=datetime.UTC) - _EPOCH).total_seconds())
        for year in (1840, 2100, 2500)
    ]
    days = itertools.chain(
        range(years[0], years[1], 3 * _DAY), range(years[1], years[2] + 6 * _DAY, 6 * _DAY)
    )
    begin = years[0]
    changes: list[int] = []
    offsets = [offset(begin)]
    if isinstance(zone, datetime.timezone):
        return changes, offsets
    for end in days:
        if (found := offset(end)) != offsets[-1]:
            before, after = begin, end
            while after - before > 1:
                middle = (before + after) // 2
                if offset(middle) == offsets[-1]:
                    before = middle
                else:
                    after = middle
            changes.append(after)
            offsets.append(found)
        begin = end
    return changes, offsets


@functools.cache
def _know(zone: str) -> None:
    _core.set_timezone_rules(f"datetime64[s, {zone}]", *_rules(zone_of(zone)))


def know_zone(dtype: str) -> None:
    """Pass the rules of a dtype's zone to the engine, if it has one."""
    if zone := zone_in(dtype):
        _know(zone)


def known_name(zone: Any) -> str:
    """The name of a zone whose rules the engine has from now on; empty for None."""
    if zone is None:
        return ""
    name = name_of(zone)
    _know(name)
    return name


def localize_words(node: _core.Node, ambiguous: Any, nonexistent: Any) -> tuple[Any, Any]:
    """How to read ambiguous and skipped local times of a column, as the engine takes it."""
    if isinstance(ambiguous, bool):  # as in pandas: whether it is summer time
        ambiguous = "earliest" if ambiguous else "latest"
    elif is_series(ambiguous):
        refuse_apart("where", [node, ambiguous._node])
        ambiguous = ambiguous._node
    elif not isinstance(ambiguous, str):
        ambiguous = _core.in_domain(new_series(ambiguous)._node, node.domain)
    span_given = is_span(nonexistent)
    return ambiguous, divmod(span(nonexistent), 10**9) if span_given else str(nonexistent)


def clock_texts(series: Any) -> list[ClockText | None]:
    """Display forms of zoned times; in UTC if the zone is unknown here."""
    utc = series._like(_core.retype(series._node, f"{series.dtype.partition(',')[0]}]"))
    try:
        local = series.dt.tz_localize(None)
    except InvalidArgumentError:
        return [
            None if time is None else ClockText(f"{time}Z".replace("T", " "))
            for time in utc.to_list()
        ]
    spans = (local - utc).to_list()
    made: list[ClockText | None] = []
    for time, ahead in zip(local.to_list(), spans, strict=True):
        if time is None:
            made.append(None)
            continue
        seconds = (
            int(ahead / type(ahead)(1, "s")) if hasattr(ahead, "astype") else ahead.total_seconds()
        )
        minutes = round(abs(seconds) / 60)
        sign = "-" if seconds < 0 else "+"
        offset = f"{sign}{minutes // 60:02}:{minutes % 60:02}"
        made.append(ClockText(f"{time}{offset}".replace("T", " ")))
    return made
