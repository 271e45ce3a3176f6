# SPDX-License-Identifier: Apache-2.0
"""Correlation of signals, in the words of SciPy."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from headrace.array import layout
from headrace.array.complex_numbers import conj, is_complex
from headrace.array.construct import asarray
from headrace.array.create import arange
from headrace.errors import InvalidArgumentError
from headrace.fft import fft, ifft, irfft, rfft
from headrace.lazy.handle import array_of, mark
from headrace.signal.convolution import fft_convolve
from headrace.signal.operands import node_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from headrace.array.array import Array

    Mode = Literal["full", "valid", "same"]

_MODES = ("full", "valid", "same")


def correlate(
    in1: Any, in2: Any, mode: Mode = "full", method: Literal["auto", "direct", "fft"] = "auto"
) -> Array:
    """The cross-correlation of two signals, as ``scipy.signal.correlate``.

    ``z[k] = sum over i of in1[i] * conj(in2[i - k])``, of any number of dimensions.

    Parameters
    ----------
    in1, in2 : array_like
        Numbers of equally many dimensions, without nulls.
    mode : {"full", "valid", "same"}
        All lags, those where one signal covers the other, or as many as `in1` has samples, in the
        middle.
    method : {"auto", "direct", "fft"}
        Accepted for SciPy's sake: of real signals of one dimension `fft_convolve` chooses itself,
        others run by transforms.

    Returns
    -------
    Array
        In the dtype that the signals have in common; integers are rounded from float64.

    Raises
    ------
    ValueError
        If the dimensions differ, for unknown options, and in mode "valid" unless one signal is at
        least as long as the other along every axis.

    Notes
    -----
    O(n log n), in parallel; `correlation_lags` gives the lags.

    >>> hr.signal.correlate([1.0, 2.0, 3.0], [0.0, 1.0]).tolist()
    [1.0, 2.0, 3.0, 0.0]
    """
    if mode not in _MODES:
        raise InvalidArgumentError(f"correlate: unknown mode: mode={mode!r}; use one of {_MODES}")
    if method not in ("auto", "direct", "fft"):
        raise InvalidArgumentError(f"correlate: unknown method: method={method!r}; use 'auto'")
    x, y = array_of(node_of(in1)), array_of(node_of(in2))
    if x.ndim != y.ndim:
        raise InvalidArgumentError(
            f"correlate: the signals differ in dimensions: in1={x.ndim}, in2={y.ndim}"
        )
    word = layout.common_dtype(x, y)
    work = word if word.startswith(("float", "complex")) else "float64"
    x, y = (each if str(each.dtype) == work else each.astype(work) for each in (x, y))
    y = conj(y) if is_complex(y) else y
    mark("correlate")
    made = _convolved(x, layout.flip(y), mode) if x.ndim else x * y
    return made if work == word else made._elementwise("rint", made).astype(word)


def correlation_lags(in1_len: int, in2_len: int, mode: Mode = "full") -> Array:
    """The lags of the results of `correlate` for signals of these lengths.

    As ``scipy.signal.correlation_lags``.

    >>> hr.signal.correlation_lags(3, 2).tolist()
    [-1, 0, 1, 2]
    """
    if mode == "full":
        return arange(1 - in2_len, in1_len)
    if mode == "same":
        middle = (in1_len + in2_len - 1) // 2 - in2_len + 1
        half = in1_len // 2
        return arange(middle - half, middle + half + in1_len % 2)
    if mode == "valid":
        bound = in1_len - in2_len
        return arange(bound + 1) if bound >= 0 else arange(bound, 1)
    raise InvalidArgumentError(
        f"correlation_lags: unknown mode: mode={mode!r}; use one of {_MODES}"
    )


def _convolved(x: Array, y: Array, mode: Mode) -> Array:
    sizes = list(zip(x.shape, y.shape, strict=True))
    full = tuple(max(a + b - 1, 0) if a and b else 0 for a, b in sizes)
    if mode == "valid" and not (all(a >= b for a, b in sizes) or all(a <= b for a, b in sizes)):
        raise InvalidArgumentError(
            f"correlate: in mode 'valid' neither signal covers the other: in1={x.shape}, "
            f"in2={y.shape}"
        )
    if 0 in full:
        made = asarray([], str(x.dtype)).reshape(0)
    elif x.ndim == 1 and not is_complex(x):
        longer, taps = (x, y) if x.size >= y.size else (y, x)
        made = fft_convolve(longer, taps, "full")
    else:
        made = _product_of_spectra(x, y, tuple(_convenient(size) for size in full))
        made = made[tuple(slice(size) for size in full)]
    if mode == "full":
        return made
    kept = x.shape if mode == "same" else tuple(abs(a - b) + 1 for a, b in sizes)
    return made[
        tuple(
            slice((whole - part) // 2, (whole - part) // 2 + part)
            for whole, part in zip(full, kept, strict=True)
        )
    ]


def _product_of_spectra(x: Array, y: Array, lengths: tuple[int, ...]) -> Array:
    """The circular convolution over `lengths`; the last axis of real signals by real transforms."""
    forward, back = (fft, ifft) if is_complex(x) else (rfft, irfft)
    x, y = forward(x, lengths[-1]), forward(y, lengths[-1])
    others = list(enumerate(lengths[:-1]))
    for axis, length in others:
        x, y = (_along(fft, each, length, axis) for each in (x, y))
    made = x * y
    for axis, length in others:
        made = _along(ifft, made, length, axis)
    return back(made, lengths[-1])


def _along(transform: Callable[..., Array], x: Array, length: int, axis: int) -> Array:
    return layout.moveaxis(transform(layout.moveaxis(x, axis, -1), length), -1, axis)


def _convenient(size: int) -> int:
    """The least length that has no prime factor above 5 and is not below `size`."""
    best = 1 << max(size - 1, 0).bit_length()
    five = 1
    while five < best:
        three = five
        while three < best:
            length = three << max(-(-size // three) - 1, 0).bit_length()
            best = min(best, length)
            three *= 3
        five *= 5
    return best
