# SPDX-License-Identifier: Apache-2.0
"""Reading and writing files."""

from __future__ import annotations

import inspect
import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal, TypedDict, Unpack, overload

from headrace import _core
from headrace.dtypes import dtype_word, has_no_nan
from headrace.errors import InvalidArgumentError, TypeMismatchError, UnsupportedError
from headrace.frame.columns import frame_of_parts, frame_of_table
from headrace.io import csv_many, pandas_csv, sources
from headrace.io.csv_rows import CsvRows
from headrace.lazy.handle import mark
from headrace.provenance.sources import recorded
from headrace.rows import whole_number
from headrace.series.timezone import know_zone

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from typing import BinaryIO, TypeVar

    import numpy.typing as npt

    from headrace.frame.dataframe import DataFrame
    from headrace.stream.stream import Stream

    Source = str | os.PathLike[str] | bytes | BinaryIO
    Sources = Source | Sequence[Source]
    _Reader = TypeVar("_Reader", bound="Callable[..., Any]")

__all__ = ["read_csv", "read_table", "scan_csv", "write_csv"]


class CsvOptions(TypedDict, total=False):
    """Options of `read_csv` and `scan_csv`; below, those that go by pandas' names."""

    delimiter: str
    quote: str | None
    comment: str | None
    header: Literal["infer", True, False] | None
    names: Sequence[str]
    columns: Sequence[str] | Sequence[int] | None
    dtypes: Mapping[str, npt.DTypeLike] | Sequence[npt.DTypeLike] | npt.DTypeLike | None
    null_words: Sequence[str]
    true_words: Sequence[str]
    false_words: Sequence[str]
    null_padding: bool
    truncate_ragged_lines: bool
    skip_rows: int
    num_rows: int | None
    compression: Literal["infer", "none", "gzip", "zstd", "bz2", "xz", "lz4"]
    include_file_paths: str | None
    hive_partitioning: bool | None
    storage_options: Mapping[str, Any] | None

    sep: str
    usecols: Sequence[str] | Sequence[int] | None
    dtype: Mapping[str, npt.DTypeLike] | Sequence[npt.DTypeLike] | npt.DTypeLike | None
    na_values: Any
    true_values: Sequence[str] | None
    false_values: Sequence[str] | None
    quoting: int
    skiprows: int
    nrows: int | None
    quotechar: str | None
    encoding: str | None
    parse_dates: bool | Sequence[str] | Sequence[int] | None
    index_col: str | int | Sequence[str] | Sequence[int] | Literal[False] | None


_DEFAULTS: CsvOptions = {
    "delimiter": ",",
    "quote": '"',
    "comment": None,
    "header": "infer",
    "names": (),
    "columns": None,
    "dtypes": None,
    "null_words": (
        *("", "NA", "N/A", "n/a", "#N/A", "#N/A N/A", "#NA", "<NA>", "None", "null", "NULL"),
    ),
    "true_words": (),
    "false_words": (),
    "null_padding": False,
    "truncate_ragged_lines": False,
    "skip_rows": 0,
    "num_rows": None,
    "compression": "infer",
    "include_file_paths": None,
    "hive_partitioning": None,
    "storage_options": None,
}
#: Options of `sources.find`.
_OF_SOURCES = ("include_file_paths", "hive_partitioning", "storage_options")
_HEADERS = {"infer": "infer", True: "yes", False: "no", None: "no"}


#: pandas' names of options that have another name here.
_PANDAS = {
    "sep": "delimiter",
    "usecols": "columns",
    "dtype": "dtypes",
    "na_values": "null_words",
    "skiprows": "skip_rows",
    "nrows": "num_rows",
    "quotechar": "quote",
    "true_values": "true_words",
    "false_values": "false_words",
}
#: pandas options that are not needed, or replaced by another call.
_INSTEAD = {
    "parse_dates": "dates and times are inferred; dtypes={name: 'date'} forces them",
    "index_col": "call set_index(name) on the frame",
    "encoding": "only UTF-8 can be scanned; use read_csv",
    "chunksize": "scan_csv reads only what is needed",
}


