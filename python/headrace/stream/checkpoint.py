# SPDX-License-Identifier: Apache-2.0
r"""The format of states in files: a JSON header and Arrow streams, without code.

All numbers are little-endian::

    0   "\x89HRSTAT\n"   what it is
    8   uint32 1         its version
    12  uint32           CRC-32 of all bytes from 16 on: against accidents, not against forgers
    16  uint64           bytes of the header, which begins at 24
    24  the header       a JSON object; "tables" has the bytes of each table
        the tables       Arrow IPC streams, in order and without gaps
"""

from __future__ import annotations

import io
import json
import os
import struct
import zlib
from typing import TYPE_CHECKING, Any

from headrace.errors import InvalidArgumentError, UnsupportedError, input_error
from headrace.io.atomic_write import write_file
from headrace.io.ipc import read_ipc, to_ipc

if TYPE_CHECKING:
    from headrace.frame.dataframe import DataFrame

_MAGIC, _VERSION = b"\x89HRSTAT\n", 1
_FIXED = struct.Struct("<8sIIQ")


def write(path: str | os.PathLike[str], header: dict[str, Any], tables: list[DataFrame]) -> None:
    """Write a file that appears whole or not at all."""
    each = []
    for table in tables:
        into = io.BytesIO()
        to_ipc(table, into, format="stream")
        each.append(into.getvalue())
    try:
        text = json.dumps({**header, "tables": [len(one) for one in each]}).encode()
    except (TypeError, ValueError, RecursionError) as error:
        raise InvalidArgumentError(
            f"save: expected what JSON can hold: error={str(error)!r}; pass numbers, strings, "
            "lists and dictionaries as position="
        ) from None
    body = b"".join([struct.pack("<Q", len(text)), text, *each])
    front = _MAGIC + struct.pack("<II", _VERSION, zlib.crc32(body))
    write_file("save", path, front + body)


def read(path: str | os.PathLike[str]) -> tuple[dict[str, Any], list[DataFrame]]:
    """The header and the tables of an untrusted file; raises for what `write` did not write."""
    name = os.fspath(path)
    try:
        with open(name, "rb") as file:
            data = file.read()
    except OSError as error:
        raise input_error(
            f"load: the file cannot be read: path={name!r}, error={error.strerror}; check the path",
            name,
            error.errno or 0,
        ) from error
    if len(data) < _FIXED.size or data[:8] != _MAGIC:
        raise damaged(name, "not the file of a state")
    _, version, checksum, size = _FIXED.unpack_from(data)
    if version > _VERSION:
        raise UnsupportedError(
            f"load: the file is of a later version: path={name!r}, version={version}; update "
            "headrace"
        )
    if version != _VERSION or zlib.crc32(memoryview(data)[16:]) != checksum:
        raise damaged(name, "the checksum does not fit")
    if size > len(data) - _FIXED.size:
        raise damaged(name, "the header is longer than the file")
    begin = _FIXED.size + size
    try:
        header = json.loads(data[_FIXED.size : begin])
        sizes = header.pop("tables")
        if not all(type(each) is int and each >= 0 for each in sizes):
            raise ValueError("a table has no size")
    except (AttributeError, KeyError, RecursionError, TypeError, ValueError) as error:
        raise damaged(name, f"the header is damaged ({error})") from None
    if begin + sum(sizes) != len(data):
        raise damaged(name, "the tables have another size")
    tables = []
    for one in sizes:
        tables.append(read_ipc(data[begin : begin + one]))
        begin += one
    return header, tables


def damaged(path: str, why: str) -> Exception:
    """The error for a file that no state wrote."""
    return input_error(
        f"load: the file is damaged, or no state's: path={path!r}, reason={why!r}; save it again",
        path,
    )
