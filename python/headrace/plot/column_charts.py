# SPDX-License-Identifier: Apache-2.0
"""Charts of the columns of a frame. The engine counts and reduces; what is drawn is small."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, TypedDict

import numpy as np

from headrace.errors import InvalidArgumentError, TypeMismatchError
from headrace.frame.columns import new_frame
from headrace.plot.chart import Chart, Side
from headrace.plot.clouds import picture_of, shaded
from headrace.plot.figure import COLORS
from headrace.plot.long_series import envelope, raster_points
from headrace.plot.marks import Band, Bars, Hexagons, Line, Mark, Picture, Points
from headrace.signal import histogram as counts_of

if TYPE_CHECKING:
    from headrace.frame.dataframe import DataFrame
    from headrace.series.series import Series

    Numbers = np.ndarray[Any, Any]

#: More rows are drawn by the range of each pixel column, or counted in cells.
MOST_POINTS = 5_000
_MOST_BARS = 1_000
#: Outliers that are drawn for a box.
_MOST_OUTLIERS = 200
_DOTS_AN_INCH = 100
_SIZE = (640, 320)


class Look(TypedDict, total=False):
    """What all charts take, in pandas' words."""

    title: str
    xlabel: str
    ylabel: str
    unit: str  #: of the values, behind the name of the axis
    xlim: tuple[float, float]
    ylim: tuple[float, float]
    color: str | Sequence[str]
    legend: bool
    figsize: tuple[float, float]  #: inches of 100 pixels
    ax: Any  #: axes of matplotlib to draw into


# ---- what is drawn -------------------------------------------------------------------------------
def numbers(column: Series, operator: str) -> Numbers:
    """A column as float64, nulls as NaN, moments and durations in seconds."""
    if not column.dtype.is_of("iufbMm"):
        raise TypeMismatchError(
            f"{operator}: a column that is not numbers or times: column={column.name!r}, "
            f"dtype={str(column.dtype)!r}; convert it by astype, or leave it out by y="
        )
    if column.dtype.is_of("Mm"):
        values = np.asarray(column.to_numpy())
        kind = "datetime64[ns]" if column.dtype.kind == "M" else "timedelta64[ns]"
        missing = np.isnat(values)
        return np.where(missing, np.nan, values.astype(kind).astype(np.int64) / 1e9)
    return np.asarray(column.astype("float64").to_numpy(), dtype=np.float64)


def columns_of(frame: DataFrame, y: Any, operator: str, without: Sequence[Any] = ()) -> list[Any]:
    """The names of the columns to draw: given ones, or all of numbers."""
    if y is not None:
        return list(y) if isinstance(y, list) else [y]
    names = [name for name in frame._names_of("iuf") if name not in without]
    if not names:
        raise InvalidArgumentError(
            f"{operator}: no column of numbers: columns={list(map(str, frame.columns))}; name one "
            "by y="
        )
    return names


def _colors(look: Look, names: Sequence[Any]) -> list[str]:
    given = look.get("color")
    chosen = [given] if isinstance(given, str) else list(given or COLORS)
    return [chosen[place % len(chosen)] for place in range(len(names))]


def _labelled(name: Any, look: Look, word: str = "ylabel") -> str:
    given = look.get(word)
    unit = look.get("unit")
    plain = str(given if given is not None else "" if name is None else name)
    return f"{plain} [{unit}]".strip() if unit and word == "ylabel" else plain


def _chart(marks: Sequence[Mark], x: Side, y: Side, look: Look, title: str = "") -> Any:
    size = tuple(inch * _DOTS_AN_INCH for inch in look["figsize"]) if "figsize" in look else _SIZE
    x = x._replace(limits=look.get("xlim"), label=look.get("xlabel", x.label))
    y = y._replace(limits=look.get("ylim"))
    legend = look.get("legend", True)
    chart = Chart(marks, x, y, look.get("title", title), (size[0], size[1]), legend)
    return chart if look.get("ax") is None else chart.to_matplotlib(look["ax"])


def _values_name(names: Sequence[Any]) -> Any:
    return names[0] if len(names) == 1 else None


