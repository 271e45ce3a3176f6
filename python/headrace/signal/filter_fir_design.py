# SPDX-License-Identifier: Apache-2.0
"""Designs of filters with taps, by windows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from headrace.errors import InvalidArgumentError
from headrace.signal.filter_windows import window_samples
from headrace.signal.operands import array_of_design

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from headrace.array.array import Array

    Taps = npt.NDArray[np.float64]

_PASSES_ZERO = {"lowpass": True, "bandstop": True, "highpass": False, "bandpass": False}


def _kaiser_beta(points: int, width: float) -> float:
    """Of the Kaiser window whose filters have a transition of this width."""
    attenuation = 2.285 * (points - 1) * 3.141592653589793 * width + 7.95
    if attenuation > 50:
        return 0.1102 * (attenuation - 8.7)
    if attenuation > 21:
        return float(0.5842 * (attenuation - 21) ** 0.4 + 0.07886 * (attenuation - 21))
    return 0.0


def firwin_taps(
    numtaps: int,
    cutoff: Any,
    *,
    width: float | None = None,
    window: Any = "hamming",
    pass_zero: bool | str = True,
    scale: bool = True,
    fs: float | None = None,
) -> Taps:
    """The taps of `firwin` as a NumPy array."""
    import numpy as np

    half = 1.0 if fs is None else float(fs) / 2
    edges = np.atleast_1d(np.asarray(cutoff, float)) / half
    if edges.ndim != 1 or edges.size == 0 or not (edges > 0).all() or not (edges < 1).all():
        raise InvalidArgumentError(
            f"firwin: an edge is out of range: cutoff={cutoff!r}; pass more than 0 and less than "
            f"{half}"
        )
    if (np.diff(edges) <= 0).any():
        raise InvalidArgumentError(f"firwin: the edges are not ascending: cutoff={cutoff!r}")
    if isinstance(pass_zero, str):
        if pass_zero not in _PASSES_ZERO or (pass_zero[:4] == "band") != (edges.size > 1):
            raise InvalidArgumentError(
                f"firwin: the band does not fit the edges: pass_zero={pass_zero!r}, "
                f"cutoff={cutoff!r}"
            )
        pass_zero = _PASSES_ZERO[pass_zero]
    if int(numtaps) != numtaps or numtaps < 1:
        raise InvalidArgumentError(f"firwin: there must be a tap: numtaps={numtaps!r}")
    passes_half = bool(edges.size & 1) != bool(pass_zero)
    if passes_half and numtaps % 2 == 0:
        raise InvalidArgumentError(
            f"firwin: a filter of an even number of taps is 0 at half of the rate: "
            f"numtaps={numtaps}; add one"
        )
    if width is not None:
        window = ("kaiser", _kaiser_beta(numtaps, float(width) / half))
    bands = np.concatenate([[0.0] * bool(pass_zero), edges, [1.0] * passes_half]).reshape(-1, 2)
    m = np.arange(numtaps) - 0.5 * (numtaps - 1)
    taps = np.zeros(numtaps)
    for left, right in bands:
        taps += right * np.sinc(right * m) - left * np.sinc(left * m)
    taps *= window_samples(window, numtaps, periodic=False)
    if scale:
        left, right = bands[0]
        at = 0.0 if left == 0 else 1.0 if right == 1 else 0.5 * (left + right)
        taps /= np.sum(taps * np.cos(np.pi * m * at))
    return taps


def firwin(
    numtaps: int,
    cutoff: Any,
    *,
    width: float | None = None,
    window: Any = "hamming",
    pass_zero: bool | str = True,
    scale: bool = True,
    fs: float | None = None,
) -> Array:
    """Taps of a filter by the window method, as ``scipy.signal.firwin``.

    Parameters
    ----------
    numtaps : int
        Number of taps; odd where the band reaches half of the sampling rate.
    cutoff : float or sequence of float
        Ascending edges, as shares of half of the sampling rate, or in the unit of `fs`.
    width : float, optional
        Width of the transition: takes the Kaiser window that has it.
    window : str or tuple
        As for `get_window`.
    pass_zero : bool or {"lowpass", "highpass", "bandpass", "bandstop"}
        Whether the gain at 0 is 1, or the band.
    scale : bool
        Make the gain at the middle of the first band exactly 1.
    fs : float, optional
        Sampling rate.

    Raises
    ------
    ValueError
        For edges out of range, and an even number of taps where an odd one is needed.

    >>> hr.signal.firwin(3, 0.5, window="boxcar").sum().item()
    1.0
    """
    return array_of_design(
        firwin_taps(
            numtaps,
            cutoff,
            width=width,
            window=window,
            pass_zero=pass_zero,
            scale=scale,
            fs=fs,
        )
    )


def firwin2(
    numtaps: int,
    freq: Any,
    gain: Any,
    *,
    nfreqs: int | None = None,
    window: Any = "hamming",
    antisymmetric: bool = False,
    fs: float | None = None,
) -> Array:
    """Taps of a filter with given gains at given frequencies, as ``scipy.signal.firwin2``.

    Parameters
    ----------
    numtaps : int
        Number of taps.
    freq, gain : sequence of float
        Gains at frequencies that ascend from 0 to half of the sampling rate (1, or ``fs / 2``),
        joined by straight lines; the same frequency twice is a step.
    nfreqs : int, optional
        Points of the lines that are taken: by default ``1 + 2**ceil(log2(numtaps))``.
    window : str, tuple or None
        As for `get_window`; None: none.
    antisymmetric : bool
        Odd symmetry of the taps.
    fs : float, optional
        Sampling rate.

    Raises
    ------
    ValueError
        If frequencies and gains do not fit each other or the symmetry.

    >>> hr.signal.firwin2(5, [0.0, 0.5, 1.0], [1.0, 1.0, 0.0]).shape
    (5,)
    """
    import numpy as np

    half = 1.0 if fs is None else float(fs) / 2
    at, gains = np.array(freq, float), np.array(gain, float)
    if at.shape != gains.shape or at.ndim != 1 or len(at) < 2:
        raise InvalidArgumentError(
            f"firwin2: frequencies and gains differ in number: freq={at.size}, gain={gains.size}"
        )
    steps = np.diff(at)
    if at[0] != 0 or at[-1] != half or (steps < 0).any() or (steps[1:] + steps[:-1] == 0).any():
        raise InvalidArgumentError(
            f"firwin2: the frequencies do not ascend from 0 to {half}, each at most twice: "
            f"freq={freq!r}"
        )
    points = 1 + 2 ** int(np.ceil(np.log2(numtaps))) if nfreqs is None else int(nfreqs)
    if numtaps >= 2 * points:
        raise InvalidArgumentError(
            f"firwin2: too few points for the taps: nfreqs={points}, numtaps={numtaps}; pass "
            f"nfreqs > {numtaps // 2}"
        )
    even = numtaps % 2 == 0
    zero_at_half = even != bool(antisymmetric)
    if (zero_at_half and gains[-1] != 0) or (antisymmetric and gains[0] != 0):
        raise InvalidArgumentError(
            f"firwin2: the gain must be 0 at an end where such filters are: gain={gain!r}, "
            f"numtaps={numtaps}, antisymmetric={antisymmetric}"
        )
    eps = np.finfo(float).eps * half
    for k in np.flatnonzero(steps == 0):
        at[k] -= eps
        at[k + 1] += eps
    x = np.linspace(0.0, half, points)
    shift = np.exp(-(numtaps - 1) / 2.0 * 1j * np.pi * x / half)
    if antisymmetric:
        shift *= 1j
    taps = np.fft.irfft(np.interp(x, at, gains) * shift)[:numtaps]
    if window is not None:
        taps = taps * window_samples(window, numtaps, periodic=False)
    if antisymmetric and not even:
        taps[numtaps // 2] = 0.0
    return array_of_design(taps)
