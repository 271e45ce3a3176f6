# SPDX-License-Identifier: Apache-2.0
"""Replay recorded logs on any resource: cost of allocations, and memory left unused."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from functools import partial
from typing import NamedTuple

from headrace import _core
from headrace.errors import Error, InvalidArgumentError, UnsupportedError
from headrace.memory.resources import Resource
from headrace.memory.tables import size_text

RESOURCES = ("pool", "system", "binning", "fixed_size")
_MOST_THREADS = 1024


class Replayed(NamedTuple):
    """The result of a replay."""

    path: str
    resource: str
    operations: int  #: allocations and frees
    threads: int  #: replaying threads
    seconds: float  #: median of the runs
    requested_peak_bytes: int
    held_peak_bytes: int  #: peak bytes from the system, without entirely free chunks
    cached_peak_bytes: int  #: peak including cached chunks
    free_bytes: int  #: at the end of the log
    largest_free_bytes: int  #: the largest request that these can serve
    refused: int  #: requests that the resource refused
    counts: dict[str, int]  #: of the log

    @property
    def ns_per_operation(self) -> float:
        """Time of one allocation or free."""
        return self.seconds * 1e9 / max(self.operations, 1)

    @property
    def peak_ratio(self) -> float:
        """Held over requested, at their peaks."""
        return self.held_peak_bytes / max(self.requested_peak_bytes, 1)

    @property
    def largest_free_share(self) -> float:
        """Largest free block over all free bytes; 1 if nothing is free."""
        return self.largest_free_bytes / self.free_bytes if self.free_bytes else 1.0

    def __str__(self) -> str:
        counts = self.counts
        lines = [
            f"{self.path} on {self.resource}, {self.threads} thread"
            + ("s" if self.threads > 1 else ""),
            f"  time          {self.seconds * 1e3:.3f} ms, {self.ns_per_operation:.0f} ns an "
            f"operation ({counts['allocations']:,} allocations, {counts['frees']:,} frees)",
            f"  peak          {size_text(self.held_peak_bytes)} held for "
            f"{size_text(self.requested_peak_bytes)} requested: {self.peak_ratio:.2f} "
            f"({size_text(self.cached_peak_bytes)} including cached blocks)",
            f"  fragmentation {size_text(self.largest_free_bytes)} of "
            f"{size_text(self.free_bytes)} free in one piece: {self.largest_free_share:.2f}",
        ]
        notes = [
            (self.refused, "requests refused by the resource"),
            (counts["failed"], "requests that failed in the log, skipped"),
            (counts["left"], "blocks never freed in the log, freed at the end"),
            (counts["unknown_frees"], "frees of blocks from before the log, skipped"),
            (counts["double_allocations"], "allocations of an address in use, freed first"),
            (counts["empty"], "zero-byte requests, skipped"),
        ]
        return "\n".join(lines + [f"  {count:,} {what}" for count, what in notes if count])


def replay(
    path: str | os.PathLike[str],
    resource: str | Callable[[Resource], Resource] = "pool",
    *,
    threads: bool = False,
    runs: int = 5,
) -> Replayed:
    """Replay a log of `hr.memory.log` or of RMM and measure it.

    Parameters
    ----------
    path : str or path-like
        The log; may be untrusted.
    resource : {"pool", "system", "binning", "fixed_size"} or callable
        A new resource over the system; or a function that builds one over a given resource:
        ``hr.memory.PoolResource``, or ``lambda system: hr.memory.LimitAdaptor(system, "1GB")``. It
        is called twice: to measure time, and to measure held memory.
    threads : bool
        Replay each thread's events on a thread of its own, in its order; a free waits for its
        allocation. Otherwise all events run in log order on one thread.
    runs : int
        Number of runs; the time is their median, after one warm-up run.

    Returns
    -------
    Replayed
        Its text is the report of ``headrace-replay``.

    Raises
    ------
    OSError
        If the file cannot be read or is not a log; with path, line and column.
    InvalidArgumentError
        If `resource` is unknown, or returns something else.
    """
    import statistics  # on first use: it loads much
    import threading

    name = os.fsdecode(path)
    log = _core.read_memory_log(name)
    steps = _core.Replay(log, threads)
    if steps.threads > _MOST_THREADS:
        raise UnsupportedError(
            f"replay: too many threads in the log: threads={steps.threads}, "
            f"limit={_MOST_THREADS}; pass threads=False"
        )
    make = partial(_core.replay_resource, resource) if isinstance(resource, str) else resource
    made = make(_core.system_resource())
    if not isinstance(made, Resource):
        raise InvalidArgumentError(
            f"replay: `resource` did not return a resource: type={type(made).__name__}; "
            "return one of hr.memory's resources or adaptors"
        )
    times = []
    for _ in range(max(runs, 1) + 1):
        others = [
            threading.Thread(target=steps.run, args=[made, k]) for k in range(1, steps.threads)
        ]
        for other in others:
            other.start()
        steps.run(made, 0)
        for other in others:
            other.join()
        times.append(steps.seconds)
        steps.finish(made)
    held, cached, free, largest = _core.replay_footprint(log, make)
    counts = steps.counts
    return Replayed(
        name,
        resource if isinstance(resource, str) else made.describe(),
        counts["allocations"] + counts["frees"],
        steps.threads,
        statistics.median(times[1:]),
        counts["requested_peak_bytes"],
        held,
        cached,
        free,
        largest,
        steps.refused,
        counts,
    )


def main(arguments: list[str] | None = None) -> int:
    """Run ``headrace-replay``."""
    import argparse

    parser = argparse.ArgumentParser(
        prog="headrace-replay",
        description="Replay a log of hr.memory.log or of RMM on a memory resource.",
    )
    parser.add_argument("log", nargs="+", help="CSV: Thread,Time,Action,Pointer,Size,Stream,...")
    parser.add_argument(
        "--resource", action="append", choices=RESOURCES, help="may be repeated; default: pool"
    )
    parser.add_argument(
        "--threads", action="store_true", help="replay each thread's events on its own thread"
    )
    parser.add_argument(
        "--runs", type=int, default=5, help="number of runs; the median time is reported"
    )
    options = parser.parse_args(arguments)
    for path in options.log:
        for resource in options.resource or ["pool"]:
            try:
                print(replay(path, resource, threads=options.threads, runs=options.runs))
            except Error as error:
                print(f"headrace-replay: {error}", file=sys.stderr)
                return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
