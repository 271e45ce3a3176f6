# SPDX-License-Identifier: Apache-2.0
"""Charts over a frame: their axes, and the counts, sums and values of their cells."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from headrace import _core
from headrace.array.construct import asarray
from headrace.errors import InvalidArgumentError, TypeMismatchError
from headrace.lazy.handle import array_of
from headrace.plot.dashboards.axes import KeyAxis, NumberAxis, Range, RowAxis, Wish, axes_of
from headrace.plot.long_series import envelope

if TYPE_CHECKING:
    from collections.abc import Sequence

    from headrace.array.array import Array
    from headrace.frame.dataframe import DataFrame
    from headrace.plot.dashboards.axes import Axis
    from headrace.plot.dashboards.board import Board
    from headrace.plot.dashboards.charts import LinkedChart
    from headrace.series.series import Series

#: What a brush selects: a range for each axis, or the cells of keys.
Selection = list[Any]

#: Cells of a cloud of points: few enough that a brush elsewhere moves through all of them.
_POINTS = (96, 72)
_HEATMAP = (40, 30)
_SERIES_STEPS = 512
#: Layers of a cloud that have a colour of their own.
_COLORED = 7


class View:
    """A chart of a `Board`: what its cells hold under the selections of the others.

    `counts`, `sums` and `values` have one dimension per axis, of two axes y first; along an axis
    cells ascend from its lowest edge.
    """

    chart: LinkedChart

    def __init__(self, board: Board, index: int, chart: LinkedChart, axes: list[Axis]) -> None:
        self._board, self._index, self.chart, self._axes = board, index, chart, axes

    def __repr__(self) -> str:
        return f"View({self.name!r}, {self.chart.kind})"

    @property
    def name(self) -> str:
        """What the chart is called."""
        return self.chart.name

    @property
    def counts(self) -> Array:
        """Rows of each cell; with a value those where it is not missing."""
        return asarray(self._board._cells()[self._index][0].astype(np.int64))

    @property
    def sums(self) -> Array:
        """The sum of the value over each cell."""
        sums = self._board._cells()[self._index][1]
        if sums is None:
            raise InvalidArgumentError(
                f"sums: the chart counts rows: chart={self.name!r}; it has `counts`"
            )
        return asarray(sums)

    @property
    def values(self) -> Array:
        """What is drawn: counts, sums or means; the mean of no rows is NaN."""
        counts, sums = self._board._cells()[self._index]
        if sums is None:
            return self.counts
        if self.chart.agg == "sum":
            return asarray(sums)
        with np.errstate(invalid="ignore", divide="ignore"):
            return asarray(sums / counts)

    @property
    def edges(self) -> Any:
        """The edges of the bins, one more than there are; of two axes a pair, x first."""
        found = tuple(asarray(axis.edges()) for axis in self._brushed())
        if not found:
            raise InvalidArgumentError(f"edges: the chart has no axis: chart={self.name!r}")
        return found[0] if len(found) == 1 else found

    @property
    def labels(self) -> list[Any]:
        """The keys of the cells, in their order."""
        for axis in self._brushed():
            if isinstance(axis, KeyAxis):
                return list(axis.labels)
        raise InvalidArgumentError(f"labels: the chart has no keys: chart={self.name!r}")

    # ---- for the board ---------------------------------------------------------------------------
    def _brushed(self) -> list[Axis]:
        """The axes that a brush moves along, x first."""
        return self._axes[:1] if len(self._axes) < 2 else [self._axes[1], self._axes[0]]

    def _value(self) -> Series | None:
        name = self.chart.value
        if name is None or self.chart.kind == "series":
            return None
        column = self._board._source[name]
        dtype = str(column.dtype)
        if dtype.startswith("timedelta64"):
            return column.dt.total_seconds()
        if dtype == "bool" or dtype.startswith("decimal"):
            return column.astype("int8" if dtype == "bool" else "float64")
        if column.dtype.kind not in "iuf":
            raise TypeMismatchError(
                f"{self.chart.kind}: expected numbers: column={name!r}, dtype={dtype!r}"
            )
        return column

    def _request(self, masks: Sequence[_core.Node], active: Sequence[Any] = ()) -> Any:
        """What the engine counts: cells, after the steps of the chart that is brushed."""
        own = [axis.cells(axis.per_bin) for axis in self._axes]
        value = self._value()
        return ([*active, *own], list(masks), None if value is None else value._node)

    def _num_cells(self) -> int:
        return int(np.prod([axis.bins for axis in self._axes], dtype=np.int64))

    def _chosen(self, op: str, low: Any, high: Any) -> Selection:
        """What arguments of `select` select."""
        axes = self._brushed()
        if not axes:
            raise InvalidArgumentError(
                f"{op}: the chart has no axis to select on: chart={self.name!r}"
            )
        if len(axes) == 1:
            if isinstance(axes[0], KeyAxis):
                if high is not None:
                    raise InvalidArgumentError(
                        f"{op}: expected a list of keys: chart={self.name!r}, got={low!r} and "
                        f"{high!r}"
                    )
                return axes[0].among(op, low)
            assert isinstance(axes[0], NumberAxis)
            return [axes[0].between(op, low, high)]
        pairs = [low, high]
        if any(not isinstance(each, tuple | list) or len(each) != 2 for each in pairs):
            raise InvalidArgumentError(
                f"{op}: expected a pair for x and a pair for y: chart={self.name!r}, x={low!r}, "
                f"y={high!r}"
            )
        made = []
        for axis, pair in zip(axes, pairs, strict=True):
            if isinstance(axis, KeyAxis):  # neighbouring keys, the second one included
                first, last = (axis.among(op, [key])[0] for key in pair)
                made.append(Range(min(first, last), max(first, last) + 1, False))
            else:
                assert isinstance(axis, NumberAxis)
                made.append(axis.between(op, *pair))
        return made

    def _of_steps(self, op: str, given: Any) -> Selection:
        """What the page selects: pairs of steps, or cells of keys."""
        axes = self._brushed()
        if len(axes) == 1 and isinstance(axes[0], KeyAxis):
            if any(type(each) is not int or not 0 <= each < len(axes[0].labels) for each in given):
                raise InvalidArgumentError(f"{op}: unknown cells: chart={self.name!r}")
            return sorted(set(given))
        if not axes or len(given) != len(axes):
            raise InvalidArgumentError(f"{op}: expected {len(axes)} ranges: chart={self.name!r}")
        made = []
        for axis, (first, last) in zip(axes, given, strict=True):
            most = axis.bins if isinstance(axis, KeyAxis) else axis.fine
            if type(first) is not int or type(last) is not int or not 0 <= first < last <= most:
                raise InvalidArgumentError(
                    f"{op}: steps beyond the axis: steps={first!r} to {last!r}, axis={axis.label!r}"
                )
            if isinstance(axis, KeyAxis):
                made.append(Range(first, last, False))
            else:
                assert isinstance(axis, NumberAxis)
                made.append(axis.steps(first, last))
        return made

    def _mask(self, selection: Selection) -> Series:
        """The rows that a selection leaves."""
        axes = self._brushed()
        if len(axes) == 1 and isinstance(axes[0], KeyAxis):
            return axes[0].mask(selection)
        masks = [axis.mask(chosen) for axis, chosen in zip(axes, selection, strict=True)]
        return masks[0] if len(masks) == 1 else masks[0] & masks[1]

    def _shown(self, selection: Selection) -> list[Any]:
        """A selection as the page draws it: pairs of steps, or cells of keys."""
        axes = self._brushed()
        if len(axes) == 1 and isinstance(axes[0], KeyAxis):
            return list(selection)
        return [axis.shown(chosen) for axis, chosen in zip(axes, selection, strict=True)]

    def _cube_axes(self, per: int) -> list[Any]:
        """The axes of a cube whose cells have `per` steps along each axis, x first."""
        return [axis.cells(per) for axis in self._brushed()]

    def _spec(self) -> dict[str, Any]:
        """What the page is told."""
        chart = self.chart
        spec: dict[str, Any] = {
            "kind": chart.kind,
            "name": chart.name,
            "agg": chart.agg,
            "value": chart.value if chart.kind != "series" else None,
            "axes": [axis.spec() for axis in self._axes],
        }
        if chart.kind == "series":
            low, high = self._envelope()
            spec |= {"low": low, "high": high, "label": chart.value}
        if chart.kind == "choropleth":
            spec["shapes"] = chart.options["shapes"]
        if chart.kind == "table":
            spec["rows"] = chart.options["rows"]
        return spec

    def _envelope(self) -> list[list[float | None]]:
        """The lowest and highest values of each step of a series."""
        assert self.chart.value is not None
        column = self._board._source[self.chart.value]
        if column.dtype.kind not in "iuf":
            raise TypeMismatchError(
                f"series: expected numbers: column={self.chart.value!r}, "
                f"dtype={str(column.dtype)!r}"
            )
        if column.dtype.kind == "f":
            column = column.fill_null(float("nan"))
        if not len(column):
            return [[], []]
        ends = envelope(column, width=self._axes[0].fine)
        return [
            [None if not np.isfinite(each) else float(each) for each in np.asarray(end.to_numpy())]
            for end in ends
        ]


def cells_of(rows: int, requests: Sequence[Any]) -> list[tuple[Any, Any]]:
    """Counts and sums of requests, as NumPy's arrays over the engine's memory."""
    made = []
    for counts, sums in _core.count_cubes(rows, list(requests)):
        total = None if sums is None else array_of(sums).to_numpy()
        made.append((array_of(counts).to_numpy(), total))
    return made


def views_of(board: Board, frame: DataFrame, charts: Sequence[LinkedChart]) -> list[View]:
    """The charts over a frame; the ranges of all axes are found together."""
    wishes: list[Wish] = []
    places: list[list[int]] = []
    for chart in charts:
        asked = _wishes(chart)
        places.append(list(range(len(wishes), len(wishes) + len(asked))))
        wishes += asked
    axes = axes_of("dashboard", frame, wishes)
    made = []
    for index, (chart, own) in enumerate(zip(charts, places, strict=True)):
        if chart.kind == "series":
            steps = max(min(_SERIES_STEPS, len(frame)), 1)
            line = RowAxis(chart.value or "row", frame, steps, chart.options["rate"])
            made.append(View(board, index, chart, [line]))
        else:
            made.append(View(board, index, chart, [axes[place] for place in own]))
    return made


def _wishes(chart: LinkedChart) -> list[Wish]:
    """How a chart cuts its columns, y first."""
    options = chart.options
    if chart.kind == "histogram":
        return [Wish(chart.axes[0], options["bins"], options["range"])]
    if chart.kind == "trend":
        return [Wish(chart.axes[0], about=100)]
    if chart.kind == "bar":
        return [Wish(chart.axes[0], top=options["top"], keys=True)]
    if chart.kind == "choropleth":
        return [Wish(chart.axes[0], top=65_000, keys=True)]
    if chart.kind == "heatmap":
        across, up = options["bins"] or (None, None)
        x, y = chart.axes
        return [
            Wish(y, up, about=_HEATMAP[1], smooth=False),
            Wish(x, across, about=_HEATMAP[0], smooth=False),
        ]
    if chart.kind == "points":
        x, y = chart.axes
        made = [Wish(y, _POINTS[1], smooth=False), Wish(x, _POINTS[0], smooth=False)]
        if options["color"] is not None:
            made.append(Wish(options["color"], top=_COLORED, keys=True, rest=True))
        return made
    return []
