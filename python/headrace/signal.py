# SPDX-License-Identifier: Apache-2.0
"""Signals: wavelets, convolution, peaks, differences, histograms and segments.

All functions are lazy and take arrays, series without nulls, or anything `hr.asarray` takes.
"""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable
from numbers import Integral
from typing import TYPE_CHECKING, Any, Literal, ParamSpec

from headrace import _core
from headrace.array.construct import asarray
from headrace.dtypes import dtype_word
from headrace.facade import missing_of_module
from headrace.lazy.handle import Deferred, array_of, mark

if TYPE_CHECKING:
    import numpy.typing as npt

    from headrace.array.array import Array

__all__ = [
    "diff",
    "fft_convolve",
    "histogram",
    "non_max_suppression",
    "nonzero",
    "ricker",
    "segments",
]


def __dir__() -> list[str]:
    """The public names."""
    return sorted(__all__)


__getattr__: Callable[[str], Any] = missing_of_module(__name__)


_P = ParamSpec("_P")


def _node(x: Any) -> _core.Node:
    return x._node if isinstance(x, Deferred) else asarray(x)._node


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


def fft_convolve(signal: Any, taps: Any, mode: Literal["full", "same", "valid"] = "same") -> Array:
    """Convolve a long signal with taps, by FFT blocks (overlap-save) or directly for few taps.

    Parameters
    ----------
    signal, taps : array_like
        1-D, of any stride, without nulls; both float32 or both float64.
    mode : {"same", "full", "valid"}
        As in ``scipy.signal.fftconvolve``; "same" is centred and has the signal's length.

    Returns
    -------
    Array
        In the dtype of `signal`; empty if `signal` is.

    Raises
    ------
    ValueError
        If `taps` is empty, or longer than `signal` in a mode other than "full".
    TypeError
        For other dtypes.

    Notes
    -----
    O(n log m) time, in parallel; scratch is a few blocks per worker. Taps at the ends whose
    magnitudes sum to less than eps/8 of the l1 norm are dropped: they change no result by more than
    eps/8 of ``sum(abs(taps)) * max(abs(signal))``. Up to 75 of the rest (float32: 90) are summed
    directly, with an error below ``m * eps / 2`` of the same product for m taps; more run by
    overlap-save, two blocks in one complex transform (T. G. Stockham, AFIPS 28, 1966), with an
    error below ``4 * eps * log2(block)`` of the product of the 2-norms of the taps and of two
    blocks. ``explain()`` shows the choice, which depends on the number of taps and the dtype. A NaN
    or inf affects only the outputs that it overlaps: NaN by blocks, NaN or inf by direct sums. The
    same bits for any number of threads.

    >>> hr.signal.fft_convolve([0.0, 1.0, 0.0], [1.0, 2.0, 3.0]).tolist()
    [1.0, 2.0, 3.0]
    """
    mark("fft_convolve")
    return array_of(_core.fft_convolve(_node(signal), _node(taps), mode))


def non_max_suppression(x: Any, window: int, threshold: float | Array = -float("inf")) -> Array:
    """Mark local maxima: a boolean gate.

    ``gate[i]`` is true when ``x[i] >= threshold`` and ``x[i]`` is greater than every earlier value
    and not less than any later value in ``x[i - window//2 : i + window//2 + 1]``, cut at the ends.
    So the leftmost of equal values wins. NaN is never a peak and suppresses none.

    Parameters
    ----------
    x : array_like
        1-D, integer or float, of any stride, without nulls.
    window : int
        Odd number of samples; may be wider than the signal.
    threshold : float or 0-d array
        The minimum height of a peak; a lazy one (``2 * x.std()``) stays part of the plan.

    Returns
    -------
    Array
        One bool per sample.

    Raises
    ------
    ValueError
        If `window` is even or not positive, or `threshold` is NaN.
    TypeError
        For bools, complex numbers and strings, and for more than one dimension.

    Notes
    -----
    O(n) for any window and any data, in parallel. Windows up to 63 compare with running maxima
    built by doubling; wider ones use the maxima of cells of 16 or 64 samples and check only the
    candidates.

    >>> hr.signal.non_max_suppression([0, 3, 1, 2, 5, 0], window=3).tolist()
    [False, True, False, False, True, False]
    """
    mark("non_max_suppression")
    limit = threshold._node if isinstance(threshold, Deferred) else _core.scalar(float(threshold))
    return array_of(_core.non_max_suppression(_node(x), window, limit))


def nonzero(gate: Any) -> Array:
    """Positions of the true elements, ascending, as ``numpy.flatnonzero``.

    Takes a 1-D bool array or a bool series without nulls; gives int64. Two passes over the gate.

    >>> hr.signal.nonzero([False, True, True]).tolist()
    [1, 2]
    """
    mark("nonzero")
    return array_of(_core.nonzero(_node(gate)))


