# SPDX-License-Identifier: Apache-2.0
"""Wavelets."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from headrace import _core
from headrace.dtypes import dtype_word
from headrace.errors import InvalidArgumentError, UnsupportedError
from headrace.lazy.handle import array_of, mark
from headrace.signal.operands import array_of_design, node_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    import numpy as np
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


def _morlet2(points: int, width: float, w: float = 5.0) -> npt.NDArray[np.complex128]:
    import numpy as np

    x = (np.arange(points) - (points - 1.0) / 2) / width
    return np.exp(1j * w * x) * np.exp(-0.5 * x**2) * np.pi**-0.25 * np.sqrt(1 / width)


def morlet2(M: int, s: float, w: float = 5.0) -> Array:
    """The complex Morlet wavelet for `cwt`, as ``scipy.signal.morlet2`` defined it.

    ``exp(1j w x / s) exp(-(x / s)**2 / 2) / (pi**0.25 sqrt(s))``, with `M` samples around 0.

    Raises
    ------
    ValueError
        Unless `M` is not negative and `s` positive.

    >>> hr.signal.morlet2(5, 2.0).dtype
    dtype('complex128')
    """
    if not (M >= 0 and s > 0):
        raise InvalidArgumentError(f"morlet2: a number is out of range: M={M}, s={s}; pass s > 0")
    return array_of_design(_morlet2(int(M), float(s), float(w)))


def cwt(
    data: Any,
    wavelet: Callable[..., Any],
    widths: Iterable[float],
    **kwargs: Any,
) -> Array:
    """The continuous wavelet transform, as ``scipy.signal.cwt`` defined it.

    Parameters
    ----------
    data : array_like
        1-D real numbers.
    wavelet : function
        `ricker`, `morlet2`, or another of a number of points and a width.
    widths : sequence of float
        Widths, one per row of the result.
    **kwargs
        Further arguments of `wavelet`, such as ``w`` of `morlet2`.

    Returns
    -------
    Array
        Row k is `data` convolved with the wavelet of ``widths[k]``, which has ``10 * width``
        samples or as many as `data`: float32 or float64 as `data`, complex for a complex wavelet.

    Raises
    ------
    ValueError
        For a width that is not positive, and for empty data.
    UnsupportedError
        For complex data.

    Notes
    -----
    `fft_convolve` row by row into one result, in parallel: O(widths * n log n).

    >>> hr.signal.cwt([0.0, 1.0, 0.0], hr.signal.ricker, [0.1, 0.2]).shape
    (2, 3)
    """
    import numpy as np

    mark("cwt")
    array = array_of(node_of(data))
    if str(array.dtype).startswith("complex"):
        raise UnsupportedError(f"cwt: complex data: dtype={array.dtype}; transform the parts")
    if not str(array.dtype).startswith("float"):
        array = array.astype("float64")
    if array.ndim != 1 or len(array) == 0:
        raise InvalidArgumentError(f"cwt: expected samples of one dimension: shape={array.shape}")
    rows = []
    for width in widths:
        if not width > 0:
            raise InvalidArgumentError(f"cwt: a width is not positive: width={width}")
        made = np.asarray(wavelet(max(1, int(min(10 * width, len(array)))), width, **kwargs))
        rows.append(np.conj(made[::-1]))
    mark("cwt")

    def transformed(part: Callable[[Any], Any]) -> _core.Node:
        return _core.convolve_with_each("cwt", array._node, [part(row).tolist() for row in rows])

    if not any(np.iscomplexobj(row) for row in rows):
        return array_of(transformed(np.real))
    return array_of(_core.complex_from_parts(transformed(np.real), transformed(np.imag)))
