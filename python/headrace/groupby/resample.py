# SPDX-License-Identifier: Apache-2.0
"""Groups of rows by spans of time: `resample`, `asfreq`, `hr.Grouper`, `between_time`."""

from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from headrace.errors import InvalidArgumentError, TypeMismatchError
from headrace.facade import facade, is_probed, no_attribute
from headrace.frame.columns import framed, is_frame, new_frame
from headrace.lazy.handle import mark
from headrace.reshape.alignment import rows_apart, taken_or_missing
from headrace.rows import free_name
from headrace.series.column import labelled_series, new_series, series_of
from headrace.series.datetime import is_time
from headrace.times.ranges import Frequency, frequency, times_between
from headrace.times.scalars import Timestamp
from headrace.zone_names import zone_in

if TYPE_CHECKING:
    from headrace.groupby.groupby import GroupBy
    from headrace.series.series import Series


#: Aggregates of groups, and their value of a span without rows; null if not named here.
_AGGREGATES = (
    *("sum", "prod", "mean", "median", "var", "std", "sem", "skew", "quantile"),
    *("min", "max", "first", "last", "count", "size", "nunique"),
)
_OF_NOTHING = {"sum": 0, "prod": 1, "count": 0, "size": 0, "nunique": 0}


class Grouper:
    """A key of `groupby` made of spans of time; see `DataFrame.resample`.

    >>> import headrace as hr
    >>> df = hr.DataFrame({"t": hr.date_range("2024-01-31", periods=3), "x": [1, 2, 4]})
    >>> df.groupby(hr.Grouper(key="t", freq="ME")).x.sum().to_list()
    [1, 6]
    """

    __slots__ = ("closed", "freq", "key", "label", "level", "origin")

    def __init__(
        self,
        key: str | None = None,
        level: Any = None,
        freq: Any = None,
        *,
        closed: str | None = None,
        label: str | None = None,
        origin: Any = "start_day",
    ) -> None:
        self.key, self.level, self.freq = key, level, freq
        self.closed, self.label, self.origin = closed, label, origin

    def named_spans(self, frame: Any) -> tuple[str, Series]:
        """The name of the key and the span of each row."""
        name, times = times_of("groupby", frame, self.key, self.level)
        if self.freq is None:
            return name, times
        return name, spans("groupby", times, self.freq, self.closed, self.label, self.origin)


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
    if not is_time(times) or zone_in(times.dtype):
        raise TypeMismatchError(
            f"{op}: expected dates or timestamps without a zone: name={name!r}, "
            f"dtype={str(times.dtype)!r}; use hr.to_datetime, or dt.tz_localize(None)"
        )
    return name, times


