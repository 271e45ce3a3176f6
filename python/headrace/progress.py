# SPDX-License-Identifier: Apache-2.0
"""One-line progress bars; they write nothing unless stderr is a terminal or a notebook."""

from __future__ import annotations

import sys
import threading
import time
from typing import Self

from headrace import _core

_WIDTH = 24
#: Seconds without reports after which work has ended, and after which its bar begins.
_SILENCE, _WAIT = 1.0, 2.0
_FEW_JOBS = 3


def _is_seen() -> bool:
    return sys.stderr is not None and (sys.stderr.isatty() or "ipykernel" in sys.modules)


def _show(share: float | None, words: str) -> None:
    filled = round((share or 0.0) * _WIDTH)
    bar = "working" if share is None else "█" * filled + "░" * (_WIDTH - filled)
    sys.stderr.write(f"\r{bar} {words}\033[K")
    sys.stderr.flush()


def _erase() -> None:
    sys.stderr.write("\r\033[K")
    sys.stderr.flush()


class Progress:
    """Counts steps on stderr, and shows the seconds of the running one; begins after `wait` s."""

    def __init__(self, steps: int, wait: float = 0.0) -> None:
        self._steps, self._wait = steps, wait
        self._done = -1
        self._share = 0.0
        self._name = ""
        self._begin = time.perf_counter()
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._draw, daemon=True)

    def __enter__(self) -> Self:
        if _is_seen():
            Watch.hidden += 1
            self._thread.start()
        return self

    def __exit__(self, *args: object) -> None:
        if self._thread.is_alive():
            self._stop.set()
            self._thread.join()
            Watch.hidden -= 1
            _erase()

    def step(self, name: str) -> None:
        """Go on to the next step."""
        self._done += 1
        self._share, self._name, self._begin = 0.0, name, time.perf_counter()

    def update(self, share: float) -> None:
        """Set how much of the current step is done."""
        self._share = share

    def _draw(self) -> None:
        if self._stop.wait(self._wait):
            return
        while not self._stop.wait(0.1):
            seconds = time.perf_counter() - self._begin
            _show((max(self._done, 0) + self._share) / self._steps, f"{self._name} {seconds:.1f} s")


class Watch:
    """A bar for whatever the engine takes over two seconds for: `done` of `count` in its reports.

    Work of many long jobs, each with reports of its own, only shows its seconds.
    """

    #: How many bars with names of their own are shown.
    hidden = 0

    def __init__(self) -> None:
        self._begin = self._last = self._share = 0.0
        self._jobs = 0
        self._thread: threading.Thread | None = None

    def __call__(self, done: int, count: int) -> None:
        """Take a report."""
        now = time.perf_counter()
        if now - self._last > _SILENCE:
            self._begin, self._jobs = now, 0
        share = min(done / max(count, 1), 1.0)
        self._jobs += share < self._share
        self._last, self._share = now, share
        is_drawn = self._thread is not None and self._thread.is_alive()
        if now - self._begin >= _WAIT and not (is_drawn or Watch.hidden):
            self._thread = threading.Thread(target=self._draw, daemon=True)
            self._thread.start()

    def _draw(self) -> None:
        while (now := time.perf_counter()) - self._last < _SILENCE and not Watch.hidden:
            share = self._share if self._jobs < _FEW_JOBS else None
            _show(share, f"{now - self._begin:.1f} s")
            time.sleep(0.1)
        _erase()


def watch() -> None:
    """Show the engine's long work where it can be seen."""
    if _is_seen():
        _core.set_progress(Watch())
