# SPDX-License-Identifier: Apache-2.0
"""The cost of each step of a job: time, bandwidth, allocations, copies, memory."""

from __future__ import annotations

import contextlib
import threading
import time
from typing import TYPE_CHECKING, NamedTuple

from headrace import memory
from headrace.settings import threads

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import numpy as np
    import numpy.typing as npt


class Step(NamedTuple):
    """One measured step."""

    name: str
    seconds: float
    rows: int
    moved: int  #: the least bytes that the step must read and write
    allocations: int
    copied: int
    peak: int
    begin: float


def copy_bandwidth() -> float:
    """Bytes per second read and written by a large copy on all threads: best of five."""
    from concurrent.futures import ThreadPoolExecutor

    import numpy as np

    count = threads()
    source = np.ones((count, (16 << 20) // count))
    target = np.empty_like(source)
    best = float("inf")
    with ThreadPoolExecutor(count) as pool:
        for _ in range(5):
            begin = time.perf_counter()
            list(pool.map(np.copyto, target, source))
            best = min(best, time.perf_counter() - begin)
    return 2 * source.nbytes / best


class Meter:
    """Measures steps and samples the memory in use meanwhile."""

    def __init__(self) -> None:
        self.steps: list[Step] = []
        self._times: list[float] = []
        self._used: list[int] = []
        self.bandwidth: float = copy_bandwidth()
        self._start = time.perf_counter()
        self._lock = threading.Lock()
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._sample, daemon=True)
        self._thread.start()

    def _sample(self) -> None:
        while not self._stop.wait(0.002):
            self._look()

    def _look(self) -> None:
        used = memory.stats().used_bytes
        with self._lock:
            self._times.append(time.perf_counter() - self._start)
            self._used.append(used)

    def close(self) -> None:
        """End the sampling."""
        self._stop.set()
        self._thread.join()

    def samples(self) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
        """Seconds since the start, and the bytes in use at those times."""
        import numpy as np

        with self._lock:
            return np.array(self._times), np.array(self._used, dtype=np.float64)

    @contextlib.contextmanager
    def step(
        self,
        name: str,
        rows: Callable[[], int] = lambda: 0,
        moved: Callable[[], int] = lambda: 0,
    ) -> Iterator[None]:
        """Measure the body as a step; `rows` and `moved` are called at its end."""
        copied = memory.ledger().total_bytes
        self._look()
        begin = time.perf_counter()
        with memory.stats() as stats:
            yield
            seconds = time.perf_counter() - begin
            self.steps.append(
                Step(
                    name,
                    seconds,
                    rows(),
                    moved(),
                    stats.allocations,
                    memory.ledger().total_bytes - copied,
                    stats.peak_bytes,
                    begin - self._start,
                )
            )
        self._look()

    def share(self, step: Step) -> float | None:
        """The step's least traffic as a share of what a copy moves in the same time."""
        return step.moved / step.seconds / self.bandwidth if step.moved else None

    def table(self) -> tuple[list[str], list[list[object]]]:
        """Columns and rows for terminal and report, in step order."""
        columns = [
            "step",
            "time [s]",
            "rows/s",
            "of bandwidth",
            "allocations",
            "bytes copied",
            "peak [MB]",
        ]
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
            for step in sorted(self.steps, key=lambda step: step.name.partition(" ")[0])
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

        cells = [
            columns,
            *([cell(n, v) for n, v in zip(columns, row, strict=True)] for row in rows),
        ]
        widths = [max(len(row[i]) for row in cells) for i in range(len(columns))]
        lines = [
            "  ".join(
                c.ljust(w) if i == 0 else c.rjust(w)
                for i, (c, w) in enumerate(zip(row, widths, strict=True))
            )
            for row in cells
        ]
        return "\n".join([lines[0], "-" * len(lines[0]), *lines[1:]])
