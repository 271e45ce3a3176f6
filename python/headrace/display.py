# SPDX-License-Identifier: Apache-2.0
"""Text and HTML of arrays, series and frames. Only the rows that are shown are computed."""

from __future__ import annotations

import datetime
import decimal
import html
import math
from typing import TYPE_CHECKING, Any

from headrace import _core
from headrace.frame.columns import frame_of
from headrace.series.timezone import ClockText, clock_texts
from headrace.zone_names import zone_in

if TYPE_CHECKING:
    from headrace.array.array import Array
    from headrace.frame.dataframe import DataFrame
    from headrace.series.series import Series

ROWS = 10
COLUMNS = 8
WIDTH = 30


def _rows_word(rows: int) -> str:
    return "?" if rows < 0 else f"{rows:,}"


def _cell(value: Any) -> str:
    if value is None:
        return "null"
    if isinstance(value, float):
        if math.isnan(value) or math.isinf(value):
            return str(value)
        return f"{value:.6g}" if value != int(value) or abs(value) >= 1e15 else f"{value:.1f}"
    if isinstance(value, decimal.Decimal):
        return f"{value:f}"
    if type(value).__name__ == "datetime64":
        return str(value).replace("T", " ")
    if type(value).__name__ == "timedelta64":
        return _duration(value)
    if isinstance(value, ClockText):
        return value
    return _one_line(str(value))


def _one_line(text: str) -> str:
    """A string cut to `WIDTH`, with control characters escaped."""
    if not text.isprintable():
        import unicodedata  # on first use: a library of its own

        text = "".join(repr(c)[1:-1] if unicodedata.category(c) == "Cc" else c for c in text)
    if _width(text) <= WIDTH:
        return text
    while _width(text) >= WIDTH:
        text = text[: min(len(text), WIDTH) - 1]
    return text + "…"


def _width(text: str) -> int:
    """Terminal columns of a string: two for wide characters, none for combining marks."""
    if text.isascii():
        return len(text)
    import unicodedata

    marks = sum(unicodedata.category(c) in ("Mn", "Me", "Cf") for c in text)
    return len(text) - marks + sum(unicodedata.east_asian_width(c) in "WF" for c in text)


def _padded(text: str, width: int, right: bool) -> str:
    """A string padded with spaces, aligned left or right."""
    space = " " * (width - _width(text))
    return f" {space}{text} " if right else f" {text}{space} "


def _duration(value: Any) -> str:
    """A NumPy timedelta in Python's notation, with all digits."""
    nanoseconds = int(value.astype("timedelta64[ns]").astype("int64"))
    whole, rest = divmod(nanoseconds, 10**9)
    text = str(datetime.timedelta(seconds=whole))
    return f"{text}.{rest:09}".rstrip("0") if rest else text


def _values(frame: DataFrame) -> dict[str, list[Any]]:
    zoned = [name for name in frame.columns if zone_in(frame[name].dtype)]
    if not zoned:
        made: dict[str, list[Any]] = frame.to_dict()
        return made
    others = frame[[name for name in frame.columns if name not in zoned]]
    return {**others.to_dict(), **{name: clock_texts(frame[name]) for name in zoned}}


