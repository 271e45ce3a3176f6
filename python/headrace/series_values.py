# SPDX-License-Identifier: Apache-2.0
"""The part of `Series` that tests, chooses and fills values."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal, Self

from headrace import _core
from headrace.deferred import Deferred, mark
from headrace.errors import InvalidArgumentError, TypeMismatchError
from headrace.windows import SeriesWindows

if TYPE_CHECKING:
    from headrace.series import Series


def _without_nulls(condition: Any) -> Any:
    """A mask in which null is false."""
    if isinstance(condition, SeriesValues) and condition.dtype == "bool":
        return condition.fill_null(False)
    return condition


class SeriesValues(SeriesWindows):
    """Tests, choices and missing values of a column."""

    __slots__ = ()

    # ---- rows against values -----------------------------------------------------------------
    def isin(self: Any, values: Any) -> Series:
        """True where the value is one of `values` (a list, a series, an array); never null.

        Null is one of values with a null in them, and NaN one of values with a NaN.

        >>> import headrace as hr
        >>> hr.Series(["a", "b", None]).isin(["b", "c"]).to_list()
        [False, True, False]
        """
        from headrace.series import Series

        mark("isin")
        if isinstance(values, str | bytes) or not hasattr(values, "__iter__"):
            raise TypeMismatchError(f"isin: a list of values is wanted: values={values!r}")
        if not isinstance(values, Deferred) and not hasattr(values, "__array_interface__"):
            values = list(values)
        if isinstance(values, list) and all(value is None for value in values):
            none: Series = self.is_null() if values else self.is_null() & False
            return none
        made: Series = self._like(_core.is_in(self._node, Series(values)._node))
        return made

    def between(
        self,
        left: Any,
        right: Any,
        inclusive: Literal["both", "neither", "left", "right"] = "both",
    ) -> Series:
        """True where ``left <= value <= right``; `inclusive` says which ends count."""
        if inclusive not in ("both", "neither", "left", "right"):
            raise InvalidArgumentError(
                f"between: no such word: inclusive={inclusive!r}; pass both, neither, left or right"
            )
        low = self >= left if inclusive in ("both", "left") else self > left
        high = self <= right if inclusive in ("both", "right") else self < right
        both: Series = low & high
        return both

    def where(self: Any, condition: Any, other: Any = None) -> Series:
        """The values where `condition` is true, else `other` (null if it is not given).

        Null in the condition is false.
        """
        if other is None:
            other = self.shift(1 << 62)  # nulls of this dtype
        condition = _without_nulls(condition)
        kept: Series = self._elementwise("where", condition, self, other)
        return kept

    def mask(self, condition: Any, other: Any = None) -> Series:
        """The values where `condition` is false, else `other` (null if it is not given)."""
        return self.where(~_without_nulls(condition), other)

    def replace(self: Any, to_replace: Any, value: Any = None) -> Series:
        """Values equal to `to_replace` become `value`; a mapping replaces each of its keys."""
        pairs = to_replace if isinstance(to_replace, Mapping) else {to_replace: value}
        result: Series = self
        for old, new in pairs.items():
            result = result._elementwise("where", self == old, new, result)
        return result

    # ---- missing values ----------------------------------------------------------------------
    def is_null(self) -> Self:
        """True where there is no value (NaN is a value)."""
        return self._elementwise("is_null", self)

    def isna(self) -> Self:
        """True where the value is null or NaN."""
        null = self.is_null()
        return (
            null | (self._elementwise("isnan", self)).fill_null(False) if self._floating() else null
        )

    def notna(self) -> Self:
        """False where the value is null or NaN."""
        return ~self.isna()

    def fill_null(self, value: Any) -> Self:
        """Nulls replaced by `value`; NaN stays."""
        return self._elementwise("fill_null", self, value)

    def fillna(self, value: Any) -> Self:
        """Nulls and NaN replaced by `value`."""
        filled = self.fill_null(value)
        if not self._floating():
            return filled
        return self._elementwise("where", filled.is_nan(), value, filled)

    def dropna(self: Any) -> Series:
        """The rows that are neither null nor NaN, in order."""
        present: Series = self[self.notna()]
        return present

    def _floating(self) -> bool:
        return self.dtype.kind == "f"
