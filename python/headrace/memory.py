# SPDX-License-Identifier: Apache-2.0
"""The one memory: its budget, its statistics, who holds it, and the ledger of copies."""

from __future__ import annotations

import gc
import html
import os
import sys
import time
from collections.abc import Iterator, Sequence
from types import EllipsisType
from typing import NamedTuple, overload

from headrace import _core
from headrace.errors import InternalError, InvalidArgumentError
from headrace.settings import Setting


class LedgerEntry(NamedTuple):
    """One copy or conversion of values that existed before."""

    op: str
    reason: str
    bytes: int
    source: str
    target: str
    line: str
    asked: bool
    seconds: float


class Holder(NamedTuple):
    """A live buffer."""

    bytes: int
    op: str
    line: str
    place: str
    foreign: bool
    exported: bool


class MemoryEvent(NamedTuple):
    """One event of the log: a buffer was made or freed, or could not be made."""

    thread: int  #: 1 is the first thread that had an event
    time_ns: int  #: since 1970
    action: str  #: "allocate", "free" or "allocate failure"
    pointer: int
    bytes: int  #: as charged; allocated less freed bytes are the used bytes
    stream: int
    op: str
    line: str
    tier: str


def _size(count: int) -> str:
    return "none" if count == sys.maxsize else _core.format_bytes(count)


def _text_table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    widths = [max(len(row[i]) for row in (header, *rows)) for i in range(len(header))]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in (header, *rows)
    )


def _html_table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    def line(cells: Sequence[str], tag: str) -> str:
        return "<tr>" + "".join(f"<{tag}>{html.escape(c)}</{tag}>" for c in cells) + "</tr>"

    body = "".join(line(row, "td") for row in rows)
    return f"<table><thead>{line(header, 'th')}</thead><tbody>{body}</tbody></table>"


class Ledger:
    """Copies and conversions since the process began or the last clear; a snapshot.

    Attributes
    ----------
    entries : list of LedgerEntry
        Oldest first.
    """

    _HEADER = ("operator", "reason", "bytes", "from", "to", "line", "asked")

    def __init__(self) -> None:
        self.entries = [LedgerEntry(*entry) for entry in _core.ledger_entries()]

    @property
    def total_bytes(self) -> int:
        """All bytes that were copied."""
        return sum(entry.bytes for entry in self.entries)

    @property
    def unasked_bytes(self) -> int:
        """Bytes of the copies that nobody asked for by name."""
        return sum(entry.bytes for entry in self.entries if not entry.asked)

    def clear(self) -> None:
        """Begin anew, here and in the engine."""
        _core.clear_ledger()
        self.entries = []

    def __len__(self) -> int:
        return len(self.entries)

    def __iter__(self) -> Iterator[LedgerEntry]:
        return iter(self.entries)

    def __getitem__(self, index: int) -> LedgerEntry:
        return self.entries[index]

    def _rows(self) -> list[tuple[str, ...]]:
        return [
            (e.op, e.reason, f"{e.bytes:,}", e.source, e.target, e.line, "yes" if e.asked else "no")
            for e in self.entries
        ]

    def __repr__(self) -> str:
        total = f"{self.total_bytes:,} bytes in {len(self)} copies"
        if not self.entries:
            return total
        return _text_table(self._HEADER, self._rows()) + "\n" + total

    def _repr_html_(self) -> str:
        return _html_table(self._HEADER, self._rows()) + f"<p>{self.total_bytes:,} bytes</p>"


def ledger() -> Ledger:
    """Show every byte that the engine copied, converted or moved.

    Outputs of operators are no copies; another form of values that were there before is one.

    Returns
    -------
    Ledger
        A snapshot: entries, total bytes, a text and an HTML form, and `clear`.

    Examples
    --------
    >>> import headrace as hr
    >>> hr.memory.ledger().clear()
    >>> hr.memory.ledger()
    0 bytes in 0 copies
    """
    return Ledger()


