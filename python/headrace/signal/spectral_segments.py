# SPDX-License-Identifier: Apache-2.0
"""Segments of signals for spectra: their window, their steps, and the nodes of their transforms."""

from __future__ import annotations

import operator
import warnings
from typing import TYPE_CHECKING, Any, NamedTuple

from headrace import _core
from headrace.array import layout
from headrace.array.complex_numbers import is_complex
from headrace.array.construct import asarray
from headrace.errors import InvalidArgumentError
from headrace.lazy.handle import array_of
from headrace.signal.filter_windows import get_window
from headrace.signal.operands import node_of

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy as np
    import numpy.typing as npt

    from headrace.array.array import Array

    Window = str | float | tuple[Any, ...] | npt.ArrayLike
    DetrendOption = str | bool | None | Callable[[Array], Any]

_TRENDS = {
    None: "none",
    False: "none",
    "constant": "constant",
    "c": "constant",
    "linear": "linear",
    "l": "linear",
}


class Segments(NamedTuple):
    """How signals are cut."""

    window: np.ndarray[Any, Any]
    step: int
    nfft: int
    detrend: DetrendOption
    one_sided: bool

    @property
    def nperseg(self) -> int:
        """Samples in a segment."""
        return len(self.window)

    def count(self, samples: int) -> int:
        """Segments that lie whole in a signal of this length."""
        return max((samples - self.nperseg) // self.step + 1, 0)

    def frequencies(self, fs: float) -> Array:
        """Of the terms."""
        import numpy as np

        made = np.fft.rfftfreq if self.one_sided else np.fft.fftfreq
        return asarray(made(self.nfft, 1 / fs))

    def scale(self, op: str, scaling: str, fs: float) -> float:
        """The factor on powers."""
        if not fs > 0:
            raise InvalidArgumentError(f"{op}: the sampling rate is not positive: fs={fs}")
        if scaling == "density":
            return 1 / (fs * float((self.window * self.window).sum()))
        if scaling == "spectrum":
            return 1 / float(self.window.sum()) ** 2
        raise InvalidArgumentError(
            f"{op}: unknown scaling: scaling={scaling!r}; use 'density' or 'spectrum'"
        )


def samples_of(x: Any) -> Array:
    """Floats or complex numbers with a known shape; integers and bools as float64."""
    array = array_of(node_of(x))
    layout.known_shape(array)
    word = str(array.dtype)
    return array if word.startswith(("float", "complex")) else array.astype("float64")


def lines_of(op: str, x: Array, axis: int) -> Array:
    """A view with the axis of the samples last."""
    along = layout.axis_number(op, axis, x.ndim)
    return x if along == x.ndim - 1 else layout.moveaxis(x, along, -1)


def window_of(op: str, window: Window, nperseg: int | None, samples: int) -> np.ndarray[Any, Any]:
    """The values of a window: named ones are cut to the length of the signal, with a warning."""
    import numpy as np

    length = None if nperseg is None else operator.index(nperseg)
    if length is not None and length < 1:
        raise InvalidArgumentError(f"{op}: nperseg is not a positive integer: nperseg={length}")
    if isinstance(window, str | tuple):
        length = 256 if length is None else length
        if length > samples:
            warnings.warn(
                f"{op}: nperseg={length} is more than the samples: n={samples}; "
                f"nperseg={samples} is used",
                UserWarning,
                stacklevel=4,
            )
            length = samples
        return np.asarray(get_window(window, length), np.float64)
    values = np.asarray(window)
    if values.ndim != 1:
        raise InvalidArgumentError(f"{op}: the window is not 1-D: dimensions={values.ndim}")
    if length not in (None, len(values)):
        raise InvalidArgumentError(
            f"{op}: nperseg is not the length of the window: nperseg={length}, "
            f"window={len(values)}; leave nperseg out"
        )
    if not 1 <= len(values) <= samples:
        raise InvalidArgumentError(
            f"{op}: the window is empty or longer than the signal: window={len(values)}, "
            f"samples={samples}; use a shorter window"
        )
    return values.astype(np.float64)


def cut(
    op: str,
    x: Array,
    window: Window,
    nperseg: int | None,
    noverlap: int | None,
    nfft: int | None,
    detrend: DetrendOption,
    return_onesided: bool,
    *,
    overlap: int = 2,
    samples: int | None = None,
) -> Segments:
    """How a signal is cut; by default segments overlap by ``nperseg // overlap``."""
    values = window_of(op, window, nperseg, x.shape[-1] if samples is None else samples)
    length = len(values)
    transform = length if nfft is None else operator.index(nfft)
    if transform < length:
        raise InvalidArgumentError(
            f"{op}: nfft is less than nperseg: nfft={transform}, nperseg={length}"
        )
    shared = length // overlap if noverlap is None else operator.index(noverlap)
    if shared >= length:
        raise InvalidArgumentError(
            f"{op}: noverlap is not less than nperseg: noverlap={shared}, nperseg={length}"
        )
    if not callable(detrend) and detrend not in _TRENDS:
        raise InvalidArgumentError(
            f"{op}: unknown trend: detrend={detrend!r}; use 'constant', 'linear' or False"
        )
    one_sided = return_onesided and not is_complex(x)
    return Segments(values, length - shared, transform, detrend, one_sided)


def spectra(
    segments: Segments,
    x: Array,
    y: Array | None = None,
    *,
    spectrum: str,
    scale: float,
    mean: bool = False,
    first: int = 0,
    count: int | None = None,
) -> Array:
    """Spectra of the segments along the last axis: (..., segments, terms), or their mean."""
    number = segments.count(x.shape[-1]) if count is None else count
    step, trend = segments.step, segments.detrend
    frames = callable(trend)
    if callable(trend):
        x = _detrended(segments, x, first, number)
        y = None if y is None else _detrended(segments, y, first, number)
        first, step, number = 0, 1, 1
    made = array_of(
        _core.spectral_segments(
            x._node,
            None if y is None else y._node,
            asarray(segments.window)._node,
            spectrum=spectrum,
            detrend="none" if callable(trend) else _TRENDS[trend],
            first=first,
            step=step,
            segments=number,
            n=segments.nfft,
            one_sided=segments.one_sided,
            mean=mean and not frames,
            scale=scale,
        )
    )
    if not frames:
        return made
    made = layout.squeeze(made, -2)
    return made.mean(axis=-2) if mean else made


def _detrended(segments: Segments, x: Array, first: int, count: int) -> Array:
    """The segments side by side, without the trend that a function takes from them."""
    import numpy as np

    length = segments.nperseg
    last = first + (count - 1) * segments.step + length
    before, after = max(-first, 0), max(last - x.shape[-1], 0)
    if before or after:
        ends = [layout.broadcast_to(x[..., :1] * 0, (*x.shape[:-1], k)) for k in (before, after)]
        x = layout.concatenate([ends[0], x, ends[1]], -1)
    starts = np.arange(count)[:, None] * segments.step + max(first, 0)
    frames = x[..., asarray(starts + np.arange(length))]
    assert callable(segments.detrend)
    return samples_of(segments.detrend(frames))
