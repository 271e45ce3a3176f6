# SPDX-License-Identifier: Apache-2.0
"""Dashboards: linked charts over one frame, each shows the rows that the others select."""

from __future__ import annotations

import html
import os
import threading
from typing import TYPE_CHECKING, Any

import numpy as np

from headrace import _core
from headrace.errors import ColumnNotFoundError, InvalidArgumentError, TypeMismatchError
from headrace.frame.columns import is_frame
from headrace.io.atomic_write import write_file
from headrace.lazy.handle import mark
from headrace.plot.dashboards import page
from headrace.plot.dashboards.charts import LinkedChart
from headrace.plot.dashboards.views import Selection, View, cells_of, views_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from headrace.frame.dataframe import DataFrame
    from headrace.plot.dashboards.server import Server
    from headrace.series.series import Series

#: Cells of all cubes that a brush of one chart needs: more would leave the caches and take long to
#: send. A chart whose cubes would be larger is brushed in wider steps.
_MOST_CELLS = 1 << 21
#: A page keeps which charts leave a row out in a word.
_MOST_CHARTS = 30


def dashboard(
    frame: DataFrame,
    charts: Sequence[LinkedChart],
    *,
    title: str = "",
    layout: Sequence[Sequence[str]] | None = None,
) -> Board:
    """Linked charts over a frame: a brush on one filters all others, at once, over 1e8 rows.

    On the first touch of a chart the engine makes a cube for each of the others: their cells by
    the steps of the brush (Moritz, Howe and Heer, "Falcon", CHI 2019). The page then answers each
    move of the brush itself.

    Parameters
    ----------
    frame : DataFrame
        Its columns are evaluated once. Later changes of the frame do not show.
    charts : list of charts
        Of `histogram`, `bar`, `heatmap`, `points`, `trend`, `series`, `number`, `table` and
        `choropleth`.
    title : str
        Heading of the page.
    layout : list of lists of str, optional
        Names of the charts in each row of the page; by default two or three of them.

    Returns
    -------
    Board
        `show` opens it, `save` writes it, and `select` brushes it from Python.

    Raises
    ------
    ColumnNotFoundError, TypeMismatchError
        For columns that the frame lacks, or of a dtype that a chart cannot show.
    InvalidArgumentError
        For ranges without values, and names in `layout` that no chart has.

    Notes
    -----
    The codes of each axis take 1 or 2 bytes per row. Counts are exact; sums and means have the same
    bits for any number of threads.

    >>> frame = hr.DataFrame({"x": range(10), "y": [0, 1] * 5})
    >>> board = hr.plot.dashboard(frame, [hr.plot.histogram("x"), hr.plot.histogram("y")])
    >>> board.select("x", 0, 4)
    >>> board.charts["y"].counts.tolist(), len(board.frame)
    ([2, 2], 4)
    """
    mark("dashboard")
    if not is_frame(frame):
        raise TypeMismatchError(
            f"dashboard: expected a DataFrame: type={type(frame).__name__!r}; pass "
            "hr.DataFrame(data)"
        )
    wanted = list(charts)
    for chart in wanted:
        if not isinstance(chart, LinkedChart):
            raise TypeMismatchError(
                f"dashboard: expected charts such as hr.plot.histogram('x'): got={chart!r}"
            )
    if not 1 <= len(wanted) <= _MOST_CHARTS:
        raise InvalidArgumentError(
            f"dashboard: expected 1 to {_MOST_CHARTS} charts: charts={len(wanted)}"
        )
    return Board(frame, wanted, title, layout)


