# SPDX-License-Identifier: Apache-2.0
"""Long series: exact envelopes, rasters, PNG, packed pyramids, and the line."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

from headrace import _core
from headrace.array.array import Array
from headrace.array.construct import asarray
from headrace.errors import InvalidArgumentError
from headrace.lazy.handle import Deferred, mark
from headrace.plot.figure import Axes, Plot

if TYPE_CHECKING:
    from headrace import _core as core


class Envelope(NamedTuple):
    """Minimum and maximum of each pixel column."""

    low: Array
    high: Array


class Pyramid(NamedTuple):
    """The base of a min/max pyramid: code 0 is missing, code c is ``offset + step * c``."""

    num_rows: int
    bucket: int
    num_buckets: int
    offset: float
    step: float
    codes: Array


def _node(x: Any) -> core.Node:
    return x._node if isinstance(x, Deferred) else asarray(x)._node


def _color(color: str) -> tuple[int, int, int, int]:
    digits = color.removeprefix("#")
    try:
        values = bytes.fromhex(digits)
    except ValueError:
        values = b""
    if len(values) not in (3, 4):
        raise InvalidArgumentError(
            f"raster_envelope: invalid color: color={color!r}; expected '#rrggbb' or '#rrggbbaa'"
        )
    red, green, blue, alpha = (*values, 255)[:4]
    return red, green, blue, alpha


def envelope(x: Any, start: int = 0, stop: int | None = None, width: int = 1200) -> Envelope:
    """Exact minimum and maximum in each pixel column of a picture of ``x[start:stop]``.

    Pixel p covers the rows from ``start + floor(p * n / width)`` up to the first row of pixel p +
    1, with ``n = stop - start``; with fewer rows than pixels it shows the row at its left edge. NaN
    is skipped; a pixel with only NaN is NaN.

    Parameters
    ----------
    x : array_like
        1-D, integer or float, any stride.
    start, stop : int
        Rows to draw, ``0 <= start < stop <= len(x)``; `stop` None means the end.
    width : int
        Number of pixel columns.

    Returns
    -------
    Envelope
        `low` and `high`, `width` values each, in the dtype of `x`.

    Raises
    ------
    ValueError
        If start and stop enclose no rows, or width is not positive.
    TypeError
        For other dtypes or dimensions.

    Notes
    -----
    O(stop - start) time on all cores, one pass.

    >>> low, high = hr.plot.envelope([1.0, 5.0, 2.0, 0.0], width=2)
    >>> low.tolist(), high.tolist()
    ([1.0, 0.0], [5.0, 2.0])
    """
    mark("envelope")
    low, high = _core.envelope(_node(x), start, stop, width)
    return Envelope(Array(low), Array(high))


def pyramid(x: Any, max_values: int = 25_000_000) -> Pyramid:
    """Pack a series for a zoomable page: 16-bit codes with a bounded error and no peak lost.

    With at most `max_values` rows the codes are the rows themselves, rounded to the nearest (at
    most half a `step` off); beyond, each bucket of rows has a low and a high code, rounded outward.
    The step is 1/512 of the typical range within 4096 rows, so that a rare spike does not coarsen
    the rest, or larger if 65,530 steps would not span the series.

    Parameters
    ----------
    x : array_like
        1-D, integer or float. NaN becomes the missing code 0, infinities the extreme codes.
    max_values : int
        Maximum number of codes.

    Returns
    -------
    Pyramid
        `codes` is uint16, ``[num_buckets]`` for a bucket of 1, else ``[2, num_buckets]``.

    >>> p = hr.plot.pyramid([0.0, 1.0, 0.5])
    >>> abs(p.offset + p.step * int(p.codes[1]) - 1.0) <= p.step / 2
    True
    """
    mark("pyramid")
    rows, bucket, buckets, offset, step, codes = _core.pyramid(_node(x), max_values)
    return Pyramid(rows, bucket, buckets, offset, step, Array(codes))


def pack_codes(codes: Any) -> Array:
    """Delta-encode a pyramid's codes for a general compressor, in one byte where possible.

    Each code is its difference d from the one before (from 0 at the start of a row of `codes`): the
    byte ``128 + d`` for ``abs(d) <= 127``, else byte 0 and then the code in two bytes, the low one
    first.

    >>> import numpy as np
    >>> hr.plot.pack_codes(np.array([5, 7, 1000], np.uint16)).tolist()
    [133, 130, 0, 232, 3]
    """
    mark("pack_codes")
    return Array(_core.pack_codes(_node(codes)))


def raster_envelope(
    low: Any, high: Any, bottom: float, top: float, height: int, color: str = "#0a7ea4"
) -> Array:
    """Rasterize an envelope: one antialiased vertical span per column.

    Parameters
    ----------
    low, high : array_like
        The result of `envelope`; columns of NaN stay empty.
    bottom, top : float
        Values at the lower and upper edge; the rest is clipped.
    height : int
        Pixel rows.
    color : str
        "#rrggbb" or "#rrggbbaa".

    Returns
    -------
    Array
        uint8 ``[height, width, 4]``: red, green, blue and alpha, top row first, on a transparent
        background.

    >>> hr.plot.raster_envelope([0.0, 1.0], [1.0, 2.0], bottom=0.0, top=2.0, height=8).shape
    (8, 2, 4)
    """
    mark("raster_envelope")
    return Array(
        _core.raster_envelope(
            _node(low), _node(high), float(bottom), float(top), height, _color(color)
        )
    )


def raster_points(
    x: Any,
    y: Any,
    x_range: tuple[float, float],
    y_range: tuple[float, float],
    width: int,
    height: int,
) -> Array:
    """Count points in the cells of a grid: a two-dimensional histogram, top row first.

    Cells include their lower and left edge, the last ones also the upper and right edge. Points
    outside and NaN are not counted.

    Returns
    -------
    Array
        int64 ``[height, width]``.

    >>> hr.plot.raster_points([0.1, 0.2, 0.9], [0.1, 0.1, 0.9], (0, 1), (0, 1), 2, 2).tolist()
    [[0, 1], [2, 0]]
    """
    mark("raster_points")
    return Array(
        _core.raster_points(
            _node(x),
            _node(y),
            float(x_range[0]),
            float(x_range[1]),
            float(y_range[0]),
            float(y_range[1]),
            width,
            height,
        )
    )


def encode_png(image: Any) -> Array:
    """Encode uint8 pixels, ``[height, width]`` or ``[height, width, 3 or 4]``, as a PNG file.

    >>> import numpy as np
    >>> bytes(hr.plot.encode_png(np.zeros((2, 3), np.uint8)).to_numpy())[1:4]
    b'PNG'
    """
    mark("encode_png")
    return Array(_core.encode_png(_node(image)))


def line(
    x: Any,
    start: int = 0,
    stop: int | None = None,
    width: int = 1200,
    height: int = 300,
    *,
    title: str = "",
    rate: float | None = None,
    unit: str = "",
    color: str = "#0a7ea4",
) -> Plot:
    """Draw a series of any length as a line, exact in every pixel column.

    Parameters
    ----------
    x : array_like
        1-D, integer or float.
    start, stop : int
        Rows to draw; `stop` None means the end.
    width, height : int
        Size of the plot area in pixels, without axes.
    title, unit : str
        Heading, and the unit of the values.
    rate : float, optional
        Rows per second; the axis then shows seconds.
    color : str
        "#rrggbb".

    >>> hr.plot.line([0.0, 1.0, 0.0], title="a peak")
    Plot('a peak')
    """
    array: Any = x if isinstance(x, Deferred) else asarray(x)
    low, high = envelope(array, start, stop, width)
    lows = [value for value in low.tolist() if math.isfinite(value)]
    highs = [value for value in high.tolist() if math.isfinite(value)]
    bottom, top = min(lows, default=0.0), max(highs, default=1.0)
    if bottom > top:
        bottom, top = top, bottom
    air = (top - bottom or 1.0) * 0.05
    bottom, top = bottom - air, top + air
    png = bytes(encode_png(raster_envelope(low, high, bottom, top, height, color)).to_numpy())
    scale = 1 / rate if rate else 1.0
    end = len(array) if stop is None else stop
    axes = Axes(
        (start * scale, end * scale), (bottom, top), width, height, title=title,
        x_label="time [s]" if rate else "row", y_unit=unit,
    )  # fmt: skip
    axes.image(png)
    return axes.plot()