# ---- lines ---------------------------------------------------------------------------------------
def line(frame: DataFrame, x: Any, y: Any, rate: float | None, look: Look) -> Any:
    """Lines over a column, the labels or the numbers of rows."""
    names = columns_of(frame, y, "plot.line", [x])
    width = int(look["figsize"][0] * _DOTS_AN_INCH) if "figsize" in look else _SIZE[0]
    across = frame.index if x is None else frame[x]
    label = across.name if x is None else x
    is_counted = x is None and not frame._labels
    marks: list[Mark] = []
    side = Side(str(label or "row"))
    if is_counted and len(frame) > MOST_POINTS:
        scale = 1 / rate if rate else 1.0
        places = np.arange(width) * (len(frame) / width * scale)
        for name, color in zip(names, _colors(look, names), strict=True):
            column = frame[name]
            numeric = column.astype("float64") if column.dtype.kind != "f" else column
            low, high = (each.to_numpy() for each in envelope(numeric.fillna(np.nan), width=width))
            marks.append(Band(str(name), color, places, low, high))
    else:
        side, at = _positions(across, side)
        at = at / rate if rate else at
        is_many = len(frame) > MOST_POINTS
        for name, color in zip(names, _colors(look, names), strict=True):
            values = numbers(frame[name], "plot.line")
            band = _banded(at, values, width) if is_many else None
            given = (str(name), color)
            marks.append(Line(*given, at, values) if band is None else Band(*given, *band))
    if rate:
        side = side._replace(label="time [s]")
    return _chart(marks, side, Side(_labelled(_values_name(names), look)), look)


def _positions(across: Any, side: Side) -> tuple[Side, Numbers]:
    """Where rows stand: at their numbers or moments, else one after the other by name."""
    dtype = getattr(across, "dtype", None)
    if dtype is not None and hasattr(dtype, "is_of") and dtype.is_of("iufM"):
        return side._replace(is_time=dtype.kind == "M"), numbers(across, "plot.line")
    names = [str(each) for each in across.to_list()]
    return side._replace(names=names), np.arange(len(names), dtype=np.float64)


def _banded(at: Numbers, values: Numbers, width: int) -> tuple[Numbers, Numbers, Numbers] | None:
    """The range of the values in each of `width` parts of the range of `at`."""
    known = np.isfinite(at)
    if not known.any():
        return None
    low, high = float(at[known].min()), float(at[known].max())
    if low == high:
        return None
    part = np.floor((at[known] - low) / (high - low) * (width - 1))
    found = new_frame({"part": part, "value": values[known]}).groupby("part").value
    ranges = found.agg(["min", "max"])
    places = low + np.asarray(ranges.index.to_numpy()) * ((high - low) / (width - 1))
    return places, numbers(ranges["min"], "plot.line"), numbers(ranges["max"], "plot.line")


# ---- points --------------------------------------------------------------------------------------
def scatter(frame: DataFrame, x: Any, y: Any, look: Look) -> Any:
    """Points, or the number of points in each pixel where there are many."""
    color = _colors(look, [y])[0]
    across = Side(_labelled(x, look, "xlabel"), is_time=frame[x].dtype.kind == "M")
    up = Side(_labelled(y, look))
    if len(frame) <= MOST_POINTS:
        there, above = (numbers(frame[name], "plot.scatter") for name in (x, y))
        return _chart([Points("", color, there, above)], across, up, look)
    one, other = (_plain(frame[name], "plot.scatter") for name in (x, y))
    ends = (look.get("xlim") or _reach(one), look.get("ylim") or _reach(other))
    inches = look.get("figsize", (_SIZE[0] / _DOTS_AN_INCH, _SIZE[1] / _DOTS_AN_INCH))
    wide, high = (int(inch * _DOTS_AN_INCH) for inch in inches)
    counts = raster_points(one, other, *ends, wide, high).to_numpy()
    look = {**look, "xlim": ends[0], "ylim": ends[1]}
    return _chart(
        [Picture("", color, shaded(counts[None], [color], "log"), *ends)], across, up, look
    )


def _plain(column: Series, operator: str) -> Series:
    """A column of float64, moments in seconds."""
    if column.dtype.is_of("Mm"):
        return new_frame({"at": numbers(column, operator)})["at"]
    if not column.dtype.is_of("iufb"):
        numbers(column, operator)
    return column.astype("float64").fillna(np.nan)


