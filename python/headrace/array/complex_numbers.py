# SPDX-License-Identifier: Apache-2.0
"""Parts of complex arrays: views, and arrays made of two parts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headrace import _core
from headrace.array import views
from headrace.array.construct import asarray
from headrace.lazy.handle import array_of, mark

if TYPE_CHECKING:
    from headrace.array.array import Array


def is_complex(array: Array) -> bool:
    """Whether the elements are complex numbers."""
    return array._node.dtype.startswith("complex")


def real(array: Array) -> Array:
    """The real parts, a view."""
    mark("real")
    node = _core.real_part(array._node)
    step = views.REAL if is_complex(array) else views.WHOLE
    return views.view_of(array, node, step, None)


def imag(array: Array) -> Array:
    """The imaginary parts, a view; zeros of real numbers."""
    mark("imag")
    if is_complex(array):
        node = _core.imaginary_part(array._node)
        return views.view_of(array, node, views.IMAGINARY, None)
    zero = asarray(0).astype(str(array.dtype))
    return array_of(_core.broadcast_in_dim(zero._node, list(array.shape), []))


def conj(array: Array) -> Array:
    """Complex conjugates; real numbers as they are."""
    mark("conj")
    return array_of(_core.conjugate(array._node))


def complex_of(real: Array, imaginary: Array) -> Array:
    """Complex numbers of two parts."""
    mark("complex")
    return array_of(_core.complex_from_parts(real._node, imaginary._node))
