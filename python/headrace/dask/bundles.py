# SPDX-License-Identifier: Apache-2.0
"""Shuffles, and groups in several partitions, by fewer tasks than Dask's.

Dask splits what each of n partitions gives into as many parts as the result has partitions, each
a task: n * m in all, which take longer than the work. Here a part has the rows of a bundle of
partitions of the result; one task makes these together, each of the same rows in the same order.
"""

from __future__ import annotations

import functools
import math
import operator
from typing import Any

import numpy as np
from dask import config
from dask.dataframe.core import _concat
from dask.dataframe.dask_expr._expr import Expr
from dask.dataframe.dask_expr._reductions import ShuffleReduce
from dask.dataframe.dask_expr._repartition import Repartition
from dask.dataframe.dask_expr._shuffle import Shuffle, TaskShuffle
from dask.dataframe.dispatch import group_split_dispatch
from dask.dataframe.shuffle import partitioning_index

from headrace.dask.splitting import in_groups
from headrace.frame.columns import is_frame
from headrace.lazy.handle import eval
from headrace.series.column import is_series

#: Partitions of the result that one task makes. Processor time for 2e7 rows in 16 partitions with
#: 2e5 groups, 2 workers: 1.78 s with 1, 1.59 s with 2, 1.09 s with 4, 1.06 s with 8.
_BUNDLE = 4
#: Dask's name of the column with the partition that a row goes to.
PLACES = "_partitions"


