# SPDX-License-Identifier: Apache-2.0
"""Files that appear whole or not at all."""

from __future__ import annotations

import io
import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from headrace import _core

__all__ = ["new_file", "write_file"]


class _File(io.RawIOBase):
    """A sink of the engine as a binary file of Python."""

    def __init__(self, sink: _core.Sink) -> None:
        self._sink = sink
        self.failure: BaseException | None = None

    def writable(self) -> bool:
        """Nothing else is."""
        return True

    def write(self, data: Any) -> int:
        """Append the bytes; once that failed or was interrupted, they go nowhere.

        Who writes may want to write an end then, and would wait or fail again.
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
    """A binary file that takes the place of `path` at the end, unless the block raises.

    A regular file is replaced whole, links are followed, the mode stays; a pipe or a device is
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
        file.failure = None  # which holds the frames that hold the file
        sink.discard()


def write_file(op: str, path: str | os.PathLike[str], content: str | bytes) -> None:
    """The same in one go; texts as UTF-8."""
    with new_file(op, path) as file:
        file.write(content.encode() if isinstance(content, str) else content)
