# SPDX-License-Identifier: Apache-2.0
"""Parquet files, for now through pyarrow, as listed by `hr.fallbacks`."""

from __future__ import annotations

import errno
import functools
import os
import stat
import time
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from headrace import _core
from headrace.errors import InputError, TypeMismatchError, UnsupportedError, input_error
from headrace.frame.columns import frame_of_parts, frame_of_table
from headrace.lazy.handle import mark
from headrace.settings import is_strict

if TYPE_CHECKING:
    from typing import BinaryIO

    from headrace.frame.dataframe import DataFrame

    Source = str | os.PathLike[str] | BinaryIO

__all__ = ["read_parquet", "scan_parquet", "write_parquet"]

#: Bytes of a column that are read at once.
_PAGES = 1 << 18

#: Decompressed bytes that pyarrow reads fast enough for Ctrl-C to be responsive.
_SOON = 1 << 24


def _pyarrow(op: str) -> Any:
    """Import `pyarrow.parquet`, or raise with the name of the extra."""
    try:
        from pyarrow import parquet
    except ImportError as error:
        raise UnsupportedError(
            f"{op}: Parquet needs pyarrow, which is not installed; pip install 'headrace[parquet]'"
        ) from error
    if is_strict():
        raise UnsupportedError(
            f"{op}: Parquet is read and written by pyarrow, and hr.strict() is on; use "
            "CSV, or switch strict mode off"
        )
    return parquet


def _call(op: str, path: Any, work: Any) -> Any:
    """Call pyarrow; its errors become ours, its time counts as a fallback."""
    import pyarrow as pa

    start = time.perf_counter()
    try:
        return work()
    except InputError:
        raise
    except (OSError, pa.ArrowException) as error:
        code = getattr(error, "errno", None) or 0
        name = path if isinstance(path, str) else ""
        raise input_error(f"{op}: {error}: path={path!r}", name, code) from error
    finally:
        _core.record_fallback(op, "Parquet by pyarrow", time.perf_counter() - start)


def _aside(work: Any) -> Any:
    """Run `work` on another thread: on this one, Ctrl-C would wait for pyarrow."""
    from concurrent.futures import ThreadPoolExecutor

    thread = ThreadPoolExecutor(1)
    try:
        return thread.submit(work).result()
    finally:
        thread.shutdown(wait=False)


def _place(op: str, source: Any) -> Any:
    if isinstance(source, str | os.PathLike):
        return os.fspath(source)
    if hasattr(source, "read"):
        return source
    if isinstance(source, bytes | bytearray | memoryview):
        import io

        return io.BytesIO(source)
    raise TypeMismatchError(
        f"{op}: expected a path, bytes or a file: type={type(source).__name__!r}"
    )


def _stamp(op: str, path: Any) -> tuple[int, ...] | None:
    if not isinstance(path, str):
        return None
    try:
        found = os.stat(path)
        if stat.S_ISDIR(found.st_mode):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
    except OSError as error:
        what = f"{op}: cannot read the file: path={path!r}; {error.strerror}"
        raise input_error(what, path, error.errno or 0) from None
    return (found.st_size, found.st_mtime_ns, found.st_ino)


def _wanted(op: str, columns: Iterable[str] | None, names: list[str]) -> list[str]:
    if isinstance(columns, str):
        raise TypeMismatchError(f"{op}: expected a list of strings: columns={columns!r}")
    wanted = names if columns is None else list(columns)
    for name in wanted:
        if name not in names:
            _core.no_such_column(op, names, name)
    return wanted


def _table(op: str, arrow: Any) -> _core.Table:
    """The columns of a pyarrow table; raises with name and type for an unsupported one."""
    columns = _core.from_arrow(arrow, op)
    return _core.Table(columns.names, [columns.column(i, op) for i in range(len(columns.names))])


class _Groups:
    """The row groups of a file for the engine: column statistics and rows."""

    def __init__(
        self, op: str, place: Any, file: Any, names: list[str], stamp: tuple[int, ...] | None
    ) -> None:
        self.op, self.place, self.names = op, place, names
        self.file = file
        self.stamp = stamp
        self.none = _table(op, file.schema_arrow.empty_table().select(names))

    def _check(self) -> None:
        if self.stamp is not None and _stamp(self.op, self.place) != self.stamp:
            what = f"{self.op}: the file changed since it was scanned: path={self.place!r}"
            raise input_error(what, self.place)

    def rows(self) -> list[int]:
        """Row counts of the groups."""
        metadata = self.file.metadata
        return [metadata.row_group(g).num_rows for g in range(metadata.num_row_groups)]

    def bounds(self, column: int) -> _core.Table:
        """Minimum, maximum and null count of a column in each group."""
        from headrace.io.parquet_statistics import bounds

        return _table(self.op, bounds(self.file, self.names[column]))

    def read(self, columns: list[int]) -> _core.Table:
        """Read these columns completely."""
        self._check()
        names = [self.names[c] for c in columns]
        metadata = self.file.metadata
        groups = (metadata.row_group(g) for g in range(metadata.num_row_groups))
        many = sum(group.total_byte_size for group in groups) > _SOON

        def read() -> Any:
            return self.file.read(columns=names).select(names)

        arrow = _call(self.op, self.place, lambda: _aside(read) if many else read())
        return _table(self.op, arrow)

    def batches(self, group: int, columns: list[int], rows: int) -> Iterator[_core.Table]:
        """Read these columns of one group in batches of rows.

        The file is reopened, since a reader keeps its last decoded page; pages are read one by one,
        so that a few rows need few bytes.
        """
        import pyarrow as pa

        self._check()
        names = [self.names[c] for c in columns]
        read = functools.partial(_call, self.op, self.place)
        pages = functools.partial(
            _pyarrow(self.op).ParquetFile,
            self.place,
            metadata=self.file.metadata,
            buffer_size=_PAGES,
            pre_buffer=False,
        )
        with read(pages) as file:
            batches = read(lambda: file.iter_batches(rows, row_groups=[group], columns=names))
            while (batch := read(lambda: next(batches, None))) is not None:
                yield _table(self.op, pa.Table.from_batches([batch]).select(names))


