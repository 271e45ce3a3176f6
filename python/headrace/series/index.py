# SPDX-License-Identifier: Apache-2.0
"""The index of a frame as a series: labels, or the numbers of the rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from headrace import _core
from headrace.array.array import Array
from headrace.frame.columns import frame_of
from headrace.frame.indexing import check_row_numbers, domain_of, positions
from headrace.series.datetime import is_time
from headrace.series.duration import is_duration
from headrace.series.series import Series

if TYPE_CHECKING:
    from headrace.frame.dataframe import DataFrame
    from headrace.series.series import Series


class Labels(Series):
    """The index of a frame: brackets select by position, whatever the labels are."""

    __slots__ = ()

    def _like(self, node: _core.Node) -> Any:
        return Labels(node, self.name)

    def _check_label(self, key: Any, op: str = "getitem") -> None:
        """Numbers are positions here, never labels."""

    def tz_localize(self, tz: Any, ambiguous: Any = "raise", nonexistent: Any = "raise") -> Any:
        """See `Series.dt.tz_localize`."""
        return self.dt.tz_localize(tz, ambiguous, nonexistent)

    def tz_convert(self, tz: Any) -> Any:
        """See `Series.dt.tz_convert`."""
        return self.dt.tz_convert(tz)

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            """Fields and methods of times are attributes of an index: ``df.index.month``."""
            if name[:1] != "_" and (is_time(self) or is_duration(self)) and hasattr(self.dt, name):
                return getattr(self.dt, name)
            return super().__getattr__(name)


class RowNumbers(Labels):
    """The index of a frame without labels, tied to the row set that it counts.

    Filtered and sorted rows are numbered from 0 again, so their numbers are invalid elsewhere.
    """

    __slots__ = ("_domain",)

    def __init__(self, node: _core.Node, domain: int) -> None:
        super().__init__(node, "index")
        self._domain = domain

    def _like(self, node: _core.Node) -> RowNumbers:
        return RowNumbers(node, self._domain)

    def isin(self, values: Any) -> Series:
        """See `Series.isin`; raises for row numbers of other rows."""
        check_row_numbers("isin", values, self._domain)
        return super().isin(values)


def row_labels(frame: DataFrame) -> Series | DataFrame:
    """See `DataFrame.index`."""
    if not frame._labels:
        return RowNumbers(frame._aligned(positions(len(frame))), domain_of(frame))
    if len(frame._labels) == 1:
        ((name, node),) = frame._labels.items()
        return Labels(node, name)

    return frame_of(dict(frame._labels))


class RowNumber(Array, role="_row_number"):
    """A row number tied to its row set: the result of `idxmax`."""

    __slots__ = ("_domain",)

    def __init__(self, node: _core.Node, domain: int) -> None:
        super().__init__(node)
        self._domain = domain

    def _like(self, node: _core.Node) -> Array:
        return Array(node)
