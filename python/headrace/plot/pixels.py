# SPDX-License-Identifier: Apache-2.0
"""Figures as pixels: draws the SVG that figures are made of, without another library.

It knows the elements and attributes that `figure` writes, and no others.
"""

from __future__ import annotations

import base64
import math
import re
import struct
import zlib
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree

import numpy as np

from headrace import _core
from headrace.array.construct import asarray
from headrace.lazy.handle import array_of
from headrace.plot.letters import lines_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    Numbers = np.ndarray[Any, Any]
    Color = tuple[float, float, float, float]

#: Pixels of the picture for one of the figure, and samples of each side of a pixel.
SCALE = 2
_SAMPLES = 2
#: The height of capitals of a font of size 1, and the width of a letter's unit to its height.
_CAPITAL = 0.72
_NARROW = 0.85
_STEP = re.compile(r"([MLhvz])([^MLhvz]*)")
_NUMBER = re.compile(r"-?[\d.]+(?:e-?\d+)?")


def png_of(svg: str) -> bytes:
    """A figure as the bytes of a PNG file, twice as wide and high as the figure, on white."""
    root = ElementTree.fromstring(svg)
    canvas = _Canvas(float(root.get("width", 0)), float(root.get("height", 0)))
    inherited = {key: root.get(key, "") for key in ("fill", "font-size")}
    _draw_all(canvas, root, inherited)
    return _encoded(canvas.pixels)


def _draw_all(canvas: _Canvas, parent: ElementTree.Element, inherited: dict[str, str]) -> None:
    for element in parent:
        given = inherited | dict(element.attrib)
        kind = element.tag.rpartition("}")[2]
        if kind == "g":
            _draw_all(canvas, element, given)
        elif kind == "text":
            _draw_text(canvas, element.text or "", given)
        elif kind == "image":
            canvas.paste([float(given[key]) for key in ("x", "y", "width", "height")], given)
        elif kind in _OUTLINES:
            _draw_outline(canvas, list(_OUTLINES[kind](given)), given)


# ---- elements ------------------------------------------------------------------------------------
def _path(given: dict[str, str]) -> Iterator[Numbers]:
    """The lines of a path."""
    line: list[tuple[float, float]] = []
    for step, numbers in _STEP.findall(given["d"]):
        values = [float(number) for number in _NUMBER.findall(numbers)]
        if step == "M" and line:
            yield np.array(line)
            line = []
        if step in "ML":
            line += zip(values[::2], values[1::2], strict=True)
        elif step == "h":
            line.append((line[-1][0] + values[0], line[-1][1]))
        elif step == "v":
            line.append((line[-1][0], line[-1][1] + values[0]))
        elif step == "z":
            line.append(line[0])
    if line:
        yield np.array(line)


def _rectangle(given: dict[str, str]) -> Iterator[Numbers]:
    x, y, wide, high = (float(given.get(key, 0)) for key in ("x", "y", "width", "height"))
    yield np.array([(x, y), (x + wide, y), (x + wide, y + high), (x, y + high), (x, y)])


def _circle(given: dict[str, str]) -> Iterator[Numbers]:
    x, y, radius = (float(given[key]) for key in ("cx", "cy", "r"))
    angles = np.linspace(0, 2 * np.pi, 25)
    yield np.stack([x + radius * np.cos(angles), y + radius * np.sin(angles)], axis=1)


_OUTLINES = {"path": _path, "rect": _rectangle, "circle": _circle}


def _draw_outline(canvas: _Canvas, lines: list[Numbers], given: dict[str, str]) -> None:
    opacity = float(given.get("opacity", 1))
    fill = _color(given.get("fill", ""), opacity * float(given.get("fill-opacity", 1)))
    if fill is not None and (len(lines) > 1 or len(lines[0]) > 2):
        canvas.fill(lines, fill)
    stroke = _color(given.get("stroke", "none"), opacity)
    if stroke is not None:
        dashes = [float(each) for each in given.get("stroke-dasharray", "").split()]
        canvas.stroke(lines, float(given.get("stroke-width", 1)), stroke, dashes)


