# SPDX-License-Identifier: Apache-2.0
"""Adaptors over a resource: limits, logs, statistics, faults and others."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from headrace import _core
from headrace.errors import InvalidArgumentError
from headrace.memory.log import MemoryEvent
from headrace.memory.resources import Resource, bytes_of, upstream_of


class ResourceStatistics(NamedTuple):
    """Counts of a `StatisticsAdaptor`."""

    used_bytes: int  #: of live blocks
    peak_bytes: int  #: peak of the bytes in use
    live_blocks: int
    allocations: int  #: blocks allocated
    allocated_bytes: int  #: sum of their sizes
    failures: int  #: requests that upstream refused


class LiveBlock(NamedTuple):
    """A block that has not been freed yet."""

    pointer: int
    bytes: int
    op: str
    line: str


class LimitAdaptor(_core.LimitAdaptor):
    """Refuses requests that would bring the live bytes of this resource over a limit.

    `limit` is the global budget; this adaptor limits a part of the program.

    Parameters
    ----------
    upstream : Resource, optional
        The resource below; the current one by default.
    limit_bytes : int or str
        The limit.

    >>> limit = hr.memory.LimitAdaptor(limit_bytes="64MB")
    >>> limit.describe()
    'limit(64.0 MB) over pool over system'
    >>> limit.allocate(65_000_000)
    Traceback (most recent call last):
    ...
    headrace.OutOfMemoryError: limit_adaptor: out of memory: requested=65.0 MB, ...
    """

    def __init__(self, upstream: Resource | None = None, limit_bytes: int | str = 0) -> None:
        super().__init__(upstream_of(upstream), bytes_of(limit_bytes))


class RateLimitAdaptor(_core.RateLimitAdaptor):
    """Limits the average rate in bytes per second: to simulate a slow tier.

    A request waits until earlier ones are paid for.

    Parameters
    ----------
    upstream : Resource, optional
        The resource below; the current one by default.
    bytes_per_second : int or str
        The rate.

    >>> slow = hr.memory.RateLimitAdaptor(bytes_per_second="1GB")
    >>> slow.waited_seconds
    0.0
    """

    def __init__(
        self, upstream: Resource | None = None, bytes_per_second: int | str = 10**9
    ) -> None:
        super().__init__(upstream_of(upstream), bytes_of(bytes_per_second))

    @property
    def waited_seconds(self) -> float:
        """How long requests have waited, summed over all threads."""
        return self.waited_ns * 1e-9


class AlignAdaptor(_core.AlignAdaptor):
    """Aligns blocks beyond what the resource below supports.

    Parameters
    ----------
    upstream : Resource, optional
        The resource below; the current one by default.
    alignment : int
        A power of two.
    from_bytes : int or str
        Smaller blocks are not aligned.

    >>> align = hr.memory.AlignAdaptor(alignment=4096)
    >>> pointer = align.allocate(100)
    >>> pointer % 4096
    0
    >>> align.deallocate(pointer, 100)
    """

    def __init__(
        self,
        upstream: Resource | None = None,
        alignment: int = 4096,
        from_bytes: int | str = 0,
    ) -> None:
        if alignment < 1:
            raise InvalidArgumentError(
                f"align_adaptor: the alignment is not a power of two: alignment={alignment}"
            )
        super().__init__(upstream_of(upstream), alignment, bytes_of(from_bytes))


class PressureAdaptor(_core.PressureAdaptor):
    """Asks a Python function to free something when the resource below is out of memory.

    Parameters
    ----------
    upstream : Resource
        The resource below.
    callback : callable
        ``callback(bytes)`` returns whether it freed something; the request is retried as long as it
        does. An exception becomes an error of the requesting operator. It is not called
        recursively, nor at interpreter exit.

    >>> limit = hr.memory.LimitAdaptor(limit_bytes=1000)
    >>> held = [limit.allocate(800)]
    >>> def let_go(size):
    ...     return bool(held) and limit.deallocate(held.pop(), 800) is None
    >>> pressure = hr.memory.PressureAdaptor(limit, let_go)
    >>> pressure.deallocate(pressure.allocate(900), 900)
    """

    def __init__(self, upstream: Resource, callback: Callable[[int], object]) -> None:
        super().__init__(upstream, callback)


class FaultAdaptor(_core.FaultAdaptor):
    """Fails requests on purpose, to test how a program recovers.

    Parameters
    ----------
    upstream : Resource, optional
        The resource below; the current one by default.
    first : int
        The request that fails, counted from 1; 0 for none.
    for_ever : bool
        All requests after it fail too.
    probability : float
        Probability that a request fails.
    seed : int
        Seed of the choice; equal seeds fail the same requests.

    >>> fault = hr.memory.FaultAdaptor(first=1)
    >>> with hr.memory.use_resource(fault):
    ...     hr.signal.ricker(1000, 5.0).to_numpy()
    Traceback (most recent call last):
    ...
    headrace.OutOfMemoryError: fault_adaptor: made to fail: request=1, bytes=8000...
    >>> fault.faults
    1
    """

    def __init__(
        self,
        upstream: Resource | None = None,
        *,
        first: int = 0,
        for_ever: bool = False,
        probability: float = 0.0,
        seed: int = 0,
    ) -> None:
        super().__init__(upstream_of(upstream), first, for_ever, probability, seed)


class DelayAdaptor(_core.DelayAdaptor):
    """Waits before each allocation and each free.

    Parameters
    ----------
    upstream : Resource, optional
        The resource below; the current one by default.
    allocate_seconds, deallocate_seconds : float
        Delay in seconds.

    >>> delay = hr.memory.DelayAdaptor(allocate_seconds=0.001)
    >>> delay.deallocate(delay.allocate(100), 100)
    """

    def __init__(
        self,
        upstream: Resource | None = None,
        allocate_seconds: float = 0.0,
        deallocate_seconds: float = 0.0,
    ) -> None:
        super().__init__(
            upstream_of(upstream), round(allocate_seconds * 1e9), round(deallocate_seconds * 1e9)
        )


class StatisticsAdaptor(_core.StatisticsAdaptor):
    """Counts allocations of a part of the program; `stats` covers the whole process.

    Parameters
    ----------
    upstream : Resource, optional
        The resource below; the current one by default.

    >>> counting = hr.memory.StatisticsAdaptor()
    >>> counting.deallocate(counting.allocate(100), 100)
    >>> counting.read().peak_bytes
    100
    """

    def __init__(self, upstream: Resource | None = None) -> None:
        super().__init__(upstream_of(upstream))

    def read(self) -> ResourceStatistics:
        """Read the counts.

        Returns
        -------
        ResourceStatistics
            Used bytes and their peak are exact at every instant.
        """
        return ResourceStatistics(*super().read())


class LogAdaptor(_core.LogAdaptor):
    """Keeps the latest events of this resource.

    Parameters
    ----------
    upstream : Resource, optional
        The resource below; the current one by default.
    capacity : int
        How many events are kept.

    >>> log = hr.memory.LogAdaptor()
    >>> log.deallocate(log.allocate(100), 100)
    >>> [event.action for event in log.events()]
    ['allocate', 'free']
    """

    def __init__(self, upstream: Resource | None = None, capacity: int = 65536) -> None:
        super().__init__(upstream_of(upstream), capacity)

    def events(self) -> list[MemoryEvent]:  # type: ignore[override]
        """List the events, oldest first.

        Returns
        -------
        list of MemoryEvent
            Bytes as requested.
        """
        return [MemoryEvent(*event) for event in super().events()]


class TrackAdaptor(_core.TrackAdaptor):
    """Tracks every live block with the operator and line that requested it.

    Parameters
    ----------
    upstream : Resource, optional
        The resource below; the current one by default.

    >>> track = hr.memory.TrackAdaptor()
    >>> with hr.memory.use_resource(track):
    ...     x = hr.signal.ricker(1000, 5.0).to_numpy()
    >>> [(block.bytes, block.op) for block in track.live_blocks()]
    [(8000, 'ricker')]
    """

    def __init__(self, upstream: Resource | None = None) -> None:
        super().__init__(upstream_of(upstream))

    def live_blocks(self) -> list[LiveBlock]:  # type: ignore[override]
        """List the live blocks, oldest first.

        Returns
        -------
        list of LiveBlock
            With the operator and line that requested them.
        """
        return [LiveBlock(*block) for block in super().live_blocks()]
