# SPDX-License-Identifier: Apache-2.0
"""Memory resources, and which one is current."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from headrace import _core

Resource = _core.Resource


def bytes_of(size: int | str) -> int:
    """Read a size like ``"2GiB"``."""
    return _core.parse_bytes(size) if isinstance(size, str) else size


def upstream_of(upstream: Resource | None) -> Resource:
    """Return the upstream of a new resource: the current one by default."""
    return current_resource() if upstream is None else upstream


def system_resource() -> Resource:
    """Return the resource that allocates from the system.

    Returns
    -------
    Resource
        Large blocks are aligned and advised for huge pages.

    >>> hr.memory.system_resource().describe()
    'system'
    """
    return _core.system_resource()


def current_resource() -> Resource:
    """Return the resource that new buffers of this thread come from.

    Returns
    -------
    Resource
        That of this thread's innermost `use_resource` block, else the one set for the process, else
        the pool over the system.

    >>> hr.memory.current_resource().describe()
    'pool over system'
    """
    return _core.current_resource()


def set_current_resource(resource: Resource) -> None:
    """Set the resource that new buffers of all threads come from.

    Live buffers keep the resource that made them, so it may be changed at any time.

    Parameters
    ----------
    resource : Resource
        Any resource, or a stack of adaptors over one.

    >>> before = hr.memory.current_resource()
    >>> hr.memory.set_current_resource(hr.memory.LimitAdaptor(before, "1GB"))
    >>> hr.memory.set_current_resource(before)
    """
    _core.set_current_resource(resource)


class use_resource:  # noqa: N801
    """Allocate new buffers from a resource inside a ``with`` block.

    It applies to the thread that enters the block and to the workers of its jobs: to what *runs* in
    the block, so evaluate lazy values inside it. Blocks nest.

    Parameters
    ----------
    resource : Resource
        Any resource, or a stack of adaptors over one.

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
    """A separate pool: freed blocks are cached in size classes for the next request.

    If upstream refuses, cached blocks are returned and the request is retried. Cached blocks count
    as ``cached_bytes`` in `stats`, and `trim` returns them.

    Parameters
    ----------
    upstream : Resource, optional
        Where new blocks come from; the system by default.
    most_cached : int or str
        How many bytes may be cached.

    >>> pool = hr.memory.PoolResource(most_cached="64MB")
    >>> pool.deallocate(pool.allocate(1000), 1000)
    >>> pool.cached_bytes
    1024
    """

    def __init__(self, upstream: Resource | None = None, most_cached: int | str = 2**30) -> None:
        super().__init__(system_resource() if upstream is None else upstream, bytes_of(most_cached))


class FixedSizeResource(_core.FixedSizeResource):
    """Blocks of one size, cut from slabs; larger requests go upstream.

    Parameters
    ----------
    upstream : Resource, optional
        Where slabs come from; the current resource by default.
    block_bytes : int or str
        Size of a block, rounded up to a multiple of 64.
    blocks_in_slab : int
        How many blocks are requested from upstream at once.

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
        super().__init__(upstream_of(upstream), bytes_of(block_bytes), blocks_in_slab)


class BinningResource(_core.BinningResource):
    """Sends each request to the first bin whose blocks are large enough, else upstream.

    Parameters
    ----------
    upstream : Resource, optional
        For requests beyond all bins; the current resource by default.
    bins : sequence of (int or str, Resource or None)
        The largest request of each bin and its resource; None makes a `FixedSizeResource` of that
        size over upstream.

    >>> binning = hr.memory.BinningResource(bins=[("4KiB", None), ("64KiB", None)])
    >>> binning.describe()
    'binning(2 bins) over pool over system'
    """

    def __init__(
        self,
        upstream: Resource | None = None,
        bins: Sequence[tuple[int | str, Resource | None]] = (),
    ) -> None:
        base = upstream_of(upstream)
        sizes = [(bytes_of(size), resource) for size, resource in bins]
        super().__init__(
            base,
            [
                (size, FixedSizeResource(base, size) if resource is None else resource)
                for size, resource in sizes
            ],
        )


class CallbackResource(_core.CallbackResource):
    """Python functions as a resource.

    They are called from any thread that needs memory, one at a time under the GIL. An exception of
    ``allocate`` becomes an error of the requesting operator, with its type and text
    (`OutOfMemoryError` for a MemoryError, else `InvalidArgumentError`); one of ``deallocate`` goes
    to `sys.unraisablehook`. Neither is called at interpreter exit.

    Parameters
    ----------
    allocate : callable
        ``allocate(bytes, alignment)`` returns an address, or None if there is no memory.
    deallocate : callable
        ``deallocate(address, bytes, alignment)``.

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