def _body(
    frame: DataFrame, whole: bool = False
) -> tuple[int, list[str], list[str], list[list[str]]]:
    """Row count (-1: unknown before a run), shown names, dtypes, and cells, … marking a cut.

    The first rows, the same before and after the frame ran.
    """
    names = frame.columns
    shown = (
        names
        if whole or len(names) <= COLUMNS
        else [*names[: COLUMNS // 2], "…", *names[-COLUMNS // 2 :]]
    )
    picked = frame[[name for name in shown if name != "…" or name in names]]
    rows = len(frame) if whole else max(map(_core.planned_rows, frame._nodes.values()), default=0)
    most = rows if whole else ROWS
    values = _values(picked.head(most if rows >= 0 else most + 1))
    count = len(next(iter(values.values()), []))
    if rows < 0 and count <= most:
        rows = count  # these are all rows
    cells = [
        [_cell(values[n][r]) if n in values else "…" for n in shown]
        for r in range(min(count, most))
    ]
    if not 0 <= rows <= most:
        cells.append(["…"] * len(shown))
    dtypes = [str(frame[n].dtype) if n in frame else "…" for n in shown]
    return rows, [_one_line(name) for name in shown], dtypes, cells


def _table(frame: DataFrame, whole: bool) -> tuple[str, list[str], list[str], list[list[str]]]:
    """Shape in words, and names, dtypes and cells, with hidden label columns in front."""
    width = len(frame.columns)
    frame = frame.reset_index() if frame._hidden() else frame
    if not frame.columns:
        return "shape: (0, 0)", [], [], []
    rows, names, dtypes, cells = _body(frame, whole)
    return f"shape: ({_rows_word(rows)}, {width})", names, dtypes, cells


def frame_text(frame: DataFrame, whole: bool = False) -> str:
    """A box of the first ten rows and eight columns below the shape, or of all of them."""
    shape, names, dtypes, cells = _table(frame, whole)
    if not names:
        return shape
    widths = [max(_width(row[i]) for row in (names, dtypes, *cells)) for i in range(len(names))]

    def line(left: str, fill: str, middle: str, right: str) -> str:
        return left + middle.join(fill * (width + 2) for width in widths) + right

    def text(row: list[str], right: list[bool]) -> str:
        return "│" + "┆".join(map(_padded, row, widths, right)) + "│"

    numeric = [d not in ("string", "category", "bool", "…") for d in dtypes]
    left = [False] * len(names)
    return "\n".join(
        [
            shape,
            line("┌", "─", "┬", "┐"),
            text(names, left),
            text(dtypes, left),
            line("╞", "═", "╪", "╡"),
            *(text(row, numeric) for row in cells),
            line("└", "─", "┴", "┘"),
        ]
    )


def frame_html(frame: DataFrame, whole: bool = False) -> str:
    """An HTML table with escaped cells, dtypes and a shape caption."""
    shape, names, dtypes, cells = _table(frame, whole)
    if not names:
        return f"<p>{shape}</p>"
    head = "".join(f"<th>{html.escape(name)}</th>" for name in names)
    types = "".join(f"<td><small>{html.escape(dtype)}</small></td>" for dtype in dtypes)
    body = "".join(
        "<tr>" + "".join(f"<td>{html.escape(cell)}</td>" for cell in row) + "</tr>" for row in cells
    )
    return (
        f"<table><caption>{shape}</caption>"
        f"<thead><tr>{head}</tr><tr>{types}</tr></thead><tbody>{body}</tbody></table>"
    )


def series_text(series: Series) -> str:
    """The values, one per line, then name, length and dtype."""
    frame = frame_of({series.name or "": series._node})
    rows, _, _, cells = _body(frame)
    name = f"name: {series.name}, " if series.name else ""
    return "\n".join(
        [
            f"series: ({_rows_word(rows)}), {name}dtype: {series.dtype}",
            *(f"  {row[0]}" for row in cells),
        ]
    )


def array_text(array: Array) -> str:
    """NumPy's repr of evaluated values; large lazy arrays show the first line of their plan."""
    import numpy as np

    node = array._node
    shape = "(" + ", ".join(_rows_word(size) for size in node.shape) + ")"
    if not node.is_ready and (not node.shape or -1 not in node.shape) and array.size > 1000:
        text = _core.explain([node])[0].partition("\n")[0]
        return f"Array(shape={shape}, dtype={array.dtype}, lazy; {text})"
    if array.size == 0:
        size = "" if array.ndim == 1 else f"shape={shape}, "
        return f"Array([], {size}dtype={array.dtype})"
    values = np.array2string(
        array.to_numpy(), separator=", ", threshold=20, edgeitems=4, prefix="Array("
    )
    return f"Array({values}, dtype={array.dtype})"
