# SPDX-License-Identifier: Apache-2.0
"""Connections of Dask on one machine, ``headrace://``: TCP for those who know the token.

Dask unpickles what any peer sends. Here a connection begins with 32 secret bytes of the cluster,
before anything else is read. Each buffer is received into aligned memory of its own, in one piece,
so that columns are read where they arrived.
"""

from __future__ import annotations

import asyncio
import hmac
import struct
from typing import Any

import dask
from distributed.comm import tcp
from distributed.comm.core import CommClosedError
from distributed.comm.utils import from_frames
from distributed.protocol.utils import unpack_frames
from tornado.iostream import StreamClosedError

from headrace.dask import transport

#: Where in Dask's configuration, which workers inherit, the token is: 64 hexadecimal digits.
TOKEN = "headrace.token"
_TOKEN_BYTES = 32
_SECONDS_TO_IDENTIFY = 10.0
_ALIGNMENT = 64
_SIZE = struct.Struct("Q")


def _token() -> bytes:
    return bytes.fromhex(dask.config.get(TOKEN))


def _aligned(size: int) -> memoryview:
    """Memory whose address is a multiple of 64: columns over it need no copy."""
    import numpy as np

    block = np.empty(size + _ALIGNMENT, np.uint8)
    begin = -block.ctypes.data % _ALIGNMENT
    return block[begin : begin + size].data


async def _read(stream: Any, size: int) -> memoryview:
    buffer = _aligned(size)
    for begin in range(0, size, tcp.C_INT_MAX):
        await stream.read_into(buffer[begin : begin + tcp.C_INT_MAX])
    return buffer


class Connection(tcp.TCP):  # type: ignore[misc]
    """One connection between processes of a cluster."""

    stream: Any
    max_shard_size = 1 << 40  # frames in one piece: pieces would be joined by a copy

    def handshake_info(self) -> dict[str, Any]:
        """What the peer learns: whether values may come in shared segments."""
        return {**super().handshake_info(), transport.SHARES: transport.shares()}

    async def read(self, deserializers: Any = None) -> Any:
        """The next message."""
        stream = self.stream
        if stream is None:
            raise CommClosedError()
        try:
            (size,) = _SIZE.unpack(await stream.read_bytes(_SIZE.size))
            frames, sizes = unpack_frames(await _read(stream, size), partial=True)
            frames += [await _read(stream, each) for each in sizes]
        except StreamClosedError as error:
            self.stream, self._closed = None, True
            tcp.convert_stream_closed_error(self, error)
        except BaseException:  # what was read is unknown: the connection is of no use any more
            self.abort()
            raise
        try:
            return await from_frames(
                frames,
                deserialize=self.deserialize,
                deserializers=deserializers,
                allow_offload=self.allow_offload,
            )
        except EOFError:
            self.abort()
            raise CommClosedError("aborted stream on truncated data") from None


class Connector(tcp.TCPConnector):  # type: ignore[misc]
    """Connects, and says the token."""

    prefix = "headrace://"
    comm_class = Connection

    async def connect(self, address: str, deserialize: bool = True, **options: Any) -> Any:
        """A connection to a listener of the same cluster."""
        made = await super().connect(address, deserialize, **options)
        try:
            await made.stream.write(_token())
        except StreamClosedError as error:
            tcp.convert_stream_closed_error(self, error)
        return made


class Listener(tcp.TCPListener):  # type: ignore[misc]
    """Accepts the connections that begin with the token."""

    prefix = "headrace://"
    comm_class = Connection

    async def _prepare_stream(self, stream: Any, address: str) -> Any:
        try:
            said = await asyncio.wait_for(stream.read_bytes(_TOKEN_BYTES), _SECONDS_TO_IDENTIFY)
        except (TimeoutError, StreamClosedError):
            said = b""
        if hmac.compare_digest(said, _token()):
            return stream
        stream.close()
        return None


class TokenBackend(tcp.TCPBackend):  # type: ignore[misc]
    """What Dask loads for addresses that begin with ``headrace://``."""

    _connector_class = Connector
    _listener_class = Listener
