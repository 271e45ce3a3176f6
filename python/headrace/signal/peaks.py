# SPDX-License-Identifier: Apache-2.0
"""Peaks of a signal."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from headrace import _core
from headrace.errors import InvalidArgumentError, UnsupportedError
from headrace.lazy.handle import Deferred, array_of, mark
from headrace.signal.operands import node_of

if TYPE_CHECKING:
    from headrace.array.array import Array


def non_max_suppression(x: Any, window: int, threshold: float | Array = -float("inf")) -> Array:
    """Mark local maxima: a boolean gate.

    ``gate[i]`` is true when ``x[i] >= threshold`` and ``x[i]`` is greater than every earlier value
    and not less than any later value in ``x[i - window//2 : i + window//2 + 1]``, cut at the ends.
    So the leftmost of equal values wins. NaN is never a peak and suppresses none.

    Parameters
    ----------
    x : array_like
        1-D, integer or float, of any stride, without nulls.
    window : int
        Odd number of samples; may be wider than the signal.
    threshold : float or 0-d array
        The minimum height of a peak; a lazy one (``2 * x.std()``) stays part of the plan.

    Returns
    -------
    Array
        One bool per sample.

    Raises
    ------
    ValueError
        If `window` is even or not positive, or `threshold` is NaN.
    TypeError
        For bools, complex numbers and strings, and for more than one dimension.

    Notes
    -----
    O(n) for any window and any data, in parallel. Windows up to 63 compare with running maxima
    built by doubling; wider ones use the maxima of cells of 16 or 64 samples and check only the
    candidates.

    >>> hr.signal.non_max_suppression([0, 3, 1, 2, 5, 0], window=3).tolist()
    [False, True, False, False, True, False]
    """
    mark("non_max_suppression")
    limit = threshold._node if isinstance(threshold, Deferred) else _core.scalar(float(threshold))
    return array_of(_core.non_max_suppression(node_of(x), window, limit))


def _ends(name: str, value: Any) -> tuple[float, float] | None:
    """The least and the most that an option of `find_peaks` allows."""
    if value is None:
        return None
    infinity = float("inf")
    pair = tuple(value) if hasattr(value, "__len__") else (value, None)
    if len(pair) != 2 or any(hasattr(each, "__len__") for each in pair):
        raise UnsupportedError(
            f"find_peaks: limits for each sample are not there: {name}={value!r}; pass a number or "
            "two"
        )
    least, most = (None if each is None else float(each) for each in pair)
    return -infinity if least is None else least, infinity if most is None else most


def find_peaks(
    x: Any,
    height: Any = None,
    threshold: Any = None,
    distance: float | None = None,
    prominence: Any = None,
    width: Any = None,
    wlen: float | None = None,
    rel_height: float = 0.5,
    plateau_size: Any = None,
) -> tuple[Array, dict[str, Array]]:
    """Find peaks by their properties, as ``scipy.signal.find_peaks``.

    A peak is greater than both of its neighbours; of equal samples it is the middle one. Each
    option is a number (the least) or two (the least and the most, None for none), and makes its
    properties part of the result.

    Parameters
    ----------
    x : array_like
        1-D numbers without nulls, taken as float64. NaN is no peak.
    height : number or pair
        Height: "peak_heights".
    threshold : number or pair
        Difference to both neighbours: "left_thresholds", "right_thresholds".
    distance : number
        Samples between peaks, at least 1: lower ones too near to a higher one go.
    prominence : number or pair
        How far a peak stands out: "prominences", "left_bases", "right_bases".
    width : number or pair
        Width in samples: "widths", "width_heights", "left_ips", "right_ips".
    wlen : number
        Samples around a peak that its prominence is taken from; all by default.
    rel_height : float
        The part of the prominence at which the width is measured.
    plateau_size : number or pair
        Equal samples: "plateau_sizes", "left_edges", "right_edges".

    Returns
    -------
    (Array, dict of Array)
        Positions, int64 ascending, and the properties; all are found together when one is used.

    Raises
    ------
    ValueError
        For a distance below 1, `wlen` not above 1, and a negative `rel_height`.
    UnsupportedError
        For limits of each sample.

    Notes
    -----
    O(n) for maxima, in parallel; prominences pass over blocks of samples that are not higher. With
    `distance` peaks are sorted by height; of equal ones the later stays.

    >>> peaks, found = hr.signal.find_peaks([0.0, 3.0, 0.0, 1.0, 0.5], prominence=0.6)
    >>> peaks.tolist(), found["prominences"].tolist()
    ([1], [3.0])
    """
    import math

    mark("find_peaks")
    if distance is not None and not distance >= 1:
        raise InvalidArgumentError(
            f"find_peaks: the distance is too short: distance={distance}; pass 1 or more"
        )
    if wlen is not None and not wlen > 1:
        raise InvalidArgumentError(f"find_peaks: wlen is too short: wlen={wlen}; pass 2 or more")
    if not rel_height >= 0:
        raise InvalidArgumentError(
            f"find_peaks: the relative height is negative: rel_height={rel_height}; pass 0 to 1"
        )
    array = array_of(node_of(x))
    if str(array.dtype) != "float64":
        array = array.astype("float64")
    nodes = _core.find_peaks(
        array._node,
        _ends("height", height),
        _ends("threshold", threshold),
        None if distance is None else float(distance),
        _ends("prominence", prominence),
        _ends("width", width),
        None if wlen is None else math.ceil(wlen),
        float(rel_height),
        _ends("plateau_size", plateau_size),
    )
    names: list[str] = []
    if plateau_size is not None:
        names += ["plateau_sizes", "left_edges", "right_edges"]
    if height is not None:
        names += ["peak_heights"]
    if threshold is not None:
        names += ["left_thresholds", "right_thresholds"]
    if prominence is not None or width is not None:
        names += ["prominences", "left_bases", "right_bases"]
    if width is not None:
        names += ["widths", "width_heights", "left_ips", "right_ips"]
    positions, *properties = map(array_of, nodes)
    return positions, dict(zip(names, properties, strict=True))
