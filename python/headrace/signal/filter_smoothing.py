# SPDX-License-Identifier: Apache-2.0
"""Filters that smooth: medians and polynomials."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from headrace import _core
from headrace.array.layout import axis_number, concatenate, moveaxis
from headrace.errors import InvalidArgumentError, TypeMismatchError, UnsupportedError
from headrace.lazy.handle import array_of, mark
from headrace.signal.filters import float_array
from headrace.signal.operands import node_of

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from headrace.array.array import Array


def medfilt(volume: Any, kernel_size: Any = 3) -> Array:
    """The median of a window around each sample, as ``scipy.signal.medfilt``.

    Beyond the ends there are zeros.

    Parameters
    ----------
    volume : array_like
        Integers or floats of one dimension.
    kernel_size : int or tuple
        Odd number of samples. Of rows of more dimensions: one for each axis, 1 but for the last.

    Returns
    -------
    Array
        Of the dtype and shape of `volume`. A window with NaN gives NaN.

    Raises
    ------
    ValueError
        If `kernel_size` is even or not positive.
    TypeError
        For bools, complex numbers and uint64.
    UnsupportedError
        For windows over several axes.

    Notes
    -----
    Windows up to 63 are sorted by networks of exchanges, many at a time, longer ones kept sorted;
    in parallel.

    >>> hr.signal.medfilt([1, 9, 2, 3, 4]).tolist()
    [1, 2, 3, 3, 3]
    """
    mark("medfilt")
    array = array_of(node_of(volume))
    sizes = tuple(kernel_size) if hasattr(kernel_size, "__len__") else (kernel_size,)
    sizes = (*(1 for _ in range(array.ndim - 1)), *sizes) if len(sizes) == 1 else sizes
    if len(sizes) != array.ndim or (not hasattr(kernel_size, "__len__") and array.ndim != 1):
        raise UnsupportedError(
            f"medfilt: one window for several axes: kernel_size={kernel_size}, "
            f"dimensions={array.ndim}; pass (1, ..., size) for windows along the last axis"
        )
    if any(size != 1 for size in sizes[:-1]):
        raise UnsupportedError(f"medfilt: a window over several axes: kernel_size={kernel_size}")
    kind = str(array.dtype)
    if kind in ("bool", "uint64") or kind.startswith("complex"):
        raise TypeMismatchError(f"medfilt: the dtype does not fit: dtype={kind}; use astype first")
    if "int" in kind and kind != "int64":
        return array_of(_core.median_filter(array.astype("int64")._node, int(sizes[-1]))).astype(
            kind
        )
    return array_of(_core.median_filter(array._node, int(sizes[-1])))


def _fits(size: int, order: int, deriv: int, delta: float) -> npt.NDArray[np.float64]:
    """Row i weights a window's samples: the derivative at i of the polynomial that fits them."""
    import numpy as np

    if deriv > order:
        return np.zeros((size, size))
    # Legendre's polynomials: sums of powers of the samples' numbers would round badly.
    half = max(size // 2, 1)
    at = (np.arange(size) - size // 2) / half
    q, r = np.linalg.qr(np.polynomial.legendre.legvander(at, order))
    derived = np.polynomial.legendre.legder(np.eye(order + 1), deriv)
    values = np.polynomial.legendre.legval(at, derived)
    return np.linalg.solve(r.T, values).T @ q.T / (half * delta) ** deriv


def savgol_filter(
    x: Any,
    window_length: int,
    polyorder: int,
    deriv: int = 0,
    delta: float = 1.0,
    axis: int = -1,
    mode: Literal["interp", "mirror", "nearest", "constant", "wrap"] = "interp",
    cval: float = 0.0,
) -> Array:
    """Smooth by polynomials fitted to windows, as ``scipy.signal.savgol_filter``.

    Parameters
    ----------
    x : array_like
        Real numbers of one or more dimensions.
    window_length : int
        Odd number of samples that a polynomial fits.
    polyorder : int
        Its order, less than `window_length`.
    deriv : int
        Which derivative of it is taken; 0: the value.
    delta : float
        Time between samples.
    axis : int
        The axis of time.
    mode : {"interp", "mirror", "nearest", "constant", "wrap"}
        At the ends, where a window has not all samples: the polynomial of the first and the last
        window, or samples beyond the ends; those of "constant" are `cval`.

    Returns
    -------
    Array
        float32 for float32, else float64.

    Raises
    ------
    ValueError
        For an even window, one that is longer than the signal, and a `polyorder` not less than it.

    Notes
    -----
    `fft_convolve` with the taps of the middle of a window (A. Savitzky and M. J. E. Golay,
    Analytical Chemistry 36, 1964), one pass.

    >>> hr.signal.savgol_filter([1.0, 4.0, 9.0, 16.0, 25.0], 3, 2).round(6).tolist()
    [1.0, 4.0, 9.0, 16.0, 25.0]
    """
    import numpy as np

    mark("savgol_filter")
    op, size = "savgol_filter", int(window_length)
    if size < 1 or size % 2 == 0:
        raise InvalidArgumentError(
            f"{op}: the window is not odd and positive: window_length={window_length}; add 1"
        )
    if not 0 <= polyorder < size or deriv < 0:
        raise InvalidArgumentError(
            f"{op}: the order is out of range: polyorder={polyorder}, deriv={deriv}; pass less "
            f"than window_length={size}"
        )
    if mode not in ("interp", "mirror", "nearest", "constant", "wrap"):
        raise InvalidArgumentError(
            f"{op}: the mode is not known: mode={mode!r}; use one of interp, mirror, nearest, "
            "constant, wrap"
        )
    array = float_array(x)
    if str(array.dtype).startswith("complex"):
        raise UnsupportedError(f"{op}: complex signals: dtype={array.dtype}; smooth the parts")
    along = axis_number(op, axis, array.ndim)
    samples = array.shape[along]
    if samples < size:
        raise InvalidArgumentError(
            f"{op}: the window is longer than the signal: window_length={size}, samples={samples}"
        )
    rows = moveaxis(array, along, -1) if array.ndim > 1 else array
    fits = _fits(size, int(polyorder), int(deriv), float(delta))
    half = size // 2
    weights = fits[half]  # of the samples of a window around its middle
    if mode == "wrap" and half:
        rows = concatenate([rows[..., -half:], rows, rows[..., :half]], -1)
    if mode == "constant" and cval:
        rows = rows - cval
    first, last = np.zeros((2, half, size))
    if mode == "interp":
        first, last = fits[:half], fits[size - half :]
    elif mode in ("mirror", "nearest", "constant"):
        for i in range(half):
            for j in range(size):
                place = i - half + j  # of a sample; left of the first one when negative
                if place < 0:
                    place = {"mirror": -place, "nearest": 0, "constant": -1}[mode]
                if place >= 0:
                    first[i, place] += weights[j]
                    last[half - 1 - i, size - 1 - place] += weights[size - 1 - j]
    made = array_of(
        _core.convolve_with_ends(
            op, rows._node, weights[::-1].tolist(), first.ravel().tolist(), last.ravel().tolist()
        )
    )
    if mode == "wrap" and half:
        made = made[..., half:-half]
    if mode == "constant" and cval:
        made = made + cval * float(weights.sum())
    return moveaxis(made, -1, along) if array.ndim > 1 else made
