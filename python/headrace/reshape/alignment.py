# SPDX-License-Identifier: Apache-2.0
"""Rows by new labels: reindex, align, and levels of labels."""

from __future__ import annotations

import functools
import operator
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from headrace import _core
from headrace.errors import InvalidArgumentError
from headrace.frame.columns import frame_of, framed, is_frame, new_frame
from headrace.frame.concat import concat
from headrace.frame.construct import levels_of, repeated
from headrace.frame.indexing import domain_of, positions, refuse_numbers
from headrace.groupby.keys import level_keys
from headrace.lazy.handle import mark
from headrace.rows import Unnamed, are_picked, unnamed
from headrace.series.column import (
    is_index,
    is_labelled,
    is_series,
    labelled_series,
    new_series,
    series_of,
    series_over,
)
from headrace.series.strings import plain

if TYPE_CHECKING:
    from headrace.frame.dataframe import DataFrame
    from headrace.series.series import Series


def taken_or_missing(node: _core.Node, places: Any, fill_value: Any = None) -> Series:
    """The values at positions, and `fill_value` where a position is -1."""
    there = places >= 0
    column = new_series(series_of(node))
    if not there.any():
        empty = new_series([None] * len(places), dtype=str(column.dtype))
        return empty if fill_value is None else empty.fill_null(fill_value)
    found: Series = series_of(_core.take(node, series_over(places.clip(0))._node))
    return found if there.all() else found.where(series_over(there), fill_value)


def _levels(op: str, frame: DataFrame) -> dict[Any, Series]:
    """The label levels of rows by name; their numbers if there are none."""
    frame = frame._numbered()
    if frame._labels:
        return {name: series_of(node, name) for name, node in frame._labels.items()}
    refuse_numbers(op, "index", domain_of(frame))
    return {unnamed(0, 1): positions(len(frame))}


def _table(levels: Mapping[Any, Series]) -> DataFrame:
    """Label levels as the columns 0, 1, ..."""
    return rows_apart({str(at): plain(each) for at, each in enumerate(levels.values())})


def _places(op: str, levels: Mapping[Any, Series], wanted: Mapping[Any, Series]) -> Any:
    """The position of the row with each of the wanted labels; -1 if there is none."""
    import numpy as np

    own, asked = _table(levels), _table(wanted)
    if bool(own.duplicated().any()):
        raise InvalidArgumentError(f"{op}: duplicate labels: labels={list(levels)}; use merge")
    if len(own) == 0 or len(asked) == 0:
        return np.full(len(asked), -1)
    names = own.columns
    own["place"] = np.arange(len(own))
    return asked.merge(own, on=names, how="left").place.fill_null(-1).to_numpy()


def _asked(index: Any, own: Mapping[Any, Series]) -> dict[Any, Series]:
    """New labels by level; levels without a name keep theirs."""
    if len(own) > 1 and isinstance(index, list):
        if not all(isinstance(label, tuple) and len(label) == len(own) for label in index):
            raise InvalidArgumentError(
                f"reindex: expected a tuple for each row: labels={list(own)}; for labels of one "
                "level use reset_index or xs"
            )
        index = dict(zip(own, map(list, zip(*index, strict=True)), strict=True))
        return {name: new_series(labels) for name, labels in index.items()}
    made = levels_of(new_frame(), [index if hasattr(index, "__len__") else list(index)])
    if len(made) != len(own):
        raise InvalidArgumentError(
            f"reindex: number of label levels differs: expected={len(own)}, got={len(made)}"
        )
    return {
        old if isinstance(name, Unnamed) else name: series_of(node)
        for old, (name, node) in zip(own, made.items(), strict=True)
    }


