# SPDX-License-Identifier: Apache-2.0
"""`Series.cat`: the parts of a column of categories."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headrace import _core
from headrace.deferred import mark

if TYPE_CHECKING:
    from headrace.series import Series


class CategoryAccessor:
    """What `Series.cat` gives: the parts of a column of categories."""

    __slots__ = ("_series",)

    def __init__(self, series: Series) -> None:
        self._series = series

    @property
    def categories(self) -> Series:
        """The distinct strings in the order of their codes; runs the plan."""
        from headrace.series import Series

        return Series(_core.data(self._series._value().categories))

    @property
    def codes(self) -> Series:
        """The codes on the same memory: int32, null where the value is null (pandas says -1)."""
        from headrace.series import Series

        mark("codes")
        return Series(_core.retype(self._series._node, "int32"), self._series.name)

    def as_ordered(self) -> Series:
        """The same column, whose categories compare and sort by their order.

        >>> import headrace as hr
        >>> size = hr.Series(["low", "high"], dtype="category").cat.as_ordered()
        >>> size.sort_values(ascending=False).to_list()
        ['high', 'low']
        """
        mark("as_ordered")
        made: Series = self._series._like(_core.ordered_categories(self._series._node))
        return made

    @property
    def ordered(self) -> bool:
        """Whether the order of the categories has a meaning; runs the plan."""
        return bool(self._series._value().is_ordered)
