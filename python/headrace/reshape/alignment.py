# SPDX-License-Identifier: Apache-2.0
"""Rows by new labels: reindex, align, and levels of labels."""

from __future__ import annotations

import functools
import operator
from typing import TYPE_CHECKING, Any

from headrace import _core
from headrace.errors import InvalidArgumentError
from headrace.frame.columns import frame_of, framed, is_frame, new_frame
from headrace.frame.concat import concat
from headrace.frame.construct import repeated
from headrace.frame.indexing import domain_of, positions, refuse_numbers
from headrace.groupby.keys import level_keys
from headrace.lazy.handle import mark
from headrace.rows import unnamed
from headrace.series.column import (
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


def _label_of(op: str, frame: DataFrame) -> tuple[str, Series]:
    """The name and values of the only label level; row numbers if there is none."""
    if len(frame._labels) > 1:
        raise InvalidArgumentError(
            f"{op}: expected a single label level: labels={list(frame._labels)}; use merge"
        )
    for name, node in frame._labels.items():
        return name, series_of(node, name)
    refuse_numbers(op, "index", domain_of(frame))
    return "index", new_series(positions(len(frame)), "index")


def _places(op: str, labels: Series, wanted: Series) -> Any:
    """The position of each wanted label; -1 if there is none."""
    own = new_frame({"label": plain(labels)._plain()})
    own["place"] = new_series(own._aligned(positions(len(own))))
    if bool(own.duplicated("label").any()):
        raise InvalidArgumentError(f"{op}: duplicate labels: label={labels.name!r}; use merge")
    asked = new_frame({"label": plain(wanted)._plain()})
    if len(own) == 0 or len(asked) == 0:
        import numpy as np

        return np.full(len(asked), -1)
    found = asked.merge(own, on="label", how="left").place
    return found.fill_null(-1).to_numpy()


def reindex(
    frame: DataFrame,
    labels: Any = None,
    *,
    index: Any = None,
    columns: Any = None,
    axis: int | str = 0,
    fill_value: Any = None,
    method: str | None = None,
    limit: int | None = None,
) -> DataFrame:
    """See `DataFrame.reindex`."""
    mark("reindex")
    if labels is not None:
        index, columns = (index, labels) if axis in (1, "columns") else (labels, columns)
    made = new_frame(frame)
    if index is not None:
        name, own = _label_of("reindex", frame)
        wanted = new_series(list(index) if not is_series(index) else index._plain())
        if method is None:
            places = _places("reindex", own, wanted)
        else:
            places = _filled_places(own, wanted, side_of("reindex", method), limit)
        found = {n: taken_or_missing(v, places, fill_value) for n, v in frame._nodes.items()}
        made = rows_apart(found, {name: wanted})
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


def reindex_series(series: Series, index: Any, **words: Any) -> Series:
    """See `Series.reindex`."""
    frame = reindex(framed(series), index, **words)
    return labelled_series(frame, series.name)


def rows_apart(columns: dict[str, Series], labels: dict[str, Series] | None = None) -> DataFrame:
    """A frame of columns and labels of equal length as a new row set."""
    domain = _core.new_domain()
    made, levels = (
        {name: _core.in_domain(each._node, domain) for name, each in part.items()}
        for part in (columns, labels or {})
    )
    return frame_of(made, levels)


def align(left: Any, right: Any, join: str) -> tuple[Any, Any]:
    """See `DataFrame.align`."""
    mark("align")
    sides = [side if is_frame(side) else framed(side) for side in (left, right)]
    first, second = (_label_of("align", side)[1] for side in sides)
    if join == "outer":
        stacked = concat([new_frame({"label": plain(each)._plain()}) for each in (first, second)])
        every = new_series(stacked.label.unique()).sort_values()
    elif join == "inner":
        every = first[first.isin(second)]
    elif join in ("left", "right"):
        every = first if join == "left" else second
    else:
        raise InvalidArgumentError(
            f"align: invalid value: join={join!r}; expected 'outer', 'inner', 'left' or 'right'"
        )
    one = left.reindex(every)
    return one, _over_rows_of(right.reindex(every), one)


def _over_rows_of(made: Any, other: Any) -> Any:
    """The rows of `made` as the row set of `other`, which has the same labels."""
    frame, like = (side if is_frame(side) else framed(side) for side in (made, other))
    domain = domain_of(like)
    columns, labels = (
        {name: _core.in_domain(node, domain) for name, node in part.items()}
        for part in (frame._nodes, frame._labels)
    )
    beside = frame_of(columns, labels)
    return beside if is_frame(made) else labelled_series(beside, made.name)


def xs(frame: DataFrame, key: Any, level: Any = None, axis: int | str = 0) -> Any:
    """See `DataFrame.xs`."""
    mark("xs")
    if axis in (1, "columns"):
        if not level:
            return frame[key]
        found = {n: v for n, v in frame._nodes.items() if n[level] == key}
        short = frame.columns[[n in found for n in frame._nodes]].droplevel(level)
        return frame_of(dict(zip(short, found.values(), strict=True)), frame._labels)
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


def rename_axis(frame: DataFrame, mapper: Any = None, *, index: Any = None) -> DataFrame:
    """See `DataFrame.rename_axis`."""
    given = mapper if index is None else index
    own = list(frame._labels)
    names = [given] if isinstance(given, str) else given
    if isinstance(given, dict):
        names = [given.get(name, name) for name in own]
    if names is None or not own:
        return new_frame(frame)  # row numbers have no name
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


def squeeze(frame: DataFrame) -> Any:
    """See `DataFrame.squeeze`."""
    names = frame.columns
    if len(names) != 1:
        return frame.iloc[0] if len(frame) == 1 else frame
    column = frame[names[0]]
    return column.squeeze()
