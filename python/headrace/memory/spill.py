# SPDX-License-Identifier: Apache-2.0
"""Spilling from memory to disk, and from a GPU to the host, under a limit."""

from __future__ import annotations

import os
from typing import NamedTuple

from headrace import _core
from headrace.memory.budget import bytes_of
from headrace.memory.tables import html_table, size_text


class DeviceSpill(NamedTuple):
    """Bytes offloaded from a GPU under its limit."""

    pinned_bytes: int  #: now in pinned host memory
    host_bytes: int  #: now in pageable host memory, or on disk
    evicted_bytes: int  #: moved off the GPU since process start
    copied_bytes: int  #: of these, bytes that had no copy on the host yet
    fetched_bytes: int  #: moved back


class Spill:
    """Where spilled bytes go, and what moved since process start; a snapshot.

    Attributes
    ----------
    directory : str
        Directory of the spill file, which is unnamed.
    limit_bytes : int
        The most that may be on disk; 0: spilling is off.
    disk_bytes : int
        Bytes on disk now.
    evicted_bytes, written_bytes, fetched_bytes : int
        Evicted from memory; of these, bytes that had no copy on disk yet; and read back.
    pinned_limit_bytes : int
        The most pinned host memory used for results offloaded from a GPU.
    devices : dict of str to DeviceSpill
        What moved between each GPU and the host.
    """

    disk_bytes: int
    evicted_bytes: int
    written_bytes: int
    fetched_bytes: int
    _FIELDS = ("disk_bytes", "evicted_bytes", "written_bytes", "fetched_bytes")

    def __init__(self) -> None:
        self.directory: str = _core.spill_directory()
        self.limit_bytes: int = _core.spill_limit()
        self.disk_bytes, self.evicted_bytes, self.written_bytes, self.fetched_bytes = (
            _core.spill_statistics()
        )
        self.pinned_limit_bytes: int = _core.pinned_limit()
        self.devices: dict[str, DeviceSpill] = {
            name: DeviceSpill(*_core.device_tier_statistics(name))
            for name in _core.devices_in_use()
        }
        self._former: tuple[str, int, int] | None = None

    def __enter__(self) -> Spill:
        return self

    def __exit__(self, *args: object) -> None:
        if self._former is not None:
            _core.set_spill_directory(self._former[0])
            _core.set_spill_limit(self._former[1])
            _core.set_pinned_limit(self._former[2])

    def _rows(self) -> list[tuple[str, str]]:
        sizes = [(name, size_text(getattr(self, name))) for name in ("limit_bytes", *self._FIELDS)]
        moved = [
            (f"{device} {name}", size_text(size))
            for device, spilled in self.devices.items()
            for name, size in zip(spilled._fields, spilled, strict=True)
        ]
        return [("directory", self.directory), *sizes, *moved]

    def __repr__(self) -> str:
        rows = self._rows()
        width = max(len(name) for name, _ in rows)
        return "\n".join(f"{name:<{width}}  {value}" for name, value in rows)

    def _repr_html_(self) -> str:
        return html_table(("spill", "value"), self._rows())


def spill(
    directory: str | os.PathLike[str] | None = None,
    limit: int | str | None = None,
    pinned: int | str | None = None,
) -> Spill:
    """Report what was spilled to disk, or set where to and how much.

    Under `hr.memory.limit`, results that no longer fit are spilled in chunks of up to 2 MiB,
    farthest next use first, and read back on use. Addresses and values do not change. Arrays below
    256 KiB (columns: 64 KiB), buffers in use, and memory of other libraries are never spilled.

    Under ``hr.memory.limit(size, device="cuda")`` results move from the GPU to pinned host memory,
    from there to pageable memory and disk, and return before they are read. Buffers whose address
    another library holds, and those below 64 KiB, stay.

    Parameters
    ----------
    directory : str or path-like, optional
        For future spills. Initially ``HEADRACE_SPILL_DIRECTORY``, else ``TMPDIR``, else ``/tmp``.
        The file is unnamed, so nothing is left behind when the process ends.
    limit : int or str, optional
        The most bytes on disk, as in `hr.memory.limit`; 0 turns spilling off. Initially
        ``HEADRACE_SPILL_LIMIT``, else 90 % of the free space there.
    pinned : int or str, optional
        The most pinned memory for results offloaded from a GPU; 0: pageable memory only. Initially
        ``HEADRACE_PINNED_LIMIT``, else a quarter of the machine's memory. Never more than a quarter
        of the host's limit is used.

    Returns
    -------
    Spill
        Settings and counters; as a context manager it restores the previous settings.

    Raises
    ------
    InputError
        If no file can be created in the directory; the settings are unchanged.

    >>> with hr.memory.spill(limit="1GB") as spilled:
    ...     spilled.limit_bytes
    1000000000
    """
    former = (_core.spill_directory(), _core.spill_limit(), _core.pinned_limit())
    if directory is not None:
        _core.set_spill_directory(os.fspath(directory))
    if limit is not None:
        _core.set_spill_limit(bytes_of(limit))
    if pinned is not None:
        _core.set_pinned_limit(bytes_of(pinned))
    result = Spill()
    result._former = former
    return result
