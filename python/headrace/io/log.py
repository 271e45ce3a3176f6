# SPDX-License-Identifier: Apache-2.0
"""Log files: lines of a known format, or of a grok pattern, to typed columns."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, overload

from headrace import _core
from headrace.errors import InvalidArgumentError, TypeMismatchError, UnsupportedError
from headrace.io import sources
from headrace.io.lines import Lines
from headrace.lazy.handle import mark
from headrace.rows import whole_number

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from typing import BinaryIO

    from headrace.frame.dataframe import DataFrame
    from headrace.stream.stream import Stream

    Source = str | os.PathLike[str] | bytes | BinaryIO

__all__ = ["read_log"]

_OP = "read_log"


@overload
def read_log(
    source: Source | Iterator[bytes] | Sequence[Source],
    format: str = "combined",
    *,
    pattern: str | None = None,
    columns: Iterable[str] | None = None,
    num_rows: int | None = None,
    on_bad: Literal["error", "reject"] = "reject",
    compression: Literal["infer", "none", "gzip", "zstd", "bz2", "xz", "lz4"] = "infer",
    include_file_paths: str | None = None,
    hive_partitioning: bool | None = None,
    storage_options: Mapping[str, Any] | None = None,
    follow: Literal[False] = False,
) -> DataFrame: ...


@overload
def read_log(
    source: Source | Iterator[bytes],
    format: str = "combined",
    *,
    pattern: str | None = None,
    columns: Iterable[str] | None = None,
    on_bad: Literal["error", "reject"] = "reject",
    follow: Literal[True],
    poll: Any = "200ms",
    position: Any = None,
) -> Stream: ...


def read_log(
    source: Source | Iterator[bytes] | Sequence[Source],
    format: str = "combined",
    *,
    pattern: str | None = None,
    columns: Iterable[str] | None = None,
    num_rows: int | None = None,
    on_bad: Literal["error", "reject"] = "reject",
    compression: Literal["infer", "none", "gzip", "zstd", "bz2", "xz", "lz4"] = "infer",
    include_file_paths: str | None = None,
    hive_partitioning: bool | None = None,
    storage_options: Mapping[str, Any] | None = None,
    follow: bool = False,
    poll: Any = "200ms",
    position: Any = None,
) -> DataFrame | Stream:
    r"""Read a log, one row per line, on all cores.

    Parameters
    ----------
    source : path, URL, bytes, binary file object or iterator of bytes, or a list of these
        Files as for `read_csv`: also folders, patterns, compressed ones.
    format : str
        ``combined`` and ``nginx`` (host, ident, user, time, request, status, bytes, referrer,
        agent), ``common`` (the first seven), ``nginx_error``, ``apache_error``, ``syslog``
        (RFC 3164), ``syslog5424``, ``cri`` (containers) or ``cef``.
    pattern : str, optional
        A grok pattern in place of a format: ``%{NAME}``, ``%{NAME:column}`` or
        ``%{NAME:column:type}`` with Logstash's names of patterns and the types ``int``, ``float``,
        ``string``, ``time`` (an instant) and ``localtime``; regular expressions (RE2) around them.
        It may match a part of a line.
    columns : list of str, optional
        The columns to read, in this order.
    num_rows : int, optional
        Maximum number of rows.
    on_bad : {"reject", "error"}
        A line without the format, or with a value that is none of its dtype, goes to
        ``result.rejects``, a frame of line, column, text and reason (and path for several files);
        or it raises an error. Rows in = rows out + rejects; empty lines are skipped.
    compression, include_file_paths, hive_partitioning, storage_options
        As for `read_csv`.
    follow, poll, position
        As for `read_csv`: a `Stream` of frames of the lines as they come.

    Raises
    ------
    hr.InvalidArgumentError
        (a ValueError) For an unknown format or a wrong pattern.
    hr.ColumnNotFoundError
        (a KeyError) For an unknown column in `columns`.
    hr.InputError
        (an OSError) For an unreadable source, or the first bad line with ``on_bad="error"``.

    Notes
    -----
    Times with an offset are ``datetime64[us, UTC]``, others ``datetime64[us]``; syslog's times,
    which lack a year, are strings. ``-`` is null in the known formats, a group without a match in a
    pattern. Strings share the text of the file in memory; escapes in quotes stay as they are.

    >>> line = b'1.2.3.4 - ann [17/May/2015:10:05:03 +0200] "GET / HTTP/1.1" 200 512 "-" "curl/8"\n'
    >>> log = hr.read_log(line + b"no such line\n")
    >>> log[["user", "status", "bytes", "referrer"]].to_dict()
    {'user': ['ann'], 'status': [200], 'bytes': [512], 'referrer': [None]}
    >>> log.rejects.line.to_list()
    [2]
    >>> hr.read_log(b"took 12 ms\n", pattern="took %{INT:ms:int}").ms.to_list()
    [12]
    """
    mark(_OP)
    if isinstance(columns, str):
        raise TypeMismatchError(f"{_OP}: expected a list of strings: columns={columns!r}")
    if on_bad not in ("error", "reject"):
        raise InvalidArgumentError(
            f"{_OP}: invalid value: on_bad={on_bad!r}; expected 'error' or 'reject'"
        )
    for name, value in (("format", format), ("pattern", "" if pattern is None else pattern)):
        if not isinstance(value, str):
            raise TypeMismatchError(f"{_OP}: expected a string: {name}={value!r}")
    most = None if num_rows is None else whole_number(_OP, "num_rows", num_rows)
    if most is not None and most < 0:
        raise InvalidArgumentError(f"{_OP}: the number of rows is negative: num_rows={most}")
    if follow:
        others = (num_rows, include_file_paths, hive_partitioning, storage_options)
        if compression != "infer" or any(each is not None for each in others):
            raise UnsupportedError(
                f"{_OP}: an option that a stream does not have: num_rows={num_rows!r}, "
                f"compression={compression!r}, follow=True; change the frames that it gives"
            )

        def lines(text: bytes, known: Mapping[str, str]) -> DataFrame:
            made: DataFrame = read_log(
                text, format, pattern=pattern, columns=columns, on_bad=on_bad, compression="none"
            )
            return made

        from headrace.stream.stream import text_stream

        return text_stream(_OP, source, Lines(_OP, lines, {}), poll, position)
    of = sources.find(
        _OP,
        source,
        include_file_paths=include_file_paths,
        hive_partitioning=hive_partitioning,
        storage_options=storage_options,
    )
    wanted = [] if columns is None else list(columns)

    def read(at: int, rows: int | None) -> DataFrame:
        table, bad = _core.read_log(
            of.each[at],
            format,
            pattern or "",
            wanted,
            -1 if rows is None else rows,
            on_bad == "reject",
            compression,
        )
        return of.frame(at, table, bad if on_bad == "reject" else None)

    return of.rows(read, most)