def no_copies(*, strict: bool = False) -> _core.NoCopies:
    """Refuse copies inside of the ``with`` block, in all threads.

    Parameters
    ----------
    strict : bool
        Refuse also those that were asked for by name, such as ``copy=True``.

    Returns
    -------
    context manager
        The first copy inside raises `InvalidArgumentError`, which names operator and reason.

    Examples
    --------
    >>> import headrace as hr
    >>> with hr.no_copies():
    ...     pass
    """
    return _core.NoCopies(strict)


def _bytes_of(size: int | str | None) -> int:
    if size is None:
        return sys.maxsize
    if isinstance(size, str):
        return _core.parse_bytes(size)
    if size < 0:
        raise InvalidArgumentError(f"limit: the size is negative: bytes={size}; pass 0 or more")
    return size


class Limit(Setting[int]):
    """A budget that was just set; as a context manager it restores the former one."""

    def __repr__(self) -> str:
        return f"memory limit: {_size(self.value)}"


@overload
def limit() -> int | None: ...
@overload
def limit(size: int | str | None) -> Limit: ...
def limit(size: int | str | EllipsisType | None = ...) -> int | Limit | None:
    """Say the budget over all that Headrace allocates, or set it.

    The first value comes from ``HEADRACE_MEMORY_LIMIT``. The budget holds at every instant: what
    does not fit raises `OutOfMemoryError`, which names the largest holders, and leaves all as it
    was.

    Parameters
    ----------
    size : int or str or None, optional
        Bytes, or a text such as ``"2GB"`` (2 * 10**9) or ``"2GiB"`` (2 * 2**30); None lifts the
        limit.

    Returns
    -------
    int or None or Limit
        The present budget (None: there is none) when called without a size, else the setting,
        which a ``with`` block undoes.

    Examples
    --------
    >>> import headrace as hr
    >>> with hr.memory.limit("2GB"):
    ...     hr.memory.limit()
    2000000000
    """
    if isinstance(size, EllipsisType):
        present = _core.memory_limit()
        return None if present == sys.maxsize else present
    return Limit("memory limit", _bytes_of(size), _core.memory_limit(), _core.set_memory_limit)


class Statistics:
    """Bytes and events: of the process, or of a ``with`` block once it was entered."""

    _FIELDS = (
        "used_bytes",
        "peak_bytes",
        "cached_bytes",
        "foreign_bytes",
        "limit_bytes",
        "allocations",
        "allocated_bytes",
    )

    def __init__(self) -> None:
        self._scope: _core.StatisticsScope | None = None
        self._read = _core.memory_statistics()

    def __enter__(self) -> Statistics:
        self._scope = _core.StatisticsScope()
        self._scope.__enter__()
        return self

    def __exit__(self, *args: object) -> None:
        if self._scope is not None:
            self._read = self._scope.read()
            self._scope.__exit__()
            self._scope = None

    def _now(self) -> _core.MemoryStatistics:
        return self._read if self._scope is None else self._scope.read()

    @property
    def used_bytes(self) -> int:
        """Held by live buffers."""
        return self._now().used_bytes

    @property
    def peak_bytes(self) -> int:
        """The most that was in use."""
        return self._now().peak_bytes

    @property
    def cached_bytes(self) -> int:
        """Free in pools; `trim` gives them back."""
        return self._now().cached_bytes

    @property
    def foreign_bytes(self) -> int:
        """Borrowed from other libraries, not charged."""
        return self._now().foreign_bytes

    @property
    def limit_bytes(self) -> int | None:
        """The budget, or None."""
        limit_bytes = self._now().limit_bytes
        return None if limit_bytes == sys.maxsize else limit_bytes

    @property
    def allocations(self) -> int:
        """Buffers made."""
        return self._now().allocations

    @property
    def allocated_bytes(self) -> int:
        """Sizes of the buffers made, summed."""
        return self._now().allocated_bytes

    def _rows(self) -> list[tuple[str, str]]:
        now = self._now()
        return [
            (name, f"{now.allocations:,}" if name == "allocations" else _size(getattr(now, name)))
            for name in self._FIELDS
        ]

    def __repr__(self) -> str:
        return "\n".join(f"{name:<15}  {value}" for name, value in self._rows())

    def _repr_html_(self) -> str:
        return _html_table(("statistic", "value"), self._rows())


