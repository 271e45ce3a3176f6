# SPDX-License-Identifier: Apache-2.0
"""Signals: wavelets, convolution, peaks, differences, histograms and segments.

All functions are lazy and take arrays, series without nulls, or anything `hr.asarray` takes.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from headrace.facade import missing_of_module
from headrace.signal.convolution import fft_convolve
from headrace.signal.peaks import non_max_suppression
from headrace.signal.segments import diff, histogram, nonzero, segments
from headrace.signal.segments import index_of_true as index_of_true
from headrace.signal.segments import windows as windows
from headrace.signal.wavelets import ricker

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
