# SPDX-License-Identifier: Apache-2.0
"""Clouds of any number of points as pictures: counted in pixels, then shaded."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from headrace import _core
from headrace.array.array import Array
from headrace.array.construct import asarray
from headrace.errors import InvalidArgumentError, TypeMismatchError
from headrace.lazy.handle import Deferred, mark
from headrace.lazy.handle import eval as evaluate
from headrace.plot.chart import Chart, Side
from headrace.plot.figure import COLORS, GREY
from headrace.plot.long_series import envelope
from headrace.plot.marks import Picture, Points
from headrace.series.column import is_series, new_series

if TYPE_CHECKING:
    from collections.abc import Sequence

    Numbers = np.ndarray[Any, Any]

#: How the points of a pixel become its cover.
SHADES = ("eq_hist", "log", "linear")
#: The least cover of a pixel with points, of 255.
_LEAST = 80


class Raster(Chart):
    """A cloud of points as a picture, made by `raster`; NumPy takes it as its counts.

    Attributes
    ----------
    counts : Array
        Points of each pixel: int64 ``[height, width]``, the top row first.
    groups : dict of str to Array
        The same for each label of ``color=``.
    pixels : Array
        The picture without axes: uint8 ``[height, width, 4]``, for `encode_png`.
    """

    counts: Array
    groups: dict[str, Array]
    pixels: Array

    def __init__(
        self,
        by_group: Numbers,
        names: Sequence[tuple[str, str]],
        shade: str,
        x: Side,
        y: Side,
        title: str,
        points: int,
    ) -> None:
        total = by_group.sum(axis=0)
        self.counts = asarray(total)
        self.groups = {
            name: asarray(each) for (name, _), each in zip(names, by_group, strict=True) if name
        }
        pixels = shaded(spread(by_group, points), [color for _, color in names], shade)
        self.pixels = asarray(pixels)
        assert x.limits is not None and y.limits is not None
        picture = Picture("", names[0][1], pixels, x.limits, y.limits)
        none = np.zeros(0)
        legend = [Points(name, color, none, none, 5.0) for name, color in names if name]
        height, width = total.shape
        super().__init__([picture, *legend], x, y, title, (width, height))

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Numbers:
        return np.asarray(self.counts.to_numpy(), dtype)


def raster(
    x: Any,
    y: Any,
    width: int = 640,
    height: int = 480,
    *,
    color: Any = None,
    shade: str = "eq_hist",
    x_range: tuple[float, float] | None = None,
    y_range: tuple[float, float] | None = None,
    title: str = "",
) -> Raster:
    """A cloud of points as a picture: counted in pixels in one pass, then shaded.

    A pixel is the more opaque the more points it has. With fewer than 100,000 points each is drawn
    as a dot larger than a pixel; counts stay exact.

    Parameters
    ----------
    x, y : array_like
        1-D, integer or float, equally long. Points with NaN or null are left out.
    width, height : int
        Pixels of the picture, 1 to 65536.
    color : array_like, optional
        A label of each point. The seven most frequent have a colour, and a pixel mixes those of its
        points; others, missing ones and -1, which is noise to clusterings, are grey.
    shade : {"eq_hist", "log", "linear"}
        How points become cover: by rank among the pixels, so that equally many have each shade; by
        the logarithm; or in proportion.
    x_range, y_range : (float, float), optional
        What is shown; by default from the smallest to the largest value. Points outside are left
        out, the upper ends belong to the last pixels, as in `numpy.histogram2d`.
    title : str
        Heading. The axes are named as the series.

    Returns
    -------
    Raster
        Displays and saves as other figures; ``numpy.asarray`` of it is its counts.

    Raises
    ------
    InvalidArgumentError
        For lengths that differ, ranges that are empty or not finite, and unknown shades.
    TypeMismatchError
        For what is not numbers in one dimension.

    Notes
    -----
    Two passes over x and y on all cores, one if the ranges are given. Memory: the counts once for
    each thread.

    >>> import numpy as np
    >>> cloud = hr.plot.raster([0.0, 0.1, 1.0], [0.0, 0.0, 1.0], 2, 2, color=["a", "b", "b"])
    >>> np.asarray(cloud).tolist(), list(cloud.groups)
    ([[0, 1], [2, 0]], ['a', 'b'])
    """
    mark("raster")
    sides = Side(_name(x), x_range), Side(_name(y), y_range)
    size = (width, height)
    return picture_of("raster", (_side(x, "x"), _side(y, "y")), sides, color, shade, size, title)


def picture_of(
    op: str,
    values: tuple[Any, Any],
    sides: tuple[Side, Side],
    color: Any,
    shade: str,
    size: tuple[int, int],
    title: str,
) -> Raster:
    """The picture of two columns of numbers without nulls."""
    if shade not in SHADES:
        raise InvalidArgumentError(
            f"{op}: unknown shade: shade={shade!r}; use 'eq_hist', 'log' or 'linear'"
        )
    x, y = values
    if len(x) != len(y):
        raise InvalidArgumentError(f"{op}: lengths differ: x={len(x)}, y={len(y)}")
    ranges = ranges_of(op, (x, sides[0].limits), (y, sides[1].limits))
    codes, names = coded(op, color, len(x))
    counts = counts_of(x, y, codes, len(names), ranges, *size)
    across, up = (side._replace(limits=ends) for side, ends in zip(sides, ranges, strict=True))
    return Raster(counts, names, shade, across, up, title, len(x))


def _name(values: Any) -> str:
    return str(values.name) if is_series(values) and values.name is not None else ""


def _side(values: Any, name: str) -> Any:
    """Numbers without nulls: those of a series become NaN."""
    found: Any = values if isinstance(values, Deferred) else asarray(values)
    if found.ndim != 1 or found.dtype.kind not in "iuf":
        raise TypeMismatchError(
            f"raster: expected 1-D integers or floats: {name} has {found.ndim} dimensions, "
            f"dtype={str(found.dtype)!r}"
        )
    if is_series(found):
        found = found if found.dtype.kind == "f" else found.astype("float64")
        found = found.fill_null(float("nan"))
    return found


def ranges_of(op: str, *sides: tuple[Any, tuple[float, float] | None]) -> list[tuple[float, float]]:
    """What each side shows: what was asked, or from the smallest to the largest value."""
    known = [
        None if limits is not None or not len(values) else envelope(values, width=1)
        for values, limits in sides
    ]
    evaluate(*(end for ends in known if ends is not None for end in ends))
    made = []
    for (_, limits), ends in zip(sides, known, strict=True):
        if limits is not None:
            low, high = float(limits[0]), float(limits[1])
            if not (low < high and np.isfinite(high - low)):
                raise InvalidArgumentError(f"{op}: the range is empty or not finite: got={limits}")
        else:
            low, high = (0.0, 1.0) if ends is None else (float(each[0]) for each in ends)
            if np.isnan(low):
                low, high = 0.0, 1.0
            if not np.isfinite([low, high]).all():
                raise InvalidArgumentError(
                    f"{op}: values must be finite: least={low}, most={high}; pass x_range and "
                    "y_range to leave others out"
                )
            if low == high:
                around = max(0.5, 1e-9 * abs(low))
                low, high = low - around, high + around
        made.append((low, high))
    return made


def counts_of(
    x: Any,
    y: Any,
    codes: Numbers,
    groups: int,
    ranges: Sequence[tuple[float, float]],
    width: int,
    height: int,
) -> Numbers:
    """Points of each group in each pixel: int64 ``[groups, height, width]``."""
    (left, right), (low, high) = ranges
    group = None if groups == 1 else asarray(codes)._node
    node = _core.raster_points(
        x._node, y._node, left, right, low, high, width, height, group, groups
    )
    return np.asarray(Array(node).to_numpy()).reshape(groups, height, width)


def coded(op: str, labels: Any, rows: int) -> tuple[Numbers, list[tuple[str, str]]]:
    """The group of each row, and name and colour of each group: the most frequent labels."""
    if labels is None:
        return np.zeros(rows, np.uint16), [("", COLORS[0])]
    column = labels if is_series(labels) else new_series(labels)
    column = column.astype("category")
    levels = column.cat.categories.to_list()
    places = np.asarray(column.cat.codes.to_numpy())
    if len(places) != rows:
        raise InvalidArgumentError(
            f"{op}: each row needs a label: rows={rows}, labels={len(places)}"
        )
    named = np.array([str(level) != "-1" for level in levels], dtype=bool)
    sizes = np.bincount(places[places >= 0], minlength=len(levels)) * named
    most = np.sort(np.argsort(-sizes, kind="stable")[: len(COLORS) - 1])
    most = most[sizes[most] > 0]
    layer = np.full(len(levels) + 1, len(most), np.uint16)
    layer[most] = np.arange(len(most))
    names = [(str(levels[place]), COLORS[at]) for at, place in enumerate(most)]
    codes = layer[places]
    rest = "noise" if named.sum() == len(most) and not named.all() else "others"
    if not names or (codes == len(most)).any():
        names.append((rest, GREY))
    return codes, names


def spread(counts: Numbers, points: int) -> Numbers:
    """Counts over the pixels of a dot, which is larger where there are few points."""
    radius = sum(points < most for most in (2000, 20_000, 100_000))
    if not radius:
        return counts
    made = np.zeros(counts.shape, np.int64)
    padded = np.pad(counts, ((0, 0), (radius, radius), (radius, radius)))
    height, width = counts.shape[1:]
    for down in range(-radius, radius + 1):
        for across in range(-radius, radius + 1):
            if down * down + across * across <= radius * radius + 1:
                y, x = radius + down, radius + across
                made += padded[:, y : y + height, x : x + width]
    return made


def shares(counts: Numbers, shade: str) -> Numbers:
    """Up to 1 for the most; `counts` are those of pixels with points."""
    if shade == "eq_hist":
        _, places, sizes = np.unique(counts, return_inverse=True, return_counts=True)
        ranks = np.cumsum(sizes) - sizes[:1]  # 0 for the fewest, however many pixels have them
        return (ranks / max(len(counts) - sizes[:1].sum(), 1) if len(sizes) > 1 else ranks + 1.0)[
            places
        ]
    values = np.log1p(counts) if shade == "log" else counts.astype(np.float64)
    return values / values.max(initial=1e-300)


def shaded(counts: Numbers, colors: Sequence[str], shade: str) -> Numbers:
    """Pixels of counts by group: red, green, blue and cover."""
    inks = np.array([list(bytes.fromhex(color[1:])) for color in colors], float)
    total = counts.sum(axis=0)
    some = total > 0
    pixels = np.zeros((*total.shape, 4), np.uint8)
    pixels[some, :3] = np.round(counts[:, some].T @ inks / total[some, None])
    pixels[some, 3] = _LEAST + np.round((255 - _LEAST) * shares(total[some], shade))
    return pixels
