# SPDX-License-Identifier: Apache-2.0
"""Transforms of signals by segments and back, and analytic signals, in the words of SciPy."""

from __future__ import annotations

import operator
import warnings
from typing import TYPE_CHECKING, Any, Literal

from headrace import _core
from headrace.array import layout
from headrace.array.complex_numbers import complex_of, imag, is_complex, real
from headrace.array.construct import asarray
from headrace.array.create import zeros
from headrace.errors import InvalidArgumentError, TypeMismatchError
from headrace.fft import irfft, rfft
from headrace.lazy.handle import array_of, mark
from headrace.signal.spectral_segments import cut, lines_of, samples_of, spectra, window_of

if TYPE_CHECKING:
    import numpy as np

    from headrace.array.array import Array
    from headrace.signal.spectral_segments import DetrendOption, Window

_SCALINGS = {"spectrum": "spectrum", "psd": "density"}
#: Sums of squared windows below this leave samples as they are, as in SciPy.
_LEAST_NORM = 1e-10


def stft(
    x: Any,
    fs: float = 1.0,
    window: Window = "hann",
    nperseg: int | None = 256,
    noverlap: int | None = None,
    nfft: int | None = None,
    detrend: DetrendOption = False,
    return_onesided: bool = True,
    boundary: Literal["zeros", "even", "odd", "constant"] | None = "zeros",
    padded: bool = True,
    axis: int = -1,
    scaling: Literal["spectrum", "psd"] = "spectrum",
) -> tuple[Array, Array, Array]:
    """The transforms of overlapping segments of a signal, as ``scipy.signal.stft``.

    Parameters
    ----------
    x : array_like
        Numbers of one or more dimensions, without nulls.
    fs, window, nperseg, noverlap, nfft, detrend, return_onesided, axis
        As in `welch`.
    boundary : {"zeros", "even", "odd", "constant"}, optional
        How the signal goes on for ``nperseg // 2`` samples beyond its ends.
    padded : bool
        Zeros behind the signal, so that all its samples are in a segment.
    scaling : {"spectrum", "psd"}
        Terms whose squares are power, or power per frequency.

    Returns
    -------
    f, t, Zxx : Array
        Frequencies, times of the middles of the segments, and complex terms: frequencies along
        `axis`, times along the last axis. A view: in memory the terms of a segment are neighbours.

    Raises
    ------
    ValueError
        As `welch`, and if the signal is too short to go on evenly or oddly.

    Notes
    -----
    O(n log nperseg), in parallel, without a copy of the segments; `istft` is the inverse.

    >>> f, t, z = hr.signal.stft([0.0, 1.0] * 8, nperseg=8)
    >>> z.shape, t.tolist()
    ((5, 5), [0.0, 4.0, 8.0, 12.0, 16.0])
    """
    op = "stft"
    if scaling not in _SCALINGS:
        raise InvalidArgumentError(
            f"{op}: unknown scaling: scaling={scaling!r}; use 'spectrum' or 'psd'"
        )
    if boundary not in (None, "zeros", "even", "odd", "constant"):
        raise InvalidArgumentError(
            f"{op}: unknown boundary: boundary={boundary!r}; use 'zeros', 'even', 'odd', "
            "'constant' or None"
        )
    signal = samples_of(x)
    if signal.size == 0:
        return zeros(signal.shape), zeros(signal.shape), zeros(signal.shape)
    lines = lines_of(op, signal, axis)
    segments = cut(op, lines, window, nperseg, noverlap, nfft, detrend, return_onesided)
    half = segments.nperseg // 2
    beyond = 0 if boundary is None else half
    samples = lines.shape[-1] + 2 * beyond
    if boundary not in (None, "zeros") and half:
        lines, beyond = _extended(lines, half, boundary), 0
    if padded:
        samples += -(samples - segments.nperseg) % segments.step % segments.nperseg
    scale = segments.scale(op, _SCALINGS[scaling], fs) ** 0.5
    count = segments.count(samples)
    mark(op)
    made = spectra(segments, lines, spectrum="terms", scale=scale, first=-beyond, count=count)
    start = 0.0 if boundary is not None else segments.nperseg / 2
    times = (layout.iota(count) * segments.step + start) / float(fs)
    along = layout.axis_number(op, axis, signal.ndim)
    return segments.frequencies(fs), times, layout.moveaxis(made, -1, along)