def _draw_text(canvas: _Canvas, words: str, given: dict[str, str]) -> None:
    own = re.search(r"fill:(#\w+)", given.get("style", ""))
    color = _color(own[1] if own else given.get("fill", ""), 1.0)
    if color is None or not words:
        return
    lines, width = lines_of(words)
    size = float(given.get("font-size", 12))
    unit = size * _CAPITAL / 6
    share = {"middle": 0.5, "end": 1.0}.get(given.get("text-anchor", "start"), 0.0)
    x, y = float(given.get("x", 0)), float(given.get("y", 0))
    placed = [
        np.array(line) * (unit * _NARROW, unit) + (x - share * width * unit * _NARROW, y - 6 * unit)
        for line in lines
    ]
    if turn := re.match(r"rotate\((-?[\d.]+) (-?[\d.]+) (-?[\d.]+)\)", given.get("transform", "")):
        degrees, *center = map(float, turn.groups())
        cos, sin = math.cos(math.radians(degrees)), math.sin(math.radians(degrees))
        turned = np.array([[cos, sin], [-sin, cos]])
        placed = [(line - center) @ turned + center for line in placed]
    around = _color(given.get("stroke", "none"), 1.0)
    if around is not None:
        canvas.stroke(placed, float(given.get("stroke-width", 1)), around, [])
    canvas.stroke(placed, size * 0.1, color, [])


def _color(word: str, opacity: float) -> Color | None:
    """Red, green, blue and cover of a colour, each up to 1; None draws nothing."""
    if word == "none" or not word.startswith("#"):
        return None
    digits = word[1:]
    if len(digits) in (3, 4):
        digits = "".join(digit * 2 for digit in digits)
    red, green, blue, cover = (*bytes.fromhex(digits), 255)[:4]
    return red / 255, green / 255, blue / 255, cover / 255 * opacity


