# SPDX-License-Identifier: Apache-2.0
"""The memory budget, statistics, and trimming."""

from __future__ import annotations

import sys
from types import EllipsisType
from typing import overload

from headrace import _core
from headrace.errors import InvalidArgumentError
from headrace.memory.tables import html_table, size_text
from headrace.settings import Setting


def bytes_of(size: int | str | None) -> int:
    """A size in bytes, given as a number or a string."""
    if size is None:
        return sys.maxsize
    if isinstance(size, str):
        return _core.parse_bytes(size)
    if size < 0:
        raise InvalidArgumentError(f"limit: the size is negative: bytes={size}; expected 0 or more")
    return size


class Limit(Setting[int]):
    """A budget that was just set; as a context manager it restores the previous one."""

    def __repr__(self) -> str:
        return f"memory limit: {size_text(self.value)}"


@overload
def limit(*, device: str = "cpu") -> int | None: ...
@overload
def limit(size: int | str | None, *, device: str = "cpu") -> Limit: ...
def limit(
    size: int | str | EllipsisType | None = ..., *, device: str = "cpu"
) -> int | Limit | None:
    """Return or set the memory budget of Headrace.

    The initial value comes from ``HEADRACE_MEMORY_LIMIT``. The budget holds at all times. To make
    room for a new result others are spilled to disk (`hr.memory.spill`); if that is not enough,
    `OutOfMemoryError` names the largest holders and the state is unchanged.

    Parameters
    ----------
    size : int or str or None, optional
        Bytes, or a string such as ``"2GB"`` (2 * 10**9) or ``"2GiB"`` (2 * 2**30); None removes the
        limit.
    device : str
        ``"cuda"`` for the budget of a GPU, over our arrays and those of the libraries of `use_for`.
        To make room for a new result others move to pinned host memory.

    Returns
    -------
    int or None or Limit
        The current budget (None: unlimited) if called without a size, else a setting that a
        ``with`` block restores.

    >>> with hr.memory.limit("2GB"):
    ...     hr.memory.limit()
    2000000000
    """
    present = _core.memory_limit(device)
    if isinstance(size, EllipsisType):
        return None if present == sys.maxsize else present

    def apply(bytes_: int) -> None:
        _core.set_memory_limit(bytes_, device)

    return Limit("memory limit", bytes_of(size), present, apply)


class Statistics:
    """Bytes and events of the process, or of a ``with`` block once entered."""

    _FIELDS = (
        "used_bytes",
        "peak_bytes",
        "cached_bytes",
        "external_bytes",
        "foreign_bytes",
        "limit_bytes",
        "allocations",
        "allocated_bytes",
    )

    def __init__(self) -> None:
        self._scope: _core.StatisticsScope | None = None
        self._read = _core.memory_statistics()

    def __enter__(self) -> Statistics:
        self._scope = _core.StatisticsScope()
        self._scope.__enter__()
        return self

    def __exit__(self, *args: object) -> None:
        if self._scope is not None:
            self._read = self._scope.read()
            self._scope.__exit__()
            self._scope = None

    def _now(self) -> _core.MemoryStatistics:
        return self._read if self._scope is None else self._scope.read()

    @property
    def used_bytes(self) -> int:
        """Held by live buffers."""
        return self._now().used_bytes

    @property
    def peak_bytes(self) -> int:
        """The peak of the bytes in use."""
        return self._now().peak_bytes

    @property
    def cached_bytes(self) -> int:
        """Free in pools; `trim` returns them to the system."""
        return self._now().cached_bytes

    @property
    def external_bytes(self) -> int:
        """Of the used bytes, those that other libraries allocated (`use_for`)."""
        return self._now().external_bytes

    @property
    def foreign_bytes(self) -> int:
        """Borrowed from other libraries, not charged."""
        return self._now().foreign_bytes

    @property
    def limit_bytes(self) -> int | None:
        """The budget, or None."""
        limit_bytes = self._now().limit_bytes
        return None if limit_bytes == sys.maxsize else limit_bytes

    @property
    def allocations(self) -> int:
        """Buffers made."""
        return self._now().allocations

    @property
    def allocated_bytes(self) -> int:
        """Sizes of the buffers made, summed."""
        return self._now().allocated_bytes

    def _rows(self) -> list[tuple[str, str]]:
        now = self._now()
        return [
            (
                name,
                f"{now.allocations:,}" if name == "allocations" else size_text(getattr(now, name)),
            )
            for name in self._FIELDS
        ]

    def __repr__(self) -> str:
        return "\n".join(f"{name:<15}  {value}" for name, value in self._rows())

    def _repr_html_(self) -> str:
        return html_table(("statistic", "value"), self._rows())


def stats() -> Statistics:
    """Read the statistics of the process, or count within a ``with`` block.

    Returns
    -------
    Statistics
        As a context manager it counts allocations and the peak from entry on; it can be read inside
        and after the block.

    >>> with hr.memory.stats() as counted:
    ...     pass
    >>> counted.allocations
    0
    """
    return Statistics()


def trim() -> int:
    """Return cached memory to the system.

    Returns
    -------
    int
        The number of bytes returned.

    >>> hr.memory.trim() >= 0
    True
    """
    return _core.trim_memory()