def reindex(
    frame: DataFrame,
    labels: Any,
    fill_value: Any,
    method: str | None,
    limit: int | None,
    *,
    index: Any = None,
    columns: Any = None,
    axis: int | str = 0,
) -> DataFrame:
    """See `DataFrame.reindex`."""
    mark("reindex")
    if labels is not None:
        index, columns = (index, labels) if axis in (1, "columns") else (labels, columns)
    made = new_frame(frame)
    if index is not None:
        own = _levels("reindex", frame)
        wanted = _asked(index, own)
        if method is None:
            places = _places("reindex", own, wanted)
        else:
            (labels,), (asked,) = own.values(), wanted.values()
            places = _filled_places(labels, asked, side_of("reindex", method), limit)
        made = _taken(frame, places, wanted, fill_value)
    if columns is not None:
        rows = made._any_node()
        if rows is None:
            raise InvalidArgumentError("reindex: the frame has no rows to fill: columns=0")
        kept: dict[str, _core.Node] = {}
        filling = float("nan") if fill_value is None else fill_value
        for each in columns:
            kept[each] = made._nodes[each] if each in made._nodes else repeated(rows, filling)
        made = frame_of(kept, made._labels)
    return made


def _taken(
    frame: DataFrame,
    places: Any,
    labels: Mapping[Any, Series],
    fill_value: Any = None,
    domain: int = 0,
) -> DataFrame:
    """The rows at positions, with new labels; `fill_value` where a position is -1."""
    found = {n: taken_or_missing(v, places, fill_value) for n, v in frame._nodes.items()}
    return rows_apart(found, labels, domain)


def _filled_places(own: Series, wanted: Series, side: str, limit: int | None) -> Any:
    """The positions of labels in ascending ones, or of their neighbours; -1 for none."""
    import numpy as np

    if not own.is_unique or not own.is_monotonic_increasing:
        raise InvalidArgumentError(
            "reindex: filling needs ascending labels, each once; use sort_index first"
        )
    if limit is not None and not wanted.is_monotonic_increasing:
        raise InvalidArgumentError(f"reindex: limit={limit} needs ascending new labels")
    places = neighbours(own.to_numpy(), wanted.to_numpy(), side, limit)
    return np.where(wanted.isna().to_numpy(), -1, places)


def side_of(op: str, method: str | None) -> str:
    """The side of `neighbours` that a method of pandas means."""
    sides = {None: "exact", "ffill": "before", "pad": "before"}
    sides |= {"bfill": "after", "backfill": "after", "nearest": "nearest"}
    if method not in sides:
        raise InvalidArgumentError(
            f"{op}: invalid value: method={method!r}; expected 'ffill', 'bfill' or 'nearest'"
        )
    return sides[method]


def neighbours(known: Any, wanted: Any, side: str, limit: int | None = None) -> Any:
    """Where each wanted value is among sorted ones, or its neighbour on a side; -1 for none.

    At most `limit` neighbours in a row are of the same value, which itself does not count.
    """
    import numpy as np

    if len(known) == 0:
        return np.full(len(wanted), -1)
    if side == "nearest":
        before, after = (neighbours(known, wanted, each, limit) for each in ("before", "after"))
        back, ahead = wanted - known[before], known[after] - wanted
        return np.where((after < 0) | ((before >= 0) & (back < ahead)), before, after)
    before = np.searchsorted(known, wanted, "right") - 1
    exact = (before >= 0) & (known[before.clip(0)] == wanted)
    if side == "exact":
        return np.where(exact, before, -1)
    after = np.searchsorted(known, wanted, "left")
    found = before if side == "before" else np.where(after < len(known), after, -1)
    if limit is None:
        return found
    turned = found if side == "before" else found[::-1]
    hits = exact if side == "before" else exact[::-1]
    begins = np.flatnonzero(np.r_[True, turned[1:] != turned[:-1]])
    lengths = np.diff(np.r_[begins, len(turned)])
    run = np.arange(len(turned)) - np.repeat(begins, lengths)
    run += np.repeat(~hits[begins], lengths)
    kept = np.where(run <= limit, turned, -1)
    return kept if side == "before" else kept[::-1]


def rows_apart(
    columns: Mapping[str, Series], labels: Mapping[Any, Series] | None = None, domain: int = 0
) -> DataFrame:
    """A frame of columns and labels of equal length, as a new row set or that of a domain."""
    domain = domain or _core.new_domain()
    made, levels = (
        {name: _core.in_domain(each._node, domain) for name, each in part.items()}
        for part in (columns, labels or {})
    )
    return frame_of(made, levels)