def diff(x: Any) -> Array:
    """Differences of adjacent elements, ``x[1:] - x[:-1]``, as ``numpy.diff``; integers wrap.

    Takes 1-D integers or floats without nulls; gives their dtype, one element fewer.

    >>> hr.signal.diff([1, 4, 9]).tolist()
    [3, 5]
    """
    mark("diff")
    return array_of(_core.diff(_node(x)))


def histogram(
    x: Any, bins: int | Any = 10, range: tuple[float, float] | None = None
) -> tuple[Array, Array]:
    """Counts of values in bins, equal to ``numpy.histogram`` bit for bit.

    Parameters
    ----------
    x : array_like
        1-D, integer or float. NaN is not counted, but an automatic range over NaN is an error.
    bins : int or array_like
        Number of bins of equal width, or their ascending edges.
    range : (float, float), optional
        Lower and upper edge; the minimum and maximum by default.

    Returns
    -------
    counts, edges : Array
        int64 counts; edges float32 for float32 values, else float64, or as given.

    Raises
    ------
    ValueError
        Without bins, for decreasing edges or range, or if the values hold NaN or inf and there is
        no range.
    TypeError
        Unless `x` is 1-D and integer or float.

    Notes
    -----
    O(n) in parallel: one pass with a range, two without. Explicit edges are located by a grid. For
    a density: ``counts / (counts.sum() * hr.signal.diff(edges))``.

    >>> counts, edges = hr.signal.histogram([1.0, 2.0, 2.5], bins=2, range=(1, 3))
    >>> counts.tolist(), edges.tolist()
    ([1, 2], [1.0, 2.0, 3.0])
    """
    mark("histogram")
    given = not isinstance(bins, Integral)  # includes NumPy's integers
    edges = _node(bins) if given else None
    limits = None if range is None else (float(range[0]), float(range[1]))
    counts, made = _core.histogram(_node(x), 0 if given else int(bins), limits, edges)
    return array_of(counts), array_of(made)


def segments(
    x: Any,
    begins: Any,
    lengths: Any = None,
    *,
    width: int,
    normalize: Literal["none", "zscore", "minmax", "max"] = "none",
) -> Array:
    """Cut segments from a signal into the rows of one contiguous tensor, zero-padded.

    Row k holds ``x[begins[k] : begins[k] + min(lengths[k], width)]``, then zeros up to `width`.
    Positions outside the signal are zeros too.

    Parameters
    ----------
    x : array_like
        1-D float32 or float64; the result has its dtype.
    begins : array_like of int64
        First sample of each row; may be negative.
    lengths : array_like of int64, optional
        Number of samples of each row, or one number for all; `width` by default.
    width : int
        Columns of the result.
    normalize : {"none", "zscore", "minmax", "max"}
        Scaling of each row over its own samples, never the padding: ``(v - mean) / std``, ``(v -
        min) / (max - min)`` or ``v / max(abs(v))``. If the divisor is 0 the row is zeros; if a
        value is NaN or inf its samples are NaN.

    Returns
    -------
    Array
        Shape ``(len(begins), width)``, row-major: one tensor to train on, without a copy.

    Raises
    ------
    ValueError
        If `width` or a length is negative, or `lengths` has neither 1 nor ``len(begins)`` elements.
    TypeError
        Unless `x` is 1-D and float and the positions are int64.

    Notes
    -----
    O(rows * width), in parallel; sums in float64, the same bits for any number of threads.

    >>> hr.signal.segments([1.0, 2.0, 3.0, 4.0], [0, 2], [1, 2], width=3).tolist()
    [[1.0, 0.0, 0.0], [3.0, 4.0, 0.0]]
    """
    mark("segments")
    sizes = None if lengths is None else _node(lengths)
    return array_of(_core.segments(_node(x), _node(begins), sizes, width, normalize))


# ---- old names, for one release -----------------------------------------------------------------


def _renamed(old: str, function: Callable[_P, Array]) -> Callable[_P, Array]:
    """The function by its old name."""

    @functools.wraps(function)
    def call(*args: _P.args, **options: _P.kwargs) -> Array:
        new = function.__name__
        warnings.warn(f"hr.signal.{old} is now hr.signal.{new}", DeprecationWarning, stacklevel=2)
        return function(*args, **options)

    call.__name__ = call.__qualname__ = old
    call.__doc__ = f"Old name of `{function.__name__}`."
    return call


index_of_true: Callable[[Any], Array] = _renamed("index_of_true", nonzero)
windows: Callable[..., Array] = _renamed("windows", segments)
