# SPDX-License-Identifier: Apache-2.0
"""Arrow IPC files and streams, also known as Feather, read and written by the engine."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import IO, TYPE_CHECKING, Any, Literal

from headrace import _core
from headrace.errors import InvalidArgumentError, TypeMismatchError
from headrace.frame.columns import frame_of_parts, frame_of_table
from headrace.io import sources
from headrace.lazy.handle import mark
from headrace.provenance.sources import recorded
from headrace.series.timezone import know_zone

if TYPE_CHECKING:
    from typing import BinaryIO

    from headrace.frame.dataframe import DataFrame

    Source = str | os.PathLike[str] | bytes | BinaryIO
    Sources = Source | Sequence[Source]

__all__ = ["read_feather", "read_ipc", "scan_ipc", "to_ipc"]


def _frame(
    op: str,
    source: Any,
    columns: Sequence[str] | None,
    now: bool,
    memory_map: bool = False,
    **options: Any,
) -> DataFrame:
    mark(op)
    if isinstance(columns, str):
        raise TypeMismatchError(f"{op}: expected a list of strings: columns={columns!r}")
    of = sources.find(op, source, **options)
    own = None if columns is None else [name for name in columns if name not in of.values]
    frames = [
        of.with_values(_one(op, each, own, now, memory_map), at) for at, each in enumerate(of.each)
    ]
    for at, frame in enumerate(frames):
        of.check_frame(at, frames[0], frame)
    made = sources.stacked(frames) if of.are_several else frames[0]
    return made if columns is None or not of.values else made[list(columns)]


def _one(
    op: str, source: Any, columns: Sequence[str] | None, now: bool, memory_map: bool
) -> DataFrame:
    if memory_map and not isinstance(source, str):
        raise InvalidArgumentError(
            f"{op}: only files can be mapped: source={type(source).__name__}; pass a path, or "
            "leave memory_map=True out"
        )
    file = _core.IpcFile(op, source, memory_map)
    names = file.names
    wanted = names if columns is None else list(columns)
    for name in wanted:
        if name not in names:
            _core.no_such_column(op, names, name)
    places = [names.index(name) for name in wanted]
    if now:
        return frame_of_table(file.read(places))
    return frame_of_parts(file.scan(places), wanted)


@recorded
def read_ipc(
    source: Sources,
    *,
    columns: Sequence[str] | None = None,
    memory_map: bool = False,
    include_file_paths: str | None = None,
    hive_partitioning: bool | None = None,
    storage_options: Mapping[str, Any] | None = None,
) -> DataFrame:
    """Read an Arrow IPC file or stream into the memory budget, on all cores.

    Parameters
    ----------
    source : path, URL, bytes or binary file object, or a list of these
        A file (also called Feather 2) or a stream, its buffers plain or compressed by lz4 or zstd.
        A list, a folder or a pattern makes one frame of all files, as `read_csv` says.
    columns : list of str, optional
        The columns to read, in this order; the others are not touched.
    memory_map : bool
        Share the bytes of a file in the page cache instead of reading them into the memory budget:
        of a file of one batch that is not compressed, numbers, times and strings with views are
        not copied. All checks are made, so pages are touched once. Changing the file while a frame
        of it lives is an error at the next step, never a crash; replacing it is none.
    include_file_paths, hive_partitioning, storage_options
        As for `read_csv`.

    Raises
    ------
    hr.UnsupportedError
        For wanted columns of a type that Headrace does not have, Feather 1, and data of Arrow
        before 1.0.
    hr.InputError
        (an OSError) For an unreadable source, with path, column and batch of what is damaged; for a
        missing file also a FileNotFoundError.
    hr.ColumnNotFoundError
        (a KeyError) For an unknown column.

    Notes
    -----
    Numbers and times are read straight to their place, strings keep their text and get views,
    dictionaries become categories. Sizes, offsets, codes and text are checked: whatever a file
    holds, it ends in a frame or in one of these errors.

    >>> hr.DataFrame({"x": [1, 2], "s": ["a", None]}).to_ipc("example.arrow")
    >>> hr.read_ipc("example.arrow", columns=["s"]).to_dict()
    {'s': ['a', None]}
    """
    return _frame(
        "read_ipc",
        source,
        columns,
        now=True,
        include_file_paths=include_file_paths,
        hive_partitioning=hive_partitioning,
        storage_options=storage_options,
        memory_map=memory_map,
    )


@recorded
def scan_ipc(
    source: Sources,
    *,
    columns: Sequence[str] | None = None,
    memory_map: bool = False,
    include_file_paths: str | None = None,
    hive_partitioning: bool | None = None,
    storage_options: Mapping[str, Any] | None = None,
) -> DataFrame:
    """The same, lazy: names, dtypes and row count now, columns and batches on use.

    Raises if the file changes between this call and the read.

    >>> hr.DataFrame({"x": [1, 2], "s": ["a", None]}).to_ipc("example.arrow")
    >>> frame = hr.scan_ipc("example.arrow")
    >>> frame.dtypes["s"], frame.x.sum().item()
    (dtype('string'), 3)
    """
    return _frame(
        "scan_ipc",
        source,
        columns,
        now=False,
        include_file_paths=include_file_paths,
        hive_partitioning=hive_partitioning,
        storage_options=storage_options,
        memory_map=memory_map,
    )


def read_feather(
    path: Source, columns: Sequence[str] | None = None, use_threads: bool = True
) -> DataFrame:
    """Read a Feather file, which is an Arrow IPC file; see `read_ipc`.

    ``use_threads`` is pandas' option, which changes nothing here.

    >>> hr.DataFrame({"x": [1, 2]}).to_feather("example.feather")
    >>> hr.read_feather("example.feather").to_dict()
    {'x': [1, 2]}
    """
    return _frame("read_feather", path, columns, now=True)


def to_ipc(
    frame: DataFrame,
    path: str | os.PathLike[str] | IO[bytes],
    *,
    compression: str | None = None,
    format: Literal["file", "stream"] = "file",
    durable: bool = True,
) -> None:
    """See `DataFrame.to_ipc`."""
    mark("to_ipc")
    words = {None: "none", "none": "none", "uncompressed": "none", "lz4": "lz4", "zstd": "zstd"}
    if compression not in words:
        raise InvalidArgumentError(
            f"to_ipc: invalid value of an option: compression={compression!r}; "
            "use None, 'lz4' or 'zstd'"
        )
    if format not in ("file", "stream"):
        raise InvalidArgumentError(
            f"to_ipc: invalid value of an option: format={format!r}; use 'file' or 'stream'"
        )
    frame = frame.reset_index() if frame._labels else frame
    for node in frame._every():
        know_zone(node.dtype)
    table, codec, stream = frame._table(), words[compression], format == "stream"
    if isinstance(path, str | os.PathLike):
        _core.write_ipc(table, os.fspath(path), stream, codec, durable)
        return
    import tempfile
    from pathlib import Path

    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "data.arrow"
        _core.write_ipc(table, str(file), stream, codec, False)
        path.write(file.read_bytes())
