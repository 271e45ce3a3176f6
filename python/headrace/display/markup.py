# SPDX-License-Identifier: Apache-2.0
"""Rows of cells as aligned lines and as HTML."""

from __future__ import annotations

import html
from collections.abc import Mapping
from typing import Any

from headrace.display.cells import column_texts, one_line, padded, width


def html_table(
    kind: str, caption: str, heads: list[list[str]], rows: list[list[str]], split: int
) -> str:
    """A table of escaped cells, the first `split` of a row as its labels."""

    def line(cells: list[str], labels: int) -> str:
        words = ["th" if i < labels else "td" for i in range(len(cells))]
        made = (f"<{w}>{html.escape(c)}</{w}>" for w, c in zip(words, cells, strict=True))
        return f"<tr>{''.join(made)}</tr>"

    head = "".join(line(cells, len(cells)) for cells in heads)
    body = "".join(line(cells, split) for cells in rows)
    return (
        f'<table class="{kind} headrace" style="text-align: right">'
        f"<caption>{html.escape(caption)}</caption>"
        f"{f'<thead>{head}</thead>' if head else ''}<tbody>{body}</tbody></table>"
    )


def aligned(rows: list[list[str]], right: list[bool], last: str = "") -> str:
    """Rows as lines of columns, and a last line."""
    sizes = [max(map(width, column)) for column in zip(*rows, strict=True)]
    lines = ("    ".join(map(padded, row, sizes, right)).rstrip() for row in rows)
    return "\n".join([*lines, last] if last else lines)


def _pairs(values: Mapping[str, Any]) -> list[list[str]]:
    cells = column_texts(list(values.values()))
    return [[one_line(str(name)), cell] for name, cell in zip(values.keys(), cells, strict=True)]


def pairs_text(values: Mapping[str, Any]) -> str:
    """Names and values, one per line."""
    return aligned(_pairs(values), [False, True]) if values else "(no columns)"


def pairs_html(values: Mapping[str, Any]) -> str:
    """The same as an HTML table."""
    return html_table("row", "", [], _pairs(values), 1)
