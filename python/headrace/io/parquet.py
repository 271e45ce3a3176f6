# SPDX-License-Identifier: Apache-2.0
"""Parquet files, read and written by the engine."""

from __future__ import annotations

import io
import os
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from headrace import _core
from headrace.errors import InvalidArgumentError, TypeMismatchError
from headrace.frame.columns import frame_of_parts, frame_of_table
from headrace.io import sources
from headrace.lazy.handle import mark
from headrace.provenance.sources import recorded
from headrace.rows import is_missing

if TYPE_CHECKING:
    from typing import BinaryIO

    from headrace.frame.dataframe import DataFrame

    Source = str | os.PathLike[str] | bytes | BinaryIO

__all__ = ["read_parquet", "scan_parquet", "write_parquet"]


def _frame(
    op: str, source: Any, columns: Iterable[str] | None, now: bool, words: dict[str, Any]
) -> DataFrame:
    mark(op)
    if isinstance(columns, str):
        raise TypeMismatchError(f"{op}: expected a list of strings: columns={columns!r}")
    wanted = None if columns is None else list(columns)
    of = sources.find(op, source, **words)
    if of.are_several and all(isinstance(one, str) for one in of.each):
        files = _core.open_parquet_paths(op, of.each)
    else:
        files = [_core.ParquetFile(op, one, not of.are_several) for one in of.each]
    own = [file.names for file in files]
    names = [name for name in own[0] if name not in of.values]
    for name in wanted or ():
        if name not in names and name not in of.values:
            _core.no_such_column(op, [*names, *of.values], name)
    chosen = names if wanted is None else [name for name in wanted if name in names]
    is_wanted = set(chosen)
    for at, each in enumerate(own):
        theirs = [name for name in each if name not in of.values]
        of.check_columns(at, chosen, [n for n in theirs if wanted is None or n in is_wanted])
    places = [[each.index(name) for name in chosen] for each in own]
    if of.are_several or of.values:
        if now:
            table = _core.read_parquet_files(files, places, of.table())
            frame = frame_of_table(table, kept=_core.take_kept())
        else:
            frame = sources.scanned(files, places, of)
        return frame if wanted is None else frame[wanted]
    if now:
        return frame_of_table(files[0].read(places[0]), kept=_core.take_kept())
    return frame_of_parts(files[0].scan(places[0]), chosen)


@recorded
def read_parquet(
    source: Source | Sequence[Source],
    *,
    columns: Iterable[str] | None = None,
    include_file_paths: str | None = None,
    hive_partitioning: bool | None = None,
    storage_options: Mapping[str, Any] | None = None,
) -> DataFrame:
    """Read Parquet files. All cores decode; the columns are in the budget.

    Parameters
    ----------
    source : path, URL, bytes or binary file object, or a list of these
        A Parquet file. Of a file object that can seek only the wanted bytes are read. A list, a
        folder (with all files below), or a path with ``*``, ``?``, ``[...]`` or ``**`` makes one
        frame of all files. URLs need fsspec (``headrace[fsspec]``).
    columns : list of str, optional
        The columns to read, in this order; the others are not touched.
    include_file_paths : str, optional
        Name of a column for the path of the file that a row comes from.
    hive_partitioning : bool, optional
        Whether folders named ``key=value`` make columns, behind those of the files: integers,
        dates or strings. None: those of a folder or a pattern do.
    storage_options : dict, optional
        Options of the file system of a URL.

    Raises
    ------
    hr.UnsupportedError
        For encrypted files, and for wanted columns of a type that Headrace does not have:
        binary data.
    hr.InputError
        (an OSError) For an unreadable source, with path and column of what is damaged; for files
        with other columns or dtypes than the first one; for a missing file also a
        FileNotFoundError.
    hr.ColumnNotFoundError
        (a KeyError) For an unknown column.

    Notes
    -----
    Every byte is checked, text too: whatever a file holds, it ends in a frame or in one of these
    errors. Times of day become timedeltas, UUIDs strings, float16 float32.

    >>> hr.DataFrame({"x": [1, 2], "s": ["a", None]}).to_parquet("example.parquet")
    >>> hr.read_parquet("example.parquet", columns=["s"]).to_dict()
    {'s': ['a', None]}
    """
    words = {
        "include_file_paths": include_file_paths,
        "hive_partitioning": hive_partitioning,
        "storage_options": storage_options,
    }
    return _frame("read_parquet", source, columns, True, words)


@recorded
def scan_parquet(
    source: Source | Sequence[Source],
    *,
    columns: Iterable[str] | None = None,
    include_file_paths: str | None = None,
    hive_partitioning: bool | None = None,
    storage_options: Mapping[str, Any] | None = None,
) -> DataFrame:
    """The same, lazy: names, dtypes and row count now, columns on use.

    A filter leaves out row groups, and files by their folders' keys. Raises if a file changes
    between this call and the read.

    >>> hr.DataFrame({"x": [1, 2], "s": ["a", None]}).to_parquet("example.parquet")
    >>> frame = hr.scan_parquet("example.parquet")
    >>> frame.dtypes["s"], frame.x.sum().item()
    (dtype('string'), 3)
    """
    words = {
        "include_file_paths": include_file_paths,
        "hive_partitioning": hive_partitioning,
        "storage_options": storage_options,
    }
    return _frame("scan_parquet", source, columns, False, words)


