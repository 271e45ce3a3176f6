# SPDX-License-Identifier: Apache-2.0
"""Memory over time: bytes by holder, as stacked areas below the limit."""

from __future__ import annotations

import html
import itertools
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from headrace import _core
from headrace.errors import InvalidArgumentError
from headrace.io.atomic_write import write_file
from headrace.memory.budget import limit as present_limit
from headrace.memory.tables import size_text, text_table

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

# Distinct in both themes and for colour-blind readers (after Okabe and Ito).
_COLORS = ("#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#8c7ae6", "#b8a900")
_OTHERS = "#9aa0a6"
_COLUMNS = 480
_BARS = " ▁▂▃▄▅▆▇█"
# Effect of an action on the used bytes and on those on disk.
_CHANGES = {
    "allocate": (1, 0),
    "free": (-1, 0),
    "allocate failure": (0, 0),
    "evict": (-1, 1),
    "fetch": (1, -1),
    "drop": (1, -1),
}
_ACTIONS = tuple(_CHANGES)  # in the order of the engine's codes


class Area(NamedTuple):
    """Bytes of one operator, line or tier at each time."""

    name: str
    bytes: Any  # NumPy, int64


class _Events(NamedTuple):
    time_ns: Any
    change: Any
    group: Any  # index into names
    names: list[str]
    base: dict[str, int]  # held before the first event


def _op_of(tag: str) -> str:
    """The operator of a tag in a file: the part before the line."""
    op, space, line = tag.rpartition(" ")
    name, colon, number = line.rpartition(":")
    return op if space and colon and name and number.isdigit() else tag


#: A line of a log as `_core.read_memory_log` gives it: names and dtypes of its fields.
LINE_FIELDS = [
    ("thread", "u8"),
    ("time_ns", "i8"),
    ("pointer", "u8"),
    ("bytes", "i8"),
    ("stream", "u8"),
    ("tag", "u4"),
    ("tier", "u2"),
    ("action", "u1"),
    ("unused", "u1"),
]

_KEYS: dict[str, Callable[[str], str]] = {
    "operator": lambda tag: _op_of(tag) or "untagged",
    "line": lambda tag: tag or "untagged",
}


def _grouped(names: Sequence[str], codes: Any) -> tuple[list[str], Any]:
    """Give equal names one code."""
    import numpy as np

    unique = list(dict.fromkeys(names))
    number = {name: k for k, name in enumerate(unique)}
    table = np.array([number[name] for name in names] or [0], dtype=np.int64)
    return unique, table[codes]


def _by_tier(time_ns: Any, action: Any, size: Any, tiers: Sequence[str], tier: Any) -> _Events:
    """Group by tier: each event changes its tier; a move changes the disk too."""
    import numpy as np

    signs = np.array([_CHANGES[name] for name in _ACTIONS], dtype=np.int64)[action]
    names, codes = _grouped([*tiers, "disk"], tier)
    moves = np.flatnonzero(signs[:, 1])
    # A fetch leaves the disk first, so that nothing counts twice.
    after = np.where(signs[moves, 1] > 0, 1, -1)
    order = np.argsort(np.concatenate([3 * np.arange(len(size)), 3 * moves + after]))
    return _Events(
        np.concatenate([time_ns, time_ns[moves]])[order],
        np.concatenate([signs[:, 0] * size, (signs[:, 1] * size)[moves]])[order],
        np.concatenate([codes, np.full(len(moves), names.index("disk"))])[order],
        names,
        {},
    )


def _file_events(path: str, by: str) -> _Events:
    import numpy as np

    log = _core.read_memory_log(path)
    lines = np.frombuffer(
        log.lines(),
        dtype=LINE_FIELDS,
    )
    size, action = lines["bytes"], lines["action"].astype(np.int64)
    time_ns = np.maximum.accumulate(lines["time_ns"]) if len(lines) else lines["time_ns"]
    if by == "tier":
        tiers = [name or "host" for name in log.tiers]
        return _by_tier(time_ns, action, size, tiers, lines["tier"].astype(np.int64))
    names, codes = _grouped([_KEYS[by](tag) for tag in log.tags], lines["tag"].astype(np.int64))
    signs = np.array([_CHANGES[name][0] for name in _ACTIONS], dtype=np.int64)[action]
    return _Events(time_ns, signs * size, codes, names, {})