def _shows_options(reader: _Reader) -> _Reader:
    """The reader; its signature, as `help` shows it, names each option with its default."""
    signature = inspect.signature(reader)
    *own, _ = signature.parameters.values()
    named = inspect.Parameter.KEYWORD_ONLY
    options = [
        inspect.Parameter(
            name,
            named,
            default=default,
            annotation=CsvOptions.__annotations__[name].__forward_arg__,
        )
        for name, default in _DEFAULTS.items()
    ]
    pandas = inspect.Parameter("pandas", inspect.Parameter.VAR_KEYWORD, annotation="Any")
    reader.__signature__ = signature.replace(parameters=[*own, *options, pandas])  # type: ignore[attr-defined]
    return reader


def _in_our_words(op: str, given: Mapping[str, Any], options: dict[str, Any]) -> dict[str, Any]:
    """The options with what is given, also by pandas' names, which go first."""
    options |= {name: value for name, value in given.items() if name in options}
    for word, value in given.items():
        if word in _DEFAULTS:
            continue
        if word not in _PANDAS and word != "quoting":
            from difflib import get_close_matches

            known = [*options, *_PANDAS, *_INSTEAD]
            close = get_close_matches(word, known, 1)
            meant = f"; did you mean {close[0]!r}?" if close and word not in _INSTEAD else ""
            fix = f"; {_INSTEAD[word]}" if word in _INSTEAD else ""
            raise TypeMismatchError(f"{op}: unknown option: option={word!r}{fix}{meant}")
        if word == "na_values":
            if isinstance(value, Mapping):
                raise TypeMismatchError(
                    f"{op}: null words apply to all columns: na_values={value!r}; use "
                    "frame.replace({name: {word: None}})"
                )
            own = list(value) if isinstance(value, list | tuple | set) else [value]
            options["null_words"] = [*options["null_words"], *map(str, own)]
        elif word == "quoting":
            options["quote"] = None if value == 3 else options["quote"]
        else:
            options[_PANDAS[word]] = value
    return options


def _listed(op: str, option: str, value: Any) -> list[Any]:
    """A list; raises for anything else."""
    try:
        return list(value)
    except TypeError:
        raise TypeMismatchError(f"{op}: expected a list: {option}={value!r}") from None


def _words(op: str, option: str, value: Any) -> list[str]:
    """A list of strings; a single string would be split into characters."""
    words = [] if isinstance(value, str | bytes) else _listed(op, option, value)
    if isinstance(value, str | bytes) or not all(isinstance(word, str) for word in words):
        raise TypeMismatchError(f"{op}: expected a list of strings: {option}={value!r}")
    return words


def row_count(op: str, option: str, value: Any) -> int:
    """A number of rows; raises for anything else."""
    rows = whole_number(op, option, value)
    if rows < 0:
        raise InvalidArgumentError(f"{op}: the number of rows is negative: {option}={rows}")
    return rows


