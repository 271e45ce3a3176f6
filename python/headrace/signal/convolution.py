# SPDX-License-Identifier: Apache-2.0
"""Convolution."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from headrace import _core
from headrace.array.layout import common_dtype
from headrace.errors import InvalidArgumentError, TypeMismatchError
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


def _pair(op: str, in1: Any, in2: Any) -> tuple[Array, Array, str]:
    """Two real matrices in the float dtype that they share, and the dtype that NumPy gives both."""
    arrays = array_of(node_of(in1)), array_of(node_of(in2))
    for name, array in zip(("in1", "in2"), arrays, strict=True):
        if array.ndim != 2:
            raise InvalidArgumentError(f"{op}: expected a matrix: {name}.ndim={array.ndim}")
        if str(array.dtype).startswith("complex"):
            raise TypeMismatchError(
                f"{op}: complex numbers: {name}.dtype={array.dtype}; take real and imaginary part"
            )
        if array.size == 0:
            raise InvalidArgumentError(f"{op}: an array is empty: {name}.shape={array.shape}")
    common = common_dtype(*arrays)
    word = "float32" if common == "float32" else "float64"
    first, second = (array if str(array.dtype) == word else array.astype(word) for array in arrays)
    return first, second, common


def _convolved(
    op: str, in1: Any, in2: Any, mode: str, boundary: str, fillvalue: float, *, turn: bool
) -> Array:
    image, kernel, common = _pair(op, in1, in2)
    if turn:
        kernel = kernel[::-1, ::-1]
    if mode == "valid":
        larger = [k > n for n, k in zip(image.shape, kernel.shape, strict=True)]
        if all(k >= n for n, k in zip(image.shape, kernel.shape, strict=True)) and any(larger):
            image, kernel = kernel, image
        elif any(larger):
            raise InvalidArgumentError(
                f"{op}: neither matrix lies within the other: in1.shape={image.shape}, "
                f"in2.shape={kernel.shape}; use mode='full'"
            )
    made = array_of(
        _core.convolve2d(op, image._node, kernel._node, mode, boundary, float(fillvalue), turn)
    )
    return made.astype(common) if "int" in common else made


def convolve2d(
    in1: Any,
    in2: Any,
    mode: Literal["full", "same", "valid"] = "full",
    boundary: Literal["fill", "wrap", "symm"] = "fill",
    fillvalue: float = 0,
) -> Array:
    """Convolve a matrix with a smaller one, as ``scipy.signal.convolve2d``.

    Parameters
    ----------
    in1, in2 : array_like
        2-D real numbers.
    mode : {"full", "same", "valid"}
        All sums, the middle ones in the shape of `in1`, or those that need no padding.
    boundary : {"fill", "wrap", "symm"}
        What lies beyond the edges of `in1`: `fillvalue`, the matrix again, or its mirror image.
    fillvalue : float
        Of "fill".

    Returns
    -------
    Array
        float32 or float64; of integers, integers (exact below 2**53).

    Raises
    ------
    ValueError
        For empty matrices, other words, and in mode "valid" if neither lies within the other.
    TypeError
        For complex numbers.

    Notes
    -----
    In parallel by tiles, with the same bits for any number of threads. `in2` of up to some hundred
    elements: directly, O(results * elements of `in2`). Larger ones: by transforms of tiles, within
    1e-14 (float32: 1e-5) of the largest value of `in1` near a result times the sum of the absolute
    values of `in2`; tiles with NaN or infinity directly, so that these stay where the sums have
    them. Results of whole numbers are whole either way.

    >>> hr.signal.convolve2d([[1.0, 2.0]], [[1.0, 1.0]]).tolist()
    [[1.0, 3.0, 2.0]]
    """
    mark("convolve2d")
    return _convolved("convolve2d", in1, in2, mode, boundary, fillvalue, turn=False)


def correlate2d(
    in1: Any,
    in2: Any,
    mode: Literal["full", "same", "valid"] = "full",
    boundary: Literal["fill", "wrap", "symm"] = "fill",
    fillvalue: float = 0,
) -> Array:
    """The cross-correlation of two matrices, as ``scipy.signal.correlate2d``.

    `convolve2d` with the second matrix turned by half.

    >>> hr.signal.correlate2d([[1.0, 2.0]], [[0.0, 1.0]]).tolist()
    [[1.0, 2.0, 0.0]]
    """
    mark("correlate2d")
    return _convolved("correlate2d", in1, in2, mode, boundary, fillvalue, turn=True)
