# SPDX-License-Identifier: Apache-2.0
"""Atomic file writes: a file appears whole or not at all."""

from __future__ import annotations

import io
import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from headrace import _core

__all__ = ["new_file", "write_file"]


class _File(io.RawIOBase):
    """An engine sink as a binary Python file."""

    def __init__(self, sink: _core.Sink) -> None:
        self._sink = sink
        self.failure: BaseException | None = None

    def writable(self) -> bool:
        """Write-only."""
        return True

    def write(self, data: Any) -> int:
        """Append the bytes; after a failure or an interrupt they are discarded.

        A writer may try to write a trailer then, which would block or fail again.
        """
        if self.failure is None:
            try:
                return self._sink.write(data)
            except BaseException as error:
                self.failure = error
                raise
        return memoryview(data).nbytes


@contextmanager
def new_file(op: str, path: str | os.PathLike[str]) -> Iterator[io.RawIOBase]:
    """A binary file that replaces `path` at the end, unless the block raises.

    A regular file is replaced whole, links are followed, the mode is kept; a pipe or a device is
    written directly.
    """
    sink = _core.Sink(op, os.fspath(path), False)
    file = _File(sink)
    try:
        yield file
        if file.failure is not None:
            raise file.failure
        sink.commit()
    finally:
        file.failure = None  # the traceback holds the frames that hold the file
        sink.discard()


def write_file(op: str, path: str | os.PathLike[str], content: str | bytes) -> None:
    """The same in one call; strings as UTF-8."""
    with new_file(op, path) as file:
        file.write(content.encode() if isinstance(content, str) else content)
