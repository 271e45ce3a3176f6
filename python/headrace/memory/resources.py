# SPDX-License-Identifier: Apache-2.0
"""Where memory comes from: resources, what stands over them, and which one is current."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Literal, NamedTuple, get_args

from headrace import _core
from headrace.errors import InvalidArgumentError
from headrace.memory.log import MemoryEvent

if TYPE_CHECKING:
    from headrace.array import Array
    from headrace.series import Series

Resource = _core.Resource


class ResourceStatistics(NamedTuple):
    """What passed a `StatisticsAdaptor`."""

    used_bytes: int  #: of live blocks
    peak_bytes: int  #: the most that was ever used
    live_blocks: int
    allocations: int  #: blocks that were given
    allocated_bytes: int  #: their sizes summed
    failures: int  #: requests that upstream refused


class LiveBlock(NamedTuple):
    """A block that is not back yet."""

    pointer: int
    bytes: int
    op: str
    line: str


def _bytes_of(size: int | str) -> int:
    return _core.parse_bytes(size) if isinstance(size, str) else size


def _upstream(upstream: Resource | None) -> Resource:
    return current_resource() if upstream is None else upstream


def system_resource() -> Resource:
    """Give the resource that asks the system itself.

    Returns
    -------
    Resource
        Large blocks are aligned and advised for huge pages.

    Examples
    --------
    >>> import headrace as hr
    >>> hr.memory.system_resource().describe()
    'system'
    """
    return _core.system_resource()


def managed_resource(device: int = 0) -> Resource:
    """Give the resource of CUDA's managed memory: pages that move between the host and a GPU.

    For those who ask for it: `hr.memory.limit` with ``device="cuda"`` moves whole results ahead of
    need, where managed memory moves pages when somebody touches them. New blocks are fetched to the
    GPU at once, and are charged to its budget.

    Parameters
    ----------
    device : int
        The GPU that the memory prefers.

    Returns
    -------
    Resource
        For `use_resource`. A request beyond what the card has free is refused with
        `OutOfMemoryError`.

    Raises
    ------
    DeviceError
        Where there is no such GPU.

    See Also
    --------
    prefetch, advise

    Examples
    --------
    >>> import headrace as hr
    >>> with hr.memory.use_resource(hr.memory.managed_resource()):  # doctest: +SKIP
    ...     x = hr.eval(hr.asarray([1.0, 2.0]).to("cuda"))
    """
    return _core.managed_resource(device)


def prefetch(x: Array | Series, device: str) -> None:
    """Move the pages of managed memory to ``"cuda"`` or ``"cpu"`` ahead of use.

    Parameters
    ----------
    x : Array or Series
        Made while a `managed_resource` was in use.
    device : str
        Where to. The call returns at once; work of the GPU comes behind it.

    Examples
    --------
    >>> hr.memory.prefetch(x, "cuda")  # doctest: +SKIP
    """
    _core.prefetch_managed(x._value_there(), device)


Advice = Literal[
    "read_mostly", "not_read_mostly", "preferred", "not_preferred", "accessed", "not_accessed"
]


def advise(x: Array | Series, advice: Advice, by: str = "cuda") -> None:
    """Tell CUDA how managed memory will be used.

    Parameters
    ----------
    x : Array or Series
        Made while a `managed_resource` was in use.
    advice : str
        ``"read_mostly"``: readers get copies; ``"preferred"``: pages stay with `by`;
        ``"accessed"``: `by` reads them where they are. With ``"not_"`` in front it is taken back.
    by : str
        ``"cuda"`` or ``"cpu"``.

    Examples
    --------
    >>> hr.memory.advise(x, "read_mostly")  # doctest: +SKIP
    """
    known = get_args(Advice)
    if advice not in known:
        raise InvalidArgumentError(
            f"advise: no such advice: advice={advice!r}; use one of {', '.join(known)}"
        )
    _core.advise_managed(x._value_there(), known.index(advice) + 1, by)


def current_resource() -> Resource:
    """Give the resource that new buffers of this thread come from.

    Returns
    -------
    Resource
        That of the innermost `use_resource` block of this thread, else the one set for the
        process, else the pool over the system.

    Examples
    --------
    >>> import headrace as hr
    >>> hr.memory.current_resource().describe()
    'pool over system'
    """
    return _core.current_resource()


def set_current_resource(resource: Resource) -> None:
    """Set the resource that new buffers of all threads come from.

    Buffers that live keep the resource that made them, so it may be changed at any time.

    Parameters
    ----------
    resource : Resource
        Any resource, or a stack of adaptors over one.

    Examples
    --------
    >>> import headrace as hr
    >>> before = hr.memory.current_resource()
    >>> hr.memory.set_current_resource(hr.memory.LimitAdaptor(before, "1GB"))
    >>> hr.memory.set_current_resource(before)
    """
    _core.set_current_resource(resource)


class use_resource:  # noqa: N801
    """Take new buffers from a resource inside of a ``with`` block.

    It holds for the thread that enters the block and for the workers of the jobs that it starts:
    for what *runs* in the block, so force deferred values inside of it. Blocks nest.

    Parameters
    ----------
    resource : Resource
        Any resource, or a stack of adaptors over one.

    Examples
    --------
    >>> import headrace as hr
    >>> counting = hr.memory.StatisticsAdaptor()
    >>> with hr.memory.use_resource(counting):
    ...     x = hr.signal.ricker(1000, 5.0).to_numpy()
    >>> counting.read().used_bytes
    8000
    """

    def __init__(self, resource: Resource) -> None:
        self.resource = resource
        self._scope = _core.ResourceScope(resource)

    def __enter__(self) -> Resource:
        self._scope.enter()
        return self.resource

    def __exit__(self, *args: object) -> None:
        self._scope.exit()


class PoolResource(_core.PoolResource):
    """A pool of its own: freed blocks wait in size classes for the next request.

    When upstream refuses, waiting blocks go back and it is asked again. What waits counts as
    ``cached_bytes`` in `stats`, and `trim` gives it back.

    Parameters
    ----------
    upstream : Resource, optional
        Where new blocks come from; the system if none is given.
    most_cached : int or str
        How many bytes may wait.

    Examples
    --------
    >>> import headrace as hr
    >>> pool = hr.memory.PoolResource(most_cached="64MB")
    >>> pool.deallocate(pool.allocate(1000), 1000)
    >>> pool.cached_bytes
    1024
    """

    def __init__(self, upstream: Resource | None = None, most_cached: int | str = 2**30) -> None:
        super().__init__(
            system_resource() if upstream is None else upstream, _bytes_of(most_cached)
        )


class FixedSizeResource(_core.FixedSizeResource):
    """Blocks of one size, cut from slabs; larger requests go upstream.

    Parameters
    ----------
    upstream : Resource, optional
        Where slabs come from; the current resource if none is given.
    block_bytes : int or str
        Size of a block, rounded up to a multiple of 64.
    blocks_in_slab : int
        How many blocks are taken from upstream at once.

    Examples
    --------
    >>> import headrace as hr
    >>> fixed = hr.memory.FixedSizeResource(block_bytes="1MiB", blocks_in_slab=4)
    >>> fixed.deallocate(fixed.allocate(1000), 1000)
    >>> fixed.cached_bytes == 4 * 2**20
    True
    """

    def __init__(
        self,
        upstream: Resource | None = None,
        block_bytes: int | str = 2**20,
        blocks_in_slab: int = 128,
    ) -> None:
        super().__init__(_upstream(upstream), _bytes_of(block_bytes), blocks_in_slab)


class BinningResource(_core.BinningResource):
    """Sends each request to the first bin whose blocks are large enough, else upstream.

    Parameters
    ----------
    upstream : Resource, optional
        For what fits no bin; the current resource if none is given.
    bins : sequence of (int or str, Resource or None)
        The largest request of each bin and its resource; None makes a `FixedSizeResource` of that
        size over upstream.

    Examples
    --------
    >>> import headrace as hr
    >>> binning = hr.memory.BinningResource(bins=[("4KiB", None), ("64KiB", None)])
    >>> binning.describe()
    'binning(2 bins) over pool over system'
    """

    def __init__(
        self,
        upstream: Resource | None = None,
        bins: Sequence[tuple[int | str, Resource | None]] = (),
    ) -> None:
        base = _upstream(upstream)
        sizes = [(_bytes_of(size), resource) for size, resource in bins]
        super().__init__(
            base,
            [
                (size, FixedSizeResource(base, size) if resource is None else resource)
                for size, resource in sizes
            ],
        )


class CallbackResource(_core.CallbackResource):
    """Python functions as a resource.

    They are called from any thread that needs memory, one at a time as Python does. What
    ``allocate`` raises becomes an error of the operator that asked, with the exception's type and
    text (`OutOfMemoryError` for a MemoryError, else `InvalidArgumentError`); what ``deallocate``
    raises goes to `sys.unraisablehook`. Neither is called when the interpreter ends.

    Parameters
    ----------
    allocate : callable
        ``allocate(bytes, alignment)`` returns an address, or None when there is no memory.
    deallocate : callable
        ``deallocate(address, bytes, alignment)``.

    Examples
    --------
    >>> import headrace as hr
    >>> system = hr.memory.system_resource()
    >>> seen = []
    >>> def allocate(size, alignment):
    ...     seen.append(size)
    ...     return system.allocate(size, alignment)
    >>> resource = hr.memory.CallbackResource(allocate, system.deallocate)
    >>> with hr.memory.use_resource(resource):
    ...     x = hr.signal.ricker(1000, 5.0).to_numpy()
    >>> seen
    [8000]
    """

    def __init__(
        self,
        allocate: Callable[[int, int], int | None],
        deallocate: Callable[[int, int, int], object],
    ) -> None:
        super().__init__(allocate, deallocate)


class LimitAdaptor(_core.LimitAdaptor):
    """Refuses what would bring the live bytes of this resource over a limit.

    The budget over all is `limit`; this one is for a part.

    Parameters
    ----------
    upstream : Resource, optional
        The resource below; the current one if none is given.
    limit_bytes : int or str
        The limit.

    Examples
    --------
    >>> import headrace as hr
    >>> limit = hr.memory.LimitAdaptor(limit_bytes="64MB")
    >>> limit.describe()
    'limit(64.0 MB) over pool over system'
    >>> limit.allocate(65_000_000)
    Traceback (most recent call last):
    ...
    headrace.OutOfMemoryError: limit_adaptor: out of memory: requested=65.0 MB, ...
    """

    def __init__(self, upstream: Resource | None = None, limit_bytes: int | str = 0) -> None:
        super().__init__(_upstream(upstream), _bytes_of(limit_bytes))


class RateLimitAdaptor(_core.RateLimitAdaptor):
    """Lets at most so many bytes a second pass, on average: to see what a slow tier would do.

    A request waits until those before it are paid for.

    Parameters
    ----------
    upstream : Resource, optional
        The resource below; the current one if none is given.
    bytes_per_second : int or str
        The rate.

    Examples
    --------
    >>> import headrace as hr
    >>> slow = hr.memory.RateLimitAdaptor(bytes_per_second="1GB")
    >>> slow.waited_seconds
    0.0
    """

    def __init__(
        self, upstream: Resource | None = None, bytes_per_second: int | str = 10**9
    ) -> None:
        super().__init__(_upstream(upstream), _bytes_of(bytes_per_second))

    @property
    def waited_seconds(self) -> float:
        """How long requests have waited, all threads summed."""
        return self.waited_ns * 1e-9


class AlignAdaptor(_core.AlignAdaptor):
    """Gives blocks an alignment that the resource below need not know.

    Parameters
    ----------
    upstream : Resource, optional
        The resource below; the current one if none is given.
    alignment : int
        A power of two.
    from_bytes : int or str
        Smaller blocks stay as they are.

    Examples
    --------
    >>> import headrace as hr
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
                f"align_adaptor: the alignment is no power of two: alignment={alignment}"
            )
        super().__init__(_upstream(upstream), alignment, _bytes_of(from_bytes))


