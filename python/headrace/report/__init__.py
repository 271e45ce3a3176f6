# SPDX-License-Identifier: Apache-2.0
"""Reports: one self-contained HTML file, opened from disk without a network."""

from __future__ import annotations

import base64
import html
import json
import math
import os
import zlib
from pathlib import Path
from typing import TYPE_CHECKING, Any

from headrace import plot
from headrace.errors import InvalidArgumentError
from headrace.io.atomic_write import write_file

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

__all__ = ["Report"]


def __dir__() -> list[str]:
    """The public names."""
    return sorted(__all__)


_HERE = Path(__file__).parent


def _numpy(values: Any, dtype: str) -> Any:
    import numpy as np

    return np.ascontiguousarray(np.asarray(values), dtype=dtype)


def _numbers(values: Any, dtype: str = "<f8") -> dict[str, str] | None:
    """Numbers as the page reads them."""
    if values is None:
        return None
    return {dtype[1:]: base64.b64encode(_numpy(values, dtype)).decode()}


def _cell(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return html.escape(str(value))
    if isinstance(value, int):
        return f"{value:,}"
    if math.isnan(value):
        return "missing"
    size = abs(value)
    if size >= 1e12 or 0 < size < 1e-4:
        return f"{value:.3g}"
    digits = max(0, 2 - math.floor(math.log10(size))) if size else 0  # three that count
    return f"{value:,.{digits}f}"


def _bar(share: float) -> str:
    width = min(max(share, 0.0), 1.0) * 100
    return f'{share * 100:.0f} %<span class="bar"><i style="width:{width:.1f}%"></i></span>'


def _is_numeric(cells: list[object]) -> bool:
    present = [cell for cell in cells if cell is not None]
    return bool(present) and all(
        isinstance(cell, int | float) and not isinstance(cell, bool) for cell in present
    )


def _script(value: Any) -> str:
    """JSON that is safe in a script element, whatever its strings hold."""
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    for letter in "<>&\u2028\u2029":
        text = text.replace(letter, f"\\u{ord(letter):04x}")
    return text


def _marks(name: str, at: Any, kinds: Sequence[str] | None) -> dict[str, Any]:
    """Rows in order, and of each the number of its word."""
    import numpy as np

    rows = _numpy(at, "<u4")
    order = np.argsort(rows, kind="stable")
    made = {"name": name, "at": _numbers(rows[order], "<u4")}
    if kinds is None:
        return made
    if len(kinds) != len(rows):
        raise InvalidArgumentError(
            f"Report: each mark needs a kind: name={name!r}, marks={len(rows)}, kinds={len(kinds)}"
        )
    words = list(dict.fromkeys(map(str, kinds)))
    number = {word: place for place, word in enumerate(words)}
    codes = np.array([number[str(each)] for each in kinds], np.uint32)
    return {**made, "words": words, "kinds": _numbers(codes[order], "<u4")}


class _Section:
    """One section of a page: its HTML, the data for the page's script, and its packed series."""

    def __init__(self, title: str, body: str = "", figure: dict[str, Any] | None = None) -> None:
        self.title = title
        self.body = body
        self.figure = figure
        self.blob = ""
        self.kind = ""


class Report:
    """A page of figures and tables, composed by its `add_...` methods and written by `save`.

    Sections keep the order in which they are added; one with the title of an earlier section
    replaces it. Arrays may be ours, NumPy's, or anything that NumPy accepts. All text is escaped.

    Parameters
    ----------
    title, subtitle : str
        Heading of the page.
    footer : str
        Last line of the page.

    >>> report = hr.report.Report("A first look")
    >>> report.add_facts({"rows": 3})
    >>> report.add_table("Values", ["name", "size [m]"], [["<b>", 1.5]])
    >>> report.save("look.html")
    >>> "&lt;b&gt;" in report.to_html()
    True
    """

    def __init__(self, title: str, subtitle: str = "", footer: str = "Made with Headrace.") -> None:
        self.title = title
        self.subtitle = subtitle
        self.footer = footer
        self._sections: list[_Section] = []

    def _add(self, section: _Section, note: str, half: bool, after: str | None) -> None:
        if section.title:
            note_html = f'<p class="note">{html.escape(note)}</p>' if note else ""
            section.body = f"<h2>{html.escape(section.title)}</h2>{note_html}{section.body}"
        if section.figure is not None:
            section.body += '<div class="figure"></div>'
            section.figure["title"] = section.title
        section.kind = section.kind or ("half" if half else "")
        titles = [each.title for each in self._sections]
        if section.title in titles:
            self._sections[titles.index(section.title)] = section
        elif after is not None:
            if after not in titles:
                raise InvalidArgumentError(
                    f"Report: no such section: after={after!r}; add it first"
                )
            self._sections.insert(titles.index(after) + 1, section)
        else:
            self._sections.append(section)

    def _pack(self, section: _Section, x: Any, max_values: int) -> None:
        """Add a 1-D series to the section as a compressed pyramid."""
        packed = plot.pyramid(x, max_values)
        data: Any = plot.pack_codes(packed.codes).to_numpy()
        # Differences of noisy samples hardly repeat: Huffman coding alone is as small, and fast.
        coder = zlib.compressobj(9, zlib.DEFLATED, -15, 9, zlib.Z_HUFFMAN_ONLY)
        section.blob = base64.b64encode(coder.compress(data) + coder.flush()).decode()
        assert section.figure is not None
        section.figure["series"] = {
            "rows": packed.codes.ndim,
            "count": packed.num_buckets,
            "bucket": packed.bucket,
            "offset": packed.offset,
            "step": packed.step,
        }

    def add_facts(self, facts: Mapping[str, object]) -> None:
        """Tiles with a name and a value each, for key figures."""
        tiles = "".join(
            f"<div><dt>{html.escape(str(name))}</dt><dd>{_cell(value)}</dd></div>"
            for name, value in facts.items()
        )
        section = _Section("", f"<dl>{tiles}</dl>")
        section.kind = "facts"
        self._add(section, "", False, None)

    def add_text(
        self, title: str, text: str, *, half: bool = False, after: str | None = None
    ) -> None:
        """A section of plain text."""
        self._add(_Section(title), text, half, after)

    def add_envelope(
        self,
        title: str,
        x: Any,
        *,
        rate: float | None = None,
        label: str = "value",
        unit: str = "",
        marks: Mapping[str, Any] | None = None,
        kinds: Mapping[str, Sequence[str]] | None = None,
        ecg_grid: bool = False,
        note: str = "",
        after: str | None = None,
        max_values: int = 25_000_000,
    ) -> None:
        """The whole series, zoomable to single rows without losing a peak.

        The page stores the codes of `headrace.plot.pyramid` and rebuilds the levels above them.
        Beyond `max_values` rows it stores the minimum and maximum of buckets.

        Parameters
        ----------
        title : str
            Heading.
        x : array_like
            1-D, integer or float; NaN is a gap.
        rate : float, optional
            Rows per second; the axis then shows h:mm:ss.
        label, unit : str
            Name and unit of the values.
        marks : mapping of str to array_like, optional
            Row numbers to mark, by name, at most five. Buttons go from one to the next.
        kinds : mapping of str to sequence of str, optional
            A word for each mark of a name, in the order of its rows in `marks`: shown with it.
        ecg_grid : bool
            Draw the grid of ECG paper where there is room: boxes of 0.04 s and 0.1, larger ones of
            0.2 s and 0.5.
        note : str
            A sentence below the heading.
        after : str, optional
            Title of the section to insert after; at the end by default.
        max_values : int
            The most values of the series that the page stores.
        """
        rows = len(x)
        section = _Section(title)
        section.figure = {
            "kind": "series",
            "rows": rows,
            "rate": rate,
            "label": label,
            "unit": unit,
            "grid": bool(ecg_grid and rate),
            "marks": [
                _marks(name, at, (kinds or {}).get(name)) for name, at in (marks or {}).items()
            ],
        }
        self._pack(section, x, max_values)
        step = section.figure["series"]["step"]
        bucket = section.figure["series"]["bucket"]
        off = f"{step / 2:.2g}" if bucket == 1 else f"{step:.2g}"
        per = "every row" if bucket == 1 else f"minimum and maximum of every {bucket} rows"
        section.figure["legend"] = f"Shows {per}, with an error of at most {off} {unit}.".replace(
            " .", "."
        ).replace("  ", " ")
        self._add(section, note, False, after)

    def add_plot(
        self,
        title: str,
        figure: plot.Plot,
        *,
        note: str = "",
        half: bool = False,
        after: str | None = None,
    ) -> None:
        """A figure of `headrace.plot`; a graph zooms and moves in the page."""
        body = figure.page or figure._repr_html_()
        self._add(_Section(title, body), note, half, after)

    def add_histogram(
        self,
        title: str,
        counts: Any,
        edges: Any,
        *,
        x: str = "value",
        y: str = "count",
        lines: Mapping[str, float] | None = None,
        note: str = "",
        half: bool = True,
        after: str | None = None,
    ) -> None:
        """Bars of `counts` between `edges` (one more); `lines` marks named values on the x axis."""
        marked = [{"name": name, "at": float(at)} for name, at in (lines or {}).items()]
        bars = {"counts": _numbers(counts), "edges": _numbers(edges), "x": x, "y": y}
        figure = {"kind": "histogram", **bars, "lines": marked}
        self._add(_Section(title, figure=figure), note, half, after)

    def add_lines(
        self,
        title: str,
        lines: Mapping[str, tuple[Any, Any]],
        *,
        x: str = "",
        y: str = "",
        bands: Iterable[tuple[str, float, float]] = (),
        zero: bool = True,
        note: str = "",
        half: bool = False,
        after: str | None = None,
    ) -> None:
        """Named lines of x and y values, over named bands (name, begin, end) of the x axis."""
        figure = {
            "kind": "lines",
            "lines": [
                {"name": name, "x": _numbers(xs), "y": _numbers(ys)}
                for name, (xs, ys) in lines.items()
            ],
            "bands": [
                {"name": name, "begin": float(begin), "end": float(end)}
                for name, begin, end in bands
            ],
            "x": x,
            "y": y,
            "zero": zero,
        }
        self._add(_Section(title, figure=figure), note, half, after)

    def _rows(
        self,
        section: _Section,
        rows: Any,
        captions: Sequence[str] | None,
        positions: Any,
        reference: Any,
        reference_name: str,
        rate: float | None,
        label: str,
    ) -> None:
        import numpy as np

        values = np.asarray(rows)
        assert section.figure is not None
        section.figure |= {
            "count": values.shape[0],
            "length": values.shape[1],
            "captions": [str(caption) for caption in captions or []],
            "at": _numbers(positions, "<u4"),
            "reference": _numbers(reference),
            "reference_name": reference_name,
            "rate": rate,
            "label": label,
        }
        self._pack(section, np.ascontiguousarray(values).reshape(-1), 1 << 40)

    def add_rows(
        self,
        title: str,
        rows: Any,
        captions: Sequence[str] | None = None,
        *,
        positions: Any = None,
        reference: Any = None,
        reference_name: str = "reference",
        rate: float | None = None,
        label: str = "row",
        note: str = "",
        half: bool = False,
        after: str | None = None,
    ) -> None:
        """Each row of a 2-D array as a small drawing with its caption.

        Parameters
        ----------
        title : str
            Heading.
        rows : array_like
            ``[count, length]``.
        captions : sequence of str, optional
            Shown below each drawing; line breaks are kept, the first line is emphasized.
        positions : array_like, optional
            Row of the page's series where each begins: the target of a click.
        reference : array_like, optional
            ``[length]``, drawn dashed behind each, and labelled `reference_name`.
        rate : float, optional
            Values per second.
        label : str
            Name of the solid line in the legend.
        note, half, after
            As in the other sections: a sentence, half the width, the section to insert after.
        """
        section = _Section(title)
        section.figure = {"kind": "rows"}
        self._rows(section, rows, captions, positions, reference, reference_name, rate, label)
        self._add(section, note, half, after)

    def add_scatter(
        self,
        title: str,
        x: Any,
        y: Any,
        score: Any,
        *,
        rows: Any = None,
        captions: Sequence[str] | None = None,
        positions: Any = None,
        reference: Any = None,
        reference_name: str = "reference",
        flag: Any = None,
        flag_name: str = "flagged",
        x_label: str = "x",
        y_label: str = "y",
        score_name: str = "score",
        row_name: str = "The chosen point",
        rate: float | None = None,
        label: str = "row",
        note: str = "",
        after: str | None = None,
    ) -> None:
        """Points coloured by score, with zoom and pan; a click on one draws its row next to them.

        Parameters
        ----------
        title : str
            Heading.
        x, y, score : array_like
            One number for each point.
        rows : array_like, optional
            ``[points, length]``: what a click draws.
        captions, positions, reference, reference_name, rate, label
            As in `add_rows`, for each point.
        flag : array_like of bool, optional
            Points that get a ring, explained as `flag_name`.
        x_label, y_label, score_name, row_name : str
            Labels of the axes, the legend and the drawing's heading.
        note, after
            As in the other sections.
        """
        section = _Section(title)
        section.figure = {
            "kind": "scatter",
            "points_x": _numbers(x, "<f4"),
            "points_y": _numbers(y, "<f4"),
            "score": _numbers(score),
            "flag": _numbers(flag, "<u4"),
            "flag_name": flag_name,
            "x": x_label,
            "y": y_label,
            "score_name": score_name,
            "row_name": row_name,
            "captions": [str(caption) for caption in captions or []],
            "at": _numbers(positions, "<u4"),
        }
        if rows is not None:
            self._rows(section, rows, captions, positions, reference, reference_name, rate, label)
        self._add(section, note, False, after)

    def add_table(
        self,
        title: str,
        columns: Sequence[str],
        rows: Iterable[Sequence[object]],
        *,
        bars: Iterable[str] = (),
        note: str = "",
        half: bool = False,
        after: str | None = None,
    ) -> None:
        """A table. Numbers are right-aligned; columns in `bars` are shares of 1, drawn as bars.

        A table without rows says so. None is an empty cell.
        """
        drawn = set(bars)
        body = []
        count = len(columns)
        all_rows = [list(row) for row in rows]
        numeric = [_is_numeric([row[k] for row in all_rows if len(row) > k]) for k in range(count)]
        for row in all_rows:
            if len(row) != count:
                raise InvalidArgumentError(
                    f"Report: row length does not match the header: expected={count}, "
                    f"got={len(row)}"
                )
            cells = []
            for name, value, right in zip(columns, row, numeric, strict=True):
                as_bar = name in drawn and isinstance(value, int | float)
                text = _bar(float(value)) if as_bar else _cell(value)  # type: ignore[arg-type]
                cells.append(f"<td{' class=number' if right else ''}>{text}</td>")
            body.append(f"<tr>{''.join(cells)}</tr>")
        if not body:
            body = [f'<tr><td class="empty" colspan="{count}">nothing</td></tr>']
        heads = "".join(
            f"<th{' class=number' if right else ''}>{html.escape(name)}</th>"
            for name, right in zip(columns, numeric, strict=True)
        )
        table = (
            f'<div class="scroll"><table><thead><tr>{heads}</tr></thead>'
            f"<tbody>{''.join(body)}</tbody></table></div>"
        )
        self._add(_Section(title, table), note, half, after)

    def to_html(self) -> str:
        """The page as a string."""
        sections: list[str] = []
        links: list[str] = []
        blobs: dict[str, int] = {}
        figures: list[dict[str, Any]] = []
        for k, section in enumerate(self._sections):
            name = f"part-{k + 1}"
            kind = f' class="{section.kind}"' if section.kind else ""
            sections.append(f'<section id="{name}"{kind}>{section.body}</section>')
            if section.title:
                links.append(f'<a href="#{name}">{html.escape(section.title)}</a>')
            if section.figure is not None:
                figure = section.figure | {"id": name}
                if section.blob:
                    # Sections that show the same rows share them.
                    blob = blobs.setdefault(section.blob, len(blobs))
                    figure["series"] = figure["series"] | {"blob": blob}
                figures.append(figure)
        scripts = [
            (_HERE / name).read_text("utf-8") for name in ("page.js", "series.js", "charts.js")
        ]
        parts = {
            "title": html.escape(self.title),
            "subtitle": html.escape(self.subtitle),
            "footer": html.escape(self.footer),
            "css": (_HERE / "page.css").read_text("utf-8"),
            "navigation": "".join(links),
            "sections": "\n".join(sections),
            "blobs": "\n".join(
                f'<script type="text/plain" id="blob-{k}">{blob}</script>'
                for blob, k in blobs.items()
            ),
            "data": _script(figures),
            "script": "\n".join(scripts),
        }
        # Split once, so that inserted text is never taken for a placeholder.
        pieces = (_HERE / "page.html").read_text("utf-8").split("{{")
        page = [pieces[0]]
        for piece in pieces[1:]:
            name, _, rest = piece.partition("}}")
            page += [parts[name], rest]
        return "".join(page)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the page, creating missing folders; the file is replaced whole or not at all."""
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        write_file("save", path, self.to_html())
