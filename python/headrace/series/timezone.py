# SPDX-License-Identifier: Apache-2.0
"""Time zones: names, and the transition rules passed from zoneinfo to the engine."""

from __future__ import annotations

import datetime
import functools
import itertools
from typing import Any

from headrace import _core
from headrace.errors import InvalidArgumentError
from headrace.series.column import is_series, new_series, series_of
from headrace.zone_names import zone_in, zone_of

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


def localized(times: Any, zone: str, ambiguous: Any, nonexistent: Any) -> _core.Node:
    """The node of the instants of local times in the zone."""
    dtype = f"{times._node.dtype.removesuffix(']')}, {zone}]"
    know_zone(dtype)

    def node(ambiguous: str, nonexistent: str) -> _core.Node:
        return _core.localize(times._node, dtype, ambiguous, nonexistent)

    if not isinstance(nonexistent, str):
        there = new_series(node("earliest", "NaT")).notna()
        times = times.where(there, (times + nonexistent).astype(times._node.dtype))
        nonexistent = "raise"
    if isinstance(ambiguous, str) and ambiguous != "infer":
        return node(ambiguous, nonexistent)
    if isinstance(ambiguous, bool):  # as in pandas: whether it is summer time
        return node("earliest" if ambiguous else "latest", nonexistent)
    first, last = (new_series(node(word, nonexistent)) for word in ("earliest", "latest"))
    summer = _inferred(first, last) if isinstance(ambiguous, str) else ambiguous
    if not is_series(summer):
        summer = series_of(_core.in_domain(new_series(summer)._node, first._node.domain))
    chosen = first.where(summer, last)
    return chosen._node


def _inferred(first: Any, last: Any) -> Any:
    """Whether each ambiguous time is the first of both; evaluates the rows.

    Within a run times increase, so a step back starts the second occurrences.
    """
    import numpy as np

    summer = np.ones(len(first), bool)
    twice = np.flatnonzero((first != last).fill_null(False).to_numpy())
    runs = np.split(twice, np.flatnonzero(np.diff(twice) != 1) + 1) if twice.size else []
    counts = first.astype("int64").fill_null(0).to_numpy()
    for run in runs:
        back = np.flatnonzero(np.diff(counts[run]) <= 0)
        if len(back) != 1:
            raise InvalidArgumentError(
                "tz_localize: ambiguous times cannot be inferred from their order: "
                f"row={run[0]}, rows={len(run)}, steps_back={len(back)}; pass "
                "ambiguous='earliest', 'latest', 'NaT' or a series of bools"
            )
        summer[run[back[0] + 1 :]] = False
    return summer


class ClockText(str):
    """The display form of a zoned time; never truncated."""

    __slots__ = ()


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
    for time, span in zip(local.to_list(), spans, strict=True):
        if time is None:
            made.append(None)
            continue
        seconds = (
            int(span / type(span)(1, "s")) if hasattr(span, "astype") else span.total_seconds()
        )
        minutes = round(abs(seconds) / 60)
        sign = "-" if seconds < 0 else "+"
        offset = f"{sign}{minutes // 60:02}:{minutes % 60:02}"
        made.append(ClockText(f"{time}{offset}".replace("T", " ")))
    return made
