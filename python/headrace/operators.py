# SPDX-License-Identifier: Apache-2.0
"""The operators of frames, series and arrays."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar, Self

Binary = Callable[[Any, Any], Any]


def turned(function: Binary) -> Binary:
    """The function with its operands swapped."""
    return lambda mine, theirs: function(theirs, mine)


class Operators:
    """Operators as steps of the plan, named by the engine's words."""

    __slots__ = ()
    # Above ndarray's 0, so that ndarray + ours dispatches to us.
    __array_priority__: ClassVar[float] = 1000.0
    __hash__: ClassVar[None] = None  # type: ignore[assignment]

    def _elementwise(self, op: str, *values: Any) -> Self:
        raise NotImplementedError

    def __add__(self, other: Any) -> Self:
        return self._elementwise("add", self, other)

    def __radd__(self, other: Any) -> Self:
        return self._elementwise("add", other, self)

    def __sub__(self, other: Any) -> Self:
        return self._elementwise("subtract", self, other)

    def __rsub__(self, other: Any) -> Self:
        return self._elementwise("subtract", other, self)

    def __mul__(self, other: Any) -> Self:
        return self._elementwise("multiply", self, other)

    def __rmul__(self, other: Any) -> Self:
        return self._elementwise("multiply", other, self)

    def __truediv__(self, other: Any) -> Self:
        return self._elementwise("divide", self, other)

    def __rtruediv__(self, other: Any) -> Self:
        return self._elementwise("divide", other, self)

    def __floordiv__(self, other: Any) -> Self:
        return self._elementwise("floor_divide", self, other)

    def __rfloordiv__(self, other: Any) -> Self:
        return self._elementwise("floor_divide", other, self)

    def __mod__(self, other: Any) -> Self:
        return self._elementwise("remainder", self, other)

    def __rmod__(self, other: Any) -> Self:
        return self._elementwise("remainder", other, self)

    def __pow__(self, other: Any) -> Self:
        return self._elementwise("power", self, other)

    def __rpow__(self, other: Any) -> Self:
        return self._elementwise("power", other, self)

    def __and__(self, other: Any) -> Self:
        return self._elementwise("bitwise_and", self, other)

    def __rand__(self, other: Any) -> Self:
        return self._elementwise("bitwise_and", other, self)

    def __or__(self, other: Any) -> Self:
        return self._elementwise("bitwise_or", self, other)

    def __ror__(self, other: Any) -> Self:
        return self._elementwise("bitwise_or", other, self)

    def __xor__(self, other: Any) -> Self:
        return self._elementwise("bitwise_xor", self, other)

    def __rxor__(self, other: Any) -> Self:
        return self._elementwise("bitwise_xor", other, self)

    def __eq__(self, other: object) -> Self:  # type: ignore[override]
        return self._elementwise("equal", self, other)

    def __ne__(self, other: object) -> Self:  # type: ignore[override]
        return self._elementwise("not_equal", self, other)

    def __lt__(self, other: Any) -> Self:
        return self._elementwise("less", self, other)

    def __le__(self, other: Any) -> Self:
        return self._elementwise("less_equal", self, other)

    def __gt__(self, other: Any) -> Self:
        return self._elementwise("greater", self, other)

    def __ge__(self, other: Any) -> Self:
        return self._elementwise("greater_equal", self, other)

    def __invert__(self) -> Self:
        return self._elementwise("invert", self)

    def __neg__(self) -> Self:
        return self._elementwise("negative", self)

    def __abs__(self) -> Self:
        return self._elementwise("abs", self)

    def abs(self) -> Self:
        """Absolute values.

        >>> hr.Series([-2, 5]).abs().to_list()
        [2, 5]
        """
        return self._elementwise("abs", self)
