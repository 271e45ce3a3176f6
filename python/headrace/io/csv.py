# SPDX-License-Identifier: Apache-2.0
"""Reading and writing files."""

from __future__ import annotations

import inspect
import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal, TypedDict, Unpack

from headrace import _core
from headrace.dtypes import dtype_word, has_no_nan
from headrace.errors import InvalidArgumentError, TypeMismatchError
from headrace.frame.columns import frame_of_parts, frame_of_table
from headrace.io import pandas_csv
from headrace.lazy.handle import mark
from headrace.rows import whole_number
from headrace.series.timezone import know_zone

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import BinaryIO, TypeVar

    import numpy.typing as npt

    from headrace.frame.dataframe import DataFrame

    Source = str | os.PathLike[str] | bytes | BinaryIO
    _Reader = TypeVar("_Reader", bound="Callable[..., DataFrame]")

__all__ = ["read_csv", "read_table", "scan_csv", "write_csv"]


class CsvOptions(TypedDict, total=False):
    """Options of `read_csv` and `scan_csv`; below, those that go by pandas' names."""

    delimiter: str
    quote: str | None
    comment: str | None
    header: Literal["infer", True, False] | None
    names: Sequence[str]
    columns: Sequence[str] | Sequence[int] | None
    dtypes: Mapping[str, npt.DTypeLike] | npt.DTypeLike | None
    null_words: Sequence[str]
    skip_rows: int
    num_rows: int | None
    compression: Literal["infer", "none", "gzip", "zstd"]

    sep: str
    usecols: Sequence[str] | Sequence[int] | None
    dtype: Mapping[str, npt.DTypeLike] | npt.DTypeLike | None
    na_values: Any
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
    "skip_rows": 0,
    "num_rows": None,
    "compression": "infer",
}
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
        if word not in _PANDAS:
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


def _rows(op: str, option: str, value: Any) -> int:
    rows = whole_number(op, option, value)
    if rows < 0:
        raise InvalidArgumentError(f"{op}: the number of rows is negative: {option}={rows}")
    return rows


def _options(op: str, given: CsvOptions, on_bad: str = "error") -> _core.CsvOptions:
    """The options of a reader."""
    mark(op)
    options = _in_our_words(op, given, {**_DEFAULTS, "on_bad": on_bad})
    dtypes, columns, header = (options.pop(name) for name in ("dtypes", "columns", "header"))
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
    each = dict(dtypes) if isinstance(dtypes, Mapping) else {}
    _words(op, "dtypes", each)
    for option in ("names", "null_words"):
        options[option] = _words(op, option, options[option])
    for option in ("delimiter", "quote", "comment", "compression", "on_bad"):
        value = options[option]
        if not isinstance(value, str) and (value is not None or option not in ("quote", "comment")):
            raise TypeMismatchError(f"{op}: expected a string: {option}={value!r}")
    options["skip_rows"] = _rows(op, "skip_rows", options["skip_rows"])
    most = options["num_rows"]
    options["num_rows"] = -1 if most is None else _rows(op, "num_rows", most)
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


def _opened(source: Any) -> Any:
    return os.fspath(source) if isinstance(source, str | os.PathLike) else source


@_shows_options
def scan_csv(source: Source, **options: Unpack[CsvOptions]) -> DataFrame:
    r"""A lazy frame over a CSV source: sniffed now, read on use, as far as needed.

    Size, time and inode of the source are recorded at the call; a later change raises when it is
    read. Parameters are those of `read_csv`, without ``on_bad``.

    Filters (``df[df.a > 5]``) are pushed down: `explain` shows them in the line of ``read_csv``.
    Rows that they drop are checked for their number of fields and in the columns that the filter
    reads, not in the others.

    >>> df = hr.scan_csv(b"a,b\n1,x\n2,y\n")
    >>> df.columns, int(df.a.sum())
    (['a', 'b'], 3)
    """
    scan = _core.CsvScan(_opened(source), _options("scan_csv", options))
    table = _core.scan_csv(scan)
    return frame_of_parts(table, scan.names)


