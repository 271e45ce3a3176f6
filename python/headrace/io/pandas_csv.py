# SPDX-License-Identifier: Apache-2.0
"""Options of pandas' `read_csv`: of the source and the frame, and those that pandas reads."""

from __future__ import annotations

import codecs
import io
import os
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from headrace import _core
from headrace.errors import InvalidArgumentError, TypeMismatchError
from headrace.frame.columns import is_frame
from headrace.interop.exchange import from_pandas
from headrace.interop.through_pandas import called, pandas_module
from headrace.series.column import series_of
from headrace.series.parse_times import to_datetime

if TYPE_CHECKING:
    from collections.abc import Collection

    from headrace.frame.dataframe import DataFrame

#: In the order in which they are used; each is None unless given.
OPTIONS = ("encoding", "parse_dates", "index_col")
#: Options that change nothing here.
IGNORED = ("engine", "low_memory", "memory_map", "cache_dates", "float_precision")
#: Options of pandas that have no form in the engine: such text is read by pandas.
# fmt: off
_BY_PANDAS = frozenset({
    "chunksize", "converters", "date_format", "dayfirst", "decimal", "dialect", "dtype_backend",
    "encoding_errors", "escapechar", "iterator", "keep_default_na",
    "lineterminator", "na_filter", "on_bad_lines", "skip_blank_lines", "skipfooter",
    "skipinitialspace", "thousands",
})
# fmt: on
_UTF8 = ("utf-8", "utf-8-sig", "ascii")


def is_for_pandas(options: Mapping[str, Any]) -> bool:
    """Whether pandas reads it: options that the engine does not have."""
    sep = options.get("sep", ",")
    header = options.get("header", 0)
    rows = options.get("skiprows")
    return (
        not _BY_PANDAS.isdisjoint(options)
        or options.get("quoting", 0) not in (0, 1, 3)
        or sep is None
        or (isinstance(sep, str) and len(sep) > 1)
        or isinstance(header, list | tuple)
        or (type(header) is int and header > 0)
        or callable(rows)
        or isinstance(rows, list | tuple | range)
        or isinstance(options.get("na_values"), Mapping)
    )


def by_pandas(source: Any, options: dict[str, Any], words: Mapping[str, str]) -> Any:
    """What ``pandas.read_csv`` reads; parts, if it is asked for parts. `words` are ours by theirs.

    A path of which there is no file raises FileNotFoundError.
    """
    theirs = {ours: name for name, ours in words.items()}
    given = {theirs.get(name, name): value for name, value in options.items()}
    if isinstance(source, bytes):
        source = io.BytesIO(source)
    made = called("read_csv", lambda: pandas_module("read_csv").read_csv(source, **given))
    return _Parts(made) if hasattr(made, "get_chunk") else from_pandas(made)


def _frame(part: Any) -> DataFrame:
    made = from_pandas(part)
    assert is_frame(made)
    return made


class _Parts:
    """Frames of some rows each, as pandas reads them."""

    def __init__(self, parts: Any) -> None:
        self._parts = parts

    def __iter__(self) -> Iterator[DataFrame]:
        return self

    def __next__(self) -> DataFrame:
        return _frame(next(self._parts))

    def get_chunk(self, size: int | None = None) -> DataFrame:
        """The next `size` rows."""
        return _frame(self._parts.get_chunk(size))

    def close(self) -> None:
        """Close the file."""
        self._parts.close()

    def __enter__(self) -> _Parts:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()


def in_utf8(source: Any, encoding: str | None) -> Any:
    """The source as it is, or as UTF-8 bytes if it is text or has another encoding; read whole."""
    if isinstance(source, io.TextIOBase):
        return source.read().encode()
    try:
        name = "utf-8" if encoding is None else codecs.lookup(encoding).name
    except (LookupError, TypeError):
        raise InvalidArgumentError(
            f"read_csv: unknown encoding: encoding={encoding!r}; use 'utf-8', 'latin-1' or another "
            "that Python knows"
        ) from None
    if name in _UTF8:
        return source
    if isinstance(source, str | os.PathLike):
        with open(source, encoding=name, newline="") as file:
            return file.read().encode()
    return (source if isinstance(source, bytes) else source.read()).decode(name).encode()


def with_sorted_categories(frame: DataFrame) -> DataFrame:
    """The frame with its categories in alphabetical order, as `astype` gives them."""
    nodes = frame._nodes.items()
    made = {n: _core.sorted_categories(node) for n, node in nodes if node.dtype == "category"}
    return frame.assign(**{name: series_of(node) for name, node in made.items()})


def with_times(frame: DataFrame, parse_dates: Any) -> DataFrame:
    """The frame with times in the columns that `parse_dates` lists; the others are inferred."""
    if parse_dates is None or isinstance(parse_dates, bool):
        return frame
    if isinstance(parse_dates, str) or not isinstance(parse_dates, list | tuple | set):
        raise TypeMismatchError(
            f"read_csv: expected a bool or a list of columns: parse_dates={parse_dates!r}"
        )
    times = {name: to_datetime(frame[name]) for name in _names(frame, parse_dates, "parse_dates")}
    return frame.assign(**times)


def with_labels(frame: DataFrame, index_col: Any) -> DataFrame:
    """The frame with the columns of `index_col` as labels."""
    if index_col is None or index_col is False:
        return frame
    several = isinstance(index_col, list | tuple)
    names = _names(frame, index_col if several else [index_col], "index_col")
    if len(names) == 1 and names[0].startswith("Unnamed: ") and "index" not in frame.columns:
        frame, names = frame.rename({names[0]: "index"}), ["index"]
    return frame.set_index(names)


def _names(frame: DataFrame, columns: Collection[str | int], option: str) -> list[str]:
    """Column names, given as these or by position."""
    names = frame.columns
    for each in columns:
        if type(each) is int and not -len(names) <= each < len(names):
            raise InvalidArgumentError(
                f"read_csv: there is no such column: {option}={each}, columns={len(names)}"
            )
    return [names[each] if type(each) is int else str(each) for each in columns]