def align(left: Any, right: Any, join: str) -> tuple[Any, Any]:
    """See `DataFrame.align`."""
    mark("align")
    sides = [side if is_frame(side) else framed(side) for side in (left, right)]
    first, second = (_levels("align", side) for side in sides)
    if join == "outer":
        every = _union([first, second])
    elif join == "inner":
        shared = _table(first).iloc[(_places("align", second, first) >= 0).nonzero()[0]]
        every = dict(zip(first, (shared[name] for name in shared.columns), strict=True))
    elif join in ("left", "right"):
        every = first if join == "left" else second
    else:
        raise InvalidArgumentError(
            f"align: invalid value: join={join!r}; expected 'outer', 'inner', 'left' or 'right'"
        )
    one, other = _over("align", sides, every)
    return (
        one if is_frame(left) else labelled_series(one, left.name),
        other if is_frame(right) else labelled_series(other, right.name),
    )


def beside(left: Any, right: Any) -> tuple[Any, Any]:
    """Two frames or two series, with the rows of the labels of both if they have other rows."""
    if not (is_frame(left) and is_frame(right)) and not (is_series(left) and is_series(right)):
        return left, right
    rows: list[Any] = [side._any_node() if is_frame(side) else side._node for side in (left, right)]
    apart = None not in rows and rows[0].domain != rows[1].domain
    return align(left, right, "outer") if apart else (left, right)


def _union(several: list[dict[Any, Series]]) -> dict[Any, Series]:
    """The labels of several rows: those of the first if all are equal, else each once, sorted."""
    tables = [_table(each) for each in several]
    if all(each.equals(tables[0]) for each in tables):
        return several[0]
    every = concat(tables, ignore_index=True).drop_duplicates()
    every = every.sort_values(every.columns)
    return dict(zip(several[0], (every[name] for name in every.columns), strict=True))


def _over(op: str, frames: list[DataFrame], every: Mapping[Any, Series]) -> list[DataFrame]:
    """The rows of frames at the same labels, as one row set."""
    domain = _core.new_domain()
    places = [_places(op, _levels(op, frame), every) for frame in frames]
    return [_taken(each, at, every, None, domain) for each, at in zip(frames, places, strict=True)]


def shared_rows(data: Any) -> Any:
    """Columns by name with the rows of the labels of any of them, as `align` has them."""
    if not isinstance(data, Mapping):
        return data
    parts = {n: each for n, each in data.items() if is_series(each) and not is_index(each)}
    domains = {each._node.domain for each in parts.values()}
    labelled = {is_labelled(each) for each in parts.values()}
    picked = any(is_labelled(each) or each._numbers is not None for each in parts.values())
    if len(domains) < 2 or len(labelled) > 1 or not picked:
        return data
    frames = {name: framed(each) for name, each in parts.items()}
    every = _union([_levels("DataFrame", frame) for frame in frames.values()])
    made = _over("DataFrame", list(frames.values()), every)
    return {**data, **{n: labelled_series(each, n) for n, each in zip(frames, made, strict=True)}}


def at_labels(frame: DataFrame, series: Series) -> _core.Node:
    """The values of a series at the labels of a frame; null where it has none of them."""
    rows = frame._any_node()
    if rows is None or series._node.domain == rows.domain:
        return series._node
    if is_index(series):  # by position
        _core.force([rows])
        values = _core.align_check("setitem", "index", rows, _core.data(series._value()))
        return _core.in_domain(values, rows.domain)
    known = is_labelled(series) or series._numbers is not None
    apart = series._node.domain or are_picked(rows)
    if not known and (frame._labels or not apart):
        return series._node
    levels, own = (_levels("setitem", each) for each in (framed(series), frame))
    if len(levels) != len(own):
        return series._node
    places = _places("setitem", levels, own)
    return _core.in_domain(taken_or_missing(series._node, places)._node, rows.domain)


