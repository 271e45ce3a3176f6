# SPDX-License-Identifier: Apache-2.0
"""Frames and series as the plain text of pandas' ``to_string``."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Sequence
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

from headrace.display.cells import cell, float_texts
from headrace.display.options import option, option_context
from headrace.display.tables import first_values
from headrace.errors import InvalidArgumentError
from headrace.frame.columns import frame_of, framed, is_frame
from headrace.interop.through_pandas import written
from headrace.rows import is_missing
from headrace.series.column import is_labelled, series_of

if TYPE_CHECKING:
    from headrace.frame.dataframe import DataFrame
    from headrace.series.series import Series

_JUSTIFY: dict[str, Callable[[str, int], str]] = {
    "left": str.ljust,
    "center": str.center,
    "right": str.rjust,
}
_DAY = 86_400_000_000_000
_TIMES = ("datetime64", "timedelta64")


def _time_texts(values: list[Any]) -> list[str]:
    """Times without a time of day if none has one, with the same digits of seconds."""
    texts = [cell(value).replace("T", " ") for value in values]
    if all(text[10:] in ("", " 00:00:00") for text in texts):
        return [text[:10] for text in texts]
    digits = max(len(text) - 20 for text in texts)
    if digits <= 0:
        return texts
    zeros = (text if "." in text else f"{text}." for text in texts)
    digits = max(6, digits)
    made = [text.ljust(20 + digits, "0") for text in zeros]
    spare = 3 if digits == 6 and all(text.endswith("000") for text in made) else 0
    return [text[: len(text) - spare] for text in made]


def _duration_texts(values: list[Any]) -> list[str]:
    """Days and the time of day, which is left out if there are only whole days."""
    micro = datetime.timedelta(microseconds=1)
    counts = [
        value // micro * 1000
        if isinstance(value, datetime.timedelta)
        else int(value.astype("timedelta64[ns]").astype("int64"))
        for value in values
    ]
    digits = 0 if not any(n % 10**9 for n in counts) else 9 if any(n % 1000 for n in counts) else 6
    whole = not any(n % _DAY for n in counts)
    made = []
    for days, rest in (divmod(count, _DAY) for count in counts):
        seconds, part = divmod(rest, 10**9)
        clock = f" {'+' * (days < 0)}{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}"
        fraction = f".{part:09}"[: digits + 1] if digits else ""
        made.append(f"{days} days{'' if whole else clock + fraction}")
    return made


def _texts(values: list[Any], dtype: str, na_rep: str, lead: bool) -> list[str]:
    """The cells of a column; `lead` keeps the place of a sign, as between pandas' columns."""
    present = [value for value in values if not is_missing(value)]
    if dtype.startswith("datetime64"):
        shown, lead = _time_texts(present), False
    elif dtype.startswith("timedelta64"):
        shown, lead = _duration_texts(present), False
    elif dtype.startswith("float"):
        shown, lead = float_texts(present), lead and option("float_format") is None
    else:
        shown = [cell(value) for value in present]
    signed = dtype.startswith(("int", "float"))
    if na_rep == "NaN" and dtype.startswith(_TIMES):
        na_rep = "NaT"
    cells = iter(shown)
    texts = [na_rep if is_missing(value) else next(cells) for value in values]
    return [f" {t}" if lead and not (signed and t[0] == "-") else t for t in texts]


def _sparse(rows: list[tuple[str, ...]]) -> list[tuple[str, ...]]:
    """Tuples of levels; what repeats the tuple before is blank, but never the last level."""
    made = rows[:1]
    for before, row in pairwise(rows):
        same = next((i for i, (a, b) in enumerate(zip(before, row, strict=True)) if a != b), 0)
        same = len(row) - 1 if before == row else same
        made.append(("",) * same + row[same:])
    return made


def _filled(column: Sequence[str]) -> list[str]:
    size = max(map(len, column), default=0)
    return [text.ljust(size) for text in column]


def _joined(space: int, columns: list[list[str]]) -> list[str]:
    """Columns side by side."""
    return [(" " * space).join(row) for row in zip(*map(_filled, columns), strict=True)]


def _labels(frame: DataFrame) -> tuple[list[str], list[list[str]]]:
    """The names of label levels, empty if none has one, and the cells of each level."""
    names = ["" if name is None else str(name) for name in frame.index.names]
    nodes, levels = list(frame._labels.values()), []
    if nodes:
        kinds = [str(series_of(node).dtype) for node in nodes]
        for values, kind in zip(first_values(nodes), kinds, strict=True):
            level = _texts(values, kind, "NaN", kind.startswith("float"))
            spare = kind.startswith("float") and all(text[0] == " " for text in level)
            levels.append([text[spare:] for text in level])
    else:
        levels = [[str(label) for label in frame.index.tolist()]]
    if len(levels) > 1:
        sparse = _sparse(list(zip(*levels, strict=True)))
        levels = [list(level) for level in zip(*sparse, strict=True)]
    return names if any(names) else [], levels


def _cut(frame: DataFrame, max_rows: int | None) -> tuple[DataFrame, int]:
    """The first and last rows, and after how many of them rows are missing; 0 if none are."""
    rows = len(frame)
    if not max_rows or rows <= max_rows:
        return frame, 0
    half = max_rows // 2
    return frame.iloc[[*range(max(half, 1)), *range(rows - half, rows)]], max(half, 1)


