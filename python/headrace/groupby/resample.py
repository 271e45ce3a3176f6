# SPDX-License-Identifier: Apache-2.0
"""Groups of rows by spans of time: `resample`, `asfreq`, `hr.Grouper`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from headrace import _core
from headrace.errors import InvalidArgumentError, TypeMismatchError
from headrace.facade import is_probed, no_attribute
from headrace.frame.columns import frame_of, framed, is_frame
from headrace.lazy.advice import group_by_group
from headrace.lazy.handle import mark
from headrace.reshape.alignment import neighbours, rows_apart, side_of, taken_or_missing
from headrace.rows import Unnamed, given
from headrace.series.column import labelled_series, new_series, series_of
from headrace.times.ranges import frequency, times_between
from headrace.times.scalars import Timestamp
from headrace.times.spans import Spans, spans
from headrace.times.time_labels import times_of

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

    >>> df = hr.DataFrame({"t": hr.date_range("2024-01-31", periods=3), "x": [1, 2, 4]})
    >>> df.groupby(hr.Grouper(key="t", freq="ME")).x.sum().to_list()
    [1, 6]
    """

    __slots__ = ("closed", "freq", "key", "label", "level", "offset", "origin")

    def __init__(
        self,
        key: str | None = None,
        level: Any = None,
        freq: Any = None,
        *,
        closed: str | None = None,
        label: str | None = None,
        origin: Any = "start_day",
        offset: Any = None,
    ) -> None:
        self.key: str | None = key
        self.level: Any = level
        self.freq: Any = freq
        self.closed: str | None = closed
        self.label: str | None = label
        self.origin: Any = origin
        self.offset: Any = offset

    def named_spans(self, frame: Any) -> tuple[str, Series]:
        """The name of the key and the span of each row."""
        name, times = times_of("groupby", frame, self.key, self.level)
        if self.freq is None:
            return name, times
        words = (self.closed, self.label, self.origin, self.offset)
        found = spans("groupby", times, self.freq, *words)
        return name, found.zoned(found.key)


