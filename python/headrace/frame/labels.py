# SPDX-License-Identifier: Apache-2.0
"""Row labels: the columns that serve as a frame's index, and selection by them."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from headrace import _core
from headrace.errors import InvalidArgumentError
from headrace.frame.columns import frame_of, framed, new_frame
from headrace.frame.indexing import (
    Locator,
    PositionLocator,
    domain_of,
    refuse_numbers,
)
from headrace.frame.setitem import is_of_locator, lost_assignment
from headrace.frame.sort import sort_by_nodes
from headrace.groupby.keys import level_keys
from headrace.interop.sharing import reduced
from headrace.lazy.handle import mark
from headrace.rows import (
    are_picked,
    by_position,
    picked_domain,
    renumbered,
)
from headrace.series.column import is_labelled, is_series, new_series, series_of

if TYPE_CHECKING:
    from headrace.frame.dataframe import DataFrame
    from headrace.frame.sort import NaPosition
    from headrace.series.series import Series

_SHOWN = 5


def set_labels(frame: DataFrame, labels: Any) -> None:
    """See `DataFrame.index`."""
    name = getattr(labels, "name", None) or "index"
    node = frame._aligned(labels if is_series(labels) else new_series(list(labels)))
    frame._labels = {name: node}
    if name in frame._nodes:
        frame._nodes[name] = node


def set_index(
    frame: DataFrame, keys: Any, *, drop: bool = False, append: bool = False
) -> DataFrame:
    """See `DataFrame.set_index`."""
    mark("set_index")
    result = new_frame(frame)
    names: list[str] = list(frame._labels) if append else []
    for key in keys if isinstance(keys, list | tuple) else [keys]:
        if isinstance(key, str):
            names.append(result._find(key))
            continue
        name = getattr(key, "name", None) or "index"
        node = new_series(by_position(key))._node
        result._put(name, node)
        names.append(name)
    if not names:
        raise InvalidArgumentError("set_index: missing label; pass a column name")
    kept = {**frame._labels, **result._nodes}
    result._labels = {name: kept[name] for name in names}
    if drop:
        result._nodes = {n: node for n, node in result._nodes.items() if n not in names}
    return result


def reset_index(frame: DataFrame, level: Any = None, *, drop: bool = False) -> DataFrame:
    """See `DataFrame.reset_index`."""
    if level is not None:
        gone = dict(level_keys(frame, level, "reset_index"))
        kept = {n: node for n, node in frame._labels.items() if n not in gone}
        shown = {n: v for n, v in frame._nodes.items() if n not in gone}
        nodes = shown if drop else {**gone, **frame._nodes}
        if kept:
            return frame_of(nodes, kept)
    elif drop:
        nodes = {n: v for n, v in frame._nodes.items() if n not in frame._labels}
    else:
        nodes = {**frame._labels, **frame._nodes} if frame._hidden() else frame._nodes
    return frame_of({name: renumbered(node) for name, node in nodes.items()})


def loc(frame: DataFrame) -> Locator:
    """See `DataFrame.loc`."""
    return Locator(frame)


def iloc(frame: DataFrame) -> PositionLocator:
    """See `DataFrame.iloc`."""
    return PositionLocator(frame)


def at(frame: DataFrame) -> Locator:
    """See `DataFrame.at`."""
    return Locator(frame)


def iat(frame: DataFrame) -> PositionLocator:
    """See `DataFrame.iat`."""
    return PositionLocator(frame)


def take_rows(frame: DataFrame, indices: Any, axis: int | str = 0) -> DataFrame:
    """See `DataFrame.take`."""
    taken: DataFrame = frame.iloc[:, indices] if axis in (1, "columns") else frame.iloc[indices]
    return taken


def sort_index(
    frame: DataFrame,
    *,
    level: Any = None,
    ascending: bool | list[bool] = True,
    na_position: NaPosition = "last",
) -> DataFrame:
    """See `DataFrame.sort_index`."""
    mark("sort_index")
    if frame._labels:
        first = {} if level is None else dict(level_keys(frame, level, "sort_index"))
        alone = bool(first) and isinstance(ascending, list)
        keys = list((first if alone else {**first, **frame._labels}).values())
        return sort_by_nodes("sort_index", frame, keys, ascending, na_position)
    refuse_numbers("sort_index", None, domain_of(frame))
    return frame if ascending else frame[::-1]


class SeriesLocator:
    """``series.loc`` and ``series.iloc``: values by label, and by position."""

    __slots__ = ("_by_position", "_series")

    def __init__(self, series: Series, by_position: bool) -> None:
        self._series = series
        self._by_position = by_position

    def __getitem__(self, key: Any) -> Any:
        """One value, or a series selected by a list, a slice or a mask."""
        series = self._series
        key = key(series) if callable(key) else key
        frame = framed(series)
        name = frame.columns[-1]
        if self._by_position:
            found = PositionLocator(frame)[key, len(frame.columns) - 1]
        else:
            found = Locator(frame).pick(key, name)
        if not is_series(found):
            return found
        return found.rename(series.name) if series.name else new_series(found)

    def __setitem__(self, key: Any, value: Any) -> None:
        """Assign to some rows; the handle is rebound, its source is unchanged."""
        if is_of_locator(sys.getrefcount(self._series)):
            raise lost_assignment(key)
        series = self._series
        frame = new_frame(framed(series))
        name = frame.columns[-1]
        if self._by_position:
            frame.iloc[key, len(frame.columns) - 1] = value
        elif isinstance(key, slice) and not frame._labels:
            frame.iloc[key, 0] = value  # as in `__getitem__`
        else:
            frame.loc[key, name] = value
        series._node = frame._nodes[name]
        if is_labelled(series):
            series._frame = frame


def picked_again(values: Any) -> Any:
    """Rebuild a pickled frame or series of selected rows."""
    if is_series(values):
        return series_of(_core.in_domain(values._node, picked_domain()), values.name)
    return values._in_domain(picked_domain())


def relabelled(frame: DataFrame, labels: list[str], columns: list[str]) -> DataFrame:
    """Rebuild a pickled frame with its labels."""
    made: DataFrame = frame.set_index(labels)[list(columns)]
    return made


def reduced_frame(frame: DataFrame, protocol: Any) -> Any:
    """See `DataFrame.__reduce_ex__`."""
    if frame._labels:
        return relabelled, (frame.reset_index(), list(frame._labels), frame.columns)
    if any(map(are_picked, frame._nodes.values())):
        return picked_again, (frame.reset_index(),)
    return reduced(frame, protocol)


def reduced_series(series: Series, protocol: Any) -> Any:
    """See `Series.__reduce_ex__`."""
    if are_picked(series._node):
        return picked_again, (series_of(renumbered(series._node), series.name),)
    return reduced(series, protocol)
