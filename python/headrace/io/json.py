# SPDX-License-Identifier: Apache-2.0
"""JSON lines and arrays of objects, read and written by the engine; other shapes by pandas."""

from __future__ import annotations

import io
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import IO, TYPE_CHECKING, Any, Literal, overload

from headrace import _core
from headrace.dtypes import dtype_word
from headrace.errors import InvalidArgumentError, TypeMismatchError, UnsupportedError
from headrace.frame.columns import frame_of_parts
from headrace.interop import through_pandas
from headrace.io import sources
from headrace.io.lines import Lines
from headrace.lazy.handle import mark
from headrace.provenance.sources import recorded
from headrace.rows import whole_number
from headrace.series.timezone import know_zone

if TYPE_CHECKING:
    from typing import BinaryIO

    import numpy.typing as npt

    from headrace.frame.dataframe import DataFrame
    from headrace.stream.stream import Stream

    Source = str | os.PathLike[str] | bytes | BinaryIO | io.StringIO
    Sources = Source | Sequence[Source]

__all__ = ["read_json", "scan_json", "to_json"]

#: Bytes that tell the shape of a source.
_HEAD = 1 << 16
#: pandas' options that change nothing here.
_IGNORED = frozenset({"engine", "precise_float"})
#: pandas' values of options that mean what the engine does anyway.
_DEFAULTS = {
    "typ": "frame",
    "convert_axes": None,
    "encoding": None,
    "encoding_errors": "strict",
    "chunksize": None,
    "storage_options": None,
    "date_unit": None,
}
_WRITER_DEFAULTS = {
    "date_format": "iso",
    "force_ascii": False,
    "default_handler": None,
    "index": None,
    "indent": None,
    "mode": "w",
    "compression": "infer",
    "storage_options": None,
}


def _is_url(source: Any) -> bool:
    return isinstance(source, str) and re.match(r"[a-z0-9]{2,}://", source) is not None


def _head(source: Any) -> bytes:
    """The first bytes of a source that can be read again; nothing of others."""
    if isinstance(source, str | os.PathLike):
        try:
            with open(source, "rb") as file:
                return file.read(_HEAD)
        except OSError:
            return b""  # the reader says what is wrong
    if not hasattr(source, "read"):
        return bytes(memoryview(source)[:_HEAD])
    if not (hasattr(source, "seekable") and source.seekable()):
        return b""
    place = source.tell()
    head = source.read(_HEAD)
    source.seek(place)
    return head if isinstance(head, bytes) else b""


def _is_one_object(source: Any) -> bool:
    """Whether the source is one object of columns or rows, as pandas writes by default."""
    from json import loads

    head = _head(source).removeprefix(b"\xef\xbb\xbf").lstrip()
    if not head.startswith(b"{"):
        return False
    first, line_end, rest = head.partition(b"\n")
    try:
        value = loads(first)
    except ValueError:  # cut off, or an object in several lines
        return bool(line_end) or re.match(rb'\{\s*"[^"]*"\s*:\s*[\[{]', head) is not None
    members = list(value.values()) if isinstance(value, dict) else []
    return bool(members) and not rest.strip() and all(isinstance(m, dict | list) for m in members)


def _options(
    op: str,
    lines: bool | None,
    columns: Sequence[str] | None,
    dtypes: Mapping[str, Any] | None,
    num_rows: int | None,
    on_bad: str,
    compression: str,
) -> _core.JsonOptions:
    if isinstance(columns, str) or not all(isinstance(name, str) for name in columns or ()):
        raise TypeMismatchError(f"{op}: expected a list of strings: columns={columns!r}")
    words = {name: dtype_word(dtype) for name, dtype in (dtypes or {}).items()}
    for word in words.values():
        know_zone(word)
    rows = -1 if num_rows is None else whole_number(op, "num_rows", num_rows)
    if num_rows is not None and rows < 0:
        raise InvalidArgumentError(f"{op}: expected 0 or more: num_rows={num_rows}")
    return _core.JsonOptions(lines, list(columns or ()), words, rows, on_bad, compression)


@overload
def read_json(
    source: Sources | Iterator[bytes],
    *,
    orient: str | None = None,
    lines: bool | None = None,
    columns: Sequence[str] | None = None,
    dtypes: Mapping[str, npt.DTypeLike] | None = None,
    num_rows: int | None = None,
    on_bad: Literal["error", "reject"] = "error",
    compression: Literal["infer", "none", "gzip", "zstd"] = "infer",
    include_file_paths: str | None = None,
    hive_partitioning: bool | None = None,
    storage_options: Mapping[str, Any] | None = None,
    follow: Literal[False] = False,
    **pandas: Any,
) -> DataFrame: ...


@overload
def read_json(
    source: Source | Iterator[bytes],
    *,
    lines: bool | None = None,
    columns: Sequence[str] | None = None,
    dtypes: Mapping[str, npt.DTypeLike] | None = None,
    on_bad: Literal["error", "reject"] = "error",
    follow: Literal[True],
    poll: Any = "200ms",
    position: Any = None,
) -> Stream: ...


