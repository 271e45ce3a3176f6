# SPDX-License-Identifier: Apache-2.0
"""Wavelets."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headrace import _core
from headrace.dtypes import dtype_word
from headrace.lazy.handle import array_of, mark

if TYPE_CHECKING:
    import numpy.typing as npt

    from headrace.array.array import Array


def ricker(points: int, width: float, dtype: npt.DTypeLike = "float64") -> Array:
    """The Ricker ("Mexican hat") wavelet: the negated second derivative of a Gaussian.

    ``A (1 - (x/a)**2) exp(-(x/a)**2 / 2)`` with ``a = width``, ``A = 2 / (sqrt(3 a) pi**0.25)`` and
    ``x = arange(points) - (points - 1) / 2``, as ``scipy.signal.ricker`` defined it.

    Parameters
    ----------
    points : int
        Number of samples.
    width : float
        Distance from the centre to the zero crossing, in samples.
    dtype : dtype
        float32 or float64.

    Raises
    ------
    ValueError
        If `points` is negative, or `width` is not positive and finite.
    TypeError
        For other dtypes.

    Notes
    -----
    Each sample is within 1 ulp of the formula, even near its zeros, with the same bits on every
    machine, by extended-precision arithmetic (T. J. Dekker, Numerische Mathematik 18, 1971).

    >>> hr.signal.ricker(5, 2.0).argmax().item()
    2
    """
    mark("ricker")
    return array_of(_core.ricker(points, float(width), dtype_word(dtype)))
