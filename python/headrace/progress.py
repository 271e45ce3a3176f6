# SPDX-License-Identifier: Apache-2.0
"""A one-line progress bar; writes nothing unless stderr is a terminal."""

from __future__ import annotations

import sys
import threading
import time
from typing import Self

_WIDTH = 24


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
        if sys.stderr.isatty():
            self._thread.start()
        return self

    def __exit__(self, *args: object) -> None:
        if self._thread.is_alive():
            self._stop.set()
            self._thread.join()
            sys.stderr.write("\r\033[K")
            sys.stderr.flush()

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
            filled = round((max(self._done, 0) + self._share) / self._steps * _WIDTH)
            bar = "█" * filled + "░" * (_WIDTH - filled)
            seconds = time.perf_counter() - self._begin
            sys.stderr.write(f"\r{bar} {self._name} {seconds:.1f} s\033[K")
            sys.stderr.flush()
