# SPDX-License-Identifier: Apache-2.0
"""Operators of the plug-in's series, three-valued: null where an operand is."""

from __future__ import annotations

from typing import Any, Self

from narwhals.exceptions import InvalidOperationError

from headrace.interop.narwhals.rows import binary, chosen, null_column, operands, unary
from headrace.series.column import series_of


class Arithmetic:
    """The operators; a mixin of the series."""

    __hash__ = None  # type: ignore[assignment]

    native: Any
    _made: Any

    def _combined(self, op: str, other: Any, reflected: bool = False) -> Self:
        left, right, single = operands(self, other)
        if op in _NUMBERS:
            left, right = (_counted(each, op) for each in (left, right))
        if op in ("floor_divide", "remainder") and not reflected:
            right = _null_for_zero(left, right)
        elif op in ("floor_divide", "remainder"):
            left = _null_for_zero(right, left)
        node = binary(op, right, left) if reflected else binary(op, left, right)
        made = self._made(node)
        made._broadcast = single
        return made

    def __add__(self, other: Any) -> Self:
        return self._combined("add", other)

    def __radd__(self, other: Any) -> Self:
        return self._combined("add", other, True)

    def __sub__(self, other: Any) -> Self:
        return self._combined("subtract", other)

    def __rsub__(self, other: Any) -> Self:
        return self._combined("subtract", other, True)

    def __mul__(self, other: Any) -> Self:
        return self._combined("multiply", other)

    def __rmul__(self, other: Any) -> Self:
        return self._combined("multiply", other, True)

    def __truediv__(self, other: Any) -> Self:
        return self._combined("divide", other)

    def __rtruediv__(self, other: Any) -> Self:
        return self._combined("divide", other, True)

    def __floordiv__(self, other: Any) -> Self:
        return self._combined("floor_divide", other)

    def __rfloordiv__(self, other: Any) -> Self:
        return self._combined("floor_divide", other, True)

    def __mod__(self, other: Any) -> Self:
        return self._combined("remainder", other)

    def __rmod__(self, other: Any) -> Self:
        return self._combined("remainder", other, True)

    def __pow__(self, other: Any) -> Self:
        return self._combined("power", other)

    def __rpow__(self, other: Any) -> Self:
        return self._combined("power", other, True)

    def __and__(self, other: Any) -> Self:
        return self._combined("bitwise_and", other)

    def __rand__(self, other: Any) -> Self:
        return self._combined("bitwise_and", other, True)

    def __or__(self, other: Any) -> Self:
        return self._combined("bitwise_or", other)

    def __ror__(self, other: Any) -> Self:
        return self._combined("bitwise_or", other, True)

    def __xor__(self, other: Any) -> Self:
        return self._combined("bitwise_xor", other)

    def __rxor__(self, other: Any) -> Self:
        return self._combined("bitwise_xor", other, True)

    def __eq__(self, other: object) -> Self:  # type: ignore[override]
        return self._combined("equal", other)

    def __ne__(self, other: object) -> Self:  # type: ignore[override]
        return self._combined("not_equal", other)

    def __lt__(self, other: Any) -> Self:
        return self._combined("less", other)

    def __le__(self, other: Any) -> Self:
        return self._combined("less_equal", other)

    def __gt__(self, other: Any) -> Self:
        return self._combined("greater", other)

    def __ge__(self, other: Any) -> Self:
        return self._combined("greater_equal", other)

    def __invert__(self) -> Self:
        return self._unary("invert")

    def __neg__(self) -> Self:
        return self._unary("negative")

    def abs(self) -> Self:
        """Absolute values."""
        return self._unary("absolute")

    def exp(self) -> Self:
        """The exponential."""
        return self._unary("exp")

    def sqrt(self) -> Self:
        """The square root."""
        return self._unary("sqrt")

    def sin(self) -> Self:
        """The sine."""
        return self._unary("sin")

    def cos(self) -> Self:
        """The cosine."""
        return self._unary("cos")

    def floor(self) -> Self:
        """The greatest whole number that is not greater."""
        return self._unary("floor")

    def ceil(self) -> Self:
        """The smallest whole number that is not smaller."""
        return self._unary("ceil")

    def log(self, base: float) -> Self:
        """The logarithm to a base."""
        import math

        logs = series_of(unary("log", self.native))
        return self._kept(logs._node if base == math.e else (logs / math.log(base))._node)

    def round(self, decimals: int) -> Self:
        """The values rounded to a number of decimal digits."""
        return self._kept(self.native.round(decimals)._node)

    def is_nan(self) -> Self:
        """Whether each number is NaN."""
        self._need_numbers("is_nan")
        return self._unary("isnan")

    def is_finite(self) -> Self:
        """Whether each number is neither infinite nor NaN."""
        self._need_numbers("is_finite")
        return self._unary("isfinite")

    def is_null(self) -> Self:
        """Whether each value is null; NaN is not."""
        return self._kept(self.native.is_null()._node)

    def _need_numbers(self, op: str) -> None:
        if not self.native.dtype.is_of("biuf"):
            raise InvalidOperationError(f"`{op}` is not supported for dtype {self.native.dtype!s}.")

    def _unary(self, op: str) -> Self:
        return self._kept(unary(op, self.native))

    def _kept(self, node: Any) -> Self:
        """A result for each row of this series, single if this one is."""
        made = self._made(node)
        made._broadcast = getattr(self, "_broadcast", False)
        return made


_NUMBERS = ("add", "subtract", "multiply", "floor_divide", "remainder", "power")


def _counted(value: Any, op: str) -> Any:
    """Truth values as the numbers that arithmetic counts them as."""
    if str(getattr(value, "dtype", "")) == "bool":
        return value.astype("int64")
    return int(value) if isinstance(value, bool) and op in _NUMBERS else value


def _null_for_zero(numerator: Any, divisor: Any) -> Any:
    """A whole divisor with null for zero, by which nothing whole can be divided."""
    if not (_is_whole(numerator) and _is_whole(divisor)):
        return divisor
    if hasattr(divisor, "to_list"):
        return series_of(chosen(divisor != 0, divisor, None))
    if divisor == 0 and hasattr(numerator, "to_list"):
        return null_column(numerator._node, numerator._node.dtype)
    return divisor


def _is_whole(value: Any) -> bool:
    if isinstance(value, int | float):
        return isinstance(value, int)
    return str(getattr(value, "dtype", "")).startswith(("int", "uint"))