def _ring_events(by: str) -> _Events:
    import numpy as np

    events = _core.memory_events(0)
    held = _core.bytes_by_tag()
    time_ns = np.maximum.accumulate(np.array([e[1] for e in events] or [0], dtype=np.int64))
    action = np.array([_ACTIONS.index(e[2]) for e in events] or [2], dtype=np.int64)
    size = np.array([e[4] for e in events] or [0], dtype=np.int64)
    keys = [f"{e[6]} {e[7]}".strip() for e in events] or [""]
    if by == "tier":
        tiers = [e[8] for e in events] or ["host"]
        found = _by_tier(time_ns, action, size, tiers, np.arange(len(size)))
        now = {"host": _core.memory_statistics().used_bytes}
    else:
        names, codes = _grouped([_KEYS[by](key) for key in keys], np.arange(len(size)))
        signs = np.array([_CHANGES[name][0] for name in _ACTIONS], dtype=np.int64)[action]
        found = _Events(time_ns, signs * size, codes, names, {})
        now = {}
        for size_now, op, line in held:
            name = _KEYS[by](f"{op} {line}".strip())
            now[name] = now.get(name, 0) + size_now
    # Held before the ring's first event: held now, less the effect of its events.
    net = np.bincount(found.group, weights=found.change, minlength=len(found.names))
    base = {name: int(-net[k]) for k, name in enumerate(found.names)}
    for name, size_now in now.items():
        base[name] = base.get(name, 0) + size_now
    names = [*found.names, *(name for name in base if name not in found.names)]
    return _Events(found.time_ns, found.change, found.group, names, base)


def _merged(events: _Events, most: int = 64) -> _Events:
    """Merge all but the groups with the most traffic: each group costs a pass."""
    import numpy as np

    if len(events.names) <= most:
        return events
    through = np.bincount(
        events.group, weights=np.abs(events.change), minlength=len(events.names)
    ) + np.array([events.base.get(name, 0) for name in events.names])
    order = np.argsort(-through, kind="stable")
    code = np.full(len(events.names), most - 1)
    code[order[: most - 1]] = np.arange(most - 1)
    names = [events.names[k] for k in order[: most - 1]]
    base = {name: size for name, size in events.base.items() if name in names}
    if events.base:
        base["small ones"] = sum(events.base.values()) - sum(base.values())
    return _Events(events.time_ns, events.change, code[events.group], [*names, "small ones"], base)


