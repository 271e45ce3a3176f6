# SPDX-License-Identifier: Apache-2.0
"""Sorting over partitions: each row learns the partition that it goes to in the task that has it.

Dask makes an array of NumPy per partition for that, which waits as a result of its own, outside of
the memory budget.
"""

from __future__ import annotations

import functools
from typing import Any

from dask.dataframe.dask_expr._expr import Assign, Blockwise
from dask.dataframe.dask_expr._shuffle import SortValues, _SetPartitionsPreSetIndex
from dask.dataframe.dispatch import make_meta
from dask.dataframe.shuffle import set_partitions_pre

from headrace.dask.bundles import PLACES
from headrace.lazy.handle import eval
from headrace.series.column import new_series


class RowsWithPlaces(Blockwise):  # type: ignore[misc]
    """Rows with the numbers of the partitions that they go to."""

    _parameters = ["frame", "by", "new_divisions", "ascending", "na_position"]  # noqa: RUF012
    _defaults = {"ascending": True, "na_position": "last"}  # noqa: RUF012
    _is_length_preserving = True

    @functools.cached_property
    def _meta(self) -> Any:
        return make_meta(self.frame._meta.assign(**{PLACES: new_series([], dtype="int32")}))

    @staticmethod
    def operation(frame: Any, by: str, divisions: Any, ascending: bool, na_position: str) -> Any:
        """Find the places of one partition's rows."""
        eval(frame)
        places = set_partitions_pre(frame[by], divisions, ascending, na_position)
        return frame.assign(**{PLACES: places.astype("int32")})  # by position, copied


class SortRows(SortValues):  # type: ignore[misc]
    """Dask's sort with one task for rows and places."""

    def _lower(self) -> Any:
        lowered = super()._lower()
        for assigned in lowered.find_operations(Assign):
            places = assigned.operands[-1]
            if isinstance(places, _SetPartitionsPreSetIndex):
                made = RowsWithPlaces(assigned.frame, self.by[0], *places.operands[1:])
                return lowered.substitute(assigned, made)
        return lowered