@recorded
def read_json(
    source: Sources | Iterator[bytes],
    *,
    orient: str | None = None,
    lines: bool | None = None,
    columns: Sequence[str] | None = None,
    dtypes: Mapping[str, npt.DTypeLike] | None = None,
    num_rows: int | None = None,
    on_bad: Literal["error", "reject"] = "error",
    compression: Literal["infer", "none", "gzip", "zstd"] = "infer",
    include_file_paths: str | None = None,
    hive_partitioning: bool | None = None,
    storage_options: Mapping[str, Any] | None = None,
    follow: bool = False,
    poll: Any = "200ms",
    position: Any = None,
    **pandas: Any,
) -> DataFrame | Stream:
    r"""Read JSON lines, or an array of objects, straight into columns, on all cores.

    Parameters
    ----------
    source : path, URL, bytes, file object or iterator of bytes, or a list of sources
        Plain or packed; the codec is detected from the first bytes. A list, a folder or a pattern
        makes one frame of all files, as `read_csv` says.
    orient : str, optional
        "records" (rows as objects) is read by the engine. Other shapes of pandas ("columns",
        "index", "split", "values", "table") are read by pandas, as `hr.fallbacks` lists.
    lines : bool, optional
        True: an object a line, blank lines skipped. False: one array of objects. Otherwise by the
        first byte; a source that is one object of objects or arrays is read by pandas.
    columns : list of str, optional
        The columns to read, in this order; of the others only the syntax is checked.
    dtypes : {name: dtype}, optional
        Fixed dtypes: bool, numbers, string, date, ``datetime64[...]`` or category. A string column
        keeps numbers, arrays and objects as their JSON text. Others are inferred from all rows:
        int64, uint64, float64 where one has a point, bool, dates and ``datetime64[us]`` (``[ns]``
        where one is finer) where all strings are ISO 8601 without zone, else string; arrays are
        lists, objects structs. A key that a row lacks is null; all null is float64.
    num_rows : int, optional
        Maximum number of rows.
    on_bad : {"error", "reject"}
        A row that is not JSON, is no object, or has a value that does not go with the first one of
        its column (a string after numbers) raises an error with file, line, column and key; or it
        goes to ``result.rejects``, a frame of line, column, text and reason. Rows in = rows out +
        rejects. In an array, what is not JSON is always an error.
    compression : {"infer", "none", "gzip", "zstd"}
    include_file_paths, hive_partitioning, storage_options
        As for `read_csv`.
    follow : bool
        Return a `Stream` of frames of JSON lines as they come; see `read_csv`. Its columns are
        those of the first batch and of `dtypes`; keys that come later are left out.
    poll, position
        As for `read_csv`.
    **pandas
        ``dtype`` and ``nrows`` are pandas' names of `dtypes` and `num_rows`. With its other options
        (``chunksize``, ``convert_dates``, ``typ``, ...) pandas itself reads.

    Raises
    ------
    hr.InputError
        (an OSError) For an unreadable source or the first bad row.
    hr.UnsupportedError
        For a column of objects that are all empty: read it as string.
    hr.ColumnNotFoundError
        (a KeyError) For a name in `columns` that no row has.

    Notes
    -----
    RFC 8259 to the letter, in at most 64 levels. Of equal keys of an object the last one counts.
    Half a surrogate pair is no character, so its row is bad. Floats are correctly rounded, and
    infinite where they are too large. One pass over the text, whose pieces become columns that are
    joined at the end.

    >>> df = hr.read_json(b'{"a": 1, "b": ["x"]}\n{"a": 2.5}\n')
    >>> df.to_dict()
    {'a': [1.0, 2.5], 'b': [['x'], None]}
    """
    if follow:
        given = {"orient": orient, "num_rows": num_rows, "lines": lines is not False, **pandas}
        return _followed(source, columns, dtypes, on_bad, poll, position, given)
    source = sources.as_file("read_json", source)
    given = {name: value for name, value in pandas.items() if name not in _IGNORED}
    if "nrows" in given:
        num_rows = given.pop("nrows")
    if isinstance(given.get("dtype"), Mapping):
        dtypes = given.pop("dtype")
    others = {n: v for n, v in given.items() if n not in _DEFAULTS or v != _DEFAULTS[n]}
    by_pandas = bool(others) or orient not in (None, "records")
    if not by_pandas:
        if isinstance(source, io.TextIOBase):
            source = source.read().encode()
        of = sources.find(
            "read_json",
            source,
            include_file_paths=include_file_paths,
            hive_partitioning=hive_partitioning,
            storage_options=storage_options,
        )
        is_one = not of.are_several and _is_one_object(of.each[0])
        by_pandas = orient is None and not lines and is_one
    if by_pandas:
        shown: dict[str, Any] = {"lines": lines, "nrows": num_rows, "dtype": dtypes, **others}
        shown = {name: value for name, value in shown.items() if value is not None}
        text = io.BytesIO(source) if isinstance(source, bytes) else source
        return through_pandas.read_json(text, orient=orient, **shown)
    mark("read_json")
    own = _own(columns, of)

    def read(at: int, rows: int | None) -> DataFrame:
        options = _options("read_json", lines, own, dtypes, rows, on_bad, compression)
        table, bad = _core.read_json(of.each[at], options)
        return of.frame(at, table, bad if on_bad == "reject" else None)

    return _chosen(of.rows(read, num_rows), columns, of)


