# SPDX-License-Identifier: Apache-2.0
"""Frames between workers: in shared segments on one machine, else through the socket.

Neither side copies bytes of a value that lies in shared segments; another one is copied into a
segment once. Through a socket, buffers go and come without a copy besides those of the system.
"""

from __future__ import annotations

import io
import os
import pickle
import resource
import threading
import time
from typing import Any

from distributed.comm.core import CommClosedError
from distributed.protocol.serialize import dask_deserialize, dask_serialize

from headrace import _core
from headrace.array.array import Array
from headrace.errors import Error, OutOfMemoryError
from headrace.frame.dataframe import DataFrame
from headrace.interop.sharing import SharedHandle, attach, in_own_memory, rebuilt, share
from headrace.series.series import Series

#: In what processes tell each other when they connect: the user whose shared segments they attach.
SHARES = "headrace-shares"
#: Smaller values go through the socket: a shared one takes a connection and some descriptors.
_LEAST_SHARED = 1 << 20
#: A process that may open fewer files could run out of descriptors.
_LEAST_OPEN_FILES = 1 << 13
#: After which a receiver is taken for lost.
_SECONDS_TO_ATTACH = 60.0
_SECONDS_BETWEEN_LOOKS = 0.05
#: The memory limit over the bytes that a process keeps where they were received.
_LIMIT_PER_FOREIGN = 8


def shares() -> int | None:
    """The user whose segments this process attaches; None if it had too few descriptors."""
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    enough = most == resource.RLIM_INFINITY or most >= _LEAST_OPEN_FILES
    return os.getuid() if enough else None


def _is_for_a_sharer(context: Any) -> bool:
    ends = [(context or {}).get(end) or {} for end in ("sender", "recipient")]
    users = [end.get(SHARES) for end in ends]
    return users[0] is not None and users[0] == users[1]


class _Sent:
    """Handles of values that are on their way, until their receiver has attached them."""

    def __init__(self) -> None:
        self._lock = threading.Condition()
        self._held: list[tuple[float, SharedHandle]] = []
        self._is_watched = False

    def add(self, handle: SharedHandle) -> None:
        """Keep a handle."""
        with self._lock:
            self._held.append((time.monotonic() + _SECONDS_TO_ATTACH, handle))
            if not self._is_watched:
                self._is_watched = True
                threading.Thread(target=self._watch, name="headrace-sent", daemon=True).start()

    def _watch(self) -> None:
        while True:
            time.sleep(_SECONDS_BETWEEN_LOOKS)
            with self._lock:
                now = time.monotonic()
                self._held = [
                    (end, each) for end, each in self._held if end > now and not each.was_attached
                ]
                if not self._held:
                    self._is_watched = False
                    return

    def __len__(self) -> int:
        return len(self._held)


SENT = _Sent()


class _Sharing(pickle.Pickler):
    """Puts the token of a shared segment in the place of each large value."""

    def reducer_override(self, value: Any) -> Any:
        """The values of Headrace only."""
        if not isinstance(value, DataFrame | Series | Array):
            return NotImplemented
        made = value.__reduce_ex__(5)
        if made[0] is not rebuilt:
            return made
        _, rejects, *buffers = made[1]
        if sum(buffer.raw().nbytes for buffer in buffers) < _LEAST_SHARED:
            return made
        try:
            handle = share(value)
        except (OutOfMemoryError, OSError):  # no room for a copy, or no descriptors
            return made
        SENT.add(handle)
        return attached, (handle.token, rejects)


def attached(token: str, rejects: DataFrame | None) -> Any:
    """A value that another worker shares; raises what makes Dask ask again."""
    try:
        value: Any = attach(token)
    except Error as error:
        raise CommClosedError(str(error)) from error
    if rejects is not None:
        value._rejects = rejects
    return value


@dask_serialize.register((DataFrame, Series, Array))
def serialize(value: Any, context: Any = None) -> tuple[dict[str, Any], list[Any]]:
    """A header and the memory in place; evaluates.

    Dask receives the first buffer together with the header, at an address that no value may have.
    A buffer of one byte stands there, so that those of the columns get memory of their own.
    """
    buffers: list[pickle.PickleBuffer] = []
    if _is_for_a_sharer(context):
        stream = io.BytesIO()
        _Sharing(stream, protocol=5, buffer_callback=buffers.append).dump(value)
        header = stream.getvalue()
    else:
        header = pickle.dumps(value, protocol=5, buffer_callback=buffers.append)
    return {"pickled": header}, [bytearray(1), *(buffer.raw() for buffer in buffers)]


@dask_deserialize.register((DataFrame, Series, Array))
def deserialize(header: dict[str, Any], frames: list[Any]) -> Any:
    """The value over the memory that came; sizes, offsets and dtypes are checked.

    Under a memory limit a process keeps only so much that cannot spill: what exceeds it is copied.
    """
    value = pickle.loads(header["pickled"], buffers=frames[1:])
    held = _core.memory_statistics()
    if 0 < held.limit_bytes < _LIMIT_PER_FOREIGN * held.foreign_bytes:
        return in_own_memory(value)
    return value