def write_parquet(
    frame: DataFrame,
    path: str | os.PathLike[str] | BinaryIO | None = None,
    engine: str = "auto",
    compression: str | None = "snappy",
    index: bool | None = None,
    partition_cols: Iterable[str] | None = None,
    *,
    compression_level: int | None = None,
    row_group_size: int | None = None,
    bloom_filter: Iterable[str] = (),
    layout: str = "default",
    write_page_checksum: bool = False,
) -> bytes | None:
    """Write a frame as a Parquet file, encoded on all cores; also ``DataFrame.to_parquet``.

    The file is replaced whole or not at all, as by `write_csv`, and has the same bytes for any
    number of threads. Columns are encoded as their values suggest it (a dictionary, packed
    differences or plain values); one that the codec does not make smaller is left uncompressed.
    Row groups and pages of 2^15 rows have bounds, by which readers skip them.

    Parameters
    ----------
    path : path or binary file object, optional
        File to write, or with `partition_cols` a folder. Without it the bytes are returned.
    engine : str
        Without effect, for pandas' sake.
    compression : {"snappy", "zstd", "gzip", "lz4", "brotli", "none"} or None
        Codec of the pages; None as "none".
    index : bool, optional
        False leaves labels out; else they are written as the first columns.
    partition_cols : list of str, optional
        Writes a file for each combination of their values, without these columns:
        ``path/year=2024/part-0.parquet``. Files of another write to the folder stay.
    compression_level : int, optional
        1 to 22 for zstd (usually 1), 1 to 9 for gzip (6), 0 to 11 for brotli (3).
    row_group_size : int, optional
        Most rows of a row group: 2^20, or with ``layout="gpu"`` ten times that.
    bloom_filter : list of str
        Columns that get a Bloom filter, by which readers skip row groups without a value. About 1.3
        to 2.6 bytes for each distinct value.
    layout : {"default", "gpu"}
        "gpu" makes few long row groups of many pages, and compresses only what gets at least a
        tenth smaller, as readers on a GPU like it.
    write_page_checksum : bool
        Gives each page a CRC, which readers may compare.

    Raises
    ------
    hr.InputError
        (an OSError) If writing fails; the old file is untouched.
    hr.InvalidArgumentError
        (a ValueError) For an unknown codec, level or layout.
    hr.TypeMismatchError
        (a TypeError) For columns of complex numbers.

    Notes
    -----
    Times in seconds are stored in milliseconds, since Parquet has no seconds. Categories of strings
    are dictionaries, which pyarrow and pandas read as categories; those of other values are stored
    as these values.

    >>> frame = hr.DataFrame({"x": [1, 2], "s": ["a", None]})
    >>> frame.to_parquet("example.parquet", compression="zstd")
    >>> hr.read_parquet("example.parquet").equals(frame)
    True
    """
    mark("to_parquet")
    if engine not in ("auto", "pyarrow", "fastparquet"):
        raise InvalidArgumentError(f"to_parquet: unknown engine: engine={engine!r}; leave it out")
    frame = frame.reset_index(drop=True) if index is False and frame._labels else frame
    options = (
        "none" if compression is None else compression.lower(),
        compression_level,
        row_group_size,
        layout,
    )
    filtered = [bloom_filter] if isinstance(bloom_filter, str) else list(bloom_filter)
    if partition_cols is not None:
        _write_partitions(frame, path, partition_cols, options, filtered, write_page_checksum)
        return None
    content = io.BytesIO() if path is None else None
    to = content or (path if hasattr(path, "write") else os.fspath(path))  # type: ignore[arg-type]
    _core.write_parquet(frame._table(), to, *options, filtered, write_page_checksum)
    return content.getvalue() if content else None


def _write_partitions(
    frame: DataFrame,
    path: Any,
    partition_cols: Iterable[str],
    options: tuple[str, int | None, int | None, str],
    filtered: list[str],
    checksums: bool,
) -> None:
    keys = [partition_cols] if isinstance(partition_cols, str) else list(partition_cols)
    if path is None or hasattr(path, "write"):
        raise InvalidArgumentError(
            "to_parquet: partition_cols needs a folder: path is none; pass its path"
        )
    table = frame._table()
    for name in keys:
        if name not in table.names:
            _core.no_such_column("to_parquet", table.names, name)
    if not keys or len(keys) == len(table.names):
        raise InvalidArgumentError(
            f"to_parquet: a partition needs a column and leaves one over: partition_cols={keys}; "
            "name some of the columns"
        )
    rest = [name for name in table.names if name not in keys]
    for values, part in frame_of_table(table).groupby(keys, dropna=False, sort=True):
        levels = values if isinstance(values, tuple) else (values,)
        parts = [f"{quote(k, safe='')}={_level(v)}" for k, v in zip(keys, levels, strict=True)]
        folder = os.path.join(os.fspath(path), *parts)
        os.makedirs(folder, exist_ok=True)
        file = os.path.join(folder, "part-0.parquet")
        chosen = [name for name in filtered if name in rest]
        _core.write_parquet(part[rest]._table(), file, *options, chosen, checksums)


def _level(value: Any) -> str:
    """The word of a value in the name of a folder, as Hive writes it."""
    if is_missing(value):
        return "__HIVE_DEFAULT_PARTITION__"
    return quote(str(value), safe=" :+,.-_")