def istft(
    Zxx: Any,
    fs: float = 1.0,
    window: Window = "hann",
    nperseg: int | None = None,
    noverlap: int | None = None,
    nfft: int | None = None,
    input_onesided: bool = True,
    boundary: bool = True,
    time_axis: int = -1,
    freq_axis: int = -2,
    scaling: Literal["spectrum", "psd"] = "spectrum",
) -> tuple[Array, Array]:
    """The signal of which `stft` gave the terms, as ``scipy.signal.istft``.

    Parameters
    ----------
    Zxx : array_like
        Terms, of two or more dimensions.
    fs, window, nperseg, noverlap, nfft, scaling
        As they were given to `stft`; `nperseg` follows from the number of terms by default.
    input_onesided : bool
        The terms are those of a real signal, from frequency 0 on.
    boundary : bool
        The signal went on beyond its ends, which is cut.
    time_axis, freq_axis : int
        The axes of segments and of terms.

    Returns
    -------
    t, x : Array
        Times of the samples, and samples: along the axis that `time_axis` becomes without
        `freq_axis`; real if `input_onesided`.

    Raises
    ------
    ValueError
        For fewer than two dimensions, equal axes, and lengths that do not fit, as `stft`.

    Warns
    -----
    UserWarning
        If squared windows do not add up to more than 1e-10 at every sample: there the signal
        cannot be recovered.

    Notes
    -----
    Inverse transforms, added up and divided by the sums of squared windows, in parallel, without
    a copy of the segments. `t` has the length of the signal (SciPy's, for more than one signal,
    the number of signals).

    >>> f, t, z = hr.signal.stft([1.0, 2.0, 3.0, 4.0], nperseg=2)
    >>> hr.signal.istft(z)[1].to_numpy().round(6).tolist()
    [1.0, 2.0, 3.0, 4.0]
    """
    op = "istft"
    terms = array_of(asarray(Zxx)._node)
    if terms.ndim < 2:
        raise InvalidArgumentError(
            f"{op}: expected two or more dimensions: dimensions={terms.ndim}"
        )
    if not is_complex(terms):
        terms = complex_of(samples_of(terms), samples_of(terms) * 0)
    time = layout.axis_number(op, time_axis, terms.ndim)
    frequency = layout.axis_number(op, freq_axis, terms.ndim)
    if time == frequency:
        raise InvalidArgumentError(f"{op}: both axes are the same: time_axis={time_axis}")
    if scaling not in _SCALINGS:
        raise InvalidArgumentError(
            f"{op}: unknown scaling: scaling={scaling!r}; use 'spectrum' or 'psd'"
        )
    rows = layout.moveaxis(terms, (time, frequency), (-2, -1))
    count, given = rows.shape[-2:]
    usual = 2 * (given - 1) if input_onesided else given
    length = usual if nperseg is None else operator.index(nperseg)
    if length < 1:
        raise InvalidArgumentError(f"{op}: nperseg is not a positive integer: nperseg={length}")
    if nfft is None:
        nfft = length if input_onesided and length == usual + 1 else usual
    if nfft < length:
        raise InvalidArgumentError(
            f"{op}: nfft is less than nperseg: nfft={nfft}, nperseg={length}"
        )
    shared = length // 2 if noverlap is None else operator.index(noverlap)
    if shared >= length:
        raise InvalidArgumentError(
            f"{op}: noverlap is not less than nperseg: noverlap={shared}, nperseg={length}"
        )
    step = length - shared
    values = window_of(op, window, length, length)
    samples = length + (count - 1) * step
    first = length // 2 if boundary else 0
    kept = max(samples - 2 * first, 0)
    if _is_lossy(values, step, count, first):
        hint = "" if boundary else "; did the signal go on beyond its ends (boundary)?"
        warnings.warn(
            f"{op}: squared windows do not add up to more than {_LEAST_NORM} everywhere, so the "
            f"signal may differ{hint}",
            UserWarning,
            stacklevel=2,
        )
    total = float(values.sum()) if scaling == "spectrum" else float(fs * (values**2).sum()) ** 0.5
    mark(op)
    made = array_of(
        _core.spectral_synthesis(
            rows._node,
            asarray(values)._node,
            step=step,
            n=nfft,
            first=first,
            count=kept,
            one_sided=input_onesided,
            scale=total,
        )
    )
    place = time - (frequency < time)
    times = layout.iota(kept) / float(fs)
    return times, layout.moveaxis(made, -1, place)