class ShuffleInBundles(TaskShuffle):  # type: ignore[misc]
    """Rows to the partitions that a column names."""

    def _layer(self) -> dict[Any, Any]:
        count = self.npartitions_out
        size = max(_BUNDLE, math.isqrt(count))
        split, piece, made = (f"{word}-{self._name}" for word in ("split", "piece", "bundle"))
        sources = range(self.frame.npartitions)
        graph: dict[Any, Any] = {}
        for source in sources:
            graph[split, source] = (_split_by_places, (self.frame._name, source), count, size)
        for bundle in sorted({partition // size for partition in self._partitions}):
            for source in sources:
                graph[piece, bundle, source] = (operator.getitem, (split, source), bundle)
            pieces = [(piece, bundle, source) for source in sources]
            graph[made, bundle] = (_joined, pieces, self.ignore_index)
        for at, partition in enumerate(self._partitions):
            bundle = made, partition // size
            graph[self._name, at] = (operator.getitem, bundle, partition % size)
        return graph


def _split_by_places(part: Any, count: int, size: int) -> list[tuple[Any, list[int]]]:
    """The rows for each bundle in the order of its partitions, and where each of these ends."""
    places = part[PLACES].to_numpy() % count
    rows, ends = in_groups(part, places, count)
    eval(rows)
    bundles = []
    for first in range(0, count, size):
        begin = ends[first - 1] if first else 0
        own = [end - begin for end in ends[first : first + size]]
        bundles.append((rows.iloc[begin : begin + own[-1]], own))
    return bundles


def _joined(pieces: list[tuple[Any, list[int]]], ignore_index: bool) -> list[Any]:
    """The partitions of a bundle."""
    made = []
    for place in range(len(pieces[0][1])):
        parts = [rows.iloc[ends[place - 1] if place else 0 : ends[place]] for rows, ends in pieces]
        made.append(_concat(parts, ignore_index))
    eval(*made)
    return made


class ReduceInBundles(Expr):  # type: ignore[misc]
    """Chunks of groups, split by their keys and aggregated."""

    _parameters = ["frame", "meta", "aggregate", "words", "by", "split_out"]  # noqa: RUF012

    @property
    def _meta(self) -> Any:
        return self.operand("meta")

    def _divisions(self) -> tuple[None, ...]:
        return (None,) * (self.operand("split_out") + 1)

    def _layer(self) -> dict[Any, Any]:
        count = self.operand("split_out")
        split, piece, made = (f"{word}-{self._name}" for word in ("split", "piece", "bundle"))
        sources = range(self.frame.npartitions)
        aggregate = functools.partial(self.operand("aggregate"), **self.operand("words"))
        like = self.frame._meta if _is_plain(self.frame._meta) else None
        graph: dict[Any, Any] = {}
        for source in sources:
            frame = self.frame._name, source
            graph[split, source] = (_split, frame, self.by, like is not None, count)
        for bundle in range(math.ceil(count / _BUNDLE)):
            first = bundle * _BUNDLE
            for source in sources:
                graph[piece, bundle, source] = (operator.getitem, (split, source), bundle)
            pieces = [(piece, bundle, source) for source in sources]
            size = min(_BUNDLE, count - first)
            graph[made, bundle] = (_made, pieces, self.by, like, count, first, size, aggregate)
            for place in range(size):
                graph[self._name, first + place] = (operator.getitem, (made, bundle), place)
        return graph


def _places(rows: Any, by: list[Any], count: int) -> Any:
    """The partition of each row, which Dask's shuffle would give it."""
    # Labels first: a column of the same name may hold an aggregate of them.
    held = rows.index.to_frame() if set(by) <= set(rows.index.names) else rows
    return np.asarray(partitioning_index(held[by], count))


def _split(part: Any, by: list[Any], plain: bool, count: int) -> list[Any]:
    """The rows for each bundle; `plain`: with labels as columns, which travel in less time."""
    rows = part.reset_index() if plain else part
    bundles = math.ceil(count / _BUNDLE)
    parts = group_split_dispatch(rows, _places(rows, by, count) // _BUNDLE, bundles, plain)
    return [parts[bundle] for bundle in range(bundles)]


def _made(
    pieces: list[Any], by: list[Any], like: Any, count: int, first: int, size: int, aggregate: Any
) -> list[Any]:
    """The partitions of a bundle: of its aggregate, or each of its own rows."""
    rows = _concat(pieces)
    if like is not None:
        rows = rows.set_index(list(like.index.names))
        rows = rows[rows.columns[0]].rename(like.name) if is_series(like) else rows
    made = aggregate([rows])
    split = set(by) <= set(made.index.names)
    if split:
        eval(made)
    whole = made if split else rows
    places = _places(whole, by, count) - first
    if ((places < 0) | (places >= size)).any():
        raise RuntimeError(f"dask: rows of another bundle: by={by}, first={first}, size={size}")
    parts = group_split_dispatch(whole, places, size)
    found = [parts[place] if split else aggregate([parts[place]]) for place in range(size)]
    for each in found:
        eval(each)
    return found


def _is_plain(chunk: Any) -> bool:
    """Whether labels can be columns for a while: all names are strings, and differ."""
    names = [chunk.name] if is_series(chunk) else list(chunk.columns)
    names += chunk.index.names
    return all(isinstance(name, str) for name in names) and len(set(names)) == len(names)


_lower_by_shuffle = ShuffleReduce._lower


def _lower(reduction: Any) -> Any:
    """Groups of our frames in bundles, where Dask would shuffle by tasks."""
    chunk, meta = reduction.frame._meta, reduction._meta
    by = reduction.split_by
    by = list(by) if isinstance(by, list | tuple) else [by]
    method = reduction.shuffle_method or config.get("dataframe.shuffle.method", None)
    ours = (is_frame(chunk) or is_series(chunk)) and (is_frame(meta) or is_series(meta))
    if not ours or reduction.sort or method != "tasks" or not reduction.shuffle_by_index:
        return _lower_by_shuffle(reduction)
    if not set(by) <= set(chunk.index.names):
        return _lower_by_shuffle(reduction)
    every = reduction.split_every or reduction.frame.npartitions
    count = max(reduction.frame.npartitions // every, reduction.split_out)
    if count <= _BUNDLE:
        return _lower_by_shuffle(reduction)
    made = ReduceInBundles(
        reduction.frame, meta, reduction.aggregate, reduction.aggregate_kwargs, by, count
    )
    if reduction.split_out < count:
        return Repartition(made, new_partitions=reduction.split_out)
    return made


_lower_shuffle = Shuffle._lower


def _lower_by_places(shuffle: Any) -> Any:
    """Shuffles of our frames in bundles, where Dask would shuffle by tasks."""
    lowered = _lower_shuffle(shuffle)
    ours = type(lowered) is TaskShuffle and is_frame(lowered.frame._meta)
    if ours and lowered.partitioning_index == PLACES and lowered.npartitions_out > _BUNDLE:
        return ShuffleInBundles(*lowered.operands)
    return lowered


# These classes of Dask know no dispatch by the type of partitions.
ShuffleReduce._lower = _lower
Shuffle._lower = _lower_by_places
