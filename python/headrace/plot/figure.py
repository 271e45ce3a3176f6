# SPDX-License-Identifier: Apache-2.0
"""Figures: an area with axes, drawn as SVG."""

from __future__ import annotations

import base64
import html
import math
import os
from typing import TYPE_CHECKING, Any

from headrace.errors import InvalidArgumentError
from headrace.io.atomic_write import write_file

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import numpy as np

#: Colours that readers of any colour vision tell apart (Okabe and Ito's, and two more).
COLORS = ("#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#8c7ae6", "#b8a900")
GREY = "#9aa0a6"


class Plot:
    """A figure: displays in a notebook, saves as PNG, SVG or HTML.

    Attributes
    ----------
    title : str
        Its heading.
    """

    #: The element of a page that shows it, if that is not its SVG.
    page = ""

    def __init__(self, svg: str, title: str) -> None:
        self._svg = svg
        self.title = title

    def _repr_png_(self) -> bytes:
        from headrace.plot.pixels import png_of  # on first use: few ask for it

        return png_of(self._svg)

    def _repr_html_(self) -> str:
        return self._svg

    def __repr__(self) -> str:
        return f"Plot({self.title!r})"

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the figure by file type: .png, .svg or .html.

        A .png is twice as wide and high as the figure, with letters drawn as plain lines.

        >>> hr.plot.line([0.0, 1.0, 0.0], title="a peak", unit="mV").save("peak.png")
        """
        ending = os.fspath(path).rpartition(".")[2].lower()
        if ending == "png":
            content = self._repr_png_()
        elif ending == "svg":
            content = self._svg.encode()
        elif ending == "html":
            content = (
                f"<!doctype html><meta charset='utf-8'><title>{html.escape(self.title)}</title>"
                f"<body style='margin:24px'>{self.page or self._svg}"
            ).encode()
        else:
            raise InvalidArgumentError(
                f"save: unsupported file type: ending={ending!r}; expected 'png', 'svg' or 'html'"
            )
        write_file("save", path, content)


def ticks(low: float, high: float, wanted: int) -> list[float]:
    """Round numbers from `low` to `high`, about as many as wanted."""
    rough = (high - low) / wanted
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(f * power for f in (1, 2, 2.5, 5, 10) if f * power >= rough * 0.999999)
    first = math.ceil(low / step - 1e-9)
    last = math.floor(high / step + 1e-9)
    return [k * step for k in range(first, last + 1)]


def text(x: float, y: float, words: str, anchor: str = "middle", more: str = "") -> str:
    """A line of text, escaped."""
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"{more}>{html.escape(words)}</text>'


def box(x: float, y: float, width: float, height: float, color: str, words: str = "") -> str:
    """A filled rectangle, with words that the pointer shows."""
    title = f"<title>{html.escape(words)}</title>" if words else ""
    size = f'width="{width:.1f}" height="{height:.1f}"'
    return f'<rect x="{x:.1f}" y="{y:.1f}" {size} fill="{color}">{title}</rect>'


def room(names: Sequence[str]) -> float:
    """The pixels that a legend takes on the right of an area."""
    return 40 + 7 * max(map(len, names)) if names else 14


def thinned(count: int) -> np.ndarray[Any, Any]:
    """Places of at most a thousand of many points, the first and the last among them."""
    import numpy as np

    return np.unique(np.linspace(0, count - 1, min(count, 1000)).astype(int))


class Axes:
    """An area of pixels that shows a range of x and of y, with grid lines, and what is drawn on it.

    A range may fall. `grid` says which sides have lines and numbers; `counts` allows x whole
    numbers only; `x_ticks` are values of x and their names, instead of numbers.
    """

    left: float
    right: float
    width: float
    height: float
    below: float

    def __init__(
        self,
        x: tuple[float, float],
        y: tuple[float, float],
        width: float,
        height: float,
        *,
        grid: str = "xy",
        counts: bool = False,
        x_ticks: Sequence[tuple[float, str]] | None = None,
        left: float = 64,
        right: float = 14,
        below: float = 44,
        title: str = "",
        x_label: str = "",
        y_label: str = "",
        y_unit: str = "",
    ) -> None:
        self.left, self.above = left, 34 if title or y_unit else 12
        self.width, self.height, self.right, self.below = width, height, right, below
        self.title = title
        self._x, self._y = x, y
        self.parts: list[str] = []
        for value in ticks(min(y), max(y), max(2, int(height // 50))) if "y" in grid else ():
            at = self.y(value)
            self.parts.append(f'<path d="M{left} {at:.1f}h{width}" stroke="#8884"/>')
            self.parts.append(text(left - 7, at + 4, f"{value:.6g}", "end"))
        wanted = int(min(max(x) - min(x), width // 40) if counts else max(2, width // 110))
        shown = x_ticks
        if shown is None:
            found = ticks(min(x), max(x), max(1, wanted)) if "x" in grid else []
            shown = [(v, f"{v:.12g}") for v in found if not (counts and v % 1)]
        for value, words in shown:
            at = self.x(value)
            self.parts.append(f'<path d="M{at:.1f} {self.above}v{height + 4}" stroke="#8884"/>')
            self.parts.append(text(at, self.above + height + 18, words))
        self.parts.append(text(left + width / 2, self.above + height + below - 8, x_label))
        self.parts.append(text(left, 20, title, "start"))
        self.parts.append(text(left - 7, self.above - 2, y_unit, "end"))
        if y_label:
            x_at, y_at = 16, self.above + height / 2
            turned = f' transform="rotate(-90 {x_at} {y_at:.1f})"'
            self.parts.append(text(x_at, y_at, y_label, more=turned))

    def x(self, value: float) -> float:
        """The pixel of a value of x."""
        return self.left + (value - self._x[0]) / (self._x[1] - self._x[0]) * self.width

    def y(self, value: float) -> float:
        """The pixel of a value of y."""
        return self.above + (self._y[1] - value) / (self._y[1] - self._y[0]) * self.height

    def line(self, points: Iterable[tuple[float, float]], color: str, more: str = "") -> None:
        """Straight lines from point to point."""
        path = "L".join(f"{self.x(x):.1f} {self.y(y):.1f}" for x, y in points)
        self.parts.append(
            f'<path d="M{path}" fill="none" stroke="{color}" stroke-width="2" {more}/>'
        )

    def outline(self, points: Iterable[tuple[float, float]], color: str, words: str) -> None:
        """A filled outline, with words that the pointer shows."""
        path = "L".join(f"{self.x(x):.1f} {self.y(y):.1f}" for x, y in points)
        title = f"<title>{html.escape(words)}</title>"
        self.parts.append(f'<path d="M{path}z" fill="{color}" stroke="{color}">{title}</path>')

    def bar(self, x: tuple[float, float], y: tuple[float, float], color: str, words: str) -> None:
        """A filled rectangle between two values of x and two of y."""
        left, top = self.x(x[0]), self.y(y[1])
        self.parts.append(box(left, top, self.x(x[1]) - left, self.y(y[0]) - top, color, words))

    def point(self, x: float, y: float, radius: float, color: str) -> None:
        """A dot."""
        place = f'cx="{self.x(x):.1f}" cy="{self.y(y):.1f}" r="{radius}"'
        self.parts.append(f'<circle {place} fill="{color}" fill-opacity="0.8"/>')

    def legend(self, names: Iterable[tuple[str, str]]) -> None:
        """Names with their colours, on the right of the area."""
        for place, (name, color) in enumerate(names):
            at, top = self.left + self.width + 12, self.above + 18 * place
            self.parts += [box(at, top, 11, 11, color), text(at + 17, top + 10, name, "start")]

    def image(self, png: bytes) -> None:
        """Pixels that fill the area."""
        data = base64.b64encode(png).decode()
        self.parts.append(
            f'<image x="{self.left}" y="{self.above}" width="{self.width}" height="{self.height}" '
            f'href="data:image/png;base64,{data}"/>'
        )

    def plot(self) -> Plot:
        """The figure."""
        return Plot(self.svg(), self.title)

    def svg(self) -> str:
        """The figure as the element of a page."""
        wide = self.left + self.width + self.right
        high = self.above + self.height + self.below
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{wide:.0f}" height="{high:.0f}" '
            f'viewBox="0 0 {wide} {high}" style="max-width:100%;height:auto" '
            f'font-family="system-ui,sans-serif" font-size="12" fill="#777">'
            f"{''.join(self.parts)}</svg>"
        )
