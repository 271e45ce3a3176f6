# SPDX-License-Identifier: Apache-2.0
"""The page of a dashboard: what it is told as bytes, served or written as one file."""

from __future__ import annotations

import base64
import hashlib
import html
import json
import zlib
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from headrace.lazy.handle import array_of
from headrace.plot.figure import COLORS, GREY

if TYPE_CHECKING:
    from collections.abc import Sequence

    from headrace.plot.dashboards.board import Board

_HERE = Path(__file__).parent
#: The look, and the words for SVG, canvas and numbers, are those of reports.
_REPORT = _HERE.parents[1] / "report"
#: Rows up to which an exported page holds the codes of all rows, and the cells of all of tables.
_MOST_ROWS, _MOST_TABLE_ROWS = 200_000, 20_000
#: Cells of the cubes of each chart in an exported page.
_MOST_CELLS = 1 << 18


def pack(arrays: Sequence[Any], facts: dict[str, Any]) -> bytes:
    """Arrays for the page, little-endian: the length of a head, the head as JSON, the arrays.

    Each begins at a multiple of eight bytes.
    """
    parts: list[bytes | memoryview] = []  # joined once: cubes are megabytes
    about = []
    for array in arrays:
        values = _narrowed(np.ascontiguousarray(array))
        values = values.astype(values.dtype.newbyteorder("<"), copy=False)
        about.append([values.dtype.str[1:], values.size])
        data = values.reshape(-1).view(np.uint8).data
        parts += [data, bytes(-len(data) % 8)]
    head = json.dumps({**facts, "arrays": about}, separators=(",", ":")).encode()
    head += b" " * (-(len(head) + 4) % 8)
    return b"".join([len(head).to_bytes(4, "little"), head, *parts])


def _narrowed(values: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Counts in as few bytes as the largest needs: most of a page's time is that of its bytes."""
    if values.dtype != np.uint32 or not values.size:
        return values
    return values.astype(np.min_scalar_type(values.max()), copy=False)


def _flat(cells: Sequence[tuple[Any, Any]]) -> list[Any]:
    return [each for pair in cells for each in pair if each is not None]


def counts(board: Board) -> bytes:
    """What all charts show now, which selections hold, and the cells of tables."""
    facts = {
        "version": board._version,
        "selections": {
            index: board._views[index]._shown(selection)
            for index, (selection, _) in board._selected.items()
        },
        "tables": {
            view._index: board._table(view) for view in board._views if view.chart.kind == "table"
        },
    }
    return pack(_flat(board._cells()), facts)


def cubes(board: Board, active: int) -> bytes:
    """The cubes of all charts for a brush of one."""
    per, steps, cells = board._cube(active)
    return pack(_flat(cells), {"per": per, "steps": steps, "version": board._version})


def live(board: Board, token: str) -> tuple[str, str, str]:
    """The page that asks a server: up to what it shows, after that, and the policy for its scripts.

    It depends on nothing that changes, so it does not wait while rows are counted.
    """
    return _assembled(board, _spec(board, None) | {"token": token})


def shown(board: Board) -> str:
    """What a page of a server shows first."""
    return base64.b64encode(counts(board)).decode()


def exported(board: Board) -> str:
    """The page that holds all it shows."""
    few = board._rows <= _MOST_ROWS
    spec = _spec(board, 0 if few else _MOST_CELLS)
    arrays, facts = _held(board)
    coder = zlib.compressobj(6, zlib.DEFLATED, -15)
    packed = pack(arrays, facts)
    held = base64.b64encode(coder.compress(packed) + coder.flush()).decode()
    before, after, _ = _assembled(board, spec)
    return before + held + after


def _held(board: Board) -> tuple[list[Any], dict[str, Any]]:
    """What an exported page holds: the rows if they are few, else a cube for each chart."""
    tables: dict[int, Any] = {}
    few = board._rows <= _MOST_ROWS
    chosen = board._selected
    board._selected, board._version = {}, board._version + 1  # all rows, whatever is selected now
    try:
        for view in board._views:
            if view.chart.kind == "table":
                tables[view._index] = board._table(view)
        facts: dict[str, Any] = {"tables": tables, "few": few, "active": {}}
        arrays = _flat(board._cells())
        if few:
            whole = board._rows <= _MOST_TABLE_ROWS
            facts["whole"] = {
                index: board._table_of(board._source, board._views[index], board._rows)[1]
                for index in (tables if whole else ())
            }
            for view in board._views:
                for axis in view._axes:
                    codes, places, _ = axis.cells(axis.per_bin)
                    arrays += [array_of(codes).to_numpy(), array_of(places).to_numpy()]
                value = view._value()
                if value is not None:
                    values = value.astype("float64").fill_null(float("nan"))
                    arrays.append(values.to_numpy())
            return arrays, facts
        for view in board._views:
            if view._brushed():
                per, steps, cells = board._cube(view._index, _MOST_CELLS)
                facts["active"][view._index] = {"per": per, "steps": steps}
                arrays += _flat(cells)
        return arrays, facts
    finally:
        board._selected, board._version = chosen, board._version + 1


def _spec(board: Board, most: int | None) -> dict[str, Any]:
    """What the page is told; its cubes have at most `most` cells; 0: it holds rows."""
    charts = []
    for view in board._views:
        per = 1 if most == 0 else board._steps_of_cell(view, most)
        charts.append({**view._spec(), "snap": per})
    return {
        "title": board.title,
        "rows": board._rows,
        "layout": board._layout,
        "colors": [*COLORS[:7], GREY],
        "charts": charts,
    }


def _read(path: Path) -> str:
    return path.read_text("utf-8")


def _assembled(board: Board, spec: dict[str, Any]) -> tuple[str, str, str]:
    """The page before and after what it holds, and the policy for its scripts and no others."""
    theme, start = _read(_HERE / "theme.js"), "headrace.start();"
    names = ("cells.js", "charts.js", "board.js")
    script = "\n".join([_read(_REPORT / "page.js"), *(_read(_HERE / name) for name in names)])
    hashes = " ".join(
        f"'sha256-{base64.b64encode(hashlib.sha256(each.encode()).digest()).decode()}'"
        for each in (theme, script, start)
    )
    policy = (
        f"default-src 'none'; style-src 'unsafe-inline'; script-src {hashes}; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )
    text = json.dumps(spec, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    for letter in "<>&\u2028\u2029":
        text = text.replace(letter, f"\\u{ord(letter):04x}")
    parts = {
        "title": html.escape(board.title or "Dashboard"),
        # A header of the server is stricter, and a page may not allow more than its header.
        "policy": f"{policy}; connect-src 'self'" if "token" in spec else policy,
        "theme": theme,
        "css": _read(_REPORT / "page.css") + _read(_HERE / "board.css"),
        "spec": text,
        "script": script,
        "start": start,
    }
    # Split once, so that inserted text is never taken for a placeholder.
    made = []
    for half in _read(_HERE / "board.html").split("{{held}}"):
        first, *pieces = half.split("{{")
        named = (piece.partition("}}") for piece in pieces)
        made.append(first + "".join(parts[name] + rest for name, _, rest in named))
    return made[0], made[1], policy
