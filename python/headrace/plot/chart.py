# SPDX-License-Identifier: Apache-2.0
"""Charts: marks over one pair of axes, as a figure, in matplotlib and for Altair."""

from __future__ import annotations

import datetime
import math
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from headrace.errors import UnsupportedError
from headrace.plot.figure import Axes, Plot, room

if TYPE_CHECKING:
    from collections.abc import Sequence

    from headrace.plot.marks import Mark

_EPOCH = datetime.datetime(1970, 1, 1)
_MINUTE, _HOUR, _DAY = 60, 3600, 86400
_MONTH, _YEAR = 30.44 * _DAY, 365.25 * _DAY
#: Round steps between moments, in seconds, and how a moment is written at each.
_STEPS = [
    *((step, "%H:%M:%S") for step in (1, 2, 5, 10, 15, 30)),
    *((step * _MINUTE, "%H:%M") for step in (1, 2, 5, 10, 15, 30)),
    *((step * _HOUR, "%d %b %H:%M") for step in (1, 2, 3, 6, 12)),
    *((step * _DAY, "%d %b %Y") for step in (1, 2, 7, 14)),
]
#: Steps of whole months.
_MONTHS = (1, 2, 3, 6, *(12 * years for years in (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000)))
#: Letters of names under an axis before they are cut, and the pixels of one.
_LONGEST, _LETTER = 18, 7
#: Free room around the values, as a share of their range.
_AIR = 0.05


class Side(NamedTuple):
    """An axis: what it shows, and how."""

    label: str = ""
    limits: tuple[float, float] | None = None
    is_time: bool = False  #: values are seconds since 1970
    names: Sequence[str] | None = None  #: of the values 0, 1, 2, ...
    begins_at_zero: bool = False  #: if no value is below


