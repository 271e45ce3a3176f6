# SPDX-License-Identifier: Apache-2.0
"""Signals at another sampling rate."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from headrace import _core
from headrace.array.layout import axis_number, moveaxis
from headrace.errors import InvalidArgumentError, UnsupportedError
from headrace.lazy.handle import array_of, mark
from headrace.signal.filter_design import cheby1
from headrace.signal.filter_fir_design import firwin_taps
from headrace.signal.filters import float_array, sosfilt, sosfiltfilt
from headrace.signal.operands import array_of_design

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from headrace.array.array import Array

    Taps = npt.NDArray[np.float64]

#: What `resample_poly` takes away before and adds behind, by `padtype`.
_LEVELS = {"mean": "mean", "minimum": "min", "maximum": "max"}


def _real_array(op: str, x: Any) -> Array:
    array = float_array(x)
    if str(array.dtype).startswith("complex"):
        raise UnsupportedError(
            f"{op}: complex signals: dtype={array.dtype}; pass the real and the imaginary part"
        )
    return array


def _whole(op: str, name: str, value: Any) -> int:
    if not hasattr(value, "__index__") or value < 1:
        raise InvalidArgumentError(f"{op}: {name} is not a whole number >= 1: {name}={value!r}")
    return int(value)


def _taps(op: str, values: Any) -> tuple[Taps, bool]:
    """Taps in float64, and whether they were float32."""
    import numpy as np

    taps = np.asarray(values)
    if taps.ndim != 1 or taps.size == 0 or np.iscomplexobj(taps):
        raise InvalidArgumentError(
            f"{op}: the taps are not real numbers of one dimension: shape={taps.shape}, "
            f"dtype={taps.dtype}"
        )
    return taps.astype(float), taps.dtype == np.float32


def _polyphase(
    op: str,
    array: Array,
    taps: Taps,
    up: int,
    down: int,
    shift: int,
    count: int,
    along: int,
    single: bool,
) -> Array:
    rows = moveaxis(array, along, -1) if array.ndim > 1 else array
    made = array_of(
        _core.polyphase_filter(op, rows._node, taps.tolist(), up, down, shift, count, single)
    )
    return moveaxis(made, -1, along) if array.ndim > 1 else made


def upfirdn(h: Any, x: Any, up: int = 1, down: int = 1, axis: int = -1) -> Array:
    """Put in zeros, filter, leave out samples, as ``scipy.signal.upfirdn``.

    Parameters
    ----------
    h : array_like
        Real taps.
    x : array_like
        Real numbers of one or more dimensions.
    up, down : int
        ``up - 1`` zeros go behind each sample; then each `down`-th result is kept.
    axis : int
        The axis of time.

    Returns
    -------
    Array
        ``((n - 1) * up + len(h) - 1) // down + 1`` samples of float64 (float32 if `h` and `x` are).

    Raises
    ------
    ValueError
        Unless `up` and `down` are at least 1 and there are taps.

    Notes
    -----
    Only products that count are computed: O(n * len(h) / down), in parallel, each output in the
    order of its taps.

    >>> hr.signal.upfirdn([1.0, 1.0], [1.0, 2.0], up=2).tolist()
    [1.0, 1.0, 2.0, 2.0]
    """
    mark("upfirdn")
    taps, single = _taps("upfirdn", h)
    up, down = _whole("upfirdn", "up", up), _whole("upfirdn", "down", down)
    array = _real_array("upfirdn", x)
    along = axis_number("upfirdn", axis, array.ndim)
    samples = array.shape[along]
    count = ((samples - 1) * up + len(taps) - 1) // down + 1 if samples else 0
    return _polyphase("upfirdn", array, taps, up, down, 0, count, along, single)


def resample_poly(
    x: Any,
    up: int,
    down: int,
    axis: int = 0,
    window: Any = ("kaiser", 5.0),
    padtype: str = "constant",
) -> Array:
    """Resample by the ratio ``up / down`` of whole numbers, as ``scipy.signal.resample_poly``.

    Parameters
    ----------
    x : array_like
        Real numbers of one or more dimensions.
    up, down : int
        The ratio of the sampling rates.
    axis : int
        The axis of time.
    window : str, tuple or array_like
        The window of the low-pass filter's design, or its taps.
    padtype : {"constant", "mean", "minimum", "maximum"}
        What lies beyond the ends: zeros, or a level of the signal.

    Returns
    -------
    Array
        ``ceil(n * up / down)`` samples; float32 for float32 `x`, else float64.

    Raises
    ------
    ValueError
        Unless `up` and `down` are at least 1.
    UnsupportedError
        For another `padtype`.

    Notes
    -----
    As `upfirdn`.

    >>> hr.signal.resample_poly([1.0, 1.0, 1.0, 1.0], 1, 2).shape
    (2,)
    """
    mark("resample_poly")
    op = "resample_poly"
    up, down = _whole(op, "up", up), _whole(op, "down", down)
    if padtype != "constant" and padtype not in _LEVELS:
        raise UnsupportedError(
            f"{op}: this padding is not there: padtype={padtype!r}; use one of constant, "
            f"{', '.join(_LEVELS)}"
        )
    array = _real_array(op, x)
    along = axis_number(op, axis, array.ndim)
    common = math.gcd(up, down)
    up, down = up // common, down // common
    if up == down == 1:
        return array + 0.0
    if isinstance(window, str | tuple | float | int):
        most = max(up, down)
        half = 10 * most
        taps, single = firwin_taps(2 * half + 1, 1.0 / most, window=window), True
        if str(array.dtype) == "float32":
            taps = taps.astype("float32").astype(float)
    else:
        taps, single = _taps(op, window)
        half = (len(taps) - 1) // 2
    level: Any = None
    if padtype in _LEVELS:
        level = getattr(array, _LEVELS[padtype])(axis=along, keepdims=True)
        array = array - level
    count = -(-array.shape[along] * up // down)
    made = _polyphase(op, array, taps * up, up, down, half, count, along, single)
    return made if level is None else made + level


def resample(x: Any, num: int, axis: int = 0) -> Array:
    """Resample to a number of samples by the Fourier transform, as ``scipy.signal.resample``.

    The signal is taken as periodic: use `resample_poly` for others.

    Parameters
    ----------
    x : array_like
        Real numbers of one or more dimensions.
    num : int
        Number of samples of the result.
    axis : int
        The axis of time.

    Returns
    -------
    Array
        float32 for float32 `x`, else float64.

    Raises
    ------
    ValueError
        Unless `num` is at least 1, and for an axis without samples.

    >>> hr.signal.resample([1.0, 2.0, 3.0, 2.0], 8).shape
    (8,)
    """
    import numpy as np

    mark("resample")
    num = _whole("resample", "num", num)
    array = _real_array("resample", x)
    along = axis_number("resample", axis, array.ndim)
    samples = array.shape[along]
    if samples == 0:
        raise InvalidArgumentError(f"resample: the axis has no samples: axis={axis}, samples=0")
    rows = moveaxis(array, along, -1) if array.ndim > 1 else array
    shorter = min(num, samples)
    weights = np.full(shorter // 2 + 1, num / samples)
    if shorter % 2 == 0 and num != samples:  # the term at half of the rate stands for two, or half
        weights[-1] *= 2.0 if num < samples else 0.5
    if str(array.dtype) == "float32":
        weights = weights.astype("float32")
    terms = array_of(_core.fft("rfft", rows._node, None, "backward"))[..., : shorter // 2 + 1]
    terms = terms * array_of_design(weights)
    made = array_of(_core.fft("irfft", terms._node, num, "backward"))
    return moveaxis(made, -1, along) if array.ndim > 1 else made


def decimate(
    x: Any,
    q: int,
    n: int | None = None,
    ftype: str = "iir",
    axis: int = -1,
    zero_phase: bool = True,
) -> Array:
    """Filter below the new rate and keep each `q`-th sample, as ``scipy.signal.decimate``.

    Parameters
    ----------
    x : array_like
        Real numbers of one or more dimensions.
    q : int
        The ratio of the rates; in steps where it is over 13.
    n : int, optional
        Order of the filter: 8 for "iir", ``20 * q`` for "fir".
    ftype : {"iir", "fir"}
        A Chebyshev filter of type I with 0.05 dB of ripple, or taps by a Hamming window.
    axis : int
        The axis of time.
    zero_phase : bool
        Shift no phase: "iir" runs both ways.

    Returns
    -------
    Array
        ``ceil(n / q)`` samples; float32 for float32 `x`, else float64.

    Raises
    ------
    ValueError
        Unless `q` is at least 1, and for another `ftype`.

    >>> hr.signal.decimate([1.0] * 100, 5).shape
    (20,)
    """
    mark("decimate")
    q = _whole("decimate", "q", q)
    if ftype not in ("iir", "fir"):
        raise InvalidArgumentError(
            f"decimate: the kind of filter is not known: ftype={ftype!r}; use one of iir, fir"
        )
    array = _real_array("decimate", x)
    along = axis_number("decimate", axis, array.ndim)
    single = str(array.dtype) == "float32"
    if ftype == "fir":
        taps = firwin_taps((20 * q if n is None else int(n)) + 1, 1.0 / q, window="hamming")
        half = (len(taps) - 1) // 2 if zero_phase else 0
        count = -(-array.shape[along] // q)
        return _polyphase("decimate", array, taps, 1, q, half, count, along, True)
    sections = cheby1(8 if n is None else int(n), 0.05, 0.8 / q, output="sos")
    if single:
        sections = sections.astype("float32")
    filtered = (sosfiltfilt if zero_phase else sosfilt)(sections, array, axis=along)
    return filtered[(slice(None),) * along + (slice(None, None, q),)]
