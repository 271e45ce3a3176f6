# SPDX-License-Identifier: Apache-2.0
"""What leaves memory for the disk under a limit."""

from __future__ import annotations

import os

from headrace import _core
from headrace.memory.budget import bytes_of
from headrace.memory.tables import html_table, size_text


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
    """

    _FIELDS = ("disk_bytes", "evicted_bytes", "written_bytes", "fetched_bytes")

    def __init__(self) -> None:
        self.directory = _core.spill_directory()
        self.limit_bytes = _core.spill_limit()
        self.disk_bytes, self.evicted_bytes, self.written_bytes, self.fetched_bytes = (
            _core.spill_statistics()
        )
        self._former: tuple[str, int] | None = None

    def __enter__(self) -> Spill:
        return self

    def __exit__(self, *args: object) -> None:
        if self._former is not None:
            _core.set_spill_directory(self._former[0])
            _core.set_spill_limit(self._former[1])

    def _rows(self) -> list[tuple[str, str]]:
        sizes = [(name, size_text(getattr(self, name))) for name in ("limit_bytes", *self._FIELDS)]
        return [("directory", self.directory), *sizes]

    def __repr__(self) -> str:
        return "\n".join(f"{name:<13}  {value}" for name, value in self._rows())

    def _repr_html_(self) -> str:
        return html_table(("spill", "value"), self._rows())


def spill(directory: str | os.PathLike[str] | None = None, limit: int | str | None = None) -> Spill:
    """Say what was spilled to the disk, or set where to and how much.

    Under `hr.memory.limit`, results that fit no more leave memory in pieces of up to 2 MiB, those
    first that the plan needs last, and come back when they are looked at. Addresses and values
    stay as they are. Arrays below 256 KiB, what is in use, and memory of other libraries stays.

    Parameters
    ----------
    directory : str or path-like, optional
        For what is spilled from now on. At first ``HEADRACE_SPILL_DIRECTORY``, else ``TMPDIR``,
        else ``/tmp``. The file has no name, so nothing is left behind when the process ends.
    limit : int or str, optional
        The most bytes on the disk, as in `hr.memory.limit`; 0 turns spilling off. At first
        ``HEADRACE_SPILL_LIMIT``, else nine tenths of what is free there.

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
    former = (_core.spill_directory(), _core.spill_limit())
    if directory is not None:
        _core.set_spill_directory(os.fspath(directory))
    if limit is not None:
        _core.set_spill_limit(bytes_of(limit))
    result = Spill()
    result._former = former
    return result
