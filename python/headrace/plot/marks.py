# SPDX-License-Identifier: Apache-2.0
"""Marks of charts: each draws itself into a figure, into axes of matplotlib, and for Vega-Lite.

Values are float64 arrays; moments are seconds since 1970.
"""

from __future__ import annotations

import base64
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from headrace.array.construct import asarray
from headrace.plot.long_series import encode_png

if TYPE_CHECKING:
    from collections.abc import Callable

    from headrace.plot.figure import Axes

    Numbers = np.ndarray[Any, Any]
    Across = Callable[[Numbers], Numbers]

#: From few to many.
SHADES = ("#d6e6f2", "#7fb2d9", "#0072b2", "#08304f")


@dataclass
class Mark:
    """What all have: a name for the legend, and a colour."""

    name: str
    color: str

    def extent(self) -> tuple[list[float], list[float]]:
        """Least and largest values of x, and of y; none of no values."""
        raise NotImplementedError

    def draw(self, axes: Axes) -> None:
        """Draw into a figure."""
        raise NotImplementedError

    def draw_on(self, ax: Any, across: Across) -> None:
        """Draw into axes of matplotlib; `across` makes values of x what they take."""
        raise NotImplementedError

    def layer(self, x: dict[str, Any]) -> dict[str, Any]:
        """A layer of Vega-Lite, without the colour; `x` says how values of x are shown."""
        raise NotImplementedError


def _ends(*values: Numbers) -> list[float]:
    finite = [each[np.isfinite(each)] for each in values]
    return [float(end) for each in finite if len(each) for end in (each.min(), each.max())]


def _rows(**columns: Numbers) -> dict[str, Any]:
    """Values of Vega-Lite; what is not finite is null."""
    lists = [[v if np.isfinite(v) else None for v in each.tolist()] for each in columns.values()]
    return {"values": [dict(zip(columns, row, strict=True)) for row in zip(*lists, strict=True)]}


@dataclass
class Line(Mark):
    """Straight lines from point to point; NaN interrupts them."""

    x: Numbers
    y: Numbers

    def extent(self) -> tuple[list[float], list[float]]:
        return _ends(self.x), _ends(self.y)

    def draw(self, axes: Axes) -> None:
        known = np.isfinite(self.x) & np.isfinite(self.y)
        for run in np.split(np.arange(len(known)), np.flatnonzero(np.diff(known)) + 1):
            if len(run) > 1 and known[run[0]]:
                points = zip(self.x[run].tolist(), self.y[run].tolist(), strict=True)
                axes.line(points, self.color, 'stroke-linejoin="round"')
            elif len(run) and known[run[0]]:
                axes.point(float(self.x[run[0]]), float(self.y[run[0]]), 2, self.color)

    def draw_on(self, ax: Any, across: Across) -> None:
        ax.plot(across(self.x), self.y, color=self.color, label=self.name)

    def layer(self, x: dict[str, Any]) -> dict[str, Any]:
        encoding = {"x": {"field": "x", **x}, "y": {"field": "y", "type": "quantitative"}}
        encoding["order"] = {"field": "row", "type": "quantitative"}
        data = _rows(x=self.x, y=self.y, row=np.arange(len(self.x)))
        return {"mark": {"type": "line", "color": self.color}, "data": data, "encoding": encoding}


@dataclass
class Band(Mark):
    """The smallest and the largest value of each of many pixel columns."""

    x: Numbers
    low: Numbers
    high: Numbers

    def extent(self) -> tuple[list[float], list[float]]:
        return _ends(self.x), _ends(self.low, self.high)

    def draw(self, axes: Axes) -> None:
        known = np.isfinite(self.low) & np.isfinite(self.high)
        for run in np.split(np.arange(len(known)), np.flatnonzero(np.diff(known)) + 1):
            if len(run) and known[run[0]]:
                there = zip(self.x[run].tolist(), self.high[run].tolist(), strict=True)
                back = zip(self.x[run][::-1].tolist(), self.low[run][::-1].tolist(), strict=True)
                axes.outline([*there, *back], self.color, self.name)

    def draw_on(self, ax: Any, across: Across) -> None:
        ax.fill_between(across(self.x), self.low, self.high, color=self.color, label=self.name)

    def layer(self, x: dict[str, Any]) -> dict[str, Any]:
        encoding = {"x": {"field": "x", **x}, "y": {"field": "low", "type": "quantitative"}}
        encoding["y2"] = {"field": "high"}
        mark = {"type": "area", "color": self.color, "line": {"color": self.color}}
        data = _rows(x=self.x, low=self.low, high=self.high)
        return {"mark": mark, "data": data, "encoding": encoding}


@dataclass
class Points(Mark):
    """Dots."""

    x: Numbers
    y: Numbers
    radius: float = 2.5

    def extent(self) -> tuple[list[float], list[float]]:
        return _ends(self.x), _ends(self.y)

    def draw(self, axes: Axes) -> None:
        known = np.isfinite(self.x) & np.isfinite(self.y)
        for x, y in zip(self.x[known].tolist(), self.y[known].tolist(), strict=True):
            axes.point(x, y, self.radius, self.color)

    def draw_on(self, ax: Any, across: Across) -> None:
        size = (2 * self.radius) ** 2
        ax.scatter(across(self.x), self.y, s=size, color=self.color, label=self.name)

    def layer(self, x: dict[str, Any]) -> dict[str, Any]:
        encoding = {"x": {"field": "x", **x}, "y": {"field": "y", "type": "quantitative"}}
        mark = {"type": "circle", "color": self.color, "size": 12 * self.radius**2 / 4}
        return {"mark": mark, "data": _rows(x=self.x, y=self.y), "encoding": encoding}


