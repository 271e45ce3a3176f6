# SPDX-License-Identifier: Apache-2.0
"""Inverse hyperbolic functions and sums of exponentials, as fused chains of others."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from headrace.array.complex_numbers import complex_of, imag, is_complex, real
from headrace.array.construct import asarray
from headrace.lazy.handle import mark

if TYPE_CHECKING:
    from headrace.array.array import Array

#: From here on the square of a number hides 1.
_LARGE = 2.0**28


def _floating(x: Any) -> Array:
    array = asarray(x)
    return array if array.dtype.kind in "fc" else array.astype("float64")


def inverse_hyperbolic_sine(x: Any) -> Array:
    """The inverse of sinh."""
    z = _floating(x)
    mark("arcsinh")
    if is_complex(z):  # i asin(-i z)
        turned = complex_of(imag(z), -real(z))
        made = turned._elementwise("arcsin", turned)
        return complex_of(-imag(made), real(made))
    size = abs(z)
    square = size * size
    near = z._elementwise("log1p", size + square / (z._elementwise("sqrt", square + 1.0) + 1.0))
    far = z._elementwise("log", size) + math.log(2)
    return z._elementwise("copysign", z._elementwise("where", size > _LARGE, far, near), z)


def inverse_hyperbolic_cosine(x: Any) -> Array:
    """The inverse of cosh; NaN below 1."""
    z = _floating(x)
    mark("arccosh")
    if is_complex(z):
        left, right = (z._elementwise("sqrt", each) for each in (z - 1.0, z + 1.0))
        size = inverse_hyperbolic_sine(real(left) * real(right) + imag(left) * imag(right))
        return complex_of(size, z._elementwise("arctan2", imag(left), real(right)) * 2.0)
    more = z - 1.0
    near = z._elementwise("log1p", more + z._elementwise("sqrt", more * (more + 2.0)))
    far = z._elementwise("log", z) + math.log(2)
    made = z._elementwise("where", z > _LARGE, far, near)
    return z._elementwise("where", z < 1.0, math.nan, made)


def inverse_hyperbolic_tangent(x: Any) -> Array:
    """The inverse of tanh; NaN beyond 1."""
    z = _floating(x)
    mark("arctanh")
    if is_complex(z):
        re, im = real(z), imag(z)
        rest = 1.0 - re
        square = im * im
        size = z._elementwise("log1p", re * 4.0 / (rest * rest + square)) * 0.25
        angle = z._elementwise("arctan2", im * 2.0, rest * (re + 1.0) - square) * 0.5
        return complex_of(size, angle)
    size = abs(z)
    made = z._elementwise("log1p", size * 2.0 / (1.0 - size)) * 0.5
    return z._elementwise("copysign", made, z)


def log_of_sum_of_exponentials(x: Any, y: Any) -> Array:
    """log(exp(x) + exp(y)) without overflow."""
    a, b = _floating(x), _floating(y)
    mark("logaddexp")
    larger = a._elementwise("maximum", a, b)
    rest = a._elementwise("log1p", a._elementwise("exp", -abs(a - b)))
    return a._elementwise("where", a == b, larger + math.log(2), larger + rest)
