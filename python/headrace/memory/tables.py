# SPDX-License-Identifier: Apache-2.0
"""Tables and sizes as the reports of memory show them."""

from __future__ import annotations

import html
import sys
from collections.abc import Sequence

from headrace import _core


def size_text(count: int) -> str:
    """Say a number of bytes; the greatest one means that there is no limit."""
    return "none" if count == sys.maxsize else _core.format_bytes(count)


def text_table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Set rows in columns under a header."""
    widths = [max(len(row[i]) for row in (header, *rows)) for i in range(len(header))]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in (header, *rows)
    )


def html_table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Set rows in an HTML table; cells are escaped."""

    def line(cells: Sequence[str], tag: str) -> str:
        return "<tr>" + "".join(f"<{tag}>{html.escape(c)}</{tag}>" for c in cells) + "</tr>"

    body = "".join(line(row, "td") for row in rows)
    return f"<table><thead>{line(header, 'th')}</thead><tbody>{body}</tbody></table>"
