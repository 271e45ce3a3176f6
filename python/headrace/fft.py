# SPDX-License-Identifier: Apache-2.0
"""Discrete Fourier transforms of any length along the last axis, deferred."""

from __future__ import annotations

from typing import Any, Literal

from headrace import _core
from headrace.array import Array, asarray
from headrace.deferred import Deferred, mark

Norm = Literal["backward", "ortho", "forward"]
__all__ = ["fft", "fftfreq", "ifft", "irfft", "rfft", "rfftfreq"]


def _transform(kind: str, x: Any, n: int | None, norm: Norm) -> Array:
    mark(kind)
    node = x._node if isinstance(x, Deferred) else asarray(x)._node
    return Array(_core.fft(kind, node, n, norm))


def fft(x: Any, n: int | None = None, norm: Norm = "backward") -> Array:
    """The transform of each row, as ``numpy.fft.fft`` (float32 gives complex64).

    >>> import headrace as hr
    >>> hr.fft.fft([1.0, 0.0, 0.0, 0.0]).tolist()
    [(1+0j), (1+0j), (1+0j), (1+0j)]
    """
    return _transform("fft", x, n, norm)


def ifft(x: Any, n: int | None = None, norm: Norm = "backward") -> Array:
    """The inverse transform of each row, as ``numpy.fft.ifft``."""
    return _transform("ifft", x, n, norm)


def rfft(x: Any, n: int | None = None, norm: Norm = "backward") -> Array:
    """The first ``n//2 + 1`` terms of the transform of real rows, as ``numpy.fft.rfft``."""
    return _transform("rfft", x, n, norm)


def irfft(x: Any, n: int | None = None, norm: Norm = "backward") -> Array:
    """The inverse of `rfft`, as ``numpy.fft.irfft``."""
    return _transform("irfft", x, n, norm)


def fftfreq(n: int, d: float = 1.0) -> Array:
    """Frequencies of the terms of `fft` for sample distance `d`, as ``numpy.fft.fftfreq``."""
    import numpy as np

    return asarray(np.fft.fftfreq(n, d))


def rfftfreq(n: int, d: float = 1.0) -> Array:
    """Frequencies of the terms of `rfft` for sample distance `d`, as ``numpy.fft.rfftfreq``."""
    import numpy as np

    return asarray(np.fft.rfftfreq(n, d))