class Timeline:
    """Bytes in use over time, by operator, line or tier.

    Attributes
    ----------
    seconds : numpy.ndarray
        Since the first event; one value per pixel column.
    areas : list of Area
        Bytes of each group at those times, largest first. They sum to the peak within the column.
    limit : int or None
        The limit line.
    peak : int
    """

    def __init__(self, events: _Events, limit: int | None, title: str) -> None:
        import numpy as np

        self.title = title
        self.limit = limit
        count = len(events.change)
        begin, end = (int(events.time_ns[0]), int(events.time_ns[-1])) if count else (0, 0)
        columns = min(_COLUMNS, max(count, 1))
        step = max(end - begin, 1) / columns
        self.seconds: np.ndarray[Any, Any] = np.arange(columns) * step * 1e-9
        # Levels before the first event and after each; a file's unmatched frees were held before.
        total = np.concatenate([[0], np.cumsum(events.change)]) if count else np.zeros(1, np.int64)
        edges = np.searchsorted(events.time_ns, begin + np.arange(1, columns) * step)
        edges = np.concatenate([[0], edges, [count]])
        at = np.array(
            [
                first + int(np.argmax(total[first : last + 1]))
                for first, last in itertools.pairwise(edges.tolist())
            ]
        )
        areas: list[Area] = []
        events = _merged(events)
        for k, name in enumerate(events.names):
            own = np.where(events.group == k, events.change, 0)
            level = np.concatenate([[0], np.cumsum(own)])
            base = events.base.get(name, max(0, -int(level.min())))
            areas.append(Area(name, np.maximum(level[at] + base, 0)))
        areas.sort(key=lambda area: (-int(area.bytes.max()), area.name))
        areas = [area for area in areas if area.bytes.any()]
        if len(areas) > len(_COLORS):
            kept = areas[: len(_COLORS) - 1]
            others = np.sum([area.bytes for area in areas[len(kept) :]], axis=0)
            areas = [*kept, Area("others", others)]
        self.areas: list[Area] = areas
        self.total: np.ndarray[Any, Any] = (
            np.sum([area.bytes for area in areas], axis=0) if areas else np.zeros(columns)
        )
        self.peak: int = int(self.total.max())

    def __repr__(self) -> str:
        width = 60
        top = max(self.peak, 1)
        shown = []
        for k in range(min(width, len(self.total))):
            part = self.total[k * len(self.total) // width : (k + 1) * len(self.total) // width]
            most = int(part.max()) if len(part) else int(self.total[min(k, len(self.total) - 1)])
            shown.append(_BARS[-(-most * (len(_BARS) - 1) // top)])
        span = float(self.seconds[-1]) if len(self.seconds) else 0.0
        limit = "" if self.limit is None else f", limit {size_text(self.limit)}"
        head = f"{self.title}: {span:.3g} s, peak {size_text(self.peak)}{limit}"
        if not self.areas:
            return head
        rows = [
            (
                size_text(int(area.bytes.max())),
                f"{self.seconds[int(area.bytes.argmax())]:.3g} s",
                area.name,
            )
            for area in self.areas
        ]
        table = text_table(("most", "at", "held by"), rows)
        return f"{head}\n{''.join(shown)}\n{table}"

    def to_svg(self) -> str:
        """The picture: stacked areas, the limit as a dashed line, and a legend."""
        width, height, left, right, top, bottom = 900, 320, 74, 190, 34, 34
        inner, tall = width - left - right, height - top - bottom
        span = float(self.seconds[-1]) or 1e-9
        # A limit far above the peak would flatten the picture; then only its number is shown.
        near = self.limit is not None and self.limit <= 8 * max(self.peak, 1)
        most = max(self.peak, self.limit if near and self.limit else 0, 1) * 1.06

        def x(k: int) -> str:
            return f"{left + inner * float(self.seconds[k]) / span:.1f}"

        def y(size: float) -> str:
            return f"{top + tall * (1 - size / most):.1f}"

        parts = [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
            f'width="{width}" height="{height}" font-family="sans-serif" font-size="12" role="img" '
            f'aria-label="{html.escape(self.title)}">',
            f'<text x="{left}" y="20" fill="currentColor" font-size="14">'
            f"{html.escape(self.title)}: peak {size_text(self.peak)}</text>",
        ]
        for k in range(5):
            size = most * k / 4
            parts.append(
                f'<path d="M{left} {y(size)}H{left + inner}" stroke="currentColor" '
                f'stroke-opacity="0.15"/><text x="{left - 6}" y="{float(y(size)) + 4:.1f}" '
                f'text-anchor="end" fill="currentColor">{size_text(int(size))}</text>'
                f'<text x="{left + inner * k / 4:.1f}" y="{height - 12}" text-anchor="middle" '
                f'fill="currentColor">{span * k / 4:.3g} s</text>'
            )
        below = self.total * 0
        for k, area in enumerate(self.areas):
            color = _OTHERS if area.name == "others" else _COLORS[k % len(_COLORS)]
            above = below + area.bytes
            upper = self._steps(above, x, y)
            lower = self._steps(below, x, y)[::-1]
            points = " ".join(f"{px},{py}" for px, py in [*upper, *lower])
            name = html.escape(area.name)
            parts.append(
                f'<polygon points="{points}" fill="{color}"><title>{name}</title></polygon>'
                f'<rect x="{left + inner + 14}" y="{top + 18 * k}" width="11" height="11" '
                f'fill="{color}"/><text x="{left + inner + 30}" y="{top + 18 * k + 10}" '
                f'fill="currentColor">{html.escape(_short(area.name))}</text>'
            )
            below = above
        if self.limit is not None:
            label = f"limit {size_text(self.limit)}"
            at = y(self.limit) if near else f"{top}"
            dash = (
                f'<path d="M{left} {at}H{left + inner}" stroke="#d62728" stroke-dasharray="6 4"/>'
            )
            parts.append(
                f"{dash if near else ''}<text x='{left + inner - 4}' y='{float(at) - 5:.1f}' "
                f"text-anchor='end' fill='#d62728'>{label}{'' if near else ' (far above)'}</text>"
            )
        return "".join([*parts, "</svg>"])

    @staticmethod
    def _steps(
        values: Any, x: Callable[[int], str], y: Callable[[float], str]
    ) -> list[tuple[str, str]]:
        """The corners of a step line."""
        corners: list[tuple[str, str]] = []
        for k in range(len(values)):
            if k and values[k] != values[k - 1]:
                corners.append((x(k), y(float(values[k - 1]))))
            if k in (0, len(values) - 1) or values[k] != values[k - 1]:
                corners.append((x(k), y(float(values[k]))))
        return corners

    def _repr_html_(self) -> str:
        return self.to_svg()

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the picture as ``.svg``, or a page as ``.html``."""
        target = Path(path)
        if target.suffix == ".svg":
            text = self.to_svg().replace("currentColor", "#333")
        elif target.suffix in (".html", ".htm"):
            name = html.escape(self.title)
            text = (
                f'<!doctype html><meta charset="utf-8"><title>{name}</title>'
                f'<body style="color:#333;background:#fff">{self.to_svg()}'
                f"<pre>{html.escape(repr(self))}</pre></body>"
            )
        else:
            raise InvalidArgumentError(
                f"timeline: unsupported file type: path='{path}'; expected a name ending in "
                ".svg or .html"
            )
        write_file("timeline", target, text)


def _short(name: str) -> str:
    return name if len(name) <= 24 else name[:23] + "…"


def timeline(
    path: str | os.PathLike[str] | None = None,
    *,
    by: str = "operator",
    limit: int | str | None = None,
) -> Timeline:
    """Draw memory over time by holder, with the limit.

    Parameters
    ----------
    path : str or path-like, optional
        A log of `log` or of RMM. By default the events in the ring, the last 65,536, on top of what
        was held before them.
    by : {"operator", "line", "tier"}
        The grouping of the areas.
    limit : int or str, optional
        The limit line, as in `hr.memory.limit`; without a path the current limit.

    Returns
    -------
    Timeline
        Text, a picture in notebooks, and `Timeline.save` for SVG and HTML files.

    Raises
    ------
    OSError
        If the file is not a log; with line and column.
    ValueError
        For an unknown value of `by`.

    Notes
    -----
    Memory that a file frees without having allocated it counts from the start. Each pixel column
    shows its moment of highest use, so no peak is lost.

    >>> with hr.memory.log("run.csv"):  # doctest: +SKIP
    ...     job()
    >>> hr.memory.timeline("run.csv").save("run.svg")  # doctest: +SKIP
    >>> x = hr.signal.ricker(1000, 5.0).to_numpy()
    >>> hr.memory.timeline().peak >= 8000
    True
    """
    if by not in ("operator", "line", "tier"):
        raise InvalidArgumentError(
            f"timeline: invalid value: by={by!r}; expected 'operator', 'line' or 'tier'"
        )
    line = _core.parse_bytes(limit) if isinstance(limit, str) else limit
    if path is not None:
        name = os.fsdecode(path)
        return Timeline(_file_events(name, by), line, f"memory of {os.path.basename(name)}")
    if line is None:
        line = present_limit()
    return Timeline(_ring_events(by), None if line == sys.maxsize else line, "memory")
