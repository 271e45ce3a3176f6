# SPDX-License-Identifier: Apache-2.0
"""What the array API standard asks of arrays beyond NumPy's methods: its operators, by handle."""

from __future__ import annotations

import importlib
import math
import operator
from typing import TYPE_CHECKING, Any, Self

from headrace import _core
from headrace.array import indexing, layout, views
from headrace.array.axis_reductions import cumulative, reduce_axes
from headrace.array.complex_numbers import conj, imag, is_complex, real
from headrace.array.inverse_hyperbolic import (
    inverse_hyperbolic_cosine,
    inverse_hyperbolic_sine,
    inverse_hyperbolic_tangent,
    log_of_sum_of_exponentials,
)
from headrace.array.numpy_results import as_ours, deferred_in
from headrace.errors import InvalidArgumentError, TypeMismatchError
from headrace.lazy.handle import UFUNC_REDUCTIONS, Deferred, is_array
from headrace.linalg import matmul

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import ModuleType

    import numpy as np

    from headrace.array.array import Array

#: NumPy's ufuncs that are no operation of the evaluator.
UFUNCS: dict[str, Callable[..., Any]] = {
    "arcsinh": inverse_hyperbolic_sine,
    "arccosh": inverse_hyperbolic_cosine,
    "arctanh": inverse_hyperbolic_tangent,
    "logaddexp": log_of_sum_of_exponentials,
    "conjugate": conj,
    "positive": operator.pos,
    "signbit": lambda x: x._elementwise("less", x._elementwise("copysign", 1.0, x), 0.0),
}
#: Editions of the standard that `__array_namespace__` gives.
VERSIONS = ("2021.12", "2022.12", "2023.12", "2024.12", "2025.12")


def _has_unknown_length(value: Any) -> bool:
    return isinstance(value, Deferred) and -1 in value._node.shape


def _with_known_lengths(values: tuple[Any, ...]) -> tuple[Any, ...]:
    """Operands of several sources with the lengths that they turn out to have.

    NumPy's code does not look first, and arrays, unlike columns, have no row sets to compare.
    """
    arrays = [v for v in values if isinstance(v, Deferred) and v._node.shape]
    sources = {v._node.domain for v in arrays}
    if len(sources) == 1 or not all(is_array(v) for v in arrays):
        return values
    if len(sources - {0}) < 2 and not any(map(_has_unknown_length, arrays)):
        return values
    _core.force([v._node for v in arrays])
    return tuple(
        v._like(_core.data(v._node.value())) if any(v is each for each in arrays) else v
        for v in values
    )


