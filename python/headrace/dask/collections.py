# SPDX-License-Identifier: Apache-2.0
"""Collections of Dask whose partitions are ours."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

import pandas as pd
from dask.dataframe import dask_expr
from dask.dataframe.core import _concat
from dask.dataframe.dask_expr._collection import new_collection
from dask.tokenize import normalize_token
from dask.utils import funcname

from headrace.array.array import Array
from headrace.dask import reductions
from headrace.dask.sorting import SortRows
from headrace.lazy.handle import eval
from headrace.series.column import is_series

if TYPE_CHECKING:
    from collections.abc import Iterator


def _whole(parts: list[Any]) -> Any:
    """The rows of all partitions, evaluated."""
    made = _concat(parts)
    if not isinstance(made, pd.Series):
        eval(made)
    return made


class _ScalarsOfNumPy:
    """A function of a partition; a single lazy value that it returns is one of NumPy."""

    def __init__(self, function: Any) -> None:
        functools.update_wrapper(self, function, updated=())
        self.__name__ = funcname(function)  # a part of the names of tasks
        self._function = function

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if getattr(self._function, "method", "") in ("min", "max") and _has_no_rows(args[0]):
            return float("nan")  # of no values, which integers have no other word for
        made = self._function(*args, **kwargs)
        return made.to_numpy()[()] if isinstance(made, Array) and made.ndim == 0 else made

    def __dask_tokenize__(self) -> Any:
        return normalize_token(self._function)

    def __reduce__(self) -> Any:
        return _ScalarsOfNumPy, (self._function,)


def _has_no_rows(part: Any) -> bool:
    return is_series(part) and not len(part)


class _Collection:
    """What collections of frames, series and labels have alike."""

    def map_partitions(self, func: Any, *args: Any, **kwargs: Any) -> Any:
        """What a function makes of each partition; see `dask.dataframe`."""
        collection: Any = super()
        return collection.map_partitions(_ScalarsOfNumPy(func), *args, **kwargs)

    def __dask_postcompute__(self) -> Any:
        finish, arguments = super().__dask_postcompute__()  # type: ignore[misc]
        return (_whole if finish is _concat else finish), arguments

    def to_list(self) -> list[Any]:
        """The values of all partitions; runs the plan."""
        collection: Any = self
        return list(collection.compute().to_list())

    def to_numpy(self) -> Any:
        """The values of all partitions as a NumPy array; runs the plan."""
        collection: Any = self
        return collection.compute().to_numpy()


class _Numbers(_Collection):
    """Aggregates by states that merge; see `headrace.dask.reductions`."""

    def _aggregate(self, how: str, axis: Any, split_every: Any, words: dict[str, Any]) -> Any:
        collection: Any = self
        plain = {"skipna": True, "numeric_only": False, "min_count": 0, "ddof": 1}
        asked = all(value == plain.get(name, value) for name, value in words.items())
        if axis in (0, "index") and asked and reductions.merges(collection._meta, how):
            return reductions.reduce(collection, how, split_every)
        dask: Any = super()
        return getattr(dask, how)(axis=axis, split_every=split_every, **words)

    def sum(
        self, axis: Any = 0, skipna: bool = True, *, split_every: Any = False, **words: Any
    ) -> Any:
        """The sum; floats as in one process where partitions begin at morsels."""
        return self._aggregate("sum", axis, split_every, {"skipna": skipna, **words})

    def mean(
        self, axis: Any = 0, skipna: bool = True, *, split_every: Any = False, **words: Any
    ) -> Any:
        """The mean; as in one process where partitions begin at morsels."""
        return self._aggregate("mean", axis, split_every, {"skipna": skipna, **words})

    def var(
        self, axis: Any = 0, skipna: bool = True, *, split_every: Any = False, **words: Any
    ) -> Any:
        """The variance; as in one process where partitions begin at morsels."""
        return self._aggregate("var", axis, split_every, {"skipna": skipna, **words})

    def std(
        self, axis: Any = 0, skipna: bool = True, *, split_every: Any = False, **words: Any
    ) -> Any:
        """The standard deviation; as in one process where partitions begin at morsels."""
        return self._aggregate("std", axis, split_every, {"skipna": skipna, **words})


class DataFrame(_Numbers, dask_expr.DataFrame):  # type: ignore[misc]
    """A collection of Dask with a `headrace.DataFrame` in each partition.

    >>> import headrace.dask
    >>> rows = headrace.dask.from_frame(hr.DataFrame({"x": [1, 2, 3]}), partitions=2)
    >>> rows[rows.x > 1].x.to_list()
    [2, 3]
    """

    @property
    def columns(self) -> Any:
        """The names, as an index of pandas."""
        names = self._meta.columns
        return pd.Index(list(names), name=names.name) if names.nlevels == 1 else names

    @columns.setter
    def columns(self, names: Any) -> None:
        dask_expr.DataFrame.columns.fset(self, names)

    def sort_values(self, by: Any, **words: Any) -> Any:
        """The rows in the order of columns; see `dask.dataframe`."""
        made = super().sort_values(by, **words)
        return new_collection(SortRows(*made.expr.operands))

    def iter_batches(self, rows: int) -> Iterator[Any]:
        """Frames of `rows` rows, a partition at a time; see `headrace.DataFrame.iter_batches`."""
        for part in self.partitions:
            yield from part.compute().iter_batches(rows)


class Series(_Numbers, dask_expr.Series):  # type: ignore[misc]
    """A collection of Dask with a `headrace.Series` in each partition."""


class Index(_Collection, dask_expr.Index):  # type: ignore[misc]
    """A collection of Dask with the row labels of each partition."""
