# SPDX-License-Identifier: Apache-2.0
"""Row labels: the columns that serve as a frame's index, and selection by them."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from headrace import _core
from headrace.errors import InvalidArgumentError, TypeMismatchError
from headrace.frame.columns import frame_of, framed, new_frame
from headrace.frame.construct import levels_of
from headrace.frame.indexing import Locator, PositionLocator, domain_of, refuse_numbers
from headrace.frame.setitem import is_of_locator, lost_assignment
from headrace.frame.sort import sort_by_nodes
from headrace.groupby.keys import level_keys
from headrace.interop.sharing import reduced
from headrace.lazy.handle import mark
from headrace.rows import are_picked, given, picked_domain, renumbered, unnamed
from headrace.series.column import is_labelled, is_series, labelled_series, series_of

if TYPE_CHECKING:
    from headrace.frame.dataframe import DataFrame
    from headrace.frame.sort import NaPosition
    from headrace.series.series import Series

_SHOWN = 5


def set_labels(frame: DataFrame, labels: Any) -> None:
    """See `DataFrame.index`."""
    if isinstance(labels, str):
        raise TypeMismatchError(f"index: expected a label for each row: index={labels!r}")
    if not is_series(labels) or not labels._node.domain:
        len(frame)  # counts rows that are selected or grouped only later
    frame._labels = levels_of(frame, [labels])


def set_index(frame: DataFrame, keys: Any, *, drop: bool = True, append: bool = False) -> DataFrame:
    """See `DataFrame.set_index`."""
    mark("set_index")
    several = keys if isinstance(keys, list | tuple) else [keys]
    levels = levels_of(frame, list(several))
    if not levels:
        raise InvalidArgumentError("set_index: missing label; pass a column name")
    names = [key for key in several if isinstance(key, str)] if drop else []
    columns = {name: node for name, node in frame._nodes.items() if name not in names}
    before: dict[str, _core.Node] = dict(frame._labels)
    if append and not before:
        numbers = frame._number_node()
        if numbers is not None:
            before = {unnamed(0, 1 + len(levels)): _core.in_domain(numbers, domain_of(frame))}
    return frame_of(columns, {**before, **levels} if append else levels)


def reset_index(
    frame: DataFrame, level: Any = None, *, drop: bool = False, names: Any = None
) -> DataFrame:
    """See `DataFrame.reset_index`."""
    if names is not None:
        words = [names] if isinstance(names, str) else list(names)
        frame = numbered_labels(frame)
        frame = frame_of(frame._nodes, dict(zip(words, frame._labels.values(), strict=True)))
    if level is not None:
        gone = dict(level_keys(frame, level, "reset_index"))
        kept = {n: node for n, node in frame._labels.items() if n not in gone}
        nodes = frame._nodes if drop else frame_of(frame._nodes, gone)._with_labels()
        if kept:
            return frame_of(dict(nodes), kept)
    elif drop or not frame._nodes:
        nodes = frame._nodes
    else:
        if len(frame._labels) == 1 and given(next(iter(frame._labels))) is None:  # was of several
            word = unnamed(0, 1 + ("index" in frame._nodes))
            frame = frame_of(frame._nodes, {word: next(iter(frame._labels.values()))})
        nodes = numbered_labels(frame)._with_labels()
    return frame_of({name: renumbered(node) for name, node in nodes.items()})


def numbered_labels(frame: DataFrame) -> DataFrame:
    """The frame with its row numbers as labels if it has no others."""
    numbers = None if frame._labels else frame._number_node()
    if numbers is None:
        return frame
    word = "level_0" if "index" in frame._nodes else "index"
    return frame_of(frame._nodes, {word: _core.in_domain(numbers, domain_of(frame))})


def at(frame: DataFrame) -> Locator:
    """See `DataFrame.at`."""
    return Locator(frame)


def sort_index(
    frame: DataFrame, level: Any, ascending: bool | list[bool], na_position: NaPosition
) -> DataFrame:
    """See `DataFrame.sort_index`."""
    mark("sort_index")
    if frame._labels:
        first = {} if level is None else dict(level_keys(frame, level, "sort_index"))
        alone = bool(first) and isinstance(ascending, list)
        keys = list((first if alone else {**first, **frame._labels}).values())
        return sort_by_nodes("sort_index", frame, keys, ascending, na_position)
    numbered = frame._numbered()
    if numbered._labels:
        return sort_index(numbered, None, ascending, na_position)
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
        (name,) = frame._nodes
        if not self._by_position and isinstance(key, tuple) and slice(None) in key:
            at = [level for level, part in enumerate(key) if part != slice(None)]
            rows = frame.xs(tuple(key[level] for level in at), level=at)
            return labelled_series(rows, series.name)
        if self._by_position:
            found = PositionLocator(frame)[key, 0]
        else:
            found = Locator(frame).pick(key, name)
        if not is_series(found):
            return found
        return found.rename(series.name)

    def __setitem__(self, key: Any, value: Any) -> None:
        """Assign to some rows; the handle is rebound, its source is unchanged."""
        if is_of_locator(sys.getrefcount(self._series)):
            raise lost_assignment(key)
        series = self._series
        frame = new_frame(framed(series))
        (name,) = frame._nodes
        if self._by_position:
            frame.iloc[key, 0] = value
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


def relabelled(rows: DataFrame, labels: list[str], columns: list[str]) -> DataFrame:
    """Rebuild a pickled frame with its labels."""
    nodes = list(rows._nodes.values())
    levels = dict(zip(labels, nodes, strict=False))
    return frame_of(dict(zip(columns, nodes[len(labels) :], strict=True)), levels)


def reduced_frame(frame: DataFrame, protocol: Any) -> Any:
    """See `DataFrame.__reduce_ex__`."""
    frame = frame._numbered()
    if frame._labels or any(type(name) is not str for name in frame._nodes):
        nodes = [*frame._labels.values(), *frame._nodes.values()]
        rows = frame_of({str(at): node for at, node in enumerate(nodes)})
        return relabelled, (rows, list(frame._labels), list(frame._nodes))
    if any(map(are_picked, frame._nodes.values())):
        return picked_again, (frame.reset_index(drop=True),)
    return reduced(frame, protocol)


def reduced_series(series: Series, protocol: Any) -> Any:
    """See `Series.__reduce_ex__`."""
    frame = framed(series)._numbered()
    if frame._labels:
        return labelled_series, (frame, series.name)
    if are_picked(series._node):
        return picked_again, (series_of(renumbered(series._node), series.name),)
    return reduced(series, protocol)