def xs(frame: DataFrame, key: Any, level: Any = None, axis: int | str = 0) -> Any:
    """See `DataFrame.xs`."""
    mark("xs")
    if axis in (1, "columns"):
        if not level:
            return frame[key]
        names = frame.columns
        at = names._level(level)
        found = [n[at] == key for n in names]
        nodes = [node for node, kept in zip(frame._nodes.values(), found, strict=True) if kept]
        return frame_of(dict(zip(names[found].droplevel(level), nodes, strict=True)), frame._labels)
    if level is None:
        return frame.loc[key]
    several = isinstance(level, list | tuple)
    keys = level_keys(frame, level, "xs")
    tests = [series_of(n) == k for (_, n), k in zip(keys, key if several else [key], strict=True)]
    found = frame[functools.reduce(operator.and_, tests)]
    return found if len(keys) == len(frame._labels) else droplevel(found, [n for n, _ in keys])


def droplevel(frame: DataFrame, level: Any, axis: int | str = 0) -> DataFrame:
    """See `DataFrame.droplevel`."""
    if axis in (1, "columns"):
        return set_axis(frame, frame.columns.droplevel(level), 1)
    gone = dict(level_keys(frame, level, "droplevel"))
    kept = {name: node for name, node in frame._labels.items() if name not in gone}
    if not kept:
        raise InvalidArgumentError(
            f"droplevel: no level would be left: level={level!r}, labels={list(frame._labels)}; "
            "use reset_index(drop=True)"
        )
    return frame_of(dict(frame._nodes), kept)


def swaplevel(frame: DataFrame, i: Any = -2, j: Any = -1, axis: int | str = 0) -> DataFrame:
    """See `DataFrame.swaplevel`."""
    if axis in (1, "columns"):
        return set_axis(frame, frame.columns.swaplevel(i, j), 1)
    (one, other) = (name for name, _ in level_keys(frame, [i, j], "swaplevel"))
    turned = {one: other, other: one}
    order = [turned.get(name, name) for name in frame._labels]
    return frame_of(dict(frame._nodes), {name: frame._labels[name] for name in order})


def rename_axis(frame: DataFrame, given: Any, columns: Any = ...) -> DataFrame:
    """See `DataFrame.rename_axis`."""
    if columns is not ...:
        frame = new_frame(frame)
        own = frame.columns.names
        if isinstance(columns, dict):
            columns = [columns.get(name, name) for name in own]
        frame.columns.names = columns if isinstance(columns, list | tuple) else [columns]
    if given is ...:
        return new_frame(frame)
    if not frame._labels:
        if given is None or isinstance(given, dict):
            return new_frame(frame)
        frame = set_axis(frame, frame.index)
    own = list(frame._labels)
    names = [given] if given is None or isinstance(given, str) else given
    if isinstance(given, dict):
        names = [given.get(name, name) for name in own]
    if len(names) != len(own):
        raise InvalidArgumentError(
            f"rename_axis: number of names does not match the labels: names={names}, labels={own}"
        )
    words = [unnamed(i, len(own)) if n is None else n for i, n in enumerate(names)]
    return frame_of(dict(frame._nodes), dict(zip(words, frame._labels.values(), strict=True)))


def set_axis(frame: DataFrame, labels: Any, axis: int | str = 0) -> DataFrame:
    """See `DataFrame.set_axis`."""
    made = new_frame(frame)
    if axis in (1, "columns"):
        made.columns = labels
    else:
        made.index = labels
    return made


def squeeze(frame: DataFrame, axis: int | str | None = None) -> Any:
    """See `DataFrame.squeeze`."""
    names = frame.columns
    if len(names) != 1 or axis in (0, "index", "rows"):
        is_row = axis not in (1, "columns") and len(frame) == 1
        return frame.iloc[0] if is_row else frame
    column = frame[names[0]]
    return column if axis is not None else column.squeeze()


def valid_label(frame: DataFrame, place: int) -> Any:
    """The label of the first or last row with a value that is not missing; None without one."""
    labels = frame.dropna(how="all").index
    return labels.to_list()[place] if len(labels) else None
