# SPDX-License-Identifier: Apache-2.0
"""Positions, differences, histograms and segments of a signal."""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable
from numbers import Integral
from typing import TYPE_CHECKING, Any, Literal, ParamSpec

from headrace import _core
from headrace.lazy.handle import array_of, mark
from headrace.signal.operands import node_of

if TYPE_CHECKING:
    from headrace.array.array import Array

_P = ParamSpec("_P")


def nonzero(gate: Any) -> Array:
    """Positions of the true elements, ascending, as ``numpy.flatnonzero``.

    Takes a 1-D bool array or a bool series without nulls; gives int64. Two passes over the gate.

    >>> hr.signal.nonzero([False, True, True]).tolist()
    [1, 2]
    """
    mark("nonzero")
    return array_of(_core.nonzero(node_of(gate)))


def diff(x: Any) -> Array:
    """Differences of adjacent elements, ``x[1:] - x[:-1]``, as ``numpy.diff``; integers wrap.

    Takes 1-D integers or floats without nulls; gives their dtype, one element fewer.

    >>> hr.signal.diff([1, 4, 9]).tolist()
    [3, 5]
    """
    mark("diff")
    return array_of(_core.diff(node_of(x)))


def histogram(
    x: Any, bins: int | Any = 10, range: tuple[float, float] | None = None
) -> tuple[Array, Array]:
    """Counts of values in bins, equal to ``numpy.histogram`` bit for bit.

    Parameters
    ----------
    x : array_like
        1-D, integer or float. NaN is not counted, but an automatic range over NaN is an error.
    bins : int or array_like
        Number of bins of equal width, or their ascending edges.
    range : (float, float), optional
        Lower and upper edge; the minimum and maximum by default.

    Returns
    -------
    counts, edges : Array
        int64 counts; edges float32 for float32 values, else float64, or as given.

    Raises
    ------
    ValueError
        Without bins, for decreasing edges or range, or if the values hold NaN or inf and there is
        no range.
    TypeError
        Unless `x` is 1-D and integer or float.

    Notes
    -----
    O(n) in parallel: one pass with a range, two without. Explicit edges are located by a grid. For
    a density: ``counts / (counts.sum() * hr.signal.diff(edges))``.

    >>> counts, edges = hr.signal.histogram([1.0, 2.0, 2.5], bins=2, range=(1, 3))
    >>> counts.tolist(), edges.tolist()
    ([1, 2], [1.0, 2.0, 3.0])
    """
    mark("histogram")
    given = not isinstance(bins, Integral)  # includes NumPy's integers
    edges = node_of(bins) if given else None
    limits = None if range is None else (float(range[0]), float(range[1]))
    counts, made = _core.histogram(node_of(x), 0 if given else int(bins), limits, edges)
    return array_of(counts), array_of(made)


def segments(
    x: Any,
    begins: Any,
    lengths: Any = None,
    *,
    width: int,
    normalize: Literal["none", "zscore", "minmax", "max"] = "none",
) -> Array:
    """Cut segments from a signal into the rows of one contiguous tensor, zero-padded.

    Row k holds ``x[begins[k] : begins[k] + min(lengths[k], width)]``, then zeros up to `width`.
    Positions outside the signal are zeros too.

    Parameters
    ----------
    x : array_like
        1-D float32 or float64; the result has its dtype.
    begins : array_like of int64
        First sample of each row; may be negative.
    lengths : array_like of int64, optional
        Number of samples of each row, or one number for all; `width` by default.
    width : int
        Columns of the result.
    normalize : {"none", "zscore", "minmax", "max"}
        Scaling of each row over its own samples, never the padding: ``(v - mean) / std``, ``(v -
        min) / (max - min)`` or ``v / max(abs(v))``. If the divisor is 0 the row is zeros; if a
        value is NaN or inf its samples are NaN.

    Returns
    -------
    Array
        Shape ``(len(begins), width)``, row-major: one tensor to train on, without a copy.

    Raises
    ------
    ValueError
        If `width` or a length is negative, or `lengths` has neither 1 nor ``len(begins)`` elements.
    TypeError
        Unless `x` is 1-D and float and the positions are int64.

    Notes
    -----
    O(rows * width), in parallel; sums in float64, the same bits for any number of threads.

    >>> hr.signal.segments([1.0, 2.0, 3.0, 4.0], [0, 2], [1, 2], width=3).tolist()
    [[1.0, 0.0, 0.0], [3.0, 4.0, 0.0]]
    """
    mark("segments")
    sizes = None if lengths is None else node_of(lengths)
    return array_of(_core.segments(node_of(x), node_of(begins), sizes, width, normalize))


# ---- old names, for one release -----------------------------------------------------------------


def _renamed(old: str, function: Callable[_P, Array]) -> Callable[_P, Array]:
    """The function by its old name."""

    @functools.wraps(function)
    def call(*args: _P.args, **options: _P.kwargs) -> Array:
        new = function.__name__
        warnings.warn(f"hr.signal.{old} is now hr.signal.{new}", DeprecationWarning, stacklevel=2)
        return function(*args, **options)

    call.__name__ = call.__qualname__ = old
    call.__doc__ = f"Old name of `{function.__name__}`."
    return call


index_of_true: Callable[[Any], Array] = _renamed("index_of_true", nonzero)
windows: Callable[..., Array] = _renamed("windows", segments)
