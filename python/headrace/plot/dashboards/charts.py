# SPDX-License-Identifier: Apache-2.0
"""What a dashboard shows: charts described by columns, before there is a frame."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from headrace.errors import InvalidArgumentError

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping, Sequence

#: What a cell of a chart may show. Others, such as a median, do not follow from those of parts.
_AGGREGATES = ("count", "sum", "mean")


@dataclass(frozen=True)
class LinkedChart:
    """A chart of a dashboard: its kind, the columns along its axes, and what its cells show.

    Made by `histogram`, `bar`, `heatmap`, `points`, `trend`, `series`, `number`, `table` and
    `choropleth`.
    """

    kind: str
    name: str
    axes: tuple[str, ...] = ()
    value: str | None = None
    agg: str = "count"
    options: Mapping[str, Any] = field(default_factory=dict)


def _chart(
    kind: str,
    name: str | None,
    axes: Sequence[str],
    value: str | None = None,
    agg: str = "count",
    **options: Any,
) -> LinkedChart:
    if agg not in _AGGREGATES:
        raise InvalidArgumentError(
            f"{kind}: unsupported aggregate: agg={agg!r}; use 'count', 'sum' or 'mean'"
        )
    if (value is None) != (agg == "count"):
        raise InvalidArgumentError(
            f"{kind}: the aggregate does not match: agg={agg!r}, value={value!r}; 'sum' and 'mean' "
            "take a value, 'count' takes none"
        )
    for word in (*axes, *([] if value is None else [value])):
        if not isinstance(word, str):
            raise InvalidArgumentError(f"{kind}: expected the name of a column: got={word!r}")
    shown = name or ", ".join(axes) or f"{agg} of {value or 'rows'}"
    return LinkedChart(kind, shown, tuple(axes), value, agg, options)


def _counted(kind: str, name: str, number: Any, most: int) -> None:
    if isinstance(number, bool) or not isinstance(number, int) or not 1 <= number <= most:
        raise InvalidArgumentError(f"{kind}: {name} must be 1 to {most}: {name}={number!r}")


def histogram(
    x: str,
    bins: int | None = None,
    range: tuple[Any, Any] | None = None,
    *,
    name: str | None = None,
) -> LinkedChart:
    """Rows by the value of a column of numbers, dates or times, for `dashboard`.

    Parameters
    ----------
    x : str
        The column.
    bins : int, optional
        How many. By default up to 50 of a round width; whole numbers that span less than 64 have
        one each.
    range : tuple, optional
        Lowest and highest value shown; by default all. As in NumPy, the last bin has its upper
        edge.
    name : str, optional
        What the chart is called; by default as its column.

    >>> hr.plot.histogram("delay", bins=40, range=(-20, 120)).kind
    'histogram'
    """
    if bins is not None:
        _counted("histogram", "bins", bins, 4096)
    if range is not None and len(range) != 2:
        raise InvalidArgumentError(f"histogram: expected two values: range={range!r}")
    return _chart("histogram", name, [x], bins=bins, range=range)


def bar(
    key: str,
    value: str | None = None,
    agg: str = "count",
    top: int = 30,
    *,
    name: str | None = None,
) -> LinkedChart:
    """A bar for each key, for `dashboard`: rows, or the sum or mean of a value.

    Parameters
    ----------
    key : str
        A column of strings, categories, bools, dates or whole numbers.
    value : str, optional
        The column to aggregate.
    agg : {"count", "sum", "mean"}
        What a bar shows.
    top : int
        At most as many keys, those with most rows. Keys that are numbers, dates or ordered
        categories keep their order, others begin with the most frequent.
    name : str, optional
        What the chart is called; by default as its key.

    >>> hr.plot.bar("carrier", value="delay", agg="mean").agg
    'mean'
    """
    _counted("bar", "top", top, 1000)
    return _chart("bar", name, [key], value, agg, top=top)


def heatmap(
    x: str,
    y: str,
    agg: str = "count",
    value: str | None = None,
    bins: tuple[int, int] | None = None,
    *,
    name: str | None = None,
) -> LinkedChart:
    """Cells of two columns, for `dashboard`: rows, or the sum or mean of a value.

    Parameters
    ----------
    x, y : str
        Columns as in `histogram` or `bar`.
    agg, value
        As in `bar`.
    bins : tuple of int, optional
        How many across and up; by default as in `histogram`.
    name : str, optional
        What the chart is called; by default as its columns.

    >>> hr.plot.heatmap("hour", "weekday").name
    'hour, weekday'
    """
    if bins is not None:
        for each in bins:
            _counted("heatmap", "bins", each, 512)
    return _chart("heatmap", name, [x, y], value, agg, bins=bins)


def points(x: str, y: str, color: str | None = None, *, name: str | None = None) -> LinkedChart:
    """A cloud of points, for `dashboard`: millions of them, counted in the cells of a raster.

    Parameters
    ----------
    x, y : str
        Columns of numbers or times.
    color : str, optional
        A column of keys; the seven most frequent have a colour, and a cell mixes those of its
        points.
    name : str, optional
        What the chart is called; by default as its columns.

    >>> hr.plot.points("distance", "air_time", color="carrier").axes
    ('distance', 'air_time')
    """
    return _chart("points", name, [x, y], color=color)


def trend(
    t: str,
    v: str | None = None,
    agg: str | None = None,
    *,
    name: str | None = None,
) -> LinkedChart:
    """A line over a column of times or numbers, for `dashboard`.

    Parameters
    ----------
    t : str
        The column across.
    v : str, optional
        The column whose `agg` is drawn; without it the number of rows.
    agg : {"mean", "sum", "count"}, optional
        "mean" by default, "count" without a value.
    name : str, optional
        What the chart is called; by default as its columns.

    >>> hr.plot.trend("day", "delay").agg
    'mean'
    """
    agg = agg or ("count" if v is None else "mean")
    return _chart("trend", name or (t if v is None else f"{t}, {v}"), [t], v, agg)


def series(v: str, rate: float | None = None, *, name: str | None = None) -> LinkedChart:
    """A column in the order of its rows, for `dashboard`: its envelope, chosen rows emphasized.

    Parameters
    ----------
    v : str
        A column of numbers.
    rate : float, optional
        Rows per second; the axis then shows seconds.
    name : str, optional
        What the chart is called; by default as its column.

    >>> hr.plot.series("ecg", rate=250).options["rate"]
    250.0
    """
    if rate is not None and not rate > 0:
        raise InvalidArgumentError(f"series: a rate is positive: rate={rate}")
    made = _chart("series", name or v, [], rate=None if rate is None else float(rate))
    return LinkedChart(made.kind, made.name, (), v, "count", made.options)


def number(v: str | None = None, agg: str | None = None, *, name: str | None = None) -> LinkedChart:
    """One number, for `dashboard`: rows, or the mean or sum of a column.

    >>> hr.plot.number("delay", "mean").name
    'mean of delay'
    """
    return _chart("number", name, [], v, agg or ("count" if v is None else "mean"))


def table(
    columns: Sequence[str] | None = None, rows: int = 50, *, name: str | None = None
) -> LinkedChart:
    """The first chosen rows, for `dashboard`; by default of all columns.

    >>> hr.plot.table(["carrier", "delay"], rows=20).kind
    'table'
    """
    _counted("table", "rows", rows, 1000)
    wanted = None if columns is None else [str(each) for each in columns]
    return _chart("table", name or "rows", [], columns=wanted, rows=rows)


def choropleth(
    region: str,
    geo: Mapping[str, Any] | str | os.PathLike[str],
    value: str | None = None,
    agg: str | None = None,
    *,
    key: str = "name",
    name: str | None = None,
) -> LinkedChart:
    """A map whose regions are shaded, for `dashboard`: rows, or the mean or sum of a value.

    Parameters
    ----------
    region : str
        A column with the region of each row.
    geo : dict or path
        GeoJSON: a FeatureCollection of polygons in degrees.
    value, agg
        As in `bar`; the mean of a value by default.
    key : str
        The property of a feature that `region` has.
    name : str, optional
        What the chart is called; by default as its region.

    >>> square = {"type": "Polygon", "coordinates": [[[0, 0], [1, 0], [1, 1], [0, 0]]]}
    >>> feature = {"type": "Feature", "properties": {"name": "A"}, "geometry": square}
    >>> hr.plot.choropleth("state", {"features": [feature]}).kind
    'choropleth'
    """
    whole = geo if hasattr(geo, "get") else json.loads(Path(geo).read_text("utf-8"))
    shapes: dict[str, list[Any]] = {}
    for feature in whole.get("features") or ():
        shape = feature.get("geometry") or {}
        kind, found = shape.get("type"), shape.get("coordinates") or ()
        if kind in ("Polygon", "MultiPolygon"):
            if kind == "MultiPolygon":
                found = [ring for polygon in found for ring in polygon]
            named = str((feature.get("properties") or {}).get(key, feature.get("id", "")))
            flat = [[(float(x), float(y)) for x, y, *_ in ring] for ring in found]
            shapes.setdefault(named, []).extend(flat)
    if not shapes:
        raise InvalidArgumentError(
            "choropleth: no polygons found; pass a GeoJSON FeatureCollection of Polygon or "
            "MultiPolygon features"
        )
    agg = agg or ("count" if value is None else "mean")
    return _chart("choropleth", name, [region], value, agg, shapes=shapes)
