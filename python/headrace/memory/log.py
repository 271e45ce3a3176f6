# SPDX-License-Identifier: Apache-2.0
"""The log of allocations and frees, and the switch for tracing."""

from __future__ import annotations

import atexit
import io
import os
import time
from collections.abc import Iterator
from typing import NamedTuple, overload

from headrace import _core
from headrace.errors import InputError
from headrace.io.atomic_write import new_file
from headrace.memory.tables import html_table, text_table
from headrace.settings import Setting

_open: list[Log] = []  # logs with a file


@atexit.register
def _close_open() -> None:
    for log in list(_open):
        log.close()


class MemoryEvent(NamedTuple):
    """One log event: an allocation, a free, or a failed allocation."""

    thread: int  #: 1 is the first thread with an event
    time_ns: int  #: since 1970
    action: str  #: "allocate", "free" or "allocate failure"
    pointer: int
    bytes: int  #: as charged; allocated less freed bytes are the used bytes
    stream: int
    op: str
    line: str
    tier: str


class Log:
    """Memory events: those in the ring, those of a ``with`` block, or all until `close`.

    Attributes
    ----------
    lost : int
        Events missing from `entries` because the ring was overwritten. A file has them all.
    """

    _HEADER = ("thread", "time", "action", "pointer", "bytes", "operator", "line", "tier")
    _COLUMNS = ("Thread", "Time", "Action", "Pointer", "Size", "Stream", "Tag", "Tier")

    def __init__(self, path: str | os.PathLike[str] | None) -> None:
        self._path = None if path is None else os.path.realpath(os.fsdecode(path))
        self._file: _core.MemoryLogFile | None = None
        self._first = 0
        self._is_open = self._path is not None
        if self._path is not None:
            for other in [each for each in _open if each._path == self._path]:
                other.close()  # one file, one writer
            self._first = _core.next_memory_event()
            self._file = _core.MemoryLogFile(self._path, self._first)
            _open.append(self)
        self._read()

    def _read(self) -> None:
        end = _core.next_memory_event()
        self._entries = [MemoryEvent(*event) for event in _core.memory_events(self._first)]
        self.lost: int = max(0, end - self._first - len(self._entries))

    @property
    def entries(self) -> list[MemoryEvent]:
        """The events, oldest first; at most the last 65,536."""
        if self._is_open:
            self._read()
        return self._entries

    def __enter__(self) -> Log:
        if self._path is None:
            self._first = _core.next_memory_event()
            self._is_open = True
        return self

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        try:
            self.close()
        except InputError as failure:
            if error is None:
                raise
            error.add_note(str(failure))

    def close(self) -> None:
        """End the log; a file is complete from then on. Closing again does nothing.

        Raises
        ------
        OSError
            If the file could not be written completely. It then ends with a whole line.
        """
        if not self._is_open:
            return
        self._is_open = False
        self._read()
        if self._file is not None:
            _open.remove(self)
            file, self._file = self._file, None
            file.close()

    def to_csv(self, path: str | os.PathLike[str]) -> None:
        """Write the events in the format of RMM's log, with two more columns.

        Parameters
        ----------
        path : str or path-like
            The file; an existing one is replaced.
        """
        import csv

        with (
            new_file("memory.log", path) as binary,
            io.TextIOWrapper(io.BufferedWriter(binary), "utf-8", newline="") as file,
        ):
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
        lost = f", {self.lost:,} earlier ones lost" if self.lost else ""
        shown = ", the last 20 shown" if len(self) > 20 else ""
        return f"{len(self):,} events{lost}{shown}"

    def __repr__(self) -> str:
        if not self.entries:
            return self._total()
        return text_table(self._HEADER, self._rows()) + "\n" + self._total()

    def _repr_html_(self) -> str:
        return html_table(self._HEADER, self._rows()) + f"<p>{self._total()}</p>"


def _clock(time_ns: int) -> str:
    seconds, rest = divmod(time_ns, 10**9)
    return f"{time.strftime('%H:%M:%S', time.localtime(seconds))}:{rest // 1000:06}"


def log(path: str | os.PathLike[str] | None = None) -> Log:
    """Read the log of the latest allocations and frees, or write all later ones to a file.

    The engine records every buffer that it allocates or frees in a ring of the last 65,536 events.
    Borrowed memory is not recorded. A file loses no events: a logging thread flushes the ring when
    half of it is unread. It is in RMM's format (``Thread,Time,Action,Pointer,Size,Stream``) with
    the columns ``Tag`` (operator and line) and ``Tier``; ``headrace-replay`` and `timeline` read
    it.

    Parameters
    ----------
    path : str or path-like, optional
        The file; an existing one is replaced.

    Returns
    -------
    Log
        Without a path: the events in the ring, or as a context manager those of its ``with`` block.
        With a path: later events, until the end of the ``with`` block, `Log.close`, or process
        exit.

    Raises
    ------
    OSError
        If the file cannot be written, now or at the end.

    Notes
    -----
    With a file, each event costs about 0.1 us more. A forked child writes nothing to its parent's
    file.

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
    """Return or set whether memory events, copies and tags are recorded.

    It is on unless ``HEADRACE_MEMORY_TRACE`` is 0. When off, the event log and the ledger take no
    new entries, and reports and errors do not name operator and line. `limit`, `stats`, `leaks` and
    `no_copies` work either way.

    Parameters
    ----------
    on : bool, optional
        Without it the current state is returned.

    Returns
    -------
    bool or Setting
        The current state, or a setting that a ``with`` block restores.

    >>> with hr.memory.trace(False):
    ...     hr.memory.trace()
    False
    """
    if on is None:
        return _core.memory_trace()
    return Setting("memory trace", bool(on), _core.memory_trace(), _core.set_memory_trace)