def csv_options(op: str, given: Any, on_bad: str = "error") -> _core.CsvOptions:
    """The options of a reader."""
    mark(op)
    options = _in_our_words(op, given, {**_DEFAULTS, "on_bad": on_bad})
    dtypes, columns, header = (options.pop(name) for name in ("dtypes", "columns", "header"))
    for name in _OF_SOURCES:
        del options[name]
    if type(header) is int and header == 0:  # the first row, in pandas' notation
        header = True
    if not isinstance(header, str | bool | None) or header not in _HEADERS:
        raise InvalidArgumentError(
            f"{op}: invalid value: header={header!r}; expected 'infer', True or False"
        )
    chosen: Any = columns
    if not isinstance(columns, str):
        chosen = [] if columns is None else _listed(op, "columns", columns)
    by_name = any(isinstance(c, str) for c in chosen)
    options["columns"] = _words(op, "columns", chosen) if by_name else []
    options["column_indices"] = [] if by_name else [whole_number(op, "columns", c) for c in chosen]
    for option in ("true_words", "false_words"):
        options[option] = () if options[option] is None else options[option]
    for option in ("null_padding", "truncate_ragged_lines"):
        if not isinstance(options[option], bool):
            raise TypeMismatchError(f"{op}: expected a bool: {option}={options[option]!r}")
    for option in ("names", "null_words", "true_words", "false_words"):
        options[option] = _words(op, option, options[option])
    if isinstance(dtypes, list | tuple):
        if len(dtypes) != len(options["names"]):
            raise InvalidArgumentError(
                f"{op}: a list of dtypes needs as many names: dtypes={len(dtypes)}, "
                f"names={len(options['names'])}"
            )
        dtypes = dict(zip(options["names"], dtypes, strict=True))
    each = dict(dtypes) if isinstance(dtypes, Mapping) else {}
    _words(op, "dtypes", each)
    for option in ("delimiter", "quote", "comment", "compression", "on_bad"):
        value = options[option]
        if not isinstance(value, str) and (value is not None or option not in ("quote", "comment")):
            raise TypeMismatchError(f"{op}: expected a string: {option}={value!r}")
    options["skip_rows"] = row_count(op, "skip_rows", options["skip_rows"])
    most = options["num_rows"]
    options["num_rows"] = -1 if most is None else row_count(op, "num_rows", most)
    for dtype in each.values() if isinstance(dtypes, Mapping) else [dtypes]:
        if has_no_nan(dtype):
            raise TypeMismatchError(
                f"{op}: a dtype without NaN, which the text may hold: dtype={str(dtype)!r}; read "
                f"'{str(dtype).lower()}' and use astype({str(dtype)!r})"
            )
    options["dtypes"] = {name: dtype_word(dtype) for name, dtype in each.items()}
    for_all = None if dtypes is None or isinstance(dtypes, Mapping) else dtype_word(dtypes)
    options["dtype"] = for_all
    for word in (*options["dtypes"].values(), for_all or ""):
        know_zone(word)
    options["header"] = _HEADERS[header]
    made = _core.CsvOptions()
    for name, value in options.items():
        setattr(made, name, value)
    return made


@recorded
@_shows_options
def scan_csv(source: Sources, **options: Unpack[CsvOptions]) -> DataFrame:
    r"""A lazy frame over a CSV source: sniffed now, read on use, as far as needed.

    Size, time and inode of the source are recorded at the call; a later change raises when it is
    read. Parameters are those of `read_csv`, without ``on_bad``.

    Filters (``df[df.a > 5]``) are pushed down: `explain` shows them in the line of ``read_csv``.
    Rows that they drop are checked for their number of fields and in the columns that the filter
    reads, not in the others. So it is with a list of files or a pattern (see `read_csv`), each of
    which is a line of `explain`: the first file gives the dtypes, and a value of a later one that
    does not match raises an error with file, line and column.

    >>> df = hr.scan_csv(b"a,b\n1,x\n2,y\n")
    >>> df.columns, int(df.a.sum())
    (['a', 'b'], 3)
    """
    of = found("scan_csv", source, options)
    given, most = row_limit("scan_csv", options, of)
    scans = csv_many.scans_of(of, csv_options("scan_csv", given), True)
    frames = [
        of.with_values(frame_of_parts(_core.scan_csv(scan), scan.names), at)
        for at, scan in enumerate(scans)
    ]
    return sources.stacked(frames, most) if of.are_several else frames[0]


def found(op: str, source: Any, given: Mapping[str, Any]) -> sources.Sources:
    """The sources that a reader was given, by its options of any words."""
    return sources.find(op, source, **{n: given[n] for n in _OF_SOURCES if n in given})


@overload
def read_csv(
    source: Sources | Iterator[bytes],
    *,
    on_bad: Literal["error", "reject"] = "error",
    follow: Literal[False] = False,
    **options: Unpack[CsvOptions],
) -> DataFrame: ...


@overload
def read_csv(
    source: Source | Iterator[bytes],
    *,
    on_bad: Literal["error", "reject"] = "error",
    follow: Literal[True],
    poll: Any = "200ms",
    position: Any = None,
    **options: Unpack[CsvOptions],
) -> Stream: ...


