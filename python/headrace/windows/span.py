# SPDX-License-Identifier: Apache-2.0
"""The rows that windows walk over, and their times in units that a span is counted in."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from headrace import _core
from headrace.aggregates import NUMBERS
from headrace.errors import InvalidArgumentError, TypeMismatchError
from headrace.facade import no_attribute
from headrace.frame.columns import frame_of
from headrace.series.column import new_series, series_of
from headrace.series.datetime import is_time
from headrace.series.duration import is_duration
from headrace.time_units import coarsest, scale, unit_of


class WindowRows(NamedTuple):
    """What windows walk over, and how a result is made of its columns."""

    columns: dict[str, _core.Node]
    finish: Callable[[dict[str, _core.Node]], Any]
    #: The frame of several results, or of columns selected from the windows.
    table: Callable[[dict[Any, _core.Node]], Any]
    labels: Mapping[str, _core.Node]
    #: Every column, for `on`.
    every: Mapping[str, _core.Node]
    keys: list[_core.Node]
    dropna: bool = True


def rows_of_series(series: Any) -> WindowRows:
    """The rows of one series."""
    labels = series._frame._labels if hasattr(series, "_frame") else {}

    def finish(made: dict[str, _core.Node]) -> Any:
        (node,) = made.values()
        return series._like(node)

    table = functools.partial(frame_of, labels=labels)
    return WindowRows({series.name or "value": series._node}, finish, table, labels, {}, [])


def rows_of_frame(frame: Any, op: str, on: str | None = None) -> WindowRows:
    """The numeric columns of a frame; `on` and the labels stay as they are."""
    names = [name for name in frame._names_of(NUMBERS) if name != on]
    if not names:
        raise TypeMismatchError(f"{op}: no numeric column: columns={frame.columns}")

    def finish(made: dict[str, _core.Node]) -> Any:
        shown = {
            name: made.get(name, node)
            for name, node in frame._nodes.items()
            if name in made or name == on
        }
        return frame_of({**shown, **made}, frame._labels)

    columns = {name: frame._nodes[name] for name in names}
    table = functools.partial(frame_of, labels=frame._labels)
    return WindowRows(columns, finish, table, frame._labels, frame._nodes, [])


def times_node(op: str, rows: WindowRows, on: Any, span: int) -> tuple[_core.Node, int]:
    """The times of the rows as integers, and a span of nanoseconds in their unit."""
    if on is None and len(rows.labels) != 1:
        raise InvalidArgumentError(
            f"{op}: a window of time needs the time of each row: labels={list(rows.labels)}; "
            "pass on= with a column, or use set_index"
        )
    if isinstance(on, str):
        if on not in rows.every:
            _core.no_such_column(op, list(rows.every), on)
        node = rows.every[on]
    else:
        node = next(iter(rows.labels.values())) if on is None else new_series(on)._node
    times = series_of(node)
    if not is_time(times) and not is_duration(times):
        raise TypeMismatchError(
            f"{op}: expected times for a window of time: dtype={str(times.dtype)!r}; pass on= with "
            "a column of times, or use hr.to_datetime"
        )
    word = str(times.dtype)
    unit = unit_of(word)
    finer = coarsest(span)
    if unit == "D" or span % scale(unit, "ns"):
        unit = "s" if finer == "D" else finer
        kind = "timedelta64" if is_duration(times) else "datetime64"
        zone = word.partition(",")[2].rstrip("]")
        times = times.astype(f"{kind}[{unit},{zone}]" if zone else f"{kind}[{unit}]")
    return times.astype("int64")._node, span // scale(unit, "ns")


def series_of_one(made: dict[str, _core.Node]) -> Any:
    """The single result as a series without labels."""
    (node,) = made.values()
    return series_of(node)


class Windows:
    """Rows and their windows: columns are selected as those of a frame."""

    __slots__ = ("_rows",)
    _rows: WindowRows

    def _of(self, rows: WindowRows) -> Any:
        """The same windows of other columns."""
        raise NotImplementedError

    def _row_by_row(self) -> Any:
        """The same windows of one column, whose results are series in the order of the rows."""
        return self._of(self._rows._replace(finish=series_of_one))

    def _stepped(self, result: Any) -> Any:
        """The rows of a result that are asked for."""
        return result

    def _paired(
        self,
        op: str,
        other: Any,
        pairwise: bool | None,
        make: Callable[[dict[str, _core.Node]], Any],
    ) -> Any:
        """`make` of the second columns; of all pairs, labelled by the row and the second column."""
        own = self._rows.columns
        every = own if other is None else getattr(other, "_nodes", {})
        pairwise = other is None if pairwise is None else pairwise
        if not pairwise or not every or len(own) == 1 or self._rows.keys:
            return make(self._columns_of(op, other))
        parts = {name: make(dict.fromkeys(own, node))._numbered() for name, node in every.items()}
        cells = {(a, b): part._nodes[a] for a in own for b, part in parts.items()}
        return frame_of(cells, next(iter(parts.values()))._labels).stack()

    def _columns_of(self, op: str, other: Any) -> dict[str, _core.Node]:
        """The second column of each pair; the same column for None."""
        if other is None and len(self._rows.columns) == 1:
            return self._rows.columns
        nodes = getattr(other, "_nodes", None)
        if nodes is None and hasattr(other, "_node"):
            return dict.fromkeys(self._rows.columns, other._node)
        if nodes is None or not set(self._rows.columns) <= set(nodes):
            raise InvalidArgumentError(
                f"{op}: expected a series, or a frame with the same columns: "
                f"other={type(other).__name__!r}; for all pairs of groups, call it for each column"
            )
        return {name: nodes[name] for name in self._rows.columns}

    def __getitem__(self, key: Any) -> Any:
        """The same windows of one or several columns."""
        rows = self._rows
        columns = {}
        for name in [key] if isinstance(key, str) else key:
            if name not in rows.columns:
                _core.no_such_column("rolling", list(rows.columns), name)
            columns[name] = rows.columns[name]
        if not isinstance(key, str):
            finish = rows.table if rows.keys else rows.finish
            return self._of(rows._replace(columns=columns, finish=finish))
        return self._of(
            rows._replace(columns=columns, finish=lambda made: rows.table(made)._series(key))
        )

    def __getattr__(self, name: str) -> Any:
        if name[0] != "_" and name in self._rows.columns:
            return self[name]
        if name[0] == "_":
            raise AttributeError(name)
        raise no_attribute(
            "Rolling has no column or aggregate", name, self._rows.columns, type(self)
        )

    def agg(self, func: Any, *args: Any, **kwargs: Any) -> Any:
        """Aggregates by name or as functions, one, a list, or one or a list for each column.

        A list gives a column for each aggregate: of one column named after it, of several after
        both, ``("x", "sum")``.

        >>> hr.Series([1, 2, 4]).rolling(2).agg(["sum", "max"]).to_dict()
        {'sum': [None, 3, 6], 'max': [None, 2, 4]}
        """
        if isinstance(func, Mapping):
            parts = {
                name if isinstance(how, str) or callable(how) else (name, word): part
                for name, how in func.items()
                for word, part in self[name]._row_by_row()._each(how, args, kwargs).items()
            }
        elif isinstance(func, list | tuple):
            single = len(self._rows.columns) == 1
            parts = {
                word if single else (name, word): part
                for name in self._rows.columns
                for word, part in self[name]._row_by_row()._each(func, args, kwargs).items()
            }
        else:
            return self._called(func, args, kwargs)
        return self._stepped(self._rows.table({n: part._node for n, part in parts.items()}))

    aggregate = agg

    def _each(self, how: Any, args: Any, kwargs: Any) -> dict[str, Any]:
        names = [how] if isinstance(how, str) or callable(how) else how
        made = {}
        for each in names:
            word = each if isinstance(each, str) else getattr(each, "__name__", "apply")
            made[word] = self._called(each, args, kwargs)
        return made

    def _called(self, func: Any, args: Any, kwargs: Any) -> Any:
        if callable(func):
            name = getattr(func, "__name__", "")
            known = type(func).__module__ == "numpy" or getattr(func, "__module__", "") == "numpy"
            if not (known and hasattr(type(self), name)):
                return self.apply(func, args=args, kwargs=kwargs)
            func = name
        known_names = [n for n in dir(type(self)) if n[0] != "_" and n not in _NO_AGGREGATES]
        if func not in known_names:
            raise InvalidArgumentError(
                f"agg: unknown window aggregate: func={func!r}; expected "
                f"{', '.join(map(repr, known_names))}"
            )
        return getattr(self, func)(*args, **kwargs)


_NO_AGGREGATES = ("agg", "aggregate", "apply", "pipe")
