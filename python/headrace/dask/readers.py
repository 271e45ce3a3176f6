# SPDX-License-Identifier: Apache-2.0
"""Collections from files, by byte ranges and row groups, and from frames, by morsels."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import dask.dataframe as dd

import headrace.dask.dispatch  # noqa: F401 (registers our types)
from headrace import _core
from headrace.errors import Error, InvalidArgumentError, UnsupportedError, input_error
from headrace.frame.columns import frame_of_parts, new_frame
from headrace.io import csv, json, parquet, sources
from headrace.lazy.handle import eval
from headrace.memory.budget import bytes_of

if TYPE_CHECKING:
    from headrace.frame.dataframe import DataFrame

#: Rows of a morsel, the engine's unit of work: sums of partitions that begin at a multiple have
#: the same parts as those of one process.
MORSEL = 1 << 17


def _of_parts(
    function: Any, parts: Sequence[Any], none: DataFrame, label: str, **words: Any
) -> Any:
    """A collection of what a function makes of each part."""
    eval(none)
    return dd.from_map(
        function, list(parts), meta=none, label=label, enforce_metadata=False, **words
    )


# ---- frames --------------------------------------------------------------------------------------
def _slice(rows: tuple[int, int], frame: DataFrame, columns: list[Any] | None = None) -> DataFrame:
    part = frame if columns is None else frame[columns]
    return part.iloc[rows[0] : rows[1]]


def borders(rows: int, partitions: int) -> list[int]:
    """Where partitions of a frame begin, and its end: at morsels where it has enough of them."""
    step = -(-rows // partitions) if partitions else rows
    if rows >= partitions * MORSEL:
        step = -(-step // MORSEL) * MORSEL
    return [*range(0, rows, max(step, 1)), rows] if rows else [0, 0]


def from_frame(frame: Any, *, partitions: int = 1) -> Any:
    """A collection of Dask with the rows of a frame, in order.

    Parameters
    ----------
    frame : DataFrame or Series
        Evaluated; partitions share its memory.
    partitions : int
        The greatest number. They begin at multiples of 2^17 rows where the frame is long enough.

    Returns
    -------
    headrace.dask.DataFrame or headrace.dask.Series
        Labels stay; rows without labels are numbered through.

    >>> import headrace.dask
    >>> rows = headrace.dask.from_frame(hr.DataFrame({"x": [1, 2, 3]}), partitions=2)
    >>> rows.npartitions, rows.x.sum().compute().item()
    (2, 6)
    """
    if partitions < 1:
        raise InvalidArgumentError(
            f"from_frame: expected at least one partition: partitions={partitions}"
        )
    eval(frame)
    rows = len(frame)
    ends = borders(rows, partitions)
    return dd.from_pandas(frame, chunksize=max(ends[1] - ends[0], 1), sort=False)


# ---- CSV -----------------------------------------------------------------------------------------
#: Bytes that are read at a time to find the end of a line.
_LINE_BYTES = 1 << 16


def _line_end(file: Any, at: int, size: int) -> int:
    """The first place after `at` at which a line begins; the size if none does."""
    if at == 0:
        return 0
    place = at - 1
    file.seek(place)
    while place < size:
        held = file.read(_LINE_BYTES)
        if not held:
            return size
        found = held.find(b"\n")
        if found >= 0:
            return min(place + found + 1, size)
        place += len(held)
    return size


def _read_range(
    part: tuple[str, int, int, int], options: dict[str, Any], columns: list[Any] | None = None
) -> DataFrame:
    """The lines of a file that begin in a range of its bytes."""
    path, begin, end, size = part
    with open(path, "rb") as file:
        if os.fstat(file.fileno()).st_size != size:
            raise input_error(
                f"read_csv: the file changed since the collection was made: path={path!r}, "
                f"bytes={size}; make the collection again",
                path,
            )
        first, last = (_line_end(file, at, size) if at < size else size for at in (begin, end))
        file.seek(first)
        held = file.read(last - first)
    words = {**options, "header": options["header"] if begin == 0 else False}
    if not held.strip():
        names = options["names"]
        return new_frame({n: new_frame({n: []})[n].astype(options["dtypes"][n]) for n in names})
    try:
        frame = csv.read_csv(held, **words)
    except Error as error:
        error.add_note(
            f"in the lines of {path} that begin in bytes {begin} to {end}; if values have line "
            "breaks within quotes, pass blocksize=None"
        )
        raise
    return frame if columns is None else frame[columns]


def read_csv(
    urlpath: Any, *, blocksize: int | str | None = "64MB", dtypes: Any = None, **options: Any
) -> Any:
    r"""A collection of the lines of CSV files, a partition for each range of bytes.

    Parameters
    ----------
    urlpath : path, or a list of paths
        As in `headrace.read_csv`: folders and patterns too. Compressed files are one partition.
    blocksize : int or str or None
        Bytes of a partition; None: each file is one. A line break within quotes at a border raises.
    dtypes : mapping, optional
        Dtypes by column. Others are inferred from the beginning of the first file; a later value
        that does not match raises an error that names `dtypes`.
    **options
        As for `headrace.read_csv`.

    >>> import headrace.dask
    >>> hr.DataFrame({"x": [1, 2], "s": ["a", "b"]}).to_csv("example.csv", index=False)
    >>> headrace.dask.read_csv("example.csv").x.sum().compute().item()
    3
    """
    of = csv.found("read_csv", urlpath, {})
    if dtypes is not None:
        options["dtypes"] = dtypes
    none = csv.scan_csv(of.each[0], **options).head(0)
    eval(none)
    names = list(none.columns)
    known = {name: str(dtype) for name, dtype in none.dtypes.items()}
    step = None if blocksize is None else bytes_of(blocksize)
    parts: list[Any] = []
    for path in of.each:
        if not isinstance(path, str | os.PathLike):
            raise UnsupportedError(
                "read_csv: partitions need files that each worker can open: "
                f"type={type(path).__name__!r}; pass paths, or use from_frame"
            )
        parts += _ranges(os.fspath(path), step)
    words = {**options, "dtypes": known, "header": _has_header(of.each[0], names, options)}
    words |= {"names": names} if "names" not in options else {}
    return _of_parts(_read_range, parts, none, "read-csv", options=words)


def _has_header(path: Any, names: list[str], options: dict[str, Any]) -> bool:
    """Whether the files begin with a line of names."""
    header = options.get("header", "infer")
    if header != "infer":
        return header not in (False, None)
    if "names" in options:
        return False
    plain = csv.scan_csv(path, **{**options, "header": False})
    return list(plain.columns) != names


def _ranges(path: str, step: int | None) -> Iterator[tuple[str, int, int, int]]:
    size = os.stat(path).st_size
    with open(path, "rb") as file:
        packed = file.read(4)[:2] in (b"\x1f\x8b", b"(\xb5", b"BZ", b"\xfd7", b'\x04"')
    if step is None or packed:
        step = max(size, 1)
    for begin in range(0, max(size, 1), step):
        yield path, begin, min(begin + step, size), size


# ---- Parquet -------------------------------------------------------------------------------------
def _read_groups(
    part: tuple[str, int, int], columns: list[str] | None = None, wanted: list[str] | None = None
) -> DataFrame:
    """Row groups of a file, lazy: a filter of the same task leaves groups and pages out."""
    path, begin, end = part
    file = _core.ParquetFile("read_parquet", path, False, begin, end)
    names = columns or wanted or file.names
    node = file.scan([file.names.index(name) for name in names])
    return frame_of_parts(node, list(names))


def read_parquet(
    path: Any,
    *,
    columns: Sequence[str] | None = None,
    blocksize: int | str = "128MB",
    **options: Any,
) -> Any:
    """A collection of Parquet files, a partition for some row groups of a file.

    Parameters
    ----------
    path : path, or a list of paths
        As in `headrace.read_parquet`: folders and patterns too.
    columns : list of str, optional
        Only these; columns that a computation does not use are not read in any case.
    blocksize : int or str
        Row groups are taken together up to this number of compressed bytes.

    >>> import headrace.dask
    >>> hr.DataFrame({"x": [1, 2], "s": ["a", "b"]}).to_parquet("example.parquet")
    >>> headrace.dask.read_parquet("example.parquet").x.sum().compute().item()
    3
    """
    known = ("filesystem", "engine", "index", "calculate_divisions", "split_row_groups")
    if others := [name for name, value in options.items() if value and name not in known]:
        raise InvalidArgumentError(
            f"read_parquet: unknown option: options={others}; the options are columns, blocksize"
        )
    of = sources.find("read_parquet", path)
    step, parts = bytes_of(blocksize), []
    for each in of.each:
        begin, held = 0, 0
        sizes = _core.ParquetFile("read_parquet", each, False).row_group_sizes
        for at, (_, size) in enumerate(sizes):
            if held and held + size > step:
                parts.append((each, begin, at))
                begin, held = at, 0
            held += size
        parts.append((each, begin, len(sizes)))
    wanted = None if columns is None else list(columns)
    none = parquet.scan_parquet(of.each[0], columns=wanted).head(0)
    return _of_parts(_read_groups, parts, none, "read-parquet", wanted=wanted)


# ---- JSON ----------------------------------------------------------------------------------------
def _read_json(path: Any, options: dict[str, Any]) -> DataFrame:
    return json.read_json(path, **options)


def read_json(url_path: Any, **options: Any) -> Any:
    """A collection of JSON files, a partition a file; see `headrace.read_json`."""
    options.pop("orient", None)
    of = sources.find("read_json", url_path)
    none = json.scan_json(of.each[0], **options).head(0)
    return _of_parts(_read_json, of.each, none, "read-json", options=options)