@recorded
@_shows_options
def read_csv(
    source: Sources | Iterator[bytes],
    *,
    on_bad: Literal["error", "reject"] = "error",
    follow: bool = False,
    poll: Any = "200ms",
    position: Any = None,
    **options: Unpack[CsvOptions],
) -> DataFrame | Stream:
    r"""Read CSV text straight into columns, on all cores.

    Parameters
    ----------
    source : path, URL, bytes, binary file object or iterator of bytes, or a list of these
        Plain, gzip, zstd, bz2, xz or lz4; the codec is detected from the first bytes. A list, a
        folder (with all files below), or a path with ``*``, ``?``, ``[...]`` or ``**`` (any
        folders) that is not itself a file, makes one frame of all files, in the order of the list
        or of the sorted paths. URLs need fsspec (``headrace[fsspec]``).
    delimiter, quote, comment : str
        One character each; None disables quotes or comments.
    header : {"infer", True, False}
        Whether the first row holds the names. "infer": yes, unless `names` are given. Without names
        columns are called 0, 1, ...
    names : list of str, optional
        Names of the columns.
    columns : list of str or int, optional
        The columns to read, in this order.
    dtypes : dtype, {name: dtype} or list of dtypes, optional
        Fixed dtypes, of a list one for each of `names`; the others are inferred from samples: bool,
        int64, uint64, float64, date, ``datetime64[us]`` (``[ns]`` where a time has more than six
        digits of fraction) or string.
        ``category`` only on request.
    null_words : list of str
        Fields read as null. ``nan`` is NaN, which is a value.
    true_words, false_words : list of str
        Fields that are bools, in addition to ``true``, ``True``, ``TRUE`` and the same for false: a
        column in which all values are such is inferred as bool.
    null_padding : bool
        Fields that a row lacks at its end are null; else such a row is bad.
    truncate_ragged_lines : bool
        Fields of a row behind the last column are dropped; else such a row is bad.
    skip_rows : int
        Lines to skip at the top.
    num_rows : int, optional
        Maximum number of rows, of all files together.
    on_bad : {"error", "reject"}
        A row with a wrong number of fields or a value that does not match its dtype raises an error
        with file, line, column and text; or it goes to ``result.rejects``, a frame of line, column,
        text and reason, and of path for several files. Rows in = rows out + rejects.
    follow : bool
        Return a `Stream` of frames: of a file that grows (also rotated or truncated), of an
        iterator of bytes or of a file object that blocks; see `hr.stream`. Each batch has the whole
        rows that were there. The first one decides columns and dtypes, unless `dtypes` does.
    poll : str or timedelta
        With `follow`: how long to wait before more of a file is read.
    position : optional
        With `follow`: ``stream.position`` of an earlier stream, to go on from there.
    compression : {"infer", "none", "gzip", "zstd", "bz2", "xz", "lz4"}
    include_file_paths : str, optional
        Name of a column for the path of the file that a row comes from.
    hive_partitioning : bool, optional
        Whether folders named ``key=value`` make columns, behind those of the files: integers,
        dates or strings. None: those of a folder or a pattern do.
    storage_options : dict, optional
        Options of the file system of a URL.
    **pandas
        pandas' names: ``sep``, ``usecols`` (also a function of a name), ``dtype``, ``na_values``
        (added to the null words), ``skiprows``, ``nrows``, ``quotechar``, ``true_values``,
        ``false_values``, ``quoting`` (3, `csv.QUOTE_NONE`, is ``quote=None``); ``index_col`` makes
        columns the labels; ``parse_dates``, a list of columns, makes times of dates and ISO 8601
        text, other times are inferred; ``encoding`` other than UTF-8 reads and converts the whole
        source, as does an ``io.StringIO``. pandas itself reads text with other options that it has
        (``decimal``, ``thousands``, ``sep=r"\s+"``, ``on_bad_lines``, ``skipfooter``,
        ``converters``, ``chunksize``, which gives an iterator of frames, ...), as `hr.fallbacks`
        lists.

    Raises
    ------
    hr.InputError
        (an OSError) For an unreadable source or the first bad row, files of different columns or an
        empty list; for a missing file, or a pattern without one, also a FileNotFoundError.
    hr.ColumnNotFoundError
        (a KeyError) For an unknown column in `columns` or `dtypes`.

    Notes
    -----
    Floats are correctly rounded, float32 once from the text. Memory use is little more than the
    result. Dates are ``YYYY-MM-DD``, times ``YYYY-MM-DD[ T]HH:MM[:SS[.fraction]]`` without a zone:
    text with ``Z`` or an offset is read as a string. A time with more digits than its dtype holds
    is a bad row, never truncated.

    Columns of several files are matched by name, and dtypes inferred as for one text of them all.

    With ``hr.device("cuda")`` numbers, bools, dates, times without a zone and strings are parsed
    on the GPU, with the same bits and errors, several files into one frame if their columns have
    the same order. Columns of other dtypes, and text with quotes in the middle of fields, are read
    on the CPU and copied, as listed by `hr.fallbacks`.

    >>> df = hr.read_csv(b"time,ecg\n0,0.5\n1,\n")
    >>> df.ecg.to_list()
    [0.5, None]
    """
    given: Any = dict(options)
    if given.get("on_bad_lines") == "error":
        del given["on_bad_lines"]
    if follow:
        return _followed(source, given, on_bad, poll, position)
    of = found("read_csv", source, given)
    if pandas_csv.is_for_pandas(given):
        return _by_pandas(of, given)
    given = {name: each for name, each in given.items() if name not in pandas_csv.IGNORED}
    encoding, parse_dates, index_col = (given.pop(name, None) for name in pandas_csv.OPTIONS)
    of = of._replace(each=[pandas_csv.in_utf8(each, encoding) for each in of.each])
    if callable(chosen := given.get("usecols")):
        of.each[0] = sources.kept(of.each[0])
        rest = {n: v for n, v in given.items() if n != "usecols" and n not in _OF_SOURCES}
        given["usecols"] = [name for name in scan_csv(of.each[0], **rest).columns if chosen(name)]
    frame = _read_many(of, given, on_bad) if of.are_several else _read(of, 0, given, on_bad)
    rejects = frame._rejects
    frame = pandas_csv.with_sorted_categories(frame)
    frame = pandas_csv.with_times(frame, parse_dates)
    frame = pandas_csv.with_labels(frame, index_col)
    frame._rejects = rejects
    return frame


