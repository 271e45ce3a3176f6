# SPDX-License-Identifier: Apache-2.0
"""Parquet files: read by the engine, for now written by pyarrow, as listed by `hr.fallbacks`."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable
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


def _pyarrow() -> Any:
    """Import `pyarrow.parquet`, or raise with the name of the extra."""
    try:
        from pyarrow import parquet
    except ImportError as error:
        raise UnsupportedError(
            "to_parquet: Parquet is written by pyarrow, which is not installed; pip install "
            "'headrace[parquet]'"
        ) from error
    if is_strict():
        raise UnsupportedError(
            "to_parquet: Parquet is written by pyarrow, and hr.strict() is on; use CSV, or switch "
            "strict mode off"
        )
    return parquet


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
    """Read a Parquet file. All cores decode; the columns are in the budget.

    Parameters
    ----------
    source : path, bytes or binary file object
        A Parquet file. Of a file object that can seek only the wanted bytes are read.
    columns : list of str, optional
        The columns to read, in this order; the others are not touched.

    Raises
    ------
    hr.UnsupportedError
        For encrypted files, and for wanted columns of a type that Headrace does not have: structs,
        maps, binary data.
    hr.InputError
        (an OSError) For an unreadable source, with path and column of what is damaged; for a
        missing file also a FileNotFoundError.
    hr.ColumnNotFoundError
        (a KeyError) For an unknown column.

    Notes
    -----
    Every byte is checked, text too: whatever a file holds, it ends in a frame or in one of these
    errors. Times of day become timedeltas, UUIDs strings, float16 float32.

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
    parquet = _pyarrow()
    import pyarrow as pa

    table = frame.to_arrow()

    def encode(row: int, rows: int, column: int, columns: int) -> Any:
        part = table.select(range(column, column + columns)).slice(row, rows)
        file = pa.BufferOutputStream()
        parquet.write_table(part, file, compression=compression)
        return file.getvalue()

    place, start = os.fspath(path), time.perf_counter()
    try:
        _core.write_parquet(place, table.num_rows, table.num_columns, encode)
    except InputError:
        raise
    except (OSError, pa.ArrowException) as error:
        code = getattr(error, "errno", None) or 0
        raise input_error(f"to_parquet: {error}: path={place!r}", place, code) from error
    finally:
        _core.record_fallback("to_parquet", "Parquet by pyarrow", time.perf_counter() - start)
