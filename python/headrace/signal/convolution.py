# SPDX-License-Identifier: Apache-2.0
"""Convolution."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from headrace import _core
from headrace.lazy.handle import array_of, mark
from headrace.signal.operands import node_of

if TYPE_CHECKING:
    from headrace.array.array import Array


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
    return array_of(_core.fft_convolve(node_of(signal), node_of(taps), mode))
