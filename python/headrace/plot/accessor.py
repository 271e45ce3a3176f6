# SPDX-License-Identifier: Apache-2.0
"""`frame.plot` and `series.plot`: charts of columns in pandas' words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, cast

from headrace.errors import InvalidArgumentError
from headrace.facade import facade
from headrace.interop.ways_round import nearest
from headrace.lazy.handle import mark
from headrace.plot import column_charts as charts
from headrace.plot.column_charts import Look

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from headrace.frame.dataframe import DataFrame
    from headrace.plot.chart import Chart
    from headrace.plot.clouds import Raster
    from headrace.series.series import Series

_KINDS = ("line", "scatter", "hist", "bar", "box", "hexbin", "raster")


def _look(operator: str, given: Any) -> Look:
    """The options of all charts; raises TypeError for an unknown one."""
    mark(operator)
    for name in given:
        if name not in Look.__annotations__:
            close = nearest(name, list(Look.__annotations__))
            fix = f"did you mean {close!r}?" if close else "draw into axes of matplotlib: ax=axes"
            raise TypeError(f"{operator}() got an unexpected keyword argument {name!r}; {fix}")
    return cast("Look", given)


def _method(accessor: Any, kind: str) -> Any:
    if kind not in _KINDS or not hasattr(accessor, kind):
        known = [each for each in _KINDS if hasattr(accessor, each)]
        raise InvalidArgumentError(
            f"plot: unknown kind: kind={kind!r}; expected one of {', '.join(known)}"
        )
    return getattr(accessor, kind)


@facade("DataFrame.plot")
class FramePlot:
    """Charts of the columns of a frame: figures that display, save, and go into other libraries.

    ``df.plot(x="day", y=["low", "high"])`` draws lines. All methods take ``title``, ``xlabel``,
    ``ylabel``, ``unit`` (of the values), ``xlim``, ``ylim``, ``color`` (one or several),
    ``legend``, ``figsize`` in inches of 100 pixels, and ``ax``: axes of matplotlib to draw into,
    which are then what they return. They evaluate the columns that they show.

    >>> df = hr.DataFrame({"day": [1, 2, 3], "low": [3.0, 4.0, 2.5], "high": [9.0, 11.0, 8.0]})
    >>> df.plot(x="day", title="Temperature", unit="degrees C").save("temperature.png")
    """

    __slots__ = ("_frame",)

    def __init__(self, frame: DataFrame) -> None:
        self._frame = frame

    def __call__(
        self, x: Any = None, y: Any = None, kind: str = "line", **options: Any
    ) -> Chart | Any:
        """Draw a chart: "line", "scatter", "hist", "bar", "box", "hexbin" or "raster"."""
        method = _method(self, kind)
        return method(y, **options) if kind in ("hist", "box") else method(x, y, **options)

    def line(
        self, x: Any = None, y: Any = None, *, rate: float | None = None, **look: Unpack[Look]
    ) -> Chart | Any:
        """Lines of columns over another one, over the labels, or over the numbers of rows.

        With more than 5,000 rows the range of each pixel column is drawn, so that no peak is lost.

        Parameters
        ----------
        x : str, optional
            The column across: numbers, moments or names. The labels of the rows by default.
        y : str or list of str, optional
            The columns to draw; all of numbers by default.
        rate : float, optional
            Rows per second; the axis then shows seconds.

        >>> hr.DataFrame({"x": [0, 1, 2], "y": [0.0, 1.0, 4.0]}).plot.line(x="x", title="squares")
        Plot('squares')
        """
        return charts.line(self._frame, x, y, rate, _look("plot.line", look))

    def scatter(self, x: Any, y: Any, **look: Unpack[Look]) -> Chart | Any:
        """Points; with more than 5,000 rows the number of points in each pixel.

        >>> hr.DataFrame({"x": [0, 1], "y": [2, 3]}).plot.scatter("x", "y", title="two")
        Plot('two')
        """
        return charts.scatter(self._frame, x, y, _look("plot.scatter", look))

    def hist(
        self,
        y: Any = None,
        *,
        bins: int | Sequence[float] = 10,
        range: tuple[float, float] | None = None,
        **look: Unpack[Look],
    ) -> Chart | Any:
        """Histograms of columns in the same bins; nulls and NaN are not counted.

        Parameters
        ----------
        y : str or list of str, optional
            The columns; all of numbers by default.
        bins : int or list of float
            How many of equal width, or their edges.
        range : (float, float), optional
            Where they begin and end; by default at the smallest and the largest value.

        >>> chart = hr.DataFrame({"x": [1.0, 2.0, 2.5]}).plot.hist(bins=2, range=(1, 3))
        >>> chart.marks[0].high.tolist()
        [1.0, 2.0]
        """
        return charts.hist(self._frame, y, bins, range, _look("plot.hist", look))

    def bar(
        self, x: Any = None, y: Any = None, *, stacked: bool = False, **look: Unpack[Look]
    ) -> Chart | Any:
        """A bar for each row, up to 1,000, next to each other or stacked for several columns.

        >>> totals = hr.DataFrame({"k": ["a", "b", "a"], "x": [1, 2, 4]}).groupby("k").sum()
        >>> totals.plot.bar(title="Sums").marks[0].high.tolist()
        [5.0, 2.0]
        """
        return charts.bar(self._frame, x, y, stacked, _look("plot.bar", look))

    def box(self, y: Any = None, **look: Unpack[Look]) -> Chart | Any:
        """Quartiles of columns; whiskers end at the last value within 1.5 times their distance.

        Beyond them are outliers, of which the 100 lowest and highest are drawn.

        >>> hr.DataFrame({"x": [1.0, 2.0, 3.0, 9.0]}).plot.box(title="x")
        Plot('x')
        """
        return charts.box(self._frame, y, _look("plot.box", look))

    def hexbin(
        self,
        x: Any,
        y: Any,
        C: Any = None,  # noqa: N803 (pandas' name)
        reduce_C_function: str = "mean",  # noqa: N803
        gridsize: int = 40,
        **look: Unpack[Look],
    ) -> Chart | Any:
        """Points counted in the cells of a honeycomb; rows without a place are left out.

        Parameters
        ----------
        x, y : str
            The columns of the place.
        C : str, optional
            A column whose aggregate shades the cells, instead of the number of points.
        reduce_C_function : str
            The aggregate, by its name in `groupby`: "mean", "sum", "max", ...
        gridsize : int
            Cells across.

        >>> chart = hr.DataFrame({"x": [0, 0, 9], "y": [0, 0, 9]}).plot.hexbin("x", "y", gridsize=4)
        >>> chart.marks[0].values.tolist()
        [2.0, 1.0]
        """
        if gridsize < 1:
            raise InvalidArgumentError(f"plot.hexbin: not positive: gridsize={gridsize}")
        options = (x, y, C, reduce_C_function, gridsize)
        return charts.hexbin(self._frame, *options, _look("plot.hexbin", look))

    def raster(
        self, x: Any, y: Any, c: Any = None, *, shade: str = "eq_hist", **look: Unpack[Look]
    ) -> Raster | Any:
        """Points of any number, counted in pixels and shaded: see `hr.plot.raster`.

        Parameters
        ----------
        x, y : str
            The columns of the place: numbers or moments.
        c : str, optional
            A column of labels: the seven most frequent have a colour.
        shade : {"eq_hist", "log", "linear"}
            How points become cover.

        >>> df = hr.DataFrame({"x": [0, 1, 1], "y": [2, 3, 3], "kind": ["a", "b", "b"]})
        >>> df.plot.raster("x", "y", "kind", title="three")
        Plot('three')
        """
        return charts.raster(self._frame, x, y, c, shade, _look("plot.raster", look))


@facade("Series.plot")
class SeriesPlot:
    """Charts of a series: see `DataFrame.plot`.

    >>> hr.Series([0.0, 1.0, 0.5], name="voltage").plot(rate=250, unit="mV").save("beat.png")
    """

    __slots__ = ("_frame", "_name")

    def __init__(self, series: Series) -> None:
        self._name = "value" if series.name is None else series.name
        self._frame = series.to_frame(self._name)

    def __call__(self, kind: str = "line", **options: Any) -> Chart | Any:
        """Draw a chart of a kind: "line", "hist", "bar" or "box"."""
        return _method(self, kind)(**options)

    def line(self, *, rate: float | None = None, **look: Unpack[Look]) -> Chart | Any:
        """A line over the labels or the numbers of rows; `rate` is their number per second."""
        return charts.line(self._frame, None, self._name, rate, _look("plot.line", look))

    def hist(
        self,
        *,
        bins: int | Sequence[float] = 10,
        range: tuple[float, float] | None = None,
        **look: Unpack[Look],
    ) -> Chart | Any:
        """A histogram; see `DataFrame.plot.hist`."""
        return charts.hist(self._frame, self._name, bins, range, _look("plot.hist", look))

    def bar(self, **look: Unpack[Look]) -> Chart | Any:
        """A bar for each value, named by its label.

        >>> counts = hr.Series(["a", "b", "a"], name="k").value_counts()
        >>> counts.plot.bar(title="How often")
        Plot('How often')
        """
        return charts.bar(self._frame, None, self._name, False, _look("plot.bar", look))

    def box(self, **look: Unpack[Look]) -> Chart | Any:
        """Quartiles, whiskers and outliers; see `DataFrame.plot.box`."""
        return charts.box(self._frame, self._name, _look("plot.box", look))