def _dots(column: list[str], cut: int, head: int, adjust: str) -> None:
    """Put dots where rows are missing, as wide as the row of pandas' choice."""
    size = len(column[min(cut, len(column) - 1)])
    column.insert(cut + head, _JUSTIFY[adjust]("..." if size > 3 else "..", size))


def _frame_string(
    frame: DataFrame,
    columns: Sequence[Any] | None = None,
    header: bool | Sequence[str] = True,
    index: bool = True,
    na_rep: str = "NaN",
    justify: str | None = None,
    max_rows: int | None = None,
) -> str:
    """All rows, or the first and last, and columns as lines of text."""
    justify = justify or "right"
    if justify not in _JUSTIFY:
        raise InvalidArgumentError(
            f"to_string: unknown justify: justify={justify!r}; use 'left', 'center' or 'right'"
        )
    frame = frame if columns is None else frame[list(columns)]
    names = list(frame.columns)
    aliases = names if isinstance(header, bool) else list(header)
    if len(aliases) != len(names):
        raise InvalidArgumentError(
            f"to_string: header has other names than columns: header={len(aliases)}, "
            f"columns={len(names)}; give one name for each"
        )
    if not names or not len(frame):
        heading, rows = (", ".join(map(str, each)) for each in (names, frame.index.tolist()))
        return f"Empty DataFrame\nColumns: [{heading}]\nIndex: [{rows}]"
    frame, cut = _cut(frame, max_rows)
    kinds = [str(frame[name].dtype) for name in names]
    levels = max(len(name) if isinstance(name, tuple) else 1 for name in aliases)
    if levels > 1:
        heads = _sparse([tuple(map(str, n)) for n in aliases])
    else:
        signed = [kind.startswith(("int", "uint", "float", "bool")) for kind in kinds]
        signed = signed if header is True else [False] * len(names)
        heads = [(f" {n}" if s else str(n),) for n, s in zip(aliases, signed, strict=True)]
    with option_context("display.max_colwidth", None):
        level_names, labels = _labels(frame) if index else ([], [])
        values = first_values([frame._nodes[name] for name in names])
        cells = [_texts(v, k, na_rep, index) for v, k in zip(values, kinds, strict=True)]
    adjusted = _JUSTIFY[justify]
    made = []
    for head, column in zip(heads, cells, strict=True):
        top = [*(head if header else ()), *[""] * bool(level_names)]
        size = max(map(len, column))
        filled = [*top, *(text.rjust(size) for text in column)]
        size = max(map(len, filled))
        made.append([adjusted(text, size) for text in filled])
    if labels:
        named = [
            [level_names[i], *column] if level_names else column for i, column in enumerate(labels)
        ]
        called = ["" if name is None else str(name) for name in frame.columns.names]
        made.insert(0, _filled([*(called if header else ()), *_joined(1, named)]))
    for i, column in enumerate(made if cut else ()):
        _dots(column, cut, len(column) - len(frame), "left" if i == 0 and index else "right")
    return "\n".join(_joined(1, made))


def _series_string(
    series: Series,
    na_rep: str = "NaN",
    header: bool = True,
    index: bool = True,
    max_rows: int | None = None,
) -> str:
    """All labels and values, or the first and last, one per line."""
    frame = framed(series) if is_labelled(series) else frame_of({"": series._node})
    rows = len(frame)
    if not rows:
        name = f"Name: {series.name}, " if series.name else ""
        return f"Series([], {name}dtype: {series.dtype})"
    frame, cut = _cut(frame, max_rows)
    (values,) = first_values(list(frame._nodes.values()))
    with option_context("display.max_colwidth", None):
        values = _texts(values, str(series.dtype), na_rep, index)
        names, levels = _labels(frame)
    most = min(max(map(len, values)), option("max_colwidth") or rows)
    values = [v if len(v) <= most else f"{v[: most - 3]}..." for v in values]
    values = [value.rjust(most) for value in values]
    labels = _joined(
        2, [[name, *level] for name, level in zip(names or [""] * len(levels), levels, strict=True)]
    )
    if len(levels) == 1:
        labels = [names[0] if names else "", *levels[0]]
    if cut:
        _dots(values, cut, 0, "center")
        labels.insert(cut + 1, "")
    lines = _joined(3, [labels[1:], values] if index else [values])
    return "\n".join([labels[0], *lines] if names and header else lines)


def plain_text(
    rows: DataFrame | Series, buf: Any, float_format: Any, options: dict[str, Any], **shown: Any
) -> str | None:
    """The text of a frame or series, or None when it is written to a path or an open file."""
    if options:
        text = written(rows, "to_string", float_format=float_format, **shown, **options)
    else:
        own = float_format
        if isinstance(own, str):
            own = own.format if "{" in own else own.__mod__
        with option_context("display.float_format", own or option("float_format")):
            text = _frame_string(rows, **shown) if is_frame(rows) else _series_string(rows, **shown)
    if buf is None:
        return text
    if hasattr(buf, "write"):
        buf.write(text)
    else:
        Path(buf).write_text(text, encoding="utf-8")
    return None
