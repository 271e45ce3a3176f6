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


def _frame(op: str, source: Any, columns: Iterable[str] | None, now: bool) -> DataFrame:
    mark(op)
    place = os.fspath(source) if isinstance(source, os.PathLike) else source
    file = _core.ParquetFile(op, place)
    names = file.names
    if isinstance(columns, str):
        raise TypeMismatchError(f"{op}: expected a list of strings: columns={columns!r}")
    wanted = names if columns is None else list(columns)
    for name in wanted:
        if name not in names:
            _core.no_such_column(op, names, name)
    places = [names.index(name) for name in wanted]
    if now:
        return frame_of_table(file.read(places))
    return frame_of_parts(file.scan(places), wanted)


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