def stats() -> Statistics:
    """Read the statistics of the process, or count what a ``with`` block does.

    Returns
    -------
    Statistics
        As a context manager it counts allocations and the peak from its entry on; it can be read
        inside of the block and after it.

    Examples
    --------
    >>> import headrace as hr
    >>> with hr.memory.stats() as counted:
    ...     pass
    >>> counted.allocations
    0
    """
    return Statistics()


def leaks() -> list[Holder]:
    """List the live buffers that Headrace allocated, after a garbage collection.

    Returns
    -------
    list of Holder
        In the order in which they were made. What a handle, a view or another library still holds
        is in it: it is a leak only if nothing should.

    Examples
    --------
    >>> import headrace as hr
    >>> all(holder.bytes >= 0 for holder in hr.memory.leaks())
    True
    """
    gc.collect()
    return [Holder(*holder) for holder in _core.holders_since(0)]


class LeakCheck:
    """Raises at the end of its ``with`` block when buffers made inside are still held."""

    def __enter__(self) -> LeakCheck:
        gc.collect()
        self._serial = _core.last_serial()
        return self

    def __exit__(self, kind: type[BaseException] | None, *args: object) -> None:
        if kind is not None:
            return
        gc.collect()
        held = [Holder(*holder) for holder in _core.holders_since(self._serial)]
        if not held:
            return
        total = sum(holder.bytes for holder in held)
        lines = "".join(
            f"\n  {_size(h.bytes)} by {h.op or 'untagged'}{' at ' + h.line if h.line else ''}"
            for h in sorted(held, key=lambda h: -h.bytes)[:10]
        )
        error = InternalError(
            f"leak_check: buffers are still held: buffers={len(held)}, bytes={total}; "
            f"drop the handles, views or exports that hold them{lines}"
        )
        error.held_bytes = total
        raise error


def leak_check() -> LeakCheck:
    """Check that a ``with`` block leaves no memory behind.

    Returns
    -------
    context manager
        Raises `InternalError` at its end when buffers that were made inside are still held, with
        their bytes, operator and line. Raises nothing when the block itself failed.

    Examples
    --------
    >>> import headrace as hr
    >>> with hr.memory.leak_check():
    ...     pass
    """
    return LeakCheck()


def report(count: int = 10) -> str:
    """Describe the memory in a text: statistics, the largest holders, and copies.

    Parameters
    ----------
    count : int
        How many holders are named.

    Returns
    -------
    str
        Several lines.

    Examples
    --------
    >>> import headrace as hr
    >>> print(hr.memory.report().splitlines()[0].split()[0])
    used_bytes
    """
    holders = [Holder(*holder) for holder in _core.largest_holders(count)]
    text = repr(Statistics())
    if holders:
        rows = [
            (
                _size(h.bytes),
                h.op or "untagged",
                h.line,
                h.place + (", foreign" if h.foreign else "") + (", exported" if h.exported else ""),
            )
            for h in holders
        ]
        text += "\n\n" + _text_table(("held", "operator", "line", "place"), rows)
    return text + f"\n\ncopied: {_core.ledger_bytes():,} bytes"