def _reach(column: Series) -> tuple[float, float]:
    low, high = float(column.min()), float(column.max())
    return (low, high) if low < high else (low - 0.5, high + 0.5)


def raster(frame: DataFrame, x: Any, y: Any, c: Any, shade: str, look: Look) -> Any:
    """Points counted in pixels and shaded, coloured by the labels of a column."""
    one, other = (_plain(frame[name], "plot.raster") for name in (x, y))
    inches = look.get("figsize", (_SIZE[0] / _DOTS_AN_INCH, _SIZE[1] / _DOTS_AN_INCH))
    wide, high = (int(inch * _DOTS_AN_INCH) for inch in inches)
    times = [frame[name].dtype.kind == "M" for name in (x, y)]
    across = Side(_labelled(x, look, "xlabel"), look.get("xlim"), is_time=times[0])
    up = Side(_labelled(y, look), look.get("ylim"), is_time=times[1])
    labels = None if c is None else frame[c]
    made = picture_of(
        "plot.raster", (one, other), (across, up), labels, shade, (wide, high),
        look.get("title", ""),
    )  # fmt: skip
    return made if look.get("ax") is None else made.to_matplotlib(look["ax"])


def hexbin(
    frame: DataFrame,
    x: Any,
    y: Any,
    C: Any,  # noqa: N803 (pandas' name)
    reduce: str,
    gridsize: int,
    look: Look,
) -> Any:
    """Cells of a honeycomb, shaded by their points, or by an aggregate of another column."""
    across, up = (_plain(frame[name], "plot.hexbin") for name in (x, y))
    (left, right), (low, high) = _reach(across), _reach(up)
    free = 1e-9 * (right - left)  # the largest value belongs to the last cell, not to one beyond
    left, right = left - free, right + free
    columns, rows = gridsize, max(int(gridsize / 3**0.5), 1)
    wide, tall = (right - left) / columns, (high - low) / rows
    at, to = (across - left) / wide, (up - low) / tall
    # Two grids of rectangles, one shifted by half of a cell: a point belongs to the nearest center.
    ahead, above = at.round(), to.round()
    behind, below = np.floor(at) + 0.5, np.floor(to) + 0.5
    near = (at - ahead) ** 2 + 3 * (to - above) ** 2 < (at - behind) ** 2 + 3 * (to - below) ** 2
    cells = new_frame({"x": ahead.where(near, behind), "y": above.where(near, below)})
    cells["value"] = at if C is None else _plain(frame[C], "plot.hexbin")
    kept = cells[cells.x.notna() & cells.y.notna()]
    found = kept.groupby(["x", "y"]).value.agg("count" if C is None else reduce).reset_index()
    found = found[found.value.notna()]
    middle = [numbers(found[name], "plot.hexbin") for name in ("x", "y")]
    honeycomb = Hexagons(
        "points" if C is None else f"{reduce} of {C}", COLORS[0], left + middle[0] * wide,
        low + middle[1] * tall, numbers(found["value"], "plot.hexbin"), wide, 2 / 3 * tall,
    )  # fmt: skip
    return _chart([honeycomb], Side(_labelled(x, look, "xlabel")), Side(_labelled(y, look)), look)


# ---- bars ----------------------------------------------------------------------------------------
def hist(frame: DataFrame, y: Any, bins: int | Sequence[float], limits: Any, look: Look) -> Any:
    """Counts of the values of columns in bins, which all columns share."""
    names = columns_of(frame, y, "plot.hist")
    columns = [_plain(frame[name], "plot.hist").dropna() for name in names]
    if limits is None and isinstance(bins, int):
        ends = [_reach(column) for column in columns if len(column)] or [(0.0, 1.0)]
        limits = (min(low for low, _ in ends), max(high for _, high in ends))
    marks: list[Mark] = []
    for name, column, color in zip(names, columns, _colors(look, names), strict=True):
        found = counts_of(column, bins, limits if isinstance(bins, int) else None)
        counts, edges = (np.asarray(each.to_numpy(), float) for each in found)
        cover = "" if len(names) == 1 else "99"
        left, right = edges[:-1], edges[1:]
        bins_of = zip(left, right, counts, strict=True)
        words = [f"{a:.6g} to {b:.6g}: {n:,.0f}" for a, b, n in bins_of]
        marks.append(Bars(str(name), color + cover, left, right, 0 * counts, counts, words))
    kinds = {frame[name].dtype.kind for name in names}
    label = look.get("xlabel") or _labelled(_values_name(names), {**look, "ylabel": None})  # type: ignore[typeddict-item]
    side = Side(label, is_time=kinds == {"M"})
    up = Side(str(look.get("ylabel", "rows")), begins_at_zero=True)
    return _chart(marks, side, up, {**look, "xlabel": label})


