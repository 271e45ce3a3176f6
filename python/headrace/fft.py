# SPDX-License-Identifier: Apache-2.0
"""Discrete Fourier transforms of any length along the last axis, lazy."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from headrace import _core
from headrace.array.construct import asarray
from headrace.facade import missing_of_module
from headrace.lazy.handle import Deferred, array_of, mark

if TYPE_CHECKING:
    from collections.abc import Callable

    from headrace.array.array import Array

Norm = Literal["backward", "ortho", "forward"]
__all__ = ["fft", "fftfreq", "ifft", "irfft", "rfft", "rfftfreq"]


def __dir__() -> list[str]:
    """The public names."""
    return sorted(__all__)


__getattr__: Callable[[str], Any] = missing_of_module(__name__)


def _transform(kind: str, x: Any, n: int | None, norm: Norm) -> Array:
    mark(kind)
    node = x._node if isinstance(x, Deferred) else asarray(x)._node
    return array_of(_core.fft(kind, node, n, norm))


def fft(x: Any, n: int | None = None, norm: Norm = "backward") -> Array:
    """The transform of each row, as ``numpy.fft.fft``.

    Parameters
    ----------
    x : array_like
        Numbers of one or more dimensions, of any stride, without nulls.
    n : int, optional
        Length of the transform: longer rows are truncated, shorter ones zero-padded.
    norm : {"backward", "ortho", "forward"}
        Where the factor 1/n applies: on the inverse, as 1/sqrt(n) on both, on the forward one.

    Returns
    -------
    Array
        complex64 for float32 and complex64, else complex128.

    Notes
    -----
    O(n log n) for every length: mixed radices 2 to 13 (J. W. Cooley and J. W. Tukey, Mathematics of
    Computation 19, 1965), L. I. Bluestein's method (1970) for other prime factors.

    >>> hr.fft.fft([1.0, 0.0, 0.0, 0.0]).tolist()
    [(1+0j), (1+0j), (1+0j), (1+0j)]
    """
    return _transform("fft", x, n, norm)


def ifft(x: Any, n: int | None = None, norm: Norm = "backward") -> Array:
    """The inverse transform of each row, as ``numpy.fft.ifft``; else as `fft`.

    >>> hr.fft.ifft([4.0, 0.0, 0.0, 0.0]).tolist()
    [(1+0j), (1+0j), (1+0j), (1+0j)]
    """
    return _transform("ifft", x, n, norm)


def rfft(x: Any, n: int | None = None, norm: Norm = "backward") -> Array:
    """The first ``n//2 + 1`` terms of the transform of real rows, as ``numpy.fft.rfft``.

    The other terms mirror these. Complex input is a TypeError; else as `fft`.

    >>> hr.fft.rfft([1.0, 0.0, 0.0, 0.0]).tolist()
    [(1+0j), (1+0j), (1+0j)]
    """
    return _transform("rfft", x, n, norm)


def irfft(x: Any, n: int | None = None, norm: Norm = "backward") -> Array:
    """The inverse of `rfft`, as ``numpy.fft.irfft``: `n` real values, ``2 * (m - 1)`` by default.

    >>> hr.fft.irfft([4.0, 0.0, 0.0]).tolist()
    [1.0, 1.0, 1.0, 1.0]
    """
    return _transform("irfft", x, n, norm)


def fftfreq(n: int, d: float = 1.0) -> Array:
    """Frequencies of the terms of `fft` for sample distance `d`, as ``numpy.fft.fftfreq``.

    >>> hr.fft.fftfreq(4).tolist()
    [0.0, 0.25, -0.5, -0.25]
    """
    import numpy as np

    return asarray(np.fft.fftfreq(n, d))


def rfftfreq(n: int, d: float = 1.0) -> Array:
    """Frequencies of the terms of `rfft` for sample distance `d`, as ``numpy.fft.rfftfreq``.

    >>> hr.fft.rfftfreq(4).tolist()
    [0.0, 0.25, 0.5]
    """
    import numpy as np

    return asarray(np.fft.rfftfreq(n, d))