def _frame(op: str, source: Any, columns: Iterable[str] | None, now: bool) -> DataFrame:

    mark(op)
    parquet = _pyarrow(op)
    place = _place(op, source)
    # Reads go to the opened file, even if its path names another one by then.
    stamp = _stamp(op, place)
    file = _call(op, place, lambda: parquet.ParquetFile(place))
    names = _wanted(op, columns, list(file.schema_arrow.names))
    groups = _Groups(op, place, file, names, None if now else stamp)
    if now:
        return frame_of_table(groups.read(list(range(len(names)))))
    name = os.path.basename(place) if isinstance(place, str) else "a file object"
    table = _core.row_groups_table(op, name, groups.none, groups.rows(), groups)
    return frame_of_parts(table, names)


def read_parquet(source: Source, *, columns: Iterable[str] | None = None) -> DataFrame:
    """Read a Parquet file, for now through pyarrow, whose memory the columns share.

    Parameters
    ----------
    source : path, bytes or binary file object
        A Parquet file.
    columns : list of str, optional
        The columns to read, in this order; the others are not touched.

    Raises
    ------
    hr.UnsupportedError
        Without pyarrow (install ``headrace[parquet]``), under `hr.strict`, and for columns of an
        unsupported type.
    hr.InputError
        (an OSError) For an unreadable source; for a missing file also a FileNotFoundError.
    hr.ColumnNotFoundError
        (a KeyError) For an unknown column.

    Notes
    -----
    `hr.fallbacks` counts the time, since this is not a native reader. Memory allocated by pyarrow
    is outside the budget; joined chunks are inside.

    >>> hr.DataFrame({"x": [1, 2], "s": ["a", None]}).to_parquet("/tmp/hr-doc.parquet")
    >>> hr.read_parquet("/tmp/hr-doc.parquet", columns=["s"]).to_dict()
    {'s': ['a', None]}
    """
    return _frame("read_parquet", source, columns, now=True)


def scan_parquet(source: Source, *, columns: Iterable[str] | None = None) -> DataFrame:
    """The same, lazy: names, dtypes and row count now, columns on use.

    Raises if the file changes between this call and the read.

    >>> hr.DataFrame({"x": [1, 2], "s": ["a", None]}).to_parquet("/tmp/hr-doc.parquet")
    >>> frame = hr.scan_parquet("/tmp/hr-doc.parquet")
    >>> frame.dtypes["s"], frame.x.sum().item()
    (dtype('string'), 3)
    """
    return _frame("scan_parquet", source, columns, now=False)


def write_parquet(
    frame: DataFrame, path: str | os.PathLike[str], *, compression: str = "snappy"
) -> None:
    """Write a frame as a Parquet file, for now through pyarrow; also ``DataFrame.to_parquet``.

    The file is replaced whole or not at all, as by `write_csv`. Labels are written as columns. All
    cores encode columns of row groups of 2^20 rows, written while later ones are encoded.

    Parameters
    ----------
    path : path
        File to write.
    compression : {"snappy", "gzip", "zstd", "lz4", "none"}
        Codec of the pages.

    Raises
    ------
    hr.UnsupportedError
        Without pyarrow (install ``headrace[parquet]``), and under `hr.strict`.
    hr.InputError
        (an OSError) If writing fails; the old file is untouched.
    """
    mark("to_parquet")
    parquet = _pyarrow("to_parquet")
    import pyarrow as pa

    table = frame.to_arrow()

    def encode(row: int, rows: int, column: int, columns: int) -> Any:
        part = table.select(range(column, column + columns)).slice(row, rows)
        file = pa.BufferOutputStream()
        parquet.write_table(part, file, compression=compression)
        return file.getvalue()

    place = os.fspath(path)
    size = (table.num_rows, table.num_columns)
    _call("to_parquet", place, lambda: _core.write_parquet(place, *size, encode))