def bar(frame: DataFrame, x: Any, y: Any, stacked: bool, look: Look) -> Any:
    """A bar of each row and column."""
    names = columns_of(frame, y, "plot.bar", [x])
    if len(frame) > _MOST_BARS:
        raise InvalidArgumentError(
            f"plot.bar: too many bars: rows={len(frame)}; aggregate them first, or take head("
            f"{_MOST_BARS})"
        )
    across = frame.index if x is None else frame[x]
    labels = [str(each) for each in across.to_list()]
    at = np.arange(len(labels), dtype=np.float64)
    wide = 0.8 if stacked else 0.8 / len(names)
    tops = [np.zeros(len(labels)), np.zeros(len(labels))]  # of what is below zero, and above
    marks: list[Mark] = []
    for place, (name, color) in enumerate(zip(names, _colors(look, names), strict=True)):
        values = numbers(frame[name], "plot.bar")
        left = at - 0.4 + (0 if stacked else place * wide)
        base = np.zeros(len(labels))
        if stacked:
            base = np.where(values < 0, tops[0], tops[1])
            tops[0] = tops[0] + np.where(values < 0, values, 0)
            tops[1] = tops[1] + np.where(values > 0, values, 0)
        words = [f"{label}: {value:.6g}" for label, value in zip(labels, values, strict=True)]
        marks.append(Bars(str(name), color, left, left + wide, base, base + values, words))
    side = Side(str(across.name if x is None else x) if (x or across.name) else "", names=labels)
    up = Side(_labelled(_values_name(names), look), begins_at_zero=True)
    return _chart(marks, side, up, look)


def box(frame: DataFrame, y: Any, look: Look) -> Any:
    """The quartiles of columns, whiskers to 1.5 times their distance, and what lies beyond."""
    names = columns_of(frame, y, "plot.box")
    marks: list[Mark] = []
    for place, (name, color) in enumerate(zip(names, _colors(look, names), strict=True)):
        marks += _box(float(place), _plain(frame[name], "plot.box").dropna(), color, str(name))
    side = Side(_labelled("", look, "xlabel"), names=[str(name) for name in names])
    up = Side(_labelled(_values_name(names), look))
    return _chart(marks, side, up, {**look, "legend": False})


def _box(at: float, column: Series, color: str, name: str) -> list[Mark]:
    if not len(column):
        return [Points(name, color, np.zeros(0), np.zeros(0))]
    low, middle, high = column.quantile([0.25, 0.5, 0.75]).tolist()
    reach = 1.5 * (high - low)
    inside = column[(column >= low - reach) & (column <= high + reach)]
    foot, top = float(inside.min()), float(inside.max())
    beyond = column[(column < foot) | (column > top)]
    outliers = np.asarray(beyond.sort_values().to_numpy(), float)
    if len(outliers) > _MOST_OUTLIERS:
        half = _MOST_OUTLIERS // 2
        outliers = np.concatenate([outliers[:half], outliers[-half:]])
    words = f"{name}: quartiles {low:.6g}, {middle:.6g}, {high:.6g}; {len(beyond):,} outliers"
    left, right = np.array([at - 0.25]), np.array([at + 0.25])
    whiskers = [
        Line(name, color, np.array([at, at]), np.array(ends)) for ends in ((foot, low), (high, top))
    ]
    caps = [
        Line(name, color, np.array([at - 0.12, at + 0.12]), np.array([end, end]))
        for end in (foot, top)
    ]
    median = Line(name, "#222222", np.array([at - 0.25, at + 0.25]), np.array([middle] * 2))
    dots = Points(name, color, np.full(len(outliers), at), outliers)
    return [
        Bars(name, f"{color}66", left, right, np.array([low]), np.array([high]), [words]),
        *whiskers,
        *caps,
        median,
        dots,
    ]