class PressureAdaptor(_core.PressureAdaptor):
    """Asks a Python function to free something when the resource below is out of memory.

    Parameters
    ----------
    upstream : Resource
        The resource below.
    callback : callable
        ``callback(bytes)`` says whether it freed something; the request is made again as long as
        it does. What it raises becomes an error of the operator that asked. It is not called from
        within itself, and not when the interpreter ends.

    Examples
    --------
    >>> import headrace as hr
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
    """Fails requests on purpose, to see that a program gets over it.

    Parameters
    ----------
    upstream : Resource, optional
        The resource below; the current one if none is given.
    first : int
        The request that fails, counted from 1; 0 for none.
    for_ever : bool
        All requests after it fail too.
    probability : float
        With which each request fails.
    seed : int
        Decides which; equal seeds fail equal requests.

    Examples
    --------
    >>> import headrace as hr
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
        super().__init__(_upstream(upstream), first, for_ever, probability, seed)


class DelayAdaptor(_core.DelayAdaptor):
    """Waits before each request and before each block goes back.

    Parameters
    ----------
    upstream : Resource, optional
        The resource below; the current one if none is given.
    allocate_seconds, deallocate_seconds : float
        How long.

    Examples
    --------
    >>> import headrace as hr
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
            _upstream(upstream), round(allocate_seconds * 1e9), round(deallocate_seconds * 1e9)
        )


class StatisticsAdaptor(_core.StatisticsAdaptor):
    """Counts what passes: of a part of the program, where `stats` is of all.

    Parameters
    ----------
    upstream : Resource, optional
        The resource below; the current one if none is given.

    Examples
    --------
    >>> import headrace as hr
    >>> counting = hr.memory.StatisticsAdaptor()
    >>> counting.deallocate(counting.allocate(100), 100)
    >>> counting.read().peak_bytes
    100
    """

    def __init__(self, upstream: Resource | None = None) -> None:
        super().__init__(_upstream(upstream))

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
        The resource below; the current one if none is given.
    capacity : int
        How many events are kept.

    Examples
    --------
    >>> import headrace as hr
    >>> log = hr.memory.LogAdaptor()
    >>> log.deallocate(log.allocate(100), 100)
    >>> [event.action for event in log.events()]
    ['allocate', 'free']
    """

    def __init__(self, upstream: Resource | None = None, capacity: int = 65536) -> None:
        super().__init__(_upstream(upstream), capacity)

    def events(self) -> list[MemoryEvent]:  # type: ignore[override]
        """List the events, oldest first.

        Returns
        -------
        list of MemoryEvent
            Bytes are as asked for.
        """
        return [MemoryEvent(*event) for event in super().events()]


class TrackAdaptor(_core.TrackAdaptor):
    """Knows every live block with the operator and line that asked for it.

    Parameters
    ----------
    upstream : Resource, optional
        The resource below; the current one if none is given.

    Examples
    --------
    >>> import headrace as hr
    >>> track = hr.memory.TrackAdaptor()
    >>> with hr.memory.use_resource(track):
    ...     x = hr.signal.ricker(1000, 5.0).to_numpy()
    >>> [(block.bytes, block.op) for block in track.live_blocks()]
    [(8000, 'ricker')]
    """

    def __init__(self, upstream: Resource | None = None) -> None:
        super().__init__(_upstream(upstream))

    def live_blocks(self) -> list[LiveBlock]:  # type: ignore[override]
        """List the blocks that are not back, oldest first.

        Returns
        -------
        list of LiveBlock
            With the operator and line in force when they were asked for.
        """
        return [LiveBlock(*block) for block in super().live_blocks()]