#: Options that need the end of the text.
_OF_WHOLE_FILES = (*_OF_SOURCES, "num_rows", "nrows", "compression", "index_col")


def _followed(source: Any, given: dict[str, Any], on_bad: str, poll: Any, position: Any) -> Stream:
    """The rows of text as they come."""
    for name in given:
        if name in _OF_WHOLE_FILES or name not in csv_words():
            raise UnsupportedError(
                f"read_csv: an option that a stream does not have: option={name!r}, follow=True; "
                "change the frames that it gives"
            )
    given = {**given, "compression": "none"}
    words: dict[str, Any] = {"on_bad": on_bad}

    def read(text: bytes, options: Mapping[str, Any]) -> DataFrame:
        made: DataFrame = read_csv(text, **words, **options)
        return made

    rows = CsvRows(given, read, lambda options: csv_options("read_csv", options, on_bad))
    from headrace.stream.stream import text_stream

    return text_stream("read_csv", source, rows, poll, position)


def csv_words() -> set[str]:
    """The options of CSV text, by both names."""
    return {*_DEFAULTS, *_PANDAS, "quoting"}


def _read(of: sources.Sources, at: int, given: Any, on_bad: str) -> DataFrame:
    """What is read of one source; `given`: options in any words, or the engine's."""
    ours = isinstance(given, _core.CsvOptions)
    options = given if ours else csv_options("read_csv", given, on_bad)
    table, rejects = _core.read_csv(of.each[at], options)
    return of.frame(at, table, rejects if on_bad == "reject" else None)