def _own(columns: Sequence[str] | None, of: sources.Sources) -> Sequence[str] | None:
    """The columns that the files have themselves."""
    if columns is None or isinstance(columns, str):
        return columns
    return [name for name in columns if name not in of.values]


def _chosen(frame: DataFrame, columns: Sequence[str] | None, of: sources.Sources) -> DataFrame:
    """The columns in the order that was asked for."""
    if not columns or not of.values:
        return frame
    made = frame[list(columns)]
    made._rejects = frame._rejects
    return made


def _followed(
    source: Any,
    columns: Sequence[str] | None,
    dtypes: Mapping[str, Any] | None,
    on_bad: Any,
    poll: Any,
    position: Any,
    options: Mapping[str, Any],
) -> Stream:
    """The rows of JSON lines as they come."""
    for name, value in options.items():
        if value not in (None, True):
            raise UnsupportedError(
                f"read_json: an option that a stream does not have: {name}={value!r}, "
                "follow=True; change the frames that it gives"
            )
    wanted = None if columns is None else list(columns)
    words = {name: dtype_word(dtype) for name, dtype in (dtypes or {}).items()}

    def read(text: bytes, known: dict[str, str]) -> DataFrame:
        made: DataFrame = read_json(text, lines=True, dtypes=known, on_bad=on_bad)
        return made if wanted is None else made[[n for n in wanted if n in made._nodes]]

    from headrace.stream.stream import text_stream

    return text_stream("read_json", source, Lines("read_json", read, words), poll, position)


@recorded
def scan_json(
    source: Sources,
    *,
    lines: bool | None = None,
    columns: Sequence[str] | None = None,
    dtypes: Mapping[str, npt.DTypeLike] | None = None,
    num_rows: int | None = None,
    compression: Literal["infer", "none", "gzip", "zstd"] = "infer",
    include_file_paths: str | None = None,
    hive_partitioning: bool | None = None,
    storage_options: Mapping[str, Any] | None = None,
) -> DataFrame:
    r"""The same, lazy: all rows are read once for the schema now, columns on use.

    Only the columns that the plan needs are built, of a prefix only its rows. Raises if the file
    changes between this call and the read.

    >>> df = hr.scan_json(b'{"a": 1, "b": "x"}\n{"a": 2, "b": "y"}\n')
    >>> df.columns, int(df.a.sum())
    (['a', 'b'], 3)
    """
    mark("scan_json")
    if isinstance(source, io.TextIOBase):
        source = source.read().encode()
    of = sources.find(
        "scan_json",
        source,
        include_file_paths=include_file_paths,
        hive_partitioning=hive_partitioning,
        storage_options=storage_options,
    )
    own = _own(columns, of)
    frames: list[DataFrame] = []
    for at, each in enumerate(of.each):
        options = _options("scan_json", lines, own, dtypes, num_rows, "error", compression)
        scan = _core.JsonScan(each, options)
        frames.append(of.with_values(frame_of_parts(_core.scan_json(scan), scan.names), at))
        of.check_frame(at, frames[0], frames[at])
    made = sources.stacked(frames, num_rows) if of.are_several else frames[0]
    return _chosen(made, columns, of)


def to_json(
    frame: DataFrame,
    path: str | os.PathLike[str] | IO[Any] | None = None,
    *,
    orient: str | None = None,
    lines: bool = False,
    durable: bool = True,
    **pandas: Any,
) -> str | None:
    """See `DataFrame.to_json`."""
    others = {n: v for n, v in pandas.items() if _WRITER_DEFAULTS.get(n, ...) != v}
    is_records = orient == "records" or (orient is None and lines)
    is_packed = isinstance(path, str | os.PathLike) and re.search(
        r"\.(gz|bz2|zip|xz|zst|tar)$", os.fspath(path)
    )
    if others or not is_records or is_packed or _is_url(path):
        text: str | None = through_pandas.written(
            frame, "to_json", path, orient=orient, lines=lines, **pandas
        )
        return text
    mark("to_json")
    rows = frame.reset_index(drop=True) if frame._labels else frame
    for node in rows._every():
        know_zone(node.dtype)
    if isinstance(path, str | os.PathLike):
        _core.write_json(rows._table(), os.fspath(path), lines, durable)
        return None
    made = _core.json_text(rows._table(), lines)
    if path is None:
        return made.decode()
    path.write(made.decode() if isinstance(path, io.TextIOBase) else made)
    return None
