# SPDX-License-Identifier: Apache-2.0
"""Where the text of a stream comes from: a file that grows, or pieces of bytes."""

from __future__ import annotations

import os
import threading
import zlib
from collections.abc import Iterable, Iterator
from typing import Any, Protocol

from headrace.errors import InvalidArgumentError, input_error

#: Bytes that are read at once.
_READ = 1 << 24
#: First bytes of a file, which tell it from another one.
_HEAD = 1024

#: What happens to the text: "more" of it, its "end" (what follows is another text), it was "cut"
#: (and begins again), or nothing ("idle").
Event = tuple[str, bytes]


class Source(Protocol):
    """Text piece by piece, and the place that it goes on from."""

    def events(self) -> Iterator[Event]:
        """What happens to the text, until it is over or `close` was called."""

    def place(self, waiting: int) -> dict[str, Any]:
        """The place before the last `waiting` bytes of the text, as JSON."""

    def seek(self, place: dict[str, Any]) -> None:
        """Go on from a place; before the first event."""

    def close(self) -> None:
        """Let `events` end when all that is there was read."""

    def is_closed(self) -> bool:
        """Whether `close` was called."""


class Pieces:
    """Bytes of an iterable, or of a file object that blocks."""

    def __init__(self, pieces: Iterable[bytes], op: str) -> None:
        self._pieces, self._op = pieces, op
        self._skip = self._read = 0
        self._closed = False

    def events(self) -> Iterator[Event]:
        """See `Source`."""
        for piece in self._pieces:
            if not isinstance(piece, bytes | bytearray | memoryview):
                raise InvalidArgumentError(
                    f"{self._op}: expected pieces of bytes: piece={type(piece).__name__!r}; "
                    "encode strings as UTF-8"
                )
            data = bytes(piece)
            if self._skip >= len(data):
                self._skip -= len(data)
                continue
            data, self._skip = data[self._skip :], 0
            self._read += len(data)
            yield "more", data
            if self._closed:
                return
        yield "end", b""

    def place(self, waiting: int) -> dict[str, Any]:
        """See `Source`."""
        return {"offset": self._read - waiting}

    def seek(self, place: dict[str, Any]) -> None:
        """See `Source`; the iterable begins at the beginning again."""
        self._skip = self._read = whole("offset", place)

    def close(self) -> None:
        """See `Source`."""
        self._closed = True

    def is_closed(self) -> bool:
        """See `Source`."""
        return self._closed


class GrowingFile:
    """A file that others write to, rotate and truncate."""

    def __init__(self, path: str, op: str, poll: float) -> None:
        self._path, self._op, self._poll = path, op, poll
        self._closed = threading.Event()
        self._file: Any = None
        #: The file that is read, its first bytes, and how far it was read. Devices are numbered
        #: anew when a machine starts, inodes are not.
        self._inode, self._head, self._read = 0, b"", 0
        #: Where `events` begins.
        self._begin = (path, 0)
        self._opened(path).close()

    def _opened(self, path: str) -> Any:
        try:
            return open(path, "rb", buffering=0)
        except OSError as error:
            raise input_error(
                f"{self._op}: the file cannot be read: path={path!r}, error={error.strerror}; "
                "check the path",
                path,
                error.errno or 0,
            ) from error

    def _open(self, path: str, offset: int = 0) -> None:
        file = self._opened(path)
        if self._file is not None:
            self._file.close()
        self._file, self._inode = file, os.fstat(file.fileno()).st_ino
        self._head = file.read(min(offset, _HEAD))
        file.seek(offset)
        self._read = offset

    def _piece(self) -> bytes:
        data: bytes = self._file.read(_READ)
        self._read += len(data)
        if len(self._head) < _HEAD:
            self._head += data[: _HEAD - len(self._head)]
        return data

    def events(self) -> Iterator[Event]:
        """See `Source`."""
        self._open(*self._begin)
        try:
            yield from self._events()
        finally:
            self._file.close()
            self._file = None

    def _events(self) -> Iterator[Event]:
        while True:
            if data := self._piece():
                yield "more", data
                continue
            if os.fstat(self._file.fileno()).st_size < self._read:
                self._file.seek(0)
                self._read, self._head = 0, b""
                yield "cut", b""
                continue
            if self._is_replaced():
                if data := self._piece():  # written between the read and the rotation
                    yield "more", data
                    continue
                yield "end", b""
                self._open(self._path)
                continue
            if self._closed.is_set():
                return
            yield "idle", b""
            self._closed.wait(self._poll)

    def _is_replaced(self) -> bool:
        now = _inode_of(self._path)
        return now is not None and now != self._inode  # None: the new one is not there yet

    def place(self, waiting: int) -> dict[str, Any]:
        """See `Source`."""
        return {
            "path": self._path,
            "inode": self._inode,
            "offset": self._read - waiting,
            "head": [len(self._head), zlib.crc32(self._head)],
        }

    def seek(self, place: dict[str, Any]) -> None:
        """See `Source`: in the file that was read then, also if it was renamed in its folder."""
        folder = os.path.dirname(self._path) or "."
        with os.scandir(folder) as entries:
            paths = [self._path, *(each.path for each in entries if each.is_file())]
        same = [path for path in paths if _inode_of(path) == whole("inode", place)]
        path = same[0] if same else self._path
        offset, (size, checksum) = whole("offset", place), place["head"]
        with self._opened(path) as file:
            head = file.read(min(whole("head", {"head": size}), _HEAD))
            is_long = os.fstat(file.fileno()).st_size >= offset
        if not (same and is_long and len(head) == size and zlib.crc32(head) == checksum):
            raise input_error(
                f"{self._op}: the file is not the one of the position, or was cut: "
                f"path={self._path!r}, offset={offset}; read it without a position, with a new "
                "state",
                self._path,
            )
        self._begin = (path, offset)

    def close(self) -> None:
        """See `Source`."""
        self._closed.set()

    def is_closed(self) -> bool:
        """See `Source`."""
        return self._closed.is_set()


def _inode_of(path: str) -> int | None:
    try:
        return os.stat(path).st_ino
    except OSError:
        return None


def whole(name: str, place: dict[str, Any]) -> int:
    """A count of a position; raises for anything else."""
    value = place.get(name)
    if type(value) is not int or value < 0:
        raise InvalidArgumentError(
            f"position: expected a count: {name}={value!r}; pass what Stream.position gave"
        )
    return value