class Board:
    """Linked charts over a frame, made by `dashboard`.

    A notebook shows the page that `save` writes; `show` opens one that stays linked with Python.
    """

    title: str
    #: The charts by name, with what their cells hold now.
    charts: dict[str, View]

    def __init__(
        self,
        frame: DataFrame,
        charts: Sequence[LinkedChart],
        title: str,
        layout: Sequence[Sequence[str]] | None,
    ) -> None:
        self.title = title
        self._source = frame.copy()
        self._lock = threading.RLock()
        named = _with_names(charts)
        for chart in named:
            columns = [*chart.axes, chart.value, chart.options.get("color")]
            for name in [*columns, *(chart.options.get("columns") or ())]:
                if name is not None:
                    frame._find(name)
        self._rows = len(frame)
        self._views = views_of(self, self._source, named)
        self.charts = {view.name: view for view in self._views}
        self._layout = _rows_of(self.charts, layout)
        self._selected: dict[int, tuple[Selection, Series]] = {}
        self._version = 0
        self._known: tuple[int, list[tuple[Any, Any]]] | None = None
        self._server: Server | None = None

    def __repr__(self) -> str:
        chosen = ", ".join(self._views[index].name for index in sorted(self._selected))
        brushed = f", selected on {chosen}" if chosen else ""
        return f"Board({self._rows:,} rows, {len(self._views)} charts{brushed})"

    # ---- selections ------------------------------------------------------------------------------
    def select(self, name: str, low: Any, high: Any = None) -> None:
        """Select on a chart, as its brush does; it replaces what was selected there.

        Parameters
        ----------
        name : str
            The chart, or the column of the one chart that has it as its axis.
        low, high
            Of numbers and times a range: rows from `low` up to but not including `high`, or with
            it where it is the upper end of the chart. Of keys a list, and no `high`. Of two axes
            two pairs: of x and of y.

        >>> board = hr.plot.dashboard(hr.DataFrame({"k": ["a", "b", "a"]}), [hr.plot.bar("k")])
        >>> board.select("k", ["a"])
        >>> board.frame.k.to_list()
        ['a', 'a']
        """
        view = self._view(name)
        selection = view._chosen("select", low, high)
        with self._lock:
            self._choose({view._index: selection}, {view._index})

    def clear(self, name: str | None = None) -> None:
        """Select all rows again, on one chart or on all."""
        gone = set(self._selected) if name is None else {self._view(name)._index}
        with self._lock:
            self._choose({}, gone)

    @property
    def filter(self) -> Series:
        """The rows that all selections leave: a lazy mask for the frame.

        >>> frame = hr.DataFrame({"x": [1, 2, 3]})
        >>> board = hr.plot.dashboard(frame, [hr.plot.histogram("x")])
        >>> board.select("x", 2, 9)
        >>> frame[board.filter].x.to_list()
        [2, 3]
        """
        with self._lock:
            masks = [mask for _, mask in self._selected.values()]
        if not masks:
            every: Series = self._source[self._source.columns[0]].isna()
            return every | True
        made = masks[0]
        for mask in masks[1:]:
            made = made & mask
        return made

    @property
    def frame(self) -> DataFrame:
        """The rows that all selections leave, as a lazy frame."""
        made: DataFrame = self._source[self.filter] if self._selected else self._source.copy()
        return made

    # ---- pages -----------------------------------------------------------------------------------
    def show(self, port: int = 0, open: bool = True) -> str:
        """Serve the page to this machine alone, and open it in a browser.

        The page and the board stay linked: what is brushed there is selected here, and the other
        way round. The address has a token without which nothing is answered. The page is served
        until `close`, or until Python ends.

        Parameters
        ----------
        port : int
            0 takes a free one.
        open : bool
            Whether to open a browser.

        Returns
        -------
        str
            The address.
        """
        from headrace.plot.dashboards.server import Server

        if self._server is None:
            self._server = Server(self, port)
        if open:
            import webbrowser

            webbrowser.open(self._server.address)
        return self._server.address

    def close(self) -> None:
        """Stop serving the page, and free what was counted: it is made again when it is needed."""
        server, self._server = self._server, None
        if server is not None:
            server.stop()
        with self._lock:
            self._known = None
            for view in self._views:
                for axis in view._axes:
                    axis.free()

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the page as one HTML file that needs no server and no network.

        It holds the cubes of each chart, so one brush at a time is exact; of up to 200,000 rows it
        holds the codes, and all brushes at once are. It says so at its foot. The file is replaced
        whole or not at all.
        """
        if os.fspath(path).rpartition(".")[2].lower() not in ("html", "htm"):
            raise InvalidArgumentError(
                f"save: unsupported file type: path={os.fspath(path)!r}; expected '.html'"
            )
        write_file("save", path, self.to_html())

    def to_html(self) -> str:
        """The page that `save` writes."""
        with self._lock:
            return page.exported(self)

    def _repr_html_(self) -> str:
        height = 140 + 330 * len(self._layout)
        return (
            f'<iframe title="{html.escape(self.title or "Dashboard")}" sandbox="allow-scripts" '
            f'style="width:100%;height:{height}px;border:0" srcdoc="{html.escape(self.to_html())}">'
            "</iframe>"
        )

    # ---- for the page ----------------------------------------------------------------------------
    def _view(self, name: str) -> View:
        if name in self.charts:
            return self.charts[name]
        found = [view for view in self._views if view.chart.axes[:2] == (name,)]
        if len(found) == 1:
            return found[0]
        raise ColumnNotFoundError(
            f"dashboard: unknown chart: name={name!r}; the charts are "
            f"{', '.join(map(repr, self.charts))}"
        )

    def _choose(self, selections: dict[int, Selection], gone: set[int]) -> None:
        """Replace selections; those in `gone` are dropped first."""
        made = {index: each for index, each in self._selected.items() if index not in gone}
        for index, selection in selections.items():
            mask = self._views[index]._mask(selection)
            _core.force([mask._node])
            made[index] = (selection, mask)
        self._selected = made
        self._version += 1

    def _choose_steps(self, given: Any) -> None:
        """What the page selects: by the number of a chart pairs of steps, or cells of keys."""
        with self._lock:
            changed, kept = {}, set()
            for key, steps in given.items():
                index = int(key)
                if not 0 <= index < len(self._views) or not isinstance(steps, list):
                    raise InvalidArgumentError(f"dashboard: unknown chart: number={key!r}")
                view, known = self._views[index], self._selected.get(index)
                # What Python selected between two steps comes back as it was told.
                if known is not None and view._shown(known[0]) == steps:
                    kept.add(index)
                else:
                    changed[index] = view._of_steps("dashboard", steps)
            gone = set(self._selected) - kept
            if changed or gone:
                self._choose(changed, gone)

    def _masks(self, but: Sequence[int] = ()) -> list[_core.Node]:
        return [mask._node for i, (_, mask) in sorted(self._selected.items()) if i not in but]

    def _cells(self) -> list[tuple[Any, Any]]:
        """Counts and sums of all charts, and last the number of rows that are left."""
        with self._lock:
            if self._known is None or self._known[0] != self._version:
                requests = [view._request(self._masks([view._index])) for view in self._views]
                requests.append(([], self._masks(), None))
                self._known = (self._version, cells_of(self._rows, requests))
            return self._known[1]

    def _cube(
        self, active: int, most: int | None = None
    ) -> tuple[int, list[int], list[tuple[Any, Any]]]:
        """Steps of a cell, cells along each axis of a brushed chart, and the cubes of the others.

        The one of the chart itself is left out. The last one is the number of rows that are left.
        """
        with self._lock:
            view = self._views[active]
            per = self._steps_of_cell(view, most)
            axes = view._cube_axes(per)
            requests = [
                each._request(self._masks([active, each._index]), axes)
                for each in self._views
                if each is not view
            ]
            requests.append((list(axes), self._masks([active]), None))
            return per, [axis[2] for axis in axes], cells_of(self._rows, requests)

    def _steps_of_cell(self, view: View, most: int | None = None) -> int:
        """Steps of a cell of the cubes for a brush, which limits the number of their cells."""
        cells = sum(each._num_cells() for each in self._views if each is not view) + 1
        axes = view._brushed()
        per_bin = max((axis.per_bin for axis in axes), default=1)
        choices = [k for k in range(1, per_bin + 1) if per_bin % k == 0]
        choices += [per_bin * k for k in range(2, 64)]
        for per in choices:
            steps = [axis.bins if axis.kind == "key" else -(-axis.fine // per) for axis in axes]
            if int(np.prod(steps, dtype=np.int64)) * cells <= (most or _MOST_CELLS):
                return per
        return choices[-1]

    def _table(self, view: View) -> tuple[list[str], list[list[str]]]:
        """The heads and cells of a table, of the rows that are left."""
        return self._table_of(self.frame, view, view.chart.options["rows"])

    @staticmethod
    def _table_of(frame: DataFrame, view: View, rows: int) -> tuple[list[str], list[list[str]]]:
        columns = view.chart.options["columns"] or list(map(str, frame.columns))
        shown = frame[columns].head(rows)
        cells = [list(map(_shown, shown[name].to_list())) for name in columns]
        return columns, [list(row) for row in zip(*cells, strict=True)]


def _shown(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, float):
        return f"{value:.6g}"
    return f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else str(value)


def _with_names(charts: Iterable[LinkedChart]) -> list[LinkedChart]:
    """The charts, each with a name of its own."""
    made: dict[str, LinkedChart] = {}
    for chart in charts:
        name, count = chart.name, 1
        while name in made:
            count += 1
            name = f"{chart.name} {count}"
        made[name] = LinkedChart(
            chart.kind, name, chart.axes, chart.value, chart.agg, chart.options
        )
    return list(made.values())


def _rows_of(charts: dict[str, View], layout: Sequence[Sequence[str]] | None) -> list[list[int]]:
    """The numbers of the charts in each row of the page."""
    if layout is None:
        small = [view._index for view in charts.values() if view.chart.kind == "number"]
        large = [view._index for view in charts.values() if view.chart.kind != "number"]
        wide = 2 if len(large) in (2, 4) else 3
        rows = [large[at : at + wide] for at in range(0, len(large), wide)]
        return [*([small] if small else []), *rows]
    names = [name for row in layout for name in row]
    if unknown := [name for name in names if name not in charts]:
        raise InvalidArgumentError(
            f"dashboard: unknown charts in layout: names={unknown}; the charts are {list(charts)}"
        )
    if sorted(names) != sorted(charts):
        missing = sorted(set(charts) - set(names))
        raise InvalidArgumentError(
            f"dashboard: layout must have each chart once: missing={missing}, names={names}"
        )
    return [[charts[name]._index for name in row] for row in layout if row]
