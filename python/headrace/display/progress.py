# SPDX-License-Identifier: Apache-2.0
"""Progress of long work; nothing is written unless stderr is a terminal or a notebook shows it."""

from __future__ import annotations

import shutil
import sys
import threading
import time
from typing import Any, Protocol, Self

from headrace import _core

_WIDTH = 24
#: Seconds without reports after which work has ended, and after which its bar begins.
_SILENCE, _WAIT = 1.0, 2.0
_FEW_JOBS = 3


class _Place(Protocol):
    """Where a line of progress is shown."""

    def show(self, line: str) -> None:
        """Show a line instead of the one before."""

    def erase(self) -> None:
        """Show nothing."""


class _Terminal:
    """The last line of a terminal."""

    def show(self, line: str) -> None:
        room = shutil.get_terminal_size().columns - 1  # a longer line would stay
        sys.stderr.write(f"\r{line[:room]}\033[K")
        sys.stderr.flush()

    def erase(self) -> None:
        sys.stderr.write("\r\033[K")
        sys.stderr.flush()


class _Cell:
    """An output of the cell that runs; to be made on the thread that runs it."""

    def __init__(self) -> None:
        from IPython.display import display

        self._handle: Any = display(_plain(""), display_id=True, raw=True)

    def show(self, line: str) -> None:
        self._handle.update(_plain(line), raw=True)

    def erase(self) -> None:
        self.show("")


def _plain(line: str) -> dict[str, str]:
    return {"text/plain": line}


def _in_notebook() -> bool:
    if "ipykernel" not in sys.modules:
        return False
    from IPython import get_ipython

    return getattr(get_ipython(), "kernel", None) is not None


def _is_seen() -> bool:
    return (sys.stderr is not None and sys.stderr.isatty()) or "ipykernel" in sys.modules


def _place() -> _Place:
    return _Cell() if _in_notebook() else _Terminal()


def _bar(share: float | None) -> str:
    filled = round((share or 0.0) * _WIDTH)
    return "working" if share is None else "█" * filled + "░" * (_WIDTH - filled)


class Progress:
    """Counts steps, and shows the seconds of the running one; begins after `wait` s."""

    def __init__(self, steps: int, wait: float = 0.0) -> None:
        self._steps, self._wait = steps, wait
        self._done = -1
        self._share = 0.0
        self._name = ""
        self._begin = time.perf_counter()
        self._stop = threading.Event()
        self._place: _Place | None = None
        self._thread = threading.Thread(target=self._draw, daemon=True)

    def __enter__(self) -> Self:
        if _is_seen():
            Watch.hidden += 1
            self._place = _place()
            self._thread.start()
        return self

    def __exit__(self, *args: object) -> None:
        if self._place is not None:
            self._stop.set()
            self._thread.join()
            Watch.hidden -= 1
            self._place.erase()

    def step(self, name: str) -> None:
        """Go on to the next step."""
        self._done += 1
        self._share, self._name, self._begin = 0.0, name, time.perf_counter()

    def update(self, share: float) -> None:
        """Set how much of the current step is done."""
        self._share = share

    def _draw(self) -> None:
        assert self._place is not None
        if self._stop.wait(self._wait):
            return
        while not self._stop.wait(0.1):
            seconds = time.perf_counter() - self._begin
            share = (max(self._done, 0) + self._share) / self._steps
            self._place.show(f"{_bar(share)} {self._name} {seconds:.1f} s")


class Watch:
    """A line for whatever the engine takes over two seconds for: `done` of `count` in its reports.

    It names the operator and the user's line, the rows that the step reads, the memory in use and
    what is on disk. Work of many long jobs, each with reports of its own, has no bar.
    """

    #: How many bars with names of their own are shown.
    hidden = 0

    def __init__(self) -> None:
        self._begin = self._last = self._share = 0.0
        self._jobs = 0
        self._work = ("", "", 0)
        self._place: _Place | None = None
        self._thread: threading.Thread | None = None

    def __call__(self, done: int, count: int) -> None:
        """Take a report, on the thread that works."""
        now = time.perf_counter()
        if now - self._last > _SILENCE:
            self._begin, self._jobs = now, 0
        share = min(done / max(count, 1), 1.0)
        self._jobs += share < self._share
        self._last, self._share, self._work = now, share, _core.current_work()
        is_drawn = self._thread is not None and self._thread.is_alive()
        if now - self._begin >= _WAIT and not (is_drawn or Watch.hidden):
            self._place = _place()
            self._thread = threading.Thread(target=self._draw, args=[self._place], daemon=True)
            self._thread.start()

    def _draw(self, place: _Place) -> None:
        while (now := time.perf_counter()) - self._last < _SILENCE and not Watch.hidden:
            share = self._share if self._jobs < _FEW_JOBS else None
            place.show(f"{_bar(share)} {now - self._begin:.1f} s{self._facts()}")
            time.sleep(0.1)
        place.erase()

    def _facts(self) -> str:
        operator, line, rows = self._work
        facts = [f"{operator} at {line}" if line else operator]
        facts.append(f"{rows:,} rows" if rows else "")
        facts.append(f"{_core.format_bytes(_core.memory_statistics().used_bytes)} in memory")
        disk = _core.spill_statistics()[0]
        facts.append(f"{_core.format_bytes(disk)} on disk" if disk else "")
        facts.append("interrupt the kernel to stop" if _in_notebook() else "Ctrl-C stops it")
        return "".join(f" · {fact}" for fact in facts if fact)


def watch() -> None:
    """Show the engine's long work where it can be seen."""
    if _is_seen():
        _core.set_progress(Watch())


watch()
