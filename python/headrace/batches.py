# SPDX-License-Identifier: Apache-2.0
"""Batches of the rows of any plan: in order or shuffled, for one of several ranks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from headrace import _core
from headrace.errors import InvalidArgumentError
from headrace.frame.columns import frame_of
from headrace.lazy.handle import mark
from headrace.rows import picked_domain, whole_number
from headrace.series.column import series_of

if TYPE_CHECKING:
    from headrace.frame.dataframe import DataFrame

#: Row numbers that are computed at once.
_AHEAD = 1 << 16
#: Of the memory limit: a larger frame is sorted into its order, a smaller one is gathered from.
_SHARE = 0.4


class RowOrder:
    """Which rows a rank takes, in which order, in one epoch.

    Rank r of w takes every w-th row of the order, from the r-th on. With `repeat` each rank takes
    the same number, so some begin again with the first rows; else each row is taken once.
    """

    def __init__(
        self,
        rows: int,
        *,
        shuffle: bool,
        seed: int,
        epoch: int = 0,
        rank: int = 0,
        world: int = 1,
        repeat: bool = False,
    ) -> None:
        self.rows: int = rows
        self.rank: int = rank
        self.world: int = world
        self.shuffle: bool = shuffle
        own = -(-(rows - rank) // world) if rank < rows else 0
        #: The number of rows of this rank.
        self.count: int = -(-rows // world) if repeat and rows else own
        self._key = (rows, seed, epoch)
        self._begin, self._held = 0, None

    def places(self, begin: int, end: int) -> _core.Node:
        """The places in the order of the `begin`-th to `end`-th row of this rank."""
        import numpy as np

        places = np.arange(begin, end, dtype=np.int64) * self.world + self.rank
        places %= max(self.rows, 1)
        return _core.data(_core.from_array(places, "iter_batches")[0])

    def positions(self, begin: int, end: int) -> _core.Node:
        """The row numbers of the same."""
        if not self.shuffle:
            return self.places(begin, end)
        held: Any = self._held
        if held is None or begin < self._begin or end > self._begin + held.shape[0]:
            stop = min(max(end, begin + _AHEAD), self.count)
            first = begin * self.world + self.rank
            held = _core.permuted_rows(*self._key, first, self.world, stop - begin)
            self._begin, self._held = begin, held
        made = _core.slice(held, begin - self._begin, end - begin)
        _core.force([made])
        return made

    def places_of_rows(self) -> _core.Node:
        """For each row its place in the order."""
        return _core.as_column(_core.permuted_places(*self._key, 0, self.rows))


class BatchReader:
    """Rows of columns in some order, which have their values.

    With `gathers` of arrays too, by row, however large they are.
    """

    def __init__(
        self, nodes: Sequence[_core.Node], order: RowOrder, *, gathers: bool = False
    ) -> None:
        self._nodes, self._order = list(nodes), order
        self._is_sorted = not order.shuffle
        if order.shuffle and not gathers and not fit_in(nodes, _SHARE):
            self._nodes = _in_order(self._nodes, order)
            self._is_sorted = True

    def batch(self, begin: int, end: int) -> list[_core.Node]:
        """The `begin`-th to `end`-th row of the rank: nodes that have their values."""
        order = self._order
        if self._is_sorted and order.world == 1:
            made = [_core.slice(node, begin, end - begin) for node in self._nodes]
        else:
            rows = (order.places if self._is_sorted else order.positions)(begin, end)
            made = [_core.take(node, rows) for node in self._nodes]
        _core.force(made)
        return made


def fit_in(nodes: Sequence[_core.Node], share: float) -> bool:
    """Whether columns take no more than a share of the memory limit."""
    limit = _core.memory_limit()
    return limit <= 0 or sum(node.value().nbytes for node in nodes) <= share * limit


def _in_order(nodes: list[_core.Node], order: RowOrder) -> list[_core.Node]:
    """The rows sorted by their place in the order: what does not fit moves to the disk."""
    names = [str(place) for place in range(len(nodes))]
    key = _core.in_domain(order.places_of_rows(), nodes[0].domain)
    made = _core.parts(_core.sort([key], [False], False, names, nodes), len(nodes))
    _core.force(made)
    return made


def rows_of_nodes(nodes: Sequence[_core.Node]) -> int:
    """The number of rows; evaluates the columns, together."""
    _core.force(list(nodes))
    return len(series_of(nodes[0])) if nodes else 0


def check_batches(op: str, word: str, rows: Any, rank: int, world: int) -> int:
    """The number of rows of a batch; raises if it is not positive, and for a wrong rank."""
    size = whole_number(op, word, rows)
    if size < 1:
        raise InvalidArgumentError(f"{op}: expected a positive number of rows: {word}={rows!r}")
    if world < 1 or not 0 <= rank < world:
        raise InvalidArgumentError(
            f"{op}: no such rank: rank={rank!r}, world={world!r}; expected 0 <= rank < world"
        )
    return size


def iter_batches(
    frame: DataFrame,
    rows: int,
    *,
    shuffle: bool = False,
    seed: int | None = None,
    drop_last: bool = False,
    rank: int = 0,
    world: int = 1,
) -> Iterator[DataFrame]:
    """See `DataFrame.iter_batches`."""
    size = check_batches("iter_batches", "rows", rows, rank, world)
    if seed is not None and not shuffle:
        raise InvalidArgumentError(
            f"iter_batches: a seed without shuffle: seed={seed!r}; pass shuffle=True"
        )
    if shuffle and seed is None:
        if world > 1:
            raise InvalidArgumentError(
                f"iter_batches: ranks without a common seed: world={world}, seed=None; pass seed"
            )
        import secrets

        seed = secrets.randbits(63)
    return _frames(frame, size, drop_last, shuffle, seed or 0, rank, world)


def _frames(
    frame: DataFrame, size: int, drop_last: bool, shuffle: bool, seed: int, rank: int, world: int
) -> Iterator[DataFrame]:
    mark("iter_batches")
    every = frame._every()
    rows = rows_of_nodes(every)
    order = RowOrder(rows, shuffle=shuffle, seed=seed, rank=rank, world=world)
    count = order.count // size * size if drop_last else order.count
    if not every or not count:
        return
    reader = BatchReader(every, order)
    for begin in range(0, count, size):
        nodes = reader.batch(begin, min(begin + size, count))
        domain = picked_domain()
        nodes = [_core.in_domain(node, domain) for node in nodes]
        columns = dict(zip(frame._nodes, nodes, strict=False))
        yield frame_of(columns, dict(zip(frame._labels, nodes[len(columns) :], strict=False)))
