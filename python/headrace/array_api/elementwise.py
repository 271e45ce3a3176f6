# SPDX-License-Identifier: Apache-2.0
"""Element-wise functions of the array API standard."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from headrace.array import complex_numbers
from headrace.array.construct import asarray as _asarray
from headrace.array.inverse_hyperbolic import (
    inverse_hyperbolic_cosine,
    inverse_hyperbolic_sine,
    inverse_hyperbolic_tangent,
    log_of_sum_of_exponentials,
)
from headrace.lazy.handle import Deferred
from headrace.lazy.numpy_fallback import through_numpy

if TYPE_CHECKING:
    from headrace.array.array import Array


def _of(op: str, *values: Any) -> Array:
    ours: Any = next((v for v in values if isinstance(v, Deferred)), None)
    return (_asarray(values[0]) if ours is None else ours)._elementwise(op, *values)


def abs(x: Any, /) -> Array:
    """Absolute values; of complex numbers their moduli.

    >>> hr.array_api.abs(hr.asarray([-1, 2])).tolist()
    [1, 2]
    """
    return _of("abs", x)


def acos(x: Any, /) -> Array:
    """Inverse cosines.

    >>> hr.array_api.acos(hr.asarray([1.0])).tolist()
    [0.0]
    """
    return _of("arccos", x)


def acosh(x: Any, /) -> Array:
    """Inverse hyperbolic cosines.

    >>> hr.array_api.acosh(hr.asarray([1.0])).tolist()
    [0.0]
    """
    return inverse_hyperbolic_cosine(x)


def add(x1: Any, x2: Any, /) -> Array:
    """Sums.

    >>> hr.array_api.add(hr.asarray([1]), hr.asarray([2])).tolist()
    [3]
    """
    return _of("add", x1, x2)


def asin(x: Any, /) -> Array:
    """Inverse sines.

    >>> hr.array_api.asin(hr.asarray([0.0])).tolist()
    [0.0]
    """
    return _of("arcsin", x)


def asinh(x: Any, /) -> Array:
    """Inverse hyperbolic sines.

    >>> hr.array_api.asinh(hr.asarray([0.0])).tolist()
    [0.0]
    """
    return inverse_hyperbolic_sine(x)


def atan(x: Any, /) -> Array:
    """Inverse tangents.

    >>> hr.array_api.atan(hr.asarray([0.0])).tolist()
    [0.0]
    """
    return _of("arctan", x)


def atan2(x1: Any, x2: Any, /) -> Array:
    """Angles of points.

    >>> hr.array_api.atan2(hr.asarray([0.0]), hr.asarray([1.0])).tolist()
    [0.0]
    """
    return _of("arctan2", x1, x2)


def atanh(x: Any, /) -> Array:
    """Inverse hyperbolic tangents.

    >>> hr.array_api.atanh(hr.asarray([0.0])).tolist()
    [0.0]
    """
    return inverse_hyperbolic_tangent(x)


def bitwise_and(x1: Any, x2: Any, /) -> Array:
    """Bits that both have.

    >>> hr.array_api.bitwise_and(hr.asarray([3]), hr.asarray([2])).tolist()
    [2]
    """
    return _of("bitwise_and", x1, x2)


def bitwise_invert(x: Any, /) -> Array:
    """Bits inverted.

    >>> hr.array_api.bitwise_invert(hr.asarray([0])).tolist()
    [-1]
    """
    return _of("invert", x)


def bitwise_left_shift(x1: Any, x2: Any, /) -> Array:
    """Bits moved to the left.

    >>> hr.array_api.bitwise_left_shift(hr.asarray([1]), hr.asarray([2])).tolist()
    [4]
    """
    return _of("left_shift", x1, x2)


def bitwise_or(x1: Any, x2: Any, /) -> Array:
    """Bits that either has.

    >>> hr.array_api.bitwise_or(hr.asarray([1]), hr.asarray([2])).tolist()
    [3]
    """
    return _of("bitwise_or", x1, x2)


def bitwise_right_shift(x1: Any, x2: Any, /) -> Array:
    """Bits moved to the right.

    >>> hr.array_api.bitwise_right_shift(hr.asarray([4]), hr.asarray([2])).tolist()
    [1]
    """
    return _of("right_shift", x1, x2)


def bitwise_xor(x1: Any, x2: Any, /) -> Array:
    """Bits that one of both has.

    >>> hr.array_api.bitwise_xor(hr.asarray([3]), hr.asarray([2])).tolist()
    [1]
    """
    return _of("bitwise_xor", x1, x2)


def ceil(x: Any, /) -> Array:
    """The next integers above.

    >>> hr.array_api.ceil(hr.asarray([1.5])).tolist()
    [2.0]
    """
    return _of("ceil", x)


def clip(x: Any, /, min: Any = None, max: Any = None) -> Array:
    """Elements limited to a range, in their dtype.

    >>> hr.array_api.clip(hr.asarray([1, 5]), 2, 4).tolist()
    [2, 4]
    """
    made = x
    if min is not None:
        made = _of("maximum", made, min)
    if max is not None:
        made = _of("minimum", made, max)
    return made if made.dtype == x.dtype else made.astype(str(x.dtype))


def conj(x: Any, /) -> Array:
    """Complex conjugates.

    >>> hr.array_api.conj(hr.asarray([1 + 2j])).tolist()
    [(1-2j)]
    """
    return complex_numbers.conj(x)


def copysign(x1: Any, x2: Any, /) -> Array:
    """Magnitudes with the signs of others.

    >>> hr.array_api.copysign(hr.asarray([1.0]), hr.asarray([-2.0])).tolist()
    [-1.0]
    """
    return _of("copysign", x1, x2)


def cos(x: Any, /) -> Array:
    """Cosines.

    >>> hr.array_api.cos(hr.asarray([0.0])).tolist()
    [1.0]
    """
    return _of("cos", x)


def cosh(x: Any, /) -> Array:
    """Hyperbolic cosines.

    >>> hr.array_api.cosh(hr.asarray([0.0])).tolist()
    [1.0]
    """
    return _of("cosh", x)


def divide(x1: Any, x2: Any, /) -> Array:
    """Quotients.

    >>> hr.array_api.divide(hr.asarray([1.0]), hr.asarray([2.0])).tolist()
    [0.5]
    """
    return _of("divide", x1, x2)


def equal(x1: Any, x2: Any, /) -> Array:
    """Whether elements are equal.

    >>> hr.array_api.equal(hr.asarray([1]), hr.asarray([1])).tolist()
    [True]
    """
    return _of("equal", x1, x2)


def exp(x: Any, /) -> Array:
    """Exponentials.

    >>> hr.array_api.exp(hr.asarray([0.0])).tolist()
    [1.0]
    """
    return _of("exp", x)


def expm1(x: Any, /) -> Array:
    """Exponentials less 1, exact near 0.

    >>> hr.array_api.expm1(hr.asarray([0.0])).tolist()
    [0.0]
    """
    return _of("expm1", x)


def floor(x: Any, /) -> Array:
    """The next integers below.

    >>> hr.array_api.floor(hr.asarray([1.5])).tolist()
    [1.0]
    """
    return _of("floor", x)


def floor_divide(x1: Any, x2: Any, /) -> Array:
    """Quotients, rounded down: ``//``.

    >>> hr.array_api.floor_divide(hr.asarray([7.0, float("inf")]), hr.asarray([2.0, 2.0])).tolist()
    [3.0, inf]
    """
    made: Array = x1 // x2
    return made


def greater(x1: Any, x2: Any, /) -> Array:
    """Whether elements are greater.

    >>> hr.array_api.greater(hr.asarray([1]), hr.asarray([1])).tolist()
    [False]
    """
    return _of("greater", x1, x2)


def greater_equal(x1: Any, x2: Any, /) -> Array:
    """Whether elements are greater or equal.

    >>> hr.array_api.greater_equal(hr.asarray([1]), hr.asarray([1])).tolist()
    [True]
    """
    return _of("greater_equal", x1, x2)


def hypot(x1: Any, x2: Any, /) -> Array:
    """Lengths of vectors.

    >>> hr.array_api.hypot(hr.asarray([3.0]), hr.asarray([4.0])).tolist()
    [5.0]
    """
    return _of("hypot", x1, x2)


def imag(x: Any, /) -> Array:
    """Imaginary parts.

    >>> hr.array_api.imag(hr.asarray([1 + 2j])).tolist()
    [2.0]
    """
    return complex_numbers.imag(x)


def isfinite(x: Any, /) -> Array:
    """Whether elements are finite.

    >>> hr.array_api.isfinite(hr.asarray([1.0])).tolist()
    [True]
    """
    return _of("isfinite", x)


def isinf(x: Any, /) -> Array:
    """Whether elements are infinite.

    >>> hr.array_api.isinf(hr.asarray([1.0])).tolist()
    [False]
    """
    return _of("isinf", x)


def isnan(x: Any, /) -> Array:
    """Whether elements are NaN.

    >>> hr.array_api.isnan(hr.asarray([1.0])).tolist()
    [False]
    """
    return _of("isnan", x)


def less(x1: Any, x2: Any, /) -> Array:
    """Whether elements are less.

    >>> hr.array_api.less(hr.asarray([1]), hr.asarray([1])).tolist()
    [False]
    """
    return _of("less", x1, x2)


def less_equal(x1: Any, x2: Any, /) -> Array:
    """Whether elements are less or equal.

    >>> hr.array_api.less_equal(hr.asarray([1]), hr.asarray([1])).tolist()
    [True]
    """
    return _of("less_equal", x1, x2)


def log(x: Any, /) -> Array:
    """Natural logarithms.

    >>> hr.array_api.log(hr.asarray([1.0])).tolist()
    [0.0]
    """
    return _of("log", x)


def log10(x: Any, /) -> Array:
    """Logarithms to base 10.

    >>> hr.array_api.log10(hr.asarray([100.0])).tolist()
    [2.0]
    """
    return _of("log10", x)


def log1p(x: Any, /) -> Array:
    """Logarithms of 1 more, exact near 0.

    >>> hr.array_api.log1p(hr.asarray([0.0])).tolist()
    [0.0]
    """
    return _of("log1p", x)


def log2(x: Any, /) -> Array:
    """Logarithms to base 2.

    >>> hr.array_api.log2(hr.asarray([8.0])).tolist()
    [3.0]
    """
    return _of("log2", x)


def logaddexp(x1: Any, x2: Any, /) -> Array:
    """Logarithms of sums of exponentials.

    >>> f"{hr.array_api.logaddexp(hr.asarray(0.0), hr.asarray(0.0)).item():.4f}"
    '0.6931'
    """
    return log_of_sum_of_exponentials(x1, x2)


def logical_and(x1: Any, x2: Any, /) -> Array:
    """Whether both are true.

    >>> hr.array_api.logical_and(hr.asarray([True]), hr.asarray([False])).tolist()
    [False]
    """
    return _of("logical_and", x1, x2)


def logical_not(x: Any, /) -> Array:
    """Whether elements are false.

    >>> hr.array_api.logical_not(hr.asarray([True])).tolist()
    [False]
    """
    return _of("logical_not", x)


def logical_or(x1: Any, x2: Any, /) -> Array:
    """Whether either is true.

    >>> hr.array_api.logical_or(hr.asarray([True]), hr.asarray([False])).tolist()
    [True]
    """
    return _of("logical_or", x1, x2)


def logical_xor(x1: Any, x2: Any, /) -> Array:
    """Whether one of both is true.

    >>> hr.array_api.logical_xor(hr.asarray([True]), hr.asarray([False])).tolist()
    [True]
    """
    return _of("logical_xor", x1, x2)


def maximum(x1: Any, x2: Any, /) -> Array:
    """The larger elements; NaN where one is.

    >>> hr.array_api.maximum(hr.asarray([1]), hr.asarray([2])).tolist()
    [2]
    """
    return _of("maximum", x1, x2)


def minimum(x1: Any, x2: Any, /) -> Array:
    """The smaller elements; NaN where one is.

    >>> hr.array_api.minimum(hr.asarray([1]), hr.asarray([2])).tolist()
    [1]
    """
    return _of("minimum", x1, x2)


def multiply(x1: Any, x2: Any, /) -> Array:
    """Products.

    >>> hr.array_api.multiply(hr.asarray([2]), hr.asarray([3])).tolist()
    [6]
    """
    return _of("multiply", x1, x2)


def negative(x: Any, /) -> Array:
    """Elements with the other sign.

    >>> hr.array_api.negative(hr.asarray([1])).tolist()
    [-1]
    """
    return _of("negative", x)


def nextafter(x1: Any, x2: Any, /) -> Array:
    """The next floats in the direction of others; by NumPy, as `hr.fallbacks` lists.

    >>> hr.array_api.nextafter(hr.asarray(0.0), hr.asarray(1.0)).item()
    5e-324
    """
    import numpy as np

    return _asarray(through_numpy("nextafter", np.nextafter, (x1, x2), {}))


def not_equal(x1: Any, x2: Any, /) -> Array:
    """Whether elements differ.

    >>> hr.array_api.not_equal(hr.asarray([1]), hr.asarray([1])).tolist()
    [False]
    """
    return _of("not_equal", x1, x2)


def positive(x: Any, /) -> Array:
    """The elements as they are.

    >>> hr.array_api.positive(hr.asarray([-1])).tolist()
    [-1]
    """
    return +x


def pow(x1: Any, x2: Any, /) -> Array:
    """Powers.

    >>> hr.array_api.pow(hr.asarray([2.0]), hr.asarray([3.0])).tolist()
    [8.0]
    """
    return _of("power", x1, x2)


def real(x: Any, /) -> Array:
    """Real parts.

    >>> hr.array_api.real(hr.asarray([1 + 2j])).tolist()
    [1.0]
    """
    return complex_numbers.real(x)


def reciprocal(x: Any, /) -> Array:
    """1 over each element.

    >>> hr.array_api.reciprocal(hr.asarray([2.0])).tolist()
    [0.5]
    """
    return _of("reciprocal", x)


def remainder(x1: Any, x2: Any, /) -> Array:
    """Remainders, with the sign of the divisor.

    >>> hr.array_api.remainder(hr.asarray([5]), hr.asarray([3])).tolist()
    [2]
    """
    return _of("remainder", x1, x2)


def round(x: Any, /) -> Array:
    """The nearest integers, halves to even.

    >>> hr.array_api.round(hr.asarray([2.5])).tolist()
    [2.0]
    """
    return x if x.dtype.kind in "biu" else _of("rint", x)


def sign(x: Any, /) -> Array:
    """Signs: -1, 0 or 1; of complex numbers those of modulus 1.

    >>> hr.array_api.sign(hr.asarray([-2.0])).tolist()
    [-1.0]
    """
    return _of("sign", x)


def signbit(x: Any, /) -> Array:
    """Whether the sign of floats is negative, that of zeros and NaN too.

    >>> hr.array_api.signbit(hr.asarray([-0.0])).tolist()
    [True]
    """
    return _of("less", _of("copysign", 1.0, x), 0.0)


def sin(x: Any, /) -> Array:
    """Sines.

    >>> hr.array_api.sin(hr.asarray([0.0])).tolist()
    [0.0]
    """
    return _of("sin", x)


def sinh(x: Any, /) -> Array:
    """Hyperbolic sines.

    >>> hr.array_api.sinh(hr.asarray([0.0])).tolist()
    [0.0]
    """
    return _of("sinh", x)


def sqrt(x: Any, /) -> Array:
    """Square roots.

    >>> hr.array_api.sqrt(hr.asarray([4.0])).tolist()
    [2.0]
    """
    return _of("sqrt", x)


def square(x: Any, /) -> Array:
    """Squares.

    >>> hr.array_api.square(hr.asarray([3])).tolist()
    [9]
    """
    return _of("square", x)


def subtract(x1: Any, x2: Any, /) -> Array:
    """Differences.

    >>> hr.array_api.subtract(hr.asarray([3]), hr.asarray([1])).tolist()
    [2]
    """
    return _of("subtract", x1, x2)


def tan(x: Any, /) -> Array:
    """Tangents.

    >>> hr.array_api.tan(hr.asarray([0.0])).tolist()
    [0.0]
    """
    return _of("tan", x)


def tanh(x: Any, /) -> Array:
    """Hyperbolic tangents.

    >>> hr.array_api.tanh(hr.asarray([0.0])).tolist()
    [0.0]
    """
    return _of("tanh", x)


def trunc(x: Any, /) -> Array:
    """Elements without fractions.

    >>> hr.array_api.trunc(hr.asarray([-1.5])).tolist()
    [-1.0]
    """
    return _of("trunc", x)
