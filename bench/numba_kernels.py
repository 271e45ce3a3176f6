# SPDX-License-Identifier: Apache-2.0
"""The steps of the ECG job as an experienced Numba user would write them: parallel, compiled once.

The machine code is cached (`cache=True`), so that a fresh process loads it instead of compiling.
"""

from typing import Any

import numba
import numpy as np

PART = 65_536


@numba.njit(parallel=True, cache=True)
def van_herk(x: Any, half: int, threshold: float) -> Any:
    """Mark maxima of windows by running maxima of blocks, forwards and backwards."""
    least = x.dtype.type(-np.inf)
    window = 2 * half + 1
    gate = np.zeros(len(x), np.bool_)
    blocks = (len(x) + window - 1) // window
    chunk = max(1, PART // window)
    for part in numba.prange((blocks + chunk - 1) // chunk):
        backwards = np.empty(window, x.dtype)
        for block in range(part * chunk, min(blocks, (part + 1) * chunk)):
            first = block * window
            top = least
            for j in range(window - 1, -1, -1):
                i = first - half + j
                if 0 <= i < len(x):
                    top = max(top, x[i])
                backwards[j] = top
            top = least
            for j in range(min(window, len(x) - first)):
                if j > 0 and first + half + j < len(x):
                    top = max(top, x[first + half + j])
                value = x[first + j]
                gate[first + j] = value >= threshold and value >= max(top, backwards[j])
    return gate


@numba.njit(parallel=True, cache=True)
def early_exit(x: Any, half: int, threshold: float) -> Any:
    """Mark maxima of windows: most values fail the threshold or at a neighbour."""
    gate = np.zeros(len(x), np.bool_)
    for part in numba.prange((len(x) + PART - 1) // PART):
        for i in range(part * PART, min(len(x), (part + 1) * PART)):
            value = x[i]
            if value >= threshold:
                highest = True
                for distance in range(1, half + 1):
                    if (i >= distance and x[i - distance] > value) or (
                        i + distance < len(x) and x[i + distance] > value
                    ):
                        highest = False
                        break
                gate[i] = highest
    return gate


@numba.njit(inline="always", fastmath=True)
def _mean_and_factor(part: Any) -> Any:
    """The mean, and 1 / the standard deviation."""
    # A loop over a slice by index is vectorized; one over its values is not.
    count = part.dtype.type(len(part))
    center, square = part.dtype.type(0), part.dtype.type(0)
    for i in range(len(part)):
        center += part[i]
    center /= count
    for i in range(len(part)):
        square += (part[i] - center) ** 2
    return center, part.dtype.type(1) / np.sqrt(square / count)


@numba.njit(parallel=True, cache=True, fastmath=True)
def cut_rows(x: Any, begins: Any, width: int, zscore: bool) -> Any:
    """Cut segments, and scale them, row by row."""
    out = np.empty((len(begins), width), x.dtype)
    for k in numba.prange(len(begins)):
        part, row = x[begins[k] : begins[k] + width], out[k]
        center, factor = x.dtype.type(0), x.dtype.type(1)
        if zscore:
            center, factor = _mean_and_factor(part)
        for i in range(len(part)):
            row[i] = (part[i] - center) * factor
    return out


@numba.njit(parallel=True, cache=True, fastmath=True)
def cut_beats_into(out: Any, x: Any, begins: Any, lengths: Any, width: int) -> None:
    """Cut segments that end before their width, scale them, fill with zeros."""
    for k in numba.prange(len(begins)):
        length = min(lengths[k], width)
        part, row = x[begins[k] : begins[k] + length], out[k]
        center, factor = _mean_and_factor(part)
        for i in range(len(part)):
            row[i] = (part[i] - center) * factor
        row[length:] = 0


def cut_beats(x: Any, begins: Any, lengths: Any, width: int) -> Any:
    """The same into new memory."""
    out = np.empty((len(begins), width), x.dtype)
    cut_beats_into(out, x, begins, lengths, width)
    return out


@numba.njit(parallel=True, cache=True, fastmath=True)
def deviation(x: Any) -> float:
    """Return the standard deviation, summed in double precision."""
    parts = (len(x) + PART - 1) // PART
    sums, squares = np.zeros(parts), np.zeros(parts)
    for part in numba.prange(parts):
        total, square = 0.0, 0.0
        piece = x[part * PART : (part + 1) * PART]
        for i in range(len(piece)):
            total += piece[i]
            square += np.float64(piece[i]) * piece[i]
        sums[part], squares[part] = total, square
    mean = sums.sum() / len(x)
    return np.sqrt(squares.sum() / len(x) - mean * mean)


@numba.njit(parallel=True, cache=True, fastmath=True)
def convolve_direct(x: Any, taps: Any) -> Any:
    """Convolve tap by tap over pieces that stay in the cache, as mode "same"."""
    out = np.zeros(len(x), x.dtype)
    n, m = len(x), len(taps)
    lead = (m - 1) // 2
    piece = 2048
    for part in numba.prange((n + piece - 1) // piece):
        first, last = part * piece, min(n, (part + 1) * piece)
        for j in range(m):
            shift, tap = lead - j, taps[j]
            begin, end = max(first, -shift), min(last, n - shift)
            target, source = out[begin:end], x[begin + shift : end + shift]
            for i in range(len(target)):
                target[i] += tap * source[i]
    return out


@numba.njit(parallel=True, cache=True, fastmath=True)
def count_ones(x: Any) -> int:
    """Count sin**2 + cos**2 == 1 in one pass."""
    count = 0
    for i in numba.prange(len(x)):
        count += np.sin(x[i]) ** 2 + np.cos(x[i]) ** 2 == 1
    return count