class StandardOperators(Deferred):
    """In-place operators give this handle another node, and the arrays that it is a view of.

    Other views that were made before keep the old values.
    """

    __slots__ = ("_origin",)

    def __init__(self, node: _core.Node) -> None:
        super().__init__(node)
        self._origin: Any = None  # of a view; see views.py

    def _elementwise(self, op: str, *values: Any, missing_is_false: bool = False) -> Any:
        if len(values) > 1:
            values = _with_known_lengths(values)
        return super()._elementwise(op, *values, missing_is_false=missing_is_false)

    def __array_namespace__(self, *, api_version: str | None = None) -> ModuleType:
        if api_version not in (None, *VERSIONS):
            raise InvalidArgumentError(
                f"__array_namespace__: unknown version: api_version={api_version!r}; use "
                f"{VERSIONS[-1]!r}"
            )
        return importlib.import_module("headrace.array_api")

    @property
    def mT(self) -> Array:  # noqa: N802
        """Each matrix of the last two axes transposed, a view.

        >>> hr.asarray([[1, 2], [3, 4]]).mT.tolist()
        [[1, 3], [2, 4]]
        """
        ours: Any = self
        if ours.ndim < 2:
            raise InvalidArgumentError(f"mT: expected a matrix: dimensions={ours.ndim}")
        return layout.permute_dims(ours, [*range(ours.ndim - 2), ours.ndim - 1, ours.ndim - 2])

    @property
    def real(self) -> Array:
        """The real parts, a view.

        >>> hr.asarray([1 + 2j]).real.tolist()
        [1.0]
        """
        ours: Any = self
        return real(ours)

    @real.setter
    def real(self, values: Any) -> None:
        ours: Any = self
        indexing.set_part(ours, real(ours), values)

    @property
    def imag(self) -> Array:
        """The imaginary parts, a view; zeros of real numbers.

        >>> hr.asarray([1 + 2j]).imag.tolist()
        [2.0]
        """
        ours: Any = self
        return imag(ours)

    @imag.setter
    def imag(self, values: Any) -> None:
        ours: Any = self
        if not is_complex(ours):
            raise TypeMismatchError(
                f"imag: real numbers have no imaginary parts to set: dtype={ours.dtype}; convert "
                "them with astype('complex128')"
            )
        indexing.set_part(ours, imag(ours), values)

    def to_device(self, device: str, /, *, stream: Any = None) -> Self:
        """The values on a device, as `to`.

        >>> hr.asarray([1.0]).to_device("cpu").tolist()
        [1.0]
        """
        if stream is not None:
            raise InvalidArgumentError(f"to_device: streams are the engine's: stream={stream!r}")
        if device == self.device:
            return self._like(self._node)
        return self.to("cpu" if device == "host" else device)

    def __setitem__(self, key: Any, value: Any) -> None:
        """Give this handle, and arrays that it is a view of, other elements at `key`."""
        ours: Any = self
        indexing.set_item(ours, key, value)

    def __pos__(self) -> Self:
        return self.copy()

    def __complex__(self) -> complex:
        ours: Any = self
        return complex(ours.item())

    def __floordiv__(self, other: Any) -> Self:
        return self._floor_quotient(self, other)

    def __rfloordiv__(self, other: Any) -> Self:
        return self._floor_quotient(other, self)

    def _floor_quotient(self, left: Any, right: Any) -> Self:
        """`left // right`, of infinities as the standard says: inf // 2 is inf, 2 // -inf is -0.

        `numpy.floor_divide` of arrays has NumPy's answers, NaN and -1.
        """
        made = self._elementwise("floor_divide", left, right)
        if made is NotImplemented or made._kind != "array" or made.dtype.kind != "f":
            return made
        sides = [x for x in (left, right) if not isinstance(x, int | float) or math.isinf(x)]
        endless = [self._elementwise("isinf", x) for x in sides]
        either = endless[0] | endless[1] if len(endless) == 2 else endless[0]
        exact = self._elementwise("divide", left, right)
        return self._elementwise("where", either, exact, made)

    def __lshift__(self, other: Any) -> Self:
        return self._elementwise("left_shift", self, other)

    def __rlshift__(self, other: Any) -> Self:
        return self._elementwise("left_shift", other, self)

    def __rshift__(self, other: Any) -> Self:
        return self._elementwise("right_shift", self, other)

    def __rrshift__(self, other: Any) -> Self:
        return self._elementwise("right_shift", other, self)

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **kwargs: Any) -> Any:
        if not all(isinstance(each, StandardOperators) for each in deferred_in(inputs)):
            return super().__array_ufunc__(ufunc, method, *inputs, **kwargs)
        name = ufunc.__name__
        options = {word: v for word, v in kwargs.items() if word == "axis" or v is not None}
        if method == "__call__" and not options and name in UFUNCS:
            return UFUNCS[name](*inputs)
        if (
            method == "reduce"
            and name in UFUNC_REDUCTIONS
            and options.keys() <= {"axis", "keepdims"}
        ):
            return reduce_axes(inputs[0], UFUNC_REDUCTIONS[name], options.pop("axis", 0), **options)
        if method == "accumulate" and name in ("add", "multiply") and options.keys() <= {"axis"}:
            return cumulative(inputs[0], name == "multiply", options.get("axis", 0))
        return as_ours(super().__array_ufunc__(ufunc, method, *inputs, **kwargs))

    def _rebound(self, made: Any) -> Self:
        """Put the handle on a result, which has its shape and dtype."""
        if made is NotImplemented:
            return made
        if _has_unknown_length(self) != _has_unknown_length(made):
            _core.force([self._node, made._node])
        if tuple(made._node.shape) != tuple(self._node.shape):
            raise InvalidArgumentError(
                f"in place: the result has another shape: shape={tuple(self._node.shape)}, "
                f"result={tuple(made._node.shape)}; assign it to a name"
            )
        if made._node.dtype != self._node.dtype:
            raise TypeMismatchError(
                f"in place: the result has another dtype: dtype={self._node.dtype}, "
                f"result={made._node.dtype}; assign it to a name"
            )
        ours: Any = self
        views.rebind(ours, made._node)
        return self

    def __iadd__(self, other: Any) -> Self:
        return self._rebound(self + other)

    def __isub__(self, other: Any) -> Self:
        return self._rebound(self - other)

    def __imul__(self, other: Any) -> Self:
        return self._rebound(self * other)

    def __itruediv__(self, other: Any) -> Self:
        return self._rebound(self / other)

    def __ifloordiv__(self, other: Any) -> Self:
        return self._rebound(self // other)

    def __imod__(self, other: Any) -> Self:
        return self._rebound(self % other)

    def __ipow__(self, other: Any) -> Self:
        return self._rebound(self**other)

    def __imatmul__(self, other: Any) -> Self:
        return self._rebound(matmul(self, other))

    def __iand__(self, other: Any) -> Self:
        return self._rebound(self & other)

    def __ior__(self, other: Any) -> Self:
        return self._rebound(self | other)

    def __ixor__(self, other: Any) -> Self:
        return self._rebound(self ^ other)

    def __ilshift__(self, other: Any) -> Self:
        return self._rebound(self << other)

    def __irshift__(self, other: Any) -> Self:
        return self._rebound(self >> other)