class Resampler:
    """Rows by spans of time, from `resample` of frames, series and groups.

    Aggregates give a row for each span from the first to the last, labelled by its start (by its
    end for weeks and for ends of months); a span without rows has null, 0 for sums and counts.
    """

    __slots__ = ("_frame", "_groups", "_name", "_spans", "_times")

    def __init__(self, frame: Any, groups: GroupBy, name: str, found: Spans, times: Series) -> None:
        self._frame, self._groups, self._times = frame, groups, times
        self._name, self._spans = name, found

    def __getitem__(self, key: Any) -> Resampler:
        """The same spans of one or several columns."""
        if not isinstance(key, str | list):
            raise TypeMismatchError(f"resample: expected names of columns: key={key!r}")
        return Resampler(self._frame, self._groups[key], self._name, self._spans, self._times)

    def __getattr__(self, name: str) -> Any:
        if is_probed(name) or name in Resampler.__slots__:
            raise AttributeError(name)
        if name in _AGGREGATES:
            method = getattr(self._groups, name)
            return lambda *args, **kwargs: self._of_all(method(*args, **kwargs), name)
        if name in self._groups._nodes:
            return self[name]
        raise no_attribute(
            "resample has no column or aggregate", name, self._groups._nodes, Resampler
        )

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *_AGGREGATES, *self._groups._nodes]

    def __iter__(self) -> Iterator[tuple[Timestamp, Any]]:
        """The name and the rows of each span, in Python: slow."""
        if len(self._groups._keys) > 1:
            raise InvalidArgumentError("resample: iterate over spans or over groups")
        group_by_group("resample", "use aggregates by name")
        sizes = self._of_all(self._groups.size(), "size")
        order = _in_order(self._times)[1]
        names = [name for name in self._groups._nodes if name not in dict(self._groups._keys)]
        rows: Any = self._frame
        if self._groups._single:
            rows = self._groups._shown(frame_of({names[0]: rows._nodes[names[0]]}, rows._labels))
        rows, begin = rows.iloc[order.tolist()], 0
        for name, size in zip(sizes.index.to_list(), sizes.to_list(), strict=True):
            yield Timestamp(name), rows.iloc[begin : begin + size]
            begin += size

    def __len__(self) -> int:
        return len(self.size())

    def quantile(self, q: float = 0.5, interpolation: str = "linear") -> Any:
        """A quantile of each span."""
        if not isinstance(q, int | float):
            raise TypeMismatchError(f"quantile: expected a number: q={q!r}; one call for each")
        return self._of_all(self._groups.quantile(q, interpolation))

    def pipe(self, func: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        """The function of these spans."""
        return func(self, *args, **kwargs)

    def _of_all(self, made: Any, aggregate: str = "") -> Any:
        """A result with a row for every span, in the zone of the times."""
        fill = _OF_NOTHING.get(aggregate)
        if len(made) == 0:
            return made
        if len(self._groups._keys) > 1:
            return self._of_all_by_group(made, fill)
        labels = made.index.to_numpy()
        every = new_series(self._spans.every(labels[0], labels[-1]))
        return self._in_zone(made.reindex(every, fill_value=fill))

    def _in_zone(self, made: Any) -> Any:
        if self._spans.zoned is None:
            return made
        frame = made if is_frame(made) else framed(made)
        label = self._spans.zoned(series_of(list(frame._labels.values())[-1]))._node
        shown = frame_of(frame._nodes, {**frame._labels, self._name: label})
        return shown if is_frame(made) else labelled_series(shown, made.name)

    def _of_all_by_group(self, made: Any, fill: Any) -> Any:
        """The same where each group has the spans from its own first to its last."""
        import numpy as np

        frame = made if is_frame(made) else framed(made)
        *keys, span = frame._labels
        labels = series_of(frame._labels[span]).to_numpy()
        every = frame_of(frame._with_labels())
        places = np.flatnonzero((~every.duplicated(keys)).to_numpy())
        ends = [*places[1:], len(labels)]
        spans_of = [
            self._spans.every(labels[first], labels[end - 1])
            for first, end in zip(places, ends, strict=True)
        ]
        rows = np.repeat(places, [len(each) for each in spans_of])
        target = {key: series_of(frame._labels[key]).take(rows) for key in keys}
        target[span] = new_series(np.concatenate(spans_of))
        full = rows_apart({n: new_series(c._plain()) for n, c in target.items()})
        names = list(frame._nodes)
        found = full.merge(every, on=[*keys, span], how="left")
        if fill is not None:
            found = found.fillna(dict.fromkeys(names, fill))
        found = found.set_index([*keys, span])
        return self._in_zone(found if is_frame(made) else labelled_series(found, made.name))

    def agg(self, spec: Any = None, **named: Any) -> Any:
        """Several aggregates; see `DataFrameGroupBy.agg`.

        >>> s = hr.Series([1, 2, 4], index=hr.date_range("2024-01-31", periods=3))
        >>> s.resample("MS").agg(["min", "max"]).to_dict()["max"]
        [1, 4]
        """
        made = self._of_all(self._groups.agg(spec, **named))
        if not is_frame(made):
            return made if spec not in _OF_NOTHING else made.fillna(_OF_NOTHING[spec])
        words: dict[str, Any] = {}
        for name in made.columns:
            how = spec
            if named:
                how = named[name][1] if isinstance(named[name], tuple) else named[name]
            elif isinstance(spec, Mapping) and isinstance(spec.get(name), str):
                how = spec[name]
            elif not isinstance(spec, str):
                how = name[-1] if isinstance(name, tuple) else name
            if isinstance(how, str) and how in _OF_NOTHING:
                words[name] = _OF_NOTHING[how]
        return made.fillna(words) if words else made

    aggregate = agg
    apply = agg

    def transform(self, func: Any) -> Any:
        """A function of each span, for each of its rows; see `GroupBy.transform`.

        >>> s = hr.Series([1, 2, 4], index=hr.date_range("2024-01-31", periods=3))
        >>> s.resample("MS").transform("sum").to_list()
        [1, 6, 6]
        """
        made = self._groups.transform(func)
        labels = self._frame._labels
        if is_frame(made):
            return frame_of(made._nodes, labels)
        shown = frame_of({made.name or "value": made._node}, labels)
        return labelled_series(shown, made.name) if labels else made

    def ohlc(self) -> Any:
        """First, greatest, least and last value of each span.

        >>> s = hr.Series([1, 5, 4], index=hr.date_range("2024-02-01", periods=3))
        >>> s.resample("MS").ohlc().high.to_list()
        [5]
        """
        names = {"open": "first", "high": "max", "low": "min", "close": "last"}
        columns = [name for name in self._groups._nodes if name not in dict(self._groups._keys)]
        several = len(columns) > 1
        return self.agg(
            **{
                f"{column}_{word}" if several else word: (column, how)
                for column in columns
                for word, how in names.items()
            }
        )

    def _at_names(self, side: str, fill_value: Any = None, limit: int | None = None) -> Any:
        """The values at the names of the spans, or the nearest on one side."""
        if len(self._groups._keys) > 1:
            raise InvalidArgumentError(
                "resample: values at the names of spans exist only without groups; use an aggregate"
            )
        names = self._of_all(self._groups.size()).index
        known, order = _in_order(self._times)
        places = neighbours(known, names.to_numpy().astype("datetime64[us]"), side, limit)
        return self._taken(names, places, order, fill_value)

    def _taken(self, names: Series, places: Any, order: Any, fill_value: Any = None) -> Any:
        """The values at places among the times in order, labelled by `names`."""
        import numpy as np

        rows = np.where(places >= 0, order[places.clip(0)], -1)
        keys = dict.fromkeys(name for name, _ in self._groups._keys)
        values = {n: v for n, v in self._groups._nodes.items() if n not in keys}
        columns = {n: taken_or_missing(v, rows, fill_value) for n, v in values.items()}
        made = rows_apart(columns, {self._name: new_series(names._plain())})
        return labelled_series(made, *map(given, values)) if self._groups._single else made

    def asfreq(self, fill_value: Any = None) -> Any:
        """The values at exactly the moments that name the spans, `fill_value` where there is none.

        >>> s = hr.Series([1, 2], index=hr.to_datetime(["2024-01-01", "2024-01-03"]))
        >>> s.resample("D").asfreq().to_list(), s.resample("D").ffill().to_list()
        ([1, None, 2], [1, 1, 2])
        """
        return self._at_names("exact", fill_value)

    def ffill(self, limit: int | None = None) -> Any:
        """The last value up to the moment that names each span; `limit`: the most in a row."""
        return self._at_names("before", limit=limit)

    def bfill(self, limit: int | None = None) -> Any:
        """The first value from the moment that names each span; `limit`: the most in a row."""
        return self._at_names("after", limit=limit)

    def nearest(self, limit: int | None = None) -> Any:
        """The value nearest to the moment that names each span, the later one of two as near.

        `limit`: the most in a row from either side.
        """
        return self._at_names("nearest", limit=limit)

    def interpolate(self, method: str = "linear", **words: Any) -> Any:
        """Values at the moments that name the spans, between the given ones; see `interpolate`.

        >>> s = hr.Series([1.0, 3.0], index=hr.to_datetime(["2024-01-01", "2024-01-03"]))
        >>> s.resample("D").interpolate().to_list()
        [1.0, 2.0, 3.0]
        """
        import numpy as np

        names = self._of_all(self._groups.size()).index
        known, order = _in_order(self._times)
        wanted = names.to_numpy().astype("datetime64[us]")
        every = np.sort(np.concatenate([known, np.setdiff1d(wanted, known)]), kind="stable")
        places = neighbours(known, every, "exact")
        full = self._taken(new_series(every), places, order).interpolate(method, **words)
        made = full.iloc[np.searchsorted(every, wanted).tolist()]
        return self._in_zone(made)


def _in_order(times: Series) -> tuple[Any, Any]:
    """The times in order, in UTC or naive, and the rows where they are."""
    import numpy as np

    moments = times.to_numpy().astype("datetime64[us]")
    order = np.argsort(moments, kind="stable")
    return moments[order], order


def resample(
    data: Any,
    rule: Any,
    on: str | None = None,
    level: Any = None,
    closed: str | None = None,
    label: str | None = None,
    origin: Any = "start_day",
    offset: Any = None,
    keys: Sequence[tuple[str, _core.Node]] = (),
) -> Resampler:
    """See `DataFrame.resample`; `keys`: of groups, whose rows have spans of their own."""
    mark("resample")
    frame = data if is_frame(data) else framed(data)
    name, times = times_of("resample", frame, on, level)
    found = spans("resample", times, rule, closed, label, origin, offset)
    shared = {n for n, _ in keys}
    values = {n: v for n, v in frame._nodes.items() if n not in {on, *shared}}
    if not is_frame(data) and data.name is None:
        values = {Unnamed("value"): data._node}
    by = [*(series_of(node, n) for n, node in keys), series_of(found.key._node, name)]
    groups = frame_of(values).groupby(by)
    groups = groups if is_frame(data) else groups[next(iter(values))]
    return Resampler(frame, groups, name, found, times)


def resample_groups(groups: GroupBy, rule: Any, on: str | None = None, **words: Any) -> Resampler:
    """See `GroupBy.resample`."""
    step = frequency("resample", rule)
    if step.multiple > 1 and (not step.ticks or 86_400 * 10**6 % step.ticks):
        raise InvalidArgumentError(
            f"resample: spans of groups must divide the day or come one at a time: rule={rule!r}; "
            "use groupby([key, hr.Grouper(freq=...)])"
        )
    frame = frame_of(dict(groups._nodes), groups._rows)
    made = resample(frame, rule, on, keys=groups._keys, **words)
    return made[next(iter(groups._nodes))] if groups._single else made


def asfreq(data: Any, freq: Any, fill_value: Any = None, method: str | None = None) -> Any:
    """See `DataFrame.asfreq`."""
    mark("asfreq")
    side = side_of("asfreq", method)
    frame = data if is_frame(data) else framed(data)
    name, times = times_of("asfreq", frame)
    if len(times) == 0:
        return data
    first, last = (each.to_numpy()[0] for each in (times[:1], times[-1:]))
    first, last = (each.astype("datetime64[us]") for each in (first, last))
    every = new_series(times_between(first, last, frequency("asfreq", freq)))
    if method is None:
        return data.reindex(every, fill_value=fill_value)
    known, order = _in_order(times)
    places = neighbours(known, every.to_numpy(), side)
    columns = {n: taken_or_missing(v, order[places]) for n, v in frame._nodes.items()}
    made = rows_apart(columns, {name: every})
    return made if is_frame(data) else labelled_series(made, data.name)
