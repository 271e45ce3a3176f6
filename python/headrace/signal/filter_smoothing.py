# SPDX-License-Identifier: Apache-2.0
"""Filters that smooth: medians."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from headrace import _core
from headrace.errors import TypeMismatchError, UnsupportedError
from headrace.lazy.handle import array_of, mark
from headrace.signal.operands import node_of

if TYPE_CHECKING:
    from headrace.array.array import Array


def medfilt(volume: Any, kernel_size: Any = 3) -> Array:
    """The median of a window around each sample, as ``scipy.signal.medfilt``.

    Beyond the ends there are zeros.

    Parameters
    ----------
    volume : array_like
        Integers or floats of one dimension.
    kernel_size : int or tuple
        Odd number of samples. Of rows of more dimensions: one for each axis, 1 but for the last.

    Returns
    -------
    Array
        Of the dtype and shape of `volume`. A window with NaN gives NaN.

    Raises
    ------
    ValueError
        If `kernel_size` is even or not positive.
    TypeError
        For bools, complex numbers and uint64.
    UnsupportedError
        For windows over several axes.

    Notes
    -----
    Windows up to 63 are sorted by networks of exchanges, many at a time, longer ones kept sorted;
    in parallel.

    >>> hr.signal.medfilt([1, 9, 2, 3, 4]).tolist()
    [1, 2, 3, 3, 3]
    """
    mark("medfilt")
    array = array_of(node_of(volume))
    sizes = tuple(kernel_size) if hasattr(kernel_size, "__len__") else (kernel_size,)
    sizes = (*(1 for _ in range(array.ndim - 1)), *sizes) if len(sizes) == 1 else sizes
    if len(sizes) != array.ndim or (not hasattr(kernel_size, "__len__") and array.ndim != 1):
        raise UnsupportedError(
            f"medfilt: one window for several axes: kernel_size={kernel_size}, "
            f"dimensions={array.ndim}; pass (1, ..., size) for windows along the last axis"
        )
    if any(size != 1 for size in sizes[:-1]):
        raise UnsupportedError(f"medfilt: a window over several axes: kernel_size={kernel_size}")
    kind = str(array.dtype)
    if kind in ("bool", "uint64") or kind.startswith("complex"):
        raise TypeMismatchError(f"medfilt: the dtype does not fit: dtype={kind}; use astype first")
    if "int" in kind and kind != "int64":
        return array_of(_core.median_filter(array.astype("int64")._node, int(sizes[-1]))).astype(
            kind
        )
    return array_of(_core.median_filter(array._node, int(sizes[-1])))
