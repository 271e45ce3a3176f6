# SPDX-License-Identifier: Apache-2.0
"""Power spectra of signals, with the words, defaults and results of `scipy.signal`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from headrace.array import layout
from headrace.array.complex_numbers import complex_of, imag, is_complex, real
from headrace.array.construct import asarray
from headrace.array.create import zeros
from headrace.array.order import sort
from headrace.errors import InvalidArgumentError
from headrace.lazy.handle import mark
from headrace.signal.spectral_segments import cut, lines_of, samples_of, spectra

if TYPE_CHECKING:
    from headrace.array.array import Array
    from headrace.signal.spectral_segments import DetrendOption, Window

    Scaling = Literal["density", "spectrum"]


def periodogram(
    x: Any,
    fs: float = 1.0,
    window: Window | None = "boxcar",
    nfft: int | None = None,
    detrend: DetrendOption = "constant",
    return_onesided: bool = True,
    scaling: Scaling = "density",
    axis: int = -1,
) -> tuple[Array, Array]:
    """The power spectrum of a whole signal, as ``scipy.signal.periodogram``.

    Parameters
    ----------
    x : array_like
        Numbers of one or more dimensions, without nulls.
    fs : float
        Samples per unit of time.
    window : str, float, tuple or array_like, optional
        As `get_window` takes it, or values.
    nfft : int, optional
        Length of the transform: more pads with zeros, less takes the first samples.
    detrend, return_onesided, scaling, axis
        As in `welch`.

    Returns
    -------
    f, Pxx : Array
        Frequencies, and powers with the frequencies along `axis`.

    Raises
    ------
    ValueError
        If a window of values has another length than the signal, or for unknown options.

    Notes
    -----
    O(n log n); one transform, which all workers share when it is long.

    >>> f, p = hr.signal.periodogram([1.0, -1.0, 1.0, -1.0])
    >>> f.tolist(), p.tolist()
    ([0.0, 0.25, 0.5], [0.0, 0.0, 4.0])
    """
    signal = samples_of(x)
    if signal.size == 0:
        return zeros(signal.shape), zeros(signal.shape)
    lines = lines_of("periodogram", signal, axis)
    if nfft is not None and nfft < 1:
        raise InvalidArgumentError(f"periodogram: expected a positive length: nfft={nfft}")
    if nfft is not None and nfft < lines.shape[-1]:
        lines, nfft = lines[..., :nfft], None
    window = "boxcar" if window is None else window
    size = getattr(window, "size", None)
    if size is not None and size != lines.shape[-1]:
        raise InvalidArgumentError(
            f"periodogram: the window has not the length of the signal: window={size}, "
            f"samples={lines.shape[-1]}"
        )
    f, powers = welch(
        lines, fs, window, lines.shape[-1], 0, nfft, detrend, return_onesided, scaling
    )
    along = layout.axis_number("periodogram", axis, signal.ndim)
    return f, layout.moveaxis(powers, -1, along)


def welch(
    x: Any,
    fs: float = 1.0,
    window: Window = "hann",
    nperseg: int | None = None,
    noverlap: int | None = None,
    nfft: int | None = None,
    detrend: DetrendOption = "constant",
    return_onesided: bool = True,
    scaling: Scaling = "density",
    axis: int = -1,
    average: Literal["mean", "median"] = "mean",
) -> tuple[Array, Array]:
    """The power spectrum by Welch's method, as ``scipy.signal.welch``.

    The mean of the powers of overlapping segments, each detrended, windowed and transformed.

    Parameters
    ----------
    x : array_like
        Numbers of one or more dimensions, without nulls; integers count as float64.
    fs : float
        Samples per unit of time.
    window : str, float, tuple or array_like
        As `get_window` takes it, or the values.
    nperseg, noverlap, nfft : int, optional
        Samples in a segment (256, or those of the window), samples that neighbours share
        (``nperseg // 2``), and length of the transform, which pads segments with zeros.
    detrend : {"constant", "linear", False} or function
        What is taken from each segment; a function gets the segments along the last axis.
    return_onesided : bool
        Only frequencies from 0 on, whose powers count for their mirrors; never of complex signals.
    scaling : {"density", "spectrum"}
        Power per frequency, or power.
    axis : int
        The axis of the samples, and of the frequencies in the result.
    average : {"mean", "median"}
        A median is divided by its bias.

    Returns
    -------
    f, Pxx : Array
        Frequencies in float64, and powers: float32 of float32 and complex64, else float64.

    Raises
    ------
    ValueError
        Unless ``1 <= nperseg <= nfft`` and ``noverlap < nperseg``, and for unknown options.

    Warns
    -----
    UserWarning
        If `nperseg` is more than the samples, which are used then.

    Notes
    -----
    O(n log nperseg) in one pass over the signal, in parallel, without a copy of the segments; a
    median keeps the powers of all. The same bits for any number of threads (P. D. Welch, IEEE
    Transactions on Audio and Electroacoustics 15, 1967).

    >>> f, p = hr.signal.welch([0.0, 1.0] * 8, nperseg=4, window="boxcar")
    >>> f.tolist(), p.tolist()
    ([0.0, 0.25, 0.5], [0.0, 0.0, 1.0])
    """
    return _mean_spectrum(
        "welch",
        x,
        None,
        fs,
        window,
        nperseg,
        noverlap,
        nfft,
        detrend,
        return_onesided,
        scaling,
        axis,
        average,
    )


def csd(
    x: Any,
    y: Any,
    fs: float = 1.0,
    window: Window = "hann",
    nperseg: int | None = None,
    noverlap: int | None = None,
    nfft: int | None = None,
    detrend: DetrendOption = "constant",
    return_onesided: bool = True,
    scaling: Scaling = "density",
    axis: int = -1,
    average: Literal["mean", "median"] = "mean",
) -> tuple[Array, Array]:
    """The cross power spectrum of two signals by Welch's method, as ``scipy.signal.csd``.

    Parameters
    ----------
    x, y : array_like
        Numbers whose shapes broadcast but for `axis`; the shorter one is padded with zeros.
    fs, window, nperseg, noverlap, nfft, detrend, return_onesided, scaling, axis, average
        As in `welch`.

    Returns
    -------
    f, Pxy : Array
        Frequencies, and the mean of ``conj(X) * Y``, complex; real if `y` is `x`.

    Raises
    ------
    ValueError
        As `welch`, and if the shapes do not broadcast.

    Notes
    -----
    As `welch`: one pass over both signals.

    >>> f, p = hr.signal.csd([0.0, 1.0] * 8, [1.0, 0.0] * 8, nperseg=4, window="boxcar")
    >>> p.tolist()
    [0j, 0j, (-1+0j)]
    """
    other = None if y is x else y
    return _mean_spectrum(
        "csd",
        x,
        other,
        fs,
        window,
        nperseg,
        noverlap,
        nfft,
        detrend,
        return_onesided,
        scaling,
        axis,
        average,
    )


def coherence(
    x: Any,
    y: Any,
    fs: float = 1.0,
    window: Window = "hann",
    nperseg: int | None = None,
    noverlap: int | None = None,
    nfft: int | None = None,
    detrend: DetrendOption = "constant",
    axis: int = -1,
) -> tuple[Array, Array]:
    """The squared coherence of two signals, ``abs(Pxy)**2 / (Pxx * Pyy)``.

    As ``scipy.signal.coherence``: numbers from 0 to 1, NaN where a signal has no power.

    Parameters
    ----------
    x, y : array_like
        As in `csd`.
    fs, window, nperseg, noverlap, nfft, detrend, axis
        As in `welch`.

    Returns
    -------
    f, Cxy : Array
        Frequencies and coherence.

    Raises
    ------
    ValueError
        As `csd`.

    Notes
    -----
    Three passes of `welch` and `csd`.

    >>> f, c = hr.signal.coherence([0.0, 1.0, 0.0, 3.0], [0.0, 2.0, 0.0, 6.0], nperseg=2)
    >>> c.shape
    (2,)
    """
    options = (fs, window, nperseg, noverlap, nfft, detrend)
    f, own = welch(x, *options, axis=axis)
    _, others = welch(y, *options, axis=axis)
    _, cross = csd(x, y, *options, axis=axis)
    if is_complex(cross):
        return f, (real(cross) ** 2 + imag(cross) ** 2) / own / others
    return f, cross**2 / own / others


def spectrogram(
    x: Any,
    fs: float = 1.0,
    window: Window = ("tukey", 0.25),
    nperseg: int | None = None,
    noverlap: int | None = None,
    nfft: int | None = None,
    detrend: DetrendOption = "constant",
    return_onesided: bool = True,
    scaling: Scaling = "density",
    axis: int = -1,
    mode: Literal["psd", "complex", "magnitude", "angle", "phase"] = "psd",
) -> tuple[Array, Array, Array]:
    """Spectra of successive segments of a signal, as ``scipy.signal.spectrogram``.

    Parameters
    ----------
    x : array_like
        Numbers of one or more dimensions, without nulls.
    fs, window, nperseg, noverlap, nfft, detrend, return_onesided, scaling, axis
        As in `welch`; segments share ``nperseg // 8`` samples by default.
    mode : {"psd", "complex", "magnitude", "angle", "phase"}
        Powers, the terms as `stft` gives them without padding, their magnitudes, their angles, or
        angles without jumps along the frequencies.

    Returns
    -------
    f, t, Sxx : Array
        Frequencies, times of the middles of the segments, and spectra: frequencies along `axis`,
        times along the last axis. A view: in memory the frequencies of a segment are neighbours.

    Raises
    ------
    ValueError
        As `welch`.

    Notes
    -----
    O(n log nperseg), in parallel, without a copy of the segments. "phase" runs at once, through
    NumPy.

    >>> f, t, s = hr.signal.spectrogram([0.0, 1.0] * 8, nperseg=8)
    >>> s.shape, t.tolist()
    ((5, 2), [4.0, 11.0])
    """
    import numpy as np

    op = "spectrogram"
    modes = ("psd", "complex", "magnitude", "angle", "phase")
    if mode not in modes:
        raise InvalidArgumentError(f"{op}: unknown mode: mode={mode!r}; use one of {modes}")
    signal = samples_of(x)
    if signal.size == 0:
        return zeros(signal.shape), zeros(signal.shape), zeros(signal.shape)
    lines = lines_of(op, signal, axis)
    options = (window, nperseg, noverlap, nfft, detrend, return_onesided)
    segments = cut(op, lines, *options, overlap=8)
    scale = segments.scale(op, scaling, fs)
    mark(op)
    if mode == "psd":
        made = spectra(segments, lines, spectrum="power", scale=scale)
    else:
        made = spectra(segments, lines, spectrum="terms", scale=scale**0.5)
    if mode == "magnitude":
        made = abs(made)
    elif mode in ("angle", "phase"):
        made = made._elementwise("arctan2", imag(made), real(made))
    if mode == "phase":
        made = asarray(np.unwrap(made.to_numpy(), axis=-1))
    times = (layout.iota(made.shape[-2]) * segments.step + segments.nperseg / 2) / float(fs)
    along = layout.axis_number(op, axis, signal.ndim)
    return segments.frequencies(fs), times, layout.moveaxis(made, -1, along)


def _mean_spectrum(
    op: str,
    x: Any,
    y: Any,
    fs: float,
    window: Window,
    nperseg: int | None,
    noverlap: int | None,
    nfft: int | None,
    detrend: DetrendOption,
    return_onesided: bool,
    scaling: str,
    axis: int,
    average: str,
) -> tuple[Array, Array]:
    """Frequencies and the mean spectrum of one signal, or of two."""
    if average not in ("mean", "median"):
        raise InvalidArgumentError(f"{op}: unknown average: average={average!r}; use 'mean'")
    signal = samples_of(x)
    other = None if y is None else samples_of(y)
    if signal.size == 0 or (other is not None and other.size == 0):
        shape = signal.shape if other is None else (min(signal.shape[axis], other.shape[axis]),)
        return zeros(shape), zeros(shape)
    lines = lines_of(op, signal, axis)
    if other is not None:
        lines, other = _pair(op, lines, lines_of(op, other, axis))
    samples = max(lines.shape[-1], lines.shape[-1] if other is None else other.shape[-1])
    options = (window, nperseg, noverlap, nfft, detrend, return_onesided)
    segments = cut(op, lines, *options, samples=samples)
    scale = segments.scale(op, scaling, fs)
    spectrum = "power" if other is None else "cross"
    count = segments.count(samples)
    mark(op)
    if average == "mean" or count == 1:
        made = spectra(
            segments, lines, other, spectrum=spectrum, scale=scale, mean=True, count=count
        )
    else:
        each = spectra(segments, lines, other, spectrum=spectrum, scale=scale, count=count)
        made = _median(each, count)
    return segments.frequencies(fs), layout.moveaxis(made, -1, axis)


def _pair(op: str, x: Array, y: Array) -> tuple[Array, Array]:
    """Two signals of one dtype whose shapes differ in the last axis alone."""
    outer = layout.broadcast_shapes(x.shape[:-1], y.shape[:-1])
    word = layout.common_dtype(x, y)
    made = []
    for each in (x, y):
        array = each if str(each.dtype) == word else each.astype(word)
        shape = (*outer, each.shape[-1])
        made.append(array if array.shape == shape else layout.broadcast_to(array, shape))
    return made[0], made[1]


def _median(each: Array, count: int) -> Array:
    """The median over the segments, divided by its bias (B. Allen and others, 2012)."""
    import numpy as np

    twice = 2 * np.arange(1.0, (count - 1) // 2 + 1)
    bias = 1 + float(np.sum(1.0 / (twice + 1) - 1.0 / twice))
    if is_complex(each):
        return complex_of(_middle(real(each), count) / bias, _middle(imag(each), count) / bias)
    return _middle(each, count) / bias


def _middle(each: Array, count: int) -> Array:
    ordered = sort(each, -2)
    half = count // 2
    if count % 2:
        return ordered[..., half, :]
    return (ordered[..., half - 1, :] + ordered[..., half, :]) / 2
