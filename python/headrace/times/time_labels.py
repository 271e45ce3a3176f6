# SPDX-License-Identifier: Apache-2.0
"""Rows by the times that label them: times of day, ends, shifts and zones of labels."""

from __future__ import annotations

import datetime
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from headrace import _core
from headrace.errors import InvalidArgumentError, TypeMismatchError
from headrace.frame.columns import frame_of, framed, is_frame
from headrace.lazy.handle import mark
from headrace.reshape.alignment import rows_apart
from headrace.rows import whole_number
from headrace.series.column import labelled_series, new_series, series_of
from headrace.series.datetime import is_time
from headrace.times.offsets import offset_of

if TYPE_CHECKING:
    from headrace.series.series import Series


def times_of(op: str, frame: Any, on: str | None = None, level: Any = None) -> tuple[str, Series]:
    """The name and values of the times of rows: a column, or a label level."""
    labels = {name: series_of(node) for name, node in frame._labels.items()}
    name = on if on is not None else level
    if isinstance(name, int) and name < len(labels):
        name = list(labels)[name]
    if name is None:
        if len(labels) != 1:
            raise InvalidArgumentError(
                f"{op}: expected a single label level of times: labels={list(labels)}; "
                "pass on= with a column, or use set_index"
            )
        (name,) = labels
    times = frame[name] if on is not None else labels.get(name)
    if times is None:
        raise InvalidArgumentError(f"{op}: no such label level: level={name!r}")
    times = new_series(times._plain())
    if not is_time(times):
        raise TypeMismatchError(
            f"{op}: expected dates or timestamps: name={name!r}, dtype={str(times.dtype)!r}; "
            "use hr.to_datetime"
        )
    return name, times


def _seconds(op: str, value: Any) -> float:
    """Seconds from midnight of a time of day."""
    clock = value
    if isinstance(value, str):
        try:
            clock = datetime.time.fromisoformat(value.zfill(5))
        except ValueError:
            raise InvalidArgumentError(
                f"{op}: expected a time of day: time={value!r}; for example '09:30'"
            ) from None
    if not isinstance(clock, datetime.time):
        raise TypeMismatchError(f"{op}: expected a time of day: time={value!r}")
    return clock.hour * 3600 + clock.minute * 60 + clock.second + clock.microsecond / 1e6


def between_time(data: Any, start: Any, end: Any, inclusive: str = "both") -> Any:
    """See `DataFrame.between_time`."""
    mark("between_time")
    if inclusive not in ("both", "left", "right", "neither"):
        raise InvalidArgumentError(f"between_time: invalid value: inclusive={inclusive!r}")
    frame = data if is_frame(data) else framed(data)
    times_of("between_time", frame)
    (node,) = frame._labels.values()
    clock = series_of(node).dt
    seconds = clock.hour * 3600.0 + clock.minute * 60.0 + clock.second + clock.microsecond / 1e6
    first, last = (_seconds("between_time", each) for each in (start, end))
    after = seconds >= first if inclusive in ("both", "left") else seconds > first
    before = seconds <= last if inclusive in ("both", "right") else seconds < last
    picked = frame[(after & before) if first <= last else (after | before)]
    return picked if is_frame(data) else labelled_series(picked, data.name)


def truncate(data: Any, before: Any = None, after: Any = None) -> Any:
    """See `DataFrame.truncate`."""
    mark("truncate")
    return data.loc[before:after]


def with_labels(data: Any, op: str, change: Callable[[Series], Any]) -> Any:
    """The same rows with other times as labels."""
    mark(op)
    frame = data if is_frame(data) else framed(data)
    name, _ = times_of(op, frame)
    label: _core.Node = change(series_of(frame._labels[name]))._node
    made = frame_of(dict(frame._nodes), {name: label})
    return made if is_frame(data) else labelled_series(made, data.name)


def shift_labels(data: Any, periods: int, freq: Any) -> Any:
    """The same rows, labelled by times `periods` steps of `freq` later."""
    offset = offset_of("shift", freq) * whole_number("shift", "periods", periods)
    made = with_labels(data, "shift", lambda times: times + offset)
    frame = made if is_frame(made) else framed(made)
    columns, labels = (
        {name: series_of(node) for name, node in part.items()}
        for part in (frame._nodes, frame._labels)
    )
    apart = rows_apart(columns, labels)
    return apart if is_frame(made) else labelled_series(apart, made.name)