class Chart(Plot):
    """A figure of marks, which matplotlib and Altair can draw, too.

    Attributes
    ----------
    title : str
        Its heading.
    marks : list
        What it shows: arrays of values that are drawn, not the data that they came from.
    """

    def __init__(
        self,
        marks: Sequence[Mark],
        x: Side,
        y: Side,
        title: str = "",
        size: tuple[float, float] = (640, 320),
        legend: bool = True,
    ) -> None:
        self.marks: list[Mark] = list(marks)
        self._x, self._y, self._size = x, y, size
        self._legend = legend
        super().__init__(self._drawn(title).svg(), title)

    def to_matplotlib(self, ax: Any = None) -> Any:
        """Draw into axes of matplotlib, the current ones by default; returns them.

        >>> frame = hr.DataFrame({"x": [1, 2], "y": [3, 5]})
        >>> axes = frame.plot.line(x="x").to_matplotlib()
        >>> axes.lines[0].get_ydata().tolist()
        [3.0, 5.0]
        """
        if ax is None:
            ax = _imported("matplotlib.pyplot", "to_matplotlib").gca()
        for mark in self.marks:
            mark.draw_on(ax, self._moments)
        if self._x.names is not None:
            ax.set_xticks(range(len(self._x.names)), self._x.names)
        for limits, set_limits in ((self._x.limits, ax.set_xlim), (self._y.limits, ax.set_ylim)):
            if limits is not None:
                set_limits(limits)
        ax.set(title=self.title, xlabel=self._x.label, ylabel=self._y.label)
        if self._legend_rows():
            ax.legend()
        return ax

    def to_dict(self) -> dict[str, Any]:
        """The chart in Vega-Lite, with its values, as Altair, VS Code and JupyterLab show it.

        >>> spec = hr.Series([3, 5], name="y").plot().to_dict()
        >>> spec["layer"][0]["mark"]["type"]
        'line'
        """
        (left, right), (low, high) = self._ranges()
        domain: list[Any] = [left * 1000, right * 1000] if self._x.is_time else [left, right]
        x: dict[str, Any] = {"type": "temporal" if self._x.is_time else "quantitative"}
        x |= {"title": self._x.label or None, "scale": {"domain": domain, "nice": False}}
        if self._x.is_time:
            x["scale"]["type"] = "utc"
        if self._x.names is not None:
            places = list(range(len(self._x.names)))
            x["axis"] = {"values": places, "labelExpr": f"{list(self._x.names)!r}[datum.value]"}
        layers = []
        for mark in self.marks:
            layer = mark.layer(x)
            y = {"title": self._y.label or None, "scale": {"domain": [low, high], "nice": False}}
            layer["encoding"]["y"] |= y
            if self._x.is_time:
                _in_milliseconds(layer)
            layers.append(layer)
        width, height = self._size
        return {"title": self.title, "width": width, "height": height, "layer": layers}

    def to_altair(self) -> Any:
        """The chart as one of Altair, which others can be laid over or set next to.

        >>> frame = hr.DataFrame({"x": [1, 2], "y": [3, 5]})
        >>> type(frame.plot.line(x="x").to_altair()).__name__
        'LayerChart'
        """
        return _imported("altair", "to_altair").Chart.from_dict(self.to_dict())

    # ---- drawing ---------------------------------------------------------------------------------
    def _moments(self, x: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        """Values of x as matplotlib takes them."""
        if not self._x.is_time:
            return x
        return np.round(x * 1e6).astype("int64").astype("datetime64[us]")

    def _ranges(self) -> tuple[tuple[float, float], tuple[float, float]]:
        extents = [mark.extent() for mark in self.marks]
        sides = zip((self._x, self._y), zip(*extents, strict=True), (0.0, _AIR), strict=True)
        x, y = (_range(side, [v for each in of for v in each], air) for side, of, air in sides)
        return x, y

    def _legend_rows(self) -> list[tuple[str, str]]:
        rows = {mark.name: mark.color for mark in self.marks if mark.name}
        return list(rows.items()) if self._legend and len(rows) > 1 else []

    def _drawn(self, title: str) -> Axes:
        (left, right), (low, high) = self._ranges()
        rows, (width, height) = self._legend_rows(), self._size
        given = None
        if self._x.names is not None:
            given = _named_ticks(self._x.names, width)
        elif self._x.is_time:
            given = time_ticks(left, right, max(2, int(width // 130)))
        axes = Axes(
            (left, right), (low, high), width, height, title=title, x_ticks=given,
            x_label=self._x.label, y_label=self._y.label, right=room([name for name, _ in rows]),
            left=64 + (20 if self._y.label else 0),
        )  # fmt: skip
        for mark in self.marks:
            mark.draw(axes)
        axes.legend(rows)
        return axes


def _imported(module: str, operator: str) -> Any:
    from importlib import import_module

    try:
        return import_module(module)
    except ImportError:
        name = module.partition(".")[0]
        raise UnsupportedError(f"{operator}: not installed: package={name!r}") from None


def _range(side: Side, values: list[float], air: float) -> tuple[float, float]:
    """What an axis shows of values from the smallest to the largest."""
    if side.limits is not None:
        return side.limits
    if side.names is not None:
        return -0.5, max(len(side.names), 1) - 0.5
    low, high = min(values, default=0.0), max(values, default=1.0)
    if low == high:
        around = max(0.5, 1e-6 * abs(low))
        low, high = low - around, high + around
    free = (high - low) * air
    if side.begins_at_zero and low >= 0:
        return 0.0, high + free
    return low - free, high + free


def _named_ticks(names: Sequence[str], width: float) -> list[tuple[float, str]]:
    """Some of the names, as many as have room."""
    longest = min(max(map(len, names), default=1), _LONGEST)
    every = max(math.ceil(len(names) * (longest + 1) * _LETTER / width), 1)
    return [(float(at), _cut(names[at])) for at in range(0, len(names), every)]


def _cut(name: str) -> str:
    return name if len(name) <= _LONGEST else f"{name[: _LONGEST - 1]}…"


def time_ticks(low: float, high: float, wanted: int) -> list[tuple[float, str]]:
    """Round moments from `low` to `high` in seconds since 1970, about as many as wanted."""
    rough = (high - low) / wanted
    if rough < 1:
        found = _multiples(low, high, _round(rough))
        return [(at, f"{at - math.floor(low):.6g} s") for at in found]
    for step, form in _STEPS:
        if step >= rough:
            return [(at, f"{_moment(at):{form}}") for at in _multiples(low, high, step)]
    months = next((each for each in _MONTHS if each * _MONTH >= rough), _MONTHS[-1])
    first, made = _moment(low), []
    at = (first.year * 12 + first.month - 1) // months * months
    while at // 12 <= datetime.MAXYEAR:
        moment = datetime.datetime(at // 12, at % 12 + 1, 1) if at >= 12 else first
        seconds = (moment - _EPOCH).total_seconds()
        if seconds > high:
            break
        if seconds >= low:
            made.append((seconds, f"{moment:%Y}" if months >= 12 else f"{moment:%b %Y}"))
        at += months
    return made


def _multiples(low: float, high: float, step: float) -> list[float]:
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return [k * step for k in range(first, last + 1)]


def _round(step: float) -> float:
    power = 10.0 ** math.floor(math.log10(step))
    return next(f * power for f in (1, 2, 5, 10) if f * power >= step * 0.999999)


def _moment(seconds: float) -> datetime.datetime:
    try:
        return _EPOCH + datetime.timedelta(seconds=seconds)
    except OverflowError:
        return datetime.datetime.min if seconds < 0 else datetime.datetime.max


def _in_milliseconds(layer: dict[str, Any]) -> None:
    """Moments of a layer as Vega-Lite counts them."""
    fields = {layer["encoding"][side]["field"] for side in ("x", "x2") if side in layer["encoding"]}
    for row in layer["data"]["values"]:
        for field in fields:
            row[field] = None if row[field] is None else row[field] * 1000
