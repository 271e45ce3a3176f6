# SPDX-License-Identifier: Apache-2.0
"""Signals: wavelets, convolution, filters, spectra, peaks, differences, histograms and segments.

All functions are lazy and take arrays, series without nulls, or anything `hr.asarray` takes.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from headrace.facade import missing_of_module
from headrace.signal.convolution import convolve2d, correlate2d, fft_convolve
from headrace.signal.correlation import correlate, correlation_lags
from headrace.signal.filter_design import butter, cheby1, cheby2, iirfilter
from headrace.signal.filter_fir_design import firwin, firwin2
from headrace.signal.filter_smoothing import medfilt, savgol_filter
from headrace.signal.filter_windows import get_window
from headrace.signal.filters import (
    filtfilt,
    lfilter,
    lfilter_zi,
    sosfilt,
    sosfilt_zi,
    sosfiltfilt,
)
from headrace.signal.peaks import find_peaks, non_max_suppression
from headrace.signal.resample import decimate, resample, resample_poly, upfirdn
from headrace.signal.segments import diff, histogram, nonzero, segments
from headrace.signal.segments import index_of_true as index_of_true
from headrace.signal.segments import windows as windows
from headrace.signal.spectral import coherence, csd, periodogram, spectrogram, welch
from headrace.signal.spectral_transforms import hilbert, istft, stft
from headrace.signal.waveforms import chirp
from headrace.signal.wavelets import cwt, morlet2, ricker

__all__ = [
    "diff",
    "fft_convolve",
    "histogram",
    "non_max_suppression",
    "nonzero",
    "ricker",
    "segments",
]
# Filters.
__all__ += [
    "butter",
    "cheby1",
    "cheby2",
    "chirp",
    "convolve2d",
    "correlate2d",
    "cwt",
    "decimate",
    "filtfilt",
    "find_peaks",
    "firwin",
    "firwin2",
    "get_window",
    "iirfilter",
    "lfilter",
    "lfilter_zi",
    "medfilt",
    "morlet2",
    "resample",
    "resample_poly",
    "savgol_filter",
    "sosfilt",
    "sosfilt_zi",
    "sosfiltfilt",
    "upfirdn",
]
# Spectra.
__all__ += [
    "coherence",
    "correlate",
    "correlation_lags",
    "csd",
    "hilbert",
    "istft",
    "periodogram",
    "spectrogram",
    "stft",
    "welch",
]


def __dir__() -> list[str]:
    """The public names."""
    return sorted(__all__)


__getattr__: Callable[[str], Any] = missing_of_module(__name__)
