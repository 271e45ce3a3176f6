# SPDX-License-Identifier: Apache-2.0
"""What leaves memory for the disk, and a GPU for the host, under a limit."""

from __future__ import annotations

import os
from typing import NamedTuple

from headrace import _core
from headrace.memory.budget import bytes_of
from headrace.memory.tables import html_table, size_text


class DeviceSpill(NamedTuple):
    """What left a GPU under its limit; bytes."""

    pinned_bytes: int  #: now in pinned memory of the host
    host_bytes: int  #: now in other memory of the host, or from there on the disk
    evicted_bytes: int  #: taken off the GPU since the process began
    copied_bytes: int  #: of these, what had no copy on the host yet
    fetched_bytes: int  #: brought back


class Spill:
    """Where spilled bytes go, and what moved since the process began; a snapshot.

    Attributes
    ----------
    directory : str
        Where the spill file is; it has no name there.
    limit_bytes : int
        The most that may lie on the disk; 0: spilling is off.
    disk_bytes : int
        What lies there now.
    evicted_bytes, written_bytes, fetched_bytes : int
        Taken out of memory; of these, what had no copy on the disk yet; and read back.
    pinned_limit_bytes : int
        The most pinned memory of the host that takes what leaves a GPU.
    devices : dict of str to DeviceSpill
        What moved between each GPU and the host.
    """

    _FIELDS = ("disk_bytes", "evicted_bytes", "written_bytes", "fetched_bytes")

    def __init__(self) -> None:
        self.directory = _core.spill_directory()
        self.limit_bytes = _core.spill_limit()
        self.disk_bytes, self.evicted_bytes, self.written_bytes, self.fetched_bytes = (
            _core.spill_statistics()
        )
        self.pinned_limit_bytes = _core.pinned_limit()
        self.devices = {
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
    """Say what was spilled to the disk, or set where to and how much.

    Under `hr.memory.limit`, results that fit no more leave memory in pieces of up to 2 MiB, those
    first that the plan needs last, and come back when they are looked at. Addresses and values
    stay as they are. Arrays below 256 KiB (columns: 64), what is in use, and memory of other
    libraries stays.

    Under ``hr.memory.limit(size, device="cuda")`` results leave the GPU for pinned memory of the
    host, and from there for other memory and the disk, and are back before work reads them. What
    another library has the address of stays, and what is below 64 KiB.

    Parameters
    ----------
    directory : str or path-like, optional
        For what is spilled from now on. At first ``HEADRACE_SPILL_DIRECTORY``, else ``TMPDIR``,
        else ``/tmp``. The file has no name, so nothing is left behind when the process ends.
    limit : int or str, optional
        The most bytes on the disk, as in `hr.memory.limit`; 0 turns spilling off. At first
        ``HEADRACE_SPILL_LIMIT``, else nine tenths of what is free there.
    pinned : int or str, optional
        The most pinned memory that takes what leaves a GPU; 0: it goes to other memory at once. At
        first ``HEADRACE_PINNED_LIMIT``, else a quarter of the machine's memory. Never more than a
        quarter of the host's limit is taken.

    Returns
    -------
    Spill
        Settings and counters; as a context manager it restores the former settings.

    Raises
    ------
    InputError
        The directory takes no file; nothing is changed.

    Examples
    --------
    >>> import headrace as hr
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