@dataclass
class Bars(Mark):
    """Rectangles between two values of x and two of y, with the words that the pointer shows."""

    left: Numbers
    right: Numbers
    low: Numbers
    high: Numbers
    words: list[str]

    def extent(self) -> tuple[list[float], list[float]]:
        return _ends(self.left, self.right), _ends(self.low, self.high)

    def draw(self, axes: Axes) -> None:
        sides = (each.tolist() for each in (self.left, self.right, self.low, self.high))
        for left, right, low, high, words in zip(*sides, self.words, strict=True):
            if np.isfinite(low) and np.isfinite(high):
                axes.bar((left, right), (min(low, high), max(low, high)), self.color, words)

    def draw_on(self, ax: Any, across: Across) -> None:
        left, right = across(self.left), across(self.right)
        height, wide = self.high - self.low, right - left
        ax.bar(left, height, wide, self.low, align="edge", color=self.color, label=self.name)

    def layer(self, x: dict[str, Any]) -> dict[str, Any]:
        encoding = {"x": {"field": "left", **x}, "x2": {"field": "right"}}
        encoding |= {"y": {"field": "low", "type": "quantitative"}, "y2": {"field": "high"}}
        data = _rows(left=self.left, right=self.right, low=self.low, high=self.high)
        return {"mark": {"type": "rect", "color": self.color}, "data": data, "encoding": encoding}


@dataclass
class Hexagons(Mark):
    """Cells of a honeycomb, of one width and height, shaded by a number."""

    x: Numbers
    y: Numbers
    values: Numbers
    width: float
    height: float

    def extent(self) -> tuple[list[float], list[float]]:
        reach = (self.width / 2, self.height / 2)
        sides = ((self.x, reach[0]), (self.y, reach[1]))
        across, up = (_ends(each - by, each + by) for each, by in sides)
        return across, up

    def shades(self) -> list[str]:
        """The colour of each cell."""
        span = np.ptp(self.values) or 1.0
        share = (self.values - self.values.min()) / span * (len(SHADES) - 1)
        inks = np.array([list(bytes.fromhex(each[1:])) for each in SHADES], float)
        mixed = [np.interp(share, np.arange(len(SHADES)), ink) for ink in inks.T]
        return [f"#{r:02x}{g:02x}{b:02x}" for r, g, b in np.round(mixed).astype(int).T.tolist()]

    def corners(self) -> Numbers:
        """Of each cell, clockwise."""
        across = np.array([0, 0.5, 0.5, 0, -0.5, -0.5]) * self.width
        up = np.array([0.5, 0.25, -0.25, -0.5, -0.25, 0.25]) * self.height
        return np.stack([self.x[:, None] + across, self.y[:, None] + up], axis=2)

    def draw(self, axes: Axes) -> None:
        for points, color, value in zip(
            self.corners().tolist(), self.shades(), self.values.tolist(), strict=True
        ):
            axes.outline(points, color, f"{value:g}")

    def draw_on(self, ax: Any, across: Across) -> None:
        from matplotlib.collections import PolyCollection

        cells = PolyCollection(list(self.corners()), facecolors=self.shades(), label=self.name)
        ax.add_collection(cells)
        ax.autoscale_view()

    def layer(self, x: dict[str, Any]) -> dict[str, Any]:
        encoding: dict[str, Any] = {
            "x": {"field": "x", **x},
            "y": {"field": "y", "type": "quantitative"},
            "color": {
                "field": "value",
                "type": "quantitative",
                "title": self.name,
                "scale": {"range": list(SHADES)},
            },
        }
        shape = "M0,-1L0.87,-0.5L0.87,0.5L0,1L-0.87,0.5L-0.87,-0.5Z"
        mark = {"type": "point", "shape": shape, "filled": True, "size": 60}
        data = _rows(x=self.x, y=self.y, value=self.values)
        return {"mark": mark, "data": data, "encoding": encoding}


@dataclass
class Picture(Mark):
    """Pixels over the whole range of x and of y, the top row first."""

    pixels: Numbers
    x: tuple[float, float]
    y: tuple[float, float]

    def _png(self) -> bytes:
        return bytes(encode_png(asarray(self.pixels)).to_numpy())

    def extent(self) -> tuple[list[float], list[float]]:
        return list(self.x), list(self.y)

    def draw(self, axes: Axes) -> None:
        axes.image(self._png())

    def draw_on(self, ax: Any, across: Across) -> None:
        left, right = across(np.array(self.x))
        ax.imshow(self.pixels, extent=(left, right, *self.y), aspect="auto", label=self.name)

    def layer(self, x: dict[str, Any]) -> dict[str, Any]:
        data = _rows(left=np.array([self.x[0]]), high=np.array([self.y[1]]))
        encoding = {"x": {"field": "left", **x}, "y": {"field": "high", "type": "quantitative"}}
        address = f"data:image/png;base64,{base64.b64encode(self._png()).decode()}"
        high, wide = self.pixels.shape[:2]
        mark = {"type": "image", "url": address, "width": wide, "height": high, "aspect": False}
        mark |= {"align": "left", "baseline": "top"}
        return {"mark": mark, "data": data, "encoding": encoding}