# ---- pixels --------------------------------------------------------------------------------------
class _Canvas:
    """Pixels that outlines are laid over, one after the other."""

    def __init__(self, width: float, height: float) -> None:
        self.pixels = np.full((round(height * SCALE), round(width * SCALE), 3), 1.0, np.float32)

    def fill(self, lines: list[Numbers], color: Color) -> None:
        """Fill what the closed lines enclose an odd number of times."""
        fine = [line * (SCALE * _SAMPLES) for line in lines]
        left, top, wide, high = self._extent(fine, 1)
        if wide <= 0 or high <= 0:
            return
        begin = np.concatenate([np.roll(line, 1, axis=0) for line in fine]) - (left, top)
        end = np.concatenate(fine) - (left, top)
        flips = np.zeros((high, wide + 1), np.int32)
        for (x0, y0), (x1, y1) in zip(begin.tolist(), end.tolist(), strict=True):
            low, up = (y0, y1) if y0 < y1 else (y1, y0)
            rows = np.arange(max(math.ceil(low - 0.5), 0), min(math.ceil(up - 0.5), high))
            if not len(rows):
                continue
            at = x0 + (rows + 0.5 - y0) * ((x1 - x0) / (y1 - y0))
            columns = np.clip(np.ceil(at - 0.5), 0, wide).astype(int)
            np.add.at(flips, (rows, columns), 1)
        self._blend(np.cumsum(flips, axis=1)[:, :-1] % 2 == 1, left, top, color)

    def stroke(self, lines: list[Numbers], width: float, color: Color, dashes: list[float]) -> None:
        """Draw lines of a width, with round ends."""
        fine = [line * (SCALE * _SAMPLES) for line in lines]
        radius = max(width * SCALE * _SAMPLES / 2, 0.5)
        left, top, wide, high = self._extent(fine, math.ceil(radius) + 1)
        if wide <= 0 or high <= 0:
            return
        points = np.concatenate([_along(line, dashes, SCALE * _SAMPLES) for line in fine])
        points = points - (left, top)
        mask = np.zeros((high, wide), bool)
        reach = range(-math.ceil(radius), math.ceil(radius) + 1)
        base = np.floor(points).astype(int)
        for down in reach:
            for across in reach:
                cells = base + np.array([across, down])
                near = ((cells + 0.5 - points) ** 2).sum(axis=1) <= radius * radius
                inside = near & (cells >= 0).all(axis=1) & (cells < (wide, high)).all(axis=1)
                mask[cells[inside, 1], cells[inside, 0]] = True
        self._blend(mask, left, top, color)

    def paste(self, place_of: list[float], given: dict[str, str]) -> None:
        """Lay an image over a rectangle, of the nearest of its pixels."""
        x, y, width, height = place_of
        image = _decoded(base64.b64decode(given["href"].partition(",")[2]))
        left, top = round(x * SCALE), round(y * SCALE)
        wide, high = round(width * SCALE), round(height * SCALE)
        rows = np.arange(high) * image.shape[0] // max(high, 1)
        columns = np.arange(wide) * image.shape[1] // max(wide, 1)
        drawn = image[rows][:, columns].astype(np.float32) / 255
        place = self.pixels[top : top + high, left : left + wide]
        drawn = drawn[: place.shape[0], : place.shape[1]]
        cover = drawn[..., 3:] if drawn.shape[2] == 4 else np.float32(1)
        place += cover * (drawn[..., :3] - place)

    def _extent(self, lines: list[Numbers], room: int) -> tuple[int, int, int, int]:
        """The rectangle of samples around lines: whole pixels inside of the picture."""
        ends = np.concatenate(lines)
        high, wide = (side * _SAMPLES for side in self.pixels.shape[:2])
        left, top = (np.floor(ends.min(axis=0)).astype(int) - room).tolist()
        right, foot = (np.ceil(ends.max(axis=0)).astype(int) + room).tolist()
        left, top = max(left, 0) // _SAMPLES * _SAMPLES, max(top, 0) // _SAMPLES * _SAMPLES
        right, foot = min(right, wide), min(foot, high)
        right, foot = (-(-end // _SAMPLES) * _SAMPLES for end in (right, foot))
        return left, top, right - left, foot - top

    def _blend(self, mask: Numbers, left: int, top: int, color: Color) -> None:
        """Cover pixels by the share of their samples that a mask has."""
        high, wide = (side // _SAMPLES for side in mask.shape)
        share = mask.reshape(high, _SAMPLES, wide, _SAMPLES).mean(axis=(1, 3), dtype=np.float32)
        y, x = top // _SAMPLES, left // _SAMPLES
        place = self.pixels[y : y + high, x : x + wide]
        place += (share * np.float32(color[3]))[..., None] * (
            np.array(color[:3], np.float32) - place
        )


def _along(line: Numbers, dashes: list[float], scale: int) -> Numbers:
    """Points on a line, half a sample apart; with dashes those of the drawn parts."""
    steps = np.hypot(*np.diff(line, axis=0).T) if len(line) > 1 else np.zeros(0)
    reached = np.concatenate([[0.0], np.cumsum(steps)])
    at = np.linspace(0, reached[-1], max(int(reached[-1] * 2) + 2, 2))
    if dashes:
        at = at[at % (sum(dashes[:2]) * scale) <= dashes[0] * scale]
    x, y = (np.interp(at, reached, side) for side in line.T)
    return np.stack([x, y], axis=1)


# ---- PNG -----------------------------------------------------------------------------------------
def _decoded(png: bytes) -> Numbers:
    """The pixels of a PNG file of `encode_png`, whose lines have no filter."""
    width, height, _, kind = struct.unpack(">IIBB", png[16:26])
    channels = {0: 1, 2: 3, 6: 4}[kind]
    packed, at = b"", 8
    while at < len(png):
        (size,) = struct.unpack(">I", png[at : at + 4])
        packed += png[at + 8 : at + 8 + size] if png[at + 4 : at + 8] == b"IDAT" else b""
        at += size + 12
    lines = np.frombuffer(zlib.decompress(packed), np.uint8).reshape(height, -1)
    pixels = lines[:, 1:].reshape(height, width, channels)
    return np.repeat(pixels, 3, axis=2) if channels == 1 else pixels


def _encoded(pixels: Numbers) -> bytes:
    whole = asarray(np.round(pixels * 255).clip(0, 255).astype(np.uint8))
    return bytes(array_of(_core.encode_png(whole._node)).to_numpy())
