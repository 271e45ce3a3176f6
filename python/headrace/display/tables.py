# SPDX-License-Identifier: Apache-2.0
"""Tables of frames, series and rows as text and HTML. Only the rows that are shown are computed."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING, Any, NamedTuple

from headrace import _core
from headrace.display.cells import column_texts, one_line, padded, width
from headrace.display.markup import aligned, html_table
from headrace.display.options import option
from headrace.frame.columns import frame_of, framed
from headrace.rows import are_picked
from headrace.series.column import is_labelled, series_of
from headrace.series.timezone import clock_texts
from headrace.zone_names import zone_in

if TYPE_CHECKING:
    from headrace.array.array import Array
    from headrace.frame.dataframe import DataFrame
    from headrace.series.series import Series

_COLUMNS_IN_HTML = 20
#: Of a terminal that does not say it: a file, a pipe, a notebook.
_WIDTH = 100
#: A column takes a character, two spaces and a line.
_NARROWEST = 4
_LEFT = ("string", "category", "bool", "…")


class _Part(NamedTuple):
    """A column of a table: name, dtype and cells as strings."""

    name: str
    dtype: str
    cells: list[str]

    @property
    def size(self) -> int:
        """Its width in a terminal."""
        return max(map(width, (self.name, self.dtype, *self.cells)))


class _Table(NamedTuple):
    """What is shown: the row count (-1: not known before a run), labels and columns."""

    rows: int
    labels: list[_Part]
    columns: list[_Part]


def first_values(nodes: list[_core.Node], rows: int | None = None) -> list[list[Any]]:
    """The values of columns, or the first of them, computed together."""
    frame = frame_of({str(i): node for i, node in enumerate(nodes)})
    if denied := [str(i) for i, node in enumerate(nodes) if _core.denied_tags_of(node)]:
        frame = frame.assign(**dict.fromkeys(denied, "…"))
    frame = frame if rows is None else frame.head(rows)
    zoned = {name for name in frame.columns if zone_in(frame[name].dtype)}
    found = frame[[name for name in frame.columns if name not in zoned]].to_dict()
    return [clock_texts(frame[n]) if n in zoned else found[n] for n in frame.columns]


def _first_rows(nodes: list[_core.Node], whole: bool) -> tuple[int, list[list[Any]]]:
    """The row count, -1 if it is not known without a run, and the values to show."""
    if not nodes:
        return 0, []
    most = None if whole else option("max_rows")
    rows = max(map(_core.planned_rows, nodes))
    if rows < 0 and most is None:
        rows = len(series_of(nodes[0]))
    if most is None or 0 <= rows <= most:
        return rows, first_values(nodes, rows)
    few = min(most, option("min_rows"))
    if rows >= 0:
        return rows, first_values(nodes, few)
    values = first_values(nodes, most + 1)
    seen = len(values[0])
    return (seen, values) if seen <= most else (-1, [column[:few] for column in values])


def _table(frame: DataFrame, whole: bool, most: int | None) -> _Table:
    """The first rows, the same before and after the frame ran, of at most `most` columns.

    The labels are what `loc` takes: positions, unless the rows were filtered or sorted.
    """
    names = list(frame._nodes)
    gap = len(names)
    if most is not None and len(names) > most:
        gap = (most + 1) // 2
        names = [*names[:gap], *names[len(names) - most + gap :]]
    labels = list(frame._labels)
    nodes = [*frame._labels.values(), *(frame._nodes[name] for name in names)]
    rows, values = _first_rows(nodes, whole)
    shown = len(values[0]) if values else 0
    cut = ["…"] if shown != rows else []
    parts = [
        _Part(one_line(str(name)), str(series_of(node).dtype), [*column_texts(column), *cut])
        for name, node, column in zip([*labels, *names], nodes, values, strict=True)
    ]
    columns = parts[len(labels) :]
    left = parts[: len(labels)]
    if nodes and not labels and not any(map(are_picked, nodes)):
        left = [_Part("", "", [*map(str, range(shown)), *cut])]
    if gap < len(frame._nodes):
        columns.insert(gap, _Part("…", "…", ["…"] * (shown + len(cut))))
    return _Table(rows, left, columns)


def _shape(frame: DataFrame, rows: int) -> str:
    return f"shape: ({_rows_word(rows)}, {len(frame.columns)})"


def _rows_word(rows: int) -> str:
    return "?" if rows < 0 else f"{rows:,}"


def _screen() -> int:
    """The characters of a line."""
    chosen: int | None = option("width")
    return chosen or shutil.get_terminal_size((_WIDTH, 24)).columns


def _taken(parts: list[_Part]) -> int:
    return sum(part.size + 3 for part in parts)


def _fitting(table: _Table) -> _Table:
    """The first and last columns that fit a line."""
    room = _screen() - 1 - _taken(table.labels)
    if _taken(table.columns) <= room:
        return table
    first = [part for part in table.columns if part.name != "…" or part.dtype != "…"]
    last = first[(len(first) + 1) // 2 :]
    first = first[: (len(first) + 1) // 2]
    gap = _Part("…", "…", ["…"] * len(first[0].cells))
    while len(first) > 1 and _taken([*first, gap, *last]) > room:
        (last.pop(0) if len(last) >= len(first) else first.pop())
    return table._replace(columns=[*first, gap, *last])


def _lines(table: _Table) -> list[_Table]:
    """The columns in several tables that fit a line each."""
    room = _screen() - 1 - _taken(table.labels)
    made: list[list[_Part]] = [[]]
    for part in table.columns:
        if made[-1] and _taken([*made[-1], part]) > room:
            made.append([])
        made[-1].append(part)
    return [table._replace(columns=columns) for columns in made]


def frame_text(frame: DataFrame) -> str:
    """A box of the first rows below the shape, of the columns that fit."""
    most = option("max_columns")
    fits = most == 0
    table = _table(frame, False, _screen() // _NARROWEST + 2 if fits else most)
    shape = _shape(frame, table.rows)
    if not table.columns and not table.labels:
        return shape
    return "\n".join([shape, *map(_box, [_fitting(table)] if fits else _lines(table))])


def _box(table: _Table) -> str:
    parts, split = [*table.labels, *table.columns], len(table.labels)
    sizes = [part.size for part in parts]

    def joined(cells: list[str], left: str, label: str, column: str, right: str) -> str:
        groups = [group for group in (cells[:split], cells[split:]) if group]
        return left + label.join(column.join(group) for group in groups) + right

    def line(fill: str, *corners: str) -> str:
        return joined([fill * (size + 2) for size in sizes], *corners)

    def text(cells: list[str], right: list[bool]) -> str:
        filled = map(padded, cells, sizes, right)
        return joined([f" {each} " for each in filled], "│", "║", "┆", "│")

    numeric = [part.dtype not in _LEFT for part in parts]
    left = [False] * len(parts)
    return "\n".join(
        [
            line("─", "┌", "╥", "┬", "┐"),
            text([part.name for part in parts], left),
            text([part.dtype for part in parts], left),
            line("═", "╞", "╬", "╪", "╡"),
            *(
                text(list(row), numeric)
                for row in zip(*(part.cells for part in parts), strict=True)
            ),
            line("─", "└", "╨", "┴", "┘"),
        ]
    )


def frame_html(frame: DataFrame, whole: bool = False, index: bool = True) -> str:
    """An HTML table of the first rows and 20 columns, or of everything; the shape below it."""
    most = None if whole else option("max_columns")
    table = _table(frame, whole, _COLUMNS_IN_HTML if most == 0 else most)
    table = table if index else table._replace(labels=[])
    parts = [*table.labels, *table.columns]
    if not parts:
        return f"<p>{_shape(frame, table.rows)}</p>"
    rows = [list(row) for row in zip(*(part.cells for part in parts), strict=True)]
    heads = [[part.name for part in parts], [part.dtype for part in parts]]
    return html_table("dataframe", _shape(frame, table.rows), heads, rows, len(table.labels))


def _series_table(series: Series) -> tuple[str, _Table]:
    """What stands below a series: its name, length if it is cut, and dtype."""
    frame = framed(series) if is_labelled(series) else frame_of({"": series._node})
    table = _table(frame, False, None)
    words = [f"Name: {series.name}"] if series.name else []
    if len(table.columns[0].cells) != table.rows:
        words.append(f"Length: {_rows_word(table.rows)}")
    return ", ".join([*words, f"dtype: {series.dtype}"]), table


def series_text(series: Series) -> str:
    """The labels and values, one per line, then name, length and dtype."""
    words, table = _series_table(series)
    (values,) = table.columns
    if not values.cells:
        return f"Series([], {words})"
    labels = table.labels
    named = any(part.name not in ("", "index") for part in labels)
    rows = [[part.name for part in labels] + [""]] if named else []
    rows += [list(row) for row in zip(*(p.cells for p in (*labels, values)), strict=True)]
    return aligned(rows, [False] * len(labels) + [True], words)


def series_html(series: Series) -> str:
    """The same as an HTML table."""
    words, table = _series_table(series)
    cells = [part.cells for part in (*table.labels, *table.columns)]
    head = [*(part.name for part in table.labels), series.name or ""]
    rows = [list(row) for row in zip(*cells, strict=True)]
    return html_table("series", words, [head] if any(head) else [], rows, len(table.labels))


def array_text(array: Array) -> str:
    """NumPy's repr of evaluated values; large lazy arrays show the first line of their plan.

    A single value is shown as itself.
    """
    import numpy as np

    node = array._node
    if _core.denied_tags_of(node):
        return f"Array(shape={node.shape}, dtype={array.dtype}, tags that hr.policy denies)"
    if not node.shape:
        return str(array.item())
    shape = "(" + ", ".join(_rows_word(size) for size in node.shape) + ")"
    if not node.is_ready and -1 not in node.shape and array.size > 1000:
        text = _core.explain([node])[0].partition("\n")[0]
        return f"Array(shape={shape}, dtype={array.dtype}, lazy; {text})"
    if array.size == 0:
        size = "" if array.ndim == 1 else f"shape={shape}, "
        return f"Array([], {size}dtype={array.dtype})"
    values = np.array2string(
        array.to_numpy(), separator=", ", threshold=20, edgeitems=4, prefix="Array("
    )
    return f"Array({values}, dtype={array.dtype})"
