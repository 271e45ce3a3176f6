# SPDX-License-Identifier: Apache-2.0
"""Inverse hyperbolic functions and sums of exponentials, as fused chains of others."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from headrace import _core
from headrace.array.complex_numbers import is_complex
from headrace.array.construct import asarray
from headrace.lazy.handle import Deferred, array_of, mark

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
    if is_complex(z):
        return array_of(_core.complex_function("arcsinh", z._node))
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
        return array_of(_core.complex_function("arccosh", z._node))
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
        return array_of(_core.complex_function("arctanh", z._node))
    size = abs(z)
    made = z._elementwise("log1p", size * 2.0 / (1.0 - size)) * 0.5
    return z._elementwise("copysign", made, z)


def log_of_sum_of_exponentials(x: Any, y: Any) -> Array:
    """log(exp(x) + exp(y)) without overflow."""
    owner = next((_floating(v) for v in (x, y) if isinstance(v, Deferred)), None)
    a: Any = _floating(x) if owner is None else owner
    mark("logaddexp")
    larger = a._elementwise("maximum", x, y)
    rest = a._elementwise("subtract", x, y)
    near = a._elementwise("log1p", a._elementwise("exp", -abs(rest)))
    equal = a._elementwise("equal", x, y)
    return a._elementwise("where", equal, larger + math.log(2), larger + near)