def _read_many(of: sources.Sources, given: Any, on_bad: str) -> DataFrame:
    given, most = row_limit("read_csv", given, of)
    options = csv_options("read_csv", given, on_bad)
    scans = csv_many.scans_of(of, options)
    dtypes = csv_many.shared_dtypes(scans)
    if on_bad == "error" and most is None:
        names = scans[0].names
        table, rows = _core.read_csv_files(scans, [dtypes[name] for name in names])
        return of.with_values_of_rows(frame_of_table(table, kept=_core.take_kept()), rows)
    options.dtypes = dtypes

    def read(at: int, rows: int | None) -> DataFrame:
        options.num_rows = -1 if rows is None else rows
        return _read(of, at, options, on_bad)

    return of.rows(read, most)


def _by_pandas(of: sources.Sources, given: dict[str, Any]) -> Any:
    """What pandas reads of one source, or of all files, one after the other."""
    given = {name: value for name, value in given.items() if name not in _OF_SOURCES}
    if not of.are_several:
        made = pandas_csv.by_pandas(of.each[0], given, _PANDAS)
        return of.with_values(made, 0) if of.values else made
    for option in ("chunksize", "iterator"):
        if given.get(option):
            raise UnsupportedError(
                f"read_csv: parts of several files: {option}={given[option]!r}, "
                f"files={len(of.each)}; read them one by one, or use scan_csv"
            )
    given, most = row_limit("read_csv", given, of)

    def read(at: int, rows: int | None) -> DataFrame:
        limit = {} if rows is None else {"nrows": rows}
        frame: DataFrame = pandas_csv.by_pandas(of.each[at], {**given, **limit}, _PANDAS)
        return of.with_values(frame, at)

    return of.rows(read, most)


def row_limit(op: str, given: Any, of: sources.Sources) -> tuple[Any, int | None]:
    """The options of each file, and the number of rows of all."""
    if not of.are_several:
        return given, None
    most = given.get("nrows", given.get("num_rows"))
    rest = {name: value for name, value in given.items() if name not in ("nrows", "num_rows")}
    return rest, None if most is None else row_count(op, "num_rows", most)


def read_table(source: Sources, *, sep: str = "\t", **options: Any) -> DataFrame:
    r"""Read text with tabs between the fields; see `read_csv`.

    >>> hr.read_table(b"a\tb\n1\t2\n").to_dict()
    {'a': [1], 'b': [2]}
    """
    return read_csv(source, sep=sep, **options)


def write_csv(
    frame: DataFrame,
    path: str | os.PathLike[str],
    *,
    delimiter: str = ",",
    header: bool = True,
    float_format: str = "shortest",
    null_word: str = "",
    durable: bool = True,
    sep: str | None = None,
    na_rep: str | None = None,
) -> None:
    """Write a frame as CSV text, formatted on all cores; also ``DataFrame.to_csv``.

    A regular file is replaced whole or not at all. Strings are quoted where needed. Dates are
    ``YYYY-MM-DD``, times ``YYYY-MM-DD HH:MM:SS`` with a fraction if there is one; zoned times in
    local time with the offset: ``2024-07-01 12:00:00+02:00``. Durations are ``1 days 02:00:00``, as
    pandas writes them.

    Parameters
    ----------
    path : path
        File to write; a pipe, a device or ``/dev/stdout`` is written directly. Links are followed,
        and the file mode is kept.
    float_format : str
        "shortest" (the fewest digits that read back to the same value) or printf's ``%.<n>e``,
        ``%.<n>f``, ``%.<n>g``.
    null_word : str
        Text for null; NaN is ``nan``.
    durable : bool
        Wait until the bytes are on disk.
    sep, na_rep : str, optional
        pandas' names for `delimiter` and `null_word`.

    Raises
    ------
    hr.InputError
        (an OSError) If writing fails; the old file is untouched.
    """
    mark("to_csv")
    delimiter = delimiter if sep is None else sep
    null_word = null_word if na_rep is None else na_rep
    for node in frame._every():
        know_zone(node.dtype)
    _core.write_csv(
        frame._table(), os.fspath(path), delimiter, header, float_format, null_word, durable
    )