def spans(
    op: str, times: Series, freq: Any, closed: str | None, label: str | None, origin: Any
) -> Series:
    """The name of the span that contains each time: its first or its last moment."""
    step = frequency(op, freq)
    for word, side in (("closed", closed), ("label", label)):
        if side not in (None, "left", "right"):
            raise InvalidArgumentError(
                f"{op}: invalid value: {word}={side!r}; expected 'left' or 'right'"
            )
    if not step.ticks:
        if step.multiple > 1 or (step.is_end and "left" in (closed, label)):
            raise InvalidArgumentError(
                f"{op}: not supported: freq={freq!r}, closed={closed!r}, label={label!r}; "
                "calendar spans come one at a time and are named by their start or end"
            )
        return _calendar_spans(times, step)
    whole = times.astype("datetime64[us]").astype("int64")
    start = _origin(op, times, origin)
    from_start = whole - start
    number = from_start // step.ticks
    if closed == "right":
        number = -((-from_start) // step.ticks) - 1
    if label == "right":
        number = number + 1
    found: Series = (number * step.ticks + start).astype("datetime64[us]")
    return found


def _calendar_spans(times: Series, step: Frequency) -> Series:
    """First days of months, quarters and years, or the last ones; last days of weeks; workdays."""
    days = times.astype("date")
    weekday = days.dt.day_of_week
    if step.unit == "W":
        found = days + ((step.weekday - weekday + 7) % 7).astype("int64") * _DAY
    elif step.unit == "B":
        found = days - (weekday - 4).clip(0, None).astype("int64") * _DAY
    else:
        found = days.dt.floor({1: "MS", 3: "QS", 12: "YS"}[step.months])
        found = found.dt.add_months(step.months) - _DAY if step.is_end else found
    made: Series = found.astype("datetime64[us]")
    return made


_DAY = datetime.timedelta(days=1)


def _origin(op: str, times: Series, origin: Any) -> int:
    """Microseconds from 1970 to the moment from which spans are counted."""
    import numpy as np

    if origin == "epoch":
        return 0
    if origin in ("start", "start_day"):
        first = times.min()
        if first is None:
            return 0
        moment = np.datetime64(first, "us")
        moment = moment.astype("datetime64[D]") if origin == "start_day" else moment
    elif isinstance(origin, str) and not origin[:1].isdigit():
        raise InvalidArgumentError(
            f"{op}: invalid value: origin={origin!r}; expected 'epoch', 'start', 'start_day' or "
            "a time"
        )
    else:
        moment = np.datetime64(Timestamp(origin), "us")
    return int(moment.astype("datetime64[us]").astype("int64"))


@facade("Resampler")
class Resampler:
    """Rows by spans of time, from `DataFrame.resample` or `Series.resample`.

    Aggregates give a row for each span from the first to the last, labelled by its start (by its
    end for weeks and for ends of months); a span without rows has null, 0 for sums and counts.
    """

    __slots__ = ("_freq", "_groups", "_times")

    def __init__(self, groups: GroupBy, freq: Any, times: Series) -> None:
        self._groups, self._freq, self._times = groups, freq, times

    def __getitem__(self, key: Any) -> Resampler:
        """The same spans of one or several columns."""
        return Resampler(self._groups[key], self._freq, self._times)

    def __getattr__(self, name: str) -> Any:
        if is_probed(name) or name in Resampler.__slots__:
            raise AttributeError(name)
        if name in self._groups._nodes:
            return self[name]
        if name in _AGGREGATES:
            method = getattr(self._groups, name)
            return lambda *args, **kwargs: self._of_all(method(*args, **kwargs), name)
        raise no_attribute(
            "resample has no column or aggregate", name, self._groups._nodes, Resampler
        )

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *_AGGREGATES, *self._groups._nodes]

    def _of_all(self, made: Any, aggregate: str = "") -> Any:
        """A result with a row for every span."""
        labels = made.index.to_numpy()
        if len(labels) == 0:
            return made
        every = times_between(labels[0], labels[-1], frequency("resample", self._freq))
        return made.reindex(new_series(every), fill_value=_OF_NOTHING.get(aggregate))

    def agg(self, spec: Any = None, **named: Any) -> Any:
        """Several aggregates; see `DataFrameGroupBy.agg`.

        >>> import headrace as hr
        >>> s = hr.Series([1, 2, 4], index=hr.date_range("2024-01-31", periods=3))
        >>> s.resample("MS").agg(["min", "max"]).to_dict()["max"]
        [1, 4]
        """
        made = self._of_all(self._groups.agg(spec, **named))
        if not is_frame(made):
            return made if spec not in _OF_NOTHING else made.fillna(_OF_NOTHING[spec])
        words: dict[str, Any] = {}
        for name in made._unlabelled():
            how = spec
            if named:
                how = named[name][1] if isinstance(named[name], tuple) else named[name]
            elif isinstance(spec, Mapping) and isinstance(spec.get(name), str):
                how = spec[name]
            elif not isinstance(spec, str):
                how = name.rpartition("_")[2]
            if isinstance(how, str) and how in _OF_NOTHING:
                words[name] = _OF_NOTHING[how]
        return made.fillna(words) if words else made

    aggregate = agg
    apply = agg

    def ohlc(self) -> Any:
        """First, greatest, least and last value of each span.

        >>> import headrace as hr
        >>> s = hr.Series([1, 5, 4], index=hr.date_range("2024-02-01", periods=3))
        >>> s.resample("MS").ohlc().high.to_list()
        [5]
        """
        names = {"open": "first", "high": "max", "low": "min", "close": "last"}
        (column,) = self._groups._nodes
        return self.agg(**{name: (column, how) for name, how in names.items()})

    def _at_names(self, side: str, fill_value: Any = None) -> Any:
        """The values at the names of the spans, or the nearest on one side."""
        import numpy as np

        names = self.size().index
        moments = self._times.to_numpy().astype("datetime64[us]")
        order = np.argsort(moments, kind="stable")
        wanted, known = names.to_numpy().astype("datetime64[us]"), moments[order]
        at = np.searchsorted(known, wanted, "right") - 1
        if side == "after":
            at = np.searchsorted(known, wanted, "left")
            at = np.where(at < len(known), at, -1)
        elif side == "exact":
            at = np.where(known[at.clip(0)] == wanted, at, -1)
        places = np.where(at >= 0, order[at.clip(0)], -1)
        keys = dict.fromkeys(name for name, _ in self._groups._keys)
        values = {n: v for n, v in self._groups._nodes.items() if n not in keys}
        columns = {n: taken_or_missing(v, places, fill_value) for n, v in values.items()}
        (key,) = keys
        made = rows_apart({key: names, **columns}).set_index(key)
        return labelled_series(made, *values) if self._groups._single else made

    def asfreq(self, fill_value: Any = None) -> Any:
        """The values at exactly the moments that name the spans, `fill_value` where there is none.

        >>> import headrace as hr
        >>> s = hr.Series([1, 2], index=hr.to_datetime(["2024-01-01", "2024-01-03"]))
        >>> s.resample("D").asfreq().to_list(), s.resample("D").ffill().to_list()
        ([1, None, 2], [1, 1, 2])
        """
        return self._at_names("exact", fill_value)

    def ffill(self) -> Any:
        """The last value up to the moment that names each span."""
        return self._at_names("before")

    def bfill(self) -> Any:
        """The first value from the moment that names each span."""
        return self._at_names("after")


def resample(
    data: Any,
    rule: Any,
    on: str | None = None,
    level: Any = None,
    closed: str | None = None,
    label: str | None = None,
    origin: Any = "start_day",
) -> Resampler:
    """See `DataFrame.resample`."""
    mark("resample")
    frame = data if is_frame(data) else framed(data)
    name, times = times_of("resample", frame, on, level)
    key = spans("resample", times, rule, closed, label, origin)
    values = {n: node for n, node in frame._nodes.items() if n not in {*frame._labels, on}}
    word = free_name("span", values)
    rows = new_frame({word: key})
    for each, node in values.items():
        rows[each] = new_series(series_of(node)._plain())
    groups = rows.rename({word: name} if name not in values else {}).groupby(
        name if name not in values else word
    )
    return Resampler(groups if is_frame(data) else groups[next(iter(values))], rule, times)


def asfreq(data: Any, freq: Any, fill_value: Any = None) -> Any:
    """See `DataFrame.asfreq`."""
    mark("asfreq")
    _, times = times_of("asfreq", data if is_frame(data) else framed(data))
    if len(times) == 0:
        return data
    first, last = (each.to_numpy()[0] for each in (times[:1], times[-1:]))
    first, last = (each.astype("datetime64[us]") for each in (first, last))
    every = times_between(first, last, frequency("asfreq", freq))
    return data.reindex(new_series(every), fill_value=fill_value)


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
