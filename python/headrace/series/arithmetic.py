# SPDX-License-Identifier: Apache-2.0
"""The part of `Series` with operators as methods, and conditional choice."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from headrace import _core
from headrace.errors import InvalidArgumentError
from headrace.lazy.handle import mark
from headrace.operators import Binary, operator_methods, turned
from headrace.series.window import SeriesWindows

if TYPE_CHECKING:
    from headrace.series.series import Series


def _method(name: str, function: Binary, text: str) -> Any:
    def method(self: Any, other: Any, fill_value: Any = None) -> Series:
        mark(name)
        mine, theirs = self, other
        if fill_value is not None:
            gone = self.isna() & other.isna() if hasattr(other, "isna") else None
            mine = self.fillna(fill_value)
            theirs = other.fillna(fill_value) if hasattr(other, "fillna") else other
            made = function(mine, theirs)
            return made if gone is None else made.where(~gone)  # type: ignore[no-any-return]
        return function(mine, theirs)  # type: ignore[no-any-return]

    method.__name__ = name
    method.__qualname__ = f"SeriesArithmetic.{name}"
    method.__doc__ = f"""{text}; `fill_value` replaces a value missing on one side.

    >>> import headrace as hr
    >>> hr.Series([7, 9]).{name}(2).to_list()
    {[function(7, 2), function(9, 2)]}
    """
    return method


class SeriesArithmetic(SeriesWindows):
    """Operators as methods: ``s.add(1)`` is ``s + 1``, ``s.rsub(1)`` is ``1 - s``.

    >>> import headrace as hr
    >>> s = hr.Series([1, None, 3])
    >>> s.add(s.shift(), fill_value=0).to_list(), s.rsub(10).to_list(), s.ge(2).to_list()
    ([1, 1, 3], [9, None, 7], [False, None, True])
    """

    __slots__ = ()

    add, sub, mul, div, floordiv, mod, pow, eq, ne, lt, le, gt, ge = operator_methods(_method)
    subtract, multiply, divide, truediv = sub, mul, div, div
    radd = _method("radd", turned(operator.add), "Sums, `other` first")
    rsub = _method("rsub", turned(operator.sub), "Differences, `other` first")
    rmul = _method("rmul", turned(operator.mul), "Products, `other` first")
    rdiv = rtruediv = _method("rdiv", turned(operator.truediv), "Quotients, `other` first")
    rfloordiv = _method("rfloordiv", turned(operator.floordiv), "Floor division, `other` first")
    rmod = _method("rmod", turned(operator.mod), "Remainders, `other` first")
    rpow = _method("rpow", turned(operator.pow), "Powers, `other` first")

    def __divmod__(self: Any, other: Any) -> tuple[Any, Any]:
        return self // other, self % other

    def __round__(self: Any, digits: int | None = None) -> Any:
        return self.round(digits or 0)

    # ---- choice ----------------------------------------------------------------------------------
    def case_when(self: Any, caselist: Sequence[tuple[Any, Any]]) -> Series:
        """The value of the first true condition, else the series' own value.

        Parameters
        ----------
        caselist : list of (condition, value)
            Conditions are masks, or functions of the series that return one; values are series or
            scalars. Null in a condition is false.

        >>> import headrace as hr
        >>> s = hr.Series([1, 5, 9])
        >>> s.case_when([(s > 8, 0), (s > 4, s * 10)]).to_list()
        [1, 50, 0]
        """
        mark("case_when")
        pairs = list(caselist)
        if not pairs or not all(isinstance(pair, tuple) and len(pair) == 2 for pair in pairs):
            raise InvalidArgumentError(
                f"case_when: expected a list of (condition, value) pairs: caselist={caselist!r}"
            )
        made: Series = self
        for condition, value in reversed(pairs):
            mask = condition(self) if callable(condition) else condition
            made = made.mask(mask, value(self) if callable(value) else value)
        return made

    def combine_first(self: Any, other: Any) -> Series:
        """Fill null and NaN from `other`.

        >>> import headrace as hr
        >>> hr.Series([1.0, None]).combine_first(hr.Series([5.0, 6.0])).to_list()
        [1.0, 6.0]
        """
        mark("combine_first")
        made: Series = self.where(self.notna(), other)
        return made

    def pct_change(self: Any, periods: int = 1) -> Series:
        """Each value relative to the one `periods` rows before: ``s / s.shift() - 1``.

        >>> import headrace as hr
        >>> hr.Series([4.0, 5.0]).pct_change().to_list()
        [None, 0.25]
        """
        change: Series = self / self.shift(periods) - 1
        return change

    def dot(self: Any, other: Any) -> Any:
        """The dot product.

        >>> import headrace as hr
        >>> float(hr.Series([1.0, 2.0]).dot(hr.Series([3.0, 4.0])))
        11.0
        """
        return (self * other).sum()

    def equals(self: Any, other: Any) -> bool:
        """Whether both have the same dtype and values, null equal to null, NaN to NaN; evaluates.

        >>> import headrace as hr
        >>> hr.Series([1, None]).equals(hr.Series([1, None]))
        True
        """
        from headrace.series.series import Series

        if not isinstance(other, Series) or self.dtype != other.dtype or len(self) != len(other):
            return False
        mine, theirs = (Series(_core.data(each._value())) for each in (self, other))
        alike = (mine == theirs).fill_null(False) | (mine.is_null() & theirs.is_null())
        if self.dtype.kind == "f":
            alike = alike | (mine.is_nan() & theirs.is_nan()).fill_null(False)
        return bool(alike.all().item()) if len(self) else True