def hilbert(x: Any, N: int | None = None, axis: int = -1) -> Array:
    """The analytic signal, as ``scipy.signal.hilbert``: its imaginary part is turned by 90 degrees.

    Parameters
    ----------
    x : array_like
        Real numbers of one or more dimensions, without nulls.
    N : int, optional
        Length of the transform: longer signals are cut, shorter ones padded with zeros.
    axis : int
        The axis of the samples.

    Returns
    -------
    Array
        complex64 for float32, else complex128; the real part is the signal.

    Raises
    ------
    ValueError
        If `N` is not positive.
    TypeError
        For complex numbers.

    Notes
    -----
    Two real transforms, O(n log n) for every length; SciPy takes two complex ones.

    >>> abs(hr.signal.hilbert([1.0, 0.0, -1.0, 0.0])).tolist()
    [1.0, 1.0, 1.0, 1.0]
    """
    op = "hilbert"
    signal = samples_of(x)
    if is_complex(signal):
        raise TypeMismatchError(f"{op}: expected real numbers: dtype={signal.dtype}; use .real")
    lines = lines_of(op, signal, axis)
    size = lines.shape[-1]
    length = size if N is None else operator.index(N)
    if length < 1:
        raise InvalidArgumentError(f"{op}: the length is not positive: N={length}")
    mark(op)
    terms = rfft(lines, length)
    turned = irfft(complex_of(imag(terms), -real(terms)), length)
    if length < size:
        lines = lines[..., :length]
    elif length > size:
        rest = zeros((*lines.shape[:-1], length - size), str(lines.dtype))
        lines = layout.concatenate([lines, rest], -1)
    made = complex_of(lines, turned)
    along = layout.axis_number(op, axis, signal.ndim)
    return made if along == signal.ndim - 1 else layout.moveaxis(made, -1, along)


def _extended(x: Array, count: int, how: str) -> Array:
    """Signals that go on beyond both ends."""
    size = x.shape[-1]
    if how == "constant":
        shape = (*x.shape[:-1], count)
        left, right = (layout.broadcast_to(end, shape) for end in (x[..., :1], x[..., -1:]))
        return layout.concatenate([left, x, right], -1)
    if count > size - 1:
        raise InvalidArgumentError(
            f"stft: the signal is too short for its boundary: boundary={how!r}, "
            f"nperseg // 2={count}, samples={size}; use boundary='zeros'"
        )
    left = layout.flip(x[..., 1 : count + 1], -1)
    right = layout.flip(x[..., size - 1 - count : size - 1], -1)
    if how == "odd":
        left, right = 2 * x[..., :1] - left, 2 * x[..., -1:] - right
    return layout.concatenate([left, x, right], -1)


def _is_lossy(window: np.ndarray[Any, Any], step: int, count: int, first: int) -> bool:
    """Whether a sample that is kept lies under no window to speak of."""
    import numpy as np

    length = len(window)
    some = min(count, 2 * -(-length // step) + 1)  # all borders and one stretch between them
    norms = np.zeros(length + (some - 1) * step)
    for k in range(some):
        norms[k * step : k * step + length] += window**2
    kept = norms[first : len(norms) - first]
    return bool((kept <= _LEAST_NORM).any())
