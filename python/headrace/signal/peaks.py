# SPDX-License-Identifier: Apache-2.0
"""Peaks of a signal."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from headrace import _core
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