class Log:
    """Events of memory: a snapshot, or what happens in a ``with`` block.

    Attributes
    ----------
    entries : list of MemoryEvent
        Oldest first.
    lost : int
        Events that were overwritten before they could be read.
    """

    _HEADER = ("thread", "time", "action", "pointer", "bytes", "operator", "line", "tier")
    _COLUMNS = ("Thread", "Time", "Action", "Pointer", "Size", "Stream", "Tag", "Tier")

    def __init__(self, path: str | os.PathLike[str] | None) -> None:
        self._path = path
        self._first = 0
        self._read()

    def _read(self) -> None:
        end = _core.next_memory_event()
        self.entries = [MemoryEvent(*event) for event in _core.memory_events(self._first)]
        self.lost = max(0, end - self._first - len(self.entries))
        if self._path is not None:
            self.to_csv(self._path)

    def __enter__(self) -> Log:
        self._first = _core.next_memory_event()
        self.entries, self.lost = [], 0
        return self

    def __exit__(self, *args: object) -> None:
        self._read()

    def to_csv(self, path: str | os.PathLike[str]) -> None:
        """Write the events in the format of RMM's log, with two more columns.

        Parameters
        ----------
        path : str or path-like
            The file; one that exists is replaced.
        """
        import csv

        with open(path, "w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(self._COLUMNS)
            for e in self.entries:
                tag = f"{e.op} {e.line}".strip()
                row = (e.thread, _clock(e.time_ns), e.action, hex(e.pointer), e.bytes, e.stream)
                writer.writerow((*row, tag, e.tier))

    def __len__(self) -> int:
        return len(self.entries)

    def __iter__(self) -> Iterator[MemoryEvent]:
        return iter(self.entries)

    def __getitem__(self, index: int) -> MemoryEvent:
        return self.entries[index]

    def _rows(self) -> list[tuple[str, ...]]:
        return [
            (
                str(e.thread),
                _clock(e.time_ns),
                e.action,
                hex(e.pointer),
                f"{e.bytes:,}",
                e.op,
                e.line,
                e.tier,
            )
            for e in self.entries[-20:]
        ]

    def _total(self) -> str:
        lost = f", {self.lost:,} before them lost" if self.lost else ""
        shown = ", the last 20 shown" if len(self) > 20 else ""
        return f"{len(self):,} events{lost}{shown}"

    def __repr__(self) -> str:
        if not self.entries:
            return self._total()
        return _text_table(self._HEADER, self._rows()) + "\n" + self._total()

    def _repr_html_(self) -> str:
        return _html_table(self._HEADER, self._rows()) + f"<p>{self._total()}</p>"


def _clock(time_ns: int) -> str:
    seconds, rest = divmod(time_ns, 10**9)
    return f"{time.strftime('%H:%M:%S', time.localtime(seconds))}:{rest // 1000:06}"


def log(path: str | os.PathLike[str] | None = None) -> Log:
    """Read the log of the latest allocations and frees, and write it to a file.

    The engine notes every buffer that it makes or frees, in a ring that holds the last 65,536
    events. Memory of others that it only borrows is not in it. The file is in RMM's format
    (``Thread,Time,Action,Pointer,Size,Stream``) with the columns ``Tag`` (operator and line) and
    ``Tier``.

    Parameters
    ----------
    path : str or path-like, optional
        Where to write the events.

    Returns
    -------
    Log
        The events that the ring holds. As a context manager: those of its ``with`` block, read and
        written at its end.

    Examples
    --------
    >>> import headrace as hr
    >>> with hr.memory.log() as log:
    ...     x = hr.signal.ricker(1000, 5.0).to_numpy()
    >>> log[0].action, log[0].bytes, log[0].op
    ('allocate', 8000, 'ricker')
    """
    return Log(path)


@overload
def trace() -> bool: ...
@overload
def trace(on: bool) -> Setting[bool]: ...
def trace(on: bool | None = None) -> bool | Setting[bool]:
    """Say whether memory events, copies and tags are written down, or switch it.

    It is on unless ``HEADRACE_MEMORY_TRACE`` is 0. Off, the event log and the ledger take no new
    entries, and reports and errors do not name operator and line. `limit`, `stats`, `leaks` and
    `no_copies` work either way.

    Parameters
    ----------
    on : bool, optional
        Without it the present state is returned.

    Returns
    -------
    bool or Setting
        The present state, or the setting, which a ``with`` block undoes.

    Examples
    --------
    >>> import headrace as hr
    >>> with hr.memory.trace(False):
    ...     hr.memory.trace()
    False
    """
    if on is None:
        return _core.memory_trace()
    return Setting("memory trace", bool(on), _core.memory_trace(), _core.set_memory_trace)


def trim() -> int:
    """Give cached memory back to the system.

    Returns
    -------
    int
        The bytes given back.

    Examples
    --------
    >>> import headrace as hr
    >>> hr.memory.trim() >= 0
    True
    """
    return _core.trim_memory()
