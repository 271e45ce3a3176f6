# SPDX-License-Identifier: Apache-2.0
"""What each step of a job costs: time, bandwidth, allocations, copies, memory."""

from __future__ import annotations

import contextlib
import threading
import time
from typing import TYPE_CHECKING, NamedTuple

from headrace import memory

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


class Step(NamedTuple):
    """One measured step."""

    name: str
    seconds: float
    rows: int
    moved: int  #: bytes that the step has to read and write at least
    allocations: int
    copied: int
    peak: int
    begin: float


def copy_bandwidth() -> float:
    """Bytes a second that a large copy reads and writes: the best of five."""
    import numpy as np

    source = np.ones(16 << 20)
    target = np.empty_like(source)
    best = float("inf")
    for _ in range(5):
        begin = time.perf_counter()
        np.copyto(target, source)
        best = min(best, time.perf_counter() - begin)
    return 2 * source.nbytes / best


class Meter:
    """Measures steps, and samples the used memory meanwhile."""

    def __init__(self) -> None:
        self.steps: list[Step] = []
        self.times: list[float] = []
        self.used: list[int] = []
        self.bandwidth = copy_bandwidth()
        self._start = time.perf_counter()
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._sample, daemon=True)
        self._thread.start()

    def _sample(self) -> None:
        stats = memory.stats()
        while not self._stop.wait(0.01):
            self.times.append(time.perf_counter() - self._start)
            self.used.append(stats.used_bytes)

    def close(self) -> None:
        """End the sampling."""
        self._stop.set()
        self._thread.join()

    @contextlib.contextmanager
    def step(self, name: str, rows: int = 0, moved: Callable[[], int] | None = None) -> Iterator[None]:
        """Measure the body as a step over `rows`; `moved` is asked at its end."""
        copied = memory.ledger().total_bytes
        begin = time.perf_counter()
        with memory.stats() as stats:
            yield
            seconds = time.perf_counter() - begin
            self.steps.append(
                Step(
                    name,
                    seconds,
                    rows,
                    moved() if moved else 0,
                    stats.allocations,
                    memory.ledger().total_bytes - copied,
                    stats.peak_bytes,
                    begin - self._start,
                )
            )

    def share(self, step: Step) -> float | None:
        """The step's least traffic as a share of what a copy moves in its time."""
        return step.moved / step.seconds / self.bandwidth if step.moved else None

    def table(self) -> tuple[list[str], list[list[object]]]:
        """Columns and rows for print and report."""
        columns = ["step", "time [s]", "rows/s", "of bandwidth", "allocations", "bytes copied", "peak [MB]"]
        rows: list[list[object]] = [
            [
                step.name,
                step.seconds,
                round(step.rows / step.seconds) if step.rows else None,
                self.share(step),
                step.allocations,
                step.copied,
                step.peak / 1e6,
            ]
            for step in self.steps
        ]
        return columns, rows

    def text(self) -> str:
        """The table for a terminal."""
        columns, rows = self.table()

        def cell(name: str, value: object) -> str:
            if value is None:
                return ""
            if name == "of bandwidth":
                return f"{value:.0%}"
            if isinstance(value, float):
                return f"{value:.3f}" if name == "time [s]" else f"{value:,.0f}"
            return f"{value:,}" if isinstance(value, int) else str(value)

        cells = [columns, *([cell(n, v) for n, v in zip(columns, row, strict=True)] for row in rows)]
        widths = [max(len(row[i]) for row in cells) for i in range(len(columns))]
        lines = [
            "  ".join(
                c.ljust(w) if i == 0 else c.rjust(w)
                for i, (c, w) in enumerate(zip(row, widths, strict=True))
            )
            for row in cells
        ]
        return "\n".join([lines[0], "-" * len(lines[0]), *lines[1:]])
