# SPDX-License-Identifier: Apache-2.0
"""Sums, means and deviations over partitions, with the bits of those of one process.

Dask adds the results of partitions. A state keeps one partial result per morsel of 2^17 rows
instead, and states are merged in the order of rows: where partitions begin at morsels, the engine
adds the same numbers in the same order as it does for one frame.
"""

from __future__ import annotations

import copy
import functools
from typing import TYPE_CHECKING, Any

from dask.dataframe.dask_expr._collection import new_collection
from dask.dataframe.dask_expr._reductions import ApplyConcatApply
from dask.dataframe.dispatch import make_meta, meta_nonempty

from headrace.aggregates import NUMBERS
from headrace.dtypes import DType
from headrace.series.column import is_series
from headrace.stream.columns import of_frame

if TYPE_CHECKING:
    from headrace.stream.columns import ColumnState


def _columns(meta: Any) -> list[Any]:
    return [meta] if is_series(meta) else [meta[name] for name in meta.columns]


def merges(meta: Any, how: str) -> bool:
    """Whether a frame or series has states: of numbers, whose sums are not exact anyway."""
    kinds = {DType(str(column.dtype)).kind for column in _columns(meta)}
    return bool(kinds) and kinds <= set(NUMBERS) and (how != "sum" or "f" in kinds)


def _frame(part: Any) -> Any:
    """A partition as columns 0, 1, ..."""
    if is_series(part):
        return part.to_frame("0").reset_index(drop=True)
    frame = part.reset_index(drop=True)
    return frame.set_axis([str(at) for at in range(len(frame.columns))], axis=1)


def _merged(states: list[ColumnState]) -> ColumnState:
    """The state of the rows of several states, in order; the first one takes the others."""
    whole = copy.copy(states[0])
    for each in states[1:]:
        whole.merge(each)
    return whole


class MergedStates(ApplyConcatApply):  # type: ignore[misc]
    """An aggregate of columns: states of partitions, merged in a tree in the order of rows."""

    _parameters = ["frame", "how", "split_every"]  # noqa: RUF012 (Dask's)
    _defaults = {"split_every": None}  # noqa: RUF012

    @functools.cached_property
    def _meta(self) -> Any:
        return make_meta(getattr(meta_nonempty(self.frame._meta), self.how)())

    @property
    def chunk_kwargs(self) -> dict[str, Any]:
        """The aggregate."""
        return {"how": self.how}

    @property
    def aggregate_kwargs(self) -> dict[str, Any]:
        """The aggregate, and the names of the columns, or for a series its dtype."""
        meta = self.frame._meta
        if is_series(meta):
            return {"how": self.how, "dtype": self._meta.dtype}
        return {"how": self.how, "names": list(meta.columns)}

    @classmethod
    def chunk(cls, part: Any, how: str) -> ColumnState:
        """The state of a partition."""
        frame = _frame(part)
        return of_frame(frame, {name: (name, how) for name in frame.columns})

    @classmethod
    def combine(cls, states: list[ColumnState]) -> ColumnState:
        """The state of partitions that follow each other."""
        return _merged(states)

    @classmethod
    def aggregate(
        cls, states: list[ColumnState], how: str, names: Any = None, dtype: Any = None
    ) -> Any:
        """The value of all rows."""
        row = _merged(states).value()
        once = "sum" if how == "sum" else "mean"  # of one row: the value itself
        if names is None:
            return dtype.type(getattr(row["0"], once)().to_numpy()[()])
        return getattr(row.set_axis(names, axis=1), once)()

    def _divisions(self) -> tuple[Any, Any]:
        return (None, None)


def reduce(collection: Any, how: str, split_every: Any) -> Any:
    """An aggregate of a collection of numbers."""
    every = None if split_every is False else split_every
    return new_collection(MergedStates(collection, how, every))
