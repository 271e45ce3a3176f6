# SPDX-License-Identifier: Apache-2.0
"""Formatting of tables and sizes in memory reports."""

from __future__ import annotations

import html
import sys
from collections.abc import Sequence

from headrace import _core


def size_text(count: int) -> str:
    """Format a number of bytes; the largest one means no limit."""
    return "none" if count == sys.maxsize else _core.format_bytes(count)


def text_table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Format rows as a text table."""
    widths = [max(len(row[i]) for row in (header, *rows)) for i in range(len(header))]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in (header, *rows)
    )


def html_table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Format rows as an HTML table; cells are escaped."""

    def line(cells: Sequence[str], tag: str) -> str:
        return "<tr>" + "".join(f"<{tag}>{html.escape(c)}</{tag}>" for c in cells) + "</tr>"

    body = "".join(line(row, "td") for row in rows)
    return f"<table><thead>{line(header, 'th')}</thead><tbody>{body}</tbody></table>"