@_shows_options
def read_csv(
    source: Source,
    *,
    on_bad: Literal["error", "reject"] = "error",
    **options: Unpack[CsvOptions],
) -> DataFrame:
    r"""Read CSV text straight into columns, on all cores.

    Parameters
    ----------
    source : path, bytes or binary file object
        Plain, gzip or zstd; the codec is detected from the first bytes.
    delimiter, quote, comment : str
        One character each; None disables quotes or comments.
    header : {"infer", True, False}
        Whether the first row holds the names. "infer": yes, unless `names` are given. Without names
        columns are called 0, 1, ...
    names : list of str, optional
        Names of the columns.
    columns : list of str or int, optional
        The columns to read, in this order.
    dtypes : dtype or {name: dtype}, optional
        Fixed dtypes; the others are inferred from samples: bool, int64, uint64, float64, date,
        ``datetime64[us]`` (``[ns]`` where a time has more than six digits of fraction) or string.
        ``category`` only on request.
    null_words : list of str
        Fields read as null. ``nan`` is NaN, which is a value.
    skip_rows : int
        Lines to skip at the top.
    num_rows : int, optional
        Maximum number of rows.
    on_bad : {"error", "reject"}
        A row with a wrong number of fields or a value that does not match its dtype raises an error
        with file, line, column and text; or it goes to ``result.rejects``, a frame of line, column,
        text and reason. Rows in = rows out + rejects.
    compression : {"infer", "none", "gzip", "zstd"}
    **pandas
        pandas' names: ``sep``, ``usecols`` (also a function of a name), ``dtype``, ``na_values``
        (added to the null words), ``skiprows``, ``nrows``, ``quotechar``; ``index_col`` makes
        columns the labels; ``parse_dates``, a list of columns, makes times of dates and ISO 8601
        text, other times are inferred; ``encoding`` other than UTF-8 reads and converts the whole
        source, as does an ``io.StringIO``. pandas itself reads URLs and text with other options
        that it has (``decimal``, ``thousands``, ``sep=r"\s+"``, ``on_bad_lines``, ``skipfooter``,
        ``converters``, ``chunksize``, which gives an iterator of frames, ...), as `hr.fallbacks`
        lists.

    Raises
    ------
    hr.InputError
        (an OSError) For an unreadable source or the first bad row; for a missing file also a
        FileNotFoundError.
    hr.ColumnNotFoundError
        (a KeyError) For an unknown column in `columns` or `dtypes`.

    Notes
    -----
    Floats are correctly rounded, float32 once from the text. Memory use is little more than the
    result. Dates are ``YYYY-MM-DD``, times ``YYYY-MM-DD[ T]HH:MM[:SS[.fraction]]`` without a zone:
    text with ``Z`` or an offset is read as a string. A time with more digits than its dtype holds
    is a bad row, never truncated.

    With ``hr.device("cuda")`` files of numbers, bools and nulls without quotes and comments are
    parsed on the GPU, with the same bits and errors; others are read on the CPU and copied, as
    listed by `hr.fallbacks`.

    >>> df = hr.read_csv(b"time,ecg\n0,0.5\n1,\n")
    >>> df.ecg.to_list()
    [0.5, None]
    """
    if isinstance(source, list | tuple):
        raise TypeMismatchError(
            f"read_csv: expected one source: sources={len(source)}; use "
            "hr.concat([hr.read_csv(path) for path in paths])"
        )
    given: Any = dict(options)
    if given.get("on_bad_lines") == "error":
        del given["on_bad_lines"]
    if pandas_csv.is_for_pandas(source, given):
        return pandas_csv.by_pandas(source, given, _PANDAS)
    given = {name: each for name, each in given.items() if name not in pandas_csv.IGNORED}
    encoding, parse_dates, index_col = (given.pop(name, None) for name in pandas_csv.OPTIONS)
    source = pandas_csv.in_utf8(source, encoding)
    if callable(chosen := given.get("usecols")):
        source = source if isinstance(source, str | bytes | os.PathLike) else source.read()
        rest = {name: value for name, value in given.items() if name != "usecols"}
        given["usecols"] = [name for name in scan_csv(source, **rest).columns if chosen(name)]
    table, rejects = _core.read_csv(_opened(source), _options("read_csv", given, on_bad))
    frame = pandas_csv.with_sorted_categories(frame_of_table(table))
    frame = pandas_csv.with_times(frame, parse_dates)
    frame = pandas_csv.with_labels(frame, index_col)
    frame._rejects = frame_of_table(rejects) if on_bad == "reject" else None
    return frame


def read_table(source: Source, *, sep: str = "\t", **options: Any) -> DataFrame:
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
